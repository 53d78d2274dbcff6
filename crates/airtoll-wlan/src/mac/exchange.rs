//! Frame exchanges: protection, data, response, and the steps after their success or failure
//! (IEEE 802.11-2020 clauses 10.3.2 and 10.23.2).

use airtoll_phy as phy;
use airtoll_units::{Duration, Instant};

use super::aggregation::{Fill, Pending, PpduContent};
use super::contention::Standing;
use super::link::{HandUp, Heard, Mpdu, Request, Way};
use super::rate_control::RateControl;
use super::{Mac, Mode};
use crate::context::{Action, Context, Effects, Step};
use crate::event::Event;
use crate::id::{ContenderId, LinkId, ModeId, RadioId, TransmissionId};
use crate::medium::{AirTime, FrameKind, Gap, Mark, Medium, Origin, Sent, Spectrum, Transmission};
use crate::observe::Observation;
use crate::observe::ledger::{Air, Octets};
use crate::scenario::Protection;

/// State of the exchange of a contender.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// RTS sent; its receiver owes a CTS.
    Cts,
    /// The data frame is next.
    Data,
    /// The data frame arrived; its receiver owes a response.
    Response,
    /// A new PPDU in the same TXOP is next.
    NextPpdu,
    /// The next fragment of the same MSDU is next.
    NextPiece,
    /// A CF-End is next, or on the air.
    CfEnd,
}

/// The present frame exchange of a contender.
#[derive(Debug, Clone)]
pub(crate) struct FrameExchange {
    link: LinkId,
    way: Way,
    mode: ModeId,
    /// MPDUs in the PPDU.
    count: u32,
    /// Length of the PSDU, octets.
    psdu: u32,
    /// Airtime of the PPDU.
    length: Duration,
    /// Answered by a block ack.
    aggregate: bool,
    /// A BlockAckReq instead of data.
    request: bool,
    /// Time from the end of the response to the end of the next fragment's, in a fragment burst.
    follows: Duration,
    stage: Stage,
    data_end: Instant,
    /// When the sender knows that no response comes.
    known_at: Instant,
    /// End of the TXOP or frame burst; zero where one exchange is all.
    txop_end: Instant,
    /// A link that was chosen for the next PPDU before expired packets were dropped.
    pending: Option<Pending>,
    /// The MPDU that is complete next, where MPDUs are handed up before the PPDU ends: its
    /// sequence number, and the octets of the PSDU before it.
    on_air: (u32, u32),
}

impl FrameExchange {
    pub(super) fn new() -> Self {
        Self {
            link: LinkId::new(0),
            way: Way::FIRST,
            mode: ModeId::new(0),
            count: 0,
            psdu: 0,
            length: Duration::ZERO,
            aggregate: false,
            request: false,
            follows: Duration::ZERO,
            stage: Stage::Data,
            data_end: Instant::ZERO,
            known_at: Instant::ZERO,
            txop_end: Instant::ZERO,
            pending: None,
            on_air: (0, 0),
        }
    }

    /// The link of its data.
    #[inline]
    pub fn link(&self) -> LinkId {
        self.link
    }

    /// The way of its data.
    #[inline]
    pub fn way(&self) -> Way {
        self.way
    }

    #[inline]
    pub fn mode(&self) -> ModeId {
        self.mode
    }

    /// MPDUs in the PPDU.
    pub fn count(&self) -> u32 {
        self.count
    }

    /// Whether a block ack answers it.
    pub fn is_aggregate(&self) -> bool {
        self.aggregate
    }

    /// Airtime of the PPDU.
    pub(super) fn length(&self) -> Duration {
        self.length
    }

    /// Takes the link that was chosen before expired packets were dropped.
    #[inline]
    pub(super) fn take_pending(&mut self) -> Option<Pending> {
        self.pending.take()
    }

    /// Keeps a link that is chosen until expired packets have been dropped.
    pub(super) fn keep_pending(&mut self, pending: Pending) {
        self.pending = Some(pending);
    }

    /// The next PPDU is a BlockAckReq.
    pub(super) fn prepare_request(
        &mut self,
        (link, way): (LinkId, Way),
        (number, mode): (ModeId, &Mode),
    ) {
        (self.link, self.way) = (link, way);
        self.mode = number;
        self.count = 0;
        self.aggregate = true;
        self.request = true;
        self.follows = Duration::ZERO;
        self.psdu = phy::BLOCK_ACK_REQ_OCTETS;
        self.length = phy::airtime(mode.response(), self.psdu);
    }

    /// The next PPDU holds data; `follows`: time from the end of its response to the end of the next
    /// fragment's.
    #[inline]
    pub(super) fn prepare_data(
        &mut self,
        (link, way): (LinkId, Way),
        (number, mode): (ModeId, &Mode),
        content: PpduContent,
        follows: Duration,
    ) {
        let PpduContent { mpdus, psdu } = content;
        if self.request || self.mode != number || self.psdu != psdu {
            self.length = mode.airtime(psdu);
        }
        (self.link, self.way) = (link, way);
        self.mode = number;
        self.count = mpdus;
        self.aggregate = mpdus > 1;
        self.request = false;
        self.follows = follows;
        self.psdu = psdu;
    }

