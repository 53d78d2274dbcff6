//! Group-addressed traffic of nodes, and how an access point passes it on.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::check::{Checked, invalid, positive, unique};
use super::flow::IpVersion;
use super::{Role, Scenario};

/// Messages to a group that a node sends again and again, as a Poisson process.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GroupSource {
    /// Name, used once; it names the random stream.
    pub name: String,
    /// Node that sends: a station or a wired host.
    pub node: String,
    /// Mean time between two messages, s.
    pub mean_interval_s: f64,
    /// Its message.
    pub message: GroupMessage,
}

/// A message to a group.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum GroupMessage {
    /// Announcement of multicast DNS (RFC 6762).
    Mdns {
        /// DNS message, 35 to 1232 octets.
        payload_octets: u32,
        /// Network protocol.
        #[serde(default)]
        ip: IpVersion,
    },
    /// Request for the address of a host: ARP (RFC 826), or over IPv6 a Neighbour Solicitation
    /// (RFC 4861, 4.3). The host, or an access point for it, answers.
    AddressRequest {
        /// The host: a station or a wired host.
        target: String,
        /// Network protocol.
        #[serde(default)]
        ip: IpVersion,
    },
    /// Router Advertisement (RFC 4861, 4.2) with link-layer address, MTU and one prefix.
    RouterAdvertisement {},
}

/// How an access point passes group-addressed frames on, and what it forwards between stations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct GroupDelivery {
    /// Each station gets an acknowledged copy of its own at its own rate, as with
    /// `multicast_to_unicast` of Linux's mac80211.
    pub multicast_to_unicast: bool,
    /// Each station has a group key of its own, so that no frame reaches two stations: without
    /// `multicast_to_unicast` the access point passes nothing on to groups (Wi-Fi Alliance, Passpoint:
    /// DGAF Disable).
    pub per_client_keys: bool,
    /// Nothing is forwarded between the stations of the BSS.
    pub isolation: bool,
    /// The access point answers address requests for its stations and passes none on to them
    /// (IEEE 802.11-2020, 11.21.14).
    pub proxy_arp: bool,
    /// Beacons from one DTIM to the next, 1 to 255. Where a station of the BSS dozes, frames to groups
    /// wait for the DTIM.
    pub dtim_period: u8,
}

impl Default for GroupDelivery {
    fn default() -> Self {
        Self {
            multicast_to_unicast: false,
            per_client_keys: false,
            isolation: false,
            proxy_arp: false,
            dtim_period: 1,
        }
    }
}

/// DNS messages of announcements: a header, a name and a record of one octet at least; above the
/// upper end IPv6 packets may be fragmented (RFC 6762 section 17).
const MDNS_OCTETS: std::ops::RangeInclusive<u32> = 35..=1232;

impl Scenario {
    pub(super) fn check_groups(&self) -> Checked {
        let bridge = self.nodes.iter().find(|n| n.four_address);
        for (i, bss) in self.bss.iter().enumerate() {
            let at = format!("bss[{i}].group");
            if bss.group.dtim_period == 0 {
                return invalid(&format!("{at}.dtim_period"), 0, "1 to 255");
            }
            let own_way = GroupDelivery {
                dtim_period: 1,
                ..bss.group
            };
            if own_way == GroupDelivery::default() {
                continue;
            }
            if let Some(bridge) = bridge {
                let allowed = format!("the default: {} is a wireless bridge", bridge.name);
                return invalid(&at, "set", allowed);
            }
            if self
                .mobility_agents
                .iter()
                .any(|agent| agent.bss == bss.name)
            {
                let allowed = "the default: a mobility agent advertises itself to groups";
                return invalid(&at, "set", allowed);
            }
        }
        unique(
            "group_traffic",
            self.group_traffic.iter().map(|source| source.name.as_str()),
        )?;
        for (i, source) in self.group_traffic.iter().enumerate() {
            let at = format!("group_traffic[{i}]");
            let host = |field: &str, name: &str| {
                let node = self.node(field, name)?;
                if node.role == Role::AccessPoint {
                    return invalid(field, name, "a station or a wired host");
                }
                Ok(())
            };
            host(&format!("{at}.node"), &source.node)?;
            if let Some(bridge) = bridge {
                let allowed = format!("no entry: {} is a wireless bridge", bridge.name);
                return invalid(&at, &source.name, allowed);
            }
            positive(&format!("{at}.mean_interval_s"), source.mean_interval_s)?;
            match &source.message {
                GroupMessage::Mdns { payload_octets, .. } => {
                    if !MDNS_OCTETS.contains(payload_octets) {
                        let field = format!("{at}.message.payload_octets");
                        return invalid(&field, payload_octets, "35 to 1232");
                    }
                    // Headers of IPv6 and UDP; messages to groups are not fragmented.
                    let least = self.nodes.iter().map(|node| node.mtu_octets).min();
                    if let Some(mtu) = least.filter(|mtu| payload_octets + 48 > *mtu) {
                        let field = format!("{at}.message.payload_octets");
                        let allowed = format!("at most {} at an MTU of {mtu}", mtu - 48);
                        return invalid(&field, payload_octets, allowed);
                    }
                }
                GroupMessage::AddressRequest { target, .. } => {
                    let field = format!("{at}.message.target");
                    host(&field, target)?;
                    if *target == source.node {
                        return invalid(&field, target, "another node");
                    }
                }
                GroupMessage::RouterAdvertisement {} => {}
            }
        }
        Ok(())
    }
}
