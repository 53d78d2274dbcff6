//! Hand-overs of a scenario, made ready.
//!
//! Takes a scenario whose associations are prepared; gives its world the hand-overs, one after the
//! other for each station. Never begins one.

use std::collections::{HashMap, VecDeque};

use airtoll_engine::Streams;
use airtoll_handshakes::MobileIp;
use airtoll_units::Duration;

use super::dozing::Dozing;
use super::scan::Scanning;
use super::walk::Walking;
use super::{Handover, Later, mobile_ip};
use crate::association;
use crate::scenario::{HandoverMethod, Scenario, ScenarioError};
use crate::world::World;

/// Adds the hand-overs of `scenario` to a world whose associations are prepared.
///
/// # Errors
/// [`ScenarioError::Invalid`] as for associations.
pub(crate) fn prepare(
    world: &mut World,
    scenario: &Scenario,
    index: &HashMap<&str, u32>,
    streams: &Streams,
) -> Result<(), ScenarioError> {
    for (number, handover) in scenario.handovers.iter().enumerate() {
        let station = index[handover.station.as_str()];
        let there = index[handover.association.station.as_str()];
        let own = |h: &Handover| h.station == station;
        let previous = world.mobility.handovers.iter().rposition(own);
        let (from, before) = match previous {
            Some(at) => {
                world.mobility.handovers[at].next = Some(number as u32);
                let previous = &world.mobility.handovers[at];
                (previous.there, previous.join)
            }
            None => (station, world.association.of(station).unwrap_or(0)),
        };
        let field = format!("handovers[{number}].association");
        let join = association::add(
            world,
            scenario,
            index,
            streams,
            &field,
            &handover.association,
            station,
        )?;
        let ahead = if handover.method == HandoverMethod::PreAuthentication {
            let number = association::add_ahead(
                world,
                scenario,
                index,
                streams,
                &field,
                &handover.association,
                (from, station),
            )?;
            Some((number, Duration::from_secs_f64(handover.ahead_s)))
        } else {
            None
        };
        let later = (handover.method != HandoverMethod::Full).then(|| Later {
            method: handover.method,
            scenario: handover.association.clone(),
            generator: streams
                .named(&match previous {
                    None => format!("transition/{}", handover.station),
                    Some(_) => format!("transition/{}/{number}", handover.station),
                })
                .into_generator(),
        });
        let scanning = handover
            .scan
            .map(|plan| Scanning::new(world, scenario, there, plan));
        let mobile_ip = handover.association.options.mobile_ip;
        let binding = mobile_ip::prepare(world, join, mobile_ip);
        if there != station {
            world.stack.net.nodes[there as usize].tunnels =
                world.stack.net.nodes[station as usize].tunnels.clone();
            world.mobility.hosts.insert(there, station);
        }
        let ways = world.stack.net.routes.iter();
        world.mobility.handovers.push(Handover {
            station,
            from,
            there,
            way: ways.map(|ways| ways[there as usize]).collect(),
            next: None,
            previous: previous.map(|at| at as u32),
            overdue: Vec::new(),
            join,
            before,
            at: handover.at_s.map(Duration::from_secs_f64),
            walk: handover
                .walk
                .map(|walk| Walking::new(walk, scenario.nodes[station as usize].position_m)),
            scan: Duration::from_secs_f64(handover.scan_s),
            scanning,
            scans: 0,
            again: Duration::from_secs_f64(handover.again_s),
            given_up: ([f64::NEG_INFINITY; 2], Duration::ZERO),
            levels: None,
            found: None,
            ahead,
            later,
            pmk: None,
            queue_limit: world.stack.lower.mac.nodes[station as usize].queue_limit as usize,
            tunnel: handover.tunnel,
            binding,
            keeps_address: mobile_ip != MobileIp::Off,
            unheard: false,
            over_the_ds: handover.method == HandoverMethod::FastTransitionDs,
            asked: None,
            left: None,
            joined: None,
            delivered: (None, None),
            lost: 0,
            dozing: Dozing::default(),
            held: VecDeque::new(),
        });
    }
    Ok(())
}
