//! FQ-CoDel a second time, as an oracle for [`super::FlowQueues`]: the scheduler of RFC 8290 section 4, and CoDel in the
//! form of its authors' pseudocode (RFC 8289), which takes packets in a loop and does not judge them one by one.
//!
//! Takes the same arrivals and departures; gives the packets that leave and those that are dropped.
//! Quantum, target and limit are those of Linux: the RFC leaves them to the system. Two rules of Linux that
//! differ from the text are marked. Shares no code with the parent.

use std::collections::{BTreeMap, VecDeque};

use proptest::prelude::*;

use super::{FlowQueues, PacketId, QUANTUM, TARGET};
use airtoll_units::{Duration, Instant};

/// INTERVAL of RFC 8289, nanoseconds.
const INTERVAL_NS: u64 = 100_000_000;

#[derive(Clone, Copy)]
struct Packet {
    number: u32,
    octets: u64,
    enqueued_ns: u64,
}

/// Variables of RFC 8289 section 5, one set for each queue.
#[derive(Default)]
struct Queue {
    packets: VecDeque<Packet>,
    credits: i64,
    active: bool,
    first_above_ns: u64,
    drop_next_ns: u64,
    count: u64,
    last_count: u64,
    dropping: bool,
}

/// Result of `dodequeue` (RFC 8289 section 5).
struct Head {
    packet: Option<Packet>,
    ok_to_drop: bool,
}

impl Queue {
    fn octets(&self) -> u64 {
        self.packets.iter().map(|p| p.octets).sum()
    }

    fn take(&mut self, now_ns: u64, target_ns: u64) -> Head {
        let packet = self.packets.pop_front();
        let mut ok_to_drop = false;
        match packet {
            None => self.first_above_ns = 0,
            Some(p) => {
                let below = now_ns - p.enqueued_ns < target_ns;
                // The RFC compares with the largest packet; Linux's mac80211 leaves `mtu` at 0.
                if below || self.octets() == 0 {
                    self.first_above_ns = 0;
                } else if self.first_above_ns == 0 {
                    self.first_above_ns = now_ns + INTERVAL_NS;
                } else {
                    ok_to_drop = now_ns >= self.first_above_ns;
                }
            }
        }
        Head { packet, ok_to_drop }
    }

    fn after(from_ns: u64, count: u64) -> u64 {
        from_ns + (INTERVAL_NS as f64 / (count as f64).sqrt()) as u64
    }

    /// `deque` of RFC 8289 section 5.
    fn dequeue(&mut self, now_ns: u64, target_ns: u64, dropped: &mut Vec<u32>) -> Option<Packet> {
        let mut head = self.take(now_ns, target_ns);
        if self.dropping {
            if !head.ok_to_drop {
                self.dropping = false;
            }
            while self.dropping && now_ns >= self.drop_next_ns {
                dropped.extend(head.packet.map(|p| p.number));
                self.count += 1;
                head = self.take(now_ns, target_ns);
                if head.ok_to_drop {
                    self.drop_next_ns = Self::after(self.drop_next_ns, self.count);
                } else {
                    self.dropping = false;
                }
            }
        } else if head.ok_to_drop {
            dropped.extend(head.packet.map(|p| p.number));
            head = self.take(now_ns, target_ns);
            self.dropping = true;
            let delta = self.count - self.last_count;
            let soon = now_ns < self.drop_next_ns + 16 * INTERVAL_NS;
            self.count = if delta > 1 && soon { delta } else { 1 };
            self.drop_next_ns = Self::after(now_ns, self.count);
            self.last_count = self.count;
        }
        head.packet
    }
}

/// The scheduler of RFC 8290 section 4.
#[derive(Default)]
struct Oracle {
    queues: BTreeMap<u64, Queue>,
    new: VecDeque<u64>,
    old: VecDeque<u64>,
}

impl Oracle {
    /// Section 4.1.
    fn enqueue(&mut self, flow: u64, packet: Packet, quantum: i64) {
        let queue = self.queues.entry(flow).or_default();
        queue.packets.push_back(packet);
        if !queue.active {
            queue.active = true;
            queue.credits = quantum;
            self.new.push_back(flow);
        }
    }

    /// Section 4.1, overload: drops from the head of the queue with the most octets, half of its packets
    /// and 64 at most in the RFC; `most` here.
    fn drop_from_largest(&mut self, most: usize, dropped: &mut Vec<u32>) {
        let largest = self.queues.values().map(Queue::octets).max().unwrap_or(0);
        let found = self.queues.values_mut().find(|q| q.octets() == largest);
        if let Some(queue) = found.filter(|q| !q.packets.is_empty()) {
            let number = (queue.packets.len() / 2).clamp(1, most);
            dropped.extend(queue.packets.drain(..number).map(|p| p.number));
        }
    }

