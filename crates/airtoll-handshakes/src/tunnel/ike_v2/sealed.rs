//! Keys of an IKE SA and the encrypted payload under them (RFC 7296 sections 2.13, 2.14 and 3.14;
//! RFC 5282 for GCM; RFC 9370 section 2.2.2 for further key exchanges; RFC 7383 section 2.5 for fragments).
//!
//! Takes secrets and payloads; gives messages that are protected, and reads them. Never decides
//! what is said in them.

use airtoll_wire::isakmp::{
    HEADER_OCTETS, IsakmpHeader, IsakmpView, PAYLOAD_HEADER_OCTETS, Payload, emit_message,
    emit_payloads, parse_payloads, payload,
};
use serde::{Deserialize, Serialize};

use super::config::IkeV2Config;
use crate::exchange::Context;
use crate::octets::{equal, written};
use crate::operation::HashAlgorithm;
use crate::sides::Sides;

/// Keys of the IKE SA (section 2.14).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Keys {
    gcm: bool,
    /// SK_d.
    pub derive: Vec<u8>,
    integrity: Sides<Vec<u8>>,
    cipher: Sides<Vec<u8>>,
    /// SK_pi and SK_pr.
    pub proof: Sides<Vec<u8>>,
}

/// Keys of a pair of ESP SAs.
pub struct ChildKeys {
    /// To the responder.
    pub forward: Vec<u8>,
    /// To the initiator.
    pub backward: Vec<u8>,
}

/// Keys under which one end sends.
#[derive(Clone, Copy)]
struct OwnKeys<'a> {
    integrity: &'a Vec<u8>,
    cipher: &'a Vec<u8>,
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
        nonces: &Sides<Vec<u8>>,
        spis: &Sides<[u8; 8]>,
    ) -> Self {
        let nonces = [&nonces.initiator[..], &nonces.responder].concat();
        let seed = context.hmac(config.hash(), &nonces, &[shared]);
        Self::of_seed(context, config, &seed, &nonces, spis)
    }

    /// Keys after a further key exchange with this secret (RFC 9370 section 2.2.2).
    pub fn updated(
        &self,
        context: &mut Context<'_>,
        config: &IkeV2Config,
        shared: &[u8],
        nonces: &Sides<Vec<u8>>,
        spis: &Sides<[u8; 8]>,
    ) -> Self {
        let nonces = [&nonces.initiator[..], &nonces.responder].concat();
        let seed = context.hmac(config.hash(), &self.derive, &[shared, &nonces]);
        Self::of_seed(context, config, &seed, &nonces, spis)
    }

    /// Keys of SKEYSEED.
    fn of_seed(
        context: &mut Context<'_>,
        config: &IkeV2Config,
        seed: &[u8],
        nonces: &[u8],
        spis: &Sides<[u8; 8]>,
    ) -> Self {
        let hash = config.hash();
        let info = [nonces, &spis.initiator, &spis.responder].concat();
        let (prf, auth, cipher) = (
            hash.digest_octets(),
            integrity_octets(config.gcm),
            cipher_octets(config.gcm),
        );
        let all = expand(context, hash, seed, &info, 3 * prf + 2 * auth + 2 * cipher);
        let mut rest = &all[..];
        let mut take = |octets: usize| {
            let (part, tail) = rest.split_at(octets);
            rest = tail;
            part.to_vec()
        };
        let derive = take(prf);
        let mut take_both = |octets: usize| Sides {
            initiator: take(octets),
            responder: take(octets),
        };
        Self {
            gcm: config.gcm,
            derive,
            integrity: take_both(auth),
            cipher: take_both(cipher),
            proof: take_both(prf),
        }
    }

    /// Keys of the first pair of ESP SAs (section 2.17).
    pub fn child(
        &self,
        context: &mut Context<'_>,
        config: &IkeV2Config,
        nonces: &Sides<Vec<u8>>,
    ) -> ChildKeys {
        let nonces = [&nonces.initiator[..], &nonces.responder].concat();
        let length = cipher_octets(config.gcm) + integrity_octets(config.gcm);
        let mut all = expand(context, config.hash(), &self.derive, &nonces, 2 * length);
        let backward = all.split_off(length);
        ChildKeys {
            forward: all,
            backward,
        }
    }

    const fn of(&self, initiator: bool) -> OwnKeys<'_> {
        let (integrity, cipher) = if initiator {
            (&self.integrity.initiator, &self.cipher.initiator)
        } else {
            (&self.integrity.responder, &self.cipher.responder)
        };
        OwnKeys { integrity, cipher }
    }

    /// A message of the initiator or the responder with these payloads inside.
    pub fn seal(
        &self,
        context: &mut Context<'_>,
        initiator: bool,
        header: &IsakmpHeader,
        payloads: &[Payload],
    ) -> Vec<u8> {
        let plain = written(|out| emit_payloads(payloads, out));
        let first = payloads.first().map_or(0, |(kind, _)| *kind);
        let wrapping = Wrapping::whole(first);
        self.wrap(context, initiator, header, &wrapping, &plain)
    }

    /// Octets of a message with so many octets of payloads inside.
    pub const fn sealed_octets(&self, plain: usize) -> usize {
        let header = HEADER_OCTETS + PAYLOAD_HEADER_OCTETS;
        if self.gcm {
            header + 8 + plain + 1 + 16
        } else {
            header + 16 + (plain + 1).next_multiple_of(16) + 12
        }
    }

    /// Most octets of payloads in a fragment whose message has at most `octets`.
    pub const fn room(&self, octets: usize) -> usize {
        let header = HEADER_OCTETS + PAYLOAD_HEADER_OCTETS + FRAGMENT_OCTETS;
        if self.gcm {
            octets.saturating_sub(header + 8 + 16 + 1)
        } else {
            let blocks = octets.saturating_sub(header + 16 + 12) / 16;
            (blocks * 16).saturating_sub(1)
        }
    }

    /// A message with these octets of payloads in its one payload.
    pub fn wrap(
        &self,
        context: &mut Context<'_>,
        initiator: bool,
        header: &IsakmpHeader,
        wrapping: &Wrapping,
        plain: &[u8],
    ) -> Vec<u8> {
        let OwnKeys { integrity, cipher } = self.of(initiator);
        let mut plain = plain.to_vec();
        if self.gcm {
            plain.push(0);
            let iv: [u8; 8] = context.random();
            let (key, salt) = cipher.split_at(16);
            // The header with its final length is associated data, so it is written first.
            let body = [&iv[..], &vec![0; plain.len() + 16]].concat();
            let draft = wrapping.message(header, &body);
            let covered = draft.len() - body.len();
            let nonce = [salt, &iv[..]].concat();
            let sealed = context.aes_gcm_seal(key, &nonce, &draft[..covered], &plain);
            return wrapping.message(header, &[&iv[..], &sealed].concat());
        }
        let padding = (16 - (plain.len() + 1) % 16) % 16;
        plain.extend(std::iter::repeat_n(0, padding));
        plain.push(u8::try_from(padding).unwrap_or(0));
        let iv: [u8; 16] = context.random();
        let sealed = context.cbc_encrypt(cipher, &iv, &plain);
        let body = [&iv[..], &sealed, &[0; 12]].concat();
        let mut octets = wrapping.message(header, &body);
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
        let (wrapping, plain) = self.unwrap(context, initiator, octets)?;
        if wrapping.fragment.is_some() {
            return None;
        }
        parse_payloads(wrapping.first, &plain).ok()
    }

    /// The octets of payloads inside a message or fragment; `None` when it is not protected, or altered.
    pub fn unwrap(
        &self,
        context: &mut Context<'_>,
        initiator: bool,
        octets: &[u8],
    ) -> Option<(Wrapping, Vec<u8>)> {
        let OwnKeys { integrity, cipher } = self.of(initiator);
        let view = IsakmpView::new(octets).ok()?;
        let first = *view.body().first()?;
        let body = view.body().get(PAYLOAD_HEADER_OCTETS..)?;
        let (fragment, body) = match view.header().next_payload {
            payload::ENCRYPTED => (None, body),
            payload::ENCRYPTED_FRAGMENT => {
                let ([a, b, c, d], rest) = body.split_first_chunk::<FRAGMENT_OCTETS>()?;
                let place = (u16::from_be_bytes([*a, *b]), u16::from_be_bytes([*c, *d]));
                (Some(place), rest)
            }
            _ => return None,
        };
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
        let inside = plain.get(..plain.len().checked_sub(1 + padding)?)?;
        Some((Wrapping { first, fragment }, inside.to_vec()))
    }
}

