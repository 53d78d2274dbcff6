//! The TLS client.
//!
//! Takes a [`TlsConfig`] and the server's flights; gives the client's, or a [`Refusal`].

use airtoll_wire::tls::{
    ClientHelloRepr, Extension, ServerHelloRepr, content, emit_certificates, emit_handshake,
    emit_record, extension, handshake, parse_certificates,
};

use super::certificate::{PublicKey, verify_chain};
use super::key_share::KeyShare;
use super::schedule::{
    Protection, Secrets13, finished12, finished13, key_block, master_secret, signed13,
};
use super::{
    CODE, Core, Item, NamedGroup, RETRY, Refusal, Session, TlsConfig, TlsVersion, alert,
    read_signed, signed, vector16,
};
use crate::exchange::Context;
use crate::failure::Failure;
use crate::primitives::{equal, written};

/// The client's end.
pub struct TlsClient {
    config: TlsConfig,
    core: Core,
    share: Option<KeyShare>,
    retried: bool,
    server_key: Option<PublicKey>,
    server_share: Option<(NamedGroup, Vec<u8>)>,
    certificate_wanted: bool,
    resumed: bool,
    session: Option<Session>,
    pending: Option<Protection>,
    application: Option<(Protection, Protection)>,
    data: Vec<u8>,
}

impl TlsClient {
    /// A client that has sent nothing yet.
    #[must_use]
    pub fn new(config: TlsConfig) -> Self {
        Self {
            core: Core::new(config.suite),
            config,
            share: None,
            retried: false,
            server_key: None,
            server_share: None,
            certificate_wanted: false,
            resumed: false,
            session: None,
            pending: None,
            application: None,
            data: Vec::new(),
        }
    }

    fn tls13(&self) -> bool {
        self.config.version == TlsVersion::Tls13
    }

    /// The groups that are offered.
    fn groups(&self) -> Vec<NamedGroup> {
        if self.config.groups.is_empty() {
            self.config.suite.offered().to_vec()
        } else {
            self.config.groups.clone()
        }
    }

    /// ClientHello in its record.
    pub fn start(&mut self, context: &mut Context<'_>) -> Vec<u8> {
        self.core.client_random = context.random_octets(32);
        let first = self.groups().first().copied();
        let share = KeyShare::draw(context, first.unwrap_or(NamedGroup::Secp256r1));
        let flight = self.client_hello(context, &share, None);
        self.share = Some(share);
        written(|o| emit_record(content::HANDSHAKE, 0x0301, &flight, o))
    }

    /// ClientHello with this share (TLS 1.3) and a server's cookie.
    fn client_hello(
        &mut self,
        context: &mut Context<'_>,
        share: &KeyShare,
        cookie: Option<Vec<u8>>,
    ) -> Vec<u8> {
        let suite = self.config.suite;
        let groups: Vec<u8> = self
            .groups()
            .iter()
            .flat_map(|group| group.number().to_be_bytes())
            .collect();
        let mut extensions: Vec<Extension> = vec![
            (extension::SUPPORTED_GROUPS, vector16(&groups)),
            (extension::EC_POINT_FORMATS, vec![1, 0]),
            (
                extension::SIGNATURE_ALGORITHMS,
                vector16(&self.config.trusted.schemes()),
            ),
            (extension::EXTENDED_MASTER_SECRET, Vec::new()),
            (extension::RENEGOTIATION_INFO, vec![0]),
        ];
        let mut session_id = Vec::new();
        if self.tls13() {
            let public = vector16(&share.public(context));
            let entry = [&share.group().number().to_be_bytes()[..], &public].concat();
            extensions.truncate(3);
            extensions.push((extension::SUPPORTED_VERSIONS, vec![2, 3, 4]));
            extensions.push((extension::PSK_KEY_EXCHANGE_MODES, vec![1, 1]));
            extensions.push((extension::KEY_SHARE, vector16(&entry)));
            extensions.extend(cookie.map(|cookie| (extension::COOKIE, cookie)));
        } else if let Some(session) = &self.config.resume {
            session_id = session.identifier.clone();
        }
        let mut hello = ClientHelloRepr {
            version: 0x0303,
            random: self.core.client_random[..].try_into().unwrap_or_default(),
            session_id,
            cipher_suites: vec![suite.number(self.config.version, self.config.trusted)],
            extensions,
        };
        let psk = self.config.resume.clone().filter(|_| self.tls13());
        let secret = psk.as_ref().map(|session| session.secret.clone());
        if self.tls13() {
            self.core.secrets13 = Secrets13::early(context, suite, secret.as_deref());
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
            let mut truncated = self.core.transcript.clone();
            truncated.extend(&draft[..draft.len() - 3 - octets]);
            let binder = self.core.secrets13.binder(context, &truncated);
            if let Some((_, offer)) = hello.extensions.last_mut() {
                let at = offer.len() - octets;
                offer[at..].copy_from_slice(&binder);
            }
        }
        let mut flight = Vec::new();
        self.core
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
        let shown = self.share.as_ref().map(KeyShare::group);
        let group = self.groups().into_iter().find(|group| {
            named.as_deref() == Some(&group.number().to_be_bytes()) && Some(*group) != shown
        });
        let Some(group) = group.filter(|_| !self.retried) else {
            return Err(self.illegal(context));
        };
        self.retried = true;
        self.core.hash_first_hello(context);
        self.core.transcript.extend(whole);
        let share = KeyShare::draw(context, group);
        let flight = self.client_hello(context, &share, find(extension::COOKIE));
        self.share = Some(share);
        Ok(self.core.record(context, content::HANDSHAKE, &flight))
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
        let mut octets = flight;
        let mut answer = Vec::new();
        while !octets.is_empty() {
            for item in self.core.next(context, &mut octets)? {
                match item {
                    // A relic for middleboxes in 1.3 (RFC 8446 section 5): dropped.
                    Item::ChangeCipherSpec if self.tls13() && !self.core.done => {}
                    Item::ChangeCipherSpec => self.core.read = self.pending.take(),
                    Item::Data(data) if self.core.done => self.data.extend(data),
                    Item::Data(_) => return Err(self.unexpected(context)),
                    Item::Handshake(kind, body, whole) => {
                        self.step(context, kind, &body, &whole, &mut answer)?;
                    }
                }
            }
        }
        Ok(answer)
    }

