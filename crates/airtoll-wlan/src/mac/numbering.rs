//! Packet numbers that frames get before a queue that changes their order.
//!
//! A driver that prepares frames for the cipher and queues them afterwards numbers them in the order
//! of their arrival. The receiver takes frames with rising packet numbers alone, for each TID (IEEE
//! 802.11-2020, 12.5.3.4.4 for CCMP, 12.5.5.4.4 for GCMP, 12.5.2.6 for TKIP), and looks at them in the
//! order of sequence numbers. Each link has one access category, and so one replay counter.

use airtoll_security::CipherSuite;

use crate::id::{LinkId, PacketId};
use crate::mac::Mac;

/// Packet numbers of a link.
#[derive(Debug, Default)]
pub(super) struct PacketNumbers {
    /// Number of each packet that has one, by the packet's place.
    given: Vec<u64>,
    last: u64,
    /// Replay counter of the receiver.
    received: u64,
}

impl PacketNumbers {
    /// A packet comes into the queue.
    pub fn give(&mut self, packet: PacketId) {
        self.last += 1;
        let at = packet.index();
        if self.given.len() <= at {
            self.given.resize(at + 1, 0);
        }
        self.given[at] = self.last;
    }

    /// The packet number of an MPDU whose first packet this is; 0: none.
    pub fn of(&self, head: PacketId) -> u64 {
        self.given.get(head.index()).copied().unwrap_or(0)
    }

    /// Whether the receiver takes the MPDU whose first packet this is; otherwise it is a replay.
    pub fn accepts(&mut self, head: PacketId) -> bool {
        let number = self.of(head);
        let rises = number > self.received;
        if rises {
            self.received = number;
        }
        rises
    }
}

/// Whether receivers of a cipher compare packet numbers: WEP's IV has no order.
pub(super) fn has_replay_counter(cipher: CipherSuite) -> bool {
    !matches!(
        cipher,
        CipherSuite::Open | CipherSuite::Wep40 | CipherSuite::Wep104
    )
}

impl Mac {
    /// Whether packet numbers of any link are given before its queue.
    pub fn numbers_early(&self) -> bool {
        self.links.iter().any(|link| link.numbers.is_some())
    }

    /// The packet number of an MPDU that got it before the queue, by its first packet; `None` where
    /// numbers follow the order of transmission.
    pub fn early_number(&self, link: LinkId, head: PacketId) -> Option<u64> {
        let numbers = self.links[link].numbers.as_ref()?;
        Some(numbers.of(head)).filter(|number| *number > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_at_or_below_the_last_one_is_a_replay() {
        let mut numbers = PacketNumbers::default();
        let packets = [0, 1, 2, 3].map(PacketId::new);
        for packet in packets {
            numbers.give(packet);
        }
        let taken = [0, 2, 1, 2, 3].map(|at| numbers.accepts(packets[at]));
        assert_eq!(taken, [true, true, false, false, true]);
        // A place that is used again has a new number.
        numbers.give(packets[0]);
        assert!(numbers.accepts(packets[0]));
    }
}
