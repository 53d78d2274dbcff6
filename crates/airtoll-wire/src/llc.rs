//! LLC with SNAP: takes an 802.11 MSDU, gives the EtherType and the payload.
//!
//! Source: IEEE 802-2014 clause 9 and RFC 1042: DSAP AA, SSAP AA, control 03, OUI, type. Never
//! reads other LLC types.

use crate::{Error, Result};

const FORMAT: &str = "LLC/SNAP";

/// Octets of LLC and SNAP.
pub const LEN: usize = 8;

/// EtherTypes that airtoll reads.
pub mod ethertype {
    /// IPv4.
    pub const IPV4: u16 = 0x0800;
    /// ARP.
    pub const ARP: u16 = 0x0806;
    /// IEEE 802.1Q tag.
    pub const VLAN: u16 = 0x8100;
    /// IPv6.
    pub const IPV6: u16 = 0x86dd;
    /// EAPOL.
    pub const EAPOL: u16 = 0x888e;
    /// 802.11 pre-authentication.
    pub const PREAUTHENTICATION: u16 = 0x88c7;
    /// Remote frames of fast BSS transition over the DS, and TDLS.
    pub const IEEE80211_DATA_ENCAPSULATION: u16 = 0x890d;
}

/// LLC/SNAP header and payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SnapRepr<'a> {
    /// OUI: 00-00-00 (RFC 1042) or 00-00-F8 (bridge tunnel).
    pub oui: [u8; 3],
    /// EtherType.
    pub ethertype: u16,
    /// The rest of the message.
    pub payload: &'a [u8],
}

impl<'a> SnapRepr<'a> {
    /// RFC 1042 encapsulation.
    pub const fn rfc1042(ethertype: u16, payload: &'a [u8]) -> Self {
        Self {
            oui: [0; 3],
            ethertype,
            payload,
        }
    }

    /// Reads an MSDU.
    pub fn parse(msdu: &'a [u8]) -> Result<Self> {
        match msdu {
            [0xaa, 0xaa, 0x03, a, b, c, high, low, payload @ ..] => Ok(Self {
                oui: [*a, *b, *c],
                ethertype: u16::from_be_bytes([*high, *low]),
                payload,
            }),
            _ if msdu.len() < LEN => Err(Error::truncated(FORMAT, LEN, msdu.len())),
            _ => Err(Error::malformed(FORMAT, "does not start with AA-AA-03")),
        }
    }

    /// Whether the type is an EtherType (OUI of RFC 1042 or of the bridge tunnel).
    pub fn is_ethertype(&self) -> bool {
        matches!(self.oui, [0, 0, 0 | 0xf8])
    }

    /// Octets that [`SnapRepr::emit`] writes.
    pub const fn buffer_len(&self) -> usize {
        LEN + self.payload.len()
    }

    /// Appends header and payload.
    pub fn emit(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&[0xaa, 0xaa, 0x03]);
        out.extend_from_slice(&self.oui);
        out.extend_from_slice(&self.ethertype.to_be_bytes());
        out.extend_from_slice(self.payload);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn round_trips(oui: [u8; 3], ethertype: u16, payload in proptest::collection::vec(any::<u8>(), 0..64)) {
            let repr = SnapRepr { oui, ethertype, payload: &payload };
            let mut octets = Vec::new();
            repr.emit(&mut octets);
            prop_assert_eq!(octets.len(), repr.buffer_len());
            prop_assert_eq!(SnapRepr::parse(&octets), Ok(repr));
        }

        #[test]
        fn any_octets_are_refused_or_read(octets in proptest::collection::vec(any::<u8>(), 0..32)) {
            let _ = SnapRepr::parse(&octets);
        }
    }
}
