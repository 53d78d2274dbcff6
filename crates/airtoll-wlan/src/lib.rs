//! The simulated WLAN: a resolved [`Scenario`] and a seed in, rows of observations out.
//!
//! Never reads a clock, a file or ambient randomness: the same scenario and seed give the same
//! rows on every machine.
//!
//! ```
//! use airtoll_wlan::scenario::{Rate, ScenarioBuilder, Standard};
//!
//! let scenario = ScenarioBuilder::new(0.1)
//!     .bss("home", Standard::B, Rate::Fixed { mbps: 11.0 })
//!     .access_point("ap", "home")
//!     .station("laptop", "home")
//!     .saturated_udp("up", "laptop", "ap", 1472)
//!     .build()?;
//! let trial = |seed| airtoll_wlan::run(&scenario, seed, &mut || false);
//! assert_eq!(trial(1)?.rows, trial(1)?.rows);
//! # Ok::<(), airtoll_wlan::ScenarioError>(())
//! ```

pub mod analytic;
pub mod device;
pub mod outcome;
pub mod record;
pub mod scenario;
pub mod transport;

mod address;
mod announce;
mod application;
mod black_hole;
mod build;
mod context;
mod event;
mod flow;
mod fragments;
mod id;
mod join;
mod lower;
mod mac;
mod medium;
mod net;
mod observe;
mod packet;
mod probe_traffic;
mod queueing;
mod report;
mod ring;
mod roam;
mod stack;
mod world;

#[cfg(test)]
mod tests;

pub use black_hole::{BlackHole, black_holes};
pub use fragments::{Fragmented, fragmented};
pub use medium::loss_db;
pub use observe::metrics::sketch;
pub use outcome::{Outcome, Row, Sketch};
pub use probe_traffic::{ProbeResponse, ProbeTraffic, probe_traffic};
pub use scenario::{Scenario, ScenarioError};

/// Checks a scenario by the rules of a trial: reads it and builds its world.
///
/// # Errors
/// [`ScenarioError::Malformed`] and [`ScenarioError::Invalid`], as [`Scenario::from_json`] and [`run`].
pub fn check(scenario: &Scenario) -> Result<(), ScenarioError> {
    build::build(scenario, 0).map(drop)
}

/// Simulates one trial.
///
/// `interrupt` is asked every few thousand events whether to stop.
///
/// # Errors
/// [`ScenarioError::Invalid`] for a scenario that is invalid, [`ScenarioError::Interrupted`] if
/// `interrupt` returned true.
pub fn run(
    scenario: &Scenario,
    seed: u64,
    interrupt: &mut dyn FnMut() -> bool,
) -> Result<Outcome, ScenarioError> {
    let mut world = build::build(scenario, seed)?;
    world.run(interrupt)?;
    Ok(world.outcome())
}

/// Simulates one trial as [`run`] does, and gives what it carries to `sink`.
///
/// # Errors
/// As [`run`].
pub fn run_recorded(
    scenario: &Scenario,
    seed: u64,
    interrupt: &mut dyn FnMut() -> bool,
    sink: Box<dyn record::Sink>,
) -> Result<Outcome, ScenarioError> {
    if let Some(at) = scenario.bss.iter().position(|bss| bss.ofdma.is_some()) {
        return Err(ScenarioError::Invalid {
            field: format!("bss[{at}].ofdma"),
            value: "set".to_owned(),
            allowed: "only without a capture: PPDUs of several users are not recorded".to_owned(),
        });
    }
    let mut world = build::build(scenario, seed)?;
    let streams = airtoll_engine::Streams::new(seed);
    let recorder = record::Recorder::new(scenario, &world.view(), &streams, sink);
    world.recorder = Some(Box::new(recorder));
    world.run(interrupt)?;
    Ok(world.outcome())
}
