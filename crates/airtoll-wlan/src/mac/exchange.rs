//! Frame exchanges: protection, data, response, and what follows from their success or failure
//! (IEEE 802.11-2020 clauses 10.3.2 and 10.23.2).

use airtoll_phy as phy;
use airtoll_units::{Duration, Instant};

use crate::event::Event;
use crate::mac::contention::Standing;
use crate::medium::channel::{FrameKind, Gap};
use crate::observe::ledger::Octets;
use crate::scenario::Protection;
use crate::world::World;

/// Where the exchange of a contender stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stage {
    /// RTS sent; its receiver owes a CTS.
    Cts,
    /// The data frame is next.
    Data,
    /// The data frame arrived; its receiver owes an answer.
    Response,
    /// A new PPDU in the same TXOP is next.
    NextPpdu,
    /// The next piece of the same MSDU is next.
    NextPiece,
}

/// The present frame exchange of a contender.
#[derive(Debug, Clone)]
pub(crate) struct Exchange {
    pub link: u32,
    pub mode: u32,
    /// MPDUs in the PPDU.
    pub count: u32,
    /// Length of the PSDU, octets.
    pub psdu: u32,
    /// Airtime of the PPDU.
    pub length: Duration,
    /// Answered by a block ack.
    pub aggregate: bool,
    /// A BlockAckReq instead of data.
    pub request: bool,
    /// Time from the end of the answer to the end of the next piece's, in a fragment burst.
    pub follows: Duration,
    pub stage: Stage,
    pub data_end: Instant,
    /// End of the TXOP or frame burst; zero where one exchange is all.
    pub txop_end: Instant,
}

/// An AP's beacons.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BeaconPlan {
    pub contender: u32,
    pub interval: Duration,
    pub length: Duration,
    pub vector: airtoll_phy::TxVector,
    pub octets: u32,
    pub ssids: u32,
    /// Beacons due and not sent.
    pub waiting: u32,
}

impl Exchange {
    pub fn new() -> Self {
        Self {
            link: 0,
            mode: 0,
            count: 0,
            psdu: 0,
            length: Duration::ZERO,
            aggregate: false,
            request: false,
            follows: Duration::ZERO,
            stage: Stage::Data,
            data_end: Instant::ZERO,
            txop_end: Instant::ZERO,
        }
    }
}

impl World {
    /// A resting contender got a frame.
    pub(crate) fn wake(&mut self, id: u32) {
        let channel = self.stack.lower.mac.contenders[id as usize].channel;
        self.book(channel);
        self.stack.lower.medium.channels[channel as usize].backlog += 1;
        self.request_access(id);
    }

    /// The contender's counter ended: chooses what it sends. `false` if it has nothing.
    pub(crate) fn prepare_exchange(&mut self, id: u32) -> bool {
        let now = self.stack.lower.cx.events.now();
        let (node, channel) = {
            let c = &self.stack.lower.mac.contenders[id as usize];
            (c.node, c.channel)
        };
        let beacon = self.beacon_of(id).is_some();
        if !beacon {
            self.drain_transmit_pipe(node);
            self.stack.lower.mac.exchanges[id as usize].txop_end = Instant::ZERO;
            let txop = self.txop(id);
            if !self.fill(id, txop) {
                self.book(channel);
                self.stack.lower.medium.channels[channel as usize].backlog -= 1;
                self.back_off(id, now, false);
                self.arm_transmit_pipe(node);
                return false;
            }
            if let Some(txop) = txop {
                self.stack.lower.mac.exchanges[id as usize].txop_end = now + txop;
            }
        }
        self.stack.lower.mac.contenders[id as usize].standing = Standing::Exchanging;
        true
    }

    /// How long a contender may go on after it has won, if for more than one exchange.
    fn txop(&self, id: u32) -> Option<Duration> {
        let limit = self.stack.lower.mac.txop_limits[id as usize];
        (!limit.is_zero()).then_some(limit)
    }

