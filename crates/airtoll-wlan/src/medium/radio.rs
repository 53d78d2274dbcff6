//! The nodes that receive each other, and the received powers.
//!
//! Takes positions, walls and explicit budgets; gives received powers, the hearing relation and
//! its sensing classes. The levels of a walking station follow its position; the hearing relation
//! stays.

use std::collections::HashMap;

use airtoll_engine::Streams;
use airtoll_phy::{LogDistance, TxVector, frame_success, header_success, milliwatts, noise_floor};
use airtoll_units::{Db, Dbm};

use super::fading;
use super::overlap::{Sensed, Tuning};
use crate::id::{ClassId, Ends, NodeId, RadioId};
use crate::scenario::{Bss, PathLoss, Scenario, Wall};

/// Received powers of all pairs of radios.
#[derive(Debug)]
pub(crate) struct Radio {
    nodes: usize,
    /// Power at the second from the first where nothing parts them, dBm.
    level_dbm: Vec<f64>,
    /// Power at the second from the first, dBm.
    power_dbm: Vec<f64>,
    /// Shadowing between the two, dB; empty without shadowing.
    shadowing_db: Vec<f64>,
    noise_figure: Db,
    carrier_sense_dbm: f64,
    /// BSS colors, OBSS PD levels and powers of all radios; empty where none has such a level.
    reuse: Vec<Reuse>,
    /// Channels of all radios; empty where no channel of a neighbour overlaps others in part.
    tunings: Vec<Tuning>,
    hidden: Vec<(RadioId, RadioId)>,
    frame_errors: bool,
    preamble_capture: Option<f64>,
    frame_capture: Option<f64>,
    /// Success of the last control frame of each pair: what it was, and the probability.
    control: Vec<(Option<u32>, f64)>,
    places: Option<Places>,
}

/// Spatial reuse of a radio (IEEE 802.11ax-2021, 26.10.2).
#[derive(Debug, Clone, Copy, Default)]
struct Reuse {
    /// BSS color; 0: none.
    color: u8,
    /// Frames of another color below it are sensed until the color is read, dBm.
    obss_pd_dbm: Option<f64>,
    /// By how much its power is lower than its own while it reuses the channel, dB.
    reduction_db: f64,
}

/// `TXPWRref` of a station with up to two streams, and `OBSS_PDmin`, dBm (26.10.2.4).
const REFERENCE_POWER_DBM: f64 = 21.0;
const LEAST_OBSS_PD_DBM: f64 = -82.0;

/// The power with which a radio sends a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Power {
    /// Its own.
    Full,
    /// That of spatial reuse.
    Reduced,
}

impl Power {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Full, Self::Reduced];
}

/// How a radio senses the frames of another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sensing {
    /// Not at all.
    Nothing,
    /// Those with a BSS color up to the end of the field that has it, others to their end.
    UpToColor,
    /// To their end.
    Whole,
}

/// Positions and walls that levels are computed from, in a scenario with moving stations.
#[derive(Debug)]
struct Places {
    positions: Vec<[f64; 3]>,
    tx_power_dbm: Vec<f64>,
    path_loss: PathLoss,
    walls: Vec<Wall>,
    /// Pairs whose budget is given.
    given: Vec<bool>,
}

