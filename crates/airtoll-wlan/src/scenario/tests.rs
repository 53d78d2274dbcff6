//! Values of a scenario that is read from JSON, and messages about invalid ones.

use super::*;

const SINGLE: &str = r#"{
  "duration_s": 2, "warm_up_s": 1,
  "bss": [{"name": "cell", "standard": "802.11a", "rate": {"control": "fixed", "mbps": 54}}],
  "nodes": [
    {"name": "A", "role": "station", "bss": "cell", "cipher": "ccmp-128"},
    {"name": "ap", "role": "access_point", "bss": "cell"},
    {"name": "server", "role": "wired"}
  ],
  "links": [{"nodes": ["ap", "server"], "rate_bps": 1e9}],
  "flows": [{"name": "up", "station": "A", "source": "A", "destination": "server",
             "transport": {"protocol": "udp"},
             "pattern": {"type": "saturated", "payload_octets": 1472}}]
}"#;

#[test]
fn a_small_scenario_reads_with_its_defaults() {
    let scenario = Scenario::from_json(SINGLE).unwrap();
    assert_eq!(scenario.bss[0].max_attempts, 7);
    assert_eq!(
        scenario.nodes[0].cipher,
        airtoll_security::CipherSuite::Ccmp128
    );
    let again = serde_json::to_string(&scenario).unwrap();
    assert_eq!(Scenario::from_json(&again).unwrap(), scenario);
}

#[test]
fn mistakes_name_the_field() {
    let unknown = SINGLE.replace("\"cipher\"", "\"cypher\"");
    let error = Scenario::from_json(&unknown).unwrap_err().to_string();
    assert!(
        error.contains("nodes[0]") && error.contains("cypher"),
        "{error}"
    );

    let rate = SINGLE.replace("\"mbps\": 54", "\"mbps\": 55");
    let error = Scenario::from_json(&rate).unwrap_err().to_string();
    assert_eq!(
        error,
        "scenario field bss[0].rate.mbps is 55: one of 6, 9, 12, 18, 24, 36, 48 or 54 Mb/s (802.11a)"
    );

    let node = SINGLE.replace("\"destination\": \"server\"", "\"destination\": \"serwer\"");
    let error = Scenario::from_json(&node).unwrap_err().to_string();
    assert_eq!(
        error,
        "scenario field flows[0].destination is serwer: the name of a node"
    );

    let option = SINGLE.replace("\"udp\"}", "\"udp\", \"window_octets\": 1}");
    let error = Scenario::from_json(&option).unwrap_err().to_string();
    assert!(
        error.contains("flows[0].transport") && error.contains("window_octets"),
        "{error}"
    );
}

#[test]
fn stations_with_mcs_have_the_rates_of_802_11b_at_2_4_ghz_alone() {
    let at = |band: &str| {
        let own = format!("\"bss\": [{{\"band\": \"{band}\", \"basic_rates_mbps\": [6, 5.5],");
        let given = SINGLE.replacen("\"bss\": [{", &own, 1);
        Scenario::from_json(&given.replace("\"802.11a\"", "\"802.11n\""))
    };
    assert_eq!(
        at("2.4ghz").unwrap().bss[0].basic_rates_mbps,
        Some(vec![6.0, 5.5])
    );
    assert_eq!(
        at("5ghz").unwrap_err().to_string(),
        "scenario field bss[0].basic_rates_mbps[1] is 5.5: of 6, 9, 12, 18, 24, 36, 48 or 54 Mb/s \
         (802.11n at 5 GHz)"
    );
}

#[test]
fn access_parameters_have_ranges() {
    let set = |text: &str| {
        let given = SINGLE.replacen("\"bss\": [{", &format!("\"bss\": [{{{text},"), 1);
        assert_ne!(given, SINGLE);
        Scenario::from_json(&given).unwrap_err().to_string()
    };
    let edca = r#""edca": true, "edca_parameters": [{}, {}, {}, "#;
    for (text, expected) in [
        (
            format!("{edca}{{\"aifsn\": 16}}]"),
            "scenario field bss[0].edca_parameters[3].aifsn is 16: 1 to 15",
        ),
        (
            format!("{edca}{{\"cw_min\": 31, \"cw_max\": 15}}]"),
            "scenario field bss[0].edca_parameters[3].cw_max is 15: at least cw_min",
        ),
        (
            "\"basic_rates_mbps\": [6, 11]".to_owned(),
            "scenario field bss[0].basic_rates_mbps[1] is 11: of 6, 9, 12, 18, 24, 36, 48 or 54 Mb/s \
             (802.11a at 5 GHz)",
        ),
        (
            "\"aggregation\": {\"window\": 0}".to_owned(),
            "scenario field bss[0].aggregation.window is 0: at least 1",
        ),
    ] {
        assert_eq!(set(&text), expected);
    }
}

/// Reading alone does not find these: the world of a trial has to be built.
#[test]
fn a_check_builds_what_a_trial_builds() {
    let tcp = |options: &str| {
        let transport = format!(r#"{{"protocol": "tcp"{options}}}"#);
        SINGLE.replace(r#"{"protocol": "udp"}"#, &transport)
    };
    let rate = |bss: &str| {
        SINGLE.replace(
            r#""standard": "802.11a", "rate": {"control": "fixed", "mbps": 54}"#,
            bss,
        )
    };
    for (text, expected) in [
        (
            tcp(r#", "mss_octets": 64"#),
            "scenario field flows[0].transport.mss is 64: 88 to 65495 octets",
        ),
        (
            tcp(r#", "window_octets": 1024"#),
            "scenario field flows[0].transport.receive_window is 1024: one segment (1460 octets) to 2^30",
        ),
        (
            rate(
                r#""standard": "802.11ac", "width_mhz": 80,
                   "rate": {"control": "fixed_mcs", "mcs": 6, "streams": 3}"#,
            ),
            "scenario field bss[0].rate.mcs is 6: ",
        ),
        (
            SINGLE.replace(r#""warm_up_s": 1"#, r#""warm_up_s": 1.9999"#),
            "scenario field duration_s is 2: at least 0.000240 s beyond warm_up_s: one packet of up",
        ),
    ] {
        assert_ne!(text, SINGLE);
        let scenario = Scenario::from_json(&text).unwrap();
        let checked = crate::check(&scenario).unwrap_err().to_string();
        assert!(checked.starts_with(expected), "{checked}");
        let ran = crate::run(&scenario, 1, &mut || false).unwrap_err();
        assert_eq!(ran.to_string(), checked);
    }
    assert_eq!(crate::check(&Scenario::from_json(SINGLE).unwrap()), Ok(()));
}

#[test]
fn a_paced_flow_writes_once_a_nanosecond_at_most() {
    let paced = |payload: u32, rate_bps: f64| {
        let saturated = r#"{"type": "saturated", "payload_octets": 1472}"#;
        let own =
            format!(r#"{{"type": "paced", "payload_octets": {payload}, "rate_bps": {rate_bps}}}"#);
        Scenario::from_json(&SINGLE.replace(saturated, &own))
            .and_then(|scenario| crate::check(&scenario))
            .map_err(|error| error.to_string())
    };
    assert_eq!(paced(1, 8e9), Ok(()));
    assert_eq!(paced(1472, 1472.0 * 8e9), Ok(()));
    for (payload, rate_bps) in [(1, 8.1e9), (1472, 1e15)] {
        let error = paced(payload, rate_bps).unwrap_err();
        assert!(error.contains("pattern.rate_bps"), "{error}");
        assert!(error.ends_with("at most one write a nanosecond: 8e9 times payload_octets"));
    }
}
