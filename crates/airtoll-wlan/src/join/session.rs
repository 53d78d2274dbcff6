//! One negotiation of one station, and the read access that other subsystems have to it.

use airtoll_handshakes::link::agreed::Link;
use airtoll_handshakes::{
    Failure, Message, Negotiation, Party, Secrets, Sides, Stage, Status, TunnelMove,
};
use airtoll_units::{Duration, Instant};
use rand_core::CryptoRng;

use super::timeline::Timeline;
use super::timers::{PAUSES, Timer};
use super::{Join, PARTIES, Signal};
use crate::address::Locator;
use crate::id::{Ends, NodeId, Pair, RadioId, SessionId, SignalId};

/// Progress of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Standing {
    Waiting,
    Negotiating,
    /// Everything is agreed on, and the last work was done then.
    Joined(Instant),
    Failed(Stage, Failure),
}

/// The aim of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// To join at an access point.
    Entry,
    /// Pre-authentication: the station is still at another access point, and its EAPOL packets go
    /// as data through the old access point and the distribution system.
    Ahead,
    /// New group keys for the station of an association that stands.
    Renewal,
    /// To join again at the same access point.
    Return,
}

/// Nodes of the parties of a negotiation.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Parties {
    station: NodeId,
    /// The radio of the station in the BSS of the session.
    radio: RadioId,
    access_point: NodeId,
    /// The radio of the access point in the BSS of the session, and the ID of that link.
    at: (RadioId, u8),
    /// The others that take part, in the order of [`Party`].
    others: [Option<NodeId>; PARTIES],
}

impl Parties {
    /// A station with its radio, and its access point, whose first radio is in the BSS.
    pub const fn new((station, radio): (NodeId, RadioId), access_point: NodeId) -> Self {
        Self {
            station,
            radio,
            access_point,
            at: (RadioId::first_of(access_point), 0),
            others: [None; PARTIES],
        }
    }

    pub const fn station(&self) -> NodeId {
        self.station
    }

    /// The radio of the station in the BSS of the session.
    pub const fn radio(&self) -> RadioId {
        self.radio
    }

    pub const fn access_point(&self) -> NodeId {
        self.access_point
    }

    /// With this radio of the access point in the BSS, on the link with this ID.
    pub const fn on_link(mut self, radio: RadioId, id: u8) -> Self {
        self.at = (radio, id);
        self
    }

    /// The radio of the access point in the BSS of the session.
    pub const fn access_point_radio(&self) -> RadioId {
        self.at.0
    }

    /// Sets the radio by which the station negotiates.
    pub const fn set_radio(&mut self, radio: RadioId) {
        self.radio = radio;
    }

    /// Sets the node of a party.
    pub const fn set(&mut self, party: Party, node: NodeId) {
        match party {
            Party::Station => self.station = node,
            Party::AccessPoint => {
                self.access_point = node;
                self.at = (RadioId::first_of(node), 0);
            }
            other => self.others[other as usize] = Some(node),
        }
    }

    /// The node of a party, if it takes part.
    pub const fn node(&self, party: Party) -> Option<NodeId> {
        match party {
            Party::Station => Some(self.station),
            Party::AccessPoint => Some(self.access_point),
            other => self.others[other as usize],
        }
    }
}

/// One negotiation of one station.
pub(crate) struct Session {
    /// Nodes of the parties.
    pub(super) nodes: Parties,
    /// Nodes of the RADIUS proxies, that of the access point first.
    pub(super) proxies: Vec<NodeId>,
    /// The node that sets up the tunnels: the station, or a host behind it.
    pub(super) tunnelling: NodeId,
    /// The outer address of that node's tunnels.
    pub(super) outside: Locator,
    pub(super) negotiation: Negotiation,
    /// Counts stages: a message of an earlier one is late.
    pub(super) stage: u32,
    /// The next stage is scheduled.
    pub(super) advancing: bool,
    pub(super) standing: Standing,
    pub(super) started: Instant,
    /// Start of the present stage, and lengths of those before it.
    pub(super) stage_began: Instant,
    pub(super) stages: Vec<(Stage, Duration)>,
    /// End of the work for the reaction at hand.
    pub(super) done: Instant,
    pub(super) timers: [Timer; PARTIES],
    pub(super) timeline: Timeline,
    /// Secrets of the stage under way.
    pub(super) agreed: Secrets,
    /// The station waits for an advertisement of a mobility agent, or for the lack of one.
    pub(super) listens: bool,
    /// How long it waited.
    pub(super) movement: Option<Duration>,
    /// The keys were reported.
    pub(super) recorded: bool,
    pub(super) protection_octets: u32,
    pub(super) purpose: Purpose,
    /// The radio of the station in the BSS that it leaves, where the session speaks with
    /// that access point, too.
    pub(super) departing: Option<RadioId>,
    /// The first message from the new link makes the station leave the old one.
    pub(super) leaves_by_message: bool,
    /// The station has left the access point.
    pub(super) left: bool,
    /// Renewal round of the group keys that it has.
    pub(super) group_round: u32,
    /// EAPOL-Key frames of the access point, which numbers them.
    pub(super) key_frames: u64,
    /// After a failure the station begins again.
    tries_again: bool,
    /// The station maps its passphrase to a key whenever it begins.
    pub(super) maps_passphrase: bool,
    /// The passphrase is mapped, or being mapped.
    pub(super) mapped: bool,
    /// Times that it began.
    pub(super) attempts: u32,
    /// The failure of the attempt before.
    pub(super) earlier: Option<(Stage, Failure)>,
    /// The last request that the RADIUS server took.
    pub(super) request: TakenRequest,
}

