//! Sending: from a host's stack through its CPU and cipher engine to the radio's queue or a wire.

use airtoll_security::CipherSuite;
use airtoll_units::{Duration, Instant};

use super::ip_fragments::Entry;
use super::{Net, Route};
use crate::context::{Action, Context, Effects};
use crate::device::Encrypted;
use crate::event::{Event, PipeKind};
use crate::id::{ContenderId, LinkId, NeighbourId, NodeId, PacketId};
use crate::lower::Lower;
use crate::packet::Loss;

/// Pause of an application whose packet found a full queue in its own host.
const TRY_AGAIN: Duration = Duration::from_micros(100);

impl Net {
    /// An application's packet enters the sending host's stack.
    #[inline]
    pub fn send(&mut self, lower: &mut Lower, node: NodeId, packet: PacketId) {
        lower.device.set_cpu_ciphers(Duration::ZERO);
        if !self.may_send(lower, node, packet) {
            return;
        }
        if !lower.device.admits(&lower.cx, node) {
            lower.cx.lose(packet, Loss::Full);
            return;
        }
        let octets = lower.cx.packets[packet].ip_octets;
        let mut work = lower.device.transmit_time(node, octets);
        if !self.nodes[node].tunnels.is_empty() {
            let to = lower.cx.packets[packet].to;
            if let Some(mtu) = self.own_tunnel_mtu(node, to).filter(|mtu| octets > *mtu) {
                self.fragment(lower, node, packet, (mtu, Entry::Own), work);
                return;
            }
            work += self.encapsulate(lower, node, packet, true);
        }
        if self.knows_hop(lower, node, packet, work) {
            self.dispatch_now(lower, node, packet, work);
        }
    }

    /// Spends `work` on the CPU and sends the packet towards its destination.
    #[inline(never)]
    pub fn dispatch(&mut self, lower: &mut Lower, node: NodeId, packet: PacketId, work: Duration) {
        self.dispatch_now(lower, node, packet, work);
    }

    /// The same on the way of an application's packet.
    #[inline(always)]
    fn dispatch_now(&mut self, lower: &mut Lower, node: NodeId, packet: PacketId, work: Duration) {
        if self.nodes[node].drops_fragments {
            let p = &lower.cx.packets[packet];
            if p.group.is_some() || p.ip_octets > self.nodes[node].mtu {
                lower.cx.lose(packet, Loss::Length);
                return;
            }
        }
        if lower.cx.packets[packet].ip_octets > self.nodes[node].mtu {
            let p = &lower.cx.packets[packet];
            if self.nodes[node].black_hole && self.is_unbreakable(p) {
                lower.cx.lose(packet, Loss::Length);
                return;
            }
            let mtu = self.nodes[node].mtu;
            self.fragment(lower, node, packet, (mtu, Entry::None), work);
            return;
        }
        match self.way(&lower.cx, node, packet) {
            Route::Wire { wire } => {
                let done = lower.device.spend(&lower.cx, &mut lower.medium, node, work);
                self.send_on_wire(&mut lower.cx, wire, packet, done);
            }
            Route::Air { neighbour } => {
                let cipher = neighbour_cipher(lower, node, neighbour);
                let octets = lower.cx.packets[packet].ip_octets + airtoll_phy::LLC_SNAP_OCTETS;
                let (cx, medium) = (&mut lower.cx, &mut lower.medium);
                match lower
                    .device
                    .encrypt(cx, medium, node, (cipher, octets), work)
                {
                    Encrypted::Ready(at) => self.offer_now(lower, node, packet, at),
                    Encrypted::Beside { from, .. } if from > cx.now() => {
                        let kind = PipeKind::Encrypt;
                        lower.device.push(cx, node, kind, from, packet);
                    }
                    Encrypted::Beside { effort, .. } => {
                        self.encrypt_beside(lower, node, packet, effort);
                    }
                }
            }
            Route::None => lower.cx.lose(packet, Loss::Away),
        }
    }

    /// A packet reaches the coprocessor before it is sent.
    fn encrypt_beside(
        &mut self,
        lower: &mut Lower,
        node: NodeId,
        packet: PacketId,
        effort: Duration,
    ) {
        if !lower.device.engine_admits(&lower.cx, node, true) {
            lower.cx.lose(packet, Loss::Full);
            return;
        }
        let now = lower.cx.now();
        let medium = &mut lower.medium;
        let done = lower.device.run_engine(medium, node, true, now, effort);
        self.offer_to_radio(lower, node, packet, done);
    }

