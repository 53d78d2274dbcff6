//! Group-addressed traffic of nodes: takes a packet of it, gives the MSDU with the octets of multicast
//! DNS (RFC 6762), ARP (RFC 826) or Neighbour Discovery (RFC 4861).

use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use airtoll_wire::MacAddress;
use airtoll_wire::icmp::IcmpRepr;
use airtoll_wire::ipv4::{Ipv4Repr, protocol};
use airtoll_wire::ipv6::Ipv6Repr;
use airtoll_wire::udp::UdpRepr;

use super::View;
use super::frame::Msdu;
use super::resolving;
use crate::address;
use crate::id::{GroupSourceId, NodeId};
use crate::net::{GroupContent, GroupMessage};
use crate::packet::{Carries, Packet};

const IPV4: u16 = 0x0800;
const IPV6: u16 = 0x86dd;
/// UDP port, and groups, of multicast DNS (RFC 6762 section 3).
const MDNS_PORT: u16 = 5353;
const MDNS_IPV4: Ipv4Addr = Ipv4Addr::new(224, 0, 0, 251);
const MDNS_IPV6: Ipv6Addr = Ipv6Addr::new(0xff02, 0, 0, 0, 0, 0, 0, 0xfb);
/// Hop limit of messages that do not leave the link (RFC 6762 section 11, RFC 4861 section 4.2).
const ON_LINK: u8 = 255;
/// ICMPv6 type of a Router Advertisement.
const ROUTER_ADVERTISEMENT: u8 = 134;
const ALL_NODES: Ipv6Addr = Ipv6Addr::new(0xff02, 0, 0, 0, 0, 0, 0, 1);
/// Hop limit of hosts, and lifetime of a router, s (RFC 4861 section 6.2.1: three advertisements).
const HOP_LIMIT: u16 = 64;
const ROUTER_LIFETIME: u16 = 1_800;

/// The group address of a message, or the address that the host of an answer asked from.
pub(super) fn group(view: &View<'_>, source: GroupSourceId) -> MacAddress {
    let message = view.net().group_message(source);
    match message.content {
        GroupContent::Request { .. } => resolving::destination(subject(message), true),
        // RFC 1112 section 6.4, RFC 2464 section 7.
        GroupContent::Mdns { .. } if message.six => MacAddress([0x33, 0x33, 0, 0, 0, 0xfb]),
        GroupContent::Mdns { .. } => MacAddress([0x01, 0x00, 0x5e, 0, 0, 0xfb]),
        GroupContent::RouterAdvertisement => MacAddress([0x33, 0x33, 0, 0, 0, 1]),
    }
}

fn subject(message: &GroupMessage) -> resolving::Subject {
    let target = match message.content {
        GroupContent::Request { target } => target,
        _ => message.node,
    };
    resolving::Subject {
        host: message.node,
        target,
        six: message.six,
    }
}

/// The packet with its ends. A copy for one station has the station's address, as in Linux's mac80211.
pub(super) fn msdu(view: &View<'_>, source: GroupSourceId, p: &Packet) -> Msdu {
    let message = view.net().group_message(source);
    if let Carries::Answer { .. } = p.carries {
        return resolving::msdu(subject(message), false, p.ip_octets);
    }
    let made = match message.content {
        GroupContent::Request { .. } => resolving::msdu(subject(message), true, p.ip_octets),
        GroupContent::Mdns { octets } => mdns(
            message.node,
            message.six,
            octets as usize,
            group(view, source),
        ),
        GroupContent::RouterAdvertisement => advertisement(message.node, group(view, source)),
    };
    debug_assert_eq!(made.payload.len(), p.ip_octets as usize);
    let alone = matches!(p.carries, Carries::Group { copy: Some(_), .. });
    Msdu {
        destination: if alone {
            address::mac(p.to)
        } else {
            made.destination
        },
        ..made
    }
}

