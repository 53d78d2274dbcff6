//! Shadowing and block fading: power gains of pairs of radios.
//!
//! Takes the scenario's figures and random streams; gives levels and gains. Sources: T. S. Rappaport,
//! Wireless Communications, 2nd ed., 2002, 4.9.2 (log-normal shadowing) and 5.6 (Rayleigh and Rician
//! fading). A gain is drawn from a stream of its pair and block, so that draws do not depend on
//! traffic. Without a delay spread it is the same over the whole channel; `selective` has the others.

use airtoll_engine::{Stream, Streams};
use airtoll_phy::TxVector;
use airtoll_units::{Duration, Instant};

use super::overlap::Tuning;
use super::selective::{Faded, Place, Selective, Spectrum};
use crate::id::{Ends, RadioId};
use crate::scenario::{self, Bss};

/// Block fading of all pairs.
#[derive(Debug)]
pub(crate) struct Fading {
    streams: Streams,
    coherence: Duration,
    /// Rician K-factor, linear; 0: Rayleigh.
    k: f64,
    /// Names of the radios in random streams.
    names: Vec<String>,
    /// Block and gain of each pair that was asked last, where it is the same over the whole channel.
    last: Vec<(Option<u64>, f64)>,
    /// Gains of sub-bands, where they differ.
    selective: Option<Box<Selective>>,
}

impl Fading {
    /// Fading of the radios of these BSSs, one each.
    pub fn new(model: scenario::Fading, bss_of: &[Option<&Bss>], streams: Streams) -> Self {
        let names = names_of(bss_of);
        let radios = names.len();
        let k = model.k_db.map_or(0.0, |db| libm::pow(10.0, db / 10.0));
        let is_selective = model.delay_spread_ns > 0.0;
        let selective = is_selective.then(|| {
            let tunings = bss_of
                .iter()
                .map(|bss| bss.map_or_else(Tuning::default, Tuning::of));
            Box::new(Selective::new(model.delay_spread_ns, k, tunings.collect()))
        });
        Self {
            streams,
            coherence: Duration::from_secs_f64(model.coherence_us / 1e6),
            k,
            names,
            last: match selective {
                None => vec![(None, 1.0); radios * radios],
                Some(_) => Vec::new(),
            },
            selective,
        }
    }

    /// Signal-to-noise ratios at an instant of a frame with the mean ratio `mean`, linear.
    pub fn snr(
        &mut self,
        ends: Ends<RadioId>,
        at: Instant,
        mean: f64,
        sent: (&TxVector, Spectrum),
    ) -> Faded {
        let Some(selective) = &mut self.selective else {
            let snr = mean * self.gain(ends.from, ends.to, at);
            return Faded {
                data: snr,
                header: snr,
            };
        };
        let (low, high) = (ends.from.min(ends.to), ends.from.max(ends.to));
        let block = at.as_nanos() / self.coherence.as_nanos().max(1);
        let place = Place {
            pair: low.index() * self.names.len() + high.index(),
            block,
        };
        let (streams, names) = (&self.streams, &self.names);
        let mut stream = None;
        let draw = || {
            let named = || streams.named(&stream_of(names, low, high, block));
            normals(stream.get_or_insert_with(named))
        };
        selective.snr(place, ends, mean, sent, draw)
    }

    /// Power gain between two radios at an instant, linear; its mean is 1.
    fn gain(&mut self, a: RadioId, b: RadioId, at: Instant) -> f64 {
        let (low, high) = (a.min(b), a.max(b));
        let block = at.as_nanos() / self.coherence.as_nanos().max(1);
        let place = low.index() * self.names.len() + high.index();
        if self.last[place].0 != Some(block) {
            let name = stream_of(&self.names, low, high, block);
            let gain = drawn(&mut self.streams.named(&name), self.k);
            self.last[place] = (Some(block), gain);
        }
        self.last[place].1
    }
}

/// Names of radios by their BSSs: neighbours are counted apart, so that they move no draw of the own cell.
fn names_of(bss_of: &[Option<&Bss>]) -> Vec<String> {
    let (mut own, mut theirs) = (0..bss_of.len(), 0..bss_of.len());
    let name = |bss: &Option<&Bss>| match bss {
        Some(Bss {
            neighbour: Some(_), ..
        }) => theirs.next().map(|at| format!("neighbour {at}")),
        _ => own.next().map(|at| at.to_string()),
    };
    bss_of.iter().filter_map(name).collect()
}

/// The random stream of the gain of a pair in a block.
fn stream_of(names: &[String], low: RadioId, high: RadioId, block: u64) -> String {
    let [low, high] = [low, high].map(|radio| &names[radio.index()]);
    format!("fading/{low}/{high}/{block}")
}

/// A power gain of Rician fading with the K-factor `k`, linear.
fn drawn(stream: &mut Stream, k: f64) -> f64 {
    let [x, y] = normals(stream);
    let scattered = libm::sqrt(0.5 / (k + 1.0));
    let direct = libm::sqrt(k / (k + 1.0));
    let (real, imaginary) = (direct + scattered * x, scattered * y);
    real * real + imaginary * imaginary
}

