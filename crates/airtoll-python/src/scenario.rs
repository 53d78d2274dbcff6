//! Checks of a resolved scenario, before anything is simulated.

use airtoll_wlan::analytic::weak_links;
use airtoll_wlan::{Scenario, ScenarioError, black_holes, fragmented};
use pyo3::prelude::*;

use crate::fault::guarded;

/// The first problem of a scenario, or `None`: the path of the field (empty for a text that is no
/// scenario), its value, and what is allowed. The rules are those of a trial: its world is built.
///
/// Raises `Fault` where building it stopped at a fault.
#[pyfunction]
fn check_scenario(py: Python<'_>, scenario_json: &str) -> PyResult<Option<Problem>> {
    let checked = py.detach(|| guarded(|| airtoll_wlan::check(scenario_json)))?;
    Ok(checked.err().map(|error| match error {
        ScenarioError::Invalid {
            field,
            value,
            allowed,
        } => (field, value, allowed),
        other => (String::new(), String::new(), other.to_string()),
    }))
}

/// Field, value, what is allowed.
type Problem = (String, String, String);

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

/// Flows of TCP whose full packets an access point drops in silence: name, length and MTU, octets, and
/// whether the sender finds shorter ones. A scenario that is invalid has none.
#[pyfunction]
#[pyo3(name = "black_holes")]
fn black_hole_rows(py: Python<'_>, scenario_json: &str) -> Vec<(String, u32, u32, bool)> {
    py.detach(|| {
        let Ok(scenario) = Scenario::from_json(scenario_json) else {
            return Vec::new();
        };
        let holes = black_holes(&scenario).into_iter();
        holes
            .map(|h| (h.flow, h.octets, h.mtu_octets, h.found))
            .collect()
    })
}

/// Flows of UDP whose datagrams travel in fragments: name, payload, the longest payload that would not,
/// octets, the MTU that they need, octets, and whether a tunnel is the cause. A scenario that is invalid has none.
#[pyfunction]
fn fragmented_flows(py: Python<'_>, scenario_json: &str) -> Vec<(String, u32, u32, u32, bool)> {
    py.detach(|| {
        let Ok(scenario) = Scenario::from_json(scenario_json) else {
            return Vec::new();
        };
        let cut = fragmented(&scenario).into_iter();
        cut.map(|f| {
            (
                f.flow,
                f.payload_octets,
                f.fits_octets,
                f.mtu_octets,
                f.by_tunnel,
            )
        })
        .collect()
    })
}

/// Adds these functions to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(check_scenario, module)?)?;
    module.add_function(wrap_pyfunction!(weak_link_rows, module)?)?;
    module.add_function(wrap_pyfunction!(fragmented_flows, module)?)?;
    module.add_function(wrap_pyfunction!(black_hole_rows, module)?)
}
