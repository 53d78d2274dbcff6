//! Group-addressed traffic: nodes that send messages to a group, and the ways that an access point has
//! to pass them on.
//!
//! A station's message is a unicast frame to its access point. The access point repeats it to its BSS
//! and sends it over its wires; how it reaches the BSS is a matter of [`GroupDelivery`]. Messages do
//! not enter tunnels. Every station of the BSS receives a group-addressed frame, and its sender drops
//! it by the source address (IEEE 802.11-2020, 10.3.6). The host that an address request asks for
//! answers by unicast, or the access point does so for it.

use airtoll_engine::Stream;
use airtoll_units::{Duration, Instant};

use super::resolution::{ARP_OCTETS, NEIGHBOUR_OCTETS};
use super::{Net, Route};
use crate::context::Context;
use crate::event::Event;
use crate::id::{GroupSourceId, LinkId, NeighbourId, NodeId, PacketId, RadioId, Table};
use crate::lower::Lower;
use crate::mac::GroupFrame;
use crate::observe::Observation;
use crate::packet::{BEST_EFFORT, Carries, Packet};
use crate::scenario::{GroupDelivery, Role};

/// Router Advertisement: IPv6 header 40, message 16, options of link-layer address 8, MTU 8 and one
/// prefix 32 octets (RFC 4861 sections 4.2 and 4.6).
const ROUTER_ADVERTISEMENT_OCTETS: u32 = 104;
/// Messages of the end of a trial are not counted: they may be on their way. As long as the longest
/// lifetime of an MSDU by default.
const UNCOUNTED: Duration = Duration::from_micros(500_000);

/// Content of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Content {
    /// Multicast DNS with a message of so many octets.
    Mdns { octets: u32 },
    /// A request for the address of a host.
    Request { target: NodeId },
    /// A Router Advertisement.
    RouterAdvertisement,
}

/// A message, its sender and its network protocol.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Message {
    pub node: NodeId,
    pub content: Content,
    pub six: bool,
}

impl Message {
    /// Length of the packet at the network layer, octets.
    fn octets(&self) -> u32 {
        let header = if self.six { 40 } else { 20 };
        match (self.content, self.six) {
            (Content::Mdns { octets }, _) => header + 8 + octets,
            (Content::Request { .. }, false) => ARP_OCTETS,
            (Content::Request { .. }, true) => NEIGHBOUR_OCTETS,
            (Content::RouterAdvertisement, _) => ROUTER_ADVERTISEMENT_OCTETS,
        }
    }
}

/// A node that sends a message again and again.
#[derive(Debug)]
pub(crate) struct GroupSource {
    message: Message,
    mean_interval_s: f64,
    stream: Stream,
}

impl GroupSource {
    /// Sends `message` as a Poisson process whose distances `stream` draws.
    pub fn new(message: Message, mean_interval_s: f64, stream: Stream) -> Self {
        Self {
            message,
            mean_interval_s,
            stream,
        }
    }

    fn distance(&mut self) -> Duration {
        let factor = -libm::log(1.0 - self.stream.unit());
        Duration::from_secs_f64(factor * self.mean_interval_s)
    }
}

/// Senders of group-addressed traffic, and how access points pass it on.
#[derive(Debug)]
pub(super) struct Groups {
    sources: Table<GroupSourceId, GroupSource>,
    /// Of every node; the default but for access points.
    deliveries: Table<NodeId, GroupDelivery>,
    /// Whether any node passes messages or requests on in a way of its own.
    acts: bool,
}

impl Groups {
    pub(super) fn new() -> Self {
        Self {
            sources: Table::new(),
            deliveries: Table::new(),
            acts: false,
        }
    }
}

impl Net {
    /// Adds a node's way to pass group-addressed frames on, in the order of the nodes.
    pub fn add_delivery(&mut self, delivery: GroupDelivery) {
        self.groups.acts |= delivery != GroupDelivery::default();
        self.groups.deliveries.push(delivery);
    }

