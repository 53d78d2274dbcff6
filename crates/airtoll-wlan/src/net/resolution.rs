//! Address resolution at first contact: ARP (RFC 826) and IPv6 Neighbour Discovery (RFC 4861).
//!
//! All nodes are in one bridged subnet, so a host asks for the host that it sends to (the far end
//! of a tunnel, where there is one). Takes packets that a host sends; holds them until their
//! receiver's address is known, and sends the question and its answer. A question is a unicast
//! frame from a station to its access point, which repeats it to its BSS as one group-addressed
//! frame and passes it on over its wires, and to each wireless bridge as a frame with four addresses;
//! a bridge does not take what has three, or it would have the question twice (as Linux's do).
//! Addresses stay known for the whole trial; nothing is done where the scenario says that they are
//! known from the start.

use std::collections::{HashMap, VecDeque};

use airtoll_units::Duration;

use crate::event::Event;
use crate::mac::exchange::Reception;
use crate::net::network::Route;
use crate::packet::{NONE, Packet, PacketId};
use crate::scenario::{CryptoEngine, Role};
use crate::world::World;

/// ARP packet for IPv4 over IEEE 802 addresses: 8 + 2 * (6 + 4) octets (RFC 826).
pub(crate) const ARP_OCTETS: u32 = 28;
/// Neighbour Solicitation with source, or Advertisement with target link-layer address: IPv6 header
/// 40, message 24, option 8 octets (RFC 4861 sections 4.3, 4.4 and 4.6.1).
pub(crate) const NEIGHBOUR_OCTETS: u32 = 72;
/// Payload of the shortest Ethernet frame, to which shorter ones are padded (IEEE 802.3, 4A.4.2).
pub(crate) const ETHERNET_MINIMUM: u32 = 46;
/// Packets held per unresolved address; a further one takes the oldest one's place (RFC 1122
/// section 2.3.2.2 and RFC 4861 section 7.2.2 ask for at least one, Linux before 3.3 kept three).
const HELD: usize = 3;
/// A question is asked again after this (RFC 1122 section 2.3.2.1; RETRANS_TIMER, RFC 4861
/// section 10).
const AGAIN: Duration = Duration::from_secs(1);
/// How often (MAX_MULTICAST_SOLICIT, RFC 4861 section 10; Linux asks as often by ARP).
const ATTEMPTS: u8 = 3;
/// In the mark of a packet without a flow: not a message of a negotiation, but of ours.
pub(crate) const OURS: u32 = 1 << 31;
const ANSWER: u32 = 1 << 30;
/// Beside it: an advertisement of a mobility agent.
pub(crate) const ADVERTISES: u32 = 1 << 29;

/// What a host knows of another's address.
#[derive(Debug)]
struct Entry {
    host: u32,
    target: u32,
    six: bool,
    known: bool,
    attempts: u8,
    /// Packets that wait, with the CPU time that they still take and the ciphers' part in it.
    held: VecDeque<(PacketId, Duration, Duration)>,
}

/// Neighbour tables of all hosts.
#[derive(Debug, Default)]
pub(crate) struct Resolution {
    /// Whether hosts have to ask.
    pub dynamic: bool,
    entries: Vec<Entry>,
    numbers: HashMap<(u32, u32, bool), u32>,
    /// Link for group-addressed frames of each access point.
    pub groups: HashMap<u32, u32>,
}

impl Resolution {
    /// What a packet of address resolution is about.
    pub fn subject(&self, p: &Packet) -> Subject {
        let entry = &self.entries[(p.mark & !(OURS | ANSWER)) as usize];
        Subject {
            host: entry.host,
            target: entry.target,
            six: entry.six,
        }
    }

    /// The entry of `host` for `target`; `whose` is the host that the target is, or stands for.
    fn entry(&mut self, host: u32, (target, whose): (u32, u32), six: bool) -> u32 {
        let entries = &mut self.entries;
        *self.numbers.entry((host, whose, six)).or_insert_with(|| {
            entries.push(Entry {
                host,
                target,
                six,
                known: false,
                attempts: 0,
                held: VecDeque::new(),
            });
            (entries.len() - 1) as u32
        })
    }
}

/// What a question or an answer is about.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Subject {
    /// Who asks.
    pub host: u32,
    /// Whose address is asked for.
    pub target: u32,
    /// Neighbour Discovery instead of ARP.
    pub six: bool,
}

