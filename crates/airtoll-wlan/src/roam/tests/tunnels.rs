//! Hand-overs of stations with tunnels: the moves of the tunnels, and the traffic inside.

use serde_json::{Value, json};

use super::{ccmp, scenario, simulate, tcp, value, voice};
use crate::Scenario;
use crate::outcome::Outcome;

const ESP: &str = "esp-aes-gcm";
const WIREGUARD: &str = "wireguard";

fn tunnelled(suite: &str, way: &str, options: &Value, flows: &Value) -> Value {
    let mut policy = ccmp(2, "open");
    let key_exchange = if suite == ESP { "ikev2" } else { "noise" };
    policy["tunnels"] = json!([{"suite": suite, "key_exchange": key_exchange}]);
    let mut value = scenario(&policy, options, &json!({"tunnel": way}), flows);
    value["nodes"][0]["tunnels"] = json!([{"peer": "server", "encapsulation": {"suite": suite}}]);
    value["associations"][0]["options"] = options.clone();
    value
}

fn call(suite: &str, way: &str, options: &Value) -> Outcome {
    let calls = json!([voice("s0", "server"), voice("server", "s0")]);
    let outcome = simulate(&tunnelled(suite, way, options, &calls), 1);
    assert_eq!(outcome.failure, None);
    outcome
}

fn parts(outcome: &Outcome) -> f64 {
    ["scan", "association", "keys", "mobile_ip", "tunnel", "wait"]
        .iter()
        .map(|part| value(outcome, &format!("handover_{part}_s")))
        .sum()
}

#[test]
fn mobike_moves_a_tunnel_instead_of_a_new_set_up() {
    let mobike = json!({"mobike": true});
    let anew = call(ESP, "anew", &json!({}));
    let moved = call(ESP, "mobike", &mobike);
    let checked = call(
        ESP,
        "mobike",
        &json!({"mobike": true, "return_routability": true}),
    );
    for (outcome, messages) in [(&anew, 4.0), (&moved, 2.0), (&checked, 4.0)] {
        let of = |metric| value(outcome, metric);
        assert_eq!(of("handover_tunnel_messages"), messages);
        assert!(of("handover_tunnel_octets") > 0.0 && of("handover_tunnel_s") > 0.0);
        assert!((parts(outcome) - of("handover_gap_s")).abs() < 1e-9);
    }
    for metric in ["handover_tunnel_s", "handover_tunnel_octets"] {
        let of = |outcome| value(outcome, metric);
        assert!(
            of(&moved) < of(&checked) && of(&checked) < of(&anew),
            "{metric}"
        );
    }
    // Messages of link and tunnel.
    assert_eq!(value(&moved, "handover_messages"), 10.0);
}

#[test]
fn a_tunnel_goes_there_and_back() {
    let mobike = json!({"mobike": true});
    for (suite, way, options, messages) in [
        (ESP, "anew", json!({}), 4.0),
        (ESP, "mobike", mobike, 2.0),
        (WIREGUARD, "roams", json!({}), 0.0),
    ] {
        let calls = json!([voice("s0", "server"), voice("server", "s0")]);
        let mut value = tunnelled(suite, way, &options, &calls);
        let mut home = value["handovers"][0].clone();
        home["at_s"] = json!(1.5);
        home["bss"] = json!("one");
        value["handovers"].as_array_mut().unwrap().push(home);
        let outcome = simulate(&value, 1);
        assert_eq!(outcome.failure, None);
        let rows = outcome.rows.iter();
        let mean = rows.filter(|r| r.metric == "handover_tunnel_messages" && r.second.is_none());
        assert_eq!(mean.map(|r| r.value).collect::<Vec<_>>(), [messages]);
        for flow in ["s0-server", "server-s0"] {
            let received = outcome.value("packets_received", Some(flow)).unwrap();
            assert!(received > 92.0, "{way} {flow}: {received}");
        }
    }
}

