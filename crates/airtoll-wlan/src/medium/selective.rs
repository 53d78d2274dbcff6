//! Frequency-selective fading: the power gains of the sub-bands of pairs of radios, and the ratios of frames over them.
//!
//! Takes draws, the mean SNR of a frame and the part of the channel that it occupies; gives the SNR of a flat channel
//! with as many losses. Sources: `delay_line` (channels) and `effective_snr` (frames) of `airtoll-phy`.

use core::ops::Range;

use airtoll_phy::{self as phy, DelayLine, Modulation, ResourceUnit, TxVector, Width};

use super::overlap::{Block, SECONDARIES, Tuning};
use crate::id::{Ends, RadioId};

/// The part of a channel that a frame occupies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Spectrum {
    /// All of its width, around the primary channel of its sender.
    Whole,
    /// The primary channel of its sender: control and management frames.
    Primary,
    /// The resource unit with a number, from the lowest frequency on, in a PPDU to several stations.
    Unit(ResourceUnit, u32),
    /// The same in a PPDU that was triggered, whose header is in the 20 MHz channel in which the unit begins.
    TriggeredUnit(ResourceUnit, u32),
}

/// Signal-to-noise ratios of a frame, linear.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Faded {
    /// Of its PSDU.
    pub data: f64,
    /// Of its PHY header.
    pub header: f64,
}

/// Gains of all pairs.
#[derive(Debug)]
pub(super) struct Selective {
    /// By the width of the channel: 20 MHz times two to the index.
    lines: [Option<DelayLine>; SECONDARIES + 1],
    /// Channels of the radios.
    tunings: Vec<Tuning>,
    /// By the number of the pair.
    pairs: Vec<Option<Box<Pair>>>,
}

/// The present gains of a pair.
#[derive(Debug)]
struct Pair {
    block: u64,
    /// Of the sub-bands, dB.
    gains_db: Vec<f64>,
    /// Signal-to-noise ratios that were asked for in this block.
    known: Vec<Known>,
    /// Where the next one goes.
    next: usize,
}

/// The ratio of a frame over the gains.
#[derive(Debug, Clone)]
struct Known {
    asked: Asked,
    snr: f64,
}

#[derive(Debug, Clone, PartialEq)]
struct Asked {
    mean: f64,
    modulation: Modulation,
    sub_bands: Range<usize>,
}

/// The pair that is asked for, and its block.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    /// Number of the pair.
    pub pair: usize,
    pub block: u64,
}

impl Pair {
    /// Ratios that are kept: data, header and answer in both directions over no and some other frames.
    const KEPT: usize = 16;

    fn snr(&mut self, asked: Asked) -> f64 {
        if let Some(known) = self.known.iter().find(|known| known.asked == asked) {
            return known.snr;
        }
        let gains = &self.gains_db[asked.sub_bands.clone()];
        let mean_db = 10.0 * libm::log10(asked.mean);
        let effective_db = phy::effective_snr_db(asked.modulation, mean_db, gains);
        let snr = libm::pow(10.0, effective_db / 10.0);
        let known = Known { asked, snr };
        if self.known.len() < Self::KEPT {
            self.known.push(known);
        } else {
            self.known[self.next % Self::KEPT] = known;
            self.next += 1;
        }
        snr
    }
}

impl Selective {
    /// Fading of radios with these channels; `k`: the K-factor, linear.
    pub fn new(delay_spread_ns: f64, k: f64, tunings: Vec<Tuning>) -> Self {
        let line = |step| {
            let used = tunings
                .iter()
                .any(|tuning| usize::from(tuning.step) == step);
            used.then(|| DelayLine::new(delay_spread_ns, k, 1_usize << step))
        };
        let pairs = tunings.len() * tunings.len();
        Self {
            lines: core::array::from_fn(line),
            pairs: (0..pairs).map(|_| None).collect(),
            tunings,
        }
    }

