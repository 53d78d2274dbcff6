//! From a resolved scenario to the vectors, spaces and windows of one station's link.
//!
//! Takes a BSS and a node; gives a [`Link`]. Read off the standard independently of the
//! simulator's own reading, so that a wrong rate or space in either shows as a difference.

use airtoll_phy::{
    ADDRESS_4_OCTETS, Band, BasicRates, DATA_HEADER_OCTETS, DsssRate, FCS_OCTETS, Format,
    GuardInterval, LLC_SNAP_OCTETS, OfdmRate, Preamble, QOS_CONTROL_OCTETS, TimingSet, TxVector,
    Width, ampdu_limits, control_response,
};

use super::answer::Cannot;
use super::exchange::Exchange;
use crate::scenario::{self, Bss, DsssPreamble, Node, Protection, Rate, Standard};

/// What one station and its access point send data with.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Link {
    /// Vector of data frames.
    pub data: TxVector,
    /// The basic rate set.
    pub basic: BasicRates,
    /// Slot, SIFS and windows.
    pub timing: TimingSet,
    /// AIFSN under EDCA; `None` under DCF.
    pub aifsn: Option<u32>,
    /// Octets of header, cipher, LLC/SNAP and FCS around a packet.
    pub around_packet_octets: u32,
    /// Longest A-MPDU, octets; 0: none.
    pub ampdu_octets: u32,
    /// Block-ack window.
    pub window: u32,
    /// RTS before MPDUs longer than this, octets.
    pub rts_above_octets: Option<u32>,
    /// Fragments of MPDUs longer than this, octets; `None` under a block ack agreement.
    pub fragment_above_octets: Option<u32>,
    /// MAC header and FCS, and what the cipher adds to each MPDU, octets.
    pub per_mpdu_octets: [u32; 2],
    /// Protection of OFDM frames.
    pub protection: Protection,
    /// Preamble of control frames sent by DSSS.
    pub preamble: Preamble,
}

impl Link {
    /// The link of `node` in `bss`; `dsss_present` where any station of the BSS is 802.11b.
    ///
    /// # Errors
    /// [`Cannot`] where the rate is not fixed, the combination does not exist, or an option has
    /// no closed form.
    pub fn of(bss: &Bss, node: &Node, dsss_present: bool) -> Result<Self, Cannot> {
        let standard = node.standard.unwrap_or(bss.standard);
        if standard >= Standard::N && !node.cipher.permits_high_throughput() {
            return Err(Cannot::FallbackRate);
        }
        let band = band(bss);
        let preamble = match bss.preamble {
            DsssPreamble::Long => Preamble::Long,
            DsssPreamble::Short => Preamble::Short,
        };
        let rate = node.rate.unwrap_or(bss.rate);
        let data = vector(bss, standard, band, preamble, rate)?;
        let basic = basic_rates(bss, standard, dsss_present);
        let timing = timing(bss, &data, dsss_present);
        let qos = bss.edca.unwrap_or(bss.standard >= Standard::N);
        if bss.edca_parameters.is_some() || node.edca_parameters.is_some() {
            return Err(Cannot::Option("edca_parameters"));
        }
        if node.frame_burst_us.unwrap_or(bss.frame_burst_us) > 0.0 {
            return Err(Cannot::Option("frame_burst_us"));
        }
        if bss.aggregation.amsdu_max_octets > 0 && data.aggregates() {
            return Err(Cannot::Option("aggregation.amsdu_max_octets"));
        }
        let limits = ampdu_limits(&data);
        let header = DATA_HEADER_OCTETS
            + if node.four_address {
                ADDRESS_4_OCTETS
            } else {
                0
            }
            + if qos { QOS_CONTROL_OCTETS } else { 0 }
            + FCS_OCTETS;
        let around = header + LLC_SNAP_OCTETS + node.cipher.frame_octets() as u32;
        let ampdu_octets = limits.map_or(0, |l| {
            bss.aggregation
                .ampdu_max_octets
                .map_or(l.octets, |o| o.min(l.octets))
        });
        let window = limits.map_or(1, |l| {
            bss.aggregation
                .window
                .map_or(l.mpdus, |w| u32::from(w).min(l.mpdus))
        });
        Ok(Self {
            data,
            basic,
            timing,
            aifsn: qos.then_some(3),
            around_packet_octets: around,
            ampdu_octets,
            window,
            rts_above_octets: bss.rts_threshold_octets,
            fragment_above_octets: bss.fragmentation_threshold_octets.filter(|_| {
                !(data.aggregates() && (ampdu_octets > 0 || data.format() != Format::HtMixed))
            }),
            per_mpdu_octets: [header, node.cipher.mpdu_octets() as u32],
            protection: bss.protection,
            preamble,
        })
    }