    /// Sends the first frame of an exchange that was prepared.
    pub(crate) fn start_exchange(&mut self, id: u32) {
        let node = self.stack.lower.mac.contenders[id as usize].node;
        if let Some(beacon) = self.beacon_of(id) {
            self.transmit(id, node, FrameKind::Beacon, beacon.length, Duration::ZERO);
            return;
        }
        let sifs = self.sifs(id);
        let exchange = &self.stack.lower.mac.exchanges[id as usize];
        let mode = &self.stack.lower.mac.modes[exchange.mode as usize];
        let link = &self.stack.lower.mac.links[exchange.link as usize];
        if link.group {
            let length = exchange.length;
            self.transmit(id, node, FrameKind::Group, length, Duration::ZERO);
            return;
        }
        let answer = if exchange.aggregate {
            mode.block_ack
        } else {
            mode.ack
        };
        let rest = sifs + exchange.length + sifs + answer;
        let (rts, cts) = (mode.rts, mode.cts);
        if exchange.request {
            self.send_data(id);
        } else if exchange.psdu > link.rts_octets || mode.protection == Protection::RtsCts {
            self.stack.lower.mac.exchanges[id as usize].stage = Stage::Cts;
            self.transmit(id, node, FrameKind::Rts, rts, sifs + cts + rest);
        } else if mode.protection == Protection::CtsToSelf {
            self.stack.lower.mac.exchanges[id as usize].stage = Stage::Data;
            self.transmit(id, node, FrameKind::CtsToSelf, cts, rest);
        } else {
            self.send_data(id);
        }
    }

    fn send_data(&mut self, id: u32) {
        let sifs = self.sifs(id);
        let node = self.stack.lower.mac.contenders[id as usize].node;
        let now = self.stack.lower.cx.events.now();
        let exchange = &mut self.stack.lower.mac.exchanges[id as usize];
        let mode = &self.stack.lower.mac.modes[exchange.mode as usize];
        let answer = if exchange.aggregate {
            mode.block_ack
        } else {
            mode.ack
        };
        let (length, follows) = (exchange.length, exchange.follows);
        exchange.stage = Stage::Response;
        exchange.data_end = now + length;
        let kind = if exchange.request {
            FrameKind::BlockAckReq
        } else {
            FrameKind::Data
        };
        self.transmit(id, node, kind, length, sifs + answer + follows);
    }

    /// SIFS after a frame that asks for an answer.
    pub(crate) fn respond(&mut self, id: u32) {
        let exchange = &self.stack.lower.mac.exchanges[id as usize];
        let mode = &self.stack.lower.mac.modes[exchange.mode as usize];
        let peer = self.stack.lower.mac.links[exchange.link as usize].peer;
        let sifs = self.sifs(id);
        match exchange.stage {
            Stage::Cts => {
                let answer = if exchange.aggregate {
                    mode.block_ack
                } else {
                    mode.ack
                };
                let protects = sifs + exchange.length + sifs + answer;
                let cts = mode.cts;
                self.stack.lower.mac.exchanges[id as usize].stage = Stage::Data;
                self.transmit(id, peer, FrameKind::Cts, cts, protects);
            }
            _ => {
                let length = if exchange.aggregate {
                    mode.block_ack
                } else {
                    mode.ack
                };
                let follows = exchange.follows;
                self.transmit(id, peer, FrameKind::Response, length, follows);
            }
        }
    }

    /// SIFS after a frame of the contender's own exchange: its next frame.
    pub(crate) fn proceed(&mut self, id: u32) {
        if self.stack.lower.mac.exchanges[id as usize].stage == Stage::NextPpdu {
            self.start_exchange(id);
        } else {
            self.send_data(id);
        }
    }

