//! Whole captures of made-up networks: every cipher and AKM, rekeys, frames before their key,
//! fragments, A-MSDUs, four addresses, protected management; counted and compared octet by octet.

mod network;

use airtoll_security::link::tkip::TkipKey;
use airtoll_security::{AkmSuite, CipherSuite};
use airtoll_wire::MacAddress;
use airtoll_wire::ieee80211::amsdu::{self, Subframe};
use airtoll_wire::ieee80211::{ControlRepr, FrameControl, HeaderRepr, Kind, ManagementRepr};
use network::{AP, Link, STATION, protect, report, start, udp};

fn suites() -> Vec<(AkmSuite, CipherSuite)> {
    let mut list = vec![
        (AkmSuite::WpaPsk, CipherSuite::Tkip),
        (AkmSuite::WpaPsk, CipherSuite::Ccmp128),
        (AkmSuite::Psk, CipherSuite::Tkip),
        (AkmSuite::SuiteB192, CipherSuite::Gcmp256),
    ];
    for akm in [
        AkmSuite::Psk,
        AkmSuite::PskSha256,
        AkmSuite::Sae,
        AkmSuite::Owe,
        AkmSuite::SaeExtKey,
        AkmSuite::Ieee8021x,
        AkmSuite::SuiteB,
    ] {
        for cipher in [
            CipherSuite::Ccmp128,
            CipherSuite::Gcmp128,
            CipherSuite::Ccmp256,
            CipherSuite::Gcmp256,
        ] {
            list.push((akm, cipher));
        }
    }
    list
}

#[test]
fn every_suite_opens_unicast_and_group_frames() {
    for (akm, cipher) in suites() {
        let mut link = Link::new(akm, cipher);
        let mut frames = start(&mut link);
        let msdus = [udp(100, 1), udp(1400, 2), udp(64, 3)];
        let up = link.data(true, false, &msdus[0]);
        frames.push(link.protect(up, false));
        let down = link.data(false, false, &msdus[1]);
        frames.push(link.protect(down, false));
        if akm == AkmSuite::WpaPsk {
            // WPA delivers its group key in a handshake of its own, under the pairwise key.
            let [first, second] = link.group_rekey(vec![0xd4; cipher.key_octets()], 2);
            let first = link.eapol(false, &first);
            frames.push(link.protect(first, false));
            let second = link.eapol(true, &second);
            frames.push(link.protect(second, false));
        }
        let group = link.data(false, true, &msdus[2]);
        frames.push(link.protect(group, true));
        let (report, plain) = report(&frames, &[link.key_text()]);
        let name = format!("{} {}", akm.name(), cipher.name());
        assert_eq!(
            report.decrypted, report.protected,
            "{name}: {:?}",
            report.undecrypted
        );
        let extra = if akm == AkmSuite::WpaPsk { 2 } else { 0 };
        assert_eq!(report.protected, 3 + extra, "{name}");
        assert_eq!(report.eapol_frames, 4 + extra, "{name}");
        for msdu in &msdus {
            assert!(plain.iter().any(|(_, octets)| octets == msdu), "{name}");
        }
        let session = &report.sessions[0];
        assert_eq!(session.outcome, "connected", "{name}");
        assert_eq!(session.akm.as_deref(), Some(akm.name()));
        assert_eq!(session.cipher.as_deref(), Some(cipher.name()));
        assert_eq!(session.ssid.as_deref(), Some("test network"));
        // Messages 1 to 4, one millisecond apart; with WPA the group key follows two data frames.
        let keys_ms = if akm == AkmSuite::WpaPsk { 7.0 } else { 3.0 };
        assert!((session.key_handshake_time_s.unwrap() * 1e3 - keys_ms).abs() < 1e-6);
        assert!((session.four_way_time_s.unwrap() - 0.003).abs() < 1e-9);
        assert!((session.association_time_s.unwrap() - 0.003).abs() < 1e-9);
    }
}

