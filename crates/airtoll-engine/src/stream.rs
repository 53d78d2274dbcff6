//! Named random streams.
//!
//! A stream is a ChaCha8 generator whose key comes from the seed and whose stream number is a
//! hash of its name, so adding a stream or drawing more from one never shifts another.

use rand_chacha::ChaCha8Rng;
use rand_core::{CryptoRng, Rng, SeedableRng};

/// The source of all streams of one run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Streams {
    seed: u64,
}

/// One named stream.
#[derive(Debug, Clone)]
pub struct Stream {
    generator: ChaCha8Rng,
}

impl Streams {
    /// The streams of `seed`.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self { seed }
    }

    /// The stream called `name`: always the same for the same seed and name.
    #[must_use]
    pub fn named(&self, name: &str) -> Stream {
        let mut generator = ChaCha8Rng::seed_from_u64(self.seed);
        generator.set_stream(fnv1a(name.as_bytes()));
        Stream { generator }
    }
}

impl Stream {
    /// The generator itself, for keys and nonces.
    #[must_use]
    pub fn into_generator(self) -> Box<dyn CryptoRng> {
        Box::new(self.generator)
    }

    /// A whole number from 0 to `most`, both included, each equally likely.
    #[inline]
    pub fn up_to(&mut self, most: u32) -> u32 {
        let span = most.wrapping_add(1);
        if span.is_power_of_two() {
            return self.generator.next_u32() & most;
        }
        if span == 0 {
            return self.generator.next_u32();
        }
        // Multiply-shift with rejection of the incomplete last part (Lemire 2019).
        let floor = span.wrapping_neg() % span;
        loop {
            let wide = u64::from(self.generator.next_u32()) * u64::from(span);
            if wide as u32 >= floor {
                return (wide >> 32) as u32;
            }
        }
    }

    /// A number from 0 up to, but without, 1, in steps of 2^-53.
    #[inline]
    pub fn unit(&mut self) -> f64 {
        (self.generator.next_u64() >> 11) as f64 * (1.0 / 9_007_199_254_740_992.0)
    }
}

fn fnv1a(name: &[u8]) -> u64 {
    name.iter().fold(0xcbf2_9ce4_8422_2325, |hash, octet| {
        (hash ^ u64::from(*octet)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_depends_on_seed_and_name_alone() {
        let streams = Streams::new(7);
        let draw = |mut s: Stream| (0..8).map(|_| s.up_to(1023)).collect::<Vec<_>>();
        assert_eq!(draw(streams.named("a")), draw(streams.named("a")));
        assert_ne!(draw(streams.named("a")), draw(streams.named("b")));
        assert_ne!(draw(streams.named("a")), draw(Streams::new(8).named("a")));
    }

    #[test]
    fn first_draws_never_change() {
        // A change here changes every recorded run.
        let mut stream = Streams::new(1).named("backoff/A");
        let draws: Vec<_> = (0..6).map(|_| stream.up_to(15)).collect();
        assert_eq!(draws, [10, 12, 8, 4, 12, 11]);
    }

    #[test]
    fn bounded_draws_are_even() {
        let mut stream = Streams::new(3).named("even");
        let mut counts = [0_u32; 7];
        for _ in 0..70_000 {
            counts[stream.up_to(6) as usize] += 1;
        }
        // Chi-square with 6 degrees of freedom: 22.5 is the 0.1 % point.
        let chi: f64 = counts
            .iter()
            .map(|c| (f64::from(*c) - 10_000.0).powi(2) / 10_000.0)
            .sum();
        assert!(chi < 22.5, "{chi}");
        let mean = (0..10_000).map(|_| stream.unit()).sum::<f64>() / 10_000.0;
        assert!((mean - 0.5).abs() < 0.01);
    }
}
