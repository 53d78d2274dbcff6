//! Attempts, hand-overs and ends of made-up captures, told apart by traffic, alerts and tries.

mod network;

use airtoll_capture::session::SessionReport;
use airtoll_capture::{Report, analyse};
use airtoll_security::{AkmSuite, CipherSuite};
use airtoll_wire::MacAddress;
use airtoll_wire::eapol::{EapolRepr, packet_type};
use airtoll_wire::ieee80211::frame::management_subtype as subtype;
use airtoll_wire::ieee80211::{FrameControl, HeaderRepr, Kind, ManagementRepr};
use airtoll_wire::ipv4::Ipv4Repr;
use airtoll_wire::llc::SnapRepr;
use airtoll_wire::udp::UdpRepr;
use airtoll_wire::wps;
use network::{AP, Link, START_NS, STATION, on_air, request, start, udp, written};

const MS: u64 = 1_000_000;

type Timed = Vec<(u64, Vec<u8>)>;

fn link() -> Link {
    Link::new(AkmSuite::Psk, CipherSuite::Ccmp128)
}

fn from(at_ms: u64, frames: Vec<Vec<u8>>) -> Timed {
    (at_ms..).zip(frames).collect()
}

fn read(frames: &Timed, keys: &[String]) -> Report {
    let mut frames = frames.clone();
    frames.sort_by_key(|(at_ms, _)| *at_ms);
    let packets: Vec<_> = frames
        .iter()
        .map(|(at_ms, frame)| (START_NS + at_ms * MS, on_air(108, frame)))
        .collect();
    analyse(&request(&written(127, &packets), keys), None).unwrap()
}

fn only(report: &Report) -> &SessionReport {
    let [session] = &report.sessions[..] else {
        panic!("{} sessions", report.sessions.len());
    };
    session
}

/// Protected data of the station at these times.
fn data(link: &mut Link, times_ms: impl IntoIterator<Item = u64>) -> Timed {
    let times = times_ms.into_iter();
    times
        .map(|at_ms| {
            let frame = link.data(true, false, &udp(40, 1));
            (at_ms, link.protect(frame, false))
        })
        .collect()
}

/// A station that moves at 20 s, with data at the old AP at these times and at the new one from then on.
fn moves(old_ms: impl IntoIterator<Item = u64>, new_ms: u64) -> Report {
    let (mut old, mut new) = (link(), link());
    new.ap = MacAddress([2, 0, 0, 0, 1, 9]);
    let mut frames = from(0, start(&mut old));
    frames.extend(data(&mut old, old_ms));
    new.replay = 1;
    frames.extend(from(20_000, start(&mut new).split_off(1)));
    frames.extend(data(&mut new, [new_ms]));
    read(&frames, &[])
}

#[test]
fn idle_time_is_no_part_of_a_hand_overs_gap() {
    let gap = |report: &Report| {
        let [roam] = &report.roams[..] else {
            panic!("{:?}", report.roams);
        };
        let ms = |seconds: f64| (seconds * 1000.0).round() as u64;
        (ms(roam.handover_gap_s), ms(roam.idle_s), ms(roam.silence_s))
    };
    // The join at the new AP takes 7 ms. A stream of a frame every 20 ms is interrupted for 3.03 s.
    let stream = (10..=17_000).step_by(20);
    assert_eq!(gap(&moves(stream, 20_020)), (3_030, 0, 3_030));
    // A phone that sends a burst every 9 s was idle until it asked the new AP, and afterwards.
    let bursts = [100, 110, 9_100, 9_110];
    assert_eq!(gap(&moves(bursts, 20_020)), (20, 10_890, 10_910));
    assert_eq!(gap(&moves(bursts, 26_007)), (7, 16_890, 16_897));
}

