//! Joins over several links, their lengths, and what they refuse.

use airtoll_wire::eapol_key::EapolKeyRepr;
use airtoll_wire::ieee80211::Management;
use airtoll_wire::ieee80211::multi_link::MultiLinkRepr;
use airtoll_wire::key_data::{KeyData, iterate};
use proptest::prelude::*;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

use super::*;
use crate::adverse::{agree, run_adverse, run_flipped};
use crate::exchange::{Carrier, Outcome, Peer, SecretName};
use crate::link::agreed::read_management;
use crate::link::key_frame::KeyConfig;
use crate::link::key_handshake::{GroupKeys, KeyAuthenticator};
use crate::link::key_supplicant::KeySupplicant;
use crate::negotiation::{GroupRenewal, Negotiation, Stage, StageRecord};
use crate::policy::{Options, PolicySpec};
use airtoll_security::akm::{AkmHash, AkmSuite};
use airtoll_security::keys::Ptk;
use airtoll_security::suite::CipherSuite;

const STATION: MacAddress = MacAddress([2, 0, 0, 0, 0, 1]);
const ACCESS_POINT: MacAddress = MacAddress([2, 0, 0, 0, 0, 2]);
const AKM24: &str = r#"{"cipher": "gcmp-256", "group_cipher": "gcmp-256", "akm": "sae-ext-key",
    "authentication": "sae", "pmf": "required"}"#;
const OWE: &str =
    r#"{"cipher": "gcmp-256", "group_cipher": "gcmp-256", "akm": "owe", "pmf": "required"}"#;
const ENTERPRISE: &str = r#"{"cipher": "gcmp-256", "group_cipher": "gcmp-256", "akm": "802.1x-suite-b-192",
    "eap_method": "tls", "pmf": "required"}"#;

