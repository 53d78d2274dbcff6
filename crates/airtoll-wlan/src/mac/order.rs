//! The order in which a contender serves its links: one entry for each packet, or one for each link
//! where receivers are served in turn.
//!
//! Successive entries of a link are one run, because bursts of packets to one receiver come and leave
//! together.

use crate::id::LinkId;
use crate::ring::Ring;

/// Links, the next one first.
#[derive(Debug, Default)]
pub(super) struct Order {
    /// Links and how many entries of each follow one another.
    runs: Ring<(LinkId, u32)>,
}

impl Order {
    /// The link of the first entry.
    #[inline]
    pub fn front(&self) -> Option<LinkId> {
        self.runs.front().map(|(link, _)| *link)
    }

    /// The link of the last entry.
    #[inline]
    pub fn back(&self) -> Option<LinkId> {
        self.runs.back().map(|(link, _)| *link)
    }

    /// Links in their order, each once for all entries that follow one another.
    pub fn links(&self) -> impl Iterator<Item = LinkId> {
        self.runs.iter().map(|(link, _)| link)
    }

    /// Adds an entry at the end.
    #[inline]
    pub fn push_back(&mut self, link: LinkId) {
        match self.runs.back_mut() {
            Some((last, count)) if *last == link => *count += 1,
            _ => self.runs.push_back((link, 1)),
        }
    }

    /// Adds an entry before the first one that `is` holds for; at the end where there is none.
    pub fn insert_before(&mut self, link: LinkId, is: impl Fn(LinkId) -> bool) {
        let at = self.links().position(is).unwrap_or(self.runs.len());
        match at
            .checked_sub(1)
            .and_then(|before| self.runs.get_mut(before))
        {
            Some((before, count)) if *before == link => *count += 1,
            _ => self.runs.insert(at, (link, 1)),
        }
    }

    /// Drops the first entry.
    #[inline]
    pub fn pop_front(&mut self) {
        if let Some((_, count)) = self.runs.front_mut() {
            *count -= 1;
            if *count == 0 {
                self.runs.pop_front();
            }
        }
    }

    /// Drops at most `most` entries at the front that are of a link; gives how many.
    #[inline]
    pub fn take_front(&mut self, link: LinkId, most: u32) -> u32 {
        let mut left = most;
        while left > 0
            && let Some((first, count)) = self.runs.front_mut()
            && *first == link
        {
            if *count > left {
                *count -= left;
                return most;
            }
            left -= *count;
            self.runs.pop_front();
        }
        most - left
    }

    /// Moves the entry of a link, which has one, to the end.
    pub fn move_to_end(&mut self, link: LinkId) {
        let at = self.links().position(|l| l == link);
        if let Some(at) = at {
            self.runs.remove(at);
            self.push_back(link);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    proptest! {
        #[test]
        fn runs_are_entries(steps in proptest::collection::vec((0_u8..5, 0_u32..3), 0..200)) {
            let (mut order, mut model) = (Order::default(), VecDeque::new());
            for (step, number) in steps {
                let link = LinkId::new(number);
                match step {
                    0 | 1 => {
                        order.push_back(link);
                        model.push_back(link);
                    }
                    2 => {
                        order.pop_front();
                        model.pop_front();
                    }
                    3 => {
                        let here = model.iter().take_while(|l| **l == link).count();
                        let taken = order.take_front(link, 2);
                        prop_assert_eq!(taken as usize, here.min(2));
                        model.drain(..taken as usize);
                    }
                    _ => {
                        let is = |l: LinkId| l.number() > 0;
                        order.insert_before(link, is);
                        let at = model.iter().position(|l| is(*l)).unwrap_or(model.len());
                        model.insert(at, link);
                    }
                }
                let entries = order.runs.iter().flat_map(|(l, n)| std::iter::repeat_n(l, n as usize));
                prop_assert!(entries.eq(model.iter().copied()));
                prop_assert_eq!(order.front(), model.front().copied());
                prop_assert_eq!(order.back(), model.back().copied());
            }
        }
    }
}
