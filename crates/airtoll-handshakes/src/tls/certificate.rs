//! Certificate chains and signatures for TLS: real X.509, real RSA (2048 and 3072 bits), ECDSA (P-256 and
//! P-384), ML-DSA and SLH-DSA.
//!
//! Takes DER chains (the committed ones of `fixtures`, made by `fixtures/make.sh` with OpenSSL, where all
//! keys are of one classical algorithm; else those of `authority`); gives signatures, and the public
//! key of a chain that ends in a trusted root. Never checks a validity time, because there is no clock
//! here, and no revocation.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use ml_dsa::{MlDsa44, MlDsa65, MlDsa87};
use p256::ecdsa::signature::{SignatureEncoding, Signer, Verifier};
use rsa::Pkcs1v15Encrypt;
use rsa::pkcs8::{DecodePrivateKey, DecodePublicKey, EncodePrivateKey};
use slh_dsa::Sha2_128s;
use x509_cert::Certificate;
use x509_cert::der::{Decode, Encode};

use super::authority::{self, Holder};
use super::by_size::SizedKey;
use super::chain::{
    Chain, ECDSA_P256_SHA256, ECDSA_P384_SHA384, RSA_PKCS1_SHA256, RSA_PKCS1_SHA384,
    RSA_PSS_SHA256, RSA_PSS_SHA384,
};
use super::private_key::PrivateKey;
use super::rsa_key::{RsaKey, RsaScheme, RsaVerifier};
use crate::exchange::Context;
use crate::operation::{HashAlgorithm, Operation, SignatureAlgorithm};

/// Committed certificates of one algorithm, and the keys of both leaves.
struct Fixture {
    root: &'static [u8],
    issuing: &'static [u8],
    server: (&'static [u8], &'static [u8]),
    client: (&'static [u8], &'static [u8]),
}

impl Fixture {
    fn of(chain: Chain) -> Option<Self> {
        Some(match chain {
            Chain::RSA_2048 => Self {
                root: include_bytes!("fixtures/rsa-root.der"),
                issuing: include_bytes!("fixtures/rsa-issuing.der"),
                server: (
                    include_bytes!("fixtures/rsa-server.der"),
                    include_bytes!("fixtures/rsa-server.key.der"),
                ),
                client: (
                    include_bytes!("fixtures/rsa-client.der"),
                    include_bytes!("fixtures/rsa-client.key.der"),
                ),
            },
            Chain::P256 => Self {
                root: include_bytes!("fixtures/p256-root.der"),
                issuing: include_bytes!("fixtures/p256-issuing.der"),
                server: (
                    include_bytes!("fixtures/p256-server.der"),
                    include_bytes!("fixtures/p256-server.key.der"),
                ),
                client: (
                    include_bytes!("fixtures/p256-client.der"),
                    include_bytes!("fixtures/p256-client.key.der"),
                ),
            },
            Chain::RSA_3072 => Self {
                root: include_bytes!("fixtures/rsa3072-root.der"),
                issuing: include_bytes!("fixtures/rsa3072-issuing.der"),
                server: (
                    include_bytes!("fixtures/rsa3072-server.der"),
                    include_bytes!("fixtures/rsa3072-server.key.der"),
                ),
                client: (
                    include_bytes!("fixtures/rsa3072-client.der"),
                    include_bytes!("fixtures/rsa3072-client.key.der"),
                ),
            },
            Chain::P384 => Self {
                root: include_bytes!("fixtures/p384-root.der"),
                issuing: include_bytes!("fixtures/p384-issuing.der"),
                server: (
                    include_bytes!("fixtures/p384-server.der"),
                    include_bytes!("fixtures/p384-server.key.der"),
                ),
                client: (
                    include_bytes!("fixtures/p384-client.der"),
                    include_bytes!("fixtures/p384-client.key.der"),
                ),
            },
            _ => return None,
        })
    }
}

/// The root of a chain, which both ends trust; empty where it could not be made.
#[must_use]
pub fn root(chain: Chain) -> Vec<u8> {
    match Fixture::of(chain) {
        Some(fixture) => fixture.root.to_vec(),
        None => authority::root(chain).unwrap_or_default(),
    }
}

/// Credentials that were asked for: every handshake needs them, and an RSA key takes long to read.
static READ: Mutex<BTreeMap<(Chain, Holder), Credential>> = Mutex::new(BTreeMap::new());

