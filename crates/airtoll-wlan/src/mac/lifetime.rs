//! MSDU lifetime: packets that waited too long are dropped instead of being sent (again).
//!
//! A timer runs from the arrival of an MSDU in the queue (IEEE 802.11-2020, 10.3.4.5 and
//! 10.23.2.12.1, dot11MaxTransmitMSDULifetime and dot11EDCATableMSDULifetime). It is checked
//! when a packet comes into the queue, when an exchange ends and when a contender has won the
//! medium and chooses its frames, as ns-3 does; a frame on the air is never cut
//! off. Where a frame that was already sent under a block ack agreement is dropped, a BlockAckReq
//! tells its receiver not to wait for it (10.25.6.3). Chooses no frames: `aggregation` does.

use airtoll_units::{Duration, Instant};

use super::link::{Agreement, Request};
use super::{Mac, Mpdu};
use crate::context::Context;
use crate::id::{ContenderId, FlowId, LinkId, PacketId};
use crate::packet::Loss;
use crate::ring::Ring;

/// Longer than any trial.
pub(crate) const NONE: Duration = Duration::from_secs(u64::MAX / 2_000_000_000);

/// Arrival times of the packets in a queue that a saturated application keeps full.
///
/// Such an application puts another packet in whenever one leaves, sent or dropped. Only the
/// packets near the head are made; of the others only the arrival times are kept.
#[derive(Debug, Clone)]
pub(crate) struct Backlog {
    /// Instants of arrival, never decreasing, and how many packets arrived at each.
    arrivals: Ring<(Instant, u32)>,
}

impl Backlog {
    /// A queue of `packets`, filled at `start`.
    pub fn new(packets: u32, start: Instant) -> Self {
        let mut arrivals = Ring::default();
        arrivals.push_back((start, packets.max(1)));
        Self { arrivals }
    }

    /// The queue was filled at `start` only.
    pub fn refill(&mut self, start: Instant) {
        let packets = self.arrivals.iter().map(|(_, count)| count).sum();
        *self = Self::new(packets, start);
    }

    /// The packet at the head leaves the queue at `now` and another one enters; gives the arrival
    /// of the first.
    #[inline]
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

impl Mac {
    /// When the packet that leaves the head of its queue at `now` came in; the host was done with it at
    /// `left`.
    #[inline]
    pub(super) fn queued_since(
        &mut self,
        now: Instant,
        flow: Option<FlowId>,
        left: Instant,
        lifetime: Duration,
    ) -> Instant {
        if !self.backlogs.is_empty()
            && let Some(flow) = flow
            && let Some(Some(backlog)) = self.backlogs.get_mut(flow)
        {
            return backlog.turn(now, lifetime);
        }
        left
    }

    /// The MSDU lifetime at a contender's node.
    #[inline]
    pub(super) fn lifetime_of(&self, contender: ContenderId) -> Duration {
        let node = &self.nodes[self.contenders[contender].node];
        if node.stopped {
            Duration::ZERO
        } else {
            node.lifetime
        }
    }

    /// Why packets of a contender are dropped whose lifetime is over.
    #[cold]
    pub(super) fn expiry(&self, contender: ContenderId) -> Loss {
        let node = &self.nodes[self.contenders[contender].node];
        if node.stopped {
            Loss::Away
        } else {
            Loss::Lifetime
        }
    }

    /// Whether packets come into a link's queue as soon as others leave it.
    #[inline]
    pub(super) fn kept_full(&self, link: LinkId) -> bool {
        if self.backlogs.is_empty() {
            return false;
        }
        let first = self.links[link].window.front();
        let backlog = first.and_then(|m| self.backlogs.get(m.held?.flow));
        backlog.is_some_and(Option::is_some)
    }

    /// Drops the MPDUs of a link that have waited too long at `now`; its BlockAckReq becomes due
    /// where one of them was sent before. Gives whether anything was dropped.
    #[inline]
    pub(super) fn discard_expired(
        &mut self,
        cx: &mut Context,
        contender: ContenderId,
        link: LinkId,
        now: Instant,
    ) -> bool {
        let lifetime = self.lifetime_of(contender);
        let Some(first) = self.links[link].window.front() else {
            return false;
        };
        // Those behind a first one that waits are not older.
        let waits = !first.acknowledged && first.in_flight.is_none();
        if lifetime == NONE || (waits && now - first.since <= lifetime) {
            return false;
        }
        self.discard_older(cx, (contender, link), now, lifetime)
    }

    fn discard_older(
        &mut self,
        cx: &mut Context,
        (contender, link): (ContenderId, LinkId),
        now: Instant,
        lifetime: Duration,
    ) -> bool {
        let (mut dropped, mut unsent) = (false, 0_u32);
        let cause = self.expiry(contender);
        let state = &mut self.links[link];
        for mpdu in &mut state.window {
            if mpdu.acknowledged || mpdu.in_flight.is_some() {
                continue;
            }
            if now - mpdu.since <= lifetime {
                break;
            }
            dropped = true;
            if state.agreement == Agreement::Agreed && mpdu.attempts > 0 {
                state.request = Request::Due;
            }
            mpdu.give_up(cx, cause);
            if std::mem::replace(&mut mpdu.waits, false) {
                unsent += u32::from(mpdu.msdus);
            }
        }
        if !dropped {
            return false;
        }
        self.leave_order(contender, link, unsent);
        self.deliver_apart(cx, link);
        self.shrink_window_apart(cx, contender, link);
        let state = &self.links[link];
        let several = state.has_several_ways();
        let due = |m: &Mpdu| !m.acknowledged && !m.waits && (!several || m.in_flight.is_none());
        let left = state.request == Request::Due || state.window.iter().any(due);
        self.queues[contender].unfinished = left.then_some(link);
        true
    }

    /// Takes all data out of a link that is not on the air.
    pub(super) fn empty(
        &mut self,
        cx: &mut Context,
        link: LinkId,
        contender: ContenderId,
        taken: &mut Vec<PacketId>,
    ) {
        let mut unsent = 0_u32;
        let home = self.home_of(contender);
        let (links, queues) = (&mut self.links, &mut self.queues);
        let (state, queue) = (&mut links[link], &mut queues[home]);
        for mpdu in &mut state.window {
            if mpdu.acknowledged || mpdu.in_flight.is_some() {
                continue;
            }
            mpdu.acknowledged = true;
            if std::mem::replace(&mut mpdu.received, true) {
                continue;
            }
            mpdu.delivered = true;
            if std::mem::replace(&mut mpdu.waits, false) {
                unsent += u32::from(mpdu.msdus);
            }
            let mut packet = Some(mpdu.head);
            while let Some(id) = packet {
                taken.push(id);
                packet = cx.packets[id].next.take();
            }
        }
        if let Some(flows) = &mut state.flows {
            let waiting = flows.take_all();
            queue.packets -= waiting.len() as u32;
            taken.extend(waiting);
        }
        while let Some(packet) = state.queue.pop_front() {
            queue.packets -= 1;
            unsent += 1;
            taken.push(packet);
        }
        state.request = Request::NotDue;
        self.leave_order(contender, link, unsent);
        self.deliver_apart(cx, link);
        self.shrink_window_apart(cx, contender, link);
        let mut window = self.links[link].window.iter();
        let left = window.any(|m| !m.acknowledged);
        let queue = &mut self.queues[contender];
        if queue.unfinished == Some(link) && !left {
            queue.unfinished = None;
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
