//! IKEv2 (RFC 7296) with a pre-shared key: IKE_SA_INIT and IKE_AUTH, four messages.
//!
//! Takes an [`IkeV2Config`] at each end; gives ISAKMP messages and the keys of one ESP pair.
//! AES-CBC-128 with HMAC-SHA-1-96 or AES-GCM-128 protect IKE_AUTH, as they will protect ESP.

use airtoll_wire::isakmp::{
    IsakmpHeader, IsakmpRepr, IsakmpView, PORT, Payload, ProposalRepr, TransformRepr, emit_message,
    emit_payloads, exchange, find_payload, flag, parse_payloads, payload,
};

use super::diffie_hellman::DiffieHellman;
use super::exchange::{Carrier, Context, Message, Party, Peer, SecretName, Secrets, Status};
use super::failure::{Code, Failure};
use super::operation::HashAlgorithm;
use super::primitives::{equal, written};
use super::resend::Resend;

/// strongSwan's retransmit_tries.
const REPEATS: u8 = 5;
const VERSION: u8 = 0x20;
/// AUTHENTICATION_FAILED (RFC 7296 section 3.10.1).
const AUTHENTICATION_FAILED: u16 = 24;
/// NO_PROPOSAL_CHOSEN.
const NO_PROPOSAL_CHOSEN: u16 = 14;

/// What both ends agree on beforehand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IkeV2Config {
    /// Pre-shared key.
    pub preshared: Vec<u8>,
    /// IKE group: 14 or 19.
    pub group: u16,
    /// AES-GCM-128 with PRF-HMAC-SHA-256; otherwise AES-CBC-128 with HMAC-SHA-1.
    pub gcm: bool,
    /// The initiator's and the responder's IPv4 address, which are their identities.
    pub addresses: ([u8; 4], [u8; 4]),
}

impl IkeV2Config {
    const fn hash(&self) -> HashAlgorithm {
        if self.gcm {
            HashAlgorithm::Sha256
        } else {
            HashAlgorithm::Sha1
        }
    }

    const fn integrity_octets(&self) -> usize {
        if self.gcm { 0 } else { 20 }
    }

    /// Key and, with GCM, its four octets of salt (RFC 5282 section 7.1).
    const fn cipher_octets(&self) -> usize {
        if self.gcm { 20 } else { 16 }
    }

    /// Transforms of section 3.3.2; ESP's have no PRF and no group but say that sequence
    /// numbers are not extended.
    fn proposal(&self, spi: &[u8]) -> Vec<u8> {
        let transform = |kind, identifier, attributes| TransformRepr {
            kind,
            identifier,
            attributes,
        };
        let esp = !spi.is_empty();
        let cipher = if self.gcm { 20 } else { 12 };
        let mut transforms = vec![transform(1, cipher, vec![(14, 128)])];
        if !self.gcm {
            transforms.push(transform(3, 2, Vec::new()));
        }
        if esp {
            transforms.push(transform(5, 0, Vec::new()));
        } else {
            transforms.push(transform(2, if self.gcm { 5 } else { 2 }, Vec::new()));
            transforms.push(transform(4, self.group, Vec::new()));
        }
        let proposal = ProposalRepr {
            number: 1,
            protocol: if esp { 3 } else { 1 },
            spi: spi.to_vec(),
            transforms,
        };
        written(|out| proposal.emit(false, out))
    }
}

