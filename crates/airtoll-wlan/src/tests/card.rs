//! Network cards that prepare frames: each overlap, against the arithmetic of a lone sender and
//! against its closed form.

use super::{A54, B11, TCP_UP, cell, mbps, simulate, total, uplink};
use crate::analytic::analytic;
use crate::{Scenario, run};

/// Mean cycle of a lone 802.11a sender of 1472 octets at 54 Mb/s: DIFS 34 us, 7.5 slots of 9 us,
/// data 248 us, SIFS 16 us, Ack 28 us.
const CYCLE_US: f64 = 393.5;

/// A lone sender whose card has one stage of `fixed_us` and `per_octet_ns`.
fn lone(overlap: &str, meanwhile: &str, fixed_us: f64, per_octet_ns: f64) -> Scenario {
    stations(1, overlap, meanwhile, fixed_us, per_octet_ns)
}

fn stations(n: usize, overlap: &str, meanwhile: &str, fixed_us: f64, octet_ns: f64) -> Scenario {
    let node = format!(
        r#", "host": {{"nic": {{"overlap": "{overlap}", "meanwhile": "{meanwhile}", "stages": [
            {{"stage": "encryption", "cost": {{"fixed_ns": {}, "per_octet_ns": {octet_ns}}}}}]}}}}"#,
        fixed_us * 1e3
    );
    uplink(n, A54, &node, 1472, 4.0)
}

fn cycle_us(scenario: &Scenario) -> f64 {
    1472.0 * 8.0 / mbps(&simulate(scenario, 3))
}

/// The cycle in the simulator is the given one, and the closed form says the same.
fn assert_cycle(scenario: &Scenario, expected_us: f64) {
    let simulated = cycle_us(scenario);
    assert!(
        (simulated / expected_us - 1.0).abs() < 0.004,
        "{simulated} us, not {expected_us}"
    );
    let answer = analytic(scenario)[0].throughput.expect("a closed form");
    let closed = 1472.0 * 8.0 / (answer.bps / 1e6);
    assert!(
        (closed - expected_us).abs() < 0.01,
        "{closed} us, not {expected_us}"
    );
}

#[test]
fn a_serial_card_adds_its_time_where_contention_waits_for_the_frame() {
    assert_cycle(&lone("serial", "nothing", 25.0, 0.0), CYCLE_US + 25.0);
    // 1508 octets of MSDU.
    assert_cycle(
        &lone("serial", "nothing", 5.0, 20.0),
        CYCLE_US + 5.0 + 30.16,
    );
}

#[test]
fn the_interframe_space_hides_as_much_of_a_serial_card() {
    assert_cycle(&lone("serial", "interframe_space", 25.0, 0.0), CYCLE_US);
    assert_cycle(
        &lone("serial", "interframe_space", 60.0, 0.0),
        CYCLE_US + 60.0 - 34.0,
    );
}

#[test]
fn back_off_hides_a_serial_card_in_the_mean() {
    let left = |us: f64| {
        (0..16)
            .map(|u| f64::max(0.0, us - 34.0 - 9.0 * f64::from(u)))
            .sum::<f64>()
    };
    assert_cycle(&lone("serial", "back_off", 25.0, 0.0), CYCLE_US);
    assert_cycle(
        &lone("serial", "back_off", 100.0, 0.0),
        CYCLE_US + left(100.0) / 16.0,
    );
    assert_cycle(
        &lone("serial", "back_off", 300.0, 0.0),
        CYCLE_US + left(300.0) / 16.0,
    );
}

/// A lone sender whose card takes `fixed_us` and an exponentially distributed time.
fn varying(meanwhile: &str, fixed_us: f64, random_us: f64) -> Scenario {
    let mut scenario = lone("serial", meanwhile, fixed_us, 0.0);
    let nic = scenario.nodes[0].host.nic.as_mut().expect("a card");
    nic.stages[0].random_ns = random_us * 1e3;
    scenario
}

