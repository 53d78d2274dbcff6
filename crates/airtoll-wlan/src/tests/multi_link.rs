//! Multi-link devices: goodput of several links, order of delivery, stations of one link beside them.

use proptest::prelude::*;

use super::{Shared, build, mbps, simulate, total};
use crate::Scenario;

pub(super) const WIDE: &str = r#""standard": "802.11be", "width_mhz": 80,
    "rate": {"control": "fixed_mcs", "mcs": 9, "streams": 2}"#;
pub(super) const NARROW: &str = r#""standard": "802.11be", "width_mhz": 20, "band": "2.4ghz",
    "rate": {"control": "fixed_mcs", "mcs": 5}"#;
pub(super) const SIX: &str = r#""standard": "802.11be", "width_mhz": 40, "band": "6ghz",
    "rate": {"control": "fixed_mcs", "mcs": 7}"#;

/// A cell whose access point has these links, `devices` stations on all of them and `single` on the last
/// alone; each station sends to or, `down`, receives from a wired server.
pub(super) struct Cell<'a> {
    pub links: &'a [&'a str],
    pub more: &'a str,
    pub devices: usize,
    pub single: usize,
    pub down: bool,
    pub both: bool,
    pub pattern: &'a str,
    pub queue: &'a str,
    /// Of the devices.
    pub node: &'a str,
    pub loss_db: f64,
    pub seconds: f64,
}

pub(super) const FULL: &str = r#""pattern": {"type": "saturated", "payload_octets": 1472}"#;

impl Default for Cell<'_> {
    fn default() -> Self {
        Self {
            links: &[WIDE, WIDE],
            more: "",
            devices: 1,
            single: 0,
            down: false,
            both: false,
            pattern: FULL,
            queue: r#"{"packets": 8000}"#,
            node: "",
            loss_db: 45.0,
            seconds: 0.5,
        }
    }
}

