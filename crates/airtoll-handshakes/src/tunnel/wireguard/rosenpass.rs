//! Rosenpass before WireGuard's handshake: the post-quantum exchange that gives the pre-shared key (Rosenpass
//! white paper, sections 2.2 and 2.4; field lengths as in `rosenpass/src/msgs.rs` of its source).
//!
//! Takes the configuration of a WireGuard end; gives InitHello, RespHello, InitConf and EmptyData, then
//! WireGuard's own messages under the new key. A model by size: ML-KEM-512 takes the place of Kyber-512, whose
//! octets are as many, Classic McEliece's ciphertexts, the encrypted identity and the biscuit are random octets,
//! and Classic McEliece computes nothing. The initiator waits for EmptyData before it uses the key.

use super::{WireGuardConfig, WireGuardInitiator, WireGuardResponder};
use crate::crypto::kem::{Encapsulated, KemKey};
use crate::exchange::{Carrier, Context, Message, Party, Peer, Secrets, Status};
use crate::failure::{Code, Failure};
use crate::octets::equal;
use crate::operation::{HashAlgorithm, KemAlgorithm};
use crate::resend::Resend;

/// UDP port: the one of the examples in `rp(1)`; none is assigned.
pub const PORT: u16 = 9999;
/// Types of the messages (`MsgType`).
pub(crate) const INIT_HELLO: u8 = 0x81;
pub(crate) const RESP_HELLO: u8 = 0x82;
pub(crate) const INIT_CONF: u8 = 0x83;
pub(crate) const EMPTY_DATA: u8 = 0x84;
/// Type and three reserved octets before the payload; MAC and cookie after it.
const HEAD: usize = 4;
const MAC: usize = 16;
const COOKIE: usize = 16;
const SESSION: usize = 4;
/// Ciphertext of Classic McEliece 460896 (white paper, section 2.1.5).
const STATIC_CIPHERTEXT: usize = 188;
/// The initiator's identity, a hash of 32 octets, under an authentication tag.
const IDENTITY: usize = 32 + TAG;
const TAG: usize = 16;
/// The responder's state: identity, number and chaining key under nonce and tag of XChaCha20-Poly1305.
const BISCUIT: usize = 32 + 12 + 32 + 24 + 16;
/// Counter of EmptyData.
const COUNTER: usize = 8;
/// Attempts of the initiator: RETRANSMIT_DELAY_BEGIN of 0.5 s doubled up to RETRANSMIT_DELAY_END of 10 s reach
/// RETRANSMIT_ABORT of 120 s after these.
const ATTEMPTS: u8 = 15;

/// A message around this payload.
fn framed(context: &mut Context<'_>, kind: u8, payload: &[&[u8]]) -> Vec<u8> {
    let mut octets = vec![kind, 0, 0, 0];
    octets.extend(payload.concat());
    let mac = context.hash(HashAlgorithm::Blake2s, &[&octets]);
    octets.extend(&mac[..MAC]);
    octets.extend([0; COOKIE]);
    octets
}

/// The payload of a message of this kind and length whose MAC fits.
fn payload<'a>(
    context: &mut Context<'_>,
    kind: u8,
    length: usize,
    octets: &'a [u8],
) -> Option<&'a [u8]> {
    let (covered, tail) = octets.split_at_checked(HEAD + length)?;
    let mac = context.hash(HashAlgorithm::Blake2s, &[covered]);
    let fits = tail.len() == MAC + COOKIE && equal(&tail[..MAC], &mac[..MAC]);
    (fits && covered[0] == kind).then(|| &covered[HEAD..])
}

/// The tag with which an end shows that it has the key of this exchange.
fn tag(context: &mut Context<'_>, secret: &[u8], kind: u8, hello: &[u8], answer: &[u8]) -> Vec<u8> {
    let tag = context.hmac(HashAlgorithm::Blake2s, secret, &[&[kind], hello, answer]);
    tag[..TAG].to_vec()
}