/// A chain without its root, and the key of its first certificate.
#[derive(Clone)]
pub struct Credential {
    kind: Chain,
    chain: Vec<Vec<u8>>,
    key: Option<PrivateKey>,
}

impl Credential {
    /// The RADIUS server's chain.
    #[must_use]
    pub fn server(chain: Chain) -> Self {
        Self::known(chain, Holder::Server)
    }

    /// The station's chain.
    #[must_use]
    pub fn client(chain: Chain) -> Self {
        Self::known(chain, Holder::Client)
    }

    fn known(chain: Chain, holder: Holder) -> Self {
        let mut read = READ.lock().unwrap_or_else(PoisonError::into_inner);
        let known = read.entry((chain, holder));
        known.or_insert_with(|| Self::made(chain, holder)).clone()
    }

    fn made(chain: Chain, holder: Holder) -> Self {
        match Fixture::of(chain) {
            Some(fixture) => {
                let (own, key) = match holder {
                    Holder::Client => fixture.client,
                    _ => fixture.server,
                };
                Self::committed(chain, &[own, fixture.issuing], key)
            }
            None => Self::issued(chain, holder),
        }
    }

    /// A server with an untrusted root.
    #[must_use]
    pub fn rogue_server() -> Self {
        Self::committed(
            Chain::RSA_2048,
            &[include_bytes!("fixtures/rogue-server.der")],
            include_bytes!("fixtures/rogue-server.key.der"),
        )
    }

    fn committed(kind: Chain, chain: &[&[u8]], key: &[u8]) -> Self {
        let key = match kind.leaf() {
            SignatureAlgorithm::EcdsaP256 => p256::ecdsa::SigningKey::from_pkcs8_der(key)
                .ok()
                .map(PrivateKey::P256),
            SignatureAlgorithm::EcdsaP384 => p384::ecdsa::SigningKey::from_pkcs8_der(key)
                .ok()
                .map(PrivateKey::P384),
            _ => RsaKey::from_pkcs8(key).map(|key| PrivateKey::Rsa(Arc::new(key))),
        };
        Self {
            kind,
            chain: chain.iter().map(|der| der.to_vec()).collect(),
            key,
        }
    }

    fn issued(kind: Chain, holder: Holder) -> Self {
        let (chain, key) = authority::issue(kind, holder).unzip();
        Self {
            kind,
            chain: chain.unwrap_or_default(),
            key,
        }
    }

    /// The private key as PKCS#8 (RFC 5958; RFC 9881 section 6 for ML-DSA, RFC 9909 for SLH-DSA), so that a
    /// daemon can have the same credential. The test PKI protects nothing.
    #[must_use]
    pub fn key_der(&self) -> Option<Vec<u8>> {
        let document = match self.key.as_ref()? {
            PrivateKey::Rsa(key) => key.key().to_pkcs8_der(),
            PrivateKey::P256(key) => key.to_pkcs8_der(),
            PrivateKey::P384(key) => key.to_pkcs8_der(),
            PrivateKey::MlDsa44(key) => key.to_pkcs8_der(),
            PrivateKey::MlDsa65(key) => key.to_pkcs8_der(),
            PrivateKey::MlDsa87(key) => key.to_pkcs8_der(),
            PrivateKey::SlhDsa(key) => key.to_pkcs8_der(),
            // No daemon computes it.
            PrivateKey::BySize(_) => return None,
        };
        Some(document.ok()?.as_bytes().to_vec())
    }

    /// The algorithms of its keys.
    #[must_use]
    pub const fn kind(&self) -> Chain {
        self.kind
    }

    /// DER certificates, the own one first.
    #[must_use]
    pub fn chain(&self) -> &[Vec<u8>] {
        &self.chain
    }

