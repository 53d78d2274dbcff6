//! SAE against the vectors of 802.11-2020, J.10, and against itself.

use super::half::{hunt_and_peck, password_to_point, point_to_element};
use super::*;
use crate::adverse::{agree, run, run_adverse, run_flipped};
use crate::exchange::Outcome;
use crate::link::agreed::ManagementProtection;
use airtoll_security::akm::{AkmHash, AkmSuite};
use airtoll_security::suite::CipherSuite;
use airtoll_wire::MacAddress;
use hex_literal::hex;
use proptest::prelude::*;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

fn config(group: u16, hash_to_element: bool) -> SaeConfig {
    SaeConfig {
        link: Link {
            ssid: b"byteme".to_vec(),
            station: MacAddress(hex!("00095b66ec1e")),
            access_point: MacAddress(hex!("000b6bd90246")),
            akm: Some(AkmSuite::Sae),
            hash: AkmHash::Sha256,
            pairwise: CipherSuite::Ccmp128,
            group: CipherSuite::Ccmp128,
            protection: ManagementProtection::Required,
            multi_link: None,
            beacon_protection: false,
            operating_channel_validation: false,
            hash_to_element,
            announced: Default::default(),
            mobility_domain: None,
        },
        password: b"mekmitasdigoat".to_vec(),
        identifier: None,
        group,
        further_groups: Vec::new(),
        anti_clogging: false,
        impatient: false,
    }
}

fn peers(config: &SaeConfig) -> Vec<Box<dyn Peer>> {
    vec![
        Box::new(SaePeer::station(config.clone())),
        Box::new(SaePeer::access_point(config.clone())),
    ]
}

#[test]
fn hash_to_element_gives_the_element_of_annex_j() {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let mut cx = Context::new(&mut rng);
    let group = Group::from_number(19).unwrap();
    let link = config(19, true).link;
    let pt = password_to_point(
        &mut cx,
        &group,
        b"byteme",
        b"mekmitasdigoat",
        Some(b"psk4internet"),
    )
    .unwrap();
    let pwe = point_to_element(&mut cx, &group, &pt, link.station, link.access_point).unwrap();
    assert_eq!(
        pwe,
        hex!(
            "c93049b9e64000f848201649e999f2b5c22dea69b5632c9df4d633b8aa1f6c1e"
            "73634e94b53d82e7383a8d258199d9dc1a5ee8269d060382ccbf33e614ff59a0"
        )
    );
}

#[test]
fn hunting_and_pecking_gives_the_commit_and_keys_of_annex_j() {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let mut cx = Context::new(&mut rng);
    let group = Group::from_number(19).unwrap();
    let a = MacAddress(hex!("4d3f2fffe387"));
    let b = MacAddress(hex!("a5d8aa958e3c"));
    let pwe = hunt_and_peck(&mut cx, &group, b"mekmitasdigoat", a, b).unwrap();
    let rand = hex!("992465fd3daa3c60aa6565b7f62a2a7f2e12dd12f198faf4fbed89d7ff1ace94");
    let mask = hex!("9507a90f777a044d6a0830b91ea3d5dd70bece44e1acffb86983b5e1bf9fb322");
    let half = Half::with(
        &mut cx,
        group,
        HashAlgorithm::Sha256,
        pwe,
        rand.to_vec(),
        &mask,
    )
    .unwrap();
    assert_eq!(
        half.commit(),
        hex!(
            "2e2c0f0db52440ad146d967114ce005ce1eab0aa2c2e5c2871b774f6c2575c65"
            "d5ad9e00829707aa36ba8b859738fc961d08243505f47c035376d7ac4bc8d7b9"
            "5083bf43827d0fc31ed778dd3671fd21a46d1091d64b6f9a1e1272621325dbe1"
        )
    );
    let shared = half
        .process(
            &mut cx,
            &hex!(
                "591b96f3397fb945100848e7b550543b6720d88337ee93fc49fd6df7e08b5223"
                "e71b9bb048d3873f20556953a96c91536fd8ee6ca9b4a68a148b056a909be03e"
                "83ae208f60f8ef5537858074db06687032399862999b511e0a1552a5fea317c2"
            ),
            Beside::default(),
            Some(AkmSuite::Sae),
        )
        .unwrap();
    let (kck, pmk, pmkid) = (
        hex!("1e733f6d9bd53256287304338831b09a39406d121017073a5c30db36f36cb81a"),
        hex!("4e4dfab1a2dd8ac1a91790f953faaa452ae5c6873ab75b63605ba663f8a7fe59"),
        hex!("8747a600eea3f9f22475df58ca1e5498"),
    );
    assert_eq!((shared.kck, shared.pmk), (kck.to_vec(), pmk.to_vec()));
    assert_eq!(shared.pmkid, pmkid);
}

