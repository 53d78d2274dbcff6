//! Flows: who sends what to whom.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::application::{Pattern, SocketKind};
use crate::transport::TcpOptions;

/// One flow of application data.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Flow {
    /// Name in results.
    pub name: String,
    /// Station that results of this flow are filed under; null: none.
    #[serde(default)]
    pub station: Option<String>,
    /// Node that sends (and that asks, in request-response).
    pub source: String,
    /// Node that receives.
    pub destination: String,
    /// Network protocol.
    #[serde(default)]
    pub ip: IpVersion,
    /// Transport protocol and its options.
    pub transport: Transport,
    /// Packets of the application, and their times.
    pub pattern: Pattern,
    /// When it starts, s.
    #[serde(default)]
    pub start_s: f64,
    /// When the application stops sending, s; null: never.
    #[serde(default)]
    pub stop_s: Option<f64>,
    /// Access category under EDCA.
    #[serde(default)]
    pub access_category: AccessCategory,
}

/// Network protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum IpVersion {
    /// IPv4, 20 header octets.
    #[default]
    Ipv4,
    /// IPv6, 40 header octets (8 more in each fragment).
    Ipv6,
}

impl IpVersion {
    /// Octets of its header (RFC 791 section 3.1, RFC 8200 section 3).
    pub(crate) fn header_octets(self) -> u32 {
        match self {
            Self::Ipv4 => 20,
            Self::Ipv6 => 40,
        }
    }
}

/// EDCA access category.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AccessCategory {
    /// AC_BK.
    Background,
    /// AC_BE.
    #[default]
    BestEffort,
    /// AC_VI.
    Video,
    /// AC_VO.
    Voice,
}

/// Transport protocol.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "protocol", rename_all = "snake_case")]
pub enum Transport {
    /// UDP.
    Udp(UdpOptions),
    /// TCP.
    Tcp(TcpOptions),
}

impl Transport {
    /// The kind of socket that applications write to.
    pub(crate) fn socket_kind(&self) -> SocketKind {
        match self {
            Self::Udp(_) => SocketKind::Datagrams,
            Self::Tcp(_) => SocketKind::Stream,
        }
    }
}

/// UDP options.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct UdpOptions {
    /// Send buffer, octets of payload between application and radio; null: as much as the transmit
    /// queue and a full aggregate take.
    pub socket_buffer_octets: Option<u32>,
}
