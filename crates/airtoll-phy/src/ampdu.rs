//! Size of A-MPDUs: the number of MPDUs that fit, and the length of the PSDU with its delimiters
//! and padding.

use airtoll_units::Duration;

use crate::airtime::airtime;
pub use crate::generation::AmpduLimits;
use crate::txvector::TxVector;

/// Longest PPDU in HT-mixed, VHT, HE and EHT formats: aPPDUMaxTime, 5.484 ms
/// (Tables 19-25, 21-28, 27-53).
pub const PPDU_MAX_TIME: Duration = Duration::from_micros(5_484);

/// MPDU delimiter (9.7.1).
const DELIMITER_OCTETS: u32 = 4;

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

/// Delimiters of length zero between the MPDUs of an A-MPDU, in addition to the usual delimiter and padding
/// (9.7.1). The default adds none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct MpduSpacing {
    /// Fewest octets from the start of an MPDU to that of the next.
    start_octets: u32,
    /// Octets of the delimiters that the sender adds after each MPDU.
    delimiter_octets: u32,
}

/// Octets between two MPDUs of an A-MPDU beyond the usual delimiter and padding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AddedOctets {
    /// Those of the sender's delimiters.
    pub delimiters: u32,
    /// Those that the receiver's spacing adds beyond.
    pub spacing: u32,
}

impl MpduSpacing {
    /// At the data rate of `v`: an MPDU starts at least `start` after the one before it (Minimum MPDU Start
    /// Spacing of the receiver, 9.4.2.55.3; the octets of 10.12.3), and at least `delimiters` delimiters
    /// follow each.
    #[must_use]
    pub fn new(v: &TxVector, start: Duration, delimiters: u32) -> Self {
        let bits = u128::from(start.as_nanos()) * u128::from(v.bit_rate().0);
        let octets = bits.div_ceil(8_000_000_000) as u32;
        Self {
            start_octets: octets.next_multiple_of(4),
            delimiter_octets: delimiters * DELIMITER_OCTETS,
        }
    }

    /// Octets from the delimiter of an MPDU of `mpdu_octets` octets to that of the next one.
    #[must_use]
    #[inline]
    pub const fn subframe_octets(self, mpdu_octets: u32) -> u32 {
        let own = subframe_octets(mpdu_octets) + self.delimiter_octets;
        if own < self.start_octets {
            self.start_octets
        } else {
            own
        }
    }

    /// Those of them that are neither the MPDU nor its own delimiter and padding.
    #[must_use]
    #[inline]
    pub const fn added_octets(self, mpdu_octets: u32) -> AddedOctets {
        let more = self.subframe_octets(mpdu_octets) - subframe_octets(mpdu_octets);
        AddedOctets {
            delimiters: self.delimiter_octets,
            spacing: more - self.delimiter_octets,
        }
    }
}

/// Octets of an A-MPDU of `count` MPDUs of `mpdu_octets` octets each (FCS included): a delimiter
/// before each; padding to four octets and `spacing` after all but the last (9.7.1).
#[must_use]
pub const fn ampdu_octets(mpdu_octets: u32, count: u32, spacing: MpduSpacing) -> u32 {
    if count == 0 {
        return 0;
    }
    (count - 1) * spacing.subframe_octets(mpdu_octets) + DELIMITER_OCTETS + mpdu_octets
}

/// How many equal MPDUs of `mpdu_octets` octets one A-MPDU takes: within `max_octets`, `window`
/// and [`PPDU_MAX_TIME`]. At least one, even where one MPDU exceeds the time limit.
#[must_use]
pub fn max_mpdus(
    v: &TxVector,
    mpdu_octets: u32,
    max_octets: u32,
    window: u32,
    spacing: MpduSpacing,
) -> u32 {
    let padded = spacing.subframe_octets(mpdu_octets);
    let by_octets = match max_octets.checked_sub(DELIMITER_OCTETS + mpdu_octets) {
        Some(rest) => 1 + rest / padded,
        None => 1,
    };
    let mut count = by_octets.min(window).max(1);
    if airtime(v, ampdu_octets(mpdu_octets, count, spacing)) > PPDU_MAX_TIME {
        let (mut fits, mut breaks) = (1, count);
        while breaks - fits > 1 {
            let middle = fits + (breaks - fits) / 2;
            if airtime(v, ampdu_octets(mpdu_octets, middle, spacing)) > PPDU_MAX_TIME {
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

    const NONE: MpduSpacing = MpduSpacing {
        start_octets: 0,
        delimiter_octets: 0,
    };

    #[test]
    fn only_the_last_subframe_goes_unpadded() {
        assert_eq!(ampdu_octets(1538, 1, NONE), 1542);
        assert_eq!(ampdu_octets(1538, 2, NONE), 1544 + 1542);
        assert_eq!(ampdu_octets(1540, 3, NONE), 3 * 1544);
    }

    #[test]
    fn short_mpdus_keep_the_spacing_of_the_receiver_and_the_delimiters_of_the_sender() {
        let v = TxVector::of_mcs(
            Generation::N,
            7,
            1,
            Width::Mhz40,
            GuardInterval::Ns400,
            Band::Ghz2_4,
        )
        .unwrap();
        let added = |delimiters, spacing| AddedOctets {
            delimiters,
            spacing,
        };
        // 8 us at 150 Mb/s are 150 octets; 16 us are 300.
        let [eight, sixteen] = [8, 16].map(|us| MpduSpacing::new(&v, Duration::from_micros(us), 0));
        assert_eq!(eight.subframe_octets(66), 152);
        assert_eq!(eight.added_octets(66), added(0, 152 - 72));
        assert_eq!(eight.subframe_octets(310), 316);
        assert_eq!(sixteen.subframe_octets(200), 300);
        assert_eq!(ampdu_octets(66, 3, eight), 2 * 152 + 70);
        // Ten delimiters of a sender fill a part of what the spacing asks for.
        let both = MpduSpacing::new(&v, Duration::from_micros(8), 10);
        assert_eq!(both.subframe_octets(66), 152);
        assert_eq!(both.added_octets(66), added(40, 152 - 72 - 40));
        assert_eq!(both.subframe_octets(310), 356);
        assert_eq!(both.added_octets(310), added(40, 0));
        // A quarter of a microsecond binds no MPDU.
        let short = MpduSpacing::new(&v, Duration::from_nanos(250), 0);
        assert_eq!(short.subframe_octets(28), 32);
        assert_eq!(max_mpdus(&v, 310, 65_535, 64, NONE), 64);
        assert_eq!(max_mpdus(&v, 1_100, 65_535, 64, NONE), 59);
        assert_eq!(max_mpdus(&v, 1_100, 65_535, 64, both), 57);
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
        assert_eq!(max_mpdus(&fast, 1538, 65_535, 256, NONE), 42);
        assert_eq!(max_mpdus(&fast, 1538, 6_500_631, 64, NONE), 64);
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
        let n = max_mpdus(&slow, 1538, 65_535, 64, NONE);
        assert_eq!(n, 2);
        assert!(airtime(&slow, ampdu_octets(1538, n, NONE)) <= PPDU_MAX_TIME);
        assert!(airtime(&slow, ampdu_octets(1538, n + 1, NONE)) > PPDU_MAX_TIME);
    }
}
