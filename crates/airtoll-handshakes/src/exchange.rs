//! Parties that answer each other: the one driver of every handshake.
//!
//! Takes [`Peer`]s, delivered [`Message`]s and time-outs; gives the messages that follow, each
//! with the operations that its sender performed before it, and in the end an [`Outcome`].
//! Never reads a clock and never loses, reorders or repeats anything: the caller
//! decides when, and whether, a message arrives.

use rand_core::CryptoRng;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use crate::context::{Carrier, Context, Emission, Message, Party, Reaction};
use crate::failure::Failure;
use crate::radius_proxy::{RadiusProxy, Relayed};

/// The name of a secret that a handshake gives.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum SecretName {
    /// Pairwise master key.
    Pmk,
    /// Its identifier.
    Pmkid,
    /// EAPOL-Key confirmation key.
    Kck,
    /// EAPOL-Key encryption key.
    Kek,
    /// Temporal key, in TKIP with both Michael keys behind it.
    Tk,
    /// Group temporal key; with several links those of all links, by increasing link ID.
    Gtk,
    /// Integrity group temporal key, or those of all links.
    Igtk,
    /// Beacon integrity group temporal key, or those of all links.
    Bigtk,
    /// WEP key, static or handed out by 802.1X.
    WepKey,
    /// EAP master session key.
    Msk,
    /// PMK-R0 of fast transition.
    PmkR0,
    /// PMK-R1 of fast transition.
    PmkR1,
    /// Tunnel key from the initiator to the responder, encryption then integrity.
    TunnelForward,
    /// Tunnel key back.
    TunnelBackward,
    /// SPIs, or indices of WireGuard, from the initiator to the responder and back: twice 4 octets,
    /// the most significant first.
    TunnelSpis,
    /// An IKE SA that may move, for [`crate::tunnel::ike_v2::IkeSa::from_octets`].
    IkeSa,
    /// A TLS session to resume later, for [`crate::tls::Session::from_octets`].
    TlsSession,
    /// Address that Mobile IP bound the home address to.
    CareOfAddress,
}

/// Secrets in a fixed order.
pub type Secrets = std::collections::BTreeMap<SecretName, Vec<u8>>;

/// How far a party is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Status {
    /// Waits for a message.
    Waiting,
    /// Done, with what it agreed on.
    Established(Secrets),
    /// Gave up.
    Failed(Failure),
}

/// How the whole exchange ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// Some party still waits.
    Running,
    /// Every party is done; the station's secrets, or the first party's without a station.
    Established(Secrets),
    /// Failure of the first party that gave up: it knows the reason, the others are only told.
    Failed(Failure),
}

/// One party of a handshake.
pub trait Peer {
    /// The party.
    fn party(&self) -> Party;

