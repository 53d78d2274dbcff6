//! Packets of a flow on their way out of its sockets.

use airtoll_units::Instant;

use crate::context::{Action, Context};
use crate::event::Event;
use crate::id::{Ends, FlowId, NodeId};
use crate::observe::Observation;
use crate::packet::{Carries, Packet};

/// IPv6 header (RFC 8200 section 3).
const IPV6_HEADER: u32 = 40;
/// UDP header (RFC 768).
pub(super) const UDP_HEADER: u32 = 8;

/// Octets that a packet carries above IP.
#[derive(Debug, Clone, Copy)]
pub(super) struct TransportOctets {
    pub header: u32,
    pub payload: u32,
}

/// Properties that all packets of a flow have in common.
#[derive(Debug)]
pub(crate) struct PacketForm {
    /// Of packets to the flow's destination.
    ends: Ends<NodeId>,
    /// Octets of the IP header.
    ip_header: u32,
    category: u8,
    /// Their receiver only counts them and never acts.
    only_counted: bool,
}

impl PacketForm {
    /// Packets between two nodes with an IP header of `ip_header` octets and an access category.
    pub fn new(ends: Ends<NodeId>, ip_header: u32, category: u8) -> Self {
        Self {
            ends,
            ip_header,
            category,
            only_counted: false,
        }
    }

    /// Their receiver only counts them: a packet may be handed over ahead of its instant.
    pub(super) fn only_counted(self, only_counted: bool) -> Self {
        Self {
            only_counted,
            ..self
        }
    }

    #[cfg(test)]
    pub(super) fn are_only_counted(&self) -> bool {
        self.only_counted
    }

    /// Octets of the IP packet of a datagram with `payload` octets.
    pub fn datagram_octets(ip_header: u32, payload: u32) -> u32 {
        ip_header + UDP_HEADER + payload
    }

    /// Sender and receiver of a packet; `reverse`: from the flow's destination to its source.
    #[inline]
    pub(super) fn ends(&self, reverse: bool) -> Ends<NodeId> {
        if reverse {
            self.ends.reversed()
        } else {
            self.ends
        }
    }

    pub(super) fn are_ipv6(&self) -> bool {
        self.ip_header == IPV6_HEADER
    }
}

/// The way of a flow's packets out of its sockets, at an instant.
pub(super) struct Outlet<'a> {
    pub cx: &'a mut Context,
    pub flow: FlowId,
    pub form: &'a PacketForm,
}

impl Outlet<'_> {
    pub fn now(&self) -> Instant {
        self.cx.now()
    }

    /// Schedules an event of the flow's transport or of its application's timer.
    pub fn time_out_at(&mut self, at: Instant, receiver: bool) {
        let flow = self.flow;
        self.cx
            .schedule(at, Event::TransportTimer { flow, receiver });
    }

    /// Sends a packet; `held`: it occupies its sender's socket until it leaves the transmit queue.
    #[inline]
    pub fn originate(
        &mut self,
        carries: Carries,
        reverse: bool,
        octets: TransportOctets,
        held: bool,
    ) {
        let TransportOctets { header, payload } = octets;
        let now = self.cx.now();
        let counted = now >= self.cx.warm_up;
        let Ends { from, to } = self.form.ends(reverse);
        if payload > 0 {
            self.cx.observe(Observation::Sent { flow: self.flow });
        }
        let ip_octets = self.form.ip_header + header + payload;
        let new = || Packet::new(carries, to, ip_octets, now);
        let packet = self.cx.packets.place(new);
        self.cx.packets[packet] = Packet {
            payload,
            category: self.form.category,
            ipv6: self.form.are_ipv6(),
            only_counted: self.form.only_counted,
            held,
            reverse,
            counted,
            ..new()
        };
        self.cx.act(Action::Send { host: from, packet });
    }
}
