//! Hand-overs: stations that leave one BSS for another in mid-trial.

use serde::{Deserialize, Serialize};

use super::Association;

/// How a station gets in at the new access point.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum HandoverMethod {
    /// Everything that the policy negotiates, again (with `cached_pmk` in the options: without
    /// SAE or EAP).
    #[default]
    Full,
    /// Fast BSS transition over the air (IEEE 802.11-2020, 13.5.2).
    FastTransition,
    /// Fast BSS transition over the DS, asked for through the old access point before the station
    /// leaves (IEEE 802.11-2020, 13.5.3).
    FastTransitionDs,
    /// EAP with the new access point through the old one before the station leaves, and the PMK
    /// from it (IEEE 802.11-2020, 12.6.10.2); everything again if that is not done by then.
    PreAuthentication,
}

/// One hand-over.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Handover {
    /// The station that moves; it has an association of its own.
    pub station: String,
    /// When it leaves, counted from the start of the traffic, s.
    pub at_s: f64,
    /// How long it scans after that, s.
    #[serde(default)]
    pub scan_s: f64,
    /// With pre-authentication: how long before it leaves it begins, s; at the earliest when the
    /// traffic does.
    #[serde(default = "ahead")]
    pub ahead_s: f64,
    /// How it gets in.
    #[serde(default)]
    pub method: HandoverMethod,
    /// What it negotiates at the new access point. The association's `station` is the node that
    /// stands for the moving station in the new BSS: a station of that BSS without flows.
    pub association: Association,
}

const fn ahead() -> f64 {
    1.0
}
