//! PHY generations: the descriptors of `airtoll-phy` as dictionaries.

use airtoll_phy::{Band, BasicRates, Descriptor, Generation, Legacy, Symbols};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// One dictionary per PHY generation, oldest first. Rates are in Mb/s, widths in MHz, times in
/// microseconds; `mcs_top` and `streams` are `None` where a generation has no MCSs, and the
/// limits of aggregation where it does not aggregate. `symbol_us` is a data symbol with the
/// shortest guard interval, `None` for DSSS. Spaces and signal extension are by band.
#[pyfunction]
fn phy_generations(py: Python<'_>) -> PyResult<Vec<Bound<'_, PyDict>>> {
    Generation::ALL
        .into_iter()
        .map(|generation| row(py, generation.descriptor()))
        .collect()
}

fn row<'py>(py: Python<'py>, d: &Descriptor) -> PyResult<Bound<'py, PyDict>> {
    let rates =
        |rates: &mut dyn Iterator<Item = Legacy>| -> Vec<f64> { rates.map(Legacy::mbps).collect() };
    // Mandatory rates: every DSSS rate, or 6, 12 and 24 Mb/s (16.2.3.4, 17.3.8.3).
    let mandatory = d.announced_rates().filter(|rate| match rate {
        Legacy::Dsss(_) => d.ofdm_rates.is_empty(),
        Legacy::Ofdm(_) => BasicRates::MANDATORY_OFDM.contains(*rate),
    });
    let (long_preamble, symbol, service_and_tail) = match d.symbols {
        Symbols::Spread(spread) => (spread.long_ns, None, None),
        Symbols::Ofdm {
            preamble_ns,
            symbol_ns,
            service_bits,
            tail_bits,
        } => {
            let guard = d.guard_intervals[0].interval.nanos();
            let symbol = f64::from(symbol_ns + guard) / 1e3;
            (preamble_ns, Some(symbol), Some(service_bits + tail_bits))
        }
    };
    let bands = PyDict::new(py);
    for rules in d.bands {
        let set = PyDict::new(py);
        set.set_item("slot_us", rules.timing.slot.as_micros_f64())?;
        set.set_item("sifs_us", rules.timing.sifs.as_micros_f64())?;
        set.set_item("cw_min", rules.timing.cw_min)?;
        set.set_item(
            "signal_extension_us",
            f64::from(rules.signal_extension_ns) / 1e3,
        )?;
        let name = match rules.band {
            Band::Ghz2_4 => "2.4ghz",
            Band::Ghz5 => "5ghz",
            Band::Ghz6 => "6ghz",
        };
        bands.set_item(name, set)?;
    }
    let dict = PyDict::new(py);
    dict.set_item("name", d.standard)?;
    dict.set_item("format", d.format)?;
    dict.set_item("bands", bands)?;
    dict.set_item(
        "widths_mhz",
        d.widths.iter().map(|w| w.width.mhz()).collect::<Vec<_>>(),
    )?;
    dict.set_item(
        "guard_intervals_ns",
        d.guard_intervals
            .iter()
            .map(|g| g.interval.nanos())
            .collect::<Vec<_>>(),
    )?;
    dict.set_item("rates_mbps", rates(&mut { d.legacy_rates() }))?;
    dict.set_item("mandatory_rates_mbps", rates(&mut { mandatory }))?;
    dict.set_item("dsss", d.ofdm_rates.is_empty())?;
    dict.set_item("mcs_top", d.mcs.map(|m| m.top))?;
    dict.set_item("streams", d.mcs.map(|m| m.streams))?;
    dict.set_item("ampdu_octets", d.ampdu.map(|a| a.octets))?;
    dict.set_item("window", d.ampdu.map(|a| a.mpdus))?;
    dict.set_item(
        "shortest_preamble_us",
        f64::from(d.shortest_preamble_ns) / 1e3,
    )?;
    dict.set_item("long_preamble_us", f64::from(long_preamble) / 1e3)?;
    dict.set_item("symbol_us", symbol)?;
    dict.set_item("service_and_tail_bits", service_and_tail)?;
    Ok(dict)
}

/// Adds these functions to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(phy_generations, module)?)
}
