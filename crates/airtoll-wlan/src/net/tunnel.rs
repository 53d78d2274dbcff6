//! Tunnels: encapsulation of the packets that a node sends or forwards, and decapsulation at the
//! far end.
//!
//! A packet carries the state of its outermost tunnel; a [`Layer`] holds the state before, so that
//! tunnels nest: a mobile node's ESP to its home agent inside the tunnel between two gateways.
//! Chooses no routes: `net` does.

use airtoll_security::{OuterIp, Tunnel, TunnelSuite};
use airtoll_units::Duration;

use super::Net;
use crate::context::Context;
use crate::device::Price;
use crate::id::{NodeId, PacketId, Table, TunnelId};
use crate::lower::Lower;
use crate::observe::Observation;
use crate::packet::{Packet, Tunnelled};

/// The packets that an end of a tunnel takes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Takes {
    /// All packets that its node sends itself.
    Own,
    /// Packets that its node sends or forwards to this one: the far end of a host's tunnel.
    For(NodeId),
    /// Packets that its node sends or forwards to these: a gateway. Its tunnel has one direction.
    Network(Vec<NodeId>),
}

/// A node's end of a tunnel.
#[derive(Debug, Clone)]
pub(crate) struct TunnelEnd {
    peer: NodeId,
    takes: Takes,
    /// `None`: IP in IP (RFC 2003).
    encapsulation: Option<Tunnel>,
    encrypt: Price,
    /// Cost at its peer.
    decrypt: Price,
    /// Stated MTU of its interface.
    mtu: Option<u32>,
    /// Packets that it has taken.
    taken: u32,
}

/// A packet before a tunnel took it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Layer {
    to: NodeId,
    ip_octets: u32,
    tunnel_octets: u32,
    /// The tunnel that it was in before.
    tunnelled: Option<Tunnelled>,
}

/// Octets that wg-quick leaves for WireGuard: an IPv6 header 40, UDP 8, and 32 of its own.
const WG_QUICK_ROOM: u32 = 80;
/// Default of OpenVPN's `tun-mtu`, octets.
const OPENVPN_TUN_MTU: u32 = 1_500;
/// The least MTU of IPv4 (RFC 791 section 3.2), octets.
const LEAST_MTU: u32 = 68;

/// The outer header of IP in IP (RFC 2003 section 3.1).
pub(crate) const IP_IN_IP_OCTETS: u32 = 20;

/// Costs of a tunnel in one direction.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct TunnelWork {
    /// To encrypt at this end.
    pub encrypt: Price,
    /// To decrypt at the far one.
    pub decrypt: Price,
}

impl TunnelEnd {
    /// The end of a tunnel to `peer`; without
    /// `encapsulation` IP in IP (RFC 2003).
    pub fn new(
        peer: NodeId,
        takes: Takes,
        encapsulation: Option<Tunnel>,
        work: TunnelWork,
    ) -> Self {
        let TunnelWork { encrypt, decrypt } = work;
        Self {
            peer,
            takes,
            encapsulation,
            encrypt,
            decrypt,
            mtu: None,
            taken: 0,
        }
    }

    /// The same with a stated MTU of its interface.
    pub fn with_mtu(self, mtu: Option<u32>) -> Self {
        Self { mtu, ..self }
    }

    /// The end of an IP-in-IP tunnel to `peer` (RFC 2003), without cost.
    pub fn ip_in_ip(peer: NodeId, takes: Takes) -> Self {
        Self::new(peer, takes, None, TunnelWork::default())
    }

    /// The node with the far end.
    pub fn peer(&self) -> NodeId {
        self.peer
    }

    /// The protection and its headers; `None`: IP in IP (RFC 2003).
    pub fn encapsulation(&self) -> Option<Tunnel> {
        self.encapsulation
    }

    /// Packets that it has taken.
    pub fn taken(&self) -> u32 {
        self.taken
    }

    /// Whether it takes a packet for `to` that its node forwards, or sends itself.
    pub fn takes(&self, to: NodeId, own: bool) -> bool {
        match &self.takes {
            Takes::Own => own,
            Takes::For(node) => *node == to,
            Takes::Network(nodes) => nodes.contains(&to),
        }
    }

