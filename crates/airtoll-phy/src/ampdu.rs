//! Size of A-MPDUs: the number of MPDUs that fit, and the length of the PSDU with its delimiters
//! and padding.

use airtoll_units::Duration;

use crate::airtime::airtime;
use crate::txvector::TxVector;

/// Longest PPDU in HT-mixed, VHT, HE and EHT formats: aPPDUMaxTime, 5.484 ms
/// (Tables 19-25, 21-28, 27-53).
pub const PPDU_MAX_TIME: Duration = Duration::from_micros(5_484);

/// MPDU delimiter (9.7.1).
const DELIMITER_OCTETS: u32 = 4;

/// Limits of aggregation of a generation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct AmpduLimits {
    /// Most octets of the A-MPDU.
    pub octets: u32,
    /// Most MPDUs, the largest block ack window.
    pub mpdus: u32,
    /// Most octets of one MPDU (HT: of one MPDU in an A-MPDU).
    pub mpdu_octets: u32,
    /// Most octets of an A-MSDU.
    pub amsdu_octets: u32,
}

impl AmpduLimits {
    /// Most octets of one MPDU sent with `v` where A-MPDUs have at most `ampdu_octets` octets, 0:
    /// none. HT bounds an MPDU only where it may travel in an A-MPDU (9.3.2.1: 4095 octets, the
    /// MPDU Length field of the delimiter); alone, the A-MSDU length of the HT Capabilities
    /// element (3839 or 7935 octets, 9.4.2.55.2) bounds it.
    #[must_use]
    pub fn mpdu(&self, v: &TxVector, ampdu_octets: u32) -> u32 {
        if ampdu_octets > 0 || v.always_ampdu() {
            self.mpdu_octets
        } else {
            u32::MAX
        }
    }
}

/// Limits of the generation of `v`; `None` where it does not aggregate.
#[must_use]
pub const fn ampdu_limits(v: &TxVector) -> Option<AmpduLimits> {
    v.generation().descriptor().ampdu
}

/// Octets of an A-MPDU subframe that holds an MPDU of `mpdu_octets` octets: delimiter and padding
/// included (9.7.1; the last subframe is not padded).
#[must_use]
pub const fn subframe_octets(mpdu_octets: u32) -> u32 {
    (DELIMITER_OCTETS + mpdu_octets).next_multiple_of(4)
}

/// Octets of an A-MPDU of `count` MPDUs of `mpdu_octets` octets each (FCS included): a delimiter
/// before each, padding to four octets after all but the last (9.7.1).
#[must_use]
pub const fn ampdu_octets(mpdu_octets: u32, count: u32) -> u32 {
    if count == 0 {
        return 0;
    }
    let padded = subframe_octets(mpdu_octets);
    (count - 1) * padded + DELIMITER_OCTETS + mpdu_octets
}

/// How many equal MPDUs of `mpdu_octets` octets one A-MPDU takes: within `max_octets`, `window`
/// and [`PPDU_MAX_TIME`]. At least one, even where one MPDU exceeds the time limit.
#[must_use]
pub fn max_mpdus(v: &TxVector, mpdu_octets: u32, max_octets: u32, window: u32) -> u32 {
    let padded = subframe_octets(mpdu_octets);
    let by_octets = match max_octets.checked_sub(DELIMITER_OCTETS + mpdu_octets) {
        Some(rest) => 1 + rest / padded,
        None => 1,
    };
    let mut count = by_octets.min(window).max(1);
    if airtime(v, ampdu_octets(mpdu_octets, count)) > PPDU_MAX_TIME {
        let (mut fits, mut breaks) = (1, count);
        while breaks - fits > 1 {
            let middle = fits + (breaks - fits) / 2;
            if airtime(v, ampdu_octets(mpdu_octets, middle)) > PPDU_MAX_TIME {
                breaks = middle;
            } else {
                fits = middle;
            }
        }
        count = fits;
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generation::Generation;
    use crate::parameters::{Band, GuardInterval, Width};

    #[test]
    fn only_the_last_subframe_goes_unpadded() {
        assert_eq!(ampdu_octets(1538, 1), 1542);
        assert_eq!(ampdu_octets(1538, 2), 1544 + 1542);
        assert_eq!(ampdu_octets(1540, 3), 3 * 1544);
    }

    #[test]
    fn each_limit_can_bind() {
        let fast = TxVector::of_mcs(
            Generation::Ax,
            11,
            1,
            Width::Mhz80,
            GuardInterval::Ns800,
            Band::Ghz5,
        )
        .unwrap();
        // 65535 / 1544 = 42.4
        assert_eq!(max_mpdus(&fast, 1538, 65_535, 256), 42);
        assert_eq!(max_mpdus(&fast, 1538, 6_500_631, 64), 64);
        let slow = TxVector::of_mcs(
            Generation::N,
            0,
            1,
            Width::Mhz20,
            GuardInterval::Ns800,
            Band::Ghz5,
        )
        .unwrap();
        // 6.5 Mb/s for 5.448 ms of data: two MPDUs.
        let n = max_mpdus(&slow, 1538, 65_535, 64);
        assert_eq!(n, 2);
        assert!(airtime(&slow, ampdu_octets(1538, n)) <= PPDU_MAX_TIME);
        assert!(airtime(&slow, ampdu_octets(1538, n + 1)) > PPDU_MAX_TIME);
    }
}
