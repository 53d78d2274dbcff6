//! Certificate chains and signatures for TLS: real X.509, real RSA (2048 and 3072
//! bits) and ECDSA (P-256 and P-384).
//!
//! Takes DER chains (the committed ones of `fixtures`, made by `fixtures/make.sh` with OpenSSL);
//! gives signatures, and the public key of a chain that ends in a trusted root. Never checks a
//! validity time, because there is no clock here, and no revocation.

use p256::ecdsa::signature::{Signer, Verifier};
use rsa::pkcs8::{DecodePrivateKey, DecodePublicKey};
use rsa::signature::{RandomizedSigner, SignatureEncoding};
use rsa::traits::PublicKeyParts;
use rsa::{Pkcs1v15Encrypt, RsaPrivateKey, RsaPublicKey, pkcs1v15, pss};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Sha256, Sha384};
use x509_cert::Certificate;
use x509_cert::der::{Decode, Encode};

use crate::exchange::Context;
use crate::operation::{HashAlgorithm, Operation, SignatureAlgorithm};

/// rsa_pkcs1_sha256 (RFC 8446 section 4.2.3).
pub const RSA_PKCS1_SHA256: u16 = 0x0401;
/// ecdsa_secp256r1_sha256.
pub const ECDSA_P256_SHA256: u16 = 0x0403;
/// rsa_pss_rsae_sha256.
pub const RSA_PSS_SHA256: u16 = 0x0804;

/// rsa_pkcs1_sha384.
pub const RSA_PKCS1_SHA384: u16 = 0x0501;
/// ecdsa_secp384r1_sha384.
pub const ECDSA_P384_SHA384: u16 = 0x0503;
/// rsa_pss_rsae_sha384.
pub const RSA_PSS_SHA384: u16 = 0x0805;

/// The kind of key in a chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ChainKind {
    /// RSA with 2048 bits throughout.
    #[default]
    Rsa2048,
    /// ECDSA on P-256 throughout.
    P256,
    /// RSA with 3072 bits and SHA-384 throughout.
    Rsa3072,
    /// ECDSA on P-384 with SHA-384 throughout.
    P384,
}

impl ChainKind {
    /// The signature scheme of this kind in TLS 1.2 or 1.3.
    #[must_use]
    pub const fn scheme(self, tls13: bool) -> u16 {
        match (self, tls13) {
            (Self::P256, _) => ECDSA_P256_SHA256,
            (Self::Rsa2048, false) => RSA_PKCS1_SHA256,
            (Self::Rsa2048, true) => RSA_PSS_SHA256,
            (Self::P384, _) => ECDSA_P384_SHA384,
            (Self::Rsa3072, false) => RSA_PKCS1_SHA384,
            (Self::Rsa3072, true) => RSA_PSS_SHA384,
        }
    }

    /// The kind that WPA3-Enterprise's 192-bit mode requires instead (WPA3 specification,
    /// section 3.5): at least RSA with 3072 bits, or P-384.
    #[must_use]
    pub const fn strong(self) -> Self {
        match self {
            Self::Rsa2048 | Self::Rsa3072 => Self::Rsa3072,
            Self::P256 | Self::P384 => Self::P384,
        }
    }

    /// The schemes of this kind of root for TLS 1.3 and 1.2, as signature_algorithms lists them.
    pub const fn schemes(self) -> [u8; 6] {
        match self {
            Self::Rsa2048 | Self::P256 => [4, 3, 8, 4, 4, 1],
            Self::Rsa3072 | Self::P384 => [5, 3, 8, 5, 5, 1],
        }
    }

    const fn hash(self) -> HashAlgorithm {
        match self {
            Self::Rsa2048 | Self::P256 => HashAlgorithm::Sha256,
            Self::Rsa3072 | Self::P384 => HashAlgorithm::Sha384,
        }
    }

    const fn algorithm(self) -> SignatureAlgorithm {
        match self {
            Self::Rsa2048 => SignatureAlgorithm::Rsa2048,
            Self::P256 => SignatureAlgorithm::EcdsaP256,
            Self::Rsa3072 => SignatureAlgorithm::Rsa3072,
            Self::P384 => SignatureAlgorithm::EcdsaP384,
        }
    }

