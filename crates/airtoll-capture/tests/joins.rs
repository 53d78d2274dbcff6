//! Sessions of made-up captures: the join, the rekeys and the end are three things; a time is given
//! only where both of its frames were captured.

mod network;

use std::io::Cursor;
use std::io::Write;

use airtoll_capture::file::PcapNgWriter;
use airtoll_capture::session::SessionReport;
use airtoll_capture::{Report, Selection, Window, analyse, watch};
use airtoll_security::{AkmSuite, CipherSuite};
use airtoll_wire::MacAddress;
use airtoll_wire::eapol::{EapolRepr, packet_type};
use airtoll_wire::ethernet::EthernetRepr;
use airtoll_wire::ieee80211::ManagementRepr;
use airtoll_wire::ieee80211::frame::management_subtype as subtype;
use airtoll_wire::ipv4::Ipv4Repr;
use airtoll_wire::ipv6::Ipv6Repr;
use airtoll_wire::llc::SnapRepr;
use airtoll_wire::radius::RadiusRepr;
use airtoll_wire::udp::UdpRepr;
use network::{AP, Link, START_NS, STATION, on_air, request, start, udp, written};
use proptest::prelude::*;

const MS: u64 = 1_000_000;

/// Frames with their times in milliseconds.
type Timed = Vec<(u64, Vec<u8>)>;

fn link() -> Link {
    Link::new(AkmSuite::Psk, CipherSuite::Ccmp128)
}

/// Frames from `at_ms` on, one millisecond apart.
fn from(at_ms: u64, frames: Vec<Vec<u8>>) -> Timed {
    (at_ms..).zip(frames).collect()
}

/// Authentication, association and 4-way handshake of a new association; no beacon.
fn join(link: &mut Link) -> Vec<Vec<u8>> {
    link.replay = 1;
    start(link).split_off(1)
}

fn key_frame(link: &mut Link, number: usize) -> Vec<u8> {
    let message = link.four_way()[number - 1].clone();
    link.eapol(number.is_multiple_of(2), &message)
}

fn read(frames: &Timed, keys: &[String]) -> Report {
    analyse(&request(&air(frames), keys), None).unwrap()
}

fn air(frames: &Timed) -> tempfile::NamedTempFile {
    let packets: Vec<_> = frames
        .iter()
        .map(|(at_ms, frame)| (START_NS + at_ms * MS, on_air(108, frame)))
        .collect();
    written(127, &packets)
}

fn close(value: Option<f64>, milliseconds: f64) -> bool {
    value.is_some_and(|value| (value * 1000.0 - milliseconds).abs() < 1e-6)
}

#[test]
fn a_message_1_with_octets_behind_its_key_data_is_read() {
    let mut link = link();
    let mut frames = start(&mut link);
    // Frame 5 is message 1: EAPOL length 95 becomes 117.
    let at = 26 + 8;
    let message = &mut frames[5];
    message.extend([0; 22]);
    message[at + 2..at + 4].copy_from_slice(&117u16.to_be_bytes());
    let data = link.data(true, false, &udp(40, 1));
    frames.push(link.protect(data, false));
    let report = read(&from(0, frames), &[link.key_text()]);
    assert_eq!((report.protected, report.decrypted), (1, 1));
    let session = &report.sessions[0];
    assert_eq!(session.messages["4-way"], 4, "{:?}", session.messages);
    assert!(close(session.key_handshake_time_s, 3.0));
    assert!(close(session.four_way_time_s, 3.0));
}

