//! Nodes: stations, access points and wired hosts, with their hosts, queues and security.

use serde::{Deserialize, Serialize};

use super::bss::{Rate, Standard};

/// A station, an access point or a wired host.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Node {
    /// Name in flows, links and results.
    pub name: String,
    /// What it is.
    pub role: Role,
    /// BSS of a station or an access point; absent for a wired host.
    #[serde(default)]
    pub bss: Option<String>,
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
    /// Link cipher between this station and its AP. WEP and TKIP forbid HT, VHT, HE and EHT
    /// (IEEE 802.11-2020 clause 12.3.1 and 12.5.2): such a station falls back to 802.11a or g.
    #[serde(default)]
    pub cipher: Cipher,
    /// Network-layer tunnels of this node, the innermost first.
    #[serde(default)]
    pub tunnels: Vec<Tunnel>,
    /// Costs of the host.
    #[serde(default)]
    pub host: Host,
    /// Transmit queue of the wireless interface, per access category.
    #[serde(default)]
    pub queue: Queue,
    /// IP MTU of its interfaces, octets.
    #[serde(default = "mtu")]
    pub mtu_octets: u32,
}

/// What a node is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Wireless station, associated with the access point of its BSS.
    Station,
    /// Access point of its BSS; bridges between stations and to the wire.
    AccessPoint,
    /// Host or switch on the wire; forwards between its links.
    Wired,
}

/// Link cipher suite.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize, Deserialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum Cipher {
    /// No link cipher.
    #[default]
    None,
    /// WEP with a 40-bit key.
    #[serde(rename = "wep-40")]
    Wep40,
    /// WEP with a 104-bit key.
    #[serde(rename = "wep-104")]
    Wep104,
    /// TKIP.
    Tkip,
    /// CCMP-128.
    #[serde(rename = "ccmp-128")]
    Ccmp128,
    /// CCMP-256.
    #[serde(rename = "ccmp-256")]
    Ccmp256,
    /// GCMP-128.
    #[serde(rename = "gcmp-128")]
    Gcmp128,
    /// GCMP-256.
    #[serde(rename = "gcmp-256")]
    Gcmp256,
}

/// A tunnel from this node to another, which both en- and decapsulate on their host CPU.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tunnel {
    /// Node at the other end.
    pub peer: String,
    /// Whether the outer header is IPv6 (40 octets) instead of IPv4 (20).
    #[serde(default)]
    pub outer_ipv6: bool,
    /// Encapsulation.
    pub kind: TunnelKind,
    /// CPU time to encapsulate a packet.
    #[serde(default)]
    pub encrypt: Cost,
    /// CPU time to decapsulate a packet.
    #[serde(default)]
    pub decrypt: Cost,
}

/// Octets that a tunnel adds to a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum TunnelKind {
    /// ESP in tunnel mode (RFC 4303): 8 header octets, IV, padding of payload and 2 trailer octets
    /// to a multiple of `block_octets`, ICV.
    Esp {
        /// IV, octets.
        iv_octets: u8,
        /// Block to which the payload and trailer are padded, octets (at least 4).
        block_octets: u8,
        /// ICV, octets.
        icv_octets: u8,
        /// Whether ESP travels in UDP (RFC 3948, 8 octets more).
        #[serde(default)]
        udp_encapsulation: bool,
    },
    /// WireGuard: UDP 8, header 16, payload padded to 16, tag 16 octets.
    Wireguard,
}

/// A cost that grows with the length: `fixed_ns + octets * per_octet_ns`.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Cost {
    /// Per frame or packet, ns.
    pub fixed_ns: f64,
    /// Per octet, ns.
    pub per_octet_ns: f64,
}

/// Costs of a node's host: one CPU that works off packets one after the other, and a cipher engine.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Host {
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
    /// Power figures; null: energy is not reported for this node.
    pub energy: Option<Energy>,
}

/// Where the link cipher is worked out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
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
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CipherCost {
    /// Which cipher.
    pub cipher: Cipher,
    /// Encryption, per MPDU and per octet of MSDU in it.
    #[serde(default)]
    pub encrypt: Cost,
    /// Decryption, likewise.
    #[serde(default)]
    pub decrypt: Cost,
}

/// Power drawn by a node, beyond what it draws when switched on and idle.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Energy {
    /// While its radio transmits, W.
    pub transmit_w: f64,
    /// While its radio receives a frame addressed to it, W.
    pub receive_w: f64,
    /// While its CPU works, W.
    pub cpu_w: f64,
    /// While its cipher engine works (not for `cpu`), W.
    #[serde(default)]
    pub engine_w: f64,
}

/// A transmit queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Queue {
    /// Packets that fit.
    pub packets: u32,
    /// Which packet leaves first, and which is dropped.
    #[serde(default)]
    pub discipline: Discipline,
}

/// Queue discipline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Discipline {
    /// First in, first out; what does not fit is dropped.
    #[default]
    Fifo,
    /// First in, first out with CoDel (RFC 8289): target 5 ms, interval 100 ms.
    Codel,
    /// One queue per receiver served in turn, and the longest is cut when the limit is reached.
    RoundRobin,
}

/// A full-duplex wired link.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WiredLink {
    /// Its two ends: access points or wired hosts.
    pub nodes: [String; 2],
    /// Rate, bit/s. Ethernet adds 38 octets to a packet (preamble, header, FCS, gap).
    pub rate_bps: f64,
    /// One-way delay, s.
    #[serde(default)]
    pub delay_s: f64,
    /// Packets that may wait in each direction.
    #[serde(default = "link_queue")]
    pub queue_packets: u32,
}

impl Default for Queue {
    fn default() -> Self {
        Self {
            packets: 500,
            discipline: Discipline::Fifo,
        }
    }
}

fn tx_power() -> f64 {
    16.0
}

fn mtu() -> u32 {
    1500
}

fn link_queue() -> u32 {
    1000
}
