//! RACK: losses found by time of transmission (RFC 8985 section 6).
//!
//! Takes transmissions and what acknowledgements deliver; gives the segments that are lost because one
//! sent later has arrived, and when to look again. Never knows the window.

use std::collections::VecDeque;

use super::ranges::StreamRange;

/// Recoveries for which a wider reordering window lasts (RFC 8985 section 6.2 step 4).
const PERSIST: u32 = 16;

/// The latest transmission of a range of the stream.
#[derive(Debug, Clone, Copy)]
struct Record {
    start: u64,
    end: u64,
    /// When it was last sent, ns.
    sent: u64,
    /// It was sent more than once.
    again: bool,
    /// A selective acknowledgement has reported it.
    delivered: bool,
}

/// State of one connection; times in ns.
#[derive(Debug, Clone)]
pub(super) struct Rack {
    /// In order of the stream.
    records: VecDeque<Record>,
    /// (time, end of the range) in order of transmission. An entry whose record has another time is
    /// stale.
    order: VecDeque<(u64, u64)>,
    /// Records reported and not acknowledged.
    reported: u32,
    /// Transmission of the newest segment delivered, and one past its last octet.
    newest: Option<(u64, u64)>,
    /// Its round trip.
    round_trip: u64,
    /// Least round trip of segments sent once.
    least: Option<u64>,
    /// One past the highest octet delivered.
    highest: u64,
    reordering_seen: bool,
    /// Quarters of the least round trip in the reordering window, and recoveries until one is left.
    quarters: u64,
    persist: u32,
    /// Duplicates reported before this offset is acknowledged belong to one round.
    duplicates_until: Option<u64>,
}

impl Rack {
    pub(super) fn new() -> Self {
        Self {
            records: VecDeque::new(),
            order: VecDeque::new(),
            reported: 0,
            newest: None,
            round_trip: 0,
            least: None,
            highest: 0,
            reordering_seen: false,
            quarters: 1,
            persist: 0,
            duplicates_until: None,
        }
    }

    /// New octets `[start, end)` are sent.
    pub(super) fn on_send(&mut self, now: u64, start: u64, end: u64) {
        self.records.push_back(Record {
            start,
            end,
            sent: now,
            again: false,
            delivered: false,
        });
        self.order.push_back((now, end));
    }

    /// Octets `[start, end)` are sent again.
    pub(super) fn on_resend(&mut self, now: u64, start: u64, end: u64) {
        self.split(start);
        self.split(end);
        let first = self.records.partition_point(|one| one.start < start);
        for one in self.records.range_mut(first..) {
            if one.start >= end {
                break;
            }
            one.sent = now;
            one.again = true;
            self.order.push_back((now, one.end));
        }
    }

    fn split(&mut self, at: u64) {
        let place = self.records.partition_point(|one| one.end <= at);
        let Some(one) = self.records.get_mut(place) else {
            return;
        };
        if one.start >= at {
            return;
        }
        let lower = Record { end: at, ..*one };
        one.start = at;
        if lower.delivered {
            self.reported += 1;
        }
        self.records.insert(place, lower);
        // The lower part is as old as the upper one.
        let entry = (lower.sent, at);
        let sorted = self.order.partition_point(|&known| known <= entry);
        self.order.insert(sorted, entry);
    }

    /// The range that was sent as new octets last.
    pub(super) fn last(&self) -> Option<StreamRange> {
        let one = self.records.back()?;
        Some(StreamRange {
            start: one.start,
            end: one.end,
        })
    }

    /// Segments reported and not acknowledged.
    pub(super) fn reported(&self) -> u32 {
        self.reported
    }

