//! Limits of saturated traffic other than the air: queues and windows that leave A-MPDUs short, and
//! wires.
//!
//! Takes a scenario, gives one [`Limit`] per cause. Compares the mean cycles of a lone sender with A-MPDUs
//! as long as the PHY and the channel allow, and with those that the packets at hand fill. Nothing is
//! simulated, and collisions and losses are left out, as they cost both alike.

use airtoll_phy::{ampdu_limits, rx_phy_start_delay};
use airtoll_units::Duration;

use super::exchange::Exchange;
use super::level::{Channel, Heard, highest_mcs, received_dbm};
use super::link::{Direction, Link, band};
use super::path::{Demand, demand, wireless_end};
use crate::scenario::{
    AccessCategory, Flow, Node, Rate, Role, Scenario, Standard, Transport, TxopProtection,
    WiredLink,
};
use crate::transport::TcpConfig;

/// A limit costs at least this share of the throughput.
const NOTABLE: f64 = 0.02;
/// Octets of Ethernet around a packet on a wire: preamble, header, FCS and gap (IEEE 802.3).
const ETHERNET_OCTETS: u32 = 38;

/// The kind of a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LimitKind {
    /// The transmit queue of a node.
    Queue,
    /// The socket buffer of a flow over UDP.
    SocketBuffer,
    /// The window of a flow over TCP.
    Window,
    /// The window of block ack agreements.
    BlockAckWindow,
    /// A wired link.
    Wire,
}

impl LimitKind {
    /// Name in output.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Queue => "queue",
            Self::SocketBuffer => "socket_buffer",
            Self::Window => "window",
            Self::BlockAckWindow => "block_ack_window",
            Self::Wire => "wire",
        }
    }
}

/// Something that limits the throughput, not the air.
#[derive(Debug, Clone, PartialEq)]
pub struct Limit {
    /// The kind of a limit.
    pub kind: LimitKind,
    /// The node with the queue, or the flow; empty for a block ack window.
    pub of: String,
    /// Its size: packets, octets (buffers and windows of flows), MPDUs, or bit/s.
    pub size: f64,
    /// MPDUs of an A-MPDU that it leaves, and those that would fit; equal where it limits by the round-trip
    /// time or by its rate.
    pub mpdus: [u32; 2],
    /// Throughput of a lone sender with it and without it, bit/s; of a wire that of the wire and of the air.
    pub bps: [f64; 2],
}

/// One way of data over the air.
struct Hop<'s> {
    flow: &'s Flow,
    sender: &'s Node,
    station: &'s Node,
    /// Packets that reach the sender's queue while there is room in it, 1/s; infinite where its own
    /// application refills it at once.
    arrivals: f64,
    links: Vec<Link>,
    packet_octets: u32,
    payload_octets: u32,
    demand: Demand,
    tcp: Option<TcpConfig>,
}

/// Everything that limits the flows of a scenario, the largest loss of each kind first. A scenario whose
/// rates follow from a cipher's fall-back has no hop here.
#[must_use]
pub fn limits(scenario: &Scenario) -> Vec<Limit> {
    let hops: Vec<Hop<'_>> = scenario
        .flows
        .iter()
        .filter(|flow| !scenario.carries_for_neighbours(flow))
        .flat_map(|flow| hops_of(scenario, flow))
        .collect();
    let mut found = Vec::new();
    for (at, hop) in hops.iter().enumerate() {
        let before = &hops[..at];
        let same_queue = |other: &Hop<'_>| {
            other.sender.name == hop.sender.name && other.contends_as(scenario, hop)
        };
        if !before.iter().any(same_queue) {
            let sharing: Vec<&Hop<'_>> = hops.iter().filter(|other| same_queue(other)).collect();
            found.extend(queue_limit(hop, &sharing));
        }
        let same_station = |other: &Hop<'_>| {
            other.sender.name == hop.sender.name && other.station.name == hop.station.name
        };
        if !before.iter().any(same_station) {
            let beside = hops.iter().filter(|other| same_station(other)).count();
            found.extend(flow_limit(scenario, hop, beside as u32));
        }
    }
    found.extend(block_ack_limit(scenario, &hops));
    found.extend(wire_limit(scenario, &hops));
    found.sort_by(|a, b| (a.bps[0] / a.bps[1]).total_cmp(&(b.bps[0] / b.bps[1])));
    found
}

