//! Our handshakes beside frames that hostapd 2.10 and wpa_supplicant 2.10 exchanged (the captures of
//! tests/capture/corpus/linux, whose README says how they were made).
//!
//! With the nonces of the recording as its random octets, our station has to answer the real AP's
//! frames octet for octet as the real station did, and our AP to ask as the real one did.

use std::path::{Path, PathBuf};

use airtoll_handshakes::link::agreed::{Link, ManagementProtection, MobilityDomain};
use airtoll_handshakes::link::key_handshake::{GroupKeys, KeyAuthenticator, KeyConfig};
use airtoll_handshakes::link::key_supplicant::KeySupplicant;
use airtoll_handshakes::link::sae::{SaeConfig, SaePeer};
use airtoll_handshakes::{
    Carrier, Conversation, Message, Outcome, Party, Peer, SecretName, Status,
};
use airtoll_security::AkmSuite;
use airtoll_security::CipherSuite;
use airtoll_security::akm::AkmHash;
use airtoll_security::keys::psk;
use airtoll_wire::MacAddress;
use airtoll_wire::eapol::Eapol;
use airtoll_wire::eapol_key::EapolKeyRepr;
use airtoll_wire::ieee80211::element::{Elements, id};
use airtoll_wire::ieee80211::{Frame, Kind};
use airtoll_wire::key_data::{KeyData, iterate};
use crypto_bigint::{NonZero, U256};
use rand_chacha::ChaCha8Rng;
use rand_core::{Infallible, SeedableRng, TryCryptoRng, TryRng};

const STATION: MacAddress = MacAddress([2, 0, 0, 0, 2, 0]);
const ACCESS_POINT: MacAddress = MacAddress([2, 0, 0, 0, 0, 0]);

/// Octets of a recording first, then those of a seed.
struct Recorded {
    octets: Vec<u8>,
    after: ChaCha8Rng,
}

impl Recorded {
    fn new(octets: &[u8]) -> Box<Self> {
        Box::new(Self {
            octets: octets.to_vec(),
            after: ChaCha8Rng::seed_from_u64(1),
        })
    }
}

impl TryRng for Recorded {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        self.after.try_next_u32()
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        self.after.try_next_u64()
    }

    fn try_fill_bytes(&mut self, out: &mut [u8]) -> Result<(), Infallible> {
        if self.octets.len() < out.len() {
            return self.after.try_fill_bytes(out);
        }
        out.copy_from_slice(&self.octets.drain(..out.len()).collect::<Vec<_>>());
        Ok(())
    }
}

impl TryCryptoRng for Recorded {}

fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/capture/corpus/linux")
}

/// The 802.11 frames of a capture: pcap in little-endian octets, radiotap before each frame.
fn frames(folder: &str) -> Vec<Vec<u8>> {
    let octets = std::fs::read(corpus().join(folder).join("air.pcap")).unwrap();
    let mut rest = &octets[24..];
    let mut out = Vec::new();
    while rest.len() > 16 {
        let length = u32::from_le_bytes(rest[8..12].try_into().unwrap()) as usize;
        let packet = &rest[16..16 + length];
        let radiotap = usize::from(u16::from_le_bytes([packet[2], packet[3]]));
        out.push(packet[radiotap..].to_vec());
        rest = &rest[16 + length..];
    }
    out
}

/// Inputs and frames of one 4-way handshake.
struct Recording {
    config: KeyConfig,
    /// EAPOL-Key frames in order: the AP's, the station's, and so on.
    eapol: Vec<Vec<u8>>,
}

struct Kind80211 {
    akm: AkmSuite,
    pairwise: CipherSuite,
    group: CipherSuite,
}

/// The security element of the first management frame of a subtype, behind its fixed fields.
fn element_of(frames: &[Vec<u8>], subtype: u8, fixed: usize, wpa1: bool) -> Vec<u8> {
    let found = frames.iter().find_map(|octets| {
        let frame = Frame::new(octets).ok()?;
        let control = frame.control();
        if control.kind() != Kind::Management || control.subtype() != subtype {
            return None;
        }
        let element = Elements::new(&frame.body()[fixed..]).find(|element| {
            if wpa1 {
                element.vendor().is_some_and(|(oui, kind, _)| {
                    oui == airtoll_wire::ieee80211::suite::OUI_WPA && kind == 1
                })
            } else {
                element.id == id::RSN
            }
        })?;
        let length = u8::try_from(element.body.len()).unwrap();
        Some([&[element.id, length][..], element.body].concat())
    });
    found.expect("a security element")
}

