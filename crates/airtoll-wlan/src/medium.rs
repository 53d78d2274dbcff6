//! The medium: channels, the hearing relation, transmissions, their overlap, and reception.
//!
//! Takes transmissions as they begin and end; gives how each reached a node. Contention is not its
//! part: `mac` queries it.

mod channel;
mod radio;
mod reception;

use airtoll_engine::Stream;
use airtoll_units::{Duration, Instant};

use crate::context::Context;
use crate::event::Event;

pub(crate) use channel::{Channel, FrameKind, Gap, Transmission};
pub(crate) use radio::Radio;
pub use radio::loss_db;

/// A node's transceiver.
#[derive(Debug)]
struct Node {
    channel: u32,
    /// Sensing class.
    class: u32,
    /// Classes that hear it.
    ears: Vec<u32>,
    /// Transmits or owes a response until then.
    engaged_until: Instant,
    /// Start and end of its last transmission.
    last_sent: (Instant, Instant),
    /// A wired host, which is on no channel.
    wired: bool,
}

/// All channels and the transceivers on them.
pub(crate) struct Medium {
    nodes: Vec<Node>,
    channels: Vec<Channel>,
    radio: Radio,
    /// Frame errors.
    noise: Stream,
}

impl Medium {
    /// A medium without channels; `noise` draws frame errors.
    pub fn new(radio: Radio, noise: Stream) -> Self {
        Self {
            nodes: Vec::new(),
            channels: Vec::new(),
            radio,
            noise,
        }
    }

    /// Adds a node that is on no channel yet; a wired host stays so.
    pub fn add_node(&mut self, wired: bool) {
        self.nodes.push(Node {
            channel: 0,
            class: 0,
            ears: Vec::new(),
            engaged_until: Instant::ZERO,
            last_sent: (Instant::ZERO, Instant::ZERO),
            wired,
        });
    }

    /// Adds a channel with its nodes; gives how many sensing classes are on it.
    pub fn add_channel(&mut self, channel: Channel, members: &[u32]) -> u32 {
        let (class_of, ears) = self.radio.classes(members);
        let classes = class_of.iter().max().map_or(0, |c| c + 1);
        let id = self.channels.len() as u32;
        for ((member, class), ears) in members.iter().zip(&class_of).zip(ears) {
            let node = &mut self.nodes[*member as usize];
            node.channel = id;
            node.class = *class;
            node.ears = ears;
        }
        self.channels.push(channel);
        classes
    }

    /// The channel that a node is on.
    #[inline]
    pub fn channel_of(&self, node: u32) -> u32 {
        self.nodes[node as usize].channel
    }

    /// A node's sensing class on its channel.
    #[inline]
    pub fn class_of(&self, node: u32) -> u32 {
        self.nodes[node as usize].class
    }

    /// Sensing classes that hear a node.
    #[inline]
    pub fn ears(&self, node: u32) -> &[u32] {
        &self.nodes[node as usize].ears
    }

    /// SIFS of a channel.
    #[inline]
    pub fn sifs(&self, channel: u32) -> Duration {
        self.channels[channel as usize].sifs()
    }

    /// Slot time of a channel.
    #[inline]
    pub fn slot(&self, channel: u32) -> Duration {
        self.channels[channel as usize].slot()
    }

    /// The channel's part of the medium.
    #[inline]
    pub fn channel_mut(&mut self, channel: u32) -> &mut Channel {
        &mut self.channels[channel as usize]
    }

    /// Until when a node transmits or owes a response.
    #[inline]
    pub fn engaged_until(&self, node: u32) -> Instant {
        self.nodes[node as usize].engaged_until
    }

    /// A node owes a response, or goes on with its exchange, at `until`.
    #[inline]
    pub fn engage(&mut self, node: u32, until: Instant) {
        let state = &mut self.nodes[node as usize];
        state.engaged_until = state.engaged_until.max(until);
    }

    /// Received powers.
    pub fn radio(&self) -> &Radio {
        &self.radio
    }

    /// Received powers, to be changed.
    pub fn radio_mut(&mut self) -> &mut Radio {
        &mut self.radio
    }

