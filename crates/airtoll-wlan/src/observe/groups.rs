//! Counts of group-addressed traffic: airtime, messages, deliveries and their delays.

use airtoll_units::Duration;

use super::{Moment, Observation, Observer};

/// Counts since the warm-up.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct GroupMetrics {
    /// Airtime of the frames that carried messages or answers to them, with acknowledgements.
    pub airtime: Duration,
    pub sent: u64,
    /// Pairs of a message and another station.
    pub expected: u64,
    pub delivered: u64,
    /// Sum of the delays of delivered messages.
    pub delay: Duration,
}

impl Observer for GroupMetrics {
    #[inline(always)]
    fn observe(&mut self, moment: Moment, observation: Observation<'_>) {
        match observation {
            Observation::GroupAir { span } => self.airtime += span,
            Observation::GroupSent { receivers } if moment.now >= moment.warm_up => {
                self.sent += 1;
                self.expected += u64::from(receivers);
            }
            Observation::GroupArrived { created, at, .. } if created >= moment.warm_up => {
                self.delivered += 1;
                self.delay += at - created;
            }
            Observation::WarmedUp => *self = Self::default(),
            _ => {}
        }
    }
}

impl GroupMetrics {
    /// Share of the pairs whose message arrived; `None` without any.
    pub fn delivered_ratio(&self) -> Option<f64> {
        (self.expected > 0).then(|| self.delivered as f64 / self.expected as f64)
    }

    /// Mean delay, s; `None` where nothing arrived.
    pub fn mean_delay_s(&self) -> Option<f64> {
        (self.delivered > 0).then(|| self.delay.as_secs_f64() / self.delivered as f64)
    }
}
