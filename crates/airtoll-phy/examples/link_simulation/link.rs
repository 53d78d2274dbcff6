//! One frame over one link: coder, puncturing, interleaver, mapper, white noise, max-log
//! demapper and soft-decision Viterbi decoder.
//!
//! Takes modulation, code rate, octets, SNR and a seed; gives frames and how many of them failed. The
//! SNR is that of a subcarrier, Es/N0. The channel is flat and known. Source: IEEE Std 802.11-2020,
//! 17.3.5.3 (tail), 17.3.5.6 and 19.3.11.6 (code and puncturing), 19.3.11.8 (interleaver of 20 MHz,
//! one stream), 17.3.5.8 and 21.3.10.9 (Gray mapping).

use airtoll_phy::{CodeRate, Modulation};

/// Generator polynomials 133 and 171 (octal), the newest bit first.
const GENERATORS: [u32; 2] = [0o133, 0o171];
/// Data subcarriers and interleaver columns of 20 MHz HT.
const SUBCARRIERS: usize = 52;
const COLUMNS: usize = 13;
const SERVICE_BITS: usize = 16;
const TAIL_BITS: usize = 6;

/// Frames sent and lost at one SNR.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Count {
    /// Frames lost.
    pub errors: u32,
    /// Frames sent.
    pub frames: u32,
}

