//! RSN element, RSN extension element and WPA element: take an element body, give what a BSS or
//! station offers or chose.
//!
//! Source: IEEE 802.11-2020 clauses 9.4.2.24 (RSNE) and 9.4.2.241 (RSNXE); the WPA element is
//! the same list under OUI 00-50-F2 type 1. Every field after the version may be missing (the
//! standard's defaults then hold). Never judges whether the offer is secure.

use super::element::Elements;
use super::suite::{AkmSelector, CipherSelector, OUI_WPA};
use crate::{Cursor, Error, MacAddress, Result};

const FORMAT: &str = "RSN element";

/// RSN Capabilities bit 6: management frame protection required.
pub const CAPABILITY_MFPR: u16 = 1 << 6;
/// RSN Capabilities bit 7: management frame protection capable.
pub const CAPABILITY_MFPC: u16 = 1 << 7;
/// RSN Capabilities bit 14: operating channel validation capable.
pub const CAPABILITY_OCVC: u16 = 1 << 14;

/// RSNXE bit 5: SAE hash-to-element.
pub const RSNXE_SAE_H2E: u16 = 1 << 5;

/// An RSN element (or WPA element) in full. At most 255 octets of element bound every list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RsnRepr {
    /// Version, 1.
    pub version: u16,
    /// Group data cipher.
    pub group: Option<CipherSelector>,
    /// Pairwise ciphers in order of preference.
    pub pairwise: Vec<CipherSelector>,
    /// AKM suites in order of preference.
    pub akms: Vec<AkmSelector>,
    /// RSN Capabilities.
    pub capabilities: Option<u16>,
    /// PMKIDs (or PMKR0Name/PMKR1Name with FT).
    pub pmkids: Vec<[u8; 16]>,
    /// Group management cipher.
    pub group_management: Option<CipherSelector>,
}

impl RsnRepr {
    /// One pairwise cipher, one group cipher, one AKM, as a station sends it.
    pub fn single(group: CipherSelector, pairwise: CipherSelector, akm: AkmSelector) -> Self {
        Self {
            version: 1,
            group: Some(group),
            pairwise: vec![pairwise],
            akms: vec![akm],
            capabilities: Some(0),
            pmkids: Vec::new(),
            group_management: None,
        }
    }

    /// Reads the body of an RSNE (the octets after the length octet).
    pub fn parse(body: &[u8]) -> Result<Self> {
        let mut cursor = Cursor::new(FORMAT, body);
        let mut repr = Self::parse_lists(&mut cursor)?;
        if cursor.remaining() >= 2 {
            let count = usize::from(cursor.u16_le()?);
            if cursor.remaining() / 16 < count {
                return Err(Error::malformed(FORMAT, "has fewer PMKIDs than it says"));
            }
            for _ in 0..count {
                repr.pmkids.push(cursor.array()?);
            }
        }
        if cursor.remaining() >= 4 {
            repr.group_management = Some(CipherSelector(cursor.array()?));
        }
        Ok(repr)
    }

    /// Reads the octets after OUI and type of a WPA element (00-50-F2, type 1).
    pub fn parse_wpa(body: &[u8]) -> Result<Self> {
        Self::parse_lists(&mut Cursor::new("WPA element", body))
    }

    fn parse_lists(cursor: &mut Cursor<'_>) -> Result<Self> {
        let mut repr = Self {
            version: cursor.u16_le()?,
            group: None,
            pairwise: Vec::new(),
            akms: Vec::new(),
            capabilities: None,
            pmkids: Vec::new(),
            group_management: None,
        };
        if cursor.remaining() >= 4 {
            repr.group = Some(CipherSelector(cursor.array()?));
        }
        if cursor.remaining() >= 2 {
            for selector in suites(cursor)? {
                repr.pairwise.push(CipherSelector(selector));
            }
        }
        if cursor.remaining() >= 2 {
            for selector in suites(cursor)? {
                repr.akms.push(AkmSelector(selector));
            }
        }
        if cursor.remaining() >= 2 {
            repr.capabilities = Some(cursor.u16_le()?);
        }
        Ok(repr)
    }

    /// Management frame protection capable.
    pub fn mfpc(&self) -> bool {
        self.capabilities.unwrap_or(0) & CAPABILITY_MFPC != 0
    }

