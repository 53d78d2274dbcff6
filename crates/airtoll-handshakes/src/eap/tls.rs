//! EAP-TLS (RFC 5216, RFC 9190), and the outer half of PEAPv0 and EAP-TTLS: fragments around a
//! TLS handshake.
//!
//! Takes an [`EapConfig`] at each end; gives packets and an MSK exported from TLS. What runs
//! inside PEAP's and TTLS's tunnel is in `tunnel`.

use airtoll_wire::eap::{Code, EapRepr, TlsFragment};

use super::tunnel::{InnerPeer, InnerServer, InnerStep};
use super::{EapConfig, EapMethod, FAILED, PeerMethod, ServerMethod, Step};
use crate::exchange::Context;
use crate::failure::Failure;
use crate::primitives::written;
use crate::tls::{Refusal, Session, TlsClient, TlsConfig, TlsServer, TlsVersion};

/// Splits what is sent and joins what is received (RFC 5216 section 2.1.5).
struct Fragments {
    size: usize,
    outgoing: Vec<u8>,
    sent: usize,
    incoming: Vec<u8>,
}

impl Fragments {
    fn new(size: usize) -> Self {
        Self {
            size: size.max(64),
            outgoing: Vec::new(),
            sent: 0,
            incoming: Vec::new(),
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

    /// The whole message, once its last fragment is there.
    fn join(&mut self, fragment: &TlsFragment) -> Option<Vec<u8>> {
        self.incoming.extend(&fragment.data);
        (!fragment.more).then(|| std::mem::take(&mut self.incoming))
    }
}

/// The MSK of a finished handshake: RFC 5216 section 2.3, RFC 9190 section 2.3, RFC 5281
/// section 8; PEAPv0 uses the label of EAP-TLS (MS-PEAP section 3.1.5.5.1). What cryptobinding
/// makes of it is in `cryptobinding`.
fn export(
    method: EapMethod,
    tls13: bool,
    mut export: impl FnMut(&[u8], &[u8]) -> Vec<u8>,
) -> Vec<u8> {
    let mut material = match (method, tls13) {
        (_, true) => export(b"EXPORTER_EAP_TLS_Key_Material", &[method.number()]),
        (EapMethod::Ttls, false) => export(b"ttls keying material", &[]),
        _ => export(b"client EAP encryption", &[]),
    };
    material.truncate(MSK_OCTETS);
    material
}

/// MSK and EMSK: TLS 1.3 mixes the length asked for into what it exports (RFC 9190 section 2.3).
const KEY_MATERIAL_OCTETS: usize = 128;
const MSK_OCTETS: usize = 64;

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
    }
}

pub(super) struct TlsServerMethod {
    config: EapConfig,
    tls: TlsServer,
    fragments: Fragments,
    inner: Option<InnerServer>,
    /// Why the conversation ends once the last flight, an alert, is acknowledged.
    failing: Option<Failure>,
    /// Whether the last flight ends the conversation well.
    finishing: bool,
    msk: Vec<u8>,
}

impl TlsServerMethod {
    pub fn new(config: &EapConfig) -> Option<Self> {
        Some(Self {
            tls: TlsServer::new(tls_config(config, true))?,
            fragments: Fragments::new(config.fragment_octets),
            inner: InnerServer::new(config),
            config: config.clone(),
            failing: None,
            finishing: false,
            msk: Vec::new(),
        })
    }