/// Sends frames until `errors` are lost or `frames` are sent.
pub fn simulate(link: (Modulation, CodeRate), octets: usize, snr_db: f64, limit: Count) -> Count {
    let (modulation, code) = link;
    let seed = 1_000_003 * (modulation as u64 * 16 + code as u64)
        + 10_007 * octets as u64
        + (snr_db * 4.0 + 400.0) as u64;
    let mut sender = Sender::new(modulation, code, octets, seed);
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

/// SplitMix64 (Steele, Lea, Flood 2014), and normal variates by Box and Muller's method.
struct Noise {
    state: u64,
    kept: Option<f32>,
}

impl Noise {
    fn bits(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn normal(&mut self) -> f32 {
        if let Some(kept) = self.kept.take() {
            return kept;
        }
        let unit = |bits: u64| ((bits >> 40) as f32 + 0.5) / 16_777_216.0;
        let radius = libm::sqrtf(-2.0 * libm::logf(unit(self.bits())));
        let (sine, cosine) = libm::sincosf(core::f32::consts::TAU * unit(self.bits()));
        self.kept = Some(radius * sine);
        radius * cosine
    }
}

/// Which of the two coded bits of each step are sent.
fn pattern(code: CodeRate) -> &'static [[bool; 2]] {
    const T: bool = true;
    const F: bool = false;
    match code {
        CodeRate::Uncoded | CodeRate::R1_2 => &[[T, T]],
        CodeRate::R2_3 => &[[T, T], [T, F]],
        CodeRate::R3_4 => &[[T, T], [T, F], [F, T]],
        CodeRate::R5_6 => &[[T, T], [T, F], [F, T], [T, F], [F, T]],
    }
}

struct Sender {
    noise: Noise,
    /// Steps of the coder.
    steps: usize,
    pattern: &'static [[bool; 2]],
    /// Bits per subcarrier, and per axis.
    bits: usize,
    axis_bits: usize,
    scale: f32,
    /// Place of each coded bit in its symbol.
    interleaver: Vec<usize>,
    data: Vec<bool>,
    sent: Vec<bool>,
    received: Vec<f32>,
    decisions: Vec<u64>,
    signs: [[f32; 2]; 32],
}

impl Sender {
    fn new(modulation: Modulation, code: CodeRate, octets: usize, seed: u64) -> Self {
        let bits = modulation.bits() as usize;
        let axis_bits = bits.div_ceil(2);
        let points = f64::from(1_u32 << bits);
        let scale = if bits == 1 {
            1.0
        } else {
            libm::sqrt(1.5 / (points - 1.0)) as f32
        };
        let per_symbol = SUBCARRIERS * bits;
        let (rows, turn) = (4 * bits, (bits / 2).max(1));
        let interleaver = (0..per_symbol)
            .map(|k| {
                let i = rows * (k % COLUMNS) + k / COLUMNS;
                turn * (i / turn) + (i + per_symbol - COLUMNS * i / per_symbol) % turn
            })
            .collect();
        let mut signs = [[0.0; 2]; 32];
        for (pair, sign) in signs.iter_mut().enumerate() {
            for (sign, generator) in sign.iter_mut().zip(GENERATORS) {
                let odd = ((2 * pair as u32) & generator).count_ones() % 2 == 1;
                *sign = if odd { -1.0 } else { 1.0 };
            }
        }
        Self {
            noise: Noise {
                state: seed,
                kept: None,
            },
            steps: SERVICE_BITS + 8 * octets + TAIL_BITS,
            pattern: pattern(code),
            bits,
            axis_bits,
            scale,
            interleaver,
            data: Vec::new(),
            sent: Vec::new(),
            received: Vec::new(),
            decisions: Vec::new(),
            signs,
        }
    }

    /// Sends one frame of random bits; whether any of them was decoded wrongly.
    fn frame_fails(&mut self, deviation: f32) -> bool {
        self.encode();
        self.transmit(deviation);
        self.decode()
    }

    fn encode(&mut self) {
        self.data.clear();
        let mut word = 0;
        for step in 0..self.steps - TAIL_BITS {
            if step % 64 == 0 {
                word = self.noise.bits();
            }
            self.data.push(word >> (step % 64) & 1 == 1);
        }
        self.data.extend([false; TAIL_BITS]);
        self.sent.clear();
        let mut register = 0_u32;
        for (step, bit) in self.data.iter().enumerate() {
            register = register >> 1 | u32::from(*bit) << 6;
            let kept = self.pattern[step % self.pattern.len()];
            for (generator, kept) in GENERATORS.iter().zip(kept) {
                if kept {
                    self.sent.push((register & generator).count_ones() % 2 == 1);
                }
            }
        }
        // Pad bits fill the last symbol; their values do not matter.
        let per_symbol = self.interleaver.len();
        self.sent
            .resize(self.sent.len().next_multiple_of(per_symbol), false);
    }

    /// Interleaves, maps, adds noise and demaps: log-likelihood ratios up to a factor, positive
    /// for 0.
    fn transmit(&mut self, deviation: f32) {
        self.received.clear();
        self.received.resize(self.sent.len(), 0.0);
        let per_symbol = self.interleaver.len();
        let mut place = vec![0; per_symbol];
        for (k, j) in self.interleaver.iter().enumerate() {
            place[*j] = k;
        }
        for symbol in (0..self.sent.len()).step_by(per_symbol) {
            for tone in (0..per_symbol).step_by(self.bits) {
                for axis in (0..self.bits).step_by(self.axis_bits) {
                    let at = |bit: usize| symbol + place[tone + axis + bit];
                    let mut index = 0_usize;
                    for bit in 0..self.axis_bits {
                        let before = index & 1;
                        index = index << 1 | (usize::from(self.sent[at(bit)]) ^ before);
                    }
                    let most = (1_usize << self.axis_bits) - 1;
                    let level = (2 * index) as f32 - most as f32;
                    let heard = level + self.noise.normal() * deviation / self.scale;
                    for bit in 0..self.axis_bits {
                        let mut nearest = [f32::INFINITY; 2];
                        for point in 0..=most {
                            let label = point ^ (point >> 1);
                            let value = label >> (self.axis_bits - 1 - bit) & 1;
                            let off = heard - ((2 * point) as f32 - most as f32);
                            nearest[value] = nearest[value].min(off * off);
                        }
                        self.received[at(bit)] = nearest[1] - nearest[0];
                    }
                }
            }
        }
    }

    /// Whether the Viterbi decoder gives other bits than were sent.
    fn decode(&mut self) -> bool {
        let mut metrics = [f32::NEG_INFINITY; 64];
        metrics[0] = 0.0;
        self.decisions.clear();
        let mut heard = self.received.iter();
        for step in 0..self.steps {
            let kept = self.pattern[step % self.pattern.len()];
            let pair = kept.map(|kept| {
                if kept {
                    *heard.next().unwrap_or(&0.0)
                } else {
                    0.0
                }
            });
            let mut next = [0.0_f32; 64];
            let mut chosen = 0_u64;
            for (i, sign) in self.signs.iter().enumerate() {
                // Both generators hold the newest and the oldest bit: a change of either negates
                // the branch.
                let branch = sign[0] * pair[0] + sign[1] * pair[1];
                let (even, odd) = (metrics[2 * i], metrics[2 * i + 1]);
                let (zero, one) = (even + branch, odd - branch);
                next[i] = zero.max(one);
                chosen |= u64::from(one > zero) << i;
                let (zero, one) = (even - branch, odd + branch);
                next[i + 32] = zero.max(one);
                chosen |= u64::from(one > zero) << (i + 32);
            }
            if step % 64 == 63 {
                let best = next.iter().copied().fold(f32::NEG_INFINITY, f32::max);
                next.iter_mut().for_each(|m| *m -= best);
            }
            metrics = next;
            self.decisions.push(chosen);
        }
        let mut state = 0_usize;
        for (chosen, sent) in self.decisions.iter().zip(&self.data).rev() {
            if (state >> 5 == 1) != *sent {
                return true;
            }
            state = (state << 1 & 63) | (chosen >> state & 1) as usize;
        }
        false
    }
}
