//! The TLS client.
//!
//! Takes a [`TlsConfig`] and the server's flights; gives the client's, or a [`Refusal`].

use airtoll_wire::tls::{
    ClientHelloRepr, Extension, ServerHelloRepr, content, emit_handshake, emit_record, extension,
    handshake, parse_extensions,
};

use super::connection::{Connection, Flight, Message, Role};
use super::key_share::KeyShare;
use super::schedule::{Protection, Protections, Secrets13, finished13};
use super::{
    CODE, NamedGroup, RETRY, Refusal, Session, TlsConfig, TlsVersion, alert, read_signed, vector16,
};
use crate::exchange::Context;
use crate::failure::Failure;
use crate::octets::written;

/// The client's end.
pub struct TlsClient {
    /// Records, transcript, keys and session.
    pub connection: Connection,
    retried: bool,
    server_share: Option<(NamedGroup, Vec<u8>)>,
    certificate_wanted: bool,
}

impl TlsClient {
    /// A client that has sent nothing yet.
    #[must_use]
    pub fn new(config: TlsConfig) -> Self {
        Self {
            connection: Connection::new(config, Role::Client),
            retried: false,
            server_share: None,
            certificate_wanted: false,
        }
    }

    /// ClientHello in its record.
    pub fn start(&mut self, context: &mut Context<'_>) -> Vec<u8> {
        self.connection.client_random = context.random_octets(32);
        let first = self.connection.groups().first().copied();
        let share = KeyShare::draw(context, first.unwrap_or(NamedGroup::Secp256r1));
        let flight = self.client_hello(context, &share, None);
        self.connection.share = Some(share);
        written(|o| emit_record(content::HANDSHAKE, 0x0301, &flight, o))
    }

    /// ClientHello with this share (TLS 1.3) and a server's cookie.
    fn client_hello(
        &mut self,
        context: &mut Context<'_>,
        share: &KeyShare,
        cookie: Option<Vec<u8>>,
    ) -> Vec<u8> {
        let suite = self.connection.config.suite;
        let groups: Vec<u8> = self
            .connection
            .groups()
            .iter()
            .flat_map(|group| group.number().to_be_bytes())
            .collect();
        let mut extensions: Vec<Extension> = vec![
            (extension::SUPPORTED_GROUPS, vector16(&groups)),
            (extension::EC_POINT_FORMATS, vec![1, 0]),
            (
                extension::SIGNATURE_ALGORITHMS,
                vector16(&self.connection.config.trusted.schemes()),
            ),
            (extension::EXTENDED_MASTER_SECRET, Vec::new()),
            (extension::RENEGOTIATION_INFO, vec![0]),
        ];
        let mut session_id = Vec::new();
        if self.connection.tls13() {
            let public = vector16(&share.public(context));
            let entry = [&share.group().number().to_be_bytes()[..], &public].concat();
            extensions.truncate(3);
            extensions.push((extension::SUPPORTED_VERSIONS, vec![2, 3, 4]));
            extensions.push((extension::PSK_KEY_EXCHANGE_MODES, vec![1, 1]));
            extensions.push((extension::KEY_SHARE, vector16(&entry)));
            extensions.extend(self.connection.compressions());
            extensions.extend(cookie.map(|cookie| (extension::COOKIE, cookie)));
        } else if let Some(session) = &self.connection.config.resume {
            session_id = session.identifier.clone();
        }
        let mut hello = ClientHelloRepr {
            version: 0x0303,
            random: self.connection.client_random[..]
                .try_into()
                .unwrap_or_default(),
            session_id,
            cipher_suites: vec![suite.number(
                self.connection.config.version,
                self.connection.config.trusted,
            )],
            extensions,
        };
        let psk = self
            .connection
            .config
            .resume
            .clone()
            .filter(|_| self.connection.tls13());
        let secret = psk.as_ref().map(|session| session.secret.clone());
        if self.connection.tls13() {
            self.connection.secrets13 = Secrets13::early(context, suite, secret.as_deref());
        }
        if let Some(session) = psk {
            let octets = suite.hash().digest_octets();
            let mut identity = vector16(&session.identifier);
            // No time has passed since the ticket came: there is no clock.
            identity.extend(session.age_add.to_be_bytes());
            let mut offer = vector16(&identity);
            let mut binders = vec![0; 1 + octets];
            binders[0] = u8::try_from(octets).unwrap_or(u8::MAX);
            offer.extend(vector16(&binders));
            hello.extensions.push((extension::PRE_SHARED_KEY, offer));
            let draft = written(|o| emit_handshake(handshake::CLIENT_HELLO, &body(&hello), o));
            let mut truncated = self.connection.transcript.clone();
            truncated.extend(&draft[..draft.len() - 3 - octets]);
            let binder = self.connection.secrets13.binder(context, &truncated);
            if let Some((_, offer)) = hello.extensions.last_mut() {
                let at = offer.len() - octets;
                offer[at..].copy_from_slice(&binder);
            }
        }
        let mut flight = Vec::new();
        self.connection
            .handshake(&mut flight, handshake::CLIENT_HELLO, &body(&hello));
        flight
    }

