//! Options of a TCP connection that a scenario states.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// TCP options of a flow, for both directions. An option that is null has the value that the systems at
/// its ends have (`host.tcp`).
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct TcpOptions {
    /// Maximum segment size without options, octets; null: MTU less IP and TCP headers.
    pub mss_octets: Option<u32>,
    /// Receive window, octets; above 65,535 window scaling is on. Null: the receiver's.
    pub window_octets: Option<u32>,
    /// Congestion control; null: the sender's.
    pub congestion_control: Option<CongestionControl>,
    /// Initial congestion window, segments (RFC 6928); null: the sender's.
    pub initial_window_segments: Option<u32>,
    /// Segments per acknowledgement (RFC 5681 section 4.2); 1: every segment is acknowledged at once.
    /// Null: the receiver's.
    pub delayed_ack_segments: Option<u8>,
    /// Longest delay of an acknowledgement, ms; null: the receiver's.
    pub delayed_ack_timeout_ms: Option<f64>,
    /// Segments that arrive at one instant in order, as those of an A-MPDU, draw one acknowledgement
    /// (generic receive offload). Null: the receiver's, and false with `delayed_ack_segments`.
    pub receive_offload: Option<bool>,
    /// Timestamps (RFC 7323): 12 header octets. Null: where both ends have them.
    pub timestamps: Option<bool>,
    /// Selective acknowledgements (RFC 2018); null: where both ends have them.
    pub sack: Option<bool>,
    /// When slow start ends without a loss; null: as the sender's, and as the congestion control has it.
    pub hystart: Option<HystartRule>,
    /// How the sender finds losses; null: the sender's.
    pub loss_detection: Option<LossDetection>,
    /// Smallest retransmission time-out, ms; null: the sender's.
    pub min_rto_ms: Option<f64>,
    /// Segments are as long as the interface allows, and a tunnel's outer packets are fragmented. False:
    /// the ends know the path MTU (RFC 1191), and segments fit into every tunnel.
    pub no_path_mtu_discovery: bool,
    /// After three time-outs in a row a sender takes segments of 1024 octets for a black hole of path
    /// MTU discovery (RFC 4821, 7.6; Linux with `net.ipv4.tcp_mtu_probing = 1`). It does not probe for
    /// longer ones.
    pub mtu_probing: bool,
}

/// Congestion control.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CongestionControl {
    /// Additive increase, halving (RFC 5681, RFC 6582).
    NewReno,
    /// CUBIC (RFC 9438).
    Cubic,
    /// BBR version 1 with pacing (draft-cardwell-iccrg-bbr-congestion-control-00).
    Bbr,
}

/// When slow start ends without a loss.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum HystartRule {
    /// Never.
    Off,
    /// HyStart of Linux's CUBIC: a train of acknowledgements half a round trip long, or a longer
    /// round trip.
    Linux,
    /// HyStart++ (RFC 9406): a round trip that stays longer for five rounds.
    #[serde(rename = "rfc-9406")]
    Rfc9406,
}

/// How a sender with selective acknowledgements finds losses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LossDetection {
    /// By octets and ranges reported above (RFC 6675).
    DuplicateAcks,
    /// By the time of transmission, with a reordering window (RACK), and a probe of the tail (TLP;
    /// RFC 8985).
    Rack,
}
