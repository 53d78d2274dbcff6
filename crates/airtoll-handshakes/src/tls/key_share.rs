//! Ephemeral keys of TLS (RFC 8422 section 5.4, RFC 8446 section 4.2.8), those with ML-KEM among them
//! (draft-ietf-tls-ecdhe-mlkem, draft-ietf-tls-mlkem).
//!
//! Takes a group and a random source; gives a share as TLS writes it and the secret with another's.
//! Never chooses a group: `client` and `server` do.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::crypto::diffie_hellman::BASE_POINT;
use crate::crypto::ec_group::Group;
use crate::crypto::kem::KemKey;
use crate::exchange::Context;
use crate::operation::{Curve, KemAlgorithm};

/// A named group (RFC 8446 section 4.2.7).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum NamedGroup {
    /// NIST P-256.
    Secp256r1,
    /// NIST P-384.
    Secp384r1,
    /// Curve25519.
    X25519,
    /// ML-KEM-768 and X25519 (draft-ietf-tls-ecdhe-mlkem).
    #[serde(rename = "x25519mlkem768")]
    X25519MlKem768,
    /// P-256 and ML-KEM-768.
    #[serde(rename = "secp256r1mlkem768")]
    Secp256r1MlKem768,
    /// P-384 and ML-KEM-1024.
    #[serde(rename = "secp384r1mlkem1024")]
    Secp384r1MlKem1024,
    /// ML-KEM-512 alone (draft-ietf-tls-mlkem).
    #[serde(rename = "mlkem512")]
    MlKem512,
    /// ML-KEM-768 alone.
    #[serde(rename = "mlkem768")]
    MlKem768,
    /// ML-KEM-1024 alone.
    #[serde(rename = "mlkem1024")]
    MlKem1024,
}

impl NamedGroup {
    /// Its code point (IANA "TLS Supported Groups").
    #[must_use]
    pub const fn number(self) -> u16 {
        match self {
            Self::Secp256r1 => 23,
            Self::Secp384r1 => 24,
            Self::X25519 => 29,
            Self::MlKem512 => 0x0200,
            Self::MlKem768 => 0x0201,
            Self::MlKem1024 => 0x0202,
            Self::Secp256r1MlKem768 => 0x11eb,
            Self::X25519MlKem768 => 0x11ec,
            Self::Secp384r1MlKem1024 => 0x11ed,
        }
    }

    /// The KEM in it; `None` in a group of elliptic curves alone. A KEM needs TLS 1.3.
    #[must_use]
    pub const fn kem(self) -> Option<KemAlgorithm> {
        match self {
            Self::Secp256r1 | Self::Secp384r1 | Self::X25519 => None,
            Self::MlKem512 => Some(KemAlgorithm::MlKem512),
            Self::X25519MlKem768 | Self::Secp256r1MlKem768 | Self::MlKem768 => {
                Some(KemAlgorithm::MlKem768)
            }
            Self::Secp384r1MlKem1024 | Self::MlKem1024 => Some(KemAlgorithm::MlKem1024),
        }
    }

    /// The curve in it.
    const fn curve(self) -> Option<Curve> {
        match self {
            Self::Secp256r1 | Self::Secp256r1MlKem768 => Some(Curve::P256),
            Self::Secp384r1 | Self::Secp384r1MlKem1024 => Some(Curve::P384),
            Self::X25519 | Self::X25519MlKem768 => Some(Curve::X25519),
            Self::MlKem512 | Self::MlKem768 | Self::MlKem1024 => None,
        }
    }

    /// Both parts in the order of the wire: the KEM's goes first with X25519 alone
    /// (draft-ietf-tls-ecdhe-mlkem section 3).
    fn join(self, curve: Vec<u8>, kem: Vec<u8>) -> Vec<u8> {
        match self {
            Self::X25519MlKem768 => [kem, curve].concat(),
            _ => [curve, kem].concat(),
        }
    }

    /// Undoes [`Self::join`] of a KEM's part with this many octets.
    fn split(self, octets: &[u8], kem: usize) -> Option<Parts<'_>> {
        let (curve, kem) = match self {
            Self::X25519MlKem768 => {
                let (kem, curve) = octets.split_at_checked(kem)?;
                (curve, kem)
            }
            _ => octets.split_at_checked(octets.len().checked_sub(kem)?)?,
        };
        Some(Parts { curve, kem })
    }
}

/// Parts of a share.
struct Parts<'a> {
    curve: &'a [u8],
    kem: &'a [u8],
}

/// A share in answer to another, and the secret of both.
pub struct Answered {
    pub share: Vec<u8>,
    pub secret: Vec<u8>,
}

