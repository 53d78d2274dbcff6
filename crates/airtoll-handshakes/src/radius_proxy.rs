//! A RADIUS proxy: it passes requests on to the next server and responses back.
//!
//! Takes the packets of a client and of a server; gives those that it sends. Each direction gets
//! authenticators and keys of its own hop (RFC 2865 section 2.3), and EAP-Message stays as it is
//! (RFC 3579 section 2.6.1). Never retransmits by itself: it passes on the repetitions of its client
//! (RFC 5080 section 2.2.1), or answers them with the response that it has (section 2.2.2).

use airtoll_wire::radius::{HEADER_OCTETS, MAX_OCTETS, RadiusRepr, attribute, code};

use crate::context::Context;
use crate::failure::{Code, Failure, reason};
use crate::radius::{
    decrypt_key, encrypt_key, sign_request, sign_response, verify_request, verify_response,
};

/// Octets of a Message-Authenticator attribute.
const MESSAGE_AUTHENTICATOR_OCTETS: usize = 18;

/// A proxy of one conversation.
#[derive(Debug)]
pub struct RadiusProxy {
    secret: Vec<u8>,
    state_octets: u8,
    identifier: u8,
    under_way: Option<Exchange>,
}

/// A request at a proxy, and its response.
#[derive(Debug)]
struct Exchange {
    received: Vec<u8>,
    client: ([u8; 16], u8),
    sent: Vec<u8>,
    authenticator: [u8; 16],
    response: Option<Vec<u8>>,
}

/// The fate of a packet at a proxy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Relayed {
    /// It sends this packet onward.
    Onward(Vec<u8>),
    /// It sends this packet to the node that it received the other one from.
    Back(Vec<u8>),
    /// It drops the packet.
    Dropped,
    /// It drops the packet, and the conversation fails of this.
    Refused(Failure),
}

impl RadiusProxy {
    /// A proxy that shares `secret` with both of its neighbours. Its Proxy-State has a value of
    /// `state_octets`; 0: the identifier of the request in decimal, as FreeRADIUS' (`process.c`).
    #[must_use]
    pub const fn new(secret: Vec<u8>, state_octets: u8) -> Self {
        Self {
            secret,
            state_octets,
            identifier: 0,
            under_way: None,
        }
    }

    /// An Access-Request arrived from the client.
    pub fn request(&mut self, context: &mut Context<'_>, octets: &[u8]) -> Relayed {
        if let Some(known) = &self.under_way
            && known.received == octets
        {
            return match &known.response {
                Some(response) => Relayed::Back(response.clone()),
                None => Relayed::Onward(known.sent.clone()),
            };
        }
        let Ok(mut packet) = RadiusRepr::parse(octets) else {
            return Relayed::Dropped;
        };
        if packet.code != code::ACCESS_REQUEST || !verify_request(context, &self.secret, octets) {
            return Relayed::Dropped;
        }
        let client = (packet.authenticator, packet.identifier);
        packet
            .attributes
            .retain(|(kind, _)| *kind != attribute::MESSAGE_AUTHENTICATOR);
        let mut state = packet.identifier.to_string().into_bytes();
        if self.state_octets > 0 {
            state.resize(usize::from(self.state_octets), b' ');
        }
        packet.attributes.push((attribute::PROXY_STATE, state));
        if let Some(failure) = too_long(&packet) {
            return Relayed::Refused(failure);
        }
        self.identifier = self.identifier.wrapping_add(1);
        packet.identifier = self.identifier;
        packet.authenticator = context.random();
        let authenticator = packet.authenticator;
        let sent = sign_request(context, &self.secret, packet);
        self.under_way = Some(Exchange {
            received: octets.to_vec(),
            client,
            sent: sent.clone(),
            authenticator,
            response: None,
        });
        Relayed::Onward(sent)
    }

    /// A response arrived from the server.
    pub fn response(&mut self, context: &mut Context<'_>, octets: &[u8]) -> Relayed {
        let Some(exchange) = &mut self.under_way else {
            return Relayed::Dropped;
        };
        let Ok(mut packet) = RadiusRepr::parse(octets) else {
            return Relayed::Dropped;
        };
        if exchange.response.is_some()
            || packet.identifier != self.identifier
            || !verify_response(context, &self.secret, exchange.authenticator, octets)
        {
            return Relayed::Dropped;
        }
        let (authenticator, identifier) = exchange.client;
        packet
            .attributes
            .retain(|(kind, _)| *kind != attribute::MESSAGE_AUTHENTICATOR);
        // Its own Proxy-State is the last (RFC 2865 section 5.33).
        let own = packet
            .attributes
            .iter()
            .rposition(|(kind, _)| *kind == attribute::PROXY_STATE);
        if let Some(own) = own {
            packet.attributes.remove(own);
        }
        for kind in [attribute::MS_MPPE_RECV_KEY, attribute::MS_MPPE_SEND_KEY] {
            let key = packet.microsoft(kind).and_then(|value| {
                decrypt_key(context, &self.secret, exchange.authenticator, value)
            });
            if let Some(key) = key {
                let value = encrypt_key(context, &self.secret, authenticator, &key);
                packet.set_microsoft(kind, &value);
            }
        }
        packet.identifier = identifier;
        let sent = sign_response(context, &self.secret, authenticator, packet);
        exchange.response = Some(sent.clone());
        Relayed::Onward(sent)
    }
}

/// The Proxy-State attributes of a request, which its response carries in the same order (RFC 2865
/// section 5.33).
pub(super) fn proxy_states(request: &RadiusRepr) -> impl Iterator<Item = (u8, Vec<u8>)> + '_ {
    request
        .attributes
        .iter()
        .filter(|(kind, _)| *kind == attribute::PROXY_STATE)
        .cloned()
}

/// The failure of a packet that is longer than RADIUS allows once it has its Message-Authenticator.
pub(super) fn too_long(packet: &RadiusRepr) -> Option<Failure> {
    let attributes: usize = packet.attributes.iter().map(|(_, v)| 2 + v.len()).sum();
    let octets = HEADER_OCTETS + attributes + MESSAGE_AUTHENTICATOR_OCTETS;
    (octets > MAX_OCTETS).then_some(Failure::PacketTooLong {
        code: Code::Reason(reason::IEEE8021X_FAILED),
        octets: octets as u32,
        limit: MAX_OCTETS as u32,
    })
}

#[cfg(test)]
mod tests;
