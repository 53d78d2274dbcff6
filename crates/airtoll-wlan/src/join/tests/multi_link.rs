//! Stations that join over several links: messages and octets against the handshakes alone, group keys of
//! all links, addresses on the air.

use std::cell::RefCell;
use std::rc::Rc;

use airtoll_handshakes::{Carrier, Negotiation, Options, PolicySpec};
use airtoll_units::Instant;
use airtoll_wire::MacAddress;
use airtoll_wire::ieee80211::frame::management_subtype as subtype;
use airtoll_wire::ieee80211::{Frame, Kind};
use airtoll_wire::radiotap::Radiotap;
use serde_json::{Value, json};

use super::trial;
use crate::id::RadioId;
use crate::record::{Key, Medium, Sink};
use crate::{Outcome, Scenario};

const SATURATED: &str = r#"{"type": "saturated", "payload_octets": 1472}"#;

/// AKM, EAP method and 802.11 authentication of policies that may join over several links.
const POLICIES: [(&str, Option<&str>, &str); 3] = [
    ("sae-ext-key", None, "sae"),
    ("owe", None, "open"),
    ("802.1x-sha256", Some("tls"), "open"),
];

fn policy((akm, method, authentication): (&str, Option<&str>, &str)) -> Value {
    json!({"name": akm, "link": {"cipher": "gcmp-256", "group_cipher": "gcmp-256", "akm": akm,
        "eap_method": method, "authentication": authentication, "pmf": "required"}})
}

/// A cell with two links: `devices` stations on both, and `single` on the second alone.
fn cell(policy: &Value, (devices, single): (usize, usize), pattern: &str) -> Value {
    let both = json!({"bss": "l0", "multi_link": ["l1"], "cipher": "gcmp-256"});
    let with = |name: &str, role: &str, place: &Value| {
        let mut node = json!({"name": name, "role": role, "queue": {"packets": 2000}});
        let node_fields = node.as_object_mut().unwrap();
        node_fields.extend(place.as_object().unwrap().clone());
        node
    };
    let mut nodes = vec![
        with("ap", "access_point", &both),
        json!({"name": "server", "role": "wired"}),
    ];
    let (mut flows, mut associations) = (Vec::new(), Vec::new());
    for number in 0..devices + single {
        let name = format!("s{number}");
        let links = if number < devices { 2 } else { 1 };
        let place = if number < devices {
            both.clone()
        } else {
            json!({"bss": "l1", "cipher": "gcmp-256"})
        };
        nodes.push(with(&name, "station", &place));
        let pattern: Value = serde_json::from_str(pattern).unwrap();
        flows.push(
            json!({"name": format!("f{number}"), "source": name, "destination": "server",
            "transport": {"protocol": "udp"}, "pattern": pattern}),
        );
        let options = json!({"links": links, "beacon_protection": true});
        associations.push(
            json!({"station": name, "policy": policy, "options": options,
            "start_us": 5000 * number, "authentication_server": "server"}),
        );
    }
    let wide = json!({"name": "l0", "channel": 0, "standard": "802.11be", "width_mhz": 80,
        "rate": {"control": "fixed_mcs", "mcs": 9, "streams": 2}});
    let six = json!({"name": "l1", "channel": 1, "standard": "802.11be", "width_mhz": 40,
        "band": "6ghz", "rate": {"control": "fixed_mcs", "mcs": 7}});
    json!({
        "duration_s": 0.3,
        "radio": {"path_loss": {"model": "constant", "loss_db": 45}},
        "bss": [wide, six],
        "nodes": nodes,
        "links": [{"nodes": ["ap", "server"], "rate_bps": 4e10}],
        "flows": flows,
        "associations": associations,
    })
}

fn read(value: &Value) -> Scenario {
    Scenario::from_json(&value.to_string()).unwrap_or_else(|e| panic!("{e}: {value}"))
}

fn total(outcome: &Outcome, metric: &str) -> f64 {
    let mut rows = outcome.rows.iter();
    let row = rows.find(|r| r.metric == metric && r.flow.is_none() && r.station.is_none());
    row.map_or(0.0, |row| row.value)
}

/// The frames of the air: interface and MPDU without FCS; and the keys.
#[derive(Default)]
struct Kept {
    frames: Vec<(u32, Vec<u8>)>,
    keys: Vec<Key>,
}

struct Keeper(Rc<RefCell<Kept>>, u32);

impl Sink for Keeper {
    fn interface(&mut self, medium: Medium, _: &str) -> u32 {
        self.1 += 1;
        if medium == Medium::Air {
            self.1
        } else {
            100 + self.1
        }
    }
    fn packet(&mut self, interface: u32, _: Instant, octets: &[u8]) {
        if interface < 100 {
            let radio = Radiotap::new(octets).unwrap();
            let mpdu = radio.payload();
            let mpdu = mpdu[..mpdu.len() - 4].to_vec();
            self.0.borrow_mut().frames.push((interface, mpdu));
        }
    }
    fn key(&mut self, key: &Key) {
        self.0.borrow_mut().keys.push(key.clone());
    }
}

