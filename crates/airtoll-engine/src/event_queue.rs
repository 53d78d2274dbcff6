//! The event queue and the virtual clock.
//!
//! Events are ordered by (time, priority, sequence): of two events at one instant the one with the
//! lower priority number goes first, and of two with the same priority the one scheduled first.
//! The order is total, so a run never depends on the layout of the queue.
//!
//! The next few events are kept sorted, the rest in a heap. Most events happen soon after they are
//! scheduled, so they are put in and taken out near the end of a short array; a heap alone would
//! move each of them up and down, and read back what it has just written.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use airtoll_units::Instant;

/// Rank among events of one instant; lower goes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Priority(pub u8);

/// Events in the order in which they happen, and the instant of the last one taken.
#[derive(Debug, Clone)]
pub struct EventQueue<E> {
    /// The next events, the very next one last. Empty only if `later` is.
    soon: Vec<Entry<E>>,
    /// Those that come after all of `soon`.
    later: BinaryHeap<Entry<E>>,
    sequence: u64,
    now: Instant,
}

#[derive(Debug, Clone)]
struct Entry<E> {
    at: Instant,
    // Priority in the top byte, sequence below: one comparison decides both.
    rank: u64,
    // `None` only until the place that was made for it is filled.
    event: Option<E>,
}

#[cold]
#[inline(never)]
fn past(at: Instant, now: Instant) -> ! {
    panic!("event at {at}, but it is {now} already")
}

const SEQUENCE_BITS: u32 = 56;
/// Most events kept sorted: about as many as a cell of some dozen stations has waiting.
const SOON: usize = 64;

impl<E> EventQueue<E> {
    /// An empty queue with the clock at the origin.
    #[must_use]
    pub fn new() -> Self {
        Self {
            soon: Vec::with_capacity(SOON + 1),
            later: BinaryHeap::with_capacity(256),
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
        self.soon.len() + self.later.len()
    }

    /// How many events were added so far.
    #[must_use]
    pub fn scheduled(&self) -> u64 {
        self.sequence
    }

    /// Whether no event is waiting.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.soon.is_empty()
    }

    /// The instant of the next event, or [`Instant::MAX`] if there is none.
    #[must_use]
    #[inline]
    pub fn next_at(&self) -> Instant {
        self.soon.last().map_or(Instant::MAX, |entry| entry.at)
    }

    /// The events that wait and their instants, in no order.
    pub fn waiting(&self) -> impl Iterator<Item = (Instant, &E)> {
        let entries = self.soon.iter().chain(&self.later);
        entries.filter_map(|entry| Some((entry.at, entry.event.as_ref()?)))
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
        // The caller's fields are stored where they stay. A copy would load wide what was just stored
        // narrow, and wait until those stores have left the processor.
        match self.make_place(at, priority) {
            Some(place) => *place = Some(event),
            None => self.put_off(at, priority, Some(event)),
        }
    }

    /// Makes a place among the next events; `None` if the event comes after all of them.
    #[inline(never)]
    fn make_place(&mut self, at: Instant, priority: Priority) -> Option<&mut Option<E>> {
        let before_all = self.soon.last().is_none_or(|next| at < next.at);
        if !before_all || at < self.now || self.soon.len() >= SOON {
            return self.make_place_among(at, priority);
        }
        let rank = self.rank(priority);
        self.sequence += 1;
        self.soon.push(Entry {
            at,
            rank,
            event: None,
        });
        self.soon.last_mut().map(|entry| &mut entry.event)
    }

    /// The same where other events may come before.
    #[inline(never)]
    fn make_place_among(&mut self, at: Instant, priority: Priority) -> Option<&mut Option<E>> {
        if at < self.now {
            past(at, self.now);
        }
        if self.soon.len() >= SOON {
            self.put_off_half();
        }
        let rank = self.rank(priority);
        let after = |other: &Entry<E>| at > other.at || (at == other.at && rank > other.rank);
        if !self.later.is_empty() && self.soon.first().is_some_and(after) {
            return None;
        }
        self.sequence += 1;
        let mut place = self.soon.len();
        while place > 0 && after(&self.soon[place - 1]) {
            place -= 1;
        }
        let entry = Entry {
            at,
            rank,
            event: None,
        };
        self.soon.insert(place, entry);
        Some(&mut self.soon[place].event)
    }

    #[inline]
    fn rank(&self, priority: Priority) -> u64 {
        u64::from(priority.0) << SEQUENCE_BITS | self.sequence
    }

    #[cold]
    fn put_off(&mut self, at: Instant, priority: Priority, event: Option<E>) {
        let rank = self.rank(priority);
        self.sequence += 1;
        self.later.push(Entry { at, rank, event });
    }

    #[cold]
    fn put_off_half(&mut self) {
        self.later.extend(self.soon.drain(..SOON / 2));
    }

    /// Takes the next event and moves the clock to it.
    #[inline]
    pub fn pop(&mut self) -> Option<E> {
        let entry = self.soon.pop()?;
        self.now = entry.at;
        if self.soon.is_empty() && !self.later.is_empty() {
            self.look_ahead();
        }
        entry.event
    }

    /// Moves the clock without an event, for happenings that are kept outside the queue.
    ///
    /// # Panics
    /// Panics if `to` lies before the clock or after the next event.
    #[inline]
    pub fn advance(&mut self, to: Instant) {
        if to < self.now {
            past(to, self.now);
        }
        assert!(to <= self.next_at(), "clock moved past an event");
        self.now = to;
    }

    #[cold]
    fn look_ahead(&mut self) {
        self.soon
            .extend(std::iter::from_fn(|| self.later.pop()).take(SOON / 2));
        self.soon.reverse();
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
        fn events_come_out_sorted(times in proptest::collection::vec((0_u64..50, 0_u8..3), 1..300)) {
            let mut queue = EventQueue::new();
            for (sequence, (at, priority)) in times.iter().enumerate() {
                let key = (*at, *priority, sequence);
                queue.schedule_ranked(Instant::from_nanos(*at), Priority(*priority), key);
            }
            let order: Vec<_> = std::iter::from_fn(|| queue.pop()).collect();
            prop_assert_eq!(order.len(), times.len());
            prop_assert!(order.is_sorted());
        }

        #[test]
        fn putting_in_and_taking_out_is_a_heaps_order(
            steps in proptest::collection::vec(proptest::option::weighted(0.6, (0_u64..400, 0_u8..3)), 1..600)
        ) {
            let mut queue = EventQueue::new();
            let mut model = std::collections::BTreeSet::new();
            for (sequence, step) in steps.into_iter().enumerate() {
                match step {
                    Some((wait, priority)) => {
                        let at = Instant::from_nanos(queue.now().as_nanos() + wait);
                        queue.schedule_ranked(at, Priority(priority), (at, priority, sequence));
                        model.insert((at, priority, sequence));
                    }
                    None => prop_assert_eq!(queue.pop(), model.pop_first()),
                }
                prop_assert_eq!(queue.len(), model.len());
                prop_assert_eq!(queue.is_empty(), model.is_empty());
                let next = model.first().map_or(Instant::MAX, |first| first.0);
                prop_assert_eq!(queue.next_at(), next);
            }
        }
    }
}
