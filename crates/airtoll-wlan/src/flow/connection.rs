//! A flow's TCP connection: the sans-IO machines of `transport`, fed with packets and timers.
//!
//! Data travels in one direction per half-connection; a request-response flow has two halves.

use airtoll_units::Instant;

use super::application::Next;
use super::{Application, Flows};
use crate::context::Context;
use crate::event::Event;
use crate::id::{FlowId, SegmentId, Slab};
use crate::observe::Observation;
use crate::packet::Carries;
use crate::transport::{Ack, LocalQueue, Receiver, Segment, Sender, TcpConfig};

/// Both halves of a connection.
#[derive(Debug)]
pub(crate) struct Connection {
    /// Data from source to destination, and back.
    pub halves: [Half; 2],
    /// Segments of the packets under way, with the number of the connection that sent them.
    carried: Slab<SegmentId, (u32, Carried)>,
    /// Connections opened before this one by [`Self::reopen`].
    number: u32,
    /// Parameters of the halves.
    configs: [TcpConfig; 2],
}

/// One direction of data.
#[derive(Debug)]
pub(crate) struct Half {
    pub sender: Sender,
    pub receiver: Receiver,
    /// The sender's segments in the transmit queue of its host, where that holds it back.
    local: Option<LocalQueue>,
    /// When the scheduled timer events of sender and receiver come.
    timers: [Instant; 2],
}

/// TCP content of a packet.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Carried {
    /// Data, the acknowledgement of the other half's that rides on it, and how much of the other
    /// half has been acknowledged.
    Segment(u8, Segment, Option<Ack>, u64),
    /// An acknowledgement, and how much its sender has sent itself.
    Ack(u8, Ack, u64),
}

impl Half {
    fn new(config: &TcpConfig, local: Option<LocalQueue>) -> Self {
        Self {
            sender: Sender::new(config),
            receiver: Receiver::new(config),
            local,
            timers: [Instant::MAX; 2],
        }
    }
}

impl Connection {
    /// A connection with the parameters of its halves. `rooms` are the packets that the transmit
    /// queues of source and destination take; `None` where a queue does not hold TCP back.
    pub fn new(configs: [TcpConfig; 2], rooms: [Option<u32>; 2]) -> Self {
        let half = |at: usize| {
            let rule = configs[at].back_pressure;
            let local = rooms[at].and_then(|room| LocalQueue::new(rule, room));
            Half::new(&configs[at], local)
        };
        Self {
            halves: [half(0), half(1)],
            carried: Slab::new(),
            number: 0,
            configs,
        }
    }

    /// Replaces the connection by a new one that opens with a three-way handshake. Segments of the
    /// old one that are under way are ignored.
    pub fn reopen(&mut self) {
        self.number += 1;
        let opening = TcpConfig {
            handshake: true,
            ..self.configs[0].clone()
        };
        // Segments of the old connection may be in the queues still.
        let [first, second] = &mut self.halves;
        let (first, second) = (first.local.take(), second.local.take());
        self.halves = [
            Half::new(&opening, first),
            Half::new(&self.configs[1], second),
        ];
    }

    fn carry(&mut self, carried: Carried) -> SegmentId {
        self.carried.insert((self.number, carried))
    }

    /// TCP content of the packet with this place among those under way.
    pub fn carried(&self, place: SegmentId) -> Carried {
        self.carried[place].1
    }

    /// The parameters of a half.
    pub fn config(&self, half: u8) -> &TcpConfig {
        &self.configs[usize::from(half)]
    }

    /// The window scale of a half's receiver.
    pub fn window_scale(&self, half: u8) -> u32 {
        self.halves[usize::from(half)].receiver.window_scale()
    }

    /// Whether data segments of a half count as long as they are in the queue of their host.
    #[inline]
    pub fn counts_local(&self, half: u8) -> bool {
        self.halves[usize::from(half)].local.is_some()
    }

    /// The packet that carried this was lost.
    pub fn forget(&mut self, place: SegmentId) {
        self.carried.remove(place);
    }
}

