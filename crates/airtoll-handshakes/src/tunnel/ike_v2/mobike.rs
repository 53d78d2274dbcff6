//! Moving a tunnel to another address (RFC 4555): two messages, or four with a check that the
//! other end is where it says.
//!
//! Takes an [`IkeSa`] of an exchange in which both ends announced MOBIKE; gives INFORMATIONAL
//! messages. The tunnel keeps its keys: neither end authenticates again.

use airtoll_wire::isakmp::{IsakmpView, Payload, exchange};
use serde::{Deserialize, Serialize};

use super::config::{notifications, notify};
use super::nat;
use super::sealed::Keys;
use super::{REPEATS, header, parties};
use crate::exchange::{Context, Message, Party, Peer, SecretName, Secrets, Status};
use crate::failure::{Code, Failure};
use crate::octets::equal;
use crate::resend::Resend;
use crate::sides::{Sides, Way};
use crate::tunnel::encapsulation::{Endpoint, PORT, carried, uncarried};

/// MOBIKE_SUPPORTED (RFC 4555 section 4.1).
pub(super) const MOBIKE_SUPPORTED: u16 = 16_396;
const UPDATE_SA_ADDRESSES: u16 = 16_400;
const COOKIE2: u16 = 16_401;
/// UNACCEPTABLE_ADDRESSES.
const UNACCEPTABLE_ADDRESSES: u16 = 40;

/// Identity and keys of an IKE SA that may move, the same at both ends.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct IkeSa {
    keys: Keys,
    spis: Sides<[u8; 8]>,
    addresses: Sides<[u8; 4]>,
    /// Message IDs of the next requests.
    next: Sides<u32>,
    tunnel: Secrets,
}

impl IkeSa {
    pub(super) const fn new(
        keys: Keys,
        spis: Sides<[u8; 8]>,
        addresses: Sides<[u8; 4]>,
        next: u32,
        tunnel: Secrets,
    ) -> Self {
        Self {
            keys,
            spis,
            addresses,
            next: Sides {
                initiator: next,
                responder: 0,
            },
            tunnel,
        }
    }

    /// The SA as one secret, which a later stage reads again.
    #[must_use]
    pub fn to_octets(&self) -> Vec<u8> {
        serde_json::to_vec(self).unwrap_or_default()
    }

    /// Undoes [`Self::to_octets`].
    #[must_use]
    pub fn from_octets(octets: &[u8]) -> Option<Self> {
        serde_json::from_slice(octets).ok()
    }

    /// The tunnel's keys and SPIs.
    #[must_use]
    pub const fn tunnel(&self) -> &Secrets {
        &self.tunnel
    }

    /// Results of an exchange that moved it: the unchanged tunnel, and the SA for the next move.
    fn moved(&self) -> Status {
        let mut secrets = self.tunnel.clone();
        secrets.insert(SecretName::IkeSa, self.to_octets());
        Status::Established(secrets)
    }

    fn seal(
        &self,
        context: &mut Context<'_>,
        initiator: bool,
        asks: bool,
        message_id: u32,
        payloads: &[Payload],
    ) -> Vec<u8> {
        let mut header = header(self.spis, initiator, exchange::INFORMATIONAL_V2, message_id);
        // The initiator of the SA and the requester may differ now (RFC 7296 section 3.1).
        header.flags = if initiator {
            airtoll_wire::isakmp::flag::INITIATOR
        } else {
            0
        };
        if !asks {
            header.flags |= airtoll_wire::isakmp::flag::RESPONSE;
        }
        self.keys.seal(context, initiator, &header, payloads)
    }

