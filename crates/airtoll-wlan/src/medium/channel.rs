//! One radio channel: the transmissions on it, and the ledger entries of its time.

use airtoll_units::{Duration, Instant, Span};

use super::radio::Power;
use crate::context::Context;
use crate::event::Event;
use crate::id::{ContenderId, RadioId, Table, TransmissionId};
use crate::observe::Observation;
use crate::observe::ciphers::CipherWork;
use crate::observe::ledger::{Air, Unfinished};

/// Owner of a transmission.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Origin {
    /// Of a BSS whose results count.
    Own,
    /// Of a neighbour's BSS, and an access point of the own ones senses it.
    Neighbour,
    /// Of a neighbour's BSS out of their reach.
    Far,
}

/// Kind of a transmission.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FrameKind {
    Rts,
    Cts,
    CtsToSelf,
    Data,
    /// Data for a group, which are not acknowledged.
    Group,
    BlockAckReq,
    Response,
    Beacon,
    /// Ends the reservation of its sender's TXOP.
    CfEnd,
    /// Data to several stations by OFDMA.
    MultiUser,
    /// Asks several stations for data.
    Trigger,
    /// Data or BlockAcks of several stations at the same time.
    Triggered,
    /// BlockAck to several stations.
    MultiAck,
    /// MU-RTS that opens an exchange with a station of one radio for several links.
    InitialControl,
}

impl From<FrameKind> for Unfinished {
    fn from(kind: FrameKind) -> Self {
        match kind {
            FrameKind::Beacon | FrameKind::Group => Self::Management,
            FrameKind::Rts
            | FrameKind::Cts
            | FrameKind::CtsToSelf
            | FrameKind::CfEnd
            | FrameKind::InitialControl
            | FrameKind::Trigger => Self::Protection,
            FrameKind::Response | FrameKind::BlockAckReq | FrameKind::MultiAck => Self::Response,
            FrameKind::Data | FrameKind::MultiUser | FrameKind::Triggered => Self::Data,
        }
    }
}

/// A transmission on the air.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Transmission {
    /// Its number among those of its channel.
    pub number: TransmissionId,
    pub node: RadioId,
    pub origin: Origin,
    /// Contender whose frame exchange it belongs to.
    pub contender: ContenderId,
    pub kind: FrameKind,
    pub start: Instant,
    pub end: Instant,
    /// How many began on its channel before it.
    pub earlier: u32,
    /// How long after its end the exchange goes on (NAV).
    pub protects: Duration,
    /// Others were on the air with it.
    pub overlapped: bool,
    /// Its properties that matter to stations that reuse the channel, or have another width.
    pub mark: Mark,
    /// Time during which it was alone on the air: beside neighbours' frames, too, and of these none.
    pub alone: Duration,
}

/// Properties of a frame that matter to stations that reuse the channel, or have another width.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Mark {
    /// Its PHY header has a BSS color.
    pub colored: bool,
    /// The power with which it is sent.
    pub power: Power,
    /// Its width is 20 MHz times two to this; counts where channels overlap in part.
    pub step: u8,
    /// Each 20 MHz channel has the whole frame (non-HT duplicate), or it has one.
    pub copies: bool,
}

impl Mark {
    /// That of a frame on a channel where all have the same width and no one reuses it.
    pub const NONE: Self = Self {
        colored: false,
        power: Power::Full,
        step: 0,
        copies: true,
    };
}

impl Transmission {
    /// When it is on the air.
    #[inline]
    pub fn span(&self) -> Span {
        Span {
            from: self.start,
            to: self.end,
        }
    }
}

/// A transmission that overlapped another.
#[derive(Debug, Clone, Copy)]
pub(super) struct Clash {
    pub node: RadioId,
    pub start: Instant,
    pub end: Instant,
    pub mark: Mark,
    earlier: u32,
}

/// The least number of overlapping transmissions at which those of the past are dropped.
const MANY: usize = 64;

/// The end of the transmission on a channel that began last.
#[derive(Debug, Clone, Copy)]
struct LastEnd {
    transmission: TransmissionId,
    /// Events that had been scheduled when its own was.
    scheduled: u64,
}

