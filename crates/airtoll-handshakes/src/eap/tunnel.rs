//! What runs inside the TLS tunnel: PAP in EAP-TTLS (RFC 5281 section 11.2.5), EAP-MSCHAPv2 and
//! the result TLV in PEAPv0 (draft-kamath-pppext-peapv0, MS-PEAP section 2.2.8).
//!
//! Takes plaintexts; gives plaintexts and a verdict. Never sees the tunnel's keys.

use airtoll_wire::eap::{Code, EapRepr, method};

use super::cryptobinding::{self, Binding, Subtype};
use super::mschapv2::{Inner, MsChapPeer, MsChapServer};
use super::{EapConfig, EapMethod, octets};
use crate::exchange::Context;
use crate::primitives::equal;

/// What the server does next inside the tunnel.
pub(super) enum InnerStep {
    Send(Vec<u8>),
    Accept,
    Reject,
    Nothing,
}

/// Diameter AVP codes of User-Name and User-Password (RFC 5281 section 10.1).
const USER_NAME: u32 = 1;
const USER_PASSWORD: u32 = 2;

/// A mandatory AVP, padded to four octets.
fn avp(code: u32, value: &[u8]) -> Vec<u8> {
    let length = u32::try_from(8 + value.len()).unwrap_or(u32::MAX);
    let mut out = code.to_be_bytes().to_vec();
    out.extend((0x4000_0000 | length).to_be_bytes());
    out.extend(value);
    out.resize(out.len().next_multiple_of(4), 0);
    out
}

/// The value of the first AVP with this code.
fn find_avp(mut octets: &[u8], wanted: u32) -> Option<Vec<u8>> {
    while let Some((header, rest)) = octets.split_first_chunk::<8>() {
        let code = u32::from_be_bytes([header[0], header[1], header[2], header[3]]);
        let length =
            usize::from(header[5]) << 16 | usize::from(header[6]) << 8 | usize::from(header[7]);
        let value = rest.get(..length.checked_sub(8)?)?;
        if code == wanted {
            return Some(value.to_vec());
        }
        octets = rest.get(value.len().next_multiple_of(4)..)?;
    }
    None
}

/// A PAP password padded to 16 octets, which hides its length (RFC 5281 section 11.2.5).
fn padded(password: &[u8]) -> Vec<u8> {
    let mut out = password.to_vec();
    out.resize(out.len().next_multiple_of(16).max(16), 0);
    out
}

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

/// An EAP-Extensions packet with the result TLV (1 success, 2 failure) and what stands behind it.
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

/// Whether the server asks who the station is: without a header as MS-PEAP has it, or with the
/// whole one that FreeRADIUS sends.
fn asks_identity(plain: &[u8]) -> bool {
    plain == [method::IDENTITY]
        || EapRepr::parse(plain).is_ok_and(|packet| {
            packet.code == Code::Request
                && packet
                    .body
                    .is_some_and(|(kind, _)| kind == method::IDENTITY)
        })
}

/// The server inside.
pub(super) enum InnerServer {
    Pap {
        name: Vec<u8>,
        password: Vec<u8>,
    },
    MsChap {
        server: Box<MsChapServer>,
        identifier: u8,
        asked: bool,
        verdict: Option<bool>,
        /// What the tunnel's keys are bound with, where the server asks for that.
        tunnel: Option<Vec<u8>>,
        binding: Option<Binding>,
        msk: Option<Vec<u8>>,
    },
}

impl InnerServer {
    pub fn new(config: &EapConfig) -> Option<Self> {
        match config.method {
            EapMethod::Ttls => Some(Self::Pap {
                name: config.identity.clone(),
                password: config.password.clone(),
            }),
            EapMethod::Peap => Some(Self::MsChap {
                server: Box::new(MsChapServer::new(&config.identity, &config.password)),
                identifier: 0,
                asked: false,
                verdict: None,
                tunnel: None,
                binding: None,
                msk: None,
            }),
            _ => None,
        }
    }

