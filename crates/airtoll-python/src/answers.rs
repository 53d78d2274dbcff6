//! Answers as Python's dictionaries and lists, in the shape that the schema states.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde::Serialize;

/// The value as Python reads its JSON.
pub fn answer(py: Python<'_>, value: &impl Serialize) -> PyResult<Py<PyAny>> {
    let text =
        serde_json::to_string(value).map_err(|error| PyValueError::new_err(error.to_string()))?;
    Ok(py.import("json")?.call_method1("loads", (text,))?.unbind())
}
