use airtoll_handshakes::{Negotiation, Options, Party, PolicySpec, describe};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::{Outcome, Scenario, run};

mod alone;
mod multi_link;
mod newcomers;
mod over_tls;
mod proxies;

fn link(generation: &str, cipher: &str, akm: Option<&str>, method: Option<&str>) -> Value {
    json!({
        "cipher": cipher, "group_cipher": cipher, "akm": akm,
        "eap_method": method,
        "authentication": if akm == Some("sae") { "sae" } else { "open" },
        "pmf": if generation == "wpa3" { "required" } else { "off" },
    })
}

/// Name, link, tunnels.
pub(in crate::join) fn policies() -> Vec<Value> {
    let esp = json!({"suite": "esp-3des-sha1", "key_exchange": "ikev1"});
    let wireguard = json!({"suite": "wireguard", "key_exchange": "noise"});
    [
        ("open", link("open", "open", None, None), vec![]),
        (
            "wpa-psk-tkip",
            link("wpa", "tkip", Some("wpa-psk"), None),
            vec![],
        ),
        (
            "wpa2-psk-ccmp",
            link("wpa2", "ccmp-128", Some("psk"), None),
            vec![],
        ),
        (
            "wpa3-sae",
            link("wpa3", "gcmp-256", Some("sae"), None),
            vec![],
        ),
        (
            "peap",
            link("wpa2", "ccmp-128", Some("802.1x"), Some("peap")),
            vec![],
        ),
        (
            "leap",
            link("wpa2", "ccmp-128", Some("802.1x"), Some("leap")),
            vec![],
        ),
        (
            "tls",
            link("wpa2", "ccmp-128", Some("802.1x"), Some("tls")),
            vec![],
        ),
        ("md5", link("802.1x", "open", None, Some("md5")), vec![]),
        ("ipsec", link("open", "open", None, None), vec![esp]),
        (
            "wireguard",
            link("wpa2", "ccmp-128", Some("psk"), None),
            vec![wireguard],
        ),
    ]
    .into_iter()
    .map(|(name, link, tunnels)| json!({"name": name, "link": link, "tunnels": tunnels}))
    .collect()
}

pub(in crate::join) struct Set {
    pub stations: usize,
    pub delay_s: f64,
    pub loss_ratio: f64,
    pub rssi_dbm: f64,
    /// Time that the RADIUS server takes for a new request, ns.
    pub request_ns: f64,
    pub options: Value,
    /// Octets of the Proxy-State of each RADIUS proxy.
    pub proxies: Vec<u8>,
}

impl Default for Set {
    fn default() -> Self {
        Self {
            stations: 1,
            delay_s: 0.0,
            loss_ratio: 0.0,
            rssi_dbm: -50.0,
            request_ns: 0.0,
            options: json!({}),
            proxies: Vec::new(),
        }
    }
}

pub(in crate::join) fn scenario(policy: &Value, set: &Set) -> Scenario {
    let cipher = policy["link"]["cipher"].as_str().unwrap();
    let names: Vec<String> = (0..set.stations).map(|n| format!("s{n}")).collect();
    let mut nodes = vec![
        json!({"name": "ap", "role": "access_point", "bss": "b", "cipher": cipher}),
        json!({"name": "radius", "role": "wired",
            "host": {"operations_ns": {"rsa-2048-sign": 5e6}, "request_ns": set.request_ns}}),
        json!({"name": "server", "role": "wired"}),
    ];
    let mut budgets = Vec::new();
    for name in &names {
        nodes.push(json!({"name": name, "role": "station", "bss": "b", "cipher": cipher}));
        budgets.push(json!({"nodes": [name, "ap"], "rssi_dbm": set.rssi_dbm}));
    }
    let flows: Vec<Value> = names
        .iter()
        .map(|name| {
            json!({"name": name, "source": name, "destination": "server",
                "transport": {"protocol": "udp"},
                "pattern": {"type": "paced", "payload_octets": 500, "rate_bps": 1e5}})
        })
        .collect();
    let proxies: Vec<String> = (0..set.proxies.len())
        .map(|n| format!("proxy-{n}"))
        .collect();
    let mut options = set.options.clone();
    options["radius_proxies"] = json!(set.proxies);
    let associations: Vec<Value> = names
        .iter()
        .map(|name| {
            json!({"station": name, "policy": policy, "options": options,
                "authentication_server": "radius", "gateway": "server", "home_agent": "server",
                "radius_proxies": proxies})
        })
        .collect();
    let mut links = vec![json!({"nodes": ["ap", "server"], "rate_bps": 1e8})];
    let mut near = "ap";
    for name in proxies.iter().map(String::as_str).chain(["radius"]) {
        if name != "radius" {
            nodes.push(json!({"name": name, "role": "wired"}));
        }
        links.push(
            json!({"nodes": [near, name], "rate_bps": 1e8, "delay_s": set.delay_s,
            "loss_ratio": set.loss_ratio}),
        );
        near = name;
    }
    let value = json!({
        "duration_s": 0.5,
        "radio": {"budgets": budgets},
        "bss": [{"name": "b", "standard": "802.11g", "rate": {"control": "fixed", "mbps": 54.0}}],
        "nodes": nodes,
        "links": links,
        "flows": flows,
        "associations": associations,
    });
    Scenario::from_json(&value.to_string()).unwrap()
}

