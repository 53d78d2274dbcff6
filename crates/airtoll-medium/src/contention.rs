//! Contention: back-off of one queue, and what a radio senses of a channel
//! (IEEE 802.11-2020 clauses 10.3.4 and 10.23.2).
//!
//! Takes instants, gives instants. The rules are those of the simulator (`airtoll-wlan`), for a
//! handful of radios: each queue keeps its own counter instead of sharing one with its class.

use std::collections::VecDeque;

use airtoll_engine::Stream;
use airtoll_phy::{AccessCategory, TimingSet, aifs, difs, edca_parameters};
use airtoll_units::{Duration, Instant};

/// Which queue of a radio a frame waits in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Class {
    /// QoS data of a category: EDCA.
    Category(AccessCategory),
    /// Data without QoS: DCF.
    Plain,
    /// Management, beacons among it: DCF, and first within its radio.
    Management,
}

impl Class {
    /// All queues of a radio.
    pub const ALL: [Self; 6] = [
        Self::Category(AccessCategory::Background),
        Self::Category(AccessCategory::BestEffort),
        Self::Plain,
        Self::Category(AccessCategory::Video),
        Self::Category(AccessCategory::Voice),
        Self::Management,
    ];

    /// The category of a traffic identifier (Table 10-1).
    pub const fn of_tid(tid: u16) -> Self {
        Self::Category(match tid & 7 {
            1 | 2 => AccessCategory::Background,
            0 | 3 => AccessCategory::BestEffort,
            4 | 5 => AccessCategory::Video,
            _ => AccessCategory::Voice,
        })
    }
}

/// State of a contender.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Standing {
    /// No frame; its post-back-off may still count.
    Resting,
    /// Has a frame and counts.
    Counting,
    /// In a frame exchange.
    Exchanging,
}

/// One queue that contends; `F` is what waits in it.
#[derive(Debug)]
pub(crate) struct Contender<F> {
    pub radio: usize,
    pub class: Class,
    pub channel: usize,
    pub standing: Standing,
    pub queue: VecDeque<F>,
    /// One entry for each frame at the head of the queue that the present PPDU holds: whether its
    /// receiver has got it.
    pub batch: Vec<bool>,
    /// Slots left to count.
    slots: u32,
    cw: u32,
    /// Failures since the window was last at its least (QSRC or SSRC): the station's own count, not
    /// that of the frame at hand.
    retries: u32,
    rules: Rules,
    /// No counting before.
    not_before: Instant,
    /// Immediate access: at this instant if nothing is heard until then.
    at_once: Option<Instant>,
}

#[derive(Debug, Clone, Copy)]
struct Rules {
    space: Duration,
    slot: Duration,
    cw_min: u32,
    cw_max: u32,
    edca: bool,
}

/// Carrier sense of one radio on one channel.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ear {
    /// Transmissions that it hears now.
    pub heard: u32,
    /// When the last of them ended.
    pub idle_since: Instant,
    /// Until when virtual carrier sense or EIFS keeps it silent.
    pub reserved: Instant,
}

impl Ear {
    pub const fn new(now: Instant) -> Self {
        Self {
            heard: 0,
            idle_since: now,
            reserved: now,
        }
    }
}

impl<F> Contender<F> {
    pub fn new(radio: usize, class: Class, now: Instant) -> Self {
        Self {
            radio,
            class,
            channel: usize::MAX,
            standing: Standing::Resting,
            queue: VecDeque::new(),
            batch: Vec::new(),
            slots: 0,
            cw: 0,
            retries: 0,
            rules: Rules::of(class, &TimingSet::OFDM, false),
            not_before: now,
            at_once: None,
        }
    }

    /// Works by the rules of a channel from now on.
    pub fn join(&mut self, channel: usize, timing: &TimingSet, dsss: bool) {
        if self.channel != channel {
            self.channel = channel;
            self.rules = Rules::of(self.class, timing, dsss);
            self.narrow();
        }
    }

    /// When it transmits if nothing more is heard; `None` while it may not count.
    pub fn access(&self, ear: &Ear) -> Option<Instant> {
        if self.standing != Standing::Counting || ear.heard > 0 {
            return None;
        }
        Some(
            self.at_once
                .unwrap_or_else(|| self.start(ear) + self.rules.slot * u64::from(self.slots)),
        )
    }

    /// A transmission begins to be heard at `now` where all was quiet: the counter stops.
    pub fn freeze(&mut self, now: Instant, ear: &Ear, draws: &mut Stream) {
        if self.standing == Standing::Exchanging {
            return;
        }
        if self.at_once.take().is_some() {
            // 10.3.4.2: not idle for a whole DIFS, so a back-off after all.
            self.slots = draws.up_to(self.cw);
            return;
        }
        let start = self.start(ear);
        if now >= start {
            let passed = (now - start) / self.rules.slot + u64::from(self.rules.edca);
            self.slots = u64::from(self.slots).saturating_sub(passed) as u32;
        }
    }

