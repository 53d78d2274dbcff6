//! Recorded trials read back: lengths, keys, checksums, and that recording changes nothing.

use std::cell::RefCell;
use std::rc::Rc;

use airtoll_security::CipherSuite;
use airtoll_units::Instant;
use airtoll_wire::MacAddress;
use airtoll_wire::checksum::Checksum;
use airtoll_wire::ethernet::EthernetRepr;
use airtoll_wire::ieee80211::amsdu::Subframes;
use airtoll_wire::ieee80211::frame::{Frame, Kind, control_subtype};
use airtoll_wire::llc::SnapRepr;
use airtoll_wire::radiotap::{Radiotap, RadiotapRepr};

use super::cipher::Opener;
use super::{Key, Medium, Sink};
use crate::address;
use crate::id::NodeId;
use crate::{Scenario, run, run_recorded};

#[derive(Default)]
struct Kept {
    interfaces: Vec<(Medium, String)>,
    packets: Vec<(u32, Instant, Vec<u8>)>,
    keys: Vec<Key>,
}

#[derive(Clone, Default)]
struct Shelf(Rc<RefCell<Kept>>);

impl Sink for Shelf {
    fn interface(&mut self, medium: Medium, name: &str) -> u32 {
        let mut kept = self.0.borrow_mut();
        kept.interfaces.push((medium, name.to_owned()));
        kept.interfaces.len() as u32 - 1
    }
    fn packet(&mut self, interface: u32, at: Instant, octets: &[u8]) {
        let mut kept = self.0.borrow_mut();
        kept.packets.push((interface, at, octets.to_vec()));
    }
    fn key(&mut self, key: &Key) {
        self.0.borrow_mut().keys.push(key.clone());
    }
}

fn record(scenario: &Scenario) -> Kept {
    let shelf = Shelf::default();
    let with = run_recorded(scenario, 3, &mut || false, Box::new(shelf.clone())).unwrap();
    let without = run(scenario, 3, &mut || false).unwrap();
    assert_eq!(format!("{with:?}"), format!("{without:?}"));
    drop(with);
    Rc::try_unwrap(shelf.0)
        .map(RefCell::into_inner)
        .ok()
        .unwrap()
}

fn scenario(bss: &str, stations: &str, flows: &str, seconds: f64) -> Scenario {
    Scenario::from_json(&format!(
        r#"{{"duration_s": {seconds},
        "bss": [{{"name": "cell", {bss}}}],
        "nodes": [{stations},
            {{"name": "ap", "role": "access_point", "bss": "cell"}},
            {{"name": "server", "role": "wired"}}],
        "links": [{{"nodes": ["ap", "server"], "rate_bps": 1e9}}],
        "flows": [{flows}]}}"#
    ))
    .unwrap()
}

#[test]
fn data_frames_with_ldpc_say_so() {
    let marked = |bss: &str| {
        let uplink = flow(
            "s0",
            "ap",
            "udp",
            r#"{"type": "saturated", "payload_octets": 500}"#,
        );
        let kept = record(&scenario(bss, &station("s0", ""), &uplink, 0.01));
        let radio = |octets: &[u8]| RadiotapRepr::parse(&Radiotap::new(octets).unwrap());
        let all = kept.packets.iter().map(|(_, _, octets)| radio(octets));
        // Acknowledgements have a legacy rate, which has no LDPC.
        all.fold([0, 0], |[coded, others], found| {
            let coded_here = usize::from(found.ldpc);
            [coded + coded_here, others + 1 - coded_here]
        })
    };
    for standard in ["802.11n", "802.11ac", "802.11ax"] {
        let bss = |coding: &str| {
            format!(
                r#""standard": "{standard}", "coding": "{coding}",
                "rate": {{"control": "fixed_mcs", "mcs": 3}}"#
            )
        };
        let [coded, others] = marked(&bss("ldpc"));
        assert!(coded > 2 && others > 0, "{standard}: {coded} {others}");
        assert_eq!(marked(&bss("bcc"))[0], 0, "{standard}");
    }
}