impl Radio {
    /// The powers between radios, each with its node, its BSS and its position, metres; `index` has the
    /// numbers of the nodes. A hidden pair of nodes holds for all radios of the two, a budget for those
    /// in its BSS if it names one.
    pub fn new(
        scenario: &Scenario,
        index: &HashMap<&str, NodeId>,
        radios: &[(NodeId, Option<&str>, [f64; 3])],
        (names, streams): (&[&str], &Streams),
    ) -> Self {
        let nodes = radios.len();
        let radio = &scenario.radio;
        let tx_power_dbm: Vec<f64> = radios
            .iter()
            .map(|(node, ..)| scenario.nodes[node.index()].tx_power_dbm)
            .collect();
        let pairs = |[a, b]: [&str; 2], bss: Option<&str>| {
            let of = |name: &str| {
                let node = index[name];
                let all = radios.iter().enumerate();
                all.filter(move |(_, radio)| radio.0 == node && (bss.is_none() || radio.1 == bss))
                    .map(|(at, _)| at)
                    .collect::<Vec<usize>>()
            };
            let (of_a, of_b) = (of(a), of(b));
            let each = of_a.into_iter();
            each.flat_map(move |i| of_b.clone().into_iter().map(move |j| (i, j)))
        };
        let mut level_dbm = vec![f64::NEG_INFINITY; nodes * nodes];
        for (i, from) in radios.iter().enumerate() {
            for (j, to) in radios.iter().enumerate() {
                let loss = loss_db(&radio.path_loss, &radio.walls, from.2, to.2);
                level_dbm[i * nodes + j] = tx_power_dbm[i] - loss;
            }
        }
        let mut shadowing_db = Vec::new();
        if radio.shadowing_db > 0.0 {
            shadowing_db = vec![0.0; nodes * nodes];
            for (i, j) in (0..nodes).flat_map(|i| (0..i).map(move |j| (i, j))) {
                let pair = [names[j], names[i]];
                let drawn = fading::shadowing_db(radio.shadowing_db, streams, pair);
                shadowing_db[i * nodes + j] = drawn;
                shadowing_db[j * nodes + i] = drawn;
            }
        }
        let mut given = vec![false; nodes * nodes];
        for budget in &radio.budgets {
            let ends = budget.nodes.each_ref().map(String::as_str);
            for (a, b) in pairs(ends, budget.bss.as_deref()) {
                for (i, j) in [(a, b), (b, a)] {
                    given[i * nodes + j] = true;
                    level_dbm[i * nodes + j] = match (budget.rssi_dbm, budget.loss_db) {
                        (Some(rssi), _) => rssi,
                        (_, loss) => tx_power_dbm[i] - loss.unwrap_or(0.0),
                    };
                }
            }
        }
        let bss_of = |name: Option<&str>| scenario.bss.iter().find(|bss| Some(&*bss.name) == name);
        let bsss: Vec<_> = radios.iter().map(|(_, name, _)| bss_of(*name)).collect();
        let stated = |i: usize| bsss[i]?.neighbour?.level_dbm;
        let passing = |i: &usize| bsss[*i].is_some_and(Bss::passes_by);
        let any_level = |bss: &Bss| bss.neighbour.is_some_and(|n| n.level_dbm.is_some());
        if scenario.bss.iter().any(any_level) {
            for (i, j) in (0..nodes).flat_map(|i| (0..nodes).map(move |j| (i, j))) {
                let (from, to) = (radios[i].1, radios[j].1);
                let apart = from != to && from.is_some() && to.is_some();
                let stated_there = match [i, j].iter().find(|at| passing(at)) {
                    Some(&at) => stated(at),
                    None => {
                        let levels = [stated(i), stated(j)].into_iter().flatten();
                        levels.reduce(f64::min)
                    }
                };
                if let Some(level) = stated_there.filter(|_| apart) {
                    given[i * nodes + j] = true;
                    level_dbm[i * nodes + j] = level;
                }
            }
        }
        let mut reuse: Vec<Reuse> = Vec::new();
        if scenario.bss.iter().any(|bss| bss.obss_pd_dbm.is_some()) {
            let of = |bss: &Option<&Bss>| {
                bss.map_or_else(Reuse::default, |bss| Reuse {
                    color: bss.color,
                    obss_pd_dbm: bss.obss_pd_dbm,
                    reduction_db: 0.0,
                })
            };
            reuse = bsss.iter().map(of).collect();
            for (radio, power) in reuse.iter_mut().zip(&tx_power_dbm) {
                if let Some(level) = radio.obss_pd_dbm {
                    let limit = REFERENCE_POWER_DBM - (level - LEAST_OBSS_PD_DBM);
                    radio.reduction_db = (power - limit).max(0.0);
                }
            }
        }
        for (level, shadowing) in level_dbm.iter_mut().zip(&shadowing_db) {
            *level += shadowing;
        }
        Self {
            nodes,
            shadowing_db,
            power_dbm: level_dbm.clone(),
            level_dbm,
            noise_figure: Db(radio.noise_figure_db),
            carrier_sense_dbm: radio.carrier_sense_dbm,
            reuse,
            tunings: if scenario.overlaps_in_part() {
                bsss.iter()
                    .map(|bss| bss.map_or_else(Tuning::default, Tuning::of))
                    .collect()
            } else {
                Vec::new()
            },
            hidden: radio
                .hidden
                .iter()
                .flat_map(|[a, b]| pairs([a, b], None))
                .map(|(a, b)| (RadioId::new(a as u32), RadioId::new(b as u32)))
                .collect(),
            frame_errors: radio.frame_errors,
            preamble_capture: radio.preamble_capture_db,
            frame_capture: radio.frame_capture_db,
            control: vec![(None, 0.0); nodes * nodes],
            places: scenario
                .handovers
                .iter()
                .any(|h| h.walk.is_some())
                .then(|| Places {
                    positions: radios.iter().map(|(_, _, position)| *position).collect(),
                    tx_power_dbm,
                    path_loss: radio.path_loss,
                    walls: radio.walls.clone(),
                    given,
                }),
        }
    }

