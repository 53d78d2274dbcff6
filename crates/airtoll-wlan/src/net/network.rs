//! From host to host: stacks, engines, routes, wires, tunnels and fragments.

use std::collections::VecDeque;

use airtoll_engine::Stream;
use airtoll_security::CipherSuite;
use airtoll_units::{BitRate, Bytes, Duration, Instant};

use crate::device::host::Pipe;
use crate::event::{Event, PipeKind};
use crate::mac::contention::Standing;
use crate::net::resolution::ETHERNET_MINIMUM;
use crate::packet::{NONE, Packet, PacketId};
use crate::scenario::{CryptoEngine, Role};
use crate::world::World;

/// Where a node sends what is for another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Route {
    /// Over the air, to the radio neighbour with this number.
    Air { neighbour: u32 },
    /// Over a wire.
    Wire { wire: u32 },
    /// Nowhere.
    None,
}

/// One direction of a wired link.
#[derive(Debug)]
pub(crate) struct Wire {
    pub to: u32,
    pub rate: BitRate,
    pub delay: Duration,
    pub limit: u32,
    /// Share of packets that it loses, and the stream that says which.
    loss: Option<(f64, Stream)>,
    free_at: Instant,
    /// When the packets at hand leave.
    departures: VecDeque<Instant>,
    arrivals: Pipe,
}

/// Octets of Ethernet around a packet: preamble 8, header 14, FCS 4, gap 12 (IEEE 802.3).
const ETHERNET_OCTETS: u32 = 38;
/// Pause of an application whose packet found a full queue in its own host.
const TRY_AGAIN: Duration = Duration::from_micros(100);

impl Wire {
    pub fn new(
        to: u32,
        rate: BitRate,
        delay: Duration,
        limit: u32,
        loss: Option<(f64, Stream)>,
    ) -> Self {
        Self {
            to,
            rate,
            delay,
            limit,
            loss,
            free_at: Instant::ZERO,
            departures: VecDeque::new(),
            arrivals: Pipe::default(),
        }
    }
}

impl World {
    /// An application's packet enters the sending host's stack.
    pub(crate) fn send_packet(&mut self, node: u32, packet: PacketId) {
        let now = self.stack.lower.cx.events.now();
        self.stack.lower.device.cpu_ciphers = Duration::ZERO;
        let Some(node) = self.sending_node(node, packet) else {
            return;
        };
        if !self.stack.lower.device.nodes[node as usize]
            .host
            .cpu
            .admits(now)
        {
            self.lose(packet);
            return;
        }
        let state = &mut self.stack.lower.device.nodes[node as usize];
        let mut work = state
            .host
            .transmit
            .of(self.stack.lower.cx.packets[packet].ip_octets);
        if !self.stack.net.nodes[node as usize].tunnels.is_empty() {
            work += self.encapsulate(node, packet, true);
        }
        self.dispatch_own(node, packet, work);
    }

    /// Spends `work` on the CPU and sends the packet towards where it is for.
    pub(crate) fn dispatch(&mut self, node: u32, packet: PacketId, work: Duration) {
        if self.stack.lower.cx.packets[packet].ip_octets > self.stack.net.nodes[node as usize].mtu {
            self.fragment(node, packet, work);
            return;
        }
        let now = self.stack.lower.cx.events.now();
        match self.way(node, packet) {
            Route::Wire { wire } => {
                let done = self.spend(node, work);
                self.send_on_wire(wire, packet, done);
            }
            Route::Air { neighbour } => {
                let cipher = self.neighbour_cipher(node, neighbour);
                let octets =
                    self.stack.lower.cx.packets[packet].ip_octets + airtoll_phy::LLC_SNAP_OCTETS;
                let host = &self.stack.lower.device.nodes[node as usize].host;
                let effort = host.cipher_time(cipher, true, octets);
                self.stack.lower.cx.observers.crypto_time += effort;
                match host.engine {
                    CryptoEngine::Cpu => {
                        self.stack.lower.device.cpu_ciphers += effort;
                        let done = self.spend(node, work + effort);
                        self.offer_to_radio(node, packet, done);
                    }
                    CryptoEngine::Inline => {
                        let ready = self.spend(node, work);
                        let engine = self.stack.lower.device.nodes[node as usize]
                            .host
                            .engine_for(true);
                        let done = engine.work(ready, effort);
                        self.note_ciphers(node, done, effort);
                        self.offer_to_radio(node, packet, done);
                    }
                    CryptoEngine::Coprocessor => {
                        let done = self.spend(node, work);
                        if done > now {
                            self.push(node, PipeKind::Encrypt, done, packet);
                        } else {
                            self.encrypt_beside(node, packet, effort);
                        }
                    }
                }
            }
            Route::None => self.lose(packet),
        }
    }