fn station(name: &str, more: &str) -> String {
    format!(r#"{{"name": "{name}", "role": "station", "bss": "cell"{more}}}"#)
}

fn flow(from: &str, to: &str, transport: &str, pattern: &str) -> String {
    format!(
        r#"{{"name": "{from}-{to}-{transport}", "source": "{from}", "destination": "{to}",
        "transport": {{"protocol": "{transport}"}}, "pattern": {pattern}}}"#
    )
}

const G54: &str =
    r#""standard": "802.11g", "rate": {"control": "fixed", "mbps": 54}, "beacons": {}"#;
const AC: &str = r#""standard": "802.11ac", "width_mhz": 80, "beacons": {"ssids": 2},
    "rate": {"control": "fixed_mcs", "mcs": 7}, "aggregation": {"amsdu_max_octets": 4000}"#;
const SATURATED: &str = r#"{"type": "saturated", "payload_octets": 1000}"#;

fn opener(kept: &Kept, suite: CipherSuite) -> Option<Opener> {
    let (key, bssid) = kept.keys.iter().find_map(|key| match key {
        Key::Tk { key, bssid, .. } => Some((key, bssid.parse().ok()?)),
        Key::Wep { key, .. } => Some((key, MacAddress([0; 6]))),
        _ => None,
    })?;
    let octets: Vec<u8> = (0..key.len() / 2)
        .map(|i| u8::from_str_radix(&key[2 * i..2 * i + 2], 16).unwrap())
        .collect();
    Opener::new(suite, &octets, bssid)
}

/// Source and destination port and the UDP or TCP payload of an intact IPv4 packet.
fn check_ip(packet: &[u8]) -> usize {
    let sum = |octets: &[u8], pseudo: &[u8]| {
        let mut sum = Checksum::default();
        sum.add(pseudo);
        sum.add(octets);
        sum.finish()
    };
    let header = &packet[..20];
    assert_eq!(header[0], 0x45);
    assert_eq!(sum(header, &[]), 0, "IPv4 checksum");
    assert_eq!(
        u16::from_be_bytes([packet[2], packet[3]]) as usize,
        packet.len()
    );
    let fragment = u16::from_be_bytes([packet[6], packet[7]]) & 0x3fff;
    if fragment == 0 && matches!(packet[9], 6 | 17) {
        let mut pseudo = packet[12..20].to_vec();
        pseudo.extend([0, packet[9]]);
        pseudo.extend(((packet.len() - 20) as u16).to_be_bytes());
        assert_eq!(sum(&packet[20..], &pseudo), 0, "transport checksum");
    }
    packet.len()
}

