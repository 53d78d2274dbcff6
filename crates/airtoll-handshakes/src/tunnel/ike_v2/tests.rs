//! Both ends against each other.

use super::*;
use crate::adverse::{agree, run, run_adverse, run_flipped};
use crate::exchange::Carrier;
use crate::exchange::Outcome;
use crate::operation::{KemAlgorithm, SignatureAlgorithm};
use crate::tls::Chain;
use proptest::prelude::*;

fn config(gcm: bool, group: u16) -> IkeV2Config {
    let addresses = Sides {
        initiator: [10, 0, 1, 20],
        responder: [10, 0, 1, 1],
    };
    IkeV2Config::new(b"tunnel secret".to_vec(), group, gcm, addresses)
}

fn peers(config: &IkeV2Config) -> Vec<Box<dyn Peer>> {
    vec![
        Box::new(IkeV2Peer::initiator(config.clone())),
        Box::new(IkeV2Peer::responder(config.clone())),
    ]
}

#[test]
fn four_messages_give_both_ends_the_same_keys() {
    for gcm in [false, true] {
        for group in [14, 19, 31, 35, 36, 37] {
            let (log, outcome, exchange) = run(peers(&config(gcm, group)), 1);
            assert_eq!(log.len(), 4);
            assert!(matches!(outcome, Outcome::Established(_)), "{outcome:?}");
            assert_eq!(
                exchange.status(Party::Station),
                exchange.status(Party::Gateway)
            );
        }
    }
}

#[test]
fn another_key_is_authentication_failed() {
    let ours = config(true, 19);
    let theirs = IkeV2Config {
        preshared: b"another secret".to_vec(),
        ..ours.clone()
    };
    let peers: Vec<Box<dyn Peer>> = vec![
        Box::new(IkeV2Peer::initiator(ours)),
        Box::new(IkeV2Peer::responder(theirs)),
    ];
    let failure = Failure::WrongPassphrase {
        code: Code::Ike(24),
    };
    let (log, outcome, exchange) = run(peers, 1);
    assert_eq!(outcome, Outcome::Failed(failure));
    assert_eq!(log.len(), 4);
    assert_eq!(
        exchange.status(Party::Station),
        Some(Status::Failed(failure))
    );
}

/// X25519 with ML-KEM after it, in datagrams of at most so many octets.
fn hybrid(gcm: bool, kem: KemAlgorithm, fragment_octets: Option<usize>) -> IkeV2Config {
    IkeV2Config {
        additional: Some(kem),
        fragment_octets,
        ..config(gcm, 31)
    }
}

#[test]
fn a_second_key_exchange_is_an_exchange_more_with_the_sizes_of_fips_203() {
    for gcm in [false, true] {
        for kem in [
            KemAlgorithm::MlKem512,
            KemAlgorithm::MlKem768,
            KemAlgorithm::MlKem1024,
        ] {
            let (log, outcome, exchange) = run(peers(&hybrid(gcm, kem, None)), 1);
            assert!(matches!(outcome, Outcome::Established(_)), "{outcome:?}");
            assert_eq!(
                exchange.status(Party::Station),
                exchange.status(Party::Gateway)
            );
            let named: Vec<u8> = log.iter().map(|e| e.message.octets[18]).collect();
            assert_eq!(named, [34, 34, 43, 43, 35, 35]);
            // GCM: both headers, the one of KE with its group, 8 octets of IV, pad length and tag.
            let around = |value: usize| 28 + 4 + 8 + (8 + value) + 1 + 16;
            if gcm {
                let octets = |at: usize| log[at].message.octets.len();
                assert_eq!(octets(2), around(kem.key_octets()));
                assert_eq!(octets(3), around(kem.ciphertext_octets()));
            }
        }
    }
}

#[test]
fn long_messages_go_in_fragments_that_fit_their_datagrams() {
    for gcm in [false, true] {
        for limit in [300, 576, 1280] {
            let config = hybrid(gcm, KemAlgorithm::MlKem1024, Some(limit));
            let (log, outcome, _) = run(peers(&config), 1);
            assert!(matches!(outcome, Outcome::Established(_)), "{outcome:?}");
            let fragmented: Vec<_> = log.iter().filter(|e| e.message.octets[16] == 53).collect();
            assert!(fragmented.len() >= 4, "{}", fragmented.len());
            for emission in &log[2..] {
                assert!(emission.message.octets.len() + 28 <= limit);
            }
            // The first fragment alone names the payload inside (RFC 7383 section 2.5).
            let inside = |emission: &&&crate::exchange::Emission| emission.message.octets[28] != 0;
            let first = fragmented.iter().filter(inside).count();
            let asks = fragmented
                .iter()
                .filter(|e| e.message.octets[28 + 4..28 + 6] == [0, 1]);
            assert_eq!(first, asks.count());
        }
    }
}

