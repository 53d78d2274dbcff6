//! ARP for IPv4 over Ethernet: takes the payload of EtherType 08-06, gives both address pairs.
//!
//! Source: RFC 826. Other hardware and protocol types are refused.

use core::net::Ipv4Addr;

use crate::{Cursor, Error, MacAddress, Result};

const FORMAT: &str = "ARP";

/// Octets of the packet.
pub const LEN: usize = 28;

/// A request (operation 1) or reply (2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ArpRepr {
    /// Operation.
    pub operation: u16,
    /// Sender's MAC address.
    pub sender: MacAddress,
    /// Sender's IPv4 address.
    pub sender_ip: Ipv4Addr,
    /// Target's MAC address, zero in a request.
    pub target: MacAddress,
    /// Target's IPv4 address.
    pub target_ip: Ipv4Addr,
}

impl ArpRepr {
    /// Reads a packet; octets after it (padding) are ignored.
    pub fn parse(octets: &[u8]) -> Result<Self> {
        let mut cursor = Cursor::new(FORMAT, octets);
        if cursor.array::<6>()? != [0, 1, 8, 0, 6, 4] {
            return Err(Error::malformed(FORMAT, "is not of IPv4 over Ethernet"));
        }
        Ok(Self {
            operation: cursor.u16_be()?,
            sender: MacAddress(cursor.array()?),
            sender_ip: Ipv4Addr::from(cursor.array::<4>()?),
            target: MacAddress(cursor.array()?),
            target_ip: Ipv4Addr::from(cursor.array::<4>()?),
        })
    }

    /// Appends the packet.
    pub fn emit(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&[0, 1, 8, 0, 6, 4]);
        out.extend_from_slice(&self.operation.to_be_bytes());
        out.extend_from_slice(&self.sender.0);
        out.extend_from_slice(&self.sender_ip.octets());
        out.extend_from_slice(&self.target.0);
        out.extend_from_slice(&self.target_ip.octets());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn round_trips(operation: u16, a: [u8; 6], b: [u8; 4], c: [u8; 6], d: [u8; 4]) {
            let repr = ArpRepr { operation, sender: MacAddress(a), sender_ip: b.into(), target: MacAddress(c), target_ip: d.into() };
            let mut octets = Vec::new();
            repr.emit(&mut octets);
            prop_assert_eq!(octets.len(), LEN);
            prop_assert_eq!(ArpRepr::parse(&octets), Ok(repr));
        }

        #[test]
        fn any_octets_are_refused_or_read(octets in proptest::collection::vec(any::<u8>(), 0..40)) {
            let _ = ArpRepr::parse(&octets);
        }
    }
}
