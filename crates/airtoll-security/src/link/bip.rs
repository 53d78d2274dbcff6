//! BIP: integrity of group-addressed management frames (IEEE 802.11-2020, 12.5.4).
//!
//! Takes an IGTK (or BIGTK) and management frames; appends or checks the Management MIC element.
//! Never encrypts: the frame stays readable, and never keeps an IPN.

use aes::{Aes128, Aes256};
use cmac::{Cmac, KeyInit, Mac};
use subtle::ConstantTimeEq;

use super::mpdu::Header;
use super::{MAX_PACKET_NUMBER, check_packet_number};
use crate::aead::{AeadKey, Algorithm};
use crate::error::{CipherError, KeyError};
use crate::suite::CipherSuite;

/// Element ID of the Management MIC element (MME, 9.4.2.54).
pub const ELEMENT_ID: u8 = 76;

/// First octet of the Frame Control of a beacon.
const BEACON: u8 = 0x80;

/// An integrity group temporal key.
pub struct BipKey {
    suite: CipherSuite,
    mac: BipMac,
}

enum BipMac {
    Cmac128(Box<Cmac<Aes128>>),
    Cmac256(Box<Cmac<Aes256>>),
    Gmac(AeadKey),
}

/// Content of a verified MME.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Verified {
    /// IPN (or BIPN), to be compared with the last one.
    pub packet_number: u64,
    /// Key ID: 4 or 5 for an IGTK, 6 or 7 for a BIGTK.
    pub key_id: u16,
}

impl BipKey {
    /// Schedules a key for one of the four BIP suites.
    ///
    /// # Errors
    /// Another suite, or a key of another length than the suite's.
    pub fn new(suite: CipherSuite, key: &[u8]) -> Result<Self, KeyError> {
        let length = |_| KeyError::Length {
            what: "BIP",
            expected: suite.key_octets(),
            got: key.len(),
        };
        let gmac = |algorithm| {
            AeadKey::new(algorithm, key)
                .map(BipMac::Gmac)
                .map_err(|_| length(()))
        };
        let mac = match suite {
            CipherSuite::BipCmac128 => BipMac::Cmac128(Box::new(
                KeyInit::new_from_slice(key).map_err(|_| length(()))?,
            )),
            CipherSuite::BipCmac256 => BipMac::Cmac256(Box::new(
                KeyInit::new_from_slice(key).map_err(|_| length(()))?,
            )),
            CipherSuite::BipGmac128 => gmac(Algorithm::Aes128Gcm)?,
            CipherSuite::BipGmac256 => gmac(Algorithm::Aes256Gcm)?,
            _ => {
                return Err(KeyError::NotDefined(
                    "only BIP suites protect group management",
                ));
            }
        };
        Ok(Self { suite, mac })
    }

    /// The suite.
    #[must_use]
    pub const fn suite(&self) -> CipherSuite {
        self.suite
    }

    /// Appends the MME with its MIC to a management frame (without FCS).
    ///
    /// # Errors
    /// No management frame, an IPN above 48 bits or a key ID above 15; the frame is then
    /// unchanged.
    pub fn protect(
        &self,
        frame: &mut Vec<u8>,
        packet_number: u64,
        key_id: u16,
    ) -> Result<(), CipherError> {
        check_packet_number(packet_number, 0)?;
        if key_id > 15 {
            return Err(CipherError::Malformed("a BIP key ID is 4 to 7, 15 at most"));
        }
        let aad = Self::aad(frame)?;
        let mic = self.suite.mic_octets();
        frame.extend([ELEMENT_ID, (8 + mic) as u8]);
        frame.extend(key_id.to_le_bytes());
        frame.extend(&packet_number.to_le_bytes()[..6]);
        frame.resize(frame.len() + mic, 0);
        let value = self.mic(&aad, frame, packet_number)?;
        let start = frame.len() - mic;
        frame[start..].copy_from_slice(&value[..mic]);
        Ok(())
    }

    /// Checks the MME at the end of a management frame (without FCS).
    ///
    /// # Errors
    /// No management frame, no MME at its end, or a wrong MIC.
    pub fn verify(&self, frame: &[u8]) -> Result<Verified, CipherError> {
        let aad = Self::aad(frame)?;
        let mic = self.suite.mic_octets();
        let header = Header::parse(frame)?.length();
        let needed = header + 10 + mic;
        if frame.len() < needed {
            return Err(CipherError::TooShort {
                needed,
                got: frame.len(),
            });
        }
        let element = &frame[frame.len() - 10 - mic..];
        if element[..2] != [ELEMENT_ID, (8 + mic) as u8] {
            return Err(CipherError::Malformed(
                "no Management MIC element of this suite at the end",
            ));
        }
        let mut number = [0; 8];
        number[..6].copy_from_slice(&element[4..10]);
        let packet_number = u64::from_le_bytes(number);
        let value = self.mic(&aad, frame, packet_number)?;
        if !bool::from(value[..mic].ct_eq(&element[10..])) {
            return Err(CipherError::Integrity);
        }
        Ok(Verified {
            packet_number,
            key_id: u16::from_le_bytes([element[2], element[3]]),
        })
    }

    /// AAD (12.5.4.4): Frame Control with retry, power management and more data masked, A1 to A3.
    fn aad(frame: &[u8]) -> Result<[u8; 20], CipherError> {
        let header = Header::parse(frame)?;
        if !header.is_management() {
            return Err(CipherError::Malformed(
                "BIP protects management frames only",
            ));
        }
        let mut aad = [0; 20];
        aad[0] = frame[0];
        aad[1] = frame[1] & !0x38;
        aad[2..].copy_from_slice(&frame[4..22]);
        Ok(aad)
    }

    /// MIC over AAD, frame body and MME, the MIC field counted as zero.
    fn mic(
        &self,
        aad: &[u8; 20],
        frame: &[u8],
        packet_number: u64,
    ) -> Result<[u8; 16], CipherError> {
        debug_assert!(packet_number <= MAX_PACKET_NUMBER);
        let header = Header::parse(frame)?.length();
        let mic = self.suite.mic_octets();
        let body = &frame[header..frame.len() - mic];
        // The Timestamp of a beacon counts as zero (12.5.4.5), since the radio writes it last.
        let timestamp = if frame[0] == BEACON {
            body.len().min(8)
        } else {
            0
        };
        let parts: [&[u8]; 4] = [
            aad,
            &[0; 8][..timestamp],
            &body[timestamp..],
            &[0; 16][..mic],
        ];
        match &self.mac {
            BipMac::Cmac128(mac) => Ok(run_cmac(mac.as_ref().clone(), &parts)),
            BipMac::Cmac256(mac) => Ok(run_cmac(mac.as_ref().clone(), &parts)),
            BipMac::Gmac(key) => {
                let mut nonce = [0; 12];
                nonce[..6].copy_from_slice(&frame[10..16]);
                nonce[6..].copy_from_slice(&packet_number.to_be_bytes()[2..]);
                key.seal(nonce, &parts.concat(), &mut [])
                    .map_err(|_| CipherError::Malformed("AES-GMAC refused the frame"))
            }
        }
    }
}

impl core::fmt::Debug for BipKey {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "BipKey({})", self.suite.name())
    }
}

fn run_cmac<M: Mac>(mut mac: M, parts: &[&[u8]]) -> [u8; 16] {
    parts.iter().for_each(|part| mac.update(part));
    let mut value = [0; 16];
    value.copy_from_slice(&mac.finalize().into_bytes());
    value
}
