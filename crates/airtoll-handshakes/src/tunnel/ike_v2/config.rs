//! Settings that both ends of an IKEv2 exchange share beforehand; offers and choices made of them.
//!
//! Takes an [`IkeV2Config`]; gives SA, identification and traffic selector payloads (RFC 7296
//! sections 3.3, 3.5 and 3.13) and reads the other end's.

use airtoll_wire::isakmp::{Payload, ProposalRepr, TransformRepr, payload};

use crate::octets::written;
use crate::operation::{HashAlgorithm, KemAlgorithm};
use crate::sides::Sides;
use crate::tls::Chain;

/// AUTHENTICATION_FAILED (RFC 7296 section 3.10.1).
pub(super) const AUTHENTICATION_FAILED: u16 = 24;
/// INVALID_KE_PAYLOAD, with the group that is wanted.
pub(super) const INVALID_KE_PAYLOAD: u16 = 17;
/// NO_PROPOSAL_CHOSEN.
pub(super) const NO_PROPOSAL_CHOSEN: u16 = 14;
/// IKEV2_FRAGMENTATION_SUPPORTED (RFC 7383 section 2.3).
pub(super) const FRAGMENTATION_SUPPORTED: u16 = 16_430;
/// INTERMEDIATE_EXCHANGE_SUPPORTED (RFC 9242 section 3.1).
pub(super) const INTERMEDIATE_EXCHANGE_SUPPORTED: u16 = 16_438;
/// Notify types from here on tell a status, those below an error.
const FIRST_STATUS: u16 = 16_384;

/// Settings that both ends share beforehand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IkeV2Config {
    /// Pre-shared key.
    pub preshared: Vec<u8>,
    /// The chains with which both ends authenticate, instead of the pre-shared key (RFC 7427).
    pub chain: Option<Chain>,
    /// Whether the responder's chain ends in a root that the initiator does not trust.
    pub rogue: bool,
    /// Transform of the key exchange in IKE_SA_INIT: 14 (MODP-2048), 19 (P-256), 31 (X25519), or 35 to 37
    /// (ML-KEM-512 to 1024, draft-ietf-ipsecme-ikev2-mlkem).
    pub group: u16,
    /// A second key exchange, in IKE_INTERMEDIATE (RFC 9370, RFC 9242).
    pub additional: Option<KemAlgorithm>,
    /// Octets of the longest IPv4 datagram before encrypted messages are fragmented (RFC 7383); `None`: never.
    pub fragment_octets: Option<usize>,
    /// AES-GCM-128 with PRF-HMAC-SHA-256; otherwise AES-CBC-128 with HMAC-SHA-1.
    pub gcm: bool,
    /// The initiator's and the responder's IPv4 address, which are their identities.
    pub addresses: Sides<[u8; 4]>,
    /// The initiator's address inside the tunnel: its traffic selector.
    pub inner: [u8; 4],
    /// Whether the ends look for address translation between them (section 2.23).
    pub nat_traversal: bool,
    /// Whether the tunnel may move to other addresses later (RFC 4555).
    pub mobike: bool,
}

impl IkeV2Config {
    /// A pre-shared key, one key exchange, addresses that are the tunnel's own, no fragments, no NAT traversal, no MOBIKE.
    #[must_use]
    pub const fn new(preshared: Vec<u8>, group: u16, gcm: bool, addresses: Sides<[u8; 4]>) -> Self {
        Self {
            preshared,
            chain: None,
            rogue: false,
            group,
            additional: None,
            fragment_octets: None,
            gcm,
            addresses,
            inner: addresses.initiator,
            nat_traversal: false,
            mobike: false,
        }
    }

    pub(super) const fn hash(&self) -> HashAlgorithm {
        if self.gcm {
            HashAlgorithm::Sha256
        } else {
            HashAlgorithm::Sha1
        }
    }