    /// A HelloRetryRequest: the same again with a share of the group that the server names
    /// (RFC 8446 section 4.1.4).
    fn retry(
        &mut self,
        context: &mut Context<'_>,
        hello: &ServerHelloRepr,
        whole: &[u8],
    ) -> Result<Vec<u8>, Refusal> {
        let find = |wanted| {
            let mut all = hello.extensions.iter();
            all.find(|(number, _)| *number == wanted)
                .map(|(_, data)| data.clone())
        };
        let named = find(extension::KEY_SHARE);
        let shown = self.connection.share.as_ref().map(KeyShare::group);
        let group = self.connection.groups().into_iter().find(|group| {
            named.as_deref() == Some(&group.number().to_be_bytes()) && Some(*group) != shown
        });
        let Some(group) = group.filter(|_| !self.retried) else {
            return Err(self.connection.wrong(context, alert::ILLEGAL_PARAMETER));
        };
        self.retried = true;
        self.connection.hash_first_hello(context);
        self.connection.transcript.extend(whole);
        let share = KeyShare::draw(context, group);
        let flight = self.client_hello(context, &share, find(extension::COOKIE));
        self.connection.share = Some(share);
        Ok(self.connection.record(context, content::HANDSHAKE, &flight))
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
        match message.kind {
            handshake::SERVER_HELLO => answer.extend(self.server_hello(context, message)?),
            handshake::ENCRYPTED_EXTENSIONS => end.transcript.extend(&message.whole),
            handshake::CERTIFICATE_REQUEST => {
                self.certificate_wanted = true;
                if end.tls13() {
                    // Context, then extensions (RFC 8446 section 4.3.2).
                    let extensions = message.body.get(1..).map(parse_extensions);
                    end.note_compressions(&extensions.and_then(Result::ok).unwrap_or_default());
                }
                end.transcript.extend(&message.whole);
            }
            handshake::CERTIFICATE => end.certificate(context, message)?,
            handshake::COMPRESSED_CERTIFICATE => end.compressed_certificate(context, message)?,
            handshake::CERTIFICATE_VERIFY => end.certificate_verify(context, message)?,
            handshake::SERVER_KEY_EXCHANGE => {
                self.server_key_exchange(context, &message.body)?;
                self.connection.transcript.extend(&message.whole);
            }
            handshake::SERVER_HELLO_DONE => {
                end.transcript.extend(&message.whole);
                answer.extend(self.flight12(context)?);
            }
            handshake::FINISHED => answer.extend(self.finished(context, message)?),
            handshake::NEW_SESSION_TICKET if end.is_done() => self.ticket(context, &message.body),
            _ => return Err(end.unexpected(context)),
        }
        Ok(())
    }

