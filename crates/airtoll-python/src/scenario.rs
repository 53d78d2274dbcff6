//! Checks of a resolved scenario, before anything is simulated.

use airtoll_wlan::Scenario;
use airtoll_wlan::analytic::weak_links;
use pyo3::prelude::*;

/// The problem of a scenario, in one line, or `None`.
#[pyfunction]
fn check_scenario(py: Python<'_>, scenario_json: &str) -> Option<String> {
    py.detach(|| {
        Scenario::from_json(scenario_json)
            .err()
            .map(|error| error.to_string())
    })
}

/// Stations whose fixed rate loses most frames of 1500 octets: name, level and needed level, dBm.
/// A scenario that is invalid has none.
#[pyfunction]
#[pyo3(name = "weak_links")]
fn weak_link_rows(py: Python<'_>, scenario_json: &str) -> Vec<(String, f64, f64)> {
    py.detach(|| {
        let Ok(scenario) = Scenario::from_json(scenario_json) else {
            return Vec::new();
        };
        let links = weak_links(&scenario).into_iter();
        links
            .map(|l| (l.station, l.level_dbm, l.needed_dbm))
            .collect()
    })
}

/// Adds these functions to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(check_scenario, module)?)?;
    module.add_function(wrap_pyfunction!(weak_link_rows, module)?)
}
