//! Nodes: stations, access points and wired hosts, with their hosts, queues and security.

use std::collections::BTreeMap;

use airtoll_security::CipherSuite;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::bss::{Bss, EdcaParameters, Rate, Standard};
use super::cost::Cost;
use super::nic::Nic;
use super::single_radio::{CategoryLinks, SingleRadio};
use crate::transport::TcpSystem;

/// A station, an access point or a wired host.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Node {
    /// Name in flows, links and results.
    pub name: String,
    /// Its role.
    pub role: Role,
    /// BSS of a station or an access point; absent for a wired host.
    #[serde(default)]
    pub bss: Option<String>,
    /// Further BSSs of a multi-link device, each on a channel of its own: it has one radio in each, and
    /// all transmit and receive independently (IEEE 802.11be, 35.3, STR) unless `single_radio` is set. A station's are BSSs of its
    /// access point. Traffic of two such devices takes all links that both have.
    #[serde(default)]
    pub multi_link: Vec<String>,
    /// A station that has one radio for all of its links (EMLSR); null: one for each (STR).
    #[serde(default)]
    pub single_radio: Option<SingleRadio>,
    /// Links of access categories between a station and its access point; a category without an entry
    /// takes all.
    #[serde(default)]
    pub category_links: Vec<CategoryLinks>,
    /// Place, metres.
    #[serde(default)]
    pub position_m: [f64; 3],
    /// Transmit power, dBm.
    #[serde(default = "tx_power")]
    pub tx_power_dbm: f64,
    /// PHY of this station where it is older than its BSS (an 802.11b station in a g cell).
    #[serde(default)]
    pub standard: Option<Standard>,
    /// Rate of data frames between this station and its AP, both ways; null: the BSS's.
    #[serde(default)]
    pub rate: Option<Rate>,
    /// The same for each link of a station that is a multi-link device, the first one's before those of
    /// `multi_link`; empty: those of the BSSs.
    #[serde(default)]
    pub link_rates: Vec<Rate>,
    /// Frame burst of this node's own frames without EDCA, us; null: the BSS's.
    #[serde(default)]
    pub frame_burst_us: Option<f64>,
    /// EDCA parameters of this node alone, TXOP limits among them, in the BSS's order; null: the BSS's.
    #[serde(default)]
    pub edca_parameters: Option<[EdcaParameters; 4]>,
    /// Minimum MPDU Start Spacing that this node announces: in an A-MPDU for it an MPDU starts at least so
    /// long after the one before it, us: 0 (no restriction), 0.25, 0.5, 1, 2, 4, 8 or 16 (IEEE 802.11-2020,
    /// table 9-184). Its PHY aggregates (802.11n and later).
    #[serde(default)]
    pub mpdu_start_spacing_us: f64,
    /// Delimiters without content that this node puts between the MPDUs of its A-MPDUs where they have a
    /// cipher. Its PHY aggregates.
    #[serde(default)]
    pub cipher_delimiters: Vec<CipherDelimiters>,
    /// A station that bridges: data frames between it and its AP have four addresses (IEEE
    /// 802.11-2020, table 9-30), and it passes on what is for or from hosts on its wired links.
    /// EAPOL and management frames keep three, as Linux's do.
    #[serde(default)]
    pub four_address: bool,
    /// Link cipher between this station and its AP: `open`, `wep-40`, `wep-104`, `tkip`,
    /// `ccmp-128`, `ccmp-256`, `gcmp-128` or `gcmp-256`. WEP and TKIP forbid HT, VHT, HE and EHT
    /// (IEEE 802.11-2020 clause 12.3.1 and 12.5.2): such a station falls back to 802.11a or g.
    #[serde(default = "open")]
    pub cipher: CipherSuite,
    /// Network-layer tunnels of this node, the innermost first.
    #[serde(default)]
    pub tunnels: Vec<Tunnel>,
    /// Unfinished WireGuard handshakes from which this gateway asks for cookies; null: never.
    #[serde(default)]
    pub cookie_threshold: Option<u32>,
    /// Costs of the host.
    #[serde(default)]
    pub host: Host,
    /// Transmit queue of the wireless interface, per access category.
    #[serde(default)]
    pub queue: Queue,
    /// IP MTU of its interfaces, octets.
    #[serde(default = "mtu")]
    pub mtu_octets: u32,
    /// When a station dozes; null: never.
    #[serde(default)]
    pub power_save: Option<PowerSave>,
    /// It drops what it passes on, exceeds its MTU and must not be fragmented (DF of IPv4, IPv6), and no
    /// sender hears of it: path MTU discovery meets a black hole (RFC 2923, 2.1).
    #[serde(default)]
    pub black_hole: bool,
    /// It drops IP fragments that it would pass on, and packets that it would have to fragment, as a
    /// firewall does that inspects no fragments; no sender hears of it.
    #[serde(default)]
    pub drops_fragments: bool,
    /// Energy of its battery, Wh; null: none.
    #[serde(default)]
    pub battery_wh: Option<f64>,
    /// Its day; null: all day it does the same as in the trial.
    #[serde(default)]
    pub duty: Option<Duty>,
}