#[test]
fn every_group_and_mapping_agrees_in_four_messages() {
    for group in 19..=21 {
        for hash_to_element in [false, true] {
            let (log, outcome, exchange) = run(peers(&config(group, hash_to_element)), 2);
            assert_eq!(log.len(), 4, "group {group}");
            assert!(matches!(outcome, Outcome::Established(_)), "{outcome:?}");
            assert_eq!(
                exchange.status(Party::Station),
                exchange.status(Party::AccessPoint)
            );
        }
    }
}

fn draft(group: u16) -> SaeConfig {
    let config = config(group, true);
    SaeConfig {
        link: Link {
            akm: Some(AkmSuite::SaeMlKem768Draft),
            ..config.link
        },
        ..config
    }
}

#[test]
fn the_draft_adds_a_key_and_a_ciphertext_in_fragments_to_the_commits() {
    for group in 19..=21 {
        let lengths = |config: &SaeConfig| {
            let (log, outcome, exchange) = run(peers(config), 2);
            assert!(matches!(outcome, Outcome::Established(_)), "{outcome:?}");
            assert_eq!(
                exchange.status(Party::Station),
                exchange.status(Party::AccessPoint)
            );
            let lengths: Vec<usize> = log.iter().map(|e| e.message.octets.len()).collect();
            lengths
        };
        let (classical, draft) = (lengths(&config(group, true)), lengths(&draft(group)));
        // An identifier and a length for each 255 octets, of which the extension and the group are 3.
        let key = 1184 + 3 + 2 * 5;
        let ciphertext = 1088 + 3 + 2 * 5;
        let more: Vec<usize> = draft.iter().zip(&classical).map(|(a, b)| a - b).collect();
        assert_eq!(more, [key, ciphertext, 0, 0]);
    }
}

#[test]
fn the_draft_runs_with_a_busy_access_point_and_a_refused_group() {
    let busy = SaeConfig {
        anti_clogging: true,
        ..draft(19)
    };
    let (log, outcome, _) = run(peers(&busy), 2);
    assert_eq!(log.len(), 6);
    assert!(matches!(outcome, Outcome::Established(_)), "{outcome:?}");
    let station = SaeConfig {
        further_groups: vec![19],
        ..draft(21)
    };
    let ends: Vec<Box<dyn Peer>> = vec![
        Box::new(SaePeer::station(station)),
        Box::new(SaePeer::access_point(draft(19))),
    ];
    let (log, outcome, _) = run(ends, 2);
    assert_eq!(log.len(), 6);
    assert!(matches!(outcome, Outcome::Established(_)), "{outcome:?}");
}

#[test]
fn a_busy_ap_costs_two_messages_more() {
    for hash_to_element in [false, true] {
        let mut config = config(19, hash_to_element);
        config.anti_clogging = true;
        let (log, outcome, _) = run(peers(&config), 2);
        assert_eq!(log.len(), 6);
        assert!(matches!(outcome, Outcome::Established(_)), "{outcome:?}");
    }
}

#[test]
fn a_wrong_password_ends_with_status_15_and_another_group_with_77() {
    let ours = config(19, true);
    let mut theirs = ours.clone();
    theirs.password = b"mekmitasdigoaz".to_vec();
    let mut peers = peers(&ours);
    peers[1] = Box::new(SaePeer::access_point(theirs));
    let failure = Failure::WrongPassphrase {
        code: Code::Status(15),
    };
    assert_eq!(run(peers, 1).1, Outcome::Failed(failure));
    let peers: Vec<Box<dyn Peer>> = vec![
        Box::new(SaePeer::station(ours)),
        Box::new(SaePeer::access_point(config(20, true))),
    ];
    let failure = Failure::NothingInCommon {
        code: Code::Status(77),
    };
    assert_eq!(run(peers, 1).1, Outcome::Failed(failure));
}