    /// The root that both ends trust.
    #[must_use]
    pub const fn root(self) -> &'static [u8] {
        match self {
            Self::Rsa2048 => include_bytes!("fixtures/rsa-root.der"),
            Self::P256 => include_bytes!("fixtures/p256-root.der"),
            Self::Rsa3072 => include_bytes!("fixtures/rsa3072-root.der"),
            Self::P384 => include_bytes!("fixtures/p384-root.der"),
        }
    }
}

#[derive(Clone)]
enum PrivateKey {
    Rsa(Box<RsaPrivateKey>),
    P256(p256::ecdsa::SigningKey),
    P384(p384::ecdsa::SigningKey),
}

/// A chain without its root, and the key of its first certificate.
#[derive(Clone)]
pub struct Credential {
    kind: ChainKind,
    chain: Vec<Vec<u8>>,
    key: Option<PrivateKey>,
}

impl Credential {
    /// The RADIUS server's chain: leaf and issuing CA.
    #[must_use]
    pub fn server(kind: ChainKind) -> Self {
        match kind {
            ChainKind::Rsa2048 => Self::new(
                kind,
                &[
                    include_bytes!("fixtures/rsa-server.der"),
                    include_bytes!("fixtures/rsa-issuing.der"),
                ],
                include_bytes!("fixtures/rsa-server.key.der"),
            ),
            ChainKind::P256 => Self::new(
                kind,
                &[
                    include_bytes!("fixtures/p256-server.der"),
                    include_bytes!("fixtures/p256-issuing.der"),
                ],
                include_bytes!("fixtures/p256-server.key.der"),
            ),
            ChainKind::Rsa3072 => Self::new(
                kind,
                &[
                    include_bytes!("fixtures/rsa3072-server.der"),
                    include_bytes!("fixtures/rsa3072-issuing.der"),
                ],
                include_bytes!("fixtures/rsa3072-server.key.der"),
            ),
            ChainKind::P384 => Self::new(
                kind,
                &[
                    include_bytes!("fixtures/p384-server.der"),
                    include_bytes!("fixtures/p384-issuing.der"),
                ],
                include_bytes!("fixtures/p384-server.key.der"),
            ),
        }
    }

    /// The station's chain: leaf and issuing CA.
    #[must_use]
    pub fn client(kind: ChainKind) -> Self {
        match kind {
            ChainKind::Rsa2048 => Self::new(
                kind,
                &[
                    include_bytes!("fixtures/rsa-client.der"),
                    include_bytes!("fixtures/rsa-issuing.der"),
                ],
                include_bytes!("fixtures/rsa-client.key.der"),
            ),
            ChainKind::P256 => Self::new(
                kind,
                &[
                    include_bytes!("fixtures/p256-client.der"),
                    include_bytes!("fixtures/p256-issuing.der"),
                ],
                include_bytes!("fixtures/p256-client.key.der"),
            ),
            ChainKind::Rsa3072 => Self::new(
                kind,
                &[
                    include_bytes!("fixtures/rsa3072-client.der"),
                    include_bytes!("fixtures/rsa3072-issuing.der"),
                ],
                include_bytes!("fixtures/rsa3072-client.key.der"),
            ),
            ChainKind::P384 => Self::new(
                kind,
                &[
                    include_bytes!("fixtures/p384-client.der"),
                    include_bytes!("fixtures/p384-issuing.der"),
                ],
                include_bytes!("fixtures/p384-client.key.der"),
            ),
        }
    }

    /// A server with an untrusted root.
    #[must_use]
    pub fn rogue_server() -> Self {
        Self::new(
            ChainKind::Rsa2048,
            &[include_bytes!("fixtures/rogue-server.der")],
            include_bytes!("fixtures/rogue-server.key.der"),
        )
    }

