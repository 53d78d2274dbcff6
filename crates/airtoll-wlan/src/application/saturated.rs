//! Saturated: a packet is always ready.

use airtoll_engine::Stream;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Application, Checked, Port, SocketKind, write_length};

/// Saturated: a packet is always ready.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Saturated {
    /// UDP payload or length of one TCP write, octets.
    pub payload_octets: u32,
}

impl Saturated {
    pub(super) fn check(&self, kind: SocketKind) -> Checked {
        write_length("payload_octets", self.payload_octets, kind)
    }

    pub(super) fn application(&self, _: SocketKind, _: Stream) -> Writer {
        Writer {
            payload: self.payload_octets,
        }
    }
}

/// Always has another write.
#[derive(Debug)]
pub(crate) struct Writer {
    payload: u32,
}

impl Application for Writer {
    #[inline]
    fn due(&mut self, port: &mut impl Port) {
        if port.kind() == SocketKind::Stream {
            port.write_without_end();
            return;
        }
        while !port.is_stopped() && port.has_room() {
            port.send(self.payload);
        }
    }

    fn datagram_octets(&self) -> Option<u32> {
        Some(self.payload)
    }

    fn fills_socket(&self) -> bool {
        true
    }

    fn is_saturated(&self) -> bool {
        true
    }
}