    /// Section 4.2.
    fn dequeue(&mut self, now: (u64, u64), quantum: i64, dropped: &mut Vec<u32>) -> Option<Packet> {
        let (now_ns, target_ns) = now;
        loop {
            let from_new = !self.new.is_empty();
            let list = if from_new {
                &mut self.new
            } else {
                &mut self.old
            };
            let flow = list.pop_front()?;
            let queue = self.queues.get_mut(&flow)?;
            if queue.credits <= 0 {
                queue.credits += quantum;
                self.old.push_back(flow);
                continue;
            }
            if let Some(packet) = queue.dequeue(now_ns, target_ns, dropped) {
                queue.credits -= packet.octets as i64;
                // The queue stays at the head of its list.
                let list = if from_new {
                    &mut self.new
                } else {
                    &mut self.old
                };
                list.push_front(flow);
                return Some(packet);
            }
            // The RFC puts a new queue that is empty among the old ones in any case. Linux forgets it where
            // there are none (`fq_tin_dequeue` in include/net/fq_impl.h of Linux 6.1).
            if from_new && !self.old.is_empty() {
                self.old.push_back(flow);
            } else {
                queue.active = false;
            }
        }
    }
}

/// Flows whose queues differ, largest queue first found in both implementations.
const FLOWS: u64 = 6;

/// Arrivals of a step: flow, octets, number of packets. Then so many packets leave, so much later.
type Step = ((u64, u32, u8), u8, u32);

fn steps() -> impl Strategy<Value = Vec<Step>> {
    // Long waits end CoDel's episodes, short ones make them long.
    let wait = prop_oneof![6 => 0..6_000_u32, 3 => 6_000..60_000_u32, 1 => 60_000..3_000_000_u32];
    prop::collection::vec(((0..FLOWS, 40..1_600_u32, 0..7_u8), 0..6_u8, wait), 1..600)
}

proptest! {
    #[test]
    fn packets_leave_and_are_dropped_as_rfc_8290_says(steps in steps()) {
        let (quantum, target) = (i64::from(QUANTUM), TARGET.as_nanos());
        let (mut ours, mut oracle) = (FlowQueues::default(), Oracle::default());
        let (mut our_drops, mut drops) = (Vec::new(), Vec::new());
        let (mut now_ns, mut number) = (1, 0);
        for (at, ((flow, octets, packets), departures, wait_us)) in steps.into_iter().enumerate() {
            now_ns += u64::from(wait_us) * 1_000;
            let now = Instant::ZERO + Duration::from_nanos(now_ns);
            for _ in 0..packets {
                ours.push(flow, PacketId::new(number), octets, now);
                let packet = Packet { number, octets: u64::from(octets), enqueued_ns: now_ns };
                oracle.enqueue(flow, packet, quantum);
                number += 1;
            }
            for _ in 0..departures {
                let one = ours.pop(now, |p| our_drops.push(p.number()));
                let other = oracle.dequeue((now_ns, target), quantum, &mut drops);
                let one = one.map(|(p, wait)| (p.number(), wait.as_nanos()));
                prop_assert_eq!(one, other.map(|p| (p.number, now_ns - p.enqueued_ns)));
                prop_assert_eq!(&our_drops, &drops);
            }
            // Of queues that are equally long the two may choose different ones.
            let lengths: Vec<u64> = oracle.queues.values().map(Queue::octets).collect();
            let largest = lengths.iter().max();
            if at % 61 == 60 && lengths.iter().filter(|l| Some(*l) == largest).count() == 1 {
                ours.cut_longest(|p| our_drops.push(p.number()));
                oracle.drop_from_largest(super::BATCH, &mut drops);
                prop_assert_eq!(&our_drops, &drops);
            }
        }
    }
}

#[test]
fn long_standing_queues_of_three_flows_are_thinned_equally() {
    // A minute of overload: every episode of CoDel is long, and drops decide which flow is next.
    let (quantum, target) = (i64::from(QUANTUM), TARGET.as_nanos());
    let (mut ours, mut oracle) = (FlowQueues::default(), Oracle::default());
    let (mut our_drops, mut drops) = (Vec::new(), Vec::new());
    for number in 0..60_000_u32 {
        let now_ns = 1 + u64::from(number) * 1_000_000;
        let now = Instant::ZERO + Duration::from_nanos(now_ns);
        let (flow, octets) = [(0, 1500), (1, 700), (2, 64)][number as usize % 3];
        // The load falls below the service for a second in ten.
        if number % 10_000 < 9_000 {
            ours.push(flow, PacketId::new(number), octets, now);
            let packet = Packet {
                number,
                octets: u64::from(octets),
                enqueued_ns: now_ns,
            };
            oracle.enqueue(flow, packet, quantum);
        }
        if number % 8 != 0 {
            let one = ours
                .pop(now, |p| our_drops.push(p.number()))
                .map(|(p, _)| p.number());
            let other = oracle.dequeue((now_ns, target), quantum, &mut drops);
            assert_eq!(one, other.map(|p| p.number));
        }
    }
    assert_eq!(our_drops, drops);
    assert!(drops.len() > 100, "{}", drops.len());
}
