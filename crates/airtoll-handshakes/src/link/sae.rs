//! Simultaneous authentication of equals (802.11-2020, 12.4), as a station and an AP run it.
//!
//! Takes a password at each end; gives commit and confirm frames, a PMK and its identifier.
//! Both ways to a password element: hunting and pecking (12.4.4.2.2) and hash-to-element
//! (12.4.4.2.3), in groups 19 to 21; anti-clogging tokens. Never caches a PMK: the caller does.
//!
//! With the draft AKM of ML-KEM-768 the station's commit ends with an encapsulation key and the access
//! point's with a ciphertext, each in a Diffie-Hellman Parameter element as OWE has it, in fragments.
//! Confirms cover them. No public text has this layout: it is an assumption.

mod half;

use airtoll_wire::ieee80211::Management;
use airtoll_wire::ieee80211::element::{Elements, extension, id};
use airtoll_wire::ieee80211::management::{Sae, algorithm};

use self::half::{Beside, Half, Shared};
use crate::crypto::ec_group::Group;
use crate::crypto::kem::KemHalf;
use crate::exchange::{Context, Message, Party, Peer, SecretName, Secrets, Status};
use crate::failure::{Code, Failure, reason, status};
use crate::link::agreed::{AuthenticationFields, Link, element, extended_element, read_management};
use crate::octets::{equal, written};
use crate::operation::HashAlgorithm;

/// How often a station repeats a frame: Linux mac80211 tries three times
/// (`IEEE80211_AUTH_MAX_TRIES` in net/mac80211/mlme.c).
const REPEATS: u8 = 2;
/// Time-outs that an AP sits through; it outlasts the station's tries of both frames.
const PATIENCE: u8 = 15;

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
    /// Groups that a station tries next, in this order, when an AP refuses one; groups that an AP
    /// takes as well.
    pub further_groups: Vec<u16>,
    /// Whether the AP is busy and asks for a token first.
    pub anti_clogging: bool,
    /// Whether the AP deauthenticates a station at the first time-out of its wait, instead of waiting as
    /// long as a station repeats its frames.
    pub impatient: bool,
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
    kem: Option<KemHalf>,
    shared: Option<Shared>,
    token: Option<Vec<u8>>,
    group: u16,
    rejected: Vec<u8>,
    counter: u16,
    waited: u8,
    left: u8,
    phase: Phase,
    failure: Option<Failure>,
}

impl SaePeer {
    /// The station, which commits first.
    #[must_use]
    pub fn station(config: SaeConfig) -> Self {
        Self::new(config, Party::Station)
    }

    /// The AP, which answers.
    #[must_use]
    pub fn access_point(config: SaeConfig) -> Self {
        Self::new(config, Party::AccessPoint)
    }

