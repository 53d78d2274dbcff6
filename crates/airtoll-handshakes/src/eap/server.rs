//! The RADIUS server with the EAP server in it.
//!
//! Takes Access-Requests; gives Access-Challenges, and in the end Access-Accept with the MSK in
//! Microsoft's key attributes, or Access-Reject. A repeated request gets the same answer; one
//! without a right Message-Authenticator gets none (RFC 3579 section 3.2).

use airtoll_wire::eap::{Code, EapRepr, method};
use airtoll_wire::radius::{RadiusRepr, attribute, code};

use super::{EapConfig, FAILED, ServerMethod, Step, agreed, octets, server_method};
use crate::exchange::{Carrier, Context, Message, Party, Peer, SecretName, Secrets, Status};
use crate::failure::Failure;
use crate::radius::{encrypt_key, sign_response, verify_request};
use crate::tls::Session;

/// Time-outs that a server sits through; it only answers.
const PATIENCE: u8 = 60;

/// The server's end.
pub struct EapServer {
    config: EapConfig,
    secret: Vec<u8>,
    method: Option<Box<dyn ServerMethod>>,
    identifier: u8,
    state: Vec<u8>,
    answered: Option<(Vec<u8>, Vec<u8>)>,
    waited: u8,
    outcome: Option<Result<Vec<u8>, Failure>>,
}

impl EapServer {
    /// A server for one user that shares `secret` with the AP.
    #[must_use]
    pub const fn new(config: EapConfig, secret: Vec<u8>) -> Self {
        Self {
            config,
            secret,
            method: None,
            identifier: 0,
            state: Vec::new(),
            answered: None,
            waited: 0,
            outcome: None,
        }
    }

    /// The TLS session that a later exchange may resume.
    #[must_use]
    pub fn session(&self) -> Option<Session> {
        self.method.as_ref().and_then(|method| method.session())
    }

    fn step(&mut self, eap: &EapRepr, context: &mut Context<'_>) -> Step {
        let next = eap.identifier.wrapping_add(1);
        if let Some((method::IDENTITY, identity)) = &eap.body {
            if *identity != self.config.identity {
                return Step::Reject(
                    EapRepr::end(Code::Failure, eap.identifier),
                    Failure::WrongCredentials { code: FAILED },
                );
            }
            self.outcome = None;
            self.state = context.random_octets(16);
            self.method = server_method(&self.config);
            return match &mut self.method {
                Some(method) => method.next(None, next, context),
                None => Step::Ignore,
            };
        }
        if let Some((method::NAK, _)) = &eap.body {
            return Step::Reject(
                EapRepr::end(Code::Failure, eap.identifier),
                Failure::NothingInCommon { code: FAILED },
            );
        }
        match &mut self.method {
            Some(method) => method.next(Some(eap), next, context),
            None => Step::Ignore,
        }
    }

    fn answer(
        &mut self,
        request: &RadiusRepr,
        octets_in: &[u8],
        step: Step,
        context: &mut Context<'_>,
    ) {
        let (code, eap) = match &step {
            Step::Continue(eap) => (code::ACCESS_CHALLENGE, eap),
            Step::Accept(eap) => (code::ACCESS_ACCEPT, eap),
            Step::Reject(eap, _) => (code::ACCESS_REJECT, eap),
            Step::Ignore => return,
        };
        let mut packet = RadiusRepr {
            code,
            identifier: request.identifier,
            authenticator: request.authenticator,
            attributes: Vec::new(),
        };
        packet.push_eap_message(&octets(eap));
        match step {
            Step::Continue(eap) => {
                self.identifier = eap.identifier;
                packet
                    .attributes
                    .push((attribute::STATE, self.state.clone()));
            }
            Step::Accept(_) => {
                let msk = self.method.as_ref().map(|m| m.msk()).unwrap_or_default();
                let (receive, send) = msk.split_at(msk.len().min(32));
                for (kind, key) in [
                    (attribute::MS_MPPE_RECV_KEY, receive),
                    (attribute::MS_MPPE_SEND_KEY, send),
                ] {
                    if !key.is_empty() {
                        let value = encrypt_key(context, &self.secret, request.authenticator, key);
                        packet.push_microsoft(kind, &value);
                    }
                }
                packet
                    .attributes
                    .push((attribute::USER_NAME, self.config.identity.clone()));
                if self.config.remembers {
                    self.config.resume = self.session();
                }
                self.outcome = Some(Ok(msk));
            }
            Step::Reject(_, failure) => {
                // A session that failed once is not resumed (RFC 5246 section 7.2.2).
                self.config.resume = None;
                self.outcome = Some(Err(failure));
            }
            Step::Ignore => {}
        }
        let octets = sign_response(context, &self.secret, request.authenticator, packet);
        self.answered = Some((octets_in.to_vec(), octets.clone()));
        Self::send(context, octets);
    }

    fn send(context: &mut Context<'_>, octets: Vec<u8>) {
        context.send(
            Party::AuthenticationServer,
            Party::AccessPoint,
            Carrier::Radius,
            octets,
        );
    }
}

impl Peer for EapServer {
    fn party(&self) -> Party {
        Party::AuthenticationServer
    }

    fn receive(&mut self, message: &Message, context: &mut Context<'_>) {
        if message.carrier != Carrier::Radius {
            return;
        }
        if let Some((request, response)) = &self.answered
            && *request == message.octets
        {
            Self::send(context, response.clone());
            return;
        }
        let Ok(request) = RadiusRepr::parse(&message.octets) else {
            return;
        };
        if request.code != code::ACCESS_REQUEST
            || !verify_request(context, &self.secret, &message.octets)
        {
            return;
        }
        let Ok(eap) = EapRepr::parse(&request.eap_message()) else {
            return;
        };
        let fresh = matches!(eap.body, Some((method::IDENTITY, _)));
        if !fresh && request.value(attribute::STATE) != Some(&self.state) {
            return;
        }
        let step = self.step(&eap, context);
        self.answer(&request, &message.octets, step, context);
    }

    fn on_timeout(&mut self, _context: &mut Context<'_>) {
        if self.outcome.is_none() {
            self.waited += 1;
            if self.waited > PATIENCE {
                self.outcome = Some(Err(Failure::PeerTimeout { code: FAILED }));
            }
        }
    }

    fn status(&self) -> Status {
        match &self.outcome {
            None => Status::Waiting,
            Some(Err(failure)) => Status::Failed(*failure),
            Some(Ok(msk)) => {
                let mut secrets = Secrets::new();
                if !msk.is_empty() {
                    secrets.insert(SecretName::Msk, msk.clone());
                }
                Status::Established(secrets)
            }
        }
    }

    fn agreed(&self) -> Secrets {
        agreed(self.status(), self.session())
    }
}
