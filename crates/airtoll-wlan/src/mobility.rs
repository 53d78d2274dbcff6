//! Mobility: stations that leave one access point for another in mid-trial.
//!
//! A station that moves is two nodes: the one that it is in its first BSS, whose flows it keeps,
//! and the one that stands for it in the next BSS. Takes the hand-overs of a scenario; gives the
//! gap in its traffic, split into what filled it. What the station negotiates at the new access
//! point goes over the air as in `association`.
//!
//! When it leaves is stated, or a matter of levels (`walk`); it looks for the new access point for a
//! stated time, or with frames (`scan`), while the old one keeps what is for it (`dozing`).

mod dozing;
mod mobile_ip;
mod prepare;
mod rows;
mod scan;
mod tunnels;
mod walk;

use std::collections::{HashMap, VecDeque};

use airtoll_handshakes::{Negotiation, Transition, TunnelMove};
use airtoll_units::{Duration, Instant};
use airtoll_wire::MacAddress;
use rand_core::CryptoRng;

use crate::address;
use crate::association::AssociationEvent;
use crate::event::Event;
pub(crate) use crate::event::MobilityEvent;
use crate::net::network::Route;
use crate::packet::{Packet, PacketId};
use crate::scenario::HandoverMethod;
use crate::world::World;
use dozing::Dozing;
use mobile_ip::Binding;
pub(crate) use prepare::prepare;
use scan::Scanning;
use walk::Walking;

/// One hand-over.
pub(crate) struct Handover {
    station: u32,
    /// The nodes that it is before and behind.
    from: u32,
    there: u32,
    /// Ways of all nodes to the latter.
    way: Vec<Route>,
    /// The hand-over of the same station after this one.
    next: Option<u32>,
    previous: Option<u32>,
    /// What of it came due while the one before it was under way.
    overdue: Vec<MobilityEvent>,
    /// Number of the association at the new access point, and of the one before it.
    join: u32,
    before: u32,
    at: Option<Duration>,
    walk: Option<Walking>,
    scan: Duration,
    scanning: Option<Scanning>,
    /// Scans, those in vain included, and how long after one of these it scans again.
    scans: u32,
    again: Duration,
    /// What it gave up when it left, for when it comes back: levels and the MSDU lifetime.
    given_up: ([f64; 2], Duration),
    /// Levels of the old and the new access point when it chose to move, dBm.
    levels: Option<(f64, f64)>,
    found: Option<Instant>,
    /// Number of the pre-authentication, and how long before leaving it begins.
    ahead: Option<(u32, Duration)>,
    /// What a negotiation that builds on an earlier one is made from, when its time comes.
    later: Option<Later>,
    /// The PMK that the pre-authentication gave.
    pmk: Option<Vec<u8>>,
    queue_limit: usize,
    tunnel: TunnelMove,
    /// IP in IP that carries its packets there, from a home agent to a foreign one.
    binding: Option<Binding>,
    /// Its tunnels show the address that it has at its first access point.
    keeps_address: bool,
    /// The far end of its tunnel does not know yet where it is.
    unheard: bool,
    /// When it began to ask through the old access point, and whether it has to.
    over_the_ds: bool,
    asked: Option<Instant>,
    left: Option<Instant>,
    joined: Option<Instant>,
    /// Last delivery before it left, and first one after it joined.
    delivered: (Option<Instant>, Option<Instant>),
    lost: u64,
    /// What its old access point keeps while it scans.
    dozing: Dozing,
    /// Packets that wait in the host for the new link.
    held: VecDeque<PacketId>,
}

struct Later {
    method: HandoverMethod,
    scenario: crate::scenario::Association,
    generator: Box<dyn CryptoRng>,
}

/// All hand-overs of a trial; empty where nobody moves.
#[derive(Default)]
pub(crate) struct Mobility {
    handovers: Vec<Handover>,
    /// The host of each node that stands for another.
    hosts: HashMap<u32, u32>,
    /// Hand-overs of which the far end of a tunnel does not know yet.
    unheard: u32,
}

