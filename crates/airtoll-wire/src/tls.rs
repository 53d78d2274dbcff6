//! TLS records and handshake messages (RFC 5246, RFC 8446), as EAP methods carry them.
//!
//! Takes octets; gives [`RecordView`]s, [`HandshakeView`]s and hello reprs, and octets back.
//! Never encrypts and never checks a certificate.

use crate::{Cursor, Error, Result};

/// Octets of type, version and length (RFC 5246 section 6.2.1).
pub const RECORD_HEADER_OCTETS: usize = 5;
/// Octets of message type and 24-bit length (RFC 5246 section 7.4).
pub const HANDSHAKE_HEADER_OCTETS: usize = 4;

/// Record content types (RFC 8446 section 5.1).
pub mod content {
    /// ChangeCipherSpec.
    pub const CHANGE_CIPHER_SPEC: u8 = 20;
    /// Alert.
    pub const ALERT: u8 = 21;
    /// Handshake.
    pub const HANDSHAKE: u8 = 22;
    /// Application data, and every encrypted record of TLS 1.3.
    pub const APPLICATION_DATA: u8 = 23;
}

/// Handshake message types (RFC 5246 section 7.4, RFC 8446 section 4).
pub mod handshake {
    /// ClientHello.
    pub const CLIENT_HELLO: u8 = 1;
    /// ServerHello.
    pub const SERVER_HELLO: u8 = 2;
    /// NewSessionTicket.
    pub const NEW_SESSION_TICKET: u8 = 4;
    /// EncryptedExtensions (TLS 1.3).
    pub const ENCRYPTED_EXTENSIONS: u8 = 8;
    /// Certificate.
    pub const CERTIFICATE: u8 = 11;
    /// ServerKeyExchange (TLS 1.2).
    pub const SERVER_KEY_EXCHANGE: u8 = 12;
    /// CertificateRequest.
    pub const CERTIFICATE_REQUEST: u8 = 13;
    /// ServerHelloDone (TLS 1.2).
    pub const SERVER_HELLO_DONE: u8 = 14;
    /// CertificateVerify.
    pub const CERTIFICATE_VERIFY: u8 = 15;
    /// ClientKeyExchange (TLS 1.2).
    pub const CLIENT_KEY_EXCHANGE: u8 = 16;
    /// Finished.
    pub const FINISHED: u8 = 20;
    /// CompressedCertificate (RFC 8879 section 4).
    pub const COMPRESSED_CERTIFICATE: u8 = 25;
    /// The hash of a first ClientHello in a transcript (RFC 8446 section 4.4.1); never sent.
    pub const MESSAGE_HASH: u8 = 254;
}

/// Extension numbers (IANA "TLS ExtensionType Values").
pub mod extension {
    /// supported_groups (RFC 8446 section 4.2.7).
    pub const SUPPORTED_GROUPS: u16 = 10;
    /// ec_point_formats (RFC 8422 section 5.1.2).
    pub const EC_POINT_FORMATS: u16 = 11;
    /// signature_algorithms (RFC 8446 section 4.2.3).
    pub const SIGNATURE_ALGORITHMS: u16 = 13;
    /// extended_master_secret (RFC 7627).
    pub const EXTENDED_MASTER_SECRET: u16 = 23;
    /// compress_certificate (RFC 8879 section 3).
    pub const COMPRESS_CERTIFICATE: u16 = 27;
    /// pre_shared_key (RFC 8446 section 4.2.11).
    pub const PRE_SHARED_KEY: u16 = 41;
    /// supported_versions (RFC 8446 section 4.2.1).
    pub const SUPPORTED_VERSIONS: u16 = 43;
    /// cookie (RFC 8446 section 4.2.2).
    pub const COOKIE: u16 = 44;
    /// psk_key_exchange_modes (RFC 8446 section 4.2.9).
    pub const PSK_KEY_EXCHANGE_MODES: u16 = 45;
    /// key_share (RFC 8446 section 4.2.8).
    pub const KEY_SHARE: u16 = 51;
    /// renegotiation_info (RFC 5746).
    pub const RENEGOTIATION_INFO: u16 = 0xff01;
}