    fn new(kind: ChainKind, chain: &[&[u8]], key: &[u8]) -> Self {
        let key = match kind {
            ChainKind::Rsa2048 | ChainKind::Rsa3072 => RsaPrivateKey::from_pkcs8_der(key)
                .ok()
                .map(|key| PrivateKey::Rsa(Box::new(key))),
            ChainKind::P256 => p256::ecdsa::SigningKey::from_pkcs8_der(key)
                .ok()
                .map(PrivateKey::P256),
            ChainKind::P384 => p384::ecdsa::SigningKey::from_pkcs8_der(key)
                .ok()
                .map(PrivateKey::P384),
        };
        Self {
            kind,
            chain: chain.iter().map(|der| der.to_vec()).collect(),
            key,
        }
    }

    /// The kind of the key.
    #[must_use]
    pub const fn kind(&self) -> ChainKind {
        self.kind
    }

    /// DER certificates, the own one first.
    #[must_use]
    pub fn chain(&self) -> &[Vec<u8>] {
        &self.chain
    }

    /// Signs with the scheme of its kind; empty when the key could not be read.
    pub fn sign(&self, context: &mut Context<'_>, tls13: bool, message: &[u8]) -> Vec<u8> {
        let hash = self.kind.hash();
        context.record_hash(hash, hash.blocks(message.len()));
        context.record(Operation::Sign {
            algorithm: self.kind.algorithm(),
            count: 1,
        });
        let strong = hash == HashAlgorithm::Sha384;
        match (&self.key, tls13, strong) {
            (Some(PrivateKey::Rsa(key)), false, false) => {
                pkcs1v15::SigningKey::<Sha256>::new((**key).clone())
                    .sign(message)
                    .to_vec()
            }
            (Some(PrivateKey::Rsa(key)), false, true) => {
                pkcs1v15::SigningKey::<Sha384>::new((**key).clone())
                    .sign(message)
                    .to_vec()
            }
            (Some(PrivateKey::Rsa(key)), true, false) => {
                pss::SigningKey::<Sha256>::new((**key).clone())
                    .sign_with_rng(context.rng(), message)
                    .to_vec()
            }
            (Some(PrivateKey::Rsa(key)), true, true) => {
                pss::SigningKey::<Sha384>::new((**key).clone())
                    .sign_with_rng(context.rng(), message)
                    .to_vec()
            }
            (Some(PrivateKey::P256(key)), ..) => {
                let signature: p256::ecdsa::DerSignature = key.sign(message);
                signature.as_bytes().to_vec()
            }
            (Some(PrivateKey::P384(key)), ..) => {
                let signature: p384::ecdsa::DerSignature = key.sign(message);
                signature.as_bytes().to_vec()
            }
            (None, ..) => Vec::new(),
        }
    }

    /// Undoes [`PublicKey::encrypt`]; `None` when the padding is wrong or the key is not RSA.
    pub fn decrypt(&self, context: &mut Context<'_>, ciphertext: &[u8]) -> Option<Vec<u8>> {
        context.record(Operation::Sign {
            algorithm: self.kind.algorithm(),
            count: 1,
        });
        match &self.key {
            Some(PrivateKey::Rsa(key)) => key.decrypt(Pkcs1v15Encrypt, ciphertext).ok(),
            _ => None,
        }
    }
}

/// The public key of a checked chain.
#[derive(Clone)]
pub enum PublicKey {
    /// RSA.
    Rsa(Box<RsaPublicKey>),
    /// ECDSA on P-256.
    P256(p256::ecdsa::VerifyingKey),
    /// ECDSA on P-384.
    P384(p384::ecdsa::VerifyingKey),
}

impl PublicKey {
    fn of(certificate: &Certificate) -> Option<Self> {
        let spki = certificate
            .tbs_certificate()
            .subject_public_key_info()
            .to_der()
            .ok()?;
        if let Ok(key) = RsaPublicKey::from_public_key_der(&spki) {
            return Some(Self::Rsa(Box::new(key)));
        }
        let p256 = p256::ecdsa::VerifyingKey::from_public_key_der(&spki);
        p256.map(Self::P256).ok().or_else(|| {
            let p384 = p384::ecdsa::VerifyingKey::from_public_key_der(&spki);
            p384.map(Self::P384).ok()
        })
    }

