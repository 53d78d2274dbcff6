//! Interframe spaces, EDCA parameters and time-outs.
//!
//! Takes a band, a kind of BSS or a response vector; gives durations and windows.

use airtoll_units::Duration;

use crate::airtime::airtime;
use crate::frame_sizes::ACK_OCTETS;
use crate::parameters::Band;
pub use crate::timing_set::TimingSet;
use crate::txvector::TxVector;

impl TimingSet {
    /// The set that stations sending with `v` use in a BSS without older stations.
    #[must_use]
    pub const fn of(v: &TxVector) -> Self {
        match (v.is_dsss(), v.band()) {
            (true, _) => Self::DSSS,
            (false, Band::Ghz2_4) => Self::ERP,
            (false, _) => Self::OFDM,
        }
    }
}

/// DIFS = SIFS + 2 slots (10.3.7).
#[must_use]
pub fn difs(t: &TimingSet) -> Duration {
    t.sifs + t.slot * 2
}

/// AIFS\[AC\] = SIFS + AIFSN slots (10.22.2.4).
#[must_use]
pub fn aifs(t: &TimingSet, aifsn: u32) -> Duration {
    t.sifs + t.slot * u64::from(aifsn)
}

/// EIFS = SIFS + AckTxTime + DIFS, the Ack at the lowest mandatory rate `lowest` (10.3.7).
///
/// Applies after a frame whose PHY header was decoded and whose FCS failed; a receiver that
/// decoded no header waits DIFS.
#[must_use]
pub fn eifs(t: &TimingSet, lowest: &TxVector) -> Duration {
    t.sifs + airtime(lowest, ACK_OCTETS) + difs(t)
}

/// aRxPHYStartDelay of the expected response: the time by which its start is known, that is its
/// preamble with PHY header (Tables 16-4, 17-21 and 19-25).
#[must_use]
pub fn rx_phy_start_delay(response: &TxVector) -> Duration {
    crate::airtime::preamble(response)
}

/// AckTimeout and CTSTimeout = SIFS + slot + aRxPHYStartDelay (10.3.2.11), from the end of the
/// frame that elicits `response`.
#[must_use]
pub fn ack_timeout(t: &TimingSet, response: &TxVector) -> Duration {
    t.sifs + t.slot + rx_phy_start_delay(response)
}

/// EDCA access categories, lowest priority first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AccessCategory {
    /// Background.
    Background,
    /// Best effort.
    BestEffort,
    /// Video.
    Video,
    /// Voice.
    Voice,
}

/// Contention parameters of an access category.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct EdcaParameters {
    /// Slots in the arbitration interframe space.
    pub aifsn: u32,
    /// Smallest window, slots.
    pub cw_min: u32,
    /// Largest window, slots.
    pub cw_max: u32,
    /// TXOP limit; zero means one frame exchange.
    pub txop: Duration,
}

/// Default EDCA parameters of a non-AP station (Table 9-155): windows from the PHY's, TXOP
/// limits of the DSSS or the OFDM column.
#[must_use]
pub fn edca_parameters(ac: AccessCategory, t: &TimingSet, dsss: bool) -> EdcaParameters {
    let (min, max) = (t.cw_min, t.cw_max);
    let micros = |for_dsss, for_ofdm| Duration::from_micros(if dsss { for_dsss } else { for_ofdm });
    match ac {
        AccessCategory::Background => EdcaParameters {
            aifsn: 7,
            cw_min: min,
            cw_max: max,
            txop: Duration::ZERO,
        },
        AccessCategory::BestEffort => EdcaParameters {
            aifsn: 3,
            cw_min: min,
            cw_max: max,
            txop: Duration::ZERO,
        },
        AccessCategory::Video => EdcaParameters {
            aifsn: 2,
            cw_min: min.div_ceil(2).saturating_sub(1),
            cw_max: min,
            txop: micros(6_016, 4_096),
        },
        AccessCategory::Voice => EdcaParameters {
            aifsn: 2,
            cw_min: min.div_ceil(4).saturating_sub(1),
            cw_max: min.div_ceil(2).saturating_sub(1),
            txop: micros(3_264, 2_080),
        },
    }
}

/// How long a station whose triggered data were acknowledged uses the MU EDCA parameters (26.2.7): 255 units
/// of 8 TU, the default of hostapd (`he_mu_edca_ac_be_timer`). Its AIFSN of 0 there forbids contention.
pub const MU_EDCA_TIMER: Duration = Duration::from_micros(255 * 8 * 1_024);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parameters::{DsssRate, OfdmRate, Preamble};

    #[test]
    fn categories_of_a_phy_without_a_window_draw_no_slots() {
        let none = TimingSet {
            cw_min: 0,
            ..TimingSet::OFDM
        };
        for category in [AccessCategory::Video, AccessCategory::Voice] {
            assert_eq!(edca_parameters(category, &none, false).cw_min, 0);
        }
    }

    #[test]
    fn interframe_spaces_of_each_phy() {
        assert_eq!(difs(&TimingSet::DSSS), Duration::from_micros(50));
        assert_eq!(difs(&TimingSet::OFDM), Duration::from_micros(34));
        assert_eq!(difs(&TimingSet::ERP), Duration::from_micros(28));
        assert_eq!(aifs(&TimingSet::OFDM, 3), Duration::from_micros(43));
        let m1 = TxVector::dsss(DsssRate::M1, Preamble::Long).unwrap();
        assert_eq!(eifs(&TimingSet::DSSS, &m1), Duration::from_micros(364));
        let m6 = TxVector::ofdm(OfdmRate::M6, Band::Ghz5);
        assert_eq!(eifs(&TimingSet::OFDM, &m6), Duration::from_micros(94));
    }

    #[test]
    fn time_outs_wait_for_the_header_of_the_response() {
        let m24 = TxVector::ofdm(OfdmRate::M24, Band::Ghz5);
        assert_eq!(
            ack_timeout(&TimingSet::OFDM, &m24),
            Duration::from_micros(16 + 9 + 20)
        );
        let m2 = TxVector::dsss(DsssRate::M2, Preamble::Long).unwrap();
        assert_eq!(
            ack_timeout(&TimingSet::DSSS, &m2),
            Duration::from_micros(10 + 20 + 192)
        );
    }

    #[test]
    fn voice_and_video_windows_follow_from_the_phy() {
        let vo = edca_parameters(AccessCategory::Voice, &TimingSet::OFDM, false);
        assert_eq!((vo.aifsn, vo.cw_min, vo.cw_max), (2, 3, 7));
        let vi = edca_parameters(AccessCategory::Video, &TimingSet::DSSS, true);
        assert_eq!((vi.aifsn, vi.cw_min, vi.cw_max), (2, 15, 31));
    }
}
