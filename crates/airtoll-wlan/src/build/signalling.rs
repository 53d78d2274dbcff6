//! Links for frames at the lowest basic rate: management, EAPOL and group-addressed frames.

use airtoll_security::CipherSuite;

use super::joins::Source;
use crate::id::{LinkId, ModeId, NodeId, RadioId};
use crate::mac::{self, Mode, TxLink};
use crate::scenario::AddressResolution;
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

/// Adds the links for group-addressed frames, if `scenario` wants addresses resolved or agents
/// advertised: at the lowest basic rate, unacknowledged, under the access point's group cipher.
/// Gives the access points.
pub(super) fn add_group_links(world: &mut World, source: Source<'_>) -> Vec<NodeId> {
    let scenario = source.scenario;
    let mut access_points = Vec::new();
    for (at, bss) in scenario.bss.iter().enumerate() {
        let advertised = scenario.mobility_agents.iter().any(|a| a.bss == bss.name);
        if scenario.address_resolution != AddressResolution::Dynamic && !advertised {
            continue;
        }
        let Some(ap) = scenario.access_point_of(&bss.name) else {
            continue;
        };
        let number = source.index[ap.name.as_str()];
        let radio = RadioId::first_of(number);
        let mode = lowest_mode(world, source, at);
        let mac = &mut world.stack.lower.mac;
        let link = mac.add_link(TxLink::group(radio, mode, Some(ap.cipher)));
        mac.set_group_link(radio, link);
        access_points.push(number);
    }
    access_points
}

/// Gives group-addressed frames the group ciphers that stations and access points agree on, once
/// the associations are prepared.
pub(super) fn choose_group_ciphers(world: &mut World, access_points: &[NodeId]) {
    let mac = &mut world.stack.lower.mac;
    for &access_point in access_points {
        if let Some(link) = mac.group_link(RadioId::first_of(access_point))
            && mac.link(link).cipher() != CipherSuite::Open
            && let Some((suite, _)) = world.join.group_keys(access_point)
        {
            mac.set_cipher(link, suite);
        }
    }
}