#[test]
fn frames_open_with_the_keys_of_the_log() {
    use CipherSuite as S;
    for suite in [
        S::Open,
        S::Wep40,
        S::Wep104,
        S::Tkip,
        S::Ccmp128,
        S::Ccmp256,
        S::Gcmp128,
        S::Gcmp256,
    ] {
        for bss in [G54, AC] {
            let node = format!(r#", "cipher": "{}""#, suite.name());
            let flows = [
                flow("s0", "server", "udp", SATURATED),
                flow("server", "s0", "tcp", SATURATED),
            ];
            let kept = record(&scenario(bss, &station("s0", &node), &flows.join(","), 0.1));
            let opener = opener(&kept, suite);
            let (mut data, mut acks, mut beacons, mut last) = (0, 0, 0, Instant::ZERO);
            for (interface, at, packet) in &kept.packets {
                assert!(*at >= last);
                last = *at;
                let (medium, _) = kept.interfaces[*interface as usize];
                if medium == Medium::Wire {
                    check_ip(EthernetRepr::parse(packet).unwrap().payload);
                    continue;
                }
                let radio = Radiotap::new(packet).unwrap();
                assert!(RadiotapRepr::parse(&radio).has_fcs());
                let (mpdu, fcs) = radio.payload().split_last_chunk::<4>().unwrap();
                assert_eq!(crc32fast::hash(mpdu).to_le_bytes(), *fcs);
                let frame = Frame::new(mpdu).unwrap();
                match (frame.control().kind(), frame.control().subtype()) {
                    (Kind::Management, _) => beacons += 1,
                    (Kind::Control, control_subtype::ACK | control_subtype::BLOCK_ACK) => acks += 1,
                    (Kind::Control, _) => {}
                    _ => {
                        assert_eq!(frame.control().protected(), suite != S::Open);
                        let amsdu = frame.is_amsdu();
                        let mut octets = mpdu.to_vec();
                        let body = opener
                            .as_ref()
                            .map_or(frame.header_len()..mpdu.len(), |o| o.open(&mut octets));
                        let body = &octets[body];
                        if amsdu {
                            for subframe in Subframes::new(body) {
                                check_ip(SnapRepr::parse(subframe.msdu).unwrap().payload);
                                data += 1;
                            }
                        } else {
                            check_ip(SnapRepr::parse(body).unwrap().payload);
                            data += 1;
                        }
                    }
                }
            }
            assert!(
                data > 100 && acks > 10 && beacons > 0,
                "{suite:?} {data} {acks} {beacons}"
            );
        }
    }
}

#[test]
fn pieces_of_an_msdu_open_one_by_one() {
    use CipherSuite as S;
    for suite in [S::Open, S::Wep104, S::Tkip, S::Ccmp128, S::Gcmp256] {
        let node = format!(r#", "cipher": "{}""#, suite.name());
        let flows = flow("s0", "server", "udp", SATURATED);
        let mut scenario = scenario(G54, &station("s0", &node), &flows, 0.05);
        scenario.bss[0].fragmentation_threshold_octets = Some(400);
        let kept = record(&scenario);
        let opener = opener(&kept, suite);
        let mut msdu = Vec::new();
        let mut whole = 0;
        for (_, _, packet) in &kept.packets {
            let Ok(radio) = Radiotap::new(packet) else {
                continue;
            };
            let mpdu = &radio.payload()[..radio.payload().len() - 4];
            let frame = Frame::new(mpdu).unwrap();
            if frame.control().kind() != Kind::Data {
                continue;
            }
            if frame.fragment_number() == Some(0) {
                msdu.clear();
            }
            let mut octets = mpdu.to_vec();
            let body = opener.as_ref().map_or(frame.header_len()..mpdu.len(), |o| {
                o.open_piece(&mut octets)
            });
            msdu.extend_from_slice(&octets[body]);
            if !frame.control().more_fragments() {
                let snap = SnapRepr::parse(&msdu).unwrap();
                let michael = if suite == S::Tkip { 8 } else { 0 };
                check_ip(&snap.payload[..snap.payload.len() - michael]);
                whole += 1;
            }
        }
        assert!(whole > 20, "{suite:?} {whole}");
    }
}

#[test]
fn tunnels_fragments_collisions_and_ipv6_keep_their_lengths() {
    let tunnel = |suite: &str| {
        format!(
            r#", "cipher": "ccmp-128", "tunnels": [{{"peer": "server",
            "encapsulation": {{"suite": "{suite}"}}}}]"#
        )
    };
    for suite in ["esp-3des-sha1", "esp-aes-gcm", "wireguard"] {
        let stations = [station("s0", &tunnel(suite)), station("s1", "")].join(",");
        let flows = [
            flow("s0", "server", "tcp", SATURATED),
            flow("server", "s0", "udp", r#"{"type": "voip"}"#),
            flow(
                "s1",
                "s0",
                "udp",
                r#"{"type": "saturated", "payload_octets": 4000}"#,
            ),
            flow(
                "s1",
                "server",
                "udp",
                r#"{"type": "request_response",
                "request_octets": 20, "response_octets": 3000}"#,
            )
            .replace(r#""pattern""#, r#""ip": "ipv6", "pattern""#),
        ];
        let mut scenario = scenario(G54, &stations, &flows.join(","), 0.3);
        scenario.bss[0].rts_threshold_octets = Some(500);
        // Lengths are checked where packets are composed.
        let kept = record(&scenario);
        assert!(kept.packets.len() > 300);
        let tunnels = kept
            .keys
            .iter()
            .filter(|key| matches!(key, Key::Esp { .. } | Key::WireguardSession { .. }));
        assert_eq!(tunnels.count(), 2);
        let retries = kept
            .packets
            .iter()
            .filter(|(_, _, packet)| {
                Radiotap::new(packet)
                    .and_then(|radio| Frame::new(radio.payload()).map(|f| f.control().retry()))
                    .unwrap_or(false)
            })
            .count();
        assert!(retries > 0);
    }
}

