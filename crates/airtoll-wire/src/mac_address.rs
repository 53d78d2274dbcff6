//! The 48-bit MAC address: takes six octets or text, gives comparison, flags and text.
//!
//! Source: IEEE 802-2014 clause 8.2. Never looks up vendors.

use core::fmt;
use core::str::FromStr;

use crate::error::{Error, Result};

/// A 48-bit MAC address in the order in which it is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct MacAddress(pub [u8; 6]);

impl MacAddress {
    /// ff:ff:ff:ff:ff:ff.
    pub const BROADCAST: Self = Self([0xff; 6]);
    /// 00:00:00:00:00:00.
    pub const ZERO: Self = Self([0; 6]);

    /// The first six octets, if there are six.
    pub fn from_slice(octets: &[u8]) -> Result<Self> {
        match octets.first_chunk::<6>() {
            Some(six) => Ok(Self(*six)),
            None => Err(Error::truncated("MAC address", 6, octets.len())),
        }
    }

    /// Group bit (multicast or broadcast).
    pub const fn is_group(self) -> bool {
        self.0[0] & 1 == 1
    }

    /// All ones.
    pub fn is_broadcast(self) -> bool {
        self == Self::BROADCAST
    }

    /// Locally administered bit.
    pub const fn is_local(self) -> bool {
        self.0[0] & 2 == 2
    }

    /// The six octets.
    pub const fn octets(&self) -> &[u8; 6] {
        &self.0
    }

    /// As an integer below 2^48, first octet most significant (a cheap map key).
    pub const fn to_u64(self) -> u64 {
        let o = self.0;
        u64::from_be_bytes([0, 0, o[0], o[1], o[2], o[3], o[4], o[5]])
    }
}

impl fmt::Display for MacAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let o = &self.0;
        write!(
            f,
            "{:02x}:{:02x}:{:02x}:{:02x}:{:02x}:{:02x}",
            o[0], o[1], o[2], o[3], o[4], o[5]
        )
    }
}

impl FromStr for MacAddress {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let wrong = Error::malformed("MAC address", "is not six hexadecimal octets");
        let mut octets = [0; 6];
        let mut parts = text.split([':', '-']);
        for octet in &mut octets {
            let part = parts.next().ok_or(wrong)?;
            if part.is_empty() || part.len() > 2 {
                return Err(wrong);
            }
            *octet = u8::from_str_radix(part, 16).map_err(|_| wrong)?;
        }
        match parts.next() {
            None => Ok(Self(octets)),
            Some(_) => Err(wrong),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn text_round_trips(octets: [u8; 6]) {
            let address = MacAddress(octets);
            prop_assert_eq!(address.to_string().parse(), Ok(address));
        }

        #[test]
        fn any_text_is_refused_or_read(text in ".{0,24}") {
            let _ = text.parse::<MacAddress>();
        }
    }

    #[test]
    fn flags() {
        assert!(MacAddress::BROADCAST.is_group());
        assert!(MacAddress([2, 0, 0, 0, 0, 1]).is_local());
        assert_eq!(MacAddress([0, 0, 0, 0, 1, 2]).to_u64(), 0x0102);
        assert!("1:2:3:4:5".parse::<MacAddress>().is_err());
    }
}
