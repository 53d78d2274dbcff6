//! Spatial reuse by OBSS PD (IEEE 802.11ax-2021, 26.10.2).
//!
//! A station receives the PHY header of each frame that it senses. Once it has read the BSS color of another
//! BSS, and the level is below its OBSS PD level, it ends the reception (PHY-CCARESET) and counts on after its
//! interframe space: it takes no duration field from the frame, and no EIFS. Frames before 802.11ax have no
//! color; it receives them to their end. Its own next TXOP has the reduced power, if it waited for it while such a frame was on the air, and so have its responses while
//! one is.

use airtoll_units::{Duration, Instant};

use super::radio::{Power, Radio, Sensing};
use super::{Mark, Medium, Origin, Transmission};
use crate::context::Context;
use crate::event::Event;
use crate::id::{ChannelId, ClassId, RadioId, Table, TransmissionId};

/// From the beginning of a PPDU to the end of the field with the BSS color: L-STF and L-LTF 16 us, L-SIG and
/// RL-SIG 8 us, HE-SIG-A (27.3.4) or U-SIG (IEEE 802.11be, 36.3.4) 8 us.
pub(super) const COLOR_READ: Duration = Duration::from_micros(32);

/// Classes that sense the frames of a radio at one power.
#[derive(Debug, Clone, Default)]
struct Listeners {
    /// Classes that sense a frame, those that sense it to its end first.
    classes: Vec<ClassId>,
    /// How many sense it to its end whatever its color.
    whole: usize,
    /// Whether an own access point is among all of them, and among those.
    own: [bool; 2],
    /// The radio is of a neighbour's BSS.
    neighbour: bool,
}

/// The last frame whose reception a class ended.
#[derive(Debug, Clone, Copy)]
struct Ignored {
    start: Instant,
    end: Instant,
}

/// Spatial reuse on all channels.
#[derive(Debug, Default)]
pub(super) struct SpatialReuse {
    /// By radios and powers.
    listeners: Vec<[Listeners; 2]>,
    ignored: Table<ChannelId, Vec<Ignored>>,
}

impl SpatialReuse {
    /// The next channel has these radios; `class_of`: the sensing class of each.
    pub fn add_channel(&mut self, radio: &Radio, members: &[RadioId], class_of: &[ClassId]) {
        let classes = class_of.iter().max().map_or(0, |c| c.index() + 1);
        let none = Ignored {
            start: Instant::ZERO,
            end: Instant::ZERO,
        };
        self.ignored.push(vec![none; classes]);
        let mut listener: Vec<RadioId> = vec![members[0]; classes];
        for (member, class) in members.iter().zip(class_of) {
            listener[class.index()] = *member;
        }
        for &from in members {
            while self.listeners.len() <= from.index() {
                self.listeners.push(Default::default());
            }
            for power in Power::ALL {
                let those = |wanted: Sensing| {
                    let all = listener.iter().enumerate();
                    all.filter(move |(_, to)| radio.sensing(**to, from, power) == wanted)
                        .map(|(class, _)| ClassId::new(class as u32))
                };
                let mut classes: Vec<ClassId> = those(Sensing::Whole).collect();
                let whole = classes.len();
                classes.extend(those(Sensing::UpToColor));
                self.listeners[from.index()][power as usize] = Listeners {
                    classes,
                    whole,
                    own: [false; 2],
                    neighbour: false,
                };
            }
        }
    }

    /// A radio is of a neighbour's BSS; `access_points`: the classes of the own ones.
    pub fn set_neighbour(&mut self, radio: RadioId, access_points: &[ClassId]) {
        for at in &mut self.listeners[radio.index()] {
            let heard = |some: &[ClassId]| some.iter().any(|ear| access_points.contains(ear));
            at.own = [heard(&at.classes), heard(&at.classes[..at.whole])];
            at.neighbour = true;
        }
    }

    /// The owner of the time of a frame until its color is read.
    pub fn origin(&self, radio: RadioId, mark: Mark, own: Origin) -> Origin {
        let at = self.at(radio, mark.power);
        match (at.neighbour, at.own[0]) {
            (false, _) => own,
            (true, true) => Origin::Neighbour,
            (true, false) => Origin::Far,
        }
    }

    fn at(&self, radio: RadioId, power: Power) -> &Listeners {
        &self.listeners[radio.index()][power as usize]
    }