#[test]
fn a_hand_over_needs_an_access_point_on_either_side() {
    let mut joined = link();
    let mut frames = from(1, start(&mut joined));
    // Frames of the card to itself, and to an address that no one ever heard.
    for to in [STATION, MacAddress([2, 0, 0, 9, 9, 9])] {
        let mut stray = Link::new(AkmSuite::Psk, CipherSuite::Ccmp128);
        stray.ap = to;
        frames.push((0, stray.data(true, false, &udp(40, 1))));
    }
    frames.extend(data(&mut joined, [50]));
    assert!(read(&frames, &[]).roams.is_empty());
}

fn leave_all(link: &mut Link, kind: u8, code: u16) -> Vec<u8> {
    let mut frame = link.management(kind, false, &ManagementRepr::Leave(code));
    frame[4..10].copy_from_slice(&MacAddress::BROADCAST.0);
    frame
}

#[test]
fn an_end_for_all_stations_holds_for_those_that_obey() {
    for (pmf, goes_on, ends) in [
        (false, false, true),
        (false, true, false),
        (true, false, false),
    ] {
        let mut link = link();
        link.pmf = pmf;
        let mut frames = from(0, start(&mut link));
        frames.push((100, leave_all(&mut link, subtype::DEAUTHENTICATION, 7)));
        frames.push((101, leave_all(&mut link, subtype::DISASSOCIATION, 8)));
        if goes_on {
            frames.extend(data(&mut link, [90, 150, 1_500]));
        }
        let report = read(&frames, &[]);
        let session = only(&report);
        assert_eq!(session.outcome, "connected");
        let end = session
            .end
            .as_ref()
            .map(|end| (end.to_all, end.reason_code));
        assert_eq!(end, ends.then_some((true, 7)), "{pmf} {goes_on}");
        let leaves: Vec<_> = report
            .leaves
            .iter()
            .map(|leave| (leave.kind, leave.reason_code, leave.to_all, leave.frames))
            .collect();
        assert_eq!(
            leaves,
            [
                ("deauthentication", 7, true, 1),
                ("disassociation", 8, true, 1)
            ]
        );
    }
}

#[test]
fn leaves_of_stations_without_a_session_are_counted() {
    let mut link = link();
    let leave = ManagementRepr::Leave(6);
    let frames: Timed = (0..50)
        .map(|at_ms| {
            let frame = link.management(subtype::DEAUTHENTICATION, at_ms % 5 == 0, &leave);
            (at_ms, frame)
        })
        .collect();
    let report = read(&frames, &[]);
    assert!(report.sessions.is_empty());
    let counted: Vec<_> = report
        .leaves
        .iter()
        .map(|leave| (leave.by, leave.to_all, leave.frames, leave.words))
        .collect();
    let words = "class 2 frame from a station that is not authenticated";
    assert_eq!(
        counted,
        [("ap", false, 40, words), ("station", false, 10, words)]
    );
}

fn eap(link: &mut Link, from_station: bool, octets: &[u8]) -> Vec<u8> {
    let mut packet = Vec::new();
    EapolRepr {
        version: 2,
        packet_type: packet_type::EAP,
        body: octets,
    }
    .emit(&mut packet);
    link.eapol(from_station, &packet)
}

fn eap_packet(code: u8, identifier: u8, kind: u8, data: &[u8]) -> Vec<u8> {
    let length = 5 + data.len() as u16;
    let mut octets = vec![code, identifier];
    octets.extend(length.to_be_bytes());
    octets.push(kind);
    octets.extend(data);
    octets
}

#[test]
fn a_failure_of_eap_names_its_method_and_the_alert_before_it() {
    let mut link = Link::new(AkmSuite::Ieee8021x, CipherSuite::Ccmp128);
    let mut frames = start(&mut link);
    frames.truncate(5);
    let alert = [0, 21, 3, 3, 0, 2, 2, 48];
    frames.push(eap(&mut link, false, &eap_packet(1, 1, 1, &[])));
    frames.push(eap(&mut link, true, &eap_packet(2, 1, 1, b"user")));
    frames.push(eap(&mut link, false, &eap_packet(1, 2, 13, &[0x20])));
    frames.push(eap(&mut link, true, &eap_packet(2, 2, 13, &alert)));
    frames.push(eap(&mut link, false, &[4, 2, 0, 4]));
    let report = read(&from(0, frames), &[]);
    let session = only(&report);
    assert_eq!(
        session.reason.as_deref(),
        Some("EAP failure in TLS; TLS alert of the station: unknown CA (48)")
    );
    assert_eq!((session.outcome, session.eap_time_s), ("failed", None));
}

