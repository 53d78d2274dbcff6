//! Encrypted payload of IKEv2 (RFC 7296 section 3.14; RFC 5282 and RFC 7634 for ciphers that
//! authenticate).
//!
//! Takes the keys of one direction and whole messages whose first payload is the encrypted one;
//! gives the octets of the payloads inside. Writes no message: see `airtoll-handshakes`.

use zeroize::Zeroizing;

use crate::error::{CipherError, KeyError};
use crate::ipsec::{Checksum, Cipher, Encryption, Integrity};

/// Header of the message and generic header of the encrypted payload (sections 3.1 and 3.2).
const HEADERS: usize = 28 + 4;

/// SK_e and SK_a of one direction.
pub struct IkeKey {
    cipher: Cipher,
    checksum: Option<Checksum>,
}

/// Payloads inside an encrypted payload.
#[derive(Debug, PartialEq, Eq)]
pub struct IkeOpened {
    /// Type of the first payload; 0 if there is none.
    pub first: u8,
    /// The payload chain, without padding.
    pub payloads: Zeroizing<Vec<u8>>,
    /// A tag or a checksum proves the message.
    pub checked: bool,
}

impl IkeKey {
    /// Takes SK_e, with the salt at its end where the cipher has one (RFC 5282 section 7.1), and SK_a,
    /// empty for a cipher that authenticates.
    ///
    /// # Errors
    /// A key of another length, or an integrity algorithm beside a cipher that authenticates.
    pub fn new(
        encryption: Encryption,
        encryption_key: &[u8],
        integrity: Option<Integrity>,
        integrity_key: &[u8],
    ) -> Result<Self, KeyError> {
        let cipher = Cipher::new(encryption, encryption_key)?;
        if cipher.authenticates() && integrity.is_some() {
            return Err(KeyError::NotDefined(
                "a cipher that authenticates has no integrity algorithm beside it",
            ));
        }
        let what = "the integrity algorithm of IKEv2";
        let checksum = integrity
            .map(|algorithm| Checksum::new(algorithm, integrity_key, what))
            .transpose()?;
        Ok(Self { cipher, checksum })
    }

    /// Checks and decrypts a message, from its header to its last octet.
    ///
    /// # Errors
    /// [`CipherError::TooShort`]; [`CipherError::Integrity`] if checksum or tag does not fit;
    /// [`CipherError::Malformed`] if they fit and the ciphertext or its padding has no valid length.
    pub fn open(&self, message: &[u8]) -> Result<IkeOpened, CipherError> {
        let iv = self.cipher.iv();
        let tag = self.cipher.tag();
        let checksum = self.checksum.as_ref().map_or(0, Checksum::octets);
        let needed = HEADERS + iv + tag + checksum;
        if message.len() < needed {
            return Err(CipherError::TooShort {
                needed,
                got: message.len(),
            });
        }
        let first = message[HEADERS - 4];
        let (covered, value) = message.split_at(message.len() - checksum);
        if let Some(own) = &self.checksum
            && !own.fits(covered, value)
        {
            return Err(CipherError::Integrity);
        }
        let (vector, sealed) = covered[HEADERS..].split_at(iv);
        if !(sealed.len() - tag).is_multiple_of(self.cipher.block()) {
            return Err(CipherError::Malformed("no whole number of blocks"));
        }
        let mut data = Zeroizing::new(sealed.to_vec());
        if !self.cipher.open(&message[..HEADERS], vector, &mut data) {
            return Err(CipherError::Integrity);
        }
        data.truncate(sealed.len() - tag);
        let padding = data.last().map_or(0, |last| usize::from(*last));
        let Some(length) = data.len().checked_sub(1 + padding) else {
            return Err(CipherError::Malformed("impossible padding"));
        };
        data.truncate(length);
        Ok(IkeOpened {
            first,
            payloads: data,
            checked: self.cipher.authenticates()
                || self.checksum.as_ref().is_some_and(Checksum::checks),
        })
    }
}