impl Hop<'_> {
    /// Whether its frames are in the same transmit queue as another's of the same sender.
    fn contends_as(&self, scenario: &Scenario, other: &Hop<'_>) -> bool {
        let of = |hop: &Hop<'_>| {
            let bss = scenario.bss.iter().find(|b| hop.station.is_in(&b.name));
            let edca = bss.is_some_and(|b| b.edca.unwrap_or(b.standard.descriptor().edca));
            if edca {
                hop.flow.access_category
            } else {
                AccessCategory::BestEffort
            }
        };
        of(self) == of(other)
    }

    fn direction(&self) -> Direction {
        if self.sender.name == self.station.name {
            Direction::Up
        } else {
            Direction::Down
        }
    }

    fn exchanges(&self) -> impl Iterator<Item = (&Link, Exchange)> {
        self.links
            .iter()
            .map(|link| (link, link.exchange(self.packet_octets, self.direction())))
    }

    /// Packets of the longest A-MPDUs of all its links, without regard to one another.
    fn sum(&self) -> u32 {
        self.exchanges().map(|(_, exchange)| exchange.msdus).sum()
    }

    /// Packets of the longest A-MPDUs that its links send at once: several share one block ack window.
    fn most(&self) -> u32 {
        match &self.links[..] {
            [first, _, ..] => self.sum().min(first.window),
            _ => self.sum(),
        }
    }

    /// Throughput with A-MPDUs of at most `packets` packets on all links together, bit/s.
    fn bps(&self, packets: f64) -> f64 {
        let share = packets.min(f64::from(self.most())) / f64::from(self.sum());
        self.exchanges()
            .map(|(link, whole)| {
                let fill = (share * f64::from(whole.msdus)).max(1.0);
                let shorter = shortened(link, &whole, fill);
                8.0 * f64::from(self.payload_octets) * fill / self.cycle_s(link, &shorter, fill)
            })
            .sum()
    }

    /// Mean time of an exchange of `packets` packets, with that of their acknowledgements of TCP.
    fn cycle_s(&self, link: &Link, exchange: &Exchange, packets: f64) -> f64 {
        let Some(config) = &self.tcp else {
            return exchange.mean_cycle_s();
        };
        let every = f64::from(config.ack_every);
        let header = self.packet_octets - self.payload_octets;
        let whole = link.exchange(header, self.direction().back());
        let acks = (packets / every).max(1.0).min(f64::from(whole.msdus));
        let answer = shortened(link, &whole, acks);
        // Its back-off mostly runs inside that of the data.
        let answer_s = (answer.space + answer.busy()).as_secs_f64();
        exchange.mean_cycle_s() + answer_s * (packets / every / acks).min(1.0)
    }

    fn is_carried(&self, bps: f64) -> bool {
        matches!(self.demand, Demand::Paced(offered) if offered < 0.95 * bps)
    }
}

/// An exchange with A-MPDUs of `packets` packets in place of its own.
fn shortened(link: &Link, whole: &Exchange, packets: f64) -> Exchange {
    if whole.msdus <= 1 {
        return *whole;
    }
    let share = packets / f64::from(whole.msdus);
    let fixed = rx_phy_start_delay(&link.data).as_secs_f64();
    let data = fixed + (whole.data.as_secs_f64() - fixed) * share.min(1.0);
    Exchange {
        data: Duration::from_secs_f64(data),
        ..*whole
    }
}

