//! Flows: an application, the sockets that it writes to, and the packets between them.
//!
//! `port` is the border between a flow's application and its sockets, `socket` holds UDP,
//! `connection` TCP, and `outlet` makes packets. This module takes events and arrivals to the flow that they
//! concern, and counts packets that arrive or are lost.

mod connection;
mod outlet;
mod port;
mod socket;

use airtoll_units::{Duration, Instant};

pub(crate) use connection::{Carried, Connection};
use outlet::Outlet;
pub(crate) use outlet::PacketForm;
use port::SocketPort;
pub(crate) use socket::{Socket, UdpSocket};

use crate::application::{Application, Datagram, End, Running};
use crate::context::{Action, Context};
use crate::event::Event;
use crate::id::{Ends, FlowId, NodeId, Table};
use crate::observe::Observation;
use crate::packet::{Carries, Loss, Packet};

/// All flows.
pub(crate) struct Flows {
    flows: Table<FlowId, Flow>,
}

/// One flow.
#[derive(Debug)]
pub(crate) struct Flow {
    name: String,
    station: Option<String>,
    form: PacketForm,
    application: Running,
    socket: Socket,
    span: Span,
    /// Its packets leave its sender's socket several at once: the application then does nothing but
    /// send others, and schedules no event between them.
    refills: bool,
    /// Ends that have not joined yet; it starts after these.
    missing: Vec<NodeId>,
    /// It starts when its ends have joined, during the traffic.
    joins: bool,
    /// It is a neighbour's, and in no result.
    neighbour: bool,
    /// It has begun: a neighbour's begins with the trial.
    begun: bool,
}

/// When an application may act.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Span {
    /// It does nothing before.
    pub start: Instant,
    /// It begins nothing from then on; [`Instant::MAX`]: never.
    pub stop: Instant,
}

impl Flow {
    /// A flow before the traffic begins, with its name and that of its station.
    pub fn new(
        (name, station): (String, Option<String>),
        form: PacketForm,
        application: Running,
        socket: Socket,
        span: Span,
    ) -> Self {
        let only_counts =
            matches!(socket, Socket::Udp(_)) && application.datagram_octets().is_some();
        Self {
            name,
            station,
            form: form.only_counted(only_counts),
            refills: matches!(socket, Socket::Udp(_)) && application.fills_socket(),
            application,
            socket,
            span,
            missing: Vec::new(),
            joins: false,
            neighbour: false,
            begun: false,
        }
    }

    /// The same, of a neighbour's BSS or not.
    pub const fn of_neighbour(mut self, neighbour: bool) -> Self {
        self.neighbour = neighbour;
        self
    }

    /// Whether it is in a neighbour's BSS, whose traffic is in no result.
    pub const fn is_neighbours(&self) -> bool {
        self.neighbour
    }

    /// When it starts.
    pub const fn start(&self) -> Instant {
        self.span.start
    }

    /// When it started, if it waited for a station that joins during the traffic.
    pub fn admitted(&self) -> Option<Instant> {
        self.joins.then_some(self.span.start)
    }

    /// Its name in results.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The station that its results are filed under.
    pub fn station(&self) -> Option<&str> {
        self.station.as_deref()
    }

    /// Sender and receiver of a packet; `reverse`: from the flow's destination to its source.
    pub fn ends(&self, reverse: bool) -> Ends<NodeId> {
        self.form.ends(reverse)
    }

    /// Whether its packets are IPv6.
    pub fn is_ipv6(&self) -> bool {
        self.form.are_ipv6()
    }

    /// Whether its receiver only counts arrivals, and so never acts.
    #[cfg(test)]
    pub fn only_counts(&self) -> bool {
        self.form.are_only_counted()
    }

    /// Its TCP connection; `None`: it is UDP.
    pub fn connection(&self) -> Option<&Connection> {
        match &self.socket {
            Socket::Tcp(connection) => Some(connection),
            Socket::Udp(_) => None,
        }
    }

    /// Whether its application never runs out of octets.
    pub fn is_saturated(&self) -> bool {
        self.application.is_saturated()
    }

    /// Speech in one packet, where this is one direction of a voice call.
    pub fn speech(&self) -> Option<Duration> {
        self.application.speech()
    }

    fn begin(&mut self, cx: &mut Context, number: FlowId) {
        self.begun = true;
        self.application.begin(self.span.start);
        let event = Event::Application { flow: number };
        cx.schedule(self.span.start, event);
    }