impl Mobility {
    /// The node whose flows end where this one receives.
    pub fn host(&self, node: u32) -> u32 {
        self.hosts.get(&node).copied().unwrap_or(node)
    }

    /// Whether the station of an association has left its access point.
    pub fn has_left(&self, join: u32) -> bool {
        self.handovers
            .iter()
            .any(|h| h.before == join && h.left.is_some())
    }

    /// The way of a node to a station that is about to come back to where it began.
    pub fn way_back(&self, station: u32, node: u32) -> Option<Route> {
        let comes_back = |h: &&Handover| {
            h.there == station && h.station == station && h.left.is_some() && h.joined.is_none()
        };
        let handover = self.handovers.iter().find(comes_back)?;
        Some(handover.way[node as usize])
    }

    /// The hand-over of a station that is under way, or that it made last.
    fn last_of(&self, station: u32) -> Option<usize> {
        let own = |h: &Handover| h.station == station && h.left.is_some();
        self.handovers.iter().rposition(own)
    }

    /// The hand-over that an association belongs to.
    pub fn of_join(&self, join: u32) -> Option<u32> {
        let at = self.handovers.iter().position(|h| h.join == join)?;
        Some(at as u32)
    }
}

impl World {
    /// The traffic begins: hand-overs count from now.
    pub(crate) fn schedule_handovers(&mut self) {
        let now = self.stack.lower.cx.events.now();
        for number in 0..self.mobility.handovers.len() as u32 {
            let handover = &self.mobility.handovers[number as usize];
            if handover.walk.is_some() {
                if handover.previous.is_none() {
                    self.begin_walk(number);
                }
                continue;
            }
            let departure = handover.at.unwrap_or(Duration::ZERO);
            let event = if handover.over_the_ds {
                MobilityEvent::Ask { handover: number }
            } else {
                MobilityEvent::Leave { handover: number }
            };
            if let Some((_, before)) = handover.ahead {
                let start = MobilityEvent::Ahead { handover: number };
                let at = now + departure.saturating_sub(before);
                self.stack
                    .lower
                    .cx
                    .events
                    .schedule(at, Event::Mobility(start));
            }
            self.stack
                .lower
                .cx
                .events
                .schedule(now + departure, Event::Mobility(event));
        }
    }

    /// An event of a hand-over.
    pub(crate) fn mobility_due(&mut self, event: MobilityEvent) {
        if let MobilityEvent::Ahead { handover }
        | MobilityEvent::Leave { handover }
        | MobilityEvent::Ask { handover } = event
            && self.comes_too_early(handover)
        {
            let handover = &mut self.mobility.handovers[handover as usize];
            handover.overdue.push(event);
            return;
        }
        match event {
            MobilityEvent::Ahead { handover } => {
                if let Some((join, _)) = self.mobility.handovers[handover as usize].ahead {
                    self.association_due(AssociationEvent::Start { join });
                }
            }
            MobilityEvent::Leave { handover } => self.leave_and_look(handover),
            MobilityEvent::Step { handover } => self.step(handover),
            MobilityEvent::Away { handover } => self.away(handover),
            MobilityEvent::Probe { handover } => self.probe(handover),
            MobilityEvent::ScanOver { handover } => self.scan_over(handover),
            MobilityEvent::Ask { handover } => self.ask_over_the_ds(handover),
            MobilityEvent::Found { handover } => self.found(handover),
        }
    }

    /// The MAC address of the host that a node is, or stands for.
    pub(crate) fn mac(&self, node: u32) -> MacAddress {
        address::mac(self.mobility.host(node))
    }

    /// Whether a packet for `to` is for the host that this node is, or stands for.
    pub(crate) fn is_for(&self, node: u32, to: u32) -> bool {
        to == node || (!self.mobility.hosts.is_empty() && self.mobility.host(node) == to)
    }

    /// The node that a host is on the air now; `None` while it is between two access points.
    pub(crate) fn present_node(&self, host: u32) -> Option<u32> {
        let Some(at) = self.mobility.last_of(host) else {
            return Some(host);
        };
        let handover = &self.mobility.handovers[at];
        handover.joined.map(|_| handover.there)
    }

