//! Advertisements of Mobile IP's agents: takes a packet of one, gives the MSDU with its octets.

use core::net::Ipv4Addr;

use airtoll_wire::MacAddress;
use airtoll_wire::ipv4::Ipv4Repr;

use super::View;
use super::frame::Msdu;
use crate::address;
use crate::id::AgentId;
use crate::packet::Packet;

const IPV4: u16 = 0x0800;
/// Protocol number of ICMP.
const ICMP: u8 = 1;
/// All systems on the link (RFC 5944 section 2.3).
const GROUP: Ipv4Addr = Ipv4Addr::new(224, 0, 0, 1);
/// Its MAC address (RFC 1112 section 6.4).
pub(super) const ALL_SYSTEMS: MacAddress = MacAddress([0x01, 0x00, 0x5e, 0, 0, 1]);

/// The packet with its ends.
pub(super) fn msdu(view: &View<'_>, agent: AgentId, p: &Packet) -> Msdu {
    let agents = view.roam.agents();
    let node = agents.node_of(agent);
    let octets = agents.advertised(agent);
    let mut payload = Vec::new();
    Ipv4Repr {
        // It does not leave the link.
        ttl: 1,
        ..Ipv4Repr::new(address::ipv4(node), GROUP, ICMP, octets)
    }
    .emit(&mut payload);
    debug_assert_eq!(payload.len(), p.ip_octets as usize);
    Msdu {
        destination: ALL_SYSTEMS,
        source: address::mac(node),
        ethertype: IPV4,
        payload,
    }
}
