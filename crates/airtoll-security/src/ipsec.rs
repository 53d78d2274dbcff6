//! Algorithms that ESP (RFC 4303) and the encrypted payload of IKEv2 (RFC 7296 section 3.14) share.
//!
//! Takes keys with their salts, IVs, additional data and text; seals and opens text in place. Never
//! writes a header or padding, never chooses an IV: see [`crate::esp`] and [`crate::ike`].

use aes::cipher::BlockCipherEncrypt as AesEncrypt;
use aes::{Aes128, Aes192, Aes256};
use aes_gcm::AesGcm;
use cbc::cipher::{
    Array, BlockCipherDecrypt, BlockCipherEncrypt, BlockModeDecrypt, BlockModeEncrypt,
    BlockSizeUser, InnerIvInit,
};
use ccm::aead::AeadCore;
use ccm::aead::inout::InOutBuf;
use ccm::consts::{U8, U11, U12, U16};
use ccm::{AeadInOut, Ccm};
use des::{Des, TdesEde3};
use hmac::{Hmac, KeyInit, Mac};
use md5::Md5;
use sha1::Sha1;
use sha2::{Sha256, Sha384, Sha512};
use subtle::ConstantTimeEq;

use crate::aead::{AeadKey, Algorithm, TAG};
use crate::error::KeyError;

/// Longest tag or checksum of an algorithm here.
const MOST: usize = 32;

/// An encryption algorithm. AES takes 128, 192 or 256 bits, by its key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encryption {
    /// No encryption (RFC 2410).
    Null,
    /// DES in CBC mode (RFC 2405).
    Des,
    /// 3DES in CBC mode (RFC 2451).
    TripleDes,
    /// AES in CBC mode (RFC 3602).
    AesCbc,
    /// AES in counter mode; the key ends with a nonce of 4 octets (RFC 3686, RFC 5930).
    AesCtr,
    /// AES-CCM with a tag of 8, 12 or 16 octets; the key ends with a salt of 3 octets (RFC 4309,
    /// RFC 5282).
    AesCcm(u8),
    /// AES-GCM with a tag of 8, 12 or 16 octets; the key ends with a salt of 4 octets (RFC 4106,
    /// RFC 5282).
    AesGcm(u8),
    /// ChaCha20-Poly1305; the key ends with a salt of 4 octets (RFC 7634).
    ChaCha20Poly1305,
}

/// An integrity algorithm beside a cipher that does not authenticate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Integrity {
    /// HMAC-MD5-96 (RFC 2403).
    HmacMd5,
    /// HMAC-MD5-128 (RFC 4595).
    HmacMd5Whole,
    /// HMAC-SHA-1-96 (RFC 2404).
    HmacSha1,
    /// HMAC-SHA-1-160 (RFC 4595).
    HmacSha1Whole,
    /// HMAC-SHA-256-96 (draft-ietf-ipsec-ciph-sha-256-00), which Linux took for years.
    HmacSha256Short,
    /// HMAC-SHA-256-128 (RFC 4868).
    HmacSha256,
    /// HMAC-SHA-384-192 (RFC 4868).
    HmacSha384,
    /// HMAC-SHA-512-256 (RFC 4868).
    HmacSha512,
    /// A checksum of so many octets that is not checked.
    Unchecked(u8),
}

impl Integrity {
    /// Octets of the checksum.
    #[must_use]
    pub const fn octets(self) -> usize {
        match self {
            Self::HmacMd5 | Self::HmacSha1 | Self::HmacSha256Short => 12,
            Self::HmacMd5Whole | Self::HmacSha256 => 16,
            Self::HmacSha1Whole => 20,
            Self::HmacSha384 => 24,
            Self::HmacSha512 => 32,
            Self::Unchecked(octets) => octets as usize,
        }
    }

