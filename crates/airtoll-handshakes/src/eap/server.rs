//! The RADIUS server with the EAP server in it.
//!
//! Takes Access-Requests; gives Access-Challenges, and in the end Access-Accept with the MSK in
//! Microsoft's key attributes, or Access-Reject. A repeated request gets the same answer; one
//! without a right Message-Authenticator gets none (RFC 3579 section 3.2).
//!
//! LEAP's station challenges the network after EAP-Success, in an EAP request. [`StationChallenge`]
//! says how this request reaches the server.

use airtoll_wire::eap::{Code, EapRepr, method};
use airtoll_wire::eapol::packet_type;
use airtoll_wire::radius::{RadiusRepr, attribute, code};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    EapConfig, FAILED, ServerMethod, Step, agreed, eapol, octets, read_eapol, server_method,
};
use crate::exchange::{Carrier, Context, Message, Party, Peer, SecretName, Secrets, Status};
use crate::failure::Failure;
use crate::link::dynamic_wep::WepKeyGiver;
use crate::link::key_frame::GroupKeys;
use crate::radius::{encrypt_key, sign_response, verify_request};
use crate::radius_proxy::{proxy_states, too_long};
use crate::tls::Session;

/// Time-outs that a server sits through; it only answers.
const PATIENCE: u8 = 60;
/// Octets of the PMK that hostapd takes from a RADIUS server (802.11-2020, 12.7.1.3).
const PMK_OCTETS: usize = 32;

/// The way of the challenge of a LEAP station to the server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "challenge", rename_all = "kebab-case", deny_unknown_fields)]
pub enum StationChallenge {
    /// The authenticator relays the challenge in an Access-Request.
    Relayed {},
    /// The authenticator relays EAP responses only (hostapd). The server receives the challenge on
    /// the link and sends it to the authenticator as a response. Its keys have the 32 octets that
    /// hostapd takes as PMK.
    AsResponse {},
    /// The authenticator relays EAP responses only. RADIUS ends with Access-Accept after the first
    /// half, without keys, and the server answers the challenge on the link.
    OnLink {
        /// WEP key for broadcast and unicast that EAPOL-Key frames then distribute; null without
        /// encryption.
        #[serde(default)]
        wep_key: Option<Vec<u8>>,
    },
}

impl Default for StationChallenge {
    fn default() -> Self {
        Self::Relayed {}
    }
}

/// The server's end.
pub struct EapServer {
    config: EapConfig,
    secret: Vec<u8>,
    method: Option<Box<dyn ServerMethod>>,
    identifier: u8,
    state: Vec<u8>,
    answered: Option<(Vec<u8>, Vec<u8>)>,
    waited: u8,
    /// Responses of this conversation after the identity.
    rounds: u32,
    challenge: StationChallenge,
    wep_counter: u64,
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
            rounds: 0,
            challenge: StationChallenge::Relayed {},
            wep_counter: 0,
            outcome: None,
        }
    }

    /// Takes the challenge of a LEAP station this way.
    #[must_use]
    pub fn with_challenge(mut self, challenge: StationChallenge) -> Self {
        self.challenge = challenge;
        self
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
            self.rounds = 0;
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
        self.rounds += 1;
        if let Some(limit) = self
            .config
            .limits
            .rounds
            .filter(|limit| self.rounds > *limit)
        {
            let end = EapRepr::end(Code::Failure, eap.identifier);
            return Step::Reject(
                end,
                Failure::TooManyRounds {
                    code: FAILED,
                    limit,
                },
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
        let on_link = matches!(self.challenge, StationChallenge::OnLink { .. });
        let (code, eap) = match &step {
            Step::Continue(eap) if on_link && eap.code == Code::Success => {
                (code::ACCESS_ACCEPT, eap)
            }
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
                if code == code::ACCESS_CHALLENGE {
                    packet
                        .attributes
                        .push((attribute::STATE, self.state.clone()));
                }
            }
            Step::Accept(_) => {
                let mut msk = self.method.as_ref().map(|m| m.msk()).unwrap_or_default();
                if self.challenge == (StationChallenge::AsResponse {}) && msk.len() < PMK_OCTETS {
                    // HMAC pads its key with zeros (RFC 2104 section 2): both PMKs give one PTK.
                    msk.resize(PMK_OCTETS, 0);
                    msk.extend_from_within(..);
                }
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
        packet.attributes.extend(proxy_states(request));
        if let Some(failure) = too_long(&packet) {
            self.outcome = Some(Err(failure));
            return;
        }
        let octets = sign_response(context, &self.secret, request.authenticator, packet);
        self.answered = Some((octets_in.to_vec(), octets.clone()));
        Self::send(context, octets);
    }

    /// A frame of the link: the challenge of a LEAP station, which the authenticator drops.
    fn receive_eapol(&mut self, message: &Message, context: &mut Context<'_>) {
        let Some(packet) = read_eapol(message) else {
            return;
        };
        let challenges = packet.code == Code::Request
            && matches!(&packet.body, Some((method::LEAP, _)))
            && message.from == Party::Station;
        if !challenges {
            return;
        }
        match self.challenge.clone() {
            StationChallenge::Relayed {} => {}
            StationChallenge::AsResponse {} => {
                let response = EapRepr {
                    code: Code::Response,
                    ..packet
                };
                let frame = eapol(packet_type::EAP, &octets(&response));
                Self::send_eapol(context, Party::AccessPoint, frame);
            }
            StationChallenge::OnLink { wep_key } => {
                if let Step::Accept(proof) = self.step(&packet, context) {
                    self.prove(&proof, wep_key, context);
                }
            }
        }
    }

    /// Sends the network's proof and the WEP keys to the station.
    fn prove(&mut self, proof: &EapRepr, wep_key: Option<Vec<u8>>, context: &mut Context<'_>) {
        let frame = eapol(packet_type::EAP, &octets(proof));
        Self::send_eapol(context, Party::Station, frame);
        let msk = self.method.as_ref().map(|m| m.msk()).unwrap_or_default();
        if let Some(key) = wep_key {
            let broadcast = GroupKeys {
                gtk: key.clone(),
                key_id: 0,
                igtk: Vec::new(),
                bigtk: Vec::new(),
            };
            let mut giver = WepKeyGiver::new(msk.clone(), key.len())
                .handing_out(broadcast)
                .with_unicast(key)
                .counting_after(self.wep_counter);
            giver.start(context);
            self.wep_counter = giver.counter();
        }
        self.outcome = Some(Ok(msk));
    }

    fn send_eapol(context: &mut Context<'_>, to: Party, octets: Vec<u8>) {
        context.send(Party::AuthenticationServer, to, Carrier::Eapol, octets);
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
        match message.carrier {
            Carrier::Radius => {}
            Carrier::Eapol => return self.receive_eapol(message, context),
            _ => return,
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
