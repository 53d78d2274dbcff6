//! The TLS server.
//!
//! Takes a [`TlsConfig`] and the client's flights; gives the server's, or a [`Refusal`].

mod tls12;

use airtoll_wire::tls::{
    ClientHelloRepr, Extension, ServerHelloRepr, content, emit_extensions, extension, handshake,
};

use super::connection::{Connection, Flight, Message, Role};
use super::key_share::{Answered, KeyShare};
use super::schedule::{Protection, Protections, Secrets13, finished13};
use super::{CODE, NamedGroup, RETRY, Refusal, Session, TlsConfig, TlsVersion, alert, vector16};
use crate::exchange::Context;
use crate::failure::Failure;
use crate::octets::{equal, written};

/// The server's end.
pub struct TlsServer {
    /// Records, transcript, keys and session.
    pub connection: Connection,
    /// The group of which a share was asked for.
    asked: Option<NamedGroup>,
    /// Tickets after a handshake of TLS 1.3.
    tickets: u8,
}

impl TlsServer {
    /// A server that waits for a ClientHello; `None` without a credential.
    #[must_use]
    pub fn new(config: TlsConfig) -> Option<Self> {
        config.credential.as_ref()?;
        Some(Self {
            connection: Connection::new(config, Role::Server),
            asked: None,
            tickets: 1,
        })
    }

    /// Gives this number of tickets after a handshake of TLS 1.3 instead of one.
    #[must_use]
    pub const fn with_tickets(mut self, tickets: u8) -> Self {
        self.tickets = tickets;
        self
    }

    /// Takes a flight; gives the answer, empty when there is nothing to say.
    ///
    /// # Errors
    /// [`Refusal`] when the handshake ends here.
    pub fn receive(
        &mut self,
        context: &mut Context<'_>,
        flight: &[u8],
    ) -> Result<Vec<u8>, Refusal> {
        let mut flight = Flight::new(flight);
        let mut answer = Vec::new();
        while let Some(message) = self.connection.next(context, &mut flight)? {
            self.step(context, &message, &mut answer)?;
        }
        Ok(answer)
    }

    fn step(
        &mut self,
        context: &mut Context<'_>,
        message: &Message,
        answer: &mut Vec<u8>,
    ) -> Result<(), Refusal> {
        let end = &mut self.connection;
        let first = end.transcript.is_empty() || self.asked.is_some();
        match message.kind {
            handshake::CLIENT_HELLO if first => {
                answer.extend(self.client_hello(context, &message.body, &message.whole)?);
            }
            handshake::CERTIFICATE => end.certificate(context, message)?,
            handshake::COMPRESSED_CERTIFICATE => end.compressed_certificate(context, message)?,
            handshake::CLIENT_KEY_EXCHANGE => {
                self.client_key_exchange(context, &message.body, &message.whole)?;
            }
            handshake::CERTIFICATE_VERIFY => end.certificate_verify(context, message)?,
            handshake::FINISHED => answer.extend(self.finished(context, message)?),
            _ => return Err(end.unexpected(context)),
        }
        Ok(())
    }

    fn client_hello(
        &mut self,
        context: &mut Context<'_>,
        body: &[u8],
        whole: &[u8],
    ) -> Result<Vec<u8>, Refusal> {
        let Ok(hello) = ClientHelloRepr::parse(body) else {
            return Err(self.connection.unexpected(context));
        };
        let kind = self
            .connection
            .config
            .credential
            .as_ref()
            .map_or(self.connection.config.trusted, super::Credential::kind);
        let suite = self
            .connection
            .config
            .suite
            .number(self.connection.config.version, kind);
        if !hello.cipher_suites.contains(&suite) {
            let failure = Failure::NothingInCommon { code: CODE };
            return Err(self
                .connection
                .refuse(context, alert::HANDSHAKE_FAILURE, failure));
        }
        self.connection.client_random = hello.random.to_vec();
        let random: [u8; 32] = context.random();
        self.connection.server_random = random.to_vec();
        let groups = self.connection.groups();
        let first = groups.first().copied().unwrap_or(NamedGroup::Secp256r1);
        self.connection.share = Some(KeyShare::draw_answering(context, first));
        if self.connection.tls13() {
            return self.answer13(context, &hello, whole, random);
        }
        let ephemeral = self.connection.config.version != TlsVersion::Tls12Rsa;
        if let (true, Some(offer)) = (ephemeral, find(&hello, extension::SUPPORTED_GROUPS)) {
            let Some(group) = common(&groups, offer) else {
                let failure = Failure::NothingInCommon { code: CODE };
                return Err(self
                    .connection
                    .refuse(context, alert::HANDSHAKE_FAILURE, failure));
            };
            if group != first {
                self.connection.share = Some(KeyShare::draw(context, group));
            }
        }
        self.connection.transcript.extend(whole);
        self.answer12(context, &hello, random, suite)
    }

