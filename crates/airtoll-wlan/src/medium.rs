//! The medium: channels, the hearing relation, transmissions, their overlap, and reception.
//!
//! A node here is a radio ([`RadioId`]): a station that hands over has one in every BSS of its way, and
//! is on the air by one of them at a time ([`Medium::radio_of`]).
//!
//! Takes transmissions as they begin and end; gives how each reached a node. Contention is not its
//! part: `mac` queries it.

mod channel;
mod fading;
mod interference;
mod overlap;
mod radio;
mod reception;
mod selective;
mod spatial_reuse;
mod width;

use airtoll_engine::Stream;
use airtoll_units::{Duration, Instant, Span};

use crate::context::Context;
use crate::event::Event;
use crate::id::{
    ChannelId, ClassId, ContenderId, InterfererId, NodeId, RadioId, Table, TransmissionId,
};
use crate::observe::Observation;
use crate::scenario;

use channel::Clash;
pub(crate) use channel::{Channel, FrameKind, Gap, Mark, Origin, Transmission};
pub(crate) use fading::{Fading, normals};
use interference::Interference;
pub(crate) use interference::Turn;
pub use radio::loss_db;
pub(crate) use radio::{Power, Radio};
#[cfg(test)]
pub(crate) use reception::Reception;
pub(crate) use reception::{KnownSuccess, Sent};
pub(crate) use selective::Spectrum;
use spatial_reuse::SpatialReuse;
use width::Widths;

/// A node's transceiver.
#[derive(Debug)]
struct Node {
    host: NodeId,
    channel: ChannelId,
    origin: Origin,
    /// Sensing class.
    class: ClassId,
    /// Classes that hear it.
    ears: Vec<ClassId>,
    /// Transmits or owes a response until then.
    engaged_until: Instant,
    /// Its last transmission.
    last_sent: Span,
    /// A wired host, which is on no channel.
    wired: bool,
}

/// Times of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct AirTime {
    /// Airtime.
    pub length: Duration,
    /// How long after its end it reserves the medium.
    pub protects: Duration,
}

impl AirTime {
    /// Those of a frame that reserves nothing.
    #[inline]
    pub const fn unprotected(length: Duration) -> Self {
        Self {
            length,
            protects: Duration::ZERO,
        }
    }
}

/// All channels and the transceivers on them.
pub(crate) struct Medium {
    nodes: Table<RadioId, Node>,
    /// The radio by which a node is on the air at present.
    tuned: Table<NodeId, RadioId>,
    channels: Table<ChannelId, Channel>,
    /// Two members of each sensing class, or one twice.
    listeners: Table<ChannelId, Vec<[RadioId; 2]>>,
    radio: Radio,
    /// Frame errors.
    noise: Stream,
    fading: Option<Box<Fading>>,
    interference: Interference,
    /// Spatial reuse, where a BSS has an OBSS PD level.
    reuse: Option<Box<SpatialReuse>>,
    /// Widths of channels, where those of some neighbour overlap others in part.
    widths: Option<Box<Widths>>,
}

impl Medium {
    /// A medium without channels; `noise` draws frame errors.
    pub fn new(radio: Radio, noise: Stream, fading: Option<Fading>) -> Self {
        Self {
            nodes: Table::new(),
            tuned: Table::new(),
            channels: Table::new(),
            listeners: Table::new(),
            reuse: radio.reuses_space().then(Box::default),
            widths: radio.overlaps_in_part().then(Box::default),
            radio,
            noise,
            fading: fading.map(Box::new),
            interference: Interference::default(),
        }
    }

    /// Adds a radio of `host` that is on no channel yet; that of a wired host stays so. The first
    /// radios of all nodes come before any further one.
    pub fn add_radio(&mut self, host: NodeId, wired: bool) {
        let radio = self.nodes.push(Node {
            host,
            channel: ChannelId::new(0),
            origin: Origin::Own,
            class: ClassId::new(0),
            ears: Vec::new(),
            engaged_until: Instant::ZERO,
            last_sent: Span {
                from: Instant::ZERO,
                to: Instant::ZERO,
            },
            wired,
        });
        if host.index() == self.tuned.len() {
            self.tuned.push(radio);
        }
    }

