//! EAP-TLS (RFC 5216, RFC 9190), and the outer half of the methods that authenticate inside a TLS
//! tunnel: fragments around a TLS handshake.
//!
//! Takes an [`EapConfig`] at each end; gives packets and an MSK exported from TLS. The inner half
//! of a tunnelled method is an [`InnerServer`] or an [`InnerPeer`].

use airtoll_security::EapMethod;
use airtoll_wire::eap::{Code, EapRepr, TlsFragment, method};

use super::tunnel::{Exporter, Inner, InnerPeer, InnerServer, InnerStep, Tunnel};
use super::{EapConfig, FAILED, PeerMethod, ServerMethod, Step};
use crate::exchange::Context;
use crate::failure::Failure;
use crate::octets::written;
use crate::tls::{Connection, Refusal, Session, TlsClient, TlsConfig, TlsServer, TlsVersion};

/// Splits what is sent and joins what is received (RFC 5216 section 2.1.5).
struct Fragments {
    size: usize,
    outgoing: Vec<u8>,
    sent: usize,
    /// The message that is joined, or the last one that was.
    incoming: Vec<u8>,
    joining: bool,
}

impl Fragments {
    fn new(size: usize) -> Self {
        Self {
            size: size.max(64),
            outgoing: Vec::new(),
            sent: 0,
            incoming: Vec::new(),
            joining: false,
        }
    }

    fn load(&mut self, octets: Vec<u8>) {
        self.outgoing = octets;
        self.sent = 0;
    }

    const fn has_more(&self) -> bool {
        self.sent < self.outgoing.len()
    }

    /// The next fragment; an acknowledgement when nothing is loaded.
    fn next(&mut self) -> TlsFragment {
        let first = self.sent == 0;
        let end = (self.sent + self.size).min(self.outgoing.len());
        let data = self.outgoing[self.sent..end].to_vec();
        let total = (first && end < self.outgoing.len())
            .then(|| u32::try_from(self.outgoing.len()).unwrap_or(u32::MAX));
        self.sent = end;
        TlsFragment {
            more: self.has_more(),
            total,
            data,
            ..TlsFragment::default()
        }
    }

    /// Octets of the message that is joined: as its first fragment declares them, or as many as are there.
    fn incoming_octets(&self, fragment: &TlsFragment) -> usize {
        let declared = fragment.total.map_or(0, |total| total as usize);
        declared.max(self.incoming.len())
    }

    /// The whole message, once its last fragment is there.
    fn join(&mut self, fragment: &TlsFragment) -> Option<Vec<u8>> {
        if !self.joining {
            self.incoming.clear();
        }
        self.joining = fragment.more;
        self.incoming.extend(&fragment.data);
        (!fragment.more).then(|| self.incoming.clone())
    }
}

/// The key material of a finished handshake, to which the inner half is bound. EAP-TLS has the label
/// of RFC 5216 section 2.3.
fn bind(
    connection: &Connection,
    context: &mut Context<'_>,
    inner: Option<&mut dyn Inner>,
    outer: &[u8],
) -> Vec<u8> {
    let tls13 = connection.tls13();
    let from = inner.as_ref().map_or_else(
        || Exporter::msk(b"client EAP encryption", method::TLS, tls13),
        |inner| inner.exporter(tls13),
    );
    let mut keys = connection.export(context, from.label, &from.context, from.octets);
    keys.truncate(from.used);
    if let Some(inner) = inner {
        inner.bind(&Tunnel { keys: &keys, outer });
    }
    keys
}

fn tls_config(config: &EapConfig, server: bool) -> TlsConfig {
    let mutual = config.method == EapMethod::Tls;
    TlsConfig {
        version: config.tls,
        suite: config.suite,
        groups: config.groups.clone(),
        credential: config.credential.clone().filter(|_| server || mutual),
        trusted: config.trusted,
        client_certificate: mutual,
        resume: config.resume.clone(),
        certificate_compression: config.certificate_compression,
    }
}

pub(super) struct TlsServerMethod {
    config: EapConfig,
    tls: TlsServer,
    fragments: Fragments,
    inner: Option<Box<dyn InnerServer>>,
    /// Outer TLVs of the first packets: the server's, then the station's.
    outer: Vec<u8>,
    /// Why the conversation ends once the last flight, an alert, is acknowledged.
    failing: Option<Failure>,
    /// Whether the last flight ends the conversation well.
    finishing: bool,
    msk: Vec<u8>,
}

impl TlsServerMethod {
    pub fn new(config: &EapConfig, inner: Option<Box<dyn InnerServer>>) -> Option<Self> {
        Some(Self {
            tls: TlsServer::new(tls_config(config, true))?,
            fragments: Fragments::new(config.fragment_octets),
            inner,
            outer: Vec::new(),
            config: config.clone(),
            failing: None,
            finishing: false,
            msk: Vec::new(),
        })
    }

