//! From the hand-overs and mobility agents of a scenario to [`crate::roam::Roam`]. The associations
//! are prepared before.

use airtoll_handshakes::{MobileIp, Party};
use airtoll_phy::{self as phy, TxVector};
use airtoll_units::Duration;

use super::joins::{self, Terms, access_point_of};
use super::signalling;
use super::source::Source;
use crate::address;
use crate::announce::{Announcement, StationPhy};
use crate::event::Event;
use crate::id::{ModeId, NodeId, Pair, SessionId, TunnelId};
use crate::mac::{self, Mode};
use crate::net::{Takes, TunnelEnd};
use crate::roam::{Agent, Binding, Faults, Later, Plan, ScanElements, Scanning, Walking};
use crate::scenario::{Handover, HandoverMethod, Rate, Scan, ScenarioError};
use crate::world::World;

/// Adds the hand-overs of a scenario to `world`.
///
/// # Errors
/// [`ScenarioError::Invalid`] as for associations.
pub(super) fn prepare(world: &mut World, source: Source<'_>) -> Result<(), ScenarioError> {
    for (number, handover) in source.scenario.handovers.iter().enumerate() {
        let plan = plan(world, source, number, handover)?;
        world.roam.add(plan);
    }
    Ok(())
}

fn plan(
    world: &mut World,
    source: Source<'_>,
    number: usize,
    handover: &Handover,
) -> Result<Plan, ScenarioError> {
    let Source {
        scenario,
        index,
        streams,
        ..
    } = source;
    let association = &handover.association;
    let station = index[handover.station.as_str()];
    let previous = world.roam.last_planned(station);
    let before = match previous {
        Some((_, session)) => session,
        None => match world.join.first_of(station) {
            Some(session) => session,
            None => {
                return Err(ScenarioError::Invalid {
                    field: format!("handovers[{number}].station"),
                    value: handover.station.clone(),
                    allowed: "a station with an association".to_owned(),
                });
            }
        },
    };
    let field = format!("handovers[{number}].association");
    let terms = Terms::after(source, handover);
    let session = joins::add(world, source, &field, &terms)?;
    let ahead = if handover.method == HandoverMethod::PreAuthentication {
        let from = world.join.radios_of(before).station;
        let session = joins::add_ahead(world, source, &field, &terms, from)?;
        Some((session, Duration::from_secs_f64(handover.ahead_s)))
    } else {
        None
    };
    let later = (handover.method != HandoverMethod::Full).then(|| Later {
        policy: association.policy.clone(),
        options: association.options.clone(),
        generator: streams
            .named(&match previous {
                None => format!("transition/{}", handover.station),
                Some(_) => format!("transition/{}/{number}", handover.station),
            })
            .into_generator(),
    });
    let scanning = handover
        .scan
        .map(|plan| scanning(world, source, session, (&handover.bss, plan)));
    let mobile_ip = association.options.mobile_ip;
    let home = world.join.party_of(session, Party::HomeAgent);
    let foreign = world.join.party_of(session, Party::ForeignAgent);
    let agents = home.zip(foreign).filter(|_| mobile_ip == MobileIp::Foreign);
    let binding = agents.map(|(home, foreign)| Binding {
        home: add_empty_tunnel(world, home, foreign),
        foreign: add_empty_tunnel(world, foreign, home),
    });
    let radio = world.join.radios_of(before).station;
    Ok(Plan {
        station,
        queue_limit: world.stack.lower.mac.queue_limit(radio) as usize,
        previous: previous.map(|(id, ..)| id),
        session,
        before,
        ahead,
        later,
        method: handover.method,
        at: handover.at_s.map(Duration::from_secs_f64),
        walk: handover
            .walk
            .map(|walk| Walking::new(walk, scenario.nodes[station.index()].position_m)),
        scan: Duration::from_secs_f64(handover.scan_s),
        scanning,
        again: Duration::from_secs_f64(handover.again_s),
        tunnel: handover.tunnel,
        binding,
        faults: faults(world, source, number, handover),
    })
}