    fn server_hello(
        &mut self,
        context: &mut Context<'_>,
        message: &Message,
    ) -> Result<Vec<u8>, Refusal> {
        let whole = &message.whole[..];
        let Ok(hello) = ServerHelloRepr::parse(&message.body) else {
            return Err(self.connection.unexpected(context));
        };
        let config = &self.connection.config;
        if hello.cipher_suite != config.suite.number(config.version, config.trusted) {
            let failure = Failure::NothingInCommon { code: CODE };
            return Err(self
                .connection
                .refuse(context, alert::HANDSHAKE_FAILURE, failure));
        }
        if self.connection.tls13() && hello.random == RETRY {
            return self.retry(context, &hello, whole);
        }
        self.connection.server_random = hello.random.to_vec();
        self.connection.transcript.extend(whole);
        let find = |wanted| {
            hello
                .extensions
                .iter()
                .find(|(number, _)| *number == wanted)
                .map(|(_, data)| data.as_slice())
        };
        if self.connection.tls13() {
            let shared = match (find(extension::KEY_SHARE), &self.connection.share) {
                (Some([high, low, _, _, theirs @ ..]), Some(own))
                    if own.group().number() == u16::from_be_bytes([*high, *low]) =>
                {
                    own.agree(context, theirs)
                }
                _ => None,
            };
            let Some(shared) = shared else {
                return Err(self.connection.unexpected(context));
            };
            // We offer one PSK, so another than the first was never offered.
            self.connection.resumed = match (
                find(extension::PRE_SHARED_KEY),
                &self.connection.config.resume,
            ) {
                (None, _) => false,
                (Some([0, 0]), Some(_)) => true,
                _ => return Err(self.connection.unexpected(context)),
            };
            if !self.connection.resumed {
                self.connection.secrets13 =
                    Secrets13::early(context, self.connection.config.suite, None);
            }
            let transcript = self.connection.transcript.clone();
            self.connection
                .secrets13
                .enter_handshake(context, &shared, &transcript);
            let secret = self.connection.secrets13.server_handshake.clone();
            self.connection.read = Some(Protection::tls13(
                context,
                self.connection.config.suite,
                &secret,
            ));
            return Ok(Vec::new());
        }
        let offered = self.connection.config.resume.clone();
        if let Some(session) = offered.filter(|s| s.identifier == hello.session_id) {
            self.connection.resume12(context, session);
        } else {
            // A server that does not remember gives no session ID (RFC 5246 section 7.4.1.3).
            self.connection.session = (!hello.session_id.is_empty()).then(|| Session {
                identifier: hello.session_id,
                secret: Vec::new(),
                age_add: 0,
            });
        }
        Ok(Vec::new())
    }

    /// Curve, point and a signature over both randoms and them (RFC 8422 section 5.4).
    fn server_key_exchange(
        &mut self,
        context: &mut Context<'_>,
        body: &[u8],
    ) -> Result<(), Refusal> {
        let groups = self.connection.groups();
        let right = body.split_first_chunk::<4>().and_then(|(head, _)| {
            let number = u16::from_be_bytes([head[1], head[2]]);
            let group = groups.into_iter().find(|g| g.number() == number)?;
            let (parameters, rest) = body.split_at_checked(4 + usize::from(head[3]))?;
            let key = self.connection.peer_key.clone().filter(|_| head[0] == 3)?;
            let (scheme, signature) = read_signed(rest)?;
            let message = [
                &self.connection.client_random[..],
                &self.connection.server_random,
                parameters,
            ]
            .concat();
            key.verify(context, scheme, &message, signature)
                .then(|| (group, parameters[4..].to_vec()))
        });
        match right {
            Some(share) => {
                self.server_share = Some(share);
                Ok(())
            }
            None => Err(self.connection.wrong(context, alert::DECRYPT_ERROR)),
        }
    }

