//! Presence of hosts: whether a host is between two access points, and the routes to hosts that move.
//!
//! A station that hands over keeps its address, its tunnels and its neighbour table. Its link is
//! replaced: the medium knows by which radio the station is on the air, this module which access point
//! its packets go to.

use super::{Net, Route, RoutesTo, TunnelEnd};
use crate::context::{Action, Context};
use crate::id::{NodeId, PacketId, RadioId};
use crate::lower::Lower;

impl Net {
    /// Routes of all nodes to a station by one of its radios.
    pub fn add_ways(&mut self, radio: RadioId, ways: RoutesTo) {
        self.ways.push((radio, ways));
    }

    /// Whether a host is between two access points.
    #[inline]
    pub fn is_away(&self, host: NodeId) -> bool {
        self.nodes[host].away
    }

    /// Sets whether a host is between two access points, where its packets wait.
    pub fn set_away(&mut self, host: NodeId, away: bool) {
        self.nodes[host].away = away;
    }

    /// Sets whether a station knows that its association has ended.
    pub fn set_knows_off(&mut self, station: NodeId, knows: bool) {
        self.nodes[station].knows_off = knows;
    }

    /// Sets whether the far end of a station's tunnel waits for a packet from its new address.
    pub fn set_unheard(&mut self, station: NodeId, unheard: bool) {
        let state = &mut self.nodes[station];
        let taken = state.tunnels.iter().map(TunnelEnd::taken).sum();
        state.unheard = unheard.then_some(taken);
    }

    /// Handshake packets for a station go to the access point of this radio; `None`: as data.
    pub fn set_joining(&mut self, station: NodeId, radio: Option<RadioId>) {
        self.joining.retain(|(known, _)| *known != station);
        self.joining.extend(radio.map(|radio| (station, radio)));
    }

    /// Data for a station go to the access point of this radio.
    pub fn turn_routes(&mut self, station: NodeId, radio: RadioId) {
        let Some((_, ways)) = self.ways.iter().find(|(known, _)| *known == radio) else {
            return;
        };
        for (row, way) in self.routes.iter_mut().zip(ways) {
            row[station] = *way;
        }
    }

    /// Whether a host may send a packet now; otherwise the packet waits above.
    #[inline]
    pub(super) fn may_send(&self, lower: &mut Lower, host: NodeId, packet: PacketId) -> bool {
        let node = &self.nodes[host];
        if node.away {
            lower.cx.act(Action::KeepAway { host, packet });
            return false;
        }
        if node.knows_off {
            let station = host;
            lower.cx.act(Action::KeepOff { station, packet });
            return false;
        }
        true
    }

    /// Route of a packet at a node: handshake packets go to the AP that the station is moving to.
    #[inline(always)]
    pub(super) fn way(&self, cx: &Context, node: NodeId, packet: PacketId) -> Route {
        let p = &cx.packets[packet];
        if !self.joining.is_empty()
            && p.signal().is_some()
            && let Some((_, radio)) = self.joining.iter().find(|(host, _)| *host == p.to)
            && let Some((_, ways)) = self.ways.iter().find(|(known, _)| known == radio)
        {
            return ways[node];
        }
        self.routes[node][p.to]
    }
}
