//! TLS 1.2 and 1.3 handshakes, as EAP-TLS, PEAP and TTLS carry them.
//!
//! Takes a [`TlsConfig`] and whole flights of records; gives flights, exported keys and a
//! session to resume. Suites: AES-GCM with 128 bits and SHA-256 or 256 bits and SHA-384, keys from
//! ECDHE on P-256, P-384 or X25519 or, in 1.2, RSA key transport; certificates RSA-2048, RSA-3072,
//! ECDSA P-256 or P-384. Equal seeds give equal octets.
//! Never splits a flight: `eap` fragments.

pub mod certificate;
mod client;
mod key_share;
mod schedule;
mod server;
mod session;
mod suite;

use airtoll_wire::tls::{
    HandshakeView, RecordView, content, emit_handshake, emit_record, handshake,
};
use serde::{Deserialize, Serialize};

pub use certificate::{ChainKind, Credential};
pub use client::TlsClient;
pub use key_share::NamedGroup;
pub use schedule::prf;
pub use server::TlsServer;
pub use session::Session;
pub use suite::TlsSuite;

use self::schedule::Protection;
use super::exchange::Context;
use super::failure::{Code, Failure, reason};
use super::primitives::written;

/// Which TLS.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub enum TlsVersion {
    /// RFC 5246 with ECDHE.
    #[default]
    #[serde(rename = "1.2")]
    Tls12,
    /// RFC 5246 with RSA key transport, the usual one of the 2000s.
    #[serde(rename = "1.2-rsa")]
    Tls12Rsa,
    /// RFC 8446.
    #[serde(rename = "1.3")]
    Tls13,
}

/// What one end of a handshake is given.
#[derive(Clone)]
pub struct TlsConfig {
    /// Which TLS.
    pub version: TlsVersion,
    /// Which suite.
    pub suite: TlsSuite,
    /// Groups in the place of the suite's usual ones: a client shows a share of the first, a server
    /// asks for the first where it gets a share of none.
    pub groups: Vec<NamedGroup>,
    /// The chain to show; a client without one is anonymous.
    pub credential: Option<Credential>,
    /// The root to trust.
    pub trusted: ChainKind,
    /// Whether the server asks for a client certificate.
    pub client_certificate: bool,
    /// A session to resume; a server without it makes a full handshake.
    pub resume: Option<Session>,
}

/// A handshake that ends: an alert to send, possibly empty, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// Records to send.
    pub alert: Vec<u8>,
    /// Why.
    pub failure: Failure,
}

/// Alert descriptions (RFC 8446 section 6).
mod alert {
    pub const UNEXPECTED_MESSAGE: u8 = 10;
    pub const BAD_RECORD_MAC: u8 = 20;
    pub const HANDSHAKE_FAILURE: u8 = 40;
    pub const ILLEGAL_PARAMETER: u8 = 47;
    pub const UNKNOWN_CA: u8 = 48;
    pub const DECRYPT_ERROR: u8 = 51;
}

const CODE: Code = Code::Reason(reason::IEEE8021X_FAILED);

/// One handshake message or a change of keys, in the order in which they came.
enum Item {
    ChangeCipherSpec,
    Handshake(u8, Vec<u8>, Vec<u8>),
    Data(Vec<u8>),
}

/// The parts that client and server share: keys of both directions and the transcript.
#[derive(Default)]
struct Core {
    suite: TlsSuite,
    write: Option<Protection>,
    read: Option<Protection>,
    transcript: Vec<u8>,
    client_random: Vec<u8>,
    server_random: Vec<u8>,
    master: Vec<u8>,
    secrets13: schedule::Secrets13,
    done: bool,
}

impl Core {
    fn new(suite: TlsSuite) -> Self {
        Self {
            suite,
            ..Self::default()
        }
    }

    /// Puts its hash in the place of the first ClientHello (RFC 8446 section 4.4.1).
    fn hash_first_hello(&mut self, context: &mut Context<'_>) {
        let hash = context.hash(self.suite.hash(), &[&self.transcript]);
        self.transcript = written(|o| emit_handshake(handshake::MESSAGE_HASH, &hash, o));
    }

    /// A record under the current keys, or a plain one.
    fn record(&mut self, context: &mut Context<'_>, kind: u8, octets: &[u8]) -> Vec<u8> {
        match &mut self.write {
            Some(protection) => protection.seal(context, kind, octets),
            None => written(|o| emit_record(kind, 0x0303, octets, o)),
        }
    }

    /// Adds a handshake message to the transcript and to a flight.
    fn handshake(&mut self, flight: &mut Vec<u8>, kind: u8, body: &[u8]) {
        let message = written(|o| emit_handshake(kind, body, o));
        self.transcript.extend(&message);
        flight.extend(message);
    }