    fn request(&self, identifier: u8, fragment: &TlsFragment) -> Step {
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

    /// Takes a whole flight; gives what to send.
    fn flight(&mut self, context: &mut Context<'_>, flight: &[u8]) -> Result<Vec<u8>, Refusal> {
        let before = self.tls.is_done();
        let mut answer = self.tls.receive(context, flight)?;
        if !self.tls.is_done() {
            return Ok(answer);
        }
        if !before {
            self.msk = export(
                self.config.method,
                self.config.tls == TlsVersion::Tls13,
                |label, value| self.tls.export(context, label, value, KEY_MATERIAL_OCTETS),
            );
        }
        if let (true, Some(inner)) = (self.config.cryptobinding, &mut self.inner) {
            inner.bind(&self.msk);
        }
        let data = self.tls.take_data();
        let Some(inner) = &mut self.inner else {
            if self.config.tls == TlsVersion::Tls13 {
                // The protected success indication of RFC 9190 section 2.5.
                answer.extend(self.tls.seal(context, &[0]));
            }
            self.finishing = true;
            return Ok(answer);
        };
        // A server that still has its Finished to send lets the station go first.
        let step = if self.tls.is_resumed() && !before {
            inner.resume(context)
        } else if data.is_empty() && !answer.is_empty() {
            return Ok(answer);
        } else if data.is_empty() {
            inner.start(context)
        } else {
            inner.next(&data, context)
        };
        match step {
            InnerStep::Send(plain) => answer.extend(self.tls.seal(context, &plain)),
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
            let start = TlsFragment {
                start: true,
                ..TlsFragment::default()
            };
            return self.request(identifier, &start);
        };
        let fragment = match &packet.body {
            Some((kind, data)) if *kind == self.config.method.number() => TlsFragment::parse(data),
            _ => return Step::Ignore,
        };
        let Ok(fragment) = fragment else {
            return Step::Ignore;
        };
        if self.fragments.has_more() {
            let next = self.fragments.next();
            return self.request(identifier, &next);
        }
        if fragment.is_acknowledgement() && (self.finishing || self.failing.is_some()) {
            return self.end(packet.identifier);
        }
        let flight = match self.fragments.join(&fragment) {
            Some(flight) => flight,
            None => return self.request(identifier, &TlsFragment::default()),
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
        let next = self.fragments.next();
        self.request(identifier, &next)
    }

    fn msk(&self) -> Vec<u8> {
        let bound = self.inner.as_ref().and_then(InnerServer::msk);
        bound.unwrap_or(&self.msk).clone()
    }

    fn session(&self) -> Option<Session> {
        self.tls.session().cloned()
    }
}

pub(super) struct TlsPeerMethod {
    config: EapConfig,
    tls: TlsClient,
    fragments: Fragments,
    inner: Option<InnerPeer>,
    started: bool,
    indicated: bool,
    failure: Option<Failure>,
    msk: Vec<u8>,
}

impl TlsPeerMethod {
    pub fn new(config: &EapConfig) -> Self {
        Self {
            tls: TlsClient::new(tls_config(config, false)),
            fragments: Fragments::new(config.fragment_octets),
            inner: InnerPeer::new(config),
            config: config.clone(),
            started: false,
            indicated: false,
            failure: None,
            msk: Vec::new(),
        }
    }

    fn flight(&mut self, context: &mut Context<'_>, flight: &[u8]) -> Result<Vec<u8>, Refusal> {
        let before = self.tls.is_done();
        let mut answer = self.tls.receive(context, flight)?;
        if !self.tls.is_done() {
            return Ok(answer);
        }
        if !before {
            self.msk = export(
                self.config.method,
                self.config.tls == TlsVersion::Tls13,
                |label, value| self.tls.export(context, label, value, KEY_MATERIAL_OCTETS),
            );
        }
        let data = self.tls.take_data();
        match &mut self.inner {
            None => self.indicated |= data == [0],
            // The indication of RFC 9427 section 3.1 that nothing runs inside.
            Some(_) if data == [0] => {}
            Some(inner) => {
                inner.bind(&self.msk);
                if !before && self.tls.is_resumed() {
                    inner.resume();
                }
                // TTLS's client speaks first inside the tunnel, PEAP's server does.
                let reply = if data.is_empty() {
                    inner.start()
                } else {
                    inner.answer(&data, context)
                };
                if let Some(plain) = reply {
                    answer.extend(self.tls.seal(context, &plain));
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
        let reply = |fragment: &TlsFragment| {
            let data = written(|out| fragment.emit(out));
            Ok(Some(EapRepr::response(packet.identifier, *kind, data)))
        };
        if self.fragments.has_more() {
            return reply(&self.fragments.next());
        }
        if fragment.start {
            if self.started {
                return Ok(None);
            }
            self.started = true;
            let hello = self.tls.start(context);
            self.fragments.load(hello);
            return reply(&self.fragments.next());
        }
        let Some(flight) = self.fragments.join(&fragment) else {
            return reply(&TlsFragment::default());
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
        reply(&self.fragments.next())
    }

    fn on_success(&mut self, _context: &mut Context<'_>) -> Result<Option<EapRepr>, Failure> {
        self.failure.map_or(Ok(None), Err)
    }

    fn is_satisfied(&self) -> bool {
        let inner = self.inner.as_ref().is_none_or(InnerPeer::is_satisfied);
        let bare13 = self.config.tls == TlsVersion::Tls13 && self.inner.is_none();
        self.tls.is_done() && inner && self.failure.is_none() && (!bare13 || self.indicated)
    }

    fn msk(&self) -> Vec<u8> {
        let bound = self.inner.as_ref().and_then(InnerPeer::msk);
        bound.unwrap_or(&self.msk).clone()
    }

    fn session(&self) -> Option<Session> {
        self.tls.session().cloned()
    }
}
