//! The network card of a station that hands over.

use serde_json::json;

use super::{ccmp, scenario, simulate, tcp, value};
use crate::Scenario;
use crate::build::build;
use crate::id::NodeId;

#[test]
fn all_radios_of_a_station_have_one_card() {
    let mut value = scenario(&ccmp(2, "open"), &json!({}), &json!({}), &json!([tcp()]));
    let nic = json!({"nic": {"overlap": "serial", "stages": [
        {"stage": "encryption", "cost": {"fixed_ns": 1e5}}]}});
    value["nodes"][0]["host"] = nic.clone();
    value["nodes"][1]["host"] = nic;
    let scenario = Scenario::from_json(&value.to_string()).unwrap();
    let world = build(&scenario, 1).unwrap();
    let lower = &world.stack.lower;
    let cards = |node| {
        let own = lower.medium.radios();
        let own = own.filter(move |radio| lower.medium.host_of(*radio) == node);
        own.map(|radio| lower.mac.nic_of(radio)).collect::<Vec<_>>()
    };
    let [station, old, new] = [0, 1, 2].map(|node| cards(NodeId::new(node)));
    assert_eq!(station.len(), 2);
    assert!(station[0].is_some() && station[0] == station[1]);
    assert!(old[0].is_some() && old[0] != station[0]);
    assert_eq!(new, [None]);
}

#[test]
fn a_card_that_is_busy_with_a_frame_for_the_old_access_point_delays_the_join() {
    // A frame a second keeps the card busy for 50 ms. The station leaves at once, or 20 ms later.
    let association = |at_s: f64| {
        let flow = json!([{"name": "f", "source": "s0", "destination": "server",
            "transport": {"protocol": "udp"}, "start_s": 1.0,
            "pattern": {"type": "paced", "payload_octets": 100, "rate_bps": 800.0}}]);
        let given = json!({"at_s": at_s, "scan_s": 0.0});
        let mut given = scenario(&ccmp(2, "open"), &json!({}), &given, &flow);
        given["nodes"][0]["host"] = json!({"nic": {"overlap": "pipelined", "meanwhile": "nothing",
            "stages": [{"stage": "encryption", "cost": {"fixed_ns": 5e7}}]}});
        let outcome = simulate(&given, 1);
        assert_eq!(outcome.failure, None);
        value(&outcome, "handover_association_s")
    };
    let (idle, busy) = (association(0.9), association(1.02));
    assert!((busy - idle - 0.03).abs() < 0.002, "{busy} {idle}");
}
