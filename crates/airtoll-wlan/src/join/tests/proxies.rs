//! RADIUS through chains of proxies: what each link and each proxy adds, and who repeats.

use std::cell::RefCell;
use std::rc::Rc;

use airtoll_units::Instant;
use airtoll_wire::radius::{RadiusRepr, attribute};

use super::{Set, policy, scenario, simulate, value};
use crate::Scenario;
use crate::record::{Key, Medium, Sink};

#[test]
fn each_link_of_the_chain_adds_a_round_trip_to_every_request() {
    let of = |proxies: usize| {
        let set = Set {
            delay_s: 0.01,
            proxies: vec![0; proxies],
            ..Set::default()
        };
        let outcome = simulate(&policy("tls"), &set, 1);
        assert_eq!(outcome.failure, None);
        outcome
    };
    let alone = of(0);
    let requests = value(&alone, "messages_radius").unwrap() / 2.0;
    for proxies in [1, 4] {
        let through = of(proxies);
        // Access point and server send what they send without proxies.
        assert_eq!(
            value(&through, "messages_radius"),
            value(&alone, "messages_radius")
        );
        let more = value(&through, "eap_time_s").unwrap() - value(&alone, "eap_time_s").unwrap();
        let trips = more / 0.02 / proxies as f64;
        assert!(
            (trips - requests).abs() < 0.1,
            "{trips} round trips of {requests}"
        );
    }
}

#[test]
fn proxies_repeat_nothing_and_the_access_point_repeats_for_all_links() {
    let set = Set {
        loss_ratio: 0.01,
        proxies: vec![0; 3],
        ..Set::default()
    };
    let times: Vec<f64> = (0..20)
        .map(|seed| {
            let outcome = simulate(&policy("peap"), &set, seed);
            assert_eq!(outcome.failure, None);
            value(&outcome, "eap_time_s").unwrap()
        })
        .collect();
    // A loss on any of the eight ways costs the 2 s of the access point's timer.
    assert!(times.iter().all(|t| *t < 0.5 || *t > 2.0), "{times:?}");
    assert!(times.iter().filter(|t| **t > 2.0).count() >= 3, "{times:?}");
}

#[test]
fn a_chain_that_makes_a_request_too_long_fails_by_name() {
    let set = Set {
        proxies: vec![253; 16],
        ..Set::default()
    };
    let failure = simulate(&policy("tls"), &set, 1).failure.unwrap();
    assert!(failure.contains("EAP: a RADIUS packet of 4"), "{failure}");
    assert!(failure.contains("4096 is the most"), "{failure}");
}

/// RADIUS packets on the wires.
#[derive(Clone, Default)]
struct Packets(Rc<RefCell<Vec<RadiusRepr>>>);

impl Sink for Packets {
    fn interface(&mut self, _: Medium, _: &str) -> u32 {
        0
    }
    fn packet(&mut self, _: u32, _: Instant, octets: &[u8]) {
        // Ethernet, IPv4 and UDP before RADIUS; another protocol has no length at this place.
        if let Some(packet) = octets
            .get(42..)
            .and_then(|rest| RadiusRepr::parse(rest).ok())
        {
            self.0.borrow_mut().push(packet);
        }
    }
    fn key(&mut self, _: &Key) {}
}

#[test]
fn a_capture_holds_the_proxy_states_of_each_link() {
    let recorded = |scenario: &Scenario| {
        let packets = Packets::default();
        let sink = Box::new(packets.clone());
        crate::run_recorded(scenario, 1, &mut || false, sink).unwrap();
        packets.0.take()
    };
    let set = Set {
        proxies: vec![0, 0],
        ..Set::default()
    };
    let packets = recorded(&scenario(&policy("md5"), &set));
    let states = |packet: &RadiusRepr| {
        let attributes = packet.attributes.iter();
        attributes
            .filter(|(kind, _)| *kind == attribute::PROXY_STATE)
            .count()
    };
    let mut found: Vec<usize> = packets.iter().map(states).collect();
    found.dedup();
    assert!(found.starts_with(&[0, 1, 2, 1, 0]), "{found:?}");
}