    /// A frame of the exchange left the air; gives the entry to which its time is booked.
    pub(crate) fn sent(
        &mut self,
        id: u32,
        kind: FrameKind,
        reception: &dyn Fn(&Self, u32) -> Option<Reception>,
        alone: Duration,
    ) {
        let now = self.stack.lower.cx.events.now();
        let sifs = self.sifs(id);
        let sender = self.stack.lower.mac.contenders[id as usize].node;
        let channel = self.stack.lower.mac.contenders[id as usize].channel;
        match kind {
            FrameKind::Beacon => {
                self.stack.lower.cx.observers.ledger.management += alone;
                if !self.stack.lower.mac.nodes[sender as usize]
                    .listeners
                    .is_empty()
                {
                    self.beacon_heard(sender, reception);
                }
                self.beacon_sent(id);
            }
            FrameKind::Rts => {
                let exchange = &self.stack.lower.mac.exchanges[id as usize];
                let (mode, peer) = (
                    exchange.mode,
                    self.stack.lower.mac.links[exchange.link as usize].peer,
                );
                let control = self.stack.lower.mac.modes[mode as usize].response;
                let arrived = reception(self, peer).is_some_and(|r| {
                    self.control_arrives(sender, peer, &control, phy::RTS_OCTETS, r)
                });
                let free = self.stack.lower.medium.nodes[peer as usize].engaged_until <= now
                    && self.stack.lower.mac.earlier_nav <= now;
                if arrived && free {
                    self.stack.lower.cx.observers.ledger.protection += alone;
                    self.pause(channel, Gap::Protection);
                    self.engage(peer, now + sifs);
                    self.stack
                        .lower
                        .cx
                        .events
                        .schedule(now + sifs, Event::Respond { contender: id });
                } else {
                    self.stack.lower.cx.observers.ledger.retry += alone;
                    let timeout = self.stack.lower.mac.modes[mode as usize].cts_timeout;
                    self.expect_nav_reset(id, channel, mode);
                    self.failed(id, now + timeout);
                }
            }
            FrameKind::CtsToSelf => {
                self.stack.lower.cx.observers.ledger.protection += alone;
                self.pause(channel, Gap::Protection);
                self.engage(sender, now + sifs);
                self.stack
                    .lower
                    .cx
                    .events
                    .schedule(now + sifs, Event::Proceed { contender: id });
            }
            FrameKind::Cts => {
                let exchange = &self.stack.lower.mac.exchanges[id as usize];
                let (mode, peer) = (
                    exchange.mode,
                    self.stack.lower.mac.links[exchange.link as usize].peer,
                );
                let control = self.stack.lower.mac.modes[mode as usize].response;
                let arrived = reception(self, sender).is_some_and(|r| {
                    self.control_arrives(peer, sender, &control, phy::CTS_OCTETS, r)
                });
                if arrived {
                    self.stack.lower.cx.observers.ledger.protection += alone;
                    self.pause(channel, Gap::Protection);
                    self.engage(sender, now + sifs);
                    self.stack
                        .lower
                        .cx
                        .events
                        .schedule(now + sifs, Event::Proceed { contender: id });
                } else {
                    self.stack.lower.cx.observers.ledger.retry += alone;
                    self.failed(id, now);
                }
            }
            FrameKind::Data => self.data_sent(id, reception, alone),
            FrameKind::Group => self.group_sent(id, reception, alone),
            FrameKind::BlockAckReq => {
                let exchange = &self.stack.lower.mac.exchanges[id as usize];
                let (mode, peer) = (
                    exchange.mode,
                    self.stack.lower.mac.links[exchange.link as usize].peer,
                );
                let control = self.stack.lower.mac.modes[mode as usize].response;
                let octets = phy::BLOCK_ACK_REQ_OCTETS;
                let arrived = reception(self, peer)
                    .is_some_and(|r| self.control_arrives(sender, peer, &control, octets, r));
                if arrived {
                    self.stack.lower.cx.observers.ledger.ack += alone;
                    self.pause(channel, Gap::Response);
                    self.engage(peer, now + sifs);
                    self.engage(sender, now + sifs);
                    self.stack
                        .lower
                        .cx
                        .events
                        .schedule(now + sifs, Event::Respond { contender: id });
                } else {
                    self.stack.lower.cx.observers.ledger.retry += alone;
                    let timeout = self.stack.lower.mac.modes[mode as usize].timeout;
                    self.failed(id, now + timeout);
                }
            }
            FrameKind::Response => {
                let exchange = &self.stack.lower.mac.exchanges[id as usize];
                let (mode, link) = (exchange.mode, exchange.link);
                let peer = self.stack.lower.mac.links[link as usize].peer;
                let mode = &self.stack.lower.mac.modes[mode as usize];
                let octets = if exchange.aggregate {
                    phy::block_ack_octets(mode.window)
                } else {
                    phy::ACK_OCTETS
                };
                let (control, give_up) = (mode.response, exchange.data_end + mode.timeout);
                let arrived = reception(self, sender)
                    .is_some_and(|r| self.control_arrives(peer, sender, &control, octets, r));
                if arrived {
                    self.stack.lower.cx.observers.ledger.ack += alone;
                    self.stack.lower.cx.observers.ledger.octets_control += u64::from(octets);
                    self.succeeded(id);
                } else {
                    self.stack.lower.cx.observers.ledger.retry += alone;
                    self.failed(id, now.max(give_up));
                }
            }
        }
    }

