//! Protected packets of made-up wires: ESP, IKEv2 and RADIUS with keys in Wireshark's tables.

mod network;

use airtoll_capture::keys::Keys;
use airtoll_capture::tunnels::Checked;
use airtoll_capture::{Report, Request, analyse};
use airtoll_handshakes::tunnel::ike_v2::{IkeV2Config, IkeV2Peer};
use airtoll_handshakes::{Carrier, Conversation, Outcome, Peer, SecretName, Sides};
use airtoll_security::esp::EspKey;
use airtoll_security::keys::mic::KeyMic;
use airtoll_security::{AkmSuite, CipherSuite, TunnelSuite};
use airtoll_wire::ipv4::Ipv4Repr;
use airtoll_wire::llc::{SnapRepr, ethertype};
use airtoll_wire::radius::RadiusRepr;
use airtoll_wire::udp::UdpRepr;
use md5::{Digest, Md5};
use network::{Link, START_NS, on_air, start, udp, written};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

const ENDS: ([u8; 4], [u8; 4]) = ([10, 0, 0, 1], [10, 0, 0, 2]);

fn packet(protocol: u8, payload: &[u8]) -> Vec<u8> {
    let mut octets = Vec::new();
    Ipv4Repr::new(ENDS.0.into(), ENDS.1.into(), protocol, payload).emit(&mut octets);
    octets
}

fn datagram(ports: (u16, u16), payload: &[u8]) -> Vec<u8> {
    let mut segment = Vec::new();
    UdpRepr {
        source: ports.0,
        destination: ports.1,
        payload,
    }
    .emit(
        std::net::IpAddr::from(ENDS.0),
        std::net::IpAddr::from(ENDS.1),
        &mut segment,
    );
    packet(17, &segment)
}

fn keys(lines: &[&str]) -> Keys {
    if lines.is_empty() {
        return Keys::default();
    }
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), lines.join("\n")).unwrap();
    let mut keys = Keys::default();
    keys.add_log(file.path()).unwrap();
    keys
}

fn read(packets: Vec<Vec<u8>>, keys: Keys) -> Report {
    let timed: Vec<_> = (0u64..)
        .zip(packets)
        .map(|(index, octets)| (START_NS + index * 1_000_000, octets))
        .collect();
    let file = written(101, &timed);
    let request = Request {
        files: vec![file.path().to_path_buf()],
        keys,
        ..Request::default()
    };
    analyse(&request, None).unwrap()
}

const fn checked(verified: u64, failed: u64, no_key: u64) -> Checked {
    Checked {
        verified,
        failed,
        no_key,
        unchecked: 0,
    }
}

#[test]
fn esp_opens_with_a_row_of_wiresharks_table() {
    let key = EspKey::new(TunnelSuite::EspAesCbcSha1, 0x1234, &[7; 16], &[9; 20]).unwrap();
    let inner = packet(17, &[0; 40]);
    let sealed = |sequence: u32| {
        let mut octets = Vec::new();
        key.encapsulate(sequence, &[3; 16], &inner, 4, &mut octets)
            .unwrap();
        octets
    };
    let mut damaged = sealed(2);
    damaged[30] ^= 1;
    let packets = vec![
        packet(50, &sealed(1)),
        packet(50, &damaged),
        // Behind NAT, in UDP.
        datagram((4500, 4500), &sealed(3)),
        packet(50, &[0, 0, 0x99, 0x99, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0]),
    ];
    let row = format!(
        "\"IPv4\",\"10.0.0.1\",\"10.0.0.2\",\"0x00001234\",\"AES-CBC [RFC3602]\",\"0x{}\",\"HMAC-SHA-1-96 [RFC2404]\",\"0x{}\"",
        "07".repeat(16),
        "09".repeat(20)
    );
    let report = read(packets, keys(&[&row]));
    assert_eq!(report.tunnels.esp, checked(2, 1, 1));
    assert_eq!(report.tunnels.esp_inner_octets, 2 * inner.len() as u64);
    let elsewhere = row.replace("10.0.0.2", "10.0.0.3");
    let report = read(vec![packet(50, &sealed(1))], keys(&[&elsewhere]));
    assert_eq!(report.tunnels.esp, checked(0, 0, 1));
}

