//! CCMP-128 and CCMP-256 (IEEE 802.11-2020, 12.5.3).
//!
//! Takes a temporal key and MPDUs laid out as [`super`] says; encapsulates and decapsulates them
//! in place, and decapsulates batches with a key per frame. Never keeps a packet number.

use super::mpdu::{Header, set_protected};
use super::{
    Decapsulated, IncomingMpdu, check_packet_number, extended_header, parse_extended_header,
};
use crate::ccm::CcmKey;
use crate::error::{CipherError, KeyError};
use crate::kernels::{CcmJob, Engine};
use crate::suite::CipherSuite;

/// Octets of CCMP header.
pub const HEADER: usize = 8;

/// Frames that go to the kernels together.
const WINDOW: usize = 64;

/// A temporal key of CCMP-128 (16 octets) or CCMP-256 (32 octets).
#[derive(Clone, Debug)]
pub struct CcmpKey {
    ccm: CcmKey,
    spp_amsdu: bool,
}

impl CcmpKey {
    /// Schedules a temporal key; its length decides between CCMP-128 and CCMP-256.
    ///
    /// # Errors
    /// Another length than 16 or 32 octets.
    pub fn new(temporal_key: &[u8]) -> Result<Self, KeyError> {
        Self::with_engine(temporal_key, Engine::detect())
    }

    /// As [`new`](Self::new), for a given engine.
    ///
    /// # Errors
    /// As [`new`](Self::new), and an engine this processor cannot run.
    pub fn with_engine(temporal_key: &[u8], engine: Engine) -> Result<Self, KeyError> {
        Ok(Self {
            ccm: CcmKey::with_engine(temporal_key, engine)?,
            spp_amsdu: false,
        })
    }

    /// Between stations that both announce SPP A-MSDUs, the A-MSDU Present bit is authenticated.
    #[must_use]
    pub const fn spp_amsdu(mut self, both_capable: bool) -> Self {
        self.spp_amsdu = both_capable;
        self
    }

    /// The suite.
    #[must_use]
    pub const fn suite(&self) -> CipherSuite {
        if self.ccm.tag_octets() == 8 {
            CipherSuite::Ccmp128
        } else {
            CipherSuite::Ccmp256
        }
    }

    /// Encapsulates an MPDU in place: sets the Protected Frame bit, fills the CCMP header,
    /// encrypts, writes the MIC.
    ///
    /// # Errors
    /// A frame too short or too long, a control frame, a packet number above 48 bits or a key ID
    /// above 3; the frame is then unchanged.
    pub fn encapsulate(
        &self,
        frame: &mut [u8],
        packet_number: u64,
        key_id: u8,
    ) -> Result<(), CipherError> {
        let (mut job, mic) = self.outgoing(frame, packet_number, key_id)?;
        self.ccm.seal(&mut job);
        mic.copy_from_slice(&job.tag[..mic.len()]);
        Ok(())
    }

    /// Decapsulates an MPDU in place.
    ///
    /// # Errors
    /// A frame too short or not protected, or a wrong MIC; in the last case the payload is erased.
    /// Replays are the caller's to find, with [`super::replay::ReplayCounters`].
    pub fn decapsulate(&self, frame: &mut [u8]) -> Result<Decapsulated, CipherError> {
        let (mut job, found) = self.incoming(frame)?;
        self.ccm.unseal(&mut job);
        if job.authentic {
            Ok(found)
        } else {
            Err(CipherError::Integrity)
        }
    }

