//! Joining: 802.11 authentication and association, EAP, key handshakes, Mobile IP registration and
//! the negotiation of tunnels, in simulated time.
//!
//! [`Join`] owns one [`Session`] per negotiation and the messages under way. Each input carries its
//! instant. Effects on CPUs, links, the event queue and observers are [`Action`]s in the outbox of
//! the caller, which carries them out in order and reports back ([`Join::worked`],
//! [`Join::arrived`], [`Join::lost`]). Messages keep the octets that `airtoll_handshakes`
//! composed; time-outs follow the standards or the usual programs (`timers`).
//!
//! A session advances to its next stage when all parties of the present one are done
//! ([`Negotiation::advance`]).

mod action;
mod carry;
mod flood;
mod group_keys;
mod newcomers;
mod radius;
mod rejoin;
mod renewal;
mod rows;
mod session;
pub(crate) mod stream;
mod timeline;
mod timers;

use airtoll_engine::Streams;
use airtoll_handshakes::{
    Carrier, Message, Negotiation, Outcome, Party, Reaction, Stage, Status, describe,
};
use airtoll_units::{Duration, Instant};

pub(crate) use action::{Action, Asleep, Outbox, Then};
pub(crate) use flood::Flood;
pub(crate) use group_keys::{common_ciphers, weakest};
pub(crate) use newcomers::Newcomer;
pub(crate) use rejoin::Deauthentication;
pub(crate) use renewal::Renewal;
pub(crate) use rows::JoinRow;
pub(crate) use session::{Parties, Purpose, Session};

use crate::event::{Forged, JoinEvent};
use crate::id::{FloodId, NodeId, SessionId, SignalId, StreamId, Table};
use crate::transport::TcpSystem;
use newcomers::Newcomers;
use rejoin::Rejoins;
use renewal::Renewals;
use session::{Standing, Taken};
use stream::Stream;

/// Parties of a negotiation.
pub(crate) const PARTIES: usize = 7;
/// Time that messages under way have after the last station failed to join.
const AFTER_FAILURE: Duration = Duration::from_millis(100);

/// A message under way.
#[derive(Debug)]
pub(crate) struct Signal {
    session: SessionId,
    /// The part of the session that it belongs to.
    part: Part,
    message: Message,
    /// Whether its first transmission has ended.
    seen: bool,
    /// Sent under the pairwise key.
    protected: bool,
    /// A RADIUS packet between nodes of a chain with proxies: its link, that of the access point first.
    hop: Option<usize>,
}

impl Signal {
    /// The message that it carries.
    pub fn message(&self) -> &Message {
        &self.message
    }

    /// Whether it is sent under the pairwise key.
    pub fn is_protected(&self) -> bool {
        self.protected
    }
}

/// The part of a session that a message belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    /// The stage with this number.
    Stage(u32),
    /// A scan.
    Scan,
    /// The association as a whole: null frames, SA Query, deauthentication.
    Association,
    /// A flood.
    Forged(Forged),
}

/// Number of the condition under which a party asks for a token or a cookie.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BusyThreshold {
    /// The access point (SAE anti-clogging tokens) or the gateway (WireGuard cookies).
    pub party: Party,
    pub node: NodeId,
    /// Half-open handshakes at which it begins to ask.
    pub half_open: u32,
}

/// The control plane of all links; without sessions where stations are joined from the start.
#[derive(Default)]
pub(crate) struct Join {
    sessions: Table<SessionId, Session>,
    signals: Table<SignalId, Option<Signal>>,
    free: Vec<SignalId>,
    /// First joins; those of hand-overs follow.
    initial: usize,
    /// First joins before the traffic that are neither done nor failed.
    left: u32,
    newcomers: Newcomers,
    streams: Option<Streams>,
    renewals: Renewals,
    rejoins: Rejoins,
    floods: Table<FloodId, Flood>,
    busy: Vec<BusyThreshold>,
    /// Access points with a group key for each station.
    own_group_keys: Vec<NodeId>,
    /// Connections of RADIUS over TLS.
    connections: Table<StreamId, Stream>,
    /// TCP of each node and the MTU of its interfaces.
    hosts: Table<NodeId, (TcpSystem, u32)>,
    /// Start and end of the traffic.
    began: Instant,
    ends: Instant,
}

