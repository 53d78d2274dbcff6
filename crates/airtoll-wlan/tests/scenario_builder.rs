//! Scenarios that are built in Rust are those of the JSON, and their mistakes name the field.

use airtoll_wlan::Scenario;
use airtoll_wlan::scenario::{Rate, ScenarioBuilder, Standard};

fn built(name: &str) -> ScenarioBuilder {
    ScenarioBuilder::new(2.0)
        .bss("cell", Standard::A, Rate::Fixed { mbps: 54.0 })
        .station("s0", "cell")
        .access_point("ap", "cell")
        .wired("server")
        .wire("ap", "server", 1e9)
        .saturated_tcp("f0", "s0", name, 1460)
}

#[test]
fn a_built_scenario_is_that_of_its_json() {
    let read = Scenario::from_json(
        r#"{"duration_s": 2,
        "bss": [{"name": "cell", "standard": "802.11a", "rate": {"control": "fixed", "mbps": 54}}],
        "nodes": [{"name": "s0", "role": "station", "bss": "cell"},
            {"name": "ap", "role": "access_point", "bss": "cell"},
            {"name": "server", "role": "wired"}],
        "links": [{"nodes": ["ap", "server"], "rate_bps": 1e9}],
        "flows": [{"name": "f0", "station": "s0", "source": "s0", "destination": "server",
            "transport": {"protocol": "tcp"},
            "pattern": {"type": "saturated", "payload_octets": 1460}}]}"#,
    );
    assert_eq!(built("server").build(), read);
}

#[test]
fn a_mistake_names_its_field() {
    let error = built("nowhere").build().unwrap_err().to_string();
    assert!(error.contains("flows[0].destination"), "{error}");
    let error = built("server")
        .change(|scenario| scenario.bss[0].max_attempts = 0)
        .build();
    assert!(
        error
            .unwrap_err()
            .to_string()
            .contains("bss[0].max_attempts")
    );
}
