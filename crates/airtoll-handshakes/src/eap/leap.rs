//! LEAP: MS-CHAP both ways and a session key, as wpa_supplicant speaks it.
//!
//! Takes a password at each end; gives a 16-octet session key. The server's Success travels in
//! an Access-Challenge, because the station then challenges the server.

use airtoll_wire::eap::{Code, EapRepr, LeapData, method};

use super::mschapv2::{challenge_response, password_hash};
use super::{EapConfig, FAILED, PeerMethod, ServerMethod, Step};
use crate::exchange::Context;
use crate::failure::Failure;
use crate::octets::{equal, written};
use crate::operation::HashAlgorithm;

fn data(value: &[u8], name: &[u8]) -> Vec<u8> {
    let data = LeapData {
        value: value.to_vec(),
        name: name.to_vec(),
    };
    written(|out| data.emit(out))
}

fn read(packet: &EapRepr, octets: usize) -> Option<Vec<u8>> {
    match &packet.body {
        Some((method::LEAP, data)) => LeapData::parse(data)
            .ok()
            .map(|data| data.value)
            .filter(|value| value.len() == octets),
        _ => None,
    }
}

fn respond(context: &mut Context<'_>, challenge: &[u8], hash: &[u8]) -> Vec<u8> {
    let mut eight = [0; 8];
    let length = challenge.len().min(8);
    eight[..length].copy_from_slice(&challenge[..length]);
    challenge_response(context, &eight, hash)
}

/// The four values of a conversation, which the session key is made of.
#[derive(Default)]
struct Conversation {
    station_challenged: Vec<u8>,
    station_response: Vec<u8>,
    server_challenged: Vec<u8>,
    server_response: Vec<u8>,
}

impl Conversation {
    /// MD5 of the twice hashed password, then what the server was asked and answered, then what
    /// the station was asked and answered.
    fn key(&self, context: &mut Context<'_>, twice: &[u8]) -> Vec<u8> {
        context.hash(
            HashAlgorithm::Md5,
            &[
                twice,
                &self.server_challenged,
                &self.server_response,
                &self.station_challenged,
                &self.station_response,
            ],
        )
    }
}

pub(super) struct LeapServer {
    password: Vec<u8>,
    name: Vec<u8>,
    talk: Conversation,
    proved: bool,
    key: Vec<u8>,
}

impl LeapServer {
    pub fn new(config: &EapConfig) -> Self {
        Self {
            password: config.password.clone(),
            name: config.identity.clone(),
            talk: Conversation::default(),
            proved: false,
            key: Vec::new(),
        }
    }
}

impl ServerMethod for LeapServer {
    fn next(
        &mut self,
        packet: Option<&EapRepr>,
        identifier: u8,
        context: &mut Context<'_>,
    ) -> Step {
        let Some(packet) = packet else {
            self.talk.station_challenged = context.random_octets(8);
            let data = data(&self.talk.station_challenged, &self.name);
            return Step::Continue(EapRepr::request(identifier, method::LEAP, data));
        };
        let hash = password_hash(context, &self.password);
        if packet.code == Code::Response && !self.proved {
            let expected = respond(context, &self.talk.station_challenged, &hash);
            if !read(packet, 24).is_some_and(|response| equal(&response, &expected)) {
                return Step::Reject(
                    EapRepr::end(Code::Failure, packet.identifier),
                    Failure::WrongCredentials { code: FAILED },
                );
            }
            self.talk.station_response = expected;
            self.proved = true;
            return Step::Continue(EapRepr::end(Code::Success, packet.identifier));
        }
        let Some(challenge) = read(packet, 8).filter(|_| self.proved) else {
            return Step::Ignore;
        };
        let twice = context.hash(HashAlgorithm::Md4, &[&hash]);
        self.talk.server_response = respond(context, &challenge, &twice);
        self.talk.server_challenged = challenge;
        self.key = self.talk.key(context, &twice);
        let data = data(&self.talk.server_response, &self.name);
        Step::Accept(EapRepr::response(packet.identifier, method::LEAP, data))
    }

    fn msk(&self) -> Vec<u8> {
        self.key.clone()
    }
}

pub(super) struct LeapPeer {
    password: Vec<u8>,
    name: Vec<u8>,
    talk: Conversation,
    identifier: u8,
    done: bool,
    key: Vec<u8>,
}

impl LeapPeer {
    pub fn new(config: &EapConfig) -> Self {
        Self {
            password: config.password.clone(),
            name: config.identity.clone(),
            talk: Conversation::default(),
            identifier: 0,
            done: false,
            key: Vec::new(),
        }
    }
}

impl PeerMethod for LeapPeer {
    fn answer(
        &mut self,
        packet: &EapRepr,
        context: &mut Context<'_>,
    ) -> Result<Option<EapRepr>, Failure> {
        let hash = password_hash(context, &self.password);
        if packet.code == Code::Request {
            let Some(challenge) = read(packet, 8) else {
                return Ok(None);
            };
            self.identifier = packet.identifier;
            self.talk.station_response = respond(context, &challenge, &hash);
            self.talk.station_challenged = challenge;
            let data = data(&self.talk.station_response, &self.name);
            return Ok(Some(EapRepr::response(
                packet.identifier,
                method::LEAP,
                data,
            )));
        }
        let twice = context.hash(HashAlgorithm::Md4, &[&hash]);
        let expected = respond(context, &self.talk.server_challenged, &twice);
        match read(packet, 24) {
            Some(response) if equal(&response, &expected) => {
                self.talk.server_response = response;
                self.key = self.talk.key(context, &twice);
                self.done = true;
                Ok(None)
            }
            Some(_) => Err(Failure::WrongCredentials { code: FAILED }),
            None => Ok(None),
        }
    }

    fn on_success(&mut self, context: &mut Context<'_>) -> Result<Option<EapRepr>, Failure> {
        if self.talk.server_challenged.is_empty() {
            self.talk.server_challenged = context.random_octets(8);
        }
        let data = data(&self.talk.server_challenged, &self.name);
        Ok(Some(EapRepr::request(self.identifier, method::LEAP, data)))
    }

    fn is_satisfied(&self) -> bool {
        !self.talk.station_response.is_empty()
    }

    fn is_done(&self) -> bool {
        self.done
    }

    fn msk(&self) -> Vec<u8> {
        self.key.clone()
    }
}
