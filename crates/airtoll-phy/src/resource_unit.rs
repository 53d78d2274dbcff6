//! Resource units of OFDMA (IEEE 802.11ax-2021, 27.3.2): tones, data subcarriers, and how many there are in a
//! channel.

use core::ops::Range;

use crate::parameters::Width;

/// A resource unit by its tones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ResourceUnit {
    /// 26 tones.
    Tones26,
    /// 52 tones.
    Tones52,
    /// 106 tones.
    Tones106,
    /// 242 tones: 20 MHz.
    Tones242,
    /// 484 tones: 40 MHz.
    Tones484,
    /// 996 tones: 80 MHz.
    Tones996,
    /// Twice 996 tones: 160 MHz.
    Tones2x996,
}

impl ResourceUnit {
    /// All, the smallest first.
    pub const ALL: [Self; 7] = [
        Self::Tones26,
        Self::Tones52,
        Self::Tones106,
        Self::Tones242,
        Self::Tones484,
        Self::Tones996,
        Self::Tones2x996,
    ];

    /// Its tones, pilots included.
    #[must_use]
    pub const fn tones(self) -> u32 {
        match self {
            Self::Tones26 => 26,
            Self::Tones52 => 52,
            Self::Tones106 => 106,
            Self::Tones242 => 242,
            Self::Tones484 => 484,
            Self::Tones996 => 996,
            Self::Tones2x996 => 2 * 996,
        }
    }

    /// Data subcarriers (N_SD, Table 27-15).
    #[must_use]
    pub const fn data_subcarriers(self) -> u32 {
        match self {
            Self::Tones26 => 24,
            Self::Tones52 => 48,
            Self::Tones106 => 102,
            Self::Tones242 => 234,
            Self::Tones484 => 468,
            Self::Tones996 => 980,
            Self::Tones2x996 => 2 * 980,
        }
    }

    /// Data subcarriers of a quarter of the last symbol (N_SD,short, Table 27-33), by the data subcarriers of
    /// the whole one; those of EHT's 4 x 996 tones too. `None` where no unit has so many.
    #[must_use]
    pub(crate) const fn quarter_subcarriers(data_subcarriers: u32) -> Option<u32> {
        Some(match data_subcarriers {
            24 => 6,
            48 => 12,
            102 => 24,
            234 => 60,
            468 => 120,
            980 => 240,
            1_960 => 492,
            3_920 => 984,
            _ => return None,
        })
    }

    /// How many there are in a channel (Table 27-8); 0 in a narrower one. A channel of 320 MHz has those of
    /// two channels of 160 MHz.
    #[must_use]
    pub const fn count(self, width: Width) -> u32 {
        // The centre of 80 MHz holds a 26-tone unit more than four times 20 MHz.
        let (per_20, per_40, per_80) = match self {
            Self::Tones26 => (9, 18, 37),
            Self::Tones52 => (4, 8, 16),
            Self::Tones106 => (2, 4, 8),
            Self::Tones242 => (1, 2, 4),
            Self::Tones484 => (0, 1, 2),
            Self::Tones996 => (0, 0, 1),
            Self::Tones2x996 => match width {
                Width::Mhz160 => return 1,
                Width::Mhz320 => return 2,
                _ => return 0,
            },
        };
        match width {
            Width::Mhz20 => per_20,
            Width::Mhz40 => per_40,
            Width::Mhz80 => per_80,
            Width::Mhz160 => 2 * per_80,
            Width::Mhz320 => 4 * per_80,
        }
    }

    /// The tones of the unit with a number, from the lowest frequency on, in a channel (Tables 27-7 to 27-9). They are
    /// counted from the first tone of the channel, guard tones included, and include those of a gap inside the
    /// unit. Numbers above the last one have its tones.
    #[must_use]
    pub(crate) fn tones_in(self, width: Width, number: u32) -> Range<u32> {
        let number = number.min(self.count(width).saturating_sub(1));
        if self == Self::Tones2x996 {
            let first = 2 * TONES_OF_80 * number;
            return first + 12..first + TONES_OF_80 + 1_013;
        }
        // A channel of 160 or 320 MHz is made of such of 80 MHz.
        let part = if width.mhz() > 80 {
            Width::Mhz80
        } else {
            width
        };
        let (block, number) = (number / self.count(part), number % self.count(part));
        let tones = self.tones_in_block(part, number);
        let before = block * TONES_OF_80;
        before + tones.start..before + tones.end
    }

