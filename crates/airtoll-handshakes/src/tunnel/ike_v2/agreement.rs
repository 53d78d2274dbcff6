//! Key exchanges of IKEv2 by their transform identifier (IANA, transform type 4): Diffie-Hellman and ML-KEM.
//!
//! Takes an identifier and the other end's value; gives our value and the shared secret. One form for the
//! exchange in IKE_SA_INIT and for those that follow it (RFC 9370). The identifiers of ML-KEM are those of
//! draft-ietf-ipsecme-ikev2-mlkem.

use crate::crypto::diffie_hellman::DiffieHellman;
use crate::crypto::kem::{Encapsulated, KemKey};
use crate::exchange::Context;
use crate::operation::KemAlgorithm;

impl KemAlgorithm {
    /// Identifier of its transform in IKEv2.
    pub(super) const fn transform(self) -> u16 {
        match self {
            Self::MlKem512 => 35,
            Self::MlKem768 => 36,
            Self::MlKem1024 => 37,
        }
    }

    fn of_transform(identifier: u16) -> Option<Self> {
        [Self::MlKem512, Self::MlKem768, Self::MlKem1024]
            .into_iter()
            .find(|kem| kem.transform() == identifier)
    }
}

/// Our secret part of a key exchange.
pub(super) enum Agreement {
    /// A secret of a group.
    DiffieHellman(DiffieHellman),
    /// The initiator's key of ML-KEM.
    Decapsulates(KemKey),
    /// The secret that the responder encapsulated.
    Agreed(Vec<u8>),
}

impl Agreement {
    /// The initiator's part, and the value that it sends.
    pub(super) fn asked(context: &mut Context<'_>, identifier: u16) -> Option<(Self, Vec<u8>)> {
        if let Some(kem) = KemAlgorithm::of_transform(identifier) {
            let key = KemKey::draw(context, kem);
            let public = key.public();
            return Some((Self::Decapsulates(key), public));
        }
        let secret = DiffieHellman::draw(context, identifier)?;
        let public = secret.public(context);
        Some((Self::DiffieHellman(secret), public))
    }

    /// The responder's part, and the value that it sends for the initiator's.
    pub(super) fn answered(
        context: &mut Context<'_>,
        identifier: u16,
        asked: &[u8],
    ) -> Option<(Self, Vec<u8>)> {
        match KemAlgorithm::of_transform(identifier) {
            Some(kem) => {
                let Encapsulated { ciphertext, secret } = kem.encapsulate(context, asked)?;
                Some((Self::Agreed(secret), ciphertext))
            }
            None => Self::asked(context, identifier),
        }
    }

    /// The shared secret; `None` for a value that is none of this key exchange.
    pub(super) fn shared(&self, context: &mut Context<'_>, value: &[u8]) -> Option<Vec<u8>> {
        match self {
            Self::DiffieHellman(secret) => secret.shared(context, value),
            Self::Decapsulates(key) => key.decapsulate(context, value),
            Self::Agreed(secret) => Some(secret.clone()),
        }
    }
}
