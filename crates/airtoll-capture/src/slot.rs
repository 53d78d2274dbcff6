//! A packet of the batch that an analysis works on: its place in the capture, its time, and its kind.

use crate::link::{Radio, Wire};
use crate::session::FrameNumber;

/// A packet in a batch.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Slot {
    pub(crate) number: u64,
    pub(crate) frame: FrameNumber,
    /// Nanoseconds since the epoch; that of the frame before, or else of the next one, where the
    /// file has 0.
    pub(crate) time_ns: u64,
    /// The file has a time.
    pub(crate) timed: bool,
    pub(crate) kind: SlotKind,
    /// Where its octets are in the batch.
    pub(crate) start: usize,
    pub(crate) len: usize,
    /// Octets of the whole packet on the wire.
    pub(crate) original: u32,
}

impl Slot {
    /// Frequency at which a frame of the air was captured, MHz.
    pub(crate) const fn frequency_mhz(&self) -> Option<u16> {
        match &self.kind {
            SlotKind::Air { radio, .. } => radio.frequency_mhz,
            _ => None,
        }
    }
}

/// Kind of a packet in a batch.
#[derive(Debug, Clone, Copy)]
pub(crate) enum SlotKind {
    /// An 802.11 frame with its octets on the air and whether it was opened already.
    Air { on_air: usize, radio: Radio },
    /// A packet of a wire.
    Wire(Wire),
    /// Nothing that can be looked into.
    Other,
}
