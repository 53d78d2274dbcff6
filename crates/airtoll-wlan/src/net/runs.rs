//! Runs: packets of a host, or of a link, that follow each other at one instant and are alike.
//!
//! The ack of an A-MPDU makes room for dozens of datagrams at once, and its receiver gets as many. Route, link,
//! cipher and costs are the same for all of them and are looked up once. A packet of a run has the same effects
//! as one alone, by [`Net::send`] and [`Net::receive`].

use airtoll_units::{Duration, Instant};

use super::{Net, Route};
use crate::context::{Action, Context};
use crate::device::{ReceiveJob, SendJob};
use crate::event::PipeKind;
use crate::id::{LinkId, NodeId, PacketId};
use crate::lower::Lower;
use crate::packet::Packet;

/// Packets that a host sends over the air.
struct SendRun {
    to: NodeId,
    ip_octets: u32,
    category: u8,
    job: SendJob,
    /// Most packets that the pipe to the radio may hold without an event.
    most_waiting: usize,
}

/// Packets that reach their destination over a link and are only counted there.
struct ReceiveRun {
    node: NodeId,
    ip_octets: u32,
    job: ReceiveJob,
}

impl SendRun {
    #[inline]
    fn holds(&self, p: &Packet) -> bool {
        p.to == self.to
            && p.ip_octets == self.ip_octets
            && p.category == self.category
            && p.flow().is_some()
    }
}

impl ReceiveRun {
    #[inline]
    fn holds(&self, p: &Packet) -> bool {
        p.only_counted
            && p.to == self.node
            && p.ip_octets == self.ip_octets
            && p.tunnelled.is_none()
            && p.group.is_none()
    }
}

/// The packet that a host sends by the action at `at`, if it does.
#[inline]
fn sent_at(cx: &Context, at: usize, node: NodeId) -> Option<PacketId> {
    match cx.outbox.get(at) {
        Some(Action::Send { host, packet }) if *host == node => Some(*packet),
        _ => None,
    }
}

/// The packet that arrives over a link by the action at `at`, if one does.
#[inline]
fn received_at(cx: &Context, at: usize, by: LinkId) -> Option<PacketId> {
    match cx.outbox.get(at) {
        Some(Action::Receive { link, packet }) if *link == by => Some(*packet),
        _ => None,
    }
}

impl Net {
    /// Sends the packets of successive actions of a host, from the one at `at` on. Gives how many, up to the
    /// first one that has effects of its own.
    pub fn send_run(&mut self, lower: &mut Lower, node: NodeId, at: usize) -> usize {
        let mut run: Option<SendRun> = None;
        let mut sent = 0;
        while let Some(packet) = sent_at(&lower.cx, at + sent, node) {
            let p = &lower.cx.packets[packet];
            if run.as_ref().is_none_or(|run| !run.holds(p)) {
                run = self.send_run_of(lower, node, packet);
            }
            sent += 1;
            let Some(run) = &run else {
                self.send(lower, node, packet);
                break;
            };
            #[cfg(test)]
            {
                self.in_runs += 1;
            }
            let (cx, medium) = (&mut lower.cx, &mut lower.medium);
            let ready = lower.device.send_by_job(cx, medium, node, run.job);
            let pipe = lower.device.transmit_pipe(node);
            let waits = pipe.items.len() < run.most_waiting;
            pipe.put(ready, packet);
            if !waits {
                lower.device.arm(cx, node, PipeKind::Transmit);
            }
        }
        sent
    }

    /// The run that begins with a packet of a host; `None` where it takes the way of a single packet.
    fn send_run_of(&self, lower: &mut Lower, node: NodeId, packet: PacketId) -> Option<SendRun> {
        #[cfg(test)]
        if self.singly {
            return None;
        }
        let p = &lower.cx.packets[packet];
        p.flow()?;
        let (to, ip_octets, category) = (p.to, p.ip_octets, p.category);
        let state = &self.nodes[node];
        let special = state.away
            || state.knows_off
            || state.drops_fragments
            || !state.tunnels.is_empty()
            || ip_octets > state.mtu
            || self.resolution.is_dynamic();
        if special {
            return None;
        }
        let Route::Air { neighbour } = self.way(&lower.cx, node, packet) else {
            return None;
        };
        let radio = lower.medium.radio_of(node);
        let link = lower.mac.link_to(radio, neighbour, 1);
        let cipher = lower.mac.link(link).cipher();
        let job = lower.device.send_job(node, cipher, ip_octets)?;
        let contender = lower.mac.contender(radio, category);
        let pipe = lower.device.transmit_pipe(node);
        let last = pipe.items.back().map(|(_, last)| *last);
        let most_waiting = if !lower.mac.has_categories(radio) {
            if lower.mac.rests(contender) {
                0
            } else {
                usize::MAX
            }
        } else if last.is_none_or(|last| lower.cx.packets[last].category == category) {
            lower.mac.most_waiting(radio, contender)
        } else {
            return None;
        };
        lower.device.set_cpu_ciphers(Duration::ZERO);
        Some(SendRun {
            to,
            ip_octets,
            category,
            job,
            most_waiting,
        })
    }

    /// Receives the packets of successive actions of a link, from the one at `at` on. Gives how many, up to
    /// the first one that has effects of its own.
    pub fn receive_run(&mut self, lower: &mut Lower, link: LinkId, at: usize) -> usize {
        let actions = lower.cx.outbox.len();
        let now = lower.cx.now();
        let mut run: Option<ReceiveRun> = None;
        let mut received = 0;
        while let Some(packet) = received_at(&lower.cx, at + received, link) {
            let p = &lower.cx.packets[packet];
            if run.as_ref().is_none_or(|run| !run.holds(p)) {
                run = self.receive_run_of(lower, link, packet, now);
            }
            received += 1;
            let Some(run) = &run else {
                self.receive(lower, link, packet);
                break;
            };
            #[cfg(test)]
            {
                self.in_runs += 1;
            }
            lower.cx.packets[packet].arrived = now;
            let (cx, medium) = (&mut lower.cx, &mut lower.medium);
            lower
                .device
                .receive_by_job(cx, medium, (run.node, packet), run.job);
            if lower.cx.outbox.len() > actions {
                break;
            }
        }
        received
    }

    /// The run that begins with a packet over a link; `None` where it takes the way of a single packet.
    fn receive_run_of(
        &mut self,
        lower: &mut Lower,
        link: LinkId,
        packet: PacketId,
        now: Instant,
    ) -> Option<ReceiveRun> {
        #[cfg(test)]
        if self.singly {
            return None;
        }
        if lower.mac.ends_frames() || self.passes_groups() || !self.ways.is_empty() {
            return None;
        }
        let state = lower.mac.link(link);
        let (node, cipher) = (lower.medium.host_of(state.peer()), state.cipher());
        let ip_octets = lower.cx.packets[packet].ip_octets;
        let job = lower.device.receive_job(node, cipher, ip_octets)?;
        let run = ReceiveRun {
            node,
            ip_octets,
            job,
        };
        if !run.holds(&lower.cx.packets[packet]) {
            return None;
        }
        lower.device.set_cpu_ciphers(Duration::ZERO);
        // No further packet reaches the CPU at this instant, because each takes its engine some time.
        self.hand_over_counted(lower, node, now);
        Some(run)
    }
}
