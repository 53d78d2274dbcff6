//! Presence of hosts: the node by which a host sends, and the routes to hosts that move.

use airtoll_wire::MacAddress;

use super::{Net, Route};
use crate::address;
use crate::context::{Action, Context};
use crate::lower::Lower;
use crate::packet::{NONE, PacketId};

impl Net {
    /// A node has the addresses of a host that it stands for.
    pub fn stand_for(&mut self, node: u32, host: u32) {
        self.nodes[node as usize].identity = host;
    }

    /// The node whose addresses a node has: itself, or the host that it stands for.
    #[inline]
    pub fn identity(&self, node: u32) -> u32 {
        self.nodes[node as usize].identity
    }

    /// The MAC address of a node, or of the host that it stands for.
    pub fn mac(&self, node: u32) -> MacAddress {
        address::mac(self.identity(node))
    }

    /// Whether a packet for `to` is for this node, or for the host that it stands for.
    #[inline]
    pub fn is_for(&self, node: u32, to: u32) -> bool {
        to == node || self.identity(node) == to
    }

    /// The node by which a host sends; `None` while it is between two access points.
    #[inline]
    pub fn present_node(&self, host: u32) -> Option<u32> {
        let node = self.nodes[host as usize].present;
        (node != NONE).then_some(node)
    }

    /// Sets the node by which a host sends; `None` between two access points.
    pub fn set_present(&mut self, host: u32, node: Option<u32>) {
        self.nodes[host as usize].present = node.unwrap_or(NONE);
    }

    /// Sets whether a station knows that its association has ended.
    pub fn set_knows_off(&mut self, station: u32, knows: bool) {
        self.nodes[station as usize].knows_off = knows;
    }

    /// Sets whether the far end of a node's tunnels waits for a packet from there.
    pub fn set_unheard(&mut self, node: u32, unheard: bool) {
        self.nodes[node as usize].unheard = unheard;
    }

    /// Sets the routes of all nodes for messages of negotiations to a host, where they differ from
    /// those of data.
    pub fn set_detour(&mut self, host: u32, routes: Option<Vec<Route>>) {
        self.detours.retain(|(known, _)| *known != host);
        self.detours.extend(routes.map(|routes| (host, routes)));
    }

    /// Sets the routes of all nodes to a host.
    pub fn set_routes_to(&mut self, host: u32, routes: &[Route]) {
        for (ways, way) in self.routes.iter_mut().zip(routes) {
            ways[host as usize] = *way;
        }
    }

    /// The node that sends a host's packet now; without one the packet waits above.
    #[inline]
    pub(super) fn sending_node(
        &self,
        lower: &mut Lower,
        host: u32,
        packet: PacketId,
    ) -> Option<u32> {
        let node = self.nodes[host as usize].present;
        if node == NONE {
            lower.cx.act(Action::KeepAway { host, packet });
            return None;
        }
        if self.nodes[node as usize].knows_off {
            let station = node;
            lower.cx.act(Action::KeepOff { station, packet });
            return None;
        }
        Some(node)
    }

    /// Route of a packet at a node: handshake packets go to the AP that the station is moving to.
    #[inline]
    pub(super) fn way(&self, cx: &Context, node: u32, packet: PacketId) -> Route {
        let p = &cx.packets[packet];
        if !self.detours.is_empty()
            && p.flow().is_none()
            && let Some((_, ways)) = self.detours.iter().find(|(host, _)| *host == p.to)
        {
            return ways[node as usize];
        }
        self.routes[node as usize][p.to as usize]
    }
}
