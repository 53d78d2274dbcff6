//! Flows: who sends what to whom.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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

/// UDP options.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct UdpOptions {
    /// Send buffer, octets of payload between application and radio; null: as much as the transmit
    /// queue and a full aggregate take.
    pub socket_buffer_octets: Option<u32>,
}

/// Packets of the application, and their times.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum Pattern {
    /// Saturated: a packet is always ready.
    Saturated {
        /// UDP payload or length of one TCP write, octets.
        payload_octets: u32,
    },
    /// A fixed offered rate.
    Paced {
        /// UDP payload or length of one TCP write, octets.
        payload_octets: u32,
        /// Offered rate of payload, bit/s.
        rate_bps: f64,
        /// Spacing of the writes.
        #[serde(default)]
        arrivals: Arrivals,
    },
    /// A given amount, as fast as it goes (FTP-like).
    Transfer {
        /// Total, octets.
        octets: u64,
        /// UDP payload or length of one TCP write, octets.
        payload_octets: u32,
    },
    /// A request, a response, a pause, and again (RPC- or HTTP-like).
    RequestResponse {
        /// Request, octets.
        request_octets: u32,
        /// Response, octets.
        response_octets: u32,
        /// Time the server takes to answer, s.
        #[serde(default)]
        server_s: f64,
        /// Pause between a response and the next request, s.
        #[serde(default)]
        think_s: f64,
        /// How many exchanges; null: until the end.
        #[serde(default)]
        count: Option<u32>,
        /// UDP: repeat the request if there is no answer within this time, s.
        #[serde(default = "retry")]
        retry_s: f64,
    },
    /// DNS lookups one after the other: over UDP, or with TCP over TLS (RFC 7858).
    Dns(Dns),
    /// One direction of a voice call: 160 octets of G.711 and 12 of RTP every 20 ms by default.
    Voip {
        /// Voice and RTP octets per packet.
        #[serde(default = "voip_octets")]
        payload_octets: u32,
        /// Spacing of packets, ms.
        #[serde(default = "voip_interval")]
        interval_ms: f64,
    },
}

/// DNS lookups. Over TLS every lookup opens a TCP connection and a TLS 1.3 session of its own. The
/// response time of a lookup is from its start, the TCP handshake included, to the whole answer.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Dns {
    /// DNS message of the query, octets. Default 44: header 12, `www.example.com` 17, type and class
    /// 4 (RFC 1035 section 4.1), EDNS(0) option record 11 (RFC 6891).
    pub query_octets: u32,
    /// DNS message of the answer, octets. Default 60: the query with one A record of 16.
    pub answer_octets: u32,
    /// Time that the resolver takes to answer, s.
    pub server_s: f64,
    /// Pause between an answer and the next lookup, s.
    pub think_s: f64,
    /// Number of lookups; null: until the end.
    pub count: Option<u32>,
    /// UDP: repeat the query if there is no answer within this time, s (5 in `resolv.conf`).
    pub retry_s: f64,
    /// TLS record of the ClientHello, octets. Default: RFC 8448 section 3.
    pub client_hello_octets: u32,
    /// TLS records from ServerHello to the server's Finished, octets. Default: RFC 8448 section 3
    /// (95 and 679, with a certificate of 432 octets).
    pub server_flight_octets: u32,
    /// TLS record of the client's Finished, octets. Default: RFC 8448 section 3.
    pub client_finished_octets: u32,
}

impl Default for Dns {
    fn default() -> Self {
        Self {
            query_octets: 44,
            answer_octets: 60,
            server_s: 0.0,
            think_s: 0.0,
            count: None,
            retry_s: 5.0,
            client_hello_octets: 201,
            server_flight_octets: 95 + 679,
            client_finished_octets: 58,
        }
    }
}

/// Spacing of paced writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Arrivals {
    /// Equal spacing.
    #[default]
    Constant,
    /// Exponential spacing.
    Poisson,
}

fn retry() -> f64 {
    1.0
}

fn voip_octets() -> u32 {
    172
}

fn voip_interval() -> f64 {
    20.0
}
