//! Encrypted payload of IKEv2 (RFC 7296 section 3.14; RFC 5282 for AES-GCM).
//!
//! Takes the keys of one direction and whole messages whose first payload is the encrypted one;
//! gives the octets of the payloads inside. Writes no message: see `airtoll-handshakes`.

use aes::{Aes128, Aes192, Aes256};
use des::TdesEde3;
use hmac::KeyInit;
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

use crate::aead::{AeadKey, Algorithm};
use crate::error::{CipherError, KeyError};
use crate::esp::{decrypt_cbc, gcm_nonce};
use crate::keys::mic::KeyMic;

/// Header of the message and generic header of the encrypted payload (sections 3.1 and 3.2).
const HEADERS: usize = 28 + 4;
/// IV and tag of AES-GCM (RFC 5282 sections 3.1 and 3.2).
const GCM: (usize, usize) = (8, 16);

/// Integrity algorithm of an IKE SA (section 3.3.2, transform type 3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IkeIntegrity {
    /// HMAC-MD5-96 (RFC 2403).
    HmacMd5,
    /// HMAC-SHA-1-96 (RFC 2404).
    HmacSha1,
    /// HMAC-SHA-256-128 (RFC 4868).
    HmacSha256,
    /// HMAC-SHA-384-192 (RFC 4868).
    HmacSha384,
    /// HMAC-SHA-512-256 (RFC 4868).
    HmacSha512,
}

impl IkeIntegrity {
    /// Function, octets of its key, octets of the checksum.
    const fn parameters(self) -> (KeyMic, usize, usize) {
        match self {
            Self::HmacMd5 => (KeyMic::HmacMd5, 16, 12),
            Self::HmacSha1 => (KeyMic::HmacSha1, 20, 12),
            Self::HmacSha256 => (KeyMic::HmacSha256, 32, 16),
            Self::HmacSha384 => (KeyMic::HmacSha384, 48, 24),
            Self::HmacSha512 => (KeyMic::HmacSha512, 64, 32),
        }
    }
}

/// Encryption algorithm of an IKE SA (section 3.3.2, transform type 1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IkeEncryption {
    /// No encryption.
    Null,
    /// 3DES in CBC mode.
    TripleDes,
    /// AES in CBC mode, 128, 192 or 256 bits by the key.
    AesCbc,
    /// AES-GCM with a tag of 16 octets, 128 or 256 bits by the key.
    AesGcm,
}

enum Cipher {
    Null,
    TripleDes(Box<TdesEde3>),
    Aes128(Box<Aes128>),
    Aes192(Box<Aes192>),
    Aes256(Box<Aes256>),
    Gcm { key: AeadKey, salt: [u8; 4] },
}

/// SK_e and SK_a of one direction.
pub struct IkeKey {
    cipher: Cipher,
    integrity: Option<(IkeIntegrity, Zeroizing<Vec<u8>>)>,
}

/// Payloads inside an encrypted payload.
#[derive(Debug, PartialEq, Eq)]
pub struct IkeOpened {
    /// Type of the first payload; 0 if there is none.
    pub first: u8,
    /// The payload chain, without padding.
    pub payloads: Zeroizing<Vec<u8>>,
}

