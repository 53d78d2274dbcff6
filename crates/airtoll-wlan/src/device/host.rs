//! Hosts: a CPU and cipher engines that process one packet after the other.
//!
//! Both are queues served in the order of arrival, so the instant at which a packet is done is
//! known when it arrives, and no event is needed for the work itself. Processed packets wait in a
//! [`Pipe`] that has at most one event in the queue.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;

use airtoll_handshakes::Operation;
use airtoll_security::CipherSuite;
use airtoll_units::{Duration, Instant};

use crate::id::PacketId;
use crate::ring::Ring;
use crate::scenario::{Cost, CryptoEngine};

/// A server that processes one job after the other.
#[derive(Debug, Clone)]
pub struct Server {
    free_at: Instant,
    /// Work done in the time that counts.
    busy: Duration,
    /// The time that counts.
    counts: Range<Instant>,
    limit: Option<u32>,
    /// Ends of the jobs at hand, kept only where there is a limit.
    ends: VecDeque<Instant>,
}

impl Default for Server {
    fn default() -> Self {
        Self::new(None)
    }
}

impl Server {
    /// A server that works on nothing; `limit`: jobs that may wait. All of its time counts.
    #[must_use]
    pub fn new(limit: Option<u32>) -> Self {
        Self {
            free_at: Instant::ZERO,
            busy: Duration::ZERO,
            counts: Instant::ZERO..Instant::MAX,
            limit,
            ends: VecDeque::new(),
        }
    }

    /// Whether another job may wait.
    #[inline]
    pub fn admits(&mut self, now: Instant) -> bool {
        let Some(limit) = self.limit else {
            return true;
        };
        while self.ends.front().is_some_and(|end| *end <= now) {
            self.ends.pop_front();
        }
        // The job in service does not wait.
        self.ends.len() <= limit as usize
    }

    /// Whether it refuses jobs when too many wait.
    #[inline]
    pub fn is_limited(&self) -> bool {
        self.limit.is_some()
    }

    /// Takes a job of length `work` at `now`; gives the instant at which it is done.
    #[inline]
    pub fn work(&mut self, now: Instant, work: Duration) -> Instant {
        let start = self.free_at.max(now);
        let end = start + work;
        self.free_at = end;
        // Jobs that wait at the end of the trial are not done.
        let counted = end.min(self.counts.end);
        self.busy += counted.saturating_since(start.max(self.counts.start));
        if self.limit.is_some() {
            self.ends.push_back(end);
        }
        end
    }

    /// Work done in the time that counts.
    #[inline]
    #[must_use]
    pub fn busy(&self) -> Duration {
        self.busy
    }

    /// Counts its work in this time alone, and anew.
    pub fn count_in(&mut self, time: Range<Instant>) {
        self.counts = time;
        self.forget();
    }

    /// Counts its work anew.
    pub fn forget(&mut self) {
        self.busy = Duration::ZERO;
    }
}

/// Packets that are done at known, never decreasing instants.
#[derive(Debug, Default)]
pub(crate) struct Pipe {
    pub items: Ring<(Instant, PacketId)>,
    /// Whether an event for the first of them is in the queue.
    pub armed: bool,
}

impl Pipe {
    /// Puts in a packet that is done at `at`; it leaves after those before it.
    #[inline]
    pub fn put(&mut self, at: Instant, packet: PacketId) {
        let at = self.items.back().map_or(at, |(last, _)| at.max(*last));
        self.items.push_back((at, packet));
    }

    /// Whether the first packet is done at `now`.
    #[inline]
    pub fn is_done(&self, now: Instant) -> bool {
        self.items.front().is_some_and(|(at, _)| *at <= now)
    }

    /// Takes the first packet and the instant at which it was done, if that is by `now`.
    #[inline]
    pub fn take_ready(&mut self, now: Instant) -> Option<(Instant, PacketId)> {
        let first = *self.items.front().filter(|(at, _)| *at <= now)?;
        self.items.pop_front();
        Some(first)
    }

