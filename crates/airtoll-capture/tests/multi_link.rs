//! Captures of multi-link associations: both ends of a join over several links, data and beacons of every
//! link, and captures that lack frames.

mod network;

use airtoll_capture::Report;
use airtoll_handshakes::exchange::Carrier;
use airtoll_handshakes::link::agreed::Link;
use airtoll_handshakes::{
    GroupKeys, GroupRenewal, MultiLink, Negotiation, Options, Outcome, Party, PolicySpec,
    SecretName, Secrets,
};
use airtoll_security::CipherSuite;
use airtoll_security::link::bip::BipKey;
use airtoll_security::link::gcmp::GcmpKey;
use airtoll_security::link::mld::LinkAddresses;
use airtoll_wire::MacAddress;
use airtoll_wire::ieee80211::frame::management_subtype as subtype;
use airtoll_wire::ieee80211::{
    Element, FrameControl, HeaderRepr, Kind, ManagementRepr, MultiLinkRepr,
};
use airtoll_wire::llc::SnapRepr;
use network::udp;
use proptest::prelude::*;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

const STATION: MacAddress = MacAddress([2, 0, 0, 0, 0, 7]);
const ACCESS_POINT: MacAddress = MacAddress([2, 0, 0, 0, 1, 0]);
const POLICY: &str = r#"{"name": "test", "link": {"cipher": "gcmp-256", "group_cipher": "gcmp-256",
    "akm": "sae-ext-key", "authentication": "sae", "pmf": "required"}}"#;

/// A join of two devices, frame by frame, and what they agreed on.
struct Join {
    link: Link,
    mlds: MultiLink,
    frames: Vec<Vec<u8>>,
    secrets: Secrets,
    negotiation: Negotiation,
    pn: u64,
}

fn join(links: u8) -> Join {
    let policy: PolicySpec = serde_json::from_str(POLICY).unwrap();
    let options = Options {
        links,
        beacon_protection: true,
        ..Options::default()
    };
    let rng = Box::new(ChaCha8Rng::seed_from_u64(3));
    let mut negotiation =
        Negotiation::between(policy, options, STATION, ACCESS_POINT, rng).unwrap();
    let link = negotiation.link().clone();
    let mlds = link.multi_link.clone().unwrap();
    let mut frames = Vec::new();
    while let Some(exchange) = negotiation.exchange() {
        let (emissions, outcome) = exchange.run();
        assert!(matches!(outcome, Outcome::Established(_)));
        for emission in emissions {
            let message = emission.message;
            frames.push(match message.carrier {
                Carrier::Management => message.octets,
                _ => eapol(&link, message.from, &message.octets),
            });
        }
        if !negotiation.advance().unwrap() {
            break;
        }
    }
    Join {
        secrets: negotiation.secrets().clone(),
        link,
        mlds,
        frames,
        negotiation,
        pn: 0,
    }
}

fn data(to: MacAddress, from: MacAddress, third: MacAddress, up: bool, msdu: &[u8]) -> Vec<u8> {
    let mut octets = Vec::new();
    HeaderRepr {
        control: FrameControl::new(Kind::Data, 8)
            .with_to_ds(up)
            .with_from_ds(!up),
        duration: 44,
        address1: to,
        address2: from,
        address3: third,
        sequence_control: 0,
        address4: None,
        qos_control: Some(0),
        ht_control: None,
    }
    .emit(&mut octets);
    octets.extend_from_slice(msdu);
    octets
}

fn eapol(link: &Link, from: Party, packet: &[u8]) -> Vec<u8> {
    let mut msdu = Vec::new();
    SnapRepr::rfc1042(0x888e, packet).emit(&mut msdu);
    let up = from == Party::Station;
    let (to, by) = if up {
        (link.access_point, link.station)
    } else {
        (link.station, link.access_point)
    };
    data(to, by, link.access_point, up, &msdu)
}

impl Join {
    /// Station and AP on a link.
    fn ends(&self, id: u8) -> (MacAddress, MacAddress) {
        let further = self.mlds.further.iter().find(|link| link.id == id);
        further.map_or((self.link.station, self.link.access_point), |link| {
            (link.station, link.access_point)
        })
    }

