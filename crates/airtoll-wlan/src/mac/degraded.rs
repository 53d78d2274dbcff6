//! Links without a block ack agreement, or without the rates of HT and later, after a hand-over.

use super::Mac;
use super::link::{Agreement, TxLink};
use super::rate_control::RateControl;
use crate::id::{ModeId, RadioId};

impl Mac {
    /// Sets whether data frames between two radios have a block ack agreement where their PHY has
    /// one, in both directions.
    pub fn set_agreed(&mut self, from: RadioId, to: RadioId, agreed: bool) {
        let change = |link: &mut TxLink| {
            let usual = link.degraded.agreement.take();
            if agreed {
                link.agreement = usual.unwrap_or(link.agreement);
            } else {
                let usual = usual.unwrap_or(link.agreement);
                link.degraded.agreement = Some(usual);
                link.agreement = Agreement::None;
            }
        };
        self.each_link(from, to, change);
        self.each_link(to, from, change);
    }

    /// Data frames between two radios have this mode, in both directions; `None`: as the rate control
    /// says.
    pub fn set_legacy(&mut self, from: RadioId, to: RadioId, mode: Option<ModeId>) {
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
        self.each_link(from, to, change);
        self.each_link(to, from, change);
        for radio in [from, to] {
            self.forget_success(radio);
        }
    }
}
