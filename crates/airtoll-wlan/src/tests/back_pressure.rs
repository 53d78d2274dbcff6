//! TCP and the transmit queue of its own host: a local sender is held back, a forwarder drops.

use super::{simulate, total};
use crate::Scenario;

/// A saturated TCP flow from a station with `host` at 2 Mb/s; its queue takes `packets`.
fn b2(host: &str, packets: u32, ends: [&str; 2], seconds: f64) -> Scenario {
    let [source, destination] = ends;
    let text = format!(
        r#"{{"duration_s": {seconds},
        "bss": [{{"name": "cell", "standard": "802.11b", "rate": {{"control": "fixed", "mbps": 2}}}}],
        "nodes": [
            {{"name": "s0", "role": "station", "bss": "cell", "host": {{{host}}},
              "queue": {{"packets": {packets}}}}},
            {{"name": "ap", "role": "access_point", "bss": "cell",
              "queue": {{"packets": {packets}}}}},
            {{"name": "server", "role": "wired"}}],
        "links": [{{"nodes": ["ap", "server"], "rate_bps": 1e8}}],
        "flows": [{{"name": "f", "station": "s0", "source": "{source}",
            "destination": "{destination}", "transport": {{"protocol": "tcp"}},
            "pattern": {{"type": "saturated", "payload_octets": 1460}}}}]}}"#
    );
    Scenario::from_json(&text).unwrap()
}

const UP: [&str; 2] = ["s0", "server"];
const DOWN: [&str; 2] = ["server", "s0"];

#[test]
fn a_lone_sender_loses_nothing_in_its_own_queue() {
    for (host, packets) in [
        ("", 500),
        (r#""tcp": "linux-6""#, 500),
        (r#""tcp": "linux-3""#, 500),
        (r#""tcp": "windows-xp""#, 500),
        ("", 20),
        (r#""tcp": "linux-2.4""#, 20),
        (r#""tcp": "windows-10""#, 20),
    ] {
        let outcome = simulate(&b2(host, packets, UP, 20.0), 3);
        assert_eq!(total(&outcome, "packets_lost"), 0.0, "{host} {packets}");
        let goodput = total(&outcome, "throughput_bps");
        assert!(goodput > 1.5e6, "{host} {packets}: {goodput}");
    }
}

#[test]
fn a_sender_without_a_rule_loses_its_own_segments() {
    let outcome = simulate(&b2(r#""tcp": "ns-3""#, 500, UP, 20.0), 3);
    assert!(total(&outcome, "packets_lost") > 0.0);
}

#[test]
fn an_access_point_drops_what_it_forwards() {
    let outcome = simulate(&b2("", 20, DOWN, 20.0), 3);
    assert!(total(&outcome, "packets_lost") > 0.0);
    assert!(total(&outcome, "throughput_bps") > 1.4e6);
}

#[test]
fn no_short_trial_stalls() {
    let scenario = b2("", 500, UP, 2.0);
    let goodput: Vec<f64> = (1..=200)
        .map(|seed| total(&simulate(&scenario, seed), "throughput_bps"))
        .collect();
    let least = goodput.iter().copied().fold(f64::INFINITY, f64::min);
    assert!(least > 1.45e6, "{least}");
}

#[test]
fn a_relay_of_short_segments_keeps_its_rate() {
    let text = r#"{"duration_s": 10, "warm_up_s": 1,
        "bss": [{"name": "cell", "standard": "802.11n", "width_mhz": 40,
            "rate": {"control": "fixed_mcs", "mcs": 7}}],
        "nodes": [
            {"name": "s0", "role": "station", "bss": "cell", "queue": {"packets": 100}},
            {"name": "s1", "role": "station", "bss": "cell"},
            {"name": "ap", "role": "access_point", "bss": "cell"}],
        "flows": [{"name": "f", "station": "s0", "source": "s0", "destination": "s1",
            "transport": {"protocol": "tcp", "mss_octets": 512},
            "pattern": {"type": "saturated", "payload_octets": 512}}]}"#;
    let outcome = simulate(&Scenario::from_json(text).unwrap(), 1);
    assert_eq!(total(&outcome, "packets_lost"), 0.0);
    let goodput = total(&outcome, "throughput_bps");
    assert!(goodput > 42e6, "{goodput}");
}