    /// Decapsulates frame `i` under `keys[i]`; each tells its own result.
    ///
    /// # Panics
    /// Fewer keys than frames.
    pub fn decapsulate_batch(keys: &[&Self], frames: &mut [IncomingMpdu<'_>]) {
        assert!(keys.len() >= frames.len(), "a key for every frame");
        for (keys, window) in keys.chunks(WINDOW).zip(frames.chunks_mut(WINDOW)) {
            Self::decapsulate_window(keys, window);
        }
    }

    fn decapsulate_window(keys: &[&Self], window: &mut [IncomingMpdu<'_>]) {
        let Some(first) = keys.first() else { return };
        // On the stack: a job, its key and where its result goes, for each frame in order.
        let mut jobs: [CcmJob<'_>; WINDOW] = core::array::from_fn(|_| CcmJob::empty());
        let mut ccm_keys = [&first.ccm; WINDOW];
        let mut results: [Option<&mut Result<Decapsulated, CipherError>>; WINDOW] =
            [const { None }; WINDOW];
        let mut length = 0;
        for (key, incoming) in keys.iter().zip(window) {
            match key.incoming(incoming.frame) {
                Ok((job, found)) => {
                    incoming.result = Ok(found);
                    results[length] = Some(&mut incoming.result);
                    jobs[length] = job;
                    ccm_keys[length] = &key.ccm;
                    length += 1;
                }
                Err(error) => incoming.result = Err(error),
            }
        }
        CcmKey::unseal_batch(&ccm_keys[..length], &mut jobs[..length]);
        for (result, job) in results.iter_mut().zip(&jobs[..length]) {
            if let (Some(result), false) = (result, job.authentic) {
                **result = Err(CipherError::Integrity);
            }
        }
    }

    /// Checks a frame to send, writes its CCMP header and splits it into job and MIC.
    fn outgoing<'f>(
        &self,
        frame: &'f mut [u8],
        packet_number: u64,
        key_id: u8,
    ) -> Result<(CcmJob<'f>, &'f mut [u8]), CipherError> {
        check_packet_number(packet_number, key_id)?;
        let header = Header::parse_with(frame, self.spp_amsdu)?;
        self.check_length(&header, frame.len())?;
        set_protected(frame);
        let (head, rest) = frame.split_at_mut(header.length() + HEADER);
        head[header.length()..].copy_from_slice(&extended_header(packet_number, key_id));
        let (data, mic) = rest.split_at_mut(rest.len() - self.ccm.tag_octets());
        let job = CcmJob::with_encoded(data, nonce(&header, packet_number), header.encoded_aad());
        Ok((job, mic))
    }

    /// Checks a received frame and splits it into job and what will be reported of it.
    fn incoming<'f>(&self, frame: &'f mut [u8]) -> Result<(CcmJob<'f>, Decapsulated), CipherError> {
        let header = Header::parse_with(frame, self.spp_amsdu)?;
        if !header.is_protected() {
            return Err(CipherError::NotProtected);
        }
        self.check_length(&header, frame.len())?;
        let start = header.length() + HEADER;
        let end = frame.len() - self.ccm.tag_octets();
        let cipher_header: &[u8; 8] = frame[header.length()..start].try_into().expect("8 octets");
        let (packet_number, key_id) = parse_extended_header(cipher_header)?;
        let (rest, mic) = frame.split_at_mut(end);
        let data = &mut rest[start..];
        let mut job =
            CcmJob::with_encoded(data, nonce(&header, packet_number), header.encoded_aad());
        job.tag[..mic.len()].copy_from_slice(mic);
        let found = Decapsulated {
            payload: start..end,
            packet_number,
            key_id,
            counter: header.counter(),
        };
        Ok((job, found))
    }

    fn check_length(&self, header: &Header, length: usize) -> Result<(), CipherError> {
        let needed = header.length() + HEADER + self.ccm.tag_octets();
        match length.checked_sub(needed) {
            None => Err(CipherError::TooShort {
                needed,
                got: length,
            }),
            Some(payload) if payload > usize::from(u16::MAX) => Err(CipherError::TooLong {
                limit: usize::from(u16::MAX),
                got: payload,
            }),
            Some(_) => Ok(()),
        }
    }
}

/// Nonce (12.5.3.3.4): priority and management flag, A2, PN from its highest octet.
fn nonce(header: &Header, packet_number: u64) -> [u8; 13] {
    let mut nonce = [0; 13];
    nonce[0] = header.priority() | u8::from(header.is_management()) << 4;
    nonce[1..7].copy_from_slice(&header.transmitter());
    nonce[7..].copy_from_slice(&packet_number.to_be_bytes()[2..]);
    nonce
}
