//! Association: stations that authenticate, associate, run EAP, agree on keys, register with
//! Mobile IP and set up tunnels in simulated time, before the traffic starts.
//!
//! Takes the negotiations of `airtoll_handshakes`; gives their messages to the simulated
//! air and wires with their own octets, spends each party's work on its node's CPU, and lets
//! time-outs come when the standards or the usual programs have them (`timers`). In the end gives
//! times and counts (`timeline`). Never looks into a message but to name it.
//!
//! A negotiation goes from stage to stage when all parties of a stage are done, as
//! [`Negotiation::advance`] has it.

mod carry;
mod group_keys;
mod lookup;
mod prepare;
mod rejoin;
mod renewal;
mod rows;
mod timeline;
mod timers;

use airtoll_handshakes::{
    Carrier, Failure, Message, Negotiation, Outcome, Party, Reaction, Secrets, Stage, Status,
    describe,
};
use airtoll_units::{Duration, Instant};

pub(crate) use prepare::{add, add_ahead, link, lowest_mode, prepare};
pub(crate) use rows::AssociationRow;

pub(crate) use crate::event::AssociationEvent;
use crate::event::Event;
use crate::packet::NONE;
use crate::world::World;
use rejoin::Rejoins;
use renewal::Renewals;
use timeline::Timeline;
use timers::Timer;

/// A message under way.
#[derive(Debug)]
pub(crate) struct Signal {
    join: u32,
    /// Number of the stage it belongs to.
    stage: u32,
    pub message: Message,
    /// Whether a monitor has seen it on the air.
    seen: bool,
    /// Sent under the pairwise key.
    pub protected: bool,
}

/// How far a station is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Standing {
    Waiting,
    Negotiating,
    /// Everything is agreed on, and the last work is done then.
    Joined(Instant),
    Failed(Stage, Failure),
}

/// What a negotiation is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Purpose {
    /// To get in at an access point.
    Entry,
    /// Pre-authentication: the station is still elsewhere, and its EAPOL packets go as data through
    /// the old access point and the distribution system.
    Ahead,
    /// New group keys for the station of an association that stands.
    Renewal,
    /// To get in again where the station was before.
    Return,
}

/// One station's association.
pub(crate) struct Join {
    /// Nodes of the parties, [`crate::packet::NONE`] where a party takes no part.
    nodes: [u32; PARTIES],
    /// The node that sets up the tunnels: the station, or a host behind it.
    tunnelling: u32,
    pub negotiation: Negotiation,
    /// Counts stages, so that late messages of an earlier one are known.
    stage: u32,
    advancing: bool,
    standing: Standing,
    started: Instant,
    /// When the present stage began, and how long those before it took.
    stage_began: Instant,
    stages: Vec<(Stage, Duration)>,
    timers: [Timer; PARTIES],
    timeline: Timeline,
    /// What the stage under way has agreed on, for a recorder.
    agreed: Secrets,
    /// It is in, and its station waits until it hears an agent of Mobile IP, or misses one.
    listens: bool,
    /// How long it did.
    movement: Option<Duration>,
    /// Whether a recorder has its keys.
    recorded: bool,
    protection_octets: u32,
    purpose: Purpose,
    /// The station's node at the access point that it leaves, where it speaks with that one, too.
    departing: u32,
    /// The round of renewals whose group keys it was handed.
    group_round: u32,
    /// EAPOL-Key frames of the access point, which number them.
    key_frames: u64,
}

/// All associations of a trial; empty where stations are joined from the start.
#[derive(Default)]
pub(crate) struct Associations {
    pub joins: Vec<Join>,
    signals: Vec<Option<Signal>>,
    free: Vec<u32>,
    /// How many of them come before the traffic; hand-overs follow.
    pub initial: usize,
    /// Joins before the traffic that are neither done nor failed.
    left: u32,
    /// Lengths of traffic and warm-up, which begin when all have joined.
    duration: Duration,
    warm_up: Duration,
    renewals: Renewals,
    rejoins: Rejoins,
    /// Unfinished SAE sessions from which an access point asks for tokens, and WireGuard handshakes
    /// from which a gateway asks for cookies.
    busy_thresholds: Vec<(Party, u32, u32)>,
    /// Whether the traffic began, and when.
    pub complete: bool,
    began: Instant,
}

