//! EAP-TTLS with PAP inside (RFC 5281 sections 8 and 11.2.5).
//!
//! Takes name and password; gives AVPs and a verdict. Never sees the tunnel's keys.

use airtoll_wire::eap::method;

use super::EapConfig;
use super::tunnel::{Exporter, Inner, InnerPeer, InnerServer, InnerStep};
use crate::exchange::Context;
use crate::octets::equal;

/// Diameter AVP codes of User-Name and User-Password (RFC 5281 section 10.1).
const USER_NAME: u32 = 1;
const USER_PASSWORD: u32 = 2;

/// A mandatory AVP, padded to four octets.
fn avp(code: u32, value: &[u8]) -> Vec<u8> {
    let length = u32::try_from(8 + value.len()).unwrap_or(u32::MAX);
    let mut out = code.to_be_bytes().to_vec();
    out.extend((0x4000_0000 | length).to_be_bytes());
    out.extend(value);
    out.resize(out.len().next_multiple_of(4), 0);
    out
}

/// The value of the first AVP with this code.
fn find_avp(mut octets: &[u8], wanted: u32) -> Option<Vec<u8>> {
    while let Some((header, rest)) = octets.split_first_chunk::<8>() {
        let code = u32::from_be_bytes([header[0], header[1], header[2], header[3]]);
        let length =
            usize::from(header[5]) << 16 | usize::from(header[6]) << 8 | usize::from(header[7]);
        let value = rest.get(..length.checked_sub(8)?)?;
        if code == wanted {
            return Some(value.to_vec());
        }
        octets = rest.get(value.len().next_multiple_of(4)..)?;
    }
    None
}

/// A PAP password padded to 16 octets, which hides its length (RFC 5281 section 11.2.5).
fn padded(password: &[u8]) -> Vec<u8> {
    let mut out = password.to_vec();
    out.resize(out.len().next_multiple_of(16).max(16), 0);
    out
}

fn exporter(tls13: bool) -> Exporter {
    Exporter::msk(b"ttls keying material", method::TTLS, tls13)
}

/// The server's half.
pub(super) struct PapServer {
    name: Vec<u8>,
    password: Vec<u8>,
}

impl PapServer {
    pub fn new(config: &EapConfig) -> Self {
        Self {
            name: config.identity.clone(),
            password: config.password.clone(),
        }
    }
}

impl Inner for PapServer {
    fn exporter(&self, tls13: bool) -> Exporter {
        exporter(tls13)
    }
}

impl InnerServer for PapServer {
    /// TTLS sends nothing inside a resumed tunnel (RFC 5281 section 7.5).
    fn resume(&mut self, _context: &mut Context<'_>) -> InnerStep {
        InnerStep::Accept
    }

    fn start(&mut self, _context: &mut Context<'_>) -> InnerStep {
        InnerStep::Nothing
    }

    fn next(&mut self, plain: &[u8], _context: &mut Context<'_>) -> InnerStep {
        let right = find_avp(plain, USER_NAME).is_some_and(|found| found == self.name)
            && find_avp(plain, USER_PASSWORD)
                .is_some_and(|found| equal(&found, &padded(&self.password)));
        if right {
            InnerStep::Accept
        } else {
            InnerStep::Reject
        }
    }
}

/// The station's half.
pub(super) struct PapPeer {
    name: Vec<u8>,
    password: Vec<u8>,
    sent: bool,
}

impl PapPeer {
    pub fn new(config: &EapConfig) -> Self {
        Self {
            name: config.identity.clone(),
            password: config.password.clone(),
            sent: false,
        }
    }
}

impl Inner for PapPeer {
    fn exporter(&self, tls13: bool) -> Exporter {
        exporter(tls13)
    }
}

impl InnerPeer for PapPeer {
    fn resume(&mut self) {
        self.sent = true;
    }

    fn start(&mut self) -> Option<Vec<u8>> {
        if self.sent {
            return None;
        }
        self.sent = true;
        let mut out = avp(USER_NAME, &self.name);
        out.extend(avp(USER_PASSWORD, &padded(&self.password)));
        Some(out)
    }

    fn answer(&mut self, _plain: &[u8], _context: &mut Context<'_>) -> Option<Vec<u8>> {
        self.start()
    }

    fn is_satisfied(&self) -> bool {
        self.sent
    }
}
