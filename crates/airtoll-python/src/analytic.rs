//! Closed forms for a resolved scenario.

use airtoll_border::{AnalyticColumns, PublishedMaximum, published_maxima};
use airtoll_wlan::Scenario;
use airtoll_wlan::analytic::analytic as answers;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::fault::guarded;

/// Why a scenario has no closed form, in one line that names the flow, or `None`.
pub fn why_no_closed_form(py: Python<'_>, scenario: &Scenario) -> PyResult<Option<String>> {
    Ok(py.detach(|| guarded(|| columns(scenario).err()))?)
}

/// Throughput of every flow and of the whole cell: `airtoll.border.AnalyticColumns`.
///
/// Raises `ValueError` where a flow has no closed form, and `Fault` where
/// the closed forms stopped at a fault of their own.
pub fn analytic_columns<'py>(py: Python<'py>, scenario: &Scenario) -> PyResult<Bound<'py, PyDict>> {
    let AnalyticColumns {
        metric,
        value,
        unit,
        flow,
        station,
        second,
        lower,
        upper,
        method,
    } = py
        .detach(|| guarded(|| columns(scenario)))?
        .map_err(PyValueError::new_err)?;
    let table = PyDict::new(py);
    table.set_item("metric", metric)?;
    table.set_item("value", value)?;
    table.set_item("unit", unit)?;
    table.set_item("flow", flow)?;
    table.set_item("station", station)?;
    table.set_item("second", second)?;
    table.set_item("lower", lower)?;
    table.set_item("upper", upper)?;
    table.set_item("method", method)?;
    Ok(table)
}

/// Table 4-2 of McCarter's thesis, printed and recomputed: a list of
/// `airtoll.border.PublishedMaximum`.
#[pyfunction]
#[pyo3(name = "published_maxima")]
fn published_maxima_list(py: Python<'_>) -> PyResult<Vec<Bound<'_, PyDict>>> {
    let row = |line| {
        let PublishedMaximum {
            phy,
            printed_tcp_bps,
            printed_udp_bps,
            udp_bps,
            tcp_lower_bps,
            tcp_upper_bps,
            udp_as_printed_bps,
            tcp_as_printed_bps,
            reading,
        } = line;
        let row = PyDict::new(py);
        row.set_item("phy", phy)?;
        row.set_item("printed_tcp_bps", printed_tcp_bps)?;
        row.set_item("printed_udp_bps", printed_udp_bps)?;
        row.set_item("udp_bps", udp_bps)?;
        row.set_item("tcp_lower_bps", tcp_lower_bps)?;
        row.set_item("tcp_upper_bps", tcp_upper_bps)?;
        row.set_item("udp_as_printed_bps", udp_as_printed_bps)?;
        row.set_item("tcp_as_printed_bps", tcp_as_printed_bps)?;
        row.set_item("reading", reading)?;
        Ok(row)
    };
    published_maxima().into_iter().map(row).collect()
}

fn columns(scenario: &Scenario) -> Result<AnalyticColumns, String> {
    AnalyticColumns::new(answers(scenario))
}

/// Adds these functions to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(published_maxima_list, module)?)
}
