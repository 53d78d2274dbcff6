//! Back-pressure: how the transmit queue of its own host holds a TCP sender back.
//!
//! Takes segments that enter and leave the queue; gives whether the sender has to wait. Knows only the
//! segments of one sender: packets of others in the same queue are not counted.

use std::collections::VecDeque;

use super::back_pressure::{BackPressure, SmallQueues};
use super::sender::Sender;

/// Memory of a buffer with one segment, octets, by the kernel's own estimate (`tcp_sndbuf_expand`):
/// payload, headers (`MAX_TCP_HEADER`, 320) and `skb_shared_info` (320) in a block of a power of
/// two, and `sk_buff` (256).
fn buffer_octets(payload: u64) -> u64 {
    (payload + 640).next_power_of_two() + 256
}

impl SmallQueues {
    /// Octets that a segment of `payload` octets counts.
    fn of(&self, payload: u64) -> u64 {
        if self.buffers {
            buffer_octets(payload)
        } else {
            payload
        }
    }

    /// Whether `octets` below `sender` are beyond the limit.
    fn exceeds(&self, octets: u64, sender: &Sender) -> bool {
        // The share is not needed where every share permits this much.
        let two = 2 * self.of(sender.segment_payload());
        if octets <= two.min(self.octets) {
            return false;
        }
        // The octets exceed one of the two, so they exceed the greater one only with the share.
        octets > self.octets
            || self
                .pacing_shift
                .is_some_and(|shift| sender.paces_below(u128::from(octets) << shift))
    }
}

/// The segments of one sender in the transmit queue of its host.
#[derive(Debug, Clone)]
pub struct LocalQueue {
    rule: BackPressure,
    /// Packets that fit.
    room: u32,
    /// Payload of each segment in it, octets, the oldest first.
    segments: VecDeque<u32>,
    /// Octets that they count.
    octets: u64,
    waiting: bool,
}

impl LocalQueue {
    /// An empty queue of `room` packets; `None` where `rule` never holds the sender back.
    pub fn new(rule: BackPressure, room: u32) -> Option<Self> {
        (rule != BackPressure::None).then(|| Self {
            rule,
            room,
            segments: VecDeque::new(),
            octets: 0,
            waiting: false,
        })
    }

    /// Whether `sender` has to wait; [`Self::left`] tells when it may go on.
    pub fn holds_back(&mut self, sender: &mut Sender) -> bool {
        let no_room = self.segments.len() >= self.room as usize;
        let small = match &self.rule {
            // A lone segment may always be sent.
            BackPressure::SmallQueues(rule) => {
                sender.flight() > sender.segment_payload() && rule.exceeds(self.octets, sender)
            }
            _ => false,
        };
        // Linux's reaction to a refusal is the same with small queues.
        let reduces = !matches!(self.rule, BackPressure::Waits);
        if no_room && !self.waiting && reduces && sender.may_send_new() {
            sender.on_local_congestion();
        }
        let full = no_room || small;
        if full {
            sender.note_held_back();
        }
        self.waiting = full;
        full
    }

    fn counts(&self, payload: u32) -> u64 {
        match &self.rule {
            BackPressure::SmallQueues(rule) => rule.of(u64::from(payload)),
            _ => u64::from(payload),
        }
    }

    /// A segment of `payload` octets enters.
    pub fn entered(&mut self, payload: u32) {
        self.segments.push_back(payload);
        self.octets += self.counts(payload);
    }

    /// The oldest segment left, sent or dropped; gives whether the sender waited for that.
    pub fn left(&mut self) -> bool {
        if let Some(payload) = self.segments.pop_front() {
            self.octets -= self.counts(payload);
        }
        std::mem::take(&mut self.waiting)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transport::{TcpConfig, TcpSystem};
    use airtoll_units::Instant;

    /// Segments that a system sends at once into a queue that takes `room` packets.
    fn burst(system: TcpSystem, room: u32) -> (usize, Sender, LocalQueue) {
        let config = TcpConfig {
            initial_window_segments: 200,
            receive_window: 1 << 20,
            untuned_window: None,
            window_scaling: true,
            ..system.preset().config
        };
        let mut sender = Sender::new(&config);
        let mut queue = LocalQueue::new(config.back_pressure, room).unwrap();
        sender.saturate();
        let mut sent = 0;
        while !queue.holds_back(&mut sender) {
            let Some(segment) = sender.poll_transmit(Instant::ZERO) else {
                break;
            };
            queue.entered(segment.payload);
            sent += 1;
        }
        (sent, sender, queue)
    }

    #[test]
    fn a_full_queue_holds_windows_and_old_linux_back() {
        for (system, reduces) in [(TcpSystem::WindowsXp, false), (TcpSystem::Linux24, true)] {
            let (sent, sender, mut queue) = burst(system, 30);
            assert_eq!(sent, 30, "{system:?}");
            let whole = 200 * sender.segment_payload();
            assert_eq!(sender.congestion_window() < whole, reduces, "{system:?}");
            assert_eq!(sender.flight(), 30 * sender.segment_payload());
            assert!(queue.left() && !queue.left());
        }
    }

    #[test]
    fn linux_3_has_131072_octets_of_buffers_below_a_socket() {
        assert_eq!((buffer_octets(1_448), buffer_octets(512)), (4_352, 2_304));
        // One segment beyond the limit, as the check comes before the segment is counted.
        let (sent, ..) = burst(TcpSystem::Linux3, 500);
        assert_eq!(sent, 131_072 / 4_352 + 1);
    }

    #[test]
    fn a_slow_path_leaves_two_segments_below_the_socket() {
        let (sent, mut sender, mut queue) = burst(TcpSystem::Linux6, 500);
        // Before the first round trip only the upper limit holds.
        assert_eq!(sent, 200);
        let segment = sender.segment_payload();
        let ack = crate::transport::Ack {
            acknowledged: segment,
            window: 1 << 20,
            syn: false,
            echo: Instant::ZERO,
            sent_at: Instant::ZERO,
            sack: crate::transport::SackBlocks::default(),
            header: 32,
        };
        sender.on_ack(Instant::from_nanos(60_000_000_000), &ack);
        let mut left = 0;
        while queue.holds_back(&mut sender) {
            queue.left();
            left += 1;
        }
        assert_eq!(sent - left, 2);
    }

    #[test]
    fn only_a_rule_holds_back() {
        assert!(LocalQueue::new(TcpSystem::Ns3.preset().config.back_pressure, 1).is_none());
    }
}
