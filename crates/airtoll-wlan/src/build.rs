//! From a scenario to a world.

use std::collections::{HashMap, VecDeque};

use airtoll_engine::{EventQueue, Stream, Streams};
use airtoll_phy::{self as phy, BasicRates, TimingSet, TxVector};
use airtoll_units::{BitRate, Duration, Instant};

use crate::access::{Contender, Standing};
use crate::aggregation::{MacQueue, TxLink};
use crate::channel::{AccessKind, Channel, Class, Gap};
use crate::codel::Codel;
use crate::exchange::{BeaconPlan, Exchange};
use crate::flow::{self, Application, Connection, Flow};
use crate::host::{Host, Pipe};
use crate::ledger::Ledger;
use crate::mode::{self, Mode};
use crate::network::{Route, TunnelEnd, Wire};
use crate::packet::Slab;
use crate::radio::Radio;
use crate::ratecontrol::{Aarf, Minstrel, RateControl};
use crate::scenario::{
    self, Arrivals, Bss, Discipline, IpVersion, Pattern, Rate, Role, Scenario, ScenarioError,
    Standard, Transport,
};
use crate::transport::TcpConfig;
use crate::world::{Event, Node, World};

/// What the PHY of a BSS says, for the links in it.
struct BssPhy {
    timing: TimingSet,
    basic: BasicRates,
    edca: bool,
    /// Nodes of the BSS: the access point, then the stations.
    members: Vec<u32>,
}

struct Builder<'a> {
    scenario: &'a Scenario,
    index: HashMap<&'a str, u32>,
    streams: Streams,
    phys: Vec<BssPhy>,
    world: World,
}

/// Makes the world of `scenario` with the random streams of `seed`.
///
/// # Errors
/// [`ScenarioError::Invalid`] for combinations that only the PHY can judge.
pub(crate) fn build(scenario: &Scenario, seed: u64) -> Result<World, ScenarioError> {
    scenario.check()?;
    let index: HashMap<&str, u32> = scenario
        .nodes
        .iter()
        .enumerate()
        .map(|(i, n)| (n.name.as_str(), i as u32))
        .collect();
    let streams = Streams::new(seed);
    let radio = Radio::new(scenario, &index);
    let world = World {
        events: EventQueue::new(),
        end: Instant::ZERO + Duration::from_secs_f64(scenario.duration_s),
        warm_up: Instant::ZERO + Duration::from_secs_f64(scenario.warm_up_s),
        series: scenario.series,
        nodes: Vec::new(),
        streams: Vec::new(),
        noise: streams.named("noise"),
        channels: Vec::new(),
        contenders: Vec::new(),
        exchanges: Vec::new(),
        txop_limits: Vec::new(),
        queues: Vec::new(),
        links: Vec::new(),
        modes: Vec::new(),
        radio,
        packets: Slab::new(),
        fragments: Slab::new(),
        routes: Vec::new(),
        wires: Vec::new(),
        flows: Vec::new(),
        ledger: Ledger::default(),
        crypto_time: Duration::ZERO,
        earlier_nav: Instant::ZERO,
        winners: Vec::new(),
        trace: None,
    };
    let mut builder = Builder {
        scenario,
        index,
        streams,
        phys: Vec::new(),
        world,
    };
    builder.add_nodes();
    builder.add_channels();
    for bss in 0..scenario.bss.len() {
        builder.add_links(bss)?;
        builder.add_beacons(bss);
    }
    builder.add_wires();
    builder.add_tunnels();
    builder.add_flows()?;
    let mut world = builder.world;
    if world.warm_up > Instant::ZERO {
        let at = world.warm_up;
        world.events.schedule(at, Event::WarmedUp);
    }
    Ok(world)
}