#[test]
fn an_eap_time_is_that_of_the_attempt_that_succeeded() {
    let mut link = Link::new(AkmSuite::Ieee8021x, CipherSuite::Ccmp128);
    let mut frames = from(0, start(&mut link));
    let keys = frames.split_off(5);
    let mut at_ms = 10;
    let mut exchange = |link: &mut Link, frames: &mut Timed, last: &[u8]| {
        for (up, packet) in [
            (false, eap_packet(1, 1, 1, &[])),
            (true, eap_packet(2, 1, 1, b"user")),
            (false, last.to_vec()),
        ] {
            frames.push((at_ms, eap(link, up, &packet)));
            at_ms += 100;
        }
    };
    exchange(&mut link, &mut frames, &[4, 1, 0, 4]);
    exchange(&mut link, &mut frames, &[3, 1, 0, 4]);
    frames.extend(
        keys.into_iter()
            .map(|(at_ms, frame)| (1_000 + at_ms, frame)),
    );
    let report = read(&frames, &[]);
    let session = only(&report);
    assert_eq!(session.outcome, "connected");
    assert_eq!(session.failures, ["EAP failure"]);
    assert!(
        (session.eap_time_s.unwrap() - 0.1).abs() < 1e-9,
        "{session:?}"
    );
}

#[test]
fn wi_fi_protected_setup_ends_with_a_failure_that_is_none() {
    let wsc = |code: u8, identifier: u8, opcode: u8, message: u8| {
        let mut data = wps::EXPANDED.to_vec();
        data.extend([opcode, 0, 0x10, 0x22, 0, 1, message]);
        eap_packet(code, identifier, 254, &data)
    };
    for (last, outcome) in [
        (wps::message::DONE, "registered"),
        (wps::message::NACK, "failed"),
    ] {
        let mut link = link();
        let mut frames = start(&mut link);
        frames.truncate(5);
        frames.push(eap(&mut link, false, &eap_packet(1, 1, 1, &[])));
        let name = b"WFA-SimpleConfig-Enrollee-1-0";
        frames.push(eap(&mut link, true, &eap_packet(2, 1, 1, name)));
        frames.push(eap(&mut link, false, &wsc(1, 2, 4, 4)));
        frames.push(eap(&mut link, true, &wsc(2, 2, 5, last)));
        frames.push(eap(&mut link, false, &[4, 2, 0, 4]));
        let leave = ManagementRepr::Leave(3);
        frames.push(link.management(subtype::DEAUTHENTICATION, false, &leave));
        let report = read(&from(0, frames), &[]);
        let session = only(&report);
        assert_eq!(
            (session.eap_method.as_deref(), session.outcome),
            (Some("WPS"), outcome)
        );
        let names: Vec<_> = session.steps.names().collect();
        assert!(
            names.contains(&"EAP request WPS M1".to_owned()),
            "{names:?}"
        );
        assert_eq!(report.refusals.is_empty(), outcome == "registered");
        if outcome == "failed" {
            assert!(session.failures[0].contains("EAP failure in WPS"));
        }
    }
}