    /// Transforms of section 3.3.2; ESP's have no PRF and no group but say that sequence
    /// numbers are not extended.
    fn transforms(&self, esp: bool) -> Vec<TransformRepr> {
        let transform = |kind, identifier, attributes| TransformRepr {
            kind,
            identifier,
            attributes,
        };
        let cipher = if self.gcm { 20 } else { 12 };
        let mut transforms = vec![transform(1, cipher, vec![(14, 128)])];
        if !self.gcm {
            transforms.push(transform(3, 2, Vec::new()));
        }
        if esp {
            transforms.push(transform(5, 0, Vec::new()));
        } else {
            transforms.push(transform(2, if self.gcm { 5 } else { 2 }, Vec::new()));
            transforms.push(transform(4, self.group, Vec::new()));
            if let Some(kem) = self.additional {
                // ADDKE1 (RFC 9370 section 2.2.1).
                transforms.push(transform(6, kem.transform(), Vec::new()));
            }
        }
        transforms
    }

    /// An SA payload with one proposal of this number; IKE's own without an SPI.
    pub(super) fn proposal(&self, number: u8, spi: &[u8]) -> Vec<u8> {
        let esp = !spi.is_empty();
        let proposal = ProposalRepr {
            number,
            protocol: if esp { 3 } else { 1 },
            spi: spi.to_vec(),
            transforms: self.transforms(esp),
        };
        written(|out| proposal.emit(false, out))
    }

    /// Number and SPI of the first proposal that has all our transforms and no other kind.
    pub(super) fn chosen(&self, body: &[u8], esp: bool) -> Option<(u8, Vec<u8>)> {
        let wanted = self.transforms(esp);
        let fits = |proposal: &ProposalRepr| {
            let kinds =
                |transform: &TransformRepr| wanted.iter().any(|own| own.kind == transform.kind);
            wanted.iter().all(|own| proposal.transforms.contains(own))
                && proposal.transforms.iter().all(kinds)
        };
        ProposalRepr::parse_list(body, false)
            .ok()?
            .into_iter()
            .find(fits)
            .map(|proposal| (proposal.number, proposal.spi))
    }
}

/// An identification payload: ID_IPV4_ADDR (section 3.5).
pub(super) fn identity(address: [u8; 4]) -> Vec<u8> {
    let mut out = vec![1, 0, 0, 0];
    out.extend(address);
    out
}

/// A traffic selector of one IPv4 address, all protocols and ports (section 3.13).
pub(super) fn selector(address: [u8; 4]) -> Vec<u8> {
    let mut out = vec![1, 0, 0, 0, 7, 0, 0, 16, 0, 0, 0xff, 0xff];
    out.extend(address);
    out.extend(address);
    out
}

/// A traffic selector of every IPv4 address.
pub(super) fn any_selector() -> Vec<u8> {
    let mut out = vec![1, 0, 0, 0, 7, 0, 0, 16, 0, 0, 0xff, 0xff];
    out.extend([0; 4]);
    out.extend([0xff; 4]);
    out
}

/// A notification about the IKE SA itself (section 3.10).
pub(super) fn notify(kind: u16, data: &[u8]) -> Payload {
    let mut body = vec![0, 0];
    body.extend(kind.to_be_bytes());
    body.extend(data);
    (payload::NOTIFY, body)
}

/// Type and data of every notification.
pub(super) fn notifications(payloads: &[Payload]) -> impl Iterator<Item = (u16, &[u8])> {
    payloads
        .iter()
        .filter(|(kind, _)| *kind == payload::NOTIFY)
        .filter_map(|(_, body)| {
            let spi = usize::from(*body.get(1)?);
            let kind = u16::from_be_bytes([*body.get(2)?, *body.get(3)?]);
            Some((kind, body.get(4 + spi..)?))
        })
}

/// The first error that was notified.
pub(super) fn notified_error(payloads: &[Payload]) -> Option<u16> {
    notifications(payloads)
        .map(|(kind, _)| kind)
        .find(|kind| *kind < FIRST_STATUS)
}
