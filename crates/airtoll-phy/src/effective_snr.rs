//! The SNR of a flat channel that stands for one with a different gain at each frequency.
//!
//! Takes the modulation of a frame, its mean SNR and the gain of each sub-band that it occupies; gives the SNR at
//! which, over a flat channel, a coded bit tells as much as it does there in the mean: the mutual information
//! effective SNR mapping of Brueninghaus et al., "Link Performance Models for System Level Simulations of Broadband
//! Radio Access Systems" (PIMRC 2005), the mean over subcarriers of the PHY abstraction of IEEE 802.11-14/0571r12.
//! Nothing is fitted. Information is that of a bit of a Gray-mapped constellation (`information_table`).
//!
//! DSSS and CCK: a receiver that gathers the energy of all paths has the mean power.

mod information_table;

use libm::{exp, log, log10, pow};

use self::information_table::{FIRST_DB, MISSING, STEP_DB};
use crate::modulation::Modulation;

/// The SNR of a flat channel, dB, at which bits of `modulation` tell as much as at the mean SNR `snr_db` in sub-bands
/// with the power gains `gains_db`, dB; `snr_db` where there are none.
///
/// Never above the SNR at which all but 10^-12 of a bit arrives: there less than one frame in 100,000 is lost.
#[must_use]
pub fn effective_snr_db(modulation: Modulation, snr_db: f64, gains_db: &[f64]) -> f64 {
    if gains_db.is_empty() {
        return snr_db;
    }
    let count = gains_db.len() as f64;
    let Some(axis) = Axis::of(modulation) else {
        let sum: f64 = gains_db.iter().map(|gain| pow(10.0, gain / 10.0)).sum();
        return snr_db + 10.0 * log10(sum / count);
    };
    let ratio_db = snr_db + axis.above_db;
    let missing: f64 = gains_db.iter().map(|g| axis.missing(ratio_db + g)).sum();
    axis.ratio_db(missing / count) - axis.above_db
}

/// One axis of a constellation.
struct Axis {
    /// `ln` of the share of a bit that is missing, by the ratio of energy and noise of the axis.
    missing: &'static [f64],
    /// That ratio over the SNR, dB.
    above_db: f64,
}

impl Axis {
    fn of(modulation: Modulation) -> Option<Self> {
        // Half of the energy and half of the noise are in each axis; BPSK has all of its energy in one.
        let (bits, above_db) = match modulation {
            Modulation::Dbpsk | Modulation::Dqpsk | Modulation::Cck4 | Modulation::Cck8 => {
                return None;
            }
            Modulation::Bpsk => (1, 10.0 * core::f64::consts::LOG10_2),
            other => (other.bits() as usize / 2, 0.0),
        };
        Some(Self {
            missing: MISSING[bits - 1],
            above_db,
        })
    }

    /// The share of a bit that is missing at a ratio, dB.
    fn missing(&self, ratio_db: f64) -> f64 {
        let at = (ratio_db - FIRST_DB) / STEP_DB;
        if at < 0.0 {
            // Information is in proportion to the energy.
            let told = -libm::expm1(self.missing[0]);
            return 1.0 - told * pow(10.0, (ratio_db - FIRST_DB) / 10.0);
        }
        let before = at as usize;
        match self.missing.get(before..before + 2) {
            Some(&[from, to]) => exp(from + (to - from) * (at - before as f64)),
            _ => 0.0,
        }
    }

