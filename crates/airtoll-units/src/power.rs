//! Powers and ratios in decibels.
//!
//! A power plus a gain is a power; the difference of two powers is a gain. The PHY crate, which
//! has `libm`, converts to milliwatts.

use core::ops::{Add, Neg, Sub};

/// A power in decibels over one milliwatt.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Dbm(pub f64);

/// A ratio of powers in decibels; a gain where positive, a loss where negative.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct Db(pub f64);

impl Add<Db> for Dbm {
    type Output = Self;
    fn add(self, gain: Db) -> Self {
        Self(self.0 + gain.0)
    }
}

impl Sub<Db> for Dbm {
    type Output = Self;
    fn sub(self, loss: Db) -> Self {
        Self(self.0 - loss.0)
    }
}

impl Sub for Dbm {
    type Output = Db;
    fn sub(self, rhs: Self) -> Db {
        Db(self.0 - rhs.0)
    }
}

impl Add for Db {
    type Output = Self;
    fn add(self, rhs: Self) -> Self {
        Self(self.0 + rhs.0)
    }
}

impl Neg for Db {
    type Output = Self;
    fn neg(self) -> Self {
        Self(-self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gain_moves_a_power() {
        let received = Dbm(16.0) - Db(76.0);
        assert_eq!(received, Dbm(-60.0));
        assert_eq!(received - Dbm(-95.0), Db(35.0));
    }
}
