//! Operating channel information (OCI): takes its three octets, gives the channel that a station or
//! access point says it is on, and whether a receiver on its own channel may believe it.
//!
//! Source: IEEE 802.11-2020 clauses 9.4.2.237 (OCI element), 12.2.9 (operating channel validation),
//! 12.7.2 (OCI KDE) and table E-4 (global operating classes), with class 137 of IEEE 802.11be-2024.

use crate::{Cursor, Error, Result};

const FORMAT: &str = "operating channel information";

/// Operating channel information, 3 octets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct OciRepr {
    /// Global operating class.
    pub operating_class: u8,
    /// Number of the primary channel.
    pub channel: u8,
    /// Number of the centre of segment 1 of an 80+80 MHz channel, else 0.
    pub segment_1: u8,
}

/// Which neighbour of the primary 20 MHz channel a class of 40 MHz adds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Secondary {
    Above,
    Below,
}

/// Properties of the channels of an operating class.
#[derive(Debug, Clone, Copy)]
struct Class {
    number: u8,
    /// Centre of channel 0, MHz.
    start_mhz: u16,
    width_mhz: u16,
    secondary: Option<Secondary>,
    channels: Channels,
}

/// Primary channels of an operating class.
#[derive(Debug, Clone, Copy)]
struct Channels {
    first: u8,
    last: u8,
}

const fn channels(first: u8, last: u8) -> Channels {
    Channels { first, last }
}

const fn class(number: u8, start_mhz: u16, width_mhz: u16, channels: Channels) -> Class {
    Class {
        number,
        start_mhz,
        width_mhz,
        secondary: None,
        channels,
    }
}

const fn pair(number: u8, start_mhz: u16, secondary: Secondary, channels: Channels) -> Class {
    Class {
        secondary: Some(secondary),
        ..class(number, start_mhz, 40, channels)
    }
}

/// The global operating classes of 2.4, 5 and 6 GHz (table E-4), by number.
const CLASSES: [Class; 26] = [
    class(81, 2_407, 20, channels(1, 13)),
    class(82, 2_414, 20, channels(14, 14)),
    pair(83, 2_407, Secondary::Above, channels(1, 9)),
    pair(84, 2_407, Secondary::Below, channels(5, 13)),
    class(115, 5_000, 20, channels(36, 48)),
    pair(116, 5_000, Secondary::Above, channels(36, 44)),
    pair(117, 5_000, Secondary::Below, channels(40, 48)),
    class(118, 5_000, 20, channels(52, 64)),
    pair(119, 5_000, Secondary::Above, channels(52, 60)),
    pair(120, 5_000, Secondary::Below, channels(56, 64)),
    class(121, 5_000, 20, channels(100, 144)),
    pair(122, 5_000, Secondary::Above, channels(100, 140)),
    pair(123, 5_000, Secondary::Below, channels(104, 144)),
    class(124, 5_000, 20, channels(149, 161)),
    class(125, 5_000, 20, channels(149, 177)),
    pair(126, 5_000, Secondary::Above, channels(149, 173)),
    pair(127, 5_000, Secondary::Below, channels(153, 177)),
    class(128, 5_000, 80, channels(36, 177)),
    class(129, 5_000, 160, channels(36, 177)),
    class(130, 5_000, 160, channels(36, 177)),
    class(131, 5_950, 20, channels(1, 233)),
    class(132, 5_950, 40, channels(1, 233)),
    class(133, 5_950, 80, channels(1, 233)),
    class(134, 5_950, 160, channels(1, 233)),
    class(135, 5_950, 160, channels(1, 233)),
    class(137, 5_950, 320, channels(1, 233)),
];

impl Class {
    /// The class of a number, if it is known.
    fn of(number: u8) -> Option<Self> {
        CLASSES.into_iter().find(|class| class.number == number)
    }

    /// Centre of a primary channel, MHz; `None` for a channel that the class has not.
    fn centre_mhz(&self, channel: u8) -> Option<u16> {
        let Channels { first, last } = self.channels;
        (first..=last)
            .contains(&channel)
            .then(|| self.start_mhz + 5 * u16::from(channel))
    }
}

impl OciRepr {
    /// Length, octets.
    pub const OCTETS: usize = 3;

    /// That of a channel whose secondary channels lie above its primary one, which is centred at
    /// `primary_mhz`; `None` where no operating class has such a channel.
    #[must_use]
    pub fn of_channel(primary_mhz: u16, width_mhz: u16) -> Option<Self> {
        let found = CLASSES.into_iter().find_map(|class| {
            let distance = primary_mhz.checked_sub(class.start_mhz)?;
            let channel = u8::try_from(distance / 5).ok()?;
            let fits = class.width_mhz == width_mhz
                && class.secondary != Some(Secondary::Below)
                && class.centre_mhz(channel) == Some(primary_mhz);
            fits.then_some((class.number, channel))
        });
        found.map(|(operating_class, channel)| Self {
            operating_class,
            channel,
            segment_1: 0,
        })
    }

    /// Reads the body of an OCI KDE, of an OCI element or of the subelement of an FT element.
    ///
    /// # Errors
    /// Another length than three octets.
    pub fn parse(body: &[u8]) -> Result<Self> {
        let mut cursor = Cursor::new(FORMAT, body);
        let repr = Self {
            operating_class: cursor.u8()?,
            channel: cursor.u8()?,
            segment_1: cursor.u8()?,
        };
        if cursor.remaining() > 0 {
            return Err(Error::malformed(FORMAT, "has more than three octets"));
        }
        Ok(repr)
    }

