//! Hand-overs by level: where a walking station leaves, the length of its scan, and when it stays.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{ccmp, scenario, simulate, value, voice};
use crate::Outcome;

/// A walk of 56 m from one access point to the other, 60 m apart, at 4 m/s; merged with `handover`.
fn walk(handover: &Value, duration_s: f64) -> Value {
    let flows = json!([voice("s0", "server"), voice("server", "s0")]);
    let mut value = scenario(&ccmp(2, "open"), &json!({}), &json!({}), &flows);
    value["duration_s"] = json!(duration_s);
    value["radio"] = json!({"path_loss":
        {"model": "log_distance", "reference_db": 40.0, "exponent": 3.0}});
    for (node, x) in [(0, 2.0), (1, 0.0), (2, 60.0)] {
        value["nodes"][node]["position_m"] = json!([x, 1.0, 0.0]);
    }
    value["handovers"][0]["position_m"] = json!([58.0, 1.0, 0.0]);
    for bss in [0, 1] {
        value["bss"][bss]["beacons"] = json!({"interval_us": 102_400.0});
        value["bss"][bss]["rate"] = json!({"control": "aarf"});
    }
    let own = value["handovers"][0].as_object_mut().unwrap();
    own.remove("at_s");
    own.remove("scan_s");
    own.insert(
        "walk".to_owned(),
        json!({"to_m": [58.0, 1.0, 0.0], "speed_m_s": 4.0, "threshold_dbm": -70.0,
            "hysteresis_db": 4.0}),
    );
    for (key, level) in handover.as_object().unwrap() {
        own.insert(key.clone(), level.clone());
    }
    value
}

fn active(channels: u32) -> Value {
    json!({"scan": {"channels": channels, "min_channel_s": 0.02, "max_channel_s": 0.04}})
}

fn done(value: &Value) -> Outcome {
    let outcome = simulate(value, 1);
    assert_eq!(outcome.failure, None);
    outcome
}

#[test]
fn a_station_that_sets_out_later_leaves_later_by_as_much() {
    let left = |begin_s: f64| {
        let mut value = walk(&active(1), 16.0);
        value["handovers"][0]["walk"]["hysteresis_db"] = json!(1.0);
        value["handovers"][0]["walk"]["begin_s"] = json!(begin_s);
        super::value(&done(&value), "handover_left_s")
    };
    // Ten measurements later; the null frame before the scan contends with the call.
    let later = left(1.024) - left(0.0);
    assert!((later - 1.024).abs() < 2e-3, "{later}");
}

#[test]
fn a_station_leaves_where_the_level_falls_below_the_threshold() {
    let mut at_once = walk(&active(1), 14.0);
    at_once["handovers"][0]["walk"]["hysteresis_db"] = json!(1.0);
    let outcome = done(&at_once);
    let of = |metric| value(&outcome, metric);
    // 16 - 40 - 30 log10(d) is -70 at 34.1 m, reached from 2 m after 8.0 s.
    assert!(
        (8.0..8.2).contains(&of("handover_left_s")),
        "{}",
        of("handover_left_s")
    );
    let (old, new) = (of("handover_old_level_dbm"), of("handover_new_level_dbm"));
    assert!(old < -70.0 && new >= old + 1.0, "{old} {new}");
    assert_eq!(of("handover_scans"), 1.0);
    assert!((of("handover_scan_s") - 0.04).abs() < 1e-3);
    let parts = of("handover_scan_s") + of("handover_association_s") + of("handover_keys_s");
    assert!((parts - of("handover_join_s")).abs() < 1e-9);
}

#[test]
fn more_hysteresis_delays_the_move_and_adds_scans() {
    let with = |hysteresis: f64| {
        let mut value = walk(&active(3), 14.0);
        value["handovers"][0]["walk"]["hysteresis_db"] = json!(hysteresis);
        done(&value)
    };
    let (early, late) = (with(0.0), with(9.0));
    assert!(value(&late, "handover_left_s") > value(&early, "handover_left_s") + 1.0);
    assert!(value(&late, "handover_scans") > value(&early, "handover_scans"));
    // The station came back after each scan, and its call went on.
    let received = |o: &Outcome| o.value("packets_received", Some("s0-server")).unwrap();
    assert!(received(&late) > 0.9 * 14.0 / 0.02, "{}", received(&late));
}

#[test]
fn empty_channels_cost_the_shorter_time_and_a_passive_scan_the_longer_one() {
    let one = value(&done(&walk(&active(1), 14.0)), "handover_scan_s");
    let eleven = value(&done(&walk(&active(11), 14.0)), "handover_scan_s");
    assert!((eleven - one - 10.0 * 0.02).abs() < 0.01, "{one} {eleven}");
    let mut passive = walk(&active(5), 14.0);
    passive["handovers"][0]["scan"] =
        json!({"channels": 5, "passive": true, "min_channel_s": 0.02, "max_channel_s": 0.11});
    let passive = value(&done(&passive), "handover_scan_s");
    assert!((passive - 0.55).abs() < 1e-3, "{passive}");
}