    /// An acknowledgement delivers everything below `acknowledged` and the ranges `fresh`, none of
    /// which was reported before. Gives the round trip of the newest segment that was sent once.
    pub(super) fn on_ack(
        &mut self,
        now: u64,
        acknowledged: u64,
        fresh: &[StreamRange],
    ) -> Option<u64> {
        let mut delivered = Delivered::default();
        while let Some(one) = self.records.front()
            && one.end <= acknowledged
        {
            if one.delivered {
                self.reported -= 1;
            } else {
                delivered.note(one);
            }
            self.records.pop_front();
        }
        for &StreamRange { start, end } in fresh {
            let first = self.records.partition_point(|one| one.end <= start);
            for one in self.records.range_mut(first..) {
                if one.start >= end {
                    break;
                }
                // A record is delivered when its last octet is.
                if !one.delivered && one.end <= end {
                    one.delivered = true;
                    self.reported += 1;
                    delivered.note(one);
                }
            }
        }
        if self.duplicates_until.is_some_and(|end| acknowledged >= end) {
            self.duplicates_until = None;
        }
        let once = delivered.once.map(|(sent, _)| now.saturating_sub(sent));
        if let Some(round_trip) = once {
            self.least = Some(self.least.map_or(round_trip, |least| least.min(round_trip)));
        }
        if delivered.lowest_once.is_some_and(|end| end < self.highest) {
            self.reordering_seen = true;
        }
        self.highest = self.highest.max(delivered.highest);
        let again = delivered.again.filter(|&(sent, _)| {
            // Sooner than a round trip the original has arrived, and not what was sent again. As in
            // Linux timestamps are not asked: beyond a hole they return an older time.
            self.least
                .is_none_or(|least| now.saturating_sub(sent) >= least)
        });
        if let Some(newest) = delivered.once.max(again) {
            self.round_trip = now.saturating_sub(newest.0);
            if self.newest.is_none_or(|known| known < newest) {
                self.newest = Some(newest);
            }
        }
        once
    }

    /// A duplicate is reported while octets up to `sent` are outstanding: the reordering window grows
    /// once in a round trip.
    pub(super) fn on_duplicate(&mut self, sent: u64) {
        if self.duplicates_until.is_none() {
            self.duplicates_until = Some(sent);
            self.quarters += 1;
            self.persist = PERSIST;
        }
    }

    /// A recovery has ended.
    pub(super) fn on_recovered(&mut self) {
        self.persist = self.persist.saturating_sub(1);
        if self.persist == 0 {
            self.quarters = 1;
        }
    }

    /// The reordering window; `eager` while a loss is being repaired or when as many segments are
    /// reported as mean loss.
    pub(super) fn reordering_window(&self, eager: bool, smoothed: Option<u64>) -> u64 {
        if !self.reordering_seen && eager {
            return 0;
        }
        let quarter = self.least.unwrap_or(0) / 4;
        (self.quarters * quarter).min(smoothed.unwrap_or(u64::MAX))
    }

    /// Calls `lost` with each range that is lost at `now`, and gives when the last of those that may
    /// only be late is.
    pub(super) fn detect(
        &mut self,
        now: u64,
        window: u64,
        mut lost: impl FnMut(u64, u64),
    ) -> Option<u64> {
        let newest = self.newest?;
        while let Some(&(sent, end)) = self.order.front()
            && (sent, end) < newest
        {
            if let Some(one) = self.outstanding(sent, end) {
                if sent + self.round_trip + window > now {
                    break;
                }
                lost(one.start, one.end);
            }
            self.order.pop_front();
        }
        let waiting = self.order.iter().take_while(|&&entry| entry < newest);
        waiting
            .filter(|&&(sent, end)| self.outstanding(sent, end).is_some())
            .map(|&(sent, _)| sent + self.round_trip + window)
            .max()
    }

    /// After a time-out everything outstanding is lost: nothing is waited for.
    pub(super) fn on_timeout(&mut self) {
        self.order.clear();
    }

    /// The record of a transmission, if it has not arrived and was not sent again since.
    fn outstanding(&self, sent: u64, end: u64) -> Option<Record> {
        let place = self.records.partition_point(|one| one.end < end);
        let one = self.records.get(place).copied()?;
        (one.end == end && one.sent == sent && !one.delivered).then_some(one)
    }
}

/// Transmissions that one acknowledgement delivers, (time, end of the range).
#[derive(Debug, Default)]
struct Delivered {
    /// The newest of those sent once, and of those sent again.
    once: Option<(u64, u64)>,
    again: Option<(u64, u64)>,
    lowest_once: Option<u64>,
    highest: u64,
}

