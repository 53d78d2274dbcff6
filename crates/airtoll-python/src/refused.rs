//! A refused scenario as a Python exception.

use airtoll_wlan::ScenarioError;
use pyo3::create_exception;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

create_exception!(
    _native,
    InvalidScenario,
    PyValueError,
    "A scenario that no trial can carry out. `field` is its path (empty for a text that is no scenario), `value` \
     what it has there, `allowed` what it may have."
);

/// The exception of a refused scenario, with the field that is to blame.
pub fn refusal(py: Python<'_>, error: &ScenarioError) -> PyErr {
    let made = InvalidScenario::new_err(error.to_string());
    let (field, value, allowed) = match error {
        ScenarioError::Invalid {
            field,
            value,
            allowed,
        } => (field.clone(), value.clone(), allowed.clone()),
        other => (String::new(), String::new(), other.to_string()),
    };
    let object = made.value(py);
    let named = object
        .setattr("field", field)
        .and_then(|()| object.setattr("value", value))
        .and_then(|()| object.setattr("allowed", allowed));
    named.err().unwrap_or(made)
}