/// Keys of the IKE SA (section 2.14).
#[derive(Clone, Default)]
struct Keys {
    derive: Vec<u8>,
    integrity: (Vec<u8>, Vec<u8>),
    cipher: (Vec<u8>, Vec<u8>),
    proof: (Vec<u8>, Vec<u8>),
}

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
    child_spis: ([u8; 4], [u8; 4]),
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
            config,
            initiator,
            spis: ([0; 8], [0; 8]),
            dh: None,
            nonces: (Vec::new(), Vec::new()),
            init: (Vec::new(), Vec::new()),
            keys: None,
            child_spis: ([0; 4], [0; 4]),
            step: 0,
            heard: Vec::new(),
            resend: Resend::new(if initiator { REPEATS } else { 3 * REPEATS }),
            state: Status::Waiting,
        }
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

    fn header(&self, exchange: u8, message_id: u32) -> IsakmpHeader {
        IsakmpHeader {
            initiator: self.spis.0,
            responder: self.spis.1,
            next_payload: payload::ENCRYPTED,
            version: VERSION,
            exchange,
            flags: if self.initiator {
                flag::INITIATOR
            } else {
                flag::RESPONSE
            },
            message_id,
        }
    }

    fn send_init(&mut self, context: &mut Context<'_>) {
        let dh = DiffieHellman::draw(context, self.config.group);
        let public = dh.as_ref().map(|dh| dh.public(context)).unwrap_or_default();
        self.dh = dh;
        let nonce = context.random_octets(32);
        let mut key_exchange = self.config.group.to_be_bytes().to_vec();
        key_exchange.extend([0, 0]);
        key_exchange.extend(public);
        let payloads = vec![
            (payload::SA, self.config.proposal(&[])),
            (payload::KEY_EXCHANGE, key_exchange),
            (payload::NONCE, nonce.clone()),
        ];
        let message = IsakmpRepr {
            header: self.header(exchange::IKE_SA_INIT, 0),
            payloads,
        };
        let octets = written(|out| message.emit(out));
        if self.initiator {
            self.nonces.0 = nonce;
            self.init.0.clone_from(&octets);
        } else {
            self.nonces.1 = nonce;
            self.init.1.clone_from(&octets);
        }
        self.send(context, octets);
    }

    /// prf+ (section 2.13).
    fn expand(&self, context: &mut Context<'_>, key: &[u8], seed: &[u8], octets: usize) -> Vec<u8> {
        context.hkdf_expand(self.config.hash(), key, seed, octets)
    }

    fn derive(&mut self, context: &mut Context<'_>, shared: &[u8]) {
        let hash = self.config.hash();
        let nonces = [&self.nonces.0[..], &self.nonces.1].concat();
        let seed = context.hmac(hash, &nonces, &[shared]);
        let info = [&nonces[..], &self.spis.0, &self.spis.1].concat();
        let (prf, auth, cipher) = (
            hash.digest_octets(),
            self.config.integrity_octets(),
            self.config.cipher_octets(),
        );
        let all = self.expand(context, &seed, &info, 3 * prf + 2 * auth + 2 * cipher);
        let mut rest = &all[..];
        let mut take = |octets: usize| {
            let (part, tail) = rest.split_at(octets);
            rest = tail;
            part.to_vec()
        };
        self.keys = Some(Keys {
            derive: take(prf),
            integrity: (take(auth), take(auth)),
            cipher: (take(cipher), take(cipher)),
            proof: (take(prf), take(prf)),
        });
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
        let payloads = vec![
            (kind, identity(address)),
            (payload::AUTHENTICATION, auth),
            (payload::SA, self.config.proposal(&spi)),
            (payload::TS_INITIATOR, selector(self.config.addresses.0)),
            (payload::TS_RESPONDER, any_selector()),
        ];
        self.send_sealed(context, &payloads);
    }

    fn own_keys(&self) -> Option<(Vec<u8>, Vec<u8>)> {
        let keys = self.keys.as_ref()?;
        Some(if self.initiator {
            (keys.integrity.0.clone(), keys.cipher.0.clone())
        } else {
            (keys.integrity.1.clone(), keys.cipher.1.clone())
        })
    }

    fn their_keys(&self) -> Option<(Vec<u8>, Vec<u8>)> {
        let keys = self.keys.as_ref()?;
        Some(if self.initiator {
            (keys.integrity.1.clone(), keys.cipher.1.clone())
        } else {
            (keys.integrity.0.clone(), keys.cipher.0.clone())
        })
    }

    /// The encrypted payload (section 3.14; RFC 5282 for GCM).
    fn send_sealed(&mut self, context: &mut Context<'_>, payloads: &[Payload]) {
        let Some((integrity, cipher)) = self.own_keys() else {
            return;
        };
        let mut plain = written(|out| emit_payloads(payloads, out));
        let first = payloads.first().map_or(0, |(kind, _)| *kind);
        let header = self.header(exchange::IKE_AUTH, 1);
        let octets = if self.config.gcm {
            plain.push(0);
            let iv: [u8; 8] = context.random();
            let (key, salt) = cipher.split_at(16);
            // The header with its final length is associated data, so it is written first.
            let body = [&iv[..], &vec![0; plain.len() + 16]].concat();
            let draft = sealed_message(&header, first, &body);
            let covered = draft.len() - body.len();
            let nonce = [salt, &iv[..]].concat();
            let sealed = context.aes_gcm_seal(key, &nonce, &draft[..covered], &plain);
            sealed_message(&header, first, &[&iv[..], &sealed].concat())
        } else {
            let padding = (16 - (plain.len() + 1) % 16) % 16;
            plain.extend(std::iter::repeat_n(0, padding));
            plain.push(u8::try_from(padding).unwrap_or(0));
            let iv: [u8; 16] = context.random();
            let sealed = context.cbc_encrypt(&cipher, &iv, &plain);
            let body = [&iv[..], &sealed, &[0; 12]].concat();
            let mut octets = sealed_message(&header, first, &body);
            let at = octets.len() - 12;
            let icv = context.hmac(HashAlgorithm::Sha1, &integrity, &[&octets[..at]]);
            octets[at..].copy_from_slice(&icv[..12]);
            octets
        };
        self.send(context, octets);
    }

    fn open(&self, context: &mut Context<'_>, octets: &[u8]) -> Option<Vec<Payload>> {
        let (integrity, cipher) = self.their_keys()?;
        let view = IsakmpView::new(octets).ok()?;
        if view.header().next_payload != payload::ENCRYPTED {
            return None;
        }
        let first = *view.body().first()?;
        let body = view.body().get(4..)?;
        let covered = octets.len() - body.len();
        let plain = if self.config.gcm {
            let (iv, sealed) = body.split_at_checked(8)?;
            let (key, salt) = cipher.split_at(16);
            let nonce = [salt, iv].concat();
            context.aes_gcm_open(key, &nonce, &octets[..covered], sealed)?
        } else {
            let at = octets.len().checked_sub(12)?;
            let icv = context.hmac(HashAlgorithm::Sha1, &integrity, &[&octets[..at]]);
            if !equal(&icv[..12], &octets[at..]) {
                return None;
            }
            let (iv, sealed) = body[..body.len().checked_sub(12)?].split_at_checked(16)?;
            context.cbc_decrypt(&cipher, iv, sealed)?
        };
        let padding = usize::from(*plain.last()?);
        let payloads = plain.get(..plain.len().checked_sub(1 + padding)?)?;
        parse_payloads(first, payloads).ok()
    }

    fn establish(&mut self, context: &mut Context<'_>) {
        let Some(keys) = self.keys.clone() else {
            return;
        };
        let nonces = [&self.nonces.0[..], &self.nonces.1].concat();
        let length = self.config.cipher_octets() + self.config.integrity_octets();
        let all = self.expand(context, &keys.derive, &nonces, 2 * length);
        self.state = Status::Established(Secrets::from([
            (SecretName::TunnelForward, all[..length].to_vec()),
            (SecretName::TunnelBackward, all[length..].to_vec()),
            (
                SecretName::TunnelSpis,
                [self.child_spis.1, self.child_spis.0].concat(),
            ),
        ]));
    }

    /// Handles the next message; `None` leaves everything as it was.
    fn advance(&mut self, message: &Message, context: &mut Context<'_>) -> Option<()> {
        let view = IsakmpView::new(&message.octets).ok()?;
        let header = *view.header();
        match (self.initiator, self.step, header.exchange) {
            (false, 0, exchange::IKE_SA_INIT) | (true, 1, exchange::IKE_SA_INIT) => {
                let payloads = parse_payloads(header.next_payload, view.body()).ok()?;
                let public = find_payload(&payloads, payload::KEY_EXCHANGE)?.get(4..)?;
                let nonce = find_payload(&payloads, payload::NONCE)?.to_vec();
                if find_payload(&payloads, payload::SA)? != self.config.proposal(&[]) {
                    self.state = Status::Failed(Failure::NothingInCommon {
                        code: Code::Ike(NO_PROPOSAL_CHOSEN),
                    });
                    return Some(());
                }
                if self.initiator {
                    self.spis.1 = header.responder;
                    self.nonces.1 = nonce;
                    self.init.1.clone_from(&message.octets);
                } else {
                    self.spis = (header.initiator, context.random());
                    self.nonces.0 = nonce;
                    self.init.0.clone_from(&message.octets);
                    self.send_init(context);
                }
                let shared = self.dh.clone()?.shared(context, public)?;
                self.derive(context, &shared);
                if self.initiator {
                    self.send_auth(context);
                }
            }
            (false, 1, exchange::IKE_AUTH) | (true, 2, exchange::IKE_AUTH) => {
                let payloads = self.open(context, &message.octets)?;
                let failed = Failure::WrongPassphrase {
                    code: Code::Ike(AUTHENTICATION_FAILED),
                };
                if find_payload(&payloads, payload::NOTIFY).is_some() {
                    self.state = Status::Failed(failed);
                    return Some(());
                }
                let expected = self.proof(context, !self.initiator);
                let auth = find_payload(&payloads, payload::AUTHENTICATION)?.get(4..)?;
                let right = equal(auth, &expected);
                if right {
                    let proposal = find_payload(&payloads, payload::SA)?;
                    let spi = ProposalRepr::parse(proposal, false).ok()?.spi;
                    let spi = spi.try_into().ok()?;
                    if self.initiator {
                        self.child_spis.1 = spi;
                    } else {
                        self.child_spis.0 = spi;
                        self.send_auth(context);
                    }
                    self.establish(context);
                } else {
                    if !self.initiator {
                        let [high, low] = AUTHENTICATION_FAILED.to_be_bytes();
                        let notify = vec![(payload::NOTIFY, vec![0, 0, high, low])];
                        self.send_sealed(context, &notify);
                    }
                    self.state = Status::Failed(failed);
                }
            }
            _ => return None,
        }
        Some(())
    }
}