    /// Message ID, whether it asks, and payloads of a message from the other end.
    fn open(
        &self,
        context: &mut Context<'_>,
        initiator: bool,
        octets: &[u8],
    ) -> Option<(u32, bool, Vec<Payload>)> {
        let view = IsakmpView::new(octets).ok()?;
        let header = *view.header();
        let spis = Sides {
            initiator: header.initiator,
            responder: header.responder,
        };
        if spis != self.spis || header.exchange != exchange::INFORMATIONAL_V2 {
            return None;
        }
        let payloads = self.keys.open(context, initiator, octets)?;
        let asks = header.flags & airtoll_wire::isakmp::flag::RESPONSE == 0;
        Some((header.message_id, asks, payloads))
    }
}

fn cookie(payloads: &[Payload]) -> Option<Vec<u8>> {
    notifications(payloads)
        .find(|(kind, _)| *kind == COOKIE2)
        .map(|(_, data)| data.to_vec())
}

/// The end that moved.
pub struct MobikeInitiator {
    sa: IkeSa,
    resend: Resend,
    /// The last question of the other end and our answer.
    answered: Option<(Vec<u8>, Vec<u8>)>,
    state: Status,
}

impl MobikeInitiator {
    /// The initiator of an SA, at this address from now on.
    #[must_use]
    pub const fn new(mut sa: IkeSa, address: [u8; 4]) -> Self {
        sa.addresses.initiator = address;
        Self {
            sa,
            resend: Resend::new(REPEATS),
            answered: None,
            state: Status::Waiting,
        }
    }

    /// The SA as it is now.
    #[must_use]
    pub const fn sa(&self) -> &IkeSa {
        &self.sa
    }
}

impl Peer for MobikeInitiator {
    fn party(&self) -> Party {
        Party::Station
    }

    fn start(&mut self, context: &mut Context<'_>) {
        let addresses = self.sa.addresses;
        let way = Way {
            from: (addresses.initiator, PORT),
            to: (addresses.responder, PORT),
        };
        let mut payloads = vec![notify(UPDATE_SA_ADDRESSES, &[])];
        payloads.extend(nat::detection(context, &self.sa.spis, way));
        let octets = self
            .sa
            .seal(context, true, true, self.sa.next.initiator, &payloads);
        let (carrier, octets) = carried(true, &octets);
        let Way { from, to } = parties(true);
        self.resend.send(context, from, to, carrier, octets);
    }

    fn receive(&mut self, message: &Message, context: &mut Context<'_>) {
        let Some((true, octets)) = uncarried(message) else {
            return;
        };
        let Some((id, asks, payloads)) = self.sa.open(context, false, octets) else {
            return;
        };
        if !asks {
            if self.state == Status::Waiting && id == self.sa.next.initiator {
                let refused =
                    notifications(&payloads).any(|(kind, _)| kind == UNACCEPTABLE_ADDRESSES);
                self.sa.next.initiator += 1;
                self.state = if refused {
                    let code = Code::Ike(UNACCEPTABLE_ADDRESSES);
                    Status::Failed(Failure::NothingInCommon { code })
                } else {
                    Status::Established(self.sa.tunnel.clone())
                };
            }
            return;
        }
        let Way { from, to } = parties(true);
        if let Some((question, answer)) = &self.answered
            && question == octets
        {
            let (carrier, answer) = carried(true, answer);
            context.send(from, to, carrier, answer);
            return;
        }
        if id != self.sa.next.responder {
            return;
        }
        // A check of where we are gets its cookie back; any other question an empty answer
        // (RFC 4555 section 3.7, RFC 7296 section 1.4).
        let inside: Vec<Payload> = cookie(&payloads)
            .map(|data| notify(COOKIE2, &data))
            .into_iter()
            .collect();
        let answer = self.sa.seal(context, true, false, id, &inside);
        self.sa.next.responder += 1;
        self.answered = Some((octets.to_vec(), answer.clone()));
        let (carrier, answer) = carried(true, &answer);
        context.send(from, to, carrier, answer);
    }

    fn on_timeout(&mut self, context: &mut Context<'_>) {
        if self.state == Status::Waiting && !self.resend.after_timeout(context) {
            self.state = Status::Failed(Failure::PeerTimeout { code: Code::Silent });
        }
    }

