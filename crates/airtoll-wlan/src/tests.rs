//! The world as a whole: conservation of packets and octets, and no double booking.

use airtoll_engine::Digest;
use airtoll_units::Duration;

mod back_pressure;
mod bridge;
mod card;
mod dozing;
mod fewer_events;
mod fq_codel;
mod hidden;
mod interference;
mod multi_link;
mod neighbours;
mod ofdma;
mod path_mtu;
mod power_save;
mod probing;
mod schedules;
mod settling;
mod single_radio;
mod widths;
mod wire_queues;
mod wired_senders;

use crate::outcome::Outcome;
use crate::scenario::AccessCategory;
use crate::world::World;
use crate::{Scenario, build, run};

/// `n` stations that send saturated UDP to a wired server; `bss` and `node` are JSON fields.
fn uplink(n: usize, bss: &str, node: &str, payload: u32, seconds: f64) -> Scenario {
    let stations: String = (0..n)
        .map(|i| format!(r#"{{"name": "s{i}", "role": "station", "bss": "cell"{node}}},"#))
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
    cell(bss, &stations, &flows.join(","), seconds)
}

/// A cell with an access point, a wired server and the given stations and flows.
fn cell(bss: &str, stations: &str, flows: &str, seconds: f64) -> Scenario {
    let text = format!(
        r#"{{"duration_s": {seconds},
        "bss": [{{"name": "cell", {bss}}}],
        "nodes": [{stations}
            {{"name": "ap", "role": "access_point", "bss": "cell"}},
            {{"name": "server", "role": "wired"}}],
        "links": [{{"nodes": ["ap", "server"], "rate_bps": 1e9}}],
        "flows": [{flows}]}}"#
    );
    Scenario::from_json(&text).unwrap()
}

const A54: &str = r#""standard": "802.11a", "rate": {"control": "fixed", "mbps": 54}"#;
const B11: &str = r#""standard": "802.11b", "rate": {"control": "fixed", "mbps": 11}"#;
const AX80: &str = r#""standard": "802.11ax", "width_mhz": 80,
    "rate": {"control": "fixed_mcs", "mcs": 11}"#;
const N40: &str = r#""standard": "802.11n", "width_mhz": 40,
    "rate": {"control": "fixed_mcs", "mcs": 7}"#;
/// A host whose stack and cipher take time.
const WORK: &str = r#", "cipher": "ccmp-128", "host": {
    "transmit": {"fixed_ns": 20000, "per_octet_ns": 1}, "receive": {"fixed_ns": 15000},
    "engine": "coprocessor", "ciphers": [{"cipher": "ccmp-128",
        "encrypt": {"fixed_ns": 2000, "per_octet_ns": 10}, "decrypt": {"fixed_ns": 2000}}]}"#;
const TCP_UP: &str = r#"{"name": "tcp", "station": "s0", "source": "s0", "destination": "server",
    "transport": {"protocol": "tcp"}, "pattern": {"type": "saturated", "payload_octets": 1460}}"#;

fn simulate(scenario: &Scenario, seed: u64) -> Outcome {
    run(scenario, seed, &mut || false).unwrap()
}

#[test]
fn acknowledgements_ride_on_answers() {
    // Nagle's rule holds the next request until the last is acknowledged: were that left to the
    // delayed acknowledgement, each exchange would take its 200 ms.
    let flow = r#"{"name": "ask", "station": "s0", "source": "s0", "destination": "server",
        "transport": {"protocol": "tcp", "delayed_ack_timeout_ms": 200.0},
        "pattern": {"type": "request_response", "request_octets": 100, "response_octets": 100}}"#;
    let scenario = cell(
        B11,
        r#"{"name": "s0", "role": "station", "bss": "cell"},"#,
        flow,
        5.0,
    );
    let outcome = simulate(&scenario, 7);
    let response = total(&outcome, "response_time_s");
    assert!(response < 0.003, "{response}");
    // One packet a way, and no acknowledgement of its own but the first few.
    let exchanges = 5.0 / response;
    let frames = total(&outcome, "packets_sent");
    assert!((frames - 2.0 * exchanges).abs() < 0.02 * frames, "{frames}");
}

/// The world at the end of a trial, its books still open.
fn world_after(scenario: &Scenario, seed: u64) -> World {
    let mut world = build::build(scenario, seed).unwrap();
    world.run(&mut || false).unwrap();
    world
}

