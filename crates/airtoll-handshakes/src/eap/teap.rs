//! EAP-TEAP version 1 (RFC 7170, RFC 9930) with EAP-MSCHAPv2 inside; the station also answers
//! Basic-Password-Auth.
//!
//! Takes name and password; gives TLVs and a verdict, and an MSK that binds tunnel and inner method.
//! Key derivation follows RFC 7170 section 5 and, where the RFC leaves a choice open, hostapd 2.10: the
//! inner MSK alone enters it, because EAP-MSCHAPv2 gives no EMSK. TLS 1.3, PACs, a second inner method and machine identities are left
//! out.

use airtoll_wire::eap::{Code, EapRepr, method};

use super::mschapv2::{MsChapPeer, MsChapServer, Turn};
use super::tunnel::{Exporter, Inner, InnerPeer, InnerServer, InnerStep, Tunnel};
use super::{EapConfig, octets};
use crate::exchange::Context;
use crate::octets::equal;
use crate::tls::{TlsSuite, prf};

const VERSION: u8 = 1;

/// TLV types (RFC 7170 section 4.2.1), and the flag of mandatory ones.
mod tlv {
    pub const MANDATORY: u16 = 0x8000;
    pub const TYPE: u16 = 0x3fff;
    pub const AUTHORITY_ID: u16 = 1;
    pub const RESULT: u16 = 3;
    pub const NAK: u16 = 4;
    pub const ERROR: u16 = 5;
    pub const EAP_PAYLOAD: u16 = 9;
    pub const INTERMEDIATE_RESULT: u16 = 10;
    pub const CRYPTO_BINDING: u16 = 12;
    pub const PASSWORD_REQUEST: u16 = 13;
    pub const PASSWORD_RESPONSE: u16 = 14;
}

const SUCCESS: u16 = 1;
const FAILURE: u16 = 2;
/// Error code "inner method error" (section 4.2.6).
const INNER_METHOD_ERROR: u32 = 1001;

/// The Authority-ID that the server names in its first packet.
const AUTHORITY: &[u8] = b"radius.example.org";

fn emit(kind: u16, value: &[u8]) -> Vec<u8> {
    let length = u16::try_from(value.len()).unwrap_or(u16::MAX);
    let mut out = kind.to_be_bytes().to_vec();
    out.extend(length.to_be_bytes());
    out.extend(value);
    out
}

fn mandatory(kind: u16, value: &[u8]) -> Vec<u8> {
    emit(tlv::MANDATORY | kind, value)
}

fn status(kind: u16, value: u16) -> Vec<u8> {
    mandatory(kind, &value.to_be_bytes())
}

fn payload(packet: &EapRepr) -> Vec<u8> {
    mandatory(tlv::EAP_PAYLOAD, &octets(packet))
}

/// The TLVs of a plaintext: type with its flags, and value. None where one is cut short.
fn parse(mut plain: &[u8]) -> Option<Vec<(u16, &[u8])>> {
    let mut found = Vec::new();
    while let Some((header, rest)) = plain.split_first_chunk::<4>() {
        let kind = u16::from_be_bytes([header[0], header[1]]);
        let length = usize::from(u16::from_be_bytes([header[2], header[3]]));
        found.push((kind, rest.get(..length)?));
        plain = &rest[length..];
    }
    plain.is_empty().then_some(found)
}

/// The value of the first TLV of a type.
fn find<'a>(tlvs: &[(u16, &'a [u8])], wanted: u16) -> Option<&'a [u8]> {
    let (_, value) = tlvs.iter().find(|(kind, _)| kind & tlv::TYPE == wanted)?;
    Some(value)
}

fn status_of(tlvs: &[(u16, &[u8])], wanted: u16) -> Option<u16> {
    let value = find(tlvs, wanted)?.first_chunk::<2>()?;
    Some(u16::from_be_bytes(*value))
}

/// The inner EAP packet of an EAP-Payload TLV.
fn inner_packet(tlvs: &[(u16, &[u8])]) -> Option<EapRepr> {
    EapRepr::parse(find(tlvs, tlv::EAP_PAYLOAD)?).ok()
}

/// Sender of a Crypto-Binding TLV: its sub-type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sender {
    Server = 0,
    Station = 1,
}

/// Octets of a Crypto-Binding TLV's value, and where the nonce and the two MACs begin.
const BINDING_OCTETS: usize = 76;
const NONCE: usize = 4;
const EMSK_MAC: usize = 36;
const MSK_MAC: usize = 56;
const MAC_OCTETS: usize = 20;
/// Flags: only the MAC under the inner MSK is present.
const MSK_ONLY: u8 = 2;