#[test]
fn a_time_that_varies_costs_its_mean_where_nothing_hides_it() {
    assert_cycle(&varying("nothing", 10.0, 40.0), CYCLE_US + 50.0);
    // An exponentially distributed time exceeds 24 us by 40 us exp(-24 / 40) in the mean.
    let beyond = 40.0 * f64::exp(-24.0 / 40.0);
    let varied = varying("interframe_space", 10.0, 40.0);
    assert_cycle(&varied, CYCLE_US + beyond);
    let left = |u: f64| 60.0 * f64::exp(-(34.0 + 9.0 * u - 10.0) / 60.0);
    let beyond = (0..16).map(|u| left(f64::from(u))).sum::<f64>() / 16.0;
    assert_cycle(&varying("back_off", 10.0, 60.0), CYCLE_US + beyond);
}

#[test]
fn draws_of_a_card_shift_no_other_draw() {
    // One microsecond is hidden by the interframe space, whatever is drawn.
    let rows = |scenario: &Scenario| {
        let mut rows = simulate(scenario, 5).rows;
        rows.retain(|r| r.metric != "airtime_card_s");
        rows
    };
    let plain = lone("serial", "interframe_space", 0.0, 0.0);
    assert_eq!(rows(&varying("interframe_space", 0.0, 1.0)), rows(&plain));
}

#[test]
fn closed_forms_refuse_two_random_times_by_name() {
    let mut scenario = varying("nothing", 10.0, 40.0);
    let nic = scenario.nodes[0].host.nic.as_mut().expect("a card");
    nic.stages.push(nic.stages[0]);
    let answer = format!("{:?}", analytic(&scenario)[0].throughput);
    assert!(answer.contains("random_ns"), "{answer}");
}

#[test]
fn a_pipelined_card_costs_nothing_until_it_is_slower_than_the_air() {
    assert_cycle(&lone("pipelined", "nothing", 300.0, 0.0), CYCLE_US);
    assert_cycle(&lone("pipelined", "back_off", 1_000.0, 0.0), 1_000.0);
}

#[test]
fn cut_through_hides_octets_behind_the_air() {
    // 50 ns an octet are 75 us, and the airtime of 1508 octets is 223 us.
    assert_cycle(&lone("cut_through", "nothing", 10.0, 50.0), CYCLE_US + 10.0);
    // 200 ns an octet are 301.6 us, 78.193 us longer than the airtime.
    let late = 1508.0 * 0.2 - 1508.0 * 8.0 / 54.0;
    assert_cycle(
        &lone("cut_through", "nothing", 10.0, 200.0),
        CYCLE_US + 10.0 + late,
    );
}

#[test]
fn stages_add_up_in_a_serial_card_and_the_slowest_decides_in_a_pipeline() {
    let mut scenario = lone("serial", "nothing", 20.0, 0.0);
    let nic = scenario.nodes[0].host.nic.as_mut().expect("a card");
    let mut other = nic.stages[0];
    other.stage = crate::scenario::StageKind::Fetch;
    other.cost.fixed_ns = 30_000.0;
    nic.stages.push(other);
    // A stage of a cipher that is not in use costs nothing.
    other.cipher = Some(airtoll_security::CipherSuite::Tkip);
    nic.stages.push(other);
    assert_cycle(&scenario, CYCLE_US + 50.0);
    let nic = scenario.nodes[0].host.nic.as_mut().expect("a card");
    nic.overlap = crate::scenario::Overlap::Pipelined;
    nic.stages[0].cost.fixed_ns = 500_000.0;
    assert_cycle(&scenario, 500.0);
}

