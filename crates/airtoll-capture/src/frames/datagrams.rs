//! Datagrams out of IP fragments: takes the fragments of a wire, gives the payload with the one
//! that completes it.
//!
//! Source: RFC 791 clause 3.2. RADIUS with EAP-TLS in it is often longer than a wire's MTU.
//! Bounded; pieces that overlap in part are refused. Never reads a clock: an identification that
//! comes again with another total begins anew.

use std::collections::BTreeMap;

use airtoll_wire::ipv4::Ipv4Repr;
use rustc_hash::FxHashMap;

/// Most datagrams whose fragments are kept at a time.
const MAX_PARTIAL: usize = 256;
/// Most octets of a datagram.
const MAX_DATAGRAM: usize = 65_535;

/// Datagrams that wait for a fragment.
#[derive(Debug, Default)]
pub(super) struct Datagrams {
    partial: FxHashMap<(u32, u32, u16, u8), Partial>,
}

#[derive(Debug, Default)]
struct Partial {
    pieces: BTreeMap<usize, Vec<u8>>,
    len: Option<usize>,
}

impl Datagrams {
    /// Takes a fragment.
    pub(super) fn join(&mut self, ip: &Ipv4Repr<'_>) -> Option<Vec<u8>> {
        let offset = usize::from(ip.fragment_offset) * 8;
        let end = offset + ip.payload.len();
        if end > MAX_DATAGRAM || ip.payload.is_empty() {
            return None;
        }
        let key = (
            ip.source.to_bits(),
            ip.destination.to_bits(),
            ip.identification,
            ip.protocol,
        );
        if self.partial.len() >= MAX_PARTIAL && !self.partial.contains_key(&key) {
            self.partial.clear();
        }
        let partial = self.partial.entry(key).or_default();
        if !ip.more_fragments {
            if partial.len.is_some_and(|len| len != end) {
                partial.pieces.clear();
            }
            partial.len = Some(end);
        }
        partial.pieces.insert(offset, ip.payload.to_vec());
        let whole = partial.whole()?;
        self.partial.remove(&key);
        Some(whole)
    }
}

impl Partial {
    fn whole(&self) -> Option<Vec<u8>> {
        let len = self.len?;
        let mut octets = Vec::new();
        for (offset, piece) in &self.pieces {
            if *offset != octets.len() {
                return None;
            }
            octets.extend_from_slice(piece);
        }
        (octets.len() == len).then_some(octets)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn fragment(payload: &[u8], offset: u16, more_fragments: bool) -> Ipv4Repr<'_> {
        Ipv4Repr {
            fragment_offset: offset,
            more_fragments,
            dont_fragment: false,
            ..Ipv4Repr::new([10, 0, 0, 1].into(), [10, 0, 0, 2].into(), 17, payload)
        }
    }

    proptest! {
        #[test]
        fn any_order_gives_the_datagram_with_the_last_piece(
            order in Just(vec![0usize, 1, 2, 3]).prop_shuffle(),
            tail in 1usize..8,
        ) {
            let octets: Vec<u8> = (0..24 + tail).map(|octet| octet as u8).collect();
            let mut datagrams = Datagrams::default();
            for (position, number) in order.iter().enumerate() {
                let end = (number * 8 + 8).min(octets.len());
                let piece = &octets[number * 8..end];
                let whole = datagrams.join(&fragment(piece, *number as u16, *number < 3));
                prop_assert_eq!(whole.is_some(), position == 3);
                if let Some(whole) = whole {
                    prop_assert_eq!(&whole, &octets);
                }
            }
        }

        #[test]
        fn any_fragments_are_taken(list in proptest::collection::vec((proptest::collection::vec(any::<u8>(), 0..40), 0u16..8192, any::<bool>()), 0..40)) {
            let mut datagrams = Datagrams::default();
            for (payload, offset, more) in &list {
                let _ = datagrams.join(&fragment(payload, *offset, *more));
            }
        }
    }
}