/// How a scenario sets up joining, beside the sessions.
pub(crate) struct Setup {
    pub streams: Streams,
    /// Sessions that begin during the traffic, and the time that they have from the latest start.
    pub newcomers: (Vec<Newcomer>, Duration),
    pub renewals: Vec<Renewal>,
    pub deauthentications: Vec<Deauthentication>,
    pub busy: Vec<BusyThreshold>,
    /// Access points that give each station a group key of its own.
    pub own_group_keys: Vec<NodeId>,
    /// TCP of each node and the MTU of its interfaces.
    pub hosts: Table<NodeId, (TcpSystem, u32)>,
}

impl Join {
    /// Adds a session that nothing starts yet.
    pub fn add(&mut self, session: Session) -> SessionId {
        self.sessions.push(session)
    }

    /// Sets the parts that are not sessions. The sessions so far are the first joins.
    pub fn set_up(&mut self, setup: Setup) {
        self.initial = self.sessions.len();
        let (newcomers, limit) = setup.newcomers;
        self.left = (self.initial - newcomers.len()) as u32;
        self.newcomers = Newcomers::new(newcomers, limit);
        self.streams = Some(setup.streams);
        self.renewals = Renewals::new(setup.renewals);
        self.rejoins = Rejoins::new(setup.deauthentications);
        self.busy = setup.busy;
        self.own_group_keys = setup.own_group_keys;
        self.hosts = setup.hosts;
    }

    /// An event is due.
    pub fn due(&mut self, now: Instant, event: JoinEvent, out: &mut Outbox) {
        match event {
            JoinEvent::Start { session } => self.start(now, session, out),
            JoinEvent::BeginTraffic => out.push(Action::BeginTraffic),
            JoinEvent::GiveUp => self.give_up(now, out),
            JoinEvent::Advance { session } => self.advance(now, session, out),
            JoinEvent::Request { signal } => self.request_due(now, signal, out),
            JoinEvent::Send { signal } => self.send(now, signal, out),
            JoinEvent::Renew { renewal, again } => self.renew(now, renewal, again, out),
            JoinEvent::Deauthenticate { number } => self.deauthenticate(now, number, out),
            JoinEvent::Forge { flood } => self.forge(now, flood, out),
            JoinEvent::FrameDone { flood, reply } => self.frame_done(now, (flood, reply), out),
            JoinEvent::Query { entry } => self.query(now, entry, out),
            JoinEvent::Rejoin { entry } => self.rejoin(now, entry, out),
            JoinEvent::StreamTimer { stream, receiver } => {
                self.stream_timer(now, stream, receiver, out);
            }
            JoinEvent::StreamFlight { stream } => self.send_flight(now, stream, out),
            JoinEvent::Timer { session, party } => self.timer_due(now, session, party, out),
        }
    }

    /// A session begins.
    pub fn start(&mut self, now: Instant, id: SessionId, out: &mut Outbox) {
        let session = &mut self.sessions[id];
        if session.attempts == 0 && !session.mapped || session.purpose != Purpose::Entry {
            session.started = now;
        }
        session.standing = Standing::Negotiating;
        if session.maps_passphrase && !std::mem::replace(&mut session.mapped, true) {
            out.push(Action::WorkOnCpu {
                node: session.station(),
                operations: session.negotiation.preparation(),
                octets: None,
                then: Then::Begin(id),
            });
            return;
        }
        session.attempts += 1;
        self.hand_out_group_keys(id);
        self.start_stage(now, id, out);
    }

    /// The parties that speak first in the present stage do so.
    fn start_stage(&mut self, now: Instant, id: SessionId, out: &mut Outbox) {
        let session = &mut self.sessions[id];
        session.timers = Default::default();
        session.stage_began = now;
        let Some(exchange) = session.negotiation.exchange() else {
            return;
        };
        let emissions = exchange.start();
        let parties: Vec<Party> = exchange.parties().collect();
        session.listens = session.negotiation.listens();
        let (listens, host) = (session.listens, session.station());
        for party in parties {
            self.arm(id, party, now, out);
        }
        let reaction = Reaction {
            emissions,
            operations: Vec::new(),
        };
        self.perform(now, id, Party::Station, reaction, out);
        if listens {
            out.push(Action::ListensForAgents { host });
        }
    }

