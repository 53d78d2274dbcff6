//! Keys of TLS 1.2 (RFC 5246 section 6.3) and 1.3 (RFC 8446 section 7), and the record layer
//! with AES-GCM under them.
//!
//! Takes secrets and transcripts; gives traffic keys, finished values, exported keys and
//! records. Never decides what comes next: `client` and `server` do.

use airtoll_wire::tls::{RecordView, content, emit_record};

use super::TlsSuite;
use crate::exchange::Context;
use crate::octets::written;

/// One direction's protection.
#[derive(Clone)]
pub struct Protection {
    key: Vec<u8>,
    iv: Vec<u8>,
    sequence: u64,
    tls13: bool,
}

impl Protection {
    /// TLS 1.2 with a key and the four implicit octets of the nonce (RFC 5288).
    pub fn tls12(key: &[u8], salt: &[u8]) -> Self {
        Self {
            key: key.to_vec(),
            iv: salt.to_vec(),
            sequence: 0,
            tls13: false,
        }
    }

    /// TLS 1.3 from a traffic secret (RFC 8446 section 7.3).
    pub fn tls13(context: &mut Context<'_>, suite: TlsSuite, secret: &[u8]) -> Self {
        Self {
            key: expand_label(context, suite, secret, b"key", &[], suite.key_octets()),
            iv: expand_label(context, suite, secret, b"iv", &[], 12),
            sequence: 0,
            tls13: true,
        }
    }

    /// A protected record.
    pub fn seal(&mut self, context: &mut Context<'_>, kind: u8, plain: &[u8]) -> Vec<u8> {
        let sequence = self.sequence.to_be_bytes();
        self.sequence += 1;
        if self.tls13 {
            let mut inner = plain.to_vec();
            inner.push(kind);
            let length = u16::try_from(inner.len() + 16).unwrap_or(u16::MAX);
            let mut header = vec![content::APPLICATION_DATA, 3, 3];
            header.extend(length.to_be_bytes());
            let sealed = context.aes_gcm_seal(&self.key, &self.nonce13(sequence), &header, &inner);
            return written(|o| emit_record(content::APPLICATION_DATA, 0x0303, &sealed, o));
        }
        let nonce = [&self.iv[..], &sequence].concat();
        let aad = aad12(sequence, kind, plain.len());
        let mut fragment = sequence.to_vec();
        fragment.extend(context.aes_gcm_seal(&self.key, &nonce, &aad, plain));
        written(|o| emit_record(kind, 0x0303, &fragment, o))
    }

    /// The content type and plaintext of a protected record; `None` when it was altered.
    pub fn open(
        &mut self,
        context: &mut Context<'_>,
        record: &RecordView<'_>,
    ) -> Option<(u8, Vec<u8>)> {
        let sequence = self.sequence.to_be_bytes();
        self.sequence += 1;
        if self.tls13 {
            let nonce = self.nonce13(sequence);
            let mut inner =
                context.aes_gcm_open(&self.key, &nonce, record.header(), record.fragment())?;
            while inner.last() == Some(&0) {
                inner.pop();
            }
            let kind = inner.pop()?;
            return Some((kind, inner));
        }
        let (explicit, sealed) = record.fragment().split_first_chunk::<8>()?;
        let nonce = [&self.iv[..], explicit].concat();
        let aad = aad12(
            sequence,
            record.content_type(),
            sealed.len().checked_sub(16)?,
        );
        let plain = context.aes_gcm_open(&self.key, &nonce, &aad, sealed)?;
        Some((record.content_type(), plain))
    }

    fn nonce13(&self, sequence: [u8; 8]) -> Vec<u8> {
        let mut nonce = self.iv.clone();
        for (octet, value) in nonce[4..].iter_mut().zip(sequence) {
            *octet ^= value;
        }
        nonce
    }
}

fn aad12(sequence: [u8; 8], kind: u8, length: usize) -> Vec<u8> {
    let mut aad = sequence.to_vec();
    aad.extend([kind, 3, 3]);
    aad.extend(u16::try_from(length).unwrap_or(u16::MAX).to_be_bytes());
    aad
}

/// The PRF of TLS 1.2 (RFC 5246 section 5) with the suite's hash.
pub fn prf(
    context: &mut Context<'_>,
    suite: TlsSuite,
    secret: &[u8],
    label: &[u8],
    seed: &[u8],
    octets: usize,
) -> Vec<u8> {
    let mut a = context.hmac(suite.hash(), secret, &[label, seed]);
    let mut out = Vec::new();
    while out.len() < octets {
        out.extend(context.hmac(suite.hash(), secret, &[&a, label, seed]));
        a = context.hmac(suite.hash(), secret, &[&a]);
    }
    out.truncate(octets);
    out
}

