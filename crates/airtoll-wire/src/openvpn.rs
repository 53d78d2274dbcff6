//! OpenVPN's control channel over UDP and TCP (openvpn-rfc draft, sections on packet formats; `ssl_pkt.h`,
//! `reliable.c`, `tls_crypt.h` and `ssl.c` of OpenVPN 2.6).
//!
//! Takes octets; gives [`WrappedRepr`] (tls-crypt), [`ControlRepr`] (the reliability layer) and
//! [`KeyMethod2`] (the first message of both ends in TLS), and octets back. Never decrypts.

use crate::{Cursor, Error, Result};

/// UDP port (IANA).
pub const PORT: u16 = 1_194;
/// Octets of opcode and session ID, packet ID and time, and the tag of tls-crypt.
pub const WRAPPED_HEADER_OCTETS: usize = AUTHENTICATED_OCTETS + TAG_OCTETS;
/// Octets of a wrapped packet before the tag, all of which the tag covers.
pub const AUTHENTICATED_OCTETS: usize = 1 + SESSION_OCTETS + 8;
/// Octets of a session ID.
pub const SESSION_OCTETS: usize = 8;
/// Octets of the tag: HMAC-SHA-256.
pub const TAG_OCTETS: usize = 32;
/// Shortest packet of the control channel: opcode, session ID, no acknowledgement, a message ID.
const CONTROL_OCTETS: usize = 1 + SESSION_OCTETS + 1 + 4;
/// Acknowledgements in one packet at most (`RELIABLE_ACK_SIZE`).
pub const ACKNOWLEDGEMENTS: usize = 8;

const FORMAT: &str = "OpenVPN control channel";
/// The number of key method 2.
const KEY_METHOD: u8 = 2;

/// Opcodes, which are the upper five bits of the first octet.
pub mod opcode {
    /// The client's first packet, key method 1.
    pub const HARD_RESET_CLIENT_V1: u8 = 1;
    /// The server's first packet, key method 1.
    pub const HARD_RESET_SERVER_V1: u8 = 2;
    /// Renewal of keys.
    pub const SOFT_RESET_V1: u8 = 3;
    /// TLS octets.
    pub const CONTROL_V1: u8 = 4;
    /// Acknowledgements alone.
    pub const ACK_V1: u8 = 5;
    /// The client's first packet.
    pub const HARD_RESET_CLIENT_V2: u8 = 7;
    /// The server's first packet.
    pub const HARD_RESET_SERVER_V2: u8 = 8;
    /// The client's first packet with a key of its own (tls-crypt-v2).
    pub const HARD_RESET_CLIENT_V3: u8 = 10;
    /// TLS octets and the client's key (tls-crypt-v2).
    pub const CONTROL_WKC_V1: u8 = 11;

    /// Data.
    pub const DATA_V1: u8 = 6;
    /// Data with the number of a peer.
    pub const DATA_V2: u8 = 9;

    /// Whether packets have this opcode.
    #[must_use]
    pub const fn is_known(opcode: u8) -> bool {
        matches!(opcode, HARD_RESET_CLIENT_V1..=CONTROL_WKC_V1)
    }

    /// Whether it is that of a client's first packet.
    #[must_use]
    pub const fn begins(opcode: u8) -> bool {
        matches!(
            opcode,
            HARD_RESET_CLIENT_V1 | HARD_RESET_CLIENT_V2 | HARD_RESET_CLIENT_V3
        )
    }

    /// Name of a packet of the control channel in OpenVPN's documentation; `None` for data packets and
    /// unknown opcodes.
    #[must_use]
    pub const fn control_name(opcode: u8) -> Option<&'static str> {
        Some(match opcode {
            HARD_RESET_CLIENT_V1 => "P_CONTROL_HARD_RESET_CLIENT_V1",
            HARD_RESET_SERVER_V1 => "P_CONTROL_HARD_RESET_SERVER_V1",
            SOFT_RESET_V1 => "P_CONTROL_SOFT_RESET_V1",
            CONTROL_V1 => "P_CONTROL_V1",
            ACK_V1 => "P_ACK_V1",
            HARD_RESET_CLIENT_V2 => "P_CONTROL_HARD_RESET_CLIENT_V2",
            HARD_RESET_SERVER_V2 => "P_CONTROL_HARD_RESET_SERVER_V2",
            HARD_RESET_CLIENT_V3 => "P_CONTROL_HARD_RESET_CLIENT_V3",
            CONTROL_WKC_V1 => "P_CONTROL_WKC_V1",
            _ => return None,
        })
    }
}

/// Opcode of a packet of the control channel: the packet holds a session ID and, unless tls-crypt hides
/// them, the number of its acknowledgements and a message ID. `None` for data packets and shorter ones.
#[must_use]
pub fn control_opcode(packet: &[u8]) -> Option<u8> {
    let opcode = packet.first()? >> 3;
    (packet.len() >= CONTROL_OCTETS && opcode::control_name(opcode).is_some()).then_some(opcode)
}