/// Two standard normal numbers (Box and Muller 1958).
pub(crate) fn normals(stream: &mut Stream) -> [f64; 2] {
    let radius = libm::sqrt(-2.0 * libm::log(1.0 - stream.unit()));
    let angle = core::f64::consts::TAU * stream.unit();
    [radius * libm::cos(angle), radius * libm::sin(angle)]
}

/// Shadowing between the radios of two names, dB.
pub(super) fn shadowing_db(deviation_db: f64, streams: &Streams, names: [&str; 2]) -> f64 {
    let [first, second] = names;
    let [drawn, _] = normals(&mut streams.named(&format!("shadowing/{first}/{second}")));
    deviation_db * drawn
}

#[cfg(test)]
mod tests {
    use super::*;
    use airtoll_phy::{Band, Generation, GuardInterval, ResourceUnit, Width, frame_success};

    fn gains(k_db: Option<f64>) -> Vec<f64> {
        let model = scenario::Fading {
            k_db,
            coherence_us: 1_000.0,
            delay_spread_ns: 0.0,
        };
        let mut fading = Fading::new(model, &[None; 2], Streams::new(3));
        let (a, b) = (RadioId::new(0), RadioId::new(1));
        let at = |ms: u64| Instant::ZERO + Duration::from_micros(1_000 * ms);
        (0..20_000).map(|ms| fading.gain(a, b, at(ms))).collect()
    }

    fn moments(gains: &[f64]) -> (f64, f64) {
        let n = gains.len() as f64;
        let mean = gains.iter().sum::<f64>() / n;
        let squares = gains.iter().map(|g| (g - mean) * (g - mean)).sum::<f64>();
        (mean, squares / n)
    }

    #[test]
    fn gains_have_the_moments_of_their_distribution() {
        // Exponential: mean 1, variance 1.
        let rayleigh = gains(None);
        let (mean, variance) = moments(&rayleigh);
        assert!((mean - 1.0).abs() < 0.03, "{mean}");
        assert!((variance - 1.0).abs() < 0.06, "{variance}");
        // P(g < 0.1) = 1 - exp(-0.1).
        let deep = rayleigh.iter().filter(|g| **g < 0.1).count() as f64 / 20_000.0;
        assert!((deep - 0.0952).abs() < 0.008, "{deep}");
        // Rician: variance (2 K + 1) / (K + 1)^2, with K = 10 at 10 dB.
        let (mean, variance) = moments(&gains(Some(10.0)));
        assert!((mean - 1.0).abs() < 0.02, "{mean}");
        assert!((variance - 21.0 / 121.0).abs() < 0.01, "{variance}");
    }

    #[test]
    fn a_gain_holds_for_a_block_and_both_directions() {
        let model = scenario::Fading {
            k_db: None,
            coherence_us: 1_000.0,
            delay_spread_ns: 0.0,
        };
        let mut fading = Fading::new(model, &[None; 2], Streams::new(3));
        let (a, b) = (RadioId::new(0), RadioId::new(1));
        let at = |us: u64| Instant::ZERO + Duration::from_micros(us);
        let first = fading.gain(a, b, at(10));
        assert_eq!(fading.gain(b, a, at(990)), first);
        let next = fading.gain(a, b, at(1_010));
        assert_ne!(next, first);
        // Nothing depends on what was asked before.
        assert_eq!(fading.gain(a, b, at(20)), first);
    }

    #[test]
    fn neighbours_move_no_draw_of_the_own_cell() {
        let own = wide();
        let theirs = Bss {
            neighbour: Some(scenario::Neighbour {
                level_dbm: Some(-90.0),
            }),
            ..wide()
        };
        let at = |us: u64| Instant::ZERO + Duration::from_micros(us);
        let (own, theirs) = (Some(&own), Some(&theirs));
        for delay_spread_ns in [0.0, 50.0] {
            let of = |bss_of: &[Option<&Bss>], first: u32| {
                let model = scenario::Fading {
                    k_db: None,
                    coherence_us: 1_000.0,
                    delay_spread_ns,
                };
                let mut fading = Fading::new(model, bss_of, Streams::new(3));
                let sent = (&vector(4), Spectrum::Whole);
                (0..50)
                    .map(|ms| {
                        let ends = ends(first, first + 1);
                        fading.snr(ends, at(1_000 * ms), 40.0, sent).data
                    })
                    .collect::<Vec<_>>()
            };
            let alone = of(&[own, own, None], 0);
            // Before, between and behind the own nodes.
            assert_eq!(of(&[theirs, theirs, own, own, None], 2), alone);
            assert_eq!(of(&[own, own, theirs, None], 0), alone);
            assert_ne!(of(&[theirs, own, own, None], 0), alone);
            assert_ne!(of(&[theirs, theirs, own], 0), alone);
        }
    }