    /// The content of the PPDU.
    pub(super) fn content(&self) -> PpduContent {
        PpduContent {
            mpdus: self.count,
            psdu: self.psdu,
        }
    }

    /// When the sender knew how the exchange ended.
    pub(super) fn known_at(&self) -> Instant {
        self.known_at
    }

    /// The sender knows at `at` how the exchange ended.
    pub(super) fn know_at(&mut self, at: Instant) {
        self.known_at = at;
    }

    /// Whether the TXOP limit lies after `now`.
    pub(super) fn reserves_beyond(&self, now: Instant) -> bool {
        self.txop_end > now
    }

    /// Airtime of the response to the PPDU.
    #[inline]
    pub(super) fn answer(&self, mode: &Mode) -> Duration {
        mode.answer(self.aggregate)
    }
}

impl Mac {
    /// A resting contender got a frame.
    pub(super) fn wake(&mut self, cx: &mut Context, medium: &mut Medium, id: ContenderId) {
        self.want(cx, medium, id, true);
        if self.ofdma.is_some() && self.is_deferred(id, cx.now()) {
            self.contenders[id].standing = Standing::Preparing;
            return;
        }
        if self.single_radios.is_some() && self.waits_for_radio(cx, id) {
            return;
        }
        if self.has_cards && self.arrival_awaits_card(cx, id) {
            return;
        }
        self.request_access(cx, medium, id);
    }

    /// Whether a contender sends nothing but beacons.
    #[inline]
    pub fn sends_beacons(&self, id: ContenderId) -> bool {
        self.contenders[id].beacons
    }

    /// A contender won: chooses the frames that it sends. Gives whether to ask again, once expired
    /// packets are dropped.
    #[inline]
    pub fn prepare(&mut self, cx: &mut Context, medium: &mut Medium, id: ContenderId) -> bool {
        let now = cx.now();
        let contender = &self.contenders[id];
        if !contender.beacons {
            let limit = contender.txop_limit;
            self.exchanges[id].txop_end = Instant::ZERO;
            if self.widths.is_some() {
                self.choose_width(cx, medium, id);
            }
            let txop = (!limit.is_zero()).then_some(limit);
            let fill = if self.ofdma.is_some() {
                self.fill_shared(cx, medium, id, txop)
            } else {
                self.fill(cx, medium, id, txop)
            };
            match fill {
                Fill::Ready => {}
                Fill::Dropped => return true,
                Fill::Empty => {
                    let node = self.contenders[id].node;
                    self.want(cx, medium, id, false);
                    self.back_off_apart(now, id, now, false);
                    let node = medium.host_of(node);
                    cx.act(Action::Arm { node });
                    return false;
                }
            }
            if let Some(txop) = txop {
                self.exchanges[id].txop_end = now + txop;
            }
        }
        self.contenders[id].standing = Standing::Exchanging;
        if self.reuse.is_some() {
            self.choose_power(medium, id);
        }
        if self.has_cards {
            self.leave_card(cx, medium, id);
        }
        if self.single_radios.is_some() {
            self.occupy_radio(cx, medium, id);
        }
        self.keep_winner(id);
        false
    }

    /// Transmits, and lets the nodes that hear it freeze their counters.
    #[inline(never)]
    pub(super) fn transmit(
        &mut self,
        cx: &mut Context,
        medium: &mut Medium,
        (id, node): (ContenderId, RadioId),
        kind: FrameKind,
        mut air: AirTime,
    ) -> TransmissionId {
        if self.contenders[id].cf_end.is_some() && kind != FrameKind::CfEnd {
            // Multiple protection (9.2.5.2): up to the TXOP limit.
            let end = cx.now() + air.length;
            let rest = self.exchanges[id].txop_end.max(end) - end;
            air.protects = air.protects.max(rest);
        }
        if self.reuse.is_some() || self.widths.is_some() {
            return self.transmit_marked(cx, medium, (id, node), kind, air);
        }
        let transmission = medium.transmit(cx, id, node, kind, (air, Mark::NONE));
        let domain = &mut self.domains[medium.channel_of(node)];
        domain.become_busy(cx.now(), medium.ears(node), &mut self.contenders);
        transmission
    }

    /// Transmits where some node reuses the channel, or channels overlap in part.
    #[cold]
    #[inline(never)]
    fn transmit_marked(
        &mut self,
        cx: &mut Context,
        medium: &mut Medium,
        (id, node): (ContenderId, RadioId),
        kind: FrameKind,
        air: AirTime,
    ) -> TransmissionId {
        let mark = if self.reuse.is_some() {
            self.reuse_mark(cx, medium, (id, node), kind)
        } else {
            self.width_mark(id, kind)
        };
        let transmission = medium.transmit(cx, id, node, kind, (air, mark));
        let domain = &mut self.domains[medium.channel_of(node)];
        let ears = medium.sense_start(node, mark);
        domain.become_busy(cx.now(), ears, &mut self.contenders);
        if mark.colored {
            medium.await_color(cx, (node, mark), transmission);
        }
        transmission
    }

