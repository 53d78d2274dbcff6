//! The link ciphers: encapsulation and decapsulation of whole IEEE 802.11 frames.
//!
//! Takes frames from the Frame Control field on, without FCS; works on them in place. The octets
//! of the cipher's header and trailer are part of the buffer:
//!
//! ```text
//! | MAC header | cipher header | payload | MIC, ICV |
//! ```
//!
//! Encapsulation expects the payload at its offset and fills the rest; decapsulation says where the
//! payload is. On any error the payload is erased or was never decrypted. Never chooses a packet
//! number and never keeps replay state itself: see [`replay`].

pub mod bip;
pub mod ccmp;
pub mod gcmp;
pub mod michael;
pub mod mld;
pub mod mpdu;
#[cfg(test)]
mod properties;
pub mod replay;
pub mod tkip;
pub mod tkip_mixing;
pub mod wep;

use core::ops::Range;

use crate::error::CipherError;

/// Outcome of decapsulating a frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decapsulated {
    /// Where the plaintext is in the frame.
    pub payload: Range<usize>,
    /// PN or TSC; for WEP the 24-bit IV.
    pub packet_number: u64,
    /// Key ID, 0 to 3.
    pub key_id: u8,
    /// Which replay counter applies.
    pub counter: replay::Counter,
}

/// A frame to decapsulate in a batch.
#[derive(Debug)]
pub struct IncomingMpdu<'a> {
    /// The frame as received, without FCS.
    pub frame: &'a mut [u8],
    /// Outcome of the job.
    pub result: Result<Decapsulated, CipherError>,
}

impl<'a> IncomingMpdu<'a> {
    /// A frame not yet decapsulated.
    pub fn new(frame: &'a mut [u8]) -> Self {
        Self {
            frame,
            result: Err(CipherError::NotProtected),
        }
    }
}

/// Highest packet number: 48 bits.
pub const MAX_PACKET_NUMBER: u64 = (1 << 48) - 1;

/// The 8-octet header of CCMP and GCMP (IEEE 802.11-2020, 12.5.3.2): PN0, PN1, reserved, key ID
/// with ExtIV set, PN2 to PN5.
fn extended_header(packet_number: u64, key_id: u8) -> [u8; 8] {
    let pn = packet_number.to_le_bytes();
    [
        pn[0],
        pn[1],
        0,
        0x20 | key_id << 6,
        pn[2],
        pn[3],
        pn[4],
        pn[5],
    ]
}

/// Packet number and key ID of an 8-octet CCMP or GCMP header.
///
/// # Errors
/// ExtIV clear: a WEP header.
fn parse_extended_header(header: &[u8; 8]) -> Result<(u64, u8), CipherError> {
    if header[3] & 0x20 == 0 {
        return Err(CipherError::Malformed(
            "the ExtIV bit is clear: not a CCMP or GCMP header",
        ));
    }
    let pn = [
        header[0], header[1], header[4], header[5], header[6], header[7], 0, 0,
    ];
    Ok((u64::from_le_bytes(pn), header[3] >> 6))
}

fn check_packet_number(packet_number: u64, key_id: u8) -> Result<(), CipherError> {
    if packet_number > MAX_PACKET_NUMBER {
        return Err(CipherError::Exhausted);
    }
    if key_id > 3 {
        return Err(CipherError::Malformed("a key ID is 0 to 3"));
    }
    Ok(())
}
