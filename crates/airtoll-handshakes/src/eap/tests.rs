//! Supplicant, authenticator and server against each other.

use super::*;
use crate::adverse::{agree, run, run_adverse, run_flipped};
use crate::exchange::{Conversation, Emission, Outcome, Party, Peer, SecretName, Status};
use crate::link::agreed::{Link, ManagementProtection};
use crate::tls::{Chain, TlsSuite};
use airtoll_security::akm::{AkmHash, AkmSuite};
use airtoll_security::suite::CipherSuite;
use airtoll_wire::MacAddress;
use proptest::prelude::*;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

const METHODS: [EapMethod; EapMethod::ALL.len()] = EapMethod::ALL;

fn versions(method: EapMethod) -> &'static [TlsVersion] {
    if method.uses_tls() && !method.runs_tls13() {
        &[TlsVersion::Tls12]
    } else {
        &[TlsVersion::Tls12, TlsVersion::Tls13]
    }
}

fn link() -> Link {
    Link {
        ssid: b"airtoll".to_vec(),
        station: MacAddress([2, 0, 0, 0, 0, 1]),
        access_point: MacAddress([2, 0, 0, 0, 0, 2]),
        akm: Some(AkmSuite::Ieee8021x),
        hash: AkmHash::Sha1,
        pairwise: CipherSuite::Ccmp128,
        group: CipherSuite::Ccmp128,
        protection: ManagementProtection::Off,
        multi_link: None,
        beacon_protection: false,
        operating_channel_validation: false,
        hash_to_element: false,
        announced: Default::default(),
        mobility_domain: None,
    }
}

fn configs(method: EapMethod, tls: TlsVersion, kind: Chain) -> (EapConfig, EapConfig) {
    let station = EapConfig {
        method,
        identity: b"alice@example.org".to_vec(),
        password: b"correct horse".to_vec(),
        tls,
        suite: TlsSuite::default(),
        groups: Vec::new(),
        credential: Some(Credential::client(kind)),
        trusted: kind,
        resume: None,
        remembers: false,
        fragment_octets: 1398,
        limits: EapLimits::default(),
        certificate_compression: false,
        cryptobinding: false,
    };
    let server = EapConfig {
        credential: Some(Credential::server(kind)),
        ..station.clone()
    };
    (station, server)
}

fn peers(station: EapConfig, server: EapConfig) -> Vec<Box<dyn Peer>> {
    vec![
        Box::new(EapSupplicant::new(station)),
        Box::new(EapAuthenticator::new(link(), b"radius secret".to_vec())),
        Box::new(EapServer::new(server, b"radius secret".to_vec())),
    ]
}

fn count(log: &[Emission], carrier: Carrier) -> usize {
    log.iter().filter(|e| e.message.carrier == carrier).count()
}

#[test]
fn every_method_gives_all_three_parties_one_msk() {
    for method in METHODS {
        for &tls in versions(method) {
            let (station, server) = configs(method, tls, Chain::P256);
            let (_, outcome, exchange) = run(peers(station, server), 1);
            let Outcome::Established(secrets) = outcome else {
                panic!("{method:?} {tls:?}: {outcome:?}");
            };
            assert_eq!(secrets.contains_key(&SecretName::Msk), method.gives_keys());
            let station = exchange.status(Party::Station);
            assert_eq!(station, exchange.status(Party::AccessPoint), "{method:?}");
            assert_eq!(station, exchange.status(Party::AuthenticationServer));
        }
    }
}

#[test]
fn a_bound_tunnel_gives_another_msk_in_as_many_messages() {
    for tls in [TlsVersion::Tls12, TlsVersion::Tls13] {
        let (station, mut server) = configs(EapMethod::Peap, tls, Chain::P256);
        let (plain_log, plain, _) = run(peers(station.clone(), server.clone()), 1);
        server.cryptobinding = true;
        let (log, bound, exchange) = run(peers(station, server), 1);
        assert_eq!(log.len(), plain_log.len());
        let (Outcome::Established(plain), Outcome::Established(bound)) = (plain, bound) else {
            panic!("{tls:?}");
        };
        assert_ne!(plain[&SecretName::Msk], bound[&SecretName::Msk]);
        for party in [Party::AccessPoint, Party::AuthenticationServer] {
            assert_eq!(
                exchange.status(party),
                Some(Status::Established(bound.clone()))
            );
        }
    }
}

