//! The Encapsulating Security Payload (RFC 4303): header and trailer arithmetic.
//!
//! Takes octets; gives [`EspView`] and [`EspHeader`], and octets back. Never encrypts.

use crate::{Cursor, Error, Result};

/// Octets of SPI and sequence number (RFC 4303 section 2).
pub const HEADER_OCTETS: usize = 8;
/// Octets of pad length and next header, inside the ciphertext.
pub const TRAILER_OCTETS: usize = 2;
/// IP protocol number.
pub const PROTOCOL: u8 = 50;

/// A checked packet over its octets.
#[derive(Debug, Clone, Copy)]
pub struct EspView<'a> {
    octets: &'a [u8],
}

impl<'a> EspView<'a> {
    /// Checks that the header is there.
    ///
    /// # Errors
    /// [`Error`] when cut short, or the SPI is 0, which never travels (section 2.1).
    pub fn new(octets: &'a [u8]) -> Result<Self> {
        let mut cursor = Cursor::new("ESP", octets);
        let spi = cursor.u32_be()?;
        cursor.u32_be()?;
        if spi == 0 {
            return Err(Error::malformed("ESP", "SPI is 0"));
        }
        Ok(Self { octets })
    }

    /// Security parameters index and sequence number.
    #[must_use]
    pub fn header(&self) -> EspHeader {
        let [a, b, c, d, e, f, g, h, ..] = *self.octets else {
            return EspHeader {
                spi: 0,
                sequence: 0,
            };
        };
        EspHeader {
            spi: u32::from_be_bytes([a, b, c, d]),
            sequence: u32::from_be_bytes([e, f, g, h]),
        }
    }

    /// IV, ciphertext and ICV.
    #[must_use]
    pub fn payload(&self) -> &'a [u8] {
        &self.octets[HEADER_OCTETS..]
    }
}

/// Security parameters index and sequence number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EspHeader {
    /// Security parameters index, not 0.
    pub spi: u32,
    /// Low 32 bits of the sequence number.
    pub sequence: u32,
}

impl EspHeader {
    /// Appends the header.
    pub fn emit(&self, out: &mut Vec<u8>) {
        out.extend(self.spi.to_be_bytes());
        out.extend(self.sequence.to_be_bytes());
    }
}

/// Padding octets that bring `payload` octets and the trailer to a multiple of `block`,
/// which is raised to 4 (RFC 4303 section 2.4).
#[must_use]
pub const fn padding_octets(payload: usize, block: usize) -> usize {
    let block = if block < 4 { 4 } else { block };
    (block - (payload + TRAILER_OCTETS) % block) % block
}

/// Appends padding 1, 2, 3 ..., pad length and next header (section 2.4, default scheme).
pub fn emit_trailer(payload: usize, block: usize, next_header: u8, out: &mut Vec<u8>) {
    let padding = u8::try_from(padding_octets(payload, block)).unwrap_or(u8::MAX);
    out.extend(1..=padding);
    out.extend([padding, next_header]);
}

/// Splits decrypted octets into payload and next header, checking the default padding.
///
/// # Errors
/// [`Error`] when cut short or the padding is not 1, 2, 3 ...
pub fn split_trailer(plaintext: &[u8]) -> Result<(&[u8], u8)> {
    let [before @ .., padding, next_header] = plaintext else {
        return Err(Error::truncated("ESP trailer", 2, plaintext.len()));
    };
    let at = before
        .len()
        .checked_sub(usize::from(*padding))
        .ok_or(Error::malformed(
            "ESP trailer",
            "padding exceeds the packet",
        ))?;
    let (payload, pad) = before.split_at(at);
    if !pad.iter().copied().eq(1..=*padding) {
        return Err(Error::malformed("ESP trailer", "padding is not 1, 2, 3"));
    }
    Ok((payload, *next_header))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn headers_round_trip(spi in 1_u32.., sequence: u32, payload in prop::collection::vec(any::<u8>(), 0..40)) {
            let header = EspHeader { spi, sequence };
            let mut octets = Vec::new();
            header.emit(&mut octets);
            octets.extend(&payload);
            let view = EspView::new(&octets).unwrap();
            prop_assert_eq!(view.header(), header);
            prop_assert_eq!(view.payload(), &payload[..]);
        }

        #[test]
        fn trailers_round_trip(payload in prop::collection::vec(any::<u8>(), 0..99), block in prop::sample::select(vec![1, 4, 8, 16]), next: u8) {
            let mut octets = payload.clone();
            emit_trailer(payload.len(), block, next, &mut octets);
            prop_assert_eq!(octets.len() % block.max(4), 0);
            prop_assert_eq!(split_trailer(&octets), Ok((&payload[..], next)));
        }

        #[test]
        fn no_octets_panic(octets in prop::collection::vec(any::<u8>(), 0..40)) {
            let _ = EspView::new(&octets);
            let _ = split_trailer(&octets);
        }
    }

    #[test]
    fn an_spi_of_zero_is_refused() {
        assert!(EspView::new(&[0; 8]).is_err());
    }
}
