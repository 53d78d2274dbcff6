//! Simultaneous authentication of equals (802.11-2020, 12.4), as a station and an AP run it.
//!
//! Takes a password at each end; gives commit and confirm frames, a PMK and its identifier.
//! Both ways to a password element: hunting and pecking (12.4.4.2.2) and hash-to-element
//! (12.4.4.2.3), in groups 19 to 21; anti-clogging tokens. Never caches a PMK: the caller does.

use airtoll_wire::MacAddress;
use airtoll_wire::ieee80211::Management;
use airtoll_wire::ieee80211::management::{Sae, algorithm};
use num_bigint::BigUint;

use super::ec_group::Group;
use super::exchange::{Context, Message, Party, Peer, SecretName, Secrets, Status};
use super::failure::{Code, Failure, reason, status};
use super::link::{Link, read_management};
use super::operation::HashAlgorithm;
use super::primitives::{equal, written};
use crate::akm::AkmSuite;

/// Iterations that hunting and pecking always makes, found or not (12.4.4.2.2).
const ITERATIONS: u8 = 40;
/// How often a station repeats a frame: Linux mac80211 tries three times
/// (`IEEE80211_AUTH_MAX_TRIES` in net/mac80211/mlme.c).
const REPEATS: u8 = 2;
/// Time-outs that an AP sits through; it outlasts the station's tries of both frames.
const PATIENCE: u8 = 15;
/// Element ID extension of the anti-clogging token container (9.4.2.247).
const TOKEN_CONTAINER: u8 = 93;

/// A password and how it becomes a point.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SaeConfig {
    /// The link; its `hash_to_element` chooses the mapping.
    pub link: Link,
    /// The password.
    pub password: Vec<u8>,
    /// Password identifier, with hash-to-element.
    pub identifier: Option<Vec<u8>>,
    /// IANA number of the group: 19, 20 or 21.
    pub group: u16,
    /// Whether the AP is busy and asks for a token first.
    pub anti_clogging: bool,
}

/// One end's half of the protocol, without frames.
struct Half {
    group: Group,
    hash: HashAlgorithm,
    rand: BigUint,
    scalar: BigUint,
    element: Vec<u8>,
    pwe: Vec<u8>,
}

/// What both ends share after the commits.
#[derive(Clone)]
struct Shared {
    kck: Vec<u8>,
    pmk: Vec<u8>,
    pmkid: Vec<u8>,
    peer_commit: Vec<u8>,
}

impl Half {
    fn new(config: &SaeConfig, context: &mut Context<'_>) -> Option<Self> {
        let group = Group::from_number(config.group)?;
        // Without hash-to-element, SAE is bound to SHA-256 whatever the group (12.4.2).
        let hash = if config.link.hash_to_element {
            group.hash()
        } else {
            HashAlgorithm::Sha256
        };
        let link = &config.link;
        let pwe = if link.hash_to_element {
            let pt = password_to_point(
                context,
                &group,
                &link.ssid,
                &config.password,
                config.identifier.as_deref(),
            )?;
            point_to_element(context, &group, &pt, link.station, link.access_point)?
        } else {
            hunt_and_peck(
                context,
                &group,
                &config.password,
                link.station,
                link.access_point,
            )?
        };
        let rand = group.random_scalar(context);
        let mask = group.random_scalar(context);
        Self::with(context, group, hash, pwe, rand, &mask)
    }