/// An identification payload: ID_IPV4_ADDR (section 3.5).
fn identity(address: [u8; 4]) -> Vec<u8> {
    let mut out = vec![1, 0, 0, 0];
    out.extend(address);
    out
}

/// A traffic selector of one IPv4 address, all protocols and ports (section 3.13).
fn selector(address: [u8; 4]) -> Vec<u8> {
    let mut out = vec![1, 0, 0, 0, 7, 0, 0, 16, 0, 0, 0xff, 0xff];
    out.extend(address);
    out.extend(address);
    out
}

/// A traffic selector of every IPv4 address.
fn any_selector() -> Vec<u8> {
    let mut out = vec![1, 0, 0, 0, 7, 0, 0, 16, 0, 0, 0xff, 0xff];
    out.extend([0; 4]);
    out.extend([0xff; 4]);
    out
}

fn sealed_message(header: &IsakmpHeader, first: u8, body: &[u8]) -> Vec<u8> {
    let length = u16::try_from(4 + body.len()).unwrap_or(u16::MAX);
    let mut payload = vec![first, 0];
    payload.extend(length.to_be_bytes());
    payload.extend(body);
    written(|out| emit_message(header, &payload, out))
}

impl Peer for IkeV2Peer {
    fn party(&self) -> Party {
        if self.initiator {
            Party::Station
        } else {
            Party::Gateway
        }
    }