    /// Route of a packet at a node: handshake packets go to the AP that the station is moving to.
    #[inline]
    fn way(&self, node: u32, packet: PacketId) -> Route {
        let p = &self.stack.lower.cx.packets[packet];
        if p.flow == NONE
            && let Some((_, ways)) = self
                .stack
                .net
                .detours
                .iter()
                .find(|(host, _)| *host == p.to)
        {
            return ways[node as usize];
        }
        self.stack.net.routes[node as usize][p.to as usize]
    }

    /// A packet reaches the coprocessor before it is sent.
    fn encrypt_beside(&mut self, node: u32, packet: PacketId, effort: Duration) {
        let now = self.stack.lower.cx.events.now();
        let engine = self.stack.lower.device.nodes[node as usize]
            .host
            .engine_for(true);
        if !engine.admits(now) {
            self.lose(packet);
            return;
        }
        let done = engine.work(now, effort);
        self.note_ciphers(node, done, effort);
        self.offer_to_radio(node, packet, done);
    }

    /// Works on the CPU of a node; gives the instant at which that is done.
    #[inline]
    fn spend(&mut self, node: u32, work: Duration) -> Instant {
        let now = self.stack.lower.cx.events.now();
        let done = self.stack.lower.device.nodes[node as usize]
            .host
            .cpu
            .work(now, work);
        let ciphers = std::mem::take(&mut self.stack.lower.device.cpu_ciphers);
        self.note_ciphers(node, done, ciphers.min(work));
        done
    }

    /// Notes cipher work that ends at `end` beside the air that may have to wait for it.
    #[inline]
    pub(crate) fn note_ciphers(&mut self, node: u32, end: Instant, effort: Duration) {
        if effort.is_zero() {
            return;
        }
        let own = self.stack.lower.medium.nodes[node as usize].channel as usize;
        let wired = self.stack.net.nodes[node as usize].role == Role::Wired;
        for (number, channel) in self.stack.lower.medium.channels.iter_mut().enumerate() {
            if wired || number == own {
                channel.ciphers.add(end, effort, channel.booked);
            }
        }
    }

    /// A packet will be ready for the radio at `ready`.
    pub(crate) fn offer_to_radio(&mut self, node: u32, packet: PacketId, ready: Instant) {
        let now = self.stack.lower.cx.events.now();
        let state = &mut self.stack.lower.device.nodes[node as usize];
        if ready <= now && state.transmit.items.is_empty() {
            self.enqueue_or_lose(node, packet);
            return;
        }
        state.transmit.items.push_back((ready, packet));
        let state = &self.stack.lower.mac.nodes[node as usize];
        let contender = state.contenders[usize::from(self.stack.lower.cx.packets[packet].category)];
        // While the queue has frames it looks into the pipe by itself, whenever it builds one.
        if self.stack.lower.mac.contenders[contender as usize].standing == Standing::Resting
            || state.several_contenders()
        {
            self.arm_transmit_pipe(node);
        }
    }

    pub(crate) fn arm_transmit_pipe(&mut self, node: u32) {
        self.arm(node, PipeKind::Transmit);
    }