    /// The node that sends a host's packet now; takes the packet while the host has no link.
    #[inline]
    pub(crate) fn sending_node(&mut self, host: u32, packet: PacketId) -> Option<u32> {
        let node = self.node_with_a_link(host, packet)?;
        if self.association.anybody_is_off() && self.keep_until_back(node, packet) {
            return None;
        }
        Some(node)
    }

    #[inline]
    fn node_with_a_link(&mut self, host: u32, packet: PacketId) -> Option<u32> {
        if self.mobility.handovers.is_empty() {
            return Some(host);
        }
        self.node_after_hand_overs(host, packet)
    }

    fn node_after_hand_overs(&mut self, host: u32, packet: PacketId) -> Option<u32> {
        let Some(at) = self.mobility.last_of(host) else {
            return Some(host);
        };
        let handover = &mut self.mobility.handovers[at];
        if handover.joined.is_some() {
            return Some(handover.there);
        }
        let nowhere = self.association.listens(handover.join);
        if !nowhere && handover.held.len() < handover.queue_limit {
            handover.held.push_back(packet);
        } else {
            self.lose(packet);
        }
        None
    }

    /// What a station has kept for the new link goes out there before it knows that it has moved, and
    /// is lost.
    pub(crate) fn lose_what_is_held(&mut self, host: u32) {
        let Some(at) = self.mobility.last_of(host) else {
            return;
        };
        for packet in std::mem::take(&mut self.mobility.handovers[at].held) {
            self.lose(packet);
        }
    }

    fn leave(&mut self, number: u32) {
        let now = self.stack.lower.cx.events.now();
        let handover = &mut self.mobility.handovers[number as usize];
        handover.left = Some(now);
        handover.lost = 0;
        if let Some((join, _)) = handover.ahead {
            handover.pmk = self.association.end_ahead(join);
        }
        let station = handover.from;
        let (_, access_point) = self.association.ends_of(handover.before);
        let levels = self.stack.lower.medium.radio.part(station, access_point);
        self.forget_success(station);
        let lifetime = &mut self.stack.lower.mac.nodes[station as usize].lifetime;
        self.mobility.handovers[number as usize].given_up = (levels, *lifetime);
        // What waits in its queue goes with the link: its lifetime is over.
        *lifetime = Duration::ZERO;
        self.take_up_again(number);
        if self.association.anybody_is_off() {
            self.forget_return(station);
        }
    }

    /// What the station gave up when it left where it comes back to now.
    fn take_up_again(&mut self, number: u32) {
        let there = self.mobility.handovers[number as usize].there;
        let mut earlier = self.mobility.handovers[..number as usize].iter();
        let Some(gone) = earlier.rfind(|h| h.from == there) else {
            return;
        };
        let (levels, lifetime) = gone.given_up;
        let (_, access_point) = self.association.ends_of(gone.before);
        self.stack.lower.mac.nodes[there as usize].lifetime = lifetime;
        self.stack
            .lower
            .medium
            .radio
            .bring(there, access_point, levels);
        self.forget_success(there);
    }

    /// Whether the station is still about the hand-over before this one.
    fn comes_too_early(&self, number: u32) -> bool {
        let handovers = &self.mobility.handovers;
        let under_way = |at: u32| handovers[at as usize].joined.is_none();
        handovers[number as usize].previous.is_some_and(under_way)
    }

    /// The station is in: what has come due of its next hand-over follows.
    fn go_on(&mut self, number: u32) {
        let Some(next) = self.mobility.handovers[number as usize].next else {
            return;
        };
        self.walk_on(number, next);
        let now = self.stack.lower.cx.events.now();
        let handover = &mut self.mobility.handovers[next as usize];
        for event in std::mem::take(&mut handover.overdue) {
            self.stack
                .lower
                .cx
                .events
                .schedule(now, Event::Mobility(event));
        }
    }

