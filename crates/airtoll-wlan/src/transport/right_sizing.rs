//! Receive-window tuning of Linux: dynamic right-sizing (`tcp_rcv_space_adjust`).
//!
//! Takes octets that arrive in order and round trips as the receiver sees them; gives the window that
//! lets a sender double what it sends in a round trip. Never shrinks the window.

/// Segments of the first measurement (`TCP_INIT_CWND`).
const FIRST_SEGMENTS: u64 = 10;
/// Segments beyond twice the octets of a round trip.
const SPARE_SEGMENTS: u64 = 16;

/// State of one receiver; octets and ns.
#[derive(Debug, Clone)]
pub(super) struct RightSizing {
    /// The window ends here.
    most: u64,
    /// Smoothed round trip, eight times.
    round_trip: Option<u64>,
    last_echo: u64,
    /// Without timestamps: the offset whose arrival is one window later, and when it was set.
    window_end: Option<(u64, u64)>,
    /// Offset and time at which the measurement began.
    measured_from: u64,
    measured_at: u64,
    /// Octets of the best round trip so far; 0: none.
    best: u64,
}

/// An arrival in order.
#[derive(Debug, Clone, Copy)]
pub(super) struct Arrival {
    pub(super) now: u64,
    /// Stream offset up to which everything has arrived.
    pub(super) expected: u64,
    /// Longest segment so far.
    pub(super) segment: u64,
    /// When the acknowledgement left that the segment echoes, with timestamps.
    pub(super) echo: Option<u64>,
    /// The window now.
    pub(super) window: u64,
}

impl RightSizing {
    pub(super) fn new(most: u64) -> Self {
        Self {
            most,
            round_trip: None,
            last_echo: 0,
            window_end: None,
            measured_from: 0,
            measured_at: 0,
            best: 0,
        }
    }

    /// The window after an arrival.
    pub(super) fn on_arrival(&mut self, at: Arrival) -> u64 {
        match at.echo {
            Some(echo) => self.note_echo(at.now, echo),
            None => self.note_window(at),
        }
        let Some(round_trip) = self.round_trip.map(|eight| eight / 8) else {
            return at.window;
        };
        if at.now - self.measured_at < round_trip {
            return at.window;
        }
        let copied = at.expected - self.measured_from;
        self.measured_from = at.expected;
        self.measured_at = at.now;
        if self.best == 0 {
            self.best = at.window.min(FIRST_SEGMENTS * at.segment);
        }
        if copied <= self.best {
            return at.window;
        }
        let twice = 2 * copied + SPARE_SEGMENTS * at.segment;
        // Room for a sender whose rate grows, as in slow start.
        let grown = u128::from(twice) * u128::from(copied - self.best) / u128::from(self.best);
        self.best = copied;
        let wanted = u128::from(twice) + 2 * grown;
        let wanted = u64::try_from(wanted).unwrap_or(u64::MAX);
        at.window.max(wanted.min(self.most))
    }

    fn note_echo(&mut self, now: u64, echo: u64) {
        if echo == 0 || echo == self.last_echo {
            return;
        }
        self.last_echo = echo;
        let sample = now.saturating_sub(echo).max(1);
        self.round_trip = Some(match self.round_trip {
            None => 8 * sample,
            Some(eight) => eight - eight / 8 + sample,
        });
    }

    /// A window of octets takes a round trip or more: the least time counts.
    fn note_window(&mut self, at: Arrival) {
        match self.window_end {
            Some((end, _)) if at.expected < end => return,
            Some((_, begun)) => {
                let sample = 8 * (at.now - begun).max(1);
                self.round_trip = Some(self.round_trip.map_or(sample, |known| known.min(sample)));
            }
            None => {}
        }
        self.window_end = Some((at.expected + at.window, at.now));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    /// The window after rounds of 10 ms in which `octets(n)` arrive.
    fn run(timestamps: bool, rounds: u64, octets: impl Fn(u64) -> u64) -> u64 {
        let mut sizing = RightSizing::new(3 << 20);
        let (mut window, mut expected) = (65_536, 0);
        for n in 1..=rounds {
            expected += octets(n);
            window = sizing.on_arrival(Arrival {
                now: n * 10 * MS,
                expected,
                segment: 1_448,
                echo: timestamps.then(|| (n - 1) * 10 * MS + 1),
                window,
            });
        }
        window
    }

    #[test]
    fn the_window_is_twice_what_a_steady_sender_sends_in_a_round_trip() {
        let steady = |_| 40 * 1_448;
        let window = run(true, 20, steady);
        // The first round beyond ten segments opens further, as for a sender that doubles.
        assert!(window >= 2 * 40 * 1_448 + 16 * 1_448, "{window}");
        assert_eq!(window, run(true, 200, steady));
    }

    #[test]
    fn a_growing_sender_opens_it_up_to_the_limit() {
        for timestamps in [false, true] {
            let window = run(timestamps, 12, |n| 1_448 * (10 << n.min(11)));
            assert_eq!(window, 3 << 20, "{timestamps}");
        }
        assert_eq!(
            run(true, 50, |_| 1_448),
            65_536,
            "a slow sender needs no more"
        );
    }
}
