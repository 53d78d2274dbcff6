//! Wires: one direction of a wired link, with its queue, rate, delay and loss.
//!
//! A queue of one order needs no event: when a packet leaves is known when it comes. With a queue for each flow
//! (Linux's `fq_codel`) the wire chooses the next packet when it has sent one.

use std::collections::VecDeque;

use airtoll_engine::Stream;
use airtoll_units::{BitRate, Bytes, Duration, Instant};

use super::Net;
use crate::context::{Action, Context};
use crate::device::Pipe;
use crate::event::Event;
use crate::id::{NodeId, PacketId, WireId};
use crate::lower::Lower;
use crate::packet::{Loss, Packet};
use crate::queueing::{ETHERNET_HEADER, FlowQueues, FlowRules, flow_key};

/// One direction of a wired link.
#[derive(Debug)]
pub(crate) struct Wire {
    to: NodeId,
    rate: BitRate,
    delay: Duration,
    limit: u32,
    /// Share of packets that it loses, and the stream that draws them.
    loss: Option<(f64, Stream)>,
    free_at: Instant,
    /// When the packets at hand leave.
    departures: VecDeque<Instant>,
    arrivals: Pipe,
    /// Queues of flows; `None`: one order.
    flows: Option<Box<Flows>>,
}

/// The queue discipline in front of a wire.
#[derive(Debug)]
struct Flows {
    /// The node that sends.
    from: NodeId,
    queues: FlowQueues,
    /// Packets that the node is not done with yet.
    coming: Pipe,
    /// When the next event of the wire is; `None`: there is none.
    due: Option<Instant>,
}

/// Octets of Ethernet around a packet: preamble 8, header 14, FCS 4, gap 12 (IEEE 802.3).
const ETHERNET_OCTETS: u32 = 38;
/// Payload of the shortest Ethernet frame, to which shorter ones are padded (IEEE 802.3, 4A.4.2).
pub(crate) const ETHERNET_MINIMUM: u32 = 46;

impl Wire {
    /// A wire to a node; `limit` packets wait for it.
    pub fn new(
        to: NodeId,
        rate: BitRate,
        delay: Duration,
        limit: u32,
        loss: Option<(f64, Stream)>,
    ) -> Self {
        Self {
            to,
            rate,
            delay,
            limit,
            loss,
            free_at: Instant::ZERO,
            departures: VecDeque::new(),
            arrivals: Pipe::default(),
            flows: None,
        }
    }

    /// The same wire of node `from`, with a queue for each flow before it.
    pub fn with_flow_queues(mut self, from: NodeId) -> Self {
        self.flows = Some(Box::new(Flows {
            from,
            queues: FlowQueues::new(&FlowRules::DISCIPLINE),
            coming: Pipe::default(),
            due: None,
        }));
        self
    }

    /// When a packet that begins at `at` or when the wire is free has left it.
    fn occupy(&mut self, at: Instant, octets: u32) -> Instant {
        let leaves = self.free_at.max(at) + self.rate.time_for(Bytes(u64::from(octets)));
        self.free_at = leaves;
        leaves
    }

    /// The node at its end.
    pub(super) fn to(&self) -> NodeId {
        self.to
    }

    /// How many packets wait for it at most.
    pub(super) fn limit(&self) -> u32 {
        self.limit
    }
}

impl Net {
    /// Puts a packet that is ready at `at` onto a wire.
    pub(super) fn send_on_wire(
        &mut self,
        cx: &mut Context,
        wire: WireId,
        packet: PacketId,
        at: Instant,
    ) {
        let state = &mut self.wires[wire];
        if let Some(flows) = &mut state.flows {
            flows.coming.put(at, packet);
            self.wire_free(cx, wire);
            return;
        }
        while state.departures.front().is_some_and(|d| *d <= at) {
            state.departures.pop_front();
        }
        if state.departures.len() > state.limit as usize {
            cx.lose(packet, Loss::Full);
            return;
        }
        let leaves = state.occupy(at, octets_on_wire(&cx.packets[packet]));
        state.departures.push_back(leaves);
        self.leave_by_wire(cx, wire, packet, Leaving { ready: at, leaves });
    }