    /// Whether frames can be lost to noise.
    #[inline]
    pub fn frame_errors(&self) -> bool {
        self.frame_errors
    }

    /// Margin over an overlapping frame whose preamble came at the same time or later, dB.
    pub fn preamble_capture(&self) -> Option<f64> {
        self.preamble_capture
    }

    /// Margin over an overlapping frame that came before, dB.
    pub fn frame_capture(&self) -> Option<f64> {
        self.frame_capture
    }

    /// Moves a radio to `position`, metres; does nothing if no station of the scenario moves.
    pub fn place(&mut self, node: RadioId, position: [f64; 3]) {
        let Some(places) = &mut self.places else {
            return;
        };
        places.positions[node.index()] = position;
        for other in (0..self.nodes as u32)
            .map(RadioId::new)
            .filter(|o| *o != node)
        {
            for (from, to) in [(node, other), (other, node)] {
                let at = from.index() * self.nodes + to.index();
                let Some(level) = self
                    .places
                    .as_ref()
                    .and_then(|p| p.level(from, to, self.nodes))
                else {
                    continue;
                };
                let level = level + self.shadowing_db.get(at).copied().unwrap_or(0.0);
                // Radios out of reach of each other stay so.
                if self.power_dbm[at] != f64::NEG_INFINITY {
                    self.power_dbm[at] = level;
                }
                self.level_dbm[at] = level;
                self.control[at].0 = None;
            }
        }
    }

    /// Level at which `to` would hear `from` where they are now, also if they are out of each
    /// other's reach because one of them is on another channel, dBm.
    pub fn level(&self, from: RadioId, to: RadioId) -> f64 {
        self.level_dbm[from.index() * self.nodes + to.index()]
    }

    /// Power that `to` receives from `from`, dBm.
    #[inline]
    pub fn power(&self, from: RadioId, to: RadioId) -> f64 {
        self.power_dbm[from.index() * self.nodes + to.index()]
    }

    /// Takes two radios out of each other's reach.
    pub fn part(&mut self, a: RadioId, b: RadioId) {
        for (from, to) in [(a, b), (b, a)] {
            let at = from.index() * self.nodes + to.index();
            self.power_dbm[at] = f64::NEG_INFINITY;
            self.control[at].0 = None;
        }
    }

    /// Lets two radios hear each other again.
    pub fn bring(&mut self, a: RadioId, b: RadioId) {
        for (from, to) in [(a, b), (b, a)] {
            let at = from.index() * self.nodes + to.index();
            self.power_dbm[at] = self.level_dbm[at];
            self.control[at].0 = None;
        }
    }

    /// Whether `to` senses `from`, if only until it has read a BSS color; every node senses itself.
    #[inline]
    pub fn hears(&self, to: RadioId, from: RadioId) -> bool {
        to == from || (self.power(from, to) >= self.carrier_sense_dbm && !self.are_hidden(from, to))
    }

    /// Whether some node reuses the channel.
    pub fn reuses_space(&self) -> bool {
        !self.reuse.is_empty()
    }

    /// How `to` senses frames of `from`.
    pub fn sensing(&self, to: RadioId, from: RadioId, power: Power) -> Sensing {
        if to == from {
            return Sensing::Whole;
        }
        let level = self.power(from, to) - self.reduction(from, power);
        if level < self.carrier_sense_dbm || self.are_hidden(from, to) {
            return Sensing::Nothing;
        }
        let of = |radio: RadioId| self.reuse.get(radio.index()).copied().unwrap_or_default();
        let (to, from) = (of(to), of(from));
        let other = from.color > 0 && from.color != to.color;
        let ignores = to.obss_pd_dbm.is_some_and(|most| level < most);
        if other && ignores {
            Sensing::UpToColor
        } else {
            Sensing::Whole
        }
    }

