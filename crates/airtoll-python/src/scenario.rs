//! A resolved scenario, parsed once, and what can be asked of it.

use std::path::PathBuf;

use airtoll_border::{black_hole_rows, fragmented_flow_rows, probe_traffic_row, weak_link_rows};
use airtoll_wlan::analytic::{self, HighestMcs};
use airtoll_wlan::scenario::{Band, Standard};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde::de::DeserializeOwned;

use crate::analytic::{analytic_columns, why_no_closed_form};
use crate::answers::answer;
use crate::cancel::Cancel;
use crate::fault::guarded;
use crate::refused::{InvalidScenario, refusal};
use crate::simulate::simulate;

/// Station, BSS, MCS, streams, rate in Mb/s and level in dBm of a link.
type RateRow = (String, String, Option<u8>, Option<u8>, f64, f64);

/// Kind, node or flow, size, MPDUs with and without, bit/s with and without.
type LimitRow = (&'static str, String, f64, [u32; 2], [f64; 2]);

/// MCS, rate in Mb/s, whether its frames arrive, and level in dBm.
type HighestRow = (u8, f64, bool, f64);

/// A scenario (`airtoll.border.Scenario` as JSON), parsed and checked once for many trials.
///
/// Raises `InvalidScenario` where a value is not allowed.
#[pyclass(frozen, name = "Scenario")]
pub struct Handle {
    scenario: airtoll_wlan::Scenario,
}

#[pymethods]
impl Handle {
    #[new]
    fn new(py: Python<'_>, text: &str) -> PyResult<Self> {
        match py.detach(|| airtoll_wlan::Scenario::from_json(text)) {
            Ok(scenario) => Ok(Self { scenario }),
            Err(error) => Err(refusal(py, &error)),
        }
    }

    /// Builds the world of a trial, and drops it. Raises `InvalidScenario` where a trial would be refused, `Fault`
    /// where building it stopped at a fault.
    fn check(&self, py: Python<'_>) -> PyResult<()> {
        let checked = py.detach(|| guarded(|| airtoll_wlan::check(&self.scenario)))?;
        checked.map_err(|error| refusal(py, &error))
    }

    /// Stations whose fixed rate loses most frames of 1500 octets, over `interference_dbm` inside their channel
    /// where there is some: a list of `airtoll.border.answers.WeakLinkRow`.
    #[pyo3(signature = (interference_dbm=None))]
    fn weak_links(&self, py: Python<'_>, interference_dbm: Option<f64>) -> PyResult<Py<PyAny>> {
        answer(
            py,
            &py.detach(|| weak_link_rows(&self.scenario, interference_dbm)),
        )
    }

    /// Flows of TCP whose full packets an access point drops in silence: a list of
    /// `airtoll.border.answers.BlackHoleRow`.
    fn black_holes(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        answer(py, &py.detach(|| black_hole_rows(&self.scenario)))
    }

    /// Flows of UDP whose datagrams travel in fragments: a list of
    /// `airtoll.border.answers.FragmentedFlowRow`.
    fn fragmented_flows(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        answer(py, &py.detach(|| fragmented_flow_rows(&self.scenario)))
    }

    /// Probe traffic of stations that pass by: `airtoll.border.answers.ProbeTrafficRow`, or `None`.
    fn probe_traffic(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        answer(py, &py.detach(|| probe_traffic_row(&self.scenario)))
    }

    /// The fixed rates of stations: name, BSS, MCS index and streams (None for rates without), Mb/s, level in
    /// dBm.
    fn station_rates(&self, py: Python<'_>) -> Vec<RateRow> {
        py.detach(|| {
            let rates = analytic::station_rates(&self.scenario).into_iter();
            rates
                .map(|r| {
                    let (mcs, streams) = r.mcs.unzip();
                    (r.station, r.bss, mcs, streams, r.bps / 1e6, r.level_dbm)
                })
                .collect()
        })
    }

    /// Queues, windows and wires that limit the traffic, not the air: `queue`, `socket_buffer`, `window`,
    /// `block_ack_window` or `wire`; its node or flow; its size (packets, octets, MPDUs, bit/s); the MPDUs of an
    /// A-MPDU with it and without it; the throughputs with it and without it.
    fn limits(&self, py: Python<'_>) -> Vec<LimitRow> {
        py.detach(|| {
            let found = analytic::limits(&self.scenario).into_iter();
            found
                .map(|l| (l.kind.name(), l.of, l.size, l.mpdus, l.bps))
                .collect()
        })
    }

    /// Why there is no closed form, in one line that names the flow, or `None`.
    fn check_analytic(&self, py: Python<'_>) -> PyResult<Option<String>> {
        why_no_closed_form(py, &self.scenario)
    }

    /// Throughput of every flow and of the whole cell: `airtoll.border.AnalyticColumns`.
    ///
    /// Raises `ValueError` where a flow has no closed form, and `Fault` where the closed forms stopped at a
    /// fault of their own.
    fn analytic<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        analytic_columns(py, &self.scenario)
    }

    /// Simulates one trial for every seed.
    ///
    /// Gives `airtoll.border.Columns`. The interpreter lock is released meanwhile. Setting `cancel`, or
    /// Ctrl-C in the main thread, ends the call. With `folders`, one for each seed, the frames and
    /// packets of a trial are written there as `air.pcapng` and `wire.pcapng`, its keys as `keys.json`.
    ///
    /// Raises `InvalidScenario` where no trial can be built, SimulationInterrupted where `cancel` was set, OSError
    /// where a file cannot be written, and Fault where the simulator stopped at a fault of its own.
    #[pyo3(signature = (seeds, cancel=None, folders=None))]
    fn simulate<'py>(
        &self,
        py: Python<'py>,
        seeds: Vec<u64>,
        cancel: Option<Bound<'py, Cancel>>,
        folders: Option<Vec<PathBuf>>,
    ) -> PyResult<Bound<'py, PyDict>> {
        simulate(py, &self.scenario, &seeds, cancel, folders)
    }
}

