//! Leaving slow start before it overruns the queue: HyStart as Linux has it, and HyStart++ (RFC 9406).
//!
//! Takes round-trip samples and acknowledged offsets; gives how much of each acknowledgement may open
//! the window, and whether slow start has ended. Never looks at losses.

use super::options::HystartRule;

const MILLISECOND: u64 = 1_000_000;
/// Bounds of the delay threshold, 4 ms and 16 ms (RFC 9406 section 4.3; `HYSTART_DELAY_MIN` and
/// `_MAX`).
const MIN_RTT_THRESH: u64 = 4 * MILLISECOND;
const MAX_RTT_THRESH: u64 = 16 * MILLISECOND;
const MIN_RTT_DIVISOR: u64 = 8;
/// Samples of a round before its least one counts (RFC 9406; `HYSTART_MIN_SAMPLES`).
const N_RTT_SAMPLE: u32 = 8;
const CSS_GROWTH_DIVISOR: u64 = 4;
const CSS_ROUNDS: u32 = 5;
/// Window below which Linux does not look, segments (`hystart_low_window`).
const LOW_WINDOW: u64 = 16;
/// Acknowledgements closer than this make a train (`hystart_ack_delta_us`).
const TRAIN_SPACING: u64 = 2 * MILLISECOND;
/// Octets of which the time at the pacing rate lengthens the threshold of a train, at most 1 ms
/// (`hystart_ack_delay`: four bursts of `gso_max_size`).
const TRAIN_BURST: u64 = 4 * 65_536;

/// One acknowledgement in slow start; times in ns.
#[derive(Debug, Clone, Copy)]
pub(super) struct Acknowledged {
    /// When it came.
    pub(super) now: u64,
    /// Stream offset up to which everything has been acknowledged.
    pub(super) to: u64,
    /// Stream offset up to which octets have been sent.
    pub(super) sent: u64,
    /// Round trip that it measured.
    pub(super) round_trip: Option<u64>,
    /// Congestion window, segments.
    pub(super) window: u64,
    /// Pacing rate, octets/s, where one is known.
    pub(super) pacing: Option<u64>,
}

/// State over one slow start.
#[derive(Debug, Clone)]
pub(super) enum Hystart {
    /// HyStart of Linux's CUBIC (`tcp_cubic.c`): a train of acknowledgements that is as long as half
    /// the round trip, or a longer round trip, ends slow start at once.
    Linux(Trains),
    /// HyStart++ (RFC 9406): a longer round trip slows the growth first.
    PlusPlus(Rounds),
}

impl Hystart {
    /// `None` where the rule is off.
    pub(super) fn new(rule: HystartRule) -> Option<Self> {
        match rule {
            HystartRule::Off => None,
            HystartRule::Linux => Some(Self::Linux(Trains::default())),
            HystartRule::Rfc9406 => Some(Self::PlusPlus(Rounds::new())),
        }
    }

    /// Notes one acknowledgement; gives whether slow start ends now.
    pub(super) fn on_ack(&mut self, ack: Acknowledged) -> bool {
        match self {
            Self::Linux(trains) => trains.on_ack(ack),
            Self::PlusPlus(rounds) => rounds.on_ack(ack.to, ack.sent, ack.round_trip),
        }
    }

    /// Octets by which `octets` acknowledged may open the window.
    pub(super) fn growth(&self, octets: u64) -> u64 {
        match self {
            Self::Linux(_) => octets,
            Self::PlusPlus(rounds) => rounds.growth(octets),
        }
    }
}

/// State of Linux's HyStart.
#[derive(Debug, Clone, Default)]
pub(super) struct Trains {
    /// Acknowledging more than this offset ends the round; `None` before the first.
    round_end: Option<u64>,
    round_start: u64,
    last_ack: u64,
    /// Least round trip of the connection, and of this round.
    least: Option<u64>,
    round_least: Option<u64>,
    samples: u32,
}