/// Octets of S-IMCK, and of S-IMCK and CMK together (section 5.2).
const SEED_OCTETS: usize = 40;
const COMPOUND_OCTETS: usize = 60;

/// Keys of tunnel and inner method together (section 5.2).
struct Binding {
    suite: TlsSuite,
    /// S-IMCK, from which the MSK is derived.
    seed: Vec<u8>,
    cmk: Vec<u8>,
    outer: Vec<u8>,
}

impl Binding {
    /// From the session key seed and the inner method's MSK. Without an inner method that gives
    /// keys, the CMK comes from 32 zeros and S-IMCK stays the seed, as hostapd 2.10 has it.
    fn new(context: &mut Context<'_>, tunnel: &Bound, msk: Option<&[u8]>) -> Self {
        let mut imsk = msk.unwrap_or_default().to_vec();
        imsk.resize(32, 0);
        let mut seed = prf(
            context,
            tunnel.suite,
            &tunnel.seed,
            b"Inner Methods Compound Keys",
            &imsk,
            COMPOUND_OCTETS,
        );
        let cmk = seed.split_off(SEED_OCTETS);
        Self {
            suite: tunnel.suite,
            seed: if msk.is_some() {
                seed
            } else {
                tunnel.seed.clone()
            },
            cmk,
            outer: tunnel.outer.clone(),
        }
    }

    /// The compound MAC of a TLV value (section 5.3): over the TLV with both MACs zero, the method
    /// type, and the outer TLVs of both ends, cut to 20 octets.
    fn mac(&self, context: &mut Context<'_>, value: &[u8]) -> Vec<u8> {
        let mut blank = value[..EMSK_MAC].to_vec();
        blank.resize(BINDING_OCTETS, 0);
        let whole = mandatory(tlv::CRYPTO_BINDING, &blank);
        let parts: [&[u8]; 3] = [&whole, &[method::TEAP], &self.outer];
        let mut mac = context.hmac(self.suite.hash(), &self.cmk, &parts);
        mac.truncate(MAC_OCTETS);
        mac
    }

    /// A Crypto-Binding TLV with this nonce.
    fn prove(&self, context: &mut Context<'_>, sender: Sender, nonce: &[u8]) -> Vec<u8> {
        let head = [0, VERSION, VERSION, MSK_ONLY << 4 | sender as u8];
        let mut value = [&head[..], nonce, &[0; MAC_OCTETS]].concat();
        let mac = self.mac(context, &value);
        value.extend(mac);
        mandatory(tlv::CRYPTO_BINDING, &value)
    }

    /// Whether a TLV value is the other end's, right under these keys.
    fn verify(&self, context: &mut Context<'_>, sender: Sender, value: &[u8]) -> bool {
        if value.len() != BINDING_OCTETS {
            return false;
        }
        let mac = self.mac(context, value);
        let head = [0, VERSION, VERSION, MSK_ONLY << 4 | sender as u8];
        value[1..NONCE] == head[1..] && equal(&mac, &value[MSK_MAC..])
    }

    /// The MSK of the conversation (section 5.4).
    fn msk(&self, context: &mut Context<'_>) -> Vec<u8> {
        let label = b"Session Key Generating Function";
        prf(context, self.suite, &self.seed, label, &[], 64)
    }
}

/// Inputs of the binding that come from the tunnel.
struct Bound {
    suite: TlsSuite,
    seed: Vec<u8>,
    outer: Vec<u8>,
}

impl Bound {
    const fn new(config: &EapConfig) -> Self {
        Self {
            suite: config.suite,
            seed: Vec::new(),
            outer: Vec::new(),
        }
    }

    fn take(&mut self, tunnel: &Tunnel<'_>) {
        self.seed = tunnel.keys.to_vec();
        self.outer = tunnel.outer.to_vec();
    }
}

fn exporter() -> Exporter {
    Exporter {
        label: b"EXPORTER: teap session key seed",
        context: Vec::new(),
        octets: SEED_OCTETS,
        used: SEED_OCTETS,
    }
}

/// The server's progress.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Awaits {
    Identity,
    Inner,
    Binding,
    FailureAcknowledgement,
}

