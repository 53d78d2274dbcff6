//! Paced: writes of one length at a mean rate, equally or exponentially spaced.

use airtoll_engine::Stream;
use airtoll_units::Instant;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Application, Checked, End, Port, SocketKind, positive, within, write_length};

/// A fixed offered rate.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Paced {
    /// UDP payload or length of one TCP write, octets.
    pub payload_octets: u32,
    /// Offered rate of payload, bit/s.
    pub rate_bps: f64,
    /// Spacing of the writes.
    #[serde(default)]
    pub arrivals: Arrivals,
}

/// Spacing of paced writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Arrivals {
    /// Equal spacing.
    #[default]
    Constant,
    /// Exponential spacing.
    Poisson,
}

impl Paced {
    pub(super) fn check(&self, kind: SocketKind) -> Checked {
        positive("rate_bps", self.rate_bps)?;
        write_length("payload_octets", self.payload_octets, kind)?;
        // The clock counts nanoseconds: more writes than one in each would stop it.
        let right = self.interval_ns() >= 1.0;
        let allowed = "at most one write a nanosecond: 8e9 times payload_octets";
        within("rate_bps", self.rate_bps, right, allowed)
    }

    /// Mean distance of two writes, ns.
    fn interval_ns(&self) -> f64 {
        f64::from(self.payload_octets) * 8e9 / self.rate_bps
    }

    pub(super) fn application(&self, _: SocketKind, stream: Stream) -> Pacer {
        let interval_ns = self.interval_ns();
        let random = (self.arrivals == Arrivals::Poisson).then_some(stream);
        Pacer::new(self.payload_octets, interval_ns, random)
    }
}

/// Writes at given distances.
#[derive(Debug)]
pub(crate) struct Pacer {
    payload: u32,
    /// Mean distance, ns.
    interval_ns: f64,
    /// Random numbers of exponential distances; `None`: all distances are equal.
    random: Option<Stream>,
    /// When the next write is due, ns.
    due_ns: f64,
}

impl Pacer {
    /// Writes of `payload` octets, `interval_ns` apart in the mean.
    pub fn new(payload: u32, interval_ns: f64, random: Option<Stream>) -> Self {
        Self {
            payload,
            interval_ns,
            random,
            due_ns: 0.0,
        }
    }

    /// When the next write is due.
    fn next(&self) -> Instant {
        Instant::from_nanos(self.due_ns as u64)
    }

    fn advance(&mut self) {
        let factor = match &mut self.random {
            Some(stream) => -libm::log(1.0 - stream.unit()),
            None => 1.0,
        };
        self.due_ns += self.interval_ns * factor;
    }

    fn due_on_stream(&mut self, port: &mut impl Port) {
        if port.is_stopped() {
            return;
        }
        let octets = u64::from(self.payload);
        port.write(End::Source, octets);
        port.offered(octets);
        self.advance();
        port.wake_at(self.next().max(port.now()));
    }
}

impl Application for Pacer {
    fn begin(&mut self, start: Instant) {
        self.due_ns = start.as_nanos() as f64;
    }

    fn due(&mut self, port: &mut impl Port) {
        if port.kind() == SocketKind::Stream {
            self.due_on_stream(port);
            return;
        }
        while !port.is_stopped() {
            if self.next() > port.now() {
                port.wake_at(self.next());
                return;
            }
            if !port.has_room() {
                return;
            }
            self.advance();
            port.send(self.payload);
        }
    }

    fn datagram_octets(&self) -> Option<u32> {
        Some(self.payload)
    }
}
