//! Chains of proxies between an access point and a server that know nothing of them.

use super::*;
use crate::exchange::{Carrier, Message, Outcome, Party, SecretName};
use crate::negotiation::{Negotiation, Stage};
use crate::policy::{AuthenticationAlgorithm, LinkSpec, Options, PolicySpec};
use airtoll_security::EapMethod;
use airtoll_security::akm::AkmSuite;
use airtoll_security::suite::CipherSuite;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

const SECRET: &[u8] = b"secret";

fn access_request(
    context: &mut Context<'_>,
    identifier: u8,
    attributes: &[(u8, Vec<u8>)],
) -> Vec<u8> {
    let packet = RadiusRepr {
        code: code::ACCESS_REQUEST,
        identifier,
        authenticator: [identifier; 16],
        attributes: attributes.to_vec(),
    };
    sign_request(context, SECRET, packet)
}

fn onward(relayed: Relayed) -> Vec<u8> {
    let Relayed::Onward(octets) = relayed else {
        panic!("{relayed:?}")
    };
    octets
}

#[test]
fn each_proxy_adds_its_state_and_takes_it_out_of_the_response() {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let mut cx = Context::new(&mut rng);
    let eap: Vec<u8> = (0..=255).cycle().take(1404).collect();
    let mut attributes = vec![(attribute::USER_NAME, b"alice".to_vec())];
    attributes.extend(
        eap.chunks(253)
            .map(|part| (attribute::EAP_MESSAGE, part.to_vec())),
    );
    let first = access_request(&mut cx, 117, &attributes);
    let mut proxies = [0, 4, 0].map(|octets| RadiusProxy::new(SECRET.to_vec(), octets));
    let mut hops = vec![first.clone()];
    for proxy in &mut proxies {
        let sent = onward(proxy.request(&mut cx, hops.last().unwrap()));
        hops.push(sent);
    }
    // "117" of the client, four octets, and "1": the first identifier of the second proxy.
    let lengths: Vec<usize> = hops.iter().map(Vec::len).collect();
    let own = first.len();
    assert_eq!(lengths, [own, own + 5, own + 5 + 6, own + 5 + 6 + 3]);
    let at_the_server = RadiusRepr::parse(hops.last().unwrap()).unwrap();
    assert_eq!(at_the_server.eap_message(), eap);
    assert!(verify_request(&mut cx, SECRET, hops.last().unwrap()));

    let key = [7; 32];
    let mut answer = RadiusRepr {
        code: code::ACCESS_ACCEPT,
        attributes: proxy_states(&at_the_server).collect(),
        ..at_the_server.clone()
    };
    let value = encrypt_key(&mut cx, SECRET, at_the_server.authenticator, &key);
    answer.push_microsoft(attribute::MS_MPPE_RECV_KEY, &value);
    answer.push_eap_message(&[3, 9, 0, 4]);
    let mut response = sign_response(&mut cx, SECRET, at_the_server.authenticator, answer);
    for (proxy, less) in proxies.iter_mut().rev().zip([3, 6, 5]) {
        let sent = onward(proxy.response(&mut cx, &response));
        assert_eq!(sent.len() + less, response.len());
        response = sent;
    }
    assert!(verify_response(&mut cx, SECRET, [117; 16], &response));
    let packet = RadiusRepr::parse(&response).unwrap();
    assert_eq!(
        (packet.identifier, packet.value(attribute::PROXY_STATE)),
        (117, None)
    );
    assert_eq!(packet.eap_message(), [3, 9, 0, 4]);
    let value = packet.microsoft(attribute::MS_MPPE_RECV_KEY).unwrap();
    assert_eq!(
        decrypt_key(&mut cx, SECRET, [117; 16], value),
        Some(key.to_vec())
    );
}

