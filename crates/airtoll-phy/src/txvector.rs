//! The transmission vector: everything about a PPDU that decides its airtime, in one Copy value.
//!
//! A [`TxVector`] holds symbol length, bits per symbol and preamble, so that an airtime costs one
//! integer division. Every combination of parameters is checked against the generation's
//! descriptor.

use airtoll_units::{BitRate, Duration};

pub use crate::generation::TxVectorError;
use crate::generation::{Descriptor, Generation, LdpcFill, Legacy, Symbols};
use crate::modulation::{CodeRate, Mcs, Modulation, coded_bits, data_bits};
use crate::parameters::{Band, Coding, DsssRate, GuardInterval, OfdmRate, Preamble, Width};
use crate::resource_unit::ResourceUnit;

/// Parameters of one PPDU. Build it with [`TxVector::of_mcs`], [`TxVector::ofdm`] or
/// [`TxVector::dsss`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TxVector {
    generation: Generation,
    band: Band,
    width: Width,
    gi: GuardInterval,
    nss: u8,
    index: u8,
    mcs: Mcs,
    pub(crate) coding: Coding,
    /// Preamble and PLCP headers, ns.
    pub(crate) preamble_ns: u32,
    /// One data symbol with its guard interval, ns (0 for DSSS).
    pub(crate) symbol_ns: u32,
    /// Data bits per symbol (N_DBPS); for DSSS the rate in units of 100 kb/s.
    pub(crate) bits_per_symbol: u32,
    /// Coded bits per symbol (N_CBPS), and those of a quarter of the last symbol where LDPC code words fill
    /// quarters; 0 for DSSS.
    pub(crate) coded_bits_per_symbol: u32,
    pub(crate) coded_bits_per_quarter: u32,
    /// Service and tail bits.
    pub(crate) service_and_tail: u32,
    /// Signal extension, ns.
    pub(crate) extension_ns: u32,
}

impl TxVector {
    /// DSSS or HR/DSSS at 2.4 GHz.
    ///
    /// # Errors
    /// [`TxVectorError::ShortAtOne`] for 1 Mb/s with the short preamble.
    pub fn dsss(rate: DsssRate, preamble: Preamble) -> Result<Self, TxVectorError> {
        let generation = Generation::B;
        let Symbols::Spread(spread) = generation.descriptor().symbols else {
            unreachable!("802.11b spreads");
        };
        let preamble_ns = match (preamble, rate) {
            (Preamble::Short, DsssRate::M1) => return Err(TxVectorError::ShortAtOne),
            (Preamble::Short, _) => spread.short_ns,
            (Preamble::Long, _) => spread.long_ns,
        };
        let modulation = match rate {
            DsssRate::M1 => Modulation::Dbpsk,
            DsssRate::M2 => Modulation::Dqpsk,
            DsssRate::M5_5 => Modulation::Cck4,
            DsssRate::M11 => Modulation::Cck8,
        };
        Ok(Self {
            generation,
            band: Band::Ghz2_4,
            width: Width::Mhz20,
            gi: GuardInterval::Ns800,
            nss: 1,
            index: rate as u8,
            mcs: Mcs {
                modulation,
                code: CodeRate::Uncoded,
            },
            coding: Coding::Bcc,
            preamble_ns,
            symbol_ns: 0,
            bits_per_symbol: rate.hundred_kbps(),
            coded_bits_per_symbol: 0,
            coded_bits_per_quarter: 0,
            service_and_tail: 0,
            extension_ns: 0,
        })
    }

    /// DSSS or HR/DSSS with `preamble`, or with the long one at 1 Mb/s.
    #[must_use]
    pub fn dsss_at_most_short(rate: DsssRate, preamble: Preamble) -> Self {
        let preamble = if rate == DsssRate::M1 {
            Preamble::Long
        } else {
            preamble
        };
        Self::dsss(rate, preamble).expect("the long preamble carries every DSSS rate")
    }

