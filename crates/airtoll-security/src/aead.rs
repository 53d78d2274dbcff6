//! AES-GCM (NIST SP 800-38D) and ChaCha20-Poly1305 (RFC 8439), with tags of 16 octets.
//!
//! Takes a key, nonces of 12 octets, additional data and text; seals and opens text in place. The
//! feature `aws-lc` takes AWS-LC, which keeps its counter and GHASH pipelines full on one frame. Without
//! the feature RustCrypto computes the same octets: in quick builds, and for targets that AWS-LC is not
//! built for, such as WebAssembly. Never keeps a counter: no nonce may come twice under one key.

/// Octets of a nonce.
pub const NONCE: usize = 12;
/// Octets of a tag.
pub const TAG: usize = 16;

/// An authenticated cipher.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Algorithm {
    /// AES-GCM, key of 16 octets.
    Aes128Gcm,
    /// AES-GCM, key of 32 octets.
    Aes256Gcm,
    /// ChaCha20-Poly1305, key of 32 octets.
    ChaCha20Poly1305,
}

impl Algorithm {
    /// Octets of its key.
    #[must_use]
    pub const fn key_octets(self) -> usize {
        match self {
            Self::Aes128Gcm => 16,
            Self::Aes256Gcm | Self::ChaCha20Poly1305 => 32,
        }
    }
}

/// A key of another length than its algorithm takes, text longer than it seals, or a wrong tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refused;

/// A scheduled key.
pub struct AeadKey(backend::Key);

impl AeadKey {
    /// Schedules a key.
    ///
    /// # Errors
    /// A key of another length than [`Algorithm::key_octets`].
    pub fn new(algorithm: Algorithm, key: &[u8]) -> Result<Self, Refused> {
        if key.len() != algorithm.key_octets() {
            return Err(Refused);
        }
        backend::Key::new(algorithm, key).map(Self)
    }

    /// Encrypts `text` in place and gives its tag.
    ///
    /// # Errors
    /// Text longer than the algorithm seals under one nonce.
    pub fn seal(
        &self,
        nonce: [u8; NONCE],
        additional: &[u8],
        text: &mut [u8],
    ) -> Result<[u8; TAG], Refused> {
        self.0.seal(nonce, additional, text)
    }

    /// Checks the tag, the last 16 octets of `sealed`, and decrypts the octets before it in place.
    ///
    /// # Errors
    /// A wrong tag. The octets are then undefined: the caller erases them.
    pub fn open(
        &self,
        nonce: [u8; NONCE],
        additional: &[u8],
        sealed: &mut [u8],
    ) -> Result<(), Refused> {
        self.0.open(nonce, additional, sealed)
    }
}

impl core::fmt::Debug for AeadKey {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("AeadKey")
    }
}

#[cfg(feature = "aws-lc")]
mod backend {
    use aws_lc_rs::aead::{
        AES_128_GCM, AES_256_GCM, Aad, CHACHA20_POLY1305, LessSafeKey, Nonce, UnboundKey,
    };

    use super::{Algorithm, NONCE, Refused, TAG};

    pub struct Key(LessSafeKey);

    impl Key {
        pub fn new(algorithm: Algorithm, key: &[u8]) -> Result<Self, Refused> {
            let algorithm = match algorithm {
                Algorithm::Aes128Gcm => &AES_128_GCM,
                Algorithm::Aes256Gcm => &AES_256_GCM,
                Algorithm::ChaCha20Poly1305 => &CHACHA20_POLY1305,
            };
            let key = UnboundKey::new(algorithm, key).map_err(|_| Refused)?;
            Ok(Self(LessSafeKey::new(key)))
        }

        pub fn seal(
            &self,
            nonce: [u8; NONCE],
            additional: &[u8],
            text: &mut [u8],
        ) -> Result<[u8; TAG], Refused> {
            let nonce = Nonce::assume_unique_for_key(nonce);
            let tag = self
                .0
                .seal_in_place_separate_tag(nonce, Aad::from(additional), text)
                .map_err(|_| Refused)?;
            tag.as_ref().try_into().map_err(|_| Refused)
        }

        pub fn open(
            &self,
            nonce: [u8; NONCE],
            additional: &[u8],
            sealed: &mut [u8],
        ) -> Result<(), Refused> {
            let nonce = Nonce::assume_unique_for_key(nonce);
            self.0
                .open_in_place(nonce, Aad::from(additional), sealed)
                .map(|_| ())
                .map_err(|_| Refused)
        }
    }
}

// Tests hold it against AWS-LC.
#[cfg(any(test, not(feature = "aws-lc")))]
mod portable;

#[cfg(not(feature = "aws-lc"))]
use portable as backend;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn keys_of_another_length_are_refused() {
        for algorithm in [
            Algorithm::Aes128Gcm,
            Algorithm::Aes256Gcm,
            Algorithm::ChaCha20Poly1305,
        ] {
            for octets in [0, 15, 16, 17, 31, 32, 33] {
                let made = AeadKey::new(algorithm, &vec![7; octets]);
                assert_eq!(made.is_ok(), octets == algorithm.key_octets());
            }
        }
    }

    proptest! {
        #[test]
        fn both_implementations_seal_to_the_same_octets_and_open_one_anothers(
            key in any::<[u8; 32]>(),
            nonce in any::<[u8; NONCE]>(),
            additional in prop::collection::vec(any::<u8>(), 0..40),
            text in prop::collection::vec(any::<u8>(), 0..200),
            flipped in any::<prop::sample::Index>(),
        ) {
            for algorithm in [
                Algorithm::Aes128Gcm,
                Algorithm::Aes256Gcm,
                Algorithm::ChaCha20Poly1305,
            ] {
                let key = &key[..algorithm.key_octets()];
                let ours = AeadKey::new(algorithm, key).unwrap();
                let other = portable::Key::new(algorithm, key).unwrap();
                let (mut one, mut two) = (text.clone(), text.clone());
                let tag = ours.seal(nonce, &additional, &mut one).unwrap();
                prop_assert_eq!(other.seal(nonce, &additional, &mut two).unwrap(), tag);
                prop_assert_eq!(&one, &two);
                one.extend(tag);
                two.extend(tag);
                prop_assert!(ours.open(nonce, &additional, &mut two).is_ok());
                prop_assert_eq!(&two[..text.len()], &text[..]);
                let mut broken = one.clone();
                *flipped.get_mut(&mut broken) ^= 1;
                prop_assert!(other.open(nonce, &additional, &mut one).is_ok());
                prop_assert_eq!(&one[..text.len()], &text[..]);
                prop_assert!(other.open(nonce, &additional, &mut broken).is_err());
            }
        }
    }
}
