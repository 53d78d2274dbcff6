//! The convolutional code: coder, puncturing, interleaver and Viterbi decoder.
//!
//! Source: IEEE Std 802.11-2020, 17.3.5.3 (tail), 17.3.5.6 and 19.3.11.6 (code and puncturing), 19.3.11.8
//! (interleaver of 20 MHz, one stream).

use airtoll_phy::CodeRate;

use super::{Noise, SUBCARRIERS};

/// Generator polynomials 133 and 171 (octal), the newest bit first.
const GENERATORS: [u32; 2] = [0o133, 0o171];
/// Interleaver columns of 20 MHz HT.
const COLUMNS: usize = 13;
const TAIL_BITS: usize = 6;

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

/// Coder and decoder of frames of one length.
pub struct Bcc {
    /// Steps of the coder.
    steps: usize,
    pattern: &'static [[bool; 2]],
    /// Place of each coded bit in its symbol, and the coded bit of each place.
    interleaver: Vec<usize>,
    place: Vec<usize>,
    data: Vec<bool>,
    coded: Vec<bool>,
    decisions: Vec<u64>,
    signs: [[f32; 2]; 32],
}

impl Bcc {
    /// For `data` bits, SERVICE included, in symbols of `bits` bits per subcarrier.
    pub fn new(data: usize, code: CodeRate, bits: usize) -> Self {
        let per_symbol = SUBCARRIERS * bits;
        let (rows, turn) = (4 * bits, (bits / 2).max(1));
        let interleaver: Vec<usize> = (0..per_symbol)
            .map(|k| {
                let i = rows * (k % COLUMNS) + k / COLUMNS;
                turn * (i / turn) + (i + per_symbol - COLUMNS * i / per_symbol) % turn
            })
            .collect();
        let mut place = vec![0; per_symbol];
        for (k, j) in interleaver.iter().enumerate() {
            place[*j] = k;
        }
        let mut signs = [[0.0; 2]; 32];
        for (pair, sign) in signs.iter_mut().enumerate() {
            for (sign, generator) in sign.iter_mut().zip(GENERATORS) {
                let odd = ((2 * pair as u32) & generator).count_ones() % 2 == 1;
                *sign = if odd { -1.0 } else { 1.0 };
            }
        }
        Self {
            steps: data + TAIL_BITS,
            pattern: pattern(code),
            interleaver,
            place,
            data: Vec::new(),
            coded: Vec::new(),
            decisions: Vec::new(),
            signs,
        }
    }

    /// Appends a frame of random bits, interleaved, in whole symbols.
    pub fn encode(&mut self, noise: &mut Noise, sent: &mut Vec<bool>) {
        self.data.clear();
        noise.data(self.steps - TAIL_BITS, &mut self.data);
        self.data.extend([false; TAIL_BITS]);
        self.coded.clear();
        let mut register = 0_u32;
        for (step, bit) in self.data.iter().enumerate() {
            register = register >> 1 | u32::from(*bit) << 6;
            let kept = self.pattern[step % self.pattern.len()];
            for (generator, kept) in GENERATORS.iter().zip(kept) {
                if kept {
                    self.coded
                        .push((register & generator).count_ones() % 2 == 1);
                }
            }
        }
        // Pad bits fill the last symbol; their values do not matter.
        let per_symbol = self.place.len();
        let whole = self.coded.len().next_multiple_of(per_symbol);
        self.coded.resize(whole, false);
        for symbol in self.coded.chunks(per_symbol) {
            sent.extend(self.place.iter().map(|k| symbol[*k]));
        }
    }

    /// Whether the Viterbi decoder gives other bits than were sent.
    pub fn fails(&mut self, received: &[f32]) -> bool {
        let mut metrics = [f32::NEG_INFINITY; 64];
        metrics[0] = 0.0;
        self.decisions.clear();
        let per_symbol = self.place.len();
        let mut heard = (0..received.len()).map(|k| {
            let symbol = k / per_symbol * per_symbol;
            received[symbol + self.interleaver[k % per_symbol]]
        });
        for step in 0..self.steps {
            let kept = self.pattern[step % self.pattern.len()];
            let pair = kept.map(|kept| {
                if kept {
                    heard.next().unwrap_or(0.0)
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
