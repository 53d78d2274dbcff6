//! The simulator compared with the closed forms and the slot-by-slot Monte-Carlo.
//!
//! The implementations are independent: they share the scenario and the PHY arithmetic. Beacons are
//! off except where a test says so. Seeds are fixed, so a test that passes passes everywhere; the
//! simulated times are long enough that chance alone stays well below each tolerance.

use airtoll_phy::{
    AccessCategory, BLOCK_ACK_REQ_OCTETS, Band, BasicRates, DsssRate, Generation, GuardInterval,
    MpduSpacing, OfdmRate, Preamble, TimingSet, TxVector, Width, airtime, ampdu_octets,
    control_response, edca_parameters,
};
use airtoll_units::Duration;
use airtoll_wlan::analytic::{
    CollisionTime, Exchange, Method, Rules, analytic, bianchi, monte_carlo,
};
use airtoll_wlan::{Scenario, run};

const A54: &str = r#""standard":"802.11a","rate":{"control":"fixed","mbps":54}"#;
const B11: &str = r#""standard":"802.11b","rate":{"control":"fixed","mbps":11}"#;
const AX80: &str =
    r#""standard":"802.11ax","width_mhz":80,"rate":{"control":"fixed_mcs","mcs":11}"#;

/// `stations` saturated senders of UDP towards their access point.
fn uplink(bss: &str, stations: u32, node: &str, flow: &str, duration_s: f64) -> Scenario {
    let nodes: String = (0..stations)
        .map(|i| format!(r#"{{"name":"s{i}","role":"station","bss":"c"{node}}},"#))
        .collect();
    let flows: Vec<String> = (0..stations)
        .map(|i| format!(r#"{{"name":"f{i}","source":"s{i}","destination":"ap",{flow}}}"#))
        .collect();
    let json = format!(
        r#"{{"duration_s":{duration_s},"warm_up_s":0.5,
        "radio":{{"path_loss":{{"model":"constant","loss_db":45}}}},"bss":[{{"name":"c",{bss}}}],
        "nodes":[{nodes}{{"name":"ap","role":"access_point","bss":"c"}}],
        "flows":[{}]}}"#,
        flows.join(",")
    );
    Scenario::from_json(&json).unwrap_or_else(|e| panic!("{e}: {json}"))
}

fn udp(payload: u32) -> String {
    format!(
        r#""transport":{{"protocol":"udp"}},
        "pattern":{{"type":"saturated","payload_octets":{payload}}}"#
    )
}

fn simulated_bps(scenario: &Scenario, seed: u64) -> f64 {
    let outcome = run(scenario, seed, &mut || false).unwrap();
    outcome
        .rows
        .iter()
        .filter(|r| r.metric == "throughput_bps" && r.flow.is_some() && r.second.is_none())
        .map(|r| r.value)
        .sum()
}

fn analytic_bps(scenario: &Scenario) -> f64 {
    analytic(scenario)
        .into_iter()
        .map(|a| a.throughput.unwrap().bps)
        .sum()
}

/// Simulates and compares; the message carries the case.
fn hold(case: &str, scenario: &Scenario, tolerance: f64) {
    let (ours, theory) = (simulated_bps(scenario, 1), analytic_bps(scenario));
    let off = ours / theory - 1.0;
    assert!(
        off.abs() <= tolerance,
        "{case}: simulated {ours:.0}, closed form {theory:.0}, {:+.3} %",
        off * 100.0
    );
}

#[test]
fn one_legacy_station_meets_the_closed_form() {
    let legacy = |standard: &str, mbps: &str, more: &str| {
        format!(r#""standard":"{standard}","rate":{{"control":"fixed","mbps":{mbps}}}{more}"#)
    };
    let mut cases = Vec::new();
    for mbps in ["1", "2", "5.5", "11"] {
        cases.push((legacy("802.11b", mbps, ""), 20.0));
        cases.push((legacy("802.11b", mbps, r#","preamble":"short""#), 20.0));
    }
    for mbps in ["6", "9", "12", "18", "24", "36", "48", "54"] {
        cases.push((legacy("802.11a", mbps, ""), 10.0));
        cases.push((legacy("802.11g", mbps, ""), 10.0));
    }
    cases.push((legacy("802.11g", "54", r#","short_slot":false"#), 10.0));
    cases.push((
        legacy("802.11g", "54", r#","protection":"cts_to_self""#),
        10.0,
    ));
    cases.push((legacy("802.11g", "54", r#","protection":"rts_cts""#), 10.0));
    cases.push((
        legacy("802.11a", "54", r#","rts_threshold_octets":0"#),
        10.0,
    ));
    for (bss, seconds) in cases {
        for payload in [100, 1_472] {
            let scenario = uplink(&bss, 1, "", &udp(payload), seconds);
            hold(&format!("{bss} {payload}"), &scenario, 0.005);
        }
    }
}

#[test]
fn payloads_and_ciphers_step_with_the_symbol() {
    for payload in [18, 64, 256, 512, 1_000, 1_024, 1_460, 1_472] {
        for cipher in ["open", "wep-104", "tkip", "ccmp-128", "gcmp-256"] {
            let node = format!(r#","cipher":"{cipher}""#);
            let scenario = uplink(A54, 1, &node, &udp(payload), 8.0);
            hold(&format!("{cipher} {payload}"), &scenario, 0.005);
        }
    }
}

#[test]
fn fragments_meet_the_closed_form() {
    let n20 = r#""standard":"802.11n","rate":{"control":"fixed_mcs","mcs":7},
        "aggregation":{"ampdu_max_octets":0}"#;
    for (bss, seconds) in [(A54, 10.0), (B11, 30.0), (n20, 10.0)] {
        for threshold in [256, 528, 1_024, 1_550] {
            for cipher in ["open", "wep-104", "tkip", "ccmp-128"] {
                let bss = format!(r#"{bss},"fragmentation_threshold_octets":{threshold}"#);
                let node = format!(r#","cipher":"{cipher}""#);
                // HT excludes WEP and TKIP, and rates without closed form are not compared.
                if bss.contains("802.11n") && ["wep-104", "tkip"].contains(&cipher) {
                    continue;
                }
                let scenario = uplink(&bss, 1, &node, &udp(1_472), seconds);
                hold(&format!("{bss} {cipher}"), &scenario, 0.005);
            }
        }
    }
    let rts = format!(r#"{A54},"fragmentation_threshold_octets":528,"rts_threshold_octets":300"#);
    hold("with RTS", &uplink(&rts, 1, "", &udp(1_472), 10.0), 0.005);
}

#[test]
fn one_aggregating_station_meets_the_closed_form() {
    let mcs = |standard: &str, width: u32, gi: u32, mcs: u32, streams: u32| {
        format!(
            r#""standard":"802.{standard}","width_mhz":{width},"guard_interval_ns":{gi},
            "rate":{{"control":"fixed_mcs","mcs":{mcs},"streams":{streams}}}"#
        )
    };
    let cases = [
        mcs("11n", 20, 800, 0, 1),
        mcs("11n", 20, 800, 7, 1),
        mcs("11n", 40, 400, 7, 1),
        mcs("11n", 40, 800, 15, 2),
        mcs("11n", 40, 400, 31, 4),
        mcs("11ac", 20, 800, 8, 1),
        mcs("11ac", 80, 400, 9, 1),
        mcs("11ac", 80, 800, 9, 2),
        mcs("11ac", 160, 400, 9, 4),
        mcs("11ax", 20, 800, 0, 1),
        mcs("11ax", 20, 3_200, 11, 1),
        mcs("11ax", 80, 800, 11, 1),
        mcs("11ax", 160, 1_600, 11, 2),
        mcs("11be", 160, 800, 13, 2),
        mcs("11be", 320, 800, 13, 2),
        mcs("11be", 320, 3_200, 0, 1),
    ];
    for bss in cases {
        for limit in ["", r#","aggregation":{"ampdu_max_octets":65535}"#, NO_AMPDU] {
            for payload in [100, 1_472] {
                let bss = format!("{bss}{limit}");
                // The queue holds the largest A-MPDU twice.
                let node = r#","queue":{"packets":4000}"#;
                // The back-offs of single MPDUs and the last of some long A-MPDUs matter; wide channels cost most.
                let wide = ["80", "160", "320"].map(|mhz| format!(r#""width_mhz":{mhz},"#));
                let fast = limit != NO_AMPDU && wide.iter().any(|width| bss.contains(width));
                let seconds = if fast { 2.0 } else { 4.0 };
                let scenario = uplink(&bss, 1, node, &udp(payload), seconds);
                hold(&format!("{bss} {payload}"), &scenario, 0.005);
            }
        }
    }
}

#[test]
fn ldpc_meets_the_closed_form_and_its_symbols_cost_airtime() {
    // 802.11n: MCS 7 without A-MPDUs; payloads whose last code words lack check bits take a symbol more.
    let mut longer = 0;
    for bss in [
        r#""standard":"802.11n","rate":{"control":"fixed_mcs","mcs":7},"aggregation":{"ampdu_max_octets":0}"#,
        r#""standard":"802.11ac","width_mhz":40,"rate":{"control":"fixed_mcs","mcs":4}"#,
        r#""standard":"802.11ax","rate":{"control":"fixed_mcs","mcs":11},"aggregation":{"ampdu_max_octets":0}"#,
        r#""standard":"802.11be","width_mhz":80,"rate":{"control":"fixed_mcs","mcs":9}"#,
    ] {
        for payload in [40, 100, 451, 700, 1_472] {
            let node = r#","queue":{"packets":4000}"#;
            let [bcc, ldpc] = ["bcc", "ldpc"].map(|coding| {
                let bss = format!(r#"{bss},"coding":"{coding}""#);
                let scenario = uplink(&bss, 1, node, &udp(payload), 2.0);
                hold(&format!("{bss} {payload}"), &scenario, 0.005);
                simulated_bps(&scenario, 1)
            });
            longer += u32::from(ldpc < 0.999 * bcc);
        }
    }
    assert!((1..15).contains(&longer), "{longer}");
}

#[test]
fn aggregates_of_msdus_meet_the_closed_form() {
    let n20 = r#""standard":"802.11n","rate":{"control":"fixed_mcs","mcs":7}"#;
    let n40 = r#""standard":"802.11n","width_mhz":40,"rate":{"control":"fixed_mcs","mcs":7}"#;
    let slow = r#""standard":"802.11n","rate":{"control":"fixed_mcs","mcs":0}"#;
    let ac80 = r#""standard":"802.11ac","width_mhz":80,"rate":{"control":"fixed_mcs","mcs":9}"#;
    for bss in [n20, n40, slow, ac80] {
        for amsdu in [2_000, 3_839, 7_935] {
            for ampdu in [0, 65_535] {
                for payload in [100, 1_472] {
                    let bss = format!(
                        r#"{bss},"aggregation":{{"ampdu_max_octets":{ampdu},
                        "amsdu_max_octets":{amsdu}}}"#
                    );
                    let node = r#","queue":{"packets":8000},"cipher":"ccmp-128""#;
                    let scenario = uplink(&bss, 1, node, &udp(payload), 4.0);
                    hold(&format!("{bss} {payload}"), &scenario, 0.005);
                }
            }
        }
    }
}

#[test]
fn an_amsdu_outside_an_ampdu_has_its_own_limit() {
    // 7935 octets hold five MSDUs of 1472 + 28 + 8 octets with their sub-frame headers, 4095 octets
    // two (HT: 9.3.2.1, 9.4.2.55.2).
    let exchanges = |ampdu: u32| {
        let bss = format!(
            r#""standard":"802.11n","width_mhz":40,"rate":{{"control":"fixed_mcs","mcs":7}},
            "aggregation":{{"ampdu_max_octets":{ampdu},"amsdu_max_octets":7935,"window":1}}"#
        );
        simulated_bps(&uplink(&bss, 1, "", &udp(1_472), 5.0), 1)
    };
    let (alone, in_ampdu) = (exchanges(0), exchanges(65_535));
    // 135 Mb/s, mean back-off 67.5 us, AIFS 43 us, preamble 36 us, SIFS 16 us and Ack 28 us.
    for (bps, msdus) in [(alone, 5.0), (in_ampdu, 2.0)] {
        let mpdu = 30.0 + msdus * 1_524.0 - 2.0;
        let symbols: f64 = (22.0 + 8.0 * mpdu) / 540.0;
        let cycle_us = 43.0 + 67.5 + 36.0 + 4.0 * symbols.ceil() + 16.0 + 28.0;
        let expected = msdus * 1_472.0 * 8.0 / cycle_us * 1e6;
        assert!((bps / expected - 1.0).abs() < 0.005, "{bps} {expected}");
    }
}

const NO_AMPDU: &str = r#","aggregation":{"ampdu_max_octets":0}"#;

#[test]
fn beacons_cost_exactly_their_airtime() {
    for bss in [A54, B11, AX80] {
        let with = format!(r#"{bss},"beacons":{{"octets":300}}"#);
        let scenario = uplink(&with, 1, "", &udp(1_472), 60.0);
        hold(&with, &scenario, 0.005);
    }
}

/// A saturated uplink whose simulated time is that of `mpdus` MPDUs by the closed form.
fn short(case: &str, mpdus: f64) -> (Scenario, f64) {
    let bss = format!(
        r#"{case},"cw_min":1,"cw_max":1,"aggregation":{{"window":8,"ampdu_max_octets":30000}}"#
    );
    let mut scenario = uplink(&bss, 1, "", &udp(1_472), 1.0);
    scenario.warm_up_s = 0.0;
    let theory = analytic_bps(&scenario);
    scenario.duration_s = mpdus * 1_472.0 * 8.0 / theory;
    (scenario, theory)
}

#[test]
fn every_mode_of_every_descriptor_meets_the_closed_form() {
    let mut simulated = 0;
    for generation in Generation::ALL {
        let d = generation.descriptor();
        let mut rates: Vec<String> = d
            .legacy_rates()
            .map(|rate| format!(r#"{{"control":"fixed","mbps":{}}}"#, rate.mbps()))
            .collect();
        rates.extend(d.mcs_indices(8).map(|(mcs, streams)| {
            format!(r#"{{"control":"fixed_mcs","mcs":{mcs},"streams":{streams}}}"#)
        }));
        for width in d.widths {
            for guard in d.guard_intervals {
                for band in width.bands {
                    let band = serde_json::to_string(band).unwrap();
                    let mhz = width.width.mhz();
                    let ns = guard.interval.nanos();
                    for rate in &rates {
                        let case = format!(
                            r#""standard":"{generation}","band":{band},"width_mhz":{mhz},
                            "guard_interval_ns":{ns},"rate":{rate}"#
                        );
                        let excluded = d.mcs.is_some_and(|rules| {
                            rules.excluded.iter().any(|row| {
                                row.width == width.width
                                    && row.streams.iter().any(|streams| {
                                        let mcs = row.mcs;
                                        let own = format!(r#""mcs":{mcs},"streams":{streams}}}"#);
                                        rate.ends_with(&own)
                                    })
                            })
                        });
                        if excluded {
                            continue;
                        }
                        let (scenario, theory) = short(&case, 500.0);
                        let ours = simulated_bps(&scenario, 1);
                        let off = ours / theory - 1.0;
                        assert!(
                            off.abs() < 0.015,
                            "{case}: simulated {ours:.0}, closed form {theory:.0}, {:+.2} %",
                            off * 100.0
                        );
                        simulated += 1;
                    }
                }
            }
        }
    }
    assert_eq!(simulated, 4 + 8 + 12 + 256 + 620 + 2_880 + 3_696);
}

fn exchange_a54() -> Exchange {
    let v = TxVector::ofdm(OfdmRate::M54, Band::Ghz5);
    Exchange::single(&v, BasicRates::ofdm_default(), &TimingSet::OFDM, 1_536)
}

fn exchange_b11() -> Exchange {
    let v = TxVector::dsss(DsssRate::M11, Preamble::Long).unwrap();
    Exchange::single(&v, BasicRates::dsss_default(), &TimingSet::DSSS, 1_536)
}

fn played(exchange: &Exchange, stations: u32, request: bool) -> f64 {
    let v = TxVector::ofdm(OfdmRate::M24, Band::Ghz5);
    let bar = airtime(&v, BLOCK_ACK_REQ_OCTETS);
    let rules = Rules {
        stations,
        attempts: 7,
        exchanges: 200_000,
        block_ack_request: request.then_some([bar, bar + exchange.response]),
        after_request: None,
        seed: 1,
    };
    monte_carlo(exchange, rules).exchanges_per_s * f64::from(exchange.msdus) * 1_472.0 * 8.0
}

#[test]
fn many_stations_meet_the_monte_carlo() {
    for (bss, exchange, seconds) in [(A54, exchange_a54(), 20.0), (B11, exchange_b11(), 100.0)] {
        for stations in [1, 2, 5, 10, 20, 35, 50] {
            let scenario = uplink(bss, stations, "", &udp(1_472), seconds);
            let (ours, theirs) = (
                simulated_bps(&scenario, 1),
                played(&exchange, stations, false),
            );
            let off = ours / theirs - 1.0;
            assert!(
                off.abs() < 0.01,
                "{bss} x{stations}: simulated {ours:.0}, Monte-Carlo {theirs:.0}, {:+.2} %",
                off * 100.0
            );
        }
    }
}

#[test]
fn bianchi_holds_to_its_own_error() {
    for (bss, exchange, seconds) in [(A54, exchange_a54(), 10.0), (B11, exchange_b11(), 40.0)] {
        for stations in [2, 5, 10, 20] {
            let scenario = uplink(bss, stations, "", &udp(1_472), seconds);
            let ours = simulated_bps(&scenario, 2);
            let chain = bianchi(&exchange, stations, 8, CollisionTime::FrameAndSpace);
            let off = chain.throughput_bps(&exchange, 1_472) / ours - 1.0;
            assert!(off.abs() < 0.03, "{bss} x{stations}: {off}");
        }
    }
}

#[test]
fn a_txop_goes_on_after_its_block_ack_request() {
    // Two voice stations: a TXOP of 2080 us holds data and response, and after a collision the
    // BlockAckReq, its BlockAck and the data that fit behind them (10.23.2.9, 10.25.6.3).
    const TXOP_US: u64 = 2_080;
    let v = TxVector::of_mcs(
        Generation::N,
        7,
        1,
        Width::Mhz20,
        GuardInterval::Ns800,
        Band::Ghz5,
    )
    .unwrap();
    let basic = BasicRates::ofdm_default();
    let edca = edca_parameters(AccessCategory::Voice, &TimingSet::OFDM, false);
    let timing = TimingSet {
        cw_min: edca.cw_min,
        cw_max: edca.cw_max,
        ..TimingSet::OFDM
    };
    let bar = airtime(
        &TxVector::ofdm(OfdmRate::M24, Band::Ghz5),
        BLOCK_ACK_REQ_OCTETS,
    );
    for payload in [500, 1_472] {
        let mpdu = payload + 28 + 8 + 30;
        let spacing = MpduSpacing::default();
        let exchange = |room: Duration| {
            let fits = |n: &u32| {
                let response = Duration::from_micros(16 + 32);
                airtime(&v, ampdu_octets(mpdu, *n, spacing)) + response <= room
            };
            let count = (1..64).take_while(fits).last().unwrap();
            Exchange::aggregate(
                &v,
                basic,
                &timing,
                mpdu,
                ampdu_octets(mpdu, count, spacing),
                64,
                spacing,
            )
            .under_edca(&timing, edca.aifsn)
        };
        let whole = exchange(Duration::from_micros(TXOP_US));
        let request = bar + whole.response;
        let sifs = timing.sifs;
        let shorter = exchange(Duration::from_micros(TXOP_US) - request - sifs);
        let rules = Rules {
            stations: 2,
            attempts: 7,
            exchanges: 400_000,
            block_ack_request: Some([bar, request]),
            after_request: Some((sifs + shorter.busy(), shorter.msdus)),
            seed: 1,
        };
        let per_s = monte_carlo(&whole, rules).exchanges_per_s;
        let theirs = per_s * f64::from(whole.msdus) * f64::from(payload) * 8.0;
        let bss = r#""standard":"802.11n","rate":{"control":"fixed_mcs","mcs":7},
            "aggregation":{"ampdu_max_octets":65535}"#;
        let node = r#","queue":{"packets":500,"max_delay_ms":null}"#;
        let flow = format!(r#""access_category":"voice",{}"#, udp(payload));
        let ours = simulated_bps(&uplink(bss, 2, node, &flow, 30.0), 1);
        let off = ours / theirs - 1.0;
        assert!(off.abs() < 0.015, "{payload}: {ours:.0} {theirs:.0}");
    }
}

#[test]
fn aggregates_that_collide_meet_the_monte_carlo() {
    let v = TxVector::of_mcs(
        Generation::Ax,
        11,
        1,
        Width::Mhz80,
        GuardInterval::Ns800,
        Band::Ghz5,
    )
    .unwrap();
    let basic = BasicRates::ofdm_default();
    assert_eq!(control_response(&v, basic).bit_rate().0, 24_000_000);
    let exchange = Exchange::aggregate(
        &v,
        basic,
        &TimingSet::OFDM,
        1_538,
        65_535,
        256,
        MpduSpacing::default(),
    )
    .under_edca(&TimingSet::OFDM, 3);
    let bss = format!(r#"{AX80},"aggregation":{{"ampdu_max_octets":65535}}"#);
    for stations in [2, 5, 10, 20] {
        // The Monte-Carlo has no MSDU lifetime.
        let node = r#","queue":{"packets":500,"max_delay_ms":null}"#;
        let scenario = uplink(&bss, stations, node, &udp(1_472), 20.0);
        let (ours, theirs) = (
            simulated_bps(&scenario, 1),
            played(&exchange, stations, true),
        );
        let off = ours / theirs - 1.0;
        assert!(
            off.abs() < 0.015,
            "x{stations}: simulated {ours:.0}, Monte-Carlo {theirs:.0}, {:+.2} %",
            off * 100.0
        );
    }
}

#[test]
fn equal_stations_share_fairly() {
    for stations in [2, 20] {
        let scenario = uplink(A54, stations, "", &udp(1_472), 60.5);
        let outcome = run(&scenario, 3, &mut || false).unwrap();
        let shares: Vec<f64> = outcome
            .rows
            .iter()
            .filter(|r| r.metric == "throughput_bps" && r.flow.is_some() && r.second.is_none())
            .map(|r| r.value)
            .collect();
        let (sum, squares) = shares
            .iter()
            .fold((0.0, 0.0), |(s, q), x| (s + x, q + x * x));
        let jain = sum * sum / (f64::from(stations) * squares);
        assert!(jain >= 0.99, "x{stations}: {jain}");
    }
}

#[test]
fn tcp_stays_within_its_bounds() {
    let tcp = |options: &str| {
        format!(
            r#""transport":{{"protocol":"tcp"{options}}},
            "pattern":{{"type":"saturated","payload_octets":1460}}"#
        )
    };
    let g54 = A54.replace("802.11a", "802.11g");
    for bss in [A54, B11, g54.as_str()] {
        for options in ["", r#","delayed_ack_segments":1"#] {
            let scenario = uplink(bss, 1, "", &tcp(options), 30.0);
            let bounds = analytic(&scenario)[0].throughput.unwrap();
            assert_eq!(bounds.method, Method::TcpBounds);
            let ours = simulated_bps(&scenario, 1);
            assert!(
                bounds.lower_bps <= ours && ours <= bounds.upper_bps,
                "{bss} {options}: {ours} not in {bounds:?}"
            );
        }
    }
}

/// The stations of two neighbours beside those of a cell, all of which hear one another.
fn with_neighbours(scenario: &Scenario, cells: u32, stations: u32) -> Scenario {
    let mut json = serde_json::to_value(scenario).unwrap();
    for cell in 0..cells {
        let name = format!("n{cell}");
        let mut bss = json["bss"][0].clone();
        bss["name"] = name.clone().into();
        bss["neighbour"] = serde_json::json!({"level_dbm": -75.0});
        json["bss"].as_array_mut().unwrap().push(bss);
        let mut ap = json["nodes"][0].clone();
        ap["name"] = format!("{name}/ap").into();
        ap["bss"] = name.clone().into();
        ap["role"] = "access_point".into();
        json["nodes"].as_array_mut().unwrap().push(ap);
        for station in 0..stations {
            let (mut node, mut flow) = (json["nodes"][0].clone(), json["flows"][0].clone());
            node["name"] = format!("{name}/{station}").into();
            node["bss"] = name.clone().into();
            flow["name"] = node["name"].clone();
            flow["source"] = node["name"].clone();
            flow["destination"] = format!("{name}/ap").into();
            json["nodes"].as_array_mut().unwrap().push(node);
            json["flows"].as_array_mut().unwrap().push(flow);
        }
    }
    Scenario::from_json(&json.to_string()).unwrap()
}

#[test]
fn saturated_neighbours_leave_the_share_of_bianchi() {
    // The saturation throughput of all stations (Bianchi 2000), shared equally among them.
    for (bss, own, cells, theirs, seconds) in [
        (A54, 3, 1, 3, 200.0),
        (A54, 5, 2, 5, 200.0),
        (B11, 6, 1, 4, 200.0),
    ] {
        let alone = uplink(bss, own, "", &udp(1_472), seconds);
        let all = uplink(bss, own + cells * theirs, "", &udp(1_472), seconds);
        let share = f64::from(own) / f64::from(own + cells * theirs);
        let theory = analytic_bps(&all) * share;
        let ours = simulated_bps(&with_neighbours(&alone, cells, theirs), 1);
        let off = ours / theory - 1.0;
        assert!(off.abs() < 0.025, "{bss} {own} {cells} {theirs}: {off:+.4}");
    }
}

#[test]
fn spaced_mpdus_meet_the_closed_form_in_both_directions() {
    const N40: &str = r#""standard":"802.11n","width_mhz":40,"guard_interval_ns":400,"band":"2.4ghz",
        "rate":{"control":"fixed_mcs","mcs":7}"#;
    const DELIMITERS: &str = r#""cipher_delimiters":[{"cipher":"ccmp-128","count":10}]"#;
    let cell = |bss: &str, station: &str, access_point: &str, up: bool, payload: u32| {
        let ends = if up { ["s0", "ap"] } else { ["ap", "s0"] };
        let json = format!(
            r#"{{"duration_s":1.5,"warm_up_s":0.5,"bss":[{{"name":"c",{bss}}}],
            "nodes":[{{"name":"s0","role":"station","bss":"c","cipher":"ccmp-128"{station}}},
            {{"name":"ap","role":"access_point","bss":"c"{access_point}}}],
            "flows":[{{"name":"f","source":"{}","destination":"{}",{}}}]}}"#,
            ends[0],
            ends[1],
            udp(payload)
        );
        Scenario::from_json(&json).unwrap_or_else(|e| panic!("{e}: {json}"))
    };
    let spacing = |us: f64| format!(r#","mpdu_start_spacing_us":{us}"#);
    let delimiters = format!(",{DELIMITERS}");
    for up in [true, false] {
        for payload in [40, 256, 1_472] {
            let plain = cell(N40, "", "", up, payload);
            let whole = simulated_bps(&plain, 1);
            // The receiver's spacing and the sender's delimiters act, those of the other end do not.
            for (station, access_point, acts) in [
                (spacing(16.0), String::new(), !up && payload < 256),
                (String::new(), spacing(16.0), up && payload < 256),
                (delimiters.clone(), String::new(), up),
                (String::new(), delimiters.clone(), !up),
                (spacing(8.0) + &delimiters, spacing(8.0) + &delimiters, true),
            ] {
                let spaced = cell(N40, &station, &access_point, up, payload);
                let case = format!("up {up} {payload} {station} {access_point}");
                hold(&case, &spaced, 0.005);
                let loss = 1.0 - simulated_bps(&spaced, 1) / whole;
                assert!(
                    if acts { loss > 0.005 } else { loss == 0.0 },
                    "{case}: {loss}"
                );
            }
        }
    }
    // Delimiters are those of a cipher: without it there are none.
    let mut open = cell(N40, &delimiters, &delimiters, true, 256);
    let mut plain = cell(N40, "", "", true, 256);
    for scenario in [&mut open, &mut plain] {
        scenario.nodes[0].cipher = airtoll_security::CipherSuite::Open;
    }
    assert_eq!(simulated_bps(&open, 1), simulated_bps(&plain, 1));
    // A PHY without A-MPDUs refuses both, and so does an access point that sends none.
    let refused = |bss: &str, station: &str| {
        let node = format!(r#"{station},"cipher":"ccmp-128""#);
        let text = format!(
            r#"{{"duration_s":1,"bss":[{{"name":"c",{bss}}}],
            "nodes":[{{"name":"s0","role":"station","bss":"c"{node}}},
            {{"name":"ap","role":"access_point","bss":"c"}}],
            "flows":[{{"name":"f","source":"s0","destination":"ap",{}}}]}}"#,
            udp(256)
        );
        Scenario::from_json(&text).unwrap_err().to_string()
    };
    let alone = format!(r#"{N40},"aggregation":{{"ampdu_max_octets":0}}"#);
    for bss in [A54, alone.as_str()] {
        assert!(refused(bss, &spacing(4.0)).contains("mpdu_start_spacing_us"));
        assert!(refused(bss, &delimiters).contains("cipher_delimiters"));
    }
    assert!(refused(N40, &spacing(3.0)).contains("0, 0.25, 0.5, 1, 2, 4, 8 or 16"));
    assert!(refused(N40, &delimiters.replace("ccmp-128", "tkip")).contains("cipher"));
    assert!(refused(N40, &delimiters.replace("10", "0")).contains("1 to 255"));
}

#[test]
fn delimiters_of_a_cipher_are_octets_and_time_of_security() {
    let cell = |count: u32| {
        let own = format!(
            r#","cipher":"ccmp-128","cipher_delimiters":[{{"cipher":"ccmp-128","count":{count}}}]"#
        );
        let n = r#""standard":"802.11n","rate":{"control":"fixed_mcs","mcs":7}"#;
        let outcome = run(&uplink(n, 1, &own, &udp(256), 2.0), 1, &mut || false).unwrap();
        let row = |metric: &str| outcome.value(metric, None).unwrap();
        let packets = row("octets_payload") / 256.0;
        (
            row("octets_security") / packets,
            row("airtime_security_s") / packets,
        )
    };
    let (one, ten) = (cell(1), cell(10));
    // 16 octets of CCMP, and delimiters after 63 of 64 MPDUs.
    for (found, count) in [(one, 1.0), (ten, 10.0)] {
        let octets = 16.0 + count * 4.0 * 63.0 / 64.0;
        assert!((found.0 - octets).abs() < 0.1, "{found:?}");
        assert!((found.1 - octets * 8.0 / 65e6).abs() < 2e-8, "{found:?}");
    }
}