/// A request that a RADIUS server took, by which it recognises a repeated one.
#[derive(Debug, Default)]
pub(super) struct TakenRequest {
    octets: Vec<u8>,
    /// Its answer has left.
    answered: bool,
}

/// The fate of a request that comes to a RADIUS server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Taken {
    /// It works on it.
    New,
    /// It sends the answer once more, which it keeps.
    Again,
    /// It works on the same request, and drops this one.
    Dropped,
}

impl TakenRequest {
    /// A request arrives (RFC 5080 section 2.2.2).
    pub(super) fn take(&mut self, octets: &[u8]) -> Taken {
        match (self.octets == octets, self.answered) {
            (true, true) => Taken::Again,
            (true, false) => Taken::Dropped,
            (false, _) => {
                self.octets = octets.to_vec();
                self.answered = false;
                Taken::New
            }
        }
    }

    /// An answer leaves.
    pub(super) const fn answer(&mut self) {
        self.answered = true;
    }
}

impl Session {
    /// A session that nothing has started. `nodes` holds the parties in the order of [`Party`].
    pub fn new(
        nodes: Parties,
        (tunnelling, outside): (NodeId, Locator),
        negotiation: Negotiation,
        protection_octets: u32,
        purpose: Purpose,
    ) -> Self {
        Self {
            nodes,
            proxies: Vec::new(),
            tunnelling,
            outside,
            negotiation,
            stage: 0,
            advancing: false,
            standing: Standing::Waiting,
            started: Instant::ZERO,
            stage_began: Instant::ZERO,
            stages: Vec::new(),
            done: Instant::ZERO,
            timers: Default::default(),
            timeline: Timeline::default(),
            agreed: Secrets::new(),
            listens: false,
            movement: None,
            recorded: false,
            protection_octets,
            purpose,
            departing: None,
            leaves_by_message: false,
            left: false,
            group_round: 0,
            key_frames: 0,
            request: TakenRequest::default(),
            tries_again: false,
            maps_passphrase: false,
            mapped: false,
            attempts: 0,
            earlier: None,
        }
    }

    /// With a station that begins again after a failure (`again`), and maps its passphrase to a key
    /// whenever it begins (`maps`).
    pub const fn of_a_station_that(mut self, again: bool, maps: bool) -> Self {
        self.tries_again = again;
        self.maps_passphrase = maps;
        self
    }

    /// Whether the station drops its PMKSA because of this failure.
    pub(super) const fn forgets_after(&self, failure: Failure) -> bool {
        matches!(failure, Failure::UnknownPmksa { .. }) && !self.negotiation.keeps_stale_pmksa()
    }

    /// How long the station pauses before it begins again after this failure; `None` if it does not.
    pub(super) fn pause_after(&self, failure: Failure) -> Option<Duration> {
        if self.forgets_after(failure) {
            // wpa_supplicant goes on at once (`sme_event_assoc_reject` in sme.c).
            return Some(Duration::ZERO);
        }
        let failed = (self.attempts as usize).saturating_sub(1);
        let pause = PAUSES[failed.min(PAUSES.len() - 1)];
        self.tries_again.then_some(pause)
    }

    /// Whether its attempts are counted.
    pub(super) const fn counts_attempts(&self) -> bool {
        self.tries_again || self.attempts > 1
    }

    /// With RADIUS proxies at these nodes between access point and server, that of the access point
    /// first.
    pub fn through(mut self, proxies: Vec<NodeId>) -> Self {
        self.proxies = proxies;
        self
    }

