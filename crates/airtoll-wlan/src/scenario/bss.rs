//! A basic service set: PHY, access rules, rates, aggregation, beacons.

use airtoll_handshakes::LinkSpec;
pub use airtoll_phy::{Band, Coding, Generation as Standard, Preamble as DsssPreamble};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::group::GroupDelivery;
use super::ofdma::Ofdma;
use super::passing::PassersBy;

/// One basic service set: an access point and its stations.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Bss {
    /// Name, referred to by `nodes[].bss`.
    pub name: String,
    /// Radio channel; BSSs with the same number share the air, others do not disturb.
    #[serde(default)]
    pub channel: u32,
    /// PHY of the BSS; a station may be older (`nodes[].standard`).
    pub standard: Standard,
    /// Frequency band; default 2.4 GHz for b and g, 6 GHz for 320 MHz, 5 GHz for the others.
    #[serde(default)]
    pub band: Option<Band>,
    /// Channel width: 20, 40 (n and later), 80, 160 (ac and later), 320 (be), MHz.
    #[serde(default = "width")]
    pub width_mhz: u16,
    /// Its primary 20 MHz channel, counted from the first one of the radio channel. Its channel is the block of
    /// `width_mhz` with it that begins at a multiple of its width. Counts where a neighbour's channel
    /// overlaps others in part.
    #[serde(default)]
    pub primary: u8,
    /// Guard interval: 800 or 400 (n, ac), 800, 1600 or 3200 (ax, be), ns.
    #[serde(default = "guard_interval")]
    pub guard_interval_ns: u16,
    /// Error-correcting code of frames with an MCS; others have the convolutional code.
    #[serde(default)]
    pub coding: Coding,
    /// DSSS/CCK preamble (b, and b rates in g); 1 Mb/s always uses the long one.
    #[serde(default)]
    pub preamble: DsssPreamble,
    /// 802.11g: 9 us slots instead of 20 us (which a b station in the BSS forces).
    #[serde(default = "yes")]
    pub short_slot: bool,
    /// 802.11g: protection of OFDM frames against b stations.
    #[serde(default)]
    pub protection: Protection,
    /// Basic rates, Mb/s; control responses use the highest not above the data rate. Default: the
    /// mandatory rates of the PHY (1, 2 for b; 6, 12, 24 for OFDM; also 1, 2, 5.5 and 11 where b stations may be).
    #[serde(default)]
    pub basic_rates_mbps: Option<Vec<f64>>,
    /// Rate of data frames; a station may have its own (`nodes[].rate`).
    pub rate: Rate,
    /// EDCA instead of DCF (QoS data frames, four access categories). Default: on from 802.11n.
    #[serde(default)]
    pub edca: Option<bool>,
    /// EDCA parameters in the order background, best effort, video, voice; default: the standard's
    /// (IEEE 802.11-2020 Table 9-155). A node may have its own (`nodes[].edca_parameters`).
    #[serde(default)]
    pub edca_parameters: Option<[EdcaParameters; 4]>,
    /// End of the time that frames of a TXOP reserve (IEEE 802.11-2020, 9.2.5.2).
    #[serde(default)]
    pub txop_protection: TxopProtection,
    /// CWmin of DCF (and of best effort and background under EDCA), slots; default: the PHY's.
    #[serde(default)]
    pub cw_min: Option<u32>,
    /// CWmax, slots; default: the PHY's.
    #[serde(default)]
    pub cw_max: Option<u32>,
    /// Attempts per frame before it is dropped.
    #[serde(default = "attempts")]
    pub max_attempts: u8,
    /// RTS/CTS before MPDUs longer than this, octets; null: never.
    #[serde(default)]
    pub rts_threshold_octets: Option<u32>,
    /// MPDUs longer than this (header and FCS counted, the cipher's octets not) are sent in
    /// fragments where no block ack agreement holds, octets; at least 256; null: never.
    #[serde(default)]
    pub fragmentation_threshold_octets: Option<u32>,
    /// Without EDCA: frames of one queue follow one another SIFS apart for this long after one
    /// contention, us; 0: one frame per contention. A node may have its own
    /// (`nodes[].frame_burst_us`).
    #[serde(default)]
    pub frame_burst_us: f64,
    /// Time that a station needs to notice that another one has begun to transmit
    /// (aCCATime), us: stations that begin within it collide. 0: only those that begin at the same
    /// instant do, which is exact where all back-offs keep the slot boundaries.
    #[serde(default)]
    pub cca_time_us: f64,
    /// A-MPDU and A-MSDU (n and later).
    #[serde(default)]
    pub aggregation: Aggregation,
    /// Security that the AP announces; null: that of the first station that joins in this BSS,
    /// else none but the privacy of its cipher.
    #[serde(default)]
    pub security: Option<Announced>,
    /// Beacons of the AP; null: none.
    #[serde(default)]
    pub beacons: Option<Beacons>,
    /// SAE: from this many sessions on that wait for a station's confirm, the access point asks a new
    /// station for an anti-clogging token (dot11RSNASAEAntiCloggingThreshold); null: as each
    /// association's options say.
    #[serde(default)]
    pub sae_anti_clogging_threshold: Option<u32>,
    /// Forged SAE commits, from the start of the trial on; null: none. Needs
    /// `sae_anti_clogging_threshold`.
    #[serde(default)]
    pub sae_flood: Option<SaeFlood>,
    /// The access point renews its group keys this often, the first time so long after the traffic
    /// began, s; null: never. Every station that joins needs an AKM.
    #[serde(default)]
    pub group_rekey_s: Option<f64>,
    /// It renews them, too, when a station has left for another access point.
    #[serde(default)]
    pub group_rekey_on_leave: bool,
    /// The access point puts all of its stations off the network so long after the traffic began, by
    /// one Deauthentication frame to every station, s; null: never. The stations have to join first.
    #[serde(default)]
    pub deauthenticate_at_s: Option<f64>,
    /// The access point restarts so long after the traffic began, s, at once and without a frame: its
    /// associations and PMKSAs are lost; null: never. The stations have to join first.
    #[serde(default)]
    pub restart_at_s: Option<f64>,
    /// How the access point passes group-addressed frames on, and what it forwards between stations.
    #[serde(default)]
    pub group: GroupDelivery,
    /// Set for a neighbour's BSS: it takes its part of the channel, and its traffic is in no result. Null:
    /// results are those of this BSS.
    #[serde(default)]
    pub neighbour: Option<Neighbour>,
    /// Set where it is no BSS: its stations pass by, probe, and have no access point. Needs `neighbour`, whose
    /// level then holds between them and all nodes of BSSs. Null: a BSS.
    #[serde(default)]
    pub passers_by: Option<PassersBy>,
    /// BSS color (IEEE 802.11ax-2021, 26.11.4), 1 to 63; 0: none.
    #[serde(default)]
    pub color: u8,
    /// Its nodes sense frames of BSSs with another color below this level until they have read the color
    /// (OBSS PD level of spatial reuse, IEEE 802.11ax-2021, 26.10.2.2), -82 to -62 dBm, and send their next
    /// frames with 21 dBm less its excess over -82 dBm at most; null: they sense all to the end.
    #[serde(default)]
    pub obss_pd_dbm: Option<f64>,
    /// OFDMA (802.11ax and later); null: each PPDU has one sender and one receiver.
    #[serde(default)]
    pub ofdma: Option<Ofdma>,
}

