//! Authentication of IKEv2 by certificates: CERT and CERTREQ (RFC 7296 sections 3.6 and 3.7), and signatures
//! that name their algorithm (RFC 7427; draft-ietf-ipsecme-ikev2-pqc-auth for ML-DSA and SLH-DSA).
//!
//! Takes the chain of both ends and the octets that a proof covers; gives payloads, and checks the other end's.
//! Never keeps a state: the peer does.

use airtoll_wire::isakmp::{Payload, find_payload, payload};

use super::config::notify;
use crate::exchange::Context;
use crate::operation::{HashAlgorithm, SignatureAlgorithm};
use crate::tls::certificate::{key_octets, root, scheme, subject, verify_chain};
use crate::tls::{Chain, Credential};

/// SIGNATURE_HASH_ALGORITHMS (RFC 7427 section 4).
const SIGNATURE_HASH_ALGORITHMS: u16 = 16_431;
/// SHA2-256, SHA2-384 (RFC 7427 section 7) and Identity (RFC 8420 section 2), which ML-DSA and SLH-DSA use.
const HASHES: [u8; 6] = [0, 2, 0, 3, 0, 5];
/// X.509 Certificate - Signature (RFC 7296 section 3.6).
const X509_SIGNATURE: u8 = 4;
/// ID_DER_ASN1_DN (RFC 7296 section 3.5).
const DISTINGUISHED_NAME: u8 = 9;
/// Digital Signature (RFC 7427 section 3).
pub(super) const DIGITAL_SIGNATURE: u8 = 14;

/// One end's certificates, and the root that it trusts.
pub(super) struct Certificates {
    own: Credential,
    root: Vec<u8>,
}

impl Certificates {
    /// Those of the initiator or the responder; a `rogue` responder's chain ends in another root.
    pub fn new(chain: Chain, initiator: bool, rogue: bool) -> Self {
        Self {
            own: if initiator {
                Credential::client(chain)
            } else if rogue {
                Credential::rogue_server()
            } else {
                Credential::server(chain)
            },
            root: root(chain),
        }
    }

    /// The body of the identification payload: the subject of the own certificate.
    pub fn identity(&self) -> Vec<u8> {
        let own = self.own.chain().first();
        let subject = own.and_then(|own| subject(own)).unwrap_or_default();
        [&[DISTINGUISHED_NAME, 0, 0, 0][..], &subject].concat()
    }

    /// A payload for each certificate below the root, the own one first.
    pub fn payloads(&self) -> Vec<Payload> {
        let chain = self.own.chain().iter();
        chain
            .map(|der| {
                let body = [&[X509_SIGNATURE], &der[..]].concat();
                (payload::CERTIFICATE, body)
            })
            .collect()
    }

    /// The hashes with which this end verifies signatures.
    pub fn hashes() -> Payload {
        notify(SIGNATURE_HASH_ALGORITHMS, &HASHES)
    }

    /// Asks for a certificate under the trusted root, which its key's hash names.
    pub fn request(&self, context: &mut Context<'_>) -> Payload {
        let key = key_octets(&self.root).unwrap_or_default();
        let hash = context.hash(HashAlgorithm::Sha1, &[&key]);
        let body = [&[X509_SIGNATURE], &hash[..]].concat();
        (payload::CERTIFICATE_REQUEST, body)
    }

    /// The body of the authentication payload.
    pub fn proof(&self, context: &mut Context<'_>, covered: &[u8]) -> Vec<u8> {
        let algorithm = identifier(self.own.kind().leaf());
        let length = u8::try_from(algorithm.len()).unwrap_or(u8::MAX);
        let signature = self.own.sign(context, false, covered);
        [
            &[DIGITAL_SIGNATURE, 0, 0, 0, length],
            &algorithm[..],
            &signature,
        ]
        .concat()
    }

    /// Whether these payloads have a chain under the trusted root, whose subject is this identity and whose
    /// key signed what the proof covers.
    pub fn accepts(
        &self,
        context: &mut Context<'_>,
        payloads: &[Payload],
        identity: &[u8],
        covered: &[u8],
    ) -> bool {
        self.checked(context, payloads, identity, covered) == Some(true)
    }

    fn checked(
        &self,
        context: &mut Context<'_>,
        payloads: &[Payload],
        identity: &[u8],
        covered: &[u8],
    ) -> Option<bool> {
        let chain: Vec<Vec<u8>> = payloads
            .iter()
            .filter(|(kind, _)| *kind == payload::CERTIFICATE)
            .filter_map(|(_, body)| body.strip_prefix(&[X509_SIGNATURE]))
            .map(<[u8]>::to_vec)
            .collect();
        let own_name = subject(chain.first()?)?;
        let named = identity.get(4..)? == own_name && identity.first() == Some(&DISTINGUISHED_NAME);
        let key = verify_chain(context, &chain, &self.root)?;
        let auth = find_payload(payloads, payload::AUTHENTICATION)?;
        let (&length, rest) = auth.get(4..)?.split_first()?;
        let (algorithm, signature) = rest.split_at_checked(usize::from(length))?;
        let scheme = ALGORITHMS
            .into_iter()
            .find(|known| identifier(*known) == algorithm)
            .map(scheme)?;
        let signed = auth.first() == Some(&DIGITAL_SIGNATURE)
            && key.verify(context, scheme, covered, signature);
        Some(named && signed)
    }
}

/// Algorithms with identifiers of their own.
const ALGORITHMS: [SignatureAlgorithm; 10] = [
    SignatureAlgorithm::Rsa2048,
    SignatureAlgorithm::Rsa3072,
    SignatureAlgorithm::EcdsaP256,
    SignatureAlgorithm::EcdsaP384,
    SignatureAlgorithm::MlDsa44,
    SignatureAlgorithm::MlDsa65,
    SignatureAlgorithm::MlDsa87,
    SignatureAlgorithm::SlhDsaSha2128s,
    SignatureAlgorithm::Falcon512,
    SignatureAlgorithm::Falcon1024,
];

/// The DER AlgorithmIdentifier of a signature: RSA with PKCS#1 v1.5 (RFC 7427 appendix A), ECDSA (appendix
/// A.3), ML-DSA (RFC 9881 section 2) and SLH-DSA (RFC 9909 section 3); oqs-provider's for Falcon.
fn identifier(algorithm: SignatureAlgorithm) -> Vec<u8> {
    let rsa = |last| {
        vec![
            0x30, 13, 6, 9, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 1, last, 5, 0,
        ]
    };
    let ecdsa = |last| vec![0x30, 10, 6, 8, 0x2a, 0x86, 0x48, 0xce, 0x3d, 4, 3, last];
    let nist = |last| vec![0x30, 11, 6, 9, 0x60, 0x86, 0x48, 1, 0x65, 3, 4, 3, last];
    let oqs = |last| vec![0x30, 7, 6, 5, 0x2b, 0xce, 0x0f, 3, last];
    match algorithm {
        SignatureAlgorithm::Rsa2048 => rsa(11),
        SignatureAlgorithm::Rsa3072 => rsa(12),
        SignatureAlgorithm::EcdsaP256 => ecdsa(2),
        SignatureAlgorithm::EcdsaP384 => ecdsa(3),
        SignatureAlgorithm::MlDsa44 => nist(17),
        SignatureAlgorithm::MlDsa65 => nist(18),
        SignatureAlgorithm::MlDsa87 => nist(19),
        SignatureAlgorithm::SlhDsaSha2128s => nist(20),
        SignatureAlgorithm::Falcon512 => oqs(16),
        SignatureAlgorithm::Falcon1024 => oqs(19),
    }
}
