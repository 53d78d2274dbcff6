//! Levels of links at a fixed rate: the received level, and the level that the rate needs.

use airtoll_engine::Streams;
use airtoll_phy::{
    Band, Coding, DelayLine, GuardInterval, TxVector, Width, effective_snr_db, frame_success,
    from_milliwatts, milliwatts, noise_floor, non_ht_reference_rate, ratio, sub_bands,
};
use airtoll_units::{Db, Dbm};

use super::link::{Link, band, legacy};
use crate::loss_db;
use crate::medium::normals;
use crate::scenario::{Bss, Node, Rate, Role, Scenario, Standard};

/// Octets of the packet whose frame is judged.
const PACKET_OCTETS: u32 = 1_500;
/// The rate needs the level at which this share of frames arrives.
const NEEDED_SUCCESS: f64 = 0.9;
/// A link is weak if fewer frames arrive.
const WEAK_SUCCESS: f64 = 0.5;

/// A link whose fixed rate needs a higher level.
#[derive(Debug, Clone, PartialEq)]
pub struct WeakLink {
    /// Name of the station.
    pub station: String,
    /// Level at the receiver, dBm.
    pub level_dbm: f64,
    /// Level at which nine of ten frames of 1500 octets arrive, dBm.
    pub needed_dbm: f64,
}

/// Octets of MAC header, FCS, LLC/SNAP and the longest cipher around that packet.
const AROUND_OCTETS: u32 = 62;

/// The highest MCS that a level supports.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HighestMcs {
    /// Its index for the given number of streams.
    pub mcs: u8,
    /// Its rate, bit/s.
    pub bps: f64,
    /// Whether nine of ten frames of 1500 octets arrive with it; false where the level is too low for
    /// every MCS, of which the lowest then stands here.
    pub arrives: bool,
    /// The level that it suits, dBm: that of the signal, or over several paths that of a flat channel with as many
    /// losses as nine of ten of their channels have at most.
    pub level_dbm: f64,
}

/// A channel, and guard interval and code on it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Channel {
    /// Its band.
    pub band: Band,
    /// Its width, MHz.
    pub width_mhz: u16,
    /// Guard interval, ns.
    pub guard_interval_ns: u16,
    /// Error-correcting code.
    pub coding: Coding,
}

/// Signal and noise at a receiver.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Heard {
    /// Level of the signal, dBm.
    pub level_dbm: f64,
    /// Its noise figure, dB.
    pub noise_figure_db: f64,
    /// Paths on which the signal comes, where its gain differs over the channel.
    pub paths: Option<Paths>,
}

/// Several paths of a signal (`radio.fading` of a scenario).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Paths {
    /// Power of the line of sight over that of the others, dB; `None`: there is none.
    pub k_db: Option<f64>,
    /// RMS delay spread of the others, ns.
    pub delay_spread_ns: f64,
}

/// Channels that are drawn, and the share of them whose losses a rate may have to bear.
const CHANNELS: usize = 400;
const WORST: f64 = 0.1;

impl Paths {
    /// Gains of the sub-bands of a frame in channels that are the same at every call, dB.
    fn channels(self, width: Width) -> Vec<Vec<f64>> {
        let k = self.k_db.map_or(0.0, |db| ratio(Db(db)));
        let line = DelayLine::new(self.delay_spread_ns, k, width.mhz() as usize / 20);
        let mut stream = Streams::new(0).named("channels of several paths");
        let occupied = sub_bands(0, width);
        let one = |_| line.gains_db(|| normals(&mut stream))[occupied.clone()].to_vec();
        (0..CHANNELS).map(one).collect()
    }
}

/// The SNR of a flat channel, dB, with as many losses of frames with `vector` as nine of ten of these channels have at
/// most.
fn sure_snr_db(vector: &TxVector, snr_db: f64, channels: &[Vec<f64>]) -> f64 {
    let of = |gains: &Vec<f64>| effective_snr_db(vector.mcs().modulation, snr_db, gains);
    let mut all: Vec<f64> = channels.iter().map(of).collect();
    all.sort_by(f64::total_cmp);
    all[(WORST * all.len() as f64) as usize]
}