    fn outlet<'a>(&'a mut self, cx: &'a mut Context, flow: FlowId) -> (Outlet<'a>, &'a mut Socket) {
        let form = &self.form;
        (Outlet { cx, flow, form }, &mut self.socket)
    }

    /// Calls the application; segments with the octets that it wrote leave after the call.
    #[inline(always)]
    fn call<R>(
        &mut self,
        cx: &mut Context,
        flow: FlowId,
        input: impl FnOnce(&mut Running, &mut SocketPort<'_>) -> R,
    ) -> R {
        let form = &self.form;
        let mut port = SocketPort {
            out: Outlet { cx, flow, form },
            socket: &mut self.socket,
            span: &self.span,
            written: [false; 2],
        };
        let result = input(&mut self.application, &mut port);
        port.flush();
        result
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

    /// Flows from and to this host wait until its station has joined.
    pub fn hold(&mut self, host: NodeId) {
        for flow in &mut self.flows {
            let Ends { from, to } = flow.ends(false);
            if [from, to].contains(&host) {
                flow.missing.push(host);
                flow.joins = true;
            }
        }
    }

    /// A station and the host of its flows have joined: flows that waited for them alone start now, or
    /// at their stated start if that is later. Gives these flows.
    pub fn admit(&mut self, cx: &mut Context, hosts: [NodeId; 2]) -> Vec<FlowId> {
        let mut started = Vec::new();
        for (number, flow) in self.flows.pairs_mut() {
            if flow.missing.is_empty() {
                continue;
            }
            flow.missing.retain(|host| !hosts.contains(host));
            if flow.missing.is_empty() {
                flow.span.start = flow.span.start.max(cx.now());
                flow.begin(cx, number);
                started.push(number);
            }
        }
        started
    }

    /// A flow.
    pub fn flow(&self, flow: FlowId) -> &Flow {
        &self.flows[flow]
    }

    /// The flows of neighbours begin with the trial, before stations join.
    pub fn begin_neighbours(&mut self, cx: &mut Context) {
        for (number, flow) in self.flows.pairs_mut() {
            if flow.neighbour {
                flow.begin(cx, number);
            }
        }
    }

    /// The traffic begins `shift` after the trial: all actions of the flows count from then.
    pub fn begin(&mut self, cx: &mut Context, shift: Duration) {
        for (number, flow) in self.flows.pairs_mut() {
            if flow.begun {
                continue;
            }
            let span = &mut flow.span;
            span.start += shift;
            if span.stop != Instant::MAX {
                span.stop += shift;
            }
            if flow.missing.is_empty() {
                flow.begin(cx, number);
            }
        }
    }

    /// A flow's application is due.
    pub fn application_due(&mut self, cx: &mut Context, number: FlowId) {
        let flow = &mut self.flows[number];
        if cx.now() >= flow.span.start {
            flow.call(cx, number, |application, port| application.due(port));
        }
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
            Carries::Segment { place, .. } => {
                let (mut out, socket) = flow.outlet(cx, number);
                let Socket::Tcp(connection) = socket else {
                    return;
                };
                if let Some((from, octets)) = connection.segment_arrived(&mut out, place) {
                    flow.call(cx, number, |application, port| {
                        application.stream_arrived(port, from, octets);
                    });
                }
            }
            Carries::Datagram { number: of_end, .. } => {
                let datagram = Datagram {
                    from: End::sender(p.reverse),
                    number: of_end,
                    at,
                };
                let taken = flow.call(cx, number, |application, port| {
                    application.datagram_arrived(port, datagram)
                });
                if taken {
                    cx.observe(Observation::Delivered {
                        flow: number,
                        octets: p.payload,
                        at,
                    });
                }
            }
            _ => {}
        }
    }

    /// A packet of a flow was lost on its way.
    pub fn lost(&mut self, cx: &mut Context, p: &Packet, cause: Loss) {
        let Some(flow) = p.flow() else { return };
        if let (Socket::Tcp(connection), Carries::Segment { place, .. }) =
            (&mut self.flows[flow].socket, p.carries)
        {
            connection.forget(place);
        }
        cx.observe(Observation::Lost {
            flow,
            packet: p,
            cause,
        });
    }

    /// Packets of a flow left its sender's socket; `reverse`: the socket of the flow's destination.
    #[inline]
    pub fn released(&mut self, cx: &mut Context, number: FlowId, reverse: bool, count: u32) {
        let flow = &mut self.flows[number];
        let at_once = if flow.refills { count } else { 1 };
        let (mut out, socket) = flow.outlet(cx, number);
        match socket {
            Socket::Tcp(connection) => connection.segment_left(&mut out, End::sender(reverse)),
            Socket::Udp(socket) => {
                if socket.release(at_once) {
                    self.application_due(cx, number);
                }
            }
        }
        if count > at_once {
            // The others follow what this one caused.
            cx.act(Action::Released {
                flow: number,
                reverse,
                count: count - at_once,
            });
        }
    }

    /// A timer event of a flow.
    pub fn transport_timer(&mut self, cx: &mut Context, number: FlowId, receiver: bool) {
        let flow = &mut self.flows[number];
        let (mut out, socket) = flow.outlet(cx, number);
        if let Socket::Tcp(connection) = socket {
            connection.timer(&mut out, receiver);
        } else {
            flow.call(cx, number, |application, port| application.timed_out(port));
        }
    }
}