#[test]
fn an_end_without_fragments_gets_none() {
    let ours = hybrid(true, KemAlgorithm::MlKem1024, Some(576));
    let theirs = IkeV2Config {
        fragment_octets: None,
        ..ours.clone()
    };
    for (asks, answers) in [(&ours, &theirs), (&theirs, &ours)] {
        let peers: Vec<Box<dyn Peer>> = vec![
            Box::new(IkeV2Peer::initiator(asks.clone())),
            Box::new(IkeV2Peer::responder(answers.clone())),
        ];
        let (log, outcome, _) = run(peers, 1);
        assert!(matches!(outcome, Outcome::Established(_)), "{outcome:?}");
        assert_eq!(log.len(), 6);
    }
}

#[test]
fn ends_that_want_another_number_of_key_exchanges_have_nothing_in_common() {
    let peers: Vec<Box<dyn Peer>> = vec![
        Box::new(IkeV2Peer::initiator(config(true, 31))),
        Box::new(IkeV2Peer::responder(hybrid(
            true,
            KemAlgorithm::MlKem768,
            None,
        ))),
    ];
    let (_, outcome, _) = run(peers, 1);
    let code = Code::Ike(NO_PROPOSAL_CHOSEN);
    assert_eq!(outcome, Outcome::Failed(Failure::NothingInCommon { code }));
}

/// Certificates of these chains, in datagrams of at most 1280 octets.
fn certified(chain: Chain) -> IkeV2Config {
    IkeV2Config {
        chain: Some(chain),
        fragment_octets: Some(1280),
        ..config(true, 31)
    }
}

#[test]
fn certificates_replace_the_pre_shared_key() {
    let chains = [
        Chain::RSA_2048,
        Chain::RSA_3072,
        Chain::P256,
        Chain::P384,
        Chain::uniform(SignatureAlgorithm::MlDsa44),
        Chain::new(
            SignatureAlgorithm::MlDsa65,
            None,
            SignatureAlgorithm::MlDsa87,
        ),
    ];
    let mut sizes = Vec::new();
    for chain in chains {
        let ours = certified(chain);
        // Certificates make the pre-shared key irrelevant.
        let theirs = IkeV2Config {
            preshared: b"another secret".to_vec(),
            ..ours.clone()
        };
        let peers: Vec<Box<dyn Peer>> = vec![
            Box::new(IkeV2Peer::initiator(ours)),
            Box::new(IkeV2Peer::responder(theirs)),
        ];
        let (log, outcome, exchange) = run(peers, 1);
        assert!(
            matches!(outcome, Outcome::Established(_)),
            "{chain:?} {outcome:?}"
        );
        assert_eq!(
            exchange.status(Party::Station),
            exchange.status(Party::Gateway)
        );
        sizes.push(log.iter().map(|e| e.message.octets.len()).sum::<usize>());
    }
    // ECDSA is shortest, and ML-DSA-44 with an issuing CA longer than any classical chain.
    assert!(sizes[2] < sizes[0] && sizes[0] < sizes[4]);
    // Four certificates and two signatures of ML-DSA-44 (FIPS 204: key 1312, signature 2420 octets).
    assert!(sizes[4] > 4 * (1312 + 2420) + 2 * 2420);
}

#[test]
fn a_certificate_of_another_root_is_refused_at_either_end() {
    let ours = certified(Chain::P256);
    let rogue = IkeV2Config {
        rogue: true,
        ..ours.clone()
    };
    let other = certified(Chain::P384);
    for (asks, answers) in [(&ours, &rogue), (&ours, &other)] {
        let peers: Vec<Box<dyn Peer>> = vec![
            Box::new(IkeV2Peer::initiator(asks.clone())),
            Box::new(IkeV2Peer::responder(answers.clone())),
        ];
        let (_, outcome, _) = run(peers, 1);
        let code = Code::Ike(AUTHENTICATION_FAILED);
        assert_eq!(outcome, Outcome::Failed(Failure::WrongCertificate { code }));
    }
}

