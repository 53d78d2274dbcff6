//! Open System and Shared Key authentication (802.11-2020, 12.3.3), both ends.
//!
//! Takes a [`Link`] and, for Shared Key, a WEP key at each end; gives two or four
//! authentication frames. Never associates: see `association`.

use airtoll_wire::ieee80211::element::{Elements, id};
use airtoll_wire::ieee80211::frame::management_subtype as subtype;
use airtoll_wire::ieee80211::management::algorithm;
use airtoll_wire::ieee80211::{Frame, Management, ManagementRepr, Protection};

use crate::exchange::{Carrier, Context, Message, Party, Peer, Secrets, Status};
use crate::failure::{Code, Failure, status};
use crate::link::agreed::{AuthenticationFields, Link, element, read_management};
use crate::octets::{equal, written};
use crate::resend::Resend;

/// Octets of challenge text (802.11-2020, 9.4.2.8).
const CHALLENGE_OCTETS: usize = 128;
/// How often a station repeats an authentication frame, as Linux mac80211 does
/// (IEEE80211_AUTH_MAX_TRIES is three in all).
const REPEATS: u8 = 2;
/// Where the body of a management frame starts.
const HEADER_OCTETS: usize = 24;
/// The Protected Frame bit in the second octet of Frame Control.
const PROTECTED: u8 = 0x40;

/// The station's end.
pub struct AuthenticationStation {
    link: Link,
    key: Option<Vec<u8>>,
    resend: Resend,
    answered: bool,
    state: Status,
}

impl AuthenticationStation {
    /// Open System without a key, Shared Key with a WEP key of 5 or 13 octets.
    #[must_use]
    pub const fn new(link: Link, wep_key: Option<Vec<u8>>) -> Self {
        Self {
            link,
            key: wep_key,
            resend: Resend::new(REPEATS),
            answered: false,
            state: Status::Waiting,
        }
    }

    const fn algorithm(&self) -> u16 {
        if self.key.is_some() {
            algorithm::SHARED_KEY
        } else {
            algorithm::OPEN
        }
    }

    fn send(&mut self, context: &mut Context<'_>, octets: Vec<u8>) {
        self.resend.send(
            context,
            Party::Station,
            Party::AccessPoint,
            Carrier::Management,
            octets,
        );
    }
}

impl Peer for AuthenticationStation {
    fn party(&self) -> Party {
        Party::Station
    }

    fn start(&mut self, context: &mut Context<'_>) {
        let fields = AuthenticationFields {
            algorithm: self.algorithm(),
            transaction: 1,
            status: 0,
        };
        let frame = self.link.authentication(Party::Station, fields, &[]);
        self.send(context, frame);
    }

    fn receive(&mut self, message: &Message, context: &mut Context<'_>) {
        let Some((
            _,
            Management::Authentication {
                algorithm,
                transaction,
                status,
                rest,
            },
        )) = read_management(message)
        else {
            return;
        };
        if self.state != Status::Waiting || algorithm != self.algorithm() {
            return;
        }
        let last = if self.key.is_some() { 4 } else { 2 };
        if status != status::SUCCESS {
            let code = Code::Status(status);
            self.state = Status::Failed(match status {
                status::CHALLENGE_FAILURE => Failure::WrongPassphrase { code },
                _ => Failure::NothingInCommon { code },
            });
        } else if transaction == last {
            self.state = Status::Established(Secrets::new());
        } else if let (2, Some(key), Some(challenge)) = (
            transaction,
            self.key.clone(),
            Elements::new(rest).find_id(id::CHALLENGE_TEXT),
        ) {
            if self.answered {
                self.resend.repeat(context);
                return;
            }
            self.answered = true;
            let text = element(id::CHALLENGE_TEXT, challenge);
            let body = ManagementRepr::Authentication(algorithm, 3, 0, &text);
            let plain = self
                .link
                .management(Party::Station, subtype::AUTHENTICATION, &body);
            let frame = wep_seal(context, &key, &plain);
            self.send(context, frame);
        }
    }

    fn on_timeout(&mut self, context: &mut Context<'_>) {
        self.resend.on_timeout(context, &mut self.state);
    }

    fn status(&self) -> Status {
        self.state.clone()
    }
}

/// The AP's end.
pub struct AuthenticationAccessPoint {
    link: Link,
    key: Option<Vec<u8>>,
    challenge: Option<Vec<u8>>,
    patience: Resend,
    state: Status,
}

impl AuthenticationAccessPoint {
    /// Open System without a key, Shared Key with a WEP key of 5 or 13 octets.
    #[must_use]
    pub const fn new(link: Link, wep_key: Option<Vec<u8>>) -> Self {
        Self {
            link,
            key: wep_key,
            challenge: None,
            patience: Resend::new(REPEATS + 2),
            state: Status::Waiting,
        }
    }

