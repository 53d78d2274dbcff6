//! One end's half of SAE without frames: the password element, the commit and what follows from the
//! peer's (802.11-2020, 12.4.4 and 12.4.5).
//!
//! Takes a [`SaeConfig`], random octets and the peer's scalar and element; gives ours, keys and
//! confirmations. Never decides what is sent.

use airtoll_wire::MacAddress;

use super::SaeConfig;
use crate::crypto::ec_group::Group;
use crate::exchange::{Context, Party};
use crate::operation::HashAlgorithm;
use airtoll_security::akm::AkmSuite;

/// Iterations that hunting and pecking always makes, found or not (12.4.4.2.2).
const ITERATIONS: u8 = 40;

/// One end's half of the protocol, without frames.
pub(super) struct Half {
    group: Group,
    hash: HashAlgorithm,
    rand: Vec<u8>,
    scalar: Vec<u8>,
    element: Vec<u8>,
    pwe: Vec<u8>,
}

/// Keys that both ends share after the commits.
#[derive(Clone)]
pub(super) struct Shared {
    pub kck: Vec<u8>,
    pub pmk: Vec<u8>,
    pub pmkid: Vec<u8>,
    pub peer_commit: Vec<u8>,
}

/// Inputs of the keys beside the commits.
#[derive(Debug, Clone, Copy, Default)]
pub struct Beside<'a> {
    /// Groups that were refused before, two octets each, with hash-to-element; without any the salt is
    /// zero.
    pub rejected: &'a [u8],
    /// Secret of a KEM beside the group, or empty.
    pub encapsulated: &'a [u8],
}

impl Half {
    pub fn new(config: &SaeConfig, group: u16, context: &mut Context<'_>) -> Option<Self> {
        let group = Group::from_number(group)?;
        // Without hash-to-element, SAE is bound to SHA-256 whatever the group (12.4.2).
        let hash = if config.link.hash_to_element {
            group.hash()
        } else {
            HashAlgorithm::Sha256
        };
        let link = &config.link;
        let (station, access_point) = (
            link.key_address(Party::Station),
            link.key_address(Party::AccessPoint),
        );
        let pwe = if link.hash_to_element {
            let pt = password_to_point(
                context,
                &group,
                &link.ssid,
                &config.password,
                config.identifier.as_deref(),
            )?;
            point_to_element(context, &group, &pt, station, access_point)?
        } else {
            hunt_and_peck(context, &group, &config.password, station, access_point)?
        };
        let rand = group.random_scalar(context);
        let mask = group.random_scalar(context);
        Self::with(context, group, hash, pwe, rand, &mask)
    }

    pub fn with(
        context: &mut Context<'_>,
        group: Group,
        hash: HashAlgorithm,
        pwe: Vec<u8>,
        rand: Vec<u8>,
        mask: &[u8],
    ) -> Option<Self> {
        let scalar = group.sum(&rand, mask);
        let product = group.multiply(context, &pwe, mask)?;
        Some(Self {
            element: group.negate(&product),
            group,
            hash,
            rand,
            scalar,
            pwe,
        })
    }

    /// Scalar and element as they travel.
    pub fn commit(&self) -> Vec<u8> {
        [&self.scalar[..], &self.element].concat()
    }

    /// 12.4.5.4: keys from the peer's commit; `None` when it is out of range or reflected.
    pub fn process(
        &self,
        context: &mut Context<'_>,
        peer: &[u8],
        beside: Beside<'_>,
        akm: Option<AkmSuite>,
    ) -> Option<Shared> {
        let size = self.group.octets();
        if peer.len() != 3 * size || peer == self.commit() {
            return None;
        }
        let (scalar, element) = peer.split_at(size);
        if !self.group.is_scalar_above_one(scalar) {
            return None;
        }
        let product = self.group.multiply(context, &self.pwe, scalar)?;
        let sum = self.group.add(&product, element)?;
        let k = self.group.agree(context, &sum, &self.rand)?;
        let zero = vec![0; self.hash.digest_octets()];
        let salt = match beside.rejected {
            [] => &zero,
            rejected => rejected,
        };
        let seed = context.hmac(self.hash, salt, &[&k, beside.encapsulated]);
        let both = self.group.sum(&self.scalar, scalar);
        let kck_octets = self.hash.digest_octets();
        let pmk_octets = match akm {
            Some(akm) if akm.hash().is_none() => self.hash.digest_octets(),
            _ => 32,
        };
        let keys = kdf(
            context,
            self.hash,
            &seed,
            b"SAE KCK and PMK",
            &both,
            kck_octets + pmk_octets,
        );
        Some(Shared {
            kck: keys[..kck_octets].to_vec(),
            pmk: keys[kck_octets..].to_vec(),
            pmkid: both[..16].to_vec(),
            peer_commit: peer.to_vec(),
        })
    }

