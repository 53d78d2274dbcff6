//! Basic Multi-Link element: takes the joined body after the element ID extension, gives the address
//! of the multi-link device (MLD), what it can do, and the profiles of the stations affiliated with it.
//!
//! Source: IEEE 802.11be-2024 clauses 9.4.2.322.2 (element), 9.4.2.322.2.4 (per-STA profile), 9.4.2.240
//! (Non-Inheritance) and 10.28.11 (fragments). Other types of the element are refused. Fields
//! of the common part that are not named here are skipped by its length.

use super::element::{Elements, FragmentIds, emit_fragmented, extension, id};
use crate::{Cursor, Error, MacAddress, Result};

const FORMAT: &str = "Multi-Link element";
/// Subelement: profile of an affiliated station.
const PROFILE: u8 = 0;
/// Subelement: continuation of the one before it.
const FRAGMENT: u8 = 254;
/// Links of an MLD beside the one of the frame (IDs 0 to 14).
const MAX_PROFILES: usize = 14;

/// Bits of the Multi-Link Control field.
mod control {
    pub const TYPE: u16 = 7;
    pub const LINK_ID: u16 = 1 << 4;
    pub const CHANGE_COUNT: u16 = 1 << 5;
    pub const MEDIUM_SYNCHRONIZATION: u16 = 1 << 6;
    pub const EML: u16 = 1 << 7;
    pub const CAPABILITIES: u16 = 1 << 8;
}

/// Bits of the STA Control field.
mod station {
    pub const COMPLETE: u16 = 1 << 4;
    pub const ADDRESS: u16 = 1 << 5;
    pub const BEACON_INTERVAL: u16 = 1 << 6;
    pub const TSF_OFFSET: u16 = 1 << 7;
    pub const DTIM: u16 = 1 << 8;
    pub const LINK_PAIRS: u16 = 1 << 9;
    pub const WIDE_LINK_PAIRS: u16 = 1 << 10;
    pub const CHANGE_COUNT: u16 = 1 << 11;
}

/// A Basic Multi-Link element.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct MultiLinkRepr {
    /// MLD address.
    pub mld: MacAddress,
    /// ID of the link on which an access point sends the frame, 0 to 14.
    pub link: Option<u8>,
    /// BSS parameters change count of that link.
    pub change_count: Option<u8>,
    /// EML capabilities.
    pub eml: Option<u16>,
    /// MLD capabilities and operations; the lowest four bits hold the number of links beside the first.
    pub capabilities: Option<u16>,
    /// Stations affiliated with the MLD beside the one that sends the frame.
    pub profiles: Vec<StationProfile>,
}

/// A per-STA profile.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct StationProfile {
    /// ID of its link, 0 to 14.
    pub link: u8,
    /// Whether it holds everything of the station's own frame that differs from this frame.
    pub complete: bool,
    /// Address on its link.
    pub address: Option<MacAddress>,
    /// Beacon interval in time units.
    pub beacon_interval: Option<u16>,
    /// Offset of its TSF timer.
    pub tsf_offset: Option<u64>,
    /// DTIM count and period.
    pub dtim: Option<[u8; 2]>,
    /// BSS parameters change count.
    pub change_count: Option<u8>,
    /// Fixed fields and elements of the profile.
    pub body: Vec<u8>,
}

impl MultiLinkRepr {
    /// Reads the element of a frame, its fragments joined; `None` without a Multi-Link element.
    pub fn find(elements: &Elements<'_>) -> Option<Result<Self>> {
        let body = elements.find_joined(extension::MULTI_LINK)?;
        Some(Self::parse(&body))
    }