impl Delivered {
    fn note(&mut self, one: &Record) {
        let entry = Some((one.sent, one.end));
        if one.again {
            self.again = self.again.max(entry);
        } else {
            self.once = self.once.max(entry);
            self.lowest_once = Some(self.lowest_once.map_or(one.end, |end| end.min(one.end)));
        }
        self.highest = self.highest.max(one.end);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn range(start: u64, end: u64) -> StreamRange {
        StreamRange { start, end }
    }

    /// Ten segments of 100 octets, sent 1 ms apart.
    fn ten() -> Rack {
        let mut rack = Rack::new();
        for n in 0..10 {
            rack.on_send(n * MS, n * 100, (n + 1) * 100);
        }
        rack
    }

    fn detect(rack: &mut Rack, now: u64, window: u64) -> (Vec<(u64, u64)>, Option<u64>) {
        let mut lost = Vec::new();
        let next = rack.detect(now, window, |start, end| lost.push((start, end)));
        (lost, next)
    }

    #[test]
    fn a_segment_sent_before_one_that_arrived_is_lost_after_the_reordering_window() {
        let mut rack = ten();
        // The third segment arrives at 12 ms: round trip 10 ms, window 2.5 ms.
        assert_eq!(rack.on_ack(12 * MS, 0, &[range(200, 300)]), Some(10 * MS));
        let window = rack.reordering_window(false, Some(20 * MS));
        assert_eq!(window, 5 * MS / 2);
        let second = MS + 10 * MS + window;
        assert_eq!(detect(&mut rack, 12 * MS, window), (vec![], Some(second)));
        let (lost, next) = detect(&mut rack, second, window);
        assert_eq!((lost, next), (vec![(0, 100), (100, 200)], None));
    }

    #[test]
    fn a_segment_that_arrives_late_widens_nothing_but_is_remembered() {
        let mut rack = ten();
        rack.on_ack(12 * MS, 0, &[range(200, 300)]);
        assert_eq!(rack.reordering_window(true, Some(20 * MS)), 0);
        rack.on_ack(13 * MS, 100, &[]);
        assert!(rack.reordering_window(true, Some(20 * MS)) > 0);
        // A duplicate widens the window by a quarter, once in a round trip, for 16 recoveries.
        for _ in 0..3 {
            rack.on_duplicate(1_000);
        }
        assert_eq!(rack.reordering_window(true, Some(20 * MS)), 5 * MS);
        for _ in 0..16 {
            rack.on_recovered();
        }
        assert_eq!(rack.reordering_window(true, Some(20 * MS)), 5 * MS / 2);
    }

    #[test]
    fn what_was_sent_again_is_lost_when_something_sent_later_arrives() {
        let mut rack = ten();
        rack.on_ack(12 * MS, 0, &[range(200, 600)]);
        assert_eq!(detect(&mut rack, 15 * MS, 0).0, [(0, 100), (100, 200)]);
        rack.on_resend(15 * MS, 0, 100);
        rack.on_resend(16 * MS, 100, 200);
        assert_eq!(detect(&mut rack, 25 * MS, 0).0, []);
        // The second retransmission arrives, the first does not; nor do the four new ones at the end.
        rack.on_ack(26 * MS, 0, &[range(100, 200)]);
        let (lost, _) = detect(&mut rack, 26 * MS, 0);
        assert_eq!(
            lost,
            [(600, 700), (700, 800), (800, 900), (900, 1_000), (0, 100)]
        );
    }

    #[test]
    fn an_acknowledgement_of_the_original_says_nothing_about_the_retransmission() {
        let mut rack = ten();
        rack.on_ack(12 * MS, 0, &[range(200, 300)]);
        rack.on_resend(13 * MS, 0, 100);
        // 1 ms is below the least round trip.
        rack.on_ack(14 * MS, 100, &[]);
        assert_eq!(detect(&mut rack, 14 * MS, 0).0, [(100, 200)]);
        assert_eq!(rack.newest, Some((2 * MS, 300)));
    }

    #[test]
    fn a_retransmission_of_other_lengths_splits_what_was_sent() {
        let mut rack = ten();
        rack.on_resend(20 * MS, 50, 250);
        let ranges: Vec<_> = rack
            .records
            .iter()
            .map(|one| (one.start, one.end, one.again))
            .collect();
        assert_eq!(
            ranges[..4],
            [
                (0, 50, false),
                (50, 100, true),
                (100, 200, true),
                (200, 250, true)
            ]
        );
        assert_eq!(ranges[4], (250, 300, false));
        assert!(rack.order.iter().is_sorted_by_key(|entry| entry.0));
    }
}
