//! Agent advertisements in answer to solicitations (RFC 5944 section 2).

use airtoll_wire::mobile_ipv4::{AgentAdvertisement, agent_flag, is_solicitation};

use crate::octets::written;

/// The smallest sequence number after 65535, which is not mistaken for a restart (section 2.3.2).
const AFTER_ROLLOVER: u16 = 256;

/// An agent that answers solicitations with advertisements of itself.
#[derive(Debug, Clone)]
pub struct Advertiser {
    advertisement: AgentAdvertisement,
}

impl Advertiser {
    /// An agent at `address` that takes reverse tunnels (RFC 3024 section 3.1): a foreign agent with
    /// a care-of address, a home agent without. Advertisements are valid for `valid_s`, and
    /// registrations last at most `lifetime_s`, seconds.
    #[must_use]
    pub fn new(address: [u8; 4], care_of: Option<[u8; 4]>, valid_s: u16, lifetime_s: u16) -> Self {
        let role = match care_of {
            Some(_) => agent_flag::FOREIGN_AGENT | agent_flag::REGISTRATION_REQUIRED,
            None => agent_flag::HOME_AGENT,
        };
        Self {
            advertisement: AgentAdvertisement {
                lifetime_s: valid_s,
                router: (address, 0),
                sequence: 0,
                registration_lifetime_s: lifetime_s,
                flags: role | agent_flag::REVERSE_TUNNEL,
                care_of_addresses: care_of.into_iter().collect(),
            },
        }
    }

    /// The advertisement that answers an ICMP message; `None` for a message that is no solicitation.
    pub fn answer(&mut self, icmp: &[u8]) -> Option<Vec<u8>> {
        if !is_solicitation(icmp) {
            return None;
        }
        let octets = written(|out| self.advertisement.emit(out));
        let sequence = &mut self.advertisement.sequence;
        *sequence = sequence.checked_add(1).unwrap_or(AFTER_ROLLOVER);
        Some(octets)
    }
}
