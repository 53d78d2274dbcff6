//! The event queue and the virtual clock.
//!
//! Events are ordered by (time, priority, sequence): of two events at one instant the one with the
//! lower priority number goes first, and of two with the same priority the one scheduled first.
//! The order is total, so a run never depends on the layout of the heap.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use airtoll_units::Instant;

/// Rank among events of one instant; lower goes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Priority(pub u8);

/// Events in the order in which they happen, and the instant of the last one taken.
#[derive(Debug, Clone)]
pub struct EventQueue<E> {
    heap: BinaryHeap<Entry<E>>,
    sequence: u64,
    now: Instant,
}

#[derive(Debug, Clone)]
struct Entry<E> {
    at: Instant,
    // Priority in the top byte, sequence below: one comparison decides both.
    rank: u64,
    event: E,
}

const SEQUENCE_BITS: u32 = 56;

impl<E> EventQueue<E> {
    /// An empty queue with the clock at the origin.
    #[must_use]
    pub fn new() -> Self {
        Self {
            heap: BinaryHeap::with_capacity(256),
            sequence: 0,
            now: Instant::ZERO,
        }
    }

    /// The instant of the last event taken, or to which the clock was advanced.
    #[must_use]
    #[inline]
    pub fn now(&self) -> Instant {
        self.now
    }

    /// How many events are waiting.
    #[must_use]
    pub fn len(&self) -> usize {
        self.heap.len()
    }

    /// Whether no event is waiting.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.heap.is_empty()
    }

    /// The instant of the next event, or [`Instant::MAX`] if there is none.
    #[must_use]
    #[inline]
    pub fn next_at(&self) -> Instant {
        self.heap.peek().map_or(Instant::MAX, |entry| entry.at)
    }

    /// Adds an event with the default priority.
    ///
    /// # Panics
    /// Panics if `at` lies before the clock: nothing happens in the past.
    #[inline]
    pub fn schedule(&mut self, at: Instant, event: E) {
        self.schedule_ranked(at, Priority::default(), event);
    }

    /// Adds an event with a priority.
    ///
    /// # Panics
    /// Panics if `at` lies before the clock: nothing happens in the past.
    #[inline]
    pub fn schedule_ranked(&mut self, at: Instant, priority: Priority, event: E) {
        assert!(
            at >= self.now,
            "event at {at}, but it is {} already",
            self.now
        );
        let rank = u64::from(priority.0) << SEQUENCE_BITS | self.sequence;
        self.sequence += 1;
        self.heap.push(Entry { at, rank, event });
    }

    /// Takes the next event and moves the clock to it.
    #[inline]
    pub fn pop(&mut self) -> Option<E> {
        let entry = self.heap.pop()?;
        self.now = entry.at;
        Some(entry.event)
    }

    /// Moves the clock without an event, for happenings that are kept outside the queue.
    ///
    /// # Panics
    /// Panics if `to` lies before the clock or after the next event.
    #[inline]
    pub fn advance(&mut self, to: Instant) {
        assert!(
            to >= self.now && to <= self.next_at(),
            "clock moved past an event"
        );
        self.now = to;
    }
}

impl<E> Default for EventQueue<E> {
    fn default() -> Self {
        Self::new()
    }
}

impl<E> Ord for Entry<E> {
    // Reversed: the standard heap gives the greatest first.
    #[inline]
    fn cmp(&self, other: &Self) -> Ordering {
        (other.at, other.rank).cmp(&(self.at, self.rank))
    }
}

impl<E> PartialOrd for Entry<E> {
    #[inline]
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<E> PartialEq for Entry<E> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl<E> Eq for Entry<E> {}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn one_instant_is_ordered_by_priority_then_by_scheduling() {
        let mut queue = EventQueue::new();
        let at = Instant::from_nanos(5);
        queue.schedule_ranked(at, Priority(1), "late");
        queue.schedule(at, "first");
        queue.schedule(at, "second");
        queue.schedule(Instant::from_nanos(4), "before");
        let order: Vec<_> = std::iter::from_fn(|| queue.pop()).collect();
        assert_eq!(order, ["before", "first", "second", "late"]);
        assert_eq!(queue.now(), at);
    }

    #[test]
    #[should_panic(expected = "already")]
    fn the_past_is_closed() {
        let mut queue = EventQueue::new();
        queue.schedule(Instant::from_nanos(5), ());
        queue.pop();
        queue.schedule(Instant::from_nanos(4), ());
    }

    proptest! {
        #[test]
        fn events_come_out_sorted(times in proptest::collection::vec((0_u64..50, 0_u8..3), 1..200)) {
            let mut queue = EventQueue::new();
            for (sequence, (at, priority)) in times.iter().enumerate() {
                let key = (*at, *priority, sequence);
                queue.schedule_ranked(Instant::from_nanos(*at), Priority(*priority), key);
            }
            let order: Vec<_> = std::iter::from_fn(|| queue.pop()).collect();
            prop_assert_eq!(order.len(), times.len());
            prop_assert!(order.is_sorted());
        }
    }
}
