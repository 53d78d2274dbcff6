//! Counts of each flow: octets, packets, delays and their distribution, jitter.

use airtoll_units::{Duration, Instant};

use super::{Moment, Observation, Observer};
use crate::id::{FlowId, Table};
use crate::packet::{Loss, Packet};

/// Counts of one flow since the warm-up.
#[derive(Debug, Clone, Default)]
pub(crate) struct Statistics {
    pub offered_octets: u64,
    pub delivered_octets: u64,
    pub sent: u64,
    pub received: u64,
    pub lost: u64,
    /// The lost ones by cause, in the order of [`Loss::ALL`].
    pub losses: [u64; Loss::ALL.len()],
    pub sender_time: Duration,
    pub transit_time: Duration,
    pub receiver_time: Duration,
    pub delays: Histogram,
    pub jitter: Jitter,
    pub responses: Histogram,
    pub retransmissions: u64,
    /// Retransmissions before the warm-up ended.
    pub earlier_retransmissions: u64,
    pub transfer: Option<Duration>,
    pub seconds: Vec<Second>,
    /// Counts of the second half of the measured time.
    pub late: Late,
}

/// Counts of the second half of the measured time.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Late {
    pub octets: u64,
    pub received: u64,
    pub delay: Duration,
}

/// Share of the mean of two halves by which they must differ to be told apart.
const DRIFT: f64 = 0.05;
/// Standard deviations of a count of independent arrivals by which the halves' packets must differ.
const CHANCE: u64 = 3;
/// Fewest packets of a half whose mean delay counts.
const FEWEST: u64 = 5;

/// Counts of one second.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Second {
    pub octets: u64,
    pub received: u64,
    pub lost: u64,
    pub delay: Duration,
    pub jitter_s: f64,
}

/// Counts of all flows.
#[derive(Debug)]
pub(crate) struct FlowMetrics {
    flows: Table<FlowId, Statistics>,
    /// Counts every second, too.
    series: bool,
}

impl FlowMetrics {
    pub(super) fn new(series: bool) -> Self {
        Self {
            flows: Table::new(),
            series,
        }
    }

    pub(super) fn add(&mut self) {
        self.flows.push(Statistics::default());
    }

    /// The counts of a flow.
    pub fn of(&self, flow: FlowId) -> &Statistics {
        &self.flows[flow]
    }

    /// Whether every second is counted, too.
    pub fn has_series(&self) -> bool {
        self.series
    }

    #[inline]
    fn arrived(&mut self, moment: Moment, flow: FlowId, p: &Packet, at: Instant) {
        if p.payload == 0 {
            return;
        }
        let statistics = &mut self.flows[flow];
        if !p.reverse {
            statistics.jitter.add(p.created, at);
        }
        if !p.counted {
            return;
        }
        statistics.received += 1;
        if p.reverse {
            return;
        }
        let delay = at - p.created;
        statistics.jitter.count(at - moment.warm_up);
        statistics.delays.add(delay);
        statistics.sender_time += p.left.saturating_since(p.created);
        statistics.transit_time += p.arrived.saturating_since(p.left);
        statistics.receiver_time += at - p.arrived;
        if at >= moment.middle() {
            statistics.late.received += 1;
            statistics.late.delay += delay;
        }
        if self.series {
            let jitter_s = statistics.jitter.seconds().unwrap_or(0.0);
            let second = statistics.second(at - moment.warm_up);
            second.received += 1;
            second.delay += delay;
            second.jitter_s = jitter_s;
        }
    }

    fn lost(&mut self, moment: Moment, flow: FlowId, p: &Packet, cause: Loss) {
        if !p.counted || p.payload == 0 {
            return;
        }
        let statistics = &mut self.flows[flow];
        statistics.lost += 1;
        statistics.losses[cause as usize] += 1;
        if self.series && !p.reverse {
            statistics.second(moment.now - moment.warm_up).lost += 1;
        }
    }
}

