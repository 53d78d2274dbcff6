//! Schedules of target wake time that beacons announce: their stations share service periods.

use super::*;
use crate::scenario::{PowerSave, TargetWakeTime};

const INTERVAL_S: f64 = 0.2048;

/// Stations of 802.11ax with a datagram in each wake interval, which comes at an instant of its own. No
/// beacon is due when a period begins.
fn downlink(stations: usize, broadcast: bool) -> Scenario {
    let bss = r#""standard": "802.11ax", "rate": {"control": "fixed_mcs", "mcs": 7, "streams": 1},
        "beacons": {"offset_us": 12800}"#;
    let nodes: String = (0..stations)
        .map(|i| format!(r#"{{"name": "s{i}", "role": "station", "bss": "cell"}},"#))
        .collect();
    // 103 octets in each interval.
    let flows: Vec<String> = (0..stations)
        .map(|i| {
            format!(
                r#"{{"name": "f{i}", "station": "s{i}", "source": "server", "destination": "s{i}",
                "transport": {{"protocol": "udp"}},
                "pattern": {{"type": "paced", "payload_octets": 103, "rate_bps": 4023.4375}}}}"#
            )
        })
        .collect();
    let mut scenario = cell(bss, &nodes, &flows.join(","), 40.0);
    for node in &mut scenario.nodes[..stations] {
        node.power_save = Some(PowerSave {
            listen_interval: None,
            dtim: false,
            twt: Some(TargetWakeTime {
                interval_us: INTERVAL_S * 1e6,
                duration_us: 8_192.0,
                broadcast,
            }),
            retrieval: None,
            after_us: 100_000.0,
            beacon_awake_us: 3_000.0,
        });
    }
    scenario
}

#[test]
fn data_of_all_members_go_one_after_another_in_the_shared_period() {
    const STATIONS: usize = 8;
    let delays = |broadcast| {
        let outcome = simulate(&downlink(STATIONS, broadcast), 3);
        assert_eq!(total(&outcome, "packets_lost"), 0.0);
        let of = |i: usize| outcome.value("delay_s", Some(&format!("f{i}"))).unwrap();
        (0..STATIONS).map(of).collect::<Vec<f64>>()
    };
    let (shared, own) = (delays(true), delays(false));
    // The k-th of n own periods begins k/n of the interval after the shared one, and the instants of the
    // datagrams are equal. The rest is the wait for the data of the others.
    let mut waits: Vec<f64> = (0..STATIONS)
        .map(|k| {
            let later = k as f64 / STATIONS as f64 * INTERVAL_S;
            let wait = (shared[k] - own[k] + later).rem_euclid(INTERVAL_S);
            // The first one may be some back-off slots earlier.
            if wait > INTERVAL_S / 2.0 {
                wait - INTERVAL_S
            } else {
                wait
            }
        })
        .collect();
    waits.sort_by(f64::total_cmp);
    assert!(waits[0].abs() < 50e-6, "{waits:?}");
    for pair in waits.windows(2) {
        // Data, SIFS, Ack and a back-off of 7.5 slots in the mean.
        let exchange = pair[1] - pair[0];
        assert!((100e-6..300e-6).contains(&exchange), "{waits:?}");
    }
}

#[test]
fn members_with_other_periods_have_a_schedule_of_their_own() {
    let octets = |scenario: &Scenario| total(&simulate(scenario, 3), "octets_management");
    let plain = octets(&downlink(3, false));
    let more = |scenario: &Scenario| {
        let beacons = (40.0_f64 / 0.1024).ceil();
        ((octets(scenario) - plain) / beacons).round()
    };
    let mut scenario = downlink(3, true);
    // Element header and control, and nine octets for each schedule.
    assert_eq!(more(&scenario), 12.0);
    let save = scenario.nodes[1].power_save.as_mut().unwrap();
    save.twt.as_mut().unwrap().duration_us = 4_096.0;
    assert_eq!(more(&scenario), 21.0);
}

#[test]
fn what_a_beacon_cannot_say_is_refused() {
    let refused = |change: fn(&mut Scenario)| {
        let mut scenario = downlink(1, true);
        change(&mut scenario);
        run(&scenario, 1, &mut || false).unwrap_err().to_string()
    };
    let without = refused(|s| s.bss[0].beacons = None);
    assert!(without.contains("twt.broadcast"), "{without}");
    let interval = |us: f64| {
        let mut scenario = downlink(1, true);
        let save = scenario.nodes[0].power_save.as_mut().unwrap();
        save.twt.as_mut().unwrap().interval_us = us;
        run(&scenario, 1, &mut || false)
    };
    let crooked = interval(204_801.0).unwrap_err().to_string();
    assert!(crooked.contains("twt.interval_us"), "{crooked}");
    // Whole TUs, but more than 16 bits with every power of two.
    let long = interval(1_024.0 * 65_537.0).unwrap_err().to_string();
    assert!(long.contains("twt.interval_us"), "{long}");
    assert!(interval(1_024.0 * 65_535.0).is_ok());
}