/// The TLS sessions that station and server keep after a conversation.
fn remembered(exchange: &Conversation) -> [Option<Session>; 2] {
    [Party::Station, Party::AuthenticationServer].map(|party| {
        let secrets = exchange.agreed(party);
        Session::from_octets(secrets.get(&SecretName::TlsSession)?)
    })
}

#[test]
fn a_resumed_session_spares_certificates_and_what_runs_inside() {
    let mut counts = Vec::new();
    for method in [EapMethod::Tls, EapMethod::Ttls, EapMethod::Peap] {
        for tls in [TlsVersion::Tls12, TlsVersion::Tls12Rsa, TlsVersion::Tls13] {
            let (mut station, mut server) = configs(method, tls, Chain::RSA_2048);
            let (full, _, exchange) = run(peers(station.clone(), server.clone()), 1);
            let [theirs, ours] = remembered(&exchange);
            assert!(theirs.is_some() && theirs == ours, "{method:?} {tls:?}");
            (station.resume, server.resume) = (theirs, ours);
            let (short, outcome, exchange) = run(peers(station.clone(), server.clone()), 2);
            let Outcome::Established(secrets) = outcome else {
                panic!("{method:?} {tls:?}: {outcome:?}");
            };
            assert_eq!(secrets[&SecretName::Msk].len(), 64);
            for party in [Party::AccessPoint, Party::AuthenticationServer] {
                let same = Some(Status::Established(secrets.clone()));
                assert_eq!(exchange.status(party), same);
            }
            let signs = |log: &[Emission]| {
                log.iter().flat_map(|e| &e.operations).any(|operation| {
                    use crate::operation::Operation;
                    matches!(operation, Operation::Sign { .. } | Operation::Verify { .. })
                })
            };
            assert!(signs(&full) && !signs(&short), "{method:?} {tls:?}");
            let octets =
                |log: &[Emission]| log.iter().map(|e| e.message.octets.len()).sum::<usize>();
            assert!(octets(&short) < octets(&full) / 2);
            // A session that was drawn costs what one of a full handshake does.
            let mut rng = ChaCha8Rng::seed_from_u64(9);
            let drawn = Session::drawn(&mut Context::new(&mut rng), tls, TlsSuite::default());
            station.resume = Some(drawn.clone());
            server.resume = Some(drawn);
            let (again, ..) = run(peers(station, server), 2);
            assert_eq!((again.len(), octets(&again)), (short.len(), octets(&short)));
            counts.push([count(&full, Carrier::Eapol), count(&short, Carrier::Eapol)]);
        }
    }
    // EAP-TLS, TTLS, PEAP; TLS 1.2 with ECDHE and RSA, 1.3.
    assert_eq!(
        counts,
        [
            [14, 8],
            [14, 8],
            [14, 10],
            [12, 8],
            [12, 8],
            [12, 10],
            [20, 10],
            [20, 10],
            [20, 10]
        ]
    );
}

#[test]
fn a_server_that_forgot_the_session_makes_a_full_handshake() {
    for method in [EapMethod::Tls, EapMethod::Ttls, EapMethod::Peap] {
        for tls in [TlsVersion::Tls12, TlsVersion::Tls13] {
            let (mut station, server) = configs(method, tls, Chain::P256);
            let (full, ..) = run(peers(station.clone(), server.clone()), 1);
            let mut rng = ChaCha8Rng::seed_from_u64(9);
            station.resume = Some(Session::drawn(
                &mut Context::new(&mut rng),
                tls,
                TlsSuite::default(),
            ));
            let (log, outcome, _) = run(peers(station, server), 1);
            assert!(
                matches!(outcome, Outcome::Established(_)),
                "{method:?} {tls:?}"
            );
            assert_eq!(log.len(), full.len());
        }
    }
}

