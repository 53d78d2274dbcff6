//! Levels of links at a fixed rate: the received level, and the level that the rate needs.

use airtoll_phy::{frame_success, noise_floor, ratio};
use airtoll_units::Db;

use super::link::Link;
use crate::loss_db;
use crate::scenario::{Node, Role, Scenario, Standard};

/// Octets of the packet whose frame is judged.
const PACKET_OCTETS: u32 = 1_500;
/// The rate needs the level at which this share of frames arrives.
const NEEDED_SUCCESS: f64 = 0.9;
/// A link is weak if fewer frames arrive.
const WEAK_SUCCESS: f64 = 0.5;

/// A link whose fixed rate needs a higher level.
#[derive(Debug, Clone, PartialEq)]
pub struct WeakLink {
    /// Name of the station.
    pub station: String,
    /// Level at the receiver, dBm.
    pub level_dbm: f64,
    /// Level at which nine of ten frames of 1500 octets arrive, dBm.
    pub needed_dbm: f64,
}

/// Links between stations and their access points that lose more than half of their frames of 1500
/// octets to noise. Links whose rate the simulator chooses are left out.
#[must_use]
pub fn weak_links(scenario: &Scenario) -> Vec<WeakLink> {
    if !scenario.radio.frame_errors {
        return Vec::new();
    }
    let stations = scenario.nodes.iter().filter(|n| n.role == Role::Station);
    stations
        .flat_map(|station| station.bsss().map(move |bss| (station, bss)))
        .filter_map(|(station, bss)| weak_link(scenario, station, bss))
        .collect()
}

fn weak_link(scenario: &Scenario, station: &Node, bss: &str) -> Option<WeakLink> {
    let ap = scenario.access_point_of(bss)?;
    let bss = scenario.bss.iter().find(|b| b.name == bss)?;
    let dsss_present = scenario
        .nodes
        .iter()
        .any(|n| n.role == Role::Station && n.standard.unwrap_or(bss.standard) == Standard::B);
    let link = Link::of(bss, station, dsss_present).ok()?;
    let width_hz = f64::from(link.data.width().mhz()) * 1e6;
    let noise = noise_floor(width_hz, Db(scenario.radio.noise_figure_db));
    let octets = PACKET_OCTETS + link.around_packet_octets;
    let success = |dbm: f64| frame_success(&link.data, ratio(Db(dbm - noise.0)), octets);
    let level_dbm = received_dbm(scenario, ap, station, &bss.name);
    if success(level_dbm) >= WEAK_SUCCESS {
        return None;
    }
    // Success grows with the level; a hundredth of a decibel is near enough.
    let (mut low, mut high) = (noise.0 - 20.0, noise.0 + 80.0);
    while high - low > 0.01 {
        let middle = f64::midpoint(low, high);
        if success(middle) < NEEDED_SUCCESS {
            low = middle;
        } else {
            high = middle;
        }
    }
    Some(WeakLink {
        station: station.name.clone(),
        level_dbm,
        needed_dbm: high,
    })
}

/// Level of the weaker direction between a station and its access point in a BSS, dBm.
fn received_dbm(scenario: &Scenario, ap: &Node, station: &Node, bss: &str) -> f64 {
    let radio = &scenario.radio;
    let budget = radio
        .budgets
        .iter()
        .filter(|b| b.bss.as_deref().is_none_or(|own| own == bss))
        .find(|b| b.nodes.contains(&ap.name) && b.nodes.contains(&station.name));
    let loss = loss_db(
        &radio.path_loss,
        &radio.walls,
        ap.position_m,
        station.position_m,
    );
    let power = ap.tx_power_dbm.min(station.tx_power_dbm);
    match budget {
        Some(b) => b
            .rssi_dbm
            .unwrap_or_else(|| power - b.loss_db.unwrap_or(loss)),
        None => power - loss,
    }
}