    /// The exchange that carries packets of `packet_octets` octets, one per MPDU.
    #[must_use]
    pub fn exchange(&self, packet_octets: u32) -> Exchange {
        let mpdu = packet_octets + self.around_packet_octets;
        let plain = if self.ampdu_octets > 0 {
            Exchange::aggregate(
                &self.data,
                self.basic,
                &self.timing,
                mpdu,
                self.ampdu_octets,
                self.window,
            )
        } else {
            self.in_fragments(mpdu)
        };
        let spaced = match self.aifsn {
            Some(aifsn) => plain.under_edca(&self.timing, aifsn),
            None => plain,
        };
        let dsss_control = self.basic.highest_dsss().unwrap_or(DsssRate::M1);
        let control = match self.data.format() {
            Format::Dsss => control_response(&self.data, self.basic),
            _ if self.protection != Protection::None => TxVector::dsss(dsss_control, self.preamble)
                .or_else(|_| TxVector::dsss(dsss_control, Preamble::Long))
                .expect("the long preamble carries every DSSS rate"),
            _ => control_response(&self.data, self.basic),
        };
        let psdu = self.fragments(mpdu).first().copied().unwrap_or(mpdu) * spaced.mpdus;
        let protects = self.data.format() != Format::Dsss;
        match self.protection {
            Protection::RtsCts if protects => spaced.with_rts(&control, self.basic, &self.timing),
            Protection::CtsToSelf if protects => spaced.with_cts_to_self(&control, &self.timing),
            _ if self.rts_above_octets.is_some_and(|limit| psdu > limit) => {
                spaced.with_rts(&control, self.basic, &self.timing)
            }
            _ => spaced,
        }
    }
}

impl Link {
    /// Lengths of the MPDUs that an MSDU travels in whose one MPDU would have `mpdu` octets
    /// (10.4).
    fn fragments(&self, mpdu: u32) -> Vec<u32> {
        let [header, cipher] = self.per_mpdu_octets;
        let mut body = mpdu - header - cipher;
        let Some(threshold) = self.fragment_above_octets else {
            return vec![mpdu];
        };
        let most = (threshold.saturating_sub(header) & !1).max(2);
        let mut lengths = Vec::new();
        while body > 0 {
            let piece = body.min(most);
            lengths.push(header + cipher + piece);
            body -= piece;
        }
        lengths
    }

    /// The exchange of a lone MSDU: each fragment has its own Ack, SIFS before it and after.
    fn in_fragments(&self, mpdu: u32) -> Exchange {
        let mut exchanges = self
            .fragments(mpdu)
            .into_iter()
            .map(|octets| Exchange::single(&self.data, self.basic, &self.timing, octets));
        let first = exchanges
            .next()
            .unwrap_or_else(|| Exchange::single(&self.data, self.basic, &self.timing, mpdu));
        exchanges.fold(first, |whole, piece| Exchange {
            data: whole.data + whole.response + self.timing.sifs + piece.data,
            ..whole
        })
    }
}

/// Band of a BSS.
pub(crate) fn band(bss: &Bss) -> Band {
    match bss.band {
        Some(scenario::Band::Ghz2) => Band::Ghz2_4,
        Some(scenario::Band::Ghz5) => Band::Ghz5,
        Some(scenario::Band::Ghz6) => Band::Ghz6,
        None if matches!(bss.standard, Standard::B | Standard::G) => Band::Ghz2_4,
        None => Band::Ghz5,
    }
}