fn simulate(policy: &Value, set: &Set, seed: u64) -> Outcome {
    trial(&scenario(policy, set), seed)
}

fn value(outcome: &Outcome, metric: &str) -> Option<f64> {
    outcome
        .rows
        .iter()
        .find(|r| r.metric == metric && r.station.as_deref() == Some("s0"))
        .map(|r| r.value)
}

/// Counts the packets and keys of a trial.
struct Counts(std::rc::Rc<std::cell::RefCell<(u32, u32)>>);

impl crate::record::Sink for Counts {
    fn interface(&mut self, _: crate::record::Medium, _: &str) -> u32 {
        0
    }
    fn packet(&mut self, _: u32, _: airtoll_units::Instant, octets: &[u8]) {
        assert!(octets.len() > 20);
        self.0.borrow_mut().0 += 1;
    }
    fn key(&mut self, _: &crate::record::Key) {
        self.0.borrow_mut().1 += 1;
    }
}

#[test]
fn a_recorded_join_gives_the_same_rows_and_its_keys() {
    for policy in policies() {
        let counts = std::rc::Rc::new(std::cell::RefCell::new((0, 0)));
        let scenario = scenario(&policy, &Set::default());
        let sink = Box::new(Counts(counts.clone()));
        let recorded = crate::run_recorded(&scenario, 3, &mut || false, sink).unwrap();
        assert_eq!(recorded, simulate(&policy, &Set::default(), 3));
        let (packets, keys) = *counts.borrow();
        assert!(packets > 30, "{packets} packets of {policy}");
        let link_keys = policy["link"]["akm"].is_string();
        assert_eq!(keys > 0, link_keys, "{policy}");
    }
}

pub(in crate::join) fn policy(name: &str) -> Value {
    policies().into_iter().find(|p| p["name"] == name).unwrap()
}

/// Messages by protocol as the security crate has them without time or loss.
fn expected(policy: &Value, protocol: &str) -> f64 {
    let spec: PolicySpec = serde_json::from_value(policy.clone()).unwrap();
    let rng = airtoll_engine::Streams::new(1)
        .named("any")
        .into_generator();
    let negotiation = Negotiation::new(spec, Options::default(), rng).unwrap();
    let (records, _) = negotiation.run().unwrap();
    records
        .iter()
        .flat_map(|r| &r.emissions)
        .filter(|e| describe(&e.message).0 == protocol)
        .count() as f64
}

#[test]
fn every_policy_joins_with_the_messages_of_its_negotiation_and_then_sends() {
    for policy in policies() {
        let outcome = simulate(&policy, &Set::default(), 3);
        assert_eq!(outcome.failure, None, "{policy}");
        for (metric, protocol) in super::rows::MESSAGES {
            let wanted = expected(&policy, protocol);
            let found = value(&outcome, metric).unwrap_or(0.0);
            assert_eq!(found, wanted, "{protocol} of {policy}");
        }
        let association = value(&outcome, "association_time_s").unwrap();
        assert!((1e-4..0.02).contains(&association), "{association}");
        let received = outcome.value("packets_received", Some("s0")).unwrap();
        assert!(received >= 11.0, "{received} packets of {policy}");
        let airtime: f64 = outcome
            .rows
            .iter()
            .filter(|r| r.metric.starts_with("airtime_"))
            .map(|r| r.value)
            .sum();
        assert!((airtime - 0.5).abs() < 1e-9, "{airtime}");
    }
}