    fn reply(&self, context: &mut Context<'_>, transaction: u16, status: u16, rest: &[u8]) {
        let algorithm = if self.key.is_some() {
            algorithm::SHARED_KEY
        } else {
            algorithm::OPEN
        };
        let fields = AuthenticationFields {
            algorithm,
            transaction,
            status,
        };
        self.link
            .send_authentication(context, Party::AccessPoint, fields, rest);
    }

    fn judge_challenge(&mut self, message: &Message, context: &mut Context<'_>) {
        let (Some(key), Some(expected)) = (self.key.clone(), self.challenge.clone()) else {
            return;
        };
        let opened = wep_open(context, &key, &message.octets);
        let right = opened
            .and_then(|plain| {
                let body = Management::parse(subtype::AUTHENTICATION, &plain[HEADER_OCTETS..]);
                match body {
                    Ok(Management::Authentication {
                        transaction: 3,
                        rest,
                        ..
                    }) => Elements::new(rest)
                        .find_id(id::CHALLENGE_TEXT)
                        .map(|text| equal(text, &expected)),
                    _ => None,
                }
            })
            .unwrap_or(false);
        if right {
            self.state = Status::Established(Secrets::new());
            self.reply(context, 4, status::SUCCESS, &[]);
        } else if self.state == Status::Waiting {
            self.state = Status::Failed(Failure::WrongPassphrase {
                code: Code::Status(status::CHALLENGE_FAILURE),
            });
            self.reply(context, 4, status::CHALLENGE_FAILURE, &[]);
        }
    }
}

impl Peer for AuthenticationAccessPoint {
    fn party(&self) -> Party {
        Party::AccessPoint
    }

    fn receive(&mut self, message: &Message, context: &mut Context<'_>) {
        if message.carrier == Carrier::Management
            && message.octets.get(1).is_some_and(|o| o & PROTECTED != 0)
        {
            self.judge_challenge(message, context);
            return;
        }
        let Some((
            _,
            Management::Authentication {
                algorithm,
                transaction: 1,
                ..
            },
        )) = read_management(message)
        else {
            return;
        };
        match (algorithm, &self.key) {
            (algorithm::OPEN, None) => {
                self.state = Status::Established(Secrets::new());
                self.reply(context, 2, status::SUCCESS, &[]);
            }
            (algorithm::SHARED_KEY, Some(_)) => {
                let challenge = match self.challenge.clone() {
                    Some(challenge) => challenge,
                    None => context.random_octets(CHALLENGE_OCTETS),
                };
                let text = element(id::CHALLENGE_TEXT, &challenge);
                self.challenge = Some(challenge);
                self.reply(context, 2, status::SUCCESS, &text);
            }
            _ => {
                let unsupported = status::ALGORITHM_UNSUPPORTED;
                self.state = Status::Failed(Failure::NothingInCommon {
                    code: Code::Status(unsupported),
                });
                let fields = AuthenticationFields {
                    algorithm,
                    transaction: 2,
                    status: unsupported,
                };
                self.link
                    .send_authentication(context, Party::AccessPoint, fields, &[]);
            }
        }
    }

    fn on_timeout(&mut self, _context: &mut Context<'_>) {
        if self.state == Status::Waiting && !self.patience.wait() {
            self.state = Status::Failed(Failure::PeerTimeout {
                code: Code::Status(status::TIMEOUT),
            });
        }
    }

    fn status(&self) -> Status {
        self.state.clone()
    }
}

/// WEP over the body of a management frame (802.11-2020, 12.3.2).
fn wep_seal(context: &mut Context<'_>, key: &[u8], frame: &[u8]) -> Vec<u8> {
    let (header, body) = frame.split_at(HEADER_OCTETS);
    let iv: [u8; 3] = context.random();
    let mut data = body.to_vec();
    data.extend(crc32fast::hash(body).to_le_bytes());
    context.rc4(&[&iv, key].concat(), 0, &mut data);
    let mut out = header.to_vec();
    out[1] |= PROTECTED;
    out.extend(written(|o| Protection::Wep { iv, key_id: 0 }.emit(o)));
    out.extend(data);
    out
}

fn wep_open(context: &mut Context<'_>, key: &[u8], octets: &[u8]) -> Option<Vec<u8>> {
    let frame = Frame::new(octets).ok()?;
    let Protection::Wep { iv, .. } = Protection::parse(frame.body(), false).ok()? else {
        return None;
    };
    let mut data = frame.body().get(4..)?.to_vec();
    context.rc4(&[&iv, key].concat(), 0, &mut data);
    let (body, icv) = data.split_last_chunk::<4>()?;
    if crc32fast::hash(body).to_le_bytes() != *icv {
        return None;
    }
    let mut plain = frame.header().to_vec();
    plain.extend(body);
    Some(plain)
}