    /// Length of the outer packet of an inner one.
    pub fn outer_octets(&self, inner: u32) -> u32 {
        match self.encapsulation {
            Some(tunnel) => tunnel.outer_octets(inner as usize) as u32,
            None => inner + IP_IN_IP_OCTETS,
        }
    }

    /// MTU of its interface where what is around it has an MTU of `mtu`: longer packets of its own node
    /// are fragmented before they enter. The stated one, or that of Linux: wg-quick leaves 80 octets, the
    /// most that WireGuard adds over IPv6 (1420 at 1500); OpenVPN's `tun-mtu` is 1500 whatever the path;
    /// XFRM and IP in IP take what fits (`xfrm_state_mtu`, `ip_tunnel_bind_dev`).
    pub fn interface_mtu(&self, mtu: u32) -> u32 {
        if let Some(own) = self.mtu {
            return own;
        }
        let own = match self.encapsulation.map(|t| t.suite) {
            Some(TunnelSuite::WireGuard) => mtu.saturating_sub(WG_QUICK_ROOM),
            Some(TunnelSuite::OpenVpnAesGcm) => OPENVPN_TUN_MTU,
            _ => self.longest_inner(mtu),
        };
        own.max(LEAST_MTU)
    }

    /// The longest segment of TCP, headers included, that a sender which knows the tunnel puts into it:
    /// what fits (path MTU discovery, OpenVPN's `mssfix`). WireGuard's interface does not follow the path:
    /// Linux sends its outer packets without DF and fragments them (`send4` in
    /// drivers/net/wireguard/socket.c).
    pub fn longest_segment(&self, mtu: u32) -> u32 {
        let own = self.interface_mtu(mtu);
        if self.is_wireguard() {
            own
        } else {
            own.min(self.longest_inner(mtu))
        }
    }

    /// Whether its outer header is IPv6's.
    fn is_ipv6(&self) -> bool {
        self.encapsulation.is_some_and(|t| t.outer == OuterIp::Ipv6)
    }

    /// Whether routers may fragment its outer packets over IPv4: WireGuard's have no DF.
    pub fn clears_df(&self) -> bool {
        let outer = self.encapsulation.map(|t| t.outer);
        self.is_wireguard() && outer == Some(OuterIp::Ipv4)
    }

    fn is_wireguard(&self) -> bool {
        self.encapsulation
            .is_some_and(|t| t.suite == TunnelSuite::WireGuard)
    }

    /// The longest inner packet whose outer one is at most `mtu` octets.
    pub fn longest_inner(&self, mtu: u32) -> u32 {
        match self.encapsulation {
            Some(tunnel) => tunnel.longest_inner(mtu as usize) as u32,
            None => mtu.saturating_sub(IP_IN_IP_OCTETS),
        }
    }
}

/// MTU of the interface of the first of these tunnels that takes a packet for `to`, on a node with an MTU
/// of `mtu`: the tunnels after it are around it.
fn mtu_of_first(ends: &[TunnelEnd], to: NodeId, mtu: u32) -> Option<u32> {
    let at = ends.iter().position(|end| end.takes(to, true))?;
    let (end, around) = (&ends[at], &ends[at + 1..]);
    let outer = mtu_of_first(around, end.peer, mtu).unwrap_or(mtu);
    Some(end.interface_mtu(outer))
}

impl Net {
    /// Adds the end of a tunnel to a node; gives its number among the node's tunnels.
    pub fn add_tunnel(&mut self, node: NodeId, end: TunnelEnd) -> TunnelId {
        self.nodes[node].tunnels.push(end)
    }

    /// The ends of tunnels at a node.
    pub fn tunnels(&self, node: NodeId) -> &Table<TunnelId, TunnelEnd> {
        &self.nodes[node].tunnels
    }

    /// Sets which packets an end of a tunnel takes.
    pub fn set_takes(&mut self, node: NodeId, tunnel: TunnelId, takes: Takes) {
        self.nodes[node].tunnels[tunnel].takes = takes;
    }

    /// MTU of the interface of the first tunnel that takes a packet for `to` that a node sends itself.
    #[inline]
    pub(super) fn own_tunnel_mtu(&self, node: NodeId, to: NodeId) -> Option<u32> {
        let state = &self.nodes[node];
        mtu_of_first(state.tunnels.as_slice(), to, state.mtu)
    }