#[test]
fn rekeys_and_the_end_are_no_part_of_the_join() {
    let mut link = link();
    let mut frames = from(0, start(&mut link));
    let keys = [link.key_text()];
    for (at_s, key_id) in [(300, 2), (579, 1)] {
        let messages = link.group_rekey(vec![key_id; 16], key_id);
        for (index, message) in messages.iter().enumerate() {
            let frame = link.eapol(index == 1, message);
            let closed = link.protect(frame, false);
            frames.push((at_s * 1000 + index as u64, closed));
        }
    }
    link.replay += 1;
    let old = link.ptk().tk().to_vec();
    link.anonce = [0x77; 32];
    for number in 1..=4 {
        let frame = key_frame(&mut link, number);
        let pn = 100 + number as u64;
        let closed = network::protect(CipherSuite::Ccmp128, &old, 0, pn, frame);
        frames.push((600_000 + number as u64, closed));
    }
    let leave = ManagementRepr::Leave(3);
    frames.push((
        700_000,
        link.management(subtype::DEAUTHENTICATION, true, &leave),
    ));
    let report = read(&frames, &keys);
    let session = &report.sessions[0];
    assert_eq!((report.sessions.len(), session.outcome), (1, "connected"));
    assert!(close(session.negotiation_time_s, 3.0));
    assert!(close(session.key_handshake_time_s, 3.0));
    assert!(close(session.join_time_s, 7.0));
    let waits = session.waits_s;
    assert!(waits.station + waits.ap + waits.server + waits.air < 0.01);
    let kinds: Vec<_> = session
        .rekeys
        .iter()
        .map(|rekey| (rekey.protocol, rekey.frames, rekey.complete))
        .collect();
    assert_eq!(
        kinds,
        [("group", 2, true), ("group", 2, true), ("4-way", 4, true)]
    );
    assert!(close(Some(session.rekeys[2].duration_s), 3.0));
    let end = session.end.as_ref().unwrap();
    assert_eq!((end.by, end.reason_code), ("station", 3));
    assert!(close(Some(end.at_s), 699_999.0));
}

#[test]
fn a_second_join_without_a_leave_is_a_session_of_its_own() {
    let mut link = link();
    let mut frames = from(0, start(&mut link));
    frames.extend(from(200, join(&mut link)));
    let report = read(&frames, &[]);
    assert_eq!(report.sessions.len(), 2);
    for session in &report.sessions {
        assert_eq!(session.outcome, "connected");
        assert!(close(session.join_time_s, 7.0));
        assert_eq!(session.messages["4-way"], 4);
    }
}

#[test]
fn an_attempt_whose_first_frames_are_missing_is_told_and_its_times_are_unknown() {
    let mut link = link();
    let mut frames = from(0, start(&mut link));
    let leave = ManagementRepr::Leave(3);
    frames.push((50, link.management(subtype::DEAUTHENTICATION, true, &leave)));
    // The station's authentication request and message 1 are not captured.
    let again = join(&mut link);
    for (index, frame) in (0u64..).zip(again) {
        if index != 0 && index != 4 {
            frames.push((3000 + index, frame));
        }
    }
    let report = read(&frames, &[]);
    let [first, second] = &report.sessions[..] else {
        panic!("{} sessions", report.sessions.len());
    };
    assert!(close(first.join_time_s, 7.0));
    assert_eq!(second.outcome, "connected");
    let times = [
        second.association_time_s,
        second.join_time_s,
        second.key_handshake_time_s,
        second.four_way_time_s,
        second.negotiation_time_s,
    ];
    assert_eq!(times, [None; 5]);
}

#[test]
fn keys_in_clear_with_counters_from_the_beginning_are_a_new_join() {
    let mut link = link();
    let mut frames = from(0, start(&mut link));
    link.replay = 1;
    for number in 1..=4 {
        frames.push((400 + number as u64, key_frame(&mut link, number)));
        link.replay = 1;
    }
    assert_eq!(read(&frames, &[]).sessions.len(), 2);
    // With counters that grow they are a renewal of drivers that do not encrypt it.
    let mut link = Link::new(AkmSuite::Psk, CipherSuite::Ccmp128);
    let mut frames = from(0, start(&mut link));
    link.replay = 7;
    for number in 1..=4 {
        frames.push((400 + number as u64, key_frame(&mut link, number)));
        link.replay = 7;
    }
    let report = read(&frames, &[]);
    assert_eq!(report.sessions.len(), 1);
    assert_eq!(report.sessions[0].rekeys.len(), 1);
}

#[test]
fn message_4_counts_after_data_and_after_an_end() {
    for ends in [false, true] {
        let mut link = link();
        let mut frames = start(&mut link);
        let fourth = frames.pop().unwrap();
        if ends {
            let leave = ManagementRepr::Leave(2);
            frames.push(link.management(subtype::DEAUTHENTICATION, false, &leave));
        } else {
            let data = link.data(true, false, &udp(40, 1));
            frames.push(link.protect(data, false));
        }
        frames.push(fourth);
        let report = read(&from(0, frames), &[link.key_text()]);
        let session = &report.sessions[0];
        assert_eq!((report.sessions.len(), session.outcome), (1, "connected"));
        assert!(close(session.key_handshake_time_s, 4.0), "{session:?}");
        assert!(close(session.join_time_s, 8.0));
    }
}

