//! BBR version 1 as Linux has it (`tcp_bbr.c`; draft-cardwell-iccrg-bbr-congestion-control-00).
//!
//! Takes rate samples; gives the pacing rate and the congestion window. Never decides what is lost.
//! Left out: the detection of traffic policers.

use std::collections::VecDeque;

use super::rate_sample::{DeliveryRate, RateSample};

const MILLISECOND: u64 = 1_000_000;
const SECOND: u64 = 1_000_000_000;
/// Least gain that doubles the rate each round: 2 / ln 2.
const HIGH_GAIN: f64 = 2.885;
/// Gains of the phases of a cycle of probing.
const CYCLE: [f64; 8] = [1.25, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0];
/// Window in bandwidth-delay products while probing.
const WINDOW_GAIN: f64 = 2.0;
/// The pacing rate is this share of the estimate, so that queues drain.
const MARGIN: f64 = 0.99;
/// Rounds over which the bandwidth is a maximum.
const BANDWIDTH_ROUNDS: u64 = 10;
/// Time over which the round trip is a minimum.
const ROUND_TRIP_TIME: u64 = 10 * SECOND;
/// Time for which the window is least, to see the path without a queue.
const PROBE_TIME: u64 = 200 * MILLISECOND;
/// The least window, segments.
const LEAST_SEGMENTS: u64 = 4;
/// The pipe is full after this many rounds in which the bandwidth has not grown by a quarter.
const FULL_ROUNDS: u32 = 3;
const FULL_GROWTH: f64 = 1.25;
/// Rounds over which the aggregation of acknowledgements is a maximum, and its bound.
const AGGREGATION_ROUNDS: u32 = 5;
const AGGREGATION_TIME: u64 = 100 * MILLISECOND;
/// Segments after which the count of an aggregation begins anew.
const AGGREGATION_SEGMENTS: u64 = 1 << 20;
/// Octets of a burst that leaves the host as one (`GSO_MAX_SIZE` less headers).
const LARGEST_BURST: u64 = 65_000;
/// Window before the first sample, segments (`TCP_INIT_CWND`).
const INITIAL_SEGMENTS: u64 = 10;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    Startup,
    Drain,
    ProbeBandwidth,
    ProbeRoundTrip,
}

/// State of the connection when an acknowledgement has been read.
#[derive(Debug, Clone, Copy)]
pub(super) struct Situation {
    /// Octets newly delivered.
    pub(super) delivered: u64,
    /// Octets newly found lost.
    pub(super) lost: u64,
    /// Octets in the network before the acknowledgement.
    pub(super) in_network_before: u64,
    /// Octets in the network after it.
    pub(super) in_network: u64,
    /// A loss is being repaired.
    pub(super) recovering: bool,
    /// Smoothed round trip, ns.
    pub(super) smoothed: Option<u64>,
}

/// State of one connection: octets, ns, octets per second.
#[derive(Debug, Clone)]
pub(super) struct Bbr {
    pub(super) rate: DeliveryRate,
    segment: u64,
    /// The pacing rate over 2^shift makes a burst.
    shift: u32,
    mode: Mode,
    /// (round, octets per second), falling: the maximum first.
    bandwidths: VecDeque<(u64, f64)>,
    round: u64,
    round_starts: bool,
    /// A round ends when octets sent after this many had been delivered are acknowledged.
    next_round: u64,
    least_round_trip: Option<u64>,
    least_at: u64,
    probe_ends: Option<u64>,
    probe_round_done: bool,
    full_bandwidth: f64,
    full_count: u32,
    full: bool,
    phase: usize,
    phase_at: u64,
    conserves: bool,
    recovering: bool,
    prior_window: u64,
    idle_restart: bool,
    /// Most octets acknowledged above what the bandwidth explains: of this window of rounds and of
    /// the one before.
    extra: [u64; 2],
    extra_place: usize,
    extra_rounds: u32,
    epoch_at: u64,
    epoch_acked: u64,
    pacing: f64,
    seen_round_trip: bool,
    /// When the next burst may begin.
    next_burst: u64,
    burst_left: u64,
}

