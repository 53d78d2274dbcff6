//! Channels with several paths: a tapped delay line and its gain at each frequency.
//!
//! Takes the RMS delay spread, a K-factor, a bandwidth and normal numbers; gives the power gain of each sub-band. The
//! scattered power falls exponentially with the delay, one cluster of the models of IEEE 802.11-03/940r4 (TGn) and
//! 802.11-09/0308r12 (TGac): power over delays `exp(-t / spread)`, whose gains at two frequencies `d` apart have the
//! correlation `1 / (1 + (2 pi d spread)^2)` (Rappaport, Wireless Communications, 2nd ed., 2002, 5.4). The first tap
//! is Rician, the others are Rayleigh. Pure: the caller draws.

use core::f64::consts::TAU;
use core::ops::Range;

use libm::{ceil, cos, log, log10, sin, sqrt};

use crate::parameters::Width;
use crate::resource_unit::ResourceUnit;

/// Sub-bands of 20 MHz: each is a subcarrier of 802.11a to ac, and four of 802.11ax and be. Two that are side by side
/// have a correlation of 0.92 at 150 ns, and of 0.99 at 50 ns.
pub const SUB_BANDS: usize = 64;

/// The longest RMS delay spread, ns. With a guard interval of 800 ns paths of 1.8 % of the power then come too late;
/// their interference is left out.
pub const MOST_DELAY_SPREAD_NS: f64 = 200.0;

/// Width of a sub-band, Hz.
const SUB_BAND_HZ: f64 = 20e6 / SUB_BANDS as f64;
/// Taps are this many times as dense as the bandwidth needs (TGac: 2.5 or more).
const DENSITY: usize = 4;
/// The last tap is this far below the first, as a share of power.
const LAST_TAP: f64 = 1e-4;
/// Least power gain, so that its logarithm is finite.
const LEAST_GAIN: f64 = 1e-12;
/// Sub-bands at either edge of a frame's channel that are guard tones: 6 in 802.11a, 4 in n, 2 to 3 in ax.
const GUARD: usize = 3;

/// A channel model for one bandwidth.
#[derive(Debug, Clone)]
pub struct DelayLine {
    /// Standard deviations of either part of the scattered amplitude of each tap.
    deviations: Vec<f64>,
    /// Amplitude of the line of sight.
    direct: f64,
    /// Sub-bands of the bandwidth.
    sub_bands: usize,
    /// Cosine and sine of each `2 pi n / N` up to half a turn.
    turns: Vec<[f64; 2]>,
}

impl DelayLine {
    /// The scattered paths have the RMS delay spread `delay_spread_ns`, and `1 / k` times the power of the line of
    /// sight; 0: there is none. The bandwidth is `channels` times 20 MHz, rounded up to a power of two.
    #[must_use]
    pub fn new(delay_spread_ns: f64, k: f64, channels: usize) -> Self {
        let sub_bands = SUB_BANDS * channels.next_power_of_two();
        let points = DENSITY * sub_bands;
        let spacing_ns = 1e9 / (points as f64 * SUB_BAND_HZ);
        // Powers q^n have the delay spread sqrt(q) / (1 - q) in units of the spacing.
        let ratio = (delay_spread_ns / spacing_ns).max(1e-6);
        let root = (sqrt(1.0 + 4.0 * ratio * ratio) - 1.0) / (2.0 * ratio);
        let step = root * root;
        let taps = (ceil(log(LAST_TAP) / log(step)) as usize).clamp(1, points);
        let powers: Vec<f64> = (0..taps)
            .scan(1.0, |power, _| {
                let own = *power;
                *power *= step;
                Some(own)
            })
            .collect();
        let scattered = powers.iter().sum::<f64>() * (k + 1.0);
        Self {
            deviations: powers.iter().map(|p| sqrt(0.5 * p / scattered)).collect(),
            direct: sqrt(k / (k + 1.0)),
            sub_bands,
            turns: (0..points / 2)
                .map(|n| {
                    let angle = TAU * n as f64 / points as f64;
                    [cos(angle), sin(angle)]
                })
                .collect(),
        }
    }