    /// A station knows its network: it registers with the agent of `advertisement`, or solicits an
    /// advertisement if there is none.
    pub fn register(
        &mut self,
        now: Instant,
        id: SessionId,
        advertisement: Option<Message>,
        out: &mut Outbox,
    ) {
        let session = &mut self.sessions[id];
        session.listens = false;
        session.movement = Some(now - session.stage_began);
        let Some(exchange) = session.negotiation.exchange() else {
            return;
        };
        let reaction = match advertisement {
            Some(message) => exchange.deliver(&message),
            None => exchange.time_out(Party::Station),
        };
        self.arm(id, Party::Station, now, out);
        self.perform(now, id, Party::Station, reaction, out);
    }

    /// Spends the work of a reaction on the CPUs; its messages leave as their work gets done.
    fn perform(
        &mut self,
        now: Instant,
        id: SessionId,
        party: Party,
        reaction: Reaction,
        out: &mut Outbox,
    ) {
        self.sessions[id].done = now;
        for emission in reaction.emissions {
            let message = emission.message;
            let session = &mut self.sessions[id];
            let numbered = message.from == Party::AccessPoint
                && message.carrier == Carrier::Eapol
                && describe(&message).0 == "EAPOL-Key";
            session.key_frames += u64::from(numbered);
            let node = session.worker(message.from);
            let octets = Some(message.octets.len() as u32);
            let part = Part::Stage(session.stage);
            let hop = session.first_hop(&message);
            let signal = self.insert(Signal {
                session: id,
                part,
                message,
                seen: false,
                protected: false,
                hop,
            });
            out.push(Action::WorkOnCpu {
                node,
                operations: emission.operations,
                octets,
                then: Then::Send(signal),
            });
        }
        out.push(Action::WorkOnCpu {
            node: self.sessions[id].worker(party),
            operations: reaction.operations,
            octets: None,
            then: Then::Judge(id),
        });
    }

    /// The CPU will be done with the work of an [`Action::WorkOnCpu`] at `done`.
    pub fn worked(&mut self, now: Instant, then: Then, done: Instant, out: &mut Outbox) {
        match then {
            Then::Nothing => {}
            Then::Send(id) => {
                let Some(signal) = &self.signals[id] else {
                    return;
                };
                let (session, party) = (signal.session, signal.message.from);
                let state = &mut self.sessions[session];
                state.done = state.done.max(done);
                state.timers[party as usize].sent(signal.message.carrier);
                let event = JoinEvent::Send { signal: id };
                out.push(Action::Schedule { at: done, event });
                self.arm(session, party, done, out);
            }
            Then::Forward(id) => {
                let event = JoinEvent::Send { signal: id };
                out.push(Action::Schedule { at: done, event });
            }
            Then::Begin(session) => {
                let event = JoinEvent::Start { session };
                out.push(Action::Schedule { at: done, event });
            }
            Then::Taken(flood, reply) => {
                let event = JoinEvent::FrameDone { flood, reply };
                out.push(Action::Schedule { at: done, event });
            }
            Then::Flight(stream) => {
                let event = JoinEvent::StreamFlight { stream };
                out.push(Action::Schedule { at: done, event });
            }
            Then::Judge(session) => {
                let state = &mut self.sessions[session];
                let done = state.done.max(done);
                self.judge(now, session, done, out);
            }
        }
    }

    /// Checks whether the present stage is over once its work is done.
    fn judge(&mut self, now: Instant, id: SessionId, done: Instant, out: &mut Outbox) {
        let session = &mut self.sessions[id];
        if session.standing != Standing::Negotiating || session.advancing {
            return;
        }
        let stage = session.negotiation.stage().unwrap_or(Stage::Tunnel);
        let Some(exchange) = session.negotiation.exchange() else {
            return;
        };
        match exchange.outcome() {
            Outcome::Running => {}
            Outcome::Failed(failure) => {
                session.standing = Standing::Failed(stage, failure);
                self.settle(now, id, out);
            }
            Outcome::Established(_) => {
                session.advancing = true;
                let event = JoinEvent::Advance { session: id };
                out.push(Action::Schedule { at: done, event });
            }
        }
    }

