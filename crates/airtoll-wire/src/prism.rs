//! Prism monitoring header: takes the header in front of an 802.11 frame, gives rate, signal and
//! channel.
//!
//! Source: the wlan-ng and Host AP drivers' header as libpcap documents it for link type 119:
//! message code 0x44 (or 0x41), length, device name of 16 octets, then items of DID, status,
//! length and value in the byte order of the machine that wrote it.

use crate::{Error, Result};

const FORMAT: &str = "Prism header";

/// The fields of the header that airtoll reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PrismRepr {
    /// Octets of the header: the frame starts there.
    pub len: usize,
    /// Channel number.
    pub channel: Option<u32>,
    /// Signal: dBm where the driver wrote a negative number.
    pub signal_dbm: Option<i8>,
    /// Noise in dBm, in the same form.
    pub noise_dbm: Option<i8>,
    /// Rate in units of 500 kb/s.
    pub rate_500kbps: Option<u8>,
}

impl PrismRepr {
    /// Whether a capture of this link type starts with a Prism header at all; some hold AVS
    /// headers, or bare frames.
    pub fn recognises(octets: &[u8]) -> bool {
        Self::parse(octets).is_ok()
    }

    /// Reads the header.
    pub fn parse(octets: &[u8]) -> Result<Self> {
        let word = |at: usize| -> Result<[u8; 4]> {
            octets
                .get(at..at + 4)
                .and_then(|w| w.try_into().ok())
                .ok_or(Error::truncated(FORMAT, at + 4, octets.len()))
        };
        let code = word(0)?;
        let big = match (u32::from_le_bytes(code), u32::from_be_bytes(code)) {
            (0x41 | 0x44, _) => false,
            (_, 0x41 | 0x44) => true,
            _ => return Err(Error::malformed(FORMAT, "message code is not 0x41 or 0x44")),
        };
        let number = |w: [u8; 4]| {
            if big {
                u32::from_be_bytes(w)
            } else {
                u32::from_le_bytes(w)
            }
        };
        let half = |at: usize| {
            let two = [octets[at], octets[at + 1]];
            if big {
                u16::from_be_bytes(two)
            } else {
                u16::from_le_bytes(two)
            }
        };
        let len = number(word(4)?) as usize;
        if len < 24 {
            return Err(Error::malformed(FORMAT, "length is below 24"));
        }
        if octets.len() < len {
            return Err(Error::truncated(FORMAT, len, octets.len()));
        }
        let mut repr = Self {
            len,
            ..Self::default()
        };
        let mut at = 24;
        while at + 12 <= len {
            let did = number(word(at)?);
            let there = half(at + 4) == 0;
            let value = number(word(at + 8)?);
            at += 12;
            if !there {
                continue;
            }
            // DIDs of wlan-ng have the item in bits 12 and up (2 host time, 3 MAC time ...);
            // Atheros drivers number them 1 to 10 in the same bits.
            match did >> 12 & 15 {
                3 => repr.channel = Some(value),
                6 => repr.signal_dbm = dbm(value),
                7 => repr.noise_dbm = dbm(value),
                8 => repr.rate_500kbps = u8::try_from(value).ok(),
                _ => {}
            }
        }
        Ok(repr)
    }

    /// Appends a header of 144 octets with the ten items of wlan-ng, little-endian.
    pub fn emit(&self, frame_len: u32, out: &mut Vec<u8>) {
        out.extend_from_slice(&0x44u32.to_le_bytes());
        out.extend_from_slice(&144u32.to_le_bytes());
        out.extend_from_slice(b"wlan0\0\0\0\0\0\0\0\0\0\0\0");
        let signed = |value: Option<i8>| value.map(|dbm| i32::from(dbm) as u32);
        let items = [
            (1, Some(0)),
            (2, Some(0)),
            (3, self.channel),
            (4, None),
            (5, None),
            (6, signed(self.signal_dbm)),
            (7, signed(self.noise_dbm)),
            (8, self.rate_500kbps.map(u32::from)),
            (9, Some(0)),
            (10, Some(frame_len)),
        ];
        for (item, value) in items {
            let did: u32 = item << 12 | 0x44;
            out.extend_from_slice(&did.to_le_bytes());
            out.extend_from_slice(&u16::from(value.is_none()).to_le_bytes());
            out.extend_from_slice(&4u16.to_le_bytes());
            out.extend_from_slice(&value.unwrap_or(0).to_le_bytes());
        }
    }
}

fn dbm(value: u32) -> Option<i8> {
    let signed = value as i32;
    (-128..0).contains(&signed).then_some(signed as i8)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn round_trips(channel: Option<u32>, signal in proptest::option::of(-128i8..0), rate: Option<u8>, frame_len: u32) {
            let repr = PrismRepr { len: 144, channel, signal_dbm: signal, noise_dbm: None, rate_500kbps: rate };
            let mut octets = Vec::new();
            repr.emit(frame_len, &mut octets);
            prop_assert_eq!(octets.len(), 144);
            prop_assert_eq!(PrismRepr::parse(&octets), Ok(repr));
        }

        #[test]
        fn any_octets_are_refused_or_read(mut octets in proptest::collection::vec(any::<u8>(), 8..200), len in 0u8..200, big: bool) {
            let _ = PrismRepr::parse(&octets);
            let (code, size) = (0x44u32, u32::from(len));
            octets[..4].copy_from_slice(&if big { code.to_be_bytes() } else { code.to_le_bytes() });
            octets[4..8].copy_from_slice(&if big { size.to_be_bytes() } else { size.to_le_bytes() });
            let _ = PrismRepr::parse(&octets);
        }
    }
}
