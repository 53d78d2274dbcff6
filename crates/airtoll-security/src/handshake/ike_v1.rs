//! IKEv1 (RFC 2409): main mode with a pre-shared key, then quick mode; six and three messages.
//!
//! Takes an [`IkeV1Config`] at each end; gives ISAKMP messages and the keys of one ESP pair.
//! Never sends a notification in the clear: a wrong key shows as messages that cannot be read.

use airtoll_wire::isakmp::{
    HEADER_OCTETS, IsakmpHeader, IsakmpRepr, IsakmpView, PORT, Payload, ProposalRepr,
    TransformRepr, emit_message, emit_payloads, exchange, find_payload, flag, parse_payloads,
    payload,
};
use serde::Deserialize;

use super::diffie_hellman::DiffieHellman;
use super::exchange::{Carrier, Context, Message, Party, Peer, SecretName, Secrets, Status};
use super::failure::{Code, Failure};
use super::operation::HashAlgorithm;
use super::primitives::{equal, written};
use super::resend::Resend;

/// How often a message is repeated (pluto and strongSwan repeat five times).
const REPEATS: u8 = 5;
const VERSION: u8 = 0x10;

/// The cipher of IKE and of ESP.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum IkeCipher {
    /// DES-CBC.
    Des,
    /// 3DES-CBC.
    TripleDes,
    /// AES-CBC with 128 bits.
    Aes128,
}

impl IkeCipher {
    const fn key_octets(self) -> usize {
        match self {
            Self::Des => 8,
            Self::TripleDes => 24,
            Self::Aes128 => 16,
        }
    }

    const fn block_octets(self) -> usize {
        match self {
            Self::Aes128 => 16,
            _ => 8,
        }
    }

    /// The encryption algorithm of phase 1 (RFC 2409 appendix A) and ESP's transform
    /// (RFC 2407 section 4.4.4).
    const fn numbers(self) -> (u16, u16) {
        match self {
            Self::Des => (1, 2),
            Self::TripleDes => (5, 3),
            Self::Aes128 => (7, 12),
        }
    }
}

/// What both ends agree on beforehand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IkeV1Config {
    /// Pre-shared key.
    pub preshared: Vec<u8>,
    /// IKE group: 2, 5 or 14.
    pub group: u16,
    /// Cipher of IKE and ESP.
    pub cipher: IkeCipher,
    /// MD5 or SHA-1, for IKE and for ESP's ICV.
    pub hash: HashAlgorithm,
    /// Whether quick mode has a Diffie-Hellman exchange of its own (FreeS/WAN's default).
    pub forward_secrecy: bool,
    /// The initiator's and the responder's IPv4 address, which are their identities.
    pub addresses: ([u8; 4], [u8; 4]),
}

impl IkeV1Config {
    const fn hash_number(&self) -> u16 {
        match self.hash {
            HashAlgorithm::Md5 => 1,
            _ => 2,
        }
    }

    /// Phase 1's only proposal.
    fn proposal(&self) -> Vec<u8> {
        let (encryption, _) = self.cipher.numbers();
        let mut attributes = vec![
            (1, encryption),
            (2, self.hash_number()),
            (3, 1),
            (4, self.group),
        ];
        if self.cipher == IkeCipher::Aes128 {
            attributes.push((14, 128));
        }
        // Life type seconds, one hour.
        attributes.extend([(11, 1), (12, 3600)]);
        let proposal = ProposalRepr {
            number: 0,
            protocol: 1,
            spi: Vec::new(),
            transforms: vec![TransformRepr {
                kind: 0,
                identifier: 1,
                attributes,
            }],
        };
        written(|out| proposal.emit(true, out))
    }

    /// Quick mode's only proposal, ESP in tunnel mode.
    fn esp_proposal(&self, spi: [u8; 4]) -> Vec<u8> {
        let (_, transform) = self.cipher.numbers();
        let mut attributes = vec![(4, 1), (5, self.hash_number()), (1, 1), (2, 28_800)];
        if self.forward_secrecy {
            attributes.push((3, self.group));
        }
        if self.cipher == IkeCipher::Aes128 {
            attributes.push((6, 128));
        }
        let proposal = ProposalRepr {
            number: 0,
            protocol: 3,
            spi: spi.to_vec(),
            transforms: vec![TransformRepr {
                kind: 0,
                identifier: transform,
                attributes,
            }],
        };
        written(|out| proposal.emit(true, out))
    }
}

