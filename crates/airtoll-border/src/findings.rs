//! Findings about a scenario that need no simulation.
//!
//! Takes a scenario; gives one row per finding of `airtoll-wlan`. Never adds a fact.

use airtoll_wlan::{Scenario, analytic, black_holes, fragmented};
use schemars::JsonSchema;
use serde::Serialize;

/// A station whose fixed rate loses most frames of 1500 octets.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct WeakLinkRow {
    /// Its name.
    pub station: String,
    /// Level of the weaker direction, dBm.
    pub level_dbm: f64,
    /// Level that the rate needs, dBm.
    pub needed_dbm: f64,
}

/// A flow of TCP whose full packets vanish.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct BlackHoleRow {
    /// Its name.
    pub flow: String,
    /// Length of its full packets, octets.
    pub octets: u32,
    /// MTU of the path, octets.
    pub mtu_octets: u32,
    /// Whether the sender finds shorter segments.
    pub found: bool,
}

/// A flow of UDP whose datagrams travel in fragments.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FragmentedFlowRow {
    /// Its name.
    pub flow: String,
    /// Payload of its datagrams, octets.
    pub payload_octets: u32,
    /// The longest payload that travels in one packet, octets.
    pub fits_octets: u32,
    /// The least MTU at which its datagrams are whole, octets.
    pub mtu_octets: u32,
    /// Whether they would be whole without a tunnel.
    pub by_tunnel: bool,
}

/// Stations whose fixed rate needs a higher level, over interference where there is some.
#[must_use]
pub fn weak_link_rows(scenario: &Scenario, interference_dbm: Option<f64>) -> Vec<WeakLinkRow> {
    let found = analytic::weak_links(scenario, interference_dbm).into_iter();
    let rows = found.map(|link| WeakLinkRow {
        station: link.station,
        level_dbm: link.level_dbm,
        needed_dbm: link.needed_dbm,
    });
    rows.collect()
}

/// Flows of TCP whose full packets an access point drops in silence.
#[must_use]
pub fn black_hole_rows(scenario: &Scenario) -> Vec<BlackHoleRow> {
    let found = black_holes(scenario).into_iter();
    let rows = found.map(|hole| BlackHoleRow {
        flow: hole.flow,
        octets: hole.octets,
        mtu_octets: hole.mtu_octets,
        found: hole.found,
    });
    rows.collect()
}

/// Flows of UDP whose datagrams travel in fragments.
#[must_use]
pub fn fragmented_flow_rows(scenario: &Scenario) -> Vec<FragmentedFlowRow> {
    let found = fragmented(scenario).into_iter();
    let rows = found.map(|cut| FragmentedFlowRow {
        flow: cut.flow,
        payload_octets: cut.payload_octets,
        fits_octets: cut.fits_octets,
        mtu_octets: cut.mtu_octets,
        by_tunnel: cut.by_tunnel,
    });
    rows.collect()
}
