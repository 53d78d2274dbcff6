//! The simulated WLAN: a resolved [`Scenario`] and a seed in, rows of observations out.
//!
//! Never reads a clock, a file or ambient randomness: the same scenario and seed give the same
//! rows on every machine.

pub mod analytic;
pub mod outcome;
pub mod scenario;
pub mod transport;

pub use outcome::{Outcome, Row};
pub use scenario::{Scenario, ScenarioError};
