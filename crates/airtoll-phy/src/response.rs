//! Rate of control responses: Ack, CTS and BlockAck frames (10.6.6.5.2).
//!
//! Responses are always non-HT, which every receiver of a mixed BSS can decode.

pub use crate::basic_rates::BasicRates;
use crate::generation::{Generation, Legacy};
use crate::parameters::{Band, DsssRate, OfdmRate, Preamble};
use crate::txvector::TxVector;

impl BasicRates {
    /// Whether a rate is basic.
    #[must_use]
    pub const fn contains(&self, rate: Legacy) -> bool {
        match rate {
            Legacy::Dsss(rate) => self.dsss & 1 << (rate as u8) != 0,
            Legacy::Ofdm(rate) => self.ofdm & 1 << (rate as u8) != 0,
        }
    }

    /// The default of an 802.11b BSS, {1, 2}. An 11 Mb/s frame is answered at 2 Mb/s.
    #[must_use]
    pub fn dsss_default() -> Self {
        Generation::B.descriptor().basic_rates
    }

    /// {6, 12, 24}, the default of BSSs of 802.11a and later. A 54 Mb/s frame is answered at 24 Mb/s.
    #[must_use]
    pub const fn ofdm_default() -> Self {
        Self::MANDATORY_OFDM
    }

    /// {1, 2, 5.5, 11} with the mandatory OFDM rates {6, 12, 24} for OFDM frames: an 802.11b/g BSS.
    #[must_use]
    pub const fn mixed_default() -> Self {
        Self::MANDATORY_OFDM.with_dsss()
    }

    /// The highest DSSS rate of the set, if it has one. Protection frames use it.
    #[must_use]
    pub fn highest_dsss(&self) -> Option<DsssRate> {
        DsssRate::ALL
            .into_iter()
            .rfind(|r| self.dsss & 1 << (*r as u8) != 0)
    }

    /// The lowest basic rate of the class of `band` and `preamble`, as a vector. EIFS and
    /// beacons use it. DSSS rates go first where there are any.
    #[must_use]
    pub fn lowest(&self, band: Band) -> TxVector {
        match DsssRate::ALL
            .iter()
            .find(|r| self.dsss & 1 << (**r as u8) != 0)
        {
            Some(rate) if band == Band::Ghz2_4 => {
                TxVector::dsss_at_most_short(*rate, Preamble::Long)
            }
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
    if eliciting.is_dsss() {
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
        return TxVector::dsss_at_most_short(*rate, preamble);
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
        let at = |r| control_response(&TxVector::dsss_at_most_short(r, Preamble::Short), b);
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
            let v = TxVector::of_mcs(
                Generation::Ax,
                mcs,
                1,
                Width::Mhz80,
                GuardInterval::Ns800,
                Band::Ghz5,
            )
            .unwrap();
            assert_eq!(mbps(control_response(&v, a)), answer, "MCS {mcs}");
        }
        let ht = TxVector::of_mcs(
            Generation::N,
            15,
            1,
            Width::Mhz40,
            GuardInterval::Ns400,
            Band::Ghz2_4,
        )
        .unwrap();
        assert_eq!(control_response(&ht, a).generation(), Generation::G);
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
