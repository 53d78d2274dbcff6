//! Packets that address resolution sends, and packets that wait for a reply.

use std::cell::RefCell;
use std::rc::Rc;

use airtoll_units::Duration;
use airtoll_wire::arp::ArpRepr;

use crate::world::World;
use crate::{Scenario, build, record, run, run_recorded};

/// A cell of two stations, their access point and a wired server; `mode` is how addresses are
/// resolved, `radio` and `wire` are JSON fields.
fn cell(mode: &str, bss: &str, flow: &str, wire: &str, seconds: f64) -> Scenario {
    let text = format!(
        r#"{{"duration_s": {seconds}, "address_resolution": "{mode}",
        "bss": [{{"name": "cell", {bss}}}],
        "nodes": [{{"name": "s0", "role": "station", "bss": "cell", "cipher": "ccmp-128"}},
            {{"name": "s1", "role": "station", "bss": "cell", "cipher": "ccmp-128"}},
            {{"name": "ap", "role": "access_point", "bss": "cell", "cipher": "ccmp-128"}},
            {{"name": "server", "role": "wired"}}],
        "links": [{{"nodes": ["ap", "server"], "rate_bps": 1e9 {wire}}}],
        "flows": [{flow}]}}"#
    );
    Scenario::from_json(&text).unwrap()
}

const A54: &str = r#""standard": "802.11a", "rate": {"control": "fixed", "mbps": 54}"#;
const AX80: &str = r#""standard": "802.11ax", "width_mhz": 80,
    "rate": {"control": "fixed_mcs", "mcs": 11}"#;

fn paced(from: &str, to: &str, ip: &str, rate_bps: f64) -> String {
    format!(
        r#"{{"name": "f", "source": "{from}", "destination": "{to}", "ip": "{ip}",
        "transport": {{"protocol": "udp"}}, "pattern": {{"type": "paced",
        "payload_octets": 1000, "rate_bps": {rate_bps}}}}}"#
    )
}

fn after(scenario: &Scenario) -> World {
    let mut world = build::build(scenario, 5).unwrap();
    world.run(&mut || false).unwrap();
    world
}

fn total(scenario: &Scenario, metric: &str) -> f64 {
    let rows = run(scenario, 5, &mut || false).unwrap().rows;
    let of_it = rows.iter().filter(|r| r.metric == metric);
    of_it.map(|r| r.value).sum()
}

/// Octets of data frames and of group-addressed frames for address resolution.
fn octets(scenario: &Scenario) -> (u64, u64) {
    let ledger = *after(scenario).stack.lower.cx.observers.ledger();
    (ledger.octets.management, ledger.octets_management)
}

#[test]
fn the_first_packet_waits_for_an_answer() {
    // One packet a trial.
    let delay = |mode| {
        total(
            &cell(mode, A54, &paced("s0", "server", "ipv4", 8e4), "", 0.09),
            "delay_s",
        )
    };
    let us = (delay("dynamic") - delay("static")) * 1e6;
    // Request of 72 octets (MAC header and FCS 28, CCMP 16, LLC 8, ARP 28): 32 us at 54 Mb/s.
    // The same again to the group: 120 us at 6 Mb/s. Reply: 32 us. Two Acks at 24 Mb/s: 28 us each.
    let airtimes = 32.0 + 120.0 + 32.0 + 2.0 * 28.0;
    // SIFS before each Ack, DIFS before each of the frames after the first.
    let spaces = 2.0 * 16.0 + 3.0 * 34.0;
    let back_offs = 3.0 * 15.0 * 9.0;
    assert!(us >= airtimes + spaces - 0.1, "{us}");
    assert!(us <= airtimes + spaces + back_offs, "{us}");
}

