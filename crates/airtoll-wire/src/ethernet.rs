//! Ethernet: takes a frame without FCS, gives addresses, EtherType (through 802.1Q tags) and
//! payload.
//!
//! Source: IEEE 802.3-2018 clause 3.1, IEEE 802.1Q clause 9. A type below 0x0600 is a length: LLC
//! follows.

use crate::llc::{self, SnapRepr, ethertype};
use crate::{Error, MacAddress, Result};

const FORMAT: &str = "Ethernet";

/// Octets of the header without tags.
pub const LEN: usize = 14;

/// Header and payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EthernetRepr<'a> {
    /// Destination.
    pub destination: MacAddress,
    /// Source.
    pub source: MacAddress,
    /// EtherType, after tags and LLC/SNAP; 0 for LLC without SNAP.
    pub ethertype: u16,
    /// Payload, with padding if the frame was short.
    pub payload: &'a [u8],
}

impl<'a> EthernetRepr<'a> {
    /// Reads a frame.
    pub fn parse(octets: &'a [u8]) -> Result<Self> {
        if octets.len() < LEN {
            return Err(Error::truncated(FORMAT, LEN, octets.len()));
        }
        let mut at = 12;
        let read = |at: usize| {
            octets
                .get(at..at + 2)
                .map(|two| u16::from_be_bytes([two[0], two[1]]))
                .ok_or(Error::truncated(FORMAT, at + 2, octets.len()))
        };
        let mut kind = read(at)?;
        while matches!(kind, ethertype::VLAN | 0x88a8 | 0x9100) {
            at += 4;
            kind = read(at)?;
        }
        let mut payload = &octets[at + 2..];
        if kind < 0x0600 {
            payload = &payload[..payload.len().min(usize::from(kind))];
            kind = 0;
            if let Ok(snap) = SnapRepr::parse(payload)
                && snap.is_ethertype()
            {
                kind = snap.ethertype;
                payload = &payload[llc::LEN..];
            }
        }
        Ok(Self {
            destination: MacAddress::from_slice(&octets[..6])?,
            source: MacAddress::from_slice(&octets[6..12])?,
            ethertype: kind,
            payload,
        })
    }

    /// Octets that [`EthernetRepr::emit`] writes.
    pub const fn buffer_len(&self) -> usize {
        LEN + self.payload.len()
    }

    /// Appends an untagged frame without padding.
    pub fn emit(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.destination.0);
        out.extend_from_slice(&self.source.0);
        out.extend_from_slice(&self.ethertype.to_be_bytes());
        out.extend_from_slice(self.payload);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn round_trips(a: [u8; 6], b: [u8; 6], kind in 0x0600u16.., payload in proptest::collection::vec(any::<u8>(), 0..64)) {
            prop_assume!(!matches!(kind, ethertype::VLAN | 0x88a8 | 0x9100));
            let repr = EthernetRepr { destination: MacAddress(a), source: MacAddress(b), ethertype: kind, payload: &payload };
            let mut octets = Vec::new();
            repr.emit(&mut octets);
            prop_assert_eq!(octets.len(), repr.buffer_len());
            prop_assert_eq!(EthernetRepr::parse(&octets), Ok(repr));
        }

        #[test]
        fn any_octets_are_refused_or_read(octets in proptest::collection::vec(any::<u8>(), 0..64)) {
            let _ = EthernetRepr::parse(&octets);
        }
    }

    #[test]
    fn sees_through_tags_and_snap() {
        let mut octets = vec![1; 12];
        octets.extend_from_slice(&[0x81, 0, 0, 5, 0, 10, 0xaa, 0xaa, 3, 0, 0, 0, 8, 0, 7, 7, 9]);
        let repr = EthernetRepr::parse(&octets).unwrap();
        assert_eq!((repr.ethertype, repr.payload), (0x0800, &[7, 7][..]));
    }
}