fn json(folder: &str) -> Vec<serde_json::Value> {
    let text = std::fs::read_to_string(corpus().join(folder).join("keys.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

fn octets_of(text: &str) -> Vec<u8> {
    (0..text.len())
        .step_by(2)
        .map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap())
        .collect()
}

fn row(rows: &[serde_json::Value], kind: &str, field: &str) -> Option<String> {
    let found = rows.iter().find(|row| row["kind"] == kind)?;
    found[field].as_str().map(str::to_owned)
}

fn recording(folder: &str, kind: &Kind80211) -> Recording {
    let frames = frames(folder);
    let rows = json(folder);
    let wpa1 = kind.akm == AkmSuite::WpaPsk;
    let ssid = b"airtoll-wcyn2e".to_vec();
    let pmk = match row(&rows, "passphrase", "passphrase") {
        Some(passphrase) => psk::from_passphrase(&passphrase, &ssid).unwrap().to_vec(),
        None => octets_of(&row(&rows, "pmk", "key").unwrap()),
    };
    let eapol: Vec<Vec<u8>> = frames
        .iter()
        .filter_map(|octets| {
            let frame = Frame::new(octets).ok()?;
            let body = frame
                .body()
                .strip_prefix(&[0xaa, 0xaa, 3, 0, 0, 0, 0x88, 0x8e])?;
            let packet = Eapol::new(body).ok()?;
            let data = frame.control().kind() == Kind::Data && packet.packet_type() == 3;
            data.then(|| packet.octets().to_vec())
        })
        .collect();
    let message_1 = Eapol::new(&eapol[0]).unwrap();
    let key = EapolKeyRepr::parse(message_1.body(), 16).unwrap();
    let pmkid = iterate(key.data).find_map(|item| match item {
        KeyData::Pmkid(name) => name.try_into().ok(),
        _ => None,
    });
    let link = Link {
        ssid,
        station: STATION,
        access_point: ACCESS_POINT,
        akm: Some(kind.akm),
        hash: AkmHash::Sha256,
        pairwise: kind.pairwise,
        group: kind.group,
        protection: match kind.akm {
            AkmSuite::Sae | AkmSuite::Owe => ManagementProtection::Required,
            _ => ManagementProtection::Off,
        },
        multi_link: None,
        beacon_protection: false,
        operating_channel_validation: false,
        hash_to_element: false,
        announced: Default::default(),
        mobility_domain: kind.akm.is_ft().then(|| MobilityDomain {
            identifier: [0x43, 0x74],
            r0_key_holder: b"ap1".to_vec(),
            over_the_ds: false,
        }),
    };
    let config = KeyConfig {
        link,
        pmk,
        pmkid,
        station_element: element_of(&frames, 0, 4, wpa1),
        access_point_element: element_of(&frames, 8, 12, wpa1),
    };
    Recording { config, eapol }
}

fn nonce(packet: &[u8]) -> [u8; 32] {
    let packet = Eapol::new(packet).unwrap();
    *EapolKeyRepr::parse(packet.body(), 16).unwrap().nonce
}

fn deliver(exchange: &mut Conversation, from: Party, octets: &[u8]) -> Vec<Vec<u8>> {
    let to = match from {
        Party::Station => Party::AccessPoint,
        _ => Party::Station,
    };
    let message = Message {
        from,
        to,
        carrier: Carrier::Eapol,
        octets: octets.to_vec(),
    };
    let emissions = exchange.deliver(&message).emissions;
    emissions.into_iter().map(|e| e.message.octets).collect()
}

fn recordings() -> Vec<(&'static str, Recording)> {
    let kind = |akm, pairwise, group| Kind80211 {
        akm,
        pairwise,
        group,
    };
    let ccmp = CipherSuite::Ccmp128;
    [
        (
            "wpa-psk-tkip",
            kind(AkmSuite::WpaPsk, CipherSuite::Tkip, CipherSuite::Tkip),
        ),
        ("wpa2-psk-ccmp", kind(AkmSuite::Psk, ccmp, ccmp)),
        (
            "wpa2-psk-ccmp-256",
            kind(AkmSuite::Psk, CipherSuite::Ccmp256, CipherSuite::Ccmp256),
        ),
        (
            "wpa2-psk-gcmp",
            kind(AkmSuite::Psk, CipherSuite::Gcmp128, CipherSuite::Gcmp128),
        ),
        (
            "wpa2-psk-gcmp-256",
            kind(AkmSuite::Psk, CipherSuite::Gcmp256, CipherSuite::Gcmp256),
        ),
        ("wpa2-eap-tls-ccmp", kind(AkmSuite::Ieee8021x, ccmp, ccmp)),
        ("wpa3-sae-ccmp", kind(AkmSuite::Sae, ccmp, ccmp)),
        ("owe-ccmp", kind(AkmSuite::Owe, ccmp, ccmp)),
        ("wpa2-ft-psk-ccmp", kind(AkmSuite::FtPsk, ccmp, ccmp)),
    ]
    .into_iter()
    .map(|(folder, kind)| (folder, recording(folder, &kind)))
    .collect()
}

#[test]
fn our_station_answers_hostapd_as_wpa_supplicant_did() {
    for (folder, recording) in recordings() {
        let wpa1 = recording.config.link.is_wpa1();
        let snonce = nonce(&recording.eapol[1]);
        let station: Vec<Box<dyn Peer>> = vec![Box::new(KeySupplicant::new(recording.config))];
        let mut exchange = Conversation::new(station, Recorded::new(&snonce));
        for (index, pair) in recording.eapol.chunks(2).enumerate() {
            let answers = deliver(&mut exchange, Party::AccessPoint, &pair[0]);
            assert_eq!(answers, [pair[1].clone()], "{folder}: answer {index}");
        }
        // With WPA version 1 the group key comes later, and encrypted.
        let status = exchange.status(Party::Station);
        let done = matches!(status, Some(Status::Established(_)));
        assert_eq!(done, !wpa1, "{folder}: {status:?}");
    }
}

#[test]
fn our_access_point_asks_as_hostapd_did_and_takes_wpa_supplicant_s_answers() {
    for (folder, recording) in recordings() {
        let wpa1 = recording.config.link.is_wpa1();
        let [one, two, three, four] = &recording.eapol[..] else {
            // hostapd asked again, with another nonce, before the first answer came.
            assert_eq!((folder, recording.eapol.len()), ("wpa2-psk-gcmp-256", 6));
            continue;
        };
        let station: Vec<Box<dyn Peer>> =
            vec![Box::new(KeySupplicant::new(recording.config.clone()))];
        let mut theirs = Conversation::new(station, Recorded::new(&nonce(two)));
        deliver(&mut theirs, Party::AccessPoint, one);
        deliver(&mut theirs, Party::AccessPoint, three);
        let secrets = theirs.agreed(Party::Station);
        let group = |name| secrets.get(&name).cloned().unwrap_or_default();
        let ours = KeyAuthenticator::new(recording.config).handing_out(vec![GroupKeys {
            gtk: group(SecretName::Gtk),
            igtk: group(SecretName::Igtk),
            bigtk: Vec::new(),
            key_id: 1,
        }]);
        let access_point: Vec<Box<dyn Peer>> = vec![Box::new(ours)];
        let mut exchange = Conversation::new(access_point, Recorded::new(&nonce(one)));
        let start = exchange.start();
        assert_eq!(start[0].message.octets, *one, "{folder}: message 1");
        let mut altered = two.clone();
        altered[60] ^= 1;
        assert!(deliver(&mut exchange, Party::Station, &altered).is_empty());
        let asked = deliver(&mut exchange, Party::Station, two);
        assert_eq!(asked, std::slice::from_ref(three), "{folder}: message 3");
        let follows = deliver(&mut exchange, Party::Station, four);
        if wpa1 {
            assert_eq!(follows.len(), 1, "{folder}: the group key");
        } else {
            let status = exchange.status(Party::AccessPoint);
            assert_eq!(status, Some(Status::Established(secrets)), "{folder}");
        }
    }
}

/// The bodies of the authentication frames between station and AP.
fn authentication(frames: &[Vec<u8>]) -> Vec<Vec<u8>> {
    let wanted = |octets: &&Vec<u8>| {
        Frame::new(octets).is_ok_and(|frame| {
            let control = frame.control();
            control.kind() == Kind::Management && control.subtype() == 11
        })
    };
    frames
        .iter()
        .filter(wanted)
        .map(|octets| Frame::new(octets).unwrap().body().to_vec())
        .collect()
}

#[test]
fn sae_frames_have_the_recorded_form_and_name_the_pmk_as_hostapd_did() {
    let recording = recordings()
        .into_iter()
        .find(|(folder, _)| *folder == "wpa3-sae-ccmp")
        .unwrap()
        .1;
    let real = authentication(&frames("wpa3-sae-ccmp"));
    let config = SaeConfig {
        link: recording.config.link.clone(),
        password: b"correct horse".to_vec(),
        identifier: None,
        group: 19,
        further_groups: Vec::new(),
        anti_clogging: false,
        impatient: false,
    };
    let peers: Vec<Box<dyn Peer>> = vec![
        Box::new(SaePeer::station(config.clone())),
        Box::new(SaePeer::access_point(config)),
    ];
    let mut exchange = Conversation::new(peers, Recorded::new(&[]));
    let (log, outcome) = exchange.run();
    assert!(matches!(outcome, Outcome::Established(_)));
    let ours: Vec<Vec<u8>> = log
        .iter()
        .map(|e| e.message.octets[24..].to_vec())
        .collect();
    // Algorithm, transaction, status, and the group of a commit: then what is random.
    let form = |bodies: &[Vec<u8>]| -> Vec<(Vec<u8>, usize)> {
        let mut form: Vec<_> = bodies
            .iter()
            .map(|body| {
                (
                    body[..if body[2] == 1 { 8 } else { 6 }].to_vec(),
                    body.len(),
                )
            })
            .collect();
        form.sort();
        form
    };
    assert_eq!(form(&ours), form(&real));
    // The PMKID is made of both scalars (12.4.5.4), which the recording shows.
    let order = "ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551";
    let order = NonZero::<U256>::from_be_hex(order);
    let scalar = |body: &[u8]| U256::from_be_slice(&body[8..40]);
    let sum = scalar(&real[0]).add_mod(&scalar(&real[1]), &order);
    let sum = sum.to_be_bytes();
    assert_eq!(recording.config.pmkid.unwrap(), sum.as_slice()[..16]);
}
