//! Address resolution at first contact: ARP (RFC 826) and IPv6 Neighbour Discovery (RFC 4861).
//!
//! All nodes are in one bridged subnet, so a host asks for the host that it sends to (the far end
//! of a tunnel, where there is one). Takes packets that a host sends; holds them until their
//! receiver's address is known, and sends the request and its reply. A request is a unicast frame
//! from a station to its access point. The access point repeats it to its BSS as one
//! group-addressed frame, forwards it over its wires, and sends it to each wireless bridge as a
//! frame with four addresses. A bridge ignores the frame with three addresses, as Linux does;
//! otherwise it would receive the request twice. Addresses stay known for the whole trial. The
//! module does nothing where the scenario says that they are known from the start.

use std::collections::{HashMap, VecDeque};

use airtoll_units::Duration;

use super::{Net, Route};
use crate::event::Event;
use crate::id::{LinkId, NeighbourId, NodeId, PacketId, RadioId, ResolutionId, Table, WireId};
use crate::lower::Lower;
use crate::packet::{Carries, Loss, Packet};
use crate::scenario::Role;

/// ARP packet for IPv4 over IEEE 802 addresses: 8 + 2 * (6 + 4) octets (RFC 826).
pub(crate) const ARP_OCTETS: u32 = 28;
/// Neighbour Solicitation with source, or Advertisement with target link-layer address: IPv6 header
/// 40, message 24, option 8 octets (RFC 4861 sections 4.3, 4.4 and 4.6.1).
pub(crate) const NEIGHBOUR_OCTETS: u32 = 72;
/// Packets held per unresolved address; a further one replaces the oldest (RFC 1122
/// section 2.3.2.2 and RFC 4861 section 7.2.2 ask for at least one, Linux before 3.3 kept three).
const HELD: usize = 3;
/// A request is repeated after this time (RFC 1122 section 2.3.2.1; RETRANS_TIMER, RFC 4861
/// section 10).
const AGAIN: Duration = Duration::from_secs(1);
/// Number of requests (MAX_MULTICAST_SOLICIT, RFC 4861 section 10; Linux sends as many by ARP).
const ATTEMPTS: u8 = 3;
/// Entry of a host for another host's address.
#[derive(Debug)]
struct Entry {
    host: NodeId,
    target: NodeId,
    six: bool,
    known: bool,
    attempts: u8,
    /// Packets that wait, with the CPU time that they still take and the ciphers' part in it.
    held: VecDeque<(PacketId, Duration, Duration)>,
}

/// Neighbour tables of all hosts.
#[derive(Debug)]
pub(super) struct Resolution {
    /// Whether hosts have to ask.
    dynamic: bool,
    entries: Table<ResolutionId, Entry>,
    numbers: HashMap<(NodeId, NodeId, bool), ResolutionId>,
}

impl Resolution {
    pub(super) fn new(dynamic: bool) -> Self {
        Self {
            dynamic,
            entries: Table::new(),
            numbers: HashMap::new(),
        }
    }

    /// Whether hosts have to resolve addresses.
    #[inline]
    pub(super) fn is_dynamic(&self) -> bool {
        self.dynamic
    }

    /// The entry of `host` for `target`.
    fn entry(&mut self, host: NodeId, target: NodeId, six: bool) -> ResolutionId {
        let entries = &mut self.entries;
        *self.numbers.entry((host, target, six)).or_insert_with(|| {
            entries.push(Entry {
                host,
                target,
                six,
                known: false,
                attempts: 0,
                held: VecDeque::new(),
            })
        })
    }
}

/// Subject of a request or a reply.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Subject {
    /// The host that asks.
    pub host: NodeId,
    /// The host whose address is requested.
    pub target: NodeId,
    /// Neighbour Discovery instead of ARP.
    pub six: bool,
}

impl Net {
    /// Subject of a request or a reply of this entry.
    pub fn subject(&self, entry: ResolutionId) -> Subject {
        let entry = &self.resolution.entries[entry];
        Subject {
            host: entry.host,
            target: entry.target,
            six: entry.six,
        }
    }

    /// Sends a packet of the host itself, once the address that it goes to is known.
    #[inline]
    pub fn dispatch_own(
        &mut self,
        lower: &mut Lower,
        node: NodeId,
        packet: PacketId,
        work: Duration,
    ) {
        if self.knows_hop(lower, node, packet, work) {
            self.dispatch(lower, node, packet, work);
        }
    }

    /// Whether a host may send a packet now; otherwise it keeps the packet until it knows the address.
    #[inline]
    pub(super) fn knows_hop(
        &mut self,
        lower: &mut Lower,
        node: NodeId,
        packet: PacketId,
        work: Duration,
    ) -> bool {
        !self.resolution.dynamic || self.knows(lower, node, packet, work)
    }

