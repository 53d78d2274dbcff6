//! Cipher suites, and what goes with them: hash, key length, signature schemes.
//!
//! Takes a strength, a version and a kind of certificate; gives code points. Never negotiates:
//! each end offers and takes one strength only.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Chain, NamedGroup, TlsVersion};
use crate::operation::HashAlgorithm;

/// How strong the records and the key schedule are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TlsSuite {
    /// AES-128-GCM with SHA-256, keys from P-256.
    #[default]
    Aes128GcmSha256,
    /// AES-256-GCM with SHA-384, keys from P-384: WPA3-Enterprise 192-bit mode (WPA3 specification
    /// section 3.5, RFC 6460).
    Aes256GcmSha384,
}

impl TlsSuite {
    /// The hash of key schedule and transcript.
    #[must_use]
    pub const fn hash(self) -> HashAlgorithm {
        match self {
            Self::Aes128GcmSha256 => HashAlgorithm::Sha256,
            Self::Aes256GcmSha384 => HashAlgorithm::Sha384,
        }
    }

    /// Octets of a record key.
    #[must_use]
    pub const fn key_octets(self) -> usize {
        match self {
            Self::Aes128GcmSha256 => 16,
            Self::Aes256GcmSha384 => 32,
        }
    }

    /// The code point for a version and a chain (RFC 5288, RFC 5289, RFC 8446 appendix B.4).
    #[must_use]
    pub const fn number(self, version: TlsVersion, chain: Chain) -> u16 {
        let strong = matches!(self, Self::Aes256GcmSha384);
        match version {
            TlsVersion::Tls13 => 0x1301 + strong as u16,
            TlsVersion::Tls12Rsa => 0x009c + strong as u16,
            TlsVersion::Tls12 if chain.leaf().is_rsa() => 0xc02f + strong as u16,
            TlsVersion::Tls12 => 0xc02b + strong as u16,
        }
    }

    /// The groups that a client offers with it, its share being of the first.
    #[must_use]
    pub const fn offered(self) -> &'static [NamedGroup] {
        match self {
            Self::Aes128GcmSha256 => &[NamedGroup::Secp256r1],
            Self::Aes256GcmSha384 => &[NamedGroup::Secp384r1],
        }
    }

    /// The groups that a server takes with it, the one that it asks for first.
    #[must_use]
    pub const fn taken(self) -> &'static [NamedGroup] {
        match self {
            Self::Aes128GcmSha256 => &[NamedGroup::Secp256r1, NamedGroup::X25519],
            Self::Aes256GcmSha384 => &[NamedGroup::Secp384r1],
        }
    }
}