    /// Whether the channel of some neighbour overlaps others in part.
    pub fn overlaps_in_part(&self) -> bool {
        !self.tunings.is_empty()
    }

    /// The channel of a radio, where channels overlap in part.
    pub fn tuning(&self, radio: RadioId) -> Tuning {
        self.tunings.get(radio.index()).copied().unwrap_or_default()
    }

    /// The part of a frame of `from` with a width that `to` senses, where channels overlap in part.
    pub fn senses(&self, to: RadioId, from: RadioId, step: u8) -> Sensed {
        if to == from {
            return Sensed::Whole;
        }
        if self.are_hidden(from, to) {
            return Sensed::Nothing;
        }
        let frame = Tuning {
            primary: self.tuning(from).primary,
            step,
        };
        let level = self.power(from, to);
        Sensed::of(self.tuning(to), frame, level, self.carrier_sense_dbm)
    }

    /// The same for a frame on the air beside one that `to` receives.
    pub fn senses_frame(&self, to: RadioId, from: RadioId, step: u8) -> Sensing {
        if self.senses(to, from, step).is_busy() {
            Sensing::Whole
        } else {
            Sensing::Nothing
        }
    }

    /// By how much a frame of a radio is below its own power, dB.
    #[inline]
    pub fn reduction(&self, radio: RadioId, power: Power) -> f64 {
        match power {
            Power::Full => 0.0,
            Power::Reduced => self
                .reuse
                .get(radio.index())
                .map_or(0.0, |r| r.reduction_db),
        }
    }

    /// Whether the scenario hides two nodes from each other: nothing of one reaches the other.
    #[inline]
    fn are_hidden(&self, a: RadioId, b: RadioId) -> bool {
        !self.hidden.is_empty() && self.is_hidden_pair(a, b)
    }

    #[inline(never)]
    fn is_hidden_pair(&self, a: RadioId, b: RadioId) -> bool {
        self.hidden.contains(&(a, b)) || self.hidden.contains(&(b, a))
    }

    /// Signal-to-noise ratio at `to` of a frame from `from` at its own power in `bandwidth_hz`, linear, with
    /// `further` milliwatts added to the noise.
    pub fn sinr(&self, from: RadioId, to: RadioId, bandwidth_hz: f64, further: f64) -> f64 {
        let noise = milliwatts(noise_floor(bandwidth_hz, self.noise_figure));
        milliwatts(Dbm(self.power(from, to))) / (noise + further)
    }

    /// The power that `to` receives from frames of others, milliwatts; those that are hidden from it add nothing.
    pub fn interference(
        &self,
        to: RadioId,
        interferers: impl Iterator<Item = (RadioId, Power)>,
    ) -> f64 {
        interferers
            .filter(|(from, _)| !self.are_hidden(*from, to))
            .map(|(from, power)| {
                let level = self.power(from, to) - self.reduction(from, power);
                milliwatts(Dbm(level))
            })
            .sum()
    }

    /// The power that `to` receives from frames of others, milliwatts, each with the weight of the part
    /// that counts.
    pub fn weighted_interference(
        &self,
        to: RadioId,
        interferers: impl Iterator<Item = (RadioId, f64)>,
    ) -> f64 {
        interferers
            .filter(|(from, weight)| *weight > 0.0 && !self.are_hidden(*from, to))
            .map(|(from, weight)| milliwatts(Dbm(self.power(from, to))) * weight)
            .sum()
    }

    /// Probability that a control frame arrives where nothing overlaps it.
    #[inline]
    pub fn control_success(
        &mut self,
        from: RadioId,
        to: RadioId,
        vector: &TxVector,
        octets: u32,
    ) -> f64 {
        let key = octets << 8 | u32::from(vector.index()) << 4 | vector.generation() as u32;
        let at = from.index() * self.nodes + to.index();
        match self.control[at] {
            (Some(known), p) if known == key => p,
            _ => {
                let p = self.success_of_control(Ends { from, to }, vector, octets);
                self.control[at] = (Some(key), p);
                p
            }
        }
    }

    #[inline(never)]
    fn success_of_control(&self, ends: Ends<RadioId>, vector: &TxVector, octets: u32) -> f64 {
        let snr = self.sinr(ends.from, ends.to, 20e6, 0.0);
        frame_success(vector, snr, octets) * header_success(vector, snr)
    }

