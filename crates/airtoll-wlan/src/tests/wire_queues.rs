//! A wire with Linux's `fq_codel` before it.

use super::{simulate, total};
use crate::outcome::Outcome;
use crate::scenario::WireDiscipline;
use crate::{Scenario, ScenarioError};

/// Octets of a packet on a wire beside its IP octets, and in the count of a queue discipline.
const ON_WIRE: f64 = 38.0;
const IN_QUEUE: f64 = 14.0;

/// Flows of a server behind a slow wire to a fast cell; `switch`: a switch with a fast wire stands between, so that
/// the slow wire forwards.
fn behind(rate_bps: f64, packets: u32, switch: bool, flows: &str, duration_s: f64) -> Scenario {
    let slow = format!(r#""rate_bps": {rate_bps}, "queue_packets": {packets}"#);
    let (nodes, links) = if switch {
        (
            r#"{"name": "switch", "role": "wired"}, {"name": "server", "role": "wired"}"#,
            format!(
                r#"{{"nodes": ["ap", "switch"], {slow}}},
                {{"nodes": ["switch", "server"], "rate_bps": 1e9}}"#
            ),
        )
    } else {
        (
            r#"{"name": "server", "role": "wired"}"#,
            format!(r#"{{"nodes": ["ap", "server"], {slow}}}"#),
        )
    };
    let text = format!(
        r#"{{"duration_s": {duration_s}, "warm_up_s": 2,
        "bss": [{{"name": "cell", "standard": "802.11ac", "width_mhz": 80,
            "rate": {{"control": "fixed_mcs", "mcs": 7}}}}],
        "nodes": [
            {{"name": "s0", "role": "station", "bss": "cell"}},
            {{"name": "ap", "role": "access_point", "bss": "cell"}}, {nodes}],
        "links": [{links}], "flows": [{flows}]}}"#
    );
    let scenario = Scenario::from_json(&text).unwrap();
    scenario.check().unwrap();
    scenario
}

fn with(mut scenario: Scenario, discipline: WireDiscipline) -> Outcome {
    for link in &mut scenario.links {
        link.discipline = discipline;
    }
    simulate(&scenario, 1)
}

fn paced(name: &str, payload: u32, rate_bps: f64) -> String {
    format!(
        r#"{{"name": "{name}", "source": "server", "destination": "s0", "transport": {{"protocol": "udp"}},
        "pattern": {{"type": "paced", "payload_octets": {payload}, "rate_bps": {rate_bps}}}}}"#
    )
}

fn download(mss: u32) -> String {
    format!(
        r#"{{"name": "bulk", "source": "server", "destination": "s0",
        "transport": {{"protocol": "tcp", "window_octets": 1048576}},
        "pattern": {{"type": "saturated", "payload_octets": {mss}}}}}"#
    )
}

fn of(outcome: &Outcome, flow: &str, metric: &str) -> f64 {
    outcome.value(metric, Some(flow)).unwrap_or(f64::NAN)
}

#[test]
fn two_flows_share_a_wire_by_octets() {
    // Both flows offer more than the wire of 10 Mb/s carries. In one order each has as many packets as it
    // offers; in turn each has as many octets of Ethernet frames without FCS.
    let flows = [paced("long", 1472, 2e7), paced("short", 472, 2e7)].join(",");
    let scenario = behind(1e7, 1000, false, &flows, 22.0);
    let fair = with(scenario, WireDiscipline::FqCodel);
    let [long, short] = [1500.0, 500.0];
    // Of the time in which each sends one octet of the queue's count.
    let times = [long, short].map(|ip: f64| (ip + ON_WIRE) / (ip + IN_QUEUE));
    let octets_per_s = 1e7 / 8.0 / (times[0] + times[1]);
    for (flow, ip) in [("long", long), ("short", short)] {
        let expected = octets_per_s * 8.0 * (ip - 28.0) / (ip + IN_QUEUE);
        let measured = of(&fair, flow, "throughput_bps");
        assert!(
            (measured / expected - 1.0).abs() < 0.01,
            "{flow} {measured} {expected}"
        );
    }
    let sum = |metric| total(&fair, metric);
    let known = sum("packets_received") + sum("packets_lost") + sum("packets_queued");
    assert!((known / sum("packets_sent") - 1.0).abs() < 0.02);
    assert!(sum("packets_lost") > 0.5 * sum("packets_sent"));
}

