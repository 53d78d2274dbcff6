//! The ciphers of this machine: published vectors, and what a frame or an operation of a handshake costs.
//!
//! Takes names and lengths; gives outcomes and processor times. The only place of this crate that
//! reads a clock, because a device's cost is what it measures.

use std::time::Duration;
#[cfg(not(unix))]
use std::time::Instant;

use airtoll_border::{cipher_subject_rows, operation_subject_rows, vector_rows};
use airtoll_handshakes::workload;
use airtoll_security::kernels::Engine;
use airtoll_security::workload::{Mode, Subject, Workload};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::answers::answer;

/// Runs every published vector: a list of `airtoll.border.answers.VectorRow`.
#[pyfunction]
fn cipher_vectors(py: Python<'_>) -> PyResult<Py<PyAny>> {
    answer(py, &py.detach(vector_rows))
}

/// The engines this processor runs, best first.
#[pyfunction]
fn cipher_engines() -> Vec<&'static str> {
    Engine::available().map(Engine::name).collect()
}

/// Every cipher and the ways it can run here: a list of `airtoll.border.answers.CipherSubjectRow`.
#[pyfunction]
fn cipher_subjects(py: Python<'_>) -> PyResult<Py<PyAny>> {
    answer(py, &cipher_subject_rows())
}

/// Passes over the lengths in each round.
const PASSES: usize = 9;

/// Microseconds per frame of one cipher: `rounds` rows with one value per payload length. In each
/// round the lengths take turns in short slices of about `slice_us` microseconds, [`PASSES`] times.
/// The value is the median of a length's slices, so that a slice interrupted by other work does not
/// count.
#[pyfunction]
fn measure_cipher(
    py: Python<'_>,
    name: &str,
    mode: &str,
    octets: Vec<usize>,
    rounds: usize,
    slice_us: u64,
) -> PyResult<Vec<Vec<f64>>> {
    let (subject, mode) = find(name, mode)?;
    let slice = Duration::from_micros(slice_us.max(1));
    let mut works = octets
        .iter()
        .map(|&octets| Workload::new(subject, mode, Engine::detect(), octets))
        .collect::<Result<Vec<_>, _>>()
        .map_err(|error| PyValueError::new_err(error.to_string()))?;
    let mut rows = Vec::with_capacity(rounds);
    // The first round warms caches and clocks up and is thrown away.
    for round in 0..=rounds {
        let mut passes = vec![Vec::with_capacity(PASSES); works.len()];
        for _ in 0..PASSES {
            py.check_signals()?;
            for (work, times) in works.iter_mut().zip(&mut passes) {
                times.push(py.detach(|| timed(work, slice)).map_err(|refused| {
                    PyValueError::new_err(format!("{name}: {refused} frames were refused"))
                })?);
            }
        }
        if round > 0 {
            rows.push(passes.into_iter().map(median).collect());
        }
    }
    Ok(rows)
}

/// Every public-key operation of the handshakes: a list of
/// `airtoll.border.answers.OperationSubjectRow`.
#[pyfunction]
fn handshake_operations(py: Python<'_>) -> PyResult<Py<PyAny>> {
    answer(py, &operation_subject_rows())
}

/// Microseconds of one call of an operation: `rounds` means, each over at least one call and about `slice_us`
/// microseconds.
#[pyfunction]
fn measure_operation(
    py: Python<'_>,
    name: &str,
    rounds: usize,
    slice_us: u64,
) -> PyResult<Vec<f64>> {
    let failed = |what: &str| PyValueError::new_err(format!("{name}: {what}"));
    let subject = workload::Subject::all()
        .find(|subject| subject.name() == name)
        .ok_or_else(|| failed("no such operation"))?;
    let mut work = py
        .detach(|| subject.work())
        .ok_or_else(|| failed("its key could not be made"))?;
    let slice = Duration::from_micros(slice_us.max(1));
    let mut times = Vec::with_capacity(rounds);
    // The first round warms caches and clocks up and is thrown away.
    for round in 0..=rounds {
        py.check_signals()?;
        let mean = py
            .detach(|| mean_of_calls(&mut work, slice))
            .ok_or_else(|| failed("the operation failed"))?;
        if round > 0 {
            times.push(mean);
        }
    }
    Ok(times)
}

fn mean_of_calls(work: &mut workload::Work, slice: Duration) -> Option<f64> {
    let start = processor_time();
    let mut calls = 0.0;
    let mut elapsed = Duration::ZERO;
    while elapsed < slice {
        if !work() {
            return None;
        }
        calls += 1.0;
        elapsed = processor_time().saturating_sub(start);
    }
    Some(elapsed.as_secs_f64() * 1e6 / calls)
}

fn find(name: &str, mode: &str) -> PyResult<(Subject, Mode)> {
    let subject = Subject::all()
        .find(|subject| subject.name() == name)
        .ok_or_else(|| PyValueError::new_err(format!("no cipher named {name:?}")))?;
    let mode = subject
        .modes()
        .iter()
        .find(|known| known.name() == mode)
        .ok_or_else(|| PyValueError::new_err(format!("{name} does not run as {mode:?}")))?;
    Ok((subject, *mode))
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Microseconds of processor time per frame, over at least one call and about one slice.
fn timed(work: &mut Workload, slice: Duration) -> Result<f64, usize> {
    let start = processor_time();
    let mut frames = 0;
    let mut refused = 0;
    let mut elapsed = Duration::ZERO;
    while elapsed < slice {
        refused += work.run();
        frames += work.frames();
        elapsed = processor_time().saturating_sub(start);
    }
    if refused > 0 {
        return Err(refused);
    }
    Ok(elapsed.as_secs_f64() * 1e6 / frames as f64)
}

/// Processor time of this thread: the time of other programs in between does not count.
#[cfg(unix)]
fn processor_time() -> Duration {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::try_from(now).unwrap_or_default()
}

/// Time since an arbitrary start, where no clock tells a thread's own.
#[cfg(not(unix))]
#[expect(
    clippy::disallowed_methods,
    reason = "measuring this machine is the purpose; nothing simulated depends on it"
)]
fn processor_time() -> Duration {
    static START: std::sync::LazyLock<Instant> = std::sync::LazyLock::new(Instant::now);
    START.elapsed()
}

/// Adds these functions to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(cipher_vectors, module)?)?;
    module.add_function(wrap_pyfunction!(cipher_engines, module)?)?;
    module.add_function(wrap_pyfunction!(cipher_subjects, module)?)?;
    module.add_function(wrap_pyfunction!(measure_cipher, module)?)?;
    module.add_function(wrap_pyfunction!(handshake_operations, module)?)?;
    module.add_function(wrap_pyfunction!(measure_operation, module)?)
}
