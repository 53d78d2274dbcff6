//! Readings that depend on the length of the trial: their two halves differ.

use super::{A54, cell, simulate, total};
use crate::{Outcome, Scenario};

/// One station at 54 Mb/s that sends datagrams to a wired host, `mbps` of them; the access point takes
/// `forward_us` for each.
fn uplink(mbps: f64, forward_us: f64, seconds: f64) -> Scenario {
    let text = format!(
        r#"{{"duration_s": {seconds}, "warm_up_s": 0.5,
        "bss": [{{"name": "cell", "standard": "802.11a", "rate": {{"control": "fixed", "mbps": 54}}}}],
        "nodes": [
            {{"name": "s0", "role": "station", "bss": "cell"}},
            {{"name": "ap", "role": "access_point", "bss": "cell",
              "host": {{"forward": {{"fixed_ns": {}, "per_octet_ns": 0}}}}}},
            {{"name": "server", "role": "wired"}}],
        "links": [{{"nodes": ["ap", "server"], "rate_bps": 1e9}}],
        "flows": [{{"name": "f", "station": "s0", "source": "s0", "destination": "server",
            "transport": {{"protocol": "udp"}},
            "pattern": {{"type": "paced", "payload_octets": 1472, "rate_bps": {}}}}}]}}"#,
        forward_us * 1e3,
        mbps * 1e6,
    );
    Scenario::from_json(&text).unwrap()
}

fn drift(outcome: &Outcome, metric: &str) -> Option<f64> {
    outcome.value(metric, Some("f"))
}

#[test]
fn an_overloaded_cpu_is_busy_for_the_whole_trial_and_no_longer() {
    // 20 Mb/s are 1,698 packets a second, of which the CPU forwards 1,000.
    let outcome = simulate(&uplink(20.0, 1_000.0, 4.0), 1);
    let share = total(&outcome, "cpu_share");
    assert!((0.99..=1.0).contains(&share), "{share}");
    assert!((total(&outcome, "throughput_bps") / 11.776e6 - 1.0).abs() < 0.01);
    // Delays grow by 0.411 s in each second. Packets sent after the warm-up arrive from 0.85 s on, and the
    // middles of their halves are 1.575 s apart.
    let grown = drift(&outcome, "delay_drift_s").unwrap();
    assert!((grown / 0.647 - 1.0).abs() < 0.01, "{grown}");
    assert_eq!(drift(&outcome, "throughput_drift_bps"), None);
}

#[test]
fn a_load_that_is_carried_has_halves_alike() {
    let outcome = simulate(&uplink(5.0, 1_000.0, 4.0), 1);
    let share = total(&outcome, "cpu_share");
    assert!((share / 0.4246 - 1.0).abs() < 0.01, "{share}");
    assert_eq!(drift(&outcome, "delay_drift_s"), None);
    assert_eq!(drift(&outcome, "throughput_drift_bps"), None);
}

#[test]
fn lookups_and_requests_deliver_no_more_than_they_offer() {
    let station = r#"{"name": "s0", "role": "station", "bss": "cell"},"#;
    let request = r#"{"type": "request_response", "request_octets": 300, "response_octets": 900"#;
    for (protocol, pattern, loss) in [
        ("udp", r#"{"type": "dns"}"#.to_owned(), 0.0),
        ("tcp", r#"{"type": "dns"}"#.to_owned(), 0.0),
        ("udp", format!(r#"{request}, "retry_s": 0.01}}"#), 0.0),
        ("udp", format!(r#"{request}, "retry_s": 0.01}}"#), 0.2),
        ("tcp", format!("{request}}}"), 0.0),
    ] {
        let flow = format!(
            r#"{{"name": "f", "source": "s0", "destination": "server",
            "transport": {{"protocol": "{protocol}"}}, "pattern": {pattern}}}"#
        );
        let mut scenario = cell(A54, station, &flow, 2.0);
        for link in &mut scenario.links {
            link.loss_ratio = loss;
        }
        let outcome = simulate(&scenario, 1);
        let (offered, delivered) = (
            total(&outcome, "offered_bps"),
            total(&outcome, "throughput_bps"),
        );
        let least = if loss > 0.0 { 0.7 } else { 0.99 };
        let share = delivered / offered;
        assert!((least..=1.0).contains(&share), "{pattern}: {share}");
    }
}
