//! Addresses of nodes: takes a node's number, gives its MAC, IPv4 and IPv6 address.
//!
//! All nodes are in one subnet, as behind a bridging access point. Addresses depend on the number
//! alone, so that keys, frames and captures of equal scenarios are equal.

use crate::id::NodeId;
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use airtoll_wire::MacAddress;

/// The MAC address of a node, locally administered; of an access point also its BSSID.
pub(crate) const fn mac(node: NodeId) -> MacAddress {
    let [_, a, b, c] = (node.number() + 1).to_be_bytes();
    MacAddress([0x02, 0, 0, a, b, c])
}

/// The BSSID of an access point's network number `ssid`; number 0 is its own address.
pub(crate) const fn bssid(access_point: NodeId, ssid: u32) -> MacAddress {
    let MacAddress([first, _, _, a, b, c]) = mac(access_point);
    MacAddress([first, 0, ssid as u8, a, b, c])
}

/// The IPv4 address of a node in 10.0.0.0/8.
pub(crate) const fn ipv4(node: NodeId) -> Ipv4Addr {
    let node = node.number();
    let host = node % 254 + 1;
    let [_, a, b, _] = ((node / 254) << 8).to_be_bytes();
    Ipv4Addr::new(10, a, b, host as u8)
}

/// The IPv6 address of a node: its MAC address in fd00::/64 (RFC 4291 appendix A).
pub(crate) const fn ipv6(node: NodeId) -> Ipv6Addr {
    let MacAddress([a, b, c, d, e, f]) = mac(node);
    Ipv6Addr::new(
        0xfd00,
        0,
        0,
        0,
        ((a ^ 2) as u16) << 8 | b as u16,
        (c as u16) << 8 | 0xff,
        0xfe00 | d as u16,
        (e as u16) << 8 | f as u16,
    )
}

/// The address of a node in IPv6 or IPv4.
pub(crate) const fn ip(node: NodeId, six: bool) -> IpAddr {
    if six {
        IpAddr::V6(ipv6(node))
    } else {
        IpAddr::V4(ipv4(node))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_of_hosts_and_do_not_repeat() {
        let mut known = std::collections::HashSet::new();
        for node in [0, 1, 253, 254, 255, 256, 507, 508, 70_000].map(NodeId::new) {
            let [.., host] = ipv4(node).octets();
            assert!(host != 0 && host != 255);
            assert!(known.insert(ipv4(node)));
            assert!(mac(node).is_local() && !mac(node).is_group());
        }
        assert_eq!(ipv6(NodeId::new(0)).to_string(), "fd00::ff:fe00:1");
        assert_eq!(bssid(NodeId::new(3), 0), mac(NodeId::new(3)));
    }
}