/// A neighbour's BSS on the channel. Its traffic begins with the trial, before stations join.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Neighbour {
    /// Level at which its nodes and those of any other BSS hear one another, dBm; between two BSSs that
    /// have one, the lower. Null: that of places and budgets.
    pub level_dbm: Option<f64>,
}

/// Forged SAE commits, each from another address, at the times of a Poisson process. The access point
/// takes one frame after the other, and loses those that find the socket of hostapd full.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SaeFlood {
    /// The node whose radio sends them: a station of the BSS that joins nowhere.
    pub station: String,
    /// Commits per second in the mean.
    pub commits_per_s: f64,
    /// The attacker hears the access point's requests for tokens, and answers them.
    #[serde(default)]
    pub with_tokens: bool,
}

/// Security that an access point announces in beacons, probe and association responses.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Announced {
    /// Links that one RSN element offers together, the preferred one first; in transition modes two.
    /// Those of WPA version 1 are in its own element.
    pub links: Vec<LinkSpec>,
    /// Links in RSN elements that override the first one for stations that know of them, at most
    /// two (Wi-Fi Alliance, WPA3 Specification, RSN overriding).
    #[serde(default)]
    pub overriding: Vec<LinkSpec>,
    /// Beacons carry a MIC (BIGTK), where management frames are protected.
    #[serde(default)]
    pub beacon_protection: bool,
    /// Both ends prove the channel that they are on (OCV), where management frames are protected.
    #[serde(default)]
    pub operating_channel_validation: bool,
    /// OWE transition mode: the links are those of a hidden BSS, and an open BSS has beacons of its
    /// own. The beacons of each name the other one.
    #[serde(default)]
    pub owe_transition: bool,
}