fn spi_of(proposal: &[u8]) -> Option<[u8; 4]> {
    ProposalRepr::parse(proposal, true)
        .ok()?
        .spi
        .try_into()
        .ok()
}

/// An identification payload: ID_IPV4_ADDR (RFC 2407 section 4.6.2).
fn identity(address: [u8; 4]) -> Vec<u8> {
    let mut out = vec![1, 0, 0, 0];
    out.extend(address);
    out
}

/// Keys of phase 1 (RFC 2409 section 5).
#[derive(Clone, Default)]
struct Phase1 {
    skeyid: Vec<u8>,
    derive: Vec<u8>,
    authenticate: Vec<u8>,
    encrypt: Vec<u8>,
    iv: Vec<u8>,
}

/// Either end.
pub struct IkeV1Peer {
    config: IkeV1Config,
    initiator: bool,
    cookies: ([u8; 8], [u8; 8]),
    dh: Option<DiffieHellman>,
    public: (Vec<u8>, Vec<u8>),
    nonces: (Vec<u8>, Vec<u8>),
    phase1: Phase1,
    message_id: u32,
    quick_iv: Vec<u8>,
    quick_dh: Option<DiffieHellman>,
    quick_shared: Vec<u8>,
    quick_nonces: (Vec<u8>, Vec<u8>),
    spis: ([u8; 4], [u8; 4]),
    /// Messages of the conversation handled so far, own and the other's.
    step: u8,
    heard: Vec<Vec<u8>>,
    resend: Resend,
    unreadable: bool,
    waited: u8,
    state: Status,
}

impl IkeV1Peer {
    /// The end that speaks first.
    #[must_use]
    pub fn initiator(config: IkeV1Config) -> Self {
        Self::new(config, true)
    }

    /// The end that answers.
    #[must_use]
    pub fn responder(config: IkeV1Config) -> Self {
        Self::new(config, false)
    }

    fn new(config: IkeV1Config, initiator: bool) -> Self {
        Self {
            config,
            initiator,
            cookies: ([0; 8], [0; 8]),
            dh: None,
            public: (Vec::new(), Vec::new()),
            nonces: (Vec::new(), Vec::new()),
            phase1: Phase1::default(),
            message_id: 0,
            quick_iv: Vec::new(),
            quick_dh: None,
            quick_shared: Vec::new(),
            quick_nonces: (Vec::new(), Vec::new()),
            spis: ([0; 4], [0; 4]),
            step: 0,
            heard: Vec::new(),
            // The responder gives up first, because it knows whether it could read the proof.
            resend: Resend::new(if initiator { REPEATS } else { REPEATS - 1 }),
            waited: 0,
            unreadable: false,
            state: Status::Waiting,
        }
    }

    fn prf(&self, context: &mut Context<'_>, key: &[u8], parts: &[&[u8]]) -> Vec<u8> {
        context.hmac(self.config.hash, key, parts)
    }

    fn send(&mut self, context: &mut Context<'_>, octets: Vec<u8>) {
        let (from, to) = if self.initiator {
            (Party::Station, Party::Gateway)
        } else {
            (Party::Gateway, Party::Station)
        };
        self.step += 1;
        self.resend
            .send(context, from, to, Carrier::Udp(PORT), octets);
    }

    fn header(&self, exchange: u8, message_id: u32, flags: u8, next_payload: u8) -> IsakmpHeader {
        IsakmpHeader {
            initiator: self.cookies.0,
            responder: self.cookies.1,
            next_payload,
            version: VERSION,
            exchange,
            flags,
            message_id,
        }
    }

    fn send_plain(&mut self, context: &mut Context<'_>, payloads: Vec<Payload>) {
        let header = self.header(exchange::IDENTITY_PROTECTION, 0, 0, 0);
        let message = IsakmpRepr { header, payloads };
        self.send(context, written(|out| message.emit(out)));
    }