    /// A channel of 80 MHz of 802.11ax.
    fn wide() -> Bss {
        serde_json::from_str(
            r#"{"name": "cell", "standard": "802.11ax", "width_mhz": 80,
            "rate": {"control": "fixed_mcs", "mcs": 0}}"#,
        )
        .unwrap()
    }

    fn vector(mcs: u8) -> TxVector {
        let (width, gi) = (Width::Mhz80, GuardInterval::Ns800);
        TxVector::of_mcs(Generation::Ax, mcs, 1, width, gi, Band::Ghz5).unwrap()
    }

    fn over_paths(delay_spread_ns: f64, bss: &Bss) -> Fading {
        let model = scenario::Fading {
            k_db: None,
            coherence_us: 1_000.0,
            delay_spread_ns,
        };
        Fading::new(model, &[Some(bss); 3], Streams::new(3))
    }

    fn ends(from: u32, to: u32) -> Ends<RadioId> {
        Ends {
            from: RadioId::new(from),
            to: RadioId::new(to),
        }
    }

    fn instant(ms: u64) -> Instant {
        Instant::ZERO + Duration::from_micros(1_000 * ms)
    }

    #[test]
    fn a_vanishing_delay_spread_is_one_gain() {
        let bss = wide();
        let (mut one, mut several) = (over_paths(0.0, &bss), over_paths(1e-6, &bss));
        let (v, mean) = (vector(4), 40.0);
        for ms in 0..200 {
            let ask = |fading: &mut Fading, spectrum| {
                fading.snr(ends(0, 1), instant(ms), mean, (&v, spectrum))
            };
            let flat = ask(&mut one, Spectrum::Whole);
            assert_eq!(
                flat.data,
                mean * one.gain(RadioId::new(0), RadioId::new(1), instant(ms))
            );
            assert_eq!(flat.data, flat.header);
            for spectrum in [Spectrum::Whole, Spectrum::Unit(ResourceUnit::Tones26, 30)] {
                let found = ask(&mut several, spectrum).data;
                // Where 16-QAM loses no frame the ratio of several paths has an end.
                let least = flat.data.min(100.0);
                assert!(
                    (found / least - 1.0).abs() < 1e-3 || found > least,
                    "{found} {flat:?}"
                );
            }
        }
    }

    #[test]
    fn gains_of_sub_bands_depend_on_the_pair_and_the_block_alone() {
        let bss = wide();
        let (v, narrow) = (
            vector(7),
            TxVector::ofdm(airtoll_phy::OfdmRate::M24, Band::Ghz5),
        );
        let whole =
            |f: &mut Fading, ends, ms| f.snr(ends, instant(ms), 90.0, (&v, Spectrum::Whole));
        let mut fading = over_paths(50.0, &bss);
        let first = whole(&mut fading, ends(0, 1), 5);
        assert_ne!(first.data, first.header);
        // Later, over another pair, of other frames and over interferers.
        let other = whole(&mut fading, ends(0, 2), 5);
        assert_ne!(other, first);
        assert_ne!(whole(&mut fading, ends(0, 1), 6), first);
        for mean in 1..100 {
            fading.snr(
                ends(1, 0),
                instant(5),
                f64::from(mean),
                (&narrow, Spectrum::Primary),
            );
        }
        assert_eq!(whole(&mut fading, ends(1, 0), 5), first);
        let mut again = over_paths(50.0, &bss);
        assert_eq!(whole(&mut again, ends(1, 0), 5), first);
    }

    /// Share of frames of 1000 octets with MCS 0 that are lost at a mean ratio of 10 dB.
    fn lost(delay_spread_ns: f64, spectrum: Spectrum) -> f64 {
        let (bss, v) = (wide(), vector(0));
        let mut fading = over_paths(delay_spread_ns, &bss);
        let blocks = 2_000;
        let arrives = |ms| {
            let faded = fading.snr(ends(0, 1), instant(ms), 10.0, (&v, spectrum));
            frame_success(&v, faded.data, 1_000)
        };
        1.0 - (0..blocks).map(arrives).sum::<f64>() / blocks as f64
    }

    #[test]
    fn a_wide_frame_has_diversity_and_a_small_unit_has_little() {
        let unit = |unit| Spectrum::Unit(unit, 3);
        let flat = lost(0.0, Spectrum::Whole);
        // MCS 0 needs about 0.3 dB: a tenth of the mean, 1 - exp(-0.107).
        assert!((0.08..0.13).contains(&flat), "{flat}");
        let whole = lost(150.0, Spectrum::Whole);
        let small = lost(150.0, unit(ResourceUnit::Tones26));
        let half = lost(150.0, unit(ResourceUnit::Tones106));
        assert!(whole < 0.001, "{whole}");
        assert!(
            whole < half && half < 0.6 * small && small < flat,
            "{half} {small} {flat}"
        );
        // 2 MHz and 15 ns have one gain.
        let near = lost(15.0, unit(ResourceUnit::Tones26));
        assert!((near / flat - 1.0).abs() < 0.25, "{near} {flat}");
    }

    #[test]
    fn shadowing_has_its_deviation() {
        let all: Vec<f64> = (0..4_000)
            .map(|seed| shadowing_db(6.0, &Streams::new(seed), ["ap", "A"]))
            .collect();
        let (mean, variance) = moments(&all);
        assert!(mean.abs() < 0.3, "{mean}");
        assert!((libm::sqrt(variance) - 6.0).abs() < 0.25, "{variance}");
    }
}
