//! A Minstrel-like rate control: success of every rate is averaged over intervals, the rate with
//! the best expected throughput is used, and every tenth frame samples another.
//!
//! After the description of Minstrel in Linux mac80211 (interval 100 ms, new values weigh 25 %,
//! a tenth of the frames samples); multi-rate retry chains are not modelled.

use crate::id::ModeId;
use airtoll_engine::Stream;
use airtoll_units::{Duration, Instant};

/// State of one link.
#[derive(Debug)]
pub(crate) struct Minstrel {
    rates: Vec<RateRecord>,
    best: usize,
    using: usize,
    frames: u32,
    next_update: Instant,
    stream: Stream,
}

#[derive(Debug, Clone, Copy)]
struct RateRecord {
    mode: ModeId,
    /// Throughput of a success, relative to other rates.
    worth: f64,
    attempts: u32,
    successes: u32,
    probability: f64,
    known: bool,
}

const INTERVAL: Duration = Duration::from_millis(100);
const NEW_WEIGHT: f64 = 0.25;
const SAMPLE_EVERY: u32 = 10;

impl Minstrel {
    /// `modes` with the worth of a success at each (MPDUs per second, for example).
    pub fn new(modes: &[(ModeId, f64)], stream: Stream) -> Self {
        let rates: Vec<_> = modes
            .iter()
            .map(|&(mode, worth)| RateRecord {
                mode,
                worth,
                attempts: 0,
                successes: 0,
                probability: 0.0,
                known: false,
            })
            .collect();
        Self {
            rates,
            best: 0,
            using: 0,
            frames: 0,
            next_update: Instant::ZERO + INTERVAL,
            stream,
        }
    }

    pub fn choose(&mut self) -> ModeId {
        self.frames += 1;
        self.using = if self.frames.is_multiple_of(SAMPLE_EVERY) && self.rates.len() > 1 {
            // Any but the best, each equally likely.
            let other = self.stream.up_to(self.rates.len() as u32 - 2) as usize;
            let other = if other >= self.best { other + 1 } else { other };
            let record = &self.rates[other];
            // A rate that could not beat the best even without loss is not worth an attempt.
            let best = &self.rates[self.best];
            if record.worth > best.worth * best.probability {
                other
            } else {
                self.best
            }
        } else {
            self.best
        };
        self.rates[self.using].mode
    }

    pub fn report(&mut self, now: Instant, count: u32, lost: u32) {
        let record = &mut self.rates[self.using];
        record.attempts += count;
        record.successes += count - lost;
        if now < self.next_update {
            return;
        }
        self.next_update = now + INTERVAL;
        for record in &mut self.rates {
            if record.attempts == 0 {
                continue;
            }
            let latest = f64::from(record.successes) / f64::from(record.attempts);
            record.probability = if record.known {
                record.probability * (1.0 - NEW_WEIGHT) + latest * NEW_WEIGHT
            } else {
                latest
            };
            record.known = true;
            record.attempts = 0;
            record.successes = 0;
        }
        let expected = |r: &RateRecord| {
            if r.probability < 0.1 {
                0.0
            } else {
                r.worth * r.probability
            }
        };
        let mut best = 0;
        for (i, record) in self.rates.iter().enumerate() {
            if expected(record) > expected(&self.rates[best]) {
                best = i;
            }
        }
        self.best = best;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use airtoll_engine::Streams;

    #[test]
    fn it_finds_the_rate_that_delivers_most() {
        let stream = Streams::new(1).named("test");
        let modes = [(0, 6.0), (1, 24.0), (2, 54.0)].map(|(m, worth)| (ModeId::new(m), worth));
        // The highest rate loses nine of ten frames.
        let mut minstrel = Minstrel::new(&modes, stream);
        let mut used = [0; 3];
        for frame in 0..5_000_u64 {
            let mode = minstrel.choose();
            let lost = u32::from(mode.number() == 2 && !frame.is_multiple_of(10));
            minstrel.report(Instant::ZERO + Duration::from_millis(frame), 1, lost);
            if frame > 2_000 {
                used[mode.index()] += 1;
            }
        }
        assert!(used[1] > 2_500, "{used:?}");
    }
}
