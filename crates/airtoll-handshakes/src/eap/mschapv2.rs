//! MS-CHAP-V2's arithmetic (RFC 2759) and its EAP method (draft-kamath-pppext-eap-mschapv2),
//! and MS-CHAP's response, which LEAP uses (RFC 2433).
//!
//! Takes names, passwords and challenges; gives responses and authenticator strings.
//! Never stands alone here: PEAP carries it.

use airtoll_wire::eap::{Code, EapRepr, method};

use crate::exchange::Context;
use crate::octets::equal;
use crate::operation::HashAlgorithm;

/// NtPasswordHash (RFC 2759 section 8.3): MD4 of the password in UTF-16.
pub fn password_hash(context: &mut Context<'_>, password: &[u8]) -> Vec<u8> {
    let wide: Vec<u8> = String::from_utf8_lossy(password)
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    context.hash(HashAlgorithm::Md4, &[&wide])
}

/// ChallengeResponse (section 8.5): three DES blocks.
pub fn challenge_response(context: &mut Context<'_>, challenge: &[u8; 8], hash: &[u8]) -> Vec<u8> {
    let mut keys = [0; 21];
    let length = hash.len().min(16);
    keys[..length].copy_from_slice(&hash[..length]);
    let mut out = Vec::new();
    for key in keys.as_chunks::<7>().0 {
        out.extend(context.des_encrypt_7(key, challenge));
    }
    out
}

/// ChallengeHash (section 8.2).
fn challenge_hash(
    context: &mut Context<'_>,
    peer: &[u8],
    authenticator: &[u8],
    name: &[u8],
) -> [u8; 8] {
    let digest = context.hash(HashAlgorithm::Sha1, &[peer, authenticator, name]);
    let mut out = [0; 8];
    out.copy_from_slice(&digest[..8]);
    out
}

/// GenerateNTResponse (section 8.1).
fn nt_response(
    context: &mut Context<'_>,
    authenticator: &[u8],
    peer: &[u8],
    name: &[u8],
    password: &[u8],
) -> Vec<u8> {
    let challenge = challenge_hash(context, peer, authenticator, name);
    let hash = password_hash(context, password);
    challenge_response(context, &challenge, &hash)
}

/// GenerateAuthenticatorResponse (section 8.7), as its 20 octets.
fn authenticator_response(
    context: &mut Context<'_>,
    password: &[u8],
    response: &[u8],
    peer: &[u8],
    authenticator: &[u8],
    name: &[u8],
) -> Vec<u8> {
    let hash = password_hash(context, password);
    let twice = context.hash(HashAlgorithm::Md4, &[&hash]);
    let first: &[u8] = b"Magic server to client signing constant";
    let second: &[u8] = b"Pad to make it do more than one iteration";
    let digest = context.hash(HashAlgorithm::Sha1, &[&twice, response, first]);
    let challenge = challenge_hash(context, peer, authenticator, name);
    context.hash(HashAlgorithm::Sha1, &[&digest, &challenge, second])
}

/// The method's session key as PEAP binds it: MPPE start keys of RFC 3079 sections 3.3 and 3.4, the
/// server's receive key before its send key.
pub fn session_key(context: &mut Context<'_>, password: &[u8], response: &[u8]) -> Vec<u8> {
    let hash = password_hash(context, password);
    let twice = context.hash(HashAlgorithm::Md4, &[&hash]);
    let parts: [&[u8]; 3] = [&twice, response, b"This is the MPPE Master Key"];
    let master = context.hash(HashAlgorithm::Sha1, &parts)[..16].to_vec();
    let send: &[u8] =
        b"On the client side, this is the receive key; on the server side, it is the send key.";
    let receive: &[u8] =
        b"On the client side, this is the send key; on the server side, it is the receive key.";
    let mut out = Vec::new();
    for magic in [receive, send] {
        let parts: [&[u8]; 4] = [&master, &[0; 40], magic, &[0xf2; 40]];
        out.extend(&context.hash(HashAlgorithm::Sha1, &parts)[..16]);
    }
    out
}

const CHALLENGE: u8 = 1;
const RESPONSE: u8 = 2;
const SUCCESS: u8 = 3;
const FAILURE: u8 = 4;

/// An EAP-MSCHAPv2 message: op code, identifier, length, value.
fn message(op: u8, identifier: u8, value: &[u8]) -> Vec<u8> {
    let length = u16::try_from(4 + value.len()).unwrap_or(u16::MAX);
    let mut out = vec![op, identifier];
    out.extend(length.to_be_bytes());
    out.extend(value);
    out
}

/// The next step of the inner server.
pub enum Turn {
    /// Send this request.
    Request(EapRepr),
    /// The station proved its password.
    Accept,
    /// The station did not prove its password.
    Reject,
}

/// The server inside the tunnel.
pub struct MsChapServer {
    password: Vec<u8>,
    name: Vec<u8>,
    challenge: Vec<u8>,
    response: Vec<u8>,
    proved: bool,
    refused: bool,
}

impl MsChapServer {
    /// A server for one user.
    pub fn new(name: &[u8], password: &[u8]) -> Self {
        Self {
            password: password.to_vec(),
            name: name.to_vec(),
            challenge: Vec::new(),
            response: Vec::new(),
            proved: false,
            refused: false,
        }
    }

    /// The session key, once the station has proved its password.
    pub fn session_key(&self, context: &mut Context<'_>) -> Vec<u8> {
        session_key(context, &self.password, &self.response)
    }

