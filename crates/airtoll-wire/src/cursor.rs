//! A reading position in octets: takes a slice, gives integers and sub-slices in order.
//!
//! Every step is checked against the length; never panics and never allocates.

use crate::error::{Error, Result};

/// Reads a slice from front to back; `format` names what is being read in errors.
#[derive(Debug, Clone)]
pub struct Cursor<'a> {
    format: &'static str,
    octets: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    /// Starts at the first octet.
    pub const fn new(format: &'static str, octets: &'a [u8]) -> Self {
        Self {
            format,
            octets,
            at: 0,
        }
    }

    /// Octets already read.
    pub const fn position(&self) -> usize {
        self.at
    }

    /// Octets not yet read.
    pub const fn remaining(&self) -> usize {
        self.octets.len() - self.at
    }

    /// All octets not yet read; leaves none.
    pub fn rest(&mut self) -> &'a [u8] {
        let rest = &self.octets[self.at..];
        self.at = self.octets.len();
        rest
    }

    /// The next `len` octets.
    pub fn take(&mut self, len: usize) -> Result<&'a [u8]> {
        let end = self.at.checked_add(len);
        let taken = end.and_then(|end| self.octets.get(self.at..end));
        match taken {
            Some(taken) => {
                self.at += len;
                Ok(taken)
            }
            None => Err(Error::truncated(
                self.format,
                self.at.saturating_add(len),
                self.octets.len(),
            )),
        }
    }

    /// The next `N` octets as an array.
    pub fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let mut array = [0; N];
        array.copy_from_slice(self.take(N)?);
        Ok(array)
    }

    /// One octet.
    pub fn u8(&mut self) -> Result<u8> {
        Ok(self.take(1)?[0])
    }

    /// Two octets, least significant first (802.11).
    pub fn u16_le(&mut self) -> Result<u16> {
        Ok(u16::from_le_bytes(self.array()?))
    }

    /// Two octets, most significant first (network order).
    pub fn u16_be(&mut self) -> Result<u16> {
        Ok(u16::from_be_bytes(self.array()?))
    }

    /// Four octets, least significant first.
    pub fn u32_le(&mut self) -> Result<u32> {
        Ok(u32::from_le_bytes(self.array()?))
    }

    /// Four octets, most significant first.
    pub fn u32_be(&mut self) -> Result<u32> {
        Ok(u32::from_be_bytes(self.array()?))
    }

    /// Eight octets, least significant first.
    pub fn u64_le(&mut self) -> Result<u64> {
        Ok(u64::from_le_bytes(self.array()?))
    }

    /// Eight octets, most significant first.
    pub fn u64_be(&mut self) -> Result<u64> {
        Ok(u64::from_be_bytes(self.array()?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn reads_both_orders() {
        let mut cursor = Cursor::new("test", &[1, 2, 1, 2]);
        assert_eq!(cursor.u16_le(), Ok(0x0201));
        assert_eq!(cursor.u16_be(), Ok(0x0102));
        assert_eq!(cursor.u8(), Err(Error::truncated("test", 5, 4)));
    }

    proptest! {
        #[test]
        fn a_refused_step_moves_nothing(octets in proptest::collection::vec(any::<u8>(), 0..32), len in 0usize..64) {
            let mut cursor = Cursor::new("test", &octets);
            let before = cursor.remaining();
            match cursor.take(len) {
                Ok(taken) => prop_assert_eq!(cursor.remaining() + taken.len(), before),
                Err(_) => prop_assert_eq!(cursor.remaining(), before),
            }
        }
    }
}
