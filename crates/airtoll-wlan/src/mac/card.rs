//! Frames that wait for the network card: contention begins, or a frame is sent, only when the
//! card has prepared it.
//!
//! A contender whose next frame is not ready is [`Standing::Preparing`]; the event of its card ends
//! that. A retry is ready at once, because the card still has the frame.

use airtoll_units::{Duration, Instant};

use super::Mac;
use super::contention::Standing;
use super::link::{Agreement, Request};
use super::rate_control::RateControl;
use crate::context::{Action, Context};
use crate::device::{Nic, Work};
use crate::event::Event;
use crate::id::{ContenderId, LinkId, RadioId};
use crate::medium::Medium;
use crate::observe::Observation;
use crate::scenario::Meanwhile;
use airtoll_phy as phy;

/// State of a network card for one contender of its node.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Card {
    /// When the next frame is ready, once that is known.
    ready: Option<Instant>,
    /// From when the next frame could have contended.
    from: Instant,
    /// When the frame at hand was ready; zero where it never waited.
    pub(super) waited_until: Instant,
    /// The back-off of the next frame runs already or has ended.
    counts: bool,
    /// How long a frame waited after the end of its back-off.
    after_back_off: Duration,
}

impl Mac {
    /// Gives a node a network card that prepares its frames.
    pub fn set_nic(&mut self, node: RadioId, nic: Nic) {
        self.nic_of[node] = Some(self.nics.push(nic));
        self.has_cards = true;
    }

    /// Gives a further radio of a station the card of its first one, as a station has one card
    /// whatever the BSS that it is in.
    pub fn share_nic(&mut self, node: RadioId, first: RadioId) {
        self.nic_of[node] = self.nic_of[first];
    }

    /// The card of a node, if it has one.
    #[cfg(test)]
    pub fn nic_of(&self, node: RadioId) -> Option<crate::id::CardId> {
        self.nic_of[node]
    }

    /// Whether any node has a network card that prepares frames.
    pub fn has_cards(&self) -> bool {
        self.has_cards
    }

    /// When the next frame of a contender is ready, whose last exchange was over at `over`; `None`
    /// where nothing prepares it.
    fn card_ready(&mut self, cx: &Context, id: ContenderId, over: Instant) -> Option<Instant> {
        let node = self.contenders[id].node;
        let nic = self.nic_of[node]?;
        if let Some(known) = self.cards[id].ready {
            return Some(known);
        }
        let ready = match self.next_work(cx, id) {
            Some(work) => self.nics[nic].prepare(&work, over),
            None => over,
        };
        let card = &mut self.cards[id];
        (card.ready, card.from) = (Some(ready), over);
        Some(ready)
    }

    /// The frames that a contender sends next and that its card has not prepared yet.
    fn next_work(&mut self, cx: &Context, id: ContenderId) -> Option<Work> {
        let waiting = |l: &LinkId| self.links[*l].has_packet();
        let link = if self.in_turn(id) {
            let queue = &self.queues[id];
            queue
                .unfinished
                .or_else(|| queue.order.links().find(waiting))?
        } else {
            self.choose_link(id)?
        };
        let state = &self.links[link];
        let mode = match &state.rate {
            RateControl::Fixed(mode) => *mode,
            _ => self.exchanges[id].mode(),
        };
        let mode = &self.modes[mode];
        let prepared = state.window.iter().filter(|m| !m.acknowledged);
        let (mut mpdus, mut octets) = prepared.fold((0, 0), |(n, sum), m| (n + 1, sum + m.octets));
        let alone = !mode.aggregates() || state.degraded.lacks_agreement();
        if state.request == Request::Due || (mpdus > 0 && alone) {
            return None;
        }
        let (most, limit) = (mode.most_mpdus(), mode.ampdu_limit());
        let around =
            super::mac_octets(state.subtype, state.addresses) + state.cipher.frame_octets() as u32;
        let mut work = Work {
            mpdus: 0,
            octets: 0,
            cipher: state.cipher,
            queued: Instant::ZERO,
            airtime: Duration::ZERO,
        };
        for packet in state.waiting() {
            let packet = &cx.packets[packet];
            let msdu = phy::LLC_SNAP_OCTETS + packet.ip_octets;
            octets = octets.next_multiple_of(4) + 4 + msdu + around;
            if mpdus == most || (mpdus > 0 && octets > limit) {
                break;
            }
            mpdus += 1;
            let pieces = match state.division.piece {
                0 => 1,
                _ if state.agreement == Agreement::Agreed => 1,
                piece => msdu.div_ceil(piece),
            };
            work.mpdus += pieces;
            work.octets += msdu;
            work.queued = work.queued.max(packet.left);
        }
        let bits = 8_000_000_000 * u64::from(work.octets);
        work.airtime = Duration::from_nanos(bits / mode.bit_rate());
        (work.mpdus > 0).then_some(work)
    }