#[test]
fn retransmissions_are_counted_apart() {
    let mut link = link();
    let mut frames = start(&mut link);
    let mut again = frames[6].clone();
    again[1] |= 8;
    frames.insert(7, again);
    let report = read(&from(0, frames), &[]);
    let session = &report.sessions[0];
    assert_eq!((session.messages["4-way"], session.retransmissions), (4, 1));
    assert_eq!(session.authentication_messages, 4);
    assert_eq!(session.message_counts["messages_eapol_key"], 4);
    assert_eq!(session.steps.len(), 9);
}

#[test]
fn four_way_times_count_from_the_last_message_1() {
    let mut link = link();
    let mut frames = from(0, start(&mut link));
    // Message 1 is sent a second time, 100 ms after the first.
    let first = key_frame(&mut link, 1);
    for (at_ms, _) in &mut frames[6..] {
        *at_ms += 200;
    }
    frames.insert(6, (105, first));
    let report = read(&frames, &[]);
    let session = &report.sessions[0];
    assert!(close(session.four_way_time_s, 103.0), "{session:?}");
    assert!(close(session.key_handshake_time_s, 203.0));
}

#[test]
fn suites_that_were_not_seen_are_unknown() {
    // SAE before any beacon.
    let mut sae = link();
    let commit = |link: &mut Link, up, number| {
        let body = ManagementRepr::Authentication(3, number, 0, &[]);
        link.management(subtype::AUTHENTICATION, up, &body)
    };
    let frames = vec![
        commit(&mut sae, true, 1),
        commit(&mut sae, false, 1),
        commit(&mut sae, true, 2),
    ];
    let session = read(&from(0, frames), &[]).sessions.remove(0);
    assert_eq!(
        (session.akm.as_deref(), session.cipher),
        (Some("sae"), None)
    );
    assert_eq!((session.pmf, session.outcome), (None, "incomplete"));
    // A request without RSN at a BSS that asks for RSN.
    let mut open = link();
    let request = ManagementRepr::AssociationRequest(0x01, 10, &[0, 0]);
    let refused = ManagementRepr::AssociationResponse(0x11, 40, 0, &[]);
    let mut frames = start(&mut open);
    frames.truncate(3);
    frames.push(open.management(subtype::ASSOCIATION_REQUEST, true, &request));
    frames.push(open.management(subtype::ASSOCIATION_RESPONSE, false, &refused));
    let session = read(&from(0, frames), &[]).sessions.remove(0);
    assert_eq!(session.cipher.as_deref(), Some("open"));
    assert_eq!((session.outcome, session.wpa_version), ("failed", None));
}

#[test]
fn a_wrong_passphrase_is_said() {
    let mut link = link();
    let mut frames = from(0, start(&mut link));
    frames.truncate(7);
    for round in 1..4 {
        link.replay += 1;
        let [first, second, ..] = link.four_way();
        frames.push((1000 * round, link.eapol(false, &first)));
        frames.push((1000 * round + 1, link.eapol(true, &second)));
    }
    let leave = ManagementRepr::Leave(15);
    frames.push((
        4000,
        link.management(subtype::DEAUTHENTICATION, false, &leave),
    ));
    let report = read(&frames, &["pmk:".to_owned() + &"00".repeat(32)]);
    let session = &report.sessions[0];
    let reason = session.reason.as_deref().unwrap();
    assert_eq!(session.outcome, "failed");
    assert!(reason.contains("wrong passphrase") && reason.contains("4 times"));
    assert!(reason.contains("(15)"), "{reason}");
    assert_eq!(report.refusals[0].reason, reason);
}

