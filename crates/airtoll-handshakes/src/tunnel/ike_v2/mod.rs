//! IKEv2 (RFC 7296) with a pre-shared key or certificates: IKE_SA_INIT and IKE_AUTH, four messages. A second
//! key exchange adds IKE_INTERMEDIATE, two messages more (RFC 9242, RFC 9370).
//!
//! Takes an [`IkeV2Config`] at each end; gives ISAKMP messages and the keys of one ESP pair.
//! AES-CBC-128 with HMAC-SHA-1-96 or AES-GCM-128 protect IKE_AUTH, as they will protect ESP.
//! Never asks for cookies or further SAs.

mod agreement;
mod certificates;
mod config;
mod fragments;
mod mobike;
mod nat;
mod sealed;

use airtoll_wire::isakmp::{
    IsakmpHeader, IsakmpRepr, IsakmpView, Payload, exchange, find_payload, flag, parse_payloads,
    payload,
};

pub use config::IkeV2Config;
pub use mobike::{IkeSa, MobikeInitiator, MobikeResponder};

use self::agreement::Agreement;
use self::certificates::Certificates;
use self::config::{
    AUTHENTICATION_FAILED, FRAGMENTATION_SUPPORTED, INTERMEDIATE_EXCHANGE_SUPPORTED,
    INVALID_KE_PAYLOAD, NO_PROPOSAL_CHOSEN, any_selector, identity, notifications, notified_error,
    notify, selector,
};
use self::fragments::{Gathered, Whole, sealed};
use self::mobike::MOBIKE_SUPPORTED;
use self::sealed::{ChildKeys, Keys, Wrapping};
use crate::exchange::{Context, Message, Party, Peer, SecretName, Secrets, Status};
use crate::failure::{Code, Failure};
use crate::octets::{equal, written};
use crate::resend::Resend;
use crate::sides::{Sides, Way};
use crate::tunnel::encapsulation::{carried, uncarried, way};

/// strongSwan's retransmit_tries.
const REPEATS: u8 = 5;
const VERSION: u8 = 0x20;

/// Either end.
pub struct IkeV2Peer {
    config: IkeV2Config,
    certificates: Option<Certificates>,
    /// Bodies of the identification payloads of initiator and responder.
    identities: (Vec<u8>, Vec<u8>),
    initiator: bool,
    spis: Sides<[u8; 8]>,
    agreement: Option<Agreement>,
    nonces: Sides<Vec<u8>>,
    /// The first message and its answer, which the proofs cover.
    init: (Vec<u8>, Vec<u8>),
    keys: Option<Keys>,
    /// Chained codes over IKE_INTERMEDIATE of initiator and responder (IntAuth, RFC 9242 section 3.3.2);
    /// empty without that exchange.
    intermediate: (Vec<u8>, Vec<u8>),
    /// Whether both ends take fragments (RFC 7383).
    fragments: bool,
    gathered: Gathered,
    /// Numbers of the proposals of IKE and of ESP that were chosen.
    numbers: (u8, u8),
    child_spis: Sides<[u8; 4]>,
    /// Traffic selectors as the initiator sent them.
    selectors: (Vec<u8>, Vec<u8>),
    /// Whether a translator was found, and whether IKE moved to the port for that.
    nat: bool,
    floated: bool,
    step: u8,
    heard: Vec<Vec<u8>>,
    resend: Resend,
    state: Status,
}

impl IkeV2Peer {
    /// The end that speaks first.
    #[must_use]
    pub fn initiator(config: IkeV2Config) -> Self {
        Self::new(config, true)
    }

    /// The end that answers.
    #[must_use]
    pub fn responder(config: IkeV2Config) -> Self {
        Self::new(config, false)
    }

