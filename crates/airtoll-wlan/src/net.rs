//! The network layer: host stacks, wires, routes, tunnels, IP fragments and address resolution.

pub(crate) mod ip_fragments;
pub(crate) mod network;
pub(crate) mod resolution;
pub(crate) mod tunnel;

use crate::packet::Slab;
use crate::scenario::Role;
use ip_fragments::FragmentGroup;
use network::{Route, Wire};
use resolution::Resolution;
use tunnel::{Layer, TunnelEnd};

/// A node of the network.
#[derive(Debug)]
pub(crate) struct Node {
    pub name: String,
    pub role: Role,
    pub mtu: u32,
    pub tunnels: Vec<TunnelEnd>,
    /// The node whose addresses it has: itself, or the host that it stands for.
    pub identity: u32,
    /// The node by which it sends; [`crate::packet::NONE`] between two access points.
    pub present: u32,
    /// It knows that its access point has ended its association.
    pub knows_off: bool,
    /// The far end of its tunnels waits for a packet from its new address.
    pub unheard: bool,
}

/// Nodes, routes and wires.
pub(crate) struct Net {
    pub nodes: Vec<Node>,
    pub routes: Vec<Vec<Route>>,
    /// Routes of all nodes for handshake packets to a host that returns to where it was.
    pub detours: Vec<(u32, Vec<Route>)>,
    pub wires: Vec<Wire>,
    pub fragments: Slab<FragmentGroup>,
    pub layers: Slab<Layer>,
    pub resolution: Resolution,
}
