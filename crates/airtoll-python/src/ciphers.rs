//! The ciphers of this machine: published vectors, and what a frame costs.
//!
//! Takes names and lengths; gives outcomes and times. The only place of this crate that reads a
//! clock, because a device's cost is what it measures.

use std::time::{Duration, Instant};

use airtoll_security::kernels::Engine;
use airtoll_security::workload::{FRAMES, Mode, Subject, Workload};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// Runs every published vector: (name, source, passed) each.
#[pyfunction]
fn cipher_vectors(py: Python<'_>) -> Vec<(&'static str, &'static str, bool)> {
    py.detach(|| {
        airtoll_security::vectors::run()
            .into_iter()
            .map(|outcome| (outcome.name, outcome.source, outcome.passed))
            .collect()
    })
}

/// The engines this processor runs, best first.
#[pyfunction]
fn cipher_engines() -> Vec<&'static str> {
    Engine::available().map(Engine::name).collect()
}

/// Every cipher and the ways it can run here: (name, "link" or "tunnel", modes) each.
#[pyfunction]
fn cipher_subjects() -> Vec<(&'static str, &'static str, Vec<&'static str>)> {
    Subject::all()
        .map(|subject| {
            let kind = match subject {
                Subject::Link(_) => "link",
                Subject::Tunnel(_) => "tunnel",
            };
            let modes = subject.modes().iter().map(|mode| mode.name()).collect();
            (subject.name(), kind, modes)
        })
        .collect()
}

/// Microseconds per frame of one cipher: `rounds` rows with one value per payload length, the
/// lengths taking turns in slices of about `slice_us` microseconds.
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
        let row = works
            .iter_mut()
            .map(|work| {
                py.check_signals()?;
                py.detach(|| timed(work, slice)).map_err(|refused| {
                    PyValueError::new_err(format!("{name}: {refused} frames were refused"))
                })
            })
            .collect::<PyResult<Vec<f64>>>()?;
        if round > 0 {
            rows.push(row);
        }
    }
    Ok(rows)
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

/// Microseconds per frame over at least one call and about one slice.
#[expect(
    clippy::disallowed_methods,
    reason = "measuring this machine is the purpose; nothing simulated depends on it"
)]
fn timed(work: &mut Workload, slice: Duration) -> Result<f64, usize> {
    let start = Instant::now();
    let mut frames = 0;
    let mut refused = 0;
    while frames == 0 || start.elapsed() < slice {
        refused += work.run();
        frames += FRAMES;
    }
    let elapsed = start.elapsed();
    if refused > 0 {
        return Err(refused);
    }
    Ok(elapsed.as_secs_f64() * 1e6 / frames as f64)
}

/// Adds this room to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(cipher_vectors, module)?)?;
    module.add_function(wrap_pyfunction!(cipher_engines, module)?)?;
    module.add_function(wrap_pyfunction!(cipher_subjects, module)?)?;
    module.add_function(wrap_pyfunction!(measure_cipher, module)?)
}
