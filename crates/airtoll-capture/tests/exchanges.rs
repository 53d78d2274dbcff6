//! Captures of made-up exchanges beside the 4-way handshake: fast transition, dynamic WEP, LEAP,
//! FILS; replays, lost fragments, and who kept whom waiting.

mod network;

use airtoll_security::keys::ft::{FtIdentity, PmkR0};
use airtoll_security::keys::mic::KeyMic;
use airtoll_security::keys::wrap;
use airtoll_security::rc4::Rc4;
use airtoll_security::{AkmHash, AkmSuite, CipherSuite};
use airtoll_wire::eapol::{EapolRepr, packet_type};
use airtoll_wire::eapol_key::Rc4KeyRepr;
use airtoll_wire::ieee80211::frame::management_subtype as subtype;
use airtoll_wire::ieee80211::ft::{FteRepr, MdeRepr};
use airtoll_wire::ieee80211::{Element, ManagementRepr};
use network::{Link, SSID, protect, report, report_at, start, udp};

const MSK: [u8; 64] = {
    let mut msk = [0; 64];
    let mut at = 0;
    while at < 64 {
        msk[at] = at as u8;
        at += 1;
    }
    msk
};

fn authentication(link: &mut Link, algorithm: u16, from_station: bool, number: u16) -> Vec<u8> {
    let body = ManagementRepr::Authentication(algorithm, number, 0, &[]);
    link.management(subtype::AUTHENTICATION, from_station, &body)
}

#[test]
fn a_fast_transition_gives_both_keys() {
    let mut link = Link::new(AkmSuite::FtPsk, CipherSuite::Ccmp128);
    let (mdid, r0kh) = ([0x12, 0x34], b"ap-zero".as_slice());
    let identity = FtIdentity {
        ssid: SSID,
        mobility_domain: mdid,
        r0_key_holder: r0kh,
        station: link.station,
    };
    let r0 = PmkR0::derive(AkmSuite::FtPsk, AkmHash::Sha256, &link.pmk, &identity).unwrap();
    let (ptk, _) = r0
        .r1(link.ap)
        .ptk(
            link.cipher,
            link.ap,
            link.station,
            &link.anonce,
            &link.snonce,
        )
        .unwrap();
    let mut gtk = vec![1, 0, 16, 0, 0, 0, 0, 0, 0, 0, 0];
    gtk.extend(wrap::wrap(ptk.kek(), &link.gtk).unwrap());
    let mut fte = Vec::new();
    FteRepr {
        mic_control: [0, 3],
        mic: &[0; 16],
        anonce: &link.anonce,
        snonce: &link.snonce,
        r1kh_id: Some(&link.ap.0),
        gtk: Some(&gtk),
        r0kh_id: Some(r0kh),
        igtk: None,
        oci: None,
        bigtk: None,
    }
    .emit(&mut fte);
    let mut mde = Vec::new();
    MdeRepr {
        mdid,
        capability: 0,
    }
    .emit(&mut mde);
    let mut elements = link.element();
    for (id, body) in [(54, &mde), (55, &fte)] {
        Element { id, body }.emit(&mut elements);
    }
    let mut frames = vec![link.beacon()];
    frames.push(authentication(&mut link, 2, true, 1));
    frames.push(authentication(&mut link, 2, false, 2));
    let mut request = elements.clone();
    Element { id: 0, body: SSID }.emit(&mut request);
    let request = ManagementRepr::AssociationRequest(0x11, 10, &request);
    frames.push(link.management(subtype::ASSOCIATION_REQUEST, true, &request));
    let response = ManagementRepr::AssociationResponse(0x11, 0, 0xc001, &elements);
    frames.push(link.management(subtype::ASSOCIATION_RESPONSE, false, &response));
    let unicast = link.data(true, false, &udp(30, 1));
    frames.push(protect(link.cipher, ptk.tk(), 0, 1, unicast));
    let group = link.data(false, true, &udp(30, 2));
    frames.push(protect(link.cipher, &link.gtk, 1, 1, group));
    let (report, plain) = report(&frames, &[link.key_text()]);
    assert_eq!((report.protected, report.decrypted), (2, 2));
    assert_eq!(plain[0].1, udp(30, 1));
    let session = &report.sessions[0];
    assert_eq!(session.akm.as_deref(), Some("ft-psk"));
    assert_eq!((session.outcome, session.messages["ft"]), ("connected", 2));
    assert!(session.key_handshake_time_s.unwrap() > 0.0);
}

