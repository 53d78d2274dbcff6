//! Error probabilities of DSSS and HR/DSSS: DBPSK, DQPSK and complementary code keying.
//!
//! Takes bit or chip energy over noise density; gives error probabilities. The CCK bound runs
//! over the exact distance spectrum of the code words of (16-1), enumerated here from the
//! standard's own definition. Nothing is fitted.

use libm::{erfc, exp, sqrt};

/// Bit error rate of DBPSK: `exp(-Eb/N0) / 2` (Proakis, Digital Communications, 5th ed., 4.5).
pub(crate) fn dbpsk(bit_snr: f64) -> f64 {
    0.5 * exp(-bit_snr)
}

/// Bit error rate of DQPSK with Gray labels, asymptotic form of the Marcum-Q expression
/// (Proakis, same section).
pub(crate) fn dqpsk(bit_snr: f64) -> f64 {
    let root2 = core::f64::consts::SQRT_2;
    let scale = (root2 + 1.0) / sqrt(8.0 * core::f64::consts::PI * root2);
    (scale / sqrt(bit_snr) * exp(-(2.0 - root2) * bit_snr)).min(0.5)
}

/// Bound on the error probability of one CCK word in white noise, at most 1: the word is picked
/// coherently (`sum A_d Q(sqrt(d^2 Ec / 2 N0))` over words that differ in more than phi1), its
/// phase phi1 by comparison with the word before (DQPSK over eight chips, two bits).
pub(crate) fn cck_word(four_bits: bool, chip_snr: f64) -> f64 {
    let spectrum = if four_bits { &FIVE_AND_A_HALF } else { &ELEVEN };
    let mut sum = 0.0;
    for (half_distance, words) in spectrum.iter().enumerate() {
        if *words > 0 {
            let squared = 2.0 * half_distance as f64;
            // Q(sqrt(x)) = erfc(sqrt(x / 2)) / 2
            sum += f64::from(*words) * 0.5 * erfc(sqrt(squared * chip_snr / 4.0));
        }
    }
    (sum + 2.0 * dqpsk(4.0 * chip_snr)).min(1.0)
}

/// Chip positions of (16-1): which of phi2, phi3, phi4 each of the eight chips contains. phi1 is
/// in all of them; the sign changes of chips 4 and 7 are common to all words and cancel.
const CHIPS: [[u32; 3]; 8] = [
    [1, 1, 1],
    [0, 1, 1],
    [1, 0, 1],
    [0, 0, 1],
    [1, 1, 0],
    [0, 1, 0],
    [1, 0, 0],
    [0, 0, 0],
];

/// Number of words at squared distance 2 i (unit chips) from any one word that differ from it in
/// more than phi1: the words are an image of a group of phases, so every word sees the same
/// spectrum.
const fn spectrum(four_bits: bool) -> [u32; 17] {
    let mut count = [0; 17];
    let mut word = 4;
    while word < 256 {
        let phase = [word & 3, (word >> 2) & 3, (word >> 4) & 3, (word >> 6) & 3];
        // 5.5 Mb/s: phi3 is fixed, phi2 and phi4 differ by half turns only (16.3.6.5).
        let in_code = !four_bits || (phase[1] % 2 == 0 && phase[2] == 0 && phase[3] % 2 == 0);
        if in_code {
            let mut half_distance = 0;
            let mut chip = 0;
            while chip < 8 {
                let turns = phase[0]
                    + CHIPS[chip][0] * phase[1]
                    + CHIPS[chip][1] * phase[2]
                    + CHIPS[chip][2] * phase[3];
                // |1 - e^(j k pi/2)|^2 = 0, 2, 4, 2.
                half_distance += [0, 1, 2, 1][(turns % 4) as usize];
                chip += 1;
            }
            count[half_distance] += 1;
        }
        word += 1;
    }
    count
}

const ELEVEN: [u32; 17] = spectrum(false);
const FIVE_AND_A_HALF: [u32; 17] = spectrum(true);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_spectra_hold_every_other_word() {
        assert_eq!(ELEVEN.iter().sum::<u32>(), 252);
        assert_eq!(FIVE_AND_A_HALF.iter().sum::<u32>(), 12);
        // 5.5 Mb/s: the words with one phi1 are orthogonal or opposite.
        assert_eq!(ELEVEN.iter().position(|n| *n > 0), Some(4));
        assert_eq!(FIVE_AND_A_HALF.iter().position(|n| *n > 0), Some(8));
    }

    #[test]
    fn more_energy_means_fewer_errors() {
        for four_bits in [false, true] {
            let mut last = 2.0;
            for db in 0..20 {
                let p = cck_word(four_bits, libm::pow(10.0, f64::from(db) / 10.0));
                assert!(p <= last);
                last = p;
            }
        }
    }
}