    /// Asks for cryptobinding with these keys of the tunnel.
    pub fn bind(&mut self, keys: &[u8]) {
        if let Self::MsChap { tunnel, .. } = self {
            *tunnel = Some(keys.to_vec());
        }
    }

    /// The MSK in the place of the tunnel's, when both were bound.
    pub fn msk(&self) -> Option<&Vec<u8>> {
        match self {
            Self::MsChap { msk, .. } => msk.as_ref(),
            Self::Pap { .. } => None,
        }
    }

    /// The tunnel is there, and an earlier session that it resumes has authenticated the station:
    /// PEAP says so inside (MS-PEAP, fast reconnect), TTLS says nothing (RFC 5281 section 7.5).
    pub fn resume(&mut self, context: &mut Context<'_>) -> InnerStep {
        match self {
            Self::Pap { .. } => InnerStep::Accept,
            Self::MsChap {
                identifier,
                verdict,
                tunnel,
                binding,
                ..
            } => {
                *identifier += 1;
                *verdict = Some(true);
                let mut more = Vec::new();
                if let Some(tunnel) = tunnel {
                    let keys = Binding::resumed(tunnel);
                    more = keys.prove(context, Subtype::Request);
                    *binding = Some(keys);
                }
                InnerStep::Send(result(Code::Request, *identifier, 1, &more))
            }
        }
    }

    /// The tunnel is there and the station has said nothing in it.
    pub fn start(&mut self, _context: &mut Context<'_>) -> InnerStep {
        match self {
            Self::Pap { .. } => InnerStep::Nothing,
            Self::MsChap { identifier, .. } => {
                *identifier += 1;
                InnerStep::Send(vec![method::IDENTITY])
            }
        }
    }

    pub fn next(&mut self, plain: &[u8], context: &mut Context<'_>) -> InnerStep {
        match self {
            Self::Pap { name, password } => {
                let right = find_avp(plain, USER_NAME).is_some_and(|found| found == *name)
                    && find_avp(plain, USER_PASSWORD)
                        .is_some_and(|found| equal(&found, &padded(password)));
                if right {
                    InnerStep::Accept
                } else {
                    InnerStep::Reject
                }
            }
            Self::MsChap {
                server,
                identifier,
                asked,
                verdict,
                tunnel,
                binding,
                msk,
            } => {
                if let Some(accepted) = *verdict {
                    // A station that does not bind is let in, as hostapd's default has it.
                    let tlv = bound(plain);
                    if let (Some(binding), Some(tlv)) = (binding, tlv) {
                        if !binding.verify(context, Subtype::Response, &tlv) {
                            return InnerStep::Reject;
                        }
                        *msk = Some(binding.msk(context));
                    }
                    return match result_value(plain) {
                        Some(1) if accepted => InnerStep::Accept,
                        _ => InnerStep::Reject,
                    };
                }
                *identifier += 1;
                let Some(packet) = expanded(Code::Response, *identifier - 1, plain) else {
                    return InnerStep::Reject;
                };
                if !*asked {
                    *asked = true;
                    return InnerStep::Send(compressed(&server.start(*identifier, context)));
                }
                match server.next(&packet, *identifier, context) {
                    Inner::Request(request) => InnerStep::Send(compressed(&request)),
                    Inner::Accept => {
                        *verdict = Some(true);
                        let mut more = Vec::new();
                        if let Some(tunnel) = tunnel {
                            let session = server.session_key(context);
                            let keys = Binding::new(context, tunnel, &session);
                            more = keys.prove(context, Subtype::Request);
                            *binding = Some(keys);
                        }
                        InnerStep::Send(result(Code::Request, *identifier, 1, &more))
                    }
                    Inner::Reject => {
                        *verdict = Some(false);
                        InnerStep::Send(result(Code::Request, *identifier, 2, &[]))
                    }
                }
            }
        }
    }
}