/// An RC4 key message of an AP, signed and encrypted under [`MSK`].
fn rc4_key(index: u8, key: &[u8], length: u16) -> Vec<u8> {
    let iv = [9; 16];
    let mut octets = key.to_vec();
    let mut seed = iv.to_vec();
    seed.extend_from_slice(&MSK[..32]);
    Rc4::new(&seed).apply(&mut octets);
    let emit = |signature: &[u8; 16]| {
        let mut body = Vec::new();
        Rc4KeyRepr {
            key_length: length,
            replay_counter: 1,
            iv: &iv,
            index,
            signature,
            key: &octets,
        }
        .emit(&mut body);
        let mut packet = Vec::new();
        EapolRepr {
            version: 1,
            packet_type: packet_type::KEY,
            body: &body,
        }
        .emit(&mut packet);
        packet
    };
    let unsigned = emit(&[0; 16]);
    let mic = KeyMic::HmacMd5.compute(&MSK[32..], &[&unsigned]).unwrap();
    emit(mic.as_slice().try_into().unwrap())
}

#[test]
fn dynamic_wep_keys_come_from_the_msk() {
    let mut link = Link::new(AkmSuite::Psk, CipherSuite::Ccmp128);
    let group = [7; 13];
    let mut frames = vec![
        authentication(&mut link, 128, true, 1),
        authentication(&mut link, 128, false, 2),
        link.eapol(false, &rc4_key(1, &group, 13)),
        // An empty key: the session key itself.
        link.eapol(false, &rc4_key(0x80, &[], 13)),
    ];
    let unicast = link.data(true, false, &udp(30, 1));
    frames.push(protect(CipherSuite::Wep104, &MSK[..13], 0, 1, unicast));
    let spoken = link.data(false, true, &udp(30, 2));
    frames.push(protect(CipherSuite::Wep104, &group, 1, 2, spoken));
    let hex: String = MSK.iter().map(|octet| format!("{octet:02x}")).collect();
    let (report, plain) = report(&frames, &[format!("msk:{hex}")]);
    assert_eq!((report.decrypted, report.eapol_frames), (2, 2));
    assert_eq!(plain[1].1, udp(30, 2));
    let session = &report.sessions[0];
    assert_eq!(session.cipher.as_deref(), Some("wep-104"));
    assert_eq!(session.akm.as_deref(), Some("leap"));
    assert_eq!(
        (session.outcome, session.messages["rc4-key"]),
        ("connected", 2)
    );
}

#[test]
fn what_is_not_supported_is_named() {
    let selector = airtoll_wire::ieee80211::AkmSelector([0x00, 0x0f, 0xac, 14]);
    for (fils, reason) in [(true, "no FILS keys"), (false, "MLD address not seen")] {
        let mut link = Link::new(AkmSuite::Psk, CipherSuite::Ccmp128);
        let mut elements = Vec::new();
        if fils {
            let ccmp = airtoll_wire::ieee80211::CipherSelector([0x00, 0x0f, 0xac, 4]);
            airtoll_wire::ieee80211::RsnRepr::single(ccmp, ccmp, selector)
                .emit_element(&mut elements);
        } else {
            elements = link.element();
            Element {
                id: 255,
                body: &[107, 0, 0, 7, 2, 0, 0, 0, 0, 8],
            }
            .emit(&mut elements);
        }
        let algorithm = if fils { 4 } else { 0 };
        let mut frames = vec![
            authentication(&mut link, algorithm, true, 1),
            authentication(&mut link, algorithm, false, 2),
        ];
        let request = ManagementRepr::AssociationRequest(0x11, 10, &elements);
        frames.push(link.management(subtype::ASSOCIATION_REQUEST, true, &request));
        let response = ManagementRepr::AssociationResponse(0x11, 0, 0xc001, &[]);
        frames.push(link.management(subtype::ASSOCIATION_RESPONSE, false, &response));
        let data = link.data(true, false, &udp(30, 1));
        frames.push(protect(link.cipher, &[3; 16], 0, 1, data));
        let (report, _) = report(&frames, &[link.key_text()]);
        assert_eq!(report.undecrypted[reason], 1);
        if fils {
            let session = &report.sessions[0];
            assert_eq!(session.messages["fils"], 2);
            assert_eq!(session.akm.as_deref(), Some("fils-sha256"));
            assert_eq!(session.outcome, "connected");
        }
    }
}

