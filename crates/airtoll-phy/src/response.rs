//! Which rate answers: the rate of Ack, CTS and BlockAck frames.
//!
//! Takes the vector of the frame that elicits the response and the BSS basic rate set; gives the
//! vector of the response (10.6.6.5.2). Never answers in an HT or later format: a non-HT
//! response is what every receiver of a mixed BSS can decode.

use crate::format::Format;
use crate::parameters::{Band, DsssRate, OfdmRate, Preamble};
use crate::txvector::TxVector;

/// The BSS basic rate set, split by modulation class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BasicRates {
    dsss: u8,
    ofdm: u8,
}

impl BasicRates {
    /// A set of the given rates.
    #[must_use]
    pub fn new(dsss: &[DsssRate], ofdm: &[OfdmRate]) -> Self {
        Self {
            dsss: dsss.iter().fold(0, |set, r| set | 1 << (*r as u8)),
            ofdm: ofdm.iter().fold(0, |set, r| set | 1 << (*r as u8)),
        }
    }

    /// {1, 2} of an 802.11b BSS: what access points announced by default, so that 802.11 (1997)
    /// stations may join. An 11 Mb/s frame is answered at 2 Mb/s.
    #[must_use]
    pub fn dsss_default() -> Self {
        Self::new(&[DsssRate::M1, DsssRate::M2], &[])
    }

    /// {6, 12, 24}, the mandatory rates of OFDM (17.3.8.3) and the default of 802.11a, g, n, ac
    /// and ax BSSs. A 54 Mb/s frame is answered at 24 Mb/s.
    #[must_use]
    pub fn ofdm_default() -> Self {
        Self::new(&[], &[OfdmRate::M6, OfdmRate::M12, OfdmRate::M24])
    }

    /// {1, 2, 5.5, 11} with the mandatory OFDM rates {6, 12, 24} for OFDM frames: an 802.11b/g BSS.
    #[must_use]
    pub fn mixed_default() -> Self {
        Self::new(
            &DsssRate::ALL,
            &[OfdmRate::M6, OfdmRate::M12, OfdmRate::M24],
        )
    }

    /// The highest DSSS rate of the set, if it has one: what protects OFDM frames.
    #[must_use]
    pub fn highest_dsss(&self) -> Option<DsssRate> {
        DsssRate::ALL
            .into_iter()
            .rfind(|r| self.dsss & 1 << (*r as u8) != 0)
    }

    /// The lowest basic rate of the class of `band` and `preamble`, as a vector: what EIFS and
    /// beacons use. DSSS rates go first where there are any.
    #[must_use]
    pub fn lowest(&self, band: Band) -> TxVector {
        match DsssRate::ALL
            .iter()
            .find(|r| self.dsss & 1 << (**r as u8) != 0)
        {
            Some(rate) if band == Band::Ghz2_4 => dsss(*rate, Preamble::Long),
            _ => {
                let rate = OfdmRate::ALL
                    .iter()
                    .find(|r| self.ofdm & 1 << (**r as u8) != 0)
                    .unwrap_or(&OfdmRate::M6);
                TxVector::ofdm(*rate, band)
            }
        }
    }
}

/// The vector of the control response to a frame sent with `eliciting`.
///
/// The highest basic rate of the same class that is not above the eliciting rate (for HT and
/// later: not above the non-HT reference rate); the lowest mandatory rate of the class where the
/// set has none. A DSSS response keeps the eliciting preamble, but a 1 Mb/s one is always long.
#[must_use]
pub fn control_response(eliciting: &TxVector, basic: BasicRates) -> TxVector {
    if eliciting.format() == Format::Dsss {
        let at_most = eliciting.index();
        let rate = DsssRate::ALL
            .iter()
            .rfind(|r| **r as u8 <= at_most && basic.dsss & 1 << (**r as u8) != 0)
            .unwrap_or(&DsssRate::M1);
        let preamble = if eliciting.preamble_ns == 96_000 {
            Preamble::Short
        } else {
            Preamble::Long
        };
        return dsss(*rate, preamble);
    }
    let at_most = non_ht_reference_rate(eliciting);
    let rate = OfdmRate::ALL
        .iter()
        .rfind(|r| **r <= at_most && basic.ofdm & 1 << (**r as u8) != 0)
        .unwrap_or_else(|| {
            // Mandatory rates of the PHY (17.3.8.3).
            [OfdmRate::M24, OfdmRate::M12, OfdmRate::M6]
                .iter()
                .find(|r| **r <= at_most)
                .unwrap_or(&OfdmRate::M6)
        });
    TxVector::ofdm(*rate, eliciting.band())
}

/// Non-HT reference rate (Table 10-10): the OFDM rate with the same constellation and code rate,
/// 48 Mb/s for 64-QAM 2/3 and 54 Mb/s for everything above. For OFDM the rate itself.
#[must_use]
pub fn non_ht_reference_rate(v: &TxVector) -> OfdmRate {
    let mcs = v.mcs();
    OfdmRate::ALL
        .into_iter()
        .find(|r| r.mcs() == mcs)
        .unwrap_or(OfdmRate::M54)
}

fn dsss(rate: DsssRate, preamble: Preamble) -> TxVector {
    TxVector::dsss(rate, preamble)
        .or_else(|_| TxVector::dsss(rate, Preamble::Long))
        .expect("the long preamble carries every DSSS rate")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parameters::{GuardInterval, Width};

    fn mbps(v: TxVector) -> f64 {
        v.bit_rate().0 as f64 / 1e6
    }

    #[test]
    fn responses_use_the_highest_basic_rate_not_above() {
        let b = BasicRates::dsss_default();
        let at = |r| control_response(&dsss(r, Preamble::Short), b);
        assert_eq!(mbps(at(DsssRate::M11)), 2.0);
        assert_eq!(mbps(at(DsssRate::M1)), 1.0);
        assert_eq!(crate::preamble(&at(DsssRate::M11)).as_nanos(), 96_000);
        let a = BasicRates::ofdm_default();
        for (rate, answer) in [(6, 6), (9, 6), (12, 12), (18, 12), (24, 24), (54, 24)] {
            let r = OfdmRate::ALL
                .into_iter()
                .find(|r| r.mbps() == rate)
                .unwrap();
            let v = control_response(&TxVector::ofdm(r, Band::Ghz5), a);
            assert_eq!(mbps(v), f64::from(answer));
        }
    }

    #[test]
    fn ht_and_later_answer_by_their_reference_rate() {
        let a = BasicRates::ofdm_default();
        for (mcs, answer) in [(0, 6.0), (1, 12.0), (2, 12.0), (3, 24.0), (11, 24.0)] {
            let v = TxVector::he(mcs, Width::Mhz80, GuardInterval::Ns800, 1, Band::Ghz5).unwrap();
            assert_eq!(mbps(control_response(&v, a)), answer, "MCS {mcs}");
        }
        let ht = TxVector::ht(15, Width::Mhz40, GuardInterval::Ns400, Band::Ghz2_4).unwrap();
        assert_eq!(control_response(&ht, a).format(), Format::ErpOfdm);
    }

    #[test]
    fn a_set_without_the_class_falls_back_to_mandatory_rates() {
        let g54 = TxVector::ofdm(OfdmRate::M54, Band::Ghz2_4);
        assert_eq!(
            mbps(control_response(&g54, BasicRates::dsss_default())),
            24.0
        );
        assert_eq!(mbps(BasicRates::mixed_default().lowest(Band::Ghz2_4)), 1.0);
        assert_eq!(mbps(BasicRates::ofdm_default().lowest(Band::Ghz5)), 6.0);
    }
}
