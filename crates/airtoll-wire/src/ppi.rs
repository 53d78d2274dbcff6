//! PPI (per-packet information): takes the header in front of a frame, gives its link type, and
//! of the 802.11 fields flags, rate and channel.
//!
//! Source: CACE PPI header specification 1.0.7: version, flags, length, DLT, then fields of type
//! and length, all little-endian. Field 2 is 802.11-Common, 3 802.11n-MAC, 4 802.11n-MAC+PHY.

use crate::{Cursor, Error, Result};

const FORMAT: &str = "PPI";

/// The fields of the header that airtoll reads and writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PpiRepr {
    /// Octets of the header: the frame starts there.
    pub len: usize,
    /// Link type of the frame (105 for 802.11).
    pub link_type: u32,
    /// Whether fields are aligned to four octets.
    pub aligned: bool,
    /// Of 802.11-Common: TSF time in microseconds (or milliseconds, by the flags).
    pub tsft: Option<u64>,
    /// Of 802.11-Common: bit 0 FCS present, bit 2 FCS wrong, bit 3 PHY error.
    pub flags: Option<u16>,
    /// Rate in units of 500 kb/s.
    pub rate_500kbps: u16,
    /// Channel frequency in MHz.
    pub frequency_mhz: u16,
    /// Signal in dBm.
    pub signal_dbm: Option<i8>,
    /// Of 802.11n-MAC or MAC+PHY: flags, A-MPDU identifier and number of delimiters.
    pub ampdu: Option<(u32, u32)>,
    /// MCS of 802.11n-MAC+PHY.
    pub mcs: Option<u8>,
}

impl PpiRepr {
    /// Reads the header.
    pub fn parse(octets: &[u8]) -> Result<Self> {
        let mut cursor = Cursor::new(FORMAT, octets);
        if cursor.u8()? != 0 {
            return Err(Error::malformed(FORMAT, "version is not 0"));
        }
        let aligned = cursor.u8()? & 1 != 0;
        let len = usize::from(cursor.u16_le()?);
        let link_type = cursor.u32_le()?;
        if len < 8 {
            return Err(Error::malformed(FORMAT, "length is below 8"));
        }
        if octets.len() < len {
            return Err(Error::truncated(FORMAT, len, octets.len()));
        }
        let mut repr = Self {
            len,
            link_type,
            aligned,
            ..Self::default()
        };
        let mut fields = Cursor::new(FORMAT, &octets[8..len]);
        while fields.remaining() >= 4 {
            let kind = fields.u16_le()?;
            let size = usize::from(fields.u16_le()?);
            // A field that runs over the header's end ends the list; the frame is still found.
            let Ok(body) = fields.take(size) else {
                break;
            };
            // A field too short for its kind says nothing.
            let _ = repr.take(kind, body);
            if aligned {
                let padding = fields.position().next_multiple_of(4) - fields.position();
                if fields.take(padding).is_err() {
                    break;
                }
            }
        }
        Ok(repr)
    }

    fn take(&mut self, kind: u16, body: &[u8]) -> Result<()> {
        let mut cursor = Cursor::new(FORMAT, body);
        match kind {
            2 => {
                let tsft = cursor.u64_le()?;
                let flags = cursor.u16_le()?;
                let rate = cursor.u16_le()?;
                let frequency = cursor.u16_le()?;
                cursor.take(4)?;
                let signal = cursor.u8()? as i8;
                self.tsft = Some(tsft);
                self.flags = Some(flags);
                self.rate_500kbps = rate;
                self.frequency_mhz = frequency;
                self.signal_dbm = (signal != 0 && signal != -128).then_some(signal);
            }
            3 | 4 => {
                let flags = cursor.u32_le()?;
                let identifier = cursor.u32_le()?;
                cursor.u8()?;
                self.ampdu = (flags & 0x10 != 0).then_some((flags, identifier));
                if kind == 4 {
                    self.mcs = Some(cursor.u8()?).filter(|mcs| *mcs != 255);
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Whether the frame ends in an FCS; unknown counts as no.
    pub fn has_fcs(&self) -> bool {
        self.flags.unwrap_or(0) & 1 != 0
    }

    /// Appends a header with 802.11-Common alone (32 octets).
    pub fn emit(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&[0, u8::from(self.aligned), 32, 0]);
        out.extend_from_slice(&self.link_type.to_le_bytes());
        out.extend_from_slice(&[2, 0, 20, 0]);
        out.extend_from_slice(&self.tsft.unwrap_or(0).to_le_bytes());
        out.extend_from_slice(&self.flags.unwrap_or(0).to_le_bytes());
        out.extend_from_slice(&self.rate_500kbps.to_le_bytes());
        out.extend_from_slice(&self.frequency_mhz.to_le_bytes());
        out.extend_from_slice(&[0, 0, 0, 0, self.signal_dbm.unwrap_or(-128) as u8, 0]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn round_trips(aligned: bool, link_type: u32, tsft: u64, flags: u16, rate: u16, frequency: u16, signal in proptest::option::of(-127i8..0)) {
            let repr = PpiRepr {
                len: 32, link_type, aligned, tsft: Some(tsft), flags: Some(flags), rate_500kbps: rate,
                frequency_mhz: frequency, signal_dbm: signal, ampdu: None, mcs: None,
            };
            let mut octets = Vec::new();
            repr.emit(&mut octets);
            prop_assert_eq!(octets.len(), 32);
            prop_assert_eq!(PpiRepr::parse(&octets), Ok(repr));
        }

        #[test]
        fn any_octets_are_refused_or_read(mut octets in proptest::collection::vec(any::<u8>(), 8..120), len in 0u16..120) {
            octets[0] = 0;
            octets[2..4].copy_from_slice(&len.to_le_bytes());
            let _ = PpiRepr::parse(&octets);
        }
    }
}