impl Observer for FlowMetrics {
    #[inline(always)]
    fn observe(&mut self, moment: Moment, observation: Observation<'_>) {
        match observation {
            Observation::Offered { flow, octets } if moment.now >= moment.warm_up => {
                self.flows[flow].offered_octets += octets;
            }
            Observation::Sent { flow } if moment.now >= moment.warm_up => {
                self.flows[flow].sent += 1;
            }
            Observation::Arrived { flow, packet, at } => self.arrived(moment, flow, packet, at),
            Observation::Delivered { flow, octets, at } if at >= moment.warm_up => {
                let statistics = &mut self.flows[flow];
                statistics.delivered_octets += u64::from(octets);
                if at >= moment.middle() {
                    statistics.late.octets += u64::from(octets);
                }
                if self.series {
                    statistics.second(at - moment.warm_up).octets += u64::from(octets);
                }
            }
            Observation::Lost {
                flow,
                packet,
                cause,
            } => self.lost(moment, flow, packet, cause),
            Observation::Repeated { flow } => self.flows[flow].retransmissions += 1,
            Observation::Answered { flow, took } if moment.now >= moment.warm_up => {
                self.flows[flow].responses.add(took);
            }
            Observation::Transferred { flow, took } => self.flows[flow].transfer = Some(took),
            Observation::WarmedUp => self.flows.iter_mut().for_each(Statistics::restart),
            _ => {}
        }
    }
}

impl Statistics {
    /// Forgets everything except the state that later values need.
    fn restart(&mut self) {
        *self = Self {
            jitter: self.jitter.restarted(),
            earlier_retransmissions: self.retransmissions + self.earlier_retransmissions,
            ..Self::default()
        };
    }

    /// Octets delivered in the second half of the measured time less those in the first; `None` where
    /// they are about the same, or differ by no more packets than chance arrivals do.
    pub fn octets_drift(&self) -> Option<f64> {
        let moved = (2 * self.late.received).abs_diff(self.received);
        if moved * moved <= CHANCE * CHANCE * self.received {
            return None;
        }
        let late = self.late.octets as f64;
        drift(self.delivered_octets as f64 - late, late)
    }

    /// Mean delay in the second half of the measured time less that in the first, s; `None` where they
    /// are about the same, or a half has too few packets.
    pub fn delay_drift(&self) -> Option<f64> {
        let (all, late) = (self.delays.count(), self.late.received);
        let early = all.checked_sub(late)?;
        if early.min(late) < FEWEST {
            return None;
        }
        let late_s = self.late.delay.as_secs_f64();
        let sum_s = self.delays.mean()? * all as f64;
        drift((sum_s - late_s) / early as f64, late_s / late as f64)
    }

    /// The entry of the second in which `since_warm_up` lies.
    fn second(&mut self, since_warm_up: Duration) -> &mut Second {
        let second = (since_warm_up.as_nanos() / 1_000_000_000) as usize;
        if self.seconds.len() <= second {
            self.seconds.resize(second + 1, Second::default());
        }
        &mut self.seconds[second]
    }
}

/// The difference of two halves, if it is no small one.
fn drift(first: f64, second: f64) -> Option<f64> {
    let difference = second - first;
    (difference.abs() > DRIFT * f64::midpoint(first, second)).then_some(difference)
}

/// Interarrival jitter (RFC 3550 section 6.4.1), in nanoseconds: its estimate at the last packet of
/// every second, and the mean of these. The estimate forgets within some 16 packets, so its value
/// at the end of a trial depends on few packets only.
#[derive(Debug, Clone, Default)]
pub(crate) struct Jitter {
    last_transit: Option<u64>,
    estimate_ns: f64,
    /// Second of the last counted packet.
    second: u64,
    /// Estimate at that packet; `None` before the first.
    latest_ns: Option<f64>,
    /// Sum over the seconds before it that had packets, and their number.
    earlier_ns: f64,
    earlier: u32,
}

impl Jitter {
    /// A packet sent at `sent` arrived at `arrived`.
    #[inline]
    pub fn add(&mut self, sent: Instant, arrived: Instant) {
        let transit = (arrived - sent).as_nanos();
        if let Some(last) = self.last_transit {
            let d = transit.abs_diff(last) as f64;
            self.estimate_ns += (d - self.estimate_ns) / 16.0;
        }
        self.last_transit = Some(transit);
    }

