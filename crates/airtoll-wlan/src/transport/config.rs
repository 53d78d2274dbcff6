//! The parameters of one direction of a TCP connection.

use serde::{Deserialize, Serialize};

use super::back_pressure::{BackPressure, SmallQueues};
use super::options::{CongestionControl, HystartRule, LossDetection};

/// When a small segment may be sent while data is outstanding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Nagle {
    /// Always (`TCP_NODELAY`).
    Off,
    /// Only when nothing is outstanding (RFC 896, RFC 9293 section 3.7.4).
    On,
    /// Unless a small segment is outstanding (Minshall's variant, which Linux uses).
    Minshall,
}

/// Quantity that the minimum time-out bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RtoFloor {
    /// The whole time-out: max(floor, SRTT + 4 RTTVAR) (RFC 6298 section 2.4).
    Whole,
    /// The variation term: SRTT + max(floor, 4 RTTVAR) (Linux).
    Variation,
}

/// How far one acknowledgement opens the window in slow start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SlowStartGrowth {
    /// At most one segment for each acknowledgement (RFC 5681 equation 2).
    OneSegment,
    /// At most two segments for each acknowledgement (RFC 3465, L = 2).
    TwoSegments,
    /// Every octet acknowledged (Linux since 3.x, ns-3).
    AllAcknowledged,
}

/// One TCP connection's parameters, both ends. Times in milliseconds, sizes in octets.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TcpConfig {
    /// Maximum segment size as announced (RFC 6691: options not subtracted), octets. 1460 fits
    /// IPv4 in 1500 octets, 1440 IPv6.
    pub mss: u32,
    /// Congestion control.
    pub congestion: CongestionControl,
    /// Initial window, segments (10: RFC 6928; 2 to 4: RFC 3390).
    pub initial_window_segments: u32,
    /// Receive buffer, octets: the limit of the advertised window.
    pub receive_window: u64,
    /// Window at first, octets, of a receiver that tunes it up to `receive_window` (Linux, dynamic
    /// right-sizing); `None`: the window is `receive_window` from the start.
    pub untuned_window: Option<u64>,
    /// Send buffer, octets, a second limit on what is outstanding; `None`: never the limit.
    pub send_buffer: Option<u64>,
    /// Window scale option (RFC 7323); without it the window ends at 65,535 octets.
    pub window_scaling: bool,
    /// Timestamps option (RFC 7323): 12 octets in each segment, samples also from retransmissions.
    pub timestamps: bool,
    /// Selective acknowledgement (RFC 2018, RFC 6675).
    pub sack: bool,
    /// Duplicate SACK reports (RFC 2883).
    pub dsack: bool,
    /// One new segment for each of the first two duplicate acknowledgements (RFC 3042).
    pub limited_transmit: bool,
    /// Proportional rate reduction during recovery (RFC 6937 with its conservative bound).
    pub prr: bool,
    /// Restores the window when a retransmission proves needless: by timestamps (RFC 3522), or by
    /// duplicate reports for everything retransmitted (RFC 3708).
    pub undo: bool,
    /// When slow start ends without a loss.
    pub hystart: HystartRule,
    /// How losses are found where SACK is on.
    pub loss_detection: LossDetection,
    /// With RACK, a segment probes the tail when no acknowledgement comes (RFC 8985 section 7).
    pub tail_loss_probe: bool,
    /// CUBIC's fast convergence (RFC 9438 section 4.7).
    pub fast_convergence: bool,
    /// CUBIC grows at least 5 % each round trip while it knows no earlier maximum, as Linux and ns-3 do;
    /// RFC 9438 has no such floor.
    pub cubic_blind_growth: bool,
    /// CUBIC's Reno-friendly window grows as Reno's beyond the window before the last reduction (RFC
    /// 9438 section 4.3); Linux keeps the smaller increase.
    pub cubic_full_increase: bool,
    /// Growth for each acknowledgement in slow start.
    pub slow_start_growth: SlowStartGrowth,
    /// Duplicate acknowledgements that mean loss (3: RFC 5681).
    pub duplicate_threshold: u32,
    /// Minimum time-out, ms (1000: RFC 6298; 200: Linux; 300: Windows).
    pub min_rto_ms: u32,
    /// Quantity that the minimum bounds.
    pub rto_floor: RtoFloor,
    /// Time-out before the first sample, ms.
    pub initial_rto_ms: u32,
    /// Upper bound of the time-out, ms.
    pub max_rto_ms: u32,
    /// Small-segment rule.
    pub nagle: Nagle,
    /// Falls back to the initial window after an idle time-out (RFC 5681 section 4.1).
    pub idle_restart: bool,
    /// Full-sized segments that draw an acknowledgement (2: RFC 9293; 1: none is delayed).
    pub ack_every: u32,
    /// Delayed-acknowledgement time-out, ms.
    pub delayed_ack_ms: u32,
    /// Segments acknowledged at once at the start of a connection (Linux quick acks: 16).
    pub quick_ack_segments: u32,
    /// Shortens segments after time-outs in a row, as in a black hole of path MTU discovery.
    pub mtu_probing: bool,
    /// Segments that arrive at one instant in order draw one acknowledgement (Linux's GRO).
    pub receive_offload: bool,
    /// How the transmit queue of its own host holds a sender back.
    pub back_pressure: BackPressure,
    /// Opens with a three-way handshake; otherwise both ends start established.
    pub handshake: bool,
}

