//! Stations that doze between beacons: data for them wait at their access point.

use super::*;
use crate::scenario::{PowerSave, TargetWakeTime};

const BEACON_S: f64 = 0.1024;

/// A datagram for a dozing station every 1.03 s.
fn downlink(listen_interval: Option<u32>, seconds: f64) -> Scenario {
    let flow = r#"{"name": "f0", "station": "s0", "source": "server", "destination": "s0",
        "transport": {"protocol": "udp"},
        "pattern": {"type": "paced", "payload_octets": 103, "rate_bps": 800.0}}"#;
    let station = r#"{"name": "s0", "role": "station", "bss": "cell"},"#;
    let mut scenario = cell(
        &format!(r#"{A54}, "beacons": {{}}"#),
        station,
        flow,
        seconds,
    );
    scenario.nodes[0].power_save = listen_interval.map(|listen_interval| PowerSave {
        listen_interval: Some(listen_interval),
        dtim: false,
        twt: None,
        retrieval: None,
        after_us: 100_000.0,
        beacon_awake_us: 3_000.0,
    });
    scenario
}

#[test]
fn data_for_a_dozing_station_wait_for_its_beacon() {
    let awake = total(&simulate(&downlink(None, 300.0), 3), "delay_s");
    assert!(awake < 0.001, "{awake}");
    for listen_interval in [1, 3, 10] {
        let outcome = simulate(&downlink(Some(listen_interval), 300.0), 3);
        let longest = f64::from(listen_interval) * BEACON_S;
        // Arrivals meet every phase of the interval; the standard error of 291 of them is 3.4 %.
        let mean = total(&outcome, "delay_s");
        assert!(
            (mean / (longest / 2.0) - 1.0).abs() < 0.12,
            "{listen_interval}: {mean}"
        );
        let most = total(&outcome, "delay_p99_s");
        assert!(most < longest + 0.002, "{listen_interval}: {most}");
        assert_eq!(total(&outcome, "packets_lost"), 0.0);
    }
}

#[test]
fn a_frame_of_the_station_brings_what_waits_for_it() {
    let flow = r#"{"name": "ask", "station": "s0", "source": "s0", "destination": "server",
        "transport": {"protocol": "udp"}, "pattern": {"type": "request_response",
        "request_octets": 100, "response_octets": 100}}"#;
    let mut scenario = downlink(Some(10), 60.0);
    let alone = total(&simulate(&scenario, 3), "delay_s");
    scenario.flows.push(serde_json::from_str(flow).unwrap());
    let outcome = simulate(&scenario, 3);
    // Requests one after another keep it awake.
    assert!(outcome.value("delay_s", Some("f0")).unwrap() < 0.01 * alone);
}