/// The hops of a flow over the air: one, or two from station to station.
fn hops_of<'s>(scenario: &'s Scenario, flow: &'s Flow) -> Vec<Hop<'s>> {
    let node = |name: &str| scenario.nodes.iter().find(|n| n.name == name);
    let (Some(source), Some(destination)) = (node(&flow.source), node(&flow.destination)) else {
        return Vec::new();
    };
    let Some((payload_octets, demand)) = demand(flow) else {
        return Vec::new();
    };
    let ip = flow.ip.header_octets();
    let mtu = source.mtu_octets.min(destination.mtu_octets);
    let (payload_octets, inner, tcp) = match &flow.transport {
        Transport::Udp(_) => {
            // Of a datagram in fragments one fragment stands for all.
            let whole = ip + 8 + payload_octets;
            let share = f64::from(whole.min(mtu)) / f64::from(whole);
            let payload = (f64::from(payload_octets) * share) as u32;
            (payload.max(1), whole.min(mtu), None)
        }
        Transport::Tcp(options) => {
            let systems = [source.host.tcp, destination.host.tcp];
            let config = TcpConfig::of_flow(options, systems, mtu.saturating_sub(ip + 20));
            let segment = config.segment_payload().max(1);
            (segment, ip + 20 + config.mss, Some(config))
        }
    };
    let tunnels = [source, destination].into_iter().flat_map(|n| &n.tunnels);
    let outer = tunnels
        .filter_map(|t| t.encapsulation)
        .fold(inner, |octets, t| t.outer_octets(octets as usize) as u32);
    let packet_octets = outer.min(mtu).max(payload_octets + ip);
    let ends = [
        wireless_end(scenario, source),
        wireless_end(scenario, destination),
    ];
    let hop = |station: &'s Node, up: bool| {
        let links = links_of(scenario, station);
        let first = station.bss.as_deref()?;
        let access_point = scenario.access_point_of(first)?;
        let sender = if up { station } else { access_point };
        let cost = &source.host.transmit;
        let busy_ns = cost.fixed_ns + cost.per_octet_ns * f64::from(packet_octets);
        let buffered = match &flow.transport {
            Transport::Udp(options) => options.socket_buffer_octets.is_some(),
            Transport::Tcp(_) => true,
        };
        let arrivals = if sender.name == source.name && !buffered {
            1e9 / busy_ns
        } else {
            let octets = f64::from(packet_octets + ETHERNET_OCTETS);
            let slowest = wires_of(scenario, flow).map(|l| l.rate_bps);
            let by_wire = slowest.min_by(f64::total_cmp).map(|bps| bps / 8.0 / octets);
            by_wire.unwrap_or(0.0).min(1e9 / busy_ns)
        };
        (!links.is_empty()).then(|| Hop {
            flow,
            sender,
            station,
            arrivals,
            links,
            packet_octets,
            payload_octets,
            demand,
            tcp: tcp.clone(),
        })
    };
    let up = ends[0].and_then(|station| hop(station, true));
    let down = ends[1].and_then(|station| hop(station, false));
    up.into_iter().chain(down).collect()
}