    fn new(config: IkeV2Config, initiator: bool) -> Self {
        let certificates = config
            .chain
            .map(|chain| Certificates::new(chain, initiator, config.rogue));
        let (a, b) = (config.addresses.initiator, config.addresses.responder);
        let mut identities = (identity(a), identity(b));
        if let Some(certificates) = &certificates {
            *(if initiator {
                &mut identities.0
            } else {
                &mut identities.1
            }) = certificates.identity();
        }
        Self {
            selectors: (selector(config.inner), any_selector()),
            certificates,
            identities,
            config,
            initiator,
            spis: Sides::default(),
            agreement: None,
            nonces: Sides::default(),
            init: (Vec::new(), Vec::new()),
            keys: None,
            intermediate: (Vec::new(), Vec::new()),
            fragments: false,
            gathered: Gathered::default(),
            numbers: (1, 1),
            child_spis: Sides::default(),
            nat: false,
            floated: false,
            step: 0,
            heard: Vec::new(),
            resend: Resend::new(if initiator { REPEATS } else { 3 * REPEATS }),
            state: Status::Waiting,
        }
    }

    fn send(&mut self, context: &mut Context<'_>, octets: &[u8]) {
        let Way { from, to } = parties(self.initiator);
        self.step += 1;
        let (carrier, octets) = carried(self.floated, octets);
        self.resend.send(context, from, to, carrier, octets);
    }

    /// The key exchange payload of this transform; `None` where the other end's value is wrong.
    fn key_exchange(
        &mut self,
        context: &mut Context<'_>,
        transform: u16,
        asked: Option<&[u8]>,
    ) -> Option<Payload> {
        let (agreement, value) = match asked {
            None => Agreement::asked(context, transform)?,
            Some(asked) => Agreement::answered(context, transform, asked)?,
        };
        self.agreement = Some(agreement);
        let body = [&transform.to_be_bytes()[..], &[0, 0], &value].concat();
        Some((payload::KEY_EXCHANGE, body))
    }

    /// The answer to the other end's value, or the question.
    fn send_init(&mut self, context: &mut Context<'_>, asked: Option<&[u8]>) -> Option<()> {
        let key_exchange = self.key_exchange(context, self.config.group, asked)?;
        let nonce = context.random_octets(32);
        let mut payloads = vec![
            (payload::SA, self.config.proposal(self.numbers.0, &[])),
            key_exchange,
            (payload::NONCE, nonce.clone()),
        ];
        if self.config.fragment_octets.is_some() && (self.initiator || self.fragments) {
            payloads.push(notify(FRAGMENTATION_SUPPORTED, &[]));
        }
        if self.config.additional.is_some() {
            payloads.push(notify(INTERMEDIATE_EXCHANGE_SUPPORTED, &[]));
        }
        if let Some(certificates) = &self.certificates {
            payloads.push(Certificates::hashes());
            if !self.initiator {
                payloads.push(certificates.request(context));
            }
        }
        if self.config.nat_traversal || self.config.mobike {
            let way = way(self.config.addresses, self.initiator);
            payloads.extend(nat::detection(context, &self.spis, way));
        }
        let header = header(self.spis, self.initiator, exchange::IKE_SA_INIT, 0);
        let message = IsakmpRepr { header, payloads };
        let octets = written(|out| message.emit(out));
        if self.initiator {
            self.nonces.initiator = nonce;
            self.init.0.clone_from(&octets);
        } else {
            self.nonces.responder = nonce;
            self.init.1.clone_from(&octets);
        }
        self.send(context, &octets);
        Some(())
    }

    /// Octets that one end's proof covers: its first message, the other's nonce, its identity and all of
    /// IKE_INTERMEDIATE (section 2.15; RFC 9242 section 3.3).
    fn signed(&self, context: &mut Context<'_>, keys: &Keys, initiator: bool) -> Vec<u8> {
        let (identity, (message, nonce, key)) = if initiator {
            let covered = (&self.init.0, &self.nonces.responder, &keys.proof.initiator);
            (&self.identities.0, covered)
        } else {
            let covered = (&self.init.1, &self.nonces.initiator, &keys.proof.responder);
            (&self.identities.1, covered)
        };
        let mac = context.hmac(self.config.hash(), key, &[identity]);
        let mut covered = [&message[..], nonce, &mac].concat();
        if self.config.additional.is_some() {
            covered.extend(&self.intermediate.0);
            covered.extend(&self.intermediate.1);
            covered.extend(self.last_message_id().to_be_bytes());
        }
        covered
    }

