//! PPDUs of several stations.

use super::*;
use crate::medium::FrameKind;
use crate::scenario::{Fading, Flow, PathLoss};

const AX20: &str = r#""standard": "802.11ax", "rate": {"control": "fixed_mcs", "mcs": 7}"#;
const BOTH: &str = r#""ofdma": {}"#;

/// A cell in which every station gets or sends, or both, UDP of `pattern`.
fn voices(n: usize, bss: &str, node: &str, directions: &[bool], pattern: &str, s: f64) -> Scenario {
    let stations: String = (0..n)
        .map(|i| format!(r#"{{"name": "s{i}", "role": "station", "bss": "cell"{node}}},"#))
        .collect();
    let mut flows = Vec::new();
    for i in 0..n {
        for up in directions {
            let (from, to) = if *up {
                (format!("s{i}"), "server".to_owned())
            } else {
                ("server".to_owned(), format!("s{i}"))
            };
            flows.push(format!(
                r#"{{"name": "f{i}{up}", "station": "s{i}", "source": "{from}", "destination": "{to}",
                "transport": {{"protocol": "udp"}}, "pattern": {pattern}}}"#
            ));
        }
    }
    cell(bss, &stations, &flows.join(","), s)
}

/// 100 octets every 20 ms.
const VOICE: &str = r#"{"type": "paced", "payload_octets": 100, "rate_bps": 40000}"#;
const FULL: &str = r#"{"type": "saturated", "payload_octets": 100}"#;

fn with(bss: &str, ofdma: &str) -> String {
    format!("{bss}, {ofdma}")
}

fn of_kind(frames: &[(u64, u64, u64, u64)], kind: FrameKind) -> Vec<(u64, u64, u64)> {
    let own = frames.iter().filter(|f| f.2 == kind as u64);
    own.map(|f| (f.0, f.1, f.3)).collect()
}

/// One MPDU in the PPDU of each user.
const LONE: &str = r#""standard": "802.11ax", "rate": {"control": "fixed_mcs", "mcs": 7},
    "aggregation": {"window": 1}"#;

