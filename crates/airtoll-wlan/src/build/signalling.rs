//! Links for frames at the lowest basic rate: management, EAPOL and group-addressed frames.

use std::collections::HashMap;

use airtoll_security::CipherSuite;

use crate::id::{LinkId, ModeId, NodeId};
use crate::mac::{self, Mode, TxLink};
use crate::scenario::{AddressResolution, Role, Scenario, Standard};
use crate::world::World;

/// Adds the mode of a BSS's lowest basic rate; gives its number.
pub(super) fn lowest_mode(world: &mut World, scenario: &Scenario, at: usize) -> ModeId {
    let bss = &scenario.bss[at];
    let with_b = scenario
        .nodes
        .iter()
        .any(|n| n.bss.as_deref() == Some(&bss.name) && n.standard == Some(Standard::B));
    let basic = mac::basic_rates(bss, with_b);
    let lowest = basic.lowest(mac::band(bss));
    let mut made = Mode::new(lowest, bss, &mac::timing(bss, with_b), basic);
    made.bss = at;
    world.stack.lower.mac.add_mode(made)
}

/// Adds a link for group-addressed management frames of a node; gives its number.
pub(super) fn add_group_link(world: &mut World, node: NodeId, mode: ModeId) -> LinkId {
    let mut made = TxLink::plain(node, node, mode, 1);
    made.group = true;
    world.stack.lower.mac.add_link(made)
}

/// Adds the links for group-addressed frames, if `scenario` wants addresses resolved or agents
/// advertised: at the lowest basic rate, unacknowledged, under the access point's group cipher.
/// Gives the access points.
pub(super) fn add_group_links(
    world: &mut World,
    scenario: &Scenario,
    index: &HashMap<&str, NodeId>,
) -> Vec<NodeId> {
    let mut access_points = Vec::new();
    for (at, bss) in scenario.bss.iter().enumerate() {
        let advertised = scenario.mobility_agents.iter().any(|a| a.bss == bss.name);
        if scenario.address_resolution != AddressResolution::Dynamic && !advertised {
            continue;
        }
        let ap = scenario
            .nodes
            .iter()
            .find(|n| n.role == Role::AccessPoint && n.bss.as_deref() == Some(&bss.name));
        let Some(ap) = ap else { continue };
        let number = index[ap.name.as_str()];
        let mode = lowest_mode(world, scenario, at);
        let mac = &mut world.stack.lower.mac;
        let mut made = TxLink::plain(number, number, mode, 1);
        made.cipher = ap.cipher;
        made.signalling = false;
        made.group = true;
        let link = mac.add_link(made);
        mac.set_group_link(number, link);
        access_points.push(number);
    }
    access_points
}

/// Gives group-addressed frames the group ciphers that stations and access points agree on, once
/// the associations are prepared.
pub(super) fn choose_group_ciphers(world: &mut World, access_points: &[NodeId]) {
    let mac = &mut world.stack.lower.mac;
    for &access_point in access_points {
        if let Some(link) = mac.group_link(access_point)
            && mac.link(link).cipher != CipherSuite::Open
            && let Some((suite, _)) = world.join.group_keys(access_point)
        {
            mac.set_cipher(link, suite);
        }
    }
}