    /// Sends the first frame of an exchange that was prepared.
    #[inline(always)]
    pub(super) fn start_exchange(
        &mut self,
        cx: &mut Context,
        medium: &mut Medium,
        id: ContenderId,
    ) {
        let node = self.contenders[id].node;
        if self.has_dialogues && self.contenders[id].beacons {
            self.list_waiting(node);
        }
        if let Some(beacon) = self.beacon_of(id) {
            let air = AirTime::unprotected(beacon.present().0);
            self.transmit(cx, medium, (id, node), FrameKind::Beacon, air);
            return;
        }
        if self.ofdma.is_some() && self.start_shared(cx, medium, id) {
            return;
        }
        let sifs = self.sifs(medium, id);
        let mut forced = false;
        if self.single_radios.is_some() {
            if self.send_initial_control(cx, medium, id) {
                self.exchanges[id].stage = Stage::Cts;
                return;
            }
            forced = self.lacks_sync(cx, id);
        }
        let exchange = &self.exchanges[id];
        let mode = &self.modes[exchange.mode];
        let link = &self.links[exchange.link];
        if link.is_group() {
            let air = AirTime::unprotected(exchange.length);
            self.transmit(cx, medium, (id, node), FrameKind::Group, air);
            return;
        }
        let rest = sifs + exchange.length + sifs + exchange.answer(mode);
        let (rts, cts) = (mode.rts(), mode.cts());
        let protection = if forced {
            Protection::RtsCts
        } else if exchange.request {
            Protection::None
        } else {
            mode.protection(exchange.psdu, link.rts_octets)
        };
        match protection {
            Protection::RtsCts => {
                self.exchanges[id].stage = Stage::Cts;
                let air = AirTime {
                    length: rts,
                    protects: sifs + cts + rest,
                };
                self.transmit(cx, medium, (id, node), FrameKind::Rts, air);
            }
            Protection::CtsToSelf => {
                self.exchanges[id].stage = Stage::Data;
                let air = AirTime {
                    length: cts,
                    protects: rest,
                };
                self.transmit(cx, medium, (id, node), FrameKind::CtsToSelf, air);
            }
            Protection::None => self.send_data(cx, medium, id),
        }
    }

    #[inline(always)]
    fn send_data(&mut self, cx: &mut Context, medium: &mut Medium, id: ContenderId) {
        let sifs = self.sifs(medium, id);
        let node = self.contenders[id].node;
        let exchange = &mut self.exchanges[id];
        let answer = exchange.answer(&self.modes[exchange.mode]);
        let (length, follows) = (exchange.length, exchange.follows);
        exchange.stage = Stage::Response;
        exchange.data_end = cx.now() + length;
        let kind = if exchange.request {
            FrameKind::BlockAckReq
        } else {
            FrameKind::Data
        };
        let (link, parted) = (exchange.link, exchange.count > 1 && !exchange.request);
        let air = AirTime {
            length,
            protects: sifs + answer + follows,
        };
        let transmission = self.transmit(cx, medium, (id, node), kind, air);
        if parted && self.links[link].hand_up == HandUp::AtMpduEnd {
            let first = self.links[link].flying(self.exchanges[id].way).next();
            let first = first.map_or(0, |m| m.sequence);
            self.exchanges[id].on_air = (first, 0);
            self.expect_mpdu(cx, id, transmission);
        }
    }

    /// Waits for the end of the next MPDU of an A-MPDU; that of the last one is the PPDU's.
    fn expect_mpdu(&self, cx: &mut Context, id: ContenderId, transmission: TransmissionId) {
        let exchange = &self.exchanges[id];
        let (sequence, before) = exchange.on_air;
        let Some(mpdu) = self.links[exchange.link].in_flight(sequence, exchange.way) else {
            return;
        };
        let mode = &self.modes[exchange.mode];
        let spacing = self.links[exchange.link].spacing(mode);
        let octets = phy::OctetSpan {
            from: before,
            to: before + spacing.subframe_octets(mpdu.octets),
        };
        let vector = mode.vector();
        let end = exchange.data_end;
        let at = end - exchange.length + phy::octets_on_air(vector, octets).to;
        if at < end {
            let event = Event::MpduEnd {
                contender: id,
                transmission,
            };
            cx.schedule(at, event);
        }
    }

