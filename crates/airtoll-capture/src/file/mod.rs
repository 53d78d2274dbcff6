//! Capture files: takes paths (or standard input), gives packets one by one in constant memory.
//!
//! pcap and pcapng of either byte order, plain or packed with gzip or zstd. A damaged file gives
//! the packets before the damage, then a [`Damage`]. Own code where the `pcap-parser` crate
//! exists, because its streams neither tell the offset of damage nor read the Kuznetsov variant,
//! and hand out blocks that must be copied; it checks this code in the tests.

pub mod feed;
pub mod pcap;
pub mod pcapng;
pub mod reader;
pub mod writer;
mod zstd;

pub use reader::{Packet, Reader};
pub use writer::{PcapNgWriter, PcapWriter};

/// Largest packet that is believed; a longer one is damage. The same bound as other readers
/// keep, and above every 802.11 PSDU with its headers that a driver delivers.
pub const MAX_PACKET: usize = 262_144;

/// Link types (the `LINKTYPE_` numbers of the tcpdump group) that airtoll reads.
pub mod link_type {
    /// BSD loopback: four octets of address family, then IP.
    pub const NULL: u32 = 0;
    /// Ethernet.
    pub const ETHERNET: u32 = 1;
    /// Bare 802.11 frames.
    pub const IEEE802_11: u32 = 105;
    /// IP without a link layer, as BSD's number has it.
    pub const RAW_BSD: u32 = 12;
    /// IP without a link layer.
    pub const RAW: u32 = 101;
    /// OpenBSD loopback: as `NULL`, in network byte order.
    pub const LOOP: u32 = 108;
    /// Linux "cooked" capture (`-i any`).
    pub const LINUX_SLL: u32 = 113;
    /// Linux "cooked" capture, version 2.
    pub const LINUX_SLL2: u32 = 276;
    /// IPv4 without a link layer.
    pub const IPV4: u32 = 228;
    /// IPv6 without a link layer.
    pub const IPV6: u32 = 229;
    /// Prism header, then 802.11.
    pub const PRISM: u32 = 119;
    /// Radiotap header, then 802.11.
    pub const RADIOTAP: u32 = 127;
    /// AVS header, then 802.11.
    pub const AVS: u32 = 163;
    /// PPI header, then mostly 802.11.
    pub const PPI: u32 = 192;
    /// Apple's PKTAP header, then a packet of any link type.
    pub const PKTAP: u32 = 258;

    /// Name of a link type, for those that captures of networks and of other buses have most.
    pub const fn name(number: u32) -> Option<&'static str> {
        Some(match number {
            NULL => "BSD loopback",
            ETHERNET => "Ethernet",
            6 => "Token Ring",
            9 => "PPP",
            10 => "FDDI",
            RAW_BSD | RAW => "IP",
            50 => "PPP in HDLC",
            51 => "PPPoE",
            104 => "Cisco HDLC",
            IEEE802_11 => "802.11",
            107 => "Frame Relay",
            LOOP => "OpenBSD loopback",
            LINUX_SLL => "Linux cooked",
            117 => "pflog",
            PRISM => "Prism",
            RADIOTAP => "radiotap",
            143 => "DOCSIS",
            144 => "IrDA",
            147..=162 => "user-defined",
            AVS => "AVS",
            165 => "BACnet MS/TP",
            187 | 201 => "Bluetooth HCI",
            189 | 220 => "USB of Linux",
            PPI => "PPI",
            195 | 230 | 283 => "802.15.4",
            227 => "CAN",
            IPV4 => "IPv4",
            IPV6 => "IPv6",
            239 => "NFLOG",
            242 => "IP over InfiniBand",
            249 => "USB of Windows",
            251 | 256 => "Bluetooth LE",
            252 => "Wireshark PDU",
            253 => "netlink",
            254 => "Bluetooth monitor",
            PKTAP => "PKTAP",
            266 => "USB of macOS",
            272 => "Bluetooth LE of Nordic",
            LINUX_SLL2 => "Linux cooked, version 2",
            _ => return None,
        })
    }
}

/// Where and how a file broke.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
pub struct Damage {
    /// The file; `-` for standard input.
    pub file: String,
    /// Octet of the (unpacked) file at which the broken record starts.
    pub offset: u64,
    /// Packets read before it.
    pub after_frames: u64,
    /// The damage, in words.
    pub what: String,
}
