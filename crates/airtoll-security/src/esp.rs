//! ESP packets (RFC 4303) of the transforms in [`crate::tunnel`].
//!
//! Takes keys, sequence numbers, IVs and inner packets; gives ESP packets from the SPI on, and
//! back. Never writes the outer IP or UDP header, never chooses an IV, never keeps a sequence
//! number: see [`crate::window`]. Sequence numbers have 32 bits (no ESN).

use core::ops::Range;

use aes::{Aes128, Aes256};
use cbc::cipher::{
    Array, BlockCipherDecrypt, BlockCipherEncrypt, BlockModeDecrypt, BlockModeEncrypt,
    BlockSizeUser, InnerIvInit,
};
use des::{Des, TdesEde3};
use hmac::{Hmac, KeyInit, Mac};
use md5::Md5;
use sha1::Sha1;
use subtle::ConstantTimeEq;
use zeroize::Zeroize;

use crate::aead::{AeadKey, Algorithm};
use crate::error::{CipherError, KeyError};
use crate::tunnel::TunnelSuite;

/// Octets of SPI and sequence number.
pub const HEADER: usize = 8;
/// Next header of an inner IPv4 packet in tunnel mode.
pub const NEXT_HEADER_IPV4: u8 = 4;
/// Next header of an inner IPv6 packet in tunnel mode.
pub const NEXT_HEADER_IPV6: u8 = 41;

/// One direction of a security association.
pub struct EspKey {
    suite: TunnelSuite,
    spi: u32,
    cipher: Cipher,
    mac: Option<MacKey>,
}

enum Cipher {
    Null,
    Des(Box<Des>),
    TripleDes(Box<TdesEde3>),
    Aes128(Box<Aes128>),
    Aes256(Box<Aes256>),
    Gcm { key: AeadKey, salt: [u8; 4] },
}

enum MacKey {
    Md5(Box<Hmac<Md5>>),
    Sha1(Box<Hmac<Sha1>>),
}

/// Outcome of decapsulating a packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EspOpened {
    /// Where the inner packet is in the ESP packet.
    pub inner: Range<usize>,
    /// Its protocol: 4 for IPv4, 41 for IPv6, 59 for a dummy packet.
    pub next_header: u8,
    /// Sequence number, for the replay window.
    pub sequence: u32,
}

