//! EAPOL (EAP over LAN): takes an MSDU after EtherType 88-8E, gives type and body.
//!
//! Source: IEEE 802.1X-2020 clause 11.3. Octets after the body (Ethernet padding) are ignored.

use crate::{Error, Result};

const FORMAT: &str = "EAPOL";

/// EtherType of EAPOL.
pub const ETHERTYPE: u16 = 0x888e;
/// EtherType of pre-authentication, which carries the same PDUs.
pub const ETHERTYPE_PREAUTHENTICATION: u16 = 0x88c7;

/// Packet types (table 11-3).
pub mod packet_type {
    /// EAP packet.
    pub const EAP: u8 = 0;
    /// Start.
    pub const START: u8 = 1;
    /// Logoff.
    pub const LOGOFF: u8 = 2;
    /// Key.
    pub const KEY: u8 = 3;
    /// Alert of the Alerting Standards Forum.
    pub const ASF_ALERT: u8 = 4;
}

/// An EAPOL packet with a complete body.
#[derive(Debug, Clone, Copy)]
pub struct Eapol<'a> {
    octets: &'a [u8],
    len: usize,
}

impl<'a> Eapol<'a> {
    /// Checks the header and that the body is there.
    pub fn new(octets: &'a [u8]) -> Result<Self> {
        let header = octets
            .first_chunk::<4>()
            .ok_or(Error::truncated(FORMAT, 4, octets.len()))?;
        let len = usize::from(u16::from_be_bytes([header[2], header[3]]));
        if octets.len() < 4 + len {
            return Err(Error::truncated(FORMAT, 4 + len, octets.len()));
        }
        Ok(Self { octets, len })
    }

    /// Protocol version, 1 to 3.
    pub fn version(&self) -> u8 {
        self.octets[0]
    }
    /// Packet type.
    pub fn packet_type(&self) -> u8 {
        self.octets[1]
    }
    /// The body.
    pub fn body(&self) -> &'a [u8] {
        &self.octets[4..4 + self.len]
    }
    /// Header and body, which a key MIC covers.
    pub fn octets(&self) -> &'a [u8] {
        &self.octets[..4 + self.len]
    }
}

/// An EAPOL packet for writing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EapolRepr<'a> {
    /// Protocol version.
    pub version: u8,
    /// Packet type.
    pub packet_type: u8,
    /// Body, at most 65535 octets.
    pub body: &'a [u8],
}

impl<'a> EapolRepr<'a> {
    /// Reads a packet.
    pub fn parse(packet: &Eapol<'a>) -> Self {
        Self {
            version: packet.version(),
            packet_type: packet.packet_type(),
            body: packet.body(),
        }
    }

    /// Octets that [`EapolRepr::emit`] writes.
    pub const fn buffer_len(&self) -> usize {
        4 + self.body.len()
    }

    /// Appends header and body.
    pub fn emit(&self, out: &mut Vec<u8>) {
        let body = &self.body[..self.body.len().min(65535)];
        out.extend_from_slice(&[self.version, self.packet_type]);
        out.extend_from_slice(&(body.len() as u16).to_be_bytes());
        out.extend_from_slice(body);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn round_trips(version: u8, packet_type: u8, body in proptest::collection::vec(any::<u8>(), 0..200), padding in 0usize..46) {
            let repr = EapolRepr { version, packet_type, body: &body };
            let mut octets = Vec::new();
            repr.emit(&mut octets);
            prop_assert_eq!(octets.len(), repr.buffer_len());
            octets.resize(octets.len() + padding, 0);
            prop_assert_eq!(EapolRepr::parse(&Eapol::new(&octets).unwrap()), repr);
        }

        #[test]
        fn any_octets_are_refused_or_read(octets in proptest::collection::vec(any::<u8>(), 0..64)) {
            let _ = Eapol::new(&octets).map(|p| p.body().len());
        }
    }
}