    /// The node of a radio.
    #[inline]
    pub fn host_of(&self, radio: RadioId) -> NodeId {
        self.nodes[radio].host
    }

    /// All radios.
    pub fn radios(&self) -> impl Iterator<Item = RadioId> + use<> {
        self.nodes.ids()
    }

    /// The radio by which a node is on the air at present.
    #[inline]
    pub fn radio_of(&self, node: NodeId) -> RadioId {
        self.tuned[node]
    }

    /// A station turns to the channel of another of its radios.
    pub fn tune(&mut self, station: NodeId, radio: RadioId) {
        self.tuned[station] = radio;
    }

    /// Adds a channel with its radios; gives how many sensing classes are on it.
    pub fn add_channel(&mut self, channel: Channel, members: &[RadioId]) -> u32 {
        let (class_of, ears) = self.radio.classes(members);
        let classes = class_of.iter().max().map_or(0, |c| c.number() + 1);
        let id = self.channels.next_id();
        for ((member, class), ears) in members.iter().zip(&class_of).zip(ears) {
            let node = &mut self.nodes[*member];
            node.channel = id;
            node.class = *class;
            node.ears = ears;
        }
        self.channels.push(channel);
        let any = members.first().map(|any| [*any; 2]);
        let mut listeners: Vec<_> = (0..classes).filter_map(|_| any).collect();
        for (member, class) in members.iter().zip(&class_of) {
            listeners[class.index()][0] = *member;
        }
        for (member, class) in members.iter().zip(&class_of).rev() {
            listeners[class.index()][1] = *member;
        }
        self.listeners.push(listeners);
        if let Some(reuse) = &mut self.reuse {
            reuse.add_channel(&self.radio, members, &class_of);
        }
        if let Some(widths) = &mut self.widths {
            widths.add_channel(&self.radio, members, &class_of);
        }
        classes
    }

    /// Radios of a channel are of neighbours' BSSs; `access_points`: those of the own ones.
    pub fn set_neighbours(&mut self, radios: &[RadioId], access_points: &[RadioId]) {
        for &radio in radios {
            let senses = |ap: &RadioId| self.nodes[radio].ears.contains(&self.nodes[*ap].class);
            let heard = access_points.iter().any(senses);
            self.nodes[radio].origin = if heard {
                Origin::Neighbour
            } else {
                Origin::Far
            };
            if self.reuse.is_some() || self.widths.is_some() {
                let classes: Vec<ClassId> = access_points
                    .iter()
                    .map(|ap| self.nodes[*ap].class)
                    .collect();
                if let Some(reuse) = &mut self.reuse {
                    reuse.set_neighbour(radio, &classes);
                }
                if let Some(widths) = &mut self.widths {
                    widths.set_neighbour(radio, &classes);
                }
            }
            let channel = self.nodes[radio].channel;
            self.channels[channel].share();
        }
    }

    /// Whether a neighbour's BSS is on any channel.
    pub fn has_neighbours(&self) -> bool {
        self.nodes.iter().any(|node| node.origin != Origin::Own)
    }

    /// Whether a radio is of a BSS whose results count.
    #[inline]
    pub fn is_own(&self, radio: RadioId) -> bool {
        self.nodes[radio].origin == Origin::Own
    }

    /// The silence on a channel belongs from now on to an exchange of a radio on it.
    #[inline]
    pub fn pause(&mut self, channel: ChannelId, radio: RadioId, gap: Gap) {
        let state = &mut self.channels[channel];
        if !state.is_shared() {
            state.pause(gap);
            return;
        }
        match self.nodes[radio].origin {
            Origin::Own => state.pause(gap),
            Origin::Neighbour => state.pause_for_neighbour(),
            Origin::Far => {}
        }
    }

