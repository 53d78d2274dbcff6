//! Client and server against each other.

use super::key_share::Answered;
use super::*;
use crate::exchange::Context;
use crate::operation::{Curve, KemAlgorithm, KemStep, Operation, SignatureAlgorithm, merge};
use proptest::prelude::*;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

fn configs(version: TlsVersion, kind: Chain, mutual: bool) -> (TlsConfig, TlsConfig) {
    let client = TlsConfig {
        version,
        suite: TlsSuite::default(),
        groups: Vec::new(),
        credential: mutual.then(|| Credential::client(kind)),
        trusted: kind,
        client_certificate: mutual,
        resume: None,
        certificate_compression: false,
    };
    let server = TlsConfig {
        credential: Some(Credential::server(kind)),
        ..client.clone()
    };
    (client, server)
}

type Ends = Result<(TlsClient, TlsServer), Refusal>;

/// Runs to the end; gives the flights and both ends.
fn run(client: TlsConfig, server: TlsConfig, cx: &mut Context<'_>) -> (Vec<Vec<u8>>, Ends) {
    let mut client = TlsClient::new(client);
    let mut server = TlsServer::new(server).unwrap();
    let mut flights = vec![client.start(cx)];
    for _ in 0..6 {
        let flight = flights.last().cloned().unwrap();
        let answer = if flights.len() % 2 == 1 {
            server.receive(cx, &flight)
        } else {
            client.receive(cx, &flight)
        };
        match answer {
            Err(refusal) => return (flights, Err(refusal)),
            Ok(answer) if answer.is_empty() => break,
            Ok(answer) => flights.push(answer),
        }
    }
    (flights, Ok((client, server)))
}

const VERSIONS: [(TlsVersion, Chain); 5] = [
    (TlsVersion::Tls12, Chain::RSA_2048),
    (TlsVersion::Tls12, Chain::P256),
    (TlsVersion::Tls12Rsa, Chain::RSA_2048),
    (TlsVersion::Tls13, Chain::RSA_2048),
    (TlsVersion::Tls13, Chain::P256),
];

#[test]
fn both_ends_export_the_same_keys_and_resume() {
    for (version, kind) in VERSIONS {
        for mutual in [false, true] {
            let mut rng = ChaCha8Rng::seed_from_u64(4);
            let mut cx = Context::new(&mut rng);
            let (mut client, mut server) = configs(version, kind, mutual);
            let (flights, ends) = run(client.clone(), server.clone(), &mut cx);
            let (a, b) = ends.unwrap_or_else(|r| panic!("{version:?} {kind:?}: {r:?}"));
            assert!(a.connection.is_done() && b.connection.is_done() && !b.connection.is_resumed());
            assert_eq!(flights.len(), 4);
            let keys = a.connection.export(&mut cx, b"label", &[], 64);
            assert_eq!(keys, b.connection.export(&mut cx, b"label", &[], 64));
            assert_eq!(a.connection.session(), b.connection.session());
            client.resume = a.connection.session().cloned();
            server.resume = b.connection.session().cloned();
            let (short, ends) = run(client, server, &mut cx);
            let (a, b) = ends.unwrap_or_else(|r| panic!("{version:?} {kind:?}: {r:?}"));
            assert!(a.connection.is_done() && b.connection.is_done() && b.connection.is_resumed());
            let size = |flights: &[Vec<u8>]| flights.iter().map(Vec::len).sum::<usize>();
            assert!(size(&short) < size(&flights) / 2);
        }
    }
}

const STRONG: [(TlsVersion, Chain); 4] = [
    (TlsVersion::Tls12, Chain::RSA_3072),
    (TlsVersion::Tls12, Chain::P384),
    (TlsVersion::Tls13, Chain::RSA_3072),
    (TlsVersion::Tls13, Chain::P384),
];

