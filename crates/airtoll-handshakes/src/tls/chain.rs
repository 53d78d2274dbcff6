//! Which signature algorithms the keys of a certificate chain have, and what TLS calls them.
//!
//! Takes algorithms from leaf to root; gives schemes. Never holds a certificate: `certificate` does.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};

use crate::operation::{HashAlgorithm, SignatureAlgorithm};

/// rsa_pkcs1_sha256 (RFC 8446 section 4.2.3).
pub const RSA_PKCS1_SHA256: u16 = 0x0401;
/// ecdsa_secp256r1_sha256.
pub const ECDSA_P256_SHA256: u16 = 0x0403;
/// rsa_pkcs1_sha384.
pub const RSA_PKCS1_SHA384: u16 = 0x0501;
/// ecdsa_secp384r1_sha384.
pub const ECDSA_P384_SHA384: u16 = 0x0503;
/// rsa_pss_rsae_sha256.
pub const RSA_PSS_SHA256: u16 = 0x0804;
/// rsa_pss_rsae_sha384.
pub const RSA_PSS_SHA384: u16 = 0x0805;
/// mldsa44 (draft-ietf-tls-mldsa).
const ML_DSA_44: u16 = 0x0904;
/// mldsa65.
const ML_DSA_65: u16 = 0x0905;
/// mldsa87.
const ML_DSA_87: u16 = 0x0906;
/// slhdsa_sha2_128s (draft-reddy-tls-slhdsa).
const SLH_DSA_SHA2_128S: u16 = 0x0911;
/// falconpadded512 of oqs-provider (`ALGORITHMS.md`): IANA has assigned none.
const FALCON_512: u16 = 0xfedc;
/// falconpadded1024 of oqs-provider.
const FALCON_1024: u16 = 0xfedf;

impl SignatureAlgorithm {
    /// Whether it is Falcon or an algorithm of FIPS 204 or 205, which need TLS 1.3.
    #[must_use]
    pub const fn is_post_quantum(self) -> bool {
        matches!(
            self,
            Self::MlDsa44
                | Self::MlDsa65
                | Self::MlDsa87
                | Self::SlhDsaSha2128s
                | Self::Falcon512
                | Self::Falcon1024
        )
    }

    /// Whether it is RSA.
    #[must_use]
    pub const fn is_rsa(self) -> bool {
        matches!(self, Self::Rsa2048 | Self::Rsa3072)
    }

    /// The scheme with which a key of this kind signs in TLS 1.2 or 1.3.
    #[must_use]
    pub const fn scheme(self, tls13: bool) -> u16 {
        match (self, tls13) {
            (Self::Rsa2048, true) => RSA_PSS_SHA256,
            (Self::Rsa3072, true) => RSA_PSS_SHA384,
            _ => self.certificate_scheme(),
        }
    }

    /// The scheme with which a CA of this key signs certificates.
    #[must_use]
    pub const fn certificate_scheme(self) -> u16 {
        match self {
            Self::Rsa2048 => RSA_PKCS1_SHA256,
            Self::EcdsaP256 => ECDSA_P256_SHA256,
            Self::Rsa3072 => RSA_PKCS1_SHA384,
            Self::EcdsaP384 => ECDSA_P384_SHA384,
            Self::MlDsa44 => ML_DSA_44,
            Self::MlDsa65 => ML_DSA_65,
            Self::MlDsa87 => ML_DSA_87,
            Self::SlhDsaSha2128s => SLH_DSA_SHA2_128S,
            Self::Falcon512 => FALCON_512,
            Self::Falcon1024 => FALCON_1024,
        }
    }

    /// The hash of what it signs; `None` where the algorithm hashes by itself.
    #[must_use]
    pub const fn hash(self) -> Option<HashAlgorithm> {
        match self {
            Self::Rsa2048 | Self::EcdsaP256 => Some(HashAlgorithm::Sha256),
            Self::Rsa3072 | Self::EcdsaP384 => Some(HashAlgorithm::Sha384),
            Self::MlDsa44
            | Self::MlDsa65
            | Self::MlDsa87
            | Self::SlhDsaSha2128s
            | Self::Falcon512
            | Self::Falcon1024 => None,
        }
    }

    /// The algorithm that WPA3-Enterprise's 192-bit mode requires instead (WPA3 specification, section
    /// 3.5): RSA with 3072 bits, or P-384.
    const fn strong(self) -> Self {
        match self {
            Self::Rsa2048 => Self::Rsa3072,
            Self::EcdsaP256 => Self::EcdsaP384,
            other => other,
        }
    }
}

/// The signature algorithms of a chain's keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "Vec<SignatureAlgorithm>", into = "Vec<SignatureAlgorithm>")]
pub struct Chain {
    leaf: SignatureAlgorithm,
    issuing: Option<SignatureAlgorithm>,
    root: SignatureAlgorithm,
}

impl Chain {
    /// RSA with 2048 bits throughout.
    pub const RSA_2048: Self = Self::uniform(SignatureAlgorithm::Rsa2048);
    /// ECDSA on P-256 throughout.
    pub const P256: Self = Self::uniform(SignatureAlgorithm::EcdsaP256);
    /// RSA with 3072 bits and SHA-384 throughout.
    pub const RSA_3072: Self = Self::uniform(SignatureAlgorithm::Rsa3072);
    /// ECDSA on P-384 with SHA-384 throughout.
    pub const P384: Self = Self::uniform(SignatureAlgorithm::EcdsaP384);

