//! Findings about a scenario that need no simulation.
//!
//! Takes a scenario; gives one row per finding of `airtoll-wlan`. Never adds a fact.

use airtoll_wlan::{Scenario, analytic, black_holes, fragmented, probe_traffic};
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

/// Probe traffic of stations that pass by, and its share of the air without waiting.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ProbeTrafficRow {
    /// Length of a Probe Request with FCS, octets.
    pub request_octets: u32,
    /// Airtime of a Probe Request, s.
    pub request_s: f64,
    /// The responses of all access points that sense it.
    pub responses: Vec<ProbeResponseRow>,
    /// Share of the air that requests, responses and their Acks take.
    pub share: f64,
}

/// The Probe Response of one network.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ProbeResponseRow {
    /// The BSS of its access point.
    pub bss: String,
    /// Whether that is a BSS whose results count.
    pub own: bool,
    /// Length with FCS, octets.
    pub octets: u32,
    /// Airtime of one attempt, s.
    pub length_s: f64,
    /// Attempts where its station has left.
    pub attempts: u8,
}

/// Probe traffic of a scenario; `None` where no station passes by.
#[must_use]
pub fn probe_traffic_row(scenario: &Scenario) -> Option<ProbeTrafficRow> {
    let found = probe_traffic(scenario)?;
    let share = found.share();
    let neighbours = |name: &str| {
        let mut all = scenario.bss.iter();
        all.any(|bss| bss.name == name && bss.neighbour.is_some())
    };
    let rows = found.responses.into_iter().map(|one| ProbeResponseRow {
        own: !neighbours(&one.bss),
        bss: one.bss,
        octets: one.octets,
        length_s: one.length.as_secs_f64(),
        attempts: one.attempts,
    });
    Some(ProbeTrafficRow {
        request_octets: found.request_octets,
        request_s: found.request.as_secs_f64(),
        responses: rows.collect(),
        share,
    })
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