    /// OFDM of clause 17 (5 GHz and above) or ERP-OFDM of clause 18 (2.4 GHz), 20 MHz.
    #[must_use]
    pub fn ofdm(rate: OfdmRate, band: Band) -> Self {
        let generation = match band {
            Band::Ghz2_4 => Generation::G,
            Band::Ghz5 | Band::Ghz6 => Generation::A,
        };
        let d = generation.descriptor();
        let subcarriers = d.widths[0].data_subcarriers;
        let guard = d.guard_intervals[0];
        let mcs = rate.mcs();
        let times = Times::of(d, guard.interval);
        Self {
            generation,
            band,
            width: d.widths[0].width,
            gi: guard.interval,
            nss: 1,
            index: rate as u8,
            mcs,
            coding: Coding::Bcc,
            preamble_ns: times.preamble_ns,
            symbol_ns: times.symbol_ns,
            bits_per_symbol: data_bits(mcs, subcarriers, 1),
            coded_bits_per_symbol: coded_bits(mcs, subcarriers, 1),
            coded_bits_per_quarter: 0,
            service_and_tail: times.service_bits + times.tail_bits,
            extension_ns: d.bands[0].signal_extension_ns,
        }
    }

    /// A legacy rate; `preamble` and `band` where they apply.
    #[must_use]
    pub fn legacy(rate: Legacy, preamble: Preamble, band: Band) -> Self {
        match rate {
            Legacy::Dsss(rate) => Self::dsss_at_most_short(rate, preamble),
            Legacy::Ofdm(rate) => Self::ofdm(rate, band),
        }
    }

    /// A PPDU of a generation with MCSs. HT takes 0 to 7 with `streams`, or 8 to 31, which state
    /// the streams.
    ///
    /// # Errors
    /// [`TxVectorError`] names the parameter that the generation does not have, or the
    /// combination that the standard excludes.
    pub fn of_mcs(
        generation: Generation,
        mcs: u8,
        streams: u8,
        width: Width,
        gi: GuardInterval,
        band: Band,
    ) -> Result<Self, TxVectorError> {
        let d = generation.descriptor();
        let split = d.split(mcs, streams)?;
        let rules = d.mcs.ok_or(TxVectorError::NoMcs { generation })?;
        let Some(bands) = d.bands.iter().find(|row| row.band == band) else {
            return Err(TxVectorError::WrongBand { generation });
        };
        let mhz = width.mhz();
        let channel = d
            .widths
            .iter()
            .find(|row| row.width == width && row.bands.contains(&band))
            .ok_or(TxVectorError::NoSuchWidth { generation, mhz })?;
        let guard = d
            .guard_intervals
            .iter()
            .find(|row| row.interval == gi)
            .ok_or(TxVectorError::NoSuchGuardInterval {
                generation,
                ns: gi.nanos(),
            })?;
        let nss = split.streams;
        if rules.excluded.iter().any(|row| {
            row.width == width && row.mcs == split.per_stream && row.streams.contains(&nss)
        }) {
            return Err(TxVectorError::Excluded {
                generation,
                mcs,
                mhz,
                nss,
            });
        }
        let entry = Mcs::of_index(split.per_stream).ok_or(TxVectorError::NoSuchMcs {
            generation,
            mcs,
            max: rules.top,
        })?;
        let times = Times::of(d, gi);
        let subcarriers = channel.data_subcarriers;
        let encoders = (rules.encoders)(entry, subcarriers, nss);
        let trainings = rules.training_fields[usize::from(nss) - 1];
        let quarter = quarter_subcarriers(rules.ldpc, subcarriers);
        Ok(Self {
            generation,
            band,
            width,
            gi,
            nss,
            index: split.index,
            mcs: entry,
            coding: Coding::Bcc,
            preamble_ns: times.preamble_ns + guard.training_ns * trainings,
            symbol_ns: times.symbol_ns,
            bits_per_symbol: data_bits(entry, subcarriers, nss),
            coded_bits_per_symbol: coded_bits(entry, subcarriers, nss),
            coded_bits_per_quarter: coded_bits(entry, quarter, nss),
            service_and_tail: times.service_bits + times.tail_bits * encoders,
            extension_ns: bands.signal_extension_ns,
        })
    }

