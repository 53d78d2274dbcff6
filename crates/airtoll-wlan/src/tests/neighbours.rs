//! Cells of neighbours on the same channel.

use serde_json::{Value, json};

use super::*;
use crate::outcome::Row;
use crate::scenario::Neighbour;

/// A cell of `own` saturated stations beside `cells` neighbours with `stations` saturated ones each,
/// whose nodes hear those of other cells at `level_dbm`.
pub(super) fn beside(
    bss: &str,
    own: usize,
    (cells, stations): (usize, usize),
    level_dbm: f64,
    seconds: f64,
) -> Scenario {
    let mut scenario = uplink(own, bss, "", 1_472, seconds);
    // Nodes of one cell hear one another at -45 dBm.
    scenario.radio.path_loss = crate::scenario::PathLoss::Constant { loss_db: 61.0 };
    let read = |value: Value| serde_json::from_value(value).unwrap();
    for cell in 0..cells {
        let name = format!("neighbour{cell}");
        let mut theirs = scenario.bss[0].clone();
        theirs.name.clone_from(&name);
        theirs.neighbour = Some(Neighbour {
            level_dbm: Some(level_dbm),
        });
        if theirs.color > 0 {
            theirs.color += cell as u8 + 1;
        }
        scenario.bss.push(theirs);
        let ap = format!("{name}/ap");
        scenario.nodes.push(
            serde_json::from_value(json!({"name": ap, "role": "access_point", "bss": name}))
                .unwrap(),
        );
        for station in 0..stations {
            let station = format!("{name}/{station}");
            scenario.nodes.push(
                serde_json::from_value(json!({"name": station, "role": "station", "bss": name}))
                    .unwrap(),
            );
            scenario.flows.push(read(json!({
                "name": station, "station": station, "source": station, "destination": ap,
                "transport": {"protocol": "udp"},
                "pattern": {"type": "saturated", "payload_octets": 1472},
            })));
        }
    }
    scenario.check().unwrap();
    scenario
}

pub(super) fn without_neighbours(outcome: &Outcome) -> Vec<&Row> {
    let rows = outcome.rows.iter();
    rows.filter(|r| r.metric != "airtime_neighbours_s")
        .collect()
}

#[test]
fn a_neighbour_takes_the_share_of_its_stations() {
    // Eight stations of two cells that all hear one another contend as eight of one cell.
    let whole = mbps(&simulate(&uplink(8, A54, "", 1_472, 20.0), 1));
    let scenario = beside(A54, 4, (1, 4), -60.0, 20.0);
    let outcome = simulate(&scenario, 1);
    let share = mbps(&outcome) / whole;
    assert!((share - 0.5).abs() < 0.01, "{share}");
    // Half of the exchanges are theirs. They do not include the waiting between two.
    let theirs = total(&outcome, "airtime_neighbours_s") / 20.0;
    assert!((0.36..0.46).contains(&theirs), "{theirs}");
}

#[test]
fn the_ledger_adds_up_whoever_senses_whom() {
    // From all hear one another to none does.
    for level in [-60.0, -81.0, -83.0, -95.0] {
        for bss in [A54, B11, AX80] {
            let mut scenario = beside(bss, 2, (2, 3), level, 1.0);
            for bss in &mut scenario.bss {
                bss.beacons = serde_json::from_str("{}").unwrap();
            }
            let world = world_after(&scenario, 3);
            let mut world = world;
            world.outcome();
            let booked = world.stack.lower.cx.observers.ledger().total();
            assert_eq!(booked, Duration::from_secs(1), "{bss} {level}");
        }
    }
}

