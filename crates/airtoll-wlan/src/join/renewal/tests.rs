//! New group keys during the traffic: recipients, duration, and the cost of a lost message.

use std::cell::RefCell;
use std::rc::Rc;

use airtoll_units::Instant;
use proptest::prelude::*;

use crate::join::tests::{Set, of_the_cell, policies, policy, scenario, trial};
use crate::record::{Key, Medium, Sink};
use crate::scenario::{Paced, Pattern, Scenario};
use crate::{ScenarioError, run, run_recorded};

fn renewing(name: &str, set: &Set, period_s: f64, duration_s: f64) -> Scenario {
    let mut scenario = scenario(&policy(name), set);
    scenario.duration_s = duration_s;
    scenario.bss[0].group_rekey_s = Some(period_s);
    scenario
}

#[test]
fn every_station_gets_every_key_in_two_messages() {
    for name in ["wpa-psk-tkip", "wpa2-psk-ccmp", "wpa3-sae", "tls"] {
        for stations in [1, 12] {
            let set = Set {
                stations,
                ..Set::default()
            };
            let outcome = trial(&renewing(name, &set, 0.2, 0.5), 2);
            assert_eq!(outcome.failure, None, "{name}");
            assert_eq!(of_the_cell(&outcome, "group_rekeys"), 2.0, "{name}");
            let messages = of_the_cell(&outcome, "group_rekey_messages");
            assert_eq!(messages, 4.0 * stations as f64, "{name}");
            let time = of_the_cell(&outcome, "group_rekey_time_s");
            assert!(
                (1e-4..2e-3 * (1.0 + stations as f64)).contains(&time),
                "{time}"
            );
            assert!(of_the_cell(&outcome, "group_rekey_longest_s") >= time);
        }
    }
}

#[test]
fn rounds_take_longer_with_more_stations_and_take_airtime() {
    let of = |stations, period| {
        let set = Set {
            stations,
            ..Set::default()
        };
        trial(&renewing("wpa2-psk-ccmp", &set, period, 0.5), 3)
    };
    let (few, many, none) = (of(2, 0.1), of(20, 0.1), of(20, 9.0));
    assert!(
        of_the_cell(&many, "group_rekey_time_s") > 4.0 * of_the_cell(&few, "group_rekey_time_s")
    );
    assert!(
        of_the_cell(&many, "airtime_management_s")
            > of_the_cell(&none, "airtime_management_s") + 0.02
    );
    assert_eq!(of_the_cell(&none, "group_rekeys"), 0.0);
}

#[test]
fn key_frames_overtake_the_data_of_a_saturated_queue() {
    let mut scenario = renewing("wpa2-psk-ccmp", &Set::default(), 0.1, 1.0);
    // The queue of the access point is always full.
    let flow = &mut scenario.flows[0];
    std::mem::swap(&mut flow.source, &mut flow.destination);
    scenario.flows[0].pattern = Pattern::Paced(Paced {
        payload_octets: 1400,
        rate_bps: 90e6,
        arrivals: Default::default(),
    });
    let outcome = trial(&scenario, 1);
    assert_eq!(outcome.failure, None);
    assert!(outcome.value("packets_lost", Some("s0")).unwrap() > 100.0);
    assert_eq!(of_the_cell(&outcome, "group_rekey_messages"), 18.0);
    assert!(of_the_cell(&outcome, "group_rekey_longest_s") < 0.02);
}

#[test]
fn a_lost_message_is_repeated_after_half_a_second_and_a_silent_station_has_to_rejoin() {
    // At this level some frames at the lowest rate are lost in all seven attempts.
    let set = |rssi_dbm| Set {
        rssi_dbm,
        ..Set::default()
    };
    let slow = (0..12)
        .map(|seed| trial(&renewing("wpa2-psk-ccmp", &set(-95.0), 2.0, 9.0), seed))
        .filter(|o| o.failure.is_none() && of_the_cell(o, "group_rekey_messages") > 8.0)
        .map(|o| of_the_cell(&o, "group_rekey_longest_s"))
        .collect::<Vec<_>>();
    assert!(!slow.is_empty());
    assert!(slow.iter().all(|t| *t > 0.5), "{slow:?}");
    let lost = (0..100)
        .map(|seed| trial(&renewing("wpa2-psk-ccmp", &set(-95.5), 4.0, 12.0), seed))
        .filter(|o| o.failure.is_none() && of_the_cell(o, "associations_lost") > 0.0)
        .collect::<Vec<_>>();
    assert!(!lost.is_empty());
    let back = lost.iter().filter(|o| of_the_cell(o, "rejoins") > 0.0);
    let gaps: Vec<f64> = back.map(|o| of_the_cell(o, "rejoin_gap_s")).collect();
    assert!(!gaps.is_empty());
    assert!(gaps.iter().all(|g| (1e-3..8.0).contains(g)), "{gaps:?}");
}

/// Frames on the air.
struct Frames(Rc<RefCell<Vec<Vec<u8>>>>);

impl Sink for Frames {
    fn interface(&mut self, medium: Medium, _: &str) -> u32 {
        u32::from(medium == Medium::Wire)
    }
    fn packet(&mut self, interface: u32, _: Instant, octets: &[u8]) {
        if interface == 0 {
            self.0.borrow_mut().push(octets.to_vec());
        }
    }
    fn key(&mut self, _: &Key) {}
}

#[test]
fn a_recorder_changes_nothing_and_sees_protected_key_frames() {
    let scenario = renewing("wpa2-psk-ccmp", &Set::default(), 0.2, 0.5);
    let frames = Rc::new(RefCell::new(Vec::new()));
    let sink = Box::new(Frames(frames.clone()));
    let recorded = run_recorded(&scenario, 4, &mut || false, sink).unwrap();
    assert_eq!(recorded, trial(&scenario, 4));
    let in_clear = frames
        .borrow()
        .iter()
        .filter(|f| f.windows(2).any(|w| w == [0x88, 0x8e]))
        .count();
    // The 4-way handshake, and no frame of the renewals.
    assert_eq!(in_clear, 4);
}

#[test]
fn a_policy_without_group_key_handshake_is_refused() {
    for name in ["open", "md5", "ipsec"] {
        let refused = run(&renewing(name, &Set::default(), 1.0, 2.0), 1, &mut || false);
        let Err(ScenarioError::Invalid { field, allowed, .. }) = refused else {
            panic!("{name}: {refused:?}");
        };
        assert_eq!(field, "bss[0].group_rekey_s");
        assert!(allowed.contains("no group key handshake"), "{allowed}");
    }
    let mut joined = renewing("wpa2-psk-ccmp", &Set::default(), 1.0, 2.0);
    joined.associations.clear();
    assert!(run(&joined, 1, &mut || false).is_err());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]
    #[test]
    fn equal_seeds_give_equal_rows(
        which in 0..10_usize,
        seed in 0..1000_u64,
        rssi in -94.0..-50.0_f64,
        period in 0.01..0.4_f64,
        stations in 1..4_usize,
    ) {
        let policy = &policies()[which];
        let set = Set { rssi_dbm: rssi, stations, ..Set::default() };
        let mut scenario = scenario(policy, &set);
        scenario.bss[0].group_rekey_s = Some(period);
        match run(&scenario, seed, &mut || false) {
            Ok(first) => prop_assert_eq!(first, trial(&scenario, seed)),
            Err(_) => prop_assert!(policy["link"]["akm"].is_null()),
        }
    }
}