impl Clash {
    fn of(t: &Transmission) -> Self {
        Self {
            node: t.node,
            start: t.start,
            end: t.end,
            mark: t.mark,
            earlier: t.earlier,
        }
    }
}

/// Ledger entry of silence on the air while an exchange pauses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Gap {
    Open,
    Response,
    Protection,
    /// Of a neighbour's exchange.
    Neighbour,
}

/// One radio channel.
#[derive(Debug)]
pub(crate) struct Channel {
    slot: Duration,
    sifs: Duration,
    /// EIFS less DIFS.
    eifs_extra: Duration,
    /// Transmissions on the air, by index into `transmissions`, in no order.
    active: Vec<TransmissionId>,
    transmissions: Table<TransmissionId, Transmission>,
    /// How long each was alone on the air so far. Apart from the others, which are copied wide at
    /// the end: a wide load waits for a narrow store that came just before.
    alone: Table<TransmissionId, Duration>,
    /// The transmission that ends by the event of another, after it: the frames of a collision begin
    /// one after the other, and most of them end at the same instant.
    followers: Table<TransmissionId, Option<TransmissionId>>,
    last_end: LastEnd,
    /// Each transmission ends by an event of its own.
    #[cfg(test)]
    ends_apart: bool,
    /// Transmissions that overlapped another, in the order in which they began: those on the air, and
    /// those that one on the air may have overlapped. One list for all: with a list for each, a
    /// collision of many would take the square of their number.
    clashes: Vec<Clash>,
    /// At this many of them those of the past are dropped.
    limit: usize,
    /// How many transmissions began.
    begun: u32,
    free: Vec<TransmissionId>,
    /// Own contenders that have a frame.
    backlog: u32,
    /// Whether a neighbour's BSS is on it.
    shared: bool,
    /// Interferers that make the medium busy at present.
    interferers: u32,
    gap: Gap,
    /// Up to when the air is booked.
    booked: Instant,
    /// How long frames were on the air, since the end of the warm-up.
    busy: Duration,
    /// Cipher work of its nodes and of the wired hosts behind them.
    ciphers: CipherWork,
}

impl Channel {
    /// An idle channel with these timings; `eifs_extra` is EIFS less DIFS.
    pub fn new(slot: Duration, sifs: Duration, eifs_extra: Duration) -> Self {
        Self {
            slot,
            sifs,
            eifs_extra,
            active: Vec::new(),
            transmissions: Table::new(),
            alone: Table::new(),
            followers: Table::new(),
            last_end: LastEnd {
                transmission: TransmissionId::new(0),
                scheduled: u64::MAX,
            },
            #[cfg(test)]
            ends_apart: false,
            clashes: Vec::new(),
            limit: MANY,
            begun: 0,
            free: Vec::new(),
            backlog: 0,
            shared: false,
            interferers: 0,
            gap: Gap::Open,
            booked: Instant::ZERO,
            busy: Duration::ZERO,
            ciphers: CipherWork::default(),
        }
    }

    #[inline]
    pub(super) fn slot(&self) -> Duration {
        self.slot
    }

    #[inline]
    pub(super) fn sifs(&self) -> Duration {
        self.sifs
    }

    #[inline]
    pub(super) fn eifs_extra(&self) -> Duration {
        self.eifs_extra
    }

    /// A neighbour's BSS is on it.
    pub(super) fn share(&mut self) {
        self.shared = true;
    }

    /// Whether a neighbour's BSS is on it.
    #[inline]
    pub(super) fn is_shared(&self) -> bool {
        self.shared
    }

    /// The silence from now on belongs to an exchange.
    #[inline]
    pub(super) fn pause(&mut self, gap: Gap) {
        self.gap = gap;
    }

    /// The silence from now on belongs to a neighbour's exchange, unless an own one of hidden nodes goes
    /// on.
    pub(super) fn pause_for_neighbour(&mut self) {
        if self.gap == Gap::Open {
            self.gap = Gap::Neighbour;
        }
    }