    fn start(&mut self, context: &mut Context<'_>) {
        if self.initiator {
            self.spis.0 = context.random();
            self.send_init(context);
        }
    }

    fn receive(&mut self, message: &Message, context: &mut Context<'_>) {
        if message.carrier != Carrier::Udp(PORT) {
            return;
        }
        if let Some(index) = self
            .heard
            .iter()
            .position(|octets| *octets == message.octets)
        {
            // A repeated request gets the same answer (section 2.1).
            if index + 1 == self.heard.len() && !self.initiator {
                self.resend.repeat(context);
            }
            return;
        }
        if self.state == Status::Waiting && self.advance(message, context).is_some() {
            self.heard.push(message.octets.clone());
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
mod tests {
    use super::*;
    use crate::handshake::adverse::{agree, run, run_adverse, run_flipped};
    use crate::handshake::exchange::Outcome;
    use proptest::prelude::*;

    fn config(gcm: bool, group: u16) -> IkeV2Config {
        IkeV2Config {
            preshared: b"tunnel secret".to_vec(),
            group,
            gcm,
            addresses: ([10, 0, 1, 20], [10, 0, 1, 1]),
        }
    }

    fn peers(config: &IkeV2Config) -> Vec<Box<dyn Peer>> {
        vec![
            Box::new(IkeV2Peer::initiator(config.clone())),
            Box::new(IkeV2Peer::responder(config.clone())),
        ]
    }

    #[test]
    fn four_messages_give_both_ends_the_same_keys() {
        for gcm in [false, true] {
            for group in [14, 19] {
                let (log, outcome, exchange) = run(peers(&config(gcm, group)), 1);
                assert_eq!(log.len(), 4);
                assert!(matches!(outcome, Outcome::Established(_)), "{outcome:?}");
                assert_eq!(
                    exchange.status(Party::Station),
                    exchange.status(Party::Gateway)
                );
            }
        }
    }

    #[test]
    fn another_key_is_authentication_failed() {
        let ours = config(true, 19);
        let theirs = IkeV2Config {
            preshared: b"another secret".to_vec(),
            ..ours.clone()
        };
        let peers: Vec<Box<dyn Peer>> = vec![
            Box::new(IkeV2Peer::initiator(ours)),
            Box::new(IkeV2Peer::responder(theirs)),
        ];
        let failure = Failure::WrongPassphrase {
            code: Code::Ike(24),
        };
        let (log, outcome, exchange) = run(peers, 1);
        assert_eq!(outcome, Outcome::Failed(failure));
        assert_eq!(log.len(), 4);
        assert_eq!(
            exchange.status(Party::Station),
            Some(Status::Failed(failure))
        );
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(16))]

        #[test]
        fn adversity_never_makes_ends_disagree(seed: u64, schedule in prop::collection::vec(any::<u8>(), 0..20)) {
            let (_, exchange) = run_adverse(peers(&config(true, 19)), seed, &schedule);
            prop_assert!(agree(&exchange, Party::Station, Party::Gateway));
        }

        #[test]
        fn a_flipped_bit_never_makes_ends_disagree(gcm: bool, index in 0_usize..4, octet in 0_usize..300, bit in 0_u8..8) {
            let (_, exchange) = run_flipped(peers(&config(gcm, 19)), 3, (index, octet, bit));
            prop_assert!(agree(&exchange, Party::Station, Party::Gateway));
        }
    }
}
