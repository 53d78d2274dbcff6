//! Devices: the host CPU, cipher engines, the stages of the network card, and the pipes of packets
//! that are done at a known instant.
//!
//! Takes work of packets and of handshakes; gives the instant at which that is done. Routes no
//! packets: `net` does.

mod host;
mod nic;

use std::collections::VecDeque;
use std::ops::Range;

use airtoll_handshakes::Operation;
use airtoll_security::CipherSuite;
use airtoll_units::{Duration, Instant};

use crate::context::Context;
use crate::event::{Event, PipeKind};
use crate::id::{NodeId, PacketId, Table};
use crate::medium::Medium;
use crate::observe::{Observation, Times};
use crate::ring::Ring;
use crate::scenario::{self, CryptoEngine};

pub use host::{BusyTimes, Host, Price, Server};

pub(crate) use host::Pipe;
pub(crate) use nic::{Nic, Work};

/// The device of a node.
#[derive(Debug)]
struct Node {
    host: Host,
    /// Power that it takes, where that is known.
    energy: Option<scenario::Energy>,
    /// Energy of its battery, Wh, and whether it dozes.
    supply: (Option<f64>, bool),
    duty: Option<scenario::Duty>,
    joined: Option<Joined>,
    /// It did heavy handshake operations of which it has no cost.
    unpriced: bool,
    /// Packets that crossed its host since the warm-up.
    packets: u64,
    transmit: Pipe,
    encrypt: Pipe,
    decrypt: Pipe,
    receive: Pipe,
    /// Decrypted packets that the CPU has not begun with, and whose receiver only counts them: when
    /// each reaches the CPU, and its work there.
    counted: Ring<(Instant, PacketId, Duration)>,
    /// Those that the CPU was done with at these instants.
    worked: VecDeque<(PacketId, Instant)>,
}

impl Node {
    /// The CPU does the work of counted packets that reach it up to `until`.
    #[cold]
    fn catch_up(&mut self, until: Instant) {
        while let Some(done) = self.next_counted(until) {
            self.worked.push_back(done);
        }
    }

    /// The CPU works for a packet; gives the instant at which that is done.
    #[inline]
    fn work(&mut self, now: Instant, work: Duration) -> Instant {
        self.packets += 1;
        if !self.counted.is_empty() {
            self.catch_up(now);
        }
        self.host.cpu.work(now, work)
    }

    /// The CPU does the work of the next counted packet, if that reaches it up to `until`.
    #[inline(always)]
    fn next_counted(&mut self, until: Instant) -> Option<(PacketId, Instant)> {
        let &(at, packet, work) = self.counted.front().filter(|(at, ..)| *at <= until)?;
        self.counted.pop_front();
        self.packets += 1;
        Some((packet, self.host.cpu.work(at, work)))
    }
}

/// Times of the first join of a node.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Joined {
    /// From its first frame to its end.
    pub took: Duration,
    pub transmits: Duration,
    pub receives: Duration,
    /// Work of its CPU.
    pub cpu: Duration,
}

/// A packet to be sent, once the CPU has worked for it.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Encrypted {
    /// The radio may have it at this instant.
    Ready(Instant),
    /// The coprocessor may have it from then on, and takes this long.
    Beside { from: Instant, effort: Duration },
}

/// A packet that arrived at the radio.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Decrypted {
    /// The CPU decrypts it, and takes this long.
    OnCpu(Duration),
    /// Its engine takes no more packets.
    Refused,
    /// The engine is done with it at this instant; it `follows` others in the pipe behind the engine.
    Ready { at: Instant, follows: bool },
}

/// The work of a device for each of some packets alike that its host sends.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SendJob {
    /// On the CPU.
    work: Duration,
    /// Of the cipher: in an engine behind the CPU, or part of `work`.
    effort: Duration,
    inline: bool,
}

/// The work of a device for each of some packets alike that its radio receives.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ReceiveJob {
    /// On the CPU.
    work: Duration,
    /// In the cipher engine.
    effort: Duration,
}