    /// A channel: the power gain of each sub-band, dB, from the lowest frequency on. Their mean over frequencies and
    /// channels is 1. `normals` draws two standard normal numbers.
    pub fn gains_db(&self, mut normals: impl FnMut() -> [f64; 2]) -> Vec<f64> {
        let mut response = vec![[0.0; 2]; 2 * self.turns.len()];
        for (tap, deviation) in response.iter_mut().zip(&self.deviations) {
            let [x, y] = normals();
            *tap = [deviation * x, deviation * y];
        }
        response[0][0] += self.direct;
        self.transform(&mut response);
        let power = |[real, imaginary]: &[f64; 2]| real * real + imaginary * imaginary;
        let own = response[..self.sub_bands].iter();
        own.map(|part| 10.0 * log10(power(part).max(LEAST_GAIN)))
            .collect()
    }

    /// The discrete Fourier transform, in place (Cooley and Tukey 1965).
    fn transform(&self, values: &mut [[f64; 2]]) {
        let points = values.len();
        let unused = usize::BITS - points.ilog2();
        for at in 0..points {
            let other = at.reverse_bits() >> unused;
            if at < other {
                values.swap(at, other);
            }
        }
        let mut half = 1;
        while half < points {
            let stride = points / (2 * half);
            for part in values.chunks_exact_mut(2 * half) {
                let (low, high) = part.split_at_mut(half);
                let turns = self.turns.iter().step_by(stride);
                for ((a, b), [cosine, sine]) in low.iter_mut().zip(high).zip(turns) {
                    let turned = [b[0] * cosine + b[1] * sine, b[1] * cosine - b[0] * sine];
                    *b = [a[0] - turned[0], a[1] - turned[1]];
                    *a = [a[0] + turned[0], a[1] + turned[1]];
                }
            }
            half *= 2;
        }
    }
}

/// The sub-bands that a frame of `width` occupies in a channel that begins at 20 MHz channel number `first`.
#[must_use]
pub fn sub_bands(first: usize, width: Width) -> Range<usize> {
    let all = SUB_BANDS * (width.mhz() as usize / 20);
    let from = SUB_BANDS * first;
    from + GUARD..from + all - GUARD
}