#[test]
fn questions_and_answers_are_counted_once() {
    for (from, to) in [
        ("s0", "server"),
        ("server", "s0"),
        ("s0", "s1"),
        ("ap", "s1"),
    ] {
        for (ip, message) in [("ipv4", 28), ("ipv6", 72)] {
            let flow = paced(from, to, ip, 1e6);
            let msdu = message + 8;
            let group = 24 + 16 + msdu + 4;
            // Over the air alone the reply goes twice.
            let frames = match (from, to) {
                ("s0", "server") => 2,
                ("s0", "s1") => 3,
                _ => 1,
            };
            let dynamic = octets(&cell("dynamic", A54, &flow, "", 1.0));
            assert_eq!(dynamic, (frames * msdu, group), "{from} to {to}, {ip}");
            let fixed = octets(&cell("static", A54, &flow, "", 1.0));
            assert_eq!(fixed, (0, 0));
        }
    }
}

#[test]
fn nothing_is_lost_or_booked_twice() {
    for bss in [
        A54,
        AX80,
        r#""standard": "802.11b", "edca": true,
        "rate": {"control": "fixed", "mbps": 11}"#,
    ] {
        for flow in [
            paced("s0", "s1", "ipv6", 2e6),
            paced("server", "s1", "ipv4", 2e6),
        ] {
            let scenario = cell("dynamic", bss, &flow, "", 2.0);
            assert_eq!(total(&scenario, "packets_lost"), 0.0);
            let ledger = after(&scenario).outcome();
            assert!(
                ledger
                    .rows
                    .iter()
                    .any(|r| r.metric == "airtime_management_s" && r.value > 0.0)
            );
            let sum: f64 = ledger
                .rows
                .iter()
                .filter(|r| r.metric.starts_with("airtime_"))
                .map(|r| r.value)
                .sum();
            assert!((sum - 2.0).abs() < 1e-9, "{sum}");
        }
    }
}

#[test]
fn nobody_answers_and_packets_are_given_up() {
    let lossy = r#", "loss_ratio": 0.999999999"#;
    let flow = paced("s0", "server", "ipv4", 8e4);
    let scenario = cell("dynamic", A54, &flow, lossy, 2.95);
    // Asked at 0, 1 and 2 s.
    assert_eq!(octets(&scenario), (3 * 36, 3 * 80));
    // Ten packets a second; the last three are held.
    assert_eq!(total(&scenario, "packets_lost"), 27.0);
    let longer = cell("dynamic", A54, &flow, lossy, 3.05);
    assert_eq!(after(&longer).stack.lower.cx.packets.alive(), 1);
}

#[test]
fn saturated_flows_go_on_after_it() {
    for (bss, transport, payload) in [(A54, "udp", 1472), (AX80, "udp", 1472), (AX80, "tcp", 1460)]
    {
        let flow = format!(
            r#"{{"name": "f", "source": "s0", "destination": "server",
            "transport": {{"protocol": "{transport}"}},
            "pattern": {{"type": "saturated", "payload_octets": {payload}}}}}"#
        );
        let rate = |mode| total(&cell(mode, bss, &flow, "", 10.0), "throughput_bps");
        let (dynamic, fixed) = (rate("dynamic"), rate("static"));
        // Of TCP, back-offs that differ change when its window opens.
        let tolerance = if transport == "tcp" { 0.03 } else { 0.005 };
        let off = dynamic / fixed - 1.0;
        assert!(off.abs() < tolerance, "{bss} {transport}: {off}");
    }
}

#[test]
fn a_group_frame_takes_its_airtime_alone() {
    let flow = paced("ap", "s1", "ipv4", 8e4);
    let world = after(&cell("dynamic", A54, &flow, "", 0.09));
    // 80 octets at 6 Mb/s, and the octets of the answer's MSDU at 54 Mb/s.
    let answer = Duration::from_nanos(36 * 8_000_000_000 / 54_000_000);
    assert_eq!(
        world.stack.lower.cx.observers.ledger().management,
        Duration::from_micros(132) + answer
    );
}

#[derive(Default, Clone)]
struct Heard(Rc<RefCell<Vec<Vec<u8>>>>);

