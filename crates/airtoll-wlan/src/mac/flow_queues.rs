//! Flow queues of one receiver with CoDel on each (FQ-CoDel, RFC 8290), as Linux's mac80211 has them.
//!
//! Deficit round robin over queues of flows; a flow that begins goes before those that are served in
//! turn. Parameters and order of service are those of Linux 6.1: `fq_tin_enqueue`, `fq_tin_dequeue`,
//! `fq_flow_drop` and `fq_init` in `include/net/fq_impl.h`, `ieee80211_txq_setup_flows` in
//! `net/mac80211/tx.c`. They differ from those of RFC 8290 section 5.2 in the quantum (1514 octets
//! there), in the target (5 ms there) and in the limit, and in that a new queue that becomes empty while there
//! is no old one is forgotten. `rfc8290` holds the text of the RFC beside this. Does not serve receivers in turn:
//! `scheduling` does.

use std::collections::VecDeque;

use airtoll_units::{Duration, Instant};

use super::codel::Codel;
use crate::id::PacketId;

/// Queues among which flows are hashed (`fq_init(fq, 4096)`).
const BUCKETS: u64 = 4096;
/// Octets that a flow may send in one turn (`fq_init`).
pub(super) const QUANTUM: i32 = 300;
/// Standing delay that CoDel accepts (`local->cparams.target`).
const TARGET: Duration = Duration::from_millis(20);
/// Packets that are dropped at once from the longest queue (`fq_flow_drop`).
const BATCH: usize = 32;

/// A packet that waits.
#[derive(Debug, Clone, Copy)]
struct Queued {
    packet: PacketId,
    octets: u32,
    since: Instant,
}

/// The queue of the flows of one bucket.
#[derive(Debug)]
struct Flow {
    bucket: u32,
    packets: VecDeque<Queued>,
    octets: u32,
    /// Octets that it may send before the next flow's turn.
    deficit: i32,
    /// Whether it is in one of the two lists.
    listed: bool,
    codel: Codel,
}

impl Flow {
    fn new(bucket: u32) -> Self {
        Self {
            bucket,
            packets: VecDeque::new(),
            octets: 0,
            deficit: 0,
            listed: false,
            codel: Codel::new(TARGET),
        }
    }

    fn shift(&mut self) -> Option<Queued> {
        let first = self.packets.pop_front()?;
        self.octets -= first.octets;
        Some(first)
    }
}

/// The flow queues of one receiver.
#[derive(Debug, Default)]
pub(super) struct FlowQueues {
    flows: Vec<Flow>,
    /// Flows that began since their queue was last empty.
    new: VecDeque<usize>,
    /// Flows that are served in turn.
    old: VecDeque<usize>,
    packets: usize,
    /// The flow that was served last.
    served: usize,
}

impl FlowQueues {
    /// Puts a packet of `octets` into the queue of the flow that `key` names.
    pub fn push(&mut self, key: u64, packet: PacketId, octets: u32, now: Instant) {
        let bucket = (mix(key) % BUCKETS) as u32;
        let known = self.flows.iter().position(|f| f.bucket == bucket);
        let at = known.unwrap_or_else(|| {
            self.flows.push(Flow::new(bucket));
            self.flows.len() - 1
        });
        let flow = &mut self.flows[at];
        flow.packets.push_back(Queued {
            packet,
            octets,
            since: now,
        });
        flow.octets += octets;
        self.packets += 1;
        if !std::mem::replace(&mut flow.listed, true) {
            flow.deficit = QUANTUM;
            self.new.push_back(at);
        }
    }

    /// Takes the next packet, with the time that it waited; gives those that CoDel drops to
    /// `dropped`.
    pub fn pop(
        &mut self,
        now: Instant,
        mut dropped: impl FnMut(PacketId),
    ) -> Option<(PacketId, Duration)> {
        loop {
            let begins = !self.new.is_empty();
            let list = if begins { &mut self.new } else { &mut self.old };
            let at = *list.front()?;
            let flow = &mut self.flows[at];
            if flow.deficit <= 0 {
                flow.deficit += QUANTUM;
                list.pop_front();
                self.old.push_back(at);
                continue;
            }
            while let Some(first) = flow.shift() {
                self.packets -= 1;
                let sojourn = now - first.since;
                if flow.codel.drops(now, sojourn, !flow.packets.is_empty()) {
                    dropped(first.packet);
                    continue;
                }
                flow.deficit -= first.octets as i32;
                self.served = at;
                return Some((first.packet, sojourn));
            }
            flow.codel.emptied();
            list.pop_front();
            // A flow that ends as a new one waits for the others once, so that it cannot begin
            // again before their turn (RFC 8290 section 4.2).
            if begins && !self.old.is_empty() {
                self.old.push_back(at);
            } else {
                flow.listed = false;
            }
        }
    }