#[test]
fn a_handshake_inside_esp_inside_esp_is_found() {
    let outer = EspKey::new(TunnelSuite::EspAesGcm, 0x1234, &[7; 20], &[]).unwrap();
    let middle = EspKey::new(TunnelSuite::EspNullSha1, 0x5678, &[], &[9; 20]).unwrap();
    let sealed = |key: &EspKey, sequence: u32, iv: usize, inner: &[u8]| {
        let mut octets = Vec::new();
        key.encapsulate(sequence, &vec![3; iv], inner, 4, &mut octets)
            .unwrap();
        packet(50, &octets)
    };
    // An initiation, the same once more, and data.
    let messages = [[1, 0, 0, 0, 5, 5], [1, 0, 0, 0, 5, 5], [4, 0, 0, 0, 5, 5]];
    let mut link = Link::new(AkmSuite::Psk, CipherSuite::Ccmp128);
    let mut frames = start(&mut link);
    for (number, message) in (1u32..).zip(messages) {
        let inner = sealed(&middle, number, 0, &datagram((51820, 51820), &message));
        let mut msdu = Vec::new();
        let octets = sealed(&outer, number, 8, &inner);
        SnapRepr::rfc1042(ethertype::IPV4, &octets).emit(&mut msdu);
        let data = link.data(true, false, &msdu);
        frames.push(link.protect(data, false));
    }
    let timed: Vec<_> = (0u64..)
        .zip(&frames)
        .map(|(index, frame)| (START_NS + index * 1_000_000, on_air(108, frame)))
        .collect();
    let file = written(127, &timed);
    // As Linux lists them.
    let row = |spi: &str, transform: &str, key: &str| {
        format!(
            r#"{{"kind": "esp", "source": "10.0.0.1", "destination": "10.0.0.2", "spi": "{spi}",
                "transform": "{transform}", {key}"}}"#
        )
    };
    let rows = [
        row(
            "0x1234",
            "esp-aes-gcm",
            &format!(r#""aead-key": "0x{}"#, "07".repeat(20)),
        ),
        row(
            "0x5678",
            "esp-null-sha1",
            &format!(r#""enc-key": "", "auth-key": "0x{}"#, "09".repeat(20)),
        ),
    ];
    let log = tempfile::Builder::new().suffix(".json").tempfile().unwrap();
    std::fs::write(log.path(), format!("[{}]", rows.join(","))).unwrap();
    let mut request = network::request(&file, &[link.key_text()]);
    let closed = analyse(&request, None).unwrap();
    assert_eq!(closed.tunnels.esp, checked(0, 0, 3));
    assert!(
        !closed.sessions[0]
            .message_counts
            .contains_key("messages_wireguard")
    );
    request.keys.add_log(log.path()).unwrap();
    let report = analyse(&request, None).unwrap();
    assert_eq!(report.tunnels.esp, checked(6, 0, 0));
    assert_eq!(report.sessions[0].message_counts["messages_wireguard"], 1);
}

/// The four messages of an IKEv2 exchange of two peers with their UDP ports, and the SA's row of Wireshark's table.
fn ike_exchange(gcm: bool) -> (Vec<(u16, Vec<u8>)>, String) {
    let ends = Sides {
        initiator: ENDS.0,
        responder: ENDS.1,
    };
    let config = IkeV2Config {
        // The SA is then among the secrets.
        mobike: true,
        ..IkeV2Config::new(b"tunnel secret".to_vec(), 19, gcm, ends)
    };
    let peers: Vec<Box<dyn Peer>> = vec![
        Box::new(IkeV2Peer::initiator(config.clone())),
        Box::new(IkeV2Peer::responder(config)),
    ];
    let (log, outcome) = Conversation::new(peers, Box::new(ChaCha8Rng::seed_from_u64(7))).run();
    let Outcome::Established(secrets) = outcome else {
        panic!("{outcome:?}");
    };
    let sa: serde_json::Value = serde_json::from_slice(&secrets[&SecretName::IkeSa]).unwrap();
    let digits = |value: &serde_json::Value| -> String {
        let octets = value.as_array().unwrap().iter();
        octets
            .map(|octet| format!("{:02x}", octet.as_u64().unwrap()))
            .collect()
    };
    let (spis, keys) = (&sa["spis"], &sa["keys"]);
    let row = format!(
        "{},{},{},{},\"{}\",{},{},\"{}\"",
        digits(&spis["initiator"]),
        digits(&spis["responder"]),
        digits(&keys["cipher"]["initiator"]),
        digits(&keys["cipher"]["responder"]),
        if gcm {
            "AES-GCM-128 with 16 octet ICV [RFC5282]"
        } else {
            "AES-CBC-128 [RFC3602]"
        },
        digits(&keys["integrity"]["initiator"]),
        digits(&keys["integrity"]["responder"]),
        if gcm {
            "NONE [RFC4306]"
        } else {
            "HMAC_SHA1_96 [RFC2404]"
        },
    );
    let messages = log
        .into_iter()
        .map(|sent| match sent.message.carrier {
            Carrier::Udp(port) => (port, sent.message.octets),
            other => panic!("{other:?}"),
        })
        .collect();
    (messages, row)
}

#[test]
fn ikev2_opens_with_a_row_of_wiresharks_table() {
    for gcm in [false, true] {
        let (messages, row) = ike_exchange(gcm);
        assert_eq!(messages.len(), 4);
        let mut packets: Vec<_> = messages
            .iter()
            .map(|(port, octets)| datagram((*port, *port), octets))
            .collect();
        let (port, mut damaged) = messages[2].clone();
        *damaged.last_mut().unwrap() ^= 1;
        packets.push(datagram((port, port), &damaged));
        let tunnels = read(packets.clone(), keys(&[&row])).tunnels;
        assert_eq!(tunnels.ikev2, checked(2, 1, 0));
        for (name, count) in [("IDi", 1), ("IDr", 1), ("AUTH", 2), ("TSi", 2), ("TSr", 2)] {
            assert_eq!(tunnels.ikev2_payloads.get(name), Some(&count), "{name}");
        }
        assert_eq!(tunnels.ikev2_payloads.get("unreadable"), None);
        let tunnels = read(packets, keys(&[])).tunnels;
        assert_eq!(tunnels.ikev2, checked(0, 0, 3));
        assert!(tunnels.ikev2_payloads.is_empty());
    }
}

#[test]
fn ikev2_integrity_algorithms_of_wiresharks_table_are_checked() {
    let algorithms = [
        (KeyMic::HmacMd5, 16, 12, "HMAC_MD5_96 [RFC2403]"),
        (KeyMic::HmacSha1, 20, 12, "HMAC_SHA1_96 [RFC2404]"),
        (KeyMic::HmacSha256, 32, 16, "HMAC_SHA2_256_128 [RFC4868]"),
        (KeyMic::HmacSha384, 48, 24, "HMAC_SHA2_384_192 [RFC4868]"),
        (KeyMic::HmacSha512, 64, 32, "HMAC_SHA2_512_256 [RFC4868]"),
    ];
    for (mac, key_octets, icv, name) in algorithms {
        // A Delete payload under NULL encryption, without padding.
        let inside = [0, 0, 0, 8, 1, 0, 0, 0, 0];
        let message = |initiator: bool, key: &[u8]| {
            let mut octets = vec![0x11; 8];
            octets.extend([0x22; 8]);
            octets.extend([46, 0x20, 37, if initiator { 8 } else { 0 }, 0, 0, 0, 2]);
            let length = 4 + inside.len() + icv;
            octets.extend((28 + length as u32).to_be_bytes());
            octets.extend([42, 0, 0, length as u8]);
            octets.extend(inside);
            let value = mac.compute(key, &[&octets]).unwrap();
            octets.extend(&value.as_slice()[..icv]);
            octets
        };
        let (ai, ar) = (vec![1; key_octets], vec![2; key_octets]);
        let row = format!(
            "{},{},,,\"NULL [RFC2410]\",{},{},\"{name}\"",
            "11".repeat(8),
            "22".repeat(8),
            "01".repeat(key_octets),
            "02".repeat(key_octets),
        );
        let packets = vec![
            datagram((500, 500), &message(true, &ai)),
            datagram((500, 500), &message(false, &ar)),
            datagram((500, 500), &message(true, &ar)),
        ];
        let tunnels = read(packets, keys(&[&row])).tunnels;
        assert_eq!(tunnels.ikev2, checked(2, 1, 0), "{name}");
        assert_eq!(tunnels.ikev2_payloads.get("D"), Some(&2), "{name}");
    }
}

const SECRET: &[u8] = b"testing123";

/// A packet with its Message-Authenticator; of a response also the Response Authenticator.
fn radius(code: u8, attributes: Vec<(u8, Vec<u8>)>, request: Option<[u8; 16]>) -> Vec<u8> {
    let mut attributes = attributes;
    attributes.push((80, vec![0; 16]));
    let mut octets = Vec::new();
    RadiusRepr {
        code,
        identifier: 7,
        authenticator: request.unwrap_or([0x42; 16]),
        attributes,
    }
    .emit(&mut octets);
    let at = octets.len() - 16;
    let mac = KeyMic::HmacMd5.compute(SECRET, &[&octets]).unwrap();
    octets[at..].copy_from_slice(mac.as_slice());
    if request.is_some() {
        let digest = Md5::new().chain_update(&octets).chain_update(SECRET);
        octets[4..20].copy_from_slice(&digest.finalize());
    }
    octets
}

/// An MS-MPPE attribute (RFC 2548 section 2.4.2).
fn sealed(kind: u8, request: &[u8; 16], key: &[u8]) -> (u8, Vec<u8>) {
    let salt = [0x80 | kind, 1];
    let mut plain = vec![key.len() as u8];
    plain.extend(key);
    plain.resize(plain.len().next_multiple_of(16), 0);
    let mut value = vec![0, 0, 1, 55, kind, (4 + plain.len()) as u8];
    value.extend(salt);
    let mut previous = [&request[..], &salt].concat();
    for block in plain.chunks(16) {
        let stream = Md5::new().chain_update(SECRET).chain_update(&previous);
        previous = block
            .iter()
            .zip(stream.finalize())
            .map(|(a, b)| a ^ b)
            .collect();
        value.extend(&previous);
    }
    (26, value)
}

#[test]
fn radius_with_the_secret_is_checked_and_opens_the_air() {
    let request = [0x42; 16];
    let mut link = Link::new(AkmSuite::Ieee8021x, CipherSuite::Ccmp128);
    // The PMK is the first half of the MSK (IEEE 802.11-2020, 12.7.1.3).
    link.pmk = vec![0x5a; 32];
    let accept = radius(
        2,
        vec![
            (79, vec![3, 1, 0, 4]),
            sealed(17, &request, &[0x5a; 32]),
            sealed(16, &request, &[0x5b; 32]),
        ],
        Some(request),
    );
    let asked = radius(1, vec![(79, vec![2, 1, 0, 6, 1, 65])], None);
    let mut forged = accept.clone();
    *forged.last_mut().unwrap() ^= 1;
    let wire = vec![
        datagram((40_000, 1812), &asked),
        datagram((1812, 40_000), &forged),
        datagram((1812, 40_000), &accept),
    ];
    let text = "radius:testing123".to_owned();
    let mut given = Keys::default();
    given.add_texts(std::slice::from_ref(&text)).unwrap();
    assert_eq!(
        read(wire.clone(), given.clone()).tunnels.radius,
        checked(2, 1, 0)
    );
    assert_eq!(
        read(wire.clone(), Keys::default()).tunnels.radius,
        checked(0, 0, 3)
    );
    let mut wrong = Keys::default();
    wrong.add_texts(&["radius:other".to_owned()]).unwrap();
    assert_eq!(read(wire.clone(), wrong).tunnels.radius, checked(0, 3, 0));
    // The same exchange beside the air: its MSK opens the station's data.
    let mut writer = airtoll_capture::file::PcapNgWriter::new(Vec::new()).unwrap();
    let (air, ip) = (
        writer.add_interface(127, "air").unwrap(),
        writer.add_interface(101, "wire").unwrap(),
    );
    for (index, octets) in (0u64..).zip(&wire) {
        writer.write_packet(ip, START_NS + index, octets).unwrap();
    }
    let mut frames = start(&mut link);
    let data = link.data(true, false, &udp(60, 1));
    frames.push(link.protect(data, false));
    for (index, frame) in (0u64..).zip(&frames) {
        let time_ns = START_NS + 1_000_000 + index * 1_000_000;
        writer
            .write_packet(air, time_ns, &on_air(108, frame))
            .unwrap();
    }
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), writer.finish().unwrap()).unwrap();
    let report = analyse(&network::request(&file, &[text]), None).unwrap();
    assert_eq!((report.protected, report.decrypted), (1, 1));
}