    fn arm(&mut self, node: u32, kind: PipeKind) {
        let now = self.stack.lower.cx.events.now();
        let pipe = self.stack.lower.device.nodes[node as usize].pipe(kind);
        if pipe.armed {
            return;
        }
        if let Some((at, _)) = pipe.items.front() {
            let at = (*at).max(now);
            pipe.armed = true;
            self.stack
                .lower
                .cx
                .events
                .schedule(at, Event::Pipe { node, pipe: kind });
        }
    }

    fn push(&mut self, node: u32, kind: PipeKind, at: Instant, packet: PacketId) {
        self.stack.lower.device.nodes[node as usize]
            .pipe(kind)
            .items
            .push_back((at, packet));
        self.arm(node, kind);
    }

    /// Puts what is ready into the transmit queues.
    pub(crate) fn drain_transmit_pipe(&mut self, node: u32) {
        let now = self.stack.lower.cx.events.now();
        while let Some(&(at, packet)) = self.stack.lower.device.nodes[node as usize]
            .transmit
            .items
            .front()
        {
            if at > now {
                break;
            }
            self.stack.lower.device.nodes[node as usize]
                .transmit
                .items
                .pop_front();
            self.enqueue_or_lose(node, packet);
        }
    }

    pub(crate) fn enqueue_or_lose(&mut self, node: u32, packet: PacketId) {
        let category = self.stack.lower.cx.packets[packet].category;
        if let Some(link) = self.question_link(node, packet) {
            let contender =
                self.stack.lower.mac.nodes[node as usize].contenders[usize::from(category)];
            if !self.enqueue(link, contender, packet) {
                self.lose(packet);
            }
            return;
        }
        let Route::Air { neighbour } = self.way(node, packet) else {
            self.lose(packet);
            return;
        };
        let state = &self.stack.lower.mac.nodes[node as usize];
        let contender = state.contenders[usize::from(category)];
        let link = state.link(neighbour, category);
        let state = &self.stack.lower.mac.links[link as usize];
        if state.barred {
            self.lose(packet);
            return;
        }
        // An access point keeps frames for a station that dozes.
        if state.dozing && self.stack.net.nodes[node as usize].role == Role::AccessPoint {
            self.keep_while_asleep(state.peer, packet);
            return;
        }
        if !self.enqueue(link, contender, packet) {
            self.lose(packet);
        }
    }

    /// The first packet of a pipe is done.
    pub(crate) fn pipe_due(&mut self, node: u32, kind: PipeKind) {
        let now = self.stack.lower.cx.events.now();
        self.stack.lower.device.nodes[node as usize]
            .pipe(kind)
            .armed = false;
        if kind == PipeKind::Transmit {
            self.drain_transmit_pipe(node);
            self.arm(node, kind);
            return;
        }
        while let Some(&(at, packet)) = self.stack.lower.device.nodes[node as usize]
            .pipe(kind)
            .items
            .front()
        {
            if at > now {
                break;
            }
            self.stack.lower.device.nodes[node as usize]
                .pipe(kind)
                .items
                .pop_front();
            match kind {
                PipeKind::Encrypt => {
                    let ip_octets = self.stack.lower.cx.packets[packet].ip_octets;
                    let Route::Air { neighbour } = self.way(node, packet) else {
                        continue;
                    };
                    let cipher = self.neighbour_cipher(node, neighbour);
                    let octets = ip_octets + airtoll_phy::LLC_SNAP_OCTETS;
                    let effort = self.stack.lower.device.nodes[node as usize]
                        .host
                        .cipher_time(cipher, true, octets);
                    self.encrypt_beside(node, packet, effort);
                }
                PipeKind::Decrypt => self.receive_in_host(node, packet, Duration::ZERO),
                _ => self.hand_over(node, packet, now),
            }
        }
        self.arm(node, kind);
    }

    fn neighbour_cipher(&self, node: u32, neighbour: u32) -> CipherSuite {
        self.stack.lower.mac.links
            [self.stack.lower.mac.nodes[node as usize].link(neighbour, 1) as usize]
            .cipher
    }

