//! Replays: takes the packet numbers of opened frames, says which of them a receiver refuses.
//!
//! Source: IEEE 802.11-2020 clauses 12.5.2.6 (TKIP), 12.5.3.4.4 (CCMP), 12.5.5.4.4 (GCMP): one
//! counter for each transmitter, key and priority. A sniffer hears frames out of order, so a
//! number counts as a replay only if it was there before or is older than the window; a frame
//! with the retry bit is told apart by its sequence number and never counts. WEP has no packet
//! numbers. Never closes a frame: a MIC that fits is proof of its content.

use airtoll_security::CipherSuite;
use airtoll_wire::MacAddress;
use airtoll_wire::ieee80211::{Frame, Kind};
use rustc_hash::FxHashMap;

use super::keyring::MAX_ENTRIES;

/// Priority of frames that have none; management frames have a counter of their own.
const NO_PRIORITY: u8 = 0;
const MANAGEMENT: u8 = 16;

/// The packet numbers of all transmitters.
#[derive(Debug, Default)]
pub struct Replays {
    windows: FxHashMap<(u64, u64, u8), Window>,
    tag: u32,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Window {
    /// Which key the numbers belong to.
    tag: u32,
    highest: u64,
    /// Bit n: `highest - n` was there.
    seen: u64,
}

impl Replays {
    /// Remembers the key that opened the frame at hand.
    pub(super) const fn opened_with(&mut self, tag: u32) {
        self.tag = tag;
    }

    /// Enters an opened frame; `tag` is its key's, or `None` for the one that was remembered.
    pub(crate) fn is_replay(
        &mut self,
        frame: &Frame<'_>,
        suite: CipherSuite,
        packet_number: u64,
        tag: Option<u32>,
    ) -> bool {
        let tag = tag.unwrap_or(self.tag);
        let (Some(from), Some(to)) = (frame.transmitter(), frame.receiver()) else {
            return false;
        };
        if matches!(suite, CipherSuite::Wep40 | CipherSuite::Wep104) || frame.control().retry() {
            return false;
        }
        let priority = match frame.control().kind() {
            Kind::Management => MANAGEMENT,
            _ => frame
                .qos_control()
                .map_or(NO_PRIORITY, |qos| (qos & 15) as u8),
        };
        let key = (from.to_u64(), receiver(to), priority);
        if self.windows.len() >= MAX_ENTRIES && !self.windows.contains_key(&key) {
            return false;
        }
        let window = self.windows.entry(key).or_default();
        if window.tag != tag || window.seen == 0 {
            *window = Window {
                tag,
                highest: packet_number,
                seen: 1,
            };
            return false;
        }
        window.enter(packet_number)
    }
}

impl Window {
    fn enter(&mut self, number: u64) -> bool {
        if number > self.highest {
            let step = number - self.highest;
            self.seen = self.seen.checked_shl(step.min(64) as u32).unwrap_or(0) | 1;
            self.highest = number;
            return false;
        }
        let age = self.highest - number;
        if age >= 64 {
            return true;
        }
        let there = self.seen >> age & 1 == 1;
        self.seen |= 1 << age;
        there
    }
}

/// All groups of a transmitter share their key's counter.
fn receiver(address: MacAddress) -> u64 {
    if address.is_group() {
        0
    } else {
        address.to_u64()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_number_counts_once_and_old_ones_are_refused() {
        let mut window = Window {
            tag: 1,
            highest: 100,
            seen: 1,
        };
        assert!(window.enter(100));
        assert!(!window.enter(99));
        assert!(window.enter(99));
        assert!(!window.enter(164));
        assert!(window.enter(100));
        assert!(!window.enter(101));
    }

    proptest! {
        #[test]
        fn fresh_numbers_within_the_window_pass_in_any_order(
            numbers in Just((1u64..=60).collect::<Vec<_>>()).prop_shuffle(),
        ) {
            let mut window = Window { tag: 0, highest: numbers[0], seen: 1 };
            for number in &numbers[1..] {
                prop_assert!(!window.enter(*number));
            }
            for number in &numbers {
                prop_assert!(window.enter(*number));
            }
        }
    }
}