/// One key exchange, two, two in fragments, or certificates.
fn varied(gcm: bool, kind: u8) -> IkeV2Config {
    match kind {
        0 => config(gcm, 19),
        1 => hybrid(gcm, KemAlgorithm::MlKem512, None),
        2 => certified(Chain::P256),
        _ => hybrid(gcm, KemAlgorithm::MlKem512, Some(400)),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn adversity_never_makes_ends_disagree(kind in 0_u8..4, seed: u64, schedule in prop::collection::vec(any::<u8>(), 0..30)) {
        let (_, exchange) = run_adverse(peers(&varied(true, kind)), seed, &schedule);
        prop_assert!(agree(&exchange, Party::Station, Party::Gateway));
    }

    #[test]
    fn a_flipped_bit_never_makes_ends_disagree(gcm: bool, kind in 0_u8..4, index in 0_usize..8, octet in 0_usize..400, bit in 0_u8..8) {
        let (_, exchange) = run_flipped(peers(&varied(gcm, kind)), 3, (index, octet, bit));
        prop_assert!(agree(&exchange, Party::Station, Party::Gateway));
    }
}

#[test]
fn a_guess_at_another_group_is_answered_with_the_right_one() {
    let mut ask = IkeV2Peer::initiator(config(true, 19));
    let mut answer = IkeV2Peer::responder(config(true, 14));
    // The guess offers the right group, and a share of another.
    ask.config.group = 14;
    let offer = ask.config.proposal(1, &[]);
    ask.config.group = 19;
    let mut rng =
        <rand_chacha::ChaCha8Rng as rand_chacha::rand_core::SeedableRng>::seed_from_u64(1);
    let mut context = Context::new(&mut rng);
    let payloads = vec![
        (payload::SA, offer),
        (
            payload::KEY_EXCHANGE,
            [&[0, 19, 0, 0][..], &[7; 64]].concat(),
        ),
        (payload::NONCE, vec![1; 32]),
    ];
    let spis = Sides {
        initiator: [9; 8],
        responder: [0; 8],
    };
    let header = header(spis, true, exchange::IKE_SA_INIT, 0);
    let octets = written(|out| IsakmpRepr { header, payloads }.emit(out));
    let message = Message {
        from: Party::Station,
        to: Party::Gateway,
        carrier: Carrier::Udp(500),
        octets,
    };
    answer.receive(&message, &mut context);
    assert_eq!(answer.status(), Status::Waiting);
    let reaction = context.finish();
    let told = IsakmpRepr::parse(&reaction.emissions[0].message.octets).unwrap();
    assert_eq!(
        notifications(&told.payloads).collect::<Vec<_>>(),
        [(17, &[0, 14][..])]
    );
}

/// Both ends' SA of an exchange that allows moving, and the tunnel's keys.
fn movable() -> (IkeSa, Secrets) {
    let config = IkeV2Config {
        nat_traversal: true,
        mobike: true,
        ..config(true, 19)
    };
    let (log, outcome, exchange) = run(peers(&config), 1);
    let ports: Vec<Carrier> = log.iter().map(|e| e.message.carrier).collect();
    let (old, new) = (Carrier::Udp(500), Carrier::Udp(4500));
    assert_eq!(ports, [old, old, new, new]);
    assert_eq!(
        exchange.status(Party::Station),
        exchange.status(Party::Gateway)
    );
    let Outcome::Established(mut secrets) = outcome else {
        panic!("{outcome:?}");
    };
    let sa = secrets.remove(&SecretName::IkeSa).unwrap();
    (IkeSa::from_octets(&sa).unwrap(), secrets)
}

#[test]
fn ends_that_see_each_other_s_addresses_stay_on_port_500() {
    let config = IkeV2Config {
        nat_traversal: true,
        ..config(false, 14)
    };
    let (log, outcome, _) = run(peers(&config), 1);
    assert!(matches!(outcome, Outcome::Established(_)));
    assert!(log.iter().all(|e| e.message.carrier == Carrier::Udp(500)));
    let other = IkeV2Config {
        addresses: Sides {
            initiator: [10, 0, 1, 21],
            responder: [10, 0, 1, 1],
        },
        ..config.clone()
    };
    // A translator between them shows as another address; the identities then differ too.
    let peers: Vec<Box<dyn Peer>> = vec![
        Box::new(IkeV2Peer::initiator(config)),
        Box::new(IkeV2Peer::responder(other)),
    ];
    let (log, ..) = run(peers, 1);
    assert_eq!(log[2].message.carrier, Carrier::Udp(4500));
}

#[test]
fn a_tunnel_moves_in_two_messages_or_four_and_keeps_its_keys() {
    for (checks, messages) in [(false, 2), (true, 4)] {
        let (sa, secrets) = movable();
        let peers: Vec<Box<dyn Peer>> = vec![
            Box::new(MobikeInitiator::new(sa.clone(), [10, 0, 2, 20])),
            Box::new(MobikeResponder::new(sa, [10, 0, 2, 20], checks)),
        ];
        let (log, outcome, exchange) = run(peers, 1);
        assert_eq!(log.len(), messages);
        let Outcome::Established(mut moved) = outcome else {
            panic!("{outcome:?}");
        };
        // Both ends know from which message ID on and from where the next move goes.
        assert_eq!(
            exchange.status(Party::Gateway),
            Some(Status::Established(moved.clone()))
        );
        let sa = moved.remove(&SecretName::IkeSa).unwrap();
        assert_eq!(moved, secrets);
        let sa = IkeSa::from_octets(&sa).unwrap();
        let peers: Vec<Box<dyn Peer>> = vec![
            Box::new(MobikeInitiator::new(sa.clone(), [10, 0, 3, 20])),
            Box::new(MobikeResponder::new(sa, [10, 0, 3, 20], checks)),
        ];
        let (log, outcome, _) = run(peers, 2);
        assert_eq!(log.len(), messages);
        assert!(matches!(outcome, Outcome::Established(_)));
    }
}

#[test]
fn a_flipped_bit_moves_nothing() {
    for octet in (4..90).step_by(7) {
        let (sa, _) = movable();
        let peers: Vec<Box<dyn Peer>> = vec![
            Box::new(MobikeInitiator::new(sa.clone(), [10, 0, 2, 20])),
            Box::new(MobikeResponder::new(sa, [10, 0, 2, 20], true)),
        ];
        let (outcome, _) = run_flipped(peers, 3, (0, octet, 1));
        // The request is repeated, and that one is right.
        assert!(matches!(outcome, Outcome::Established(_)), "{outcome:?}");
    }
}
