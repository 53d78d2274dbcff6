//! Keys and hashes of IKEv1 with pre-shared keys (RFC 2409 sections 5 and 5.5, appendix B).
//!
//! Takes nonces, cookies and Diffie-Hellman secrets; gives the keys of phase 1, the proofs and the
//! keys of an ESP pair. Never decides what is sent.

use super::config::{IkeV1Config, identity};
use crate::exchange::Context;
use crate::sides::Sides;

/// Keys of phase 1 (section 5), and the IV of its messages.
#[derive(Clone, Default)]
pub struct Phase1 {
    skeyid: Vec<u8>,
    derive: Vec<u8>,
    pub authenticate: Vec<u8>,
    pub encrypt: Vec<u8>,
    pub iv: Vec<u8>,
}

/// Values that both ends sent in clear.
#[derive(Clone, Default)]
pub struct Said {
    pub cookies: Sides<[u8; 8]>,
    pub public: Sides<Vec<u8>>,
    pub nonces: Sides<Vec<u8>>,
    /// The SA payload that the initiator offered.
    pub offer: Vec<u8>,
}

impl Phase1 {
    /// Keys of a Diffie-Hellman secret.
    pub fn derive(
        context: &mut Context<'_>,
        config: &IkeV1Config,
        said: &Said,
        shared: &[u8],
    ) -> Self {
        let hash = config.hash;
        let nonces = [&said.nonces.initiator[..], &said.nonces.responder].concat();
        let skeyid = context.hmac(hash, &config.preshared, &[&nonces]);
        let cookies = [said.cookies.initiator, said.cookies.responder].concat();
        let derive = context.hmac(hash, &skeyid, &[shared, &cookies, &[0]]);
        let authenticate = context.hmac(hash, &skeyid, &[&derive, shared, &cookies, &[1]]);
        let encrypt = context.hmac(hash, &skeyid, &[&authenticate, shared, &cookies, &[2]]);
        let length = config.cipher.key_octets();
        let mut key = encrypt.clone();
        if key.len() < length {
            // Appendix B: K1 = prf(SKEYID_e, 0), then each block from the one before.
            let mut part = context.hmac(hash, &encrypt, &[&[0]]);
            key.clone_from(&part);
            while key.len() < length {
                part = context.hmac(hash, &encrypt, &[&part]);
                key.extend(&part);
            }
        }
        key.truncate(length);
        let mut iv = context.hash(hash, &[&said.public.initiator, &said.public.responder]);
        iv.truncate(config.cipher.block_octets());
        Self {
            skeyid,
            derive,
            authenticate,
            encrypt: key,
            iv,
        }
    }

    /// HASH_I or HASH_R (section 5).
    pub fn proof(
        &self,
        context: &mut Context<'_>,
        config: &IkeV1Config,
        said: &Said,
        initiator: bool,
    ) -> Vec<u8> {
        let (a, b) = (&said.public.initiator, &said.public.responder);
        let (i, r) = (said.cookies.initiator, said.cookies.responder);
        let (first, second, one, other, address) = if initiator {
            (a, b, i, r, config.addresses.initiator)
        } else {
            (b, a, r, i, config.addresses.responder)
        };
        let parts: [&[u8]; 6] = [first, second, &one, &other, &said.offer, &identity(address)];
        context.hmac(config.hash, &self.skeyid, &parts)
    }

    /// KEYMAT (section 5.5) of the SPI that the receiver chose.
    pub fn keymat(
        &self,
        context: &mut Context<'_>,
        config: &IkeV1Config,
        shared: &[u8],
        spi: [u8; 4],
        nonces: &Sides<Vec<u8>>,
    ) -> Vec<u8> {
        let length = config.cipher.key_octets() + config.hash.digest_octets();
        let mut out = Vec::new();
        let mut previous = Vec::new();
        while out.len() < length {
            let (first, second) = (&nonces.initiator, &nonces.responder);
            let parts: [&[u8]; 6] = [&previous, shared, &[3], &spi, first, second];
            previous = context.hmac(config.hash, &self.derive, &parts);
            out.extend(&previous);
        }
        out.truncate(length);
        out
    }
}