    /// The challenge request.
    pub fn start(&mut self, identifier: u8, context: &mut Context<'_>) -> EapRepr {
        self.challenge = context.random_octets(16);
        let mut value = vec![16];
        value.extend(&self.challenge);
        value.extend(b"radius");
        EapRepr::request(
            identifier,
            method::MSCHAPV2,
            message(CHALLENGE, identifier, &value),
        )
    }

    /// Takes a response.
    pub fn next(&mut self, packet: &EapRepr, identifier: u8, context: &mut Context<'_>) -> Turn {
        let Some((method::MSCHAPV2, data)) = &packet.body else {
            return Turn::Reject;
        };
        if self.refused {
            return Turn::Reject;
        }
        match data.split_first() {
            Some((&SUCCESS, _)) if self.proved => Turn::Accept,
            Some((&RESPONSE, _)) => {
                let (Some(peer), Some(response)) = (data.get(5..21), data.get(29..53)) else {
                    return Turn::Reject;
                };
                let (password, name) = (self.password.clone(), self.name.clone());
                let expected = nt_response(context, &self.challenge, peer, &name, &password);
                if !equal(&expected, response) {
                    self.refused = true;
                    let text = b"E=691 R=0 V=3 M=Authentication failed";
                    return Turn::Request(EapRepr::request(
                        identifier,
                        method::MSCHAPV2,
                        message(FAILURE, packet.identifier, text),
                    ));
                }
                self.proved = true;
                self.response = response.to_vec();
                let proof = authenticator_response(
                    context,
                    &password,
                    response,
                    peer,
                    &self.challenge,
                    &name,
                );
                let text = format!("S={} M=OK", upper_hex(&proof));
                Turn::Request(EapRepr::request(
                    identifier,
                    method::MSCHAPV2,
                    message(SUCCESS, packet.identifier, text.as_bytes()),
                ))
            }
            _ => Turn::Reject,
        }
    }
}

/// The station inside the tunnel.
pub struct MsChapPeer {
    password: Vec<u8>,
    name: Vec<u8>,
    expected: Option<String>,
    response: Vec<u8>,
    /// Whether the server proved that it knows the password too.
    pub satisfied: bool,
    /// Whether the server refused.
    pub refused: bool,
}

impl MsChapPeer {
    /// A station with these credentials.
    pub fn new(name: &[u8], password: &[u8]) -> Self {
        Self {
            password: password.to_vec(),
            name: name.to_vec(),
            expected: None,
            response: Vec::new(),
            satisfied: false,
            refused: false,
        }
    }

    /// The session key, once it has answered a challenge.
    pub fn session_key(&self, context: &mut Context<'_>) -> Vec<u8> {
        session_key(context, &self.password, &self.response)
    }

    /// Answers a request.
    pub fn answer(&mut self, packet: &EapRepr, context: &mut Context<'_>) -> Option<EapRepr> {
        let (method::MSCHAPV2, data) = packet.body.as_ref()? else {
            return None;
        };
        let reply = match *data.first()? {
            CHALLENGE => {
                let challenge = data.get(5..21)?;
                let peer = context.random_octets(16);
                let (name, password) = (self.name.clone(), self.password.clone());
                let response = nt_response(context, challenge, &peer, &name, &password);
                let proof =
                    authenticator_response(context, &password, &response, &peer, challenge, &name);
                self.expected = Some(format!("S={}", upper_hex(&proof)));
                let mut value = vec![49];
                value.extend(&peer);
                value.extend([0; 8]);
                value.extend(&response);
                value.push(0);
                value.extend(&name);
                self.response = response;
                message(RESPONSE, *data.get(1)?, &value)
            }
            SUCCESS => {
                let text = data.get(4..46)?;
                self.satisfied = self.expected.as_deref().map(str::as_bytes) == Some(text);
                if !self.satisfied {
                    self.refused = true;
                    return None;
                }
                vec![SUCCESS]
            }
            FAILURE => {
                self.refused = true;
                vec![FAILURE]
            }
            _ => return None,
        };
        Some(EapRepr {
            code: Code::Response,
            identifier: packet.identifier,
            body: Some((method::MSCHAPV2, reply)),
        })
    }
}

fn upper_hex(octets: &[u8]) -> String {
    octets.iter().map(|octet| format!("{octet:02X}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use hex_literal::hex;
    use rand_chacha::ChaCha8Rng;
    use rand_chacha::rand_core::SeedableRng;

    /// RFC 2759 section 9.2.
    #[test]
    fn the_vectors_of_rfc_2759() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let mut cx = Context::new(&mut rng);
        let authenticator = hex!("5b5d7c7d7b3f2f3e3c2c602132262628");
        let peer = hex!("21402324255e262a28295f2b3a337c7e");
        let response = nt_response(&mut cx, &authenticator, &peer, b"User", b"clientPass");
        assert_eq!(
            response,
            hex!("82309ecd8d708b5ea08faa3981cd83544233114a3d85d6df")
        );
        let proof = authenticator_response(
            &mut cx,
            b"clientPass",
            &response,
            &peer,
            &authenticator,
            b"User",
        );
        assert_eq!(proof, hex!("407a5589115fd0d6209f510fe9c04566932cda56"));
        // RFC 3079 section 3.5.3: the server's send key of 128 bits.
        let key = session_key(&mut cx, b"clientPass", &response);
        assert_eq!(key[16..], hex!("8b7cdc149b993a1ba118cb153f56dccb"));
    }
}