    /// Books the air of a channel up to the present instant.
    #[inline]
    pub fn book(&mut self, cx: &mut Context, channel: u32) {
        let now = cx.now();
        self.channels[channel as usize].book(now, &mut cx.observers.ledger);
    }

    /// Notes cipher work of a node that ends at `end`, beside the air that may have to wait for it;
    /// of a wired host beside all channels.
    #[inline]
    pub fn note_ciphers(&mut self, node: u32, end: Instant, effort: Duration) {
        if effort.is_zero() {
            return;
        }
        let state = &self.nodes[node as usize];
        let (own, wired) = (state.channel as usize, state.wired);
        for (number, channel) in self.channels.iter_mut().enumerate() {
            if wired || number == own {
                channel.note_ciphers(end, effort);
            }
        }
    }

    /// A node begins to transmit a frame that belongs to the exchange of `contender` and reserves
    /// the medium for `protects` after its end.
    #[inline]
    pub fn transmit(
        &mut self,
        cx: &mut Context,
        contender: u32,
        node: u32,
        kind: FrameKind,
        (length, protects): (Duration, Duration),
    ) {
        let now = cx.now();
        let state = &mut self.nodes[node as usize];
        let id = state.channel;
        let end = now + length;
        state.last_sent = (now, end);
        state.engaged_until = state.engaged_until.max(end);
        let channel = &mut self.channels[id as usize];
        channel.book(now, &mut cx.observers.ledger);
        let transmission = channel.begin(Transmission {
            node,
            contender,
            kind,
            start: now,
            end,
            protects,
            clashes: Vec::new(),
            alone: Duration::ZERO,
        });
        cx.observers.nodes[node as usize].transmit_time += length;
        cx.schedule(
            end,
            Event::FrameEnd {
                channel: id,
                transmission,
            },
        );
        cx.trace("frame", [u64::from(node), kind as u64, length.as_nanos()]);
    }

    /// A transmission ends; gives it. [`Medium::forget`] takes it back.
    #[inline]
    pub fn end(&mut self, cx: &mut Context, channel: u32, transmission: u32) -> Transmission {
        self.book(cx, channel);
        self.channels[channel as usize].end(transmission)
    }

    /// Drops a transmission whose effects have been carried out.
    #[inline]
    pub fn forget(&mut self, channel: u32, transmission: u32, ended: Transmission) {
        self.channels[channel as usize].forget(transmission, ended.clashes);
    }

    /// From when a class may count after a transmission that ends now.
    ///
    /// A class that heard none of the overlapping frames decoded this one and honours its duration
    /// field. A class that had decoded its header when the next one began waits EIFS
    /// (10.3.2.3.7). Frames that began together leave no header to decode, and DIFS is enough.
    #[inline]
    pub fn reserved(&self, t: &Transmission, ear: u32) -> Instant {
        let now = t.end;
        if t.clashes.is_empty() {
            return now + t.protects;
        }
        let eifs_extra = self.channels[self.nodes[t.node as usize].channel as usize].eifs_extra();
        let mut heard = t
            .clashes
            .iter()
            .filter(|(other, _)| self.nodes[*other as usize].ears.contains(&ear))
            .map(|(_, start)| *start)
            .peekable();
        if heard.peek().is_none() {
            now + t.protects
        } else if heard.all(|start| start > t.start) {
            now + eifs_extra
        } else {
            now
        }
    }

    /// Books the air up to the end of the trial, and the transmissions that the end cut off.
    pub fn close_books(&mut self, cx: &mut Context) {
        for channel in 0..self.channels.len() as u32 {
            self.book(cx, channel);
            let state = &self.channels[channel as usize];
            for t in state.on_the_air() {
                cx.observers.ledger.book_unfinished(t.kind.into(), t.alone);
            }
        }
    }

    /// The warm-up ends: books the air so far, and forgets the state of the frames on it.
    pub fn restart(&mut self, cx: &mut Context) {
        for channel in 0..self.channels.len() as u32 {
            self.book(cx, channel);
            self.channels[channel as usize].restart();
        }
    }
}