    /// A node's radio received a packet.
    pub(crate) fn receive_from_air(&mut self, node: u32, cipher: CipherSuite, packet: PacketId) {
        let now = self.stack.lower.cx.events.now();
        if self.is_for(node, self.stack.lower.cx.packets[packet].to) {
            self.stack.lower.cx.packets[packet].arrived = now;
        }
        let octets = self.stack.lower.cx.packets[packet].ip_octets + airtoll_phy::LLC_SNAP_OCTETS;
        let state = &mut self.stack.lower.device.nodes[node as usize];
        let effort = state.host.cipher_time(cipher, false, octets);
        self.stack.lower.cx.observers.crypto_time += effort;
        self.stack.lower.device.cpu_ciphers = Duration::ZERO;
        if state.host.engine == CryptoEngine::Cpu {
            self.stack.lower.device.cpu_ciphers = effort;
            self.receive_in_host(node, packet, effort);
            return;
        }
        let engine = state.host.engine_for(false);
        if !engine.admits(now) {
            self.lose(packet);
            return;
        }
        let done = engine.work(now, effort);
        let at_once = done <= now && state.decrypt.items.is_empty();
        self.note_ciphers(node, done, effort);
        if at_once {
            self.receive_in_host(node, packet, Duration::ZERO);
        } else {
            self.push(node, PipeKind::Decrypt, done, packet);
        }
    }

    /// A packet reaches a node's stack: it is for it, or it is passed on.
    fn receive_in_host(&mut self, node: u32, packet: PacketId, effort: Duration) {
        let now = self.stack.lower.cx.events.now();
        if !self.stack.lower.device.nodes[node as usize]
            .host
            .cpu
            .admits(now)
        {
            self.lose(packet);
            return;
        }
        if self.stack.net.resolution.dynamic && self.pass_question(node, packet, effort) {
            return;
        }
        let p = self.stack.lower.cx.packets[packet];
        let own = self.is_for(node, p.to);
        let host = &mut self.stack.lower.device.nodes[node as usize].host;
        if !own {
            let mut work = host.forward.of(p.ip_octets) + effort;
            if !self.stack.net.nodes[node as usize].tunnels.is_empty()
                && !p.resolves()
                && !p.advertises()
            {
                work += self.encapsulate(node, packet, false);
            }
            if self.stack.lower.cx.packets[packet].under == p.under {
                self.dispatch(node, packet, work);
            } else {
                self.dispatch_own(node, packet, work);
            }
            return;
        }
        let mut work = host.receive.of(p.ip_octets) + effort;
        if p.entered != NONE {
            work += self.decapsulation(packet);
        }
        let passive = p.entered == NONE
            && p.flow != NONE
            && self.stack.flow.flows[p.flow as usize].only_takes();
        let done = self.spend(node, work);
        if (done <= now
            && self.stack.lower.device.nodes[node as usize]
                .receive
                .items
                .is_empty())
            || (passive && done <= self.stack.lower.cx.end)
        {
            self.hand_over(node, packet, done);
        } else {
            self.push(node, PipeKind::Receive, done, packet);
        }
    }

    /// A packet for this node is through its stack at `at`.
    fn hand_over(&mut self, node: u32, packet: PacketId, at: Instant) {
        let mut packet = packet;
        loop {
            // A fragment that a gateway put into its tunnel comes out as a fragment.
            if self.stack.lower.cx.packets[packet].under == NONE {
                let Some(whole) = self.reassemble(packet) else {
                    return;
                };
                packet = whole;
            }
            if self.stack.lower.cx.packets[packet].entered == NONE {
                break;
            }
            let entered = self.stack.lower.cx.packets[packet].entered;
            if self.stack.net.nodes[entered as usize].unheard {
                self.note_tunnelled(entered);
            }
            self.decapsulate(packet);
            if !self.is_for(node, self.stack.lower.cx.packets[packet].to) {
                let work = self.encapsulate(node, packet, false);
                self.dispatch_own(node, packet, work);
                return;
            }
            if self.stack.lower.cx.packets[packet].under != NONE {
                // Another tunnel ends here.
                let now = self.stack.lower.cx.events.now();
                let work = self.decapsulation(packet);
                let done = self.spend(node, work);
                if done > now {
                    self.push(node, PipeKind::Receive, done, packet);
                    return;
                }
            }
        }
        self.arrived(packet, at);
    }

