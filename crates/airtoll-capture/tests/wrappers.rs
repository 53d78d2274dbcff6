//! 802.11 frames inside packets of others: TZSP, CAPWAP, GRE of Aruba, PKTAP and PPI.

mod network;

use airtoll_capture::{CaptureError, Report, analyse};
use airtoll_security::{AkmSuite, CipherSuite};
use airtoll_wire::MacAddress;
use airtoll_wire::ethernet::EthernetRepr;
use airtoll_wire::ipv4::Ipv4Repr;
use airtoll_wire::ipv6::Ipv6Repr;
use airtoll_wire::pktap::PktapRepr;
use airtoll_wire::ppi::PpiRepr;
use airtoll_wire::tzsp::{TzspRepr, encapsulation};
use airtoll_wire::udp::UdpRepr;
use network::{Link, START_NS, on_air, request, start, udp, written};

fn ethernet(ethertype: u16, payload: &[u8]) -> Vec<u8> {
    let mut frame = Vec::new();
    EthernetRepr {
        destination: MacAddress([2, 9, 0, 0, 0, 1]),
        source: MacAddress([2, 9, 0, 0, 0, 2]),
        ethertype,
        payload,
    }
    .emit(&mut frame);
    // The padding of a short frame.
    frame.resize(frame.len().max(60), 0);
    frame
}

fn ip(protocol: u8, payload: &[u8]) -> Vec<u8> {
    let mut packet = Vec::new();
    Ipv4Repr::new(
        [10, 9, 0, 1].into(),
        [10, 9, 0, 2].into(),
        protocol,
        payload,
    )
    .emit(&mut packet);
    ethernet(0x0800, &packet)
}

fn segment(port: u16, payload: &[u8], ends: [std::net::IpAddr; 2]) -> Vec<u8> {
    let mut segment = Vec::new();
    UdpRepr {
        source: 40_000,
        destination: port,
        payload,
    }
    .emit(ends[0], ends[1], &mut segment);
    segment
}

fn datagram(port: u16, payload: &[u8]) -> Vec<u8> {
    let ends = [[10, 9, 0, 1].into(), [10, 9, 0, 2].into()];
    ip(17, &segment(port, payload, ends))
}

fn tzsp(frame: &[u8]) -> Vec<u8> {
    let mut octets = Vec::new();
    TzspRepr {
        encapsulation: encapsulation::IEEE802_11,
        signal_dbm: Some(-40),
        rate_500kbps: Some(108),
        channel: Some(36),
        frame,
        ..TzspRepr::default()
    }
    .emit(&mut octets);
    octets
}

fn capwap(frame: &[u8], swapped: bool) -> Vec<u8> {
    let mut octets = vec![0, 0x10, 0x43, 0, 0, 0, 0, 0];
    let start = octets.len();
    octets.extend(frame);
    if swapped {
        octets.swap(start, start + 1);
    }
    octets
}

/// A join and a datagram of the station, without radio headers.
fn frames() -> (Vec<Vec<u8>>, String) {
    let mut link = Link::new(AkmSuite::Psk, CipherSuite::Ccmp128);
    let mut frames = start(&mut link);
    let data = link.data(true, false, &udp(40, 1));
    frames.push(link.protect(data, false));
    (frames, link.key_text())
}

fn read(link_type: u16, packets: Vec<Vec<u8>>, key: &str) -> Report {
    let timed: Vec<_> = (0u64..)
        .zip(packets)
        .map(|(index, packet)| (START_NS + index * 1_000_000, packet))
        .collect();
    let file = written(link_type, &timed);
    analyse(&request(&file, &[key.to_owned()]), None).unwrap()
}

