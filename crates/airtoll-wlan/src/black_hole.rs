//! Black holes of path MTU discovery: connections whose full segments no router passes on.
//!
//! Takes a scenario; gives the flows of TCP whose segments exceed the MTU of an access point that drops
//! them in silence. Nothing is simulated.

use crate::id::NodeId;
use crate::net::{Takes, TunnelEnd, TunnelWork};
use crate::scenario::{Node, Role, Scenario, Transport};
use crate::transport::TcpConfig;

/// A connection in a black hole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlackHole {
    /// Name of the flow.
    pub flow: String,
    /// Length of its full packets where they are dropped, octets.
    pub octets: u32,
    /// MTU there, octets.
    pub mtu_octets: u32,
    /// The senders find shorter segments after time-outs.
    pub found: bool,
}

/// The connections whose full segments an access point drops.
#[must_use]
pub fn black_holes(scenario: &Scenario) -> Vec<BlackHole> {
    let Some(router) = scenario
        .nodes
        .iter()
        .find(|node| node.black_hole && node.role == Role::AccessPoint)
    else {
        return Vec::new();
    };
    let named = |name: &str| scenario.nodes.iter().find(|node| node.name == name);
    let own = |flow: &&crate::scenario::Flow| !scenario.carries_for_neighbours(flow);
    let found = scenario.flows.iter().filter(own).filter_map(|flow| {
        let Transport::Tcp(options) = &flow.transport else {
            return None;
        };
        let ends = [named(&flow.source)?, named(&flow.destination)?];
        let crosses = ends.iter().all(|end| end.name != router.name);
        let tunnels = tunnels_between(ends);
        let node_mtu = ends[0].mtu_octets.min(ends[1].mtu_octets);
        let followed = tunnels
            .iter()
            .filter(|_| !options.no_path_mtu_discovery)
            .rev()
            .fold(node_mtu, |mtu, end| end.longest_segment(mtu));
        let ip_header = flow.ip.header_octets();
        let systems = [ends[0].host.tcp, ends[1].host.tcp];
        let config = TcpConfig::of_flow(options, systems, followed - ip_header - 20);
        let packet = config.mss + ip_header + 20;
        let octets = tunnels.iter().fold(packet, |p, end| end.outer_octets(p));
        let cut_by_sender = octets > node_mtu;
        let cut_by_router = tunnels.last().is_some_and(TunnelEnd::clears_df);
        let dropped = octets > router.mtu_octets && !cut_by_router && !cut_by_sender;
        (crosses && dropped).then(|| BlackHole {
            flow: flow.name.clone(),
            octets,
            mtu_octets: router.mtu_octets,
            found: config.mtu_probing,
        })
    });
    found.collect()
}

/// The tunnels that packets between two nodes are in, the innermost first.
pub(crate) fn tunnels_between(ends: [&Node; 2]) -> Vec<TunnelEnd> {
    let of = |own: &Node, far: &Node| -> Vec<TunnelEnd> {
        let between = own.tunnels.iter().filter(|tunnel| tunnel.peer == far.name);
        between
            .map(|tunnel| {
                let free = TunnelWork::default();
                TunnelEnd::new(NodeId::new(0), Takes::Own, tunnel.encapsulation, free)
                    .with_mtu(tunnel.mtu_octets)
            })
            .collect()
    };
    let [first, second] = ends;
    let mut found = of(first, second);
    found.extend(of(second, first));
    found
}