    /// An MPDU of an A-MPDU is complete, and its receiver checks its FCS and hands it up
    /// (10.25.6.6) while the PPDU is still on the air.
    pub fn mpdu_ended(
        &mut self,
        cx: &mut Context,
        medium: &mut Medium,
        id: ContenderId,
        transmission: TransmissionId,
    ) {
        if self.ofdma.is_some() && self.shared_mpdus_ended(cx, medium, (id, transmission)) {
            return;
        }
        let t = medium.transmission(self.contenders[id].node, transmission);
        let exchange = &self.exchanges[id];
        let (number, mode_id, (sequence, before)) = (exchange.link, exchange.mode, exchange.on_air);
        let way = exchange.way;
        let link = &mut self.links[number];
        let spacing = link.spacing(&self.modes[mode_id]);
        let several = link.has_several_ways();
        let ends = link.ends(way);
        let peer = ends.to;
        let (window, success) = link.window_and_success(way);
        let front = window.front().map_or(sequence, |m| m.sequence);
        let at = sequence.wrapping_sub(front) as usize;
        let Some(mpdu) = window.get_mut(at).filter(|m| m.in_flight == Some(way)) else {
            return;
        };
        let after = before + spacing.subframe_octets(mpdu.octets);
        let vector = self.modes[mode_id].vector();
        let reception = if medium.is_disturbed(&t) {
            let octets = phy::OctetSpan {
                from: before,
                to: after,
            };
            medium.mpdu_reception(&t, peer, vector, octets)
        } else {
            medium.reception(&t, peer)
        };
        let arrives = reception.is_some_and(|r| {
            let sent = Sent {
                mode: mode_id,
                vector,
                spectrum: Spectrum::Whole,
            };
            medium.data_arrives(ends, sent, mpdu.octets, (r, t.end), success)
        });
        mpdu.hear(arrives);
        let mut behind = window[at + 1..].iter();
        let other = |m: &&Mpdu| several && m.in_flight != Some(way);
        let follows = behind.find(|m| !m.acknowledged && !other(m));
        if let Some(next) = follows.filter(|m| m.in_flight.is_some()) {
            self.exchanges[id].on_air = (next.sequence, after);
            self.expect_mpdu(cx, id, transmission);
        }
        if arrives {
            self.deliver_apart(cx, number);
        }
    }

    /// SIFS after a frame that asks for a response.
    #[inline(always)]
    pub fn respond(&mut self, cx: &mut Context, medium: &mut Medium, id: ContenderId) {
        if self.ofdma.is_some() && self.respond_shared(cx, medium, id) {
            return;
        }
        let exchange = &self.exchanges[id];
        let mode = &self.modes[exchange.mode];
        let peer = self.links[exchange.link].ends(exchange.way).to;
        let sifs = self.sifs(medium, id);
        let answer = exchange.answer(mode);
        if exchange.stage == Stage::Cts {
            let cts = self.opening(id).map_or(mode.cts(), |opening| opening.cts);
            let air = AirTime {
                length: cts,
                protects: sifs + exchange.length + sifs + answer,
            };
            self.exchanges[id].stage = Stage::Data;
            self.transmit(cx, medium, (id, peer), FrameKind::Cts, air);
        } else {
            let air = AirTime {
                length: answer,
                protects: exchange.follows,
            };
            let response = self.transmit(cx, medium, (id, peer), FrameKind::Response, air);
            if self.probing.is_some() {
                self.own_response(medium, (id, peer), response);
            }
        }
    }

    /// SIFS after a frame of the contender's own exchange: its next frame.
    pub fn proceed(&mut self, cx: &mut Context, medium: &mut Medium, id: ContenderId) {
        match (self.exchanges[id].stage, &self.contenders[id].cf_end) {
            (Stage::NextPpdu, _) => self.start_exchange(cx, medium, id),
            (Stage::CfEnd, Some(cf_end)) => {
                let air = AirTime::unprotected(cf_end.length);
                let node = self.contenders[id].node;
                self.transmit(cx, medium, (id, node), FrameKind::CfEnd, air);
            }
            _ => self.send_data(cx, medium, id),
        }
    }

    /// A transmission ended: the nodes that heard it count again.
    #[inline]
    pub fn frame_ended(&mut self, cx: &Context, medium: &Medium, t: &Transmission) {
        let reserves = self.uses_rts && !t.protects.is_zero();
        let parties = reserves.then(|| {
            let exchange = &self.exchanges[t.contender];
            let peer = self.links[exchange.link].ends(exchange.way).to;
            [self.contenders[t.contender].node, peer]
        });
        if self.single_radios.is_some() {
            self.note_decoded(medium, t);
        }
        let domain = &mut self.domains[medium.channel_of(t.node)];
        for &ear in medium.sense_end(t.node, t.mark) {
            if t.kind == FrameKind::CfEnd && !t.overlapped {
                domain.forget_nav(cx.now(), ear);
            }
            if let Some(parties) = parties
                && medium.decodes(t, ear)
            {
                domain.reserve(cx.now(), ear, t.protects, parties);
            }
            let nav = medium.reserved(t, ear);
            domain.become_idle(cx.now(), ear, nav, &mut self.contenders);
        }
    }

