//! TLS 1.2 at the server (RFC 5246): its flights, a resumed session's among them, and its keys.
//!
//! Takes a ClientHello or a ClientKeyExchange; gives the server's flight, or a [`Refusal`].

use airtoll_wire::tls::{ClientHelloRepr, content, emit_certificates, extension, handshake};

use super::TlsServer;
use crate::exchange::Context;
use crate::primitives::written;
use crate::tls::schedule::{finished12, key_block, master_secret};
use crate::tls::{Refusal, Session, TlsVersion, signed};

impl TlsServer {
    pub(super) fn answer12(
        &mut self,
        context: &mut Context<'_>,
        hello: &ClientHelloRepr,
        random: [u8; 32],
        suite: u16,
    ) -> Result<Vec<u8>, Refusal> {
        let extensions = vec![
            (extension::EXTENDED_MASTER_SECRET, Vec::new()),
            (extension::RENEGOTIATION_INFO, vec![0]),
        ];
        let mut flight = Vec::new();
        let known = self.config.resume.clone();
        if let Some(session) = known.filter(|s| s.identifier == hello.session_id) {
            self.resumed = true;
            self.core.master = session.secret.clone();
            let identifier = session.identifier.clone();
            self.session = Some(session);
            self.hello(&mut flight, random, identifier, suite, extensions);
            self.derive12(context);
            let mut out = self.core.record(context, content::HANDSHAKE, &flight);
            out.extend(self.finish12(context));
            return Ok(out);
        }
        let identifier = context.random_octets(32);
        self.session = Some(Session {
            identifier: identifier.clone(),
            secret: Vec::new(),
            age_add: 0,
        });
        self.hello(&mut flight, random, identifier, suite, extensions);
        let Some(credential) = self.config.credential.clone() else {
            return Err(self.unexpected(context));
        };
        let chain = written(|o| emit_certificates(credential.chain(), false, o));
        self.core
            .handshake(&mut flight, handshake::CERTIFICATE, &chain);
        if self.config.version != TlsVersion::Tls12Rsa {
            let Some(share) = self.share.clone() else {
                return Err(self.unexpected(context));
            };
            let public = share.public(context);
            let mut body = vec![3];
            body.extend(share.group().number().to_be_bytes());
            body.push(u8::try_from(public.len()).unwrap_or(u8::MAX));
            body.extend(public);
            let message = [
                &self.core.client_random[..],
                &self.core.server_random,
                &body,
            ]
            .concat();
            let signature = credential.sign(context, false, &message);
            body.extend(signed(credential.kind().scheme(false), &signature));
            self.core
                .handshake(&mut flight, handshake::SERVER_KEY_EXCHANGE, &body);
        }
        if self.config.client_certificate {
            // rsa_sign and ecdsa_sign, two schemes, no named authorities (RFC 5246 section 7.4.4).
            let [ecdsa, curve, .., pkcs1, rsa] = self.config.trusted.schemes();
            let body = [2, 1, 64, 0, 4, ecdsa, curve, pkcs1, rsa, 0, 0];
            self.core
                .handshake(&mut flight, handshake::CERTIFICATE_REQUEST, &body);
        }
        self.core
            .handshake(&mut flight, handshake::SERVER_HELLO_DONE, &[]);
        Ok(self.core.record(context, content::HANDSHAKE, &flight))
    }

    pub(super) fn derive12(&mut self, context: &mut Context<'_>) {
        let (client, server) = key_block(
            context,
            self.core.suite,
            &self.core.master,
            &self.core.client_random,
            &self.core.server_random,
        );
        self.pending = Some(client.clone());
        self.keys = Some((client, server));
    }

    pub(super) fn client_key_exchange(
        &mut self,
        context: &mut Context<'_>,
        body: &[u8],
        whole: &[u8],
    ) -> Result<(), Refusal> {
        let premaster = if self.config.version == TlsVersion::Tls12Rsa {
            let sealed = body.get(2..).unwrap_or_default();
            let credential = self.config.credential.clone();
            credential.and_then(|credential| credential.decrypt(context, sealed))
        } else {
            match (body, &self.share) {
                ([_, theirs @ ..], Some(share)) => share.agree(context, theirs),
                _ => None,
            }
        };
        let missing = self.config.client_certificate && self.client_key.is_none();
        let Some(premaster) = premaster.filter(|_| !missing) else {
            return Err(self.integrity(context));
        };
        self.core.transcript.extend(whole);
        self.core.master =
            master_secret(context, self.core.suite, &premaster, &self.core.transcript);
        if let Some(session) = &mut self.session {
            session.secret.clone_from(&self.core.master);
        }
        self.derive12(context);
        Ok(())
    }

    pub(super) fn finish12(&mut self, context: &mut Context<'_>) -> Vec<u8> {
        let mut out = self.core.record(context, content::CHANGE_CIPHER_SPEC, &[1]);
        let verify = finished12(
            context,
            self.core.suite,
            &self.core.master,
            false,
            &self.core.transcript,
        );
        self.core.write = self.keys.clone().map(|(_, server)| server);
        let mut flight = Vec::new();
        self.core
            .handshake(&mut flight, handshake::FINISHED, &verify);
        out.extend(self.core.record(context, content::HANDSHAKE, &flight));
        out
    }
}