    /// The packet behind the one that was taken last, in the queue of the same flow.
    pub fn following(&self) -> Option<PacketId> {
        let flow = self.flows.get(self.served)?;
        flow.packets.front().map(|q| q.packet)
    }

    /// Takes [`FlowQueues::following`] into the same A-MSDU, which is one packet to CoDel.
    pub fn pop_following(&mut self) -> Option<PacketId> {
        let flow = self.flows.get_mut(self.served)?;
        let next = flow.shift()?;
        self.packets -= 1;
        flow.deficit -= next.octets as i32;
        Some(next.packet)
    }

    /// Octets in the longest queue.
    pub fn longest(&self) -> u32 {
        self.flows.iter().map(|f| f.octets).max().unwrap_or(0)
    }

    /// Drops half of the longest queue from its head, one packet at least and 32 at most.
    pub fn cut_longest(&mut self, mut dropped: impl FnMut(PacketId)) {
        let longest = self.longest();
        let Some(flow) = self.flows.iter_mut().find(|f| f.octets == longest) else {
            return;
        };
        let count = (flow.packets.len() / 2).clamp(1, BATCH);
        for _ in 0..count {
            let Some(first) = flow.shift() else {
                break;
            };
            self.packets -= 1;
            dropped(first.packet);
        }
    }

    /// Whether no packet waits.
    pub fn is_empty(&self) -> bool {
        self.packets == 0
    }

    /// Packets that wait, in an order in which they may leave.
    pub fn waiting(&self) -> impl Iterator<Item = PacketId> {
        let flows = self.new.iter().chain(&self.old);
        flows.flat_map(|at| self.flows[*at].packets.iter().map(|q| q.packet))
    }

    /// Takes all packets, the oldest first.
    pub fn take_all(&mut self) -> Vec<PacketId> {
        let mut all: Vec<Queued> = Vec::with_capacity(self.packets);
        for flow in &mut self.flows {
            flow.octets = 0;
            all.extend(flow.packets.drain(..));
        }
        self.packets = 0;
        all.sort_by_key(|q| q.since);
        all.into_iter().map(|q| q.packet).collect()
    }
}

