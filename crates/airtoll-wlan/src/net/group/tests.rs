//! Airtime, deliveries and delays of group-addressed traffic by the ways to pass it on.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;

use airtoll_units::Instant;
use proptest::prelude::*;

use crate::world::World;
use crate::{Scenario, build, record, run, run_recorded};

/// Airtimes at 802.11a, us: an mDNS packet of 128 octets makes an MPDU of 180 with header and FCS 28,
/// CCMP 16 and LLC 8, an ARP packet one of 80. Their Acks have 14 octets at 24 Mb/s.
const MDNS_54: u64 = 48;
const MDNS_6: u64 = 264;
const ARP_54: u64 = 36;
const ARP_6: u64 = 132;
const SIFS_AND_ACK: u64 = 16 + 28;

/// A cell of `stations` stations, their access point and a wired server; `bss`, `station` and `more`
/// are JSON fields, and `sources` and `flow` entries.
struct Cell<'a> {
    stations: u32,
    bss: &'a str,
    station: &'a str,
    more: &'a str,
    sources: String,
    flow: &'a str,
    seconds: f64,
}

const A54: &str = r#""standard": "802.11a", "rate": {"control": "fixed", "mbps": 54}"#;
const AX80: &str = r#""standard": "802.11ax", "width_mhz": 80,
    "rate": {"control": "fixed_mcs", "mcs": 9}"#;
/// A flow that begins behind the end of every trial.
const NOTHING: &str = r#"{"name": "f", "source": "s0", "destination": "server", "start_s": 1e5,
    "transport": {"protocol": "udp"}, "pattern": {"type": "saturated", "payload_octets": 1000}}"#;
const DOWNLOAD: &str = r#"{"name": "f", "source": "server", "destination": "s0",
    "transport": {"protocol": "udp"}, "pattern": {"type": "saturated", "payload_octets": 1400}}"#;

impl Default for Cell<'_> {
    fn default() -> Self {
        Self {
            stations: 3,
            bss: A54,
            station: "",
            more: "",
            sources: mdns("s0", 0.1),
            flow: NOTHING,
            seconds: 5.0,
        }
    }
}

impl Cell<'_> {
    fn with(&self, group: &str) -> Scenario {
        let (bss, station, more, sources) = (self.bss, self.station, self.more, &self.sources);
        let (seconds, flow) = (self.seconds, self.flow);
        let stations: String = (0..self.stations)
            .map(|n| {
                format!(
                    r#"{{"name": "s{n}", "role": "station", "bss": "cell", "cipher": "ccmp-128"
                    {station}}},"#
                )
            })
            .collect();
        let text = format!(
            r#"{{"duration_s": {seconds} {more},
            "bss": [{{"name": "cell", {bss}, "group": {{{group}}}}}],
            "nodes": [{stations}
                {{"name": "ap", "role": "access_point", "bss": "cell", "cipher": "ccmp-128",
                    "queue": {{"packets": 1000, "discipline": "fq_codel"}}}},
                {{"name": "server", "role": "wired"}}],
            "links": [{{"nodes": ["ap", "server"], "rate_bps": 1e9}}],
            "group_traffic": [{sources}], "flows": [{flow}]}}"#
        );
        Scenario::from_json(&text).unwrap()
    }
}

/// 100 octets of DNS: 128 of IPv4.
fn mdns(node: &str, mean_s: f64) -> String {
    format!(
        r#"{{"name": "mdns of {node}", "node": "{node}", "mean_interval_s": {mean_s},
        "message": {{"kind": "mdns", "payload_octets": 100}}}}"#
    )
}

fn asks(node: &str, target: &str, mean_s: f64) -> String {
    format!(
        r#"{{"name": "{node} for {target}", "node": "{node}", "mean_interval_s": {mean_s},
        "message": {{"kind": "address_request", "target": "{target}"}}}}"#
    )
}