    /// A transmission that is not group-addressed ended: books its time, and continues or fails its
    /// exchange.
    #[inline]
    pub fn sent(&mut self, cx: &mut Context, medium: &mut Medium, t: &Transmission) {
        let now = cx.now();
        let id = t.contender;
        let (kind, alone) = (t.kind, t.alone);
        match kind {
            FrameKind::Data => return self.data_sent(cx, medium, t),
            FrameKind::Beacon => return self.beacon_sent(cx, medium, t),
            FrameKind::Group => return,
            FrameKind::MultiUser
            | FrameKind::Trigger
            | FrameKind::Triggered
            | FrameKind::MultiAck => return self.shared_sent(cx, medium, t),
            FrameKind::InitialControl => return self.initial_control_sent(cx, medium, t),
            _ => {}
        }
        let sender = self.contenders[id].node;
        let exchange = &self.exchanges[id];
        let mode = &self.modes[exchange.mode];
        let peer = self.links[exchange.link].ends(exchange.way).to;
        match kind {
            FrameKind::Rts => {
                let timeout = mode.cts_timeout();
                let arrived = medium.control_arrives(t, peer, mode.response(), phy::RTS_OCTETS);
                let free = medium.engaged_until(peer) <= now && self.nav_of(medium, peer) <= now;
                if arrived && free {
                    cx.observe_air(Air::Protection, alone);
                    self.expect(cx, medium, id, Gap::Protection, &[peer], true);
                } else {
                    cx.observe_air(Air::Retry, alone);
                    let answer = (mode.cts(), *mode.guard());
                    self.expect_nav_reset(cx, medium, id, answer);
                    self.fail(cx, id, now + timeout);
                }
            }
            FrameKind::CfEnd => {
                cx.observe_air(Air::Protection, alone);
                self.exchanges[id].txop_end = now;
                self.finish_apart(cx, medium, id, now);
            }
            FrameKind::CtsToSelf => {
                cx.observe_air(Air::Protection, alone);
                self.expect(cx, medium, id, Gap::Protection, &[sender], false);
            }
            FrameKind::Cts => {
                if medium.control_arrives(t, sender, mode.response(), phy::CTS_OCTETS) {
                    cx.observe_air(Air::Protection, alone);
                    if self.single_radios.is_some() {
                        self.radio_answered(id);
                    }
                    self.expect(cx, medium, id, Gap::Protection, &[sender], false);
                } else {
                    cx.observe_air(Air::Retry, alone);
                    self.fail(cx, id, now);
                }
            }
            FrameKind::BlockAckReq => {
                let octets = phy::BLOCK_ACK_REQ_OCTETS;
                let timeout = mode.timeout();
                if medium.control_arrives(t, peer, mode.response(), octets) {
                    cx.observe_air(Air::Ack, alone);
                    self.expect(cx, medium, id, Gap::Response, &[peer, sender], true);
                } else {
                    cx.observe_air(Air::Retry, alone);
                    self.fail(cx, id, now + timeout);
                }
            }
            _ => {
                let octets = mode.answer_octets(exchange.aggregate);
                let give_up = exchange.data_end + mode.timeout();
                if medium.response_arrives(t, sender, mode.response(), octets) {
                    cx.observe_air(Air::Ack, alone);
                    if t.origin == Origin::Own {
                        cx.observe(Observation::ControlOctets { octets });
                    }
                    cx.act(Action::Ended {
                        contender: id,
                        step: Step::Succeeded,
                    });
                } else {
                    cx.observe_air(Air::Retry, alone);
                    self.fail(cx, id, now.max(give_up));
                }
            }
        }
    }

    /// The next frame of an exchange follows after SIFS: a response, or one of its sender's own.
    #[inline(always)]
    pub(super) fn expect(
        &self,
        cx: &mut Context,
        medium: &mut Medium,
        id: ContenderId,
        gap: Gap,
        engaged: &[RadioId],
        response: bool,
    ) {
        let contender = &self.contenders[id];
        let at = cx.now() + medium.sifs(contender.channel);
        medium.pause(contender.channel, contender.node, gap);
        for &node in engaged {
            medium.engage(node, at);
        }
        let event = if response {
            Event::Respond { contender: id }
        } else {
            Event::Proceed { contender: id }
        };
        cx.schedule(at, event);
    }

    /// A node that heard an RTS and then nothing may forget its reservation after NAVTimeout: two
    /// SIFS, the CTS, aRxPHYStartDelay and two slots (10.3.2.4).
    pub(super) fn expect_nav_reset(
        &mut self,
        cx: &mut Context,
        medium: &Medium,
        id: ContenderId,
        (cts, guard): (Duration, phy::TxVector),
    ) {
        let now = cx.now();
        let exchange = &self.exchanges[id];
        let mode = &self.modes[exchange.mode];
        let channel = self.contenders[id].channel;
        let (sifs, slot) = (medium.sifs(channel), medium.slot(channel));
        let mut until = now + sifs + cts + sifs + exchange.length + sifs + exchange.answer(mode);
        if self.contenders[id].cf_end.is_some() {
            until = until.max(exchange.txop_end);
        }
        let patience = sifs * 2 + cts + phy::rx_phy_start_delay(&guard) + slot * 2;
        if now + patience < until {
            let reservation = self.reservations.insert((now, until));
            cx.schedule(
                now + patience,
                Event::NavReset {
                    channel,
                    reservation,
                },
            );
        }
    }