#[test]
fn a_wrong_or_missing_key_says_why() {
    let mut link = Link::new(AkmSuite::Psk, CipherSuite::Ccmp128);
    let mut frames = start(&mut link);
    let data = link.data(true, false, &udp(100, 1));
    frames.push(link.protect(data, false));
    let mut damaged = link.data(true, false, &udp(100, 2));
    damaged = link.protect(damaged, false);
    *damaged.last_mut().unwrap() ^= 1;
    frames.push(damaged);
    let why = |keys: &[String], frames: &[Vec<u8>]| report(frames, keys).0.undecrypted;
    assert_eq!(why(&[], &frames)["no key"], 2);
    assert_eq!(
        why(&["pmk:".to_owned() + &"00".repeat(32)], &frames)["no key fits the handshake"],
        2
    );
    let right = link.key_text();
    assert_eq!(why(std::slice::from_ref(&right), &frames)["MIC failure"], 1);
    assert_eq!(why(&[right], &frames[9..])["no handshake seen"], 2);
}

#[test]
fn frames_before_their_key_are_opened() {
    let mut link = Link::new(AkmSuite::Psk, CipherSuite::Ccmp128);
    let early = link.data(false, true, &udp(200, 9));
    let mut frames = vec![link.protect(early, true)];
    frames.extend(start(&mut link));
    // A rekey inside the protected link, whose new key is used before the message is seen.
    let mut renewed = Link::new(AkmSuite::Psk, CipherSuite::Ccmp128);
    let [first, second] = link.group_rekey(vec![0x77; 16], 2);
    renewed.gtk = vec![0x77; 16];
    renewed.gtk_id = 2;
    let early = renewed.data(false, true, &udp(200, 8));
    frames.push(renewed.protect(early, true));
    let first = link.eapol(false, &first);
    frames.push(link.protect(first, false));
    let second = link.eapol(true, &second);
    frames.push(link.protect(second, false));
    let (report, plain) = report(&frames, &[link.key_text()]);
    assert_eq!((report.protected, report.decrypted), (4, 4));
    assert_eq!(report.decrypted_late, 2);
    assert_eq!(report.undecrypted.values().sum::<u64>(), 0);
    assert_eq!(plain.iter().filter(|(number, _)| *number == 1).count(), 1);
}

#[test]
fn rekeys_keep_old_and_new_keys_apart() {
    let mut link = Link::new(AkmSuite::Sae, CipherSuite::Ccmp128);
    let mut frames = start(&mut link);
    for round in 1..20u8 {
        let data = link.data(true, false, &udp(80, round));
        frames.push(link.protect(data, false));
        let old_key = link.ptk().tk().to_vec();
        link.anonce = [round; 32];
        link.snonce = [round ^ 0xff; 32];
        let messages = link.four_way();
        for (index, message) in messages.iter().enumerate() {
            let from_station = index % 2 == 1;
            let frame = link.eapol(from_station, message);
            link.pn += 1;
            frames.push(protect(link.cipher, &old_key, 0, link.pn, frame));
        }
    }
    let (report, _) = report(&frames, &[link.key_text()]);
    assert_eq!((report.protected, report.decrypted), (19 * 5, 19 * 5));
    assert_eq!(report.eapol_frames, 4 + 19 * 4);
}

