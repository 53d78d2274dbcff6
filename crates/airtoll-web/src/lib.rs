//! The simulator as a WebAssembly module: a request as JSON in, its answer as JSON out.
//!
//! Takes the scenario that the native module takes and gives the same columns. The module imports
//! nothing: it reads no clock, draws no randomness and does no IO.
//!
//! Calls of a page, in this order: [`abi::request`] makes room for the octets of a request and says
//! where; [`abi::answer`] simulates and gives the number of octets of the answer;
//! [`abi::answer_at`] says where they are. Both places are valid until the next call.

use airtoll_border::Columns;
use airtoll_wlan::{Scenario, ScenarioError};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

pub mod abi;

/// One simulation.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Request<'a> {
    /// The scenario, as the native module takes it.
    #[serde(borrow)]
    scenario: &'a RawValue,
    /// A trial for each seed.
    seeds: Vec<u64>,
}

/// Rows of the trials, or the reason why there are none.
#[derive(Debug, Serialize)]
#[serde(rename_all = "snake_case")]
enum Answer {
    Columns(Columns),
    Error(String),
}

/// The answer to a request: `{"columns": ...}`, or `{"error": "..."}` that names the field.
#[must_use]
pub fn answer(request: &[u8]) -> Vec<u8> {
    let answer = simulate(request).map_or_else(Answer::Error, Answer::Columns);
    serde_json::to_vec(&answer).expect("columns have no key that is not text")
}

fn simulate(request: &[u8]) -> Result<Columns, String> {
    let request: Request<'_> =
        serde_json::from_slice(request).map_err(|error| format!("request: {error}"))?;
    let scenario = Scenario::from_json(request.scenario.get()).map_err(|e| e.to_string())?;
    let outcomes = request
        .seeds
        .into_iter()
        .map(|seed| airtoll_wlan::run(&scenario, seed, &mut || false))
        .collect::<Result<Vec<_>, ScenarioError>>()
        .map_err(|error| error.to_string())?;
    Ok(Columns::new(outcomes))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn scenario() -> Value {
        json!({
            "duration_s": 0.2,
            "bss": [{"name": "cell", "channel": 1, "standard": "dot11g"}],
            "nodes": [
                {"name": "ap", "role": "access_point", "bss": "cell"},
                {"name": "sta", "role": "station", "bss": "cell"},
            ],
            "flows": [{
                "name": "up",
                "source": "sta",
                "destination": "ap",
                "pattern": {"kind": "saturated", "payload_octets": 1000},
            }],
        })
    }

    fn asked(request: &Value) -> Value {
        serde_json::from_slice(&answer(request.to_string().as_bytes())).expect("JSON")
    }

    #[test]
    fn rows_are_those_of_the_simulator() {
        let scenario = scenario();
        let found = asked(&json!({"scenario": scenario, "seeds": [7, 8]}));
        let read = Scenario::from_json(&scenario.to_string()).expect("a scenario");
        let outcomes = [7, 8].map(|seed| airtoll_wlan::run(&read, seed, &mut || false));
        let outcomes = outcomes.into_iter().collect::<Result<_, _>>();
        let expected = Columns::new(outcomes.expect("two trials"));
        assert!(expected.metric.contains(&"throughput_bps"));
        assert_eq!(
            found["columns"],
            serde_json::to_value(expected).expect("JSON")
        );
    }

    #[test]
    fn mistakes_are_named() {
        let mut scenario = scenario();
        scenario["duration_s"] = json!(-1.0);
        let found = asked(&json!({"scenario": scenario, "seeds": [1]}));
        let error = found["error"].as_str().expect("an error");
        assert!(error.contains("duration_s"), "{error}");
        let found = asked(&json!({"scenario": {}, "seed": 1}));
        let error = found["error"].as_str().expect("an error");
        assert!(error.contains("seed"), "{error}");
    }

    #[test]
    fn the_calls_of_a_page_give_the_answer() {
        let request = json!({"scenario": scenario(), "seeds": [7]}).to_string();
        let expected = answer(request.as_bytes());
        abi::fill(request.as_bytes());
        assert_eq!(abi::answer(), expected.len());
        assert!(!abi::answer_at().is_null());
        assert_eq!(abi::taken(), expected);
    }
}