    /// The shared key message integrity code of one end (section 2.15).
    fn code(&self, context: &mut Context<'_>, covered: &[u8]) -> Vec<u8> {
        let hash = self.config.hash();
        let key = context.hmac(hash, &self.config.preshared, &[b"Key Pad for IKEv2"]);
        context.hmac(hash, &key, &[covered])
    }

    /// Whether the other end proved who it is.
    fn proved(&mut self, context: &mut Context<'_>, payloads: &[Payload]) -> Option<bool> {
        let keys = self.keys.clone()?;
        let Some(certificates) = &self.certificates else {
            let covered = self.signed(context, &keys, !self.initiator);
            let expected = self.code(context, &covered);
            let auth = find_payload(payloads, payload::AUTHENTICATION)?.get(4..)?;
            return Some(equal(auth, &expected));
        };
        let kind = if self.initiator {
            payload::ID_RESPONDER
        } else {
            payload::ID_INITIATOR
        };
        let theirs = find_payload(payloads, kind)?.to_vec();
        if self.initiator {
            self.identities.1.clone_from(&theirs);
        } else {
            self.identities.0.clone_from(&theirs);
        }
        let covered = self.signed(context, &keys, !self.initiator);
        Some(certificates.accepts(context, payloads, &theirs, &covered))
    }

    fn send_auth(&mut self, context: &mut Context<'_>) {
        let mut spi: [u8; 4] = context.random();
        spi[0] |= 1;
        let (kind, identity) = if self.initiator {
            self.child_spis.initiator = spi;
            (payload::ID_INITIATOR, self.identities.0.clone())
        } else {
            self.child_spis.responder = spi;
            (payload::ID_RESPONDER, self.identities.1.clone())
        };
        let Some(keys) = self.keys.clone() else {
            return;
        };
        let covered = self.signed(context, &keys, self.initiator);
        let mut payloads = vec![(kind, identity)];
        let auth = if let Some(certificates) = &self.certificates {
            payloads.extend(certificates.payloads());
            if self.initiator {
                payloads.push(certificates.request(context));
            }
            certificates.proof(context, &covered)
        } else {
            // Method 2: shared key message integrity code.
            [&[2, 0, 0, 0], &self.code(context, &covered)[..]].concat()
        };
        payloads.extend([
            (payload::AUTHENTICATION, auth),
            (payload::SA, self.config.proposal(self.numbers.1, &spi)),
            (payload::TS_INITIATOR, self.selectors.0.clone()),
            (payload::TS_RESPONDER, self.selectors.1.clone()),
        ]);
        if self.config.mobike {
            payloads.push(notify(MOBIKE_SUPPORTED, &[]));
        }
        self.send_sealed(context, &payloads);
    }

    /// Message ID of IKE_AUTH.
    const fn last_message_id(&self) -> u32 {
        if self.config.additional.is_some() {
            2
        } else {
            1
        }
    }

    /// Sends a message of IKE_AUTH.
    fn send_sealed(&mut self, context: &mut Context<'_>, payloads: &[Payload]) {
        let id = self.last_message_id();
        self.send_inside(context, exchange::IKE_AUTH, id, payloads);
    }

    /// Sends an encrypted message, in fragments where both ends take them; gives what a proof covers.
    fn send_inside(
        &mut self,
        context: &mut Context<'_>,
        exchange: u8,
        message_id: u32,
        payloads: &[Payload],
    ) -> Vec<u8> {
        let Some(keys) = self.keys.clone() else {
            return Vec::new();
        };
        let header = header(self.spis, self.initiator, exchange, message_id);
        let limit = self.config.fragment_octets.filter(|_| self.fragments);
        let outgoing = sealed(
            context,
            &keys,
            self.initiator,
            &header,
            payloads,
            limit,
            self.floated,
        );
        let Way { from, to } = parties(self.initiator);
        for (index, octets) in outgoing.messages.iter().enumerate() {
            if index == 0 {
                self.send(context, octets);
            } else {
                let (carrier, octets) = carried(self.floated, octets);
                self.resend.send_on(context, from, to, carrier, octets);
            }
        }
        outgoing.covered
    }

