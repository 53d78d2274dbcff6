//! Several stations that hand over: each with its own parts, at once and one after another.

use serde_json::{Value, json};

use super::{Outcome, eap, scenario, simulate, voice};

/// `count` stations, of which one leaves every `stagger_s`; the RADIUS server needs 5 ms for a
/// signature.
fn group(count: usize, stagger_s: f64, handover: &Value) -> Outcome {
    let mut value = scenario(&eap(), &json!({}), handover, &json!([]));
    let array = |value: &Value, key: &str| value[key][0].clone();
    let (node, join, leaves) = (
        array(&value, "nodes"),
        array(&value, "associations"),
        array(&value, "handovers"),
    );
    value["nodes"].as_array_mut().unwrap()[5]["host"] =
        json!({"operations_ns": {"rsa-2048-sign": 5e6}});
    value["flows"] = json!([voice("s0", "server"), voice("server", "s0")]);
    for number in 1..count {
        let name = format!("s{number}");
        let (mut node, mut join, mut leaves) = (node.clone(), join.clone(), leaves.clone());
        (node["name"], join["station"], leaves["station"]) =
            (json!(name), json!(name), json!(name));
        leaves["at_s"] = json!(0.5 + stagger_s * number as f64);
        for (key, one) in [
            ("nodes", node),
            ("associations", join),
            ("handovers", leaves),
        ] {
            value[key].as_array_mut().unwrap().push(one);
        }
        let flows = value["flows"].as_array_mut().unwrap();
        flows.push(voice(&name, "server"));
        flows.push(voice("server", &name));
    }
    let outcome = simulate(&value, 1);
    assert_eq!(outcome.failure, None);
    outcome
}

/// The values of a metric by station.
fn each(outcome: &Outcome, metric: &str) -> Vec<f64> {
    let rows = outcome.rows.iter();
    let own = rows.filter(|r| r.metric == metric && r.station.is_some());
    let names: Vec<_> = own.clone().map(|r| r.station.clone()).collect();
    let mut once = names.clone();
    once.dedup();
    assert_eq!(names, once, "{metric}");
    own.map(|r| r.value).collect()
}

const COUNT: usize = 6;

#[test]
fn the_parts_of_each_gap_add_up() {
    let outcome = group(COUNT, 0.0, &json!({"at_s": 0.5}));
    let sums = ["scan", "association", "eap", "keys"].map(|part| {
        let values = each(&outcome, &format!("handover_{part}_s"));
        assert_eq!(values.len(), COUNT, "{part}");
        values
    });
    let joins = each(&outcome, "handover_join_s");
    let (waits, gaps) = (
        each(&outcome, "handover_wait_s"),
        each(&outcome, "handover_gap_s"),
    );
    assert_eq!(gaps.len(), COUNT);
    for station in 0..COUNT {
        let join: f64 = sums.iter().map(|part| part[station]).sum();
        assert!((join - joins[station]).abs() < 1e-9);
        assert!((join + waits[station] - gaps[station]).abs() < 1e-9);
    }
}

#[test]
fn stations_that_leave_at_once_wait_for_one_another_at_the_server() {
    let longest = |outcome: &Outcome| {
        let joins = each(outcome, "handover_join_s");
        joins.into_iter().fold(0.0, f64::max)
    };
    let alone = longest(&group(1, 0.0, &json!({"at_s": 0.5})));
    let at_once = longest(&group(COUNT, 0.0, &json!({"at_s": 0.5})));
    let staggered = longest(&group(COUNT, 0.1, &json!({"at_s": 0.5})));
    // The last one waits for the signatures of the others.
    let signatures = 5e-3 * (COUNT - 1) as f64;
    assert!(at_once > alone + 0.9 * signatures, "{alone} {at_once}");
    // Its frames wait for those of the calls, but for no signature.
    assert!((staggered - alone).abs() < 5e-3, "{alone} {staggered}");
}

#[test]
fn packets_of_all_flows_are_received_lost_or_queued() {
    let outcome = group(COUNT, 0.01, &json!({"at_s": 0.5, "scan_s": 0.05}));
    let of = |metric: &str| -> Vec<f64> {
        let own = outcome.rows.iter().filter(|r| r.metric == metric);
        own.filter_map(|r| r.flow.as_ref().map(|_| r.value))
            .collect()
    };
    let (sent, received) = (of("packets_sent"), of("packets_received"));
    let (lost, queued) = (of("packets_lost"), of("packets_queued"));
    assert_eq!(sent.len(), 2 * COUNT);
    for flow in 0..sent.len() {
        assert_eq!(sent[flow], received[flow] + lost[flow] + queued[flow]);
        assert!(
            received[flow] > 80.0,
            "the call goes on after the hand-over"
        );
    }
}
