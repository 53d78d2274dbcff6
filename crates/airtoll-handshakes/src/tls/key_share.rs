//! Ephemeral keys of TLS (RFC 8422 section 5.4, RFC 8446 section 4.2.8).
//!
//! Takes a group and a random source; gives a share as TLS writes it and the secret with another's.
//! Never chooses a group: `client` and `server` do.

use num_bigint::BigUint;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ec_group::Group;
use crate::exchange::Context;

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
}

impl NamedGroup {
    /// Its code point.
    #[must_use]
    pub const fn number(self) -> u16 {
        match self {
            Self::Secp256r1 => 23,
            Self::Secp384r1 => 24,
            Self::X25519 => 29,
        }
    }

    /// IANA's number of the curve in IKE and SAE; `None` for one that `ec_group` has not.
    const fn curve(self) -> Option<u16> {
        match self {
            Self::Secp256r1 => Some(19),
            Self::Secp384r1 => Some(20),
            Self::X25519 => None,
        }
    }
}

#[derive(Clone)]
enum Private {
    Scalar(Group, BigUint),
    X25519([u8; 32]),
}

/// An ephemeral private key.
#[derive(Clone)]
pub struct KeyShare {
    group: NamedGroup,
    private: Private,
}

impl KeyShare {
    /// A new key.
    pub fn draw(context: &mut Context<'_>, group: NamedGroup) -> Self {
        let curve = group.curve().and_then(Group::from_number);
        let private = match curve {
            Some(curve) => {
                let scalar = curve.random_scalar(context);
                Private::Scalar(curve, scalar)
            }
            None => Private::X25519(context.random()),
        };
        Self { group, private }
    }

    /// The group it is of.
    pub const fn group(&self) -> NamedGroup {
        self.group
    }

    /// The public key: an uncompressed point, or the 32 octets of X25519.
    pub fn public(&self, context: &mut Context<'_>) -> Vec<u8> {
        match &self.private {
            Private::Scalar(curve, scalar) => {
                let mut out = vec![4];
                out.extend(curve.multiply_base(context, scalar).unwrap_or_default());
                out
            }
            Private::X25519(secret) => context
                .x25519(secret, &x25519_dalek::X25519_BASEPOINT_BYTES)
                .to_vec(),
        }
    }

    /// The secret shared with another's public key; `None` for one that is no point of the group.
    pub fn agree(&self, context: &mut Context<'_>, theirs: &[u8]) -> Option<Vec<u8>> {
        match &self.private {
            Private::Scalar(curve, scalar) => {
                let (form, point) = theirs.split_first()?;
                let shared = curve.multiply(context, point, scalar)?;
                (*form == 4).then(|| shared[..curve.octets()].to_vec())
            }
            Private::X25519(secret) => {
                let shared = context.x25519(secret, &theirs.try_into().ok()?);
                // A share of low order would make the secret a public constant.
                (shared != [0; 32]).then(|| shared.to_vec())
            }
        }
    }
}
