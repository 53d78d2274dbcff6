//! Power on its way: thermal noise, distance, walls, and the step from decibels to ratios.
//!
//! Takes distances in metres, frequencies in hertz and decibels; gives losses and powers. No
//! fading and no antenna patterns: a link has one loss.

use airtoll_units::{Db, Dbm};
use libm::{log10, pow};

/// A light wall (plasterboard, partitions), COST 231 final report, section 4.7.2, at 1.8 GHz.
pub const LIGHT_WALL: Db = Db(3.4);

/// A heavy wall (brick, concrete; thicker than 10 cm), same source.
pub const HEAVY_WALL: Db = Db(6.9);

/// Speed of light, m/s.
const LIGHT_M_PER_S: f64 = 299_792_458.0;

/// Log-distance path loss: `reference + 10 exponent log10(d / 1 m)` (Rappaport, Wireless
/// Communications, 2nd ed., 4.11.1), plus whatever walls the caller counts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LogDistance {
    /// Loss at one metre.
    pub reference: Db,
    /// Path loss exponent: 2 in free space, about 3 inside buildings.
    pub exponent: f64,
}

impl LogDistance {
    /// Free space up to one metre at `frequency_hz`, then `exponent`.
    #[must_use]
    pub fn at_frequency(frequency_hz: f64, exponent: f64) -> Self {
        Self {
            reference: free_space_loss(frequency_hz, 1.0),
            exponent,
        }
    }

    /// Loss over `distance_m` metres through walls that add `walls`. Below one metre the loss
    /// stays that of one metre: the model does not hold nearer.
    #[must_use]
    pub fn loss(&self, distance_m: f64, walls: Db) -> Db {
        Db(self.reference.0 + 10.0 * self.exponent * log10(distance_m.max(1.0)) + walls.0)
    }
}

/// Friis free-space loss `20 log10(4 pi d f / c)` over `distance_m` metres at `frequency_hz`.
#[must_use]
pub fn free_space_loss(frequency_hz: f64, distance_m: f64) -> Db {
    let wavelengths = distance_m * frequency_hz / LIGHT_M_PER_S;
    Db(20.0 * log10(4.0 * core::f64::consts::PI * wavelengths))
}

/// Thermal noise `k T B` at 290 K over `bandwidth_hz`, raised by the receiver's noise figure.
#[must_use]
pub fn noise_floor(bandwidth_hz: f64, noise_figure: Db) -> Dbm {
    const BOLTZMANN_J_PER_K: f64 = 1.380_649e-23;
    Dbm(10.0 * log10(BOLTZMANN_J_PER_K * 290.0 * 1e3 * bandwidth_hz)) + noise_figure
}

/// Milliwatts of a power.
#[must_use]
pub fn milliwatts(power: Dbm) -> f64 {
    pow(10.0, power.0 / 10.0)
}

/// The power of so many milliwatts (positive).
#[must_use]
pub fn from_milliwatts(mw: f64) -> Dbm {
    Dbm(10.0 * log10(mw))
}

/// The linear ratio of a gain.
#[must_use]
pub fn ratio(gain: Db) -> f64 {
    pow(10.0, gain.0 / 10.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn textbook_values() {
        assert!((noise_floor(20e6, Db(0.0)).0 + 100.97).abs() < 0.01);
        assert!((free_space_loss(2.4e9, 1.0).0 - 40.05).abs() < 0.01);
        let office = LogDistance::at_frequency(5.18e9, 3.0);
        let ten = office.loss(10.0, Db(0.0));
        assert!((ten.0 - office.reference.0 - 30.0).abs() < 1e-9);
        let walled = office.loss(10.0, HEAVY_WALL + LIGHT_WALL);
        assert!((walled.0 - ten.0 - 10.3).abs() < 1e-9);
    }

    #[test]
    fn decibels_come_back() {
        for tenth in -1_200..300 {
            let p = Dbm(f64::from(tenth) / 10.0);
            assert!((from_milliwatts(milliwatts(p)).0 - p.0).abs() < 1e-9);
        }
    }
}
