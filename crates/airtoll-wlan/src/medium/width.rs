//! Channels of different widths on the same air: which 20 MHz channels a frame covers, who senses it on its
//! primary channel, and the clear channel assessment of secondary channels (IEEE 802.11-2020, 21.3.18.5 and
//! 10.23.2.5).
//!
//! 20 MHz channels are numbered from the first one of the radio channel. A channel of 2^n of them begins at a
//! multiple of 2^n, so that two channels are apart or one is inside the other. A frame that covers the primary
//! channel of a station keeps its medium busy. One that covers another part of its channel is inside one
//! of its secondary channels: the station counts on, and a TXOP that begins meanwhile is narrower.

use airtoll_units::{Duration, Instant};

use super::radio::Radio;
use super::{Mark, Medium, Origin, Transmission};
use crate::id::{ChannelId, ClassId, RadioId, Table};

/// Secondary channels of 20, 40, 80 and 160 MHz.
const SECONDARIES: usize = 4;

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

    /// Its bandwidth, Hz.
    pub fn hertz(self) -> f64 {
        20e6 * f64::from(1_u32 << self.step)
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
    /// The part that a radio senses of a frame of a width whose sender has the primary channel `from`, at a level, dBm.
    pub fn of(own: Tuning, (from, step): (u8, u8), level_dbm: f64, carrier_sense_dbm: f64) -> Self {
        let frame = Block::around(from, step);
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

/// Listeners to the frames of a radio that have one width.
#[derive(Debug, Clone, Default)]
struct Listeners {
    /// Classes whose medium it makes busy, those that can read all of it first.
    classes: Vec<ClassId>,
    /// How many can.
    whole: usize,
    /// Classes that sense it in a secondary channel, with its number.
    beside: Vec<(ClassId, u8)>,
    /// It makes the medium of an own access point busy.
    own: bool,
}

/// A radio on a channel.
#[derive(Debug, Clone, Default)]
struct Member {
    tuning: Tuning,
    /// By the widths of its frames.
    listeners: Vec<Listeners>,
    /// It is of a neighbour's BSS.
    neighbour: bool,
}

/// A secondary channel as a class senses it.
#[derive(Debug, Clone, Copy, Default)]
struct Secondary {
    /// Frames in it.
    active: u32,
    /// When the last one ended.
    idle_since: Option<Instant>,
}

/// Widths on all channels, where those of some neighbour differ.
#[derive(Debug, Default)]
pub(super) struct Widths {
    members: Vec<Member>,
    /// By channels and classes.
    secondaries: Table<ChannelId, Vec<[Secondary; SECONDARIES]>>,
}

impl Widths {
    /// The next channel has these radios; `class_of`: the sensing class of each.
    pub fn add_channel(&mut self, radio: &Radio, members: &[RadioId], class_of: &[ClassId]) {
        let classes = class_of.iter().max().map_or(0, |c| c.index() + 1);
        let none = [Secondary::default(); SECONDARIES];
        self.secondaries.push(vec![none; classes]);
        let mut listener: Vec<RadioId> = vec![members[0]; classes];
        for (member, class) in members.iter().zip(class_of) {
            listener[class.index()] = *member;
        }
        for &from in members {
            let tuning = radio.tuning(from);
            let by_width = (0..=tuning.step).map(|step| {
                let mut found = Listeners::default();
                let mut copies = Vec::new();
                for (at, to) in listener.iter().enumerate() {
                    let class = ClassId::new(at as u32);
                    match radio.senses(*to, from, step) {
                        Sensed::Nothing => {}
                        Sensed::Secondary(number) => found.beside.push((class, number)),
                        Sensed::Preamble => copies.push(class),
                        Sensed::Whole => found.classes.push(class),
                    }
                }
                found.whole = found.classes.len();
                found.classes.extend(copies);
                found
            });
            let listeners = by_width.collect();
            while self.members.len() <= from.index() {
                self.members.push(Member::default());
            }
            self.members[from.index()] = Member {
                tuning,
                listeners,
                neighbour: false,
            };
        }
    }

    /// A radio is of a neighbour's BSS; `access_points`: the classes of the own ones.
    pub fn set_neighbour(&mut self, radio: RadioId, access_points: &[ClassId]) {
        let member = &mut self.members[radio.index()];
        member.neighbour = true;
        for at in &mut member.listeners {
            at.own = at.classes.iter().any(|ear| access_points.contains(ear));
        }
    }

    fn at(&self, radio: RadioId, mark: Mark) -> &Listeners {
        &self.members[radio.index()].listeners[usize::from(mark.step)]
    }

    /// Classes whose medium a frame makes busy.
    pub fn busy(&self, radio: RadioId, mark: Mark) -> &[ClassId] {
        &self.at(radio, mark).classes
    }

    /// Whether a class can read a frame that makes its medium busy.
    pub fn reads(&self, radio: RadioId, mark: Mark, ear: ClassId) -> bool {
        let at = self.at(radio, mark);
        mark.copies || at.classes[..at.whole].contains(&ear)
    }

    /// A frame begins; gives the owner of its time.
    pub fn begin(&mut self, channel: ChannelId, radio: RadioId, mark: Mark) -> Origin {
        let member = &self.members[radio.index()];
        let at = &member.listeners[usize::from(mark.step)];
        for (ear, number) in &at.beside {
            self.secondaries[channel][ear.index()][usize::from(*number)].active += 1;
        }
        match (member.neighbour, at.own) {
            (false, _) => Origin::Own,
            (true, true) => Origin::Neighbour,
            (true, false) => Origin::Far,
        }
    }

    /// A frame ends.
    pub fn end(&mut self, channel: ChannelId, t: &Transmission) {
        let at = &self.members[t.node.index()].listeners[usize::from(t.mark.step)];
        for (ear, number) in &at.beside {
            let secondary = &mut self.secondaries[channel][ear.index()][usize::from(*number)];
            secondary.active -= 1;
            secondary.idle_since = Some(t.end);
        }
    }

    /// The 20 MHz channels that a frame covers.
    pub fn block(&self, radio: RadioId, mark: Mark) -> Block {
        Block::around(self.members[radio.index()].tuning.primary, mark.step)
    }

    /// How much of the power of an interfering frame counts against a frame: the share inside it. All
    /// 20 MHz copies say the same, and a receiver reads that of its primary channel.
    pub fn weight(&self, (frame, mark): (RadioId, Mark), other: (RadioId, Mark)) -> f64 {
        let theirs = self.block(other.0, other.1);
        let own = self.block(frame, mark);
        if !mark.copies {
            return theirs.share_in(own);
        }
        let primary = Block::around(self.members[frame.index()].tuning.primary, 0);
        theirs.share_in(primary) * f64::from(1_u32 << own.step)
    }
}

impl Medium {
    /// Whether the channels of some neighbour overlap others in part.
    #[inline]
    pub fn has_widths(&self) -> bool {
        self.widths.is_some()
    }

    /// The widest frame that a radio may begin now, as a step: all secondary channels in it were idle for
    /// PIFS (10.23.2.5).
    pub fn idle_step(&self, radio: RadioId, now: Instant) -> u8 {
        let Some(widths) = &self.widths else {
            return u8::MAX;
        };
        let node = &self.nodes[radio];
        let pifs: Duration = self.sifs(node.channel) + self.slot(node.channel);
        let state = &widths.secondaries[node.channel][node.class.index()];
        let most = widths.members[radio.index()].tuning.step;
        let busy = |secondary: &Secondary| {
            let recent = secondary.idle_since.is_some_and(|since| since + pifs > now);
            secondary.active > 0 || recent
        };
        let first = state[..usize::from(most)].iter().position(busy);
        first.map_or(most, |number| number as u8)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sensed(own: (u8, u8), from: (u8, u8), level: f64) -> Sensed {
        let (primary, step) = own;
        Sensed::of(Tuning { primary, step }, from, level, -82.0)
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
