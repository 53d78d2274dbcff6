//! Interferers: sources of energy that come in bursts and defer to no one.
//!
//! Takes the scenario's figures and random streams; gives when bursts begin and end, and the power of
//! those that a span of time meets. Bursts do not depend on traffic. Residential microwave ovens
//! radiate once per cycle of the mains, about half of the time (A. Kamerman and N. Erkoçević, Microwave
//! oven interference on wireless LANs operating in the 2.4 GHz ISM band, PIMRC 1997).

use std::collections::VecDeque;

use airtoll_engine::Stream;
use airtoll_phy::milliwatts;
use airtoll_units::{Dbm, Duration, Instant, Span};

use crate::id::{ChannelId, InterfererId, Table};
use crate::scenario;

/// Bursts that ended earlier meet no frame on the air: the longest one, of 65,535 octets at 6.5 Mb/s,
/// takes 81 ms.
const KEPT: Duration = Duration::from_micros(100_000);

/// All interferers.
#[derive(Debug, Default)]
pub(super) struct Interference {
    sources: Table<InterfererId, Source>,
}

#[derive(Debug)]
struct Source {
    /// The channel that it disturbs; `None`: all.
    channel: Option<ChannelId>,
    milliwatts: f64,
    /// Nodes defer to it.
    heard: bool,
    burst: Duration,
    pause: Duration,
    random: bool,
    /// Mean times of presence and absence, s.
    presence: Option<(f64, f64)>,
    /// Until when it is present.
    present_until: Instant,
    stream: Stream,
    /// Its last bursts: when they began, and when they end.
    bursts: VecDeque<(Instant, Instant)>,
    on: bool,
}

/// A burst begins or ends.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Turn {
    /// The channel that it is on; `None`: all.
    pub channel: Option<ChannelId>,
    pub begins: bool,
    /// Nodes defer to it.
    pub heard: bool,
    /// When it ends or the next one begins.
    pub next: Instant,
}

impl Interference {
    /// Adds a source; gives its handle and when its first burst begins.
    pub fn add(
        &mut self,
        model: &scenario::Interferer,
        channel: Option<ChannelId>,
        stream: Stream,
    ) -> (InterfererId, Instant) {
        let us = |value: f64| Duration::from_secs_f64(value / 1e6);
        let mut source = Source {
            channel,
            milliwatts: milliwatts(Dbm(model.level_dbm)),
            heard: model.level_dbm >= model.busy_from_dbm,
            burst: us(model.burst_us),
            pause: us(model.pause_us),
            random: model.random,
            presence: model.presence.map(|p| (p.present_s, p.absent_s)),
            present_until: Instant::MAX,
            stream,
            bursts: VecDeque::new(),
            on: false,
        };
        // A trial begins at any phase of the cycle.
        let cycle = (source.burst + source.pause).as_secs_f64();
        let phase = Duration::from_secs_f64(source.stream.unit() * cycle);
        let mut first = Instant::ZERO + phase;
        if let Some((present, absent)) = source.presence {
            if source.stream.unit() * (present + absent) >= present {
                first = Instant::ZERO + source.exponential(absent);
            }
            source.present_until = first + source.exponential(present);
        }
        (self.sources.push(source), first)
    }

    /// Whether there is none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.sources.is_empty()
    }

    /// The burst of a source begins or ends at `now`.
    pub fn turn(&mut self, interferer: InterfererId, now: Instant) -> Turn {
        let source = &mut self.sources[interferer];
        source.on = !source.on;
        let next = if source.on {
            let end = now + source.burst;
            while source.bursts.front().is_some_and(|b| b.1 + KEPT < now) {
                source.bursts.pop_front();
            }
            source.bursts.push_back((now, end));
            end
        } else {
            source.next_burst(now)
        };
        Turn {
            channel: source.channel,
            begins: source.on,
            heard: source.heard,
            next,
        }
    }

    /// Power of the sources that have a burst between two instants on a channel, milliwatts: each
    /// counts once and as a whole.
    pub fn power(&self, channel: ChannelId, span: Span) -> f64 {
        let meets = |source: &&Source| {
            let bursts = source.bursts.iter().rev();
            source.channel.is_none_or(|own| own == channel)
                && bursts
                    .take_while(|burst| burst.1 > span.from)
                    .any(|burst| burst.0 < span.to)
        };
        self.sources
            .iter()
            .filter(meets)
            .map(|s| s.milliwatts)
            .sum()
    }
}

