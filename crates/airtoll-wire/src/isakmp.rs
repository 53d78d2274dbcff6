//! ISAKMP (RFC 2408) as IKEv1 (RFC 2409) uses it, and IKEv2 (RFC 7296): one header, one
//! payload chain, two forms of proposal.
//!
//! Takes octets; gives [`IsakmpRepr`] and [`ProposalRepr`], and octets back.
//! Never encrypts: an encrypted body is one opaque string here.

use crate::{Cursor, Error, Result};

/// UDP port (RFC 2408 section 2.5.1, RFC 7296 section 2).
pub const PORT: u16 = 500;
/// Octets before the first payload (RFC 2408 section 3.1, RFC 7296 section 3.1).
pub const HEADER_OCTETS: usize = 28;
/// Octets of a payload's generic header.
pub const PAYLOAD_HEADER_OCTETS: usize = 4;

/// Exchange types (RFC 2409 section 5, RFC 7296 section 3.1).
pub mod exchange {
    /// IKEv1 main mode (identity protection).
    pub const IDENTITY_PROTECTION: u8 = 2;
    /// IKEv1 informational.
    pub const INFORMATIONAL: u8 = 5;
    /// IKEv1 quick mode.
    pub const QUICK_MODE: u8 = 32;
    /// IKE_SA_INIT.
    pub const IKE_SA_INIT: u8 = 34;
    /// IKE_AUTH.
    pub const IKE_AUTH: u8 = 35;
    /// INFORMATIONAL of IKEv2.
    pub const INFORMATIONAL_V2: u8 = 37;
    /// IKE_INTERMEDIATE (RFC 9242).
    pub const IKE_INTERMEDIATE: u8 = 43;
}

/// Payload types (RFC 2408 section 3.1; RFC 7296 section 3.2).
pub mod payload {
    /// IKEv1 security association.
    pub const V1_SA: u8 = 1;
    /// IKEv1 key exchange.
    pub const V1_KEY_EXCHANGE: u8 = 4;
    /// IKEv1 identification.
    pub const V1_IDENTIFICATION: u8 = 5;
    /// IKEv1 hash.
    pub const V1_HASH: u8 = 8;
    /// IKEv1 nonce.
    pub const V1_NONCE: u8 = 10;
    /// IKEv1 notification.
    pub const V1_NOTIFICATION: u8 = 11;
    /// IKEv2 security association.
    pub const SA: u8 = 33;
    /// IKEv2 key exchange.
    pub const KEY_EXCHANGE: u8 = 34;
    /// IKEv2 identification, initiator.
    pub const ID_INITIATOR: u8 = 35;
    /// IKEv2 identification, responder.
    pub const ID_RESPONDER: u8 = 36;
    /// IKEv2 certificate.
    pub const CERTIFICATE: u8 = 37;
    /// IKEv2 certificate request.
    pub const CERTIFICATE_REQUEST: u8 = 38;
    /// IKEv2 authentication.
    pub const AUTHENTICATION: u8 = 39;
    /// IKEv2 nonce.
    pub const NONCE: u8 = 40;
    /// IKEv2 notify.
    pub const NOTIFY: u8 = 41;
    /// IKEv2 traffic selectors, initiator.
    pub const TS_INITIATOR: u8 = 44;
    /// IKEv2 traffic selectors, responder.
    pub const TS_RESPONDER: u8 = 45;
    /// IKEv2 encrypted and authenticated.
    pub const ENCRYPTED: u8 = 46;
    /// IKEv2 encrypted and authenticated fragment (RFC 7383 section 2.5).
    pub const ENCRYPTED_FRAGMENT: u8 = 53;

    /// Notation of an IKEv2 payload (RFC 7296 section 3.2, RFC 7383 section 2.5); `None` for another type.
    #[must_use]
    pub const fn notation(kind: u8) -> Option<&'static str> {
        Some(match kind {
            SA => "SA",
            KEY_EXCHANGE => "KE",
            ID_INITIATOR => "IDi",
            ID_RESPONDER => "IDr",
            CERTIFICATE => "CERT",
            CERTIFICATE_REQUEST => "CERTREQ",
            AUTHENTICATION => "AUTH",
            NONCE => "Nonce",
            NOTIFY => "N",
            42 => "D",
            43 => "V",
            TS_INITIATOR => "TSi",
            TS_RESPONDER => "TSr",
            ENCRYPTED => "SK",
            47 => "CP",
            48 => "EAP",
            ENCRYPTED_FRAGMENT => "SKF",
            _ => return None,
        })
    }
}

