//! Information that a received coded bit lacks: bit-interleaved coded modulation over white noise (Caire, Taricco, Biglieri, "Bit-Interleaved Coded Modulation", IEEE Trans. Inf. Theory 44(3), 1998, eq. 15).
//!
//! Takes an axis of a Gray-mapped constellation and its ratio of energy to noise variance; gives the mean of what is
//! missing of one bit. The integral over the noise is a sum at equal steps, which converges as fast as the
//! normal density falls.

/// Largest noise of the sum, and its step, in standard deviations.
const MOST_NOISE: f64 = 9.0;
const STEP: f64 = 0.05;

/// Bits that are missing of one coded bit, in the mean over the `axis_bits` bits of an axis, at `ratio_db`: mean
/// energy of the axis over the variance of its noise, dB.
#[must_use]
pub fn missing(axis_bits: u32, ratio_db: f64) -> f64 {
    let points = 1_usize << axis_bits;
    // Levels 1 apart in units of the noise's deviation: their energy is (points^2 - 1) / 3 for a distance of 2.
    let energy = ((points * points - 1) as f64) / 3.0;
    let scale = libm::sqrt(libm::pow(10.0, ratio_db / 10.0) / energy);
    let level = |point: usize| scale * (2.0 * point as f64 - (points - 1) as f64);
    let label = |point: usize| point ^ (point >> 1);
    let steps = (MOST_NOISE / STEP) as i32;
    let density = STEP / libm::sqrt(core::f64::consts::TAU);
    let mut sum = 0.0;
    let mut likelihood = vec![0.0; points];
    // The other half of the points is its mirror image.
    for sent in 0..points.div_ceil(2) {
        for step in -steps..=steps {
            let noise = f64::from(step) * STEP;
            let weight = density * libm::exp(-0.5 * noise * noise);
            for (point, likelihood) in likelihood.iter_mut().enumerate() {
                let off = noise + level(sent) - level(point);
                *likelihood = libm::exp(0.5 * (noise * noise - off * off));
            }
            for bit in 0..axis_bits {
                let of = |value: usize| {
                    let all = likelihood.iter().enumerate();
                    let own = all.filter(move |(point, _)| label(*point) >> bit & 1 == value);
                    own.map(|(_, likelihood)| likelihood).sum::<f64>()
                };
                let value = label(sent) >> bit & 1;
                sum += weight * libm::log1p(of(1 - value) / of(value));
            }
        }
    }
    let halves = points.div_ceil(2) as f64;
    sum / (halves * f64::from(axis_bits) * core::f64::consts::LN_2)
}