    fn flight12(&mut self, context: &mut Context<'_>) -> Result<Vec<u8>, Refusal> {
        let mut flight = Vec::new();
        if self.certificate_wanted {
            self.connection.show_certificate(&mut flight);
        }
        let (premaster, exchange) = if self.connection.config.version == TlsVersion::Tls12Rsa {
            let mut premaster = vec![3, 3];
            premaster.extend(context.random::<46>());
            let sealed = self
                .connection
                .peer_key
                .clone()
                .and_then(|key| key.encrypt(context, &premaster))
                .unwrap_or_default();
            (Some(premaster), vector16(&sealed))
        } else {
            let Some((group, theirs)) = self.server_share.clone() else {
                return Err(self.connection.unexpected(context));
            };
            let share = match self.connection.share.clone() {
                Some(share) if share.group() == group => share,
                _ => KeyShare::draw(context, group),
            };
            let own = share.public(context);
            let mut exchange = vec![u8::try_from(own.len()).unwrap_or(u8::MAX)];
            exchange.extend(own);
            (share.agree(context, &theirs), exchange)
        };
        let Some(premaster) = premaster else {
            return Err(self.connection.unexpected(context));
        };
        self.connection
            .handshake(&mut flight, handshake::CLIENT_KEY_EXCHANGE, &exchange);
        self.connection.agree12(context, &premaster);
        if self.certificate_wanted {
            self.connection.prove_certificate(context, &mut flight);
        }
        let mut out = self.connection.record(context, content::HANDSHAKE, &flight);
        out.extend(self.connection.finish12(context));
        Ok(out)
    }

    fn finished(
        &mut self,
        context: &mut Context<'_>,
        message: &Message,
    ) -> Result<Vec<u8>, Refusal> {
        let authenticated = self.connection.resumed || self.connection.peer_key.is_some();
        self.connection.finished(context, message, authenticated)?;
        if self.connection.tls13() {
            return Ok(self.flight13(context));
        }
        if self.connection.resumed {
            return Ok(self.connection.finish12(context));
        }
        Ok(Vec::new())
    }

    fn flight13(&mut self, context: &mut Context<'_>) -> Vec<u8> {
        let transcript = self.connection.transcript.clone();
        let Protections { client, server } = self
            .connection
            .secrets13
            .enter_application(context, &transcript);
        let base = self.connection.secrets13.client_handshake.clone();
        self.connection.write = Some(Protection::tls13(
            context,
            self.connection.config.suite,
            &base,
        ));
        let mut flight = Vec::new();
        if self.certificate_wanted {
            self.connection.show_certificate(&mut flight);
            self.connection.prove_certificate(context, &mut flight);
        }
        let verify = finished13(
            context,
            self.connection.config.suite,
            &base,
            &self.connection.transcript,
        );
        self.connection
            .handshake(&mut flight, handshake::FINISHED, &verify);
        let out = self.connection.record(context, content::HANDSHAKE, &flight);
        self.connection.write = Some(client);
        self.connection.read = Some(server);
        out
    }

    fn ticket(&mut self, context: &mut Context<'_>, body: &[u8]) {
        // Lifetime, age addend, nonce, ticket, extensions (RFC 8446 section 4.6.1).
        let parts = body.get(4..).and_then(|rest| {
            let (age_add, rest) = rest.split_first_chunk::<4>()?;
            let (length, rest) = rest.split_first()?;
            let (nonce, rest) = rest.split_at_checked(usize::from(*length))?;
            let (length, rest) = rest.split_first_chunk::<2>()?;
            let ticket = rest.get(..usize::from(u16::from_be_bytes(*length)))?;
            Some((*age_add, nonce.to_vec(), ticket.to_vec()))
        });
        if let Some((age_add, nonce, identifier)) = parts {
            let transcript = self.connection.transcript.clone();
            let secret = self
                .connection
                .secrets13
                .resumption(context, &transcript, &nonce);
            self.connection.session = Some(Session {
                identifier,
                secret,
                age_add: u32::from_be_bytes(age_add),
            });
        }
    }
}

fn body(hello: &ClientHelloRepr) -> Vec<u8> {
    written(|o| hello.emit(o))
}
