//! Transmit queues and what is put into one PPDU: single MPDUs, A-MSDUs and A-MPDUs
//! (IEEE 802.11-2020 clauses 9.3.2.2, 9.7 and 10.12).

use std::collections::VecDeque;

use airtoll_phy as phy;
use airtoll_security::CipherSuite;
use airtoll_units::{Duration, Instant};

use crate::mac::codel::Codel;
use crate::mac::contention::Standing;
use crate::mac::fragmentation::{Division, Pieces};
use crate::mac::rate_control::RateControl;
use crate::observe::ledger::Octets;
use crate::packet::{NONE, PacketId};
use crate::scenario::{Discipline, Role};
use crate::world::World;

/// An MPDU made for transmission; it stays until it is acknowledged and handed up, or given up.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Mpdu {
    /// First packet in it; the others of an A-MSDU follow by `Packet::next`.
    pub head: PacketId,
    pub sequence: u32,
    /// When its first packet came into the queue.
    pub since: Instant,
    /// Length with header and FCS, of the present piece where it is fragmented.
    pub octets: u32,
    pub parts: Octets,
    /// Its pieces, where the MSDU is fragmented.
    pub pieces: Option<Pieces>,
    pub msdus: u16,
    /// How many of its packets take room in the socket of which flow's sender.
    pub held: (u32, u16),
    pub attempts: u8,
    /// Part of the PPDU of the present exchange.
    pub in_flight: bool,
    /// Reached the receiver.
    pub received: bool,
    /// Handed up by the receiver.
    pub delivered: bool,
    /// The sender knows that it was received.
    pub acknowledged: bool,
}

/// One sender's traffic of one access category to one receiver.
#[derive(Debug)]
pub(crate) struct TxLink {
    pub from: u32,
    pub peer: u32,
    pub cipher: CipherSuite,
    pub qos: bool,
    /// Frames carry a fourth address.
    pub four_address: bool,
    pub rate: RateControl,
    pub amsdu_octets: u32,
    pub max_attempts: u8,
    pub division: Division,
    pub rts_octets: u32,
    /// Carries management and EAPOL frames, whose packets hold the length of the whole MPDU.
    pub signalling: bool,
    /// Carries group-addressed frames, which nobody acknowledges.
    pub group: bool,
    pub queue: VecDeque<PacketId>,
    pub window: VecDeque<Mpdu>,
    pub next_sequence: u32,
    /// A BlockAckReq goes before anything else: an A-MPDU got no BlockAck, or frames that were sent
    /// under the agreement are given up and the receiver's window has to move on (10.25.6.3).
    pub request_due: bool,
    /// Whether frames are sent under a block ack agreement, A-MPDU or not.
    pub agreement: bool,
    /// Entries of the contender's order that were taken out of turn.
    pub taken_early: u32,
    /// Whether it is in the contender's order, where receivers are served in turn.
    pub listed: bool,
    /// Frame success of the last (mode, octets) asked for.
    pub success: (u32, u32, f64),
    /// Its sender drops data: the association has ended.
    pub barred: bool,
    /// Its receiver refuses data: the association has ended.
    pub refused: bool,
    /// Its station dozes as far as the access point knows.
    pub dozing: bool,
}

/// The transmit queue of one contender.
#[derive(Debug)]
pub(crate) struct MacQueue {
    /// Packets in all its links, sent and not yet acknowledged ones included.
    pub packets: u32,
    /// Links in the order in which their packets came.
    pub order: VecDeque<u32>,
    /// Link whose MPDUs have to be sent again first.
    pub unfinished: Option<u32>,
    pub codel: Option<Codel>,
}

/// MAC header, FCS.
pub(crate) const fn mac_octets(qos: bool, four_address: bool) -> u32 {
    phy::DATA_HEADER_OCTETS
        + phy::FCS_OCTETS
        + if qos { phy::QOS_CONTROL_OCTETS } else { 0 }
        + if four_address {
            phy::ADDRESS_4_OCTETS
        } else {
            0
        }
}