    #[inline]
    fn data_sent(&mut self, cx: &mut Context, medium: &mut Medium, t: &Transmission) {
        let (now, id) = (cx.now(), t.contender);
        let exchange = &self.exchanges[id];
        let (number, length, aggregate) = (exchange.link, exchange.length, exchange.aggregate);
        let (mode_id, way, count) = (exchange.mode, exchange.way, exchange.count);
        let mode = &self.modes[mode_id];
        let link = &mut self.links[number];
        let spacing = link.spacing(mode);
        let several = link.has_several_ways();
        let ends = link.ends(way);
        let peer = ends.to;
        let (account, signalling) = (link.account, link.is_signalling());
        let absent = signalling && self.probing.is_some() && self.receiver_left(cx, number);
        let (window, success) = self.links[number].window_and_success(way);
        // Each MPDU of an A-MPDU has its own time on the air.
        let partly = aggregate && medium.is_disturbed(t);
        let heard = !partly && !absent;
        let whole = heard.then(|| medium.reception(t, peer)).flatten();
        let partly = partly && !medium.is_lost_whole(t, peer, mode.vector());
        let mut octets_before = 0;
        let (mut good, mut bad, mut any) = (Octets::default(), 0, false);
        let (mut mpdus, mut of_groups) = (0_u32, 0_u32);
        for mpdu in window {
            if mpdu.in_flight != Some(way) {
                if mpdu.acknowledged || several {
                    continue;
                }
                break;
            }
            let from = octets_before;
            octets_before += spacing.subframe_octets(mpdu.octets);
            if mpdu.heard.is_none() {
                let outcome = if partly {
                    let octets = phy::OctetSpan {
                        from,
                        to: octets_before,
                    };
                    medium.mpdu_reception(t, peer, mode.vector(), octets)
                } else {
                    whole
                };
                let arrives = outcome.is_some_and(|r| {
                    let sent = Sent {
                        mode: mode_id,
                        vector: mode.vector(),
                        spectrum: Spectrum::Whole,
                    };
                    medium.data_arrives(ends, sent, mpdu.octets, (r, t.end), success)
                });
                mpdu.hear(arrives);
            }
            let heard = mpdu.heard.take();
            any |= heard != Some(Heard::Lost);
            mpdus += 1;
            let last = mpdus == count;
            let (framing, delimiters) = if !aggregate {
                (0, 0)
            } else if last {
                (phy::subframe_octets(mpdu.octets) - mpdu.octets, 0)
            } else {
                let added = spacing.added_octets(mpdu.octets);
                let framing = phy::subframe_octets(mpdu.octets) - mpdu.octets;
                (framing + added.delimiters + added.spacing, added.delimiters)
            };
            if mpdu.group {
                of_groups += mpdu.octets + framing;
            }
            if heard == Some(Heard::New) {
                good.add(&mpdu.parts);
                good.mac += framing - delimiters;
                // The delimiters are those of a cipher.
                good.security += delimiters;
            } else {
                bad += mpdu.octets + framing;
            }
        }
        // Its sender counts every PPDU, and its receiver those that arrived.
        let charged = account.filter(|account| any || *account == number);
        if signalling {
            self.signalling_sent(cx, number, t, any);
        } else if t.origin == Origin::Own {
            cx.observe(Observation::Data {
                alone: t.alone,
                length,
                bit_rate: mode.bit_rate(),
                good: &good,
                bad,
            });
        }
        if of_groups > 0 {
            let sifs = medium.sifs(medium.channel_of(t.node));
            let exchange = &self.exchanges[id];
            let answer = sifs + exchange.answer(&self.modes[mode_id]);
            let whole = t.alone + if any { answer } else { Duration::ZERO };
            let octets = u64::from(good.total() + bad).max(1);
            let span = Duration::from_nanos(whole.as_nanos() * u64::from(of_groups) / octets);
            cx.observe(Observation::GroupAir { span });
        }
        if let Some(account) = charged {
            let legacy = self.modes[mode_id].is_legacy();
            let sifs = medium.sifs(medium.channel_of(t.node));
            self.charge(account, if legacy { length + sifs } else { length });
        }
        if !any {
            let timeout = self.modes[mode_id].timeout();
            self.fail(cx, id, now + timeout);
            return;
        }
        let node = medium.host_of(peer);
        cx.observe(Observation::Receives { node, length });
        let sender = self.contenders[id].node;
        self.expect(cx, medium, id, Gap::Response, &[peer, sender], true);
        if aggregate && mpdus > 1 {
            self.nodes[peer].aggregate_ended = Some(now);
        }
        self.deliver_in_sequence(cx, number);
        if self.ofdma.is_some() && !signalling {
            let content = self.exchanges[id].content();
            self.heard_alone(cx, medium, id, content);
        }
    }

