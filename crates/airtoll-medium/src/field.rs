//! Received levels between radios over time: levels, positions, movement.
//!
//! Takes [`Settings`] and the time since the medium began; gives received powers, what is sensed,
//! and signal-to-noise ratios. Path loss, walls and noise are those of the simulator.

use airtoll_phy::{TxVector, frame_success, header_success, milliwatts, noise_floor};
use airtoll_units::{Db, Dbm, Duration};
use airtoll_wlan::loss_db;

use crate::settings::{LevelPoint, Settings, Waypoint};

/// Powers between all pairs of radios as they change.
#[derive(Debug, Clone)]
pub struct Field {
    settings: Settings,
    levels: Vec<([usize; 2], Vec<LevelPoint>)>,
    hidden: Vec<[usize; 2]>,
}

impl Field {
    /// The field of checked settings.
    #[must_use]
    pub fn new(settings: Settings) -> Self {
        let ends = |pair: &[String; 2]| {
            pair.each_ref()
                .map(|name| settings.index(name).expect("settings are checked"))
        };
        let levels = settings
            .levels
            .iter()
            .map(|level| (ends(&level.radios), level.points.clone()))
            .collect();
        let hidden = settings.hidden.iter().map(ends).collect();
        Self {
            settings,
            levels,
            hidden,
        }
    }

    /// From now on either of two radios hears the other at `dbm`.
    pub fn set_level(&mut self, pair: [usize; 2], dbm: f64) {
        let points = vec![LevelPoint { at_s: 0.0, dbm }];
        match self.levels.iter_mut().find(|(ends, _)| same(*ends, pair)) {
            Some((_, old)) => *old = points,
            None => self.levels.push((pair, points)),
        }
    }

    /// Power that `to` receives from `from`, dBm, `at` after the beginning.
    #[must_use]
    pub fn power_dbm(&self, from: usize, to: usize, at: Duration) -> f64 {
        let at_s = at.as_secs_f64();
        if let Some((_, points)) = self.levels.iter().find(|(ends, _)| same(*ends, [from, to])) {
            return between(
                points,
                at_s,
                |point| point.at_s,
                |a, b, share| a.dbm + (b.dbm - a.dbm) * share,
            );
        }
        let radios = &self.settings.radios;
        let [a, b] = [from, to].map(|i| position(&radios[i].path, at_s));
        radios[from].tx_power_dbm - loss_db(&self.settings.path_loss, &self.settings.walls, a, b)
    }

    /// Whether `to` senses what `from` sends; every radio senses itself.
    #[must_use]
    pub fn hears(&self, to: usize, from: usize, at: Duration) -> bool {
        to == from
            || (!self.hidden.iter().any(|pair| same(*pair, [from, to]))
                && self.power_dbm(from, to, at) >= self.settings.carrier_sense_dbm)
    }

    /// Probability that a frame of `octets` octets arrives where nothing overlaps it.
    #[must_use]
    pub fn success(&self, ends: [usize; 2], v: &TxVector, octets: u32, at: Duration) -> f64 {
        if !self.settings.frame_errors {
            return 1.0;
        }
        let bandwidth_hz = f64::from(v.width().mhz()) * 1e6;
        let noise = milliwatts(noise_floor(bandwidth_hz, Db(self.settings.noise_figure_db)));
        let snr = milliwatts(Dbm(self.power_dbm(ends[0], ends[1], at))) / noise;
        frame_success(v, snr, octets) * header_success(v, snr)
    }
}

fn same(a: [usize; 2], b: [usize; 2]) -> bool {
    a == b || a == [b[1], b[0]]
}

fn position(path: &[Waypoint], at_s: f64) -> [f64; 3] {
    if path.is_empty() {
        return [0.0; 3];
    }
    between(
        path,
        at_s,
        |point| point.at_s,
        |a, b, share| {
            let mut place = a.position_m;
            for (axis, end) in place.iter_mut().zip(b.position_m) {
                *axis += (end - *axis) * share;
            }
            place
        },
    )
}

/// The value at a time between points whose times rise; the first before, the last after them.
fn between<P, V>(
    points: &[P],
    at_s: f64,
    time: impl Fn(&P) -> f64,
    value: impl Fn(&P, &P, f64) -> V,
) -> V {
    let after = points.partition_point(|point| time(point) <= at_s);
    let (a, b) = (
        &points[after.saturating_sub(1)],
        &points[after.min(points.len() - 1)],
    );
    let span = time(b) - time(a);
    let share = if span > 0.0 {
        ((at_s - time(a)) / span).clamp(0.0, 1.0)
    } else {
        0.0
    };
    value(a, b, share)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn field(rest: &str) -> Field {
        let text = format!(
            r#"{{"radios":[
            {{"name":"ap","address":"42:00:00:00:00:00"}},
            {{"name":"sta","address":"42:00:00:00:01:00","path":[
                {{"at_s":1.0,"position_m":[1.0,0,0]}},{{"at_s":11.0,"position_m":[11.0,0,0]}}]}}],
            "path_loss":{{"model":"log_distance","reference_db":40.0,"exponent":2.0}}{rest}}}"#
        );
        Field::new(Settings::from_json(&text).unwrap())
    }

    #[test]
    fn power_follows_the_path() {
        let f = field("");
        let at = |s| f.power_dbm(0, 1, Duration::from_secs(s));
        assert_eq!(at(0), 16.0 - 40.0);
        assert_eq!(at(1), 16.0 - 40.0);
        // Ten metres after ten seconds: 20 dB more.
        assert!((at(10) - (16.0 - 60.0)).abs() < 1e-9);
        assert_eq!(at(11), at(100));
        assert_eq!(at(10), f.power_dbm(1, 0, Duration::from_secs(10)));
    }

    #[test]
    fn levels_override_positions_and_fade() {
        let mut f = field(
            r#","levels":[{"radios":["sta","ap"],
            "points":[{"at_s":0,"dbm":-40.0},{"at_s":10,"dbm":-90.0}]}]"#,
        );
        assert_eq!(f.power_dbm(0, 1, Duration::from_secs(5)), -65.0);
        assert!(f.hears(1, 0, Duration::from_secs(8)));
        assert!(!f.hears(1, 0, Duration::from_secs(9)));
        f.set_level([0, 1], -50.0);
        assert_eq!(f.power_dbm(1, 0, Duration::from_secs(9)), -50.0);
    }
}
