//! GCMP-128 and GCMP-256 (IEEE 802.11-2020, 12.5.5).
//!
//! Takes a temporal key and MPDUs laid out as [`super`] says; encapsulates and decapsulates them
//! in place. Never keeps a packet number.

use zeroize::Zeroize;

use super::mpdu::{Header, set_protected};
use super::{Decapsulated, check_packet_number, extended_header, parse_extended_header};
use crate::aead::{AeadKey, Algorithm};
use crate::error::{CipherError, KeyError};
use crate::suite::CipherSuite;

/// Octets of GCMP header.
pub const HEADER: usize = 8;
/// Octets of MIC.
pub const MIC: usize = 16;

/// A temporal key of GCMP-128 (16 octets) or GCMP-256 (32 octets).
#[derive(Debug)]
pub struct GcmpKey {
    gcm: AeadKey,
    suite: CipherSuite,
    spp_amsdu: bool,
}

impl GcmpKey {
    /// Schedules a temporal key; its length decides between GCMP-128 and GCMP-256.
    ///
    /// # Errors
    /// Another length than 16 or 32 octets.
    pub fn new(temporal_key: &[u8]) -> Result<Self, KeyError> {
        let (algorithm, suite) = match temporal_key.len() {
            16 => (Algorithm::Aes128Gcm, CipherSuite::Gcmp128),
            _ => (Algorithm::Aes256Gcm, CipherSuite::Gcmp256),
        };
        let gcm = AeadKey::new(algorithm, temporal_key).map_err(|_| KeyError::Length {
            what: "GCMP",
            expected: suite.key_octets(),
            got: temporal_key.len(),
        })?;
        Ok(Self {
            gcm,
            suite,
            spp_amsdu: false,
        })
    }

    /// Between stations that both announce SPP A-MSDUs, the A-MSDU Present bit is authenticated.
    #[must_use]
    pub fn spp_amsdu(mut self, both_capable: bool) -> Self {
        self.spp_amsdu = both_capable;
        self
    }

    /// The suite.
    #[must_use]
    pub const fn suite(&self) -> CipherSuite {
        self.suite
    }

    /// Encapsulates an MPDU in place: sets the Protected Frame bit, fills the GCMP header,
    /// encrypts, writes the MIC.
    ///
    /// # Errors
    /// A frame too short, a control frame, a packet number above 48 bits or a key ID above 3; the
    /// frame is then unchanged.
    pub fn encapsulate(
        &self,
        frame: &mut [u8],
        packet_number: u64,
        key_id: u8,
    ) -> Result<(), CipherError> {
        check_packet_number(packet_number, key_id)?;
        let header = Header::parse_with(frame, self.spp_amsdu)?;
        check_length(&header, frame.len())?;
        set_protected(frame);
        let (head, rest) = frame.split_at_mut(header.length() + HEADER);
        head[header.length()..].copy_from_slice(&extended_header(packet_number, key_id));
        let (data, mic) = rest.split_at_mut(rest.len() - MIC);
        let tag = self
            .gcm
            .seal(nonce(&header, packet_number), header.aad(), data)
            .map_err(|_| CipherError::Malformed("AES-GCM refused the frame"))?;
        mic.copy_from_slice(&tag);
        Ok(())
    }

    /// Decapsulates an MPDU in place.
    ///
    /// # Errors
    /// A frame too short or not protected, or a wrong MIC; in the last case the payload is erased.
    /// Replays are the caller's to find, with [`super::replay::ReplayCounters`].
    pub fn decapsulate(&self, frame: &mut [u8]) -> Result<Decapsulated, CipherError> {
        let header = Header::parse_with(frame, self.spp_amsdu)?;
        if !header.is_protected() {
            return Err(CipherError::NotProtected);
        }
        check_length(&header, frame.len())?;
        let (start, end) = (header.length() + HEADER, frame.len() - MIC);
        let cipher_header: &[u8; 8] = frame[header.length()..start].try_into().expect("8 octets");
        let (packet_number, key_id) = parse_extended_header(cipher_header)?;
        let opened = self.gcm.open(
            nonce(&header, packet_number),
            header.aad(),
            &mut frame[start..],
        );
        if opened.is_err() {
            frame[start..end].zeroize();
            return Err(CipherError::Integrity);
        }
        Ok(Decapsulated {
            payload: start..end,
            packet_number,
            key_id,
            counter: header.counter(),
        })
    }
}

/// Nonce (12.5.5.3.4): A2, then PN from its highest octet.
fn nonce(header: &Header, packet_number: u64) -> [u8; 12] {
    let mut nonce = [0; 12];
    nonce[..6].copy_from_slice(&header.transmitter());
    nonce[6..].copy_from_slice(&packet_number.to_be_bytes()[2..]);
    nonce
}

fn check_length(header: &Header, got: usize) -> Result<(), CipherError> {
    let needed = header.length() + HEADER + MIC;
    if got < needed {
        return Err(CipherError::TooShort { needed, got });
    }
    Ok(())
}