#[test]
fn a_refused_group_is_followed_by_the_next_and_is_part_of_the_keys() {
    for hash_to_element in [false, true] {
        let station = SaeConfig {
            further_groups: vec![20, 19],
            ..config(21, hash_to_element)
        };
        let peers: Vec<Box<dyn Peer>> = vec![
            Box::new(SaePeer::station(station)),
            Box::new(SaePeer::access_point(config(19, hash_to_element))),
        ];
        let (log, outcome, exchange) = run(peers, 2);
        assert!(matches!(outcome, Outcome::Established(_)), "{outcome:?}");
        assert_eq!(log.len(), 8);
        assert_eq!(
            exchange.status(Party::Station),
            exchange.status(Party::AccessPoint)
        );
    }
    // A refusal that the AP did not make: it takes group 20 itself.
    let station = SaeConfig {
        further_groups: vec![19],
        ..config(20, true)
    };
    let busy = SaeConfig {
        further_groups: vec![20],
        ..config(19, true)
    };
    let peers: Vec<Box<dyn Peer>> = vec![
        Box::new(SaePeer::station(station)),
        Box::new(SaePeer::access_point(busy)),
    ];
    let mut exchange = crate::adverse::exchange(peers, 2);
    let first = exchange.start().remove(0).message;
    let mut refusal = Message {
        from: first.to,
        to: first.from,
        ..first
    };
    refusal.octets.truncate(24);
    refusal.octets.extend([3, 0, 1, 0, 77, 0, 20, 0]);
    let second = exchange.deliver(&refusal).emissions.remove(0).message;
    assert_eq!(exchange.deliver(&second).emissions.len(), 1);
    let failure = Failure::NothingInCommon {
        code: Code::Status(1),
    };
    let status = exchange.status(Party::AccessPoint);
    assert_eq!(status, Some(Status::Failed(failure)));
}

#[test]
fn an_identifier_that_the_ap_does_not_know_is_status_123() {
    let named = |name: &[u8]| SaeConfig {
        identifier: Some(name.to_vec()),
        ..config(19, true)
    };
    let (_, outcome, _) = run(peers(&named(b"guest")), 1);
    assert!(matches!(outcome, Outcome::Established(_)), "{outcome:?}");
    let strangers: Vec<Box<dyn Peer>> = vec![
        Box::new(SaePeer::station(named(b"guest"))),
        Box::new(SaePeer::access_point(named(b"staff"))),
    ];
    let failure = Failure::WrongPassphrase {
        code: Code::Status(123),
    };
    assert_eq!(run(strangers, 1).1, Outcome::Failed(failure));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn loss_repetition_and_reordering_never_make_ends_disagree(
        anti_clogging: bool, seed: u64, schedule in prop::collection::vec(any::<u8>(), 0..30)
    ) {
        let mut config = config(19, true);
        config.anti_clogging = anti_clogging;
        let (_, exchange) = run_adverse(peers(&config), seed, &schedule);
        prop_assert!(agree(&exchange, Party::Station, Party::AccessPoint));
        let (_, exchange) = run_adverse(peers(&draft(19)), seed, &schedule);
        prop_assert!(agree(&exchange, Party::Station, Party::AccessPoint));
    }

    #[test]
    fn a_flipped_bit_of_the_draft_never_makes_ends_disagree(
        index in 0_usize..4, octet in 0_usize..1300, bit in 0_u8..8
    ) {
        let (_, exchange) = run_flipped(peers(&draft(19)), 3, (index, octet, bit));
        prop_assert!(agree(&exchange, Party::Station, Party::AccessPoint));
    }

    #[test]
    fn a_flipped_bit_never_makes_ends_disagree(
        index in 0_usize..4, octet in 0_usize..200, bit in 0_u8..8
    ) {
        let (_, exchange) = run_flipped(peers(&config(19, true)), 3, (index, octet, bit));
        prop_assert!(agree(&exchange, Party::Station, Party::AccessPoint));
    }
}