    /// Whoever heard an RTS and then nothing may forget its reservation after NAVTimeout: two
    /// SIFS, the CTS, aRxPHYStartDelay and two slots (10.3.2.4).
    fn expect_nav_reset(&mut self, id: u32, channel: u32, mode: u32) {
        let now = self.stack.lower.cx.events.now();
        let exchange = &self.stack.lower.mac.exchanges[id as usize];
        let mode = &self.stack.lower.mac.modes[mode as usize];
        let answer = if exchange.aggregate {
            mode.block_ack
        } else {
            mode.ack
        };
        let state = &self.stack.lower.medium.channels[channel as usize];
        let (sifs, slot) = (state.sifs, state.slot);
        let until = now + sifs + mode.cts + sifs + exchange.length + sifs + answer;
        let patience = sifs * 2 + mode.cts + phy::rx_phy_start_delay(&mode.guard) + slot * 2;
        if now + patience < until {
            let reservation = self.stack.lower.medium.reservations.insert((now, until));
            self.stack.lower.cx.events.schedule(
                now + patience,
                Event::NavReset {
                    channel,
                    reservation,
                },
            );
        }
    }

    fn data_sent(
        &mut self,
        id: u32,
        reception: &dyn Fn(&Self, u32) -> Option<Reception>,
        alone: Duration,
    ) {
        let now = self.stack.lower.cx.events.now();
        let sifs = self.sifs(id);
        let channel = self.stack.lower.mac.contenders[id as usize].channel;
        let exchange = &self.stack.lower.mac.exchanges[id as usize];
        let (link, mode, length, aggregate) = (
            exchange.link,
            exchange.mode,
            exchange.length,
            exchange.aggregate,
        );
        let peer = self.stack.lower.mac.links[link as usize].peer;
        let outcome = reception(self, peer);
        let (mut good, mut bad, mut any) = (Octets::default(), 0, false);
        for at in 0..self.stack.lower.mac.links[link as usize].window.len() {
            let mpdu = self.stack.lower.mac.links[link as usize].window[at];
            if !mpdu.in_flight {
                if mpdu.acknowledged {
                    continue;
                }
                break;
            }
            let arrives = outcome.is_some_and(|r| self.data_arrives(link, mode, mpdu.octets, r));
            any |= arrives;
            let framing = if aggregate {
                (mpdu.octets + 4).next_multiple_of(4) - mpdu.octets
            } else {
                0
            };
            let new = mpdu.pieces.map_or(!mpdu.received, |p| p.heard == p.at);
            if arrives && new {
                good.add(&mpdu.parts);
                good.mac += u64::from(framing);
            } else {
                bad += u64::from(mpdu.octets + framing);
            }
            if arrives && self.hear_piece(link, at) {
                self.stack.lower.mac.links[link as usize].window[at].received = true;
            }
        }
        if self.stack.lower.mac.links[link as usize].signalling {
            self.signalling_sent(link, alone, any);
        } else {
            let bit_rate = self.stack.lower.mac.modes[mode as usize].bit_rate;
            self.stack
                .lower
                .cx
                .observers
                .ledger
                .book_data(alone, length, bit_rate, &good, bad);
        }
        if !any {
            let timeout = self.stack.lower.mac.modes[mode as usize].timeout;
            self.failed(id, now + timeout);
            return;
        }
        self.stack.lower.cx.observers.nodes[peer as usize].receive_time += length;
        self.pause(channel, Gap::Response);
        self.engage(peer, now + sifs);
        self.engage(
            self.stack.lower.mac.contenders[id as usize].node,
            now + sifs,
        );
        self.stack
            .lower
            .cx
            .events
            .schedule(now + sifs, Event::Respond { contender: id });
        self.deliver_in_sequence(link);
    }

