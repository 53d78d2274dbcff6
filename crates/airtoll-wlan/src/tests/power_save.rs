//! Frames of power save: null frames, PS-Poll and U-APSD against the closed forms of one station.

use airtoll_phy as phy;

use super::*;
use crate::id::{NodeId, RadioId};
use crate::mac;
use crate::scenario::{PowerSave, Retrieval};

const BEACON_S: f64 = 0.1024;
/// The first beacon.
const OFFSET_S: f64 = 0.05;
/// Ten beacon intervals.
const PERIOD_S: f64 = 1.024;
const AFTER_S: f64 = 0.05;
const BEACON_AWAKE_S: f64 = 0.003;
const ALL: [Retrieval; 3] = [Retrieval::Active, Retrieval::PsPoll, Retrieval::UApsd];
/// One access category for everything, so that a frame is preceded by the same mean time.
const EDCA: &str = r#""standard": "802.11a", "edca": true,
    "edca_parameters": [{"aifsn": 2, "cw_min": 15, "cw_max": 1023}, {"aifsn": 2, "cw_min": 15, "cw_max": 1023},
        {"aifsn": 2, "cw_min": 15, "cw_max": 1023, "txop_us": 0}, {"aifsn": 2, "cw_min": 15, "cw_max": 1023, "txop_us": 0}],
    "rate": {"control": "fixed", "mbps": 54}, "beacons": {"offset_us": 50000.0}"#;
/// Watts while it is awake, dozes, sends and receives.
const WATTS: [f64; 4] = [0.4, 0.01, 1.0, 0.5];

fn power_save(retrieval: Option<Retrieval>, listen_interval: u32) -> Option<PowerSave> {
    Some(PowerSave {
        listen_interval: Some(listen_interval),
        dtim: false,
        twt: None,
        retrieval,
        after_us: AFTER_S * 1e6,
        beacon_awake_us: BEACON_AWAKE_S * 1e6,
    })
}

/// The server sends 100 octets to a station 50 ms before each tenth beacon.
fn downlink(retrieval: Option<Retrieval>, cipher: &str, seconds: f64) -> Scenario {
    let rate = 100.0 * 8.0 / PERIOD_S;
    let flow = format!(
        r#"{{"name": "f0", "station": "s0", "source": "server", "destination": "s0",
        "transport": {{"protocol": "udp"}},
        "pattern": {{"type": "paced", "payload_octets": 100, "rate_bps": {rate}}}}}"#
    );
    let station =
        format!(r#"{{"name": "s0", "role": "station", "bss": "cell", "cipher": "{cipher}"}},"#);
    let mut scenario = cell(EDCA, &station, &flow, seconds);
    // The first packet finds the station in active mode.
    scenario.warm_up_s = 1.0;
    scenario.nodes[0].power_save = power_save(retrieval, 1);
    let [idle_w, doze_w, transmit_w, receive_w] = WATTS;
    scenario.nodes[0].host.energy = Some(
        serde_json::from_value(serde_json::json!({
            "idle_w": idle_w, "doze_w": doze_w, "transmit_w": transmit_w,
            "receive_w": receive_w, "cpu_w": 0.0,
        }))
        .unwrap(),
    );
    scenario
}

/// Costs of one packet.
struct Expected {
    delay_s: f64,
    power_w: f64,
    /// Time on the air of its frames without data, and of all their Acks.
    signs_s: f64,
    acks_s: f64,
}

/// The closed form of docs/design/power-save.md for `downlink`.
fn closed_form(scenario: &Scenario, retrieval: Retrieval, cipher_octets: u32) -> Expected {
    let bss = &scenario.bss[0];
    let time = |mbps, octets| {
        let vector = mac::legacy(bss, mbps).unwrap();
        phy::airtime(&vector, octets).as_secs_f64()
    };
    let timing = mac::timing(bss, false);
    let (sifs, slot) = (timing.sifs.as_secs_f64(), timing.slot.as_secs_f64());
    // A lone station finds the medium idle.
    let access = sifs + 2.0 * slot;
    let null = time(6.0, 24 + 2 + 4);
    let ask = match retrieval {
        Retrieval::PsPoll => time(6.0, 20),
        _ => null,
    };
    let ack = sifs + time(6.0, 14);
    let data_ack = sifs + time(24.0, 14);
    let data = time(54.0, 24 + 2 + 4 + 8 + 20 + 8 + 100 + cipher_octets);
    let beacon = beacon_s(scenario);
    let asked = access + ask + ack;
    let awake = asked + access + data + data_ack;
    let (awake, signs, acks) = match retrieval {
        // It is awake for a time, and says that it dozes.
        Retrieval::Active => (awake + AFTER_S + null + ack, 2.0 * null, 2.0 * ack),
        _ => (awake, ask, ack),
    };
    let beacons = PERIOD_S / BEACON_S;
    let [idle_w, doze_w, transmit_w, receive_w] = WATTS;
    let awake = awake + beacons * BEACON_AWAKE_S;
    let joule = idle_w * awake
        + doze_w * (PERIOD_S - awake)
        + transmit_w * (signs + data_ack - sifs)
        + receive_w * (data + beacons * beacon);
    Expected {
        delay_s: OFFSET_S + sifs + slot + beacon + asked + access + data,
        power_w: joule / PERIOD_S,
        signs_s: signs,
        acks_s: acks + data_ack,
    }
}