/// A-MSDU subframe header (9.3.2.2.2).
const SUBFRAME_HEADER: u32 = 14;
/// MPDU delimiter (9.7.1).
const DELIMITER: u32 = 4;

impl World {
    /// Puts a packet into the queue towards the next hop; gives `false` if it is full.
    pub(crate) fn enqueue(&mut self, link: u32, contender: u32, packet: PacketId) -> bool {
        let now = self.stack.lower.cx.events.now();
        let node = &self.stack.lower.mac.nodes
            [self.stack.lower.mac.contenders[contender as usize].node as usize];
        let (limit, discipline) = (node.queue_limit, node.discipline);
        if self.stack.lower.mac.queues[contender as usize].packets >= limit
            && (discipline != Discipline::RoundRobin || !self.drop_from_longest(contender, link))
        {
            return false;
        }
        self.stack.lower.cx.packets[packet].left = now;
        let state = &mut self.stack.lower.mac.links[link as usize];
        state.queue.push_back(packet);
        let queue = &mut self.stack.lower.mac.queues[contender as usize];
        queue.packets += 1;
        if discipline != Discipline::RoundRobin || !std::mem::replace(&mut state.listed, true) {
            queue.order.push_back(link);
        }
        match self.stack.lower.mac.contenders[contender as usize].standing {
            Standing::Resting => self.wake(contender),
            Standing::Counting => {
                if let Some(link) = self.stack.lower.mac.queues[contender as usize].unfinished {
                    self.discard_expired(contender, link, now);
                }
            }
            Standing::Exchanging => {}
        }
        true
    }

    /// Puts a management or EAPOL frame behind those that wait already and before all data, as
    /// Linux's queues do with control traffic (priority 7: band 0 of pfifo_fast; a flow of its own
    /// in mac80211's intermediate queues); gives `false` if the queue is full of such frames.
    pub(crate) fn enqueue_signalling(
        &mut self,
        link: u32,
        contender: u32,
        packet: PacketId,
    ) -> bool {
        let now = self.stack.lower.cx.events.now();
        let node = &self.stack.lower.mac.nodes
            [self.stack.lower.mac.contenders[contender as usize].node as usize];
        let limit = node.queue_limit;
        let listed = node.discipline == Discipline::RoundRobin;
        let queue = &mut self.stack.lower.mac.queues[contender as usize];
        let (links, order) = (&mut self.stack.lower.mac.links, &mut queue.order);
        let signals = |l: Option<&u32>| l.is_some_and(|l| links[*l as usize].signalling);
        let at = if signals(order.back()) {
            if queue.packets >= limit {
                return false;
            }
            order.len()
        } else {
            (0..order.len())
                .find(|at| !signals(order.get(*at)))
                .unwrap_or(0)
        };
        self.stack.lower.cx.packets[packet].left = now;
        let state = &mut links[link as usize];
        state.queue.push_back(packet);
        queue.packets += 1;
        if !listed || !std::mem::replace(&mut state.listed, true) {
            order.insert(at, link);
        }
        match self.stack.lower.mac.contenders[contender as usize].standing {
            Standing::Resting => self.wake(contender),
            Standing::Counting => {
                if let Some(link) = self.stack.lower.mac.queues[contender as usize].unfinished {
                    self.discard_expired(contender, link, now);
                }
            }
            Standing::Exchanging => {}
        }
        true
    }

