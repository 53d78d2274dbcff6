//! Applications: the octets that they send, and when.

use airtoll_units::{Duration, Instant};

use super::{Flows, UDP_HEADER};
use crate::context::Context;
use crate::event::Event;
use crate::id::FlowId;
use crate::observe::Observation;
use crate::packet::{Carries, Packet};

/// The state of a flow's application.
#[derive(Debug, Clone)]
pub(crate) enum Application {
    /// Always has another write.
    Saturated { payload: u32 },
    /// Writes at given distances.
    Paced {
        payload: u32,
        /// Mean distance, ns.
        interval_ns: f64,
        poisson: bool,
        /// When the next write is due, ns.
        due_ns: f64,
    },
    /// A given amount.
    Transfer {
        payload: u32,
        left: u64,
        total: u64,
        /// All of it has arrived (TCP).
        done: bool,
    },
    /// Requests and responses.
    RequestResponse(RequestResponse),
}

/// Requests and responses.
#[derive(Debug, Clone)]
pub(crate) struct RequestResponse {
    /// Requests with their responses, in order, from one pause to the next.
    pub steps: Vec<Step>,
    /// The step under way.
    pub step: usize,
    /// Every round of steps opens a connection of its own (TCP).
    pub reconnects: bool,
    pub think: Duration,
    pub retry: Duration,
    pub left: Option<u32>,
    /// Number of the request under way.
    pub number: u32,
    /// Responses sent so far (TCP).
    pub answered: u32,
    /// When the request under way was sent.
    pub asked_at: Instant,
    /// When the clock of the round started.
    pub began: Instant,
    /// The time of a round holds the waits for lost requests (UDP).
    pub counts_waits: bool,
    /// Action of the application when it is due next.
    pub next: Next,
    /// Octets that make the request and response under way complete (TCP).
    pub requested: u64,
    pub responded: u64,
}

/// A request with its response.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Step {
    /// Octets of the request.
    pub request: u32,
    /// Octets of the response.
    pub response: u32,
    /// Time that the server takes to answer.
    pub server: Duration,
}

impl RequestResponse {
    /// A round of `steps`, again and again with a pause of `think`.
    pub fn new(steps: Vec<Step>, think: Duration, retry: Duration, left: Option<u32>) -> Self {
        Self {
            steps,
            step: 0,
            reconnects: false,
            think,
            retry,
            left,
            number: 0,
            answered: 0,
            asked_at: Instant::ZERO,
            began: Instant::ZERO,
            counts_waits: false,
            next: Next::Ask,
            requested: 0,
            responded: 0,
        }
    }

    /// The request and the response under way.
    pub fn current(&self) -> Step {
        self.steps[self.step]
    }

    /// Whether no round may begin.
    pub fn is_over(&self, stopped: bool) -> bool {
        self.step == 0 && (stopped || self.left == Some(0))
    }

    /// Counts a request that is sent now; the first of a round starts the clock.
    pub fn ask(&mut self, now: Instant) {
        if self.step == 0 {
            self.left = self.left.map(|n| n - 1);
            self.began = now;
        }
        self.asked_at = now;
        self.number += 1;
        self.next = Next::Retry;
    }

    /// Takes the response; gives the time of the whole round, if it ends here, and the pause before
    /// the next request.
    pub fn answer(&mut self, now: Instant) -> (Option<Duration>, Duration) {
        self.next = Next::Ask;
        self.step += 1;
        if self.step < self.steps.len() {
            return (None, Duration::ZERO);
        }
        self.step = 0;
        (Some(now - self.began), self.think)
    }
}

/// The next act of a request-response application.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Next {
    Ask,
    /// The server has computed its response to the request with this number.
    Answer,
    /// The response has not come (UDP): ask again.
    Retry,
}

impl Flows {
    /// A flow's application acts.
    pub fn application_due(&mut self, cx: &mut Context, flow: FlowId) {
        let now = cx.now();
        if now < self.flows[flow].start {
            return;
        }
        if self.flows[flow].connection.is_some() {
            self.write_to_connection(cx, flow);
            return;
        }
        match self.flows[flow].application {
            Application::Saturated { payload } => self.send_while_room(cx, flow, payload),
            Application::Paced { payload, .. } => self.send_paced(cx, flow, payload),
            Application::Transfer { payload, .. } => self.send_transfer(cx, flow, payload),
            Application::RequestResponse(_) => self.exchange_due(cx, flow),
        }
    }

    fn send_while_room(&mut self, cx: &mut Context, flow: FlowId, payload: u32) {
        let now = cx.now();
        loop {
            let state = &mut self.flows[flow];
            if now >= state.stop {
                return;
            }
            // Set before sending: a packet may be released at once.
            state.blocked = true;
            if state.held >= state.room {
                return;
            }
            state.blocked = false;
            self.send_datagram(cx, flow, payload);
        }
    }

