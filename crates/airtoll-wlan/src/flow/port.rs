//! The port of a flow: what its application may see and do.

use airtoll_units::{Duration, Instant};

use super::Span;
use super::outlet::Outlet;
use super::socket::Socket;
use crate::application::{End, Port, SocketKind};
use crate::event::Event;
use crate::observe::Observation;

/// The sockets of a flow, borrowed for one call of its application.
pub(super) struct SocketPort<'a> {
    pub out: Outlet<'a>,
    pub socket: &'a mut Socket,
    pub span: &'a Span,
    /// Streams that the application wrote to: the source's, the destination's.
    pub written: [bool; 2],
}

impl SocketPort<'_> {
    /// Sends segments with the octets that the application wrote.
    #[inline]
    pub fn flush(self) {
        let Socket::Tcp(connection) = self.socket else {
            return;
        };
        let mut out = self.out;
        for end in [End::Source, End::Destination] {
            if self.written[end.index()] {
                connection.pump(&mut out, end);
            }
        }
    }

    #[inline(always)]
    fn observe(&mut self, observation: Observation<'_>) {
        self.out.cx.observe(observation);
    }
}

impl Port for SocketPort<'_> {
    #[inline]
    fn now(&self) -> Instant {
        self.out.now()
    }

    fn began(&self) -> Instant {
        self.span.start
    }

    #[inline]
    fn is_stopped(&self) -> bool {
        self.now() >= self.span.stop
    }

    #[inline]
    fn kind(&self) -> SocketKind {
        self.socket.kind()
    }

    #[inline]
    fn wake_at(&mut self, at: Instant) {
        let flow = self.out.flow;
        self.out.cx.schedule(at, Event::Application { flow });
    }

    fn time_out_at(&mut self, at: Instant) {
        self.out.time_out_at(at, false);
    }

    #[inline]
    fn has_room(&mut self) -> bool {
        match self.socket {
            Socket::Udp(socket) => socket.has_room(),
            Socket::Tcp(_) => true,
        }
    }

    #[inline]
    fn send(&mut self, octets: u32) {
        self.offered(u64::from(octets));
        if let Socket::Udp(socket) = self.socket {
            let number = socket.next_number();
            socket.send(&mut self.out, End::Source, number, octets);
        }
    }

    fn send_message(&mut self, from: End, number: u32, octets: u32) {
        if let Socket::Udp(socket) = self.socket {
            socket.send(&mut self.out, from, number, octets);
        }
    }

    fn write(&mut self, from: End, octets: u64) {
        if let Socket::Tcp(connection) = self.socket {
            connection.write(from, octets);
            self.written[from.index()] = true;
        }
    }

    fn write_without_end(&mut self) {
        if let Socket::Tcp(connection) = self.socket {
            connection.saturate();
            self.written[End::Source.index()] = true;
        }
    }

    fn finish(&mut self) {
        if let Socket::Tcp(connection) = self.socket {
            connection.finish();
        }
    }

    fn reopen(&mut self) {
        if let Socket::Tcp(connection) = self.socket {
            connection.reopen();
        }
    }

    #[inline]
    fn offered(&mut self, octets: u64) {
        let flow = self.out.flow;
        self.observe(Observation::Offered { flow, octets });
    }

    fn repeated(&mut self) {
        let flow = self.out.flow;
        self.observe(Observation::Repeated { flow });
    }

    fn answered(&mut self, took: Duration) {
        let flow = self.out.flow;
        self.observe(Observation::Answered { flow, took });
    }

    fn transferred(&mut self, took: Duration) {
        let flow = self.out.flow;
        self.observe(Observation::Transferred { flow, took });
    }
}
