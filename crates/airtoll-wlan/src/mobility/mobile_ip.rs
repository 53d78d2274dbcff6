//! Mobile IP below a hand-over: where the home agent sends what is for a station.
//!
//! Takes a station that has registered at the next access point; gives IP in IP between its home
//! agent and the foreign agent there, both ways (RFC 5944 section 4.1, RFC 3024), or none at home.

use airtoll_handshakes::MobileIp;

use crate::device::host::Price;
use crate::net::tunnel::{Takes, TunnelEnd};
use crate::packet::NONE;
use crate::world::World;

/// The two directions between a home agent and a foreign one: node and number of its tunnel.
#[derive(Debug, Clone, Copy)]
pub(super) struct Binding {
    home: (u32, usize),
    foreign: (u32, usize),
}

/// Adds the tunnels of a hand-over to a foreign network, which carry nothing yet.
pub(super) fn prepare(world: &mut World, join: u32, mobile_ip: MobileIp) -> Option<Binding> {
    let (home, foreign) = world.association.agents_of(join);
    if mobile_ip != MobileIp::Foreign || home == NONE || foreign == NONE {
        return None;
    }
    let mut add = |node: u32, peer: u32| {
        let tunnels = &mut world.stack.net.nodes[node as usize].tunnels;
        tunnels.push(TunnelEnd {
            peer,
            takes: Takes::Network(Vec::new()),
            encapsulation: None,
            encrypt: Price::default(),
            decrypt: Price::default(),
            taken: 0,
        });
        (node, tunnels.len() - 1)
    };
    Some(Binding {
        home: add(home, foreign),
        foreign: add(foreign, home),
    })
}

impl World {
    /// The home agent has a binding for the station where this hand-over leads, and no other.
    pub(super) fn bind(&mut self, number: u32) {
        let station = self.mobility.handovers[number as usize].station;
        let own = |h: &super::Handover| h.station == station;
        for at in 0..self.mobility.handovers.len() {
            if !own(&self.mobility.handovers[at]) {
                continue;
            }
            let Some(binding) = self.mobility.handovers[at].binding else {
                continue;
            };
            let here = at == number as usize;
            let (home, foreign) = (binding.home, binding.foreign);
            for ((node, end), to) in [(home, station), (foreign, home.0)] {
                let to = if here { vec![to] } else { Vec::new() };
                self.stack.net.nodes[node as usize].tunnels[end].takes = Takes::Network(to);
            }
        }
        let (_, access_point) = {
            let join = self.mobility.handovers[number as usize].join;
            self.association.ends_of(join)
        };
        self.note_agent(station, access_point);
    }
}
