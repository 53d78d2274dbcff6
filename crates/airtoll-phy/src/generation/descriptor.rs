//! The shape of a descriptor, and the questions that have one answer for every generation.

use crate::basic_rates::BasicRates;
use crate::modulation::Mcs;
use crate::parameters::{Band, DsssRate, GuardInterval, OfdmRate, Width};
use crate::timing_set::TimingSet;

use super::Generation;
use super::refusal::TxVectorError;

/// All facts about one PHY generation.
#[derive(Debug)]
pub struct Descriptor {
    /// The generation described.
    pub generation: Generation,
    /// Name in studies and scenarios: `802.11n`.
    pub standard: &'static str,
    /// Name of the PPDU format in the standard: `HT`.
    pub format: &'static str,
    /// Bands with their rules. The first band that has a BSS's width is the BSS's default.
    pub bands: &'static [BandRules],
    /// Channel widths, ascending.
    pub widths: &'static [WidthRules],
    /// Guard intervals, ascending; one of 800 ns for DSSS, which has no symbols to guard.
    pub guard_intervals: &'static [GuardRules],
    /// DSSS and CCK rates of data frames.
    pub dsss_rates: &'static [DsssRate],
    /// OFDM rates of data frames. Generations with MCSs use them for WEP and TKIP stations and
    /// for control responses.
    pub ofdm_rates: &'static [OfdmRate],
    /// Default basic rates of a BSS without older stations.
    pub basic_rates: BasicRates,
    /// How a PPDU is laid out in time.
    pub symbols: Symbols,
    /// Shortest preamble of any PPDU format of the generation with one stream, ns. It bounds
    /// airtimes from below where the format of a measurement is not known.
    pub shortest_preamble_ns: u32,
    /// MCSs and streams; `None` for 802.11b, a and g.
    pub mcs: Option<McsRules>,
    /// Limits of A-MPDUs, MPDUs and the block ack window; `None` where nothing aggregates.
    pub ampdu: Option<AmpduLimits>,
    /// Whether a lone MPDU also travels in an A-MPDU (S-MPDU, 10.12.8).
    pub always_ampdu: bool,
    /// PPDUs that several users share by OFDMA; `None` where there are none.
    pub multi_user: Option<MultiUserRules>,
    /// Whether a BSS uses EDCA (QoS data frames) unless told otherwise.
    pub edca: bool,
    /// Bits of the PHY header that a receiver must decode before the PSDU.
    pub header_bits: u32,
    /// Minimum receiver sensitivity at 20 MHz by rate index or MCS per stream, dBm; `None`
    /// where the standard has no entry.
    pub sensitivity_dbm: &'static [Option<f64>],
    /// Number of the radiotap field that states the rate.
    pub radiotap_field: u8,
}

/// Limits of aggregation of a generation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct AmpduLimits {
    /// Most octets of the A-MPDU.
    pub octets: u32,
    /// Most MPDUs, the largest block ack window.
    pub mpdus: u32,
    /// Most octets of one MPDU (HT: of one MPDU in an A-MPDU).
    pub mpdu_octets: u32,
    /// Most octets of an A-MSDU.
    pub amsdu_octets: u32,
}

/// Rules of one band.
#[derive(Clone, Copy, Debug)]
pub struct BandRules {
    /// The band.
    pub band: Band,
    /// Slot, SIFS and contention windows of a BSS without older stations.
    pub timing: TimingSet,
    /// Signal extension after the last symbol, ns.
    pub signal_extension_ns: u32,
}

/// One channel width.
#[derive(Clone, Copy, Debug)]
pub struct WidthRules {
    /// The width.
    pub width: Width,
    /// Data subcarriers (N_SD); 0 for DSSS.
    pub data_subcarriers: u32,
    /// Bands with channels of this width.
    pub bands: &'static [Band],
}

/// One guard interval.
#[derive(Clone, Copy, Debug)]
pub struct GuardRules {
    /// The interval.
    pub interval: GuardInterval,
    /// One training field for the streams, ns; 0 where the preamble has none.
    pub training_ns: u32,
}

/// Layout of PPDUs that several users share by OFDMA.
#[derive(Clone, Copy, Debug)]
pub struct MultiUserRules {
    /// Preamble of a PPDU to several users without HE-SIG-B or EHT-SIG and without training fields, ns.
    pub preamble_ns: u32,
    /// Preamble of a PPDU that a Trigger frame asks for, without training fields, ns.
    pub triggered_preamble_ns: u32,
    /// Bits of the common field of HE-SIG-B or EHT-SIG in one content channel, CRC and tail left out, by
    /// widths, ascending. PPDUs to several users are modelled in these widths.
    pub common_bits: &'static [(Width, u32)],
    /// Bits of a user field of HE-SIG-B or EHT-SIG.
    pub user_bits: u32,
    /// MCSs of HE-SIG-B or EHT-SIG, ascending.
    pub signalling_mcs: &'static [u8],
}