    /// A number for how `to` senses `from`, by which classes differ; 0: not at all.
    fn kind(&self, to: RadioId, from: RadioId) -> u32 {
        if self.overlaps_in_part() {
            let widths = 0..=self.tuning(from).step;
            return widths.fold(0, |kind, step| {
                kind * Sensed::NUMBERS + self.senses(to, from, step).number()
            });
        }
        if self.reuse.is_empty() {
            return u32::from(self.hears(to, from));
        }
        let [full, reduced] = Power::ALL.map(|power| self.sensing(to, from, power) as u32);
        // A frame at full power is sensed at least as one at the reduced power is.
        full * 3 + reduced
    }

    /// Sensing classes of the nodes in `members`: the class of each member, and for each member
    /// the classes that hear it.
    pub fn classes(&self, members: &[RadioId]) -> (Vec<ClassId>, Vec<Vec<ClassId>>) {
        let mut known: HashMap<Vec<u32>, ClassId> = HashMap::new();
        let mut rows = Vec::new();
        let mut class_of = Vec::with_capacity(members.len());
        for &listener in members {
            let row: Vec<u32> = members.iter().map(|m| self.kind(listener, *m)).collect();
            let next = ClassId::new(known.len() as u32);
            let class = *known.entry(row.clone()).or_insert(next);
            if class == next {
                rows.push(row);
            }
            class_of.push(class);
        }
        let ears = (0..members.len())
            .map(|m| {
                (0..rows.len())
                    .filter(|r| rows[*r][m] != 0)
                    .map(|r| ClassId::new(r as u32))
                    .collect()
            })
            .collect();
        (class_of, ears)
    }
}

impl Places {
    fn level(&self, from: RadioId, to: RadioId, nodes: usize) -> Option<f64> {
        let (from, to) = (from.index(), to.index());
        let (a, b) = (self.positions[from], self.positions[to]);
        let loss = || loss_db(&self.path_loss, &self.walls, a, b);
        (!self.given[from * nodes + to]).then(|| self.tx_power_dbm[from] - loss())
    }
}

/// Loss between two positions (metres), dB: that of the path and of the walls that it crosses.
#[must_use]
pub fn loss_db(model: &PathLoss, walls: &[Wall], a: [f64; 3], b: [f64; 3]) -> f64 {
    path_loss(model, a, b) + wall_loss(walls, a, b)
}

fn path_loss(model: &PathLoss, a: [f64; 3], b: [f64; 3]) -> f64 {
    match *model {
        PathLoss::Constant { loss_db } => loss_db,
        PathLoss::LogDistance {
            reference_db,
            exponent,
        } => {
            let square: f64 = a.iter().zip(&b).map(|(x, y)| (x - y) * (x - y)).sum();
            let model = LogDistance {
                reference: Db(reference_db),
                exponent,
            };
            model.loss(libm::sqrt(square), Db(0.0)).0
        }
    }
}

fn wall_loss(walls: &[Wall], a: [f64; 3], b: [f64; 3]) -> f64 {
    let (a, b) = ([a[0], a[1]], [b[0], b[1]]);
    walls
        .iter()
        .filter(|w| crosses(a, b, w.from_m, w.to_m))
        .map(|w| w.loss_db)
        .sum()
}

/// Whether the segments `ab` and `cd` cross.
fn crosses(a: [f64; 2], b: [f64; 2], c: [f64; 2], d: [f64; 2]) -> bool {
    let side = |p: [f64; 2], q: [f64; 2], r: [f64; 2]| {
        (q[0] - p[0]) * (r[1] - p[1]) - (q[1] - p[1]) * (r[0] - p[0])
    };
    side(a, b, c) * side(a, b, d) < 0.0 && side(c, d, a) * side(c, d, b) < 0.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wall_counts_only_where_the_line_crosses_it() {
        let wall = Wall {
            from_m: [1.0, -1.0],
            to_m: [1.0, 1.0],
            loss_db: 6.0,
        };
        assert_eq!(wall_loss(&[wall], [0.0; 3], [2.0, 0.0, 0.0]), 6.0);
        assert_eq!(wall_loss(&[wall], [0.0; 3], [2.0, 4.0, 0.0]), 0.0);
        assert_eq!(wall_loss(&[wall], [0.0; 3], [0.5, 0.0, 0.0]), 0.0);
    }
}