/// WireGuard's pre-shared key.
fn preshared(context: &mut Context<'_>, secret: &[u8], hello: &[u8], answer: &[u8]) -> [u8; 32] {
    let parts: [&[u8]; 3] = [b"wireguard psk", hello, answer];
    let key = context.hmac(HashAlgorithm::Blake2s, secret, &parts);
    let mut octets = [0; 32];
    octets.copy_from_slice(&key[..32]);
    octets
}

/// The station's end.
pub struct RosenpassInitiator {
    config: WireGuardConfig,
    key: Option<KemKey>,
    hello: Vec<u8>,
    /// The secret and RespHello.
    agreed: Option<(Vec<u8>, Vec<u8>)>,
    resend: Resend,
    inner: Option<WireGuardInitiator>,
    silent: bool,
    busy: bool,
}

impl RosenpassInitiator {
    /// An end that then speaks WireGuard with this configuration.
    #[must_use]
    pub const fn new(config: WireGuardConfig) -> Self {
        Self {
            config,
            key: None,
            hello: Vec::new(),
            agreed: None,
            resend: Resend::new(ATTEMPTS),
            inner: None,
            silent: false,
            busy: false,
        }
    }

    fn send(&mut self, context: &mut Context<'_>, octets: Vec<u8>) {
        let carrier = Carrier::Udp(PORT);
        self.resend
            .send(context, Party::Station, Party::Gateway, carrier, octets);
    }

    fn confirm(&mut self, octets: &[u8], context: &mut Context<'_>) -> Option<()> {
        let kem = KemAlgorithm::MlKem512;
        let length = 2 * SESSION + kem.ciphertext_octets() + STATIC_CIPHERTEXT + TAG + BISCUIT;
        let body = payload(context, RESP_HELLO, length, octets)?;
        let (sessions, rest) = body.split_at(2 * SESSION);
        if sessions[SESSION..] != self.hello[HEAD..HEAD + SESSION] {
            return None;
        }
        let (ciphertext, rest) = rest.split_at(kem.ciphertext_octets());
        let biscuit = &rest[STATIC_CIPHERTEXT + TAG..];
        let secret = self.key.as_ref()?.decapsulate(context, ciphertext)?;
        let tag = tag(context, &secret, INIT_CONF, &self.hello, octets);
        let (theirs, own) = sessions.split_at(SESSION);
        let message = framed(context, INIT_CONF, &[own, theirs, biscuit, &tag]);
        self.agreed = Some((secret, octets.to_vec()));
        self.send(context, message);
        Some(())
    }

    fn finish(&mut self, octets: &[u8], context: &mut Context<'_>) -> Option<()> {
        let (secret, answer) = self.agreed.clone()?;
        let body = payload(context, EMPTY_DATA, SESSION + COUNTER + TAG, octets)?;
        let expected = tag(context, &secret, EMPTY_DATA, &self.hello, &answer);
        if !equal(&body[SESSION + COUNTER..], &expected) {
            return None;
        }
        self.config.preshared = preshared(context, &secret, &self.hello, &answer);
        let mut inner = WireGuardInitiator::new(self.config.clone());
        inner.set_busy(self.busy);
        inner.start(context);
        self.inner = Some(inner);
        Some(())
    }
}

impl Peer for RosenpassInitiator {
    fn party(&self) -> Party {
        Party::Station
    }

    fn start(&mut self, context: &mut Context<'_>) {
        let key = KemKey::draw(context, KemAlgorithm::MlKem512);
        let session: [u8; SESSION] = context.random();
        let rest = context.random_octets(STATIC_CIPHERTEXT + IDENTITY + TAG);
        self.hello = framed(context, INIT_HELLO, &[&session, &key.public(), &rest]);
        self.key = Some(key);
        self.send(context, self.hello.clone());
    }

    fn receive(&mut self, message: &Message, context: &mut Context<'_>) {
        if let Some(inner) = &mut self.inner {
            if message.carrier != Carrier::Udp(PORT) {
                inner.receive(message, context);
            }
            return;
        }
        if message.carrier != Carrier::Udp(PORT) {
            return;
        }
        let _ignored = if self.agreed.is_none() {
            self.confirm(&message.octets, context)
        } else {
            self.finish(&message.octets, context)
        };
    }

