//! Stations that pass by: links for their requests and for the responses of all access points on their
//! channel.

use airtoll_units::Duration;

use super::signalling;
use super::source::Source;
use crate::mac::{Passer, Probing, Responder, Rhythm, TxLink};
use crate::probe_traffic;
use crate::scenario::PassersBy;
use crate::world::World;

/// Adds the probe traffic of a scenario, if stations pass by.
pub(super) fn prepare(world: &mut World, source: Source<'_>) {
    let Source {
        scenario,
        index,
        radios,
        ..
    } = source;
    let Some((passing, plan)) = scenario.passers_by() else {
        return;
    };
    let answering: Vec<_> = scenario.answering(passing).collect();
    let own = answering.iter().find(|(_, bss, _)| bss.neighbour.is_none());
    let Some(&(own, ..)) = own else {
        return;
    };
    // Requests have the lowest basic rate of the own BSS.
    let mode = signalling::lowest_mode(world, source, own);
    let members = radios.members(&passing.name);
    let passers: Vec<Passer> = members
        .iter()
        .map(|&radio| Passer {
            radio,
            requests: signalling::add_group_link(world, radio, mode),
        })
        .collect();
    let mut responders = Vec::new();
    for (at, bss, access_point) in answering {
        let number = index[access_point.name.as_str()];
        let Some(radio) = radios.of(number, &bss.name) else {
            continue;
        };
        let mode = signalling::lowest_mode(world, source, at);
        let attempts = bss.response_attempts(plan);
        let mac = &mut world.stack.lower.mac;
        let to = |passer: &Passer| mac.add_link(TxLink::plain(radio, passer.radio, mode, attempts));
        responders.push(Responder {
            radio,
            links: passers.iter().map(to).collect(),
            responses: probe_traffic::responses_of(scenario, bss, number),
        });
    }
    let octets = probe_traffic::request_octets(scenario, passing);
    let probing = Probing::new(rhythm(source, plan), passers, octets, responders);
    let lower = &mut world.stack.lower;
    lower.mac.set_probing(&mut lower.cx, probing);
}

fn rhythm(source: Source<'_>, plan: &PassersBy) -> Rhythm {
    let streams = source.streams;
    Rhythm {
        mean_interval_s: 1.0 / plan.per_s,
        leaves_ratio: plan.leaves_ratio,
        most_delay: Duration::from_secs_f64(plan.response_delay_us / 1e6),
        times: streams.named("probes/times"),
        stays: streams.named("probes/stays"),
        delays: streams.named("probes/delays"),
    }
}