fn total(outcome: &Outcome, metric: &str) -> f64 {
    outcome
        .rows
        .iter()
        .filter(|r| r.metric == metric && r.second.is_none())
        .map(|r| r.value)
        .sum()
}

fn mbps(outcome: &Outcome) -> f64 {
    total(outcome, "throughput_bps") / 1e6
}

fn varied() -> Vec<Scenario> {
    let relay = r#"{"name": "relay", "source": "s0", "destination": "s1",
        "transport": {"protocol": "udp"}, "pattern": {"type": "paced", "payload_octets": 1000,
        "rate_bps": 30e6}}"#;
    let two = r#"{"name": "s0", "role": "station", "bss": "cell"},
        {"name": "s1", "role": "station", "bss": "cell"},"#;
    let ask = r#"{"name": "ask", "source": "s0", "destination": "server",
        "transport": {"protocol": "udp"}, "pattern": {"type": "request_response",
        "request_octets": 64, "response_octets": 5000}}"#;
    let beacons = format!(r#"{A54}, "beacons": {{}}, "rts_threshold_octets": 500"#);
    let mut hidden = uplink(3, B11, "", 1000, 1.0);
    hidden.radio.hidden.push(["s0".to_owned(), "s1".to_owned()]);
    let mut faint = uplink(2, A54, "", 1472, 1.0);
    faint.radio.path_loss = crate::scenario::PathLoss::Constant { loss_db: 87.0 };
    faint.radio.carrier_sense_dbm = -92.0;
    let mut fair = vec![
        uplink(4, N40, WORK, 1472, 1.0),
        cell(A54, two, TCP_UP, 1.0),
        cell(A54, two, relay, 1.0),
        faint.clone(),
    ];
    for node in fair.iter_mut().flat_map(|s| &mut s.nodes) {
        node.queue.discipline = crate::scenario::Discipline::FqCodel;
        node.queue.airtime_fairness = node.role == crate::scenario::Role::AccessPoint;
        node.queue.packets = 40;
    }
    let mut all = vec![
        uplink(1, A54, "", 1472, 1.0),
        uplink(5, B11, WORK, 700, 1.0),
        uplink(3, &beacons, WORK, 1472, 1.0),
        uplink(4, N40, WORK, 1472, 1.0),
        uplink(3, AX80, "", 1472, 0.5),
        cell(A54, two, relay, 1.0),
        cell(A54, two, TCP_UP, 1.0),
        cell(A54, two, ask, 1.0),
        cell(A54, two, &lookups("udp", ""), 1.0),
        cell(B11, two, &lookups("tcp", ""), 1.0),
        hidden,
        faint,
        multiple_protection(3, 1472, AccessCategory::Voice, 1.0),
        multiple_protection(2, 500, AccessCategory::Voice, 1.0),
        bridge::bridged(2, A54, "", "udp", 1000, 1.0),
        bridge::bridged(1, N40, WORK, "tcp", 1460, 1.0),
    ];
    all.append(&mut fair);
    all
}

/// DNS lookups of the first station.
fn lookups(protocol: &str, more: &str) -> String {
    format!(
        r#"{{"name": "dns", "source": "s0", "destination": "server",
        "transport": {{"protocol": "{protocol}"}}, "pattern": {{"type": "dns"{more}}}}}"#
    )
}

