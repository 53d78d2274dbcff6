//! Replay counters of the link ciphers.
//!
//! Takes packet numbers of authentic frames in the order they were accepted; says which are
//! replays. Never reorders: IEEE 802.11 checks after block acknowledgement has put frames in order,
//! so a number must be higher than every one before (IEEE 802.11-2020, 12.5.3.4.4).

use crate::error::CipherError;

/// Which of a key's replay counters a frame belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Counter {
    /// Data frames of a priority (TID 0 to 15; 0 without QoS).
    Data(u8),
    /// Robust management frames.
    Management,
}

/// Replay counters of one key: one per priority and one for management frames.
#[derive(Clone, Debug)]
pub struct ReplayCounters {
    highest: [Option<u64>; 17],
}

impl Default for ReplayCounters {
    fn default() -> Self {
        Self::new()
    }
}

impl ReplayCounters {
    /// Counters of a new key: every number is accepted first.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            highest: [None; 17],
        }
    }

    /// Counters that start at the RSC an EAPOL-Key frame announced for a group key: only numbers
    /// above it are accepted.
    #[must_use]
    pub const fn from_rsc(rsc: u64) -> Self {
        Self {
            highest: [Some(rsc); 17],
        }
    }

    /// Accepts the number of an authentic frame, or refuses a replay and changes nothing.
    ///
    /// # Errors
    /// [`CipherError::Replay`].
    pub fn accept(&mut self, counter: Counter, number: u64) -> Result<(), CipherError> {
        let slot = &mut self.highest[match counter {
            Counter::Data(tid) => usize::from(tid & 15),
            Counter::Management => 16,
        }];
        match *slot {
            Some(highest) if number <= highest => Err(CipherError::Replay { number, highest }),
            _ => {
                *slot = Some(number);
                Ok(())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_priority_counts_alone() {
        let mut counters = ReplayCounters::new();
        assert!(counters.accept(Counter::Data(0), 5).is_ok());
        assert_eq!(
            counters.accept(Counter::Data(0), 5),
            Err(CipherError::Replay {
                number: 5,
                highest: 5
            })
        );
        assert!(counters.accept(Counter::Data(0), 4).is_err());
        assert!(counters.accept(Counter::Data(6), 1).is_ok());
        assert!(counters.accept(Counter::Management, 0).is_ok());
        assert!(counters.accept(Counter::Data(0), 6).is_ok());
        assert!(
            ReplayCounters::from_rsc(9)
                .accept(Counter::Data(0), 9)
                .is_err()
        );
    }
}
