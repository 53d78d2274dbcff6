//! Roaming: stations that leave one access point for another during the traffic.
//!
//! A station that moves is one node whose link is replaced: the radio in the BSS that it leaves, by
//! that in the next BSS. The sessions at the two access points know the radios. [`Roam`] owns the hand-overs and the mobility agents. It decides
//! when a station leaves (a stated time, or levels: `walk`), how it looks for the next access point
//! (a stated time, or frames: `scan`), and keeps its packets meanwhile (`dozing`). Each input comes
//! with a [`Turn`]; effects outside are [`Action`]s that the caller carries out in order.
//! The negotiation at the new access point is a session of [`Join`].

mod action;
mod agents;
mod dozing;
mod mobile_ip;
mod resuming;
mod rows;
mod scan;
mod tunnels;
mod walk;

use std::collections::VecDeque;

use airtoll_handshakes::{Message, Negotiation, Options, PolicySpec, Transition, TunnelMove};
use airtoll_units::{Duration, Instant};
use rand_core::CryptoRng;

pub(crate) use action::Action;
pub(crate) use agents::{Agent, Agents};
pub(crate) use mobile_ip::Binding;
pub(crate) use resuming::Faults;
pub(crate) use scan::{ScanElements, Scanning};
use walk::Levels;
pub(crate) use walk::Walking;

use crate::address;
use crate::event::RoamEvent;
use crate::id::{AgentId, HandoverId, NodeId, PacketId, Pair, RadioId, SessionId, SignalId, Table};
use crate::join::Join;
use crate::medium::Radio;
use crate::packet::Loss;
use crate::scenario::HandoverMethod;
use dozing::Dozing;

/// An input's instant, the subsystems below, and the outbox.
pub(crate) struct Turn<'a> {
    pub now: Instant,
    pub join: &'a mut Join,
    pub radio: &'a mut Radio,
    pub out: &'a mut Vec<Action>,
}

/// A hand-over as the scenario has it.
pub(crate) struct Plan {
    pub station: NodeId,
    pub queue_limit: usize,
    /// The hand-over of the same station before this one.
    pub previous: Option<HandoverId>,
    /// Sessions at the new access point and at the old one.
    pub session: SessionId,
    pub before: SessionId,
    /// Session of the pre-authentication, and how long before leaving it begins.
    pub ahead: Option<(SessionId, Duration)>,
    pub later: Option<Later>,
    pub method: HandoverMethod,
    pub at: Option<Duration>,
    pub walk: Option<Walking>,
    /// Length of a scan without frames.
    pub scan: Duration,
    pub scanning: Option<Scanning>,
    /// Time between a scan without result and the next one.
    pub again: Duration,
    pub tunnel: TunnelMove,
    /// IP in IP from a home agent to a foreign one.
    pub binding: Option<Binding>,
    pub faults: Faults,
}

/// Policy, options and randomness of a negotiation that builds on an earlier one.
pub(crate) struct Later {
    pub policy: PolicySpec,
    pub options: Options,
    pub generator: Box<dyn CryptoRng>,
}

/// One hand-over.
struct Handover {
    plan: Plan,
    /// The hand-over of the same station after this one.
    next: Option<HandoverId>,
    /// Events of this hand-over that came due during the one before it.
    overdue: Vec<RoamEvent>,
    /// Scans so far.
    scans: u32,
    /// Levels of the old and the new access point when the station chose to move, dBm.
    levels: Option<Levels>,
    found: Option<Instant>,
    /// The PMK of the pre-authentication.
    pmk: Option<Vec<u8>>,
    /// The far end of the tunnels does not know the new address yet.
    unheard: bool,
    /// Time of the request through the old access point.
    asked: Option<Instant>,
    left: Option<Instant>,
    joined: Option<Instant>,
    /// Last delivery before it left, and first one after it joined.
    delivered: (Option<Instant>, Option<Instant>),
    /// End of its faults, and the first delivery after that.
    resumes: Option<Instant>,
    resumed: Option<Instant>,
    lost: u64,
    dozing: Dozing,
    /// Packets that wait in the host for the new link.
    held: VecDeque<PacketId>,
}

impl Handover {
    /// Whether the loss of a packet written at `created` belongs to it.
    fn loses(&self, created: Instant) -> bool {
        let first = self.delivered.1;
        self.left.is_some() && first.is_none_or(|first| created < first)
    }

    const fn over_the_ds(&self) -> bool {
        matches!(self.plan.method, HandoverMethod::FastTransitionDs)
    }
}