/// The description of an alert in words (RFC 8446 section 6, RFC 5246 section 7.2, and IANA's "TLS
/// Alerts"); `None` for a number without one.
#[must_use]
pub const fn alert_name(description: u8) -> Option<&'static str> {
    Some(match description {
        0 => "close notify",
        10 => "unexpected message",
        20 => "bad record MAC",
        21 => "decryption failed",
        22 => "record overflow",
        30 => "decompression failure",
        40 => "handshake failure",
        41 => "no certificate",
        42 => "bad certificate",
        43 => "unsupported certificate",
        44 => "certificate revoked",
        45 => "certificate expired",
        46 => "certificate unknown",
        47 => "illegal parameter",
        48 => "unknown CA",
        49 => "access denied",
        50 => "decode error",
        51 => "decrypt error",
        60 => "export restriction",
        70 => "protocol version",
        71 => "insufficient security",
        80 => "internal error",
        86 => "inappropriate fallback",
        90 => "user cancelled",
        100 => "no renegotiation",
        109 => "missing extension",
        110 => "unsupported extension",
        111 => "certificate unobtainable",
        112 => "unrecognised name",
        113 => "bad certificate status response",
        114 => "bad certificate hash value",
        115 => "unknown PSK identity",
        116 => "certificate required",
        120 => "no application protocol",
        121 => "encrypted client hello required",
        _ => return None,
    })
}

/// A checked record over its octets.
#[derive(Debug, Clone, Copy)]
pub struct RecordView<'a> {
    octets: &'a [u8],
}

impl<'a> RecordView<'a> {
    /// Takes the first record of `octets` and the octets after it.
    ///
    /// # Errors
    /// [`Error`] when cut short, or longer than 2^14 + 2048 octets (RFC 5246 section 6.2.3).
    pub fn split(octets: &'a [u8]) -> Result<(Self, &'a [u8])> {
        let mut cursor = Cursor::new("TLS record", octets);
        cursor.take(3)?;
        let length = usize::from(cursor.u16_be()?);
        if length > (1 << 14) + 2048 {
            return Err(Error::malformed("TLS record", "is longer than 2^14 + 2048"));
        }
        cursor.take(length)?;
        let (record, rest) = octets.split_at(RECORD_HEADER_OCTETS + length);
        Ok((Self { octets: record }, rest))
    }

    /// Content type, see [`content`].
    #[must_use]
    pub const fn content_type(&self) -> u8 {
        self.octets[0]
    }

    /// Version on the record layer: 0x0301 to 0x0303.
    #[must_use]
    pub const fn version(&self) -> u16 {
        u16::from_be_bytes([self.octets[1], self.octets[2]])
    }

    /// The five octets that AEAD ciphers of TLS 1.3 authenticate.
    #[must_use]
    pub fn header(&self) -> &'a [u8] {
        &self.octets[..RECORD_HEADER_OCTETS]
    }

    /// Fragment, encrypted or not.
    #[must_use]
    pub fn fragment(&self) -> &'a [u8] {
        &self.octets[RECORD_HEADER_OCTETS..]
    }
}

/// Appends a record; `fragment` beyond 65 535 octets is cut.
pub fn emit_record(content_type: u8, version: u16, fragment: &[u8], out: &mut Vec<u8>) {
    let length = u16::try_from(fragment.len()).unwrap_or(u16::MAX);
    out.push(content_type);
    out.extend(version.to_be_bytes());
    out.extend(length.to_be_bytes());
    out.extend(&fragment[..usize::from(length)]);
}

/// A checked handshake message over its octets.
#[derive(Debug, Clone, Copy)]
pub struct HandshakeView<'a> {
    octets: &'a [u8],
}

impl<'a> HandshakeView<'a> {
    /// Takes the first handshake message of `octets` and the octets after it.
    ///
    /// # Errors
    /// [`Error::Truncated`] when it does not fit.
    pub fn split(octets: &'a [u8]) -> Result<(Self, &'a [u8])> {
        let mut cursor = Cursor::new("TLS handshake", octets);
        cursor.u8()?;
        let length = u24(&mut cursor)?;
        cursor.take(length)?;
        let (message, rest) = octets.split_at(HANDSHAKE_HEADER_OCTETS + length);
        Ok((Self { octets: message }, rest))
    }