#[test]
fn a_station_with_traffic_is_served_as_one_that_never_dozes() {
    let saturated = |save: bool| {
        let mut scenario = uplink(1, &format!(r#"{A54}, "beacons": {{}}"#), "", 1472, 2.0);
        if save {
            scenario.nodes[0].power_save = downlink(Some(3), 1.0).nodes[0].power_save;
        }
        total(&simulate(&scenario, 3), "throughput_bps")
    };
    assert_eq!(saturated(true), saturated(false));
}

#[test]
fn an_access_point_keeps_64_packets_and_drops_the_oldest() {
    let mut scenario = downlink(Some(100), 20.0);
    // 5 a second for 10.24 s: 51.
    scenario.flows[0].pattern = serde_json::from_value(serde_json::json!({
        "type": "paced", "payload_octets": 100, "rate_bps": 4_000.0,
    }))
    .unwrap();
    let mut world = world_after(&scenario, 3);
    let alive = world.stack.lower.cx.packets.alive();
    let outcome = world.outcome();
    assert_eq!(alive as f64, total(&outcome, "packets_queued"));
    assert_eq!(total(&outcome, "packets_lost"), 0.0);
    scenario.flows[0].pattern = serde_json::from_value(serde_json::json!({
        "type": "paced", "payload_octets": 10, "rate_bps": 640.0,
    }))
    .unwrap();
    let mut world = world_after(&scenario, 3);
    let alive = world.stack.lower.cx.packets.alive();
    let outcome = world.outcome();
    assert_eq!(alive as f64, total(&outcome, "packets_queued"));
    // 8 a second for 10.24 s: 64 of 82 are kept.
    assert!(total(&outcome, "packets_lost") > 10.0);
}

#[test]
fn energy_and_delay_follow_the_listen_interval() {
    let with = |n| {
        let mut scenario = downlink(Some(n), 60.0);
        scenario.nodes[0].host.energy = Some(
            serde_json::from_value(serde_json::json!({
                "transmit_w": 1.0, "receive_w": 0.5, "idle_w": 0.4, "cpu_w": 0.0,
                "doze_w": 0.01,
            }))
            .unwrap(),
        );
        let outcome = simulate(&scenario, 3);
        (total(&outcome, "doze_share"), total(&outcome, "delay_s"))
    };
    let (one, ten) = (with(1), with(10));
    assert!(ten.0 > one.0, "{one:?} {ten:?}");
    assert!(ten.1 > 5.0 * one.1, "{one:?} {ten:?}");
}

/// The datagrams of `downlink` for a station with an agreement of target wake time.
fn served(interval_ms: f64, duration_ms: f64) -> Scenario {
    let mut scenario = downlink(Some(1), 300.0);
    scenario.nodes[0].power_save = Some(PowerSave {
        listen_interval: None,
        dtim: false,
        twt: Some(TargetWakeTime {
            interval_us: interval_ms * 1e3,
            duration_us: duration_ms * 1e3,
            broadcast: false,
        }),
        retrieval: None,
        after_us: 100_000.0,
        beacon_awake_us: 3_000.0,
    });
    scenario
}

#[test]
fn data_wait_for_the_next_service_period() {
    for (interval, duration) in [(204.8, 4.096), (768.0, 4.096), (768.0, 384.0)] {
        let outcome = simulate(&served(interval, duration), 3);
        // Datagrams wait only where they arrive outside a period: half of the rest on average.
        let rest = (interval - duration) / 1e3;
        let mean = rest * rest / (interval / 1e3) / 2.0;
        let found = total(&outcome, "delay_s");
        assert!(
            (found / mean - 1.0).abs() < 0.15,
            "{interval}: {found} {mean}"
        );
        let most = total(&outcome, "delay_p99_s");
        assert!(most < rest + 0.002, "{interval}: {most}");
        assert_eq!(total(&outcome, "packets_lost"), 0.0);
    }
}

#[test]
fn a_station_with_service_periods_is_awake_in_them_alone() {
    let energy = serde_json::json!({
        "transmit_w": 1.0, "receive_w": 0.5, "idle_w": 0.4, "cpu_w": 0.0, "doze_w": 0.01,
    });
    let share = |interval, duration| {
        let mut scenario = served(interval, duration);
        scenario.nodes[0].host.energy = Some(serde_json::from_value(energy.clone()).unwrap());
        total(&simulate(&scenario, 3), "doze_share")
    };
    // Datagrams arrive in the periods, and the station's acknowledgements keep it awake for no longer.
    for (interval, duration) in [(204.8, 4.096), (768.0, 4.096), (768.0, 384.0)] {
        let expected = 1.0 - duration / interval;
        let found = share(interval, duration);
        assert!(
            (found - expected).abs() < 0.002,
            "{interval}: {found} {expected}"
        );
    }
}

#[test]
fn a_frame_of_its_own_wakes_a_station_with_service_periods() {
    let flow = r#"{"name": "ask", "station": "s0", "source": "s0", "destination": "server",
        "transport": {"protocol": "udp"}, "pattern": {"type": "request_response",
        "request_octets": 100, "response_octets": 100}}"#;
    let mut scenario = served(10_240.0, 4.096);
    scenario.flows.push(serde_json::from_str(flow).unwrap());
    let outcome = simulate(&scenario, 3);
    assert!(outcome.value("delay_s", Some("f0")).unwrap() < 0.01);
}

#[test]
fn service_periods_need_no_beacons_and_do_not_overlap() {
    let mut scenario = served(204.8, 4.096);
    scenario.bss[0].beacons = None;
    assert!(total(&simulate(&scenario, 3), "delay_s") > 0.05);
    let wrong = served(4.0, 4.096);
    let error = run(&wrong, 1, &mut || false).unwrap_err().to_string();
    assert!(error.contains("power_save.twt.duration_us"), "{error}");
}
