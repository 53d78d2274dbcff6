//! The tables of AKM suites, cipher suites, EAP methods and tunnels of `airtoll-security`.
//!
//! Takes nothing; gives one dictionary per row, in the order of the table. Never adds a fact.

use airtoll_security::{AkmHash, AkmSuite, CipherSuite, EapMethod, TunnelSuite};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// A selector as hostapd prints it: `00-0f-ac-2`.
fn selector([a, b, c, kind]: [u8; 4]) -> String {
    format!("{a:02x}-{b:02x}-{c:02x}-{kind}")
}

/// The AKM suites.
#[pyfunction]
fn akm_suites(py: Python<'_>) -> PyResult<Vec<Bound<'_, PyDict>>> {
    AkmSuite::ALL
        .into_iter()
        .map(|akm| {
            let row = PyDict::new(py);
            row.set_item("name", akm.name())?;
            row.set_item("selector", selector(akm.selector()))?;
            row.set_item("suite_type", akm.selector()[3])?;
            row.set_item("policy_word", akm.policy_word())?;
            row.set_item("generations", akm.generations().to_vec())?;
            row.set_item("pairwise", akm.pairwise().map(CipherSuite::name))?;
            row.set_item("hash_octets", akm.hash().map(AkmHash::octets))?;
            row.set_item("authentication", akm.authentication())?;
            row.set_item("is_8021x", akm.is_8021x())?;
            row.set_item("is_psk", akm.is_psk())?;
            row.set_item("is_sae", akm.is_sae())?;
            row.set_item("is_ft", akm.is_ft())?;
            row.set_item("is_192_bit", akm.is_192_bit())?;
            row.set_item("requires_pmf", akm.requires_pmf())?;
            row.set_item("requires_hash_to_element", akm.requires_hash_to_element())?;
            row.set_item("has_forward_secrecy", akm.has_forward_secrecy())?;
            row.set_item("caches_pmk", akm.caches_pmk())?;
            Ok(row)
        })
        .collect()
}

/// The cipher suites, those for group-addressed management frames included.
#[pyfunction]
fn cipher_suites(py: Python<'_>) -> PyResult<Vec<Bound<'_, PyDict>>> {
    CipherSuite::ALL
        .into_iter()
        .map(|suite| {
            let row = PyDict::new(py);
            row.set_item("name", suite.name())?;
            row.set_item("selector", suite.selector().map(selector))?;
            row.set_item("wpa_selector", suite.wpa_selector().map(selector))?;
            row.set_item("mpdu_octets", suite.mpdu_octets())?;
            row.set_item("msdu_octets", suite.msdu_octets())?;
            row.set_item("key_octets", suite.key_octets())?;
            row.set_item("is_group_management", suite.is_group_management())?;
            row.set_item("permits_high_throughput", suite.permits_high_throughput())?;
            Ok(row)
        })
        .collect()
}

/// The EAP methods.
#[pyfunction]
fn eap_methods(py: Python<'_>) -> PyResult<Vec<Bound<'_, PyDict>>> {
    EapMethod::ALL
        .into_iter()
        .map(|method| {
            let row = PyDict::new(py);
            row.set_item("name", method.name())?;
            row.set_item("number", method.number())?;
            row.set_item("gives_keys", method.gives_keys())?;
            row.set_item("uses_tls", method.uses_tls())?;
            row.set_item("runs_tls13", method.runs_tls13())?;
            row.set_item("uses_password", method.uses_password())?;
            row.set_item("inner", method.inner())?;
            Ok(row)
        })
        .collect()
}

/// The tunnels.
#[pyfunction]
fn tunnel_suites(py: Python<'_>) -> PyResult<Vec<Bound<'_, PyDict>>> {
    TunnelSuite::ALL
        .into_iter()
        .map(|suite| {
            let row = PyDict::new(py);
            row.set_item("name", suite.name())?;
            row.set_item("encryption", suite.encryption())?;
            row.set_item("integrity", suite.integrity())?;
            Ok(row)
        })
        .collect()
}

/// Adds the tables to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(akm_suites, module)?)?;
    module.add_function(wrap_pyfunction!(cipher_suites, module)?)?;
    module.add_function(wrap_pyfunction!(eap_methods, module)?)?;
    module.add_function(wrap_pyfunction!(tunnel_suites, module)?)
}