    fn addresses(&self, id: u8) -> LinkAddresses {
        let (station, access_point) = self.ends(id);
        LinkAddresses {
            access_point: access_point.0,
            access_point_mld: self.mlds.access_point.0,
            station: station.0,
            station_mld: self.mlds.station.0,
        }
    }

    fn group_key(&self, name: SecretName, id: u8) -> Vec<u8> {
        let at = 32 * usize::from(id);
        self.secrets[&name][at..at + 32].to_vec()
    }

    /// A frame under the pairwise key, on a link.
    fn sealed(&mut self, id: u8, up: bool, msdu: &[u8]) -> Vec<u8> {
        let (station, access_point) = self.ends(id);
        let host = MacAddress([2, 0, 0, 0, 9, 9]);
        let frame = if up {
            data(access_point, station, host, true, msdu)
        } else {
            data(station, access_point, host, false, msdu)
        };
        self.pn += 1;
        let key = GcmpKey::new(&self.secrets[&SecretName::Tk]).unwrap();
        let addresses = self.addresses(id);
        let mut frame = with_room(&frame);
        addresses
            .translated(&mut frame, |frame| key.encapsulate(frame, self.pn, 0))
            .unwrap();
        frame
    }

    /// A frame to all stations of a link.
    fn spoken(&mut self, id: u8, msdu: &[u8]) -> Vec<u8> {
        let access_point = self.ends(id).1;
        let frame = data(
            MacAddress::BROADCAST,
            access_point,
            access_point,
            false,
            msdu,
        );
        self.pn += 1;
        let mut frame = with_room(&frame);
        let key = GcmpKey::new(&self.group_key(SecretName::Gtk, id)).unwrap();
        key.encapsulate(&mut frame, self.pn, 1).unwrap();
        frame
    }

    /// A protected beacon of a link.
    fn beacon(&mut self, id: u8) -> Vec<u8> {
        let access_point = self.ends(id).1;
        let mut elements = Vec::new();
        Element {
            id: 0,
            body: &self.link.ssid,
        }
        .emit(&mut elements);
        elements.extend(self.link.beacon_element());
        MultiLinkRepr {
            mld: self.mlds.access_point,
            link: Some(id),
            change_count: Some(0),
            capabilities: Some(self.mlds.further.len() as u16),
            ..MultiLinkRepr::default()
        }
        .emit(&mut elements);
        let mut frame = Vec::new();
        HeaderRepr {
            control: FrameControl::new(Kind::Management, subtype::BEACON),
            duration: 0,
            address1: MacAddress::BROADCAST,
            address2: access_point,
            address3: access_point,
            sequence_control: 0,
            address4: None,
            qos_control: None,
            ht_control: None,
        }
        .emit(&mut frame);
        ManagementRepr::Beacon(0, 100, 0x11, &elements).emit(&mut frame);
        let key = self.group_key(SecretName::Bigtk, id);
        let key = BipKey::new(CipherSuite::BipGmac256, &key).unwrap();
        self.pn += 1;
        key.protect(&mut frame, self.pn, 6).unwrap();
        frame
    }

    fn key_text(&self) -> String {
        let pmk = &self.secrets[&SecretName::Pmk];
        let hex: String = pmk.iter().map(|octet| format!("{octet:02x}")).collect();
        format!("pmk:{hex}")
    }

    /// Frames of both directions and to groups on every link, and what is in them.
    fn traffic(&mut self, links: u8) -> (Vec<Vec<u8>>, Vec<Vec<u8>>) {
        let (mut frames, mut texts) = (Vec::new(), Vec::new());
        for id in 0..links {
            for (kind, fill) in (0..3).zip(10 * id..) {
                let msdu = udp(60, fill);
                frames.push(match kind {
                    0 => self.sealed(id, true, &msdu),
                    1 => self.sealed(id, false, &msdu),
                    _ => self.spoken(id, &msdu),
                });
                texts.push(msdu);
            }
        }
        (frames, texts)
    }
}

