//! IKEv2 (RFC 7296) with a pre-shared key: IKE_SA_INIT and IKE_AUTH, four messages.
//!
//! Takes an [`IkeV2Config`] at each end; gives ISAKMP messages and the keys of one ESP pair.
//! AES-CBC-128 with HMAC-SHA-1-96 or AES-GCM-128 protect IKE_AUTH, as they will protect ESP.
//! Never asks for cookies, certificates or further SAs.

mod config;
mod mobike;
mod nat;
mod sealed;

use airtoll_wire::isakmp::{
    IsakmpHeader, IsakmpRepr, IsakmpView, Payload, exchange, find_payload, flag, parse_payloads,
    payload,
};

pub use config::IkeV2Config;
pub use mobike::{IkeSa, MobikeInitiator, MobikeResponder};

use self::config::{
    AUTHENTICATION_FAILED, INVALID_KE_PAYLOAD, NO_PROPOSAL_CHOSEN, any_selector, identity,
    notifications, notified_error, notify, selector,
};
use self::mobike::MOBIKE_SUPPORTED;
use self::sealed::Keys;
use super::diffie_hellman::DiffieHellman;
use super::encapsulation::{carried, uncarried, way};
use super::exchange::{Context, Message, Party, Peer, SecretName, Secrets, Status};
use super::failure::{Code, Failure};
use super::primitives::{equal, written};
use super::resend::Resend;

/// strongSwan's retransmit_tries.
const REPEATS: u8 = 5;
const VERSION: u8 = 0x20;