fn lease(station: MacAddress) -> Vec<u8> {
    let mut message = vec![0; 240];
    message[..3].copy_from_slice(&[2, 1, 6]);
    message[16..20].copy_from_slice(&[10, 0, 0, 7]);
    message[28..34].copy_from_slice(&station.0);
    message[236..].copy_from_slice(&[99, 130, 83, 99]);
    message.extend([0, 53, 1, 5, 255]);
    let (from, to) = ([10, 0, 0, 1].into(), [255, 255, 255, 255].into());
    let mut segment = Vec::new();
    UdpRepr {
        source: 67,
        destination: 68,
        payload: &message,
    }
    .emit(
        std::net::IpAddr::V4(from),
        std::net::IpAddr::V4(to),
        &mut segment,
    );
    let mut packet = Vec::new();
    Ipv4Repr::new(from, to, 17, &segment).emit(&mut packet);
    let mut msdu = Vec::new();
    SnapRepr::rfc1042(0x0800, &packet).emit(&mut msdu);
    msdu
}

#[test]
fn a_join_is_timed_to_its_keys_its_data_and_its_address() {
    let mut link = link();
    let mut frames = from(0, start(&mut link));
    // Data in clear before the keys is accepted by no side.
    frames.insert(6, (5, link.data(false, false, &udp(40, 9))));
    let data = link.data(true, false, &udp(40, 1));
    frames.push((31, link.protect(data, false)));
    let answer = link.data(false, true, &lease(STATION));
    frames.push((51, link.protect(answer, true)));
    let report = read(&frames, &[link.key_text()]);
    let session = &report.sessions[0];
    assert!(close(session.join_time_s, 7.0));
    assert!(close(session.time_to_data_s, 30.0), "{session:?}");
    assert!(close(session.time_to_answer_s, 50.0));
    assert_eq!((session.data_protected, session.data_clear), (1, 1));
    assert_eq!((session.frame, session.last_frame), (2, 10));
}

/// An IPv6 packet in an MSDU, from a link-local router to a link-local host.
fn ipv6(protocol: u8, payload: &[u8]) -> Vec<u8> {
    let mut packet = Vec::new();
    Ipv6Repr {
        traffic_class: 0,
        flow_label: 0,
        protocol,
        later_fragment: false,
        hop_limit: 255,
        source: "fe80::1".parse().unwrap(),
        destination: "fe80::7".parse().unwrap(),
        payload,
    }
    .emit(&mut packet);
    let mut msdu = Vec::new();
    SnapRepr::rfc1042(0x86dd, &packet).emit(&mut msdu);
    msdu
}

#[test]
fn an_answer_over_ipv6_ends_the_wait_for_an_address() {
    let reply = {
        let mut segment = Vec::new();
        UdpRepr {
            source: 547,
            destination: 546,
            payload: &[7, 0, 0, 1],
        }
        .emit(
            "fe80::1".parse().unwrap(),
            "fe80::7".parse().unwrap(),
            &mut segment,
        );
        ipv6(17, &segment)
    };
    // Types of ICMPv6: router advertisement, neighbour advertisement, neighbour solicitation.
    let icmp = |kind: u8| ipv6(58, &[kind, 0, 0, 0, 0, 0, 0, 0]);
    for (answer, ends) in [
        (reply, true),
        (icmp(134), true),
        (icmp(136), true),
        (icmp(135), false),
    ] {
        let mut link = link();
        let mut frames = from(0, start(&mut link));
        let answer = link.data(false, false, &answer);
        frames.push((51, link.protect(answer, false)));
        let report = read(&frames, &[link.key_text()]);
        let session = &report.sessions[0];
        assert_eq!(session.time_to_answer_s.is_some(), ends, "{session:?}");
        assert!(!ends || close(session.time_to_answer_s, 50.0));
    }
}

