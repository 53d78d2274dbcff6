//! Link types: takes a packet, gives the 802.11 frame (FCS and radio header cut off) or the
//! Ethernet frame, and what the radio header said.
//!
//! Radiotap, Prism, AVS, PPI, PKTAP, bare 802.11; Ethernet, cooked Linux captures, bare IP, and the
//! frames that [`crate::wrappers`] finds in their packets. An FCS is cut where the headers say that
//! there is one; where nothing says, where the CRC fits. Never looks into the body.

use airtoll_wire::MacAddress;
use airtoll_wire::avs::AvsRepr;
use airtoll_wire::pktap::PktapRepr;
use airtoll_wire::ppi::PpiRepr;
use airtoll_wire::prism::PrismRepr;
use airtoll_wire::radiotap::{self, Modulation, Radiotap, RadiotapRepr};

pub use crate::dissect::Wire;
use crate::file::{Packet, link_type};
pub use crate::radio::Radio;
use crate::radio::channel_frequency;
use crate::wrappers::{self, Wrapper};

/// A packet without its radio header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Link<'a> {
    /// An 802.11 frame.
    Air {
        /// The MPDU as captured, without FCS.
        mpdu: &'a [u8],
        /// Octets of the MPDU on the air, without FCS; more than `mpdu` has if it was cut short.
        on_air: usize,
        /// Octets of padding after the MAC header bring the body to a multiple of four.
        data_pad: bool,
        /// The two octets of Frame Control are exchanged.
        swapped: bool,
        /// Fields of the radio header.
        radio: Radio,
    },
    /// A packet of a wire.
    Wire(Wire, &'a [u8]),
    /// The radio header cannot be read.
    Broken,
    /// A PSDU that was not there.
    Empty,
    /// Another link type.
    Unread,
}

/// Packets of a link type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LinkTypeCount {
    /// Number of the link type.
    pub number: u32,
    /// Its packets.
    pub packets: u64,
    /// Those that could not be read because of it.
    pub not_read: u64,
}

/// Reads link layers; finds FCSs where no header tells of them, and counts link types and wrappers.
#[derive(Debug, Clone, Default)]
pub struct LinkReader {
    with_fcs: u32,
    without_fcs: u32,
    /// Link type of the packets, their number and how many of them are of no link type that is read;
    /// a file has few.
    types: Vec<LinkTypeCount>,
    last: usize,
    wrapped: [u64; Wrapper::ALL.len()],
}

/// Frames after which a file that never had a fitting CRC is believed to have none.
const ENOUGH: u32 = 64;
/// Most link types that are counted apart.
const MAX_TYPES: usize = 64;
/// Most wrappers around one frame that are taken off.
const MAX_LAYERS: usize = 4;

