//! EAP (RFC 3748) between supplicant and server, through an authenticator that speaks EAPOL
//! on one side and RADIUS on the other.
//!
//! Takes an [`EapConfig`] at each end; gives EAPOL and RADIUS packets and an MSK. Methods are
//! one file each; `supplicant`, `authenticator` and `server` carry any of them.
//! Never derives a PMK: the caller takes the MSK to the key handshake.

mod authenticator;
mod cryptobinding;
mod leap;
mod md5;
mod mschapv2;
mod peap;
mod server;
mod supplicant;
mod teap;
mod tls;
mod ttls;
mod tunnel;

use airtoll_security::EapMethod;
use airtoll_wire::eap::EapRepr;
use airtoll_wire::eapol::{EapolRepr, packet_type};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use authenticator::EapAuthenticator;
pub use server::{EapServer, StationChallenge};
pub use supplicant::EapSupplicant;

use crate::exchange::{Carrier, Context, Message, SecretName, Secrets, Status};
use crate::failure::{Code, Failure, reason};
use crate::octets::written;
use crate::tls::{Chain, Credential, NamedGroup, Session, TlsSuite, TlsVersion};

/// Limits of one end for one conversation. Each product has its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct EapLimits {
    /// Responses after the identity that a server takes, or requests after it that a station answers; null
    /// without a limit.
    pub rounds: Option<u32>,
    /// Octets of one TLS flight that it receives; null without a limit.
    pub received_flight_octets: Option<u32>,
    /// Octets of one TLS flight that it sends; null without a limit.
    pub sent_flight_octets: Option<u32>,
}

/// Settings of one end of an EAP conversation.
#[derive(Clone)]
pub struct EapConfig {
    /// The method.
    pub method: EapMethod,
    /// Identity that the station claims.
    pub identity: Vec<u8>,
    /// Password, for the methods that use one.
    pub password: Vec<u8>,
    /// Which TLS, for the methods that use it.
    pub tls: TlsVersion,
    /// Its suite.
    pub suite: TlsSuite,
    /// Its groups, where they are not the suite's usual ones.
    pub groups: Vec<NamedGroup>,
    /// The own chain; the client's matters in EAP-TLS alone.
    pub credential: Option<Credential>,
    /// The kind of the root that is trusted.
    pub trusted: Chain,
    /// A TLS session to resume.
    pub resume: Option<Session>,
    /// Whether this end goes on to remember the session of its latest conversation.
    pub remembers: bool,
    /// Octets of TLS data in one EAP packet (wpa_supplicant's default is 1398).
    pub fragment_octets: usize,
    /// When the server gives the conversation up.
    pub limits: EapLimits,
    /// Whether the ends take and send compressed certificates (RFC 8879).
    pub certificate_compression: bool,
    /// Whether PEAP's server binds the tunnel to what runs in it (MS-PEAP); those of 2006 did not.
    /// A station does when it is asked.
    pub cryptobinding: bool,
}

impl EapConfig {
    /// Settings of a method that uses a password and no TLS.
    #[must_use]
    pub fn with_password(method: EapMethod, identity: &str, password: &str) -> Self {
        Self {
            method,
            identity: identity.as_bytes().to_vec(),
            password: password.as_bytes().to_vec(),
            tls: TlsVersion::default(),
            suite: TlsSuite::default(),
            groups: Vec::new(),
            credential: None,
            trusted: Chain::default(),
            resume: None,
            remembers: false,
            fragment_octets: 1398,
            limits: EapLimits::default(),
            certificate_compression: false,
            cryptobinding: false,
        }
    }
}

/// The results of an end: its secrets, and the TLS session that it may resume.
fn agreed(status: Status, session: Option<Session>) -> Secrets {
    let mut secrets = match status {
        Status::Established(secrets) => secrets,
        _ => Secrets::new(),
    };
    let session = session.filter(|_| !secrets.is_empty());
    secrets.extend(session.map(|s| (SecretName::TlsSession, s.to_octets())));
    secrets
}

/// The next step of a server method.
pub(super) enum Step {
    /// Sends this packet and waits.
    Continue(EapRepr),
    /// Ends well; the packet is Success but in LEAP, whose last is a response.
    Accept(EapRepr),
    /// Ends badly.
    Reject(EapRepr, Failure),
    /// The packet belongs to another method or step.
    Ignore,
}

