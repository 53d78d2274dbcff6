//! TLS 1.2 and 1.3 handshakes, as EAP-TLS and the methods that tunnel in TLS carry them.
//!
//! Takes a [`TlsConfig`] and whole flights of records; gives flights, exported keys and a
//! session to resume. Suites: AES-GCM with 128 bits and SHA-256 or 256 bits and SHA-384, keys from
//! ECDHE on P-256, P-384 or X25519, in 1.3 also ML-KEM with or without a curve or, in 1.2, RSA key
//! transport; certificates RSA-2048, RSA-3072, ECDSA P-256 or P-384, in 1.3 also ML-DSA and SLH-DSA.
//! Equal seeds give equal octets.
//! Never splits a flight: `eap` fragments.

mod authority;
mod by_size;
pub mod certificate;
mod chain;
mod client;
mod compression;
mod connection;
pub mod flights;
mod key_share;
mod private_key;
mod rsa_key;
mod schedule;
mod server;
mod session;
mod suite;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use certificate::Credential;
pub use chain::Chain;
pub use client::TlsClient;
pub use connection::Connection;
pub use key_share::NamedGroup;
pub use schedule::prf;
pub use server::TlsServer;
pub use session::Session;
pub use suite::TlsSuite;

use crate::failure::{Code, Failure, reason};

/// Which TLS.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, JsonSchema)]
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

/// Settings of one end of a handshake.
#[derive(Clone)]
pub struct TlsConfig {
    /// Which TLS.
    pub version: TlsVersion,
    /// Which suite.
    pub suite: TlsSuite,
    /// Groups that replace the suite's: a client shows a share of the first, a server requests the
    /// first if it gets a share of none.
    pub groups: Vec<NamedGroup>,
    /// The chain to show; a client without one is anonymous.
    pub credential: Option<Credential>,
    /// The root to trust.
    pub trusted: Chain,
    /// Whether the server asks for a client certificate.
    pub client_certificate: bool,
    /// Whether this end takes and sends compressed certificates (RFC 8879), in TLS 1.3.
    pub certificate_compression: bool,
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
    pub const BAD_CERTIFICATE: u8 = 42;
    pub const ILLEGAL_PARAMETER: u8 = 47;
    pub const UNKNOWN_CA: u8 = 48;
    pub const DECRYPT_ERROR: u8 = 51;
}

const CODE: Code = Code::Reason(reason::IEEE8021X_FAILED);

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
