//! Channels of different widths on the same air: who senses a frame on its primary channel, and the clear channel
//! assessment of secondary channels (IEEE 802.11-2020, 21.3.18.5 and 10.23.2.5).
//!
//! A frame that covers the primary channel of a station keeps its medium busy. One that covers another part of its
//! channel is inside one of its secondary channels: the station counts on, and a TXOP that begins meanwhile is narrower.

use airtoll_units::{Duration, Instant};

use super::overlap::{Block, SECONDARIES, Sensed, Tuning};
use super::radio::Radio;
use super::{Mark, Medium, Origin, Transmission};
use crate::id::{ChannelId, ClassId, RadioId, Table};

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
        theirs.share_in(primary) * own.channels()
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