    /// Octets of its key (RFC 2403, RFC 2404, RFC 4868 section 2.1.1).
    const fn key_octets(self) -> usize {
        match self {
            Self::HmacMd5 | Self::HmacMd5Whole => 16,
            Self::HmacSha1 | Self::HmacSha1Whole => 20,
            Self::HmacSha256 | Self::HmacSha256Short => 32,
            Self::HmacSha384 => 48,
            Self::HmacSha512 => 64,
            Self::Unchecked(_) => 0,
        }
    }
}

/// A scheduled integrity key.
pub(crate) struct Checksum {
    algorithm: Integrity,
    key: MacKey,
}

enum MacKey {
    Md5(Box<Hmac<Md5>>),
    Sha1(Box<Hmac<Sha1>>),
    Sha256(Box<Hmac<Sha256>>),
    Sha384(Box<Hmac<Sha384>>),
    Sha512(Box<Hmac<Sha512>>),
    Unchecked,
}

impl Checksum {
    /// Schedules a key; `what` names its protocol.
    pub(crate) fn new(
        algorithm: Integrity,
        key: &[u8],
        what: &'static str,
    ) -> Result<Self, KeyError> {
        use Integrity as I;
        let expected = algorithm.key_octets();
        if key.len() != expected && !matches!(algorithm, I::Unchecked(_)) {
            return Err(KeyError::Length {
                what,
                expected,
                got: key.len(),
            });
        }
        fn scheduled<K: KeyInit>(key: &[u8]) -> Box<K> {
            Box::new(K::new_from_slice(key).expect("HMAC takes keys of any length"))
        }
        let key = match algorithm {
            I::HmacMd5 | I::HmacMd5Whole => MacKey::Md5(scheduled(key)),
            I::HmacSha1 | I::HmacSha1Whole => MacKey::Sha1(scheduled(key)),
            I::HmacSha256 | I::HmacSha256Short => MacKey::Sha256(scheduled(key)),
            I::HmacSha384 => MacKey::Sha384(scheduled(key)),
            I::HmacSha512 => MacKey::Sha512(scheduled(key)),
            I::Unchecked(_) => MacKey::Unchecked,
        };
        Ok(Self { algorithm, key })
    }

    pub(crate) const fn octets(&self) -> usize {
        self.algorithm.octets()
    }

    /// Whether [`Checksum::fits`] looks at anything.
    pub(crate) const fn checks(&self) -> bool {
        !matches!(self.key, MacKey::Unchecked)
    }

    /// The checksum over `data`, in the first [`Checksum::octets`]; zeros if it is unchecked.
    pub(crate) fn over(&self, data: &[u8]) -> [u8; MOST] {
        fn digest<M: Mac + Clone>(mac: &M, data: &[u8]) -> [u8; MOST] {
            let value = mac.clone().chain_update(data).finalize().into_bytes();
            let octets = value.len().min(MOST);
            let mut out = [0; MOST];
            out[..octets].copy_from_slice(&value[..octets]);
            out
        }
        match &self.key {
            MacKey::Md5(mac) => digest(mac.as_ref(), data),
            MacKey::Sha1(mac) => digest(mac.as_ref(), data),
            MacKey::Sha256(mac) => digest(mac.as_ref(), data),
            MacKey::Sha384(mac) => digest(mac.as_ref(), data),
            MacKey::Sha512(mac) => digest(mac.as_ref(), data),
            MacKey::Unchecked => [0; MOST],
        }
    }

    /// Whether `checksum` is that of `data`, in constant time.
    pub(crate) fn fits(&self, data: &[u8], checksum: &[u8]) -> bool {
        !self.checks() || self.over(data)[..self.octets()].ct_eq(checksum).into()
    }
}

/// A scheduled encryption key.
pub(crate) enum Cipher {
    Null,
    Des(Box<Des>),
    TripleDes(Box<TdesEde3>),
    Cbc(Aes),
    Ctr(Aes, [u8; 4]),
    /// AES-GCM under 128 or 256 bits, or ChaCha20-Poly1305, with salt and octets of tag.
    Aead(AeadKey, [u8; 4], usize),
    /// AES-GCM under 192 bits.
    Gcm192(Box<AesGcm<Aes192, U12>>, [u8; 4], usize),
    Ccm(Box<dyn CounterMac>, [u8; 3], usize),
}