    /// Cuts the longest queue of the contender by its newest packet; `false` if that is `link`'s.
    fn drop_from_longest(&mut self, contender: u32, link: u32) -> bool {
        let queue = &self.stack.lower.mac.queues[contender as usize];
        let longest = queue.order.iter().copied().max_by_key(|l| {
            (
                self.stack.lower.mac.links[*l as usize].queue.len(),
                u32::MAX - *l,
            )
        });
        let Some(longest) = longest.filter(|l| {
            *l != link
                && self.stack.lower.mac.links[*l as usize].queue.len()
                    > self.stack.lower.mac.links[link as usize].queue.len()
        }) else {
            return false;
        };
        let packet = self.stack.lower.mac.links[longest as usize]
            .queue
            .pop_back();
        self.stack.lower.mac.queues[contender as usize].packets -= 1;
        if let Some(packet) = packet {
            self.lose(packet);
        }
        true
    }

    /// Whether the contender has anything to send.
    pub(crate) fn has_frame(&self, contender: u32) -> bool {
        self.stack.lower.mac.queues[contender as usize].packets > 0
    }

    /// Chooses the frames of the next PPDU of a contender and marks them; `false` if there are none.
    pub(crate) fn fill(&mut self, contender: u32, room: Option<Duration>) -> bool {
        loop {
            let Some(link) = self.choose_link(contender) else {
                return false;
            };
            // What expired since a packet last came or left is noticed only now, and a BlockAckReq
            // that this makes due goes after the next data.
            let now = self.stack.lower.cx.events.now();
            if self.kept_full(link) {
                self.discard_expired(contender, link, now);
            }
            if self.ask_again(contender, link) {
                return true;
            }
            self.discard_expired(contender, link, now);
            if self.fill_from(contender, link, room) {
                return true;
            }
            if self.stack.lower.mac.queues[contender as usize].packets == 0 {
                return false;
            }
        }
    }

    fn choose_link(&mut self, contender: u32) -> Option<u32> {
        let in_turn = self.in_turn(contender);
        let queue = &mut self.stack.lower.mac.queues[contender as usize];
        if let Some(link) = queue.unfinished {
            return Some(link);
        }
        while let Some(&link) = queue.order.front() {
            let state = &mut self.stack.lower.mac.links[link as usize];
            if in_turn {
                queue.order.pop_front();
                if !state.queue.is_empty() {
                    queue.order.push_back(link);
                    return Some(link);
                }
                state.listed = false;
                continue;
            }
            if state.taken_early == 0 {
                return Some(link);
            }
            state.taken_early -= 1;
            queue.order.pop_front();
        }
        None
    }

    /// Whether the receivers of a contender are served in turn.
    pub(crate) fn in_turn(&self, contender: u32) -> bool {
        let node = self.stack.lower.mac.contenders[contender as usize].node;
        self.stack.lower.mac.nodes[node as usize].discipline == Discipline::RoundRobin
    }

    /// Prepares a BlockAckReq (10.25.6.3) instead of data where one is due.
    fn ask_again(&mut self, contender: u32, link: u32) -> bool {
        let state = &mut self.stack.lower.mac.links[link as usize];
        if !state.request_due {
            return false;
        }
        let mode_id = state.rate.choose();
        let exchange = &mut self.stack.lower.mac.exchanges[contender as usize];
        exchange.link = link;
        exchange.count = 0;
        exchange.mode = mode_id;
        exchange.aggregate = true;
        exchange.request = true;
        exchange.follows = Duration::ZERO;
        exchange.psdu = phy::BLOCK_ACK_REQ_OCTETS;
        exchange.length = phy::airtime(
            &self.stack.lower.mac.modes[mode_id as usize].response,
            exchange.psdu,
        );
        true
    }