    /// Asks for, or answers, the second key exchange (RFC 9370 section 2.2.2).
    fn send_intermediate(&mut self, context: &mut Context<'_>, asked: Option<&[u8]>) -> Option<()> {
        let transform = self.config.additional?.transform();
        let key_exchange = self.key_exchange(context, transform, asked)?;
        let covered = self.send_inside(context, exchange::IKE_INTERMEDIATE, 1, &[key_exchange]);
        self.cover(context, self.initiator, &covered)
    }

    /// Remembers a message of IKE_INTERMEDIATE for the proofs.
    fn cover(&mut self, context: &mut Context<'_>, initiator: bool, covered: &[u8]) -> Option<()> {
        let keys = self.keys.as_ref()?;
        let hash = self.config.hash();
        if initiator {
            self.intermediate.0 = context.hmac(hash, &keys.proof.initiator, &[covered]);
        } else {
            self.intermediate.1 = context.hmac(hash, &keys.proof.responder, &[covered]);
        }
        Some(())
    }

    fn read_intermediate(&mut self, whole: &Whole, context: &mut Context<'_>) -> Option<()> {
        let payloads = parse_payloads(whole.first, &whole.plain).ok()?;
        let id = exchange::IKE_INTERMEDIATE;
        let header = header(self.spis, !self.initiator, id, 1);
        let (group, rest) =
            find_payload(&payloads, payload::KEY_EXCHANGE)?.split_first_chunk::<2>()?;
        let value = rest.get(2..)?;
        if u16::from_be_bytes(*group) != self.config.additional?.transform() {
            return None;
        }
        let covered = Wrapping::covered(whole.first, &header, &whole.plain);
        self.cover(context, !self.initiator, &covered)?;
        if !self.initiator {
            self.send_intermediate(context, Some(value))?;
        }
        let shared = self.agreement.as_ref()?.shared(context, value)?;
        let keys = self.keys.as_ref()?;
        let keys = keys.updated(context, &self.config, &shared, &self.nonces, &self.spis);
        self.keys = Some(keys);
        if self.initiator {
            self.send_auth(context);
        }
        Some(())
    }

    fn establish(&mut self, context: &mut Context<'_>, movable: bool) {
        let Some(keys) = self.keys.clone() else {
            return;
        };
        let ChildKeys { forward, backward } = keys.child(context, &self.config, &self.nonces);
        let mut secrets = Secrets::from([
            (SecretName::TunnelForward, forward),
            (SecretName::TunnelBackward, backward),
            (
                SecretName::TunnelSpis,
                [self.child_spis.responder, self.child_spis.initiator].concat(),
            ),
        ]);
        if movable {
            let next = self.last_message_id() + 1;
            let sa = IkeSa::new(
                keys,
                self.spis,
                self.config.addresses,
                next,
                secrets.clone(),
            );
            secrets.insert(SecretName::IkeSa, sa.to_octets());
        }
        self.state = Status::Established(secrets);
    }

