//! Transfer: a given amount, as fast as it goes (FTP-like).

use airtoll_engine::Stream;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Application, Checked, Datagram, End, Port, SocketKind, write_length};

/// A given amount, as fast as it goes (FTP-like).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Transfer {
    /// Total, octets.
    pub octets: u64,
    /// UDP payload or length of one TCP write, octets.
    pub payload_octets: u32,
}

impl Transfer {
    pub(super) fn check(&self, kind: SocketKind) -> Checked {
        write_length("payload_octets", self.payload_octets, kind)
    }

    pub(super) fn application(&self, _: SocketKind, _: Stream) -> Sending {
        Sending {
            payload: self.payload_octets,
            left: self.octets,
            total: self.octets,
            done: false,
        }
    }
}

/// A transfer under way.
#[derive(Debug)]
pub(crate) struct Sending {
    payload: u32,
    /// Octets that are not written yet.
    left: u64,
    total: u64,
    /// All of it has arrived (TCP).
    done: bool,
}

impl Application for Sending {
    fn due(&mut self, port: &mut impl Port) {
        if port.kind() == SocketKind::Stream {
            let octets = std::mem::take(&mut self.left);
            port.write(End::Source, octets);
            port.finish();
            port.offered(octets);
            return;
        }
        while port.has_room() {
            let octets = self.left.min(u64::from(self.payload));
            if octets == 0 {
                return;
            }
            self.left -= octets;
            port.send(octets as u32);
        }
    }

    /// Notes when the last datagram arrived; some before it may be lost.
    fn datagram_arrived(&mut self, port: &mut impl Port, datagram: Datagram) -> bool {
        if self.left == 0 {
            port.transferred(datagram.at - port.began());
        }
        true
    }

    fn stream_arrived(&mut self, port: &mut impl Port, _: End, octets: u64) {
        if octets >= self.total && !self.done {
            self.done = true;
            port.transferred(port.now() - port.began());
        }
    }

    fn datagram_octets(&self) -> Option<u32> {
        Some(self.payload)
    }

    fn fills_socket(&self) -> bool {
        true
    }
}
