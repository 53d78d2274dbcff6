//! Frames of the air: takes the frames of the simulated MAC, gives MPDUs without FCS.
//!
//! Source: IEEE 802.11-2020 clauses 9.3.1 (control), 9.3.2 (data) and 9.3.3 (management).

use airtoll_wire::MacAddress;
use airtoll_wire::ieee80211::ControlRepr;
use airtoll_wire::ieee80211::amsdu::{self, Subframe};
use airtoll_wire::ieee80211::frame::{FrameControl, HeaderRepr, Kind, control_subtype};
use airtoll_wire::llc::SnapRepr;

use super::cipher::LinkCipher;
use crate::mac::Announced;

/// QoS Control: A-MSDU present.
const AMSDU: u16 = 0x80;
/// QoS Control: end of service period.
pub(super) const EOSP: u16 = 0x10;
/// Retry, in the second octet of Frame Control.
const RETRY: u8 = 0x08;

/// Receiver and transmitter address of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FrameEnds {
    pub receiver: MacAddress,
    pub transmitter: MacAddress,
}

/// Destination and source address of an MSDU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct MsduEnds {
    pub destination: MacAddress,
    pub source: MacAddress,
}

/// One MSDU with its ends.
pub(super) struct Msdu {
    pub destination: MacAddress,
    pub source: MacAddress,
    pub ethertype: u16,
    pub payload: Vec<u8>,
}

/// How a data frame travels.
pub(super) struct DataFrame {
    pub transmitter: MacAddress,
    pub receiver: MacAddress,
    /// From an access point to a station.
    pub down: bool,
    /// To or from a station that bridges.
    pub four_address: bool,
    /// TID of a QoS data frame.
    pub tid: Option<u8>,
    pub sequence: u32,
    /// Its transmitter is a station in power save mode.
    pub dozes: bool,
    /// Its bits for a station in power save mode.
    pub announced: Announced,
    /// Packet number that it got before the queue; `None`: the next one.
    pub packet_number: Option<u64>,
}

impl DataFrame {
    /// The MPDU with one MSDU or an A-MSDU, encrypted where there is a cipher.
    pub fn compose(&self, msdus: &[Msdu], cipher: Option<&mut LinkCipher>) -> Vec<u8> {
        let room = 64 + msdus.iter().map(|m| m.payload.len() + 24).sum::<usize>();
        let mut out = Vec::with_capacity(room);
        self.header(msdus, None, &mut out);
        let head = cipher.as_ref().map_or(0, |c| c.header_octets());
        out.resize(out.len() + head, 0);
        match msdus {
            [one] => SnapRepr::rfc1042(one.ethertype, &one.payload).emit(&mut out),
            many => {
                let bodies: Vec<Vec<u8>> = many
                    .iter()
                    .map(|msdu| {
                        let mut body = Vec::with_capacity(msdu.payload.len() + 8);
                        SnapRepr::rfc1042(msdu.ethertype, &msdu.payload).emit(&mut body);
                        body
                    })
                    .collect();
                let subframes: Vec<Subframe<'_>> = many
                    .iter()
                    .zip(&bodies)
                    .map(|(msdu, body)| Subframe {
                        destination: msdu.destination,
                        source: msdu.source,
                        msdu: body,
                    })
                    .collect();
                amsdu::emit(&subframes, &mut out);
            }
        }
        if let Some(cipher) = cipher {
            out.resize(out.len() + cipher.trailer_octets(), 0);
            match self.packet_number {
                Some(number) => cipher.seal_numbered(&mut out, number),
                None => cipher.seal(&mut out),
            }
        }
        out
    }

