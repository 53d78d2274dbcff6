//! The network layer: host stacks, wires, routes, tunnels, IP fragments and address resolution.
//!
//! Takes packets of a host, and those that its radio or a wire received; gives them to the MAC or a
//! wire, and to the outbox once they are through the stack of their destination host. The path of a
//! packet: `sending`, then per hop `receiving`; both use `tunnel`, `ip_fragments` and `resolution`.

mod advertising;
mod ip_fragments;
mod presence;
mod receiving;
mod resolution;
mod sending;
mod tunnel;
mod wire;

use crate::packet::{Packet, Slab};
use crate::scenario::Role;
use ip_fragments::FragmentGroup;
use resolution::Resolution;
use tunnel::Layer;

pub(crate) use tunnel::{Takes, TunnelEnd};
pub(crate) use wire::{ETHERNET_MINIMUM, Wire};

/// Next hop of a node's packets for another node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Route {
    /// Over the air, to the radio neighbour with this number.
    Air { neighbour: u32 },
    /// Over a wire.
    Wire { wire: u32 },
    /// No next hop.
    None,
}

/// A node of the network.
#[derive(Debug)]
struct Node {
    name: String,
    role: Role,
    mtu: u32,
    tunnels: Vec<TunnelEnd>,
    /// The node whose addresses it has: itself, or the host that it stands for.
    identity: u32,
    /// The node by which it sends; [`NONE`] between two access points.
    present: u32,
    /// It knows that its access point has ended its association.
    knows_off: bool,
    /// The far end of its tunnels waits for a packet from its new address.
    unheard: bool,
}

/// Nodes, routes and wires.
pub(crate) struct Net {
    nodes: Vec<Node>,
    routes: Vec<Vec<Route>>,
    wires: Vec<Wire>,
    fragments: Slab<FragmentGroup>,
    layers: Slab<Layer>,
    resolution: Resolution,
    /// Routes of all nodes for handshake packets to a host that returns to an earlier node.
    detours: Vec<(u32, Vec<Route>)>,
}

impl Net {
    /// A network without nodes; `dynamic` says that hosts have to resolve addresses.
    pub fn new(dynamic: bool) -> Self {
        Self {
            nodes: Vec::new(),
            routes: Vec::new(),
            wires: Vec::new(),
            fragments: Slab::new(),
            layers: Slab::new(),
            resolution: Resolution::new(dynamic),
            detours: Vec::new(),
        }
    }

    /// Adds a node.
    pub fn add_node(&mut self, name: &str, role: Role, mtu: u32) {
        let number = self.nodes.len() as u32;
        self.nodes.push(Node {
            name: name.to_owned(),
            role,
            mtu,
            tunnels: Vec::new(),
            identity: number,
            present: number,
            knows_off: false,
            unheard: false,
        });
    }

    /// Adds a wire; the two directions of a link follow each other.
    pub fn add_wire(&mut self, wire: Wire) -> u32 {
        self.wires.push(wire);
        (self.wires.len() - 1) as u32
    }

    /// Sets the routes of all nodes to all nodes.
    pub fn set_routes(&mut self, routes: Vec<Vec<Route>>) {
        self.routes = routes;
    }

    /// How many nodes there are.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// A node's name.
    pub fn name(&self, node: u32) -> &str {
        &self.nodes[node as usize].name
    }

    /// A node's role.
    #[inline]
    pub fn role(&self, node: u32) -> Role {
        self.nodes[node as usize].role
    }

    /// A node's MTU, octets.
    pub fn mtu(&self, node: u32) -> u32 {
        self.nodes[node as usize].mtu
    }

    /// Next hop of a node's packets for another node.
    pub fn route(&self, from: u32, to: u32) -> Route {
        self.routes[from as usize][to as usize]
    }

    /// Routes of all nodes to one.
    pub fn routes_to(&self, to: u32) -> Vec<Route> {
        self.routes.iter().map(|row| row[to as usize]).collect()
    }

    /// The packet of which a fragment is a part.
    pub fn whole(&self, piece: &Packet) -> Packet {
        self.fragments[piece.group].whole
    }
}
