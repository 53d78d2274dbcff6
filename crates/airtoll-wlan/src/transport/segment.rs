//! Packets between the two halves of a connection: data segments and acknowledgements.
//!
//! Gives the sizes of the TCP header with its options. Never holds payload octets.

use airtoll_units::Instant;

use super::ranges::StreamRange;

/// Octets of a TCP header without options (RFC 9293 section 3.1).
const BASE_HEADER: u32 = 20;
/// Octets of the timestamps option with its two NOPs (RFC 7323 appendix A).
const TIMESTAMPS: u32 = 12;

/// Up to four selective acknowledgement blocks (RFC 2018).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SackBlocks {
    blocks: [StreamRange; 4],
    len: u8,
}

impl Default for SackBlocks {
    fn default() -> Self {
        Self {
            blocks: [StreamRange { start: 0, end: 0 }; 4],
            len: 0,
        }
    }
}

impl SackBlocks {
    /// Adds one block; silently full after four, as the option is.
    pub fn push(&mut self, block: StreamRange) {
        if usize::from(self.len) < self.blocks.len() {
            self.blocks[usize::from(self.len)] = block;
            self.len += 1;
        }
    }

    /// The blocks in the order in which the receiver reports them (most recent first).
    pub fn as_slice(&self) -> &[StreamRange] {
        &self.blocks[..usize::from(self.len)]
    }
}

/// One segment from a [`Sender`](super::Sender) to a [`Receiver`](super::Receiver).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Segment {
    /// Stream offset of the first payload octet.
    pub sequence: u64,
    /// Payload octets; 0 for SYN and for the acknowledgement that ends the handshake.
    pub payload: u32,
    /// Opens the connection (SYN).
    pub syn: bool,
    /// Whether any of these octets had been sent before.
    pub retransmission: bool,
    /// When the segment left TCP; the timestamp value of RFC 7323 (carried for RTT measurement
    /// also when the option, and its 12 octets, are off).
    pub sent_at: Instant,
    /// When the latest acknowledgement that the sender got was sent: the timestamp echo. Zero: none.
    pub echo: Instant,
    /// TCP header octets, options included.
    pub header: u32,
}

impl Segment {
    /// Octets handed to IP: TCP header with options, and payload.
    pub fn octets(&self) -> u32 {
        self.header + self.payload
    }
}

/// One acknowledgement from a [`Receiver`](super::Receiver) to a [`Sender`](super::Sender).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ack {
    /// Next stream offset expected: everything below has arrived.
    pub acknowledged: u64,
    /// Octets the receiver accepts beyond `acknowledged` (window scale applied).
    pub window: u64,
    /// Answers a SYN (SYN-ACK).
    pub syn: bool,
    /// Timestamp echo reply by the rules of RFC 7323 section 4.3.
    pub echo: Instant,
    /// When it left TCP: the timestamp value.
    pub sent_at: Instant,
    /// Selective acknowledgement; a duplicate report (RFC 2883) comes first.
    pub sack: SackBlocks,
    /// TCP header octets, options included: the whole segment, as it carries no data.
    pub header: u32,
}

impl Ack {
    /// Octets handed to IP.
    pub fn octets(&self) -> u32 {
        self.header
    }
}

/// Header octets of a segment outside the handshake with `sack_blocks` SACK blocks
/// (two NOPs, kind, length and 8 octets for each block: RFC 2018 section 3).
pub(super) fn header_octets(timestamps: bool, sack_blocks: usize) -> u32 {
    let sack = if sack_blocks == 0 {
        0
    } else {
        4 + 8 * u32::try_from(sack_blocks).unwrap_or(4)
    };
    BASE_HEADER + if timestamps { TIMESTAMPS } else { 0 } + sack
}

/// Header octets of a SYN or SYN-ACK: MSS (4), SACK permitted (2 and two NOPs, which the
/// timestamps option has room for when it is there), window scale (3 and one NOP).
pub(super) fn syn_header_octets(timestamps: bool, sack: bool, window_scale: bool) -> u32 {
    let sack_permitted = if sack && !timestamps { 4 } else { 0 };
    let scale = if window_scale { 4 } else { 0 };
    BASE_HEADER + 4 + if timestamps { TIMESTAMPS } else { 0 } + sack_permitted + scale
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn header_sizes_are_those_of_common_stacks() {
        assert_eq!(header_octets(false, 0), 20);
        assert_eq!(header_octets(true, 0), 32);
        assert_eq!(header_octets(true, 3), 60);
        assert_eq!(header_octets(false, 1), 32);
        // A Linux SYN with every option is 40 octets, a Windows XP one 28.
        assert_eq!(syn_header_octets(true, true, true), 40);
        assert_eq!(syn_header_octets(false, true, false), 28);
    }

    #[test]
    fn a_fifth_block_does_not_fit() {
        let mut sack = SackBlocks::default();
        for i in 0..5 {
            sack.push(StreamRange {
                start: i * 10,
                end: i * 10 + 5,
            });
        }
        assert_eq!(sack.as_slice().len(), 4);
    }
}
