//! Hand-overs with address resolution at first contact.

use proptest::prelude::*;
use serde_json::json;

use super::{ccmp, eap, scenario, simulate, tcp, value, voice};

#[test]
fn resolved_addresses_stay_valid_at_the_next_access_point() {
    for (policy, method) in [
        (ccmp(2, "open"), "full"),
        (ccmp(4, "open"), "fast-transition"),
        (eap(), "full"),
    ] {
        let calls = json!([voice("s0", "server"), voice("server", "s0")]);
        let mut known = scenario(&policy, &json!({}), &json!({"method": method}), &calls);
        let told = simulate(&known, 1);
        known["address_resolution"] = json!("dynamic");
        let asked = simulate(&known, 1);
        assert_eq!(asked.failure, None);
        // No address is resolved again: the gap is the same up to the phase within 20 ms.
        let gap = |o| value(o, "handover_gap_s");
        assert!(
            (gap(&asked) - gap(&told)).abs() < 0.021,
            "{} {}",
            gap(&asked),
            gap(&told)
        );
        let received = |o: &crate::Outcome| o.value("packets_received", Some("server-s0")).unwrap();
        assert!(received(&asked) > received(&told) - 3.0);
    }
}

#[test]
fn a_first_request_after_the_move_is_answered_at_the_new_access_point() {
    let mut late = scenario(
        &ccmp(2, "open"),
        &json!({}),
        &json!({}),
        &json!([voice("server", "s0")]),
    );
    late["address_resolution"] = json!("dynamic");
    late["flows"][0]["start_s"] = json!(1.2);
    let outcome = simulate(&late, 1);
    assert_eq!(outcome.failure, None);
    assert!(
        outcome
            .value("packets_received", Some("server-s0"))
            .unwrap()
            > 30.0
    );
    // A request during the absence of the station is repeated a second later.
    late["flows"][0]["start_s"] = json!(1.005);
    late["handovers"][0]["scan_s"] = json!(0.2);
    late["duration_s"] = json!(3.0);
    let outcome = simulate(&late, 1);
    assert!(
        outcome
            .value("packets_received", Some("server-s0"))
            .unwrap()
            > 40.0
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]
    #[test]
    fn equal_seeds_give_equal_rows(seed in 0..1000_u64, at in 0.0..1.9_f64, down: bool) {
        let flows = if down { json!([voice("server", "s0")]) } else { json!([tcp()]) };
        let mut value = scenario(&ccmp(2, "open"), &json!({}), &json!({"at_s": at}), &flows);
        value["address_resolution"] = json!("dynamic");
        prop_assert_eq!(simulate(&value, seed), simulate(&value, seed));
    }
}
