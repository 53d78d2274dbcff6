//! A-MSDU: takes a decrypted body, gives its subframes.
//!
//! Source: IEEE 802.11-2020 clause 9.3.2.2.2: DA, SA, length, MSDU, padding to four octets but
//! after the last. A subframe that says more octets than there are ends the list.

use crate::MacAddress;

/// One MSDU of an aggregate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Subframe<'a> {
    /// Destination.
    pub destination: MacAddress,
    /// Source.
    pub source: MacAddress,
    /// The MSDU, which begins with LLC.
    pub msdu: &'a [u8],
}

/// Iterates over subframes.
#[derive(Debug, Clone)]
pub struct Subframes<'a> {
    rest: &'a [u8],
}

impl<'a> Subframes<'a> {
    /// Starts at the first subframe.
    pub const fn new(body: &'a [u8]) -> Self {
        Self { rest: body }
    }

    /// The octets that are no subframe (after iterating).
    pub const fn rest(&self) -> &'a [u8] {
        self.rest
    }
}

impl<'a> Iterator for Subframes<'a> {
    type Item = Subframe<'a>;

    fn next(&mut self) -> Option<Subframe<'a>> {
        let header = self.rest.first_chunk::<14>()?;
        let len = usize::from(u16::from_be_bytes([header[12], header[13]]));
        let msdu = self.rest.get(14..14 + len)?;
        let subframe = Subframe {
            destination: MacAddress::from_slice(&header[..6]).ok()?,
            source: MacAddress::from_slice(&header[6..12]).ok()?,
            msdu,
        };
        let padded = (14 + len).next_multiple_of(4).min(self.rest.len());
        self.rest = &self.rest[padded..];
        Some(subframe)
    }
}

/// Appends subframes with their padding; MSDUs above 65535 octets are cut.
pub fn emit(subframes: &[Subframe<'_>], out: &mut Vec<u8>) {
    let start = out.len();
    for (index, subframe) in subframes.iter().enumerate() {
        if index > 0 {
            let padded = start + (out.len() - start).next_multiple_of(4);
            out.resize(padded, 0);
        }
        let msdu = &subframe.msdu[..subframe.msdu.len().min(65535)];
        out.extend_from_slice(&subframe.destination.0);
        out.extend_from_slice(&subframe.source.0);
        out.extend_from_slice(&(msdu.len() as u16).to_be_bytes());
        out.extend_from_slice(msdu);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn round_trips(list in proptest::collection::vec((any::<[u8; 6]>(), any::<[u8; 6]>(), proptest::collection::vec(any::<u8>(), 0..100)), 1..6)) {
            let subframes: Vec<_> = list.iter().map(|(da, sa, msdu)| Subframe {
                destination: MacAddress(*da), source: MacAddress(*sa), msdu,
            }).collect();
            let mut octets = Vec::new();
            emit(&subframes, &mut octets);
            let read: Vec<_> = Subframes::new(&octets).collect();
            prop_assert_eq!(read, subframes);
        }

        #[test]
        fn any_octets_end(octets in proptest::collection::vec(any::<u8>(), 0..300)) {
            let mut subframes = Subframes::new(&octets);
            while subframes.next().is_some() {}
            prop_assert!(subframes.rest().len() <= octets.len());
        }
    }
}