/// Either end.
pub struct IkeV2Peer {
    config: IkeV2Config,
    initiator: bool,
    spis: ([u8; 8], [u8; 8]),
    dh: Option<DiffieHellman>,
    nonces: (Vec<u8>, Vec<u8>),
    /// The first message and its answer, which the proofs cover.
    init: (Vec<u8>, Vec<u8>),
    keys: Option<Keys>,
    /// Numbers of the proposals of IKE and of ESP that were chosen.
    numbers: (u8, u8),
    child_spis: ([u8; 4], [u8; 4]),
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
        Self {
            selectors: (selector(config.inner), any_selector()),
            config,
            initiator,
            spis: ([0; 8], [0; 8]),
            dh: None,
            nonces: (Vec::new(), Vec::new()),
            init: (Vec::new(), Vec::new()),
            keys: None,
            numbers: (1, 1),
            child_spis: ([0; 4], [0; 4]),
            nat: false,
            floated: false,
            step: 0,
            heard: Vec::new(),
            resend: Resend::new(if initiator { REPEATS } else { 3 * REPEATS }),
            state: Status::Waiting,
        }
    }

    fn send(&mut self, context: &mut Context<'_>, octets: &[u8]) {
        let (from, to) = parties(self.initiator);
        self.step += 1;
        let (carrier, octets) = carried(self.floated, octets);
        self.resend.send(context, from, to, carrier, octets);
    }

    fn send_init(&mut self, context: &mut Context<'_>) {
        let dh = DiffieHellman::draw(context, self.config.group);
        let public = dh.as_ref().map(|dh| dh.public(context)).unwrap_or_default();
        self.dh = dh;
        let nonce = context.random_octets(32);
        let mut key_exchange = self.config.group.to_be_bytes().to_vec();
        key_exchange.extend([0, 0]);
        key_exchange.extend(public);
        let mut payloads = vec![
            (payload::SA, self.config.proposal(self.numbers.0, &[])),
            (payload::KEY_EXCHANGE, key_exchange),
            (payload::NONCE, nonce.clone()),
        ];
        if self.config.nat_traversal || self.config.mobike {
            let (from, to) = way(self.config.addresses, self.initiator);
            payloads.extend(nat::detection(context, &self.spis, from, to));
        }
        let header = header(self.spis, self.initiator, exchange::IKE_SA_INIT, 0);
        let message = IsakmpRepr { header, payloads };
        let octets = written(|out| message.emit(out));
        if self.initiator {
            self.nonces.0 = nonce;
            self.init.0.clone_from(&octets);
        } else {
            self.nonces.1 = nonce;
            self.init.1.clone_from(&octets);
        }
        self.send(context, &octets);
    }

    /// The AUTH value of one end (section 2.15).
    fn proof(&self, context: &mut Context<'_>, initiator: bool) -> Vec<u8> {
        let Some(keys) = &self.keys else {
            return Vec::new();
        };
        let hash = self.config.hash();
        let (message, nonce, key, address) = if initiator {
            let address = self.config.addresses.0;
            (&self.init.0, &self.nonces.1, &keys.proof.0, address)
        } else {
            let address = self.config.addresses.1;
            (&self.init.1, &self.nonces.0, &keys.proof.1, address)
        };
        let mac = context.hmac(hash, key, &[&identity(address)]);
        let key = context.hmac(hash, &self.config.preshared, &[b"Key Pad for IKEv2"]);
        context.hmac(hash, &key, &[message, nonce, &mac])
    }

    fn send_auth(&mut self, context: &mut Context<'_>) {
        let mut spi: [u8; 4] = context.random();
        spi[0] |= 1;
        let (kind, address) = if self.initiator {
            self.child_spis.0 = spi;
            (payload::ID_INITIATOR, self.config.addresses.0)
        } else {
            self.child_spis.1 = spi;
            (payload::ID_RESPONDER, self.config.addresses.1)
        };
        // Method 2: shared key message integrity code.
        let mut auth = vec![2, 0, 0, 0];
        auth.extend(self.proof(context, self.initiator));
        let mut payloads = vec![
            (kind, identity(address)),
            (payload::AUTHENTICATION, auth),
            (payload::SA, self.config.proposal(self.numbers.1, &spi)),
            (payload::TS_INITIATOR, self.selectors.0.clone()),
            (payload::TS_RESPONDER, self.selectors.1.clone()),
        ];
        if self.config.mobike {
            payloads.push(notify(MOBIKE_SUPPORTED, &[]));
        }
        self.send_sealed(context, &payloads);
    }

    fn send_sealed(&mut self, context: &mut Context<'_>, payloads: &[Payload]) {
        let Some(keys) = self.keys.clone() else {
            return;
        };
        let header = header(self.spis, self.initiator, exchange::IKE_AUTH, 1);
        let octets = keys.seal(context, self.initiator, &header, payloads);
        self.send(context, &octets);
    }

    fn establish(&mut self, context: &mut Context<'_>, movable: bool) {
        let Some(keys) = self.keys.clone() else {
            return;
        };
        let (forward, backward) = keys.child(context, &self.config, &self.nonces);
        let mut secrets = Secrets::from([
            (SecretName::TunnelForward, forward),
            (SecretName::TunnelBackward, backward),
            (
                SecretName::TunnelSpis,
                [self.child_spis.1, self.child_spis.0].concat(),
            ),
        ]);
        if movable {
            let sa = IkeSa::new(keys, self.spis, self.config.addresses, secrets.clone());
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
        if u16::from_be_bytes(*group) != self.config.group {
            self.ask_for_group(context, header.initiator);
            return Some(());
        }
        self.numbers.0 = number;
        if self.initiator {
            self.spis.1 = header.responder;
            self.nonces.1 = nonce;
            self.init.1 = octets.to_vec();
        } else {
            self.spis.0 = header.initiator;
            self.nonces.0 = nonce;
            self.init.0 = octets.to_vec();
        }
        let mut aware = false;
        if self.config.nat_traversal || self.config.mobike {
            let (from, to) = way(self.config.addresses, !self.initiator);
            let translated = nat::translated(context, &self.spis, &payloads, from, to);
            self.nat = translated == Some(true);
            aware = translated.is_some();
        }
        if !self.initiator {
            self.spis.1 = context.random();
            self.send_init(context);
        }
        let shared = self.dh.clone()?.shared(context, public)?;
        let keys = Keys::derive(context, &self.config, &shared, &self.nonces, &self.spis);
        self.keys = Some(keys);
        if self.initiator {
            // Section 2.23; RFC 4555 section 3.3 for a tunnel that may move.
            self.floated = self.nat || (self.config.mobike && aware);
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
        let message = IsakmpRepr {
            header: header((initiator, [0; 8]), false, exchange::IKE_SA_INIT, 0),
            payloads: vec![notify(INVALID_KE_PAYLOAD, &group)],
        };
        let (from, to) = parties(false);
        let (carrier, octets) = carried(self.floated, &written(|out| message.emit(out)));
        self.resend.send(context, from, to, carrier, octets);
    }

    fn read_auth(&mut self, octets: &[u8], context: &mut Context<'_>) -> Option<()> {
        let payloads = self.keys.clone()?.open(context, !self.initiator, octets)?;
        let failed = |code| Failure::WrongPassphrase {
            code: Code::Ike(code),
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
        let expected = self.proof(context, !self.initiator);
        let auth = find_payload(&payloads, payload::AUTHENTICATION)?.get(4..)?;
        if !equal(auth, &expected) {
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
            self.child_spis.1 = spi;
        } else {
            self.child_spis.0 = spi;
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

    /// Handles the next message; `None` leaves everything as it was.
    fn advance(&mut self, octets: &[u8], context: &mut Context<'_>) -> Option<()> {
        let exchange = IsakmpView::new(octets).ok()?.header().exchange;
        match (self.initiator, self.step, exchange) {
            (false, 0, exchange::IKE_SA_INIT) | (true, 1, exchange::IKE_SA_INIT) => {
                self.read_init(octets, context)
            }
            (false, 1, exchange::IKE_AUTH) | (true, 2, exchange::IKE_AUTH) => {
                self.read_auth(octets, context)
            }
            _ => None,
        }
    }
}

/// Sender and receiver.
const fn parties(initiator: bool) -> (Party, Party) {
    if initiator {
        (Party::Station, Party::Gateway)
    } else {
        (Party::Gateway, Party::Station)
    }
}

/// The header of a message that answers (the responder's) or asks (the initiator's).
const fn header(
    spis: ([u8; 8], [u8; 8]),
    initiator: bool,
    exchange: u8,
    message_id: u32,
) -> IsakmpHeader {
    IsakmpHeader {
        initiator: spis.0,
        responder: spis.1,
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
        parties(self.initiator).0
    }

    fn start(&mut self, context: &mut Context<'_>) {
        if self.initiator {
            self.spis.0 = context.random();
            self.send_init(context);
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
        if self.state == Status::Waiting && self.advance(octets, context).is_some() {
            self.heard.push(octets.to_vec());
        } else {
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