#[test]
fn fils_keys_follow_from_the_nonces_and_the_pmk() {
    use aes_siv::KeyInit;
    use airtoll_capture::decrypt::LinkEnds;
    use airtoll_capture::decrypt::fils::{FilsKeys, FilsNonces};
    use airtoll_wire::key_data::KeyData;
    let mut link = Link::new(AkmSuite::Psk, CipherSuite::Ccmp128);
    let selector = airtoll_wire::ieee80211::AkmSelector([0x00, 0x0f, 0xac, 14]);
    let ccmp = airtoll_wire::ieee80211::CipherSelector([0x00, 0x0f, 0xac, 4]);
    let mut elements = Vec::new();
    airtoll_wire::ieee80211::RsnRepr::single(ccmp, ccmp, selector).emit_element(&mut elements);
    let (snonce, anonce) = ([0x51; 16], [0x52; 16]);
    let mut frames = Vec::new();
    for (up, nonce) in [(true, &snonce), (false, &anonce)] {
        let mut rest = elements.clone();
        let body = [&[13], &nonce[..]].concat();
        Element {
            id: 255,
            body: &body,
        }
        .emit(&mut rest);
        let number = if up { 1 } else { 2 };
        let body = ManagementRepr::Authentication(4, number, 0, &rest);
        frames.push(link.management(subtype::AUTHENTICATION, up, &body));
    }
    let request = ManagementRepr::AssociationRequest(0x11, 10, &elements);
    frames.push(link.management(subtype::ASSOCIATION_REQUEST, true, &request));
    let keys = FilsKeys::derive(
        AkmHash::Sha256,
        &link.pmk,
        LinkEnds {
            station: link.station,
            bssid: link.ap,
        },
        &FilsNonces {
            station: snonce,
            ap: anonce,
        },
        CipherSuite::Ccmp128,
    );
    // The FILS Session element in clear, then Key Delivery under AES-SIV.
    let extension = |number: u8, content: &[u8]| {
        let mut out = Vec::new();
        let body = [&[number], content].concat();
        Element {
            id: 255,
            body: &body,
        }
        .emit(&mut out);
        out
    };
    let session = extension(4, &[0x5e; 8]);
    let mut delivery = vec![0; 8];
    KeyData::Gtk {
        key_id: link.gtk_id,
        transmit: false,
        key: &link.gtk,
    }
    .emit(&mut delivery);
    let clear = [&[0x11, 0, 0, 0, 0x01, 0xc0], &session[..]].concat();
    let associated: [&[u8]; 5] = [&link.ap.0, &link.station.0, &anonce, &snonce, &clear];
    let sealed = aes_siv::siv::Aes128Siv::new_from_slice(keys.kek())
        .unwrap()
        .encrypt(associated, &extension(7, &delivery))
        .unwrap();
    let rest = [session, sealed].concat();
    let response = ManagementRepr::AssociationResponse(0x11, 0, 0xc001, &rest);
    frames.push(link.management(subtype::ASSOCIATION_RESPONSE, false, &response));
    let data = link.data(true, false, &udp(30, 1));
    frames.push(protect(link.cipher, keys.tk(), 0, 1, data));
    let (opened, plain) = report(&frames, &[link.key_text()]);
    assert_eq!((opened.protected, opened.decrypted), (1, 1));
    assert_eq!(plain[0].1, udp(30, 1));
    let group = link.data(false, true, &udp(30, 2));
    let group = link.protect(group, true);
    let (opened, plain) = report(&[frames.clone(), vec![group]].concat(), &[link.key_text()]);
    assert_eq!((opened.protected, opened.decrypted), (2, 2));
    assert_eq!(plain[1].1, udp(30, 2));
    let other = "pmk:".to_owned() + &"00".repeat(32);
    assert_eq!(report(&frames, &[other]).0.undecrypted["no FILS keys"], 1);
}

#[test]
fn macs_of_group_management_frames_are_checked() {
    use airtoll_security::link::bip::BipKey;
    use airtoll_wire::MacAddress;
    use airtoll_wire::ieee80211::{FrameControl, HeaderRepr, Kind};
    for (suite, octets) in [
        (CipherSuite::BipCmac128, 16),
        (CipherSuite::BipGmac128, 16),
        (CipherSuite::BipGmac256, 32),
    ] {
        let igtk = vec![0x77; octets];
        let mut link = Link::new(AkmSuite::Psk, CipherSuite::Ccmp128);
        link.igtk = Some(igtk.clone());
        let mut frames = start(&mut link);
        let mut leave = Vec::new();
        HeaderRepr {
            control: FrameControl::new(Kind::Management, subtype::DEAUTHENTICATION),
            duration: 0,
            address1: MacAddress::BROADCAST,
            address2: link.ap,
            address3: link.ap,
            sequence_control: 0x7770,
            address4: None,
            qos_control: None,
            ht_control: None,
        }
        .emit(&mut leave);
        ManagementRepr::Leave(3).emit(&mut leave);
        let key = BipKey::new(suite, &igtk).unwrap();
        key.protect(&mut leave, 1, 4).unwrap();
        let mut forged = leave.clone();
        forged[24] ^= 1;
        frames.push(leave);
        frames.push(forged);
        let (known, _) = report(&frames, &[link.key_text()]);
        let checked = &known.group_management;
        assert_eq!((checked["MIC fits"], checked["MIC failure"]), (1, 1));
        let (unknown, _) = report(&frames, &[]);
        assert_eq!(unknown.group_management["no key"], 2);
    }
}

