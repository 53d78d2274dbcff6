//! Mode of a link: a transmission vector and the times that follow from it.

use airtoll_phy::{
    self as phy, AmpduLimits, BasicRates, DsssRate, GuardInterval, Legacy, OfdmRate, TimingSet,
    TxVector, Width,
};
use airtoll_units::Duration;

use crate::scenario::{Bss, Protection, Standard};

/// A transmission vector with its response times, computed once.
#[derive(Debug, Clone)]
pub(crate) struct Mode {
    /// BSS whose basic rates and timings it follows.
    bss: usize,
    vector: TxVector,
    /// Vector of Ack, block ack and CTS that answer it.
    response: TxVector,
    /// Vector of RTS, CTS-to-self and the CTS that answers an RTS.
    guard: TxVector,
    ack: Duration,
    block_ack: Duration,
    cts: Duration,
    rts: Duration,
    /// From the end of the frame to the end of the wait for its response.
    timeout: Duration,
    limits: Option<AmpduLimits>,
    /// Longest A-MPDU used, octets; 0: none.
    ampdu_octets: u32,
    /// Most MPDUs in an A-MPDU.
    window: u32,
    /// The same for a CTS.
    cts_timeout: Duration,
    bit_rate: u64,
    /// Longest PSDU within the longest PPDU time of formats that aggregate, octets.
    ppdu_octets: u32,
    /// Protection frames before the frame.
    protection: Protection,
}

/// Band of a BSS.
pub(crate) fn band(bss: &Bss) -> phy::Band {
    let default = || bss.standard.descriptor().default_band(width(bss));
    bss.band.unwrap_or_else(default)
}

/// Channel width of a BSS.
pub(crate) fn width(bss: &Bss) -> Width {
    Width::of_mhz(u32::from(bss.width_mhz)).unwrap_or(Width::Mhz20)
}

/// Slot, SIFS and windows of a BSS; `with_b`: an 802.11b station belongs to the BSS.
pub(crate) fn timing(bss: &Bss, with_b: bool) -> TimingSet {
    let phy = bss.standard.descriptor();
    phy.timing(band(bss), with_b || !bss.short_slot)
}

/// Basic rates of a BSS.
pub(crate) fn basic_rates(bss: &Bss, with_b: bool) -> BasicRates {
    if let Some(rates) = &bss.basic_rates_mbps {
        let named = |rate: u32| rates.iter().any(|m| (m * 10.0) as u32 == rate);
        let dsss = DsssRate::ALL.into_iter();
        let ofdm = OfdmRate::ALL.into_iter();
        return BasicRates::new(
            &dsss.filter(|r| named(r.hundred_kbps())).collect::<Vec<_>>(),
            &ofdm.filter(|r| named(r.mbps() * 10)).collect::<Vec<_>>(),
        );
    }
    // Protection says that b stations are near, whether or not they belong to this BSS.
    let dsss_near = with_b || bss.protection != Protection::None;
    bss.standard.descriptor().basic_rates(dsss_near)
}

/// The vector of a legacy rate in a BSS; `None` if there is no such rate.
pub(crate) fn legacy(bss: &Bss, mbps: f64) -> Option<TxVector> {
    let rate = Legacy::of_hundred_kbps((mbps * 10.0) as u32)?;
    Some(TxVector::legacy(rate, bss.preamble, band(bss)))
}

/// The vector of an MCS in a BSS. A station of an older generation than its BSS uses its widest
/// channel within the BSS's, and 800 ns where it does not have the BSS's guard interval.
///
/// # Errors
/// The PHY's reason for a combination that does not exist.
pub(crate) fn mcs(
    bss: &Bss,
    standard: Standard,
    index: u8,
    streams: u8,
) -> Result<TxVector, phy::TxVectorError> {
    let phy = standard.descriptor();
    let gi = GuardInterval::of_nanos(u32::from(bss.guard_interval_ns));
    TxVector::of_mcs(
        standard,
        index,
        streams,
        phy.width_within(width(bss)),
        phy.guard_interval(gi.unwrap_or(GuardInterval::Ns800)),
        band(bss),
    )?
    .with_coding(bss.coding)
}

/// The vectors among which rate control chooses, with up to `streams` spatial streams; `permitted`:
/// the cipher permits HT and later rates. Stations with DSSS and OFDM rates use OFDM alone.
pub(crate) fn choices(
    bss: &Bss,
    standard: Standard,
    permitted: bool,
    streams: u8,
) -> Vec<TxVector> {
    let phy = standard.descriptor();
    if phy.mcs.is_some() && permitted {
        return phy
            .mcs_indices(streams)
            .filter_map(|(index, streams)| mcs(bss, standard, index, streams).ok())
            .collect();
    }
    let ofdm_only = !phy.ofdm_rates.is_empty();
    phy.announced_rates()
        .filter(|rate| !ofdm_only || matches!(rate, Legacy::Ofdm(_)))
        .map(|rate| TxVector::legacy(rate, bss.preamble, band(bss)))
        .collect()
}

