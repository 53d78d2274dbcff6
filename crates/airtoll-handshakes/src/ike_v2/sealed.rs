//! Keys of an IKE SA and the encrypted payload under them (RFC 7296 sections 2.13, 2.14 and 3.14;
//! RFC 5282 for GCM).
//!
//! Takes secrets and payloads; gives messages that are protected, and reads them. Never decides
//! what is said in them.

use airtoll_wire::isakmp::{
    IsakmpHeader, IsakmpView, Payload, emit_message, emit_payloads, parse_payloads, payload,
};
use serde::{Deserialize, Serialize};

use super::config::IkeV2Config;
use crate::exchange::Context;
use crate::operation::HashAlgorithm;
use crate::primitives::{equal, written};

/// Keys of the IKE SA (section 2.14), the initiator's first.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Keys {
    gcm: bool,
    /// SK_d.
    pub derive: Vec<u8>,
    integrity: (Vec<u8>, Vec<u8>),
    cipher: (Vec<u8>, Vec<u8>),
    /// SK_pi and SK_pr.
    pub proof: (Vec<u8>, Vec<u8>),
}

/// Octets of an integrity key.
const fn integrity_octets(gcm: bool) -> usize {
    if gcm { 0 } else { 20 }
}

/// Key and, with GCM, its four octets of salt (RFC 5282 section 7.1).
const fn cipher_octets(gcm: bool) -> usize {
    if gcm { 20 } else { 16 }
}

/// prf+ (section 2.13).
fn expand(
    context: &mut Context<'_>,
    hash: HashAlgorithm,
    key: &[u8],
    seed: &[u8],
    octets: usize,
) -> Vec<u8> {
    context.hkdf_expand(hash, key, seed, octets)
}

impl Keys {
    /// Keys of a Diffie-Hellman secret, both nonces and both SPIs.
    pub fn derive(
        context: &mut Context<'_>,
        config: &IkeV2Config,
        shared: &[u8],
        nonces: &(Vec<u8>, Vec<u8>),
        spis: &([u8; 8], [u8; 8]),
    ) -> Self {
        let hash = config.hash();
        let nonces = [&nonces.0[..], &nonces.1].concat();
        let seed = context.hmac(hash, &nonces, &[shared]);
        let info = [&nonces[..], &spis.0, &spis.1].concat();
        let (prf, auth, cipher) = (
            hash.digest_octets(),
            integrity_octets(config.gcm),
            cipher_octets(config.gcm),
        );
        let all = expand(context, hash, &seed, &info, 3 * prf + 2 * auth + 2 * cipher);
        let mut rest = &all[..];
        let mut take = |octets: usize| {
            let (part, tail) = rest.split_at(octets);
            rest = tail;
            part.to_vec()
        };
        Self {
            gcm: config.gcm,
            derive: take(prf),
            integrity: (take(auth), take(auth)),
            cipher: (take(cipher), take(cipher)),
            proof: (take(prf), take(prf)),
        }
    }

    /// Keys of the first pair of ESP SAs, to the responder and back (section 2.17).
    pub fn child(
        &self,
        context: &mut Context<'_>,
        config: &IkeV2Config,
        nonces: &(Vec<u8>, Vec<u8>),
    ) -> (Vec<u8>, Vec<u8>) {
        let nonces = [&nonces.0[..], &nonces.1].concat();
        let length = cipher_octets(config.gcm) + integrity_octets(config.gcm);
        let mut all = expand(context, config.hash(), &self.derive, &nonces, 2 * length);
        let backward = all.split_off(length);
        (all, backward)
    }

    const fn of(&self, initiator: bool) -> (&Vec<u8>, &Vec<u8>) {
        if initiator {
            (&self.integrity.0, &self.cipher.0)
        } else {
            (&self.integrity.1, &self.cipher.1)
        }
    }

    /// A message of the initiator or the responder with these payloads inside.
    pub fn seal(
        &self,
        context: &mut Context<'_>,
        initiator: bool,
        header: &IsakmpHeader,
        payloads: &[Payload],
    ) -> Vec<u8> {
        let (integrity, cipher) = self.of(initiator);
        let mut plain = written(|out| emit_payloads(payloads, out));
        let first = payloads.first().map_or(0, |(kind, _)| *kind);
        if self.gcm {
            plain.push(0);
            let iv: [u8; 8] = context.random();
            let (key, salt) = cipher.split_at(16);
            // The header with its final length is associated data, so it is written first.
            let body = [&iv[..], &vec![0; plain.len() + 16]].concat();
            let draft = sealed_message(header, first, &body);
            let covered = draft.len() - body.len();
            let nonce = [salt, &iv[..]].concat();
            let sealed = context.aes_gcm_seal(key, &nonce, &draft[..covered], &plain);
            return sealed_message(header, first, &[&iv[..], &sealed].concat());
        }
        let padding = (16 - (plain.len() + 1) % 16) % 16;
        plain.extend(std::iter::repeat_n(0, padding));
        plain.push(u8::try_from(padding).unwrap_or(0));
        let iv: [u8; 16] = context.random();
        let sealed = context.cbc_encrypt(cipher, &iv, &plain);
        let body = [&iv[..], &sealed, &[0; 12]].concat();
        let mut octets = sealed_message(header, first, &body);
        let at = octets.len() - 12;
        let icv = context.hmac(HashAlgorithm::Sha1, integrity, &[&octets[..at]]);
        octets[at..].copy_from_slice(&icv[..12]);
        octets
    }

    /// The payloads inside a message of the initiator or the responder; `None` when it is not
    /// protected, or altered.
    pub fn open(
        &self,
        context: &mut Context<'_>,
        initiator: bool,
        octets: &[u8],
    ) -> Option<Vec<Payload>> {
        let (integrity, cipher) = self.of(initiator);
        let view = IsakmpView::new(octets).ok()?;
        if view.header().next_payload != payload::ENCRYPTED {
            return None;
        }
        let first = *view.body().first()?;
        let body = view.body().get(4..)?;
        let covered = octets.len() - body.len();
        let plain = if self.gcm {
            let (iv, sealed) = body.split_at_checked(8)?;
            let (key, salt) = cipher.split_at(16);
            let nonce = [salt, iv].concat();
            context.aes_gcm_open(key, &nonce, &octets[..covered], sealed)?
        } else {
            let at = octets.len().checked_sub(12)?;
            let icv = context.hmac(HashAlgorithm::Sha1, integrity, &[&octets[..at]]);
            if !equal(&icv[..12], &octets[at..]) {
                return None;
            }
            let (iv, sealed) = body[..body.len().checked_sub(12)?].split_at_checked(16)?;
            context.cbc_decrypt(cipher, iv, sealed)?
        };
        let padding = usize::from(*plain.last()?);
        let payloads = plain.get(..plain.len().checked_sub(1 + padding)?)?;
        parse_payloads(first, payloads).ok()
    }
}

fn sealed_message(header: &IsakmpHeader, first: u8, body: &[u8]) -> Vec<u8> {
    let length = u16::try_from(4 + body.len()).unwrap_or(u16::MAX);
    let mut payload = vec![first, 0];
    payload.extend(length.to_be_bytes());
    payload.extend(body);
    written(|out| emit_message(header, &payload, out))
}
