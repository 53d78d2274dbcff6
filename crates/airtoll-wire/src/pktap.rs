//! PKTAP (Apple's packet tap): takes the header in front of a packet, gives the link type of the packet.
//!
//! Source: `bsd/net/pktap.h` of Apple's xnu: length of the header, type of the record, link type, name
//! of the interface, all in the order of the host, which is little-endian. Later fields are not read.

use crate::{Cursor, Error, Result};

const FORMAT: &str = "PKTAP";

/// Octets of the shortest header.
pub const LEN: usize = 108;
/// Type of a record that holds a packet.
const PACKET: u32 = 1;

/// The header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PktapRepr {
    /// Octets of the header: the packet starts there.
    pub len: usize,
    /// Link type of the packet.
    pub link_type: u32,
}

impl PktapRepr {
    /// Reads the header.
    ///
    /// # Errors
    /// [`Error`] on a header that is cut short, or a record without a packet.
    pub fn parse(octets: &[u8]) -> Result<Self> {
        let mut cursor = Cursor::new(FORMAT, octets);
        let len = cursor.u32_le()? as usize;
        let record = cursor.u32_le()?;
        let link_type = cursor.u32_le()?;
        if len < LEN || octets.len() < len {
            return Err(Error::truncated(FORMAT, len.max(LEN), octets.len()));
        }
        if record != PACKET {
            return Err(Error::malformed(FORMAT, "no packet follows"));
        }
        Ok(Self { len, link_type })
    }

    /// Appends a header whose further fields are zero.
    pub fn emit(&self, out: &mut Vec<u8>) {
        let start = out.len();
        out.extend((self.len as u32).to_le_bytes());
        out.extend(PACKET.to_le_bytes());
        out.extend(self.link_type.to_le_bytes());
        out.resize(start + self.len, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn round_trips(len in LEN..200, link_type: u32) {
            let mut octets = Vec::new();
            let repr = PktapRepr { len, link_type };
            repr.emit(&mut octets);
            prop_assert_eq!(PktapRepr::parse(&octets), Ok(repr));
        }

        #[test]
        fn any_octets_are_refused_or_read(octets in proptest::collection::vec(any::<u8>(), 0..160)) {
            let _ = PktapRepr::parse(&octets);
        }
    }
}
