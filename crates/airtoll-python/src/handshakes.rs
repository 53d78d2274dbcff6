//! Handshakes: what a policy negotiates, counted from real octets.
//!
//! Takes a policy as JSON, a seed and options as JSON; gives a dictionary of messages, work and
//! outcome. Never carries time: the simulator does.

use std::collections::BTreeMap;

use airtoll_handshakes::negotiation::StageRecord;
use airtoll_handshakes::published::compare;
use airtoll_handshakes::{
    Negotiation, Operation, Options, Outcome, Party, PolicySpec, describe, merge,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::SeedableRng;
use serde_json::{Value, json};

/// Runs everything a policy negotiates without loss: `{"messages": [...], "totals": {...},
/// "outcome": {...}}`. A message has stage, protocol, name, from, to, carrier, length, octets
/// (hexadecimal) and operations. Raises `ValueError` for a policy or an option that is unknown.
#[pyfunction]
#[pyo3(signature = (policy_json, seed, options_json = "{}"))]
fn negotiate(
    py: Python<'_>,
    policy_json: &str,
    seed: u64,
    options_json: &str,
) -> PyResult<Py<PyAny>> {
    let text = py.detach(|| run(policy_json, seed, options_json));
    loads(py, &text.map_err(PyValueError::new_err)?)
}

/// The message counts that Agarwal and Wang print (2005, section VIII.B and Table III) beside the
/// counts of these handshakes, message by message.
#[pyfunction]
#[pyo3(signature = (seed = 1))]
fn compare_message_counts(py: Python<'_>, seed: u64) -> PyResult<Py<PyAny>> {
    let text = py.detach(|| serde_json::to_string(&compare(seed)));
    loads(
        py,
        &text.map_err(|error| PyValueError::new_err(error.to_string()))?,
    )
}

/// Adds this room to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(negotiate, module)?)?;
    module.add_function(wrap_pyfunction!(compare_message_counts, module)?)
}

fn loads(py: Python<'_>, text: &str) -> PyResult<Py<PyAny>> {
    Ok(py.import("json")?.call_method1("loads", (text,))?.unbind())
}

fn run(policy_json: &str, seed: u64, options_json: &str) -> Result<String, String> {
    let policy: PolicySpec =
        serde_json::from_str(policy_json).map_err(|error| format!("policy: {error}"))?;
    let options: Options =
        serde_json::from_str(options_json).map_err(|error| format!("options: {error}"))?;
    let rng = Box::new(ChaCha20Rng::seed_from_u64(seed));
    let negotiation = Negotiation::new(policy, options, rng).map_err(|error| error.to_string())?;
    let preparation = negotiation.preparation();
    let (records, secrets) = negotiation.run().map_err(|error| error.to_string())?;
    let outcome = match records.last().map(|record| &record.outcome) {
        Some(Outcome::Failed(failure)) => json!({
            "established": false,
            "stage": records.last().map(|record| record.stage),
            "failure": failure,
            "text": failure.to_string(),
        }),
        Some(Outcome::Running) | None => json!({"established": false}),
        Some(Outcome::Established(_)) => json!({
            "established": true,
            "secrets": secrets
                .iter()
                .map(|(name, value)| json!({"name": name, "octets": hexadecimal(value)}))
                .collect::<Vec<_>>(),
        }),
    };
    let value = json!({
        "messages": messages(&records),
        "preparation": preparation,
        "totals": totals(&records),
        "outcome": outcome,
    });
    Ok(value.to_string())
}

fn messages(records: &[StageRecord]) -> Vec<Value> {
    let mut rows = Vec::new();
    for record in records {
        for emission in &record.emissions {
            let message = &emission.message;
            let (protocol, name) = describe(message);
            rows.push(json!({
                "stage": record.stage,
                "protocol": protocol,
                "name": name,
                "from": message.from,
                "to": message.to,
                "carrier": message.carrier,
                "length": message.octets.len(),
                "octets": hexadecimal(&message.octets),
                "operations": merge(&emission.operations),
            }));
        }
    }
    rows
}

fn totals(records: &[StageRecord]) -> Value {
    let mut by_protocol: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    let mut by_party: BTreeMap<Party, Vec<Operation>> = BTreeMap::new();
    let (mut air, mut octets_air, mut round_trips) = (0, 0, 0);
    let mut asked = false;
    for emission in records.iter().flat_map(|record| &record.emissions) {
        let message = &emission.message;
        let (protocol, _) = describe(message);
        let entry = by_protocol.entry(protocol).or_default();
        entry.0 += 1;
        entry.1 += message.octets.len();
        by_party
            .entry(message.from)
            .or_default()
            .extend(&emission.operations);
        if message.from == Party::Station {
            asked = true;
        } else if message.to == Party::Station {
            // A round trip is a message of the station that something answers.
            round_trips += usize::from(asked);
            asked = false;
        } else {
            continue;
        }
        air += 1;
        octets_air += message.octets.len();
    }
    json!({
        "messages": records.iter().map(|record| record.emissions.len()).sum::<usize>(),
        "messages_air": air,
        "octets_air": octets_air,
        "round_trips": round_trips,
        "by_protocol": by_protocol
            .iter()
            .map(|(protocol, (count, octets))| {
                json!({"protocol": protocol, "messages": count, "octets": octets})
            })
            .collect::<Vec<_>>(),
        "by_party": by_party
            .iter()
            .map(|(party, operations)| json!({"party": party, "operations": merge(operations)}))
            .collect::<Vec<_>>(),
    })
}

fn hexadecimal(octets: &[u8]) -> String {
    octets.iter().map(|octet| format!("{octet:02x}")).collect()
}
