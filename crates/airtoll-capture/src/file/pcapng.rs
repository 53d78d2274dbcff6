//! The pcapng block format: takes a feed, gives packet records through their interfaces.
//!
//! Source: draft-ietf-opsawg-pcapng. Sections of either byte order; interface description,
//! enhanced, simple and (obsolete) packet blocks; options `if_tsresol`, `if_tsoffset`,
//! `if_fcslen` and `epb_flags`; other blocks are skipped by their length. Never goes on after a
//! block whose lengths disagree.

use rustc_hash::FxHashMap;

use super::MAX_PACKET;
use super::feed::Feed;

/// Largest block that is believed.
const MAX_BLOCK: u32 = 16 << 20;
/// Most different interface descriptions of a section.
const MAX_DESCRIPTIONS: usize = 1 << 20;
const SECTION_HEADER: u32 = 0x0a0d_0d0a;
const BYTE_ORDER_MAGIC: u32 = 0x1a2b_3c4d;

/// An interface of the current section.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Interface {
    link_type: u32,
    snap_len: u32,
    resolution: u8,
    offset_s: i64,
    fcs_len: Option<u8>,
}

/// State over the blocks of a file.
#[derive(Debug, Clone, Default)]
pub struct PcapNg {
    big_endian: bool,
    /// Different descriptions; most files have a handful, even with many interfaces.
    descriptions: Vec<Interface>,
    known: FxHashMap<Interface, u32>,
    /// Place in `descriptions` of each interface.
    interfaces: Vec<u32>,
}

/// A packet inside a block that the feed still holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Record {
    /// Nanoseconds since the epoch.
    pub time_ns: u64,
    /// Where the packet starts in the block.
    pub start: usize,
    /// Octets captured.
    pub captured: usize,
    /// Octets on the wire.
    pub original: u32,
    /// Link type of its interface.
    pub link_type: u32,
    /// Octets of FCS, if interface or packet say so.
    pub fcs_len: Option<u8>,
    /// Octets of the whole block, to consume afterwards.
    pub block_len: usize,
}

impl PcapNg {
    /// Whether octets start a section.
    pub fn recognises(octets: &[u8]) -> bool {
        let (Some(kind), Some(magic)) = (octets.first_chunk::<4>(), octets.get(8..12)) else {
            return false;
        };
        u32::from_le_bytes(*kind) == SECTION_HEADER
            && (magic == BYTE_ORDER_MAGIC.to_le_bytes() || magic == BYTE_ORDER_MAGIC.to_be_bytes())
    }