/// A row of `esp_sa` for any ends, and the key for the other side.
fn esp_row(encryption: &str, key: &[u8], integrity: &str, mac_key: &[u8]) -> String {
    let hex = |octets: &[u8]| -> String { octets.iter().map(|o| format!("{o:02x}")).collect() };
    format!(
        "\"IPv4\",\"*\",\"*\",\"0x00001234\",\"{encryption}\",\"0x{}\",\"{integrity}\",\"0x{}\"",
        hex(key),
        hex(mac_key)
    )
}

#[test]
fn every_algorithm_of_wiresharks_esp_table_opens() {
    use airtoll_security::ipsec::{Encryption as E, Integrity as I};
    let octets: Vec<u8> = (1..=64).collect();
    let none = ("NULL", None, 0);
    let rows = [
        (
            "NULL",
            E::Null,
            0,
            ("HMAC-SHA-256-128 [RFC4868]", Some(I::HmacSha256), 32),
        ),
        (
            "AES-CBC [RFC3602]",
            E::AesCbc,
            24,
            ("HMAC-SHA-384-192 [RFC4868]", Some(I::HmacSha384), 48),
        ),
        (
            "AES-CBC [RFC3602]",
            E::AesCbc,
            32,
            ("HMAC-SHA-512-256 [RFC4868]", Some(I::HmacSha512), 64),
        ),
        (
            "AES-CTR [RFC3686]",
            E::AesCtr,
            20,
            ("HMAC-SHA-1-96 [RFC2404]", Some(I::HmacSha1), 20),
        ),
        (
            "AES-CTR [RFC3686]",
            E::AesCtr,
            36,
            (
                "HMAC-SHA-256-96 [draft-ietf-ipsec-ciph-sha-256-00]",
                Some(I::HmacSha256Short),
                32,
            ),
        ),
        ("AES-CCM with 8 octet ICV [RFC4309]", E::AesCcm(8), 19, none),
        (
            "AES-CCM with 16 octet ICV [RFC4309]",
            E::AesCcm(16),
            35,
            none,
        ),
        ("AES-GCM with 8 octet ICV [RFC4106]", E::AesGcm(8), 20, none),
        (
            "AES-GCM with 12 octet ICV [RFC4106]",
            E::AesGcm(12),
            28,
            none,
        ),
        ("AES-GCM [RFC4106]", E::AesGcm(16), 36, none),
        (
            "ChaCha20 with Poly1305 [RFC7634]",
            E::ChaCha20Poly1305,
            36,
            none,
        ),
    ];
    let inner = packet(17, &[0; 40]);
    for (name, encryption, length, (mac_name, integrity, mac_length)) in rows {
        let (key, mac_key) = (&octets[..length], &octets[..mac_length]);
        let sender = EspKey::with_algorithms(0x1234, encryption, key, integrity, mac_key).unwrap();
        let mut sealed = Vec::new();
        let iv = vec![5; sender.iv_octets()];
        sender.encapsulate(1, &iv, &inner, 4, &mut sealed).unwrap();
        let mut damaged = sealed.clone();
        damaged[20] ^= 1;
        let row = esp_row(name, key, mac_name, mac_key);
        let report = read(
            vec![packet(50, &sealed), packet(50, &damaged)],
            keys(&[&row]),
        );
        assert_eq!(report.tunnels.esp, checked(1, 1, 0), "{name} {mac_name}");
        assert_eq!(report.tunnels.esp_inner_octets, inner.len() as u64);
    }
}