impl Source {
    fn next_burst(&mut self, now: Instant) -> Instant {
        let pause = if self.random {
            self.exponential(self.pause.as_secs_f64())
        } else {
            self.pause
        };
        let next = now + pause;
        if next < self.present_until {
            return next;
        }
        let (present, absent) = self.presence.unwrap_or_default();
        let back = self.present_until + self.exponential(absent);
        self.present_until = back + self.exponential(present);
        back.max(now)
    }

    /// A time with an exponential distribution, at least 1 ns.
    fn exponential(&mut self, mean_s: f64) -> Duration {
        let drawn = -libm::log(1.0 - self.stream.unit()) * mean_s;
        Duration::from_secs_f64(drawn).max(Duration::from_nanos(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use airtoll_engine::Streams;

    fn model(burst_us: f64, pause_us: f64, random: bool) -> scenario::Interferer {
        scenario::Interferer {
            channel: None,
            level_dbm: -50.0,
            busy_from_dbm: -62.0,
            burst_us,
            pause_us,
            random,
            presence: None,
        }
    }

    /// Share of `seconds` in which a source is on.
    fn share(model: &scenario::Interferer, seed: u64, seconds: u64) -> f64 {
        let mut all = Interference::default();
        let stream = Streams::new(seed).named("interferer/0");
        let (id, mut at) = all.add(model, None, stream);
        let end = Instant::ZERO + Duration::from_secs(seconds);
        let mut on = Duration::ZERO;
        while at < end {
            let turn = all.turn(id, at);
            if turn.begins {
                on += turn.next.min(end) - at;
            }
            at = turn.next;
        }
        on.as_secs_f64() / seconds as f64
    }

    #[test]
    fn a_source_is_on_for_its_share_of_the_time() {
        // Whole cycles but one.
        let periodic = share(&model(10_000.0, 10_000.0, false), 1, 100);
        assert!((periodic - 0.5).abs() <= 0.02 / 100.0, "{periodic}");
        // 40,000 pauses: a standard error of 0.5 % of their mean.
        let random = share(&model(500.0, 2_000.0, true), 2, 100);
        assert!((random - 0.2).abs() < 0.003, "{random}");
    }

    #[test]
    fn presence_gates_the_bursts() {
        let gated = scenario::Interferer {
            presence: Some(scenario::Presence {
                present_s: 1.0,
                absent_s: 3.0,
            }),
            ..model(10_000.0, 10_000.0, false)
        };
        // 2,500 times of presence: a standard error of about 2.5 %.
        let on = share(&gated, 3, 10_000);
        assert!((on - 0.125).abs() < 0.01, "{on}");
    }

    #[test]
    fn a_span_meets_the_bursts_that_it_overlaps() {
        let mut all = Interference::default();
        let streams = Streams::new(5);
        let (id, first) = all.add(&model(100.0, 900.0, false), None, streams.named("a"));
        let turn = all.turn(id, first);
        let power = |from, to| all.power(ChannelId::new(0), Span { from, to });
        let us = Duration::from_micros;
        assert!((power(first, turn.next) - 1e-5).abs() < 1e-12);
        assert_eq!(power(first - us(50), first), 0.0);
        assert_eq!(power(turn.next, turn.next + us(50)), 0.0);
        assert!(power(first - us(50), first + us(1)) > 0.0);
        assert!(power(turn.next - us(1), turn.next + us(50)) > 0.0);
    }

    #[test]
    fn sources_on_other_channels_add_nothing() {
        let mut all = Interference::default();
        let stream = Streams::new(5).named("a");
        let (id, first) = all.add(&model(100.0, 900.0, false), Some(ChannelId::new(1)), stream);
        let end = all.turn(id, first).next;
        let whole = Span {
            from: first,
            to: end,
        };
        assert_eq!(all.power(ChannelId::new(0), whole), 0.0);
        assert!(all.power(ChannelId::new(1), whole) > 0.0);
    }
}