impl Cell<'_> {
    pub(super) fn scenario(&self) -> Scenario {
        let text = self.text();
        Scenario::from_json(&text).unwrap_or_else(|e| panic!("{e}: {text}"))
    }

    pub(super) fn text(&self) -> String {
        let bss: Vec<String> = self
            .links
            .iter()
            .enumerate()
            .map(|(i, link)| format!(r#"{{"name": "l{i}", "channel": {i}, {link}{}}}"#, self.more))
            .collect();
        let further: Vec<String> = (1..self.links.len())
            .map(|i| format!(r#""l{i}""#))
            .collect();
        let all = format!(r#""bss": "l0", "multi_link": [{}]"#, further.join(","));
        let last = format!(r#""bss": "l{}""#, self.links.len() - 1);
        let queue = self.queue;
        let mut nodes = vec![
            format!(r#"{{"name": "ap", "role": "access_point", {all}, "queue": {queue}}}"#),
            r#"{"name": "server", "role": "wired"}"#.to_owned(),
        ];
        let mut flows = Vec::new();
        for i in 0..self.devices + self.single {
            let (place, node) = if i < self.devices {
                (&all, self.node)
            } else {
                (&last, "")
            };
            nodes.push(format!(
                r#"{{"name": "s{i}", "role": "station", {place}, "queue": {queue}{node}}}"#
            ));
            let station = format!("s{i}");
            let ways = [("f", self.down), ("g", !self.down)];
            for (kind, down) in &ways[..1 + usize::from(self.both)] {
                let (source, destination) = if *down {
                    ("server", station.as_str())
                } else {
                    (station.as_str(), "server")
                };
                flows.push(format!(
                    r#"{{"name": "{kind}{i}", "station": "{station}", "source": "{source}",
                    "destination": "{destination}", "transport": {{"protocol": "udp"}}, {}}}"#,
                    self.pattern
                ));
            }
        }
        format!(
            r#"{{"duration_s": {}, "warm_up_s": 0.05,
            "radio": {{"path_loss": {{"model": "constant", "loss_db": {}}}}},
            "bss": [{}], "nodes": [{}],
            "links": [{{"nodes": ["ap", "server"], "rate_bps": 4e10}}], "flows": [{}]}}"#,
            self.seconds,
            self.loss_db,
            bss.join(","),
            nodes.join(","),
            flows.join(",")
        )
    }
}

/// Goodput of one lone sender on each of these links by itself, Mb/s.
fn alone(links: &[&str], more: &str) -> f64 {
    let each = links.iter().map(|link| {
        let cell = Cell {
            links: &[link],
            more,
            ..Cell::default()
        };
        mbps(&simulate(&cell.scenario(), 3))
    });
    each.sum()
}

#[test]
fn a_lone_sender_has_the_sum_of_its_links() {
    for links in [
        &[WIDE, WIDE][..],
        &[WIDE, NARROW],
        &[NARROW, WIDE],
        &[NARROW, SIX, WIDE],
    ] {
        let cell = Cell {
            links,
            ..Cell::default()
        };
        let (both, sum) = (mbps(&simulate(&cell.scenario(), 3)), alone(links, ""));
        assert!((both / sum - 1.0).abs() < 0.03, "{links:?}: {both} {sum}");
    }
}

#[test]
fn a_small_window_holds_the_fast_link_back_behind_the_slow_one() {
    // 64 sequence numbers for both: frames of the slow link, which take longer, keep the window.
    let small = r#", "aggregation": {"window": 64}"#;
    let cell = Cell {
        links: &[WIDE, NARROW],
        more: small,
        ..Cell::default()
    };
    let both = mbps(&simulate(&cell.scenario(), 3));
    let (fast, sum) = (alone(&[WIDE], small), alone(&[WIDE, NARROW], small));
    assert!(both < 0.9 * sum, "{both} of {sum}, {fast} alone");
    // It neither stops nor falls below the slow link.
    assert!(both > alone(&[NARROW], small), "{both}");
}

#[test]
fn one_frame_at_a_time_uses_one_link_after_the_other() {
    // A window of one sequence number: the second link has nothing to send while the first sends.
    let one = r#", "aggregation": {"window": 1}"#;
    let cell = Cell {
        more: one,
        ..Cell::default()
    };
    let (both, single) = (mbps(&simulate(&cell.scenario(), 3)), alone(&[WIDE], one));
    assert!((0.9..1.6).contains(&(both / single)), "{both} {single}");
}

#[test]
fn many_stations_share_both_links() {
    for (devices, down) in [(10, true), (10, false), (30, true)] {
        let cell = Cell {
            devices,
            down,
            links: &[WIDE, SIX],
            ..Cell::default()
        };
        let outcome = simulate(&cell.scenario(), 5);
        let single = Cell {
            links: &[WIDE],
            devices,
            down,
            ..Cell::default()
        };
        let one = mbps(&simulate(&single.scenario(), 5));
        assert!(
            mbps(&outcome) > 1.1 * one,
            "{devices}: {} {one}",
            mbps(&outcome)
        );
        for metric in ["busy_link_1_share", "busy_link_2_share"] {
            let busy = total(&outcome, metric);
            assert!((0.5..=1.0).contains(&busy), "{devices}: {metric} {busy}");
        }
        let quiet = outcome
            .rows
            .iter()
            .filter(|r| r.metric == "throughput_bps" && r.flow.is_some() && r.value <= 0.0);
        // A queue of 8,000 packets takes longer to turn over than 30 senders have here.
        assert!(devices > 10 || quiet.count() == 0, "{devices} stations");
    }
}

#[test]
fn stations_of_one_link_share_it_with_devices() {
    for down in [false, true] {
        let cell = Cell {
            single: 1,
            down,
            ..Cell::default()
        };
        let outcome = simulate(&cell.scenario(), 5);
        let of = |name: &str| {
            let mut rows = outcome.rows.iter();
            let row =
                rows.find(|r| r.metric == "throughput_bps" && r.flow.as_deref() == Some(name));
            row.map_or(0.0, |r| r.value / 1e6)
        };
        let (device, single) = (of("f0"), of("f1"));
        // The device has a link of its own, and each about half of the other.
        assert!(single > 0.2 * alone(&[WIDE], ""), "{device} {single}");
        assert!(device > 0.95 * single, "{device} {single}");
    }
}

#[test]
fn the_air_of_all_links_adds_up() {
    for discipline in ["fifo", "round_robin", "fq_codel", "codel"] {
        let queue = format!(r#"{{"packets": 4000, "discipline": "{discipline}"}}"#);
        let cell = Cell {
            links: &[WIDE, NARROW],
            devices: 3,
            single: 2,
            down: true,
            queue: &queue,
            ..Cell::default()
        };
        let outcome = simulate(&cell.scenario(), 2);
        let rows = outcome.rows.iter();
        let air: f64 = rows
            .filter(|r| r.metric.starts_with("airtime_") && r.flow.is_none() && r.station.is_none())
            .map(|r| r.value)
            .sum();
        assert!((air - 2.0 * 0.45).abs() < 1e-6, "{discipline}: {air}");
        assert!(mbps(&outcome) > 100.0, "{discipline}: {}", mbps(&outcome));
    }
}

#[test]
fn invalid_devices_are_refused_by_name() {
    let refused = |change: &dyn Fn(&mut Scenario)| {
        let mut scenario = Cell::default().scenario();
        change(&mut scenario);
        scenario.check().unwrap_err().to_string()
    };
    let told = refused(&|s| s.bss[1].channel = 0);
    assert!(told.contains("different channels"), "{told}");
    let told = refused(&|s| s.bss[1].standard = crate::scenario::Standard::Ax);
    assert!(told.contains("802.11be"), "{told}");
    let told = refused(&|s| s.nodes[0].multi_link.push("l9".to_owned()));
    assert!(told.contains("names of BSSs"), "{told}");
    let told = refused(&|s| s.nodes[1].multi_link.push("l1".to_owned()));
    assert!(told.contains("wired host"), "{told}");
    let told = refused(&|s| s.nodes[2].cipher = airtoll_security::CipherSuite::Tkip);
    assert!(told.contains("permits no EHT"), "{told}");
}

/// Arrivals at applications: flow, mark and creation of each packet.
pub(super) fn arrivals(scenario: &Scenario, seed: u64) -> Vec<[u64; 3]> {
    let mut world = build::build(scenario, seed).unwrap();
    let records = std::rc::Rc::new(std::cell::RefCell::new(Vec::new()));
    let observers = &mut world.stack.lower.cx.observers;
    observers.set_trace(Box::new(Shared(records.clone())));
    world.run(&mut || false).unwrap();
    let records = records.borrow();
    let arrived = records.iter().filter(|(_, what, _)| *what == "arrived");
    arrived.map(|(_, _, which)| *which).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]
    #[test]
    fn nothing_arrives_twice_or_out_of_order(
        seed in 0_u64..1000,
        // From no frame errors to a third of the MPDUs.
        loss_db in 84.0_f64..96.0,
        window in 2_u16..300,
        devices in 1_usize..4,
        lifetime_ms in proptest::option::of(5.0_f64..50.0),
    ) {
        let more = format!(r#", "aggregation": {{"window": {window}}}, "max_attempts": 3"#);
        let queue = match lifetime_ms {
            None => r#"{"packets": 500}"#.to_owned(),
            Some(ms) => format!(r#"{{"packets": 500, "max_delay_ms": {ms}}}"#),
        };
        let cell = Cell {
            links: &[NARROW, SIX],
            more: &more,
            devices,
            pattern: r#""pattern": {"type": "paced", "payload_octets": 1000, "rate_bps": 6e7}"#,
            queue: &queue,
            loss_db,
            seconds: 0.3,
            ..Cell::default()
        };
        let mut last = vec![None; devices];
        let mut count = 0;
        for [flow, _, created] in arrivals(&cell.scenario(), seed) {
            let before = last[flow as usize].replace(created);
            prop_assert!(before < Some(created), "{before:?} {created}");
            count += 1;
        }
        prop_assert!(count > 20 || loss_db > 90.0, "{count}");
    }
}
