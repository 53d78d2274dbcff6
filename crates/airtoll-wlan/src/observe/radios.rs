//! Times that the radios of all nodes transmit, receive and doze, of which energy follows.

use airtoll_units::{Duration, Instant};

use super::{Moment, Observation, Observer};
use crate::id::{NodeId, Table};

/// Service periods of target wake time: `length` from `first` on, and again every `interval`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Periods {
    pub first: Instant,
    pub interval: Duration,
    pub length: Duration,
}

impl Periods {
    /// Whether an instant is in a period.
    pub fn contains(&self, now: Instant) -> bool {
        now >= self.first && self.phase(now) < self.length.as_nanos()
    }

    /// Start of the first period after an instant.
    pub fn next(&self, now: Instant) -> Instant {
        if now < self.first {
            return self.first;
        }
        now + self.interval - Duration::from_nanos(self.phase(now))
    }

    /// Time since the start of the last period, ns; `now` is not before the first one.
    fn phase(&self, now: Instant) -> u64 {
        (now - self.first).as_nanos() % self.interval.as_nanos().max(1)
    }

    /// Time in periods before an instant.
    fn before(&self, until: Instant) -> Duration {
        if until <= self.first {
            return Duration::ZERO;
        }
        let whole = (until - self.first).as_nanos() / self.interval.as_nanos().max(1);
        let rest = self.phase(until).min(self.length.as_nanos());
        Duration::from_nanos(whole * self.length.as_nanos() + rest)
    }
}

/// When a radio dozes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Dozing {
    /// So long after its last frame; with service periods only after a data frame of its own.
    pub after: Duration,
    /// It is awake in these.
    pub periods: Option<Periods>,
    /// From one beacon that it wakes for to the next; the longest time: it wakes for none.
    pub interval: Duration,
    /// Time that it is awake for a beacon, and the airtime of the beacon.
    pub awake: Duration,
    pub beacon: Duration,
    /// Present where the MAC says when it dozes.
    pub told: Option<Told>,
}

/// How a radio dozes by the word of the MAC.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Told {
    /// The first beacon that it wakes for.
    pub first: Instant,
    /// It does not doze before a frame that follows within this time.
    pub turnaround: Duration,
}

/// Shares of the time of a radio that dozes, if nothing is sent.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct DozingShares {
    /// It is awake.
    pub awake: f64,
    /// It receives beacons.
    pub receives: f64,
}

/// Times of a radio since the warm-up.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Times {
    pub transmits: Duration,
    pub receives: Duration,
    pub dozes: Duration,
}

#[derive(Debug, Default)]
struct Radio {
    times: Times,
    dozing: Option<Dozing>,
    /// It is awake until then at least, where it dozes at all.
    awake_until: Instant,
    /// Time that it was awake for group-addressed frames since it began to doze.
    heard: Duration,
}

impl Told {
    /// Beacons that it wakes for, before an instant.
    fn beacons_before(&self, at: Instant, interval: Duration) -> u64 {
        if at < self.first {
            return 0;
        }
        (at - self.first).as_nanos() / interval.as_nanos().max(1) + 1
    }
}

impl Radio {
    /// The times if the radio is silent from its last frame to `until`.
    fn silent_until(&self, until: Instant) -> Times {
        let mut times = self.times;
        let Some(dozing) = self.dozing else {
            return times;
        };
        if until <= self.awake_until {
            return times;
        }
        let asleep = until - self.awake_until;
        let served = dozing.periods.map_or(Duration::ZERO, |periods| {
            periods.before(until) - periods.before(self.awake_until)
        });
        let beacons = match dozing.told {
            None => asleep.as_nanos() / dozing.interval.as_nanos().max(1),
            Some(told) => {
                let before = |at| told.beacons_before(at, dozing.interval);
                before(until) - before(self.awake_until)
            }
        };
        let awake = Duration::from_nanos(dozing.awake.as_nanos() * beacons) + self.heard + served;
        let awake = awake.min(asleep);
        times.dozes += asleep - awake;
        times.receives += Duration::from_nanos(dozing.beacon.as_nanos() * beacons);
        times
    }

    /// It sends or receives a frame.
    #[inline(always)]
    fn busy(&mut self, from: Instant, to: Instant) {
        if self.dozing.is_some() {
            self.busy_of_dozing(from, to);
        }
    }

    #[inline(never)]
    fn busy_of_dozing(&mut self, from: Instant, to: Instant) {
        if let Some(dozing) = self.dozing {
            if let Some(told) = dozing.told {
                let pause = from.saturating_since(self.awake_until);
                let from = if pause <= told.turnaround {
                    from.min(self.awake_until)
                } else {
                    from
                };
                self.wake(from, to);
                return;
            }
            let stays = match dozing.periods {
                Some(_) => Duration::ZERO,
                None => dozing.after,
            };
            self.wake(from, to + stays);
        }
    }

    fn wake(&mut self, from: Instant, until: Instant) {
        if self.dozing.is_some() {
            self.times = self.silent_until(from);
            self.awake_until = self.awake_until.max(until);
            self.heard = Duration::ZERO;
        }
    }

