//! Joins during the traffic: against joins before it, against the load of the cell, and their flows.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{Set, of_the_cell, policies, policy, scenario, trial, value};
use crate::{Outcome, Scenario};

/// The scenario of [`scenario`] in which the station `s0` joins during the traffic, at `start_us`, and
/// the others before it.
fn late(policy: &Value, set: &Set, start_us: u64) -> Scenario {
    let mut scenario = scenario(policy, set);
    scenario.associations[0].during_traffic = true;
    scenario.associations[0].start_us = start_us;
    scenario
}

/// The same with all flows but that of `s0` saturated.
fn during_load(policy: &Value, start_us: u64) -> Scenario {
    let set = Set {
        stations: 3,
        ..Set::default()
    };
    let mut scenario = late(policy, &set, start_us);
    for flow in &mut scenario.flows[1..] {
        flow.pattern =
            serde_json::from_value(json!({"type": "saturated", "payload_octets": 1472})).unwrap();
    }
    scenario
}

#[test]
fn a_join_during_no_traffic_takes_as_long_as_one_before_it() {
    for policy in policies() {
        let before = trial(&scenario(&policy, &Set::default()), 7);
        let during = trial(&late(&policy, &Set::default(), 100_000), 7);
        assert_eq!(during.failure, None, "{policy}");
        for metric in ["join_time_s", "association_time_s", "negotiation_time_s"] {
            assert_eq!(value(&during, metric), value(&before, metric), "{metric}");
        }
        let messages = "authentication_messages";
        assert_eq!(value(&during, messages), value(&before, messages));
    }
}

#[test]
fn a_join_during_load_takes_longer() {
    for name in ["wpa2-psk-ccmp", "tls"] {
        let mean = |of: &dyn Fn(u64) -> Outcome| {
            let times = (0..10).map(|seed| {
                let outcome = of(seed);
                assert_eq!(outcome.failure, None, "{name}");
                value(&outcome, "join_time_s").unwrap()
            });
            times.sum::<f64>() / 10.0
        };
        let policy = policy(name);
        let idle = mean(&|seed| trial(&late(&policy, &Set::default(), 100_000), seed));
        let busy = mean(&|seed| trial(&during_load(&policy, 100_000), seed));
        // Every frame of the join waits for some frames of two saturated stations, 0.3 ms each.
        let frames = if name == "tls" { 20.0 } else { 8.0 };
        let longer = busy - idle;
        assert!(longer > frames * 1e-4, "{name}: {idle} s and {busy} s");
        assert!(longer < frames * 5e-3, "{name}: {idle} s and {busy} s");
    }
}

#[test]
fn the_flow_of_a_newcomer_starts_with_its_link_and_counts_from_there() {
    let outcome = trial(&late(&policy("tls"), &Set::default(), 100_000), 1);
    let joined = 0.1 + value(&outcome, "join_time_s").unwrap();
    let of = |metric: &str| outcome.value(metric, Some("s0")).unwrap();
    assert!((of("measured_s") - (0.5 - joined)).abs() < 1e-9);
    // 500 octets at 100 kb/s: one packet in 40 ms, the first at the end of the join.
    let packets = ((0.5 - joined) / 0.04).ceil();
    assert_eq!(of("packets_sent"), packets);
    let rate = of("packets_received") * 4000.0 / of("measured_s");
    assert!((of("throughput_bps") - rate).abs() < 1e-6);
    let whole = outcome.value("throughput_bps", None).unwrap();
    assert!((whole - of("packets_received") * 4000.0 / 0.5).abs() < 1e-6);
}

#[test]
fn the_rows_of_the_cell_are_those_of_the_newcomers() {
    let set = Set {
        stations: 4,
        ..Set::default()
    };
    let mut scenario = late(&policy("wpa2-psk-ccmp"), &set, 100_000);
    scenario.associations[1].during_traffic = true;
    scenario.associations[1].start_us = 130_000;
    let outcome = trial(&scenario, 1);
    assert_eq!(outcome.failure, None);
    let times = [0, 1].map(|n| {
        let name = format!("s{n}");
        let rows = outcome.rows.iter();
        let mut own =
            rows.filter(|r| r.metric == "join_time_s" && r.station.as_ref() == Some(&name));
        own.next().unwrap().value
    });
    let mean = of_the_cell(&outcome, "join_time_s");
    assert!((mean - (times[0] + times[1]) / 2.0).abs() < 1e-12);
    assert_eq!(of_the_cell(&outcome, "stations_joined"), 4.0);
    let all = of_the_cell(&outcome, "join_all_time_s");
    assert!((all - (0.03 + times[1])).abs() < 1e-9, "{all}");
}

#[test]
fn traffic_does_not_wait_for_newcomers() {
    let mut scenario = during_load(&policy("tls"), 200_000);
    scenario.associations[0].options.faults.silent_server = true;
    scenario.duration_s = 60.0;
    scenario.association_limit_s = 1.0;
    let outcome = trial(&scenario, 1);
    let failure = outcome.failure.unwrap();
    assert!(
        failure.starts_with("s0 did not authenticate: EAP"),
        "{failure}"
    );
    assert!(failure.ends_with("not done after 1 s"), "{failure}");
    let joined = outcome.rows.iter().filter(|r| r.metric == "join_time_s");
    assert!(joined.clone().any(|r| r.station.as_deref() == Some("s1")));
    assert!(joined.clone().all(|r| r.station.as_deref() != Some("s0")));
}

#[test]
fn a_scenario_in_which_a_newcomer_cannot_join_is_refused() {
    let good = late(&policy("wpa2-psk-ccmp"), &Set::default(), 100_000);
    let mut never = good.clone();
    never.associations[0].spread_us = 400_000;
    let mut talks = good.clone();
    let message = json!({"kind": "mdns", "payload_octets": 100});
    let groups = json!([{"name": "g", "node": "s0", "message": message, "mean_interval_s": 1.0}]);
    talks.group_traffic = serde_json::from_value(groups).unwrap();
    assert_eq!(good.check(), Ok(()));
    for (scenario, words) in [(never, "start_us"), (talks, "group_traffic")] {
        let problem = scenario.check().unwrap_err().to_string();
        assert!(problem.contains(words), "{problem}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn packets_of_newcomers_are_received_lost_or_queued(
        which in 0..10_usize,
        seed in 0..1000_u64,
        start_us in 0..300_000_u64,
        rssi in -90.0..-50.0_f64,
    ) {
        let mut scenario = during_load(&policies()[which], start_us);
        for budget in &mut scenario.radio.budgets {
            budget.rssi_dbm = Some(rssi);
        }
        let outcome = trial(&scenario, seed);
        prop_assert_eq!(&outcome, &trial(&scenario, seed));
        let joined = value(&outcome, "join_time_s").is_some();
        prop_assert_eq!(joined, outcome.failure.is_none());
        for flow in ["s0", "s1", "s2"] {
            let of = |metric| outcome.value(metric, Some(flow));
            let Some(sent) = of("packets_sent") else { continue };
            let ends = of("packets_received").unwrap() + of("packets_lost").unwrap();
            prop_assert_eq!(sent, ends + of("packets_queued").unwrap());
            prop_assert!(of("packets_queued").unwrap() >= 0.0);
        }
        let airtime: f64 = outcome
            .rows
            .iter()
            .filter(|r| r.metric.starts_with("airtime_"))
            .map(|r| r.value)
            .sum();
        if joined {
            prop_assert!((airtime - 0.5).abs() < 1e-9, "{}", airtime);
        }
    }
}
