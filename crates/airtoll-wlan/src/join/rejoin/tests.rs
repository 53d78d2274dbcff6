//! Deauthenticated stations that come back: duration and frames.

use std::cell::RefCell;
use std::rc::Rc;

use airtoll_security::CipherSuite;
use airtoll_security::link::bip::BipKey;
use airtoll_units::Instant;
use airtoll_wire::radiotap::Radiotap;

use crate::join::tests::{Set, of_the_cell, policies, policy, scenario, trial};
use crate::record::{Key, Medium, Sink};
use crate::run_recorded;
use crate::scenario::Scenario;

fn putting_off(name: &str, stations: usize, rssi_dbm: f64) -> Scenario {
    let set = Set {
        stations,
        rssi_dbm,
        ..Set::default()
    };
    let mut scenario = scenario(&policy(name), &set);
    scenario.duration_s = 2.0;
    // Between two packets of the stations, which send every 40 ms.
    scenario.bss[0].deauthenticate_at_s = Some(0.215);
    scenario
}

#[test]
fn a_deauthenticated_station_comes_back_with_every_policy() {
    for policy in policies() {
        let name = policy["name"].as_str().unwrap();
        for stations in [1, 4] {
            let scenario = putting_off(name, stations, -50.0);
            let outcome = trial(&scenario, 3);
            assert_eq!(outcome.failure, None, "{name}");
            assert_eq!(
                of_the_cell(&outcome, "associations_lost"),
                stations as f64,
                "{name}"
            );
            assert_eq!(of_the_cell(&outcome, "rejoins"), stations as f64, "{name}");
            // wpa_supplicant waits for 100 ms.
            let (gap, longest) = (
                of_the_cell(&outcome, "rejoin_gap_s"),
                of_the_cell(&outcome, "rejoin_gap_longest_s"),
            );
            assert!(0.1 < gap && gap <= longest && longest < 0.3, "{name} {gap}");
            // The packets of the gap waited in the host.
            let received = outcome.value("packets_received", Some("s0")).unwrap();
            let lost = outcome.value("packets_lost", Some("s0")).unwrap();
            assert!(received + lost >= 49.0 && lost <= 3.0, "{name} {lost}");
        }
    }
}

#[test]
fn a_pmksa_spares_eap_and_sae() {
    let messages =
        |name: &str| of_the_cell(&trial(&putting_off(name, 1, -50.0), 1), "rejoin_messages");
    // Open System authentication, association, 4-way handshake.
    for name in ["wpa2-psk-ccmp", "wpa3-sae", "peap", "tls"] {
        assert_eq!(messages(name), 8.0, "{name}");
    }
    // And the group key handshake of WPA.
    assert_eq!(messages("wpa-psk-tkip"), 10.0);
    assert_eq!(messages("open"), 4.0);
}

#[test]
fn keys_are_renewed_for_stations_that_came_back() {
    let mut scenario = putting_off("wpa3-sae", 3, -50.0);
    scenario.bss[0].group_rekey_s = Some(0.25);
    let outcome = trial(&scenario, 2);
    assert_eq!(outcome.failure, None);
    assert_eq!(of_the_cell(&outcome, "group_rekeys"), 7.0);
    // In the first round all stations are off the network; they get its keys when they come back.
    assert_eq!(
        of_the_cell(&outcome, "group_rekey_messages"),
        6.0 * 3.0 * 2.0
    );
    assert_eq!(of_the_cell(&outcome, "associations_lost"), 3.0);
}

#[derive(Default)]
struct Kept {
    frames: Vec<Vec<u8>>,
    integrity: Vec<(String, String)>,
}

struct Shelf(Rc<RefCell<Kept>>);

impl Sink for Shelf {
    fn interface(&mut self, medium: Medium, _: &str) -> u32 {
        u32::from(medium == Medium::Wire)
    }
    fn packet(&mut self, interface: u32, _: Instant, octets: &[u8]) {
        if interface == 0 {
            let header = Radiotap::new(octets).unwrap().len();
            let frame = octets[header..octets.len() - 4].to_vec();
            self.0.borrow_mut().frames.push(frame);
        }
    }
    fn key(&mut self, key: &Key) {
        if let Key::Igtk { index, key, .. } = key {
            let pair = (index.clone(), key.clone());
            self.0.borrow_mut().integrity.push(pair);
        }
    }
}

fn recorded(scenario: &Scenario, seed: u64) -> Kept {
    let kept = Rc::new(RefCell::new(Kept::default()));
    let with = run_recorded(scenario, seed, &mut || false, Box::new(Shelf(kept.clone()))).unwrap();
    assert_eq!(with, trial(scenario, seed));
    drop(with);
    kept.take()
}

#[test]
fn the_group_deauthentication_has_a_mic_with_protected_management_frames() {
    for (name, suite) in [
        ("wpa2-psk-ccmp", None),
        ("wpa3-sae", Some(CipherSuite::BipGmac256)),
    ] {
        let kept = recorded(&putting_off(name, 2, -50.0), 4);
        let told: Vec<&Vec<u8>> = kept
            .frames
            .iter()
            .filter(|f| f[0] == 0xc0 && f[4..10] == [0xff; 6])
            .collect();
        assert_eq!(told.len(), 1, "{name}");
        let Some(suite) = suite else {
            assert_eq!((told[0].len(), kept.integrity.len()), (26, 0));
            continue;
        };
        assert_eq!(told[0].len(), 26 + 26);
        let (index, key) = &kept.integrity[0];
        let octets: Vec<u8> = (0..key.len() / 2)
            .map(|i| u8::from_str_radix(&key[2 * i..2 * i + 2], 16).unwrap())
            .collect();
        let verified = BipKey::new(suite, &octets)
            .unwrap()
            .verify(told[0])
            .unwrap();
        assert_eq!(verified.key_id.to_string(), *index);
    }
}

#[test]
fn a_station_that_missed_the_frame_learns_from_its_own_data_and_queries_under_protection() {
    for (name, protected) in [("wpa2-psk-ccmp", false), ("wpa3-sae", true)] {
        let mut scenario = putting_off(name, 1, -50.0);
        // The station's packet comes at the same instant, and the two frames collide.
        scenario.bss[0].deauthenticate_at_s = Some(0.2);
        let outcome = trial(&scenario, 1);
        assert_eq!(of_the_cell(&outcome, "rejoins"), 1.0, "{name}");
        let gap = of_the_cell(&outcome, "rejoin_gap_s");
        let kept = recorded(&scenario, 1);
        let of = |kind: u8, own: bool| {
            let frames = kept.frames.iter().filter(|f| f[0] == kind);
            frames
                .filter(|f| (f[10..16] == f[16..22]) != own)
                .collect::<Vec<_>>()
        };
        // Reason 7 in clear: the access point no longer has keys.
        let refused = of(0xc0, false);
        assert!(
            refused
                .iter()
                .all(|f| f[24..26] == [7, 0] && f[1] & 0x40 == 0)
        );
        let asked = of(0xd0, true);
        let left = of(0xc0, true);
        if !protected {
            assert_eq!((refused.len(), asked.len(), left.len()), (1, 0, 0));
            assert!(gap < 0.05, "{gap}");
            continue;
        }
        // The frame may be forged: five SA Queries within 1000 TU, then a Deauthentication frame.
        assert!(!refused.is_empty());
        assert_eq!((asked.len(), left.len()), (5, 1));
        assert!(asked.iter().chain(&left).all(|f| f[1] & 0x40 != 0));
        assert!((1.124..1.2).contains(&gap), "{gap}");
    }
}