#[test]
fn a_hand_over_has_its_gap_and_its_parts() {
    for opens in [false, true] {
        let mut old = link();
        let mut new = link();
        new.ap = MacAddress([2, 0, 0, 0, 1, 9]);
        let mut frames = from(0, start(&mut old));
        let mut next = 200;
        let mut closed = |link: &mut Link, up, plain: bool| {
            next += 1;
            let data = link.data(up, false, &udp(40, 1));
            let pn = 1000 + next;
            let key = link.ptk().tk().to_vec();
            if plain {
                data
            } else {
                network::protect(CipherSuite::Ccmp128, &key, 0, pn, data)
            }
        };
        frames.push((490, closed(&mut old, true, false)));
        frames.extend(from(500, join(&mut new)));
        // The old AP does not know yet, and no side accepts data before the keys.
        frames.push((501, closed(&mut old, false, false)));
        frames.push((504, closed(&mut new, false, true)));
        frames.push((520, closed(&mut new, true, false)));
        frames.push((530, closed(&mut old, false, false)));
        if opens {
            frames.push((540, closed(&mut new, false, false)));
        }
        frames.sort_by_key(|(at_ms, _)| *at_ms);
        let report = read(&frames, &[]);
        let [roam] = &report.roams[..] else {
            panic!("{:?}", report.roams);
        };
        assert_eq!(
            (roam.from.as_str(), roam.to.as_str()),
            (AP.to_string().as_str(), new.ap.to_string().as_str(),)
        );
        assert!(close(Some(roam.handover_gap_s), 30.0), "{roam:?}");
        assert!(close(roam.handover_association_s, 3.0));
        assert!(close(roam.handover_keys_s, 3.0));
        assert_eq!(
            (roam.handover_eap_s, &roam.negotiated[..]),
            (None, &["4-way"][..])
        );
    }
}

#[test]
fn more_than_65536_interfaces_are_read() {
    let mut writer = PcapNgWriter::new(Vec::new()).unwrap();
    let first = writer.add_interface(1, "wire").unwrap();
    for _ in 0..70_000 {
        writer.add_interface(127, "air").unwrap();
    }
    let mut link = link();
    let beacon = on_air(12, &link.beacon());
    writer.write_packet(70_000, START_NS, &beacon).unwrap();
    writer.write_packet(first, START_NS, &[0; 60]).unwrap();
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(&writer.finish().unwrap()).unwrap();
    let report = analyse(&request(&file, &[]), None).unwrap();
    assert_eq!(report.damage, None);
    assert_eq!((report.kinds.management, report.kinds.wired), (1, 1));
}

#[test]
fn a_frame_without_a_time_does_not_stretch_the_capture() {
    let mut link = link();
    let frames = start(&mut link);
    for without in [0, 4] {
        let packets: Vec<_> = (0u64..)
            .zip(&frames)
            .map(|(index, frame)| {
                let time = if index == without {
                    0
                } else {
                    START_NS + index * MS
                };
                (time, on_air(108, frame))
            })
            .collect();
        let report = analyse(&request(&written(127, &packets), &[]), None).unwrap();
        assert!(report.duration_s < 0.01, "{}", report.duration_s);
        assert_eq!(report.frames_without_time, 1);
        assert!(report.sessions[0].join_time_s.unwrap() < 0.01);
        assert!(report.ledger.seconds.len() == 1);
    }
}

#[test]
fn a_window_counts_its_own_frames_and_knows_the_keys_from_before() {
    let mut link = link();
    let mut frames = from(0, start(&mut link));
    for at_ms in [100, 200, 300] {
        let data = link.data(true, false, &udp(40, 1));
        frames.push((at_ms, link.protect(data, false)));
    }
    let file = air(&frames);
    let keys = [link.key_text()];
    let in_window = |from_ns, until_ns, relative| {
        let mut request = request(&file, &keys);
        request.window = Window {
            from_ns,
            until_ns,
            relative,
        };
        analyse(&request, None).unwrap()
    };
    let part = in_window(Some(150 * MS), Some(250 * MS), true);
    assert_eq!((part.frames, part.decrypted), (1, 1));
    assert_eq!(part.ledger.total.frames, 1);
    assert_eq!(part.sessions.len(), 0);
    let rest = in_window(None, Some(START_NS + 150 * MS), false);
    assert_eq!((rest.frames, rest.decrypted), (10, 1));
    assert_eq!(rest.sessions.len(), 1);
    let whole = in_window(None, None, false);
    let last = in_window(Some(START_NS + 250 * MS), None, false);
    let octets = |report: &Report| report.ledger.total.octets.payload;
    assert_eq!(
        octets(&whole),
        octets(&part) + octets(&rest) + octets(&last)
    );
}

