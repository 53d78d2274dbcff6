//! Elements (TLVs) of management frames: takes the variable part, gives them one by one.
//!
//! Source: IEEE 802.11-2020 clause 9.4.2.1. A last element that says more octets than there are
//! ends the list; [`Elements::is_damaged`] tells. Never interprets a body.

/// Element identifiers that airtoll reads (table 9-92).
pub mod id {
    /// SSID.
    pub const SSID: u8 = 0;
    /// Supported rates.
    pub const SUPPORTED_RATES: u8 = 1;
    /// DSSS parameter set: the channel.
    pub const DSSS_PARAMETER: u8 = 3;
    /// Traffic indication map.
    pub const TRAFFIC_INDICATION: u8 = 5;
    /// Country.
    pub const COUNTRY: u8 = 7;
    /// BSS load: stations and channel utilization.
    pub const BSS_LOAD: u8 = 11;
    /// Challenge text of shared-key authentication.
    pub const CHALLENGE_TEXT: u8 = 16;
    /// ERP information.
    pub const ERP: u8 = 42;
    /// HT capabilities.
    pub const HT_CAPABILITIES: u8 = 45;
    /// RSN.
    pub const RSN: u8 = 48;
    /// Extended supported rates.
    pub const EXTENDED_RATES: u8 = 50;
    /// Mobility domain.
    pub const MOBILITY_DOMAIN: u8 = 54;
    /// Fast BSS transition.
    pub const FAST_TRANSITION: u8 = 55;
    /// Supported operating classes.
    pub const SUPPORTED_OPERATING_CLASSES: u8 = 59;
    /// HT operation.
    pub const HT_OPERATION: u8 = 61;
    /// Multiple BSSID.
    pub const MULTIPLE_BSSID: u8 = 71;
    /// Management MIC of group-addressed protected management frames.
    pub const MANAGEMENT_MIC: u8 = 76;
    /// Capability of a nontransmitted BSSID.
    pub const NONTRANSMITTED_CAPABILITY: u8 = 83;
    /// Index of a nontransmitted BSSID.
    pub const MULTIPLE_BSSID_INDEX: u8 = 85;
    /// Extended capabilities.
    pub const EXTENDED_CAPABILITIES: u8 = 127;
    /// VHT capabilities.
    pub const VHT_CAPABILITIES: u8 = 191;
    /// VHT operation.
    pub const VHT_OPERATION: u8 = 192;
    /// Transmit power envelope.
    pub const TRANSMIT_POWER_ENVELOPE: u8 = 195;
    /// Reduced neighbor report.
    pub const REDUCED_NEIGHBOR_REPORT: u8 = 201;
    /// TWT: target wake time.
    pub const TARGET_WAKE_TIME: u8 = 216;
    /// Vendor specific.
    pub const VENDOR: u8 = 221;
    /// Continuation of the element before it.
    pub const FRAGMENT: u8 = 242;
    /// RSN extension.
    pub const RSN_EXTENSION: u8 = 244;
    /// The element ID extension follows.
    pub const EXTENSION: u8 = 255;
}

/// Element ID extensions (after element ID 255).
pub mod extension {
    /// OWE Diffie-Hellman parameter (RFC 8110 section 4.3).
    pub const OWE_DH_PARAMETER: u8 = 32;
    /// Password identifier of SAE.
    pub const PASSWORD_IDENTIFIER: u8 = 33;
    /// HE capabilities.
    pub const HE_CAPABILITIES: u8 = 35;
    /// HE operation.
    pub const HE_OPERATION: u8 = 36;
    /// MU EDCA parameter set.
    pub const MU_EDCA: u8 = 38;
    /// Non-inheritance: elements that a profile lacks.
    pub const NON_INHERITANCE: u8 = 56;
    /// HE capabilities of the 6 GHz band.
    pub const HE_6GHZ_CAPABILITIES: u8 = 59;
    /// Groups of SAE that an access point refused.
    pub const REJECTED_GROUPS: u8 = 92;
    /// Container of SAE's anti-clogging token.
    pub const ANTI_CLOGGING_TOKEN: u8 = 93;
    /// EHT operation.
    pub const EHT_OPERATION: u8 = 106;
    /// Multi-link.
    pub const MULTI_LINK: u8 = 107;
    /// EHT capabilities.
    pub const EHT_CAPABILITIES: u8 = 108;
}

/// One element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Element<'a> {
    /// Element ID.
    pub id: u8,
    /// The octets after the length; they start with the element ID extension if `id` is 255.
    pub body: &'a [u8],
}

impl<'a> Element<'a> {
    /// The element ID extension and the octets after it.
    pub fn extension(&self) -> Option<(u8, &'a [u8])> {
        match (self.id, self.body) {
            (id::EXTENSION, [extension, rest @ ..]) => Some((*extension, rest)),
            _ => None,
        }
    }

