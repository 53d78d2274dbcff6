//! One frame over one link: coder, mapper, white noise, max-log demapper and soft-decision decoder.
//!
//! Takes coding, modulation, code rate, octets, SNR and a seed; gives frames and how many of them failed.
//! The SNR is that of a subcarrier, Es/N0. The channel is known. The tables are those of a flat one, where the LDPC
//! tone mapper (21.3.10.9.4) would change nothing; HT, whose subcarriers these are, has none. Source: IEEE Std
//! 802.11-2020, 17.3.5.8 and 21.3.10.9 (Gray mapping); the codes: `bcc`, `ldpc`.

#[path = "bcc.rs"]
mod bcc;
#[path = "information.rs"]
mod information;
#[path = "ldpc.rs"]
mod ldpc;
#[path = "matrices.rs"]
mod matrices;

use airtoll_phy::{CodeRate, Coding, Modulation};
use bcc::Bcc;
pub use information::missing;
use ldpc::Ldpc;

/// Data subcarriers of 20 MHz HT.
const SUBCARRIERS: usize = 52;
const SERVICE_BITS: usize = 16;

/// Code and constellation of a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Link {
    /// The code.
    pub coding: Coding,
    /// The constellation.
    pub modulation: Modulation,
    /// The code rate.
    pub code: CodeRate,
}

/// Frames sent and lost at one SNR.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Count {
    /// Frames lost.
    pub errors: u32,
    /// Frames sent.
    pub frames: u32,
}

/// Sends frames until `errors` are lost or `frames` are sent.
pub fn simulate(link: Link, octets: usize, snr_db: f64, limit: Count) -> Count {
    simulate_over(&[1.0], link, octets, snr_db, limit)
}

/// The same over a channel with these amplitudes of subcarriers, which repeat.
pub fn simulate_over(
    amplitudes: &[f32],
    link: Link,
    octets: usize,
    snr_db: f64,
    limit: Count,
) -> Count {
    let channel = Channel {
        amplitudes: amplitudes.to_vec(),
        ..Channel::default()
    };
    simulate_through(channel, link, octets, snr_db, limit)
}

/// Subcarriers, in turn.
#[derive(Debug, Clone)]
pub struct Channel {
    /// Their amplitudes.
    pub amplitudes: Vec<f32>,
    /// The amplitude of the noise in them, over that of the mean.
    pub noise: Vec<f32>,
    /// The receiver knows the noise of each, and not of their mean alone.
    pub knows_noise: bool,
}

impl Default for Channel {
    fn default() -> Self {
        Self {
            amplitudes: vec![1.0],
            noise: vec![1.0],
            knows_noise: true,
        }
    }
}

/// The same over a channel.
pub fn simulate_through(
    channel: Channel,
    link: Link,
    octets: usize,
    snr_db: f64,
    limit: Count,
) -> Count {
    let seed = 1_000_003 * (link.modulation as u64 * 16 + link.code as u64)
        + 10_007 * octets as u64
        + (snr_db * 4.0 + 400.0) as u64
        + 1_000_000_007 * link.coding as u64;
    let mut sender = Sender::new(link, octets, seed);
    sender.channel = channel;
    let deviation = libm::sqrt(0.5 / libm::pow(10.0, snr_db / 10.0)) as f32;
    let mut count = Count {
        errors: 0,
        frames: 0,
    };
    while count.frames < limit.frames && count.errors < limit.errors {
        count.frames += 1;
        count.errors += u32::from(sender.frame_fails(deviation));
    }
    count
}

/// SplitMix64 (Steele, Lea, Flood 2014), with its state.
pub struct Draws(pub u64);

impl Draws {
    fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / 9_007_199_254_740_992.0
    }

    /// Two standard normal numbers (Box and Muller 1958).
    pub fn normals(&mut self) -> [f64; 2] {
        let radius = libm::sqrt(-2.0 * libm::log(1.0 - self.unit()));
        let angle = core::f64::consts::TAU * self.unit();
        [radius * libm::cos(angle), radius * libm::sin(angle)]
    }
}

/// Random bits, and normal variates of single precision.
struct Noise {
    draws: Draws,
    kept: Option<f32>,
}

