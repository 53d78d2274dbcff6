//! Stations that move more than once: on to a third access point, or back to the first.

use serde_json::{Value, json};

use super::{ccmp, eap, scenario, simulate, tcp, voice};
use crate::Scenario;
use crate::outcome::Outcome;

fn policy(akm: u8) -> Value {
    if akm == 1 {
        return eap();
    }
    ccmp(akm, if akm == 8 { "sae" } else { "open" })
}

/// A call whose station moves to these access points one after the other, half a second apart.
fn walked(policy: &Value, method: &str, path: &[u32]) -> Value {
    let calls = json!([voice("s0", "server"), voice("server", "s0")]);
    let given = json!({"method": method, "at_s": 0.5, "scan_s": 0.0});
    let mut value = scenario(policy, &json!({}), &given, &calls);
    value["duration_s"] = json!(0.5 * (path.len() + 1) as f64);
    let nodes = value["nodes"].as_array_mut().unwrap();
    nodes
        .push(json!({"name": "ap3", "role": "access_point", "bss": "three", "cipher": "ccmp-128"}));
    let mut third = value["bss"][1].clone();
    (third["name"], third["channel"]) = (json!("three"), json!(11));
    value["bss"].as_array_mut().unwrap().push(third);
    let mut wire = value["links"][1].clone();
    wire["nodes"] = json!(["ap3", "switch"]);
    value["links"].as_array_mut().unwrap().push(wire);
    let first = value["handovers"][0].clone();
    let moves = path.iter().enumerate().map(|(number, to)| {
        let mut next = first.clone();
        next["at_s"] = json!(0.5 * (number + 1) as f64);
        next["bss"] = json!(["one", "two", "three"][*to as usize - 1]);
        next
    });
    value["handovers"] = moves.collect();
    value
}

fn of(outcome: &Outcome, metric: &str, second: Option<u32>) -> Vec<f64> {
    let rows = outcome.rows.iter();
    rows.filter(|r| r.metric == metric && r.second == second && r.flow.is_none())
        .map(|r| r.value)
        .collect()
}

fn one(outcome: &Outcome, metric: &str) -> f64 {
    of(outcome, metric, None).first().copied().unwrap_or(0.0)
}

#[test]
fn every_hand_over_has_its_own_rows_and_the_trial_their_mean() {
    let outcome = simulate(&walked(&policy(2), "full", &[2, 3, 2, 1]), 1);
    assert_eq!(outcome.failure, None);
    assert_eq!(one(&outcome, "handovers"), 4.0);
    let gaps: Vec<f64> = (0..3)
        .flat_map(|second| of(&outcome, "handover_gap_s", Some(second)))
        .collect();
    assert_eq!(gaps.len(), 4);
    let mean = gaps.iter().sum::<f64>() / 4.0;
    assert!((one(&outcome, "handover_gap_s") - mean).abs() < 1e-12);
    assert!(
        gaps.iter().all(|gap| (0.001..0.05).contains(gap)),
        "{gaps:?}"
    );
    assert_eq!(one(&outcome, "handover_messages"), 8.0);
    // The call goes on at each access point.
    for flow in ["s0-server", "server-s0"] {
        let received = outcome.value("packets_received", Some(flow)).unwrap();
        assert!(received > 115.0, "{flow}: {received}");
    }
}

#[test]
fn the_first_of_several_hand_overs_equals_a_single_one() {
    let alone = simulate(&walked(&policy(2), "full", &[2]), 1);
    let several = simulate(&walked(&policy(2), "full", &[2, 3]), 1);
    for metric in ["handover_gap_s", "handover_join_s", "handover_keys_s"] {
        let first = of(&several, metric, Some(0));
        assert_eq!(first, of(&alone, metric, None), "{metric}");
        assert_eq!(first.len(), 1);
    }
    assert!(of(&alone, "handovers", None).is_empty());
}