#[test]
fn aggregates_fragments_and_four_addresses() {
    let mut link = Link::new(AkmSuite::Psk, CipherSuite::Ccmp128);
    let mut frames = start(&mut link);
    let msdus = [udp(50, 1), udp(60, 2), udp(70, 3)];
    let subframes: Vec<_> = msdus
        .iter()
        .map(|msdu| Subframe {
            destination: AP,
            source: STATION,
            msdu,
        })
        .collect();
    let mut body = Vec::new();
    amsdu::emit(&subframes, &mut body);
    let aggregate = link.data_with(true, false, 0x80, &body);
    frames.push(link.protect(aggregate, false));
    // An EAPOL-Start in two fragments: counted once, with the last.
    let mut start_packet = vec![0xaa, 0xaa, 3, 0, 0, 0, 0x88, 0x8e, 2, 1, 0, 0];
    start_packet.resize(60, 0);
    for (number, part) in start_packet.chunks(30).enumerate() {
        let mut fragment = link.data(true, false, part);
        fragment[22] = 0x50 | number as u8;
        fragment[23] = 0x33;
        if number == 0 {
            fragment[1] |= 4;
        }
        frames.push(link.protect(fragment, false));
    }
    let mut wds = Vec::new();
    HeaderRepr {
        control: FrameControl::new(Kind::Data, 8)
            .with_to_ds(true)
            .with_from_ds(true),
        duration: 0,
        address1: AP,
        address2: STATION,
        address3: MacAddress([4; 6]),
        sequence_control: 0x100,
        address4: Some(MacAddress([6; 6])),
        qos_control: Some(5),
        ht_control: None,
    }
    .emit(&mut wds);
    wds.extend(udp(90, 4));
    frames.push(link.protect(wds, false));
    let (report, plain) = report(&frames, &[link.key_text()]);
    assert_eq!((report.protected, report.decrypted), (4, 4));
    assert_eq!(report.eapol_frames, 5);
    assert!(plain.iter().any(|(_, octets)| *octets == body));
    assert!(plain.iter().any(|(_, octets)| *octets == udp(90, 4)));
}

#[test]
fn both_directions_of_a_wireless_bridge_open() {
    for suite in [
        CipherSuite::Wep104,
        CipherSuite::Tkip,
        CipherSuite::Ccmp128,
        CipherSuite::Ccmp256,
        CipherSuite::Gcmp128,
        CipherSuite::Gcmp256,
    ] {
        let mut link = Link::new(AkmSuite::Psk, CipherSuite::Ccmp128);
        let key: Vec<u8> = (1..=suite.key_octets() as u8).collect();
        let mut frames = vec![link.beacon()];
        for (number, (receiver, transmitter)) in [(AP, STATION), (STATION, AP)].iter().enumerate() {
            let mut frame = Vec::new();
            HeaderRepr {
                control: FrameControl::new(Kind::Data, 8)
                    .with_to_ds(true)
                    .with_from_ds(true),
                duration: 0,
                address1: *receiver,
                address2: *transmitter,
                address3: MacAddress([4; 6]),
                sequence_control: 0x100,
                address4: Some(MacAddress([6; 6])),
                qos_control: Some(0),
                ht_control: None,
            }
            .emit(&mut frame);
            frame.extend(udp(90, number as u8));
            let frame = if suite == CipherSuite::Tkip {
                // The sender's Michael key, whichever way the frame goes.
                tkip(&key, AP, frame)
            } else {
                protect(suite, &key, 0, number as u64 + 1, frame)
            };
            frames.push(frame);
        }
        let hex: String = key.iter().map(|octet| format!("{octet:02x}")).collect();
        let kind = if suite == CipherSuite::Wep104 {
            "wep"
        } else {
            "tk"
        };
        let (report, plain) = report(&frames, &[format!("{kind}:{hex}")]);
        assert_eq!((report.protected, report.decrypted), (2, 2), "{suite:?}");
        assert_eq!(report.refused.get("Michael failure"), None, "{suite:?}");
        for fill in [0, 1] {
            assert!(plain.iter().any(|(_, octets)| *octets == udp(90, fill)));
        }
        // One client, whichever way its frames go.
        assert!(report.roams.is_empty());
    }
}

/// An MSDU under TKIP between an access point and a station.
fn tkip(key: &[u8], access_point: MacAddress, mpdu: Vec<u8>) -> Vec<u8> {
    let header = 32;
    let mut frame = mpdu[..header].to_vec();
    frame.resize(header + 8, 0);
    frame.extend_from_slice(&mpdu[header..]);
    frame.resize(frame.len() + 12, 0);
    let key = TkipKey::new(key).unwrap().of_access_point(access_point.0);
    key.encapsulate_msdu(&mut frame, 7, 0).unwrap();
    // Neither the other end's Michael key nor the other direction fits.
    let other = TkipKey::clone(&key).of_access_point([9; 6]);
    let by_ap = mpdu[10..16] == access_point.0;
    assert_eq!(other.decapsulate_msdu(&mut frame.clone()).is_err(), by_ap);
    assert!(key.decapsulate_msdu(&mut frame.clone()).is_ok());
    frame
}