impl Flows {
    /// The application of a TCP flow is due.
    pub(super) fn write_to_connection(&mut self, cx: &mut Context, flow: FlowId) {
        let now = cx.now();
        let stopped = now >= self.flows[flow].stop;
        let state = &mut self.flows[flow];
        let Some(connection) = &mut state.connection else {
            return;
        };
        let sender = &mut connection.halves[0].sender;
        match &mut state.application {
            Application::Saturated { .. } => sender.saturate(),
            Application::Transfer { left, .. } => {
                sender.on_write(*left);
                sender.finish();
                let octets = std::mem::take(left);
                cx.observe(Observation::Offered { flow, octets });
            }
            Application::Paced {
                payload, due_ns, ..
            } => {
                if stopped {
                    return;
                }
                let (payload, due) = (*payload, Instant::from_nanos(*due_ns as u64));
                if due <= now {
                    sender.on_write(u64::from(payload));
                    let octets = u64::from(payload);
                    cx.observe(Observation::Offered { flow, octets });
                    self.next_write(flow);
                }
                if let Application::Paced { due_ns, .. } = &self.flows[flow].application {
                    let at = Instant::from_nanos(*due_ns as u64).max(now);
                    cx.schedule(at, Event::Application { flow });
                }
            }
            Application::RequestResponse(_) => {
                self.exchange_over_connection(cx, flow, stopped);
                return;
            }
        }
        self.pump(cx, flow, 0);
    }

    fn exchange_over_connection(&mut self, cx: &mut Context, flow: FlowId, stopped: bool) {
        let now = cx.now();
        let state = &mut self.flows[flow];
        let (Application::RequestResponse(exchange), Some(connection)) =
            (&mut state.application, &mut state.connection)
        else {
            return;
        };
        match exchange.next {
            Next::Ask if exchange.is_over(stopped) => {}
            Next::Ask => {
                if exchange.step == 0 && exchange.reconnects {
                    connection.reopen();
                    (exchange.requested, exchange.responded) = (0, 0);
                }
                exchange.ask(now);
                let octets = u64::from(exchange.current().request);
                exchange.requested += octets;
                connection.halves[0].sender.on_write(octets);
                cx.observe(Observation::Offered { flow, octets });
                self.pump(cx, flow, 0);
            }
            Next::Answer => {
                exchange.next = Next::Retry;
                let response = u64::from(exchange.current().response);
                exchange.answered += 1;
                exchange.responded += response;
                connection.halves[1].sender.on_write(response);
                self.pump(cx, flow, 1);
            }
            Next::Retry => {}
        }
    }

    /// Sends as many segments as the windows allow, and sets the timer.
    fn pump(&mut self, cx: &mut Context, flow: FlowId, half: u8) {
        let now = cx.now();
        loop {
            let Some(connection) = &mut self.flows[flow].connection else {
                return;
            };
            let state = &mut connection.halves[usize::from(half)];
            if let Some(local) = &mut state.local
                && local.holds_back(&mut state.sender)
            {
                break;
            }
            let Some(segment) = state.sender.poll_transmit(now) else {
                break;
            };
            if segment.payload > 0
                && let Some(local) = &mut state.local
            {
                local.entered(segment.payload);
            }
            let other = &mut connection.halves[usize::from(1 - half)].receiver;
            let (rides, known) = (other.ride(), other.acknowledged());
            let place = connection.carry(Carried::Segment(half, segment, rides, known));
            let carries = Carries::Segment { flow, place };
            self.originate(cx, carries, half == 1, segment.header, segment.payload);
        }
        self.keep_timer(cx, flow, half, false);
    }

    /// A segment of a half left the transmit queue of its host.
    pub(super) fn segment_left(&mut self, cx: &mut Context, flow: FlowId, half: u8) {
        let Some(connection) = &mut self.flows[flow].connection else {
            return;
        };
        let local = &mut connection.halves[usize::from(half)].local;
        if local.as_mut().is_some_and(LocalQueue::left) {
            self.pump(cx, flow, half);
        }
    }

    fn acknowledge(&mut self, cx: &mut Context, flow: FlowId, half: u8, ack: Ack) {
        if let Some(connection) = &mut self.flows[flow].connection {
            let sent = connection.halves[usize::from(1 - half)].sender.sent();
            let place = connection.carry(Carried::Ack(half, ack, sent));
            let carries = Carries::Segment { flow, place };
            self.originate(cx, carries, half == 0, ack.header, 0);
        }
    }