impl EspKey {
    /// Takes the keys of one direction: encryption key of 0 (NULL), 8 (DES), 24 (3DES), 16 or 32
    /// (AES-CBC) octets, or 20 or 36 with the salt at the end (AES-GCM; RFC 4106, 8.1); integrity
    /// key of 16 (HMAC-MD5) or 20 (HMAC-SHA-1) octets, none for AES-GCM.
    ///
    /// # Errors
    /// WireGuard, or a key of another length.
    pub fn new(
        suite: TunnelSuite,
        spi: u32,
        encryption_key: &[u8],
        integrity_key: &[u8],
    ) -> Result<Self, KeyError> {
        use TunnelSuite as S;
        let length = |what, expected| {
            move |_| KeyError::Length {
                what,
                expected,
                got: encryption_key.len(),
            }
        };
        let cipher = match suite {
            S::EspNullMd5 | S::EspNullSha1 => {
                if !encryption_key.is_empty() {
                    return Err(length("NULL encryption", 0)(()));
                }
                Cipher::Null
            }
            S::EspDesMd5 | S::EspDesSha1 => Cipher::Des(Box::new(
                Des::new_from_slice(encryption_key).map_err(|_| length("DES", 8)(()))?,
            )),
            S::Esp3desMd5 | S::Esp3desSha1 => Cipher::TripleDes(Box::new(
                TdesEde3::new_from_slice(encryption_key).map_err(|_| length("3DES", 24)(()))?,
            )),
            S::EspAesCbcMd5 | S::EspAesCbcSha1 => match encryption_key.len() {
                32 => Cipher::Aes256(Box::new(
                    Aes256::new_from_slice(encryption_key).map_err(|_| length("AES", 32)(()))?,
                )),
                _ => Cipher::Aes128(Box::new(
                    Aes128::new_from_slice(encryption_key).map_err(|_| length("AES", 16)(()))?,
                )),
            },
            S::EspAesGcm => {
                let wrong = length("AES-GCM with its salt", 20);
                let (key, salt) = encryption_key.split_last_chunk().ok_or_else(|| wrong(()))?;
                let algorithm = if key.len() == 32 {
                    Algorithm::Aes256Gcm
                } else {
                    Algorithm::Aes128Gcm
                };
                let key = AeadKey::new(algorithm, key).map_err(|_| wrong(()))?;
                Cipher::Gcm { key, salt: *salt }
            }
            S::WireGuard => return Err(KeyError::NotDefined("WireGuard is not an ESP transform")),
            S::OpenVpnAesGcm => {
                return Err(KeyError::NotDefined("OpenVPN is not an ESP transform"));
            }
        };
        let expected = match suite {
            S::EspNullMd5 | S::EspDesMd5 | S::Esp3desMd5 | S::EspAesCbcMd5 => 16,
            S::EspAesGcm => 0,
            _ => 20,
        };
        if integrity_key.len() != expected {
            return Err(KeyError::Length {
                what: "the integrity transform of ESP",
                expected,
                got: integrity_key.len(),
            });
        }
        let any = "HMAC takes keys of any length";
        let mac = match expected {
            0 => None,
            16 => Some(MacKey::Md5(Box::new(
                KeyInit::new_from_slice(integrity_key).expect(any),
            ))),
            _ => Some(MacKey::Sha1(Box::new(
                KeyInit::new_from_slice(integrity_key).expect(any),
            ))),
        };
        Ok(Self {
            suite,
            spi,
            cipher,
            mac,
        })
    }

    /// The transform.
    #[must_use]
    pub const fn suite(&self) -> TunnelSuite {
        self.suite
    }

    /// Appends the ESP packet of `inner` to `out`. `iv` has the suite's
    /// [`iv_octets`](TunnelSuite::iv_octets): unpredictable for CBC, never repeated for AES-GCM.
    /// Padding octets are 1, 2, 3, ... (RFC 4303, 2.4).
    ///
    /// # Errors
    /// An IV of another length, or an inner packet above 65535 octets; `out` is then unchanged.
    pub fn encapsulate(
        &self,
        sequence: u32,
        iv: &[u8],
        inner: &[u8],
        next_header: u8,
        out: &mut Vec<u8>,
    ) -> Result<(), CipherError> {
        if iv.len() != self.suite.iv_octets() {
            return Err(CipherError::Malformed(
                "an IV of another length than the transform's",
            ));
        }
        if inner.len() > usize::from(u16::MAX) {
            return Err(CipherError::TooLong {
                limit: usize::from(u16::MAX),
                got: inner.len(),
            });
        }
        let packet = out.len();
        out.extend(self.spi.to_be_bytes());
        out.extend(sequence.to_be_bytes());
        out.extend(iv);
        let start = out.len();
        out.extend(inner);
        let body = (inner.len() + 2).next_multiple_of(self.suite.padding_multiple());
        let padding = (body - inner.len() - 2) as u8;
        out.extend(1..=padding);
        out.extend([padding, next_header]);
        let data = &mut out[start..];
        match &self.cipher {
            Cipher::Null => {}
            Cipher::Des(des) => encrypt_cbc(&**des, iv, data),
            Cipher::TripleDes(des) => encrypt_cbc(&**des, iv, data),
            Cipher::Aes128(aes) => encrypt_cbc(&**aes, iv, data),
            Cipher::Aes256(aes) => encrypt_cbc(&**aes, iv, data),
            Cipher::Gcm { key, salt } => {
                let (head, data) = out[packet..].split_at_mut(start - packet);
                let sealed = key.seal(gcm_nonce(salt, iv), &head[..HEADER], data);
                match sealed {
                    Ok(tag) => out.extend(tag),
                    Err(_) => {
                        out.truncate(packet);
                        return Err(CipherError::Malformed("AES-GCM refused the packet"));
                    }
                }
            }
        }
        if let Some(mac) = &self.mac {
            let icv = mac.icv(&out[packet..]);
            out.extend(icv);
        }
        Ok(())
    }