    /// The ratio, dB, at which a share of a bit is missing.
    fn ratio_db(&self, missing: f64) -> f64 {
        let last = self.missing.len() - 1;
        if missing <= 0.0 {
            return FIRST_DB + STEP_DB * last as f64;
        }
        let wanted = log(missing);
        let after = self.missing.partition_point(|lost| *lost >= wanted);
        if after == 0 {
            let least = -libm::expm1(self.missing[0]);
            let told = (1.0 - missing).max(f64::MIN_POSITIVE);
            return FIRST_DB + 10.0 * log10(told / least);
        }
        if after > last {
            return FIRST_DB + STEP_DB * last as f64;
        }
        let (from, to) = (self.missing[after - 1], self.missing[after]);
        let part = (wanted - from) / (to - from);
        FIRST_DB + STEP_DB * ((after - 1) as f64 + part)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::delay_line::DelayLine;
    use crate::link_simulation::{Count, Link, missing, simulate_over};
    use crate::modulation::CodeRate;
    use crate::parameters::Coding;

    const ALL: [Modulation; 7] = [
        Modulation::Bpsk,
        Modulation::Qpsk,
        Modulation::Qam16,
        Modulation::Qam64,
        Modulation::Qam256,
        Modulation::Qam1024,
        Modulation::Qam4096,
    ];

    #[test]
    fn the_table_is_that_of_the_integral() {
        for (bits, table) in (1..).zip(MISSING) {
            for at in [0, table.len() / 3, table.len() / 2, table.len() - 2] {
                let db = FIRST_DB + STEP_DB * at as f64;
                let exact = log(missing(bits, db));
                assert!((table[at] - exact).abs() < 2e-6, "{bits} {db} {exact}");
            }
            assert!(*table.last().unwrap() < log(1e-12), "{bits}");
        }
    }

    #[test]
    fn information_has_its_known_values() {
        // One bit at Es/N0 = 0 dB over a real axis: 0.4859 (ten Brink, IEEE Trans. Comm. 49(10), 2001, J(2)).
        assert!((1.0 - missing(1, 0.0) - 0.4859).abs() < 2e-4);
        // Far below the noise log2(e) / 2 times the ratio.
        let low = 1.0 - missing(1, -20.0);
        assert!((low / (0.01 * core::f64::consts::LOG2_E / 2.0) - 1.0).abs() < 0.02);
    }

    #[test]
    fn a_flat_channel_keeps_its_snr() {
        for modulation in ALL {
            for tenth in -300..120 {
                let db = f64::from(tenth) / 10.0;
                let found = effective_snr_db(modulation, db - 3.0, &[3.0; 40]);
                assert!((found - db).abs() < 1e-6, "{modulation:?} {db} {found}");
            }
        }
        for modulation in [Modulation::Dbpsk, Modulation::Cck8] {
            let found = effective_snr_db(modulation, 7.0, &[-2.0, -2.0]);
            assert!((found - 5.0).abs() < 1e-9);
        }
    }

    #[test]
    fn it_lies_between_the_worst_sub_band_and_the_mean() {
        let gains: Vec<f64> = (0..52)
            .map(|k| -18.0 + f64::from(k * k % 53) / 2.0)
            .collect();
        let power = gains.iter().map(|g| pow(10.0, g / 10.0)).sum::<f64>() / 52.0;
        let least = gains.iter().copied().fold(f64::INFINITY, f64::min);
        for modulation in ALL {
            let mut last = f64::NEG_INFINITY;
            for snr in -10..40 {
                let snr = f64::from(snr);
                let found = effective_snr_db(modulation, snr, &gains);
                assert!(
                    found <= snr + 10.0 * log10(power) + 0.01,
                    "{modulation:?} {snr}"
                );
                assert!(found >= last && (found >= snr + least || found > 10.0));
                last = found;
            }
        }
        // The order of the sub-bands does not matter.
        let turned: Vec<f64> = gains.iter().rev().copied().collect();
        let [one, other] = [&gains, &turned].map(|g| effective_snr_db(Modulation::Qam64, 20.0, g));
        assert!((one - other).abs() < 1e-9);
    }

    #[test]
    fn half_of_the_sub_bands_hold_half_of_the_information() {
        // QPSK at 30 dB tells all of its bits in one half and nothing in the other: a flat channel tells half of a
        // bit at 0.19 dB (capacity of binary input over white noise).
        let mut gains = vec![0.0; 20];
        gains.extend([-200.0; 20]);
        let found = effective_snr_db(Modulation::Qpsk, 30.0, &gains);
        assert!((found - 0.19).abs() < 0.02, "{found}");
    }

    #[test]
    fn frames_of_the_link_simulation_are_lost_as_it_foretells() {
        // 16-QAM 1/2, 32 octets: 17 % are lost at 7 dB, and 3 % at 8 dB. Six channels of 50 ns; other links and
        // channels: `link_simulation several-paths`.
        let link = Link {
            coding: Coding::Bcc,
            modulation: Modulation::Qam16,
            code: CodeRate::R1_2,
        };
        let limit = Count {
            errors: 300,
            frames: 300,
        };
        let share = |count: Count| f64::from(count.errors) / f64::from(count.frames);
        let lost =
            |amplitudes: &[f32], db: f64| share(simulate_over(amplitudes, link, 32, db, limit));
        let flat = [-1.0, 0.0, 1.0].map(|off| lost(&[1.0], 7.0 + off));
        assert!(
            flat[0] > 1.5 * flat[1] && flat[1] > 2.0 * flat[2],
            "{flat:?}"
        );
        let line = DelayLine::new(50.0, 0.0, 1);
        let mut state = 1_u64;
        let mut unit = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            ((state >> 11) as f64 + 0.5) / 9_007_199_254_740_992.0
        };
        let mut normals = || {
            let radius = libm::sqrt(-2.0 * log(unit()));
            let angle = core::f64::consts::TAU * unit();
            [radius * libm::cos(angle), radius * libm::sin(angle)]
        };
        let mut mean = 0.0;
        for _ in 0..6 {
            let gains = line.gains_db(&mut normals)[6..58].to_vec();
            let (mut low, mut high) = (-20.0, 60.0);
            while high - low > 1e-6 {
                let middle = f64::midpoint(low, high);
                if effective_snr_db(link.modulation, middle, &gains) < 7.0 {
                    low = middle;
                } else {
                    high = middle;
                }
            }
            let amplitudes: Vec<f32> = gains.iter().map(|g| pow(10.0, g / 20.0) as f32).collect();
            mean += lost(&amplitudes, high) / 6.0;
        }
        // Within a decibel in the mean.
        assert!(mean < flat[0] && mean > flat[2], "{mean} {flat:?}");
    }

    #[test]
    fn where_it_ends_hardly_a_frame_is_lost() {
        use crate::generation::Generation;
        use crate::parameters::{Band, GuardInterval, Width};
        use crate::txvector::TxVector;
        for mcs in 0..14 {
            let (width, gi) = (Width::Mhz80, GuardInterval::Ns800);
            let v = TxVector::of_mcs(Generation::Be, mcs, 1, width, gi, Band::Ghz5).unwrap();
            let end = effective_snr_db(v.mcs().modulation, 90.0, &[0.0, 3.0]);
            let success = crate::frame_success(&v, pow(10.0, end / 10.0), 11_000);
            assert!(success > 1.0 - 1e-5, "{mcs} {end} {success}");
            assert_ne!(v.mcs().code, CodeRate::Uncoded);
        }
    }
}