    /// Whether a class senses a frame of a radio to its end.
    pub fn holds(&self, radio: RadioId, mark: Mark, ear: ClassId) -> bool {
        self.held(radio, mark).contains(&ear)
    }

    fn held(&self, radio: RadioId, mark: Mark) -> &[ClassId] {
        let at = self.at(radio, mark.power);
        let count = if mark.colored {
            at.whole
        } else {
            at.classes.len()
        };
        &at.classes[..count]
    }
}

impl Medium {
    /// Whether some node reuses the channel.
    #[inline]
    pub fn reuses_space(&self) -> bool {
        self.reuse.is_some()
    }

    /// Classes that sense the beginning of a frame.
    pub fn sense_start(&self, radio: RadioId, mark: Mark) -> &[ClassId] {
        match (&self.reuse, &self.widths) {
            (Some(reuse), _) => &reuse.at(radio, mark.power).classes,
            (None, Some(widths)) => widths.busy(radio, mark),
            (None, None) => self.ears(radio),
        }
    }

    /// Classes that sense a frame to its end.
    #[inline]
    pub fn sense_end(&self, radio: RadioId, mark: Mark) -> &[ClassId] {
        match (&self.reuse, &self.widths) {
            (Some(reuse), _) => reuse.held(radio, mark),
            (None, Some(widths)) => widths.busy(radio, mark),
            (None, None) => self.ears(radio),
        }
    }

    /// Waits for the end of the field with the BSS color, where a class then ends its reception.
    pub fn await_color(
        &self,
        cx: &mut Context,
        (radio, mark): (RadioId, Mark),
        transmission: TransmissionId,
    ) {
        if self.sense_start(radio, mark).len() > self.sense_end(radio, mark).len() {
            let channel = self.channel_of(radio);
            let event = Event::ColorRead {
                channel,
                transmission,
            };
            cx.schedule(cx.now() + COLOR_READ, event);
        }
    }

    /// The color of a transmission is known: books the air, and gives it with the classes that end its
    /// reception.
    pub fn color_read(
        &mut self,
        cx: &mut Context,
        channel: ChannelId,
        transmission: TransmissionId,
    ) -> (Transmission, Vec<ClassId>) {
        self.book(cx, channel);
        let t = self.channels[channel].transmission(transmission);
        // A node that receives a frame of its own cell, or sends one, does not detect this one.
        let ears = self.classes_that_end(&t);
        let detects = |ear: &&ClassId| {
            let mut before = self.clashes(&t).filter(|clash| clash.start <= t.start);
            !before.any(|clash| clash.end > t.start && self.receives(**ear, clash))
        };
        let detecting: Vec<ClassId> = ears.iter().filter(detects).copied().collect();
        let Some(reuse) = &mut self.reuse else {
            return (t, Vec::new());
        };
        let at = &reuse.listeners[t.node.index()][t.mark.power as usize];
        if at.neighbour && !at.own[1] {
            self.channels[channel].set_origin(transmission, Origin::Far);
        }
        for ear in &detecting {
            let last = &mut reuse.ignored[channel][ear.index()];
            last.start = t.start;
            last.end = last.end.max(t.end);
        }
        (t, ears)
    }

    /// Classes that end the reception of a transmission once they know its color.
    fn classes_that_end(&self, t: &Transmission) -> Vec<ClassId> {
        let at = self
            .reuse
            .as_ref()
            .map(|reuse| reuse.at(t.node, t.mark.power));
        at.map_or(Vec::new(), |at| at.classes[at.whole..].to_vec())
    }

    /// Whether the power of a radio is reduced at present, where it has waited for the medium since some
    /// instant: a frame that it ignores began after its own last one, and was on the air while it waited.
    pub fn is_restricted(&self, radio: RadioId, since: Instant) -> bool {
        let Some(reuse) = &self.reuse else {
            return false;
        };
        let node = &self.nodes[radio];
        let last = reuse.ignored[node.channel][node.class.index()];
        last.start >= node.last_sent.to
            && last.end > since
            && self.radio.reduction(radio, Power::Reduced) > 0.0
    }

    /// The level at which a radio receives a transmission, dBm.
    pub fn level_of(&self, t: &Transmission, at: RadioId) -> f64 {
        self.radio.power(t.node, at) - self.radio.reduction(t.node, t.mark.power)
    }
}
