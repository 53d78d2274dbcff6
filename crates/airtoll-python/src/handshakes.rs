//! Handshakes: the messages of a policy, counted from real octets.
//!
//! Carries no time: the simulator does.

use airtoll_border::Negotiated;
use airtoll_handshakes::published::compare;
use airtoll_handshakes::tls::{Chain, Credential, certificate};
use airtoll_handshakes::{Options, PolicySpec};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::SeedableRng;

use crate::answers::answer;

/// Runs everything a policy negotiates without loss; gives `airtoll.border.Negotiated`. The
/// arguments are the JSON of `airtoll.border.PolicySpec` and `airtoll.border.Options`. Raises
/// `ValueError` for a field or a value that is unknown.
#[pyfunction]
#[pyo3(signature = (policy_json, seed, options_json = "{}"))]
fn negotiate(
    py: Python<'_>,
    policy_json: &str,
    seed: u64,
    options_json: &str,
) -> PyResult<Py<PyAny>> {
    let negotiated = py.detach(|| run(policy_json, seed, options_json));
    answer(py, &negotiated.map_err(PyValueError::new_err)?)
}

/// The message counts that Agarwal and Wang print (2005, section VIII.B and Table III) beside the
/// counts of these handshakes, message by message: a list of `airtoll.border.Comparison`.
#[pyfunction]
#[pyo3(signature = (seed = 1))]
fn compare_message_counts(py: Python<'_>, seed: u64) -> PyResult<Py<PyAny>> {
    let counts = py.detach(|| compare(seed));
    answer(py, &counts)
}

/// The test PKI of a chain, whose keys protect nothing: `(name, DER)` of `root`, then of `server`, `server.key`,
/// `client` and `client.key`, a leaf before its issuing CA under one name. The argument is the JSON list
/// of algorithms from leaf to root. Raises `ValueError` for a list that no chain has.
#[pyfunction]
fn test_certificates(py: Python<'_>, chain_json: &str) -> PyResult<Vec<(&'static str, Vec<u8>)>> {
    let chain: Chain = serde_json::from_str(chain_json)
        .map_err(|error| PyValueError::new_err(format!("chain: {error}")))?;
    py.detach(|| issued(chain))
        .ok_or_else(|| PyValueError::new_err("chain: a key has no encoding"))
}

/// Adds these functions to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(negotiate, module)?)?;
    module.add_function(wrap_pyfunction!(compare_message_counts, module)?)?;
    module.add_function(wrap_pyfunction!(test_certificates, module)?)
}

fn issued(chain: Chain) -> Option<Vec<(&'static str, Vec<u8>)>> {
    let mut out = vec![("root", certificate::root(chain))];
    for (name, key, credential) in [
        ("server", "server.key", Credential::server(chain)),
        ("client", "client.key", Credential::client(chain)),
    ] {
        out.extend(credential.chain().iter().map(|der| (name, der.clone())));
        out.push((key, credential.key_der()?));
    }
    Some(out)
}

fn run(policy_json: &str, seed: u64, options_json: &str) -> Result<Negotiated, String> {
    let policy: PolicySpec =
        serde_json::from_str(policy_json).map_err(|error| format!("policy: {error}"))?;
    let options: Options =
        serde_json::from_str(options_json).map_err(|error| format!("options: {error}"))?;
    let rng = Box::new(ChaCha20Rng::seed_from_u64(seed));
    airtoll_border::negotiate(policy, options, rng)
}
