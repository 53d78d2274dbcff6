//! Stations that join in simulated time: what they negotiate, and with whom.

use airtoll_handshakes::{Options, PolicySpec};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A station that authenticates, associates and negotiates everything else that its policy asks
/// for: before the trial's traffic starts, or during it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Association {
    /// The station; its access point is that of its BSS.
    pub station: String,
    /// The policy that it negotiates.
    pub policy: PolicySpec,
    /// Choices that the policy leaves open, and injected faults.
    #[serde(default)]
    pub options: Options,
    /// Host on the wires of a station with `four_address` that negotiates the tunnels for the station;
    /// null: the station itself.
    #[serde(default)]
    pub host: Option<String>,
    /// The start counts from that of the traffic, which does not wait for this station. Flows from and
    /// to the station start when it has joined.
    #[serde(default)]
    pub during_traffic: bool,
    /// Earliest start, us.
    #[serde(default)]
    pub start_us: u64,
    /// The start is drawn uniformly from this long after the earliest, us.
    #[serde(default)]
    pub spread_us: u64,
    /// A station whose join failed begins again, until the limit of the associations.
    #[serde(default)]
    pub tries_again: bool,
    /// The station maps its passphrase to a key before each join (IEEE 802.11-2020, J.4.1).
    #[serde(default)]
    pub maps_passphrase: bool,
    /// Node with the RADIUS server; needed with an EAP method.
    #[serde(default)]
    pub authentication_server: Option<String>,
    /// Nodes of the RADIUS proxies between access point and server, that of the access point first; as
    /// many as `options.radius_proxies`.
    #[serde(default)]
    pub radius_proxies: Vec<String>,
    /// Node at the far end of the tunnels; needed with tunnels.
    #[serde(default)]
    pub gateway: Option<String>,
    /// Node with the home agent; needed with Mobile IP.
    #[serde(default)]
    pub home_agent: Option<String>,
    /// Node with the foreign agent; needed with Mobile IP abroad.
    #[serde(default)]
    pub foreign_agent: Option<String>,
}

/// The negotiation of a station that hands over with its next access point.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Reassociation {
    /// The policy that it negotiates.
    pub policy: PolicySpec,
    /// Choices that the policy leaves open, and injected faults.
    #[serde(default)]
    pub options: Options,
    /// Node with the RADIUS server; needed with an EAP method.
    #[serde(default)]
    pub authentication_server: Option<String>,
    /// Nodes of the RADIUS proxies between access point and server, that of the access point first; as
    /// many as `options.radius_proxies`.
    #[serde(default)]
    pub radius_proxies: Vec<String>,
    /// Node at the far end of the tunnels; needed with tunnels.
    #[serde(default)]
    pub gateway: Option<String>,
    /// Node with the home agent; needed with Mobile IP.
    #[serde(default)]
    pub home_agent: Option<String>,
    /// Node with the foreign agent; needed with Mobile IP abroad.
    #[serde(default)]
    pub foreign_agent: Option<String>,
}