#[test]
fn protected_management_tells_its_reason() {
    let mut link = Link::new(AkmSuite::Sae, CipherSuite::Gcmp256);
    link.pmf = true;
    let mut frames = start(&mut link);
    let leave = link.management(12, false, &ManagementRepr::Leave(4));
    frames.push(link.protect(leave, false));
    let (report, _) = report(&frames, &[link.key_text()]);
    assert_eq!(
        (
            report.protected,
            report.protected_mgmt,
            report.decrypted_mgmt
        ),
        (0, 1, 1)
    );
    let session = &report.sessions[0];
    assert_eq!(session.pmf, Some("required"));
    let reason = session.reason.as_deref().unwrap();
    assert_eq!(reason, "deauthenticated by the AP: inactivity (4)");
    assert_eq!(session.outcome, "connected");
}

#[test]
fn wep_and_temporal_keys_need_no_handshake() {
    let cases: [(CipherSuite, usize, &str); 7] = [
        (CipherSuite::Wep40, 5, "wep"),
        (CipherSuite::Wep104, 13, "wep"),
        (CipherSuite::Tkip, 32, "tk"),
        (CipherSuite::Ccmp128, 16, "tk"),
        (CipherSuite::Ccmp256, 32, "tk"),
        (CipherSuite::Gcmp128, 16, "tk"),
        (CipherSuite::Gcmp256, 32, "tk"),
    ];
    for (suite, len, kind) in cases {
        let mut link = Link::new(AkmSuite::Psk, CipherSuite::Ccmp128);
        let key: Vec<u8> = (1..=len as u8).collect();
        let hex: String = key.iter().map(|o| format!("{o:02x}")).collect();
        let data = link.data(true, false, &udp(120, 5));
        let frames = vec![protect(suite, &key, 2, 0x12_3456, data)];
        let (report, plain) = report(&frames, &[format!("{kind}:{hex}")]);
        assert_eq!(report.decrypted, 1, "{}", suite.name());
        assert_eq!(plain[0].1, udp(120, 5), "{}", suite.name());
    }
}

#[test]
fn failures_roams_and_retries_are_told() {
    let mut link = Link::new(AkmSuite::Psk, CipherSuite::Ccmp128);
    let mut frames = vec![link.beacon()];
    frames.extend(link.association());
    let [first, ..] = link.four_way();
    for _ in 0..3 {
        frames.push(link.eapol(false, &first));
    }
    frames.push(link.management(12, false, &ManagementRepr::Leave(15)));
    let mut retry = link.data(true, false, &udp(10, 0));
    retry[1] |= 8;
    frames.push(retry);
    let mut ack = Vec::new();
    ControlRepr::Ack(0, STATION).emit(&mut ack);
    frames.push(ack);
    let (report, _) = report(&frames, &[]);
    let session = &report.sessions[0];
    assert_eq!(session.outcome, "failed");
    assert!(
        session
            .reason
            .as_deref()
            .unwrap()
            .contains("4-way handshake timed out (15)")
    );
    assert_eq!(session.key_handshake_time_s, None);
    assert_eq!(session.messages["4-way"], 3);
    assert_eq!(report.ledger.total.retries, 1);
    assert_eq!(report.kinds.control, 1);
}

#[test]
fn a_roam_has_a_gap() {
    let mut old = Link::new(AkmSuite::Psk, CipherSuite::Ccmp128);
    let mut new = Link::new(AkmSuite::Psk, CipherSuite::Ccmp128);
    new.ap = MacAddress([2, 0, 0, 0, 2, 0]);
    new.snonce = [0x33; 32];
    let mut frames = start(&mut old);
    let data = old.data(true, false, &udp(10, 1));
    frames.push(old.protect(data, false));
    let left = frames.len();
    frames.extend(start(&mut new));
    let data = new.data(true, false, &udp(10, 2));
    frames.push(new.protect(data, false));
    let gap_ms = frames.len() - left;
    let (report, _) = report(&frames, &[old.key_text()]);
    assert_eq!(report.decrypted, 2);
    assert_eq!(report.sessions.len(), 2);
    assert_eq!(report.roams.len(), 1);
    assert!(report.roams[0].handover_gap_s > 0.0);
    assert!(report.roams[0].handover_gap_s <= gap_ms as f64 / 1000.0 + 1e-9);
    assert_eq!(report.roams[0].to, "02:00:00:00:02:00");
}