    /// Reads the octets after the element ID extension.
    pub fn parse(body: &[u8]) -> Result<Self> {
        let mut cursor = Cursor::new(FORMAT, body);
        let flags = cursor.u16_le()?;
        if flags & control::TYPE != 0 {
            return Err(Error::malformed(FORMAT, "is not of type Basic"));
        }
        let octets = usize::from(cursor.u8()?);
        let Some(octets) = octets.checked_sub(1) else {
            return Err(Error::malformed(FORMAT, "has no common part"));
        };
        let mut common = Cursor::new(FORMAT, cursor.take(octets)?);
        let has = |bit| flags & bit != 0;
        let mld = MacAddress(common.array()?);
        let link = has(control::LINK_ID).then(|| common.u8()).transpose()?;
        let change_count = has(control::CHANGE_COUNT)
            .then(|| common.u8())
            .transpose()?;
        if has(control::MEDIUM_SYNCHRONIZATION) {
            common.u16_le()?;
        }
        let eml = has(control::EML).then(|| common.u16_le()).transpose()?;
        let capabilities = has(control::CAPABILITIES)
            .then(|| common.u16_le())
            .transpose()?;
        Ok(Self {
            mld,
            link: link.map(|link| link & 15),
            change_count,
            eml,
            capabilities,
            profiles: profiles(cursor.rest())?,
        })
    }

    /// Appends the whole element, in fragments where it is longer than one element.
    pub fn emit(&self, out: &mut Vec<u8>) {
        let mut flags = 0;
        let mut common = self.mld.0.to_vec();
        if let Some(link) = self.link {
            flags |= control::LINK_ID;
            common.push(link & 15);
        }
        if let Some(count) = self.change_count {
            flags |= control::CHANGE_COUNT;
            common.push(count);
        }
        if let Some(eml) = self.eml {
            flags |= control::EML;
            common.extend_from_slice(&eml.to_le_bytes());
        }
        if let Some(capabilities) = self.capabilities {
            flags |= control::CAPABILITIES;
            common.extend_from_slice(&capabilities.to_le_bytes());
        }
        let mut body = vec![extension::MULTI_LINK];
        body.extend_from_slice(&flags.to_le_bytes());
        body.push(common.len() as u8 + 1);
        body.extend_from_slice(&common);
        for profile in &self.profiles {
            let ids = FragmentIds {
                first: PROFILE,
                further: FRAGMENT,
            };
            emit_fragmented(&mut body, ids, &profile.octets());
        }
        let ids = FragmentIds {
            first: id::EXTENSION,
            further: id::FRAGMENT,
        };
        emit_fragmented(out, ids, &body);
    }
}

impl StationProfile {
    fn parse(octets: &[u8]) -> Result<Self> {
        let mut cursor = Cursor::new(FORMAT, octets);
        let flags = cursor.u16_le()?;
        let Some(length) = usize::from(cursor.u8()?).checked_sub(1) else {
            return Err(Error::malformed(FORMAT, "has a profile without a length"));
        };
        let mut info = Cursor::new(FORMAT, cursor.take(length)?);
        let has = |bit| flags & bit != 0;
        let address = has(station::ADDRESS).then(|| info.array()).transpose()?;
        let beacon_interval = has(station::BEACON_INTERVAL)
            .then(|| info.u16_le())
            .transpose()?;
        let tsf_offset = has(station::TSF_OFFSET)
            .then(|| info.u64_le())
            .transpose()?;
        let dtim = has(station::DTIM).then(|| info.array()).transpose()?;
        if has(station::LINK_PAIRS) {
            info.take(1 + usize::from(has(station::WIDE_LINK_PAIRS)))?;
        }
        let change_count = has(station::CHANGE_COUNT).then(|| info.u8()).transpose()?;
        Ok(Self {
            link: (flags & 15) as u8,
            complete: has(station::COMPLETE),
            address: address.map(MacAddress),
            beacon_interval,
            tsf_offset,
            dtim,
            change_count,
            body: cursor.rest().to_vec(),
        })
    }

