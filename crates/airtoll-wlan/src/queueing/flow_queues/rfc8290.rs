//! FQ-CoDel a second time, as an oracle for [`super::FlowQueues`]: the scheduler of RFC 8290 section 4, and CoDel in the
//! form of its authors' pseudocode (RFC 8289), which takes packets in a loop and does not judge them one by one.
//!
//! Takes the same arrivals and departures; gives the packets that leave and those that are dropped.
//! Quantum, target and limit are those of Linux, of mac80211 and of its queue discipline: the RFC leaves them to the
//! system. Rules of Linux that differ from the text are marked. Shares no code with the parent.

use std::collections::{BTreeMap, VecDeque};

use proptest::prelude::*;

use super::{Cut, FlowQueues, FlowRules, PacketId, Spared};
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

    fn take(&mut self, now_ns: u64, rules: &FlowRules, elsewhere: u64) -> Head {
        let packet = self.packets.pop_front();
        let mut ok_to_drop = false;
        match packet {
            None => self.first_above_ns = 0,
            Some(p) => {
                let below = now_ns - p.enqueued_ns < rules.target.as_nanos();
                // The RFC compares the octets of the queue with the largest packet. Linux's discipline compares those of
                // all queues; mac80211 leaves `mtu` at 0.
                let few = match rules.spared {
                    Spared::LastOfFlow => self.octets() == 0,
                    Spared::Last(mtu) => self.octets() + elsewhere <= u64::from(mtu),
                };
                if below || few {
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
    fn dequeue(
        &mut self,
        now_ns: u64,
        rules: &FlowRules,
        elsewhere: u64,
        dropped: &mut Vec<u32>,
    ) -> Option<Packet> {
        let mut head = self.take(now_ns, rules, elsewhere);
        if self.dropping {
            if !head.ok_to_drop {
                self.dropping = false;
            }
            while self.dropping && now_ns >= self.drop_next_ns {
                dropped.extend(head.packet.map(|p| p.number));
                self.count += 1;
                head = self.take(now_ns, rules, elsewhere);
                if head.ok_to_drop {
                    self.drop_next_ns = Self::after(self.drop_next_ns, self.count);
                } else {
                    self.dropping = false;
                }
            }
        } else if head.ok_to_drop {
            dropped.extend(head.packet.map(|p| p.number));
            head = self.take(now_ns, rules, elsewhere);
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
    /// and 64 at most in the RFC. Linux's discipline drops half of its octets, and makes CoDel drop sooner.
    fn drop_from_largest(&mut self, rules: &FlowRules, dropped: &mut Vec<u32>) {
        let largest = self.queues.values().map(Queue::octets).max().unwrap_or(0);
        let found = self.queues.values_mut().find(|q| q.octets() == largest);
        if let Some(queue) = found.filter(|q| !q.packets.is_empty()) {
            let number = match rules.cut {
                Cut::Packets(most) => (queue.packets.len() / 2).clamp(1, most),
                Cut::Octets(most) => {
                    let before = |n: &usize| {
                        let first = queue.packets.iter().take(*n);
                        first.map(|p| p.octets).sum::<u64>() >= largest / 2
                    };
                    let number = (1..=most.min(queue.packets.len())).find(before);
                    let number = number.unwrap_or(most.min(queue.packets.len()));
                    queue.count += number as u64;
                    number
                }
            };
            dropped.extend(queue.packets.drain(..number).map(|p| p.number));
        }
    }

    /// Section 4.2.
    fn dequeue(
        &mut self,
        now_ns: u64,
        rules: &FlowRules,
        dropped: &mut Vec<u32>,
    ) -> Option<Packet> {
        let quantum = i64::from(rules.quantum);
        loop {
            let all: u64 = self.queues.values().map(Queue::octets).sum();
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
            let elsewhere = all - queue.octets();
            if let Some(packet) = queue.dequeue(now_ns, rules, elsewhere, dropped) {
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
    fn packets_leave_and_are_dropped_as_rfc_8290_says(steps in steps(), wired in any::<bool>()) {
        let rules = if wired { &FlowRules::DISCIPLINE } else { &FlowRules::MAC80211 };
        let quantum = i64::from(rules.quantum);
        let (mut ours, mut oracle) = (FlowQueues::new(rules), Oracle::default());
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
                let other = oracle.dequeue(now_ns, rules, &mut drops);
                let one = one.map(|(p, wait)| (p.number(), wait.as_nanos()));
                prop_assert_eq!(one, other.map(|p| (p.number, now_ns - p.enqueued_ns)));
                prop_assert_eq!(&our_drops, &drops);
            }
            // Of queues that are equally long the two may choose different ones.
            let lengths: Vec<u64> = oracle.queues.values().map(Queue::octets).collect();
            let largest = lengths.iter().max();
            if at % 61 == 60 && lengths.iter().filter(|l| Some(*l) == largest).count() == 1 {
                ours.cut_longest(|p| our_drops.push(p.number()));
                oracle.drop_from_largest(rules, &mut drops);
                prop_assert_eq!(&our_drops, &drops);
            }
        }
    }
}

#[test]
fn long_standing_queues_of_three_flows_are_thinned_equally() {
    for rules in [&FlowRules::MAC80211, &FlowRules::DISCIPLINE] {
        thinned_equally(rules);
    }
}

fn thinned_equally(rules: &'static FlowRules) {
    // A minute of overload: every episode of CoDel is long, and drops decide which flow is next.
    let quantum = i64::from(rules.quantum);
    let (mut ours, mut oracle) = (FlowQueues::new(rules), Oracle::default());
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
            let other = oracle.dequeue(now_ns, rules, &mut drops);
            assert_eq!(one, other.map(|p| p.number));
        }
    }
    assert_eq!(our_drops, drops);
    assert!(drops.len() > 100, "{}", drops.len());
}
