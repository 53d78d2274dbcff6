//! Settings that both ends of an IKEv1 exchange share beforehand; offers and choices made of them.
//!
//! Takes an [`IkeV1Config`]; gives SA and identification payloads (RFC 2407 section 4, RFC 2409
//! appendix A) and reads the other end's.

use airtoll_wire::isakmp::{ProposalRepr, TransformRepr};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::octets::written;
use crate::operation::HashAlgorithm;
use crate::sides::Sides;

/// The cipher of IKE and of ESP.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum IkeCipher {
    /// DES-CBC.
    Des,
    /// 3DES-CBC.
    TripleDes,
    /// AES-CBC with 128 bits.
    Aes128,
}

impl IkeCipher {
    pub(super) const fn key_octets(self) -> usize {
        match self {
            Self::Des => 8,
            Self::TripleDes => 24,
            Self::Aes128 => 16,
        }
    }

    pub(super) const fn block_octets(self) -> usize {
        match self {
            Self::Aes128 => 16,
            _ => 8,
        }
    }

    /// The encryption algorithm of phase 1 (RFC 2409 appendix A).
    const fn algorithm(self) -> u16 {
        match self {
            Self::Des => 1,
            Self::TripleDes => 5,
            Self::Aes128 => 7,
        }
    }

    /// ESP's transform (RFC 2407 section 4.4.4).
    const fn esp_transform(self) -> u16 {
        match self {
            Self::Des => 2,
            Self::TripleDes => 3,
            Self::Aes128 => 12,
        }
    }
}

/// Settings that both ends share beforehand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IkeV1Config {
    /// Pre-shared key.
    pub preshared: Vec<u8>,
    /// IKE group: 2, 5 or 14.
    pub group: u16,
    /// Cipher of IKE and ESP.
    pub cipher: IkeCipher,
    /// MD5 or SHA-1, for IKE and for ESP's ICV.
    pub hash: HashAlgorithm,
    /// Whether quick mode has a Diffie-Hellman exchange of its own (FreeS/WAN's default).
    pub forward_secrecy: bool,
    /// The initiator's and the responder's IPv4 address, which are their identities.
    pub addresses: Sides<[u8; 4]>,
    /// The addresses inside the tunnel.
    pub inner: Sides<[u8; 4]>,
    /// Whether the ends look for address translation between them (RFC 3947).
    pub nat_traversal: bool,
}

type Attributes = Vec<(u16, u16)>;

/// Attributes of a transform.
struct Offer {
    /// Those that both ends have to agree on.
    wanted: Attributes,
    /// Those that only tell a lifetime.
    life: Attributes,
}

impl IkeV1Config {
    const fn hash_number(&self) -> u16 {
        match self.hash {
            HashAlgorithm::Md5 => 1,
            _ => 2,
        }
    }

    /// Phase 1: cipher, hash, pre-shared keys and group; then life type seconds, one hour.
    fn phase1(&self) -> Offer {
        let mut wanted = vec![
            (1, self.cipher.algorithm()),
            (2, self.hash_number()),
            (3, 1),
            (4, self.group),
        ];
        if self.cipher == IkeCipher::Aes128 {
            wanted.push((14, 128));
        }
        Offer {
            wanted,
            life: vec![(11, 1), (12, 3600)],
        }
    }

    /// Quick mode: tunnel mode, in UDP behind a translator (RFC 3947 section 5.1); ICV, group and
    /// key length.
    fn phase2(&self, translated: bool) -> Offer {
        let mode = if translated { 3 } else { 1 };
        let mut wanted = vec![(4, mode), (5, self.hash_number())];
        if self.forward_secrecy {
            wanted.push((3, self.group));
        }
        if self.cipher == IkeCipher::Aes128 {
            wanted.push((6, 128));
        }
        Offer {
            wanted,
            life: vec![(1, 1), (2, 28_800)],
        }
    }

    /// Phase 1's only proposal.
    pub(super) fn proposal(&self) -> Vec<u8> {
        let Offer { mut wanted, life } = self.phase1();
        wanted.extend(life);
        sa(1, Vec::new(), FIRST, 1, wanted)
    }

    /// Quick mode's only proposal, ESP in tunnel mode.
    pub(super) fn esp_proposal(&self, spi: [u8; 4], translated: bool) -> Vec<u8> {
        let transform = self.cipher.esp_transform();
        let Offer { wanted, life } = self.phase2(translated);
        // Lifetimes stand before group and key length, where FreeS/WAN has them.
        let mut attributes = wanted[..2].to_vec();
        attributes.extend(life);
        attributes.extend(&wanted[2..]);
        sa(3, spi.to_vec(), FIRST, transform, attributes)
    }

    /// The answer to an SA payload of phase 1: the first transform that has what we want, as it
    /// was offered (RFC 2408 section 4.2).
    pub(super) fn choose(&self, body: &[u8]) -> Option<Vec<u8>> {
        let wanted = self.phase1().wanted;
        let (proposal, transform) = chosen(body, 1, &wanted)?;
        let numbers = Numbers {
            proposal: proposal.number,
            transform: transform.kind,
        };
        let attributes = transform.attributes;
        Some(sa(1, Vec::new(), numbers, 1, attributes))
    }

    /// The SPI of an SA payload of quick mode, and the answer with our SPI.
    pub(super) fn choose_esp(
        &self,
        body: &[u8],
        spi: [u8; 4],
        translated: bool,
    ) -> Option<([u8; 4], Vec<u8>)> {
        let wanted = self.phase2(translated).wanted;
        let (proposal, transform) = chosen(body, self.cipher.esp_transform(), &wanted)?;
        let numbers = Numbers {
            proposal: proposal.number,
            transform: transform.kind,
        };
        let identifier = transform.identifier;
        let answer = sa(3, spi.to_vec(), numbers, identifier, transform.attributes);
        Some((proposal.spi.try_into().ok()?, answer))
    }
}

/// Numbers of a proposal and its only transform.
#[derive(Clone, Copy)]
struct Numbers {
    proposal: u8,
    transform: u8,
}

/// Those of our only proposal.
const FIRST: Numbers = Numbers {
    proposal: 0,
    transform: 0,
};

/// An SA payload with one proposal and one transform of these numbers.
fn sa(
    protocol: u8,
    spi: Vec<u8>,
    numbers: Numbers,
    identifier: u16,
    attributes: Attributes,
) -> Vec<u8> {
    let proposal = ProposalRepr {
        number: numbers.proposal,
        protocol,
        spi,
        transforms: vec![TransformRepr {
            kind: numbers.transform,
            identifier,
            attributes,
        }],
    };
    written(|out| proposal.emit(true, out))
}

/// The first transform with this identifier and these attributes, and its proposal.
fn chosen(
    body: &[u8],
    identifier: u16,
    wanted: &Attributes,
) -> Option<(ProposalRepr, TransformRepr)> {
    for proposal in ProposalRepr::parse_list(body, true).ok()? {
        let fits = |transform: &&TransformRepr| {
            transform.identifier == identifier
                && wanted
                    .iter()
                    .all(|attribute| transform.attributes.contains(attribute))
        };
        let found = proposal.transforms.iter().find(fits).cloned();
        if let Some(transform) = found {
            return Some((proposal, transform));
        }
    }
    None
}

/// An identification payload: ID_IPV4_ADDR (RFC 2407 section 4.6.2).
pub(super) fn identity(address: [u8; 4]) -> Vec<u8> {
    let mut out = vec![1, 0, 0, 0];
    out.extend(address);
    out
}
