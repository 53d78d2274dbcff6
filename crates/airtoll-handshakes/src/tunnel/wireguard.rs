//! WireGuard's handshake (Donenfeld, NDSS 2017, section 5.4): Noise IKpsk2 over X25519,
//! ChaCha20-Poly1305 and BLAKE2s.
//!
//! Takes static keys and a timestamp at each end; gives an initiation, a response and the
//! keepalive that confirms the keys; under load a cookie reply instead of an answer (`cookie`).
//! Never reads a clock: the timestamp only has to grow, and the caller gives the first. An end that was
//! given a cookie uses it when its timer lets it speak again, not at once (section 6.6).

mod cookie;
mod rosenpass;

use airtoll_wire::wireguard::{PORT, WireGuardRepr};

use self::cookie::{Cookies, NO_MACS, mac1};
pub(crate) use self::rosenpass::{EMPTY_DATA, INIT_CONF, INIT_HELLO, RESP_HELLO};
pub use self::rosenpass::{PORT as ROSENPASS_PORT, RosenpassInitiator, RosenpassResponder};
use crate::crypto::agreement;
use crate::crypto::diffie_hellman::BASE_POINT;
use crate::exchange::{Carrier, Context, Message, Party, Peer, SecretName, Secrets, Status};
use crate::failure::{Code, Failure};
use crate::octets::{equal, written};
use crate::operation::HashAlgorithm;
use crate::sides::Sides;

const CONSTRUCTION: &[u8] = b"Noise_IKpsk2_25519_ChaChaPoly_BLAKE2s";
const IDENTIFIER: &[u8] = b"WireGuard v1 zx2c4 Jason@zx2c4.com";
/// Octets that MAC1 of an initiation and of a response covers.
const INITIATION_COVERED: usize = 116;
const RESPONSE_COVERED: usize = 60;
/// Initiations before giving up: REKEY_ATTEMPT_TIME over REKEY_TIMEOUT, 90 s over 5 s.
const ATTEMPTS: u8 = 18;

/// Keys of both ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WireGuardConfig {
    /// This end's static private key.
    pub private: [u8; 32],
    /// The other end's static public key.
    pub peer: [u8; 32],
    /// Optional pre-shared key; zero without one.
    pub preshared: [u8; 32],
    /// First TAI64N timestamp of the initiator.
    pub timestamp: [u8; 12],
    /// The other end's outer IPv4 address and UDP port, which a cookie is for.
    pub source: [u8; 6],
}