    /// Decapsulates an ESP packet in place.
    ///
    /// # Errors
    /// A packet too short or of another SPI, a wrong ICV, or impossible padding; decrypted
    /// octets are then erased.
    pub fn decapsulate(&self, packet: &mut [u8]) -> Result<EspOpened, CipherError> {
        let icv = self.suite.icv_octets();
        let start = HEADER + self.suite.iv_octets();
        let multiple = self.suite.padding_multiple();
        let needed = start + multiple + icv;
        let got = packet.len();
        if got < needed {
            return Err(CipherError::TooShort { needed, got });
        }
        let word = |at: usize| u32::from_be_bytes(packet[at..at + 4].try_into().expect("4 octets"));
        let (spi, sequence) = (word(0), word(4));
        if spi != self.spi {
            return Err(CipherError::OtherKey);
        }
        let end = got - icv;
        if !(end - start).is_multiple_of(multiple) {
            return Err(CipherError::Malformed("no whole number of blocks"));
        }
        if let Some(mac) = &self.mac
            && !bool::from(mac.icv(&packet[..end]).ct_eq(&packet[end..]))
        {
            return Err(CipherError::Integrity);
        }
        let (head, rest) = packet.split_at_mut(start);
        let iv = &head[HEADER..];
        match &self.cipher {
            Cipher::Null => {}
            Cipher::Des(des) => decrypt_cbc(&**des, iv, &mut rest[..end - start]),
            Cipher::TripleDes(des) => decrypt_cbc(&**des, iv, &mut rest[..end - start]),
            Cipher::Aes128(aes) => decrypt_cbc(&**aes, iv, &mut rest[..end - start]),
            Cipher::Aes256(aes) => decrypt_cbc(&**aes, iv, &mut rest[..end - start]),
            Cipher::Gcm { key, salt } => {
                let aad = &head[..HEADER];
                if key.open(gcm_nonce(salt, iv), aad, rest).is_err() {
                    rest.zeroize();
                    return Err(CipherError::Integrity);
                }
            }
        }
        let body = &mut rest[..end - start];
        let (padding, next_header) = (usize::from(body[body.len() - 2]), body[body.len() - 1]);
        let inner = match body.len().checked_sub(2 + padding) {
            Some(inner)
                if (1..)
                    .zip(&body[inner..inner + padding])
                    .all(|(i, &p): (usize, _)| i == usize::from(p)) =>
            {
                inner
            }
            _ => {
                body.zeroize();
                return Err(CipherError::Malformed("impossible padding"));
            }
        };
        Ok(EspOpened {
            inner: start..start + inner,
            next_header,
            sequence,
        })
    }
}

impl core::fmt::Debug for EspKey {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "EspKey({}, SPI {:#010x})", self.suite.name(), self.spi)
    }
}

impl MacKey {
    /// First 96 bits of the HMAC (RFC 2403, RFC 2404).
    fn icv(&self, data: &[u8]) -> [u8; 12] {
        let mut icv = [0; 12];
        match self {
            Self::Md5(mac) => {
                icv.copy_from_slice(
                    &mac.as_ref()
                        .clone()
                        .chain_update(data)
                        .finalize()
                        .into_bytes()[..12],
                );
            }
            Self::Sha1(mac) => {
                icv.copy_from_slice(
                    &mac.as_ref()
                        .clone()
                        .chain_update(data)
                        .finalize()
                        .into_bytes()[..12],
                );
            }
        }
        icv
    }
}

