//! RSA keys of the test PKI: PKCS #1 v1.5 and PSS (RFC 8017).
//!
//! Takes keys and messages; gives signatures, and whether one is right. PSS draws its salt from the
//! caller's source, so that equal seeds give equal octets. All other results depend on key and message
//! alone. AWS-LC computes them where the feature `aws-lc` is on, and RustCrypto without it: both give
//! the same.

use rsa::pkcs8::{DecodePrivateKey, DecodePublicKey};
use rsa::signature::{RandomizedSigner, SignatureEncoding};
use rsa::traits::PublicKeyParts;
use rsa::{RsaPrivateKey, RsaPublicKey, pss};
use sha2::{Sha256, Sha384};

use crate::exchange::Context;

/// Padding and hash of a signature.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RsaScheme {
    Pkcs1Sha256,
    Pkcs1Sha384,
    PssSha256,
    PssSha384,
}

/// A private key.
pub(super) struct RsaKey {
    key: RsaPrivateKey,
    signer: backend::Signer,
}

impl RsaKey {
    /// `None` for octets that are no PKCS #8 of an RSA key.
    pub fn from_pkcs8(der: &[u8]) -> Option<Self> {
        let key = RsaPrivateKey::from_pkcs8_der(der).ok()?;
        Some(Self {
            signer: backend::Signer::new(der, &key)?,
            key,
        })
    }

    /// The key as a library has it.
    pub fn key(&self) -> &RsaPrivateKey {
        &self.key
    }

    /// A signature; empty where it could not be made.
    pub fn sign(&self, context: &mut Context<'_>, scheme: RsaScheme, message: &[u8]) -> Vec<u8> {
        match scheme {
            RsaScheme::Pkcs1Sha256 | RsaScheme::Pkcs1Sha384 => {
                let hash_384 = scheme == RsaScheme::Pkcs1Sha384;
                self.signer.sign(hash_384, message).unwrap_or_default()
            }
            RsaScheme::PssSha256 => pss::SigningKey::<Sha256>::new(self.key.clone())
                .sign_with_rng(context.rng(), message)
                .to_vec(),
            RsaScheme::PssSha384 => pss::SigningKey::<Sha384>::new(self.key.clone())
                .sign_with_rng(context.rng(), message)
                .to_vec(),
        }
    }
}

/// A public key.
#[derive(Clone)]
pub struct RsaVerifier {
    key: RsaPublicKey,
    /// Its SubjectPublicKeyInfo.
    #[cfg(feature = "aws-lc")]
    info: Vec<u8>,
}

impl RsaVerifier {
    /// `None` for octets that are no SubjectPublicKeyInfo of an RSA key.
    pub(super) fn from_info(der: &[u8]) -> Option<Self> {
        Some(Self {
            key: RsaPublicKey::from_public_key_der(der).ok()?,
            #[cfg(feature = "aws-lc")]
            info: der.to_vec(),
        })
    }

    /// Octets of its modulus.
    pub(super) fn octets(&self) -> usize {
        self.key.size()
    }

    /// The key as a library has it.
    pub(super) fn key(&self) -> &RsaPublicKey {
        &self.key
    }

    pub(super) fn verify(&self, scheme: RsaScheme, message: &[u8], signature: &[u8]) -> bool {
        backend::verify(self, scheme, message, signature)
    }
}

#[cfg(feature = "aws-lc")]
mod backend {
    use aws_lc_rs::rand::SystemRandom;
    use aws_lc_rs::rsa::KeyPair;
    use aws_lc_rs::signature::{
        RSA_PKCS1_2048_8192_SHA256, RSA_PKCS1_2048_8192_SHA384, RSA_PKCS1_SHA256, RSA_PKCS1_SHA384,
        RSA_PSS_2048_8192_SHA256, RSA_PSS_2048_8192_SHA384, UnparsedPublicKey,
    };
    use rsa::RsaPrivateKey;

    use super::{RsaScheme, RsaVerifier};

    pub struct Signer(KeyPair);

    impl Signer {
        pub fn new(pkcs8: &[u8], _: &RsaPrivateKey) -> Option<Self> {
            KeyPair::from_pkcs8(pkcs8).ok().map(Self)
        }

        pub fn sign(&self, hash_384: bool, message: &[u8]) -> Option<Vec<u8>> {
            let padding = if hash_384 {
                &RSA_PKCS1_SHA384
            } else {
                &RSA_PKCS1_SHA256
            };
            let mut signature = vec![0; self.0.public_modulus_len()];
            // This padding draws nothing.
            let unused = SystemRandom::new();
            self.0
                .sign(padding, &unused, message, &mut signature)
                .ok()?;
            Some(signature)
        }
    }

