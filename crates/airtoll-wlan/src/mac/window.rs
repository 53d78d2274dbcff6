//! The transmit window of a link: the MPDUs that are made and not finished, in sequence.
//!
//! MPDUs come in at the end and leave at the front. They stay in one slice, because every step of a
//! frame exchange goes through all of them, and most windows hold one.

use std::ops::{Deref, DerefMut};

/// Finished places at the front from which on those behind move to the front.
const MANY: usize = 256;

/// Items in sequence: a slice, with a front to take from and an end to add to.
#[derive(Debug, Clone)]
pub(crate) struct Window<T> {
    items: Vec<T>,
    /// Places before the first item.
    start: usize,
}

impl<T> Window<T> {
    /// An empty window.
    pub const fn new() -> Self {
        Self {
            items: Vec::new(),
            start: 0,
        }
    }

    /// Adds an item at the end.
    #[inline]
    pub fn push_back(&mut self, item: T) {
        self.items.push(item);
    }

    /// The first item.
    #[inline]
    pub fn front(&self) -> Option<&T> {
        self.first()
    }

    /// The first item, to be changed.
    #[inline]
    pub fn front_mut(&mut self) -> Option<&mut T> {
        self.first_mut()
    }

    /// Drops the first `count` items, of which there are so many.
    #[inline]
    pub fn drop_first(&mut self, count: usize) {
        if self.start + count >= self.items.len() {
            self.items.clear();
            self.start = 0;
        } else {
            self.start += count;
            // Each item moves once at most on average.
            if self.start >= MANY && self.start * 2 >= self.items.len() {
                self.items.drain(..self.start);
                self.start = 0;
            }
        }
    }
}

impl<T> Deref for Window<T> {
    type Target = [T];
    #[inline]
    fn deref(&self) -> &[T] {
        self.items.get(self.start..).unwrap_or_default()
    }
}

impl<T> DerefMut for Window<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        self.items.get_mut(self.start..).unwrap_or_default()
    }
}

impl<'a, T> IntoIterator for &'a mut Window<T> {
    type Item = &'a mut T;
    type IntoIter = std::slice::IterMut<'a, T>;
    #[inline]
    fn into_iter(self) -> Self::IntoIter {
        self.iter_mut()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    proptest! {
        #[test]
        fn a_window_is_a_queue(steps in proptest::collection::vec(proptest::bool::weighted(0.55), 0..3000)) {
            let (mut window, mut model) = (Window::new(), VecDeque::new());
            for (number, adds) in steps.into_iter().enumerate() {
                if adds {
                    window.push_back(number);
                    model.push_back(number);
                } else {
                    let count = model.len().min(number % 3);
                    window.drop_first(count);
                    model.drain(..count);
                }
                prop_assert_eq!(window.front(), model.front());
                prop_assert_eq!(window.len(), model.len());
                prop_assert!(window.items.len() < 2 * model.len() + MANY + 2);
            }
            prop_assert!(window.iter().eq(&model));
        }
    }
}
