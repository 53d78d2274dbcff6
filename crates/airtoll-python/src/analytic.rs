//! Closed forms for a resolved scenario.

use airtoll_wlan::Scenario;
use airtoll_wlan::analytic::{Answer, analytic as answers, published_maxima};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Why a scenario has no closed form, in one line that names the flow, or `None`.
#[pyfunction]
fn check_analytic(py: Python<'_>, scenario_json: &str) -> Option<String> {
    py.detach(|| match Scenario::from_json(scenario_json) {
        Err(error) => Some(error.to_string()),
        Ok(scenario) => first_refusal(&answers(&scenario)),
    })
}

/// Throughput of every flow and of the whole cell as columns `metric`, `value`, `unit`, `flow`,
/// `station`, `second`, and beside them `lower`, `upper` (bounds, bit/s) and `method`
/// (`maximum`, `bianchi`, `offered`, `tcp_bounds`, for the whole cell `sum`).
///
/// Raises `ValueError` where the scenario cannot be meant or a flow has no closed form.
#[pyfunction]
#[pyo3(name = "analytic")]
fn analytic_columns<'py>(py: Python<'py>, scenario_json: &str) -> PyResult<Bound<'py, PyDict>> {
    let found = py
        .detach(|| {
            let scenario = Scenario::from_json(scenario_json).map_err(|e| e.to_string())?;
            let found = answers(&scenario);
            match first_refusal(&found) {
                Some(reason) => Err(reason),
                None => Ok(found),
            }
        })
        .map_err(PyValueError::new_err)?;
    let throughputs: Vec<_> = found
        .iter()
        .filter_map(|a| a.throughput.ok().map(|t| (a, t)))
        .collect();
    let rows = throughputs.len() + 1;
    let with_sum = |pick: fn(&airtoll_wlan::analytic::Throughput) -> f64| -> Vec<f64> {
        let each: Vec<f64> = throughputs.iter().map(|(_, t)| pick(t)).collect();
        let sum = each.iter().sum();
        each.into_iter().chain([sum]).collect()
    };
    let flows: Vec<_> = throughputs
        .iter()
        .map(|(a, _)| Some(a.flow.as_str()))
        .chain([None])
        .collect();
    let stations: Vec<_> = throughputs
        .iter()
        .map(|(a, _)| a.station.as_deref())
        .chain([None])
        .collect();
    let methods: Vec<_> = throughputs
        .iter()
        .map(|(_, t)| t.method.name())
        .chain(["sum"])
        .collect();
    let columns = PyDict::new(py);
    columns.set_item("metric", vec!["throughput_bps"; rows])?;
    columns.set_item("value", with_sum(|t| t.bps))?;
    columns.set_item("unit", vec!["bit/s"; rows])?;
    columns.set_item("flow", flows)?;
    columns.set_item("station", stations)?;
    columns.set_item("second", vec![None::<u32>; rows])?;
    columns.set_item("lower", with_sum(|t| t.lower_bps))?;
    columns.set_item("upper", with_sum(|t| t.upper_bps))?;
    columns.set_item("method", methods)?;
    Ok(columns)
}

/// Table 4-2 of McCarter's thesis beside ours: one dictionary per line, rates in bit/s.
#[pyfunction]
#[pyo3(name = "published_maxima")]
fn published_maxima_list(py: Python<'_>) -> PyResult<Vec<Bound<'_, PyDict>>> {
    published_maxima()
        .into_iter()
        .map(|line| {
            let row = PyDict::new(py);
            row.set_item("phy", line.phy)?;
            row.set_item("printed_tcp_bps", line.printed_tcp_bps)?;
            row.set_item("printed_udp_bps", line.printed_udp_bps)?;
            row.set_item("udp_bps", line.udp_bps)?;
            row.set_item("tcp_lower_bps", line.tcp.lower_bps)?;
            row.set_item("tcp_upper_bps", line.tcp.upper_bps)?;
            row.set_item("udp_as_printed_bps", line.udp_as_printed_bps)?;
            row.set_item("tcp_as_printed_bps", line.tcp_as_printed_bps)?;
            row.set_item("reading", line.reading)?;
            Ok(row)
        })
        .collect()
}

fn first_refusal(found: &[Answer]) -> Option<String> {
    found.iter().find_map(|answer| {
        let reason = answer.throughput.as_ref().err()?;
        Some(format!("no closed form for flow {}: {reason}", answer.flow))
    })
}

/// Adds this room to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(check_analytic, module)?)?;
    module.add_function(wrap_pyfunction!(analytic_columns, module)?)?;
    module.add_function(wrap_pyfunction!(published_maxima_list, module)?)
}
