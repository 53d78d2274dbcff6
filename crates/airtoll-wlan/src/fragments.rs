//! Datagrams that travel in fragments, because tunnels or their own length exceed the MTU.
//!
//! Takes a scenario; gives the flows of UDP whose packets are cut, and the payload that would not be.
//! Nothing is simulated.

use airtoll_engine::Streams;
use airtoll_security::TunnelSuite;

use crate::application::{Application as _, SocketKind};
use crate::black_hole::tunnels_between;
use crate::flow::PacketForm;
use crate::scenario::Scenario;

/// More octets than the interfaces of nested tunnels leave unused.
const MOST_ROOM: u32 = 200;

/// A flow whose datagrams are cut.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fragmented {
    /// Name of the flow.
    pub flow: String,
    /// Payload of its datagrams, octets.
    pub payload_octets: u32,
    /// The longest payload that travels in one packet, octets.
    pub fits_octets: u32,
    /// The smallest MTU at which its datagrams would be whole, octets.
    pub mtu_octets: u32,
    /// Its packets are in a tunnel, and would be whole without it.
    pub by_tunnel: bool,
}

/// The flows of equal datagrams that travel in fragments.
#[must_use]
pub fn fragmented(scenario: &Scenario) -> Vec<Fragmented> {
    let named = |name: &str| scenario.nodes.iter().find(|node| node.name == name);
    let own = |flow: &&crate::scenario::Flow| !scenario.carries_for_neighbours(flow);
    let found = scenario.flows.iter().filter(own).filter_map(|flow| {
        let kind = flow.transport.socket_kind();
        if kind != SocketKind::Datagrams {
            return None;
        }
        let any = Streams::new(0).named("unused");
        let application = flow.pattern.application(kind, any);
        let payload = application.datagram_octets()?;
        let ends = [named(&flow.source)?, named(&flow.destination)?];
        let mut tunnels = tunnels_between(ends);
        if tunnels.is_empty() {
            // A tunnel that ends on the way. Interfaces of WireGuard alone cut what they forward.
            let on_the_way = ends.iter().flat_map(|end| {
                let of_interfaces = end.tunnels.iter().filter(|tunnel| {
                    let suite = tunnel.encapsulation.map(|of| of.suite);
                    suite == Some(TunnelSuite::WireGuard)
                });
                of_interfaces.filter_map(|tunnel| Some([*end, named(&tunnel.peer)?]))
            });
            tunnels = on_the_way.flat_map(tunnels_between).collect();
        }
        let mtu = ends[0].mtu_octets.min(ends[1].mtu_octets);
        let packet = |payload| PacketForm::datagram_octets(flow.ip.header_octets(), payload);
        let outer = |payload| {
            tunnels
                .iter()
                .fold(packet(payload), |p, t| t.outer_octets(p))
        };
        // A host's own datagrams are cut before they enter the first tunnel, by its interface's MTU.
        let whole = |payload, mtu| {
            let own = tunnels
                .iter()
                .rev()
                .fold(mtu, |mtu, t| t.interface_mtu(mtu));
            packet(payload) <= own && outer(payload) <= mtu
        };
        let fits = (0..=payload).rev().find(|octets| whole(*octets, mtu))?;
        let needed = outer(payload);
        (fits < payload).then(|| Fragmented {
            flow: flow.name.clone(),
            payload_octets: payload,
            fits_octets: fits,
            mtu_octets: (needed..needed + MOST_ROOM)
                .find(|mtu| whole(payload, *mtu))
                .unwrap_or(needed),
            by_tunnel: !tunnels.is_empty() && packet(payload) <= mtu,
        })
    });
    found.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(payload: u32, ip: &str, tunnels: &str) -> Vec<(u32, u32, bool)> {
        let text = format!(
            r#"{{"duration_s": 1,
            "bss": [{{"name": "cell", "standard": "802.11a",
                "rate": {{"control": "fixed", "mbps": 54}}}}],
            "nodes": [
                {{"name": "s0", "role": "station", "bss": "cell", "tunnels": [{tunnels}]}},
                {{"name": "ap", "role": "access_point", "bss": "cell"}},
                {{"name": "server", "role": "wired"}}],
            "links": [{{"nodes": ["ap", "server"], "rate_bps": 1e9}}],
            "flows": [{{"name": "f", "source": "server", "destination": "s0", "ip": "{ip}",
                "transport": {{"protocol": "udp"}},
                "pattern": {{"type": "saturated", "payload_octets": {payload}}}}}]}}"#
        );
        let found = fragmented(&Scenario::from_json(&text).unwrap());
        found
            .iter()
            .map(|one| (one.fits_octets, one.mtu_octets, one.by_tunnel))
            .collect()
    }

    #[test]
    fn a_tunnel_cuts_what_fits_without_it() {
        let wireguard = r#"{"peer": "server", "encapsulation": {"suite": "wireguard"}}"#;
        assert_eq!(cut(1472, "ipv4", ""), []);
        // WireGuard's interface has 80 octets less than the host's (wg-quick): 1420 with IPv4 20 and UDP 8.
        assert_eq!(cut(1472, "ipv4", wireguard), [(1392, 1580, true)]);
        assert_eq!(cut(1392, "ipv4", wireguard), []);
        // Too long without a tunnel, too.
        assert_eq!(cut(4000, "ipv4", ""), [(1472, 4028, false)]);
        assert_eq!(cut(4000, "ipv4", wireguard), [(1392, 4108, false)]);
    }
}
