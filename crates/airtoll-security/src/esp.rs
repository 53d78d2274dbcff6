//! ESP packets (RFC 4303) of the transforms in [`crate::tunnel`], and of all algorithms in
//! [`crate::ipsec`].
//!
//! Takes keys, sequence numbers, IVs and inner packets; gives ESP packets from the SPI on, and
//! back. Never writes the outer IP or UDP header, never chooses an IV, never keeps a sequence
//! number: see [`crate::window`]. Sequence numbers have 32 bits (no ESN).

use core::ops::Range;

use zeroize::Zeroize;

use crate::error::{CipherError, KeyError};
use crate::ipsec::{Checksum, Cipher, Encryption, Integrity};
use crate::tunnel::TunnelSuite;

/// Octets of SPI and sequence number.
pub const HEADER: usize = 8;
/// Next header of an inner IPv4 packet in tunnel mode.
pub const NEXT_HEADER_IPV4: u8 = 4;
/// Next header of an inner IPv6 packet in tunnel mode.
pub const NEXT_HEADER_IPV6: u8 = 41;

const INTEGRITY: &str = "the integrity transform of ESP";

/// One direction of a security association.
pub struct EspKey {
    spi: u32,
    cipher: Cipher,
    checksum: Option<Checksum>,
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
    /// A tag or a checksum proves the packet.
    pub checked: bool,
}

impl EspKey {
    /// Takes the keys of one direction: encryption key of 0 (NULL), 8 (DES), 24 (3DES), 16, 24 or 32
    /// (AES-CBC) octets, or 20, 28 or 36 with the salt at the end (AES-GCM; RFC 4106, 8.1); integrity
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
        let (encryption, integrity) = algorithms(suite)?;
        Self::with_algorithms(spi, encryption, encryption_key, integrity, integrity_key)
    }

    /// Takes the keys of one direction under any algorithms of [`crate::ipsec`]; the encryption key
    /// ends with the salt where the algorithm has one.
    ///
    /// # Errors
    /// A key of another length, or an integrity algorithm beside a cipher that authenticates.
    pub fn with_algorithms(
        spi: u32,
        encryption: Encryption,
        encryption_key: &[u8],
        integrity: Option<Integrity>,
        integrity_key: &[u8],
    ) -> Result<Self, KeyError> {
        let cipher = Cipher::new(encryption, encryption_key)?;
        let checksum = match integrity {
            Some(_) if cipher.authenticates() => {
                return Err(KeyError::NotDefined(
                    "a cipher that authenticates has no integrity algorithm beside it",
                ));
            }
            Some(algorithm) => Some(Checksum::new(algorithm, integrity_key, INTEGRITY)?),
            None if integrity_key.is_empty() => None,
            None => {
                return Err(KeyError::Length {
                    what: INTEGRITY,
                    expected: 0,
                    got: integrity_key.len(),
                });
            }
        };
        Ok(Self {
            spi,
            cipher,
            checksum,
        })
    }

    /// Octets of IV in each packet.
    #[must_use]
    pub const fn iv_octets(&self) -> usize {
        self.cipher.iv()
    }

    /// Octets of tag or checksum at the end.
    fn icv(&self) -> usize {
        let checksum = self.checksum.as_ref().map_or(0, Checksum::octets);
        checksum.max(self.cipher.tag())
    }

    /// ESP aligns to four octets at least (RFC 4303 section 2.4).
    const fn multiple(&self) -> usize {
        match self.cipher.block() {
            1 => 4,
            block => block,
        }
    }

    /// Appends the ESP packet of `inner` to `out`. `iv` has [`EspKey::iv_octets`]: unpredictable for
    /// CBC, never repeated for the others. Padding octets are 1, 2, 3, ... (RFC 4303, 2.4).
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
        if iv.len() != self.cipher.iv() {
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
        let body = (inner.len() + 2).next_multiple_of(self.multiple());
        let padding = (body - inner.len() - 2) as u8;
        out.extend(1..=padding);
        out.extend([padding, next_header]);
        let (head, data) = out[packet..].split_at_mut(start - packet);
        let Some(tag) = self.cipher.seal(&head[..HEADER], iv, data) else {
            out.truncate(packet);
            return Err(CipherError::Malformed("the cipher refused the packet"));
        };
        out.extend(&tag[..self.cipher.tag()]);
        if let Some(checksum) = &self.checksum {
            let value = checksum.over(&out[packet..]);
            out.extend(&value[..checksum.octets()]);
        }
        Ok(())
    }

    /// Decapsulates an ESP packet in place.
    ///
    /// # Errors
    /// A packet too short or of another SPI, a wrong ICV, or impossible padding; decrypted
    /// octets are then erased.
    pub fn decapsulate(&self, packet: &mut [u8]) -> Result<EspOpened, CipherError> {
        let icv = self.icv();
        let start = HEADER + self.cipher.iv();
        let multiple = self.multiple();
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
        if let Some(checksum) = &self.checksum
            && !checksum.fits(&packet[..end], &packet[end..])
        {
            return Err(CipherError::Integrity);
        }
        let (head, rest) = packet.split_at_mut(start);
        let (aad, iv) = head.split_at(HEADER);
        let sealed = &mut rest[..end - start + self.cipher.tag()];
        if !self.cipher.open(aad, iv, sealed) {
            rest.zeroize();
            return Err(CipherError::Integrity);
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
            checked: self.cipher.authenticates()
                || self.checksum.as_ref().is_some_and(Checksum::checks),
        })
    }
}

/// The algorithms of a transform.
///
/// # Errors
/// WireGuard and OpenVPN, which are no transforms of ESP.
pub const fn algorithms(suite: TunnelSuite) -> Result<(Encryption, Option<Integrity>), KeyError> {
    use TunnelSuite as S;
    Ok(match suite {
        S::EspNullMd5 => (Encryption::Null, Some(Integrity::HmacMd5)),
        S::EspNullSha1 => (Encryption::Null, Some(Integrity::HmacSha1)),
        S::EspDesMd5 => (Encryption::Des, Some(Integrity::HmacMd5)),
        S::EspDesSha1 => (Encryption::Des, Some(Integrity::HmacSha1)),
        S::Esp3desMd5 => (Encryption::TripleDes, Some(Integrity::HmacMd5)),
        S::Esp3desSha1 => (Encryption::TripleDes, Some(Integrity::HmacSha1)),
        S::EspAesCbcMd5 => (Encryption::AesCbc, Some(Integrity::HmacMd5)),
        S::EspAesCbcSha1 => (Encryption::AesCbc, Some(Integrity::HmacSha1)),
        S::EspAesGcm => (Encryption::AesGcm(16), None),
        S::WireGuard => return Err(KeyError::NotDefined("WireGuard is not an ESP transform")),
        S::OpenVpnAesGcm => return Err(KeyError::NotDefined("OpenVPN is not an ESP transform")),
    })
}

impl core::fmt::Debug for EspKey {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "EspKey(SPI {:#010x})", self.spi)
    }
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
        assert!(new(TunnelSuite::EspAesCbcSha1, 17, 20).is_err());
        assert!(new(TunnelSuite::EspAesGcm, 20, 12).is_err());
        assert!(new(TunnelSuite::Esp3desMd5, 24, 20).is_err());
        assert!(new(TunnelSuite::EspNullMd5, 1, 16).is_err());
    }
}
