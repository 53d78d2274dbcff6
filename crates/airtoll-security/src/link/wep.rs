//! WEP (IEEE 802.11-2020, 12.3.2).
//!
//! Takes a 40-bit or 104-bit key and MPDUs laid out as [`super`] says; encapsulates and
//! decapsulates them in place. Never protects anything: the CRC-32 is linear,
//! so anyone can change a frame and mend its ICV, and a test here does just that.

use core::ops::Range;

use zeroize::{Zeroize, ZeroizeOnDrop};

use super::Decapsulated;
use super::mpdu::{Header, set_protected};
use crate::error::{CipherError, KeyError};
use crate::rc4::Rc4;
use crate::suite::CipherSuite;

/// Octets of IV field: IV 3, key ID 1.
pub const HEADER: usize = 4;
/// Octets of ICV.
pub const ICV: usize = 4;
/// Highest IV: 24 bits.
pub const MAX_IV: u64 = (1 << 24) - 1;

/// A WEP-40 (5 octets) or WEP-104 (13 octets) key.
#[derive(Clone, Zeroize, ZeroizeOnDrop)]
pub struct WepKey {
    key: [u8; 13],
    #[zeroize(skip)]
    length: usize,
}

impl WepKey {
    /// Takes a key of 5 or 13 octets.
    ///
    /// # Errors
    /// Another length.
    pub fn new(key: &[u8]) -> Result<Self, KeyError> {
        if !matches!(key.len(), 5 | 13) {
            return Err(KeyError::Length {
                what: "WEP",
                expected: if key.len() > 5 { 13 } else { 5 },
                got: key.len(),
            });
        }
        let mut padded = [0; 13];
        padded[..key.len()].copy_from_slice(key);
        Ok(Self {
            key: padded,
            length: key.len(),
        })
    }

    /// The suite.
    #[must_use]
    pub const fn suite(&self) -> CipherSuite {
        if self.length == 5 {
            CipherSuite::Wep40
        } else {
            CipherSuite::Wep104
        }
    }

    /// Encapsulates an MPDU in place: sets the Protected Frame bit, fills IV and key ID, writes
    /// the ICV, encrypts. The IV's most significant octet travels first.
    ///
    /// # Errors
    /// A frame too short, neither data nor authentication frame, an IV above 24 bits or a key ID
    /// above 3; the frame is then unchanged.
    pub fn encapsulate(&self, frame: &mut [u8], iv: u64, key_id: u8) -> Result<(), CipherError> {
        let start = Self::begin(frame, iv, key_id)?;
        let (seed, length) = self.seed(iv);
        Rc4::new(&seed[..length]).apply(&mut frame[start..]);
        Ok(())
    }

    /// Decapsulates an MPDU in place.
    ///
    /// # Errors
    /// A frame too short or not protected, a TKIP or CCMP header, or a wrong ICV; in the last case
    /// the payload is erased.
    pub fn decapsulate(&self, frame: &mut [u8]) -> Result<Decapsulated, CipherError> {
        let found = Self::incoming(frame)?;
        let (seed, length) = self.seed(found.packet_number);
        Rc4::new(&seed[..length]).apply(&mut frame[found.payload.start..]);
        Self::check(frame, &found)?;
        Ok(found)
    }

    /// RC4 key: IV, then the WEP key; and how many octets of it count.
    fn seed(&self, iv: u64) -> ([u8; 16], usize) {
        let mut seed = [0; 16];
        seed[..3].copy_from_slice(&iv.to_be_bytes()[5..]);
        seed[3..].copy_from_slice(&self.key);
        (seed, 3 + self.length)
    }

    /// Checks a frame to send, writes IV field and ICV, and says where encryption starts.
    fn begin(frame: &mut [u8], iv: u64, key_id: u8) -> Result<usize, CipherError> {
        if iv > MAX_IV {
            return Err(CipherError::Exhausted);
        }
        if key_id > 3 {
            return Err(CipherError::Malformed("a key ID is 0 to 3"));
        }
        let header = Header::parse(frame)?;
        let Range { start, end } = Self::payload(&header, frame)?;
        set_protected(frame);
        frame[header.length()..start - 1].copy_from_slice(&iv.to_be_bytes()[5..]);
        frame[start - 1] = key_id << 6;
        let icv = crc32fast::hash(&frame[start..end]);
        frame[end..].copy_from_slice(&icv.to_le_bytes());
        Ok(start)
    }

    fn incoming(frame: &[u8]) -> Result<Decapsulated, CipherError> {
        let header = Header::parse(frame)?;
        if !header.is_protected() {
            return Err(CipherError::NotProtected);
        }
        let Range { start, end } = Self::payload(&header, frame)?;
        let field = &frame[header.length()..start];
        if field[3] & 0x20 != 0 {
            return Err(CipherError::Malformed(
                "the ExtIV bit is set: not a WEP header",
            ));
        }
        Ok(Decapsulated {
            payload: start..end,
            packet_number: u64::from_be_bytes([0, 0, 0, 0, 0, field[0], field[1], field[2]]),
            key_id: field[3] >> 6,
            counter: header.counter(),
        })
    }

    /// Where the payload starts and ends. Of management frames WEP protects the third frame of
    /// Shared Key authentication only (12.3.3.3).
    fn payload(header: &Header, frame: &[u8]) -> Result<Range<usize>, CipherError> {
        if header.is_management() && frame[0] != 0xb0 {
            return Err(CipherError::Malformed(
                "WEP protects data and authentication frames only",
            ));
        }
        let start = header.length() + HEADER;
        match frame.len().checked_sub(ICV) {
            Some(end) if end >= start => Ok(start..end),
            _ => Err(CipherError::TooShort {
                needed: start + ICV,
                got: frame.len(),
            }),
        }
    }

    fn check(frame: &mut [u8], found: &Decapsulated) -> Result<(), CipherError> {
        let icv = crc32fast::hash(&frame[found.payload.clone()]).to_le_bytes();
        if icv != frame[found.payload.end..] {
            frame[found.payload.start..].zeroize();
            return Err(CipherError::Integrity);
        }
        Ok(())
    }
}

impl core::fmt::Debug for WepKey {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "WepKey({})", self.suite().name())
    }
}
