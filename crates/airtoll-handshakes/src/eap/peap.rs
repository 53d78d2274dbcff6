//! PEAPv0 with EAP-MSCHAPv2 inside (draft-kamath-pppext-peapv0, MS-PEAP section 2.2.8).
//!
//! Takes name and password; gives inner packets, the result TLV and a verdict. The keys of tunnel
//! and inner method together are `cryptobinding`'s.

use airtoll_wire::eap::{Code, EapRepr, method};

use super::cryptobinding::{self, Binding, Subtype};
use super::mschapv2::{MsChapPeer, MsChapServer, Turn};
use super::tunnel::{Exporter, Inner, InnerPeer, InnerServer, InnerStep, Tunnel};
use super::{EapConfig, octets};
use crate::exchange::Context;

/// PEAPv0 leaves out code, identifier and length of inner packets other than extensions.
fn compressed(packet: &EapRepr) -> Vec<u8> {
    octets(packet)[4..].to_vec()
}

fn expanded(code: Code, identifier: u8, plain: &[u8]) -> Option<EapRepr> {
    let (method, data) = plain.split_first()?;
    Some(EapRepr {
        code,
        identifier,
        body: Some((*method, data.to_vec())),
    })
}

/// An EAP-Extensions packet with the result TLV (1 success, 2 failure) and further TLVs.
fn result(code: Code, identifier: u8, value: u8, more: &[u8]) -> Vec<u8> {
    octets(&EapRepr {
        code,
        identifier,
        body: Some((
            method::EXTENSIONS,
            [&[0x80, 3, 0, 2, 0, value], more].concat(),
        )),
    })
}

/// The cryptobinding TLV of an EAP-Extensions packet.
fn bound(plain: &[u8]) -> Option<Vec<u8>> {
    match EapRepr::parse(plain).ok()?.body {
        Some((method::EXTENSIONS, data)) => cryptobinding::find(&data).map(<[u8]>::to_vec),
        _ => None,
    }
}

fn result_value(plain: &[u8]) -> Option<u8> {
    match EapRepr::parse(plain).ok()?.body {
        Some((method::EXTENSIONS, data)) if data.starts_with(&[0x80, 3, 0, 2, 0]) => {
            data.get(5).copied()
        }
        _ => None,
    }
}

/// Whether the server asks for the station's identity: without a header as in MS-PEAP, or with
/// the whole one that FreeRADIUS sends.
fn asks_identity(plain: &[u8]) -> bool {
    plain == [method::IDENTITY]
        || EapRepr::parse(plain).is_ok_and(|packet| {
            packet.code == Code::Request
                && packet
                    .body
                    .is_some_and(|(kind, _)| kind == method::IDENTITY)
        })
}

/// PEAPv0 exports under the label of EAP-TLS (MS-PEAP section 3.1.5.5.1).
fn exporter(tls13: bool) -> Exporter {
    Exporter::msk(b"client EAP encryption", method::PEAP, tls13)
}

/// The server's half.
pub(super) struct PeapServer {
    inner: MsChapServer,
    identifier: u8,
    asked: bool,
    verdict: Option<bool>,
    cryptobinding: bool,
    /// The tunnel's keys, where the server asks for cryptobinding.
    tunnel: Option<Vec<u8>>,
    binding: Option<Binding>,
    msk: Option<Vec<u8>>,
}

impl PeapServer {
    pub fn new(config: &EapConfig) -> Self {
        Self {
            inner: MsChapServer::new(&config.identity, &config.password),
            identifier: 0,
            asked: false,
            verdict: None,
            cryptobinding: config.cryptobinding,
            tunnel: None,
            binding: None,
            msk: None,
        }
    }
}

impl Inner for PeapServer {
    fn exporter(&self, tls13: bool) -> Exporter {
        exporter(tls13)
    }

    fn bind(&mut self, tunnel: &Tunnel<'_>) {
        if self.cryptobinding {
            self.tunnel = Some(tunnel.keys.to_vec());
        }
    }

    fn msk(&self) -> Option<&[u8]> {
        self.msk.as_deref()
    }
}

impl InnerServer for PeapServer {
    /// The result TLV confirms a resumed session inside the tunnel (MS-PEAP, fast reconnect).
    fn resume(&mut self, context: &mut Context<'_>) -> InnerStep {
        self.identifier += 1;
        self.verdict = Some(true);
        let mut more = Vec::new();
        if let Some(tunnel) = &self.tunnel {
            let keys = Binding::resumed(tunnel);
            more = keys.prove(context, Subtype::Request);
            self.binding = Some(keys);
        }
        InnerStep::Send(result(Code::Request, self.identifier, 1, &more))
    }

