//! CoDel (RFC 8289): drops by the time that packets wait, not by the length of the queue.

use airtoll_units::{Duration, Instant};

/// State of one queue.
#[derive(Debug, Clone)]
pub(crate) struct Codel {
    /// Acceptable standing delay.
    target: Duration,
    first_above: Option<Instant>,
    drop_next: Instant,
    count: u32,
    last_count: u32,
    dropping: bool,
    /// A packet was dropped, and the packet behind it decides whether the next drop is scheduled.
    advances: bool,
}

/// Acceptable standing delay (RFC 8289 section 4.2).
pub(crate) const TARGET: Duration = Duration::from_millis(5);
/// Time in which it must be undercut once (section 4.3).
const INTERVAL: Duration = Duration::from_millis(100);

impl Codel {
    /// An empty queue that accepts a standing delay of `target`.
    pub fn new(target: Duration) -> Self {
        Self {
            target,
            first_above: None,
            drop_next: Instant::ZERO,
            count: 0,
            last_count: 0,
            dropping: false,
            advances: false,
        }
    }

    /// Whether the packet that is leaving the queue at `now` after `sojourn` is to be dropped;
    /// `backlog` says whether others are behind it (section 5.5).
    pub fn drops(&mut self, now: Instant, sojourn: Duration, backlog: bool) -> bool {
        let above = sojourn >= self.target && backlog;
        let ripe = if above {
            match self.first_above {
                Some(at) => now >= at,
                None => {
                    self.first_above = Some(now + INTERVAL);
                    false
                }
            }
        } else {
            self.first_above = None;
            false
        };
        if self.dropping {
            let advances = std::mem::take(&mut self.advances);
            if !ripe {
                self.dropping = false;
                return false;
            }
            if advances {
                self.drop_next += self.control_law();
            }
            if now < self.drop_next {
                return false;
            }
            self.count += 1;
            self.advances = true;
            return true;
        }
        if !ripe {
            return false;
        }
        self.dropping = true;
        // Section 5.4: resume near the last rate if the last episode was a short while ago.
        let recent = now.saturating_since(self.drop_next) < INTERVAL * 16;
        let delta = self.count.saturating_sub(self.last_count);
        self.count = if recent && delta > 1 { delta } else { 1 };
        self.last_count = self.count;
        self.drop_next = now + self.control_law();
        true
    }

    /// `packets` were dropped because the queue was too long: the next episode drops sooner.
    pub fn strengthen(&mut self, packets: u32) {
        self.count += packets;
    }

    /// A packet was wanted from the queue, and it was empty: the episode is over.
    pub fn emptied(&mut self) {
        self.first_above = None;
        self.dropping = false;
        self.advances = false;
    }

    fn control_law(&self) -> Duration {
        let ns = INTERVAL.as_nanos() as f64 / libm::sqrt(f64::from(self.count.max(1)));
        Duration::from_nanos(ns as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_standing_queue_is_thinned_after_an_interval() {
        let mut codel = Codel::new(TARGET);
        let wait = Duration::from_millis(20);
        let drops: Vec<u64> = (0..400)
            .filter(|ms| codel.drops(Instant::ZERO + Duration::from_millis(*ms), wait, true))
            .collect();
        // First after 100 ms, then at intervals of 100 ms over the root of the count.
        assert_eq!(drops, [100, 200, 271, 329, 379]);
        assert!(!codel.drops(
            Instant::from_nanos(400_000_000),
            Duration::from_millis(1),
            true
        ));
    }
}