/// The server's half of a method.
pub(super) trait ServerMethod {
    /// Starts (without a packet) or goes on; `identifier` is for the next request.
    fn next(&mut self, packet: Option<&EapRepr>, identifier: u8, context: &mut Context<'_>)
    -> Step;

    /// The MSK (in LEAP, the session key), empty without keys.
    fn msk(&self) -> Vec<u8>;

    /// The TLS session that a later exchange may resume.
    fn session(&self) -> Option<Session> {
        None
    }
}

/// The peer's half of a method.
pub(super) trait PeerMethod {
    /// Answers a packet; `None` says nothing.
    fn answer(
        &mut self,
        packet: &EapRepr,
        context: &mut Context<'_>,
    ) -> Result<Option<EapRepr>, Failure>;

    /// Takes the server's Success; a packet to send when the method goes on (LEAP).
    fn on_success(&mut self, _context: &mut Context<'_>) -> Result<Option<EapRepr>, Failure> {
        Ok(None)
    }

    /// Whether the server has proved itself, so that Success may be believed.
    fn is_satisfied(&self) -> bool;

    /// Whether nothing more comes.
    fn is_done(&self) -> bool {
        true
    }

    /// The MSK (in LEAP, the session key), empty without keys.
    fn msk(&self) -> Vec<u8>;

    /// The TLS session that a later exchange may resume.
    fn session(&self) -> Option<Session> {
        None
    }
}

pub(super) fn server_method(config: &EapConfig) -> Option<Box<dyn ServerMethod>> {
    Some(match config.method {
        EapMethod::Md5 => Box::new(md5::Md5Server::new(config)),
        EapMethod::Leap => Box::new(leap::LeapServer::new(config)),
        EapMethod::Tls => Box::new(tls::TlsServerMethod::new(config, None)?),
        EapMethod::Ttls => tunnelled_server(config, ttls::PapServer::new(config))?,
        EapMethod::Peap => tunnelled_server(config, peap::PeapServer::new(config))?,
        EapMethod::Teap => tunnelled_server(config, teap::TeapServer::new(config))?,
    })
}

fn tunnelled_server(
    config: &EapConfig,
    inner: impl tunnel::InnerServer + 'static,
) -> Option<Box<dyn ServerMethod>> {
    let method = tls::TlsServerMethod::new(config, Some(Box::new(inner)))?;
    Some(Box::new(method))
}

pub(super) fn peer_method(config: &EapConfig) -> Box<dyn PeerMethod> {
    match config.method {
        EapMethod::Md5 => Box::new(md5::Md5Peer::new(config)),
        EapMethod::Leap => Box::new(leap::LeapPeer::new(config)),
        EapMethod::Tls => Box::new(tls::TlsPeerMethod::new(config, None)),
        EapMethod::Ttls => tunnelled_peer(config, ttls::PapPeer::new(config)),
        EapMethod::Peap => tunnelled_peer(config, peap::PeapPeer::new(config)),
        EapMethod::Teap => tunnelled_peer(config, teap::TeapPeer::new(config)),
    }
}

fn tunnelled_peer(
    config: &EapConfig,
    inner: impl tunnel::InnerPeer + 'static,
) -> Box<dyn PeerMethod> {
    Box::new(tls::TlsPeerMethod::new(config, Some(Box::new(inner))))
}

/// Failed 802.1X authentication, as hostapd and wpa_supplicant report it.
pub(super) const FAILED: Code = Code::Reason(reason::IEEE8021X_FAILED);

/// An EAPOL packet; version 1 is what 802.1X-2001 stations and servers understand.
pub(super) fn eapol(packet_type: u8, body: &[u8]) -> Vec<u8> {
    written(|out| {
        EapolRepr {
            version: 1,
            packet_type,
            body,
        }
        .emit(out);
    })
}

/// An EAP packet's octets.
pub(super) fn octets(packet: &EapRepr) -> Vec<u8> {
    written(|out| packet.emit(out))
}

/// The EAP packet in an EAPOL message.
pub(super) fn read_eapol(message: &Message) -> Option<EapRepr> {
    if message.carrier != Carrier::Eapol {
        return None;
    }
    let packet = airtoll_wire::eapol::Eapol::new(&message.octets).ok()?;
    if packet.packet_type() != packet_type::EAP {
        return None;
    }
    EapRepr::parse(packet.body()).ok()
}

#[cfg(test)]
mod leap_tests;
#[cfg(test)]
mod tests;