    /// The station leaves and looks for another access point.
    fn leave_and_look(&mut self, number: u32) {
        let handover = &self.mobility.handovers[number as usize];
        let off = self.association.is_off(handover.from);
        if (handover.scanning.is_some() || handover.walk.is_some()) && !off {
            self.doze_and_look(number);
            return;
        }
        self.leave(number);
        self.look(number);
    }

    fn look(&mut self, number: u32) {
        let handover = &mut self.mobility.handovers[number as usize];
        handover.scans += 1;
        if handover.scanning.is_some() {
            self.begin_scan(number);
            return;
        }
        let at = self.stack.lower.cx.events.now() + handover.scan;
        let event = MobilityEvent::Found { handover: number };
        self.stack
            .lower
            .cx
            .events
            .schedule(at, Event::Mobility(event));
    }

    /// The station found nothing that it would move to, and goes on where it was.
    fn come_back(&mut self, number: u32) {
        let again =
            self.stack.lower.cx.events.now() + self.mobility.handovers[number as usize].again;
        let handover = &mut self.mobility.handovers[number as usize];
        handover.left = None;
        let (station, host) = (handover.from, handover.station);
        let (levels, lifetime) = handover.given_up;
        let held = std::mem::take(&mut handover.held);
        let (_, access_point) = self.association.ends_of(handover.before);
        self.stack.lower.mac.nodes[station as usize].lifetime = lifetime;
        self.stack
            .lower
            .medium
            .radio
            .bring(station, access_point, levels);
        if self.walks(number) {
            self.put_in_place(number);
        } else {
            let event = MobilityEvent::Leave { handover: number };
            self.stack
                .lower
                .cx
                .events
                .schedule(again, Event::Mobility(event));
        }
        self.forget_success(station);
        self.wake_up(number);
        for packet in held {
            self.send_packet(host, packet);
        }
    }

    /// Links of a node are not what they were.
    fn forget_success(&mut self, node: u32) {
        for link in &mut self.stack.lower.mac.links {
            if [link.from, link.peer].contains(&node) {
                link.success = (u32::MAX, 0, 0.0);
            }
        }
    }

    /// The station asks the new access point through the old one, and leaves when it has the answer.
    fn ask_over_the_ds(&mut self, number: u32) {
        let now = self.stack.lower.cx.events.now();
        let handover = &mut self.mobility.handovers[number as usize];
        handover.asked = Some(now);
        let (join, station) = (handover.join, handover.from);
        if let Some(later) = handover.later.take()
            && let Some(made) = self.built_on_before(number, later)
        {
            self.association.begin_over_the_ds(join, made, station);
        }
        self.tell_of_tunnels(number);
        self.association_due(AssociationEvent::Start { join });
    }

    /// A message is sent: the first to the new access point itself is one that the station has left
    /// the old one for. Gives when to try again where its radio still owes a response.
    pub(crate) fn leave_after_asking(&mut self, mark: u32) -> Option<Instant> {
        if self.mobility.handovers.is_empty() {
            return None;
        }
        let (from, _) = self.association.ends(mark);
        let waits = |h: &Handover| {
            h.over_the_ds && h.asked.is_some() && h.left.is_none() && h.there == from
        };
        let number = self.mobility.handovers.iter().position(waits)?;
        let station = self.mobility.handovers[number].from;
        let engaged = self.stack.lower.medium.nodes[station as usize].engaged_until;
        if engaged > self.stack.lower.cx.events.now() {
            return Some(engaged);
        }
        self.leave(number as u32);
        None
    }

    fn found(&mut self, number: u32) {
        let now = self.stack.lower.cx.events.now();
        if !self.prefers_the_new(number) {
            self.come_back(number);
            return;
        }
        let handover = &mut self.mobility.handovers[number as usize];
        handover.found = Some(now);
        let join = handover.join;
        if let Some(later) = handover.later.take()
            && let Some(made) = self.built_on_before(number, later)
        {
            self.association.joins[join as usize].negotiation = made;
        }
        self.tell_of_tunnels(number);
        let event = AssociationEvent::Start { join };
        self.stack
            .lower
            .cx
            .events
            .schedule(now, Event::Association(event));
    }

