//! Hand-overs: the parts of the gap, and the traffic after it.

mod addresses;
mod agents;
mod alone;
mod by_level;
mod card;
mod many_stations;
mod over_the_ds;
mod repeated;
mod tunnels;

use std::cell::RefCell;
use std::rc::Rc;

use airtoll_security::AkmSuite;
use airtoll_units::Instant;
use serde_json::{Value, json};

use crate::id::NodeId;
use crate::outcome::Outcome;
use crate::record::{Key, Medium, Sink};
use crate::{Scenario, run, run_recorded};

fn ccmp(akm: u8, authentication: &str) -> Value {
    let akm = AkmSuite::from_selector([0x00, 0x0f, 0xac, akm]).map(AkmSuite::name);
    json!({"name": "test", "link": {"cipher": "ccmp-128",
        "group_cipher": "ccmp-128", "akm": akm, "authentication": authentication,
        "pmf": "optional"}})
}

fn eap() -> Value {
    let mut policy = ccmp(1, "open");
    policy["link"]["eap_method"] = json!("tls");
    policy
}

fn tcp() -> Value {
    json!({"name": "f", "source": "s0", "destination": "server", "transport": {"protocol": "tcp"},
        "pattern": {"type": "saturated", "payload_octets": 1460}})
}

fn voice(source: &str, destination: &str) -> Value {
    json!({"name": format!("{source}-{destination}"), "source": source, "destination": destination,
        "transport": {"protocol": "udp"}, "pattern": {"type": "voip"}})
}

fn scenario(policy: &Value, options: &Value, handover: &Value, flows: &Value) -> Value {
    let bss = |name: &str, channel: u32| {
        json!({"name": name, "channel": channel, "standard": "802.11g",
            "rate": {"control": "fixed", "mbps": 54.0}})
    };
    let radio = |name: &str, role: &str, bss: &str| json!({"name": name, "role": role, "bss": bss, "cipher": "ccmp-128"});
    let wire = |a: &str, b: &str| json!({"nodes": [a, b], "rate_bps": 1e8, "delay_s": 1e-4});
    let association = |options: &Value| {
        json!({"policy": policy, "options": options,
            "authentication_server": "radius", "gateway": "server", "home_agent": "server"})
    };
    let mut first = association(&json!({}));
    first["station"] = json!("s0");
    let mut value = json!({
        "duration_s": 2.0,
        "radio": {"path_loss": {"model": "constant", "loss_db": 60.0}},
        "bss": [bss("one", 1), bss("two", 6)],
        "nodes": [
            radio("s0", "station", "one"), radio("ap1", "access_point", "one"),
            radio("ap2", "access_point", "two"),
            {"name": "switch", "role": "wired"}, {"name": "server", "role": "wired"},
            {"name": "radius", "role": "wired"},
        ],
        "links": [wire("ap1", "switch"), wire("ap2", "switch"), wire("switch", "server"),
            wire("switch", "radius")],
        "flows": flows,
        "associations": [first],
        "handovers": [{"station": "s0", "bss": "two", "at_s": 1.0, "scan_s": 0.02,
            "association": association(options)}],
    });
    for (key, level) in handover.as_object().unwrap() {
        value["handovers"][0][key] = level.clone();
    }
    value
}

fn simulate(value: &Value, seed: u64) -> Outcome {
    let scenario = Scenario::from_json(&value.to_string()).unwrap();
    run(&scenario, seed, &mut || false).unwrap()
}

fn moved(policy: &Value, options: &Value, method: &str) -> Outcome {
    let calls = json!([voice("s0", "server"), voice("server", "s0")]);
    let outcome = simulate(
        &scenario(policy, options, &json!({"method": method}), &calls),
        1,
    );
    assert_eq!(outcome.failure, None);
    outcome
}

fn value(outcome: &Outcome, metric: &str) -> f64 {
    outcome
        .rows
        .iter()
        .find(|r| r.metric == metric && r.station.as_deref() == Some("s0"))
        .map_or(0.0, |r| r.value)
}

