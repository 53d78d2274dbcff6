//! IPv4: takes a datagram, gives its header fields and payload.
//!
//! Source: RFC 791, RFC 2474 (DSCP). Options are skipped when read and never written. A payload
//! that the capture truncated is returned up to its end.

use core::net::Ipv4Addr;

use crate::checksum::Checksum;
use crate::{Error, Result};

const FORMAT: &str = "IPv4";

/// Octets of the header without options.
pub const LEN: usize = 20;

/// Protocol numbers (IANA) that airtoll reads, of IPv4 and IPv6.
pub mod protocol {
    /// ICMP.
    pub const ICMP: u8 = 1;
    /// IPv4 in IP.
    pub const IPIP: u8 = 4;
    /// TCP.
    pub const TCP: u8 = 6;
    /// UDP.
    pub const UDP: u8 = 17;
    /// IPv6 in IP.
    pub const IPV6: u8 = 41;
    /// GRE.
    pub const GRE: u8 = 47;
    /// ESP.
    pub const ESP: u8 = 50;
    /// ICMPv6.
    pub const ICMPV6: u8 = 58;
}

/// Header and payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ipv4Repr<'a> {
    /// DSCP (6 bits) and ECN (2 bits).
    pub traffic_class: u8,
    /// Identification.
    pub identification: u16,
    /// Do not fragment.
    pub dont_fragment: bool,
    /// More fragments follow.
    pub more_fragments: bool,
    /// Offset of this fragment in units of 8 octets, below 8192.
    pub fragment_offset: u16,
    /// Time to live.
    pub ttl: u8,
    /// Protocol of the payload.
    pub protocol: u8,
    /// Source.
    pub source: Ipv4Addr,
    /// Destination.
    pub destination: Ipv4Addr,
    /// Payload without link padding.
    pub payload: &'a [u8],
}

impl<'a> Ipv4Repr<'a> {
    /// A datagram that is no fragment.
    pub const fn new(
        source: Ipv4Addr,
        destination: Ipv4Addr,
        protocol: u8,
        payload: &'a [u8],
    ) -> Self {
        Self {
            traffic_class: 0,
            identification: 0,
            dont_fragment: true,
            more_fragments: false,
            fragment_offset: 0,
            ttl: 64,
            protocol,
            source,
            destination,
            payload,
        }
    }

    /// Reads a datagram. The checksum is not looked at: offloading leaves it wrong on the sender.
    pub fn parse(octets: &'a [u8]) -> Result<Self> {
        let h = octets
            .first_chunk::<LEN>()
            .ok_or(Error::truncated(FORMAT, LEN, octets.len()))?;
        if h[0] >> 4 != 4 {
            return Err(Error::malformed(FORMAT, "version is not 4"));
        }
        let header_len = usize::from(h[0] & 15) * 4;
        if header_len < LEN {
            return Err(Error::malformed(FORMAT, "header length is below 20 octets"));
        }
        let total = match usize::from(u16::from_be_bytes([h[2], h[3]])) {
            // Segmentation offload leaves 0 there (Linux, Windows): the frame's end then holds.
            0 => octets.len(),
            total => total,
        };
        if total < header_len {
            return Err(Error::malformed(
                FORMAT,
                "total length is below the header's",
            ));
        }
        if octets.len() < header_len {
            return Err(Error::truncated(FORMAT, header_len, octets.len()));
        }
        let fragment = u16::from_be_bytes([h[6], h[7]]);
        Ok(Self {
            traffic_class: h[1],
            identification: u16::from_be_bytes([h[4], h[5]]),
            dont_fragment: fragment & 0x4000 != 0,
            more_fragments: fragment & 0x2000 != 0,
            fragment_offset: fragment & 0x1fff,
            ttl: h[8],
            protocol: h[9],
            source: Ipv4Addr::new(h[12], h[13], h[14], h[15]),
            destination: Ipv4Addr::new(h[16], h[17], h[18], h[19]),
            payload: &octets[header_len..total.min(octets.len())],
        })
    }

    /// Whether this is a fragment of a larger datagram.
    pub const fn is_fragment(&self) -> bool {
        self.more_fragments || self.fragment_offset != 0
    }

    /// Octets that [`Ipv4Repr::emit`] writes.
    pub const fn buffer_len(&self) -> usize {
        LEN + self.payload.len()
    }

    /// Appends header (with checksum) and payload.
    pub fn emit(&self, out: &mut Vec<u8>) {
        let start = out.len();
        let total = self.buffer_len().min(65535) as u16;
        let flags = u16::from(self.dont_fragment) << 14 | u16::from(self.more_fragments) << 13;
        out.extend_from_slice(&[0x45, self.traffic_class]);
        out.extend_from_slice(&total.to_be_bytes());
        out.extend_from_slice(&self.identification.to_be_bytes());
        out.extend_from_slice(&(flags | self.fragment_offset & 0x1fff).to_be_bytes());
        out.extend_from_slice(&[self.ttl, self.protocol, 0, 0]);
        out.extend_from_slice(&self.source.octets());
        out.extend_from_slice(&self.destination.octets());
        let mut sum = Checksum::default();
        sum.add(&out[start..]);
        out[start + 10..start + 12].copy_from_slice(&sum.finish().to_be_bytes());
        out.extend_from_slice(self.payload);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn round_trips(tc: u8, id: u16, df: bool, mf: bool, offset in 0u16..8192, ttl: u8, protocol: u8, a: [u8; 4], b: [u8; 4], payload in proptest::collection::vec(any::<u8>(), 0..64), padding in 0usize..30) {
            let repr = Ipv4Repr {
                traffic_class: tc, identification: id, dont_fragment: df, more_fragments: mf,
                fragment_offset: offset, ttl, protocol, source: a.into(), destination: b.into(), payload: &payload,
            };
            let mut octets = Vec::new();
            repr.emit(&mut octets);
            prop_assert_eq!(octets.len(), repr.buffer_len());
            let mut sum = Checksum::default();
            sum.add(&octets[..20]);
            prop_assert_eq!(sum.finish(), 0);
            octets.resize(octets.len() + padding, 0);
            prop_assert_eq!(Ipv4Repr::parse(&octets), Ok(repr));
        }

        #[test]
        fn any_octets_are_refused_or_read(octets in proptest::collection::vec(any::<u8>(), 0..80)) {
            let _ = Ipv4Repr::parse(&octets);
        }
    }
}