    /// A frame of a signalling link left the air; `any` says whether its receiver has it.
    fn signalling_sent(&self, cx: &mut Context, link: LinkId, t: &Transmission, any: bool) {
        let used = if any { Air::Management } else { Air::Retry };
        cx.observe_air(used, t.alone);
        if t.origin != Origin::Own {
            // A neighbour's: none of it counts, and no message of a negotiation is among them.
            return;
        }
        let mut window = self.links[link].window.iter();
        let Some(mpdu) = window.find(|m| m.in_flight.is_some()) else {
            return;
        };
        if any {
            let octets = mpdu.octets;
            cx.observe(Observation::ManagementOctets { octets });
        }
        // A receiver that had it before has consumed its packet.
        if !mpdu.delivered
            && let Some(signal) = cx.packets[mpdu.head].signal()
        {
            cx.act(Action::OnAir { signal });
        }
    }

    /// A step of an exchange follows: the actions before it have been carried out.
    #[inline]
    pub fn go_on(&mut self, cx: &mut Context, medium: &mut Medium, id: ContenderId, step: Step) {
        if self.ofdma.is_some() && self.shared_goes_on(cx, medium, id, step) {
            return;
        }
        match step {
            Step::Succeeded => self.succeeded(cx, medium, id),
            Step::Settled => self.continue_txop(cx, medium, id),
            Step::Failed => self.failed(cx, medium, id),
            Step::Finish => {
                let now = cx.now();
                self.finish_apart(cx, medium, id, now);
            }
            Step::BackOff => self.end_exchange(cx, medium, id),
        }
    }

    /// The response arrived.
    #[inline]
    fn succeeded(&mut self, cx: &mut Context, medium: &mut Medium, id: ContenderId) {
        let exchange = &self.exchanges[id];
        let (link, way, request) = (exchange.link, exchange.way, exchange.request);
        let state = &mut self.links[link];
        // Frames that another radio lost keep their BlockAckReq due.
        if !state.has_several_ways() {
            state.request = Request::NotDue;
        }
        state.request_failed = None;
        if request {
            // The bitmap acknowledges every MPDU that the receiver holds.
            for mpdu in &mut state.window {
                if mpdu.in_flight.is_none_or(|other| other == way) {
                    let held = mpdu.received && !mpdu.acknowledged;
                    mpdu.in_flight = held.then_some(way);
                }
            }
        }
        if !request && !state.rate_of(way).is_fixed() {
            let (count, lost) = state.flying(way).fold((0, 0), |(n, lost), m| {
                (n + 1, lost + u32::from(!m.received))
            });
            self.report_rate(cx, (link, way), count, lost);
        }
        let effects = self.settle(cx, id, link, true);
        self.narrow(id);
        self.wake_other_radios(cx, medium, id, link);
        if effects == Effects::None {
            self.continue_txop(cx, medium, id);
        } else {
            cx.act(Action::Exchange {
                contender: id,
                step: Step::Settled,
            });
        }
    }

    /// The acknowledged frames are settled: sends the next fragment or the next PPDU of the TXOP,
    /// or finishes.
    #[inline]
    fn continue_txop(&mut self, cx: &mut Context, medium: &mut Medium, id: ContenderId) {
        let now = cx.now();
        let exchange = &self.exchanges[id];
        let (link, txop_end, follows) = (exchange.link, exchange.txop_end, exchange.follows);
        let sifs = self.sifs(medium, id);
        let node = self.contenders[id].node;
        let resumes = exchange.pending.is_some();
        if !resumes && !follows.is_zero() && self.fill_next_piece(cx, medium, id, link) {
            self.exchanges[id].stage = Stage::NextPiece;
            self.expect(cx, medium, id, Gap::Response, &[node], false);
            return;
        }
        let more = txop_end > now + sifs && (resumes || self.has_frame(id));
        if more && (!self.has_cards || self.card_keeps_up(cx, id, now + sifs)) {
            let room = txop_end - now - sifs;
            match self.fill(cx, medium, id, Some(room)) {
                Fill::Ready => {
                    if self.single_radios.is_some() {
                        self.change_radio(cx, medium, id);
                    }
                    let opening = self.opening(id);
                    let exchange = &mut self.exchanges[id];
                    let mode = &self.modes[exchange.mode];
                    let answer = exchange.answer(mode);
                    let rts_octets = self.links[exchange.link].rts_octets;
                    let guard = match opening {
                        None => mode.guard_time(sifs, exchange.psdu, rts_octets),
                        Some(opening) => opening.length + sifs + opening.cts + sifs,
                    };
                    if guard + exchange.length + sifs + answer <= room {
                        exchange.stage = Stage::NextPpdu;
                        if self.has_cards {
                            self.leave_card(cx, medium, id);
                        }
                        medium.engage(node, now + sifs);
                        cx.schedule(now + sifs, Event::Proceed { contender: id });
                        return;
                    }
                    let link = exchange.link;
                    self.unmark(id, link);
                }
                Fill::Dropped => {
                    cx.act(Action::Exchange {
                        contender: id,
                        step: Step::Settled,
                    });
                    return;
                }
                Fill::Empty => {}
            }
        }
        self.exchanges[id].pending = None;
        if let Some(cf_end) = &self.contenders[id].cf_end
            && now + sifs + cf_end.length < txop_end
        {
            self.exchanges[id].stage = Stage::CfEnd;
            medium.engage(node, now + sifs);
            cx.schedule(now + sifs, Event::Proceed { contender: id });
            return;
        }
        self.finish(cx, medium, id, now);
    }

