//! Walking: a station that moves in a straight line, and leaves where the levels say so.
//!
//! Takes a walk; moves the station and the node that stands for it in the next BSS at every beacon
//! interval, and says when it looks for another access point and whether it moves there. Levels are
//! mean path losses; who senses whom stays as it was.

use airtoll_units::{Duration, Instant};

use super::MobilityEvent;
use crate::event::Event;
use crate::scenario::Walk;
use crate::world::World;

/// Stations measure their access point by its beacons: 100 TU.
const STEP: Duration = Duration::from_micros(102_400);

/// A station on its way.
pub(super) struct Walking {
    walk: Walk,
    from_m: [f64; 3],
    began: Instant,
    /// No scan before.
    not_before: Instant,
}

impl Walking {
    pub(super) const fn new(walk: Walk, from_m: [f64; 3]) -> Self {
        Self {
            walk,
            from_m,
            began: Instant::ZERO,
            not_before: Instant::ZERO,
        }
    }

    /// Where it is, metres.
    fn position(&self, now: Instant) -> [f64; 3] {
        let (from, to) = (self.from_m, self.walk.to_m);
        let square: f64 = from.iter().zip(&to).map(|(a, b)| (a - b) * (a - b)).sum();
        let length = libm::sqrt(square);
        let gone = self.walk.speed_m_s * (now - self.began).as_secs_f64();
        let turned = self.walk.back && gone > length;
        let gone = if turned { 2.0 * length - gone } else { gone };
        let share = if gone < length {
            (gone / length).max(0.0)
        } else {
            1.0
        };
        core::array::from_fn(|axis| from[axis] + share * (to[axis] - from[axis]))
    }
}

impl World {
    pub(super) fn walks(&self, number: u32) -> bool {
        self.mobility.handovers[number as usize].walk.is_some()
    }

    pub(super) fn begin_walk(&mut self, number: u32) {
        let now = self.stack.lower.cx.events.now();
        if let Some(walking) = &mut self.mobility.handovers[number as usize].walk {
            walking.began = now;
        }
        self.step(number);
    }

    /// Puts the station where it is by now, on the channels that it is on.
    pub(super) fn put_in_place(&mut self, number: u32) {
        let now = self.stack.lower.cx.events.now();
        let handover = &self.mobility.handovers[number as usize];
        let Some(walking) = &handover.walk else {
            return;
        };
        let position = walking.position(now);
        let (station, there, away) = (handover.from, handover.there, handover.left.is_some());
        let (_, old) = self.association.ends_of(handover.before);
        self.stack.lower.medium.radio.place(station, position);
        self.stack.lower.medium.radio.place(there, position);
        if away {
            self.stack.lower.medium.radio.part(station, old);
        }
        self.forget_success(station);
        self.forget_success(there);
    }

    /// The next hand-over of a station that walks begins where this one ended.
    pub(super) fn walk_on(&mut self, number: u32, next: u32) {
        let walking = &self.mobility.handovers[number as usize].walk;
        let Some(began) = walking.as_ref().map(|walking| walking.began) else {
            return;
        };
        if let Some(walking) = &mut self.mobility.handovers[next as usize].walk {
            walking.began = began;
        }
    }

    /// The hand-over that a station is about, of which this is the first.
    fn on_the_way(&self, first: u32) -> u32 {
        let mut number = first;
        loop {
            let handover = &self.mobility.handovers[number as usize];
            match handover.next {
                Some(next) if handover.joined.is_some() => number = next,
                _ => return number,
            }
        }
    }

    /// Another beacon interval is over: the station measures, and looks for another access point
    /// where its own is too weak.
    pub(super) fn step(&mut self, first: u32) {
        let now = self.stack.lower.cx.events.now();
        let number = self.on_the_way(first);
        self.put_in_place(number);
        let next = now + STEP;
        if next < self.stack.lower.cx.end {
            let event = MobilityEvent::Step { handover: first };
            self.stack
                .lower
                .cx
                .events
                .schedule(next, Event::Mobility(event));
        }
        let handover = &self.mobility.handovers[number as usize];
        let Some(walking) = &handover.walk else {
            return;
        };
        let busy = handover.left.is_some() || handover.asked.is_some() || handover.dozing.going;
        let (old, _) = self.levels(number);
        if busy || now < walking.not_before || old >= walking.walk.threshold_dbm {
            return;
        }
        let over_the_ds = handover.over_the_ds;
        let again = now + handover.again;
        if let Some(walking) = &mut self.mobility.handovers[number as usize].walk {
            walking.not_before = again;
        }
        if !over_the_ds {
            self.leave_and_look(number);
        } else if self.prefers_the_new(number) {
            self.ask_over_the_ds(number);
        }
    }

    /// Levels at which the station hears, or would hear, the old and the new access point, dBm.
    fn levels(&self, number: u32) -> (f64, f64) {
        let handover = &self.mobility.handovers[number as usize];
        let (_, old) = self.association.ends_of(handover.before);
        let (_, new) = self.association.ends_of(handover.join);
        (
            self.stack.lower.medium.radio.level(old, handover.from),
            self.stack.lower.medium.radio.level(new, handover.there),
        )
    }

    /// Whether what the station found is worth moving to; notes the levels if it is.
    pub(super) fn prefers_the_new(&mut self, number: u32) -> bool {
        let heard = self.heard_the_new(number);
        self.put_in_place(number);
        let (old, new) = self.levels(number);
        let again =
            self.stack.lower.cx.events.now() + self.mobility.handovers[number as usize].again;
        let handover = &mut self.mobility.handovers[number as usize];
        let better = match &mut handover.walk {
            Some(walking) => {
                walking.not_before = again;
                let better = new >= old + walking.walk.hysteresis_db;
                handover.levels = Some((old, new));
                better
            }
            None => true,
        };
        heard && better
    }
}
