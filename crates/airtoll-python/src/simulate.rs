//! The simulator: a scenario and seeds in, columns of observations out.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::PoisonError;

use airtoll_border::{Columns, Sketches};
use airtoll_units::Duration;
use airtoll_wlan::{Outcome, Scenario, ScenarioError};
use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::cancel::{Cancel, SimulationInterrupted};
use crate::fault::guarded;
use crate::recording::Files;
use crate::refused::refusal;

/// Simulates `scenario` once for every seed: columns of observations.
pub fn simulate<'py>(
    py: Python<'py>,
    scenario: &Scenario,
    seeds: &[u64],
    cancel: Option<Bound<'py, Cancel>>,
    folders: Option<Vec<PathBuf>>,
) -> PyResult<Bound<'py, PyDict>> {
    let cancel = cancel.map(|c| c.get().clone());
    let mut signal = None;
    let simulated = || -> Result<Vec<Outcome>, Failure> {
        let mut interrupt = || {
            if cancel.as_ref().is_some_and(Cancel::is_set) {
                return true;
            }
            // Ctrl-C is a Python signal; outside the main thread this finds nothing.
            match Python::attach(|py| py.check_signals()) {
                Ok(()) => false,
                Err(error) => {
                    signal = Some(error);
                    true
                }
            }
        };
        seeds
            .iter()
            .enumerate()
            .map(|(i, seed)| match folders.as_ref().and_then(|f| f.get(i)) {
                Some(folder) => record(scenario, *seed, &mut interrupt, folder),
                None => Ok(airtoll_wlan::run(scenario, *seed, &mut interrupt)?),
            })
            .collect()
    };
    let outcomes = py.detach(|| guarded(simulated));
    if let Some(error) = signal {
        return Err(error);
    }
    let outcomes = outcomes?.map_err(|error| match error {
        Failure::Scenario(ScenarioError::Interrupted) => {
            SimulationInterrupted::new_err("the simulation was interrupted")
        }
        Failure::Scenario(error) => refusal(py, &error),
        Failure::Recording(error) => match error.raw_os_error() {
            Some(code) => PyOSError::new_err((code, words_of(&error))),
            None => PyOSError::new_err(error.to_string()),
        },
    })?;
    columns(py, outcomes)
}

/// The words of the system's error without its number, which Python adds.
fn words_of(error: &io::Error) -> String {
    let text = error.to_string();
    match text.split_once(" (os error") {
        Some((words, _)) => words.to_owned(),
        None => text,
    }
}

/// Why there is no outcome.
enum Failure {
    Scenario(ScenarioError),
    Recording(io::Error),
}

impl From<ScenarioError> for Failure {
    fn from(error: ScenarioError) -> Self {
        Self::Scenario(error)
    }
}

/// One trial, written to `folder` as it runs; ends early on a write error.
fn record(
    scenario: &Scenario,
    seed: u64,
    interrupt: &mut dyn FnMut() -> bool,
    folder: &Path,
) -> Result<Outcome, Failure> {
    let (files, verdict) = Files::new(folder).map_err(Failure::Recording)?;
    let broken = || {
        verdict
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .is_some()
    };
    let mut stop = || interrupt() || broken();
    let outcome = airtoll_wlan::run_recorded(scenario, seed, &mut stop, Box::new(files));
    let mut verdict = verdict.lock().unwrap_or_else(PoisonError::into_inner);
    match verdict.take() {
        Some(error) => Err(Failure::Recording(error)),
        None => Ok(outcome?),
    }
}

fn columns<'py>(py: Python<'py>, outcomes: Vec<Outcome>) -> PyResult<Bound<'py, PyDict>> {
    let Columns {
        trial,
        metric,
        flow,
        station,
        second,
        value,
        unit,
        sketches,
        backoff_excess_slots,
        failure,
    } = py.detach(|| Columns::new(outcomes));
    let table = PyDict::new(py);
    table.set_item("trial", trial)?;
    table.set_item("metric", metric)?;
    table.set_item("flow", flow)?;
    table.set_item("station", station)?;
    table.set_item("second", second)?;
    table.set_item("value", value)?;
    table.set_item("unit", unit)?;
    table.set_item("sketches", distributions(py, sketches)?)?;
    table.set_item("backoff_excess_slots", backoff_excess_slots)?;
    table.set_item("failure", failure)?;
    Ok(table)
}

fn distributions(py: Python<'_>, sketches: Sketches) -> PyResult<Bound<'_, PyDict>> {
    let Sketches {
        trial,
        metric,
        flow,
        station,
        nanoseconds,
        counts,
    } = sketches;
    let table = PyDict::new(py);
    table.set_item("trial", trial)?;
    table.set_item("metric", metric)?;
    table.set_item("flow", flow)?;
    table.set_item("station", station)?;
    table.set_item("nanoseconds", nanoseconds)?;
    table.set_item("counts", counts)?;
    Ok(table)
}

/// Middles of the occupied bins of measured durations, ns, upwards, and the durations in each. The bins
/// are those of the simulator's sketches.
#[pyfunction]
fn sketch(nanoseconds: Vec<u64>) -> (Vec<u64>, Vec<u32>) {
    let durations = nanoseconds.into_iter().map(Duration::from_nanos);
    airtoll_wlan::sketch(durations).into_iter().unzip()
}

/// Adds these functions to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(sketch, module)?)
}