impl IkeKey {
    /// Takes SK_e of 24 (3DES), 16, 24 or 32 (AES-CBC) octets, or 20 or 36 with the salt at the end
    /// (AES-GCM; RFC 5282 section 7.1), and SK_a, empty for AES-GCM.
    ///
    /// # Errors
    /// A key of another length, or no integrity algorithm where the cipher needs one.
    pub fn new(
        encryption: IkeEncryption,
        encryption_key: &[u8],
        integrity: Option<IkeIntegrity>,
        integrity_key: &[u8],
    ) -> Result<Self, KeyError> {
        let length = |what, expected| KeyError::Length {
            what,
            expected,
            got: encryption_key.len(),
        };
        let cipher = match (encryption, encryption_key.len()) {
            (IkeEncryption::Null, _) => Cipher::Null,
            (IkeEncryption::TripleDes, _) => Cipher::TripleDes(Box::new(
                TdesEde3::new_from_slice(encryption_key).map_err(|_| length("3DES", 24))?,
            )),
            (IkeEncryption::AesCbc, 24) => Cipher::Aes192(Box::new(
                Aes192::new_from_slice(encryption_key).map_err(|_| length("AES", 24))?,
            )),
            (IkeEncryption::AesCbc, 32) => Cipher::Aes256(Box::new(
                Aes256::new_from_slice(encryption_key).map_err(|_| length("AES", 32))?,
            )),
            (IkeEncryption::AesCbc, _) => Cipher::Aes128(Box::new(
                Aes128::new_from_slice(encryption_key).map_err(|_| length("AES", 16))?,
            )),
            (IkeEncryption::AesGcm, _) => {
                let wrong = || length("AES-GCM with its salt", 20);
                let (key, salt) = encryption_key.split_last_chunk().ok_or_else(wrong)?;
                let algorithm = if key.len() == 32 {
                    Algorithm::Aes256Gcm
                } else {
                    Algorithm::Aes128Gcm
                };
                let key = AeadKey::new(algorithm, key).map_err(|_| wrong())?;
                Cipher::Gcm { key, salt: *salt }
            }
        };
        let integrity = match (&cipher, integrity) {
            (Cipher::Gcm { .. }, None) => None,
            (Cipher::Gcm { .. }, Some(_)) => {
                return Err(KeyError::NotDefined("AES-GCM has no integrity algorithm"));
            }
            (_, None) => {
                return Err(KeyError::NotDefined(
                    "a cipher other than AES-GCM needs an integrity algorithm",
                ));
            }
            (_, Some(algorithm)) => {
                let expected = algorithm.parameters().1;
                if integrity_key.len() != expected {
                    return Err(KeyError::Length {
                        what: "the integrity algorithm of IKEv2",
                        expected,
                        got: integrity_key.len(),
                    });
                }
                Some((algorithm, Zeroizing::new(integrity_key.to_vec())))
            }
        };
        Ok(Self { cipher, integrity })
    }

    /// Checks and decrypts a message, from its header to its last octet.
    ///
    /// # Errors
    /// [`CipherError::TooShort`]; [`CipherError::Integrity`] if checksum or tag does not fit;
    /// [`CipherError::Malformed`] if they fit and the ciphertext or its padding has no valid length.
    pub fn open(&self, message: &[u8]) -> Result<IkeOpened, CipherError> {
        let (iv, icv) = match (&self.cipher, &self.integrity) {
            (Cipher::Gcm { .. }, _) => GCM,
            (cipher, integrity) => (
                cipher.block(),
                integrity.as_ref().map_or(0, |(own, _)| own.parameters().2),
            ),
        };
        let needed = HEADERS + iv + icv;
        let too_short = CipherError::TooShort {
            needed,
            got: message.len(),
        };
        if message.len() < needed {
            return Err(too_short);
        }
        let first = message[HEADERS - 4];
        let (covered, checksum) = message.split_at(message.len() - icv);
        if let Some((algorithm, key)) = &self.integrity {
            let value = algorithm.parameters().0.compute(key, &[covered]);
            let fits = value.is_ok_and(|value| value.as_slice()[..icv].ct_eq(checksum).into());
            if !fits {
                return Err(CipherError::Integrity);
            }
        }
        let (vector, sealed) = covered[HEADERS..].split_at(iv);
        let mut data = Zeroizing::new(sealed.to_vec());
        if let Cipher::Gcm { key, salt } = &self.cipher {
            data.extend_from_slice(checksum);
            let aad = &message[..HEADERS];
            key.open(gcm_nonce(salt, vector), aad, &mut data)
                .map_err(|_| CipherError::Integrity)?;
            data.truncate(sealed.len());
        } else if data.len().is_multiple_of(iv.max(1)) {
            self.cipher.decrypt(vector, &mut data);
        } else {
            return Err(CipherError::Malformed("no whole number of blocks"));
        }
        let padding = data.last().map_or(0, |last| usize::from(*last));
        let Some(length) = data.len().checked_sub(1 + padding) else {
            return Err(CipherError::Malformed("impossible padding"));
        };
        data.truncate(length);
        Ok(IkeOpened {
            first,
            payloads: data,
        })
    }
}

impl Cipher {
    /// Octets of a block, which the IV has too.
    const fn block(&self) -> usize {
        match self {
            Self::Null | Self::Gcm { .. } => 0,
            Self::TripleDes(_) => 8,
            Self::Aes128(_) | Self::Aes192(_) | Self::Aes256(_) => 16,
        }
    }

    fn decrypt(&self, iv: &[u8], data: &mut [u8]) {
        match self {
            Self::Null | Self::Gcm { .. } => {}
            Self::TripleDes(des) => decrypt_cbc(&**des, iv, data),
            Self::Aes128(aes) => decrypt_cbc(&**aes, iv, data),
            Self::Aes192(aes) => decrypt_cbc(&**aes, iv, data),
            Self::Aes256(aes) => decrypt_cbc(&**aes, iv, data),
        }
    }
}