/// The links of a station, one per BSS that it is in, without options that change no A-MPDU.
fn links_of(scenario: &Scenario, station: &Node) -> Vec<Link> {
    let own = scenario.bss.iter().filter(|bss| station.is_in(&bss.name));
    own.filter_map(|bss| {
        let mut plain = bss.clone();
        plain.edca_parameters = None;
        plain.txop_protection = TxopProtection::Single;
        plain.frame_burst_us = 0.0;
        let mut node = station.clone();
        node.edca_parameters = None;
        node.frame_burst_us = None;
        let standard = node.standard.unwrap_or(bss.standard);
        if let Rate::Aarf { streams } | Rate::Minstrel { streams } = node.rate_in(bss) {
            let access_point = scenario.access_point_of(&bss.name)?;
            let heard = Heard {
                level_dbm: received_dbm(scenario, access_point, station, &bss.name),
                noise_figure_db: scenario.radio.noise_figure_db,
                paths: None,
            };
            let channel = Channel {
                band: band(bss),
                width_mhz: bss.width_mhz,
                guard_interval_ns: bss.guard_interval_ns,
                coding: bss.coding,
            };
            let mcs = highest_mcs(standard, channel, streams, heard)?.mcs;
            node.link_rates.clear();
            node.rate = Some(Rate::FixedMcs { mcs, streams });
        }
        let dsss = |n: &Node| n.role == Role::Station && n.standard == Some(Standard::B);
        let mut access_point = scenario.access_point_of(&bss.name)?.clone();
        access_point.edca_parameters = None;
        let dsss_present = scenario.nodes.iter().any(dsss);
        Link::of(&plain, [&node, &access_point], dsss_present).ok()
    })
    .collect()
}

/// The transmit queue of hops that share it: packets for their stations wait in it beside the A-MPDU under
/// way.
fn queue_limit(first: &Hop<'_>, sharing: &[&Hop<'_>]) -> Option<Limit> {
    let packets = first.sender.queue.packets;
    let mut stations: Vec<&str> = sharing
        .iter()
        .map(|hop| hop.station.name.as_str())
        .collect();
    stations.sort_unstable();
    stations.dedup();
    // Packets that have waited beside the A-MPDU under way go next, and those that come until then.
    let gap_s = first
        .exchanges()
        .map(|(_, e)| e.mean_cycle_s() - e.busy().as_secs_f64());
    let arrive = first.arrivals * gap_s.fold(f64::INFINITY, f64::min);
    let (packets_f, stations_f) = (f64::from(packets), stations.len() as f64);
    let left = (packets_f / stations_f).min((packets_f + arrive) / (stations_f + 1.0));
    let worst = sharing.iter().min_by(|a, b| {
        let share = |hop: &Hop<'_>| hop.bps(left) / hop.bps(f64::INFINITY);
        share(a).total_cmp(&share(b))
    })?;
    let [with, without] = [worst.bps(left), worst.bps(f64::INFINITY)];
    let idle = sharing.iter().all(|hop| hop.is_carried(with / stations_f));
    // A window or a buffer that leaves less is what limits.
    let smaller = sharing
        .iter()
        .any(|hop| own_packets(hop).is_some_and(|own| own <= left));
    notable(with, without, !idle && !smaller).then(|| Limit {
        kind: LimitKind::Queue,
        of: first.sender.name.clone(),
        size: f64::from(packets),
        mpdus: [(left as u32).max(1), worst.most()],
        bps: [with, without],
    })
}

/// Packets that the window or the socket buffer of a flow lets out.
fn own_packets(hop: &Hop<'_>) -> Option<f64> {
    if let Some(config) = &hop.tcp {
        return Some(window_octets(config) / f64::from(hop.payload_octets));
    }
    let Transport::Udp(options) = &hop.flow.transport else {
        return None;
    };
    let holds = hop.sender.name == hop.flow.source;
    let octets = options.socket_buffer_octets.filter(|_| holds)?;
    Some(f64::from(octets) / f64::from(hop.payload_octets))
}

/// The window of a connection: what the receiver announces and the sender keeps, octets.
fn window_octets(config: &TcpConfig) -> f64 {
    let most = if config.window_scaling {
        u64::MAX
    } else {
        65_535
    };
    let window = config.receive_window.min(most);
    window.min(config.send_buffer.unwrap_or(u64::MAX)) as f64
}