    /// The present stage is over: the next one begins, or the session ends.
    fn advance(&mut self, now: Instant, id: SessionId, out: &mut Outbox) {
        let session = &mut self.sessions[id];
        if session.standing != Standing::Negotiating {
            return;
        }
        session.advancing = false;
        session.stage += 1;
        self.hand_out_group_keys(id);
        let session = &mut self.sessions[id];
        let over = session.negotiation.stage();
        let took = now - session.stage_began;
        session.stages.extend(over.map(|stage| (stage, took)));
        // The policy was read when the negotiation was made, so this cannot fail.
        let goes_on = session.negotiation.advance().unwrap_or(false);
        match over {
            Some(Stage::Keys | Stage::FastTransition) => self.tell_keys(id, out),
            Some(Stage::Tunnel) => self.tell_tunnel(id, out),
            _ => {}
        }
        self.tell_link(id, out);
        if goes_on {
            self.start_stage(now, id, out);
        } else {
            self.sessions[id].standing = Standing::Joined(now);
            self.settle(now, id, out);
        }
    }

    /// A first join that failed begins again, if its station does so.
    fn begin_again(&mut self, now: Instant, id: SessionId, out: &mut Outbox) -> bool {
        let session = &self.sessions[id];
        let (Standing::Failed(stage, failure), Some(streams)) = (session.standing, self.streams)
        else {
            return false;
        };
        let first = session.purpose == Purpose::Entry && id.index() < self.initial;
        let Some(pause) = session.pause_after(failure).filter(|_| first) else {
            return false;
        };
        let name = format!("join/{}/{}", session.nodes.radio(), session.attempts);
        let draws = streams.named(&name).into_generator();
        let forgets = session.forgets_after(failure);
        let Ok(negotiation) = session.negotiation.anew(forgets, draws) else {
            return false;
        };
        let session = &mut self.sessions[id];
        session.again(negotiation);
        session.standing = Standing::Waiting;
        session.earlier = Some((stage, failure));
        session.recorded = false;
        session.key_frames = 0;
        session.stages.clear();
        let event = JoinEvent::Start { session: id };
        out.push(Action::Schedule {
            at: now + pause,
            event,
        });
        true
    }

    /// A session has joined or failed.
    fn settle(&mut self, now: Instant, id: SessionId, out: &mut Outbox) {
        if self.begin_again(now, id, out) {
            return;
        }
        match self.sessions[id].purpose {
            Purpose::Entry => self.catch_up(now, id, out),
            // The station asks for the outcome when it leaves.
            Purpose::Ahead => return,
            Purpose::Renewal => return self.renewed(now, id, out),
            Purpose::Return => return self.returned(now, id, out),
        }
        let session = &self.sessions[id];
        if id.index() < self.initial {
            if session.node(Party::HomeAgent).is_some() {
                out.push(Action::Registered {
                    host: session.station(),
                    access_point: session.access_point(),
                });
            }
            if self.newcomers.has(id) {
                self.newcomer_settled(now, id, out);
            } else {
                if session.is_joined() {
                    out.push(Action::Joined {
                        station: session.station(),
                        since: session.started,
                    });
                }
                self.one_less(now, out);
            }
        } else if session.is_joined() {
            out.push(Action::Moved { session: id });
        } else {
            let at = now + AFTER_FAILURE;
            out.push(Action::EndTrialBy { at });
        }
    }

    /// Reports once per session the keys that protect its frames.
    fn tell_keys(&mut self, id: SessionId, out: &mut Outbox) {
        let session = &mut self.sessions[id];
        if std::mem::replace(&mut session.recorded, true) {
            return;
        }
        if let Some(exchange) = session.negotiation.exchange() {
            session.agreed = exchange.agreed(Party::AccessPoint);
        }
        out.push(Action::KeysAgreed {
            station: session.nodes.radio(),
            access_point: session.nodes.access_point_radio(),
            secrets: session.secrets(),
        });
    }

    fn tell_tunnel(&self, id: SessionId, out: &mut Outbox) {
        let session = &self.sessions[id];
        out.push(Action::TunnelAgreed {
            node: session.tunnelling,
            outside: session.outside,
            secrets: session.secrets(),
        });
    }

