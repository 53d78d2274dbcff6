//! The sockets of a flow.

use super::connection::Connection;
use super::outlet::{Outlet, TransportOctets, UDP_HEADER};
use crate::application::{End, SocketKind};
use crate::packet::Carries;

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
        let octets = TransportOctets {
            header: UDP_HEADER,
            payload: octets,
        };
        out.originate(carries, !held, octets, held);
    }

    /// Datagrams left the buffer; gives whether the application waits for their room.
    #[inline]
    pub(super) fn release(&mut self, count: u32) -> bool {
        self.held -= count;
        std::mem::take(&mut self.blocked)
    }
}
