//! The path of a flow in closed form: its exchanges, its packets, its slowest stage.

use airtoll_phy::{frame_success, noise_floor, ratio};
use airtoll_units::Db;

use super::card::cycle_s;
use super::exchange::Exchange;
use super::link::{Direction, Link};
use super::maximum::saturated_bps;
use super::tcp::{TcpLink, tcp_bounds};
use super::throughput::{Cannot, Method, Throughput};
use crate::net::fragment_lengths;
use crate::scenario::{
    CryptoEngine, Flow, IpVersion, Node, PathLoss, Pattern, Role, Scenario, Standard, Transport,
};
use crate::transport::TcpConfig;

/// The path of one flow over the air.
pub(super) struct Path {
    pub sender: String,
    pub downlink: bool,
    /// 1, or 2 from station to station.
    pub hops: u32,
    pub exchange: Exchange,
    /// Exchanges of the fragments after the first.
    pub more: Vec<Exchange>,
    pub packets: usize,
    pub payload_octets: u32,
    pub offered_bps: Option<f64>,
    pub tcp: Option<(TcpConfig, Exchange)>,
    /// Slowest host, engine or wire, bit/s.
    pub stage_bps: f64,
    /// Mean cycle of a lone sender that waits for its network card, seconds; `None` where no node
    /// of the path has one.
    pub card_cycle_s: Option<f64>,
}

/// The rate that a flow asks for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Demand {
    /// As much as there is.
    Saturated,
    /// This rate, bit/s.
    Paced(f64),
}

/// Octets of the datagrams or writes of a flow without end, and what it asks for; `None` for others.
pub(super) fn demand(flow: &Flow) -> Option<(u32, Demand)> {
    match flow.pattern {
        Pattern::Saturated(writes) => Some((writes.payload_octets, Demand::Saturated)),
        Pattern::Paced(writes) => Some((writes.payload_octets, Demand::Paced(writes.rate_bps))),
        _ => None,
    }
}

impl Path {
    pub fn of(scenario: &Scenario, flow: &Flow) -> Result<Self, Cannot> {
        let node = |name: &str| {
            scenario
                .nodes
                .iter()
                .find(|n| n.name == name)
                .ok_or(Cannot::Path)
        };
        let bss = &scenario.bss[0];
        let ends = [node(&flow.source)?, node(&flow.destination)?];
        if ends.iter().any(|n| !n.tunnels.is_empty()) {
            return Err(Cannot::Option("nodes[].tunnels"));
        }
        let wireless = ends.map(|end| wireless_end(scenario, end));
        let stations: Vec<&Node> = wireless.into_iter().flatten().collect();
        let station = *stations.first().ok_or(Cannot::Path)?;
        if let [first, second] = stations.as_slice()
            && first.name == second.name
        {
            return Err(Cannot::Path);
        }
        let downlink = wireless[0].is_none();
        let dsss_present = scenario
            .nodes
            .iter()
            .any(|n| n.role == Role::Station && n.standard.unwrap_or(bss.standard) == Standard::B);
        let access_point = scenario
            .nodes
            .iter()
            .find(|n| n.role == Role::AccessPoint)
            .ok_or(Cannot::Path)?;
        let link = Link::of(bss, [station, access_point], dsss_present)?;
        if let [_, second] = stations.as_slice() {
            let other = Link::of(bss, [second, access_point], dsss_present)?;
            if other != link || link.spacings[0] != link.spacings[1] {
                return Err(Cannot::StationsDiffer);
            }
        }
        let direction = if downlink {
            Direction::Down
        } else {
            Direction::Up
        };
        // It answers TCP, relays, and sends what goes down.
        if access_point.frame_burst_us.is_some_and(|us| us > 0.0) {
            return Err(Cannot::Option("nodes[].frame_burst_us"));
        }
        for station in &stations {
            clean(scenario, access_point, station, &link)?;
        }
        let (payload_octets, demand) = demand(flow).ok_or(Cannot::Pattern)?;
        let offered_bps = match demand {
            Demand::Saturated => None,
            Demand::Paced(rate_bps) => Some(rate_bps),
        };
        let ip = flow.ip.header_octets();
        let (payload_octets, sizes, tcp) = match &flow.transport {
            Transport::Udp(_) => {
                let ip_octets = ip + 8 + payload_octets;
                let ipv6 = flow.ip == IpVersion::Ipv6;
                let sizes = fragment_lengths(ip_octets, ends[0].mtu_octets, ipv6);
                (payload_octets, sizes, None)
            }
            Transport::Tcp(options) => {
                let most = ends[0].mtu_octets.min(ends[1].mtu_octets) - ip - 20;
                let systems = [ends[0].host.tcp, ends[1].host.tcp];
                let mut config = TcpConfig::of_flow(options, systems, most);
                config.mss = config.mss.min(most);
                let segment = config.segment_payload();
                let header = ip + 20 + config.mss - segment;
                let ack = link.exchange(header, direction.back());
                (segment, vec![segment + header], Some((config, ack)))
            }
        };
        let exchange = link.exchange(sizes[0], direction);
        let fragments = sizes[1..].iter();
        let more: Vec<Exchange> = fragments.map(|s| link.exchange(*s, direction)).collect();
        if sizes.len() > 1 && (exchange.msdus > 1 || more.iter().any(|e| e.msdus > 1)) {
            return Err(Cannot::FragmentsInAggregate);
        }
        let card_cycle_s = if ends.iter().chain(&stations).any(|n| n.host.nic.is_some())
            || access_point.host.nic.is_some()
        {
            // Other exchanges beside it fill the gaps of its card.
            if tcp.is_some() || stations.len() > 1 || scenario.flows.len() > 1 {
                return Err(Cannot::Option("nodes[].host.nic"));
            }
            if sizes.len() > 1 || exchange.msdus > 1 || link.fragment_above_octets.is_some() {
                return Err(Cannot::Option("nodes[].host.nic"));
            }
            let sender = if downlink { access_point } else { station };
            let msdu = sizes[0] + airtoll_phy::LLC_SNAP_OCTETS;
            let rate = link.data.bit_rate().0;
            let cycle = cycle_s(&exchange, sender, msdu, rate);
            let random = Cannot::Option("nodes[].host.nic.stages[].random_ns");
            Some(cycle.ok_or(random)?)
        } else {
            None
        };
        Ok(Self {
            sender: if downlink {
                access_point.name.clone()
            } else {
                station.name.clone()
            },
            downlink,
            hops: stations.len() as u32,
            exchange,
            more,
            packets: sizes.len(),
            card_cycle_s,
            payload_octets,
            offered_bps,
            tcp,
            stage_bps: slowest_stage(
                scenario,
                &ends,
                &wireless,
                access_point,
                &sizes,
                payload_octets,
            ),
        })
    }

