//! RADIUS packets (RFC 2865) with EAP-Message (RFC 3579) and Microsoft's keys (RFC 2548).
//!
//! Takes octets; gives [`RadiusRepr`], and octets back. Knows where the authenticators
//! stand; never computes them, because that takes the shared secret.

use crate::{Cursor, Error, Result};

/// UDP port of authentication (RFC 2865 section 3).
pub const PORT: u16 = 1812;
/// Octets before the attributes (RFC 2865 section 3).
pub const HEADER_OCTETS: usize = 20;
/// Longest packet (RFC 2865 section 3).
pub const MAX_OCTETS: usize = 4096;
/// Most value octets of one attribute.
pub const MAX_VALUE_OCTETS: usize = 253;
/// SMI enterprise code of Microsoft, whose attributes carry the keys (RFC 2548).
pub const VENDOR_MICROSOFT: u32 = 311;

/// Packet codes (RFC 2865 section 4).
pub mod code {
    /// Access-Request.
    pub const ACCESS_REQUEST: u8 = 1;
    /// Access-Accept.
    pub const ACCESS_ACCEPT: u8 = 2;
    /// Access-Reject.
    pub const ACCESS_REJECT: u8 = 3;
    /// Access-Challenge.
    pub const ACCESS_CHALLENGE: u8 = 11;
}

/// Attribute types (RFC 2865 section 5, RFC 2869, RFC 3579).
pub mod attribute {
    /// User-Name.
    pub const USER_NAME: u8 = 1;
    /// NAS-IP-Address.
    pub const NAS_IP_ADDRESS: u8 = 4;
    /// NAS-Port.
    pub const NAS_PORT: u8 = 5;
    /// Framed-MTU.
    pub const FRAMED_MTU: u8 = 12;
    /// State.
    pub const STATE: u8 = 24;
    /// Vendor-Specific.
    pub const VENDOR_SPECIFIC: u8 = 26;
    /// Called-Station-Id.
    pub const CALLED_STATION_ID: u8 = 30;
    /// Calling-Station-Id.
    pub const CALLING_STATION_ID: u8 = 31;
    /// Proxy-State.
    pub const PROXY_STATE: u8 = 33;
    /// NAS-Port-Type; 19 is Wireless - IEEE 802.11.
    pub const NAS_PORT_TYPE: u8 = 61;
    /// Connect-Info.
    pub const CONNECT_INFO: u8 = 77;
    /// EAP-Message.
    pub const EAP_MESSAGE: u8 = 79;
    /// Message-Authenticator.
    pub const MESSAGE_AUTHENTICATOR: u8 = 80;
    /// MS-MPPE-Send-Key, inside Vendor-Specific of Microsoft.
    pub const MS_MPPE_SEND_KEY: u8 = 16;
    /// MS-MPPE-Recv-Key, inside Vendor-Specific of Microsoft.
    pub const MS_MPPE_RECV_KEY: u8 = 17;
}

/// A checked packet over its octets.
#[derive(Debug, Clone, Copy)]
pub struct RadiusView<'a> {
    octets: &'a [u8],
}

impl<'a> RadiusView<'a> {
    /// Checks the length; octets behind it are padding (RFC 2865 section 3).
    ///
    /// # Errors
    /// [`Error`] when the length is below 20, above 4096 or beyond the octets.
    pub fn new(octets: &'a [u8]) -> Result<Self> {
        let mut cursor = Cursor::new("RADIUS", octets);
        cursor.take(2)?;
        let length = usize::from(cursor.u16_be()?);
        if !(HEADER_OCTETS..=MAX_OCTETS).contains(&length) {
            return Err(Error::malformed("RADIUS", "length is not 20 to 4096"));
        }
        if octets.len() < length {
            return Err(Error::truncated("RADIUS", length, octets.len()));
        }
        Ok(Self {
            octets: &octets[..length],
        })
    }

    /// Packet code, see [`code`].
    #[must_use]
    pub const fn code(&self) -> u8 {
        self.octets[0]
    }

    /// Matches responses with requests.
    #[must_use]
    pub const fn identifier(&self) -> u8 {
        self.octets[1]
    }

