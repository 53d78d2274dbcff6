//! The station's EAP: EAPOL-Start, identity, method, verdict (RFC 3748 section 4, RFC 4137).
//!
//! Takes EAPOL packets; gives EAPOL packets and an MSK. A repeated request gets the same
//! response; Success that the method did not earn is not believed.

use airtoll_wire::eap::{Code, EapRepr, method};
use airtoll_wire::eapol::packet_type;

use super::{EapConfig, FAILED, PeerMethod, agreed, eapol, octets, peer_method, read_eapol};
use crate::exchange::{Carrier, Context, Message, Party, Peer, SecretName, Secrets, Status};
use crate::failure::Failure;
use crate::link::agreed::leaving_reason;
use crate::tls::Session;

/// Time-outs before the station gives up; it outlasts the server's repetitions.
const PATIENCE: u8 = 12;
/// Time-outs after which it takes the conversation for dead and starts again (802.1X-2004, 8.2.2.1.2:
/// authPeriod); the authenticator has then given a silent server up.
const RESTART: u8 = 7;
/// EAPOL-Starts that the station sends (802.1X-2004, 8.5.2: maxStart).
const STARTS: u8 = 3;

/// The station's end.
pub struct EapSupplicant {
    config: EapConfig,
    method: Box<dyn PeerMethod>,
    last: Option<(u8, Vec<u8>, Vec<u8>)>,
    starts: u8,
    waited: u8,
    /// Requests of this conversation after the one for the identity.
    rounds: u32,
    succeeded: bool,
    failure: Option<Failure>,
}

impl EapSupplicant {
    /// A station that will speak first.
    #[must_use]
    pub fn new(config: EapConfig) -> Self {
        Self {
            method: peer_method(&config),
            config,
            last: None,
            starts: 0,
            waited: 0,
            rounds: 0,
            succeeded: false,
            failure: None,
        }
    }

    /// The TLS session that a later exchange may resume.
    #[must_use]
    pub fn session(&self) -> Option<Session> {
        self.method.session()
    }

    fn send(context: &mut Context<'_>, octets: Vec<u8>) {
        context.send(Party::Station, Party::AccessPoint, Carrier::Eapol, octets);
    }

    fn send_start(&mut self, context: &mut Context<'_>) {
        self.starts += 1;
        Self::send(context, eapol(packet_type::START, &[]));
    }

    fn request(&mut self, packet: &EapRepr, context: &mut Context<'_>) {
        let asked = octets(packet);
        if let Some((identifier, before, answer)) = &self.last
            && *identifier == packet.identifier
            && *before == asked
        {
            Self::send(context, answer.clone());
            return;
        }
        if packet.code == Code::Request {
            self.rounds += 1;
        }
        let limit = self.config.limits.rounds;
        if let Some(limit) = limit.filter(|limit| self.rounds > *limit) {
            self.failure = Some(Failure::TooManyRounds {
                code: FAILED,
                limit,
            });
            return;
        }
        let answer = match &packet.body {
            Some((method::IDENTITY, _)) => {
                self.rounds = 0;
                // A new conversation: what an earlier one agreed on is void.
                if self.config.remembers && self.succeeded {
                    self.config.resume = self.method.session();
                }
                self.method = peer_method(&self.config);
                self.succeeded = false;
                let identity = self.config.identity.clone();
                Ok(Some(EapRepr::response(
                    packet.identifier,
                    method::IDENTITY,
                    identity,
                )))
            }
            Some((kind, _)) if *kind == self.config.method.number() => {
                self.method.answer(packet, context)
            }
            Some(_) => Ok(Some(EapRepr::response(
                packet.identifier,
                method::NAK,
                vec![self.config.method.number()],
            ))),
            None => Ok(None),
        };
        match answer {
            Ok(Some(answer)) => {
                let answer = eapol(packet_type::EAP, &octets(&answer));
                self.last = Some((packet.identifier, asked, answer.clone()));
                Self::send(context, answer);
            }
            Ok(None) => self.succeeded |= packet.code == Code::Response && self.method.is_done(),
            Err(failure) => self.failure = Some(failure),
        }
    }

    fn success(&mut self, context: &mut Context<'_>) {
        if !self.method.is_satisfied() {
            // RFC 3748 section 4.2: dropped, because anyone can send it.
            return;
        }
        match self.method.on_success(context) {
            Ok(Some(packet)) => {
                let answer = eapol(packet_type::EAP, &octets(&packet));
                Self::send(context, answer);
            }
            Ok(None) => self.succeeded = true,
            Err(failure) => self.failure = Some(failure),
        }
    }
}

impl Peer for EapSupplicant {
    fn party(&self) -> Party {
        Party::Station
    }

    fn start(&mut self, context: &mut Context<'_>) {
        self.send_start(context);
    }

    fn receive(&mut self, message: &Message, context: &mut Context<'_>) {
        if self.failure.is_some() {
            return;
        }
        if let Some(number) = leaving_reason(message) {
            self.failure = Some(crate::link::agreed::failure_of_reason(number));
            return;
        }
        let Some(packet) = read_eapol(message) else {
            return;
        };
        match packet.code {
            Code::Request => self.request(&packet, context),
            // LEAP's server answers the station's challenge.
            Code::Response if packet.body.as_ref().is_some_and(|b| b.0 == method::LEAP) => {
                self.request(&packet, context);
            }
            Code::Response => {}
            Code::Success => self.success(context),
            Code::Failure => {
                if !self.succeeded {
                    let own = self.method.on_success(context).err();
                    self.failure = Some(own.unwrap_or(Failure::WrongCredentials { code: FAILED }));
                }
            }
        }
    }

    fn on_timeout(&mut self, context: &mut Context<'_>) {
        if self.status() != Status::Waiting {
            return;
        }
        self.waited += 1;
        if self.waited > PATIENCE {
            self.failure = Some(Failure::PeerTimeout { code: FAILED });
        } else if self.starts < STARTS
            && (self.last.is_none() || self.waited.is_multiple_of(RESTART))
        {
            self.send_start(context);
        }
    }

    fn status(&self) -> Status {
        match self.failure {
            Some(failure) => Status::Failed(failure),
            None if self.succeeded => {
                let mut secrets = Secrets::new();
                let msk = self.method.msk();
                if !msk.is_empty() {
                    secrets.insert(SecretName::Msk, msk);
                }
                Status::Established(secrets)
            }
            None => Status::Waiting,
        }
    }

    fn agreed(&self) -> Secrets {
        agreed(self.status(), self.session())
    }
}
