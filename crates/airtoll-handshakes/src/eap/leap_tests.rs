//! LEAP's server next to an authenticator that relays EAP responses only. The octets were recorded
//! from the server that hostapd 2.10 and wpa_supplicant 2.10 first ran against.

use super::*;
use crate::exchange::{Conversation, Party};
use crate::operation::HashAlgorithm;
use crate::radius::{decrypt_key, sign_request, verify_response};
use airtoll_wire::radius::{RadiusRepr, attribute, code};
use hex_literal::hex;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use rand_core::{TryCryptoRng, TryRng};
use std::convert::Infallible;

const SECRET: &[u8] = b"shared secret";
const AUTHENTICATOR: [u8; 16] = [9; 16];
const WEP_KEY: [u8; 13] = hex!("0102030405060708090a0b0c0d");
const STATION_CHALLENGE: [u8; 20] = hex!("0108001411010008404142434445464775736572");
const PROOF: [u8; 36] =
    hex!("0208002411010018a874fcefb1dcde24ad536a94855a06256c6436acdc15decf75736572");

/// Responses to the challenges 05101b26313c4752 and 747f8a95a0abb6c1.
const WEP_RESPONSE: [u8; 36] =
    hex!("0208002411010018b52847a3cdbfa453984c5158a078c6bb210134a49c2007a475736572");
const WPA_RESPONSE: [u8; 36] =
    hex!("02080024110100186027fd9ad4d5f79730e6cb1132e72ea3792fd2fdbbaa1f2275736572");

/// A random source that gives these octets.
struct Recorded(Vec<u8>);

impl TryRng for Recorded {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        Ok(0)
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        Ok(0)
    }

    fn try_fill_bytes(&mut self, octets: &mut [u8]) -> Result<(), Infallible> {
        let drawn = self.0.drain(..octets.len());
        octets.copy_from_slice(drawn.as_slice());
        drop(drawn);
        Ok(())
    }
}

impl TryCryptoRng for Recorded {}

fn server(challenge: StationChallenge, drawn: &[&[u8]]) -> Conversation {
    let config = EapConfig::with_password(EapMethod::Leap, "user", "correct horse");
    let server = EapServer::new(config, SECRET.to_vec()).with_challenge(challenge);
    Conversation::new(vec![Box::new(server)], Box::new(Recorded(drawn.concat())))
}