#[test]
fn a_row_without_an_authenticator_opens_and_proves_nothing() {
    use airtoll_security::ipsec::{Encryption, Integrity};
    let integrity = Some(Integrity::HmacSha256);
    let key =
        EspKey::with_algorithms(0x1234, Encryption::AesCbc, &[7; 16], integrity, &[9; 32]).unwrap();
    let mut sealed = Vec::new();
    let inner = packet(17, &[0; 40]);
    key.encapsulate(1, &[5; 16], &inner, 4, &mut sealed)
        .unwrap();
    let any = esp_row(
        "AES-CBC [RFC3602]",
        &[7; 16],
        "ANY 128 bit authentication [no checking]",
        &[],
    );
    let report = read(vec![packet(50, &sealed)], keys(&[&any]));
    let expected = Checked {
        unchecked: 1,
        ..checked(0, 0, 0)
    };
    assert_eq!(report.tunnels.esp, expected);
}

#[test]
fn transport_mode_holds_the_segment_itself() {
    let key = EspKey::new(TunnelSuite::EspAesGcm, 0x1234, &[7; 20], &[]).unwrap();
    let inner = &datagram((500, 500), &[0; 28])[20..];
    let mut sealed = Vec::new();
    key.encapsulate(1, &[3; 8], inner, 17, &mut sealed).unwrap();
    let row = esp_row("AES-GCM with 16 octet ICV [RFC4106]", &[7; 20], "NULL", &[]);
    let report = read(vec![packet(50, &sealed)], keys(&[&row]));
    assert_eq!(report.tunnels.esp, checked(1, 0, 0));
    assert_eq!(report.kinds.esp, 1);
}