    /// The same PPDU with another code. LDPC has no tail bits.
    ///
    /// # Errors
    /// [`TxVectorError::NoLdpc`] for LDPC and a generation without MCSs.
    pub fn with_coding(self, coding: Coding) -> Result<Self, TxVectorError> {
        let generation = self.generation;
        match (coding, generation.descriptor().symbols) {
            _ if coding == self.coding => Ok(self),
            (Coding::Ldpc, Symbols::Ofdm { service_bits, .. }) if self.fills().is_some() => {
                Ok(Self {
                    coding,
                    service_and_tail: service_bits,
                    ..self
                })
            }
            (Coding::Ldpc, _) => Err(TxVectorError::NoLdpc { generation }),
            (Coding::Bcc, _) => Self::of_mcs(
                generation, self.index, self.nss, self.width, self.gi, self.band,
            ),
        }
    }

    /// The same PPDU in a narrower channel. Where the standard excludes the MCS there it has the next lower
    /// one; the same PPDU where the generation has no such channel.
    #[must_use]
    pub fn narrowed(self, mhz: u32) -> Self {
        let Some(width) = Width::of_mhz(mhz).filter(|width| width.mhz() < self.width.mhz()) else {
            return self;
        };
        let lowest = self.index - self.index_per_stream();
        let found = (lowest..=self.index).rev().find_map(|index| {
            let (gi, band) = (self.gi, self.band);
            let vector = Self::of_mcs(self.generation, index, self.nss, width, gi, band).ok()?;
            vector.with_coding(self.coding).ok()
        });
        found.unwrap_or(self)
    }

    /// How LDPC code words fill the symbols; `None` for a generation without them.
    pub(crate) const fn fills(&self) -> Option<LdpcFill> {
        match self.generation.descriptor().mcs {
            Some(rules) => Some(rules.ldpc),
            None => None,
        }
    }

    /// The same modulation, code rate and streams in so many subcarriers of a PPDU that others share, behind
    /// a preamble of `preamble_ns` ns with training fields.
    pub(crate) fn in_part(self, subcarriers: u32, gi: GuardInterval, preamble_ns: u32) -> Self {
        let times = Times::of(self.generation.descriptor(), gi);
        let quarter = self
            .fills()
            .map_or(0, |fill| quarter_subcarriers(fill, subcarriers));
        Self {
            gi,
            preamble_ns,
            symbol_ns: times.symbol_ns,
            bits_per_symbol: data_bits(self.mcs, subcarriers, self.nss),
            coded_bits_per_symbol: coded_bits(self.mcs, subcarriers, self.nss),
            coded_bits_per_quarter: coded_bits(self.mcs, quarter, self.nss),
            ..self
        }
    }

    /// The generation whose PPDU format this is.
    #[must_use]
    #[inline]
    pub const fn generation(&self) -> Generation {
        self.generation
    }

    /// Whether this is DSSS or CCK, which every 802.11b station decodes.
    #[must_use]
    #[inline]
    pub const fn is_dsss(&self) -> bool {
        self.symbol_ns == 0
    }

    /// The band.
    #[must_use]
    pub const fn band(&self) -> Band {
        self.band
    }

    /// The channel width.
    #[must_use]
    pub const fn width(&self) -> Width {
        self.width
    }

    /// The guard interval (800 ns for DSSS, where it means nothing).
    #[must_use]
    pub const fn guard_interval(&self) -> GuardInterval {
        self.gi
    }

    /// Spatial streams.
    #[must_use]
    pub const fn nss(&self) -> u8 {
        self.nss
    }

    /// MCS index as the format counts it; for DSSS and OFDM the position among the rates.
    #[must_use]
    pub const fn index(&self) -> u8 {
        self.index
    }

    /// MCS index of one stream; for DSSS and OFDM the position among the rates.
    #[must_use]
    pub const fn index_per_stream(&self) -> u8 {
        match self.generation.descriptor().mcs {
            Some(rules) if rules.index_names_streams => self.index % (rules.top + 1),
            _ => self.index,
        }
    }

    /// Constellation and code rate.
    #[must_use]
    pub const fn mcs(&self) -> Mcs {
        self.mcs
    }

    /// The error-correcting code; the convolutional one for DSSS too, which has none.
    #[must_use]
    #[inline]
    pub const fn coding(&self) -> Coding {
        self.coding
    }

    /// Whether the format carries A-MPDUs (HT and later).
    #[must_use]
    pub const fn aggregates(&self) -> bool {
        self.generation.descriptor().ampdu.is_some()
    }

    /// Whether even a lone MPDU travels in an A-MPDU (VHT and later, 10.12.8).
    #[must_use]
    pub const fn always_ampdu(&self) -> bool {
        self.generation.descriptor().always_ampdu
    }