/// AES by the length of its key.
pub(crate) enum Aes {
    Short(Box<Aes128>),
    Middle(Box<Aes192>),
    Long(Box<Aes256>),
}

impl Aes {
    fn new(key: &[u8]) -> Option<Self> {
        Some(match key.len() {
            16 => Self::Short(Box::new(Aes128::new_from_slice(key).ok()?)),
            24 => Self::Middle(Box::new(Aes192::new_from_slice(key).ok()?)),
            32 => Self::Long(Box::new(Aes256::new_from_slice(key).ok()?)),
            _ => return None,
        })
    }

    fn encrypt_block(&self, block: &mut [u8; 16]) {
        let block: &mut Array<u8, _> = block.into();
        match self {
            Self::Short(aes) => AesEncrypt::encrypt_block(aes.as_ref(), block),
            Self::Middle(aes) => AesEncrypt::encrypt_block(aes.as_ref(), block),
            Self::Long(aes) => AesEncrypt::encrypt_block(aes.as_ref(), block),
        }
    }

    /// Counter block: nonce, IV, a counter from 1 on (RFC 3686 section 4).
    fn apply_counter(&self, nonce: [u8; 4], iv: &[u8], data: &mut [u8]) {
        for (counter, chunk) in (1u32..).zip(data.chunks_mut(16)) {
            let mut block = [0; 16];
            block[..4].copy_from_slice(&nonce);
            block[4..12].copy_from_slice(iv);
            block[12..].copy_from_slice(&counter.to_be_bytes());
            self.encrypt_block(&mut block);
            for (octet, key) in chunk.iter_mut().zip(block) {
                *octet ^= key;
            }
        }
    }
}

/// AES-CCM with a nonce of 11 octets, of any key and tag length.
pub(crate) trait CounterMac: Send + Sync {
    fn seal(&self, nonce: [u8; 11], additional: &[u8], text: &mut [u8]) -> Option<[u8; TAG]>;
    fn open(&self, nonce: [u8; 11], additional: &[u8], text: &mut [u8], tag: &[u8]) -> bool;
}

impl<C: AeadInOut + AeadCore<NonceSize = U11> + Send + Sync> CounterMac for C {
    fn seal(&self, nonce: [u8; 11], additional: &[u8], text: &mut [u8]) -> Option<[u8; TAG]> {
        let tag = self
            .encrypt_inout_detached(&nonce.into(), additional, InOutBuf::from(text))
            .ok()?;
        let mut out = [0; TAG];
        out[..tag.len()].copy_from_slice(&tag);
        Some(out)
    }

    fn open(&self, nonce: [u8; 11], additional: &[u8], text: &mut [u8], tag: &[u8]) -> bool {
        let Ok(tag) = tag.try_into() else {
            return false;
        };
        self.decrypt_inout_detached(&nonce.into(), additional, InOutBuf::from(text), tag)
            .is_ok()
    }
}

