//! Options of a report on captures.

use std::net::IpAddr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Options of a report on captures: the window of time and the sessions that it lists.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct CaptureOptions {
    /// Begin of the window: Unix seconds, or seconds after the first frame with `relative`; null:
    /// the first frame.
    pub since_s: Option<f64>,
    /// End of the window; null: the last frame.
    pub until_s: Option<f64>,
    /// Whether the window counts from the first frame.
    pub relative: bool,
    /// IP address and MAC address of stations.
    pub owners: Vec<(IpAddr, String)>,
    /// MAC addresses of the stations whose sessions are listed; empty: all.
    pub stations: Vec<String>,
    /// BSSIDs of the APs whose sessions are listed; empty: all.
    pub aps: Vec<String>,
    /// SSIDs of the networks whose sessions are listed; empty: all.
    pub ssids: Vec<String>,
    /// Whether the longest join comes first.
    pub slowest: bool,
    /// Most sessions that are listed; null: all.
    pub most: Option<usize>,
    /// Whether each session has its frames.
    pub steps: bool,
}

impl Default for CaptureOptions {
    fn default() -> Self {
        Self {
            since_s: None,
            until_s: None,
            relative: false,
            owners: Vec::new(),
            stations: Vec::new(),
            aps: Vec::new(),
            ssids: Vec::new(),
            slowest: false,
            most: None,
            steps: true,
        }
    }
}