/// A DHCP message of the client or of its server, sent by the station or by the AP to all.
fn dhcp(link: &mut Link, of_client: bool, from_station: bool, kind: u8) -> Vec<u8> {
    let mut message = vec![0; 240];
    message[..3].copy_from_slice(&[if of_client { 1 } else { 2 }, 1, 6]);
    message[4..8].copy_from_slice(&[0, 0, 0, 9]);
    message[16..20].copy_from_slice(&[10, 0, 0, 7]);
    message[28..34].copy_from_slice(&STATION.0);
    message[236..].copy_from_slice(&[99, 130, 83, 99]);
    message.extend([53, 1, kind, 255]);
    let (source, destination) = if of_client { (68, 67) } else { (67, 68) };
    let (ours, all) = ([0, 0, 0, 0].into(), [255, 255, 255, 255].into());
    let mut segment = Vec::new();
    UdpRepr {
        source,
        destination,
        payload: &message,
    }
    .emit(
        std::net::IpAddr::V4(ours),
        std::net::IpAddr::V4(all),
        &mut segment,
    );
    let mut packet = Vec::new();
    Ipv4Repr::new(ours, all, 17, &segment).emit(&mut packet);
    let mut msdu = Vec::new();
    SnapRepr::rfc1042(0x0800, &packet).emit(&mut msdu);
    let frame = link.data(from_station, !from_station, &msdu);
    link.protect(frame, !from_station)
}

#[test]
fn tries_of_dhcp_are_counted_without_the_macs_and_the_aps_own_copies() {
    let mut link = link();
    let mut frames = from(0, start(&mut link));
    // Three searches, each of which the AP sends to all stations, too; one is sent again by the MAC.
    for (number, at_ms) in [1_000, 3_000, 7_000].into_iter().enumerate() {
        let up = dhcp(&mut link, true, true, 1);
        if number == 0 {
            let mut again = up.clone();
            again[1] |= 8;
            frames.push((at_ms + 1, again));
        }
        frames.push((at_ms, up));
        frames.push((at_ms + 2, dhcp(&mut link, true, false, 1)));
    }
    for (at_ms, of_client, kind) in [(7_010, false, 2), (7_020, true, 3), (7_030, false, 5)] {
        frames.push((at_ms, dhcp(&mut link, of_client, of_client, kind)));
    }
    let report = read(&frames, &[link.key_text()]);
    let seen = only(&report).dhcp.unwrap();
    assert_eq!(
        (seen.discover, seen.offer, seen.request, seen.ack, seen.nak),
        (3, 1, 1, 1, 0)
    );
}

#[test]
fn access_points_and_rates_are_told() {
    let mut link = link();
    let mut frames = from(0, start(&mut link));
    let mut beacon = link.beacon();
    beacon.extend([3, 1, 36]);
    frames.push((20, beacon));
    frames.extend(data(&mut link, 30..40));
    let report = read(&frames, &[]);
    let [ap] = &report.access_points[..] else {
        panic!("{:?}", report.access_points);
    };
    assert_eq!(ap.bssid, AP.to_string());
    assert_eq!((ap.channel, ap.frequency_mhz), (Some(36), Some(5180)));
    assert_eq!(
        (&ap.akms[..], &ap.ciphers[..]),
        (&["psk".to_owned()][..], &["ccmp-128".to_owned()][..])
    );
    let station = &report.ledger.stations[0];
    assert_eq!(station.address, STATION.to_string());
    assert_eq!(
        (station.rate_up_mbps, station.rate_down_mbps),
        (Some(54.0), None)
    );
}

#[test]
fn frames_of_an_ad_hoc_network_are_no_ones_way_to_an_access_point() {
    let mut joined = link();
    let mut frames = from(0, start(&mut joined));
    let mut octets = Vec::new();
    HeaderRepr {
        control: FrameControl::new(Kind::Data, 0),
        duration: 0,
        address1: MacAddress([2, 0, 0, 0, 5, 5]),
        address2: STATION,
        address3: MacAddress([2, 1, 2, 3, 4, 5]),
        sequence_control: 0,
        address4: None,
        qos_control: None,
        ht_control: None,
    }
    .emit(&mut octets);
    octets.extend(udp(40, 1));
    frames.extend(data(&mut joined, [20]));
    frames.push((30, octets));
    frames.extend(data(&mut joined, [40]));
    assert!(read(&frames, &[]).roams.is_empty());
}