impl Packet {
    /// Whether it is a question or an answer of address resolution.
    pub fn resolves(&self) -> bool {
        self.flow == NONE && self.mark & (OURS | ADVERTISES) == OURS
    }

    /// Whether it is a question.
    pub fn asks(&self) -> bool {
        self.resolves() && self.mark & ANSWER == 0
    }
}

impl World {
    /// Sends a packet of the host itself, once the address that it goes to is known.
    #[inline]
    pub(crate) fn dispatch_own(&mut self, node: u32, packet: PacketId, work: Duration) {
        if self.stack.net.resolution.dynamic && !self.knows(node, packet, work) {
            return;
        }
        self.dispatch(node, packet, work);
    }

    /// Whether a host knows where a packet goes; keeps it and asks otherwise.
    fn knows(&mut self, node: u32, packet: PacketId, work: Duration) -> bool {
        let p = self.stack.lower.cx.packets[packet];
        let identity = |node: u32| self.stack.net.nodes[node as usize].identity;
        let (own, whose) = (identity(node), identity(p.to));
        let six = self.has_ipv6_header(&p);
        let number = self.stack.net.resolution.entry(own, (p.to, whose), six);
        let entry = &mut self.stack.net.resolution.entries[number as usize];
        if entry.known {
            return true;
        }
        let ciphers = std::mem::take(&mut self.stack.lower.device.cpu_ciphers);
        let first = entry.held.is_empty();
        entry.held.push_back((packet, work, ciphers));
        let oldest = (entry.held.len() > HELD).then(|| entry.held.pop_front());
        if let Some((packet, ..)) = oldest.flatten() {
            self.lose(packet);
        }
        if first && self.stack.net.resolution.entries[number as usize].attempts == 0 {
            self.ask(number);
        }
        false
    }

    fn ask(&mut self, number: u32) {
        let entry = &mut self.stack.net.resolution.entries[number as usize];
        entry.attempts += 1;
        let (host, target) = (entry.host, entry.target);
        let again = self.stack.lower.cx.events.now() + AGAIN;
        self.stack
            .lower
            .cx
            .events
            .schedule(again, Event::Resolution { entry: number });
        let question = self.resolution_packet(number, target, 0);
        let octets = self.stack.lower.cx.packets[question].ip_octets;
        let work = self.stack.lower.device.nodes[host as usize]
            .host
            .transmit
            .of(octets);
        if self.is_plain_station(host) {
            match self.present_node(host) {
                Some(node) => self.dispatch(node, question, work),
                // Nobody hears it between two access points; it asks again.
                None => self.lose(question),
            }
        } else {
            self.flood(host, question, work);
            self.stack.lower.cx.packets.remove(question);
        }
    }

    fn resolution_packet(&mut self, number: u32, to: u32, answer: u32) -> PacketId {
        let now = self.stack.lower.cx.events.now();
        let six = self.stack.net.resolution.entries[number as usize].six;
        let octets = if six { NEIGHBOUR_OCTETS } else { ARP_OCTETS };
        let packet = Packet::of_no_flow(to, octets, OURS | answer | number, now);
        self.stack.lower.cx.packets.insert(packet)
    }

    /// Nobody has answered for a while.
    pub(crate) fn resolution_due(&mut self, number: u32) {
        let entry = &mut self.stack.net.resolution.entries[number as usize];
        if entry.known {
            return;
        }
        if entry.attempts < ATTEMPTS {
            self.ask(number);
            return;
        }
        // The next packet asks anew.
        entry.attempts = 0;
        for (packet, ..) in std::mem::take(&mut entry.held) {
            self.lose(packet);
        }
    }

    /// A packet reached a node's stack: copies of a question go where else it has to be heard.
    /// Gives whether the packet ends here.
    pub(crate) fn pass_question(&mut self, node: u32, packet: PacketId, effort: Duration) -> bool {
        let p = self.stack.lower.cx.packets[packet];
        if !p.asks() || self.is_plain_station(node) {
            return false;
        }
        let work = self.stack.lower.device.nodes[node as usize]
            .host
            .forward
            .of(p.ip_octets)
            + effort;
        self.flood(node, packet, work);
        let ends = !self.is_for(node, p.to);
        if ends {
            self.stack.lower.cx.packets.remove(packet);
        }
        ends
    }