    /// A session of the same parties beside an association.
    pub(super) fn beside(first: &Self, negotiation: Negotiation, purpose: Purpose) -> Self {
        Self {
            // Pairwise keys outlive a renewal of group keys, and their packet numbers go on.
            recorded: purpose == Purpose::Renewal,
            proxies: first.proxies.clone(),
            ..Self::new(
                first.nodes,
                (first.tunnelling, first.outside),
                negotiation,
                first.protection_octets,
                purpose,
            )
        }
    }

    /// A further negotiation of this session; late messages of the one before are ignored.
    pub(super) fn again(&mut self, negotiation: Negotiation) {
        self.negotiation = negotiation;
        self.stage += 1;
        self.advancing = false;
    }

    /// The node of a party, if it takes part.
    pub(super) const fn node(&self, party: Party) -> Option<NodeId> {
        self.nodes.node(party)
    }

    pub(super) const fn station(&self) -> NodeId {
        self.nodes.station
    }

    pub(super) const fn access_point(&self) -> NodeId {
        self.nodes.access_point
    }

    pub(super) const fn is_joined(&self) -> bool {
        matches!(self.standing, Standing::Joined(_))
    }

    /// The node that does the work of a party in the present stage.
    pub(super) fn worker(&self, party: Party) -> NodeId {
        match (party, self.negotiation.stage()) {
            (Party::Station, Some(Stage::Tunnel)) => self.tunnelling,
            _ => self.sender(party),
        }
    }

    /// The node of a party that acts, and therefore takes part.
    fn sender(&self, party: Party) -> NodeId {
        self.node(party).expect("a party that acts has a node")
    }

    /// Sender and receiver of a message; there may be no receiver.
    pub(super) fn ends(&self, message: &Message) -> (NodeId, Option<NodeId>) {
        let tunnel = [message.from, message.to].contains(&Party::Gateway);
        let node = |party| match party {
            Party::Station if tunnel => Some(self.tunnelling),
            _ => self.node(party),
        };
        let from = node(message.from).unwrap_or_else(|| self.sender(message.from));
        (from, node(message.to))
    }

    /// Radios of the sender and the receiver of a frame; there may be no receiver.
    pub(super) fn radios(&self, message: &Message) -> (RadioId, Option<RadioId>) {
        let old = [message.from, message.to].contains(&Party::OldAccessPoint);
        let radio = |party| match party {
            Party::Station => self.departing.filter(|_| old).or(Some(self.nodes.radio)),
            Party::AccessPoint => Some(self.nodes.access_point_radio()),
            _ => self.node(party).map(RadioId::first_of),
        };
        let from = radio(message.from);
        let from = from.unwrap_or_else(|| RadioId::first_of(self.sender(message.from)));
        (from, radio(message.to))
    }

    /// IDs of the links of the association, increasing.
    pub(super) fn link_ids(&self) -> Vec<u8> {
        match &self.negotiation.link().multi_link {
            Some(devices) => devices.ids(),
            None => vec![self.nodes.at.1],
        }
    }

    /// Everything agreed on so far.
    pub(super) fn secrets(&self) -> Secrets {
        let mut secrets = self.negotiation.secrets().clone();
        secrets.extend(self.agreed.clone());
        secrets
    }

    pub(super) fn has_agreed(&mut self, party: Party) -> bool {
        let exchange = self.negotiation.exchange();
        matches!(
            exchange.and_then(|e| e.status(party)),
            Some(Status::Established(_))
        )
    }
}

impl Join {
    /// The message with this number.
    pub fn signal(&self, id: SignalId) -> Option<&Signal> {
        self.signals.get(id)?.as_ref()
    }

    /// Sender and receiver of the message with this number.
    pub fn ends(&self, id: SignalId) -> Option<Ends<NodeId>> {
        let signal = self.signal(id)?;
        let session = &self.sessions[signal.session];
        if let Some(hop) = signal.hop {
            return session.hop_ends(hop, &signal.message);
        }
        let (from, to) = session.ends(&signal.message);
        Some(Ends { from, to: to? })
    }

    /// Outer addresses of the ends of the message with this number, where it belongs to a tunnel.
    pub fn outside(&self, id: SignalId) -> Option<Ends<Locator>> {
        let signal = self.signal(id)?;
        let session = &self.sessions[signal.session];
        let (from, to) = session.ends(&signal.message);
        let address = |node: NodeId| {
            if node == session.tunnelling {
                session.outside
            } else {
                node.into()
            }
        };
        Some(Ends {
            from: address(from),
            to: address(to?),
        })
    }

    /// The outer address of the tunnels that a session sets up or keeps.
    pub fn outside_of(&self, id: SessionId) -> Locator {
        self.sessions[id].outside
    }

