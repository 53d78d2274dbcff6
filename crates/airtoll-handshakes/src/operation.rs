//! Operations of a party between two messages, by name, so that a device profile can price them.
//!
//! Takes nothing; gives [`Operation`] and [`merge`]. Never holds a key or a time: how long a
//! 2048-bit signature takes is a fact of the device, not of the protocol.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A hash function.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum HashAlgorithm {
    /// MD4 (RFC 1320).
    Md4,
    /// MD5 (RFC 1321).
    Md5,
    /// SHA-1 (FIPS 180-4).
    Sha1,
    /// SHA-256.
    Sha256,
    /// SHA-384.
    Sha384,
    /// SHA-512.
    Sha512,
    /// BLAKE2s (RFC 7693).
    Blake2s,
}

impl HashAlgorithm {
    /// Octets that one compression takes in.
    #[must_use]
    pub const fn block_octets(self) -> usize {
        match self {
            Self::Sha384 | Self::Sha512 => 128,
            _ => 64,
        }
    }

    /// Octets of digest.
    #[must_use]
    pub const fn digest_octets(self) -> usize {
        match self {
            Self::Md4 | Self::Md5 => 16,
            Self::Sha1 => 20,
            Self::Sha256 | Self::Blake2s => 32,
            Self::Sha384 => 48,
            Self::Sha512 => 64,
        }
    }

    /// Compressions that a message of `octets` takes, padding included.
    #[must_use]
    pub const fn blocks(self, octets: usize) -> u64 {
        let padding = match self {
            Self::Sha384 | Self::Sha512 => 17,
            // BLAKE2 pads with nothing and always compresses once.
            Self::Blake2s => 0,
            _ => 9,
        };
        let blocks = (octets + padding).div_ceil(self.block_octets());
        if blocks == 0 { 1 } else { blocks as u64 }
    }

    /// Compressions of an HMAC (RFC 2104) over `octets` with a key of `key_octets`.
    #[must_use]
    pub const fn hmac_blocks(self, key_octets: usize, octets: usize) -> u64 {
        let key = if key_octets > self.block_octets() {
            self.blocks(key_octets)
        } else {
            0
        };
        key + self.blocks(self.block_octets() + octets)
            + self.blocks(self.block_octets() + self.digest_octets())
    }
}

/// An elliptic curve.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
pub enum Curve {
    /// NIST P-256, IANA group 19.
    #[serde(rename = "p-256")]
    P256,
    /// NIST P-384, IANA group 20.
    #[serde(rename = "p-384")]
    P384,
    /// NIST P-521, IANA group 21.
    #[serde(rename = "p-521")]
    P521,
    /// Curve25519 (RFC 7748).
    #[serde(rename = "x25519")]
    X25519,
}

/// A signature algorithm with its key size.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
pub enum SignatureAlgorithm {
    /// RSA with a 2048-bit modulus.
    #[serde(rename = "rsa-2048")]
    Rsa2048,
    /// ECDSA on P-256.
    #[serde(rename = "ecdsa-p-256")]
    EcdsaP256,
    /// RSA with a 3072-bit modulus.
    #[serde(rename = "rsa-3072")]
    Rsa3072,
    /// ECDSA on P-384.
    #[serde(rename = "ecdsa-p-384")]
    EcdsaP384,
    /// ML-DSA-44 (FIPS 204).
    #[serde(rename = "ml-dsa-44")]
    MlDsa44,
    /// ML-DSA-65.
    #[serde(rename = "ml-dsa-65")]
    MlDsa65,
    /// ML-DSA-87.
    #[serde(rename = "ml-dsa-87")]
    MlDsa87,
    /// SLH-DSA-SHA2-128s (FIPS 205).
    #[serde(rename = "slh-dsa-sha2-128s")]
    SlhDsaSha2128s,
    /// Falcon-512 in the padded format, by size: its octets are made up.
    #[serde(rename = "falcon-512")]
    Falcon512,
    /// Falcon-1024 in the padded format, by size.
    #[serde(rename = "falcon-1024")]
    Falcon1024,
}