    fn on_timeout(&mut self, context: &mut Context<'_>) {
        if let Some(inner) = &mut self.inner {
            inner.on_timeout(context);
        } else if !self.silent && !self.resend.after_timeout(context) {
            self.silent = true;
        }
    }

    fn status(&self) -> Status {
        match &self.inner {
            Some(inner) => inner.status(),
            None if self.silent => Status::Failed(Failure::PeerTimeout { code: Code::Silent }),
            None => Status::Waiting,
        }
    }

    fn set_busy(&mut self, busy: bool) {
        self.busy = busy;
        if let Some(inner) = &mut self.inner {
            inner.set_busy(busy);
        }
    }

    fn agreed(&self) -> Secrets {
        self.inner.as_ref().map(Peer::agreed).unwrap_or_default()
    }
}

/// The gateway's end.
pub struct RosenpassResponder {
    config: WireGuardConfig,
    /// InitHello, the secret and RespHello.
    answered: Option<(Vec<u8>, Vec<u8>, Vec<u8>)>,
    /// InitConf and EmptyData.
    confirmed: Option<(Vec<u8>, Vec<u8>)>,
    resend: Resend,
    inner: Option<WireGuardResponder>,
    silent: bool,
    busy: bool,
}

impl RosenpassResponder {
    /// An end that then speaks WireGuard with this configuration.
    #[must_use]
    pub const fn new(config: WireGuardConfig) -> Self {
        Self {
            config,
            answered: None,
            confirmed: None,
            resend: Resend::new(3 * ATTEMPTS),
            inner: None,
            silent: false,
            busy: false,
        }
    }

    fn send(context: &mut Context<'_>, octets: Vec<u8>) {
        let carrier = Carrier::Udp(PORT);
        context.send(Party::Gateway, Party::Station, carrier, octets);
    }

    fn answer(&mut self, octets: &[u8], context: &mut Context<'_>) -> Option<()> {
        let kem = KemAlgorithm::MlKem512;
        let length = SESSION + kem.key_octets() + STATIC_CIPHERTEXT + IDENTITY + TAG;
        let body = payload(context, INIT_HELLO, length, octets)?;
        if let Some((hello, _, answer)) = &self.answered
            && hello == octets
        {
            Self::send(context, answer.clone());
            return Some(());
        }
        let (theirs, rest) = body.split_at(SESSION);
        let Encapsulated { ciphertext, secret } =
            kem.encapsulate(context, &rest[..kem.key_octets()])?;
        let own: [u8; SESSION] = context.random();
        let tail = context.random_octets(STATIC_CIPHERTEXT + TAG + BISCUIT);
        let answer = framed(context, RESP_HELLO, &[&own, theirs, &ciphertext, &tail]);
        self.answered = Some((octets.to_vec(), secret, answer.clone()));
        Self::send(context, answer);
        Some(())
    }

    fn confirm(&mut self, octets: &[u8], context: &mut Context<'_>) -> Option<()> {
        if let Some((known, answer)) = &self.confirmed {
            if known == octets {
                Self::send(context, answer.clone());
            }
            return Some(());
        }
        let (hello, secret, answer) = self.answered.clone()?;
        let body = payload(context, INIT_CONF, 2 * SESSION + BISCUIT + TAG, octets)?;
        let expected = tag(context, &secret, INIT_CONF, &hello, &answer);
        if !equal(&body[2 * SESSION + BISCUIT..], &expected) {
            return None;
        }
        let done = tag(context, &secret, EMPTY_DATA, &hello, &answer);
        let message = framed(
            context,
            EMPTY_DATA,
            &[&body[..SESSION], &[0; COUNTER], &done],
        );
        self.config.preshared = preshared(context, &secret, &hello, &answer);
        let mut inner = WireGuardResponder::new(self.config.clone());
        inner.set_busy(self.busy);
        self.inner = Some(inner);
        self.confirmed = Some((octets.to_vec(), message.clone()));
        Self::send(context, message);
        Some(())
    }
}