    /// It received a group-addressed frame. It stays awake for it alone: Linux's timer restarts at
    /// unicast frames.
    fn listen(&mut self, from: Instant, length: Duration) {
        self.times.receives += length;
        if let Some(dozing) = self.dozing
            && from >= self.awake_until
            && !dozing.periods.is_some_and(|periods| periods.contains(from))
        {
            self.heard += length;
        }
    }
}

/// Times of all radios since the warm-up.
#[derive(Debug, Default)]
pub(super) struct Radios {
    nodes: Table<NodeId, Radio>,
}

impl Radios {
    pub(super) fn add(&mut self) {
        self.nodes.push(Radio::default());
    }

    pub(super) fn set_dozing(&mut self, node: NodeId, dozing: Dozing) {
        self.nodes[node].dozing = Some(dozing);
        self.nodes[node].awake_until = match dozing.told {
            None => Instant::ZERO + dozing.after,
            Some(_) => Instant::MAX,
        };
    }

    /// Shares of the time of a dozing node.
    pub(super) fn dozing_of(&self, node: NodeId) -> Option<DozingShares> {
        let dozing = self.nodes[node].dozing?;
        let share = |part: Duration, whole: Duration| match whole {
            Duration::MAX => 0.0,
            _ => part.as_secs_f64() / whole.as_secs_f64(),
        };
        let served = dozing
            .periods
            .map_or(0.0, |periods| share(periods.length, periods.interval));
        let awake = share(dozing.awake, dozing.interval) + served;
        Some(DozingShares {
            awake: awake.min(1.0),
            receives: share(dozing.beacon, dozing.interval),
        })
    }

    /// The times of a node up to `end`.
    pub(super) fn of(&self, node: NodeId, end: Instant) -> Times {
        self.nodes[node].silent_until(end)
    }
}

impl Observer for Radios {
    #[inline(always)]
    fn observe(&mut self, moment: Moment, observation: Observation<'_>) {
        match observation {
            Observation::Transmits { node, length, .. } => {
                let radio = &mut self.nodes[node];
                radio.busy(moment.now, moment.now + length);
                radio.times.transmits += length;
            }
            Observation::Receives { node, length } => {
                let radio = &mut self.nodes[node];
                radio.busy(moment.now - length, moment.now);
                radio.times.receives += length;
            }
            Observation::Listens { node, length } => {
                self.nodes[node].listen(moment.now - length, length);
            }
            Observation::Wakes { node } => {
                let radio = &mut self.nodes[node];
                let until = match radio.dozing {
                    Some(Dozing { told: Some(_), .. }) => Instant::MAX,
                    dozing => moment.now + dozing.map_or(Duration::ZERO, |dozing| dozing.after),
                };
                radio.wake(moment.now, until);
            }
            Observation::Dozes { node, at } => self.nodes[node].awake_until = at,
            Observation::WarmedUp => {
                for radio in &mut self.nodes {
                    radio.times = Times::default();
                    radio.awake_until = match radio.dozing {
                        Some(Dozing { told: Some(_), .. }) => radio.awake_until.max(moment.now),
                        dozing => moment.now + dozing.map_or(Duration::ZERO, |dozing| dozing.after),
                    };
                    radio.heard = Duration::ZERO;
                }
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Moment {
        Moment {
            now: Instant::ZERO + Duration::from_micros(1_000 * ms),
            warm_up: Instant::ZERO,
            end: Instant::MAX,
        }
    }

    fn ms(number: u64) -> Duration {
        Duration::from_micros(1_000 * number)
    }

    #[test]
    fn a_group_addressed_frame_wakes_a_dozing_radio_for_its_own_length() {
        let node = NodeId::new(0);
        let mut radios = Radios::default();
        radios.add();
        let dozing = Dozing {
            after: ms(100),
            periods: None,
            interval: ms(300),
            awake: ms(3),
            beacon: ms(1),
            told: None,
        };
        radios.set_dozing(node, dozing);
        let hears = |length| Observation::Listens { node, length };
        // Awake until 100 ms: the first frame changes no doze.
        radios.observe(at(50), hears(ms(2)));
        radios.observe(at(500), hears(ms(5)));
        let times = radios.of(node, at(1_000).now);
        assert_eq!(times.dozes, ms(900 - 3 * 3 - 5));
        assert_eq!(times.receives, ms(2 + 5 + 3));
    }

    #[test]
    fn a_radio_dozes_after_its_last_frame_and_wakes_for_beacons() {
        let node = NodeId::new(0);
        let mut radios = Radios::default();
        radios.add();
        radios.set_dozing(
            node,
            Dozing {
                after: ms(100),
                periods: None,
                interval: ms(300),
                awake: ms(3),
                beacon: ms(1),
                told: None,
            },
        );
        let sends = Observation::Transmits {
            node,
            kind: 0,
            length: ms(1),
        };
        radios.observe(at(0), sends);
        // Awake to 101 ms, asleep to 1,101 ms with three beacons, awake again by its own frame.
        radios.observe(at(1_101), sends);
        let times = radios.of(node, at(1_150).now);
        assert_eq!(times.transmits, ms(2));
        assert_eq!(times.dozes, ms(1_000 - 9));
        assert_eq!(times.receives, ms(3));
        // The silence at the end counts, too.
        let later = radios.of(node, at(1_302).now);
        assert_eq!(later.dozes, ms(1_000 - 9 + 100));
    }
}