    /// An exchange was over at `over` and the contender has another frame: whether it has to wait
    /// for its card before it contends.
    pub(super) fn awaits_card(&mut self, cx: &mut Context, id: ContenderId, over: Instant) -> bool {
        let Some(ready) = self.card_ready(cx, id, over) else {
            return false;
        };
        match self.meanwhile_of(id) {
            Meanwhile::BackOff => {
                if ready <= over.max(cx.now()) {
                    return false;
                }
                self.back_off_apart(cx.now(), id, over, false);
                self.cards[id].counts = true;
                self.prepare_until(cx, id, ready);
                true
            }
            other => self.contends_later(cx, id, ready, other, over),
        }
    }

    /// A frame came to a contender at rest: whether it has to wait for its card before it contends.
    pub(super) fn arrival_awaits_card(&mut self, cx: &mut Context, id: ContenderId) -> bool {
        let now = cx.now();
        let Some(ready) = self.card_ready(cx, id, now) else {
            return false;
        };
        self.cards[id].counts = true;
        let meanwhile = self.meanwhile_of(id);
        if meanwhile == Meanwhile::BackOff && ready > now {
            self.prepare_until(cx, id, ready);
            return true;
        }
        self.contends_later(cx, id, ready, meanwhile, now)
    }

    /// Whether the next PPDU of a contender is ready at `at`, for a burst.
    pub(super) fn card_keeps_up(&mut self, cx: &Context, id: ContenderId, at: Instant) -> bool {
        let ready = self.card_ready(cx, id, cx.now());
        ready.is_none_or(|ready| ready <= at)
    }

    fn meanwhile_of(&self, id: ContenderId) -> Meanwhile {
        let node = self.contenders[id].node;
        let nic = self.nic_of[node];
        nic.map_or(Meanwhile::Nothing, |nic| self.nics[nic].meanwhile())
    }

    /// Contention begins when the frame is ready, or an interframe space before.
    fn contends_later(
        &mut self,
        cx: &mut Context,
        id: ContenderId,
        ready: Instant,
        meanwhile: Meanwhile,
        over: Instant,
    ) -> bool {
        let mut at = ready;
        if meanwhile != Meanwhile::Nothing {
            at = Instant::ZERO + (ready - Instant::ZERO).saturating_sub(self.aifs_of(id));
        }
        self.cards[id].waited_until = ready;
        // An exchange that failed was over before its timeout.
        if at <= over.max(cx.now()) {
            return false;
        }
        self.prepare_until(cx, id, at);
        true
    }

    fn prepare_until(&mut self, cx: &mut Context, id: ContenderId, at: Instant) {
        self.contenders[id].standing = Standing::Preparing;
        cx.schedule(at, Event::CardReady { contender: id });
    }

    /// The card of a contender has prepared its next frame as far as contention waits for it.
    pub fn card_due(&mut self, cx: &mut Context, medium: &mut Medium, id: ContenderId) {
        let now = cx.now();
        if !self.has_frame(id) {
            // Its packets were dropped meanwhile.
            self.want(cx, medium, id, false);
            let node = medium.host_of(self.contenders[id].node);
            if std::mem::take(&mut self.cards[id].counts) {
                self.contenders[id].standing = Standing::Resting;
            } else {
                self.back_off_apart(now, id, now, false);
            }
            self.cards[id] = Card::default();
            cx.act(Action::Arm { node });
            return;
        }
        let card = &mut self.cards[id];
        if !std::mem::take(&mut card.counts) {
            self.back_off_apart(now, id, now, true);
            return;
        }
        let sensed = self.meanwhile_of(id) == Meanwhile::BackOff;
        if sensed {
            self.cards[id].waited_until = now;
        }
        self.contenders[id].standing = Standing::Resting;
        let ended = self.request_access_after(cx, medium, id, sensed);
        if let Some(ended) = ended.filter(|_| sensed) {
            let card = &mut self.cards[id];
            card.after_back_off = now.saturating_since(ended.max(card.from));
        }
    }

    /// The instant before which a contender that won cannot send: its frame is not ready.
    #[inline]
    pub(super) fn held_by_card(&self, id: ContenderId, now: Instant) -> Option<Instant> {
        let until = self.cards[id].waited_until;
        (until > now).then_some(until)
    }

    /// A contender sends its frame: books the silence that its card caused, and forgets it.
    #[cold]
    pub(super) fn leave_card(&mut self, cx: &mut Context, medium: &mut Medium, id: ContenderId) {
        let card = std::mem::take(&mut self.cards[id]);
        if card.waited_until == Instant::ZERO {
            return;
        }
        let contender = &self.contenders[id];
        let channel = contender.channel;
        let idle_since = self.idle_since(id);
        let from = card.from.max(idle_since);
        let waited = match self.meanwhile_of(id) {
            Meanwhile::Nothing => card.waited_until.saturating_since(from),
            Meanwhile::InterframeSpace => {
                card.waited_until.saturating_since(from + self.aifs_of(id))
            }
            Meanwhile::BackOff if card.waited_until == cx.now() => card.after_back_off,
            Meanwhile::BackOff => Duration::ZERO,
        };
        medium.book(cx, channel);
        let silence = cx.now().saturating_since(idle_since);
        let span = waited.min(silence);
        cx.observe(Observation::WaitedForCard { span });
    }
}