/// The faults of a hand-over.
fn faults(world: &mut World, source: Source<'_>, number: usize, handover: &Handover) -> Faults {
    let scenario = source.scenario;
    let station = source.index[handover.station.as_str()];
    let own = &scenario.nodes[station.index()];
    let earlier = &scenario.handovers[..number];
    let mut visited = earlier.iter().filter(|h| h.station == handover.station);
    let comes_back =
        own.bss.as_ref() == Some(&handover.bss) || visited.any(|before| before.bss == handover.bss);
    let legacy = (comes_back && handover.legacy_rate_s > 0.0)
        .then(|| legacy_mode(world, source, handover))
        .flatten();
    Faults {
        address: Duration::from_secs_f64(handover.stale_address_s),
        block_ack: Duration::from_secs_f64(handover.missing_block_ack_s),
        legacy: legacy.map(|mode| (mode, Duration::from_secs_f64(handover.legacy_rate_s))),
    }
}

/// Adds the mode of the non-HT reference rate of a station's highest MCS in the BSS of a hand-over;
/// `None` where its frames have no MCS.
fn legacy_mode(world: &mut World, source: Source<'_>, handover: &Handover) -> Option<ModeId> {
    let station = source.index[handover.station.as_str()];
    let node = &source.scenario.nodes[station.index()];
    let mut all = source.scenario.bss.iter().enumerate();
    let (at, bss) = all.find(|(_, bss)| bss.name == handover.bss)?;
    let standard = node.standard.unwrap_or(bss.standard);
    let vector = match node.rate_in(bss) {
        Rate::Fixed { .. } => None,
        Rate::FixedMcs { mcs, streams } => mac::mcs(bss, standard, mcs, streams).ok(),
        Rate::Aarf { streams } | Rate::Minstrel { streams } => {
            let choices = mac::choices(
                bss,
                standard,
                node.cipher.permits_high_throughput(),
                streams,
            );
            choices.into_iter().max_by_key(|v| v.bit_rate().0)
        }
    };
    let highest = vector.filter(|_| node.cipher.permits_high_throughput())?;
    let legacy = TxVector::ofdm(phy::non_ht_reference_rate(&highest), mac::band(bss));
    let with_b = source.radios.with_b(&source.radios.members(&bss.name));
    let basic = mac::basic_rates(bss, with_b);
    let made = Mode::new(legacy, (at, bss), &mac::timing(bss, with_b), basic);
    Some(world.stack.lower.mac.add_mode(made))
}

/// The scans of a hand-over to a BSS by a plan; `session` is that at its access point.
fn scanning(
    world: &mut World,
    source: Source<'_>,
    session: SessionId,
    (bss, plan): (&str, Scan),
) -> Scanning {
    let scenario = source.scenario;
    let at = scenario.bss.iter().position(|b| b.name == bss);
    let at = at.unwrap_or(0);
    let radio = world.join.radios_of(session).station;
    let mode = signalling::lowest_mode(world, source, at);
    let link = signalling::add_group_link(world, radio, mode);
    let medium = &world.stack.lower.medium;
    let channel = medium.channel_of(radio);
    let difs = medium.sifs(channel) + medium.slot(channel) * 2;
    let vector = *world.stack.lower.mac.mode(mode).vector();
    let bss = &scenario.bss[at];
    let Pair {
        station,
        access_point,
    } = world.join.ends_of(session);
    let answer = Announcement::of(scenario, bss, address::mac(access_point)).probe_response();
    let own = StationPhy::of(bss, &scenario.nodes[station.index()]);
    let request = own.probe_request(&world.join.link_of(session).ssid);
    Scanning::new(plan, link, vector, difs, ScanElements { request, answer })
}

/// Adds a direction of IP in IP that takes no packets yet; gives its node and number.
fn add_empty_tunnel(world: &mut World, node: NodeId, peer: NodeId) -> (NodeId, TunnelId) {
    let end = TunnelEnd::ip_in_ip(peer, Takes::Network(Vec::new()));
    (node, world.stack.net.add_tunnel(node, end))
}

/// Adds the mobility agents of a scenario to `world`.
pub(super) fn add_agents(world: &mut World, source: Source<'_>) {
    for agent in &source.scenario.mobility_agents {
        let Some(access_point) = access_point_of(source, &agent.bss) else {
            continue;
        };
        let node = source.index[agent.node.as_str()];
        let made = Agent::new(
            node,
            access_point,
            agent.foreign,
            agent.period_s,
            agent.offset_s,
        );
        let (at, event) = world.roam.add_agent(made);
        world.stack.lower.cx.schedule(at, Event::Roam(event));
    }
}
