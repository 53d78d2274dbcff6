//! The analytic testbed: a resolved scenario in, throughputs of its flows or a reason out.
//!
//! Takes a checked [`Scenario`]; gives one [`Answer`] per flow. A flow is answered where one of
//! these holds: a lone saturated sender; equal saturated stations towards their access point
//! (Bianchi); one station to another through the access point, saturated; paced flows that
//! together stay well below saturation; one saturated TCP flow (bounds). Hosts count as stages of
//! a pipeline: the slowest decides. Everything else is refused by name.

use core::fmt;

use airtoll_phy::{frame_success, noise_floor, ratio};
use airtoll_units::Db;

use super::bianchi::{CollisionTime, bianchi};
use super::exchange::Exchange;
use super::link::{Link, band, legacy};
use super::maximum::{beacon_share, saturated_bps};
use super::tcp::{TcpLink, tcp_bounds};
use crate::scenario::{
    Bss, CryptoEngine, Flow, IpVersion, Node, PathLoss, Pattern, Role, Scenario, Standard,
    TcpOptions, Transport,
};

/// The throughput of one flow, or why there is none.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// Name of the flow.
    pub flow: String,
    /// Station that its results are filed under.
    pub station: Option<String>,
    /// Throughput of application octets, or the reason.
    pub throughput: Result<Throughput, Cannot>,
}

/// A throughput with its bounds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Throughput {
    /// Bit/s. For TCP the middle of the bounds.
    pub bps: f64,
    /// Not less than this, bit/s (equal to `bps` for closed forms).
    pub lower_bps: f64,
    /// Not more than this, bit/s.
    pub upper_bps: f64,
    /// Where it comes from.
    pub method: Method,
}

/// Which closed form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// Renewal process of one saturated sender.
    Maximum,
    /// Bianchi's chain, collision time without time-out.
    Bianchi,
    /// Below saturation: what is offered is carried.
    Offered,
    /// Bounds of one TCP flow.
    TcpBounds,
}

impl Method {
    /// Name in output.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Maximum => "maximum",
            Self::Bianchi => "bianchi",
            Self::Offered => "offered",
            Self::TcpBounds => "tcp_bounds",
        }
    }
}

/// Why there is no closed form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cannot {
    /// The rate follows from losses.
    RateControl,
    /// The rate that WEP or TKIP falls back to is the simulator's choice.
    FallbackRate,
    /// The PHY has no such rate.
    NoSuchRate,
    /// A field that no closed form here covers.
    Option(&'static str),
    /// Several BSSs share the air.
    SharedChannel,
    /// Stations that cannot hear one another.
    HiddenStations,
    /// The link loses frames to noise.
    FrameErrors,
    /// The stations differ in rate or frame length.
    StationsDiffer,
    /// Uplink and downlink contend.
    BothDirections,
    /// The pattern is neither saturated nor paced.
    Pattern,
    /// The load is too near saturation for "carried is offered".
    NearSaturation,
    /// Several TCP flows, or TCP beside others.
    SharedTcp,
    /// Colliding A-MPDUs are followed by BlockAckReqs, which the chain does not know.
    AggregatesCollide,
    /// A packet longer than the MTU inside an A-MPDU.
    FragmentsInAggregate,
    /// The flow crosses more than one access point, or none.
    Path,
}

impl fmt::Display for Cannot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let reason = match self {
            Self::RateControl => "rate control has no closed form",
            Self::FallbackRate => "the rate that WEP or TKIP falls back to has no closed form",
            Self::NoSuchRate => "the PHY has no such rate",
            Self::Option(field) => return write!(f, "{field} has no closed form"),
            Self::SharedChannel => "several BSSs share the channel",
            Self::HiddenStations => "stations are hidden from one another",
            Self::FrameErrors => "the link loses frames to noise",
            Self::StationsDiffer => "stations differ in rate or frame length",
            Self::BothDirections => "uplink and downlink contend",
            Self::Pattern => "the pattern is neither saturated nor paced",
            Self::NearSaturation => "the offered load is near saturation",
            Self::SharedTcp => "several flows share the air with TCP",
            Self::AggregatesCollide => "A-MPDUs of several senders collide",
            Self::FragmentsInAggregate => "packets are fragmented inside an A-MPDU",
            Self::Path => "the flow does not cross exactly one access point",
        };
        f.write_str(reason)
    }
}

