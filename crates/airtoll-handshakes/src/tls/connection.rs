//! One end of a TLS connection, as client and server share it: records, transcript, keys, the other
//! end's certificate, the Finished messages and the session.
//!
//! Takes records; gives handshake messages, keys and records. Never decides which message comes
//! next: `client` and `server` do.

use std::collections::VecDeque;

use airtoll_wire::tls::{
    Extension, HandshakeView, RecordView, content, emit_certificates, emit_compressed_certificate,
    emit_handshake, emit_record, extension, handshake, parse_certificates,
    parse_compressed_certificate,
};

use super::certificate::{PublicKey, root, verify_chain};
use super::key_share::KeyShare;
use super::schedule::{
    Protection, Protections, Secrets13, export13, finished12, finished13, key_block, master_secret,
    prf, signed13,
};
use super::{
    CODE, NamedGroup, Refusal, Session, TlsConfig, TlsVersion, alert, compression, read_signed,
};
use crate::exchange::Context;
use crate::failure::Failure;
use crate::octets::{equal, written};

/// Octets of plaintext in one record (RFC 8446 section 5.1).
const FRAGMENT_OCTETS: usize = 1 << 14;

/// Which end this is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    Client,
    Server,
}

/// A handshake message.
pub(super) struct Message {
    pub kind: u8,
    pub body: Vec<u8>,
    /// Header and body, as the transcript takes them.
    pub whole: Vec<u8>,
}

enum Item {
    ChangeCipherSpec,
    Handshake(Message),
    Data(Vec<u8>),
}

/// A flight that is being read. Keys may change between its messages.
pub(super) struct Flight<'a> {
    records: &'a [u8],
    items: VecDeque<Item>,
}

impl<'a> Flight<'a> {
    pub const fn new(records: &'a [u8]) -> Self {
        Self {
            records,
            items: VecDeque::new(),
        }
    }
}

/// One end of a connection.
pub struct Connection {
    pub(super) config: TlsConfig,
    role: Role,
    pub(super) write: Option<Protection>,
    pub(super) read: Option<Protection>,
    /// Keys for reading that the other end's ChangeCipherSpec or Finished brings into use.
    pub(super) pending: Option<Protection>,
    /// Keys for writing that our ChangeCipherSpec brings into use.
    ready: Option<Protection>,
    pub(super) transcript: Vec<u8>,
    pub(super) client_random: Vec<u8>,
    pub(super) server_random: Vec<u8>,
    pub(super) master: Vec<u8>,
    pub(super) secrets13: Secrets13,
    pub(super) share: Option<KeyShare>,
    /// The key of the other end's certificate, once its chain is verified.
    pub(super) peer_key: Option<PublicKey>,
    pub(super) resumed: bool,
    pub(super) session: Option<Session>,
    done: bool,
    data: Vec<u8>,
    /// Whether the other end takes compressed certificates.
    peer_decompresses: bool,
    /// The start of a handshake message whose rest is in the next record.
    partial: Vec<u8>,
    /// Whether a flight may end within a handshake message.
    streamed: bool,
}

impl Connection {
    pub(super) fn new(config: TlsConfig, role: Role) -> Self {
        Self {
            config,
            role,
            write: None,
            read: None,
            pending: None,
            ready: None,
            transcript: Vec::new(),
            client_random: Vec::new(),
            server_random: Vec::new(),
            master: Vec::new(),
            secrets13: Secrets13::default(),
            share: None,
            peer_key: None,
            resumed: false,
            session: None,
            done: false,
            data: Vec::new(),
            peer_decompresses: false,
            partial: Vec::new(),
            streamed: false,
        }
    }

    /// Takes any number of whole records at a time, as a stream delivers them, instead of whole flights.
    pub const fn set_streamed(&mut self) {
        self.streamed = true;
    }

    /// Whether this is TLS 1.3.
    #[must_use]
    pub fn tls13(&self) -> bool {
        self.config.version == TlsVersion::Tls13
    }

    /// The groups that a client offers or a server takes.
    pub(super) fn groups(&self) -> Vec<NamedGroup> {
        if !self.config.groups.is_empty() {
            return self.config.groups.clone();
        }
        match self.role {
            Role::Client => self.config.suite.offered().to_vec(),
            Role::Server => self.config.suite.taken().to_vec(),
        }
    }

    /// Whether the handshake is complete.
    #[must_use]
    pub const fn is_done(&self) -> bool {
        self.done
    }