    /// Another contender of a radio has a frame for its channel, or one fewer.
    #[inline]
    pub fn want(&mut self, cx: &mut Context, channel: ChannelId, radio: RadioId, more: bool) {
        let state = &mut self.channels[channel];
        if state.is_shared() && self.nodes[radio].origin != Origin::Own {
            return;
        }
        state.book(cx);
        state.want(more);
    }

    /// Adds an interferer; gives when its first burst begins.
    pub fn add_interferer(
        &mut self,
        model: &scenario::Interferer,
        channel: Option<ChannelId>,
        stream: Stream,
    ) -> (InterfererId, Instant) {
        self.interference.add(model, channel, stream)
    }

    /// Whether anything interferes.
    pub fn has_interferers(&self) -> bool {
        !self.interference.is_empty()
    }

    /// A burst of an interferer begins or ends at the present instant.
    pub fn interferer_due(&mut self, cx: &mut Context, interferer: InterfererId) -> Turn {
        let turn = self.interference.turn(interferer, cx.now());
        cx.schedule(turn.next, Event::Interferer { interferer });
        if turn.heard {
            for (id, channel) in self.channels.pairs_mut() {
                if turn.channel.is_none_or(|own| own == id) {
                    channel.book(cx);
                    channel.note_interferer(turn.begins);
                }
            }
        }
        turn
    }

    /// The channel that a node is on.
    #[inline]
    pub fn channel_of(&self, node: RadioId) -> ChannelId {
        self.nodes[node].channel
    }

    /// A node's sensing class on its channel.
    #[inline]
    pub fn class_of(&self, node: RadioId) -> ClassId {
        self.nodes[node].class
    }

    /// Sensing classes that hear a node.
    #[inline]
    pub fn ears(&self, node: RadioId) -> &[ClassId] {
        &self.nodes[node].ears
    }

    /// SIFS of a channel.
    #[inline]
    pub fn sifs(&self, channel: ChannelId) -> Duration {
        self.channels[channel].sifs()
    }

    /// Slot time of a channel.
    #[inline]
    pub fn slot(&self, channel: ChannelId) -> Duration {
        self.channels[channel].slot()
    }

    /// The channel's part of the medium.
    pub fn channel(&self, channel: ChannelId) -> &Channel {
        &self.channels[channel]
    }

    /// Until when a node transmits or owes a response.
    #[inline]
    pub fn engaged_until(&self, node: RadioId) -> Instant {
        self.nodes[node].engaged_until
    }

    /// End of a node's last transmission.
    #[inline]
    pub fn last_sent(&self, node: RadioId) -> Instant {
        self.nodes[node].last_sent.to
    }

    /// A node owes a response, or goes on with its exchange, at `until`.
    #[inline]
    pub fn engage(&mut self, node: RadioId, until: Instant) {
        let state = &mut self.nodes[node];
        state.engaged_until = state.engaged_until.max(until);
    }

    /// Received powers, to be changed.
    pub fn radio_mut(&mut self) -> &mut Radio {
        &mut self.radio
    }

    /// Books the air of a channel up to the present instant.
    #[inline]
    pub fn book(&mut self, cx: &mut Context, channel: ChannelId) {
        self.channels[channel].book(cx);
    }

    /// Notes cipher work of a node that ends at `end`, beside the air that may have to wait for it;
    /// of a wired host beside all channels.
    #[inline(always)]
    pub fn note_ciphers(&mut self, node: NodeId, end: Instant, effort: Duration) {
        if !effort.is_zero() {
            self.note_work(node, end, effort);
        }
    }

    #[inline(never)]
    fn note_work(&mut self, node: NodeId, end: Instant, effort: Duration) {
        let state = &self.nodes[self.tuned[node]];
        if !state.wired {
            self.channels[state.channel].note_ciphers(end, effort);
            return;
        }
        self.note_wired_work(end, effort);
    }

    #[inline(never)]
    fn note_wired_work(&mut self, end: Instant, effort: Duration) {
        for channel in &mut self.channels {
            channel.note_ciphers(end, effort);
        }
    }