    /// Management frame protection required.
    pub fn mfpr(&self) -> bool {
        self.capabilities.unwrap_or(0) & CAPABILITY_MFPR != 0
    }

    /// Appends the body of an RSNE. A field that is missing ends the element.
    pub fn emit(&self, out: &mut Vec<u8>) {
        if !self.emit_lists(out) {
            return;
        }
        if self.pmkids.is_empty() && self.group_management.is_none() {
            return;
        }
        out.extend_from_slice(&(self.pmkids.len() as u16).to_le_bytes());
        for pmkid in &self.pmkids {
            out.extend_from_slice(pmkid);
        }
        if let Some(cipher) = self.group_management {
            out.extend_from_slice(&cipher.0);
        }
    }

    /// Appends the octets after OUI and type of a WPA element.
    pub fn emit_wpa(&self, out: &mut Vec<u8>) {
        self.emit_lists(out);
    }

    /// Appends the whole RSN element with its identifier and length.
    pub fn emit_element(&self, out: &mut Vec<u8>) {
        let mut body = Vec::new();
        self.emit(&mut body);
        super::element::Element {
            id: super::element::id::RSN,
            body: &body,
        }
        .emit(out);
    }

    /// Appends the whole WPA element with its identifier and length.
    pub fn emit_wpa_element(&self, out: &mut Vec<u8>) {
        let mut body = OUI_WPA.to_vec();
        body.push(1);
        self.emit_wpa(&mut body);
        super::element::Element {
            id: super::element::id::VENDOR,
            body: &body,
        }
        .emit(out);
    }

    fn emit_lists(&self, out: &mut Vec<u8>) -> bool {
        out.extend_from_slice(&self.version.to_le_bytes());
        let Some(group) = self.group else {
            return false;
        };
        out.extend_from_slice(&group.0);
        if self.pairwise.is_empty() && self.akms.is_empty() {
            return false;
        }
        out.extend_from_slice(&(self.pairwise.len() as u16).to_le_bytes());
        for suite in &self.pairwise {
            out.extend_from_slice(&suite.0);
        }
        out.extend_from_slice(&(self.akms.len() as u16).to_le_bytes());
        for suite in &self.akms {
            out.extend_from_slice(&suite.0);
        }
        let Some(capabilities) = self.capabilities else {
            return false;
        };
        out.extend_from_slice(&capabilities.to_le_bytes());
        true
    }
}

/// OUI of the Wi-Fi Alliance.
pub const OUI_WFA: [u8; 3] = [0x50, 0x6f, 0x9a];
/// Vendor type of the OWE Transition Mode element.
pub const WFA_OWE_TRANSITION: u8 = 0x1c;
/// Vendor type of the RSNE Override element.
pub const WFA_RSNE_OVERRIDE: u8 = 0x29;
/// Vendor type of the RSNE Override 2 element.
pub const WFA_RSNE_OVERRIDE_2: u8 = 0x2a;

/// Appends the RSNE Override element (number 0) or RSNE Override 2 element (number 1) with the body
/// of this whole RSN element, for stations that know of RSN overriding.
///
/// Which stations use which element: hostapd's `rsn_override_key_mgmt` and `rsn_override_key_mgmt_2`.
/// No published list of the vendor types was at hand; lengths do not depend on them.
pub fn emit_override(element: &[u8], number: u8, out: &mut Vec<u8>) {
    emit_vendor(WFA_RSNE_OVERRIDE + number.min(1), element, out);
}

/// Appends the RSNXE Override element with the body of this whole RSN extension element.
pub fn emit_extension_override(element: &[u8], out: &mut Vec<u8>) {
    emit_vendor(0x2b, element, out);
}

/// Appends the RSN Selection element of an association request: 0 for the RSN element, 1 for RSNE
/// Override, 2 for RSNE Override 2.
pub fn emit_selection(number: u8, out: &mut Vec<u8>) {
    emit_vendor(0x2c, &[0, 0, number], out);
}

/// Appends the OWE Transition Mode element: BSSID and name of the other BSS of the pair (Wi-Fi Alliance,
/// Opportunistic Wireless Encryption Specification 1.1, 2.2.1).
pub fn emit_owe_transition(bssid: MacAddress, ssid: &[u8], out: &mut Vec<u8>) {
    let mut body = vec![0, 0];
    body.extend_from_slice(&bssid.0);
    body.push(ssid.len() as u8);
    body.extend_from_slice(ssid);
    emit_vendor(WFA_OWE_TRANSITION, &body, out);
}