    /// A frame came into the empty queue of a contender at rest.
    pub fn wake(&mut self, now: Instant, ear: &Ear, draws: &mut Stream) {
        self.standing = Standing::Counting;
        let start = self.start(ear);
        let counted = start + self.rules.slot * u64::from(self.slots);
        let done = if ear.heard > 0 {
            self.slots == 0
        } else {
            counted <= now || self.slots == 0
        };
        if !done {
            return;
        }
        self.slots = 0;
        if ear.heard > 0 || ear.reserved > now {
            // 10.3.4.2: a frame that finds the medium busy is sent after a back-off.
            self.slots = draws.up_to(self.cw);
        } else if self.rules.edca {
            // 10.23.2.4: EDCA functions act at slot boundaries only.
            if now > start {
                self.slots = (now - start).div_ceil(self.rules.slot) as u32;
            }
        } else {
            // 10.3.4.2: sent once the medium has been sensed idle for a whole DIFS.
            self.at_once = Some(now.max(self.not_before) + self.rules.space);
        }
    }

    /// Its counter ended.
    pub fn take_access(&mut self) {
        self.standing = Standing::Exchanging;
        self.at_once = None;
    }

    /// An exchange or attempt is over: a new back-off, counted from `now` at the earliest.
    pub fn back_off(&mut self, now: Instant, has_frame: bool, draws: &mut Stream) {
        self.slots = draws.up_to(self.cw);
        self.not_before = now;
        self.at_once = None;
        self.standing = if has_frame {
            Standing::Counting
        } else {
            Standing::Resting
        };
    }

    /// Its frames are gone before it transmitted: its counter goes on as a post-back-off.
    pub fn rest(&mut self) {
        if self.standing == Standing::Counting {
            self.standing = Standing::Resting;
            self.at_once = None;
        }
    }

    /// Its radio transmits or owes a response until `until`.
    pub fn postpone(&mut self, until: Instant) {
        self.standing = Standing::Counting;
        self.at_once = None;
        self.slots = 0;
        self.not_before = until;
    }

    /// After a failure: the window doubles, or falls back after more failures than a frame has
    /// attempts (10.23.2.2: QSRC below the limit is incremented, else it becomes 0). A frame that is
    /// given up does not narrow it: the one behind it begins with a wide window.
    pub fn widen(&mut self, attempts: u32) {
        if self.retries < attempts {
            self.retries += 1;
            self.cw = (self.cw * 2 + 1).min(self.rules.cw_max);
        } else {
            self.narrow();
        }
    }

    /// After a success: the window is at its least.
    pub fn narrow(&mut self) {
        self.cw = self.rules.cw_min;
        self.retries = 0;
    }

    /// The contention window, slots.
    #[cfg(test)]
    pub fn window(&self) -> u32 {
        self.cw
    }

    fn start(&self, ear: &Ear) -> Instant {
        ear.idle_since.max(ear.reserved).max(self.not_before) + self.rules.space
    }
}

impl Rules {
    fn of(class: Class, timing: &TimingSet, dsss: bool) -> Self {
        match class {
            Class::Category(category) => {
                let p = edca_parameters(category, timing, dsss);
                Self {
                    space: aifs(timing, p.aifsn),
                    slot: timing.slot,
                    cw_min: p.cw_min,
                    cw_max: p.cw_max,
                    edca: true,
                }
            }
            Class::Plain | Class::Management => Self {
                space: difs(timing),
                slot: timing.slot,
                cw_min: timing.cw_min,
                cw_max: timing.cw_max,
                edca: false,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use airtoll_engine::Streams;

    fn micros(n: u64) -> Instant {
        Instant::ZERO + Duration::from_micros(n)
    }

    #[test]
    fn a_busy_medium_stops_the_counter_and_idle_time_goes_on_from_there() {
        let mut draws = Streams::new(1).named("draws");
        let mut c: Contender<()> = Contender::new(0, Class::Plain, Instant::ZERO);
        c.join(0, &TimingSet::DSSS, true);
        c.back_off(Instant::ZERO, true, &mut draws);
        c.slots = 10;
        let mut ear = Ear::new(Instant::ZERO);
        assert_eq!(c.access(&ear), Some(micros(50 + 200)));
        // Three slots and a half pass before another radio begins.
        c.freeze(micros(50 + 70), &ear, &mut draws);
        ear.heard = 1;
        assert_eq!(c.access(&ear), None);
        ear.heard = 0;
        ear.idle_since = micros(1_000);
        assert_eq!(c.access(&ear), Some(micros(1_000 + 50 + 140)));
        ear.reserved = micros(1_100);
        assert_eq!(c.access(&ear), Some(micros(1_100 + 50 + 140)));
    }

    #[test]
    fn a_frame_that_finds_the_medium_idle_waits_one_space() {
        let mut draws = Streams::new(1).named("draws");
        let mut c: Contender<()> = Contender::new(0, Class::Plain, Instant::ZERO);
        c.join(0, &TimingSet::DSSS, true);
        let ear = Ear::new(Instant::ZERO);
        c.wake(micros(700), &ear, &mut draws);
        assert_eq!(c.access(&ear), Some(micros(750)));
    }

    #[test]
    fn windows_double_up_to_their_most_and_fall_back() {
        let mut c: Contender<()> = Contender::new(0, Class::Plain, Instant::ZERO);
        c.join(0, &TimingSet::DSSS, true);
        assert_eq!(c.window(), 31);
        // The seventh failure ends a frame of seven attempts, the eighth is of the next frame.
        for expected in [63, 127, 255, 511, 1_023, 1_023, 1_023, 31, 63] {
            c.widen(7);
            assert_eq!(c.window(), expected);
        }
        c.narrow();
        assert_eq!(c.window(), 31);
    }
}