/// A key-encapsulation mechanism of FIPS 203.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
pub enum KemAlgorithm {
    /// ML-KEM-512.
    #[serde(rename = "ml-kem-512")]
    MlKem512,
    /// ML-KEM-768.
    #[serde(rename = "ml-kem-768")]
    MlKem768,
    /// ML-KEM-1024.
    #[serde(rename = "ml-kem-1024")]
    MlKem1024,
}

impl KemAlgorithm {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::MlKem512, Self::MlKem768, Self::MlKem1024];

    /// Its name in profiles and JSON.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::MlKem512 => "ml-kem-512",
            Self::MlKem768 => "ml-kem-768",
            Self::MlKem1024 => "ml-kem-1024",
        }
    }
}

/// A step of a key-encapsulation mechanism.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum KemStep {
    /// A key pair is drawn.
    Keygen,
    /// A secret is drawn and encapsulated.
    Encapsulate,
    /// The secret is taken out.
    Decapsulate,
}

impl KemStep {
    const fn name(self) -> &'static str {
        match self {
            Self::Keygen => "keygen",
            Self::Encapsulate => "encapsulate",
            Self::Decapsulate => "decapsulate",
        }
    }
}

impl Curve {
    /// Its IANA group number; `None` for Curve25519, whose points are no pairs of coordinates.
    #[must_use]
    pub const fn group(self) -> Option<u16> {
        match self {
            Self::P256 => Some(19),
            Self::P384 => Some(20),
            Self::P521 => Some(21),
            Self::X25519 => None,
        }
    }

    /// Its name in profiles and JSON.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::P256 => "p-256",
            Self::P384 => "p-384",
            Self::P521 => "p-521",
            Self::X25519 => "x25519",
        }
    }
}

impl SignatureAlgorithm {
    /// All of them.
    pub const ALL: [Self; 10] = [
        Self::Rsa2048,
        Self::EcdsaP256,
        Self::Rsa3072,
        Self::EcdsaP384,
        Self::MlDsa44,
        Self::MlDsa65,
        Self::MlDsa87,
        Self::SlhDsaSha2128s,
        Self::Falcon512,
        Self::Falcon1024,
    ];

    /// Its name in profiles and JSON.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Rsa2048 => "rsa-2048",
            Self::EcdsaP256 => "ecdsa-p-256",
            Self::Rsa3072 => "rsa-3072",
            Self::EcdsaP384 => "ecdsa-p-384",
            Self::MlDsa44 => "ml-dsa-44",
            Self::MlDsa65 => "ml-dsa-65",
            Self::MlDsa87 => "ml-dsa-87",
            Self::SlhDsaSha2128s => "slh-dsa-sha2-128s",
            Self::Falcon512 => "falcon-512",
            Self::Falcon1024 => "falcon-1024",
        }
    }

    /// Whether it has the sizes of its algorithm and made-up octets, so that nothing computes it.
    #[must_use]
    pub const fn is_by_size(self) -> bool {
        matches!(self, Self::Falcon512 | Self::Falcon1024)
    }
}

