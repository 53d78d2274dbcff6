//! Sending: from a host's stack through its CPU and cipher engine to the radio's queue or a wire.

use airtoll_security::CipherSuite;
use airtoll_units::{Duration, Instant};

use super::{Net, Route};
use crate::context::{Action, Context};
use crate::event::{Event, PipeKind};
use crate::id::{NeighbourId, NodeId, PacketId};
use crate::lower::Lower;
use crate::scenario::CryptoEngine;

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
            lower.cx.lose(packet);
            return;
        }
        let octets = lower.cx.packets[packet].ip_octets;
        let mut work = lower.device.transmit_time(node, octets);
        if !self.nodes[node].tunnels.is_empty() {
            let p = &lower.cx.packets[packet];
            if let Some(mtu) = self.own_tunnel_mtu(node, p).filter(|mtu| octets > *mtu) {
                self.fragment(lower, node, packet, (mtu, true), work);
                return;
            }
            work += self.encapsulate(lower, node, packet, true);
        }
        self.dispatch_own(lower, node, packet, work);
    }

    /// Spends `work` on the CPU and sends the packet towards its destination.
    #[inline]
    pub fn dispatch(&mut self, lower: &mut Lower, node: NodeId, packet: PacketId, work: Duration) {
        if lower.cx.packets[packet].ip_octets > self.nodes[node].mtu {
            let p = &lower.cx.packets[packet];
            if self.nodes[node].black_hole && self.is_unbreakable(p) {
                lower.cx.lose(packet);
                return;
            }
            let mtu = self.nodes[node].mtu;
            self.fragment(lower, node, packet, (mtu, false), work);
            return;
        }
        match self.way(&lower.cx, node, packet) {
            Route::Wire { wire } => {
                let done = lower.device.spend(&lower.cx, &mut lower.medium, node, work);
                self.send_on_wire(&mut lower.cx, wire, packet, done);
            }
            Route::Air { neighbour } => {
                let now = lower.cx.now();
                let cipher = neighbour_cipher(lower, node, neighbour);
                let octets = lower.cx.packets[packet].ip_octets + airtoll_phy::LLC_SNAP_OCTETS;
                let device = &mut lower.device;
                let effort = device.cipher_time(&mut lower.cx, node, cipher, true, octets);
                match device.engine(node) {
                    CryptoEngine::Cpu => {
                        device.add_cpu_ciphers(effort);
                        let work = work + effort;
                        let done = device.spend(&lower.cx, &mut lower.medium, node, work);
                        self.offer_to_radio(lower, node, packet, done);
                    }
                    CryptoEngine::Inline => {
                        let medium = &mut lower.medium;
                        let ready = device.spend(&lower.cx, medium, node, work);
                        let done = device.run_engine(medium, node, true, ready, effort);
                        self.offer_to_radio(lower, node, packet, done);
                    }
                    CryptoEngine::Coprocessor => {
                        let done = device.spend(&lower.cx, &mut lower.medium, node, work);
                        if done > now {
                            device.push(&mut lower.cx, node, PipeKind::Encrypt, done, packet);
                        } else {
                            self.encrypt_beside(lower, node, packet, effort);
                        }
                    }
                }
            }
            Route::None => lower.cx.lose(packet),
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
            lower.cx.lose(packet);
            return;
        }
        let now = lower.cx.now();
        let medium = &mut lower.medium;
        let done = lower.device.run_engine(medium, node, true, now, effort);
        self.offer_to_radio(lower, node, packet, done);
    }

    /// A packet will be ready for the radio at `ready`.
    #[inline]
    pub(super) fn offer_to_radio(
        &mut self,
        lower: &mut Lower,
        node: NodeId,
        packet: PacketId,
        ready: Instant,
    ) {
        if ready <= lower.cx.now() && lower.device.is_empty(node, PipeKind::Transmit) {
            self.enqueue(lower, node, packet);
            return;
        }
        let radio = lower.medium.radio_of(node);
        let category = lower.cx.packets[packet].category;
        let contender = lower.mac.contender(radio, category);
        // While the queue has frames, it checks the pipe whenever it builds one.
        let waits = if lower.mac.has_categories(radio) {
            let before = lower.device.last(node, PipeKind::Transmit);
            let (alike, before) = before.map_or((true, 0), |(last, before)| {
                (lower.cx.packets[last].category == category, before + 1)
            });
            alike && lower.mac.may_wait(contender, before + 1)
        } else {
            !lower.mac.rests(contender)
        };
        lower.device.put(node, PipeKind::Transmit, ready, packet);
        if !waits {
            lower.device.arm(&mut lower.cx, node, PipeKind::Transmit);
        }
    }

    /// The next packet for a transmit queue is an event, because the queue is empty.
    #[inline]
    pub fn arm_radio(&mut self, lower: &mut Lower, node: NodeId) {
        lower.device.arm(&mut lower.cx, node, PipeKind::Transmit);
    }

    /// Puts ready packets into the transmit queues.
    #[inline]
    pub fn drain(&mut self, lower: &mut Lower, node: NodeId) {
        let (kind, now) = (PipeKind::Transmit, lower.cx.now());
        while let Some((packet, ready)) = lower.device.take_ready(&lower.cx, node, kind) {
            let radio = lower.medium.radio_of(node);
            let since = if lower.mac.has_categories(radio) {
                ready
            } else {
                now
            };
            self.enqueue_since(lower, node, packet, since);
        }
    }

    /// Puts a packet into the transmit queue towards its next hop; without one the packet is lost.
    #[inline]
    pub fn enqueue(&mut self, lower: &mut Lower, node: NodeId, packet: PacketId) {
        let now = lower.cx.now();
        self.enqueue_since(lower, node, packet, now);
    }

    /// The same with a packet that is ready since an instant.
    fn enqueue_since(&mut self, lower: &mut Lower, node: NodeId, packet: PacketId, since: Instant) {
        let category = lower.cx.packets[packet].category;
        let radio = lower.medium.radio_of(node);
        let contender = lower.mac.contender(radio, category);
        if self.nodes[node].away && lower.cx.packets[packet].signal().is_none() {
            // It was prepared for the link that the station has left.
            lower.cx.lose(packet);
            return;
        }
        let link = match self.group_or_copy_link(lower, node, packet) {
            Some(link) => {
                if lower.mac.holds(&mut lower.cx, link, packet) {
                    return;
                }
                link
            }
            None => {
                let Route::Air { neighbour } = self.way(&lower.cx, node, packet) else {
                    lower.cx.lose(packet);
                    return;
                };
                let link = lower.mac.link_to(radio, neighbour, category);
                let state = lower.mac.link(link);
                if state.is_barred() {
                    lower.cx.lose(packet);
                    return;
                }
                if state.is_dozing() {
                    let station = lower.medium.host_of(state.peer());
                    lower.cx.act(Action::KeepDozing { station, packet });
                    return;
                }
                link
            }
        };
        let at = (link, contender);
        let (mac, cx) = (&mut lower.mac, &mut lower.cx);
        if mac.link(link).saves_power() && mac.keep_if_asleep(cx, &lower.medium, at, packet) {
            return;
        }
        if !lower
            .mac
            .enqueue(&mut lower.cx, &mut lower.medium, at, (packet, since))
        {
            lower.cx.lose(packet);
        }
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

    /// Drops a packet, and the packet that it was a fragment of.
    pub fn lose(&mut self, cx: &mut Context, packet: PacketId) {
        let p = &mut cx.packets[packet];
        let reverse = p.reverse;
        if std::mem::take(&mut p.held)
            && let Some(flow) = p.flow()
        {
            // Dropped before it left its sender: the application finds no room and tries again.
            let at = cx.now() + TRY_AGAIN;
            cx.schedule(at, Event::Released { flow, reverse });
        }
        self.lose_whole(cx, packet);
    }
}

#[inline]
fn neighbour_cipher(lower: &Lower, node: NodeId, neighbour: NeighbourId) -> CipherSuite {
    let radio = lower.medium.radio_of(node);
    let link = lower.mac.link_to(radio, neighbour, 1);
    lower.mac.link(link).cipher()
}