fn recorded(scenario: &Scenario) -> (Outcome, Kept) {
    let kept = Rc::new(RefCell::new(Kept::default()));
    let sink = Box::new(Keeper(kept.clone(), 0));
    let outcome = crate::run_recorded(scenario, 3, &mut || false, sink).unwrap();
    assert_eq!(outcome.failure, None);
    (outcome, kept.take())
}

/// A message of the control plane: interface, whether it is a management frame, octets.
fn messages(kept: &Kept) -> Vec<(u32, bool, usize)> {
    const EAPOL: [u8; 8] = [0xaa, 0xaa, 3, 0, 0, 0, 0x88, 0x8e];
    let mut found = Vec::new();
    for (interface, octets) in &kept.frames {
        let frame = Frame::new(octets).unwrap();
        match frame.control().kind() {
            Kind::Management if frame.control().subtype() != subtype::BEACON => {
                found.push((*interface, true, octets.len()));
            }
            Kind::Data if octets.get(24..32) == Some(&EAPOL) => {
                found.push((*interface, false, octets.len() - 32));
            }
            _ => {}
        }
    }
    found
}

#[test]
fn a_join_without_loss_sends_the_octets_of_its_negotiation_on_one_link() {
    for terms in POLICIES {
        let policy = policy(terms);
        let scenario = read(&cell(&policy, (1, 0), SATURATED));
        let (_, kept) = recorded(&scenario);
        let world = crate::build::build(&scenario, 3).unwrap();
        let station = scenario.nodes.iter().position(|n| n.name == "s0").unwrap();
        let radio = RadioId::first_of(crate::id::NodeId::new(station as u32));
        let link = world.join.negotiation(radio).unwrap().link().clone();
        assert_eq!(link.links(), 2);
        let spec: PolicySpec = serde_json::from_value(policy.clone()).unwrap();
        let options = Options {
            links: 2,
            beacon_protection: true,
            ..Options::default()
        };
        let rng = airtoll_engine::Streams::new(1)
            .named("any")
            .into_generator();
        let mut alone =
            Negotiation::between(spec, options, link.station, link.access_point, rng).unwrap();
        alone.announce(link.announced.clone()).unwrap();
        alone.set_links(link.multi_link.clone().unwrap()).unwrap();
        let (records, _) = alone.run().unwrap();
        let sent = records.iter().flat_map(|record| &record.emissions);
        let expected: Vec<(u32, bool, usize)> = sent
            .filter(|e| matches!(e.message.carrier, Carrier::Management | Carrier::Eapol))
            .map(|e| {
                let management = e.message.carrier == Carrier::Management;
                (1, management, e.message.octets.len())
            })
            .collect();
        assert!(expected.len() >= 6, "{terms:?}");
        assert_eq!(messages(&kept), expected, "{terms:?}");
    }
}

#[test]
fn the_messages_on_the_air_name_devices_and_links() {
    let scenario = read(&cell(&policy(POLICIES[0]), (1, 0), SATURATED));
    let (_, kept) = recorded(&scenario);
    let address = |second: u8, node: u8| MacAddress([2, second, 0, 0, 0, node + 1]);
    let mut seen = [false; 2];
    for (interface, octets) in &kept.frames {
        let frame = Frame::new(octets).unwrap();
        if frame.control().kind() != Kind::Data {
            continue;
        }
        let link = *interface as u8 - 1;
        let up = frame.control().to_ds();
        let (station, access_point) = (Some(address(link, 2)), Some(address(link, 0)));
        let ends = (frame.transmitter(), frame.receiver());
        let expected = if up {
            (station, access_point)
        } else {
            (access_point, station)
        };
        assert_eq!(ends, expected, "{octets:02x?}");
        seen[usize::from(link)] = true;
    }
    assert_eq!(seen, [true, true], "data use both links");
    // One pairwise key, and three keys of groups for each link.
    let count = |wanted: fn(&Key) -> bool| kept.keys.iter().filter(|key| wanted(key)).count();
    assert_eq!(count(|key| matches!(key, Key::Tk { .. })), 1);
    let mut of_groups = Vec::new();
    for key in &kept.keys {
        if let Key::Gtk { key, bssid, .. } | Key::Igtk { key, bssid, .. } = key {
            of_groups.push((bssid.clone(), key.clone()));
        }
    }
    of_groups.sort();
    of_groups.dedup_by(|a, b| a.1 == b.1);
    assert_eq!(of_groups.len(), 4, "{of_groups:?}");
    assert_eq!(of_groups[0].0, address(0, 0).to_string());
    assert_eq!(of_groups[3].0, address(1, 0).to_string());
}

