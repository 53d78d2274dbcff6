//! OpenVPN data channel, `P_DATA_V2` with AES-256-GCM (OpenVPN 2.x source documentation, "Network
//! protocol" and "Data channel"; the format of the kernel module ovpn, DCO).
//!
//! Takes the keys a TLS control channel gave, a peer ID and packet IDs; gives UDP payloads of inner
//! packets, and back. Never runs the control channel, never keeps a packet ID: see
//! [`crate::window`].

use core::ops::Range;

use zeroize::Zeroize;

use crate::aead::{AeadKey, Algorithm};
use crate::error::{CipherError, KeyError};

/// Opcode of `P_DATA_V2`, in the upper five bits of the first octet; key ID 0 in the others.
pub const OPCODE: u8 = 9 << 3;
/// Octets of opcode with key ID, and peer ID.
pub const OPCODE_AND_PEER: usize = 4;
/// Octets of opcode, peer ID and packet ID.
pub const HEADER: usize = 8;
/// Octets of the tag, which stands before the ciphertext.
pub const TAG: usize = 16;
/// Octets of the implicit part of the nonce, behind the packet ID.
const IMPLICIT: usize = 8;

/// The key of one direction.
#[derive(Debug)]
pub struct OpenVpnKey {
    key: AeadKey,
    implicit: [u8; IMPLICIT],
    peer: u32,
}

/// Outcome of decapsulating a packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenVpnOpened {
    /// Where the inner packet is.
    pub inner: Range<usize>,
    /// Packet ID, for the replay window.
    pub packet: u32,
}

impl OpenVpnKey {
    /// Takes a key of 32 octets with the 8 octets of the implicit nonce behind it, and a peer ID of 24
    /// bits.
    ///
    /// # Errors
    /// Another length.
    pub fn new(key: &[u8], peer: u32) -> Result<Self, KeyError> {
        let wrong = || KeyError::Length {
            what: "OpenVPN with its implicit nonce",
            expected: 40,
            got: key.len(),
        };
        let (own, implicit) = key.split_last_chunk().ok_or_else(wrong)?;
        let own = AeadKey::new(Algorithm::Aes256Gcm, own).map_err(|_| wrong())?;
        Ok(Self {
            key: own,
            implicit: *implicit,
            peer: peer & 0x00ff_ffff,
        })
    }

    /// Appends the data packet of `inner` to `out`.
    ///
    /// # Errors
    /// Packet ID 0, which is never sent, or an inner packet above 65535 octets; `out` is then
    /// unchanged.
    pub fn encapsulate(
        &self,
        packet: u32,
        inner: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<(), CipherError> {
        if packet == 0 {
            return Err(CipherError::Exhausted);
        }
        if inner.len() > usize::from(u16::MAX) {
            return Err(CipherError::TooLong {
                limit: usize::from(u16::MAX),
                got: inner.len(),
            });
        }
        let head = self.head(packet);
        let mut text = inner.to_vec();
        let Ok(tag) = self.key.seal(self.nonce(packet), &head, &mut text) else {
            return Err(CipherError::Malformed("AES-GCM refused the packet"));
        };
        out.extend(head);
        out.extend(tag);
        out.extend(text);
        Ok(())
    }

    /// Decapsulates a data packet in place.
    ///
    /// # Errors
    /// A packet too short, of another opcode or peer, or a wrong tag; in the last case the payload is
    /// erased.
    pub fn decapsulate(&self, message: &mut [u8]) -> Result<OpenVpnOpened, CipherError> {
        let needed = HEADER + TAG;
        if message.len() < needed {
            return Err(CipherError::TooShort {
                needed,
                got: message.len(),
            });
        }
        if message[0] != OPCODE {
            return Err(CipherError::Malformed("no P_DATA_V2 with key ID 0"));
        }
        let packet = u32::from_be_bytes(message[4..8].try_into().expect("4 octets"));
        let head = self.head(packet);
        if message[..HEADER] != head {
            return Err(CipherError::OtherKey);
        }
        // The cipher takes the tag behind the text.
        message[HEADER..].rotate_left(TAG);
        let sealed = &mut message[HEADER..];
        if self.key.open(self.nonce(packet), &head, sealed).is_err() {
            sealed.zeroize();
            return Err(CipherError::Integrity);
        }
        Ok(OpenVpnOpened {
            inner: HEADER..message.len() - TAG,
            packet,
        })
    }

    /// Opcode, key ID, peer ID and packet ID, which are the additional data.
    fn head(&self, packet: u32) -> [u8; HEADER] {
        let [_, a, b, c] = self.peer.to_be_bytes();
        let [d, e, f, g] = packet.to_be_bytes();
        [OPCODE, a, b, c, d, e, f, g]
    }

    fn nonce(&self, packet: u32) -> [u8; 12] {
        let mut nonce = [0; 12];
        nonce[..4].copy_from_slice(&packet.to_be_bytes());
        nonce[4..].copy_from_slice(&self.implicit);
        nonce
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tunnel::{Tunnel, TunnelSuite};
    use proptest::prelude::*;

    fn key() -> OpenVpnKey {
        let octets: Vec<u8> = (0..40).map(|i| i * 3 + 5).collect();
        OpenVpnKey::new(&octets, 0x0012_3456).unwrap()
    }

    proptest! {
        #[test]
        fn packets_come_back_and_alterations_do_not(
            inner in prop::collection::vec(any::<u8>(), 0..300),
            packet in 1u32..,
            at: prop::sample::Index,
            bit in 0u8..8,
        ) {
            let key = key();
            let mut out = Vec::new();
            key.encapsulate(packet, &inner, &mut out).unwrap();
            // Outer IPv4 header and UDP.
            let tunnel = Tunnel::new(TunnelSuite::OpenVpnAesGcm);
            prop_assert_eq!(out.len() + 28, tunnel.outer_octets(inner.len()));
            let mut altered = out.clone();
            let opened = key.decapsulate(&mut out).unwrap();
            prop_assert_eq!(opened.packet, packet);
            prop_assert_eq!(&out[opened.inner], inner.as_slice());
            let place = at.index(altered.len());
            altered[place] ^= 1 << bit;
            prop_assert!(key.decapsulate(&mut altered).is_err());
        }

        #[test]
        fn no_input_panics(packet in prop::collection::vec(any::<u8>(), 0..100)) {
            let mut packet = packet;
            prop_assert!(key().decapsulate(&mut packet).is_err());
        }
    }

    #[test]
    fn the_head_is_that_of_the_documentation() {
        let mut out = Vec::new();
        key().encapsulate(0x0102_0304, &[0x45], &mut out).unwrap();
        assert_eq!(out[..HEADER], [0x48, 0x12, 0x34, 0x56, 1, 2, 3, 4]);
        assert_eq!(out.len(), HEADER + TAG + 1);
        assert!(OpenVpnKey::new(&[0; 32], 0).is_err());
        assert!(key().encapsulate(0, &[], &mut out).is_err());
    }
}
