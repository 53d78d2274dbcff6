//! TLS 1.2 at the server (RFC 5246): its flights, a resumed session's among them, and its keys.
//!
//! Takes a ClientHello or a ClientKeyExchange; gives the server's flight, or a [`Refusal`].

use airtoll_wire::tls::{ClientHelloRepr, content, extension, handshake};

use super::TlsServer;
use crate::exchange::Context;
use crate::tls::{Refusal, Session, TlsVersion, alert, signed};

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
        let known = self.connection.config.resume.clone();
        if let Some(session) = known.filter(|s| s.identifier == hello.session_id) {
            let identifier = session.identifier.clone();
            self.hello(&mut flight, random, identifier, suite, extensions);
            self.connection.resume12(context, session);
            let mut out = self.connection.record(context, content::HANDSHAKE, &flight);
            out.extend(self.connection.finish12(context));
            return Ok(out);
        }
        let identifier = context.random_octets(32);
        self.connection.session = Some(Session {
            identifier: identifier.clone(),
            secret: Vec::new(),
            age_add: 0,
        });
        self.hello(&mut flight, random, identifier, suite, extensions);
        let Some(credential) = self.connection.config.credential.clone() else {
            return Err(self.connection.unexpected(context));
        };
        self.connection.show_certificate(&mut flight);
        if self.connection.config.version != TlsVersion::Tls12Rsa {
            let Some(share) = self.connection.share.clone() else {
                return Err(self.connection.unexpected(context));
            };
            let public = share.public(context);
            let mut body = vec![3];
            body.extend(share.group().number().to_be_bytes());
            body.push(u8::try_from(public.len()).unwrap_or(u8::MAX));
            body.extend(public);
            let message = [
                &self.connection.client_random[..],
                &self.connection.server_random,
                &body,
            ]
            .concat();
            let signature = credential.sign(context, false, &message);
            body.extend(signed(credential.kind().leaf().scheme(false), &signature));
            self.connection
                .handshake(&mut flight, handshake::SERVER_KEY_EXCHANGE, &body);
        }
        if self.connection.config.client_certificate {
            // rsa_sign and ecdsa_sign, two schemes, no named authorities (RFC 5246 section 7.4.4).
            let schemes = self.connection.config.trusted.schemes();
            let (ecdsa, pkcs1) = (&schemes[..2], &schemes[schemes.len() - 2..]);
            let body = [&[2, 1, 64, 0, 4], ecdsa, pkcs1, &[0, 0]].concat();
            self.connection
                .handshake(&mut flight, handshake::CERTIFICATE_REQUEST, &body);
        }
        self.connection
            .handshake(&mut flight, handshake::SERVER_HELLO_DONE, &[]);
        Ok(self.connection.record(context, content::HANDSHAKE, &flight))
    }

    pub(super) fn client_key_exchange(
        &mut self,
        context: &mut Context<'_>,
        body: &[u8],
        whole: &[u8],
    ) -> Result<(), Refusal> {
        let premaster = if self.connection.config.version == TlsVersion::Tls12Rsa {
            let sealed = body.get(2..).unwrap_or_default();
            let credential = self.connection.config.credential.clone();
            credential.and_then(|credential| credential.decrypt(context, sealed))
        } else {
            match (body, &self.connection.share) {
                ([_, theirs @ ..], Some(share)) => share.agree(context, theirs),
                _ => None,
            }
        };
        let missing =
            self.connection.config.client_certificate && self.connection.peer_key.is_none();
        let Some(premaster) = premaster.filter(|_| !missing) else {
            return Err(self.connection.wrong(context, alert::DECRYPT_ERROR));
        };
        self.connection.transcript.extend(whole);
        self.connection.agree12(context, &premaster);
        Ok(())
    }
}
