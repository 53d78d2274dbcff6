//! 20 MHz channels that a frame covers, and how much of it a radio on another channel senses (IEEE 802.11-2020,
//! 21.3.18.5).
//!
//! 20 MHz channels are numbered from the first one of the radio channel. A channel of 2^n of them begins at a
//! multiple of 2^n, so that two channels are apart or one is inside the other.

use crate::scenario::Bss;

/// Secondary channels of 20, 40, 80 and 160 MHz.
pub(super) const SECONDARIES: usize = 4;

/// Level from which a PPDU of 20 or 40 MHz in a secondary channel makes it busy, dBm (21.3.18.5.4); wider ones
/// have 3 dB more for each doubling.
const SECONDARY_DBM: f64 = -72.0;

/// The channel of a radio.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Tuning {
    /// Its primary 20 MHz channel.
    pub primary: u8,
    /// Its width is 20 MHz times two to this.
    pub step: u8,
}

impl Tuning {
    /// That of the radios in a BSS.
    pub fn of(bss: &Bss) -> Self {
        Self {
            primary: bss.primary,
            step: (bss.width_mhz / 20).max(1).ilog2() as u8,
        }
    }
}

/// 20 MHz channels side by side, from a multiple of their number on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Block {
    first: u8,
    step: u8,
}

impl Block {
    /// The one of a width that a 20 MHz channel is in.
    pub fn around(channel: u8, step: u8) -> Self {
        let first = channel >> step << step;
        Self { first, step }
    }

    /// Its first 20 MHz channel.
    pub fn first(self) -> usize {
        usize::from(self.first)
    }

    /// Whether a 20 MHz channel is in it.
    pub fn holds(self, channel: u8) -> bool {
        channel >> self.step == self.first >> self.step
    }

    /// The share of it that another one covers.
    pub fn share_in(self, other: Self) -> f64 {
        if other.step >= self.step {
            f64::from(u8::from(other.holds(self.first)))
        } else if self.holds(other.first) {
            1.0 / f64::from(1_u32 << (self.step - other.step))
        } else {
            0.0
        }
    }

    /// How many 20 MHz channels it has.
    pub fn channels(self) -> f64 {
        f64::from(1_u32 << self.step)
    }

    /// Its bandwidth, Hz.
    pub fn hertz(self) -> f64 {
        20e6 * self.channels()
    }
}

/// The part of a frame that a radio senses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sensed {
    /// Nothing.
    Nothing,
    /// Its energy in the secondary channel with this number: 20 MHz times two to it.
    Secondary(u8),
    /// Its preamble on the primary channel. It is wider than the radio's channel: only copies are read.
    Preamble,
    /// All of it.
    Whole,
}

impl Sensed {
    /// The part that a radio senses of a frame, with the primary channel of its sender and its own width, at a
    /// level, dBm.
    pub fn of(own: Tuning, frame: Tuning, level_dbm: f64, carrier_sense_dbm: f64) -> Self {
        let step = frame.step;
        let frame = Block::around(frame.primary, step);
        let share = frame.share_in(Block::around(own.primary, own.step));
        if share == 0.0 {
            return Self::Nothing;
        }
        if !frame.holds(own.primary) {
            // A smaller block inside its channel: in one secondary channel.
            let beyond_40 = f64::from(step.saturating_sub(1));
            if level_dbm < SECONDARY_DBM + 3.0 * beyond_40 {
                return Self::Nothing;
            }
            let secondary = (own.primary ^ frame.first).ilog2();
            return Self::Secondary(secondary as u8);
        }
        if level_dbm + 10.0 * libm::log10(share) < carrier_sense_dbm {
            Self::Nothing
        } else if step > own.step {
            Self::Preamble
        } else {
            Self::Whole
        }
    }

    /// Whether it keeps the medium busy.
    pub fn is_busy(self) -> bool {
        matches!(self, Self::Preamble | Self::Whole)
    }