/// Whether an element overrides the RSN element.
pub fn has_override(elements: &Elements<'_>) -> bool {
    [WFA_RSNE_OVERRIDE, WFA_RSNE_OVERRIDE_2]
        .iter()
        .any(|kind| elements.find_vendor(OUI_WFA, *kind).is_some())
}

/// Whether an OWE Transition Mode element names another BSS.
pub fn has_owe_transition(elements: &Elements<'_>) -> bool {
    elements.find_vendor(OUI_WFA, WFA_OWE_TRANSITION).is_some()
}

fn emit_vendor(kind: u8, element: &[u8], out: &mut Vec<u8>) {
    let mut body = OUI_WFA.to_vec();
    body.push(kind);
    body.extend_from_slice(element.get(2..).unwrap_or(&[]));
    super::element::Element {
        id: super::element::id::VENDOR,
        body: &body,
    }
    .emit(out);
}

/// RSN extension capabilities: the first 16 bits (table 9-365; the low nibble is the length).
pub fn parse_rsnxe(body: &[u8]) -> Result<u16> {
    match body {
        [] => Err(Error::truncated("RSN extension element", 1, 0)),
        [low] => Ok(u16::from(*low)),
        [low, high, ..] => Ok(u16::from_le_bytes([*low, *high])),
    }
}

/// Appends the body of an RSNXE with these capability bits (bit 4 and up), in one or two octets.
pub fn emit_rsnxe(capabilities: u16, out: &mut Vec<u8>) {
    let bits = capabilities & 0xfff0;
    if bits >> 8 == 0 {
        out.push(bits as u8);
    } else {
        out.extend_from_slice(&(bits | 1).to_le_bytes());
    }
}

fn suites(cursor: &mut Cursor<'_>) -> Result<Vec<[u8; 4]>> {
    let count = usize::from(cursor.u16_le()?);
    if cursor.remaining() / 4 < count {
        return Err(Error::malformed(FORMAT, "has fewer suites than it says"));
    }
    (0..count).map(|_| cursor.array()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn round_trips(
            group: [u8; 4], pairwise in proptest::collection::vec(any::<[u8; 4]>(), 1..5),
            akms in proptest::collection::vec(any::<[u8; 4]>(), 1..5), capabilities: u16,
            pmkids in proptest::collection::vec(any::<[u8; 16]>(), 0..3), management: Option<[u8; 4]>,
        ) {
            let repr = RsnRepr {
                version: 1, group: Some(CipherSelector(group)),
                pairwise: pairwise.into_iter().map(CipherSelector).collect(),
                akms: akms.into_iter().map(AkmSelector).collect(),
                capabilities: Some(capabilities), pmkids, group_management: management.map(CipherSelector),
            };
            let mut body = Vec::new();
            repr.emit(&mut body);
            prop_assert_eq!(RsnRepr::parse(&body), Ok(repr));
        }

        #[test]
        fn any_octets_are_refused_or_read(body in proptest::collection::vec(any::<u8>(), 0..=255)) {
            let _ = (RsnRepr::parse(&body), RsnRepr::parse_wpa(&body), parse_rsnxe(&body));
        }

        #[test]
        fn rsnxe_round_trips(bits: u16) {
            let mut body = Vec::new();
            emit_rsnxe(bits, &mut body);
            prop_assert_eq!(parse_rsnxe(&body).unwrap() & 0xfff0, bits & 0xfff0);
            prop_assert_eq!(usize::from(body[0] & 15), body.len() - 1);
        }
    }

    #[test]
    fn missing_fields_are_not_errors() {
        let full = [
            1, 0, 0, 0x0f, 0xac, 4, 1, 0, 0, 0x0f, 0xac, 4, 1, 0, 0, 0x0f, 0xac, 2, 0x80, 0,
        ];
        for len in [2, 6, 12, 18, 20] {
            let repr = RsnRepr::parse(&full[..len]).unwrap();
            assert_eq!(repr.akms.is_empty(), len < 18);
            assert_eq!(repr.mfpc(), len == 20);
        }
        assert!(RsnRepr::parse(&full[..10]).is_err());
        assert!(RsnRepr::parse(&full[..1]).is_err());
    }
}