    /// A node begins to transmit a frame that belongs to the exchange of `contender`. Gives the number
    /// of the transmission.
    #[inline(always)]
    pub fn transmit(
        &mut self,
        cx: &mut Context,
        contender: ContenderId,
        node: RadioId,
        kind: FrameKind,
        (air, mark): (AirTime, Mark),
    ) -> TransmissionId {
        let now = cx.now();
        let state = &mut self.nodes[node];
        let (id, host, mut origin) = (state.channel, state.host, state.origin);
        if mark.power == Power::Reduced
            && let Some(reuse) = &self.reuse
        {
            origin = reuse.origin(node, mark, origin);
        }
        if let Some(widths) = &mut self.widths {
            origin = widths.begin(id, node, mark);
            state.origin = origin;
        }
        let AirTime { length, protects } = air;
        let end = now + length;
        state.last_sent = Span { from: now, to: end };
        state.engaged_until = state.engaged_until.max(end);
        let channel = &mut self.channels[id];
        channel.book(cx);
        let transmission = channel.free_number();
        channel.begin(Transmission {
            number: transmission,
            node,
            origin,
            contender,
            kind,
            start: now,
            end,
            earlier: 0,
            protects,
            overlapped: false,
            mark,
            alone: Duration::ZERO,
        });
        cx.observe(Observation::Transmits {
            node: host,
            kind: kind as u8,
            length,
        });
        let event = Event::FrameEnd {
            channel: id,
            transmission,
        };
        channel.schedule_end(cx, end, event, transmission);
        transmission
    }

    /// A transmission that has just begun at a radio counts as one of another radio, where that is of a BSS
    /// whose results count.
    pub fn count_as(&mut self, radio: RadioId, transmission: TransmissionId, other: RadioId) {
        if self.is_own(other) {
            let channel = self.nodes[radio].channel;
            self.channels[channel].set_origin(transmission, Origin::Own);
        }
    }

    /// Whether a radio senses the frames of another.
    pub fn senses(&self, radio: RadioId, other: RadioId) -> bool {
        self.nodes[other].ears.contains(&self.nodes[radio].class)
    }

    /// Further radios transmit for `length` with the one that has just begun.
    pub fn accompany(
        &mut self,
        cx: &mut Context,
        radios: &[RadioId],
        kind: FrameKind,
        length: Duration,
    ) {
        let now = cx.now();
        for &radio in radios {
            let state = &mut self.nodes[radio];
            let end = now + length;
            state.last_sent = Span { from: now, to: end };
            state.engaged_until = state.engaged_until.max(end);
            let node = state.host;
            cx.observe(Observation::Transmits {
                node,
                kind: kind as u8,
                length,
            });
        }
    }

    /// A transmission on the air of a node's channel.
    #[inline]
    pub fn transmission(&self, node: RadioId, transmission: TransmissionId) -> Transmission {
        self.channels[self.nodes[node].channel].transmission(transmission)
    }

    /// A transmission ends; gives it. [`Medium::forget`] takes it back.
    #[inline]
    pub fn end(
        &mut self,
        cx: &mut Context,
        channel: ChannelId,
        transmission: TransmissionId,
    ) -> Transmission {
        self.book(cx, channel);
        let ended = self.channels[channel].end(transmission);
        if let Some(widths) = &mut self.widths {
            widths.end(channel, &ended);
        }
        ended
    }

    /// Gives each transmission an event of its own for its end.
    #[cfg(test)]
    pub fn end_apart(&mut self) {
        self.channels.iter_mut().for_each(Channel::end_apart);
    }

    /// The transmission on the same channel that ends right after one that has ended, without an event
    /// of its own.
    #[inline]
    pub fn take_follower(
        &mut self,
        channel: ChannelId,
        ended: &Transmission,
    ) -> Option<TransmissionId> {
        self.channels[channel].take_follower(ended)
    }

