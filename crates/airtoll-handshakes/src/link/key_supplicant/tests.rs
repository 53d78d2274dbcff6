//! Both ends of the key handshakes against each other.

use airtoll_wire::MacAddress;
use airtoll_wire::eapol::Eapol;
use airtoll_wire::eapol_key::KeyInformation;
use airtoll_wire::ieee80211::{OciRepr, RsnRepr};
use proptest::prelude::*;

use super::*;
use crate::adverse::{agree, run, run_adverse, run_flipped};
use crate::exchange::{Outcome, SecretName};
use crate::link::agreed::{Link, ManagementProtection, MobilityDomain, OperatingChannels};
use crate::link::key_handshake::KeyAuthenticator;
use airtoll_security::akm::{AkmHash, AkmSuite};
use airtoll_security::suite::CipherSuite;

fn config(akm: AkmSuite, pairwise: CipherSuite) -> KeyConfig {
    let link = Link {
        ssid: b"airtoll".to_vec(),
        station: MacAddress([2, 0, 0, 0, 0, 1]),
        access_point: MacAddress([2, 0, 0, 0, 0, 2]),
        akm: Some(akm),
        hash: AkmHash::Sha256,
        pairwise,
        group: pairwise,
        protection: if akm.is_sae() {
            ManagementProtection::Required
        } else {
            ManagementProtection::Off
        },
        multi_link: None,
        beacon_protection: false,
        operating_channel_validation: false,
        hash_to_element: akm.is_sae(),
        announced: Default::default(),
        mobility_domain: akm.is_ft().then(|| MobilityDomain {
            identifier: [0xa1, 0xb2],
            r0_key_holder: b"ap.example.org".to_vec(),
            over_the_ds: false,
        }),
    };
    KeyConfig {
        station_element: link.security_element(&[]),
        access_point_element: link.security_element(&[]),
        link,
        pmk: vec![7; 32],
        pmkid: Some([9; 16]),
    }
}

fn peers(config: &KeyConfig) -> Vec<Box<dyn Peer>> {
    vec![
        Box::new(KeySupplicant::new(config.clone())),
        Box::new(KeyAuthenticator::new(config.clone())),
    ]
}

const CASES: [(AkmSuite, CipherSuite, usize); 8] = [
    (AkmSuite::Psk, CipherSuite::Ccmp128, 4),
    (AkmSuite::Psk, CipherSuite::Tkip, 4),
    (AkmSuite::WpaPsk, CipherSuite::Tkip, 6),
    (AkmSuite::WpaPsk, CipherSuite::Ccmp128, 6),
    (AkmSuite::Sae, CipherSuite::Ccmp128, 4),
    (AkmSuite::SaeExtKey, CipherSuite::Gcmp256, 4),
    (AkmSuite::FtPsk, CipherSuite::Ccmp128, 4),
    (AkmSuite::PskSha256, CipherSuite::Gcmp128, 4),
];

#[test]
fn every_akm_agrees_in_the_standard_number_of_messages() {
    for (akm, cipher, expected) in CASES {
        let config = config(akm, cipher);
        let (log, outcome, exchange) = run(peers(&config), 1);
        assert_eq!(log.len(), expected, "{akm:?} {cipher:?}");
        let Outcome::Established(secrets) = outcome else {
            panic!("{akm:?} {cipher:?}: {outcome:?}");
        };
        assert_eq!(secrets[&SecretName::Tk].len(), cipher.key_octets());
        assert_eq!(secrets[&SecretName::Gtk].len(), cipher.key_octets());
        assert_eq!(
            exchange.status(Party::AccessPoint),
            exchange.status(Party::Station)
        );
    }
}

#[test]
fn a_wrong_passphrase_ends_with_reason_15() {
    for (akm, cipher, _) in CASES {
        let ours = config(akm, cipher);
        let mut theirs = ours.clone();
        theirs.pmk = vec![8; 32];
        let peers: Vec<Box<dyn Peer>> = vec![
            Box::new(KeySupplicant::new(ours)),
            Box::new(KeyAuthenticator::new(theirs)),
        ];
        let (log, outcome, exchange) = run(peers, 1);
        let failure = Failure::WrongPassphrase {
            code: Code::Reason(15),
        };
        assert_eq!(outcome, Outcome::Failed(failure));
        assert_eq!(
            exchange.status(Party::AccessPoint),
            Some(Status::Failed(failure))
        );
        // Four times message 1, three or four answers, one deauthentication.
        assert!((8..=9).contains(&log.len()), "{} messages", log.len());
    }
}