const PARTIES: usize = 7;
/// The stage of frames that belong to a scan.
const PROBE: u32 = u32::MAX;
/// The stage of frames about associations that ended.
const STRAY: u32 = u32::MAX - 1;
/// What is still under way when the last station fails may leave within this.
const AFTER_FAILURE: Duration = Duration::from_millis(100);

impl Associations {
    /// Lets a party count what it has not finished before it takes a message.
    fn judge_busy(&mut self, join: u32, party: Party) {
        let node = self.joins[join as usize].node(party);
        let mut all = self.busy_thresholds.iter();
        let Some(&(.., threshold)) = all.find(|t| (t.0, t.1) == (party, node)) else {
            return;
        };
        let mut open = 0;
        for join in &mut self.joins {
            if join.node(party) == node
                && let Some(exchange) = join.negotiation.exchange()
            {
                open += u32::from(exchange.is_half_open(party));
            }
        }
        if let Some(exchange) = self.joins[join as usize].negotiation.exchange() {
            exchange.set_busy(party, open >= threshold);
        }
    }

    /// The PMK of a pre-authentication that is done; one that is not is given up.
    pub fn end_ahead(&mut self, join: u32) -> Option<Vec<u8>> {
        let join = &mut self.joins[join as usize];
        if let Standing::Joined(_) = join.standing {
            return join.negotiation.pmk();
        }
        join.standing = Standing::Waiting;
        None
    }

    /// Lets a hand-over's association begin at the old access point, over the DS.
    pub fn begin_over_the_ds(&mut self, join: u32, negotiation: Negotiation, departing: u32) {
        let old = self.of(departing).map_or(NONE, |j| self.ends_of(j).1);
        let join = &mut self.joins[join as usize];
        join.negotiation = negotiation;
        join.departing = departing;
        join.nodes[Party::OldAccessPoint as usize] = old;
    }

    fn insert(&mut self, signal: Signal) -> u32 {
        if let Some(id) = self.free.pop() {
            self.signals[id as usize] = Some(signal);
            return id;
        }
        self.signals.push(Some(signal));
        (self.signals.len() - 1) as u32
    }

    fn take(&mut self, id: u32) -> Option<Signal> {
        let signal = self.signals.get_mut(id as usize)?.take();
        if signal.is_some() {
            self.free.push(id);
        }
        signal
    }
}

impl World {
    /// An event of an association.
    pub(crate) fn association_due(&mut self, event: AssociationEvent) {
        match event {
            AssociationEvent::Start { join } => {
                let now = self.stack.lower.cx.events.now();
                let state = &mut self.association.joins[join as usize];
                state.standing = Standing::Negotiating;
                state.started = now;
                self.hand_out_group_keys(join);
                self.start_stage(join);
            }
            AssociationEvent::Advance { join } => self.advance(join),
            AssociationEvent::Send { signal } => self.send_signal(signal),
            AssociationEvent::Renew { renewal, again } => self.renew(renewal, again),
            AssociationEvent::Deauthenticate { number } => self.deauthenticate(number),
            AssociationEvent::Query { entry } => self.query(entry),
            AssociationEvent::Rejoin { entry } => self.rejoin(entry),
            AssociationEvent::Timer { join, party } => self.timer_due(join, party),
        }
    }

