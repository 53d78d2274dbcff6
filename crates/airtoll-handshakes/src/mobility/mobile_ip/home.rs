//! The home agent's registrations: authentication, replay protection and mobility bindings
//! (RFC 5944 section 3.8).

use std::collections::BTreeMap;
use std::net::Ipv4Addr;

use airtoll_wire::mobile_ipv4::{RegistrationReply, RegistrationRequest, reply_code, request_flag};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{SecurityAssociation, TOLERANCE_S, high, low};
use crate::exchange::Context;
use crate::octets::written;

/// A mobile node of a home agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HomedNode {
    /// Home address.
    pub home_address: Ipv4Addr,
    /// Security association of the node with the home agent.
    pub association: SecurityAssociation,
}

/// Settings of a home agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HomeAgentSettings {
    /// Address on the home link.
    pub address: Ipv4Addr,
    /// The mobile nodes.
    pub nodes: Vec<HomedNode>,
    /// Longest registration, seconds.
    #[serde(default = "registration_s")]
    pub lifetime_s: u16,
    /// Lifetime of an advertisement, seconds.
    #[serde(default = "advertisement_s")]
    pub valid_s: u16,
}

pub(super) const fn registration_s() -> u16 {
    600
}

pub(super) const fn advertisement_s() -> u16 {
    30
}

/// A mobility binding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Binding {
    /// Home address of the node.
    pub home_address: Ipv4Addr,
    /// Where the tunnel of its packets ends; the home address after a deregistration.
    pub care_of_address: Ipv4Addr,
    /// Seconds; 0: the node is at home and its binding ends.
    pub lifetime_s: u16,
    /// Whether the node's own packets come back through the tunnel (RFC 3024).
    pub reverse_tunnel: bool,
}

/// A home agent's answer to a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// The registration reply.
    pub reply: Vec<u8>,
    /// Its code.
    pub code: u8,
    /// The binding that the request changed; `None` for a refused or repeated request.
    pub binding: Option<Binding>,
}

/// The last accepted registration of a node.
#[derive(Debug, Clone)]
struct Accepted {
    identification: u64,
    reply: Vec<u8>,
}

/// The nodes of a home agent and their registrations.
#[derive(Debug, Clone)]
pub struct Bindings {
    address: [u8; 4],
    lifetime_s: u16,
    nodes: BTreeMap<[u8; 4], (SecurityAssociation, Option<Accepted>)>,
}

impl Bindings {
    /// A home agent that has accepted no registration yet.
    #[must_use]
    pub fn new(settings: &HomeAgentSettings) -> Self {
        let nodes = settings.nodes.iter();
        Self {
            address: settings.address.octets(),
            lifetime_s: settings.lifetime_s,
            nodes: nodes
                .map(|node| (node.home_address.octets(), (node.association.clone(), None)))
                .collect(),
        }
    }

    /// Answers a registration request; `None` for other octets. `clock` is the time of day as
    /// [`super::timestamp`]. Without a clock identifications are arbitrary numbers, and a repeated
    /// one gets the reply that it got before.
    pub fn answer(
        &mut self,
        octets: &[u8],
        clock: Option<u64>,
        context: &mut Context<'_>,
    ) -> Option<Answer> {
        let request = RegistrationRequest::parse(octets).ok()?;
        let mut reply = RegistrationReply {
            code: reply_code::HOME_MOBILE_FAILED,
            lifetime_s: 0,
            home_address: request.home_address,
            home_agent: self.address,
            identification: request.identification,
            extensions: Vec::new(),
        };
        let Some((association, accepted)) = self.nodes.get_mut(&request.home_address) else {
            // There is no association to authenticate the refusal with.
            return Some(Answer {
                reply: written(|out| reply.emit(out)),
                code: reply.code,
                binding: None,
            });
        };
        if let Some(before) = accepted
            && clock.is_none()
            && before.identification == request.identification
        {
            return Some(Answer {
                reply: before.reply.clone(),
                code: reply_code::ACCEPTED,
                binding: None,
            });
        }
        if association.authenticates(context, octets, &request.extensions) {
            let last = accepted.as_ref().map(|before| before.identification);
            match clock {
                Some(now) if !is_fresh(request.identification, now, last) => {
                    reply.code = reply_code::HOME_IDENTIFICATION_MISMATCH;
                    reply.identification = high(now) | low(request.identification);
                }
                _ => {
                    reply.code = reply_code::ACCEPTED;
                    reply.lifetime_s = request.lifetime_s.min(self.lifetime_s);
                }
            }
        }
        let plain = written(|out| reply.emit(out));
        reply
            .extensions
            .push(association.extension(context, &plain));
        let octets = written(|out| reply.emit(out));
        let binding = (reply.code == reply_code::ACCEPTED).then(|| Binding {
            home_address: request.home_address.into(),
            care_of_address: request.care_of_address.into(),
            lifetime_s: reply.lifetime_s,
            reverse_tunnel: request.flags & request_flag::REVERSE_TUNNEL != 0,
        });
        if binding.is_some() {
            *accepted = Some(Accepted {
                identification: request.identification,
                reply: octets.clone(),
            });
        }
        Some(Answer {
            reply: octets,
            code: reply.code,
            binding,
        })
    }
}

/// Whether a timestamp is close to the time of day and later than all accepted ones (section
/// 5.7.1).
const fn is_fresh(identification: u64, now: u64, last: Option<u64>) -> bool {
    let later = match last {
        Some(last) => identification > last,
        None => true,
    };
    later && now.abs_diff(identification) <= TOLERANCE_S << 32
}