#[test]
fn a_card_without_costs_changes_no_result() {
    let tcp = |host: &str| {
        let station = format!(r#"{{"name": "s0", "role": "station", "bss": "cell"{host}}},"#);
        cell(B11, &station, TCP_UP, 2.0)
    };
    let nic = r#", "host": {"nic": {"overlap": "serial", "meanwhile": "MEANWHILE"}}"#;
    for meanwhile in ["nothing", "interframe_space", "back_off"] {
        let nic = nic.replace("MEANWHILE", meanwhile);
        for (plain, with) in [
            (uplink(3, A54, "", 700, 1.0), uplink(3, A54, &nic, 700, 1.0)),
            (tcp(""), tcp(&nic)),
        ] {
            let rows = |scenario| {
                let mut rows = simulate(scenario, 5).rows;
                rows.retain(|r| r.metric != "airtime_card_s");
                rows
            };
            assert_eq!(rows(&plain), rows(&with), "{meanwhile}");
        }
    }
}

#[test]
fn silence_that_a_card_causes_is_booked_as_such() {
    for (overlap, meanwhile, us, hidden) in [
        ("serial", "nothing", 25.0, 0.0),
        ("serial", "interframe_space", 60.0, 34.0),
        ("serial", "back_off", 300.0, 34.0 + 67.5),
    ] {
        let plain = simulate(&lone(overlap, meanwhile, 0.0, 0.0), 3);
        let slow = simulate(&lone(overlap, meanwhile, us, 0.0), 3);
        let frames = |o| total(o, "throughput_bps") * 4.0 / (1472.0 * 8.0);
        let waited = total(&slow, "airtime_card_s") * 1e6 / frames(&slow);
        assert!(
            (waited - (us - hidden)).abs() < 0.5,
            "{meanwhile}: {waited}"
        );
        let contention = |o| total(o, "airtime_contention_s") * 1e6 / frames(o);
        let (before, after) = (contention(&plain), contention(&slow));
        assert!(
            (before - after).abs() < 0.6,
            "{meanwhile}: {before}, {after}"
        );
    }
}

#[test]
fn another_station_fills_the_gap_of_a_serial_card() {
    let cost = |n| {
        let slow = cycle_us(&stations(n, "serial", "interframe_space", 80.0, 0.0));
        slow / cycle_us(&stations(n, "serial", "interframe_space", 0.0, 0.0)) - 1.0
    };
    let (alone, two) = (cost(1), cost(2));
    assert!((alone - 46.0 / CYCLE_US).abs() < 0.005, "{alone}");
    assert!(two < alone / 2.0, "{two} of {alone}");
}

#[test]
fn a_burst_ends_where_the_next_frame_is_not_ready() {
    let with = |us: f64| {
        let mut scenario = lone("serial", "interframe_space", us, 0.0);
        scenario.bss[0].frame_burst_us = 3_000.0;
        cycle_us(&scenario)
    };
    assert!(
        with(10.0) < 330.0,
        "frames that are ready within SIFS follow"
    );
    assert!((with(20.0) - CYCLE_US).abs() < 2.0, "others contend again");
}

#[test]
fn fragments_of_one_msdu_are_prepared_together() {
    let mut scenario = lone("serial", "nothing", 10.0, 0.0);
    scenario.bss[0].fragmentation_threshold_octets = Some(800);
    let slow = cycle_us(&scenario);
    scenario.nodes[0].host.nic = None;
    let quick = cycle_us(&scenario);
    assert!((slow - quick - 20.0).abs() < 1.0, "{slow} {quick}");
}

#[test]
fn each_mpdu_of_an_aggregate_is_prepared() {
    let nic = r#", "host": {"nic": {"overlap": "serial", "stages": [
        {"stage": "fetch", "cost": {"fixed_ns": 2000}}]}}"#;
    let make = |host| uplink(1, super::AX80, host, 1472, 2.0);
    let cycle = |scenario: &Scenario| {
        let outcome = simulate(scenario, 3);
        42.0 * 1472.0 * 8.0 / mbps(&outcome)
    };
    let (quick, slow) = (cycle(&make("")), cycle(&make(nic)));
    // 42 MPDUs fit in one A-MPDU.
    assert!((slow - quick - 84.0).abs() < 2.0, "{quick} {slow}");
}

#[test]
fn the_access_point_has_a_card_too() {
    let down = r#"{"name": "down", "station": "s0", "source": "server", "destination": "s0",
        "transport": {"protocol": "udp"}, "pattern": {"type": "saturated", "payload_octets": 1472}}"#;
    let station = r#"{"name": "s0", "role": "station", "bss": "cell"},"#;
    let mut scenario = cell(A54, station, down, 4.0);
    let quick = cycle_us(&scenario);
    let card = lone("serial", "nothing", 30.0, 0.0).nodes[0]
        .host
        .nic
        .clone();
    scenario.nodes[1].host.nic = card;
    let slow = cycle_us(&scenario);
    assert!((slow - quick - 30.0).abs() < 1.0, "{quick} {slow}");
}

