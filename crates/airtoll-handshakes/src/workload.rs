//! Public-key operations of handshakes to repeat, for a caller with a clock.
//!
//! Takes an operation; gives work that carries it out once at each call, by the code that the handshakes run. Never
//! reads a clock. Keys and certificates are made before the first call.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

use airtoll_security::keys::psk;

use crate::crypto::diffie_hellman::{BASE_POINT, DiffieHellman};
use crate::crypto::ec_group::Group;
use crate::crypto::kem::KemKey;
use crate::exchange::Context;
use crate::operation::{Curve, KemAlgorithm, KemStep, Operation, SignatureAlgorithm};
use crate::tls::certificate;
use crate::tls::{Chain, Credential};

/// Octets that a TLS 1.3 CertificateVerify signs with SHA-256 (RFC 8446 section 4.4.3): 64 of padding, 33 of
/// context, a zero, the hash.
const SIGNED_OCTETS: usize = 64 + 33 + 1 + 32;

/// Whether AWS-LC computes what depends on keys and messages alone.
const NATIVE: bool = cfg!(feature = "aws-lc");

/// A public-key operation that is measured by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Subject {
    operation: Operation,
}

/// Repeats one operation and says whether it succeeded.
pub type Work = Box<dyn FnMut() -> bool + Send>;

impl Subject {
    /// Every public-key operation that a handshake counts, and the mapping of a passphrase to a PSK.
    pub fn all() -> impl Iterator<Item = Self> {
        let curves = [Curve::X25519, Curve::P256, Curve::P384, Curve::P521];
        let multiplied = curves.map(|curve| Operation::EcScalarMul { curve, count: 1 });
        let powers = [Curve::P256, Curve::P384, Curve::P521]
            .map(|curve| Operation::FieldPower { curve, count: 1 });
        let exponents = [1024, 1536, 2048].map(|bits| Operation::ModExp {
            modulus_bits: bits,
            exponent_bits: bits,
            count: 1,
        });
        let computed = SignatureAlgorithm::ALL
            .into_iter()
            .filter(|algorithm| !algorithm.is_by_size());
        let signed = computed.flat_map(|algorithm| {
            [
                Operation::Sign {
                    algorithm,
                    count: 1,
                },
                Operation::Verify {
                    algorithm,
                    count: 1,
                },
            ]
        });
        let kems = KemAlgorithm::ALL.into_iter().flat_map(|algorithm| {
            [KemStep::Keygen, KemStep::Encapsulate, KemStep::Decapsulate].map(|step| {
                Operation::Kem {
                    algorithm,
                    step,
                    count: 1,
                }
            })
        });
        let mapping = Operation::Pbkdf2 {
            iterations: 2 * u64::from(psk::ITERATIONS),
        };
        multiplied
            .into_iter()
            .chain(powers)
            .chain(exponents)
            .chain(kems)
            .chain(signed)
            .chain([mapping])
            .map(|operation| Self { operation })
    }

    /// The name under which a device profile prices it.
    #[must_use]
    pub fn name(self) -> String {
        self.operation.priced().0
    }

    /// Units of the profile's cost in one call, and the unit.
    #[must_use]
    pub fn units(self) -> (u64, &'static str) {
        let unit = match self.operation {
            Operation::ModExp { .. } => "bit of the exponent",
            Operation::Pbkdf2 { .. } => "iteration",
            _ => "operation",
        };
        (self.operation.priced().1, unit)
    }