/// EAPOL packets of EAP: an identity, a method and success, then the 4-way handshake; with the
/// side that sends.
fn wired_join(link: &mut Link) -> Vec<(bool, Vec<u8>)> {
    let eapol = |kind: u8, body: &[u8]| {
        let mut packet = Vec::new();
        EapolRepr {
            version: 2,
            packet_type: kind,
            body,
        }
        .emit(&mut packet);
        packet
    };
    let mut list = vec![
        (true, eapol(packet_type::START, &[])),
        (false, eapol(packet_type::EAP, &[1, 1, 0, 5, 1])),
        (true, eapol(packet_type::EAP, &[2, 1, 0, 6, 1, 65])),
        (false, eapol(packet_type::EAP, &[1, 2, 0, 6, 25, 32])),
        (true, eapol(packet_type::EAP, &[2, 2, 0, 6, 25, 0])),
        (false, eapol(packet_type::EAP, &[3, 2, 0, 4])),
    ];
    let keys = link.four_way();
    list.extend((0..4).map(|index| (index % 2 == 1, keys[index].clone())));
    list
}

fn expect_wired(session: &SessionReport) {
    assert_eq!((session.seen, session.outcome), ("wire", "connected"));
    assert_eq!(session.station, STATION.to_string());
    assert_eq!(session.bssid, AP.to_string());
    assert_eq!(session.eap_method.as_deref(), Some("PEAP"));
    assert!(close(session.eap_time_s, 3.0), "{session:?}");
    assert!(close(session.four_way_time_s, 3.0));
    assert_eq!(session.akm.as_deref(), Some("802.1x"));
    assert_eq!(session.message_counts["messages_eap"], 6);
}

#[test]
fn eapol_on_ethernet_makes_sessions() {
    let mut link = Link::new(AkmSuite::Ieee8021x, CipherSuite::Ccmp128);
    let packets: Vec<_> = (0u64..)
        .zip(wired_join(&mut link))
        .map(|(index, (up, packet))| {
            let group = MacAddress([1, 0x80, 0xc2, 0, 0, 3]);
            let mut frame = Vec::new();
            EthernetRepr {
                destination: match up {
                    // The first one goes to all access points.
                    true if index == 0 => group,
                    true => AP,
                    false => STATION,
                },
                source: if up { STATION } else { AP },
                ethertype: 0x888e,
                payload: &packet,
            }
            .emit(&mut frame);
            (START_NS + index * MS, frame)
        })
        .collect();
    let report = analyse(&request(&written(1, &packets), &[]), None).unwrap();
    assert_eq!((report.sessions.len(), report.eapol_frames), (1, 10));
    expect_wired(&report.sessions[0]);
}

#[test]
fn eapol_in_a_cooked_capture_makes_sessions() {
    let mut link = Link::new(AkmSuite::Ieee8021x, CipherSuite::Ccmp128);
    let packets: Vec<_> = (0u64..)
        .zip(wired_join(&mut link))
        .map(|(index, (up, packet))| {
            let mut frame = vec![0, if up { 4 } else { 0 }, 0, 1, 0, 6];
            frame.extend(if up { STATION.0 } else { AP.0 });
            frame.extend([0, 0, 0x88, 0x8e]);
            frame.extend(packet);
            (START_NS + index * MS, frame)
        })
        .collect();
    let report = analyse(&request(&written(113, &packets), &[]), None).unwrap();
    assert_eq!((report.sessions.len(), report.eapol_frames), (1, 10));
    expect_wired(&report.sessions[0]);
}

fn radius(code: u8, identifier: u8, eap: &[u8], station: bool) -> Vec<u8> {
    let mut attributes = vec![(79, eap.to_vec())];
    if station {
        attributes.push((31, b"02-00-00-00-00-07".to_vec()));
        attributes.push((30, b"02-00-00-00-01-00:test network".to_vec()));
    }
    let mut octets = Vec::new();
    RadiusRepr {
        code,
        identifier,
        authenticator: [0; 16],
        attributes,
    }
    .emit(&mut octets);
    datagram(
        if station {
            (40_000, 1812)
        } else {
            (1812, 40_000)
        },
        &octets,
    )
}

fn datagram(ports: (u16, u16), payload: &[u8]) -> Vec<u8> {
    let (from, to) = ([10, 0, 0, 1].into(), [10, 0, 0, 2].into());
    let mut segment = Vec::new();
    UdpRepr {
        source: ports.0,
        destination: ports.1,
        payload,
    }
    .emit(
        std::net::IpAddr::V4(from),
        std::net::IpAddr::V4(to),
        &mut segment,
    );
    let mut packet = Vec::new();
    Ipv4Repr::new(from, to, 17, &segment).emit(&mut packet);
    packet
}