impl Bbr {
    pub(super) fn new(segment: u64, shift: u32) -> Self {
        Self {
            rate: DeliveryRate::default(),
            segment,
            shift,
            mode: Mode::Startup,
            bandwidths: VecDeque::new(),
            round: 0,
            round_starts: false,
            next_round: 0,
            least_round_trip: None,
            least_at: 0,
            probe_ends: None,
            probe_round_done: false,
            full_bandwidth: 0.0,
            full_count: 0,
            full: false,
            phase: 0,
            phase_at: 0,
            conserves: false,
            recovering: false,
            prior_window: 0,
            idle_restart: false,
            extra: [0; 2],
            extra_place: 0,
            extra_rounds: 0,
            epoch_at: 0,
            epoch_acked: 0,
            // A round trip of 1 ms until one is known.
            pacing: HIGH_GAIN * (INITIAL_SEGMENTS * segment) as f64 * 1e3,
            seen_round_trip: false,
            next_burst: 0,
            burst_left: 0,
        }
    }

    /// The pacing rate, octets per second.
    pub(super) fn pacing(&self) -> f64 {
        self.pacing
    }

    /// The least round trip of the last 10 s, ns.
    pub(super) fn least_round_trip(&self) -> Option<u64> {
        self.least_round_trip
    }

    /// When the next segment may be sent: `None` now, else the time, ns.
    pub(super) fn waits_until(&self, now: u64) -> Option<u64> {
        (self.burst_left == 0 && now < self.next_burst).then_some(self.next_burst)
    }

    /// `octets` leave the host: bursts follow one another at the pacing rate.
    pub(super) fn on_paced(&mut self, now: u64, octets: u64) {
        if self.burst_left == 0 || now > self.next_burst {
            let burst = self.burst();
            let spent = burst as f64 / self.pacing * 1e9;
            self.next_burst = now + spent as u64;
            self.burst_left = burst;
        }
        self.burst_left = self.burst_left.saturating_sub(octets);
    }

    /// Octets of a burst (`tcp_tso_autosize`, `bbr_min_tso_segs`).
    fn burst(&self) -> u64 {
        // Below 1.2 Mb/s Linux sends segment by segment.
        let least = if self.pacing < 150_000.0 { 1 } else { 2 };
        let share = (self.pacing / (1u64 << self.shift) as f64) as u64;
        share.min(LARGEST_BURST).max(least * self.segment)
    }

    /// The first octets after everything had been acknowledged are sent.
    pub(super) fn on_restart(&mut self, now: u64) {
        if self.rate.app_limited() {
            self.idle_restart = true;
            self.epoch_at = now;
            self.epoch_acked = 0;
            if self.mode == Mode::ProbeBandwidth {
                self.set_pacing(1.0, None, 0);
            }
        }
    }

    /// A time-out: what was taken for the bandwidth may not be there any more.
    pub(super) fn on_timeout(&mut self, window: u64) {
        self.save(window);
        self.recovering = true;
        self.full_bandwidth = 0.0;
        self.round_starts = true;
    }

    /// Remembers the window before a loss or a probe.
    pub(super) fn save(&mut self, window: u64) {
        self.prior_window = if !self.recovering && self.mode != Mode::ProbeRoundTrip {
            window
        } else {
            self.prior_window.max(window)
        };
    }

    /// Takes a sample, and gives the window in octets that follows `window`.
    pub(super) fn on_ack(
        &mut self,
        now: u64,
        sample: Option<RateSample>,
        seen: Situation,
        window: u64,
    ) -> u64 {
        let mut window = window;
        self.update_bandwidth(now, sample);
        self.update_aggregation(now, sample, seen, window);
        self.update_cycle(now, seen);
        self.check_full(sample);
        self.check_drain(now, seen);
        self.update_round_trip(now, sample, seen, &mut window);
        self.set_pacing(self.pacing_gain(), seen.smoothed, window);
        self.next_window(seen, window)
    }

    fn bandwidth(&self) -> f64 {
        self.bandwidths.front().map_or(0.0, |&(_, most)| most)
    }