impl Cipher {
    /// Schedules a key; AEAD keys and that of the counter mode end with their salt.
    pub(crate) fn new(encryption: Encryption, key: &[u8]) -> Result<Self, KeyError> {
        use Encryption as E;
        let length = |what, expected| KeyError::Length {
            what,
            expected,
            got: key.len(),
        };
        Ok(match encryption {
            E::Null if key.is_empty() => Self::Null,
            E::Null => return Err(length("NULL encryption", 0)),
            E::Des => Self::Des(Box::new(
                Des::new_from_slice(key).map_err(|_| length("DES", 8))?,
            )),
            E::TripleDes => Self::TripleDes(Box::new(
                TdesEde3::new_from_slice(key).map_err(|_| length("3DES", 24))?,
            )),
            E::AesCbc => Self::Cbc(Aes::new(key).ok_or(length("AES", 16))?),
            E::AesCtr => {
                let wrong = length("AES-CTR with its nonce", 20);
                let (key, nonce) = key.split_last_chunk().ok_or(wrong)?;
                Self::Ctr(Aes::new(key).ok_or(wrong)?, *nonce)
            }
            E::AesGcm(tag) => {
                let wrong = length("AES-GCM with its salt", 20);
                let (key, salt) = key.split_last_chunk().ok_or(wrong)?;
                let tag = usize::from(tag);
                match key.len() {
                    24 => Self::Gcm192(
                        Box::new(KeyInit::new_from_slice(key).map_err(|_| wrong)?),
                        *salt,
                        tag,
                    ),
                    octets => {
                        let algorithm = match octets {
                            32 => Algorithm::Aes256Gcm,
                            _ => Algorithm::Aes128Gcm,
                        };
                        let key = AeadKey::new(algorithm, key).map_err(|_| wrong)?;
                        Self::Aead(key, *salt, tag)
                    }
                }
            }
            E::ChaCha20Poly1305 => {
                let wrong = length("ChaCha20-Poly1305 with its salt", 36);
                let (key, salt) = key.split_last_chunk().ok_or(wrong)?;
                let key = AeadKey::new(Algorithm::ChaCha20Poly1305, key).map_err(|_| wrong)?;
                Self::Aead(key, *salt, TAG)
            }
            E::AesCcm(tag) => {
                let wrong = length("AES-CCM with its salt", 19);
                let (key, salt) = key.split_last_chunk().ok_or(wrong)?;
                let scheduled = counter_mac(key, tag).ok_or(wrong)?;
                Self::Ccm(scheduled, *salt, usize::from(tag))
            }
        })
    }

    /// Whether it needs no integrity algorithm beside it.
    pub(crate) const fn authenticates(&self) -> bool {
        self.tag() > 0
    }

    /// Octets of IV.
    pub(crate) const fn iv(&self) -> usize {
        match self {
            Self::Null => 0,
            Self::Cbc(_) => 16,
            _ => 8,
        }
    }

    /// Octets of a block that text fills up to; 1 for a stream.
    pub(crate) const fn block(&self) -> usize {
        match self {
            Self::Des(_) | Self::TripleDes(_) => 8,
            Self::Cbc(_) => 16,
            _ => 1,
        }
    }

    /// Octets of tag; 0 for a cipher that does not authenticate.
    pub(crate) const fn tag(&self) -> usize {
        match self {
            Self::Aead(_, _, tag) | Self::Gcm192(_, _, tag) | Self::Ccm(_, _, tag) => *tag,
            _ => 0,
        }
    }

    /// Encrypts text of whole blocks in place; gives the tag in the first [`Cipher::tag`] octets, or
    /// `None` for text that is too long.
    pub(crate) fn seal(&self, aad: &[u8], iv: &[u8], text: &mut [u8]) -> Option<[u8; TAG]> {
        match self {
            Self::Null => {}
            Self::Des(des) => encrypt_cbc(des.as_ref(), iv, text),
            Self::TripleDes(des) => encrypt_cbc(des.as_ref(), iv, text),
            Self::Cbc(Aes::Short(aes)) => encrypt_cbc(aes.as_ref(), iv, text),
            Self::Cbc(Aes::Middle(aes)) => encrypt_cbc(aes.as_ref(), iv, text),
            Self::Cbc(Aes::Long(aes)) => encrypt_cbc(aes.as_ref(), iv, text),
            Self::Ctr(aes, nonce) => aes.apply_counter(*nonce, iv, text),
            Self::Aead(key, salt, _) => return key.seal(salted(salt, iv), aad, text).ok(),
            Self::Gcm192(key, salt, _) => {
                let nonce = salted::<4, 12>(salt, iv).into();
                let tag = key.encrypt_inout_detached(&nonce, aad, InOutBuf::from(text));
                return tag.map(Into::into).ok();
            }
            Self::Ccm(key, salt, _) => return key.seal(salted(salt, iv), aad, text),
        }
        Some([0; TAG])
    }