/// Octets of payload and of headers inside the cipher, and the ciphers of what stays closed.
fn plaintext(report: &airtoll_capture::Report) -> (u64, Vec<&'static str>) {
    let total = &report.ledger.total;
    let octets = total.octets.payload + total.inner_headers_octets;
    (octets, report.closed_ciphers.keys().copied().collect())
}

#[test]
fn closed_frames_have_the_octets_that_open_ones_have() {
    for cipher in [
        CipherSuite::Tkip,
        CipherSuite::Ccmp128,
        CipherSuite::Gcmp128,
        CipherSuite::Ccmp256,
        CipherSuite::Gcmp256,
    ] {
        let mut link = Link::new(AkmSuite::Psk, cipher);
        let mut frames = start(&mut link);
        for number in 0..400 {
            let group = number % 4 == 0;
            let data = link.data(!group, group, &udp(100 + number, 1));
            frames.push(link.protect(data, group));
        }
        let opened = plaintext(&report(&frames, &[link.key_text()]).0);
        assert_eq!(opened.1, Vec::<&str>::new());
        // By the station's choice, by message 2 alone, and by the beacon alone.
        for without in [0..0, 0..5, 1..9] {
            let mut some = frames.clone();
            some.drain(without.clone());
            let closed = plaintext(&report(&some, &[]).0);
            assert_eq!(closed.0, opened.0, "{cipher:?} without {without:?}");
            assert_eq!(closed.1, [cipher.name()], "{cipher:?} without {without:?}");
        }
        let nothing = report(&frames[9..], &[]).0;
        assert_eq!(plaintext(&nothing).1, ["unknown"], "{cipher:?}");
    }
}

#[test]
fn a_password_of_sae_opens_nothing_and_the_reason_says_so() {
    for (akm, reason) in [
        (
            AkmSuite::Sae,
            "no PMK of SAE or OWE (a passphrase gives none)",
        ),
        (
            AkmSuite::Owe,
            "no PMK of SAE or OWE (a passphrase gives none)",
        ),
        (AkmSuite::Psk, "no key fits the handshake"),
    ] {
        let mut link = Link::new(akm, CipherSuite::Ccmp128);
        let mut frames = start(&mut link);
        let data = link.data(true, false, &udp(40, 1));
        frames.push(link.protect(data, false));
        let passphrase = "wpa-pwd:correct horse battery staple:airtoll".to_owned();
        let (report, _) = report(&frames, &[passphrase]);
        assert_eq!(report.undecrypted[reason], 1, "{:?}", report.undecrypted);
    }
}

#[test]
fn packet_numbers_out_of_order_under_one_tid_are_counted() {
    let mut link = Link::new(AkmSuite::Psk, CipherSuite::Ccmp128);
    let mut frames = start(&mut link);
    let key = link.ptk().tk().to_vec();
    // A driver that numbers every fourth packet too late: sequence 4n + 3 has the number of 4n + 2.
    for number in 0..40u64 {
        let tid = u16::from(number >= 20) * 5;
        let data = link.data_with(true, false, tid, &udp(40, 1));
        let packet_number = match number % 4 {
            2 => number + 1,
            3 => number - 1,
            _ => number,
        };
        let pn = 100 + packet_number;
        frames.push(protect(CipherSuite::Ccmp128, &key, 0, pn, data));
    }
    let (report, _) = report(&frames, &[link.key_text()]);
    assert_eq!(report.decrypted, 40);
    assert_eq!(
        report.refused.iter().collect::<Vec<_>>(),
        [(&"packet number out of order", &10)]
    );
}
