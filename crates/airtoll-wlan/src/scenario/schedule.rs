//! Schedules of target wake time that an access point broadcasts (IEEE 802.11ax-2021, 26.8.3).
//!
//! Takes the stations of a BSS; gives the schedules that they share, and when each one begins. All periods
//! begin at whole TUs, since a beacon says them so (9.4.2.199).

use airtoll_wire::ieee80211::BroadcastSchedule;

use super::{Bss, Node, Role, Scenario, TargetWakeTime};

/// A time unit, us (IEEE 802.11-2020, 3.1).
const TU_US: u64 = 1_024;

/// Service periods that stations share.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Schedule {
    pub shared: TargetWakeTime,
    /// Start of the first period, us from the start of the simulation: whole TUs.
    pub first_us: u64,
}

impl Schedule {
    /// The schedules of a BSS in the order of their first stations, one for each interval and duration. Their
    /// starts are spread: the periods of the k-th of n begin k/n of its interval after the start.
    pub fn of(scenario: &Scenario, bss: &Bss) -> Vec<Self> {
        let members = scenario.nodes.iter().filter(|node| node.is_in(&bss.name));
        let mut shared: Vec<TargetWakeTime> = Vec::new();
        for twt in members.filter_map(Node::schedule) {
            if !shared.contains(&twt) {
                shared.push(twt);
            }
        }
        let all = shared.len() as u64;
        let placed = shared.into_iter().zip(0..);
        placed
            .map(|(shared, number)| Self {
                shared,
                first_us: interval_us(&shared) / TU_US * number / all * TU_US,
            })
            .collect()
    }

    /// The schedule as a beacon at `now_us` announces it.
    pub fn announced(&self, id: u8, now_us: u64) -> BroadcastSchedule {
        let interval_us = interval_us(&self.shared);
        let begun = (now_us + interval_us).saturating_sub(self.first_us) / interval_us;
        BroadcastSchedule {
            id,
            wake_tu: (self.first_us + begun * interval_us) / TU_US,
            interval_us,
            duration_us: self.shared.duration_us.round() as u32,
        }
    }
}

impl Node {
    /// The schedule that a station takes part in.
    fn schedule(&self) -> Option<TargetWakeTime> {
        let twt = self.power_save.and_then(|save| save.twt);
        twt.filter(|twt| twt.broadcast && self.role == Role::Station)
    }

    /// Whether it takes part in a schedule.
    pub(crate) fn is_scheduled(&self) -> bool {
        self.schedule().is_some()
    }
}

/// Whether a beacon can say a schedule's interval.
pub(crate) fn can_be_announced(twt: &TargetWakeTime) -> bool {
    let schedule = Schedule {
        shared: *twt,
        first_us: 0,
    };
    let interval_us = interval_us(twt);
    twt.interval_us == interval_us as f64
        && interval_us.is_multiple_of(TU_US)
        && schedule.announced(1, 0).can_be_said()
}

const fn interval_us(twt: &TargetWakeTime) -> u64 {
    twt.interval_us as u64
}