#[test]
fn the_suite_of_192_bits_agrees_and_resumes_and_takes_no_weaker_one() {
    for (version, kind) in STRONG {
        let mut rng = ChaCha8Rng::seed_from_u64(4);
        let mut cx = Context::new(&mut rng);
        let (mut client, mut server) = configs(version, kind, true);
        let weaker = client.clone();
        client.suite = TlsSuite::Aes256GcmSha384;
        server.suite = client.suite;
        let (a, b) = run(client.clone(), server.clone(), &mut cx).1.unwrap();
        let keys = a.connection.export(&mut cx, b"label", &[], 64);
        assert_eq!(keys, b.connection.export(&mut cx, b"label", &[], 64));
        client.resume = a.connection.session().cloned();
        let refusal = run(weaker, server.clone(), &mut cx).1.err().unwrap();
        assert_eq!(refusal.failure, Failure::NothingInCommon { code: CODE });
        server.resume = b.connection.session().cloned();
        let (a, b) = run(client, server, &mut cx).1.unwrap();
        assert!(a.connection.is_done() && a.connection.is_resumed() && b.connection.is_resumed());
        let operations = cx.finish().operations;
        let p384 = |operation: &Operation| matches!(operation, Operation::EcScalarMul { curve, .. } if *curve == Curve::P384);
        assert!(operations.iter().any(p384), "{version:?} {kind:?}");
    }
}

#[test]
fn a_server_asks_once_for_a_share_of_a_group_that_it_takes() {
    for resumed in [false, true] {
        let mut rng = ChaCha8Rng::seed_from_u64(4);
        let mut cx = Context::new(&mut rng);
        let (mut client, mut server) = configs(TlsVersion::Tls13, Chain::P256, true);
        if resumed {
            let session = Session::drawn(&mut cx, client.version, client.suite);
            client.resume = Some(session.clone());
            server.resume = Some(session);
        }
        client.groups = vec![
            NamedGroup::X25519,
            NamedGroup::Secp384r1,
            NamedGroup::Secp256r1,
        ];
        server.groups = vec![NamedGroup::Secp384r1, NamedGroup::Secp256r1];
        let (flights, ends) = run(client.clone(), server.clone(), &mut cx);
        let (a, b) = ends.unwrap();
        assert!(a.connection.is_done() && b.connection.is_done());
        assert_eq!(
            (a.connection.is_resumed(), b.connection.is_resumed()),
            (resumed, resumed)
        );
        // Two hellos each; the request has the random value of RFC 8446 section 4.1.3.
        assert_eq!(flights[1][11..43], RETRY);
        assert_eq!((flights[0][5], flights[2][5]), (1, 1));
        assert_eq!(
            a.connection.export(&mut cx, b"l", &[], 32),
            b.connection.export(&mut cx, b"l", &[], 32)
        );
        // Without a group in common there is nothing to ask for.
        client.groups = vec![NamedGroup::X25519];
        let refusal = run(client, server, &mut cx).1.err().unwrap();
        assert_eq!(refusal.failure, Failure::NothingInCommon { code: CODE });
    }
}

#[test]
fn a_client_gives_no_second_share_twice_and_none_that_it_did_not_offer() {
    let mut rng = ChaCha8Rng::seed_from_u64(4);
    let mut cx = Context::new(&mut rng);
    let (mut client, mut server) = configs(TlsVersion::Tls13, Chain::P256, false);
    client.groups = vec![NamedGroup::X25519, NamedGroup::Secp256r1];
    server.groups = vec![NamedGroup::Secp256r1];
    let mut a = TlsClient::new(client);
    let mut b = TlsServer::new(server).unwrap();
    let hello = a.start(&mut cx);
    let request = b.receive(&mut cx, &hello).unwrap();
    let mut other = request.clone();
    let last = other.len() - 1;
    other[last] = 24;
    let refusal = a.receive(&mut cx, &other).err().unwrap();
    assert_eq!(refusal.alert[6], alert::ILLEGAL_PARAMETER);
    assert!(a.receive(&mut cx, &request).is_ok());
    assert!(a.receive(&mut cx, &request).is_err());
    // The server does not ask twice either.
    assert!(b.receive(&mut cx, &hello).is_err());
}