    /// Lets whoever speaks first in the present stage do so.
    fn start_stage(&mut self, join: u32) {
        let now = self.stack.lower.cx.events.now();
        let state = &mut self.association.joins[join as usize];
        state.timers = Default::default();
        state.stage_began = now;
        let Some(exchange) = state.negotiation.exchange() else {
            return;
        };
        let emissions = exchange.start();
        let station = state.nodes[Party::Station as usize];
        state.listens = state.negotiation.listens();
        let listens = state.listens;
        let Some(exchange) = state.negotiation.exchange() else {
            return;
        };
        let parties: Vec<Party> = exchange.parties().collect();
        for party in parties {
            self.arm_party(join, party, now);
        }
        let reaction = Reaction {
            emissions,
            operations: Vec::new(),
        };
        self.perform(join, Party::Station, reaction);
        if listens {
            let host = self.mobility.host(station);
            self.lose_what_is_held(host);
            self.find_agent(host);
        }
    }

    /// A station knows where it is: it registers with the agent of this advertisement, or asks for
    /// one.
    pub(crate) fn register_with(&mut self, join: u32, advertisement: Option<Message>) {
        let now = self.stack.lower.cx.events.now();
        let state = &mut self.association.joins[join as usize];
        state.listens = false;
        state.movement = Some(now - state.stage_began);
        let Some(exchange) = state.negotiation.exchange() else {
            return;
        };
        let reaction = match advertisement {
            Some(message) => exchange.deliver(&message),
            None => exchange.time_out(Party::Station),
        };
        self.arm_party(join, Party::Station, now);
        self.perform(join, Party::Station, reaction);
    }

    /// Spends a reaction's work on the CPUs and sends its messages as it gets done.
    fn perform(&mut self, join: u32, party: Party, reaction: Reaction) {
        let now = self.stack.lower.cx.events.now();
        let mut done = now;
        for emission in reaction.emissions {
            let message = emission.message;
            let numbered = message.from == Party::AccessPoint
                && message.carrier == Carrier::Eapol
                && describe(&message).0 == "EAPOL-Key";
            let state = &mut self.association.joins[join as usize];
            let from = message.from;
            let host = &mut self.stack.lower.device.nodes[state.worker(from) as usize].host;
            let octets = message.octets.len() as u32;
            let work = host.operations_time(&emission.operations) + host.transmit.of(octets);
            let at = host.cpu.work(now, work);
            done = done.max(at);
            let timer = &mut state.timers[from as usize];
            timer.sent(message.carrier);
            state.key_frames += u64::from(numbered);
            let stage = state.stage;
            let signal = self.association.insert(Signal {
                join,
                stage,
                message,
                seen: false,
                protected: false,
            });
            let send = AssociationEvent::Send { signal };
            self.stack
                .lower
                .cx
                .events
                .schedule(at, Event::Association(send));
            self.arm_party(join, from, at);
        }
        let state = &mut self.association.joins[join as usize];
        let host = &mut self.stack.lower.device.nodes[state.worker(party) as usize].host;
        let work = host.operations_time(&reaction.operations);
        done = done.max(host.cpu.work(now, work));
        self.judge(join, done);
    }

    /// Sees whether the present stage is over once the work is done.
    fn judge(&mut self, join: u32, done: Instant) {
        let state = &mut self.association.joins[join as usize];
        if state.standing != Standing::Negotiating || state.advancing {
            return;
        }
        let stage = state.negotiation.stage().unwrap_or(Stage::Tunnel);
        let Some(exchange) = state.negotiation.exchange() else {
            return;
        };
        match exchange.outcome() {
            Outcome::Running => {}
            Outcome::Failed(failure) => {
                state.standing = Standing::Failed(stage, failure);
                self.settled(join);
            }
            Outcome::Established(_) => {
                state.advancing = true;
                let advance = AssociationEvent::Advance { join };
                self.stack
                    .lower
                    .cx
                    .events
                    .schedule(done, Event::Association(advance));
            }
        }
    }

