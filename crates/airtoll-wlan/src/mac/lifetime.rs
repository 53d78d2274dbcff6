//! MSDU lifetime: what waited too long is dropped instead of being sent (again).
//!
//! A timer runs from the arrival of an MSDU in the queue (IEEE 802.11-2020, 10.3.4.5 and
//! 10.23.2.12.1, dot11MaxTransmitMSDULifetime and dot11EDCATableMSDULifetime). It is looked at
//! when a packet comes into the queue, when an exchange ends and when a contender has won the
//! medium and chooses its frames, as ns-3 does; a frame on the air is never cut
//! off. Where a frame that was already sent under a block ack agreement is dropped, a BlockAckReq
//! tells its receiver not to wait for it (10.25.6.3). Never decides what is sent: `aggregation`
//! does.

use std::collections::VecDeque;

use airtoll_units::{Duration, Instant};

use crate::packet::{NONE as NO_PACKET, PacketId};
use crate::world::World;

/// Longer than any trial.
pub(crate) const NONE: Duration = Duration::from_secs(u64::MAX / 2_000_000_000);

/// When the packets of a queue came in that a saturated application keeps full.
///
/// Such an application puts another packet in whenever one leaves, sent or dropped. Only the
/// packets near the head are really made; of the others their arrivals are enough.
#[derive(Debug, Clone)]
pub(crate) struct Backlog {
    /// Instants of arrival, never decreasing, and how many packets arrived at each.
    arrivals: VecDeque<(Instant, u32)>,
}

impl Backlog {
    /// A queue of `packets`, filled at `start`.
    pub fn new(packets: u32, start: Instant) -> Self {
        Self {
            arrivals: VecDeque::from([(start, packets.max(1))]),
        }
    }

    /// The packet at the head leaves the queue at `now` and another one enters; gives the arrival
    /// of the first.
    pub fn turn(&mut self, now: Instant, lifetime: Duration) -> Instant {
        while let Some(&(arrival, count)) = self.arrivals.front() {
            if arrival >= now || now - arrival <= lifetime {
                break;
            }
            self.arrivals.pop_front();
            self.enter(arrival + lifetime, count);
        }
        let Some((arrival, count)) = self.arrivals.front_mut() else {
            return now;
        };
        let first = *arrival;
        *count -= 1;
        if *count == 0 {
            self.arrivals.pop_front();
        }
        self.enter(now, 1);
        first.min(now)
    }

    fn enter(&mut self, at: Instant, count: u32) {
        match self.arrivals.back_mut() {
            Some((last, n)) if *last >= at => *n += count,
            _ => self.arrivals.push_back((at, count)),
        }
    }
}

impl World {
    /// When the packet that leaves the head of its queue came in.
    #[inline]
    pub(crate) fn queued_since(&mut self, packet: PacketId, lifetime: Duration) -> Instant {
        let now = self.stack.lower.cx.events.now();
        let p = &self.stack.lower.cx.packets[packet];
        let (flow, left) = (p.flow as usize, p.left);
        // A message of a negotiation has no flow.
        match self
            .stack
            .flow
            .flows
            .get_mut(flow)
            .and_then(|f| f.backlog.as_mut())
        {
            Some(backlog) => backlog.turn(now, lifetime),
            None => left,
        }
    }

    /// The MSDU lifetime at a contender's node.
    #[inline]
    pub(crate) fn lifetime_of(&self, contender: u32) -> Duration {
        let node = self.stack.lower.mac.contenders[contender as usize].node;
        self.stack.lower.mac.nodes[node as usize].lifetime
    }

    /// Whether packets come into a link's queue as soon as others leave it.
    pub(crate) fn kept_full(&self, link: u32) -> bool {
        let first = self.stack.lower.mac.links[link as usize].window.front();
        let flow = first.and_then(|m| self.stack.flow.flows.get(m.held.0 as usize));
        flow.is_some_and(|f| f.backlog.is_some())
    }

    /// Drops the MPDUs of a link that have waited too long at `now`; its BlockAckReq becomes due
    /// where one of them was sent before.
    pub(crate) fn discard_expired(&mut self, contender: u32, link: u32, now: Instant) {
        let lifetime = self.lifetime_of(contender);
        let mut dropped = false;
        for at in 0..self.stack.lower.mac.links[link as usize].window.len() {
            let mpdu = self.stack.lower.mac.links[link as usize].window[at];
            if mpdu.acknowledged || mpdu.in_flight {
                continue;
            }
            if now - mpdu.since <= lifetime {
                break;
            }
            dropped = true;
            let state = &mut self.stack.lower.mac.links[link as usize];
            state.request_due |= state.agreement && mpdu.attempts > 0;
            self.give_up(link, at);
        }
        if !dropped {
            return;
        }
        self.deliver_in_sequence(link);
        self.shrink_window(contender, link);
        let state = &self.stack.lower.mac.links[link as usize];
        let left = state.request_due || state.window.iter().any(|m| !m.acknowledged);
        self.stack.lower.mac.queues[contender as usize].unfinished = left.then_some(link);
    }