    fn fill_from(&mut self, contender: u32, link: u32, room: Option<Duration>) -> bool {
        let mode_id = self.stack.lower.mac.links[link as usize].rate.choose();
        let mode = &self.stack.lower.mac.modes[mode_id as usize];
        let aggregates = mode.ampdu_octets > 0 && mode.limits.is_some();
        let always_delimited = mode.limits.is_some() && mode.vector.always_ampdu();
        let mut octets_limit = mode.ampdu_octets.min(mode.ppdu_octets);
        if let Some(room) = room {
            octets_limit = octets_limit.min(mode.octets_within(room));
        }
        let window = if aggregates { mode.window } else { 1 };
        let mut count = 0_u32;
        // Length so far without the padding of the last sub-frame.
        let mut octets = 0_u32;
        let mut first = None;
        let mut at = 0;
        loop {
            if at == self.stack.lower.mac.links[link as usize].window.len() {
                let state = &self.stack.lower.mac.links[link as usize];
                let front = state
                    .window
                    .front()
                    .map_or(state.next_sequence, |m| m.sequence);
                if state.next_sequence - front >= window || (count > 0 && !aggregates) {
                    break;
                }
                if !self.pop_mpdu(contender, link, mode_id) {
                    break;
                }
            }
            let mpdu = &mut self.stack.lower.mac.links[link as usize].window[at];
            at += 1;
            if mpdu.acknowledged {
                continue;
            }
            let with = octets.next_multiple_of(4) + DELIMITER + mpdu.octets;
            if count > 0 && with > octets_limit {
                break;
            }
            octets = with;
            first.get_or_insert(mpdu.octets);
            mpdu.in_flight = true;
            count += 1;
            if count == window || !aggregates {
                break;
            }
        }
        let Some(first) = first else {
            return false;
        };
        let follows = self.after_piece(link, mode_id);
        let exchange = &mut self.stack.lower.mac.exchanges[contender as usize];
        exchange.link = link;
        exchange.count = count;
        exchange.mode = mode_id;
        exchange.aggregate = count > 1;
        exchange.request = false;
        exchange.follows = follows;
        exchange.psdu = if count > 1 {
            octets
        } else if always_delimited {
            first + DELIMITER
        } else {
            first
        };
        exchange.length = phy::airtime(
            &self.stack.lower.mac.modes[mode_id as usize].vector,
            exchange.psdu,
        );
        true
    }

    /// Time from the end of the Ack of a lone MPDU to that of the next piece's; zero where none
    /// follows.
    fn after_piece(&self, link: u32, mode: u32) -> Duration {
        let state = &self.stack.lower.mac.links[link as usize];
        let lone = state.window.iter().find(|m| m.in_flight);
        let Some((mpdu, pieces)) = lone.and_then(|m| Some((m, m.pieces?))) else {
            return Duration::ZERO;
        };
        if pieces.at + 1 == pieces.count || mpdu.acknowledged {
            return Duration::ZERO;
        }
        let (octets, _) = state.division.mpdu(&pieces, pieces.at + 1);
        let mode = &self.stack.lower.mac.modes[mode as usize];
        let channel = &self.stack.lower.medium.channels
            [self.stack.lower.medium.nodes[state.from as usize].channel as usize];
        channel.sifs + phy::airtime(&mode.vector, octets) + channel.sifs + mode.ack
    }

    /// Chooses the next piece of the MSDU that the contender is sending.
    pub(crate) fn fill_next_piece(&mut self, contender: u32, link: u32) -> bool {
        self.fill_from(contender, link, None)
    }