    /// Data rate, rounded down to whole bits per second.
    #[must_use]
    pub const fn bit_rate(&self) -> BitRate {
        if self.is_dsss() {
            BitRate(self.bits_per_symbol as u64 * 100_000)
        } else {
            BitRate(self.bits_per_symbol as u64 * 1_000_000_000 / self.symbol_ns as u64)
        }
    }

    /// One data symbol with its guard interval; zero for DSSS.
    #[must_use]
    pub const fn symbol(&self) -> Duration {
        Duration::from_nanos(self.symbol_ns as u64)
    }

    /// Data bits per OFDM symbol (N_DBPS); `None` for DSSS.
    #[must_use]
    pub const fn data_bits_per_symbol(&self) -> Option<u32> {
        if self.is_dsss() {
            None
        } else {
            Some(self.bits_per_symbol)
        }
    }
}

/// Subcarriers of a quarter of the last symbol; 0 where LDPC code words do not fill quarters.
fn quarter_subcarriers(fill: LdpcFill, data_subcarriers: u32) -> u32 {
    match fill {
        LdpcFill::Quarters => ResourceUnit::quarter_subcarriers(data_subcarriers).unwrap_or(0),
        LdpcFill::Psdu | LdpcFill::Symbols => 0,
    }
}

/// Durations and bit counts of an OFDM format with one guard interval.
struct Times {
    preamble_ns: u32,
    symbol_ns: u32,
    service_bits: u32,
    tail_bits: u32,
}