#[test]
fn a_distant_radius_server_delays_eap_by_its_round_trips() {
    for (name, challenges) in [("peap", "EAP-Request"), ("leap", "EAP-Request")] {
        let policy = policy(name);
        let near = simulate(&policy, &Set::default(), 1);
        let far = Set {
            delay_s: 0.1,
            ..Set::default()
        };
        let far = simulate(&policy, &far, 1);
        let trips = value(&near, "messages_radius").unwrap() / 2.0;
        let more = value(&far, "eap_time_s").unwrap() - value(&near, "eap_time_s").unwrap();
        // The last answer of LEAP's server comes after EAP-Success.
        assert!(
            (more / 0.2 - trips).abs() < 0.01,
            "{name} {challenges}: {more} s, {trips} trips"
        );
    }
}

/// The access point repeats a request after 2 s (RFC 5080 section 2.2.1). The server recognises it and
/// works no second time (section 2.2.2).
#[test]
fn a_slow_radius_server_works_once_on_a_request_that_is_repeated() {
    let policy = policy("peap");
    let quick = simulate(&policy, &Set::default(), 1);
    let requests = value(&quick, "messages_radius").unwrap() / 2.0;
    let slow = Set {
        request_ns: 3e9,
        ..Set::default()
    };
    let slow = simulate(&policy, &slow, 1);
    assert_eq!(slow.failure, None);
    let more = value(&slow, "eap_time_s").unwrap() - value(&quick, "eap_time_s").unwrap();
    assert!(
        (more - 3.0 * requests).abs() < 0.01,
        "{more} s, {requests} requests"
    );
    assert!(value(&slow, "messages_radius").unwrap() > 2.0 * requests);
}

#[test]
fn a_lost_radius_packet_costs_the_retransmission_time() {
    let set = Set {
        loss_ratio: 0.05,
        ..Set::default()
    };
    let policy = policy("peap");
    let times: Vec<f64> = (0..20)
        .map(|seed| {
            let outcome = simulate(&policy, &set, seed);
            assert_eq!(outcome.failure, None);
            value(&outcome, "eap_time_s").unwrap()
        })
        .collect();
    let quick = times.iter().filter(|t| **t < 0.5).count();
    assert!((1..20).contains(&quick), "{times:?}");
    assert!(times.iter().all(|t| *t < 0.5 || *t > 2.0), "{times:?}");
}

#[test]
fn a_fault_ends_in_a_named_state_with_a_reason_code() {
    for (name, fault, said) in [
        (
            "wpa2-psk-ccmp",
            "wrong_passphrase",
            "key handshake: wrong passphrase or key",
        ),
        ("peap", "wrong_passphrase", "reason code 23"),
        (
            "tls",
            "wrong_certificate",
            "EAP: the certificate was not accepted",
        ),
        (
            "peap",
            "silent_server",
            "EAP: the authentication server did not answer",
        ),
    ] {
        let set = Set {
            options: json!({"faults": {fault: true}}),
            ..Set::default()
        };
        let outcome = simulate(&policy(name), &set, 1);
        let failure = outcome.failure.clone().unwrap_or_default();
        assert!(failure.starts_with("s0 did not authenticate"), "{failure}");
        assert!(failure.contains(said), "{name}: {failure}");
        assert_eq!(outcome.value("throughput_bps", Some("s0")), None);
        assert!(value(&outcome, "authentication_messages").unwrap() > 1.0);
    }
}

#[test]
fn a_slow_server_serves_the_stations_of_a_storm_in_sequence() {
    let set = Set {
        stations: 20,
        ..Set::default()
    };
    let outcome = simulate(&policy("tls"), &set, 1);
    assert_eq!(outcome.failure, None);
    let longest = outcome
        .rows
        .iter()
        .filter(|r| r.metric == "eap_time_s")
        .map(|r| r.value)
        .fold(0.0, f64::max);
    // One signature of 5 ms per station.
    assert!(longest > 20.0 * 5e-3, "{longest}");
}

