//! Probe traffic of stations that pass by: airtimes by hand, and what does not change.

use airtoll_units::Duration;
use serde_json::{Value, json};

use super::neighbours::{beside, without_neighbours};
use super::*;
use crate::observe::ledger::Ledger;
use crate::probe_traffic;

/// Adds four stations that pass by, at -60 dBm.
fn probed(mut scenario: Scenario, plan: Value) -> Scenario {
    let mut group = scenario.bss[0].clone();
    group.name = "passers-by".to_owned();
    group.neighbour = serde_json::from_value(json!({"level_dbm": -60.0})).unwrap();
    group.beacons = None;
    group.security = None;
    group.passers_by = Some(serde_json::from_value(plan).unwrap());
    scenario.bss.push(group);
    for number in 0..4 {
        let node = json!({"name": format!("p{number}"), "role": "station", "bss": "passers-by"});
        scenario.nodes.push(serde_json::from_value(node).unwrap());
    }
    scenario.check().unwrap();
    scenario
}

/// A cell with so many neighbours, all of which are idle.
fn idle(bss: &str, neighbours: usize) -> Scenario {
    let mut scenario = beside(bss, 1, (neighbours, 0), -60.0, 1.0);
    scenario.flows[0].start_s = 9.0;
    scenario
}

fn ledger(scenario: &Scenario, seed: u64) -> Ledger {
    let mut world = world_after(scenario, seed);
    world.outcome();
    *world.stack.lower.cx.observers.ledger()
}

/// A frame of so many octets at 6 Mb/s: 20 us, and a symbol of 4 us for 24 bits (17.4.3).
fn at_6_mbps(octets: u64) -> Duration {
    Duration::from_micros(20 + 4 * (16 + 8 * octets + 6).div_ceil(24))
}

/// SIFS and an Ack of 14 octets.
fn answer() -> Duration {
    Duration::from_micros(16) + at_6_mbps(14)
}

/// Without names and elements of later generations, 802.11a: header 24, SSID 2, eight rates 10, FCS 4.
const REQUEST: u64 = 40;
/// Header 24, fixed fields 12, SSID `airtoll` 9, eight rates 10, country of two ranges 12, FCS 4.
const RESPONSE: u64 = 71;

/// Requests on the air; the ledger has nothing else of neighbours.
fn requests(ledger: &Ledger, each: Duration) -> u64 {
    let all = ledger.neighbours.as_nanos();
    assert_eq!(all % each.as_nanos(), 0);
    all / each.as_nanos()
}

#[test]
fn one_access_point_answers_each_request_once() {
    let scenario = probed(idle(A54, 0), json!({"per_s": 20.0}));
    let found = ledger(&scenario, 1);
    let count = requests(&found, at_6_mbps(REQUEST));
    assert!((10..30).contains(&count), "{count}");
    assert_eq!(found.management, at_6_mbps(RESPONSE) * count);
    assert_eq!(found.ack, answer() * count);
    assert_eq!(found.retry, Duration::ZERO);
    assert_eq!(found.total(), Duration::from_secs(1));
    // DIFS before each response is all that a frame waits.
    assert_eq!(found.contention, Duration::from_micros(34) * count);
    assert_eq!(found.octets_management, RESPONSE * count);
    assert_eq!(found.octets_control, 14 * count);
}