/// The sub-bands of the resource unit with a number, from the lowest frequency on, in a channel of `width` that begins
/// at 20 MHz channel number `first`. The last unit for numbers above it.
#[must_use]
pub fn unit_sub_bands(unit: ResourceUnit, number: u32, first: usize, width: Width) -> Range<usize> {
    let tones = unit.tones_in(width, number);
    let from = SUB_BANDS * first;
    // Four tones are a sub-band.
    from + tones.start as usize / 4..from + (tones.end as usize).div_ceil(4)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::link_simulation::Draws;

    fn channels(line: &DelayLine, count: usize) -> Vec<Vec<f64>> {
        let mut draws = Draws(7);
        let mut one = || line.gains_db(|| draws.normals());
        let linear = |gains: Vec<f64>| gains.iter().map(|g| libm::pow(10.0, g / 10.0)).collect();
        (0..count).map(|_| linear(one())).collect()
    }

    fn mean(values: impl Iterator<Item = f64>) -> f64 {
        let (sum, count) = values.fold((0.0, 0), |(sum, n), v| (sum + v, n + 1));
        sum / f64::from(count)
    }

    fn variance(values: &[f64]) -> f64 {
        let middle = mean(values.iter().copied());
        mean(values.iter().map(|v| (v - middle) * (v - middle)))
    }

    #[test]
    fn gains_have_a_mean_of_one_and_the_distribution_of_one_path() {
        for (k, spread) in [(0.0, 1.0), (1.0, 2.0 * 1.0 + 1.0), (4.0, 9.0)] {
            let line = DelayLine::new(50.0, k, 4);
            let all = channels(&line, 4_000);
            // At each frequency: exponential, or Rician with the variance (2 K + 1) / (K + 1)^2.
            let expected = spread / ((k + 1.0) * (k + 1.0));
            for at in [0, 100, 255] {
                let own: Vec<f64> = all.iter().map(|gains| gains[at]).collect();
                let (middle, spread) = (mean(own.iter().copied()), variance(&own));
                assert!((middle - 1.0).abs() < 0.05, "{k} {at} {middle}");
                assert!((spread / expected - 1.0).abs() < 0.15, "{k} {at} {spread}");
            }
            let over_all = mean(all.iter().flatten().copied());
            assert!((over_all - 1.0).abs() < 0.02, "{over_all}");
        }
    }

    #[test]
    fn gains_at_two_frequencies_have_the_correlation_of_the_profile() {
        for (spread_ns, channels20) in [(15.0, 4), (50.0, 1), (50.0, 4), (150.0, 2)] {
            let all = channels(&DelayLine::new(spread_ns, 0.0, channels20), 3_000);
            // The correlation of powers of complex normal amplitudes is |R|^2.
            let covariance = |apart: usize| {
                let product = |gains: &Vec<f64>| {
                    let pairs = gains.iter().zip(&gains[apart..]);
                    mean(pairs.map(|(a, b)| (a - 1.0) * (b - 1.0)))
                };
                mean(all.iter().map(product))
            };
            let variance = covariance(0);
            for apart in [1, 4, 16, 40, 60] {
                let found = covariance(apart) / variance;
                let turn = TAU * apart as f64 * SUB_BAND_HZ * spread_ns / 1e9;
                let expected = 1.0 / (1.0 + turn * turn);
                assert!(
                    (found - expected).abs() < 0.05,
                    "{spread_ns} ns, {apart} sub-bands: {found} {expected}"
                );
            }
        }
    }

    #[test]
    fn the_mean_of_a_wider_band_varies_less_as_computed_by_hand() {
        // The mean of 1 / (1 + (x (u - v))^2) over u and v from 0 to 1, with x = 2 pi B spread:
        // (2 x atan x - ln(1 + x^2)) / x^2. 20 MHz and 50 ns: 0.356; 80 MHz: 0.112.
        for (channels20, by_hand) in [(1, 0.356), (2, 0.206), (4, 0.112), (8, 0.059)] {
            let x = TAU * 20e6 * channels20 as f64 * 50e-9;
            let formula = (2.0 * x * libm::atan(x) - log(1.0 + x * x)) / (x * x);
            assert!((formula - by_hand).abs() < 1e-3, "{formula}");
            let all = channels(&DelayLine::new(50.0, 0.0, channels20), 4_000);
            let means: Vec<f64> = all.iter().map(|g| mean(g.iter().copied())).collect();
            let found = variance(&means);
            assert!((found / formula - 1.0).abs() < 0.12, "{found} {formula}");
        }
    }

    #[test]
    fn a_short_delay_spread_leaves_one_gain() {
        for gains in channels(&DelayLine::new(1e-3, 2.0, 16), 50) {
            let least = gains.iter().copied().fold(f64::INFINITY, f64::min);
            let most = gains.iter().copied().fold(0.0, f64::max);
            assert!(most - least < 0.05 * (most + 0.1), "{least} {most}");
        }
    }

    #[test]
    fn the_transform_is_that_of_its_definition() {
        let line = DelayLine::new(30.0, 1.0, 1);
        let mut draws = Draws(3);
        let taps: Vec<[f64; 2]> = line.deviations.iter().map(|_| draws.normals()).collect();
        let mut rest = taps.iter();
        let gains = line.gains_db(|| *rest.next().unwrap());
        for at in [0, 1, 17, 63] {
            let (mut real, mut imaginary) = (line.direct, 0.0);
            for (n, (tap, deviation)) in taps.iter().zip(&line.deviations).enumerate() {
                let angle = -TAU * (at * n) as f64 / (DENSITY * SUB_BANDS) as f64;
                real += deviation * (tap[0] * cos(angle) - tap[1] * sin(angle));
                imaginary += deviation * (tap[0] * sin(angle) + tap[1] * cos(angle));
            }
            let power = 10.0 * log10(real * real + imaginary * imaginary);
            assert!((gains[at] - power).abs() < 1e-6, "{at}");
        }
    }

    #[test]
    fn frames_and_units_lie_inside_their_channel() {
        assert_eq!(sub_bands(0, Width::Mhz20), 3..61);
        assert_eq!(sub_bands(2, Width::Mhz40), 131..253);
        for width in [Width::Mhz20, Width::Mhz40, Width::Mhz80, Width::Mhz160] {
            let all = SUB_BANDS * width.mhz() as usize / 20;
            for unit in ResourceUnit::ALL {
                for number in 0..unit.count(width) {
                    let own = unit_sub_bands(unit, number, 0, width);
                    assert!(own.end <= all, "{width:?} {unit:?} {number} {own:?}");
                    let wide = own.len() as f64 * 4.0 - f64::from(unit.tones());
                    assert!(
                        (0.0..40.0).contains(&wide),
                        "{width:?} {unit:?} {number} {own:?}"
                    );
                }
            }
        }
        assert_eq!(
            unit_sub_bands(ResourceUnit::Tones26, 3, 4, Width::Mhz20),
            277..284
        );
    }
}