    pub(crate) fn send_on_wire(&mut self, wire: u32, packet: PacketId, at: Instant) {
        let p = &self.stack.lower.cx.packets[packet];
        let shortest = if p.resolves() { ETHERNET_MINIMUM } else { 0 };
        let octets = p.ip_octets.max(shortest) + ETHERNET_OCTETS;
        let state = &mut self.stack.net.wires[wire as usize];
        while state.departures.front().is_some_and(|d| *d <= at) {
            state.departures.pop_front();
        }
        if state.departures.len() > state.limit as usize {
            self.lose(packet);
            return;
        }
        let leaves = state.free_at.max(at) + state.rate.time_for(Bytes(u64::from(octets)));
        state.free_at = leaves;
        state.departures.push_back(leaves);
        let lost = state
            .loss
            .as_mut()
            .is_some_and(|(ratio, stream)| stream.unit() < *ratio);
        if !lost {
            let arrives = leaves + state.delay;
            state.arrivals.items.push_back((arrives, packet));
            if !state.arrivals.armed {
                state.arrivals.armed = true;
                self.stack
                    .lower
                    .cx
                    .events
                    .schedule(arrives, Event::Wire { wire });
            }
        }
        let p = &mut self.stack.lower.cx.packets[packet];
        if p.left == Instant::ZERO {
            p.left = at;
        }
        if std::mem::take(&mut p.held) {
            let flow = p.flow;
            self.stack
                .lower
                .cx
                .events
                .schedule(leaves, Event::Released { flow });
        }
        if lost {
            self.lose(packet);
        }
    }

    pub(crate) fn wire_due(&mut self, wire: u32) {
        let now = self.stack.lower.cx.events.now();
        let node = self.stack.net.wires[wire as usize].to;
        while let Some(&(at, packet)) = self.stack.net.wires[wire as usize].arrivals.items.front() {
            if at > now {
                break;
            }
            self.stack.net.wires[wire as usize]
                .arrivals
                .items
                .pop_front();
            if self.recorder.is_some() {
                self.record_wired(wire, packet);
            }
            let p = &mut self.stack.lower.cx.packets[packet];
            let to = p.to;
            if self.is_for(node, to) {
                self.stack.lower.cx.packets[packet].arrived = now;
            }
            self.receive_in_host(node, packet, Duration::ZERO);
        }
        let arrivals = &mut self.stack.net.wires[wire as usize].arrivals;
        arrivals.armed = false;
        if let Some((at, _)) = arrivals.items.front() {
            arrivals.armed = true;
            self.stack
                .lower
                .cx
                .events
                .schedule(*at, Event::Wire { wire });
        }
    }

    /// A packet is gone.
    pub(crate) fn lose(&mut self, packet: PacketId) {
        let p = self.stack.lower.cx.packets.remove(packet);
        if p.held {
            // Dropped before it left its sender: the application finds no room and tries again.
            let at = self.stack.lower.cx.events.now() + TRY_AGAIN;
            self.stack
                .lower
                .cx
                .events
                .schedule(at, Event::Released { flow: p.flow });
        }
        self.lose_whole(&p);
    }

    /// A packet that is no longer in memory is gone, and what it was a fragment of.
    pub(crate) fn lose_whole(&mut self, p: &Packet) {
        self.drop_layers(p);
        if p.group == NONE {
            self.lost(p);
            return;
        }
        let state = &mut self.stack.net.fragments[p.group];
        state.left -= 1;
        state.failed = true;
        if state.left == 0 {
            let whole = self.stack.net.fragments.remove(p.group).whole;
            self.lose_whole(&whole);
        }
    }
}
