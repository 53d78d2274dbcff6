//! A set of stream octets kept as sorted, disjoint, non-touching ranges.
//!
//! Takes `[start, end)` ranges; gives gaps, coverage and position by binary search. Never
//! allocates in steady state: the vector keeps its capacity and holds one entry for each hole.

/// Octets `[start, end)` of a stream, by their offsets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StreamRange {
    /// Offset of the first octet.
    pub start: u64,
    /// Offset after the last octet.
    pub end: u64,
}

impl StreamRange {
    /// How many octets it has.
    pub fn octets(self) -> u64 {
        self.end - self.start
    }
}

/// Octets of a stream.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct RangeSet {
    ranges: Vec<StreamRange>,
}

impl RangeSet {
    /// The ranges in rising order.
    pub(super) fn as_slice(&self) -> &[StreamRange] {
        &self.ranges
    }

    /// Whether the set holds nothing.
    pub(super) fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// The range that holds octet `at`.
    pub(super) fn containing(&self, at: u64) -> Option<StreamRange> {
        let i = self.ranges.partition_point(|r| r.end <= at);
        self.ranges.get(i).copied().filter(|r| r.start <= at)
    }

    /// The first octets at or after `at` that are not held; they end at `u64::MAX` above the last
    /// range.
    pub(super) fn next_gap(&self, at: u64) -> StreamRange {
        let mut i = self.ranges.partition_point(|r| r.end <= at);
        let mut start = at;
        if let Some(r) = self.ranges.get(i)
            && r.start <= at
        {
            start = r.end;
            i += 1;
        }
        StreamRange {
            start,
            end: self.ranges.get(i).map_or(u64::MAX, |r| r.start),
        }
    }

    /// Calls `gap` for each part of `[start, end)` that is not held, in rising order.
    pub(super) fn for_each_gap(&self, start: u64, end: u64, mut gap: impl FnMut(u64, u64)) {
        let mut at = start;
        let first = self.ranges.partition_point(|r| r.end <= start);
        for held in &self.ranges[first..] {
            if held.start >= end {
                break;
            }
            if held.start > at {
                gap(at, held.start);
            }
            at = at.max(held.end);
        }
        if at < end {
            gap(at, end);
        }
    }

    /// Octets of `[start, end)` that are not held.
    pub(super) fn missing(&self, start: u64, end: u64) -> u64 {
        let mut octets = 0;
        self.for_each_gap(start, end, |s, e| octets += e - s);
        octets
    }

    /// Adds `[start, end)`, merging what it overlaps or touches.
    pub(super) fn insert(&mut self, start: u64, end: u64) {
        if start >= end {
            return;
        }
        // Arrivals mostly extend the highest range.
        if let Some(last) = self.ranges.last_mut()
            && start >= last.start
            && start <= last.end
        {
            last.end = last.end.max(end);
            return;
        }
        let first = self.ranges.partition_point(|r| r.end < start);
        let after = self.ranges.partition_point(|r| r.start <= end);
        if first == after {
            self.ranges.insert(first, StreamRange { start, end });
        } else {
            let merged = StreamRange {
                start: start.min(self.ranges[first].start),
                end: end.max(self.ranges[after - 1].end),
            };
            self.ranges[first] = merged;
            self.ranges.drain(first + 1..after);
        }
    }

    /// Drops every octet below `below`.
    pub(super) fn remove_below(&mut self, below: u64) {
        let gone = self.ranges.partition_point(|r| r.end <= below);
        if gone > 0 {
            self.ranges.drain(..gone);
        }
        if let Some(r) = self.ranges.first_mut() {
            r.start = r.start.max(below);
        }
    }

    /// Drops `[start, end)`.
    pub(super) fn remove(&mut self, start: u64, end: u64) {
        let first = self.ranges.partition_point(|r| r.end <= start);
        let after = self.ranges.partition_point(|r| r.start < end);
        if start >= end || first >= after {
            return;
        }
        let left = [
            StreamRange {
                start: self.ranges[first].start,
                end: start,
            },
            StreamRange {
                start: end,
                end: self.ranges[after - 1].end,
            },
        ];
        let left = left.into_iter().filter(|part| part.start < part.end);
        self.ranges.splice(first..after, left);
    }

    /// Drops everything.
    pub(super) fn clear(&mut self) {
        self.ranges.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn behaves_as_a_set_of_octets(
            inserts in prop::collection::vec((0u64..200, 1u64..30), 0..40),
            removed in (0u64..200, 0u64..60),
            below in 0u64..220,
            query in (0u64..220, 0u64..60),
        ) {
            let mut set = RangeSet::default();
            let mut model = vec![false; 400];
            for (start, len) in inserts {
                set.insert(start, start + len);
                for held in &mut model[start as usize..(start + len) as usize] {
                    *held = true;
                }
            }
            let (start, len) = removed;
            set.remove(start, start + len);
            for held in &mut model[start as usize..(start + len) as usize] {
                *held = false;
            }
            set.remove_below(below);
            for held in &mut model[..below as usize] {
                *held = false;
            }
            for (i, pair) in set.as_slice().windows(2).enumerate() {
                prop_assert!(pair[0].end < pair[1].start, "ranges {i} touch");
            }
            let (start, len) = query;
            let end = start + len;
            let expected = model[start as usize..end as usize].iter().filter(|h| !**h).count();
            prop_assert_eq!(set.missing(start, end), expected as u64);
            prop_assert_eq!(set.containing(start).is_some(), model[start as usize]);
            let gap = (start as usize..400).find(|i| !model[*i]).unwrap();
            prop_assert_eq!(set.next_gap(start).start, gap as u64);
        }
    }
}