    fn send_paced(&mut self, cx: &mut Context, flow: FlowId, payload: u32) {
        let now = cx.now();
        loop {
            let state = &mut self.flows[flow];
            if now >= state.stop {
                return;
            }
            let Application::Paced { due_ns, .. } = &state.application else {
                return;
            };
            let due = Instant::from_nanos(*due_ns as u64);
            if due > now {
                cx.schedule(due, Event::Application { flow });
                return;
            }
            if state.held >= state.room {
                state.blocked = true;
                return;
            }
            self.next_write(flow);
            self.send_datagram(cx, flow, payload);
        }
    }

    /// Moves a paced application to its next write.
    pub(super) fn next_write(&mut self, flow: FlowId) {
        let state = &mut self.flows[flow];
        if let Application::Paced {
            interval_ns,
            poisson,
            due_ns,
            ..
        } = &mut state.application
        {
            let factor = if *poisson {
                -libm::log(1.0 - state.stream.unit())
            } else {
                1.0
            };
            *due_ns += *interval_ns * factor;
        }
    }

    fn send_transfer(&mut self, cx: &mut Context, flow: FlowId, payload: u32) {
        loop {
            let state = &mut self.flows[flow];
            if state.held >= state.room {
                state.blocked = true;
                return;
            }
            let Application::Transfer { left, .. } = &mut state.application else {
                return;
            };
            let size = (*left).min(u64::from(payload)) as u32;
            if size == 0 {
                return;
            }
            *left -= u64::from(size);
            self.send_datagram(cx, flow, size);
        }
    }

    fn send_datagram(&mut self, cx: &mut Context, flow: FlowId, payload: u32) {
        let state = &mut self.flows[flow];
        let number = state.next_number;
        state.next_number = number.wrapping_add(1);
        let octets = u64::from(payload);
        cx.observe(Observation::Offered { flow, octets });
        let carries = Carries::Datagram { flow, number };
        self.originate(cx, carries, false, UDP_HEADER, payload);
    }

    /// Notes when the last datagram of a UDP transfer arrived; some before it may be lost.
    pub(super) fn transfer_delivered(&mut self, cx: &mut Context, flow: FlowId, at: Instant) {
        let state = &self.flows[flow];
        if let Application::Transfer { left: 0, .. } = state.application {
            let took = at - state.start;
            cx.observe(Observation::Transferred { flow, took });
        }
    }

    fn exchange_due(&mut self, cx: &mut Context, flow: FlowId) {
        let now = cx.now();
        let state = &mut self.flows[flow];
        let Application::RequestResponse(exchange) = &mut state.application else {
            return;
        };
        match exchange.next {
            Next::Ask if exchange.is_over(now >= state.stop) => {}
            Next::Ask => {
                exchange.ask(now);
                let (number, retry) = (exchange.number, exchange.retry);
                let request = exchange.current().request;
                let octets = u64::from(request);
                cx.observe(Observation::Offered { flow, octets });
                let carries = Carries::Datagram { flow, number };
                self.originate(cx, carries, false, UDP_HEADER, request);
                cx.schedule(
                    now + retry,
                    Event::TransportTimer {
                        flow,
                        receiver: false,
                    },
                );
            }
            Next::Answer => {
                exchange.next = Next::Retry;
                let (response, number) = (exchange.current().response, exchange.number);
                let carries = Carries::Datagram { flow, number };
                self.originate(cx, carries, true, UDP_HEADER, response);
            }
            Next::Retry => {}
        }
    }

    /// A UDP request has not been answered for the retry time.
    pub(super) fn retry_due(&mut self, cx: &mut Context, flow: FlowId) {
        let now = cx.now();
        let Application::RequestResponse(exchange) = &mut self.flows[flow].application else {
            return;
        };
        let due = exchange.asked_at + exchange.retry;
        if exchange.next != Next::Retry || due > now {
            // Answered meanwhile, or asked again: the newer request has its own timer.
            return;
        }
        let (number, retry) = (exchange.number, exchange.retry);
        let request = exchange.current().request;
        exchange.asked_at = now;
        if !exchange.counts_waits {
            exchange.began = now;
        }
        cx.observe(Observation::Repeated { flow });
        let carries = Carries::Datagram { flow, number };
        self.originate(cx, carries, false, UDP_HEADER, request);
        cx.schedule(
            now + retry,
            Event::TransportTimer {
                flow,
                receiver: false,
            },
        );
    }

    /// A UDP request or response arrived.
    pub(super) fn message_arrived(
        &mut self,
        cx: &mut Context,
        flow: FlowId,
        number: u32,
        p: &Packet,
    ) {
        let now = cx.now();
        let state = &mut self.flows[flow];
        let Application::RequestResponse(exchange) = &mut state.application else {
            return;
        };
        if number != exchange.number {
            return;
        }
        if !p.reverse {
            if exchange.next == Next::Retry {
                exchange.next = Next::Answer;
                let at = now + exchange.current().server;
                cx.schedule(at, Event::Application { flow });
            }
        } else if exchange.next == Next::Retry {
            let (round, pause) = exchange.answer(now);
            if let Some(took) = round {
                cx.observe(Observation::Answered { flow, took });
            }
            cx.schedule(now + pause, Event::Application { flow });
        }
        cx.observe(Observation::Delivered {
            flow,
            octets: p.payload,
            at: now,
        });
    }
}