#[test]
fn a_station_stays_without_a_better_access_point() {
    // No beacon comes within a tenth of a millisecond.
    let mut deaf = walk(&active(1), 14.0);
    deaf["handovers"][0]["scan"] =
        json!({"channels": 1, "passive": true, "min_channel_s": 1e-5, "max_channel_s": 1e-4});
    // With a low threshold the station has no reason to scan.
    let mut strong = walk(&active(1), 14.0);
    strong["handovers"][0]["walk"]["threshold_dbm"] = json!(-95.0);
    for value in [deaf, strong] {
        let outcome = done(&value);
        assert!(outcome.rows.iter().all(|r| r.metric != "handover_gap_s"));
    }
}

#[test]
fn rates_follow_the_level() {
    // Without a second access point in reach the far end of the walk is slow.
    let mut stay = walk(&active(1), 14.0);
    stay["radio"]["noise_figure_db"] = json!(11.0);
    stay["handovers"][0]["walk"]["threshold_dbm"] = json!(-95.0);
    stay["flows"] = json!([{"name": "f", "source": "s0", "destination": "server",
        "transport": {"protocol": "udp"},
        "pattern": {"type": "saturated", "payload_octets": 1472}}]);
    stay["series"] = json!(true);
    let mut roam = stay.clone();
    roam["handovers"][0]["walk"]["threshold_dbm"] = json!(-70.0);
    let at = |o: &Outcome, second: u32| {
        let row = o.rows.iter().find(|r| {
            r.metric == "throughput_bps"
                && r.flow.as_deref() == Some("f")
                && r.second == Some(second)
        });
        row.map_or(0.0, |r| r.value)
    };
    let (stay, roam) = (done(&stay), done(&roam));
    assert!(
        at(&stay, 12) < 0.85 * at(&stay, 1),
        "{} {}",
        at(&stay, 12),
        at(&stay, 1)
    );
    assert!(
        at(&roam, 12) > 1.2 * at(&stay, 12),
        "{} {}",
        at(&roam, 12),
        at(&stay, 12)
    );
}

#[test]
fn a_stated_time_may_have_a_scan_with_frames() {
    let mut value = walk(&active(2), 2.0);
    let own = value["handovers"][0].as_object_mut().unwrap();
    own.remove("walk");
    own.insert("at_s".to_owned(), json!(1.0));
    value["radio"] = json!({"path_loss": {"model": "constant", "loss_db": 60.0}});
    let outcome = done(&value);
    assert!((super::value(&outcome, "handover_scan_s") - 0.06).abs() < 2e-3);
}

#[test]
fn a_transition_over_the_ds_needs_no_scan() {
    let mut value = walk(&json!({"method": "fast-transition-ds"}), 14.0);
    for policy in ["/associations/0/policy", "/handovers/0/association/policy"] {
        *value.pointer_mut(policy).unwrap() = ccmp(4, "open");
    }
    let outcome = done(&value);
    assert!(super::value(&outcome, "handover_request_s") > 0.0);
    assert!(super::value(&outcome, "handover_join_s") < 2e-3);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]
    #[test]
    fn equal_seeds_give_equal_rows(
        seed in 0..1000_u64, threshold in -85.0..-60.0_f64, hysteresis in 0.0..12.0_f64,
        channels in 1..6_u32, passive: bool,
    ) {
        let mut value = walk(&active(channels), 12.0);
        value["handovers"][0]["walk"]["threshold_dbm"] = json!(threshold);
        value["handovers"][0]["walk"]["hysteresis_db"] = json!(hysteresis);
        value["handovers"][0]["scan"]["passive"] = json!(passive);
        prop_assert_eq!(simulate(&value, seed), simulate(&value, seed));
    }
}

#[test]
fn the_old_access_point_keeps_packets_for_a_station_that_scans() {
    let mut value = walk(&active(5), 12.0);
    // Only the scans at the end of the walk lead to a move.
    value["handovers"][0]["walk"]["threshold_dbm"] = json!(-60.0);
    value["handovers"][0]["walk"]["hysteresis_db"] = json!(12.0);
    let outcome = done(&value);
    let of = |metric| self::value(&outcome, metric);
    let (scans, kept) = (of("handover_scans"), of("handover_packets_kept"));
    assert!(scans >= 5.0, "{scans}");
    // 0.1 s off the channel, of a call with a packet every 20 ms.
    assert!(kept >= 4.0 * (scans - 1.0), "{kept} of {scans} scans");
    for flow in ["s0-server", "server-s0"] {
        let lost = outcome.value("packets_lost", Some(flow)).unwrap();
        // Packets kept during the scan before the move are lost at the old access point.
        assert!(lost <= 8.0, "{flow}: {lost}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]
    #[test]
    fn only_the_last_scan_loses_packets(
        channels in 1_u32..9, hysteresis in 0.0..12.0_f64, seed in 0_u64..200,
    ) {
        let mut value = walk(&active(channels), 6.0);
        value["handovers"][0]["walk"]["threshold_dbm"] = json!(-55.0);
        value["handovers"][0]["walk"]["hysteresis_db"] = json!(hysteresis);
        let outcome = simulate(&value, seed);
        prop_assert_eq!(&outcome.failure, &None);
        prop_assert_eq!(&outcome, &simulate(&value, seed));
        let lost = outcome.value("packets_lost", Some("server-s0")).unwrap();
        let span = f64::from(channels) * 0.04;
        prop_assert!(lost <= span / 0.02 + 4.0, "{} lost", lost);
    }
}