impl Peer for RosenpassResponder {
    fn party(&self) -> Party {
        Party::Gateway
    }

    fn receive(&mut self, message: &Message, context: &mut Context<'_>) {
        if message.carrier != Carrier::Udp(PORT) {
            if let Some(inner) = &mut self.inner {
                inner.receive(message, context);
            }
            return;
        }
        let _ignored = match message.octets.first() {
            Some(&INIT_HELLO) if self.confirmed.is_none() => self.answer(&message.octets, context),
            Some(&INIT_CONF) => self.confirm(&message.octets, context),
            _ => None,
        };
    }

    fn on_timeout(&mut self, context: &mut Context<'_>) {
        if let Some(inner) = &mut self.inner {
            inner.on_timeout(context);
        } else if !self.resend.wait() {
            self.silent = true;
        }
    }

    fn status(&self) -> Status {
        match &self.inner {
            Some(inner) => inner.status(),
            None if self.silent => Status::Failed(Failure::PeerTimeout { code: Code::Silent }),
            None => Status::Waiting,
        }
    }

    fn is_half_open(&self) -> bool {
        self.inner.as_ref().is_some_and(Peer::is_half_open)
    }

    fn set_busy(&mut self, busy: bool) {
        self.busy = busy;
        if let Some(inner) = &mut self.inner {
            inner.set_busy(busy);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rand_chacha::ChaCha8Rng;
    use rand_chacha::rand_core::SeedableRng;

    use super::*;
    use crate::adverse::{agree, run, run_adverse, run_flipped};
    use crate::exchange::Outcome;
    use crate::sides::Sides;
    use crate::tunnel::wireguard::draw_configs;

    fn peers() -> Vec<Box<dyn Peer>> {
        let mut rng = ChaCha8Rng::seed_from_u64(9);
        let Sides {
            initiator: a,
            responder: b,
        } = draw_configs(&mut Context::new(&mut rng));
        vec![
            Box::new(RosenpassInitiator::new(a)),
            Box::new(RosenpassResponder::new(b)),
        ]
    }

    #[test]
    fn four_messages_of_the_sizes_of_its_source_stand_before_wireguards_three() {
        let (log, outcome, exchange) = run(peers(), 1);
        let lengths: Vec<usize> = log.iter().map(|e| e.message.octets.len()).collect();
        // Payloads of 1056, 1096, 140 and 28 octets, 36 of envelope each.
        assert_eq!(lengths, [1092, 1132, 176, 64, 148, 92, 32]);
        assert!(matches!(outcome, Outcome::Established(_)));
        assert_eq!(
            exchange.status(Party::Station),
            exchange.status(Party::Gateway)
        );
    }

    #[test]
    fn the_key_of_wireguard_is_the_one_of_rosenpass() {
        // With the key of another exchange WireGuard's response does not open.
        let (_, Outcome::Established(one), _) = run(peers(), 1) else {
            panic!("not established");
        };
        let mut rng = ChaCha8Rng::seed_from_u64(9);
        let Sides {
            initiator: a,
            responder: b,
        } = draw_configs(&mut Context::new(&mut rng));
        let mixed: Vec<Box<dyn Peer>> = vec![
            Box::new(RosenpassInitiator::new(a)),
            Box::new(WireGuardResponder::new(b)),
        ];
        let (_, outcome, _) = run(mixed, 1);
        assert!(matches!(outcome, Outcome::Failed(_)));
        assert!(!one.is_empty());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]

        #[test]
        fn adversity_never_makes_ends_disagree(seed: u64, schedule in prop::collection::vec(any::<u8>(), 0..30)) {
            let (_, exchange) = run_adverse(peers(), seed, &schedule);
            prop_assert!(agree(&exchange, Party::Station, Party::Gateway));
        }

        #[test]
        fn a_flipped_bit_never_makes_ends_disagree(index in 0_usize..7, octet in 0_usize..1100, bit in 0_u8..8) {
            let (_, exchange) = run_flipped(peers(), 3, (index, octet, bit));
            prop_assert!(agree(&exchange, Party::Station, Party::Gateway));
        }
    }
}
