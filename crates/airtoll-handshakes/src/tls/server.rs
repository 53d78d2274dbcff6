//! The TLS server.
//!
//! Takes a [`TlsConfig`] and the client's flights; gives the server's, or a [`Refusal`].

mod tls12;

use airtoll_wire::tls::{
    ClientHelloRepr, Extension, ServerHelloRepr, content, emit_certificates, emit_extensions,
    extension, handshake, parse_certificates,
};

use super::certificate::{PublicKey, verify_chain};
use super::key_share::KeyShare;
use super::schedule::{Protection, Secrets13, finished12, finished13, signed13};
use super::{
    CODE, Core, Item, NamedGroup, RETRY, Refusal, Session, TlsConfig, TlsVersion, alert,
    read_signed, signed, vector16,
};
use crate::exchange::Context;
use crate::failure::Failure;
use crate::primitives::{equal, written};

/// The server's end.
pub struct TlsServer {
    config: TlsConfig,
    core: Core,
    share: Option<KeyShare>,
    /// The group of which a share was asked for.
    asked: Option<NamedGroup>,
    client_key: Option<PublicKey>,
    resumed: bool,
    session: Option<Session>,
    pending: Option<Protection>,
    keys: Option<(Protection, Protection)>,
    data: Vec<u8>,
}

impl TlsServer {
    /// A server that waits for a ClientHello; `None` without a credential.
    #[must_use]
    pub fn new(config: TlsConfig) -> Option<Self> {
        config.credential.as_ref()?;
        Some(Self {
            core: Core::new(config.suite),
            config,
            share: None,
            asked: None,
            client_key: None,
            resumed: false,
            session: None,
            pending: None,
            keys: None,
            data: Vec::new(),
        })
    }

