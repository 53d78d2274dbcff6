//! Tunnels of a station that moves: set up anew, moved by MOBIKE, followed by WireGuard, or left as
//! they are because Mobile IP keeps their address.
//!
//! Takes a hand-over whose station is in at the next access point; gives its tunnels there, and the
//! ways of packets for it once the far end knows where it is. What is negotiated for that is a part
//! of the association.

use airtoll_handshakes::TunnelMove;

use super::Mobility;
use crate::address;
use crate::packet::NONE;
use crate::world::World;

impl Mobility {
    /// The node whose address the tunnels of a station show outside, at the access point where it is
    /// this node.
    pub fn tunnel_end(&self, node: u32) -> u32 {
        match self.handovers.iter().find(|h| h.there == node) {
            Some(handover) if handover.keeps_address => handover.station,
            _ => node,
        }
    }

    /// Whether the far end of a tunnel waits for a packet from where its station is now.
    pub fn waits_for_packets(&self) -> bool {
        self.unheard > 0
    }
}

impl World {
    /// Tells the negotiation of a hand-over which tunnels there are and where the station will be.
    pub(super) fn tell_of_tunnels(&mut self, number: u32) {
        let handover = &self.mobility.handovers[number as usize];
        let (join, way, there) = (handover.join, handover.tunnel, handover.there);
        let gateway = self.association.gateway_of(join);
        if gateway == NONE {
            return;
        }
        let earlier = self.association.agreed(handover.before).2;
        let ends = [self.mobility.tunnel_end(there), gateway];
        let ends = ends.map(|node| address::ipv4(node).octets());
        let negotiation = &mut self.association.joins[join as usize].negotiation;
        negotiation.set_tunnel_ends(ends.into());
        negotiation.keep_tunnels(&earlier, way);
    }

    /// The station is in: tunnels that it keeps go on where they were. Gives whether packets for it
    /// go there at once.
    pub(super) fn keep_tunnels(&mut self, number: u32) -> bool {
        let handover = &mut self.mobility.handovers[number as usize];
        let (from, there, way) = (handover.from, handover.there, handover.tunnel);
        if way == TunnelMove::Anew {
            return true;
        }
        for end in 0..self.stack.net.nodes[from as usize].tunnels.len() {
            let taken = self.stack.net.nodes[from as usize].tunnels[end].taken;
            self.stack.net.nodes[there as usize].tunnels[end].taken = taken;
        }
        if let Some(mut recorder) = self.recorder.take() {
            recorder.tunnels_moved(self, from, there);
            self.recorder = Some(recorder);
        }
        let follows = way != TunnelMove::Roams;
        if !follows {
            self.mobility.handovers[number as usize].unheard = true;
            self.mobility.unheard += 1;
        }
        follows
    }

    /// The far end of a station's tunnel knows its new address.
    pub(crate) fn gateway_follows(&mut self, join: u32) {
        let Some(number) = self.mobility.of_join(join) else {
            return;
        };
        let handover = &self.mobility.handovers[number as usize];
        let there = handover.there;
        if let Some(mut recorder) = self.recorder.take() {
            recorder.gateway_follows(self, there);
            self.recorder = Some(recorder);
        }
    }

    /// The far end of a tunnel has authenticated a packet that this node put into it.
    pub(crate) fn note_tunnelled(&mut self, entered: u32) {
        let of = |h: &super::Handover| h.unheard && h.there == entered;
        let Some(number) = self.mobility.handovers.iter().position(of) else {
            return;
        };
        self.mobility.handovers[number].unheard = false;
        self.mobility.unheard -= 1;
        let join = self.mobility.handovers[number].join;
        self.gateway_follows(join);
        self.turn_to(number as u32);
    }

    /// Packets for the station of a hand-over go to where it is from now on.
    pub(super) fn turn_to(&mut self, number: u32) {
        let handover = &self.mobility.handovers[number as usize];
        let station = handover.station as usize;
        for (ways, way) in self.stack.net.routes.iter_mut().zip(&handover.way) {
            ways[station] = *way;
        }
    }
}
