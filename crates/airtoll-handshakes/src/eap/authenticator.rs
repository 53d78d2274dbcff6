//! The AP's EAP: it passes packets between EAPOL and RADIUS (RFC 3579) and opens the port.
//!
//! Takes EAPOL packets and RADIUS responses; gives EAP requests over EAPOL, Access-Requests,
//! and the MSK out of Microsoft's key attributes. Never looks into a method.

use airtoll_wire::eap::{Code, EapRepr, method};
use airtoll_wire::eapol::packet_type;
use airtoll_wire::radius::{RadiusRepr, attribute, code};

use super::{FAILED, eapol, octets, read_eapol};
use crate::exchange::{Carrier, Context, Message, Party, Peer, SecretName, Secrets, Status};
use crate::failure::{Failure, reason};
use crate::link::agreed::Link;
use crate::radius::{decrypt_key, sign_request, verify_response};

/// How often a request to the station is repeated (802.1X-2004, 9.7: maxReq is 2, hostapd 4).
const REPEATS: u8 = 4;
/// How often a request to the server is repeated: what fits into the 30 s of RFC 5080 section 2.2.1
/// when the first wait is 2 s and every other twice the one before.
const SERVER_REPEATS: u8 = 3;

/// The message for which the AP waits.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Phase {
    /// The station: the EAPOL packet it has to answer.
    Station(Vec<u8>),
    /// The server: the Access-Request it has to answer.
    Server(Vec<u8>),
    /// Nothing yet.
    Idle,
}

/// The AP's end.
pub struct EapAuthenticator {
    link: Link,
    secret: Vec<u8>,
    /// RADIUS goes over TLS, so that no request is repeated (RFC 6613 section 2.6.1).
    reliable: bool,
    identifier: u8,
    radius_identifier: u8,
    request_authenticator: [u8; 16],
    state: Option<Vec<u8>>,
    identity: Vec<u8>,
    phase: Phase,
    left: u8,
    outcome: Option<Result<Vec<u8>, Failure>>,
}

impl EapAuthenticator {
    /// An AP that shares `secret` with the RADIUS server.
    #[must_use]
    pub const fn new(link: Link, secret: Vec<u8>) -> Self {
        Self {
            link,
            secret,
            reliable: false,
            identifier: 0,
            radius_identifier: 0,
            request_authenticator: [0; 16],
            state: None,
            identity: Vec::new(),
            phase: Phase::Idle,
            left: REPEATS,
            outcome: None,
        }
    }

    /// RADIUS goes over TLS: requests are not repeated, and the access point waits for a response as
    /// long as it does over UDP.
    #[must_use]
    pub const fn over_tls(mut self) -> Self {
        self.reliable = true;
        self
    }

    fn request_station(&mut self, context: &mut Context<'_>, packet: &EapRepr, answer: bool) {
        let octets = eapol(packet_type::EAP, &octets(packet));
        self.left = REPEATS;
        self.phase = if answer {
            Phase::Station(octets.clone())
        } else {
            Phase::Idle
        };
        context.send(Party::AccessPoint, Party::Station, Carrier::Eapol, octets);
    }

    fn ask_identity(&mut self, context: &mut Context<'_>) {
        self.identifier = self.identifier.wrapping_add(1);
        self.state = None;
        self.outcome = None;
        let request = EapRepr::request(self.identifier, method::IDENTITY, Vec::new());
        self.request_station(context, &request, true);
    }

    fn request_server(&mut self, context: &mut Context<'_>, eap: &[u8]) {
        self.radius_identifier = self.radius_identifier.wrapping_add(1);
        self.request_authenticator = context.random();
        let dashes = |octets: [u8; 6]| {
            octets
                .map(|octet| format!("{octet:02X}"))
                .join("-")
                .into_bytes()
        };
        let mut called = dashes(self.link.access_point.0);
        called.push(b':');
        called.extend(&self.link.ssid);
        let mut packet = RadiusRepr {
            code: code::ACCESS_REQUEST,
            identifier: self.radius_identifier,
            authenticator: self.request_authenticator,
            attributes: vec![
                (attribute::USER_NAME, self.identity.clone()),
                (attribute::NAS_IP_ADDRESS, vec![10, 0, 0, 1]),
                (attribute::CALLED_STATION_ID, called),
                (attribute::NAS_PORT_TYPE, vec![0, 0, 0, 19]),
                (attribute::CALLING_STATION_ID, dashes(self.link.station.0)),
                (attribute::FRAMED_MTU, vec![0, 0, 5, 120]),
            ],
        };
        packet.push_eap_message(eap);
        if let Some(state) = &self.state {
            packet.attributes.push((attribute::STATE, state.clone()));
        }
        let octets = sign_request(context, &self.secret, packet);
        self.left = SERVER_REPEATS;
        self.phase = Phase::Server(octets.clone());
        context.send(
            Party::AccessPoint,
            Party::AuthenticationServer,
            Carrier::Radius,
            octets,
        );
    }

