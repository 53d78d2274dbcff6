//! Octets, bit rates and frequencies.
//!
//! Takes integers, gives integers; the time that octets take at a rate is rounded up to the
//! nanosecond, because a transmission ends when its last bit has ended.

use core::iter::Sum;
use core::ops::{Add, AddAssign, Sub};

use crate::Duration;

/// A number of octets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bytes(pub u64);

/// Bits per second.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BitRate(pub u64);

/// Cycles per second.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Hertz(pub u64);

impl Bytes {
    /// The number of bits.
    #[must_use]
    pub const fn bits(self) -> u64 {
        self.0 * 8
    }
}

impl BitRate {
    /// `n` megabits per second.
    #[must_use]
    pub const fn from_mbps(n: u64) -> Self {
        Self(n * 1_000_000)
    }

    /// How long `octets` take at this rate (not zero), rounded up to the nanosecond.
    #[must_use]
    pub const fn time_for(self, octets: Bytes) -> Duration {
        let bit_ns = octets.bits() as u128 * 1_000_000_000;
        Duration::from_nanos(bit_ns.div_ceil(self.0 as u128) as u64)
    }
}

impl Hertz {
    /// `n` megahertz.
    #[must_use]
    pub const fn from_mhz(n: u64) -> Self {
        Self(n * 1_000_000)
    }
}

impl Add for Bytes {
    type Output = Self;
    fn add(self, rhs: Self) -> Self {
        Self(self.0 + rhs.0)
    }
}

impl AddAssign for Bytes {
    fn add_assign(&mut self, rhs: Self) {
        self.0 += rhs.0;
    }
}

impl Sub for Bytes {
    type Output = Self;
    fn sub(self, rhs: Self) -> Self {
        Self(self.0.checked_sub(rhs.0).expect("negative octets"))
    }
}

impl Sum for Bytes {
    fn sum<I: Iterator<Item = Self>>(iter: I) -> Self {
        iter.fold(Self(0), Add::add)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn octets_at_a_rate_round_up() {
        assert_eq!(
            BitRate::from_mbps(100).time_for(Bytes(1500)),
            Duration::from_micros(120)
        );
        assert_eq!(BitRate(3).time_for(Bytes(1)).as_nanos(), 2_666_666_667);
    }
}