    /// Adds a sender of group-addressed traffic.
    pub fn add_group_source(&mut self, source: GroupSource) {
        self.groups.acts = true;
        self.groups.sources.push(source);
    }

    /// The message of a sender of group-addressed traffic.
    pub fn group_message(&self, source: GroupSourceId) -> &Message {
        &self.groups.sources[source].message
    }

    /// Whether any node sends group-addressed traffic.
    pub fn has_group_traffic(&self) -> bool {
        !self.groups.sources.is_empty()
    }

    /// Whether requests and messages to groups have to be looked at on their way.
    #[inline]
    pub(super) fn passes_groups(&self) -> bool {
        self.resolution.is_dynamic() || self.groups.acts
    }

    /// An access point does not forward a packet of one of its stations to another.
    #[inline]
    pub(super) fn isolates(&self, lower: &Lower, node: NodeId, packet: PacketId) -> bool {
        if !self.groups.acts || !self.groups.deliveries[node].isolation {
            return false;
        }
        let p = &lower.cx.packets[packet];
        p.to != node && !p.floods() && matches!(self.routes[node][p.to], Route::Air { .. })
    }

    /// The traffic begins: schedules the first message of every sender.
    pub fn begin_groups(&mut self, cx: &mut Context) {
        for source in self.groups.sources.ids() {
            let at = cx.now() + self.groups.sources[source].distance();
            cx.schedule(at, Event::Group { source });
        }
    }

    /// A sender's next message is due.
    pub fn group_due(&mut self, lower: &mut Lower, source: GroupSourceId) {
        let now = lower.cx.now();
        let state = &mut self.groups.sources[source];
        let at = now + state.distance();
        let message = state.message;
        lower.cx.schedule(at, Event::Group { source });
        let host = message.node;
        if self.is_away(host) || self.nodes[host].knows_off {
            // No access point hears it.
            return;
        }
        // Those of neighbours are on another network.
        let here = |node: &NodeId| lower.medium.is_own(RadioId::first_of(*node));
        let stations = self.nodes().filter(|n| self.role(*n) == Role::Station);
        let stations = stations.filter(here);
        let own = self.role(host) == Role::Station;
        let receivers = stations.count() as u32 - u32::from(own);
        if now + UNCOUNTED <= lower.cx.end {
            lower.cx.observe(Observation::GroupSent { receivers });
        }
        let to = self.access_point_of(lower, host).unwrap_or(host);
        let carries = Carries::Group { source, copy: None };
        let packet = Packet {
            ipv6: message.six,
            ..Packet::new(carries, to, message.octets(), now)
        };
        let octets = packet.ip_octets;
        let packet = lower.cx.packets.insert(packet);
        let work = lower.device.transmit_time(host, octets);
        if to == host {
            self.flood(lower, host, packet, work);
            lower.cx.packets.remove(packet);
        } else {
            self.dispatch(lower, host, packet, work);
        }
    }

    /// The access point of a station.
    fn access_point_of(&self, lower: &Lower, station: NodeId) -> Option<NodeId> {
        if self.role(station) != Role::Station {
            return None;
        }
        let mut links = lower.mac.first_links(lower.medium.radio_of(station));
        let link = links.next()?;
        Some(lower.medium.host_of(lower.mac.link(link).peer()))
    }

    /// Links over which a node repeats a message or a request of `origin` to its BSS: that for
    /// group-addressed frames, or one per station.
    pub(super) fn links_to_group(
        &self,
        lower: &Lower,
        node: NodeId,
        origin: NodeId,
        p: &Packet,
    ) -> Vec<(LinkId, Option<NeighbourId>)> {
        let radio = lower.medium.radio_of(node);
        let delivery = self.groups.deliveries[node];
        let from_station = matches!(self.routes[node][origin], Route::Air { .. });
        if (delivery.isolation && from_station)
            || (delivery.proxy_arp && self.asked_host(p).is_some())
        {
            return Vec::new();
        }
        if !delivery.multicast_to_unicast {
            let group = lower.mac.group_link(radio);
            let group = group.filter(|_| !delivery.per_client_keys);
            return group.map(|link| (link, None)).into_iter().collect();
        }
        let links = (0..).zip(lower.mac.first_links(radio));
        links
            .filter(|(_, link)| {
                let link = lower.mac.link(*link);
                let station = lower.medium.host_of(link.peer());
                // A station that hands over has a link in every BSS of its way. Frames for a bridge
                // have four addresses.
                let here = lower.medium.radio_of(station) == link.peer() && !self.is_away(station);
                here && station != origin && !link.has_fourth_address() && !link.is_barred()
            })
            .map(|(number, _)| {
                let neighbour = NeighbourId::new(number);
                let link = lower.mac.link_to(radio, neighbour, BEST_EFFORT);
                (link, Some(neighbour))
            })
            .collect()
    }