    fn read_init(&mut self, octets: &[u8], context: &mut Context<'_>) -> Option<()> {
        let view = IsakmpView::new(octets).ok()?;
        let header = *view.header();
        let payloads = parse_payloads(header.next_payload, view.body()).ok()?;
        if let (true, Some(error)) = (self.initiator, notified_error(&payloads)) {
            let code = Code::Ike(error);
            self.state = Status::Failed(Failure::NothingInCommon { code });
            return Some(());
        }
        let (group, rest) =
            find_payload(&payloads, payload::KEY_EXCHANGE)?.split_first_chunk::<2>()?;
        let public = rest.get(2..)?;
        let nonce = find_payload(&payloads, payload::NONCE)?.to_vec();
        let offer = find_payload(&payloads, payload::SA)?;
        let Some((number, _)) = self.config.chosen(offer, false) else {
            let code = Code::Ike(NO_PROPOSAL_CHOSEN);
            self.state = Status::Failed(Failure::NothingInCommon { code });
            return Some(());
        };
        let announced = |wanted: u16| notifications(&payloads).any(|(kind, _)| kind == wanted);
        if self.config.additional.is_some() && !announced(INTERMEDIATE_EXCHANGE_SUPPORTED) {
            let code = Code::Ike(NO_PROPOSAL_CHOSEN);
            self.state = Status::Failed(Failure::NothingInCommon { code });
            return Some(());
        }
        self.fragments =
            self.config.fragment_octets.is_some() && announced(FRAGMENTATION_SUPPORTED);
        if u16::from_be_bytes(*group) != self.config.group {
            self.ask_for_group(context, header.initiator);
            return Some(());
        }
        self.numbers.0 = number;
        if self.initiator {
            self.spis.responder = header.responder;
            self.nonces.responder = nonce;
            self.init.1 = octets.to_vec();
        } else {
            self.spis.initiator = header.initiator;
            self.nonces.initiator = nonce;
            self.init.0 = octets.to_vec();
        }
        let mut aware = false;
        if self.config.nat_traversal || self.config.mobike {
            let way = way(self.config.addresses, !self.initiator);
            let translated = nat::translated(context, &self.spis, &payloads, way);
            self.nat = translated == Some(true);
            aware = translated.is_some();
        }
        if !self.initiator {
            self.spis.responder = context.random();
            self.send_init(context, Some(public))?;
        }
        let shared = self.agreement.as_ref()?.shared(context, public)?;
        let keys = Keys::derive(context, &self.config, &shared, &self.nonces, &self.spis);
        self.keys = Some(keys);
        if self.initiator {
            // Section 2.23; RFC 4555 section 3.3 for a tunnel that may move.
            self.floated = self.nat || (self.config.mobike && aware);
            if self.config.additional.is_some() {
                return self.send_intermediate(context, None);
            }
            self.send_auth(context);
        }
        Some(())
    }

    /// The initiator guessed another group than the one that was chosen (section 1.2): it is
    /// told, and begins again.
    fn ask_for_group(&mut self, context: &mut Context<'_>, initiator: [u8; 8]) {
        if self.initiator {
            return;
        }
        let group = self.config.group.to_be_bytes();
        let spis = Sides {
            initiator,
            responder: [0; 8],
        };
        let message = IsakmpRepr {
            header: header(spis, false, exchange::IKE_SA_INIT, 0),
            payloads: vec![notify(INVALID_KE_PAYLOAD, &group)],
        };
        let Way { from, to } = parties(false);
        let (carrier, octets) = carried(self.floated, &written(|out| message.emit(out)));
        self.resend.send(context, from, to, carrier, octets);
    }

    fn read_auth(&mut self, whole: &Whole, context: &mut Context<'_>) -> Option<()> {
        let payloads = parse_payloads(whole.first, &whole.plain).ok()?;
        let certificates = self.certificates.is_some();
        let failed = |code| {
            let code = Code::Ike(code);
            if certificates {
                Failure::WrongCertificate { code }
            } else {
                Failure::WrongPassphrase { code }
            }
        };
        if let Some(error) = notified_error(&payloads) {
            self.state = Status::Failed(if error == AUTHENTICATION_FAILED {
                failed(error)
            } else {
                let code = Code::Ike(error);
                Failure::NothingInCommon { code }
            });
            return Some(());
        }
        if !self.proved(context, &payloads)? {
            if !self.initiator {
                self.send_sealed(context, &[notify(AUTHENTICATION_FAILED, &[])]);
            }
            self.state = Status::Failed(failed(AUTHENTICATION_FAILED));
            return Some(());
        }
        let offer = find_payload(&payloads, payload::SA)?;
        let Some((number, spi)) = self.config.chosen(offer, true) else {
            if !self.initiator {
                self.send_sealed(context, &[notify(NO_PROPOSAL_CHOSEN, &[])]);
            }
            let code = Code::Ike(NO_PROPOSAL_CHOSEN);
            self.state = Status::Failed(Failure::NothingInCommon { code });
            return Some(());
        };
        let spi = spi.try_into().ok()?;
        let movable = self.config.mobike
            && notifications(&payloads).any(|(kind, _)| kind == MOBIKE_SUPPORTED);
        if self.initiator {
            self.child_spis.responder = spi;
        } else {
            self.child_spis.initiator = spi;
            self.numbers.1 = number;
            // The initiator's selectors are not narrowed.
            self.selectors = (
                find_payload(&payloads, payload::TS_INITIATOR)?.to_vec(),
                find_payload(&payloads, payload::TS_RESPONDER)?.to_vec(),
            );
            self.send_auth(context);
        }
        self.establish(context, movable);
        Some(())
    }

