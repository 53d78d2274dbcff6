//! Interferers: nodes defer to loud ones, and quiet ones cost frames.

use super::*;
use crate::medium::FrameKind;
use crate::scenario::{Interferer, Presence};

const CYCLE_US: f64 = 20_000.0;

/// A source that is on for `duty` of each 20 ms.
fn oven(level_dbm: f64, duty: f64) -> Interferer {
    Interferer {
        channel: None,
        level_dbm,
        busy_from_dbm: -62.0,
        burst_us: CYCLE_US * duty,
        pause_us: CYCLE_US * (1.0 - duty),
        random: false,
        presence: None,
    }
}

fn beside(mut scenario: Scenario, interferer: Interferer) -> Scenario {
    scenario.radio.interferers.push(interferer);
    scenario
}

#[test]
fn a_loud_source_leaves_the_rest_of_the_time() {
    for (bss, payload) in [(A54, 1472), (A54, 100), (B11, 1472), (N40, 1472)] {
        for duty in [0.25, 0.5, 0.75] {
            let clear = uplink(1, bss, "", payload, 2.0);
            let whole = mbps(&simulate(&clear, 3));
            let outcome = simulate(&beside(clear.clone(), oven(-50.0, duty)), 3);
            let ratio = mbps(&outcome) / whole;
            // In each cycle one exchange may straddle the beginning of the burst, and the wait for
            // the medium starts anew at its end: both take no longer than the longest exchange.
            let exchange = frames(&clear).iter().map(|f| f.3).max().unwrap() as f64 / 1e3 + 800.0;
            let slack = exchange / CYCLE_US;
            let off = (ratio - (1.0 - duty)).abs();
            assert!(off <= slack, "{bss} {duty}: {ratio}");
            let waited = total(&outcome, "airtime_interference_s") / 2.0;
            assert!(waited <= duty + 0.01, "{bss} {duty}: {waited}");
            assert!(waited >= duty - slack, "{bss} {duty}: {waited}");
        }
    }
}

#[test]
fn no_exchange_begins_during_a_burst_that_is_heard() {
    let scenario = beside(uplink(3, A54, "", 1472, 1.0), oven(-60.0, 0.5));
    let mut phases: Vec<u64> = frames(&scenario)
        .iter()
        .filter(|f| f.2 == FrameKind::Data as u64)
        .map(|f| f.0 % 20_000_000)
        .collect();
    assert!(phases.len() > 1_000);
    phases.sort_unstable();
    phases.push(phases[0] + 20_000_000);
    let widest = phases.windows(2).map(|w| w[1] - w[0]).max().unwrap();
    // The burst, and DIFS (34 us) after it; a contender whose slot ends with the first instant of the
    // burst has not noticed it.
    assert!(widest >= 10_034_000 - 1_000, "{widest}");
}

#[test]
fn a_quiet_source_costs_the_frames_that_it_overlaps() {
    // 45 dB over the source all frames arrive; at 10 dB none at 54 Mb/s does.
    let at = |level: f64| {
        let mut scenario = beside(uplink(1, A54, "", 1472, 2.0), oven(level, 0.5));
        scenario.radio.path_loss = crate::scenario::PathLoss::Constant { loss_db: 80.0 };
        simulate(&scenario, 3)
    };
    let (none, some) = (at(-140.0), at(-75.0));
    assert_eq!(total(&none, "airtime_retry_s"), 0.0);
    assert_eq!(total(&some, "airtime_interference_s"), 0.0);
    // Nodes go on sending; the contention window grows, so that far less than the second is on the air.
    let retry = total(&some, "airtime_retry_s");
    assert!((0.1..0.5).contains(&retry), "{retry}");
    // About six attempts fail in a burst of 10 ms. The back-off of 511 or 1023 slots that is drawn then
    // takes 2 to 4 ms of the pause of 10 ms.
    let ratio = mbps(&some) / mbps(&none);
    assert!((0.28..0.42).contains(&ratio), "{ratio}");
}

#[test]
fn an_aggregate_loses_the_mpdus_that_a_burst_overlaps() {
    let mut scenario = uplink(1, N40, "", 1472, 2.0);
    scenario.radio.path_loss = crate::scenario::PathLoss::Constant { loss_db: 75.0 };
    let burst = Interferer {
        burst_us: 50.0,
        pause_us: 9_950.0,
        ..oven(-63.0, 0.5)
    };
    let outcome = simulate(&beside(scenario, burst), 3);
    // Bursts of 50 us touch at most two MPDUs of 90 us: 200 of them, and no whole aggregate of 64 KB.
    let each = total(&outcome, "octets_retry") / 200.0;
    assert!((200.0..4_000.0).contains(&each), "{each}");
}

#[test]
fn what_cannot_be_heard_changes_nothing() {
    for (i, scenario) in varied().into_iter().enumerate() {
        let clear = simulate(&scenario, 9);
        let mut faint = simulate(&beside(scenario, oven(-150.0, 0.5)), 9);
        faint.rows.retain(|r| r.metric != "airtime_interference_s");
        assert_eq!(clear, faint, "scenario {i}");
    }
}

#[test]
fn the_ledger_adds_up_beside_interferers() {
    let away = Presence {
        present_s: 0.2,
        absent_s: 0.2,
    };
    for (i, mut scenario) in varied().into_iter().enumerate() {
        for (level, random) in [(-40.0, false), (-40.0, true), (-70.0, true)] {
            scenario.radio.interferers = vec![
                Interferer {
                    random,
                    ..oven(level, 0.3)
                },
                Interferer {
                    random: !random,
                    presence: Some(away),
                    ..oven(level, 0.1)
                },
            ];
            let mut world = world_after(&scenario, 3);
            let _ = world.outcome();
            assert_eq!(
                world.stack.lower.cx.observers.ledger().total(),
                Duration::from_secs_f64(scenario.duration_s),
                "scenario {i}"
            );
        }
    }
}

#[test]
fn nonsense_is_refused_by_name() {
    let refused = |change: fn(&mut Interferer)| {
        let mut one = oven(-50.0, 0.5);
        change(&mut one);
        let scenario = beside(uplink(1, A54, "", 1472, 1.0), one);
        scenario.check().unwrap_err().to_string()
    };
    assert!(refused(|i| i.burst_us = 0.0).contains("radio.interferers[0].burst_us"));
    assert!(refused(|i| i.pause_us = f64::NAN).contains("pause_us"));
    assert!(refused(|i| i.level_dbm = 50.0).contains("level_dbm"));
    assert!(refused(|i| i.channel = Some(9)).contains("the channel of a BSS"));
    let mut ideal = beside(uplink(1, A54, "", 1472, 1.0), oven(-50.0, 0.5));
    ideal.radio.frame_errors = false;
    let problem = ideal.check().unwrap_err().to_string();
    assert!(problem.contains("frame_errors"), "{problem}");
}