/// A frame with room for the header and MIC of GCMP.
fn with_room(frame: &[u8]) -> Vec<u8> {
    let mut out = frame[..26].to_vec();
    out.extend([0; 8]);
    out.extend_from_slice(&frame[26..]);
    out.extend([0; 16]);
    out
}

/// Analyses frames whose sequence numbers count up; no cipher and no MIC covers these.
fn read(mut frames: Vec<Vec<u8>>, keys: &[String]) -> (Report, Vec<(u64, Vec<u8>)>) {
    for (frame, number) in frames.iter_mut().zip(0u16..) {
        if let Some(control) = frame.get_mut(22..24) {
            control.copy_from_slice(&(number << 4).to_le_bytes());
        }
    }
    network::report(&frames, keys)
}

fn verified(report: &Report, words: &str) -> u64 {
    report.group_management.get(words).copied().unwrap_or(0)
}

#[test]
fn every_link_opens_with_the_keys_of_one_handshake() {
    for links in [2, 3] {
        let mut join = join(links);
        let mut frames: Vec<_> = (0..links).map(|id| join.beacon(id)).collect();
        frames.extend(join.frames.clone());
        let (traffic, texts) = join.traffic(links);
        frames.extend(traffic);
        frames.extend((0..links).map(|id| join.beacon(id)));
        let (report, plain) = read(frames.clone(), &[join.key_text()]);
        let all = 3 * u64::from(links);
        assert_eq!(
            (report.protected, report.decrypted),
            (all, all),
            "{:?}",
            report.undecrypted
        );
        for text in &texts {
            assert!(plain.iter().any(|(_, octets)| octets == text));
        }
        // Beacons before the handshake have no key yet; those after it are verified on each link.
        assert_eq!(verified(&report, "MIC fits"), u64::from(links));
        assert_eq!(verified(&report, "MIC failure"), 0);
        assert_eq!(report.sessions.len(), 1);
        let session = &report.sessions[0];
        assert_eq!(session.outcome, "connected");
        assert_eq!(session.station, STATION.to_string());
        assert_eq!(session.data_protected, 2 * u64::from(links));
        let said = session.multi_link.as_ref().unwrap();
        assert_eq!(said.station_mld, join.mlds.station.to_string());
        assert_eq!(said.ap_mld, join.mlds.access_point.to_string());
        let named: Vec<_> = said
            .links
            .iter()
            .map(|link| (link.link_id, link.station.clone(), link.bssid.clone()))
            .collect();
        let expected: Vec<_> = (0..links)
            .map(|id| {
                let (station, bssid) = join.ends(id);
                (Some(id), Some(station.to_string()), Some(bssid.to_string()))
            })
            .collect();
        assert_eq!(named, expected);
        assert!(report.roams.is_empty());
    }
}

#[test]
fn the_four_way_handshake_alone_names_all_links() {
    let mut join = join(2);
    let first = join.frames.len() - 4;
    let mut frames = join.frames[first..].to_vec();
    let (traffic, _) = join.traffic(2);
    frames.extend(traffic);
    frames.extend((0..2).map(|id| join.beacon(id)));
    let (report, _) = read(frames.clone(), &[join.key_text()]);
    assert_eq!(
        (report.protected, report.decrypted),
        (6, 6),
        "{:?}",
        report.undecrypted
    );
    assert_eq!(verified(&report, "MIC fits"), 2);
    let session = &report.sessions[0];
    assert_eq!(session.multi_link.as_ref().unwrap().links.len(), 2);
}