    /// Decrypts text in place that [`Cipher::tag`] octets of tag follow; `false` if the tag does not
    /// fit. The octets are then undefined: the caller erases them.
    pub(crate) fn open(&self, aad: &[u8], iv: &[u8], sealed: &mut [u8]) -> bool {
        match self {
            Self::Null => {}
            Self::Des(des) => decrypt_cbc(des.as_ref(), iv, sealed),
            Self::TripleDes(des) => decrypt_cbc(des.as_ref(), iv, sealed),
            Self::Cbc(Aes::Short(aes)) => decrypt_cbc(aes.as_ref(), iv, sealed),
            Self::Cbc(Aes::Middle(aes)) => decrypt_cbc(aes.as_ref(), iv, sealed),
            Self::Cbc(Aes::Long(aes)) => decrypt_cbc(aes.as_ref(), iv, sealed),
            Self::Ctr(aes, nonce) => aes.apply_counter(*nonce, iv, sealed),
            Self::Aead(key, salt, TAG) => return key.open(salted(salt, iv), aad, sealed).is_ok(),
            // A tag that is cut short is compared with the one that the plaintext gives.
            Self::Aead(..) | Self::Gcm192(..) => {
                let (text, tag) = sealed.split_at_mut(sealed.len() - self.tag());
                // Encryption of the ciphertext is the plaintext, as both add the same key stream.
                if self.seal(aad, iv, text).is_none() {
                    return false;
                }
                let mut copy = text.to_vec();
                let fits = self
                    .seal(aad, iv, &mut copy)
                    .is_some_and(|own| own[..tag.len()].ct_eq(tag).into());
                return fits;
            }
            Self::Ccm(key, salt, octets) => {
                let (text, tag) = sealed.split_at_mut(sealed.len() - octets);
                return key.open(salted(salt, iv), aad, text, tag);
            }
        }
        true
    }
}

fn counter_mac(key: &[u8], tag: u8) -> Option<Box<dyn CounterMac>> {
    fn scheduled<C: KeyInit + CounterMac + 'static>(key: &[u8]) -> Option<Box<dyn CounterMac>> {
        Some(Box::new(C::new_from_slice(key).ok()?))
    }
    match (key.len(), tag) {
        (16, 8) => scheduled::<Ccm<Aes128, U8, U11>>(key),
        (16, 12) => scheduled::<Ccm<Aes128, U12, U11>>(key),
        (16, 16) => scheduled::<Ccm<Aes128, U16, U11>>(key),
        (24, 8) => scheduled::<Ccm<Aes192, U8, U11>>(key),
        (24, 12) => scheduled::<Ccm<Aes192, U12, U11>>(key),
        (24, 16) => scheduled::<Ccm<Aes192, U16, U11>>(key),
        (32, 8) => scheduled::<Ccm<Aes256, U8, U11>>(key),
        (32, 12) => scheduled::<Ccm<Aes256, U12, U11>>(key),
        (32, 16) => scheduled::<Ccm<Aes256, U16, U11>>(key),
        _ => None,
    }
}

/// Salt, then IV of 8 octets (RFC 4106 section 4, RFC 4309 section 4, RFC 7634 section 2).
fn salted<const SALT: usize, const NONCE: usize>(salt: &[u8; SALT], iv: &[u8]) -> [u8; NONCE] {
    let mut nonce = [0; NONCE];
    nonce[..SALT].copy_from_slice(salt);
    nonce[SALT..].copy_from_slice(iv);
    nonce
}

fn encrypt_cbc<C>(cipher: &C, iv: &[u8], data: &mut [u8])
where
    C: BlockCipherEncrypt + BlockSizeUser,
{
    let mut mode =
        cbc::Encryptor::<&C>::inner_iv_slice_init(cipher, iv).expect("the IV has one block");
    let (blocks, _) = Array::slice_as_chunks_mut(data);
    mode.encrypt_blocks(blocks);
}