/// Header flags.
pub mod flag {
    /// IKEv1: payloads are encrypted.
    pub const ENCRYPTION: u8 = 0x01;
    /// IKEv2: sent by the original initiator.
    pub const INITIATOR: u8 = 0x08;
    /// IKEv2: answers a request.
    pub const RESPONSE: u8 = 0x20;
}

/// A payload: type and body without its generic header.
pub type Payload = (u8, Vec<u8>);

/// The fixed header (RFC 2408 section 3.1, RFC 7296 section 3.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IsakmpHeader {
    /// Initiator's cookie or SPI.
    pub initiator: [u8; 8],
    /// Responder's cookie or SPI; zero in the first message.
    pub responder: [u8; 8],
    /// Type of the first payload.
    pub next_payload: u8,
    /// 0x10 (IKEv1) or 0x20 (IKEv2).
    pub version: u8,
    /// See [`exchange`].
    pub exchange: u8,
    /// See [`flag`].
    pub flags: u8,
    /// Message ID.
    pub message_id: u32,
}

/// A checked message over its octets.
#[derive(Debug, Clone, Copy)]
pub struct IsakmpView<'a> {
    octets: &'a [u8],
    header: IsakmpHeader,
}

impl<'a> IsakmpView<'a> {
    /// Checks the header and the length.
    ///
    /// # Errors
    /// [`Error`] when the length is below 28 or is not that of the octets.
    pub fn new(octets: &'a [u8]) -> Result<Self> {
        let mut cursor = Cursor::new("ISAKMP", octets);
        let header = IsakmpHeader {
            initiator: cursor.array()?,
            responder: cursor.array()?,
            next_payload: cursor.u8()?,
            version: cursor.u8()?,
            exchange: cursor.u8()?,
            flags: cursor.u8()?,
            message_id: cursor.u32_be()?,
        };
        let length = cursor.u32_be()?;
        if usize::try_from(length) != Ok(octets.len()) {
            return Err(Error::malformed("ISAKMP", "length is not the datagram's"));
        }
        Ok(Self { octets, header })
    }

    /// The fixed header.
    #[must_use]
    pub const fn header(&self) -> &IsakmpHeader {
        &self.header
    }

    /// Payloads, or their ciphertext.
    #[must_use]
    pub fn body(&self) -> &'a [u8] {
        &self.octets[HEADER_OCTETS..]
    }
}

/// A message with readable payloads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IsakmpRepr {
    /// The fixed header; its next payload is that of the first payload.
    pub header: IsakmpHeader,
    /// Payloads in order.
    pub payloads: Vec<Payload>,
}

impl IsakmpRepr {
    /// Reads a message whose payloads are not encrypted.
    ///
    /// # Errors
    /// As [`IsakmpView::new`] and [`parse_payloads`].
    pub fn parse(octets: &[u8]) -> Result<Self> {
        let view = IsakmpView::new(octets)?;
        Ok(Self {
            header: view.header,
            payloads: parse_payloads(view.header.next_payload, view.body())?,
        })
    }

    /// Appends the message.
    pub fn emit(&self, out: &mut Vec<u8>) {
        let mut body = Vec::new();
        emit_payloads(&self.payloads, &mut body);
        let header = IsakmpHeader {
            next_payload: self.payloads.first().map_or(0, |(kind, _)| *kind),
            ..self.header
        };
        emit_message(&header, &body, out);
    }

    /// The first payload of a type.
    #[must_use]
    pub fn payload(&self, kind: u8) -> Option<&[u8]> {
        find_payload(&self.payloads, kind)
    }
}

/// The first payload of a type.
#[must_use]
pub fn find_payload(payloads: &[Payload], kind: u8) -> Option<&[u8]> {
    payloads
        .iter()
        .find(|(k, _)| *k == kind)
        .map(|(_, body)| body.as_slice())
}

/// Appends a header with the right length, and a body as it is.
pub fn emit_message(header: &IsakmpHeader, body: &[u8], out: &mut Vec<u8>) {
    let length = u32::try_from(HEADER_OCTETS + body.len()).unwrap_or(u32::MAX);
    out.extend(header.initiator);
    out.extend(header.responder);
    out.extend([
        header.next_payload,
        header.version,
        header.exchange,
        header.flags,
    ]);
    out.extend(header.message_id.to_be_bytes());
    out.extend(length.to_be_bytes());
    out.extend(body);
}