    /// The MPDUs of an MSDU in fragments of `piece` octets (10.4), encrypted
    /// where there is a cipher.
    pub fn compose_pieces(
        &self,
        msdu: &Msdu,
        piece: usize,
        mut cipher: Option<&mut LinkCipher>,
    ) -> Vec<Vec<u8>> {
        let msdus = std::slice::from_ref(msdu);
        let mut body = Vec::with_capacity(msdu.payload.len() + 16);
        SnapRepr::rfc1042(msdu.ethertype, &msdu.payload).emit(&mut body);
        let mut header = Vec::new();
        self.header(msdus, None, &mut header);
        let michael = cipher.as_ref().and_then(|c| c.michael(&header, &body));
        body.extend_from_slice(michael.as_ref().map_or(&[], |mic| &mic[..]));
        let count = body.len().div_ceil(piece);
        body.chunks(piece)
            .enumerate()
            .map(|(number, part)| {
                let mut out = Vec::with_capacity(part.len() + 64);
                let last = number + 1 == count;
                self.header(msdus, Some((number, last)), &mut out);
                let head = cipher.as_ref().map_or(0, |c| c.header_octets());
                out.resize(out.len() + head, 0);
                out.extend_from_slice(part);
                if let Some(cipher) = &mut cipher {
                    out.resize(out.len() + cipher.piece_trailer_octets(), 0);
                    cipher.seal_piece(&mut out);
                }
                out
            })
            .collect()
    }

    /// Appends the MAC header; `piece` is a fragment's number and whether it is the last.
    fn header(&self, msdus: &[Msdu], piece: Option<(usize, bool)>, out: &mut Vec<u8>) {
        let bssid = if self.down {
            self.transmitter
        } else {
            self.receiver
        };
        // 9.3.2.1, table 9-30: the BSSID stands where an A-MSDU has many.
        let (third, fourth) = match msdus {
            [one] if self.four_address => (one.destination, Some(one.source)),
            [one] if self.down => (one.source, None),
            [one] => (one.destination, None),
            _ => (bssid, self.four_address.then_some(bssid)),
        };
        let aggregated = msdus.len() > 1;
        let subtype = if self.tid.is_some() { 8 } else { 0 };
        let (fragment, last) = piece.unwrap_or((0, true));
        let ends = if self.announced.ends { EOSP } else { 0 };
        HeaderRepr {
            control: FrameControl::new(Kind::Data, subtype)
                .with_to_ds(!self.down || self.four_address)
                .with_from_ds(self.down || self.four_address)
                .with_more_fragments(!last)
                .with_power_management(self.dozes)
                .with_more_data(self.announced.more),
            duration: 0,
            address1: self.receiver,
            address2: self.transmitter,
            address3: third,
            sequence_control: (self.sequence << 4) as u16 | fragment as u16,
            address4: fourth,
            qos_control: self
                .tid
                .map(|tid| u16::from(tid) | if aggregated { AMSDU } else { 0 } | ends),
            ht_control: None,
        }
        .emit(out);
    }
}

/// Sets the fields that differ between transmissions of the same MPDU. A PS-Poll has neither.
pub(super) fn dress(frame: &mut [u8], duration: u16, retry: bool) {
    const PS_POLL: u8 = 0xa4;
    if frame.first() == Some(&PS_POLL) {
        return;
    }
    if let [_, flags, low, high, ..] = frame {
        if retry {
            *flags |= RETRY;
        } else {
            *flags &= !RETRY;
        }
        [*low, *high] = duration.to_le_bytes();
    }
}

/// An address that takes the place of another.
#[derive(Debug, Clone, Copy)]
pub(super) struct Replaced {
    pub old: MacAddress,
    pub new: MacAddress,
}

/// Replaces addresses in the header of a data frame: an MPDU keeps its octets, but not its addresses,
/// when it is sent on another link of a multi-link device.
pub(super) fn readdress(frame: &mut [u8], replaced: [Replaced; 2]) {
    for at in [4, 10, 16] {
        if let Some(octets) = frame.get_mut(at..at + 6)
            && let Some(one) = replaced.iter().find(|one| *octets == one.old.0)
        {
            octets.copy_from_slice(&one.new.0);
        }
    }
}

/// RTS.
pub(super) fn rts(duration: u16, to: MacAddress, from: MacAddress, out: &mut Vec<u8>) {
    ControlRepr::Rts(duration, to, from).emit(out);
}

/// CTS; to its own sender a CTS-to-self.
pub(super) fn cts(duration: u16, to: MacAddress, out: &mut Vec<u8>) {
    ControlRepr::Cts(duration, to).emit(out);
}

