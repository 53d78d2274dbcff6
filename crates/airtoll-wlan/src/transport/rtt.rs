//! Round-trip time estimation and the retransmission time-out (RFC 6298).
//!
//! Takes round-trip samples in nanoseconds; gives the time-out with its exponential back-off.
//! Never decides which samples are valid: Karn's rule is the sender's.

use super::config::{RtoFloor, TcpConfig};

const MILLISECOND: u64 = 1_000_000;

/// Smoothed round-trip time and time-out, all in nanoseconds.
#[derive(Debug, Clone)]
pub(super) struct RttEstimator {
    smoothed: Option<u64>,
    variation: u64,
    initial: u64,
    floor: u64,
    floor_rule: RtoFloor,
    ceiling: u64,
    doublings: u32,
}

impl RttEstimator {
    pub(super) fn new(config: &TcpConfig) -> Self {
        Self {
            smoothed: None,
            variation: 0,
            initial: u64::from(config.initial_rto_ms) * MILLISECOND,
            floor: u64::from(config.min_rto_ms) * MILLISECOND,
            floor_rule: config.rto_floor,
            ceiling: u64::from(config.max_rto_ms) * MILLISECOND,
            doublings: 0,
        }
    }

    /// RFC 6298 equations 2.2 and 2.3, and the end of any back-off (section 5, Karn's rule).
    pub(super) fn sample(&mut self, round_trip: u64) {
        match self.smoothed {
            None => {
                self.smoothed = Some(round_trip);
                self.variation = round_trip / 2;
            }
            Some(smoothed) => {
                let error = smoothed.abs_diff(round_trip);
                self.variation = (3 * self.variation + error) / 4;
                self.smoothed = Some((7 * smoothed + round_trip) / 8);
            }
        }
        self.doublings = 0;
    }

    /// Smoothed round-trip time, once measured.
    pub(super) fn smoothed(&self) -> Option<u64> {
        self.smoothed
    }

    /// The time-out with back-off.
    pub(super) fn timeout(&self) -> u64 {
        let base = match (self.smoothed, self.floor_rule) {
            (None, _) => self.initial,
            (Some(s), RtoFloor::Whole) => (s + 4 * self.variation).max(self.floor),
            (Some(s), RtoFloor::Variation) => s + (4 * self.variation).max(self.floor),
        };
        base.saturating_mul(1 << self.doublings.min(20))
            .min(self.ceiling.max(base))
    }

    /// Doubles the time-out (RFC 6298 section 5.5).
    pub(super) fn back_off(&mut self) {
        self.doublings = (self.doublings + 1).min(20);
    }

    /// Consecutive doublings in force.
    pub(super) fn doublings(&self) -> u32 {
        self.doublings
    }

    /// After a lost SYN the first time-out for data is at least 3 s (RFC 6298 section 5.7).
    pub(super) fn distrust_initial(&mut self) {
        self.initial = self.initial.max(3_000 * MILLISECOND);
        self.doublings = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = MILLISECOND;

    fn estimator(floor: RtoFloor, min_rto_ms: u32) -> RttEstimator {
        RttEstimator::new(&TcpConfig {
            rto_floor: floor,
            min_rto_ms,
            ..TcpConfig::default()
        })
    }

    #[test]
    fn first_sample_sets_three_times_the_round_trip() {
        let mut e = estimator(RtoFloor::Whole, 0);
        assert_eq!(e.timeout(), 1_000 * MS);
        e.sample(100 * MS);
        // SRTT + 4 * SRTT / 2.
        assert_eq!(e.timeout(), 300 * MS);
    }

    #[test]
    fn steady_samples_leave_the_floor() {
        let mut whole = estimator(RtoFloor::Whole, 200);
        let mut linux = estimator(RtoFloor::Variation, 200);
        for _ in 0..200 {
            whole.sample(50 * MS);
            linux.sample(50 * MS);
        }
        assert_eq!(whole.timeout(), 200 * MS);
        assert_eq!(linux.timeout(), 250 * MS);
    }

    #[test]
    fn back_off_doubles_until_the_ceiling_and_ends_with_a_sample() {
        let mut e = estimator(RtoFloor::Whole, 200);
        e.sample(100 * MS);
        e.back_off();
        assert_eq!(e.timeout(), 600 * MS);
        for _ in 0..40 {
            e.back_off();
        }
        assert_eq!(e.timeout(), 120_000 * MS);
        e.sample(100 * MS);
        assert!(e.timeout() < 301 * MS);
    }
}