    /// Goes on to the next stage, or ends the association.
    fn advance(&mut self, join: u32) {
        let now = self.stack.lower.cx.events.now();
        let state = &mut self.association.joins[join as usize];
        if state.standing != Standing::Negotiating {
            return;
        }
        state.advancing = false;
        state.stage += 1;
        self.hand_out_group_keys(join);
        let state = &mut self.association.joins[join as usize];
        // The policy was read when the negotiation was made, so an error cannot come any more.
        let done = state.negotiation.stage();
        state
            .stages
            .extend(done.map(|stage| (stage, now - state.stage_began)));
        let goes_on = state.negotiation.advance().unwrap_or(false);
        match done {
            Some(Stage::Keys | Stage::FastTransition) => self.tell_keys(join),
            Some(Stage::Tunnel) => self.record_tunnel(join),
            _ => {}
        }
        if goes_on {
            self.start_stage(join);
        } else {
            self.association.joins[join as usize].standing = Standing::Joined(now);
            self.settled(join);
        }
    }

    /// An association has come to its end.
    fn settled(&mut self, join: u32) {
        match self.association.joins[join as usize].purpose {
            Purpose::Entry => self.catch_up(join),
            // The station asks for its outcome when it leaves.
            Purpose::Ahead => return,
            Purpose::Renewal => return self.renewed(join),
            Purpose::Return => return self.returned(join),
        }
        let Some(handover) = self.mobility.of_join(join) else {
            let (station, access_point) = self.association.ends_of(join);
            if self.association.agents_of(join).0 != NONE {
                self.note_agent(station, access_point);
            }
            self.one_less();
            return;
        };
        if let Standing::Joined(_) = self.association.joins[join as usize].standing {
            self.moved(handover);
        } else {
            self.stack.lower.cx.end = self
                .stack
                .lower
                .cx
                .end
                .min(self.stack.lower.cx.events.now() + AFTER_FAILURE);
        }
    }

    /// Tells a recorder once what station and access point protect their frames with.
    fn tell_keys(&mut self, join: u32) {
        let state = &mut self.association.joins[join as usize];
        if self.recorder.is_none() || std::mem::replace(&mut state.recorded, true) {
            return;
        }
        if let Some(exchange) = state.negotiation.exchange() {
            state.agreed = exchange.agreed(Party::AccessPoint);
        }
        self.record_keys(join);
    }

    /// One station has joined or failed to: after the last the traffic starts, or the trial ends.
    fn one_less(&mut self) {
        let now = self.stack.lower.cx.events.now();
        self.association.left -= 1;
        if self.association.left > 0 {
            return;
        }
        let failed = |join: &Join| matches!(join.standing, Standing::Failed(..));
        if self.association.joins.iter().any(failed) {
            self.stack.lower.cx.end = self.stack.lower.cx.end.min(now + AFTER_FAILURE);
            return;
        }
        self.begin_traffic();
    }

    fn begin_traffic(&mut self) {
        let now = self.stack.lower.cx.events.now();
        let shift = now - Instant::ZERO;
        self.association.complete = true;
        self.association.began = now;
        self.stack.lower.cx.end = now + self.association.duration;
        self.stack.lower.cx.warm_up = now + self.association.warm_up;
        for (number, flow) in self.stack.flow.flows.iter_mut().enumerate() {
            flow.begin_later(shift);
            let flow_number = number as u32;
            self.stack
                .lower
                .cx
                .events
                .schedule(flow.start, Event::Application { flow: flow_number });
        }
        self.schedule_handovers();
        self.schedule_renewals();
        self.schedule_deauthentications();
        if self.stack.lower.cx.warm_up > now {
            let at = self.stack.lower.cx.warm_up;
            self.stack.lower.cx.events.schedule(at, Event::WarmedUp);
        } else {
            self.warmed_up();
        }
    }