/// Reads a payload chain that starts with type `first`; octets behind the last payload are
/// padding of the cipher (RFC 2409 appendix B).
///
/// # Errors
/// [`Error`] when a length is below 4 or beyond the octets.
pub fn parse_payloads(first: u8, octets: &[u8]) -> Result<Vec<Payload>> {
    let mut cursor = Cursor::new("ISAKMP payload", octets);
    let mut payloads = Vec::new();
    let mut kind = first;
    while kind != 0 {
        let next = cursor.u8()?;
        cursor.u8()?;
        let length = usize::from(cursor.u16_be()?)
            .checked_sub(PAYLOAD_HEADER_OCTETS)
            .ok_or(Error::malformed("ISAKMP payload", "length is below 4"))?;
        payloads.push((kind, cursor.take(length)?.to_vec()));
        // Nothing readable follows the encrypted payload of IKEv2 (RFC 7296 section 3.14).
        kind = match kind {
            payload::ENCRYPTED | payload::ENCRYPTED_FRAGMENT => 0,
            _ => next,
        };
    }
    Ok(payloads)
}

/// Appends a payload chain.
pub fn emit_payloads(payloads: &[Payload], out: &mut Vec<u8>) {
    for (index, (_, body)) in payloads.iter().enumerate() {
        let next = payloads.get(index + 1).map_or(0, |(kind, _)| *kind);
        let length = u16::try_from(PAYLOAD_HEADER_OCTETS + body.len()).unwrap_or(u16::MAX);
        out.extend([next, 0]);
        out.extend(length.to_be_bytes());
        out.extend(body);
    }
}

/// A transform: in IKEv1 a number and an identifier, in IKEv2 a type and an identifier.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TransformRepr {
    /// IKEv1: transform number. IKEv2: 1 ENCR, 2 PRF, 3 INTEG, 4 KE, 5 ESN, 6 ADDKE1 (RFC 9370).
    pub kind: u8,
    /// Transform identifier (16 bits in IKEv2, 8 in IKEv1).
    pub identifier: u16,
    /// Attributes in the short form: type (below 0x8000) and value.
    pub attributes: Vec<(u16, u16)>,
}

/// One proposal of an SA payload (RFC 2408 section 3.5, RFC 7296 section 3.3.1).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProposalRepr {
    /// Proposal number, from 1 (IKEv2) or 0 or 1 (IKEv1).
    pub number: u8,
    /// 1 ISAKMP or IKE, 3 ESP.
    pub protocol: u8,
    /// SPI, empty for IKE itself.
    pub spi: Vec<u8>,
    /// Transforms in order.
    pub transforms: Vec<TransformRepr>,
}

impl ProposalRepr {
    /// Reads the only proposal of an SA payload's body; `version1` has DOI and situation
    /// before it (RFC 2407 section 4.6.1).
    ///
    /// # Errors
    /// [`Error`] when cut short, when more than one proposal is there, or an attribute has
    /// the long form.
    pub fn parse(body: &[u8], version1: bool) -> Result<Self> {
        match <[Self; 1]>::try_from(Self::parse_list(body, version1)?) {
            Ok([proposal]) => Ok(proposal),
            Err(_) => Err(Error::malformed("ISAKMP proposal", "is not the only one")),
        }
    }

    /// Reads every proposal of an SA payload's body, in order of preference.
    ///
    /// # Errors
    /// [`Error`] when cut short, or an attribute has the long form.
    pub fn parse_list(body: &[u8], version1: bool) -> Result<Vec<Self>> {
        let format = "ISAKMP proposal";
        let mut cursor = Cursor::new(format, body);
        if version1 && (cursor.u32_be()?, cursor.u32_be()?) != (1, 1) {
            return Err(Error::malformed(
                format,
                "DOI is not IPsec or situation not identity",
            ));
        }
        let mut proposals = Vec::new();
        loop {
            let more = cursor.u8()? != 0;
            cursor.u8()?;
            cursor.u16_be()?;
            let number = cursor.u8()?;
            let protocol = cursor.u8()?;
            let spi_octets = usize::from(cursor.u8()?);
            let count = cursor.u8()?;
            let spi = cursor.take(spi_octets)?.to_vec();
            let transforms = (0..count)
                .map(|_| transform(&mut cursor, version1))
                .collect::<Result<_>>()?;
            proposals.push(Self {
                number,
                protocol,
                spi,
                transforms,
            });
            if !more {
                return Ok(proposals);
            }
        }
    }

