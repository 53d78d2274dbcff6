//! CAPWAP data channel: takes a datagram between an access point and its controller, gives the radio
//! fields and the frame inside.
//!
//! Source: RFC 5415 section 4.3 (header), RFC 5416 section 6.5 (wireless information of received
//! 802.11 frames), section 6.1 (native frames have no FCS). DTLS and fragments are refused.

use crate::{Error, Result};

const FORMAT: &str = "CAPWAP";

/// UDP port of the data channel.
pub const PORT: u16 = 5_247;
/// Octets of the fixed part of the header.
pub const LEN: usize = 8;
/// Wireless binding of 802.11.
const IEEE802_11: u32 = 1;

/// A frame in the data channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CapwapView<'a> {
    /// The frame is an 802.11 frame; otherwise Ethernet.
    pub native: bool,
    /// Signal in dBm of a received frame.
    pub signal_dbm: Option<i8>,
    /// Rate of a received frame in units of 100 kb/s.
    pub rate_100kbps: Option<u16>,
    /// The frame.
    pub frame: &'a [u8],
}

impl<'a> CapwapView<'a> {
    /// Reads a datagram of the data channel.
    ///
    /// # Errors
    /// [`Error`] on DTLS, a fragment, another wireless binding, a keep-alive, or a header that is cut
    /// short.
    pub fn new(octets: &'a [u8]) -> Result<Self> {
        let head =
            octets
                .first_chunk::<LEN>()
                .ok_or(Error::truncated(FORMAT, LEN, octets.len()))?;
        if head[0] != 0 {
            return Err(Error::malformed(
                FORMAT,
                "the preamble is not that of data in clear",
            ));
        }
        let bits = u32::from_be_bytes([0, head[1], head[2], head[3]]);
        let header_len = (bits >> 19) as usize * 4;
        let binding = bits >> 9 & 31;
        let [native, fragment, wireless, radio_mac, keep_alive] =
            [0x100, 0x80, 0x20, 0x10, 8].map(|bit| bits & bit != 0);
        if fragment || keep_alive {
            return Err(Error::malformed(FORMAT, "a fragment or a keep-alive"));
        }
        if native && binding != IEEE802_11 {
            return Err(Error::malformed(FORMAT, "a binding other than 802.11"));
        }
        if header_len < LEN || octets.len() < header_len {
            return Err(Error::truncated(FORMAT, header_len.max(LEN), octets.len()));
        }
        let mut options = &octets[LEN..header_len];
        if radio_mac && let Some(len) = options.first() {
            let len = (1 + usize::from(*len)).next_multiple_of(4);
            options = options.get(len..).unwrap_or(&[]);
        }
        let (mut signal_dbm, mut rate_100kbps) = (None, None);
        if wireless
            && let [len, signal, _, high, low, ..] = options
            && *len >= 4
        {
            let rate = u16::from_be_bytes([*high, *low]);
            signal_dbm = Some(*signal as i8).filter(|signal| *signal < 0);
            rate_100kbps = Some(rate).filter(|rate| *rate != 0);
        }
        Ok(Self {
            native,
            signal_dbm,
            rate_100kbps,
            frame: &octets[header_len..],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_native_frame_with_wireless_information() {
        // HLEN 4, RID 1, WBID 1, T and W; information of 4 octets: -40 dBm, SNR 30, 54 Mb/s.
        let octets = [
            0, 0x20, 0x43, 0x20, 0, 0, 0, 0, 4, 0xd8, 30, 2, 0x1c, 0, 0, 0, 8, 1,
        ];
        let view = CapwapView::new(&octets).unwrap();
        assert!(view.native);
        assert_eq!((view.signal_dbm, view.rate_100kbps), (Some(-40), Some(540)));
        assert_eq!(view.frame, [8, 1]);
    }

    #[test]
    fn dtls_fragments_and_keep_alives_are_refused() {
        for octets in [
            [1, 0, 0, 0, 0x17, 0xfe, 0xff, 0],
            [0, 0x10, 0x43, 0x80, 0, 0, 0, 0],
            [0, 0x10, 0x42, 8, 0, 0, 0, 0],
        ] {
            assert!(CapwapView::new(&octets).is_err());
        }
    }

    proptest! {
        #[test]
        fn any_octets_are_refused_or_read(mut octets in proptest::collection::vec(any::<u8>(), 0..60), ours: bool) {
            if ours && let Some(first) = octets.first_mut() {
                *first = 0;
            }
            let _ = CapwapView::new(&octets);
        }
    }
}
