//! IKEv1 (RFC 2409): main mode with a pre-shared key, then quick mode; six and three messages.
//!
//! Takes an [`IkeV1Config`] at each end; gives ISAKMP messages and the keys of one ESP pair.
//! Never sends a notification in the clear: a wrong key shows as messages that cannot be read.

mod config;
mod keys;
mod nat;

use airtoll_wire::isakmp::{
    HEADER_OCTETS, IsakmpHeader, IsakmpRepr, IsakmpView, Payload, emit_message, emit_payloads,
    exchange, find_payload, flag, parse_payloads, payload,
};

pub use config::{IkeCipher, IkeV1Config};

use self::config::identity;
use self::keys::{Phase1, Said};
use crate::crypto::diffie_hellman::DiffieHellman;
use crate::exchange::{Context, Message, Party, Peer, SecretName, Secrets, Status};
use crate::failure::{Code, Failure};
use crate::octets::{equal, written};
use crate::resend::Resend;
use crate::sides::Sides;
use crate::tunnel::encapsulation::{carried, uncarried, way};

/// How often a message is repeated (pluto and strongSwan repeat five times).
const REPEATS: u8 = 5;
const VERSION: u8 = 0x10;
/// NO-PROPOSAL-CHOSEN (RFC 2408 section 3.14.1).
const NO_PROPOSAL_CHOSEN: u16 = 14;

