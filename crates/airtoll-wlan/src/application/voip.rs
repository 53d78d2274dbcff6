//! Voice over IP: one direction of a call.

use airtoll_engine::Stream;
use airtoll_units::{Duration, Instant};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::paced::Pacer;
use super::{Application, Checked, Port, SocketKind, positive, write_length};

/// One direction of a voice call: 160 octets of G.711 and 12 of RTP every 20 ms by default.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Voip {
    /// Voice and RTP octets per packet.
    pub payload_octets: u32,
    /// Spacing of packets, ms.
    pub interval_ms: f64,
}

impl Default for Voip {
    fn default() -> Self {
        Self {
            payload_octets: 172,
            interval_ms: 20.0,
        }
    }
}

impl Voip {
    pub(super) fn check(&self, kind: SocketKind) -> Checked {
        write_length("payload_octets", self.payload_octets, kind)?;
        positive("interval_ms", self.interval_ms)
    }

    pub(super) fn application(&self, _: SocketKind, _: Stream) -> Call {
        Call {
            packets: Pacer::new(self.payload_octets, self.interval_ms * 1e6, None),
            speech: Duration::from_secs_f64(self.interval_ms / 1e3),
        }
    }
}

/// One direction of a call.
#[derive(Debug)]
pub(crate) struct Call {
    packets: Pacer,
    /// Speech in one packet.
    speech: Duration,
}

impl Application for Call {
    fn begin(&mut self, start: Instant) {
        self.packets.begin(start);
    }

    fn due(&mut self, port: &mut impl Port) {
        self.packets.due(port);
    }

    fn datagram_octets(&self) -> Option<u32> {
        self.packets.datagram_octets()
    }

    fn speech(&self) -> Option<Duration> {
        Some(self.speech)
    }
}