    /// Encrypts under the running IV (RFC 2409 appendix B) and keeps the last block as the next.
    fn send_sealed(&mut self, context: &mut Context<'_>, kind: u8, payloads: &[Payload]) {
        let block = self.config.cipher.block_octets();
        let mut plain = written(|out| emit_payloads(payloads, out));
        plain.resize(plain.len().next_multiple_of(block), 0);
        let iv = self.iv(kind).clone();
        let sealed = context.cbc_encrypt(&self.phase1.encrypt, &iv, &plain);
        *self.iv(kind) = sealed[sealed.len() - block..].to_vec();
        let first = payloads.first().map_or(0, |(kind, _)| *kind);
        let message_id = if kind == exchange::QUICK_MODE {
            self.message_id
        } else {
            0
        };
        let header = self.header(kind, message_id, flag::ENCRYPTION, first);
        self.send(context, written(|out| emit_message(&header, &sealed, out)));
    }

    fn iv(&mut self, kind: u8) -> &mut Vec<u8> {
        if kind == exchange::QUICK_MODE {
            &mut self.quick_iv
        } else {
            &mut self.phase1.iv
        }
    }

    fn open(&mut self, context: &mut Context<'_>, view: &IsakmpView<'_>) -> Option<Vec<Payload>> {
        let header = view.header();
        let block = self.config.cipher.block_octets();
        if header.flags & flag::ENCRYPTION == 0 || view.body().len() < block {
            return None;
        }
        let iv = self.iv(header.exchange).clone();
        let plain = context.cbc_decrypt(&self.phase1.encrypt, &iv, view.body())?;
        let payloads = parse_payloads(header.next_payload, &plain).ok()?;
        Some(payloads)
    }

    /// What [`Self::open`] read was right: its last block is the next IV.
    fn accept(&mut self, view: &IsakmpView<'_>) {
        let block = self.config.cipher.block_octets();
        let body = view.body();
        *self.iv(view.header().exchange) = body[body.len() - block..].to_vec();
    }

    fn derive(&mut self, context: &mut Context<'_>, shared: &[u8]) {
        let nonces = [&self.nonces.0[..], &self.nonces.1].concat();
        let skeyid = self.prf(context, &self.config.preshared.clone(), &[&nonces]);
        let cookies = [self.cookies.0, self.cookies.1].concat();
        let derive = self.prf(context, &skeyid, &[shared, &cookies, &[0]]);
        let authenticate = self.prf(context, &skeyid, &[&derive, shared, &cookies, &[1]]);
        let encrypt = self.prf(context, &skeyid, &[&authenticate, shared, &cookies, &[2]]);
        let length = self.config.cipher.key_octets();
        let mut key = encrypt.clone();
        if key.len() < length {
            // Appendix B: K1 = prf(SKEYID_e, 0), then each block from the one before.
            let mut part = self.prf(context, &encrypt, &[&[0]]);
            key.clone_from(&part);
            while key.len() < length {
                part = self.prf(context, &encrypt, &[&part]);
                key.extend(&part);
            }
        }
        key.truncate(length);
        let mut iv = context.hash(self.config.hash, &[&self.public.0, &self.public.1]);
        iv.truncate(self.config.cipher.block_octets());
        self.phase1 = Phase1 {
            skeyid,
            derive,
            authenticate,
            encrypt: key,
            iv,
        };
    }

    /// HASH_I or HASH_R (section 5).
    fn proof(&self, context: &mut Context<'_>, initiator: bool) -> Vec<u8> {
        let (first, second, a, b, address) = if initiator {
            let addresses = self.config.addresses;
            (
                &self.public.0,
                &self.public.1,
                self.cookies.0,
                self.cookies.1,
                addresses.0,
            )
        } else {
            let addresses = self.config.addresses;
            (
                &self.public.1,
                &self.public.0,
                self.cookies.1,
                self.cookies.0,
                addresses.1,
            )
        };
        let proposal = self.config.proposal();
        let parts: [&[u8]; 6] = [first, second, &a, &b, &proposal, &identity(address)];
        self.prf(context, &self.phase1.skeyid.clone(), &parts)
    }