    /// Speaks first, where the protocol has it do so.
    fn start(&mut self, _context: &mut Context<'_>) {}

    /// Takes a message addressed to it. Octets that it cannot accept change nothing but, where
    /// the standard says so, end the exchange.
    fn receive(&mut self, message: &Message, context: &mut Context<'_>);

    /// Its timer ran out: it repeats, or gives up.
    fn on_timeout(&mut self, context: &mut Context<'_>);

    /// How far it is.
    fn status(&self) -> Status;

    /// Whether it keeps state for a peer that has not proved itself yet.
    fn is_half_open(&self) -> bool {
        false
    }

    /// Tells it whether its host keeps too much of such state to take more without asking first.
    fn set_busy(&mut self, _busy: bool) {}

    /// The secrets agreed so far: keys that protect the messages to come.
    fn agreed(&self) -> Secrets {
        match self.status() {
            Status::Established(secrets) => secrets,
            _ => Secrets::new(),
        }
    }
}

/// Parties that speak with each other.
pub struct Conversation {
    peers: Vec<Box<dyn Peer>>,
    rng: Box<dyn CryptoRng>,
    first_failure: Option<Failure>,
    proxies: Vec<RadiusProxy>,
}

impl Conversation {
    /// Parties in any order, and where they draw their random octets from.
    #[must_use]
    pub fn new(mut peers: Vec<Box<dyn Peer>>, rng: Box<dyn CryptoRng>) -> Self {
        peers.sort_by_key(|peer| peer.party());
        Self {
            peers,
            rng,
            first_failure: None,
            proxies: Vec::new(),
        }
    }

    /// Puts RADIUS proxies between access point and server, that of the access point first.
    #[must_use]
    pub fn through(mut self, proxies: Vec<RadiusProxy>) -> Self {
        self.proxies = proxies;
        self
    }

    /// How many RADIUS proxies there are.
    #[must_use]
    pub const fn proxies(&self) -> usize {
        self.proxies.len()
    }

    /// A RADIUS proxy receives a packet on its way between access point and server. The emission is
    /// the packet that the proxy sends: onward, or back to where the packet came from if the proxy has
    /// the response to a repeated request already. Its sender and receiver are access point and server
    /// still. None: the proxy drops the packet.
    pub fn relay(&mut self, proxy: usize, message: &Message) -> Reaction {
        let mut context = Context::new(&mut *self.rng);
        let Some(proxy) = self.proxies.get_mut(proxy) else {
            return Reaction::default();
        };
        let asks = message.to == Party::AuthenticationServer;
        let relayed = if asks {
            proxy.request(&mut context, &message.octets)
        } else {
            proxy.response(&mut context, &message.octets)
        };
        let (from, to) = (message.from, message.to);
        match relayed {
            Relayed::Onward(octets) => context.send(from, to, message.carrier, octets),
            Relayed::Back(octets) => context.send(to, from, message.carrier, octets),
            // The access point learns nothing and repeats its request until it gives up.
            Relayed::Refused(failure) => {
                self.first_failure.get_or_insert(failure);
            }
            Relayed::Dropped => {}
        }
        context.finish()
    }

    /// Carries a message through all proxies to its receiver, without loss.
    fn deliver_through(&mut self, message: &Message) -> Reaction {
        if message.carrier != Carrier::Radius || self.proxies.is_empty() {
            return self.deliver(message);
        }
        let mut message = message.clone();
        let count = self.proxies.len();
        let mut link = match message.to {
            Party::AuthenticationServer => 0,
            _ => count,
        };
        loop {
            let asks = message.to == Party::AuthenticationServer;
            if link == if asks { count } else { 0 } {
                return self.deliver(&message);
            }
            let proxy = if asks { link } else { link - 1 };
            let Some(sent) = self.relay(proxy, &message).emissions.pop() else {
                return Reaction::default();
            };
            message = sent.message;
            link = if message.to == Party::AuthenticationServer {
                proxy + 1
            } else {
                proxy
            };
        }
    }

    /// Starts every party; the first messages are the result.
    pub fn start(&mut self) -> Vec<Emission> {
        let mut context = Context::new(&mut *self.rng);
        for peer in &mut self.peers {
            peer.start(&mut context);
        }
        context.finish().emissions
    }

    /// Hands a message over. A message to a party that takes no part changes nothing.
    pub fn deliver(&mut self, message: &Message) -> Reaction {
        let mut context = Context::new(&mut *self.rng);
        if let Some(peer) = self.peers.iter_mut().find(|p| p.party() == message.to) {
            peer.receive(message, &mut context);
        }
        let reaction = context.finish();
        self.note_failure(message.to);
        reaction
    }

    /// Lets a party's timer run out.
    pub fn time_out(&mut self, party: Party) -> Reaction {
        let mut context = Context::new(&mut *self.rng);
        if let Some(peer) = self.peers.iter_mut().find(|p| p.party() == party) {
            peer.on_timeout(&mut context);
        }
        let reaction = context.finish();
        self.note_failure(party);
        reaction
    }

    /// The parties.
    pub fn parties(&self) -> impl Iterator<Item = Party> + '_ {
        self.peers.iter().map(|peer| peer.party())
    }

    /// How far a party is.
    #[must_use]
    pub fn status(&self, party: Party) -> Option<Status> {
        self.peers
            .iter()
            .find(|peer| peer.party() == party)
            .map(|peer| peer.status())
    }

    /// Whether a party keeps state for a peer that has not proved itself yet.
    #[must_use]
    pub fn is_half_open(&self, party: Party) -> bool {
        let mut peers = self.peers.iter();
        peers.any(|peer| peer.party() == party && peer.is_half_open())
    }

    /// Tells a party whether its host keeps too much of such state.
    pub fn set_busy(&mut self, party: Party, busy: bool) {
        for peer in self.peers.iter_mut().filter(|p| p.party() == party) {
            peer.set_busy(busy);
        }
    }

    /// The secrets that a party has agreed on so far.
    #[must_use]
    pub fn agreed(&self, party: Party) -> Secrets {
        self.peers
            .iter()
            .find(|peer| peer.party() == party)
            .map(|peer| peer.agreed())
            .unwrap_or_default()
    }

    /// How the whole exchange stands.
    #[must_use]
    pub fn outcome(&self) -> Outcome {
        let mut first = None;
        let mut waiting = false;
        for peer in &self.peers {
            match peer.status() {
                Status::Failed(failure) => {
                    return Outcome::Failed(self.first_failure.unwrap_or(failure));
                }
                Status::Waiting => waiting = true,
                Status::Established(secrets) => {
                    first.get_or_insert(secrets);
                }
            }
        }
        if waiting {
            Outcome::Running
        } else {
            Outcome::Established(first.unwrap_or_default())
        }
    }

    fn note_failure(&mut self, party: Party) {
        if let (None, Some(Status::Failed(failure))) = (self.first_failure, self.status(party)) {
            self.first_failure = Some(failure);
        }
    }

    /// Ends the exchange and gives the random source back.
    #[must_use]
    pub fn into_rng(self) -> Box<dyn CryptoRng> {
        self.rng
    }

    /// Carries every message at once and in order, as a network without loss would; timers run
    /// out only when nothing is under way. Gives every message of a party with the work before it;
    /// packets that RADIUS proxies pass on are not among them.
    pub fn run(&mut self) -> (Vec<Emission>, Outcome) {
        let mut log = Vec::new();
        let mut queue: std::collections::VecDeque<Emission> = self.start().into();
        // Every party gives up after a bounded number of time-outs, so this ends.
        loop {
            while let Some(emission) = queue.pop_front() {
                queue.extend(self.deliver_through(&emission.message).emissions);
                log.push(emission);
            }
            let waiting: Vec<Party> = self
                .peers
                .iter()
                .filter(|peer| peer.status() == Status::Waiting)
                .map(|peer| peer.party())
                .collect();
            if waiting.is_empty() || matches!(self.outcome(), Outcome::Failed(_)) {
                return (log, self.outcome());
            }
            for party in waiting {
                queue.extend(self.time_out(party).emissions);
            }
        }
    }
}