#[derive(Clone)]
enum Private {
    Scalar(Group, Vec<u8>),
    X25519([u8; 32]),
}

impl Private {
    fn draw(context: &mut Context<'_>, curve: Curve) -> Option<Self> {
        // IANA's numbers of the curves in IKE and SAE.
        let number = match curve {
            Curve::P256 => 19,
            Curve::P384 => 20,
            Curve::P521 => 21,
            Curve::X25519 => return Some(Self::X25519(context.random())),
        };
        let group = Group::from_number(number)?;
        let scalar = group.random_scalar(context);
        Some(Self::Scalar(group, scalar))
    }

    fn public(&self, context: &mut Context<'_>) -> Vec<u8> {
        match self {
            Self::Scalar(curve, scalar) => {
                let mut out = vec![4];
                out.extend(curve.multiply_base(context, scalar).unwrap_or_default());
                out
            }
            Self::X25519(secret) => context.x25519(secret, &BASE_POINT).to_vec(),
        }
    }

    fn agree(&self, context: &mut Context<'_>, theirs: &[u8]) -> Option<Vec<u8>> {
        match self {
            Self::Scalar(curve, scalar) => {
                let (form, point) = theirs.split_first()?;
                let shared = curve.agree(context, point, scalar)?;
                (*form == 4).then_some(shared)
            }
            Self::X25519(secret) => {
                let shared = context.x25519(secret, &theirs.try_into().ok()?);
                // A share of low order would make the secret a public constant.
                (shared != [0; 32]).then(|| shared.to_vec())
            }
        }
    }
}

/// An ephemeral private key.
#[derive(Clone)]
pub struct KeyShare {
    group: NamedGroup,
    curve: Option<Private>,
    kem: Option<KemKey>,
}

impl KeyShare {
    /// A new key of the end that shows its share first.
    pub fn draw(context: &mut Context<'_>, group: NamedGroup) -> Self {
        let kem = group.kem().map(|kem| KemKey::draw(context, kem));
        Self {
            kem,
            ..Self::draw_answering(context, group)
        }
    }

    /// A new key of the end that answers a share: it encapsulates, and so needs no key of a KEM.
    pub fn draw_answering(context: &mut Context<'_>, group: NamedGroup) -> Self {
        let curve = group
            .curve()
            .and_then(|curve| Private::draw(context, curve));
        Self {
            group,
            curve,
            kem: None,
        }
    }

    /// The group it is of.
    pub const fn group(&self) -> NamedGroup {
        self.group
    }

    /// The public key: an uncompressed point or the 32 octets of X25519, and the encapsulation key of
    /// the end that shows its share first.
    pub fn public(&self, context: &mut Context<'_>) -> Vec<u8> {
        let curve = self.curve.as_ref().map(|key| key.public(context));
        let kem = self.kem.as_ref().map(KemKey::public);
        self.group
            .join(curve.unwrap_or_default(), kem.unwrap_or_default())
    }

    /// The secret shared with an answer to our share; `None` for one that is no point of the curve or
    /// no ciphertext.
    pub fn agree(&self, context: &mut Context<'_>, theirs: &[u8]) -> Option<Vec<u8>> {
        let octets = self.group.kem().map_or(0, KemAlgorithm::ciphertext_octets);
        let Parts {
            curve: point,
            kem: ciphertext,
        } = self.group.split(theirs, octets)?;
        let kem = match &self.kem {
            Some(key) => key.decapsulate(context, ciphertext)?,
            None => Vec::new(),
        };
        Some(self.group.join(self.with_point(context, point)?, kem))
    }

    /// Our share in answer to another, and the secret; `None` for one that is no point of the curve or
    /// no encapsulation key.
    pub fn answer(&self, context: &mut Context<'_>, theirs: &[u8]) -> Option<Answered> {
        let octets = self.group.kem().map_or(0, KemAlgorithm::key_octets);
        let Parts {
            curve: point,
            kem: key,
        } = self.group.split(theirs, octets)?;
        let own = self.public(context);
        let (ciphertext, kem) = match self.group.kem() {
            Some(algorithm) => {
                let made = algorithm.encapsulate(context, key)?;
                (made.ciphertext, made.secret)
            }
            None => (Vec::new(), Vec::new()),
        };
        let curve = self.with_point(context, point)?;
        Some(Answered {
            share: self.group.join(own, ciphertext),
            secret: self.group.join(curve, kem),
        })
    }

    fn with_point(&self, context: &mut Context<'_>, point: &[u8]) -> Option<Vec<u8>> {
        match &self.curve {
            Some(key) => key.agree(context, point),
            None => point.is_empty().then(Vec::new),
        }
    }
}