    /// A wire with flow queues may be free, or packets ready for it: takes those into their queues, and sends the
    /// next one.
    pub fn wire_free(&mut self, cx: &mut Context, wire: WireId) {
        let now = cx.now();
        let state = &mut self.wires[wire];
        let Some(flows) = &mut state.flows else {
            return;
        };
        if flows.due.is_some_and(|due| due <= now) {
            flows.due = None;
        }
        while let Some((ready, packet)) = flows.coming.take_ready(now) {
            let p = &mut cx.packets[packet];
            if p.left == Instant::ZERO {
                p.left = ready;
            }
            let octets = p.ip_octets + ETHERNET_HEADER;
            let key = flow_key(p, flows.from);
            flows.queues.push(key, packet, octets, ready);
            if flows.queues.len() > state.limit as usize {
                flows
                    .queues
                    .cut_longest(|packet| cx.lose(packet, Loss::Full));
            }
        }
        let mut sent = None;
        if state.free_at <= now {
            let next = flows
                .queues
                .pop(now, |packet| cx.lose(packet, Loss::Discipline));
            sent = next.map(|(packet, _)| packet);
        }
        if let Some(packet) = sent {
            let leaves = state.occupy(now, octets_on_wire(&cx.packets[packet]));
            self.leave_by_wire(cx, wire, packet, Leaving { ready: now, leaves });
        }
        self.arm_wire(cx, wire);
    }

    /// Schedules the next event of a wire with flow queues, if packets wait for it.
    fn arm_wire(&mut self, cx: &mut Context, wire: WireId) {
        let state = &mut self.wires[wire];
        let Some(flows) = &mut state.flows else {
            return;
        };
        let next = if flows.queues.is_empty() {
            let first = flows.coming.items.front();
            first.map(|(ready, _)| *ready)
        } else {
            Some(state.free_at)
        };
        if let Some(next) = next.filter(|next| flows.due.is_none_or(|due| due > *next)) {
            flows.due = Some(next);
            cx.schedule(next, Event::WireFree { wire });
        }
    }

    /// A packet is on its way over a wire.
    fn leave_by_wire(
        &mut self,
        cx: &mut Context,
        wire: WireId,
        packet: PacketId,
        Leaving { ready, leaves }: Leaving,
    ) {
        let state = &mut self.wires[wire];
        let lost = state
            .loss
            .as_mut()
            .is_some_and(|(ratio, stream)| stream.unit() < *ratio);
        if !lost {
            let arrives = leaves + state.delay;
            state.arrivals.items.push_back((arrives, packet));
            if !state.arrivals.armed {
                state.arrivals.armed = true;
                cx.schedule(arrives, Event::Wire { wire });
            }
        }
        let p = &mut cx.packets[packet];
        if p.left == Instant::ZERO {
            p.left = ready;
        }
        if std::mem::take(&mut p.held)
            && let Some(flow) = p.flow()
        {
            let reverse = p.reverse;
            cx.schedule(leaves, Event::Released { flow, reverse });
        }
        if lost {
            cx.lose(packet, Loss::Wire);
        }
    }

    /// Takes the next packet at the end of a wire, if it is there by now; schedules the next event
    /// of the wire otherwise. [`Net::receive_from_wire`] follows.
    pub fn take_from_wire(&mut self, cx: &mut Context, wire: WireId) -> Option<PacketId> {
        let now = cx.now();
        let arrivals = &mut self.wires[wire].arrivals;
        if let Some(packet) = arrivals.take_done(now) {
            return Some(packet);
        }
        arrivals.armed = false;
        if let Some((at, _)) = arrivals.items.front() {
            arrivals.armed = true;
            cx.schedule(*at, Event::Wire { wire });
        }
        None
    }

    /// A packet is at the end of a wire; the wire's next one follows.
    pub fn receive_from_wire(&mut self, lower: &mut Lower, wire: WireId, packet: PacketId) {
        let node = self.wires[wire].to;
        let to = lower.cx.packets[packet].to;
        if node == to {
            lower.cx.packets[packet].arrived = lower.cx.now();
        }
        self.receive_in_host(lower, node, packet, Duration::ZERO);
        let arrivals = &mut self.wires[wire].arrivals;
        if arrivals.items.is_empty() {
            arrivals.armed = false;
        } else {
            lower.cx.act(Action::Wire { wire });
        }
    }
}

/// A packet that leaves by a wire.
struct Leaving {
    /// When the node was done with it.
    ready: Instant,
    /// When its last octet is on the wire.
    leaves: Instant,
}

/// Octets that a packet takes on a wire.
fn octets_on_wire(p: &Packet) -> u32 {
    let short = p.resolves() || p.is_group_traffic();
    let shortest = if short { ETHERNET_MINIMUM } else { 0 };
    p.ip_octets.max(shortest) + ETHERNET_OCTETS
}
