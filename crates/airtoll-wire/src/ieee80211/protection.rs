//! Security headers of protected MPDUs: takes the start of the body, gives packet number and
//! key identifier.
//!
//! Source: IEEE 802.11-2020 figures 12-1 (WEP), 12-7 (TKIP), 12-16 (CCMP), 12-24 (GCMP). WEP has
//! four octets; the others eight, told by the Ext IV bit. Never decrypts.

use crate::{Error, Result};

const FORMAT: &str = "802.11 security header";
const EXT_IV: u8 = 0x20;

/// Security header by kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protection {
    /// WEP: initialisation vector and key identifier.
    Wep {
        /// IV in the order of its octets.
        iv: [u8; 3],
        /// Key identifier, below 4.
        key_id: u8,
    },
    /// TKIP: sequence counter.
    Tkip {
        /// TSC, below 2^48.
        tsc: u64,
        /// Key identifier, below 4.
        key_id: u8,
    },
    /// CCMP or GCMP (the same octets).
    Aes {
        /// Packet number, below 2^48.
        pn: u64,
        /// Key identifier, below 4.
        key_id: u8,
    },
}

impl Protection {
    /// Reads the header. With Ext IV set, TKIP is recognised by its WEP seed octet, which is
    /// `(TSC1 | 0x20) & 0x7f`; where CCMP happens to have such a packet number, `prefer_tkip`
    /// (what the BSS negotiated) decides.
    pub fn parse(body: &[u8], prefer_tkip: bool) -> Result<Self> {
        let four = body
            .first_chunk::<4>()
            .ok_or(Error::truncated(FORMAT, 4, body.len()))?;
        let key_id = four[3] >> 6;
        if four[3] & EXT_IV == 0 {
            return Ok(Self::Wep {
                iv: [four[0], four[1], four[2]],
                key_id,
            });
        }
        let h = body
            .first_chunk::<8>()
            .ok_or(Error::truncated(FORMAT, 8, body.len()))?;
        let high = |low: u16| {
            u64::from(low) | u64::from(u32::from_le_bytes([h[4], h[5], h[6], h[7]])) << 16
        };
        let seeded = h[1] == (h[0] | 0x20) & 0x7f;
        if seeded && (prefer_tkip || h[2] != 0) {
            return Ok(Self::Tkip {
                tsc: high(u16::from_le_bytes([h[2], h[0]])),
                key_id,
            });
        }
        Ok(Self::Aes {
            pn: high(u16::from_le_bytes([h[0], h[1]])),
            key_id,
        })
    }

    /// Key identifier, below 4.
    pub const fn key_id(&self) -> u8 {
        match *self {
            Self::Wep { key_id, .. } | Self::Tkip { key_id, .. } | Self::Aes { key_id, .. } => {
                key_id
            }
        }
    }

    /// Packet number or sequence counter; WEP has none.
    pub const fn packet_number(&self) -> Option<u64> {
        match *self {
            Self::Wep { .. } => None,
            Self::Tkip { tsc, .. } => Some(tsc),
            Self::Aes { pn, .. } => Some(pn),
        }
    }

    /// Octets that [`Protection::emit`] writes.
    pub const fn buffer_len(&self) -> usize {
        match self {
            Self::Wep { .. } => 4,
            _ => 8,
        }
    }

    /// Appends the header.
    pub fn emit(&self, out: &mut Vec<u8>) {
        match *self {
            Self::Wep { iv, key_id } => {
                out.extend_from_slice(&iv);
                out.push(key_id << 6);
            }
            Self::Tkip { tsc, key_id } => {
                let t = tsc.to_le_bytes();
                out.extend_from_slice(&[t[1], (t[1] | 0x20) & 0x7f, t[0], key_id << 6 | EXT_IV]);
                out.extend_from_slice(&t[2..6]);
            }
            Self::Aes { pn, key_id } => {
                let p = pn.to_le_bytes();
                out.extend_from_slice(&[p[0], p[1], 0, key_id << 6 | EXT_IV]);
                out.extend_from_slice(&p[2..6]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn round_trips(number in 0u64..1 << 48, iv: [u8; 3], key_id in 0u8..4) {
            for (repr, tkip) in [
                (Protection::Wep { iv, key_id }, false),
                (Protection::Tkip { tsc: number, key_id }, true),
                (Protection::Aes { pn: number, key_id }, false),
            ] {
                let mut octets = Vec::new();
                repr.emit(&mut octets);
                prop_assert_eq!(octets.len(), repr.buffer_len());
                prop_assert_eq!(Protection::parse(&octets, tkip), Ok(repr));
            }
        }

        #[test]
        fn any_octets_are_refused_or_read(body in proptest::collection::vec(any::<u8>(), 0..16), tkip: bool) {
            let _ = Protection::parse(&body, tkip).map(|p| (p.key_id(), p.packet_number()));
        }
    }
}