    /// OUI, vendor type and data of a vendor-specific element.
    pub fn vendor(&self) -> Option<([u8; 3], u8, &'a [u8])> {
        match (self.id, self.body) {
            (id::VENDOR, [a, b, c, kind, rest @ ..]) => Some(([*a, *b, *c], *kind, rest)),
            _ => None,
        }
    }

    /// Appends the element; a body above 255 octets is cut there.
    pub fn emit(&self, out: &mut Vec<u8>) {
        let body = &self.body[..self.body.len().min(255)];
        out.push(self.id);
        out.push(body.len() as u8);
        out.extend_from_slice(body);
    }
}

/// Identifiers of an element and of its fragments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FragmentIds {
    /// The element's.
    pub first: u8,
    /// That of each further fragment.
    pub further: u8,
}

/// Appends an element; octets beyond the 255th go into further fragments. A fragment of 255 octets says
/// that another one may follow.
pub fn emit_fragmented(out: &mut Vec<u8>, ids: FragmentIds, body: &[u8]) {
    let mut id = ids.first;
    let mut chunks = body.chunks(255);
    let mut body = chunks.next().unwrap_or(&[]);
    loop {
        Element { id, body }.emit(out);
        let Some(next) = chunks.next() else { break };
        (id, body) = (ids.further, next);
    }
}

/// Iterates over elements.
#[derive(Debug, Clone)]
pub struct Elements<'a> {
    rest: &'a [u8],
}

impl<'a> Elements<'a> {
    /// Starts at the first element.
    pub const fn new(octets: &'a [u8]) -> Self {
        Self { rest: octets }
    }

    /// The first element with this identifier.
    pub fn find_id(&self, wanted: u8) -> Option<&'a [u8]> {
        self.clone()
            .find(|element| element.id == wanted)
            .map(|element| element.body)
    }

    /// The first element with this element ID extension.
    pub fn find_extension(&self, wanted: u8) -> Option<&'a [u8]> {
        self.clone()
            .filter_map(|element| element.extension())
            .find(|(extension, _)| *extension == wanted)
            .map(|(_, body)| body)
    }

    /// As [`Self::find_extension`], with the fragments that follow the element joined to it (IEEE
    /// 802.11-2020, 10.28.12).
    pub fn find_joined(&self, wanted: u8) -> Option<Vec<u8>> {
        let mut all = self.clone();
        let first = all.find(|element| element.extension().is_some_and(|(n, _)| n == wanted))?;
        let mut joined = first.body[1..].to_vec();
        let mut last = first;
        while last.body.len() == 255 {
            match all.next() {
                Some(next) if next.id == id::FRAGMENT => {
                    joined.extend_from_slice(next.body);
                    last = next;
                }
                _ => break,
            }
        }
        Some(joined)
    }

    /// The data of the first vendor-specific element with this OUI and type.
    pub fn find_vendor(&self, oui: [u8; 3], kind: u8) -> Option<&'a [u8]> {
        self.clone()
            .filter_map(|element| element.vendor())
            .find(|(o, k, _)| *o == oui && *k == kind)
            .map(|(_, _, body)| body)
    }

    /// Whether octets are left over that form no element.
    pub fn is_damaged(&self) -> bool {
        let mut all = self.clone();
        while all.next().is_some() {}
        !all.rest.is_empty()
    }
}

impl<'a> Iterator for Elements<'a> {
    type Item = Element<'a>;

    fn next(&mut self) -> Option<Element<'a>> {
        let [id, len, rest @ ..] = self.rest else {
            return None;
        };
        let body = rest.get(..usize::from(*len))?;
        self.rest = &rest[body.len()..];
        Some(Element { id: *id, body })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn lists_round_trip(list in proptest::collection::vec((any::<u8>(), proptest::collection::vec(any::<u8>(), 0..=255)), 0..8)) {
            let mut octets = Vec::new();
            for (id, body) in &list {
                Element { id: *id, body }.emit(&mut octets);
            }
            let elements = Elements::new(&octets);
            prop_assert!(!elements.is_damaged());
            let read: Vec<_> = elements.map(|e| (e.id, e.body.to_vec())).collect();
            prop_assert_eq!(read, list);
        }

        #[test]
        fn any_octets_end(octets in proptest::collection::vec(any::<u8>(), 0..600)) {
            for element in Elements::new(&octets) {
                let _ = (element.extension(), element.vendor());
            }
        }
    }

    #[test]
    fn finds_and_tells_damage() {
        let octets = [
            0, 2, b'a', b'b', 255, 2, 32, 9, 221, 5, 0, 0x50, 0xf2, 1, 7, 48, 9, 1,
        ];
        let elements = Elements::new(&octets);
        assert_eq!(elements.find_id(id::SSID), Some(&b"ab"[..]));
        assert_eq!(elements.find_extension(32), Some(&[9][..]));
        assert_eq!(elements.find_vendor([0, 0x50, 0xf2], 1), Some(&[7][..]));
        assert!(elements.is_damaged());
        assert_eq!(elements.find_id(48), None);
    }
}