#[test]
fn another_element_than_the_association_s_ends_with_reason_17() {
    let ours = config(AkmSuite::Psk, CipherSuite::Ccmp128);
    let mut theirs = ours.clone();
    theirs.station_element = theirs.link.security_element(&[[1; 16]]);
    let peers: Vec<Box<dyn Peer>> = vec![
        Box::new(KeySupplicant::new(ours)),
        Box::new(KeyAuthenticator::new(theirs)),
    ];
    let failure = Failure::ElementMismatch {
        code: Code::Reason(17),
    };
    assert_eq!(run(peers, 1).1, Outcome::Failed(failure));
}

#[test]
fn a_replayed_message_3_changes_nothing() {
    let config = config(AkmSuite::Psk, CipherSuite::Ccmp128);
    let (log, _, mut exchange) = run(peers(&config), 1);
    let third = log
        .iter()
        .find(|e| {
            e.message.octets[5..7] == (0x13ca_u16).to_be_bytes() && e.message.to == Party::Station
        })
        .expect("message 3 has Key Information 0x13ca");
    assert!(KeyInformation(0x13ca).has(KeyInformation::INSTALL | KeyInformation::ENCRYPTED));
    let before = exchange.status(Party::Station);
    let reaction = exchange.deliver(&third.message.clone());
    assert!(reaction.emissions.is_empty());
    assert_eq!(exchange.status(Party::Station), before);
}

#[test]
fn a_group_rekey_is_two_messages_under_the_old_keys() {
    let config = config(AkmSuite::Psk, CipherSuite::Ccmp128);
    let mut rng = rand_chacha::ChaCha8Rng::from_seed([1; 32]);
    use rand_chacha::rand_core::SeedableRng;
    let mut context = Context::new(&mut rng);
    let derived = config.derive(&mut context, &[1; 32], &[2; 32]).unwrap();
    let peers: Vec<Box<dyn Peer>> = vec![
        Box::new(KeySupplicant::group_rekey(
            config.clone(),
            derived.ptk.clone(),
            7,
        )),
        Box::new(KeyAuthenticator::group_rekey(config, derived.ptk, 7)),
    ];
    let (log, outcome, exchange) = run(peers, 3);
    assert_eq!(log.len(), 2);
    assert!(matches!(outcome, Outcome::Established(_)));
    assert!(agree(&exchange, Party::Station, Party::AccessPoint));
}

#[test]
fn equal_seeds_give_equal_octets() {
    let config = config(AkmSuite::Sae, CipherSuite::Ccmp128);
    assert_eq!(run(peers(&config), 5).0, run(peers(&config), 5).0);
    assert_ne!(run(peers(&config), 5).0, run(peers(&config), 6).0);
}

/// Channel 36 of 5 GHz: 20, 40 and 80 MHz wide.
const NARROW: [u8; 3] = [115, 36, 0];
const MIDDLE: [u8; 3] = [116, 36, 0];
const WIDE: [u8; 3] = [128, 36, 0];
/// Another primary channel of the same 80 MHz.
const OTHER: [u8; 3] = [128, 40, 0];

/// Settings with operating channel validation, of an end that believes the two ends to be here.
fn on(akm: AkmSuite, station: [u8; 3], access_point: [u8; 3]) -> KeyConfig {
    let mut config = config(akm, CipherSuite::Ccmp128);
    let [station, access_point] = [station, access_point].map(|oci| OciRepr::parse(&oci).unwrap());
    config.link.protection = ManagementProtection::Required;
    config.link.operating_channel_validation = true;
    config.link.announced.channels = OperatingChannels {
        station,
        access_point,
    };
    let element = config.link.security_element(&[]);
    (config.station_element, config.access_point_element) = (element.clone(), element);
    config
}