    /// Drops a transmission whose effects have been carried out.
    #[inline]
    pub fn forget(&mut self, channel: ChannelId, ended: &Transmission) {
        self.channels[channel].forget(ended);
    }

    /// Transmissions that overlapped another.
    fn clashes(&self, t: &Transmission) -> impl Iterator<Item = &Clash> {
        self.channels[self.channel_of(t.node)].clashes(t)
    }

    /// From when a class may count after a transmission that ends now.
    ///
    /// A class that heard none of the overlapping frames decoded this one and honours its duration
    /// field. A class that had decoded its header when the next one began waits EIFS
    /// (10.3.2.3.7), unless the frame is so far above the next one that its reception goes on. Frames
    /// that began together leave no header to decode, and DIFS is enough.
    #[inline]
    pub fn reserved(&self, t: &Transmission, ear: ClassId) -> Instant {
        let now = t.end;
        if let Some(widths) = &self.widths
            && !widths.reads(t.node, t.mark, ear)
        {
            // It ends with an error, as one of a format that the receiver does not have.
            return now + self.channels[self.nodes[t.node].channel].eifs_extra();
        }
        if !t.overlapped {
            return now + t.protects;
        }
        self.reserved_in_overlap(t, ear)
    }

    /// Whether a class hears a frame that overlapped another, and does not end its reception at the color.
    fn receives(&self, ear: ClassId, clash: &Clash) -> bool {
        match (&self.reuse, &self.widths) {
            (Some(reuse), _) => reuse.holds(clash.node, clash.mark, ear),
            (None, Some(widths)) => widths.busy(clash.node, clash.mark).contains(&ear),
            (None, None) => self.nodes[clash.node].ears.contains(&ear),
        }
    }

    /// Whether a class heard a transmission and none of those that overlapped it.
    pub fn decodes(&self, t: &Transmission, ear: ClassId) -> bool {
        let reads = |widths: &Widths| widths.reads(t.node, t.mark, ear);
        self.widths.as_deref().is_none_or(reads)
            && (!t.overlapped || !self.clashes(t).any(|clash| self.receives(ear, clash)))
    }

    #[cold]
    fn reserved_in_overlap(&self, t: &Transmission, ear: ClassId) -> Instant {
        let now = t.end;
        let mut later = false;
        for clash in self.clashes(t) {
            if self.receives(ear, clash) {
                if clash.start <= t.start {
                    return now;
                }
                later |= !self.receives_over(t, ear, clash);
            }
        }
        if later {
            now + self.channels[self.nodes[t.node].channel].eifs_extra()
        } else {
            now + t.protects
        }
    }

    /// Whether a class receives a transmission to its end although a later one overlaps it. A class of the
    /// sender alone receives nothing that could fail.
    fn receives_over(&self, t: &Transmission, ear: ClassId, later: &Clash) -> bool {
        let margins = [self.radio.preamble_capture(), self.radio.frame_capture()];
        let Some(margin) = margins.into_iter().flatten().reduce(f64::min) else {
            return false;
        };
        let of_class = self.listeners[self.channel_of(t.node)][ear.index()];
        let Some(&at) = of_class.iter().find(|radio| **radio != t.node) else {
            return true;
        };
        let level = |node, power| self.radio.power(node, at) - self.radio.reduction(node, power);
        level(t.node, t.mark.power) - level(later.node, later.mark.power) >= margin
    }

    /// Books the air up to the end of the trial, and the transmissions that the end cut off.
    pub fn close_books(&mut self, cx: &mut Context) {
        for channel in self.channels.ids() {
            self.book(cx, channel);
            let state = &self.channels[channel];
            for t in state.on_the_air() {
                cx.observe(Observation::CutOff {
                    kind: t.kind.into(),
                    alone: t.alone,
                });
            }
        }
    }

    /// The warm-up ends: books the air so far, and forgets the state of the frames on it.
    pub fn restart(&mut self, cx: &mut Context) {
        for channel in self.channels.ids() {
            self.book(cx, channel);
            self.channels[channel].restart();
        }
    }
}