/// All hand-overs of a trial and its mobility agents.
#[derive(Default)]
pub(crate) struct Roam {
    handovers: Table<HandoverId, Handover>,
    agents: Agents,
    /// End of the traffic.
    ends: Instant,
}

impl Roam {
    /// Adds a hand-over.
    pub fn add(&mut self, plan: Plan) -> HandoverId {
        let id = self.handovers.next_id();
        if let Some(previous) = plan.previous {
            self.handovers[previous].next = Some(id);
        }
        self.handovers.push(Handover {
            plan,
            next: None,
            overdue: Vec::new(),
            scans: 0,
            levels: None,
            found: None,
            pmk: None,
            unheard: false,
            asked: None,
            left: None,
            joined: None,
            delivered: (None, None),
            resumes: None,
            resumed: None,
            lost: 0,
            dozing: Dozing::default(),
            held: VecDeque::new(),
        });
        id
    }

    /// The last hand-over of a station so far, and its session.
    pub fn last_planned(&self, station: NodeId) -> Option<(HandoverId, SessionId)> {
        let own = |h: &Handover| h.plan.station == station;
        let at = self.handovers.find_last(own)?;
        Some((at, self.handovers[at].plan.session))
    }

    /// Adds a mobility agent; gives its first event.
    pub fn add_agent(&mut self, agent: Agent) -> (Instant, RoamEvent) {
        self.agents.add(agent)
    }

    /// The mobility agents.
    pub const fn agents(&self) -> &Agents {
        &self.agents
    }

    /// The hand-over under way of a station, or its last one.
    fn last_of(&mut self, station: NodeId) -> Option<&mut Handover> {
        let own = |h: &&mut Handover| h.plan.station == station && h.left.is_some();
        self.handovers.iter_mut().rfind(own)
    }

    /// The hand-over of a session.
    fn of_session(&self, session: SessionId) -> Option<HandoverId> {
        let own = |h: &Handover| h.plan.session == session;
        self.handovers.find(own)
    }

    /// The radio by which a station is in the BSS that it leaves in the hand-over of a session.
    pub fn departing(&self, session: SessionId, join: &Join) -> Option<RadioId> {
        let id = self.of_session(session)?;
        Some(join.radios_of(self.handovers[id].plan.before).station)
    }

    /// The traffic begins, and lasts until `ends`: hand-overs count from now.
    pub fn begin(&mut self, ends: Instant, turn: &mut Turn<'_>) {
        self.ends = ends;
        let now = turn.now;
        for id in self.handovers.ids() {
            let handover = &self.handovers[id];
            if handover.plan.walk.is_some() {
                if handover.plan.previous.is_none() {
                    self.begin_walk(id, turn);
                }
                continue;
            }
            let departure = handover.plan.at.unwrap_or(Duration::ZERO);
            if let Some((_, before)) = handover.plan.ahead {
                let at = now + departure.saturating_sub(before);
                turn.schedule(at, RoamEvent::Ahead(id));
            }
            let event = if handover.over_the_ds() {
                RoamEvent::Ask(id)
            } else {
                RoamEvent::Leave(id)
            };
            turn.schedule(now + departure, event);
        }
    }

    /// An event is due.
    pub fn due(&mut self, event: RoamEvent, turn: &mut Turn<'_>) {
        if let RoamEvent::Ahead(id) | RoamEvent::Leave(id) | RoamEvent::Ask(id) = event
            && self.comes_too_early(id)
        {
            self.handovers[id].overdue.push(event);
            return;
        }
        match event {
            RoamEvent::Ahead(id) => {
                if let Some((session, _)) = self.handovers[id].plan.ahead {
                    turn.out.push(Action::Start { session });
                }
            }
            RoamEvent::Leave(id) => self.leave_and_look(id, turn),
            RoamEvent::Step(id) => self.step(id, turn),
            RoamEvent::Away(id) => self.may_be_idle(id, turn),
            RoamEvent::Probe(id) => self.probe(id, turn),
            RoamEvent::ScanOver(id) => self.scan_over(id, turn),
            RoamEvent::Ask(id) => self.ask_over_the_ds(id, turn),
            RoamEvent::Found(id) => self.found(id, turn),
            RoamEvent::Agreed(id) => self.agreed(id, turn),
            RoamEvent::Addressed(id) => self.addressed(id, turn),
            RoamEvent::FullRate(id) => self.knows_rates(id, turn),
            RoamEvent::Start(id) => {
                let session = self.handovers[id].plan.session;
                turn.out.push(Action::Start { session });
            }
            RoamEvent::Advertise { agent } => self.agents.advertise(agent, turn),
            RoamEvent::AgentRunsOut { host } => self.agents.find(host, turn),
        }
    }

