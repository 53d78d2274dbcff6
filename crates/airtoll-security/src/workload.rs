//! Frames to work on repeatedly, for a caller with a clock.
//!
//! Takes a cipher, a way to run it and a payload length; gives work that encapsulates a fixed
//! number of frames at each call, with a fresh packet number each, or decapsulates copies of frames
//! as the capture reader does. Never reads a clock. Nothing is prepared inside the work but what
//! sending or reading a frame takes.

use crate::error::KeyError;
use crate::esp::EspKey;
use crate::kernels::Engine;
use crate::link::IncomingMpdu;
use crate::link::bip::BipKey;
use crate::link::ccmp::CcmpKey;
use crate::link::gcmp::GcmpKey;
use crate::link::tkip::TkipKey;
use crate::link::wep::WepKey;
use crate::openvpn::OpenVpnKey;
use crate::suite::CipherSuite;
use crate::tunnel::TunnelSuite;
use crate::wireguard::WireGuardKey;

/// Frames of a batch of the capture reader, each of another station.
const BATCH: usize = 64;
/// Frames at each call one after the other: few, so that a slow cipher's call stays short.
const FRAMES: usize = 16;

/// Octets of MAC header: QoS data.
const MAC_HEADER: usize = 26;

/// A cipher under measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Subject {
    /// A link cipher.
    Link(CipherSuite),
    /// A tunnel.
    Tunnel(TunnelSuite),
}

/// How frames come to the cipher.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mode {
    /// Encapsulated one after the other, as a device sends them.
    Single,
    /// Copied and decapsulated 64 at once, each under its own key, as the capture reader does.
    Capture,
}

impl Mode {
    /// The name used in output: `single`, `capture`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Single => "single",
            Self::Capture => "capture",
        }
    }
}

impl Subject {
    /// Every cipher that has a cost: all suites but `open`, all tunnels.
    pub fn all() -> impl Iterator<Item = Self> {
        let links = CipherSuite::ALL.into_iter().map(Self::Link);
        let tunnels = TunnelSuite::ALL.into_iter().map(Self::Tunnel);
        links
            .filter(|subject| *subject != Self::Link(CipherSuite::Open))
            .chain(tunnels)
    }

    /// The suite's name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Link(suite) => suite.name(),
            Self::Tunnel(suite) => suite.name(),
        }
    }

    /// The ways it can run here.
    #[must_use]
    pub fn modes(self) -> &'static [Mode] {
        match self {
            Self::Link(CipherSuite::Ccmp128 | CipherSuite::Ccmp256) => {
                &[Mode::Single, Mode::Capture]
            }
            _ => &[Mode::Single],
        }
    }
}

enum Key {
    Wep(WepKey),
    Tkip(TkipKey),
    Ccmp(CcmpKey),
    Capture(Vec<CcmpKey>),
    Gcmp(GcmpKey),
    Bip(BipKey),
    Esp(EspKey),
    WireGuard(WireGuardKey),
    OpenVpn(OpenVpnKey),
}

/// Frames and the key, or the keys, that they are worked on with.
pub struct Workload {
    key: Key,
    frames: Vec<Vec<u8>>,
    /// Octets of a management frame before BIP's element, or of an inner packet.
    plain: usize,
    number: u64,
}

impl Workload {
    /// Work over payloads of `octets` (an MSDU for link ciphers, an inner packet for tunnels, a
    /// frame body for BIP).
    ///
    /// # Errors
    /// A mode that the cipher does not have, `open`, or an engine this processor cannot run.
    pub fn new(
        subject: Subject,
        mode: Mode,
        engine: Engine,
        octets: usize,
    ) -> Result<Self, KeyError> {
        if !subject.modes().contains(&mode) {
            return Err(KeyError::NotDefined("the cipher does not run in that mode"));
        }
        let (key, frame) = match subject {
            Subject::Link(suite) => {
                let octets_of_key = vec![0x4b; suite.key_octets()];
                let key = match mode {
                    Mode::Single => link_key(suite, engine, &octets_of_key)?,
                    Mode::Capture => Key::Capture(keys_of_stations(engine, &octets_of_key)?),
                };
                let management = suite.is_group_management();
                let room = if management { 0 } else { suite.frame_octets() };
                let mut frame = vec![0x5a; MAC_HEADER + octets + room];
                frame[..2].copy_from_slice(&if management { [0xc0, 0] } else { [0x88, 0x41] });
                frame[22..24].fill(0);
                (key, frame)
            }
            Subject::Tunnel(suite) => (tunnel_key(suite)?, vec![0x5a; octets]),
        };
        let plain = frame.len();
        let frames = match &key {
            Key::Capture(keys) => {
                let seal = |key: &CcmpKey| {
                    let mut frame = frame.clone();
                    key.encapsulate(&mut frame, 1, 0).map(|()| frame)
                };
                keys.iter().map(seal).collect::<Result<_, _>>()
            }
            _ => Ok(vec![frame; FRAMES]),
        };
        Ok(Self {
            key,
            plain,
            frames: frames.map_err(|_| KeyError::NotDefined("the payload is too long"))?,
            number: 0,
        })
    }

    /// Frames that one call of [`run`](Self::run) works on.
    #[must_use]
    pub const fn frames(&self) -> usize {
        self.frames.len()
    }