    /// 12.4.5.5: the confirmation that `first` sends to `second`.
    pub fn confirmation(
        &self,
        context: &mut Context<'_>,
        kck: &[u8],
        counter: u16,
        first: &[u8],
        second: &[u8],
    ) -> Vec<u8> {
        context.hmac(self.hash, kck, &[&counter.to_le_bytes(), first, second])
    }
}

/// Octets of the hash-to-element secret PT (12.4.4.2.3).
pub(super) fn password_to_point(
    context: &mut Context<'_>,
    group: &Group,
    ssid: &[u8],
    password: &[u8],
    identifier: Option<&[u8]>,
) -> Option<Vec<u8>> {
    let hash = group.hash();
    let seed = context.hmac(hash, ssid, &[password, identifier.unwrap_or_default()]);
    let length = group.octets() + group.octets() / 2;
    let mut points = Vec::new();
    for label in ["SAE Hash to Element u1 P1", "SAE Hash to Element u2 P2"] {
        let value = context.hkdf_expand(hash, &seed, label.as_bytes(), length);
        points.push(group.map_to_curve(context, &value)?);
    }
    group.add(&points[0], &points[1])
}

pub(super) fn point_to_element(
    context: &mut Context<'_>,
    group: &Group,
    pt: &[u8],
    a: MacAddress,
    b: MacAddress,
) -> Option<Vec<u8>> {
    let zero = vec![0; group.hash().digest_octets()];
    let (low, high) = (a.min(b), a.max(b));
    let value = context.hmac(group.hash(), &zero, &[high.octets(), low.octets()]);
    group.multiply(context, pt, &group.scalar(&value))
}

/// 12.4.4.2.2; every iteration is made whether or not an earlier one found a point.
pub(super) fn hunt_and_peck(
    context: &mut Context<'_>,
    group: &Group,
    password: &[u8],
    a: MacAddress,
    b: MacAddress,
) -> Option<Vec<u8>> {
    let hash = HashAlgorithm::Sha256;
    let addresses = [a.max(b).0, a.min(b).0].concat();
    let prime = group.prime();
    let mut found = None;
    for counter in 1..=u8::MAX {
        if counter > ITERATIONS && found.is_some() {
            break;
        }
        let seed = context.hmac(hash, &addresses, &[password, &[counter]]);
        let label = b"SAE Hunting and Pecking";
        let value = kdf(context, hash, &seed, label, &prime, group.octets());
        // The key derivation gives whole octets; P-521 keeps the first 521 bits.
        let Some(value) = group.element(&value) else {
            continue;
        };
        let odd = seed.last().is_some_and(|octet| octet & 1 == 1);
        if let Some(point) = group.lift(context, &value, odd) {
            found.get_or_insert(point);
        }
    }
    found
}

/// KDF-Hash-Length (12.7.1.6.2) with its work named.
fn kdf(
    context: &mut Context<'_>,
    hash: HashAlgorithm,
    key: &[u8],
    label: &[u8],
    input: &[u8],
    octets: usize,
) -> Vec<u8> {
    let bits = if octets == 66 { 521 } else { octets * 8 };
    let length = u16::try_from(bits).unwrap_or(u16::MAX).to_le_bytes();
    let mut out = Vec::new();
    let mut counter = 1_u16;
    while out.len() < octets {
        out.extend(context.hmac(hash, key, &[&counter.to_le_bytes(), label, input, &length]));
        counter += 1;
    }
    out.truncate(octets);
    out
}