#[test]
fn a_lookup_over_tls_takes_three_round_trips_and_one_over_udp_one() {
    let station = r#"{"name": "s0", "role": "station", "bss": "cell"},"#;
    for (protocol, round_trips) in [("udp", 1.0), ("tcp", 3.0)] {
        let flow = lookups(protocol, r#", "server_s": 0.04, "count": 5"#);
        let mut scenario = cell(A54, station, &flow, 5.0);
        for link in &mut scenario.links {
            link.delay_s = 0.05;
        }
        let outcome = run(&scenario, 1, &mut || false).unwrap();
        let mean = total(&outcome, "response_time_s");
        // Each round trip takes 100 ms on the wire, the resolver 40 ms, the radio below 3 ms.
        let wire = 0.1 * round_trips + 0.04;
        assert!((wire..wire + 0.01).contains(&mean), "{protocol}: {mean}");
        // Query and answer; over TLS also ClientHello, server's flight and Finished (RFC 8448),
        // two octets of length and 22 of the record for each message.
        let octets = match protocol {
            "udp" => 44 + 60,
            _ => 201 + 774 + 58 + 2 * (2 + 22) + 44 + 60,
        };
        assert_eq!(total(&outcome, "octets_payload"), f64::from(5 * octets));
    }
}

#[test]
fn a_lost_query_costs_the_wait_for_its_repetition() {
    let station = r#"{"name": "s0", "role": "station", "bss": "cell"},"#;
    let flow = lookups("udp", r#", "retry_s": 0.5, "think_s": 0.01"#);
    let mut scenario = cell(A54, station, &flow, 60.0);
    for link in &mut scenario.links {
        link.loss_ratio = 0.2;
    }
    let outcome = run(&scenario, 1, &mut || false).unwrap();
    // Query and answer both arrive with probability 0.64, so that 0.36 / 0.64 waits are expected.
    let mean = total(&outcome, "response_time_s");
    assert!(
        (0.5 * 0.5625 * 0.7..0.5 * 0.5625 * 1.3).contains(&mean),
        "{mean}"
    );
}

#[test]
fn a_station_does_not_interfere_where_it_is_hidden() {
    // All levels are 60 dB above the noise: noise costs nothing, with and without RTS.
    for rts in ["", r#", "rts_threshold_octets": 0"#] {
        let throughput = |frame_errors: bool| {
            let mut scenario = uplink(3, &format!("{A54}{rts}"), "", 256, 5.0);
            scenario.radio.path_loss = crate::scenario::PathLoss::Constant { loss_db: 40.0 };
            scenario.radio.frame_errors = frame_errors;
            for pair in [["s0", "s1"], ["s0", "s2"], ["s1", "s2"]] {
                scenario.radio.hidden.push(pair.map(str::to_owned));
            }
            mbps(&simulate(&scenario, 1))
        };
        let (with, without) = (throughput(true), throughput(false));
        assert!((with - without).abs() < 1e-9, "{rts}: {with} {without}");
    }
}

#[test]
fn what_is_sent_is_received_lost_or_queued() {
    for (i, scenario) in varied().iter().enumerate() {
        let mut world = world_after(scenario, 7);
        let alive = world.stack.lower.cx.packets.alive();
        let outcome = world.outcome();
        let sum = |metric| total(&outcome, metric);
        assert!(sum("packets_received") > 0.0, "scenario {i}");
        let queued = sum("packets_queued");
        assert!(queued >= 0.0, "scenario {i}: {queued}");
        // Every packet still in memory is queued somewhere; TCP's acknowledgements, which carry no
        // payload, and pieces of one datagram are the only ones not counted as packets sent.
        assert!(
            alive as f64 >= queued,
            "scenario {i}: {alive} in memory, {queued} queued"
        );
        let plain = world.stack.flow.all().iter().all(|f| f.only_counts());
        if plain {
            assert_eq!(alive as f64, queued, "scenario {i}");
        }
    }
}

#[test]
fn the_ledger_adds_up_to_the_trial() {
    for (i, scenario) in varied().iter().enumerate() {
        let mut world = world_after(scenario, 3);
        let _ = world.outcome();
        assert_eq!(
            world.stack.lower.cx.observers.ledger().total(),
            Duration::from_secs_f64(scenario.duration_s),
            "scenario {i}"
        );
    }
}

#[test]
fn the_ledger_adds_up_after_a_warm_up() {
    for mut scenario in varied() {
        scenario.warm_up_s = 0.2501;
        let mut world = world_after(&scenario, 3);
        let _ = world.outcome();
        let measured = Duration::from_secs_f64(scenario.duration_s)
            - Duration::from_secs_f64(scenario.warm_up_s);
        assert_eq!(world.stack.lower.cx.observers.ledger().total(), measured);
    }
}

#[test]
fn drawn_back_offs_explain_the_throughput_of_a_lone_sender() {
    // Each exchange takes a fixed time and its drawn slots, so that packets and excess slots of a
    // trial fill the same span. Without the excess, seeds differ by tens of packets.
    let scenario = uplink(1, A54, "", 1472, 4.0);
    let trials: Vec<Outcome> = (1..9).map(|seed| simulate(&scenario, seed)).collect();
    let packets = |o: &Outcome| o.value("packets_received", Some("f0")).unwrap();
    let most = trials.iter().map(packets).fold(0.0, f64::max);
    let least = trials.iter().map(packets).fold(f64::INFINITY, f64::min);
    assert!(most - least > 10.0, "{least} to {most}");
    let filled: Vec<f64> = trials
        .iter()
        .map(|o| packets(o) * (4.0 / packets(&trials[0])) + o.backoff_excess_slots * 9e-6)
        .collect();
    for at in &filled {
        let exchange = 4.0 / packets(&trials[0]);
        assert!((at - filled[0]).abs() < 3.0 * exchange, "{filled:?}");
    }
}

#[test]
fn the_excess_of_drawn_back_offs_has_no_expectation() {
    for mut scenario in varied() {
        scenario.warm_up_s = 0.1;
        let excess: Vec<f64> = (1..13)
            .map(|seed| simulate(&scenario, seed).backoff_excess_slots)
            .collect();
        let n = excess.len() as f64;
        let mean = excess.iter().sum::<f64>() / n;
        let variance = excess.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 1.0);
        assert!(
            mean.abs() <= 4.5 * (variance / n).sqrt(),
            "{mean} +- {}",
            (variance / n).sqrt()
        );
    }
}

/// One packet each 10 ms, whose cipher takes 1 ms at the station and as much at the access point.
fn sparse(engine: &str) -> Scenario {
    let node = format!(
        r#", "cipher": "ccmp-128", "host": {{"engine": "{engine}", "ciphers": [{{
        "cipher": "ccmp-128", "encrypt": {{"fixed_ns": 1e6}}, "decrypt": {{"fixed_ns": 1e6}}}}]}}"#
    );
    let mut scenario = uplink(1, A54, &node, 1000, 1.0);
    scenario.flows[0].pattern =
        serde_json::from_str(r#"{"type": "paced", "payload_octets": 1000, "rate_bps": 800000}"#)
            .unwrap();
    scenario
}