impl Builder<'_> {
    fn add_nodes(&mut self) {
        for node in &self.scenario.nodes {
            self.world
                .streams
                .push(self.streams.named(&format!("back-off/{}", node.name)));
            self.world.nodes.push(Node {
                name: node.name.clone(),
                role: node.role,
                channel: 0,
                class: 0,
                ears: Vec::new(),
                host: Host::new(&node.host),
                transmit: Pipe::default(),
                encrypt: Pipe::default(),
                decrypt: Pipe::default(),
                receive: Pipe::default(),
                contenders: [0; 4],
                first_link: 0,
                neighbours: 0,
                beacon: None,
                mtu: node.mtu_octets,
                tunnels: Vec::new(),
                engaged_until: Instant::ZERO,
                last_sent: (Instant::ZERO, Instant::ZERO),
                queue_limit: node.queue.packets,
                discipline: node.queue.discipline,
                energy: node.host.energy,
                transmit_time: Duration::ZERO,
                receive_time: Duration::ZERO,
                forbidden_rate: None,
            });
        }
    }

    /// Nodes of a BSS, the access point first.
    fn members(&self, bss: &Bss) -> Vec<u32> {
        let of = |role| {
            self.scenario
                .nodes
                .iter()
                .enumerate()
                .filter(move |(_, n)| n.role == role && n.bss.as_deref() == Some(&bss.name))
                .map(|(i, _)| i as u32)
        };
        of(Role::AccessPoint).chain(of(Role::Station)).collect()
    }

    fn add_channels(&mut self) {
        let mut numbers: Vec<u32> = self.scenario.bss.iter().map(|b| b.channel).collect();
        numbers.sort_unstable();
        numbers.dedup();
        for bss in &self.scenario.bss {
            let members = self.members(bss);
            let with_b = members
                .iter()
                .any(|m| self.scenario.nodes[*m as usize].standard == Some(Standard::B));
            self.phys.push(BssPhy {
                timing: mode::timing(bss, with_b),
                basic: mode::basic_rates(bss, with_b),
                edca: bss.edca.unwrap_or(bss.standard >= Standard::N),
                members,
            });
        }
        for number in numbers {
            let on_it: Vec<usize> = (0..self.phys.len())
                .filter(|b| self.scenario.bss[*b].channel == number)
                .collect();
            let members: Vec<u32> = on_it
                .iter()
                .flat_map(|b| self.phys[*b].members.iter().copied())
                .collect();
            let (class_of, ears) = self.world.radio.classes(&members);
            let classes = class_of.iter().max().map_or(0, |c| c + 1);
            let id = self.world.channels.len() as u32;
            for ((member, class), ears) in members.iter().zip(&class_of).zip(ears) {
                let node = &mut self.world.nodes[*member as usize];
                node.channel = id;
                node.class = *class;
                node.ears = ears;
            }
            let (timing, basic) = (self.phys[on_it[0]].timing, self.phys[on_it[0]].basic);
            let lowest = basic.lowest(mode::band(&self.scenario.bss[on_it[0]]));
            let mut channel = Channel {
                slot: timing.slot,
                sifs: timing.sifs,
                eifs_extra: phy::eifs(&timing, &lowest) - phy::difs(&timing),
                kinds: Vec::new(),
                classes: Vec::new(),
                active: Vec::new(),
                transmissions: Vec::new(),
                free: Vec::new(),
                next_grant: Instant::MAX,
                stale: true,
                backlog: 0,
                gap: Gap::Open,
                booked: Instant::ZERO,
            };
            // All interframe spaces that its contenders may use.
            for aifsn in 1..=15 {
                for edca in [false, true] {
                    channel.kinds.push(AccessKind {
                        aifs: phy::aifs(&timing, aifsn),
                        edca,
                    });
                }
            }
            let kinds = channel.kinds.len();
            channel.classes = (0..classes).map(|_| Class::new(kinds)).collect();
            self.world.channels.push(channel);
        }
    }

    /// Adds a contender; `aifsn` 2 without EDCA is DCF.
    fn add_contender(
        &mut self,
        node: u32,
        (aifsn, edca): (u32, bool),
        (cw_min, cw_max): (u32, u32),
        txop: Duration,
        rank: u8,
    ) -> u32 {
        let state = &self.world.nodes[node as usize];
        let kind = AccessKind {
            aifs: {
                let channel = &self.world.channels[state.channel as usize];
                channel.sifs + channel.slot * u64::from(aifsn)
            },
            edca,
        };
        let channel = &self.world.channels[state.channel as usize];
        let kind = channel.kinds.iter().position(|k| *k == kind).unwrap_or(0) as u32;
        let id = self.world.contenders.len() as u32;
        self.world.contenders.push(Contender {
            node,
            channel: state.channel,
            class: state.class,
            kind,
            standing: Standing::Resting,
            key: 0,
            late: false,
            slots: 0,
            cw: cw_min,
            retries: 0,
            cw_min,
            cw_max,
            rank,
        });
        self.world.exchanges.push(Exchange::new());
        self.world.txop_limits.push(txop);
        self.world.queues.push(MacQueue {
            packets: 0,
            order: VecDeque::new(),
            unfinished: None,
            codel: (state.discipline == Discipline::Codel).then(Codel::new),
        });
        id
    }

    fn add_links(&mut self, at: usize) -> Result<(), ScenarioError> {
        let members = self.phys[at].members.clone();
        let (ap, stations) = (members[0], &members[1..]);
        // The modes of each station's link, the same in both directions.
        let mut modes = Vec::new();
        for &station in stations {
            modes.push(self.link_modes(at, station)?);
        }
        for &node in &members {
            self.add_contenders(at, node);
            let neighbours: Vec<u32> = if node == ap {
                stations.to_vec()
            } else {
                vec![ap]
            };
            let state = &mut self.world.nodes[node as usize];
            state.first_link = self.world.links.len() as u32;
            state.neighbours = neighbours.len() as u32;
            let categories = if self.phys[at].edca { 4 } else { 1 };
            for _ in 0..categories {
                for &peer in &neighbours {
                    let station = if node == ap { peer } else { node };
                    let slot = stations.iter().position(|s| *s == station).unwrap_or(0);
                    self.add_link(at, node, peer, station, &modes[slot]);
                }
            }
        }
        Ok(())
    }

    fn add_link(&mut self, at: usize, from: u32, peer: u32, station: u32, modes: &[u32]) {
        let bss = &self.scenario.bss[at];
        let node = &self.scenario.nodes[station as usize];
        let rate = match node.rate.unwrap_or(bss.rate) {
            Rate::Fixed { .. } | Rate::FixedMcs { .. } => RateControl::Fixed(modes[0]),
            Rate::Aarf { .. } => RateControl::Aarf(Aarf::new(modes.to_vec())),
            Rate::Minstrel { .. } => {
                let worth: Vec<_> = modes.iter().map(|m| (*m, self.worth(*m))).collect();
                let name = format!("minstrel/{from}/{peer}/{}", self.world.links.len());
                RateControl::Minstrel(Box::new(Minstrel::new(&worth, self.streams.named(&name))))
            }
        };
        self.world.links.push(TxLink {
            from,
            peer,
            cipher: node.cipher,
            qos: self.phys[at].edca,
            rate,
            amsdu_octets: bss.aggregation.amsdu_max_octets,
            max_attempts: bss.max_attempts,
            rts_octets: bss.rts_threshold_octets.unwrap_or(u32::MAX),
            queue: VecDeque::new(),
            window: VecDeque::new(),
            next_sequence: 0,
            unanswered: false,
            taken_early: 0,
            listed: false,
            success: (u32::MAX, 0, 0.0),
        });
    }

    /// How much a success at a mode is worth to Minstrel: frames of 1500 octets per second.
    fn worth(&self, mode: u32) -> f64 {
        let mode = &self.world.modes[mode as usize];
        let exchange = phy::airtime(&mode.vector, 1_500) + mode.timeout + mode.ack;
        1e9 / exchange.as_nanos() as f64
    }

    fn add_contenders(&mut self, at: usize, node: u32) {
        let bss = &self.scenario.bss[at];
        let timing = self.phys[at].timing;
        let own = self.scenario.nodes[node as usize]
            .standard
            .unwrap_or(bss.standard);
        let dsss = own == Standard::B;
        let default_min = if dsss {
            TimingSet::DSSS.cw_min
        } else {
            timing.cw_min
        };
        let cw_min = bss.cw_min.unwrap_or(default_min);
        let cw_max = bss.cw_max.unwrap_or(timing.cw_max).max(cw_min);
        if !self.phys[at].edca {
            let burst = Duration::from_secs_f64(bss.frame_burst_us / 1e6);
            let id = self.add_contender(node, (2, false), (cw_min, cw_max), burst, 1);
            self.world.nodes[node as usize].contenders = [id; 4];
            return;
        }
        let windows = TimingSet {
            cw_min,
            cw_max,
            ..timing
        };
        let categories = [
            phy::AccessCategory::Background,
            phy::AccessCategory::BestEffort,
            phy::AccessCategory::Video,
            phy::AccessCategory::Voice,
        ];
        for (i, category) in categories.into_iter().enumerate() {
            let mut p = phy::edca_parameters(category, &windows, dsss);
            if let Some(given) = &bss.edca_parameters {
                p.aifsn = u32::from(given[i].aifsn);
                p.cw_min = given[i].cw_min;
                p.cw_max = given[i].cw_max;
                p.txop = Duration::from_secs_f64(given[i].txop_us / 1e6);
            }
            let id = self.add_contender(
                node,
                (p.aifsn.clamp(1, 15), true),
                (p.cw_min, p.cw_max),
                p.txop,
                i as u8,
            );
            self.world.nodes[node as usize].contenders[i] = id;
        }
    }

    /// Modes that a station's link may use, by rising rate.
    fn link_modes(&mut self, at: usize, station: u32) -> Result<Vec<u32>, ScenarioError> {
        let bss = &self.scenario.bss[at];
        let node = &self.scenario.nodes[station as usize];
        let standard = node.standard.unwrap_or(bss.standard);
        let rate = node.rate.unwrap_or(bss.rate);
        let permitted = node.cipher.permits_high_throughput();
        let refuse = |problem: String| ScenarioError::Invalid {
            field: format!("nodes[{station}].rate (or bss[{at}].rate)"),
            value: format!("{rate:?}"),
            allowed: problem,
        };
        let mut vectors = match rate {
            Rate::Fixed { mbps } => {
                let vector = mode::legacy(bss, mbps);
                vec![vector.ok_or_else(|| refuse("a rate of the band".to_owned()))?]
            }
            Rate::FixedMcs { mcs, streams } => {
                let wanted = mode::mcs(bss, standard, mcs, streams)
                    .map_err(|problem| refuse(problem.to_string()))?;
                if permitted {
                    vec![wanted]
                } else {
                    // IEEE 802.11-2020, 12.6.1.1: no HT and later rates with WEP and TKIP.
                    let legacy =
                        TxVector::ofdm(phy::non_ht_reference_rate(&wanted), mode::band(bss));
                    self.world.nodes[station as usize].forbidden_rate =
                        Some((wanted.bit_rate().0, legacy.bit_rate().0));
                    vec![legacy]
                }
            }
            Rate::Aarf { streams } | Rate::Minstrel { streams } => {
                let legacy_only = standard < Standard::N || !permitted;
                let rates: &[f64] = match standard {
                    Standard::B => &[1.0, 2.0, 5.5, 11.0],
                    _ => &[6.0, 9.0, 12.0, 18.0, 24.0, 36.0, 48.0, 54.0],
                };
                if legacy_only {
                    rates.iter().filter_map(|m| mode::legacy(bss, *m)).collect()
                } else {
                    let top = match standard {
                        Standard::N => 7,
                        Standard::Ac => 9,
                        Standard::Ax => 11,
                        _ => 13,
                    };
                    (1..=streams)
                        .flat_map(|s| (0..=top).map(move |m| (m, s)))
                        .filter_map(|(m, s)| mode::mcs(bss, standard, m, s).ok())
                        .collect()
                }
            }
        };
        vectors.sort_by_key(|v| (v.bit_rate().0, v.nss()));
        vectors.dedup_by_key(|v| v.bit_rate().0);
        let (timing, basic) = (self.phys[at].timing, self.phys[at].basic);
        Ok(vectors
            .into_iter()
            .map(|vector| {
                let known = self
                    .world
                    .modes
                    .iter()
                    .position(|m| m.vector == vector && m.bss == at);
                known.unwrap_or_else(|| {
                    let mut made = Mode::new(vector, bss, &timing, basic);
                    made.bss = at;
                    self.world.modes.push(made);
                    self.world.modes.len() - 1
                }) as u32
            })
            .collect())
    }

    fn add_beacons(&mut self, at: usize) {
        let bss = &self.scenario.bss[at];
        let Some(beacons) = &bss.beacons else {
            return;
        };
        let ap = self.phys[at].members[0];
        // Beacons contend with the shortest space and no back-off.
        let contender = self.add_contender(ap, (1, false), (0, 0), Duration::ZERO, 4);
        let vector = beacons
            .rate_mbps
            .and_then(|mbps| mode::legacy(bss, mbps))
            .unwrap_or_else(|| self.phys[at].basic.lowest(mode::band(bss)));
        self.world.nodes[ap as usize].beacon = Some(BeaconPlan {
            contender,
            interval: Duration::from_secs_f64(beacons.interval_us / 1e6),
            length: phy::airtime(&vector, beacons.octets),
            octets: beacons.octets,
            ssids: u32::from(beacons.ssids.max(1)),
            waiting: 0,
        });
        let first = Instant::ZERO + Duration::from_secs_f64(beacons.offset_us / 1e6);
        self.world
            .events
            .schedule(first, Event::Beacon { node: ap });
    }

    fn add_wires(&mut self) {
        let nodes = self.world.nodes.len();
        let mut exits: Vec<Vec<(u32, u32)>> = vec![Vec::new(); nodes];
        for link in &self.scenario.links {
            let [a, b] = link.nodes.each_ref().map(|n| self.index[n.as_str()]);
            for (from, to) in [(a, b), (b, a)] {
                exits[from as usize].push((to, self.world.wires.len() as u32));
                self.world.wires.push(Wire::new(
                    to,
                    BitRate(link.rate_bps as u64),
                    Duration::from_secs_f64(link.delay_s),
                    link.queue_packets,
                ));
            }
        }
        let mut routes = vec![vec![Route::None; nodes]; nodes];
        // The first wire on the shortest way, searched from every node that has wires.
        for from in 0..nodes {
            let mut frontier = VecDeque::from([(from as u32, None)]);
            let mut seen = vec![false; nodes];
            seen[from] = true;
            while let Some((at, first)) = frontier.pop_front() {
                if let Some(wire) = first {
                    routes[from][at as usize] = Route::Wire { wire };
                }
                for &(to, wire) in &exits[at as usize] {
                    if !std::mem::replace(&mut seen[to as usize], true) {
                        frontier.push_back((to, first.or(Some(wire))));
                    }
                }
            }
        }
        for phy in &self.phys {
            let (ap, stations) = (phy.members[0] as usize, &phy.members[1..]);
            let to_ap: Vec<Route> = routes.iter().map(|row| row[ap]).collect();
            for (neighbour, &station) in stations.iter().enumerate() {
                for (row, to_ap) in routes.iter_mut().zip(&to_ap) {
                    row[station as usize] = *to_ap;
                }
                routes[ap][station as usize] = Route::Air {
                    neighbour: neighbour as u32,
                };
            }
        }
        for phy in &self.phys {
            for &station in &phy.members[1..] {
                routes[station as usize].fill(Route::Air { neighbour: 0 });
            }
        }
        self.world.routes = routes;
    }

    fn add_tunnels(&mut self) {
        for (i, node) in self.scenario.nodes.iter().enumerate() {
            for tunnel in &node.tunnels {
                let peer = self.index[tunnel.peer.as_str()];
                let end = TunnelEnd {
                    peer,
                    only: None,
                    encapsulation: tunnel.encapsulation,
                    encrypt: tunnel.encrypt.into(),
                    decrypt: tunnel.decrypt.into(),
                };
                self.world.nodes[i].tunnels.push(end);
                self.world.nodes[peer as usize].tunnels.push(TunnelEnd {
                    peer: i as u32,
                    only: Some(i as u32),
                    ..end
                });
            }
        }
    }

    fn add_flows(&mut self) -> Result<(), ScenarioError> {
        for (i, flow) in self.scenario.flows.iter().enumerate() {
            let (source, destination) = (
                self.index[flow.source.as_str()],
                self.index[flow.destination.as_str()],
            );
            if self.world.routes[source as usize][destination as usize] == Route::None {
                return Err(ScenarioError::Invalid {
                    field: format!("flows[{i}].destination"),
                    value: flow.destination.clone(),
                    allowed: format!("a node that {} can reach over the links", flow.source),
                });
            }
            let ip_header = match flow.ip {
                IpVersion::Ipv4 => 20,
                IpVersion::Ipv6 => 40,
            };
            let start = Instant::ZERO + Duration::from_secs_f64(flow.start_s);
            let application = application(&flow.pattern, start);
            let payload = match application {
                Application::Saturated { payload }
                | Application::Paced { payload, .. }
                | Application::Transfer { payload, .. } => payload,
                Application::Exchange(_) => 1,
            };
            let connection = match &flow.transport {
                Transport::Udp(_) => None,
                Transport::Tcp(options) => {
                    let config = self.tcp_config(options, source, ip_header);
                    config
                        .validate()
                        .map_err(|problem| ScenarioError::Invalid {
                            field: format!("flows[{i}].transport.{}", problem.field),
                            value: problem.value.to_string(),
                            allowed: problem.allowed.to_owned(),
                        })?;
                    Some(Box::new(Connection::new(&config)))
                }
            };
            let room = self.room(flow, source, payload);
            self.world.flows.push(Flow {
                name: flow.name.clone(),
                station: flow.station.clone(),
                source,
                destination,
                ip_header,
                category: flow.access_category as u8,
                application,
                connection,
                voice: matches!(flow.pattern, Pattern::Voip { .. }),
                start,
                stop: flow
                    .stop_s
                    .map_or(Instant::MAX, |s| Instant::ZERO + Duration::from_secs_f64(s)),
                held: 0,
                room,
                blocked: false,
                next_mark: 0,
                stream: self.flow_stream(&flow.name),
                statistics: crate::metrics::Statistics::default(),
            });
            self.world
                .events
                .schedule(start, Event::Application { flow: i as u32 });
        }
        Ok(())
    }

    fn flow_stream(&self, name: &str) -> Stream {
        self.streams.named(&format!("flow/{name}"))
    }

    /// How many datagrams of a flow may be between application and air.
    fn room(&self, flow: &scenario::Flow, source: u32, payload: u32) -> u32 {
        let Transport::Udp(options) = &flow.transport else {
            return u32::MAX;
        };
        if let Some(octets) = options.socket_buffer_octets {
            return (octets / payload).max(1);
        }
        if !matches!(
            flow.pattern,
            Pattern::Saturated { .. } | Pattern::Transfer { .. }
        ) {
            return u32::MAX;
        }
        let node = &self.world.nodes[source as usize];
        if node.role == Role::Wired {
            return 64;
        }
        // Twice what one PPDU takes, so that the radio never waits for the application, and no
        // more than the queue holds, because a local application is held back by a full queue.
        let window = node_links(node)
            .filter_map(|link| match &self.world.links[link as usize].rate {
                RateControl::Fixed(mode) => Some(self.world.modes[*mode as usize].window),
                _ => self.world.modes.iter().map(|m| m.window).max(),
            })
            .max()
            .unwrap_or(1);
        let amsdu = match node_links(node).next() {
            Some(link) => self.world.links[link as usize].amsdu_octets / payload.max(1) + 1,
            None => 1,
        };
        let sharing = self
            .scenario
            .flows
            .iter()
            .filter(|f| f.source == flow.source && matches!(f.transport, Transport::Udp(_)))
            .count() as u32;
        (2 * window * amsdu + 8)
            .min(node.queue_limit / sharing)
            .max(1)
    }

    fn tcp_config(&self, options: &scenario::TcpOptions, source: u32, ip_header: u32) -> TcpConfig {
        let node = &self.world.nodes[source as usize];
        // A tunnel's interface has a smaller MTU, and TCP keeps to it.
        let mtu = node.tunnels.iter().rev().fold(node.mtu, |mtu, end| {
            end.encapsulation.longest_inner(mtu as usize) as u32
        });
        TcpConfig::from_options(options, mtu - ip_header - 20)
    }
}