    /// The ratios of a frame with the mean ratio `mean`; `normals` draws for a block that is new.
    pub fn snr(
        &mut self,
        place: Place,
        ends: Ends<RadioId>,
        mean: f64,
        (vector, spectrum): (&TxVector, Spectrum),
        normals: impl FnMut() -> [f64; 2],
    ) -> Faded {
        let own = self.tunings[ends.from.index()];
        let other = self.tunings[ends.to.index()];
        let wider = if other.step > own.step { other } else { own };
        if self.pairs[place.pair]
            .as_ref()
            .is_none_or(|pair| pair.block != place.block)
        {
            let line = self.lines[usize::from(wider.step)].as_ref();
            self.pairs[place.pair] = line.map(|line| {
                Box::new(Pair {
                    block: place.block,
                    gains_db: line.gains_db(normals),
                    known: Vec::with_capacity(Pair::KEPT),
                    next: 0,
                })
            });
        }
        let Some(pair) = &mut self.pairs[place.pair] else {
            return Faded {
                data: mean,
                header: mean,
            };
        };
        let occupied = occupied(own, wider, (vector, spectrum), pair.gains_db.len());
        let asked = |modulation, sub_bands| Asked {
            mean,
            modulation,
            sub_bands,
        };
        Faded {
            data: pair.snr(asked(vector.mcs().modulation, occupied.data)),
            header: pair.snr(asked(phy::header_modulation(vector), occupied.header)),
        }
    }
}

/// Sub-bands of the parts of a frame.
#[derive(Debug, PartialEq)]
struct Occupied {
    data: Range<usize>,
    header: Range<usize>,
}

/// Those of a frame of a radio on channel `own` among `all` sub-bands of `wider`.
fn occupied(
    own: Tuning,
    wider: Tuning,
    (vector, spectrum): (&TxVector, Spectrum),
    all: usize,
) -> Occupied {
    let base = Block::around(wider.primary, wider.step).first();
    let first = |step: u8| {
        Block::around(own.primary, step)
            .first()
            .saturating_sub(base)
    };
    let primary = phy::sub_bands(first(0), Width::Mhz20);
    let width = vector.width();
    let from = first((width.mhz() / 20).ilog2() as u8);
    let unit = |unit, number| phy::unit_sub_bands(unit, number, from, width);
    let inside = |range: &Range<usize>| range.start.min(all)..range.end.min(all);
    let (data, header) = match spectrum {
        Spectrum::Whole => (phy::sub_bands(from, width), primary),
        Spectrum::Primary => (primary.clone(), primary),
        Spectrum::Unit(one, number) => (unit(one, number), primary),
        Spectrum::TriggeredUnit(one, number) => {
            let data = unit(one, number);
            let channel = data.start / phy::SUB_BANDS;
            (data, phy::sub_bands(channel, Width::Mhz20))
        }
    };
    Occupied {
        data: inside(&data),
        header: inside(&header),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use airtoll_phy::{Band, Generation, GuardInterval, OfdmRate};

    fn vector(width: Width) -> TxVector {
        let gi = GuardInterval::Ns800;
        TxVector::of_mcs(Generation::Ax, 7, 1, width, gi, Band::Ghz5).unwrap()
    }

    #[test]
    fn frames_occupy_their_own_part_of_the_channel() {
        // Primary channel 5 in the channel of 80 MHz that begins at channel 4.
        let own = Tuning {
            primary: 5,
            step: 2,
        };
        let of = |vector: TxVector, spectrum| occupied(own, own, (&vector, spectrum), 256);
        let primary = 64 + 3..128 - 3;
        let whole = of(vector(Width::Mhz80), Spectrum::Whole);
        assert_eq!(
            whole,
            Occupied {
                data: 3..253,
                header: primary.clone()
            }
        );
        let narrower = of(vector(Width::Mhz40), Spectrum::Whole);
        assert_eq!(narrower.data, 3..125);
        let legacy = of(TxVector::ofdm(OfdmRate::M24, Band::Ghz5), Spectrum::Primary);
        assert_eq!(
            legacy,
            Occupied {
                data: primary.clone(),
                header: primary.clone()
            }
        );
        // The last of four 242-tone units: tones 259 to 500 of 1024 around 512.
        let last = of(
            vector(Width::Mhz80),
            Spectrum::Unit(ResourceUnit::Tones242, 3),
        );
        assert_eq!(
            last,
            Occupied {
                data: 192..254,
                header: primary
            }
        );
        let sent = of(
            vector(Width::Mhz80),
            Spectrum::TriggeredUnit(ResourceUnit::Tones242, 3),
        );
        assert_eq!(
            sent,
            Occupied {
                data: 192..254,
                header: 195..253
            }
        );
    }

    #[test]
    fn a_narrow_radio_has_its_part_of_the_channel_of_a_wide_one() {
        let (narrow, wide) = (
            Tuning {
                primary: 2,
                step: 0,
            },
            Tuning {
                primary: 0,
                step: 2,
            },
        );
        let of =
            |from, vector: TxVector| occupied(from, wide, (&vector, Spectrum::Whole), 256).data;
        assert_eq!(of(narrow, vector(Width::Mhz20)), 131..189);
        assert_eq!(of(wide, vector(Width::Mhz20)), 3..61);
    }
}