    fn receive_eapol(&mut self, message: &Message, context: &mut Context<'_>) {
        let start = airtoll_wire::eapol::Eapol::new(&message.octets)
            .is_ok_and(|packet| packet.packet_type() == packet_type::START);
        if start {
            // A station that starts again has lost what it had; one that repeats its Start
            // while we wait for it gets the same request.
            match &self.phase {
                Phase::Station(octets) if self.state.is_none() => {
                    let octets = octets.clone();
                    context.send(Party::AccessPoint, Party::Station, Carrier::Eapol, octets);
                }
                _ => self.ask_identity(context),
            }
            return;
        }
        let Some(packet) = read_eapol(message) else {
            return;
        };
        let expected = match packet.code {
            Code::Response => packet.identifier == self.identifier,
            // LEAP's station challenges the server after Success.
            Code::Request => packet.body.as_ref().is_some_and(|b| b.0 == method::LEAP),
            _ => false,
        };
        if !expected || !matches!(self.phase, Phase::Station(_)) {
            return;
        }
        if let Some((method::IDENTITY, identity)) = &packet.body {
            self.identity.clone_from(identity);
        }
        self.request_server(context, &octets(&packet));
    }

    fn receive_radius(&mut self, message: &Message, context: &mut Context<'_>) {
        if !matches!(self.phase, Phase::Server(_)) {
            return;
        }
        let Ok(packet) = RadiusRepr::parse(&message.octets) else {
            return;
        };
        let authenticator = self.request_authenticator;
        if packet.identifier != self.radius_identifier
            || !verify_response(context, &self.secret, authenticator, &message.octets)
        {
            return;
        }
        let Ok(eap) = EapRepr::parse(&packet.eap_message()) else {
            return;
        };
        self.state = packet.value(attribute::STATE).map(<[u8]>::to_vec);
        self.identifier = eap.identifier;
        match packet.code {
            code::ACCESS_CHALLENGE => self.request_station(context, &eap, true),
            code::ACCESS_ACCEPT => {
                let mut msk = Vec::new();
                for kind in [attribute::MS_MPPE_RECV_KEY, attribute::MS_MPPE_SEND_KEY] {
                    if let Some(value) = packet.microsoft(kind) {
                        let key = decrypt_key(context, &self.secret, authenticator, value);
                        msk.extend(key.unwrap_or_default());
                    }
                }
                self.outcome = Some(Ok(msk));
                self.request_station(context, &eap, false);
            }
            code::ACCESS_REJECT => {
                self.outcome = Some(Err(Failure::WrongCredentials { code: FAILED }));
                self.request_station(context, &eap, false);
                self.link.send_deauthentication(
                    context,
                    Party::AccessPoint,
                    reason::IEEE8021X_FAILED,
                );
            }
            _ => {}
        }
    }
}

impl Peer for EapAuthenticator {
    fn party(&self) -> Party {
        Party::AccessPoint
    }

    fn receive(&mut self, message: &Message, context: &mut Context<'_>) {
        if matches!(self.outcome, Some(Err(_))) {
            return;
        }
        match message.carrier {
            Carrier::Eapol => self.receive_eapol(message, context),
            Carrier::Radius => self.receive_radius(message, context),
            _ => {}
        }
    }

    fn on_timeout(&mut self, context: &mut Context<'_>) {
        if self.status() != Status::Waiting {
            return;
        }
        let (to, carrier, octets) = match self.phase.clone() {
            Phase::Station(octets) => (Party::Station, Carrier::Eapol, octets),
            Phase::Server(octets) => (Party::AuthenticationServer, Carrier::Radius, octets),
            Phase::Idle => {
                self.left = self.left.saturating_sub(1);
                if self.left == 0 {
                    self.outcome = Some(Err(Failure::PeerTimeout { code: FAILED }));
                }
                return;
            }
        };
        if self.left > 0 {
            self.left -= 1;
            if !self.reliable || to == Party::Station {
                context.send(Party::AccessPoint, to, carrier, octets);
            }
            return;
        }
        self.outcome = Some(Err(if to == Party::AuthenticationServer {
            Failure::ServerTimeout { code: FAILED }
        } else {
            Failure::PeerTimeout { code: FAILED }
        }));
        let number = reason::IEEE8021X_FAILED;
        self.link
            .send_deauthentication(context, Party::AccessPoint, number);
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
}
