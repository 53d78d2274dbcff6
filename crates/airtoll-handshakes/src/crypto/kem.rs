//! ML-KEM (FIPS 203), counted.
//!
//! Takes a parameter set and a random source; gives encapsulation keys, ciphertexts and shared secrets of
//! 32 octets. Never combines them with a curve: `tls::key_share`,
//! IKEv2, SAE and OWE do.

use airtoll_security::akm::AkmSuite;
use ml_kem::kem::{Encapsulate, Kem, KeyExport, TryDecapsulate, TryKeyInit};
use ml_kem::{DecapsulationKey, MlKem512, MlKem768, MlKem1024, Seed};

use crate::exchange::{Context, Party};
use crate::operation::{KemAlgorithm, KemStep, Operation};

/// Octets of the seed that a decapsulation key is made of (FIPS 203 section 7.1: d, then z).
const SEED_OCTETS: usize = 64;

/// A shared secret and the ciphertext that holds it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Encapsulated {
    /// For the holder of the key.
    pub ciphertext: Vec<u8>,
    /// 32 octets.
    pub secret: Vec<u8>,
}

impl KemAlgorithm {
    /// The mechanism beside the curve of an AKM, if it has one.
    #[must_use]
    pub const fn of_akm(akm: Option<AkmSuite>) -> Option<Self> {
        match akm {
            Some(AkmSuite::SaeMlKem768Draft | AkmSuite::OweMlKem768Draft) => Some(Self::MlKem768),
            _ => None,
        }
    }

    /// Octets of an encapsulation key (FIPS 203 table 3).
    #[must_use]
    pub const fn key_octets(self) -> usize {
        match self {
            Self::MlKem512 => 800,
            Self::MlKem768 => 1184,
            Self::MlKem1024 => 1568,
        }
    }

    /// Octets of a ciphertext (FIPS 203 table 3).
    #[must_use]
    pub const fn ciphertext_octets(self) -> usize {
        match self {
            Self::MlKem512 => 768,
            Self::MlKem768 => 1088,
            Self::MlKem1024 => 1568,
        }
    }

    fn record(self, context: &mut Context<'_>, step: KemStep) {
        context.record(Operation::Kem {
            algorithm: self,
            step,
            count: 1,
        });
    }

    /// A shared secret and its ciphertext for the holder of this key; `None` for octets that are no
    /// encapsulation key (FIPS 203 section 7.2).
    pub fn encapsulate(self, context: &mut Context<'_>, key: &[u8]) -> Option<Encapsulated> {
        let agreed = match self {
            Self::MlKem512 => encapsulate::<MlKem512>(context, key),
            Self::MlKem768 => encapsulate::<MlKem768>(context, key),
            Self::MlKem1024 => encapsulate::<MlKem1024>(context, key),
        };
        self.record(context, KemStep::Encapsulate);
        agreed
    }
}

