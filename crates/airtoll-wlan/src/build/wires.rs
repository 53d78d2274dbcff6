//! Wired links, routes over them and over the air, and tunnels.

use std::collections::VecDeque;

use airtoll_units::{BitRate, Duration};

use super::Builder;
use crate::id::{NeighbourId, NodeId, RadioId, Table};
use crate::net::{Route, Routes, RoutesTo, Takes, TunnelEnd, TunnelWork, Wire};
use crate::scenario::WireDiscipline;

impl Builder<'_> {
    pub(super) fn add_wires(&mut self) {
        let nodes = self.scenario.nodes.len();
        let mut exits: Table<NodeId, Vec<(NodeId, Route)>> =
            std::iter::repeat_n(Vec::new(), nodes).collect();
        let mut wires = 0;
        for link in &self.scenario.links {
            let [a, b] = link.nodes.each_ref().map(|n| self.index[n.as_str()]);
            for (from, to) in [(a, b), (b, a)] {
                let stream = self.streams.named(&format!("wire/{wires}"));
                wires += 1;
                let wire = Wire::new(
                    to,
                    BitRate(link.rate_bps as u64),
                    Duration::from_secs_f64(link.delay_s),
                    link.queue_packets,
                    (link.loss_ratio > 0.0).then_some((link.loss_ratio, stream)),
                );
                let wire = match link.discipline {
                    WireDiscipline::Fifo => wire,
                    WireDiscipline::FqCodel => wire.with_flow_queues(from),
                };
                let wire = self.world.stack.net.add_wire(wire);
                exits[from].push((to, Route::Wire { wire }));
            }
        }
        let to_access_point = Route::Air {
            neighbour: NeighbourId::new(0),
        };
        // Stations that pass by have no access point, and nothing is routed to them.
        let all = self.scenario.bss.iter().zip(&self.phys);
        let cells = all.filter(|(bss, _)| !bss.passes_by()).map(|(_, phy)| phy);
        // The air before a station that bridges is a link like a wire.
        for phy in cells.clone() {
            let ap = self.radios.node_of(phy.members[0]);
            for (neighbour, &radio) in phy.members[1..].iter().enumerate() {
                let station = self.radios.node_of(radio);
                if self.scenario.nodes[station.index()].four_address {
                    let neighbour = NeighbourId::new(neighbour as u32);
                    exits[ap].push((station, Route::Air { neighbour }));
                    exits[station].push((ap, to_access_point));
                }
            }
        }
        let none: RoutesTo = std::iter::repeat_n(Route::None, nodes).collect();
        let mut routes: Routes = std::iter::repeat_n(none, nodes).collect();
        // The first link on the shortest way, searched from every node that has some.
        for from in routes.ids() {
            let mut frontier = VecDeque::from([(from, None)]);
            let mut seen: Table<NodeId, bool> = std::iter::repeat_n(false, nodes).collect();
            seen[from] = true;
            while let Some((at, first)) = frontier.pop_front() {
                if let Some(exit) = first {
                    routes[from][at] = exit;
                }
                for &(to, exit) in &exits[at] {
                    if !std::mem::replace(&mut seen[to], true) {
                        frontier.push_back((to, first.or(Some(exit))));
                    }
                }
            }
        }
        for phy in cells.clone() {
            let ap = self.radios.node_of(phy.members[0]);
            let to_ap: RoutesTo = routes.iter().map(|row| row[ap]).collect();
            for (at, &radio) in phy.members[1..].iter().enumerate() {
                let station = self.radios.node_of(radio);
                let neighbour = self.neighbour_number(ap, at, radio);
                let mut ways = to_ap.clone();
                ways[ap] = Route::Air {
                    neighbour: NeighbourId::new(neighbour as u32),
                };
                if radio == RadioId::first_of(station) {
                    for (row, way) in routes.iter_mut().zip(&ways) {
                        row[station] = *way;
                    }
                }
                let name = &self.scenario.nodes[station.index()].name;
                if self.scenario.handovers.iter().any(|h| h.station == *name) {
                    self.world.stack.net.add_ways(radio, ways);
                }
            }
        }
        for phy in cells {
            for &radio in &phy.members[1..] {
                let station = self.radios.node_of(radio);
                if !self.scenario.nodes[station.index()].four_address {
                    routes[station] = std::iter::repeat_n(to_access_point, nodes).collect();
                }
            }
        }
        self.world.stack.net.set_routes(routes);
    }

    /// The number of a station among the neighbours of its access point, `at` in their BSS.
    fn neighbour_number(&self, access_point: NodeId, at: usize, radio: RadioId) -> usize {
        let node = &self.scenario.nodes[access_point.index()];
        if node.multi_link.is_empty() {
            return at;
        }
        let stations = self.radios.stations_of(access_point);
        stations.iter().position(|s| *s == radio).unwrap_or(at)
    }

    pub(super) fn add_tunnels(&mut self) {
        for node in &self.scenario.nodes {
            let own = self.index[node.name.as_str()];
            for tunnel in &node.tunnels {
                let peer = self.index[tunnel.peer.as_str()];
                let gateway = tunnel.destinations.as_ref().map(|names| {
                    let nodes = names.iter().map(|name| self.index[name.as_str()]);
                    Takes::Network(nodes.collect())
                });
                let simplex = gateway.is_some();
                let takes = gateway.unwrap_or(Takes::Own);
                let work = TunnelWork {
                    encrypt: tunnel.encrypt.into(),
                    decrypt: tunnel.peer_decrypt.unwrap_or(tunnel.decrypt).into(),
                };
                let made = |peer, takes, work| {
                    let end = TunnelEnd::new(peer, takes, tunnel.encapsulation, work);
                    end.with_mtu(tunnel.mtu_octets)
                };
                let net = &mut self.world.stack.net;
                net.add_tunnel(own, made(peer, takes, work));
                if !simplex {
                    let work = TunnelWork {
                        encrypt: tunnel.peer_encrypt.unwrap_or(tunnel.encrypt).into(),
                        decrypt: tunnel.decrypt.into(),
                    };
                    let far = made(own, Takes::For(own), work);
                    net.add_tunnel(peer, far);
                }
            }
        }
    }
}
