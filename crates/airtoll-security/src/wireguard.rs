//! WireGuard transport data messages (Donenfeld, "WireGuard: Next Generation Kernel Network
//! Tunnel", NDSS 2017, 5.4.6).
//!
//! Takes the keys a handshake gave, receiver indices and counters; gives UDP payloads of inner
//! packets, and back. Never runs the handshake, never keeps a counter: see [`crate::window`].

use core::ops::Range;

use zeroize::Zeroize;

use crate::aead::{AeadKey, Algorithm};
use crate::error::{CipherError, KeyError};

/// Message type of transport data.
pub const MESSAGE_TYPE: u8 = 4;
/// Octets of type, reserved, receiver index and counter.
pub const HEADER: usize = 16;
/// Octets of Poly1305 tag.
pub const TAG: usize = 16;
/// Messages under one key at most (6.1): 2^64 - 2^13 - 1.
pub const REJECT_AFTER_MESSAGES: u64 = u64::MAX - (1 << 13);

/// The key of one direction.
#[derive(Debug)]
pub struct WireGuardKey {
    key: AeadKey,
    receiver: u32,
}

/// Outcome of decapsulating a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WireGuardOpened {
    /// Where the inner packet is, its padding included: the inner IP header tells its length.
    /// Empty for a keepalive.
    pub inner: Range<usize>,
    /// Counter, for the replay window.
    pub counter: u64,
}

impl WireGuardKey {
    /// Takes a 32-octet key and the receiver's index of the session.
    ///
    /// # Errors
    /// Another length.
    pub fn new(key: &[u8], receiver: u32) -> Result<Self, KeyError> {
        let key = AeadKey::new(Algorithm::ChaCha20Poly1305, key).map_err(|_| KeyError::Length {
            what: "WireGuard",
            expected: 32,
            got: key.len(),
        })?;
        Ok(Self { key, receiver })
    }

    /// Appends the transport data message of `inner`, padded with zeros to 16, to `out`.
    ///
    /// # Errors
    /// A counter at which the key must be replaced, or an inner packet above 65535 octets; `out`
    /// is then unchanged.
    pub fn encapsulate(
        &self,
        counter: u64,
        inner: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<(), CipherError> {
        if counter >= REJECT_AFTER_MESSAGES {
            return Err(CipherError::Exhausted);
        }
        if inner.len() > usize::from(u16::MAX) {
            return Err(CipherError::TooLong {
                limit: usize::from(u16::MAX),
                got: inner.len(),
            });
        }
        let message = out.len();
        out.extend([MESSAGE_TYPE, 0, 0, 0]);
        out.extend(self.receiver.to_le_bytes());
        out.extend(counter.to_le_bytes());
        out.extend(inner);
        out.resize(message + HEADER + inner.len().next_multiple_of(16), 0);
        let sealed = self
            .key
            .seal(nonce(counter), &[], &mut out[message + HEADER..]);
        match sealed {
            Ok(tag) => out.extend(tag),
            Err(_) => {
                out.truncate(message);
                return Err(CipherError::Malformed(
                    "ChaCha20-Poly1305 refused the packet",
                ));
            }
        }
        Ok(())
    }

    /// Decapsulates a transport data message in place.
    ///
    /// # Errors
    /// A message too short, of another type or for another receiver, or a wrong tag; in the last
    /// case the payload is erased.
    pub fn decapsulate(&self, message: &mut [u8]) -> Result<WireGuardOpened, CipherError> {
        let Some((head, sealed)) = message.split_first_chunk_mut::<HEADER>() else {
            return Err(CipherError::TooShort {
                needed: HEADER + TAG,
                got: message.len(),
            });
        };
        if sealed.len() < TAG {
            return Err(CipherError::TooShort {
                needed: HEADER + TAG,
                got: HEADER + sealed.len(),
            });
        }
        if head[..4] != [MESSAGE_TYPE, 0, 0, 0] {
            return Err(CipherError::Malformed("no transport data message"));
        }
        if head[4..8] != self.receiver.to_le_bytes() {
            return Err(CipherError::OtherKey);
        }
        let counter = u64::from_le_bytes(head[8..].try_into().expect("8 octets"));
        if counter >= REJECT_AFTER_MESSAGES {
            return Err(CipherError::Exhausted);
        }
        if self.key.open(nonce(counter), &[], sealed).is_err() {
            sealed.zeroize();
            return Err(CipherError::Integrity);
        }
        Ok(WireGuardOpened {
            inner: HEADER..HEADER + sealed.len() - TAG,
            counter,
        })
    }
}

/// Four zero octets, then the counter, little-endian (5.4.6).
fn nonce(counter: u64) -> [u8; 12] {
    let mut nonce = [0; 12];
    nonce[4..].copy_from_slice(&counter.to_le_bytes());
    nonce
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tunnel::{Tunnel, TunnelSuite};
    use chacha20poly1305::aead::{Aead, KeyInit};
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]
        #[test]
        fn round_trip_length_flips_and_reference(
            inner in prop::collection::vec(any::<u8>(), 0..300),
            counter in 0..REJECT_AFTER_MESSAGES,
            at: prop::sample::Index,
            bit in 0u8..8,
        ) {
            let key = WireGuardKey::new(&[9; 32], 77).unwrap();
            let mut message = Vec::new();
            key.encapsulate(counter, &inner, &mut message).unwrap();
            let tunnel = Tunnel::new(TunnelSuite::WireGuard);
            prop_assert_eq!(message.len() + 28, tunnel.outer_octets(inner.len()));

            let mut padded = inner.clone();
            padded.resize(inner.len().next_multiple_of(16), 0);
            let mut nonce = [0; 12];
            nonce[4..].copy_from_slice(&counter.to_le_bytes());
            let reference = chacha20poly1305::ChaCha20Poly1305::new(&[9; 32].into())
                .encrypt(&nonce.into(), padded.as_slice())
                .unwrap();
            prop_assert_eq!(&message[HEADER..], reference.as_slice());

            let mut altered = message.clone();
            let opened = key.decapsulate(&mut message).unwrap();
            prop_assert_eq!(opened.counter, counter);
            prop_assert_eq!(&message[opened.inner][..inner.len()], inner.as_slice());
            altered[at.index(message.len())] ^= 1 << bit;
            prop_assert!(key.decapsulate(&mut altered).is_err());
        }

        #[test]
        fn no_input_panics(mut message in prop::collection::vec(any::<u8>(), 0..100)) {
            let key = WireGuardKey::new(&[9; 32], 0).unwrap();
            if message.len() > 8 {
                message[..8].copy_from_slice(&[4, 0, 0, 0, 0, 0, 0, 0]);
            }
            prop_assert!(key.decapsulate(&mut message).is_err());
        }
    }
}