    /// MTU of the interface of a tunnel that takes a packet for `to` which a node forwards. Interfaces of
    /// WireGuard alone have one: XFRM fragments the outer packet (`ip_output`).
    pub(super) fn forwarding_mtu(&self, node: NodeId, to: NodeId) -> Option<u32> {
        let state = &self.nodes[node];
        let end = state.tunnels.iter().find(|end| end.takes(to, false))?;
        let suite = end.encapsulation.map(|tunnel| tunnel.suite);
        (suite == Some(TunnelSuite::WireGuard)).then(|| end.interface_mtu(state.mtu))
    }

    /// Octets of a packet for `to` behind the tunnels that begin at a node, which sends it itself, and
    /// whether its outermost header is IPv6's.
    pub(super) fn outermost(
        &self,
        node: NodeId,
        to: NodeId,
        (ip_octets, ipv6): (u32, bool),
    ) -> (u32, bool) {
        let mut outer = (to, ip_octets, ipv6);
        for end in &self.nodes[node].tunnels {
            let (to, octets, _) = outer;
            if end.takes(to, true) {
                outer = (end.peer, end.outer_octets(octets), end.is_ipv6());
            }
        }
        (outer.1, outer.2)
    }

    /// Whether a router must not fragment a packet. Linux sets DF for TCP and UDP (`ip_no_pmtu_disc`
    /// = 0) unless it has fragmented the packet itself. ESP copies the inner DF (RFC 4301, 8.1), IP in
    /// IP, too (RFC 2003, 3.1); OpenVPN's UDP socket sets it, and WireGuard clears it.
    pub(super) fn is_unbreakable(&self, p: &Packet) -> bool {
        if self.has_ipv6_header(p) {
            return true;
        }
        let Some(tunnelled) = p.tunnelled else {
            return p.group.is_none() && p.flow().is_some();
        };
        if tunnelled.under.is_none() {
            // A fragment of an outer packet.
            return false;
        }
        let end = self.tunnel_end(tunnelled);
        match end.encapsulation.map(|t| t.suite) {
            Some(TunnelSuite::WireGuard) => false,
            Some(TunnelSuite::OpenVpnAesGcm) => true,
            _ => self
                .inside(p)
                .is_some_and(|inner| self.is_unbreakable(&inner)),
        }
    }

    /// Puts a packet into the tunnels that begin at a node, which sends it itself (`own`) or
    /// forwards it; gives the CPU time that this takes.
    pub(super) fn encapsulate(
        &mut self,
        lower: &mut Lower,
        node: NodeId,
        packet: PacketId,
        own: bool,
    ) -> Duration {
        let mut work = Duration::ZERO;
        for (tunnel, end) in self.nodes[node].tunnels.pairs_mut() {
            let p = &mut lower.cx.packets[packet];
            if !end.takes(p.to, own) {
                continue;
            }
            let effort = end.encrypt.of(p.ip_octets);
            lower.device.add_cpu_ciphers(effort);
            work += effort;
            let under = self.layers.insert(Layer {
                to: p.to,
                ip_octets: p.ip_octets,
                tunnel_octets: p.tunnel_octets,
                tunnelled: p.tunnelled,
            });
            let outer = end.outer_octets(p.ip_octets);
            p.tunnel_octets += outer - p.ip_octets;
            p.ip_octets = outer;
            end.taken = end.taken.wrapping_add(1);
            p.tunnelled = Some(Tunnelled {
                entered: node,
                tunnel,
                under: Some(under),
                number: end.taken,
            });
            p.to = end.peer;
            lower.cx.observe(Observation::CipherWork { effort });
        }
        work
    }

    /// CPU time to take a packet out of its outermost tunnel.
    pub(super) fn decapsulation(
        &self,
        lower: &mut Lower,
        ip_octets: u32,
        tunnelled: Tunnelled,
    ) -> Duration {
        let end = self.tunnel_end(tunnelled);
        let work = end.decrypt.of(ip_octets);
        lower.cx.observe(Observation::CipherWork { effort: work });
        lower.device.add_cpu_ciphers(work);
        work
    }

    /// The end at which a packet entered a tunnel.
    fn tunnel_end(&self, tunnelled: Tunnelled) -> &TunnelEnd {
        &self.nodes[tunnelled.entered].tunnels[tunnelled.tunnel]
    }