    /// Goes to the next packet. `Ok(None)` at the end of the file.
    pub fn record(&mut self, feed: &mut Feed) -> Result<Option<Record>, &'static str> {
        loop {
            let head = feed.peek(12);
            if head.is_empty() {
                return Ok(None);
            }
            if head.len() < 12 {
                return Err("ends inside a block header");
            }
            let kind = self.word(head, 0);
            if kind == SECTION_HEADER {
                self.big_endian = match head[8..12] {
                    [0x1a, 0x2b, 0x3c, 0x4d] => true,
                    [0x4d, 0x3c, 0x2b, 0x1a] => false,
                    _ => return Err("a section has no byte-order magic"),
                };
            }
            let len = self.word(head, 4);
            if len < 12 {
                return Err("a block is shorter than its own header");
            }
            if len > MAX_BLOCK {
                return Err("a block claims more than 16 MiB");
            }
            // Lengths that are no multiple of four occur in the wild; writers pad nevertheless.
            let padded = len.next_multiple_of(4) as usize;
            let known = matches!(kind, SECTION_HEADER | 1 | 2 | 3 | 6);
            if !known {
                if feed.skip(padded as u64) < padded as u64 {
                    return Err("ends inside a block");
                }
                continue;
            }
            if feed.peek(padded).len() < padded {
                return Err("ends inside a block");
            }
            let block = &feed.window()[..padded];
            if self.word(block, padded - 4) != len {
                return Err("a block's two lengths disagree");
            }
            let body = &block[8..padded - 4];
            let record = match kind {
                SECTION_HEADER => {
                    if body.len() < 16 {
                        return Err("a section header is too short");
                    }
                    self.interfaces.clear();
                    self.descriptions.clear();
                    self.known.clear();
                    None
                }
                1 => {
                    let interface = self.interface(body)?;
                    self.describe(interface)?;
                    None
                }
                2 | 6 => Some(self.packet(kind, body)?),
                _ => Some(self.simple(body)?),
            };
            match record {
                Some(mut record) => {
                    record.block_len = padded;
                    return Ok(Some(record));
                }
                None => feed.consume(padded),
            }
        }
    }

    fn interface(&self, body: &[u8]) -> Result<Interface, &'static str> {
        if body.len() < 8 {
            return Err("an interface description is too short");
        }
        let mut interface = Interface {
            link_type: u32::from(self.half(body, 0)),
            snap_len: self.word(body, 4),
            resolution: 6,
            offset_s: 0,
            fcs_len: None,
        };
        self.options(&body[8..], |code, value| match (code, value) {
            (9, [resolution, ..]) => interface.resolution = *resolution,
            (13, [len, ..]) => interface.fcs_len = Some(*len),
            (14, [a, b, c, d, e, f, g, h]) => {
                let eight = [*a, *b, *c, *d, *e, *f, *g, *h];
                interface.offset_s = if self.big_endian {
                    i64::from_be_bytes(eight)
                } else {
                    i64::from_le_bytes(eight)
                };
            }
            _ => {}
        });
        Ok(interface)
    }

    fn describe(&mut self, interface: Interface) -> Result<(), &'static str> {
        let place = match self.known.get(&interface) {
            Some(place) => *place,
            None if self.descriptions.len() == MAX_DESCRIPTIONS => {
                return Err("a section describes more than 1048576 different interfaces");
            }
            None => {
                let place = self.descriptions.len() as u32;
                self.descriptions.push(interface);
                self.known.insert(interface, place);
                place
            }
        };
        self.interfaces.push(place);
        Ok(())
    }

    fn packet(&self, kind: u32, body: &[u8]) -> Result<Record, &'static str> {
        if body.len() < 20 {
            return Err("a packet block is too short");
        }
        let index = if kind == 6 {
            self.word(body, 0) as usize
        } else {
            usize::from(self.half(body, 0))
        };
        let interface = self
            .interfaces
            .get(index)
            .and_then(|place| self.descriptions.get(*place as usize))
            .ok_or("a packet names an interface that is not described")?;
        let ticks = u64::from(self.word(body, 4)) << 32 | u64::from(self.word(body, 8));
        let captured = self.word(body, 12) as usize;
        if captured > MAX_PACKET {
            return Err("a packet block claims more octets than any packet has");
        }
        if captured > body.len() - 20 {
            return Err("a packet is longer than its block");
        }
        let mut fcs_len = interface.fcs_len;
        let options = (20 + captured).next_multiple_of(4).min(body.len());
        self.options(&body[options..], |code, value| {
            if let (2, [_, _, _, _]) = (code, value) {
                // Bits 5 to 8: FCS length in octets, 0 if unknown.
                let bits = self.word(value, 0) >> 5 & 15;
                if bits != 0 {
                    fcs_len = Some(bits as u8);
                }
            }
        });
        Ok(Record {
            time_ns: nanoseconds(ticks, interface),
            start: 8 + 20,
            captured,
            original: self.word(body, 16),
            link_type: interface.link_type,
            fcs_len,
            block_len: 0,
        })
    }

    fn simple(&self, body: &[u8]) -> Result<Record, &'static str> {
        let interface = self
            .interfaces
            .first()
            .and_then(|place| self.descriptions.get(*place as usize))
            .ok_or("a simple packet comes before any interface")?;
        if body.len() < 4 {
            return Err("a packet block is too short");
        }
        let original = self.word(body, 0);
        let mut captured = (original as usize).min(body.len() - 4);
        if interface.snap_len != 0 {
            captured = captured.min(interface.snap_len as usize);
        }
        if captured > MAX_PACKET {
            return Err("a packet block claims more octets than any packet has");
        }
        Ok(Record {
            time_ns: 0,
            start: 8 + 4,
            captured,
            original,
            link_type: interface.link_type,
            fcs_len: interface.fcs_len,
            block_len: 0,
        })
    }

    fn options(&self, mut octets: &[u8], mut take: impl FnMut(u16, &[u8])) {
        while octets.len() >= 4 {
            let code = self.half(octets, 0);
            let len = usize::from(self.half(octets, 2));
            if code == 0 {
                return;
            }
            let Some(value) = octets.get(4..4 + len) else {
                return;
            };
            take(code, value);
            let step = (4 + len).next_multiple_of(4).min(octets.len());
            octets = &octets[step..];
        }
    }

    fn word(&self, octets: &[u8], at: usize) -> u32 {
        let four = [octets[at], octets[at + 1], octets[at + 2], octets[at + 3]];
        if self.big_endian {
            u32::from_be_bytes(four)
        } else {
            u32::from_le_bytes(four)
        }
    }

    fn half(&self, octets: &[u8], at: usize) -> u16 {
        let two = [octets[at], octets[at + 1]];
        if self.big_endian {
            u16::from_be_bytes(two)
        } else {
            u16::from_le_bytes(two)
        }
    }
}

fn nanoseconds(ticks: u64, interface: &Interface) -> u64 {
    let exponent = u32::from(interface.resolution & 0x7f);
    let ns: i128 = if interface.resolution & 0x80 == 0 {
        match exponent {
            0..=9 => i128::from(ticks) * 10i128.pow(9 - exponent),
            10..=27 => i128::from(ticks) / 10i128.pow(exponent - 9),
            _ => 0,
        }
    } else {
        match exponent {
            0..=63 => (i128::from(ticks) * 1_000_000_000) >> exponent,
            _ => 0,
        }
    };
    let shifted = ns + i128::from(interface.offset_s) * 1_000_000_000;
    u64::try_from(shifted.max(0)).unwrap_or(u64::MAX)
}
