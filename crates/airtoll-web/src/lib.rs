//! The simulator as a WebAssembly module: a request as JSON in, its answer as JSON out.
//!
//! Takes the scenario that the native module takes and gives the same columns. The module imports
//! nothing: it reads no clock, draws no randomness and does no IO.
//!
//! Calls of a page, in this order: [`abi::request`] makes room for the octets of a request and says
//! where; [`abi::answer`] simulates and gives the number of octets of the answer;
//! [`abi::answer_at`] says where they are. Both places are valid until the next call.

use airtoll_border::Columns;
use airtoll_wlan::{Outcome, Scenario, ScenarioError};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

pub mod abi;
mod frames;

use frames::{FrameRow, Frames};

/// One simulation.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Request<'a> {
    /// The scenario, as the native module takes it.
    #[serde(borrow)]
    scenario: &'a RawValue,
    /// A trial for each seed.
    seeds: Vec<u64>,
    /// Whether to give the frames of the first trial, too.
    #[serde(default)]
    frames: bool,
}

/// Rows of the trials, or the reason why there are none.
#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Answer {
    Rows {
        columns: Box<Columns>,
        /// Frames of the first trial, if they were asked for.
        #[serde(skip_serializing_if = "Option::is_none")]
        frames: Option<Vec<FrameRow>>,
    },
    Problem {
        error: String,
    },
}

/// The answer to a request: `{"columns": ...}`, or `{"error": "..."}` that names the field.
#[must_use]
pub fn answer(request: &[u8]) -> Vec<u8> {
    let answer = simulate(request).unwrap_or_else(|error| Answer::Problem { error });
    serde_json::to_vec(&answer).expect("columns have no key that is not text")
}

fn simulate(request: &[u8]) -> Result<Answer, String> {
    let request: Request<'_> =
        serde_json::from_slice(request).map_err(|error| format!("request: {error}"))?;
    let scenario = Scenario::from_json(request.scenario.get()).map_err(|e| e.to_string())?;
    let mut frames = None;
    let outcomes = request
        .seeds
        .into_iter()
        .map(|seed| {
            if request.frames && frames.is_none() {
                let (outcome, rows) = recorded(&scenario, seed)?;
                frames = Some(rows);
                return Ok(outcome);
            }
            airtoll_wlan::run(&scenario, seed, &mut || false)
        })
        .collect::<Result<Vec<_>, ScenarioError>>()
        .map_err(|error| error.to_string())?;
    Ok(Answer::Rows {
        columns: Box::new(Columns::new(outcomes)),
        frames,
    })
}

fn recorded(scenario: &Scenario, seed: u64) -> Result<(Outcome, Vec<FrameRow>), ScenarioError> {
    let (sink, rows) = Frames::new(scenario);
    let outcome = airtoll_wlan::run_recorded(scenario, seed, &mut || false, Box::new(sink))?;
    let rows = rows.take();
    Ok((outcome, rows))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn scenario() -> Value {
        json!({
            "duration_s": 0.2,
            "bss": [{
                "name": "cell",
                "standard": "802.11a",
                "rate": {"control": "fixed", "mbps": 54.0},
            }],
            "nodes": [
                {"name": "ap", "role": "access_point", "bss": "cell"},
                {"name": "A", "role": "station", "bss": "cell", "cipher": "ccmp-128"},
            ],
            "flows": [{
                "name": "up",
                "station": "A",
                "source": "A",
                "destination": "ap",
                "transport": {"protocol": "udp"},
                "pattern": {"type": "saturated", "payload_octets": 1000},
            }],
            "radio": {"path_loss": {"model": "constant", "loss_db": 60.0}},
        })
    }

    fn asked(request: &Value) -> Value {
        serde_json::from_slice(&answer(request.to_string().as_bytes())).expect("JSON")
    }

    #[test]
    fn rows_are_those_of_the_simulator() {
        let scenario = scenario();
        let found = answer(
            json!({"scenario": scenario, "seeds": [7, 8]})
                .to_string()
                .as_bytes(),
        );
        let read = Scenario::from_json(&scenario.to_string()).expect("a scenario");
        let outcomes = [7, 8].map(|seed| airtoll_wlan::run(&read, seed, &mut || false));
        let outcomes = outcomes.into_iter().collect::<Result<_, _>>();
        let expected = Columns::new(outcomes.expect("two trials"));
        assert!(expected.metric.contains(&"throughput_bps"));
        // Text, because reading a number may round its last bit and writing does not.
        let expected = serde_json::to_string(&expected).expect("JSON");
        assert_eq!(
            String::from_utf8(found).expect("UTF-8"),
            format!("{{\"columns\":{expected}}}")
        );
    }

    #[test]
    fn frames_name_their_nodes_and_change_no_row() {
        let scenario = scenario();
        let plain = asked(&json!({"scenario": scenario, "seeds": [7, 8]}));
        let found = asked(&json!({"scenario": scenario, "seeds": [7, 8], "frames": true}));
        assert_eq!(plain["columns"], found["columns"]);
        assert_eq!(plain.get("frames"), None);
        let frames = found["frames"].as_array().expect("frames");
        let data = frames.iter().find(|f| f["kind"] == "data").expect("data");
        assert_eq!((&data["from"], &data["to"]), (&json!("A"), &json!("ap")));
        assert_eq!(data["protected"], true);
        let ack = frames.iter().find(|f| f["kind"] == "Ack").expect("an Ack");
        assert_eq!((&ack["from"], &ack["to"]), (&Value::Null, &json!("A")));
        let times = frames.iter().map(|f| f["end_us"].as_f64().expect("a time"));
        assert!(times.is_sorted());
        let spans = |f: &Value| f["begin_us"].as_f64() < f["end_us"].as_f64();
        assert!(frames.iter().all(spans));
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
