//! Minimum receiver sensitivity: the level at which a conforming receiver must still work.
//!
//! It bounds bad receivers; real chips do several dB better.

use airtoll_units::{Db, Dbm};

use crate::txvector::TxVector;

/// The weakest level at which the standard demands 10 % frame errors or fewer (1000 octets, HE
/// and EHT 4096 octets; DSSS: 8 % of 1024 octets), one antenna per stream.
///
/// The entry is the descriptor's; 1 and 5.5 Mb/s have none. Each doubling of the width costs 3 dB.
#[must_use]
pub fn minimum_sensitivity(v: &TxVector) -> Option<Dbm> {
    let entries = v.generation().descriptor().sensitivity_dbm;
    let at_20 = entries[usize::from(v.index_per_stream())]?;
    let doublings = (v.width().mhz() / 20).ilog2();
    Some(Dbm(at_20) + Db(3.0 * f64::from(doublings)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error_rate::frame_success;
    use crate::generation::Generation;
    use crate::parameters::{Band, DsssRate, GuardInterval, OfdmRate, Preamble, Width};
    use crate::propagation::{noise_floor, ratio};

    #[test]
    fn entries_of_the_tables() {
        let a54 = TxVector::ofdm(OfdmRate::M54, Band::Ghz5);
        assert_eq!(minimum_sensitivity(&a54), Some(Dbm(-65.0)));
        let he = TxVector::of_mcs(
            Generation::Ax,
            11,
            1,
            Width::Mhz80,
            GuardInterval::Ns800,
            Band::Ghz5,
        )
        .unwrap();
        assert_eq!(minimum_sensitivity(&he), Some(Dbm(-46.0)));
        let b = |r| minimum_sensitivity(&TxVector::dsss(r, Preamble::Long).unwrap());
        assert_eq!(b(DsssRate::M11), Some(Dbm(-76.0)));
        assert_eq!(b(DsssRate::M1), None);
    }

    #[test]
    fn the_error_model_meets_every_entry_with_a_noise_figure_of_10_db() {
        // 17.3.10.2 grants 10 dB of noise figure and 5 dB of implementation margin.
        let vectors = OfdmRate::ALL
            .into_iter()
            .map(|r| TxVector::ofdm(r, Band::Ghz5))
            .chain((0..12).map(|m| {
                TxVector::of_mcs(
                    Generation::Ax,
                    m,
                    1,
                    Width::Mhz20,
                    GuardInterval::Ns800,
                    Band::Ghz5,
                )
                .unwrap()
            }));
        for v in vectors {
            let noise = noise_floor(20e6, Db(10.0));
            let snr = ratio(minimum_sensitivity(&v).unwrap() - noise);
            assert!(frame_success(&v, snr, 1000) > 0.9, "{v:?}");
        }
    }
}