/// The server's half.
pub(super) struct TeapServer {
    inner: MsChapServer,
    identifier: u8,
    awaits: Awaits,
    tunnel: Bound,
    binding: Option<Binding>,
    nonce: [u8; 32],
    msk: Option<Vec<u8>>,
}

impl TeapServer {
    pub fn new(config: &EapConfig) -> Self {
        Self {
            inner: MsChapServer::new(&config.identity, &config.password),
            identifier: 0,
            awaits: Awaits::Identity,
            tunnel: Bound::new(config),
            binding: None,
            nonce: [0; 32],
            msk: None,
        }
    }

    /// The results and the Crypto-Binding TLV in one message.
    fn finish(&mut self, context: &mut Context<'_>, msk: Option<&[u8]>) -> InnerStep {
        let binding = Binding::new(context, &self.tunnel, msk);
        self.nonce = context.random();
        // The last bit is 0 in a request and 1 in the response (section 4.2.13).
        self.nonce[31] &= 0xfe;
        let mut out = Vec::new();
        if msk.is_some() {
            out.extend(status(tlv::INTERMEDIATE_RESULT, SUCCESS));
        }
        out.extend(status(tlv::RESULT, SUCCESS));
        out.extend(binding.prove(context, Sender::Server, &self.nonce));
        self.binding = Some(binding);
        self.awaits = Awaits::Binding;
        InnerStep::Send(out)
    }

    fn refuse(&mut self) -> InnerStep {
        self.awaits = Awaits::FailureAcknowledgement;
        let mut out = status(tlv::INTERMEDIATE_RESULT, FAILURE);
        out.extend(status(tlv::RESULT, FAILURE));
        out.extend(mandatory(tlv::ERROR, &INNER_METHOD_ERROR.to_be_bytes()));
        InnerStep::Send(out)
    }

    /// Whether the station's last message proves the same keys.
    fn bound(&mut self, tlvs: &[(u16, &[u8])], context: &mut Context<'_>) -> bool {
        let (Some(binding), Some(value)) = (&self.binding, find(tlvs, tlv::CRYPTO_BINDING)) else {
            return false;
        };
        let mut nonce = self.nonce;
        nonce[31] |= 1;
        let fresh = value.get(NONCE..EMSK_MAC) == Some(&nonce[..]);
        if !fresh || !binding.verify(context, Sender::Station, value) {
            return false;
        }
        self.msk = Some(binding.msk(context));
        true
    }
}

impl Inner for TeapServer {
    fn exporter(&self, _tls13: bool) -> Exporter {
        exporter()
    }

    fn version(&self) -> u8 {
        VERSION
    }

    fn bind(&mut self, tunnel: &Tunnel<'_>) {
        self.tunnel.take(tunnel);
    }

    fn msk(&self) -> Option<&[u8]> {
        self.msk.as_deref()
    }
}

impl InnerServer for TeapServer {
    fn outer(&self) -> Vec<u8> {
        emit(tlv::AUTHORITY_ID, AUTHORITY)
    }

    fn resume(&mut self, context: &mut Context<'_>) -> InnerStep {
        self.finish(context, None)
    }

    fn start(&mut self, _context: &mut Context<'_>) -> InnerStep {
        self.identifier += 1;
        let request = EapRepr::request(self.identifier, method::IDENTITY, Vec::new());
        InnerStep::Send(payload(&request))
    }

    fn next(&mut self, plain: &[u8], context: &mut Context<'_>) -> InnerStep {
        let Some(tlvs) = parse(plain) else {
            return InnerStep::Reject;
        };
        if self.awaits == Awaits::FailureAcknowledgement {
            return InnerStep::Reject;
        }
        if self.awaits == Awaits::Binding {
            let agreed = status_of(&tlvs, tlv::RESULT) == Some(SUCCESS);
            return if agreed && self.bound(&tlvs, context) {
                InnerStep::Accept
            } else {
                InnerStep::Reject
            };
        }
        let answer = inner_packet(&tlvs).filter(|packet| packet.code == Code::Response);
        let Some(packet) = answer else {
            return self.refuse();
        };
        self.identifier += 1;
        if self.awaits == Awaits::Identity {
            self.awaits = Awaits::Inner;
            let request = self.inner.start(self.identifier, context);
            return InnerStep::Send(payload(&request));
        }
        match self.inner.next(&packet, self.identifier, context) {
            Turn::Request(request) => InnerStep::Send(payload(&request)),
            Turn::Accept => {
                let msk = self.inner.session_key(context);
                self.finish(context, Some(&msk))
            }
            Turn::Reject => self.refuse(),
        }
    }
}