#[test]
fn cipher_work_beside_idle_air_is_exposed_and_beside_busy_air_is_not() {
    for engine in ["inline", "coprocessor", "cpu"] {
        let mut world = world_after(&sparse(engine), 3);
        let outcome = world.outcome();
        let worked = total(&outcome, "crypto_time_s");
        assert!(worked > 0.09, "{engine}: {worked}");
        let exposed = total(&outcome, "crypto_exposed_s");
        assert!(
            (exposed - worked).abs() < 0.002,
            "{engine}: {exposed} of {worked}"
        );
    }
    for (i, scenario) in varied().iter().enumerate() {
        let outcome = simulate(scenario, 3);
        let exposed = total(&outcome, "crypto_exposed_s");
        assert!(exposed <= total(&outcome, "airtime_idle_s"), "scenario {i}");
        assert!(exposed <= total(&outcome, "crypto_time_s"), "scenario {i}");
    }
    // Saturated, the air is never idle for long, with any cipher cost.
    let busy = simulate(&uplink(5, B11, WORK, 700, 1.0), 3);
    assert!(total(&busy, "crypto_time_s") > 0.001);
    assert!(total(&busy, "crypto_exposed_s") < 0.01 * total(&busy, "crypto_time_s"));
}

#[test]
fn equal_seeds_give_equal_traces_and_rows() {
    for scenario in varied() {
        let trace = |seed| {
            let mut world = build::build(&scenario, seed).unwrap();
            let digest = std::rc::Rc::new(std::cell::RefCell::new(Digest::default()));
            world
                .stack
                .lower
                .cx
                .observers
                .set_trace(Box::new(Shared(digest.clone())));
            world.run(&mut || false).unwrap();
            let digest = *digest.borrow();
            (digest, world.outcome())
        };
        let (first, again, other) = (trace(1), trace(1), trace(2));
        assert_eq!(first, again);
        assert_ne!(first.0, other.0);
    }
}

/// A trace that the test can look at afterwards.
struct Shared<T>(std::rc::Rc<std::cell::RefCell<T>>);

impl<T: airtoll_engine::Trace> airtoll_engine::Trace for Shared<T> {
    fn record(&mut self, at: airtoll_units::Instant, what: &'static str, which: [u64; 3]) {
        self.0.borrow_mut().record(at, what, which);
    }
}

