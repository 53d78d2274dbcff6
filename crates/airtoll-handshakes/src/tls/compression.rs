//! Compression of certificates (RFC 8879).
//!
//! Takes octets; gives them as zlib (RFC 1950) packs them. Never gives more than was announced.

use std::io::Read;

use flate2::Compression;
use flate2::read::{ZlibDecoder, ZlibEncoder};

/// zlib's number (RFC 8879 section 7.3).
pub(super) const ZLIB: u16 = 1;

/// Packed octets.
pub(super) fn compress(octets: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let read = ZlibEncoder::new(octets, Compression::best()).read_to_end(&mut out);
    read.map_or_else(|_| octets.to_vec(), |_| out)
}

/// The octets before packing; `None` unless they are whole and as many as this.
pub(super) fn decompress(octets: &[u8], length: usize) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    let most = u64::try_from(length).ok()? + 1;
    ZlibDecoder::new(octets)
        .take(most)
        .read_to_end(&mut out)
        .ok()?;
    (out.len() == length).then_some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packed_octets_come_back_and_a_wrong_length_is_refused() {
        let octets = b"radius.example.org".repeat(9);
        let packed = compress(&octets);
        assert!(packed.len() < octets.len());
        assert_eq!(decompress(&packed, octets.len()), Some(octets.clone()));
        assert_eq!(decompress(&packed, octets.len() - 1), None);
        assert_eq!(decompress(&packed[..9], octets.len()), None);
    }
}