    /// The first session of a station.
    pub fn first_of(&self, station: NodeId) -> Option<SessionId> {
        let own = |s: &Session| s.station() == station;
        self.sessions.find(own)
    }

    /// The first negotiation of a station that joins in simulated time by this radio.
    pub fn negotiation(&self, radio: RadioId) -> Option<&Negotiation> {
        let first = self.sessions.find(|s| s.nodes.radio == radio)?;
        Some(&self.sessions[first].negotiation)
    }

    /// Sessions in which a station joins an access point by this radio.
    pub fn entries_of(&self, radio: RadioId) -> usize {
        let own = |s: &&Session| s.purpose == Purpose::Entry && s.nodes.radio == radio;
        self.sessions.iter().filter(own).count()
    }

    /// The link that a session negotiates.
    pub fn link_of(&self, id: SessionId) -> &Link {
        self.sessions[id].negotiation.link()
    }

    /// A negotiation as that of a session, from its beginning.
    pub fn anew(&self, id: SessionId, draws: Box<dyn CryptoRng>) -> Option<Negotiation> {
        self.sessions[id].negotiation.anew(false, draws).ok()
    }

    /// The PMK of a session.
    pub fn pmk_of(&self, id: SessionId) -> Option<Vec<u8>> {
        self.sessions[id].negotiation.pmk()
    }

    /// Everything that the parties of a session have agreed on so far.
    pub fn secrets_of(&self, id: SessionId) -> Secrets {
        self.sessions[id].secrets()
    }

    /// Tells a session which tunnels exist already, and where their ends will be.
    pub fn keep_tunnels(
        &mut self,
        id: SessionId,
        ends: Sides<[u8; 4]>,
        earlier: &Secrets,
        way: TunnelMove,
    ) {
        let negotiation = &mut self.sessions[id].negotiation;
        negotiation.set_tunnel_ends(ends);
        negotiation.keep_tunnels(earlier, way);
    }

    /// Start of the traffic.
    pub const fn began(&self) -> Instant {
        self.began
    }

    /// Station and access point of a session.
    pub fn ends_of(&self, id: SessionId) -> Pair<NodeId> {
        let session = &self.sessions[id];
        Pair {
            station: session.station(),
            access_point: session.access_point(),
        }
    }

    /// Radios of station and access point of a session.
    pub fn radios_of(&self, id: SessionId) -> Pair<RadioId> {
        let nodes = &self.sessions[id].nodes;
        Pair {
            station: nodes.radio,
            access_point: nodes.access_point_radio(),
        }
    }

    /// The node of a party of a session, if it takes part.
    pub fn party_of(&self, id: SessionId, party: Party) -> Option<NodeId> {
        self.sessions[id].node(party)
    }

    /// The session in which a host listens for a mobility agent.
    pub fn listening(&self, host: NodeId) -> Option<SessionId> {
        let own = |s: &Session| s.listens && s.station() == host;
        self.sessions.find(own)
    }

    /// Whether the station of a session listens for a mobility agent.
    pub fn listens(&self, id: SessionId) -> bool {
        self.sessions[id].listens
    }

    /// Whether the keys of the tunnels of a node come with a negotiation.
    pub fn negotiates_tunnels(&self, node: NodeId) -> bool {
        let own = |s: &Session| s.tunnelling == node || s.station() == node;
        self.sessions.iter().any(own)
    }

    /// Whether the link of a station to an access point stands.
    pub fn is_linked(&self, station: NodeId, access_point: NodeId) -> bool {
        let mut own = self.sessions.iter().filter(|s| {
            s.purpose == Purpose::Entry
                && (s.station(), s.access_point()) == (station, access_point)
                && s.standing != Standing::Waiting
        });
        let Some(session) = own.next_back() else {
            return self.first_of(station).is_none();
        };
        let linked = session.is_joined()
            || matches!(
                session.negotiation.stage(),
                Some(Stage::MobileIp | Stage::Tunnel | Stage::TunnelMove)
            );
        linked && !self.is_off(station) && !session.left
    }
}

#[cfg(test)]
mod tests {
    use super::{Taken, TakenRequest};

    #[test]
    fn a_request_is_taken_once_dropped_while_it_is_worked_on_and_then_answered_again() {
        let mut request = TakenRequest::default();
        assert_eq!(request.take(&[1, 2]), Taken::New);
        assert_eq!(request.take(&[1, 2]), Taken::Dropped);
        request.answer();
        assert_eq!(request.take(&[1, 2]), Taken::Again);
        assert_eq!(request.take(&[1, 3]), Taken::New);
        assert_eq!(request.take(&[1, 3]), Taken::Dropped);
    }
}
