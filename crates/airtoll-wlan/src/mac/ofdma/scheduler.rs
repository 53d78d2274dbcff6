//! Scheduler: equal resource units, stations in turn, as `RrMultiUserScheduler` of ns-3.44 without central
//! 26-tone units.
//!
//! The resource unit is the smallest of which a channel holds no more than there are stations, so that none
//! is left empty; stations that do not fit wait for the next PPDU.

use airtoll_phy::{ResourceUnit, Width};

/// The resource unit of each of `stations` stations, and how many of them take part; `None` for no station.
pub(super) fn equal_units(width: Width, stations: usize) -> Option<(ResourceUnit, usize)> {
    let counts = ResourceUnit::ALL.map(|unit| (unit, unit.count(width) as usize));
    let fits = |(_, count): &(ResourceUnit, usize)| (1..=stations).contains(count);
    counts.into_iter().find(fits)
}

/// The first `count` of `candidates`, ascending, from number `turn` on and around; the turn that follows
/// them.
pub(super) fn in_turn(candidates: &[usize], turn: usize, count: usize) -> (Vec<usize>, usize) {
    let first = candidates.partition_point(|at| *at < turn);
    let around = candidates[first..].iter().chain(&candidates[..first]);
    let chosen: Vec<usize> = around.copied().take(count).collect();
    let next = chosen.last().map_or(turn, |last| last + 1);
    (chosen, next)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_the_smallest_that_leave_none_empty() {
        let at_20 = |stations| equal_units(Width::Mhz20, stations);
        assert_eq!(at_20(0), None);
        assert_eq!(at_20(1), Some((ResourceUnit::Tones242, 1)));
        assert_eq!(at_20(2), Some((ResourceUnit::Tones106, 2)));
        assert_eq!(at_20(3), Some((ResourceUnit::Tones106, 2)));
        assert_eq!(at_20(8), Some((ResourceUnit::Tones52, 4)));
        assert_eq!(at_20(32), Some((ResourceUnit::Tones26, 9)));
        assert_eq!(
            equal_units(Width::Mhz80, 16),
            Some((ResourceUnit::Tones52, 16))
        );
    }

    #[test]
    fn every_station_gets_its_turn() {
        let all: Vec<usize> = (0..5).collect();
        assert_eq!(in_turn(&all, 0, 2), (vec![0, 1], 2));
        assert_eq!(in_turn(&all, 4, 2), (vec![4, 0], 1));
        assert_eq!(in_turn(&all, 5, 2), (vec![0, 1], 2));
        // Those without a frame are skipped.
        assert_eq!(in_turn(&[1, 3, 4], 2, 2), (vec![3, 4], 5));
        assert_eq!(in_turn(&[], 2, 2), (vec![], 2));
    }
}
