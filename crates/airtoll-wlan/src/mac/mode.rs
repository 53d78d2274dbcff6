//! What a link sends with: a transmission vector and everything that follows from it.

use airtoll_phy::{
    self as phy, AmpduLimits, BasicRates, DsssRate, Format, GuardInterval, OfdmRate, Preamble,
    TimingSet, TxVector, Width,
};
use airtoll_units::Duration;

use crate::scenario::{Band, Bss, DsssPreamble, Protection, Standard};

/// A transmission vector with its response times, computed once.
#[derive(Debug, Clone)]
pub(crate) struct Mode {
    /// BSS whose basic rates and timings it follows.
    pub bss: usize,
    pub vector: TxVector,
    /// Vector of Ack, block ack and CTS that answer it.
    pub response: TxVector,
    /// Vector of RTS, CTS-to-self and the CTS that answers an RTS.
    pub guard: TxVector,
    pub ack: Duration,
    pub block_ack: Duration,
    pub cts: Duration,
    pub rts: Duration,
    /// From the end of the frame to the instant at which its sender gives the response up.
    pub timeout: Duration,
    pub limits: Option<AmpduLimits>,
    /// Longest A-MPDU used, octets; 0: none.
    pub ampdu_octets: u32,
    /// Most MPDUs in an A-MPDU.
    pub window: u32,
    /// The same for a CTS.
    pub cts_timeout: Duration,
    pub bit_rate: u64,
    /// Longest PSDU within the longest PPDU time of formats that aggregate, octets.
    pub ppdu_octets: u32,
    /// What goes before the frame so that older stations stay silent.
    pub protection: Protection,
}

/// The PHY's band of a BSS.
pub(crate) fn band(bss: &Bss) -> phy::Band {
    match bss.band {
        Some(Band::Ghz2) => phy::Band::Ghz2_4,
        Some(Band::Ghz5) => phy::Band::Ghz5,
        Some(Band::Ghz6) => phy::Band::Ghz6,
        None => match bss.standard {
            Standard::B | Standard::G => phy::Band::Ghz2_4,
            Standard::Be if bss.width_mhz == 320 => phy::Band::Ghz6,
            _ => phy::Band::Ghz5,
        },
    }
}

/// Slot, SIFS and windows of a BSS; `with_b` says that an 802.11b station is in it.
pub(crate) fn timing(bss: &Bss, with_b: bool) -> TimingSet {
    match (bss.standard, band(bss)) {
        (Standard::B, _) => TimingSet::DSSS,
        (_, phy::Band::Ghz2_4) if with_b || (bss.standard == Standard::G && !bss.short_slot) => {
            TimingSet::ERP_LONG_SLOT
        }
        (_, phy::Band::Ghz2_4) => TimingSet::ERP,
        _ => TimingSet::OFDM,
    }
}

/// The basic rates of a BSS.
pub(crate) fn basic_rates(bss: &Bss, with_b: bool) -> BasicRates {
    if let Some(rates) = &bss.basic_rates_mbps {
        let dsss: Vec<_> = DsssRate::ALL
            .into_iter()
            .filter(|r| rates.iter().any(|m| (m * 10.0) as u32 == r.hundred_kbps()))
            .collect();
        let ofdm: Vec<_> = OfdmRate::ALL
            .into_iter()
            .filter(|r| {
                rates
                    .iter()
                    .any(|m| *m as u32 == r.mbps() && m.fract() == 0.0)
            })
            .collect();
        return BasicRates::new(&dsss, &ofdm);
    }
    match bss.standard {
        Standard::B => BasicRates::dsss_default(),
        // Protection says that b stations are near, whether or not they belong to this BSS.
        _ if with_b || bss.protection != Protection::None => BasicRates::mixed_default(),
        _ => BasicRates::ofdm_default(),
    }
}

