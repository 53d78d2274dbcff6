//! Links for frames at the lowest basic rate: management, EAPOL and group-addressed frames.

use airtoll_security::CipherSuite;

use super::source::Source;
use crate::id::{LinkId, ModeId, NodeId, RadioId};
use crate::join::weakest;
use crate::mac::{self, Mode, SignLinks, TxLink};
use crate::scenario::{AddressResolution, Bss, Node, Scenario};
use crate::world::World;

/// Adds the mode of a BSS's lowest basic rate; gives its number.
pub(super) fn lowest_mode(world: &mut World, source: Source<'_>, at: usize) -> ModeId {
    let bss = &source.scenario.bss[at];
    let with_b = source.radios.with_b(&source.radios.members(&bss.name));
    let basic = mac::basic_rates(bss, with_b);
    let lowest = basic.lowest(mac::band(bss));
    let made = Mode::new(lowest, (at, bss), &mac::timing(bss, with_b), basic);
    world.stack.lower.mac.add_mode(made)
}

/// Adds a link for group-addressed management frames of a radio; gives its number.
pub(super) fn add_group_link(world: &mut World, radio: RadioId, mode: ModeId) -> LinkId {
    let made = TxLink::group(radio, mode, None);
    world.stack.lower.mac.add_link(made)
}

/// Whether data frames to groups may go over the air of a BSS.
pub(super) fn sends_to_groups(scenario: &Scenario, bss: &Bss) -> bool {
    scenario.address_resolution == AddressResolution::Dynamic
        || !scenario.group_traffic.is_empty()
        || scenario.mobility_agents.iter().any(|a| a.bss == bss.name)
}

/// The group cipher of a BSS whose stations have joined from the start: the weakest that a link of the
/// access point or a station has.
fn group_cipher(scenario: &Scenario, bss: &Bss, access_point: &Node) -> CipherSuite {
    let stations = scenario
        .nodes
        .iter()
        .filter(|n| n.bss.as_ref() == Some(&bss.name));
    let announced = bss.security.iter().flat_map(|security| &security.links);
    let ciphers = announced.map(|link| link.group_cipher);
    let ciphers = ciphers.chain(stations.map(|station| station.cipher));
    let encrypted = ciphers.filter(|_| access_point.cipher != CipherSuite::Open);
    weakest(encrypted).unwrap_or(access_point.cipher)
}

/// Adds the links for group-addressed frames, if any are sent: at the lowest basic rate, unacknowledged, under the access point's group cipher.
/// Gives the access points.
pub(super) fn add_group_links(world: &mut World, source: Source<'_>) -> Vec<NodeId> {
    let scenario = source.scenario;
    let mut access_points = Vec::new();
    for (at, bss) in scenario.bss.iter().enumerate() {
        if !sends_to_groups(scenario, bss) {
            continue;
        }
        let Some(ap) = scenario.access_point_of(&bss.name) else {
            continue;
        };
        let number = source.index[ap.name.as_str()];
        let radio = RadioId::first_of(number);
        let mode = lowest_mode(world, source, at);
        let cipher = group_cipher(scenario, bss, ap);
        let mac = &mut world.stack.lower.mac;
        let link = mac.add_link(TxLink::group(radio, mode, Some(cipher)));
        mac.set_group_link(radio, link);
        let mut stations = scenario
            .nodes
            .iter()
            .filter(|n| n.bss.as_ref() == Some(&bss.name));
        if bss.beacons.is_some() && stations.any(|n| n.power_save.is_some()) {
            mac.hold_groups(radio, u32::from(bss.group.dtim_period));
        }
        access_points.push(number);
    }
    access_points
}

/// Adds the links for frames of power save, at the lowest basic rate, and numbers the stations of each BSS
/// that have them from 1 on.
pub(super) fn add_retrievals(world: &mut World, source: Source<'_>) {
    let scenario = source.scenario;
    for (at, bss) in scenario.bss.iter().enumerate() {
        let members = source.radios.members(&bss.name);
        let mut mode = None;
        for (number, &station) in members.iter().enumerate().skip(1) {
            let node = &scenario.nodes[source.radios.node_of(station).index()];
            let Some(retrieval) = node.power_save.and_then(|save| save.retrieval) else {
                continue;
            };
            let mode = *mode.get_or_insert_with(|| lowest_mode(world, source, at));
            let mac = &mut world.stack.lower.mac;
            let up = mac.add_link(TxLink::plain(station, members[0], mode, bss.max_attempts));
            let down = mac.add_link(TxLink::plain(members[0], station, mode, bss.max_attempts));
            let links = SignLinks { up, down };
            mac.set_retrieval(station, retrieval, links, number as u16);
        }
    }
}

/// Gives group-addressed frames the group ciphers that stations and access points agree on, once
/// the associations are prepared.
pub(super) fn choose_group_ciphers(world: &mut World, access_points: &[NodeId]) {
    let mac = &mut world.stack.lower.mac;
    for &access_point in access_points {
        if let Some(link) = mac.group_link(RadioId::first_of(access_point))
            && mac.link(link).cipher() != CipherSuite::Open
            && let Some((suite, _)) = world.join.group_keys(access_point, 0)
        {
            mac.set_cipher(link, suite);
        }
    }
}
