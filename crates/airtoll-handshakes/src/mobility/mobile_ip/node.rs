//! The mobile node's registration (RFC 5944 sections 2.4 and 3.6).

use std::net::Ipv4Addr;

use airtoll_wire::mobile_ipv4::{
    AgentAdvertisement, RegistrationReply, RegistrationRequest, agent_flag, emit_solicitation,
    reply_code, request_flag,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::home::registration_s;
use super::{SecurityAssociation, high, low};
use crate::exchange::Context;
use crate::octets::written;

/// Settings of a mobile node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MobileNodeSettings {
    /// Home address.
    pub home_address: Ipv4Addr,
    /// Home agent.
    pub home_agent: Ipv4Addr,
    /// Security association with the home agent.
    pub association: SecurityAssociation,
    /// Whether it asks for reverse tunnelling (RFC 3024).
    #[serde(default)]
    pub reverse_tunnel: bool,
    /// Lifetime that it asks for, seconds.
    #[serde(default = "registration_s")]
    pub lifetime_s: u16,
}

/// An agent that advertised itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct HeardAgent {
    /// Address of the agent on the link.
    pub router: Ipv4Addr,
    /// The care-of address that it offers; null at home.
    pub care_of_address: Option<Ipv4Addr>,
}

/// The reply to a registration.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RegistrationAnswer {
    /// Code of the reply; 0: accepted.
    pub code: u8,
    /// Granted seconds.
    pub lifetime_s: u16,
    /// The node has corrected its timestamps after the home agent's, and a new request may succeed.
    pub retry: bool,
}

/// The registration of a mobile node.
#[derive(Debug, Clone)]
pub struct Registration {
    settings: MobileNodeSettings,
    asked: Option<u64>,
    /// Correction of the node's clock, modulo 2^64.
    correction: u64,
    corrected: bool,
}

impl Registration {
    /// A node that has asked for nothing yet.
    #[must_use]
    pub const fn new(settings: MobileNodeSettings) -> Self {
        Self {
            settings,
            asked: None,
            correction: 0,
            corrected: false,
        }
    }

    /// An agent solicitation (section 2.2).
    #[must_use]
    pub fn solicitation() -> Vec<u8> {
        written(emit_solicitation)
    }

    /// The agent of an ICMP message: the node's own home agent, or a foreign agent with a care-of
    /// address. `None` for every other message.
    #[must_use]
    pub fn agent(&self, icmp: &[u8]) -> Option<HeardAgent> {
        let heard = AgentAdvertisement::parse(icmp).ok()?;
        let router = Ipv4Addr::from(heard.router.0);
        let at_home =
            heard.flags & agent_flag::HOME_AGENT != 0 && router == self.settings.home_agent;
        let care_of = heard.care_of_addresses.first().copied();
        let foreign = heard.flags & agent_flag::FOREIGN_AGENT != 0 && care_of.is_some();
        (at_home || foreign).then(|| HeardAgent {
            router,
            care_of_address: care_of.filter(|_| !at_home).map(Ipv4Addr::from),
        })
    }

    /// A request to register a care-of address, or at home (`None`) to deregister (section
    /// 3.6.1.1). `clock` is the time of day as [`super::timestamp`]; without it the identification
    /// is random.
    pub fn request(
        &mut self,
        care_of: Option<Ipv4Addr>,
        clock: Option<u64>,
        context: &mut Context<'_>,
    ) -> Vec<u8> {
        let identification = match clock {
            Some(now) => now.wrapping_add(self.correction),
            None => u64::from_be_bytes(context.random()),
        };
        self.asked = Some(identification);
        let settings = &self.settings;
        let mut request = RegistrationRequest {
            flags: if settings.reverse_tunnel && care_of.is_some() {
                request_flag::REVERSE_TUNNEL
            } else {
                0
            },
            lifetime_s: care_of.map_or(0, |_| settings.lifetime_s),
            home_address: settings.home_address.octets(),
            home_agent: settings.home_agent.octets(),
            care_of_address: care_of.unwrap_or(settings.home_address).octets(),
            identification,
            extensions: Vec::new(),
        };
        let plain = written(|out| request.emit(out));
        let extension = settings.association.extension(context, &plain);
        request.extensions.push(extension);
        written(|out| request.emit(out))
    }

    /// The reply to the last request; `None` for other octets, and for an acceptance that the home
    /// agent did not authenticate.
    pub fn reply(
        &mut self,
        octets: &[u8],
        context: &mut Context<'_>,
    ) -> Option<RegistrationAnswer> {
        let reply = RegistrationReply::parse(octets).ok()?;
        let asked = self.asked?;
        if reply.home_address != self.settings.home_address.octets()
            || low(reply.identification) != low(asked)
        {
            return None;
        }
        let mut answer = RegistrationAnswer {
            code: reply.code,
            lifetime_s: reply.lifetime_s,
            retry: false,
        };
        let association = &self.settings.association;
        match reply.code {
            reply_code::ACCEPTED => {
                let authentic = reply.identification == asked
                    && association.authenticates(context, octets, &reply.extensions);
                authentic.then_some(answer)
            }
            reply_code::HOME_IDENTIFICATION_MISMATCH => {
                if !association.authenticates(context, octets, &reply.extensions) {
                    return None;
                }
                // Section 5.7.1: the home agent's seconds replace the node's, once.
                let correction = high(reply.identification).wrapping_sub(high(asked));
                answer.retry = !self.corrected;
                self.corrected = true;
                self.correction = self.correction.wrapping_add(correction);
                Some(answer)
            }
            _ => Some(answer),
        }
    }
}