/// A layer of a packet.
enum Layer<'a> {
    Done(Link<'a>),
    Inside(Wrapper, Packet<'a>),
}

impl LinkReader {
    /// Reads a packet's link layer.
    pub fn read<'a>(&mut self, packet: &Packet<'a>) -> Link<'a> {
        self.count(packet.link_type);
        // Frames of the air are in no wrapper, and most packets.
        if matches!(
            packet.link_type,
            link_type::RADIOTAP | link_type::IEEE802_11
        ) {
            return self.plain(packet);
        }
        let mut packet = *packet;
        for _ in 0..MAX_LAYERS {
            match self.layer(&packet) {
                Layer::Done(Link::Unread) => break,
                Layer::Done(found) => return found,
                Layer::Inside(wrapper, inner) => {
                    self.wrapped[wrapper as usize] += 1;
                    packet = inner;
                }
            }
        }
        if let Some(last) = self.types.get_mut(self.last) {
            last.not_read += 1;
        }
        Link::Unread
    }

    #[inline]
    fn count(&mut self, link_type: u32) {
        match self.types.get_mut(self.last) {
            Some(last) if last.number == link_type => last.packets += 1,
            _ => self.count_another(link_type),
        }
    }

    #[cold]
    fn count_another(&mut self, link_type: u32) {
        let known = self.types.iter().position(|one| one.number == link_type);
        self.last = known.unwrap_or_else(|| {
            if self.types.len() < MAX_TYPES {
                self.types.push(LinkTypeCount {
                    number: link_type,
                    packets: 0,
                    not_read: 0,
                });
            }
            self.types.len() - 1
        });
        self.types[self.last].packets += 1;
    }

    /// Link types of the packets so far.
    pub fn link_types(&self) -> &[LinkTypeCount] {
        &self.types
    }

    /// Frames that were inside a wrapper.
    pub fn wrapped(&self) -> impl Iterator<Item = (Wrapper, u64)> {
        Wrapper::ALL.into_iter().zip(self.wrapped)
    }

    fn layer<'a>(&mut self, packet: &Packet<'a>) -> Layer<'a> {
        let told = packet.fcs_len.map(|len| len >= 4);
        match packet.link_type {
            link_type::PPI => self.ppi(packet, packet.octets, told),
            link_type::PKTAP => match PktapRepr::parse(packet.octets) {
                Ok(header) => Layer::Inside(
                    Wrapper::Pktap,
                    Packet {
                        link_type: header.link_type,
                        original: packet.original.saturating_sub(header.len as u32),
                        octets: &packet.octets[header.len..],
                        fcs_len: None,
                        ..*packet
                    },
                ),
                Err(_) => Layer::Done(Link::Broken),
            },
            _ => match self.plain(packet) {
                Link::Wire(wire, octets) => self.unwrapped(packet, wire, octets),
                link => Layer::Done(link),
            },
        }
    }

    /// The frame inside a packet of a wire, or else the packet.
    fn unwrapped<'a>(&mut self, packet: &Packet<'a>, wire: Wire, octets: &'a [u8]) -> Layer<'a> {
        let Some(inside) = wrappers::inside(wire, octets) else {
            return Layer::Done(Link::Wire(wire, octets));
        };
        // Octets that the capture cut off the packet are missing from the frame.
        let cut = (packet.original as usize).saturating_sub(packet.octets.len());
        let original = inside.original.unwrap_or(inside.frame.len() + cut);
        let inner = Packet {
            link_type: inside.link_type,
            original: u32::try_from(original).unwrap_or(u32::MAX),
            octets: inside.frame,
            fcs_len: None,
            ..*packet
        };
        if inside.link_type != link_type::IEEE802_11 {
            return Layer::Inside(inside.wrapper, inner);
        }
        self.wrapped[inside.wrapper as usize] += 1;
        let link = self.air(&inner, inside.frame, 0, inside.fcs, false, inside.radio);
        Layer::Done(match link {
            Link::Air {
                mpdu,
                on_air,
                data_pad,
                radio,
                ..
            } => Link::Air {
                mpdu,
                on_air,
                data_pad,
                swapped: inside.wrapper == Wrapper::Capwap && wrappers::is_swapped(mpdu),
                radio,
            },
            other => other,
        })
    }

    /// A packet whose link type holds no other one.
    fn plain<'a>(&mut self, packet: &Packet<'a>) -> Link<'a> {
        let octets = packet.octets;
        let told = packet.fcs_len.map(|len| len >= 4);
        match packet.link_type {
            link_type::RADIOTAP => self.radiotap(packet, octets, told),
            link_type::IEEE802_11 => self.air(packet, octets, 0, told, false, Radio::default()),
            link_type::PRISM => self.prism(packet, octets, told),
            link_type::AVS => self.avs(packet, octets, told),
            link_type::ETHERNET => {
                let keep = match packet.fcs_len {
                    Some(len) if packet.original as usize == octets.len() => {
                        octets.len().saturating_sub(usize::from(len))
                    }
                    _ => octets.len(),
                };
                Link::Wire(Wire::Ethernet, &octets[..keep])
            }
            // Source: tcpdump.org, LINKTYPE_LINUX_SLL and LINKTYPE_LINUX_SLL2.
            link_type::LINUX_SLL => cooked(octets, SLL),
            link_type::LINUX_SLL2 => cooked(octets, SLL2),
            // The address family in the host's byte order, then IP.
            link_type::NULL | link_type::LOOP => {
                Link::Wire(Wire::Ip, octets.get(4..).unwrap_or(&[]))
            }
            link_type::RAW | link_type::RAW_BSD | link_type::IPV4 | link_type::IPV6 => {
                Link::Wire(Wire::Ip, octets)
            }
            _ => Link::Unread,
        }
    }

    fn radiotap<'a>(
        &mut self,
        packet: &Packet<'a>,
        octets: &'a [u8],
        told: Option<bool>,
    ) -> Link<'a> {
        let Ok(header) = Radiotap::new(octets) else {
            return Link::Broken;
        };
        let repr = RadiotapRepr::parse(&header);
        if repr.no_psdu {
            return Link::Empty;
        }
        let flags = repr.flags.unwrap_or(0);
        let radio = Radio {
            modulation: repr.modulation,
            frequency_mhz: repr.frequency_mhz,
            signal_dbm: repr.signal_dbm,
            tsft_us: repr.tsft_us,
            ampdu: repr.ampdu.map(|(reference, _)| reference),
            short_preamble: flags & radiotap::FLAG_SHORT_PREAMBLE != 0,
            bad_fcs: flags & radiotap::FLAG_BAD_FCS != 0,
        };
        let fcs = repr.flags.map_or(told, |_| Some(repr.has_fcs()));
        let pad = flags & radiotap::FLAG_DATA_PAD != 0;
        self.air(packet, header.payload(), header.len(), fcs, pad, radio)
    }

    fn prism<'a>(&mut self, packet: &Packet<'a>, octets: &'a [u8], told: Option<bool>) -> Link<'a> {
        // Some drivers put an AVS header under this link type, and some captures have none.
        let Ok(header) = PrismRepr::parse(octets) else {
            if AvsRepr::parse(octets).is_ok() {
                return self.avs(packet, octets, told);
            }
            let code = octets.first_chunk::<4>();
            if code == Some(&[0x44, 0, 0, 0]) || code == Some(&[0, 0, 0, 0x44]) {
                return Link::Broken;
            }
            return self.air(packet, octets, 0, told, false, Radio::default());
        };
        let radio = Radio {
            modulation: match header.rate_500kbps {
                Some(rate_500kbps) if rate_500kbps != 0 => Modulation::Legacy { rate_500kbps },
                _ => Modulation::Unknown,
            },
            frequency_mhz: header.channel.and_then(channel_frequency),
            signal_dbm: header.signal_dbm,
            ..Radio::default()
        };
        self.air(
            packet,
            &octets[header.len..],
            header.len,
            told,
            false,
            radio,
        )
    }

    fn avs<'a>(&mut self, packet: &Packet<'a>, octets: &'a [u8], told: Option<bool>) -> Link<'a> {
        let Ok(header) = AvsRepr::parse(octets) else {
            return Link::Broken;
        };
        let radio = Radio {
            modulation: match u8::try_from(header.rate_100kbps / 5) {
                Ok(rate_500kbps) if rate_500kbps != 0 => Modulation::Legacy { rate_500kbps },
                _ => Modulation::Unknown,
            },
            frequency_mhz: channel_frequency(header.channel),
            signal_dbm: header.signal_dbm,
            tsft_us: Some(header.mac_time),
            ..Radio::default()
        };
        self.air(
            packet,
            &octets[header.len..],
            header.len,
            told,
            false,
            radio,
        )
    }

    fn ppi<'a>(&mut self, packet: &Packet<'a>, octets: &'a [u8], told: Option<bool>) -> Layer<'a> {
        let Ok(header) = PpiRepr::parse(octets) else {
            return Layer::Done(Link::Broken);
        };
        let payload = &octets[header.len..];
        if header.link_type != link_type::IEEE802_11 {
            let inner = Packet {
                link_type: header.link_type,
                original: packet.original.saturating_sub(header.len as u32),
                octets: payload,
                ..*packet
            };
            return Layer::Inside(Wrapper::Ppi, inner);
        }
        let radio = Radio {
            modulation: match (header.mcs, u8::try_from(header.rate_500kbps)) {
                (Some(mcs), _) => Modulation::Ht {
                    mcs,
                    wide: false,
                    short_gi: false,
                },
                (None, Ok(rate_500kbps)) if rate_500kbps != 0 => {
                    Modulation::Legacy { rate_500kbps }
                }
                _ => Modulation::Unknown,
            },
            frequency_mhz: (header.frequency_mhz != 0).then_some(header.frequency_mhz),
            signal_dbm: header.signal_dbm,
            tsft_us: header.tsft,
            ampdu: header.ampdu.map(|(_, reference)| reference),
            short_preamble: false,
            bad_fcs: header.flags.unwrap_or(0) & 4 != 0,
        };
        let fcs = header.flags.map_or(told, |_| Some(header.has_fcs()));
        Layer::Done(self.air(packet, payload, header.len, fcs, false, radio))
    }

    fn air<'a>(
        &mut self,
        packet: &Packet<'a>,
        payload: &'a [u8],
        header_len: usize,
        fcs: Option<bool>,
        data_pad: bool,
        radio: Radio,
    ) -> Link<'a> {
        let on_wire = (packet.original as usize)
            .max(packet.octets.len())
            .saturating_sub(header_len);
        let fcs = fcs.unwrap_or_else(|| self.fits(payload, on_wire));
        let on_air = if fcs {
            on_wire.saturating_sub(4)
        } else {
            on_wire
        };
        Link::Air {
            mpdu: &payload[..payload.len().min(on_air)],
            on_air,
            data_pad,
            swapped: false,
            radio,
        }
    }

    fn fits(&mut self, payload: &[u8], on_wire: usize) -> bool {
        if self.with_fcs == 0 && self.without_fcs >= ENOUGH {
            return false;
        }
        // One wrong FCS among right ones is a frame received with an error.
        if self.with_fcs >= ENOUGH && self.without_fcs <= self.with_fcs {
            return true;
        }
        let Some((body, fcs)) = payload.split_last_chunk::<4>() else {
            return false;
        };
        if payload.len() < on_wire || body.len() < 10 {
            return false;
        }
        let fits = crc32fast::hash(body) == u32::from_le_bytes(*fcs);
        if fits {
            self.with_fcs += 1;
        } else {
            self.without_fcs += 1;
        }
        fits
    }
}

