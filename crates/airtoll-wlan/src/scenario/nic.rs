//! Network cards that prepare frames in stages.

use airtoll_security::CipherSuite;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::cost::Cost;

/// A network card that prepares each frame before its radio contends for the medium.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Nic {
    /// Costs of its stages; a stage that is not listed takes no time.
    pub stages: Vec<NicStage>,
    /// Which stages work at the same time.
    pub overlap: Overlap,
    /// Which part of contention passes while a frame is prepared.
    pub meanwhile: Meanwhile,
}

/// Cost of one stage, for one cipher or for all frames.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NicStage {
    /// Which stage.
    pub stage: StageKind,
    /// Cipher of the frames that it costs time; null: every frame, encrypted or not. Costs of
    /// entries that fit the same frame add up.
    #[serde(default)]
    pub cipher: Option<CipherSuite>,
    /// Time per MPDU and per octet of MSDU (LLC/SNAP header and IP packet) in it.
    pub cost: Cost,
    /// Mean of a further time per MPDU that is drawn for each from an exponential distribution, ns.
    #[serde(default)]
    pub random_ns: f64,
}

/// Stages of a network card, in the order in which a frame passes them.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum StageKind {
    /// Descriptor and frame come over the bus.
    Fetch,
    /// The cipher's key is mixed or scheduled.
    KeySetup,
    /// The frame is encrypted.
    Encryption,
    /// The frame is handed to the transmitter.
    Transmission,
}

impl StageKind {
    /// All stages in their order.
    pub const ALL: [Self; 4] = [
        Self::Fetch,
        Self::KeySetup,
        Self::Encryption,
        Self::Transmission,
    ];
}

/// Which stages of a network card work at the same time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Overlap {
    /// Every stage takes its next frame as soon as it is done with the last one. Frames are ready
    /// before their turn, unless the slowest stage is slower than the air.
    #[default]
    Pipelined,
    /// The next frame is prepared when the last frame exchange is over, one stage after the other.
    Serial,
    /// As `serial`, but transmission begins when the first octets are through all stages: the time
    /// per octet of the slowest stage delays a frame only by as much as it exceeds the airtime.
    CutThrough,
}

/// Which part of contention passes while a network card prepares the next frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Meanwhile {
    /// None: the interframe space begins when the frame is ready.
    #[default]
    Nothing,
    /// The interframe space: back-off begins when it has passed and the frame is ready.
    InterframeSpace,
    /// Interframe space and back-off: the frame is sent when both have ended and it is ready.
    BackOff,
}
