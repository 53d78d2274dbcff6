//! Hand-overs between subnets of Mobile IP: foreign agents, their advertisements, and movement
//! detection.

use serde_json::{Value, json};

use super::{ccmp, scenario, simulate, tcp, value, voice};
use crate::world::World;
use crate::{Scenario, build};

/// A call of a station that moves from home to a foreign network and, if asked to, back.
fn abroad(listens: bool, period_s: Option<f64>, back: bool) -> Value {
    let calls = json!([voice("s0", "server"), voice("server", "s0")]);
    let options = json!({"mobile_ip": "foreign", "listens": listens});
    let given = json!({"at_s": 1.0, "scan_s": 0.0});
    let mut value = scenario(&ccmp(2, "open"), &options, &given, &calls);
    value["duration_s"] = json!(4.0);
    value["associations"][0]["options"] = json!({"mobile_ip": "home"});
    value["handovers"][0]["association"]["foreign_agent"] = json!("ap2");
    if back {
        let mut home = value["handovers"][0].clone();
        home["at_s"] = json!(2.5);
        home["bss"] = json!("one");
        home["association"]["options"] = json!({"mobile_ip": "home", "listens": listens});
        value["handovers"].as_array_mut().unwrap().push(home);
    }
    if let Some(period_s) = period_s {
        value["mobility_agents"] = json!([
            {"node": "server", "bss": "one", "period_s": period_s},
            {"node": "ap2", "bss": "two", "foreign": true, "period_s": period_s,
                "offset_s": period_s / 3.0},
        ]);
    }
    value
}

fn ran(value: &Value) -> World {
    let scenario = Scenario::from_json(&value.to_string()).unwrap();
    let mut world = build::build(&scenario, 1).unwrap();
    world.run(&mut || false).unwrap();
    world
}

#[test]
fn abroad_packets_go_by_the_home_agent_in_both_directions() {
    for back in [false, true] {
        let mut world = ran(&abroad(false, None, back));
        let outcome = world.outcome();
        assert_eq!(outcome.failure, None);
        // Between 1 s and 4 s, or 2.5 s, at 50 packets a second.
        let expected = if back { 75 } else { 150 };
        for node in ["server", "ap2"] {
            let net = &world.stack.net;
            let mut nodes = net.nodes();
            let node = nodes.find(|n| net.name(*n) == node).unwrap();
            let taken = net.tunnels(node).iter().last().unwrap().taken();
            assert!(taken.abs_diff(expected) < 4, "{}: {taken}", net.name(node));
        }
        for flow in ["s0-server", "server-s0"] {
            assert!(outcome.value("packets_received", Some(flow)).unwrap() > 190.0);
        }
    }
    let outcome = simulate(&abroad(false, None, false), 1);
    // Solicitation, advertisement, request and reply, the last two by the foreign agent.
    assert_eq!(value(&outcome, "handover_messages"), 14.0);
    assert!(value(&outcome, "handover_mobile_ip_s") > 0.0);
    assert!(outcome.value("mobile_ip_advertisements", None).is_none());
}

#[test]
fn who_listens_finds_out_when_the_last_advertisement_has_run_out() {
    let outcome = simulate(&abroad(true, Some(0.3), false), 1);
    assert_eq!(outcome.failure, None);
    let of = |metric| value(&outcome, metric);
    // Valid for a second, and the last one was heard at most a period before it left.
    let movement = of("handover_movement_s");
    assert!((0.69..1.0).contains(&movement), "{movement}");
    assert!(of("handover_mobile_ip_s") > movement);
    assert!(of("handover_mobile_ip_s") < movement + 0.02);
    assert!(of("handover_gap_s") > movement);
    // No solicitation and no reply to one; packets sent meanwhile are lost.
    assert_eq!(of("handover_messages"), 12.0);
    assert!(of("handover_packets_lost") > 2.0 * 50.0 * (movement - 0.05));
    let sent = outcome.value("mobile_ip_advertisements", None).unwrap();
    assert!((26.0..=28.0).contains(&sent), "{sent}");
    let solicited = simulate(&abroad(false, Some(0.3), false), 1);
    assert!(value(&solicited, "handover_gap_s") < 0.05);
    let airtime = |o: &crate::Outcome| o.value("airtime_management_s", None).unwrap();
    let silent = simulate(&abroad(false, None, false), 1);
    assert!(airtime(&solicited) > airtime(&silent));
}

#[test]
fn who_hears_no_agent_asks_for_one() {
    let mut value = abroad(true, Some(0.3), false);
    value["mobility_agents"][1]["offset_s"] = json!(60.0);
    let outcome = simulate(&value, 1);
    assert_eq!(outcome.failure, None);
    assert_eq!(super::value(&outcome, "handover_messages"), 14.0);
}

#[test]
fn who_comes_home_finds_out_there_too() {
    let outcome = simulate(&abroad(true, Some(0.2), true), 1);
    assert_eq!(outcome.failure, None);
    assert_eq!(value(&outcome, "handovers"), 2.0);
    let movement = value(&outcome, "handover_movement_s");
    assert!((0.79..1.0).contains(&movement), "{movement}");
}

#[test]
fn tcp_goes_on_abroad_though_its_packets_are_divided() {
    let mut value = abroad(false, Some(1.0), false);
    value["flows"] = json!([tcp()]);
    let outcome = simulate(&value, 1);
    assert_eq!(outcome.failure, None);
    assert!(outcome.value("throughput_bps", Some("f")).unwrap() > 8e6);
    assert_eq!(outcome.rows, simulate(&value, 1).rows);
}

#[test]
fn an_agent_that_cannot_be_meant_is_refused() {
    let good = abroad(true, Some(0.3), false);
    for (path, wrong) in [
        ("/mobility_agents/0/node", json!("nobody")),
        ("/mobility_agents/0/bss", json!("nowhere")),
        ("/mobility_agents/0/period_s", json!(0.0)),
    ] {
        let mut value = good.clone();
        *value.pointer_mut(path).unwrap() = wrong;
        assert!(Scenario::from_json(&value.to_string()).is_err(), "{path}");
    }
}