    /// Whether a host knows the address that a packet goes to; otherwise keeps it and sends a
    /// request.
    fn knows(&mut self, lower: &mut Lower, node: NodeId, packet: PacketId, work: Duration) -> bool {
        let p = lower.cx.packets[packet];
        let six = self.has_ipv6_header(&p);
        let number = self.resolution.entry(node, p.to, six);
        let entry = &mut self.resolution.entries[number];
        if entry.known {
            return true;
        }
        let ciphers = lower.device.take_cpu_ciphers();
        let first = entry.held.is_empty();
        entry.held.push_back((packet, work, ciphers));
        let oldest = (entry.held.len() > HELD).then(|| entry.held.pop_front());
        if let Some((packet, ..)) = oldest.flatten() {
            lower.cx.lose(packet, Loss::Address);
        }
        if first && self.resolution.entries[number].attempts == 0 {
            self.ask(lower, number);
        }
        false
    }

    fn ask(&mut self, lower: &mut Lower, number: ResolutionId) {
        let Subject { host, target, .. } = self.subject(number);
        if self.answers_for(host, target) {
            self.learn(lower, number);
            return;
        }
        let entry = &mut self.resolution.entries[number];
        entry.attempts += 1;
        let again = lower.cx.now() + AGAIN;
        lower
            .cx
            .schedule(again, Event::Resolution { entry: number });
        let carries = Carries::Request {
            entry: number,
            copy: None,
        };
        let request = self.resolution_packet(lower, number, target, carries);
        let octets = lower.cx.packets[request].ip_octets;
        let work = lower.device.transmit_time(host, octets);
        if self.is_plain_station(lower, host) {
            if self.is_away(host) {
                // No access point hears it; the host asks again.
                lower.cx.lose(request, Loss::Away);
            } else {
                self.dispatch(lower, host, request, work);
            }
        } else {
            self.flood(lower, host, request, work);
            lower.cx.packets.remove(request);
        }
    }

    fn resolution_packet(
        &self,
        lower: &mut Lower,
        number: ResolutionId,
        to: NodeId,
        carries: Carries,
    ) -> PacketId {
        let six = self.resolution.entries[number].six;
        let octets = if six { NEIGHBOUR_OCTETS } else { ARP_OCTETS };
        let packet = Packet::new(carries, to, octets, lower.cx.now());
        lower.cx.packets.insert(packet)
    }

    /// A request may have to be repeated.
    pub fn resolution_due(&mut self, lower: &mut Lower, number: ResolutionId) {
        let entry = &mut self.resolution.entries[number];
        if entry.known {
            return;
        }
        if entry.attempts < ATTEMPTS {
            self.ask(lower, number);
            return;
        }
        // The next packet causes a new request.
        entry.attempts = 0;
        for (packet, ..) in std::mem::take(&mut entry.held) {
            lower.cx.lose(packet, Loss::Address);
        }
    }

    /// A packet reached a node's stack: copies of a request or of a message to a group go on over the
    /// node's other links.
    /// Gives whether the packet ends here.
    pub(super) fn pass_on(
        &mut self,
        lower: &mut Lower,
        node: NodeId,
        packet: PacketId,
        effort: Duration,
    ) -> bool {
        let p = lower.cx.packets[packet];
        if !p.floods() {
            return false;
        }
        if self.is_plain_station(lower, node) {
            let others = node != p.to;
            if others {
                // A copy of a request for another station.
                let work = lower.device.receive_time(node, p.ip_octets) + effort;
                lower.device.spend(&lower.cx, &mut lower.medium, node, work);
                lower.cx.packets.remove(packet);
            }
            return others;
        }
        if self.proxies(lower, node, &p, effort) {
            lower.cx.packets.remove(packet);
            return true;
        }
        let work = lower.device.forward_time(node, p.ip_octets) + effort;
        self.flood(lower, node, packet, work);
        // A message to a group ends at hosts alone.
        let ends = node != p.to || (!p.asks() && self.role(node) == Role::AccessPoint);
        if ends {
            lower.cx.packets.remove(packet);
        }
        ends
    }

    /// A station that forwards nothing.
    fn is_plain_station(&self, lower: &Lower, node: NodeId) -> bool {
        let mut links = lower.mac.first_links(lower.medium.radio_of(node));
        self.role(node) == Role::Station
            && !links
                .next()
                .is_some_and(|link| lower.mac.link(link).has_fourth_address())
    }

    /// Radio neighbours to which a node sends requests of `asker` in frames with four addresses.
    fn bridges_away_from(
        &self,
        lower: &Lower,
        node: NodeId,
        asker: NodeId,
    ) -> Vec<(LinkId, NeighbourId)> {
        let route = self.routes[node][asker];
        let links = lower.mac.first_links(lower.medium.radio_of(node));
        (0..)
            .zip(links)
            .filter(|(_, link)| lower.mac.link(*link).has_fourth_address())
            .map(|(number, link)| (link, NeighbourId::new(number)))
            .filter(|(_, n)| route != (Route::Air { neighbour: *n }))
            .collect()
    }

