//! Vectors, spaces and windows of one station's link, from a resolved scenario.
//!
//! Facts about the PHY generation come from its descriptor, as the simulator's do. The exchange
//! that follows from them is derived here independently of the simulator.

use airtoll_phy::{
    ADDRESS_4_OCTETS, Band, BasicRates, DATA_HEADER_OCTETS, DsssRate, FCS_OCTETS, GuardInterval,
    LLC_SNAP_OCTETS, Legacy, MpduSpacing, OfdmRate, PPDU_MAX_TIME, Preamble, QOS_CONTROL_OCTETS,
    TimingSet, TxVector, Width, ampdu_limits, control_response, psdu_within,
};

use airtoll_units::Duration;

use super::exchange::Exchange;
use super::throughput::Cannot;
use crate::scenario::{Bss, CipherDelimiters, Node, Protection, Rate, Standard, TxopProtection};

/// Direction of data frames between a station and its access point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// The station sends.
    Up,
    /// The access point sends.
    Down,
}

impl Direction {
    /// The other one.
    #[must_use]
    pub const fn back(self) -> Self {
        match self {
            Self::Up => Self::Down,
            Self::Down => Self::Up,
        }
    }
}

/// Parameters of data frames between one station and its access point.
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
    /// Longest A-MSDU and longest MPDU that holds one, octets; 0: one packet per MPDU.
    pub amsdu_octets: [u32; 2],
    /// Block-ack window.
    pub window: u32,
    /// Spacing of the MPDUs of an A-MPDU, up and down.
    pub spacings: [MpduSpacing; 2],
    /// RTS before MPDUs longer than this, octets.
    pub rts_above_octets: Option<u32>,
    /// Fragments of MPDUs longer than this, octets; `None` under a block ack agreement.
    pub fragment_above_octets: Option<u32>,
    /// MAC header and FCS, and the octets that the cipher adds to each MPDU.
    pub per_mpdu_octets: [u32; 2],
    /// Protection of OFDM frames.
    pub protection: Protection,
    /// Preamble of control frames sent by DSSS.
    pub preamble: Preamble,
}

impl Link {
    /// The link of `node` and `access_point` in `bss`; `dsss_present` where any station of the BSS is 802.11b.
    ///
    /// # Errors
    /// [`Cannot`] where the rate is not fixed, the combination does not exist, or an option has
    /// no closed form.
    pub fn of(
        bss: &Bss,
        [node, access_point]: [&Node; 2],
        dsss_present: bool,
    ) -> Result<Self, Cannot> {
        let standard = node.standard.unwrap_or(bss.standard);
        if standard.descriptor().mcs.is_some() && !node.cipher.permits_high_throughput() {
            return Err(Cannot::FallbackRate);
        }
        let band = band(bss);
        let preamble = bss.preamble;
        let rate = node.rate_in(bss);
        let data = vector(bss, standard, band, preamble, rate)?;
        let basic = basic_rates(bss, dsss_present || standard == Standard::B);
        let timing = timing(bss, standard, dsss_present);
        let qos = bss.edca.unwrap_or(bss.standard.descriptor().edca);
        if bss.edca_parameters.is_some() || node.edca_parameters.is_some() {
            return Err(Cannot::Option("edca_parameters"));
        }
        if bss.txop_protection != TxopProtection::Single {
            return Err(Cannot::Option("txop_protection"));
        }
        if node.frame_burst_us.unwrap_or(bss.frame_burst_us) > 0.0 {
            return Err(Cannot::Option("frame_burst_us"));
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
            amsdu_octets: limits.map_or([0; 2], |l| {
                let within_time = psdu_within(&data, PPDU_MAX_TIME);
                let mpdu = l.mpdu(&data, ampdu_octets).min(within_time);
                [bss.aggregation.amsdu_max_octets, mpdu]
            }),
            window,
            spacings: [(node, access_point), (access_point, node)].map(|(sender, receiver)| {
                let start = Duration::from_nanos((receiver.mpdu_start_spacing_us * 1e3) as u64);
                let delimiters = CipherDelimiters::of(&sender.cipher_delimiters, node.cipher);
                MpduSpacing::new(&data, start, delimiters)
            }),
            rts_above_octets: bss.rts_threshold_octets,
            fragment_above_octets: bss
                .fragmentation_threshold_octets
                .filter(|_| !(data.aggregates() && (ampdu_octets > 0 || data.always_ampdu()))),
            per_mpdu_octets: [header, node.cipher.mpdu_octets() as u32],
            // Frames in other bands have no DSSS stations to protect them from.
            protection: match band {
                Band::Ghz2_4 => bss.protection,
                _ => Protection::None,
            },
            preamble,
        })
    }

    /// The exchange that carries packets of `packet_octets` octets, as many per MPDU as an A-MSDU
    /// holds (9.3.2.2.2: a header of 14 octets each, all but the last padded to four octets).
    #[must_use]
    pub fn exchange(&self, packet_octets: u32, direction: Direction) -> Exchange {
        const SUBFRAME_HEADER: u32 = 14;
        let msdu = LLC_SNAP_OCTETS + packet_octets;
        let around = self.around_packet_octets - LLC_SNAP_OCTETS;
        let [amsdu, most] = self.amsdu_octets;
        let padded = (SUBFRAME_HEADER + msdu).next_multiple_of(4);
        let room = amsdu.min(most.saturating_sub(around));
        let together = (room + padded - SUBFRAME_HEADER - msdu) / padded;
        let mpdu = if together > 1 {
            around + (together - 1) * padded + SUBFRAME_HEADER + msdu
        } else {
            around + msdu
        };
        let pieces = if together > 1 {
            vec![mpdu]
        } else {
            self.fragments(mpdu)
        };
        let plain = if self.ampdu_octets > 0 {
            Exchange::aggregate(
                &self.data,
                self.basic,
                &self.timing,
                mpdu,
                self.ampdu_octets,
                self.window,
                self.spacings[direction as usize],
            )
        } else {
            self.in_fragments(&pieces)
        };
        let mpdus = plain.msdus;
        let plain = Exchange {
            msdus: mpdus * together.max(1),
            ..plain
        };
        let spaced = match self.aifsn {
            Some(aifsn) => plain.under_edca(&self.timing, aifsn),
            None => plain,
        };
        let dsss_control = self.basic.highest_dsss().unwrap_or(DsssRate::M1);
        let protects = !self.data.is_dsss();
        let control = if protects && self.protection != Protection::None {
            TxVector::dsss_at_most_short(dsss_control, self.preamble)
        } else {
            control_response(&self.data, self.basic)
        };
        let psdu = pieces.first().copied().unwrap_or(mpdu) * mpdus;
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
    /// Fragment lengths of an MSDU that is one MPDU of `mpdu` octets unfragmented (10.4).
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

    /// The exchange of one MPDU or of its fragments: each has its own Ack, SIFS before and after
    /// the Ack.
    fn in_fragments(&self, pieces: &[u32]) -> Exchange {
        let single = |octets: &u32| Exchange::single(&self.data, self.basic, &self.timing, *octets);
        let (first, others) = pieces.split_first().unwrap_or((&0, &[]));
        others
            .iter()
            .map(single)
            .fold(single(first), |whole, piece| Exchange {
                data: whole.data + whole.response + self.timing.sifs + piece.data,
                ..whole
            })
    }
}

