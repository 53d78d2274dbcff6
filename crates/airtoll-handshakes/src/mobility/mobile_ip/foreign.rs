//! The foreign agent's visitor list: it relays requests and replies (RFC 5944 section 3.7).

use std::collections::BTreeMap;
use std::net::Ipv4Addr;

use airtoll_wire::mobile_ipv4::{RegistrationReply, RegistrationRequest, request_flag};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::home::{advertisement_s, registration_s};
use super::low;

/// Most nodes of a visitor list; requests of further nodes are dropped.
const MAX_VISITORS: usize = 256;

/// Settings of a foreign agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ForeignAgentSettings {
    /// Address on the visited link.
    pub address: Ipv4Addr,
    /// The care-of address that it offers.
    pub care_of_address: Ipv4Addr,
    /// Longest registration, seconds.
    #[serde(default = "registration_s")]
    pub lifetime_s: u16,
    /// Lifetime of an advertisement, seconds.
    #[serde(default = "advertisement_s")]
    pub valid_s: u16,
}

/// A registration that a foreign agent relays.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Visit {
    /// Home address of the visitor.
    pub home_address: Ipv4Addr,
    /// Its home agent.
    pub home_agent: Ipv4Addr,
    /// Code of the reply; null for a request.
    pub code: Option<u8>,
    /// Seconds: asked for in a request, granted in a reply; 0 ends the visit.
    pub lifetime_s: u16,
    /// Whether the visitor asked for reverse tunnelling (RFC 3024).
    pub reverse_tunnel: bool,
}

/// The last request of each visitor. `E` is the sender's address in the driver.
#[derive(Debug, Clone)]
pub struct Visitors<E> {
    pending: BTreeMap<[u8; 4], (E, u64, Visit)>,
}

impl<E> Default for Visitors<E> {
    fn default() -> Self {
        Self {
            pending: BTreeMap::new(),
        }
    }
}

impl<E: Clone> Visitors<E> {
    /// Takes a visitor's request, which then goes to the home agent unchanged; `None` for other
    /// octets and with a full list.
    pub fn request(&mut self, octets: &[u8], from: E) -> Option<Visit> {
        let request = RegistrationRequest::parse(octets).ok()?;
        let known = self.pending.contains_key(&request.home_address);
        if !known && self.pending.len() >= MAX_VISITORS {
            return None;
        }
        let visit = Visit {
            home_address: request.home_address.into(),
            home_agent: request.home_agent.into(),
            code: None,
            lifetime_s: request.lifetime_s,
            reverse_tunnel: request.flags & request_flag::REVERSE_TUNNEL != 0,
        };
        let entry = (from, low(request.identification), visit.clone());
        self.pending.insert(request.home_address, entry);
        Some(visit)
    }

    /// Takes a home agent's reply, which then goes to the visitor unchanged; `None` for other octets
    /// and for a reply to no pending request: the home address and the low-order half of the
    /// identification say so (section 3.7.3).
    pub fn reply(&self, octets: &[u8]) -> Option<(E, Visit)> {
        let reply = RegistrationReply::parse(octets).ok()?;
        let (visitor, identification, visit) = self.pending.get(&reply.home_address)?;
        if *identification != low(reply.identification) {
            return None;
        }
        let visit = Visit {
            code: Some(reply.code),
            lifetime_s: reply.lifetime_s,
            ..visit.clone()
        };
        Some((visitor.clone(), visit))
    }
}