    fn refuse(&mut self, context: &mut Context<'_>, description: u8, failure: Failure) -> Refusal {
        Refusal {
            alert: self.record(context, content::ALERT, &[2, description]),
            failure,
        }
    }

    /// The first record of `octets`, opened, split into items; keys may change behind it.
    fn next(
        &mut self,
        context: &mut Context<'_>,
        octets: &mut &[u8],
    ) -> Result<Vec<Item>, Refusal> {
        let wrong = Failure::IntegrityFailure { code: CODE };
        let Ok((record, rest)) = RecordView::split(octets) else {
            return Err(self.refuse(context, alert::UNEXPECTED_MESSAGE, wrong));
        };
        *octets = rest;
        let kind = record.content_type();
        let opened = match &mut self.read {
            Some(protection) if kind != content::CHANGE_CIPHER_SPEC => {
                protection.open(context, &record)
            }
            _ => Some((kind, record.fragment().to_vec())),
        };
        let Some((kind, plain)) = opened else {
            return Err(self.refuse(context, alert::BAD_RECORD_MAC, wrong));
        };
        match kind {
            content::CHANGE_CIPHER_SPEC => Ok(vec![Item::ChangeCipherSpec]),
            content::APPLICATION_DATA => Ok(vec![Item::Data(plain)]),
            content::HANDSHAKE => {
                let mut items = Vec::new();
                let mut left = &plain[..];
                while !left.is_empty() {
                    let Ok((message, rest)) = HandshakeView::split(left) else {
                        return Err(self.refuse(context, alert::UNEXPECTED_MESSAGE, wrong));
                    };
                    items.push(Item::Handshake(
                        message.message_type(),
                        message.body().to_vec(),
                        message.octets().to_vec(),
                    ));
                    left = rest;
                }
                Ok(items)
            }
            content::ALERT => Err(Refusal {
                alert: Vec::new(),
                failure: match plain.get(1) {
                    // bad_certificate to unknown_ca (RFC 8446 section 6.2).
                    Some(42..=48) => Failure::WrongCertificate { code: CODE },
                    _ => wrong,
                },
            }),
            _ => Err(self.refuse(context, alert::UNEXPECTED_MESSAGE, wrong)),
        }
    }

    /// Exported keys: RFC 5705 for 1.2 (without a context), RFC 8446 section 7.5 for 1.3.
    fn export(
        &self,
        context: &mut Context<'_>,
        tls13: bool,
        label: &[u8],
        value: &[u8],
        octets: usize,
    ) -> Vec<u8> {
        if tls13 {
            let exporter = &self.secrets13.exporter;
            return schedule::export13(context, self.suite, exporter, label, value, octets);
        }
        let seed = [&self.client_random[..], &self.server_random].concat();
        schedule::prf(context, self.suite, &self.master, label, &seed, octets)
    }
}

/// A signature with its scheme, as ServerKeyExchange and CertificateVerify carry it.
fn signed(scheme: u16, signature: &[u8]) -> Vec<u8> {
    let mut out = scheme.to_be_bytes().to_vec();
    let length = u16::try_from(signature.len()).unwrap_or(u16::MAX);
    out.extend(length.to_be_bytes());
    out.extend(signature);
    out
}

/// Undoes [`signed`].
fn read_signed(octets: &[u8]) -> Option<(u16, &[u8])> {
    let (scheme, rest) = octets.split_first_chunk::<2>()?;
    let (length, signature) = rest.split_first_chunk::<2>()?;
    (usize::from(u16::from_be_bytes(*length)) == signature.len())
        .then(|| (u16::from_be_bytes(*scheme), signature))
}

/// Octets behind their 16-bit length.
fn vector16(octets: &[u8]) -> Vec<u8> {
    let length = u16::try_from(octets.len()).unwrap_or(u16::MAX);
    let mut out = length.to_be_bytes().to_vec();
    out.extend(octets);
    out
}

/// The random value that makes a ServerHello a HelloRetryRequest (RFC 8446 section 4.1.3).
const RETRY: [u8; 32] = [
    0xcf, 0x21, 0xad, 0x74, 0xe5, 0x9a, 0x61, 0x11, 0xbe, 0x1d, 0x8c, 0x02, 0x1e, 0x65, 0xb8, 0x91,
    0xc2, 0xa2, 0x11, 0x16, 0x7a, 0xbb, 0x8c, 0x5e, 0x07, 0x9e, 0x09, 0xe2, 0xc8, 0xa8, 0x33, 0x9c,
];

#[cfg(test)]
mod tests;