/// The master secret, extended (RFC 7627 section 4): bound to the transcript up to
/// ClientKeyExchange.
pub fn master_secret(
    context: &mut Context<'_>,
    suite: TlsSuite,
    premaster: &[u8],
    transcript: &[u8],
) -> Vec<u8> {
    let hash = context.hash(suite.hash(), &[transcript]);
    prf(
        context,
        suite,
        premaster,
        b"extended master secret",
        &hash,
        48,
    )
}

/// Protection of both ends.
pub struct Protections {
    pub client: Protection,
    pub server: Protection,
}

/// Those of TLS 1.2 (RFC 5246 section 6.3).
pub fn key_block(
    context: &mut Context<'_>,
    suite: TlsSuite,
    master: &[u8],
    client_random: &[u8],
    server_random: &[u8],
) -> Protections {
    let seed = [server_random, client_random].concat();
    let octets = suite.key_octets();
    let block = prf(
        context,
        suite,
        master,
        b"key expansion",
        &seed,
        2 * (octets + 4),
    );
    let (client_key, rest) = block.split_at(octets);
    let (server_key, rest) = rest.split_at(octets);
    let (client_iv, server_iv) = rest.split_at(4);
    Protections {
        client: Protection::tls12(client_key, client_iv),
        server: Protection::tls12(server_key, server_iv),
    }
}

/// verify_data of TLS 1.2 (RFC 5246 section 7.4.9).
pub fn finished12(
    context: &mut Context<'_>,
    suite: TlsSuite,
    master: &[u8],
    client: bool,
    transcript: &[u8],
) -> Vec<u8> {
    let hash = context.hash(suite.hash(), &[transcript]);
    let label: &[u8] = if client {
        b"client finished"
    } else {
        b"server finished"
    };
    prf(context, suite, master, label, &hash, 12)
}

/// HKDF-Expand-Label (RFC 8446 section 7.1).
pub fn expand_label(
    context: &mut Context<'_>,
    suite: TlsSuite,
    secret: &[u8],
    label: &[u8],
    hash: &[u8],
    octets: usize,
) -> Vec<u8> {
    let mut info = u16::try_from(octets)
        .unwrap_or(u16::MAX)
        .to_be_bytes()
        .to_vec();
    info.push(u8::try_from(6 + label.len()).unwrap_or(u8::MAX));
    info.extend(b"tls13 ");
    info.extend(label);
    info.push(u8::try_from(hash.len()).unwrap_or(u8::MAX));
    info.extend(hash);
    context.hkdf_expand(suite.hash(), secret, &info, octets)
}

/// Derive-Secret (RFC 8446 section 7.1).
pub fn derive_secret(
    context: &mut Context<'_>,
    suite: TlsSuite,
    secret: &[u8],
    label: &[u8],
    transcript: &[u8],
) -> Vec<u8> {
    let hash = context.hash(suite.hash(), &[transcript]);
    expand_label(
        context,
        suite,
        secret,
        label,
        &hash,
        suite.hash().digest_octets(),
    )
}

/// The secrets of TLS 1.3 up to the server's Finished.
#[derive(Clone, Default)]
pub struct Secrets13 {
    suite: TlsSuite,
    early: Vec<u8>,
    handshake: Vec<u8>,
    master: Vec<u8>,
    /// Client handshake traffic secret.
    pub client_handshake: Vec<u8>,
    /// Server handshake traffic secret.
    pub server_handshake: Vec<u8>,
    /// Exporter master secret.
    pub exporter: Vec<u8>,
}

impl Secrets13 {
    /// The early secret of a pre-shared key, or of none.
    pub fn early(context: &mut Context<'_>, suite: TlsSuite, psk: Option<&[u8]>) -> Self {
        let zero = vec![0; suite.hash().digest_octets()];
        Self {
            suite,
            early: context.hmac(suite.hash(), &zero, &[psk.unwrap_or(&zero)]),
            ..Self::default()
        }
    }

    /// The binder of a resumption PSK over a ClientHello without its binders (section 4.2.11.2).
    pub fn binder(&self, context: &mut Context<'_>, truncated: &[u8]) -> Vec<u8> {
        let suite = self.suite;
        let key = derive_secret(context, suite, &self.early, b"res binder", &[]);
        let finished = expand_label(
            context,
            suite,
            &key,
            b"finished",
            &[],
            suite.hash().digest_octets(),
        );
        let hash = context.hash(suite.hash(), &[truncated]);
        context.hmac(suite.hash(), &finished, &[&hash])
    }

