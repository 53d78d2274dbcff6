//! Mobility domain and fast BSS transition elements: take element bodies, give the FT key
//! holders, nonces and wrapped keys.
//!
//! Source: IEEE 802.11-2020 clauses 9.4.2.46 (MDE) and 9.4.2.47 (FTE, subelements of table
//! 9-219). Never unwraps a key.

use super::element::{Element, Elements};
use crate::{Cursor, Error, Result};

const FORMAT: &str = "FT element";

/// Mobility domain element.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct MdeRepr {
    /// Mobility domain identifier.
    pub mdid: [u8; 2],
    /// FT capability and policy: bit 0 over the DS, bit 1 resource request.
    pub capability: u8,
}

impl MdeRepr {
    /// Reads the element body.
    pub fn parse(body: &[u8]) -> Result<Self> {
        let mut cursor = Cursor::new("mobility domain element", body);
        Ok(Self {
            mdid: cursor.array()?,
            capability: cursor.u8()?,
        })
    }

    /// Appends the element body (3 octets).
    pub fn emit(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.mdid);
        out.push(self.capability);
    }
}

/// Fast BSS transition element; every slice is a part of the element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FteRepr<'a> {
    /// MIC Control: octet 0 flags, octet 1 the number of protected elements.
    pub mic_control: [u8; 2],
    /// MIC, 16 octets (24 with AKMs of SHA-384), zero while unprotected.
    pub mic: &'a [u8],
    /// ANonce.
    pub anonce: &'a [u8; 32],
    /// SNonce.
    pub snonce: &'a [u8; 32],
    /// Subelement 1: PMK-R1 key holder identifier, 6 octets.
    pub r1kh_id: Option<&'a [u8]>,
    /// Subelement 2: wrapped GTK with key info, length and RSC.
    pub gtk: Option<&'a [u8]>,
    /// Subelement 3: PMK-R0 key holder identifier, 1 to 48 octets.
    pub r0kh_id: Option<&'a [u8]>,
    /// Subelement 4: wrapped IGTK with key ID, IPN and length.
    pub igtk: Option<&'a [u8]>,
    /// Subelement 5: operating channel information.
    pub oci: Option<&'a [u8]>,
    /// Subelement 6: wrapped BIGTK with key ID, BIPN and length.
    pub bigtk: Option<&'a [u8]>,
}

impl<'a> FteRepr<'a> {
    /// Reads the element body with a MIC of `mic_len` octets (16, 24 or 32, by the AKM).
    pub fn parse(body: &'a [u8], mic_len: usize) -> Result<Self> {
        let mut cursor = Cursor::new(FORMAT, body);
        let mic_control = cursor.array()?;
        let mic = cursor.take(mic_len)?;
        let anonce = nonce(cursor.take(32)?)?;
        let snonce = nonce(cursor.take(32)?)?;
        let subelements = Elements::new(cursor.rest());
        Ok(Self {
            mic_control,
            mic,
            anonce,
            snonce,
            r1kh_id: subelements.find_id(1),
            gtk: subelements.find_id(2),
            r0kh_id: subelements.find_id(3),
            igtk: subelements.find_id(4),
            oci: subelements.find_id(5),
            bigtk: subelements.find_id(6),
        })
    }

    /// Appends the element body, subelements in order of their identifiers.
    pub fn emit(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.mic_control);
        out.extend_from_slice(self.mic);
        out.extend_from_slice(self.anonce);
        out.extend_from_slice(self.snonce);
        let subelements = [
            (1, self.r1kh_id),
            (2, self.gtk),
            (3, self.r0kh_id),
            (4, self.igtk),
            (5, self.oci),
            (6, self.bigtk),
        ];
        for (id, body) in subelements {
            if let Some(body) = body {
                Element { id, body }.emit(out);
            }
        }
    }
}

fn nonce(octets: &[u8]) -> Result<&[u8; 32]> {
    octets
        .try_into()
        .map_err(|_| Error::truncated(FORMAT, 32, octets.len()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn fte_round_trips(
            mic_control: [u8; 2], long: bool, mic: [u8; 24], anonce: [u8; 32], snonce: [u8; 32],
            r1kh: Option<[u8; 6]>, oci: Option<[u8; 3]>, r0kh in proptest::option::of(proptest::collection::vec(any::<u8>(), 1..49)),
            gtk in proptest::option::of(proptest::collection::vec(any::<u8>(), 35..52)),
        ) {
            let mic_len = if long { 24 } else { 16 };
            let repr = FteRepr {
                mic_control, mic: &mic[..mic_len], anonce: &anonce, snonce: &snonce,
                r1kh_id: r1kh.as_ref().map(|id| &id[..]), gtk: gtk.as_deref(),
                r0kh_id: r0kh.as_deref(), igtk: None, oci: oci.as_ref().map(|oci| &oci[..]), bigtk: gtk.as_deref(),
            };
            let mut body = Vec::new();
            repr.emit(&mut body);
            prop_assert_eq!(FteRepr::parse(&body, mic_len), Ok(repr));
        }

        #[test]
        fn any_octets_are_refused_or_read(body in proptest::collection::vec(any::<u8>(), 0..=255), mic_len in 0usize..300) {
            let _ = (FteRepr::parse(&body, mic_len), MdeRepr::parse(&body));
        }

        #[test]
        fn mde_round_trips(mdid: [u8; 2], capability: u8) {
            let repr = MdeRepr { mdid, capability };
            let mut body = Vec::new();
            repr.emit(&mut body);
            prop_assert_eq!(MdeRepr::parse(&body), Ok(repr));
        }
    }
}
