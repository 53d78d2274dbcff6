//! Times that the radios of all nodes transmit, receive and doze, of which energy follows.

use airtoll_units::{Duration, Instant};

use super::{Moment, Observation, Observer};
use crate::id::{NodeId, Table};

/// When a radio dozes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Dozing {
    /// So long after its last frame.
    pub after: Duration,
    /// From one beacon that it wakes for to the next.
    pub interval: Duration,
    /// Time that it is awake for a beacon, and the airtime of the beacon.
    pub awake: Duration,
    pub beacon: Duration,
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
    /// End of its last frame.
    last: Instant,
    /// Time that it was awake for group-addressed frames since it began to doze.
    heard: Duration,
}

impl Radio {
    /// The times if the radio is silent from its last frame to `until`.
    fn silent_until(&self, until: Instant) -> Times {
        let mut times = self.times;
        let Some(dozing) = self.dozing else {
            return times;
        };
        let silence = until.max(self.last) - self.last;
        if silence <= dozing.after {
            return times;
        }
        let asleep = silence - dozing.after;
        let beacons = asleep.as_nanos() / dozing.interval.as_nanos().max(1);
        let awake = Duration::from_nanos(dozing.awake.as_nanos() * beacons) + self.heard;
        let awake = awake.min(asleep);
        times.dozes += asleep - awake;
        times.receives += Duration::from_nanos(dozing.beacon.as_nanos() * beacons);
        times
    }

    fn wake(&mut self, from: Instant, to: Instant) {
        if self.dozing.is_some() {
            self.times = self.silent_until(from);
            self.last = self.last.max(to);
            self.heard = Duration::ZERO;
        }
    }

    /// It received a group-addressed frame. It stays awake for it alone: Linux's timer restarts at
    /// unicast frames.
    fn listen(&mut self, from: Instant, length: Duration) {
        self.times.receives += length;
        if let Some(dozing) = self.dozing
            && from >= self.last + dozing.after
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
                radio.wake(moment.now, moment.now + length);
                radio.times.transmits += length;
            }
            Observation::Receives { node, length } => {
                let radio = &mut self.nodes[node];
                radio.wake(moment.now - length, moment.now);
                radio.times.receives += length;
            }
            Observation::Listens { node, length } => {
                self.nodes[node].listen(moment.now - length, length);
            }
            Observation::Wakes { node } => self.nodes[node].wake(moment.now, moment.now),
            Observation::WarmedUp => {
                for radio in &mut self.nodes {
                    radio.times = Times::default();
                    radio.last = moment.now;
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
            interval: ms(300),
            awake: ms(3),
            beacon: ms(1),
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
                interval: ms(300),
                awake: ms(3),
                beacon: ms(1),
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