/// One kind of work and how much of it.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(tag = "operation", rename_all = "snake_case")]
pub enum Operation {
    /// Random octets drawn.
    Random {
        /// How many.
        octets: u64,
    },
    /// Compressions of a hash, those inside HMAC and key derivation included.
    Hash {
        /// Which function.
        algorithm: HashAlgorithm,
        /// How many.
        blocks: u64,
    },
    /// PBKDF2 (RFC 8018): the passphrase mapping of IEEE 802.11-2020 annex J.4.
    Pbkdf2 {
        /// Iterations, all output blocks together.
        iterations: u64,
    },
    /// AES block operations, in any mode.
    Aes {
        /// Bits of key.
        key_bits: u16,
        /// How many.
        blocks: u64,
    },
    /// DES block operations; one block of triple DES is three.
    Des {
        /// How many.
        blocks: u64,
    },
    /// RC4 octets.
    Rc4 {
        /// How many, discarded ones included.
        octets: u64,
    },
    /// ChaCha20-Poly1305 octets.
    ChaCha20Poly1305 {
        /// How many, associated data included.
        octets: u64,
    },
    /// Exponentiations modulo a prime (Diffie-Hellman).
    ModExp {
        /// Bits of the modulus.
        modulus_bits: u16,
        /// Bits of the exponent.
        exponent_bits: u16,
        /// How many.
        count: u64,
    },
    /// Multiplications of a point.
    EcScalarMul {
        /// The curve.
        curve: Curve,
        /// How many.
        count: u64,
    },
    /// Powers in a curve's field: square roots and quadratic-residue tests of SAE.
    FieldPower {
        /// The curve.
        curve: Curve,
        /// How many.
        count: u64,
    },
    /// Steps of a key-encapsulation mechanism.
    Kem {
        /// The parameter set.
        algorithm: KemAlgorithm,
        /// Which step.
        step: KemStep,
        /// How many.
        count: u64,
    },
    /// Signatures made, or RSA decryptions.
    Sign {
        /// Algorithm and key size.
        algorithm: SignatureAlgorithm,
        /// How many.
        count: u64,
    },
    /// Signatures checked, or RSA encryptions.
    Verify {
        /// Algorithm and key size.
        algorithm: SignatureAlgorithm,
        /// How many.
        count: u64,
    },
}

impl Operation {
    /// The name under which a device profile prices this kind of work, and how many of its units
    /// this is: blocks, octets, iterations, single operations, or bits of the exponents of modular
    /// exponentiations.
    #[must_use]
    pub fn priced(&self) -> (String, u64) {
        match *self {
            Self::Random { octets } => ("random-octet".to_owned(), octets),
            Self::Hash { algorithm, blocks } => {
                let name = match algorithm {
                    HashAlgorithm::Md4 => "md4-block",
                    HashAlgorithm::Md5 => "md5-block",
                    HashAlgorithm::Sha1 => "sha1-block",
                    HashAlgorithm::Sha256 => "sha256-block",
                    HashAlgorithm::Sha384 => "sha384-block",
                    HashAlgorithm::Sha512 => "sha512-block",
                    HashAlgorithm::Blake2s => "blake2s-block",
                };
                (name.to_owned(), blocks)
            }
            Self::Pbkdf2 { iterations } => ("pbkdf2-iteration".to_owned(), iterations),
            Self::Aes { key_bits, blocks } => (format!("aes-{key_bits}-block"), blocks),
            Self::Des { blocks } => ("des-block".to_owned(), blocks),
            Self::Rc4 { octets } => ("rc4-octet".to_owned(), octets),
            Self::ChaCha20Poly1305 { octets } => ("chacha20-poly1305-octet".to_owned(), octets),
            Self::ModExp {
                modulus_bits,
                exponent_bits,
                count,
            } => (
                format!("mod-exp-{modulus_bits}-bit"),
                u64::from(exponent_bits) * count,
            ),
            Self::EcScalarMul { curve, count } => (format!("{}-scalar-mul", curve.name()), count),
            Self::FieldPower { curve, count } => (format!("{}-field-power", curve.name()), count),
            Self::Kem {
                algorithm,
                step,
                count,
            } => (format!("{}-{}", algorithm.name(), step.name()), count),
            Self::Sign { algorithm, count } => (format!("{}-sign", algorithm.name()), count),
            Self::Verify { algorithm, count } => (format!("{}-verify", algorithm.name()), count),
        }
    }

