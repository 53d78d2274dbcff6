//! Walking: a station moves in a straight line, and leaves its access point by level.
//!
//! Each beacon interval moves the station's radios in its BSS and in the next one, and compares the level of the access point with the threshold of the walk. Levels are mean path
//! losses. Carrier sensing between nodes stays as it was at the start.

use airtoll_units::{Duration, Instant};

use super::{Action, Roam, Turn};
use crate::event::RoamEvent;
use crate::id::HandoverId;
use crate::scenario::Walk;

/// Stations measure the beacons of their access point: 100 TU.
const STEP: Duration = Duration::from_micros(102_400);

/// Levels at which a station hears, or would hear, two access points, dBm.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Levels {
    pub old: f64,
    pub new: f64,
}

/// A walk.
pub(crate) struct Walking {
    walk: Walk,
    from_m: [f64; 3],
    began: Instant,
    /// Earliest instant of the next scan.
    not_before: Instant,
}

impl Walking {
    /// A walk that begins at `from_m`, metres.
    pub const fn new(walk: Walk, from_m: [f64; 3]) -> Self {
        Self {
            walk,
            from_m,
            began: Instant::ZERO,
            not_before: Instant::ZERO,
        }
    }

    /// Position of the station, metres.
    fn position(&self, now: Instant) -> [f64; 3] {
        let (from, to) = (self.from_m, self.walk.to_m);
        let square: f64 = from.iter().zip(&to).map(|(a, b)| (a - b) * (a - b)).sum();
        let length = libm::sqrt(square);
        let gone = self.walk.speed_m_s * now.saturating_since(self.began).as_secs_f64();
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

impl Roam {
    pub(super) fn begin_walk(&mut self, id: HandoverId, turn: &mut Turn<'_>) {
        if let Some(walking) = &mut self.handovers[id].plan.walk {
            walking.began = turn.now + Duration::from_secs_f64(walking.walk.begin_s);
        }
        self.step(id, turn);
    }

    /// Puts the station where it is by now, on its channels.
    pub(super) fn put_in_place(&self, id: HandoverId, turn: &mut Turn<'_>) {
        let plan = &self.handovers[id].plan;
        let Some(walking) = &plan.walk else {
            return;
        };
        let position = walking.position(turn.now);
        for session in [plan.before, plan.session] {
            let radio = turn.join.radios_of(session).station;
            turn.radio.place(radio, position);
            turn.out.push(Action::LevelsChanged { radio });
        }
    }

    /// The next hand-over of a walking station continues the walk.
    pub(super) fn walk_on(&mut self, id: HandoverId, next: HandoverId) {
        let walking = &self.handovers[id].plan.walk;
        let Some(began) = walking.as_ref().map(|walking| walking.began) else {
            return;
        };
        if let Some(walking) = &mut self.handovers[next].plan.walk {
            walking.began = began;
        }
    }

    /// The present hand-over of a station, of which `first` is the first one.
    fn on_the_way(&self, first: HandoverId) -> HandoverId {
        let mut id = first;
        loop {
            let handover = &self.handovers[id];
            match handover.next {
                Some(next) if handover.joined.is_some() => id = next,
                _ => return id,
            }
        }
    }

    /// A beacon interval is over: the station measures, and looks for another access point where
    /// its own is too weak.
    pub(super) fn step(&mut self, first: HandoverId, turn: &mut Turn<'_>) {
        let id = self.on_the_way(first);
        self.put_in_place(id, turn);
        let next = turn.now + STEP;
        if next < self.ends {
            turn.schedule(next, RoamEvent::Step(first));
        }
        let old = self.levels(id, turn).old;
        let handover = &mut self.handovers[id];
        let busy = handover.left.is_some() || handover.asked.is_some() || handover.dozing.going;
        let Some(walking) = &mut handover.plan.walk else {
            return;
        };
        if busy || turn.now < walking.not_before || old >= walking.walk.threshold_dbm {
            return;
        }
        walking.not_before = turn.now + handover.plan.again;
        if !handover.over_the_ds() {
            self.leave_and_look(id, turn);
        } else if self.prefers_the_new(id, turn) {
            self.ask_over_the_ds(id, turn);
        }
    }

    /// Levels of the old and the new access point.
    fn levels(&self, id: HandoverId, turn: &Turn<'_>) -> Levels {
        let plan = &self.handovers[id].plan;
        let level = |session| {
            let radios = turn.join.radios_of(session);
            turn.radio.level(radios.access_point, radios.station)
        };
        Levels {
            old: level(plan.before),
            new: level(plan.session),
        }
    }

    /// Whether the station moves to the access point that it found; notes the levels.
    pub(super) fn prefers_the_new(&mut self, id: HandoverId, turn: &mut Turn<'_>) -> bool {
        let heard = self.heard_the_new(id);
        self.put_in_place(id, turn);
        let levels = self.levels(id, turn);
        let handover = &mut self.handovers[id];
        let again = turn.now + handover.plan.again;
        let better = match &mut handover.plan.walk {
            Some(walking) => {
                walking.not_before = again;
                handover.levels = Some(levels);
                levels.new >= levels.old + walking.walk.hysteresis_db
            }
            None => true,
        };
        heard && better
    }
}