fn beacon_s(scenario: &Scenario) -> f64 {
    let world = build::build(scenario, 1).unwrap();
    let ap = RadioId::first_of(NodeId::new(1));
    let plan = world.stack.lower.mac.beacon(ap).unwrap();
    plan.length.as_secs_f64()
}

/// Airtime of the beacons of a trial.
fn beacons_s(scenario: &Scenario, seconds: f64) -> f64 {
    let before = |s: f64| ((s - OFFSET_S) / BEACON_S).ceil();
    (before(seconds) - before(scenario.warm_up_s)) * beacon_s(scenario)
}

#[test]
fn each_method_takes_its_frames_time_and_energy() {
    for (cipher, octets) in [("open", 0), ("ccmp-128", 16), ("gcmp-256", 24)] {
        for retrieval in ALL {
            let scenario = downlink(Some(retrieval), cipher, 400.0);
            let outcome = simulate(&scenario, 3);
            let expected = closed_form(&scenario, retrieval, octets);
            let packets = total(&outcome, "packets_received");
            assert!(packets > 388.0, "{packets}");
            let delay = total(&outcome, "delay_s");
            let what = format!("{retrieval:?} {cipher}");
            assert!(
                (delay - expected.delay_s).abs() < 2e-6,
                "{what}: {delay} {}",
                expected.delay_s
            );
            let power = total(&outcome, "power_w");
            let ratio = power / expected.power_w;
            assert!(
                (ratio - 1.0).abs() < 0.004,
                "{what}: {power} {}",
                expected.power_w
            );
            let beacons = beacons_s(&scenario, 400.0);
            let signs = (total(&outcome, "airtime_management_s") - beacons) / packets;
            assert!(
                (signs / expected.signs_s - 1.0).abs() < 0.01,
                "{what}: {signs}"
            );
            let acks = total(&outcome, "airtime_ack_s") / packets;
            assert!(
                (acks / expected.acks_s - 1.0).abs() < 0.01,
                "{what}: {acks}"
            );
            assert_eq!(total(&outcome, "packets_lost"), 0.0);
        }
    }
}

#[test]
fn a_station_without_these_frames_is_as_before() {
    let scenario = downlink(None, "ccmp-128", 100.0);
    let without = simulate(&scenario, 3);
    let beacons = beacons_s(&scenario, 100.0);
    let signs = total(&without, "airtime_management_s") - beacons;
    assert!(signs.abs() < 1e-6, "{signs}");
}

#[test]
fn polls_fetch_one_frame_each_and_a_service_period_all() {
    let with = |retrieval, rate: f64| {
        let mut scenario = downlink(Some(retrieval), "ccmp-128", 60.0);
        scenario.flows[0].pattern = serde_json::from_value(serde_json::json!({
            "type": "paced", "payload_octets": 100, "rate_bps": rate,
        }))
        .unwrap();
        let beacons = beacons_s(&scenario, 60.0);
        let outcome = simulate(&scenario, 3);
        let signs = total(&outcome, "airtime_management_s") - beacons;
        assert_eq!(total(&outcome, "packets_lost"), 0.0);
        (signs / total(&outcome, "packets_received"), outcome)
    };
    // 97.7 packets a second: ten wait for each beacon.
    let rate = 100.0 * 8.0 * 10.0 / BEACON_S;
    let (poll, polled) = with(Retrieval::PsPoll, rate);
    let (trigger, served) = with(Retrieval::UApsd, rate);
    // 52 us of 20 octets, and 64 us of 30 at 6 Mb/s.
    assert!((poll / 52e-6 - 1.0).abs() < 0.02, "{poll}");
    assert!((trigger / 6.4e-6 - 1.0).abs() < 0.1, "{trigger}");
    assert!(total(&served, "power_w") < total(&polled, "power_w"));
    // In active mode it never gets to doze.
    let (null, active) = with(Retrieval::Active, rate);
    assert!(null < 1e-6, "{null}");
    assert!(total(&active, "doze_share") < 0.01);
    assert!(total(&active, "delay_s") < 0.001);
}

