//! A frame in a queue, and its way down the retry chain.

use std::sync::Arc;

use airtoll_units::Instant;
use airtoll_wire::MacAddress;
use airtoll_wire::ieee80211::frame::FrameControl;

use crate::offer::STEPS;
use crate::rates::Step;

/// Most sequence numbers between the first and the last frame of an A-MPDU: the window of a block
/// ack agreement as mac80211 makes it.
pub(crate) const WINDOW: u16 = 64;

/// LLC and SNAP header of EAPOL (IEEE Std 802.1X-2020, 11.1; RFC 1042).
const EAPOL: [u8; 8] = [0xaa, 0xaa, 0x03, 0, 0, 0, 0x88, 0x8e];

/// The giver of a frame.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Origin {
    /// mac80211's, which is told of its end by this ticket.
    Driver { ticket: u64 },
    /// That of a flow of the medium, which has waited since an instant; whether it has arrived.
    Flow {
        flow: usize,
        since: Instant,
        arrived: bool,
    },
}

/// A frame in a queue.
#[derive(Debug)]
pub(crate) struct Waiting {
    pub octets: Arc<[u8]>,
    pub frequency_mhz: u32,
    pub chain: [Step; STEPS],
    pub tried: [Step; STEPS],
    pub attempts: u32,
    /// Its receiver, unless it is for a group; the number of the radio if it is known.
    pub receiver: Option<MacAddress>,
    pub no_ack: bool,
    pub origin: Origin,
}

/// A frame for the queue of a contender.
#[derive(Debug)]
pub(crate) struct Queued {
    /// Number of the contender.
    pub contender: usize,
    pub waiting: Waiting,
}

impl Waiting {
    /// Attempts that it may have.
    pub fn allowed(&self) -> u32 {
        if self.receiver.is_none() || self.no_ack {
            return 1;
        }
        let steps = self.chain.iter().take_while(|step| step.index >= 0);
        steps.map(|step| u32::from(step.count)).sum::<u32>().max(1)
    }

    /// Whether it is data with a payload for one receiver, other than EAPOL in clear, which mac80211
    /// sends at a rate of its own.
    pub fn is_unicast_data(&self) -> bool {
        self.receiver.is_some() && self.octets[0] & 0x4c == 0x08 && !self.is_clear_eapol()
    }

    fn is_clear_eapol(&self) -> bool {
        let (qos, protected) = (self.octets[0] & 0x80 != 0, self.octets[1] & 0x40 != 0);
        let header = if qos { 26 } else { 24 };
        !protected
            && self
                .octets
                .get(header..)
                .is_some_and(|body| body.starts_with(&EAPOL))
    }

    /// Whether it may travel in an A-MPDU: QoS data with a payload, to one receiver that answers.
    pub fn aggregates(&self) -> bool {
        let control = FrameControl(u16::from_le_bytes([self.octets[0], self.octets[1]]));
        let carries = control.0 & 0x00cc == 0x0088;
        carries && self.receiver.is_some() && !self.no_ack && self.octets.len() >= 26
    }

    /// Whether it may travel in one A-MPDU with `first`, which does.
    pub fn joins(&self, first: &Self) -> bool {
        let sequence = |octets: &[u8]| u16::from_le_bytes([octets[22], octets[23]]) >> 4;
        self.aggregates()
            && (self.receiver, self.frequency_mhz) == (first.receiver, first.frequency_mhz)
            && self.octets[24] & 0x0f == first.octets[24] & 0x0f
            && (sequence(&self.octets).wrapping_sub(sequence(&first.octets)) & 0x0fff) < WINDOW
    }

    /// Whether mac80211 has given it.
    pub const fn is_of_a_driver(&self) -> bool {
        matches!(self.origin, Origin::Driver { .. })
    }

    /// Books an attempt at a rate.
    pub fn note(&mut self, step: Step) {
        self.attempts += 1;
        let step = Step {
            index: step.index.max(0),
            ..step
        };
        let mut free = 0;
        while free < STEPS - 1 && self.tried[free].index >= 0 {
            let same = (self.tried[free].index, self.tried[free].flags) == (step.index, step.flags);
            let last = self.tried[free + 1].index < 0;
            if same && last {
                break;
            }
            free += 1;
        }
        let count = if self.tried[free].index >= 0 {
            self.tried[free].count + 1
        } else {
            1
        };
        self.tried[free] = Step { count, ..step };
    }

    /// The rate of the last attempt; before the first, that of the chain.
    pub fn last_step(&self) -> Step {
        let tried = self.tried.iter().rfind(|step| step.index >= 0);
        *tried.unwrap_or(&self.chain[0])
    }
}

/// The same frame with its Retry bit set.
pub(crate) fn repeated(octets: &[u8]) -> Arc<[u8]> {
    let mut octets = octets.to_vec();
    let control = FrameControl(u16::from_le_bytes([octets[0], octets[1]])).with_retry(true);
    octets[..2].copy_from_slice(&control.0.to_le_bytes());
    octets.into()
}