    /// The library that the handshakes use for it.
    #[must_use]
    pub const fn implementation(self) -> &'static str {
        match self.operation {
            Operation::EcScalarMul { .. } if NATIVE => "AWS-LC",
            Operation::EcScalarMul { curve, .. } => match curve {
                Curve::X25519 => "x25519-dalek",
                Curve::P256 => "RustCrypto p256",
                Curve::P384 => "RustCrypto p384",
                Curve::P521 => "RustCrypto p521",
            },
            Operation::Kem { .. } => "RustCrypto ml-kem",
            Operation::Verify {
                algorithm: SignatureAlgorithm::Rsa2048 | SignatureAlgorithm::Rsa3072,
                ..
            } if NATIVE => "AWS-LC",
            Operation::Sign { algorithm, .. } | Operation::Verify { algorithm, .. } => {
                match algorithm {
                    SignatureAlgorithm::Rsa2048 | SignatureAlgorithm::Rsa3072 => "RustCrypto rsa",
                    SignatureAlgorithm::EcdsaP256 => "RustCrypto p256",
                    SignatureAlgorithm::EcdsaP384 => "RustCrypto p384",
                    SignatureAlgorithm::SlhDsaSha2128s => "RustCrypto slh-dsa",
                    SignatureAlgorithm::MlDsa44
                    | SignatureAlgorithm::MlDsa65
                    | SignatureAlgorithm::MlDsa87 => "RustCrypto ml-dsa",
                    SignatureAlgorithm::Falcon512 | SignatureAlgorithm::Falcon1024 => "none",
                }
            }
            Operation::Pbkdf2 { .. } => "RustCrypto pbkdf2",
            _ => "RustCrypto crypto-bigint",
        }
    }

    /// The work; `None` where a key of the operation could not be made.
    #[must_use]
    pub fn work(self) -> Option<Work> {
        self.counted().map(done)
    }

    fn counted(self) -> Option<Counted> {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let mut context = Context::new(&mut rng);
        match self.operation {
            Operation::EcScalarMul { curve, .. } => multiplication(&mut context, curve),
            Operation::FieldPower { curve, .. } => {
                let group = Group::from_number(curve.group()?)?;
                let x = context.random_octets(group.octets());
                boxed(move |cx| {
                    // Half of all numbers are squares: both answers are right.
                    group.is_square(cx, &x);
                    true
                })
            }
            Operation::ModExp { modulus_bits, .. } => {
                let group = match modulus_bits {
                    1024 => 2,
                    1536 => 5,
                    _ => 14,
                };
                let ours = DiffieHellman::draw(&mut context, group)?;
                let other = DiffieHellman::draw(&mut context, group)?;
                let theirs = other.public(&mut context);
                boxed(move |cx| ours.shared(cx, &theirs).is_some())
            }
            Operation::Kem {
                algorithm, step, ..
            } => {
                let key = KemKey::draw(&mut context, algorithm);
                let public = key.public();
                let ciphertext = algorithm.encapsulate(&mut context, &public)?.ciphertext;
                match step {
                    KemStep::Keygen => {
                        boxed(move |cx| !KemKey::draw(cx, algorithm).public().is_empty())
                    }
                    KemStep::Encapsulate => {
                        boxed(move |cx| algorithm.encapsulate(cx, &public).is_some())
                    }
                    KemStep::Decapsulate => {
                        boxed(move |cx| key.decapsulate(cx, &ciphertext).is_some())
                    }
                }
            }
            Operation::Sign { algorithm, .. } => {
                let credential = Credential::server(short_chain(algorithm));
                let mut message = vec![0x20; SIGNED_OCTETS];
                let mut number = 0_u64;
                boxed(move |cx| {
                    // ML-DSA repeats by chance: a message of its own for each signature.
                    number += 1;
                    message[..8].copy_from_slice(&number.to_be_bytes());
                    !credential.sign(cx, true, &message).is_empty()
                })
            }
            Operation::Verify { algorithm, .. } => {
                let chain = short_chain(algorithm);
                let credential = Credential::server(chain);
                let message = vec![0x20; SIGNED_OCTETS];
                let signature = credential.sign(&mut context, true, &message);
                let root = certificate::root(chain);
                let key = certificate::verify_chain(&mut context, credential.chain(), &root)?;
                let scheme = algorithm.scheme(true);
                boxed(move |cx| key.verify(cx, scheme, &message, &signature))
            }
            Operation::Pbkdf2 { iterations } => boxed(move |cx| {
                cx.record(Operation::Pbkdf2 { iterations });
                psk::from_passphrase("a passphrase to map", b"a network").is_ok()
            }),
            _ => None,
        }
    }
}

/// One call with the context of the handshakes.
type Counted = Box<dyn FnMut(&mut Context<'_>) -> bool + Send>;

#[allow(
    clippy::unnecessary_wraps,
    reason = "the end of branches of which some have no work"
)]
fn boxed(work: impl FnMut(&mut Context<'_>) -> bool + Send + 'static) -> Option<Counted> {
    Some(Box::new(work))
}

fn done(mut work: Counted) -> Work {
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    Box::new(move || work(&mut Context::new(&mut rng)))
}

/// A chain whose certificates are signed by a fast algorithm.
const fn short_chain(leaf: SignatureAlgorithm) -> Chain {
    Chain::new(leaf, None, SignatureAlgorithm::EcdsaP256)
}

fn multiplication(context: &mut Context<'_>, curve: Curve) -> Option<Counted> {
    let Some(number) = curve.group() else {
        let secret: [u8; 32] = context.random();
        let other: [u8; 32] = context.random();
        let point = context.x25519(&other, &BASE_POINT);
        return boxed(move |cx| cx.x25519(&secret, &point) != [0; 32]);
    };
    let group = Group::from_number(number)?;
    let scalar = group.random_scalar(context);
    let point = group.multiply_base(context, &scalar)?;
    boxed(move |cx| group.agree(cx, &point, &scalar).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_operation_is_what_its_name_says_and_succeeds() {
        for subject in Subject::all() {
            let mut work = subject.counted().unwrap();
            let mut rng = ChaCha8Rng::seed_from_u64(3);
            let mut cx = Context::new(&mut rng);
            assert!(work(&mut cx), "{}", subject.name());
            let counted = cx.finish().operations;
            assert!(
                counted.contains(&subject.operation),
                "{}: {counted:?}",
                subject.name()
            );
            let others = counted.iter().filter(|operation| {
                **operation != subject.operation
                    && !matches!(operation, Operation::Hash { .. } | Operation::Random { .. })
            });
            assert_eq!(others.count(), 0, "{}: {counted:?}", subject.name());
        }
    }

    #[test]
    fn names_are_distinct() {
        let mut names: Vec<String> = Subject::all().map(Subject::name).collect();
        let count = names.len();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), count);
    }
}
