//! A set of stream octets kept as sorted, disjoint, non-touching ranges.
//!
//! Takes `[start, end)` ranges; gives gaps, coverage and position by binary search. Never
//! allocates in steady state: the vector keeps its capacity and holds one entry for each hole.

/// Octet ranges `[start, end)` in stream offsets.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct RangeSet {
    ranges: Vec<(u64, u64)>,
}

impl RangeSet {
    /// The ranges in rising order.
    pub(super) fn as_slice(&self) -> &[(u64, u64)] {
        &self.ranges
    }

    /// Whether the set holds nothing.
    pub(super) fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// The range that holds octet `at`.
    pub(super) fn containing(&self, at: u64) -> Option<(u64, u64)> {
        let i = self.ranges.partition_point(|r| r.1 <= at);
        self.ranges.get(i).copied().filter(|r| r.0 <= at)
    }

    /// The first octet at or after `at` that is not held, and where the gap it opens ends
    /// (`u64::MAX` above the last range).
    pub(super) fn next_gap(&self, at: u64) -> (u64, u64) {
        let mut i = self.ranges.partition_point(|r| r.1 <= at);
        let mut start = at;
        if let Some(r) = self.ranges.get(i)
            && r.0 <= at
        {
            start = r.1;
            i += 1;
        }
        (start, self.ranges.get(i).map_or(u64::MAX, |r| r.0))
    }

    /// Calls `gap` for each part of `[start, end)` that is not held, in rising order.
    pub(super) fn for_each_gap(&self, start: u64, end: u64, mut gap: impl FnMut(u64, u64)) {
        let mut at = start;
        let first = self.ranges.partition_point(|r| r.1 <= start);
        for &(s, e) in &self.ranges[first..] {
            if s >= end {
                break;
            }
            if s > at {
                gap(at, s);
            }
            at = at.max(e);
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
            && start >= last.0
            && start <= last.1
        {
            last.1 = last.1.max(end);
            return;
        }
        let first = self.ranges.partition_point(|r| r.1 < start);
        let after = self.ranges.partition_point(|r| r.0 <= end);
        if first == after {
            self.ranges.insert(first, (start, end));
        } else {
            let merged = (
                start.min(self.ranges[first].0),
                end.max(self.ranges[after - 1].1),
            );
            self.ranges[first] = merged;
            self.ranges.drain(first + 1..after);
        }
    }

    /// Drops every octet below `below`.
    pub(super) fn remove_below(&mut self, below: u64) {
        let gone = self.ranges.partition_point(|r| r.1 <= below);
        if gone > 0 {
            self.ranges.drain(..gone);
        }
        if let Some(r) = self.ranges.first_mut() {
            r.0 = r.0.max(below);
        }
    }

    /// Drops `[start, end)`.
    pub(super) fn remove(&mut self, start: u64, end: u64) {
        let first = self.ranges.partition_point(|r| r.1 <= start);
        let after = self.ranges.partition_point(|r| r.0 < end);
        if start >= end || first >= after {
            return;
        }
        let (low, high) = (self.ranges[first].0, self.ranges[after - 1].1);
        let parts = [(low, start), (end, high)];
        let left = parts.into_iter().filter(|(s, e)| s < e);
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
                prop_assert!(pair[0].1 < pair[1].0, "ranges {i} touch");
            }
            let (start, len) = query;
            let end = start + len;
            let expected = model[start as usize..end as usize].iter().filter(|h| !**h).count();
            prop_assert_eq!(set.missing(start, end), expected as u64);
            prop_assert_eq!(set.containing(start).is_some(), model[start as usize]);
            let gap = (start as usize..400).find(|i| !model[*i]).unwrap();
            prop_assert_eq!(set.next_gap(start).0, gap as u64);
        }
    }
}