    /// The answer arrived.
    fn succeeded(&mut self, id: u32) {
        let now = self.stack.lower.cx.events.now();
        let exchange = &self.stack.lower.mac.exchanges[id as usize];
        let (link, txop_end) = (exchange.link, exchange.txop_end);
        // What became ready during the exchange found the queue as it was then.
        let node = self.stack.lower.mac.contenders[id as usize].node;
        self.drain_transmit_pipe(node);
        let request = self.stack.lower.mac.exchanges[id as usize].request;
        let state = &mut self.stack.lower.mac.links[link as usize];
        state.request_due = false;
        if request {
            // The bitmap tells of everything that the receiver holds.
            for mpdu in &mut state.window {
                mpdu.in_flight = mpdu.received && !mpdu.acknowledged;
            }
        }
        let (count, lost) = self.stack.lower.mac.links[link as usize]
            .window
            .iter()
            .take_while(|m| m.in_flight || m.acknowledged)
            .filter(|m| m.in_flight)
            .fold((0, 0), |(n, lost), m| {
                (n + 1, lost + u32::from(!m.received))
            });
        if !request {
            self.report_rate(link, count, lost);
        }
        self.settle(id, link, true);
        self.narrow(id);
        let sifs = self.sifs(id);
        if !self.stack.lower.mac.exchanges[id as usize]
            .follows
            .is_zero()
            && self.fill_next_piece(id, link)
        {
            self.stack.lower.mac.exchanges[id as usize].stage = Stage::NextPiece;
            self.pause(
                self.stack.lower.mac.contenders[id as usize].channel,
                Gap::Response,
            );
            self.engage(node, now + sifs);
            self.stack
                .lower
                .cx
                .events
                .schedule(now + sifs, Event::Proceed { contender: id });
            return;
        }
        if txop_end > now + sifs && self.has_frame(id) {
            let room = txop_end - now - sifs;
            if self.fill(id, Some(room)) {
                let exchange = &mut self.stack.lower.mac.exchanges[id as usize];
                let mode = &self.stack.lower.mac.modes[exchange.mode as usize];
                let answer = if exchange.aggregate {
                    mode.block_ack
                } else {
                    mode.ack
                };
                if exchange.length + sifs + answer <= room {
                    exchange.stage = Stage::NextPpdu;
                    self.engage(node, now + sifs);
                    self.stack
                        .lower
                        .cx
                        .events
                        .schedule(now + sifs, Event::Proceed { contender: id });
                    return;
                }
                let link = exchange.link;
                self.unmark(id, link);
            }
        }
        self.finish(id, now);
    }

    /// Takes the frames chosen for a PPDU that is not sent back.
    fn unmark(&mut self, id: u32, link: u32) {
        self.stack.lower.mac.links[link as usize]
            .window
            .iter_mut()
            .for_each(|m| m.in_flight = false);
        self.stack.lower.mac.queues[id as usize].unfinished = Some(link);
    }