fn encapsulate<K>(context: &mut Context<'_>, key: &[u8]) -> Option<Encapsulated>
where
    K: Kem,
    K::EncapsulationKey: TryKeyInit,
{
    let key = K::EncapsulationKey::new_from_slice(key).ok()?;
    let (ciphertext, secret) = key.encapsulate_with_rng(context.rng());
    Some(Encapsulated {
        ciphertext: ciphertext.to_vec(),
        secret: secret.to_vec(),
    })
}

/// A decapsulation key.
#[derive(Clone)]
pub struct KemKey(Expanded);

#[derive(Clone)]
enum Expanded {
    MlKem512(Box<DecapsulationKey<MlKem512>>),
    MlKem768(Box<DecapsulationKey<MlKem768>>),
    MlKem1024(Box<DecapsulationKey<MlKem1024>>),
}

impl KemKey {
    /// A new key.
    pub fn draw(context: &mut Context<'_>, algorithm: KemAlgorithm) -> Self {
        algorithm.record(context, KemStep::Keygen);
        let seed = Seed::from(context.random::<SEED_OCTETS>());
        Self(match algorithm {
            KemAlgorithm::MlKem512 => {
                Expanded::MlKem512(Box::new(DecapsulationKey::from_seed(seed)))
            }
            KemAlgorithm::MlKem768 => {
                Expanded::MlKem768(Box::new(DecapsulationKey::from_seed(seed)))
            }
            KemAlgorithm::MlKem1024 => {
                Expanded::MlKem1024(Box::new(DecapsulationKey::from_seed(seed)))
            }
        })
    }

    /// Its encapsulation key.
    #[must_use]
    pub fn public(&self) -> Vec<u8> {
        match &self.0 {
            Expanded::MlKem512(key) => public(&**key),
            Expanded::MlKem768(key) => public(&**key),
            Expanded::MlKem1024(key) => public(&**key),
        }
    }

    /// The secret in a ciphertext; `None` for octets of another length. A wrong ciphertext of the right
    /// length gives another secret (FIPS 203 section 6.3: implicit rejection).
    pub fn decapsulate(&self, context: &mut Context<'_>, ciphertext: &[u8]) -> Option<Vec<u8>> {
        let (algorithm, secret) = match &self.0 {
            Expanded::MlKem512(key) => (KemAlgorithm::MlKem512, secret(&**key, ciphertext)),
            Expanded::MlKem768(key) => (KemAlgorithm::MlKem768, secret(&**key, ciphertext)),
            Expanded::MlKem1024(key) => (KemAlgorithm::MlKem1024, secret(&**key, ciphertext)),
        };
        algorithm.record(context, KemStep::Decapsulate);
        secret
    }
}

/// One end's part of a mechanism beside a curve, where the station asks and the access point answers:
/// the station's is an encapsulation key, the access point's a ciphertext for it.
pub struct KemHalf {
    algorithm: KemAlgorithm,
    party: Party,
    /// The station's key.
    key: Option<KemKey>,
    /// The key that the access point got, and its answer.
    answer: Option<(Vec<u8>, Encapsulated)>,
}

impl KemHalf {
    /// Before anything is drawn; `None` for an AKM without a mechanism.
    #[must_use]
    pub fn new(akm: Option<AkmSuite>, party: Party) -> Option<Self> {
        Some(Self {
            algorithm: KemAlgorithm::of_akm(akm)?,
            party,
            key: None,
            answer: None,
        })
    }

    /// The station draws its key, if it has none.
    pub fn draw(&mut self, context: &mut Context<'_>) {
        if self.party == Party::Station && self.key.is_none() {
            self.key = Some(KemKey::draw(context, self.algorithm));
        }
    }

    /// The octets that this end sends; empty before it has any.
    #[must_use]
    pub fn own(&self) -> Vec<u8> {
        match (&self.key, &self.answer) {
            (Some(key), _) => key.public(),
            (None, Some((_, answer))) => answer.ciphertext.clone(),
            (None, None) => Vec::new(),
        }
    }

    /// Octets that the other end sends.
    #[must_use]
    pub const fn peer_octets(&self) -> usize {
        match self.party {
            Party::Station => self.algorithm.ciphertext_octets(),
            _ => self.algorithm.key_octets(),
        }
    }

    /// The shared secret that follows from the other end's octets; `None` where they are invalid. An
    /// access point answers an equal key with equal octets.
    pub fn agree(&mut self, context: &mut Context<'_>, peer: &[u8]) -> Option<Vec<u8>> {
        if let Some(key) = &self.key {
            return key.decapsulate(context, peer);
        }
        if self.answer.as_ref().is_none_or(|(key, ..)| key != peer) {
            let answer = self.algorithm.encapsulate(context, peer)?;
            self.answer = Some((peer.to_vec(), answer));
        }
        self.answer
            .as_ref()
            .map(|(_, answer)| answer.secret.clone())
    }
}

fn public<D>(key: &D) -> Vec<u8>
where
    D: TryDecapsulate,
    <D::Kem as Kem>::EncapsulationKey: KeyExport,
{
    key.encapsulation_key().to_bytes().to_vec()
}

fn secret<D: TryDecapsulate>(key: &D, ciphertext: &[u8]) -> Option<Vec<u8>> {
    let ciphertext = ciphertext.try_into().ok()?;
    key.try_decapsulate(&ciphertext)
        .ok()
        .map(|secret| secret.to_vec())
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;
    use std::convert::Infallible;

    use rand_chacha::ChaCha8Rng;
    use rand_chacha::rand_core::{SeedableRng, TryCryptoRng, TryRng};

    use super::*;
    use crate::crypto::vectors::{cases, octets};

    const VECTORS: &str = include_str!("vectors/ml-kem.json");

    const ALL: [(&str, KemAlgorithm); 3] = [
        ("ML-KEM-512", KemAlgorithm::MlKem512),
        ("ML-KEM-768", KemAlgorithm::MlKem768),
        ("ML-KEM-1024", KemAlgorithm::MlKem1024),
    ];

    /// Gives these octets, each once.
    struct Given(VecDeque<u8>);

    impl Given {
        fn take<const N: usize>(&mut self) -> [u8; N] {
            std::array::from_fn(|_| self.0.pop_front().unwrap())
        }
    }

    impl TryRng for Given {
        type Error = Infallible;

        fn try_next_u32(&mut self) -> Result<u32, Infallible> {
            Ok(u32::from_le_bytes(self.take()))
        }

        fn try_next_u64(&mut self) -> Result<u64, Infallible> {
            Ok(u64::from_le_bytes(self.take()))
        }

        fn try_fill_bytes(&mut self, out: &mut [u8]) -> Result<(), Infallible> {
            out.fill_with(|| self.0.pop_front().unwrap());
            Ok(())
        }
    }

    impl TryCryptoRng for Given {}

    #[test]
    fn keys_are_those_of_the_acvp_vectors() {
        for (name, algorithm) in ALL {
            for case in cases(VECTORS, "keyGen", name) {
                let seed = [octets(&case, "d"), octets(&case, "z")].concat();
                let mut rng = Given(seed.into());
                let key = KemKey::draw(&mut Context::new(&mut rng), algorithm);
                assert_eq!(key.public(), octets(&case, "ek"), "{name}");
            }
        }
    }

    #[test]
    fn ciphertexts_and_secrets_are_those_of_the_acvp_vectors() {
        for (name, algorithm) in ALL {
            for case in cases(VECTORS, "encapsulation", name) {
                let mut rng = Given(octets(&case, "m").into());
                let agreed =
                    algorithm.encapsulate(&mut Context::new(&mut rng), &octets(&case, "ek"));
                let expected = Encapsulated {
                    ciphertext: octets(&case, "c"),
                    secret: octets(&case, "k"),
                };
                assert_eq!(agreed, Some(expected), "{name}");
            }
        }
    }

    #[test]
    fn both_ends_share_one_secret_of_the_standard_s_sizes() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let mut cx = Context::new(&mut rng);
        for (_, algorithm) in ALL {
            let key = KemKey::draw(&mut cx, algorithm);
            let public = key.public();
            assert_eq!(public.len(), algorithm.key_octets());
            let Encapsulated {
                mut ciphertext,
                secret,
            } = algorithm.encapsulate(&mut cx, &public).unwrap();
            assert_eq!(ciphertext.len(), algorithm.ciphertext_octets());
            assert_eq!(key.decapsulate(&mut cx, &ciphertext), Some(secret.clone()));
            ciphertext[0] ^= 1;
            let other = key.decapsulate(&mut cx, &ciphertext);
            assert!(other.is_some_and(|other| other != secret));
            assert_eq!(key.decapsulate(&mut cx, &ciphertext[1..]), None);
            assert_eq!(algorithm.encapsulate(&mut cx, &public[1..]), None);
        }
    }
}