/// The devices of all nodes.
pub(crate) struct Device {
    nodes: Table<NodeId, Node>,
    /// Cipher work that the CPU at hand will do with its next job.
    cpu_ciphers: Duration,
}

impl Device {
    /// No devices.
    pub fn new() -> Self {
        Self {
            nodes: Table::new(),
            cpu_ciphers: Duration::ZERO,
        }
    }

    /// Adds the device of a node.
    pub fn add_node(&mut self, node: &scenario::Node) {
        let model = &node.host;
        self.nodes.push(Node {
            host: Host::new(model),
            energy: model.energy,
            supply: (node.battery_wh, node.power_save.is_some()),
            duty: node.duty,
            joined: None,
            unpriced: false,
            packets: 0,
            transmit: Pipe::default(),
            encrypt: Pipe::default(),
            decrypt: Pipe::default(),
            receive: Pipe::default(),
            counted: Ring::default(),
            worked: VecDeque::new(),
        });
    }

    /// CPU time to send an own packet of `octets`.
    #[inline]
    pub fn transmit_time(&self, node: NodeId, octets: u32) -> Duration {
        self.nodes[node].host.transmit.of(octets)
    }

    /// CPU time to receive a packet of `octets`.
    #[inline]
    pub fn receive_time(&self, node: NodeId, octets: u32) -> Duration {
        self.nodes[node].host.receive.of(octets)
    }

    /// CPU time to forward a packet of `octets`.
    #[inline]
    pub fn forward_time(&self, node: NodeId, octets: u32) -> Duration {
        self.nodes[node].host.forward.of(octets)
    }

    /// CPU time of handshake operations.
    pub fn operations_time(&mut self, node: NodeId, operations: &[Operation]) -> Duration {
        let node = &mut self.nodes[node];
        node.unpriced |= node.host.lacks_a_cost_of(operations);
        node.host.operations_time(operations)
    }

    /// The queue of a RADIUS server takes a new request; gives the instant at which it comes out.
    pub fn take_request(&mut self, now: Instant, node: NodeId) -> Instant {
        let host = &mut self.nodes[node].host;
        host.requests.work(now, host.request)
    }

    /// Time to encrypt or decrypt a frame with `octets` of MSDU; counts it.
    #[inline]
    pub fn cipher_time(
        &self,
        cx: &mut Context,
        node: NodeId,
        cipher: CipherSuite,
        encrypt: bool,
        octets: u32,
    ) -> Duration {
        let host = &self.nodes[node].host;
        let effort = host.cipher_time(cipher, encrypt, octets);
        cx.observe(Observation::CipherWork { effort });
        effort
    }

    /// Time to encrypt a frame that was counted before.
    pub fn encryption_time(&self, node: NodeId, cipher: CipherSuite, octets: u32) -> Duration {
        let host = &self.nodes[node].host;
        host.cipher_time(cipher, true, octets)
    }

    /// Whether the CPU of a node takes another packet.
    #[inline]
    pub fn admits(&mut self, cx: &Context, node: NodeId) -> bool {
        self.nodes[node].host.cpu.admits(cx.now())
    }

    /// Whether the CPU of a node takes every packet.
    #[inline]
    pub fn admits_all(&self, node: NodeId) -> bool {
        !self.nodes[node].host.cpu.is_limited()
    }

    /// A packet whose receiver only counts it reaches the CPU of a node at `at`, not before those that
    /// were put so before. The CPU does its work when it gets other work, or when the packet is taken:
    /// it is no event.
    #[inline]
    pub fn put_counted(&mut self, node: NodeId, at: Instant, (packet, ip_octets): (PacketId, u32)) {
        let node = &mut self.nodes[node];
        let work = node.host.receive.of(ip_octets);
        node.counted.push_back((at, packet, work));
    }

    /// The next counted packet that reached the CPU of a node up to `until`, and when it was done.
    #[inline]
    pub fn take_counted(&mut self, node: NodeId, until: Instant) -> Option<(PacketId, Instant)> {
        let node = &mut self.nodes[node];
        if let Some(done) = node.worked.pop_front() {
            return Some(done);
        }
        node.next_counted(until)
    }