    /// The packet that the outermost tunnel of another took.
    pub fn inside(&self, p: &Packet) -> Option<Packet> {
        let layer = self.layers[p.layer()?];
        Some(Packet {
            to: layer.to,
            ip_octets: layer.ip_octets,
            tunnel_octets: layer.tunnel_octets,
            tunnelled: layer.tunnelled,
            ..*p
        })
    }

    /// Takes a packet out of its outermost tunnel.
    pub(super) fn decapsulate(&mut self, cx: &mut Context, packet: PacketId) {
        let p = &mut cx.packets[packet];
        if let Some(under) = p.layer() {
            let layer = self.layers.remove(under);
            p.to = layer.to;
            p.ip_octets = layer.ip_octets;
            p.tunnel_octets = layer.tunnel_octets;
            p.tunnelled = layer.tunnelled;
        }
    }

    /// Forgets the layers of a packet that is gone.
    pub(super) fn drop_layers(&mut self, p: &Packet) {
        let mut next = p.layer();
        while let Some(under) = next {
            let before = self.layers.remove(under).tunnelled;
            next = before.and_then(|t| t.under);
        }
    }

    /// Whether the outermost header of a packet is IPv6's.
    pub(super) fn has_ipv6_header(&self, p: &Packet) -> bool {
        let Some(tunnelled) = p.tunnelled else {
            return p.ipv6;
        };
        self.tunnel_end(tunnelled).is_ipv6()
    }
}

#[cfg(test)]
mod tests {
    use crate::{Scenario, build};

