//! The air of one radio channel: who transmits, who senses it, and since when it is idle.
//!
//! Nodes that hear the same transmitters form one sensing class, and busy and idle are kept per
//! class: where everybody hears everybody there is one, whatever the number of stations. Never
//! decides who may transmit: that is `access`.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use airtoll_units::{Duration, Instant};

use crate::observe::ciphers::CipherWork;

/// What a transmission is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FrameKind {
    Rts,
    Cts,
    CtsToSelf,
    Data,
    /// Data for a group, which nobody answers.
    Group,
    BlockAckReq,
    Response,
    Beacon,
}

/// A transmission on the air.
#[derive(Debug, Clone)]
pub(crate) struct Transmission {
    pub node: u32,
    /// Contender whose frame exchange it belongs to.
    pub contender: u32,
    pub kind: FrameKind,
    pub start: Instant,
    pub end: Instant,
    /// How long after its end the exchange goes on (NAV).
    pub protects: Duration,
    /// Transmitters that overlapped it, with the start of their transmission.
    pub clashes: Vec<(u32, Instant)>,
    /// Time during which it was alone on the air.
    pub alone: Duration,
}

/// Contenders of one class with the same arbitration interframe space.
#[derive(Debug)]
pub(crate) struct Group {
    /// Slots that have passed; a contender transmits when this reaches its key.
    pub base: u64,
    /// Keys in the upper bits, contenders in the lower [`CONTENDER_BITS`].
    pub heap: BinaryHeap<Reverse<u64>>,
}

/// Bits of a contender's id in a heap entry.
pub(crate) const CONTENDER_BITS: u32 = 20;

/// A contender whose slots do not coincide with those of its class.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Late {
    pub contender: u32,
    /// Its interframe space starts no earlier than this.
    pub reference: Instant,
    /// Its slots start exactly here (immediate access), not after an interframe space.
    pub exact: bool,
}

/// What all nodes with the same ears know of the air.
#[derive(Debug)]
pub(crate) struct Class {
    /// Transmissions heard now.
    pub active: u32,
    /// When the last one ended.
    pub idle_since: Instant,
    /// From when interframe spaces count: `idle_since`, later by NAV or EIFS.
    pub reference: Instant,
    pub groups: Vec<Group>,
    pub late: Vec<Late>,
    /// Next instant at which one of its contenders may transmit.
    pub next: Instant,
}

/// Interframe space and rule of a kind of contender.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct AccessKind {
    pub aifs: Duration,
    /// EDCA: a slot counts at its beginning, not at its end.
    pub edca: bool,
}

/// To what silence on the air is booked while an exchange pauses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Gap {
    Open,
    Response,
    Protection,
}

/// One radio channel.
#[derive(Debug)]
pub(crate) struct Channel {
    pub slot: Duration,
    pub sifs: Duration,
    /// EIFS less DIFS.
    pub eifs_extra: Duration,
    pub kinds: Vec<AccessKind>,
    pub classes: Vec<Class>,
    /// Transmissions on the air, by index into `transmissions`.
    pub active: Vec<u32>,
    pub transmissions: Vec<Transmission>,
    pub free: Vec<u32>,
    /// The earliest `next` of its classes.
    pub next_grant: Instant,
    pub stale: bool,
    /// Contenders that have a frame.
    pub backlog: u32,
    pub gap: Gap,
    /// Up to when the air is booked.
    pub booked: Instant,
    /// Cipher work of its nodes and of the wired hosts behind them.
    pub ciphers: CipherWork,
}

impl Class {
    pub fn new() -> Self {
        Self {
            active: 0,
            idle_since: Instant::ZERO,
            reference: Instant::ZERO,
            groups: Vec::new(),
            late: Vec::new(),
            next: Instant::MAX,
        }
    }
}

impl Channel {
    /// The number of a kind of access; each class has a group for every kind that is in use.
    pub fn kind(&mut self, kind: AccessKind) -> u32 {
        let known = self.kinds.iter().position(|k| *k == kind);
        known.unwrap_or_else(|| {
            self.kinds.push(kind);
            for class in &mut self.classes {
                class.groups.push(Group {
                    base: 0,
                    heap: BinaryHeap::new(),
                });
            }
            self.kinds.len() - 1
        }) as u32
    }

    /// A place for a transmission, reusing old ones.
    pub fn new_transmission(&mut self, t: Transmission) -> u32 {
        if let Some(id) = self.free.pop() {
            let old = &mut self.transmissions[id as usize];
            let mut clashes = std::mem::take(&mut old.clashes);
            clashes.clear();
            *old = Transmission { clashes, ..t };
            id
        } else {
            self.transmissions.push(t);
            (self.transmissions.len() - 1) as u32
        }
    }
}
