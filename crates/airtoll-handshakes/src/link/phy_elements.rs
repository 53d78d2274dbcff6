//! The elements of a PHY in (re)association frames.

use airtoll_wire::ieee80211::element::{Element, id};

use crate::octets::written;

/// Elements of one end's PHY in (re)association frames, in the order of IEEE 802.11-2020, tables 9-34
/// and 9-35. Those of the link's security lie between the lists.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct PhyElements {
    /// Supported rates, and extended ones where there are more than eight.
    pub rates: Vec<u8>,
    /// From the operating classes to VHT, before the RSN extension.
    pub to_vht: Vec<u8>,
    /// HE and EHT.
    pub from_he: Vec<u8>,
    /// Vendor-specific ones (WMM).
    pub vendor: Vec<u8>,
}

impl Default for PhyElements {
    /// Those of 802.11g without QoS.
    fn default() -> Self {
        Self {
            rates: rate_elements(),
            to_vht: Vec::new(),
            from_he: Vec::new(),
            vendor: Vec::new(),
        }
    }
}

/// Supported rates of 802.11g: basic 1, 2, 5.5 and 11 Mb/s, then OFDM rates, in units of 500 kb/s
/// (9.4.2.3, 9.4.2.13). The elements of frames whose PHY is not stated.
#[must_use]
pub fn rate_elements() -> Vec<u8> {
    let supported = [0x82, 0x84, 0x8b, 0x96, 12, 18, 24, 36];
    let extended = [48, 72, 96, 108];
    written(|out| {
        for (id, body) in [
            (id::SUPPORTED_RATES, &supported[..]),
            (id::EXTENDED_RATES, &extended[..]),
        ] {
            Element { id, body }.emit(out);
        }
    })
}