/// One answer per flow, in the order of the scenario.
#[must_use]
pub fn analytic(scenario: &Scenario) -> Vec<Answer> {
    let throughputs =
        answer_all(scenario).unwrap_or_else(|reason| vec![Err(reason); scenario.flows.len()]);
    scenario
        .flows
        .iter()
        .zip(throughputs)
        .map(|(flow, throughput)| Answer {
            flow: flow.name.clone(),
            station: flow.station.clone(),
            throughput,
        })
        .collect()
}

type Answers = Vec<Result<Throughput, Cannot>>;

/// Loads that add up to less than this share of the lone maximum are carried: ten saturated
/// stations keep more than 0.9 of it on every PHY here.
const SURELY_CARRIED: f64 = 0.85;

fn answer_all(scenario: &Scenario) -> Result<Answers, Cannot> {
    if scenario.bss.len() != 1 {
        return Err(Cannot::SharedChannel);
    }
    if !scenario.radio.hidden.is_empty() {
        return Err(Cannot::HiddenStations);
    }
    let paths = scenario
        .flows
        .iter()
        .map(|flow| Path::of(scenario, flow))
        .collect::<Result<Vec<_>, _>>()?;
    let free = 1.0 - beacons(&scenario.bss[0], paths[0].exchange.space);
    if paths.iter().any(|p| p.tcp.is_some()) {
        let [path] = paths.as_slice() else {
            return Err(Cannot::SharedTcp);
        };
        return Ok(vec![path.tcp_throughput(free)]);
    }
    let paced: Option<Vec<f64>> = paths.iter().map(|p| p.offered_bps).collect();
    if let Some(offered) = paced {
        let load: f64 = paths
            .iter()
            .zip(&offered)
            .map(|(p, o)| o / p.lone_bps(free))
            .sum();
        if let ([path], true) = (paths.as_slice(), load >= SURELY_CARRIED) {
            let most = path.lone_bps(free);
            let method = if offered[0] < most {
                Method::Offered
            } else {
                Method::Maximum
            };
            return Ok(vec![exactly(offered[0].min(most), method)]);
        }
        if load >= SURELY_CARRIED {
            return Err(Cannot::NearSaturation);
        }
        return Ok(offered
            .into_iter()
            .map(|bps| exactly(bps, Method::Offered))
            .collect());
    }
    if paths.iter().any(|p| p.offered_bps.is_some()) {
        return Err(Cannot::NearSaturation);
    }
    saturated(scenario, &paths, free)
}

fn saturated(scenario: &Scenario, paths: &[Path], free: f64) -> Result<Answers, Cannot> {
    // The retry counter falls back one failure after the frame is given up (10.23.2.2), so the
    // window has one stage more than a frame has attempts.
    let stages = u32::from(scenario.bss[0].max_attempts) + 1;
    if let [path] = paths {
        if path.hops == 1 {
            return Ok(vec![exactly(path.lone_bps(free), Method::Maximum)]);
        }
        if path.exchange.mpdus > 1 {
            return Err(Cannot::AggregatesCollide);
        }
        // The access point always has relayed frames and wins half of the exchanges.
        let chain = bianchi(&path.exchange, 2, stages, CollisionTime::FrameAndSpace);
        let bps = 0.5 * free * chain.throughput_bps(&path.exchange, path.payload_octets);
        return Ok(vec![exactly(bps.min(path.stage_bps), Method::Bianchi)]);
    }
    let same = |p: &Path| p.exchange == paths[0].exchange && p.packets == paths[0].packets;
    if paths.iter().any(|p| p.hops != 1) {
        return Err(Cannot::BothDirections);
    }
    if paths.iter().all(|p| p.sender == paths[0].sender) {
        // One queue, served in turn: the flows share one renewal process.
        if !paths.iter().all(same) && paths.iter().any(|p| p.exchange.mpdus > 1) {
            return Err(Cannot::StationsDiffer);
        }
        let turn_s: f64 = paths
            .iter()
            .map(|p| p.cycle_s() / f64::from(p.exchange.mpdus))
            .sum();
        return Ok(paths
            .iter()
            .map(|p| {
                let bps = free * 8.0 * f64::from(p.payload_octets) / turn_s;
                exactly(bps.min(p.stage_bps), Method::Maximum)
            })
            .collect());
    }
    if paths.iter().any(|p| p.downlink) {
        return Err(Cannot::BothDirections);
    }
    let mut senders: Vec<&str> = paths.iter().map(|p| p.sender.as_str()).collect();
    senders.sort_unstable();
    senders.dedup();
    if senders.len() != paths.len() || !paths.iter().all(same) || paths[0].packets != 1 {
        return Err(Cannot::StationsDiffer);
    }
    if paths[0].exchange.mpdus > 1 {
        return Err(Cannot::AggregatesCollide);
    }
    let n = paths.len() as u32;
    let chain = bianchi(&paths[0].exchange, n, stages, CollisionTime::FrameAndSpace);
    let each =
        free * chain.throughput_bps(&paths[0].exchange, paths[0].payload_octets) / f64::from(n);
    Ok(paths
        .iter()
        .map(|p| exactly(each.min(p.stage_bps), Method::Bianchi))
        .collect())
}