    fn hello(
        &mut self,
        flight: &mut Vec<u8>,
        random: [u8; 32],
        session_id: Vec<u8>,
        cipher_suite: u16,
        extensions: Vec<Extension>,
    ) {
        let hello = ServerHelloRepr {
            version: 0x0303,
            random,
            session_id,
            cipher_suite,
            extensions,
        };
        let body = written(|o| hello.emit(o));
        self.connection
            .handshake(flight, handshake::SERVER_HELLO, &body);
    }

    fn answer13(
        &mut self,
        context: &mut Context<'_>,
        hello: &ClientHelloRepr,
        whole: &[u8],
        random: [u8; 32],
    ) -> Result<Vec<u8>, Refusal> {
        let agreed = find(hello, extension::KEY_SHARE).and_then(|data| self.agree13(context, data));
        let Some((group, answered)) = agreed else {
            return self.ask_again(context, hello, whole);
        };
        self.asked = None;
        self.connection.note_compressions(&hello.extensions);
        let psk = self.accepted_psk(context, find(hello, extension::PRE_SHARED_KEY), whole)?;
        self.connection.transcript.extend(whole);
        let entry = [&group.to_be_bytes()[..], &vector16(&answered.share)].concat();
        let mut extensions = vec![
            (extension::SUPPORTED_VERSIONS, vec![3, 4]),
            (extension::KEY_SHARE, entry),
        ];
        self.connection.resumed = psk.is_some();
        if self.connection.resumed {
            extensions.push((extension::PRE_SHARED_KEY, vec![0, 0]));
        }
        let mut flight = Vec::new();
        self.hello(
            &mut flight,
            random,
            hello.session_id.clone(),
            self.suite_number(),
            extensions,
        );
        let mut out = self.connection.record(context, content::HANDSHAKE, &flight);
        let mut secrets = match psk {
            Some(secrets) => secrets,
            None => Secrets13::early(context, self.connection.config.suite, None),
        };
        secrets.enter_handshake(context, &answered.secret, &self.connection.transcript);
        self.connection.write = Some(Protection::tls13(
            context,
            self.connection.config.suite,
            &secrets.server_handshake,
        ));
        self.connection.read = Some(Protection::tls13(
            context,
            self.connection.config.suite,
            &secrets.client_handshake,
        ));
        let mut flight = Vec::new();
        let none = written(|o| emit_extensions(&[], o));
        self.connection
            .handshake(&mut flight, handshake::ENCRYPTED_EXTENSIONS, &none);
        if !self.connection.resumed {
            if self.connection.config.client_certificate {
                let mut extensions = vec![(
                    extension::SIGNATURE_ALGORITHMS,
                    vector16(&self.connection.config.trusted.schemes()),
                )];
                extensions.extend(self.connection.compressions());
                let mut body = vec![0];
                emit_extensions(&extensions, &mut body);
                self.connection
                    .handshake(&mut flight, handshake::CERTIFICATE_REQUEST, &body);
            }
            self.connection.show_certificate(&mut flight);
            self.connection.prove_certificate(context, &mut flight);
        }
        let verify = finished13(
            context,
            self.connection.config.suite,
            &secrets.server_handshake,
            &self.connection.transcript,
        );
        self.connection
            .handshake(&mut flight, handshake::FINISHED, &verify);
        out.extend(self.connection.record(context, content::HANDSHAKE, &flight));
        let Protections { client, server } =
            secrets.enter_application(context, &self.connection.transcript);
        self.connection.write = Some(server);
        self.connection.pending = Some(client);
        self.connection.secrets13 = secrets;
        Ok(out)
    }

    fn suite_number(&self) -> u16 {
        let config = &self.connection.config;
        config.suite.number(config.version, config.trusted)
    }

    /// Group of the first offered share that is taken, and the answer to it (RFC 8446
    /// section 4.2.8).
    fn agree13(&self, context: &mut Context<'_>, offer: &[u8]) -> Option<(u16, Answered)> {
        let groups = self.connection.groups();
        let mut entries = offer.get(2..)?;
        while let Some((header, rest)) = entries.split_first_chunk::<4>() {
            let number = u16::from_be_bytes([header[0], header[1]]);
            let length = usize::from(u16::from_be_bytes([header[2], header[3]]));
            let (theirs, rest) = rest.split_at_checked(length)?;
            let group = groups.iter().find(|group| group.number() == number);
            if let Some(&group) = group.filter(|g| self.asked.is_none_or(|asked| asked == **g)) {
                let share = match self.connection.share.clone() {
                    Some(share) if share.group() == group => share,
                    _ => KeyShare::draw_answering(context, group),
                };
                return Some((number, share.answer(context, theirs)?));
            }
            entries = rest;
        }
        None
    }

