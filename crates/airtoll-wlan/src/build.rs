//! From a scenario to a world: nodes, channels and contenders here; links, wires and flows in the
//! modules of this folder.

mod flows;
mod groups;
mod joins;
mod links;
mod multi_link;
mod probing;
mod radios;
mod roams;
mod sharing;
mod signalling;
mod source;
mod widths;
mod wires;

use std::collections::HashMap;

use airtoll_engine::{EventQueue, Streams};
use airtoll_phy::{self as phy, BasicRates, TimingSet};
use airtoll_units::{Duration, Instant};

use crate::address;
use crate::announce::Announcement;
use crate::context::Context;
use crate::device::{Device, Nic};
use crate::event::Event;
use crate::flow::Flows;
use crate::id::{ContenderId, NodeId, Pair, RadioId, Slab};
use crate::join::{self, Join};
use crate::lower::Lower;
use crate::mac::{self, AccessKind, BeaconPlan, CfEnd, Mac, NO_LIFETIME, WindowBounds};
use crate::medium::{Channel, Fading, Medium, Radio};
use crate::net::Net;
use crate::observe::{Dozing, Observers, Periods, Told};
use crate::roam::Roam;
use crate::scenario::{
    AddressResolution, Role, Scenario, ScenarioError, Schedule, Standard, TxopProtection,
};
use crate::stack::Stack;
use crate::world::{Outboxes, World};
use radios::Radios;
use source::Source;

/// aCCATime of OFDM PHYs, us (IEEE 802.11-2020, Table 17-21).
const CCA_TIME_US: f64 = 4.0;

/// PHY parameters of a BSS, for the links in it.
struct BssPhy {
    timing: TimingSet,
    basic: BasicRates,
    edca: bool,
    /// Radios in the BSS: that of the access point, then those of the stations.
    members: Vec<RadioId>,
}

struct Builder<'a> {
    scenario: &'a Scenario,
    index: HashMap<&'a str, NodeId>,
    radios: Radios<'a>,
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
    let index: HashMap<&str, NodeId> = scenario
        .nodes
        .iter()
        .enumerate()
        .map(|(i, n)| (n.name.as_str(), NodeId::new(i as u32)))
        .collect();
    let streams = Streams::new(seed);
    let radios = Radios::new(scenario, &index);
    let names: Vec<&str> = radios.ids().map(|radio| radios.name(radio)).collect();
    let radio = Radio::new(scenario, &index, &radios.places(), (&names, &streams));
    let fading = scenario
        .radio
        .fading
        .filter(|_| scenario.radio.frame_errors);
    let fading = fading.map(|model| {
        let of = |radio| radios.bss_of(radio);
        let find = |name: &str| scenario.bss.iter().find(|bss| bss.name == name);
        let bsss: Vec<_> = radios.ids().map(|radio| of(radio).and_then(find)).collect();
        Fading::new(model, &bsss, streams)
    });
    let world = World {
        stack: Stack {
            lower: Lower {
                cx: Context {
                    events: EventQueue::new(),
                    end: Instant::ZERO + Duration::from_secs_f64(scenario.duration_s),
                    warm_up: Instant::ZERO + Duration::from_secs_f64(scenario.warm_up_s),
                    packets: Slab::new(),
                    outbox: Vec::new(),
                    observers: Observers::new(scenario.series),
                },
                medium: Medium::new(radio, streams.named("noise"), fading),
                mac: Mac::new(),
                device: Device::new(),
            },
            net: Net::new(scenario.address_resolution == AddressResolution::Dynamic),
            flow: Flows::new(),
        },
        join: Join::default(),
        roam: Roam::default(),
        recorder: None,
        duration: Duration::from_secs_f64(scenario.duration_s),
        warm_up_length: Duration::from_secs_f64(scenario.warm_up_s),
        outboxes: Outboxes::default(),
    };
    let mut builder = Builder {
        scenario,
        index,
        radios,
        streams,
        phys: Vec::new(),
        world,
    };
    builder.add_nodes();
    builder.add_channels();
    for bss in 0..scenario.bss.len() {
        builder.add_links(bss)?;
        builder.add_sharing(bss);
        builder.add_beacons(bss);
        builder.add_dozing(bss);
    }
    builder.add_interferers();
    builder.add_wires();
    builder.add_groups();
    builder.add_tunnels();
    builder.add_flows()?;
    builder.add_widths();
    let mut world = builder.world;
    if world.stack.lower.medium.reuses_space() {
        world.stack.lower.mac.reuse_space();
    }
    let source = Source {
        scenario,
        index: &builder.index,
        radios: &builder.radios,
        streams: &builder.streams,
        group_ciphers: &join::common_ciphers(scenario),
    };
    let groups = signalling::add_group_links(&mut world, source);
    signalling::add_retrievals(&mut world, source);
    probing::prepare(&mut world, source);
    if !scenario.associations.is_empty() {
        let Stack { lower, flow, .. } = &mut world.stack;
        flow.begin_neighbours(&mut lower.cx);
        joins::prepare(&mut world, source)?;
        roams::prepare(&mut world, source)?;
        roams::add_agents(&mut world, source);
        signalling::choose_group_ciphers(&mut world, &groups);
        return Ok(world);
    }
    let dozes = scenario.nodes.iter().any(|n| n.power_save.is_some());
    let Stack { lower, net, flow } = &mut world.stack;
    let shares = scenario.bss.iter().any(|bss| bss.ofdma.is_some());
    let probed = scenario.passers_by().is_some();
    let settled = scenario.handovers.is_empty()
        && scenario.group_traffic.is_empty()
        && !dozes
        && !shares
        && !probed;
    lower.mac.let_arrivals_wait(settled);
    flow.begin(&mut lower.cx, Duration::ZERO);
    lower.mac.begin_dozing(&mut lower.cx, &lower.medium);
    net.begin_groups(&mut lower.cx);
    let warm_up = lower.cx.warm_up;
    lower.device.count_in(&(warm_up..lower.cx.end));
    if warm_up > Instant::ZERO {
        lower.cx.schedule(warm_up, Event::WarmedUp);
    }
    Ok(world)
}

