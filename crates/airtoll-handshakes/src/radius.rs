//! Uses of RADIUS's shared secret: authenticators, Message-Authenticator and the
//! encryption of the keys (RFC 2865, RFC 3579, RFC 2548).
//!
//! Takes packets and the secret; gives packets that carry proofs, or says that a proof is
//! wrong. Never retransmits: the client (the AP's authenticator) does.

use airtoll_wire::radius::{RadiusRepr, RadiusView, attribute};

use crate::context::Context;
use crate::octets::{equal, written};
use crate::operation::HashAlgorithm;

/// An Access-Request with its Message-Authenticator.
pub fn sign_request(context: &mut Context<'_>, secret: &[u8], mut packet: RadiusRepr) -> Vec<u8> {
    packet
        .attributes
        .push((attribute::MESSAGE_AUTHENTICATOR, vec![0; 16]));
    let mut octets = written(|out| packet.emit(out));
    seal_message_authenticator(context, secret, &mut octets);
    octets
}

/// Whether an Access-Request has a right Message-Authenticator.
pub fn verify_request(context: &mut Context<'_>, secret: &[u8], octets: &[u8]) -> bool {
    verify_message_authenticator(context, secret, octets)
}

/// A response to the request with this authenticator: Message-Authenticator over the request's
/// authenticator (RFC 3579 section 3.2), then the Response Authenticator (RFC 2865 section 3).
pub fn sign_response(
    context: &mut Context<'_>,
    secret: &[u8],
    request_authenticator: [u8; 16],
    mut packet: RadiusRepr,
) -> Vec<u8> {
    packet.authenticator = request_authenticator;
    packet
        .attributes
        .push((attribute::MESSAGE_AUTHENTICATOR, vec![0; 16]));
    let mut octets = written(|out| packet.emit(out));
    seal_message_authenticator(context, secret, &mut octets);
    let authenticator = context.hash(HashAlgorithm::Md5, &[&octets, secret]);
    octets[4..20].copy_from_slice(&authenticator);
    octets
}

/// Whether a response answers the request with this authenticator.
pub fn verify_response(
    context: &mut Context<'_>,
    secret: &[u8],
    request_authenticator: [u8; 16],
    octets: &[u8],
) -> bool {
    let Ok(view) = RadiusView::new(octets) else {
        return false;
    };
    let mut restored = octets.to_vec();
    restored[4..20].copy_from_slice(&request_authenticator);
    let expected = context.hash(HashAlgorithm::Md5, &[&restored, secret]);
    equal(&expected, view.authenticator())
        && verify_message_authenticator(context, secret, &restored)
}

/// The value of an MS-MPPE key attribute: salt and encrypted key (RFC 2548 section 2.4.2).
pub fn encrypt_key(
    context: &mut Context<'_>,
    secret: &[u8],
    request_authenticator: [u8; 16],
    key: &[u8],
) -> Vec<u8> {
    let mut salt: [u8; 2] = context.random();
    salt[0] |= 0x80;
    let mut plain = vec![u8::try_from(key.len()).unwrap_or(u8::MAX)];
    plain.extend(key);
    plain.resize(plain.len().next_multiple_of(16), 0);
    let mut out = salt.to_vec();
    let mut previous = [&request_authenticator[..], &salt].concat();
    for block in plain.chunks(16) {
        let stream = context.hash(HashAlgorithm::Md5, &[secret, &previous]);
        previous = block.iter().zip(stream).map(|(a, b)| a ^ b).collect();
        out.extend(&previous);
    }
    out
}

/// Undoes [`encrypt_key`]; `None` when the length inside does not fit.
pub fn decrypt_key(
    context: &mut Context<'_>,
    secret: &[u8],
    request_authenticator: [u8; 16],
    value: &[u8],
) -> Option<Vec<u8>> {
    let (salt, sealed) = value.split_first_chunk::<2>()?;
    let mut previous = [&request_authenticator[..], salt].concat();
    let mut plain = Vec::new();
    for block in sealed.chunks(16) {
        let stream = context.hash(HashAlgorithm::Md5, &[secret, &previous]);
        plain.extend(block.iter().zip(stream).map(|(a, b)| a ^ b));
        previous = block.to_vec();
    }
    let length = usize::from(*plain.first()?);
    plain.get(1..=length).map(<[u8]>::to_vec)
}

fn seal_message_authenticator(context: &mut Context<'_>, secret: &[u8], octets: &mut [u8]) {
    let at = RadiusView::new(octets)
        .ok()
        .and_then(|view| view.message_authenticator_at());
    if let Some(at) = at {
        let mac = context.hmac(HashAlgorithm::Md5, secret, &[octets]);
        octets[at..at + 16].copy_from_slice(&mac);
    }
}

fn verify_message_authenticator(context: &mut Context<'_>, secret: &[u8], octets: &[u8]) -> bool {
    let Some(at) = RadiusView::new(octets)
        .ok()
        .and_then(|view| view.message_authenticator_at())
    else {
        return false;
    };
    let mut zeroed = octets.to_vec();
    zeroed[at..at + 16].fill(0);
    let expected = context.hmac(HashAlgorithm::Md5, secret, &[&zeroed]);
    equal(&expected, &octets[at..at + 16])
}

#[cfg(test)]
mod tests {
    use super::*;
    use airtoll_wire::radius::code;
    use proptest::prelude::*;
    use rand_chacha::ChaCha8Rng;
    use rand_chacha::rand_core::SeedableRng;

    #[test]
    fn the_message_authenticator_of_rfc_3579_s_text_is_an_hmac_over_the_packet() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let mut cx = Context::new(&mut rng);
        let packet = RadiusRepr {
            code: code::ACCESS_REQUEST,
            identifier: 1,
            authenticator: [7; 16],
            attributes: vec![(attribute::USER_NAME, b"alice".to_vec())],
        };
        let request = sign_request(&mut cx, b"secret", packet.clone());
        assert!(verify_request(&mut cx, b"secret", &request));
        assert!(!verify_request(&mut cx, b"secreT", &request));
        let answer = RadiusRepr {
            code: code::ACCESS_ACCEPT,
            ..packet
        };
        let response = sign_response(&mut cx, b"secret", [7; 16], answer);
        assert!(verify_response(&mut cx, b"secret", [7; 16], &response));
        assert!(!verify_response(&mut cx, b"secret", [8; 16], &response));
        for at in 0..response.len() {
            let mut wrong = response.clone();
            wrong[at] ^= 1;
            assert!(
                !verify_response(&mut cx, b"secret", [7; 16], &wrong),
                "octet {at}"
            );
        }
    }

    proptest! {
        #[test]
        fn keys_round_trip(key in prop::collection::vec(any::<u8>(), 1..60), authenticator: [u8; 16]) {
            let mut rng = ChaCha8Rng::seed_from_u64(1);
            let mut cx = Context::new(&mut rng);
            let value = encrypt_key(&mut cx, b"secret", authenticator, &key);
            prop_assert_eq!(value.len() % 16, 2);
            prop_assert_eq!(decrypt_key(&mut cx, b"secret", authenticator, &value), Some(key));
        }
    }
}