    fn identity_payloads(&self, context: &mut Context<'_>) -> Vec<Payload> {
        let address = if self.initiator {
            self.config.addresses.0
        } else {
            self.config.addresses.1
        };
        vec![
            (payload::V1_IDENTIFICATION, identity(address)),
            (payload::V1_HASH, self.proof(context, self.initiator)),
        ]
    }

    fn draw(&mut self, context: &mut Context<'_>) -> Vec<Payload> {
        let dh = DiffieHellman::draw(context, self.config.group);
        let public = dh.as_ref().map(|dh| dh.public(context)).unwrap_or_default();
        let nonce = context.random_octets(16);
        self.dh = dh;
        if self.initiator {
            self.public.0.clone_from(&public);
            self.nonces.0.clone_from(&nonce);
        } else {
            self.public.1.clone_from(&public);
            self.nonces.1.clone_from(&nonce);
        }
        vec![
            (payload::V1_KEY_EXCHANGE, public),
            (payload::V1_NONCE, nonce),
        ]
    }

    /// A quick-mode message after its hash payload (section 5.5).
    fn quick_payloads(&mut self, context: &mut Context<'_>) -> Vec<Payload> {
        let mut spi: [u8; 4] = context.random();
        // SPIs below 256 are reserved (RFC 4303 section 2.1).
        spi[0] |= 1;
        let nonce = context.random_octets(16);
        if self.initiator {
            self.spis.0 = spi;
            self.quick_nonces.0.clone_from(&nonce);
        } else {
            self.spis.1 = spi;
            self.quick_nonces.1.clone_from(&nonce);
        }
        let mut payloads = vec![
            (payload::V1_SA, self.config.esp_proposal(spi)),
            (payload::V1_NONCE, nonce),
        ];
        if self.config.forward_secrecy {
            self.quick_dh = DiffieHellman::draw(context, self.config.group);
            let public = self
                .quick_dh
                .as_ref()
                .map(|dh| dh.public(context))
                .unwrap_or_default();
            payloads.push((payload::V1_KEY_EXCHANGE, public));
        }
        for address in [self.config.addresses.0, self.config.addresses.1] {
            payloads.push((payload::V1_IDENTIFICATION, identity(address)));
        }
        payloads
    }

    /// HASH(1) or HASH(2): over the message ID, the initiator's nonce in HASH(2), and the rest.
    fn quick_hash(&self, context: &mut Context<'_>, second: bool, rest: &[Payload]) -> Vec<u8> {
        let rest = written(|out| emit_payloads(rest, out));
        let nonce: &[u8] = if second { &self.quick_nonces.0 } else { &[] };
        let id = self.message_id.to_be_bytes();
        self.prf(
            context,
            &self.phase1.authenticate.clone(),
            &[&id, nonce, &rest],
        )
    }

    fn third_hash(&self, context: &mut Context<'_>) -> Vec<u8> {
        let id = self.message_id.to_be_bytes();
        let parts: [&[u8]; 4] = [&[0], &id, &self.quick_nonces.0, &self.quick_nonces.1];
        self.prf(context, &self.phase1.authenticate.clone(), &parts)
    }

    fn start_quick(&mut self, context: &mut Context<'_>, message_id: u32) {
        self.message_id = message_id;
        let iv = [&self.phase1.iv[..], &message_id.to_be_bytes()].concat();
        self.quick_iv = context.hash(self.config.hash, &[&iv]);
        self.quick_iv.truncate(self.config.cipher.block_octets());
    }

    fn read_quick(&mut self, context: &mut Context<'_>, payloads: &[Payload]) -> Option<()> {
        let spi = spi_of(find_payload(payloads, payload::V1_SA)?)?;
        let nonce = find_payload(payloads, payload::V1_NONCE)?.to_vec();
        if self.initiator {
            (self.spis.1, self.quick_nonces.1) = (spi, nonce);
        } else {
            (self.spis.0, self.quick_nonces.0) = (spi, nonce);
        }
        if self.config.forward_secrecy && self.initiator {
            self.read_quick_share(context, payloads)?;
        }
        Some(())
    }

