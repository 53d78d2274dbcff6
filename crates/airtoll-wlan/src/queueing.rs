//! Queue disciplines: CoDel, and flow queues with CoDel on each, for the radio's queues and for wires.
//!
//! Takes packets by number, with the flow and the length of each; gives those that leave and those that are
//! dropped. Knows neither radios nor wires.

mod codel;
mod flow_queues;

use crate::id::NodeId;
use crate::packet::{Carries, Packet};

pub(crate) use codel::{Codel, TARGET as CODEL_TARGET};
pub(crate) use flow_queues::{ETHERNET_HEADER, FlowQueues, FlowRules};

/// The flow of a packet that `host` queues. Linux's `skb_get_hash` tells flows apart by addresses and
/// ports of the outermost header. The host that put a packet into a tunnel keeps the hash of the inner
/// packet (`wg_reset_packet` of WireGuard).
pub(crate) fn flow_key(packet: &Packet, host: NodeId) -> u64 {
    let (kind, number, part) = match (packet.tunnelled, packet.carries) {
        (Some(tunnelled), _) if tunnelled.entered != host => {
            (1, tunnelled.entered.number(), tunnelled.tunnel.number())
        }
        (_, Carries::Datagram { flow, .. } | Carries::Segment { flow, .. }) => {
            (2, flow.number(), u32::from(packet.reverse))
        }
        (_, Carries::Signal { .. }) => (3, 0, 0),
        (_, Carries::Request { .. } | Carries::Reply { .. }) => (4, 0, 0),
        (_, Carries::Advertisement { .. }) => (5, 0, 0),
        (_, Carries::Group { source, .. } | Carries::Answer { source }) => (6, source.number(), 0),
        (_, Carries::PowerSave { station, .. }) => (8, station.number(), 0),
        (_, Carries::ProbeRequest { .. } | Carries::ProbeResponse { .. }) => (9, 0, 0),
        (_, Carries::Piece { stream, .. }) => (7, stream.number(), 0),
    };
    kind << 60 | u64::from(number) << 28 | u64::from(part)
}