    /// Whether an earlier session was resumed.
    #[must_use]
    pub const fn is_resumed(&self) -> bool {
        self.resumed
    }

    /// The session to resume later.
    #[must_use]
    pub const fn session(&self) -> Option<&Session> {
        self.session.as_ref()
    }

    /// The received application data, taken out.
    pub fn take_data(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.data)
    }

    /// A record of application data.
    pub fn seal(&mut self, context: &mut Context<'_>, plain: &[u8]) -> Vec<u8> {
        self.record(context, content::APPLICATION_DATA, plain)
    }

    /// Exported keys: RFC 5705 for 1.2 (without a context), RFC 8446 section 7.5 for 1.3.
    pub fn export(
        &self,
        context: &mut Context<'_>,
        label: &[u8],
        value: &[u8],
        octets: usize,
    ) -> Vec<u8> {
        let suite = self.config.suite;
        if self.tls13() {
            let exporter = &self.secrets13.exporter;
            return export13(context, suite, exporter, label, value, octets);
        }
        let seed = [&self.client_random[..], &self.server_random].concat();
        prf(context, suite, &self.master, label, &seed, octets)
    }

    /// Replaces the first ClientHello by its hash (RFC 8446 section 4.4.1).
    pub(super) fn hash_first_hello(&mut self, context: &mut Context<'_>) {
        let hash = context.hash(self.config.suite.hash(), &[&self.transcript]);
        self.transcript = written(|o| emit_handshake(handshake::MESSAGE_HASH, &hash, o));
    }

    /// Records under the current keys, or plain ones: as few as hold the octets (RFC 8446 section 5.1).
    pub(super) fn record(&mut self, context: &mut Context<'_>, kind: u8, octets: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        for fragment in octets.chunks(FRAGMENT_OCTETS) {
            out.extend(match &mut self.write {
                Some(protection) => protection.seal(context, kind, fragment),
                None => written(|o| emit_record(kind, 0x0303, fragment, o)),
            });
        }
        out
    }

    /// Adds a handshake message to the transcript and to a flight.
    pub(super) fn handshake(&mut self, flight: &mut Vec<u8>, kind: u8, body: &[u8]) {
        let message = written(|o| emit_handshake(kind, body, o));
        self.transcript.extend(&message);
        flight.extend(message);
    }

    pub(super) fn refuse(
        &mut self,
        context: &mut Context<'_>,
        description: u8,
        failure: Failure,
    ) -> Refusal {
        Refusal {
            alert: self.record(context, content::ALERT, &[2, description]),
            failure,
        }
    }

    /// A refusal with an integrity failure and this alert.
    pub(super) fn wrong(&mut self, context: &mut Context<'_>, description: u8) -> Refusal {
        self.refuse(
            context,
            description,
            Failure::IntegrityFailure { code: CODE },
        )
    }

    pub(super) fn unexpected(&mut self, context: &mut Context<'_>) -> Refusal {
        self.wrong(context, alert::UNEXPECTED_MESSAGE)
    }

    /// The next handshake message of a flight; none at its end. Changes of keys and application
    /// data are taken on the way.
    pub(super) fn next(
        &mut self,
        context: &mut Context<'_>,
        flight: &mut Flight<'_>,
    ) -> Result<Option<Message>, Refusal> {
        loop {
            let Some(item) = flight.items.pop_front() else {
                if flight.records.is_empty() {
                    return match self.partial.is_empty() || self.streamed {
                        true => Ok(None),
                        false => Err(self.unexpected(context)),
                    };
                }
                flight.items = self.open(context, &mut flight.records)?;
                continue;
            };
            match item {
                // TLS 1.3 keeps the message for middleboxes only (RFC 8446 section 5).
                Item::ChangeCipherSpec if self.tls13() && !self.done => {}
                Item::ChangeCipherSpec => self.read = self.pending.take(),
                Item::Data(data) if self.done => self.data.extend(data),
                Item::Data(_) => return Err(self.unexpected(context)),
                Item::Handshake(message) => return Ok(Some(message)),
            }
        }
    }

    /// The first record of `octets`, opened and split into items.
    fn open(
        &mut self,
        context: &mut Context<'_>,
        octets: &mut &[u8],
    ) -> Result<VecDeque<Item>, Refusal> {
        let Ok((record, rest)) = RecordView::split(octets) else {
            return Err(self.unexpected(context));
        };
        *octets = rest;
        let kind = record.content_type();
        let opened = match &mut self.read {
            Some(protection) if kind != content::CHANGE_CIPHER_SPEC => {
                protection.open(context, &record)
            }
            _ => Some((kind, record.fragment().to_vec())),
        };
        let Some((kind, plain)) = opened else {
            return Err(self.wrong(context, alert::BAD_RECORD_MAC));
        };
        match kind {
            content::CHANGE_CIPHER_SPEC => Ok([Item::ChangeCipherSpec].into()),
            content::APPLICATION_DATA => Ok([Item::Data(plain)].into()),
            content::HANDSHAKE => {
                let mut items = VecDeque::new();
                let whole = [std::mem::take(&mut self.partial), plain].concat();
                let mut left = &whole[..];
                while !left.is_empty() {
                    let Ok((message, rest)) = HandshakeView::split(left) else {
                        self.partial = left.to_vec();
                        break;
                    };
                    items.push_back(Item::Handshake(Message {
                        kind: message.message_type(),
                        body: message.body().to_vec(),
                        whole: message.octets().to_vec(),
                    }));
                    left = rest;
                }
                Ok(items)
            }
            content::ALERT => Err(Refusal {
                alert: Vec::new(),
                failure: match plain.get(1) {
                    // bad_certificate to unknown_ca (RFC 8446 section 6.2).
                    Some(42..=48) => Failure::WrongCertificate { code: CODE },
                    _ => Failure::IntegrityFailure { code: CODE },
                },
            }),
            _ => Err(self.unexpected(context)),
        }
    }

    /// Adds the Certificate message with our chain to a flight; empty without a credential. It is
    /// compressed where both ends want it and it becomes shorter.
    pub(super) fn show_certificate(&mut self, flight: &mut Vec<u8>) {
        let credential = self.config.credential.clone();
        let chain = credential.as_ref().map_or(&[][..], |c| c.chain());
        let body = written(|o| emit_certificates(chain, self.tls13(), o));
        if self.config.certificate_compression && self.peer_decompresses {
            let compressed = compression::compress(&body);
            let compressed = written(|o| {
                emit_compressed_certificate(compression::ZLIB, body.len(), &compressed, o);
            });
            if compressed.len() < body.len() {
                self.handshake(flight, handshake::COMPRESSED_CERTIFICATE, &compressed);
                return;
            }
        }
        self.handshake(flight, handshake::CERTIFICATE, &body);
    }

    /// Our compress_certificate extension, where we decompress.
    pub(super) fn compressions(&self) -> Option<Extension> {
        (self.config.certificate_compression && self.tls13()).then(|| {
            let [high, low] = compression::ZLIB.to_be_bytes();
            (extension::COMPRESS_CERTIFICATE, vec![2, high, low])
        })
    }

    /// Takes the other end's extensions: whether it decompresses what we compress.
    pub(super) fn note_compressions(&mut self, extensions: &[Extension]) {
        let zlib = compression::ZLIB.to_be_bytes();
        self.peer_decompresses = extensions.iter().any(|(number, data)| {
            let listed = data.get(1..).unwrap_or_default();
            *number == extension::COMPRESS_CERTIFICATE
                && listed.chunks(2).any(|algorithm| algorithm == zlib)
        });
    }

    /// Takes the other end's CompressedCertificate (RFC 8879 section 4).
    pub(super) fn compressed_certificate(
        &mut self,
        context: &mut Context<'_>,
        message: &Message,
    ) -> Result<(), Refusal> {
        let body = parse_compressed_certificate(&message.body).ok();
        let body = body.filter(|_| self.config.certificate_compression);
        let body = body.and_then(|(algorithm, length, compressed)| {
            let known = algorithm == compression::ZLIB;
            known.then(|| compression::decompress(compressed, length))?
        });
        let Some(body) = body else {
            return Err(self.wrong(context, alert::BAD_CERTIFICATE));
        };
        self.certificate(
            context,
            &Message {
                kind: handshake::CERTIFICATE,
                body,
                whole: message.whole.clone(),
            },
        )
    }

    /// Takes the other end's Certificate: its chain has to end at the trusted root.
    pub(super) fn certificate(
        &mut self,
        context: &mut Context<'_>,
        message: &Message,
    ) -> Result<(), Refusal> {
        let chain = parse_certificates(&message.body, self.tls13()).unwrap_or_default();
        let root = root(self.config.trusted);
        let Some(key) = verify_chain(context, &chain, &root).filter(|_| !chain.is_empty()) else {
            let failure = Failure::WrongCertificate { code: CODE };
            return Err(self.refuse(context, alert::UNKNOWN_CA, failure));
        };
        self.peer_key = Some(key);
        self.transcript.extend(&message.whole);
        Ok(())
    }

    /// Adds our CertificateVerify to a flight, where there is a credential.
    pub(super) fn prove_certificate(&mut self, context: &mut Context<'_>, flight: &mut Vec<u8>) {
        let Some(credential) = self.config.credential.clone() else {
            return;
        };
        let covered = self.covered(context, self.role == Role::Client);
        let signature = credential.sign(context, self.tls13(), &covered);
        let scheme = credential.kind().leaf().scheme(self.tls13());
        let body = super::signed(scheme, &signature);
        self.handshake(flight, handshake::CERTIFICATE_VERIFY, &body);
    }

    /// The octets that a CertificateVerify signs.
    fn covered(&self, context: &mut Context<'_>, client: bool) -> Vec<u8> {
        if self.tls13() {
            signed13(context, self.config.suite, client, &self.transcript)
        } else {
            self.transcript.clone()
        }
    }

    /// Takes the other end's CertificateVerify.
    pub(super) fn certificate_verify(
        &mut self,
        context: &mut Context<'_>,
        message: &Message,
    ) -> Result<(), Refusal> {
        let covered = self.covered(context, self.role == Role::Server);
        let right = match (self.peer_key.clone(), read_signed(&message.body)) {
            (Some(key), Some((scheme, signature))) => {
                key.verify(context, scheme, &covered, signature)
            }
            _ => false,
        };
        if !right {
            return Err(self.wrong(context, alert::DECRYPT_ERROR));
        }
        self.transcript.extend(&message.whole);
        Ok(())
    }

    /// The keys of TLS 1.2 after ClientKeyExchange.
    pub(super) fn agree12(&mut self, context: &mut Context<'_>, premaster: &[u8]) {
        self.master = master_secret(context, self.config.suite, premaster, &self.transcript);
        if let Some(session) = &mut self.session {
            session.secret.clone_from(&self.master);
        }
        self.derive12(context);
    }

    /// The keys of TLS 1.2 after a hello that resumes this session.
    pub(super) fn resume12(&mut self, context: &mut Context<'_>, session: Session) {
        self.resumed = true;
        self.master = session.secret.clone();
        self.session = Some(session);
        self.derive12(context);
    }

    fn derive12(&mut self, context: &mut Context<'_>) {
        let Protections { client, server } = key_block(
            context,
            self.config.suite,
            &self.master,
            &self.client_random,
            &self.server_random,
        );
        let (ours, theirs) = match self.role {
            Role::Client => (client, server),
            Role::Server => (server, client),
        };
        self.ready = Some(ours);
        self.pending = Some(theirs);
    }

    /// ChangeCipherSpec and Finished of TLS 1.2.
    pub(super) fn finish12(&mut self, context: &mut Context<'_>) -> Vec<u8> {
        let mut out = self.record(context, content::CHANGE_CIPHER_SPEC, &[1]);
        let verify = self.verify12(context, self.role);
        self.write.clone_from(&self.ready);
        let mut flight = Vec::new();
        self.handshake(&mut flight, handshake::FINISHED, &verify);
        out.extend(self.record(context, content::HANDSHAKE, &flight));
        out
    }

    fn verify12(&self, context: &mut Context<'_>, sender: Role) -> Vec<u8> {
        finished12(
            context,
            self.config.suite,
            &self.master,
            sender == Role::Client,
            &self.transcript,
        )
    }

    /// Takes the other end's Finished; `authenticated`: whether it has proved as much as it must.
    pub(super) fn finished(
        &mut self,
        context: &mut Context<'_>,
        message: &Message,
        authenticated: bool,
    ) -> Result<(), Refusal> {
        if self.read.is_none() || self.done {
            return Err(self.unexpected(context));
        }
        let expected = if self.tls13() {
            let base = match self.role {
                Role::Client => self.secrets13.server_handshake.clone(),
                Role::Server => self.secrets13.client_handshake.clone(),
            };
            finished13(context, self.config.suite, &base, &self.transcript)
        } else {
            let sender = match self.role {
                Role::Client => Role::Server,
                Role::Server => Role::Client,
            };
            self.verify12(context, sender)
        };
        if !equal(&expected, &message.body) || !authenticated {
            return Err(self.wrong(context, alert::DECRYPT_ERROR));
        }
        self.transcript.extend(&message.whole);
        self.done = true;
        Ok(())
    }
}
