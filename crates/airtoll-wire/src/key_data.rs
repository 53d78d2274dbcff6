//! Key data of EAPOL-Key: takes unwrapped key data, gives its elements and KDEs.
//!
//! Source: IEEE 802.11-2020 clause 12.7.2 table 12-9 (KDEs under OUI 00-0F-AC), IEEE 802.11be-2024 figures
//! 12-47 to 12-50 (MLO KDEs), and the padding of key data (0xdd then zeros). Never unwraps; WPA's bare GTK is no KDE and is not read here.

use crate::ieee80211::element::{Element, Elements};
use crate::ieee80211::suite::OUI_IEEE;
use crate::{Cursor, MacAddress, Result};

/// One KDE or element of key data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyData<'a> {
    /// Group key.
    Gtk {
        /// Key identifier, 1 to 3 (0 to 3 where an AP is old).
        key_id: u8,
        /// Tx bit.
        transmit: bool,
        /// The key.
        key: &'a [u8],
    },
    /// Integrity group key of management frames.
    Igtk {
        /// Key identifier, 4 or 5.
        key_id: u16,
        /// Packet number, least significant octet first.
        ipn: [u8; 6],
        /// The key.
        key: &'a [u8],
    },
    /// Beacon integrity key.
    Bigtk {
        /// Key identifier, 6 or 7.
        key_id: u16,
        /// Packet number, least significant octet first.
        ipn: [u8; 6],
        /// The key.
        key: &'a [u8],
    },
    /// Group key of a link.
    MloGtk {
        /// Link ID, 0 to 14.
        link: u8,
        /// Key identifier, 1 to 3.
        key_id: u8,
        /// Tx bit.
        transmit: bool,
        /// Packet number, least significant octet first.
        pn: [u8; 6],
        /// The key.
        key: &'a [u8],
    },
    /// Integrity group key of a link.
    MloIgtk {
        /// Link ID, 0 to 14.
        link: u8,
        /// Key identifier, 4 or 5.
        key_id: u16,
        /// Packet number, least significant octet first.
        ipn: [u8; 6],
        /// The key.
        key: &'a [u8],
    },
    /// Beacon integrity key of a link.
    MloBigtk {
        /// Link ID, 0 to 14.
        link: u8,
        /// Key identifier, 6 or 7.
        key_id: u16,
        /// Packet number, least significant octet first.
        ipn: [u8; 6],
        /// The key.
        key: &'a [u8],
    },
    /// A link of a multi-link device.
    MloLink(MloLink<'a>),
    /// A MAC address; that of a multi-link device in a multi-link association.
    Mac(MacAddress),
    /// PMKID.
    Pmkid(&'a [u8]),
    /// Operating channel information.
    Oci(&'a [u8]),
    /// Any other element (RSNE, RSNXE, MDE, FTE, vendors').
    Element(Element<'a>),
}

/// A link of a multi-link device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MloLink<'a> {
    /// Link ID, 0 to 14.
    pub link: u8,
    /// Address on the link.
    pub address: MacAddress,
    /// The whole RSN element of the link's beacons; may be empty.
    pub rsn: &'a [u8],
    /// The whole RSN extension element; may be empty.
    pub extension: &'a [u8],
}

/// Link Information of an MLO Link KDE: the RSN element is present.
const WITH_RSN: u8 = 0x10;
/// The same of the RSN extension element.
const WITH_EXTENSION: u8 = 0x20;

/// A whole element, if it is announced.
fn announced<'a>(cursor: &mut Cursor<'a>, present: bool) -> Result<&'a [u8]> {
    if !present {
        return Ok(&[]);
    }
    let ahead = cursor.clone().take(2)?;
    cursor.take(2 + usize::from(ahead[1]))
}

/// Key identifier, packet number and link ID of the integrity key of a link.
fn integrity(cursor: &mut Cursor<'_>) -> Result<(u16, [u8; 6], u8)> {
    Ok((cursor.u16_le()?, cursor.array()?, cursor.u8()? >> 4))
}