    /// Encapsulates or decapsulates [`frames`](Self::frames) frames and says how many were refused:
    /// none, unless packet numbers run out.
    pub fn run(&mut self) -> usize {
        if let Key::Capture(keys) = &self.key {
            return refused_of_capture(keys, &self.frames);
        }
        let mut refused = 0;
        let mut out = Vec::with_capacity(self.plain + 128);
        for frame in &mut self.frames {
            self.number += 1;
            let number = self.number;
            let done = match &self.key {
                Key::Wep(key) => key.encapsulate(frame, number & 0xff_ffff, 0),
                Key::Tkip(key) => key.encapsulate_msdu(frame, number, 0),
                Key::Ccmp(key) => key.encapsulate(frame, number, 0),
                Key::Capture(_) => Ok(()),
                Key::Gcmp(key) => key.encapsulate(frame, number, 0),
                Key::Bip(key) => {
                    frame.truncate(self.plain);
                    key.protect(frame, number, 4)
                }
                Key::Esp(key) => {
                    out.clear();
                    let mut iv = [0; 16];
                    iv[..8].copy_from_slice(&number.to_be_bytes());
                    let iv = &iv[..key.iv_octets()];
                    key.encapsulate(number as u32, iv, frame, 4, &mut out)
                }
                Key::WireGuard(key) => {
                    out.clear();
                    key.encapsulate(number, frame, &mut out)
                }
                Key::OpenVpn(key) => {
                    out.clear();
                    key.encapsulate(number as u32, frame, &mut out)
                }
            };
            refused += usize::from(done.is_err());
        }
        refused
    }
}

/// Decapsulates copies of the frames, frame `i` under `keys[i]`, and counts those refused.
fn refused_of_capture(keys: &[CcmpKey], frames: &[Vec<u8>]) -> usize {
    let mut copies = frames.concat();
    let keys: Vec<&CcmpKey> = keys.iter().collect();
    let each = frames.first().map_or(1, Vec::len);
    let mut incoming: Vec<_> = copies
        .chunks_exact_mut(each)
        .map(IncomingMpdu::new)
        .collect();
    CcmpKey::decapsulate_batch(&keys, &mut incoming);
    incoming.iter().filter(|one| one.result.is_err()).count()
}

/// One CCMP key for each frame of a batch.
fn keys_of_stations(engine: Engine, octets: &[u8]) -> Result<Vec<CcmpKey>, KeyError> {
    let key = |station: usize| {
        let mut octets = octets.to_vec();
        octets[0] = station as u8;
        CcmpKey::with_engine(&octets, engine)
    };
    (0..BATCH).map(key).collect()
}

fn link_key(suite: CipherSuite, engine: Engine, octets: &[u8]) -> Result<Key, KeyError> {
    Ok(match suite {
        CipherSuite::Open => return Err(KeyError::NotDefined("open encrypts nothing")),
        CipherSuite::Wep40 | CipherSuite::Wep104 => Key::Wep(WepKey::new(octets)?),
        CipherSuite::Tkip => Key::Tkip(TkipKey::new(octets)?),
        CipherSuite::Ccmp128 | CipherSuite::Ccmp256 => {
            Key::Ccmp(CcmpKey::with_engine(octets, engine)?)
        }
        CipherSuite::Gcmp128 | CipherSuite::Gcmp256 => Key::Gcmp(GcmpKey::new(octets)?),
        _ => Key::Bip(BipKey::new(suite, octets)?),
    })
}

fn tunnel_key(suite: TunnelSuite) -> Result<Key, KeyError> {
    use TunnelSuite as S;
    let (encryption, integrity) = match suite {
        S::WireGuard => return Ok(Key::WireGuard(WireGuardKey::new(&[0x4b; 32], 1)?)),
        S::OpenVpnAesGcm => return Ok(Key::OpenVpn(OpenVpnKey::new(&[0x4b; 40], 1)?)),
        S::EspNullMd5 => (0, 16),
        S::EspNullSha1 => (0, 20),
        S::EspDesMd5 => (8, 16),
        S::EspDesSha1 => (8, 20),
        S::Esp3desMd5 => (24, 16),
        S::Esp3desSha1 => (24, 20),
        S::EspAesCbcMd5 => (16, 16),
        S::EspAesCbcSha1 => (16, 20),
        S::EspAesGcm => (20, 0),
    };
    let octets: [u8; 36] = core::array::from_fn(|i| 0x4b + i as u8);
    Ok(Key::Esp(EspKey::new(
        suite,
        1,
        &octets[..encryption],
        &octets[..integrity],
    )?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_subject_runs_in_every_mode() {
        for subject in Subject::all() {
            for &mode in subject.modes() {
                for octets in [0, 1, 300] {
                    for engine in Engine::available() {
                        let mut work = Workload::new(subject, mode, engine, octets).unwrap();
                        assert_eq!(work.run() + work.run(), 0, "{}", subject.name());
                    }
                }
            }
        }
        let wep = Subject::Link(CipherSuite::Wep104);
        assert!(Workload::new(wep, Mode::Capture, Engine::detect(), 1).is_err());
        let open = Subject::Link(CipherSuite::Open);
        assert!(Workload::new(open, Mode::Single, Engine::detect(), 1).is_err());
    }
}