impl record::Sink for Heard {
    fn interface(&mut self, medium: record::Medium, _: &str) -> u32 {
        u32::from(medium == record::Medium::Wire)
    }
    fn packet(&mut self, interface: u32, _: airtoll_units::Instant, octets: &[u8]) {
        if interface == 1 {
            self.0.borrow_mut().push(octets.to_vec());
        }
    }
    fn key(&mut self, _: &record::Key) {}
}

#[test]
fn captures_hold_it_and_change_nothing() {
    for (ip, length) in [("ipv4", 60), ("ipv6", 86)] {
        let scenario = cell(
            "dynamic",
            A54,
            &paced("server", "s1", ip, 8e4),
            r#", "delay_s": 1e-5"#,
            0.1,
        );
        let heard = Heard::default();
        let with = run_recorded(&scenario, 1, &mut || false, Box::new(heard.clone())).unwrap();
        let without = run(&scenario, 1, &mut || false).unwrap();
        assert_eq!(format!("{with:?}"), format!("{without:?}"));
        let wired = heard.0.borrow();
        // Broadcast, and back from s1 to the server.
        assert_eq!(wired[0][0] & 1, 1);
        assert_eq!(wired[1][..6], [2, 0, 0, 0, 0, 4]);
        assert_eq!(wired[1][6..12], [2, 0, 0, 0, 0, 2]);
        assert_eq!((wired[0].len(), wired[1].len()), (length, length));
        if ip == "ipv4" {
            let answer = ArpRepr::parse(&wired[1][14..]).unwrap();
            assert_eq!(
                (answer.operation, answer.sender_ip),
                (2, [10, 0, 0, 2].into())
            );
        }
    }
}

/// A cell of two wireless bridges with a host behind each, an access point and a wired server.
fn bridges(ip: &str, from: &str, to: &str) -> Scenario {
    let text = format!(
        r#"{{"duration_s": 0.5, "address_resolution": "dynamic",
        "bss": [{{"name": "cell", {A54}}}],
        "nodes": [
            {{"name": "s0", "role": "station", "bss": "cell", "four_address": true}},
            {{"name": "s1", "role": "station", "bss": "cell", "four_address": true}},
            {{"name": "s2", "role": "station", "bss": "cell"}},
            {{"name": "ap", "role": "access_point", "bss": "cell"}},
            {{"name": "server", "role": "wired"}},
            {{"name": "h0", "role": "wired"}}, {{"name": "h1", "role": "wired"}},
            {{"name": "h2", "role": "wired"}}],
        "links": [{{"nodes": ["ap", "server"], "rate_bps": 1e9}},
            {{"nodes": ["s0", "h0"], "rate_bps": 1e9}}, {{"nodes": ["s0", "h2"], "rate_bps": 1e9}},
            {{"nodes": ["s1", "h1"], "rate_bps": 1e9}}],
        "flows": [{}]}}"#,
        paced(from, to, ip, 1e6)
    );
    Scenario::from_json(&text).unwrap()
}

#[test]
fn questions_go_over_every_bridge_once() {
    // Data frames: request up, to the other bridges, reply up, reply down; and group frames.
    for (from, to, frames, groups) in [
        ("h0", "server", 1 + 1 + 1, 1),
        ("server", "h0", 2 + 1, 1),
        ("h0", "h1", 1 + 1 + 1 + 1, 1),
        ("h0", "s2", 1 + 1 + 1 + 1, 1),
        ("s2", "h0", 1 + 2 + 1 + 1, 1),
        ("h0", "ap", 1 + 1 + 1, 1),
        // Both hosts are on the wires of one bridge, which forwards the request nevertheless.
        ("h0", "h2", 1 + 1, 1),
    ] {
        for (ip, message) in [("ipv4", 28), ("ipv6", 72)] {
            let scenario = bridges(ip, from, to);
            let msdu = message + 8;
            let found = octets(&scenario);
            let wanted = (frames * msdu, groups * (24 + msdu + 4));
            assert_eq!(found, wanted, "{from} to {to}, {ip}");
            assert_eq!(total(&scenario, "packets_lost"), 0.0);
            assert!(total(&scenario, "packets_received") > 50.0, "{from} {to}");
        }
    }
}
