//! Wired links, routes over them and over the air, and tunnels.

use std::collections::VecDeque;

use airtoll_units::{BitRate, Duration};

use super::Builder;
use crate::net::{Route, Takes, TunnelEnd, Wire};

impl Builder<'_> {
    pub(super) fn add_wires(&mut self) {
        let nodes = self.world.stack.net.len();
        let mut exits: Vec<Vec<(u32, Route)>> = vec![Vec::new(); nodes];
        let mut wires = 0;
        for link in &self.scenario.links {
            let [a, b] = link.nodes.each_ref().map(|n| self.index[n.as_str()]);
            for (from, to) in [(a, b), (b, a)] {
                let stream = self.streams.named(&format!("wire/{wires}"));
                wires += 1;
                let wire = self.world.stack.net.add_wire(Wire::new(
                    to,
                    BitRate(link.rate_bps as u64),
                    Duration::from_secs_f64(link.delay_s),
                    link.queue_packets,
                    (link.loss_ratio > 0.0).then_some((link.loss_ratio, stream)),
                ));
                exits[from as usize].push((to, Route::Wire { wire }));
            }
        }
        // The air before a station that bridges is a link like a wire.
        for phy in &self.phys {
            for (neighbour, &station) in phy.members[1..].iter().enumerate() {
                if self.scenario.nodes[station as usize].four_address {
                    let neighbour = neighbour as u32;
                    exits[phy.members[0] as usize].push((station, Route::Air { neighbour }));
                    exits[station as usize].push((phy.members[0], Route::Air { neighbour: 0 }));
                }
            }
        }
        let mut routes = vec![vec![Route::None; nodes]; nodes];
        // The first link on the shortest way, searched from every node that has some.
        for from in 0..nodes {
            let mut frontier = VecDeque::from([(from as u32, None)]);
            let mut seen = vec![false; nodes];
            seen[from] = true;
            while let Some((at, first)) = frontier.pop_front() {
                if let Some(exit) = first {
                    routes[from][at as usize] = exit;
                }
                for &(to, exit) in &exits[at as usize] {
                    if !std::mem::replace(&mut seen[to as usize], true) {
                        frontier.push_back((to, first.or(Some(exit))));
                    }
                }
            }
        }
        for phy in &self.phys {
            let (ap, stations) = (phy.members[0] as usize, &phy.members[1..]);
            let to_ap: Vec<Route> = routes.iter().map(|row| row[ap]).collect();
            for (neighbour, &station) in stations.iter().enumerate() {
                for (row, to_ap) in routes.iter_mut().zip(&to_ap) {
                    row[station as usize] = *to_ap;
                }
                routes[ap][station as usize] = Route::Air {
                    neighbour: neighbour as u32,
                };
            }
        }
        for phy in &self.phys {
            for &station in &phy.members[1..] {
                if !self.scenario.nodes[station as usize].four_address {
                    routes[station as usize].fill(Route::Air { neighbour: 0 });
                }
            }
        }
        self.world.stack.net.set_routes(routes);
    }

    pub(super) fn add_tunnels(&mut self) {
        for (i, node) in self.scenario.nodes.iter().enumerate() {
            for tunnel in &node.tunnels {
                let peer = self.index[tunnel.peer.as_str()];
                let gateway = tunnel.destinations.as_ref().map(|names| {
                    let nodes = names.iter().map(|name| self.index[name.as_str()]);
                    Takes::Network(nodes.collect())
                });
                let simplex = gateway.is_some();
                let end = TunnelEnd {
                    peer,
                    takes: gateway.unwrap_or(Takes::Own),
                    encapsulation: tunnel.encapsulation,
                    encrypt: tunnel.encrypt.into(),
                    decrypt: tunnel.peer_decrypt.unwrap_or(tunnel.decrypt).into(),
                    taken: 0,
                };
                let net = &mut self.world.stack.net;
                net.add_tunnel(i as u32, end.clone());
                if !simplex {
                    let far = TunnelEnd {
                        peer: i as u32,
                        takes: Takes::For(i as u32),
                        encrypt: tunnel.peer_encrypt.unwrap_or(tunnel.encrypt).into(),
                        decrypt: tunnel.decrypt.into(),
                        ..end
                    };
                    net.add_tunnel(peer, far);
                }
            }
        }
    }
}
