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

#[cfg(test)]
mod tests {
    use super::*;

    const ALGORITHMS: [(Encryption, usize, Option<Integrity>, usize); 12] = [
        (Encryption::Null, 0, Some(Integrity::HmacSha256), 32),
        (
            Encryption::TripleDes,
            24,
            Some(Integrity::HmacSha1Whole),
            20,
        ),
        (Encryption::AesCbc, 32, Some(Integrity::HmacSha384), 48),
        (Encryption::AesCtr, 20, Some(Integrity::HmacMd5Whole), 16),
        (Encryption::AesCtr, 28, Some(Integrity::HmacSha512), 64),
        (Encryption::AesCtr, 20, Some(Integrity::Unchecked(12)), 0),
        (Encryption::AesCcm(8), 19, None, 0),
        (Encryption::AesCcm(12), 19, None, 0),
        (Encryption::AesCcm(16), 35, None, 0),
        (Encryption::AesGcm(8), 36, None, 0),
        (Encryption::AesGcm(12), 28, None, 0),
        (Encryption::ChaCha20Poly1305, 36, None, 0),
    ];

    /// A message with a notification inside: header, encrypted payload, IV, ciphertext, tag or checksum.
    fn message(cipher: &Cipher, checksum: Option<&Checksum>) -> (Vec<u8>, Vec<u8>) {
        let inner = [0, 0, 0, 8, 0, 0, 0x40, 0].to_vec();
        let icv = cipher.tag() + checksum.map_or(0, Checksum::octets);
        let whole = (inner.len() + 1).next_multiple_of(cipher.block());
        let padding = whole - inner.len() - 1;
        let mut text = inner.clone();
        text.resize(whole - 1, 0);
        text.push(padding as u8);
        let length = HEADERS + cipher.iv() + text.len() + icv;
        let mut octets = vec![1; 16];
        octets.extend([46, 0x20, 35, 8, 0, 0, 0, 1]);
        octets.extend((length as u32).to_be_bytes());
        octets.extend([41, 0]);
        octets.extend(((length - 28) as u16).to_be_bytes());
        let iv = vec![7; cipher.iv()];
        let tag = cipher.seal(&octets, &iv, &mut text).unwrap();
        octets.extend(iv);
        octets.extend(text);
        octets.extend(&tag[..cipher.tag()]);
        if let Some(checksum) = checksum {
            let value = checksum.over(&octets);
            octets.extend(&value[..checksum.octets()]);
        }
        (octets, inner)
    }

    #[test]
    fn messages_open_and_damaged_ones_do_not() {
        let key: Vec<u8> = (1..=64).collect();
        for (encryption, length, integrity, mac_length) in ALGORITHMS {
            let cipher = Cipher::new(encryption, &key[..length]).unwrap();
            let checksum = integrity
                .map(|algorithm| Checksum::new(algorithm, &key[..mac_length], "a test").unwrap());
            let (octets, inner) = message(&cipher, checksum.as_ref());
            let own = IkeKey::new(encryption, &key[..length], integrity, &key[..mac_length]);
            let own = own.unwrap();
            let opened = own.open(&octets).unwrap();
            assert_eq!((opened.first, &opened.payloads[..]), (41, &inner[..]));
            let checks = !matches!(integrity, Some(Integrity::Unchecked(_)));
            assert_eq!(opened.checked, checks, "{encryption:?}");
            for at in [HEADERS - 4, HEADERS + cipher.iv(), octets.len() - 1] {
                let mut damaged = octets.clone();
                damaged[at] ^= 1;
                let refused = own.open(&damaged) == Err(CipherError::Integrity);
                assert_eq!(refused, checks, "{encryption:?} {at}");
            }
        }
    }

    #[test]
    fn short_messages_and_second_authenticators_are_refused() {
        let key = IkeKey::new(Encryption::AesCtr, &[1; 20], None, &[]).unwrap();
        for octets in 0..HEADERS + 8 {
            assert!(key.open(&vec![1; octets]).is_err());
        }
        let integrity = Some(Integrity::HmacSha256);
        assert!(IkeKey::new(Encryption::AesGcm(16), &[1; 20], integrity, &[1; 32]).is_err());
        assert!(IkeKey::new(Encryption::AesCbc, &[1; 16], integrity, &[1; 20]).is_err());
    }
}