    /// Drops what a node has for another, messages of negotiations aside; what is on the air goes on.
    pub(crate) fn flush(&mut self, from: u32, to: u32) {
        for packet in self.take_back(from, to) {
            self.lose(packet);
        }
    }

    /// Takes what a node has for another out of its queues, the oldest first; messages of
    /// negotiations and what is on the air stay.
    pub(crate) fn take_back(&mut self, from: u32, to: u32) -> Vec<PacketId> {
        let state = &self.stack.lower.mac.nodes[from as usize];
        let several = state.contenders[0] != state.contenders[1];
        let rows = if several { 4 } else { 1 };
        let links: Vec<(u32, u32)> = (0..rows)
            .flat_map(|category: u8| {
                let contender = state.contenders[usize::from(category)];
                let of = move |n| (state.link(n, category), contender);
                (0..state.neighbours).map(of)
            })
            .filter(|(link, _)| self.stack.lower.mac.links[*link as usize].peer == to)
            .collect();
        let mut taken = Vec::new();
        for (link, contender) in links {
            self.empty(link, contender, &mut taken);
        }
        taken
    }

    fn empty(&mut self, link: u32, contender: u32, taken: &mut Vec<PacketId>) {
        let in_turn = self.in_turn(contender);
        let (links, queues) = (
            &mut self.stack.lower.mac.links,
            &mut self.stack.lower.mac.queues,
        );
        let (state, queue) = (&mut links[link as usize], &mut queues[contender as usize]);
        for mpdu in &mut state.window {
            if mpdu.acknowledged || mpdu.in_flight {
                continue;
            }
            mpdu.acknowledged = true;
            if std::mem::replace(&mut mpdu.received, true) {
                continue;
            }
            mpdu.delivered = true;
            let mut packet = mpdu.head;
            while packet != NO_PACKET {
                taken.push(packet);
                packet =
                    std::mem::replace(&mut self.stack.lower.cx.packets[packet].next, NO_PACKET);
            }
        }
        while let Some(packet) = state.queue.pop_front() {
            queue.packets -= 1;
            // As where packets are taken to be sent.
            if !in_turn && queue.order.front() == Some(&link) {
                queue.order.pop_front();
            } else if !in_turn {
                state.taken_early += 1;
            }
            taken.push(packet);
        }
        state.request_due = false;
        self.deliver_in_sequence(link);
        self.shrink_window(contender, link);
        let mut window = self.stack.lower.mac.links[link as usize].window.iter();
        let left = window.any(|m| !m.acknowledged);
        let queue = &mut self.stack.lower.mac.queues[contender as usize];
        if queue.unfinished == Some(link) && !left {
            queue.unfinished = None;
        }
    }

    /// Stops trying to send an MPDU; its receiver stops waiting for it.
    pub(crate) fn give_up(&mut self, link: u32, at: usize) {
        let mpdu = &mut self.stack.lower.mac.links[link as usize].window[at];
        mpdu.acknowledged = true;
        if mpdu.received {
            return;
        }
        mpdu.received = true;
        mpdu.delivered = true;
        let mut packet = mpdu.head;
        while packet != NO_PACKET {
            let next = self.stack.lower.cx.packets[packet].next;
            self.lose(packet);
            packet = next;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(n: u64) -> Instant {
        Instant::from_nanos(n * 1_000_000)
    }

    #[test]
    fn a_full_queue_is_as_old_as_it_is_long() {
        let lifetime = Duration::from_millis(500);
        let mut backlog = Backlog::new(10, ms(0));
        let mut left = Vec::new();
        for n in 1..=30 {
            left.push(backlog.turn(ms(n), lifetime));
        }
        assert_eq!(left[..10], [ms(0); 10]);
        // The eleventh came in when the first left.
        assert_eq!(left[10..12], [ms(1), ms(2)]);
    }

    #[test]
    fn nothing_leaves_the_queue_older_than_its_lifetime() {
        let lifetime = Duration::from_millis(500);
        let mut backlog = Backlog::new(500, ms(0));
        for n in 1..=300 {
            let since = backlog.turn(ms(10 * n), lifetime);
            assert!(ms(10 * n) - since <= lifetime);
            // Slower than the queue is long, so its head is about to be dropped.
            assert!(n < 51 || ms(10 * n) - since >= Duration::from_millis(489));
        }
        let queued: u32 = backlog.arrivals.iter().map(|a| a.1).sum();
        assert_eq!(queued, 500);
        // Memory does not follow the number of drops.
        assert!(backlog.arrivals.len() < 60);
    }
}