impl Times {
    fn of(d: &Descriptor, gi: GuardInterval) -> Self {
        match d.symbols {
            Symbols::Ofdm {
                preamble_ns,
                symbol_ns,
                service_bits,
                tail_bits,
            } => Self {
                preamble_ns,
                symbol_ns: symbol_ns + gi.nanos(),
                service_bits,
                tail_bits,
            },
            Symbols::Spread(_) => unreachable!("{} has no OFDM symbols", d.standard),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use GuardInterval::{Ns400, Ns800};
    use Width::{Mhz20, Mhz40, Mhz80, Mhz160, Mhz320};

    /// Rates of one stream with the shortest guard interval, Mb/s, as the standard prints them
    /// (Tables 19-27 to 19-30, 21-29 to 21-56, 27-54 to 27-105; EHT: 36-80 to 36-89).
    fn printed(generation: Generation, width: Width) -> &'static [f64] {
        const HT_20: [f64; 10] = [7.2, 14.4, 21.7, 28.9, 43.3, 57.8, 65.0, 72.2, 86.7, 96.3];
        const HT_40: [f64; 10] = [
            15.0, 30.0, 45.0, 60.0, 90.0, 120.0, 135.0, 150.0, 180.0, 200.0,
        ];
        const VHT_80: [f64; 10] = [
            32.5, 65.0, 97.5, 130.0, 195.0, 260.0, 292.5, 325.0, 390.0, 433.3,
        ];
        const VHT_160: [f64; 10] = [
            65.0, 130.0, 195.0, 260.0, 390.0, 520.0, 585.0, 650.0, 780.0, 866.7,
        ];
        const HE_20: [f64; 14] = [
            8.6, 17.2, 25.8, 34.4, 51.6, 68.8, 77.4, 86.0, 103.2, 114.7, 129.0, 143.4, 154.9, 172.1,
        ];
        const HE_40: [f64; 14] = [
            17.2, 34.4, 51.6, 68.8, 103.2, 137.6, 154.9, 172.1, 206.5, 229.4, 258.1, 286.8, 309.7,
            344.1,
        ];
        const HE_80: [f64; 14] = [
            36.0, 72.1, 108.1, 144.1, 216.2, 288.2, 324.3, 360.3, 432.4, 480.4, 540.4, 600.5,
            648.5, 720.6,
        ];
        const HE_160: [f64; 14] = [
            72.1, 144.1, 216.2, 288.2, 432.4, 576.5, 648.5, 720.6, 864.7, 960.8, 1_080.9, 1_201.0,
            1_297.1, 1_441.2,
        ];
        const EHT_320: [f64; 14] = [
            144.1, 288.2, 432.4, 576.5, 864.7, 1_152.9, 1_297.1, 1_441.2, 1_729.4, 1_921.6,
            2_161.8, 2_402.0, 2_594.1, 2_882.4,
        ];
        match (generation, width) {
            (Generation::N | Generation::Ac, Mhz20) => &HT_20,
            (Generation::N | Generation::Ac, Mhz40) => &HT_40,
            (Generation::Ac, Mhz80) => &VHT_80,
            (Generation::Ac, Mhz160) => &VHT_160,
            (_, Mhz20) => &HE_20,
            (_, Mhz40) => &HE_40,
            (_, Mhz80) => &HE_80,
            (_, Mhz160) => &HE_160,
            (_, Mhz320) => &EHT_320,
        }
    }

    /// A data symbol with its guard interval, us, as the standard's timing tables print it.
    fn symbol_us(generation: Generation, gi: GuardInterval) -> f64 {
        match (generation, gi) {
            (Generation::N | Generation::Ac, Ns400) => 3.6,
            (Generation::N | Generation::Ac, Ns800) => 4.0,
            (_, Ns800) => 13.6,
            (_, GuardInterval::Ns1600) => 14.4,
            (_, GuardInterval::Ns3200) => 16.0,
            other => panic!("{other:?} is not in the standard"),
        }
    }

    #[test]
    fn every_combination_has_the_rate_of_the_standard() {
        let mut counted = std::collections::BTreeMap::new();
        for generation in Generation::ALL {
            let d = generation.descriptor();
            let shortest = d.guard_intervals[0].interval;
            for (mcs, nss) in d.mcs_indices(8) {
                for row in d.widths {
                    for guard in d.guard_intervals {
                        for band in row.bands {
                            let gi = guard.interval;
                            let made = TxVector::of_mcs(generation, mcs, nss, row.width, gi, *band);
                            if let Err(TxVectorError::Excluded { .. }) = made {
                                continue;
                            }
                            let v = made.unwrap();
                            let one = printed(generation, row.width)[usize::from(mcs)];
                            let ratio = symbol_us(generation, shortest) / symbol_us(generation, gi);
                            let wanted = one * ratio * f64::from(nss);
                            let rate = v.bit_rate().0 as f64 / 1e6;
                            // One decimal is printed, and N_DBPS is rounded down to whole bits.
                            let rounding =
                                0.0501 * f64::from(nss) + 1.0 / symbol_us(generation, gi);
                            assert!((rate - wanted).abs() < rounding, "{v:?}: {rate} {wanted}");
                            *counted.entry(generation).or_insert(0) += 1;
                        }
                    }
                }
            }
        }
        // MCSs by streams, widths (HE and EHT: widths by bands) and guard intervals, less the
        // combinations that VHT excludes: 6 + 2 + 1 + 1 with two guard intervals each.
        let numbers: Vec<_> = counted.into_iter().collect();
        assert_eq!(
            numbers,
            [
                (Generation::N, 8 * 4 * 2 * 2 * 2),
                (Generation::Ac, (10 * 8 * 4 - 10) * 2),
                (Generation::Ax, 12 * 8 * (3 + 3 + 2 + 2) * 3),
                (Generation::Be, 14 * 8 * (3 + 3 + 2 + 2 + 1) * 3),
            ]
        );
    }

    #[test]
    fn rates_of_dsss_and_ofdm_are_their_names() {
        for generation in [Generation::B, Generation::A, Generation::G] {
            let d = generation.descriptor();
            for rate in d.announced_rates() {
                let v = TxVector::legacy(rate, Preamble::Short, d.bands[0].band);
                assert_eq!(v.bit_rate().0, u64::from(rate.hundred_kbps()) * 100_000);
            }
        }
    }

    fn vht(mcs: u8, width: Width, nss: u8) -> Result<TxVector, TxVectorError> {
        TxVector::of_mcs(Generation::Ac, mcs, nss, width, Ns800, Band::Ghz5)
    }

    #[test]
    fn combinations_outside_the_standard_are_refused_by_name() {
        let of = |generation, mcs, width, gi, band| {
            TxVector::of_mcs(generation, mcs, 1, width, gi, band).map_err(|e| e.to_string())
        };
        let refused = |made: Result<TxVector, String>, reason: &str| {
            assert_eq!(made.unwrap_err(), reason);
        };
        assert!(vht(9, Mhz20, 3).is_ok());
        for (mcs, width, nss) in [
            (9, Mhz20, 1),
            (6, Mhz80, 3),
            (6, Mhz80, 7),
            (9, Mhz80, 6),
            (9, Mhz160, 3),
        ] {
            let made = vht(mcs, width, nss);
            assert!(matches!(made, Err(TxVectorError::Excluded { .. })));
        }
        refused(
            of(Generation::N, 32, Mhz40, Ns800, Band::Ghz5),
            "802.11n has no MCS 32; allowed are 0 to 31",
        );
        refused(
            of(Generation::N, 0, Mhz80, Ns800, Band::Ghz5),
            "802.11n has no 80 MHz channel in this band",
        );
        refused(
            of(Generation::Ax, 0, Mhz80, Ns800, Band::Ghz2_4),
            "802.11ax has no 80 MHz channel in this band",
        );
        refused(
            of(Generation::Ax, 0, Mhz20, Ns400, Band::Ghz5),
            "802.11ax has no guard interval of 400 ns",
        );
        refused(
            of(Generation::Be, 0, Mhz320, Ns800, Band::Ghz5),
            "802.11be has no 320 MHz channel in this band",
        );
        refused(
            of(Generation::Ac, 0, Mhz20, Ns800, Band::Ghz6),
            "802.11ac is not for this band",
        );
        refused(
            of(Generation::G, 0, Mhz20, Ns800, Band::Ghz2_4),
            "802.11g has rates in Mb/s and no MCS",
        );
        let streams = TxVector::of_mcs(Generation::N, 9, 3, Mhz20, Ns800, Band::Ghz5);
        refused(
            streams.map_err(|e| e.to_string()),
            "MCS 9 of 802.11n has 2 spatial streams, not 3",
        );
        assert_eq!(
            TxVector::dsss(DsssRate::M1, Preamble::Short),
            Err(TxVectorError::ShortAtOne)
        );
    }

    #[test]
    fn indices_of_ht_count_through_the_streams() {
        let of = |mcs, nss| TxVector::of_mcs(Generation::N, mcs, nss, Mhz40, Ns400, Band::Ghz5);
        assert_eq!(of(7, 4), of(31, 1));
        let v = of(31, 4).unwrap();
        assert_eq!((v.index(), v.index_per_stream(), v.nss()), (31, 7, 4));
    }

    #[test]
    fn every_vht_combination_has_whole_encoders() {
        for width in [Mhz20, Mhz40, Mhz80, Mhz160] {
            for nss in 1..=8 {
                for mcs in 0..=9 {
                    if let Ok(v) = vht(mcs, width, nss) {
                        let encoders = (v.service_and_tail - 16) / 6;
                        assert_eq!(v.bits_per_symbol % encoders, 0, "{v:?}");
                    }
                }
            }
        }
        // Table 21-60: 160 MHz, 7 streams, MCS 8 takes 12 encoders.
        let v = vht(8, Mhz160, 7).unwrap();
        assert_eq!(v.service_and_tail, 16 + 6 * 12);
    }

    #[test]
    fn a_narrower_ppdu_keeps_the_mcs_where_the_standard_has_it() {
        let of = |generation, mcs, nss, width| {
            TxVector::of_mcs(generation, mcs, nss, width, Ns800, Band::Ghz5).unwrap()
        };
        let ax = of(Generation::Ax, 11, 2, Mhz80);
        assert_eq!(ax.narrowed(20), of(Generation::Ax, 11, 2, Mhz20));
        // Table 21-30: MCS 9 at 20 MHz has no whole number of bits with one stream.
        let ac = of(Generation::Ac, 9, 1, Mhz80);
        assert_eq!(ac.narrowed(40), of(Generation::Ac, 9, 1, Mhz40));
        assert_eq!(ac.narrowed(20), of(Generation::Ac, 8, 1, Mhz20));
        let n = of(Generation::N, 15, 2, Mhz40);
        assert_eq!(n.narrowed(20), of(Generation::N, 15, 2, Mhz20));
        let ldpc = ax.with_coding(Coding::Ldpc).unwrap();
        assert_eq!(ldpc.narrowed(40).coding(), Coding::Ldpc);
        assert_eq!(ax.narrowed(80), ax);
        assert_eq!(ax.narrowed(160), ax);
    }
}
