//! Both ends of the key handshakes against each other.

use airtoll_wire::MacAddress;
use airtoll_wire::eapol_key::KeyInformation;
use proptest::prelude::*;

use super::*;
use crate::adverse::{agree, run, run_adverse, run_flipped};
use crate::exchange::{Outcome, SecretName};
use crate::key_handshake::KeyAuthenticator;
use crate::link::{Link, ManagementProtection, MobilityDomain};
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

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

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