    /// HelloRetryRequest, once, for a group that the client knows and shows no share of (RFC 8446
    /// section 4.1.4).
    fn ask_again(
        &mut self,
        context: &mut Context<'_>,
        hello: &ClientHelloRepr,
        whole: &[u8],
    ) -> Result<Vec<u8>, Refusal> {
        if self.asked.is_some() {
            let failure = Failure::IntegrityFailure { code: CODE };
            return Err(self
                .connection
                .refuse(context, alert::ILLEGAL_PARAMETER, failure));
        }
        let offer = find(hello, extension::SUPPORTED_GROUPS);
        let Some(group) = offer.and_then(|offer| common(&self.connection.groups(), offer)) else {
            let failure = Failure::NothingInCommon { code: CODE };
            return Err(self
                .connection
                .refuse(context, alert::HANDSHAKE_FAILURE, failure));
        };
        self.asked = Some(group);
        self.connection.transcript.extend(whole);
        self.connection.hash_first_hello(context);
        let extensions = vec![
            (extension::SUPPORTED_VERSIONS, vec![3, 4]),
            (extension::KEY_SHARE, group.number().to_be_bytes().to_vec()),
        ];
        let mut flight = Vec::new();
        let number = self.suite_number();
        let session_id = hello.session_id.clone();
        self.hello(&mut flight, RETRY, session_id, number, extensions);
        Ok(self.connection.record(context, content::HANDSHAKE, &flight))
    }

    /// The early secrets of an offered PSK that we know and whose binder is right.
    fn accepted_psk(
        &mut self,
        context: &mut Context<'_>,
        offer: Option<&[u8]>,
        whole: &[u8],
    ) -> Result<Option<Secrets13>, Refusal> {
        let (Some(offer), Some(session)) = (offer, self.connection.config.resume.clone()) else {
            return Ok(None);
        };
        let octets = self.connection.config.suite.hash().digest_octets();
        let length = session.identifier.len();
        let known = offer.get(4..4 + length) == Some(&session.identifier);
        // A PSK goes with the hash that it was derived with (RFC 8446 section 4.2.11).
        if !known || session.secret.len() != octets {
            return Ok(None);
        }
        let secrets =
            Secrets13::early(context, self.connection.config.suite, Some(&session.secret));
        let mut truncated = self.connection.transcript.clone();
        truncated.extend(&whole[..whole.len().saturating_sub(3 + octets)]);
        let binder = secrets.binder(context, &truncated);
        if offer.len() < octets || !equal(&offer[offer.len() - octets..], &binder) {
            return Err(self.connection.wrong(context, alert::DECRYPT_ERROR));
        }
        Ok(Some(secrets))
    }

    fn finished(
        &mut self,
        context: &mut Context<'_>,
        message: &Message,
    ) -> Result<Vec<u8>, Refusal> {
        let end = &mut self.connection;
        let proved = !end.config.client_certificate || end.peer_key.is_some();
        let authenticated = end.resumed || proved;
        end.finished(context, message, authenticated)?;
        if end.tls13() {
            end.read = end.pending.take();
            return Ok((0..self.tickets)
                .flat_map(|number| self.ticket(context, number))
                .collect());
        }
        if end.resumed {
            return Ok(Vec::new());
        }
        Ok(end.finish12(context))
    }

    /// NewSessionTicket: a random name for a PSK that the server keeps (RFC 8446 section 4.6.1).
    fn ticket(&mut self, context: &mut Context<'_>, number: u8) -> Vec<u8> {
        let identifier = context.random_octets(32);
        let nonce = [0, number + 1];
        let transcript = self.connection.transcript.clone();
        let secret = self
            .connection
            .secrets13
            .resumption(context, &transcript, &nonce);
        let mut body = 86_400_u32.to_be_bytes().to_vec();
        let age_add: [u8; 4] = context.random();
        body.extend(age_add);
        body.push(2);
        body.extend(nonce);
        body.extend(vector16(&identifier));
        body.extend([0, 0]);
        self.connection.session = Some(Session {
            identifier,
            secret,
            age_add: u32::from_be_bytes(age_add),
        });
        let mut flight = Vec::new();
        self.connection
            .handshake(&mut flight, handshake::NEW_SESSION_TICKET, &body);
        // The ticket belongs to no handshake any more.
        self.connection.transcript = transcript;
        self.connection.record(context, content::HANDSHAKE, &flight)
    }
}

/// An extension of a ClientHello.
fn find(hello: &ClientHelloRepr, wanted: u16) -> Option<&[u8]> {
    let mut all = hello.extensions.iter();
    all.find(|(number, _)| *number == wanted)
        .map(|(_, data)| data.as_slice())
}

/// The first of `groups` in a list of supported_groups.
fn common(groups: &[NamedGroup], offer: &[u8]) -> Option<NamedGroup> {
    let listed = |group: &&NamedGroup| {
        let pairs = offer.get(2..).unwrap_or_default();
        pairs
            .chunks(2)
            .any(|pair| pair == group.number().to_be_bytes())
    };
    groups.iter().find(listed).copied()
}
