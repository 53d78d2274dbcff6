//! Requests to a running medium and their answers: one JSON object in a line each. The caller
//! owns the socket.
//!
//! | request | answer |
//! |---|---|
//! | `{"op": "begin", "settings": {...}}` | `{}`: a new air from now on; waiting frames are dropped |
//! | `{"op": "statistics", "forget": false}` | counts since the beginning or the last reset |
//! | `{"op": "airtime", "on": true}` | `{}` |
//! | `{"op": "level", "radios": ["A", "B"], "dbm": -70}` | `{}` |
//! | `{"op": "start_flows", "warm_up_s": 1, "counted_s": 5}` | `{}`: those of simulated stations |
//! | `{"op": "end_flows"}` | `{}`: what waits of them is gone |
//! | `{"op": "stop"}` | counts; then the medium ends |
//!
//! The answer to an invalid request is `{"error": "..."}`.

use airtoll_units::Instant;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::medium::Medium;
use crate::settings::Settings;
use crate::statistics::{Counts, Lateness};

/// A request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "op", rename_all = "snake_case", deny_unknown_fields)]
#[schemars(rename = "MediumRequest")]
pub enum Request {
    /// A new air from now on.
    Begin {
        /// The radios and the rules of the BSS.
        settings: Box<Settings>,
    },
    /// Asks for the counts.
    Statistics {
        /// Whether to begin anew after this answer.
        #[serde(default)]
        forget: bool,
    },
    /// Whether frames take airtime from now on.
    Airtime {
        /// False: frames pass at once and unharmed.
        on: bool,
    },
    /// The level at which either of two radios hears the other.
    Level {
        /// Their names.
        radios: [String; 2],
        /// Received power.
        dbm: f64,
    },
    /// The flows of simulated stations begin, and their counts begin anew.
    StartFlows {
        /// Until their counts begin, s.
        #[serde(default)]
        warm_up_s: f64,
        /// For how long they are counted, s; they go on after it.
        counted_s: f64,
        /// Whether the warm-up begins with the first data frame of mac80211 that is as long as their
        /// frames, so that both are counted at the same time.
        #[serde(default)]
        beside: bool,
    },
    /// The flows of simulated stations end; what waits of them is gone.
    EndFlows {},
    /// Asks for the counts and ends the medium.
    Stop {},
}

/// Counts of the program around the medium.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct Service {
    /// How late deliveries and reports were.
    pub lateness: Lateness,
    /// Messages that the kernel refused: to radios that are down or on another channel.
    pub refused: u64,
    /// Times that the kernel had more frames than the socket could hold.
    pub overruns: u64,
}

/// Counts of the medium and of the program around it.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "MediumStatistics")]
pub struct Statistics {
    /// Counts of the medium.
    #[serde(flatten)]
    pub counts: Counts,
    /// Counts of the program.
    #[serde(flatten)]
    pub service: Service,
}

/// Carries out one line; gives the answer (with its line end) and whether this is the end.
pub fn answer(
    line: &str,
    medium: &mut Medium,
    service: &mut Service,
    now: Instant,
) -> (String, bool) {
    let request: Request = match serde_json::from_str(line) {
        Ok(request) => request,
        Err(error) => return (refusal(&error.to_string()), false),
    };
    match request {
        Request::Begin { settings } => match settings.checked() {
            Ok(settings) => {
                medium.begin(settings, now);
                *service = Service::default();
                (said(&json!({})), false)
            }
            Err(error) => (refusal(&error.to_string()), false),
        },
        Request::Statistics { forget } => {
            let text = statistics(medium, service);
            if forget {
                medium.forget();
                *service = Service::default();
            }
            (text, false)
        }
        Request::Airtime { on } => {
            medium.set_airtime(on);
            (said(&json!({})), false)
        }
        Request::Level { radios, dbm } => {
            let settings = medium.settings();
            match radios.each_ref().map(|name| settings.index(name)) {
                [Some(a), Some(b)] if a != b => {
                    medium.set_level([a, b], dbm);
                    (said(&json!({})), false)
                }
                _ => (
                    refusal(&format!("level: no two radios {}", radios.join(" and "))),
                    false,
                ),
            }
        }
        Request::StartFlows {
            warm_up_s,
            counted_s,
            beside,
        } => {
            let fits = |s: f64| (0.0..1e6).contains(&s);
            if !fits(warm_up_s) || !fits(counted_s) {
                let why = "start_flows: warm_up_s and counted_s: 0 to 1000000";
                return (refusal(why), false);
            }
            if !medium.start_flows(now, [warm_up_s, counted_s], beside) {
                return (
                    refusal("start_flows: no simulated station has a flow"),
                    false,
                );
            }
            (said(&json!({})), false)
        }
        Request::EndFlows {} => {
            medium.end_flows(now);
            (said(&json!({})), false)
        }
        Request::Stop {} => (statistics(medium, service), true),
    }
}

fn statistics(medium: &Medium, service: &Service) -> String {
    let all = Statistics {
        counts: medium.counts(),
        service: service.clone(),
    };
    said(&serde_json::to_value(all).expect("counts are plain values"))
}

fn refusal(why: &str) -> String {
    said(&json!({ "error": why }))
}

fn said(value: &Value) -> String {
    format!("{value}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn medium() -> Medium {
        let text = r#"{"radios":[{"name":"a","address":"42:00:00:00:00:00"},
            {"name":"b","address":"42:00:00:00:01:00"}]}"#;
        Medium::new(Settings::from_json(text).unwrap(), Instant::ZERO)
    }

    fn ask(line: &str) -> (Value, bool) {
        let (text, end) = answer(line, &mut medium(), &mut Service::default(), Instant::ZERO);
        (serde_json::from_str(&text).unwrap(), end)
    }

    #[test]
    fn requests_are_answered_by_one_line() {
        let (counts, end) = ask(r#"{"op":"statistics"}"#);
        assert!(!end);
        assert_eq!(counts["radios"][1]["name"], "b");
        assert_eq!(counts["lateness"]["happenings"], 0);
        assert_eq!(
            ask(r#"{"op":"level","radios":["a","b"],"dbm":-60}"#).0,
            json!({})
        );
        assert!(ask(r#"{"op":"stop"}"#).1);
    }

    #[test]
    fn what_cannot_be_meant_is_said() {
        for line in [
            "nonsense",
            r#"{"op":"fly"}"#,
            r#"{"op":"level","radios":["a","c"],"dbm":-60}"#,
            r#"{"op":"begin","settings":{"radios":[],"queue_frames":0}}"#,
            r#"{"op":"start_flows","counted_s":1}"#,
            r#"{"op":"start_flows","counted_s":-1}"#,
            r#"{"op":"start_flows","counted_s":1,"warm_up_s":1e300}"#,
        ] {
            let (said, end) = ask(line);
            assert!(said["error"].is_string() && !end, "{line}");
        }
    }
}