#[test]
fn layers_of_esp_beyond_the_limit_are_left_closed() {
    let key = EspKey::new(TunnelSuite::EspNullMd5, 0x1234, &[], &[9; 16]).unwrap();
    let mut inner = packet(17, &[0; 8]);
    for sequence in 0..300 {
        let mut sealed = Vec::new();
        key.encapsulate(sequence, &[], &inner, 4, &mut sealed)
            .unwrap();
        inner = packet(50, &sealed);
    }
    let row = esp_row("NULL", &[], "HMAC-MD5-96 [RFC2403]", &[9; 16]);
    let report = read(vec![inner], keys(&[&row]));
    assert_eq!(report.tunnels.esp, checked(16, 0, 0));
}

fn tcp(ports: (u16, u16), sequence: u32, payload: &[u8]) -> Vec<u8> {
    let mut segment = Vec::new();
    airtoll_wire::tcp::TcpRepr {
        source: ports.0,
        destination: ports.1,
        sequence,
        acknowledgement: 1,
        flags: airtoll_wire::tcp::flag::ACK,
        window: 1000,
        options: &[],
        payload,
    }
    .emit(ENDS.0.into(), ENDS.1.into(), &mut segment);
    packet(6, &segment)
}

/// A packet of OpenVPN's control channel with its length in front.
fn openvpn(opcode: u8, message: u8, more: usize) -> Vec<u8> {
    let mut packet = vec![opcode << 3];
    packet.extend([7; 8]);
    packet.extend([0, 0, 0, 0, message]);
    packet.resize(packet.len() + more, message);
    let mut octets = (packet.len() as u16).to_be_bytes().to_vec();
    octets.extend(packet);
    octets
}

