//! Resource units of OFDMA (IEEE 802.11ax-2021, 27.3.2): tones, data subcarriers, and how many there are in a
//! channel.

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
}

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