impl<'a> KeyData<'a> {
    /// Reads one element.
    pub fn parse(element: Element<'a>) -> Result<Self> {
        let Some((OUI_IEEE, kind, body)) = element.vendor() else {
            return Ok(Self::Element(element));
        };
        let mut cursor = Cursor::new("KDE", body);
        Ok(match kind {
            1 => {
                let flags = cursor.u8()?;
                cursor.u8()?;
                Self::Gtk {
                    key_id: flags & 3,
                    transmit: flags & 4 != 0,
                    key: cursor.rest(),
                }
            }
            3 => Self::Mac(MacAddress(cursor.array()?)),
            4 => Self::Pmkid(cursor.take(16)?),
            9 => Self::Igtk {
                key_id: cursor.u16_le()?,
                ipn: cursor.array()?,
                key: cursor.rest(),
            },
            14 => Self::Bigtk {
                key_id: cursor.u16_le()?,
                ipn: cursor.array()?,
                key: cursor.rest(),
            },
            13 => Self::Oci(cursor.rest()),
            16 => {
                let flags = cursor.u8()?;
                Self::MloGtk {
                    link: flags >> 4,
                    key_id: flags & 3,
                    transmit: flags & 4 != 0,
                    pn: cursor.array()?,
                    key: cursor.rest(),
                }
            }
            17 => {
                let (key_id, ipn, link) = integrity(&mut cursor)?;
                let key = cursor.rest();
                Self::MloIgtk {
                    link,
                    key_id,
                    ipn,
                    key,
                }
            }
            18 => {
                let (key_id, ipn, link) = integrity(&mut cursor)?;
                let key = cursor.rest();
                Self::MloBigtk {
                    link,
                    key_id,
                    ipn,
                    key,
                }
            }
            19 => {
                let flags = cursor.u8()?;
                Self::MloLink(MloLink {
                    link: flags & 15,
                    address: MacAddress(cursor.array()?),
                    rsn: announced(&mut cursor, flags & WITH_RSN != 0)?,
                    extension: announced(&mut cursor, flags & WITH_EXTENSION != 0)?,
                })
            }
            _ => Self::Element(element),
        })
    }

    /// Appends the KDE or element.
    pub fn emit(&self, out: &mut Vec<u8>) {
        let mut kde = |kind: u8, parts: &[&[u8]]| {
            let len: usize = parts.iter().map(|part| part.len()).sum();
            out.extend_from_slice(&[0xdd, (len + 4).min(255) as u8]);
            out.extend_from_slice(&OUI_IEEE);
            out.push(kind);
            for part in parts {
                out.extend_from_slice(part);
            }
        };
        match *self {
            Self::Gtk {
                key_id,
                transmit,
                key,
            } => kde(1, &[&[key_id & 3 | u8::from(transmit) << 2, 0], key]),
            Self::Igtk { key_id, ipn, key } => kde(9, &[&key_id.to_le_bytes(), &ipn, key]),
            Self::Bigtk { key_id, ipn, key } => kde(14, &[&key_id.to_le_bytes(), &ipn, key]),
            Self::MloGtk {
                link,
                key_id,
                transmit,
                pn,
                key,
            } => {
                let flags = key_id & 3 | u8::from(transmit) << 2 | link << 4;
                kde(16, &[&[flags], &pn, key]);
            }
            Self::MloIgtk {
                link,
                key_id,
                ipn,
                key,
            } => kde(17, &[&key_id.to_le_bytes(), &ipn, &[link << 4], key]),
            Self::MloBigtk {
                link,
                key_id,
                ipn,
                key,
            } => kde(18, &[&key_id.to_le_bytes(), &ipn, &[link << 4], key]),
            Self::MloLink(MloLink {
                link,
                address,
                rsn,
                extension,
            }) => {
                let present = |element: &[u8], bit: u8| if element.is_empty() { 0 } else { bit };
                let flags = link & 15 | present(rsn, WITH_RSN) | present(extension, WITH_EXTENSION);
                kde(19, &[&[flags], &address.0, rsn, extension]);
            }
            Self::Mac(address) => kde(3, &[&address.0]),
            Self::Pmkid(pmkid) => kde(4, &[pmkid]),
            Self::Oci(oci) => kde(13, &[oci]),
            Self::Element(element) => element.emit(out),
        }
    }
}