    /// The exchange that the next message belongs to.
    const fn expected(&self) -> u8 {
        // The initiator has sent one message more than it has had answered.
        match (self.initiator, self.step, self.config.additional.is_some()) {
            (true, 0 | 1, _) | (false, 0, _) => exchange::IKE_SA_INIT,
            (true, 2, true) | (false, 1, true) => exchange::IKE_INTERMEDIATE,
            _ => exchange::IKE_AUTH,
        }
    }

    /// Handles the next message; `None` leaves everything but the fragments of a message as it was.
    fn advance(&mut self, octets: &[u8], context: &mut Context<'_>) -> Option<()> {
        let exchange = IsakmpView::new(octets).ok()?.header().exchange;
        if exchange != self.expected() {
            return None;
        }
        if exchange == exchange::IKE_SA_INIT {
            self.read_init(octets, context)?;
            self.heard.push(octets.to_vec());
            return Some(());
        }
        let keys = self.keys.clone()?;
        let whole = self.gathered.add(context, &keys, !self.initiator, octets)?;
        if exchange == exchange::IKE_INTERMEDIATE {
            self.read_intermediate(&whole, context)?;
        } else {
            self.read_auth(&whole, context)?;
        }
        // The first fragment alone asks for the answer again (RFC 7383 section 2.6.1).
        self.heard.push(whole.start);
        Some(())
    }
}

/// Sender and receiver.
const fn parties(initiator: bool) -> Way<Party> {
    let (from, to) = if initiator {
        (Party::Station, Party::Gateway)
    } else {
        (Party::Gateway, Party::Station)
    };
    Way { from, to }
}

/// The header of a message that answers (the responder's) or asks (the initiator's).
const fn header(
    spis: Sides<[u8; 8]>,
    initiator: bool,
    exchange: u8,
    message_id: u32,
) -> IsakmpHeader {
    IsakmpHeader {
        initiator: spis.initiator,
        responder: spis.responder,
        next_payload: payload::ENCRYPTED,
        version: VERSION,
        exchange,
        flags: if initiator {
            flag::INITIATOR
        } else {
            flag::RESPONSE
        },
        message_id,
    }
}

impl Peer for IkeV2Peer {
    fn party(&self) -> Party {
        parties(self.initiator).from
    }

    fn start(&mut self, context: &mut Context<'_>) {
        if self.initiator {
            self.spis.initiator = context.random();
            if self.send_init(context, None).is_none() {
                let code = Code::Ike(NO_PROPOSAL_CHOSEN);
                self.state = Status::Failed(Failure::NothingInCommon { code });
            }
        }
    }

    fn receive(&mut self, message: &Message, context: &mut Context<'_>) {
        let Some((floated, octets)) = uncarried(message) else {
            return;
        };
        if let Some(index) = self.heard.iter().position(|heard| heard == octets) {
            // A repeated request gets the same answer (section 2.1).
            if index + 1 == self.heard.len() && !self.initiator {
                self.resend.repeat(context);
            }
            return;
        }
        let before = self.floated;
        // The responder answers where it was asked.
        self.floated |= floated && !self.initiator;
        if self.state != Status::Waiting || self.advance(octets, context).is_none() {
            self.floated = before;
        }
    }

    fn on_timeout(&mut self, context: &mut Context<'_>) {
        if self.state != Status::Waiting {
            return;
        }
        // Only requests are repeated on time-outs (section 2.1).
        let goes_on = if self.initiator {
            self.resend.after_timeout(context)
        } else {
            self.resend.wait()
        };
        if !goes_on {
            self.state = Status::Failed(Failure::PeerTimeout { code: Code::Silent });
        }
    }

    fn status(&self) -> Status {
        self.state.clone()
    }
}

#[cfg(test)]
mod tests;