#[test]
fn a_station_that_comes_back_has_the_earlier_pmksa() {
    for akm in [1, 8] {
        let outcome = simulate(&walked(&policy(akm), "pmksa-caching", &[2, 1, 2, 3]), 1);
        assert_eq!(outcome.failure, None);
        let messages: Vec<f64> = (0..3)
            .flat_map(|second| of(&outcome, "handover_messages", Some(second)))
            .collect();
        let [new, back, again, third] = messages[..] else {
            panic!("{messages:?}");
        };
        // Open System authentication, association and the 4-way handshake.
        assert_eq!((back, again), (8.0, 8.0), "AKM {akm}");
        assert!(new > 8.0 && third == new, "AKM {akm}: {messages:?}");
        let full = simulate(&walked(&policy(akm), "full", &[2, 1, 2, 3]), 1);
        assert!(one(&full, "handover_messages") > one(&outcome, "handover_messages"));
    }
}

#[test]
fn fast_transitions_follow_one_another() {
    for (method, messages) in [("fast-transition", 4.0), ("fast-transition-ds", 6.0)] {
        let outcome = simulate(&walked(&policy(4), method, &[2, 3, 1]), 1);
        assert_eq!(outcome.failure, None);
        assert_eq!(one(&outcome, "handovers"), 3.0);
        assert_eq!(one(&outcome, "handover_messages"), messages);
    }
    let ahead = simulate(&walked(&policy(1), "pre-authentication", &[2, 3, 1]), 1);
    assert_eq!(ahead.failure, None);
    assert_eq!(one(&ahead, "handover_messages"), 8.0);
}

#[test]
fn an_early_hand_over_waits_for_the_one_before() {
    let mut value = walked(&policy(1), "full", &[2, 3]);
    value["links"][3]["delay_s"] = json!(0.02);
    value["handovers"][1]["at_s"] = json!(0.501);
    let outcome = simulate(&value, 1);
    assert_eq!(outcome.failure, None);
    assert_eq!(one(&outcome, "handovers"), 2.0);
    assert!(one(&outcome, "handover_eap_s") > 0.1);
}

#[test]
fn tcp_and_group_keys_go_on_through_all_of_them() {
    let mut value = walked(&policy(2), "full", &[2, 3, 2, 1]);
    value["flows"] = json!([tcp()]);
    for bss in value["bss"].as_array_mut().unwrap() {
        bss["group_rekey_s"] = json!(0.3);
        bss["group_rekey_on_leave"] = json!(true);
    }
    let outcome = simulate(&value, 1);
    assert_eq!(outcome.failure, None);
    assert!(outcome.value("throughput_bps", Some("f")).unwrap() > 5e6);
    assert!(outcome.value("group_rekeys", None).unwrap() > 10.0);
}

#[test]
fn invalid_paths_are_refused() {
    let good = walked(&policy(2), "full", &[2, 1]);
    assert!(Scenario::from_json(&good.to_string()).is_ok());
    for (path, wrong) in [
        ("/handovers/1/bss", json!("two")),
        ("/handovers/0/bss", json!("one")),
        ("/handovers/1/bss", json!("server")),
        ("/handovers/1/position_m", json!([1.0, 0.0, 0.0])),
    ] {
        let mut value = good.clone();
        let (at, key) = path.rsplit_once('/').unwrap();
        value.pointer_mut(at).unwrap()[key] = wrong;
        assert!(Scenario::from_json(&value.to_string()).is_err(), "{path}");
    }
    let mut value = good;
    value["handovers"][1]["at_s"] = json!(0.1);
    assert!(Scenario::from_json(&value.to_string()).is_err());
}

#[test]
fn equal_seeds_give_equal_rows() {
    let value = walked(&policy(8), "pmksa-caching", &[2, 3, 2, 1]);
    assert_eq!(simulate(&value, 7).rows, simulate(&value, 7).rows);
}