    /// A number for it.
    pub fn number(self) -> u32 {
        match self {
            Self::Nothing => 0,
            Self::Preamble => 1,
            Self::Whole => 2,
            Self::Secondary(number) => 3 + u32::from(number),
        }
    }

    /// Numbers are below it.
    pub const NUMBERS: u32 = 3 + SECONDARIES as u32;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sensed(own: (u8, u8), from: (u8, u8), level: f64) -> Sensed {
        let [own, frame] = [own, from].map(|(primary, step)| Tuning { primary, step });
        Sensed::of(own, frame, level, -82.0)
    }

    #[test]
    fn blocks_are_apart_or_nested() {
        let block = Block::around;
        assert_eq!(block(6, 1), Block { first: 6, step: 1 });
        assert_eq!(block(7, 2), Block { first: 4, step: 2 });
        assert_eq!(block(0, 2).share_in(block(2, 1)), 0.5);
        assert_eq!(block(0, 3).share_in(block(5, 0)), 0.125);
        assert_eq!(block(2, 1).share_in(block(0, 2)), 1.0);
        assert_eq!(block(2, 1).share_in(block(0, 1)), 0.0);
        assert_eq!(block(0, 1).share_in(block(2, 1)), 0.0);
        assert_eq!(block(0, 2).hertz(), 80e6);
    }

    #[test]
    fn the_primary_channel_is_sensed_from_minus_82_dbm_and_secondary_ones_from_minus_72() {
        // 80 MHz with the primary channel 0, and frames of 20 MHz.
        let own = (0, 2);
        assert_eq!(sensed(own, (0, 0), -82.0), Sensed::Whole);
        assert_eq!(sensed(own, (0, 0), -82.1), Sensed::Nothing);
        assert_eq!(sensed(own, (1, 0), -72.0), Sensed::Secondary(0));
        assert_eq!(sensed(own, (1, 0), -72.1), Sensed::Nothing);
        for channel in [2, 3] {
            assert_eq!(sensed(own, (channel, 0), -72.0), Sensed::Secondary(1));
        }
        assert_eq!(sensed(own, (4, 0), 0.0), Sensed::Nothing);
        // The primary channel may be any.
        assert_eq!(sensed((2, 2), (3, 0), -60.0), Sensed::Secondary(0));
        assert_eq!(sensed((2, 2), (1, 0), -60.0), Sensed::Secondary(1));
    }

    #[test]
    fn wider_frames_in_a_secondary_channel_have_3_db_for_each_doubling() {
        // 320 MHz: 40 MHz in the secondary 40, 80 in the secondary 80, 160 in the secondary 160.
        let own = (0, 4);
        for (from, number, least) in [((2, 1), 1, -72.0), ((4, 2), 2, -69.0), ((8, 3), 3, -66.0)] {
            assert_eq!(sensed(own, from, least), Sensed::Secondary(number));
            assert_eq!(sensed(own, from, least - 0.1), Sensed::Nothing);
        }
    }

    #[test]
    fn of_a_wider_frame_a_receiver_has_its_share() {
        // A quarter of 80 MHz: 6.02 dB less.
        assert_eq!(sensed((0, 0), (0, 2), -75.9), Sensed::Preamble);
        assert_eq!(sensed((0, 0), (0, 2), -76.1), Sensed::Nothing);
        // It covers the primary channel wherever its own one is.
        assert_eq!(sensed((0, 0), (3, 2), -75.9), Sensed::Preamble);
        assert_eq!(sensed((0, 2), (3, 2), -82.0), Sensed::Whole);
    }

    #[test]
    fn numbers_of_what_is_sensed_differ() {
        let secondaries = (0..SECONDARIES as u8).map(Sensed::Secondary);
        let others = [Sensed::Nothing, Sensed::Preamble, Sensed::Whole];
        let mut numbers: Vec<u32> = others
            .into_iter()
            .chain(secondaries)
            .map(Sensed::number)
            .collect();
        numbers.sort_unstable();
        assert_eq!(numbers, (0..Sensed::NUMBERS).collect::<Vec<_>>());
    }
}
