//! Stations with one radio for several links (EMLSR), and links of access categories.

use super::multi_link::{Cell, NARROW, SIX, WIDE, arrivals};
use super::*;
use crate::medium::FrameKind;

/// A frame: start, node, kind and airtime, ns.
type Frame = (u64, u64, u64, u64);

const STATION: u64 = 2;
const LONE: &str = r#", "aggregation": {"window": 1}"#;

fn single(padding: u16, transition: u16) -> String {
    format!(
        r#", "single_radio": {{"padding_delay_us": {padding}, "transition_delay_us": {transition}}}"#
    )
}

fn of(frames: &[Frame], kind: FrameKind) -> Vec<Frame> {
    let own = frames.iter().filter(|f| f.2 == kind as u64);
    own.copied().collect()
}

#[test]
fn an_exchange_of_the_access_point_lasts_as_computed_by_hand() {
    for (padding, transition, control) in [
        // 33 octets at 24 Mb/s: 22 + 264 bits in 3 symbols.
        (0, 0, 32_000),
        (0, 256, 32_000),
        // 12 octets for each of 8 and of 64 symbols of 4 us.
        (32, 32, 64_000),
        (256, 128, 288_000),
    ] {
        let node = single(padding, transition);
        let cell = Cell {
            down: true,
            more: LONE,
            node: &node,
            seconds: 0.2,
            ..Cell::default()
        };
        let frames = frames(&cell.scenario());
        let openings = of(&frames, FrameKind::InitialControl);
        assert!(openings.len() > 50, "{}", openings.len());
        let mut over = 0;
        // The last exchange may end after the trial.
        for &(at, _, _, length) in openings.split_last().unwrap().1 {
            assert_eq!(length, control, "{padding}");
            // A timeout of SIFS, a slot and 20 us, and the transition delay, end on a slot.
            let back = over + 45_000 + u64::from(transition) * 1_000;
            assert!(over == 0 || at >= back, "{at} {back}");
            let cts = (at + length + 16_000, STATION, FrameKind::Cts as u64, 44_000);
            assert!(frames.contains(&cts), "{at}");
            let data = cts.0 + cts.3 + 16_000;
            let data = frames.iter().find(|f| f.0 == data).unwrap();
            assert_eq!(data.2, FrameKind::Data as u64);
            let response = data.0 + data.3 + 16_000;
            let response = frames.iter().find(|f| f.0 == response).unwrap();
            assert_eq!(
                (response.1, response.2),
                (STATION, FrameKind::Response as u64)
            );
            over = response.0 + response.3;
        }
        assert!(over > 150_000_000);
    }
}

#[test]
fn a_lone_station_has_the_throughput_of_its_cycle() {
    // 256 us and more after each exchange: both links have counted their back-offs down, and an exchange begins
    // on a slot of either.
    for (padding, transition) in [(0, 256), (64, 256), (256, 256)] {
        let node = single(padding, transition);
        let cell = Cell {
            down: true,
            more: LONE,
            node: &node,
            seconds: 0.55,
            ..Cell::default()
        };
        let outcome = simulate(&cell.scenario(), 3);
        let frames = frames(&cell.scenario());
        let data = of(&frames, FrameKind::Data)[5].3;
        let answer = of(&frames, FrameKind::Response)[5].3;
        let control = 32_000 + u64::from(padding) * 1_000;
        let fixed = control + 44_000 + data + answer + 3 * 16_000;
        // On average half a slot until the next one begins.
        let cycle = (fixed + 45_000 + u64::from(transition) * 1_000 + 4_500) as f64;
        let expected = 1_472.0 * 8.0 / cycle * 1e3;
        let measured = mbps(&outcome);
        let error = (measured / expected - 1.0).abs();
        assert!(error < 0.01, "{padding}: {measured} for {expected}");
    }
}

/// Times in which a node has a frame on the air, by start.
fn of_node(frames: &[Frame], node: u64) -> Vec<Frame> {
    let mut own: Vec<Frame> = frames.iter().filter(|f| f.1 == node).copied().collect();
    own.sort_unstable();
    own
}