/// The station's half.
pub(super) struct TeapPeer {
    inner: MsChapPeer,
    name: Vec<u8>,
    password: Vec<u8>,
    /// No inner method gives keys: Basic-Password-Auth, or a resumed session.
    without_keys: bool,
    accepted: bool,
    tunnel: Bound,
    msk: Option<Vec<u8>>,
}

impl TeapPeer {
    pub fn new(config: &EapConfig) -> Self {
        Self {
            inner: MsChapPeer::new(&config.identity, &config.password),
            name: config.identity.clone(),
            password: config.password.clone(),
            without_keys: false,
            accepted: false,
            tunnel: Bound::new(config),
            msk: None,
        }
    }

    fn answer_inner(&mut self, request: &EapRepr, context: &mut Context<'_>) -> Option<Vec<u8>> {
        let identifier = request.identifier;
        let answer = match &request.body {
            Some((method::IDENTITY, _)) => {
                EapRepr::response(identifier, method::IDENTITY, self.name.clone())
            }
            Some((method::MSCHAPV2, _)) => self.inner.answer(request, context)?,
            _ => EapRepr::response(identifier, method::NAK, vec![method::MSCHAPV2]),
        };
        Some(payload(&answer))
    }

    fn basic_password(&mut self) -> Option<Vec<u8>> {
        self.without_keys = true;
        let mut value = Vec::new();
        for text in [&self.name, &self.password] {
            value.push(u8::try_from(text.len()).ok()?);
            value.extend(text);
        }
        Some(emit(tlv::PASSWORD_RESPONSE, &value))
    }

    /// Verifies the server's binding; gives the station's, and keeps the MSK.
    fn bind_back(&mut self, value: &[u8], context: &mut Context<'_>) -> Option<Vec<u8>> {
        let msk = if self.without_keys {
            None
        } else if self.inner.satisfied && !self.inner.refused {
            Some(self.inner.session_key(context))
        } else {
            return None;
        };
        let binding = Binding::new(context, &self.tunnel, msk.as_deref());
        let mut nonce: [u8; 32] = value.get(NONCE..EMSK_MAC)?.try_into().ok()?;
        if nonce[31] & 1 != 0 || !binding.verify(context, Sender::Server, value) {
            return None;
        }
        nonce[31] |= 1;
        self.msk = Some(binding.msk(context));
        Some(binding.prove(context, Sender::Station, &nonce))
    }
}

impl Inner for TeapPeer {
    fn exporter(&self, _tls13: bool) -> Exporter {
        exporter()
    }

    fn version(&self) -> u8 {
        VERSION
    }

    fn bind(&mut self, tunnel: &Tunnel<'_>) {
        self.tunnel.take(tunnel);
    }

    fn msk(&self) -> Option<&[u8]> {
        self.msk.as_deref()
    }
}

impl InnerPeer for TeapPeer {
    fn resume(&mut self) {
        self.without_keys = true;
    }

    fn answer(&mut self, plain: &[u8], context: &mut Context<'_>) -> Option<Vec<u8>> {
        let tlvs = parse(plain)?;
        let known = |kind: u16| {
            matches!(
                kind & tlv::TYPE,
                tlv::AUTHORITY_ID
                    ..=tlv::ERROR
                        | tlv::EAP_PAYLOAD
                        | tlv::INTERMEDIATE_RESULT
                        | tlv::CRYPTO_BINDING
                        | tlv::PASSWORD_REQUEST
            )
        };
        let strange = |(kind, _): &&(u16, &[u8])| kind & tlv::MANDATORY != 0 && !known(*kind);
        if let Some((kind, _)) = tlvs.iter().find(strange) {
            // Vendor 0, then the type (section 4.2.5).
            let refused = [&[0; 4][..], &(kind & tlv::TYPE).to_be_bytes()].concat();
            return Some(mandatory(tlv::NAK, &refused));
        }
        let results = [tlv::INTERMEDIATE_RESULT, tlv::RESULT];
        let said = results.map(|kind| status_of(&tlvs, kind));
        if said.contains(&Some(FAILURE)) {
            self.accepted = false;
            return Some(status(tlv::RESULT, FAILURE));
        }
        if said.contains(&Some(SUCCESS)) {
            // Success counts only with a binding, in this message or in the one before it.
            let bound = match find(&tlvs, tlv::CRYPTO_BINDING) {
                Some(value) => self.bind_back(value, context),
                None => self.msk.is_some().then(Vec::new),
            };
            let Some(bound) = bound else {
                self.accepted = false;
                return Some(status(tlv::RESULT, FAILURE));
            };
            self.accepted |= said[1] == Some(SUCCESS);
            let mut out = Vec::new();
            for (kind, said) in results.into_iter().zip(said) {
                if said.is_some() {
                    out.extend(status(kind, SUCCESS));
                }
            }
            out.extend(bound);
            return Some(out);
        }
        if find(&tlvs, tlv::PASSWORD_REQUEST).is_some() {
            return self.basic_password();
        }
        // A further request means that the resumed session is not enough for the server.
        self.without_keys = false;
        let request = inner_packet(&tlvs).filter(|packet| packet.code == Code::Request)?;
        self.answer_inner(&request, context)
    }