    /// The packet added last arrived so long after the warm-up.
    pub fn count(&mut self, since_warm_up: Duration) {
        let second = since_warm_up.as_nanos() / 1_000_000_000;
        if let (Some(latest), true) = (self.latest_ns, second > self.second) {
            self.earlier_ns += latest;
            self.earlier += 1;
        }
        self.second = second;
        self.latest_ns = Some(self.estimate_ns);
    }

    /// The estimate, s; `None` before the second packet.
    pub fn seconds(&self) -> Option<f64> {
        self.last_transit.map(|_| self.estimate_ns / 1e9)
    }

    /// Mean over the seconds that had packets of the estimate at their end, s, among the first
    /// `whole` seconds; the estimate at the last packet where there is none.
    pub fn mean_of_seconds(&self, whole: u64) -> Option<f64> {
        let latest = self.latest_ns?;
        let (sum, count) = if self.second < whole {
            (self.earlier_ns + latest, self.earlier + 1)
        } else {
            (self.earlier_ns, self.earlier)
        };
        let mean = if count == 0 {
            latest
        } else {
            sum / f64::from(count)
        };
        Some(mean / 1e9)
    }

    /// The same estimate with no packet counted.
    fn restarted(&self) -> Self {
        Self {
            last_transit: self.last_transit,
            estimate_ns: self.estimate_ns,
            ..Self::default()
        }
    }
}

/// Durations, in bins 1/64 wide relative to their value; memory does not grow with the count.
#[derive(Debug, Clone, Default)]
pub(crate) struct Histogram {
    /// Bins from the number `first` on: the delays of a flow lie close together.
    bins: Vec<u32>,
    first: usize,
    count: u64,
    sum_ns: u128,
}

const BINS_PER_OCTAVE_LOG2: u32 = 6;

impl Histogram {
    #[inline]
    pub fn add(&mut self, value: Duration) {
        let bin = bin_of(value.as_nanos());
        match self.bins.get_mut(bin.wrapping_sub(self.first)) {
            Some(n) => *n += 1,
            None => self.add_bin(bin),
        }
        self.count += 1;
        self.sum_ns += u128::from(value.as_nanos());
    }

    /// Counts a duration outside the bins so far.
    #[cold]
    fn add_bin(&mut self, bin: usize) {
        if self.bins.is_empty() {
            self.first = bin;
        }
        if bin < self.first {
            let below = self.first - bin;
            self.bins.splice(..0, std::iter::repeat_n(0, below));
            self.first = bin;
        }
        let at = bin - self.first;
        self.bins.resize(self.bins.len().max(at + 1), 0);
        self.bins[at] += 1;
    }

    /// Numbers of the bins that hold any, and how many, upwards.
    fn counted(&self) -> impl Iterator<Item = (usize, u32)> {
        let numbered = (self.first..).zip(self.bins.iter().copied());
        numbered.filter(|(_, n)| *n > 0)
    }

    pub fn count(&self) -> u64 {
        self.count
    }

    /// Mean, s.
    pub fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum_ns as f64 / self.count as f64 / 1e9)
    }

    /// Upper ends of the bins that hold any, s, and how many lie below each, upwards.
    pub fn reached(&self) -> impl Iterator<Item = (f64, u64)> {
        let mut below = 0;
        self.counted().map(move |(bin, n)| {
            below += u64::from(n);
            (floor_of(bin + 1) as f64 / 1e9, below)
        })
    }

    /// Middles of the occupied bins, ns, and the durations counted in each, upwards.
    pub fn occupied(&self) -> impl Iterator<Item = (u64, u32)> {
        self.counted()
            .map(|(bin, n)| (u64::midpoint(floor_of(bin), floor_of(bin + 1) - 1), n))
    }

    /// The `p`-quantile, s, to within half a bin (0.8 %).
    pub fn quantile(&self, p: f64) -> Option<f64> {
        if self.count == 0 {
            return None;
        }
        let rank = (libm::ceil(p * self.count as f64) as u64).clamp(1, self.count);
        let mut below = 0;
        for (bin, n) in self.counted() {
            below += u64::from(n);
            if below >= rank {
                let (from, to) = (floor_of(bin), floor_of(bin + 1));
                return Some((from + to - 1) as f64 / 2.0 / 1e9);
            }
        }
        None
    }
}

