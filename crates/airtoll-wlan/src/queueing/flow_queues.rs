//! Flow queues with CoDel on each (FQ-CoDel, RFC 8290), as Linux has them twice: mac80211 for each receiver of a
//! radio, and the queue discipline `fq_codel` for a wired interface.
//!
//! Deficit round robin over queues of flows; a flow that begins goes before those that are served in
//! turn. Parameters and order of service are those of Linux 6.1: of mac80211 `fq_tin_enqueue`, `fq_tin_dequeue`,
//! `fq_flow_drop` and `fq_init` in `include/net/fq_impl.h`, `ieee80211_txq_setup_flows` in
//! `net/mac80211/tx.c`; of the discipline `net/sched/sch_fq_codel.c`, which has those of RFC 8290 section 5.2. Both
//! forget a new queue that becomes empty while there is no old one. `rfc8290` holds the text of the RFC beside
//! this. Does not serve receivers in turn: `scheduling` does. Does not mark (ECN).

use std::collections::VecDeque;

use airtoll_units::{Duration, Instant};

use super::codel::Codel;
use crate::id::PacketId;

/// Octets of an Ethernet header, which the discipline of a wired interface counts.
pub(crate) const ETHERNET_HEADER: u32 = 14;

/// Parameters of one of the two.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct FlowRules {
    /// Queues among which flows are hashed.
    buckets: u64,
    /// Octets that a flow may send in one turn.
    quantum: i32,
    /// Standing delay that CoDel accepts.
    target: Duration,
    /// How many packets leave the longest queue where all are too long.
    cut: Cut,
    /// CoDel drops nothing where no more octets wait.
    spared: Spared,
}

/// How the longest queue is cut from its head, by one packet at least.
#[derive(Debug, PartialEq, Eq)]
enum Cut {
    /// By half of its packets, at most so many.
    Packets(usize),
    /// By half of its octets, at most so many packets.
    Octets(usize),
}

/// Packets that CoDel does not drop.
#[derive(Debug, PartialEq, Eq)]
enum Spared {
    /// The last one of a flow: mac80211 leaves `mtu` of CoDel at 0.
    LastOfFlow,
    /// One behind which no more than so many octets wait in all queues (`psched_mtu`).
    Last(u32),
}

impl FlowRules {
    /// Those of mac80211: `fq_init(fq, 4096)` with its quantum, `local->cparams.target`, `fq_flow_drop`.
    pub const MAC80211: Self = Self {
        buckets: 4096,
        quantum: 300,
        target: Duration::from_millis(20),
        cut: Cut::Packets(32),
        spared: Spared::LastOfFlow,
    };

    /// Those of `fq_codel` (`fq_codel_init`, `fq_codel_drop`) on an interface with an MTU of 1500 octets.
    pub const DISCIPLINE: Self = Self {
        buckets: 1024,
        quantum: 1514,
        target: Duration::from_millis(5),
        cut: Cut::Octets(64),
        spared: Spared::Last(1514),
    };
}

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
    fn new(bucket: u32, target: Duration) -> Self {
        Self {
            bucket,
            packets: VecDeque::new(),
            octets: 0,
            deficit: 0,
            listed: false,
            codel: Codel::new(target),
        }
    }

    fn shift(&mut self) -> Option<Queued> {
        let first = self.packets.pop_front()?;
        self.octets -= first.octets;
        Some(first)
    }
}

/// The flow queues of one receiver, or of a wire.
#[derive(Debug)]
pub(crate) struct FlowQueues {
    rules: &'static FlowRules,
    flows: Vec<Flow>,
    /// Flows that began since their queue was last empty.
    new: VecDeque<usize>,
    /// Flows that are served in turn.
    old: VecDeque<usize>,
    packets: usize,
    octets: u64,
    /// The flow that was served last.
    served: usize,
}

impl FlowQueues {
    /// Empty queues.
    pub fn new(rules: &'static FlowRules) -> Self {
        Self {
            rules,
            flows: Vec::new(),
            new: VecDeque::new(),
            old: VecDeque::new(),
            packets: 0,
            octets: 0,
            served: 0,
        }
    }