    /// A station that passes nothing on.
    fn is_plain_station(&self, node: u32) -> bool {
        let state = &self.stack.lower.mac.nodes[node as usize];
        self.stack.net.nodes[node as usize].role == Role::Station
            && !self.stack.lower.mac.links[state.first_link as usize].four_address
    }

    /// Radio neighbours to which a node sends questions of `asker` in frames with four addresses.
    fn bridges_away_from(&self, node: u32, asker: u32) -> Vec<u32> {
        let state = &self.stack.lower.mac.nodes[node as usize];
        let route = self.stack.net.routes[node as usize][asker as usize];
        (0..state.neighbours)
            .filter(|n| self.stack.lower.mac.links[(state.first_link + n) as usize].four_address)
            .filter(|n| route != (Route::Air { neighbour: *n }))
            .collect()
    }

    /// Sends copies of a question over the air and over every wire that leads away from its asker.
    fn flood(&mut self, node: u32, packet: PacketId, work: Duration) {
        let p = self.stack.lower.cx.packets[packet];
        let now = self.stack.lower.cx.events.now();
        let asker = self.stack.net.resolution.entries[(p.mark & !(OURS | ANSWER)) as usize].host;
        let octets = p.ip_octets + airtoll_phy::LLC_SNAP_OCTETS;
        let done = self.stack.lower.device.nodes[node as usize]
            .host
            .cpu
            .work(now, work);
        let first = self.stack.lower.mac.nodes[node as usize].first_link;
        let group = self
            .stack
            .net
            .resolution
            .groups
            .get(&node)
            .map(|link| (*link, 0));
        let bridges = self.bridges_away_from(node, asker);
        let bridges = bridges.into_iter().map(|n| (first + n, n + 1));
        for (link, end) in group.into_iter().chain(bridges) {
            let cipher = self.stack.lower.mac.links[link as usize].cipher;
            let host = &mut self.stack.lower.device.nodes[node as usize].host;
            let effort = host.cipher_time(cipher, true, octets);
            self.stack.lower.cx.observers.crypto_time += effort;
            let engine = match host.engine {
                CryptoEngine::Cpu => &mut host.cpu,
                _ => host.engine_for(true),
            };
            let done = engine.work(done, effort);
            self.note_ciphers(node, done, effort);
            let copy = self.stack.lower.cx.packets.insert(Packet { end, ..p });
            self.offer_to_radio(node, copy, done);
        }
        for wire in 0..self.stack.net.wires.len() as u32 {
            // The two directions of a link are neighbours.
            let back = wire ^ 1;
            let to = self.stack.net.wires[wire as usize].to;
            if self.stack.net.wires[back as usize].to == node
                && self.stack.net.routes[to as usize][asker as usize]
                    == (Route::Wire { wire: back })
            {
                let copy = self.stack.lower.cx.packets.insert(Packet { end: 0, ..p });
                self.send_on_wire(wire, copy, done);
            }
        }
    }

    /// The link that a question takes from a node: for group-addressed frames, or to a bridge. So do
    /// the advertisements of agents.
    #[inline]
    pub(crate) fn question_link(&self, node: u32, packet: PacketId) -> Option<u32> {
        let p = &self.stack.lower.cx.packets[packet];
        if !p.asks() && !p.advertises() {
            return None;
        }
        if p.end > 0 {
            return Some(self.stack.lower.mac.nodes[node as usize].link(p.end - 1, p.category));
        }
        self.stack.net.resolution.groups.get(&node).copied()
    }