    /// Message type, see [`handshake`].
    #[must_use]
    pub const fn message_type(&self) -> u8 {
        self.octets[0]
    }

    /// Body behind type and length.
    #[must_use]
    pub fn body(&self) -> &'a [u8] {
        &self.octets[HANDSHAKE_HEADER_OCTETS..]
    }

    /// Type, length and body: the input of the transcript hash.
    #[must_use]
    pub const fn octets(&self) -> &'a [u8] {
        self.octets
    }
}

/// Appends a handshake message.
pub fn emit_handshake(message_type: u8, body: &[u8], out: &mut Vec<u8>) {
    out.push(message_type);
    emit_u24(body.len(), out);
    out.extend(body);
}

/// An extension: number and data.
pub type Extension = (u16, Vec<u8>);

/// ClientHello (RFC 5246 section 7.4.1.2, RFC 8446 section 4.1.2).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientHelloRepr {
    /// legacy_version.
    pub version: u16,
    /// Random.
    pub random: [u8; 32],
    /// Session to resume, or empty; at most 32 octets.
    pub session_id: Vec<u8>,
    /// Cipher suites in order of preference.
    pub cipher_suites: Vec<u16>,
    /// Extensions in order.
    pub extensions: Vec<Extension>,
}

impl ClientHelloRepr {
    /// Reads a ClientHello's body.
    ///
    /// # Errors
    /// [`Error`] when cut short or a vector has a forbidden length.
    pub fn parse(body: &[u8]) -> Result<Self> {
        let format = "TLS ClientHello";
        let mut cursor = Cursor::new(format, body);
        let version = cursor.u16_be()?;
        let random = cursor.array()?;
        let session_id = session_id(&mut cursor, format)?;
        let length = usize::from(cursor.u16_be()?);
        if length % 2 == 1 {
            return Err(Error::malformed(format, "cipher suites have an odd length"));
        }
        let cipher_suites = cursor
            .take(length)?
            .chunks_exact(2)
            .map(|pair| u16::from_be_bytes([pair[0], pair[1]]))
            .collect();
        let methods = usize::from(cursor.u8()?);
        cursor.take(methods)?;
        let extensions = if cursor.remaining() == 0 {
            Vec::new()
        } else {
            parse_extensions(cursor.rest())?
        };
        Ok(Self {
            version,
            random,
            session_id,
            cipher_suites,
            extensions,
        })
    }

    /// Appends a ClientHello's body.
    pub fn emit(&self, out: &mut Vec<u8>) {
        out.extend(self.version.to_be_bytes());
        out.extend(self.random);
        emit_vector8(&self.session_id, out);
        emit_u16(self.cipher_suites.len() * 2, out);
        out.extend(self.cipher_suites.iter().flat_map(|s| s.to_be_bytes()));
        out.extend([1, 0]);
        emit_extensions(&self.extensions, out);
    }
}

/// ServerHello (RFC 5246 section 7.4.1.3, RFC 8446 section 4.1.3).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerHelloRepr {
    /// legacy_version.
    pub version: u16,
    /// Random.
    pub random: [u8; 32],
    /// Session, new or resumed; at most 32 octets.
    pub session_id: Vec<u8>,
    /// The chosen cipher suite.
    pub cipher_suite: u16,
    /// Extensions in order.
    pub extensions: Vec<Extension>,
}

impl ServerHelloRepr {
    /// Reads a ServerHello's body.
    ///
    /// # Errors
    /// [`Error`] when cut short.
    pub fn parse(body: &[u8]) -> Result<Self> {
        let format = "TLS ServerHello";
        let mut cursor = Cursor::new(format, body);
        let version = cursor.u16_be()?;
        let random = cursor.array()?;
        let session_id = session_id(&mut cursor, format)?;
        let cipher_suite = cursor.u16_be()?;
        cursor.u8()?;
        let extensions = if cursor.remaining() == 0 {
            Vec::new()
        } else {
            parse_extensions(cursor.rest())?
        };
        Ok(Self {
            version,
            random,
            session_id,
            cipher_suite,
            extensions,
        })
    }

