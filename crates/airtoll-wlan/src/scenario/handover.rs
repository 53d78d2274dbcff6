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
    /// When it leaves, counted from the start of the traffic, s; null with `walk`.
    #[serde(default)]
    pub at_s: Option<f64>,
    /// It leaves where the level says so, on its way from its own position; null: at `at_s`.
    #[serde(default)]
    pub walk: Option<Walk>,
    /// How long it scans after that, s; 0 with `scan`.
    #[serde(default)]
    pub scan_s: f64,
    /// It scans with frames; null: for `scan_s`.
    #[serde(default)]
    pub scan: Option<Scan>,
    /// How long after a scan in vain it scans again, s.
    #[serde(default = "ahead")]
    pub again_s: f64,
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

/// A walk in a straight line that begins with the traffic. Levels follow positions but where
/// `radio.budgets` has the pair; who senses whom is decided at the scenario's positions, for the node
/// that stands for the station in the new BSS best at the end of the walk.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Walk {
    /// Where it ends, metres.
    pub to_m: [f64; 3],
    /// Speed, m/s.
    pub speed_m_s: f64,
    /// The station looks for another access point where its own is heard below this, dBm.
    pub threshold_dbm: f64,
    /// It moves where the other one is heard this much better, dB.
    pub hysteresis_db: f64,
}

/// A scan (IEEE 802.11-2020, 11.1.4.3).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scan {
    /// Channels, that of the new access point among them and last; the others are empty.
    pub channels: u32,
    /// Listens for beacons in the place of sending probe requests.
    #[serde(default)]
    pub passive: bool,
    /// How long an active scan waits on a channel that stays silent, s.
    pub min_channel_s: f64,
    /// How long a scan stays on a channel where it heard something, a passive one on each, s.
    pub max_channel_s: f64,
}

const fn ahead() -> f64 {
    1.0
}
