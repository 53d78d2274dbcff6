//! Checks of a resolved scenario, before anything is simulated.

use airtoll_wlan::Scenario;
use pyo3::prelude::*;

/// What is wrong with a scenario, in one line, or `None`.
#[pyfunction]
fn check_scenario(py: Python<'_>, scenario_json: &str) -> Option<String> {
    py.detach(|| {
        Scenario::from_json(scenario_json)
            .err()
            .map(|error| error.to_string())
    })
}

/// Adds this room to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(check_scenario, module)?)
}