    fn algorithm(&self) -> SignatureAlgorithm {
        match self {
            Self::Rsa(key) if key.size() > 256 => SignatureAlgorithm::Rsa3072,
            Self::Rsa(_) => SignatureAlgorithm::Rsa2048,
            Self::P256(_) => SignatureAlgorithm::EcdsaP256,
            Self::P384(_) => SignatureAlgorithm::EcdsaP384,
        }
    }

    /// The scheme that a CA of this key signs certificates with.
    fn certificate_scheme(&self) -> u16 {
        match self.algorithm() {
            SignatureAlgorithm::Rsa2048 => RSA_PKCS1_SHA256,
            SignatureAlgorithm::Rsa3072 => RSA_PKCS1_SHA384,
            SignatureAlgorithm::EcdsaP256 => ECDSA_P256_SHA256,
            SignatureAlgorithm::EcdsaP384 => ECDSA_P384_SHA384,
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
        let hash = match scheme {
            RSA_PKCS1_SHA384 | RSA_PSS_SHA384 | ECDSA_P384_SHA384 => HashAlgorithm::Sha384,
            _ => HashAlgorithm::Sha256,
        };
        context.record_hash(hash, hash.blocks(message.len()));
        context.record(Operation::Verify {
            algorithm: self.algorithm(),
            count: 1,
        });
        match (self, scheme) {
            (Self::Rsa(key), RSA_PKCS1_SHA256) => {
                let key = pkcs1v15::VerifyingKey::<Sha256>::new((**key).clone());
                pkcs1v15::Signature::try_from(signature)
                    .is_ok_and(|signature| key.verify(message, &signature).is_ok())
            }
            (Self::Rsa(key), RSA_PKCS1_SHA384) => {
                let key = pkcs1v15::VerifyingKey::<Sha384>::new((**key).clone());
                pkcs1v15::Signature::try_from(signature)
                    .is_ok_and(|signature| key.verify(message, &signature).is_ok())
            }
            (Self::Rsa(key), RSA_PSS_SHA256) => {
                let key = pss::VerifyingKey::<Sha256>::new((**key).clone());
                pss::Signature::try_from(signature)
                    .is_ok_and(|signature| key.verify(message, &signature).is_ok())
            }
            (Self::Rsa(key), RSA_PSS_SHA384) => {
                let key = pss::VerifyingKey::<Sha384>::new((**key).clone());
                pss::Signature::try_from(signature)
                    .is_ok_and(|signature| key.verify(message, &signature).is_ok())
            }
            (Self::P256(key), ECDSA_P256_SHA256) => {
                p256::ecdsa::DerSignature::from_bytes(signature)
                    .is_ok_and(|signature| key.verify(message, &signature).is_ok())
            }
            (Self::P384(key), ECDSA_P384_SHA384) => {
                p384::ecdsa::DerSignature::from_bytes(signature)
                    .is_ok_and(|signature| key.verify(message, &signature).is_ok())
            }
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
            Self::Rsa(key) => key.encrypt(context.rng(), Pkcs1v15Encrypt, plaintext).ok(),
            Self::P256(_) | Self::P384(_) => None,
        }
    }
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
        let scheme = key.certificate_scheme();
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
    use super::*;
    use rand_chacha::ChaCha8Rng;
    use rand_chacha::rand_core::SeedableRng;

    #[test]
    fn committed_chains_verify_and_strangers_do_not() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let mut cx = Context::new(&mut rng);
        for kind in [
            ChainKind::Rsa2048,
            ChainKind::P256,
            ChainKind::Rsa3072,
            ChainKind::P384,
        ] {
            for credential in [Credential::server(kind), Credential::client(kind)] {
                let key = verify_chain(&mut cx, credential.chain(), kind.root()).unwrap();
                for tls13 in [false, true] {
                    let mut signature = credential.sign(&mut cx, tls13, b"message");
                    let scheme = kind.scheme(tls13);
                    assert!(key.verify(&mut cx, scheme, b"message", &signature));
                    let last = signature.len() - 1;
                    signature[last] ^= 1;
                    assert!(!key.verify(&mut cx, scheme, b"message", &signature));
                }
            }
        }
        let rogue = Credential::rogue_server();
        assert!(verify_chain(&mut cx, rogue.chain(), ChainKind::Rsa2048.root()).is_none());
    }
}