/// The highest MCS that a level supports: its index, its rate in Mb/s, whether nine of ten frames of
/// 1500 octets arrive with it (false: the level is too low for every MCS, and the lowest stands here), and the level
/// that it suits, dBm.
///
/// `standard`, `band` and `coding` as in a scenario (`802.11n`, `5ghz`, `ldpc`); width in MHz, guard interval in ns, level
/// in dBm, noise figure in dB. With a delay spread, ns, the gain differs over the channel: the MCS suits nine of ten such
/// channels; `k_db` is then the power of the line of sight over that of the other paths, dB. Raises ValueError for an unknown name, and where the generation has no MCS with
/// so many streams on such a channel.
#[pyfunction]
#[pyo3(signature = (standard, band, width_mhz, guard_interval_ns, coding, streams, level_dbm, noise_figure_db, delay_spread_ns=0.0, k_db=None))]
#[expect(
    clippy::too_many_arguments,
    reason = "one for each property of the link"
)]
fn highest_mcs(
    standard: &str,
    band: &str,
    width_mhz: u16,
    guard_interval_ns: u16,
    coding: &str,
    streams: u8,
    level_dbm: f64,
    noise_figure_db: f64,
    delay_spread_ns: f64,
    k_db: Option<f64>,
) -> PyResult<HighestRow> {
    let standard: Standard = named(standard)?;
    let band: Band = named(band)?;
    let channel = analytic::Channel {
        band,
        width_mhz,
        guard_interval_ns,
        coding: named(coding)?,
    };
    let heard = analytic::Heard {
        level_dbm,
        noise_figure_db,
        paths: (delay_spread_ns > 0.0).then_some(analytic::Paths {
            k_db,
            delay_spread_ns,
        }),
    };
    let found = analytic::highest_mcs(standard, channel, streams, heard);
    let none = || {
        let refusal = format!("{standard} has no MCS with {streams} streams at {width_mhz} MHz");
        PyValueError::new_err(refusal)
    };
    let found = found.ok_or_else(none)?;
    let HighestMcs {
        mcs,
        bps,
        arrives,
        level_dbm,
    } = found;
    Ok((mcs, bps / 1e6, arrives, level_dbm))
}

/// A name of the border as its value.
fn named<T: DeserializeOwned>(name: &str) -> PyResult<T> {
    serde_json::from_value(name.into()).map_err(|error| PyValueError::new_err(error.to_string()))
}

/// Adds these functions to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("InvalidScenario", module.py().get_type::<InvalidScenario>())?;
    module.add_class::<Handle>()?;
    module.add_function(wrap_pyfunction!(highest_mcs, module)?)
}
