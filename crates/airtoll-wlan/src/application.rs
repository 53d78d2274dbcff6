//! Applications: the octets that the two ends of a flow give to their sockets, and when.
//!
//! Each application has one file: its parameters as a scenario states them, their ranges, and its
//! state machine. `applications!` below lists them, and makes the `match` that forwards a call to
//! the application of a flow.
//!
//! Takes instants, arrivals and the [`Port`] of a flow; gives writes to that port. Knows no host,
//! packet or queue of events: `flow` implements the port.

mod dns;
mod paced;
mod request_response;
mod saturated;
#[cfg(test)]
mod tests;
mod transfer;
mod voip;

use airtoll_engine::Stream;
use airtoll_units::{Duration, Instant};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use parameters::{Dns, Paced, RequestResponse, Saturated, Transfer, Voip};

/// The parameters of applications, as a scenario states them.
pub mod parameters {
    pub use super::dns::Dns;
    pub use super::paced::{Arrivals, Paced};
    pub use super::request_response::RequestResponse;
    pub use super::saturated::Saturated;
    pub use super::transfer::Transfer;
    pub use super::voip::Voip;
}

/// The ends of a flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// The end that sends, and that asks.
    Source,
    /// The end that receives, and that answers.
    Destination,
}

impl End {
    /// The sender of a packet; `reverse`: it goes from the flow's destination to its source.
    #[inline]
    pub fn sender(reverse: bool) -> Self {
        if reverse {
            Self::Destination
        } else {
            Self::Source
        }
    }

    /// The end that the data of this one go to.
    #[inline]
    pub fn other(self) -> Self {
        match self {
            Self::Source => Self::Destination,
            Self::Destination => Self::Source,
        }
    }

    /// Its place in a list of both.
    #[inline]
    pub const fn index(self) -> usize {
        self as usize
    }
}

/// The kind of socket that an application writes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SocketKind {
    /// UDP: each write is a datagram.
    Datagrams,
    /// TCP: a stream of octets in each direction.
    Stream,
}

/// A datagram that is through the stack of its receiver.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Datagram {
    /// The end that sent it.
    pub from: End,
    /// Its number among the datagrams of that end.
    pub number: u32,
    /// When it was through the stack; never before the present instant.
    pub at: Instant,
}

/// The flow of an application, as the application sees it at an instant.
pub(crate) trait Port {
    /// The present instant.
    fn now(&self) -> Instant;
    /// When the flow began.
    fn began(&self) -> Instant;
    /// Whether the application may begin nothing more.
    fn is_stopped(&self) -> bool;
    /// The kind of its sockets.
    fn kind(&self) -> SocketKind;

    /// The application is due again at an instant.
    fn wake_at(&mut self, at: Instant);
    /// The timer of the application runs out at an instant. A timer is never taken back.
    fn time_out_at(&mut self, at: Instant);

    /// Whether the socket of the source takes another datagram. If not, the application is due as
    /// soon as it does.
    fn has_room(&mut self) -> bool;
    /// Offers a datagram of `octets` octets from the source, with the next number.
    fn send(&mut self, octets: u32);
    /// Sends a datagram with a number of the application's.
    fn send_message(&mut self, from: End, number: u32, octets: u32);

    /// Writes octets into the stream of an end.
    fn write(&mut self, from: End, octets: u64);
    /// The stream of the source always has octets to send.
    fn write_without_end(&mut self);
    /// The stream of the source has all of its octets.
    fn finish(&mut self);
    /// Replaces the connection by a new one that opens with a handshake.
    fn reopen(&mut self);

    /// The source offered octets in another way than by [`Self::send`].
    fn offered(&mut self, octets: u64);
    /// A request was repeated.
    fn repeated(&mut self);
    /// A round of requests and responses took this long.
    fn answered(&mut self, took: Duration);
    /// A transfer took this long.
    fn transferred(&mut self, took: Duration);
}

/// A running application.
pub(crate) trait Application {
    /// The flow begins at `start`; called once, before all other calls.
    fn begin(&mut self, start: Instant) {
        let _ = start;
    }

    /// The application is due: the flow begins, an instant has come for which it asked, or its
    /// socket has room again.
    fn due(&mut self, port: &mut impl Port);

    /// A timer ran out.
    fn timed_out(&mut self, port: &mut impl Port) {
        let _ = port;
    }

    /// A datagram arrived; gives whether the receiving application takes it.
    fn datagram_arrived(&mut self, port: &mut impl Port, datagram: Datagram) -> bool {
        let _ = (port, datagram);
        true
    }

    /// More of the stream of an end arrived in order: `octets` in all.
    fn stream_arrived(&mut self, port: &mut impl Port, from: End, octets: u64) {
        let _ = (port, from, octets);
    }

    /// Octets of the datagrams that the source sends without waiting for the destination; `None`:
    /// the ends wait for one another.
    fn datagram_octets(&self) -> Option<u32>;