impl Node {
    /// The rate of its data frames, and of those for it, in a BSS.
    pub(crate) fn rate_in(&self, bss: &Bss) -> Rate {
        let link = self.bsss().position(|own| own == bss.name);
        let own = link.and_then(|at| self.link_rates.get(at).copied());
        own.or(self.rate).unwrap_or(bss.rate)
    }

    /// Whether it has a radio in a BSS.
    pub(crate) fn is_in(&self, bss: &str) -> bool {
        self.bsss().any(|own| own == bss)
    }

    /// The BSSs that it has a radio in, without those that it moves to.
    pub(crate) fn bsss(&self) -> impl Iterator<Item = &str> {
        self.bss.iter().chain(&self.multi_link).map(String::as_str)
    }
}

/// Dozing of a station (IEEE 802.11-2020, 11.2.3). Its own frames wake it. Its access point keeps data for
/// it until a beacon that it wakes for, a service period of target wake time, or its next data frame.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PowerSave {
    /// It wakes for each n-th beacon, which needs beacons; null: for none. With `twt` data do not wait for
    /// these beacons: they keep its clock.
    #[serde(default)]
    #[schemars(range(min = 1))]
    pub listen_interval: Option<u32>,
    /// It wakes for every DTIM, too, where nothing is sent to groups: it cannot know. Where something is, it
    /// always does.
    #[serde(default)]
    pub dtim: bool,
    /// Its agreement of target wake time; null: none.
    #[serde(default)]
    pub twt: Option<TargetWakeTime>,
    /// By which frames it gets the data that wait for it; null: its access point knows without a frame
    /// when it dozes and when it is awake.
    #[serde(default)]
    pub retrieval: Option<Retrieval>,
    /// It dozes this long after its last frame, us; with PS-Poll and U-APSD as soon as nothing waits for it.
    pub after_us: f64,
    /// It is awake this long for a beacon, us.
    pub beacon_awake_us: f64,
}

/// Frames by which a station that dozes gets the data that wait for it (IEEE 802.11-2020, 11.2.3). All of
/// them go to its access point at the lowest basic rate and are acknowledged; none is encrypted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Retrieval {
    /// A null frame says that it is in active mode, and all of the data follow. Another one says that it
    /// dozes again. Its own data frames wake it, too.
    Active,
    /// A PS-Poll asks for each frame. Its own data frames say that it stays in power save mode.
    PsPoll,
    /// A QoS null frame or a QoS data frame of its own begins an unscheduled service period (U-APSD),
    /// in which all that waits is sent.
    UApsd,
}

/// A day of a station that joins and sends messages now and then, of which the life of its battery follows.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Duty {
    /// Joins in a day, each after a wake-up.
    pub joins_per_day: f64,
    /// Messages in a day: datagrams of its flows.
    pub messages_per_day: f64,
    /// From a wake-up to the first frame of the join, us.
    pub wake_us: f64,
    /// Power in that time, W.
    pub wake_w: f64,
    /// It stays awake for each message so long, on top of what it does in the trial, us.
    pub message_awake_us: f64,
    /// Power while it sleeps, W; null: it stays associated and dozes, with the beacons that it wakes for.
    #[serde(default)]
    pub sleep_w: Option<f64>,
}

/// An individual, implicit, unannounced agreement of target wake time (IEEE 802.11ax-2021, 26.8.2): the
/// station is awake in each service period, and its access point sends without being asked.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TargetWakeTime {
    /// From the start of one service period to the next (TWT Wake Interval), us.
    pub interval_us: f64,
    /// Nominal minimum TWT wake duration, us; shorter than the interval.
    pub duration_us: f64,
}

/// Role of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Wireless station, associated with the access point of its BSS.
    Station,
    /// Access point of its BSS; bridges between stations and to the wire.
    AccessPoint,
    /// Host or switch on the wire; forwards between its links.
    Wired,
}