#[test]
fn a_flow_below_its_share_waits_for_one_packet_at_most() {
    // The wire of 10 Mb/s takes 1.2304 ms for a packet of 1500 octets.
    let flows = [paced("bulk", 1472, 2e7), paced("thin", 72, 5_760.0)].join(",");
    let scenario = behind(1e7, 100, false, &flows, 22.0);
    let [one, fair] = [WireDiscipline::Fifo, WireDiscipline::FqCodel]
        .map(|discipline| of(&with(scenario.clone(), discipline), "thin", "delay_s"));
    let packet_s = (1500.0 + ON_WIRE) * 8.0 / 1e7;
    let own_s = (100.0 + ON_WIRE) * 8.0 / 1e7;
    // The full queue of one order: 100 packets before it and the one on the wire.
    assert!((one / (100.5 * packet_s) - 1.0).abs() < 0.02, "{one}");
    // In flow queues the rest of the packet on the wire, half of one in the mean, and the air beside a long packet.
    let rest = fair - own_s - packet_s / 2.0;
    assert!((0.0..6e-4).contains(&rest), "{fair} {rest}");
}

#[test]
fn a_wire_that_is_never_full_is_the_same_with_either_discipline() {
    let flows = [paced("a", 1472, 3e6), paced("b", 472, 2e6)].join(",");
    let scenario = behind(1e7, 1000, true, &flows, 12.0);
    let [one, fair] = [WireDiscipline::Fifo, WireDiscipline::FqCodel]
        .map(|discipline| with(scenario.clone(), discipline));
    for flow in ["a", "b"] {
        let [before, after] = [&one, &fair].map(|outcome| of(outcome, flow, "throughput_bps"));
        assert!(
            (after / before - 1.0).abs() < 1e-3,
            "{flow} {before} {after}"
        );
        let [before, after] = [&one, &fair].map(|outcome| of(outcome, flow, "delay_s"));
        assert!(
            (after / before - 1.0).abs() < 0.02,
            "{flow} {before} {after}"
        );
    }
    let lost = [&one, &fair].map(|outcome| total(outcome, "packets_lost"));
    assert_eq!(lost, [0.0, 0.0]);
}

#[test]
fn codel_keeps_the_queue_of_a_forwarder_short() {
    // Up to 1 MiB of segments waits before the slow wire where nothing drops them: 0.86 s at 10 Mb/s.
    let scenario = behind(1e7, 1000, true, &download(1460), 32.0);
    let [one, fair] = [WireDiscipline::Fifo, WireDiscipline::FqCodel]
        .map(|discipline| with(scenario.clone(), discipline));
    let standing = of(&one, "bulk", "delay_s");
    assert!((0.2..0.9).contains(&standing), "{standing}");
    // CoDel's target is 5 ms; a window of TCP swings about it.
    let delay = of(&fair, "bulk", "delay_s");
    assert!((0.002..0.03).contains(&delay), "{delay}");
    let [whole, thinned] = [&one, &fair].map(|outcome| of(outcome, "bulk", "throughput_bps"));
    assert!(thinned > 0.95 * whole, "{thinned} {whole}");
    assert!(total(&fair, "packets_lost") > 0.0);
    assert_eq!(total(&one, "packets_lost"), 0.0);
}

#[test]
fn an_unknown_discipline_is_refused() {
    let text = serde_json::to_string(&behind(1e7, 10, false, &paced("a", 100, 1e4), 3.0)).unwrap();
    let text = text.replace(r#""discipline":"fifo"}]"#, r#""discipline":"sfq"}]"#);
    let problem: Result<Scenario, ScenarioError> = Scenario::from_json(&text);
    assert!(problem.unwrap_err().to_string().contains("sfq"));
}
