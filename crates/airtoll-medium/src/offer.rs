//! A frame that comes into the medium, and what the caller learns of it.

use std::sync::Arc;

use crate::rates::Step;

/// Steps of a retry chain.
pub const STEPS: usize = 4;

/// A frame that mac80211 gave.
#[derive(Debug, Clone)]
pub struct Offer {
    /// Number of the radio.
    pub radio: usize,
    /// Centre frequency of its channel.
    pub frequency_mhz: u32,
    /// The MPDU without FCS.
    pub octets: Vec<u8>,
    /// Rates to try, in this order.
    pub chain: [Step; STEPS],
    /// Whether mac80211 wants no acknowledgement.
    pub no_ack: bool,
    /// Number that the report returns to the caller.
    pub ticket: u64,
}

/// An event for the caller.
#[derive(Debug, Clone, PartialEq)]
pub enum Happening {
    /// A frame reached a radio.
    Delivery {
        /// Number of the radio.
        to: usize,
        /// Centre frequency.
        frequency_mhz: u32,
        /// The MPDU without FCS; its Retry bit tells whether it is a repetition.
        octets: Arc<[u8]>,
        /// Index of the rate, as receivers are told.
        rate_index: u32,
        /// Received power, dBm.
        signal_dbm: i32,
    },
    /// The medium is done with a frame.
    Report {
        /// Number of the radio that sent it.
        from: usize,
        /// From the offer.
        ticket: u64,
        /// Whether it was acknowledged, or dropped at a full queue in silence.
        acknowledged: bool,
        /// Rates tried, with the number of attempts at each.
        tried: [Step; STEPS],
        /// Power at which the acknowledgement came, dBm.
        signal_dbm: i32,
    },
}