/// How a PPDU is laid out in time.
#[derive(Clone, Copy, Debug)]
pub enum Symbols {
    /// DSSS: preamble and header by [`crate::Preamble`], then bits without symbols.
    Spread(Spread),
    /// OFDM symbols behind a preamble.
    Ofdm {
        /// Preamble and SIG fields without the training fields for the streams, ns.
        preamble_ns: u32,
        /// Data symbol without its guard interval, ns.
        symbol_ns: u32,
        /// Service bits before the PSDU.
        service_bits: u32,
        /// Tail bits of each encoder.
        tail_bits: u32,
    },
}

/// Preambles of DSSS with the PLCP header, ns.
#[derive(Clone, Copy, Debug)]
pub struct Spread {
    /// Long preamble.
    pub long_ns: u32,
    /// Short preamble.
    pub short_ns: u32,
}

/// MCSs and spatial streams.
#[derive(Clone, Copy, Debug)]
pub struct McsRules {
    /// Highest index of one stream.
    pub top: u8,
    /// Most spatial streams.
    pub streams: u8,
    /// The index counts through the streams: 8 to 15 are MCS 0 to 7 with two streams (HT).
    pub index_names_streams: bool,
    /// Number of training fields by streams, from one stream up.
    pub training_fields: &'static [u32],
    /// Number of encoders (N_ES) by MCS, data subcarriers and streams.
    pub encoders: fn(Mcs, u32, u8) -> u32,
    /// Combinations that the standard excludes.
    pub excluded: &'static [Excluded],
    /// How LDPC code words fill the symbols.
    pub ldpc: LdpcFill,
}

/// Which bits the LDPC code words of a PPDU hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LdpcFill {
    /// SERVICE and PSDU alone, without the rest of the last symbol (HT, 19.3.11.7.5).
    Psdu,
    /// Those of whole symbols (VHT, 21.3.10.5.4).
    Symbols,
    /// Those of whole quarters of the last symbol (HE, 27.3.12.5.2; EHT, 36.3.13.3.5).
    Quarters,
}

/// An MCS that some numbers of streams do not have at one width.
#[derive(Clone, Copy, Debug)]
pub struct Excluded {
    /// The width.
    pub width: Width,
    /// The index.
    pub mcs: u8,
    /// The numbers of streams.
    pub streams: &'static [u8],
}

/// One rate of 802.11b, a or g.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Legacy {
    /// DSSS or CCK.
    Dsss(DsssRate),
    /// OFDM.
    Ofdm(OfdmRate),
}

impl Legacy {
    /// Units of 100 kb/s.
    #[must_use]
    pub const fn hundred_kbps(self) -> u32 {
        match self {
            Self::Dsss(rate) => rate.hundred_kbps(),
            Self::Ofdm(rate) => rate.mbps() * 10,
        }
    }

    /// Megabits per second.
    #[must_use]
    pub fn mbps(self) -> f64 {
        f64::from(self.hundred_kbps()) / 10.0
    }

    /// The rate of so many units of 100 kb/s, if there is one.
    #[must_use]
    pub fn of_hundred_kbps(units: u32) -> Option<Self> {
        DsssRate::ALL
            .into_iter()
            .map(Self::Dsss)
            .chain(OfdmRate::ALL.into_iter().map(Self::Ofdm))
            .find(|rate| rate.hundred_kbps() == units)
    }
}

/// An MCS index split into its parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Split {
    /// Index as frames and captures state it.
    pub index: u8,
    /// Index of one stream.
    pub per_stream: u8,
    /// Spatial streams.
    pub streams: u8,
}

impl Descriptor {
    /// Data rates of 802.11b, a and g that data frames may use, DSSS first, each ascending; none
    /// for generations with MCSs.
    pub fn legacy_rates(&self) -> impl Iterator<Item = Legacy> {
        let own = self.mcs.is_none();
        let dsss = self.dsss_rates.iter().map(|r| Legacy::Dsss(*r));
        let ofdm = self.ofdm_rates.iter().map(|r| Legacy::Ofdm(*r));
        dsss.chain(ofdm).filter(move |_| own)
    }

    /// Rates that a BSS announces as supported: DSSS first, each ascending (9.4.2.3).
    pub fn announced_rates(&self) -> impl Iterator<Item = Legacy> {
        let dsss = self.dsss_rates.iter().map(|r| Legacy::Dsss(*r));
        let ofdm = self.ofdm_rates.iter().map(|r| Legacy::Ofdm(*r));
        dsss.chain(ofdm)
    }

