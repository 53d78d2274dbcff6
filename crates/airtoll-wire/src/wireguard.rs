//! WireGuard's four messages (Donenfeld, "WireGuard: Next Generation Kernel Network
//! Tunnel", NDSS 2017, section 5.4).
//!
//! Takes octets; gives [`WireGuardRepr`], and octets back. Never computes a MAC or a key.

use crate::{Cursor, Error, Result};

/// Octets of a handshake initiation.
pub const INITIATION_OCTETS: usize = 148;
/// Octets of a handshake response.
pub const RESPONSE_OCTETS: usize = 92;
/// Octets of a cookie reply.
pub const COOKIE_REPLY_OCTETS: usize = 64;
/// Octets before the encrypted packet of a data message.
pub const DATA_HEADER_OCTETS: usize = 16;
/// UDP port that wg-quick's examples use.
pub const PORT: u16 = 51_820;

/// Both MACs at the end of a handshake message (section 5.4.4).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Macs {
    /// Keyed with the responder's public key.
    pub mac1: [u8; 16],
    /// Keyed with a cookie; zero without one.
    pub mac2: [u8; 16],
}

/// One message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WireGuardRepr {
    /// Type 1, initiator to responder.
    Initiation {
        /// The initiator's session index.
        sender: u32,
        /// Unencrypted ephemeral public key.
        ephemeral: [u8; 32],
        /// Encrypted static public key and tag.
        encrypted_static: [u8; 48],
        /// Encrypted TAI64N timestamp and tag.
        encrypted_timestamp: [u8; 28],
        /// Both MACs.
        macs: Macs,
    },
    /// Type 2, responder to initiator.
    Response {
        /// The responder's session index.
        sender: u32,
        /// The initiator's session index.
        receiver: u32,
        /// Unencrypted ephemeral public key.
        ephemeral: [u8; 32],
        /// Tag of an empty plaintext.
        encrypted_nothing: [u8; 16],
        /// Both MACs.
        macs: Macs,
    },
    /// Type 3, under load.
    CookieReply {
        /// Session index of the message that is answered.
        receiver: u32,
        /// Nonce of XChaCha20-Poly1305.
        nonce: [u8; 24],
        /// Encrypted cookie and tag.
        encrypted_cookie: [u8; 32],
    },
    /// Type 4.
    Data {
        /// The receiver's session index.
        receiver: u32,
        /// Nonce counter.
        counter: u64,
        /// Encrypted packet, padded to 16, and tag.
        encrypted: Vec<u8>,
    },
}

impl WireGuardRepr {
    /// Reads a message.
    ///
    /// # Errors
    /// [`Error`] on another type, reserved octets that are not zero, or a wrong length.
    pub fn parse(octets: &[u8]) -> Result<Self> {
        let mut cursor = Cursor::new("WireGuard", octets);
        let message = match cursor.u32_le()? {
            1 => Self::Initiation {
                sender: cursor.u32_le()?,
                ephemeral: cursor.array()?,
                encrypted_static: cursor.array()?,
                encrypted_timestamp: cursor.array()?,
                macs: macs(&mut cursor)?,
            },
            2 => Self::Response {
                sender: cursor.u32_le()?,
                receiver: cursor.u32_le()?,
                ephemeral: cursor.array()?,
                encrypted_nothing: cursor.array()?,
                macs: macs(&mut cursor)?,
            },
            3 => Self::CookieReply {
                receiver: cursor.u32_le()?,
                nonce: cursor.array()?,
                encrypted_cookie: cursor.array()?,
            },
            4 => Self::Data {
                receiver: cursor.u32_le()?,
                counter: cursor.u64_le()?,
                encrypted: cursor.rest().to_vec(),
            },
            _ => return Err(Error::malformed("WireGuard", "type is not 1 to 4")),
        };
        if cursor.remaining() != 0 {
            return Err(Error::malformed("WireGuard", "octets follow the message"));
        }
        Ok(message)
    }

    /// Appends the message's octets.
    pub fn emit(&self, out: &mut Vec<u8>) {
        match self {
            Self::Initiation {
                sender,
                ephemeral,
                encrypted_static,
                encrypted_timestamp,
                macs,
            } => {
                out.extend([1, 0, 0, 0]);
                out.extend(sender.to_le_bytes());
                out.extend(ephemeral);
                out.extend(encrypted_static);
                out.extend(encrypted_timestamp);
                out.extend(macs.mac1);
                out.extend(macs.mac2);
            }
            Self::Response {
                sender,
                receiver,
                ephemeral,
                encrypted_nothing,
                macs,
            } => {
                out.extend([2, 0, 0, 0]);
                out.extend(sender.to_le_bytes());
                out.extend(receiver.to_le_bytes());
                out.extend(ephemeral);
                out.extend(encrypted_nothing);
                out.extend(macs.mac1);
                out.extend(macs.mac2);
            }
            Self::CookieReply {
                receiver,
                nonce,
                encrypted_cookie,
            } => {
                out.extend([3, 0, 0, 0]);
                out.extend(receiver.to_le_bytes());
                out.extend(nonce);
                out.extend(encrypted_cookie);
            }
            Self::Data {
                receiver,
                counter,
                encrypted,
            } => {
                out.extend([4, 0, 0, 0]);
                out.extend(receiver.to_le_bytes());
                out.extend(counter.to_le_bytes());
                out.extend(encrypted);
            }
        }
    }
}

fn macs(cursor: &mut Cursor<'_>) -> Result<Macs> {
    Ok(Macs {
        mac1: cursor.array()?,
        mac2: cursor.array()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn written(message: &WireGuardRepr) -> Vec<u8> {
        let mut octets = Vec::new();
        message.emit(&mut octets);
        octets
    }

    proptest! {
        #[test]
        fn messages_round_trip_at_their_length(sender: u32, receiver: u32, ephemeral: [u8; 32], mac1: [u8; 16], mac2: [u8; 16], counter: u64, encrypted in prop::collection::vec(any::<u8>(), 16..80)) {
            let macs = Macs { mac1, mac2 };
            let all = [
                (INITIATION_OCTETS, WireGuardRepr::Initiation { sender, ephemeral, encrypted_static: [3; 48], encrypted_timestamp: [4; 28], macs }),
                (RESPONSE_OCTETS, WireGuardRepr::Response { sender, receiver, ephemeral, encrypted_nothing: [5; 16], macs }),
                (COOKIE_REPLY_OCTETS, WireGuardRepr::CookieReply { receiver, nonce: [6; 24], encrypted_cookie: ephemeral }),
                (DATA_HEADER_OCTETS + encrypted.len(), WireGuardRepr::Data { receiver, counter, encrypted }),
            ];
            for (length, message) in all {
                let octets = written(&message);
                prop_assert_eq!(octets.len(), length);
                prop_assert_eq!(WireGuardRepr::parse(&octets), Ok(message));
            }
        }

        #[test]
        fn no_octets_panic(kind in 0_u8..6, octets in prop::collection::vec(any::<u8>(), 0..160)) {
            let octets = [&[kind, 0, 0, 0][..], &octets].concat();
            let _ = WireGuardRepr::parse(&octets);
        }
    }
}
