//! Request and response: a request, a response, a pause, and again (RPC- or HTTP-like).
//!
//! [`Rounds`] also carries applications whose round has several requests, each with its response.

use airtoll_engine::Stream;
use airtoll_units::{Duration, Instant};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    Application, Checked, Datagram, End, Port, SocketKind, not_negative, positive, within,
};

/// A request, a response, a pause, and again (RPC- or HTTP-like).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RequestResponse {
    /// Request, octets.
    pub request_octets: u32,
    /// Response, octets.
    pub response_octets: u32,
    /// Time the server takes to answer, s.
    #[serde(default)]
    pub server_s: f64,
    /// Pause between a response and the next request, s.
    #[serde(default)]
    pub think_s: f64,
    /// How many exchanges; null: until the end.
    #[serde(default)]
    pub count: Option<u32>,
    /// UDP: repeat the request if there is no answer within this time, s.
    #[serde(default = "retry")]
    pub retry_s: f64,
}

fn retry() -> f64 {
    1.0
}

impl RequestResponse {
    pub(super) fn check(&self, _: SocketKind) -> Checked {
        not_negative("server_s", self.server_s)?;
        not_negative("think_s", self.think_s)?;
        positive("retry_s", self.retry_s)?;
        for (field, octets) in [
            ("request_octets", self.request_octets),
            ("response_octets", self.response_octets),
        ] {
            within(field, octets, octets > 0, "at least 1")?;
        }
        Ok(())
    }

    pub(super) fn application(&self, _: SocketKind, _: Stream) -> Rounds {
        let only = Transaction {
            request: self.request_octets,
            response: self.response_octets,
            server: Duration::from_secs_f64(self.server_s),
        };
        Rounds::new(vec![only], self.think_s, self.retry_s, self.count)
    }
}

/// A request with its response.
#[derive(Debug, Clone, Copy)]
pub(super) struct Transaction {
    /// Octets of the request.
    pub request: u32,
    /// Octets of the response.
    pub response: u32,
    /// Time that the server takes to answer.
    pub server: Duration,
}

/// Rounds of requests and responses under way.
#[derive(Debug)]
pub(crate) struct Rounds {
    /// Requests with their responses, in order, from one pause to the next.
    transactions: Vec<Transaction>,
    /// The transaction under way.
    at: usize,
    /// Every round opens a connection of its own (TCP).
    reconnects: bool,
    think: Duration,
    retry: Duration,
    left: Option<u32>,
    /// Number of the request under way.
    number: u32,
    /// Responses sent so far (TCP).
    answered: u32,
    /// When the request under way was sent.
    asked_at: Instant,
    /// When the clock of the round started.
    began: Instant,
    /// The time of a round holds the waits for lost requests (UDP).
    counts_waits: bool,
    /// Action of the application when it is due next.
    next: Next,
    /// Octets that make the request and response under way complete (TCP).
    requested: u64,
    responded: u64,
}

/// The next act of the application.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Next {
    Ask,
    /// The server has computed its response to the request under way.
    Answer,
    /// The response has not come: ask again over UDP, wait over TCP.
    Retry,
}

impl Rounds {
    /// A round of `transactions`, `left` times (`None`: without end) with pauses of `think_s`
    /// seconds. Over UDP a request is repeated after `retry_s` seconds without a response.
    pub(super) fn new(
        transactions: Vec<Transaction>,
        think_s: f64,
        retry_s: f64,
        left: Option<u32>,
    ) -> Self {
        Self {
            transactions,
            at: 0,
            reconnects: false,
            think: Duration::from_secs_f64(think_s),
            retry: Duration::from_secs_f64(retry_s),
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

    /// Opens a connection for every round.
    pub(super) fn reconnecting(self, reconnects: bool) -> Self {
        Self { reconnects, ..self }
    }

    /// Counts the waits for lost requests as time of the round.
    pub(super) fn counting_waits(self) -> Self {
        Self {
            counts_waits: true,
            ..self
        }
    }

    /// The request and the response under way.
    fn current(&self) -> Transaction {
        self.transactions[self.at]
    }

    /// Whether no round may begin.
    fn is_over(&self, stopped: bool) -> bool {
        self.at == 0 && (stopped || self.left == Some(0))
    }

    /// Sends the request; the first of a round starts the clock.
    fn ask(&mut self, port: &mut impl Port) {
        let stream = port.kind() == SocketKind::Stream;
        if self.at == 0 {
            if stream && self.reconnects {
                port.reopen();
                (self.requested, self.responded) = (0, 0);
            }
            self.left = self.left.map(|n| n - 1);
            self.began = port.now();
        }
        self.asked_at = port.now();
        self.number += 1;
        self.next = Next::Retry;
        let request = self.current().request;
        port.offered(u64::from(request));
        if stream {
            self.requested += u64::from(request);
            port.write(End::Source, u64::from(request));
        } else {
            self.send_request(port);
        }
    }

    /// Sends the request under way in a datagram, and waits for the response.
    fn send_request(&self, port: &mut impl Port) {
        port.send_message(End::Source, self.number, self.current().request);
        port.time_out_at(port.now() + self.retry);
    }

    /// Sends the response.
    fn answer(&mut self, port: &mut impl Port) {
        self.next = Next::Retry;
        let response = self.current().response;
        port.offered(u64::from(response));
        if port.kind() == SocketKind::Stream {
            self.answered += 1;
            self.responded += u64::from(response);
            port.write(End::Destination, u64::from(response));
        } else {
            port.send_message(End::Destination, self.number, response);
        }
    }

    /// The server has the request.
    fn requested(&mut self, port: &mut impl Port) {
        self.next = Next::Answer;
        port.wake_at(port.now() + self.current().server);
    }

    /// The client has the response: the next transaction follows, or the round ends and a pause
    /// follows.
    fn responded(&mut self, port: &mut impl Port) {
        let now = port.now();
        self.next = Next::Ask;
        self.at += 1;
        if self.at < self.transactions.len() {
            port.wake_at(now);
            return;
        }
        self.at = 0;
        port.answered(now - self.began);
        port.wake_at(now + self.think);
    }
}

impl Application for Rounds {
    fn due(&mut self, port: &mut impl Port) {
        match self.next {
            Next::Ask if self.is_over(port.is_stopped()) => {}
            Next::Ask => self.ask(port),
            Next::Answer => self.answer(port),
            Next::Retry => {}
        }
    }

    fn timed_out(&mut self, port: &mut impl Port) {
        let now = port.now();
        if self.next != Next::Retry || self.asked_at + self.retry > now {
            // Answered meanwhile, or asked again: the newer request has its own timer.
            return;
        }
        self.asked_at = now;
        if !self.counts_waits {
            self.began = now;
        }
        port.repeated();
        port.offered(u64::from(self.current().request));
        self.send_request(port);
    }

    fn datagram_arrived(&mut self, port: &mut impl Port, datagram: Datagram) -> bool {
        if datagram.number != self.number {
            return false;
        }
        if self.next == Next::Retry {
            match datagram.from {
                End::Source => self.requested(port),
                End::Destination => self.responded(port),
            }
        }
        true
    }

    fn stream_arrived(&mut self, port: &mut impl Port, from: End, octets: u64) {
        if self.next != Next::Retry {
            return;
        }
        match from {
            // A retransmitted tail of the request must not answer twice.
            End::Source if octets >= self.requested && self.answered < self.number => {
                self.requested(port);
            }
            End::Destination if octets >= self.responded => self.responded(port),
            _ => {}
        }
    }

    fn datagram_octets(&self) -> Option<u32> {
        None
    }
}