/// The MCS with the highest rate of those with which nine of ten frames of 1500 octets arrive.
///
/// `None` where the generation has no MCS with so many streams there.
#[must_use]
pub fn highest_mcs(
    standard: Standard,
    channel: Channel,
    streams: u8,
    heard: Heard,
) -> Option<HighestMcs> {
    let phy = standard.descriptor();
    let width = phy.width_within(Width::of_mhz(u32::from(channel.width_mhz))?);
    let guard = GuardInterval::of_nanos(u32::from(channel.guard_interval_ns))?;
    let guard = phy.guard_interval(guard);
    let noise = noise_floor(f64::from(width.mhz()) * 1e6, Db(heard.noise_figure_db));
    let Dbm(noise_dbm) = noise;
    let channels = heard.paths.map(|paths| paths.channels(width));
    let judged = |(mcs, vector): (u8, TxVector)| {
        let level_dbm = channels.as_ref().map_or(heard.level_dbm, |channels| {
            noise_dbm + sure_snr_db(&vector, heard.level_dbm - noise_dbm, channels)
        });
        let snr = ratio(Db(level_dbm - noise_dbm));
        HighestMcs {
            mcs,
            bps: vector.bit_rate().0 as f64,
            arrives: frame_success(&vector, snr, PACKET_OCTETS + AROUND_OCTETS) >= NEEDED_SUCCESS,
            level_dbm,
        }
    };
    let all = phy.mcs_indices(streams).filter(|(_, s)| *s == streams);
    let vectors = all.filter_map(|(mcs, _)| {
        let vector = TxVector::of_mcs(standard, mcs, streams, width, guard, channel.band)
            .and_then(|vector| vector.with_coding(channel.coding))
            .ok()?;
        Some((mcs, vector))
    });
    let mut fastest_first: Vec<(u8, TxVector)> = vectors.collect();
    fastest_first.sort_by_key(|(_, vector)| core::cmp::Reverse(vector.bit_rate().0));
    let lowest = fastest_first.last().copied();
    let arrives = fastest_first
        .into_iter()
        .map(judged)
        .find(|one| one.arrives);
    arrives.or_else(|| lowest.map(judged))
}

/// The fixed rate of a station's data frames in a BSS.
#[derive(Debug, Clone, PartialEq)]
pub struct StationRate {
    /// Name of the station.
    pub station: String,
    /// Name of the BSS: a multi-link device has several.
    pub bss: String,
    /// MCS index and streams; `None` for a rate of a PHY without them, or where the cipher forbids them.
    pub mcs: Option<(u8, u8)>,
    /// The rate, bit/s.
    pub bps: f64,
    /// Level of the weaker direction, dBm.
    pub level_dbm: f64,
}

/// The fixed rates of all stations, in the order of the nodes and of their links. Stations whose rate the
/// simulator chooses are left out, and those of neighbours.
#[must_use]
pub fn station_rates(scenario: &Scenario) -> Vec<StationRate> {
    let own = |n: &&Node| n.role == Role::Station && !scenario.is_neighbours(n);
    let stations = scenario.nodes.iter().filter(own);
    let links = stations.flat_map(|station| station.bsss().map(move |bss| (station, bss)));
    links
        .filter_map(|(station, name)| {
            let bss = scenario.bss.iter().find(|b| b.name == name)?;
            let access_point = scenario.access_point_of(name)?;
            let standard = station.standard.unwrap_or(bss.standard);
            let (mcs, vector) = match station.rate_in(bss) {
                Rate::Fixed { mbps } => (None, legacy(mbps, band(bss), bss.preamble)?),
                Rate::FixedMcs { mcs, streams } => {
                    let wanted = mcs_vector(bss, standard, mcs, streams)?;
                    if station.cipher.permits_high_throughput() {
                        (Some((mcs, streams)), wanted)
                    } else {
                        let rate = non_ht_reference_rate(&wanted);
                        (None, TxVector::ofdm(rate, band(bss)))
                    }
                }
                Rate::Aarf { .. } | Rate::Minstrel { .. } => return None,
            };
            Some(StationRate {
                station: station.name.clone(),
                bss: name.to_owned(),
                mcs,
                bps: vector.bit_rate().0 as f64,
                level_dbm: received_dbm(scenario, access_point, station, name),
            })
        })
        .collect()
}