/// An announcement of `octets`: one TXT record (RFC 6762 section 8.3).
fn mdns(node: NodeId, six: bool, octets: usize, destination: MacAddress) -> Msdu {
    // A response with authority and one answer.
    let mut message = vec![0, 0, 0x84, 0, 0, 0, 0, 1, 0, 0, 0, 0];
    message.extend_from_slice(b"\x04host\x05local\0");
    // TXT, class IN with the bit that flushes caches, 4500 s.
    message.extend_from_slice(&[0, 16, 0x80, 1, 0, 0, 0x11, 0x94]);
    let text = octets - message.len() - 2;
    message.extend_from_slice(&(text as u16).to_be_bytes());
    let mut left = text;
    while left > 0 {
        let string = (left - 1).min(255);
        message.push(string as u8);
        message.resize(message.len() + string, b'x');
        left -= 1 + string;
    }
    let (from, to) = if six {
        (link_local(node).into(), IpAddr::V6(MDNS_IPV6))
    } else {
        (address::ip(node, false), IpAddr::V4(MDNS_IPV4))
    };
    let mut datagram = Vec::new();
    UdpRepr {
        source: MDNS_PORT,
        destination: MDNS_PORT,
        payload: &message,
    }
    .emit(from, to, &mut datagram);
    let mut payload = Vec::new();
    match (from, to) {
        (IpAddr::V4(from), IpAddr::V4(to)) => Ipv4Repr {
            ttl: ON_LINK,
            ..Ipv4Repr::new(from, to, protocol::UDP, &datagram)
        }
        .emit(&mut payload),
        (IpAddr::V6(from), IpAddr::V6(to)) => Ipv6Repr {
            hop_limit: ON_LINK,
            ..Ipv6Repr::new(from, to, protocol::UDP, &datagram)
        }
        .emit(&mut payload),
        _ => {}
    }
    Msdu {
        destination,
        source: address::mac(node),
        ethertype: if six { IPV6 } else { IPV4 },
        payload,
    }
}

/// RFC 4861 sections 4.2 and 4.6.
fn advertisement(node: NodeId, destination: MacAddress) -> Msdu {
    // Reachable time and time between solicitations are left to the hosts.
    let mut rest = vec![0; 8];
    rest.extend([1, 1]);
    rest.extend(address::mac(node).octets());
    rest.extend([5, 1, 0, 0]);
    rest.extend(1_500_u32.to_be_bytes());
    // Prefix of 64 bits, on the link and for addresses; lifetimes of 30 and 7 days.
    rest.extend([3, 4, 64, 0xc0]);
    rest.extend(2_592_000_u32.to_be_bytes());
    rest.extend(604_800_u32.to_be_bytes());
    rest.extend([0; 4]);
    let [prefix @ .., _, _, _, _, _, _, _, _] = address::ipv6(node).octets();
    rest.extend(prefix);
    rest.extend([0; 8]);
    let from = link_local(node);
    let mut message = Vec::new();
    IcmpRepr {
        kind: ROUTER_ADVERTISEMENT,
        code: 0,
        identifier: HOP_LIMIT << 8,
        sequence: ROUTER_LIFETIME,
        payload: &rest,
    }
    .emit_v6(from, ALL_NODES, &mut message);
    let mut payload = Vec::new();
    Ipv6Repr {
        hop_limit: ON_LINK,
        ..Ipv6Repr::new(from, ALL_NODES, protocol::ICMPV6, &message)
    }
    .emit(&mut payload);
    Msdu {
        destination,
        source: address::mac(node),
        ethertype: IPV6,
        payload,
    }
}

/// The link-local address of a node (RFC 4291 section 2.5.6).
fn link_local(node: NodeId) -> Ipv6Addr {
    let [_, _, _, _, a, b, c, d] = address::ipv6(node).segments();
    Ipv6Addr::new(0xfe80, 0, 0, 0, a, b, c, d)
}