    /// Mean time of all exchanges of one datagram (of one A-MPDU of datagrams), seconds.
    pub fn cycle_s(&self) -> f64 {
        self.exchange.mean_cycle_s() + self.more.iter().map(Exchange::mean_cycle_s).sum::<f64>()
    }

    pub fn lone_bps(&self, free: f64) -> f64 {
        let air = if let Some(cycle) = self.card_cycle_s {
            8.0 * f64::from(self.payload_octets) / cycle
        } else if self.more.is_empty() {
            saturated_bps(&self.exchange, self.payload_octets)
        } else {
            8.0 * f64::from(self.payload_octets) / self.cycle_s()
        };
        (free * air / f64::from(self.hops)).min(self.stage_bps)
    }

    pub fn tcp_throughput(&self, free: f64) -> Result<Throughput, Cannot> {
        let Some((config, ack)) = &self.tcp else {
            return Err(Cannot::SharedTcp);
        };
        if self.hops != 1 {
            return Err(Cannot::BothDirections);
        }
        let per_ack = f64::from(config.ack_every);
        let per_exchange = per_ack.max(f64::from(self.exchange.msdus));
        // Acknowledgements aggregate as the segments did: as many as one A-MPDU caused.
        let acks = per_exchange / per_ack;
        let mut acknowledgement = *ack;
        if ack.msdus > 1 {
            let share = (acks / f64::from(ack.msdus)).min(1.0);
            let full = ack.data.as_secs_f64();
            acknowledgement.data = airtoll_units::Duration::from_secs_f64(full * share);
            acknowledgement.first_frame = acknowledgement.data;
        }
        let bounds = tcp_bounds(&TcpLink {
            data: self.exchange,
            acknowledgement,
            segment_octets: self.payload_octets,
            segments_per_exchange: per_exchange,
        });
        let cap = self
            .offered_bps
            .unwrap_or(f64::INFINITY)
            .min(self.stage_bps);
        let (lower_bps, upper_bps) = (
            (free * bounds.lower_bps).min(cap),
            (free * bounds.upper_bps).min(cap),
        );
        Ok(Throughput {
            bps: 0.5 * (lower_bps + upper_bps),
            lower_bps,
            upper_bps,
            method: Method::TcpBounds,
        })
    }
}

