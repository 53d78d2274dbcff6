//! WireGuard's two MACs and its cookies (Donenfeld, NDSS 2017, sections 5.3, 5.4.4 and 5.4.7).
//!
//! Takes finished messages and cookie replies; gives MACs, cookie replies and a verdict on MAC2. Never
//! reads a clock: a responder's secret and an initiator's cookie are good for 120 s, and an end
//! here gives up before that.

use airtoll_wire::wireguard::{Macs, WireGuardRepr};
use blake2::Blake2sMac;
use blake2::digest::consts::U16;
use blake2::digest::{KeyInit, Mac};

use crate::exchange::Context;
use crate::octets::{equal, written};
use crate::operation::HashAlgorithm;

const LABEL_MAC1: &[u8] = b"mac1----";
const LABEL_COOKIE: &[u8] = b"cookie--";
const MAC: usize = 16;

/// Placeholder of the MACs.
pub const NO_MACS: Macs = Macs {
    mac1: [0; MAC],
    mac2: [0; MAC],
};

/// BLAKE2s with a key and 16 octets of digest.
fn mac(context: &mut Context<'_>, key: &[u8], covered: &[u8]) -> [u8; MAC] {
    context.record_hash(
        HashAlgorithm::Blake2s,
        HashAlgorithm::Blake2s.blocks(64 + covered.len()),
    );
    let mut out = [0; MAC];
    if let Ok(mut mac) = <Blake2sMac<U16> as KeyInit>::new_from_slice(key) {
        mac.update(covered);
        out.copy_from_slice(&mac.finalize().into_bytes());
    }
    out
}

/// MAC1 over a message to the owner of this static public key.
pub fn mac1(context: &mut Context<'_>, receiver: &[u8; 32], covered: &[u8]) -> [u8; MAC] {
    let key = context.hash(HashAlgorithm::Blake2s, &[LABEL_MAC1, receiver]);
    mac(context, &key, covered)
}

/// One end's cookies: the one that it was given, and the secret of those that it gives.
#[derive(Debug, Clone, Default)]
pub struct Cookies {
    /// Whether this end asks for cookies before it computes.
    pub busy: bool,
    secret: Option<[u8; 32]>,
    given: Option<Vec<u8>>,
    last_mac1: [u8; MAC],
}

impl Cookies {
    /// The octets of a message with both MACs, the second with the cookie that this end was given.
    /// `covered`: octets before MAC1.
    pub fn sealed(
        &mut self,
        context: &mut Context<'_>,
        receiver: &[u8; 32],
        covered: usize,
        message: &WireGuardRepr,
    ) -> Vec<u8> {
        let mut octets = written(|out| message.emit(out));
        self.last_mac1 = mac1(context, receiver, &octets[..covered]);
        octets[covered..covered + MAC].copy_from_slice(&self.last_mac1);
        if let Some(cookie) = &self.given {
            let second = mac(context, cookie, &octets[..covered + MAC]);
            octets[covered + MAC..covered + 2 * MAC].copy_from_slice(&second);
        }
        octets
    }

    /// The cookie of an address: a MAC over it under this end's secret.
    fn cookie(&mut self, context: &mut Context<'_>, source: &[u8]) -> [u8; MAC] {
        let secret = match self.secret {
            Some(secret) => secret,
            None => *self.secret.insert(context.random()),
        };
        mac(context, &secret, source)
    }

    /// Cookie reply of a busy end instead of an answer to a message with a right MAC1; `None` where
    /// it is not busy, or the sender has proved its address with MAC2.
    pub fn asked(
        &mut self,
        context: &mut Context<'_>,
        own: &[u8; 32],
        source: &[u8],
        (index, covered, octets): (u32, usize, &[u8]),
    ) -> Option<Vec<u8>> {
        if !self.busy {
            return None;
        }
        let cookie = self.cookie(context, source);
        let second = mac(context, &cookie, &octets[..covered + MAC]);
        if equal(&second, &octets[covered + MAC..covered + 2 * MAC]) {
            return None;
        }
        let nonce: [u8; 24] = context.random();
        let key = context.hash(HashAlgorithm::Blake2s, &[LABEL_COOKIE, own]);
        let first = &octets[covered..covered + MAC];
        let sealed = context.xchacha_seal(&key, &nonce, first, &cookie);
        let reply = WireGuardRepr::CookieReply {
            receiver: index,
            nonce,
            encrypted_cookie: sealed.try_into().ok()?,
        };
        Some(written(|out| reply.emit(out)))
    }

    /// Keeps the cookie of a reply to the last message that was sealed to this static public key.
    pub fn keep(
        &mut self,
        context: &mut Context<'_>,
        sender: &[u8; 32],
        nonce: &[u8; 24],
        encrypted: &[u8; 32],
    ) {
        let key = context.hash(HashAlgorithm::Blake2s, &[LABEL_COOKIE, sender]);
        let opened = context.xchacha_open(&key, nonce, &self.last_mac1, encrypted);
        self.given = opened.or_else(|| self.given.take());
    }
}