/// The vector of a legacy rate in a BSS; `None` if the band has no such rate.
pub(crate) fn legacy(bss: &Bss, mbps: f64) -> Option<TxVector> {
    let tenths = (mbps * 10.0) as u32;
    if let Some(rate) = DsssRate::ALL
        .into_iter()
        .find(|r| r.hundred_kbps() == tenths)
    {
        let preamble = match bss.preamble {
            DsssPreamble::Short if rate != DsssRate::M1 => Preamble::Short,
            _ => Preamble::Long,
        };
        return TxVector::dsss(rate, preamble).ok();
    }
    let rate = OfdmRate::ALL
        .into_iter()
        .find(|r| r.mbps() * 10 == tenths)?;
    Some(TxVector::ofdm(rate, band(bss)))
}

/// The vector of an MCS in a BSS.
///
/// # Errors
/// What the PHY says about a combination that it does not have.
pub(crate) fn mcs(
    bss: &Bss,
    standard: Standard,
    index: u8,
    streams: u8,
) -> Result<TxVector, phy::TxVectorError> {
    let narrow = match standard {
        Standard::N => bss.width_mhz.min(40),
        Standard::Ac | Standard::Ax => bss.width_mhz.min(160),
        _ => bss.width_mhz,
    };
    let width = Width::of_mhz(u32::from(narrow)).unwrap_or(Width::Mhz20);
    let gi = GuardInterval::of_nanos(u32::from(bss.guard_interval_ns));
    let gi = match (standard, gi) {
        // An older station in an ax BSS has no longer guard intervals.
        (Standard::N | Standard::Ac, Some(GuardInterval::Ns1600 | GuardInterval::Ns3200))
        | (_, None) => GuardInterval::Ns800,
        (_, Some(gi)) => gi,
    };
    match standard {
        Standard::N => {
            let index = if index < 8 {
                index + 8 * (streams - 1)
            } else {
                index
            };
            TxVector::ht(index, width, gi, band(bss))
        }
        Standard::Ac => TxVector::vht(index, width, gi, streams),
        Standard::Be => TxVector::eht(index, width, gi, streams, band(bss)),
        _ => TxVector::he(index, width, gi, streams, band(bss)),
    }
}

impl Mode {
    /// Everything that follows from `vector` in a BSS with these timings and basic rates; frames
    /// that b stations cannot hear are protected as the BSS says.
    pub fn new(vector: TxVector, bss: &Bss, timing: &TimingSet, basic: BasicRates) -> Self {
        let response = phy::control_response(&vector, basic);
        let limits = phy::ampdu_limits(&vector);
        let ampdu_octets = limits.map_or(0, |l| {
            bss.aggregation
                .ampdu_max_octets
                .map_or(l.octets, |most| most.min(l.octets))
        });
        let window = limits.map_or(1, |l| {
            bss.aggregation
                .window
                .map_or(l.mpdus, |w| u32::from(w).clamp(1, l.mpdus))
        });
        let ofdm_at_2_4 = vector.format() != Format::Dsss && vector.band() == phy::Band::Ghz2_4;
        let protection = if ofdm_at_2_4 {
            bss.protection
        } else {
            Protection::None
        };
        // Protection frames must be heard by DSSS stations: sent at the highest DSSS basic rate.
        let guard = if protection == Protection::None {
            response
        } else {
            legacy(bss, 11.0).map_or(response, |cck| phy::control_response(&cck, basic))
        };
        let air = |octets| phy::airtime(&response, octets);
        let mut mode = Self {
            bss: 0,
            vector,
            response,
            guard,
            ack: air(phy::ACK_OCTETS),
            block_ack: air(phy::block_ack_octets(window)),
            cts: phy::airtime(&guard, phy::CTS_OCTETS),
            rts: phy::airtime(&guard, phy::RTS_OCTETS),
            timeout: phy::ack_timeout(timing, &response),
            cts_timeout: phy::ack_timeout(timing, &guard),
            limits,
            ampdu_octets,
            window,
            bit_rate: vector.bit_rate().0,
            ppdu_octets: 0,
            protection,
        };
        mode.ppdu_octets = mode.octets_within(phy::PPDU_MAX_TIME);
        mode
    }

    /// The longest PSDU whose PPDU takes no longer than `room`.
    pub fn octets_within(&self, room: Duration) -> u32 {
        phy::psdu_within(&self.vector, room)
    }
}
