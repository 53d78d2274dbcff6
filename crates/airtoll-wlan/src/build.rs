//! From a scenario to a world: nodes, channels and contenders here; links, wires and flows in the
//! rooms below.

mod flows;
mod links;
mod wires;

use std::collections::{HashMap, VecDeque};

use airtoll_engine::{EventQueue, Streams};
use airtoll_phy::{self as phy, BasicRates, TimingSet};
use airtoll_units::{Duration, Instant};

use crate::access::{Contender, Standing};
use crate::agents::{self, Agents};
use crate::aggregation::MacQueue;
use crate::association::{self, Associations};
use crate::channel::{AccessKind, Channel, Class, Gap};
use crate::codel::Codel;
use crate::exchange::{BeaconPlan, Exchange};
use crate::host::{Host, Pipe};
use crate::ledger::Ledger;
use crate::lifetime;
use crate::mobility::{self, Mobility};
use crate::mode;
use crate::packet::{NONE, Slab};
use crate::radio::Radio;
use crate::resolution::{self, Resolution};
use crate::scenario::{Bss, Discipline, Role, Scenario, ScenarioError, Standard};
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
        layers: Slab::new(),
        routes: Vec::new(),
        wires: Vec::new(),
        flows: Vec::new(),
        ledger: Ledger::default(),
        crypto_time: Duration::ZERO,
        cpu_ciphers: Duration::ZERO,
        earlier_nav: Instant::ZERO,
        reservations: Slab::new(),
        winners: Vec::new(),
        association: Associations::default(),
        mobility: Mobility::default(),
        resolution: Resolution::default(),
        agents: Agents::default(),
        trace: None,
        recorder: None,
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
    resolution::prepare(&mut world, scenario, &builder.index);
    if !scenario.associations.is_empty() {
        association::prepare(&mut world, scenario, &builder.index, &builder.streams)?;
        mobility::prepare(&mut world, scenario, &builder.index, &builder.streams)?;
        agents::prepare(&mut world, scenario, &builder.index);
        resolution::choose_ciphers(&mut world);
        return Ok(world);
    }
    for flow in 0..world.flows.len() {
        let start = world.flows[flow].start;
        world
            .events
            .schedule(start, Event::Application { flow: flow as u32 });
    }
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
                signalling: NONE,
                beacon: None,
                mtu: node.mtu_octets,
                tunnels: Vec::new(),
                engaged_until: Instant::ZERO,
                last_sent: (Instant::ZERO, Instant::ZERO),
                queue_limit: node.queue.packets,
                lifetime: node
                    .queue
                    .max_delay_ms
                    .map_or(lifetime::NONE, |ms| Duration::from_secs_f64(ms / 1e3)),
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
                ciphers: Default::default(),
            };
            channel.classes = (0..classes).map(|_| Class::new()).collect();
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
        let channel = &mut self.world.channels[state.channel as usize];
        let aifs = channel.sifs + channel.slot * u64::from(aifsn);
        let kind = channel.kind(AccessKind { aifs, edca });
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
            let own = self.scenario.nodes[node as usize].frame_burst_us;
            let burst = Duration::from_secs_f64(own.unwrap_or(bss.frame_burst_us) / 1e6);
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
        let own = &self.scenario.nodes[node as usize].edca_parameters;
        let given = own.as_ref().or(bss.edca_parameters.as_ref());
        for (i, category) in categories.into_iter().enumerate() {
            let mut p = phy::edca_parameters(category, &windows, dsss);
            if let Some(given) = given {
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
            vector,
            octets: beacons.octets,
            ssids: u32::from(beacons.ssids.max(1)),
            waiting: 0,
        });
        let first = Instant::ZERO + Duration::from_secs_f64(beacons.offset_us / 1e6);
        self.world
            .events
            .schedule(first, Event::Beacon { node: ap });
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