    /// Moves packets from a link's queue into a new MPDU at the end of its window.
    fn pop_mpdu(&mut self, contender: u32, link: u32, mode: u32) -> bool {
        let now = self.stack.lower.cx.events.now();
        let most = {
            let mode = &self.stack.lower.mac.modes[mode as usize];
            let state = &self.stack.lower.mac.links[link as usize];
            let by_mpdu = mode.limits.map_or(2_304, |l| l.mpdu_octets);
            if mode.limits.is_none() {
                0
            } else {
                state.amsdu_octets.min(by_mpdu)
            }
        };
        let Some(head) = self.take_packet(contender, link, now) else {
            return false;
        };
        let lifetime = self.lifetime_of(contender);
        let since = self.queued_since(head, lifetime);
        let state = &self.stack.lower.mac.links[link as usize];
        let cipher = state.cipher;
        let around = mac_octets(state.qos, state.four_address);
        let frame_octets = around + cipher.mpdu_octets() as u32;
        let msdu_of = |p: &crate::packet::Packet| phy::LLC_SNAP_OCTETS + p.ip_octets;
        let mut parts = Octets {
            mac: u64::from(around),
            security: cipher.frame_octets() as u64,
            ..Octets::default()
        };
        let add = |p: &crate::packet::Packet, parts: &mut Octets| {
            if p.resolves() || p.advertises() {
                parts.management += u64::from(msdu_of(p));
                return;
            }
            parts.payload += u64::from(p.payload);
            parts.security += u64::from(p.tunnel_octets);
            parts.ip_transport +=
                u64::from(msdu_of(p)) - u64::from(p.payload) - u64::from(p.tunnel_octets);
        };
        add(&self.stack.lower.cx.packets[head], &mut parts);
        let mut body = msdu_of(&self.stack.lower.cx.packets[head]);
        let mut msdus = 1;
        let mut tail = head;
        while let Some(&next) = self.stack.lower.mac.links[link as usize].queue.front() {
            if most == 0 {
                break;
            }
            let packet = &self.stack.lower.cx.packets[next];
            let first = if msdus == 1 { SUBFRAME_HEADER } else { 0 };
            let with = (body + first).next_multiple_of(4) + SUBFRAME_HEADER + msdu_of(packet);
            if with + frame_octets > most || packet.flow != self.stack.lower.cx.packets[head].flow {
                break;
            }
            let Some(next) = self.take_packet(contender, link, now) else {
                break;
            };
            body = with;
            add(&self.stack.lower.cx.packets[next], &mut parts);
            self.stack.lower.cx.packets[tail].next = next;
            tail = next;
            msdus += 1;
        }
        self.stack.lower.cx.packets[tail].next = NONE;
        let mut held = (self.stack.lower.cx.packets[head].flow, 0);
        let mut packet = head;
        while packet != NONE {
            let p = &mut self.stack.lower.cx.packets[packet];
            held.1 += u16::from(std::mem::take(&mut p.held));
            packet = p.next;
        }
        let mut octets = frame_octets + cipher.msdu_octets() as u32 + body;
        if self.stack.lower.mac.links[link as usize].signalling {
            octets = self.stack.lower.cx.packets[head].ip_octets;
            parts = Octets::default();
        }
        parts.mac = 0;
        parts.mac = u64::from(octets) - parts.total();
        let state = &mut self.stack.lower.mac.links[link as usize];
        let division = state.division;
        let mut pieces = None;
        if division.piece > 0 && msdus == 1 && !state.agreement {
            let around = u64::from(division.cipher);
            pieces = division.divide(Octets {
                security: parts.security - around,
                mac: 0,
                ..parts
            });
        }
        if let Some(pieces) = &pieces {
            (octets, parts) = division.mpdu(pieces, 0);
        }
        state.window.push_back(Mpdu {
            head,
            sequence: state.next_sequence,
            since,
            octets,
            parts,
            pieces,
            msdus,
            held,
            attempts: 0,
            in_flight: false,
            received: false,
            delivered: false,
            acknowledged: false,
        });
        state.next_sequence += 1;
        true
    }

    /// Takes the next packet of a link, dropping those that CoDel wants dropped.
    fn take_packet(&mut self, contender: u32, link: u32, now: Instant) -> Option<PacketId> {
        loop {
            let packet = self.stack.lower.mac.links[link as usize]
                .queue
                .pop_front()?;
            let in_turn = self.in_turn(contender);
            let queue = &mut self.stack.lower.mac.queues[contender as usize];
            // Its entry in the order is either at the front or skipped later.
            if in_turn {
                // The order holds links, not packets.
            } else if queue.order.front() == Some(&link) {
                queue.order.pop_front();
            } else {
                self.stack.lower.mac.links[link as usize].taken_early += 1;
            }
            let sojourn = now - self.stack.lower.cx.packets[packet].left;
            let lifetime = self.lifetime_of(contender);
            let backlog = !self.stack.lower.mac.links[link as usize].queue.is_empty();
            let queue = &mut self.stack.lower.mac.queues[contender as usize];
            let unwanted = match &mut queue.codel {
                Some(codel) => codel.drops(now, sojourn, backlog),
                None => false,
            };
            if unwanted || sojourn > lifetime {
                queue.packets -= 1;
                self.lose(packet);
                continue;
            }
            return Some(packet);
        }
    }