#[test]
fn application_data_pass_both_ways() {
    for (version, kind) in VERSIONS {
        let mut rng = ChaCha8Rng::seed_from_u64(4);
        let mut cx = Context::new(&mut rng);
        let (client, server) = configs(version, kind, false);
        let (mut a, mut b) = run(client, server, &mut cx).1.unwrap();
        let record = a.connection.seal(&mut cx, b"up");
        assert_eq!(b.receive(&mut cx, &record), Ok(Vec::new()));
        assert_eq!(b.connection.take_data(), b"up");
        let record = b.connection.seal(&mut cx, b"down");
        assert_eq!(a.receive(&mut cx, &record), Ok(Vec::new()));
        assert_eq!(a.connection.take_data(), b"down");
    }
}

#[test]
fn a_server_that_nobody_trusts_is_refused_with_an_alert() {
    let mut rng = ChaCha8Rng::seed_from_u64(4);
    let mut cx = Context::new(&mut rng);
    let (client, mut server) = configs(TlsVersion::Tls12, Chain::RSA_2048, true);
    server.credential = Some(Credential::rogue_server());
    let refusal = run(client, server, &mut cx).1.err().unwrap();
    assert_eq!(refusal.failure, Failure::WrongCertificate { code: CODE });
    assert_eq!(refusal.alert, [21, 3, 3, 0, 2, 2, 48]);
}

#[test]
fn mutual_rsa_costs_one_signature_on_each_side() {
    let mut rng = ChaCha8Rng::seed_from_u64(4);
    let mut cx = Context::new(&mut rng);
    let (client, server) = configs(TlsVersion::Tls13, Chain::RSA_2048, true);
    assert!(run(client, server, &mut cx).1.is_ok());
    let signatures =
        merge(&cx.finish().operations)
            .into_iter()
            .find_map(|operation| match operation {
                Operation::Sign {
                    algorithm: SignatureAlgorithm::Rsa2048,
                    count,
                } => Some(count),
                _ => None,
            });
    assert_eq!(signatures, Some(2));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn a_flipped_bit_never_completes_a_handshake(
        version in prop::sample::select(vec![TlsVersion::Tls12, TlsVersion::Tls13]),
        index in 0_usize..3, octet in 5_usize..4000, bit in 0_u8..8
    ) {
        let mut rng = ChaCha8Rng::seed_from_u64(4);
        let mut cx = Context::new(&mut rng);
        let (client, server) = configs(version, Chain::P256, true);
        let mut client = TlsClient::new(client);
        let mut server = TlsServer::new(server).unwrap();
        let mut flight = client.start(&mut cx);
        let mut refused = false;
        for step in 0..4 {
            if step == index {
                // The record header's version is not covered in TLS 1.2, so it stays.
                let at = 5 + octet % (flight.len() - 5);
                flight[at] ^= 1 << bit;
            }
            let answer = if step % 2 == 0 {
                server.receive(&mut cx, &flight)
            } else {
                client.receive(&mut cx, &flight)
            };
            match answer {
                Ok(answer) => flight = answer,
                Err(_) => { refused = true; break; }
            }
        }
        // Bits that a later record header holds may be ignored; keys then still agree.
        if !refused && client.connection.is_done() && server.connection.is_done() {
            let a = client.connection.export(&mut cx, b"label", &[], 32);
            let b = server.connection.export(&mut cx, b"label", &[], 32);
            prop_assert_eq!(a, b);
        }
    }
}

const ML_DSA_44: Chain = Chain::uniform(SignatureAlgorithm::MlDsa44);
const ML_DSA_87: Chain = Chain::uniform(SignatureAlgorithm::MlDsa87);