    /// The same in a channel of up to 80 MHz, for a number below the count.
    fn tones_in_block(self, width: Width, number: u32) -> Range<u32> {
        // The first tone of each 242-tone unit.
        let groups: &[u32] = match width {
            Width::Mhz20 => &[6],
            Width::Mhz40 => &[12, 259],
            _ => &[12, 254, 529, 771],
        };
        let narrow = groups.len() == 1;
        // Units inside it, from its first tone on; the gap in the middle of 20 MHz moves the upper half.
        let starts: &[u32] = match (self, narrow) {
            (Self::Tones26, true) => &[1, 27, 54, 80, 106, 139, 165, 192, 218],
            (Self::Tones26, false) => &[1, 27, 55, 81, 108, 135, 161, 189, 215],
            (Self::Tones52, true) => &[1, 54, 139, 192],
            (Self::Tones52, false) => &[1, 55, 135, 189],
            (Self::Tones106, true) => &[0, 139],
            (Self::Tones106, false) => &[1, 135],
            _ => &[0],
        };
        match self {
            Self::Tones26 | Self::Tones52 | Self::Tones106 => {
                let mut number = number as usize;
                if self == Self::Tones26 && groups.len() == 4 {
                    if number == CENTRAL {
                        return 496..529;
                    }
                    number -= usize::from(number > CENTRAL);
                }
                let at = number % starts.len();
                let first = groups[number / starts.len()] + starts[at];
                let gap = if self == Self::Tones26 && narrow && at == 4 {
                    7
                } else {
                    0
                };
                first..first + self.tones() + gap
            }
            Self::Tones242 if narrow => 6..251,
            Self::Tones484 if groups.len() == 2 => 12..501,
            Self::Tones242 | Self::Tones484 => {
                let first = groups[number as usize * groups.len() / self.count(width) as usize];
                first..first + self.tones()
            }
            Self::Tones996 | Self::Tones2x996 => 12..1_013,
        }
    }
}

/// Tones of 80 MHz, and the number of the 26-tone unit in its centre.
const TONES_OF_80: u32 = 1_024;
const CENTRAL: usize = 18;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn channels_hold_the_units_of_the_tone_plans() {
        let counts = |width| ResourceUnit::ALL.map(|unit| unit.count(width));
        assert_eq!(counts(Width::Mhz20), [9, 4, 2, 1, 0, 0, 0]);
        assert_eq!(counts(Width::Mhz40), [18, 8, 4, 2, 1, 0, 0]);
        assert_eq!(counts(Width::Mhz80), [37, 16, 8, 4, 2, 1, 0]);
        assert_eq!(counts(Width::Mhz160), [74, 32, 16, 8, 4, 2, 1]);
    }

    #[test]
    fn units_have_the_tones_of_the_standard() {
        // Tables 27-7, 27-8 and 27-9, tones counted from the centre of the channel.
        for (unit, width, number, first, last) in [
            (ResourceUnit::Tones26, Width::Mhz20, 0, -121, -96),
            (ResourceUnit::Tones26, Width::Mhz20, 4, -16, 16),
            (ResourceUnit::Tones26, Width::Mhz20, 8, 96, 121),
            (ResourceUnit::Tones52, Width::Mhz20, 1, -68, -17),
            (ResourceUnit::Tones106, Width::Mhz20, 1, 17, 122),
            (ResourceUnit::Tones242, Width::Mhz20, 0, -122, 122),
            (ResourceUnit::Tones26, Width::Mhz40, 5, -109, -84),
            (ResourceUnit::Tones26, Width::Mhz40, 9, 4, 29),
            (ResourceUnit::Tones52, Width::Mhz40, 7, 192, 243),
            (ResourceUnit::Tones242, Width::Mhz40, 1, 3, 244),
            (ResourceUnit::Tones484, Width::Mhz40, 0, -244, 244),
            (ResourceUnit::Tones26, Width::Mhz80, 13, -150, -125),
            (ResourceUnit::Tones26, Width::Mhz80, 18, -16, 16),
            (ResourceUnit::Tones26, Width::Mhz80, 36, 474, 499),
            (ResourceUnit::Tones52, Width::Mhz80, 7, -69, -18),
            (ResourceUnit::Tones52, Width::Mhz80, 8, 18, 69),
            (ResourceUnit::Tones106, Width::Mhz80, 2, -257, -152),
            (ResourceUnit::Tones242, Width::Mhz80, 2, 17, 258),
            (ResourceUnit::Tones484, Width::Mhz80, 1, 17, 500),
            (ResourceUnit::Tones996, Width::Mhz80, 0, -500, 500),
            (ResourceUnit::Tones996, Width::Mhz160, 1, 12, 1_012),
            (ResourceUnit::Tones2x996, Width::Mhz160, 0, -1_012, 1_012),
        ] {
            let middle = i64::from(width.mhz()) * 128 / 20;
            let own = unit.tones_in(width, number);
            let own = (
                i64::from(own.start) - middle,
                i64::from(own.end) - 1 - middle,
            );
            assert_eq!(own, (first, last), "{unit:?} {width:?} {number}");
        }
        for width in [
            Width::Mhz20,
            Width::Mhz40,
            Width::Mhz80,
            Width::Mhz160,
            Width::Mhz320,
        ] {
            for unit in ResourceUnit::ALL {
                for number in 1..unit.count(width) {
                    let (before, own) = (
                        unit.tones_in(width, number - 1),
                        unit.tones_in(width, number),
                    );
                    assert!(before.end <= own.start, "{width:?} {unit:?} {number}");
                }
            }
        }
    }

    #[test]
    fn units_fit_into_their_channel() {
        for width in [Width::Mhz20, Width::Mhz40, Width::Mhz80, Width::Mhz160] {
            // 242, 484, 996 and 2x996 tones.
            let all = ResourceUnit::ALL.iter().filter(|u| u.count(width) == 1);
            let most = all.map(|u| u.tones()).max().unwrap();
            for unit in ResourceUnit::ALL {
                assert!(
                    unit.count(width) * unit.tones() <= most,
                    "{width:?} {unit:?}"
                );
            }
        }
    }
}