    /// Hands up what the receiver has in sequence.
    pub(crate) fn deliver_in_sequence(&mut self, link: u32) {
        let mut at = 0;
        loop {
            let state = &mut self.stack.lower.mac.links[link as usize];
            let Some(mpdu) = state.window.get_mut(at) else {
                break;
            };
            if !mpdu.received {
                break;
            }
            at += 1;
            if mpdu.delivered {
                continue;
            }
            mpdu.delivered = true;
            let (from, peer, cipher) = (state.from, state.peer, state.cipher);
            // Data of a station that is not associated are class 3 frames.
            let (refused, dozing) = (state.refused, state.dozing);
            let mut packet = mpdu.head;
            if dozing && !refused && self.stack.net.nodes[peer as usize].role == Role::AccessPoint {
                self.woke(from);
            }
            while packet != NONE {
                let next = self.stack.lower.cx.packets[packet].next;
                if refused {
                    self.lose(packet);
                } else {
                    self.receive_from_air(peer, cipher, packet);
                }
                packet = next;
            }
            if refused {
                self.refuse_class_3(from);
            }
        }
    }

    /// Removes what is done from the front of the window; counts failed attempts of the rest of
    /// the PPDU and gives up what has had its last. Gives whether anything was given up.
    pub(crate) fn settle(&mut self, contender: u32, link: u32, answered: bool) -> bool {
        let max_attempts = self.stack.lower.mac.links[link as usize].max_attempts;
        let mut gave_up = false;
        let mut left = false;
        for at in 0..self.stack.lower.mac.links[link as usize].window.len() {
            let mpdu = &mut self.stack.lower.mac.links[link as usize].window[at];
            if !mpdu.in_flight {
                left |= !mpdu.acknowledged;
                continue;
            }
            mpdu.in_flight = false;
            let arrived = mpdu.pieces.map_or(mpdu.received, |p| p.heard > p.at);
            if answered && arrived {
                let more = mpdu.pieces.is_some() && self.next_piece(link, at);
                left |= more;
                self.stack.lower.mac.links[link as usize].window[at].acknowledged = !more;
                continue;
            }
            mpdu.attempts += 1;
            if mpdu.attempts < max_attempts {
                left = true;
                continue;
            }
            gave_up = true;
            self.give_up(link, at);
        }
        if gave_up {
            self.stack.lower.mac.links[link as usize].request_due |=
                self.stack.lower.mac.links[link as usize].agreement;
            self.deliver_in_sequence(link);
        }
        left |= self.stack.lower.mac.links[link as usize].request_due;
        self.stack.lower.mac.queues[contender as usize].unfinished = left.then_some(link);
        self.shrink_window(contender, link);
        gave_up
    }

    /// Forgets the MPDUs at the front of a window that are done.
    pub(crate) fn shrink_window(&mut self, contender: u32, link: u32) {
        while let Some(mpdu) = self.stack.lower.mac.links[link as usize].window.front() {
            if !mpdu.acknowledged {
                break;
            }
            let (msdus, (flow, held)) = (mpdu.msdus, mpdu.held);
            self.stack.lower.mac.links[link as usize].window.pop_front();
            self.stack.lower.mac.queues[contender as usize].packets -= u32::from(msdus);
            for _ in 0..held {
                self.released(flow);
            }
        }
    }
}
