//! The transport side of a flow: its ends, its sockets, and packets on their way out.

use airtoll_units::Instant;

use super::connection::Connection;
use crate::application::{End, SocketKind};
use crate::context::{Action, Context};
use crate::event::Event;
use crate::id::{FlowId, NodeId};
use crate::observe::Observation;
use crate::packet::{Carries, Packet};

/// IPv6 header (RFC 8200 section 3).
const IPV6_HEADER: u32 = 40;
/// UDP header (RFC 768).
const UDP_HEADER: u32 = 8;

/// Properties that all packets of a flow have in common.
#[derive(Debug)]
pub(crate) struct Ends {
    source: NodeId,
    destination: NodeId,
    /// Octets of the IP header.
    ip_header: u32,
    category: u8,
    /// Their receiver only counts them and never acts.
    only_counted: bool,
}

impl Ends {
    /// Packets between `source` and `destination` with an IP header of `ip_header` octets and an
    /// access category.
    pub fn new((source, destination): (NodeId, NodeId), ip_header: u32, category: u8) -> Self {
        Self {
            source,
            destination,
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
    pub(super) fn of(&self, reverse: bool) -> (NodeId, NodeId) {
        if reverse {
            (self.destination, self.source)
        } else {
            (self.source, self.destination)
        }
    }

    pub(super) fn are_ipv6(&self) -> bool {
        self.ip_header == IPV6_HEADER
    }
}

/// The sockets of a flow.
#[derive(Debug)]
pub(crate) enum Socket {
    /// The sender's UDP socket.
    Udp(UdpSocket),
    /// Both ends of a TCP connection.
    Tcp(Box<Connection>),
}

impl Socket {
    #[inline]
    pub(super) fn kind(&self) -> SocketKind {
        match self {
            Self::Udp(_) => SocketKind::Datagrams,
            Self::Tcp(_) => SocketKind::Stream,
        }
    }
}

/// The UDP socket of a sender.
#[derive(Debug)]
pub(crate) struct UdpSocket {
    /// Datagrams in its buffer, and how many it takes.
    held: u32,
    room: u32,
    /// The application waits for room.
    blocked: bool,
    next_number: u32,
}

impl UdpSocket {
    /// A socket whose buffer takes `room` datagrams.
    pub fn new(room: u32) -> Self {
        Self {
            held: 0,
            room,
            blocked: false,
            next_number: 0,
        }
    }

    /// Whether another datagram fits; if not, [`Self::release`] tells when one does.
    #[inline]
    pub(super) fn has_room(&mut self) -> bool {
        self.blocked = self.held >= self.room;
        !self.blocked
    }

    /// The number of the next datagram.
    #[inline]
    pub(super) fn next_number(&mut self) -> u32 {
        let number = self.next_number;
        self.next_number = number.wrapping_add(1);
        number
    }

    /// Sends a datagram.
    #[inline]
    pub(super) fn send(&mut self, out: &mut Outlet<'_>, from: End, number: u32, octets: u32) {
        let held = from == End::Source;
        self.held += u32::from(held);
        let flow = out.flow;
        let carries = Carries::Datagram { flow, number };
        out.originate(carries, !held, (UDP_HEADER, octets), held);
    }

    /// Datagrams left the buffer; gives whether the application waits for their room.
    #[inline]
    pub(super) fn release(&mut self, count: u32) -> bool {
        self.held -= count;
        std::mem::take(&mut self.blocked)
    }
}

/// The way of a flow's packets out of its sockets, at an instant.
pub(super) struct Outlet<'a> {
    pub cx: &'a mut Context,
    pub flow: FlowId,
    pub ends: &'a Ends,
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

    /// Sends a packet with these octets of transport header and of payload; `held`: it occupies its
    /// sender's socket until it leaves the transmit queue.
    #[inline]
    pub fn originate(
        &mut self,
        carries: Carries,
        reverse: bool,
        (header, payload): (u32, u32),
        held: bool,
    ) {
        let now = self.cx.now();
        let counted = now >= self.cx.warm_up;
        let (from, to) = self.ends.of(reverse);
        if payload > 0 {
            self.cx.observe(Observation::Sent { flow: self.flow });
        }
        let ip_octets = self.ends.ip_header + header + payload;
        let new = || Packet::new(carries, to, ip_octets, now);
        let packet = self.cx.packets.place(new);
        self.cx.packets[packet] = Packet {
            payload,
            category: self.ends.category,
            ipv6: self.ends.are_ipv6(),
            only_counted: self.ends.only_counted,
            held,
            reverse,
            counted,
            ..new()
        };
        self.cx.act(Action::Send { host: from, packet });
    }
}