fn with_context<T>(act: impl FnOnce(&mut Context<'_>) -> T) -> T {
    act(&mut Context::new(&mut ChaCha8Rng::seed_from_u64(1)))
}

/// The server's answer to an Access-Request with this EAP packet and State.
fn ask(server: &mut Conversation, identifier: u8, eap: &[u8], state: &[u8]) -> RadiusRepr {
    let mut packet = RadiusRepr {
        code: code::ACCESS_REQUEST,
        identifier,
        authenticator: AUTHENTICATOR,
        attributes: vec![(attribute::STATE, state.to_vec())],
    };
    packet.push_eap_message(eap);
    let message = Message {
        from: Party::AccessPoint,
        to: Party::AuthenticationServer,
        carrier: Carrier::Radius,
        octets: with_context(|context| sign_request(context, SECRET, packet)),
    };
    let [answer] = &server.deliver(&message).emissions[..] else {
        panic!("not one answer");
    };
    let octets = &answer.message.octets;
    let proved = with_context(|context| verify_response(context, SECRET, AUTHENTICATOR, octets));
    assert!(proved);
    RadiusRepr::parse(octets).unwrap()
}

/// A frame of the link, and the frames that follow with their receivers.
fn hear(server: &mut Conversation, from: Party, eap: &[u8]) -> Vec<(Party, Vec<u8>)> {
    let message = Message {
        from,
        to: Party::AuthenticationServer,
        carrier: Carrier::Eapol,
        octets: eapol(packet_type::EAP, eap),
    };
    let sent = server.deliver(&message).emissions.into_iter();
    sent.map(|e| (e.message.to, e.message.octets)).collect()
}

fn first_half(server: &mut Conversation, response: &[u8]) -> RadiusRepr {
    let asked = ask(server, 1, &hex!("020700090175736572"), &[]);
    assert_eq!(asked.code, code::ACCESS_CHALLENGE);
    let state = asked.value(attribute::STATE).unwrap().to_vec();
    ask(server, 2, response, &state)
}

#[test]
fn wep_keys_are_distributed_on_the_link_after_an_early_accept() {
    let mut server = server(
        StationChallenge::OnLink {
            wep_key: Some(WEP_KEY.to_vec()),
        },
        &[
            &[1; 16],
            &hex!("05101b26313c4752"),
            &hex!("2a35404b56616c77828d98a3aeb9c4cf"),
            &hex!("4f5a65707b86919ca7b2bdc8d3dee9f4"),
            &[2; 32],
        ],
    );
    // Before the first half no challenge is answered.
    assert!(hear(&mut server, Party::Station, &STATION_CHALLENGE).is_empty());
    let accepted = first_half(&mut server, &WEP_RESPONSE);
    assert_eq!(accepted.code, code::ACCESS_ACCEPT);
    assert_eq!(accepted.eap_message(), hex!("03080004"));
    assert_eq!(accepted.microsoft(attribute::MS_MPPE_RECV_KEY), None);
    let frames = hear(&mut server, Party::Station, &STATION_CHALLENGE);
    let expected = [
        eapol(packet_type::EAP, &PROOF),
        hex!(
            "0103003901000d00000000000000012a35404b56616c77828d98a3aeb9c4cf00"
            "5ee97cc0af43b88221d91bbd01e1b6719f7ea677a033f9c09a538126bf"
        )
        .to_vec(),
        hex!(
            "0103003901000d00000000000000024f5a65707b86919ca7b2bdc8d3dee9f480"
            "b5d434d9ba2ecf302fe6c55653979f052f1e40a5cec6f373e6c45207d1"
        )
        .to_vec(),
    ];
    assert_eq!(frames, expected.map(|frame| (Party::Station, frame)));
    // A repeated challenge gets keys with higher replay counters.
    let again = hear(&mut server, Party::Station, &STATION_CHALLENGE);
    let counters: Vec<u8> = again[1..].iter().map(|(_, frame)| frame[14]).collect();
    assert_eq!(counters, [3, 4]);
}

#[test]
fn an_authenticator_that_relays_responses_gets_the_challenge_as_one_and_32_octets() {
    let mut server = server(
        StationChallenge::AsResponse {},
        &[&[1; 16], &hex!("747f8a95a0abb6c1"), &[2; 4]],
    );
    let half = first_half(&mut server, &WPA_RESPONSE);
    assert_eq!(half.code, code::ACCESS_CHALLENGE);
    assert_eq!(half.eap_message(), hex!("03080004"));
    let frames = hear(&mut server, Party::Station, &STATION_CHALLENGE);
    let relayed = hex!("010000140208001411010008404142434445464775736572").to_vec();
    assert_eq!(frames, [(Party::AccessPoint, relayed.clone())]);
    let state = half.value(attribute::STATE).unwrap().to_vec();
    let accepted = ask(&mut server, 3, &relayed[4..], &state);
    assert_eq!(accepted.code, code::ACCESS_ACCEPT);
    assert_eq!(accepted.eap_message(), PROOF);
    let session = hex!("948e6d1f94eba645619d539d7f13ed2b");
    for kind in [attribute::MS_MPPE_RECV_KEY, attribute::MS_MPPE_SEND_KEY] {
        let value = accepted.microsoft(kind).unwrap();
        let key = with_context(|context| decrypt_key(context, SECRET, AUTHENTICATOR, value));
        assert_eq!(key.unwrap(), [session, [0; 16]].concat());
    }
    // HMAC gives both PMKs the same keys.
    let mac =
        |key: &[u8]| with_context(|context| context.hmac(HashAlgorithm::Sha1, key, &[b"message"]));
    assert_eq!(mac(&session), mac(&[session, [0; 16]].concat()));
}

#[test]
fn frames_of_others_and_other_frames_are_ignored() {
    let challenge = StationChallenge::OnLink { wep_key: None };
    let mut server = server(challenge, &[&[1; 16], &hex!("05101b26313c4752")]);
    first_half(&mut server, &WEP_RESPONSE);
    assert!(hear(&mut server, Party::AccessPoint, &STATION_CHALLENGE).is_empty());
    assert!(hear(&mut server, Party::Station, &PROOF).is_empty());
    // Without WEP the proof is alone.
    let frames = hear(&mut server, Party::Station, &STATION_CHALLENGE);
    assert_eq!(frames, [(Party::Station, eapol(packet_type::EAP, &PROOF))]);
}

#[test]
fn a_wrong_response_is_rejected() {
    let challenge = StationChallenge::OnLink { wep_key: None };
    let mut server = server(challenge, &[&[1; 16], &[5; 8]]);
    let rejected = first_half(&mut server, &WEP_RESPONSE);
    assert_eq!(rejected.code, code::ACCESS_REJECT);
    assert_eq!(rejected.eap_message(), hex!("04080004"));
    assert!(hear(&mut server, Party::Station, &STATION_CHALLENGE).is_empty());
}