/// A 4-way handshake and, after it, a group key handshake between two ends: messages and outcome.
fn handshakes(station: &KeyConfig, access_point: &KeyConfig) -> [(Vec<Message>, Vec<Status>); 2] {
    use rand_chacha::rand_core::SeedableRng;
    let mut rng = rand_chacha::ChaCha8Rng::from_seed([1; 32]);
    let mut context = Context::new(&mut rng);
    let ptk = access_point
        .derive(&mut context, &[1; 32], &[2; 32])
        .unwrap()
        .ptk;
    let pairwise: Vec<Box<dyn Peer>> = vec![
        Box::new(KeySupplicant::new(station.clone())),
        Box::new(KeyAuthenticator::new(access_point.clone())),
    ];
    let group: Vec<Box<dyn Peer>> = vec![
        Box::new(KeySupplicant::group_rekey(station.clone(), ptk.clone(), 7)),
        Box::new(KeyAuthenticator::group_rekey(access_point.clone(), ptk, 7)),
    ];
    [pairwise, group].map(|peers| {
        let (log, _, exchange) = run(peers, 1);
        let messages = log.into_iter().map(|emission| emission.message).collect();
        let ends = [Party::Station, Party::AccessPoint];
        (
            messages,
            ends.map(|end| exchange.status(end).unwrap()).to_vec(),
        )
    })
}

/// Key data of an EAPOL-Key message of `config`'s handshake, decrypted under `kek` where they are encrypted.
fn key_data(config: &KeyConfig, message: &Message, kek: &[u8]) -> Vec<u8> {
    let body = Eapol::new(&message.octets).unwrap().body();
    let key = EapolKeyRepr::parse(body, config.mic_octets()).unwrap();
    if !key.information.has(KeyInformation::ENCRYPTED) {
        return key.data.to_vec();
    }
    airtoll_security::keys::wrap::unwrap(kek, key.data)
        .unwrap()
        .to_vec()
}

#[test]
fn operating_channel_information_is_in_messages_2_and_3_and_in_both_of_a_group_rekey() {
    for akm in [AkmSuite::Sae, AkmSuite::PskSha256, AkmSuite::FtPsk] {
        let config = on(akm, NARROW, WIDE);
        let element = RsnRepr::parse(&config.station_element[2..]).unwrap();
        // MFPR, MFPC and OCVC.
        assert_eq!(element.capabilities, Some(0x40c0));
        let mut without = config.clone();
        without.link.operating_channel_validation = false;
        let element = without.link.security_element(&[]);
        (without.station_element, without.access_point_element) = (element.clone(), element);
        let [with, without] = [&config, &without].map(|config| handshakes(config, config));
        for ((messages, ends), (before, _)) in with.iter().zip(&without) {
            assert!(
                ends.iter().all(|end| matches!(end, Status::Established(_))),
                "{ends:?}"
            );
            let Status::Established(secrets) = &ends[0] else {
                continue;
            };
            let kek = &secrets[&SecretName::Kek];
            assert_eq!(messages.len(), before.len());
            for message in messages {
                let data = key_data(&config, message, kek);
                let found: Vec<[u8; 3]> = iterate(&data)
                    .filter_map(|item| match item {
                        KeyData::Oci(oci) => oci.try_into().ok(),
                        _ => None,
                    })
                    .collect();
                let from_station = message.from == Party::Station;
                let carries = !data.is_empty() && !found.is_empty();
                // Messages 1 and 4 of the 4-way handshake have none.
                let number = messages.iter().position(|one| one == message).unwrap();
                assert_eq!(carries, messages.len() == 2 || matches!(number, 1 | 2));
                assert!(
                    found
                        .iter()
                        .all(|oci| *oci == if from_station { NARROW } else { WIDE })
                );
            }
        }
        // A KDE of 9 octets: as it is in the station's messages, padded to 8 octets in the AP's.
        let grown = |at: usize, number: usize| {
            with[at].0[number].octets.len() - without[at].0[number].octets.len()
        };
        assert_eq!(
            (grown(0, 0), grown(0, 1), grown(0, 3), grown(1, 1)),
            (0, 9, 0, 9)
        );
        assert!([8, 16].contains(&grown(0, 2)) && [8, 16].contains(&grown(1, 0)));
    }
}

