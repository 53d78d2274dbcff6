//! Both ends against each other.

use super::*;
use crate::adverse::{agree, run, run_adverse, run_flipped};
use crate::exchange::Outcome;
use crate::operation::HashAlgorithm;
use proptest::prelude::*;

fn config(cipher: IkeCipher, hash: HashAlgorithm) -> IkeV1Config {
    IkeV1Config {
        preshared: b"tunnel secret".to_vec(),
        group: 2,
        cipher,
        hash,
        forward_secrecy: true,
        addresses: Sides {
            initiator: [10, 0, 1, 20],
            responder: [10, 0, 1, 1],
        },
        inner: Sides {
            initiator: [10, 0, 1, 20],
            responder: [10, 0, 1, 1],
        },
        nat_traversal: false,
    }
}

fn peers(config: &IkeV1Config) -> Vec<Box<dyn Peer>> {
    vec![
        Box::new(IkeV1Peer::initiator(config.clone())),
        Box::new(IkeV1Peer::responder(config.clone())),
    ]
}

#[test]
fn nine_messages_give_both_ends_the_same_keys() {
    for (cipher, hash) in [
        (IkeCipher::Des, HashAlgorithm::Md5),
        (IkeCipher::TripleDes, HashAlgorithm::Md5),
        (IkeCipher::TripleDes, HashAlgorithm::Sha1),
        (IkeCipher::Aes128, HashAlgorithm::Sha1),
    ] {
        let (log, outcome, exchange) = run(peers(&config(cipher, hash)), 1);
        assert_eq!(log.len(), 9, "{cipher:?}");
        let Outcome::Established(secrets) = outcome else {
            panic!("{outcome:?}");
        };
        assert_eq!(
            secrets[&SecretName::TunnelForward].len(),
            cipher.key_octets() + hash.digest_octets()
        );
        assert_eq!(
            exchange.status(Party::Station),
            exchange.status(Party::Gateway)
        );
    }
}

#[test]
fn another_key_is_noticed_in_the_fifth_message() {
    let ours = config(IkeCipher::TripleDes, HashAlgorithm::Sha1);
    let theirs = IkeV1Config {
        preshared: b"another secret".to_vec(),
        ..ours.clone()
    };
    let peers: Vec<Box<dyn Peer>> = vec![
        Box::new(IkeV1Peer::initiator(ours)),
        Box::new(IkeV1Peer::responder(theirs)),
    ];
    let (_, outcome, exchange) = run(peers, 1);
    assert!(matches!(outcome, Outcome::Failed(_)));
    let failure = Failure::WrongPassphrase { code: Code::Silent };
    assert_eq!(
        exchange.status(Party::Gateway),
        Some(Status::Failed(failure))
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn adversity_never_makes_ends_disagree(seed: u64, schedule in prop::collection::vec(any::<u8>(), 0..30)) {
        let config = config(IkeCipher::TripleDes, HashAlgorithm::Sha1);
        let (_, exchange) = run_adverse(peers(&config), seed, &schedule);
        prop_assert!(agree(&exchange, Party::Station, Party::Gateway));
    }

    #[test]
    fn one_lost_message_is_survived(seed: u64, lost in 0_usize..9) {
        let config = config(IkeCipher::TripleDes, HashAlgorithm::Sha1);
        let mut schedule = vec![2; lost];
        schedule.push(0);
        let (outcome, _) = run_adverse(peers(&config), seed, &schedule);
        let survived = matches!(outcome, Outcome::Established(_));
        prop_assert!(survived, "{:?}", outcome);
    }

    #[test]
    fn a_flipped_bit_never_makes_ends_disagree(index in 0_usize..9, octet in 0_usize..300, bit in 0_u8..8) {
        let config = config(IkeCipher::TripleDes, HashAlgorithm::Sha1);
        let (_, exchange) = run_flipped(peers(&config), 3, (index, octet, bit));
        prop_assert!(agree(&exchange, Party::Station, Party::Gateway));
    }
}