#[test]
fn a_station_is_on_one_link_at_a_time() {
    for (down, both, devices, single_stations) in [
        (false, false, 1, 0),
        (true, false, 1, 0),
        (false, true, 1, 0),
        (false, true, 4, 2),
        (true, false, 5, 1),
    ] {
        for links in [&[WIDE, WIDE][..], &[NARROW, SIX, WIDE]] {
            let node = single(64, 128);
            let cell = Cell {
                links,
                devices,
                single: single_stations,
                down,
                both,
                node: &node,
                seconds: 0.1,
                ..Cell::default()
            };
            let frames = frames(&cell.scenario());
            for station in 0..devices as u64 {
                let own = of_node(&frames, STATION + station);
                assert!(own.len() > 4, "{down} {both} {devices}: {}", own.len());
                for pair in own.windows(2) {
                    let end = pair[0].0 + pair[0].3;
                    assert!(pair[1].0 > end, "{pair:?}");
                    // An answer ends its exchange or follows within it.
                    let answers = pair[1].2 == FrameKind::Cts as u64;
                    let sends = pair[0].2 == FrameKind::Data as u64;
                    assert!(!(sends && answers) || pair[1].0 > end + 128_000, "{pair:?}");
                }
            }
        }
    }
}

#[test]
fn one_radio_gives_less_than_two_and_delays_cost() {
    let rate = |node: &str, down: bool, devices: usize| {
        let cell = Cell {
            down,
            devices,
            node,
            seconds: 0.25,
            ..Cell::default()
        };
        mbps(&simulate(&cell.scenario(), 3))
    };
    for down in [false, true] {
        let str = rate("", down, 1);
        let (fast, slow) = (
            rate(&single(0, 0), down, 1),
            rate(&single(256, 256), down, 1),
        );
        assert!(
            fast < 0.6 * str && fast > 0.4 * str,
            "{down}: {fast} of {str}"
        );
        let least = if down { 0.6 } else { 0.8 };
        assert!(
            slow <= fast * 1.005 && slow > least * fast,
            "{down}: {slow} {fast}"
        );
        // Several stations share both links.
        let many = rate(&single(64, 64), down, 6);
        assert!(many > 1.3 * fast, "{down}: {many} {fast}");
    }
}

#[test]
fn a_station_that_was_deaf_asks_before_it_sends() {
    let node = single(0, 32);
    let cell = Cell {
        node: &node,
        seconds: 0.3,
        ..Cell::default()
    };
    let frames = frames(&cell.scenario());
    let asked = of(&frames, FrameKind::Rts);
    assert!(asked.len() > 5, "{}", asked.len());
    let own = of_node(&frames, STATION);
    for (at, node, _, length) in asked {
        assert_eq!(node, STATION);
        // The RTS follows an exchange on the other link within the 5.484 ms.
        let before = own.iter().rfind(|f| f.0 < at).unwrap();
        assert!(at - (before.0 + before.3) < 5_484_000 + 32_000, "{length}");
    }
}

#[test]
fn the_ledger_adds_up_with_one_radio() {
    for (both, pattern) in [
        (true, super::multi_link::FULL),
        (
            true,
            r#""access_category": "video", "pattern": {"type": "saturated", "payload_octets": 300}"#,
        ),
        (
            false,
            r#""access_category": "voice", "pattern": {"type": "paced", "payload_octets": 160, "rate_bps": 64000}"#,
        ),
    ] {
        let node = single(128, 64);
        let cell = Cell {
            links: &[WIDE, NARROW],
            devices: 3,
            single: 1,
            both,
            down: true,
            pattern,
            node: &node,
            queue: r#"{"packets": 200}"#,
            ..Cell::default()
        };
        let mut world = world_after(&cell.scenario(), 2);
        let alive = world.stack.lower.cx.packets.alive();
        let outcome = world.outcome();
        let rows = outcome.rows.iter();
        let air: f64 = rows
            .filter(|r| r.metric.starts_with("airtime_") && r.flow.is_none() && r.station.is_none())
            .map(|r| r.value)
            .sum();
        assert!((air - 2.0 * 0.45).abs() < 1e-6, "{pattern}: {air}");
        assert!(total(&outcome, "packets_received") > 10.0, "{pattern}");
        assert_eq!(alive as f64, total(&outcome, "packets_queued"), "{pattern}");
    }
}