    fn status(&self) -> Status {
        match self.state {
            // Questions of the other end that come later have message IDs, too.
            Status::Established(_) => self.sa.moved(),
            _ => self.state.clone(),
        }
    }
}

/// The end that stayed.
pub struct MobikeResponder {
    sa: IkeSa,
    /// Where the other end now says that it is.
    claimed: Endpoint,
    /// The cookie that it has to return, with a check.
    check: Option<[u8; 16]>,
    checks: bool,
    answered: Option<(Vec<u8>, Vec<u8>)>,
    resend: Resend,
    state: Status,
}

impl MobikeResponder {
    /// The responder of an SA, whose initiator will come from this address; `checks` asks it to
    /// prove that it receives there before it is believed (RFC 4555 section 3.7).
    #[must_use]
    pub const fn new(sa: IkeSa, address: [u8; 4], checks: bool) -> Self {
        Self {
            sa,
            claimed: (address, PORT),
            check: None,
            checks,
            answered: None,
            resend: Resend::new(3 * REPEATS),
            state: Status::Waiting,
        }
    }

    fn finish(&mut self) {
        self.sa.addresses.initiator = self.claimed.0;
        self.state = Status::Established(self.sa.tunnel.clone());
    }
}

impl Peer for MobikeResponder {
    fn party(&self) -> Party {
        Party::Gateway
    }

    fn receive(&mut self, message: &Message, context: &mut Context<'_>) {
        let Some((true, octets)) = uncarried(message) else {
            return;
        };
        let Way { from, to } = parties(false);
        if let Some((question, answer)) = &self.answered
            && question == octets
        {
            let (carrier, answer) = carried(true, answer);
            context.send(from, to, carrier, answer);
            return;
        }
        let Some((id, asks, payloads)) = self.sa.open(context, true, octets) else {
            return;
        };
        if !asks {
            let right = match (self.check, cookie(&payloads)) {
                (Some(sent), Some(came)) => id == self.sa.next.responder && equal(&sent, &came),
                _ => false,
            };
            if right {
                self.sa.next.responder += 1;
                self.check = None;
                self.finish();
            }
            return;
        }
        let update = notifications(&payloads).any(|(kind, _)| kind == UPDATE_SA_ADDRESSES);
        if id != self.sa.next.initiator || !update {
            return;
        }
        self.sa.next.initiator += 1;
        let way = Way {
            from: (self.sa.addresses.responder, PORT),
            to: self.claimed,
        };
        let mut inside = nat::detection(context, &self.sa.spis, way).to_vec();
        inside.extend(cookie(&payloads).map(|data| notify(COOKIE2, &data)));
        let answer = self.sa.seal(context, false, false, id, &inside);
        self.answered = Some((octets.to_vec(), answer.clone()));
        let (carrier, answer) = carried(true, &answer);
        context.send(from, to, carrier, answer);
        if self.checks {
            let value: [u8; 16] = context.random();
            self.check = Some(value);
            let inside = [notify(COOKIE2, &value)];
            let question = self
                .sa
                .seal(context, false, true, self.sa.next.responder, &inside);
            let (carrier, question) = carried(true, &question);
            self.resend.send(context, from, to, carrier, question);
        } else {
            self.finish();
        }
    }

    fn on_timeout(&mut self, context: &mut Context<'_>) {
        if self.state != Status::Waiting {
            return;
        }
        let goes_on = if self.check.is_some() {
            self.resend.after_timeout(context)
        } else {
            self.resend.wait()
        };
        if !goes_on {
            self.state = Status::Failed(Failure::PeerTimeout { code: Code::Silent });
        }
    }

    fn status(&self) -> Status {
        match self.state {
            // Questions of the other end that come later have message IDs, too.
            Status::Established(_) => self.sa.moved(),
            _ => self.state.clone(),
        }
    }
}