/// Middles of the bins that hold some durations, ns, and the durations in each, upwards: a sketch of
/// measured times in the bins of simulated ones.
pub fn sketch(durations: impl IntoIterator<Item = Duration>) -> Vec<(u64, u32)> {
    let mut histogram = Histogram::default();
    durations.into_iter().for_each(|one| histogram.add(one));
    histogram.occupied().collect()
}

fn bin_of(ns: u64) -> usize {
    let linear = 1_u64 << BINS_PER_OCTAVE_LOG2;
    if ns < linear {
        return ns as usize;
    }
    let octave = 63 - ns.leading_zeros() - BINS_PER_OCTAVE_LOG2;
    let within = (ns >> octave) - linear;
    (u64::from(octave + 1) * linear + within) as usize
}

fn floor_of(bin: usize) -> u64 {
    let linear = 1_u64 << BINS_PER_OCTAVE_LOG2;
    let bin = bin as u64;
    if bin < linear {
        return bin;
    }
    let octave = bin / linear - 1;
    (linear + bin % linear) << octave
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn quantiles_are_within_a_bin() {
        let mut histogram = Histogram::default();
        for us in 1..=1000 {
            histogram.add(Duration::from_micros(us));
        }
        for (p, expected) in [(0.5, 500e-6), (0.95, 950e-6), (0.99, 990e-6)] {
            let got = histogram.quantile(p).unwrap();
            assert!((got / expected - 1.0).abs() < 0.016, "{p}: {got}");
        }
        assert!((histogram.mean().unwrap() - 500.5e-6).abs() < 1e-12);
        let (middles, counts): (Vec<_>, Vec<_>) = histogram.occupied().unzip();
        assert_eq!(counts.iter().sum::<u32>(), 1000);
        assert!(middles.windows(2).all(|pair| pair[0] < pair[1]));
        let mean: f64 = middles
            .iter()
            .zip(&counts)
            .map(|(middle, n)| *middle as f64 * f64::from(*n))
            .sum::<f64>()
            / 1000.0;
        assert!((mean / 500.5e3 - 1.0).abs() < 0.002, "{mean}");
    }

    #[test]
    fn jitter_follows_the_rfc() {
        let mut jitter = Jitter::default();
        let at = Instant::from_nanos;
        jitter.add(at(0), at(1_000));
        jitter.add(at(20_000), at(21_000));
        assert_eq!(jitter.seconds(), Some(0.0));
        jitter.add(at(40_000), at(42_600));
        // |2600 - 1000| / 16
        assert_eq!(jitter.seconds(), Some(100e-9));
    }

    #[test]
    fn jitter_of_a_trial_is_the_mean_of_its_seconds() {
        let mut jitter = Jitter::default();
        let ms = |n: u64| Instant::from_nanos(n * 1_000_000);
        // Transit times of 0 and 16 ms: |d| / 16 is 1 ms; two seconds, the third is cut off.
        for (sent, arrived) in [(0, 0), (900, 916), (1_500, 1_500), (2_100, 2_116)] {
            jitter.add(ms(sent), ms(arrived));
            jitter.count(ms(arrived) - Instant::ZERO);
        }
        // 1 ms; 1 + (16 - 1) / 16 = 1.9375 ms; the last is in no whole second of 2.5 s.
        let mean = jitter.mean_of_seconds(2).unwrap();
        assert!((mean - 1.468_75e-3).abs() < 1e-12, "{mean}");
        assert!(jitter.seconds().unwrap() > 2e-3);
    }

    proptest! {
        #[test]
        fn bins_hold_what_they_say(ns in 0_u64..1 << 50) {
            let bin = bin_of(ns);
            prop_assert!(floor_of(bin) <= ns && ns < floor_of(bin + 1));
        }
    }
}