#[test]
fn a_renewal_on_one_link_gives_the_keys_of_all() {
    let mut join = join(2);
    let mut frames = join.frames.clone();
    let keys = |octet: u8| GroupKeys {
        gtk: vec![octet; 32],
        igtk: vec![octet + 1; 32],
        bigtk: vec![octet + 2; 32],
        key_id: 2,
    };
    let renewal = GroupRenewal {
        keys: vec![keys(0x30), keys(0x40)],
        replay_counter: 9,
    };
    let rng = Box::new(ChaCha8Rng::seed_from_u64(4));
    let renewed = join.negotiation.group_renewal(renewal, rng).unwrap();
    let (records, secrets) = renewed.run().unwrap();
    for emission in &records[0].emissions {
        let mut msdu = Vec::new();
        SnapRepr::rfc1042(0x888e, &emission.message.octets).emit(&mut msdu);
        let up = emission.message.from == Party::Station;
        frames.push(join.sealed(1, up, &msdu));
    }
    for name in [SecretName::Gtk, SecretName::Bigtk] {
        join.secrets.insert(name, secrets[&name].clone());
    }
    let key = GcmpKey::new(&join.group_key(SecretName::Gtk, 0)).unwrap();
    let bssid = join.link.access_point;
    let mut spoken = with_room(&data(
        MacAddress::BROADCAST,
        bssid,
        bssid,
        false,
        &udp(9, 1),
    ));
    key.encapsulate(&mut spoken, 1, 2).unwrap();
    frames.push(spoken);
    frames.extend((0..2).map(|id| join.beacon(id)));
    let (report, _) = read(frames.clone(), &[join.key_text()]);
    assert_eq!(
        (report.protected, report.decrypted),
        (3, 3),
        "{:?}",
        report.undecrypted
    );
    assert_eq!(verified(&report, "MIC fits"), 2);
    let session = &report.sessions[0];
    assert_eq!(report.sessions.len(), 1);
    assert_eq!(session.rekeys.len(), 1);
}

#[test]
fn another_beacon_s_mic_fails_and_another_key_opens_nothing() {
    let mut join = join(2);
    let mut frames = join.frames.clone();
    let mut forged = join.beacon(1);
    // The network name, behind header and fixed fields.
    forged[24 + 12 + 2] ^= 1;
    frames.push(forged);
    let (traffic, _) = join.traffic(2);
    frames.extend(traffic);
    let (known, _) = read(frames.clone(), &[join.key_text()]);
    assert_eq!(verified(&known, "MIC failure"), 1);
    let (other, _) = read(frames.clone(), &[format!("pmk:{}", "5a".repeat(32))]);
    assert_eq!(other.decrypted, 0);
    let reason = "no PMK of SAE or OWE (a passphrase gives none)";
    assert_eq!(other.undecrypted[reason], 4);
}

#[test]
fn a_station_that_associates_on_one_link_again_has_none() {
    let mut join = join(2);
    let mut frames = join.frames.clone();
    let elements = join.link.security_element(&[]);
    let mut request = Vec::new();
    HeaderRepr {
        control: FrameControl::new(Kind::Management, subtype::ASSOCIATION_REQUEST),
        duration: 0,
        address1: ACCESS_POINT,
        address2: STATION,
        address3: ACCESS_POINT,
        sequence_control: 0x70,
        address4: None,
        qos_control: None,
        ht_control: None,
    }
    .emit(&mut request);
    ManagementRepr::AssociationRequest(0x11, 10, &elements).emit(&mut request);
    frames.push(request);
    let late = join.sealed(0, true, &udp(9, 1));
    frames.push(late);
    let (report, _) = read(frames.clone(), &[join.key_text()]);
    assert_eq!((report.protected, report.decrypted), (1, 0));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8))]

    #[test]
    fn damaged_frames_never_end_the_reading(
        which in any::<prop::sample::Index>(), at in any::<prop::sample::Index>(), bit in 0u8..8, cut: bool,
    ) {
        let mut join = join(2);
        let mut frames = join.frames.clone();
        let (traffic, _) = join.traffic(2);
        frames.extend(traffic);
        let frame = &mut frames[which.index(join.frames.len())];
        let at = at.index(frame.len());
        if cut {
            frame.truncate(at);
        } else {
            frame[at] ^= 1 << bit;
        }
        frames.retain(|frame| !frame.is_empty());
        let (report, _) = read(frames.clone(), &[join.key_text()]);
        prop_assert!(report.decrypted <= report.protected);
    }
}