/// Both ends' configurations from a random source.
pub fn draw_configs(context: &mut Context<'_>) -> Sides<WireGuardConfig> {
    let (a, b): ([u8; 32], [u8; 32]) = (context.random(), context.random());
    let config = |private, other| WireGuardConfig {
        private,
        peer: agreement::x25519(&other, &BASE_POINT),
        preshared: [0; 32],
        // 2^62 marks the beginning of 1970 in TAI64.
        timestamp: [0x40, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
        source: [10, 0, 1, 20, 0xca, 0x6c],
    };
    Sides {
        initiator: config(a, b),
        responder: config(b, a),
    }
}

fn public(context: &mut Context<'_>, secret: &[u8; 32]) -> [u8; 32] {
    context.x25519(secret, &BASE_POINT)
}

/// The chaining key and hash of Noise.
#[derive(Clone)]
struct Noise {
    chain: Vec<u8>,
    hash: Vec<u8>,
}

impl Noise {
    fn new(context: &mut Context<'_>, responder: &[u8; 32]) -> Self {
        let chain = context.hash(HashAlgorithm::Blake2s, &[CONSTRUCTION]);
        let hash = context.hash(HashAlgorithm::Blake2s, &[&chain, IDENTIFIER]);
        let hash = context.hash(HashAlgorithm::Blake2s, &[&hash, responder]);
        Self { chain, hash }
    }

    fn mix_hash(&mut self, context: &mut Context<'_>, octets: &[u8]) {
        self.hash = context.hash(HashAlgorithm::Blake2s, &[&self.hash, octets]);
    }

    /// KDF_n (section 5.4): the new chaining key, then further keys.
    fn mix_key(&mut self, context: &mut Context<'_>, input: &[u8], extra: usize) -> Vec<Vec<u8>> {
        let prk = context.hmac(HashAlgorithm::Blake2s, &self.chain, &[input]);
        let all = context.hkdf_expand(HashAlgorithm::Blake2s, &prk, &[], 32 * (1 + extra));
        self.chain = all[..32].to_vec();
        all[32..].chunks(32).map(<[u8]>::to_vec).collect()
    }

    fn seal(&mut self, context: &mut Context<'_>, key: &[u8], plain: &[u8]) -> Vec<u8> {
        let sealed = context.chacha_seal(key, &[0; 12], &self.hash, plain);
        self.mix_hash(context, &sealed);
        sealed
    }

    fn open(&mut self, context: &mut Context<'_>, key: &[u8], sealed: &[u8]) -> Option<Vec<u8>> {
        let plain = context.chacha_open(key, &[0; 12], &self.hash, sealed)?;
        self.mix_hash(context, sealed);
        Some(plain)
    }
}

/// Keys of one completed handshake.
#[derive(Clone)]
struct Keys {
    forward: Vec<u8>,
    backward: Vec<u8>,
    peer_index: u32,
    own_index: u32,
}

impl Keys {
    fn secrets(&self, party: Party) -> Secrets {
        let (forward, backward) = if party == Party::Station {
            (self.peer_index, self.own_index)
        } else {
            (self.own_index, self.peer_index)
        };
        let spis = [forward.to_be_bytes(), backward.to_be_bytes()].concat();
        Secrets::from([
            (SecretName::TunnelSpis, spis),
            (SecretName::TunnelForward, self.forward.clone()),
            (SecretName::TunnelBackward, self.backward.clone()),
        ])
    }
}

/// The station's end.
pub struct WireGuardInitiator {
    config: WireGuardConfig,
    index: u32,
    ephemeral: [u8; 32],
    noise: Option<Noise>,
    attempts: u8,
    cookies: Cookies,
    keys: Option<Keys>,
    failure: Option<Failure>,
}

impl WireGuardInitiator {
    /// An initiator that has sent nothing yet.
    #[must_use]
    pub fn new(config: WireGuardConfig) -> Self {
        Self {
            config,
            index: 0,
            ephemeral: [0; 32],
            noise: None,
            attempts: 0,
            cookies: Cookies::default(),
            keys: None,
            failure: None,
        }
    }

    fn initiate(&mut self, context: &mut Context<'_>) {
        self.attempts += 1;
        let peer = self.config.peer;
        let mut noise = Noise::new(context, &peer);
        self.index = u32::from_be_bytes(context.random());
        self.ephemeral = context.random();
        let ephemeral = public(context, &self.ephemeral);
        noise.mix_key(context, &ephemeral, 0);
        noise.mix_hash(context, &ephemeral);
        let shared = context.x25519(&self.ephemeral, &peer);
        let key = noise.mix_key(context, &shared, 1);
        let own = public(context, &self.config.private);
        let sealed_static = noise.seal(context, &key[0], &own);
        let shared = context.x25519(&self.config.private, &peer);
        let key = noise.mix_key(context, &shared, 1);
        // The nanoseconds' last octet grows with every attempt.
        let mut timestamp = self.config.timestamp;
        timestamp[11] = timestamp[11].wrapping_add(self.attempts);
        let sealed_time = noise.seal(context, &key[0], &timestamp);
        let (Ok(encrypted_static), Ok(encrypted_timestamp)) =
            (sealed_static.try_into(), sealed_time.try_into())
        else {
            return;
        };
        let message = WireGuardRepr::Initiation {
            sender: self.index,
            ephemeral,
            encrypted_static,
            encrypted_timestamp,
            macs: NO_MACS,
        };
        let octets = self
            .cookies
            .sealed(context, &peer, INITIATION_COVERED, &message);
        self.noise = Some(noise);
        context.send(Party::Station, Party::Gateway, Carrier::Udp(PORT), octets);
    }

    fn finish(&mut self, message: &Message, context: &mut Context<'_>) -> Option<Keys> {
        let Ok(WireGuardRepr::Response {
            sender,
            receiver,
            ephemeral,
            encrypted_nothing,
            macs,
        }) = WireGuardRepr::parse(&message.octets)
        else {
            return None;
        };
        let own = public(context, &self.config.private);
        let mac = mac1(context, &own, &message.octets[..RESPONSE_COVERED]);
        if receiver != self.index || !equal(&mac, &macs.mac1) {
            return None;
        }
        let asked = (sender, RESPONSE_COVERED, &message.octets[..]);
        if let Some(reply) = self
            .cookies
            .asked(context, &own, &self.config.source, asked)
        {
            context.send(Party::Station, Party::Gateway, Carrier::Udp(PORT), reply);
            return None;
        }
        let mut noise = self.noise.clone()?;
        noise.mix_key(context, &ephemeral, 0);
        noise.mix_hash(context, &ephemeral);
        let shared = context.x25519(&self.ephemeral, &ephemeral);
        noise.mix_key(context, &shared, 0);
        let shared = context.x25519(&self.config.private, &ephemeral);
        noise.mix_key(context, &shared, 0);
        let derived = noise.mix_key(context, &self.config.preshared, 2);
        noise.mix_hash(context, &derived[0]);
        noise.open(context, &derived[1], &encrypted_nothing)?;
        let transport = noise.mix_key(context, &[], 1);
        Some(Keys {
            forward: noise.chain,
            backward: transport[0].clone(),
            peer_index: sender,
            own_index: self.index,
        })
    }
}

impl Peer for WireGuardInitiator {
    fn party(&self) -> Party {
        Party::Station
    }

    fn start(&mut self, context: &mut Context<'_>) {
        self.initiate(context);
    }

    fn receive(&mut self, message: &Message, context: &mut Context<'_>) {
        if self.keys.is_some() || self.failure.is_some() {
            return;
        }
        if let Ok(WireGuardRepr::CookieReply {
            receiver,
            nonce,
            encrypted_cookie,
        }) = WireGuardRepr::parse(&message.octets)
        {
            if receiver == self.index {
                let peer = self.config.peer;
                self.cookies.keep(context, &peer, &nonce, &encrypted_cookie);
            }
            return;
        }
        if let Some(keys) = self.finish(message, context) {
            let tag = context.chacha_seal(&keys.forward, &[0; 12], &[], &[]);
            let keepalive = WireGuardRepr::Data {
                receiver: keys.peer_index,
                counter: 0,
                encrypted: tag,
            };
            let octets = written(|out| keepalive.emit(out));
            self.keys = Some(keys);
            context.send(Party::Station, Party::Gateway, Carrier::Udp(PORT), octets);
        }
    }

    fn on_timeout(&mut self, context: &mut Context<'_>) {
        if self.status() == Status::Waiting {
            if self.attempts < ATTEMPTS {
                self.initiate(context);
            } else {
                self.failure = Some(Failure::PeerTimeout { code: Code::Silent });
            }
        }
    }

    fn status(&self) -> Status {
        match (&self.failure, &self.keys) {
            (Some(failure), _) => Status::Failed(*failure),
            (None, Some(keys)) => Status::Established(keys.secrets(Party::Station)),
            (None, None) => Status::Waiting,
        }
    }

    fn set_busy(&mut self, busy: bool) {
        self.cookies.busy = busy;
    }
}

/// The gateway's end.
pub struct WireGuardResponder {
    config: WireGuardConfig,
    newest: Option<[u8; 12]>,
    candidates: Vec<(u32, Keys)>,
    cookies: Cookies,
    confirmed: Option<Keys>,
    refused: bool,
    waited: u8,
}

impl WireGuardResponder {
    /// A responder that knows one initiator.
    #[must_use]
    pub fn new(config: WireGuardConfig) -> Self {
        Self {
            config,
            newest: None,
            candidates: Vec::new(),
            cookies: Cookies::default(),
            confirmed: None,
            refused: false,
            waited: 0,
        }
    }

    fn respond(&mut self, message: &Message, context: &mut Context<'_>) -> Option<Vec<u8>> {
        let Ok(WireGuardRepr::Initiation {
            sender,
            ephemeral: theirs,
            encrypted_static,
            encrypted_timestamp,
            macs,
        }) = WireGuardRepr::parse(&message.octets)
        else {
            return None;
        };
        let own = public(context, &self.config.private);
        let mac = mac1(context, &own, &message.octets[..INITIATION_COVERED]);
        if !equal(&mac, &macs.mac1) {
            return None;
        }
        let asked = (sender, INITIATION_COVERED, &message.octets[..]);
        let reply = self
            .cookies
            .asked(context, &own, &self.config.source, asked);
        if reply.is_some() {
            return reply;
        }
        let mut noise = Noise::new(context, &own);
        noise.mix_key(context, &theirs, 0);
        noise.mix_hash(context, &theirs);
        let shared = context.x25519(&self.config.private, &theirs);
        let key = noise.mix_key(context, &shared, 1);
        let known = noise.open(context, &key[0], &encrypted_static)?;
        self.refused = !equal(&known, &self.config.peer);
        if self.refused {
            return None;
        }
        let shared = context.x25519(&self.config.private, &self.config.peer);
        let key = noise.mix_key(context, &shared, 1);
        let timestamp: [u8; 12] = noise
            .open(context, &key[0], &encrypted_timestamp)?
            .try_into()
            .ok()?;
        if self.newest.is_some_and(|newest| timestamp <= newest) {
            return None;
        }
        self.newest = Some(timestamp);
        let secret: [u8; 32] = context.random();
        let index = u32::from_be_bytes(context.random());
        let ephemeral = public(context, &secret);
        noise.mix_key(context, &ephemeral, 0);
        noise.mix_hash(context, &ephemeral);
        let shared = context.x25519(&secret, &theirs);
        noise.mix_key(context, &shared, 0);
        let shared = context.x25519(&secret, &self.config.peer);
        noise.mix_key(context, &shared, 0);
        let derived = noise.mix_key(context, &self.config.preshared, 2);
        noise.mix_hash(context, &derived[0]);
        let encrypted_nothing = noise.seal(context, &derived[1], &[]).try_into().ok()?;
        let response = WireGuardRepr::Response {
            sender: index,
            receiver: sender,
            ephemeral,
            encrypted_nothing,
            macs: NO_MACS,
        };
        let octets = self
            .cookies
            .sealed(context, &self.config.peer, RESPONSE_COVERED, &response);
        let transport = noise.mix_key(context, &[], 1);
        let keys = Keys {
            forward: noise.chain,
            backward: transport[0].clone(),
            peer_index: sender,
            own_index: index,
        };
        self.candidates.push((index, keys));
        Some(octets)
    }
}

impl Peer for WireGuardResponder {
    fn party(&self) -> Party {
        Party::Gateway
    }

    fn receive(&mut self, message: &Message, context: &mut Context<'_>) {
        if let Ok(WireGuardRepr::Data {
            receiver,
            counter: 0,
            encrypted,
        }) = WireGuardRepr::parse(&message.octets)
        {
            let found = self
                .candidates
                .iter()
                .find(|(i, _)| *i == receiver)
                .cloned();
            if let (Some((_, keys)), None) = (found, &self.confirmed)
                && context
                    .chacha_open(&keys.forward, &[0; 12], &[], &encrypted)
                    .is_some()
            {
                self.confirmed = Some(keys);
            }
            return;
        }
        if let Ok(WireGuardRepr::CookieReply {
            receiver,
            nonce,
            encrypted_cookie,
        }) = WireGuardRepr::parse(&message.octets)
        {
            if self.candidates.last().is_some_and(|(i, _)| *i == receiver) {
                let peer = self.config.peer;
                self.cookies.keep(context, &peer, &nonce, &encrypted_cookie);
            }
            return;
        }
        if let Some(octets) = self.respond(message, context) {
            context.send(Party::Gateway, Party::Station, Carrier::Udp(PORT), octets);
        }
    }

    fn on_timeout(&mut self, _context: &mut Context<'_>) {
        self.waited = self.waited.saturating_add(1);
    }

    fn status(&self) -> Status {
        match &self.confirmed {
            Some(keys) => Status::Established(keys.secrets(Party::Gateway)),
            None if self.refused => {
                Status::Failed(Failure::WrongCredentials { code: Code::Silent })
            }
            None if self.waited > ATTEMPTS => {
                Status::Failed(Failure::PeerTimeout { code: Code::Silent })
            }
            None => Status::Waiting,
        }
    }

    fn is_half_open(&self) -> bool {
        self.confirmed.is_none() && !self.candidates.is_empty()
    }

    fn set_busy(&mut self, busy: bool) {
        self.cookies.busy = busy;
    }
}

#[cfg(test)]
mod tests;