    /// Keeps a packet of a host that is between two access points.
    pub fn keep(&mut self, host: NodeId, packet: PacketId, turn: &mut Turn<'_>) {
        if let Some(handover) = self.last_of(host)
            && !turn.join.listens(handover.plan.session)
            && handover.held.len() < handover.plan.queue_limit
        {
            handover.held.push_back(packet);
        } else {
            turn.out.push(Action::Lose {
                packet,
                cause: Loss::Away,
            });
        }
    }

    /// A host listens for a mobility agent. Packets kept for the new link go out there before the
    /// station knows that it has moved, and are lost.
    pub fn listens(&mut self, host: NodeId, turn: &mut Turn<'_>) {
        if let Some(handover) = self.last_of(host) {
            for packet in std::mem::take(&mut handover.held) {
                turn.out.push(Action::Lose {
                    packet,
                    cause: Loss::Away,
                });
            }
        }
        turn.out.push(Action::FindAgent { host });
    }

    /// The station leaves its access point.
    fn leave(&mut self, id: HandoverId, turn: &mut Turn<'_>) {
        let handover = &mut self.handovers[id];
        handover.left = Some(turn.now);
        handover.lost = 0;
        if let Some((session, _)) = handover.plan.ahead {
            handover.pmk = turn.join.end_ahead(session);
        }
        turn.join.set_left(handover.plan.before, true);
        let plan = &handover.plan;
        let (host, before, session) = (plan.station, plan.before, plan.session);
        turn.out.push(Action::SetAway { host, away: true });
        // The lifetime of the packets in the queue of the old link is over.
        turn.drop_link(before);
        turn.take_up_link(session);
        turn.out.push(Action::ForgetReturn { station: host });
    }

    /// Whether the station has not finished the hand-over before this one.
    fn comes_too_early(&self, id: HandoverId) -> bool {
        let under_way = |at: HandoverId| self.handovers[at].joined.is_none();
        self.handovers[id].plan.previous.is_some_and(under_way)
    }

    /// The station has joined: overdue events of its next hand-over follow.
    fn go_on(&mut self, id: HandoverId, turn: &mut Turn<'_>) {
        let Some(next) = self.handovers[id].next else {
            return;
        };
        self.walk_on(id, next);
        let now = turn.now;
        for event in std::mem::take(&mut self.handovers[next].overdue) {
            turn.schedule(now, event);
        }
    }

    /// The station leaves and looks for another access point.
    fn leave_and_look(&mut self, id: HandoverId, turn: &mut Turn<'_>) {
        let plan = &self.handovers[id].plan;
        let looks = plan.scanning.is_some() || plan.walk.is_some();
        if looks && !turn.join.is_off(plan.station) {
            self.doze_and_look(id, turn);
            return;
        }
        self.leave(id, turn);
        self.look(id, turn);
    }

    fn look(&mut self, id: HandoverId, turn: &mut Turn<'_>) {
        let handover = &mut self.handovers[id];
        handover.scans += 1;
        if handover.plan.scanning.is_some() {
            self.begin_scan(id, turn);
            return;
        }
        let at = turn.now + handover.plan.scan;
        turn.schedule(at, RoamEvent::Found(id));
    }

    /// The station found no better access point, and goes on at the old one.
    fn come_back(&mut self, id: HandoverId, turn: &mut Turn<'_>) {
        let handover = &mut self.handovers[id];
        let again = turn.now + handover.plan.again;
        handover.left = None;
        turn.join.set_left(handover.plan.before, false);
        let (host, before) = (handover.plan.station, handover.plan.before);
        let held = std::mem::take(&mut handover.held);
        turn.out.push(Action::SetAway { host, away: false });
        turn.take_up_link(before);
        if handover.plan.walk.is_some() {
            self.put_in_place(id, turn);
        } else {
            turn.schedule(again, RoamEvent::Leave(id));
        }
        self.wake_up(id, turn);
        for packet in held {
            turn.out.push(Action::SendKept { host, packet });
        }
    }