fn exactly(bps: f64, method: Method) -> Result<Throughput, Cannot> {
    Ok(Throughput {
        bps,
        lower_bps: bps,
        upper_bps: bps,
        method,
    })
}

/// One flow's way over the air.
struct Path {
    sender: String,
    downlink: bool,
    /// 1, or 2 from station to station.
    hops: u32,
    exchange: Exchange,
    /// Exchanges of the fragments after the first.
    more: Vec<Exchange>,
    packets: usize,
    payload_octets: u32,
    offered_bps: Option<f64>,
    tcp: Option<(TcpOptions, Exchange)>,
    /// Slowest host, engine or wire, bit/s.
    stage_bps: f64,
}

impl Path {
    fn of(scenario: &Scenario, flow: &Flow) -> Result<Self, Cannot> {
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
        let stations: Vec<&Node> = ends
            .into_iter()
            .filter(|n| n.role == Role::Station)
            .collect();
        let station = *stations.first().ok_or(Cannot::Path)?;
        let downlink = ends[0].role != Role::Station;
        let dsss_present = scenario
            .nodes
            .iter()
            .any(|n| n.role == Role::Station && n.standard.unwrap_or(bss.standard) == Standard::B);
        let link = Link::of(bss, station, dsss_present)?;
        if let [first, second] = stations.as_slice()
            && Link::of(bss, second, dsss_present)? != Link::of(bss, first, dsss_present)?
        {
            return Err(Cannot::StationsDiffer);
        }
        let access_point = scenario
            .nodes
            .iter()
            .find(|n| n.role == Role::AccessPoint)
            .ok_or(Cannot::Path)?;
        for station in &stations {
            clean(scenario, access_point, station, &link)?;
        }
        let (payload_octets, offered_bps) = match flow.pattern {
            Pattern::Saturated { payload_octets } => (payload_octets, None),
            Pattern::Paced {
                payload_octets,
                rate_bps,
                ..
            } => (payload_octets, Some(rate_bps)),
            _ => return Err(Cannot::Pattern),
        };
        let ip = match flow.ip {
            IpVersion::Ipv4 => 20,
            IpVersion::Ipv6 => 40,
        };
        let (payload_octets, sizes, tcp) = match &flow.transport {
            Transport::Udp(_) => {
                let sizes = packets(payload_octets + 8, flow.ip, ends[0].mtu_octets);
                (payload_octets, sizes, None)
            }
            Transport::Tcp(options) => {
                let header = ip + 20 + if options.timestamps { 12 } else { 0 };
                let most = ends[0].mtu_octets.min(ends[1].mtu_octets) - ip - 20;
                let segment = options.mss_octets.map_or(most, |m| m.min(most))
                    - if options.timestamps { 12 } else { 0 };
                let ack = link.exchange(header);
                (segment, vec![segment + header], Some((*options, ack)))
            }
        };
        let exchange = link.exchange(sizes[0]);
        let more: Vec<Exchange> = sizes[1..].iter().map(|s| link.exchange(*s)).collect();
        if sizes.len() > 1 && (exchange.mpdus > 1 || more.iter().any(|e| e.mpdus > 1)) {
            return Err(Cannot::FragmentsInAggregate);
        }
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
            payload_octets,
            offered_bps,
            tcp,
            stage_bps: slowest_stage(scenario, flow, &ends, access_point, &sizes, payload_octets),
        })
    }

    /// Mean time of all exchanges of one datagram (of one A-MPDU of datagrams), seconds.
    fn cycle_s(&self) -> f64 {
        self.exchange.mean_cycle_s() + self.more.iter().map(Exchange::mean_cycle_s).sum::<f64>()
    }

    fn lone_bps(&self, free: f64) -> f64 {
        let air = if self.more.is_empty() {
            saturated_bps(&self.exchange, self.payload_octets)
        } else {
            8.0 * f64::from(self.payload_octets) / self.cycle_s()
        };
        (free * air / f64::from(self.hops)).min(self.stage_bps)
    }

    fn tcp_throughput(&self, free: f64) -> Result<Throughput, Cannot> {
        let Some((options, ack)) = &self.tcp else {
            return Err(Cannot::SharedTcp);
        };
        if self.hops != 1 {
            return Err(Cannot::BothDirections);
        }
        let per_ack = f64::from(options.delayed_ack_segments);
        let per_exchange = per_ack.max(f64::from(self.exchange.mpdus));
        // Acknowledgements aggregate as the segments did: as many as one A-MPDU caused.
        let acks = per_exchange / per_ack;
        let mut acknowledgement = *ack;
        if ack.mpdus > 1 {
            let share = (acks / f64::from(ack.mpdus)).min(1.0);
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

/// Packets that a datagram of `datagram_octets` octets (UDP header included) becomes at `mtu`:
/// fragments carry multiples of eight octets (RFC 791, section 3.2; RFC 8200, section 4.5).
fn packets(datagram_octets: u32, ip: IpVersion, mtu: u32) -> Vec<u32> {
    let (header, extension) = match ip {
        IpVersion::Ipv4 => (20, 0),
        IpVersion::Ipv6 => (40, 8),
    };
    if datagram_octets + header <= mtu {
        return vec![datagram_octets + header];
    }
    let room = (mtu - header - extension) / 8 * 8;
    let mut sizes = vec![room + header + extension; (datagram_octets / room) as usize];
    let rest = datagram_octets % room;
    if rest > 0 {
        sizes.push(rest + header + extension);
    }
    sizes
}

fn beacons(bss: &Bss, space: airtoll_units::Duration) -> f64 {
    let Some(beacons) = &bss.beacons else {
        return 0.0;
    };
    let band = band(bss);
    let lowest = if band == airtoll_phy::Band::Ghz2_4 && bss.standard == Standard::B {
        1.0
    } else {
        bss.basic_rates_mbps
            .as_ref()
            .and_then(|r| r.iter().copied().reduce(f64::min))
            .unwrap_or(6.0)
    };
    let rate = beacons.rate_mbps.unwrap_or(lowest);
    legacy(rate, band, airtoll_phy::Preamble::Long).map_or(0.0, |v| {
        beacon_share(
            &v,
            beacons.octets,
            u32::from(beacons.ssids),
            space,
            beacons.interval_us * 1e-6,
        )
    })
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
    flow: &Flow,
    ends: &[&Node; 2],
    access_point: &Node,
    sizes: &[u32],
    payload_octets: u32,
) -> f64 {
    let mut longest_ns: f64 = 0.0;
    let station = if ends[0].role == Role::Station {
        ends[0]
    } else {
        ends[1]
    };
    let mut stage = |node: &Node, stack: &crate::scenario::Cost, cipher: bool, encrypt: bool| {
        let costs = node
            .host
            .ciphers
            .iter()
            .find(|c| c.cipher == station.cipher);
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
    if flow.source != access_point.name && flow.destination != access_point.name {
        let from_air = ends[0].role == Role::Station;
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

#[cfg(test)]
mod tests {
    use super::*;

    fn scenario(bss: &str, stations: u32, flow: &str) -> Scenario {
        let nodes: String = (0..stations)
            .map(|i| format!(r#"{{"name":"s{i}","role":"station","bss":"c"}},"#))
            .collect();
        let flows: Vec<String> = (0..stations)
            .map(|i| format!(r#"{{"name":"f{i}","source":"s{i}","destination":"ap",{flow}}}"#))
            .collect();
        let json = format!(
            r#"{{"duration_s":2,"bss":[{{"name":"c",{bss}}}],
            "nodes":[{nodes}{{"name":"ap","role":"access_point","bss":"c"}}],
            "flows":[{}]}}"#,
            flows.join(",")
        );
        Scenario::from_json(&json).unwrap()
    }

    const A54: &str = r#""standard":"802.11a","rate":{"control":"fixed","mbps":54}"#;
    const UDP: &str = r#""transport":{"protocol":"udp"},
        "pattern":{"type":"saturated","payload_octets":1472}"#;

    fn mbps(scenario: &Scenario) -> Vec<f64> {
        analytic(scenario)
            .into_iter()
            .map(|a| a.throughput.unwrap().bps / 1e6)
            .collect()
    }

    #[test]
    fn one_station_gets_the_maximum() {
        let one = mbps(&scenario(A54, 1, UDP));
        assert!((one[0] - 1_472.0 * 8.0 / 393.5).abs() < 1e-6);
        let b = r#""standard":"802.11b","rate":{"control":"fixed","mbps":11}"#;
        assert!((mbps(&scenario(b, 1, UDP))[0] - 1_472.0 * 8.0 / 1_928.0).abs() < 1e-6);
    }

    #[test]
    fn beacons_cost_their_airtime_and_one_space() {
        let with = format!(r#"{A54},"beacons":{{"octets":59}}"#);
        let share = 1.0 - mbps(&scenario(&with, 1, UDP))[0] / mbps(&scenario(A54, 1, UDP))[0];
        assert!((share - (104.0 + 34.0) / 102_400.0).abs() < 1e-9);
    }

    #[test]
    fn stations_share_what_bianchi_gives() {
        let ten = mbps(&scenario(A54, 10, UDP));
        assert_eq!(ten.len(), 10);
        let total: f64 = ten.iter().sum();
        assert!((27.0..28.2).contains(&total), "{total}");
    }

    #[test]
    fn an_oversized_datagram_takes_two_exchanges() {
        let six = UDP.replace("1472", "1460") + r#","ip":"ipv6""#;
        let fits = UDP.replace("1472", "1452") + r#","ip":"ipv6""#;
        let two = mbps(&scenario(A54, 1, &six))[0];
        assert!(two < 0.75 * mbps(&scenario(A54, 1, &fits))[0]);
        assert_eq!(packets(1_468, IpVersion::Ipv6, 1_500), vec![1_496, 68]);
        assert_eq!(
            packets(3_008, IpVersion::Ipv4, 1_500),
            vec![1_500, 1_500, 68]
        );
    }

    #[test]
    fn what_has_no_closed_form_is_refused_by_name() {
        let refused = |s: &Scenario| analytic(s)[0].throughput.unwrap_err();
        let aarf = A54.replace(r#"{"control":"fixed","mbps":54}"#, r#"{"control":"aarf"}"#);
        assert_eq!(refused(&scenario(&aarf, 1, UDP)), Cannot::RateControl);
        let tcp = UDP.replace("udp", "tcp");
        assert_eq!(refused(&scenario(A54, 2, &tcp)), Cannot::SharedTcp);
        let mut weak = scenario(A54, 1, UDP);
        weak.radio.path_loss = PathLoss::Constant { loss_db: 95.0 };
        assert_eq!(refused(&weak), Cannot::FrameErrors);
        let bulk = UDP.replace(r#""saturated""#, r#""transfer","octets":9999"#);
        assert_eq!(refused(&scenario(A54, 1, &bulk)), Cannot::Pattern);
    }

    #[test]
    fn paced_flows_are_carried_below_saturation() {
        let paced = UDP.replace(r#""saturated""#, r#""paced","rate_bps":2000000"#);
        assert_eq!(mbps(&scenario(A54, 5, &paced)), vec![2.0; 5]);
        let over = UDP.replace(r#""saturated""#, r#""paced","rate_bps":140000000"#);
        let lone = mbps(&scenario(A54, 1, &over))[0];
        assert!((lone - 1_472.0 * 8.0 / 393.5).abs() < 1e-6);
    }

    #[test]
    fn a_slow_host_decides() {
        let mut slow = scenario(A54, 1, UDP);
        slow.nodes[0].host.transmit.fixed_ns = 1e6;
        assert!((mbps(&slow)[0] - 1_472.0 * 8.0 / 1_000.0).abs() < 1e-9);
    }

    #[test]
    fn tcp_lies_between_its_bounds() {
        let tcp = UDP.replace("udp", "tcp").replace("1472", "1460");
        let t = analytic(&scenario(A54, 1, &tcp))[0].throughput.unwrap();
        assert!(t.lower_bps < t.bps && t.bps < t.upper_bps);
        assert!((24e6..27e6).contains(&t.bps));
    }
}
