//! Fast transition over the DS: the frames through the old access point, and the rest of the gap.

use serde_json::{Value, json};

use super::{ccmp, eap, moved, scenario, simulate, value, voice};
use crate::Scenario;

fn ft() -> Value {
    ccmp(4, "open")
}

#[test]
fn two_frames_of_four_go_before_the_station_leaves() {
    let air = moved(&ft(), &json!({}), "fast-transition");
    let ds = over(&ft(), 1e-4);
    // Action frames to and from the old access point, two between the access points, reassociation.
    assert_eq!(value(&air, "handover_messages"), 4.0);
    assert_eq!(value(&ds, "handover_messages"), 6.0);
    assert!(value(&ds, "handover_request_s") > 4e-4);
    assert!(value(&ds, "handover_association_s") < 0.7 * value(&air, "handover_association_s"));
    assert_eq!(value(&ds, "handover_packets_lost"), 0.0);
    let join = value(&ds, "handover_join_s");
    assert!((join - value(&ds, "handover_association_s")).abs() < 1e-9);
}

fn over(policy: &Value, delay_s: f64) -> crate::Outcome {
    let calls = json!([voice("s0", "server"), voice("server", "s0")]);
    let with = json!({"method": "fast-transition-ds", "scan_s": 0.0, "at_s": 1.003});
    let mut value = scenario(policy, &json!({}), &with, &calls);
    for link in [0, 1] {
        value["links"][link]["delay_s"] = json!(delay_s);
    }
    let outcome = simulate(&value, 1);
    assert_eq!(outcome.failure, None);
    outcome
}

#[test]
fn a_slow_distribution_system_delays_the_request_and_not_the_gap() {
    let (near, far) = (over(&ft(), 1e-4), over(&ft(), 5.1e-3));
    let more = value(&far, "handover_request_s") - value(&near, "handover_request_s");
    // Two wires there and two back.
    assert!((more - 4.0 * 5e-3).abs() < 2e-3, "{more}");
    let longer = value(&far, "handover_join_s") - value(&near, "handover_join_s");
    assert!(longer.abs() < 1e-3, "{longer}");
}

#[test]
fn robust_action_frames_are_longer() {
    let mut protected = ft();
    protected["link"]["pmf"] = json!("required");
    let mut open = ft();
    open["link"]["pmf"] = json!("off");
    let request = |policy| value(&over(policy, 1e-4), "handover_request_s");
    // Two frames with 16 octets more each, at 6 Mb/s.
    let more = request(&protected) - request(&open);
    assert!((more - 2.0 * 16.0 * 8.0 / 6e6).abs() < 1.5e-5, "{more}");
}

#[test]
fn a_transition_over_the_ds_needs_an_ft_akm_and_no_scan() {
    let flows = json!([voice("s0", "server")]);
    let ds = json!({"method": "fast-transition-ds", "scan_s": 0.0});
    let refused = |policy: &Value, with: &Value| {
        let value = scenario(policy, &json!({}), with, &flows);
        Scenario::from_json(&value.to_string())
            .map(|_| ())
            .unwrap_err()
            .to_string()
    };
    assert!(refused(&eap(), &ds).contains("no FT AKM"));
    let scanning = json!({"method": "fast-transition-ds", "scan_s": 0.01});
    assert!(refused(&ft(), &scanning).contains("scan_s"));
}