    /// The three octets.
    #[must_use]
    pub const fn octets(&self) -> [u8; Self::OCTETS] {
        [self.operating_class, self.channel, self.segment_1]
    }

    /// Centre of the primary 20 MHz channel, MHz; `None` for an unknown operating class, or a channel that
    /// the class has not.
    #[must_use]
    pub fn primary_mhz(&self) -> Option<u16> {
        Class::of(self.operating_class)?.centre_mhz(self.channel)
    }

    /// Channel width, MHz; `None` for an unknown operating class.
    #[must_use]
    pub fn width_mhz(&self) -> Option<u16> {
        Class::of(self.operating_class).map(|class| class.width_mhz)
    }

    /// Whether a receiver on channel `own`, which sends to the other end in at most `width_mhz`, takes
    /// this information for true: both have the same primary channel, and the other end receives
    /// the whole width (12.2.9).
    #[must_use]
    pub fn admits(&self, own: &Self, width_mhz: u16) -> bool {
        let (Some(theirs), Some(ours)) = (
            Class::of(self.operating_class),
            Class::of(own.operating_class),
        ) else {
            return false;
        };
        let centre = theirs.centre_mhz(self.channel);
        if centre.is_none()
            || centre != ours.centre_mhz(own.channel)
            || width_mhz > theirs.width_mhz
        {
            return false;
        }
        // At 5 and 6 GHz the primary channel decides on which side the secondary one lies.
        if width_mhz == 40 && ours.start_mhz == 2_407 && theirs.secondary != ours.secondary {
            return false;
        }
        width_mhz < 160 || self.segment_1 == own.segment_1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn oci(operating_class: u8, channel: u8) -> OciRepr {
        OciRepr {
            operating_class,
            channel,
            segment_1: 0,
        }
    }

    #[test]
    fn a_channel_has_the_class_of_its_band_and_width() {
        for (primary, width, expected) in [
            (2_412, 20, Some((81, 1))),
            (2_472, 20, Some((81, 13))),
            (2_484, 20, Some((82, 14))),
            (2_412, 40, Some((83, 1))),
            (5_180, 20, Some((115, 36))),
            (5_180, 40, Some((116, 36))),
            (5_300, 20, Some((118, 60))),
            (5_500, 40, Some((122, 100))),
            (5_745, 20, Some((124, 149))),
            (5_180, 80, Some((128, 36))),
            (5_180, 160, Some((129, 36))),
            (5_955, 20, Some((131, 1))),
            (5_955, 320, Some((137, 1))),
            (2_412, 80, None),
            (5_342, 20, None),
        ] {
            let found = OciRepr::of_channel(primary, width);
            let found = found.map(|oci| (oci.operating_class, oci.channel));
            assert_eq!(found, expected, "{primary} MHz, {width} MHz wide");
            let back = expected.and_then(|(class, channel)| oci(class, channel).primary_mhz());
            assert_eq!(back, expected.map(|_| primary));
        }
    }

    #[test]
    fn the_primary_channel_and_the_width_decide() {
        let own = oci(128, 36);
        assert!(oci(128, 36).admits(&own, 80));
        // Another primary channel, also of the same 80 MHz.
        assert!(!oci(128, 40).admits(&own, 80));
        assert!(!oci(131, 36).admits(&own, 20));
        // The other end is narrower than what is sent to it, or wide enough.
        assert!(!oci(115, 36).admits(&own, 80));
        assert!(oci(115, 36).admits(&own, 20));
        assert!(oci(129, 36).admits(&own, 80));
        // Not a class, not a channel of the class.
        assert!(!oci(200, 36).admits(&own, 20));
        assert!(!oci(118, 36).admits(&own, 20));
    }

    #[test]
    fn at_2_4_ghz_the_secondary_channel_counts_in_40_mhz() {
        let own = oci(83, 6);
        assert!(oci(83, 6).admits(&own, 40));
        assert!(!oci(84, 6).admits(&own, 40));
        assert!(oci(84, 6).admits(&own, 20));
    }

    #[test]
    fn segment_1_counts_in_160_mhz() {
        let own = oci(130, 36);
        let other = OciRepr {
            segment_1: 155,
            ..own
        };
        assert!(own.admits(&own, 160));
        assert!(!other.admits(&own, 160));
        assert!(other.admits(&own, 80));
    }

    proptest! {
        #[test]
        fn round_trips(operating_class: u8, channel: u8, segment_1: u8) {
            let repr = OciRepr { operating_class, channel, segment_1 };
            prop_assert_eq!(OciRepr::parse(&repr.octets()), Ok(repr));
        }

        #[test]
        fn three_octets_are_read_and_no_others(body in proptest::collection::vec(any::<u8>(), 0..8)) {
            let read = OciRepr::parse(&body);
            prop_assert_eq!(read.is_ok(), body.len() == OciRepr::OCTETS);
        }

        #[test]
        fn any_pair_is_judged(one: [u8; 3], other: [u8; 3], width in 0_u16..400) {
            let of = |[operating_class, channel, segment_1]: [u8; 3]| OciRepr { operating_class, channel, segment_1 };
            let _ = of(one).admits(&of(other), width);
        }
    }
}
