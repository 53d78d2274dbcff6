//! The fully resolved scenario: what one simulated trial is made of, in numbers and enums.
//!
//! Takes JSON (or the same structures built in Rust), gives a checked [`Scenario`]. Never looks
//! anything up: device profiles, policies and study defaults are resolved before.
//! Unknown fields are errors, and every error names the path of the field.
//!
//! Field names end in their unit: `_s`, `_us`, `_ns`, `_octets`, `_bps`, `_mbps`, `_db`, `_dbm`,
//! `_m`, `_w`. Nodes, BSSs and flows refer to one another by name.

mod association;
mod bss;
mod builder;
mod check;
mod cost;
mod flow;
mod group;
mod handover;
mod multi_link;
mod nic;
mod node;
mod ofdma;
mod passing;
mod radio;
mod schedule;
mod single_radio;

pub use crate::application::Pattern;
pub use crate::application::parameters::*;
pub use crate::transport::{CongestionControl, HystartRule, LossDetection, TcpOptions, TcpSystem};
pub(crate) use check::rates_of;
pub(crate) use schedule::Schedule;

pub use association::{Association, Reassociation};
pub use bss::{
    Aggregation, Announced, Band, Beacons, Bss, Coding, DsssPreamble, EdcaParameters, Neighbour,
    Protection, Rate, SaeFlood, Standard, TxopProtection,
};
pub use builder::ScenarioBuilder;
pub use cost::Cost;
pub use flow::{AccessCategory, Flow, IpVersion, Transport, UdpOptions};
pub use group::{GroupDelivery, GroupMessage, GroupSource};
pub use handover::{Handover, HandoverMethod, MobilityAgent, Scan, Walk};
pub use nic::{Meanwhile, Nic, NicStage, Overlap, StageKind};
pub use node::{
    CipherCost, CipherDelimiters, CryptoEngine, Discipline, Duty, Energy, Host, Node, PowerSave,
    Queue, Retrieval, Role, TargetWakeTime, Tunnel, WireDiscipline, WiredLink,
};
pub use ofdma::Ofdma;
pub use passing::PassersBy;
pub use radio::{Fading, Interferer, LinkBudget, PathLoss, Presence, Radio, Wall};
pub use single_radio::{CategoryLinks, LinkDirection, SingleRadio};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One trial to simulate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// Simulated length of the trial, warm-up included, seconds.
    pub duration_s: f64,
    /// Left out of every metric at the start, seconds; shorter than `duration_s`.
    #[serde(default)]
    pub warm_up_s: f64,
    /// Whether to give one throughput, delay, jitter and loss row per flow and second as well.
    #[serde(default)]
    pub series: bool,
    /// Propagation and receivers.
    #[serde(default)]
    pub radio: Radio,
    /// The basic service sets. BSSs with the same `channel` contend with one another.
    pub bss: Vec<Bss>,
    /// Stations, access points and wired hosts.
    pub nodes: Vec<Node>,
    /// Wired links between access points and wired hosts; packets take the shortest way.
    #[serde(default)]
    pub links: Vec<WiredLink>,
    /// Stations that join in simulated time. Traffic starts when all of them have but those that join
    /// during it, and `duration_s` counts from then; stations not listed are joined from the start.
    #[serde(default)]
    pub associations: Vec<Association>,
    /// Stations that have not joined by then have failed to, s; during the traffic it counts from the
    /// latest `start_us`.
    #[serde(default = "association_limit")]
    pub association_limit_s: f64,
    /// Stations that move to another BSS during the trial.
    #[serde(default)]
    pub handovers: Vec<Handover>,
    /// Agents of Mobile IP that advertise themselves.
    #[serde(default)]
    pub mobility_agents: Vec<MobilityAgent>,
    /// How hosts learn one another's link-layer addresses.
    #[serde(default)]
    pub address_resolution: AddressResolution,
    /// Group-addressed traffic of nodes.
    #[serde(default)]
    pub group_traffic: Vec<GroupSource>,
    /// The traffic.
    pub flows: Vec<Flow>,
}

/// How hosts learn one another's link-layer addresses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AddressResolution {
    /// They know them from the start.
    #[default]
    Static,
    /// They ask at first contact: ARP (RFC 826), Neighbour Discovery (RFC 4861).
    Dynamic,
}

const fn association_limit() -> f64 {
    120.0
}

/// Why a scenario cannot be simulated. The message names the field and what is allowed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ScenarioError {
    /// The JSON text does not describe a scenario.
    #[error("scenario field {field}: {problem}")]
    Malformed {
        /// Path of the field, e.g. `nodes[2].host.crypto.engine`.
        field: String,
        /// Message of the JSON reader.
        problem: String,
    },
    /// A field has an invalid value.
    #[error("scenario field {field} is {value}: {allowed}")]
    Invalid {
        /// Path of the field.
        field: String,
        /// The value found.
        value: String,
        /// The allowed values.
        allowed: String,
    },
    /// Hosts and queues hold more packets than a trial may keep in memory.
    #[error(
        "{packets} packets wait at once: the flows offer far more than hosts and air carry; lower \
         the offered rate, the number of flows or the duration"
    )]
    Overfull {
        /// Packets in memory.
        packets: usize,
    },
    /// The caller asked to stop.
    #[error("the simulation was interrupted")]
    Interrupted,
}

impl Scenario {
    /// Whether a node is in a neighbour's BSS.
    pub(crate) fn is_neighbours(&self, node: &Node) -> bool {
        let own = |bss: &&Bss| node.is_in(&bss.name);
        self.bss
            .iter()
            .any(|bss| bss.neighbour.is_some() && own(&bss))
    }

    /// Whether the channel of some neighbour overlaps others in part.
    pub(crate) fn overlaps_in_part(&self) -> bool {
        let differs = |one: &Bss, other: &Bss| {
            one.channel == other.channel
                && (one.width_mhz, one.primary) != (other.width_mhz, other.primary)
        };
        let mut neighbours = self.bss.iter().filter(|bss| bss.neighbour.is_some());
        neighbours.any(|one| self.bss.iter().any(|other| differs(one, other)))
    }

    /// Whether a flow is in a neighbour's BSS.
    pub(crate) fn carries_for_neighbours(&self, flow: &Flow) -> bool {
        let source = self.nodes.iter().find(|node| node.name == flow.source);
        source.is_some_and(|node| self.is_neighbours(node))
    }

    /// The access point of a BSS.
    pub(crate) fn access_point_of(&self, bss: &str) -> Option<&Node> {
        let own = |n: &&Node| n.role == Role::AccessPoint && n.is_in(bss);
        self.nodes.iter().find(own)
    }

    /// Reads and checks a scenario.
    ///
    /// # Errors
    /// [`ScenarioError::Malformed`] where the text is no scenario, [`ScenarioError::Invalid`]
    /// where a value is invalid; both name the field.
    pub fn from_json(text: &str) -> Result<Self, ScenarioError> {
        let mut reader = serde_json::Deserializer::from_str(text);
        let scenario: Self = serde_path_to_error::deserialize(&mut reader).map_err(|error| {
            ScenarioError::Malformed {
                field: error.path().to_string(),
                problem: error.inner().to_string(),
            }
        })?;
        scenario.check()?;
        Ok(scenario)
    }
}

#[cfg(test)]
mod tests;
