//! The network layer: host stacks, wires, routes, tunnels, IP fragments, address resolution and
//! Mobile IP agents.

pub(crate) mod agents;
pub(crate) mod ip_fragments;
pub(crate) mod network;
pub(crate) mod resolution;
pub(crate) mod tunnel;

use crate::packet::Slab;
use crate::scenario::Role;
use agents::Agents;
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
}

/// Nodes, routes and wires.
pub(crate) struct Net {
    pub nodes: Vec<Node>,
    pub routes: Vec<Vec<Route>>,
    pub wires: Vec<Wire>,
    pub fragments: Slab<FragmentGroup>,
    pub layers: Slab<Layer>,
    pub resolution: Resolution,
    pub agents: Agents,
}