/// Either end.
pub struct IkeV1Peer {
    config: IkeV1Config,
    initiator: bool,
    said: Said,
    dh: Option<DiffieHellman>,
    /// Whether the other end knows NAT traversal, whether a translator was found, and whether
    /// IKE moved to the port for that.
    aware: bool,
    nat: bool,
    floated: bool,
    phase1: Phase1,
    message_id: u32,
    quick_iv: Vec<u8>,
    quick_dh: Option<DiffieHellman>,
    quick_shared: Vec<u8>,
    quick_nonces: Sides<Vec<u8>>,
    spis: Sides<[u8; 4]>,
    /// The SA payload of quick mode's first message, and the identities of the tunnel.
    quick_offer: Vec<u8>,
    quick_identities: Vec<Vec<u8>>,
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
            quick_offer: Vec::new(),
            quick_identities: vec![
                identity(config.inner.initiator),
                identity(config.inner.responder),
            ],
            config,
            initiator,
            said: Said::default(),
            dh: None,
            aware: false,
            nat: false,
            floated: false,
            phase1: Phase1::default(),
            message_id: 0,
            quick_iv: Vec::new(),
            quick_dh: None,
            quick_shared: Vec::new(),
            quick_nonces: Sides::default(),
            spis: Sides::default(),
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
        let (carrier, octets) = carried(self.floated, &octets);
        self.resend.send(context, from, to, carrier, octets);
    }

    fn header(&self, exchange: u8, message_id: u32, flags: u8, next_payload: u8) -> IsakmpHeader {
        IsakmpHeader {
            initiator: self.said.cookies.initiator,
            responder: self.said.cookies.responder,
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

    /// Accepts the message that [`Self::open`] read: its last block is the next IV.
    fn accept(&mut self, view: &IsakmpView<'_>) {
        let block = self.config.cipher.block_octets();
        let body = view.body();
        *self.iv(view.header().exchange) = body[body.len() - block..].to_vec();
    }

    fn identity_payloads(&self, context: &mut Context<'_>) -> Vec<Payload> {
        let address = if self.initiator {
            self.config.addresses.initiator
        } else {
            self.config.addresses.responder
        };
        vec![
            (payload::V1_IDENTIFICATION, identity(address)),
            (
                payload::V1_HASH,
                self.phase1
                    .proof(context, &self.config, &self.said, self.initiator),
            ),
        ]
    }

    fn draw(&mut self, context: &mut Context<'_>) -> Vec<Payload> {
        let dh = DiffieHellman::draw(context, self.config.group);
        let public = dh.as_ref().map(|dh| dh.public(context)).unwrap_or_default();
        let nonce = context.random_octets(16);
        self.dh = dh;
        if self.initiator {
            self.said.public.initiator.clone_from(&public);
            self.said.nonces.initiator.clone_from(&nonce);
        } else {
            self.said.public.responder.clone_from(&public);
            self.said.nonces.responder.clone_from(&nonce);
        }
        let mut payloads = vec![
            (payload::V1_KEY_EXCHANGE, public),
            (payload::V1_NONCE, nonce),
        ];
        if self.aware {
            let way = way(self.config.addresses, self.initiator);
            payloads.extend(nat::discovery(context, self.config.hash, &self.said, way));
        }
        payloads
    }

    /// Offers, or chooses: the SA payload, and that we know NAT traversal.
    fn send_sa(&mut self, context: &mut Context<'_>, sa: Vec<u8>) {
        let mut payloads = vec![(payload::V1_SA, sa)];
        if self.config.nat_traversal && (self.initiator || self.aware) {
            payloads.push(nat::vendor());
        }
        self.send_plain(context, payloads);
    }

    /// A notification before there is a phase 1 to protect it (RFC 2409 section 5.7). Anyone could
    /// have sent it: it names why nothing comes of the exchange, and a refusal of the offer ends it.
    fn read_notification(&mut self, view: &IsakmpView<'_>) {
        let header = view.header();
        if header.flags & flag::ENCRYPTION != 0 {
            // An end with another key complains under that one.
            self.unreadable |= self.step >= 3;
            return;
        }
        let payloads = parse_payloads(header.next_payload, view.body()).unwrap_or_default();
        let kind = find_payload(&payloads, payload::V1_NOTIFICATION)
            .and_then(|body| Some(u16::from_be_bytes([*body.get(6)?, *body.get(7)?])));
        match kind {
            Some(NO_PROPOSAL_CHOSEN) if self.step == 1 => {
                let code = Code::Ike(NO_PROPOSAL_CHOSEN);
                self.state = Status::Failed(Failure::NothingInCommon { code });
            }
            Some(_) if self.step >= 3 => self.unreadable = true,
            _ => {}
        }
    }

    /// A quick-mode message after its hash payload (section 5.5).
    fn quick_payloads(&mut self, context: &mut Context<'_>) -> Option<Vec<Payload>> {
        let mut spi: [u8; 4] = context.random();
        // SPIs below 256 are reserved (RFC 4303 section 2.1).
        spi[0] |= 1;
        let nonce = context.random_octets(16);
        if self.initiator {
            self.spis.initiator = spi;
            self.quick_nonces.initiator.clone_from(&nonce);
        } else {
            self.spis.responder = spi;
            self.quick_nonces.responder.clone_from(&nonce);
        }
        let sa = if self.initiator {
            self.config.esp_proposal(spi, self.nat)
        } else {
            let (theirs, sa) = self.config.choose_esp(&self.quick_offer, spi, self.nat)?;
            self.spis.initiator = theirs;
            sa
        };
        let mut payloads = vec![(payload::V1_SA, sa), (payload::V1_NONCE, nonce)];
        if self.config.forward_secrecy {
            self.quick_dh = DiffieHellman::draw(context, self.config.group);
            let public = self
                .quick_dh
                .as_ref()
                .map(|dh| dh.public(context))
                .unwrap_or_default();
            payloads.push((payload::V1_KEY_EXCHANGE, public));
        }
        for identity in self.quick_identities.clone() {
            payloads.push((payload::V1_IDENTIFICATION, identity));
        }
        Some(payloads)
    }

    /// HASH(1) or HASH(2): over the message ID, the initiator's nonce in HASH(2), and the rest.
    fn quick_hash(&self, context: &mut Context<'_>, second: bool, rest: &[Payload]) -> Vec<u8> {
        let rest = written(|out| emit_payloads(rest, out));
        let nonce: &[u8] = if second {
            &self.quick_nonces.initiator
        } else {
            &[]
        };
        let id = self.message_id.to_be_bytes();
        self.prf(
            context,
            &self.phase1.authenticate.clone(),
            &[&id, nonce, &rest],
        )
    }

    fn third_hash(&self, context: &mut Context<'_>) -> Vec<u8> {
        let id = self.message_id.to_be_bytes();
        let parts: [&[u8]; 4] = [
            &[0],
            &id,
            &self.quick_nonces.initiator,
            &self.quick_nonces.responder,
        ];
        self.prf(context, &self.phase1.authenticate.clone(), &parts)
    }

    fn start_quick(&mut self, context: &mut Context<'_>, message_id: u32) {
        self.message_id = message_id;
        let iv = [&self.phase1.iv[..], &message_id.to_be_bytes()].concat();
        self.quick_iv = context.hash(self.config.hash, &[&iv]);
        self.quick_iv.truncate(self.config.cipher.block_octets());
    }

    fn read_quick(&mut self, context: &mut Context<'_>, payloads: &[Payload]) -> Option<()> {
        let sa = find_payload(payloads, payload::V1_SA)?;
        let nonce = find_payload(payloads, payload::V1_NONCE)?.to_vec();
        if self.initiator {
            let (theirs, _) = self.config.choose_esp(sa, self.spis.initiator, self.nat)?;
            (self.spis.responder, self.quick_nonces.responder) = (theirs, nonce);
        } else {
            self.quick_offer = sa.to_vec();
            self.quick_nonces.initiator = nonce;
            // The initiator's selectors are not narrowed.
            self.quick_identities = payloads
                .iter()
                .filter(|(kind, _)| *kind == payload::V1_IDENTIFICATION)
                .map(|(_, body)| body.clone())
                .collect();
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

    fn establish(&mut self, context: &mut Context<'_>) {
        let (shared, nonces) = (&self.quick_shared, &self.quick_nonces);
        let mut key = |spi| {
            self.phase1
                .keymat(context, &self.config, shared, spi, nonces)
        };
        let (forward, backward) = (key(self.spis.responder), key(self.spis.initiator));
        self.state = Status::Established(Secrets::from([
            (SecretName::TunnelForward, forward),
            (SecretName::TunnelBackward, backward),
            (
                SecretName::TunnelSpis,
                [self.spis.responder, self.spis.initiator].concat(),
            ),
        ]));
    }

    /// The first message and its answer: an SA each.
    fn read_sa(&mut self, view: &IsakmpView<'_>, context: &mut Context<'_>) -> Option<()> {
        let header = view.header();
        let payloads = parse_payloads(header.next_payload, view.body()).ok()?;
        let sa = find_payload(&payloads, payload::V1_SA)?;
        let chosen = self.config.choose(sa);
        self.aware = self.config.nat_traversal && nat::is_known(&payloads);
        if self.initiator {
            chosen?;
            self.said.cookies.responder = header.responder;
            let payloads = self.draw(context);
            self.send_plain(context, payloads);
            return Some(());
        }
        let Some(chosen) = chosen else {
            let code = Code::Ike(NO_PROPOSAL_CHOSEN);
            self.state = Status::Failed(Failure::NothingInCommon { code });
            return Some(());
        };
        self.said.cookies = Sides {
            initiator: header.initiator,
            responder: context.random(),
        };
        self.said.offer = sa.to_vec();
        self.send_sa(context, chosen);
        Some(())
    }

    /// Messages 3 and 4: public values and nonces.
    fn read_exchange(&mut self, view: &IsakmpView<'_>, context: &mut Context<'_>) -> Option<()> {
        let payloads = parse_payloads(view.header().next_payload, view.body()).ok()?;
        let public = find_payload(&payloads, payload::V1_KEY_EXCHANGE)?.to_vec();
        let nonce = find_payload(&payloads, payload::V1_NONCE)?.to_vec();
        if self.aware {
            let way = way(self.config.addresses, !self.initiator);
            let hash = self.config.hash;
            self.nat = nat::translated(context, hash, &self.said, &payloads, way);
        }
        if self.initiator {
            (self.said.public.responder, self.said.nonces.responder) = (public.clone(), nonce);
        } else {
            (self.said.public.initiator, self.said.nonces.initiator) = (public.clone(), nonce);
            let payloads = self.draw(context);
            self.send_plain(context, payloads);
        }
        let shared = self.dh.clone()?.shared(context, &public)?;
        self.phase1 = Phase1::derive(context, &self.config, &self.said, &shared);
        if self.initiator {
            self.floated = self.nat;
            let payloads = self.identity_payloads(context);
            self.send_sealed(context, exchange::IDENTITY_PROTECTION, &payloads);
        }
        Some(())
    }

    /// Messages 5 and 6: identities and proofs, after which quick mode begins.
    fn read_proof(&mut self, view: &IsakmpView<'_>, context: &mut Context<'_>) -> Option<()> {
        let payloads = self.open(context, view);
        let expected = self
            .phase1
            .proof(context, &self.config, &self.said, !self.initiator);
        let right = payloads.is_some_and(|payloads| {
            find_payload(&payloads, payload::V1_HASH).is_some_and(|hash| equal(hash, &expected))
        });
        if !right {
            self.unreadable = true;
            return None;
        }
        self.accept(view);
        if self.initiator {
            let message_id = u32::from_be_bytes(context.random());
            self.start_quick(context, message_id);
            let rest = self.quick_payloads(context)?;
            self.send_quick(context, false, rest);
        } else {
            let payloads = self.identity_payloads(context);
            self.send_sealed(context, exchange::IDENTITY_PROTECTION, &payloads);
        }
        Some(())
    }

    /// Quick mode's first two messages; the second one's hash covers the first one's nonce.
    fn read_quick_message(
        &mut self,
        view: &IsakmpView<'_>,
        context: &mut Context<'_>,
    ) -> Option<()> {
        if !self.initiator {
            self.start_quick(context, view.header().message_id);
        }
        let payloads = self.open(context, view)?;
        let (hash, rest) = split_hash(&payloads)?;
        let expected = self.quick_hash(context, self.initiator, rest);
        if !equal(hash, &expected) {
            return None;
        }
        self.accept(view);
        self.read_quick(context, rest)?;
        if self.initiator {
            let hash = self.third_hash(context);
            self.send_sealed(context, exchange::QUICK_MODE, &[(payload::V1_HASH, hash)]);
            self.establish(context);
            return Some(());
        }
        let own = self.quick_payloads(context)?;
        if self.config.forward_secrecy {
            self.read_quick_share(context, rest)?;
        }
        self.send_quick(context, true, own);
        Some(())
    }

    fn read_last(&mut self, view: &IsakmpView<'_>, context: &mut Context<'_>) -> Option<()> {
        let payloads = self.open(context, view)?;
        let expected = self.third_hash(context);
        if !equal(find_payload(&payloads, payload::V1_HASH)?, &expected) {
            return None;
        }
        self.accept(view);
        self.step += 1;
        self.establish(context);
        Some(())
    }

    /// Handles the next message of the conversation; `None` leaves everything as it was.
    fn advance(&mut self, view: &IsakmpView<'_>, context: &mut Context<'_>) -> Option<()> {
        let header = *view.header();
        let same = header.message_id == self.message_id;
        match (self.initiator, self.step, header.exchange) {
            (_, _, exchange::INFORMATIONAL) => {
                self.read_notification(view);
                None
            }
            (false, 0, exchange::IDENTITY_PROTECTION)
            | (true, 1, exchange::IDENTITY_PROTECTION) => self.read_sa(view, context),
            (false, 1, exchange::IDENTITY_PROTECTION)
            | (true, 2, exchange::IDENTITY_PROTECTION) => self.read_exchange(view, context),
            (false, 2, exchange::IDENTITY_PROTECTION)
            | (true, 3, exchange::IDENTITY_PROTECTION) => self.read_proof(view, context),
            (false, 3, exchange::QUICK_MODE) => self.read_quick_message(view, context),
            (true, 4, exchange::QUICK_MODE) if same => self.read_quick_message(view, context),
            (false, 4, exchange::QUICK_MODE) if same => self.read_last(view, context),
            _ => None,
        }
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
            self.said.cookies.initiator = context.random();
            let offer = self.config.proposal();
            self.said.offer.clone_from(&offer);
            self.send_sa(context, offer);
        }
    }

    fn receive(&mut self, message: &Message, context: &mut Context<'_>) {
        let Some((floated, octets)) = uncarried(message) else {
            return;
        };
        if matches!(self.state, Status::Failed(_)) {
            return;
        }
        if let Some(index) = self.heard.iter().position(|heard| heard == octets) {
            // The newest repeated means that our answer was lost. Were both ends to answer
            // repetitions, they would echo each other for ever: the initiator answers them only
            // for its last message, which nothing acknowledges.
            let answers = self.initiator != (self.state == Status::Waiting);
            if index + 1 == self.heard.len() && answers {
                self.resend.repeat(context);
            }
            return;
        }
        let Ok(view) = IsakmpView::new(octets) else {
            return;
        };
        debug_assert!(octets.len() >= HEADER_OCTETS);
        let header = view.header();
        let known = self.step == 0
            || header.initiator == self.said.cookies.initiator
                && (header.responder == self.said.cookies.responder
                    || self.said.cookies.responder == [0; 8]);
        if header.version != VERSION || !known || self.state != Status::Waiting {
            return;
        }
        let before = self.floated;
        // The responder answers where it was asked.
        self.floated |= floated && !self.initiator;
        if self.advance(&view, context).is_some() {
            self.heard.push(octets.to_vec());
        } else {
            self.floated = before;
        }
    }

    fn on_timeout(&mut self, context: &mut Context<'_>) {
        if self.state != Status::Waiting {
            return;
        }
        if !self.initiator && self.heard.is_empty() {
            // A responder without a first message has no exchange to abandon.
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
mod tests;
