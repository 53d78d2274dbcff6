//! AVS header: takes the header in front of an 802.11 frame, gives rate, channel and signal.
//!
//! Source: the AVS WLAN monitoring header, versions 1 and 2 (64 and more octets, network byte
//! order), link type 163.

use crate::{Cursor, Error, Result};

const FORMAT: &str = "AVS header";

/// Octets of a version 1 header.
pub const LEN: usize = 64;

/// The fields of the header that airtoll reads and writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct AvsRepr {
    /// Octets of the header: the frame starts there.
    pub len: usize,
    /// MAC time in microseconds.
    pub mac_time: u64,
    /// Physical layer: 1 FHSS, 2 DSSS/802.11, 5 to 9 802.11b/a/g variants.
    pub phy: u32,
    /// Channel number.
    pub channel: u32,
    /// Rate in units of 100 kb/s.
    pub rate_100kbps: u32,
    /// Signal in dBm, where the header says that it is in dBm.
    pub signal_dbm: Option<i8>,
}

impl AvsRepr {
    /// Reads the header.
    pub fn parse(octets: &[u8]) -> Result<Self> {
        let mut cursor = Cursor::new(FORMAT, octets);
        let version = cursor.u32_be()?;
        if version >> 12 != 0x80211 {
            return Err(Error::malformed(FORMAT, "version is not 0x80211..."));
        }
        let len = cursor.u32_be()? as usize;
        if len < LEN {
            return Err(Error::malformed(FORMAT, "length is below 64"));
        }
        if octets.len() < len {
            return Err(Error::truncated(FORMAT, len, octets.len()));
        }
        let mac_time = cursor.u64_be()?;
        cursor.u64_be()?;
        let phy = cursor.u32_be()?;
        let channel = cursor.u32_be()?;
        let rate_100kbps = cursor.u32_be()?;
        cursor.take(8)?;
        let signal_kind = cursor.u32_be()?;
        let signal = cursor.u32_be()? as i32;
        let dbm = (signal_kind == 2 && (-128..128).contains(&signal)).then_some(signal as i8);
        Ok(Self {
            len,
            mac_time,
            phy,
            channel,
            rate_100kbps,
            signal_dbm: dbm,
        })
    }

    /// Appends a version 1 header (64 octets).
    pub fn emit(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&0x8021_1001u32.to_be_bytes());
        out.extend_from_slice(&(LEN as u32).to_be_bytes());
        out.extend_from_slice(&self.mac_time.to_be_bytes());
        out.extend_from_slice(&[0; 8]);
        let (kind, signal) = match self.signal_dbm {
            Some(dbm) => (2, i32::from(dbm) as u32),
            None => (0, 0),
        };
        for word in [
            self.phy,
            self.channel,
            self.rate_100kbps,
            0,
            0,
            kind,
            signal,
            0,
            0,
            0,
        ] {
            out.extend_from_slice(&word.to_be_bytes());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn round_trips(mac_time: u64, phy: u32, channel: u32, rate_100kbps: u32, signal_dbm: Option<i8>) {
            let repr = AvsRepr { len: LEN, mac_time, phy, channel, rate_100kbps, signal_dbm };
            let mut octets = Vec::new();
            repr.emit(&mut octets);
            prop_assert_eq!(octets.len(), LEN);
            prop_assert_eq!(AvsRepr::parse(&octets), Ok(repr));
        }

        #[test]
        fn any_octets_are_refused_or_read(mut octets in proptest::collection::vec(any::<u8>(), 8..120), len in 0u8..120) {
            let _ = AvsRepr::parse(&octets);
            octets[..4].copy_from_slice(&0x8021_1001u32.to_be_bytes());
            octets[4..8].copy_from_slice(&u32::from(len).to_be_bytes());
            let _ = AvsRepr::parse(&octets);
        }
    }
}