    /// An interferer begins to make the medium busy, or ends.
    pub(super) fn note_interferer(&mut self, begins: bool) {
        if begins {
            self.interferers += 1;
        } else {
            self.interferers -= 1;
        }
    }

    /// How long frames were on the air, since the end of the warm-up.
    pub fn busy(&self) -> Duration {
        self.busy
    }

    /// Another contender has a frame for this channel, or one fewer.
    #[inline]
    pub fn want(&mut self, more: bool) {
        if more {
            self.backlog += 1;
        } else {
            self.backlog -= 1;
        }
    }

    #[inline]
    pub(super) fn note_ciphers(&mut self, end: Instant, effort: Duration) {
        self.ciphers.add(end, effort, self.booked);
    }

    /// The number of a transmission that begins; it takes the place of one that is over.
    #[inline]
    pub(super) fn free_number(&mut self) -> TransmissionId {
        self.free.pop().unwrap_or_else(|| self.add_number())
    }

    #[cold]
    fn add_number(&mut self) -> TransmissionId {
        self.followers.push(None);
        self.alone.push(Duration::ZERO)
    }

    /// A transmission begins.
    #[inline(always)]
    pub(super) fn begin(&mut self, t: Transmission) {
        if t.origin != Origin::Far {
            self.gap = Gap::Open;
        }
        match self.transmissions.get_mut(t.number) {
            Some(place) => *place = t,
            None => {
                self.transmissions.push(t);
            }
        }
        self.transmissions[t.number].earlier = self.begun;
        self.begun = self.begun.wrapping_add(1);
        self.alone[t.number] = Duration::ZERO;
        if !self.active.is_empty() {
            self.overlap(t.number);
        }
        self.active.push(t.number);
    }

    /// A transmission begins while others are on the air.
    #[inline(never)]
    fn overlap(&mut self, number: TransmissionId) {
        if let [only] = self.active[..] {
            let first = &mut self.transmissions[only];
            // Several on the air have overlapped each other before.
            if !std::mem::replace(&mut first.overlapped, true) {
                self.clashes.push(Clash::of(first));
            }
        }
        if self.clashes.len() >= self.limit {
            self.forget_clashes();
        }
        let t = &mut self.transmissions[number];
        t.overlapped = true;
        self.clashes.push(Clash::of(t));
    }

    /// Drops those that ended before all on the air began.
    #[cold]
    fn forget_clashes(&mut self) {
        let starts = self.active.iter().map(|t| self.transmissions[*t].start);
        if let Some(first) = starts.min() {
            self.clashes.retain(|clash| clash.end >= first);
        }
        self.limit = (self.clashes.len() * 2).max(MANY);
    }

    /// Transmissions that overlapped another, in the order in which they began.
    #[inline]
    pub(super) fn clashes(&self, t: &Transmission) -> impl Iterator<Item = &Clash> {
        let (earlier, start, end) = (t.earlier, t.start, t.end);
        self.clashes
            .iter()
            .filter(move |c| c.earlier != earlier && c.start < end && c.end > start)
    }

    /// Schedules the end of a transmission that has just begun.
    #[inline(always)]
    pub(super) fn schedule_end(
        &mut self,
        cx: &mut Context,
        end: Instant,
        event: Event,
        t: TransmissionId,
    ) {
        if self.active.len() > 1 && self.ends_with_last(cx, end, t) {
            return;
        }
        cx.schedule(end, event);
        self.last_end = LastEnd {
            transmission: t,
            scheduled: cx.events.scheduled(),
        };
    }

    /// Whether a transmission ends by the event of the one that began before it: at the same instant,
    /// with no other event between theirs.
    #[inline(never)]
    fn ends_with_last(&mut self, cx: &Context, end: Instant, t: TransmissionId) -> bool {
        let LastEnd {
            transmission: last,
            scheduled,
        } = self.last_end;
        // One that is over may have given its number to this one.
        let alike = last != t && self.transmissions[last].end == end;
        if !alike || scheduled != cx.events.scheduled() {
            return false;
        }
        #[cfg(test)]
        if self.ends_apart {
            return false;
        }
        self.followers[last] = Some(t);
        self.last_end.transmission = t;
        true
    }