#[test]
fn three_access_points_answer_each() {
    // With a large window no two responses collide, as the sums show.
    let bss = format!(r#"{A54}, "cw_min": 1023"#);
    let plan = json!({"per_s": 20.0, "response_delay_us": 10_000.0});
    let found = ledger(&probed(idle(&bss, 2), plan), 2);
    let (own, each) = (at_6_mbps(RESPONSE), at_6_mbps(RESPONSE) + answer());
    let count = found.management.as_nanos() / own.as_nanos();
    assert!(count > 10);
    assert_eq!(found.management, own * count);
    assert_eq!(found.ack, answer() * count);
    assert_eq!(found.retry, Duration::ZERO);
    assert_eq!(found.neighbours, (at_6_mbps(REQUEST) + each * 2) * count);
    assert_eq!(found.total(), Duration::from_secs(1));
}

#[test]
fn a_response_to_a_station_that_left_is_repeated_to_the_last_attempt() {
    for (attempts, times) in [(None, 7), (Some(1), 1), (Some(3), 3)] {
        let plan = json!({"per_s": 20.0, "leaves_ratio": 1.0, "response_attempts": attempts});
        let found = ledger(&probed(idle(A54, 0), plan), 1);
        let count = requests(&found, at_6_mbps(REQUEST));
        assert!(count > 10);
        assert_eq!(found.retry, at_6_mbps(RESPONSE) * (times * count));
        assert_eq!(
            (found.management, found.ack),
            (Duration::ZERO, Duration::ZERO)
        );
        assert_eq!((found.octets_management, found.octets_control), (0, 0));
    }
}

#[test]
fn the_stated_share_is_what_an_idle_cell_shows() {
    for (bss, networks) in [(A54, 1), (B11, 3), (AX80, 2), (N40, 1)] {
        for leaves in [0.0, 1.0] {
            let bss = format!(
                r#"{bss}, "beacons": {{"ssids": {networks}, "interval_us": 9e6, "offset_us": 8e6}}"#
            );
            // With more attempts in 802.11b the back-offs of one request outlast the time to the next one.
            let plan = json!({"per_s": 10.0, "leaves_ratio": leaves, "response_attempts": 2});
            let scenario = probed(idle(&bss, 0), plan);
            let stated = probe_traffic(&scenario).unwrap();
            assert_eq!(stated.responses.len(), networks);
            let found = ledger(&scenario, 4);
            let count = requests(&found, stated.request);
            let taken = found.neighbours + found.management + found.ack + found.retry;
            let share = stated.share() * count as f64 / stated.per_s;
            // The end may cut off the responses to the last request.
            let missing = share - taken.as_secs_f64();
            let each = stated.share() / stated.per_s;
            assert!(
                (-1e-9..each).contains(&missing),
                "{bss} {leaves}: {missing}"
            );
        }
    }
}

#[test]
fn twice_the_requests_take_twice_the_air() {
    let taken = |per_s: f64| {
        let mut scenario = probed(idle(A54, 1), json!({"per_s": per_s, "leaves_ratio": 0.3}));
        scenario.duration_s = 20.0;
        scenario.flows[0].start_s = 30.0;
        let found = ledger(&scenario, 3);
        (found.neighbours + found.management + found.ack + found.retry).as_secs_f64()
    };
    let ratio = taken(40.0) / taken(20.0);
    assert!((1.85..2.15).contains(&ratio), "{ratio}");
}

#[test]
fn a_saturated_station_loses_what_they_take_and_wait() {
    for (bss, per_s, seconds) in [(B11, 20.0, 20.0), (A54, 100.0, 20.0)] {
        let alone = beside(bss, 1, (0, 0), -60.0, seconds);
        let scenario = probed(alone.clone(), json!({"per_s": per_s}));
        let share = probe_traffic(&scenario).unwrap().share();
        let loss = 1.0 - mbps(&simulate(&scenario, 6)) / mbps(&simulate(&alone, 6));
        // Request and response wait for DIFS each, and their back-offs cost less than two frames that
        // wait one after the other: 15.5 slots of 20 us, 7.5 of 9 us.
        let wait = if bss == B11 {
            50.0 + 310.0
        } else {
            34.0 + 67.5
        };
        let most = share + per_s * 2.0 * wait / 1e6;
        assert!(
            (share..most * 1.1).contains(&loss),
            "{bss}: {share} {loss} {most}"
        );
    }
}

#[test]
fn stations_out_of_reach_change_no_bit() {
    for bss in [A54, N40] {
        let bss = format!(r#"{bss}, "beacons": {{}}"#);
        let alone = beside(&bss, 3, (1, 2), -60.0, 2.0);
        let mut far = probed(alone.clone(), json!({"per_s": 100.0}));
        let group = far.bss.last_mut().unwrap();
        group.neighbour = serde_json::from_value(json!({"level_dbm": -149.0})).unwrap();
        assert_eq!(probe_traffic(&far).unwrap().responses, []);
        let [alone, far] = [alone, far].map(|scenario| simulate(&scenario, 4));
        assert_eq!(without_neighbours(&alone), without_neighbours(&far));
    }
}

#[test]
fn the_ledger_adds_up_with_probes() {
    for level in [-60.0, -83.0] {
        for bss in [A54, B11, AX80] {
            let bss = format!(r#"{bss}, "beacons": {{"ssids": 2}}"#);
            let plan = json!({"per_s": 60.0, "leaves_ratio": 0.5, "response_delay_us": 1000.0});
            let scenario = probed(beside(&bss, 2, (2, 2), level, 1.0), plan);
            let found = ledger(&scenario, 3);
            assert_eq!(found.total(), Duration::from_secs(1), "{bss} {level}");
        }
    }
}

#[test]
fn results_have_no_row_of_those_who_pass_by() {
    let scenario = probed(beside(A54, 2, (1, 1), -60.0, 1.0), json!({"per_s": 50.0}));
    let outcome = simulate(&scenario, 1);
    let theirs = |name: &Option<String>| name.as_ref().is_some_and(|n| n.starts_with('p'));
    assert!(
        outcome
            .rows
            .iter()
            .all(|r| !theirs(&r.station) && !theirs(&r.flow))
    );
    assert!(total(&outcome, "airtime_neighbours_s") > 0.0);
}

#[test]
fn what_stations_that_pass_by_cannot_have_is_refused() {
    let refused = |change: &dyn Fn(&mut Scenario), field: &str| {
        let mut scenario = probed(beside(AX80, 1, (1, 1), -60.0, 1.0), json!({"per_s": 9.0}));
        change(&mut scenario);
        let error = scenario.check().unwrap_err().to_string();
        assert!(error.contains(field), "{error}");
    };
    let plan = |s: &mut Scenario, change: &dyn Fn(&mut crate::scenario::PassersBy)| {
        change(s.bss[2].passers_by.as_mut().unwrap());
    };
    refused(&|s| plan(s, &|p| p.per_s = 0.0), "bss[2].passers_by.per_s");
    refused(
        &|s| plan(s, &|p| p.leaves_ratio = 1.5),
        "bss[2].passers_by.leaves_ratio",
    );
    refused(
        &|s| plan(s, &|p| p.response_delay_us = -1.0),
        "bss[2].passers_by.response_delay_us",
    );
    refused(
        &|s| plan(s, &|p| p.response_attempts = Some(0)),
        "bss[2].passers_by.response_attempts",
    );
    refused(&|s| s.bss[2].neighbour = None, "bss[2].passers_by");
    refused(
        &|s| s.bss[1].passers_by = s.bss[2].passers_by,
        "bss[1] is 1 access points",
    );
    refused(
        &|s| s.bss[2].beacons = serde_json::from_str("{}").unwrap(),
        "only without beacons",
    );
    refused(
        &|s| {
            for bss in &mut s.bss {
                bss.band = Some(crate::scenario::Band::Ghz6);
            }
        },
        "only at 2.4 and 5 GHz",
    );
    refused(
        &|s| s.bss[1].width_mhz = 40,
        "its width and primary channel",
    );
    refused(&|s| s.flows[1].source = "p0".to_owned(), "flows[1].");
}