    fn is_satisfied(&self) -> bool {
        self.accepted
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_chacha::ChaCha8Rng;
    use rand_chacha::rand_core::SeedableRng;

    fn tunnel() -> Bound {
        Bound {
            suite: TlsSuite::default(),
            seed: vec![3; SEED_OCTETS],
            outer: emit(tlv::AUTHORITY_ID, AUTHORITY),
        }
    }

    #[test]
    fn a_binding_is_accepted_only_as_it_was_made() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let mut cx = Context::new(&mut rng);
        let binding = Binding::new(&mut cx, &tunnel(), Some(&[9; 32]));
        let octets = binding.prove(&mut cx, Sender::Server, &[4; 32]);
        let tlvs = parse(&octets).unwrap();
        let value = find(&tlvs, tlv::CRYPTO_BINDING).unwrap();
        assert!(binding.verify(&mut cx, Sender::Server, value));
        assert!(!binding.verify(&mut cx, Sender::Station, value));
        assert!(!binding.verify(&mut cx, Sender::Server, &value[..75]));
        // The first octet is reserved, and the EMSK's MAC is absent under these flags.
        for at in (1..EMSK_MAC).chain(MSK_MAC..BINDING_OCTETS) {
            let mut altered = value.to_vec();
            altered[at] ^= 1;
            assert!(!binding.verify(&mut cx, Sender::Server, &altered), "{at}");
        }
        let mut other = tunnel();
        other.outer.clear();
        let other = Binding::new(&mut cx, &other, Some(&[9; 32]));
        assert!(!other.verify(&mut cx, Sender::Server, value));
    }

    #[test]
    fn the_msk_depends_on_tunnel_and_inner_method() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let mut cx = Context::new(&mut rng);
        let mut seen = Vec::new();
        for inner in [None, Some(&[9; 32][..]), Some(&[8; 32][..])] {
            let msk = Binding::new(&mut cx, &tunnel(), inner).msk(&mut cx);
            assert_eq!(msk.len(), 64);
            assert!(!seen.contains(&msk));
            seen.push(msk);
        }
    }

    fn station() -> TeapPeer {
        let config = EapConfig {
            method: airtoll_security::EapMethod::Teap,
            identity: b"alice".to_vec(),
            password: b"correct horse".to_vec(),
            tls: crate::tls::TlsVersion::Tls12,
            suite: TlsSuite::default(),
            groups: Vec::new(),
            credential: None,
            trusted: crate::tls::Chain::P256,
            resume: None,
            remembers: false,
            fragment_octets: 1398,
            limits: crate::eap::EapLimits::default(),
            certificate_compression: false,
            cryptobinding: false,
        };
        TeapPeer::new(&config)
    }

    #[test]
    fn a_success_without_a_binding_is_refused() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let mut cx = Context::new(&mut rng);
        let mut peer = station();
        let answer = peer.answer(&status(tlv::RESULT, SUCCESS), &mut cx);
        assert_eq!(answer, Some(status(tlv::RESULT, FAILURE)));
        assert!(!peer.is_satisfied());
    }

    #[test]
    fn an_unknown_mandatory_tlv_is_named_and_an_optional_one_is_not() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let mut cx = Context::new(&mut rng);
        let answer = station().answer(&mandatory(1000, &[]), &mut cx);
        let refused = [0, 0, 0, 0, 0x03, 0xe8];
        assert_eq!(answer, Some(mandatory(tlv::NAK, &refused)));
        assert_eq!(station().answer(&emit(1000, &[]), &mut cx), None);
        assert_eq!(parse(&[0x80, 3, 0, 4, 0, 1]), None);
    }
}