    /// Takes the first packet, if it is done at `now`.
    #[inline]
    pub fn take_done(&mut self, now: Instant) -> Option<PacketId> {
        match self.items.front() {
            Some(&(at, packet)) if at <= now => {
                self.items.pop_front();
                Some(packet)
            }
            _ => None,
        }
    }
}

/// A [`Cost`] in numbers that are quick to use.
#[derive(Debug, Clone, Copy, Default)]
pub struct Price {
    fixed_ns: f64,
    per_octet_ns: f64,
}

impl Price {
    /// Time that a packet of `octets` takes, to the nearest nanosecond.
    #[inline]
    #[must_use]
    pub fn of(&self, octets: u32) -> Duration {
        let ns = self.fixed_ns + self.per_octet_ns * f64::from(octets) + 0.5;
        // Processors convert to signed numbers only; the way to unsigned ones is three times as long.
        Duration::from_nanos((ns as i64).max(0) as u64)
    }
}

impl From<Cost> for Price {
    fn from(cost: Cost) -> Self {
        Self {
            fixed_ns: cost.fixed_ns,
            per_octet_ns: cost.per_octet_ns,
        }
    }
}

/// Work of a host in the time that counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BusyTimes {
    /// That of the CPU.
    pub cpu: Duration,
    /// That of all cipher engines.
    pub engines: Duration,
}

/// A node's host: its CPU and cipher engines at work, and what its work costs.
#[derive(Debug, Default)]
pub struct Host {
    /// Time in the stack of a packet that the host sends.
    pub(super) transmit: Price,
    /// Time in the stack of a packet that the host receives.
    pub(super) receive: Price,
    /// Time in the stack of a packet that the host forwards.
    pub(super) forward: Price,
    /// The CPU.
    pub(super) cpu: Server,
    /// Where link ciphers are worked out.
    pub(super) engine: CryptoEngine,
    /// Engines: one for both directions, or one each (transmit, receive) where inline.
    pub(super) engines: [Server; 2],
    /// Encryption and decryption by suite.
    ciphers: Vec<(CipherSuite, Price, Price)>,
    /// Handshake operations: ns per unit by name.
    operations: BTreeMap<String, f64>,
    /// New requests of a RADIUS server, and the time that each takes there.
    pub(super) requests: Server,
    pub(super) request: Duration,
}

impl Host {
    /// An idle host with these costs.
    #[must_use]
    pub fn new(model: &crate::scenario::Host) -> Self {
        let queue = match model.engine {
            CryptoEngine::Coprocessor => model.engine_queue_frames,
            _ => None,
        };
        Self {
            transmit: model.transmit.into(),
            receive: model.receive.into(),
            forward: model.forward.into(),
            cpu: Server::new(model.cpu_queue_packets),
            engine: model.engine,
            engines: [Server::new(queue), Server::new(None)],
            ciphers: model
                .ciphers
                .iter()
                .map(|c| (c.cipher, c.encrypt.into(), c.decrypt.into()))
                .collect(),
            operations: model.operations_ns.clone(),
            requests: Server::new(None),
            request: Duration::from_nanos((model.request_ns + 0.5) as u64),
        }
    }

    /// Time to encrypt (or decrypt) a frame with `octets` of MSDU.
    #[inline]
    #[must_use]
    pub fn cipher_time(&self, cipher: CipherSuite, encrypt: bool, octets: u32) -> Duration {
        if cipher == CipherSuite::Open {
            return Duration::ZERO;
        }
        self.ciphers
            .iter()
            .find(|(suite, ..)| *suite == cipher)
            .map_or(Duration::ZERO, |(_, enc, dec)| {
                if encrypt { enc } else { dec }.of(octets)
            })
    }

