//! GRE: takes a packet, gives the protocol type and the payload.
//!
//! Source: RFC 2784 and RFC 2890 (key, sequence number). Aruba's access points and controllers carry
//! 802.11 frames without FCS under [`ARUBA`] types. Version 1 (PPTP) and routing are refused.

use crate::{Error, Result};

const FORMAT: &str = "GRE";

/// Octets of a header without options.
pub const LEN: usize = 4;
/// Protocol types of Aruba's 802.11 tunnels, of which every sixteenth number is one.
pub const ARUBA: core::ops::RangeInclusive<u16> = 0x8200..=0x83f0;

/// Header and payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GreView<'a> {
    /// Protocol type: an EtherType, or a vendor's number.
    pub protocol: u16,
    /// Octets of the header.
    pub header_len: usize,
    /// The octets behind the header.
    pub payload: &'a [u8],
}

impl<'a> GreView<'a> {
    /// Reads a packet.
    ///
    /// # Errors
    /// [`Error`] on a header that is cut short, another version than 0, or source routing.
    pub fn new(octets: &'a [u8]) -> Result<Self> {
        let head =
            octets
                .first_chunk::<LEN>()
                .ok_or(Error::truncated(FORMAT, LEN, octets.len()))?;
        let flags = u16::from_be_bytes([head[0], head[1]]);
        if flags & 7 != 0 {
            return Err(Error::malformed(FORMAT, "version is not 0"));
        }
        if flags & 0x4000 != 0 {
            return Err(Error::malformed(FORMAT, "source routing"));
        }
        let options = [0x8000, 0x2000, 0x1000];
        let present = options.iter().filter(|bit| flags & **bit != 0).count();
        let header_len = LEN + 4 * present;
        let payload =
            octets
                .get(header_len..)
                .ok_or(Error::truncated(FORMAT, header_len, octets.len()))?;
        Ok(Self {
            protocol: u16::from_be_bytes([head[2], head[3]]),
            header_len,
            payload,
        })
    }

    /// Whether the payload is an 802.11 frame of Aruba's tunnels.
    pub fn is_aruba(&self) -> bool {
        ARUBA.contains(&self.protocol) && self.protocol & 15 == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn options_are_skipped() {
        let plain = GreView::new(&[0, 0, 0x82, 0x10, 8]).unwrap();
        assert!(plain.is_aruba() && plain.payload == [8]);
        let keyed = GreView::new(&[0x20, 0, 8, 0, 0, 0, 0, 1, 0x45]).unwrap();
        assert!(!keyed.is_aruba() && keyed.payload == [0x45]);
        assert!(GreView::new(&[0x30, 1, 0x88, 0x0b, 0, 0, 0, 0]).is_err());
    }

    proptest! {
        #[test]
        fn any_octets_are_refused_or_read(octets in proptest::collection::vec(any::<u8>(), 0..40)) {
            let _ = GreView::new(&octets);
        }
    }
}