/// Salt, then IV (RFC 4106, 4).
pub(crate) fn gcm_nonce(salt: &[u8; 4], iv: &[u8]) -> [u8; 12] {
    let mut nonce = [0; 12];
    nonce[..4].copy_from_slice(salt);
    nonce[4..].copy_from_slice(iv);
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

pub(crate) fn decrypt_cbc<C>(cipher: &C, iv: &[u8], data: &mut [u8])
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
    use crate::tunnel::Tunnel;
    use proptest::prelude::*;

    fn key(suite: TunnelSuite) -> Option<EspKey> {
        use TunnelSuite as S;
        let (encryption, integrity) = match suite {
            S::EspNullMd5 => (0, 16),
            S::EspNullSha1 => (0, 20),
            S::EspDesMd5 => (8, 16),
            S::EspDesSha1 => (8, 20),
            S::Esp3desMd5 => (24, 16),
            S::Esp3desSha1 => (24, 20),
            S::EspAesCbcMd5 => (16, 16),
            S::EspAesCbcSha1 => (32, 20),
            S::EspAesGcm => (36, 0),
            S::WireGuard | S::OpenVpnAesGcm => return None,
        };
        let octets: Vec<u8> = (0..36).map(|i| i * 7 + 1).collect();
        Some(
            EspKey::new(
                suite,
                0x1234_5678,
                &octets[..encryption],
                &octets[..integrity],
            )
            .unwrap(),
        )
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]
        #[test]
        fn round_trip_length_and_flips(
            inner in prop::collection::vec(any::<u8>(), 0..300),
            sequence: u32,
            iv: [u8; 16],
            at: prop::sample::Index,
            bit in 0u8..8,
        ) {
            for suite in TunnelSuite::ALL {
                let Some(key) = key(suite) else { continue };
                let mut packet = Vec::new();
                key.encapsulate(sequence, &iv[..suite.iv_octets()], &inner, 4, &mut packet).unwrap();
                prop_assert_eq!(packet.len() + 20, Tunnel::new(suite).outer_octets(inner.len()));
                let mut altered = packet.clone();
                let opened = key.decapsulate(&mut packet).unwrap();
                prop_assert_eq!(opened.sequence, sequence);
                prop_assert_eq!(opened.next_header, 4);
                prop_assert_eq!(&packet[opened.inner], inner.as_slice());
                altered[at.index(packet.len())] ^= 1 << bit;
                prop_assert!(key.decapsulate(&mut altered).is_err());
            }
        }

        #[test]
        fn no_input_panics(packet in prop::collection::vec(any::<u8>(), 0..150), ours: bool) {
            for suite in TunnelSuite::ALL {
                let Some(key) = key(suite) else { continue };
                let mut packet = packet.clone();
                if ours && packet.len() >= 4 {
                    packet[..4].copy_from_slice(&0x1234_5678u32.to_be_bytes());
                }
                prop_assert!(key.decapsulate(&mut packet).is_err());
            }
        }
    }

    #[test]
    fn keys_of_wrong_length_are_refused() {
        let new = |suite, encryption: usize, integrity: usize| {
            EspKey::new(suite, 1, &vec![0; encryption], &vec![0; integrity])
        };
        assert!(new(TunnelSuite::WireGuard, 32, 0).is_err());
        assert!(new(TunnelSuite::EspAesGcm, 16, 0).is_err());
        assert!(new(TunnelSuite::EspAesGcm, 3, 0).is_err());
        assert!(new(TunnelSuite::EspAesCbcSha1, 24, 20).is_err());
        assert!(new(TunnelSuite::Esp3desMd5, 24, 20).is_err());
        assert!(new(TunnelSuite::EspNullMd5, 1, 16).is_err());
    }
}