const SHARED: &str = "";
const COPIES: &str = r#""multicast_to_unicast": true"#;
const NONE: &str = r#""per_client_keys": true"#;
const OWN_COPIES: &str = r#""per_client_keys": true, "multicast_to_unicast": true"#;
const ISOLATED: &str = r#""isolation": true"#;
const PROXY: &str = r#""proxy_arp": true"#;

type Records = Rc<RefCell<Vec<(Instant, &'static str, [u64; 3])>>>;

struct Shared(Records);

impl airtoll_engine::Trace for Shared {
    fn record(&mut self, at: Instant, what: &'static str, which: [u64; 3]) {
        self.0.borrow_mut().push((at, what, which));
    }
}

/// The world after a trial, and the arrivals: sender, station, ns at which the message was sent.
fn after(scenario: &Scenario, seed: u64) -> (World, Vec<[u64; 3]>) {
    let mut world = build::build(scenario, seed).unwrap();
    let records = Records::default();
    let observers = &mut world.stack.lower.cx.observers;
    observers.set_trace(Box::new(Shared(records.clone())));
    world.run(&mut || false).unwrap();
    let arrivals = records.borrow();
    let arrivals = arrivals.iter().filter(|(_, what, _)| *what == "group");
    (world, arrivals.map(|(_, _, which)| *which).collect())
}

fn total(scenario: &Scenario, metric: &str) -> f64 {
    let rows = run(scenario, 5, &mut || false).unwrap().rows;
    let of_it = rows.iter().filter(|r| r.metric == metric);
    of_it.map(|r| r.value).sum()
}

#[test]
fn airtime_of_a_message_follows_from_its_frames() {
    let up = MDNS_54 + SIFS_AND_ACK;
    for (group, down, share) in [
        (SHARED, MDNS_6, 1.0),
        (COPIES, 2 * (MDNS_54 + SIFS_AND_ACK), 1.0),
        (OWN_COPIES, 2 * (MDNS_54 + SIFS_AND_ACK), 1.0),
        (NONE, 0, 0.0),
        (ISOLATED, 0, 0.0),
        (PROXY, MDNS_6, 1.0),
    ] {
        let (world, _) = after(&Cell::default().with(group), 5);
        let groups = world.stack.lower.cx.observers.groups();
        let each = (up + down) * 1_000;
        let messages = groups.airtime.as_nanos() / each;
        assert_eq!(groups.airtime.as_nanos(), messages * each, "{group}");
        // About fifty messages in five seconds, a tenth of which are not counted.
        assert!((20..90).contains(&messages), "{group}: {messages}");
        assert!(groups.sent <= messages && groups.sent + 15 > messages);
        assert_eq!(groups.delivered_ratio(), Some(share), "{group}");
    }
}

#[test]
fn an_access_point_that_knows_the_address_answers() {
    let cell = Cell {
        sources: asks("s0", "s1", 0.1),
        ..Cell::default()
    };
    let frame = ARP_54 + SIFS_AND_ACK;
    for (group, each) in [
        // Request, request to the group, and the answer's two hops.
        (SHARED, frame + ARP_6 + 2 * frame),
        (COPIES, frame + 2 * frame + 2 * frame),
        (PROXY, 2 * frame),
        (r#""isolation": true, "proxy_arp": true"#, 2 * frame),
        (ISOLATED, frame),
    ] {
        let (world, _) = after(&cell.with(group), 5);
        let airtime = world.stack.lower.cx.observers.groups().airtime;
        assert_eq!(
            airtime.as_nanos() % (each * 1_000),
            0,
            "{group}: {airtime:?}"
        );
        assert!(!airtime.is_zero(), "{group}");
    }
    // A router's request for a station: to the group, or answered over the wire.
    let router = Cell {
        sources: asks("server", "s1", 0.1),
        ..Cell::default()
    };
    let airtime = |group| {
        let (world, _) = after(&router.with(group), 5);
        world.stack.lower.cx.observers.groups().airtime.as_nanos()
    };
    assert_eq!(airtime(SHARED) % ((ARP_6 + frame) * 1_000), 0);
    assert!(airtime(SHARED) > 0);
    assert_eq!(airtime(PROXY), 0);
}

#[test]
fn isolation_and_proxies_act_on_address_resolution_and_flows() {
    let between = r#"{"name": "f", "source": "s0", "destination": "s1",
        "transport": {"protocol": "udp"}, "pattern": {"type": "paced", "payload_octets": 1000,
        "rate_bps": 8e5}}"#;
    let up = between.replace(r#""destination": "s1""#, r#""destination": "server""#);
    let down = DOWNLOAD;
    let cell = |flow, more| Cell {
        sources: String::new(),
        flow,
        more,
        seconds: 1.0,
        ..Cell::default()
    };
    let dynamic = r#", "address_resolution": "dynamic""#;
    for more in ["", dynamic] {
        assert_eq!(
            total(&cell(between, more).with(ISOLATED), "throughput_bps"),
            0.0
        );
        assert!(total(&cell(between, more).with(SHARED), "throughput_bps") > 7e5);
        for flow in [&up, down] {
            for group in [
                SHARED,
                COPIES,
                ISOLATED,
                r#""isolation": true, "proxy_arp": true"#,
            ] {
                let rate = total(&cell(flow, more).with(group), "throughput_bps");
                assert!(rate > 7e5, "{more} {group}: {rate}");
            }
        }
    }
    // Requests reach no station without group-addressed frames, unless the access point answers.
    assert_eq!(
        total(&cell(down, dynamic).with(NONE), "throughput_bps"),
        0.0
    );
    let proxied = r#""per_client_keys": true, "proxy_arp": true"#;
    assert!(total(&cell(down, dynamic).with(proxied), "throughput_bps") > 7e5);
}

#[test]
fn frames_to_groups_wait_for_a_dtim_where_stations_doze() {
    let beacons = format!(r#"{A54}, "beacons": {{}}"#);
    let doze =
        r#", "power_save": {"listen_interval": 10, "after_us": 1e5, "beacon_awake_us": 3e3}"#;
    let cell = |station| Cell {
        bss: &beacons,
        station,
        seconds: 60.0,
        sources: mdns("server", 0.5),
        ..Cell::default()
    };
    let delay = |station, group| total(&cell(station).with(group), "group_delay_s");
    assert!(delay("", SHARED) < 2e-3);
    // Uniform between two DTIMs: half of 102.4 or of 307.2 ms in the mean.
    let every = delay(doze, SHARED);
    assert!((every - 0.0512).abs() < 0.01, "{every}");
    let third = delay(doze, r#""dtim_period": 3"#);
    assert!((third - 0.1536).abs() < 0.03, "{third}");
    // A copy for one station waits as its data do: half of ten beacons in the mean, less where the
    // station is still awake after the copy before.
    let copies = delay(doze, COPIES);
    assert!((0.35..0.56).contains(&copies), "{copies}");
    let ratio = total(&cell(doze).with(SHARED), "group_delivered_ratio");
    assert_eq!(ratio, 1.0);
}

#[test]
fn messages_to_groups_take_their_airtime_from_data() {
    let loud = |n: u32| {
        (0..n)
            .map(|s| mdns(&format!("s{s}"), 0.02))
            .collect::<Vec<_>>()
    };
    for bss in [A54, AX80] {
        let rate = |sources: String, group: &str| {
            let cell = Cell {
                bss,
                sources,
                flow: DOWNLOAD,
                seconds: 2.0,
                ..Cell::default()
            };
            let scenario = cell.with(group);
            (
                total(&scenario, "throughput_bps"),
                total(&scenario, "group_airtime_share"),
            )
        };
        let (quiet, nothing) = rate(String::new(), SHARED);
        assert_eq!(nothing, 0.0);
        let (data, share) = rate(loud(3).join(","), SHARED);
        assert!(share > 0.03, "{bss}: {share}");
        let lost = 1.0 - data / quiet;
        assert!(
            lost > share && lost < 2.5 * share + 0.05,
            "{bss}: {lost} {share}"
        );
    }
}

#[derive(Default, Clone)]
struct Frames(Rc<RefCell<Vec<Vec<u8>>>>);

impl record::Sink for Frames {
    fn interface(&mut self, medium: record::Medium, _: &str) -> u32 {
        u32::from(medium == record::Medium::Wire)
    }
    fn packet(&mut self, interface: u32, _: Instant, octets: &[u8]) {
        if interface == 1 {
            self.0.borrow_mut().push(octets.to_vec());
        }
    }
    fn key(&mut self, _: &record::Key) {}
}

#[test]
fn captures_change_nothing_and_hold_what_is_sent() {
    let advertised = r#"{"name": "r", "node": "server", "mean_interval_s": 0.2,
        "message": {"kind": "router_advertisement"}}"#;
    let solicits = asks("s0", "server", 0.2).replace(
        r#""target": "server""#,
        r#""target": "server", "ip": "ipv6""#,
    );
    let cell = Cell {
        sources: [mdns("s1", 0.2), advertised.to_owned(), solicits].join(","),
        seconds: 3.0,
        ..Cell::default()
    };
    for group in [SHARED, COPIES, PROXY, ISOLATED] {
        let scenario = cell.with(group);
        let frames = Frames::default();
        let with = run_recorded(&scenario, 1, &mut || false, Box::new(frames.clone())).unwrap();
        let without = run(&scenario, 1, &mut || false).unwrap();
        assert_eq!(format!("{with:?}"), format!("{without:?}"));
        let frames = frames.0.borrow();
        let groups: BTreeSet<&[u8]> = frames.iter().map(|frame| &frame[..6]).collect();
        for wanted in [
            [0x01, 0x00, 0x5e, 0, 0, 0xfb],
            [0x33, 0x33, 0, 0, 0, 1],
            [0x33, 0x33, 0xff, 0, 0, 5],
        ] {
            assert!(groups.contains(&wanted[..]), "{group}: {wanted:x?}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Each other station receives a message once at most, and its sender never does, whatever the
    /// way of delivery, the PHY and the level.
    #[test]
    fn a_message_arrives_once_and_never_at_its_sender(
        seed in 0_u64..1_000,
        stations in 1_u32..6,
        way in 0_usize..8,
        ax in any::<bool>(),
        level in -95.0_f64..-60.0,
    ) {
        let ways = [
            SHARED, COPIES, NONE, OWN_COPIES, ISOLATED, PROXY,
            r#""isolation": true, "proxy_arp": true"#,
            r#""isolation": true, "multicast_to_unicast": true"#,
        ];
        let budgets: Vec<String> = (0..stations)
            .map(|n| format!(r#"{{"nodes": ["s{n}", "ap"], "rssi_dbm": {level}}}"#))
            .collect();
        let radio = format!(
            r#", "radio": {{"frame_errors": true, "budgets": [{}]}}"#,
            budgets.join(",")
        );
        let mut sources: Vec<String> = (0..stations).map(|n| mdns(&format!("s{n}"), 0.02)).collect();
        sources.push(mdns("server", 0.05));
        sources.push(asks("server", "s0", 0.05));
        let cell = Cell {
            stations,
            bss: if ax { AX80 } else { A54 },
            more: &radio,
            sources: sources.join(","),
            flow: DOWNLOAD,
            seconds: 1.0,
            ..Cell::default()
        };
        let (world, arrivals) = after(&cell.with(ways[way]), seed);
        let mut seen = BTreeSet::new();
        for arrival in &arrivals {
            let [source, station, _] = *arrival;
            prop_assert!(seen.insert(*arrival), "twice: {arrival:?}");
            prop_assert!(station < u64::from(stations));
            // The first senders are the stations, in their order.
            prop_assert!(source != station, "back at its sender: {arrival:?}");
        }
        let groups = world.stack.lower.cx.observers.groups();
        prop_assert_eq!(arrivals.len() as u64, groups.delivered);
        prop_assert!(groups.delivered <= groups.expected);
        prop_assert!(world.stack.lower.cx.packets.alive() < 2_000);
    }
}
