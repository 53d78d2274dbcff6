//! EAP packets (RFC 3748) and the framing of the methods inside them.
//!
//! Takes octets; gives [`EapRepr`], and octets back. EAP-TLS, PEAP and TTLS share one
//! fragment header (RFC 5216 section 3.1), read and written here as [`TlsFragment`].
//! Never runs a method: the methods run in `airtoll-handshakes`.

use crate::{Cursor, Error, Result};

/// Octets of code, identifier and length (RFC 3748 section 4).
pub const HEADER_OCTETS: usize = 4;

/// EAP code (RFC 3748 section 4).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Code {
    /// 1
    Request,
    /// 2
    Response,
    /// 3
    Success,
    /// 4
    Failure,
}

impl Code {
    /// The code's number.
    #[must_use]
    pub const fn number(self) -> u8 {
        match self {
            Self::Request => 1,
            Self::Response => 2,
            Self::Success => 3,
            Self::Failure => 4,
        }
    }

    const fn from_number(number: u8) -> Option<Self> {
        Some(match number {
            1 => Self::Request,
            2 => Self::Response,
            3 => Self::Success,
            4 => Self::Failure,
            _ => return None,
        })
    }
}

/// EAP method types used here (IANA "Method Types").
pub mod method {
    /// Identity (RFC 3748 section 5.1).
    pub const IDENTITY: u8 = 1;
    /// Notification (section 5.2).
    pub const NOTIFICATION: u8 = 2;
    /// Nak, in responses only (section 5.3.1).
    pub const NAK: u8 = 3;
    /// MD5-Challenge (section 5.4).
    pub const MD5_CHALLENGE: u8 = 4;
    /// EAP-TLS (RFC 5216).
    pub const TLS: u8 = 13;
    /// LEAP (Cisco).
    pub const LEAP: u8 = 17;
    /// EAP-TTLS (RFC 5281).
    pub const TTLS: u8 = 21;
    /// PEAP (draft-josefsson-pppext-eap-tls-eap; MS-PEAP).
    pub const PEAP: u8 = 25;
    /// EAP-MSCHAPv2 (draft-kamath-pppext-eap-mschapv2).
    pub const MSCHAPV2: u8 = 26;
    /// EAP Extensions, the TLVs of MS-PEAP section 2.2.8.
    pub const EXTENSIONS: u8 = 33;
    /// EAP-TEAP (RFC 9930).
    pub const TEAP: u8 = 55;
}

/// A checked EAP packet over its octets.
#[derive(Debug, Clone, Copy)]
pub struct EapView<'a> {
    octets: &'a [u8],
    code: Code,
}

impl<'a> EapView<'a> {
    /// Checks code and length; octets behind the length are padding (RFC 3748 section 4.1).
    ///
    /// # Errors
    /// [`Error`] on an unknown code, a length below 4, or fewer octets than the length says.
    pub fn new(octets: &'a [u8]) -> Result<Self> {
        let mut cursor = Cursor::new("EAP", octets);
        let code =
            Code::from_number(cursor.u8()?).ok_or(Error::malformed("EAP", "code not 1 to 4"))?;
        cursor.u8()?;
        let length = usize::from(cursor.u16_be()?);
        let least = match code {
            Code::Request | Code::Response => HEADER_OCTETS + 1,
            Code::Success | Code::Failure => HEADER_OCTETS,
        };
        if length < least {
            return Err(Error::malformed("EAP", "length below the header"));
        }
        if octets.len() < length {
            return Err(Error::truncated("EAP", length, octets.len()));
        }
        Ok(Self {
            octets: &octets[..length],
            code,
        })
    }

    /// Request, response, success or failure.
    #[must_use]
    pub const fn code(&self) -> Code {
        self.code
    }

    /// Matches responses with requests.
    #[must_use]
    pub const fn identifier(&self) -> u8 {
        self.octets[1]
    }

    /// The method type of a request or response.
    #[must_use]
    pub fn method(&self) -> Option<u8> {
        self.octets.get(HEADER_OCTETS).copied()
    }

    /// The octets after the method type.
    #[must_use]
    pub fn data(&self) -> &'a [u8] {
        self.octets.get(HEADER_OCTETS + 1..).unwrap_or_default()
    }
}

/// An EAP packet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EapRepr {
    /// Request, response, success or failure.
    pub code: Code,
    /// Matches responses with requests.
    pub identifier: u8,
    /// Method type and its data; `None` for success and failure.
    pub body: Option<(u8, Vec<u8>)>,
}

impl EapRepr {
    /// A request of `method`.
    #[must_use]
    pub const fn request(identifier: u8, method: u8, data: Vec<u8>) -> Self {
        Self {
            code: Code::Request,
            identifier,
            body: Some((method, data)),
        }
    }

    /// A response of `method`.
    #[must_use]
    pub const fn response(identifier: u8, method: u8, data: Vec<u8>) -> Self {
        Self {
            code: Code::Response,
            identifier,
            body: Some((method, data)),
        }
    }