fn decrypt_cbc<C>(cipher: &C, iv: &[u8], data: &mut [u8])
where
    C: BlockCipherDecrypt + BlockSizeUser,
{
    let mut mode =
        cbc::Decryptor::<&C>::inner_iv_slice_init(cipher, iv).expect("the IV has one block");
    let (blocks, _) = Array::slice_as_chunks_mut(data);
    mode.decrypt_blocks(blocks);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const ALL: [(Encryption, usize); 25] = [
        (Encryption::Null, 0),
        (Encryption::Des, 8),
        (Encryption::TripleDes, 24),
        (Encryption::AesCbc, 16),
        (Encryption::AesCbc, 24),
        (Encryption::AesCbc, 32),
        (Encryption::AesCtr, 20),
        (Encryption::AesCtr, 28),
        (Encryption::AesCtr, 36),
        (Encryption::AesCcm(8), 19),
        (Encryption::AesCcm(12), 19),
        (Encryption::AesCcm(16), 19),
        (Encryption::AesCcm(8), 27),
        (Encryption::AesCcm(12), 27),
        (Encryption::AesCcm(16), 27),
        (Encryption::AesCcm(8), 35),
        (Encryption::AesCcm(12), 35),
        (Encryption::AesCcm(16), 35),
        (Encryption::AesGcm(8), 20),
        (Encryption::AesGcm(12), 36),
        (Encryption::AesGcm(16), 20),
        (Encryption::AesGcm(8), 28),
        (Encryption::AesGcm(16), 28),
        (Encryption::AesGcm(16), 36),
        (Encryption::ChaCha20Poly1305, 36),
    ];

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]
        #[test]
        fn what_is_sealed_opens_and_a_flipped_bit_does_not(
            blocks in 0usize..8,
            key: [u8; 36],
            iv: [u8; 16],
            aad: [u8; 12],
            at: prop::sample::Index,
            bit in 0u8..8,
        ) {
            for (encryption, octets) in ALL {
                let cipher = Cipher::new(encryption, &key[..octets]).unwrap();
                let text = vec![0x5a; 16 * blocks];
                let mut sealed = text.clone();
                let iv = &iv[..cipher.iv()];
                let tag = cipher.seal(&aad, iv, &mut sealed).unwrap();
                prop_assert!(sealed.is_empty() || sealed != text || encryption == Encryption::Null);
                sealed.extend(&tag[..cipher.tag()]);
                let mut other = sealed.clone();
                prop_assert!(cipher.open(&aad, iv, &mut sealed), "{:?}", encryption);
                prop_assert_eq!(&sealed[..text.len()], &text[..]);
                if cipher.authenticates() {
                    let at = at.index(other.len());
                    other[at] ^= 1 << bit;
                    prop_assert!(!cipher.open(&aad, iv, &mut other));
                }
            }
        }
    }

    #[test]
    fn keys_of_another_length_are_refused() {
        for (encryption, octets) in ALL {
            for got in [0, 3, 7, 17, 23, 40] {
                let made = Cipher::new(encryption, &vec![1; got]);
                assert_eq!(made.is_ok(), octets == got, "{encryption:?} {got}");
            }
        }
        for integrity in [Integrity::HmacMd5, Integrity::HmacSha512] {
            assert!(Checksum::new(integrity, &[1; 63], "a test").is_err());
        }
    }

    #[test]
    fn a_truncated_tag_is_the_beginning_of_the_whole_one() {
        let key = [7; 20];
        let tags = [8, 12, 16].map(|octets| {
            let cipher = Cipher::new(Encryption::AesGcm(octets), &key).unwrap();
            cipher.seal(b"header", &[1; 8], &mut [2; 40]).unwrap()
        });
        assert_eq!(tags[0], tags[2]);
        assert_eq!(tags[1], tags[2]);
    }
}