    /// Appends an SA payload's body with this proposal alone.
    pub fn emit(&self, version1: bool, out: &mut Vec<u8>) {
        if version1 {
            out.extend([0, 0, 0, 1, 0, 0, 0, 1]);
        }
        let spi_octets = u8::try_from(self.spi.len()).unwrap_or(u8::MAX);
        let length = 8
            + self.spi.len()
            + self
                .transforms
                .iter()
                .map(|t| 8 + 4 * t.attributes.len())
                .sum::<usize>();
        out.extend([0, 0]);
        out.extend(u16::try_from(length).unwrap_or(u16::MAX).to_be_bytes());
        out.extend([self.number, self.protocol, spi_octets]);
        out.push(u8::try_from(self.transforms.len()).unwrap_or(u8::MAX));
        out.extend(&self.spi);
        for (index, transform) in self.transforms.iter().enumerate() {
            let more = if index + 1 < self.transforms.len() {
                3
            } else {
                0
            };
            let length = 8 + 4 * transform.attributes.len();
            out.extend([more, 0]);
            out.extend(u16::try_from(length).unwrap_or(u16::MAX).to_be_bytes());
            out.push(transform.kind);
            let [high, low] = transform.identifier.to_be_bytes();
            if version1 {
                out.extend([low, 0, 0]);
            } else {
                out.extend([0, high, low]);
            }
            for (kind, value) in &transform.attributes {
                out.extend((0x8000 | kind).to_be_bytes());
                out.extend(value.to_be_bytes());
            }
        }
    }
}

fn transform(cursor: &mut Cursor<'_>, version1: bool) -> Result<TransformRepr> {
    let format = "ISAKMP transform";
    cursor.u16_be()?;
    let length = usize::from(cursor.u16_be()?)
        .checked_sub(8)
        .ok_or(Error::malformed(format, "length is below 8"))?;
    let kind = cursor.u8()?;
    let [a, b, c] = cursor.array()?;
    let identifier = if version1 {
        u16::from(a)
    } else {
        u16::from_be_bytes([b, c])
    };
    let mut list = Cursor::new(format, cursor.take(length)?);
    let mut attributes = Vec::new();
    while list.remaining() > 0 {
        let kind = list.u16_be()?;
        if kind & 0x8000 == 0 {
            return Err(Error::malformed(format, "attribute has the long form"));
        }
        attributes.push((kind & 0x7fff, list.u16_be()?));
    }
    Ok(TransformRepr {
        kind,
        identifier,
        attributes,
    })
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

    fn proposals() -> impl Strategy<Value = ProposalRepr> {
        let transform = (
            any::<u8>(),
            0_u16..256,
            prop::collection::vec((0_u16..0x8000, any::<u16>()), 0..4),
        )
            .prop_map(|(kind, identifier, attributes)| TransformRepr {
                kind,
                identifier,
                attributes,
            });
        (
            any::<u8>(),
            any::<u8>(),
            prop::collection::vec(any::<u8>(), 0..9),
            prop::collection::vec(transform, 0..5),
        )
            .prop_map(|(number, protocol, spi, transforms)| ProposalRepr {
                number,
                protocol,
                spi,
                transforms,
            })
    }

    #[test]
    fn a_main_mode_proposal_is_written_as_rfc_2408_says() {
        let proposal = ProposalRepr {
            number: 0,
            protocol: 1,
            spi: Vec::new(),
            transforms: vec![TransformRepr {
                kind: 0,
                identifier: 1,
                attributes: vec![(1, 5), (2, 1), (3, 1), (4, 2)],
            }],
        };
        let octets = written(|o| proposal.emit(true, o));
        assert_eq!(octets.len(), 8 + 8 + 8 + 4 * 4);
        assert_eq!(octets[8..16], [0, 0, 0, 32, 0, 1, 0, 1]);
        assert_eq!(octets[16..28], [0, 0, 0, 24, 0, 1, 0, 0, 0x80, 1, 0, 5]);
    }

    proptest! {
        #[test]
        fn messages_round_trip(initiator: [u8; 8], responder: [u8; 8], version: u8, exchange: u8, flags: u8, message_id: u32, payloads in prop::collection::vec((54_u8..70, prop::collection::vec(any::<u8>(), 0..40)), 0..5)) {
            let next_payload = payloads.first().map_or(0, |(kind, _)| *kind);
            let header = IsakmpHeader { initiator, responder, next_payload, version, exchange, flags, message_id };
            let message = IsakmpRepr { header, payloads };
            prop_assert_eq!(IsakmpRepr::parse(&written(|o| message.emit(o))), Ok(message));
        }

        #[test]
        fn proposals_round_trip(proposal in proposals(), version1: bool) {
            let octets = written(|o| proposal.emit(version1, o));
            prop_assert_eq!(ProposalRepr::parse(&octets, version1), Ok(proposal));
        }

        #[test]
        fn no_octets_panic(first: u8, octets in prop::collection::vec(any::<u8>(), 0..99), version1: bool) {
            let _ = IsakmpRepr::parse(&octets);
            let _ = parse_payloads(first, &octets);
            let _ = ProposalRepr::parse_list(&octets, version1);
        }
    }
}