    /// A station has joined or failed before the traffic: after the last one the traffic begins, or
    /// the trial ends.
    fn one_less(&mut self, now: Instant, out: &mut Outbox) {
        self.left -= 1;
        if self.left > 0 {
            return;
        }
        let failed = |session: &Session| matches!(session.standing, Standing::Failed(..));
        if self.sessions.iter().any(failed) {
            let at = now + AFTER_FAILURE;
            out.push(Action::EndTrialBy { at });
        } else {
            out.push(Action::BeginTraffic);
        }
    }

    /// The traffic begins: periods of renewals and times of deauthentications count from now.
    pub fn traffic_began(&mut self, now: Instant, ends: Instant, out: &mut Outbox) {
        (self.began, self.ends) = (now, ends);
        self.schedule_newcomers(now, out);
        self.schedule_renewals(now, out);
        self.schedule_deauthentications(now, out);
    }

    /// A message is through the stack of its receiver.
    pub fn arrived(&mut self, now: Instant, id: SignalId, out: &mut Outbox) {
        let Some(signal) = self.take(id) else {
            return;
        };
        let session = signal.session;
        let stage = match signal.part {
            Part::Stage(stage) => stage,
            Part::Scan => {
                let message = signal.message;
                out.push(Action::ScanFrameArrived { session, message });
                return;
            }
            Part::Association => return self.association_frame_arrived(now, signal, out),
            Part::Forged(what) => return self.forged_arrived(now, session, what, out),
        };
        if self.anybody_is_off() {
            let station = self.sessions[session].station();
            self.note_leaving(now, station, &signal.message, signal.protected, out);
        }
        let state = &self.sessions[session];
        let current = state.standing == Standing::Negotiating && state.stage == stage;
        if !current || state.advancing {
            return;
        }
        let signal = if self.floods.is_empty() {
            Some(signal)
        } else {
            self.hold_frame(now, signal, out)
        };
        if let Some(signal) = signal {
            self.deliver(now, signal, out);
        }
    }

    /// A party takes a message of the present stage.
    fn deliver(&mut self, now: Instant, signal: Signal, out: &mut Outbox) {
        let session = signal.session;
        let state = &self.sessions[session];
        let current = state.standing == Standing::Negotiating
            && signal.part == Part::Stage(state.stage)
            && !state.advancing;
        if !current {
            return;
        }
        if let Some(hop) = signal.hop
            && !self.sessions[session].is_last_hop(hop, &signal.message)
        {
            self.relay(signal, hop, out);
            return;
        }
        let party = signal.message.to;
        let judges = match state.negotiation.stage() {
            Some(Stage::Authentication) => party == Party::AccessPoint,
            Some(Stage::Tunnel) => party == Party::Gateway,
            _ => false,
        };
        if judges && !self.busy.is_empty() {
            self.judge_busy(session, party);
        }
        let state = &mut self.sessions[session];
        if signal.message.carrier == Carrier::Radius && party == Party::AuthenticationServer {
            let server = state.worker(party);
            match state.request.take(&signal.message.octets) {
                Taken::New => {
                    let signal = self.insert(signal);
                    out.push(Action::TakeRequest { server, signal });
                    return;
                }
                Taken::Again => {}
                Taken::Dropped => return,
            }
        }
        self.react(now, signal, out);
    }

    /// A request comes out of the queue of its RADIUS server.
    fn request_due(&mut self, now: Instant, id: SignalId, out: &mut Outbox) {
        let Some(signal) = self.take(id) else {
            return;
        };
        let state = &self.sessions[signal.session];
        let current = state.standing == Standing::Negotiating
            && signal.part == Part::Stage(state.stage)
            && !state.advancing;
        if current {
            self.react(now, signal, out);
        }
    }

    /// A party reacts to a message of the present stage.
    fn react(&mut self, now: Instant, signal: Signal, out: &mut Outbox) {
        let (session, party) = (signal.session, signal.message.to);
        let state = &mut self.sessions[session];
        let Some(exchange) = state.negotiation.exchange() else {
            return;
        };
        let reaction = exchange.deliver(&signal.message);
        if !reaction.emissions.is_empty() {
            state.timers[party as usize].heard();
        }
        let moves = state.negotiation.stage() == Some(Stage::TunnelMove);
        if party == Party::Gateway && moves && state.has_agreed(party) {
            out.push(Action::GatewayFollows { session });
        }
        self.arm(session, party, now, out);
        self.perform(now, session, party, reaction, out);
    }