    fn new(config: SaeConfig, party: Party) -> Self {
        Self {
            group: config.group,
            rejected: Vec::new(),
            kem: KemHalf::new(config.link.akm, party),
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
        let fields = AuthenticationFields {
            algorithm: algorithm::SAE,
            transaction,
            status,
        };
        self.config
            .link
            .send_authentication(context, self.party, fields, rest);
    }

    fn send_commit(&self, context: &mut Context<'_>) {
        let Some(half) = &self.half else {
            return;
        };
        let mut rest = half.commit();
        let token = self.token.as_deref();
        if self.config.link.hash_to_element {
            if let Some(identifier) = &self.config.identifier {
                rest.extend(extended(extension::PASSWORD_IDENTIFIER, identifier));
            }
            if self.party == Party::Station && !self.rejected.is_empty() {
                rest.extend(extended(extension::REJECTED_GROUPS, &self.rejected));
            }
            if let Some(token) = token {
                rest.extend(extended(extension::ANTI_CLOGGING_TOKEN, token));
            }
            if let Some(kem) = &self.kem {
                let own = [&self.group.to_le_bytes()[..], &kem.own()].concat();
                rest.extend(extended_element(extension::OWE_DH_PARAMETER, &own));
            }
        } else if let Some(token) = token {
            rest = [token, &rest].concat();
        }
        let body = written(|out| {
            Sae::Commit {
                group: self.group,
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
        let own = self.committed(half);
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

    /// The octets of this end's commit that confirms cover.
    fn committed(&self, half: &Half) -> Vec<u8> {
        let mut out = half.commit();
        out.extend(self.kem.iter().flat_map(KemHalf::own));
        out
    }

    /// The other end's part of a KEM in the elements of its commit, empty without one; `None` where it
    /// is not there.
    fn encapsulated(&self, tail: &Elements<'_>) -> Option<Vec<u8>> {
        let Some(kem) = &self.kem else {
            return Some(Vec::new());
        };
        let parameter = tail.find_joined(extension::OWE_DH_PARAMETER)?;
        let (number, octets) = parameter.split_first_chunk::<2>()?;
        let fits = u16::from_le_bytes(*number) == self.group && octets.len() == kem.peer_octets();
        fits.then(|| octets.to_vec())
    }

    /// The token binds the station's address to a secret of the AP (12.4.6).
    fn expected_token(&self, context: &mut Context<'_>) -> Vec<u8> {
        let secret = [self.config.link.access_point.0; 4].concat();
        let station = self.config.link.station;
        context.hmac(HashAlgorithm::Sha256, &secret, &[station.octets()])
    }

    fn receive_commit(&mut self, number: u16, rest: &[u8], context: &mut Context<'_>) {
        let new = self.party == Party::AccessPoint && self.phase == Phase::Nothing;
        if new && (number == self.config.group || self.config.further_groups.contains(&number)) {
            self.group = number;
        }
        if number != self.group {
            if new {
                // The station may try another group: this ends nothing here.
                self.send(context, 1, status::GROUP_UNSUPPORTED, &number.to_le_bytes());
            }
            return;
        }
        let size = 3 * Group::from_number(number).map_or(0, |group| group.octets());
        let h2e = self.config.link.hash_to_element;
        let (commit, token, tail) = if h2e {
            let Some((commit, tail)) = rest.split_at_checked(size) else {
                return;
            };
            let tail = Elements::new(tail);
            let token = tail.find_extension(extension::ANTI_CLOGGING_TOKEN);
            (commit, token, tail)
        } else {
            let Some(at) = rest.len().checked_sub(size) else {
                return;
            };
            let (token, commit) = rest.split_at(at);
            (commit, Some(token), Elements::new(&[]))
        };
        // A station that has shown a token, or came while the AP was idle, is not asked again.
        if new && self.config.anti_clogging {
            let expected = self.expected_token(context);
            if !token.is_some_and(|token| equal(token, &expected)) {
                let mut body = number.to_le_bytes().to_vec();
                if h2e {
                    body.extend(extended(extension::ANTI_CLOGGING_TOKEN, &expected));
                } else {
                    body.extend(expected);
                }
                self.send(context, 1, status::ANTI_CLOGGING_TOKEN_REQUIRED, &body);
                return;
            }
        }
        let Some(encapsulated) = self.encapsulated(&tail) else {
            return;
        };
        let whole = [commit, &encapsulated[..]].concat();
        let repeated = self
            .shared
            .as_ref()
            .is_some_and(|shared| shared.peer_commit == whole);
        match self.phase {
            Phase::Nothing => {}
            Phase::Committed if self.party == Party::Station => {}
            Phase::Committed if repeated => {
                self.send_commit(context);
                return;
            }
            _ => return,
        }
        if new && h2e && !self.accepts_elements(&tail, context) {
            return;
        }
        if self.half.is_none() {
            self.half = Half::new(&self.config, self.group, context);
        }
        let Some(half) = &self.half else {
            return;
        };
        let secret = match &mut self.kem {
            Some(kem) => kem.agree(context, &encapsulated),
            None => Some(Vec::new()),
        };
        let Some(secret) = secret else {
            return;
        };
        let akm = self.config.link.akm;
        let beside = Beside {
            rejected: &self.rejected,
            encapsulated: &secret,
        };
        let Some(shared) = half.process(context, commit, beside, akm) else {
            // 12.4.8.6.4: a commit that fails its checks is dropped.
            return;
        };
        self.shared = Some(Shared {
            peer_commit: whole,
            ..shared
        });
        if self.party == Party::AccessPoint {
            self.phase = Phase::Committed;
            self.send_commit(context);
        } else {
            self.phase = Phase::Confirmed;
            self.left = REPEATS;
            self.send_confirm(context);
        }
    }

    /// An AP's look at the elements behind a station's first commit with hash-to-element.
    fn accepts_elements(&mut self, tail: &Elements<'_>, context: &mut Context<'_>) -> bool {
        let identifier = tail.find_extension(extension::PASSWORD_IDENTIFIER);
        if identifier != self.config.identifier.as_deref() {
            let code = status::UNKNOWN_PASSWORD_IDENTIFIER;
            self.send(context, 1, code, &self.group.to_le_bytes());
            self.failure = Some(Failure::WrongPassphrase {
                code: Code::Status(code),
            });
            return false;
        }
        let rejected = tail
            .find_extension(extension::REJECTED_GROUPS)
            .unwrap_or(&[]);
        let ours = |group: &[u8]| {
            let number = u16::from_le_bytes([group[0], group[1]]);
            number == self.config.group || self.config.further_groups.contains(&number)
        };
        if rejected.chunks_exact(2).any(ours) {
            // 12.4.7.4: the refusal of a group that this AP takes came from another station.
            self.reject(context, 1, status::UNSPECIFIED, &self.group.to_le_bytes());
            return false;
        }
        self.rejected = rejected.to_vec();
        true
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
        let own = self.committed(half);
        let expected = half.confirmation(context, &shared.kck, counter, &shared.peer_commit, &own);
        // The Multi-Link element follows in a multi-link association.
        let confirm = match self.config.link.multi_link {
            Some(_) => &rest[..rest.len().min(expected.len())],
            None => rest,
        };
        if equal(&expected, confirm) {
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
                let Some((group, token)) = rest.split_first_chunk::<2>() else {
                    return;
                };
                if u16::from_le_bytes(*group) != self.group {
                    return;
                }
                self.token = if self.config.link.hash_to_element {
                    Elements::new(token)
                        .find_extension(extension::ANTI_CLOGGING_TOKEN)
                        .map(<[u8]>::to_vec)
                } else {
                    Some(token.to_vec())
                };
                self.send_commit(context);
            }
            // hostapd 2.10 says 1, later ones 15.
            (2, _) if self.phase == Phase::Confirmed => {
                self.failure = Some(Failure::WrongPassphrase { code });
            }
            (1, status::GROUP_UNSUPPORTED) if self.phase == Phase::Committed => {
                let refused = rest.split_first_chunk::<2>();
                if refused.is_none_or(|(group, _)| u16::from_le_bytes(*group) == self.group) {
                    self.try_another_group(code, context);
                }
            }
            (1, status::UNKNOWN_PASSWORD_IDENTIFIER) if self.phase == Phase::Committed => {
                self.failure = Some(Failure::WrongPassphrase { code });
            }
            _ => {}
        }
    }
}

impl SaePeer {
    /// A station whose group was refused takes the next one it has (12.4.8.6.4).
    fn try_another_group(&mut self, code: Code, context: &mut Context<'_>) {
        if self.config.further_groups.is_empty() {
            self.failure = Some(Failure::NothingInCommon { code });
            return;
        }
        if self.config.link.hash_to_element {
            self.rejected.extend(self.group.to_le_bytes());
        }
        self.group = self.config.further_groups.remove(0);
        self.token = None;
        self.half = Half::new(&self.config, self.group, context);
        self.left = REPEATS;
        self.send_commit(context);
    }
}

impl Peer for SaePeer {
    fn party(&self) -> Party {
        self.party
    }

    fn start(&mut self, context: &mut Context<'_>) {
        if self.party == Party::Station {
            self.half = Half::new(&self.config, self.group, context);
            if let Some(kem) = &mut self.kem {
                kem.draw(context);
            }
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
            if self.config.impatient && self.phase == Phase::Nothing {
                // It keeps no state of a station that has not committed.
                return;
            }
            self.waited += 1;
            if self.config.impatient {
                let number = reason::PREVIOUS_AUTHENTICATION_INVALID;
                let link = &self.config.link;
                link.send_deauthentication(context, Party::AccessPoint, number);
                self.failure = Some(Failure::PeerTimeout {
                    code: Code::Reason(number),
                });
            } else if self.waited > PATIENCE {
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

fn extended(number: u8, body: &[u8]) -> Vec<u8> {
    element(id::EXTENSION, &[&[number], body].concat())
}

#[cfg(test)]
mod tests;
