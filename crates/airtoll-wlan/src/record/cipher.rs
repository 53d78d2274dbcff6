//! Link ciphers of recorded frames: takes a suite, a key and frames in the clear, gives frames as
//! they travel. Counts packet numbers; never chooses keys.

use airtoll_security::CipherSuite;
use airtoll_security::link::bip::BipKey;
use airtoll_security::link::ccmp::CcmpKey;
use airtoll_security::link::gcmp::GcmpKey;
use airtoll_security::link::mld::LinkAddresses;
use airtoll_security::link::mpdu::Header;
use airtoll_security::link::tkip::TkipKey;
use airtoll_security::link::wep::WepKey;
use airtoll_wire::MacAddress;

/// One transmitter's use of a key.
#[derive(Debug)]
pub(crate) struct LinkCipher {
    suite: CipherSuite,
    engine: Engine,
    key_id: u8,
    /// Number of the last frame: packet number, TSC or IV.
    last: u64,
    /// The multi-link devices that it is between.
    devices: Option<LinkAddresses>,
}

/// An access point's use of an IGTK.
pub(crate) struct GroupIntegrity {
    key: BipKey,
    key_id: u16,
    last: u64,
}

impl GroupIntegrity {
    /// The key with its suite and its identifier; `None` for a key of another length.
    pub fn new(suite: CipherSuite, key: &[u8], key_id: u16) -> Option<Self> {
        Some(Self {
            key: BipKey::new(suite, key).ok()?,
            key_id,
            last: 0,
        })
    }

    /// The frame with its MME.
    pub fn protect(&mut self, mut frame: Vec<u8>) -> Vec<u8> {
        self.last += 1;
        let done = self.key.protect(&mut frame, self.last, self.key_id);
        debug_assert!(done.is_ok(), "{done:?}");
        frame
    }
}

#[derive(Debug)]
enum Engine {
    Wep(Box<WepKey>),
    Tkip(Box<TkipKey>),
    Ccmp(Box<CcmpKey>),
    Gcmp(Box<GcmpKey>),
}

impl LinkCipher {
    /// The cipher with a key of the suite's length (TKIP: 32 octets, with the Michael keys) that a
    /// station shares with an access point; `None` for suites that encrypt no data, and for keys
    /// of another length.
    pub fn new(suite: CipherSuite, key: &[u8], access_point: MacAddress) -> Option<Self> {
        let engine = match suite {
            CipherSuite::Wep40 | CipherSuite::Wep104 => {
                Engine::Wep(Box::new(WepKey::new(key).ok()?))
            }
            CipherSuite::Tkip => {
                let key = TkipKey::new(key).ok()?;
                Engine::Tkip(Box::new(key.of_access_point(access_point.0)))
            }
            CipherSuite::Ccmp128 | CipherSuite::Ccmp256 => {
                Engine::Ccmp(Box::new(CcmpKey::new(key).ok()?))
            }
            CipherSuite::Gcmp128 | CipherSuite::Gcmp256 => {
                Engine::Gcmp(Box::new(GcmpKey::new(key).ok()?))
            }
            _ => return None,
        };
        (suite.key_octets() == key.len()).then_some(Self {
            suite,
            engine,
            key_id: 0,
            last: 0,
            devices: None,
        })
    }

    /// The cipher between two multi-link devices, whose addresses on the air are those of a link.
    pub const fn between(mut self, devices: Option<LinkAddresses>) -> Self {
        self.devices = devices;
        self
    }

    /// The cipher with another key ID than 0.
    pub const fn with_id(mut self, key_id: u8) -> Self {
        self.key_id = key_id;
        self
    }

    /// Octets in front of the body.
    pub const fn header_octets(&self) -> usize {
        self.suite.header_octets()
    }

    /// Octets behind the body of an MSDU that travels in one MPDU.
    pub const fn trailer_octets(&self) -> usize {
        self.suite.mic_octets() + self.suite.icv_octets() + self.suite.msdu_octets()
    }

    /// Octets behind a fragment of an MSDU.
    pub const fn piece_trailer_octets(&self) -> usize {
        self.suite.mic_octets() + self.suite.icv_octets()
    }