/// The vector of a legacy rate in Mb/s, where there is one.
pub(crate) fn legacy(mbps: f64, band: Band, preamble: Preamble) -> Option<TxVector> {
    let hundred = (mbps * 10.0) as u32;
    if let Some(rate) = DsssRate::ALL
        .into_iter()
        .find(|r| r.hundred_kbps() == hundred)
    {
        return TxVector::dsss(rate, preamble)
            .or_else(|_| TxVector::dsss(rate, Preamble::Long))
            .ok();
    }
    OfdmRate::ALL
        .into_iter()
        .find(|r| r.mbps() * 10 == hundred)
        .map(|r| TxVector::ofdm(r, band))
}

fn vector(
    bss: &Bss,
    standard: Standard,
    band: Band,
    preamble: Preamble,
    rate: Rate,
) -> Result<TxVector, Cannot> {
    let (mcs, streams) = match rate {
        Rate::Fixed { mbps } => {
            return legacy(mbps, band, preamble).ok_or(Cannot::NoSuchRate);
        }
        Rate::FixedMcs { mcs, streams } => (mcs, streams),
        Rate::Aarf { .. } | Rate::Minstrel { .. } => return Err(Cannot::RateControl),
    };
    let width = Width::of_mhz(u32::from(bss.width_mhz)).ok_or(Cannot::NoSuchRate)?;
    let gi = GuardInterval::of_nanos(u32::from(bss.guard_interval_ns)).ok_or(Cannot::NoSuchRate)?;
    match standard {
        Standard::N => {
            let index = if mcs < 8 {
                mcs + 8 * (streams - 1)
            } else {
                mcs
            };
            TxVector::ht(index, width, gi, band)
        }
        Standard::Ac => TxVector::vht(mcs, width, gi, streams),
        Standard::Ax => TxVector::he(mcs, width, gi, streams, band),
        Standard::Be => TxVector::eht(mcs, width, gi, streams, band),
        Standard::B | Standard::A | Standard::G => return Err(Cannot::NoSuchRate),
    }
    .map_err(|_| Cannot::NoSuchRate)
}

fn basic_rates(bss: &Bss, standard: Standard, dsss_present: bool) -> BasicRates {
    if let Some(list) = &bss.basic_rates_mbps {
        let listed = |hundred: u32| list.iter().any(|m| (m * 10.0) as u32 == hundred);
        let dsss: Vec<_> = DsssRate::ALL
            .into_iter()
            .filter(|r| listed(r.hundred_kbps()))
            .collect();
        let ofdm: Vec<_> = OfdmRate::ALL
            .into_iter()
            .filter(|r| listed(r.mbps() * 10))
            .collect();
        return BasicRates::new(&dsss, &ofdm);
    }
    if bss.standard == Standard::B {
        return BasicRates::dsss_default();
    }
    let ofdm = [OfdmRate::M6, OfdmRate::M12, OfdmRate::M24];
    if dsss_present || standard == Standard::B || bss.protection != Protection::None {
        BasicRates::new(&DsssRate::ALL, &ofdm)
    } else {
        BasicRates::new(&[], &ofdm)
    }
}

fn timing(bss: &Bss, data: &TxVector, dsss_present: bool) -> TimingSet {
    let mut set = match (band(bss), bss.standard) {
        (Band::Ghz2_4, Standard::B) => TimingSet::DSSS,
        (Band::Ghz2_4, _) if dsss_present || !bss.short_slot => TimingSet::ERP_LONG_SLOT,
        (Band::Ghz2_4, _) => TimingSet::ERP,
        _ => TimingSet::OFDM,
    };
    if data.format() == Format::Dsss {
        set.cw_min = TimingSet::DSSS.cw_min;
    }
    set.cw_min = bss.cw_min.unwrap_or(set.cw_min);
    set.cw_max = bss.cw_max.unwrap_or(set.cw_max);
    set
}
