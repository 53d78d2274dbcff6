//! Propagation and receivers.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Propagation and receivers, common to all nodes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Radio {
    /// Path loss between positions.
    pub path_loss: PathLoss,
    /// Walls; each adds its loss to every straight line of sight that crosses it.
    pub walls: Vec<Wall>,
    /// Explicit budgets of pairs of nodes, in both directions; they override positions.
    pub budgets: Vec<LinkBudget>,
    /// Pairs of nodes (names) that receive nothing of one another, not even as interference.
    pub hidden: Vec<[String; 2]>,
    /// Receiver noise figure, dB over kTB.
    pub noise_figure_db: f64,
    /// Power from which a frame makes the medium busy, dBm.
    pub carrier_sense_dbm: f64,
    /// Standard deviation of log-normal shadowing, dB: the level of every pair of nodes differs from
    /// its mean by one draw per trial, the same in both directions; 0: none.
    pub shadowing_db: f64,
    /// Fading of the levels with time; null: none.
    pub fading: Option<Fading>,
    /// Sources of interference that defer to no one.
    pub interferers: Vec<Interferer>,
    /// Whether frames fail by noise (SNR and modulation); if not, only by collisions.
    pub frame_errors: bool,
    /// Preamble detection among overlapping frames: a receiver locks on to the strongest of those
    /// that start together if it is this far above the others, dB; null: overlapping frames are
    /// all lost.
    pub preamble_capture_db: Option<f64>,
    /// Frame capture: a later frame that is this much stronger takes over the receiver, dB; null:
    /// never.
    pub frame_capture_db: Option<f64>,
}

/// Block fading: the power gain of a pair of nodes is constant for the coherence time and then drawn
/// anew, the same in both directions. Its mean is 1.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Fading {
    /// Rician K-factor (power of the line of sight over that of the other paths), dB; null: Rayleigh.
    #[serde(default)]
    pub k_db: Option<f64>,
    /// Coherence time, us.
    pub coherence_us: f64,
    /// RMS delay spread of the paths that are no line of sight, 0 to 200 ns: the gain differs over the channel;
    /// 0: it is the same over the whole channel.
    #[serde(default)]
    pub delay_spread_ns: f64,
}

/// A source of energy that is on for a time and off for a time, and defers to no one. From
/// `busy_from_dbm` on nodes defer to it (IEEE 802.11-2020, 17.3.10.6); at any level its power adds to
/// the noise of frames, or of MPDUs of an A-MPDU, that it overlaps.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Interferer {
    /// Number of the radio channel that it disturbs (`bss[].channel`); null: all.
    #[serde(default)]
    pub channel: Option<u32>,
    /// Its power at every node while it is on, dBm.
    pub level_dbm: f64,
    /// Level from which it makes the medium busy, dBm.
    #[serde(default = "energy_detection")]
    pub busy_from_dbm: f64,
    /// Length of a burst, us.
    pub burst_us: f64,
    /// Time between two bursts, its mean where it is random, us.
    pub pause_us: f64,
    /// Whether pauses are drawn from an exponential distribution; if not, all are equal.
    #[serde(default)]
    pub random: bool,
    /// Times of presence and absence; null: always present.
    #[serde(default)]
    pub presence: Option<Presence>,
}

/// Times in which an interferer has bursts, and times in which it has none, each drawn from an
/// exponential distribution.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Presence {
    /// Mean time of presence, s.
    pub present_s: f64,
    /// Mean time of absence, s.
    pub absent_s: f64,
}

/// Energy detection on a primary channel of 20 MHz, dBm (IEEE 802.11-2020, 17.3.10.6 and 19.3.19.5).
fn energy_detection() -> f64 {
    -62.0
}

/// Mean path loss by distance; positions are in metres.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "model", rename_all = "snake_case", deny_unknown_fields)]
pub enum PathLoss {
    /// The same loss between every two nodes.
    Constant {
        /// Loss, dB.
        loss_db: f64,
    },
    /// `reference_db + 10 * exponent * log10(d / 1 m)`, and `reference_db` below one metre.
    LogDistance {
        /// Loss at one metre, dB (46.7 at 5.15 GHz, 40.0 at 2.4 GHz in free space).
        reference_db: f64,
        /// Exponent (2 free space, 3 indoors).
        exponent: f64,
    },
}

/// A straight wall, seen from above.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Wall {
    /// One end, metres.
    pub from_m: [f64; 2],
    /// The other end, metres.
    pub to_m: [f64; 2],
    /// Loss of a line that crosses it, dB.
    pub loss_db: f64,
}

/// The link budget of a pair of nodes; exactly one of `rssi_dbm` and `loss_db`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinkBudget {
    /// The two nodes.
    pub nodes: [String; 2],
    /// The BSS in which it holds; null: in all.
    #[serde(default)]
    pub bss: Option<String>,
    /// Power received at either from the other, dBm.
    #[serde(default)]
    pub rssi_dbm: Option<f64>,
    /// Path loss, dB.
    #[serde(default)]
    pub loss_db: Option<f64>,
}

impl Default for Radio {
    fn default() -> Self {
        Self {
            path_loss: PathLoss::Constant { loss_db: 60.0 },
            walls: Vec::new(),
            budgets: Vec::new(),
            hidden: Vec::new(),
            noise_figure_db: 7.0,
            shadowing_db: 0.0,
            fading: None,
            interferers: Vec::new(),
            carrier_sense_dbm: -82.0,
            frame_errors: true,
            preamble_capture_db: None,
            frame_capture_db: None,
        }
    }
}