    /// Application data that came, taken out.
    pub fn take_data(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.data)
    }

    /// A record of application data.
    pub fn seal(&mut self, context: &mut Context<'_>, plain: &[u8]) -> Vec<u8> {
        self.core.record(context, content::APPLICATION_DATA, plain)
    }

    /// Whether the handshake is complete.
    #[must_use]
    pub const fn is_done(&self) -> bool {
        self.core.done
    }

    /// Exported keys, see [`super::Core::export`].
    pub fn export(
        &self,
        context: &mut Context<'_>,
        label: &[u8],
        value: &[u8],
        octets: usize,
    ) -> Vec<u8> {
        self.core
            .export(context, self.tls13(), label, value, octets)
    }

    /// Whether the server resumed an earlier session.
    #[must_use]
    pub const fn is_resumed(&self) -> bool {
        self.resumed
    }

    /// What to resume later.
    #[must_use]
    pub const fn session(&self) -> Option<&Session> {
        self.session.as_ref()
    }

    fn unexpected(&mut self, context: &mut Context<'_>) -> Refusal {
        let failure = Failure::IntegrityFailure { code: CODE };
        self.core
            .refuse(context, alert::UNEXPECTED_MESSAGE, failure)
    }

    fn illegal(&mut self, context: &mut Context<'_>) -> Refusal {
        let failure = Failure::IntegrityFailure { code: CODE };
        self.core.refuse(context, alert::ILLEGAL_PARAMETER, failure)
    }

    fn integrity(&mut self, context: &mut Context<'_>) -> Refusal {
        let failure = Failure::IntegrityFailure { code: CODE };
        self.core.refuse(context, alert::DECRYPT_ERROR, failure)
    }

    fn step(
        &mut self,
        context: &mut Context<'_>,
        kind: u8,
        body: &[u8],
        whole: &[u8],
        answer: &mut Vec<u8>,
    ) -> Result<(), Refusal> {
        match kind {
            handshake::SERVER_HELLO => answer.extend(self.server_hello(context, body, whole)?),
            handshake::ENCRYPTED_EXTENSIONS => self.core.transcript.extend(whole),
            handshake::CERTIFICATE_REQUEST => {
                self.certificate_wanted = true;
                self.core.transcript.extend(whole);
            }
            handshake::CERTIFICATE => {
                let chain = parse_certificates(body, self.tls13()).unwrap_or_default();
                let root = self.config.trusted.root();
                let Some(key) = verify_chain(context, &chain, root).filter(|_| !chain.is_empty())
                else {
                    let failure = Failure::WrongCertificate { code: CODE };
                    return Err(self.core.refuse(context, alert::UNKNOWN_CA, failure));
                };
                self.server_key = Some(key);
                self.core.transcript.extend(whole);
            }
            handshake::CERTIFICATE_VERIFY => {
                let message = signed13(context, self.core.suite, false, &self.core.transcript);
                let right = match (&self.server_key, read_signed(body)) {
                    (Some(key), Some((scheme, signature))) => {
                        key.clone().verify(context, scheme, &message, signature)
                    }
                    _ => false,
                };
                if !right {
                    return Err(self.integrity(context));
                }
                self.core.transcript.extend(whole);
            }
            handshake::SERVER_KEY_EXCHANGE => {
                self.server_key_exchange(context, body)?;
                self.core.transcript.extend(whole);
            }
            handshake::SERVER_HELLO_DONE => {
                self.core.transcript.extend(whole);
                answer.extend(self.flight12(context)?);
            }
            handshake::FINISHED => answer.extend(self.finished(context, body, whole)?),
            handshake::NEW_SESSION_TICKET if self.core.done => self.ticket(context, body),
            _ => return Err(self.unexpected(context)),
        }
        Ok(())
    }

    fn server_hello(
        &mut self,
        context: &mut Context<'_>,
        body: &[u8],
        whole: &[u8],
    ) -> Result<Vec<u8>, Refusal> {
        let Ok(hello) = ServerHelloRepr::parse(body) else {
            return Err(self.unexpected(context));
        };
        let config = &self.config;
        if hello.cipher_suite != config.suite.number(config.version, config.trusted) {
            let failure = Failure::NothingInCommon { code: CODE };
            return Err(self.core.refuse(context, alert::HANDSHAKE_FAILURE, failure));
        }
        if self.tls13() && hello.random == RETRY {
            return self.retry(context, &hello, whole);
        }
        self.core.server_random = hello.random.to_vec();
        self.core.transcript.extend(whole);
        let find = |wanted| {
            hello
                .extensions
                .iter()
                .find(|(number, _)| *number == wanted)
                .map(|(_, data)| data.as_slice())
        };
        if self.tls13() {
            let shared = match (find(extension::KEY_SHARE), &self.share) {
                (Some([high, low, _, _, theirs @ ..]), Some(own))
                    if own.group().number() == u16::from_be_bytes([*high, *low]) =>
                {
                    own.agree(context, theirs)
                }
                _ => None,
            };
            let Some(shared) = shared else {
                return Err(self.unexpected(context));
            };
            // We offer one PSK, so another than the first was never offered.
            self.resumed = match (find(extension::PRE_SHARED_KEY), &self.config.resume) {
                (None, _) => false,
                (Some([0, 0]), Some(_)) => true,
                _ => return Err(self.unexpected(context)),
            };
            if !self.resumed {
                self.core.secrets13 = Secrets13::early(context, self.core.suite, None);
            }
            let transcript = self.core.transcript.clone();
            self.core
                .secrets13
                .enter_handshake(context, &shared, &transcript);
            let secret = self.core.secrets13.server_handshake.clone();
            self.core.read = Some(Protection::tls13(context, self.core.suite, &secret));
            return Ok(Vec::new());
        }
        let offered = self.config.resume.clone();
        if let Some(session) = offered.filter(|s| s.identifier == hello.session_id) {
            self.resumed = true;
            self.core.master = session.secret.clone();
            self.session = Some(session);
            self.derive12(context);
        } else {
            // A server that does not remember gives no session ID (RFC 5246 section 7.4.1.3).
            self.session = (!hello.session_id.is_empty()).then(|| Session {
                identifier: hello.session_id,
                secret: Vec::new(),
                age_add: 0,
            });
        }
        Ok(Vec::new())
    }

    fn derive12(&mut self, context: &mut Context<'_>) {
        let (client, server) = key_block(
            context,
            self.core.suite,
            &self.core.master,
            &self.core.client_random,
            &self.core.server_random,
        );
        self.application = Some((client, server.clone()));
        self.pending = Some(server);
    }

    /// Curve, point and a signature over both randoms and them (RFC 8422 section 5.4).
    fn server_key_exchange(
        &mut self,
        context: &mut Context<'_>,
        body: &[u8],
    ) -> Result<(), Refusal> {
        let groups = self.groups();
        let right = body.split_first_chunk::<4>().and_then(|(head, _)| {
            let number = u16::from_be_bytes([head[1], head[2]]);
            let group = groups.into_iter().find(|g| g.number() == number)?;
            let (parameters, rest) = body.split_at_checked(4 + usize::from(head[3]))?;
            let key = self.server_key.clone().filter(|_| head[0] == 3)?;
            let (scheme, signature) = read_signed(rest)?;
            let message = [
                &self.core.client_random[..],
                &self.core.server_random,
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
            None => Err(self.integrity(context)),
        }
    }

    fn flight12(&mut self, context: &mut Context<'_>) -> Result<Vec<u8>, Refusal> {
        let mut flight = Vec::new();
        let credential = self.config.credential.clone();
        if self.certificate_wanted {
            let chain = credential.as_ref().map_or(&[][..], |c| c.chain());
            let body = written(|o| emit_certificates(chain, false, o));
            self.core
                .handshake(&mut flight, handshake::CERTIFICATE, &body);
        }
        let (premaster, exchange) = if self.config.version == TlsVersion::Tls12Rsa {
            let mut premaster = vec![3, 3];
            premaster.extend(context.random::<46>());
            let sealed = self
                .server_key
                .clone()
                .and_then(|key| key.encrypt(context, &premaster))
                .unwrap_or_default();
            (Some(premaster), vector16(&sealed))
        } else {
            let Some((group, theirs)) = self.server_share.clone() else {
                return Err(self.unexpected(context));
            };
            let share = match self.share.clone() {
                Some(share) if share.group() == group => share,
                _ => KeyShare::draw(context, group),
            };
            let own = share.public(context);
            let mut exchange = vec![u8::try_from(own.len()).unwrap_or(u8::MAX)];
            exchange.extend(own);
            (share.agree(context, &theirs), exchange)
        };
        let Some(premaster) = premaster else {
            return Err(self.unexpected(context));
        };
        self.core
            .handshake(&mut flight, handshake::CLIENT_KEY_EXCHANGE, &exchange);
        self.core.master =
            master_secret(context, self.core.suite, &premaster, &self.core.transcript);
        if let Some(session) = &mut self.session {
            session.secret.clone_from(&self.core.master);
        }
        self.derive12(context);
        if let (true, Some(credential)) = (self.certificate_wanted, credential) {
            let signature = credential.sign(context, false, &self.core.transcript);
            let body = signed(credential.kind().scheme(false), &signature);
            self.core
                .handshake(&mut flight, handshake::CERTIFICATE_VERIFY, &body);
        }
        let mut out = self.core.record(context, content::HANDSHAKE, &flight);
        out.extend(self.finish12(context));
        Ok(out)
    }

    fn finish12(&mut self, context: &mut Context<'_>) -> Vec<u8> {
        let mut out = self.core.record(context, content::CHANGE_CIPHER_SPEC, &[1]);
        let verify = finished12(
            context,
            self.core.suite,
            &self.core.master,
            true,
            &self.core.transcript,
        );
        self.core.write = self.application.clone().map(|(client, _)| client);
        let mut flight = Vec::new();
        self.core
            .handshake(&mut flight, handshake::FINISHED, &verify);
        out.extend(self.core.record(context, content::HANDSHAKE, &flight));
        out
    }

    fn finished(
        &mut self,
        context: &mut Context<'_>,
        body: &[u8],
        whole: &[u8],
    ) -> Result<Vec<u8>, Refusal> {
        if self.core.read.is_none() || self.core.done {
            return Err(self.unexpected(context));
        }
        let expected = if self.tls13() {
            let base = self.core.secrets13.server_handshake.clone();
            finished13(context, self.core.suite, &base, &self.core.transcript)
        } else {
            finished12(
                context,
                self.core.suite,
                &self.core.master,
                false,
                &self.core.transcript,
            )
        };
        let authenticated = self.resumed || self.server_key.is_some();
        if !equal(&expected, body) || !authenticated {
            return Err(self.integrity(context));
        }
        self.core.transcript.extend(whole);
        self.core.done = true;
        if self.tls13() {
            return Ok(self.flight13(context));
        }
        if self.resumed {
            return Ok(self.finish12(context));
        }
        Ok(Vec::new())
    }

    fn flight13(&mut self, context: &mut Context<'_>) -> Vec<u8> {
        let transcript = self.core.transcript.clone();
        let (client, server) = self.core.secrets13.enter_application(context, &transcript);
        let base = self.core.secrets13.client_handshake.clone();
        self.core.write = Some(Protection::tls13(context, self.core.suite, &base));
        let mut flight = Vec::new();
        if self.certificate_wanted {
            let credential = self.config.credential.clone();
            let chain = credential.as_ref().map_or(&[][..], |c| c.chain());
            let body = written(|o| emit_certificates(chain, true, o));
            self.core
                .handshake(&mut flight, handshake::CERTIFICATE, &body);
            if let Some(credential) = credential {
                let message = signed13(context, self.core.suite, true, &self.core.transcript);
                let signature = credential.sign(context, true, &message);
                let body = signed(credential.kind().scheme(true), &signature);
                self.core
                    .handshake(&mut flight, handshake::CERTIFICATE_VERIFY, &body);
            }
        }
        let verify = finished13(context, self.core.suite, &base, &self.core.transcript);
        self.core
            .handshake(&mut flight, handshake::FINISHED, &verify);
        let out = self.core.record(context, content::HANDSHAKE, &flight);
        self.core.write = Some(client);
        self.core.read = Some(server);
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
            let transcript = self.core.transcript.clone();
            let secret = self.core.secrets13.resumption(context, &transcript, &nonce);
            self.session = Some(Session {
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