#[test]
fn a_replay_is_opened_and_told() {
    let mut link = Link::new(AkmSuite::Psk, CipherSuite::Ccmp128);
    let mut frames = start(&mut link);
    let mut sent = Vec::new();
    for fill in 0..3 {
        let data = link.data(true, false, &udp(30, fill));
        sent.push(link.protect(data, false));
    }
    frames.extend(sent.iter().cloned());
    let mut again = sent[0].clone();
    frames.push(again.clone());
    again[1] |= 8;
    // The retry bit tells it apart: a receiver drops it as a duplicate.
    frames.push(again);
    let (report, _) = report(&frames, &[link.key_text()]);
    assert_eq!((report.protected, report.decrypted), (5, 5));
    assert_eq!(report.refused["replay"], 1);
}

#[test]
fn a_lost_fragment_loses_its_msdu_only() {
    let mut link = Link::new(AkmSuite::Psk, CipherSuite::Ccmp128);
    let mut frames = start(&mut link);
    let packet = {
        let mut packet = Vec::new();
        EapolRepr {
            version: 2,
            packet_type: packet_type::START,
            body: &[0; 90],
        }
        .emit(&mut packet);
        packet
    };
    let whole = link.eapol(true, &packet);
    let (header, msdu) = whole.split_at(24);
    let ptk = link.ptk();
    // Two MSDUs in three fragments each; the second one loses its middle.
    for (round, lost) in [(0u16, None), (1, Some(1))] {
        for number in 0..3u16 {
            let part = &msdu[usize::from(number) * 30..][..30];
            let mut fragment = header.to_vec();
            fragment[1] |= if number < 2 { 4 } else { 0 };
            let control = (500 + round) << 4 | number;
            fragment[22..24].copy_from_slice(&control.to_le_bytes());
            fragment.extend_from_slice(part);
            let number64 = u64::from(round * 3 + number) + 1;
            let closed = protect(CipherSuite::Ccmp128, ptk.tk(), 0, number64, fragment);
            if lost != Some(number) {
                frames.push(closed);
            }
        }
    }
    let hex: String = ptk.tk()[..16].iter().map(|o| format!("{o:02x}")).collect();
    let (report, _) = report(&frames, &[format!("tk:{hex}")]);
    assert_eq!((report.protected, report.decrypted), (5, 5));
    assert_eq!(report.eapol_frames, 4 + 1);
}

#[test]
fn the_bit_alone_makes_an_aggregate() {
    let mut link = Link::new(AkmSuite::Psk, CipherSuite::Ccmp128);
    // EAPOL-Start in LLC, under the A-MSDU bit: its LLC would be a subframe's address.
    let msdu = [0xaa, 0xaa, 3, 0, 0, 0, 0x88, 0x8e, 2, 1, 0, 0, 0, 0, 0, 0];
    let plain = link.data_with(true, false, 0, &msdu);
    let aggregate = link.data_with(true, false, 0x80, &msdu);
    let (report, _) = report(&[plain, aggregate], &[]);
    assert_eq!(report.eapol_frames, 1);
}

#[test]
fn the_air_has_its_part_of_the_time() {
    let mut link = Link::new(AkmSuite::Psk, CipherSuite::Ccmp128);
    let frames = start(&mut link);
    let (report, _) = report(&frames, &[]);
    let waits = report.sessions[0].waits_s;
    // Eight frames one millisecond apart: all but the first have a gap before them.
    let whole = waits.station + waits.ap + waits.server + waits.air;
    assert!((whole - 0.007).abs() < 1e-9, "{waits:?}");
    let spent: f64 = report.ledger.total.airtime_s.key_exchange;
    assert!(waits.air > spent && waits.air < 0.002, "{waits:?}");
    assert_eq!(waits.server_seen, None);
}

#[test]
fn time_may_run_backwards() {
    let mut link = Link::new(AkmSuite::Psk, CipherSuite::Ccmp128);
    let mut frames = start(&mut link);
    for (message, from_station) in link.group_rekey(vec![7; 16], 2).iter().zip([false, true]) {
        frames.push(link.eapol(from_station, message));
    }
    let count = frames.len() as u64;
    for step in [1_000_000, u64::MAX / count] {
        let keys = [link.key_text()];
        let (report, _) = report_at(&frames, &keys, |index| (count - index) * step);
        let session = &report.sessions[0];
        assert_eq!(
            (session.outcome, session.messages["group"], report.damage),
            ("connected", 2, None)
        );
        assert_eq!(session.negotiation_time_s, Some(0.0));
    }
}