    /// Goes on with the Diffie-Hellman secret; `transcript` ends with ServerHello.
    pub fn enter_handshake(&mut self, context: &mut Context<'_>, shared: &[u8], transcript: &[u8]) {
        let suite = self.suite;
        let salt = derive_secret(context, suite, &self.early, b"derived", &[]);
        self.handshake = context.hmac(suite.hash(), &salt, &[shared]);
        let handshake = self.handshake.clone();
        self.client_handshake =
            derive_secret(context, suite, &handshake, b"c hs traffic", transcript);
        self.server_handshake =
            derive_secret(context, suite, &handshake, b"s hs traffic", transcript);
    }

    /// Goes on to application keys; `transcript` ends with the server's
    /// Finished.
    pub fn enter_application(
        &mut self,
        context: &mut Context<'_>,
        transcript: &[u8],
    ) -> Protections {
        let suite = self.suite;
        let zero = vec![0; suite.hash().digest_octets()];
        let salt = derive_secret(context, suite, &self.handshake, b"derived", &[]);
        self.master = context.hmac(suite.hash(), &salt, &[&zero]);
        let master = self.master.clone();
        let client = derive_secret(context, suite, &master, b"c ap traffic", transcript);
        let server = derive_secret(context, suite, &master, b"s ap traffic", transcript);
        self.exporter = derive_secret(context, suite, &master, b"exp master", transcript);
        Protections {
            client: Protection::tls13(context, suite, &client),
            server: Protection::tls13(context, suite, &server),
        }
    }

    /// The PSK of a ticket with this nonce; `transcript` ends with the client's Finished.
    pub fn resumption(
        &self,
        context: &mut Context<'_>,
        transcript: &[u8],
        nonce: &[u8],
    ) -> Vec<u8> {
        let suite = self.suite;
        let secret = derive_secret(context, suite, &self.master, b"res master", transcript);
        expand_label(
            context,
            suite,
            &secret,
            b"resumption",
            nonce,
            suite.hash().digest_octets(),
        )
    }
}

/// verify_data of TLS 1.3 (RFC 8446 section 4.4.4).
pub fn finished13(
    context: &mut Context<'_>,
    suite: TlsSuite,
    base: &[u8],
    transcript: &[u8],
) -> Vec<u8> {
    let key = expand_label(
        context,
        suite,
        base,
        b"finished",
        &[],
        suite.hash().digest_octets(),
    );
    let hash = context.hash(suite.hash(), &[transcript]);
    context.hmac(suite.hash(), &key, &[&hash])
}

/// Octets that CertificateVerify of TLS 1.3 signs (RFC 8446 section 4.4.3).
pub fn signed13(
    context: &mut Context<'_>,
    suite: TlsSuite,
    client: bool,
    transcript: &[u8],
) -> Vec<u8> {
    let mut out = vec![0x20; 64];
    let who: &[u8] = if client { b"client" } else { b"server" };
    out.extend(b"TLS 1.3, ");
    out.extend(who);
    out.extend(b" CertificateVerify\0");
    out.extend(context.hash(suite.hash(), &[transcript]));
    out
}

/// The exporter of TLS 1.3 (RFC 8446 section 7.5).
pub fn export13(
    context: &mut Context<'_>,
    suite: TlsSuite,
    exporter: &[u8],
    label: &[u8],
    value: &[u8],
    octets: usize,
) -> Vec<u8> {
    let secret = derive_secret(context, suite, exporter, label, &[]);
    let hash = context.hash(suite.hash(), &[value]);
    expand_label(context, suite, &secret, b"exporter", &hash, octets)
}

#[cfg(test)]
mod tests {
    use super::*;
    use hex_literal::hex;
    use rand_chacha::ChaCha8Rng;
    use rand_chacha::rand_core::SeedableRng;

    #[test]
    fn early_and_derived_secrets_are_those_of_rfc_8448() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let mut cx = Context::new(&mut rng);
        let secrets = Secrets13::early(&mut cx, TlsSuite::default(), None);
        assert_eq!(
            secrets.early,
            hex!("33ad0a1c607ec03b09e6cd9893680ce210adf300aa1f2660e1b22e10f170f92a")
        );
        assert_eq!(
            derive_secret(&mut cx, secrets.suite, &secrets.early, b"derived", &[]),
            hex!("6f2615a108c702c5678f54fc9dbab69716c076189c48250cebeac3576c3611ba")
        );
    }
}