    /// A packet will be ready for the radio at `ready`.
    #[inline(never)]
    pub(super) fn offer_to_radio(
        &mut self,
        lower: &mut Lower,
        node: NodeId,
        packet: PacketId,
        ready: Instant,
    ) {
        self.offer_now(lower, node, packet, ready);
    }

    /// The same on the way of an application's packet.
    #[inline(always)]
    fn offer_now(&mut self, lower: &mut Lower, node: NodeId, packet: PacketId, ready: Instant) {
        let pipe = lower.device.transmit_pipe(node);
        if ready <= lower.cx.now() && pipe.items.is_empty() {
            self.enqueue(lower, node, packet);
            return;
        }
        let radio = lower.medium.radio_of(node);
        let category = lower.cx.packets[packet].category;
        let contender = lower.mac.contender(radio, category);
        // While the queue has frames, it checks the pipe whenever it builds one.
        let waits = if lower.mac.has_categories(radio) {
            let last = pipe.items.back().map(|(_, last)| *last);
            let alike = last.is_none_or(|last| lower.cx.packets[last].category == category);
            alike && lower.mac.may_wait(radio, contender, pipe.items.len() + 1)
        } else {
            !lower.mac.rests(contender)
        };
        pipe.put(ready, packet);
        if !waits {
            lower.device.arm(&mut lower.cx, node, PipeKind::Transmit);
        }
    }

    /// The next packet for a transmit queue is an event, because the queue is empty.
    #[inline]
    pub fn arm_radio(&mut self, lower: &mut Lower, node: NodeId) {
        lower.device.arm(&mut lower.cx, node, PipeKind::Transmit);
    }

    /// Puts ready packets into the transmit queues. Each of them may be lost, or wake its queue:
    /// the actions of that come first.
    #[inline]
    pub fn drain(&mut self, lower: &mut Lower, node: NodeId) -> Effects {
        let now = lower.cx.now();
        if !lower.device.transmit_pipe(node).is_done(now) {
            return Effects::None;
        }
        self.drain_ready(lower, node, now);
        Effects::Pending
    }

    #[inline(never)]
    fn drain_ready(&mut self, lower: &mut Lower, node: NodeId, now: Instant) {
        let radio = lower.medium.radio_of(node);
        let categories = lower.mac.has_categories(radio);
        // The destination and the category of the last packet, and its queue. The next one alike goes
        // into the same queue, because nothing changes the routes in between.
        let mut last = None;
        while let Some((ready, packet)) = lower.device.transmit_pipe(node).take_ready(now) {
            let p = &lower.cx.packets[packet];
            let kind = p.flow().map(|_| (p.to, p.category));
            let since = if categories { ready } else { now };
            let at = match last {
                Some((before, at)) if before == kind => {
                    let (mac, cx) = (&mut lower.mac, &mut lower.cx);
                    if mac.enqueue_behind(cx, at, (packet, since)) {
                        continue;
                    }
                    at
                }
                _ => match self.queue_of(lower, node, packet) {
                    Some(at) => at,
                    None => continue,
                },
            };
            if kind.is_some() && !lower.mac.link(at.0).saves_power() {
                last = Some((kind, at));
            }
            let (mac, cx) = (&mut lower.mac, &mut lower.cx);
            if !mac.enqueue(cx, &mut lower.medium, at, (packet, since)) {
                cx.lose(packet, Loss::Full);
            }
        }
    }

    /// Puts a packet into the transmit queue towards its next hop; without one the packet is lost.
    #[inline]
    pub fn enqueue(&mut self, lower: &mut Lower, node: NodeId, packet: PacketId) {
        let now = lower.cx.now();
        let Some(at) = self.queue_of(lower, node, packet) else {
            return;
        };
        let (mac, cx) = (&mut lower.mac, &mut lower.cx);
        if !mac.enqueue(cx, &mut lower.medium, at, (packet, now)) {
            cx.lose(packet, Loss::Full);
        }
    }