/// A datagram of the station itself every 20 ms besides.
fn with_uplink(retrieval: Retrieval) -> Scenario {
    let mut scenario = downlink(Some(retrieval), "ccmp-128", 30.0);
    let flow = r#"{"name": "up", "station": "s0", "source": "s0", "destination": "server",
        "transport": {"protocol": "udp"},
        "pattern": {"type": "paced", "payload_octets": 100, "rate_bps": 40000.0}}"#;
    scenario.flows.push(serde_json::from_str(flow).unwrap());
    scenario
}

#[test]
fn own_data_bring_what_waits_except_with_polls() {
    let delay = |retrieval| {
        let outcome = simulate(&with_uplink(retrieval), 3);
        assert_eq!(total(&outcome, "packets_lost"), 0.0);
        outcome.value("delay_s", Some("f0")).unwrap()
    };
    assert!(delay(Retrieval::UApsd) < 0.021);
    // Its idle time never ends.
    assert!(delay(Retrieval::Active) < 0.001);
    assert!(delay(Retrieval::PsPoll) > 0.05);
}

#[test]
fn a_service_period_without_frames_is_ended_by_a_null_frame() {
    let mut scenario = with_uplink(Retrieval::UApsd);
    scenario.flows.remove(0);
    let beacons = beacons_s(&scenario, 30.0);
    let outcome = simulate(&scenario, 3);
    let signs = total(&outcome, "airtime_management_s") - beacons;
    let each = signs / total(&outcome, "packets_received");
    assert!((each / 64e-6 - 1.0).abs() < 0.01, "{each}");
    // It is awake for its frame and for the answer alone.
    assert!(total(&outcome, "doze_share") > 0.93);
}

#[test]
fn who_misses_a_beacon_stays_awake_for_the_next() {
    let with = |missed: bool| {
        let mut scenario = downlink(Some(Retrieval::PsPoll), "open", 300.0);
        if missed {
            // Bursts of 30 ms in which no frame arrives, every 130 ms; the medium stays idle meanwhile.
            scenario.radio.interferers = vec![
                serde_json::from_value(serde_json::json!({
                    "burst_us": 30_000.0, "pause_us": 100_000.0, "level_dbm": -30.0,
                    "busy_from_dbm": 0.0,
                }))
                .unwrap(),
            ];
        }
        simulate(&scenario, 3)
    };
    let (clear, poor) = (with(false), with(true));
    // A beacon of 164 us is missed if a part of it meets a burst.
    let missed = 30.164 / 130.0;
    let later = total(&poor, "delay_s") - total(&clear, "delay_s");
    assert!((later / (missed * BEACON_S) - 1.0).abs() < 0.12, "{later}");
    let awake = total(&clear, "doze_share") - total(&poor, "doze_share");
    assert!((awake - missed).abs() < 0.01, "{awake}");
}

#[test]
fn more_stations_than_a_first_octet_holds_lengthen_the_beacon() {
    let names: Vec<String> = (0..20).map(|i| format!("s{i}")).collect();
    let stations: String = names
        .iter()
        .map(|name| format!(r#"{{"name": "{name}", "role": "station", "bss": "cell"}},"#))
        .collect();
    let flow = |to: &String| {
        format!(
            r#"{{"name": "{to}", "station": "{to}", "source": "server", "destination": "{to}",
            "transport": {{"protocol": "udp"}},
            "pattern": {{"type": "paced", "payload_octets": 100, "rate_bps": 2000.0}}}}"#
        )
    };
    let flows: Vec<String> = names.iter().map(flow).collect();
    for retrieval in ALL {
        let mut scenario = cell(EDCA, &stations, &flows.join(","), 20.0);
        for node in &mut scenario.nodes[..20] {
            node.power_save = power_save(Some(retrieval), 2);
        }
        let mut world = world_after(&scenario, 3);
        let alive = world.stack.lower.cx.packets.alive();
        let outcome = world.outcome();
        assert!(total(&outcome, "packets_received") > 900.0);
        assert_eq!(total(&outcome, "packets_lost"), 0.0);
        // A frame of power save may be under way, too.
        let queued = total(&outcome, "packets_queued");
        assert!((alive as f64 - queued) < 20.0, "{alive} {queued}");
    }
}

#[test]
fn frames_of_power_save_need_beacons_and_qos_and_no_service_periods() {
    let refused = |change: &dyn Fn(&mut Scenario)| {
        let mut scenario = downlink(Some(Retrieval::UApsd), "open", 2.0);
        change(&mut scenario);
        run(&scenario, 1, &mut || false).unwrap_err().to_string()
    };
    let error = refused(&|s| s.bss[0].edca = Some(false));
    assert!(
        error.contains("power_save.retrieval") && error.contains("QoS"),
        "{error}"
    );
    let error = refused(&|s| s.bss[0].beacons = None);
    assert!(error.contains("beacons"), "{error}");
    let error = refused(&|s| s.nodes[0].four_address = true);
    assert!(error.contains("bridges"), "{error}");
}
