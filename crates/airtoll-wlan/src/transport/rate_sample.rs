//! Delivery rate by acknowledgement (draft-ietf-ccwg-bbr-02 section 4.1, Linux's `tcp_rate.c`).
//!
//! Takes transmissions and what acknowledgements deliver; gives one sample for each acknowledgement
//! that delivers something. Never knows the window.

use std::collections::VecDeque;

use super::ranges::StreamRange;

/// The state of the connection when a range was last sent.
#[derive(Debug, Clone, Copy)]
struct Transmission {
    /// One past its last octet.
    end: u64,
    sent: u64,
    /// When the first octets of its flight were sent.
    first_sent: u64,
    /// Octets delivered before, and when.
    delivered: u64,
    delivered_at: u64,
    /// The application had nothing more to send.
    app_limited: bool,
    again: bool,
    /// A selective acknowledgement has reported it.
    taken: bool,
}

/// Octets over a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RateSample {
    /// Octets that had been delivered when the newest range was sent.
    pub(super) prior_delivered: u64,
    /// Octets delivered since then.
    pub(super) delivered: u64,
    /// The longer of the times in which these were sent and acknowledged, ns; 0: no valid sample.
    pub(super) interval: u64,
    /// The application, and not the path, limited it.
    pub(super) app_limited: bool,
    /// Round trip of the newest range, ns, where it was sent once.
    pub(super) round_trip: Option<u64>,
}

/// Counts of one connection; times in ns.
#[derive(Debug, Clone, Default)]
pub(super) struct DeliveryRate {
    sent: VecDeque<Transmission>,
    /// Octets delivered so far.
    pub(super) delivered: u64,
    pub(super) delivered_at: u64,
    first_sent: u64,
    /// Samples are limited by the application until this many octets are delivered; 0: none is.
    app_limited_until: u64,
}

impl DeliveryRate {
    /// New octets up to `end` are sent while `flight` octets are outstanding.
    pub(super) fn on_send(&mut self, now: u64, end: u64, flight: u64) {
        if flight == 0 {
            self.first_sent = now;
            self.delivered_at = now;
        }
        let snapshot = self.snapshot(now, end, false);
        self.sent.push_back(snapshot);
    }

    /// Octets up to `end` are sent again.
    pub(super) fn on_resend(&mut self, now: u64, end: u64) {
        let at = self.sent.partition_point(|one| one.end < end);
        let snapshot = self.snapshot(now, end, true);
        if let Some(one) = self.sent.get_mut(at)
            && !one.taken
        {
            *one = Transmission {
                end: one.end,
                ..snapshot
            };
        }
    }

    fn snapshot(&self, now: u64, end: u64, again: bool) -> Transmission {
        Transmission {
            end,
            sent: now,
            first_sent: self.first_sent,
            delivered: self.delivered,
            delivered_at: self.delivered_at,
            app_limited: self.app_limited_until > 0,
            again,
            taken: false,
        }
    }

    /// The application has nothing more to send while `flight` octets are outstanding.
    pub(super) fn on_app_limited(&mut self, flight: u64) {
        self.app_limited_until = (self.delivered + flight).max(1);
    }

    /// Whether the application limits the samples.
    pub(super) fn app_limited(&self) -> bool {
        self.app_limited_until > 0
    }

    /// An acknowledgement delivers `octets`: everything below `acknowledged`, and the blocks.
    /// `least` is the least round trip known, ns: no honest interval is shorter.
    pub(super) fn on_ack(
        &mut self,
        now: u64,
        acknowledged: u64,
        blocks: &[StreamRange],
        octets: u64,
        least: Option<u64>,
    ) -> Option<RateSample> {
        let mut newest: Option<Transmission> = None;
        let mut consider = |one: &Transmission| {
            if newest.is_none_or(|best| {
                (best.delivered, best.sent, best.end) < (one.delivered, one.sent, one.end)
            }) {
                newest = Some(*one);
            }
        };
        while let Some(one) = self.sent.front()
            && one.end <= acknowledged
        {
            if !one.taken {
                consider(one);
            }
            self.sent.pop_front();
        }
        for &StreamRange { start, end } in blocks {
            let mut at = self.sent.partition_point(|one| one.end <= end);
            while at > 0 {
                at -= 1;
                let one = &mut self.sent[at];
                if one.end <= start || one.taken {
                    break;
                }
                consider(one);
                one.taken = true;
            }
        }
        if octets > 0 {
            self.delivered += octets;
            self.delivered_at = now;
        }
        if self.app_limited_until > 0 && self.delivered > self.app_limited_until {
            self.app_limited_until = 0;
        }
        let newest = newest?;
        self.first_sent = newest.sent;
        let sending = newest.sent.saturating_sub(newest.first_sent);
        let interval = sending.max(now.saturating_sub(newest.delivered_at));
        let round_trip = now.saturating_sub(newest.sent);
        let honest = least.is_none_or(|least| interval >= least);
        Some(RateSample {
            prior_delivered: newest.delivered,
            delivered: self.delivered - newest.delivered,
            interval: if honest { interval } else { 0 },
            app_limited: newest.app_limited,
            round_trip: (!newest.again).then_some(round_trip),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    #[test]
    fn a_steady_path_gives_its_rate() {
        // One segment of 1,000 octets leaves and arrives every millisecond, the round trip is 10 ms.
        let mut rate = DeliveryRate::default();
        let mut last = None;
        for n in 0..50 {
            if n >= 10 {
                last = rate.on_ack(n * MS, (n - 9) * 1_000, &[], 1_000, None);
            }
            rate.on_send(n * MS, (n + 1) * 1_000, if n == 0 { 0 } else { 10_000 });
        }
        let sample = last.unwrap();
        assert_eq!(sample.delivered, 10_000);
        assert_eq!(sample.interval, 10 * MS);
        assert_eq!(sample.round_trip, Some(10 * MS));
        assert!(!sample.app_limited);
    }

    #[test]
    fn acknowledgements_that_come_together_do_not_raise_the_rate() {
        // Ten segments sent 1 ms apart, all acknowledged within one microsecond: the time of sending
        // bounds the sample.
        let mut rate = DeliveryRate::default();
        for n in 0..10 {
            rate.on_send(n * MS, (n + 1) * 1_000, n * 1_000);
        }
        let mut sample = None;
        for n in 0..10 {
            sample = rate.on_ack(20 * MS + n * 100, (n + 1) * 1_000, &[], 1_000, None);
        }
        let sample = sample.unwrap();
        assert!(sample.interval >= 9 * MS, "{sample:?}");
    }

    #[test]
    fn an_interval_below_the_least_round_trip_is_no_sample() {
        let mut rate = DeliveryRate::default();
        rate.on_send(0, 1_000, 0);
        let sample = rate.on_ack(MS, 1_000, &[], 1_000, Some(2 * MS)).unwrap();
        assert_eq!(sample.interval, 0);
    }

    #[test]
    fn a_range_sent_again_has_no_round_trip() {
        let mut rate = DeliveryRate::default();
        rate.on_send(0, 1_000, 0);
        rate.on_send(0, 2_000, 1_000);
        let block = StreamRange {
            start: 1_000,
            end: 2_000,
        };
        rate.on_ack(5 * MS, 0, &[block], 1_000, None);
        rate.on_resend(6 * MS, 1_000);
        let sample = rate.on_ack(11 * MS, 2_000, &[], 1_000, None).unwrap();
        assert_eq!(sample.round_trip, None);
        assert_eq!((sample.prior_delivered, sample.delivered), (1_000, 1_000));
    }
}