    fn request(&self, identifier: u8, fragment: TlsFragment) -> Step {
        let version = self.inner.as_ref().map_or(0, |inner| inner.version());
        let fragment = TlsFragment {
            version,
            ..fragment
        };
        let data = written(|out| fragment.emit(out));
        Step::Continue(EapRepr::request(
            identifier,
            self.config.method.number(),
            data,
        ))
    }

    fn end(&self, identifier: u8) -> Step {
        match self.failing {
            Some(failure) => Step::Reject(EapRepr::end(Code::Failure, identifier), failure),
            None => Step::Accept(EapRepr::end(Code::Success, identifier)),
        }
    }

    /// The end of a conversation with a flight that this server does not hold.
    fn too_long(identifier: u8, octets: usize, limit: Option<u32>) -> Option<Step> {
        let limit = limit.filter(|limit| octets > *limit as usize)?;
        let end = EapRepr::end(Code::Failure, identifier);
        let failure = Failure::FlightTooLong {
            code: FAILED,
            limit,
        };
        Some(Step::Reject(end, failure))
    }

    /// Takes a whole flight; gives what to send.
    fn flight(&mut self, context: &mut Context<'_>, flight: &[u8]) -> Result<Vec<u8>, Refusal> {
        let before = self.tls.connection.is_done();
        let mut answer = self.tls.receive(context, flight)?;
        if !self.tls.connection.is_done() {
            return Ok(answer);
        }
        if !before {
            let inner = self.inner.as_deref_mut();
            let inner = inner.map(|inner| inner as &mut dyn Inner);
            self.msk = bind(&self.tls.connection, context, inner, &self.outer);
        }
        let data = self.tls.connection.take_data();
        let Some(inner) = &mut self.inner else {
            if self.config.tls == TlsVersion::Tls13 {
                // The protected success indication of RFC 9190 section 2.5.
                answer.extend(self.tls.connection.seal(context, &[0]));
            }
            self.finishing = true;
            return Ok(answer);
        };
        // A server that still has its Finished to send lets the station go first.
        let step = if self.tls.connection.is_resumed() && !before {
            inner.resume(context)
        } else if data.is_empty() && !answer.is_empty() {
            return Ok(answer);
        } else if data.is_empty() {
            inner.start(context)
        } else {
            inner.next(&data, context)
        };
        match step {
            InnerStep::Send(plain) => answer.extend(self.tls.connection.seal(context, &plain)),
            InnerStep::Accept => self.finishing = true,
            InnerStep::Reject => {
                self.failing = Some(Failure::WrongCredentials { code: FAILED });
                self.finishing = true;
            }
            InnerStep::Nothing => {}
        }
        Ok(answer)
    }
}

impl ServerMethod for TlsServerMethod {
    fn next(
        &mut self,
        packet: Option<&EapRepr>,
        identifier: u8,
        context: &mut Context<'_>,
    ) -> Step {
        let Some(packet) = packet else {
            self.outer = self
                .inner
                .as_ref()
                .map_or_else(Vec::new, |inner| inner.outer());
            let start = TlsFragment {
                start: true,
                outer: self.outer.clone(),
                ..TlsFragment::default()
            };
            return self.request(identifier, start);
        };
        let fragment = match &packet.body {
            Some((kind, data)) if *kind == self.config.method.number() => TlsFragment::parse(data),
            _ => return Step::Ignore,
        };
        let Ok(fragment) = fragment else {
            return Step::Ignore;
        };
        self.outer.extend(&fragment.outer);
        if self.fragments.has_more() {
            let next = self.fragments.next();
            return self.request(identifier, next);
        }
        if fragment.is_acknowledgement() && (self.finishing || self.failing.is_some()) {
            return self.end(packet.identifier);
        }
        let flight = self.fragments.join(&fragment);
        let limit = self.config.limits.received_flight_octets;
        let octets = self.fragments.incoming_octets(&fragment);
        if let Some(end) = Self::too_long(packet.identifier, octets, limit) {
            return end;
        }
        let Some(flight) = flight else {
            return self.request(identifier, TlsFragment::default());
        };
        match self.flight(context, &flight) {
            Ok(answer) if answer.is_empty() && self.finishing => {
                return self.end(packet.identifier);
            }
            Ok(answer) => self.fragments.load(answer),
            Err(refusal) => {
                self.failing = Some(refusal.failure);
                if refusal.alert.is_empty() {
                    return self.end(packet.identifier);
                }
                self.fragments.load(refusal.alert);
            }
        }
        let limit = self.config.limits.sent_flight_octets;
        let octets = self.fragments.outgoing.len();
        if let Some(end) = Self::too_long(packet.identifier, octets, limit) {
            return end;
        }
        let next = self.fragments.next();
        self.request(identifier, next)
    }

