//! The network layer: host stacks, wires, routes, tunnels, IP fragments and address resolution.
//!
//! Takes packets of a host, and those that its radio or a wire received; gives them to the MAC or a
//! wire, and to the outbox once they are through the stack of their destination host. The path of a
//! packet: `sending`, then per hop `receiving`; both use `tunnel`, `ip_fragments` and `resolution`.

mod advertising;
mod group;
mod ip_fragments;
mod presence;
mod receiving;
mod resolution;
mod runs;
mod sending;
mod tunnel;
mod wire;

use crate::id::{
    FragmentGroupId, LayerId, NeighbourId, NodeId, RadioId, Slab, Table, TunnelId, WireId,
};
use crate::packet::Packet;
use crate::scenario::Role;
use group::Groups;
use ip_fragments::FragmentGroup;
use resolution::Resolution;
use tunnel::Layer;

pub(crate) use group::{Content as GroupContent, GroupSource, Message as GroupMessage};
pub(crate) use ip_fragments::fragment_lengths;
pub(crate) use resolution::Subject;
pub(crate) use tunnel::{Takes, TunnelEnd, TunnelWork};
pub(crate) use wire::{ETHERNET_MINIMUM, Wire};

/// Next hop of a node's packets for another node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Route {
    /// Over the air, to the radio neighbour with this number.
    Air { neighbour: NeighbourId },
    /// Over a wire.
    Wire { wire: WireId },
    /// No next hop.
    None,
}

/// Routes of all nodes to one.
pub(crate) type RoutesTo = Table<NodeId, Route>;
/// Routes of all nodes to all nodes, by the node that sends.
pub(crate) type Routes = Table<NodeId, RoutesTo>;

/// A node of the network.
#[derive(Debug)]
struct Node {
    name: String,
    role: Role,
    mtu: u32,
    /// It drops too long packets that must not be fragmented, and says nothing.
    black_hole: bool,
    /// It drops fragments, and packets that it would have to fragment.
    drops_fragments: bool,
    tunnels: Table<TunnelId, TunnelEnd>,
    /// It is between two access points: its packets wait.
    away: bool,
    /// It knows that its access point has ended its association.
    knows_off: bool,
    /// Packets that its tunnel had taken when its address changed, where the far end waits for a
    /// packet from the new address.
    unheard: Option<u32>,
}

/// Nodes, routes and wires.
pub(crate) struct Net {
    nodes: Table<NodeId, Node>,
    routes: Routes,
    wires: Table<WireId, Wire>,
    fragments: Slab<FragmentGroupId, FragmentGroup>,
    layers: Slab<LayerId, Layer>,
    resolution: Resolution,
    groups: Groups,
    /// Routes of all nodes to a station that hands over, by its radio.
    ways: Vec<(RadioId, RoutesTo)>,
    /// Stations that join their next access point: handshake packets for them go there.
    joining: Vec<(NodeId, RadioId)>,
    /// Each packet takes the way of a single one.
    #[cfg(test)]
    singly: bool,
    /// Packets that took the way of a run.
    #[cfg(test)]
    in_runs: u64,
}

impl Net {
    /// A network without nodes; `dynamic` says that hosts have to resolve addresses.
    pub fn new(dynamic: bool) -> Self {
        Self {
            nodes: Table::new(),
            routes: Table::new(),
            wires: Table::new(),
            fragments: Slab::new(),
            layers: Slab::new(),
            resolution: Resolution::new(dynamic),
            groups: Groups::new(),
            ways: Vec::new(),
            joining: Vec::new(),
            #[cfg(test)]
            singly: false,
            #[cfg(test)]
            in_runs: 0,
        }
    }

    /// Each packet takes the way of a single one from now on.
    #[cfg(test)]
    pub fn carry_singly(&mut self) {
        self.singly = true;
    }

    /// Packets that took the way of a run.
    #[cfg(test)]
    pub fn in_runs(&self) -> u64 {
        self.in_runs
    }

    /// Adds a node with an MTU, octets; `black_hole`: it drops longer packets that must not be
    /// fragmented.
    pub fn add_node(&mut self, name: &str, role: Role, (mtu, black_hole): (u32, bool)) {
        self.nodes.push(Node {
            name: name.to_owned(),
            role,
            mtu,
            black_hole,
            drops_fragments: false,
            tunnels: Table::new(),
            away: false,
            knows_off: false,
            unheard: None,
        });
    }

    /// The node that was added last drops fragments, and packets that it would have to fragment.
    pub fn drop_fragments_at_last(&mut self) {
        if let Some(node) = self.nodes.iter_mut().next_back() {
            node.drops_fragments = true;
        }
    }

    /// Adds a wire; the two directions of a link follow each other.
    pub fn add_wire(&mut self, wire: Wire) -> WireId {
        self.wires.push(wire)
    }

    /// How many wires there are.
    pub fn wire_count(&self) -> usize {
        self.wires.len()
    }

    /// How many packets wait for a wire at most.
    pub fn wire_limit(&self, wire: WireId) -> u32 {
        self.wires[wire].limit()
    }

    /// Sets the routes of all nodes to all nodes.
    pub fn set_routes(&mut self, routes: Routes) {
        self.routes = routes;
    }

    /// All nodes.
    pub fn nodes(&self) -> impl DoubleEndedIterator<Item = NodeId> + use<> {
        self.nodes.ids()
    }

    /// A node's name.
    pub fn name(&self, node: NodeId) -> &str {
        &self.nodes[node].name
    }

    /// A node's role.
    #[inline]
    pub fn role(&self, node: NodeId) -> Role {
        self.nodes[node].role
    }

    /// A node's MTU, octets.
    pub fn mtu(&self, node: NodeId) -> u32 {
        self.nodes[node].mtu
    }

    /// Next hop of a node's packets for another node.
    pub fn route(&self, from: NodeId, to: NodeId) -> Route {
        self.routes[from][to]
    }

    /// The packet of which a packet is a fragment.
    pub fn whole(&self, piece: &Packet) -> Option<Packet> {
        piece.group.map(|group| self.fragments[group].whole)
    }
}