#[test]
fn radius_alone_makes_sessions() {
    let exchange = [
        radius(1, 1, &[2, 1, 0, 6, 1, 65], true),
        radius(11, 1, &[1, 2, 0, 6, 21, 32], false),
        radius(1, 2, &[2, 2, 0, 13, 21, 0, 21, 3, 3, 0, 2, 2, 46], true),
        radius(3, 2, &[4, 2, 0, 4], false),
    ];
    let packets: Vec<_> = (0u64..)
        .zip(exchange)
        .map(|(index, packet)| (START_NS + index * 10 * MS, packet))
        .collect();
    let report = analyse(&request(&written(101, &packets), &[]), None).unwrap();
    let [session] = &report.sessions[..] else {
        panic!("{} sessions", report.sessions.len());
    };
    assert_eq!((session.seen, session.outcome), ("radius", "failed"));
    assert_eq!(session.ssid.as_deref(), Some("test network"));
    assert_eq!(session.bssid, AP.to_string());
    assert_eq!(session.eap_method.as_deref(), Some("TTLS"));
    assert!(close(session.eap_time_at_server_s, 30.0));
    assert!(close(Some(session.waits_s.server), 20.0));
    assert_eq!(
        session.reason.as_deref(),
        Some("Access-Reject; TLS alert of the station: certificate unknown (46)")
    );
}

#[test]
fn tunnels_on_a_wire_belong_to_the_owner_of_the_address_and_count_once() {
    let mut link = link();
    let packets = from(0, start(&mut link))
        .into_iter()
        .map(|(at_ms, frame)| (START_NS + at_ms * MS, on_air(108, &frame)));
    let mut writer = PcapNgWriter::new(Vec::new()).unwrap();
    let air = writer.add_interface(127, "air").unwrap();
    let wire = writer.add_interface(101, "wire").unwrap();
    for (time_ns, octets) in packets {
        writer.write_packet(air, time_ns, &octets).unwrap();
    }
    let mut ike = vec![1; 16];
    ike.extend([33, 0x20, 34, 8]);
    ike.extend([0; 12]);
    let mut informational = ike.clone();
    informational[18] = 37;
    for (index, payload) in (0u64..).zip([&ike, &ike, &informational]) {
        let time_ns = START_NS + (20 + index) * MS;
        let packet = datagram((500, 500), payload);
        writer.write_packet(wire, time_ns, &packet).unwrap();
    }
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(&writer.finish().unwrap()).unwrap();
    let mut request = request(&file, &[]);
    assert!(
        !analyse(&request, None).unwrap().sessions[0]
            .messages
            .contains_key("ikev2")
    );
    request.owners = vec![([10, 0, 0, 1].into(), STATION)];
    let report = analyse(&request, None).unwrap();
    let session = &report.sessions[0];
    assert_eq!(report.kinds.ike, 3);
    assert_eq!(session.message_counts["messages_ikev2"], 1);
    assert_eq!(session.authentication_messages, 5);
    assert!(close(session.negotiation_time_s, 15.0));
}

#[test]
fn sessions_are_selected_and_equal_refusals_stand_together() {
    let mut frames = Vec::new();
    for number in 0..6u8 {
        let mut link = link();
        link.station.0[5] = 40 + number;
        let at_ms = u64::from(number) * 100;
        if number % 2 == 0 {
            frames.extend(from(at_ms, start(&mut link)));
            let last = frames.last_mut().unwrap();
            last.0 += u64::from(number);
        } else {
            let refused = ManagementRepr::AssociationResponse(0x11, 17, 0, &[]);
            let mut list = start(&mut link);
            list.truncate(4);
            list.push(link.management(subtype::ASSOCIATION_RESPONSE, false, &refused));
            frames.extend(from(at_ms, list));
        }
    }
    let file = air(&frames);
    let select = |selection: Selection| {
        let mut request = request(&file, &[]);
        request.selection = selection;
        analyse(&request, None).unwrap()
    };
    let all = select(Selection::default());
    assert_eq!((all.outcomes["connected"], all.outcomes["failed"]), (3, 3));
    let [refusal] = &all.refusals[..] else {
        panic!("{:?}", all.refusals);
    };
    assert_eq!((refusal.sessions, refusal.stations), (3, 3));
    assert!(refusal.reason.contains("(17)"));
    assert!(close(Some(refusal.last_at_s - refusal.first_at_s), 400.0));
    let slow = select(Selection {
        slowest: true,
        most: Some(2),
        without_steps: true,
        ..Selection::default()
    });
    let stations: Vec<_> = slow.sessions.iter().map(|s| &s.station[15..]).collect();
    assert_eq!(stations, ["2c", "2a"]);
    assert_eq!(slow.sessions_not_listed, 4);
    assert!(slow.sessions.iter().all(|session| session.steps.is_empty()));
    let one = select(Selection {
        stations: vec![MacAddress([2, 0, 0, 0, 0, 41])],
        ..Selection::default()
    });
    assert_eq!(one.sessions.len(), 1);
    let none = select(Selection {
        ssids: vec!["another".to_owned()],
        ..Selection::default()
    });
    assert_eq!((none.sessions.len(), none.sessions_not_listed), (0, 6));
}

