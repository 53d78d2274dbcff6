//! Points in simulated time and the spans between them, in whole nanoseconds.
//!
//! Takes integers, gives integers. Never negative: a subtraction that would go below zero is a
//! programming error and panics in every build, because a silent wrap would reorder events.

use core::fmt;
use core::iter::Sum;
use core::ops::{Add, AddAssign, Div, Mul, Rem, Sub, SubAssign};

/// A span of time in nanoseconds; at most about 584 years.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Duration(u64);

/// A point in simulated time, in nanoseconds since the start of the trial.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instant(u64);

impl Duration {
    /// No time at all.
    pub const ZERO: Self = Self(0);
    /// The longest span.
    pub const MAX: Self = Self(u64::MAX);

    /// A span of `n` nanoseconds.
    #[must_use]
    pub const fn from_nanos(n: u64) -> Self {
        Self(n)
    }

    /// A span of `n` microseconds.
    #[must_use]
    pub const fn from_micros(n: u64) -> Self {
        Self(n * 1_000)
    }

    /// A span of `n` milliseconds.
    #[must_use]
    pub const fn from_millis(n: u64) -> Self {
        Self(n * 1_000_000)
    }

    /// A span of `n` seconds.
    #[must_use]
    pub const fn from_secs(n: u64) -> Self {
        Self(n * 1_000_000_000)
    }

    /// The span nearest to `s` seconds; negative and not-a-number give zero.
    #[must_use]
    pub fn from_secs_f64(s: f64) -> Self {
        // `as` saturates at both ends and turns NaN into zero.
        Self((s * 1e9 + 0.5) as u64)
    }

    /// Whole nanoseconds.
    #[must_use]
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// Seconds, for output only: beyond 2^53 ns (104 days) the last digits are lost.
    #[must_use]
    pub const fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// Microseconds, for output only.
    #[must_use]
    pub const fn as_micros_f64(self) -> f64 {
        self.0 as f64 / 1e3
    }

    /// `self - other`, or zero where `other` is longer.
    #[must_use]
    pub const fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }

    /// How many times `other` is needed to cover `self`, rounded up. `other` is not zero.
    #[must_use]
    pub const fn div_ceil(self, other: Self) -> u64 {
        self.0.div_ceil(other.0)
    }

    /// Whether this is no time at all.
    #[must_use]
    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }
}

impl Instant {
    /// The start of the trial.
    pub const ZERO: Self = Self(0);
    /// After everything.
    pub const MAX: Self = Self(u64::MAX);

    /// The point `n` nanoseconds after the start.
    #[must_use]
    pub const fn from_nanos(n: u64) -> Self {
        Self(n)
    }

    /// Whole nanoseconds since the start.
    #[must_use]
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// Seconds since the start, for output only.
    #[must_use]
    pub const fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// Time since `earlier`, or zero where `earlier` is later.
    #[must_use]
    pub const fn saturating_since(self, earlier: Self) -> Duration {
        Duration(self.0.saturating_sub(earlier.0))
    }
}

/// The time between two instants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    /// When it begins.
    pub from: Instant,
    /// When it ends.
    pub to: Instant,
}

// All checks of a function jump to one call without arguments, which keeps hot code short.

#[cold]
#[inline(never)]
fn overflow() -> ! {
    panic!("time beyond 584 years")
}

#[cold]
#[inline(never)]
fn negative() -> ! {
    panic!("negative time")
}

#[inline]
fn sum(a: u64, b: u64) -> u64 {
    a.checked_add(b).unwrap_or_else(|| overflow())
}

#[inline]
fn difference(a: u64, b: u64) -> u64 {
    a.checked_sub(b).unwrap_or_else(|| negative())
}

impl Add for Duration {
    type Output = Self;
    #[inline]
    fn add(self, rhs: Self) -> Self {
        Self(sum(self.0, rhs.0))
    }
}

impl Sub for Duration {
    type Output = Self;
    #[inline]
    fn sub(self, rhs: Self) -> Self {
        Self(difference(self.0, rhs.0))
    }
}

impl AddAssign for Duration {
    #[inline]
    fn add_assign(&mut self, rhs: Self) {
        *self = *self + rhs;
    }
}

impl SubAssign for Duration {
    #[inline]
    fn sub_assign(&mut self, rhs: Self) {
        *self = *self - rhs;
    }
}

impl Mul<u64> for Duration {
    type Output = Self;
    #[inline]
    fn mul(self, n: u64) -> Self {
        Self(self.0.checked_mul(n).unwrap_or_else(|| overflow()))
    }
}

impl Div<u64> for Duration {
    type Output = Self;
    /// Rounds down to the nanosecond.
    #[inline]
    fn div(self, n: u64) -> Self {
        Self(self.0 / n)
    }
}

impl Div for Duration {
    type Output = u64;
    /// How many whole `rhs` fit.
    #[inline]
    fn div(self, rhs: Self) -> u64 {
        self.0 / rhs.0
    }
}

impl Rem for Duration {
    type Output = Self;
    #[inline]
    fn rem(self, rhs: Self) -> Self {
        Self(self.0 % rhs.0)
    }
}

impl Sum for Duration {
    fn sum<I: Iterator<Item = Self>>(iter: I) -> Self {
        iter.fold(Self::ZERO, Add::add)
    }
}

impl Add<Duration> for Instant {
    type Output = Self;
    #[inline]
    fn add(self, rhs: Duration) -> Self {
        Self(sum(self.0, rhs.0))
    }
}

impl AddAssign<Duration> for Instant {
    #[inline]
    fn add_assign(&mut self, rhs: Duration) {
        *self = *self + rhs;
    }
}

impl Sub<Duration> for Instant {
    type Output = Self;
    #[inline]
    fn sub(self, rhs: Duration) -> Self {
        Self(difference(self.0, rhs.0))
    }
}

impl Sub for Instant {
    type Output = Duration;
    #[inline]
    fn sub(self, earlier: Self) -> Duration {
        Duration(difference(self.0, earlier.0))
    }
}

impl fmt::Display for Duration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} us", self.as_micros_f64())
    }
}

impl fmt::Display for Instant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} s", self.as_secs_f64())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arithmetic_is_exact() {
        let t = Instant::ZERO + Duration::from_micros(3) + Duration::from_nanos(1);
        assert_eq!(t.as_nanos(), 3_001);
        assert_eq!(t - Instant::from_nanos(1), Duration::from_micros(3));
        assert_eq!(
            Duration::from_nanos(10).div_ceil(Duration::from_nanos(4)),
            3
        );
        assert_eq!(Duration::from_secs_f64(1.5e-6).as_nanos(), 1_500);
        assert_eq!(Duration::from_secs_f64(-1.0), Duration::ZERO);
    }

    #[test]
    #[should_panic(expected = "negative time")]
    fn time_never_runs_backwards() {
        let _ = Instant::from_nanos(1) - Instant::from_nanos(2);
    }
}