    fn read_quick_share(&mut self, context: &mut Context<'_>, payloads: &[Payload]) -> Option<()> {
        let public = find_payload(payloads, payload::V1_KEY_EXCHANGE)?;
        self.quick_shared = self.quick_dh.clone()?.shared(context, public)?;
        Some(())
    }

    /// KEYMAT (section 5.5) of the SPI that the receiver chose.
    fn keymat(&self, context: &mut Context<'_>, spi: [u8; 4]) -> Vec<u8> {
        let length = self.config.cipher.key_octets() + self.config.hash.digest_octets();
        let mut out = Vec::new();
        let mut previous = Vec::new();
        while out.len() < length {
            let parts: [&[u8]; 6] = [
                &previous,
                &self.quick_shared,
                &[3],
                &spi,
                &self.quick_nonces.0,
                &self.quick_nonces.1,
            ];
            previous = self.prf(context, &self.phase1.derive.clone(), &parts);
            out.extend(&previous);
        }
        out.truncate(length);
        out
    }

    fn establish(&mut self, context: &mut Context<'_>) {
        let forward = self.keymat(context, self.spis.1);
        let backward = self.keymat(context, self.spis.0);
        self.state = Status::Established(Secrets::from([
            (SecretName::TunnelForward, forward),
            (SecretName::TunnelBackward, backward),
            (SecretName::TunnelSpis, [self.spis.1, self.spis.0].concat()),
        ]));
    }

    /// Handles the next message of the conversation; `None` leaves everything as it was.
    fn advance(&mut self, view: &IsakmpView<'_>, context: &mut Context<'_>) -> Option<()> {
        let header = *view.header();
        let main = header.exchange == exchange::IDENTITY_PROTECTION;
        match (self.initiator, self.step, main) {
            (false, 0, true) => {
                let payloads = parse_payloads(header.next_payload, view.body()).ok()?;
                if find_payload(&payloads, payload::V1_SA)? != self.config.proposal() {
                    self.state = Status::Failed(Failure::NothingInCommon {
                        code: Code::Ike(14),
                    });
                    return Some(());
                }
                self.cookies = (header.initiator, context.random());
                let proposal = self.config.proposal();
                self.send_plain(context, vec![(payload::V1_SA, proposal)]);
            }
            (true, 1, true) => {
                let payloads = parse_payloads(header.next_payload, view.body()).ok()?;
                if find_payload(&payloads, payload::V1_SA)? != self.config.proposal() {
                    return None;
                }
                self.cookies.1 = header.responder;
                let payloads = self.draw(context);
                self.send_plain(context, payloads);
            }
            (true, 2, true) | (false, 1, true) => {
                let payloads = parse_payloads(header.next_payload, view.body()).ok()?;
                let public = find_payload(&payloads, payload::V1_KEY_EXCHANGE)?.to_vec();
                let nonce = find_payload(&payloads, payload::V1_NONCE)?.to_vec();
                if self.initiator {
                    (self.public.1, self.nonces.1) = (public.clone(), nonce);
                } else {
                    (self.public.0, self.nonces.0) = (public.clone(), nonce);
                    let payloads = self.draw(context);
                    self.send_plain(context, payloads);
                }
                let shared = self.dh.clone()?.shared(context, &public)?;
                self.derive(context, &shared);
                if self.initiator {
                    let payloads = self.identity_payloads(context);
                    self.send_sealed(context, exchange::IDENTITY_PROTECTION, &payloads);
                }
            }
            (initiator @ true, 3, true) | (initiator @ false, 2, true) => {
                let payloads = self.open(context, view);
                let expected = self.proof(context, !initiator);
                let right = payloads.is_some_and(|payloads| {
                    find_payload(&payloads, payload::V1_HASH)
                        .is_some_and(|hash| equal(hash, &expected))
                });
                if !right {
                    self.unreadable = true;
                    return None;
                }
                self.accept(view);
                if initiator {
                    let message_id = u32::from_be_bytes(context.random());
                    self.start_quick(context, message_id);
                    let rest = self.quick_payloads(context);
                    self.send_quick(context, false, rest);
                } else {
                    let payloads = self.identity_payloads(context);
                    self.send_sealed(context, exchange::IDENTITY_PROTECTION, &payloads);
                }
            }
            (false, 3, false) => {
                self.start_quick(context, header.message_id);
                let payloads = self.open(context, view)?;
                let (hash, rest) = split_hash(&payloads)?;
                let expected = self.quick_hash(context, false, rest);
                if !equal(hash, &expected) {
                    return None;
                }
                self.accept(view);
                self.read_quick(context, rest)?;
                let own = self.quick_payloads(context);
                if self.config.forward_secrecy {
                    self.read_quick_share(context, rest)?;
                }
                self.send_quick(context, true, own);
            }
            (true, 4, false) if header.message_id == self.message_id => {
                let payloads = self.open(context, view)?;
                let (hash, rest) = split_hash(&payloads)?;
                let expected = self.quick_hash(context, true, rest);
                if !equal(hash, &expected) {
                    return None;
                }
                self.accept(view);
                self.read_quick(context, rest)?;
                let hash = self.third_hash(context);
                self.send_sealed(context, exchange::QUICK_MODE, &[(payload::V1_HASH, hash)]);
                self.establish(context);
            }
            (false, 4, false) if header.message_id == self.message_id => {
                let payloads = self.open(context, view)?;
                let expected = self.third_hash(context);
                if !equal(find_payload(&payloads, payload::V1_HASH)?, &expected) {
                    return None;
                }
                self.accept(view);
                self.step += 1;
                self.establish(context);
            }
            _ => return None,
        }
        Some(())
    }

