//! Replays: takes the packet numbers of opened frames, says which of them a receiver refuses.
//!
//! Source: IEEE 802.11-2020 clauses 12.5.2.6 (TKIP), 12.5.3.4.4 (CCMP), 12.5.5.4.4 (GCMP): one
//! counter for each transmitter, key and priority. A sniffer hears frames out of order, so a
//! number counts as a replay only if it was there before or is older than the window. A receiver puts
//! QoS data of a block ack agreement into the order of their sequence numbers before it looks at packet
//! numbers (clause 10.25.6): one that is lower than that of a frame with a lower sequence number is out
//! of order, and refused. Other frames have sequence numbers that do not count for each receiver and
//! TID, so that they tell no order. A frame with the retry bit never counts. WEP has no packet numbers. Never
//! closes a frame: a MIC that fits is proof of its content.

use airtoll_security::CipherSuite;
use airtoll_wire::MacAddress;
use airtoll_wire::ieee80211::{Frame, Kind};
use rustc_hash::FxHashMap;

use super::MAX_ENTRIES;

/// Priority of frames that have none; management frames have a counter of their own.
const NO_PRIORITY: u8 = 0;
const MANAGEMENT: u8 = 16;

/// The packet numbers of all transmitters.
#[derive(Debug, Default)]
pub struct Replays {
    windows: FxHashMap<(u64, u64, u8), Window>,
    tag: u32,
}

/// Verdict of a receiver on a packet number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// It takes the frame.
    Fresh,
    /// It refuses the frame: the number was there before, or is too old.
    Replay,
    /// It refuses the frame: the number is new, and below one that came before it in sequence.
    OutOfOrder,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Window {
    /// Which key the numbers belong to.
    tag: u32,
    highest: u64,
    /// Sequence number of the frame with `highest`, if that tells the order.
    sequence: Option<u16>,
    /// Bit n: `highest - n` was there.
    seen: u64,
}

impl Replays {
    /// Remembers the key that opened the frame at hand.
    pub(in crate::decrypt) const fn opened_with(&mut self, tag: u32) {
        self.tag = tag;
    }

    /// Enters an opened frame; `tag` is its key's, or `None` for the one that was remembered.
    pub(crate) fn verdict(
        &mut self,
        frame: &Frame<'_>,
        suite: CipherSuite,
        packet_number: u64,
        tag: Option<u32>,
    ) -> Verdict {
        let tag = tag.unwrap_or(self.tag);
        let (Some(from), Some(to)) = (frame.transmitter(), frame.receiver()) else {
            return Verdict::Fresh;
        };
        if matches!(suite, CipherSuite::Wep40 | CipherSuite::Wep104) || frame.control().retry() {
            return Verdict::Fresh;
        }
        let qos = frame.qos_control();
        let priority = match frame.control().kind() {
            Kind::Management => MANAGEMENT,
            _ => qos.map_or(NO_PRIORITY, |qos| (qos & 15) as u8),
        };
        let key = (from.to_u64(), receiver(to), priority);
        if self.windows.len() >= MAX_ENTRIES && !self.windows.contains_key(&key) {
            return Verdict::Fresh;
        }
        let sequence = qos
            .filter(|_| !to.is_group())
            .and_then(|_| frame.sequence_number());
        let window = self.windows.entry(key).or_default();
        if window.tag != tag || window.seen == 0 {
            *window = Window {
                tag,
                highest: packet_number,
                sequence,
                seen: 1,
            };
            return Verdict::Fresh;
        }
        window.enter(packet_number, sequence)
    }
}

/// Sequence numbers have twelve bits.
const SEQUENCES: u16 = 1 << 12;
/// Frames further apart in sequence than this are not compared: the sniffer missed too many.
const COMPARED: u16 = 64;

impl Window {
    fn enter(&mut self, number: u64, sequence: Option<u16>) -> Verdict {
        // How far the frame is ahead of the one with the highest number, in sequence.
        let ahead = sequence
            .zip(self.sequence)
            .map(|(own, of_highest)| own.wrapping_sub(of_highest) % SEQUENCES);
        if number > self.highest {
            let step = number - self.highest;
            let behind = ahead.map(|ahead| (SEQUENCES - ahead) % SEQUENCES);
            let early = behind.is_some_and(|behind| (1..COMPARED).contains(&behind)) && step < 64;
            self.seen = self.seen.checked_shl(step.min(64) as u32).unwrap_or(0) | 1;
            self.highest = number;
            self.sequence = sequence;
            return if early {
                Verdict::OutOfOrder
            } else {
                Verdict::Fresh
            };
        }
        let age = self.highest - number;
        if age >= 64 {
            return Verdict::Replay;
        }
        let there = self.seen >> age & 1 == 1;
        self.seen |= 1 << age;
        if there {
            Verdict::Replay
        } else if ahead.is_some_and(|ahead| (1..COMPARED).contains(&ahead)) {
            Verdict::OutOfOrder
        } else {
            Verdict::Fresh
        }
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

    fn window(highest: u64) -> Window {
        Window {
            tag: 1,
            highest,
            sequence: Some(highest as u16 % SEQUENCES),
            seen: 1,
        }
    }

    /// A frame whose sequence number grows with its packet number.
    fn enter(window: &mut Window, number: u64) -> Verdict {
        window.enter(number, Some(number as u16 % SEQUENCES))
    }

    #[test]
    fn a_number_counts_once_and_old_ones_are_refused() {
        let mut window = window(100);
        let verdicts = [100, 99, 99, 164, 100, 101].map(|number| enter(&mut window, number));
        let [fresh, replay] = [Verdict::Fresh, Verdict::Replay];
        assert_eq!(verdicts, [replay, fresh, replay, fresh, replay, fresh]);
    }

    #[test]
    fn a_number_below_that_of_an_earlier_frame_is_out_of_order() {
        // Sequence and packet number: the driver numbered two frames the wrong way round.
        let mut window = window(100);
        assert_eq!(window.enter(102, Some(101)), Verdict::Fresh);
        assert_eq!(window.enter(101, Some(102)), Verdict::OutOfOrder);
        assert_eq!(window.enter(103, Some(103)), Verdict::Fresh);
        // The same two, heard the other way round.
        assert_eq!(window.enter(104, Some(105)), Verdict::Fresh);
        assert_eq!(window.enter(105, Some(104)), Verdict::OutOfOrder);
        // A frame whose sequence number tells no order.
        assert_eq!(window.enter(107, None), Verdict::Fresh);
        assert_eq!(window.enter(106, Some(106)), Verdict::Fresh);
    }

    proptest! {
        #[test]
        fn fresh_numbers_within_the_window_pass_in_any_order(
            numbers in Just((1u64..=60).collect::<Vec<_>>()).prop_shuffle(),
        ) {
            let mut window = window(numbers[0]);
            for number in &numbers[1..] {
                prop_assert_eq!(enter(&mut window, *number), Verdict::Fresh);
            }
            for number in &numbers {
                prop_assert_eq!(enter(&mut window, *number), Verdict::Replay);
            }
        }
    }
}
