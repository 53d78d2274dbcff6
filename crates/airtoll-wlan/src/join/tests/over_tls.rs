//! RADIUS over TLS: TCP repeats what is lost, and a connection is opened once.

use serde_json::json;

use super::{Set, policy, simulate, value};
use crate::Outcome;

fn joined(set: &Set, seed: u64) -> Outcome {
    let outcome = simulate(&policy("tls"), set, seed);
    assert_eq!(outcome.failure, None);
    outcome
}

fn over_udp() -> Set {
    Set {
        delay_s: 0.01,
        ..Set::default()
    }
}

fn over_tls(up: bool) -> Set {
    Set {
        delay_s: 0.01,
        options: json!({"radius_tls": {"up": up, "chain": ["ecdsa-p-256"]}}),
        ..Set::default()
    }
}

#[test]
fn a_connection_that_is_up_has_the_messages_and_round_trips_of_udp() {
    for proxies in [0, 2] {
        let with = |set: Set| Set {
            proxies: vec![0; proxies],
            ..set
        };
        let plain = joined(&with(over_udp()), 1);
        let tls = joined(&with(over_tls(true)), 1);
        assert_eq!(
            value(&tls, "messages_radius"),
            value(&plain, "messages_radius")
        );
        let [tls, plain] = [tls, plain].map(|o| value(&o, "eap_time_s").unwrap());
        // Headers of TLS and TCP on links of 100 Mb/s take microseconds.
        assert!((tls - plain).abs() < 2e-3, "{tls} s instead of {plain} s");
    }
}

#[test]
fn the_first_request_opens_the_connection_and_later_ones_use_it() {
    let up = joined(&over_tls(true), 1);
    let opening = joined(&over_tls(false), 1);
    let [up, opening] = [up, opening].map(|o| value(&o, "eap_time_s").unwrap());
    // One round trip for SYN and SYN-ACK, one for the hello and the answer of TLS 1.3.
    let more = (opening - up) / 0.02;
    assert!((2.0..2.5).contains(&more), "{more} round trips");
    let proxied = |up| {
        let set = Set {
            proxies: vec![0],
            ..over_tls(up)
        };
        value(&joined(&set, 1), "eap_time_s").unwrap()
    };
    let more = (proxied(false) - proxied(true)) / 0.02;
    assert!(
        (4.0..5.0).contains(&more),
        "{more} round trips over two links"
    );
}

#[test]
fn loss_costs_the_time_out_of_tcp_and_no_repetition_of_radius() {
    let lossy = |set: Set| {
        let set = Set {
            loss_ratio: 0.05,
            ..set
        };
        let mut times: Vec<f64> = (0..20)
            .map(|seed| {
                let outcome = joined(&set, seed);
                if !set.options["radius_tls"].is_null() {
                    assert_eq!(value(&outcome, "messages_radius"), requests());
                }
                value(&outcome, "eap_time_s").unwrap()
            })
            .collect();
        times.sort_by(f64::total_cmp);
        times[10]
    };
    let tls = lossy(over_tls(true));
    let udp = lossy(over_udp());
    // Linux' TCP repeats after 200 ms more than its round trip, an access point after 2 s.
    assert!(tls < udp / 2.0, "{tls} s over TLS, {udp} s over UDP");
}

fn requests() -> Option<f64> {
    value(&joined(&over_tls(true), 1), "messages_radius")
}

#[test]
fn a_server_that_is_silent_over_tls_is_named_and_asked_once() {
    let mut set = over_tls(true);
    set.options["faults"] = json!({"silent_server": true});
    let outcome = simulate(&policy("tls"), &set, 1);
    let failure = outcome.failure.clone().unwrap();
    assert!(
        failure.contains("the authentication server did not answer"),
        "{failure}"
    );
    assert_eq!(value(&outcome, "messages_radius"), Some(1.0));
}

#[test]
fn stations_share_a_connection_and_all_join() {
    let set = Set {
        stations: 12,
        loss_ratio: 0.05,
        ..over_tls(false)
    };
    let outcome = joined(&set, 3);
    let joins = outcome.rows.iter().filter(|r| r.metric == "join_time_s");
    assert_eq!(joins.count(), 12);
}
