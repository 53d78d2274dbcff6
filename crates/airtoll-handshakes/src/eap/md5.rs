//! EAP-MD5 (RFC 3748 section 5.4): a challenge and MD5(identifier, password, challenge).
//!
//! Takes a password at each end; gives yes or no. Authenticates the station alone, gives no key.

use airtoll_wire::eap::{Code, EapRepr, SizedValue, method};

use super::{EapConfig, FAILED, PeerMethod, ServerMethod, Step};
use crate::exchange::Context;
use crate::failure::Failure;
use crate::octets::{equal, written};
use crate::operation::HashAlgorithm;

fn proof(context: &mut Context<'_>, identifier: u8, password: &[u8], challenge: &[u8]) -> Vec<u8> {
    context.hash(HashAlgorithm::Md5, &[&[identifier], password, challenge])
}

pub(super) struct Md5Server {
    password: Vec<u8>,
    challenge: Option<(u8, Vec<u8>)>,
}

impl Md5Server {
    pub fn new(config: &EapConfig) -> Self {
        Self {
            password: config.password.clone(),
            challenge: None,
        }
    }
}

impl ServerMethod for Md5Server {
    fn next(
        &mut self,
        packet: Option<&EapRepr>,
        identifier: u8,
        context: &mut Context<'_>,
    ) -> Step {
        let Some(packet) = packet else {
            let value = context.random_octets(16);
            let data = SizedValue {
                value: value.clone(),
                name: b"radius".to_vec(),
            };
            self.challenge = Some((identifier, value));
            let data = written(|out| data.emit(out));
            return Step::Continue(EapRepr::request(identifier, method::MD5_CHALLENGE, data));
        };
        let Some((asked, challenge)) = &self.challenge else {
            return Step::Ignore;
        };
        let answer = match &packet.body {
            Some((method::MD5_CHALLENGE, data)) => SizedValue::parse(data).ok(),
            _ => None,
        };
        let expected = proof(context, *asked, &self.password, challenge);
        if answer.is_some_and(|answer| equal(&answer.value, &expected)) {
            Step::Accept(EapRepr::end(Code::Success, *asked))
        } else {
            Step::Reject(
                EapRepr::end(Code::Failure, *asked),
                Failure::WrongCredentials { code: FAILED },
            )
        }
    }

    fn msk(&self) -> Vec<u8> {
        Vec::new()
    }
}

pub(super) struct Md5Peer {
    password: Vec<u8>,
    identity: Vec<u8>,
    answered: bool,
}

impl Md5Peer {
    pub fn new(config: &EapConfig) -> Self {
        Self {
            password: config.password.clone(),
            identity: config.identity.clone(),
            answered: false,
        }
    }
}

impl PeerMethod for Md5Peer {
    fn answer(
        &mut self,
        packet: &EapRepr,
        context: &mut Context<'_>,
    ) -> Result<Option<EapRepr>, Failure> {
        let Some((_, data)) = &packet.body else {
            return Ok(None);
        };
        let Ok(asked) = SizedValue::parse(data) else {
            return Ok(None);
        };
        self.answered = true;
        let data = SizedValue {
            value: proof(context, packet.identifier, &self.password, &asked.value),
            name: self.identity.clone(),
        };
        let data = written(|out| data.emit(out));
        Ok(Some(EapRepr::response(
            packet.identifier,
            method::MD5_CHALLENGE,
            data,
        )))
    }

    fn is_satisfied(&self) -> bool {
        self.answered
    }

    fn msk(&self) -> Vec<u8> {
        Vec::new()
    }
}