/// The station that carries the traffic of an end: itself, or the bridging station (four addresses)
/// that it is wired to.
pub(super) fn wireless_end<'s>(scenario: &'s Scenario, end: &'s Node) -> Option<&'s Node> {
    let mut seen = vec![end];
    let mut at = 0;
    while let Some(&node) = seen.get(at) {
        at += 1;
        match node.role {
            Role::Station => return Some(node),
            Role::AccessPoint => continue,
            Role::Wired => {}
        }
        for link in &scenario.links {
            let [a, b] = &link.nodes;
            let other = match (*a == node.name, *b == node.name) {
                (true, _) => b,
                (_, true) => a,
                _ => continue,
            };
            let next = scenario.nodes.iter().find(|n| n.name == *other);
            seen.extend(next.filter(|n| seen.iter().all(|s| s.name != n.name)));
        }
    }
    None
}

/// Refuses links on which noise would cost more than a frame in ten thousand.
fn clean(scenario: &Scenario, ap: &Node, station: &Node, link: &Link) -> Result<(), Cannot> {
    let radio = &scenario.radio;
    if !radio.frame_errors {
        return Ok(());
    }
    if !radio.walls.is_empty() {
        return Err(Cannot::Option("radio.walls"));
    }
    let budget = radio
        .budgets
        .iter()
        .find(|b| b.nodes.contains(&ap.name) && b.nodes.contains(&station.name));
    let loss = match radio.path_loss {
        PathLoss::Constant { loss_db } => loss_db,
        PathLoss::LogDistance {
            reference_db,
            exponent,
        } => {
            let squared: f64 = ap
                .position_m
                .iter()
                .zip(station.position_m)
                .map(|(a, b)| (a - b) * (a - b))
                .sum();
            reference_db + 10.0 * exponent * libm::log10(libm::sqrt(squared).max(1.0))
        }
    };
    let power = ap.tx_power_dbm.min(station.tx_power_dbm);
    let received = match budget {
        Some(b) => b
            .rssi_dbm
            .unwrap_or_else(|| power - b.loss_db.unwrap_or(loss)),
        None => power - loss,
    };
    let width_hz = f64::from(link.data.width().mhz()) * 1e6;
    let noise = noise_floor(width_hz, Db(radio.noise_figure_db));
    let octets = 1_500 + link.around_packet_octets;
    if frame_success(&link.data, ratio(Db(received - noise.0)), octets) < 0.9999 {
        return Err(Cannot::FrameErrors);
    }
    Ok(())
}

/// The slowest of CPU, cipher engine and wire on the way, bit/s of application octets.
fn slowest_stage(
    scenario: &Scenario,
    ends: &[&Node; 2],
    stations: &[Option<&Node>; 2],
    access_point: &Node,
    sizes: &[u32],
    payload_octets: u32,
) -> f64 {
    let mut longest_ns: f64 = 0.0;
    let cipher_used = stations.iter().flatten().next().map(|s| s.cipher);
    let mut stage = |node: &Node, stack: &crate::scenario::Cost, cipher: bool, encrypt: bool| {
        let costs = node
            .host
            .ciphers
            .iter()
            .find(|c| Some(c.cipher) == cipher_used);
        let (mut cpu_ns, mut engine_ns) = (0.0, 0.0);
        for octets in sizes {
            cpu_ns += stack.fixed_ns + f64::from(*octets) * stack.per_octet_ns;
            if let (Some(c), true) = (costs, cipher) {
                let cost = if encrypt { c.encrypt } else { c.decrypt };
                let ns = cost.fixed_ns + f64::from(*octets) * cost.per_octet_ns;
                match node.host.engine {
                    CryptoEngine::Cpu => cpu_ns += ns,
                    CryptoEngine::Inline | CryptoEngine::Coprocessor => engine_ns += ns,
                }
            }
        }
        longest_ns = longest_ns.max(cpu_ns).max(engine_ns);
    };
    let wireless = |n: &Node| n.role != Role::Wired;
    stage(ends[0], &ends[0].host.transmit, wireless(ends[0]), true);
    stage(ends[1], &ends[1].host.receive, wireless(ends[1]), false);
    for (end, (station, sends)) in ends.iter().zip(stations.iter().zip([true, false])) {
        if let Some(bridge) = station.filter(|s| s.name != end.name) {
            stage(bridge, &bridge.host.forward, true, sends);
        }
    }
    if ends.iter().all(|end| end.name != access_point.name) {
        let from_air = stations[0].is_some();
        stage(access_point, &access_point.host.forward, true, !from_air);
    }
    let wire = scenario
        .links
        .iter()
        .filter(|_| ends.iter().any(|n| n.role == Role::Wired))
        .map(|l| l.rate_bps)
        .fold(f64::INFINITY, f64::min);
    let octets: u32 = sizes.iter().map(|s| s + 38).sum();
    longest_ns = longest_ns.max(f64::from(octets) * 8e9 / wire);
    if longest_ns > 0.0 {
        f64::from(payload_octets) * 8e9 / longest_ns
    } else {
        f64::INFINITY
    }
}