    /// Signs with the scheme of its kind; empty when the key could not be read.
    pub fn sign(&self, context: &mut Context<'_>, tls13: bool, message: &[u8]) -> Vec<u8> {
        let hash = self.kind.leaf().hash();
        if let Some(hash) = hash {
            context.record_hash(hash, hash.blocks(message.len()));
        }
        context.record(Operation::Sign {
            algorithm: self.kind.leaf(),
            count: 1,
        });
        let strong = hash == Some(HashAlgorithm::Sha384);
        match &self.key {
            Some(PrivateKey::Rsa(key)) => {
                let scheme = match (tls13, strong) {
                    (false, false) => RsaScheme::Pkcs1Sha256,
                    (false, true) => RsaScheme::Pkcs1Sha384,
                    (true, false) => RsaScheme::PssSha256,
                    (true, true) => RsaScheme::PssSha384,
                };
                key.sign(context, scheme, message)
            }
            Some(PrivateKey::P256(key)) => {
                let signature: p256::ecdsa::DerSignature = key.sign(message);
                signature.as_bytes().to_vec()
            }
            Some(PrivateKey::P384(key)) => {
                let signature: p384::ecdsa::DerSignature = key.sign(message);
                signature.as_bytes().to_vec()
            }
            // Both algorithms sign here without fresh randomness, as FIPS 204 section 3.4 and FIPS 205
            // section 9.2 allow.
            Some(PrivateKey::MlDsa44(key)) => key.sign(message).to_vec(),
            Some(PrivateKey::MlDsa65(key)) => key.sign(message).to_vec(),
            Some(PrivateKey::MlDsa87(key)) => key.sign(message).to_vec(),
            Some(PrivateKey::SlhDsa(key)) => key.sign(message).to_vec(),
            Some(PrivateKey::BySize(key)) => key.signature(message),
            None => Vec::new(),
        }
    }

    /// Undoes [`PublicKey::encrypt`]; `None` when the padding is wrong or the key is not RSA.
    pub fn decrypt(&self, context: &mut Context<'_>, ciphertext: &[u8]) -> Option<Vec<u8>> {
        context.record(Operation::Sign {
            algorithm: self.kind.leaf(),
            count: 1,
        });
        match &self.key {
            Some(PrivateKey::Rsa(key)) => key.key().decrypt(Pkcs1v15Encrypt, ciphertext).ok(),
            _ => None,
        }
    }
}

/// The public key of a checked chain.
#[derive(Clone)]
pub enum PublicKey {
    /// RSA.
    Rsa(Box<RsaVerifier>),
    /// ECDSA on P-256.
    P256(p256::ecdsa::VerifyingKey),
    /// ECDSA on P-384.
    P384(p384::ecdsa::VerifyingKey),
    /// ML-DSA-44.
    MlDsa44(Box<ml_dsa::VerifyingKey<MlDsa44>>),
    /// ML-DSA-65.
    MlDsa65(Box<ml_dsa::VerifyingKey<MlDsa65>>),
    /// ML-DSA-87.
    MlDsa87(Box<ml_dsa::VerifyingKey<MlDsa87>>),
    /// SLH-DSA-SHA2-128s.
    SlhDsa(Box<slh_dsa::VerifyingKey<Sha2_128s>>),
    /// An algorithm by size.
    BySize(SizedKey),
}

impl PublicKey {
    fn of(certificate: &Certificate) -> Option<Self> {
        let spki = certificate
            .tbs_certificate()
            .subject_public_key_info()
            .to_der()
            .ok()?;
        let rsa = RsaVerifier::from_info(&spki).map(|key| Self::Rsa(Box::new(key)));
        let p256 = || p256::ecdsa::VerifyingKey::from_public_key_der(&spki).map(Self::P256);
        let p384 = || p384::ecdsa::VerifyingKey::from_public_key_der(&spki).map(Self::P384);
        rsa.or_else(|| p256().ok())
            .or_else(|| p384().ok())
            .or_else(|| Self::post_quantum(&spki))
            .or_else(|| {
                let info = certificate.tbs_certificate().subject_public_key_info();
                SizedKey::read(info).map(Self::BySize)
            })
    }

    fn post_quantum(spki: &[u8]) -> Option<Self> {
        let ml44 = ml_dsa::VerifyingKey::from_public_key_der(spki);
        let ml65 = ml_dsa::VerifyingKey::from_public_key_der(spki);
        let ml87 = ml_dsa::VerifyingKey::from_public_key_der(spki);
        let slh = slh_dsa::VerifyingKey::from_public_key_der(spki);
        let ml44 = ml44.map(|key| Self::MlDsa44(Box::new(key)));
        let ml65 = ml65.map(|key| Self::MlDsa65(Box::new(key)));
        let ml87 = ml87.map(|key| Self::MlDsa87(Box::new(key)));
        let slh = slh.map(|key| Self::SlhDsa(Box::new(key)));
        ml44.or(ml65).or(ml87).or(slh).ok()
    }

