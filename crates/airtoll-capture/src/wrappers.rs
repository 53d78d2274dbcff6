//! Frames inside packets of a wire: takes a packet, gives the frame that a remote sniffer or an access
//! point put into it, with its radio fields.
//!
//! TZSP, the data channel of CAPWAP, and GRE of Aruba. A packet that the wire fragmented is left as it
//! is. Never reads the frame.

use airtoll_wire::capwap::{self, CapwapView};
use airtoll_wire::gre::GreView;
use airtoll_wire::ipv4::{Ipv4Repr, protocol};
use airtoll_wire::ipv6::Ipv6Repr;
use airtoll_wire::llc::ethertype;
use airtoll_wire::radiotap::Modulation;
use airtoll_wire::tzsp::{self, TzspRepr, encapsulation};
use airtoll_wire::udp::UdpRepr;

use crate::dissect::{self, Wire};
use crate::file::link_type;
use crate::radio::{Radio, channel_frequency};

/// The format around a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wrapper {
    /// Per-packet information around another link type than 802.11.
    Ppi,
    /// Apple's packet tap.
    Pktap,
    /// TaZmen Sniffer Protocol.
    Tzsp,
    /// Data channel between access points and their controller.
    Capwap,
    /// The same of Aruba.
    Gre,
}

impl Wrapper {
    /// Every one, in the order in which reports list them.
    pub const ALL: [Self; 5] = [Self::Ppi, Self::Pktap, Self::Tzsp, Self::Capwap, Self::Gre];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ppi => "PPI",
            Self::Pktap => "PKTAP",
            Self::Tzsp => "TZSP",
            Self::Capwap => "CAPWAP",
            Self::Gre => "GRE of Aruba",
        }
    }
}

/// A frame that was inside a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Inside<'a> {
    pub(crate) wrapper: Wrapper,
    /// Link type of the frame.
    pub(crate) link_type: u32,
    pub(crate) frame: &'a [u8],
    /// Octets that the frame had, where the wrapper says so.
    pub(crate) original: Option<usize>,
    /// Whether the frame ends in an FCS, where it is known.
    pub(crate) fcs: Option<bool>,
    pub(crate) radio: Radio,
}

/// The frame inside a packet of a wire, if the packet is one of a wrapper.
pub(crate) fn inside(wire: Wire, octets: &[u8]) -> Option<Inside<'_>> {
    if !may_wrap(wire, octets) {
        return None;
    }
    let (kind, octets) = dissect::network(wire, octets)?;
    let (protocol, payload) = match kind {
        ethertype::IPV4 => {
            let ip = Ipv4Repr::parse(octets)
                .ok()
                .filter(|ip| !ip.is_fragment())?;
            (ip.protocol, ip.payload)
        }
        ethertype::IPV6 => {
            let ip = Ipv6Repr::parse(octets)
                .ok()
                .filter(|ip| !ip.later_fragment)?;
            (ip.protocol, ip.payload)
        }
        _ => return None,
    };
    match protocol {
        protocol::GRE => {
            let gre = GreView::new(payload).ok().filter(GreView::is_aruba)?;
            Some(Inside {
                wrapper: Wrapper::Gre,
                link_type: link_type::IEEE802_11,
                frame: gre.payload,
                original: None,
                fcs: Some(false),
                radio: Radio::default(),
            })
        }
        protocol::UDP => {
            let udp = UdpRepr::parse(payload).ok()?;
            if udp.destination == tzsp::PORT {
                sniffed(udp.payload)
            } else {
                tunnelled(udp.payload)
            }
        }
        _ => None,
    }
}

/// Whether protocol and port are those of a wrapper, as far as a packet without options shows: most
/// packets are not, and are told apart by few octets.
fn may_wrap(wire: Wire, octets: &[u8]) -> bool {
    let at = match wire {
        Wire::Ethernet => match octets.get(12..14) {
            Some([0x81 | 0x88, 0 | 0xa8]) => 18,
            _ => 14,
        },
        Wire::Cooked { .. } | Wire::Ip => 0,
    };
    let Some(ip) = octets.get(at..) else {
        return false;
    };
    let (protocol, transport) = match ip.first().map(|first| (first >> 4, first & 15)) {
        Some((4, words)) => (ip.get(9), usize::from(words) * 4),
        Some((6, _)) => (ip.get(6), airtoll_wire::ipv6::LEN),
        _ => return false,
    };
    match protocol {
        Some(&protocol::GRE) => true,
        Some(&protocol::UDP) => {
            let port = |at: usize| {
                ip.get(transport + at..transport + at + 2)
                    .map(|two| u16::from_be_bytes([two[0], two[1]]))
            };
            port(2) == Some(tzsp::PORT) || [port(0), port(2)].contains(&Some(capwap::PORT))
        }
        _ => false,
    }
}

fn sniffed(datagram: &[u8]) -> Option<Inside<'_>> {
    let tzsp = TzspRepr::parse(datagram).ok()?;
    let link_type = match tzsp.encapsulation {
        encapsulation::ETHERNET => link_type::ETHERNET,
        encapsulation::IEEE802_11 => link_type::IEEE802_11,
        encapsulation::PRISM => link_type::PRISM,
        encapsulation::AVS => link_type::AVS,
        _ => return None,
    };
    Some(Inside {
        wrapper: Wrapper::Tzsp,
        link_type,
        frame: tzsp.frame,
        original: tzsp.original.map(usize::from),
        fcs: None,
        radio: Radio {
            modulation: rate(tzsp.rate_500kbps),
            frequency_mhz: tzsp
                .channel
                .and_then(|channel| channel_frequency(channel.into())),
            signal_dbm: tzsp.signal_dbm,
            bad_fcs: tzsp.bad_fcs,
            ..Radio::default()
        },
    })
}

fn tunnelled(datagram: &[u8]) -> Option<Inside<'_>> {
    let capwap = CapwapView::new(datagram).ok()?;
    let rate_500kbps = capwap
        .rate_100kbps
        .and_then(|rate| u8::try_from(rate / 5).ok());
    Some(Inside {
        wrapper: Wrapper::Capwap,
        link_type: if capwap.native {
            link_type::IEEE802_11
        } else {
            link_type::ETHERNET
        },
        frame: capwap.frame,
        original: None,
        fcs: Some(false),
        radio: Radio {
            modulation: rate(rate_500kbps),
            signal_dbm: capwap.signal_dbm,
            ..Radio::default()
        },
    })
}

fn rate(rate_500kbps: Option<u8>) -> Modulation {
    match rate_500kbps {
        Some(rate_500kbps) if rate_500kbps != 0 => Modulation::Legacy { rate_500kbps },
        _ => Modulation::Unknown,
    }
}

/// Whether the octets of Frame Control are exchanged, as some access points tunnel frames: the second
/// octet is one of a version and a type, and the first one is not, or holds no flag.
pub(crate) fn is_swapped(frame: &[u8]) -> bool {
    let Some([first, second]) = frame.first_chunk::<2>() else {
        return false;
    };
    let of_version_0 = |octet: u8| octet & 3 == 0;
    !of_version_0(*first) && of_version_0(*second)
        || *first == 0 && of_version_0(*second) && *second != 0
}