    /// A group-addressed frame left the air: whoever is asked for may have heard it, and nobody
    /// acknowledges it.
    pub(crate) fn group_sent(
        &mut self,
        id: u32,
        reception: &dyn Fn(&Self, u32) -> Option<Reception>,
        alone: Duration,
    ) {
        self.stack.lower.cx.observers.ledger.management += alone;
        let exchange = &self.stack.lower.mac.exchanges[id as usize];
        let (link, mode, length) = (exchange.link, exchange.mode, exchange.length);
        let node = self.stack.lower.mac.contenders[id as usize].node;
        let Some(mpdu) = self.stack.lower.mac.links[link as usize].window.front_mut() else {
            return;
        };
        (mpdu.received, mpdu.delivered, mpdu.acknowledged) = (true, true, true);
        mpdu.in_flight = false;
        let (octets, head) = (mpdu.octets, mpdu.head);
        let from_access_point = self.stack.net.nodes[node as usize].role == Role::AccessPoint;
        if self.stack.lower.mac.links[link as usize].signalling && from_access_point {
            return self.told_everybody(id, head, reception);
        }
        self.stack.lower.cx.observers.ledger.octets_management += u64::from(octets);
        if self.stack.lower.cx.packets[head].advertises() {
            self.stack.lower.mac.queues[id as usize].unfinished = None;
            self.shrink_window(id, link);
            self.advertisement_sent(link, (head, octets, mode), length, reception);
            self.end_unanswered(id);
            return;
        }
        let asked = self.stack.lower.cx.packets[head].to;
        let state = &self.stack.lower.mac.nodes[node as usize];
        let own = state.first_link..state.first_link + state.neighbours;
        let vector = self.stack.lower.mac.modes[mode as usize].vector;
        let here = self.present_node(asked).unwrap_or(asked);
        let hears = |l: u32| {
            let link = &self.stack.lower.mac.links[l as usize];
            link.peer == here && !link.four_address && !link.barred
        };
        let listens = own.into_iter().any(hears);
        let asked = here;
        let arrives = listens
            && reception(self, asked)
                .is_some_and(|r| self.control_arrives(node, asked, &vector, octets, r));
        self.stack.lower.mac.queues[id as usize].unfinished = None;
        self.shrink_window(id, link);
        if arrives {
            self.stack.lower.cx.observers.nodes[asked as usize].receive_time += length;
            let cipher = self.stack.lower.mac.links[link as usize].cipher;
            self.receive_from_air(asked, cipher, head);
        } else {
            self.stack.lower.cx.packets.remove(head);
        }
        self.end_unanswered(id);
    }

    /// A management frame to all stations left the air.
    fn told_everybody(
        &mut self,
        id: u32,
        packet: PacketId,
        reception: &dyn Fn(&Self, u32) -> Option<Reception>,
    ) {
        let exchange = &self.stack.lower.mac.exchanges[id as usize];
        let (link, mode) = (exchange.link, exchange.mode);
        let octets = self.stack.lower.cx.packets[packet].ip_octets;
        self.stack.lower.cx.observers.ledger.octets_management += u64::from(octets);
        let node = self.stack.lower.mac.contenders[id as usize].node;
        let vector = self.stack.lower.mac.modes[mode as usize].vector;
        let mut hearers = Vec::new();
        for station in self.join.off_at(node) {
            let heard = reception(self, station)
                .is_some_and(|r| self.control_arrives(node, station, &vector, octets, r));
            if heard {
                hearers.push(station);
            }
        }
        self.stack.lower.mac.queues[id as usize].unfinished = None;
        self.shrink_window(id, link);
        self.everybody_told(self.stack.lower.cx.packets[packet].mark, &hearers);
        self.lose(packet);
        self.end_unanswered(id);
    }

    /// A question or an answer is through the stack of the host that it is for.
    pub(crate) fn resolution_arrived(&mut self, p: &Packet) {
        let number = p.mark & !(OURS | ANSWER);
        let Entry {
            host, target, six, ..
        } = self.stack.net.resolution.entries[number as usize];
        if p.asks() {
            let octets = p.ip_octets;
            let work = self.stack.lower.device.nodes[target as usize]
                .host
                .transmit
                .of(octets);
            let answer = self.resolution_packet(number, host, ANSWER);
            match self.present_node(target) {
                Some(node) => self.dispatch(node, answer, work),
                None => self.lose(answer),
            }
            // Who is asked learns the asker's address from the question.
            let target = self.stack.net.nodes[target as usize].identity;
            let other = self.stack.net.resolution.entry(target, (host, host), six);
            self.learn(other);
        } else {
            self.learn(number);
        }
    }

    fn learn(&mut self, number: u32) {
        let entry = &mut self.stack.net.resolution.entries[number as usize];
        entry.known = true;
        let host = entry.host;
        for (packet, work, ciphers) in std::mem::take(&mut entry.held) {
            self.stack.lower.device.cpu_ciphers = ciphers;
            // Between two access points the packet waits for the next one.
            if let Some(node) = self.sending_node(host, packet) {
                self.dispatch(node, packet, work);
            }
        }
    }
}

#[cfg(test)]
mod tests;
