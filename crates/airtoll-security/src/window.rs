//! The sliding anti-replay window of the tunnels.
//!
//! Takes sequence numbers of authentic packets in any order; says which are new. Packets may
//! overtake each other in a network, so unlike on the link (see [`crate::link::replay`]) a number
//! may come late, as long as it is not older than the window (RFC 4303, 3.4.3; RFC 6479 for the
//! ring of blocks).

use crate::error::CipherError;

const BLOCK: u64 = 64;

/// A window over `64 * BLOCKS` numbers, of which the last `64 * (BLOCKS - 1)` are always covered.
#[derive(Clone, Debug)]
pub struct ReplayWindow<const BLOCKS: usize> {
    bits: [u64; BLOCKS],
    highest: u64,
    empty: bool,
}

/// The window of ESP: at least 64 numbers (RFC 4303, 3.4.3).
pub type EspWindow = ReplayWindow<2>;
/// The window of WireGuard in Linux: 8192 - 64 numbers.
pub type WireGuardWindow = ReplayWindow<128>;

impl<const BLOCKS: usize> Default for ReplayWindow<BLOCKS> {
    fn default() -> Self {
        Self::new()
    }
}

impl<const BLOCKS: usize> ReplayWindow<BLOCKS> {
    /// A window that has seen nothing.
    ///
    /// # Panics
    /// With fewer than two blocks.
    #[must_use]
    pub const fn new() -> Self {
        assert!(BLOCKS >= 2, "a window needs two blocks");
        Self {
            bits: [0; BLOCKS],
            highest: 0,
            empty: true,
        }
    }

    /// How many numbers below the highest are still told apart.
    #[must_use]
    pub const fn width(&self) -> u64 {
        BLOCK * (BLOCKS as u64 - 1)
    }

    /// Accepts the number of an authentic packet, or refuses a replay and changes nothing.
    ///
    /// # Errors
    /// [`CipherError::Replay`] for a number seen before, or too old to tell.
    pub fn accept(&mut self, number: u64) -> Result<(), CipherError> {
        let replay = CipherError::Replay {
            number,
            highest: self.highest,
        };
        let block = number / BLOCK;
        let newest = self.highest / BLOCK;
        if self.empty || block > newest {
            let steps = if self.empty {
                BLOCKS as u64
            } else {
                block - newest
            };
            for step in 0..steps.min(BLOCKS as u64) {
                self.bits[((block - step.min(block)) % BLOCKS as u64) as usize] = 0;
            }
        } else if number + self.width() < self.highest {
            return Err(replay);
        }
        let bit = 1 << (number % BLOCK);
        let word = &mut self.bits[(block % BLOCKS as u64) as usize];
        if *word & bit != 0 {
            return Err(replay);
        }
        *word |= bit;
        self.highest = if self.empty {
            number
        } else {
            self.highest.max(number)
        };
        self.empty = false;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashSet;

    proptest! {
        /// Against a set that forgets nothing.
        #[test]
        fn is_a_set_with_a_horizon(
            steps in prop::collection::vec((0u64..400, any::<bool>()), 1..300),
            start in 0u64..5000,
        ) {
            let mut window = ReplayWindow::<3>::new();
            let mut seen = HashSet::new();
            let mut highest = None::<u64>;
            let mut at = start;
            for (step, back) in steps {
                at = if back { at.saturating_sub(step) } else { at + step };
                let old = highest.is_some_and(|h| at + window.width() < h);
                let expected = !old && !seen.contains(&at);
                prop_assert_eq!(window.accept(at).is_ok(), expected, "{}", at);
                if expected {
                    seen.insert(at);
                    highest = Some(highest.map_or(at, |h| h.max(at)));
                }
            }
        }
    }

    #[test]
    fn late_is_new_and_twice_is_not() {
        let mut window = EspWindow::new();
        for number in [5, 3, 70, 7] {
            assert_eq!(window.accept(number), Ok(()));
            assert!(window.accept(number).is_err());
        }
        assert!(window.accept(1).is_err(), "below the window of 64");
        assert!(window.accept(u64::MAX).is_ok());
        assert!(window.accept(71).is_err());
    }
}
