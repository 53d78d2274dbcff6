//! Keys and signatures that have the sizes of an algorithm and made-up octets.
//!
//! Takes Falcon's parameter sets in the padded format (Falcon specification 1.2, section 3.11 and table
//! 3.3); gives public keys and signatures of their lengths. A signature is right if it follows from key
//! and message by a hash: it protects nothing, and no other implementation takes it.

use p256::ecdsa::signature::{Error, Keypair, Signer};
use sha2::{Digest, Sha256};
use x509_cert::der::asn1::{BitString, ObjectIdentifier};
use x509_cert::der::{Document, Encode};
use x509_cert::spki::{
    self, AlgorithmIdentifierOwned, DynSignatureAlgorithmIdentifier, EncodePublicKey,
    SignatureBitStringEncoding, SubjectPublicKeyInfo, SubjectPublicKeyInfoOwned,
};

use crate::operation::SignatureAlgorithm;

/// Lengths and identifier of an algorithm.
struct Sizes {
    /// Object identifier of key and signature.
    identifier: ObjectIdentifier,
    public: usize,
    signature: usize,
}

/// Lengths of the Falcon specification; identifiers of oqs-provider (`ALGORITHMS.md`, falconpadded512 and
/// falconpadded1024).
fn sizes(algorithm: SignatureAlgorithm) -> Option<Sizes> {
    let of = |last, public, signature| Sizes {
        identifier: ObjectIdentifier::new_unwrap(last),
        public,
        signature,
    };
    match algorithm {
        SignatureAlgorithm::Falcon512 => Some(of("1.3.9999.3.16", 897, 666)),
        SignatureAlgorithm::Falcon1024 => Some(of("1.3.9999.3.19", 1793, 1280)),
        _ => None,
    }
}

/// A key pair: the public key, from which signatures follow.
#[derive(Clone)]
pub struct SizedKey {
    algorithm: SignatureAlgorithm,
    public: Vec<u8>,
}

/// A signature.
#[derive(Clone, PartialEq)]
pub(super) struct SizedSignature(Vec<u8>);

impl SizedKey {
    /// The key that follows from a seed; `None` for an algorithm with keys of its own.
    pub fn new(algorithm: SignatureAlgorithm, seed: &[u8]) -> Option<Self> {
        let mut public = made_up(&[b"public key", seed], sizes(algorithm)?.public);
        // The header of an encoded public key: the logarithm of the degree.
        public[0] = match algorithm {
            SignatureAlgorithm::Falcon512 => 9,
            _ => 10,
        };
        Some(Self { algorithm, public })
    }

    /// The key of a certificate.
    pub fn read(info: &SubjectPublicKeyInfoOwned) -> Option<Self> {
        let algorithm = [
            SignatureAlgorithm::Falcon512,
            SignatureAlgorithm::Falcon1024,
        ]
        .into_iter()
        .find(|algorithm| sizes(*algorithm).map(|s| s.identifier) == Some(info.algorithm.oid))?;
        let public = info.subject_public_key.as_bytes()?.to_vec();
        (public.len() == sizes(algorithm)?.public).then_some(Self { algorithm, public })
    }

    /// Its algorithm.
    pub const fn algorithm(&self) -> SignatureAlgorithm {
        self.algorithm
    }

    /// The octets that stand for a signature of this message.
    pub fn signature(&self, message: &[u8]) -> Vec<u8> {
        let octets = sizes(self.algorithm).map_or(0, |sizes| sizes.signature);
        made_up(&[b"signature", &self.public, message], octets)
    }
}

/// Octets that follow from a text.
fn made_up(text: &[&[u8]], octets: usize) -> Vec<u8> {
    let digest = text
        .iter()
        .fold(Sha256::new(), |hash, part| hash.chain_update(part))
        .finalize();
    let mut out = Vec::with_capacity(octets + 32);
    let mut counter = 0_u32;
    while out.len() < octets {
        let block = Sha256::new()
            .chain_update(digest)
            .chain_update(counter.to_be_bytes())
            .finalize();
        out.extend_from_slice(&block);
        counter += 1;
    }
    out.truncate(octets);
    out
}

impl Keypair for SizedKey {
    type VerifyingKey = Self;

    fn verifying_key(&self) -> Self {
        self.clone()
    }
}

impl Signer<SizedSignature> for SizedKey {
    fn try_sign(&self, message: &[u8]) -> Result<SizedSignature, Error> {
        Ok(SizedSignature(self.signature(message)))
    }
}

impl DynSignatureAlgorithmIdentifier for SizedKey {
    fn signature_algorithm_identifier(&self) -> spki::Result<AlgorithmIdentifierOwned> {
        let sizes = sizes(self.algorithm).ok_or(spki::Error::KeyMalformed)?;
        Ok(AlgorithmIdentifierOwned {
            oid: sizes.identifier,
            parameters: None,
        })
    }
}

impl EncodePublicKey for SizedKey {
    fn to_public_key_der(&self) -> spki::Result<Document> {
        let info = SubjectPublicKeyInfo {
            algorithm: self.signature_algorithm_identifier()?,
            subject_public_key: BitString::from_bytes(&self.public)?,
        };
        Ok(Document::try_from(info.to_der()?)?)
    }
}

impl SignatureBitStringEncoding for SizedSignature {
    fn to_bitstring(&self) -> x509_cert::der::Result<BitString> {
        BitString::from_bytes(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_and_signatures_have_the_lengths_of_the_specification() {
        for (algorithm, public, signature) in [
            (SignatureAlgorithm::Falcon512, 897, 666),
            (SignatureAlgorithm::Falcon1024, 1793, 1280),
        ] {
            let key = SizedKey::new(algorithm, b"seed").unwrap();
            assert_eq!(key.public.len(), public);
            assert_eq!(key.signature(b"message").len(), signature);
            assert_ne!(key.signature(b"message"), key.signature(b"massage"));
            let other = SizedKey::new(algorithm, b"other").unwrap();
            assert_ne!(key.signature(b"message"), other.signature(b"message"));
        }
        assert!(SizedKey::new(SignatureAlgorithm::MlDsa44, b"seed").is_none());
    }
}
