//! Stations that do not hear one another.

use super::*;
use crate::medium::FrameKind;

/// Saturated stations of which none hears another.
fn apart(bss: &str, n: usize, payload: u32, seconds: f64) -> Scenario {
    let mut scenario = uplink(n, bss, "", payload, seconds);
    scenario.radio.path_loss = crate::scenario::PathLoss::Constant { loss_db: 40.0 };
    for a in 0..n {
        for b in 0..a {
            scenario
                .radio
                .hidden
                .push([format!("s{b}"), format!("s{a}")]);
        }
    }
    scenario
}

/// A station sends long A-MPDUs, and another one, which does not hear it, short frames: nearly all of
/// these, and the BlockAckReqs after them, begin in the middle of an A-MPDU of 5 ms. Gives goodput (Mb/s),
/// lost octets, and how many frames the other one sent.
fn beside_short_frames(frames_per_second: f64) -> (f64, f64, usize) {
    let bss = r#""standard": "802.11n", "rate": {"control": "fixed_mcs", "mcs": 7}"#;
    let mut scenario = apart(bss, 2, 1472, 10.0);
    scenario.flows[1].pattern = serde_json::from_value(serde_json::json!({
        "type": "paced", "payload_octets": 64, "rate_bps": 8.0 * 64.0 * frames_per_second,
    }))
    .unwrap();
    let short = frames(&scenario).iter().filter(|f| f.1 == 1).count();
    let mut world = world_after(&scenario, 5);
    let outcome = world.outcome();
    assert_eq!(
        world.stack.lower.cx.observers.ledger().total(),
        Duration::from_secs(10)
    );
    (mbps(&outcome), total(&outcome, "octets_retry"), short)
}

#[test]
fn a_late_frame_destroys_the_mpdus_that_it_overlaps() {
    let (alone, ..) = beside_short_frames(0.001);
    let (beside, lost_octets, short) = beside_short_frames(5.0);
    // A frame of 44 to 52 us touches two MPDUs of 190 us at most, and is lost itself. Of an A-MPDU of
    // 28 MPDUs that is lost as a whole, 43,000 octets would be lost.
    assert!(short > 300, "{short}");
    let each = lost_octets / short as f64;
    assert!((1_000.0..3_500.0).contains(&each), "{each}");
    assert!(
        beside > alone * 0.8 && beside < alone * 0.99,
        "{beside} {alone}"
    );
}

#[test]
fn an_rts_that_nothing_overlaps_is_answered() {
    // EIFS after the overlap of two others' frames, and the reservation of an exchange of its own that
    // failed, do not keep an access point from sending a CTS.
    let bss = format!(r#"{A54}, "rts_threshold_octets": 0"#);
    let frames = frames(&apart(&bss, 3, 256, 5.0));
    let (mut clear, mut overlapped) = (0, 0);
    for (i, (start, node, kind, length)) in frames.iter().enumerate() {
        if *kind != FrameKind::Rts as u64 {
            continue;
        }
        let cts_at = start + length + 16_000;
        let beside = |other: &&(u64, u64, u64, u64)| {
            other.1 != *node && other.0 < cts_at && other.0 + other.3 > *start
        };
        let near = &frames[i.saturating_sub(8)..(i + 8).min(frames.len())];
        if near.iter().any(|f| beside(&f)) || cts_at > 4_990_000_000 {
            overlapped += 1;
            continue;
        }
        clear += 1;
        let answer = near.iter().find(|f| f.0 == cts_at);
        assert_eq!(answer.map(|f| f.2), Some(FrameKind::Cts as u64), "{start}");
    }
    assert!(clear > 10_000 && overlapped > 1_000, "{clear} {overlapped}");
}

#[test]
fn a_station_below_carrier_sense_keeps_its_interframe_spaces() {
    // Acknowledgements of TCP are due during an A-MPDU that their station does not sense: their
    // back-off begins then, and not when it last sensed something.
    let flow = r#"{"name": "tcp", "station": "s0", "source": "server", "destination": "s0",
        "transport": {"protocol": "tcp"}, "pattern": {"type": "saturated", "payload_octets": 1460}}"#;
    let station = r#"{"name": "s0", "role": "station", "bss": "cell"},"#;
    for standard in ["802.11n", "802.11ac", "802.11ax"] {
        let bss =
            format!(r#""standard": "{standard}", "rate": {{"control": "fixed_mcs", "mcs": 0}}"#);
        let mut scenario = cell(&bss, station, flow, 1.0);
        let sensed = mbps(&simulate(&scenario, 1));
        for level_dbm in [-82.5, -85.0, -87.0] {
            scenario.radio.budgets = vec![crate::scenario::LinkBudget {
                nodes: ["s0", "ap"].map(str::to_owned),
                bss: None,
                loss_db: None,
                rssi_dbm: Some(level_dbm),
            }];
            for seed in 1..4 {
                let mut world = world_after(&scenario, seed);
                let rate = mbps(&world.outcome());
                assert_eq!(
                    world.stack.lower.cx.observers.ledger().total(),
                    Duration::from_secs(1)
                );
                // Each end sends over what the other one sends: A-MPDUs and acknowledgements collide.
                assert!(
                    (0.1..0.7).contains(&(rate / sensed)),
                    "{standard}: {rate} of {sensed}"
                );
            }
            // AIFS of best effort: 16 + 3 x 9 us after all that the station sent itself.
            let (mut own_end, mut sent) = (0, 0);
            for (at, node, kind, length) in frames(&scenario) {
                if node == 0 {
                    let data = kind == FrameKind::Data as u64;
                    assert!(
                        !data || sent == 0 || at >= own_end + 43_000,
                        "{standard}: {at}"
                    );
                    own_end = at + length;
                    sent += u64::from(data);
                }
            }
            assert!(sent > 20, "{standard}: {sent}");
        }
    }
}