/// A packet of the control channel under tls-crypt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrappedRepr {
    /// See [`opcode`].
    pub opcode: u8,
    /// Key ID: 0 in the first negotiation of a session.
    pub key: u8,
    /// The sender's session ID.
    pub session: [u8; SESSION_OCTETS],
    /// Number of the wrapped packet, from 1 on.
    pub packet: u32,
    /// Time at which the sender began to number, seconds since 1970.
    pub time: u32,
    /// Tag over the octets before it and the plaintext of those after it.
    pub tag: [u8; TAG_OCTETS],
    /// Encrypted [`ControlRepr`].
    pub sealed: Vec<u8>,
}

impl WrappedRepr {
    /// Reads a packet.
    ///
    /// # Errors
    /// [`Error`] on a packet that is too short.
    pub fn parse(octets: &[u8]) -> Result<Self> {
        let mut cursor = Cursor::new(FORMAT, octets);
        let first = cursor.u8()?;
        Ok(Self {
            opcode: first >> 3,
            key: first & 7,
            session: cursor.array()?,
            packet: cursor.u32_be()?,
            time: cursor.u32_be()?,
            tag: cursor.array()?,
            sealed: cursor.rest().to_vec(),
        })
    }

    /// Appends the octets before the tag.
    pub fn emit_authenticated(&self, out: &mut Vec<u8>) {
        out.push(self.opcode << 3 | self.key & 7);
        out.extend(self.session);
        out.extend(self.packet.to_be_bytes());
        out.extend(self.time.to_be_bytes());
    }

    /// Appends the packet.
    pub fn emit(&self, out: &mut Vec<u8>) {
        self.emit_authenticated(out);
        out.extend(self.tag);
        out.extend(&self.sealed);
    }
}

/// The reliability layer's part of a packet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ControlRepr {
    /// Acknowledged message IDs, at most [`ACKNOWLEDGEMENTS`].
    pub acknowledged: Vec<u32>,
    /// The session ID of the receiver, in a packet with acknowledgements.
    pub receiver: Option<[u8; SESSION_OCTETS]>,
    /// The message's ID; none in `P_ACK_V1`.
    pub message: Option<u32>,
    /// TLS octets.
    pub payload: Vec<u8>,
}

impl ControlRepr {
    /// Reads the plaintext of a packet with this opcode.
    ///
    /// # Errors
    /// [`Error`] on octets that end too early, too many acknowledgements, or octets after those of
    /// `P_ACK_V1`.
    pub fn parse(octets: &[u8], opcode: u8) -> Result<Self> {
        let mut cursor = Cursor::new(FORMAT, octets);
        let count = usize::from(cursor.u8()?);
        if count > ACKNOWLEDGEMENTS {
            return Err(Error::malformed(FORMAT, "more than 8 acknowledgements"));
        }
        let acknowledged = (0..count)
            .map(|_| cursor.u32_be())
            .collect::<Result<Vec<_>>>()?;
        let receiver = match count {
            0 => None,
            _ => Some(cursor.array()?),
        };
        let message = match opcode {
            opcode::ACK_V1 => None,
            _ => Some(cursor.u32_be()?),
        };
        if message.is_none() && cursor.remaining() != 0 {
            return Err(Error::malformed(FORMAT, "octets follow P_ACK_V1"));
        }
        Ok(Self {
            acknowledged,
            receiver,
            message,
            payload: cursor.rest().to_vec(),
        })
    }

    /// Appends the octets. Acknowledgements beyond [`ACKNOWLEDGEMENTS`] are left out.
    pub fn emit(&self, out: &mut Vec<u8>) {
        let count = self.acknowledged.len().min(ACKNOWLEDGEMENTS);
        out.push(count as u8);
        for id in &self.acknowledged[..count] {
            out.extend(id.to_be_bytes());
        }
        if count > 0 {
            out.extend(self.receiver.unwrap_or_default());
        }
        if let Some(message) = self.message {
            out.extend(message.to_be_bytes());
        }
        out.extend(&self.payload);
    }
}

/// The message of key method 2.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyMethod2 {
    /// The client's pre-master secret; none from a server.
    pub pre_master: Option<[u8; 48]>,
    /// Both random values of the sender.
    pub random: [u8; 64],
    /// Options, for the other end's check.
    pub options: String,
    /// User name and password, each empty without one.
    pub user: (String, String),
    /// Lines of the form `IV_...=...`; empty without any.
    pub peer_info: String,
}