/// A tunnel from this node to another, which both en- and decapsulate on their host CPU.
///
/// A host's tunnel takes all that the host sends, and its peer puts into it whatever it sends or
/// passes on to the host. A gateway's tunnel takes what the gateway sends or passes on to
/// `destinations`, in one direction; for the other one the peer has a tunnel of its own. Tunnels
/// of one node are looked at in order and may nest.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Tunnel {
    /// Node at the other end.
    pub peer: String,
    /// Encapsulation: `suite` (`esp-3des-sha1`, `esp-aes-gcm`, `wireguard`, ...), `outer` (`ipv4`
    /// or `ipv6`), `udp_encapsulation`. Null: IP in IP without protection (RFC 2003), 20 octets.
    #[serde(default)]
    pub encapsulation: Option<airtoll_security::Tunnel>,
    /// MTU of its interface at both ends, octets: longer packets are fragmented before they enter, and
    /// TCP's segments follow it. Null: that of Linux, 80 octets below the node's MTU with WireGuard, 1500 with
    /// OpenVPN (whose outer packets are then fragmented), else what the MTU of the node leaves.
    #[serde(default)]
    pub mtu_octets: Option<u32>,
    /// Nodes whose packets a gateway puts into it, by the address on the outside of the packet;
    /// null: a host's tunnel.
    #[serde(default)]
    pub destinations: Option<Vec<String>>,
    /// CPU time to encapsulate a packet.
    #[serde(default)]
    pub encrypt: Cost,
    /// CPU time to decapsulate a packet.
    #[serde(default)]
    pub decrypt: Cost,
    /// The same at the peer; null: as here.
    #[serde(default)]
    pub peer_encrypt: Option<Cost>,
    /// The same at the peer; null: as here.
    #[serde(default)]
    pub peer_decrypt: Option<Cost>,
}

/// Costs of a node's host: one CPU that processes packets one after the other, and a cipher engine.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Host {
    /// Operating system, by its TCP.
    pub tcp: TcpSystem,
    /// Stack cost of a packet that the host sends (application to driver).
    pub transmit: Cost,
    /// Stack cost of a packet that the host receives (driver to application).
    pub receive: Cost,
    /// Cost of a packet that the node forwards.
    pub forward: Cost,
    /// Packets that may wait for the CPU; more are dropped (a sending application of a saturated
    /// flow waits instead). Null: no limit.
    pub cpu_queue_packets: Option<u32>,
    /// Where the link cipher is worked out.
    pub engine: CryptoEngine,
    /// Frames that may wait for a coprocessor; null: no limit.
    pub engine_queue_frames: Option<u32>,
    /// Costs of link ciphers on that engine; a cipher not listed costs no time.
    pub ciphers: Vec<CipherCost>,
    /// CPU time of one unit of each handshake operation, ns, by the name that
    /// `airtoll_handshakes::Operation::priced` gives; one not listed takes no time.
    pub operations_ns: BTreeMap<String, f64>,
    /// Time of a RADIUS server for a request that it has not seen, before its handshake operations
    /// on the CPU, ns; one request after the other. It recognises a repeated one when it comes (RFC
    /// 5080 section 2.2.2).
    pub request_ns: f64,
    /// Network card that prepares frames before its radio contends; null: frames are ready when
    /// they come into the transmit queue.
    pub nic: Option<Nic>,
    /// Power figures; null: energy is not reported for this node.
    pub energy: Option<Energy>,
}

/// Where the link cipher is worked out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CryptoEngine {
    /// In the data path of the radio, one engine per direction.
    #[default]
    Inline,
    /// One engine beside the CPU for both directions, with a queue.
    Coprocessor,
    /// The host CPU, which the network stack needs too.
    Cpu,
}

/// Cost of one link cipher on a node's engine.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CipherCost {
    /// Which cipher.
    pub cipher: CipherSuite,
    /// Encryption, per MPDU and per octet of MSDU in it.
    #[serde(default)]
    pub encrypt: Cost,
    /// Decryption, per MPDU and per octet of MSDU in it.
    #[serde(default)]
    pub decrypt: Cost,
}

/// Delimiters of four octets after every MPDU of an A-MPDU but the last, where the MPDUs have a cipher: time
/// that the cipher of a sender needs between two MPDUs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CipherDelimiters {
    /// Which cipher.
    pub cipher: CipherSuite,
    /// Delimiters after each MPDU.
    pub count: u16,
}

