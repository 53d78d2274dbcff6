//! The ciphers of [`super`] by RustCrypto, which compiles for every target.

use aes_gcm::aead::inout::InOutBuf;
use aes_gcm::{AeadInOut, Aes128Gcm, Aes256Gcm, KeyInit};
use chacha20poly1305::ChaCha20Poly1305;

use super::{Algorithm, NONCE, Refused, TAG};

pub enum Key {
    Aes128(Box<Aes128Gcm>),
    Aes256(Box<Aes256Gcm>),
    ChaCha20(Box<ChaCha20Poly1305>),
}

impl Key {
    pub fn new(algorithm: Algorithm, key: &[u8]) -> Result<Self, Refused> {
        Ok(match algorithm {
            Algorithm::Aes128Gcm => Self::Aes128(scheduled(key)?),
            Algorithm::Aes256Gcm => Self::Aes256(scheduled(key)?),
            Algorithm::ChaCha20Poly1305 => Self::ChaCha20(scheduled(key)?),
        })
    }

    pub fn seal(
        &self,
        nonce: [u8; NONCE],
        additional: &[u8],
        text: &mut [u8],
    ) -> Result<[u8; TAG], Refused> {
        let (nonce, text) = (&nonce.into(), InOutBuf::from(text));
        let tag = match self {
            Self::Aes128(key) => key.encrypt_inout_detached(nonce, additional, text),
            Self::Aes256(key) => key.encrypt_inout_detached(nonce, additional, text),
            Self::ChaCha20(key) => key.encrypt_inout_detached(nonce, additional, text),
        };
        tag.map(Into::into).map_err(|_| Refused)
    }

    pub fn open(
        &self,
        nonce: [u8; NONCE],
        additional: &[u8],
        sealed: &mut [u8],
    ) -> Result<(), Refused> {
        let (text, tag) = sealed.split_last_chunk_mut::<TAG>().ok_or(Refused)?;
        let (nonce, text, tag) = (&nonce.into(), InOutBuf::from(text), &(*tag).into());
        let opened = match self {
            Self::Aes128(key) => key.decrypt_inout_detached(nonce, additional, text, tag),
            Self::Aes256(key) => key.decrypt_inout_detached(nonce, additional, text, tag),
            Self::ChaCha20(key) => key.decrypt_inout_detached(nonce, additional, text, tag),
        };
        opened.map_err(|_| Refused)
    }
}

fn scheduled<K: KeyInit>(key: &[u8]) -> Result<Box<K>, Refused> {
    K::new_from_slice(key).map(Box::new).map_err(|_| Refused)
}