#[test]
fn parts_add_up_to_the_gap() {
    let outcome = moved(&eap(), &json!({}), "full");
    let of = |metric| value(&outcome, metric);
    let join = of("handover_scan_s")
        + of("handover_association_s")
        + of("handover_eap_s")
        + of("handover_keys_s");
    assert!((join - of("handover_join_s")).abs() < 1e-9);
    assert!((join + of("handover_wait_s") - of("handover_gap_s")).abs() < 1e-9);
    assert!((of("handover_scan_s") - 0.02).abs() < 1e-9);
    // Packets of the call come every 20 ms, so the gap ends at most 20 ms after the join.
    assert!(of("handover_wait_s") < 0.041, "{}", of("handover_wait_s"));
    assert!(of("handover_packets_lost") > 0.0);
}

#[test]
fn a_station_that_moves_has_one_row_of_each_metric() {
    let calls = json!([voice("s0", "server"), voice("server", "s0")]);
    let mut there = scenario(&ccmp(2, "open"), &json!({}), &json!({}), &calls);
    let cost = json!({"fixed_ns": 20_000.0});
    there["nodes"][0]["host"] = json!({"transmit": cost, "receive": cost,
        "energy": {"transmit_w": 1.0, "receive_w": 0.5, "cpu_w": 2.0}});
    let mut back = there["handovers"][0].clone();
    (back["at_s"], back["bss"]) = (json!(1.5), json!("one"));
    let mut twice = there.clone();
    twice["handovers"].as_array_mut().unwrap().push(back);
    let mut never = there.clone();
    never["handovers"] = json!([]);
    let of = |value: &Value, metric: &str| {
        let outcome = simulate(value, 1);
        assert_eq!(outcome.failure, None);
        let own = outcome
            .rows
            .iter()
            .filter(|r| r.metric == metric && r.station.is_some());
        let values: Vec<_> = own.map(|r| (r.station.clone().unwrap(), r.value)).collect();
        let [(station, value)] = &values[..] else {
            panic!("{metric}: {values:?}");
        };
        assert_eq!(station, "s0");
        *value
    };
    for metric in ["cpu_share", "energy_j_per_bit"] {
        let [never, once, twice] = [&never, &there, &twice].map(|value| of(value, metric));
        // The packets of all BSSs count. Handshakes add frames at the lowest rate.
        for moved in [once, twice] {
            let ratio = moved / never;
            assert!((0.9..1.3).contains(&ratio), "{metric}: {moved} {never}");
        }
    }
}

#[test]
fn a_shorter_negotiation_makes_the_gap_shorter() {
    let join = |outcome: &Outcome| value(outcome, "handover_join_s");
    let full = moved(&eap(), &json!({}), "full");
    let cached = moved(&eap(), &json!({"cached_pmk": true}), "full");
    let psk = moved(&ccmp(2, "open"), &json!({}), "full");
    let fast = moved(&ccmp(4, "open"), &json!({}), "fast-transition");
    assert!(join(&full) > join(&cached));
    assert!(join(&cached) > join(&fast));
    assert!(join(&psk) > join(&fast));
    // Open System authentication, reassociation and the 4-way handshake; or four frames in all.
    assert_eq!(value(&psk, "handover_messages"), 8.0);
    assert_eq!(value(&fast, "handover_messages"), 4.0);
    assert_eq!(value(&cached, "handover_messages"), 8.0);
    assert_eq!(value(&fast, "handover_eap_s"), 0.0);
}

#[test]
fn tcp_goes_on_at_the_new_access_point() {
    let still = {
        let mut value = scenario(&ccmp(2, "open"), &json!({}), &json!({}), &json!([tcp()]));
        value["handovers"] = json!([]);
        simulate(&value, 1)
    };
    let value_of = |o: &Outcome| {
        let row = o.rows.iter().find(|r| r.metric == "throughput_bps");
        row.unwrap().value
    };
    let method = json!({"method": "full"});
    let roamed = simulate(
        &scenario(&ccmp(2, "open"), &json!({}), &method, &json!([tcp()])),
        1,
    );
    let lost = 1.0 - value_of(&roamed) / value_of(&still);
    // The gap and the time-out after it take less than half of the two seconds.
    assert!((0.005..0.4).contains(&lost), "{lost}");
    assert!(value(&roamed, "handover_gap_s") < 0.8);
}

