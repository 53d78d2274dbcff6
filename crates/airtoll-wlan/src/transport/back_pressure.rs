//! The rules by which the transmit queue of its own host holds a TCP sender back.

use serde::{Deserialize, Serialize};

/// The rule by which a full local queue holds a sender back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BackPressure {
    /// No rule: a segment that finds the queue full is lost, and the sender learns it as any loss.
    None,
    /// The sender waits while the queue is full.
    Waits,
    /// The same, and its window shrinks as for a loss (Linux's `tcp_enter_cwr` after a refused
    /// transmission).
    Reduces,
    /// TCP small queues: a sender has a limited amount below it.
    SmallQueues(SmallQueues),
}

/// The limit of Linux's TCP small queues (`tcp_small_queue_check`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SmallQueues {
    /// Upper limit, octets (`net.ipv4.tcp_limit_output_bytes`).
    pub octets: u64,
    /// The limit is what the pacing rate sends in 2^-shift seconds, at least two segments
    /// (`sk_pacing_shift`); `None`: the upper limit alone.
    pub pacing_shift: Option<u32>,
    /// Octets are those of the kernel's buffers, one segment in each, instead of those in the
    /// segments.
    pub buffers: bool,
}
