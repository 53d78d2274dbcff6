//! Shadowing and block fading: power gains of pairs of radios.
//!
//! Takes the scenario's figures and random streams; gives levels and gains. Sources: T. S. Rappaport,
//! Wireless Communications, 2nd ed., 2002, 4.9.2 (log-normal shadowing) and 5.6 (Rayleigh and Rician
//! fading). A gain is drawn from a stream of its pair and block, so that draws do not depend on
//! traffic.

use airtoll_engine::{Stream, Streams};
use airtoll_units::{Duration, Instant};

use crate::id::RadioId;
use crate::scenario;

/// Block fading of all pairs.
#[derive(Debug)]
pub(crate) struct Fading {
    streams: Streams,
    coherence: Duration,
    /// Rician K-factor, linear; 0: Rayleigh.
    k: f64,
    radios: usize,
    /// Block and gain of each pair that was asked last.
    last: Vec<(Option<u64>, f64)>,
}

impl Fading {
    /// Fading of `radios` radios.
    pub fn new(model: scenario::Fading, radios: usize, streams: Streams) -> Self {
        Self {
            streams,
            coherence: Duration::from_secs_f64(model.coherence_us / 1e6),
            k: model.k_db.map_or(0.0, |db| libm::pow(10.0, db / 10.0)),
            radios,
            last: vec![(None, 1.0); radios * radios],
        }
    }

    /// Power gain between two radios at an instant, linear; its mean is 1.
    pub fn gain(&mut self, a: RadioId, b: RadioId, at: Instant) -> f64 {
        let (low, high) = (a.min(b), a.max(b));
        let block = at.as_nanos() / self.coherence.as_nanos().max(1);
        let place = low.index() * self.radios + high.index();
        if self.last[place].0 != Some(block) {
            let name = format!("fading/{low}/{high}/{block}");
            let gain = drawn(&mut self.streams.named(&name), self.k);
            self.last[place] = (Some(block), gain);
        }
        self.last[place].1
    }
}

/// A power gain of Rician fading with the K-factor `k`, linear.
fn drawn(stream: &mut Stream, k: f64) -> f64 {
    let [x, y] = normals(stream);
    let scattered = libm::sqrt(0.5 / (k + 1.0));
    let direct = libm::sqrt(k / (k + 1.0));
    let (real, imaginary) = (direct + scattered * x, scattered * y);
    real * real + imaginary * imaginary
}

/// Two standard normal numbers (Box and Muller 1958).
fn normals(stream: &mut Stream) -> [f64; 2] {
    let radius = libm::sqrt(-2.0 * libm::log(1.0 - stream.unit()));
    let angle = core::f64::consts::TAU * stream.unit();
    [radius * libm::cos(angle), radius * libm::sin(angle)]
}

/// Shadowing between the radios of two names, dB.
pub(super) fn shadowing_db(deviation_db: f64, streams: &Streams, names: [&str; 2]) -> f64 {
    let [first, second] = names;
    let [drawn, _] = normals(&mut streams.named(&format!("shadowing/{first}/{second}")));
    deviation_db * drawn
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gains(k_db: Option<f64>) -> Vec<f64> {
        let model = scenario::Fading {
            k_db,
            coherence_us: 1_000.0,
        };
        let mut fading = Fading::new(model, 2, Streams::new(3));
        let (a, b) = (RadioId::new(0), RadioId::new(1));
        let at = |ms: u64| Instant::ZERO + Duration::from_micros(1_000 * ms);
        (0..20_000).map(|ms| fading.gain(a, b, at(ms))).collect()
    }

    fn moments(gains: &[f64]) -> (f64, f64) {
        let n = gains.len() as f64;
        let mean = gains.iter().sum::<f64>() / n;
        let squares = gains.iter().map(|g| (g - mean) * (g - mean)).sum::<f64>();
        (mean, squares / n)
    }

    #[test]
    fn gains_have_the_moments_of_their_distribution() {
        // Exponential: mean 1, variance 1.
        let rayleigh = gains(None);
        let (mean, variance) = moments(&rayleigh);
        assert!((mean - 1.0).abs() < 0.03, "{mean}");
        assert!((variance - 1.0).abs() < 0.06, "{variance}");
        // P(g < 0.1) = 1 - exp(-0.1).
        let deep = rayleigh.iter().filter(|g| **g < 0.1).count() as f64 / 20_000.0;
        assert!((deep - 0.0952).abs() < 0.008, "{deep}");
        // Rician: variance (2 K + 1) / (K + 1)^2, with K = 10 at 10 dB.
        let (mean, variance) = moments(&gains(Some(10.0)));
        assert!((mean - 1.0).abs() < 0.02, "{mean}");
        assert!((variance - 21.0 / 121.0).abs() < 0.01, "{variance}");
    }

    #[test]
    fn a_gain_holds_for_a_block_and_both_directions() {
        let model = scenario::Fading {
            k_db: None,
            coherence_us: 1_000.0,
        };
        let mut fading = Fading::new(model, 2, Streams::new(3));
        let (a, b) = (RadioId::new(0), RadioId::new(1));
        let at = |us: u64| Instant::ZERO + Duration::from_micros(us);
        let first = fading.gain(a, b, at(10));
        assert_eq!(fading.gain(b, a, at(990)), first);
        let next = fading.gain(a, b, at(1_010));
        assert_ne!(next, first);
        // Nothing depends on what was asked before.
        assert_eq!(fading.gain(a, b, at(20)), first);
    }

    #[test]
    fn shadowing_has_its_deviation() {
        let all: Vec<f64> = (0..4_000)
            .map(|seed| shadowing_db(6.0, &Streams::new(seed), ["ap", "A"]))
            .collect();
        let (mean, variance) = moments(&all);
        assert!(mean.abs() < 0.3, "{mean}");
        assert!((libm::sqrt(variance) - 6.0).abs() < 0.25, "{variance}");
    }
}