    fn octets(&self) -> Vec<u8> {
        let mut flags = u16::from(self.link & 15);
        let mut info = Vec::new();
        if self.complete {
            flags |= station::COMPLETE;
        }
        if let Some(address) = self.address {
            flags |= station::ADDRESS;
            info.extend_from_slice(&address.0);
        }
        if let Some(interval) = self.beacon_interval {
            flags |= station::BEACON_INTERVAL;
            info.extend_from_slice(&interval.to_le_bytes());
        }
        if let Some(offset) = self.tsf_offset {
            flags |= station::TSF_OFFSET;
            info.extend_from_slice(&offset.to_le_bytes());
        }
        if let Some(dtim) = self.dtim {
            flags |= station::DTIM;
            info.extend_from_slice(&dtim);
        }
        if let Some(count) = self.change_count {
            flags |= station::CHANGE_COUNT;
            info.push(count);
        }
        let mut out = flags.to_le_bytes().to_vec();
        out.push(info.len() as u8 + 1);
        out.extend_from_slice(&info);
        out.extend_from_slice(&self.body);
        out
    }
}

/// The profiles among the subelements, each with its fragments joined.
fn profiles(octets: &[u8]) -> Result<Vec<StationProfile>> {
    let mut joined: Vec<Vec<u8>> = Vec::new();
    let mut open = false;
    for one in Elements::new(octets) {
        match one.id {
            PROFILE => joined.push(one.body.to_vec()),
            FRAGMENT if open => {
                if let Some(last) = joined.last_mut() {
                    last.extend_from_slice(one.body);
                }
            }
            _ => {
                open = false;
                continue;
            }
        }
        open = one.body.len() == 255;
    }
    joined.truncate(MAX_PROFILES);
    joined
        .iter()
        .map(|one| StationProfile::parse(one))
        .collect()
}

