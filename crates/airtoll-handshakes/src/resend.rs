//! The last messages of a party, repeated after a time-out.
//!
//! Takes messages as they are sent; gives them again, a bounded number of times.
//! Never decides when: that is the driver's time-out.

use crate::exchange::{Carrier, Context, Party, Status};
use crate::failure::{Code, Failure, reason};

/// The last message of a party and how often it may still be repeated.
#[derive(Debug, Clone)]
pub struct Resend {
    last: Vec<(Party, Party, Carrier, Vec<u8>)>,
    limit: u8,
    left: u8,
}

impl Resend {
    /// Repeats each message at most `limit` times.
    pub const fn new(limit: u8) -> Self {
        Self {
            last: Vec::new(),
            limit,
            left: limit,
        }
    }

    /// Sends a new message and remembers it.
    pub fn send(
        &mut self,
        context: &mut Context<'_>,
        from: Party,
        to: Party,
        carrier: Carrier,
        octets: Vec<u8>,
    ) {
        self.left = self.limit;
        self.last = vec![(from, to, carrier, octets.clone())];
        context.send(from, to, carrier, octets);
    }

    /// Sends a further part of the message that was just sent, and remembers it, too.
    pub fn send_on(
        &mut self,
        context: &mut Context<'_>,
        from: Party,
        to: Party,
        carrier: Carrier,
        octets: Vec<u8>,
    ) {
        self.last.push((from, to, carrier, octets.clone()));
        context.send(from, to, carrier, octets);
    }

    /// Repeats because time ran out; `false` when the limit is reached.
    pub fn after_timeout(&mut self, context: &mut Context<'_>) -> bool {
        if self.left == 0 {
            return false;
        }
        self.left -= 1;
        self.repeat(context);
        true
    }

    /// Repeats for a party that waits; the party fails when the limit is reached.
    pub fn on_timeout(&mut self, context: &mut Context<'_>, state: &mut Status) {
        if *state == Status::Waiting && !self.after_timeout(context) {
            *state = Status::Failed(Failure::PeerTimeout {
                code: Code::Reason(reason::LEAVING),
            });
        }
    }

    /// Repeats because the peer asked the same again; costs no attempt.
    pub fn repeat(&self, context: &mut Context<'_>) {
        for (from, to, carrier, octets) in &self.last {
            context.send(*from, *to, *carrier, octets.clone());
        }
    }

    /// Counts a time-out of a party that only waits; `false` when the limit is reached.
    pub const fn wait(&mut self) -> bool {
        if self.left == 0 {
            return false;
        }
        self.left -= 1;
        true
    }
}