#[test]
fn a_resumed_tunnel_is_bound_with_its_own_keys() {
    for tls in [TlsVersion::Tls12, TlsVersion::Tls13] {
        let (mut station, mut server) = configs(EapMethod::Peap, tls, Chain::P256);
        let mut rng = ChaCha8Rng::seed_from_u64(9);
        station.resume = Some(Session::drawn(
            &mut Context::new(&mut rng),
            tls,
            TlsSuite::default(),
        ));
        server.resume.clone_from(&station.resume);
        let (plain_log, plain, _) = run(peers(station.clone(), server.clone()), 1);
        server.cryptobinding = true;
        let (log, bound, exchange) = run(peers(station, server), 1);
        assert_eq!(log.len(), plain_log.len());
        assert!(matches!(bound, Outcome::Established(_)));
        assert_ne!(plain, bound);
        let ends = [Party::Station, Party::AuthenticationServer];
        let [a, b] = ends.map(|party| exchange.status(party));
        assert_eq!(a, b);
    }
}

#[test]
fn eap_md5_is_six_messages_on_the_air_and_four_on_the_wire() {
    let (station, server) = configs(EapMethod::Md5, TlsVersion::Tls12, Chain::RSA_2048);
    let (log, ..) = run(peers(station, server), 1);
    assert_eq!(count(&log, Carrier::Eapol), 6);
    assert_eq!(count(&log, Carrier::Radius), 4);
}

#[test]
fn smaller_fragments_cost_more_messages() {
    let mut counts = Vec::new();
    for fragment_octets in [1398, 1024, 500] {
        let (mut station, mut server) = configs(EapMethod::Tls, TlsVersion::Tls12, Chain::RSA_2048);
        station.fragment_octets = fragment_octets;
        server.fragment_octets = fragment_octets;
        let (log, outcome, _) = run(peers(station, server), 1);
        assert!(matches!(outcome, Outcome::Established(_)));
        counts.push(count(&log, Carrier::Eapol));
    }
    assert!(counts[0] < counts[1] && counts[1] < counts[2], "{counts:?}");
}

#[test]
fn a_server_gives_up_after_its_limit_of_rounds() {
    let rounds = |limit| {
        let (mut station, mut server) = configs(EapMethod::Tls, TlsVersion::Tls13, Chain::RSA_2048);
        station.fragment_octets = 100;
        server.fragment_octets = 100;
        server.limits.rounds = limit;
        let (log, outcome, _) = run(peers(station, server), 1);
        let requests = |e: &&Emission| {
            e.message.carrier == Carrier::Radius && e.message.from == Party::AccessPoint
        };
        (log.iter().filter(requests).count(), outcome)
    };
    let (requests, outcome) = rounds(None);
    assert!(matches!(outcome, Outcome::Established(_)));
    let limit = u32::try_from(requests).unwrap() - 1;
    let (same, outcome) = rounds(Some(limit));
    assert_eq!(same, requests);
    assert!(matches!(outcome, Outcome::Established(_)));
    let limit = limit - 1;
    let failure = Failure::TooManyRounds {
        code: FAILED,
        limit,
    };
    assert_eq!(rounds(Some(limit)).1, Outcome::Failed(failure));
}

#[test]
fn a_station_gives_up_after_its_limit_of_rounds() {
    let outcome = |limit| {
        let (mut station, server) = configs(EapMethod::Tls, TlsVersion::Tls13, Chain::RSA_2048);
        station.limits.rounds = Some(limit);
        run(peers(station, server), 1)
    };
    let (log, ..) = outcome(99);
    let requests =
        |e: &&Emission| e.message.carrier == Carrier::Eapol && e.message.from == Party::AccessPoint;
    // All but the request for the identity and Success.
    let rounds = u32::try_from(log.iter().filter(requests).count()).unwrap() - 2;
    assert!(matches!(outcome(rounds).1, Outcome::Established(_)));
    let limit = rounds - 1;
    let failure = Failure::TooManyRounds {
        code: FAILED,
        limit,
    };
    assert_eq!(outcome(limit).1, Outcome::Failed(failure));
}

