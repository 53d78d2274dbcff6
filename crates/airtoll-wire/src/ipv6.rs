//! IPv6: takes a packet, gives its header fields, and the payload after extension headers.
//!
//! Source: RFC 8200. Hop-by-hop, routing, destination and fragment headers are skipped when read
//! and never written.

use core::net::Ipv6Addr;

use crate::{Error, Result};

const FORMAT: &str = "IPv6";

/// Octets of the fixed header.
pub const LEN: usize = 40;

/// Header and payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ipv6Repr<'a> {
    /// Traffic class.
    pub traffic_class: u8,
    /// Flow label, 20 bits.
    pub flow_label: u32,
    /// Protocol of the payload, after extension headers.
    pub protocol: u8,
    /// Whether a fragment header says that this is not the first fragment.
    pub later_fragment: bool,
    /// Hop limit.
    pub hop_limit: u8,
    /// Source.
    pub source: Ipv6Addr,
    /// Destination.
    pub destination: Ipv6Addr,
    /// Payload without link padding.
    pub payload: &'a [u8],
}

impl<'a> Ipv6Repr<'a> {
    /// A packet without extension headers.
    pub const fn new(
        source: Ipv6Addr,
        destination: Ipv6Addr,
        protocol: u8,
        payload: &'a [u8],
    ) -> Self {
        Self {
            traffic_class: 0,
            flow_label: 0,
            protocol,
            later_fragment: false,
            hop_limit: 64,
            source,
            destination,
            payload,
        }
    }

    /// Reads a packet.
    pub fn parse(octets: &'a [u8]) -> Result<Self> {
        let h = octets
            .first_chunk::<LEN>()
            .ok_or(Error::truncated(FORMAT, LEN, octets.len()))?;
        if h[0] >> 4 != 6 {
            return Err(Error::malformed(FORMAT, "version is not 6"));
        }
        let first = u32::from_be_bytes([h[0], h[1], h[2], h[3]]);
        let mut payload = &octets[LEN..];
        let len = usize::from(u16::from_be_bytes([h[4], h[5]]));
        // A jumbogram or an offloaded segment says 0.
        if len != 0 {
            payload = &payload[..payload.len().min(len)];
        }
        let mut protocol = h[6];
        let mut later_fragment = false;
        loop {
            let skip = match (protocol, payload) {
                (0 | 43 | 60, [_, len, ..]) => 8 + usize::from(*len) * 8,
                (44, [_, _, high, low, ..]) => {
                    later_fragment |= u16::from_be_bytes([*high, *low]) >> 3 != 0;
                    8
                }
                _ => break,
            };
            let Some(rest) = payload.get(skip..) else {
                break;
            };
            protocol = payload[0];
            payload = rest;
        }
        Ok(Self {
            traffic_class: (first >> 20) as u8,
            flow_label: first & 0xf_ffff,
            protocol,
            later_fragment,
            hop_limit: h[7],
            source: address(&h[8..24]),
            destination: address(&h[24..40]),
            payload,
        })
    }

    /// Octets that [`Ipv6Repr::emit`] writes.
    pub const fn buffer_len(&self) -> usize {
        LEN + self.payload.len()
    }

    /// Appends header and payload.
    pub fn emit(&self, out: &mut Vec<u8>) {
        let first = 6 << 28 | u32::from(self.traffic_class) << 20 | self.flow_label & 0xf_ffff;
        out.extend_from_slice(&first.to_be_bytes());
        out.extend_from_slice(&(self.payload.len().min(65535) as u16).to_be_bytes());
        out.extend_from_slice(&[self.protocol, self.hop_limit]);
        out.extend_from_slice(&self.source.octets());
        out.extend_from_slice(&self.destination.octets());
        out.extend_from_slice(self.payload);
    }
}

fn address(octets: &[u8]) -> Ipv6Addr {
    let mut array = [0; 16];
    array.copy_from_slice(octets);
    array.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn round_trips(tc: u8, flow in 0u32..1 << 20, hop_limit: u8, a: [u8; 16], b: [u8; 16], payload in proptest::collection::vec(any::<u8>(), 1..64)) {
            let repr = Ipv6Repr {
                traffic_class: tc, flow_label: flow, protocol: 17, later_fragment: false, hop_limit,
                source: a.into(), destination: b.into(), payload: &payload,
            };
            let mut octets = Vec::new();
            repr.emit(&mut octets);
            prop_assert_eq!(octets.len(), repr.buffer_len());
            prop_assert_eq!(Ipv6Repr::parse(&octets), Ok(repr));
        }

        #[test]
        fn any_octets_are_refused_or_read(mut octets in proptest::collection::vec(any::<u8>(), 0..120)) {
            let _ = Ipv6Repr::parse(&octets);
            if let Some(first) = octets.first_mut() {
                *first = 0x60;
            }
            let _ = Ipv6Repr::parse(&octets);
        }
    }

    #[test]
    fn skips_extension_headers() {
        let inner = [17, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3];
        let mut octets = Vec::new();
        Ipv6Repr::new(Ipv6Addr::LOCALHOST, Ipv6Addr::LOCALHOST, 0, &inner).emit(&mut octets);
        let repr = Ipv6Repr::parse(&octets).unwrap();
        assert_eq!((repr.protocol, repr.payload), (17, &[1, 2, 3][..]));
    }
}
