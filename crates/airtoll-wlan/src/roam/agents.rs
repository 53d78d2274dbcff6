//! Mobility agents that advertise themselves (RFC 5944 section 2.3), and movement detection of the
//! stations (section 2.4.2.1).
//!
//! Each agent sends one advertisement per period, which its access point sends as one
//! group-addressed frame. A station that listens registers with the agent that it hears once the
//! last advertisement of the previous agent has expired. A station that hears none by then sends a
//! solicitation. The registration is part of the session.

use std::collections::HashMap;

use airtoll_handshakes::mobility::mobile_ip::advertisement;
use airtoll_handshakes::{Carrier, Message, Party};
use airtoll_units::{Duration, Instant};

use super::{Action, Turn};
use crate::address;
use crate::event::RoamEvent;
use crate::id::{AgentId, NodeId, Table};

/// A mobility agent on the link of an access point.
#[derive(Debug)]
pub(crate) struct Agent {
    node: NodeId,
    access_point: NodeId,
    foreign: bool,
    period: Duration,
    first: Instant,
    /// Lifetime of an advertisement.
    valid: Duration,
    /// The last advertisement.
    octets: Vec<u8>,
}

/// All agents that advertise, and the advertisements that hosts have heard.
#[derive(Debug, Default)]
pub(crate) struct Agents {
    agents: Table<AgentId, Agent>,
    /// Expiry of the last advertisement, by host and agent.
    known: HashMap<(NodeId, AgentId), Instant>,
    /// The agent with which a host is registered.
    registered: HashMap<NodeId, AgentId>,
    /// Frames on the air.
    sent: u32,
}

/// The header of IPv4.
const IPV4_HEADER: u32 = 20;
/// Lifetime of an advertisement in periods, at least (section 2.3: an interval of no more than a
/// third of the lifetime).
const PERIODS: f64 = 3.0;

impl Agent {
    /// An agent at `node` that advertises on the link of an access point: the first time at
    /// `offset_s`, then every `period_s`.
    pub fn new(
        node: NodeId,
        access_point: NodeId,
        foreign: bool,
        period_s: f64,
        offset_s: f64,
    ) -> Self {
        let valid_s = libm::ceil(PERIODS * period_s).max(1.0);
        Self {
            node,
            access_point,
            foreign,
            period: Duration::from_secs_f64(period_s),
            first: Instant::ZERO + Duration::from_secs_f64(offset_s),
            valid: Duration::from_secs_f64(valid_s),
            octets: Vec::new(),
        }
    }
}

impl Agents {
    pub(super) fn add(&mut self, agent: Agent) -> (Instant, RoamEvent) {
        let first = agent.first;
        let agent = self.agents.push(agent);
        (first, RoamEvent::Advertise { agent })
    }

    /// The node of an agent.
    pub fn node_of(&self, agent: AgentId) -> NodeId {
        self.agents[agent].node
    }

    /// Octets of the last advertisement of an agent.
    pub fn advertised(&self, agent: AgentId) -> &[u8] {
        &self.agents[agent].octets
    }

    /// Frames on the air; `None` where no agent advertises.
    pub fn sent(&self) -> Option<u32> {
        (!self.agents.is_empty()).then_some(self.sent)
    }

    /// An advertisement left the air.
    pub(super) const fn count(&mut self) {
        self.sent += 1;
    }

    /// The agent on the link of an access point.
    fn on_link(&self, access_point: NodeId) -> Option<AgentId> {
        let here = |a: &Agent| a.access_point == access_point;
        self.agents.find(here)
    }

    pub(super) fn advertise(&mut self, number: AgentId, turn: &mut Turn<'_>) {
        let now = turn.now;
        let agent = &mut self.agents[number];
        let sequence = sequence_of(now.as_nanos() / agent.period.as_nanos().max(1));
        let valid_s = agent.valid.as_secs_f64() as u16;
        let address = address::ipv4(agent.node).octets();
        agent.octets = advertisement(address, agent.foreign, valid_s, sequence);
        turn.out.push(Action::Advertise {
            agent: number,
            node: agent.node,
            access_point: agent.access_point,
            octets: IPV4_HEADER + agent.octets.len() as u32,
        });
        let event = RoamEvent::Advertise { agent: number };
        turn.schedule(now + agent.period, event);
    }

    /// A host received an advertisement.
    pub(super) fn heard(&mut self, host: NodeId, number: AgentId, turn: &mut Turn<'_>) {
        let until = turn.now + self.agents[number].valid;
        self.known.insert((host, number), until);
        self.find(host, turn);
    }

    /// A host has registered at an access point: the agent there counts as heard.
    pub(super) fn registered(&mut self, host: NodeId, access_point: NodeId, now: Instant) {
        let Some(agent) = self.on_link(access_point) else {
            return;
        };
        let until = now + self.agents[agent].valid;
        let known = self.known.entry((host, agent)).or_insert(until);
        *known = (*known).max(until);
        self.registered.insert(host, agent);
    }

    /// A host that listens checks the advertisements that it has heard.
    pub(super) fn find(&self, host: NodeId, turn: &mut Turn<'_>) {
        let now = turn.now;
        let Some(session) = turn.join.listening(host) else {
            return;
        };
        let of = |agent: AgentId| self.known.get(&(host, agent)).copied();
        let before = self.registered.get(&host).copied();
        if let Some(until) = before.and_then(of)
            && until > now
        {
            turn.schedule(until, RoamEvent::AgentRunsOut { host });
            return;
        }
        let access_point = turn.join.ends_of(session).access_point;
        let here = self.on_link(access_point);
        let heard = here.filter(|agent| of(*agent).is_some_and(|until| until > now));
        let advertisement = heard.map(|agent| {
            let agent = &self.agents[agent];
            Message {
                from: if agent.foreign {
                    Party::ForeignAgent
                } else {
                    Party::HomeAgent
                },
                to: Party::Station,
                carrier: Carrier::Icmp,
                octets: agent.octets.clone(),
            }
        });
        turn.out.push(Action::Register {
            session,
            advertisement,
        });
    }
}

/// The sequence number of the advertisement with this count: 0 after booting, and 256 after 65535,
/// which does not look like a reboot (RFC 5944 section 2.3.2).
fn sequence_of(count: u64) -> u16 {
    const LOWEST: u64 = 256;
    const ROUND: u64 = 65_536 - LOWEST;
    u16::try_from(count).unwrap_or_else(|_| ((count - LOWEST) % ROUND + LOWEST) as u16)
}

#[cfg(test)]
mod tests {
    use super::sequence_of;

    #[test]
    fn sequence_numbers_begin_again_above_a_reboots() {
        assert_eq!([0, 1, 65_535].map(sequence_of), [0, 1, 65_535]);
        assert_eq!(
            [65_536, 65_537, 130_815].map(sequence_of),
            [256, 257, 65_535]
        );
        assert_eq!(sequence_of(130_816), 256);
    }
}
