//! Addresses of nodes: takes a node's number, gives its MAC, IPv4 and IPv6 address.
//!
//! All nodes are in one subnet, as behind a bridging access point. Addresses depend on the number
//! alone, so that keys, frames and captures of equal scenarios are equal.

use crate::id::{NodeId, RadioId};
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use airtoll_handshakes::link::multi_link::{MAX_LINKS, mld_address};
use airtoll_wire::MacAddress;

/// The number of an IP address. A node has one; a station that hands over has another one in every
/// further BSS, for the outer headers of its tunnels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Locator(u32);

impl From<NodeId> for Locator {
    fn from(node: NodeId) -> Self {
        Self(node.number())
    }
}

impl From<RadioId> for Locator {
    fn from(radio: RadioId) -> Self {
        Self(radio.number())
    }
}

/// The MAC address of a node, locally administered; of an access point also its BSSID.
pub(crate) const fn mac(node: NodeId) -> MacAddress {
    of_number(node.number())
}

const fn of_number(number: u32) -> MacAddress {
    let [_, a, b, c] = (number + 1).to_be_bytes();
    MacAddress([0x02, 0, 0, a, b, c])
}

/// The node's number in its MAC address, in that on a further link or in that of its multi-link device;
/// `None` for an address of another form.
pub(crate) fn number(address: MacAddress) -> Option<usize> {
    let [0x02, second, 0, a, b, c] = address.0 else {
        return None;
    };
    if second >= MAX_LINKS && mld_address(address) != address {
        return None;
    }
    let number = u32::from_be_bytes([0, a, b, c]).checked_sub(1)?;
    usize::try_from(number).ok()
}

/// The BSSID of an access point's network number `ssid`; number 0 is its own address.
pub(crate) const fn bssid(access_point: NodeId, ssid: u32) -> MacAddress {
    let MacAddress([first, _, _, a, b, c]) = mac(access_point);
    MacAddress([first, 0, ssid as u8, a, b, c])
}

/// The MAC address of the sender of a Probe Request: each is one of another station that passes by, with a
/// random address in life. No node has it.
pub(crate) const fn passer_by(request: u32) -> MacAddress {
    let [a, b, c, d] = request.to_be_bytes();
    MacAddress([0x0a, 0, a, b, c, d])
}

/// The IPv4 address of a node, or of a station in a BSS, in 10.0.0.0/8.
pub(crate) fn ipv4(of: impl Into<Locator>) -> Ipv4Addr {
    let Locator(node) = of.into();
    let host = node % 254 + 1;
    let [_, a, b, _] = ((node / 254) << 8).to_be_bytes();
    Ipv4Addr::new(10, a, b, host as u8)
}

/// The IPv6 address of a node: its MAC address in fd00::/64 (RFC 4291 appendix A). That of a station in
/// a further BSS has the MAC address of a node with that number.
pub(crate) fn ipv6(of: impl Into<Locator>) -> Ipv6Addr {
    let MacAddress([a, b, c, d, e, f]) = of_number(of.into().0);
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

/// The same in IPv6 or IPv4.
pub(crate) fn ip(of: impl Into<Locator>, six: bool) -> IpAddr {
    if six {
        IpAddr::V6(ipv6(of))
    } else {
        IpAddr::V4(ipv4(of))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use airtoll_handshakes::link::multi_link::link_address;

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

    #[test]
    fn a_node_is_known_by_each_of_its_addresses() {
        let own = mac(NodeId::new(70_000));
        for address in [own, link_address(own, 2), mld_address(own)] {
            assert_eq!(number(address), Some(70_000));
        }
        assert_eq!(number(bssid(NodeId::new(1), 1)), None);
        let passing = passer_by(7);
        assert_eq!(number(passing), None);
        assert!(passing.is_local() && !passing.is_group());
        assert_eq!(number(link_address(own, 15)), None);
    }
}