#[test]
fn nothing_arrives_twice_or_out_of_order_with_one_radio() {
    for seed in 0..12 {
        let node = single(
            [0, 64, 256][seed as usize % 3],
            [0, 32, 256][seed as usize % 3],
        );
        let devices = 1 + seed as usize % 3;
        let cell = Cell {
            links: &[NARROW, SIX],
            devices,
            down: seed % 2 == 0,
            both: seed % 4 < 2,
            pattern: r#""pattern": {"type": "paced", "payload_octets": 1000, "rate_bps": 3e7}"#,
            queue: r#"{"packets": 500}"#,
            more: r#", "max_attempts": 3"#,
            node: &node,
            loss_db: 84.0 + seed as f64,
            seconds: 0.3,
            ..Cell::default()
        };
        let mut last = vec![None; 2 * devices];
        let mut count = 0;
        for [flow, _, created] in arrivals(&cell.scenario(), seed) {
            let before = last[flow as usize].replace(created);
            assert!(before < Some(created), "{before:?} {created}");
            count += 1;
        }
        assert!(count > 20 || seed > 6, "{seed}: {count}");
    }
}

#[test]
fn access_categories_take_their_links_alone() {
    let voice =
        r#""access_category": "voice", "pattern": {"type": "saturated", "payload_octets": 300}"#;
    for (direction, down, used) in [
        ("both", false, [false, true]),
        ("both", true, [false, true]),
        ("up", false, [false, true]),
        ("up", true, [true, true]),
        ("down", true, [false, true]),
    ] {
        for radio in ["", r#", "single_radio": {}"#] {
            let node = format!(
                r#", "category_links": [{{"category": "voice", "direction": "{direction}", "bss": ["l1"]}}]{radio}"#
            );
            let cell = Cell {
                down,
                pattern: voice,
                node: &node,
                seconds: 0.1,
                ..Cell::default()
            };
            let outcome = simulate(&cell.scenario(), 3);
            let busy = ["busy_link_1_share", "busy_link_2_share"].map(|m| total(&outcome, m) > 0.0);
            assert_eq!(busy, used, "{direction} {down} {radio}");
            assert!(mbps(&outcome) > 10.0);
        }
    }
}

#[test]
fn settings_that_are_void_are_refused() {
    for (node, says) in [
        (
            r#", "single_radio": {"padding_delay_us": 100}"#,
            "one of 0, 32, 64, 128, 256",
        ),
        (
            r#", "single_radio": {"transition_delay_us": 8}"#,
            "one of 0, 16, 32, 64, 128, 256",
        ),
        (
            r#", "category_links": [{"category": "voice", "bss": ["l7"]}]"#,
            "BSSs that the station is in",
        ),
        (
            r#", "category_links": [{"category": "voice", "bss": []}]"#,
            "frames of the category have to go somewhere",
        ),
        (
            r#", "category_links": [{"category": "voice", "bss": ["l1"]},
                {"category": "voice", "direction": "up", "bss": ["l0"]}]"#,
            "one mapping for each category and direction",
        ),
    ] {
        let error = Scenario::from_json(
            &Cell {
                node,
                ..Cell::default()
            }
            .text(),
        )
        .unwrap_err();
        assert!(error.to_string().contains(says), "{error}");
    }
    let cell = Cell {
        links: &[WIDE],
        node: r#", "single_radio": {}"#,
        ..Cell::default()
    };
    let error = Scenario::from_json(&cell.text()).unwrap_err().to_string();
    assert!(error.contains("a station with several links"), "{error}");
}
