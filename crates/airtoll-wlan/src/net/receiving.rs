//! Receiving: from the radio or a wire through cipher engine, CPU and decapsulation to the
//! application or to the next hop.

use airtoll_units::{Duration, Instant};

use super::Net;
use super::ip_fragments::Entry;
use crate::context::Action;
use crate::device::Decrypted;
use crate::event::PipeKind;
use crate::id::{LinkId, NodeId, PacketId};
use crate::lower::Lower;
use crate::packet::{Carries, Loss, Tunnelled};

impl Net {
    /// A node's radio received a packet over a link.
    #[inline(never)]
    pub fn receive(&mut self, lower: &mut Lower, link: LinkId, packet: PacketId) {
        if lower.mac.ends_frames() {
            match lower.cx.packets[packet].carries {
                Carries::PowerSave { .. } => {
                    let (cx, medium) = (&mut lower.cx, &mut lower.medium);
                    lower.mac.hear_sign(cx, medium, packet);
                    return;
                }
                Carries::ProbeResponse { .. } => {
                    lower.cx.packets.remove(packet);
                    return;
                }
                _ => {}
            }
        }
        let node = lower.medium.host_of(lower.mac.link(link).peer());
        self.take_from_air(lower, node, link, packet);
    }

    /// A node's radio received a packet that was sent with the cipher of a link.
    #[inline(never)]
    pub fn receive_from_air(
        &mut self,
        lower: &mut Lower,
        node: NodeId,
        link: LinkId,
        packet: PacketId,
    ) {
        self.take_from_air(lower, node, link, packet);
    }

    /// The same on the way of a packet of a link.
    #[inline(always)]
    fn take_from_air(&mut self, lower: &mut Lower, node: NodeId, link: LinkId, packet: PacketId) {
        if self.isolates(lower, node, packet) {
            lower.cx.lose(packet, Loss::Away);
            return;
        }
        let now = lower.cx.now();
        let cipher = lower.mac.link(link).cipher();
        let p = &mut lower.cx.packets[packet];
        if node == p.to {
            p.arrived = now;
        }
        let ip_octets = p.ip_octets;
        let octets = ip_octets + airtoll_phy::LLC_SNAP_OCTETS;
        let (cx, medium) = (&mut lower.cx, &mut lower.medium);
        match lower.device.decrypt(cx, medium, node, (cipher, octets)) {
            Decrypted::OnCpu(effort) => self.receive_in_host(lower, node, packet, effort),
            Decrypted::Refused => lower.cx.lose(packet, Loss::Full),
            Decrypted::Ready { at, follows } => {
                if at <= now && !follows {
                    self.receive_in_host(lower, node, packet, Duration::ZERO);
                } else if !follows && self.only_counts(lower, node, packet) {
                    self.hand_over_counted(lower, node, now);
                    lower.device.put_counted(node, at, (packet, ip_octets));
                } else {
                    let cx = &mut lower.cx;
                    lower.device.push(cx, node, PipeKind::Decrypt, at, packet);
                }
            }
        }
    }

    /// Whether a decrypted packet changes nothing but counts, so that its way through the host of a node
    /// may be worked out later. Hand-overs look at single packets.
    #[inline]
    fn only_counts(&self, lower: &Lower, node: NodeId, packet: PacketId) -> bool {
        let p = &lower.cx.packets[packet];
        p.only_counted
            && node == p.to
            && p.tunnelled.is_none()
            && p.group.is_none()
            && self.ways.is_empty()
            && !self.passes_groups()
            && lower.device.admits_all(node)
    }

    /// Hands over the packets that are only counted and reached the CPU of a node up to `until`.
    #[inline]
    pub(super) fn hand_over_counted(&mut self, lower: &mut Lower, node: NodeId, until: Instant) {
        while let Some((packet, done)) = lower.device.take_counted(node, until) {
            if done <= lower.cx.end {
                // It is in no tunnel and no fragment.
                lower.cx.act(Action::Arrived { packet, at: done });
            } else {
                let cx = &mut lower.cx;
                lower.device.push(cx, node, PipeKind::Receive, done, packet);
            }
        }
    }

    /// The same at all nodes.
    #[cold]
    pub fn hand_over_all_counted(&mut self, lower: &mut Lower, until: Instant) {
        for node in self.nodes() {
            self.hand_over_counted(lower, node, until);
        }
    }