    fn tls13(&self) -> bool {
        self.config.version == TlsVersion::Tls13
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

    /// Whether an earlier session was resumed.
    #[must_use]
    pub const fn is_resumed(&self) -> bool {
        self.resumed
    }

    /// Exported keys.
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
            handshake::CLIENT_HELLO if self.core.transcript.is_empty() || self.asked.is_some() => {
                answer.extend(self.client_hello(context, body, whole)?);
            }
            handshake::CERTIFICATE => {
                let chain = parse_certificates(body, self.tls13()).unwrap_or_default();
                let root = self.config.trusted.root();
                let Some(key) = verify_chain(context, &chain, root).filter(|_| !chain.is_empty())
                else {
                    let failure = Failure::WrongCertificate { code: CODE };
                    return Err(self.core.refuse(context, alert::UNKNOWN_CA, failure));
                };
                self.client_key = Some(key);
                self.core.transcript.extend(whole);
            }
            handshake::CLIENT_KEY_EXCHANGE => self.client_key_exchange(context, body, whole)?,
            handshake::CERTIFICATE_VERIFY => {
                let message = if self.tls13() {
                    signed13(context, self.core.suite, true, &self.core.transcript)
                } else {
                    self.core.transcript.clone()
                };
                let right = match (self.client_key.clone(), read_signed(body)) {
                    (Some(key), Some((scheme, signature))) => {
                        key.verify(context, scheme, &message, signature)
                    }
                    _ => false,
                };
                if !right {
                    return Err(self.integrity(context));
                }
                self.core.transcript.extend(whole);
            }
            handshake::FINISHED => answer.extend(self.finished(context, body, whole)?),
            _ => return Err(self.unexpected(context)),
        }
        Ok(())
    }

    /// The groups that are taken.
    fn groups(&self) -> Vec<NamedGroup> {
        if self.config.groups.is_empty() {
            self.config.suite.taken().to_vec()
        } else {
            self.config.groups.clone()
        }
    }

    fn client_hello(
        &mut self,
        context: &mut Context<'_>,
        body: &[u8],
        whole: &[u8],
    ) -> Result<Vec<u8>, Refusal> {
        let Ok(hello) = ClientHelloRepr::parse(body) else {
            return Err(self.unexpected(context));
        };
        let kind = self
            .config
            .credential
            .as_ref()
            .map_or(self.config.trusted, super::Credential::kind);
        let suite = self.config.suite.number(self.config.version, kind);
        if !hello.cipher_suites.contains(&suite) {
            let failure = Failure::NothingInCommon { code: CODE };
            return Err(self.core.refuse(context, alert::HANDSHAKE_FAILURE, failure));
        }
        self.core.client_random = hello.random.to_vec();
        let random: [u8; 32] = context.random();
        self.core.server_random = random.to_vec();
        let groups = self.groups();
        let first = groups.first().copied().unwrap_or(NamedGroup::Secp256r1);
        self.share = Some(KeyShare::draw(context, first));
        if self.tls13() {
            return self.answer13(context, &hello, whole, random);
        }
        let ephemeral = self.config.version != TlsVersion::Tls12Rsa;
        if let (true, Some(offer)) = (ephemeral, find(&hello, extension::SUPPORTED_GROUPS)) {
            let Some(group) = common(&groups, offer) else {
                let failure = Failure::NothingInCommon { code: CODE };
                return Err(self.core.refuse(context, alert::HANDSHAKE_FAILURE, failure));
            };
            if group != first {
                self.share = Some(KeyShare::draw(context, group));
            }
        }
        self.core.transcript.extend(whole);
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
        self.core.handshake(flight, handshake::SERVER_HELLO, &body);
    }

    fn answer13(
        &mut self,
        context: &mut Context<'_>,
        hello: &ClientHelloRepr,
        whole: &[u8],
        random: [u8; 32],
    ) -> Result<Vec<u8>, Refusal> {
        let agreed = find(hello, extension::KEY_SHARE).and_then(|data| self.agree13(context, data));
        let Some((group, own, shared)) = agreed else {
            return self.ask_again(context, hello, whole);
        };
        self.asked = None;
        let psk = self.accepted_psk(context, find(hello, extension::PRE_SHARED_KEY), whole)?;
        self.core.transcript.extend(whole);
        let entry = [&group.to_be_bytes()[..], &vector16(&own)].concat();
        let mut extensions = vec![
            (extension::SUPPORTED_VERSIONS, vec![3, 4]),
            (extension::KEY_SHARE, entry),
        ];
        self.resumed = psk.is_some();
        if self.resumed {
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
        let mut out = self.core.record(context, content::HANDSHAKE, &flight);
        let mut secrets = match psk {
            Some(secrets) => secrets,
            None => Secrets13::early(context, self.core.suite, None),
        };
        secrets.enter_handshake(context, &shared, &self.core.transcript);
        self.core.write = Some(Protection::tls13(
            context,
            self.core.suite,
            &secrets.server_handshake,
        ));
        self.core.read = Some(Protection::tls13(
            context,
            self.core.suite,
            &secrets.client_handshake,
        ));
        let mut flight = Vec::new();
        let none = written(|o| emit_extensions(&[], o));
        self.core
            .handshake(&mut flight, handshake::ENCRYPTED_EXTENSIONS, &none);
        if let (false, Some(credential)) = (self.resumed, self.config.credential.clone()) {
            if self.config.client_certificate {
                let schemes = vec![(
                    extension::SIGNATURE_ALGORITHMS,
                    vector16(&self.config.trusted.schemes()),
                )];
                let mut body = vec![0];
                emit_extensions(&schemes, &mut body);
                self.core
                    .handshake(&mut flight, handshake::CERTIFICATE_REQUEST, &body);
            }
            let chain = written(|o| emit_certificates(credential.chain(), true, o));
            self.core
                .handshake(&mut flight, handshake::CERTIFICATE, &chain);
            let message = signed13(context, self.core.suite, false, &self.core.transcript);
            let signature = credential.sign(context, true, &message);
            let body = signed(credential.kind().scheme(true), &signature);
            self.core
                .handshake(&mut flight, handshake::CERTIFICATE_VERIFY, &body);
        }
        let verify = finished13(
            context,
            self.core.suite,
            &secrets.server_handshake,
            &self.core.transcript,
        );
        self.core
            .handshake(&mut flight, handshake::FINISHED, &verify);
        out.extend(self.core.record(context, content::HANDSHAKE, &flight));
        let (client, server) = secrets.enter_application(context, &self.core.transcript);
        self.core.write = Some(server);
        self.pending = Some(client);
        self.core.secrets13 = secrets;
        Ok(out)
    }

    fn suite_number(&self) -> u16 {
        let config = &self.config;
        config.suite.number(config.version, config.trusted)
    }

    /// Group, own share and shared secret of the first offered share that is taken (RFC 8446
    /// section 4.2.8).
    fn agree13(&self, context: &mut Context<'_>, offer: &[u8]) -> Option<(u16, Vec<u8>, Vec<u8>)> {
        let groups = self.groups();
        let mut entries = offer.get(2..)?;
        while let Some((header, rest)) = entries.split_first_chunk::<4>() {
            let number = u16::from_be_bytes([header[0], header[1]]);
            let length = usize::from(u16::from_be_bytes([header[2], header[3]]));
            let (theirs, rest) = rest.split_at_checked(length)?;
            let group = groups.iter().find(|group| group.number() == number);
            if let Some(&group) = group.filter(|g| self.asked.is_none_or(|asked| asked == **g)) {
                let share = match self.share.clone() {
                    Some(share) if share.group() == group => share,
                    _ => KeyShare::draw(context, group),
                };
                let own = share.public(context);
                return Some((number, own, share.agree(context, theirs)?));
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
            return Err(self.core.refuse(context, alert::ILLEGAL_PARAMETER, failure));
        }
        let offer = find(hello, extension::SUPPORTED_GROUPS);
        let Some(group) = offer.and_then(|offer| common(&self.groups(), offer)) else {
            let failure = Failure::NothingInCommon { code: CODE };
            return Err(self.core.refuse(context, alert::HANDSHAKE_FAILURE, failure));
        };
        self.asked = Some(group);
        self.core.transcript.extend(whole);
        self.core.hash_first_hello(context);
        let extensions = vec![
            (extension::SUPPORTED_VERSIONS, vec![3, 4]),
            (extension::KEY_SHARE, group.number().to_be_bytes().to_vec()),
        ];
        let mut flight = Vec::new();
        let number = self.suite_number();
        let session_id = hello.session_id.clone();
        self.hello(&mut flight, RETRY, session_id, number, extensions);
        Ok(self.core.record(context, content::HANDSHAKE, &flight))
    }

    /// The early secrets of an offered PSK that we know and whose binder is right.
    fn accepted_psk(
        &mut self,
        context: &mut Context<'_>,
        offer: Option<&[u8]>,
        whole: &[u8],
    ) -> Result<Option<Secrets13>, Refusal> {
        let (Some(offer), Some(session)) = (offer, self.config.resume.clone()) else {
            return Ok(None);
        };
        let octets = self.core.suite.hash().digest_octets();
        let length = session.identifier.len();
        let known = offer.get(4..4 + length) == Some(&session.identifier);
        // A PSK goes with the hash that it was derived with (RFC 8446 section 4.2.11).
        if !known || session.secret.len() != octets {
            return Ok(None);
        }
        let secrets = Secrets13::early(context, self.core.suite, Some(&session.secret));
        let mut truncated = self.core.transcript.clone();
        truncated.extend(&whole[..whole.len().saturating_sub(3 + octets)]);
        let binder = secrets.binder(context, &truncated);
        if offer.len() < octets || !equal(&offer[offer.len() - octets..], &binder) {
            return Err(self.integrity(context));
        }
        Ok(Some(secrets))
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
            let base = self.core.secrets13.client_handshake.clone();
            finished13(context, self.core.suite, &base, &self.core.transcript)
        } else {
            finished12(
                context,
                self.core.suite,
                &self.core.master,
                true,
                &self.core.transcript,
            )
        };
        let authenticated =
            self.resumed || !self.config.client_certificate || self.client_key.is_some();
        if !equal(&expected, body) || !authenticated {
            return Err(self.integrity(context));
        }
        self.core.transcript.extend(whole);
        self.core.done = true;
        if self.tls13() {
            self.core.read = self.pending.take();
            return Ok(self.ticket(context));
        }
        if self.resumed {
            return Ok(Vec::new());
        }
        Ok(self.finish12(context))
    }

    /// NewSessionTicket: a random name for a PSK that the server keeps (RFC 8446 section 4.6.1).
    fn ticket(&mut self, context: &mut Context<'_>) -> Vec<u8> {
        let identifier = context.random_octets(32);
        let nonce = [0, 1];
        let transcript = self.core.transcript.clone();
        let secret = self.core.secrets13.resumption(context, &transcript, &nonce);
        let mut body = 86_400_u32.to_be_bytes().to_vec();
        let age_add: [u8; 4] = context.random();
        body.extend(age_add);
        body.push(2);
        body.extend(nonce);
        body.extend(vector16(&identifier));
        body.extend([0, 0]);
        self.session = Some(Session {
            identifier,
            secret,
            age_add: u32::from_be_bytes(age_add),
        });
        let mut flight = Vec::new();
        self.core
            .handshake(&mut flight, handshake::NEW_SESSION_TICKET, &body);
        // The ticket belongs to no handshake any more.
        self.core.transcript = transcript;
        self.core.record(context, content::HANDSHAKE, &flight)
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