    /// Request or response authenticator.
    #[must_use]
    pub fn authenticator(&self) -> &'a [u8] {
        &self.octets[4..HEADER_OCTETS]
    }

    /// The attributes' octets.
    #[must_use]
    pub fn attributes(&self) -> &'a [u8] {
        &self.octets[HEADER_OCTETS..]
    }

    /// Where the 16 octets of the Message-Authenticator stand, if the packet has one.
    #[must_use]
    pub fn message_authenticator_at(&self) -> Option<usize> {
        let mut at = HEADER_OCTETS;
        while let [kind, length, ..] = self.octets[at..] {
            if kind == attribute::MESSAGE_AUTHENTICATOR && length == 18 {
                return (at + 18 <= self.octets.len()).then_some(at + 2);
            }
            at += usize::from(length).max(2);
            if at >= self.octets.len() {
                break;
            }
        }
        None
    }
}

/// A RADIUS packet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RadiusRepr {
    /// Packet code, see [`code`].
    pub code: u8,
    /// Matches responses with requests.
    pub identifier: u8,
    /// Request or response authenticator.
    pub authenticator: [u8; 16],
    /// Attributes in order: type and value (at most 253 octets each).
    pub attributes: Vec<(u8, Vec<u8>)>,
}

impl RadiusRepr {
    /// Reads a packet.
    ///
    /// # Errors
    /// As [`RadiusView::new`], or when an attribute is shorter than 2 or beyond the packet.
    pub fn parse(octets: &[u8]) -> Result<Self> {
        let view = RadiusView::new(octets)?;
        let mut cursor = Cursor::new("RADIUS attribute", view.attributes());
        let mut attributes = Vec::new();
        while cursor.remaining() > 0 {
            let kind = cursor.u8()?;
            let length = usize::from(cursor.u8()?);
            let value = length
                .checked_sub(2)
                .ok_or(Error::malformed("RADIUS attribute", "length is below 2"))?;
            attributes.push((kind, cursor.take(value)?.to_vec()));
        }
        let mut authenticator = [0; 16];
        authenticator.copy_from_slice(view.authenticator());
        Ok(Self {
            code: view.code(),
            identifier: view.identifier(),
            authenticator,
            attributes,
        })
    }

    /// Appends the packet's octets; values beyond 253 octets are cut.
    pub fn emit(&self, out: &mut Vec<u8>) {
        let length = HEADER_OCTETS
            + self
                .attributes
                .iter()
                .map(|(_, value)| 2 + value.len().min(MAX_VALUE_OCTETS))
                .sum::<usize>();
        out.extend([self.code, self.identifier]);
        out.extend(u16::try_from(length).unwrap_or(u16::MAX).to_be_bytes());
        out.extend(self.authenticator);
        for (kind, value) in &self.attributes {
            let value = &value[..value.len().min(MAX_VALUE_OCTETS)];
            out.push(*kind);
            out.push(u8::try_from(2 + value.len()).unwrap_or(u8::MAX));
            out.extend(value);
        }
    }

    /// The first value of an attribute.
    #[must_use]
    pub fn value(&self, kind: u8) -> Option<&[u8]> {
        self.attributes
            .iter()
            .find(|(k, _)| *k == kind)
            .map(|(_, value)| value.as_slice())
    }

    /// All EAP-Message values joined (RFC 3579 section 3.1); empty without any.
    #[must_use]
    pub fn eap_message(&self) -> Vec<u8> {
        self.attributes
            .iter()
            .filter(|(kind, _)| *kind == attribute::EAP_MESSAGE)
            .flat_map(|(_, value)| value.clone())
            .collect()
    }

    /// Adds an EAP packet in as many EAP-Message attributes as it needs.
    pub fn push_eap_message(&mut self, eap: &[u8]) {
        for part in eap.chunks(MAX_VALUE_OCTETS) {
            self.attributes
                .push((attribute::EAP_MESSAGE, part.to_vec()));
        }
    }

    /// Adds an attribute of Microsoft's (RFC 2548).
    pub fn push_microsoft(&mut self, kind: u8, value: &[u8]) {
        let mut octets = VENDOR_MICROSOFT.to_be_bytes().to_vec();
        octets.push(kind);
        octets.push(u8::try_from(value.len() + 2).unwrap_or(u8::MAX));
        octets.extend(value);
        self.attributes.push((attribute::VENDOR_SPECIFIC, octets));
    }

