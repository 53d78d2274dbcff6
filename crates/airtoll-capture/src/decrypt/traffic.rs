//! Keys that open data: takes a cipher suite and octets of key, opens MPDUs.
//!
//! Frames are opened in place on a copy: a failed attempt leaves nothing. Never refuses a packet
//! number: a capture also holds what receivers refuse.

use core::ops::Range;

use airtoll_security::CipherSuite;
use airtoll_security::link::ccmp::CcmpKey;
use airtoll_security::link::gcmp::GcmpKey;
use airtoll_security::link::tkip::TkipKey;
use airtoll_security::link::wep::WepKey;
use airtoll_security::rc4::Rc4;
use airtoll_wire::ieee80211::{Frame, Protection};
use zeroize::Zeroizing;

/// A key with its cipher.
pub struct TrafficKey {
    suite: CipherSuite,
    key_id: Option<u8>,
    octets: Zeroizing<Vec<u8>>,
    tag: u32,
    engine: Engine,
}

enum Engine {
    Wep(WepKey),
    /// WEP with 128 bits of key, which some vendors had.
    LongWep,
    Tkip(TkipKey),
    Ccmp(CcmpKey, CcmpKey),
    Gcmp(GcmpKey, GcmpKey),
}

/// An opened MPDU.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Opened {
    /// Where the plaintext is in the frame; with TKIP it still holds Michael's octets.
    pub payload: Range<usize>,
    /// The suite that opened it.
    pub suite: CipherSuite,
    /// Octets of packet number, if the cipher has one.
    pub packet_number: u64,
}

impl TrafficKey {
    /// Schedules a key; `None` if the suite has no such key.
    pub fn new(suite: CipherSuite, key_id: Option<u8>, octets: &[u8]) -> Option<Self> {
        let engine = match suite {
            CipherSuite::Wep40 | CipherSuite::Wep104 if octets.len() == 16 => Engine::LongWep,
            CipherSuite::Wep40 | CipherSuite::Wep104 => Engine::Wep(WepKey::new(octets).ok()?),
            CipherSuite::Tkip => Engine::Tkip(TkipKey::new(octets).ok()?),
            CipherSuite::Ccmp128 | CipherSuite::Ccmp256 => {
                let key = CcmpKey::new(octets).ok()?;
                Engine::Ccmp(key.clone(), key.spp_amsdu(true))
            }
            CipherSuite::Gcmp128 | CipherSuite::Gcmp256 => Engine::Gcmp(
                GcmpKey::new(octets).ok()?,
                GcmpKey::new(octets).ok()?.spp_amsdu(true),
            ),
            _ => return None,
        };
        Some(Self {
            suite,
            key_id,
            octets: Zeroizing::new(octets.to_vec()),
            tag: crc32fast::hash(octets),
            engine,
        })
    }

    /// The suite.
    pub const fn suite(&self) -> CipherSuite {
        self.suite
    }

    /// The key's octets, to tell whether a key is already known.
    pub fn octets(&self) -> &[u8] {
        &self.octets
    }

    /// Tells keys apart without showing them.
    pub const fn tag(&self) -> u32 {
        self.tag
    }

    /// The identifier that frames under this key carry, where it is fixed.
    pub const fn key_id(&self) -> Option<u8> {
        self.key_id
    }

    /// The CCMP key for batches, if it is one.
    pub const fn ccmp(&self) -> Option<&CcmpKey> {
        match &self.engine {
            Engine::Ccmp(key, _) => Some(key),
            _ => None,
        }
    }

    /// Whether a frame with this security header can be under this key.
    pub fn fits(&self, protection: &Protection) -> bool {
        let kind = match (&self.engine, protection) {
            (Engine::Wep(_) | Engine::LongWep, Protection::Wep { .. }) => true,
            // A TKIP header also reads as a CCMP one: its three varying octets are free there.
            (Engine::Tkip(_), Protection::Tkip { .. }) => true,
            (Engine::Ccmp(..) | Engine::Gcmp(..), Protection::Wep { .. }) => false,
            (Engine::Ccmp(..) | Engine::Gcmp(..), _) => true,
            _ => false,
        };
        kind && self.key_id.is_none_or(|id| id == protection.key_id())
    }

    /// Opens a copy of `mpdu` (no FCS, no padding) in `scratch`.
    pub fn open(&self, mpdu: &[u8], scratch: &mut Vec<u8>) -> Option<Opened> {
        let mut attempt = |open: &dyn Fn(&mut [u8]) -> Option<Opened>| {
            scratch.clear();
            scratch.extend_from_slice(mpdu);
            open(scratch)
        };
        let found = |result: Result<airtoll_security::link::Decapsulated, _>| {
            let result: Result<_, airtoll_security::CipherError> = result;
            result.ok().map(|found| Opened {
                payload: found.payload,
                suite: self.suite,
                packet_number: found.packet_number,
            })
        };
        match &self.engine {
            Engine::Wep(key) => attempt(&|frame| found(key.decapsulate(frame))),
            Engine::LongWep => attempt(&|frame| self.long_wep(frame)),
            Engine::Tkip(key) => attempt(&|frame| found(key.decapsulate(frame))),
            // SPP A-MSDU is agreed in a capability that a capture may not hold: try both.
            Engine::Ccmp(key, spp) => {
                attempt(&|frame| found(key.decapsulate(frame))).or_else(|| {
                    is_amsdu(mpdu).then(|| attempt(&|frame| found(spp.decapsulate(frame))))?
                })
            }
            Engine::Gcmp(key, spp) => {
                attempt(&|frame| found(key.decapsulate(frame))).or_else(|| {
                    is_amsdu(mpdu).then(|| attempt(&|frame| found(spp.decapsulate(frame))))?
                })
            }
        }
    }

    /// Whether Michael's MIC of an MSDU, given in the fragments that carried it, is right.
    /// `None` for ciphers without Michael.
    pub fn michael_fits(&self, mpdu: &[u8], msdu: &[u8]) -> Option<bool> {
        let Engine::Tkip(key) = &self.engine else {
            return None;
        };
        let header = airtoll_security::link::mpdu::Header::parse(mpdu).ok()?;
        let (text, mic) = msdu.split_last_chunk::<8>()?;
        let fits = |key: &TkipKey| key.michael(&header, &[text]) == *mic;
        // With four addresses the header does not say which end is the AP, whose key it is.
        let other = || {
            let key = TkipKey::clone(key).of_access_point([0; 6]);
            header.has_four_addresses() && fits(&key)
        };
        Some(fits(key) || other())
    }

    fn long_wep(&self, frame: &mut [u8]) -> Option<Opened> {
        let start = Frame::new(frame).ok()?.header_len();
        let iv: [u8; 3] = frame.get(start..start + 3)?.try_into().ok()?;
        let mut seed = Zeroizing::new(iv.to_vec());
        seed.extend_from_slice(&self.octets);
        let body = frame.get_mut(start + 4..)?;
        Rc4::new(&seed).apply(body);
        let (text, icv) = body.split_last_chunk::<4>()?;
        let fits = crc32fast::hash(text) == u32::from_le_bytes(*icv);
        let end = start + 4 + text.len();
        fits.then_some(Opened {
            payload: start + 4..end,
            suite: self.suite,
            packet_number: u64::from(u32::from_le_bytes([iv[0], iv[1], iv[2], 0])),
        })
    }
}

impl core::fmt::Debug for TrafficKey {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "TrafficKey({})", self.suite.name())
    }
}

fn is_amsdu(mpdu: &[u8]) -> bool {
    Frame::new(mpdu).is_ok_and(|frame| frame.is_amsdu())
}