    /// Whether it sends whenever its socket has room.
    fn fills_socket(&self) -> bool {
        false
    }

    /// Whether it never runs out of octets, so that it has no offered rate.
    fn is_saturated(&self) -> bool {
        false
    }

    /// Speech in one packet of a voice call.
    fn speech(&self) -> Option<Duration> {
        None
    }
}

/// A parameter outside its range.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OutOfRange {
    /// Name of the parameter.
    pub field: &'static str,
    /// The value found.
    pub value: String,
    /// Allowed values.
    pub allowed: &'static str,
}

type Checked = Result<(), OutOfRange>;

/// Longest UDP payload over IPv4, octets: 65,535 less both headers.
const DATAGRAM_MAX: u32 = 65_507;

fn positive(field: &'static str, value: f64) -> Checked {
    within(field, value, value > 0.0 && value.is_finite(), "above zero")
}

fn not_negative(field: &'static str, value: f64) -> Checked {
    let right = value >= 0.0 && value.is_finite();
    within(field, value, right, "zero or more")
}

/// Octets of one write: a datagram, or any number on a stream.
fn write_length(field: &'static str, octets: u32, kind: SocketKind) -> Checked {
    within(field, octets, octets > 0, "at least 1")?;
    let right = kind == SocketKind::Stream || octets <= DATAGRAM_MAX;
    within(field, octets, right, "at most 65,507")
}

fn within(
    field: &'static str,
    value: impl ToString,
    right: bool,
    allowed: &'static str,
) -> Checked {
    if right {
        return Ok(());
    }
    Err(OutOfRange {
        field,
        value: value.to_string(),
        allowed,
    })
}

/// The list of applications: each with its parameters and its state.
macro_rules! applications {
    ($($(#[$doc:meta])* $name:ident($parameters:ty => $state:ty),)*) => {
        /// Packets of the application, and their times.
        #[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
        pub enum Pattern {
            $($(#[$doc])* $name($parameters),)*
        }

        impl Pattern {
            /// Checks the ranges that the types cannot express.
            ///
            /// # Errors
            /// The first parameter outside its range.
            pub(crate) fn check(&self, kind: SocketKind) -> Checked {
                match self {
                    $(Self::$name(parameters) => parameters.check(kind),)*
                }
            }

            /// The application before the flow begins; `stream`: its random numbers.
            pub(crate) fn application(&self, kind: SocketKind, stream: Stream) -> Running {
                match self {
                    $(Self::$name(parameters) => {
                        Running::$name(parameters.application(kind, stream))
                    })*
                }
            }
        }

        /// The application of a flow.
        #[derive(Debug)]
        pub(crate) enum Running {
            $($name($state),)*
        }

        impl Application for Running {
            fn begin(&mut self, start: Instant) {
                match self { $(Self::$name(a) => a.begin(start),)* }
            }

            #[inline]
            fn due(&mut self, port: &mut impl Port) {
                match self { $(Self::$name(a) => a.due(port),)* }
            }

            fn timed_out(&mut self, port: &mut impl Port) {
                match self { $(Self::$name(a) => a.timed_out(port),)* }
            }

            #[inline]
            fn datagram_arrived(&mut self, port: &mut impl Port, datagram: Datagram) -> bool {
                match self { $(Self::$name(a) => a.datagram_arrived(port, datagram),)* }
            }

            #[inline]
            fn stream_arrived(&mut self, port: &mut impl Port, from: End, octets: u64) {
                match self { $(Self::$name(a) => a.stream_arrived(port, from, octets),)* }
            }

            fn datagram_octets(&self) -> Option<u32> {
                match self { $(Self::$name(a) => a.datagram_octets(),)* }
            }

            fn fills_socket(&self) -> bool {
                match self { $(Self::$name(a) => a.fills_socket(),)* }
            }

            fn is_saturated(&self) -> bool {
                match self { $(Self::$name(a) => a.is_saturated(),)* }
            }

            fn speech(&self) -> Option<Duration> {
                match self { $(Self::$name(a) => a.speech(),)* }
            }
        }
    };
}

applications! {
    /// Saturated: a packet is always ready.
    Saturated(Saturated => saturated::Writer),
    /// A fixed offered rate.
    Paced(Paced => paced::Pacer),
    /// A given amount, as fast as it goes (FTP-like).
    Transfer(Transfer => transfer::Sending),
    /// A request, a response, a pause, and again (RPC- or HTTP-like).
    RequestResponse(RequestResponse => request_response::Rounds),
    /// DNS lookups one after the other: over UDP, or with TCP over TLS (RFC 7858).
    Dns(Dns => request_response::Rounds),
    /// One direction of a voice call: 160 octets of G.711 and 12 of RTP every 20 ms by default.
    Voip(Voip => voip::Call),
}