    fn send_quick(&mut self, context: &mut Context<'_>, second: bool, rest: Vec<Payload>) {
        let hash = self.quick_hash(context, second, &rest);
        let mut payloads = vec![(payload::V1_HASH, hash)];
        payloads.extend(rest);
        self.send_sealed(context, exchange::QUICK_MODE, &payloads);
    }
}

fn split_hash(payloads: &[Payload]) -> Option<(&[u8], &[Payload])> {
    match payloads.split_first() {
        Some(((payload::V1_HASH, hash), rest)) => Some((hash, rest)),
        _ => None,
    }
}

impl Peer for IkeV1Peer {
    fn party(&self) -> Party {
        if self.initiator {
            Party::Station
        } else {
            Party::Gateway
        }
    }

    fn start(&mut self, context: &mut Context<'_>) {
        if self.initiator {
            self.cookies.0 = context.random();
            let proposal = self.config.proposal();
            self.send_plain(context, vec![(payload::V1_SA, proposal)]);
        }
    }

    fn receive(&mut self, message: &Message, context: &mut Context<'_>) {
        if message.carrier != Carrier::Udp(PORT) || matches!(self.state, Status::Failed(_)) {
            return;
        }
        if let Some(index) = self
            .heard
            .iter()
            .position(|octets| *octets == message.octets)
        {
            // The newest repeated means that our answer was lost. Were both ends to answer
            // repetitions, they would echo each other for ever: the initiator answers them only
            // for its last message, which nothing acknowledges.
            let answers = self.initiator != (self.state == Status::Waiting);
            if index + 1 == self.heard.len() && answers {
                self.resend.repeat(context);
            }
            return;
        }
        let Ok(view) = IsakmpView::new(&message.octets) else {
            return;
        };
        debug_assert!(message.octets.len() >= HEADER_OCTETS);
        let header = view.header();
        let known = self.step == 0
            || header.initiator == self.cookies.0
                && (header.responder == self.cookies.1 || self.cookies.1 == [0; 8]);
        if header.version != VERSION || !known || self.state != Status::Waiting {
            return;
        }
        if self.advance(&view, context).is_some() {
            self.heard.push(message.octets.clone());
        }
    }