    /// What the station negotiates with what it has from before; `None` where it has to negotiate
    /// everything again because pre-authentication was not done in time. The scenario's check has
    /// seen to it that the policy has what its method needs.
    fn built_on_before(&mut self, number: u32, later: Later) -> Option<Negotiation> {
        let handover = &mut self.mobility.handovers[number as usize];
        let (before, station) = (handover.before, address::mac(handover.station));
        let mut pmk = handover.pmk.take();
        let (_, new) = self.association.ends_of(handover.join);
        let (policy, options) = (later.scenario.policy, later.scenario.options);
        if later.method == HandoverMethod::PmksaCaching {
            pmk = self.pmk_from_before(number, new);
        }
        let (new, generator) = (address::mac(new), later.generator);
        if matches!(
            later.method,
            HandoverMethod::PreAuthentication | HandoverMethod::PmksaCaching
        ) {
            return Negotiation::cached(policy, options, station, new, pmk?, generator).ok();
        }
        let (_, old) = self.association.ends_of(before);
        let transition = Transition {
            old_access_point: address::mac(old),
            over_the_ds: later.method == HandoverMethod::FastTransitionDs,
            secrets: self.association.agreed(before).2,
        };
        Negotiation::transition(policy, options, station, new, transition, generator).ok()
    }

    /// The PMK of the last association that the station had with this access point.
    fn pmk_from_before(&self, number: u32, access_point: u32) -> Option<Vec<u8>> {
        let mut at = Some(number);
        while let Some(handover) = at.map(|at| &self.mobility.handovers[at as usize]) {
            if self.association.ends_of(handover.before).1 == access_point {
                return self.association.joins[handover.before as usize]
                    .negotiation
                    .pmk();
            }
            at = handover.previous;
        }
        None
    }

    /// The station is in at the new access point, and its packets go there.
    pub(crate) fn moved(&mut self, number: u32) {
        let now = self.stack.lower.cx.events.now();
        let handover = &mut self.mobility.handovers[number as usize];
        handover.joined = Some(now);
        let station = handover.station;
        let held = std::mem::take(&mut handover.held);
        if self.keep_tunnels(number) {
            self.turn_to(number);
        }
        self.forget_kept(number);
        self.bind(number);
        for packet in held {
            self.send_packet(station, packet);
        }
        // The old access point hears of it over the distribution system.
        let (_, old) = self
            .association
            .ends_of(self.mobility.handovers[number as usize].before);
        self.renew_after_leaving(old);
        self.go_on(number);
    }

    /// Notes a packet that reached its host.
    pub(crate) fn note_delivery(&mut self, p: &Packet, at: Instant) {
        let flow = &self.stack.flow.flows[p.flow as usize];
        let (source, destination) = (flow.source, flow.destination);
        for handover in &mut self.mobility.handovers {
            if handover.station != source && handover.station != destination {
                continue;
            }
            match handover.joined {
                None => handover.delivered.0 = Some(at),
                // What was on its way from before does not count as new.
                Some(joined) if handover.delivered.1.is_none() => {
                    let sent_by_it = (handover.station == source) != p.reverse;
                    if !sent_by_it || p.left >= joined {
                        handover.delivered.1 = Some(at);
                    } else {
                        handover.delivered.0 = Some(at);
                    }
                }
                Some(_) => {}
            }
        }
    }

    /// Notes a packet that was lost.
    pub(crate) fn note_loss(&mut self, p: &Packet) {
        let flow = &self.stack.flow.flows[p.flow as usize];
        let (source, destination) = (flow.source, flow.destination);
        for handover in &mut self.mobility.handovers {
            let its_own = [source, destination].contains(&handover.station);
            if its_own && handover.left.is_some() && handover.delivered.1.is_none() {
                handover.lost += 1;
            }
        }
    }

    /// Whether anybody moves.
    pub(crate) fn anybody_moves(&self) -> bool {
        !self.mobility.handovers.is_empty()
    }
}

#[cfg(test)]
mod tests;