#[test]
fn a_ppdu_to_four_stations_lasts_as_computed_by_hand() {
    let down = with(LONE, r#""ofdma": {"uplink": false}"#);
    let node = r#", "cipher": "ccmp-128""#;
    let frames = frames(&voices(4, &down, node, &[false], FULL, 0.2));
    let shared = of_kind(&frames, FrameKind::MultiUser);
    let answers = of_kind(&frames, FrameKind::Triggered);
    assert!(shared.len() > 100 && answers.len() > 400);
    // Datagrams of 128 octets, 8 + 26 + 16 + 4 around them: 182, with a delimiter and padding 188; a delimiter
    // and 37 of the MU-BAR: 229. 52 tones take 240 bits a symbol of 13.6 us: 22 + 8 x 229 bits in 8. Preamble:
    // 36 us, 4 us of HE-SIG-B and 7.2 us of training.
    for (at, _, length) in shared.iter().skip(1).take(100) {
        assert_eq!(*length, 47_200 + 8 * 13_600);
        // BlockAcks of 32 octets with a delimiter: 22 + 8 x 36 bits in 2 symbols of 14.4 us.
        let after = answers.iter().filter(|f| f.0 == at + length + 16_000);
        let lengths: Vec<u64> = after.map(|f| f.2).collect();
        assert_eq!(lengths, [48_000 + 2 * 14_400; 4]);
    }
    assert!(of_kind(&frames, FrameKind::Trigger).is_empty());
}

#[test]
fn data_are_handed_up_before_the_mu_bar_behind_them_ends() {
    let down = with(LONE, r#""ofdma": {"uplink": false}"#);
    let mut scenario = voices(4, &down, "", &[false], VOICE, 4.0);
    for flow in &mut scenario.flows {
        "ap".clone_into(&mut flow.source);
    }
    let outcome = simulate(&scenario, 1);
    let delay_us = total(&outcome, "delay_s") / 4.0 * 1e6;
    // An A-MPDU subframe of 172 octets: 16 + 8 x 172 bits end in the sixth symbol of eight. The wait for a slot
    // boundary is 4.5 us in the mean.
    let end_us = 47.2 + 6.0 * 13.6;
    assert!(
        (end_us..end_us + 9.0).contains(&delay_us),
        "{delay_us} {end_us}"
    );
}

#[test]
fn a_triggered_exchange_lasts_as_computed_by_hand() {
    let up = with(LONE, r#""ofdma": {"downlink": false}"#);
    let frames = frames(&voices(4, &up, "", &[true], FULL, 0.5));
    let triggers = of_kind(&frames, FrameKind::Trigger);
    let answers = of_kind(&frames, FrameKind::Triggered);
    let ends = of_kind(&frames, FrameKind::MultiAck);
    let settled: Vec<_> = triggers.iter().filter(|f| f.0 > 100_000_000).collect();
    assert!(settled.len() > 100);
    for (at, _, length) in &settled[..100] {
        // 28 + 4 x 6 octets at 24 Mb/s: 22 + 416 bits in 5 symbols.
        assert_eq!(*length, 20_000 + 5 * 4_000);
        let data: Vec<_> = answers
            .iter()
            .filter(|f| f.0 == at + length + 16_000)
            .collect();
        // 128 octets, 8 + 30 + 4 around them and 2 of padding, at 240 bits a symbol of 14.4 us: 6.
        let lengths: Vec<u64> = data.iter().map(|f| f.2).collect();
        assert_eq!(lengths, [48_000 + 6 * 14_400; 4]);
        let end = ends
            .iter()
            .find(|f| f.0 == data[0].0 + data[0].2 + 16_000)
            .unwrap();
        // 22 octets and 2 for each lone MPDU, at 24 Mb/s: 22 + 240 bits in 3 symbols.
        assert_eq!(end.2, 20_000 + 3 * 4_000);
    }
}

#[test]
fn the_ledger_adds_up_and_octets_are_booked_once() {
    for (n, bss, ofdma, directions, pattern) in [
        (2, AX20, BOTH, &[true, false][..], FULL),
        (12, AX20, BOTH, &[true, false], VOICE),
        (8, AX80, BOTH, &[false], FULL),
        (20, AX80, BOTH, &[true], FULL),
        (
            9,
            AX20,
            r#""ofdma": {"uplink": false}"#,
            &[true, false],
            FULL,
        ),
        (
            9,
            AX20,
            r#""ofdma": {"downlink": false, "mu_edca_timer_us": 0}"#,
            &[true, false],
            FULL,
        ),
    ] {
        let far_db = if bss == AX80 { 74.0 } else { 88.0 };
        let paths = Fading {
            k_db: None,
            coherence_us: 25_000.0,
            delay_spread_ns: 50.0,
        };
        for (loss_db, fading) in [(60.0, None), (far_db, None), (far_db - 10.0, Some(paths))] {
            let node = r#", "cipher": "ccmp-128""#;
            let mut scenario = voices(n, &with(bss, ofdma), node, directions, pattern, 1.0);
            scenario.radio.path_loss = PathLoss::Constant { loss_db };
            scenario.radio.fading = fading;
            let mut world = world_after(&scenario, 3);
            let outcome = world.outcome();
            let booked = world.stack.lower.cx.observers.ledger().total();
            assert_eq!(
                booked,
                Duration::from_secs(1),
                "{n} {bss} {ofdma} {loss_db}"
            );
            let received = total(&outcome, "packets_received");
            assert!(received > 50.0, "{n} {bss} {ofdma} {loss_db}: {received}");
            let delivered = total(&outcome, "octets_payload") / 100.0;
            // Octets are booked when an exchange ends. The last one may have passed on the packets of all
            // stations before, and packets may be on the wire: the difference does not grow with time. A missing
            // MPDU holds back those of its station behind it, which then overflow the wire's queue.
            // Senders behind the wire count there what their own queue refuses, which was never on the air.
            let full = match directions {
                [true] => total(&outcome, "packets_lost_full"),
                _ => 0.0,
            };
            let on_the_way = 700.0_f64.max(75.0 * n as f64);
            let between = -on_the_way..full + on_the_way;
            assert!(
                between.contains(&(delivered - received)),
                "{n} {ofdma}: {delivered} {received} {full}"
            );
        }
    }
}

#[test]
fn all_voices_arrive_with_and_without() {
    for n in [2, 8, 16, 32] {
        for ofdma in [r#""ofdma": null"#, BOTH] {
            let scenario = voices(n, &with(AX20, ofdma), "", &[true, false], VOICE, 3.0);
            let outcome = simulate(&scenario, 1);
            let sent = total(&outcome, "packets_sent");
            let received = total(&outcome, "packets_received");
            assert!(
                sent - received < 0.02 * sent,
                "{n} {ofdma}: {received} of {sent}"
            );
        }
    }
}

#[test]
fn many_voices_take_less_of_the_air() {
    let busy = |ofdma: &str| {
        let outcome = simulate(
            &voices(32, &with(AX20, ofdma), "", &[true, false], VOICE, 3.0),
            1,
        );
        3.0 - total(&outcome, "airtime_idle_s")
    };
    let (without, with) = (busy(r#""ofdma": null"#), busy(BOTH));
    assert!(with < 0.8 * without, "{with} {without}");
}

#[test]
fn a_longer_cipher_never_takes_less_of_the_air() {
    for n in [2, 8, 20] {
        let security = |cipher: &str| {
            let node = format!(r#", "cipher": "{cipher}""#);
            let scenario = voices(n, &with(AX20, BOTH), &node, &[true, false], FULL, 1.0);
            let outcome = simulate(&scenario, 1);
            let share = total(&outcome, "octets_security") / total(&outcome, "octets_payload");
            (share, mbps(&outcome))
        };
        let (open, ccmp, gcmp) = (security("open"), security("ccmp-128"), security("gcmp-256"));
        assert_eq!(open.0, 0.0);
        assert_eq!((ccmp.0, gcmp.0), (0.16, 0.24));
        assert!(
            open.1 > ccmp.1 && ccmp.1 > gcmp.1,
            "{n}: {open:?} {ccmp:?} {gcmp:?}"
        );
    }
}

#[test]
fn triggered_stations_contend_no_more() {
    let up = with(AX20, r#""ofdma": {"downlink": false}"#);
    let frames = frames(&voices(6, &up, "", &[true], FULL, 1.5));
    let alone = of_kind(&frames, FrameKind::Data);
    let late = alone.iter().filter(|f| f.0 > 200_000_000).count();
    assert!(!alone.is_empty());
    assert_eq!(late, 0);
    // Without the timer they do.
    let up = with(
        AX20,
        r#""ofdma": {"downlink": false, "mu_edca_timer_us": 0}"#,
    );
    let frames = super::frames(&voices(6, &up, "", &[true], FULL, 1.5));
    assert!(of_kind(&frames, FrameKind::Data).len() > 50);
}

#[test]
fn a_station_that_is_not_asked_contends_again() {
    // It sends for a second, and again when its timer is over.
    let up = with(
        AX20,
        r#""ofdma": {"downlink": false, "mu_edca_timer_us": 100000}"#,
    );
    let scenario = voices(3, &up, "", &[true], VOICE, 1.0);
    let pause = |flow: &mut Flow| flow.stop_s = Some(0.2);
    let mut stopped = scenario.clone();
    stopped.flows.iter_mut().for_each(pause);
    let outcome = simulate(&stopped, 2);
    assert_eq!(total(&outcome, "packets_lost"), 0.0);
    let frames = super::frames(&stopped);
    // The access point asks no station any more.
    assert!(
        of_kind(&frames, FrameKind::Trigger)
            .iter()
            .all(|f| f.0 < 400_000_000)
    );
}

#[test]
fn values_that_cannot_act_are_refused() {
    let refused = |bss: &str, node: &str, allowed: &str| {
        let text = voices_json(3, bss, node);
        let error = Scenario::from_json(&text)
            .and_then(|s| s.check())
            .unwrap_err();
        assert!(error.to_string().contains(allowed), "{error}");
    };
    let ac = r#""standard": "802.11ac", "rate": {"control": "fixed_mcs", "mcs": 7}"#;
    refused(&with(ac, BOTH), "", "only from 802.11ax on");
    let be160 =
        r#""standard": "802.11be", "width_mhz": 160, "rate": {"control": "fixed_mcs", "mcs": 7}"#;
    refused(&with(be160, BOTH), "", "only up to 80 MHz");
    let nothing = r#""ofdma": {"downlink": false, "uplink": false}"#;
    refused(&with(AX20, nothing), "", "with downlink or uplink");
    let poll = r#""ofdma": {"poll_interval_us": 0}"#;
    refused(&with(AX20, poll), "", "above zero");
    let rts = r#""rts_threshold_octets": 100, "ofdma": {}"#;
    refused(&with(AX20, rts), "", "MU-RTS");
    let old = r#", "standard": "802.11ac", "rate": {"control": "fixed_mcs", "mcs": 7}"#;
    refused(&with(AX20, BOTH), old, "at least two stations");
    let one = voices_json(1, &with(AX20, BOTH), "");
    let error = Scenario::from_json(&one)
        .and_then(|s| s.check())
        .unwrap_err();
    assert!(error.to_string().contains("at least two"), "{error}");
}

fn voices_json(n: usize, bss: &str, node: &str) -> String {
    let stations: String = (0..n)
        .map(|i| format!(r#"{{"name": "s{i}", "role": "station", "bss": "cell"{node}}},"#))
        .collect();
    format!(
        r#"{{"duration_s": 1, "bss": [{{"name": "cell", {bss}}}],
        "nodes": [{stations} {{"name": "ap", "role": "access_point", "bss": "cell"}},
            {{"name": "server", "role": "wired"}}],
        "links": [{{"nodes": ["ap", "server"], "rate_bps": 1e9}}],
        "flows": [{{"name": "f", "station": "s0", "source": "s0", "destination": "server",
            "transport": {{"protocol": "udp"}}, "pattern": {VOICE}}}]}}"#
    )
}