    /// The link and the contender by which a node sends a packet; `None`: the packet is lost or kept
    /// elsewhere.
    fn queue_of(
        &mut self,
        lower: &mut Lower,
        node: NodeId,
        packet: PacketId,
    ) -> Option<(LinkId, ContenderId)> {
        let category = lower.cx.packets[packet].category;
        let radio = lower.medium.radio_of(node);
        let contender = lower.mac.contender(radio, category);
        if self.nodes[node].away && lower.cx.packets[packet].signal().is_none() {
            // It was prepared for the link that the station has left.
            lower.cx.lose(packet, Loss::Away);
            return None;
        }
        let link = match self.group_or_copy_link(lower, node, packet) {
            Some(link) => {
                if lower.mac.holds(&mut lower.cx, link, packet) {
                    return None;
                }
                link
            }
            None => {
                let Route::Air { neighbour } = self.way(&lower.cx, node, packet) else {
                    lower.cx.lose(packet, Loss::Away);
                    return None;
                };
                let link = lower.mac.link_to(radio, neighbour, category);
                let state = lower.mac.link(link);
                if state.is_barred() {
                    lower.cx.lose(packet, Loss::Away);
                    return None;
                }
                if state.is_dozing() {
                    let station = lower.medium.host_of(state.peer());
                    lower.cx.act(Action::KeepDozing { station, packet });
                    return None;
                }
                link
            }
        };
        let at = (link, contender);
        let (mac, cx) = (&mut lower.mac, &mut lower.cx);
        if mac.link(link).saves_power() && mac.keep_if_asleep(cx, &lower.medium, at, packet) {
            return None;
        }
        Some(at)
    }

    /// The event of a device's pipe came.
    pub fn pipe_due(&mut self, lower: &mut Lower, node: NodeId, kind: PipeKind) {
        lower.device.disarm(node, kind);
        if kind == PipeKind::Transmit {
            self.drain(lower, node);
            lower.device.arm(&mut lower.cx, node, kind);
        } else {
            self.pipe_next(lower, node, kind);
        }
    }

    /// The next packet of a device's pipe, if it is done.
    #[inline]
    pub fn pipe_next(&mut self, lower: &mut Lower, node: NodeId, kind: PipeKind) {
        let Some(packet) = lower.device.take_done(&lower.cx, node, kind) else {
            lower.device.arm(&mut lower.cx, node, kind);
            return;
        };
        match kind {
            PipeKind::Encrypt => {
                let ip_octets = lower.cx.packets[packet].ip_octets;
                if let Route::Air { neighbour } = self.way(&lower.cx, node, packet) {
                    let cipher = neighbour_cipher(lower, node, neighbour);
                    let octets = ip_octets + airtoll_phy::LLC_SNAP_OCTETS;
                    let effort = lower.device.encryption_time(node, cipher, octets);
                    self.encrypt_beside(lower, node, packet, effort);
                }
            }
            PipeKind::Decrypt => self.receive_in_host(lower, node, packet, Duration::ZERO),
            _ => {
                let now = lower.cx.now();
                self.hand_over(lower, node, packet, now);
            }
        }
        // A packet that is done, too, follows once this one has been handled.
        if lower.device.is_done(&lower.cx, node, kind) {
            lower.cx.act(Action::Pipe { node, pipe: kind });
        } else {
            lower.device.arm(&mut lower.cx, node, kind);
        }
    }

    /// Drops a packet, and the packet that it was a fragment of. Gives whether it was whole and in no
    /// tunnel: then it is lost, and nothing else is.
    pub fn lose(&mut self, cx: &mut Context, packet: PacketId, cause: Loss) -> bool {
        let p = &mut cx.packets[packet];
        let reverse = p.reverse;
        let whole = p.group.is_none() && p.tunnelled.is_none();
        if std::mem::take(&mut p.held)
            && let Some(flow) = p.flow()
        {
            // Dropped before it left its sender: the application finds no room and tries again.
            let at = cx.now() + TRY_AGAIN;
            cx.schedule(at, Event::Released { flow, reverse });
        }
        if !whole {
            self.lose_whole(cx, packet, cause);
        }
        whole
    }
}

#[inline]
fn neighbour_cipher(lower: &Lower, node: NodeId, neighbour: NeighbourId) -> CipherSuite {
    let radio = lower.medium.radio_of(node);
    let link = lower.mac.link_to(radio, neighbour, 1);
    lower.mac.link(link).cipher()
}