/// The station inside.
pub(super) enum InnerPeer {
    Pap {
        name: Vec<u8>,
        password: Vec<u8>,
        sent: bool,
    },
    MsChap {
        peer: Box<MsChapPeer>,
        name: Vec<u8>,
        identifier: u8,
        accepted: bool,
        resumed: bool,
        tunnel: Vec<u8>,
        msk: Option<Vec<u8>>,
    },
}

impl InnerPeer {
    pub fn new(config: &EapConfig) -> Option<Self> {
        match config.method {
            EapMethod::Ttls => Some(Self::Pap {
                name: config.identity.clone(),
                password: config.password.clone(),
                sent: false,
            }),
            EapMethod::Peap => Some(Self::MsChap {
                peer: Box::new(MsChapPeer::new(&config.identity, &config.password)),
                name: config.identity.clone(),
                identifier: 0,
                accepted: false,
                resumed: false,
                tunnel: Vec::new(),
                msk: None,
            }),
            _ => None,
        }
    }

    /// The tunnel resumes an earlier session, so that nothing need run inside. A server may say
    /// nothing inside either and end with EAP-Success.
    pub const fn resume(&mut self) {
        match self {
            Self::Pap { sent, .. } => *sent = true,
            Self::MsChap {
                accepted, resumed, ..
            } => {
                *accepted = true;
                *resumed = true;
            }
        }
    }

    /// Binds with these keys of the tunnel, if the server asks.
    pub fn bind(&mut self, keys: &[u8]) {
        if let Self::MsChap { tunnel, .. } = self {
            *tunnel = keys.to_vec();
        }
    }

    /// The MSK in the place of the tunnel's, when both were bound.
    pub fn msk(&self) -> Option<&Vec<u8>> {
        match self {
            Self::MsChap { msk, .. } => msk.as_ref(),
            Self::Pap { .. } => None,
        }
    }

    /// The tunnel is there and the server has said nothing in it.
    pub fn start(&mut self) -> Option<Vec<u8>> {
        match self {
            Self::Pap {
                name,
                password,
                sent,
            } if !*sent => {
                *sent = true;
                let mut out = avp(USER_NAME, name);
                out.extend(avp(USER_PASSWORD, &padded(password)));
                Some(out)
            }
            _ => None,
        }
    }

    pub fn answer(&mut self, plain: &[u8], context: &mut Context<'_>) -> Option<Vec<u8>> {
        let Self::MsChap {
            peer,
            name,
            identifier,
            accepted,
            resumed,
            tunnel,
            msk,
        } = self
        else {
            return self.start();
        };
        if let Some(value) = result_value(plain) {
            *accepted = value == 1 && (*resumed || peer.satisfied) && !peer.refused;
            let mut more = Vec::new();
            if let (true, Some(tlv)) = (*accepted, bound(plain)) {
                let binding = if *resumed {
                    Binding::resumed(tunnel)
                } else {
                    let session = peer.session_key(context);
                    Binding::new(context, tunnel, &session)
                };
                *accepted = binding.verify(context, Subtype::Request, &tlv);
                if *accepted {
                    more = binding.prove(context, Subtype::Response);
                    *msk = Some(binding.msk(context));
                }
            }
            let said = if *accepted { 1 } else { 2 };
            return Some(result(Code::Response, *identifier, said, &more));
        }
        *identifier += 1;
        // Whatever the server asks now, it does not take the resumed session for enough.
        (*accepted, *resumed) = (false, false);
        if asks_identity(plain) {
            let mut out = vec![method::IDENTITY];
            out.extend(name.iter());
            return Some(out);
        }
        let packet = expanded(Code::Request, *identifier, plain)?;
        peer.answer(&packet, context)
            .map(|answer| compressed(&answer))
    }

    /// Whether the inner method ended well for the station.
    pub fn is_satisfied(&self) -> bool {
        match self {
            Self::Pap { sent, .. } => *sent,
            Self::MsChap { accepted, .. } => *accepted,
        }
    }
}