    /// Sends a packet of `octets` of MSDU through CPU and ciphers, whose CPU work is `work` without the
    /// cipher.
    #[inline]
    pub fn encrypt(
        &mut self,
        cx: &mut Context,
        medium: &mut Medium,
        node: NodeId,
        (cipher, octets): (CipherSuite, u32),
        work: Duration,
    ) -> Encrypted {
        let state = &mut self.nodes[node];
        let now = cx.now();
        let effort = state.host.cipher_time(cipher, true, octets);
        cx.observe(Observation::CipherWork { effort });
        let mut on_cpu = std::mem::take(&mut self.cpu_ciphers);
        let mut work = work;
        let engine = state.host.engine;
        if engine == CryptoEngine::Cpu {
            on_cpu += effort;
            work += effort;
        }
        let done = state.work(now, work);
        medium.note_ciphers(node, done, on_cpu.min(work));
        match engine {
            CryptoEngine::Cpu => Encrypted::Ready(done),
            CryptoEngine::Inline => {
                let at = state.host.engine_for(true).work(done, effort);
                medium.note_ciphers(node, at, effort);
                Encrypted::Ready(at)
            }
            CryptoEngine::Coprocessor => Encrypted::Beside { from: done, effort },
        }
    }

    /// The work for each packet of a length that a host sends through a cipher; `None` where the length
    /// does not decide alone when the radio may have it, or it takes no time.
    pub fn send_job(&self, node: NodeId, cipher: CipherSuite, ip_octets: u32) -> Option<SendJob> {
        let host = &self.nodes[node].host;
        let inline = host.engine == CryptoEngine::Inline;
        if host.cpu.is_limited() || host.engine == CryptoEngine::Coprocessor {
            return None;
        }
        let octets = ip_octets + airtoll_phy::LLC_SNAP_OCTETS;
        let effort = host.cipher_time(cipher, true, octets);
        let mut work = host.transmit.of(ip_octets);
        if !inline {
            work += effort;
        }
        let job = SendJob {
            work,
            effort,
            inline,
        };
        let takes_none = work.is_zero() && effort.is_zero();
        (!takes_none).then_some(job)
    }

    /// Sends a packet through CPU and ciphers; gives when the radio may have it.
    #[inline]
    pub fn send_by_job(
        &mut self,
        cx: &mut Context,
        medium: &mut Medium,
        node: NodeId,
        job: SendJob,
    ) -> Instant {
        let SendJob {
            work,
            effort,
            inline,
        } = job;
        cx.observe(Observation::CipherWork { effort });
        let state = &mut self.nodes[node];
        let done = state.work(cx.now(), work);
        let at = if inline {
            state.host.engine_for(true).work(done, effort)
        } else {
            done
        };
        medium.note_ciphers(node, at, effort);
        at
    }

    /// The work for each packet of a length that a radio receives through a cipher; `None` where the CPU
    /// decrypts, where packets are refused or wait, and where it takes no time.
    pub fn receive_job(
        &self,
        node: NodeId,
        cipher: CipherSuite,
        ip_octets: u32,
    ) -> Option<ReceiveJob> {
        let state = &self.nodes[node];
        let host = &state.host;
        let octets = ip_octets + airtoll_phy::LLC_SNAP_OCTETS;
        let effort = host.cipher_time(cipher, false, octets);
        let special = host.engine != CryptoEngine::Inline
            || host.cpu.is_limited()
            || effort.is_zero()
            || !state.decrypt.items.is_empty();
        let work = host.receive.of(ip_octets);
        (!special).then_some(ReceiveJob { work, effort })
    }

    /// Decrypts a packet that has just arrived and is only counted; its way through the CPU is worked out
    /// later.
    #[inline]
    pub fn receive_by_job(
        &mut self,
        cx: &mut Context,
        medium: &mut Medium,
        (node, packet): (NodeId, PacketId),
        job: ReceiveJob,
    ) {
        let ReceiveJob { work, effort } = job;
        cx.observe(Observation::CipherWork { effort });
        let state = &mut self.nodes[node];
        let at = state.host.engine_for(false).work(cx.now(), effort);
        state.counted.push_back((at, packet, work));
        medium.note_ciphers(node, at, effort);
    }

