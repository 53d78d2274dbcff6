//! Links for frames at the lowest basic rate: management, EAPOL and group-addressed frames.

use std::collections::{HashMap, VecDeque};

use airtoll_security::CipherSuite;

use crate::mac::aggregation::TxLink;
use crate::mac::fragmentation::Division;
use crate::mac::mode::{self, Mode};
use crate::mac::rate_control::RateControl;
use crate::scenario::{AddressResolution, Role, Scenario, Standard};
use crate::world::World;

/// Adds the mode of a BSS's lowest basic rate; gives its number.
pub(super) fn lowest_mode(world: &mut World, scenario: &Scenario, at: usize) -> u32 {
    let bss = &scenario.bss[at];
    let with_b = scenario
        .nodes
        .iter()
        .any(|n| n.bss.as_deref() == Some(&bss.name) && n.standard == Some(Standard::B));
    let basic = mode::basic_rates(bss, with_b);
    let lowest = basic.lowest(mode::band(bss));
    let mut made = Mode::new(lowest, bss, &mode::timing(bss, with_b), basic);
    made.bss = at;
    world.stack.lower.mac.modes.push(made);
    (world.stack.lower.mac.modes.len() - 1) as u32
}

/// A link without cipher and QoS on a mode.
pub(super) fn link(from: u32, peer: u32, mode: u32, max_attempts: u8) -> TxLink {
    TxLink {
        from,
        peer,
        cipher: CipherSuite::Open,
        qos: false,
        four_address: false,
        rate: RateControl::Fixed(mode),
        amsdu_octets: 0,
        max_attempts,
        division: Division::new(None, 0, 0),
        rts_octets: u32::MAX,
        signalling: true,
        group: false,
        queue: VecDeque::new(),
        window: VecDeque::new(),
        next_sequence: 0,
        request_due: false,
        agreement: false,
        taken_early: 0,
        listed: false,
        success: (u32::MAX, 0, 0.0),
        barred: false,
        refused: false,
        dozing: false,
    }
}

/// Adds a link for group-addressed management frames of a node; gives its number.
pub(super) fn add_group_link(world: &mut World, node: u32, mode: u32) -> u32 {
    let number = world.stack.lower.mac.links.len() as u32;
    world.stack.lower.mac.links.push(TxLink {
        group: true,
        ..link(node, node, mode, 1)
    });
    number
}

/// Adds the links for group-addressed frames, if `scenario` wants addresses resolved or agents
/// advertised: at the lowest basic rate, unacknowledged, under the access point's group cipher.
pub(super) fn add_group_links(world: &mut World, scenario: &Scenario, index: &HashMap<&str, u32>) {
    world.stack.net.resolution.dynamic = scenario.address_resolution == AddressResolution::Dynamic;
    for (at, bss) in scenario.bss.iter().enumerate() {
        let advertised = scenario.mobility_agents.iter().any(|a| a.bss == bss.name);
        if !world.stack.net.resolution.dynamic && !advertised {
            continue;
        }
        let ap = scenario
            .nodes
            .iter()
            .find(|n| n.role == Role::AccessPoint && n.bss.as_deref() == Some(&bss.name));
        let Some(ap) = ap else { continue };
        let number = index[ap.name.as_str()];
        let mode = lowest_mode(world, scenario, at);
        world
            .stack
            .net
            .resolution
            .groups
            .insert(number, world.stack.lower.mac.links.len() as u32);
        let plain = link(number, number, mode, 1);
        world.stack.lower.mac.links.push(TxLink {
            cipher: ap.cipher,
            signalling: false,
            group: true,
            ..plain
        });
    }
}

/// Gives group-addressed frames the group ciphers that stations and access points agree on, once
/// the associations are prepared.
pub(super) fn choose_group_ciphers(world: &mut World) {
    for (access_point, link) in world.stack.net.resolution.groups.clone() {
        let link = &mut world.stack.lower.mac.links[link as usize];
        if link.cipher != CipherSuite::Open
            && let Some((suite, _)) = world.join.group_keys(access_point)
        {
            link.cipher = suite;
        }
    }
}
