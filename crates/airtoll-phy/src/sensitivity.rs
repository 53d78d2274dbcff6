//! Minimum receiver sensitivity: the level at which a conforming receiver must still work.
//!
//! Takes a transmission vector, gives the table entry. A bound on bad receivers, not a model of
//! good ones; real chips do several dB better.

use airtoll_units::{Db, Dbm};

use crate::format::Format;
use crate::txvector::TxVector;

/// The weakest level at which the standard demands 10 % frame errors or fewer (1000 octets, HE
/// and EHT 4096 octets; DSSS: 8 % of 1024 octets), one antenna per stream.
///
/// 15.4.8.2 and 16.3.8.2 (2 and 11 Mb/s; other DSSS rates have no entry: `None`), Tables 17-18,
/// 19-23, 21-25, 27-51 and 36-67. Each doubling of the width costs 3 dB.
#[must_use]
pub fn minimum_sensitivity(v: &TxVector) -> Option<Dbm> {
    const OFDM: [f64; 8] = [-82.0, -81.0, -79.0, -77.0, -74.0, -70.0, -66.0, -65.0];
    const BY_MCS: [f64; 14] = [
        -82.0, -79.0, -77.0, -74.0, -70.0, -66.0, -65.0, -64.0, -59.0, -57.0, -54.0, -52.0, -49.0,
        -46.0,
    ];
    let index = usize::from(v.index());
    let at_20 = match v.format() {
        Format::Dsss => [None, Some(-80.0), None, Some(-76.0)][index]?,
        Format::Ofdm | Format::ErpOfdm => OFDM[index],
        Format::HtMixed => BY_MCS[index % 8],
        Format::Vht | Format::HeSu | Format::EhtSu => BY_MCS[index],
    };
    let doublings = (v.width().mhz() / 20).ilog2();
    Some(Dbm(at_20) + Db(3.0 * f64::from(doublings)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error_rate::frame_success;
    use crate::parameters::{Band, DsssRate, GuardInterval, OfdmRate, Preamble, Width};
    use crate::propagation::{noise_floor, ratio};

    #[test]
    fn entries_of_the_tables() {
        let a54 = TxVector::ofdm(OfdmRate::M54, Band::Ghz5);
        assert_eq!(minimum_sensitivity(&a54), Some(Dbm(-65.0)));
        let he = TxVector::he(11, Width::Mhz80, GuardInterval::Ns800, 1, Band::Ghz5).unwrap();
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
                TxVector::he(m, Width::Mhz20, GuardInterval::Ns800, 1, Band::Ghz5).unwrap()
            }));
        for v in vectors {
            let noise = noise_floor(20e6, Db(10.0));
            let snr = ratio(minimum_sensitivity(&v).unwrap() - noise);
            assert!(frame_success(&v, snr, 1000) > 0.9, "{v:?}");
        }
    }
}
