//! The pcap record format: takes a feed, gives packet records.
//!
//! Source: draft-ietf-opsawg-pcap and libpcap's savefile manual. Magic numbers for micro- and
//! nanoseconds and the Kuznetsov variant (24-octet record headers), in either byte order.
//! Never goes on after a record that cannot be right: nothing marks the next one.

use super::MAX_PACKET;
use super::feed::Feed;

/// Fields of the file header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PcapHeader {
    big_endian: bool,
    nanoseconds: bool,
    record_header: usize,
    swapped_lengths: bool,
    /// Link type.
    pub link_type: u32,
    /// Octets of FCS at the end of each frame, if the header says so.
    pub fcs_len: Option<u8>,
}

/// One record's header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Record {
    /// Nanoseconds since the epoch.
    pub time_ns: u64,
    /// Octets captured.
    pub captured: usize,
    /// Octets on the wire.
    pub original: u32,
    /// Octets of record header in front of the packet.
    pub header_len: usize,
}

impl PcapHeader {
    /// Octets of the file header.
    pub const LEN: usize = 24;

    /// Reads the file header; `None` if the magic number is of no pcap.
    pub fn parse(octets: &[u8]) -> Option<Self> {
        let h = octets.first_chunk::<24>()?;
        let magic = [h[0], h[1], h[2], h[3]];
        let (nanoseconds, kuznetsov, big_endian) = match magic {
            [0xa1, 0xb2, 0xc3, 0xd4] => (false, false, true),
            [0xd4, 0xc3, 0xb2, 0xa1] => (false, false, false),
            [0xa1, 0xb2, 0x3c, 0x4d] => (true, false, true),
            [0x4d, 0x3c, 0xb2, 0xa1] => (true, false, false),
            [0xa1, 0xb2, 0xcd, 0x34] => (false, true, true),
            [0x34, 0xcd, 0xb2, 0xa1] => (false, true, false),
            _ => return None,
        };
        let word = |at: usize| word(big_endian, h, at);
        let half = |at: usize| {
            if big_endian {
                u16::from_be_bytes([h[at], h[at + 1]])
            } else {
                u16::from_le_bytes([h[at], h[at + 1]])
            }
        };
        let (major, minor) = (half(4), half(6));
        let network = word(20);
        // The upper six bits: FCS length in 16-bit words, and whether it holds.
        let fcs_len = (network & 0x0400_0000 != 0).then_some((network >> 28) as u8 * 2);
        Some(Self {
            big_endian,
            nanoseconds,
            record_header: if kuznetsov { 24 } else { 16 },
            swapped_lengths: major < 2 || (major == 2 && minor < 3),
            link_type: network & 0xffff,
            fcs_len,
        })
    }

    /// Reads the next record's header. `Ok(None)` at the end of the file.
    pub fn record(&self, feed: &mut Feed) -> Result<Option<Record>, &'static str> {
        let header = feed.peek(self.record_header);
        if header.is_empty() {
            return Ok(None);
        }
        if header.len() < self.record_header {
            return Err("ends inside a record header");
        }
        let word = |at: usize| word(self.big_endian, header, at);
        let seconds = u64::from(word(0));
        // Signed, as libpcap has it: some writers step below the second (airodump-ng).
        let fraction = i64::from(word(4) as i32);
        let (mut captured, mut original) = (word(8), word(12));
        if self.swapped_lengths {
            (captured, original) = (original, captured);
        }
        if captured as usize > MAX_PACKET {
            return Err("a record claims more octets than any packet has");
        }
        let scale = if self.nanoseconds { 1 } else { 1000 };
        let record = Record {
            time_ns: (seconds * 1_000_000_000).saturating_add_signed(fraction * scale),
            captured: captured as usize,
            original,
            header_len: self.record_header,
        };
        Ok(Some(record))
    }
}

fn word(big_endian: bool, octets: &[u8], at: usize) -> u32 {
    let four = [octets[at], octets[at + 1], octets[at + 2], octets[at + 3]];
    if big_endian {
        u32::from_be_bytes(four)
    } else {
        u32::from_le_bytes(four)
    }
}