/// A hash of 64 bits (the finaliser of SplitMix64).
fn mix(key: u64) -> u64 {
    let key = key.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let key = (key ^ (key >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let key = (key ^ (key >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    key ^ (key >> 31)
}

#[cfg(test)]
mod rfc8290;

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::*;

    use super::*;

    const fn ms(n: u64) -> Instant {
        Instant::from_nanos(n * 1_000_000)
    }

    /// Takes all packets of two flows that always have a packet; gives octets served after each.
    fn served(sizes: [u32; 2], turns: usize) -> Vec<[u32; 2]> {
        let mut queues = FlowQueues::default();
        for n in 0..2 * turns as u32 {
            for (flow, octets) in sizes.iter().enumerate() {
                queues.push(
                    flow as u64,
                    PacketId::new(2 * n + flow as u32),
                    *octets,
                    ms(0),
                );
            }
        }
        let mut sums = [0; 2];
        (0..turns)
            .map(|_| {
                let (packet, _) = queues.pop(ms(0), |_| {}).unwrap();
                let flow = packet.index() % 2;
                sums[flow] += sizes[flow];
                sums
            })
            .collect()
    }

    #[test]
    fn flows_get_equal_octets_within_a_quantum_and_a_packet() {
        for sizes in [[1500, 1500], [1500, 100], [64, 1400], [300, 299]] {
            // Shreedhar and Varghese, lemma 2: the service of two backlogged flows differs by less
            // than a quantum and the longest packet of each.
            let bound = QUANTUM as u32 + sizes[0] + sizes[1];
            for [a, b] in served(sizes, 400) {
                assert!(a.abs_diff(b) < bound, "{sizes:?}: {a} {b}");
            }
        }
    }

    #[test]
    fn a_flow_that_begins_goes_before_a_backlog() {
        let mut queues = FlowQueues::default();
        for n in 0..50 {
            queues.push(1, PacketId::new(n), 1500, ms(0));
        }
        let first = queues.pop(ms(1), |_| {}).map(|p| p.0);
        queues.push(2, PacketId::new(99), 64, ms(1));
        let second = queues.pop(ms(2), |_| {}).map(|p| p.0);
        assert_eq!([first, second], [0, 99].map(|n| Some(PacketId::new(n))));
    }

    #[test]
    fn a_flow_that_ended_waits_for_the_others_before_it_begins_again() {
        // Two packets of a short flow, each sent when the one before has left: the backlog is served
        // between them although the short flow is far below its share.
        let mut queues = FlowQueues::default();
        for n in 0..50 {
            queues.push(1, PacketId::new(n), 100, ms(0));
        }
        for _ in 0..3 {
            queues.pop(ms(0), |_| {});
        }
        let mut order = Vec::new();
        for n in 0..6 {
            if n % 2 == 0 {
                queues.push(2, PacketId::new(90 + n), 100, ms(1));
            }
            order.push(queues.pop(ms(1), |_| {}).unwrap().0.number());
        }
        assert_eq!(order[0], 90);
        assert!(order[1] < 50, "{order:?}");
    }

    #[test]
    fn a_standing_queue_is_thinned_and_a_short_flow_beside_it_is_not() {
        let mut queues = FlowQueues::default();
        let mut dropped = Vec::new();
        // One packet of 1 ms per ms comes and leaves, behind 40 that wait from the start.
        for n in 0..40 {
            queues.push(1, PacketId::new(n), 1000, ms(0));
        }
        for n in 0..500 {
            queues.push(1, PacketId::new(1000 + n), 1000, ms(u64::from(n)));
            if n % 20 == 0 {
                queues.push(2, PacketId::new(5000 + n), 64, ms(u64::from(n)));
                queues.pop(ms(u64::from(n)), |p| dropped.push(p));
            }
            queues.pop(ms(u64::from(n) + 1), |p| dropped.push(p));
        }
        assert!(dropped.iter().all(|p| p.number() < 5000));
        // The first drop follows 100 ms above the target; the intervals shrink from then on.
        assert!((3..20).contains(&dropped.len()), "{}", dropped.len());
    }

    #[test]
    fn half_of_the_longest_queue_is_dropped_from_its_head() {
        let mut queues = FlowQueues::default();
        for n in 0..100 {
            queues.push(1, PacketId::new(n), 1000, ms(0));
        }
        for n in 0..150 {
            queues.push(2, PacketId::new(1000 + n), 100, ms(0));
        }
        let mut dropped = Vec::new();
        queues.cut_longest(|p| dropped.push(p.number()));
        assert_eq!(dropped, (0..32).collect::<Vec<_>>());
        assert_eq!(queues.longest(), 68_000);
        assert_eq!(queues.waiting().count(), 218);
    }

    proptest! {
        #[test]
        fn nothing_is_lost_silently_and_flows_keep_their_order(
            steps in prop::collection::vec((0..5_u64, 40..1600_u32, 0..4_u8, 0..30_u64), 1..400)
        ) {
            let mut queues = FlowQueues::default();
            let mut flow_of = HashMap::new();
            let mut last = HashMap::new();
            let (mut gone, mut now) = (Vec::new(), ms(0));
            let mut taken = 0;
            for (n, (flow, octets, pops, wait)) in steps.into_iter().enumerate() {
                now += Duration::from_millis(wait);
                let packet = PacketId::new(n as u32);
                flow_of.insert(packet, flow);
                queues.push(flow, packet, octets, now);
                for k in 0..pops {
                    let next = if k == 2 {
                        queues.pop_following()
                    } else {
                        queues.pop(now, |p| gone.push(p)).map(|p| p.0)
                    };
                    let Some(next) = next else { continue };
                    taken += 1;
                    let flow = flow_of[&next];
                    prop_assert!(last.insert(flow, next).is_none_or(|before| before < next));
                }
                if n % 97 == 96 {
                    queues.cut_longest(|p| gone.push(p));
                }
                prop_assert_eq!(taken + gone.len() + queues.waiting().count(), n + 1);
            }
            let rest = queues.take_all();
            prop_assert_eq!(taken + gone.len() + rest.len(), flow_of.len());
            let next = queues.pop(now, |_| {});
            prop_assert!(queues.is_empty() && next.is_none());
        }
    }
}