#[test]
fn the_kde_has_the_octets_of_the_standard() {
    let config = on(AkmSuite::Sae, NARROW, WIDE);
    let kde = |party| config.link.operating_channel_kde(party);
    assert_eq!(
        kde(Party::Station),
        [0xdd, 7, 0, 0x0f, 0xac, 13, 115, 36, 0]
    );
    assert_eq!(
        kde(Party::AccessPoint),
        [0xdd, 7, 0, 0x0f, 0xac, 13, 128, 36, 0]
    );
    // Not without management frame protection, and not of WPA version 1.
    let mut bare = config.link.clone();
    bare.protection = ManagementProtection::Off;
    assert!(bare.operating_channel_kde(Party::Station).is_empty());
    assert!(bare.admits_channel(Party::Station, None));
    let mut old = config.link;
    old.akm = Some(AkmSuite::WpaPsk);
    assert!(!old.validates_channel());
}

#[test]
fn a_wrong_channel_in_any_message_is_a_failure_of_its_own() {
    let failed = |reason| {
        Status::Failed(Failure::WrongChannel {
            code: Code::Reason(reason),
        })
    };
    let of = |station, access_point| handshakes(&station, &access_point);
    // Message 2 names another primary channel than the AP's, and message 1 of the group rekey
    // another one than the station's.
    let [pairwise, group] = of(
        on(AkmSuite::Sae, OTHER, OTHER),
        on(AkmSuite::Sae, WIDE, WIDE),
    );
    assert_eq!(pairwise.1[1], failed(15));
    // Message 1 four times, message 2 four times, and the end.
    assert_eq!(pairwise.0.len(), 9);
    assert_eq!(group.1[0], failed(16));
    assert!(matches!(
        group.1[1],
        Status::Failed(Failure::PeerTimeout { .. })
    ));
    // The station is wider than the AP says in message 3.
    let [pairwise, _] = of(
        on(AkmSuite::Sae, WIDE, WIDE),
        on(AkmSuite::Sae, MIDDLE, MIDDLE),
    );
    assert_eq!(pairwise.1[0], failed(15));
    assert!(matches!(
        pairwise.1[1],
        Status::Failed(Failure::PeerTimeout { .. })
    ));
    // The station is narrower in message 2 of either handshake than it was when it associated.
    let [pairwise, group] = of(
        on(AkmSuite::Sae, NARROW, WIDE),
        on(AkmSuite::Sae, WIDE, WIDE),
    );
    assert_eq!((&pairwise.1[1], &group.1[1]), (&failed(15), &failed(16)));
    // No OCI at all, of an end that does not know of it but repeats the AP's element.
    let mut mute = on(AkmSuite::Sae, WIDE, WIDE);
    mute.link.operating_channel_validation = false;
    let [pairwise, group] = of(mute, on(AkmSuite::Sae, WIDE, WIDE));
    assert_eq!((&pairwise.1[1], &group.1[1]), (&failed(15), &failed(16)));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn adversity_with_channel_validation_never_makes_ends_disagree(
        seed: u64, schedule in prop::collection::vec(any::<u8>(), 0..40)
    ) {
        let (_, exchange) = run_adverse(peers(&on(AkmSuite::Sae, NARROW, WIDE)), seed, &schedule);
        prop_assert!(agree(&exchange, Party::Station, Party::AccessPoint));
    }

    #[test]
    fn loss_repetition_and_reordering_never_make_ends_disagree(
        case in 0..CASES.len(), seed: u64, schedule in prop::collection::vec(any::<u8>(), 0..40)
    ) {
        let (akm, cipher, _) = CASES[case];
        let (_, exchange) = run_adverse(peers(&config(akm, cipher)), seed, &schedule);
        prop_assert!(agree(&exchange, Party::Station, Party::AccessPoint));
    }

    #[test]
    fn a_little_loss_is_survived(case in 0..CASES.len(), seed: u64, lost in 0_usize..6) {
        let (akm, cipher, _) = CASES[case];
        let mut schedule = vec![2; lost];
        schedule.push(0);
        let (outcome, _) = run_adverse(peers(&config(akm, cipher)), seed, &schedule);
        let survived = matches!(outcome, Outcome::Established(_));
        // Only message 4 cannot be had again from an AP that gave up on it.
        prop_assert!(survived, "{:?}", outcome);
    }

    #[test]
    fn a_flipped_bit_never_makes_ends_disagree(
        case in 0..CASES.len(), index in 0_usize..6, octet in 0_usize..300, bit in 0_u8..8
    ) {
        let (akm, cipher, _) = CASES[case];
        let (_, exchange) = run_flipped(peers(&config(akm, cipher)), 3, (index, octet, bit));
        prop_assert!(agree(&exchange, Party::Station, Party::AccessPoint));
    }
}