    /// Success or failure.
    #[must_use]
    pub const fn end(code: Code, identifier: u8) -> Self {
        Self {
            code,
            identifier,
            body: None,
        }
    }

    /// Reads a packet.
    ///
    /// # Errors
    /// As [`EapView::new`].
    pub fn parse(octets: &[u8]) -> Result<Self> {
        let view = EapView::new(octets)?;
        let body = match view.code() {
            Code::Request | Code::Response => {
                view.method().map(|method| (method, view.data().to_vec()))
            }
            Code::Success | Code::Failure => None,
        };
        Ok(Self {
            code: view.code(),
            identifier: view.identifier(),
            body,
        })
    }

    /// Octets that [`Self::emit`] writes.
    #[must_use]
    pub fn len(&self) -> usize {
        HEADER_OCTETS + self.body.as_ref().map_or(0, |(_, data)| 1 + data.len())
    }

    /// Never: an EAP packet has at least its header.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        false
    }

    /// The packet's octets. Data beyond 65 530 octets would not fit the length field and is cut.
    pub fn emit(&self, octets: &mut Vec<u8>) {
        let start = octets.len();
        let length = u16::try_from(self.len()).unwrap_or(u16::MAX);
        octets.extend([self.code.number(), self.identifier]);
        octets.extend(length.to_be_bytes());
        if let Some((method, data)) = &self.body {
            octets.push(*method);
            octets.extend(data);
        }
        octets.truncate(start + usize::from(length));
    }
}

/// The flags and data of one EAP-TLS, PEAP or TTLS packet (RFC 5216 section 3.1;
/// RFC 5281 section 9.1).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TlsFragment {
    /// S: the server's first packet.
    pub start: bool,
    /// M: more fragments follow.
    pub more: bool,
    /// Octets of the whole TLS message, when the L flag is set.
    pub total: Option<u32>,
    /// PEAP's or TTLS's version, low three bits of the flags (0 in EAP-TLS).
    pub version: u8,
    /// A part of the TLS data.
    pub data: Vec<u8>,
    /// Outer TLVs behind the TLS data, when the O flag of TEAP is set (RFC 7170 section 4.1); other
    /// methods leave the flag reserved.
    pub outer: Vec<u8>,
}

impl TlsFragment {
    const LENGTH: u8 = 0x80;
    const MORE: u8 = 0x40;
    const START: u8 = 0x20;
    const OUTER: u8 = 0x10;

    /// Reads what follows the method type.
    ///
    /// # Errors
    /// [`Error::Truncated`] without flags or without a promised length, or with fewer octets than
    /// the outer TLVs have.
    pub fn parse(octets: &[u8]) -> Result<Self> {
        let mut cursor = Cursor::new("EAP-TLS", octets);
        let flags = cursor.u8()?;
        let total = (flags & Self::LENGTH != 0)
            .then(|| cursor.u32_be())
            .transpose()?;
        let outer = if flags & Self::OUTER == 0 {
            0
        } else {
            cursor.u32_be()? as usize
        };
        let rest = cursor.rest();
        let Some(end) = rest.len().checked_sub(outer) else {
            return Err(Error::truncated("EAP-TLS outer TLVs", outer, rest.len()));
        };
        Ok(Self {
            start: flags & Self::START != 0,
            more: flags & Self::MORE != 0,
            total,
            version: flags & 0x07,
            data: rest[..end].to_vec(),
            outer: rest[end..].to_vec(),
        })
    }

    /// The octets after the method type.
    pub fn emit(&self, octets: &mut Vec<u8>) {
        let mut flags = self.version & 0x07;
        if self.start {
            flags |= Self::START;
        }
        if self.more {
            flags |= Self::MORE;
        }
        if self.total.is_some() {
            flags |= Self::LENGTH;
        }
        if !self.outer.is_empty() {
            flags |= Self::OUTER;
        }
        octets.push(flags);
        octets.extend(self.total.into_iter().flat_map(u32::to_be_bytes));
        if !self.outer.is_empty() {
            let length = u32::try_from(self.outer.len()).unwrap_or(u32::MAX);
            octets.extend(length.to_be_bytes());
        }
        octets.extend(&self.data);
        octets.extend(&self.outer);
    }

    /// Whether this acknowledges a fragment: no flag and no data.
    #[must_use]
    pub fn is_acknowledgement(&self) -> bool {
        !self.start
            && !self.more
            && self.total.is_none()
            && self.data.is_empty()
            && self.outer.is_empty()
    }
}

/// A value with a length octet before it and a name behind it: MD5-Challenge's data
/// (RFC 3748 section 5.4: Value-Size, Value, Name).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SizedValue {
    /// Challenge or response.
    pub value: Vec<u8>,
    /// The sender.
    pub name: Vec<u8>,
}