    /// A wired host behind a gateway, another gateway with the access point, and a mobile node.
    fn two_domains(tunnels: [&str; 3], payload: u32, rate_bps: f64) -> Scenario {
        let [mobile, here, there] = tunnels;
        let text = format!(
            r#"{{"duration_s": 4, "bss": [{{"name": "cell", "standard": "802.11a",
                "rate": {{"control": "fixed", "mbps": 54}}}}],
            "nodes": [
                {{"name": "mobile", "role": "station", "bss": "cell", "tunnels": [{mobile}]}},
                {{"name": "ap", "role": "access_point", "bss": "cell"}},
                {{"name": "host", "role": "wired"}},
                {{"name": "home", "role": "wired", "tunnels": [{here}]}},
                {{"name": "foreign", "role": "wired", "tunnels": [{there}]}}],
            "links": [{{"nodes": ["host", "home"], "rate_bps": 1e9}},
                {{"nodes": ["home", "foreign"], "rate_bps": 5e6}},
                {{"nodes": ["foreign", "ap"], "rate_bps": 1e9}}],
            "flows": [{}]}}"#,
            [
                "host\", \"destination\": \"mobile",
                "mobile\", \"destination\": \"host"
            ]
            .iter()
            .enumerate()
            .map(|(i, ends)| {
                format!(
                    r#"{{"name": "f{i}", "source": "{ends}", "transport": {{"protocol": "udp"}},
                        "pattern": {{"type": "paced", "payload_octets": {payload},
                        "rate_bps": {rate_bps}}}}}"#
                )
            })
            .collect::<Vec<_>>()
            .join(",")
        );
        Scenario::from_json(&text).unwrap_or_else(|e| panic!("{e}: {text}"))
    }

    const ESP: &str = r#""encapsulation": {"suite": "esp-aes-cbc-sha1"}"#;

    fn gateway(peer: &str, encapsulation: &str, nodes: &str) -> String {
        format!(r#"{{"peer": "{peer}", {encapsulation}, "destinations": [{nodes}]}}"#)
    }

    fn received(scenario: &Scenario) -> Vec<f64> {
        let mut world = build::build(scenario, 1).unwrap();
        world.run(&mut || false).unwrap();
        assert!(
            world.stack.net.layers.alive()
                <= 3 * (world.stack.lower.cx.packets.alive() + world.stack.net.fragments.alive())
        );
        let of = |m: &str, rows: &[crate::Row]| {
            rows.iter()
                .filter(|r| r.metric == m)
                .map(|r| r.value)
                .collect()
        };
        let rows = world.outcome().rows;
        let lost: Vec<f64> = of("packets_lost", &rows);
        let got: Vec<f64> = of("packets_received", &rows);
        got.into_iter()
            .zip(lost)
            .map(|(g, l)| if l > 0.0 { -g } else { g })
            .collect()
    }

    #[test]
    fn what_gateways_add_is_on_the_wire_between_them() {
        let esp = [
            gateway("foreign", ESP, r#""mobile", "ap", "foreign""#),
            gateway("home", ESP, r#""host", "home""#),
        ];
        let ip = [r#""encapsulation": null"#; 2];
        let mobile_ip = [
            gateway("foreign", ip[0], r#""mobile""#),
            gateway("home", ip[1], r#""host", "home""#),
        ];
        // 1300 + 28 octets; IP in IP adds 20; ESP: 1328 + 2 -> 1344 (16), 20 + 8 + 16 + 1344 + 12.
        let cases = [
            (["", "", ""].map(str::to_owned), 1_328.0),
            (
                [String::new(), mobile_ip[0].clone(), mobile_ip[1].clone()],
                1_348.0,
            ),
            ([String::new(), esp[0].clone(), esp[1].clone()], 1_400.0),
        ];
        for (tunnels, outer) in cases {
            let each = tunnels.each_ref().map(String::as_str);
            // More than the wire between the gateways carries.
            let mut scenario = two_domains(each, 1_300, 8e6);
            scenario.links[1].queue_packets = 20;
            let most = 4.0 * 5e6 / ((outer + 38.0) * 8.0);
            for got in received(&scenario) {
                assert!(
                    (got.abs() / most - 1.0).abs() < 0.02,
                    "{outer}: {got} of {most}"
                );
            }
        }
    }

    #[test]
    fn tunnels_nest_and_fragments_come_out_again() {
        let own = format!(r#"{{"peer": "home", {ESP}}}"#);
        let both = |peer: &str, nodes: &str| {
            [r#""encapsulation": null"#, ESP]
                .map(|e| gateway(peer, e, nodes))
                .join(",")
        };
        let here = both("foreign", r#""mobile", "foreign""#);
        let there = both("home", r#""host", "home""#);
        for payload in [200, 1_300, 1_472, 4_000] {
            for own in ["", &own] {
                let scenario = two_domains([own, &here, &there], payload, 1e6);
                let sent = 4.0 * 1e6 / (f64::from(payload) * 8.0);
                for got in received(&scenario) {
                    // All but those under way arrive, and none is lost.
                    assert!(
                        got <= sent + 1.0 && got > 0.97 * sent - 3.0,
                        "{payload}: {got}"
                    );
                }
            }
        }
    }

    #[test]
    fn a_saturated_sender_loses_no_datagram_that_its_own_tunnel_makes_fragments_of() {
        let tunnel = r#"{"peer": "FAR", "encapsulation": {"suite": "wireguard"}MTU}"#;
        for (ip, mtu) in [
            ("ipv4", ""),
            ("ipv6", ""),
            ("ipv4", r#", "mtu_octets": 700"#),
        ] {
            for [source, far] in [["station", "host"], ["host", "station"]] {
                let tunnel = |to: &str| tunnel.replace("FAR", to).replace("MTU", mtu);
                let text = format!(
                    r#"{{"duration_s": 0.3, "bss": [{{"name": "cell", "standard": "802.11ax",
                        "rate": {{"control": "fixed_mcs", "mcs": 9, "streams": 1}}}}],
                    "nodes": [
                        {{"name": "station", "role": "station", "bss": "cell", "tunnels": [{}]}},
                        {{"name": "ap", "role": "access_point", "bss": "cell"}},
                        {{"name": "host", "role": "wired", "tunnels": [{}]}}],
                    "links": [{{"nodes": ["ap", "host"], "rate_bps": 5e7}}],
                    "flows": [{{"name": "f", "source": "{source}", "destination": "{far}", "ip": "{ip}",
                        "transport": {{"protocol": "udp"}},
                        "pattern": {{"type": "saturated", "payload_octets": 1472}}}}]}}"#,
                    tunnel("host"),
                    tunnel("station"),
                );
                let mut scenario =
                    Scenario::from_json(&text).unwrap_or_else(|e| panic!("{e}: {text}"));
                if source == "station" {
                    // The wire carries more than the air, so that a loss is the station's own.
                    scenario.links[0].rate_bps = 1e9;
                } else {
                    scenario.links[0].queue_packets = 60;
                }
                let got = received(&scenario);
                assert!(
                    got.iter().all(|n| *n > 100.0),
                    "{ip} {mtu} from {source}: {got:?}"
                );
            }
        }
    }
}