#[test]
fn cards_at_both_ends_of_tcp_survive_collisions() {
    // After a timeout the frame may have become ready between the end of the exchange and now.
    for meanwhile in ["nothing", "interframe_space", "back_off"] {
        let card = lone("serial", meanwhile, 24.0, 0.0).nodes[0]
            .host
            .nic
            .clone();
        let mut scenario = uplink(2, A54, "", 1472, 1.0);
        for (flow, number) in scenario.flows.iter_mut().zip(0..) {
            let own = TCP_UP.replace("s0", &format!("s{number}")).replace(
                "\"tcp\", \"station\"",
                &format!("\"f{number}\", \"station\""),
            );
            *flow = serde_json::from_str(&own).expect("a flow");
        }
        for node in &mut scenario.nodes[..3] {
            node.host.nic.clone_from(&card);
        }
        scenario.bss[0].cca_time_us = 4.0;
        assert!(mbps(&simulate(&scenario, 5)) > 10.0, "{meanwhile}");
    }
}

#[test]
fn starts_within_the_cca_time_collide() {
    // Two cards with different times start off the slot boundaries.
    let make = |cca: f64| {
        let mut scenario = stations(2, "serial", "interframe_space", 40.0, 0.0);
        let nic = scenario.nodes[1].host.nic.as_mut().expect("a card");
        nic.stages[0].cost.fixed_ns = 43_000.0;
        scenario.bss[0].cca_time_us = cca;
        simulate(&scenario, 9)
    };
    let collided = |o| total(o, "airtime_retry_s");
    let (exact, blind) = (collided(&make(0.0)), collided(&make(4.0)));
    assert!(blind > exact * 1.2, "{exact} {blind}");
    // On slot boundaries a time below the slot changes nothing.
    let mut aligned = uplink(4, A54, "", 1472, 1.0);
    let before = simulate(&aligned, 9).rows;
    aligned.bss[0].cca_time_us = 4.0;
    assert_eq!(simulate(&aligned, 9).rows, before);
}

#[test]
fn nobody_but_a_radio_has_a_card() {
    let mut scenario = lone("serial", "nothing", 30.0, 0.0);
    let nic = scenario.nodes[0].host.nic.take();
    scenario.nodes[2].host.nic = nic;
    let refused = run(&scenario, 1, &mut || false).expect_err("a wired host");
    assert!(
        refused.to_string().contains("nodes[2].host.nic"),
        "{refused}"
    );
}

/// A station that sends TCP to the server, whose card and whose access point's card take these times.
fn cards_at_both_ends(overlap: &str, meanwhile: &str, us: [f64; 2]) -> Scenario {
    let station = r#"{"name": "s0", "role": "station", "bss": "cell"},"#;
    let mut scenario = cell(
        &format!(r#"{A54}, "cca_time_us": 4.0"#),
        station,
        TCP_UP,
        0.3,
    );
    for (node, us) in scenario.nodes.iter_mut().zip(us) {
        let nic = format!(
            r#"{{"overlap": "{overlap}", "meanwhile": "{meanwhile}", "stages": [
            {{"stage": "encryption", "cost": {{"fixed_ns": {}}}}}]}}"#,
            us * 1e3
        );
        node.host.nic = Some(serde_json::from_str(&nic).unwrap());
    }
    scenario
}

#[test]
fn a_card_that_is_ready_on_a_busy_medium_sends_an_interframe_space_after_it() {
    use crate::medium::FrameKind;
    // A frame whose card was ready while the medium was busy is due in the past when that ends.
    for overlap in ["serial", "pipelined", "cut_through"] {
        for meanwhile in ["nothing", "interframe_space", "back_off"] {
            for us in [[35.0, 16.0], [45.0, 16.0], [60.0, 16.0], [16.0, 60.0]] {
                let scenario = cards_at_both_ends(overlap, meanwhile, us);
                let (mut begin, mut end, mut sent) = (0, 0, 0);
                for (at, _, kind, length) in super::frames(&scenario) {
                    let data = kind == FrameKind::Data as u64;
                    // Two that begin within the time to sense the medium collide.
                    let collides = at <= begin + 4_000;
                    assert!(
                        !data || sent == 0 || collides || at >= end + 34_000,
                        "{overlap}, {meanwhile}, {us:?}: {at} after {end}"
                    );
                    sent += u64::from(data);
                    (begin, end) = (at, end.max(at + length));
                }
                assert!(sent > 300, "{overlap}, {meanwhile}, {us:?}: {sent}");
            }
        }
    }
}
