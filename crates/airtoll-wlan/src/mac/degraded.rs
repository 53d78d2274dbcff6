//! Links without a block ack agreement, or without the rates of HT and later, after a hand-over.

use super::rate_control::RateControl;
use super::{Mac, TxLink};
use crate::id::{ModeId, RadioId};

/// The faults of a link, and its state without them.
#[derive(Debug, Default)]
pub(super) struct Degraded {
    /// Frames go one by one: no block ack agreement has been negotiated (IEEE 802.11-2020, 10.25.2).
    pub alone: bool,
    /// Whether frames are sent under an agreement once there is one.
    agrees: bool,
    /// The rate control that it has again later.
    usual: Option<RateControl>,
}

impl Mac {
    /// Sets whether data frames between two radios have a block ack agreement where their PHY has
    /// one, in both directions.
    pub fn set_agreed(&mut self, ends: (RadioId, RadioId), agreed: bool) {
        let change = |link: &mut TxLink| {
            let state = &mut link.degraded;
            if state.alone != agreed {
                return;
            }
            state.alone = !agreed;
            if agreed {
                link.agreement = state.agrees;
            } else {
                state.agrees = std::mem::take(&mut link.agreement);
            }
        };
        self.each_link(ends.0, ends.1, change);
        self.each_link(ends.1, ends.0, change);
    }

    /// Data frames between two radios have this mode, in both directions; `None`: as the rate control
    /// says.
    pub fn set_legacy(&mut self, ends: (RadioId, RadioId), mode: Option<ModeId>) {
        let change = |link: &mut TxLink| {
            let usual = link.degraded.usual.take();
            match (mode, usual) {
                (Some(mode), usual) => {
                    let rate = std::mem::replace(&mut link.rate, RateControl::Fixed(mode));
                    link.degraded.usual = usual.or(Some(rate));
                }
                (None, Some(usual)) => link.rate = usual,
                (None, None) => {}
            }
        };
        self.each_link(ends.0, ends.1, change);
        self.each_link(ends.1, ends.0, change);
        for radio in [ends.0, ends.1] {
            self.forget_success(radio);
        }
    }
}