/// Places of fields in a header of Linux's cooked capture, octets.
#[derive(Debug, Clone, Copy)]
struct CookedHeader {
    ethertype: usize,
    /// Length of the sender's address.
    address_length: usize,
    address: usize,
    /// Octets of the header.
    octets: usize,
}

/// LINKTYPE_LINUX_SLL.
const SLL: CookedHeader = CookedHeader {
    ethertype: 14,
    address_length: 5,
    address: 6,
    octets: 16,
};

/// LINKTYPE_LINUX_SLL2.
const SLL2: CookedHeader = CookedHeader {
    ethertype: 0,
    address_length: 11,
    address: 12,
    octets: 20,
};

/// A packet behind such a header.
fn cooked(octets: &[u8], at: CookedHeader) -> Link<'_> {
    let len = at.octets;
    let (Some(header), Some(rest)) = (octets.get(..len), octets.get(len..)) else {
        return Link::Broken;
    };
    let sender = (header[at.address_length] == 6)
        .then(|| MacAddress::from_slice(&header[at.address..at.address + 6]).ok())
        .flatten();
    let ethertype = u16::from_be_bytes([header[at.ethertype], header[at.ethertype + 1]]);
    Link::Wire(Wire::Cooked { ethertype, sender }, rest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use airtoll_wire::ieee80211::ControlRepr;
    use proptest::prelude::*;

    fn packet(link_type: u32, octets: &[u8]) -> Packet<'_> {
        Packet {
            time_ns: 0,
            link_type,
            fcs_len: None,
            original: octets.len() as u32,
            octets,
        }
    }

    fn ack(fcs: bool) -> Vec<u8> {
        let mut octets = Vec::new();
        ControlRepr::Rts(0, MacAddress([2; 6]), MacAddress([4; 6])).emit(&mut octets);
        if fcs {
            octets.extend(crc32fast::hash(&octets).to_le_bytes());
        }
        octets
    }

    #[test]
    fn the_same_frame_under_every_link_type() {
        for fcs in [false, true] {
            let frame = ack(fcs);
            let radio = RadiotapRepr {
                flags: Some(if fcs { radiotap::FLAG_FCS } else { 0 }),
                ..RadiotapRepr::default()
            };
            let mut headers: Vec<(u32, Vec<u8>)> = vec![
                (link_type::IEEE802_11, vec![]),
                (link_type::RADIOTAP, vec![]),
                (link_type::PRISM, vec![]),
                (link_type::AVS, vec![]),
                (link_type::PPI, vec![]),
            ];
            radio.emit(&mut headers[1].1);
            PrismRepr::default().emit(16, &mut headers[2].1);
            AvsRepr::default().emit(&mut headers[3].1);
            PpiRepr {
                link_type: 105,
                flags: Some(u16::from(fcs)),
                ..PpiRepr::default()
            }
            .emit(&mut headers[4].1);
            for (kind, mut octets) in headers {
                octets.extend_from_slice(&frame);
                match LinkReader::default().read(&packet(kind, &octets)) {
                    Link::Air { mpdu, on_air, .. } => {
                        assert_eq!(mpdu, &frame[..16], "link type {kind}");
                        assert_eq!(on_air, 16);
                    }
                    other => panic!("link type {kind}: {other:?}"),
                }
            }
        }
    }

    proptest! {
        #[test]
        fn any_octets_are_read(octets in proptest::collection::vec(any::<u8>(), 0..300), original: u32, kind in prop::sample::select(vec![1u32, 105, 119, 127, 163, 192, 7])) {
            let mut p = packet(kind, &octets);
            p.original = original;
            let _ = LinkReader::default().read(&p);
        }
    }
}
