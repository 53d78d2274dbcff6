//! UDP: takes a segment, gives ports and payload.
//!
//! Source: RFC 768. A payload that the capture truncated is returned up to its end.

use core::net::IpAddr;

use crate::checksum;
use crate::ipv4::protocol;
use crate::{Error, Result};

const FORMAT: &str = "UDP";

/// Octets of the header.
pub const LEN: usize = 8;

/// Header and payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UdpRepr<'a> {
    /// Source port.
    pub source: u16,
    /// Destination port.
    pub destination: u16,
    /// Payload.
    pub payload: &'a [u8],
}

impl<'a> UdpRepr<'a> {
    /// Reads a segment; the checksum is not looked at.
    pub fn parse(octets: &'a [u8]) -> Result<Self> {
        let h = octets
            .first_chunk::<LEN>()
            .ok_or(Error::truncated(FORMAT, LEN, octets.len()))?;
        let len = match usize::from(u16::from_be_bytes([h[4], h[5]])) {
            0 => octets.len(),
            len if len < LEN => return Err(Error::malformed(FORMAT, "length is below 8")),
            len => len,
        };
        Ok(Self {
            source: u16::from_be_bytes([h[0], h[1]]),
            destination: u16::from_be_bytes([h[2], h[3]]),
            payload: &octets[LEN..len.min(octets.len())],
        })
    }

    /// Octets that [`UdpRepr::emit`] writes.
    pub const fn buffer_len(&self) -> usize {
        LEN + self.payload.len()
    }

    /// Appends header and payload with the checksum for these addresses.
    pub fn emit(&self, from: IpAddr, to: IpAddr, out: &mut Vec<u8>) {
        let start = out.len();
        out.extend_from_slice(&self.source.to_be_bytes());
        out.extend_from_slice(&self.destination.to_be_bytes());
        out.extend_from_slice(&(self.buffer_len().min(65535) as u16).to_be_bytes());
        out.extend_from_slice(&[0, 0]);
        out.extend_from_slice(self.payload);
        // A computed 0 is sent as all ones: 0 would say that there is no checksum.
        let sum = match checksum::transport(from, to, protocol::UDP, &out[start..]) {
            0 => 0xffff,
            sum => sum,
        };
        out[start + 6..start + 8].copy_from_slice(&sum.to_be_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::net::Ipv4Addr;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn round_trips(source: u16, destination: u16, payload in proptest::collection::vec(any::<u8>(), 0..64)) {
            let repr = UdpRepr { source, destination, payload: &payload };
            let (from, to) = (Ipv4Addr::new(10, 0, 0, 1).into(), Ipv4Addr::new(10, 0, 0, 2).into());
            let mut octets = Vec::new();
            repr.emit(from, to, &mut octets);
            prop_assert_eq!(octets.len(), repr.buffer_len());
            prop_assert_eq!(checksum::transport(from, to, protocol::UDP, &octets), 0);
            prop_assert_eq!(UdpRepr::parse(&octets), Ok(repr));
        }

        #[test]
        fn any_octets_are_refused_or_read(octets in proptest::collection::vec(any::<u8>(), 0..32)) {
            let _ = UdpRepr::parse(&octets);
        }
    }
}