    fn msk(&self) -> Vec<u8> {
        let bound = self.inner.as_ref().and_then(|inner| inner.msk());
        bound.unwrap_or(&self.msk).to_vec()
    }

    fn session(&self) -> Option<Session> {
        self.tls.connection.session().cloned()
    }
}

pub(super) struct TlsPeerMethod {
    config: EapConfig,
    tls: TlsClient,
    fragments: Fragments,
    inner: Option<Box<dyn InnerPeer>>,
    outer: Vec<u8>,
    started: bool,
    indicated: bool,
    failure: Option<Failure>,
    msk: Vec<u8>,
}

impl TlsPeerMethod {
    pub fn new(config: &EapConfig, inner: Option<Box<dyn InnerPeer>>) -> Self {
        Self {
            tls: TlsClient::new(tls_config(config, false)),
            fragments: Fragments::new(config.fragment_octets),
            inner,
            outer: Vec::new(),
            config: config.clone(),
            started: false,
            indicated: false,
            failure: None,
            msk: Vec::new(),
        }
    }

    fn flight(&mut self, context: &mut Context<'_>, flight: &[u8]) -> Result<Vec<u8>, Refusal> {
        let before = self.tls.connection.is_done();
        let mut answer = self.tls.receive(context, flight)?;
        if !self.tls.connection.is_done() {
            return Ok(answer);
        }
        if !before {
            let inner = self.inner.as_deref_mut();
            let inner = inner.map(|inner| inner as &mut dyn Inner);
            self.msk = bind(&self.tls.connection, context, inner, &self.outer);
        }
        let data = self.tls.connection.take_data();
        match &mut self.inner {
            None => self.indicated |= data == [0],
            // The indication of RFC 9427 section 3.1 that nothing runs inside.
            Some(_) if data == [0] => {}
            Some(inner) => {
                if !before && self.tls.connection.is_resumed() {
                    inner.resume();
                }
                // TTLS's client speaks first inside the tunnel, PEAP's server does.
                let reply = if data.is_empty() {
                    inner.start()
                } else {
                    inner.answer(&data, context)
                };
                if let Some(plain) = reply {
                    answer.extend(self.tls.connection.seal(context, &plain));
                }
            }
        }
        Ok(answer)
    }
}

impl PeerMethod for TlsPeerMethod {
    fn answer(
        &mut self,
        packet: &EapRepr,
        context: &mut Context<'_>,
    ) -> Result<Option<EapRepr>, Failure> {
        let Some((kind, data)) = &packet.body else {
            return Ok(None);
        };
        let Ok(fragment) = TlsFragment::parse(data) else {
            return Ok(None);
        };
        let version = self.inner.as_ref().map_or(0, |inner| inner.version());
        let reply = |fragment: TlsFragment| {
            let fragment = TlsFragment {
                version,
                ..fragment
            };
            let data = written(|out| fragment.emit(out));
            Ok(Some(EapRepr::response(packet.identifier, *kind, data)))
        };
        if self.fragments.has_more() {
            return reply(self.fragments.next());
        }
        if fragment.start {
            if self.started {
                return Ok(None);
            }
            self.started = true;
            self.outer = fragment.outer;
            let hello = self.tls.start(context);
            self.fragments.load(hello);
            return reply(self.fragments.next());
        }
        let Some(flight) = self.fragments.join(&fragment) else {
            return reply(TlsFragment::default());
        };
        if let Some(failure) = self.failure {
            return Err(failure);
        }
        match self.flight(context, &flight) {
            Ok(answer) => self.fragments.load(answer),
            Err(refusal) => {
                // The alert goes out; EAP-Failure then ends the conversation.
                self.failure = Some(refusal.failure);
                self.fragments.load(refusal.alert);
            }
        }
        reply(self.fragments.next())
    }

    fn on_success(&mut self, _context: &mut Context<'_>) -> Result<Option<EapRepr>, Failure> {
        self.failure.map_or(Ok(None), Err)
    }

    fn is_satisfied(&self) -> bool {
        let inner = self.inner.as_ref().is_none_or(|inner| inner.is_satisfied());
        let bare13 = self.config.tls == TlsVersion::Tls13 && self.inner.is_none();
        self.tls.connection.is_done()
            && inner
            && self.failure.is_none()
            && (!bare13 || self.indicated)
    }

    fn msk(&self) -> Vec<u8> {
        let bound = self.inner.as_ref().and_then(|inner| inner.msk());
        bound.unwrap_or(&self.msk).to_vec()
    }

    fn session(&self) -> Option<Session> {
        self.tls.connection.session().cloned()
    }
}