    /// [`Self::announced_rates`] of a BSS in a band: at 2.4 GHz OFDM stations are ERP stations too, so
    /// that they support the rates of 802.11b (18.1.2, 19.1.1).
    pub fn announced_rates_at(&self, band: Band) -> impl Iterator<Item = Legacy> {
        let inherits = self.mcs.is_some() && band == Band::Ghz2_4;
        let dsss = DsssRate::ALL.into_iter().map(Legacy::Dsss);
        dsss.filter(move |_| inherits).chain(self.announced_rates())
    }

    /// Whether the generation has a band.
    #[must_use]
    pub fn has_band(&self, band: Band) -> bool {
        self.bands.iter().any(|rules| rules.band == band)
    }

    /// The band of a BSS that names none: the first that has its width; the first of all where
    /// none has it.
    #[must_use]
    pub fn default_band(&self, width: Width) -> Band {
        let row = self.widths.iter().find(|row| row.width == width);
        let has = |band: &Band| row.is_some_and(|row| row.bands.contains(band));
        let bands = || self.bands.iter().map(|rules| rules.band);
        bands().find(has).unwrap_or(self.bands[0].band)
    }

    /// Slot, SIFS and contention windows of a BSS. `long_slot`: stations without short slot are
    /// near, or the BSS does without it, which concerns OFDM at 2.4 GHz only. A band that the
    /// generation does not have takes the times of OFDM at 5 GHz.
    #[must_use]
    pub fn timing(&self, band: Band, long_slot: bool) -> TimingSet {
        let rules = self.bands.iter().find(|rules| rules.band == band);
        match rules.map_or(TimingSet::OFDM, |rules| rules.timing) {
            TimingSet::ERP if long_slot => TimingSet::ERP_LONG_SLOT,
            set => set,
        }
    }

    /// Basic rates of a BSS that names none. With `dsss_near` every DSSS rate is basic beside
    /// the generation's own, so that 802.11b stations hear protection frames.
    #[must_use]
    pub fn basic_rates(&self, dsss_near: bool) -> BasicRates {
        if dsss_near && !self.ofdm_rates.is_empty() {
            self.basic_rates.with_dsss()
        } else {
            self.basic_rates
        }
    }

    /// The widest channel of the generation that is not above `width`.
    #[must_use]
    pub fn width_within(&self, width: Width) -> Width {
        let mut widths = self.widths.iter().map(|row| row.width);
        let widest = widths.rfind(|own| *own <= width);
        widest.unwrap_or(self.widths[0].width)
    }

    /// `wanted` where the generation has this guard interval, else 800 ns, which all have.
    #[must_use]
    pub fn guard_interval(&self, wanted: GuardInterval) -> GuardInterval {
        if self
            .guard_intervals
            .iter()
            .any(|row| row.interval == wanted)
        {
            wanted
        } else {
            GuardInterval::Ns800
        }
    }

    /// MCS indices and streams of data frames with up to `streams` streams, streams first.
    /// Combinations that some width excludes are among them.
    pub fn mcs_indices(&self, streams: u8) -> impl Iterator<Item = (u8, u8)> {
        let rules = self.mcs;
        let (top, most) = rules.map_or((0, 0), |rules| (rules.top, rules.streams));
        (1..=streams.min(most)).flat_map(move |s| (0..=top).map(move |mcs| (mcs, s)))
    }

    /// Checks an MCS index and a number of streams without regard to the width.
    ///
    /// # Errors
    /// [`TxVectorError`] names the index or the streams that the generation does not have.
    pub fn check_mcs(&self, mcs: u8, streams: u8) -> Result<(), TxVectorError> {
        self.split(mcs, streams).map(|_| ())
    }

    pub(crate) fn split(&self, mcs: u8, streams: u8) -> Result<Split, TxVectorError> {
        let generation = self.generation;
        let Some(rules) = self.mcs else {
            return Err(TxVectorError::NoMcs { generation });
        };
        let names_streams = rules.index_names_streams;
        let per_stream = rules.top + 1;
        let max = if names_streams {
            per_stream * rules.streams - 1
        } else {
            rules.top
        };
        if mcs > max {
            return Err(TxVectorError::NoSuchMcs {
                generation,
                mcs,
                max,
            });
        }
        let wrong_streams = TxVectorError::NoSuchStreams {
            generation,
            nss: streams,
            max: rules.streams,
        };
        if !(1..=rules.streams).contains(&streams) {
            return Err(wrong_streams);
        }
        if !names_streams {
            return Ok(Split {
                index: mcs,
                per_stream: mcs,
                streams,
            });
        }
        if mcs <= rules.top {
            return Ok(Split {
                index: mcs + per_stream * (streams - 1),
                per_stream: mcs,
                streams,
            });
        }
        let named = mcs / per_stream + 1;
        if streams != 1 && streams != named {
            return Err(TxVectorError::OtherStreams {
                generation,
                mcs,
                nss: streams,
                named,
            });
        }
        Ok(Split {
            index: mcs,
            per_stream: mcs % per_stream,
            streams: named,
        })
    }
}
