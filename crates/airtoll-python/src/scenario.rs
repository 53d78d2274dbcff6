//! Checks of a resolved scenario, before anything is simulated.

use airtoll_wlan::analytic::{self, weak_links};
use airtoll_wlan::scenario::{Band, Standard};
use airtoll_wlan::{Scenario, ScenarioError, black_holes, fragmented};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde::de::DeserializeOwned;

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

/// The highest MCS that a level supports: its index, its rate in Mb/s, and whether nine of ten frames of
/// 1500 octets arrive with it (false: the level is too low for every MCS, and the lowest stands here).
///
/// `standard` and `band` as in a scenario (`802.11n`, `5ghz`); width in MHz, guard interval in ns, level
/// in dBm, noise figure in dB. Raises ValueError for an unknown name, and where the generation has no MCS with
/// so many streams on such a channel.
#[pyfunction]
#[pyo3(signature = (standard, band, width_mhz, guard_interval_ns, streams, level_dbm, noise_figure_db))]
fn highest_mcs(
    standard: &str,
    band: &str,
    width_mhz: u16,
    guard_interval_ns: u16,
    streams: u8,
    level_dbm: f64,
    noise_figure_db: f64,
) -> PyResult<(u8, f64, bool)> {
    let standard: Standard = named(standard)?;
    let band: Band = named(band)?;
    let channel = (band, width_mhz, guard_interval_ns);
    let level = (level_dbm, noise_figure_db);
    let found = analytic::highest_mcs(standard, channel, streams, level);
    let none = || {
        let refusal = format!("{standard} has no MCS with {streams} streams at {width_mhz} MHz");
        PyValueError::new_err(refusal)
    };
    let found = found.ok_or_else(none)?;
    Ok((found.mcs, found.bps / 1e6, found.arrives))
}

/// A name of the border as its value.
fn named<T: DeserializeOwned>(name: &str) -> PyResult<T> {
    serde_json::from_value(name.into()).map_err(|error| PyValueError::new_err(error.to_string()))
}

/// Station, BSS, MCS, streams, rate in Mb/s and level in dBm of a link.
type RateRow = (String, String, Option<u8>, Option<u8>, f64, f64);

/// The fixed rates of stations: name, BSS, MCS index and streams (None for rates without), Mb/s, level in
/// dBm. A scenario that is invalid has none.
#[pyfunction]
fn station_rates(py: Python<'_>, scenario_json: &str) -> Vec<RateRow> {
    py.detach(|| {
        let Ok(scenario) = Scenario::from_json(scenario_json) else {
            return Vec::new();
        };
        let rates = analytic::station_rates(&scenario).into_iter();
        rates
            .map(|r| {
                let (mcs, streams) = r.mcs.unzip();
                (r.station, r.bss, mcs, streams, r.bps / 1e6, r.level_dbm)
            })
            .collect()
    })
}

/// Kind, node or flow, size, MPDUs with and without, bit/s with and without.
type LimitRow = (&'static str, String, f64, [u32; 2], [f64; 2]);

/// Queues, windows and wires that limit the traffic, not the air: `queue`, `socket_buffer`, `window`,
/// `block_ack_window` or `wire`; its node or flow; its size (packets, octets, MPDUs, bit/s); the MPDUs of an
/// A-MPDU with it and without it; the throughputs with it and without it. A scenario that is invalid has
/// none.
#[pyfunction]
fn limits(py: Python<'_>, scenario_json: &str) -> Vec<LimitRow> {
    py.detach(|| {
        let Ok(scenario) = Scenario::from_json(scenario_json) else {
            return Vec::new();
        };
        let found = analytic::limits(&scenario).into_iter();
        found
            .map(|l| (l.kind.name(), l.of, l.size, l.mpdus, l.bps))
            .collect()
    })
}

/// Adds these functions to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(check_scenario, module)?)?;
    module.add_function(wrap_pyfunction!(weak_link_rows, module)?)?;
    module.add_function(wrap_pyfunction!(fragmented_flows, module)?)?;
    module.add_function(wrap_pyfunction!(highest_mcs, module)?)?;
    module.add_function(wrap_pyfunction!(station_rates, module)?)?;
    module.add_function(wrap_pyfunction!(limits, module)?)?;
    module.add_function(wrap_pyfunction!(black_hole_rows, module)?)
}
