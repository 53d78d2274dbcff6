//! ICMP and ICMPv6: takes a message, gives type, code, the four octets after the checksum and
//! the rest.
//!
//! Source: RFC 792, RFC 4443. Never interprets a quoted datagram.

use core::net::Ipv6Addr;

use crate::checksum::{self, Checksum};
use crate::ipv4::protocol;
use crate::{Error, Result};

const FORMAT: &str = "ICMP";

/// Octets of the header.
pub const LEN: usize = 8;

/// Message types.
pub mod kind {
    /// ICMP echo reply.
    pub const ECHO_REPLY: u8 = 0;
    /// ICMP echo.
    pub const ECHO: u8 = 8;
    /// ICMPv6 echo request.
    pub const ECHO_V6: u8 = 128;
    /// ICMPv6 echo reply.
    pub const ECHO_REPLY_V6: u8 = 129;
}

/// A message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IcmpRepr<'a> {
    /// Type.
    pub kind: u8,
    /// Code.
    pub code: u8,
    /// Identifier (of echoes), or the first half of the type's field.
    pub identifier: u16,
    /// Sequence number (of echoes), or the second half.
    pub sequence: u16,
    /// The rest of the message.
    pub payload: &'a [u8],
}

impl<'a> IcmpRepr<'a> {
    /// Reads a message; the checksum is not looked at.
    pub fn parse(octets: &'a [u8]) -> Result<Self> {
        match octets {
            [kind, code, _, _, a, b, c, d, payload @ ..] => Ok(Self {
                kind: *kind,
                code: *code,
                identifier: u16::from_be_bytes([*a, *b]),
                sequence: u16::from_be_bytes([*c, *d]),
                payload,
            }),
            _ => Err(Error::truncated(FORMAT, LEN, octets.len())),
        }
    }

    /// Octets that emitting writes.
    pub const fn buffer_len(&self) -> usize {
        LEN + self.payload.len()
    }

    /// Appends an ICMP message (IPv4) with its checksum.
    pub fn emit(&self, out: &mut Vec<u8>) {
        let start = self.emit_plain(out);
        let mut sum = Checksum::default();
        sum.add(&out[start..]);
        out[start + 2..start + 4].copy_from_slice(&sum.finish().to_be_bytes());
    }

    /// Appends an ICMPv6 message with the checksum for these addresses.
    pub fn emit_v6(&self, from: Ipv6Addr, to: Ipv6Addr, out: &mut Vec<u8>) {
        let start = self.emit_plain(out);
        let sum = checksum::transport(from.into(), to.into(), protocol::ICMPV6, &out[start..]);
        out[start + 2..start + 4].copy_from_slice(&sum.to_be_bytes());
    }

    fn emit_plain(&self, out: &mut Vec<u8>) -> usize {
        let start = out.len();
        out.extend_from_slice(&[self.kind, self.code, 0, 0]);
        out.extend_from_slice(&self.identifier.to_be_bytes());
        out.extend_from_slice(&self.sequence.to_be_bytes());
        out.extend_from_slice(self.payload);
        start
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn round_trips(kind: u8, code: u8, identifier: u16, sequence: u16, payload in proptest::collection::vec(any::<u8>(), 0..64)) {
            let repr = IcmpRepr { kind, code, identifier, sequence, payload: &payload };
            let mut octets = Vec::new();
            repr.emit(&mut octets);
            let mut sum = Checksum::default();
            sum.add(&octets);
            prop_assert_eq!(sum.finish(), 0);
            prop_assert_eq!(IcmpRepr::parse(&octets), Ok(repr));
            let (from, to) = (Ipv6Addr::LOCALHOST, Ipv6Addr::UNSPECIFIED);
            octets.clear();
            repr.emit_v6(from, to, &mut octets);
            prop_assert_eq!(octets.len(), repr.buffer_len());
            prop_assert_eq!(checksum::transport(from.into(), to.into(), 58, &octets), 0);
        }

        #[test]
        fn any_octets_are_refused_or_read(octets in proptest::collection::vec(any::<u8>(), 0..32)) {
            let _ = IcmpRepr::parse(&octets);
        }
    }
}
