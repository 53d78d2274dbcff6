//! A queue of small items in a ring, whose operations are a few instructions each.
//!
//! The standard library's queue calls functions for them, because it holds items of any kind.

/// Items in the order in which they came.
#[derive(Debug, Clone)]
pub(crate) struct Ring<T> {
    /// Places; their number is a power of two, or 0.
    places: Vec<T>,
    /// Place of the first item.
    first: usize,
    len: usize,
}

impl<T> Default for Ring<T> {
    fn default() -> Self {
        Self {
            places: Vec::new(),
            first: 0,
            len: 0,
        }
    }
}

impl<T: Copy> Ring<T> {
    /// How many items there are.
    #[inline]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The place of the item with a number; counts from the first one.
    #[inline(always)]
    fn place(&self, number: usize) -> usize {
        (self.first + number) & self.places.len().wrapping_sub(1)
    }

    /// Adds an item at the end.
    #[inline(always)]
    pub fn push_back(&mut self, item: T) {
        if self.len == self.places.len() {
            self.grow(item);
        }
        let place = self.place(self.len);
        if let Some(place) = self.places.get_mut(place) {
            *place = item;
        }
        self.len += 1;
    }

    /// Doubles the number of places; `item` fills the new ones.
    #[cold]
    #[inline(never)]
    fn grow(&mut self, item: T) {
        self.straighten();
        let places = (self.places.len() * 2).max(4);
        self.places.resize(places, item);
    }

    /// Takes the first item.
    #[inline(always)]
    pub fn pop_front(&mut self) -> Option<T> {
        let item = *self.front()?;
        self.first = self.place(1);
        self.len -= 1;
        Some(item)
    }

    /// Takes the last item.
    pub fn pop_back(&mut self) -> Option<T> {
        let item = *self.back()?;
        self.len -= 1;
        Some(item)
    }

    /// The first item.
    #[inline(always)]
    pub fn front(&self) -> Option<&T> {
        if self.len == 0 {
            return None;
        }
        self.places.get(self.first)
    }

    /// The first item, to be changed.
    #[inline(always)]
    pub fn front_mut(&mut self) -> Option<&mut T> {
        if self.len == 0 {
            return None;
        }
        self.places.get_mut(self.first)
    }

    /// The last item.
    #[inline(always)]
    pub fn back(&self) -> Option<&T> {
        let last = self.len.checked_sub(1)?;
        self.places.get(self.place(last))
    }

    /// The last item, to be changed.
    #[inline(always)]
    pub fn back_mut(&mut self) -> Option<&mut T> {
        let last = self.len.checked_sub(1)?;
        let place = self.place(last);
        self.places.get_mut(place)
    }

    /// The item with a number, to be changed; counts from the first one.
    pub fn get_mut(&mut self, number: usize) -> Option<&mut T> {
        if number >= self.len {
            return None;
        }
        let place = self.place(number);
        self.places.get_mut(place)
    }

    /// Adds an item before the one with a number.
    pub fn insert(&mut self, number: usize, item: T) {
        self.push_back(item);
        self.straighten();
        if let Some(behind) = self.places.get_mut(number..self.len) {
            behind.rotate_right(1);
        }
    }

    /// Removes the item with a number.
    pub fn remove(&mut self, number: usize) {
        self.straighten();
        let len = self.len;
        if let Some(behind) = self.places.get_mut(number..len)
            && !behind.is_empty()
        {
            behind.rotate_left(1);
            self.len = len - 1;
        }
    }

    /// Moves the first item to the first place.
    fn straighten(&mut self) {
        self.places.rotate_left(self.first);
        self.first = 0;
    }

    /// All items, the first one first.
    pub fn iter(&self) -> impl Iterator<Item = T> {
        (0..self.len).filter_map(move |number| self.places.get(self.place(number)).copied())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    proptest! {
        #[test]
        fn a_ring_is_a_queue(steps in proptest::collection::vec(0_u8..11, 0..600)) {
            let (mut ring, mut model) = (Ring::default(), VecDeque::new());
            for (number, step) in steps.into_iter().enumerate() {
                match step {
                    0..=4 => {
                        ring.push_back(number);
                        model.push_back(number);
                    }
                    5 | 6 => prop_assert_eq!(ring.pop_front(), model.pop_front()),
                    7 => prop_assert_eq!(ring.pop_back(), model.pop_back()),
                    8 => {
                        ring.insert(number % (model.len() + 1), number);
                        model.insert(number % (model.len() + 1), number);
                    }
                    9 if !model.is_empty() => {
                        ring.remove(number % model.len());
                        model.remove(number % model.len());
                    }
                    _ => {
                        if let (Some(item), Some(same)) = (ring.front_mut(), model.front_mut()) {
                            (*item, *same) = (number, number);
                        }
                        let middle = model.len() / 2;
                        if let (Some(item), Some(same)) = (ring.get_mut(middle), model.get_mut(middle)) {
                            (*item, *same) = (number + 2, number + 2);
                        }
                        if let (Some(item), Some(same)) = (ring.back_mut(), model.back_mut()) {
                            (*item, *same) = (number + 1, number + 1);
                        }
                    }
                }
                prop_assert_eq!(ring.len(), model.len());
                prop_assert_eq!(ring.is_empty(), model.is_empty());
                prop_assert_eq!(ring.front(), model.front());
                prop_assert_eq!(ring.back(), model.back());
                prop_assert!(ring.iter().eq(model.iter().copied()));
            }
        }
    }
}