    /// TKIP's Michael over an MSDU with this MAC header (IEEE 802.11-2020, 12.5.2.3), which is
    /// fragmented with it; `None` for other suites.
    pub fn michael(&self, header: &[u8], msdu: &[u8]) -> Option<[u8; 8]> {
        let Engine::Tkip(key) = &self.engine else {
            return None;
        };
        Some(key.michael(&Header::parse(header).ok()?, &[msdu]))
    }

    /// Encrypts a fragment of an MSDU, in which room for the cipher's header and
    /// [`Self::piece_trailer_octets`] is left.
    pub fn seal_piece(&mut self, frame: &mut [u8]) {
        if let Engine::Tkip(key) = &self.engine {
            self.last += 1;
            let done = key.encapsulate(frame, self.last, self.key_id);
            debug_assert!(done.is_ok(), "{done:?}");
        } else {
            self.seal(frame);
        }
    }

    /// Encrypts a frame in which room for the cipher's header and trailer is left.
    pub fn seal(&mut self, frame: &mut [u8]) {
        self.last += 1;
        self.seal_with(frame, self.last);
    }

    /// As [`Self::seal`] with a packet number that the frame got before the queue.
    pub fn seal_numbered(&mut self, frame: &mut [u8], number: u64) {
        self.last = self.last.max(number);
        self.seal_with(frame, number);
    }

    fn seal_with(&self, frame: &mut [u8], number: u64) {
        let run = |frame: &mut [u8]| match &self.engine {
            // The IV has 24 bits and starts over.
            Engine::Wep(key) => key.encapsulate(frame, number & 0xff_ffff, self.key_id),
            Engine::Tkip(key) => key.encapsulate_msdu(frame, number, self.key_id),
            Engine::Ccmp(key) => key.encapsulate(frame, number, self.key_id),
            Engine::Gcmp(key) => key.encapsulate(frame, number, self.key_id),
        };
        let done = match &self.devices {
            Some(devices) => devices.translated(frame, run),
            None => run(frame),
        };
        debug_assert!(done.is_ok(), "{:?}: {done:?}", self.suite);
    }
}

/// Opens frames again.
#[cfg(test)]
pub(crate) struct Opener(LinkCipher);

#[cfg(test)]
impl Opener {
    pub fn new(suite: CipherSuite, key: &[u8], access_point: MacAddress) -> Option<Self> {
        LinkCipher::new(suite, key, access_point).map(Self)
    }

    /// As [`Self::open`] for a fragment of an MSDU, whose share of Michael stays with it.
    pub fn open_piece(&self, frame: &mut [u8]) -> core::ops::Range<usize> {
        match &self.0.engine {
            Engine::Tkip(key) => key.decapsulate(frame).unwrap().payload,
            _ => self.open(frame),
        }
    }

    /// Decrypts a frame in place and says where its body is; panics where it is not authentic.
    pub fn open(&self, frame: &mut [u8]) -> core::ops::Range<usize> {
        match &self.0.engine {
            Engine::Wep(key) => key.decapsulate(frame),
            Engine::Tkip(key) => key.decapsulate_msdu(frame),
            Engine::Ccmp(key) => key.decapsulate(frame),
            Engine::Gcmp(key) => key.decapsulate(frame),
        }
        .unwrap()
        .payload
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packet_numbers_rise() {
        let new = |suite, key: &[u8]| LinkCipher::new(suite, key, MacAddress([2; 6]));
        let mut cipher = new(CipherSuite::Ccmp128, &[7; 16]).unwrap();
        for number in 1..4_u8 {
            let mut frame = vec![0; 24];
            frame[0] = 0x08;
            frame.resize(24 + 8 + 5 + 8, 1);
            cipher.seal(&mut frame);
            assert_eq!((frame[1] & 0x40, frame[24]), (0x40, number));
        }
        assert!(new(CipherSuite::Ccmp128, &[7; 32]).is_none());
        assert!(new(CipherSuite::Open, &[]).is_none());
    }
}