    fn with(
        context: &mut Context<'_>,
        group: Group,
        hash: HashAlgorithm,
        pwe: Vec<u8>,
        rand: BigUint,
        mask: &BigUint,
    ) -> Option<Self> {
        let scalar = (&rand + mask) % &group.order;
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
    fn commit(&self) -> Vec<u8> {
        let mut out = self.group.pad(&self.scalar);
        out.extend(&self.element);
        out
    }

    /// 12.4.5.4: keys from the peer's commit; `None` when it is out of range or reflected.
    fn process(
        &self,
        context: &mut Context<'_>,
        peer: &[u8],
        akm: Option<AkmSuite>,
    ) -> Option<Shared> {
        let size = self.group.octets();
        if peer.len() != 3 * size || peer == self.commit() {
            return None;
        }
        let (scalar, element) = peer.split_at(size);
        let scalar = BigUint::from_bytes_be(scalar);
        if scalar <= BigUint::from(1_u8) || scalar >= self.group.order {
            return None;
        }
        let product = self.group.multiply(context, &self.pwe, &scalar)?;
        let sum = self.group.add(&product, element)?;
        let k = self.group.multiply(context, &sum, &self.rand)?;
        let zero = vec![0; self.hash.digest_octets()];
        let seed = context.hmac(self.hash, &zero, &[&k[..size]]);
        let both = self
            .group
            .pad(&((&self.scalar + &scalar) % &self.group.order));
        let kck_octets = self.hash.digest_octets();
        let pmk_octets = match akm {
            Some(AkmSuite::SaeExtKey | AkmSuite::FtSaeExtKey) => self.hash.digest_octets(),
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
    fn confirmation(
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
fn password_to_point(
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
        let u = BigUint::from_bytes_be(&value) % &group.prime;
        points.push(group.map_to_curve(context, &u)?);
    }
    group.add(&points[0], &points[1])
}

fn point_to_element(
    context: &mut Context<'_>,
    group: &Group,
    pt: &[u8],
    a: MacAddress,
    b: MacAddress,
) -> Option<Vec<u8>> {
    let zero = vec![0; group.hash().digest_octets()];
    let (low, high) = (a.min(b), a.max(b));
    let value = context.hmac(group.hash(), &zero, &[high.octets(), low.octets()]);
    let value = BigUint::from_bytes_be(&value) % (&group.order - 1_u8) + 1_u8;
    group.multiply(context, pt, &value)
}

/// 12.4.4.2.2; every iteration is made whether or not an earlier one found a point.
fn hunt_and_peck(
    context: &mut Context<'_>,
    group: &Group,
    password: &[u8],
    a: MacAddress,
    b: MacAddress,
) -> Option<Vec<u8>> {
    let hash = HashAlgorithm::Sha256;
    let addresses = [a.max(b).0, a.min(b).0].concat();
    let bits = usize::try_from(group.prime.bits()).unwrap_or(0);
    let prime = group.pad(&group.prime);
    let mut found = None;
    for counter in 1..=u8::MAX {
        if counter > ITERATIONS && found.is_some() {
            break;
        }
        let seed = context.hmac(hash, &addresses, &[password, &[counter]]);
        let label = b"SAE Hunting and Pecking";
        let value = kdf(context, hash, &seed, label, &prime, group.octets());
        // The key derivation gives whole octets; P-521 keeps the first 521 bits.
        let value = BigUint::from_bytes_be(&value) >> (group.octets() * 8 - bits);
        if value >= group.prime {
            continue;
        }
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

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Nothing,
    Committed,
    Confirmed,
    Accepted,
}

/// Either end.
pub struct SaePeer {
    config: SaeConfig,
    party: Party,
    half: Option<Half>,
    shared: Option<Shared>,
    token: Option<Vec<u8>>,
    counter: u16,
    waited: u8,
    left: u8,
    phase: Phase,
    failure: Option<Failure>,
}

impl SaePeer {
    /// The station, which commits first.
    #[must_use]
    pub const fn station(config: SaeConfig) -> Self {
        Self::new(config, Party::Station)
    }

    /// The AP, which answers.
    #[must_use]
    pub const fn access_point(config: SaeConfig) -> Self {
        Self::new(config, Party::AccessPoint)
    }

    const fn new(config: SaeConfig, party: Party) -> Self {
        Self {
            config,
            party,
            half: None,
            shared: None,
            token: None,
            counter: 0,
            waited: 0,
            left: REPEATS,
            phase: Phase::Nothing,
            failure: None,
        }
    }

    const fn commit_status(&self) -> u16 {
        if self.config.link.hash_to_element {
            status::SAE_HASH_TO_ELEMENT
        } else {
            status::SUCCESS
        }
    }

    fn send(&self, context: &mut Context<'_>, transaction: u16, status: u16, rest: &[u8]) {
        let fields = (algorithm::SAE, transaction, status);
        self.config
            .link
            .send_authentication(context, self.party, fields, rest);
    }

    fn send_commit(&self, context: &mut Context<'_>) {
        let Some(half) = &self.half else {
            return;
        };
        let commit = half.commit();
        let rest = match (&self.token, self.config.link.hash_to_element) {
            (Some(token), false) => [&token[..], &commit[..]].concat(),
            (Some(token), true) => [&commit[..], &container(token)[..]].concat(),
            (None, _) => commit,
        };
        let body = written(|out| {
            Sae::Commit {
                group: self.config.group,
                rest: &rest,
            }
            .emit(out);
        });
        self.send(context, 1, self.commit_status(), &body);
    }

    fn send_confirm(&mut self, context: &mut Context<'_>) {
        let (Some(half), Some(shared)) = (&self.half, &self.shared) else {
            return;
        };
        self.counter += 1;
        let own = half.commit();
        let rest = half.confirmation(
            context,
            &shared.kck,
            self.counter,
            &own,
            &shared.peer_commit,
        );
        let body = written(|out| {
            Sae::Confirm {
                counter: self.counter,
                rest: &rest,
            }
            .emit(out);
        });
        self.send(context, 2, status::SUCCESS, &body);
    }

    /// The token binds the station's address to a secret of the AP (12.4.6).
    fn expected_token(&self, context: &mut Context<'_>) -> Vec<u8> {
        let secret = [self.config.link.access_point.0; 4].concat();
        let station = self.config.link.station;
        context.hmac(HashAlgorithm::Sha256, &secret, &[station.octets()])
    }

    fn receive_commit(&mut self, number: u16, rest: &[u8], context: &mut Context<'_>) {
        if number != self.config.group {
            if self.party == Party::AccessPoint && self.phase == Phase::Nothing {
                self.reject(context, 1, status::GROUP_UNSUPPORTED, &number.to_le_bytes());
            }
            return;
        }
        let size = 3 * Group::from_number(number).map_or(0, |group| group.octets());
        let (commit, token) = if rest.len() <= size {
            (rest, None)
        } else if self.config.link.hash_to_element {
            let (commit, tail) = rest.split_at(size);
            (commit, tail.get(3..))
        } else {
            let (token, commit) = rest.split_at(rest.len() - size);
            (commit, Some(token))
        };
        // Who has shown a token, or came while the AP was idle, is not asked again.
        let new = self.party == Party::AccessPoint && self.phase == Phase::Nothing;
        if new && self.config.anti_clogging {
            let expected = self.expected_token(context);
            if !token.is_some_and(|token| equal(token, &expected)) {
                let mut body = number.to_le_bytes().to_vec();
                if self.config.link.hash_to_element {
                    body.extend(container(&expected));
                } else {
                    body.extend(expected);
                }
                self.send(context, 1, status::ANTI_CLOGGING_TOKEN_REQUIRED, &body);
                return;
            }
        }
        let repeated = self
            .shared
            .as_ref()
            .is_some_and(|shared| shared.peer_commit == commit);
        match self.phase {
            Phase::Nothing => {}
            Phase::Committed if self.party == Party::Station => {}
            Phase::Committed if repeated => {
                self.send_commit(context);
                return;
            }
            _ => return,
        }
        if self.half.is_none() {
            self.half = Half::new(&self.config, context);
        }
        let Some(half) = &self.half else {
            return;
        };
        let Some(shared) = half.process(context, commit, self.config.link.akm) else {
            // 12.4.8.6.4: a commit that fails its checks is dropped.
            return;
        };
        self.shared = Some(shared);
        if self.party == Party::AccessPoint {
            self.phase = Phase::Committed;
            self.send_commit(context);
        } else {
            self.phase = Phase::Confirmed;
            self.left = REPEATS;
            self.send_confirm(context);
        }
    }

    fn receive_confirm(&mut self, counter: u16, rest: &[u8], context: &mut Context<'_>) {
        let (Some(half), Some(shared)) = (&self.half, self.shared.clone()) else {
            return;
        };
        let waiting = if self.party == Party::AccessPoint {
            matches!(self.phase, Phase::Committed | Phase::Accepted)
        } else {
            self.phase == Phase::Confirmed
        };
        if !waiting {
            return;
        }
        let own = half.commit();
        let expected = half.confirmation(context, &shared.kck, counter, &shared.peer_commit, &own);
        if equal(&expected, rest) {
            self.phase = Phase::Accepted;
            if self.party == Party::AccessPoint {
                self.send_confirm(context);
            }
        } else if self.party == Party::AccessPoint && self.phase == Phase::Committed {
            self.send(context, 2, status::CHALLENGE_FAILURE, &[]);
            self.failure = Some(Failure::WrongPassphrase {
                code: Code::Status(status::CHALLENGE_FAILURE),
            });
        }
    }

    fn reject(&mut self, context: &mut Context<'_>, transaction: u16, status: u16, rest: &[u8]) {
        self.send(context, transaction, status, rest);
        self.failure = Some(Failure::NothingInCommon {
            code: Code::Status(status),
        });
    }

    fn refused(&mut self, transaction: u16, status: u16, rest: &[u8], context: &mut Context<'_>) {
        let code = Code::Status(status);
        match (transaction, status) {
            (1, status::ANTI_CLOGGING_TOKEN_REQUIRED) if self.phase == Phase::Committed => {
                let skip = if self.config.link.hash_to_element {
                    5
                } else {
                    2
                };
                self.token = rest.get(skip..).map(<[u8]>::to_vec);
                self.send_commit(context);
            }
            (2, status::CHALLENGE_FAILURE) if self.phase == Phase::Confirmed => {
                self.failure = Some(Failure::WrongPassphrase { code });
            }
            (1, status::GROUP_UNSUPPORTED) if self.phase == Phase::Committed => {
                self.failure = Some(Failure::NothingInCommon { code });
            }
            _ => {}
        }
    }
}

impl Peer for SaePeer {
    fn party(&self) -> Party {
        self.party
    }

    fn start(&mut self, context: &mut Context<'_>) {
        if self.party == Party::Station {
            self.half = Half::new(&self.config, context);
            self.phase = Phase::Committed;
            self.send_commit(context);
        }
    }

    fn receive(&mut self, message: &Message, context: &mut Context<'_>) {
        let Some((
            _,
            Management::Authentication {
                algorithm: algorithm::SAE,
                transaction,
                status,
                rest,
            },
        )) = read_management(message)
        else {
            return;
        };
        if self.failure.is_some() {
            return;
        }
        let accepted = match transaction {
            1 => status == self.commit_status(),
            _ => status == status::SUCCESS,
        };
        if !accepted {
            if self.party == Party::Station {
                self.refused(transaction, status, rest, context);
            }
            return;
        }
        match Sae::parse(transaction, rest) {
            Ok(Sae::Commit { group, rest }) => self.receive_commit(group, rest, context),
            Ok(Sae::Confirm { counter, rest }) => self.receive_confirm(counter, rest, context),
            Err(_) => {}
        }
    }

    fn on_timeout(&mut self, context: &mut Context<'_>) {
        if self.status() != Status::Waiting {
            return;
        }
        // The AP only answers, so it outlasts the station's repetitions of both frames.
        if self.party == Party::AccessPoint {
            self.waited += 1;
            if self.waited > PATIENCE {
                self.failure = Some(Failure::PeerTimeout {
                    code: Code::Status(status::TIMEOUT),
                });
            }
            return;
        }
        if self.left == 0 {
            self.failure = Some(Failure::PeerTimeout {
                code: Code::Reason(reason::LEAVING),
            });
            return;
        }
        self.left -= 1;
        if self.phase == Phase::Confirmed {
            self.send_confirm(context);
        } else {
            self.send_commit(context);
        }
    }

    fn is_half_open(&self) -> bool {
        self.failure.is_none() && self.phase == Phase::Committed
    }

    fn set_busy(&mut self, busy: bool) {
        self.config.anti_clogging = busy;
    }

    fn status(&self) -> Status {
        match (self.failure, &self.shared, self.phase) {
            (Some(failure), ..) => Status::Failed(failure),
            (None, Some(shared), Phase::Accepted) => Status::Established(Secrets::from([
                (SecretName::Pmk, shared.pmk.clone()),
                (SecretName::Pmkid, shared.pmkid.clone()),
            ])),
            _ => Status::Waiting,
        }
    }
}

fn container(token: &[u8]) -> Vec<u8> {
    let mut body = vec![TOKEN_CONTAINER];
    body.extend(token);
    super::link::element(airtoll_wire::ieee80211::element::id::EXTENSION, &body)
}

#[cfg(test)]
mod tests;