    /// Puts a packet of `octets` into the queue of the flow that `key` names.
    pub fn push(&mut self, key: u64, packet: PacketId, octets: u32, now: Instant) {
        let bucket = (mix(key) % self.rules.buckets) as u32;
        let known = self.flows.iter().position(|f| f.bucket == bucket);
        let at = known.unwrap_or_else(|| {
            self.flows.push(Flow::new(bucket, self.rules.target));
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
        self.octets += u64::from(octets);
        if !std::mem::replace(&mut flow.listed, true) {
            flow.deficit = self.rules.quantum;
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
                flow.deficit += self.rules.quantum;
                list.pop_front();
                self.old.push_back(at);
                continue;
            }
            while let Some(first) = flow.shift() {
                self.packets -= 1;
                self.octets -= u64::from(first.octets);
                let sojourn = now - first.since;
                let backlog = match self.rules.spared {
                    Spared::LastOfFlow => !flow.packets.is_empty(),
                    Spared::Last(octets) => self.octets > u64::from(octets),
                };
                if flow.codel.drops(now, sojourn, backlog) {
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
        self.octets -= u64::from(next.octets);
        flow.deficit -= next.octets as i32;
        Some(next.packet)
    }

    /// Octets in the longest queue.
    pub fn longest(&self) -> u32 {
        self.flows.iter().map(|f| f.octets).max().unwrap_or(0)
    }

    /// Drops half of the longest queue from its head, one packet at least.
    pub fn cut_longest(&mut self, mut dropped: impl FnMut(PacketId)) {
        let longest = self.longest();
        let Some(flow) = self.flows.iter_mut().find(|f| f.octets == longest) else {
            return;
        };
        let (most, octets) = match self.rules.cut {
            Cut::Packets(most) => ((flow.packets.len() / 2).clamp(1, most), u32::MAX),
            Cut::Octets(most) => (most, longest / 2),
        };
        let mut cut = 0;
        for at in 0..most {
            if at > 0 && cut >= octets {
                break;
            }
            let Some(first) = flow.shift() else {
                break;
            };
            cut += first.octets;
            self.packets -= 1;
            self.octets -= u64::from(first.octets);
            dropped(first.packet);
            if let Cut::Octets(_) = self.rules.cut {
                flow.codel.strengthen(1);
            }
        }
    }

    /// Packets that wait.
    pub fn len(&self) -> usize {
        self.packets
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
        self.octets = 0;
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
        let mut queues = FlowQueues::new(&FlowRules::MAC80211);
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
            let bound = FlowRules::MAC80211.quantum as u32 + sizes[0] + sizes[1];
            for [a, b] in served(sizes, 400) {
                assert!(a.abs_diff(b) < bound, "{sizes:?}: {a} {b}");
            }
        }
    }

    #[test]
    fn a_flow_that_begins_goes_before_a_backlog() {
        let mut queues = FlowQueues::new(&FlowRules::MAC80211);
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
        let mut queues = FlowQueues::new(&FlowRules::MAC80211);
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
        let mut queues = FlowQueues::new(&FlowRules::MAC80211);
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
        let mut queues = FlowQueues::new(&FlowRules::MAC80211);
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

    #[test]
    fn the_discipline_cuts_half_of_the_octets() {
        let mut queues = FlowQueues::new(&FlowRules::DISCIPLINE);
        // Ten long packets and ten short ones: 15,640 octets, of which five packets are 7,570 and six 9,084.
        for n in 0..20 {
            let octets = if n < 10 { 1514 } else { 50 };
            queues.push(1, PacketId::new(n), octets, ms(0));
        }
        let mut dropped = Vec::new();
        queues.cut_longest(|p| dropped.push(p.number()));
        assert_eq!(dropped, (0..6).collect::<Vec<_>>());
        assert_eq!((queues.longest(), queues.len()), (6_556, 14));
    }

    #[test]
    fn codel_spares_a_last_packet_of_a_flow_or_of_the_wire() {
        // Three packets of 1000 octets that wait for 10 s. The first one begins an interval of 100 ms. When it is over
        // 1000 octets wait behind the second: too few for the discipline, enough for mac80211.
        for (rules, drops) in [(&FlowRules::DISCIPLINE, 0), (&FlowRules::MAC80211, 1)] {
            let mut queues = FlowQueues::new(rules);
            for n in 0..3 {
                queues.push(1, PacketId::new(n), 1000, ms(0));
            }
            let mut dropped = 0;
            for at in [10_000, 10_200] {
                queues.pop(ms(at), |_| dropped += 1);
            }
            assert_eq!(dropped, drops);
            assert_eq!(queues.len(), 1 - drops);
        }
    }

    proptest! {
        #[test]
        fn nothing_is_lost_silently_and_flows_keep_their_order(
            steps in prop::collection::vec((0..5_u64, 40..1600_u32, 0..4_u8, 0..30_u64), 1..400)
        ) {
            let mut queues = FlowQueues::new(&FlowRules::MAC80211);
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