    /// Whether it takes a small device milliseconds: public keys, and the mapping of a passphrase.
    #[must_use]
    pub const fn is_heavy(&self) -> bool {
        matches!(
            self,
            Self::Pbkdf2 { .. }
                | Self::ModExp { .. }
                | Self::EcScalarMul { .. }
                | Self::FieldPower { .. }
                | Self::Kem { .. }
                | Self::Sign { .. }
                | Self::Verify { .. }
        )
    }

    /// Adds `other` to this if both are the same kind of work; tells whether it did.
    pub fn absorb(&mut self, other: &Self) -> bool {
        match (self, other) {
            (Self::Random { octets }, Self::Random { octets: more })
            | (Self::Rc4 { octets }, Self::Rc4 { octets: more })
            | (Self::ChaCha20Poly1305 { octets }, Self::ChaCha20Poly1305 { octets: more }) => {
                *octets += more;
            }
            (
                Self::Hash { algorithm, blocks },
                Self::Hash {
                    algorithm: same,
                    blocks: more,
                },
            ) if algorithm == same => *blocks += more,
            (Self::Pbkdf2 { iterations }, Self::Pbkdf2 { iterations: more }) => *iterations += more,
            (
                Self::Aes { key_bits, blocks },
                Self::Aes {
                    key_bits: same,
                    blocks: more,
                },
            ) if key_bits == same => *blocks += more,
            (Self::Des { blocks }, Self::Des { blocks: more }) => *blocks += more,
            (
                Self::ModExp {
                    modulus_bits,
                    exponent_bits,
                    count,
                },
                Self::ModExp {
                    modulus_bits: m,
                    exponent_bits: e,
                    count: more,
                },
            ) if modulus_bits == m && exponent_bits == e => *count += more,
            (
                Self::EcScalarMul { curve, count },
                Self::EcScalarMul {
                    curve: same,
                    count: more,
                },
            )
            | (
                Self::FieldPower { curve, count },
                Self::FieldPower {
                    curve: same,
                    count: more,
                },
            ) if curve == same => *count += more,
            (
                Self::Kem {
                    algorithm,
                    step,
                    count,
                },
                Self::Kem {
                    algorithm: same,
                    step: also,
                    count: more,
                },
            ) if algorithm == same && step == also => *count += more,
            (
                Self::Sign { algorithm, count },
                Self::Sign {
                    algorithm: same,
                    count: more,
                },
            )
            | (
                Self::Verify { algorithm, count },
                Self::Verify {
                    algorithm: same,
                    count: more,
                },
            ) if algorithm == same => *count += more,
            _ => return false,
        }
        true
    }
}

/// Adds up equal kinds of work, in a fixed order.
#[must_use]
pub fn merge<'a>(operations: impl IntoIterator<Item = &'a Operation>) -> Vec<Operation> {
    let mut merged: Vec<Operation> = Vec::new();
    for operation in operations {
        if !merged.iter_mut().any(|known| known.absorb(operation)) {
            merged.push(*operation);
        }
    }
    merged.sort_unstable();
    merged
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_hmac_sha1_of_a_short_message_is_four_compressions() {
        assert_eq!(HashAlgorithm::Sha1.hmac_blocks(16, 40), 4);
        assert_eq!(HashAlgorithm::Sha1.blocks(55), 1);
        assert_eq!(HashAlgorithm::Sha1.blocks(56), 2);
        assert_eq!(HashAlgorithm::Sha384.blocks(111), 1);
        assert_eq!(HashAlgorithm::Sha384.blocks(112), 2);
    }

    #[test]
    fn equal_work_adds_up_and_different_work_does_not() {
        let aes = |key_bits, blocks| Operation::Aes { key_bits, blocks };
        let merged = merge(&[
            aes(128, 1),
            Operation::Random { octets: 32 },
            aes(256, 2),
            aes(128, 3),
        ]);
        assert_eq!(
            merged,
            [Operation::Random { octets: 32 }, aes(128, 4), aes(256, 2)]
        );
    }
}