/// Octets of a fragment's number and of the number of fragments (RFC 7383 section 2.5).
const FRAGMENT_OCTETS: usize = 4;

/// The encrypted payload of a message around the ciphertext.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wrapping {
    /// Type of the first payload inside; 0 in all fragments but the first.
    pub first: u8,
    /// Number of this fragment, from 1, and of all; `None` for a whole message.
    pub fragment: Option<(u16, u16)>,
}

impl Wrapping {
    /// A message that is not fragmented.
    pub const fn whole(first: u8) -> Self {
        Self {
            first,
            fragment: None,
        }
    }

    fn message(&self, header: &IsakmpHeader, body: &[u8]) -> Vec<u8> {
        let mut inside = Vec::new();
        let mut next_payload = payload::ENCRYPTED;
        if let Some((number, total)) = self.fragment {
            next_payload = payload::ENCRYPTED_FRAGMENT;
            inside.extend(number.to_be_bytes());
            inside.extend(total.to_be_bytes());
        }
        inside.extend(body);
        let length = PAYLOAD_HEADER_OCTETS + inside.len();
        let length = u16::try_from(length).unwrap_or(u16::MAX);
        let mut payload = vec![self.first, 0];
        payload.extend(length.to_be_bytes());
        payload.extend(inside);
        let header = IsakmpHeader {
            next_payload,
            ..*header
        };
        written(|out| emit_message(&header, &payload, out))
    }

    /// Octets of a message of IKE_INTERMEDIATE that the proof covers: its header and the encrypted payload's
    /// header, as if the payloads inside were the whole content, and those payloads (RFC 9242 section 3.3.2).
    /// A fragmented message counts as if it were whole.
    pub fn covered(first: u8, header: &IsakmpHeader, plain: &[u8]) -> Vec<u8> {
        Self::whole(first).message(header, plain)
    }
}