#[test]
fn every_group_with_ml_kem_gives_both_ends_one_secret() {
    for (group, share, answer, first) in [
        (
            NamedGroup::X25519MlKem768,
            1216,
            1120,
            KemAlgorithm::MlKem768,
        ),
        (
            NamedGroup::Secp256r1MlKem768,
            1249,
            1153,
            KemAlgorithm::MlKem768,
        ),
        (
            NamedGroup::Secp384r1MlKem1024,
            1665,
            1665,
            KemAlgorithm::MlKem1024,
        ),
        (NamedGroup::MlKem512, 800, 768, KemAlgorithm::MlKem512),
        (NamedGroup::MlKem768, 1184, 1088, KemAlgorithm::MlKem768),
        (NamedGroup::MlKem1024, 1568, 1568, KemAlgorithm::MlKem1024),
    ] {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let mut cx = Context::new(&mut rng);
        let ours = key_share::KeyShare::draw(&mut cx, group);
        let shown = ours.public(&mut cx);
        assert_eq!(shown.len(), share, "{group:?}");
        let theirs = key_share::KeyShare::draw_answering(&mut cx, group);
        let Answered {
            share: reply,
            secret,
        } = theirs.answer(&mut cx, &shown).unwrap();
        assert_eq!(reply.len(), answer, "{group:?}");
        assert_eq!(ours.agree(&mut cx, &reply), Some(secret));
        assert!(theirs.answer(&mut cx, &shown[1..]).is_none());

        let (mut client, mut server) = configs(TlsVersion::Tls13, Chain::P256, true);
        client.groups = vec![group];
        server.groups = vec![group];
        let (_, ends) = run(client, server, &mut cx);
        let (client, server) = ends.unwrap();
        assert!(client.connection.is_done() && server.connection.is_done());
        let operations = merge(&cx.finish().operations);
        let steps = |wanted| {
            let done = |operation: &&Operation| {
                matches!(operation, Operation::Kem { algorithm, step, .. }
                    if *algorithm == first && *step == wanted)
            };
            operations.iter().filter(done).count()
        };
        for step in [KemStep::Keygen, KemStep::Encapsulate, KemStep::Decapsulate] {
            assert_eq!(steps(step), 1, "{group:?} {step:?}");
        }
    }
}

#[test]
fn chains_of_ml_dsa_authenticate_both_ends_and_long_ones_take_two_records() {
    for (chain, long) in [(ML_DSA_44, false), (ML_DSA_87, true)] {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let mut cx = Context::new(&mut rng);
        let (client, server) = configs(TlsVersion::Tls13, chain, true);
        let (flights, ends) = run(client, server, &mut cx);
        assert!(ends.is_ok_and(|(client, _)| client.connection.is_done()));
        // Two certificates with key and signature, and the signature of the handshake.
        assert_eq!(flights[1].len() > 1 << 14, long, "{}", flights[1].len());
        let records = |mut flight: &[u8]| {
            let mut count = 0;
            while let Ok((_, rest)) = airtoll_wire::tls::RecordView::split(flight) {
                (count, flight) = (count + 1, rest);
            }
            assert!(flight.is_empty());
            count
        };
        assert_eq!(records(&flights[1]), if long { 3 } else { 2 });
    }
}

#[test]
fn a_client_that_trusts_another_root_refuses_a_chain_of_ml_dsa() {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let mut cx = Context::new(&mut rng);
    let (client, _) = configs(TlsVersion::Tls13, ML_DSA_87, false);
    let (_, server) = configs(TlsVersion::Tls13, ML_DSA_44, false);
    let (_, ends) = run(client, server, &mut cx);
    let failure = Failure::WrongCertificate { code: CODE };
    assert_eq!(ends.err().map(|refusal| refusal.failure), Some(failure));
}

#[test]
fn compressed_certificates_are_shorter_where_both_ends_take_them() {
    let octets = |client_takes: bool, server_takes: bool, mutual: bool| {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let mut cx = Context::new(&mut rng);
        let (mut client, mut server) = configs(TlsVersion::Tls13, Chain::P256, mutual);
        client.certificate_compression = client_takes;
        server.certificate_compression = server_takes;
        let (flights, ends) = run(client, server, &mut cx);
        assert!(ends.is_ok_and(|(client, _)| client.connection.is_done()));
        (flights[1].len(), flights[2].len())
    };
    let (server, client) = octets(false, false, true);
    let (packed_server, packed_client) = octets(true, true, true);
    assert!(packed_server < server && packed_client < client);
    assert_eq!(octets(true, false, false).0, octets(false, true, false).0);
}
