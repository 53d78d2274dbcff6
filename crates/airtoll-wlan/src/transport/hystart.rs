//! HyStart++: leaving slow start before it overruns the queue (RFC 9406).
//!
//! Takes round-trip samples and acknowledged offsets; gives how much of each acknowledgement may open
//! the window, and whether slow start has ended. Never looks at losses.

/// RFC 9406 section 4.3: bounds of the delay threshold, 4 ms and 16 ms.
const MIN_RTT_THRESH: u64 = 4_000_000;
const MAX_RTT_THRESH: u64 = 16_000_000;
const MIN_RTT_DIVISOR: u64 = 8;
const N_RTT_SAMPLE: u32 = 8;
const CSS_GROWTH_DIVISOR: u64 = 4;
const CSS_ROUNDS: u32 = 5;

/// State over one slow start.
#[derive(Debug, Clone)]
pub(super) struct Hystart {
    round_end: u64,
    last_round_min: u64,
    round_min: u64,
    samples: u32,
    /// Lowest round trip when conservative slow start began, and rounds since.
    conservative: Option<(u64, u32)>,
}

impl Hystart {
    pub(super) fn new() -> Self {
        Self {
            round_end: 0,
            last_round_min: u64::MAX,
            round_min: u64::MAX,
            samples: 0,
            conservative: None,
        }
    }

    /// Notes one acknowledgement up to `acknowledged` with `sent` outstanding and a sample in ns;
    /// gives whether slow start ends now.
    pub(super) fn on_ack(&mut self, acknowledged: u64, sent: u64, sample: Option<u64>) -> bool {
        if acknowledged >= self.round_end {
            self.round_end = sent;
            self.last_round_min = self.round_min;
            self.round_min = u64::MAX;
            self.samples = 0;
            if let Some((_, rounds)) = &mut self.conservative {
                *rounds += 1;
                if *rounds >= CSS_ROUNDS {
                    return true;
                }
            }
        }
        let Some(sample) = sample else { return false };
        self.round_min = self.round_min.min(sample);
        self.samples += 1;
        if self.samples < N_RTT_SAMPLE {
            return false;
        }
        match self.conservative {
            None if self.last_round_min != u64::MAX => {
                let threshold =
                    (self.last_round_min / MIN_RTT_DIVISOR).clamp(MIN_RTT_THRESH, MAX_RTT_THRESH);
                if self.round_min >= self.last_round_min + threshold {
                    self.conservative = Some((self.round_min, 0));
                }
            }
            // The growth was jitter: back to slow start.
            Some((baseline, _)) if self.round_min < baseline => self.conservative = None,
            _ => {}
        }
        false
    }

    /// Octets by which `octets` acknowledged may open the window.
    pub(super) fn growth(&self, octets: u64) -> u64 {
        if self.conservative.is_some() {
            octets / CSS_GROWTH_DIVISOR
        } else {
            octets
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn round(h: &mut Hystart, n: u64, rtt: u64) -> bool {
        (0..10).any(|_| h.on_ack(n * 100, (n + 1) * 100, Some(rtt)))
    }

    #[test]
    fn a_growing_round_trip_slows_and_then_ends_slow_start() {
        let mut h = Hystart::new();
        assert!(!round(&mut h, 0, 50 * MS));
        assert!(!round(&mut h, 1, 50 * MS));
        assert_eq!(h.growth(400), 400);
        assert!(!round(&mut h, 2, 60 * MS));
        assert_eq!(h.growth(400), 100);
        let ended = (3..9).find(|n| round(&mut h, *n, 61 * MS));
        assert_eq!(ended, Some(7));
    }

    #[test]
    fn a_passing_delay_returns_to_slow_start() {
        let mut h = Hystart::new();
        round(&mut h, 0, 50 * MS);
        round(&mut h, 1, 60 * MS);
        assert_eq!(h.growth(400), 100);
        round(&mut h, 2, 50 * MS);
        assert_eq!(h.growth(400), 400);
    }
}