    fn algorithm(&self) -> SignatureAlgorithm {
        match self {
            Self::Rsa(key) if key.octets() > 256 => SignatureAlgorithm::Rsa3072,
            Self::Rsa(_) => SignatureAlgorithm::Rsa2048,
            Self::P256(_) => SignatureAlgorithm::EcdsaP256,
            Self::P384(_) => SignatureAlgorithm::EcdsaP384,
            Self::MlDsa44(_) => SignatureAlgorithm::MlDsa44,
            Self::MlDsa65(_) => SignatureAlgorithm::MlDsa65,
            Self::MlDsa87(_) => SignatureAlgorithm::MlDsa87,
            Self::SlhDsa(_) => SignatureAlgorithm::SlhDsaSha2128s,
            Self::BySize(key) => key.algorithm(),
        }
    }

    /// Whether a signature of this scheme is right.
    pub fn verify(
        &self,
        context: &mut Context<'_>,
        scheme: u16,
        message: &[u8],
        signature: &[u8],
    ) -> bool {
        let algorithm = self.algorithm();
        if let Some(hash) = algorithm.hash() {
            context.record_hash(hash, hash.blocks(message.len()));
        }
        context.record(Operation::Verify {
            algorithm,
            count: 1,
        });
        match (self, scheme) {
            (Self::Rsa(key), RSA_PKCS1_SHA256) => {
                key.verify(RsaScheme::Pkcs1Sha256, message, signature)
            }
            (Self::Rsa(key), RSA_PKCS1_SHA384) => {
                key.verify(RsaScheme::Pkcs1Sha384, message, signature)
            }
            (Self::Rsa(key), RSA_PSS_SHA256) => {
                key.verify(RsaScheme::PssSha256, message, signature)
            }
            (Self::Rsa(key), RSA_PSS_SHA384) => {
                key.verify(RsaScheme::PssSha384, message, signature)
            }
            (Self::P256(key), ECDSA_P256_SHA256) => {
                p256::ecdsa::DerSignature::from_bytes(signature)
                    .is_ok_and(|signature| key.verify(message, &signature).is_ok())
            }
            (Self::P384(key), ECDSA_P384_SHA384) => {
                p384::ecdsa::DerSignature::from_bytes(signature)
                    .is_ok_and(|signature| key.verify(message, &signature).is_ok())
            }
            _ if scheme != algorithm.certificate_scheme() => false,
            (Self::MlDsa44(key), _) => ml_dsa::Signature::try_from(signature)
                .is_ok_and(|signature| key.verify(message, &signature).is_ok()),
            (Self::MlDsa65(key), _) => ml_dsa::Signature::try_from(signature)
                .is_ok_and(|signature| key.verify(message, &signature).is_ok()),
            (Self::MlDsa87(key), _) => ml_dsa::Signature::try_from(signature)
                .is_ok_and(|signature| key.verify(message, &signature).is_ok()),
            (Self::SlhDsa(key), _) => slh_dsa::Signature::try_from(signature)
                .is_ok_and(|signature| key.verify(message, &signature).is_ok()),
            (Self::BySize(key), _) => key.signature(message) == signature,
            _ => false,
        }
    }

    /// Encrypts a premaster secret (RFC 5246 section 7.4.7.1); `None` unless the key is RSA.
    pub fn encrypt(&self, context: &mut Context<'_>, plaintext: &[u8]) -> Option<Vec<u8>> {
        context.record(Operation::Verify {
            algorithm: self.algorithm(),
            count: 1,
        });
        match self {
            Self::Rsa(key) => key
                .key()
                .encrypt(context.rng(), Pkcs1v15Encrypt, plaintext)
                .ok(),
            _ => None,
        }
    }
}

/// The DER name of a certificate's subject.
#[must_use]
pub fn subject(der: &[u8]) -> Option<Vec<u8>> {
    let certificate = Certificate::from_der(der).ok()?;
    certificate.tbs_certificate().subject().to_der().ok()
}

/// The DER SubjectPublicKeyInfo of a certificate.
#[must_use]
pub fn key_octets(der: &[u8]) -> Option<Vec<u8>> {
    let certificate = Certificate::from_der(der).ok()?;
    let key = certificate.tbs_certificate().subject_public_key_info();
    key.to_der().ok()
}

/// The scheme of a signature with PKCS#1 v1.5, ECDSA, ML-DSA or SLH-DSA.
#[must_use]
pub const fn scheme(algorithm: SignatureAlgorithm) -> u16 {
    algorithm.certificate_scheme()
}