    pub fn verify(key: &RsaVerifier, scheme: RsaScheme, message: &[u8], signature: &[u8]) -> bool {
        let algorithm = match scheme {
            RsaScheme::Pkcs1Sha256 => &RSA_PKCS1_2048_8192_SHA256,
            RsaScheme::Pkcs1Sha384 => &RSA_PKCS1_2048_8192_SHA384,
            RsaScheme::PssSha256 => &RSA_PSS_2048_8192_SHA256,
            RsaScheme::PssSha384 => &RSA_PSS_2048_8192_SHA384,
        };
        let key = UnparsedPublicKey::new(algorithm, &key.info);
        key.verify(message, signature).is_ok()
    }
}

// Tests hold it against AWS-LC.
#[cfg(any(test, not(feature = "aws-lc")))]
mod portable {
    use rsa::pkcs1v15;
    use rsa::signature::{SignatureEncoding, Signer as _, Verifier};
    use rsa::{RsaPrivateKey, pss};
    use sha2::{Sha256, Sha384};

    use super::{RsaScheme, RsaVerifier};

    pub struct Signer(RsaPrivateKey);

    impl Signer {
        // Equal in form to that of AWS-LC, which can refuse a key.
        #[allow(clippy::unnecessary_wraps)]
        pub fn new(_pkcs8: &[u8], key: &RsaPrivateKey) -> Option<Self> {
            Some(Self(key.clone()))
        }

        #[allow(clippy::unnecessary_wraps)]
        pub fn sign(&self, hash_384: bool, message: &[u8]) -> Option<Vec<u8>> {
            let key = self.0.clone();
            Some(if hash_384 {
                pkcs1v15::SigningKey::<Sha384>::new(key)
                    .sign(message)
                    .to_vec()
            } else {
                pkcs1v15::SigningKey::<Sha256>::new(key)
                    .sign(message)
                    .to_vec()
            })
        }
    }

    pub fn verify(key: &RsaVerifier, scheme: RsaScheme, message: &[u8], signature: &[u8]) -> bool {
        let key = key.key.clone();
        match scheme {
            RsaScheme::Pkcs1Sha256 => right::<pkcs1v15::Signature>(
                &pkcs1v15::VerifyingKey::<Sha256>::new(key),
                message,
                signature,
            ),
            RsaScheme::Pkcs1Sha384 => right::<pkcs1v15::Signature>(
                &pkcs1v15::VerifyingKey::<Sha384>::new(key),
                message,
                signature,
            ),
            RsaScheme::PssSha256 => {
                right::<pss::Signature>(&pss::VerifyingKey::<Sha256>::new(key), message, signature)
            }
            RsaScheme::PssSha384 => {
                right::<pss::Signature>(&pss::VerifyingKey::<Sha384>::new(key), message, signature)
            }
        }
    }

    fn right<S: for<'a> TryFrom<&'a [u8]>>(
        key: &impl Verifier<S>,
        message: &[u8],
        signature: &[u8],
    ) -> bool {
        S::try_from(signature).is_ok_and(|signature| key.verify(message, &signature).is_ok())
    }
}

#[cfg(not(feature = "aws-lc"))]
use portable as backend;

#[cfg(test)]
mod tests {
    use rand_chacha::ChaCha8Rng;
    use rand_chacha::rand_core::SeedableRng;
    use rsa::pkcs8::EncodePublicKey;

    use super::*;

    #[test]
    fn both_backends_sign_and_check_alike() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let mut cx = Context::new(&mut rng);
        for der in [
            &include_bytes!("fixtures/rsa-server.key.der")[..],
            include_bytes!("fixtures/rsa3072-server.key.der"),
        ] {
            let key = RsaKey::from_pkcs8(der).unwrap();
            let portable = portable::Signer::new(der, key.key()).unwrap();
            for hash_384 in [false, true] {
                let signature = key.signer.sign(hash_384, b"message");
                assert_eq!(signature, portable.sign(hash_384, b"message"));
            }
            let info = key.key().to_public_key().to_public_key_der().unwrap();
            let verifier = RsaVerifier::from_info(info.as_bytes()).unwrap();
            assert_eq!(verifier.octets(), key.key().size());
            for scheme in [
                RsaScheme::Pkcs1Sha256,
                RsaScheme::Pkcs1Sha384,
                RsaScheme::PssSha256,
                RsaScheme::PssSha384,
            ] {
                let mut signature = key.sign(&mut cx, scheme, b"message");
                for (message, passes) in [(&b"message"[..], true), (b"massage", false)] {
                    assert_eq!(verifier.verify(scheme, message, &signature), passes);
                    assert_eq!(
                        portable::verify(&verifier, scheme, message, &signature),
                        passes
                    );
                }
                signature[0] ^= 1;
                assert!(!verifier.verify(scheme, b"message", &signature));
                assert!(!portable::verify(&verifier, scheme, b"message", &signature));
                assert!(!verifier.verify(scheme, b"message", &signature[1..]));
            }
        }
        assert!(RsaKey::from_pkcs8(b"no key").is_none());
        assert!(RsaVerifier::from_info(b"no key").is_none());
    }
}