fn policy(link: &str) -> PolicySpec {
    serde_json::from_str(&format!(r#"{{"name": "test", "link": {link}}}"#)).unwrap()
}

fn options(links: u8) -> Options {
    Options {
        links,
        beacon_protection: true,
        ..Options::default()
    }
}

fn generator(seed: u64) -> Box<ChaCha8Rng> {
    Box::new(ChaCha8Rng::seed_from_u64(seed))
}

fn negotiation(link: &str, links: u8) -> Negotiation {
    let (policy, options) = (policy(link), options(links));
    Negotiation::between(policy, options, STATION, ACCESS_POINT, generator(1)).unwrap()
}

fn lengths(records: &[StageRecord], stage: Stage) -> Vec<usize> {
    let of_stage = records.iter().filter(|record| record.stage == stage);
    of_stage
        .flat_map(|record| &record.emissions)
        .map(|emission| emission.message.octets.len())
        .collect()
}

#[test]
fn one_join_serves_all_links_in_as_many_messages_as_one() {
    for link in [AKM24, OWE, ENTERPRISE] {
        let (alone, secrets) = negotiation(link, 1).run().unwrap();
        let keys = |secrets: &crate::Secrets, name| secrets[&name].len();
        for links in [2, 3, 15] {
            let (records, further) = negotiation(link, links).run().unwrap();
            let last = records.last().unwrap();
            assert_eq!(last.stage, Stage::Keys, "{link} {links}");
            assert!(
                matches!(last.outcome, Outcome::Established(_)),
                "{link} {links}"
            );
            let count = |all: &[StageRecord]| all.iter().map(|r| r.emissions.len()).sum::<usize>();
            assert_eq!(count(&records), count(&alone));
            for name in [SecretName::Gtk, SecretName::Igtk, SecretName::Bigtk] {
                assert_eq!(
                    keys(&further, name),
                    usize::from(links) * keys(&secrets, name)
                );
            }
            assert_eq!(
                keys(&further, SecretName::Tk),
                keys(&secrets, SecretName::Tk)
            );
        }
    }
}

#[test]
fn lengths_follow_from_the_elements_and_kdes_of_each_link() {
    let (alone, _) = negotiation(AKM24, 1).run().unwrap();
    for links in 2..=5_usize {
        let (records, _) = negotiation(AKM24, links as u8).run().unwrap();
        let grown = |stage| {
            let before = lengths(&alone, stage);
            let after = lengths(&records, stage);
            let pairs = after.into_iter().zip(before);
            pairs
                .map(|(after, before)| after - before)
                .collect::<Vec<_>>()
        };
        // An element with the MLD address in all four frames of SAE.
        assert_eq!(grown(Stage::Authentication), [12; 4]);
        // Common part of 8 and 13 octets with 5 before it; per link 2 + 2 + 7 + 2 of capability, and 2 + 2 +
        // 20 + 4 of capability and status. From 255 octets on fragments have 2 more.
        let further = links - 1;
        assert_eq!(
            grown(Stage::Association),
            [5 + 9 + 13 * further, 5 + 13 + 28 * further]
        );
        // The MLD address takes 12 octets, a link 13, in message 3 with its RSN element (28) and RSN
        // extension element (3), which a single link has once itself; MLO KDEs have 45, 47 and 47
        // octets for 40, 46 and 46. Key data are padded to eight octets.
        let message_3 = 12 + 13 * links + 31 * further + (45 + 47 + 47) * links - (40 + 46 + 46);
        let keys = grown(Stage::Keys);
        assert_eq!((keys[0], keys[1], keys[3]), (12, 12 + 13 * further, 12));
        assert!(keys[2].abs_diff(message_3) < 8, "{} {message_3}", keys[2]);
    }
}

#[test]
fn keys_belong_to_the_mlds_and_frames_to_the_link() {
    let mut negotiation = negotiation(AKM24, 2);
    let mlds = negotiation.link().multi_link.clone().unwrap();
    assert_eq!(mlds.station, mld_address(STATION));
    let mut pmk = Vec::new();
    let mut nonces = Vec::new();
    while let Some(exchange) = negotiation.exchange() {
        for emission in exchange.run().0 {
            let octets = &emission.message.octets;
            if emission.message.carrier == Carrier::Management {
                let sender = if emission.message.from == Party::Station {
                    STATION
                } else {
                    ACCESS_POINT
                };
                assert_eq!(octets[10..16], sender.0);
            } else if let Ok(key) = EapolKeyRepr::parse(&octets[4..], 16) {
                nonces.push(*key.nonce);
            }
        }
        if !negotiation.advance().unwrap() {
            break;
        }
        if let Some(found) = negotiation.secrets().get(&SecretName::Pmk) {
            pmk.clone_from(found);
        }
    }
    let derived = |access_point, station| {
        let (akm, cipher) = (AkmSuite::SaeExtKey, CipherSuite::Gcmp256);
        Ptk::derive(
            akm,
            AkmHash::Sha256,
            cipher,
            &pmk,
            access_point,
            station,
            &nonces[0],
            &nonces[1],
        )
        .unwrap()
    };
    let tk = &negotiation.secrets()[&SecretName::Tk];
    assert_eq!(derived(mlds.access_point, mlds.station).tk(), &tk[..]);
    assert_ne!(derived(ACCESS_POINT, STATION).tk(), &tk[..]);
}

#[test]
fn profiles_name_every_further_link() {
    let (records, _) = negotiation(AKM24, 3).run().unwrap();
    let frames = records.iter().flat_map(|record| &record.emissions);
    let mut found = 0;
    for emission in frames {
        let (from, elements, fixed) = match read_management(&emission.message) {
            Some((_, Management::AssociationRequest { elements, .. })) => {
                (Party::Station, elements, 2)
            }
            Some((_, Management::AssociationResponse { elements, .. })) => {
                (Party::AccessPoint, elements, 4)
            }
            _ => continue,
        };
        let said = MultiLinkRepr::find(&elements).unwrap().unwrap();
        let own = if from == Party::Station {
            STATION
        } else {
            ACCESS_POINT
        };
        assert_eq!(said.mld, mld_address(own));
        let ids: Vec<_> = said
            .profiles
            .iter()
            .map(|one| (one.link, one.address))
            .collect();
        let expected = [1, 2].map(|id| (id, Some(link_address(own, id))));
        assert_eq!(ids, expected);
        // The links have the same PHY, so a profile inherits all elements.
        assert!(
            said.profiles
                .iter()
                .all(|one| one.complete && one.body.len() == fixed)
        );
        found += 1;
    }
    assert_eq!(found, 2);
}

#[test]
fn links_with_other_elements_say_so_in_their_profile() {
    let mut negotiation = negotiation(AKM24, 2);
    let mut links = negotiation.link().multi_link.clone().unwrap();
    links.further[0].station_phy.from_he = vec![255, 2, 35, 9];
    links.further[0].station_phy.rates = vec![1, 1, 0x8c];
    negotiation.set_links(links).unwrap();
    let (records, _) = negotiation.run().unwrap();
    let request = &records[1].emissions[0].message;
    let Some((_, Management::AssociationRequest { elements, .. })) = read_management(request)
    else {
        panic!("no request");
    };
    let said = MultiLinkRepr::find(&elements).unwrap().unwrap();
    // Capability, rates, HE; the extended rates of the first link are named as missing.
    assert_eq!(
        said.profiles[0].body[2..],
        [1, 1, 0x8c, 255, 2, 35, 9, 255, 4, 56, 1, 50, 0]
    );
    assert!(matches!(
        records.last().unwrap().outcome,
        Outcome::Established(_)
    ));
}

#[test]
fn group_keys_are_renewed_for_all_links_at_once() {
    let mut first = negotiation(AKM24, 2);
    while first
        .exchange()
        .is_some_and(|e| matches!(e.run().1, Outcome::Established(_)))
    {
        first.advance().unwrap();
    }
    let keys = |octet: u8| GroupKeys {
        gtk: vec![octet; 32],
        igtk: vec![octet; 32],
        bigtk: vec![octet; 32],
        key_id: 2,
    };
    let renewal = |keys: Vec<GroupKeys>| GroupRenewal {
        keys,
        replay_counter: 9,
    };
    let both = vec![keys(3), keys(4)];
    let (records, secrets) = first
        .group_renewal(renewal(both), generator(2))
        .unwrap()
        .run()
        .unwrap();
    assert_eq!(records[0].emissions.len(), 2);
    assert_eq!(secrets[&SecretName::Gtk], [[3; 32], [4; 32]].concat());
    let refused = first.group_renewal(renewal(vec![keys(3)]), generator(2));
    assert!(refused.is_err_and(|problem| problem.to_string().contains("one set for each link")));
}

#[test]
fn policies_below_the_requirements_are_refused() {
    let refused = |link: &str, options: Options, word: &str| {
        let made = Negotiation::between(policy(link), options, STATION, ACCESS_POINT, generator(1));
        let said = made
            .err()
            .map(|problem| problem.to_string())
            .unwrap_or_default();
        assert!(said.contains(word), "{link}: {said:?}");
    };
    let weak = AKM24.replace("sae-ext-key", "sae");
    refused(&weak, options(2), "AKM 24");
    refused(
        r#"{"cipher": "open", "group_cipher": "open"}"#,
        options(2),
        "AKM 24",
    );
    refused(
        &AKM24.replace("gcmp-256", "ccmp-128"),
        options(2),
        "gcmp-256",
    );
    refused(
        &AKM24.replace("required", "optional"),
        options(2),
        "required",
    );
    let bare = Options {
        beacon_protection: false,
        ..options(2)
    };
    refused(AKM24, bare, "beacon_protection");
    let validated = Options {
        operating_channel_validation: true,
        ..options(2)
    };
    refused(AKM24, validated, "operating_channel_validation");
    refused(
        &AKM24.replace("sae-ext-key", "ft-sae-ext-key"),
        options(2),
        "fast transition",
    );
    refused(AKM24, options(16), "1 to 15");
    refused(AKM24, options(0), "1 to 15");
}

#[test]
fn an_access_point_on_other_links_ends_the_join() {
    let mut config = config();
    let ours = config.clone();
    let links = config.link.multi_link.as_mut().unwrap();
    links.further[0].access_point = MacAddress([2; 6]);
    let peers: Vec<Box<dyn Peer>> = vec![
        Box::new(KeySupplicant::new(ours)),
        Box::new(KeyAuthenticator::new(config)),
    ];
    let (_, outcome, _) = crate::adverse::run(peers, 1);
    assert!(matches!(outcome, Outcome::Failed(_)), "{outcome:?}");
}

fn config() -> KeyConfig {
    let link = negotiation(AKM24, 3).link().clone();
    KeyConfig {
        station_element: link.security_element(&[]),
        access_point_element: link.beacon_element(),
        link,
        pmk: vec![7; 32],
        pmkid: Some([9; 16]),
    }
}

fn peers() -> Vec<Box<dyn Peer>> {
    vec![
        Box::new(KeySupplicant::new(config())),
        Box::new(KeyAuthenticator::new(config())),
    ]
}

proptest! {
    #[test]
    fn both_ends_agree_on_any_network(seed: u64, schedule in proptest::collection::vec(any::<u8>(), 0..60)) {
        let (_, exchange) = run_adverse(peers(), seed, &schedule);
        prop_assert!(agree(&exchange, Party::Station, Party::AccessPoint));
    }

    #[test]
    fn a_flipped_bit_never_makes_other_keys(seed: u64, index in 0usize..4, octet in 0usize..1200, bit in 0u8..8) {
        let (_, exchange) = run_flipped(peers(), seed, (index, octet, bit));
        prop_assert!(agree(&exchange, Party::Station, Party::AccessPoint));
    }

    #[test]
    fn key_data_cut_anywhere_confirm_no_links(at in any::<prop::sample::Index>()) {
        let link = config().link;
        let data = [link.mld_kde(Party::AccessPoint), link.link_kdes(Party::AccessPoint)].concat();
        prop_assert!(link.confirms_links(Party::AccessPoint, &data, true));
        let cut = &data[..at.index(data.len())];
        prop_assert!(!link.confirms_links(Party::AccessPoint, cut, true));
        let keys = |item: KeyData<'_>| matches!(item, KeyData::MloBigtk { .. });
        prop_assert!(!iterate(cut).any(keys));
    }
}