/// Appends the elements of another link's frame that a profile holds: those that differ from the
/// elements of the frame around it, and a Non-Inheritance element that names what the other frame
/// does not have (IEEE 802.11be-2024, 35.3.3.4).
pub fn inherit(out: &mut Vec<u8>, around: &[u8], own: &[u8]) {
    let around: Vec<_> = Elements::new(around).collect();
    for element in Elements::new(own) {
        if !around.contains(&element) {
            element.emit(out);
        }
    }
    let kept = |id: u8, number: Option<u8>| {
        Elements::new(own)
            .any(|element| element.id == id && element.extension().map(|(n, _)| n) == number)
    };
    let (mut ids, mut extensions) = (Vec::new(), Vec::new());
    for element in &around {
        match element.extension() {
            Some((extension::MULTI_LINK, _)) => {}
            Some((number, _)) if !kept(id::EXTENSION, Some(number)) => extensions.push(number),
            None if !kept(element.id, None) => ids.push(element.id),
            _ => {}
        }
    }
    if ids.is_empty() && extensions.is_empty() {
        return;
    }
    let mut body = vec![extension::NON_INHERITANCE, ids.len() as u8];
    body.extend_from_slice(&ids);
    body.push(extensions.len() as u8);
    body.extend_from_slice(&extensions);
    super::Element {
        id: id::EXTENSION,
        body: &body,
    }
    .emit(out);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const MLD: MacAddress = MacAddress([2, 0x4d, 0, 0, 0, 1]);

    fn made(repr: &MultiLinkRepr) -> Vec<u8> {
        let mut out = Vec::new();
        repr.emit(&mut out);
        assert!(!Elements::new(&out).is_damaged());
        out
    }

    #[test]
    fn lengths_are_those_of_the_standard() {
        // Authentication: 3 octets of element, 2 of control, 1 of length, the address.
        let bare = MultiLinkRepr {
            mld: MLD,
            ..MultiLinkRepr::default()
        };
        assert_eq!(made(&bare).len(), 12);
        // Beacon: link ID, change count, EML and MLD capabilities are 6 octets more.
        let beacon = MultiLinkRepr {
            link: Some(0),
            change_count: Some(0),
            eml: Some(0),
            capabilities: Some(1),
            ..bare.clone()
        };
        assert_eq!(made(&beacon).len(), 18);
        // A profile of an access point: 2 of subelement, 2 of control, 1 of length, 6 + 2 + 8 + 2 + 1.
        let profile = StationProfile {
            link: 1,
            complete: true,
            address: Some(MLD),
            beacon_interval: Some(100),
            tsf_offset: Some(0),
            dtim: Some([0, 1]),
            change_count: Some(0),
            body: Vec::new(),
        };
        let response = MultiLinkRepr {
            profiles: vec![profile],
            ..beacon
        };
        assert_eq!(made(&response).len(), 18 + 24);
    }

    #[test]
    fn other_types_and_stumps_are_refused() {
        assert!(MultiLinkRepr::parse(&[1, 0, 1]).is_err());
        assert!(MultiLinkRepr::parse(&[0, 0, 0]).is_err());
        assert!(MultiLinkRepr::parse(&[0, 0, 7, 2, 0, 0]).is_err());
        assert!(MultiLinkRepr::find(&Elements::new(&[0, 0])).is_none());
    }

    #[test]
    fn a_profile_holds_what_differs_and_names_what_is_missing() {
        // SSID, rates and two extended elements around; the own frame has other rates and one of them.
        let around = [
            1, 1, 0x8c, 48, 2, 1, 0, 255, 2, 35, 1, 255, 2, 108, 1, 255, 2, 107, 9,
        ];
        let own = [1, 1, 0x82, 48, 2, 1, 0, 255, 2, 108, 1];
        let mut out = Vec::new();
        inherit(&mut out, &around, &own);
        assert_eq!(out, [1, 1, 0x82, 255, 4, 56, 0, 1, 35]);
        out.clear();
        inherit(&mut out, &around[..7], &around[..7]);
        assert!(out.is_empty());
    }

    fn any_profile() -> impl Strategy<Value = StationProfile> {
        (
            (0u8..15, any::<bool>(), any::<Option<[u8; 6]>>()),
            (
                any::<Option<u16>>(),
                any::<Option<u64>>(),
                any::<Option<[u8; 2]>>(),
            ),
            (
                any::<Option<u8>>(),
                proptest::collection::vec(any::<u8>(), 0..700),
            ),
        )
            .prop_map(
                |(
                    (link, complete, address),
                    (beacon_interval, tsf_offset, dtim),
                    (change_count, body),
                )| {
                    StationProfile {
                        link,
                        complete,
                        address: address.map(MacAddress),
                        beacon_interval,
                        tsf_offset,
                        dtim,
                        change_count,
                        body,
                    }
                },
            )
    }

    proptest! {
        #[test]
        fn round_trips(
            mld: [u8; 6], link in proptest::option::of(0u8..15), change_count: Option<u8>,
            eml: Option<u16>, capabilities: Option<u16>,
            profiles in proptest::collection::vec(any_profile(), 0..4),
        ) {
            let repr = MultiLinkRepr {
                mld: MacAddress(mld), link, change_count, eml, capabilities, profiles,
            };
            let octets = made(&repr);
            prop_assert_eq!(MultiLinkRepr::find(&Elements::new(&octets)), Some(Ok(repr)));
        }

        #[test]
        fn any_octets_are_refused_or_read(body in proptest::collection::vec(any::<u8>(), 0..400)) {
            let _ = MultiLinkRepr::parse(&body);
            let _ = MultiLinkRepr::find(&Elements::new(&body));
            let (around, own) = body.split_at(body.len() / 2);
            inherit(&mut Vec::new(), around, own);
        }

        #[test]
        fn a_flipped_bit_or_a_cut_never_panics(
            profiles in proptest::collection::vec(any_profile(), 1..3), at in any::<prop::sample::Index>(), bit in 0u8..8,
        ) {
            let octets = made(&MultiLinkRepr { mld: MLD, link: Some(1), profiles, ..MultiLinkRepr::default() });
            let at = at.index(octets.len());
            let _ = MultiLinkRepr::find(&Elements::new(&octets[..at]));
            let mut flipped = octets;
            flipped[at] ^= 1 << bit;
            let _ = MultiLinkRepr::find(&Elements::new(&flipped));
        }
    }
}