#[test]
fn parts_add_up_also_where_the_far_end_is_far_away() {
    let options = json!({"mobike": true});
    let calls = json!([voice("s0", "server"), voice("server", "s0")]);
    for number in 0..20 {
        let mut far = tunnelled(ESP, "mobike", &options, &calls);
        far["links"][2]["delay_s"] = json!(0.01);
        far["handovers"][0]["scan_s"] = json!(0.0);
        // At any phase of the call within 20 ms.
        far["handovers"][0]["at_s"] = json!(1.0 + 0.001 * f64::from(number));
        let outcome = simulate(&far, 1);
        assert!((parts(&outcome) - value(&outcome, "handover_gap_s")).abs() < 1e-9);
        assert!(value(&outcome, "handover_tunnel_s") > 0.02);
    }
}

#[test]
fn tcp_goes_on_in_a_tunnel_that_moved() {
    for (suite, way, options) in [
        (ESP, "mobike", json!({"mobike": true})),
        (WIREGUARD, "roams", json!({})),
    ] {
        let mut still = tunnelled(suite, way, &options, &json!([tcp()]));
        let roamed = simulate(&still, 1);
        still["handovers"] = json!([]);
        let still = simulate(&still, 1);
        let of = |outcome: &Outcome| outcome.value("throughput_bps", Some("f")).unwrap();
        let lost = 1.0 - of(&roamed) / of(&still);
        assert!((0.005..0.4).contains(&lost), "{way}: {lost}");
        assert!(value(&roamed, "handover_gap_s") < 0.8);
    }
}

#[test]
fn wireguard_follows_the_next_packet_without_messages() {
    let roamed = call(WIREGUARD, "roams", &json!({}));
    assert_eq!(value(&roamed, "handover_tunnel_messages"), 0.0);
    assert_eq!(value(&roamed, "handover_tunnel_s"), 0.0);
    assert!((parts(&roamed) - value(&roamed, "handover_gap_s")).abs() < 1e-9);
    let anew = call(WIREGUARD, "anew", &json!({}));
    assert_eq!(value(&anew, "handover_tunnel_messages"), 3.0);
    // A station that only receives is not found at its new address.
    let down = json!([voice("server", "s0")]);
    let lost = |way| {
        let outcome = simulate(&tunnelled(WIREGUARD, way, &json!({}), &down), 1);
        outcome.value("packets_lost", Some("server-s0")).unwrap()
    };
    assert!(lost("roams") > 45.0 && lost("anew") < 5.0);
}

#[test]
fn under_mobile_ip_a_tunnel_stays() {
    let options = json!({"mobile_ip": "home"});
    let stays = call(ESP, "stays", &options);
    let anew = call(ESP, "anew", &options);
    assert_eq!(value(&stays, "handover_tunnel_messages"), 0.0);
    assert!(value(&stays, "handover_mobile_ip_s") > 0.0);
    assert!(value(&stays, "handover_join_s") < value(&anew, "handover_join_s"));
    assert!((parts(&stays) - value(&stays, "handover_gap_s")).abs() < 1e-9);
}

#[test]
fn a_tunnel_that_cannot_move_that_way_is_refused() {
    let calls = json!([voice("s0", "server")]);
    let mobike = json!({"mobike": true});
    for (suite, way, options) in [
        (ESP, "mobike", json!({})),
        (ESP, "roams", json!({})),
        (ESP, "stays", json!({})),
        (WIREGUARD, "mobike", mobike.clone()),
        (ESP, "mobike", json!({"mobike": true, "mobile_ip": "home"})),
    ] {
        let value = tunnelled(suite, way, &options, &calls);
        let problem = Scenario::from_json(&value.to_string()).unwrap_err();
        assert!(
            problem.to_string().contains("handovers[0].tunnel"),
            "{problem}"
        );
    }
    assert!(Scenario::from_json(&tunnelled(ESP, "mobike", &mobike, &calls).to_string()).is_ok());
}