#[test]
fn a_watcher_is_told_of_each_join_with_the_packet_that_ends_it() {
    let mut link = link();
    let mut frames = from(0, start(&mut link));
    let beacon = link.beacon();
    frames.push((20, beacon));
    let octets = std::fs::read(air(&frames).path()).unwrap();
    let mut lines = Vec::new();
    let mut packets = 0;
    let mut tell = |session: Option<&SessionReport>| {
        packets += 1;
        lines.extend(session.map(|session| (packets, session.outcome)));
        true
    };
    let request = airtoll_capture::Request::default();
    let report = watch(&request, Box::new(Cursor::new(octets.clone())), &mut tell).unwrap();
    assert_eq!(report.frames, 10);
    assert_eq!(lines, [(9, "connected")]);
    let mut stops = |session: Option<&SessionReport>| session.is_none();
    let report = watch(&request, Box::new(Cursor::new(octets)), &mut stops).unwrap();
    assert_eq!(report.frames, 9);
}

#[test]
fn a_flood_stays_within_the_tables() {
    let mut frames = Vec::new();
    for number in 0..30_000u32 {
        let mut link = link();
        let [_, b, c, d] = number.to_be_bytes();
        link.station = MacAddress([2, 9, 0, b, c, d]);
        let body = ManagementRepr::Authentication(0, 1, 0, &[]);
        let frame = link.management(subtype::AUTHENTICATION, true, &body);
        frames.push((u64::from(number), frame));
    }
    let report = read(&frames, &[]);
    assert_eq!(report.sessions.len(), 20_000);
    assert_eq!(report.sessions_left_out, 10_000);
    let [group] = &report.refusals[..] else {
        panic!("{} groups", report.refusals.len());
    };
    assert_eq!(group.reason, "no frame after: authentication open 1");
    // A watcher goes on beyond the table.
    frames.push((90_000, link().beacon()));
    let octets = std::fs::read(air(&frames).path()).unwrap();
    let mut told = 0;
    let mut tell = |session: Option<&SessionReport>| {
        told += u32::from(session.is_some());
        true
    };
    let request = airtoll_capture::Request::default();
    watch(&request, Box::new(Cursor::new(octets)), &mut tell).unwrap();
    assert_eq!(told, 20_000);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn mutated_captures_are_read(
        changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..24),
    ) {
        let mut link = Link::new(AkmSuite::Ieee8021x, CipherSuite::Ccmp128);
        let mut frames = start(&mut link);
        for (up, packet) in wired_join(&mut link) {
            frames.push(link.eapol(up, &packet));
        }
        for message in link.group_rekey(vec![7; 16], 2) {
            frames.push(link.eapol(false, &message));
        }
        frames.push(link.data(false, true, &lease(STATION)));
        let mut octets = std::fs::read(air(&from(0, frames)).path()).unwrap();
        for (index, value) in changes {
            let at = index.index(octets.len() - 64) + 64;
            octets[at] = value;
        }
        let mut given = airtoll_capture::keys::Keys::default();
        given.add_texts(&[link.key_text(), "radius:secret".to_owned()]).unwrap();
        let request = airtoll_capture::Request { keys: given, ..Default::default() };
        if let Ok(report) = airtoll_capture::analyse_octets(&request, &octets) {
            prop_assert!(report.to_json().len() > 100);
        }
    }
}