/// The first certificate's public key, when every signature up to `root` is right and names
/// follow each other (RFC 5280 section 6.1, without times and policies).
pub fn verify_chain(
    context: &mut Context<'_>,
    chain: &[Vec<u8>],
    root: &[u8],
) -> Option<PublicKey> {
    let mut certificates = chain
        .iter()
        .map(|der| Certificate::from_der(der).ok())
        .collect::<Option<Vec<_>>>()?;
    certificates.push(Certificate::from_der(root).ok()?);
    for pair in certificates.windows(2) {
        let (certificate, issuer) = (&pair[0], &pair[1]);
        let key = PublicKey::of(issuer)?;
        let scheme = key.algorithm().certificate_scheme();
        let tbs = certificate.tbs_certificate().to_der().ok()?;
        let names = certificate.tbs_certificate().issuer() == issuer.tbs_certificate().subject();
        let signature = certificate.signature().as_bytes()?;
        if !names || !key.verify(context, scheme, &tbs, signature) {
            return None;
        }
    }
    certificates.first().and_then(PublicKey::of)
}

#[cfg(test)]
mod tests {
    use ml_dsa::{EncodedVerifyingKey, Keypair, MlDsaParams, Seed};
    use rand_chacha::ChaCha8Rng;
    use rand_chacha::rand_core::SeedableRng;

    use super::*;
    use crate::crypto::vectors::{cases, octets};

    const VECTORS: &str = include_str!("../crypto/vectors/ml-dsa.json");

    /// Checks the vectors of one parameter set.
    fn check<P>(name: &str)
    where
        P: MlDsaParams,
    {
        for case in cases(VECTORS, "keyGen", name) {
            let seed = Seed::try_from(octets(&case, "seed").as_slice()).unwrap();
            let key = ml_dsa::SigningKey::<P>::from_seed(&seed).verifying_key();
            assert_eq!(key.encode().to_vec(), octets(&case, "pk"), "{name}");
        }
        for case in cases(VECTORS, "sigVer", name) {
            let key = octets(&case, "pk");
            let key = EncodedVerifyingKey::<P>::try_from(key.as_slice()).unwrap();
            let key = ml_dsa::VerifyingKey::<P>::decode(&key);
            let signature = ml_dsa::Signature::<P>::try_from(octets(&case, "signature").as_slice());
            let passes =
                signature.is_ok_and(|it| key.verify_internal(&octets(&case, "message"), &it));
            assert_eq!(passes, case["passes"], "{name}: {}", case["reason"]);
        }
    }

    #[test]
    fn keys_and_signatures_are_those_of_the_acvp_vectors() {
        check::<MlDsa44>("ML-DSA-44");
        check::<MlDsa65>("ML-DSA-65");
        check::<MlDsa87>("ML-DSA-87");
    }

    #[test]
    fn committed_chains_verify_and_strangers_do_not() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let mut cx = Context::new(&mut rng);
        let mixed = Chain::new(
            SignatureAlgorithm::MlDsa44,
            Some(SignatureAlgorithm::MlDsa87),
            SignatureAlgorithm::Rsa3072,
        );
        let short = Chain::new(
            SignatureAlgorithm::EcdsaP256,
            None,
            SignatureAlgorithm::MlDsa65,
        );
        let chains = [
            Chain::RSA_2048,
            Chain::P256,
            Chain::RSA_3072,
            Chain::P384,
            Chain::uniform(SignatureAlgorithm::MlDsa65),
            mixed,
            short,
            Chain::uniform(SignatureAlgorithm::Falcon512),
            Chain::new(
                SignatureAlgorithm::Falcon512,
                Some(SignatureAlgorithm::Falcon1024),
                SignatureAlgorithm::MlDsa44,
            ),
        ];
        for kind in chains {
            for credential in [Credential::server(kind), Credential::client(kind)] {
                let key = verify_chain(&mut cx, credential.chain(), &root(kind)).unwrap();
                for tls13 in [false, true] {
                    let mut signature = credential.sign(&mut cx, tls13, b"message");
                    let scheme = kind.leaf().scheme(tls13);
                    assert!(key.verify(&mut cx, scheme, b"message", &signature));
                    let last = signature.len() - 1;
                    signature[last] ^= 1;
                    assert!(!key.verify(&mut cx, scheme, b"message", &signature));
                }
            }
        }
        let rogue = Credential::rogue_server();
        assert!(verify_chain(&mut cx, rogue.chain(), &root(Chain::RSA_2048)).is_none());
    }
}