impl CipherDelimiters {
    /// Those of a cipher.
    pub(crate) fn of(all: &[Self], cipher: CipherSuite) -> u32 {
        let own = all.iter().find(|one| one.cipher == cipher);
        own.map_or(0, |one| u32::from(one.count))
    }
}

/// Power that a node draws. The model and the energy of a packet are those of Serrano,
/// Garcia-Saavedra, Bianchi, Banchs and Azcorra, IEEE/ACM Transactions on Networking, 2015.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Energy {
    /// While it is awake, W; the next three come on top.
    #[serde(default)]
    pub idle_w: f64,
    /// While its radio transmits, W.
    pub transmit_w: f64,
    /// While its radio receives a frame addressed to it, W.
    pub receive_w: f64,
    /// While its CPU works, W.
    pub cpu_w: f64,
    /// While it dozes, W, in place of `idle_w`.
    #[serde(default)]
    pub doze_w: f64,
    /// Energy of a packet that crosses its host in either direction, J (cross-factor).
    #[serde(default)]
    pub packet_j: f64,
    /// While its cipher engine works (not for `cpu`), W.
    #[serde(default)]
    pub engine_w: f64,
}

/// A transmit queue.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Queue {
    /// Packets that fit.
    pub packets: u32,
    /// MSDU lifetime (dot11MaxTransmitMSDULifetime): a packet that was not sent successfully this
    /// long after it came into the queue is dropped before the next attempt, ms; null: never.
    #[serde(default = "max_delay")]
    pub max_delay_ms: Option<f64>,
    /// Which packet leaves first, and which is dropped.
    #[serde(default)]
    pub discipline: Discipline,
    /// Frames get their packet numbers when they come into the queue, in whose order they do not leave
    /// it: a fault of drivers. Receivers with a replay counter drop those that come late. Needs `fq_codel`.
    #[serde(default)]
    pub packet_numbers_first: bool,
    /// An access point gives its stations equal airtime in both directions together, by a deficit of
    /// 256 us, as Linux's mac80211; needs `fq_codel`.
    #[serde(default)]
    pub airtime_fairness: bool,
}

/// Queue discipline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Discipline {
    /// First in, first out; what does not fit is dropped.
    #[default]
    Fifo,
    /// First in, first out with CoDel (RFC 8289): target 5 ms, interval 100 ms.
    Codel,
    /// One queue per receiver served in turn, and the longest is cut when the limit is reached.
    RoundRobin,
    /// One queue per flow of each receiver with CoDel (RFC 8290), as Linux's mac80211: quantum 300
    /// octets, target 20 ms, interval 100 ms. Receivers are served in turn, and half of the longest
    /// queue is dropped when the limit is reached.
    FqCodel,
}

impl Discipline {
    /// Whether the receivers of a node are served in turn.
    pub(crate) fn serves_in_turn(self) -> bool {
        matches!(self, Self::RoundRobin | Self::FqCodel)
    }
}

/// A full-duplex wired link.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WiredLink {
    /// Its two ends: access points, wired hosts or stations with `four_address`.
    pub nodes: [String; 2],
    /// Rate, bit/s. Ethernet adds 38 octets to a packet (preamble, header, FCS, gap).
    pub rate_bps: f64,
    /// One-way delay, s.
    #[serde(default)]
    pub delay_s: f64,
    /// Share of the packets in each direction that are lost on it.
    #[serde(default)]
    pub loss_ratio: f64,
    /// Packets that may wait in each direction.
    #[serde(default = "link_queue")]
    pub queue_packets: u32,
    /// Queue discipline of both ends.
    #[serde(default)]
    pub discipline: WireDiscipline,
}

/// Queue discipline of a wired interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WireDiscipline {
    /// First in, first out, as Linux's `pfifo_fast` for packets of one priority; what does not fit is dropped.
    #[default]
    Fifo,
    /// Linux's `fq_codel`: one queue per flow with CoDel (RFC 8290), quantum 1514 octets, target 5 ms,
    /// interval 100 ms, 1024 queues. A TCP sender is held back by its own segments in it as by those in a radio's queue.
    FqCodel,
}

impl Default for Queue {
    fn default() -> Self {
        Self {
            packets: 500,
            max_delay_ms: max_delay(),
            discipline: Discipline::Fifo,
            packet_numbers_first: false,
            airtime_fairness: false,
        }
    }
}

fn open() -> CipherSuite {
    CipherSuite::Open
}

fn tx_power() -> f64 {
    16.0
}

fn mtu() -> u32 {
    1500
}

fn max_delay() -> Option<f64> {
    Some(500.0)
}

fn link_queue() -> u32 {
    1000
}