#[test]
fn a_join_is_read_through_every_wrapper() {
    type Wrap = fn(&[u8]) -> Vec<u8>;
    let wraps: [(&str, u16, Wrap); 8] = [
        ("TZSP", 1, |frame| datagram(37_008, &tzsp(frame))),
        ("TZSP", 1, |frame| {
            let ends = ["fe80::1", "fe80::2"].map(|end| end.parse().unwrap());
            let inner = segment(37_008, &tzsp(frame), ends);
            let mut packet = Vec::new();
            let [from, to] = ["fe80::1", "fe80::2"].map(|end| end.parse().unwrap());
            Ipv6Repr::new(from, to, 17, &inner).emit(&mut packet);
            ethernet(0x86dd, &packet)
        }),
        ("CAPWAP", 1, |frame| datagram(5_247, &capwap(frame, false))),
        ("CAPWAP", 1, |frame| datagram(5_247, &capwap(frame, true))),
        ("GRE of Aruba", 1, |frame| {
            ip(47, &[&[0, 0, 0x83, 0x10][..], frame].concat())
        }),
        ("PKTAP", 258, |frame| {
            let mut octets = Vec::new();
            PktapRepr {
                len: 108,
                link_type: 127,
            }
            .emit(&mut octets);
            [octets, on_air(108, frame)].concat()
        }),
        ("PPI", 192, |frame| {
            let mut octets = Vec::new();
            PpiRepr {
                link_type: 127,
                ..PpiRepr::default()
            }
            .emit(&mut octets);
            [octets, on_air(108, frame)].concat()
        }),
        // Two layers: TZSP in a packet of PKTAP.
        ("TZSP", 258, |frame| {
            let mut octets = Vec::new();
            PktapRepr {
                len: 108,
                link_type: 1,
            }
            .emit(&mut octets);
            [octets, datagram(37_008, &tzsp(frame))].concat()
        }),
    ];
    let (frames, key) = frames();
    for (name, link_type, wrap) in wraps {
        let packets = frames.iter().map(|frame| wrap(frame)).collect();
        let report = read(link_type, packets, &key);
        assert_eq!(report.kinds.wired, 0, "{name}");
        assert_eq!(report.wrapped[name], frames.len() as u64, "{name}");
        assert_eq!((report.protected, report.decrypted), (1, 1), "{name}");
        let session = &report.sessions[0];
        assert_eq!(session.outcome, "connected", "{name}");
        assert!(
            session
                .join_time_s
                .is_some_and(|join| (join - 0.007).abs() < 1e-9)
        );
        let timed = !matches!(name, "CAPWAP" | "GRE of Aruba");
        assert_eq!(report.ledger.security_share.is_some(), timed, "{name}");
    }
}

#[test]
fn other_packets_of_the_wire_stay_what_they_are() {
    let (frames, key) = frames();
    let packets = vec![
        // DTLS, a keep-alive of TZSP, GRE of another kind, and the start of a fragmented frame.
        datagram(5_247, &[1, 0, 0, 0, 0x17, 0xfe, 0xff]),
        datagram(37_008, &[1, 4, 0, 18, 1]),
        ip(47, &[0, 0, 0x88, 0xbe, 1, 2, 3, 4]),
        datagram(
            5_247,
            &[&[0, 0x10, 0x43, 0x80, 0, 0, 0, 0][..], &frames[0]].concat(),
        ),
        datagram(4_000, &tzsp(&frames[0])),
    ];
    let report = read(1, packets, &key);
    assert_eq!((report.kinds.wired, report.kinds.management), (5, 0));
    assert!(report.wrapped.is_empty());
}

#[test]
fn wrappers_in_wrappers_come_to_an_end() {
    let mut octets = vec![1, 2, 3];
    for _ in 0..200 {
        let mut outer = Vec::new();
        PpiRepr {
            link_type: 192,
            ..PpiRepr::default()
        }
        .emit(&mut outer);
        outer.extend(&octets);
        octets = outer;
    }
    let file = written(192, &[(START_NS, octets)]);
    let refused = analyse(&request(&file, &[]), None);
    assert!(matches!(
        refused,
        Err(CaptureError::NothingRead { frames: 1, .. })
    ));
}