    /// The station asks the new access point through the old one, and leaves after the response.
    fn ask_over_the_ds(&mut self, id: HandoverId, turn: &mut Turn<'_>) {
        let handover = &mut self.handovers[id];
        handover.asked = Some(turn.now);
        let (session, before) = (handover.plan.session, handover.plan.before);
        if let Some(later) = handover.plan.later.take()
            && let Some(made) = self.built_on_before(id, later, turn)
        {
            turn.join.use_negotiation(session, made);
            turn.join.begin_over_the_ds(session, before);
        }
        turn.join.set_leaves_by_message(session, true);
        self.tell_of_tunnels(id, turn);
        turn.out.push(Action::Start { session });
    }

    /// The first message of a session to the new access point itself is about to be sent: the
    /// station leaves the old one. A radio that is engaged until a later instant leaves then.
    pub fn leave_before(
        &mut self,
        session: SessionId,
        signal: SignalId,
        engaged_until: Instant,
        turn: &mut Turn<'_>,
    ) {
        let Some(id) = self.of_session(session) else {
            return;
        };
        if engaged_until > turn.now {
            let at = engaged_until;
            turn.out.push(Action::SendLater { at, signal });
            return;
        }
        turn.join.set_leaves_by_message(session, false);
        self.leave(id, turn);
        self.turn_link(id, turn);
        turn.out.push(Action::SendNow { signal });
    }

    /// The scan is over.
    fn found(&mut self, id: HandoverId, turn: &mut Turn<'_>) {
        if !self.prefers_the_new(id, turn) {
            self.come_back(id, turn);
            return;
        }
        let now = turn.now;
        let handover = &mut self.handovers[id];
        handover.found = Some(now);
        let session = handover.plan.session;
        if let Some(later) = handover.plan.later.take()
            && let Some(made) = self.built_on_before(id, later, turn)
        {
            turn.join.use_negotiation(session, made);
        }
        self.turn_link(id, turn);
        self.tell_of_tunnels(id, turn);
        turn.schedule(now, RoamEvent::Start(id));
    }

    /// The station is on the channel of the next access point, where it negotiates.
    fn turn_link(&self, id: HandoverId, turn: &mut Turn<'_>) {
        let plan = &self.handovers[id].plan;
        let radio = turn.join.radios_of(plan.session).station;
        let host = plan.station;
        turn.out.push(Action::TurnLink { host, radio });
    }

    /// A negotiation that builds on an earlier one; `None` if the station has to negotiate
    /// everything again because pre-authentication was not done in time. The check of the scenario
    /// has ensured that the policy fits the method.
    fn built_on_before(
        &mut self,
        id: HandoverId,
        later: Later,
        turn: &Turn<'_>,
    ) -> Option<Negotiation> {
        let handover = &mut self.handovers[id];
        let plan = &handover.plan;
        let (method, before, station) = (plan.method, plan.before, address::mac(plan.station));
        let mut pmk = handover.pmk.take();
        let new = turn.join.ends_of(plan.session).access_point;
        let announced = turn.join.link_of(plan.session).announced.clone();
        let Later {
            policy,
            options,
            generator,
        } = later;
        if method == HandoverMethod::PmksaCaching {
            pmk = self.pmk_from_before(id, new, turn.join);
        }
        let new = address::mac(new);
        let mut made = if matches!(
            method,
            HandoverMethod::PreAuthentication | HandoverMethod::PmksaCaching
        ) {
            Negotiation::cached(policy, options, station, new, pmk?, generator).ok()?
        } else {
            let old = turn.join.ends_of(before).access_point;
            let transition = Transition {
                old_access_point: address::mac(old),
                over_the_ds: method == HandoverMethod::FastTransitionDs,
                secrets: turn.join.secrets_of(before),
            };
            Negotiation::transition(policy, options, station, new, transition, generator).ok()?
        };
        made.announce(announced).ok()?;
        Some(made)
    }

    /// The PMK of the last association that the station had with this access point.
    fn pmk_from_before(
        &self,
        id: HandoverId,
        access_point: NodeId,
        join: &Join,
    ) -> Option<Vec<u8>> {
        let mut at = Some(id);
        while let Some(plan) = at.map(|at| &self.handovers[at].plan) {
            if join.ends_of(plan.before).access_point == access_point {
                return join.pmk_of(plan.before);
            }
            at = plan.previous;
        }
        None
    }

