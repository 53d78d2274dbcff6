//! Settings of devices: hosts with the costs of their work, and the policy of the associations.

use airtoll_handshakes::{Options, PolicySpec};
use airtoll_security::CipherSuite;
use airtoll_wlan::scenario::Host;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Devices whose processors take time for what their radios send and receive.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "MediumDevices")]
pub struct Devices {
    /// Devices with radios; a radio of none takes no time.
    pub radios: Vec<Device>,
    /// The host at the far end of the access points' cable; null: it takes no time.
    #[serde(default)]
    pub wired: Option<Host>,
    /// The authentication server; null: it takes no time.
    #[serde(default)]
    pub authentication_server: Option<Host>,
    /// Cipher of protected data frames.
    pub cipher: CipherSuite,
    /// Policy of the associations, by which the operations of a message are known.
    pub policy: PolicySpec,
    /// Choices that the policy leaves open.
    #[serde(default)]
    pub options: Options,
}

/// A device: one CPU and its cipher engines behind all of its radios.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "MediumDevice")]
pub struct Device {
    /// Names of its radios.
    pub radios: Vec<String>,
    /// Costs of its work; no network card and no limits of queues.
    pub host: Host,
}

impl Devices {
    /// All hosts: those with radios first, then the wired one and the authentication server.
    pub(crate) fn hosts(&self) -> impl Iterator<Item = &Host> {
        let radios = self.radios.iter().map(|device| &device.host);
        radios.chain(&self.wired).chain(&self.authentication_server)
    }
}
