//! Initiator and gateway against each other, at rest and under load.

use super::*;
use crate::adverse::{agree, run, run_adverse, run_flipped};
use crate::exchange::{Conversation, Outcome};
use crate::operation::Operation;
use proptest::prelude::*;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

fn peers() -> Vec<Box<dyn Peer>> {
    let mut rng = ChaCha8Rng::seed_from_u64(9);
    let Sides {
        initiator: a,
        responder: b,
    } = draw_configs(&mut Context::new(&mut rng));
    vec![
        Box::new(WireGuardInitiator::new(a)),
        Box::new(WireGuardResponder::new(b)),
    ]
}

#[test]
fn three_messages_of_the_standard_lengths() {
    let (log, outcome, exchange) = run(peers(), 1);
    let lengths: Vec<usize> = log.iter().map(|e| e.message.octets.len()).collect();
    assert_eq!(lengths, [148, 92, 32]);
    assert!(matches!(outcome, Outcome::Established(_)));
    assert_eq!(
        exchange.status(Party::Station),
        exchange.status(Party::Gateway)
    );
}

#[test]
fn an_unknown_initiator_gets_no_answer() {
    let mut rng = ChaCha8Rng::seed_from_u64(9);
    let Sides {
        initiator: mut a,
        responder: b,
    } = draw_configs(&mut Context::new(&mut rng));
    a.private[3] ^= 1;
    let peers: Vec<Box<dyn Peer>> = vec![
        Box::new(WireGuardInitiator::new(a)),
        Box::new(WireGuardResponder::new(b)),
    ];
    let failure = Failure::WrongCredentials { code: Code::Silent };
    let (log, outcome, _) = run(peers, 1);
    assert_eq!(outcome, Outcome::Failed(failure));
    assert_eq!(log.len(), 1);
}

fn busy(party: Party) -> Conversation {
    let rng = ChaCha8Rng::seed_from_u64(1);
    let mut exchange = Conversation::new(peers(), Box::new(rng));
    exchange.set_busy(party, true);
    exchange
}

#[test]
fn a_busy_gateway_computes_only_for_who_brings_its_cookie() {
    let mut exchange = busy(Party::Gateway);
    let (log, outcome) = exchange.run();
    let lengths: Vec<usize> = log.iter().map(|e| e.message.octets.len()).collect();
    assert_eq!(lengths, [148, 64, 148, 92, 32]);
    assert!(matches!(outcome, Outcome::Established(_)));
    // MAC2 is there the second time alone.
    assert_eq!(log[0].message.octets[132..], [0; 16]);
    assert_ne!(log[2].message.octets[132..], [0; 16]);
    let curve = |operation: &Operation| matches!(operation, Operation::EcScalarMul { .. });
    // A gateway knows its public key; ours computes it anew, and nothing else before a cookie.
    let count = |at: usize| -> u64 {
        let all = log[at].operations.iter().filter(|o| curve(o));
        all.map(|o| o.priced().1).sum()
    };
    assert_eq!(count(1), 1);
    assert!(count(3) > 4);
}

#[test]
fn a_busy_initiator_asks_for_the_gateway_s_cookie_too() {
    let mut exchange = busy(Party::Station);
    let (log, outcome) = exchange.run();
    let lengths: Vec<usize> = log.iter().map(|e| e.message.octets.len()).collect();
    assert_eq!(lengths, [148, 92, 64, 148, 92, 32]);
    assert!(matches!(outcome, Outcome::Established(_)));
}

#[test]
fn a_cookie_of_another_address_or_with_a_flipped_bit_opens_nothing() {
    for at in [8, 31, 32, 63] {
        let mut exchange = busy(Party::Gateway);
        let initiation = exchange.start().remove(0);
        let mut reply = exchange.deliver(&initiation.message).emissions.remove(0);
        reply.message.octets[at] ^= 1;
        exchange.deliver(&reply.message);
        let again = exchange.time_out(Party::Station).emissions.remove(0);
        assert_eq!(again.message.octets[132..], [0; 16], "{at}");
    }
    let mut rng = ChaCha8Rng::seed_from_u64(9);
    let mut context = Context::new(&mut rng);
    let mut cookies = Cookies::default();
    cookies.busy = true;
    let (own, here, elsewhere) = ([7; 32], [1; 6], [2; 6]);
    let covered = INITIATION_COVERED;
    let message = [9; 148];
    let reply = cookies.asked(&mut context, &own, &here, (1, covered, &message));
    let reply = WireGuardRepr::parse(&reply.unwrap()).unwrap();
    let WireGuardRepr::CookieReply {
        nonce,
        encrypted_cookie,
        ..
    } = reply
    else {
        panic!("{reply:?}");
    };
    let mut given = Cookies::default();
    let initiation = WireGuardRepr::Initiation {
        sender: 1,
        ephemeral: [0; 32],
        encrypted_static: [0; 48],
        encrypted_timestamp: [0; 28],
        macs: NO_MACS,
    };
    // The cookie is sealed to the MAC1 that it answers, here one of nines.
    given.sealed(&mut context, &own, covered, &initiation);
    given.keep(&mut context, &own, &nonce, &encrypted_cookie);
    let without = given.sealed(&mut context, &own, covered, &initiation);
    assert_eq!(without[132..], [0; 16]);
    let asked = (1, covered, &without[..]);
    let reply = cookies.asked(&mut context, &own, &here, asked).unwrap();
    let Ok(WireGuardRepr::CookieReply {
        nonce,
        encrypted_cookie,
        ..
    }) = WireGuardRepr::parse(&reply)
    else {
        panic!("{reply:?}");
    };
    given.keep(&mut context, &own, &nonce, &encrypted_cookie);
    let with = given.sealed(&mut context, &own, covered, &initiation);
    let mut ask = |source: &[u8]| {
        let asked = cookies.asked(&mut context, &own, source, (1, covered, &with));
        asked.is_some()
    };
    assert_eq!([ask(&here), ask(&elsewhere)], [false, true]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn adversity_never_makes_ends_disagree(seed: u64, schedule in prop::collection::vec(any::<u8>(), 0..20)) {
        let (_, exchange) = run_adverse(peers(), seed, &schedule);
        prop_assert!(agree(&exchange, Party::Station, Party::Gateway));
    }

    #[test]
    fn a_flipped_bit_never_makes_ends_disagree(index in 0_usize..3, octet in 0_usize..148, bit in 0_u8..8) {
        let (_, exchange) = run_flipped(peers(), 3, (index, octet, bit));
        prop_assert!(agree(&exchange, Party::Station, Party::Gateway));
    }
}