#[test]
fn a_refused_hand_over_is_a_failure_that_names_the_stage() {
    let options = json!({"faults": {"wrong_passphrase": true}});
    let calls = json!([voice("s0", "server")]);
    let outcome = simulate(&scenario(&ccmp(2, "open"), &options, &json!({}), &calls), 1);
    let why = outcome.failure.unwrap();
    assert!(
        why.starts_with("s0 did not authenticate: key handshake"),
        "{why}"
    );
}

#[test]
fn equal_seeds_give_equal_rows() {
    let value = scenario(&eap(), &json!({}), &json!({}), &json!([tcp()]));
    assert_eq!(simulate(&value, 5).rows, simulate(&value, 5).rows);
}

#[test]
fn invalid_hand_overs_are_refused() {
    let full = json!({"method": "full"});
    let good = scenario(&eap(), &json!({}), &full, &json!([tcp()]));
    for (path, wrong) in [
        ("/handovers/0/station", json!("server")),
        ("/handovers/0/bss", json!("one")),
        ("/handovers/0/bss", json!("nowhere")),
        ("/handovers/0/at_s", json!(-1.0)),
        ("/handovers/0/method", json!("fast-transition")),
    ] {
        let mut value = good.clone();
        *value.pointer_mut(path).unwrap() = wrong;
        assert!(Scenario::from_json(&value.to_string()).is_err(), "{path}");
    }
}

fn ahead(policy: &Value, options: &Value, handover: &Value) -> Value {
    let mut with = json!({"method": "pre-authentication"});
    for (key, level) in handover.as_object().unwrap() {
        with[key] = level.clone();
    }
    let calls = json!([voice("s0", "server"), voice("server", "s0")]);
    scenario(policy, options, &with, &calls)
}

#[test]
fn pre_authentication_takes_eap_out_of_the_gap() {
    let full = moved(&eap(), &json!({}), "full");
    let outcome = simulate(&ahead(&eap(), &json!({}), &json!({})), 1);
    assert_eq!(outcome.failure, None);
    let of = |metric| value(&outcome, metric);
    assert_eq!(of("handover_eap_s"), 0.0);
    // As with a cached PMK: authentication, association, 4-way handshake.
    assert_eq!(of("handover_messages"), 8.0);
    // EAP between station, access point and server has as many messages as before.
    let saved = value(&full, "handover_messages") - of("handover_messages");
    assert_eq!(of("preauthentication_messages"), saved);
    assert!(of("handover_join_s") < value(&full, "handover_join_s"));
    // The call loses as many packets as with a cached PMK.
    assert_eq!(
        of("handover_packets_lost"),
        value(&cached(), "handover_packets_lost")
    );
}

#[test]
fn pre_authentication_goes_through_the_old_access_point() {
    let mut far = ahead(&eap(), &json!({}), &json!({}));
    far["links"][0]["delay_s"] = json!(1.1e-3);
    let near = simulate(&ahead(&eap(), &json!({}), &json!({})), 1);
    let far = simulate(&far, 1);
    let of = |o: &Outcome| value(o, "preauthentication_time_s");
    // RADIUS does not use the wire of the old access point; most other messages are sequential.
    let eapol = value(&near, "preauthentication_messages") / 2.0;
    let more = (of(&far) - of(&near)) / 1e-3;
    assert!(
        more > eapol - 2.0 && more < eapol + 4.0,
        "{more} of {eapol}"
    );
}

fn cached() -> Outcome {
    moved(&eap(), &json!({"cached_pmk": true}), "full")
}