fn node_links(node: &Node) -> std::ops::Range<u32> {
    node.first_link..node.first_link + node.neighbours
}

fn application(pattern: &Pattern, start: Instant) -> Application {
    let paced = |payload: u32, interval_ns: f64, poisson| Application::Paced {
        payload,
        interval_ns,
        poisson,
        due_ns: start.as_nanos() as f64,
    };
    match *pattern {
        Pattern::Saturated { payload_octets } => Application::Saturated {
            payload: payload_octets,
        },
        Pattern::Paced {
            payload_octets,
            rate_bps,
            arrivals,
        } => paced(
            payload_octets,
            f64::from(payload_octets) * 8e9 / rate_bps,
            arrivals == Arrivals::Poisson,
        ),
        Pattern::Transfer {
            octets,
            payload_octets,
        } => Application::Transfer {
            payload: payload_octets,
            left: octets,
            total: octets,
        },
        Pattern::Voip {
            payload_octets,
            interval_ms,
        } => paced(payload_octets, interval_ms * 1e6, false),
        Pattern::RequestResponse {
            request_octets,
            response_octets,
            server_s,
            think_s,
            count,
            retry_s,
        } => Application::Exchange(flow::Exchange {
            request: request_octets,
            response: response_octets,
            server: Duration::from_secs_f64(server_s),
            think: Duration::from_secs_f64(think_s),
            retry: Duration::from_secs_f64(retry_s),
            left: count,
            number: 0,
            asked_at: Instant::ZERO,
            next: flow::Next::Ask,
            requested: 0,
            responded: 0,
        }),
    }
}

impl Node {
    /// The link to a radio neighbour for an access category.
    pub(crate) fn link(&self, neighbour: u32, category: u8) -> u32 {
        let row = if self.contenders[0] == self.contenders[1] {
            0
        } else {
            u32::from(category)
        };
        self.first_link + row * self.neighbours + neighbour
    }
}