    /// A party counts its half-open handshakes before it takes a message.
    fn judge_busy(&mut self, id: SessionId, party: Party) {
        let Some(node) = self.sessions[id].node(party) else {
            return;
        };
        let Some(busy) = self.is_busy(node, party) else {
            return;
        };
        if let Some(exchange) = self.sessions[id].negotiation.exchange() {
            exchange.set_busy(party, busy);
        }
    }

    /// Whether a party at a node has too many half-open handshakes; `None` where it does not count them.
    fn is_busy(&mut self, node: NodeId, party: Party) -> Option<bool> {
        let mut all = self.busy.iter();
        let threshold = *all.find(|t| (t.party, t.node) == (party, node))?;
        let mut open = match party {
            Party::AccessPoint => self.clogged_by(node),
            _ => 0,
        };
        for session in &mut self.sessions {
            if session.node(party) == Some(node)
                && let Some(exchange) = session.negotiation.exchange()
            {
                open += u32::from(exchange.is_half_open(party));
            }
        }
        Some(open >= threshold.half_open)
    }

    /// A message was lost on its way.
    pub fn lost(&mut self, id: SignalId) {
        if let Some(signal) = self.take(id) {
            self.told(&signal);
        }
    }

    /// Restarts the timer of a party.
    fn arm(&mut self, id: SessionId, party: Party, at: Instant, out: &mut Outbox) {
        let session = &mut self.sessions[id];
        let Some(stage) = session.negotiation.stage() else {
            return;
        };
        let timer = &mut session.timers[party as usize];
        let deadline = at + timer.wait(stage, party, &session.negotiation);
        timer.deadline = deadline;
        out.push(Action::Schedule {
            at: deadline,
            event: JoinEvent::Timer { session: id, party },
        });
    }

    fn timer_due(&mut self, now: Instant, id: SessionId, party: Party, out: &mut Outbox) {
        let session = &mut self.sessions[id];
        if party == Party::Station && session.listens {
            return;
        }
        let timer = &mut session.timers[party as usize];
        if timer.deadline != now || session.advancing || session.standing != Standing::Negotiating {
            return;
        }
        let Some(exchange) = session.negotiation.exchange() else {
            return;
        };
        if exchange.status(party) != Some(Status::Waiting) {
            return;
        }
        timer.ran_out();
        let reaction = exchange.time_out(party);
        self.arm(id, party, now, out);
        self.perform(now, id, party, reaction, out);
    }

    /// The session of a pre-authentication ends because its station leaves; gives the PMK if the
    /// session is done, and abandons it otherwise.
    pub fn end_ahead(&mut self, id: SessionId) -> Option<Vec<u8>> {
        let session = &mut self.sessions[id];
        if session.is_joined() {
            return session.negotiation.pmk();
        }
        session.standing = Standing::Waiting;
        None
    }

    /// A session will use this negotiation.
    pub fn use_negotiation(&mut self, id: SessionId, negotiation: Negotiation) {
        self.sessions[id].negotiation = negotiation;
    }

    /// A session begins through the access point of the session `before`.
    pub fn begin_over_the_ds(&mut self, id: SessionId, before: SessionId) {
        let before = &self.sessions[before].nodes;
        let (radio, access_point) = (before.radio(), before.access_point());
        let session = &mut self.sessions[id];
        session.departing = Some(radio);
        session.nodes.set(Party::OldAccessPoint, access_point);
    }

    /// Whether the station of a session has left the access point that it joined there.
    pub fn set_left(&mut self, id: SessionId, left: bool) {
        self.sessions[id].left = left;
    }

    /// The first message from the station's new link in this session makes it leave the old one.
    pub fn set_leaves_by_message(&mut self, id: SessionId, leaves: bool) {
        self.sessions[id].leaves_by_message = leaves;
    }

    fn insert(&mut self, signal: Signal) -> SignalId {
        if let Some(id) = self.free.pop() {
            self.signals[id] = Some(signal);
            return id;
        }
        self.signals.push(Some(signal))
    }

    fn take(&mut self, id: SignalId) -> Option<Signal> {
        let signal = self.signals.get_mut(id)?.take();
        if signal.is_some() {
            self.free.push(id);
        }
        signal
    }
}

#[cfg(test)]
mod tests;
