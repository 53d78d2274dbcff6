//! From a scenario to a world: nodes, channels and contenders here; links, wires and flows in the
//! rooms below.

mod flows;
mod joins;
mod links;
mod roams;
mod signalling;
mod wires;

use std::collections::{HashMap, VecDeque};

use airtoll_engine::{EventQueue, Streams};
use airtoll_phy::{self as phy, BasicRates, TimingSet};
use airtoll_units::{Duration, Instant};

use crate::context::Context;
use crate::device::host::{Host, Pipe};
use crate::device::{self, Device};
use crate::event::Event;
use crate::flow::Flows;
use crate::join::Join;
use crate::mac::aggregation::MacQueue;
use crate::mac::codel::Codel;
use crate::mac::contention::{Contender, Standing};
use crate::mac::exchange::{BeaconPlan, Exchange};
use crate::mac::lifetime;
use crate::mac::mode;
use crate::mac::{self, Mac};
use crate::medium::channel::{AccessKind, Channel, Class, Gap};
use crate::medium::radio::Radio;
use crate::medium::{self, Medium};
use crate::net::resolution::Resolution;
use crate::net::{self, Net};
use crate::observe::ledger::Ledger;
use crate::observe::{self, Observers};
use crate::packet::{NONE, Slab};
use crate::roam::Roam;
use crate::scenario::{Bss, Discipline, Role, Scenario, ScenarioError, Standard};
use crate::stack::{Lower, Stack};
use crate::world::{Outboxes, World};

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
        stack: Stack {
            lower: Lower {
                cx: Context {
                    events: EventQueue::new(),
                    end: Instant::ZERO + Duration::from_secs_f64(scenario.duration_s),
                    warm_up: Instant::ZERO + Duration::from_secs_f64(scenario.warm_up_s),
                    packets: Slab::new(),
                    observers: Observers {
                        nodes: Vec::new(),
                        ledger: Ledger::default(),
                        crypto_time: Duration::ZERO,
                        series: scenario.series,
                        trace: None,
                    },
                },
                medium: Medium {
                    nodes: Vec::new(),
                    channels: Vec::new(),
                    radio,
                    noise: streams.named("noise"),
                    reservations: Slab::new(),
                },
                mac: Mac {
                    nodes: Vec::new(),
                    streams: Vec::new(),
                    contenders: Vec::new(),
                    exchanges: Vec::new(),
                    txop_limits: Vec::new(),
                    queues: Vec::new(),
                    links: Vec::new(),
                    modes: Vec::new(),
                    earlier_nav: Instant::ZERO,
                    winners: Vec::new(),
                },
                device: Device {
                    nodes: Vec::new(),
                    cpu_ciphers: Duration::ZERO,
                },
            },
            net: Net {
                nodes: Vec::new(),
                routes: Vec::new(),
                detours: Vec::new(),
                wires: Vec::new(),
                fragments: Slab::new(),
                layers: Slab::new(),
                resolution: Resolution::default(),
            },
            flow: Flows { flows: Vec::new() },
        },
        join: Join::default(),
        roam: Roam::default(),
        outboxes: Outboxes::default(),
        duration: Duration::from_secs_f64(scenario.duration_s),
        warm_up: Duration::from_secs_f64(scenario.warm_up_s),
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
    signalling::add_group_links(&mut world, scenario, &builder.index);
    if !scenario.associations.is_empty() {
        let source = joins::Source {
            scenario,
            index: &builder.index,
            streams: &builder.streams,
        };
        joins::prepare(&mut world, source)?;
        roams::prepare(&mut world, source)?;
        roams::add_agents(&mut world, source);
        signalling::choose_group_ciphers(&mut world);
        return Ok(world);
    }
    for flow in 0..world.stack.flow.flows.len() {
        let start = world.stack.flow.flows[flow].start;
        world
            .stack
            .lower
            .cx
            .events
            .schedule(start, Event::Application { flow: flow as u32 });
    }
    if world.stack.lower.cx.warm_up > Instant::ZERO {
        let at = world.stack.lower.cx.warm_up;
        world.stack.lower.cx.events.schedule(at, Event::WarmedUp);
    }
    Ok(world)
}

impl Builder<'_> {
    fn add_nodes(&mut self) {
        for (number, node) in self.scenario.nodes.iter().enumerate() {
            let stack = &mut self.world.stack;
            let lower = &mut stack.lower;
            lower
                .mac
                .streams
                .push(self.streams.named(&format!("back-off/{}", node.name)));
            lower.medium.nodes.push(medium::Node {
                channel: 0,
                class: 0,
                ears: Vec::new(),
                engaged_until: Instant::ZERO,
                last_sent: (Instant::ZERO, Instant::ZERO),
            });
            lower.mac.nodes.push(mac::Node {
                contenders: [0; 4],
                first_link: 0,
                neighbours: 0,
                signalling: NONE,
                beacon: None,
                listeners: Vec::new(),
                queue_limit: node.queue.packets,
                lifetime: node
                    .queue
                    .max_delay_ms
                    .map_or(lifetime::NONE, |ms| Duration::from_secs_f64(ms / 1e3)),
                discipline: node.queue.discipline,
            });
            lower.device.nodes.push(device::Node {
                host: Host::new(&node.host),
                transmit: Pipe::default(),
                encrypt: Pipe::default(),
                decrypt: Pipe::default(),
                receive: Pipe::default(),
            });
            stack.net.nodes.push(net::Node {
                name: node.name.clone(),
                role: node.role,
                mtu: node.mtu_octets,
                tunnels: Vec::new(),
                identity: number as u32,
                present: number as u32,
                knows_off: false,
                unheard: false,
            });
            lower.cx.observers.nodes.push(observe::Node {
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
                edca: bss.edca.unwrap_or(bss.standard.descriptor().edca),
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
            let (class_of, ears) = self.world.stack.lower.medium.radio.classes(&members);
            let classes = class_of.iter().max().map_or(0, |c| c + 1);
            let id = self.world.stack.lower.medium.channels.len() as u32;
            for ((member, class), ears) in members.iter().zip(&class_of).zip(ears) {
                let node = &mut self.world.stack.lower.medium.nodes[*member as usize];
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
            self.world.stack.lower.medium.channels.push(channel);
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
        let state = &self.world.stack.lower.medium.nodes[node as usize];
        let channel = &mut self.world.stack.lower.medium.channels[state.channel as usize];
        let aifs = channel.sifs + channel.slot * u64::from(aifsn);
        let kind = channel.kind(AccessKind { aifs, edca });
        let id = self.world.stack.lower.mac.contenders.len() as u32;
        self.world.stack.lower.mac.contenders.push(Contender {
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
        self.world.stack.lower.mac.exchanges.push(Exchange::new());
        self.world.stack.lower.mac.txop_limits.push(txop);
        self.world.stack.lower.mac.queues.push(MacQueue {
            packets: 0,
            order: VecDeque::new(),
            unfinished: None,
            codel: (self.world.stack.lower.mac.nodes[node as usize].discipline
                == Discipline::Codel)
                .then(Codel::new),
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
            self.world.stack.lower.mac.nodes[node as usize].contenders = [id; 4];
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
            self.world.stack.lower.mac.nodes[node as usize].contenders[i] = id;
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
        self.world.stack.lower.mac.nodes[ap as usize].beacon = Some(BeaconPlan {
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
            .stack
            .lower
            .cx
            .events
            .schedule(first, Event::Beacon { node: ap });
    }
}