    /// No answer, or none was possible: the sender knows at `known_at`.
    fn failed(&mut self, id: u32, known_at: Instant) {
        self.drain_transmit_pipe(self.stack.lower.mac.contenders[id as usize].node);
        let exchange = &self.stack.lower.mac.exchanges[id as usize];
        let (link, count) = (exchange.link, exchange.count);
        if !exchange.request {
            // An RTS without CTS leaves nothing at the receiver to ask for.
            let sent = exchange.stage == Stage::Response;
            self.stack.lower.mac.links[link as usize].request_due |= exchange.aggregate && sent;
            self.report_rate(link, count, count);
        }
        self.settle(id, link, false);
        self.widen(id);
        self.finish(id, known_at);
    }

    /// Ends an exchange of one frame that nobody answers.
    pub(crate) fn end_unanswered(&mut self, id: u32) {
        self.drain_transmit_pipe(self.stack.lower.mac.contenders[id as usize].node);
        let now = self.stack.lower.cx.events.now();
        self.finish(id, now);
    }

    /// Ends the exchange: the contender backs off from `reference` on.
    fn finish(&mut self, id: u32, reference: Instant) {
        let node = self.stack.lower.mac.contenders[id as usize].node;
        let link = self.stack.lower.mac.exchanges[id as usize].link;
        self.discard_expired(id, link, reference);
        let more = self.has_frame(id);
        if !more {
            let channel = self.stack.lower.mac.contenders[id as usize].channel;
            self.book(channel);
            self.stack.lower.medium.channels[channel as usize].backlog -= 1;
        }
        self.back_off(id, reference, more);
        if !more {
            self.arm_transmit_pipe(node);
        }
    }

    /// An AP's beacon is due.
    pub(crate) fn beacon_due(&mut self, node: u32) {
        let now = self.stack.lower.cx.events.now();
        let Some(plan) = &mut self.stack.lower.mac.nodes[node as usize].beacon else {
            return;
        };
        plan.waiting += plan.ssids;
        let (id, interval) = (plan.contender, plan.interval);
        self.stack
            .lower
            .cx
            .schedule(now + interval, Event::Beacon { node });
        if self.stack.lower.mac.contenders[id as usize].standing == Standing::Resting {
            self.wake(id);
        }
    }

    fn beacon_of(&self, id: u32) -> Option<BeaconPlan> {
        let node = self.stack.lower.mac.contenders[id as usize].node;
        self.stack.lower.mac.nodes[node as usize]
            .beacon
            .filter(|b| b.contender == id)
    }

    fn beacon_sent(&mut self, id: u32) {
        let now = self.stack.lower.cx.events.now();
        let c = &self.stack.lower.mac.contenders[id as usize];
        let (node, channel) = (c.node, c.channel);
        let mut more = false;
        if let Some(plan) = &mut self.stack.lower.mac.nodes[node as usize].beacon {
            self.stack.lower.cx.observers.ledger.octets_management += u64::from(plan.octets);
            plan.waiting -= 1;
            more = plan.waiting > 0;
        }
        if !more {
            self.book(channel);
            self.stack.lower.medium.channels[channel as usize].backlog -= 1;
        }
        self.back_off(id, now, more);
    }

    fn pause(&mut self, channel: u32, gap: Gap) {
        self.stack.lower.medium.channels[channel as usize].gap = gap;
    }

    fn engage(&mut self, node: u32, until: Instant) {
        let state = &mut self.stack.lower.medium.nodes[node as usize];
        state.engaged_until = state.engaged_until.max(until);
    }

    fn sifs(&self, id: u32) -> Duration {
        self.stack.lower.medium.channels
            [self.stack.lower.mac.contenders[id as usize].channel as usize]
            .sifs
    }
}

/// How a frame reached a node that did not lose it altogether.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Reception {
    /// Alone on the air.
    Clear,
    /// Over others: the linear ratio of its power to theirs and the noise's.
    Over(f64),
}