impl Mode {
    /// The mode of `vector` in a BSS, with its number, and with these timings and basic rates. OFDM
    /// frames at 2.4 GHz have the BSS's protection.
    pub fn new(
        vector: TxVector,
        (number, bss): (usize, &Bss),
        timing: &TimingSet,
        basic: BasicRates,
    ) -> Self {
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
        let ofdm_at_2_4 = !vector.is_dsss() && vector.band() == phy::Band::Ghz2_4;
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
            bss: number,
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

    /// The number of its BSS.
    pub fn bss(&self) -> usize {
        self.bss
    }

    /// Whether it is the mode of `vector` in the BSS with this number.
    pub fn is_of(&self, bss: usize, vector: &TxVector) -> bool {
        self.bss == bss && self.vector == *vector
    }

    /// The vector of data frames.
    #[inline]
    pub fn vector(&self) -> &TxVector {
        &self.vector
    }

    /// The vector of Ack, block ack and BlockAckReq.
    #[inline]
    pub fn response(&self) -> &TxVector {
        &self.response
    }

    /// The vector of RTS, CTS-to-self and the CTS that answers an RTS.
    #[inline]
    pub fn guard(&self) -> &TxVector {
        &self.guard
    }

    #[inline]
    pub fn bit_rate(&self) -> u64 {
        self.bit_rate
    }

    /// Airtime of a PSDU of `octets` octets.
    #[inline]
    pub fn airtime(&self, octets: u32) -> Duration {
        phy::airtime(&self.vector, octets)
    }

    /// Airtime of the Ack, or of the block ack of an A-MPDU.
    #[inline]
    pub fn answer(&self, aggregate: bool) -> Duration {
        if aggregate { self.block_ack } else { self.ack }
    }

    /// Octets of the Ack, or of the block ack of an A-MPDU.
    #[inline]
    pub fn answer_octets(&self, aggregate: bool) -> u32 {
        if aggregate {
            phy::block_ack_octets(self.window)
        } else {
            phy::ACK_OCTETS
        }
    }

    /// From the end of a data frame to the end of the wait for its response.
    #[inline]
    pub fn timeout(&self) -> Duration {
        self.timeout
    }

    /// From the end of an RTS to the end of the wait for its CTS.
    #[inline]
    pub fn cts_timeout(&self) -> Duration {
        self.cts_timeout
    }

    #[inline]
    pub fn rts(&self) -> Duration {
        self.rts
    }

    #[inline]
    pub fn cts(&self) -> Duration {
        self.cts
    }

    /// Whether it is a rate of 802.11a, b or g.
    #[inline]
    pub fn is_legacy(&self) -> bool {
        self.limits.is_none()
    }

    /// Whether several MPDUs fit in a PPDU.
    #[inline]
    pub fn aggregates(&self) -> bool {
        self.ampdu_octets > 0 && self.limits.is_some()
    }

    /// Whether a lone MPDU has a delimiter, too.
    #[inline]
    pub fn always_delimits(&self) -> bool {
        self.limits.is_some() && self.vector.always_ampdu()
    }

    /// Most MPDUs in an A-MPDU, and in the window of a block ack agreement.
    #[inline]
    pub fn window(&self) -> u32 {
        self.window
    }

    /// Most MPDUs in a PPDU.
    #[inline]
    pub fn most_mpdus(&self) -> u32 {
        if self.aggregates() { self.window } else { 1 }
    }

    /// Longest A-MPDU, octets.
    #[inline]
    pub fn ampdu_limit(&self) -> u32 {
        self.ampdu_octets.min(self.ppdu_octets)
    }

    /// Longest MPDU with an A-MSDU, octets; `None` where the format has none.
    #[inline]
    pub fn amsdu_limit(&self) -> Option<u32> {
        let limit = self.limits?.mpdu(&self.vector, self.ampdu_octets);
        Some(limit.min(self.ppdu_octets))
    }

    /// Protection frames before a PSDU of `octets` octets; an RTS precedes those longer than
    /// `rts_octets`.
    #[inline]
    pub fn protection(&self, octets: u32, rts_octets: u32) -> Protection {
        if octets > rts_octets {
            Protection::RtsCts
        } else {
            self.protection
        }
    }

    /// Time of the frames and spaces before a PSDU that protect it; arguments as in
    /// [`Self::protection`].
    #[inline]
    pub fn guard_time(&self, sifs: Duration, octets: u32, rts_octets: u32) -> Duration {
        match self.protection(octets, rts_octets) {
            Protection::RtsCts => self.rts + sifs + self.cts + sifs,
            Protection::CtsToSelf => self.cts + sifs,
            Protection::None => Duration::ZERO,
        }
    }

    /// The longest PSDU whose PPDU takes no longer than `room`.
    pub fn octets_within(&self, room: Duration) -> u32 {
        phy::psdu_within(&self.vector, room)
    }
}