    /// Sends copies of a request, or of a message to a group, over the air and over every wire that
    /// leads away from its sender.
    pub(super) fn flood(
        &mut self,
        lower: &mut Lower,
        node: NodeId,
        packet: PacketId,
        work: Duration,
    ) {
        let p = lower.cx.packets[packet];
        let asker = match p.carries {
            Carries::Request { entry, .. } => self.resolution.entries[entry].host,
            Carries::Group { source, .. } => self.group_message(source).node,
            _ => return,
        };
        let octets = p.ip_octets + airtoll_phy::LLC_SNAP_OCTETS;
        let done = lower.device.work(&lower.cx, node, work);
        let group = self.links_to_group(lower, node, asker, &p);
        let bridges = self.bridges_away_from(lower, node, asker);
        let bridges = bridges.into_iter().map(|(link, n)| (link, Some(n)));
        for (link, neighbour) in group.into_iter().chain(bridges) {
            let cipher = lower.mac.link(link).cipher();
            let cx = &mut lower.cx;
            let effort = lower.device.cipher_time(cx, node, cipher, true, octets);
            let medium = &mut lower.medium;
            let done = lower.device.encrypt_from(medium, node, done, effort);
            let to = match (p.carries, neighbour) {
                (Carries::Group { .. }, Some(_)) => {
                    lower.medium.host_of(lower.mac.link(link).peer())
                }
                _ => p.to,
            };
            let carries = p.carries.copied_to(neighbour);
            let copy = lower.cx.packets.insert(Packet { carries, to, ..p });
            self.offer_to_radio(lower, node, copy, done);
        }
        for wire in self.wires.ids() {
            // The two directions of a link are neighbours.
            let back = WireId::new(wire.number() ^ 1);
            let to = self.wires[wire].to();
            if self.wires[back].to() == node
                && self.routes[to][asker] == (Route::Wire { wire: back })
            {
                let to = if p.asks() { p.to } else { to };
                let carries = p.carries.copied_to(None);
                let copy = lower.cx.packets.insert(Packet { carries, to, ..p });
                self.send_on_wire(&mut lower.cx, wire, copy, done);
            }
        }
    }

    /// The link that a request, a message to a group or an agent advertisement takes from a node: for
    /// group-addressed frames, or that of one copy.
    #[inline]
    pub(super) fn group_or_copy_link(
        &self,
        lower: &Lower,
        node: NodeId,
        packet: PacketId,
    ) -> Option<LinkId> {
        let p = &lower.cx.packets[packet];
        let radio = lower.medium.radio_of(node);
        match p.carries {
            Carries::Request {
                copy: Some(neighbour),
                ..
            }
            | Carries::Group {
                copy: Some(neighbour),
                ..
            } => Some(lower.mac.link_to(radio, neighbour, p.category)),
            Carries::Request { .. } | Carries::Group { .. } | Carries::Advertisement { .. } => {
                lower.mac.group_link(radio)
            }
            _ => None,
        }
    }

    /// The radio of the station that has to hear a group-addressed request of an access point, if it
    /// listens there.
    pub fn asked_station(
        &self,
        lower: &Lower,
        access_point: RadioId,
        packet: PacketId,
    ) -> Option<RadioId> {
        let asked = lower.cx.packets[packet].to;
        if self.is_away(asked) {
            return None;
        }
        let here = lower.medium.radio_of(asked);
        lower.mac.is_in_group(access_point, here).then_some(here)
    }

    /// A request or a reply is through the stack of the host that it is for.
    pub(super) fn resolution_arrived(&mut self, lower: &mut Lower, p: &Packet) {
        let (Carries::Request { entry: number, .. } | Carries::Reply { entry: number }) = p.carries
        else {
            return;
        };
        let Subject { host, target, six } = self.subject(number);
        if p.asks() {
            let work = lower.device.transmit_time(target, p.ip_octets);
            self.reply(lower, number, target, work);
            // The target learns the asker's address from the request.
            let other = self.resolution.entry(target, host, six);
            self.learn(lower, other);
        } else {
            self.learn(lower, number);
        }
    }

    /// Sends the reply to a request from `node`: the target, or an access point for it.
    pub(super) fn reply(
        &mut self,
        lower: &mut Lower,
        number: ResolutionId,
        node: NodeId,
        work: Duration,
    ) {
        let host = self.resolution.entries[number].host;
        let carries = Carries::Reply { entry: number };
        let reply = self.resolution_packet(lower, number, host, carries);
        if self.is_away(node) {
            lower.cx.lose(reply, Loss::Away);
        } else {
            self.dispatch(lower, node, reply, work);
        }
    }

    fn learn(&mut self, lower: &mut Lower, number: ResolutionId) {
        let entry = &mut self.resolution.entries[number];
        entry.known = true;
        let host = entry.host;
        for (packet, work, ciphers) in std::mem::take(&mut entry.held) {
            lower.device.set_cpu_ciphers(ciphers);
            // Between two access points the packet waits for the next one.
            if self.may_send(lower, host, packet) {
                self.dispatch(lower, host, packet, work);
            }
        }
    }
}

#[cfg(test)]
mod tests;
