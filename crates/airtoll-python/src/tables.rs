//! The tables of security suites and of PHY generations.

use airtoll_border::{akm_rows, cipher_rows, eap_rows, generation_rows, tunnel_rows};
use pyo3::prelude::*;

use crate::answers::answer;

/// The AKM suites: a list of `airtoll.border.answers.AkmRow`.
#[pyfunction]
fn akm_suites(py: Python<'_>) -> PyResult<Py<PyAny>> {
    answer(py, &akm_rows())
}

/// The cipher suites, those for group-addressed management frames included: a list of
/// `airtoll.border.answers.CipherRow`.
#[pyfunction]
fn cipher_suites(py: Python<'_>) -> PyResult<Py<PyAny>> {
    answer(py, &cipher_rows())
}

/// The EAP methods: a list of `airtoll.border.answers.EapRow`.
#[pyfunction]
fn eap_methods(py: Python<'_>) -> PyResult<Py<PyAny>> {
    answer(py, &eap_rows())
}

/// The tunnels: a list of `airtoll.border.answers.TunnelRow`.
#[pyfunction]
fn tunnel_suites(py: Python<'_>) -> PyResult<Py<PyAny>> {
    answer(py, &tunnel_rows())
}

/// The PHY generations, oldest first: a list of `airtoll.border.answers.GenerationRow`.
#[pyfunction]
fn phy_generations(py: Python<'_>) -> PyResult<Py<PyAny>> {
    answer(py, &generation_rows())
}

/// Adds the tables to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(akm_suites, module)?)?;
    module.add_function(wrap_pyfunction!(cipher_suites, module)?)?;
    module.add_function(wrap_pyfunction!(eap_methods, module)?)?;
    module.add_function(wrap_pyfunction!(tunnel_suites, module)?)?;
    module.add_function(wrap_pyfunction!(phy_generations, module)?)
}