    fn on_timeout(&mut self, context: &mut Context<'_>) {
        if self.state != Status::Waiting {
            return;
        }
        if !self.initiator && self.heard.is_empty() {
            // A responder that nobody spoke to has nothing to give up.
            self.waited += 1;
            if self.waited <= 4 * REPEATS {
                return;
            }
        } else if self.resend.after_timeout(context) {
            return;
        }
        self.state = Status::Failed(if self.unreadable {
            Failure::WrongPassphrase { code: Code::Silent }
        } else {
            Failure::PeerTimeout { code: Code::Silent }
        });
    }

    fn status(&self) -> Status {
        self.state.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::handshake::adverse::{agree, run, run_adverse, run_flipped};
    use crate::handshake::exchange::Outcome;
    use proptest::prelude::*;

    fn config(cipher: IkeCipher, hash: HashAlgorithm) -> IkeV1Config {
        IkeV1Config {
            preshared: b"tunnel secret".to_vec(),
            group: 2,
            cipher,
            hash,
            forward_secrecy: true,
            addresses: ([10, 0, 1, 20], [10, 0, 1, 1]),
        }
    }

    fn peers(config: &IkeV1Config) -> Vec<Box<dyn Peer>> {
        vec![
            Box::new(IkeV1Peer::initiator(config.clone())),
            Box::new(IkeV1Peer::responder(config.clone())),
        ]
    }

    #[test]
    fn nine_messages_give_both_ends_the_same_keys() {
        for (cipher, hash) in [
            (IkeCipher::Des, HashAlgorithm::Md5),
            (IkeCipher::TripleDes, HashAlgorithm::Md5),
            (IkeCipher::TripleDes, HashAlgorithm::Sha1),
            (IkeCipher::Aes128, HashAlgorithm::Sha1),
        ] {
            let (log, outcome, exchange) = run(peers(&config(cipher, hash)), 1);
            assert_eq!(log.len(), 9, "{cipher:?}");
            let Outcome::Established(secrets) = outcome else {
                panic!("{outcome:?}");
            };
            assert_eq!(
                secrets[&SecretName::TunnelForward].len(),
                cipher.key_octets() + hash.digest_octets()
            );
            assert_eq!(
                exchange.status(Party::Station),
                exchange.status(Party::Gateway)
            );
        }
    }

    #[test]
    fn another_key_is_noticed_in_the_fifth_message() {
        let ours = config(IkeCipher::TripleDes, HashAlgorithm::Sha1);
        let theirs = IkeV1Config {
            preshared: b"another secret".to_vec(),
            ..ours.clone()
        };
        let peers: Vec<Box<dyn Peer>> = vec![
            Box::new(IkeV1Peer::initiator(ours)),
            Box::new(IkeV1Peer::responder(theirs)),
        ];
        let (_, outcome, exchange) = run(peers, 1);
        assert!(matches!(outcome, Outcome::Failed(_)));
        let failure = Failure::WrongPassphrase { code: Code::Silent };
        assert_eq!(
            exchange.status(Party::Gateway),
            Some(Status::Failed(failure))
        );
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(12))]

        #[test]
        fn adversity_never_makes_ends_disagree(seed: u64, schedule in prop::collection::vec(any::<u8>(), 0..30)) {
            let config = config(IkeCipher::TripleDes, HashAlgorithm::Sha1);
            let (_, exchange) = run_adverse(peers(&config), seed, &schedule);
            prop_assert!(agree(&exchange, Party::Station, Party::Gateway));
        }

        #[test]
        fn one_lost_message_is_survived(seed: u64, lost in 0_usize..9) {
            let config = config(IkeCipher::TripleDes, HashAlgorithm::Sha1);
            let mut schedule = vec![2; lost];
            schedule.push(0);
            let (outcome, _) = run_adverse(peers(&config), seed, &schedule);
            let survived = matches!(outcome, Outcome::Established(_));
            prop_assert!(survived, "{:?}", outcome);
        }

        #[test]
        fn a_flipped_bit_never_makes_ends_disagree(index in 0_usize..9, octet in 0_usize..300, bit in 0_u8..8) {
            let config = config(IkeCipher::TripleDes, HashAlgorithm::Sha1);
            let (_, exchange) = run_flipped(peers(&config), 3, (index, octet, bit));
            prop_assert!(agree(&exchange, Party::Station, Party::Gateway));
        }
    }
}
