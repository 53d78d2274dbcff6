//! Flows: applications that make data and take it, and the transport between them.
//!
//! What a flow sends and when is in `application`, TCP's part in `connection`; here are the flow's
//! state, the making of packets and the counting of those that arrive or are lost.

mod application;
mod connection;

use airtoll_engine::Stream;
use airtoll_units::{Duration, Instant};

pub(crate) use application::{Application, Exchange, Next};
pub(crate) use connection::{Carried, Connection};

use crate::mac::lifetime::Backlog;
use crate::observe::metrics::Statistics;
use crate::packet::{NONE, Packet};
use crate::world::World;

/// All flows.
pub(crate) struct Flows {
    pub flows: Vec<Flow>,
}

/// One flow.
#[derive(Debug)]
pub(crate) struct Flow {
    pub name: String,
    pub station: Option<String>,
    pub source: u32,
    pub destination: u32,
    pub ip_header: u32,
    pub category: u8,
    pub application: Application,
    /// TCP; UDP where absent.
    pub connection: Option<Box<Connection>>,
    /// Speech in one packet, where this is one direction of a voice call.
    pub voice: Option<Duration>,
    pub start: Instant,
    pub stop: Instant,
    /// Packets that take room in the sender's socket, and how many may (UDP).
    pub held: u32,
    pub room: u32,
    /// The queue of its sender's radio where it keeps that full.
    pub backlog: Option<Backlog>,
    /// Sending waits for room.
    pub blocked: bool,
    pub next_mark: u32,
    pub stream: Stream,
    pub statistics: Statistics,
}

/// UDP header (RFC 768).
pub(crate) const UDP_HEADER: u32 = 8;

impl Flow {
    /// Moves everything that it does to `shift` later; called before it has begun.
    pub fn begin_later(&mut self, shift: Duration) {
        self.start += shift;
        if self.stop != Instant::MAX {
            self.stop += shift;
        }
        if let Application::Paced { due_ns, .. } = &mut self.application {
            *due_ns += shift.as_nanos() as f64;
        }
    }

    /// Whether its receiver only counts what arrives, and so never acts.
    pub fn only_takes(&self) -> bool {
        self.connection.is_none() && !matches!(self.application, Application::Exchange(_))
    }
}

impl World {
    /// Puts a packet of a flow into the stack of its sender.
    pub(crate) fn originate(
        &mut self,
        flow: u32,
        reverse: bool,
        transport_octets: u32,
        payload: u32,
        mark: u32,
    ) {
        let now = self.stack.lower.cx.events.now();
        let counted = now >= self.stack.lower.cx.warm_up;
        let state = &mut self.stack.flow.flows[flow as usize];
        let (from, to) = if reverse {
            (state.destination, state.source)
        } else {
            (state.source, state.destination)
        };
        if counted && payload > 0 {
            state.statistics.sent += 1;
        }
        let held = !reverse && state.connection.is_none();
        if held {
            state.held += 1;
        }
        let packet = self.stack.lower.cx.packets.insert(Packet {
            flow,
            to,
            ip_octets: state.ip_header + transport_octets + payload,
            payload,
            tunnel_octets: 0,
            mark,
            group: NONE,
            next: NONE,
            created: now,
            left: Instant::ZERO,
            arrived: now,
            category: state.category,
            entered: NONE,
            end: 0,
            under: NONE,
            number: 0,
            held,
            reverse,
            counted,
        });
        self.send_packet(from, packet);
    }

    /// A whole packet reached the application's host and is through its stack at `at`.
    pub(crate) fn arrived(&mut self, packet: u32, at: Instant) {
        let p = self.stack.lower.cx.packets.remove(packet);
        if p.resolves() {
            self.resolution_arrived(&p);
            return;
        }
        if p.advertises() {
            self.advertisement_arrived(&p);
            return;
        }
        if p.flow == NONE {
            self.signal_arrived(p.mark);
            return;
        }
        self.trace(
            "arrived",
            [u64::from(p.flow), u64::from(p.mark), p.created.as_nanos()],
        );
        if p.payload > 0 {
            self.count_arrival(&p, at);
            if self.roam.anybody_moves() {
                self.note_delivery(&p, at);
            }
        }
        let flow = &mut self.stack.flow.flows[p.flow as usize];
        if flow.connection.is_some() {
            self.segment_arrived(&p);
        } else if matches!(flow.application, Application::Exchange(_)) {
            self.message_arrived(&p);
        } else if at >= self.stack.lower.cx.warm_up {
            self.count_delivery(p.flow, p.payload, at);
            self.transfer_delivered(p.flow, at);
        }
    }

    fn count_arrival(&mut self, p: &Packet, at: Instant) {
        let statistics = &mut self.stack.flow.flows[p.flow as usize].statistics;
        if !p.reverse {
            statistics.jitter.add(p.created, at);
        }
        if !p.counted {
            return;
        }
        statistics.received += 1;
        if p.reverse {
            return;
        }
        let delay = at - p.created;
        statistics.delays.add(delay);
        statistics.sender_time += p.left.saturating_since(p.created);
        statistics.transit_time += p.arrived.saturating_since(p.left);
        statistics.receiver_time += at - p.arrived;
        if self.stack.lower.cx.observers.series {
            let jitter_s = statistics.jitter.seconds().unwrap_or(0.0);
            let second = statistics.second(at - self.stack.lower.cx.warm_up);
            second.received += 1;
            second.delay += delay;
            second.jitter_s = jitter_s;
        }
    }

    /// Octets became available to the receiving application.
    pub(crate) fn count_delivery(&mut self, flow: u32, octets: u32, at: Instant) {
        let statistics = &mut self.stack.flow.flows[flow as usize].statistics;
        statistics.delivered_octets += u64::from(octets);
        if self.stack.lower.cx.observers.series {
            statistics.second(at - self.stack.lower.cx.warm_up).octets += u64::from(octets);
        }
    }

    /// A packet was dropped on the way.
    pub(crate) fn lost(&mut self, p: &Packet) {
        let now = self.stack.lower.cx.events.now();
        if p.flow == NONE {
            // A question that is lost is asked again, and advertisements go on.
            if !p.resolves() && !p.advertises() {
                self.signal_lost(p.mark);
            }
            return;
        }
        if let Some(connection) = &mut self.stack.flow.flows[p.flow as usize].connection {
            connection.forget(p.mark);
        }
        if !p.counted || p.payload == 0 {
            return;
        }
        if self.roam.anybody_moves() {
            self.note_loss(p);
        }
        let statistics = &mut self.stack.flow.flows[p.flow as usize].statistics;
        statistics.lost += 1;
        if self.stack.lower.cx.observers.series && !p.reverse {
            statistics.second(now - self.stack.lower.cx.warm_up).lost += 1;
        }
    }

    /// A packet of a UDP flow left its sender's socket.
    pub(crate) fn released(&mut self, flow: u32) {
        let state = &mut self.stack.flow.flows[flow as usize];
        state.held -= 1;
        if std::mem::take(&mut state.blocked) {
            self.application_due(flow);
        }
    }

    /// Span from the end of the warm-up to the end of the trial.
    pub(crate) fn measured(&self) -> Duration {
        self.stack.lower.cx.end - self.stack.lower.cx.warm_up
    }
}