    /// Leaf, issuing CA and root of one algorithm.
    #[must_use]
    pub const fn uniform(algorithm: SignatureAlgorithm) -> Self {
        Self {
            leaf: algorithm,
            issuing: Some(algorithm),
            root: algorithm,
        }
    }

    /// A leaf that the root signs, or an issuing CA between both.
    #[must_use]
    pub const fn new(
        leaf: SignatureAlgorithm,
        issuing: Option<SignatureAlgorithm>,
        root: SignatureAlgorithm,
    ) -> Self {
        Self {
            leaf,
            issuing,
            root,
        }
    }

    /// The leaf's algorithm, which signs the handshake.
    #[must_use]
    pub const fn leaf(self) -> SignatureAlgorithm {
        self.leaf
    }

    /// The issuing CA's algorithm; `None` where the root signs the leaf.
    #[must_use]
    pub const fn issuing(self) -> Option<SignatureAlgorithm> {
        self.issuing
    }

    /// The root's algorithm.
    #[must_use]
    pub const fn root(self) -> SignatureAlgorithm {
        self.root
    }

    /// The algorithms from leaf to root.
    pub fn algorithms(self) -> impl Iterator<Item = SignatureAlgorithm> {
        [Some(self.leaf), self.issuing, Some(self.root)]
            .into_iter()
            .flatten()
    }

    /// The chain that WPA3-Enterprise's 192-bit mode requires instead.
    #[must_use]
    pub fn strong(self) -> Self {
        Self {
            leaf: self.leaf.strong(),
            issuing: self.issuing.map(SignatureAlgorithm::strong),
            root: self.root.strong(),
        }
    }

    /// Whether any of its signatures needs TLS 1.3.
    #[must_use]
    pub fn is_post_quantum(self) -> bool {
        self.algorithms().any(SignatureAlgorithm::is_post_quantum)
    }

    /// The list of signature_algorithms of an end that trusts this chain's root. An end of classical
    /// chains offers ECDSA, PSS and PKCS#1 of one strength, one of others the schemes of this chain.
    #[must_use]
    pub fn schemes(self) -> Vec<u8> {
        let offered = match self.root {
            _ if self.is_post_quantum() => {
                let mut list = Vec::new();
                for algorithm in self.algorithms() {
                    for scheme in [algorithm.scheme(true), algorithm.certificate_scheme()] {
                        if !list.contains(&scheme) {
                            list.push(scheme);
                        }
                    }
                }
                list
            }
            SignatureAlgorithm::Rsa3072 | SignatureAlgorithm::EcdsaP384 => {
                vec![ECDSA_P384_SHA384, RSA_PSS_SHA384, RSA_PKCS1_SHA384]
            }
            _ => vec![ECDSA_P256_SHA256, RSA_PSS_SHA256, RSA_PKCS1_SHA256],
        };
        offered.into_iter().flat_map(u16::to_be_bytes).collect()
    }
}

impl JsonSchema for Chain {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Chain".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        Vec::<SignatureAlgorithm>::json_schema(generator)
    }
}

impl Default for Chain {
    fn default() -> Self {
        Self::RSA_2048
    }
}

impl From<Chain> for Vec<SignatureAlgorithm> {
    fn from(chain: Chain) -> Self {
        chain.algorithms().collect()
    }
}

impl TryFrom<Vec<SignatureAlgorithm>> for Chain {
    type Error = String;

    fn try_from(algorithms: Vec<SignatureAlgorithm>) -> Result<Self, String> {
        match algorithms[..] {
            [one] => Ok(Self::uniform(one)),
            [leaf, root] => Ok(Self::new(leaf, None, root)),
            [leaf, issuing, root] => Ok(Self::new(leaf, Some(issuing), root)),
            _ => Err(format!(
                "chain: {} algorithms; give one for all, leaf and root, or leaf, issuing CA and root",
                algorithms.len()
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chain_is_a_list_from_leaf_to_root() {
        for (list, short) in [
            ("[\"ml-dsa-44\",\"ml-dsa-65\",\"slh-dsa-sha2-128s\"]", false),
            ("[\"ecdsa-p-256\",\"rsa-3072\"]", true),
        ] {
            let chain: Chain = serde_json::from_str(list).unwrap();
            assert_eq!(chain.issuing().is_none(), short);
            assert_eq!(serde_json::to_string(&chain).unwrap(), list);
        }
        assert!(serde_json::from_str::<Chain>("[]").is_err());
        assert_eq!(
            serde_json::from_str::<Chain>("[\"rsa-2048\"]").ok(),
            Some(Chain::RSA_2048)
        );
    }

    #[test]
    fn a_trusting_end_offers_what_the_chain_signs_with() {
        assert_eq!(Chain::P256.schemes(), [4, 3, 8, 4, 4, 1]);
        assert_eq!(Chain::RSA_3072.schemes(), [5, 3, 8, 5, 5, 1]);
        let mixed = Chain::new(
            SignatureAlgorithm::MlDsa44,
            None,
            SignatureAlgorithm::Rsa2048,
        );
        assert_eq!(mixed.schemes(), [9, 4, 8, 4, 4, 1]);
    }
}