impl KeyMethod2 {
    /// Reads the message of a client or a server. The peer information may be missing.
    ///
    /// # Errors
    /// [`Error`] on another key method, octets that end too early, or text that is none.
    pub fn parse(octets: &[u8], from_client: bool) -> Result<Self> {
        let mut cursor = Cursor::new(FORMAT, octets);
        cursor.u32_be()?;
        if cursor.u8()? & 0x0f != KEY_METHOD {
            return Err(Error::malformed(FORMAT, "the key method is not 2"));
        }
        let pre_master = match from_client {
            true => Some(cursor.array()?),
            false => None,
        };
        let random = cursor.array()?;
        let options = text(&mut cursor)?;
        let user = (text(&mut cursor)?, text(&mut cursor)?);
        let peer_info = match cursor.remaining() {
            0 => String::new(),
            _ => text(&mut cursor)?,
        };
        Ok(Self {
            pre_master,
            random,
            options,
            user,
            peer_info,
        })
    }

    /// Appends the message.
    pub fn emit(&self, out: &mut Vec<u8>) {
        out.extend([0; 4]);
        out.push(KEY_METHOD);
        out.extend(self.pre_master.iter().flatten());
        out.extend(self.random);
        for part in [&self.options, &self.user.0, &self.user.1, &self.peer_info] {
            emit_text(part, out);
        }
    }
}

/// A string with its length and a zero octet at its end; length 0 for an empty one.
fn text(cursor: &mut Cursor<'_>) -> Result<String> {
    let length = usize::from(cursor.u16_be()?);
    let octets = cursor.take(length)?;
    let octets = octets.strip_suffix(&[0]).unwrap_or(octets);
    match core::str::from_utf8(octets) {
        Ok(text) => Ok(text.to_owned()),
        Err(_) => Err(Error::malformed(FORMAT, "a string is not UTF-8")),
    }
}

fn emit_text(text: &str, out: &mut Vec<u8>) {
    if text.is_empty() {
        out.extend([0, 0]);
        return;
    }
    let length = u16::try_from(text.len() + 1).unwrap_or(u16::MAX);
    out.extend(length.to_be_bytes());
    out.extend(&text.as_bytes()[..usize::from(length) - 1]);
    out.push(0);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_reset_has_the_octets_of_the_source() {
        let control = ControlRepr {
            acknowledged: Vec::new(),
            receiver: None,
            message: Some(0),
            payload: Vec::new(),
        };
        let mut sealed = Vec::new();
        control.emit(&mut sealed);
        assert_eq!(sealed, [0; 5]);
        let wrapped = WrappedRepr {
            opcode: opcode::HARD_RESET_CLIENT_V2,
            key: 0,
            session: *b"session!",
            packet: 1,
            time: 0x0102_0304,
            tag: [7; 32],
            sealed,
        };
        let mut octets = Vec::new();
        wrapped.emit(&mut octets);
        assert_eq!(octets[..10], *b"\x38session!\0");
        // As long as OpenVPN 2.6.14's in a capture.
        assert_eq!(octets.len(), 54);
        assert_eq!(WrappedRepr::parse(&octets), Ok(wrapped));
    }

    #[test]
    fn acknowledgements_name_the_receiver() {
        let control = ControlRepr {
            acknowledged: vec![3, 1],
            receiver: Some(*b"receiver"),
            message: None,
            payload: Vec::new(),
        };
        let mut octets = Vec::new();
        control.emit(&mut octets);
        assert_eq!(octets, *b"\x02\0\0\0\x03\0\0\0\x01receiver");
        assert_eq!(ControlRepr::parse(&octets, opcode::ACK_V1), Ok(control));
        octets.push(0);
        assert!(ControlRepr::parse(&octets, opcode::ACK_V1).is_err());
        assert!(ControlRepr::parse(&[9; 60], opcode::CONTROL_V1).is_err());
    }

    #[test]
    fn key_method_2_comes_back() {
        let message = KeyMethod2 {
            pre_master: Some([5; 48]),
            random: [6; 64],
            options: "V4,tls-client".to_owned(),
            user: (String::new(), String::new()),
            peer_info: "IV_PROTO=990\n".to_owned(),
        };
        let mut octets = Vec::new();
        message.emit(&mut octets);
        // 4 + 1 + 48 + 64, two strings with length and zero octet, two lengths.
        assert_eq!(octets.len(), 117 + 16 + 16 + 4);
        assert_eq!(KeyMethod2::parse(&octets, true).as_ref(), Ok(&message));
        assert!(KeyMethod2::parse(&octets[..130], true).is_err());
        // A server may leave the peer information out.
        let server = KeyMethod2 {
            pre_master: None,
            peer_info: String::new(),
            ..message
        };
        octets.clear();
        server.emit(&mut octets);
        octets.truncate(octets.len() - 2);
        assert_eq!(KeyMethod2::parse(&octets, false), Ok(server));
        octets[4] = 1;
        assert!(KeyMethod2::parse(&octets, false).is_err());
    }

    proptest! {
        #[test]
        fn no_input_panics(octets in prop::collection::vec(any::<u8>(), 0..200), kind in 0u8..32) {
            let _ = WrappedRepr::parse(&octets);
            let _ = ControlRepr::parse(&octets, kind);
            let _ = KeyMethod2::parse(&octets, kind % 2 == 0);
        }
    }
}