#[test]
fn a_neighbour_out_of_reach_changes_no_bit() {
    let bss = format!(r#"{A54}, "beacons": {{}}"#);
    let alone = simulate(&beside(&bss, 3, (0, 0), -60.0, 2.0), 4);
    let far = simulate(&beside(&bss, 3, (2, 3), -149.0, 2.0), 4);
    assert_eq!(without_neighbours(&alone), without_neighbours(&far));
    assert_eq!(total(&far, "airtime_neighbours_s"), 0.0);
    let nobody = alone
        .rows
        .iter()
        .any(|r| r.metric == "airtime_neighbours_s");
    assert!(!nobody);
}

#[test]
fn results_are_of_the_own_cell_alone() {
    let outcome = simulate(&beside(A54, 2, (2, 2), -60.0, 1.0), 1);
    let theirs = |name: &Option<String>| name.as_ref().is_some_and(|n| n.starts_with("neigh"));
    let rows = outcome.rows.iter();
    let found = rows
        .filter(|r| theirs(&r.flow) || theirs(&r.station))
        .count();
    assert_eq!(found, 0);
    // Received octets are also on the books of the air.
    let octets = total(&outcome, "octets_payload");
    let received = total(&outcome, "packets_received") * 1_472.0;
    assert!(
        (octets - received).abs() <= 4.0 * 1_472.0,
        "{octets} {received}"
    );
}

#[test]
fn idle_neighbours_cost_their_beacons() {
    let bss = format!(r#"{A54}, "beacons": {{}}"#);
    let mut scenario = beside(&bss, 1, (3, 0), -60.0, 10.0);
    for (number, bss) in scenario.bss.iter_mut().enumerate() {
        let beacons = bss.beacons.as_mut().unwrap();
        beacons.offset_us = 20_000.0 * number as f64;
    }
    let world = world_after(&scenario, 1);
    let ap = world
        .view()
        .stack
        .lower
        .mac
        .beacon(world.stack.lower.medium.radios().last().unwrap());
    let length = ap.unwrap().length.as_secs_f64();
    let mut world = world;
    let outcome = world.outcome();
    let theirs = total(&outcome, "airtime_neighbours_s");
    let beacons = 3.0 * (10.0 / 0.1024_f64).ceil();
    assert!(
        (theirs / (beacons * length) - 1.0).abs() < 0.01,
        "{theirs} {beacons} {length}"
    );
}

#[test]
fn below_carrier_sense_a_neighbour_interferes_instead_of_contending() {
    let alone = mbps(&simulate(&beside(A54, 1, (0, 0), -60.0, 4.0), 2));
    let at = |level| {
        let outcome = simulate(&beside(A54, 1, (1, 1), level, 4.0), 2);
        (mbps(&outcome), total(&outcome, "airtime_neighbours_s"))
    };
    // One of two stations that sense each other.
    let (contends, theirs) = at(-70.0);
    assert!(
        contends < 0.6 * alone && theirs > 1.0,
        "{contends} {theirs}"
    );
    // 38 dB above the interference nothing of 54 Mb/s is lost.
    let (hidden, theirs) = at(-83.0);
    assert!(
        (hidden / alone - 1.0).abs() < 0.01 && theirs == 0.0,
        "{hidden} {theirs}"
    );
    // 15 dB above it nearly all is, where their frames are on the air.
    let mut near = beside(A54, 1, (1, 1), -83.0, 4.0);
    near.radio
        .budgets
        .push(serde_json::from_value(json!({"nodes": ["s0", "ap"], "rssi_dbm": -68.0})).unwrap());
    let lost = mbps(&simulate(&near, 2));
    assert!(lost < 0.3 * alone, "{lost} {alone}");
}

#[test]
fn obss_pd_ignores_frames_of_other_colors_alone() {
    let bss = |more: &str| format!(r#"{AX80}{more}"#);
    let level = -75.0;
    let at = |more: &str, same_color: bool| {
        let mut scenario = beside(&bss(more), 1, (1, 1), level, 1.0);
        if same_color {
            let color = scenario.bss[0].color;
            scenario.bss[1].color = color;
        }
        mbps(&simulate(&scenario, 5))
    };
    let alone = mbps(&simulate(&beside(&bss(""), 1, (0, 0), level, 1.0), 5));
    let reuse = r#", "color": 1, "obss_pd_dbm": -72.0"#;
    for (more, same_color, least, most) in [
        ("", false, 0.45, 0.55),
        (r#", "color": 1"#, false, 0.45, 0.55),
        (reuse, true, 0.45, 0.55),
        (r#", "color": 1, "obss_pd_dbm": -78.0"#, false, 0.45, 0.55),
    ] {
        let share = at(more, same_color) / alone;
        assert!(
            (least..most).contains(&share),
            "{more} {same_color}: {share}"
        );
    }
    // -45 dBm over -75: MCS 11 in 80 MHz needs about 35 dB and loses. With MCS 7 both transmit at once:
    // beside frames of 5 ms it costs little: a preamble or a BlockAck, which has no color, seldom meets a back-off.
    let mut scenario = beside(&bss(reuse), 1, (1, 1), level, 1.0);
    fix_mcs(&mut scenario, 7);
    let both = mbps(&simulate(&scenario, 5));
    let one = mbps(&simulate(&without_the_neighbour(scenario), 5));
    assert!((0.98..0.999).contains(&(both / one)), "{both} {one}");
}

fn fix_mcs(scenario: &mut Scenario, mcs: u8) {
    for bss in &mut scenario.bss {
        bss.rate = serde_json::from_value(json!({"control": "fixed_mcs", "mcs": mcs})).unwrap();
    }
}

fn without_the_neighbour(mut scenario: Scenario) -> Scenario {
    scenario.bss.truncate(1);
    scenario.nodes.retain(|n| !n.name.starts_with("neighbour"));
    scenario.flows.truncate(1);
    scenario
}

/// A station beside a neighbour at -75 dBm whose data it ignores, both with 1,000 octets in a datagram and
/// `window` MPDUs in an A-MPDU; `level`: the OBSS PD level.
fn reusing(window: u8, level: f64) -> Scenario {
    let bss = format!(
        r#"{AX80}, "color": 1, "obss_pd_dbm": {level}, "aggregation": {{"window": {window}}}"#
    );
    let mut scenario = beside(&bss, 1, (1, 1), -75.0, 1.0);
    fix_mcs(&mut scenario, 0);
    for flow in &mut scenario.flows {
        flow.pattern =
            serde_json::from_value(json!({"type": "saturated", "payload_octets": 1_000})).unwrap();
    }
    scenario.check().unwrap();
    scenario
}

#[test]
fn a_preamble_of_another_color_is_sensed_until_the_color_is_known() {
    // A data frame of some 250 us: what its neighbour's preambles and Acks take is seen in each exchange.
    let scenario = reusing(1, -72.0);
    let both = mbps(&simulate(&scenario, 5));
    let one = mbps(&simulate(&without_the_neighbour(scenario.clone()), 5));
    let share = both / one;
    // Shared without reuse it would be about a half.
    assert!((0.7..0.93).contains(&share), "{share}");
    // Frames without a color are not ignored.
    let mut older = scenario;
    for bss in &mut older.bss {
        bss.rate = serde_json::from_value(json!({"control": "fixed", "mbps": 6.0})).unwrap();
    }
    let both = mbps(&simulate(&older, 5));
    let one = mbps(&simulate(&without_the_neighbour(older), 5));
    assert!((0.48..0.6).contains(&(both / one)), "{both} {one}");
}

#[test]
fn only_frames_over_ignored_ones_have_less_power() {
    // -62 dBm leaves 1 dBm of 16. MCS 7 arrives at 28 dB over the noise, and does not at 13.
    // With longer A-MPDUs a preamble seldom comes while a node waits.
    let mut weak = reusing(4, -62.0);
    fix_mcs(&mut weak, 7);
    let budget = json!({"nodes": ["s0", "ap"], "rssi_dbm": -60.0});
    weak.radio
        .budgets
        .push(serde_json::from_value(budget).unwrap());
    // The neighbour is far from the access point, and near the station alone.
    for [a, b] in [["ap", "neighbour0/ap"], ["ap", "neighbour0/0"]] {
        weak.radio.hidden.push([a.to_owned(), b.to_owned()]);
    }
    let alone = mbps(&simulate(&without_hidden(weak.clone()), 3));
    let reused = mbps(&simulate(&weak, 3));
    assert!(reused < 0.62 * alone, "{reused} {alone}");
    // -74.9 dBm leaves 13.9 dBm.
    let mut strong = weak;
    for bss in &mut strong.bss {
        bss.obss_pd_dbm = Some(-74.9);
    }
    let full = mbps(&simulate(&strong, 3));
    assert!(
        full > 0.65 * alone && full > 1.12 * reused,
        "{full} {reused} {alone}"
    );
}

#[test]
fn slots_count_from_the_end_of_an_ack_whatever_its_data_met() {
    const DATA: u64 = crate::medium::FrameKind::Data as u64;
    const RESPONSE: u64 = crate::medium::FrameKind::Response as u64;
    // Nodes of `beside`: the station, its access point, and those of the neighbour.
    const STATION: u64 = 0;
    const ACCESS_POINT: u64 = 1;
    const OTHERS: [u64; 2] = [3, 4];
    // Cells of single MPDUs that ignore each other's data. An Ack of the neighbour over the data is no reason
    // for EIFS where the data arrive.
    let bss = r#""standard": "802.11ax", "rate": {"control": "fixed_mcs", "mcs": 5}, "color": 1,
        "obss_pd_dbm": -72.0, "aggregation": {"ampdu_max_octets": 0}"#;
    let mut scenario = beside(bss, 1, (1, 1), -74.0, 4.0);
    scenario.radio.preamble_capture_db = Some(4.0);
    let all = frames(&scenario);
    let mut over_acks = 0;
    for at in 4..all.len() - 1 {
        let (before, ack, next) = (&all[at - 4..at], all[at], all[at + 1]);
        let end = ack.0 + ack.3;
        let idle = before.iter().all(|f| f.0 + f.3 <= end);
        let own = ack.1 == ACCESS_POINT && ack.2 == RESPONSE && next.1 == STATION;
        if !own || next.2 != DATA || !idle {
            continue;
        }
        // AIFS of best effort: SIFS and three slots of 9 us.
        assert_eq!((next.0 - end - 43_000) % 9_000, 0, "{ack:?} {next:?}");
        let over = |f: &&(u64, u64, u64, u64)| {
            OTHERS.contains(&f.1) && f.2 == RESPONSE && f.0 + 200_000 > ack.0
        };
        over_acks += usize::from(before.iter().any(|f| over(&f)));
    }
    assert!(over_acks > 100, "{over_acks}");
}

fn without_hidden(scenario: Scenario) -> Scenario {
    let mut scenario = without_the_neighbour(scenario);
    scenario.radio.hidden.clear();
    scenario
}

#[test]
fn what_a_neighbour_cannot_have_is_refused() {
    let refused = |change: &dyn Fn(&mut Scenario), field: &str| {
        let mut scenario = beside(AX80, 1, (1, 1), -60.0, 1.0);
        change(&mut scenario);
        let error = scenario.check().unwrap_err().to_string();
        assert!(error.contains(field), "{error}");
    };
    refused(
        &|s| s.bss[0].neighbour = Some(Neighbour::default()),
        "bss[0].neighbour",
    );
    refused(&|s| s.bss[1].channel = 7, "bss[1].channel");
    refused(
        &|s| {
            s.bss[1].neighbour = Some(Neighbour {
                level_dbm: Some(99.0),
            })
        },
        "bss[1].neighbour.level_dbm",
    );
    refused(
        &|s| s.flows[1].destination = "ap".to_owned(),
        "flows[1].destination",
    );
    refused(&|s| s.bss[0].color = 64, "bss[0].color");
    refused(
        &|s| s.bss[0].obss_pd_dbm = Some(-70.0),
        "bss[0].obss_pd_dbm",
    );
    refused(
        &|s| (s.bss[0].color, s.bss[0].obss_pd_dbm) = (1, Some(-60.0)),
        "bss[0].obss_pd_dbm",
    );
}