fn mcs_vector(bss: &Bss, standard: Standard, mcs: u8, streams: u8) -> Option<TxVector> {
    let phy = standard.descriptor();
    let width = phy.width_within(Width::of_mhz(u32::from(bss.width_mhz))?);
    let guard = phy.guard_interval(GuardInterval::of_nanos(u32::from(bss.guard_interval_ns))?);
    TxVector::of_mcs(standard, mcs, streams, width, guard, band(bss))
        .and_then(|vector| vector.with_coding(bss.coding))
        .ok()
}

/// Links between stations and their access points that lose more than half of their frames of 1500
/// octets to noise, or, of the own cell alone, to noise and interference of so many dBm inside their channel.
/// Links whose rate the simulator chooses are left out.
#[must_use]
pub fn weak_links(scenario: &Scenario, interference_dbm: Option<f64>) -> Vec<WeakLink> {
    if !scenario.radio.frame_errors {
        return Vec::new();
    }
    let stations = scenario.nodes.iter().filter(|n| n.role == Role::Station);
    let judged = |n: &&Node| interference_dbm.is_none() || !scenario.is_neighbours(n);
    stations
        .filter(judged)
        .flat_map(|station| station.bsss().map(move |bss| (station, bss)))
        .filter_map(|(station, bss)| weak_link(scenario, (station, bss), interference_dbm))
        .collect()
}

fn weak_link(
    scenario: &Scenario,
    (station, bss): (&Node, &str),
    interference_dbm: Option<f64>,
) -> Option<WeakLink> {
    let ap = scenario.access_point_of(bss)?;
    let bss = scenario.bss.iter().find(|b| b.name == bss)?;
    let dsss_present = scenario
        .nodes
        .iter()
        .any(|n| n.role == Role::Station && n.standard.unwrap_or(bss.standard) == Standard::B);
    let link = Link::of(bss, [station, ap], dsss_present).ok()?;
    let width_hz = f64::from(link.data.width().mhz()) * 1e6;
    let floor = milliwatts(noise_floor(width_hz, Db(scenario.radio.noise_figure_db)));
    let noise = from_milliwatts(floor + interference_dbm.map_or(0.0, |dbm| milliwatts(Dbm(dbm))));
    let octets = PACKET_OCTETS + link.around_packet_octets;
    let success = |dbm: f64| frame_success(&link.data, ratio(Db(dbm - noise.0)), octets);
    let level_dbm = received_dbm(scenario, ap, station, &bss.name);
    if success(level_dbm) >= WEAK_SUCCESS {
        return None;
    }
    // Success grows with the level; a hundredth of a decibel is near enough.
    let (mut low, mut high) = (noise.0 - 20.0, noise.0 + 80.0);
    while high - low > 0.01 {
        let middle = f64::midpoint(low, high);
        if success(middle) < NEEDED_SUCCESS {
            low = middle;
        } else {
            high = middle;
        }
    }
    Some(WeakLink {
        station: station.name.clone(),
        level_dbm,
        needed_dbm: high,
    })
}

/// Level of the weaker direction between a station and its access point in a BSS, dBm.
pub(super) fn received_dbm(scenario: &Scenario, ap: &Node, station: &Node, bss: &str) -> f64 {
    let radio = &scenario.radio;
    let budget = radio
        .budgets
        .iter()
        .filter(|b| b.bss.as_deref().is_none_or(|own| own == bss))
        .find(|b| b.nodes.contains(&ap.name) && b.nodes.contains(&station.name));
    let loss = loss_db(
        &radio.path_loss,
        &radio.walls,
        ap.position_m,
        station.position_m,
    );
    let power = ap.tx_power_dbm.min(station.tx_power_dbm);
    match budget {
        Some(b) => b
            .rssi_dbm
            .unwrap_or_else(|| power - b.loss_db.unwrap_or(loss)),
        None => power - loss,
    }
}