    /// Appends a ServerHello's body.
    pub fn emit(&self, out: &mut Vec<u8>) {
        out.extend(self.version.to_be_bytes());
        out.extend(self.random);
        emit_vector8(&self.session_id, out);
        out.extend(self.cipher_suite.to_be_bytes());
        out.push(0);
        emit_extensions(&self.extensions, out);
    }
}

/// Reads a list of extensions with its 16-bit length; nothing may follow.
///
/// # Errors
/// [`Error`] when cut short or something follows.
pub fn parse_extensions(octets: &[u8]) -> Result<Vec<Extension>> {
    let format = "TLS extensions";
    let mut cursor = Cursor::new(format, octets);
    let length = usize::from(cursor.u16_be()?);
    let mut list = Cursor::new(format, cursor.take(length)?);
    if cursor.remaining() != 0 {
        return Err(Error::malformed(format, "are followed by octets"));
    }
    let mut extensions = Vec::new();
    while list.remaining() > 0 {
        let number = list.u16_be()?;
        let length = usize::from(list.u16_be()?);
        extensions.push((number, list.take(length)?.to_vec()));
    }
    Ok(extensions)
}

/// Appends a list of extensions with its 16-bit length.
pub fn emit_extensions(extensions: &[Extension], out: &mut Vec<u8>) {
    emit_u16(extensions.iter().map(|(_, data)| 4 + data.len()).sum(), out);
    for (number, data) in extensions {
        out.extend(number.to_be_bytes());
        emit_u16(data.len(), out);
        out.extend(data);
    }
}

/// Reads a Certificate body: `tls13` has a context and an extension list per entry
/// (RFC 8446 section 4.4.2). Gives DER certificates, the sender's own first.
///
/// # Errors
/// [`Error`] when cut short or something follows.
pub fn parse_certificates(body: &[u8], tls13: bool) -> Result<Vec<Vec<u8>>> {
    let format = "TLS Certificate";
    let mut cursor = Cursor::new(format, body);
    if tls13 {
        let context = usize::from(cursor.u8()?);
        cursor.take(context)?;
    }
    let length = u24(&mut cursor)?;
    let mut list = Cursor::new(format, cursor.take(length)?);
    if cursor.remaining() != 0 {
        return Err(Error::malformed(format, "is followed by octets"));
    }
    let mut certificates = Vec::new();
    while list.remaining() > 0 {
        let length = u24(&mut list)?;
        certificates.push(list.take(length)?.to_vec());
        if tls13 {
            let length = usize::from(list.u16_be()?);
            list.take(length)?;
        }
    }
    Ok(certificates)
}

/// Appends a Certificate body, as [`parse_certificates`] reads it.
pub fn emit_certificates(certificates: &[Vec<u8>], tls13: bool, out: &mut Vec<u8>) {
    let extra = if tls13 { 5 } else { 3 };
    if tls13 {
        out.push(0);
    }
    emit_u24(certificates.iter().map(|c| c.len() + extra).sum(), out);
    for certificate in certificates {
        emit_u24(certificate.len(), out);
        out.extend(certificate);
        if tls13 {
            out.extend([0, 0]);
        }
    }
}

/// Appends a CompressedCertificate body (RFC 8879 section 4): algorithm, length before compression,
/// compressed octets.
pub fn emit_compressed_certificate(
    algorithm: u16,
    length: usize,
    compressed: &[u8],
    out: &mut Vec<u8>,
) {
    out.extend(algorithm.to_be_bytes());
    emit_u24(length, out);
    emit_u24(compressed.len(), out);
    out.extend(compressed);
}