    /// Takes the frames chosen for a PPDU that is not sent back.
    pub(super) fn unmark(&mut self, id: ContenderId, link: LinkId) {
        let way = self.exchanges[id].way;
        let window = self.links[link].window.iter_mut();
        for mpdu in window.filter(|m| m.in_flight == Some(way)) {
            mpdu.in_flight = None;
        }
        self.queues[id].unfinished = Some(link);
    }

    /// No response, or none was possible: the sender knows at `known_at`.
    pub(super) fn fail(&mut self, cx: &mut Context, id: ContenderId, known_at: Instant) {
        self.exchanges[id].known_at = known_at;
        cx.act(Action::Ended {
            contender: id,
            step: Step::Failed,
        });
    }

    fn failed(&mut self, cx: &mut Context, medium: &mut Medium, id: ContenderId) {
        let exchange = &self.exchanges[id];
        let (link, count, known_at) = (exchange.link, exchange.count, exchange.known_at);
        if !exchange.request {
            // After an RTS without CTS no data was sent: a BlockAckReq is needless.
            let sent = exchange.stage == Stage::Response;
            let at = (link, exchange.way);
            if exchange.aggregate && sent {
                self.links[link].request = Request::Due;
            }
            self.report_rate(cx, at, count, count);
        } else {
            let lifetime = self.lifetime_of(id);
            self.links[link].ask_again_or_give_up(cx.now(), lifetime);
        }
        let effects = self.settle_apart(cx, id, link, false);
        self.widen(id);
        self.wake_other_radios(cx, medium, id, link);
        if effects == Effects::None {
            self.finish_apart(cx, medium, id, known_at);
        } else {
            self.finish_later(cx, medium, id, known_at);
        }
    }

    /// The same as [`Self::finish`], off the way of an exchange that succeeds.
    #[inline(never)]
    pub(super) fn finish_apart(
        &mut self,
        cx: &mut Context,
        medium: &mut Medium,
        id: ContenderId,
        reference: Instant,
    ) {
        self.finish(cx, medium, id, reference);
    }

    /// Ends the exchange: drops expired packets, and then the contender backs off from `reference`
    /// on.
    #[inline(always)]
    fn finish(
        &mut self,
        cx: &mut Context,
        medium: &mut Medium,
        id: ContenderId,
        reference: Instant,
    ) {
        let link = self.exchanges[id].link;
        self.exchanges[id].known_at = reference;
        if self.discard_expired(cx, id, link, reference) {
            cx.act(Action::Exchange {
                contender: id,
                step: Step::BackOff,
            });
        } else {
            self.end_exchange(cx, medium, id);
        }
    }

    /// Backs off once the drops and deliveries have been carried out.
    pub(super) fn finish_later(
        &mut self,
        cx: &mut Context,
        _: &Medium,
        id: ContenderId,
        reference: Instant,
    ) {
        let link = self.exchanges[id].link;
        self.exchanges[id].known_at = reference;
        self.discard_expired(cx, id, link, reference);
        cx.act(Action::Exchange {
            contender: id,
            step: Step::BackOff,
        });
    }

    fn end_exchange(&mut self, cx: &mut Context, medium: &mut Medium, id: ContenderId) {
        let node = self.contenders[id].node;
        let reference = self.exchanges[id].known_at;
        let link = self.exchanges[id].link;
        if self.single_radios.is_some() {
            self.leave_radio(cx, medium, id);
        }
        self.wake_other_radios(cx, medium, id, link);
        let more = self.has_frame(id);
        if !more {
            self.want(cx, medium, id, false);
        } else if self.has_cards && self.awaits_card(cx, id, reference) {
            return;
        }
        self.back_off(cx.now(), id, reference, more);
        // At a frame that has to be sent again, each arrival checks expiry.
        let checks = self.arrivals_wait && self.queues[id].unfinished.is_some();
        if !more || (checks && self.has_categories(node)) {
            let node = medium.host_of(node);
            cx.act(Action::Arm { node });
        }
    }

    /// The exchange of a frame that is not acknowledged ends.
    pub(super) fn end_unanswered(&self, cx: &mut Context, id: ContenderId) {
        cx.act(Action::Ended {
            contender: id,
            step: Step::Finish,
        });
    }

    /// `lost` of the `count` MPDUs of a link's last PPDU on a way were not acknowledged.
    #[inline]
    pub(super) fn report_rate(
        &mut self,
        cx: &Context,
        (link, way): (LinkId, Way),
        count: u32,
        lost: u32,
    ) {
        match self.links[link].rate_of(way) {
            RateControl::Fixed(_) => {}
            RateControl::Aarf(state) => state.report(lost < count),
            RateControl::Minstrel(state) => state.report(cx.now(), count, lost),
        }
    }
}