    /// Gives each transmission an event of its own.
    #[cfg(test)]
    pub(super) fn end_apart(&mut self) {
        self.ends_apart = true;
    }

    /// The transmission that ends by the event of one that has ended.
    #[inline]
    pub(super) fn take_follower(&mut self, ended: &Transmission) -> Option<TransmissionId> {
        if !ended.overlapped {
            return None;
        }
        self.followers[ended.number].take()
    }

    /// Takes a transmission off the air.
    #[inline]
    pub(super) fn end(&mut self, transmission: TransmissionId) -> Transmission {
        if self.active.len() == 1 {
            self.active.clear();
        } else if let Some(at) = self.active.iter().position(|t| *t == transmission) {
            self.active.swap_remove(at);
        }
        self.transmission(transmission)
    }

    /// A transmission on the air.
    #[inline(always)]
    pub(super) fn transmission(&self, number: TransmissionId) -> Transmission {
        Transmission {
            alone: self.alone[number],
            ..self.transmissions[number]
        }
    }

    /// A transmission on the air counts as one of `origin` from now on.
    pub(super) fn set_origin(&mut self, number: TransmissionId, origin: Origin) {
        self.transmissions[number].origin = origin;
    }

    /// Frees the place of a transmission.
    #[inline]
    pub(super) fn forget(&mut self, ended: &Transmission) {
        if ended.overlapped && self.active.is_empty() {
            self.clashes.clear();
        }
        self.free.push(ended.number);
    }

    pub(super) fn on_the_air(&self) -> impl Iterator<Item = Transmission> {
        self.active.iter().map(|t| self.transmission(*t))
    }

    pub(super) fn restart(&mut self) {
        self.busy = Duration::ZERO;
        for &id in &self.active {
            self.alone[id] = Duration::ZERO;
        }
    }

    /// Books the air from the last booking to the present; called before anything on it changes.
    #[inline]
    pub(super) fn book(&mut self, cx: &mut Context) {
        let now = cx.now();
        let span = now - self.booked;
        if span.is_zero() {
            return;
        }
        self.booked = now;
        if !self.active.is_empty() {
            self.busy += span;
        }
        if self.shared {
            self.book_shared(cx, span);
            return;
        }
        match self.active.as_slice() {
            [] => self.book_silence(cx, span),
            [only] => self.alone[*only] += span,
            // Two frames overlap: the time is lost to at least one of them.
            _ => cx.observe_air(Air::Retry, span),
        }
    }

    /// Books a stretch without a frame that counts.
    #[inline(always)]
    fn book_silence(&mut self, cx: &mut Context, span: Duration) {
        match self.gap {
            Gap::Response => cx.observe_air(Air::Ack, span),
            Gap::Protection => cx.observe_air(Air::Protection, span),
            Gap::Neighbour => cx.observe_air(Air::Neighbours, span),
            Gap::Open if self.backlog > 0 && self.interferers > 0 => {
                cx.observe_air(Air::Interference, span);
            }
            Gap::Open if self.backlog > 0 => cx.observe_air(Air::Contention, span),
            Gap::Open => {
                cx.observe_air(Air::Idle, span);
                let now = cx.now();
                let span = self.ciphers.within(now - span, now);
                cx.observe(Observation::CiphersExposed { span });
            }
        }
    }

    /// Books a stretch of a channel with neighbours: by the own frames on it, else by those of
    /// neighbours that an own access point senses.
    #[cold]
    #[inline(never)]
    fn book_shared(&mut self, cx: &mut Context, span: Duration) {
        let (mut own, mut only, mut heard) = (0_u32, None, false);
        for &number in &self.active {
            match self.transmissions[number].origin {
                Origin::Own => {
                    own += 1;
                    only = Some(number);
                }
                Origin::Neighbour => heard = true,
                Origin::Far => {}
            }
        }
        match (own, only) {
            (1, Some(only)) => self.alone[only] += span,
            (0, _) if heard => cx.observe_air(Air::Neighbours, span),
            (0, _) => self.book_silence(cx, span),
            _ => cx.observe_air(Air::Retry, span),
        }
    }
}