/// Iterates over key data up to its padding; a KDE that cannot be read is left out.
pub fn iterate(data: &[u8]) -> impl Iterator<Item = KeyData<'_>> {
    Elements::new(data)
        .take_while(|element| !(element.id == 0xdd && element.body.is_empty()))
        .filter_map(|element| KeyData::parse(element).ok())
}

/// Appends the padding that a key wrap requires: to a multiple of 8, at least 16 octets.
pub fn pad_for_wrap(data: &mut Vec<u8>) {
    let len = data.len().next_multiple_of(8).max(16);
    if data.len() < len {
        data.push(0xdd);
        data.resize(len, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn mlo_kdes_have_the_lengths_of_the_standard() {
        let octets = |item: KeyData<'_>| {
            let mut out = Vec::new();
            item.emit(&mut out);
            out.len()
        };
        let (key, pn) = ([0; 32], [0; 6]);
        let (link, key_id, transmit) = (1, 1, false);
        // Each KDE begins with 2 + 4 octets.
        let gtk = KeyData::MloGtk {
            link,
            key_id,
            transmit,
            pn,
            key: &key,
        };
        assert_eq!(octets(gtk), 6 + 1 + 6 + 32);
        let igtk = KeyData::MloIgtk {
            link,
            key_id: 4,
            ipn: pn,
            key: &key,
        };
        assert_eq!(octets(igtk), 6 + 2 + 6 + 1 + 32);
        let bare = MloLink {
            link,
            address: MacAddress([2; 6]),
            rsn: &[],
            extension: &[],
        };
        assert_eq!(octets(KeyData::MloLink(bare)), 6 + 1 + 6);
        let cut = [0xdd, 12, 0, 0x0f, 0xac, 19, 0x11, 2, 2, 2, 2, 2, 2, 48];
        assert_eq!(iterate(&cut).count(), 0);
    }

    proptest! {
        #[test]
        fn round_trips(key_id in 0u8..4, link in 0u8..15, transmit: bool, key in proptest::collection::vec(any::<u8>(), 5..33), ipn: [u8; 6], mac: [u8; 6], pmkid: [u8; 16]) {
            let list = [
                KeyData::Element(Element { id: 48, body: &[1, 0] }),
                KeyData::Gtk { key_id, transmit, key: &key },
                KeyData::Igtk { key_id: 4, ipn, key: &key },
                KeyData::Bigtk { key_id: 6, ipn, key: &key },
                KeyData::MloGtk { link, key_id, transmit, pn: ipn, key: &key },
                KeyData::MloIgtk { link, key_id: 5, ipn, key: &key },
                KeyData::MloBigtk { link, key_id: 7, ipn, key: &key },
                KeyData::MloLink(MloLink { link, address: MacAddress(mac), rsn: &[48, 2, 1, 0], extension: &[244, 1, 32] }),
                KeyData::MloLink(MloLink { link, address: MacAddress(mac), rsn: &[], extension: &[] }),
                KeyData::Mac(MacAddress(mac)),
                KeyData::Pmkid(&pmkid),
                KeyData::Oci(&[1, 2, 3]),
            ];
            let mut octets = Vec::new();
            for item in &list {
                item.emit(&mut octets);
            }
            pad_for_wrap(&mut octets);
            prop_assert_eq!(octets.len() % 8, 0);
            let read: Vec<_> = iterate(&octets).collect();
            prop_assert_eq!(&read[..], &list[..]);
        }

        #[test]
        fn any_octets_end(octets in proptest::collection::vec(any::<u8>(), 0..300)) {
            let _ = iterate(&octets).count();
        }
    }
}