#[test]
fn tokens_are_required_above_a_number_of_open_handshakes() {
    let of = |stations, threshold: Option<u32>| {
        let set = Set {
            stations,
            ..Set::default()
        };
        let mut scenario = scenario(&policy("wpa3-sae"), &set);
        scenario.bss[0].sae_anti_clogging_threshold = threshold;
        let outcome = run(&scenario, 1, &mut || false).unwrap();
        assert_eq!(outcome.failure, None);
        let rows = outcome.rows.iter();
        let authentication =
            rows.filter(|r| r.metric == "messages_ieee80211" && r.station.is_some());
        let each: Vec<f64> = authentication.map(|r| r.value).collect();
        each.iter().filter(|n| **n >= 8.0).count()
    };
    // Two commits, two confirms, two of association; a token is two more.
    assert_eq!(of(1, None), 0);
    assert_eq!(of(1, Some(5)), 0);
    assert_eq!(of(40, None), 0);
    assert_eq!(of(3, Some(0)), 3);
    // All stations start at once: the access point is idle for the first few.
    let asked = of(40, Some(5));
    assert!((1..=35).contains(&asked), "{asked}");
}

#[test]
fn a_cookie_costs_two_messages_and_the_rekey_time_out_of_the_initiator() {
    let of = |threshold: Option<u32>| {
        let set = Set {
            stations: 5,
            ..Set::default()
        };
        let mut scenario = scenario(&policy("wireguard"), &set);
        for node in &mut scenario.nodes {
            let gateway = scenario.associations[0].gateway.as_ref();
            node.cookie_threshold = threshold.filter(|_| Some(&node.name) == gateway);
        }
        let outcome = run(&scenario, 1, &mut || false).unwrap();
        assert_eq!(outcome.failure, None);
        let of = |metric: &str| -> Vec<f64> {
            let own = outcome.rows.iter().filter(|r| r.station.is_some());
            own.filter(|r| r.metric == metric)
                .map(|r| r.value)
                .collect()
        };
        (of("messages_wireguard"), of("join_time_s"))
    };
    let (messages, times) = of(None);
    assert_eq!(messages, [3.0; 5]);
    assert!(times.iter().all(|t| *t < 1.0));
    let (messages, times) = of(Some(0));
    assert_eq!(messages, [5.0; 5]);
    // Rekey-Timeout (Donenfeld 2017, section 6.1).
    assert!(times.iter().all(|t| (5.0..6.0).contains(t)), "{times:?}");
    assert_eq!(of(Some(50)), of(None));
}

#[test]
fn all_stations_of_an_sae_storm_join() {
    let set = Set {
        stations: 150,
        ..Set::default()
    };
    let mut scenario = scenario(&policy("wpa3-sae"), &set);
    for association in &mut scenario.associations {
        association.spread_us = 300_000;
    }
    let outcome = run(&scenario, 1, &mut || false).unwrap();
    assert_eq!(outcome.failure, None);
}

#[test]
fn parties_index_the_nodes_and_timers_of_a_session() {
    assert_eq!(Party::HomeAgent as usize, super::PARTIES - 1);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn equal_seeds_give_equal_rows_and_every_join_ends(
        which in 0..10_usize,
        seed in 0..1000_u64,
        loss in 0.0..0.05_f64,
        rssi in -92.0..-50.0_f64,
    ) {
        let set = Set {
            loss_ratio: loss,
            rssi_dbm: rssi,
            ..Set::default()
        };
        let policy = &policies()[which];
        let first = simulate(policy, &set, seed);
        prop_assert_eq!(&first, &simulate(policy, &set, seed));
        let joined = first.rows.iter().any(|r| r.metric == "join_time_s");
        prop_assert_eq!(joined, first.failure.is_none());
    }
}

/// A trial of one seed.
pub(in crate::join) fn trial(scenario: &Scenario, seed: u64) -> Outcome {
    run(scenario, seed, &mut || false).unwrap()
}

/// A value of the whole cell; 0 where there is none.
pub(in crate::join) fn of_the_cell(outcome: &Outcome, metric: &str) -> f64 {
    outcome
        .rows
        .iter()
        .find(|r| r.metric == metric && r.station.is_none())
        .map_or(0.0, |r| r.value)
}