    /// Replaces the first value of an attribute of Microsoft's; without one nothing changes.
    pub fn set_microsoft(&mut self, kind: u8, value: &[u8]) {
        let own = |(k, octets): &&mut (u8, Vec<u8>)| {
            *k == attribute::VENDOR_SPECIFIC
                && octets.starts_with(&VENDOR_MICROSOFT.to_be_bytes())
                && octets.get(4) == Some(&kind)
        };
        if let Some((_, octets)) = self.attributes.iter_mut().find(own) {
            octets.truncate(5);
            octets.push(u8::try_from(value.len() + 2).unwrap_or(u8::MAX));
            octets.extend(value);
        }
    }

    /// The first value of an attribute of Microsoft's.
    #[must_use]
    pub fn microsoft(&self, kind: u8) -> Option<&[u8]> {
        self.attributes
            .iter()
            .filter(|(k, _)| *k == attribute::VENDOR_SPECIFIC)
            .find_map(|(_, value)| {
                let mut cursor = Cursor::new("RADIUS vendor attribute", value);
                let vendor = cursor.u32_be().ok()?;
                let found = cursor.u8().ok()?;
                let length = usize::from(cursor.u8().ok()?).checked_sub(2)?;
                let value = cursor.take(length).ok()?;
                (vendor == VENDOR_MICROSOFT && found == kind).then_some(value)
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn written(repr: &RadiusRepr) -> Vec<u8> {
        let mut octets = Vec::new();
        repr.emit(&mut octets);
        octets
    }

    #[test]
    fn a_long_eap_packet_is_split_and_joined() {
        let eap: Vec<u8> = (0..=255).cycle().take(600).collect();
        let mut packet = RadiusRepr {
            code: code::ACCESS_CHALLENGE,
            identifier: 3,
            authenticator: [9; 16],
            attributes: vec![(attribute::STATE, vec![1, 2])],
        };
        packet.push_eap_message(&eap);
        packet.push_microsoft(attribute::MS_MPPE_RECV_KEY, &[7; 50]);
        packet
            .attributes
            .push((attribute::MESSAGE_AUTHENTICATOR, vec![0xaa; 16]));
        let octets = written(&packet);
        let read = RadiusRepr::parse(&octets).unwrap();
        assert_eq!(read.eap_message(), eap);
        assert_eq!(read.attributes.len(), 1 + 3 + 1 + 1);
        assert_eq!(
            read.microsoft(attribute::MS_MPPE_RECV_KEY),
            Some(&[7; 50][..])
        );
        assert_eq!(read.microsoft(attribute::MS_MPPE_SEND_KEY), None);
        let at = RadiusView::new(&octets).unwrap().message_authenticator_at();
        assert_eq!(at, Some(octets.len() - 16));
    }

    #[test]
    fn an_attribute_shorter_than_its_header_is_refused() {
        let octets = [&[1, 1, 0, 22][..], &[0; 16], &[1, 1]].concat();
        assert_eq!(
            RadiusRepr::parse(&octets),
            Err(Error::malformed("RADIUS attribute", "length is below 2"))
        );
    }

    proptest! {
        #[test]
        fn packets_round_trip(code: u8, identifier: u8, authenticator: [u8; 16], attributes in prop::collection::vec((any::<u8>(), prop::collection::vec(any::<u8>(), 0..=253)), 0..9)) {
            let packet = RadiusRepr { code, identifier, authenticator, attributes };
            prop_assert_eq!(RadiusRepr::parse(&written(&packet)), Ok(packet));
        }

        #[test]
        fn no_octets_panic(octets in prop::collection::vec(any::<u8>(), 0..99), length in 0_u16..99) {
            let mut octets = octets;
            if octets.len() > 4 {
                octets[2..4].copy_from_slice(&length.to_be_bytes());
            }
            if let Ok(view) = RadiusView::new(&octets) {
                let _ = view.message_authenticator_at();
            }
            if let Ok(repr) = RadiusRepr::parse(&octets) {
                let _ = repr.microsoft(16);
            }
        }
    }
}