#[test]
fn no_node_sends_two_frames_at_once() {
    for scenario in varied() {
        let mut world = build::build(&scenario, 5).unwrap();
        let records = std::rc::Rc::new(std::cell::RefCell::new(Vec::new()));
        world
            .stack
            .lower
            .cx
            .observers
            .set_trace(Box::new(Shared(records.clone())));
        world.run(&mut || false).unwrap();
        let mut free_at = vec![0; scenario.nodes.len()];
        let mut frames = 0;
        for (at, what, [node, _, length]) in records.borrow().iter() {
            if *what == "frame" {
                let at = at.as_nanos();
                assert!(free_at[*node as usize] <= at, "node {node} at {at}");
                free_at[*node as usize] = at + length;
                frames += 1;
            }
        }
        assert!(frames > 100);
    }
}

#[test]
fn saturated_stations_share_fairly() {
    for n in [2, 10, 20] {
        let outcome = simulate(&uplink(n, A54, "", 1472, 20.0), 1);
        let rates: Vec<f64> = outcome
            .rows
            .iter()
            .filter(|r| r.metric == "throughput_bps")
            .map(|r| r.value)
            .collect();
        let sum: f64 = rates.iter().sum();
        let squares: f64 = rates.iter().map(|r| r * r).sum();
        let jain = sum * sum / (n as f64 * squares);
        assert!(jain >= 0.99, "{n}: {jain}");
    }
}