    fn update_bandwidth(&mut self, now: u64, sample: Option<RateSample>) {
        self.round_starts = false;
        let Some(sample) = sample.filter(|sample| sample.interval > 0) else {
            return;
        };
        if sample.prior_delivered >= self.next_round {
            self.next_round = self.rate.delivered;
            self.round += 1;
            self.round_starts = true;
            self.conserves = false;
        }
        let found = sample.delivered as f64 / (sample.interval as f64 * 1e-9);
        if !sample.app_limited || found >= self.bandwidth() {
            while self.bandwidths.back().is_some_and(|&(_, old)| old <= found) {
                self.bandwidths.pop_back();
            }
            self.bandwidths.push_back((self.round, found));
        }
        while self.bandwidths.len() > 1
            && self
                .bandwidths
                .front()
                .is_some_and(|&(round, _)| round + BANDWIDTH_ROUNDS < self.round)
        {
            self.bandwidths.pop_front();
        }
        if self.phase_at == 0 {
            self.phase_at = now;
        }
    }

    fn update_aggregation(
        &mut self,
        now: u64,
        sample: Option<RateSample>,
        seen: Situation,
        window: u64,
    ) {
        if seen.delivered == 0 || sample.is_none_or(|sample| sample.interval == 0) {
            return;
        }
        if self.round_starts {
            self.extra_rounds += 1;
            if self.extra_rounds >= AGGREGATION_ROUNDS {
                self.extra_rounds = 0;
                self.extra_place = 1 - self.extra_place;
                self.extra[self.extra_place] = 0;
            }
        }
        let epoch = now.saturating_sub(self.epoch_at) as f64 * 1e-9;
        let mut expected = (self.bandwidth() * epoch) as u64;
        if self.epoch_acked <= expected
            || self.epoch_acked + seen.delivered >= AGGREGATION_SEGMENTS * self.segment
        {
            self.epoch_acked = 0;
            self.epoch_at = now;
            expected = 0;
        }
        self.epoch_acked += seen.delivered;
        let extra = self.epoch_acked.saturating_sub(expected).min(window);
        let most = &mut self.extra[self.extra_place];
        *most = extra.max(*most);
    }

    fn update_cycle(&mut self, now: u64, seen: Situation) {
        if self.mode != Mode::ProbeBandwidth {
            return;
        }
        let long = now.saturating_sub(self.phase_at) > self.least_round_trip.unwrap_or(0);
        let gain = CYCLE[self.phase];
        let over = if gain > 1.0 {
            long && (seen.lost > 0 || seen.in_network_before >= self.inflight(gain))
        } else if gain < 1.0 {
            long || seen.in_network_before <= self.inflight(1.0)
        } else {
            long
        };
        if over {
            self.phase = (self.phase + 1) % CYCLE.len();
            self.phase_at = now;
        }
    }

    fn check_full(&mut self, sample: Option<RateSample>) {
        if self.full || !self.round_starts || sample.is_none_or(|sample| sample.app_limited) {
            return;
        }
        if self.bandwidth() >= self.full_bandwidth * FULL_GROWTH {
            self.full_bandwidth = self.bandwidth();
            self.full_count = 0;
            return;
        }
        self.full_count += 1;
        self.full = self.full_count >= FULL_ROUNDS;
    }

    fn check_drain(&mut self, now: u64, seen: Situation) {
        if self.mode == Mode::Startup && self.full {
            self.mode = Mode::Drain;
        }
        if self.mode == Mode::Drain && seen.in_network <= self.inflight(1.0) {
            self.probe_bandwidth(now);
        }
    }

    /// Begins a cycle at a phase other than the second, which would drain at once. The clock of the
    /// connection chooses it, so that connections differ.
    fn probe_bandwidth(&mut self, now: u64) {
        self.mode = Mode::ProbeBandwidth;
        let drawn = (now / 1_000 % (CYCLE.len() as u64 - 1)) as usize;
        self.phase = (CYCLE.len() - drawn) % CYCLE.len();
        self.phase_at = now;
    }

    fn update_round_trip(
        &mut self,
        now: u64,
        sample: Option<RateSample>,
        seen: Situation,
        window: &mut u64,
    ) {
        let expired = self.least_round_trip.is_some() && now > self.least_at + ROUND_TRIP_TIME;
        if let Some(round_trip) = sample.and_then(|sample| sample.round_trip)
            && (expired || self.least_round_trip.is_none_or(|least| round_trip < least))
        {
            self.least_round_trip = Some(round_trip);
            self.least_at = now;
        }
        if expired && !self.idle_restart && self.mode != Mode::ProbeRoundTrip {
            self.save(*window);
            self.mode = Mode::ProbeRoundTrip;
            self.probe_ends = None;
        }
        if self.mode == Mode::ProbeRoundTrip {
            self.rate.on_app_limited(seen.in_network);
            match self.probe_ends {
                None if seen.in_network <= LEAST_SEGMENTS * self.segment => {
                    self.probe_ends = Some(now + PROBE_TIME);
                    self.probe_round_done = false;
                    self.next_round = self.rate.delivered;
                }
                None => {}
                Some(ends) => {
                    self.probe_round_done |= self.round_starts;
                    if self.probe_round_done && now > ends {
                        self.least_at = now;
                        *window = self.prior_window.max(*window);
                        if self.full {
                            self.probe_bandwidth(now);
                        } else {
                            self.mode = Mode::Startup;
                        }
                    }
                }
            }
        }
        if seen.delivered > 0 {
            self.idle_restart = false;
        }
    }

