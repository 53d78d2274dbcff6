//! How much an A-MPDU may hold.
//!
//! Takes a format, the octets of one MPDU and the limits in force; gives how many MPDUs fit and
//! how long the PSDU becomes. Delimiter and padding are real octets on air, so they count.

use airtoll_units::Duration;

use crate::airtime::airtime;
use crate::format::Format;
use crate::txvector::TxVector;

/// Longest PPDU in HT-mixed, VHT, HE and EHT formats: aPPDUMaxTime, 5.484 ms
/// (Tables 19-25, 21-28, 27-53).
pub const PPDU_MAX_TIME: Duration = Duration::from_micros(5_484);

/// MPDU delimiter (9.7.1).
const DELIMITER_OCTETS: u32 = 4;

/// What bounds an A-MPDU of a format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct AmpduLimits {
    /// Most octets of the A-MPDU.
    pub octets: u32,
    /// Most MPDUs, the largest block ack window.
    pub mpdus: u32,
    /// Most octets of one MPDU (HT: of one MPDU in an A-MPDU).
    pub mpdu_octets: u32,
}

/// Limits of the format of `v`; `None` where it does not aggregate.
///
/// HT 65,535 octets and window 64 (9.4.2.55.3), VHT 1,048,575 and 64 (9.4.2.157.2), HE
/// 6,500,631 and 256 (26.6, 27.2), EHT 15,523,200 and 1024 (35.6); MPDUs of 4095 octets in an
/// HT A-MPDU (9.3.2.1) and 11,454 after.
#[must_use]
pub const fn ampdu_limits(v: &TxVector) -> Option<AmpduLimits> {
    let (octets, mpdus, mpdu_octets) = match v.format() {
        Format::Dsss | Format::Ofdm | Format::ErpOfdm => return None,
        Format::HtMixed => (65_535, 64, 4_095),
        Format::Vht => (1_048_575, 64, 11_454),
        Format::HeSu => (6_500_631, 256, 11_454),
        Format::EhtSu => (15_523_200, 1_024, 11_454),
    };
    Some(AmpduLimits {
        octets,
        mpdus,
        mpdu_octets,
    })
}

/// Octets of an A-MPDU of `count` MPDUs of `mpdu_octets` octets each (FCS included): a delimiter
/// before each, padding to four octets after all but the last (9.7.1).
#[must_use]
pub const fn ampdu_octets(mpdu_octets: u32, count: u32) -> u32 {
    if count == 0 {
        return 0;
    }
    let padded = (DELIMITER_OCTETS + mpdu_octets).next_multiple_of(4);
    (count - 1) * padded + DELIMITER_OCTETS + mpdu_octets
}

/// How many equal MPDUs of `mpdu_octets` octets one A-MPDU takes: within `max_octets`, `window`
/// and [`PPDU_MAX_TIME`]. At least one; a single MPDU may break the time limit only because no
/// smaller A-MPDU exists.
#[must_use]
pub fn max_mpdus(v: &TxVector, mpdu_octets: u32, max_octets: u32, window: u32) -> u32 {
    let padded = (DELIMITER_OCTETS + mpdu_octets).next_multiple_of(4);
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
    use crate::parameters::{Band, GuardInterval, Width};

    #[test]
    fn only_the_last_subframe_goes_unpadded() {
        assert_eq!(ampdu_octets(1538, 1), 1542);
        assert_eq!(ampdu_octets(1538, 2), 1544 + 1542);
        assert_eq!(ampdu_octets(1540, 3), 3 * 1544);
    }

    #[test]
    fn each_limit_can_bind() {
        let fast = TxVector::he(11, Width::Mhz80, GuardInterval::Ns800, 1, Band::Ghz5).unwrap();
        // 65535 / 1544 = 42.4
        assert_eq!(max_mpdus(&fast, 1538, 65_535, 256), 42);
        assert_eq!(max_mpdus(&fast, 1538, 6_500_631, 64), 64);
        let slow = TxVector::ht(0, Width::Mhz20, GuardInterval::Ns800, Band::Ghz5).unwrap();
        // 6.5 Mb/s for 5.448 ms of data: two MPDUs.
        let n = max_mpdus(&slow, 1538, 65_535, 64);
        assert_eq!(n, 2);
        assert!(airtime(&slow, ampdu_octets(1538, n)) <= PPDU_MAX_TIME);
        assert!(airtime(&slow, ampdu_octets(1538, n + 1)) > PPDU_MAX_TIME);
    }
}
