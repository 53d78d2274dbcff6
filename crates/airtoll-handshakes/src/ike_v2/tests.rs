//! Both ends against each other.

use super::*;
use crate::adverse::{agree, run, run_adverse, run_flipped};
use crate::exchange::Carrier;
use crate::exchange::Outcome;
use proptest::prelude::*;

fn config(gcm: bool, group: u16) -> IkeV2Config {
    let addresses = ([10, 0, 1, 20], [10, 0, 1, 1]);
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
        for group in [14, 19] {
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

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn adversity_never_makes_ends_disagree(seed: u64, schedule in prop::collection::vec(any::<u8>(), 0..20)) {
        let (_, exchange) = run_adverse(peers(&config(true, 19)), seed, &schedule);
        prop_assert!(agree(&exchange, Party::Station, Party::Gateway));
    }

    #[test]
    fn a_flipped_bit_never_makes_ends_disagree(gcm: bool, index in 0_usize..4, octet in 0_usize..300, bit in 0_u8..8) {
        let (_, exchange) = run_flipped(peers(&config(gcm, 19)), 3, (index, octet, bit));
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
    let header = header(([9; 8], [0; 8]), true, exchange::IKE_SA_INIT, 0);
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
        addresses: ([10, 0, 1, 21], [10, 0, 1, 1]),
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