    fn pacing_gain(&self) -> f64 {
        match self.mode {
            Mode::Startup => HIGH_GAIN,
            Mode::Drain => 1.0 / HIGH_GAIN,
            Mode::ProbeBandwidth => CYCLE[self.phase],
            Mode::ProbeRoundTrip => 1.0,
        }
    }

    fn set_pacing(&mut self, gain: f64, smoothed: Option<u64>, window: u64) {
        if !self.seen_round_trip
            && let Some(round_trip) = smoothed
        {
            self.seen_round_trip = true;
            self.pacing = HIGH_GAIN * window as f64 / (round_trip.max(1_000) as f64 * 1e-9);
        }
        let wanted = self.bandwidth() * gain * MARGIN;
        if wanted > 0.0 && (self.full || wanted > self.pacing) {
            self.pacing = wanted;
        }
    }

    /// Bandwidth-delay products, octets.
    fn products(&self, gain: f64) -> u64 {
        match self.least_round_trip {
            Some(least) => (gain * self.bandwidth() * least as f64 * 1e-9) as u64,
            None => INITIAL_SEGMENTS * self.segment,
        }
    }

    /// Octets in the network that a gain stands for, with what bursts need.
    fn inflight(&self, gain: f64) -> u64 {
        self.with_bursts(self.products(gain))
    }

    fn with_bursts(&self, octets: u64) -> u64 {
        let segments = octets.div_ceil(self.segment) + 3 * self.burst().div_ceil(self.segment);
        let even = segments.next_multiple_of(2);
        let probing = self.mode == Mode::ProbeBandwidth && self.phase == 0;
        (even + if probing { 2 } else { 0 }) * self.segment
    }

    fn next_window(&mut self, seen: Situation, window: u64) -> u64 {
        let mut window = window;
        if seen.delivered > 0 && !self.repairs(seen, &mut window) {
            let gain = if self.mode == Mode::ProbeRoundTrip {
                1.0
            } else if self.mode == Mode::ProbeBandwidth {
                WINDOW_GAIN
            } else {
                HIGH_GAIN
            };
            let target = self.with_bursts(self.products(gain) + self.aggregated());
            if self.full {
                window = target.min(window + seen.delivered);
            } else if window < target || self.rate.delivered < INITIAL_SEGMENTS * self.segment {
                window += seen.delivered;
            }
            window = window.max(LEAST_SEGMENTS * self.segment);
        }
        if self.mode == Mode::ProbeRoundTrip {
            window = window.min(LEAST_SEGMENTS * self.segment);
        }
        window.max(self.segment)
    }

    /// Octets that acknowledgements which come together need above the product.
    fn aggregated(&self) -> u64 {
        if !self.full {
            return 0;
        }
        let most = (self.bandwidth() * AGGREGATION_TIME as f64 * 1e-9) as u64;
        self.extra[0].max(self.extra[1]).min(most)
    }

    /// The window of a repair: for the first round what is delivered may be sent, and behind it the
    /// window of before comes back. Gives whether the repair decides the window.
    fn repairs(&mut self, seen: Situation, window: &mut u64) -> bool {
        *window = window.saturating_sub(seen.lost).max(self.segment);
        if seen.recovering && !self.recovering {
            self.conserves = true;
            self.next_round = self.rate.delivered;
            *window = seen.in_network + seen.delivered;
        } else if !seen.recovering && self.recovering {
            *window = self.prior_window.max(*window);
            self.conserves = false;
        }
        self.recovering = seen.recovering;
        if self.conserves {
            *window = (seen.in_network + seen.delivered).max(*window);
        }
        self.conserves
    }
}