impl Builder<'_> {
    fn add_nodes(&mut self) {
        let Stack { lower, net, .. } = &mut self.world.stack;
        for radio in self.radios.ids() {
            let host = self.radios.node_of(radio);
            let node = &self.scenario.nodes[host.index()];
            lower.medium.add_radio(host, node.role == Role::Wired);
            let name = self.radios.name(radio);
            let stream = self.streams.named(&format!("back-off/{name}"));
            let lifetime = node
                .queue
                .max_delay_ms
                .map_or(NO_LIFETIME, |ms| Duration::from_secs_f64(ms / 1e3));
            let queue = &node.queue;
            let at = lower
                .mac
                .add_node(stream, queue.packets, lifetime, queue.discipline);
            let first = RadioId::first_of(host);
            if at != first {
                lower.mac.share_nic(at, first);
            } else if let Some(nic) = &node.host.nic {
                let draws = self.streams.named(&format!("card/{name}"));
                lower.mac.set_nic(at, Nic::new(nic, draws));
            }
        }
        for node in &self.scenario.nodes {
            lower.device.add_node(node);
            net.add_node(&node.name, node.role, (node.mtu_octets, node.black_hole));
            if node.drops_fragments {
                net.drop_fragments_at_last();
            }
            lower.cx.observers.add_node();
        }
    }

    fn add_channels(&mut self) {
        let mut numbers: Vec<u32> = self.scenario.bss.iter().map(|b| b.channel).collect();
        numbers.sort_unstable();
        numbers.dedup();
        for bss in &self.scenario.bss {
            let members = self.radios.members(&bss.name);
            let with_b = self.radios.with_b(&members);
            self.phys.push(BssPhy {
                timing: mac::timing(bss, with_b),
                basic: mac::basic_rates(bss, with_b),
                edca: bss.edca.unwrap_or(bss.standard.descriptor().edca),
                members,
            });
        }
        for number in numbers {
            let on_it: Vec<usize> = (0..self.phys.len())
                .filter(|b| self.scenario.bss[*b].channel == number)
                .collect();
            let members: Vec<RadioId> = on_it
                .iter()
                .flat_map(|b| self.phys[*b].members.iter().copied())
                .collect();
            let (timing, basic) = (self.phys[on_it[0]].timing, self.phys[on_it[0]].basic);
            let lowest = basic.lowest(mac::band(&self.scenario.bss[on_it[0]]));
            let eifs_extra = phy::eifs(&timing, &lowest) - phy::difs(&timing);
            let channel = Channel::new(timing.slot, timing.sifs, eifs_extra);
            let lower = &mut self.world.stack.lower;
            let cca = on_it.iter().map(|b| {
                let bss = &self.scenario.bss[*b];
                // The holder of a TXOP and the others then count from different instants.
                let least_us = match bss.txop_protection {
                    TxopProtection::Single => 0.0,
                    TxopProtection::Multiple => CCA_TIME_US,
                };
                bss.cca_time_us.max(least_us)
            });
            let cca = Duration::from_secs_f64(cca.fold(0.0, f64::max) / 1e6);
            let classes = lower.medium.add_channel(channel, &members);
            lower.mac.add_channel(timing.slot, cca, classes);
            let theirs = |b: &&usize| self.scenario.bss[**b].neighbour.is_some();
            let (theirs, own): (Vec<&usize>, Vec<&usize>) = on_it.iter().partition(theirs);
            let own: Vec<RadioId> = own.iter().map(|b| self.phys[**b].members[0]).collect();
            for bss in theirs {
                lower.medium.set_neighbours(&self.phys[*bss].members, &own);
            }
        }
    }

    fn add_interferers(&mut self) {
        for (i, model) in self.scenario.radio.interferers.iter().enumerate() {
            let lower = &mut self.world.stack.lower;
            let on_it = |bss: &usize| Some(self.scenario.bss[*bss].channel) == model.channel;
            let bss = (0..self.phys.len()).find(on_it);
            let channel = bss.map(|bss| lower.medium.channel_of(self.phys[bss].members[0]));
            let stream = self.streams.named(&format!("interferer/{i}"));
            let (interferer, at) = lower.medium.add_interferer(model, channel, stream);
            lower.cx.schedule(at, Event::Interferer { interferer });
        }
    }

    /// Adds a contender; `aifsn` 2 without EDCA is DCF.
    fn add_contender(
        &mut self,
        node: RadioId,
        (aifsn, edca): (u32, bool),
        window: WindowBounds,
        txop: (Duration, Option<CfEnd>),
        rank: u8,
    ) -> ContenderId {
        let Lower { medium, mac, .. } = &mut self.world.stack.lower;
        let channel = medium.channel_of(node);
        let aifs = medium.sifs(channel) + medium.slot(channel) * u64::from(aifsn);
        let kind = AccessKind { aifs, edca };
        mac.add_contender(medium, node, kind, window, txop, rank)
    }

    fn add_contenders(&mut self, at: usize, node: RadioId) {
        let bss = &self.scenario.bss[at];
        let timing = self.phys[at].timing;
        let host = self.radios.node_of(node).index();
        let own = self.scenario.nodes[host].standard.unwrap_or(bss.standard);
        let dsss = own == Standard::B;
        let default_min = if dsss {
            TimingSet::DSSS.cw_min
        } else {
            timing.cw_min
        };
        let cw_min = bss.cw_min.unwrap_or(default_min);
        let cw_max = bss.cw_max.unwrap_or(timing.cw_max).max(cw_min);
        if !self.phys[at].edca {
            let own = self.scenario.nodes[host].frame_burst_us;
            let window = WindowBounds {
                min: cw_min,
                max: cw_max,
            };
            let burst = Duration::from_secs_f64(own.unwrap_or(bss.frame_burst_us) / 1e6);
            let id = self.add_contender(node, (2, false), window, (burst, None), 1);
            self.world.stack.lower.mac.set_contenders(node, [id; 4]);
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
        let cf_end = (bss.txop_protection == TxopProtection::Multiple).then(|| {
            let vector = self.phys[at].basic.lowest(mac::band(bss));
            let length = phy::airtime(&vector, phy::CF_END_OCTETS);
            CfEnd { length, vector }
        });
        let own = &self.scenario.nodes[host].edca_parameters;
        let mut contenders = [ContenderId::new(0); 4];
        for (i, category) in categories.into_iter().enumerate() {
            let mut p = phy::edca_parameters(category, &windows, dsss);
            for given in [&bss.edca_parameters, own].into_iter().flatten() {
                let given = &given[i];
                p.aifsn = given.aifsn.map_or(p.aifsn, u32::from);
                p.cw_min = given.cw_min.unwrap_or(p.cw_min);
                p.cw_max = given.cw_max.unwrap_or(p.cw_max).max(p.cw_min);
                p.txop = given
                    .txop_us
                    .map_or(p.txop, |us| Duration::from_secs_f64(us / 1e6));
            }
            contenders[i] = self.add_contender(
                node,
                (p.aifsn.clamp(1, 15), true),
                WindowBounds {
                    min: p.cw_min,
                    max: p.cw_max,
                },
                (p.txop, cf_end.filter(|_| !p.txop.is_zero())),
                i as u8,
            );
        }
        self.world.stack.lower.mac.set_contenders(node, contenders);
    }

    /// Stations of a BSS doze between its beacons.
    fn add_dozing(&mut self, at: usize) {
        let members = self.phys[at].members.clone();
        let bss = &self.scenario.bss[at];
        let lower = &mut self.world.stack.lower;
        let plan = lower.mac.beacon(members[0]).copied();
        let groups = signalling::sends_to_groups(self.scenario, bss);
        let schedules = Schedule::of(self.scenario, bss);
        let offset_us = bss
            .beacons
            .as_ref()
            .map_or(0.0, |beacons| beacons.offset_us);
        let offset = Instant::ZERO + Duration::from_secs_f64(offset_us / 1e6);
        for (number, radio) in members[1..].iter().enumerate() {
            let host = self.radios.node_of(*radio);
            let Some(save) = self.scenario.nodes[host.index()].power_save else {
                continue;
            };
            if plan.is_none() && save.twt.is_none() {
                continue;
            }
            // It wakes for every DTIM, so that it receives frames to groups.
            let period = u32::from(bss.group.dtim_period);
            let dtim = (groups || save.dtim).then_some(period);
            let beacons = save.listen_interval.into_iter().chain(dtim).min();
            let interval = plan.zip(beacons).map_or(Duration::MAX, |(plan, beacons)| {
                Duration::from_nanos(plan.interval.as_nanos() * u64::from(beacons))
            });
            let periods = save.twt.map(|twt| {
                let interval = Duration::from_secs_f64(twt.interval_us / 1e6);
                let shared = schedules.iter().find(|one| one.shared == twt);
                // The access point spreads the service periods of individual agreements.
                let part = match shared {
                    Some(schedule) => schedule.first_us * 1_000,
                    None => interval.as_nanos() / (members.len() as u64 - 1) * number as u64,
                };
                Periods {
                    first: Instant::ZERO + Duration::from_nanos(part),
                    interval,
                    length: Duration::from_secs_f64(twt.duration_us / 1e6),
                }
            });
            let dozing = Dozing {
                after: Duration::from_secs_f64(save.after_us / 1e6),
                periods,
                interval,
                awake: Duration::from_secs_f64(save.beacon_awake_us / 1e6),
                beacon: plan.map_or(Duration::ZERO, |plan| plan.length),
                told: plan.filter(|_| save.retrieval.is_some()).map(|plan| Told {
                    // The first beacon has the number 1.
                    first: offset + interval.saturating_sub(plan.interval),
                    turnaround: lower.medium.sifs(lower.medium.channel_of(*radio)),
                }),
            };
            lower.cx.observers.set_dozing(host, dozing);
            let pair = Pair {
                station: *radio,
                access_point: members[0],
            };
            let after = dozing.after;
            let listens = save.listen_interval.map(|listens| match save.dtim {
                true => listens.min(period),
                false => listens,
            });
            lower.mac.set_power_save(pair, after, listens, periods);
        }
    }

    fn add_beacons(&mut self, at: usize) {
        let bss = &self.scenario.bss[at];
        let Some(beacons) = &bss.beacons else {
            return;
        };
        let ap = self.phys[at].members[0];
        // Beacons contend with the shortest space and no back-off.
        let none = WindowBounds { min: 0, max: 0 };
        let contender = self.add_contender(ap, (1, false), none, (Duration::ZERO, None), 4);
        let vector = beacons
            .rate_mbps
            .and_then(|mbps| mac::legacy(bss, mbps))
            .unwrap_or_else(|| self.phys[at].basic.lowest(mac::band(bss)));
        let own = address::mac(self.radios.node_of(ap));
        let announcement = Announcement::of(self.scenario, bss, own);
        let octets = announcement.beacon_octets(0);
        let open = announcement.open_beacon_octets();
        let plan = BeaconPlan {
            contender,
            interval: Duration::from_secs_f64(beacons.interval_us / 1e6),
            length: phy::airtime(&vector, octets),
            vector,
            octets,
            open: open.map(|octets| (phy::airtime(&vector, octets), octets)),
            ssids: announcement.beacons(),
            bitmap_octets: 0,
            due: 0,
            waiting: 0,
        };
        self.world.stack.lower.mac.set_beacon(ap, plan);
        let first = Instant::ZERO + Duration::from_secs_f64(beacons.offset_us / 1e6);
        self.world
            .stack
            .lower
            .cx
            .events
            .schedule(first, Event::Beacon { access_point: ap });
    }
}