    /// The station has joined the new access point, and its packets go there.
    pub fn moved(&mut self, session: SessionId, turn: &mut Turn<'_>) {
        let Some(id) = self.of_session(session) else {
            return;
        };
        let handover = &mut self.handovers[id];
        handover.joined = Some(turn.now);
        let host = handover.plan.station;
        let held = std::mem::take(&mut handover.held);
        turn.out.push(Action::SetAway { host, away: false });
        let addressed = self.degrade(id, turn);
        if self.keep_tunnels(id, turn) && addressed {
            self.turn_to(id, turn);
        }
        self.forget_kept(id, turn);
        self.bind(id, turn);
        for packet in held {
            turn.out.push(Action::SendKept { host, packet });
        }
        // The old access point hears of the move over the distribution system.
        let access_point = turn
            .join
            .ends_of(self.handovers[id].plan.before)
            .access_point;
        turn.out.push(Action::HasLeft { access_point });
        self.go_on(id, turn);
    }

    /// A packet of a flow between `ends` reached its host at `at`. `left` is the instant at which it
    /// left its sender; `reverse` packets go from the second end to the first.
    pub fn note_delivery(&mut self, ends: [NodeId; 2], reverse: bool, left: Instant, at: Instant) {
        for handover in &mut self.handovers {
            if !ends.contains(&handover.plan.station) {
                continue;
            }
            if handover.resumed.is_none() && handover.resumes.is_some_and(|from| at >= from) {
                handover.resumed = Some(at);
            }
            match handover.joined {
                None => handover.delivered.0 = Some(at),
                // A packet sent before the station joined does not count as new.
                Some(joined) if handover.delivered.1.is_none() => {
                    let sent_by_it = (handover.plan.station == ends[0]) != reverse;
                    if !sent_by_it || left >= joined {
                        handover.delivered.1 = Some(at);
                    } else {
                        handover.delivered.0 = Some(at);
                    }
                }
                Some(_) => {}
            }
        }
    }

    /// A packet of a flow between `ends` that was written at `created` was lost. It belongs to the
    /// first hand-over after which nothing had been delivered then, whenever its sender gives it up.
    pub fn note_loss(&mut self, ends: [NodeId; 2], created: Instant) {
        for id in self.handovers.ids() {
            let handover = &self.handovers[id];
            let before = handover.plan.previous.map(|at| &self.handovers[at]);
            if ends.contains(&handover.plan.station)
                && handover.loses(created)
                && !before.is_some_and(|before| before.loses(created))
            {
                self.handovers[id].lost += 1;
            }
        }
    }

    /// Whether any station moves.
    pub fn anybody_moves(&self) -> bool {
        !self.handovers.is_empty()
    }

    /// A host waits for, or has run out of, an advertisement: it looks at those that it has heard.
    pub fn find_agent(&mut self, host: NodeId, turn: &mut Turn<'_>) {
        self.agents.find(host, turn);
    }

    /// A host received the advertisement of an agent.
    pub fn advertisement_arrived(&mut self, host: NodeId, agent: AgentId, turn: &mut Turn<'_>) {
        self.agents.heard(host, agent, turn);
    }

    /// The advertisement of an agent left the air.
    pub fn advertisement_sent(&mut self) {
        self.agents.count();
    }

    /// A host has registered at an access point.
    pub fn registered(&mut self, host: NodeId, access_point: NodeId, now: Instant) {
        self.agents.registered(host, access_point, now);
    }

    /// A frame of a scan arrived in a session.
    pub fn scan_frame_arrived(
        &mut self,
        session: SessionId,
        message: &Message,
        turn: &mut Turn<'_>,
    ) {
        if let Some(id) = self.of_session(session) {
            self.probe_arrived(id, message, turn);
        }
    }
}

impl Turn<'_> {
    /// The station of a session is out of reach of the access point, and sends nothing more there.
    fn drop_link(&mut self, session: SessionId) {
        let Pair {
            station: radio,
            access_point,
        } = self.join.radios_of(session);
        self.radio.part(radio, access_point);
        self.out.push(Action::LevelsChanged { radio });
        let stopped = true;
        self.out.push(Action::SetStopped { radio, stopped });
    }

    /// The station of a session may be in reach of the access point, and send there.
    fn take_up_link(&mut self, session: SessionId) {
        let Pair {
            station: radio,
            access_point,
        } = self.join.radios_of(session);
        self.radio.bring(radio, access_point);
        self.out.push(Action::LevelsChanged { radio });
        let stopped = false;
        self.out.push(Action::SetStopped { radio, stopped });
    }

    fn schedule(&mut self, at: Instant, event: RoamEvent) {
        self.out.push(Action::Schedule { at, event });
    }
}

#[cfg(test)]
mod tests;
