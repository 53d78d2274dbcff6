//! Wireless bridges: hosts behind stations whose frames have four addresses.

use super::{A54, N40, mbps, simulate, total, uplink, world_after};
use crate::Scenario;
use crate::analytic::analytic;
use crate::id::FlowId;

/// `n` stations that bridge, each with a host `h0`, `h1`, ... that sends to the wired server.
pub(super) fn bridged(
    n: usize,
    bss: &str,
    node: &str,
    transport: &str,
    payload: u32,
    seconds: f64,
) -> Scenario {
    let nodes: String = (0..n)
        .map(|i| {
            format!(
                r#"{{"name": "s{i}", "role": "station", "bss": "cell", "four_address": true{node}}},
                {{"name": "h{i}", "role": "wired"}},"#
            )
        })
        .collect();
    let links: String = (0..n)
        .map(|i| format!(r#"{{"nodes": ["s{i}", "h{i}"], "rate_bps": 1e9}},"#))
        .collect();
    let flows: Vec<String> = (0..n)
        .map(|i| flow(&format!("h{i}"), "server", transport, payload))
        .collect();
    let text = format!(
        r#"{{"duration_s": {seconds},
        "bss": [{{"name": "cell", {bss}}}],
        "nodes": [{nodes}
            {{"name": "ap", "role": "access_point", "bss": "cell"}},
            {{"name": "server", "role": "wired"}}],
        "links": [{links} {{"nodes": ["ap", "server"], "rate_bps": 1e9}}],
        "flows": [{}]}}"#,
        flows.join(",")
    );
    Scenario::from_json(&text).unwrap()
}

fn flow(from: &str, to: &str, transport: &str, payload: u32) -> String {
    format!(
        r#"{{"name": "{from}-{to}", "source": "{from}", "destination": "{to}",
        "transport": {{"protocol": "{transport}"}},
        "pattern": {{"type": "saturated", "payload_octets": {payload}}}}}"#
    )
}

fn with_flow(mut scenario: Scenario, from: &str, to: &str) -> Scenario {
    scenario.flows = vec![serde_json::from_str(&flow(from, to, "udp", 1472)).unwrap()];
    scenario
}

/// MAC octets of each data frame that was acknowledged.
fn mac_octets_per_packet(scenario: &Scenario) -> f64 {
    let outcome = simulate(scenario, 1);
    let frames = total(&outcome, "octets_payload") / 1472.0;
    total(&outcome, "octets_mac") / frames
}

#[test]
fn a_bridges_header_is_six_octets_longer() {
    for (bss, header) in [(A54, 24.0), (A54_EDCA, 26.0)] {
        let station = mac_octets_per_packet(&uplink(1, bss, "", 1472, 1.0));
        let bridge = mac_octets_per_packet(&bridged(1, bss, "", "udp", 1472, 1.0));
        assert_eq!((station, bridge), (header + 4.0, header + 10.0));
    }
}

const A54_EDCA: &str =
    r#""standard": "802.11a", "rate": {"control": "fixed", "mbps": 54}, "edca": true"#;

#[test]
fn hosts_reach_one_another_over_bridges() {
    let two = bridged(2, A54, "", "udp", 1472, 1.0);
    let mut mixed = two.clone();
    mixed.nodes[2].four_address = false;
    mixed.links.retain(|l| !l.nodes.contains(&"s1".to_owned()));
    for (scenario, from, to, hops) in [
        (&two, "server", "h1", 1.0),
        (&two, "h0", "h1", 2.0),
        (&two, "h0", "ap", 1.0),
        (&two, "h0", "s1", 2.0),
        (&mixed, "s1", "h0", 2.0),
        (&mixed, "h0", "s1", 2.0),
    ] {
        let world = world_after(&with_flow(scenario.clone(), from, to), 2);
        let received = world.stack.lower.cx.observers.flows();
        let received = received.of(FlowId::new(0)).delivered_octets as f64;
        assert!(received > 1e6 / hops, "{from} {to}: {received}");
    }
    // Traffic that stays on one side of a bridge uses no airtime.
    let outcome = simulate(&with_flow(two, "h0", "s0"), 2);
    assert!(mbps(&outcome) > 900.0);
    assert_eq!(total(&outcome, "octets_payload"), 0.0);
}

#[test]
fn closed_forms_count_the_fourth_address() {
    for bss in [A54, N40] {
        for payload in [100, 1472] {
            let bridge = bridged(1, bss, "", "udp", payload, 5.0);
            let theory = analytic(&bridge)[0].throughput.unwrap().bps / 1e6;
            let ours = mbps(&simulate(&bridge, 1));
            assert!((ours / theory - 1.0).abs() < 5e-3, "{ours} {theory}");
            let station = analytic(&uplink(1, bss, "", payload, 5.0));
            let station = station[0].throughput.unwrap().bps / 1e6;
            // Six octets more do not always need one more OFDM symbol.
            assert!(theory <= station, "{theory} {station}");
            assert!(payload == 100 || theory < station, "{theory}");
        }
    }
    // Relayed frames are as far from their closed form with four addresses as with three.
    let relayed = with_flow(bridged(2, A54, "", "udp", 1472, 5.0), "h0", "h1");
    let stations = with_flow(uplink(2, A54, "", 1472, 5.0), "s0", "s1");
    let off = |scenario| {
        let theory = analytic(scenario)[0].throughput.unwrap().bps / 1e6;
        mbps(&simulate(scenario, 1)) / theory
    };
    let (bridges, stations) = (off(&relayed), off(&stations));
    assert!(
        (bridges / stations - 1.0).abs() < 1e-2,
        "{bridges} {stations}"
    );
    let local = with_flow(relayed, "h0", "s0");
    assert!(analytic(&local)[0].throughput.is_err());
}

#[test]
fn a_slow_bridge_decides() {
    let slow = r#", "host": {"forward": {"fixed_ns": 1e6}}"#;
    let scenario = bridged(1, A54, slow, "udp", 1472, 5.0);
    let theory = analytic(&scenario)[0].throughput.unwrap().bps / 1e6;
    assert!((theory - 1472.0 * 8.0 / 1e3).abs() < 1e-9);
    assert!((mbps(&simulate(&scenario, 1)) / theory - 1.0).abs() < 1e-2);
}

#[test]
fn what_cannot_bridge_is_refused() {
    let refused = |change: fn(&mut Scenario)| {
        let mut scenario = bridged(1, A54, "", "udp", 1472, 1.0);
        change(&mut scenario);
        scenario.check().unwrap_err().to_string()
    };
    assert!(refused(|s| s.nodes[0].four_address = false).contains("links[0].nodes is s0"));
    assert!(refused(|s| s.nodes[2].four_address = true).contains("nodes[2].four_address"));
}