#[test]
fn a_longer_header_never_raises_goodput() {
    let ciphers = ["open", "wep-104", "ccmp-128", "tkip", "gcmp-256"];
    for bss in [A54, B11] {
        let rates: Vec<f64> = ciphers
            .iter()
            .map(|cipher| {
                let node = format!(r#", "cipher": "{cipher}""#);
                mbps(&simulate(&uplink(1, bss, &node, 1472, 5.0), 1))
            })
            .collect();
        // 0, 8, 16, 20 and 24 octets.
        assert!(rates.is_sorted_by(|a, b| a >= b), "{rates:?}");
    }
}

#[test]
fn an_interrupt_ends_the_trial() {
    let scenario = uplink(1, A54, "", 1472, 1e5);
    let mut looks = 0;
    let ended = run(&scenario, 1, &mut || {
        looks += 1;
        looks == 3
    });
    assert_eq!(ended, Err(crate::ScenarioError::Interrupted));
}

/// A host that takes 1 ms for a packet of which 85 come in a microsecond.
#[test]
fn packets_that_pile_up_without_end_end_the_trial() {
    let paced = r#"{"type": "paced", "payload_octets": 1472, "rate_bps": 1e12}"#;
    let text = serde_json::to_string(&uplink(1, A54, "", 1472, 1.0)).unwrap();
    let mut value: serde_json::Value = serde_json::from_str(&text).unwrap();
    value["flows"][0]["pattern"] = serde_json::from_str(paced).unwrap();
    value["nodes"][0]["host"] = serde_json::json!({"transmit": {"fixed_ns": 1e6}});
    let scenario = crate::Scenario::from_json(&value.to_string()).unwrap();
    let Err(crate::ScenarioError::Overfull { packets }) = run(&scenario, 1, &mut || false) else {
        panic!("the trial went on");
    };
    assert!((1_000_000..1_100_000).contains(&packets), "{packets}");
}

#[test]
fn wep_forbids_high_throughput() {
    let outcome = simulate(&uplink(1, N40, r#", "cipher": "wep-104""#, 1472, 1.0), 1);
    let row = |metric: &str| {
        outcome
            .rows
            .iter()
            .find(|r| r.metric == metric)
            .map(|r| r.value)
    };
    assert_eq!(row("rate_forbidden_bps"), Some(135e6));
    assert_eq!(row("rate_used_bps"), Some(54e6));
    assert!(mbps(&outcome) < 32.0);
}

/// Each node's frames by kind, as their starts and lengths.
fn frames(scenario: &Scenario) -> Vec<(u64, u64, u64, u64)> {
    let mut world = build::build(scenario, 5).unwrap();
    let records = std::rc::Rc::new(std::cell::RefCell::new(Vec::new()));
    world
        .stack
        .lower
        .cx
        .observers
        .set_trace(Box::new(Shared(records.clone())));
    world.run(&mut || false).unwrap();
    let records = records.borrow();
    records
        .iter()
        .filter(|(_, what, _)| *what == "frame")
        .map(|(at, _, [node, kind, length])| (at.as_nanos(), *node, *kind, *length))
        .collect()
}

#[test]
fn fragments_follow_one_another_sifs_apart() {
    let bss = format!(r#"{A54}, "fragmentation_threshold_octets": 528"#);
    let frames = frames(&uplink(1, &bss, r#", "cipher": "tkip""#, 1472, 0.1));
    // 1500 + 8 + 8 octets in pieces of 500, each with header, FCS and 12 of TKIP.
    let (data, ack) = (crate::medium::FrameKind::Data, 28_000);
    let bursts = frames.len() / 8;
    assert!(bursts > 50);
    for burst in frames.chunks_exact(8).take(bursts) {
        let mut at = burst[0].0;
        for pair in burst.chunks_exact(2) {
            assert_eq!((pair[0].0, pair[0].2), (at, data as u64));
            assert_eq!(pair[1].0, at + pair[0].3 + 16_000);
            assert_eq!(pair[1].3, ack);
            at = pair[1].0 + ack + 16_000;
        }
        // 540 octets, and 16 of the MSDU's with the same around them.
        assert_eq!([burst[0].3, burst[6].3], [104_000, 32_000]);
    }
}

#[test]
fn fragments_are_tried_again_for_themselves() {
    for stations in [1, 5] {
        let bss = format!(r#"{A54}, "fragmentation_threshold_octets": 528"#);
        let mut scenario = uplink(stations, &bss, r#", "cipher": "ccmp-128""#, 1472, 2.0);
        if stations == 1 {
            scenario.radio.path_loss = crate::scenario::PathLoss::Constant { loss_db: 92.0 };
        }
        let mut world = world_after(&scenario, 3);
        let outcome = world.outcome();
        assert_eq!(
            world.stack.lower.cx.observers.ledger().total(),
            Duration::from_secs(2)
        );
        assert!(total(&outcome, "packets_received") > 100.0, "{stations}");
        assert!(total(&outcome, "octets_retry") > 10_000.0, "{stations}");
        // Delivered octets are booked once: 1472 octets of each datagram, and those under way.
        let delivered = total(&outcome, "octets_payload");
        let counted = 1472.0 * total(&outcome, "packets_received");
        let under_way = 1472.0 * (stations as f64 + total(&outcome, "packets_lost"));
        assert!(
            delivered >= counted && delivered <= counted + under_way,
            "{stations}: {delivered} {counted}"
        );
    }
}

#[test]
fn only_the_nodes_named_burst() {
    let both = format!(r#"{A54}, "frame_burst_us": 3000"#);
    let own = r#", "frame_burst_us": 3000"#;
    let station = mbps(&simulate(&uplink(1, A54, own, 1472, 5.0), 1));
    let cell = mbps(&simulate(&uplink(1, &both, "", 1472, 5.0), 1));
    let none = mbps(&simulate(&uplink(1, A54, "", 1472, 5.0), 1));
    assert_eq!(station, cell);
    assert!(station > 1.15 * none);
    let off = r#", "frame_burst_us": 0"#;
    assert_eq!(mbps(&simulate(&uplink(1, &both, off, 1472, 5.0), 1)), none);
    // The station that bursts takes the time that the other loses.
    let mut two = uplink(2, A54, "", 1472, 10.0);
    two.nodes[0].frame_burst_us = Some(3_000.0);
    let outcome = simulate(&two, 1);
    let rate = |name: &str| {
        let of = |r: &&crate::Row| r.metric == "throughput_bps" && r.flow.as_deref() == Some(name);
        outcome.rows.iter().find(of).unwrap().value
    };
    assert!(rate("f0") > 4.0 * rate("f1"));
}

/// Voice or video over 802.11n at 65 Mb/s, whose frames reserve the medium up to the TXOP limit.
fn multiple_protection(n: usize, payload: u32, category: AccessCategory, seconds: f64) -> Scenario {
    let bss = r#""standard": "802.11n", "rate": {"control": "fixed_mcs", "mcs": 7},
        "txop_protection": "multiple", "aggregation": {"ampdu_max_octets": 65535}"#;
    let mut scenario = uplink(n, bss, "", payload, seconds);
    for flow in &mut scenario.flows {
        flow.access_category = category;
    }
    scenario
}

#[test]
fn a_cf_end_ends_a_txop_where_it_fits() {
    // Ten MPDUs of 1472 octets leave 92 us of 2080 behind the response, 28 of 500 leave 24 us.
    for (payload, fits) in [(1472, true), (500, false)] {
        let frames = frames(&multiple_protection(1, payload, AccessCategory::Voice, 0.2));
        let data = crate::medium::FrameKind::Data as u64;
        let cf_end = crate::medium::FrameKind::CfEnd as u64;
        let times = |kind| frames.iter().filter(|f| f.2 == kind).count();
        // The trial may end before the last one.
        let expected = if fits { times(data) } else { 0 };
        assert!(times(cf_end).abs_diff(expected) <= 1);
        for pair in frames.windows(2).filter(|w| w[1].2 == cf_end) {
            // SIFS after the response: 20 octets at 6 Mb/s.
            assert_eq!(pair[1].0, pair[0].0 + pair[0].3 + 16_000);
            assert_eq!(pair[1].3, 52_000);
        }
    }
}

#[test]
fn the_others_wait_for_the_txop_limit_and_its_holder_does_not() {
    let frames = frames(&multiple_protection(2, 1472, AccessCategory::Video, 5.0));
    let data = crate::medium::FrameKind::Data as u64;
    let response = crate::medium::FrameKind::Response as u64;
    let mut gaps = [Vec::new(), Vec::new()];
    for w in frames.windows(3) {
        if (w[0].2, w[1].2, w[2].2) == (data, response, data) && w[0].3 > 3_900_000 {
            let limit = w[0].0 + 4_096_000;
            let same = usize::from(w[0].1 != w[2].1);
            gaps[same].push(w[2].0 as i64 - limit as i64);
        }
    }
    // AIFS is 34 us, and 20 us of the TXOP are left at the response.
    assert_eq!(gaps[0].iter().min(), Some(&14_000));
    assert_eq!(gaps[1].iter().min(), Some(&34_000));
    // Without the reservation both would win equally often.
    assert!(gaps[0].len() > gaps[1].len() + 100);
}

#[test]
fn an_unanswered_rts_is_forgotten() {
    // The first station is heard by the second one and not by the access point.
    let bss = format!(r#"{B11}, "rts_threshold_octets": 0"#);
    let mut scenario = uplink(2, &bss, "", 1472, 5.0);
    scenario.radio.budgets.push(crate::scenario::LinkBudget {
        nodes: ["s0".to_owned(), "ap".to_owned()],
        bss: None,
        rssi_dbm: Some(-100.0),
        loss_db: None,
    });
    let frames = frames(&scenario);
    let rts = crate::medium::FrameKind::Rts as u64;
    let gaps: Vec<u64> = frames
        .windows(2)
        .filter(|w| (w[0].1, w[0].2) == (0, rts) && (w[1].1, w[1].2) == (1, rts))
        .filter(|w| w[1].0 > w[0].0)
        .map(|w| w[1].0.saturating_sub(w[0].0 + w[0].3) / 1_000)
        .collect();
    assert!(gaps.len() > 50);
    // Two SIFS of 10 us, a CTS of 248, aRxPHYStartDelay 192, two slots of 20, then DIFS of 50 and
    // at least one slot; otherwise both would transmit together. The reservation alone would be
    // 10 + 248 + 10 + 1310 + 10 + 248.
    let least = gaps.iter().min().copied();
    assert_eq!(least, Some(20 + 248 + 192 + 40 + 50 + 20));
}

#[test]
fn throughput_table() {
    let table: Vec<String> = [
        ("a 54", A54),
        ("b 11", B11),
        ("n40 mcs 7", N40),
        ("ax80 mcs 11", AX80),
    ]
    .iter()
    .flat_map(|(name, bss)| {
        [1, 5].map(|n| {
            let outcome = simulate(&uplink(n, bss, "", 1472, 2.0), 1);
            format!("{name:12} {n:2} stations {:8.3} Mb/s", mbps(&outcome))
        })
    })
    .collect();
    insta::assert_snapshot!(table.join("\n"));
}