impl Default for TcpConfig {
    fn default() -> Self {
        Self {
            mss: 1460,
            congestion: CongestionControl::Cubic,
            initial_window_segments: 10,
            receive_window: 131_072,
            untuned_window: None,
            send_buffer: None,
            window_scaling: true,
            timestamps: false,
            sack: true,
            dsack: true,
            limited_transmit: true,
            prr: true,
            undo: true,
            hystart: HystartRule::Off,
            loss_detection: LossDetection::DuplicateAcks,
            tail_loss_probe: true,
            fast_convergence: true,
            cubic_blind_growth: true,
            cubic_full_increase: true,
            slow_start_growth: SlowStartGrowth::AllAcknowledged,
            duplicate_threshold: 3,
            min_rto_ms: 200,
            rto_floor: RtoFloor::Variation,
            initial_rto_ms: 1_000,
            max_rto_ms: 120_000,
            nagle: Nagle::Minshall,
            idle_restart: true,
            ack_every: 2,
            delayed_ack_ms: 40,
            quick_ack_segments: 0,
            mtu_probing: false,
            receive_offload: false,
            back_pressure: BackPressure::SmallQueues(SmallQueues {
                octets: 1 << 20,
                pacing_shift: Some(7),
                buffers: false,
            }),
            handshake: false,
        }
    }
}

/// A TCP configuration that cannot work.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("tcp.{field} = {value}: {allowed}")]
pub struct InvalidTcpConfig {
    /// Name of the field.
    pub field: &'static str,
    /// The value found.
    pub value: String,
    /// Allowed values.
    pub allowed: &'static str,
}

impl TcpConfig {
    /// Payload octets of a full segment: the MSS less the timestamps option (RFC 6691).
    pub fn segment_payload(&self) -> u32 {
        self.mss - if self.timestamps { 12 } else { 0 }
    }

    /// Octets of the window that the receiver announces first.
    pub fn first_window(&self) -> u64 {
        let most = if self.window_scaling {
            u64::MAX
        } else {
            65_535
        };
        let window = self.untuned_window.unwrap_or(u64::MAX);
        window.min(self.receive_window).min(most)
    }

    /// Whether losses are found by time: RACK needs SACK (RFC 8985 section 3.1).
    pub fn finds_by_time(&self) -> bool {
        self.sack && self.loss_detection == LossDetection::Rack
    }

    /// Refuses values with which no connection makes progress.
    ///
    /// # Errors
    /// The first field found out of range.
    pub fn validate(&self) -> Result<(), InvalidTcpConfig> {
        let bounds: [(&'static str, u64, u64, u64, &'static str); 7] = [
            ("mss", u64::from(self.mss), 88, 65_495, "88 to 65495 octets"),
            (
                "initial_window_segments",
                u64::from(self.initial_window_segments),
                1,
                1_000,
                "1 to 1000 segments",
            ),
            (
                "receive_window",
                self.receive_window,
                u64::from(self.mss),
                1 << 30,
                "one MSS to 2^30 octets",
            ),
            (
                "send_buffer",
                self.send_buffer.unwrap_or(u64::from(self.mss)),
                1,
                u64::MAX,
                "at least one octet",
            ),
            (
                "duplicate_threshold",
                u64::from(self.duplicate_threshold),
                1,
                300,
                "1 to 300",
            ),
            (
                "ack_every",
                u64::from(self.ack_every),
                1,
                64,
                "1 to 64 segments",
            ),
            (
                "initial_rto_ms",
                u64::from(self.initial_rto_ms),
                1,
                u64::from(self.max_rto_ms),
                "1 ms to max_rto_ms",
            ),
        ];
        for (field, value, low, high, allowed) in bounds {
            if value < low || value > high {
                return Err(InvalidTcpConfig {
                    field,
                    value: value.to_string(),
                    allowed,
                });
            }
        }
        let linux = self.hystart == HystartRule::Linux;
        let off = self.hystart == HystartRule::Off;
        let allowed = match self.congestion {
            CongestionControl::Cubic => None,
            CongestionControl::NewReno if linux => Some("off or rfc-9406 with newreno"),
            CongestionControl::NewReno => None,
            CongestionControl::Bbr if off => None,
            CongestionControl::Bbr => Some("off with bbr, which has a startup of its own"),
        };
        if let Some(allowed) = allowed {
            return Err(InvalidTcpConfig {
                field: "hystart",
                value: if linux { "linux" } else { "rfc-9406" }.to_owned(),
                allowed,
            });
        }
        if self.loss_detection == LossDetection::Rack && !self.sack {
            return Err(InvalidTcpConfig {
                field: "loss_detection",
                value: "rack".to_owned(),
                allowed: "duplicate-acks without SACK (RFC 8985 section 3.1)",
            });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_a_partial_object_and_refuses_unknown_fields() {
        let config: TcpConfig =
            serde_json::from_str(r#"{"congestion":"new_reno","receive_window":65535,"mss":536}"#)
                .unwrap();
        assert_eq!(config.congestion, CongestionControl::NewReno);
        assert_eq!(config.initial_window_segments, 10);
        assert!(config.validate().is_ok());
        let error = serde_json::from_str::<TcpConfig>(r#"{"mms":536}"#).unwrap_err();
        assert!(error.to_string().contains("mms"), "{error}");
    }

    #[test]
    fn round_trips_through_json() {
        let config = TcpConfig {
            send_buffer: Some(8192),
            slow_start_growth: SlowStartGrowth::OneSegment,
            ..TcpConfig::default()
        };
        let text = serde_json::to_string(&config).unwrap();
        assert_eq!(serde_json::from_str::<TcpConfig>(&text).unwrap(), config);
    }

    #[test]
    fn names_the_field_that_cannot_work() {
        let config = TcpConfig {
            receive_window: 100,
            ..TcpConfig::default()
        };
        assert_eq!(
            config.validate().unwrap_err().to_string(),
            "tcp.receive_window = 100: one MSS to 2^30 octets"
        );
    }
}