/// Reads what [`emit_compressed_certificate`] writes.
///
/// # Errors
/// [`Error`] when cut short or something follows.
pub fn parse_compressed_certificate(body: &[u8]) -> Result<(u16, usize, &[u8])> {
    let format = "TLS CompressedCertificate";
    let mut cursor = Cursor::new(format, body);
    let algorithm = cursor.u16_be()?;
    let length = u24(&mut cursor)?;
    let compressed = u24(&mut cursor)?;
    let compressed = cursor.take(compressed)?;
    if cursor.remaining() != 0 {
        return Err(Error::malformed(format, "is followed by octets"));
    }
    Ok((algorithm, length, compressed))
}

fn session_id(cursor: &mut Cursor<'_>, format: &'static str) -> Result<Vec<u8>> {
    let length = usize::from(cursor.u8()?);
    if length > 32 {
        return Err(Error::malformed(format, "session id is longer than 32"));
    }
    Ok(cursor.take(length)?.to_vec())
}

fn u24(cursor: &mut Cursor<'_>) -> Result<usize> {
    let [a, b, c] = cursor.array()?;
    Ok(usize::from(a) << 16 | usize::from(b) << 8 | usize::from(c))
}

fn emit_u24(value: usize, out: &mut Vec<u8>) {
    let value = u32::try_from(value).unwrap_or(u32::MAX).min(0x00ff_ffff);
    out.extend(&value.to_be_bytes()[1..]);
}

fn emit_u16(value: usize, out: &mut Vec<u8>) {
    out.extend(u16::try_from(value).unwrap_or(u16::MAX).to_be_bytes());
}

fn emit_vector8(octets: &[u8], out: &mut Vec<u8>) {
    let length = u8::try_from(octets.len()).unwrap_or(u8::MAX);
    out.push(length);
    out.extend(&octets[..usize::from(length)]);
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
    fn a_record_holds_a_handshake_message() {
        let message = written(|o| emit_handshake(handshake::SERVER_HELLO_DONE, &[], o));
        let record = written(|o| emit_record(content::HANDSHAKE, 0x0303, &message, o));
        assert_eq!(record, [22, 3, 3, 0, 4, 14, 0, 0, 0]);
        let (view, rest) = RecordView::split(&record).unwrap();
        let (message, more) = HandshakeView::split(view.fragment()).unwrap();
        assert_eq!(message.message_type(), handshake::SERVER_HELLO_DONE);
        assert!(rest.is_empty() && more.is_empty() && message.body().is_empty());
    }

    fn extensions() -> impl Strategy<Value = Vec<Extension>> {
        prop::collection::vec(
            (any::<u16>(), prop::collection::vec(any::<u8>(), 0..20)),
            0..5,
        )
    }

    proptest! {
        #[test]
        fn hellos_round_trip(version: u16, random: [u8; 32], session_id in prop::collection::vec(any::<u8>(), 0..=32), suites in prop::collection::vec(any::<u16>(), 1..9), extensions in extensions()) {
            let client = ClientHelloRepr { version, random, session_id: session_id.clone(), cipher_suites: suites.clone(), extensions: extensions.clone() };
            prop_assert_eq!(ClientHelloRepr::parse(&written(|o| client.emit(o))), Ok(client));
            let server = ServerHelloRepr { version, random, session_id, cipher_suite: suites[0], extensions };
            prop_assert_eq!(ServerHelloRepr::parse(&written(|o| server.emit(o))), Ok(server));
        }

        #[test]
        fn certificates_round_trip(chain in prop::collection::vec(prop::collection::vec(any::<u8>(), 1..99), 0..4), tls13: bool) {
            let body = written(|o| emit_certificates(&chain, tls13, o));
            prop_assert_eq!(parse_certificates(&body, tls13), Ok(chain));
        }

        #[test]
        fn no_octets_panic(octets in prop::collection::vec(any::<u8>(), 0..99), tls13: bool) {
            let _ = RecordView::split(&octets);
            let _ = HandshakeView::split(&octets);
            let _ = ClientHelloRepr::parse(&octets);
            let _ = ServerHelloRepr::parse(&octets);
            let _ = parse_extensions(&octets);
            let _ = parse_certificates(&octets, tls13);
        }
    }
}
