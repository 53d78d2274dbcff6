//! TZSP (TaZmen Sniffer Protocol): takes a datagram of a remote sniffer, gives the radio fields and the
//! frame inside.
//!
//! Source: the protocol's public description as Wireshark implements it: version 1, type, encapsulated
//! protocol, tags (0 pads, 1 ends the list, others have a length), then the frame. Never reads the
//! frame.

use crate::{Cursor, Error, Result};

const FORMAT: &str = "TZSP";

/// UDP port.
pub const PORT: u16 = 37_008;

/// Encapsulated protocols.
pub mod encapsulation {
    /// Ethernet.
    pub const ETHERNET: u16 = 1;
    /// Bare 802.11.
    pub const IEEE802_11: u16 = 18;
    /// Prism header, then 802.11.
    pub const PRISM: u16 = 119;
    /// AVS header, then 802.11.
    pub const AVS: u16 = 127;
}

/// A sniffed frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TzspRepr<'a> {
    /// See [`encapsulation`].
    pub encapsulation: u16,
    /// Signal in dBm.
    pub signal_dbm: Option<i8>,
    /// Rate in units of 500 kb/s.
    pub rate_500kbps: Option<u8>,
    /// Channel number.
    pub channel: Option<u8>,
    /// The FCS was wrong.
    pub bad_fcs: bool,
    /// Octets of the frame before the sniffer cut it.
    pub original: Option<u16>,
    /// The frame.
    pub frame: &'a [u8],
}

impl<'a> TzspRepr<'a> {
    /// Reads a datagram.
    ///
    /// # Errors
    /// [`Error`] on another version, a message without a frame (keepalive, port opener), or a list of
    /// tags without an end.
    pub fn parse(octets: &'a [u8]) -> Result<Self> {
        let mut cursor = Cursor::new(FORMAT, octets);
        if cursor.u8()? != 1 {
            return Err(Error::malformed(FORMAT, "version is not 1"));
        }
        if cursor.u8()? > 1 {
            return Err(Error::malformed(FORMAT, "no frame is in it"));
        }
        let mut repr = Self {
            encapsulation: cursor.u16_be()?,
            ..Self::default()
        };
        loop {
            match cursor.u8()? {
                0 => {}
                1 => break,
                tag => {
                    let len = cursor.u8()?;
                    let value = cursor.take(usize::from(len))?;
                    repr.take(tag, value);
                }
            }
        }
        repr.frame = cursor.rest();
        Ok(repr)
    }

    fn take(&mut self, tag: u8, value: &[u8]) {
        match (tag, value) {
            (10, [signal]) => self.signal_dbm = Some(*signal as i8),
            (12, [rate]) => {
                // Old Prism radios wrote 100 kb/s.
                self.rate_500kbps = Some(match rate {
                    0x0a => 2,
                    0x14 => 4,
                    0x37 => 11,
                    0x6e => 22,
                    other => *other,
                });
            }
            (17, [wrong]) => self.bad_fcs = *wrong != 0,
            (18, [channel]) => self.channel = Some(*channel),
            (41, [high, low]) => self.original = Some(u16::from_be_bytes([*high, *low])),
            _ => {}
        }
    }

    /// Appends the datagram, with the tags that are known.
    pub fn emit(&self, out: &mut Vec<u8>) {
        out.extend([1, 0]);
        out.extend(self.encapsulation.to_be_bytes());
        let mut tag = |number: u8, value: &[u8]| {
            out.extend([number, value.len() as u8]);
            out.extend(value);
        };
        if let Some(signal) = self.signal_dbm {
            tag(10, &[signal as u8]);
        }
        if let Some(rate) = self.rate_500kbps {
            tag(12, &[rate]);
        }
        if self.bad_fcs {
            tag(17, &[1]);
        }
        if let Some(channel) = self.channel {
            tag(18, &[channel]);
        }
        if let Some(original) = self.original {
            tag(41, &original.to_be_bytes());
        }
        out.push(1);
        out.extend(self.frame);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn round_trips(
            encapsulation: u16,
            signal in proptest::option::of(any::<i8>()),
            rate in proptest::option::of(prop::sample::select(vec![2u8, 4, 11, 12, 108])),
            channel in proptest::option::of(any::<u8>()),
            original in proptest::option::of(any::<u16>()),
            bad_fcs: bool,
            frame in proptest::collection::vec(any::<u8>(), 0..40),
        ) {
            let repr = TzspRepr {
                encapsulation, signal_dbm: signal, rate_500kbps: rate, channel, bad_fcs, original,
                frame: &frame,
            };
            let mut octets = Vec::new();
            repr.emit(&mut octets);
            prop_assert_eq!(TzspRepr::parse(&octets), Ok(repr));
        }

        #[test]
        fn any_octets_are_refused_or_read(octets in proptest::collection::vec(any::<u8>(), 0..60)) {
            let _ = TzspRepr::parse(&octets);
        }
    }

    #[test]
    fn keepalives_hold_no_frame() {
        assert!(TzspRepr::parse(&[1, 4, 0, 18, 1]).is_err());
    }
}