#[test]
fn after_the_join_data_have_all_links_and_the_air_adds_up() {
    let joined = trial(&read(&cell(&policy(POLICIES[0]), (1, 0), SATURATED)), 3);
    let mut from_the_start = cell(&policy(POLICIES[0]), (1, 0), SATURATED);
    from_the_start["associations"] = json!([]);
    let before = trial(&read(&from_the_start), 3);
    let goodput = |outcome: &Outcome| {
        let rows = outcome.rows.iter();
        let flows = rows.filter(|r| r.metric == "throughput_bps" && r.flow.is_some());
        flows.map(|r| r.value).sum::<f64>()
    };
    let ratio = goodput(&joined) / goodput(&before);
    assert!((ratio - 1.0).abs() < 0.03, "{ratio}");
    assert!(total(&joined, "busy_link_2_share") > 0.8);
    let airtimes = joined
        .rows
        .iter()
        .filter(|r| r.metric.starts_with("airtime_") && r.flow.is_none() && r.station.is_none());
    let air: f64 = airtimes.map(|r| r.value).sum();
    assert!((air - 0.6).abs() < 1e-9, "{air}");
}

#[test]
fn stations_of_both_kinds_join_amid_each_other_with_every_queue() {
    for discipline in ["fifo", "round_robin", "fq_codel", "codel"] {
        let mut value = cell(&policy(POLICIES[0]), (3, 2), SATURATED);
        for node in value["nodes"].as_array_mut().unwrap() {
            node["queue"] = json!({"packets": 2000, "discipline": discipline});
        }
        let outcome = trial(&read(&value), 5);
        assert_eq!(outcome.failure, None, "{discipline}");
        let times = outcome
            .rows
            .iter()
            .filter(|r| r.metric == "join_time_s" && r.station.is_some());
        let times: Vec<f64> = times.map(|r| r.value).collect();
        assert_eq!(times.len(), 5, "{discipline}");
        assert!(times.iter().all(|t| (1e-3..0.1).contains(t)), "{times:?}");
        for number in 0..5 {
            let own = format!("f{number}");
            let mut rows = outcome.rows.iter();
            let row = rows
                .find(|r| r.metric == "throughput_bps" && r.flow.as_deref() == Some(own.as_str()));
            assert!(row.is_some_and(|r| r.value > 1e6), "{discipline}: {own}");
        }
    }
}

#[test]
fn one_group_handshake_renews_the_keys_of_all_links() {
    let paced = r#"{"type": "paced", "payload_octets": 500, "rate_bps": 1e6}"#;
    let octets = |devices, single| {
        let mut value = cell(&policy(POLICIES[0]), (devices, single), paced);
        for bss in 0..2 {
            value["bss"][bss]["group_rekey_s"] = json!(0.1);
        }
        let (outcome, kept) = recorded(&read(&value));
        assert_eq!(total(&outcome, "group_rekeys"), 2.0);
        let stations = f64::from(devices as u32 + single as u32);
        assert_eq!(
            total(&outcome, "group_rekey_messages"),
            2.0 * 2.0 * stations
        );
        let of_link = |wanted: u8| {
            let wanted = MacAddress([2, wanted, 0, 0, 0, 1]).to_string();
            let gtk = kept.keys.iter().filter_map(move |key| match key {
                Key::Gtk { key, bssid, .. } if *bssid == wanted => Some(key.clone()),
                _ => None,
            });
            gtk.collect::<std::collections::BTreeSet<String>>()
        };
        (of_link(0), of_link(1))
    };
    // The first keys, and those of two rounds.
    let (first, second) = octets(1, 0);
    assert_eq!((first.len(), second.len()), (3, 3));
    assert!(first.is_disjoint(&second));
    // A station of one link has the keys of that link, which those with both links have, too.
    let (none, alone) = octets(0, 1);
    assert_eq!((none.len(), alone), (0, second));
}

#[test]
fn invalid_joins_over_several_links_are_refused_by_name() {
    let refused = |change: &dyn Fn(&mut Value)| {
        let mut value = cell(&policy(POLICIES[0]), (2, 0), SATURATED);
        change(&mut value);
        match Scenario::from_json(&value.to_string()) {
            Err(problem) => problem.to_string(),
            Ok(scenario) => crate::build::build(&scenario, 1).err().unwrap().to_string(),
        }
    };
    let told = refused(&|v| v["associations"][0]["options"]["links"] = json!(1));
    assert!(told.contains("associations[0].options.links"), "{told}");
    let told = refused(&|v| {
        v["associations"].as_array_mut().unwrap().pop();
    });
    assert!(told.contains("other stations join"), "{told}");
    let told = refused(&|v| v["bss"][0]["deauthenticate_at_s"] = json!(0.1));
    assert!(told.contains("deauthenticate_at_s"), "{told}");
    let told = refused(&|v| {
        v["associations"][0]["policy"]["link"]["akm"] = json!("sae");
    });
    assert!(told.contains("AKM 24"), "{told}");
    let told = refused(&|v| {
        v["associations"][0]["options"]["beacon_protection"] = json!(false);
    });
    assert!(told.contains("beacon_protection"), "{told}");
}