#[test]
fn a_repeated_request_goes_on_unchanged_until_the_proxy_has_the_response() {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let mut cx = Context::new(&mut rng);
    let mut proxy = RadiusProxy::new(SECRET.to_vec(), 0);
    let request = access_request(&mut cx, 1, &[]);
    let sent = onward(proxy.request(&mut cx, &request));
    assert_eq!(
        proxy.request(&mut cx, &request),
        Relayed::Onward(sent.clone())
    );
    let sent = RadiusRepr::parse(&sent).unwrap();
    let answer = RadiusRepr {
        code: code::ACCESS_CHALLENGE,
        attributes: proxy_states(&sent).collect(),
        ..sent.clone()
    };
    let response = sign_response(&mut cx, SECRET, sent.authenticator, answer);
    let passed = onward(proxy.response(&mut cx, &response));
    // The server answers both copies; the second answer ends here.
    assert_eq!(proxy.response(&mut cx, &response), Relayed::Dropped);
    assert_eq!(proxy.request(&mut cx, &request), Relayed::Back(passed));
}

#[test]
fn packets_with_a_wrong_proof_end_at_the_proxy() {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let mut cx = Context::new(&mut rng);
    let request = access_request(&mut cx, 1, &[(attribute::USER_NAME, b"alice".to_vec())]);
    for at in 0..request.len() {
        let mut wrong = request.clone();
        wrong[at] ^= 1;
        let mut proxy = RadiusProxy::new(SECRET.to_vec(), 0);
        assert_eq!(
            proxy.request(&mut cx, &wrong),
            Relayed::Dropped,
            "octet {at}"
        );
    }
}

fn negotiation(radius_proxies: Vec<u8>, method: EapMethod) -> Negotiation {
    let policy = PolicySpec {
        name: "test".into(),
        link: LinkSpec {
            cipher: CipherSuite::Ccmp128,
            group_cipher: CipherSuite::Ccmp128,
            akm: Some(AkmSuite::Ieee8021x),
            eap_method: Some(method),
            authentication: AuthenticationAlgorithm::Open,
            pmf: Default::default(),
            dynamic_wep: false,
        },
        tunnels: Vec::new(),
    };
    let options = Options {
        radius_proxies,
        ..Options::default()
    };
    let rng = Box::new(ChaCha8Rng::seed_from_u64(1));
    Negotiation::new(policy, options, rng).unwrap()
}

#[test]
fn every_method_joins_through_proxies_with_the_messages_that_it_has_without() {
    for method in EapMethod::ALL {
        let (alone, _) = negotiation(Vec::new(), method).run().unwrap();
        let (through, secrets) = negotiation(vec![0; 5], method).run().unwrap();
        let count = |records: &[crate::negotiation::StageRecord]| {
            records
                .iter()
                .map(|r| r.emissions.len())
                .collect::<Vec<_>>()
        };
        assert_eq!(count(&alone), count(&through), "{method:?}");
        assert!(
            through
                .iter()
                .all(|r| matches!(r.outcome, Outcome::Established(_))),
            "{method:?}"
        );
        let keys = alone.iter().any(|r| r.stage == Stage::Keys);
        assert_eq!(secrets.contains_key(&SecretName::Tk), keys, "{method:?}");
    }
}

#[test]
fn a_chain_that_makes_a_request_too_long_is_named() {
    // 16 Proxy-State attributes of 255 octets are 4,080 octets.
    let (records, _) = negotiation(vec![253; 16], EapMethod::Tls).run().unwrap();
    let Outcome::Failed(failure) = records.last().unwrap().outcome else {
        panic!("a request of more than 4,096 octets was sent")
    };
    let text = failure.to_string();
    assert!(text.starts_with("a RADIUS packet of 4"), "{text}");
    assert!(text.ends_with("octets; 4096 is the most"), "{text}");
}

#[test]
fn a_proxy_that_does_not_exist_sends_nothing() {
    let mut negotiation = negotiation(vec![0], EapMethod::Tls);
    let message = Message {
        from: Party::AccessPoint,
        to: Party::AuthenticationServer,
        carrier: Carrier::Radius,
        octets: Vec::new(),
    };
    let exchange = negotiation.exchange().unwrap();
    assert_eq!(exchange.proxies(), 0);
    assert!(exchange.relay(0, &message).emissions.is_empty());
}
