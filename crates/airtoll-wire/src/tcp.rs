//! TCP: takes a segment, gives ports, numbers, flags and payload.
//!
//! Source: RFC 9293 section 3.1. Options are given as octets.

use core::net::IpAddr;

use crate::checksum;
use crate::ipv4::protocol;
use crate::{Error, Result};

const FORMAT: &str = "TCP";

/// Octets of the header without options.
pub const LEN: usize = 20;

/// Flags.
pub mod flag {
    /// No more data.
    pub const FIN: u8 = 1;
    /// Synchronise sequence numbers.
    pub const SYN: u8 = 2;
    /// Reset.
    pub const RST: u8 = 4;
    /// Push.
    pub const PSH: u8 = 8;
    /// The acknowledgement number holds.
    pub const ACK: u8 = 16;
}

/// Header and payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TcpRepr<'a> {
    /// Source port.
    pub source: u16,
    /// Destination port.
    pub destination: u16,
    /// Sequence number.
    pub sequence: u32,
    /// Acknowledgement number.
    pub acknowledgement: u32,
    /// Flags.
    pub flags: u8,
    /// Window, unscaled.
    pub window: u16,
    /// Options, at most 40 octets, a multiple of 4.
    pub options: &'a [u8],
    /// Payload.
    pub payload: &'a [u8],
}

impl<'a> TcpRepr<'a> {
    /// Reads a segment; the checksum is not looked at.
    pub fn parse(octets: &'a [u8]) -> Result<Self> {
        let h = octets
            .first_chunk::<LEN>()
            .ok_or(Error::truncated(FORMAT, LEN, octets.len()))?;
        let header_len = usize::from(h[12] >> 4) * 4;
        if header_len < LEN {
            return Err(Error::malformed(FORMAT, "data offset is below 5"));
        }
        if octets.len() < header_len {
            return Err(Error::truncated(FORMAT, header_len, octets.len()));
        }
        Ok(Self {
            source: u16::from_be_bytes([h[0], h[1]]),
            destination: u16::from_be_bytes([h[2], h[3]]),
            sequence: u32::from_be_bytes([h[4], h[5], h[6], h[7]]),
            acknowledgement: u32::from_be_bytes([h[8], h[9], h[10], h[11]]),
            flags: h[13],
            window: u16::from_be_bytes([h[14], h[15]]),
            options: &octets[LEN..header_len],
            payload: &octets[header_len..],
        })
    }

    /// Octets that [`TcpRepr::emit`] writes.
    pub fn buffer_len(&self) -> usize {
        LEN + self.options.len().min(40).next_multiple_of(4) + self.payload.len()
    }

    /// Appends header and payload with the checksum for these addresses; options are padded to
    /// a multiple of four octets and cut at 40.
    pub fn emit(&self, from: IpAddr, to: IpAddr, out: &mut Vec<u8>) {
        let start = out.len();
        let options = &self.options[..self.options.len().min(40)];
        let words = (LEN + options.len().next_multiple_of(4)) / 4;
        out.extend_from_slice(&self.source.to_be_bytes());
        out.extend_from_slice(&self.destination.to_be_bytes());
        out.extend_from_slice(&self.sequence.to_be_bytes());
        out.extend_from_slice(&self.acknowledgement.to_be_bytes());
        out.extend_from_slice(&[(words as u8) << 4, self.flags]);
        out.extend_from_slice(&self.window.to_be_bytes());
        out.extend_from_slice(&[0; 4]);
        out.extend_from_slice(options);
        out.resize(start + words * 4, 0);
        out.extend_from_slice(self.payload);
        let sum = checksum::transport(from, to, protocol::TCP, &out[start..]);
        out[start + 16..start + 18].copy_from_slice(&sum.to_be_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::net::Ipv6Addr;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn round_trips(source: u16, destination: u16, sequence: u32, acknowledgement: u32, flags: u8, window: u16, words in 0usize..10, payload in proptest::collection::vec(any::<u8>(), 0..64)) {
            let options = vec![1; words * 4];
            let repr = TcpRepr { source, destination, sequence, acknowledgement, flags, window, options: &options, payload: &payload };
            let (from, to) = (Ipv6Addr::LOCALHOST.into(), Ipv6Addr::UNSPECIFIED.into());
            let mut octets = Vec::new();
            repr.emit(from, to, &mut octets);
            prop_assert_eq!(octets.len(), repr.buffer_len());
            prop_assert_eq!(checksum::transport(from, to, protocol::TCP, &octets), 0);
            prop_assert_eq!(TcpRepr::parse(&octets), Ok(repr));
        }

        #[test]
        fn any_octets_are_refused_or_read(octets in proptest::collection::vec(any::<u8>(), 0..80)) {
            let _ = TcpRepr::parse(&octets);
        }
    }
}