impl Noise {
    /// `count` random bits.
    fn data(&mut self, count: usize, out: &mut Vec<bool>) {
        let mut word = 0;
        for step in 0..count {
            if step % 64 == 0 {
                word = self.draws.bits();
            }
            out.push(word >> (step % 64) & 1 == 1);
        }
    }

    fn normal(&mut self) -> f32 {
        if let Some(kept) = self.kept.take() {
            return kept;
        }
        let unit = |bits: u64| ((bits >> 40) as f32 + 0.5) / 16_777_216.0;
        let radius = libm::sqrtf(-2.0 * libm::logf(unit(self.draws.bits())));
        let (sine, cosine) = libm::sincosf(core::f32::consts::TAU * unit(self.draws.bits()));
        self.kept = Some(radius * sine);
        radius * cosine
    }
}

enum Coder {
    Bcc(Box<Bcc>),
    Ldpc(Box<Ldpc>),
}

struct Sender {
    noise: Noise,
    coder: Coder,
    /// Bits of one axis of the constellation.
    axis_bits: usize,
    /// Its axes.
    axes: usize,
    scale: f32,
    channel: Channel,
    sent: Vec<bool>,
    received: Vec<f32>,
}

impl Sender {
    fn new(link: Link, octets: usize, seed: u64) -> Self {
        let bits = link.modulation.bits() as usize;
        let points = f64::from(1_u32 << bits);
        let scale = if bits == 1 {
            1.0
        } else {
            libm::sqrt(1.5 / (points - 1.0)) as f32
        };
        let data = SERVICE_BITS + 8 * octets;
        Self {
            noise: Noise {
                draws: Draws(seed),
                kept: None,
            },
            coder: match link.coding {
                Coding::Bcc => Coder::Bcc(Box::new(Bcc::new(data, link.code, bits))),
                Coding::Ldpc => Coder::Ldpc(Box::new(Ldpc::new(data, link.code, bits))),
            },
            axis_bits: bits.div_ceil(2),
            axes: bits.min(2),
            scale,
            channel: Channel::default(),
            sent: Vec::new(),
            received: Vec::new(),
        }
    }

    /// Sends one frame of random bits; whether any of them was decoded wrongly.
    fn frame_fails(&mut self, deviation: f32) -> bool {
        self.sent.clear();
        match &mut self.coder {
            Coder::Bcc(code) => code.encode(&mut self.noise, &mut self.sent),
            Coder::Ldpc(code) => code.encode(&mut self.noise, &mut self.sent),
        }
        self.transmit(deviation);
        match &mut self.coder {
            Coder::Bcc(code) => code.fails(&self.received),
            Coder::Ldpc(code) => code.fails(&self.received),
        }
    }

    /// Maps, adds noise and demaps: log-likelihood ratios up to a factor, positive for 0.
    fn transmit(&mut self, deviation: f32) {
        self.received.clear();
        self.received.resize(self.sent.len(), 0.0);
        let bits = self.axis_bits * self.axes;
        for axis in (0..self.sent.len()).step_by(self.axis_bits) {
            let (amplitudes, noise) = (&self.channel.amplitudes, &self.channel.noise);
            let amplitude = amplitudes[axis / bits % amplitudes.len()];
            let loud = noise[axis / bits % noise.len()];
            let mut index = 0_usize;
            for bit in 0..self.axis_bits {
                let before = index & 1;
                index = index << 1 | (usize::from(self.sent[axis + bit]) ^ before);
            }
            let most = (1_usize << self.axis_bits) - 1;
            let level = (2 * index) as f32 - most as f32;
            let heard = level + self.noise.normal() * deviation * loud / self.scale / amplitude;
            let known = if self.channel.knows_noise { loud } else { 1.0 };
            for bit in 0..self.axis_bits {
                let mut nearest = [f32::INFINITY; 2];
                for point in 0..=most {
                    let label = point ^ (point >> 1);
                    let value = label >> (self.axis_bits - 1 - bit) & 1;
                    let off = heard - ((2 * point) as f32 - most as f32);
                    nearest[value] = nearest[value].min(off * off);
                }
                // The noise of a weak subcarrier is larger.
                let certainty = (nearest[1] - nearest[0]) * amplitude * amplitude;
                self.received[axis + bit] = certainty / (known * known);
            }
        }
    }
}