#[test]
fn leaving_before_the_end_of_pre_authentication_leads_to_a_full_negotiation() {
    let late = simulate(&ahead(&eap(), &json!({}), &json!({"ahead_s": 0.001})), 1);
    assert_eq!(late.failure, None);
    let full = moved(&eap(), &json!({}), "full");
    for metric in ["handover_messages", "handover_eap_s"] {
        let (late, full) = (value(&late, metric), value(&full, metric));
        assert!(
            (late - full).abs() <= 0.05 * full,
            "{metric}: {late} {full}"
        );
    }
    let tried = value(&late, "preauthentication_messages");
    assert!(
        tried > 0.0 && tried < value(&full, "handover_messages") - 8.0,
        "{tried}"
    );
    let done = |o: &Outcome| {
        o.rows
            .iter()
            .any(|r| r.metric == "preauthentication_time_s")
    };
    assert!(!done(&late));
    assert!(done(&simulate(&ahead(&eap(), &json!({}), &json!({})), 1)));
}

#[test]
fn pre_authentication_needs_eap() {
    let value = ahead(&ccmp(2, "open"), &json!({}), &json!({}));
    let scenario = Scenario::from_json(&value.to_string()).unwrap();
    let error = run(&scenario, 1, &mut || false).unwrap_err().to_string();
    assert!(error.contains("handovers[0].association.policy"), "{error}");
    assert!(error.contains("pre-authentication"), "{error}");
}

/// Names of interfaces, and Ethernet frames of pre-authentication by interface.
#[derive(Default)]
struct Kept {
    names: Vec<String>,
    frames: Vec<(String, Vec<u8>)>,
}

#[derive(Clone, Default)]
struct Frames(Rc<RefCell<Kept>>);

impl Sink for Frames {
    fn interface(&mut self, medium: Medium, name: &str) -> u32 {
        let mut kept = self.0.borrow_mut();
        kept.names.push(format!("{medium:?} {name}"));
        kept.names.len() as u32 - 1
    }
    fn packet(&mut self, interface: u32, _: Instant, octets: &[u8]) {
        let mut kept = self.0.borrow_mut();
        let name = kept.names[interface as usize].clone();
        if name.starts_with("Wire") && octets[12..14] == [0x88, 0xc7] {
            kept.frames.push((name, octets.to_vec()));
        }
    }
    fn key(&mut self, _: &Key) {}
}