/// MU-RTS Trigger frame (IEEE 802.11ax-2021, 9.3.1.22.5) for the CTS of one station on its 20 MHz, padded to
/// `octets` with FCS.
pub(super) fn mu_rts(duration: u16, ends: FrameEnds, (aid, octets): (u16, u32), out: &mut Vec<u8>) {
    let start = out.len();
    two_address_head(control_subtype::TRIGGER, duration, ends, out);
    // Trigger type, CS Required.
    let common: u64 = 3 | 1 << 17;
    out.extend_from_slice(&common.to_le_bytes());
    // AID12, RU Allocation: the primary 20 MHz.
    let user = u64::from(aid & 0xfff) | 61 << 13;
    out.extend_from_slice(&user.to_le_bytes()[..5]);
    let with_padding = start + octets as usize - airtoll_phy::FCS_OCTETS as usize;
    out.resize(with_padding.max(out.len()), 0xff);
}

/// Ack; of a fragment it reserves the medium for the next one.
pub(super) fn ack(duration: u16, to: MacAddress, out: &mut Vec<u8>) {
    ControlRepr::Ack(duration, to).emit(out);
}

/// CF-End, to all stations; its Duration field is 0 (9.3.1.5).
pub(super) fn cf_end(from: MacAddress, out: &mut Vec<u8>) {
    two_address_head(
        control_subtype::CF_END,
        0,
        FrameEnds {
            receiver: MacAddress::BROADCAST,
            transmitter: from,
        },
        out,
    );
}

/// Compressed BlockAckReq of a TID from sequence number `first` on (9.3.1.7).
pub(super) fn block_ack_request(
    duration: u16,
    ends: FrameEnds,
    tid: u8,
    first: u32,
    out: &mut Vec<u8>,
) {
    two_address_head(control_subtype::BLOCK_ACK_REQUEST, duration, ends, out);
    out.extend_from_slice(&(u16::from(tid) << 12 | 4).to_le_bytes());
    out.extend_from_slice(&((first << 4) as u16).to_le_bytes());
}

/// Compressed BlockAck for a window of `window` MPDUs from `first` on; `received` has sequence
/// numbers from `first` on (9.3.1.8.2).
pub(super) fn block_ack(
    ends: FrameEnds,
    tid: u8,
    window: u32,
    first: u32,
    received: impl Iterator<Item = u32>,
    out: &mut Vec<u8>,
) {
    two_address_head(control_subtype::BLOCK_ACK, 0, ends, out);
    out.extend_from_slice(&(u16::from(tid) << 12 | 4).to_le_bytes());
    // The fragment number says how long the bitmap is (tables 9-29a of 802.11ax and 802.11be).
    let (octets, code) = match window {
        ..=64 => (8, 0),
        65..=256 => (32, 4),
        257..=512 => (64, 8),
        _ => (128, 10),
    };
    out.extend_from_slice(&((first << 4) as u16 | code).to_le_bytes());
    let bitmap = out.len();
    out.resize(bitmap + octets, 0);
    for sequence in received {
        let bit = sequence.wrapping_sub(first) as usize;
        if bit < octets * 8 {
            out[bitmap + bit / 8] |= 1 << (bit % 8);
        }
    }
}

fn two_address_head(subtype: u8, duration: u16, ends: FrameEnds, out: &mut Vec<u8>) {
    out.extend_from_slice(&FrameControl::new(Kind::Control, subtype).0.to_le_bytes());
    out.extend_from_slice(&duration.to_le_bytes());
    out.extend_from_slice(&ends.receiver.0);
    out.extend_from_slice(&ends.transmitter.0);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bitmaps_have_a_bit_for_every_number() {
        let ends = FrameEnds {
            receiver: MacAddress([2; 6]),
            transmitter: MacAddress([4; 6]),
        };
        let mut out = Vec::new();
        block_ack(ends, 0, 64, 4_090, [4_090, 4_097].into_iter(), &mut out);
        assert_eq!(out.len() + 4, 32);
        assert_eq!(&out[18..20], &(4_090_u16 << 4).to_le_bytes());
        assert_eq!(out[20], 0b1000_0001);
        out.clear();
        block_ack(ends, 0, 256, 0, [255].into_iter(), &mut out);
        assert_eq!((out.len() + 4, out[out.len() - 1]), (56, 0x80));
    }
}
