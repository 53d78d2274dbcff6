//! The medium: channels, received powers, transmissions and their overlap.

mod air;
pub(crate) mod channel;
pub(crate) mod radio;

use airtoll_engine::Stream;
use airtoll_units::Instant;

use crate::packet::Slab;
use channel::Channel;
use radio::Radio;

/// A node on the air.
#[derive(Debug)]
pub(crate) struct Node {
    pub channel: u32,
    /// Sensing class.
    pub class: u32,
    /// Classes that hear it.
    pub ears: Vec<u32>,
    /// Transmits or owes a response until then.
    pub engaged_until: Instant,
    /// Start and end of its last transmission.
    pub last_sent: (Instant, Instant),
}

/// All channels and the nodes on them.
pub(crate) struct Medium {
    pub nodes: Vec<Node>,
    pub channels: Vec<Channel>,
    pub radio: Radio,
    /// Frame errors.
    pub noise: Stream,
    /// When RTSs ended, and until when they had reserved the medium, for those who may forget it.
    pub reservations: Slab<(Instant, Instant)>,
}
