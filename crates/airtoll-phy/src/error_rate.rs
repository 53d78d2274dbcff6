//! From signal-to-noise ratio to the probability that a frame arrives.
//!
//! Takes a transmission vector, a linear SNR (over the channel width; over 22 MHz for DSSS; per
//! stream for several) and octets; gives success probabilities. White noise, flat channel, no
//! multipath. Pure functions: the simulator draws.
//!
//! Sources: uncoded M-QAM with Gray labels, nearest neighbours (Proakis, Digital
//! Communications, 5th ed., 4.3); convolutional codes by the Chernoff bound on pairwise errors
//! and the ten first terms of the distance spectra of Frenger, Orten and Ottosson
//! ("Convolutional Codes with Optimum Distance Spectrum", IEEE Comm. Letters 3(11), 1999) and
//! Haccoun and Begin (IEEE Trans. Comm. 37(11), 1989) for the punctured ones, as Pei and
//! Henderson ("Validation of OFDM error rate model in ns-3", 2010) use them; DSSS: DBPSK and
//! DQPSK of Proakis 4.5 with the 22 MHz to bit-rate processing gain; CCK: the exact distance
//! spectrum. LDPC codes are taken as the convolutional code of the same rate.

use libm::{erfc, exp, log1p, sqrt};

use crate::dsss_error::{cck_word, dbpsk, dqpsk};
use crate::modulation::{CodeRate, Mcs, Modulation};
use crate::txvector::TxVector;

/// Noise bandwidth of a DSSS receiver, Hz, and its chip rate.
const DSSS_BANDWIDTH_HZ: f64 = 22e6;
const CHIP_RATE_HZ: f64 = 11e6;

/// Probability that a PSDU of `octets` octets sent with `v` has no bit error, PHY header not
/// included, at the linear ratio `snr`.
#[must_use]
pub fn frame_success(v: &TxVector, snr: f64, octets: u32) -> f64 {
    let bits = 8.0 * f64::from(octets);
    power(bit_failure(v.mcs(), snr), bits)
}

/// Probability that the PHY header of `v` arrives: 48 bits at 1 or 2 Mb/s for DSSS; SIGNAL and
/// the format's own SIG fields at BPSK 1/2 for OFDM.
#[must_use]
pub fn header_success(v: &TxVector, snr: f64) -> f64 {
    let mcs = if v.is_dsss() {
        let modulation = if v.preamble_ns == 96_000 {
            Modulation::Dqpsk
        } else {
            Modulation::Dbpsk
        };
        Mcs {
            modulation,
            code: CodeRate::Uncoded,
        }
    } else {
        Mcs {
            modulation: Modulation::Bpsk,
            code: CodeRate::R1_2,
        }
    };
    let bits = f64::from(v.generation().descriptor().header_bits);
    power(bit_failure(mcs, snr), bits)
}

/// Bit error rate before decoding of `modulation` at the linear ratio `snr`.
///
/// For CCK, half of the word error rate: a wrong word has about half of its bits wrong.
#[must_use]
pub fn bit_error_rate(modulation: Modulation, snr: f64) -> f64 {
    if snr <= 0.0 {
        return 0.5;
    }
    let p = match modulation {
        Modulation::Bpsk => 0.5 * erfc(sqrt(snr)),
        Modulation::Qpsk => 0.5 * erfc(sqrt(snr / 2.0)),
        Modulation::Qam16 => square_qam(16.0, 4.0, snr),
        Modulation::Qam64 => square_qam(64.0, 6.0, snr),
        Modulation::Qam256 => square_qam(256.0, 8.0, snr),
        Modulation::Qam1024 => square_qam(1_024.0, 10.0, snr),
        Modulation::Qam4096 => square_qam(4_096.0, 12.0, snr),
        Modulation::Dbpsk => dbpsk(snr * DSSS_BANDWIDTH_HZ / 1e6),
        Modulation::Dqpsk => dqpsk(snr * DSSS_BANDWIDTH_HZ / 2e6),
        Modulation::Cck4 => 0.5 * cck_word(true, chip_snr(snr)),
        Modulation::Cck8 => 0.5 * cck_word(false, chip_snr(snr)),
    };
    p.clamp(0.0, 0.5)
}

/// Error-event bound of the K = 7 code of 17.3.5.6 punctured to `code`, from the bit error rate
/// `p` of hard decisions: `sum a_d D^d / 2k`, D = sqrt(4 p (1 - p)); at most 1. Uncoded: `p`.
#[must_use]
pub fn union_bound(code: CodeRate, p: f64) -> f64 {
    let d = sqrt(4.0 * p * (1.0 - p));
    let (first, step, information_bits, weights): (u32, u32, f64, [f64; 10]) = match code {
        CodeRate::Uncoded => return p,
        CodeRate::R1_2 => (10, 2, 1.0, HALF),
        CodeRate::R2_3 => (6, 1, 2.0, TWO_THIRDS),
        CodeRate::R3_4 => (5, 1, 3.0, THREE_QUARTERS),
        CodeRate::R5_6 => (4, 1, 5.0, FIVE_SIXTHS),
    };
    let mut term = integer_power(d, first);
    let ratio = integer_power(d, step);
    let mut sum = 0.0;
    for weight in weights {
        sum += weight * term;
        term *= ratio;
    }
    (sum / (2.0 * information_bits)).min(1.0)
}