/// A station whose host behind it sends UDP to the wired server and gets TCP from it.
fn bridge(bss: &str, suite: CipherSuite) -> Scenario {
    let node = format!(r#", "four_address": true, "cipher": "{}""#, suite.name());
    let stations = [
        station("s0", &node),
        r#"{"name": "h0", "role": "wired"}"#.to_owned(),
    ];
    let flows = [
        flow("server", "ap", "udp", SATURATED),
        flow("ap", "server", "tcp", SATURATED),
    ];
    let mut scenario = scenario(bss, &stations.join(","), &flows.join(","), 0.1);
    scenario.links.push(crate::scenario::WiredLink {
        nodes: ["s0".to_owned(), "h0".to_owned()],
        ..scenario.links[0].clone()
    });
    scenario.flows[0].source = "h0".to_owned();
    scenario.flows[0].destination = "server".to_owned();
    scenario.flows[1].source = "server".to_owned();
    scenario.flows[1].destination = "h0".to_owned();
    scenario.check().unwrap();
    scenario
}

#[test]
fn bridges_send_four_addresses() {
    use CipherSuite as S;
    // In the order of the scenario's nodes.
    let [bridge_mac, host, bssid, server] = [0, 1, 2, 3].map(|n| address::mac(NodeId::new(n)));
    for suite in [
        S::Open,
        S::Wep104,
        S::Tkip,
        S::Ccmp128,
        S::Ccmp256,
        S::Gcmp128,
        S::Gcmp256,
    ] {
        for bss in [G54, AC] {
            let kept = record(&bridge(bss, suite));
            let opener = opener(&kept, suite);
            let (mut up, mut down, mut aggregates) = (0, 0, 0);
            for (_, _, packet) in &kept.packets {
                let Ok(radio) = Radiotap::new(packet) else {
                    continue;
                };
                let mpdu = &radio.payload()[..radio.payload().len() - 4];
                let frame = Frame::new(mpdu).unwrap();
                if frame.control().kind() != Kind::Data {
                    continue;
                }
                let rises = frame.transmitter() == Some(bridge_mac);
                let ends = if rises {
                    (server, host)
                } else {
                    (host, server)
                };
                let hop = if rises {
                    (bssid, bridge_mac)
                } else {
                    (bridge_mac, bssid)
                };
                assert!(frame.control().to_ds() && frame.control().from_ds());
                assert_eq!(
                    (frame.receiver(), frame.transmitter()),
                    (Some(hop.0), Some(hop.1))
                );
                let qos = if bss == AC { 2 } else { 0 };
                assert_eq!(frame.header_len(), 30 + qos);
                let mut octets = mpdu.to_vec();
                let body = opener
                    .as_ref()
                    .map_or(frame.header_len()..mpdu.len(), |o| o.open(&mut octets));
                let outer = (frame.address3(), frame.address4());
                if frame.is_amsdu() {
                    aggregates += 1;
                    assert_eq!(outer, (Some(bssid), Some(bssid)));
                    for subframe in Subframes::new(&octets[body]) {
                        assert_eq!((subframe.destination, subframe.source), ends);
                        check_ip(SnapRepr::parse(subframe.msdu).unwrap().payload);
                    }
                } else {
                    assert_eq!(outer, (Some(ends.0), Some(ends.1)));
                    check_ip(SnapRepr::parse(&octets[body]).unwrap().payload);
                }
                *(if rises { &mut up } else { &mut down }) += 1;
            }
            assert!(up > 20 && down > 5, "{suite:?} {up} {down}");
            let high_throughput = bss == AC && suite.permits_high_throughput();
            assert_eq!(aggregates > 0, high_throughput, "{suite:?}");
        }
    }
}

#[test]
fn mpdus_of_an_aggregate_are_forwarded_one_after_another() {
    // 802.11n, MCS 7: 260 bits per symbol of 4 us. A segment of 1500 octets of IP takes 4 octets of
    // delimiter, 26 + 8 + 1500 + 4 of MPDU and 2 of padding: 47.5 symbols.
    let bss = r#""standard": "802.11n", "rate": {"control": "fixed_mcs", "mcs": 7}"#;
    let flows = flow("s0", "server", "tcp", SATURATED);
    let kept = record(&scenario(bss, &station("s0", ""), &flows, 0.5));
    let mut wire = kept.interfaces.iter();
    let wire = wire
        .position(|(medium, _)| *medium == Medium::Wire)
        .unwrap();
    let entered: Vec<u64> = kept
        .packets
        .iter()
        .filter(|(interface, _, octets)| *interface as usize == wire && octets.len() > 1_500)
        .map(|(_, at, _)| at.as_nanos())
        .collect();
    let gaps: Vec<u64> = entered.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert!(gaps.iter().all(|ns| *ns >= 188_000), "{gaps:?}");
    let within_a_ppdu = gaps.iter().filter(|ns| **ns <= 192_000).count();
    assert!(
        gaps.len() > 1_000 && within_a_ppdu * 4 > gaps.len() * 3,
        "{within_a_ppdu} of {}",
        gaps.len()
    );
}

#[test]
fn probe_traffic_is_recorded_with_its_octets() {
    let bss = r#""standard": "802.11ac", "width_mhz": 80, "beacons": {"ssids": 3},
        "rate": {"control": "fixed_mcs", "mcs": 7}"#;
    let uplink = flow(
        "s0",
        "ap",
        "udp",
        r#"{"type": "paced", "payload_octets": 500, "rate_bps": 1e5}"#,
    );
    let mut scenario = scenario(bss, &station("s0", ""), &uplink, 1.0);
    let mut group = scenario.bss[0].clone();
    group.name = "passers-by".to_owned();
    group.neighbour = Some(crate::scenario::Neighbour {
        level_dbm: Some(-60.0),
    });
    group.beacons = None;
    group.passers_by = Some(crate::scenario::PassersBy {
        per_s: 30.0,
        leaves_ratio: 0.3,
        response_delay_us: 500.0,
        response_attempts: None,
    });
    scenario.bss.push(group);
    let node = r#"{"name": "p", "role": "station", "bss": "passers-by"}"#;
    scenario.nodes.push(serde_json::from_str(node).unwrap());
    let kept = record(&scenario);
    let frames: Vec<(u8, &[u8])> = kept
        .packets
        .iter()
        .map(|(_, _, octets)| {
            let frame = Radiotap::new(octets).unwrap().payload();
            (frame[0], frame)
        })
        .collect();
    let of = |kind: u8| frames.iter().filter(move |(first, _)| *first == kind);
    let stated = crate::probe_traffic(&scenario).unwrap();
    let octets: Vec<u32> = stated.responses.iter().map(|one| one.octets).collect();
    assert_eq!(octets.len(), 3);
    let requests = of(0x40).count();
    assert!(requests > 15);
    assert!(of(0x40).all(|(_, f)| f.len() == stated.request_octets as usize));
    assert!(of(0x50).all(|(_, f)| f.len() == octets[0] as usize));
    // Every network answers, and repeats responses without an Ack.
    let again = of(0x50).filter(|(_, f)| f[1] & 8 != 0).count();
    let first = of(0x50).count() - again;
    assert_eq!(first, 3 * requests);
    assert!(again > 0 && again % 6 == 0, "{again}");
    // An Ack goes to the network whose response it follows.
    let mut acknowledged = 0;
    for pair in frames.windows(2) {
        if let [(0x50, response), (0xd4, ack)] = pair {
            assert_eq!(response[10..16], ack[4..10]);
            acknowledged += 1;
        }
    }
    assert_eq!(acknowledged, first - again / 6);
    let networks: std::collections::BTreeSet<&[u8]> = of(0x50).map(|(_, f)| &f[10..16]).collect();
    let stations: std::collections::BTreeSet<&[u8]> = of(0x40).map(|(_, f)| &f[10..16]).collect();
    assert_eq!((networks.len(), stations.len()), (3, requests));
}