    /// A message reached its receiver and is through its stack.
    pub(crate) fn signal_arrived(&mut self, mark: u32) {
        let now = self.stack.lower.cx.events.now();
        let Some(signal) = self.association.take(mark) else {
            return;
        };
        let join = signal.join;
        if signal.stage == PROBE {
            self.probe_arrived(join, &signal.message);
            return;
        }
        if signal.stage == STRAY {
            self.stray_arrived(&signal);
            return;
        }
        if self.association.anybody_is_off() {
            let station = self.association.joins[join as usize].node(Party::Station);
            self.note_leaving(station, &signal.message, signal.protected);
        }
        let state = &mut self.association.joins[join as usize];
        let current = state.standing == Standing::Negotiating && state.stage == signal.stage;
        if !current || state.advancing {
            return;
        }
        let party = signal.message.to;
        let judges = match state.negotiation.stage() {
            Some(Stage::Authentication) => party == Party::AccessPoint,
            Some(Stage::Tunnel) => party == Party::Gateway,
            _ => false,
        };
        if judges && !self.association.busy_thresholds.is_empty() {
            self.association.judge_busy(join, party);
        }
        let state = &mut self.association.joins[join as usize];
        let Some(exchange) = state.negotiation.exchange() else {
            return;
        };
        let reaction = exchange.deliver(&signal.message);
        if !reaction.emissions.is_empty() {
            state.timers[party as usize].heard();
        }
        let followed = party == Party::Gateway
            && state.negotiation.stage() == Some(Stage::TunnelMove)
            && self.has_agreed(join, party);
        if followed {
            self.gateway_follows(join);
        }
        self.arm_party(join, party, now);
        self.perform(join, party, reaction);
    }

    fn has_agreed(&mut self, join: u32, party: Party) -> bool {
        let state = &mut self.association.joins[join as usize];
        let exchange = state.negotiation.exchange();
        matches!(
            exchange.and_then(|e| e.status(party)),
            Some(Status::Established(_))
        )
    }

    /// A message was lost on its way.
    pub(crate) fn signal_lost(&mut self, mark: u32) {
        if let Some(signal) = self.association.take(mark) {
            self.association.told(&signal);
        }
    }

    /// Starts a party's timer anew.
    fn arm_party(&mut self, join: u32, party: Party, at: Instant) {
        let state = &mut self.association.joins[join as usize];
        let Some(stage) = state.negotiation.stage() else {
            return;
        };
        let timer = &mut state.timers[party as usize];
        let deadline = at + timer.wait(stage, party, state.negotiation.link());
        timer.deadline = deadline;
        let event = AssociationEvent::Timer { join, party };
        self.stack
            .lower
            .cx
            .events
            .schedule(deadline, Event::Association(event));
    }

    fn timer_due(&mut self, join: u32, party: Party) {
        let now = self.stack.lower.cx.events.now();
        let state = &mut self.association.joins[join as usize];
        if party == Party::Station && state.listens {
            return;
        }
        let timer = &mut state.timers[party as usize];
        if timer.deadline != now || state.advancing || state.standing != Standing::Negotiating {
            return;
        }
        let Some(exchange) = state.negotiation.exchange() else {
            return;
        };
        if exchange.status(party) != Some(Status::Waiting) {
            return;
        }
        timer.ran_out();
        let reaction = exchange.time_out(party);
        self.arm_party(join, party, now);
        self.perform(join, party, reaction);
    }
}

impl Join {
    fn node(&self, party: Party) -> u32 {
        self.nodes[party as usize]
    }

    /// The node that does a party's work of the present stage.
    fn worker(&self, party: Party) -> u32 {
        match (party, self.negotiation.stage()) {
            (Party::Station, Some(Stage::Tunnel)) => self.tunnelling,
            _ => self.node(party),
        }
    }

    /// Nodes between which a message goes.
    fn ends(&self, message: &Message) -> (u32, u32) {
        let old = [message.from, message.to].contains(&Party::OldAccessPoint);
        let tunnel = [message.from, message.to].contains(&Party::Gateway);
        let node = |party| match party {
            Party::Station if old => self.departing,
            Party::Station if tunnel => self.tunnelling,
            _ => self.node(party),
        };
        (node(message.from), node(message.to))
    }
}

#[cfg(test)]
mod tests;
