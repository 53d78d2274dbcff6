//! Frames to encrypt repeatedly, for a caller with a clock.
//!
//! Takes a cipher, a way to run it and a payload length; gives work that encapsulates a fixed
//! number of frames at each call, with a fresh packet number each. Never reads a clock. Nothing is
//! prepared inside the work but what sending a frame takes.

use crate::error::KeyError;
use crate::esp::EspKey;
use crate::kernels::Engine;
use crate::link::OutgoingMpdu;
use crate::link::bip::BipKey;
use crate::link::ccmp::CcmpKey;
use crate::link::gcmp::GcmpKey;
use crate::link::tkip::TkipKey;
use crate::link::wep::WepKey;
use crate::openvpn::OpenVpnKey;
use crate::suite::CipherSuite;
use crate::tunnel::TunnelSuite;
use crate::wireguard::WireGuardKey;

/// Frames of a batch.
const FRAMES: usize = 64;
/// Frames at each call one after the other: few, so that a slow cipher's call stays short.
const SINGLE_FRAMES: usize = 16;

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
    /// One after the other.
    Single,
    /// All at once under one key.
    Batch,
    /// All at once, each under its own key.
    BatchKeys,
}

impl Mode {
    /// The name used in output: `single`, `batch`, `batch-keys`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Single => "single",
            Self::Batch => "batch",
            Self::BatchKeys => "batch-keys",
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
                &[Mode::Single, Mode::Batch, Mode::BatchKeys]
            }
            Self::Link(CipherSuite::Wep40 | CipherSuite::Wep104 | CipherSuite::Tkip) => {
                &[Mode::Single, Mode::Batch]
            }
            _ => &[Mode::Single],
        }
    }
}

enum Key {
    Wep(WepKey),
    Tkip(TkipKey),
    Ccmp(Vec<CcmpKey>),
    Gcmp(GcmpKey),
    Bip(BipKey),
    Esp(EspKey),
    WireGuard(WireGuardKey),
    OpenVpn(OpenVpnKey),
}

/// Frames and the key they are encapsulated with.
pub struct Workload {
    key: Key,
    mode: Mode,
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
                let key = link_key(suite, mode, engine, &octets_of_key)?;
                let management = suite.is_group_management();
                let room = if management { 0 } else { suite.frame_octets() };
                let mut frame = vec![0x5a; MAC_HEADER + octets + room];
                frame[..2].copy_from_slice(&if management { [0xc0, 0] } else { [0x88, 0x41] });
                frame[22..24].fill(0);
                (key, frame)
            }
            Subject::Tunnel(suite) => (tunnel_key(suite)?, vec![0x5a; octets]),
        };
        Ok(Self {
            key,
            mode,
            plain: frame.len(),
            frames: vec![
                frame;
                if mode == Mode::Single {
                    SINGLE_FRAMES
                } else {
                    FRAMES
                }
            ],
            number: 0,
        })
    }

    /// Frames that one call of [`run`](Self::run) encapsulates.
    #[must_use]
    pub const fn frames(&self) -> usize {
        self.frames.len()
    }

    /// Encapsulates [`frames`](Self::frames) frames and says how many were refused: none, unless
    /// packet numbers run out.
    pub fn run(&mut self) -> usize {
        if self.mode != Mode::Single {
            return self.batch();
        }
        let mut refused = 0;
        let mut out = Vec::with_capacity(self.plain + 128);
        for frame in &mut self.frames {
            self.number += 1;
            let number = self.number;
            let done = match &self.key {
                Key::Wep(key) => key.encapsulate(frame, number & 0xff_ffff, 0),
                Key::Tkip(key) => key.encapsulate_msdu(frame, number, 0),
                Key::Ccmp(keys) => keys[0].encapsulate(frame, number, 0),
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

    fn batch(&mut self) -> usize {
        let mut number = self.number;
        let mut frames = self.frames.iter_mut();
        let mut out: [OutgoingMpdu<'_>; FRAMES] = core::array::from_fn(|_| {
            number += 1;
            let frame = frames.next().expect("as many frames");
            OutgoingMpdu::new(frame, number & 0xff_ffff, 0)
        });
        self.number = number;
        match &self.key {
            Key::Wep(key) => key.encapsulate_batch(&mut out),
            Key::Tkip(key) => key.encapsulate_msdu_batch(&mut out),
            Key::Ccmp(keys) if self.mode == Mode::BatchKeys => {
                let refs: [&CcmpKey; FRAMES] = core::array::from_fn(|i| &keys[i]);
                CcmpKey::encapsulate_batch_keys(&refs, &mut out);
            }
            Key::Ccmp(keys) => keys[0].encapsulate_batch(&mut out),
            Key::Gcmp(key) => key.encapsulate_batch(&mut out),
            Key::Bip(_) | Key::Esp(_) | Key::WireGuard(_) | Key::OpenVpn(_) => {}
        }
        out.iter().filter(|out| out.result.is_err()).count()
    }
}

fn link_key(
    suite: CipherSuite,
    mode: Mode,
    engine: Engine,
    octets: &[u8],
) -> Result<Key, KeyError> {
    Ok(match suite {
        CipherSuite::Open => return Err(KeyError::NotDefined("open encrypts nothing")),
        CipherSuite::Wep40 | CipherSuite::Wep104 => Key::Wep(WepKey::new(octets)?),
        CipherSuite::Tkip => Key::Tkip(TkipKey::with_engine(octets, engine)?),
        CipherSuite::Ccmp128 | CipherSuite::Ccmp256 => {
            let count = if mode == Mode::BatchKeys { FRAMES } else { 1 };
            let keys: Result<_, _> = (0..count)
                .map(|i| {
                    let mut octets = octets.to_vec();
                    octets[0] = i as u8;
                    CcmpKey::with_engine(&octets, engine)
                })
                .collect();
            Key::Ccmp(keys?)
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
        let open = Subject::Link(CipherSuite::Open);
        assert!(Workload::new(open, Mode::Single, Engine::detect(), 1).is_err());
    }
}