    /// Decrypts a packet of `octets` of MSDU that has just arrived.
    #[inline]
    pub fn decrypt(
        &mut self,
        cx: &mut Context,
        medium: &mut Medium,
        node: NodeId,
        (cipher, octets): (CipherSuite, u32),
    ) -> Decrypted {
        let state = &mut self.nodes[node];
        let now = cx.now();
        let effort = state.host.cipher_time(cipher, false, octets);
        cx.observe(Observation::CipherWork { effort });
        if state.host.engine == CryptoEngine::Cpu {
            self.cpu_ciphers = effort;
            return Decrypted::OnCpu(effort);
        }
        self.cpu_ciphers = Duration::ZERO;
        let engine = state.host.engine_for(false);
        if !engine.admits(now) {
            return Decrypted::Refused;
        }
        let at = engine.work(now, effort);
        medium.note_ciphers(node, at, effort);
        let follows = !state.decrypt.items.is_empty();
        Decrypted::Ready { at, follows }
    }

    /// Begins to count the cipher work in the CPU's next job.
    #[inline]
    pub fn set_cpu_ciphers(&mut self, effort: Duration) {
        self.cpu_ciphers = effort;
    }

    /// The CPU's next job contains this cipher work, too.
    #[inline]
    pub fn add_cpu_ciphers(&mut self, effort: Duration) {
        self.cpu_ciphers += effort;
    }

    /// The cipher work of a job that is put off.
    pub fn take_cpu_ciphers(&mut self) -> Duration {
        std::mem::take(&mut self.cpu_ciphers)
    }

    /// Works on the CPU of a node for a packet; gives the instant at which that is done.
    #[inline]
    pub fn spend(
        &mut self,
        cx: &Context,
        medium: &mut Medium,
        node: NodeId,
        work: Duration,
    ) -> Instant {
        let done = self.nodes[node].work(cx.now(), work);
        let ciphers = self.take_cpu_ciphers();
        medium.note_ciphers(node, done, ciphers.min(work));
        done
    }

    /// The same for work without link ciphers, as that of a handshake.
    #[inline]
    pub fn work(&mut self, cx: &Context, node: NodeId, work: Duration) -> Instant {
        let node = &mut self.nodes[node];
        if !node.counted.is_empty() {
            node.catch_up(cx.now());
        }
        node.host.cpu.work(cx.now(), work)
    }

    /// Works on a cipher engine of a node from `ready` on; gives the instant at which that is done.
    #[inline]
    pub fn run_engine(
        &mut self,
        medium: &mut Medium,
        node: NodeId,
        encrypt: bool,
        ready: Instant,
        effort: Duration,
    ) -> Instant {
        let engine = self.nodes[node].host.engine_for(encrypt);
        let done = engine.work(ready, effort);
        medium.note_ciphers(node, done, effort);
        done
    }

    /// The same on the CPU where the node has no engine.
    pub fn encrypt_from(
        &mut self,
        medium: &mut Medium,
        node: NodeId,
        ready: Instant,
        effort: Duration,
    ) -> Instant {
        let host = &mut self.nodes[node].host;
        let engine = match host.engine {
            CryptoEngine::Cpu => &mut host.cpu,
            _ => host.engine_for(true),
        };
        let done = engine.work(ready, effort);
        medium.note_ciphers(node, done, effort);
        done
    }

    /// Whether a cipher engine of a node takes another packet.
    #[inline]
    pub fn engine_admits(&mut self, cx: &Context, node: NodeId, encrypt: bool) -> bool {
        let engine = self.nodes[node].host.engine_for(encrypt);
        engine.admits(cx.now())
    }

    #[inline]
    fn pipe(&mut self, node: NodeId, kind: PipeKind) -> &mut Pipe {
        let node = &mut self.nodes[node];
        match kind {
            PipeKind::Transmit => &mut node.transmit,
            PipeKind::Encrypt => &mut node.encrypt,
            PipeKind::Decrypt => &mut node.decrypt,
            PipeKind::Receive => &mut node.receive,
        }
    }