    /// A segment or an acknowledgement arrived.
    pub(super) fn segment_arrived(&mut self, cx: &mut Context, flow: FlowId, place: SegmentId) {
        let now = cx.now();
        let Some(connection) = &mut self.flows[flow].connection else {
            return;
        };
        let (number, carried) = connection.carried.remove(place);
        if number != connection.number {
            return;
        }
        match carried {
            Carried::Ack(half, ack, _) => {
                connection.halves[usize::from(half)]
                    .sender
                    .on_ack(now, &ack);
                self.pump(cx, flow, half);
            }
            Carried::Segment(half, segment, rides, _) => {
                if let Some(ack) = rides {
                    connection.halves[usize::from(1 - half)]
                        .sender
                        .on_ack(now, &ack);
                }
                let received = connection.halves[usize::from(half)]
                    .receiver
                    .on_segment(now, &segment);
                if let Some(ack) = received.ack {
                    self.acknowledge(cx, flow, half, ack);
                }
                self.keep_timer(cx, flow, half, true);
                if rides.is_some() {
                    self.pump(cx, flow, 1 - half);
                }
                if received.delivered > 0 {
                    cx.observe(Observation::Delivered {
                        flow,
                        octets: received.delivered as u32,
                        at: now,
                    });
                    self.data_delivered(cx, flow, half);
                }
            }
        }
    }

    /// The receiving application got more of the stream.
    fn data_delivered(&mut self, cx: &mut Context, flow: FlowId, half: u8) {
        let now = cx.now();
        let state = &mut self.flows[flow];
        let Some(connection) = &state.connection else {
            return;
        };
        let delivered = connection.halves[usize::from(half)].receiver.delivered();
        match &mut state.application {
            Application::Transfer { total, done, .. } if delivered >= *total && !*done => {
                *done = true;
                let took = now - state.start;
                cx.observe(Observation::Transferred { flow, took });
            }
            Application::RequestResponse(exchange) => {
                let at = if half == 0 {
                    if exchange.next != Next::Retry || delivered < exchange.requested {
                        return;
                    }
                    // A retransmitted tail of the request must not answer twice.
                    if exchange.answered >= exchange.number {
                        return;
                    }
                    exchange.next = Next::Answer;
                    now + exchange.current().server
                } else {
                    if delivered < exchange.responded || exchange.next != Next::Retry {
                        return;
                    }
                    let (round, pause) = exchange.answer(now);
                    if let Some(took) = round {
                        cx.observe(Observation::Answered { flow, took });
                    }
                    now + pause
                };
                cx.schedule(at, Event::Application { flow });
            }
            _ => {}
        }
    }

    fn keep_timer(&mut self, cx: &mut Context, flow: FlowId, half: u8, receiver: bool) {
        let Some(connection) = &mut self.flows[flow].connection else {
            return;
        };
        let half = &mut connection.halves[usize::from(half)];
        let due = if receiver {
            half.receiver.next_timer()
        } else {
            half.sender.next_timer()
        };
        let scheduled = &mut half.timers[usize::from(receiver)];
        if let Some(due) = due
            && due < *scheduled
        {
            // An event that comes too early looks again; it is never moved.
            *scheduled = due;
            let at = due.max(cx.now());
            cx.schedule(at, Event::TransportTimer { flow, receiver });
        }
    }

    /// A timer event of a flow.
    pub fn transport_timer(&mut self, cx: &mut Context, flow: FlowId, receiver: bool) {
        let now = cx.now();
        if self.flows[flow].connection.is_none() {
            self.retry_due(cx, flow);
            return;
        }
        for half in 0..2_u8 {
            let Some(connection) = &mut self.flows[flow].connection else {
                return;
            };
            let state = &mut connection.halves[usize::from(half)];
            if state.timers[usize::from(receiver)] > now {
                continue;
            }
            state.timers[usize::from(receiver)] = Instant::MAX;
            if receiver {
                if let Some(ack) = state.receiver.on_timer(now) {
                    self.acknowledge(cx, flow, half, ack);
                }
                self.keep_timer(cx, flow, half, true);
            } else {
                state.sender.on_timer(now);
                self.pump(cx, flow, half);
            }
        }
    }
}