impl Trains {
    fn on_ack(&mut self, ack: Acknowledged) -> bool {
        let Some(round_trip) = ack.round_trip.map(|sample| sample.max(1)) else {
            return false;
        };
        let least = self.least.map_or(round_trip, |known| known.min(round_trip));
        self.least = Some(least);
        if ack.window < LOW_WINDOW {
            return false;
        }
        if self.round_end.is_none_or(|end| ack.to > end) {
            self.round_end = Some(ack.sent);
            self.round_start = ack.now;
            self.last_ack = ack.now;
            self.round_least = None;
            self.samples = 0;
        }
        let mut ends = false;
        if ack.now - self.last_ack <= TRAIN_SPACING {
            self.last_ack = ack.now;
            let burst = ack.pacing.map_or(0, |rate| {
                (TRAIN_BURST * 1_000_000_000 / rate.max(1)).min(MILLISECOND)
            });
            ends = ack.now - self.round_start > (least + burst) / 2;
        }
        let round_least = self
            .round_least
            .map_or(round_trip, |known| known.min(round_trip));
        self.round_least = Some(round_least);
        if self.samples < N_RTT_SAMPLE {
            self.samples += 1;
        } else {
            let threshold = (least / MIN_RTT_DIVISOR).clamp(MIN_RTT_THRESH, MAX_RTT_THRESH);
            ends |= round_least > least + threshold;
        }
        ends
    }
}

/// State of HyStart++.
#[derive(Debug, Clone)]
pub(super) struct Rounds {
    round_end: u64,
    last_round_min: u64,
    round_min: u64,
    samples: u32,
    /// Lowest round trip when conservative slow start began, and rounds since.
    conservative: Option<(u64, u32)>,
}

impl Rounds {
    fn new() -> Self {
        Self {
            round_end: 0,
            last_round_min: u64::MAX,
            round_min: u64::MAX,
            samples: 0,
            conservative: None,
        }
    }

    fn on_ack(&mut self, acknowledged: u64, sent: u64, sample: Option<u64>) -> bool {
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

    fn growth(&self, octets: u64) -> u64 {
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

    const MS: u64 = MILLISECOND;

    fn round(h: &mut Rounds, n: u64, rtt: u64) -> bool {
        (0..10).any(|_| h.on_ack(n * 100, (n + 1) * 100, Some(rtt)))
    }

    #[test]
    fn a_growing_round_trip_slows_and_then_ends_slow_start() {
        let mut h = Rounds::new();
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
        let mut h = Rounds::new();
        round(&mut h, 0, 50 * MS);
        round(&mut h, 1, 60 * MS);
        assert_eq!(h.growth(400), 100);
        round(&mut h, 2, 50 * MS);
        assert_eq!(h.growth(400), 400);
    }

    /// Acknowledgements of one round, `spacing` apart; gives when slow start ends after its start, ns.
    fn train(h: &mut Trains, n: u64, spacing: u64, rtt: u64, window: u64) -> Option<u64> {
        let begin = n * 1_000 * MS;
        (0..40).map(|k| k * spacing).find(|&at| {
            h.on_ack(Acknowledged {
                now: begin + at,
                to: n * 100 + 1,
                sent: (n + 1) * 100,
                round_trip: Some(rtt),
                window,
                pacing: Some(1 << 40),
            })
        })
    }

    #[test]
    fn linux_ends_slow_start_when_a_train_is_half_a_round_trip_long() {
        let mut h = Trains::default();
        assert_eq!(train(&mut h, 0, MS / 10, 50 * MS, 20), None);
        // 1 ms apart: the first more than 25 ms after the start of its round.
        assert_eq!(train(&mut h, 1, MS, 50 * MS, 20), Some(26 * MS));
        // Acknowledgements more than 2 ms apart are no train, and a small window is let alone.
        assert_eq!(train(&mut Trains::default(), 1, 3 * MS, 50 * MS, 20), None);
        assert_eq!(train(&mut Trains::default(), 1, MS, 50 * MS, 15), None);
    }

    #[test]
    fn linux_ends_slow_start_when_the_least_round_trip_of_a_round_has_grown() {
        let mut h = Trains::default();
        assert_eq!(train(&mut h, 0, 0, 80 * MS, 20), None);
        // An eighth of 80 ms is the threshold; the ninth sample is compared first.
        assert_eq!(train(&mut h, 1, 0, 90 * MS, 20), None);
        assert_eq!(train(&mut h, 2, 3 * MS, 91 * MS, 20), Some(24 * MS));
    }
}