    /// CPU time of handshake operations.
    #[must_use]
    pub fn operations_time(&self, operations: &[Operation]) -> Duration {
        if self.operations.is_empty() {
            return Duration::ZERO;
        }
        let ns: f64 = operations
            .iter()
            .map(|operation| {
                let (name, units) = operation.priced();
                self.operations.get(&name).copied().unwrap_or(0.0) * units as f64
            })
            .sum();
        Duration::from_nanos((ns + 0.5) as u64)
    }

    /// Whether heavy ones among handshake operations have no cost.
    #[must_use]
    pub fn lacks_a_cost_of(&self, operations: &[Operation]) -> bool {
        let lacks = |one: &Operation| !self.operations.contains_key(&one.priced().0);
        operations.iter().any(|one| one.is_heavy() && lacks(one))
    }

    /// Time in the stack of a packet of `octets` that the host sends.
    #[inline]
    #[must_use]
    pub fn transmit_time(&self, octets: u32) -> Duration {
        self.transmit.of(octets)
    }

    /// Time in the stack of a packet of `octets` that the host receives.
    #[inline]
    #[must_use]
    pub fn receive_time(&self, octets: u32) -> Duration {
        self.receive.of(octets)
    }

    /// Time in the stack of a packet of `octets` that the host forwards.
    #[inline]
    #[must_use]
    pub fn forward_time(&self, octets: u32) -> Duration {
        self.forward.of(octets)
    }

    /// Where link ciphers are worked out.
    #[inline]
    #[must_use]
    pub fn engine(&self) -> CryptoEngine {
        self.engine
    }

    /// The CPU.
    #[inline]
    pub fn cpu(&mut self) -> &mut Server {
        &mut self.cpu
    }

    /// Work of the CPU and of all engines in the time that counts.
    #[must_use]
    pub fn busy(&self) -> BusyTimes {
        let engines = self.engines.iter().map(Server::busy);
        BusyTimes {
            cpu: self.cpu.busy(),
            engines: engines.fold(Duration::ZERO, |a, b| a + b),
        }
    }

    /// Counts the work of CPU and engines anew.
    pub fn forget(&mut self) {
        self.cpu.forget();
        self.engines.iter_mut().for_each(Server::forget);
    }

    /// Counts the work of CPU and engines in this time alone, and anew.
    pub fn count_in(&mut self, time: &Range<Instant>) {
        self.cpu.count_in(time.clone());
        for engine in &mut self.engines {
            engine.count_in(time.clone());
        }
    }

    /// The engine for a direction.
    #[inline]
    pub fn engine_for(&mut self, encrypt: bool) -> &mut Server {
        let which = usize::from(self.engine == CryptoEngine::Inline && !encrypt);
        &mut self.engines[which]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jobs_follow_one_another() {
        let mut cpu = Server::new(Some(1));
        let t = Instant::from_nanos;
        assert_eq!(cpu.work(t(10), Duration::from_nanos(5)), t(15));
        assert!(cpu.admits(t(11)));
        assert_eq!(cpu.work(t(11), Duration::from_nanos(5)), t(20));
        assert!(!cpu.admits(t(12)), "one in service, one waiting");
        assert!(cpu.admits(t(15)));
    }

    #[test]
    fn work_counts_in_its_time_alone() {
        let mut cpu = Server::new(None);
        let t = Instant::from_nanos;
        let ns = Duration::from_nanos;
        cpu.count_in(t(10)..t(30));
        cpu.work(t(0), ns(5));
        assert_eq!(cpu.busy(), ns(0));
        // From 8 to 14: the last 4 of it.
        cpu.work(t(8), ns(6));
        assert_eq!(cpu.busy(), ns(4));
        cpu.work(t(20), ns(5));
        assert_eq!(cpu.busy(), ns(9));
        // A backlog beyond the end: 25 to 45, of which 5 are done.
        cpu.work(t(21), ns(20));
        cpu.work(t(22), ns(20));
        assert_eq!(cpu.busy(), ns(14));
    }
}
