//! Requests and replies of address resolution: takes the subject of one, gives the MSDU with the
//! octets of ARP (RFC 826) or Neighbour Discovery (RFC 4861).

use core::net::Ipv6Addr;

use airtoll_wire::MacAddress;
use airtoll_wire::arp::ArpRepr;
use airtoll_wire::icmp::IcmpRepr;
use airtoll_wire::ipv4::protocol;
use airtoll_wire::ipv6::Ipv6Repr;

use super::frame::Msdu;
use crate::address;
pub(super) use crate::net::Subject;

/// EtherTypes of ARP and IPv6.
const ARP: u16 = 0x0806;
const IPV6: u16 = 0x86dd;
/// ICMPv6 types of Neighbour Solicitations and Advertisements.
const SOLICITATION: u8 = 135;
const ADVERTISEMENT: u8 = 136;
/// Flags of an advertisement that answers: solicited, override.
const SOLICITED: u16 = 0x6000;
/// Source and target link-layer address options, and their length in units of eight octets.
const SOURCE_ADDRESS: u8 = 1;
const TARGET_ADDRESS: u8 = 2;

/// Destination of a request or a reply. A reply goes to the host that asked, an ARP request to the
/// broadcast address, a Neighbour Solicitation to the solicited-node multicast address.
pub(super) fn destination(subject: Subject, asks: bool) -> MacAddress {
    if !asks {
        return address::mac(subject.host);
    }
    if !subject.six {
        return MacAddress::BROADCAST;
    }
    // RFC 2464 section 7.
    let [.., a, b, c, d] = solicited_node(address::ipv6(subject.target)).octets();
    MacAddress([0x33, 0x33, a, b, c, d])
}

/// The packet of `octets` with its ends.
pub(super) fn msdu(subject: Subject, asks: bool, octets: u32) -> Msdu {
    let (host, target) = (subject.host, subject.target);
    let from = if asks { host } else { target };
    let mut payload = Vec::new();
    if subject.six {
        neighbour(subject, asks, &mut payload);
    } else {
        let (to, to_mac) = if asks {
            (target, MacAddress::ZERO)
        } else {
            (host, address::mac(host))
        };
        ArpRepr {
            operation: if asks { 1 } else { 2 },
            sender: address::mac(from),
            sender_ip: address::ipv4(from),
            target: to_mac,
            target_ip: address::ipv4(to),
        }
        .emit(&mut payload);
    }
    debug_assert_eq!(payload.len(), octets as usize);
    Msdu {
        destination: destination(subject, asks),
        source: address::mac(from),
        ethertype: if subject.six { IPV6 } else { ARP },
        payload,
    }
}

/// RFC 4861 sections 4.3 and 4.4.
fn neighbour(subject: Subject, asks: bool, out: &mut Vec<u8>) {
    let (host, target) = (subject.host, subject.target);
    let (asker, asked) = (address::ipv6(host), address::ipv6(target));
    let (kind, flags, option, owner) = if asks {
        (SOLICITATION, 0, SOURCE_ADDRESS, host)
    } else {
        (ADVERTISEMENT, SOLICITED, TARGET_ADDRESS, target)
    };
    let (from, to) = if asks {
        (asker, solicited_node(asked))
    } else {
        (asked, asker)
    };
    let mut rest = asked.octets().to_vec();
    rest.extend([option, 1]);
    rest.extend(address::mac(owner).octets());
    let mut message = Vec::new();
    IcmpRepr {
        kind,
        code: 0,
        identifier: flags,
        sequence: 0,
        payload: &rest,
    }
    .emit_v6(from, to, &mut message);
    Ipv6Repr {
        // No host beyond the link can have sent a packet with this limit (section 7.1.1).
        hop_limit: 255,
        ..Ipv6Repr::new(from, to, protocol::ICMPV6, &message)
    }
    .emit(out);
}

/// The solicited-node multicast address (RFC 4291 section 2.7.1).
fn solicited_node(of: Ipv6Addr) -> Ipv6Addr {
    let [.., a, b, c] = of.octets();
    Ipv6Addr::new(
        0xff02,
        0,
        0,
        0,
        0,
        1,
        0xff00 | u16::from(a),
        u16::from_be_bytes([b, c]),
    )
}
