//! IP Authentication Header: takes its octets, gives the protocol and the octets behind it.
//!
//! Source: RFC 4302 section 2: next header, length in words of four octets minus two, reserved, SPI,
//! sequence number, ICV. Never checks the ICV.

use crate::{Error, Result};

const FORMAT: &str = "AH";

/// IP protocol number.
pub const PROTOCOL: u8 = 51;
/// Octets before the ICV.
pub const LEN: usize = 12;

/// The octets behind the header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AhView<'a> {
    /// IP protocol of the payload.
    pub protocol: u8,
    /// Octets of the header with its ICV.
    pub header_len: usize,
    /// The octets behind the header.
    pub payload: &'a [u8],
}

impl<'a> AhView<'a> {
    /// Reads the header.
    ///
    /// # Errors
    /// [`Error`] on fewer octets than its length says, or a length below its fixed fields.
    pub fn new(octets: &'a [u8]) -> Result<Self> {
        let fixed =
            octets
                .first_chunk::<LEN>()
                .ok_or(Error::truncated(FORMAT, LEN, octets.len()))?;
        let header_len = (usize::from(fixed[1]) + 2) * 4;
        if header_len < LEN {
            return Err(Error::malformed(FORMAT, "length is below 12 octets"));
        }
        let payload =
            octets
                .get(header_len..)
                .ok_or(Error::truncated(FORMAT, header_len, octets.len()))?;
        Ok(Self {
            protocol: fixed[0],
            header_len,
            payload,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_payload_follows_the_icv() {
        // HMAC-SHA-1-96 in front of ESP: 24 octets.
        let mut octets = vec![50, 4, 0, 0, 0, 0, 1, 0, 0, 0, 0, 7];
        octets.extend([9; 12]);
        octets.extend([1, 2, 3]);
        let view = AhView::new(&octets).unwrap();
        assert_eq!((view.protocol, view.header_len), (50, 24));
        assert_eq!(view.payload, [1, 2, 3]);
    }

    proptest! {
        #[test]
        fn any_octets_are_refused_or_read(octets in proptest::collection::vec(any::<u8>(), 0..60)) {
            if let Ok(view) = AhView::new(&octets) {
                prop_assert_eq!(view.header_len + view.payload.len(), octets.len());
            }
        }
    }
}
