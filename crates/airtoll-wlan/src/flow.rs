//! Flows: sending and receiving applications, and the transport between them.
//!
//! `application` decides the octets and times of a flow, and `connection` holds TCP's part. This
//! module holds the flow's state, makes packets, and counts those that arrive or are lost.

mod application;
mod connection;

use airtoll_engine::Stream;
use airtoll_units::{Duration, Instant};

pub(crate) use application::{Application, RequestResponse, Step};
pub(crate) use connection::{Carried, Connection};

use crate::context::{Action, Context};
use crate::event::Event;
use crate::id::{FlowId, NodeId, Table};
use crate::observe::Observation;
use crate::packet::{Carries, Packet};

/// All flows.
pub(crate) struct Flows {
    flows: Table<FlowId, Flow>,
}

/// One flow.
#[derive(Debug)]
pub(crate) struct Flow {
    pub name: String,
    pub station: Option<String>,
    pub source: NodeId,
    pub destination: NodeId,
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
    /// Sending waits for room.
    pub blocked: bool,
    pub next_number: u32,
    pub stream: Stream,
}

/// IPv6 header (RFC 8200 section 3).
const IPV6_HEADER: u32 = 40;
/// UDP header (RFC 768).
const UDP_HEADER: u32 = 8;

impl Flow {
    /// Delays all of its actions by `shift`; called before it has begun.
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
        self.connection.is_none() && !matches!(self.application, Application::RequestResponse(_))
    }
}

impl Flows {
    /// No flows.
    pub fn new() -> Self {
        Self {
            flows: Table::new(),
        }
    }

    /// Adds a flow.
    pub fn add(&mut self, flow: Flow) {
        self.flows.push(flow);
    }

    /// All flows.
    pub fn all(&self) -> &Table<FlowId, Flow> {
        &self.flows
    }

    /// A flow.
    pub fn flow(&self, flow: FlowId) -> &Flow {
        &self.flows[flow]
    }

    /// Delays all actions of the flows by `shift`; called before they have begun.
    pub fn begin(&mut self, cx: &mut Context, shift: Duration) {
        for (number, flow) in self.flows.pairs_mut() {
            flow.begin_later(shift);
            let event = Event::Application { flow: number };
            cx.schedule(flow.start, event);
        }
    }

    /// Sends a packet of a flow.
    #[inline]
    fn originate(
        &mut self,
        cx: &mut Context,
        carries: Carries,
        reverse: bool,
        transport_octets: u32,
        payload: u32,
    ) {
        let (Carries::Datagram { flow, .. } | Carries::Segment { flow, .. }) = carries else {
            return;
        };
        let now = cx.now();
        let counted = now >= cx.warm_up;
        let state = &mut self.flows[flow];
        let (from, to) = if reverse {
            (state.destination, state.source)
        } else {
            (state.source, state.destination)
        };
        if payload > 0 {
            cx.observe(Observation::Sent { flow });
        }
        let held = match &state.connection {
            Some(connection) => payload > 0 && connection.counts_local(u8::from(reverse)),
            None => !reverse,
        };
        if held && state.connection.is_none() {
            state.held += 1;
        }
        let ip_octets = state.ip_header + transport_octets + payload;
        let packet = cx.packets.insert(Packet {
            payload,
            category: state.category,
            ipv6: state.ip_header == IPV6_HEADER,
            only_counted: state.only_takes(),
            held,
            reverse,
            counted,
            ..Packet::new(carries, to, ip_octets, now)
        });
        cx.act(Action::Send { host: from, packet });
    }

    /// A whole packet of a flow reached the application's host and is through its stack at `at`.
    #[inline]
    pub fn arrived(&mut self, cx: &mut Context, p: &Packet, at: Instant) {
        let Some(number) = p.flow() else { return };
        cx.observe(Observation::Arrived {
            flow: number,
            packet: p,
            at,
        });
        let flow = &mut self.flows[number];
        match p.carries {
            Carries::Segment { place, .. } => self.segment_arrived(cx, number, place),
            Carries::Datagram { number: of, .. }
                if matches!(flow.application, Application::RequestResponse(_)) =>
            {
                self.message_arrived(cx, number, of, p);
            }
            _ => {
                cx.observe(Observation::Delivered {
                    flow: number,
                    octets: p.payload,
                    at,
                });
                self.transfer_delivered(cx, number, at);
            }
        }
    }

    /// A packet of a flow was lost on its way.
    pub fn lost(&mut self, cx: &mut Context, p: &Packet) {
        let Some(flow) = p.flow() else { return };
        let state = &mut self.flows[flow];
        if let (Some(connection), Carries::Segment { place, .. }) =
            (&mut state.connection, p.carries)
        {
            connection.forget(place);
        }
        cx.observe(Observation::Lost { flow, packet: p });
    }

    /// A packet of a flow left its sender's socket; `reverse`: the socket of the flow's destination.
    #[inline]
    pub fn released(&mut self, cx: &mut Context, flow: FlowId, reverse: bool) {
        let state = &mut self.flows[flow];
        if state.connection.is_some() {
            self.segment_left(cx, flow, u8::from(reverse));
            return;
        }
        state.held -= 1;
        if std::mem::take(&mut state.blocked) {
            self.application_due(cx, flow);
        }
    }
}
