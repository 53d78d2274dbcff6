//! The world as a whole: what goes in comes out, and nothing is booked twice.

use crate::outcome::Outcome;
use crate::{Scenario, run};

/// `n` stations that send saturated UDP to a wired server; `bss` and `node` are JSON fields.
fn uplink(n: usize, bss: &str, node: &str, payload: u32, seconds: f64) -> Scenario {
    let stations: String = (0..n)
        .map(|i| {
            format!(r#"{{"name": "s{i}", "role": "station", "bss": "cell"{node}}},"#)
        })
        .collect();
    let flows: Vec<String> = (0..n)
        .map(|i| {
            format!(
                r#"{{"name": "f{i}", "station": "s{i}", "source": "s{i}", "destination": "server",
                "transport": {{"protocol": "udp"}},
                "pattern": {{"type": "saturated", "payload_octets": {payload}}}}}"#
            )
        })
        .collect();
    let text = format!(
        r#"{{"duration_s": {seconds},
        "bss": [{{"name": "cell", {bss}}}],
        "nodes": [{stations}
            {{"name": "ap", "role": "access_point", "bss": "cell"}},
            {{"name": "server", "role": "wired"}}],
        "links": [{{"nodes": ["ap", "server"], "rate_bps": 1e9}}],
        "flows": [{}]}}"#,
        flows.join(",")
    );
    Scenario::from_json(&text).unwrap()
}

const A54: &str = r#""standard": "802.11a", "rate": {"control": "fixed", "mbps": 54}"#;

fn simulate(scenario: &Scenario, seed: u64) -> Outcome {
    run(scenario, seed, &mut || false).unwrap()
}

fn total(outcome: &Outcome, metric: &str) -> f64 {
    outcome.rows.iter().filter(|r| r.metric == metric && r.second.is_none()).map(|r| r.value).sum()
}

#[test]
fn print_some() {
    for n in [1, 2, 5, 10, 20, 50] {
        let o = simulate(&uplink(n, A54, "", 1472, 10.0), 1);
        eprintln!("{n} {}", total(&o, "throughput_bps") / 1e6);
    }
    for r in simulate(&uplink(2, A54, "", 1472, 10.0), 1).rows {
        eprintln!("{r:?}");
    }
}