/// Protection of OFDM frames against stations that hear only DSSS.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Protection {
    /// None.
    #[default]
    None,
    /// CTS-to-self.
    CtsToSelf,
    /// RTS/CTS.
    RtsCts,
}

/// End of the time that frames of a TXOP reserve (IEEE 802.11-2020, 9.2.5.2, which leaves it to the
/// sender). Acts where the TXOP limit is above 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TxopProtection {
    /// The response to the frame.
    #[default]
    Single,
    /// The TXOP limit. Behind its last response the holder sends a CF-End where one fits.
    Multiple,
}

/// How the rate of data frames is chosen.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "control", rename_all = "snake_case", deny_unknown_fields)]
pub enum Rate {
    /// One rate of 802.11b/a/g.
    Fixed {
        /// Mb/s: 1, 2, 5.5, 11 or 6, 9, 12, 18, 24, 36, 48, 54.
        mbps: f64,
    },
    /// One MCS of 802.11n/ac/ax/be.
    FixedMcs {
        /// MCS index within `streams` (0-7 n, 0-9 ac, 0-11 ax, 0-13 be); for n also 8-31, which
        /// then says the streams itself.
        mcs: u8,
        /// Spatial streams, 1 to 8.
        #[serde(default = "one")]
        streams: u8,
    },
    /// AARF: up after successes, down after two failures, longer waits after a failed try
    /// (Lacage, Manshaei, Turletti 2004).
    Aarf {
        /// Highest number of spatial streams to use.
        #[serde(default = "one")]
        streams: u8,
    },
    /// Sampling of rates and choice by expected throughput, as the Minstrel of Linux does.
    Minstrel {
        /// Highest number of spatial streams to use.
        #[serde(default = "one")]
        streams: u8,
    },
}

/// EDCA parameters of one access category; null: those of the BSS for a node, the standard's for a BSS.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct EdcaParameters {
    /// AIFSN, slots after SIFS, 1 to 15.
    pub aifsn: Option<u8>,
    /// CWmin, slots.
    pub cw_min: Option<u32>,
    /// CWmax, slots; at least CWmin.
    pub cw_max: Option<u32>,
    /// TXOP limit, us; 0: one frame exchange.
    pub txop_us: Option<f64>,
}

/// Aggregation limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Aggregation {
    /// Longest A-MPDU, octets; 0: no A-MPDU; null: the standard's limit (65,535 n, 1,048,575 ac,
    /// 6,500,631 ax and be).
    #[serde(default)]
    pub ampdu_max_octets: Option<u32>,
    /// Longest A-MSDU without its MAC header, octets; 0: none. MPDUs have their own limits.
    #[serde(default)]
    pub amsdu_max_octets: u32,
    /// Block-ack window, MPDUs; null: 64 (n, ac), 256 (ax), 1024 (be).
    #[serde(default)]
    pub window: Option<u16>,
}

/// Beacons of an access point.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Beacons {
    /// Interval, us (100 time units are 102,400 us).
    #[serde(default = "beacon_interval")]
    pub interval_us: f64,
    /// Length of the beacon MPDU with FCS, octets; null: that of its elements.
    #[serde(default)]
    pub octets: Option<u32>,
    /// The SSIDs after the first are profiles in the beacon of the first (Multiple BSSID elements)
    /// and have no beacons of their own.
    #[serde(default)]
    pub multiple_bssid: bool,
    /// BSSs of the same device in other bands that the beacon reports (Reduced Neighbor Report).
    #[serde(default)]
    pub reported: u8,
    /// Rate of the beacon, Mb/s; null: the lowest basic rate.
    #[serde(default)]
    pub rate_mbps: Option<f64>,
    /// How many SSIDs, each with a beacon of its own.
    #[serde(default = "one")]
    pub ssids: u8,
    /// Instant of the first beacon, us.
    #[serde(default)]
    pub offset_us: f64,
}

impl Default for Beacons {
    fn default() -> Self {
        Self {
            interval_us: beacon_interval(),
            octets: None,
            multiple_bssid: false,
            reported: 0,
            rate_mbps: None,
            ssids: 1,
            offset_us: 0.0,
        }
    }
}

fn width() -> u16 {
    20
}

fn guard_interval() -> u16 {
    800
}

fn yes() -> bool {
    true
}

fn attempts() -> u8 {
    7
}

fn one() -> u8 {
    1
}

fn beacon_interval() -> f64 {
    102_400.0
}