/// Band of a BSS.
pub(crate) fn band(bss: &Bss) -> Band {
    let width = Width::of_mhz(u32::from(bss.width_mhz)).unwrap_or(Width::Mhz20);
    let default = || bss.standard.descriptor().default_band(width);
    bss.band.unwrap_or_else(default)
}

/// The vector of a legacy rate in Mb/s, where there is one.
pub(crate) fn legacy(mbps: f64, band: Band, preamble: Preamble) -> Option<TxVector> {
    let rate = Legacy::of_hundred_kbps((mbps * 10.0) as u32)?;
    Some(TxVector::legacy(rate, preamble, band))
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
    let phy = standard.descriptor();
    TxVector::of_mcs(
        standard,
        mcs,
        streams,
        phy.width_within(width),
        phy.guard_interval(gi),
        band,
    )
    .and_then(|vector| vector.with_coding(bss.coding))
    .map_err(|_| Cannot::NoSuchRate)
}

fn basic_rates(bss: &Bss, dsss_present: bool) -> BasicRates {
    let Some(list) = &bss.basic_rates_mbps else {
        let dsss_near = dsss_present || bss.protection != Protection::None;
        return bss.standard.descriptor().basic_rates(dsss_near);
    };
    let listed = |hundred: u32| list.iter().any(|m| (m * 10.0) as u32 == hundred);
    let dsss: Vec<_> = DsssRate::ALL
        .into_iter()
        .filter(|r| listed(r.hundred_kbps()))
        .collect();
    let ofdm: Vec<_> = OfdmRate::ALL
        .into_iter()
        .filter(|r| listed(r.mbps() * 10))
        .collect();
    BasicRates::new(&dsss, &ofdm)
}

fn timing(bss: &Bss, standard: Standard, dsss_present: bool) -> TimingSet {
    let phy = bss.standard.descriptor();
    let mut set = phy.timing(band(bss), dsss_present || !bss.short_slot);
    // A station without OFDM rates has aCWmin(0) (Table 18-5).
    if standard == Standard::B {
        set.cw_min = TimingSet::DSSS.cw_min;
    }
    set.cw_min = bss.cw_min.unwrap_or(set.cw_min);
    set.cw_max = bss.cw_max.unwrap_or(set.cw_max);
    set
}
