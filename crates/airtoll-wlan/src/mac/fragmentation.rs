//! MAC fragmentation: an MSDU in several MPDUs, sent SIFS apart after one contention
//! (IEEE 802.11-2020, 10.4 and 10.5).
//!
//! All fragments but the last carry the same even number of octets. Each has a MAC header, an FCS
//! and the octets that the cipher adds to an MPDU; TKIP's Michael belongs to the MSDU and is
//! divided with it. The threshold counts header and FCS but not the octets of the cipher. Each
//! fragment is acknowledged and retried separately; the durations in a fragment and its Ack reach
//! to the Ack of the next one. Nothing is fragmented under a block ack agreement or in an A-MSDU.
//! Never sends: `exchange` does.

use super::Mpdu;
use crate::observe::ledger::Octets;

/// Overhead of each MPDU of a link around its fragment of an MSDU, and the largest fragment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Division {
    /// Octets of an MSDU in all fragments but the last; 0: nothing is fragmented.
    pub piece: u32,
    /// MAC header and FCS, octets.
    pub header: u32,
    /// Octets that the cipher adds to each MPDU.
    pub cipher: u32,
}

/// An MSDU that is sent in fragments.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pieces {
    pub(super) count: u32,
    /// The present fragment.
    pub(super) at: u32,
    /// Fragments that its receiver has.
    pub(super) heard: u32,
    /// MSDU with Michael, octets: headers of IP and above, payload, then the octets that security
    /// added.
    whole: Octets,
}

impl Division {
    /// The division under a threshold; `None`: never.
    pub fn new(threshold: Option<u32>, header: u32, cipher: u32) -> Self {
        // A fragment carries at least two octets, and the fragment number has four bits.
        let piece = threshold.map_or(0, |t| (t.saturating_sub(header) / 2 * 2).max(2));
        Self {
            piece,
            header,
            cipher,
        }
    }

    /// How an MSDU of these octets (Michael included, cipher's share of an MPDU left out) is
    /// divided; `None` where it fits in one MPDU.
    pub fn divide(&self, whole: Octets) -> Option<Pieces> {
        let body = whole.total();
        if self.piece == 0 || body <= self.piece {
            return None;
        }
        let count = body.div_ceil(self.piece);
        Some(Pieces {
            count,
            at: 0,
            heard: 0,
            whole,
        })
    }

    /// Length of the MPDU with a fragment, header, FCS and cipher included, and the octets in it.
    pub fn mpdu(&self, pieces: &Pieces, at: u32) -> (u32, Octets) {
        let whole = &pieces.whole;
        let body = whole.total();
        let from = at * self.piece;
        let to = (from + self.piece).min(body);
        let share = |start: u32, length: u32| {
            let end = start + length;
            end.min(to).saturating_sub(start.max(from))
        };
        let data = whole.ip_transport + whole.payload;
        let parts = Octets {
            ip_transport: share(0, whole.ip_transport),
            payload: share(whole.ip_transport, whole.payload),
            security: share(data, whole.security) + self.cipher,
            management: 0,
            mac: share(data + whole.security, whole.mac) + self.header,
        };
        (to - from + self.header + self.cipher, parts)
    }
}

impl Mpdu {
    /// The present fragment of an MPDU arrived; `true` if that makes the MSDU whole.
    #[inline]
    pub(super) fn hear_piece(&mut self) -> bool {
        let Some(pieces) = &mut self.pieces else {
            return true;
        };
        pieces.heard = pieces.heard.max(pieces.at + 1);
        pieces.heard == pieces.count
    }

    /// The present fragment was acknowledged: the next one takes its place. `false` if there is
    /// none.
    #[inline]
    pub(super) fn next_piece(&mut self, division: &Division) -> bool {
        let Some(pieces) = &mut self.pieces else {
            return false;
        };
        if pieces.at + 1 == pieces.count {
            return false;
        }
        pieces.at += 1;
        (self.octets, self.parts) = division.mpdu(pieces, pieces.at);
        self.attempts = 0;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn pieces_are_as_long_as_the_threshold_lets_them() {
        // 1500 octets of IP, 8 of LLC, 8 of Michael; TKIP adds 12 to each MPDU.
        let whole = Octets {
            payload: 1_472,
            ip_transport: 36,
            security: 8,
            mac: 0,
            management: 0,
        };
        let division = Division::new(Some(800), 28, 12);
        let pieces = division.divide(whole).unwrap();
        let lengths: Vec<u32> = (0..pieces.count)
            .map(|at| division.mpdu(&pieces, at).0)
            .collect();
        assert_eq!(lengths, [812, 784]);
        assert!(Division::new(Some(1_544), 28, 12).divide(whole).is_none());
        assert!(Division::new(None, 28, 12).divide(whole).is_none());
    }

    proptest! {
        #[test]
        fn pieces_add_up_to_the_msdu(
            payload in 0_u32..2_300, ip in 8_u32..80, security in 0_u32..60,
            threshold in 256_u32..2_346, cipher in 0_u32..24,
        ) {
            let whole = Octets { payload, ip_transport: ip, security, mac: 0, management: 0 };
            let division = Division::new(Some(threshold), 28, cipher);
            let Some(pieces) = division.divide(whole) else {
                prop_assert!(whole.total() + 28 <= threshold);
                return Ok(());
            };
            let mut sum = Octets::default();
            for at in 0..pieces.count {
                let (octets, parts) = division.mpdu(&pieces, at);
                prop_assert_eq!(octets, parts.total());
                prop_assert!(octets <= threshold + cipher);
                prop_assert!(at + 1 == pieces.count || (octets - 28 - cipher) % 2 == 0);
                sum.add(&parts);
            }
            let around = pieces.count * (28 + cipher);
            prop_assert_eq!(sum.total(), whole.total() + around);
            prop_assert_eq!(sum.payload, payload);
        }
    }
}