#[test]
fn a_server_gives_up_on_a_flight_that_it_does_not_hold() {
    let outcome = |method, received, sent| {
        let (station, mut server) = configs(method, TlsVersion::Tls13, Chain::RSA_2048);
        server.limits.received_flight_octets = received;
        server.limits.sent_flight_octets = sent;
        run(peers(station, server), 1).1
    };
    let large = Some(16_384);
    let joined = outcome(EapMethod::Tls, large, large);
    assert!(matches!(joined, Outcome::Established(_)));
    // In PEAP the station shows no chain.
    let joined = outcome(EapMethod::Peap, Some(1024), None);
    assert!(matches!(joined, Outcome::Established(_)));
    for (method, received, sent) in [
        (EapMethod::Tls, Some(1024), None),
        (EapMethod::Tls, None, Some(1024)),
        (EapMethod::Peap, None, Some(1024)),
    ] {
        let failure = Failure::FlightTooLong {
            code: FAILED,
            limit: 1024,
        };
        assert_eq!(outcome(method, received, sent), Outcome::Failed(failure));
    }
}

#[test]
fn a_wrong_password_ends_with_reason_23() {
    for method in [
        EapMethod::Md5,
        EapMethod::Leap,
        EapMethod::Ttls,
        EapMethod::Peap,
    ] {
        let (station, mut server) = configs(method, TlsVersion::Tls12, Chain::P256);
        server.password = b"wrong horse".to_vec();
        let failure = Failure::WrongCredentials { code: FAILED };
        let (_, outcome, _) = run(peers(station, server), 1);
        assert_eq!(outcome, Outcome::Failed(failure), "{method:?}");
    }
}

#[test]
fn a_server_certificate_of_another_root_is_refused_by_the_station() {
    for method in [EapMethod::Tls, EapMethod::Ttls, EapMethod::Peap] {
        let (station, mut server) = configs(method, TlsVersion::Tls12, Chain::RSA_2048);
        server.credential = Some(Credential::rogue_server());
        let (_, outcome, exchange) = run(peers(station, server), 1);
        let failure = Failure::WrongCertificate { code: FAILED };
        assert_eq!(outcome, Outcome::Failed(failure), "{method:?}");
        assert_eq!(
            exchange.status(Party::AuthenticationServer),
            Some(crate::exchange::Status::Failed(failure))
        );
    }
}

#[test]
fn a_silent_server_is_a_server_timeout() {
    let (station, server) = configs(EapMethod::Tls, TlsVersion::Tls12, Chain::P256);
    let mut peers = peers(station, server);
    peers.pop();
    let failure = Failure::ServerTimeout { code: FAILED };
    assert_eq!(run(peers, 1).1, Outcome::Failed(failure));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn loss_repetition_and_reordering_never_make_ends_disagree(
        method in prop::sample::select(METHODS.to_vec()), seed: u64,
        schedule in prop::collection::vec(any::<u8>(), 0..40)
    ) {
        let (station, server) = configs(method, TlsVersion::Tls12, Chain::P256);
        let (_, exchange) = run_adverse(peers(station, server), seed, &schedule);
        prop_assert!(agree(&exchange, Party::Station, Party::AccessPoint));
    }

    #[test]
    fn one_lost_message_is_survived(
        method in prop::sample::select(METHODS.to_vec()), seed: u64, lost in 0_usize..9
    ) {
        let (station, server) = configs(method, TlsVersion::Tls12, Chain::P256);
        let mut schedule = vec![2; lost];
        schedule.push(0);
        let (outcome, _) = run_adverse(peers(station, server), seed, &schedule);
        let survived = matches!(outcome, Outcome::Established(_));
        prop_assert!(survived, "{:?} {:?}", method, outcome);
    }

    #[test]
    fn a_flipped_bit_never_makes_ends_disagree(
        method in prop::sample::select(METHODS.to_vec()),
        index in 0_usize..12, octet in 0_usize..2000, bit in 0_u8..8
    ) {
        let tls = versions(method)[versions(method).len() - 1];
        let (station, server) = configs(method, tls, Chain::P256);
        let (_, exchange) = run_flipped(peers(station, server), 3, (index, octet, bit));
        prop_assert!(agree(&exchange, Party::Station, Party::AccessPoint));
    }
}
