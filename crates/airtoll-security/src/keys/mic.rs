//! The MIC of EAPOL-Key frames.
//!
//! Takes an AKM and a Key Descriptor Version, then a KCK and a frame; gives the MIC, or compares
//! one in constant time. Never parses more of the frame than where the MIC stands.

use aes::Aes128;
use cmac::{Cmac, KeyInit, Mac};
use hmac::Hmac;
use md5::Md5;
use subtle::ConstantTimeEq;

use super::prf::hmac;
pub use crate::akm::KeyMic;
use crate::akm::{AkmHash, AkmSuite};
use crate::error::KeyError;

/// Offset of the Key MIC field in an EAPOL frame with an RSN or WPA key descriptor: EAPOL header
/// 4, then descriptor type 1, key information 2, key length 2, replay counter 8, nonce 32, IV
/// 16, RSC 8, reserved 8 (IEEE 802.11-2020, 12.7.2).
pub const MIC_OFFSET: usize = 81;

/// A MIC of 16, 24 or 32 octets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MicValue {
    octets: [u8; 32],
    length: usize,
}

impl MicValue {
    /// Its octets.
    #[must_use]
    pub fn as_slice(&self) -> &[u8] {
        &self.octets[..self.length]
    }
}

impl KeyMic {
    /// The algorithm of a Key Descriptor Version: 1, 2 and 3 name it, 0 leaves it to the AKM.
    /// `hash` decides for OWE and SAE-EXT-KEY.
    ///
    /// # Errors
    /// Version 0 with an AKM that does not define an algorithm, or a version above 3.
    pub fn of(akm: AkmSuite, hash: AkmHash, descriptor_version: u8) -> Result<Self, KeyError> {
        match descriptor_version {
            1 => Some(Self::HmacMd5),
            2 => Some(Self::HmacSha1),
            3 => Some(Self::AesCmac),
            0 => akm.own_mic(hash),
            _ => None,
        }
        .ok_or(KeyError::NotDefined(
            "no EAPOL-Key MIC is defined for this AKM and descriptor version",
        ))
    }

    /// Octets of the Key MIC field.
    #[must_use]
    pub const fn octets(self) -> usize {
        match self {
            Self::HmacMd5 | Self::HmacSha1 | Self::AesCmac | Self::HmacSha256 => 16,
            Self::HmacSha384 => 24,
            Self::HmacSha512 => 32,
        }
    }

    /// MIC over the concatenated `parts`, in which the MIC field must already be zero.
    ///
    /// # Errors
    /// A KCK of other than 16 octets for AES-CMAC.
    pub fn compute(self, kck: &[u8], parts: &[&[u8]]) -> Result<MicValue, KeyError> {
        let mut value = MicValue {
            octets: [0; 32],
            length: self.octets(),
        };
        let mut take =
            |digest: &[u8]| value.octets[..value.length].copy_from_slice(&digest[..value.length]);
        match self {
            Self::HmacMd5 => {
                let mut mac = <Hmac<Md5> as KeyInit>::new_from_slice(kck)
                    .expect("HMAC takes keys of any length");
                parts.iter().for_each(|part| mac.update(part));
                take(&mac.finalize().into_bytes());
            }
            Self::AesCmac => {
                let mut mac = <Cmac<Aes128> as KeyInit>::new_from_slice(kck).map_err(|_| {
                    KeyError::Length {
                        what: "the AES-CMAC MIC of EAPOL-Key",
                        expected: 16,
                        got: kck.len(),
                    }
                })?;
                parts.iter().for_each(|part| mac.update(part));
                take(&mac.finalize().into_bytes());
            }
            Self::HmacSha1 => take(&*hmac(AkmHash::Sha1, kck, parts)),
            Self::HmacSha256 => take(&*hmac(AkmHash::Sha256, kck, parts)),
            Self::HmacSha384 => take(&*hmac(AkmHash::Sha384, kck, parts)),
            Self::HmacSha512 => take(&*hmac(AkmHash::Sha512, kck, parts)),
        }
        Ok(value)
    }

    /// MIC of a whole EAPOL frame (from the protocol version on), its MIC field counted as zero
    /// whatever it holds.
    ///
    /// # Errors
    /// A frame that ends before its MIC does, or a KCK of the wrong length.
    pub fn of_frame(self, kck: &[u8], frame: &[u8]) -> Result<MicValue, KeyError> {
        let end = MIC_OFFSET + self.octets();
        if frame.len() < end {
            return Err(KeyError::Length {
                what: "an EAPOL-Key frame",
                expected: end,
                got: frame.len(),
            });
        }
        self.compute(
            kck,
            &[
                &frame[..MIC_OFFSET],
                &[0; 32][..self.octets()],
                &frame[end..],
            ],
        )
    }

