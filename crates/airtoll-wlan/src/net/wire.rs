//! Wires: one direction of a wired link, with its queue, rate, delay and loss.

use std::collections::VecDeque;

use airtoll_engine::Stream;
use airtoll_units::{BitRate, Bytes, Duration, Instant};

use super::Net;
use crate::context::{Action, Context};
use crate::device::Pipe;
use crate::event::Event;
use crate::id::{NodeId, PacketId, WireId};
use crate::lower::Lower;
use crate::packet::Loss;

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
        }
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
        let p = &cx.packets[packet];
        let short = p.resolves() || p.is_group_traffic();
        let shortest = if short { ETHERNET_MINIMUM } else { 0 };
        let octets = p.ip_octets.max(shortest) + ETHERNET_OCTETS;
        let state = &mut self.wires[wire];
        while state.departures.front().is_some_and(|d| *d <= at) {
            state.departures.pop_front();
        }
        if state.departures.len() > state.limit as usize {
            cx.lose(packet, Loss::Full);
            return;
        }
        let leaves = state.free_at.max(at) + state.rate.time_for(Bytes(u64::from(octets)));
        state.free_at = leaves;
        state.departures.push_back(leaves);
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
            p.left = at;
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