    fn start(&mut self, _context: &mut Context<'_>) -> InnerStep {
        self.identifier += 1;
        InnerStep::Send(vec![method::IDENTITY])
    }

    fn next(&mut self, plain: &[u8], context: &mut Context<'_>) -> InnerStep {
        if let Some(accepted) = self.verdict {
            // A station that does not bind is let in, as hostapd's default has it.
            let tlv = bound(plain);
            if let (Some(binding), Some(tlv)) = (&self.binding, tlv) {
                if !binding.verify(context, Subtype::Response, &tlv) {
                    return InnerStep::Reject;
                }
                self.msk = Some(binding.msk(context));
            }
            return match result_value(plain) {
                Some(1) if accepted => InnerStep::Accept,
                _ => InnerStep::Reject,
            };
        }
        self.identifier += 1;
        let Some(packet) = expanded(Code::Response, self.identifier - 1, plain) else {
            return InnerStep::Reject;
        };
        if !self.asked {
            self.asked = true;
            return InnerStep::Send(compressed(&self.inner.start(self.identifier, context)));
        }
        match self.inner.next(&packet, self.identifier, context) {
            Turn::Request(request) => InnerStep::Send(compressed(&request)),
            Turn::Accept => {
                self.verdict = Some(true);
                let mut more = Vec::new();
                if let Some(tunnel) = &self.tunnel {
                    let session = self.inner.session_key(context);
                    let keys = Binding::new(context, tunnel, &session);
                    more = keys.prove(context, Subtype::Request);
                    self.binding = Some(keys);
                }
                InnerStep::Send(result(Code::Request, self.identifier, 1, &more))
            }
            Turn::Reject => {
                self.verdict = Some(false);
                InnerStep::Send(result(Code::Request, self.identifier, 2, &[]))
            }
        }
    }
}

/// The station's half.
pub(super) struct PeapPeer {
    inner: MsChapPeer,
    name: Vec<u8>,
    identifier: u8,
    accepted: bool,
    resumed: bool,
    tunnel: Vec<u8>,
    msk: Option<Vec<u8>>,
}

impl PeapPeer {
    pub fn new(config: &EapConfig) -> Self {
        Self {
            inner: MsChapPeer::new(&config.identity, &config.password),
            name: config.identity.clone(),
            identifier: 0,
            accepted: false,
            resumed: false,
            tunnel: Vec::new(),
            msk: None,
        }
    }
}

impl Inner for PeapPeer {
    fn exporter(&self, tls13: bool) -> Exporter {
        exporter(tls13)
    }

    fn bind(&mut self, tunnel: &Tunnel<'_>) {
        self.tunnel = tunnel.keys.to_vec();
    }

    fn msk(&self) -> Option<&[u8]> {
        self.msk.as_deref()
    }
}

impl InnerPeer for PeapPeer {
    fn resume(&mut self) {
        self.accepted = true;
        self.resumed = true;
    }

    fn answer(&mut self, plain: &[u8], context: &mut Context<'_>) -> Option<Vec<u8>> {
        if let Some(value) = result_value(plain) {
            let proved = self.resumed || self.inner.satisfied;
            self.accepted = value == 1 && proved && !self.inner.refused;
            let mut more = Vec::new();
            if let (true, Some(tlv)) = (self.accepted, bound(plain)) {
                let binding = if self.resumed {
                    Binding::resumed(&self.tunnel)
                } else {
                    let session = self.inner.session_key(context);
                    Binding::new(context, &self.tunnel, &session)
                };
                self.accepted = binding.verify(context, Subtype::Request, &tlv);
                if self.accepted {
                    more = binding.prove(context, Subtype::Response);
                    self.msk = Some(binding.msk(context));
                }
            }
            let said = if self.accepted { 1 } else { 2 };
            return Some(result(Code::Response, self.identifier, said, &more));
        }
        self.identifier += 1;
        // A further request means that the resumed session is not enough for the server.
        (self.accepted, self.resumed) = (false, false);
        if asks_identity(plain) {
            let mut out = vec![method::IDENTITY];
            out.extend(self.name.iter());
            return Some(out);
        }
        let packet = expanded(Code::Request, self.identifier, plain)?;
        self.inner
            .answer(&packet, context)
            .map(|answer| compressed(&answer))
    }

    fn is_satisfied(&self) -> bool {
        self.accepted
    }
}