#[test]
fn pre_authentication_has_its_ether_type_and_the_octets_of_eapol() {
    let scenario = Scenario::from_json(&ahead(&eap(), &json!({}), &json!({})).to_string()).unwrap();
    let frames = Frames::default();
    let outcome = run_recorded(&scenario, 1, &mut || false, Box::new(frames.clone())).unwrap();
    let kept = frames.0.borrow();
    // Each frame goes over two wires: old access point to switch, switch to the new one, or back.
    let mut names: Vec<&str> = kept.frames.iter().map(|(name, _)| name.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    assert!(names.len() >= 2, "{names:?}");
    let mac = |n| crate::address::mac(NodeId::new(n));
    let first = &kept.frames[0].1;
    assert_eq!(&first[..6], &mac(2).0);
    assert_eq!(&first[6..12], &mac(0).0);
    // EAPOL-Start, version 2 of 802.1X or another, no body.
    assert_eq!(&first[15..18], [1, 0, 0]);
    // EAP messages are all that are not RADIUS; each pair of RADIUS messages carries one.
    let eapol = kept.frames.len() / 2;
    let all = value(&outcome, "preauthentication_messages") as usize;
    assert_eq!(kept.frames.len() % 2, 0);
    assert!(eapol > all / 2 && eapol < all, "{eapol} of {all}");
}

#[test]
fn a_refused_pre_authentication_leads_to_a_full_negotiation_with_the_reason() {
    let options = json!({"faults": {"wrong_certificate": true}});
    let outcome = simulate(&ahead(&eap(), &options, &json!({})), 1);
    let why = outcome.failure.unwrap();
    assert!(why.starts_with("s0 did not authenticate: EAP"), "{why}");
}

/// A call to and from a station that scans for 0.8 s, on a PHY.
fn call_over_a_long_gap(standard: &str, rate: &Value, seconds: f64) -> Value {
    let calls = json!([voice("s0", "server"), voice("server", "s0")]);
    let handover = json!({"scan_s": 0.8});
    let mut value = scenario(&ccmp(2, "open"), &json!({}), &handover, &calls);
    value["duration_s"] = json!(seconds);
    for bss in value["bss"].as_array_mut().unwrap() {
        bss["standard"] = json!(standard);
        bss["rate"] = rate.clone();
    }
    value
}

#[test]
fn what_a_station_that_left_cannot_get_is_lost_on_every_phy() {
    let fixed = json!({"control": "fixed", "mbps": 54.0});
    let mcs = json!({"control": "fixed_mcs", "mcs": 7});
    let mut losses = Vec::new();
    for (standard, rate) in [
        ("802.11a", &fixed),
        ("802.11g", &fixed),
        ("802.11n", &mcs),
        ("802.11ac", &mcs),
        ("802.11ax", &mcs),
        ("802.11be", &mcs),
    ] {
        let outcome = simulate(&call_over_a_long_gap(standard, rate, 4.0), 1);
        let of = |metric, flow| outcome.value(metric, Some(flow)).expect("a row");
        // A packet each 20 ms, of which the old access point gets those of the gap.
        let gap = value(&outcome, "handover_gap_s");
        let lost = of("packets_lost", "server-s0");
        assert!(
            (lost - gap / 0.02).abs() < 2.0,
            "{standard}: {lost} in {gap} s"
        );
        assert_eq!(value(&outcome, "handover_packets_lost"), lost, "{standard}");
        assert!(of("packets_queued", "server-s0") <= 1.0, "{standard}");
        // A BlockAckReq asks for an MPDU until its lifetime is over.
        let cause = match standard {
            "802.11a" | "802.11g" => "packets_lost_attempts",
            _ => "packets_lost_lifetime",
        };
        let by_cause = outcome.value(cause, None).expect("a row");
        assert!(
            (by_cause - lost).abs() < 1.5,
            "{standard}: {by_cause} of {lost}"
        );
        let mos = of("voice_mos", "server-s0");
        assert!(mos < 3.0, "{standard}: {mos}");
        losses.push(lost);
    }
    assert!(
        losses.iter().all(|lost| (lost - losses[0]).abs() <= 1.0),
        "{losses:?}"
    );
}

#[test]
fn what_waits_at_the_old_access_point_when_the_trial_ends_is_lost() {
    // The trial ends 7 ms after the station has left the old access point's channel for the new one:
    // its packets there have not had all their attempts.
    for standard in ["802.11a", "802.11n"] {
        let rate = match standard {
            "802.11a" => json!({"control": "fixed", "mbps": 54.0}),
            _ => json!({"control": "fixed_mcs", "mcs": 7}),
        };
        let mut value = call_over_a_long_gap(standard, &rate, 1.027);
        value["handovers"][0]["scan_s"] = json!(0.02);
        value["flows"] = json!([{"name": "f", "source": "server", "destination": "s0",
            "transport": {"protocol": "udp"},
            "pattern": {"type": "saturated", "payload_octets": 1000}}]);
        let outcome = simulate(&value, 1);
        let away = outcome.value("packets_lost_away", None).expect("a row");
        assert!(away > 20.0, "{standard}: {away}");
    }
}

#[test]
fn every_lost_packet_has_its_cause() {
    let calls = json!([tcp(), voice("server", "s0")]);
    let outcome = simulate(&scenario(&eap(), &json!({}), &json!({}), &calls), 1);
    let lost: f64 = outcome
        .rows
        .iter()
        .filter(|r| r.metric == "packets_lost")
        .map(|r| r.value)
        .sum();
    let causes = outcome
        .rows
        .iter()
        .filter(|r| r.metric.starts_with("packets_lost_"));
    assert!(lost > 0.0);
    assert_eq!(causes.map(|r| r.value).sum::<f64>(), lost);
}