impl SizedValue {
    /// Reads value size, value and name.
    ///
    /// # Errors
    /// [`Error::Truncated`] when the size exceeds the data.
    pub fn parse(octets: &[u8]) -> Result<Self> {
        let mut cursor = Cursor::new("EAP value", octets);
        let size = usize::from(cursor.u8()?);
        Ok(Self {
            value: cursor.take(size)?.to_vec(),
            name: cursor.rest().to_vec(),
        })
    }

    /// Value size, value and name; a value beyond 255 octets is cut.
    pub fn emit(&self, octets: &mut Vec<u8>) {
        let size = u8::try_from(self.value.len()).unwrap_or(u8::MAX);
        octets.push(size);
        octets.extend(&self.value[..usize::from(size)]);
        octets.extend(&self.name);
    }
}

/// LEAP's data: version, a reserved octet, count, challenge or response, user name
/// (as the Linux testbed's hostapd and Wireshark's dissector read it).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeapData {
    /// 8-octet challenge, or 24-octet response.
    pub value: Vec<u8>,
    /// User name.
    pub name: Vec<u8>,
}

impl LeapData {
    const VERSION: u8 = 1;

    /// Reads LEAP data.
    ///
    /// # Errors
    /// [`Error`] on another version or a count beyond the data.
    pub fn parse(octets: &[u8]) -> Result<Self> {
        let mut cursor = Cursor::new("LEAP", octets);
        if cursor.u8()? != Self::VERSION {
            return Err(Error::malformed("LEAP", "version is not 1"));
        }
        cursor.u8()?;
        let count = usize::from(cursor.u8()?);
        Ok(Self {
            value: cursor.take(count)?.to_vec(),
            name: cursor.rest().to_vec(),
        })
    }

    /// LEAP data's octets; a value beyond 255 octets is cut.
    pub fn emit(&self, octets: &mut Vec<u8>) {
        let count = u8::try_from(self.value.len()).unwrap_or(u8::MAX);
        octets.extend([Self::VERSION, 0, count]);
        octets.extend(&self.value[..usize::from(count)]);
        octets.extend(&self.name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn written(emit: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
        let mut octets = Vec::new();
        emit(&mut octets);
        octets
    }

    #[test]
    fn identity_response_is_written_as_rfc_3748_says() {
        let packet = EapRepr::response(7, method::IDENTITY, b"alice".to_vec());
        assert_eq!(
            written(|o| packet.emit(o)),
            [&[2, 7, 0, 10, 1][..], b"alice"].concat()
        );
    }

    #[test]
    fn padding_behind_the_length_is_not_data() {
        let packet = EapRepr::parse(&[3, 9, 0, 4, 0, 0, 0]).unwrap();
        assert_eq!(packet, EapRepr::end(Code::Success, 9));
    }

    #[test]
    fn a_request_without_a_type_is_refused() {
        assert!(EapRepr::parse(&[1, 9, 0, 4]).is_err());
        assert!(EapRepr::parse(&[5, 9, 0, 4]).is_err());
    }

    #[test]
    fn an_empty_fragment_acknowledges() {
        assert!(TlsFragment::parse(&[0]).unwrap().is_acknowledgement());
        assert!(!TlsFragment::parse(&[0x20]).unwrap().is_acknowledgement());
    }

    proptest! {
        #[test]
        fn packets_round_trip(response: bool, identifier: u8, kind: u8, data in prop::collection::vec(any::<u8>(), 0..300)) {
            let packet = if response { EapRepr::response(identifier, kind, data) } else { EapRepr::request(identifier, kind, data) };
            prop_assert_eq!(EapRepr::parse(&written(|o| packet.emit(o))), Ok(packet));
        }

        #[test]
        fn fragments_round_trip(start: bool, more: bool, total: Option<u32>, version in 0_u8..8, data in prop::collection::vec(any::<u8>(), 0..100), outer in prop::collection::vec(any::<u8>(), 0..20)) {
            let fragment = TlsFragment { start, more, total, version, data, outer };
            prop_assert_eq!(TlsFragment::parse(&written(|o| fragment.emit(o))), Ok(fragment));
        }

        #[test]
        fn values_round_trip(value in prop::collection::vec(any::<u8>(), 0..255), name in prop::collection::vec(any::<u8>(), 0..50)) {
            let sized = SizedValue { value: value.clone(), name: name.clone() };
            prop_assert_eq!(SizedValue::parse(&written(|o| sized.emit(o))), Ok(sized));
            let leap = LeapData { value, name };
            prop_assert_eq!(LeapData::parse(&written(|o| leap.emit(o))), Ok(leap));
        }

        #[test]
        fn no_octets_panic(octets in prop::collection::vec(any::<u8>(), 0..80)) {
            let _ = EapRepr::parse(&octets);
            let _ = TlsFragment::parse(&octets);
            let _ = SizedValue::parse(&octets);
            let _ = LeapData::parse(&octets);
        }
    }
}
