//! The Internet checksum: takes octets in pieces, gives the 16-bit sum.
//!
//! Source: RFC 1071, with the pseudo-headers of RFC 9293 section 3.1 and RFC 8200 section 8.1.

use core::net::IpAddr;

/// A running one's complement sum. Pieces but the last must have an even number of octets.
#[derive(Debug, Clone, Copy, Default)]
pub struct Checksum(u64);

impl Checksum {
    /// Adds octets, an odd last one padded with zero.
    pub fn add(&mut self, octets: &[u8]) {
        let (pairs, last) = octets.as_chunks::<2>();
        for pair in pairs {
            self.0 += u64::from(u16::from_be_bytes(*pair));
        }
        if let [odd] = last {
            self.0 += u64::from(*odd) << 8;
        }
    }

    /// Adds the pseudo-header of a transport segment of `len` octets.
    pub fn add_pseudo_header(
        &mut self,
        source: IpAddr,
        destination: IpAddr,
        protocol: u8,
        len: u32,
    ) {
        for address in [source, destination] {
            match address {
                IpAddr::V4(address) => self.add(&address.octets()),
                IpAddr::V6(address) => self.add(&address.octets()),
            }
        }
        self.add(&len.to_be_bytes());
        self.add(&[0, protocol]);
    }

    /// The checksum to write; 0 if the summed octets contained a right checksum.
    pub fn finish(self) -> u16 {
        let mut sum = self.0;
        while sum >> 16 != 0 {
            sum = (sum & 0xffff) + (sum >> 16);
        }
        !(sum as u16)
    }
}

/// The checksum of a transport segment under its pseudo-header.
pub fn transport(source: IpAddr, destination: IpAddr, protocol: u8, segment: &[u8]) -> u16 {
    let mut sum = Checksum::default();
    sum.add_pseudo_header(source, destination, protocol, segment.len() as u32);
    sum.add(segment);
    sum.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn example_of_rfc_1071() {
        let mut sum = Checksum::default();
        sum.add(&[0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7]);
        assert_eq!(sum.finish(), !0xddf2);
    }

    proptest! {
        #[test]
        fn a_written_checksum_sums_to_zero(mut octets in proptest::collection::vec(any::<u8>(), 2..64)) {
            octets.truncate(octets.len() / 2 * 2);
            octets[..2].fill(0);
            let mut sum = Checksum::default();
            sum.add(&octets);
            let written = sum.finish();
            octets[..2].copy_from_slice(&written.to_be_bytes());
            let mut check = Checksum::default();
            check.add(&octets);
            prop_assert_eq!(check.finish(), 0);
        }
    }
}