    /// A packet reaches a node's stack, for the node itself or to be forwarded.
    pub(super) fn receive_in_host(
        &mut self,
        lower: &mut Lower,
        node: NodeId,
        packet: PacketId,
        effort: Duration,
    ) {
        if !lower.device.admits(&lower.cx, node) {
            lower.cx.lose(packet, Loss::Full);
            return;
        }
        let now = lower.cx.now();
        self.hand_over_counted(lower, node, now);
        if self.passes_groups() && self.pass_on(lower, node, packet, effort) {
            return;
        }
        let p = &lower.cx.packets[packet];
        if node != p.to {
            let layer = p.layer();
            let mut work = lower.device.forward_time(node, p.ip_octets) + effort;
            let of_the_link = p.resolves() || p.advertises() || p.is_group_traffic();
            if !self.nodes[node].tunnels.is_empty() && !of_the_link {
                let mtu = self.forwarding_mtu(node, p.to);
                if let Some(mtu) = mtu.filter(|mtu| p.ip_octets > *mtu) {
                    self.fragment(lower, node, packet, (mtu, Entry::Forwarded), work);
                    return;
                }
                work += self.encapsulate(lower, node, packet, false);
            }
            if lower.cx.packets[packet].layer() == layer {
                self.dispatch(lower, node, packet, work);
            } else {
                self.dispatch_own(lower, node, packet, work);
            }
            return;
        }
        let (ip_octets, tunnelled) = (p.ip_octets, p.tunnelled);
        let passive = tunnelled.is_none() && p.only_counted;
        let mut work = lower.device.receive_time(node, ip_octets) + effort;
        if let Some(tunnelled) = tunnelled {
            work += self.decapsulation(lower, ip_octets, tunnelled);
        }
        let done = lower.device.spend(&lower.cx, &mut lower.medium, node, work);
        if (done <= lower.cx.now() && lower.device.is_empty(node, PipeKind::Receive))
            || (passive && done <= lower.cx.end)
        {
            self.hand_over(lower, node, packet, done);
        } else {
            let cx = &mut lower.cx;
            lower.device.push(cx, node, PipeKind::Receive, done, packet);
        }
    }

    /// A packet for this node is through its stack at `at`.
    pub(super) fn hand_over(
        &mut self,
        lower: &mut Lower,
        node: NodeId,
        packet: PacketId,
        at: Instant,
    ) {
        let mut packet = packet;
        loop {
            let p = &lower.cx.packets[packet];
            // A fragment that a gateway put into its tunnel comes out as a fragment.
            if p.layer().is_none() && p.group.is_some() {
                let Some(whole) = self.reassemble(&mut lower.cx, packet) else {
                    return;
                };
                packet = whole;
            }
            let Some(Tunnelled {
                entered, number, ..
            }) = lower.cx.packets[packet].tunnelled
            else {
                break;
            };
            let unheard = self.nodes[entered].unheard;
            if unheard.is_some_and(|taken| number > taken) {
                lower.cx.act(Action::Tunnelled { entered });
            }
            self.decapsulate(&mut lower.cx, packet);
            if node != lower.cx.packets[packet].to {
                let work = self.encapsulate(lower, node, packet, false);
                self.dispatch_own(lower, node, packet, work);
                return;
            }
            let p = &lower.cx.packets[packet];
            if let Some(tunnelled) = p.tunnelled.filter(|t| t.under.is_some()) {
                // Another tunnel ends here.
                let work = self.decapsulation(lower, p.ip_octets, tunnelled);
                let medium = &mut lower.medium;
                let done = lower.device.spend(&lower.cx, medium, node, work);
                if done > lower.cx.now() {
                    let cx = &mut lower.cx;
                    lower.device.push(cx, node, PipeKind::Receive, done, packet);
                    return;
                }
            }
        }
        match lower.cx.packets[packet].carries {
            Carries::Request { .. } | Carries::Reply { .. } => {
                let p = lower.cx.packets.remove(packet);
                self.resolution_arrived(lower, &p);
            }
            Carries::Group { source, .. } => {
                let p = lower.cx.packets.remove(packet);
                self.group_message_arrived(lower, source, &p, at);
            }
            Carries::Answer { .. } => {
                lower.cx.packets.remove(packet);
            }
            Carries::Advertisement { agent } => {
                let p = lower.cx.packets.remove(packet);
                self.advertisement_arrived(lower, agent, &p);
            }
            _ => lower.cx.act(Action::Arrived { packet, at }),
        }
    }
}