/// Information weights by distance, from the free distance upward.
const HALF: [f64; 10] = [
    36.0,
    211.0,
    1_404.0,
    11_633.0,
    77_433.0,
    502_690.0,
    3_322_763.0,
    21_292_910.0,
    134_365_911.0,
    0.0,
];
const TWO_THIRDS: [f64; 10] = [
    3.0,
    70.0,
    285.0,
    1_276.0,
    6_160.0,
    27_128.0,
    117_019.0,
    498_860.0,
    2_103_891.0,
    8_784_123.0,
];
const THREE_QUARTERS: [f64; 10] = [
    42.0,
    201.0,
    1_492.0,
    10_469.0,
    62_935.0,
    379_644.0,
    2_253_373.0,
    13_073_811.0,
    75_152_755.0,
    428_005_675.0,
];
const FIVE_SIXTHS: [f64; 10] = [
    92.0,
    528.0,
    8_694.0,
    79_453.0,
    792_114.0,
    7_375_573.0,
    67_884_974.0,
    610_875_423.0,
    5_427_275_376.0,
    47_664_215_639.0,
];

/// Probability that one bit (for CCK: one bit's share of a word) fails after decoding.
fn bit_failure(mcs: Mcs, snr: f64) -> f64 {
    match mcs.modulation {
        // A word of 4 or 8 bits fails as a whole; spread so that its bits fail together.
        Modulation::Cck4 => share(cck_word(true, chip_snr(snr)), 4.0),
        Modulation::Cck8 => share(cck_word(false, chip_snr(snr)), 8.0),
        modulation => union_bound(mcs.code, bit_error_rate(modulation, snr)),
    }
}

fn chip_snr(snr: f64) -> f64 {
    snr.max(0.0) * DSSS_BANDWIDTH_HZ / CHIP_RATE_HZ
}

/// p with (1 - p)^bits = 1 - word.
fn share(word: f64, bits: f64) -> f64 {
    if word >= 1.0 {
        1.0
    } else {
        -libm::expm1(log1p(-word) / bits)
    }
}

/// (1 - p)^n, exact for tiny p.
fn power(p: f64, n: f64) -> f64 {
    if p >= 1.0 { 0.0 } else { exp(n * log1p(-p)) }
}

fn integer_power(x: f64, n: u32) -> f64 {
    let mut result = 1.0;
    for _ in 0..n {
        result *= x;
    }
    result
}

fn square_qam(points: f64, bits: f64, snr: f64) -> f64 {
    let neighbours = 2.0 * (1.0 - 1.0 / sqrt(points)) / bits;
    neighbours * erfc(sqrt(1.5 * snr / (points - 1.0)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generation::Generation;
    use crate::parameters::{Band, DsssRate, GuardInterval, OfdmRate, Preamble, Width};

    fn db(x: f64) -> f64 {
        libm::pow(10.0, x / 10.0)
    }

    /// SNR in dB at which 90 % of 1024-octet frames arrive.
    fn threshold(v: &TxVector) -> f64 {
        let (mut low, mut high) = (-20.0, 60.0);
        for _ in 0..60 {
            let middle = 0.5 * (low + high);
            if frame_success(v, db(middle), 1024) < 0.9 {
                low = middle;
            } else {
                high = middle;
            }
        }
        high
    }

    #[test]
    fn thresholds_rise_with_the_rate() {
        let mut last = -30.0;
        for rate in DsssRate::ALL {
            let t = threshold(&TxVector::dsss(rate, Preamble::Long).unwrap());
            assert!(t > last, "{rate:?} {t}");
            last = t;
        }
        let mut last = -30.0;
        for mcs in 0..14 {
            let v = TxVector::of_mcs(
                Generation::Be,
                mcs,
                1,
                Width::Mhz80,
                GuardInterval::Ns800,
                Band::Ghz5,
            )
            .unwrap();
            let t = threshold(&v);
            assert!(t > last, "MCS {mcs} {t}");
            last = t;
        }
        let t54 = threshold(&TxVector::ofdm(OfdmRate::M54, Band::Ghz5));
        assert!((18.0..24.0).contains(&t54), "{t54}");
    }

    #[test]
    fn success_is_a_probability_and_grows_with_snr() {
        let v = TxVector::ofdm(OfdmRate::M54, Band::Ghz5);
        let mut last = 0.0;
        for tenth in -100..500 {
            let p = frame_success(&v, db(f64::from(tenth) / 10.0), 1500);
            assert!((0.0..=1.0).contains(&p) && p >= last);
            last = p;
        }
        assert!(last > 0.999_999);
        assert!(frame_success(&v, db(20.0), 100) > frame_success(&v, db(20.0), 1500));
        assert_eq!(frame_success(&v, 0.0, 1500), 0.0);
    }

    #[test]
    fn headers_outlive_the_frames_they_announce() {
        let v = TxVector::ofdm(OfdmRate::M54, Band::Ghz5);
        let snr = db(threshold(&v));
        assert!(header_success(&v, snr) > 0.999);
    }

    #[test]
    fn uncoded_rates_have_their_textbook_values() {
        // BPSK at Eb/N0 = 9.6 dB: 1e-5.
        let p = bit_error_rate(Modulation::Bpsk, db(9.588));
        assert!((p / 1e-5 - 1.0).abs() < 0.02, "{p}");
        let q = bit_error_rate(Modulation::Qpsk, db(9.588 + 3.0103));
        assert!((q / p - 1.0).abs() < 1e-3);
    }
}