    /// Whether a pipe holds nothing.
    #[inline]
    pub fn is_empty(&self, node: NodeId, kind: PipeKind) -> bool {
        let node = &self.nodes[node];
        let pipe = match kind {
            PipeKind::Transmit => &node.transmit,
            PipeKind::Encrypt => &node.encrypt,
            PipeKind::Decrypt => &node.decrypt,
            PipeKind::Receive => &node.receive,
        };
        pipe.items.is_empty()
    }

    /// Whether the next packet of a pipe is done.
    #[inline]
    pub fn is_done(&mut self, cx: &Context, node: NodeId, kind: PipeKind) -> bool {
        self.pipe(node, kind).is_done(cx.now())
    }

    /// The pipe of frames for the radio.
    #[inline]
    pub fn transmit_pipe(&mut self, node: NodeId) -> &mut Pipe {
        &mut self.nodes[node].transmit
    }

    /// Puts a packet that is done at `at` into a pipe.
    #[inline]
    pub fn push(
        &mut self,
        cx: &mut Context,
        node: NodeId,
        kind: PipeKind,
        at: Instant,
        packet: PacketId,
    ) {
        self.pipe(node, kind).put(at, packet);
        self.arm(cx, node, kind);
    }

    /// Takes the next packet of a pipe, if it is done.
    #[inline]
    pub fn take_done(&mut self, cx: &Context, node: NodeId, kind: PipeKind) -> Option<PacketId> {
        self.pipe(node, kind).take_done(cx.now())
    }

    /// The event of a pipe came.
    #[inline]
    pub fn disarm(&mut self, node: NodeId, kind: PipeKind) {
        self.pipe(node, kind).armed = false;
    }

    /// Schedules an event for the next packet of a pipe, if there is none yet.
    #[inline]
    pub fn arm(&mut self, cx: &mut Context, node: NodeId, kind: PipeKind) {
        let now = cx.now();
        let pipe = self.pipe(node, kind);
        if pipe.armed {
            return;
        }
        if let Some((at, _)) = pipe.items.front() {
            let at = (*at).max(now);
            pipe.armed = true;
            cx.schedule(at, Event::Pipe { node, pipe: kind });
        }
    }

    /// Time that the CPU and the engines of a node worked in the measured time.
    pub fn busy(&self, node: NodeId) -> BusyTimes {
        self.nodes[node].host.busy()
    }

    /// Power that a node takes, where that is known.
    pub fn energy(&self, node: NodeId) -> Option<scenario::Energy> {
        self.nodes[node].energy
    }

    /// Energy of a node's battery, Wh, and whether its radio dozes.
    pub fn supply(&self, node: NodeId) -> (Option<f64>, bool) {
        self.nodes[node].supply
    }

    /// The day of a node.
    pub fn duty(&self, node: NodeId) -> Option<scenario::Duty> {
        self.nodes[node].duty
    }

    /// A node has joined before the traffic, in this time, with these times of its radio.
    pub fn joined(&mut self, node: NodeId, took: Duration, radio: Times) {
        let cpu = self.busy(node).cpu;
        self.nodes[node].joined = Some(Joined {
            took,
            transmits: radio.transmits,
            receives: radio.receives,
            cpu,
        });
    }

    /// Times of the join of a node; `None` also where the costs of its handshakes are not known.
    pub fn join(&self, node: NodeId) -> Option<Joined> {
        let node = &self.nodes[node];
        node.joined.filter(|_| !node.unpriced)
    }

    /// Packets that crossed the host of a node since the warm-up.
    pub fn packets(&self, node: NodeId) -> u64 {
        self.nodes[node].packets
    }

    /// The warm-up ends.
    pub fn restart(&mut self) {
        for node in &mut self.nodes {
            node.packets = 0;
        }
    }

    /// CPU and engines of all nodes count their work in this time alone.
    pub fn count_in(&mut self, time: &Range<Instant>) {
        for node in &mut self.nodes {
            node.host.count_in(time);
        }
    }
}
