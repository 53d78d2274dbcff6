//! The congestion window: slow start, congestion avoidance, reductions (RFC 5681, RFC 9438).
//!
//! Takes acknowledged octets and loss events; gives the window and the slow-start threshold in
//! octets, never less than one segment. Never knows which octets are outstanding.

use super::config::{SlowStartGrowth, TcpConfig};
use super::cubic::Cubic;
use super::hystart::{Acknowledged, Hystart};
use super::options::{CongestionControl, HystartRule};

/// Window state of one connection.
#[derive(Debug, Clone)]
pub(super) struct Congestion {
    /// Congestion window, octets.
    pub(super) window: u64,
    /// Slow-start threshold, octets.
    pub(super) threshold: u64,
    segment: u64,
    initial: u64,
    growth: SlowStartGrowth,
    /// Octets acknowledged towards Reno's next segment.
    credit: u64,
    /// `None` for Reno.
    cubic: Option<Cubic>,
    /// `None` when off or when slow start has once ended.
    hystart: Option<Hystart>,
    rule: HystartRule,
    /// State to restore when a reduction proves needless.
    before: Option<(u64, u64, Option<Cubic>)>,
}

impl Congestion {
    pub(super) fn new(config: &TcpConfig) -> Self {
        let segment = u64::from(config.segment_payload());
        let initial = u64::from(config.initial_window_segments) * segment;
        Self {
            window: initial,
            threshold: u64::MAX,
            segment,
            initial,
            growth: config.slow_start_growth,
            credit: 0,
            cubic: match config.congestion {
                // BBR sets the window itself.
                CongestionControl::NewReno | CongestionControl::Bbr => None,
                CongestionControl::Cubic => Some(Cubic::new(
                    config.fast_convergence,
                    config.cubic_blind_growth,
                    config.cubic_full_increase,
                )),
            },
            hystart: Hystart::new(config.hystart),
            rule: config.hystart,
            before: None,
        }
    }

    /// Whether the window is below the slow-start threshold.
    pub(super) fn in_slow_start(&self) -> bool {
        self.window < self.threshold
    }

    /// Whether HyStart looks at acknowledgements.
    pub(super) fn watches_slow_start(&self) -> bool {
        self.hystart.is_some() && self.in_slow_start()
    }

    /// The window in whole segments.
    pub(super) fn segments(&self) -> u64 {
        self.window / self.segment
    }

    /// Feeds HyStart; ends slow start when it decides to.
    pub(super) fn observe_round_trip(&mut self, ack: Acknowledged) {
        if self.in_slow_start()
            && let Some(hystart) = &mut self.hystart
            && hystart.on_ack(ack)
        {
            self.threshold = self.window;
            self.hystart = None;
        }
    }

    /// Opens the window for `acknowledged` octets.
    pub(super) fn grow(&mut self, acknowledged: u64, now: u64, round_trip: u64) {
        let mut octets = acknowledged;
        if self.in_slow_start() {
            let limit = match self.growth {
                SlowStartGrowth::OneSegment => self.segment,
                SlowStartGrowth::TwoSegments => 2 * self.segment,
                SlowStartGrowth::AllAcknowledged => u64::MAX,
            };
            let mut step = octets.min(limit);
            if let Some(hystart) = &self.hystart {
                step = hystart.growth(step);
            }
            let room = self.threshold - self.window;
            if step < room {
                self.window += step;
                return;
            }
            self.window = self.threshold;
            octets -= room.min(octets);
        }
        match &mut self.cubic {
            Some(cubic) => {
                self.window += cubic.grow(self.window, octets, self.segment, now, round_trip);
            }
            None => {
                // One segment for each window acknowledged, counted in octets (RFC 3465 section
                // 2.1).
                self.credit += octets;
                while self.credit >= self.window {
                    self.credit -= self.window;
                    self.window += self.segment;
                }
            }
        }
    }

    /// Lowers the threshold for a loss with `in_use` octets of window in use.
    pub(super) fn reduce(&mut self, in_use: u64) {
        self.before = Some((self.window, self.threshold, self.cubic.clone()));
        let target = match &mut self.cubic {
            Some(cubic) => cubic.reduce(in_use, self.segment),
            None => in_use / 2,
        };
        self.threshold = target.max(2 * self.segment);
        self.credit = 0;
        self.hystart = None;
    }

    /// Restores the state before the last [`Self::reduce`] (RFC 4015 section 3.2, Linux's undo).
    pub(super) fn undo(&mut self) {
        if let Some((window, threshold, cubic)) = self.before.take() {
            self.window = self.window.max(window);
            self.threshold = self.threshold.max(threshold);
            self.cubic = cubic;
        }
    }

    /// Forgets the state that an undo would restore.
    pub(super) fn confirm(&mut self) {
        self.before = None;
    }

    /// Loss window of one segment (RFC 5681 equation 4 and below).
    pub(super) fn collapse(&mut self) {
        self.window = self.segment;
        self.credit = 0;
        if self.rule == HystartRule::Linux {
            // `bictcp_reset`: the next slow start is watched anew.
            self.hystart = Hystart::new(self.rule);
        }
        if let Some(cubic) = &mut self.cubic {
            cubic.forget_maximum();
        }
    }

    /// Sets the window, not below one segment.
    pub(super) fn set_window(&mut self, octets: u64) {
        self.window = octets.max(self.segment);
    }

    /// Restart window after idleness (RFC 5681 section 4.1).
    pub(super) fn restart(&mut self) {
        self.window = self.window.min(self.initial);
    }

    /// Time without anything outstanding does not count towards CUBIC's growth.
    pub(super) fn exclude_idle(&mut self, idle: u64) {
        if let Some(cubic) = &mut self.cubic {
            cubic.shift_epoch(idle);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reno() -> Congestion {
        Congestion::new(&TcpConfig {
            congestion: CongestionControl::NewReno,
            mss: 1_000,
            initial_window_segments: 2,
            ..TcpConfig::default()
        })
    }

    #[test]
    fn slow_start_doubles_each_round() {
        let mut c = reno();
        for _ in 0..4 {
            let window = c.window;
            for _ in 0..window / 2_000 {
                c.grow(2_000, 0, 0);
            }
            assert_eq!(c.window, 2 * window);
        }
        // One segment for each acknowledgement of two opens by half only (RFC 5681).
        let mut old = Congestion {
            growth: SlowStartGrowth::OneSegment,
            ..reno()
        };
        old.grow(2_000, 0, 0);
        assert_eq!(old.window, 3_000);
    }

    #[test]
    fn congestion_avoidance_adds_one_segment_each_round() {
        let mut c = reno();
        c.window = 10_000;
        c.threshold = 10_000;
        for round in 1..=5 {
            let window = c.window;
            for _ in 0..window / 1_000 {
                c.grow(1_000, 0, 0);
            }
            assert_eq!(c.window, 10_000 + round * 1_000);
        }
    }

    #[test]
    fn a_loss_halves_and_an_undo_restores() {
        let mut c = reno();
        c.window = 20_000;
        c.threshold = 15_000;
        c.reduce(20_000);
        assert_eq!(c.threshold, 10_000);
        c.set_window(c.threshold);
        c.undo();
        assert_eq!((c.window, c.threshold), (20_000, 15_000));
        c.reduce(1_000);
        assert_eq!(c.threshold, 2_000, "never below two segments");
    }
}