    /// The host whose address a packet asks for.
    fn asked_host(&self, p: &Packet) -> Option<NodeId> {
        match p.carries {
            Carries::Request { entry, .. } => Some(self.subject(entry).target),
            Carries::Group { source, .. } => match self.group_message(source).content {
                Content::Request { target } => Some(target),
                _ => None,
            },
            _ => None,
        }
    }

    /// Whether an access point knows the address of a host, so that it answers for it: one of its
    /// stations.
    pub(super) fn answers_for(&self, node: NodeId, target: NodeId) -> bool {
        self.groups.deliveries[node].proxy_arp
            && self.role(target) == Role::Station
            && !self.is_away(target)
            && matches!(self.routes[node][target], Route::Air { .. })
    }

    /// An access point answers an address request for one of its stations; gives whether it does.
    pub(super) fn proxies(
        &mut self,
        lower: &mut Lower,
        node: NodeId,
        p: &Packet,
        effort: Duration,
    ) -> bool {
        let Some(target) = self.asked_host(p) else {
            return false;
        };
        if !self.answers_for(node, target) {
            return false;
        }
        let work = lower.device.forward_time(node, p.ip_octets) + effort;
        match p.carries {
            Carries::Request { entry, .. } => self.reply(lower, entry, node, work),
            Carries::Group { source, .. } => self.answer(lower, source, node, work),
            _ => {}
        }
        true
    }

    /// Sends the answer to an address request from `node`.
    fn answer(&mut self, lower: &mut Lower, source: GroupSourceId, node: NodeId, work: Duration) {
        let message = *self.group_message(source);
        let carries = Carries::Answer { source };
        let answer = Packet {
            ipv6: message.six,
            ..Packet::new(carries, message.node, message.octets(), lower.cx.now())
        };
        let answer = lower.cx.packets.insert(answer);
        self.dispatch(lower, node, answer, work);
    }

    /// The frame of a message left the air of an access point, and these stations heard it.
    pub fn group_frame_sent(&mut self, lower: &mut Lower, frame: &GroupFrame, heard: &[NodeId]) {
        let p = lower.cx.packets.remove(frame.packet);
        let Carries::Group { source, .. } = p.carries else {
            return;
        };
        let sender = self.group_message(source).node;
        for &station in heard {
            lower.cx.observe(Observation::Listens {
                node: station,
                length: frame.length,
            });
            if station != sender {
                let copy = lower.cx.packets.insert(Packet { to: station, ..p });
                self.receive_from_air(lower, station, frame.link, copy);
            }
        }
    }

    /// A message is through the stack of a host.
    pub(super) fn group_message_arrived(
        &mut self,
        lower: &mut Lower,
        source: GroupSourceId,
        p: &Packet,
        at: Instant,
    ) {
        let message = *self.group_message(source);
        let counted = p.created + UNCOUNTED <= lower.cx.end;
        if self.role(p.to) == Role::Station && counted {
            lower.cx.observe(Observation::GroupArrived {
                source,
                station: p.to,
                created: p.created,
                at,
            });
        }
        if message.content == (Content::Request { target: p.to }) && !self.is_away(p.to) {
            let work = lower.device.transmit_time(p.to, p.ip_octets);
            self.answer(lower, source, p.to, work);
        }
    }
}

#[cfg(test)]
mod tests;