    /// Whether the MIC in a whole EAPOL frame is right; compared in constant time.
    ///
    /// # Errors
    /// As [`of_frame`](Self::of_frame).
    pub fn verify_frame(self, kck: &[u8], frame: &[u8]) -> Result<bool, KeyError> {
        let expected = self.of_frame(kck, frame)?;
        let there = &frame[MIC_OFFSET..MIC_OFFSET + self.octets()];
        Ok(expected.as_slice().ct_eq(there).into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hex_literal::hex;

    /// RFC 2202 cases 2 (MD5 and SHA-1), RFC 4231 case 2, RFC 4493 example 2.
    #[test]
    fn published_macs() {
        let data: &[u8] = b"what do ya want for nothing?";
        let mac = |alg: KeyMic| alg.compute(b"Jefe", &[&data[..5], &data[5..]]).unwrap();
        assert_eq!(
            mac(KeyMic::HmacMd5).as_slice(),
            hex!("750c783e6ab0b503eaa86e310a5db738")
        );
        assert_eq!(
            mac(KeyMic::HmacSha1).as_slice(),
            hex!("effcdf6ae5eb2fa2d27416d5f184df9c")
        );
        assert_eq!(
            mac(KeyMic::HmacSha256).as_slice(),
            hex!("5bdcc146bf60754e6a042426089575c7")
        );
        assert_eq!(
            mac(KeyMic::HmacSha384).as_slice(),
            hex!("af45d2e376484031617f78d2b58a6b1b9c7ef464f5a01b47")
        );
        assert_eq!(
            mac(KeyMic::HmacSha512).as_slice(),
            hex!("164b7a7bfcf819e2e395fbe73b56e0a387bd64222e831fd610270cd7ea250554")
        );
        assert_eq!(
            KeyMic::AesCmac
                .compute(
                    &hex!("2b7e151628aed2a6abf7158809cf4f3c"),
                    &[&hex!("6bc1bee22e409f96e93d7e117393172a")]
                )
                .unwrap()
                .as_slice(),
            hex!("070a16b46b4d4144f79bdd9dd04a287c")
        );
        assert!(KeyMic::AesCmac.compute(&[0; 24], &[]).is_err());
    }

    #[test]
    fn frame_mic_ignores_its_own_field_and_nothing_else() {
        let mut frame = vec![0x5a; 121];
        for (alg, octets) in [(KeyMic::HmacSha1, 16), (KeyMic::HmacSha384, 24)] {
            let kck = &[9; 24][..octets];
            let mic = alg.of_frame(kck, &frame).unwrap();
            frame[MIC_OFFSET..MIC_OFFSET + octets].copy_from_slice(mic.as_slice());
            assert!(alg.verify_frame(kck, &frame).unwrap());
            for at in 0..frame.len() {
                frame[at] ^= 1;
                assert!(!alg.verify_frame(kck, &frame).unwrap(), "octet {at}");
                frame[at] ^= 1;
            }
        }
        assert!(KeyMic::HmacSha1.of_frame(&[0; 16], &frame[..96]).is_err());
    }

    #[test]
    fn algorithm_per_akm() {
        let of = |akm: AkmSuite, tkip| {
            KeyMic::of(akm, AkmHash::Sha384, akm.descriptor_version(tkip)).unwrap()
        };
        assert_eq!(of(AkmSuite::WpaPsk, true), KeyMic::HmacMd5);
        assert_eq!(of(AkmSuite::Psk, false), KeyMic::HmacSha1);
        assert_eq!(of(AkmSuite::FtPsk, false), KeyMic::AesCmac);
        assert_eq!(of(AkmSuite::Sae, false), KeyMic::AesCmac);
        assert_eq!(of(AkmSuite::SuiteB192, false), KeyMic::HmacSha384);
        assert_eq!(of(AkmSuite::SaeExtKey, false), KeyMic::HmacSha384);
        for akm in AkmSuite::ALL {
            let hash = akm.hash_or_default();
            let mic = KeyMic::of(akm, hash, akm.descriptor_version(false)).unwrap();
            assert_eq!(mic.octets(), akm.mic_octets(hash), "{}", akm.name());
        }
        assert!(KeyMic::of(AkmSuite::Psk, AkmHash::Sha1, 0).is_err());
    }
}