/// The window or the socket buffer of a flow that has `beside` flows over the same hop, itself included.
fn flow_limit(scenario: &Scenario, hop: &Hop<'_>, beside: u32) -> Option<Limit> {
    let own = own_packets(hop)?;
    let packets = own * f64::from(beside);
    let without = hop.bps(f64::INFINITY);
    let mut with = hop.bps(packets);
    if let Some(config) = &hop.tcp {
        let delay: f64 = wires_of(scenario, hop.flow).map(|l| l.delay_s).sum();
        let bits = 8.0 * f64::from(hop.payload_octets);
        let together = f64::from(hop.most().max(config.ack_every));
        with = with.min(bits * packets / (bits * together / without + 2.0 * delay));
    }
    let carried = hop.is_carried(with);
    let kind = if hop.tcp.is_some() {
        LimitKind::Window
    } else {
        LimitKind::SocketBuffer
    };
    notable(with, without, !carried).then(|| Limit {
        kind,
        of: hop.flow.name.clone(),
        size: own * f64::from(hop.payload_octets),
        mpdus: [(packets as u32).clamp(1, hop.most()), hop.most()],
        bps: [with, without],
    })
}

/// A block ack window that is shorter than the PHY's.
fn block_ack_limit(scenario: &Scenario, hops: &[Hop<'_>]) -> Option<Limit> {
    let (stated, hop) = hops.iter().find_map(|hop| {
        let bss = scenario.bss.iter().find(|b| hop.station.is_in(&b.name))?;
        let stated = u32::from(bss.aggregation.window?);
        let most = ampdu_limits(&hop.links[0].data)?.mpdus;
        (stated < most).then_some((stated, hop))
    })?;
    let with = hop.bps(f64::INFINITY);
    let wide = Hop {
        links: hop
            .links
            .iter()
            .map(|link| Link {
                window: ampdu_limits(&link.data).map_or(link.window, |l| l.mpdus),
                ..*link
            })
            .collect(),
        tcp: hop.tcp.clone(),
        ..*hop
    };
    let without = wide.bps(f64::INFINITY);
    notable(with, without, !hop.is_carried(with)).then(|| Limit {
        kind: LimitKind::BlockAckWindow,
        of: String::new(),
        size: f64::from(stated),
        mpdus: [hop.most(), wide.most()],
        bps: [with, without],
    })
}

/// The slowest wire of the flows that cross one, in the direction with more of them.
fn wire_limit(scenario: &Scenario, hops: &[Hop<'_>]) -> Option<Limit> {
    let crossed = hops.iter().flat_map(|hop| wires_of(scenario, hop.flow));
    let rate = crossed.map(|l| l.rate_bps).min_by(f64::total_cmp)?;
    let role = |name: &str| {
        scenario
            .nodes
            .iter()
            .find(|n| n.name == name)
            .map(|n| n.role)
    };
    // All hops share the air alike: a packet of each takes the sum of their times.
    let turn_s: f64 = hops
        .iter()
        .map(|hop| 8.0 * f64::from(hop.payload_octets) / hop.bps(f64::INFINITY))
        .sum();
    let crossing = |up: bool| -> (f64, f64) {
        let own = hops.iter().filter(|hop| {
            let wired = if up {
                &hop.flow.destination
            } else {
                &hop.flow.source
            };
            role(wired) == Some(Role::Wired) && (hop.sender.name == hop.flow.source) == up
        });
        own.map(|hop| {
            let air = 8.0 * f64::from(hop.payload_octets) / turn_s;
            let wanted = match hop.demand {
                Demand::Paced(offered) => offered.min(air),
                Demand::Saturated => air,
            };
            let share =
                f64::from(hop.payload_octets) / f64::from(hop.packet_octets + ETHERNET_OCTETS);
            (wanted, wanted / share)
        })
        .fold((0.0, 0.0), |sum, one| (sum.0 + one.0, sum.1 + one.1))
    };
    let (up, down) = (crossing(true), crossing(false));
    let (goodput, on_wire) = if up.1 > down.1 { up } else { down };
    let with = goodput * rate / on_wire;
    (on_wire > 0.0 && notable(with, goodput, true)).then(|| Limit {
        kind: LimitKind::Wire,
        of: String::new(),
        size: rate,
        mpdus: [0, 0],
        bps: [with, goodput],
    })
}

/// The wires on the shortest way of a flow.
fn wires_of<'s>(scenario: &'s Scenario, flow: &'s Flow) -> impl Iterator<Item = &'s WiredLink> {
    // Each node with the wire that leads to it, if it is one, and the place of the node before it.
    let from = flow.source.as_str();
    let mut ways: Vec<(&'s str, Option<&'s WiredLink>, usize)> = vec![(from, None, 0)];
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(&(node, ..)) = ways.get(at) {
        if node == flow.destination {
            let mut place = at;
            while place > 0 {
                let (_, wire, before) = ways[place];
                found.extend(wire);
                place = before;
            }
            break;
        }
        let wires = scenario.links.iter().filter_map(|link| {
            let [a, b] = link.nodes.each_ref().map(String::as_str);
            (a == node || b == node).then_some((if a == node { b } else { a }, Some(link)))
        });
        let own = scenario.nodes.iter().find(|n| n.name == node);
        let air = own.into_iter().flat_map(|own| {
            let others = scenario.nodes.iter().filter(|n| n.role != own.role);
            let near = others.filter(|n| n.bsss().any(|bss| own.is_in(bss)));
            near.map(|n| (n.name.as_str(), None))
        });
        let next: Vec<(&'s str, Option<&'s WiredLink>)> = wires.chain(air).collect();
        for (far, wire) in next {
            if ways.iter().all(|(known, ..)| *known != far) {
                ways.push((far, wire, at));
            }
        }
        at += 1;
    }
    found.into_iter()
}

fn notable(with: f64, without: f64, counts: bool) -> bool {
    counts && with < (1.0 - NOTABLE) * without
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run;

    /// One station at an 802.11 PHY and a server behind a wire of `wire_bps`; `up`: the station sends.
    fn scenario(phy: &str, packets: u32, transport: &str, up: bool, wire_bps: f64) -> Scenario {
        let payload = if transport.contains("tcp") {
            8_192
        } else {
            1_472
        };
        let ends = if up {
            ["s0", "server"]
        } else {
            ["server", "s0"]
        };
        let text = format!(
            r#"{{"duration_s": 0.4, "bss": [{{"name": "cell", {phy}}}],
            "nodes": [{{"name": "s0", "role": "station", "bss": "cell", "queue": {{"packets": {packets}}}}},
                {{"name": "ap", "role": "access_point", "bss": "cell", "queue": {{"packets": {packets}}}}},
                {{"name": "server", "role": "wired"}}],
            "links": [{{"nodes": ["ap", "server"], "rate_bps": {wire_bps}}}],
            "flows": [{{"name": "f", "station": "s0", "source": "{}", "destination": "{}",
                "transport": {transport},
                "pattern": {{"type": "saturated", "payload_octets": {payload}}}}}]}}"#,
            ends[0], ends[1]
        );
        Scenario::from_json(&text).unwrap_or_else(|e| panic!("{e}: {text}"))
    }

    fn mbps(scenario: &Scenario) -> f64 {
        let outcome = run(scenario, 3, &mut || false).unwrap();
        outcome.value("throughput_bps", Some("f")).unwrap() / 1e6
    }

    fn kinds(scenario: &Scenario) -> Vec<&'static str> {
        limits(scenario).iter().map(|l| l.kind.name()).collect()
    }

    const UDP: &str = r#"{"protocol": "udp"}"#;
    const AC80: &str = r#""standard": "802.11ac", "width_mhz": 80,
        "rate": {"control": "fixed_mcs", "mcs": 9, "streams": 2}"#;
    const BE320: &str = r#""standard": "802.11be", "width_mhz": 320,
        "rate": {"control": "fixed_mcs", "mcs": 13, "streams": 2}"#;
    const A54: &str = r#""standard": "802.11a", "rate": {"control": "fixed", "mbps": 54}"#;

    #[test]
    fn a_queue_that_leaves_a_mpdus_short_is_named_with_what_it_costs() {
        for (phy, few, up, wire) in [
            (AC80, 60, false, 1e9),
            (BE320, 100, false, 1e10),
            (BE320, 1_000, false, 1e10),
            (BE320, 100, true, 1e10),
        ] {
            let short = scenario(phy, few, UDP, up, wire);
            let long = scenario(phy, 10_000, UDP, up, wire);
            let [limit] = &limits(&short)[..] else {
                panic!("one limit: {:?}", limits(&short));
            };
            assert_eq!(limit.kind, LimitKind::Queue);
            assert_eq!(limit.of, if up { "s0" } else { "ap" });
            assert_eq!(limits(&long), []);
            let (simulated, said) = (mbps(&short) / mbps(&long), limit.bps[0] / limit.bps[1]);
            assert!(
                (simulated - said).abs() < 0.12,
                "{simulated}, {said}: {limit:?}"
            );
        }
    }

    #[test]
    fn a_queue_of_single_frames_limits_nothing() {
        for up in [true, false] {
            assert_eq!(limits(&scenario(A54, 20, UDP, up, 1e9)), []);
        }
    }

    #[test]
    fn a_window_is_named_where_a_wider_one_would_carry_more() {
        for (phy, octets) in [(BE320, 131_072), (AC80, 30_000)] {
            let with = |octets: u32| {
                let transport = format!(r#"{{"protocol": "tcp", "window_octets": {octets}}}"#);
                scenario(phy, 10_000, &transport, true, 1e11)
            };
            let short = with(octets);
            assert_eq!(kinds(&short), ["window"]);
            assert!(mbps(&short) < 0.9 * mbps(&with(8 << 20)));
            assert_eq!(limits(&with(8 << 20)), []);
        }
        // Two segments are enough for single frames, and not for a path of 20 ms.
        let near = r#"{"protocol": "tcp", "window_octets": 17520}"#;
        let mut far = scenario(A54, 100, near, true, 1e9);
        assert_eq!(limits(&far), []);
        far.links[0].delay_s = 0.01;
        assert_eq!(kinds(&far), ["window"]);
    }

    #[test]
    fn a_socket_buffer_and_a_block_ack_window_are_named() {
        let buffer = r#"{"protocol": "udp", "socket_buffer_octets": 16384}"#;
        assert_eq!(
            kinds(&scenario(AC80, 10_000, buffer, true, 1e11)),
            ["socket_buffer"]
        );
        let narrow = format!(r#"{AC80}, "aggregation": {{"window": 8}}"#);
        assert_eq!(
            kinds(&scenario(&narrow, 10_000, UDP, true, 1e11)),
            ["block_ack_window"]
        );
    }

    #[test]
    fn a_wire_is_named_where_it_is_slower_than_the_air() {
        for up in [true, false] {
            let slow = scenario(AC80, 10_000, UDP, up, 1e8);
            let [limit] = &limits(&slow)[..] else {
                panic!("one limit: {:?}", limits(&slow));
            };
            assert_eq!((limit.kind, limit.size), (LimitKind::Wire, 1e8));
            assert!((mbps(&slow) - limit.bps[0] / 1e6).abs() < 2.0);
            assert_eq!(limits(&scenario(A54, 100, UDP, up, 1e8)), []);
        }
    }

    #[test]
    fn what_is_carried_anyway_is_limited_by_nothing() {
        let mut slow = scenario(BE320, 100, UDP, true, 1e8);
        slow.flows[0].pattern =
            serde_json::from_str(r#"{"type": "paced", "payload_octets": 1472, "rate_bps": 20e6}"#)
                .unwrap();
        assert_eq!(limits(&slow), []);
    }
}