/// Messages of OpenVPN that a join through the access point counts.
fn openvpn_messages(packets: Vec<Vec<u8>>) -> (u64, u32) {
    let mut link = Link::new(AkmSuite::Psk, CipherSuite::Ccmp128);
    let mut frames = start(&mut link);
    for octets in &packets {
        let mut msdu = Vec::new();
        SnapRepr::rfc1042(ethertype::IPV4, octets).emit(&mut msdu);
        let data = link.data(true, false, &msdu);
        frames.push(link.protect(data, false));
    }
    let timed: Vec<_> = (0u64..)
        .zip(&frames)
        .map(|(index, frame)| (START_NS + index * 1_000_000, on_air(108, frame)))
        .collect();
    let air = analyse(
        &network::request(&written(127, &timed), &[link.key_text()]),
        None,
    )
    .unwrap();
    let messages = air.sessions[0].messages.get("openvpn").copied();
    (
        read(packets, Keys::default()).kinds.openvpn,
        messages.unwrap_or(0),
    )
}

#[test]
fn openvpn_over_tcp_is_cut_into_its_packets() {
    let stream = [openvpn(7, 0, 0), openvpn(4, 1, 900), openvpn(4, 2, 300)].concat();
    for ports in [(40_000, 1194), (40_000, 443)] {
        let at = |from: usize, to: usize| tcp(ports, 1000 + from as u32, &stream[from..to]);
        // One packet a segment, all after the first in one, cut anywhere, and sent again.
        let first = 16;
        let whole = vec![at(0, first), at(first, stream.len())];
        assert_eq!(openvpn_messages(whole), (2, 3), "{ports:?}");
        let cut = vec![
            at(0, first),
            at(first, 500),
            at(first, 500),
            at(400, 1000),
            at(1000, stream.len()),
        ];
        let seen = openvpn_messages(cut);
        assert_eq!(seen.1, 3, "{ports:?}");
        // A lost segment loses its packets and no more.
        let gap = vec![at(0, first), at(first + 916, stream.len())];
        assert_eq!(openvpn_messages(gap).1, 2, "{ports:?}");
    }
    // Other protocols on another port.
    let tls = [&[0x16, 3, 1, 0, 40][..], &[1; 40]].concat();
    assert_eq!(openvpn_messages(vec![tcp((40_000, 443), 1, &tls)]).0, 0);
    let data = openvpn(9, 1, 100);
    assert_eq!(openvpn_messages(vec![tcp((40_000, 443), 1, &data)]).0, 0);
}

#[test]
fn wireguard_is_known_by_its_handshake_on_any_port() {
    let message = |kind: u8, sender: u8, receiver: u8, len: usize| {
        let mut octets = vec![kind, 0, 0, 0, sender, 0, 0, 0, receiver, 0, 0, 0];
        octets.resize(len, 9);
        octets
    };
    let ports = (45_965, 51_194);
    let data = |receiver: u8, len: usize| {
        let mut octets = message(4, receiver, 0, len);
        octets[8..16].fill(0);
        octets
    };
    let packets = vec![
        datagram(ports, &data(5, 64)),
        datagram(ports, &message(1, 5, 0, 148)),
        datagram(ports, &message(2, 6, 5, 92)),
        datagram(ports, &data(6, 32)),
        datagram(ports, &data(5, 96)),
        // Of no session: another index, another length.
        datagram(ports, &data(7, 96)),
        datagram(ports, &data(5, 97)),
        datagram(ports, &message(2, 6, 8, 92)),
        datagram(ports, &message(1, 5, 0, 149)),
    ];
    assert_eq!(read(packets, Keys::default()).kinds.wireguard, 4);
}
