//! Presence of hosts: the node by which a host sends, and the routes to hosts that move.

use airtoll_wire::MacAddress;

use super::{Net, Route, RoutesTo};
use crate::address;
use crate::context::{Action, Context};
use crate::id::{NodeId, PacketId};
use crate::lower::Lower;

impl Net {
    /// A node has the addresses of a host that it stands for.
    pub fn stand_for(&mut self, node: NodeId, host: NodeId) {
        self.nodes[node].identity = host;
    }

    /// The node whose addresses a node has: itself, or the host that it stands for.
    #[inline]
    pub fn identity(&self, node: NodeId) -> NodeId {
        self.nodes[node].identity
    }

    /// The MAC address of a node, or of the host that it stands for.
    pub fn mac(&self, node: NodeId) -> MacAddress {
        address::mac(self.identity(node))
    }

    /// Whether a packet for `to` is for this node, or for the host that it stands for.
    #[inline]
    pub fn is_for(&self, node: NodeId, to: NodeId) -> bool {
        to == node || self.identity(node) == to
    }

    /// The node by which a host sends; `None` while it is between two access points.
    #[inline]
    pub fn present_node(&self, host: NodeId) -> Option<NodeId> {
        self.nodes[host].present
    }

    /// Sets the node by which a host sends; `None` between two access points.
    pub fn set_present(&mut self, host: NodeId, node: Option<NodeId>) {
        self.nodes[host].present = node;
    }

    /// Sets whether a station knows that its association has ended.
    pub fn set_knows_off(&mut self, station: NodeId, knows: bool) {
        self.nodes[station].knows_off = knows;
    }

    /// Sets whether the far end of a node's tunnels waits for a packet from there.
    pub fn set_unheard(&mut self, node: NodeId, unheard: bool) {
        self.nodes[node].unheard = unheard;
    }

    /// Sets the routes of all nodes for messages of negotiations to a host, where they differ from
    /// those of data.
    pub fn set_detour(&mut self, host: NodeId, routes: Option<RoutesTo>) {
        self.detours.retain(|(known, _)| *known != host);
        self.detours.extend(routes.map(|routes| (host, routes)));
    }

    /// Sets the routes of all nodes to a host.
    pub fn set_routes_to(&mut self, host: NodeId, routes: &RoutesTo) {
        for (ways, way) in self.routes.iter_mut().zip(routes) {
            ways[host] = *way;
        }
    }

    /// The node that sends a host's packet now; without one the packet waits above.
    #[inline]
    pub(super) fn sending_node(
        &self,
        lower: &mut Lower,
        host: NodeId,
        packet: PacketId,
    ) -> Option<NodeId> {
        let Some(node) = self.nodes[host].present else {
            lower.cx.act(Action::KeepAway { host, packet });
            return None;
        };
        if self.nodes[node].knows_off {
            let station = node;
            lower.cx.act(Action::KeepOff { station, packet });
            return None;
        }
        Some(node)
    }

    /// Route of a packet at a node: handshake packets go to the AP that the station is moving to.
    #[inline]
    pub(super) fn way(&self, cx: &Context, node: NodeId, packet: PacketId) -> Route {
        let p = &cx.packets[packet];
        if !self.detours.is_empty()
            && p.flow().is_none()
            && let Some((_, ways)) = self.detours.iter().find(|(host, _)| *host == p.to)
        {
            return ways[node];
        }
        self.routes[node][p.to]
    }
}
