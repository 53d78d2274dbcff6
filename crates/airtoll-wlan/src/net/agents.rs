//! Agents of Mobile IP that advertise themselves (RFC 5944 section 2.3), and stations that find out
//! by that where they are (section 2.4.2.1).
//!
//! Takes the agents of a scenario; gives an advertisement of each once a period, which its access
//! point sends to everybody as one group-addressed frame. A station that listens registers with the
//! agent that it hears once the last advertisement of the one before has run out; if it hears none
//! by then, it asks. Registration itself is a part of the association.

use std::collections::HashMap;

use airtoll_handshakes::mobile_ip::advertisement;
use airtoll_handshakes::{Carrier, Message, Party};
use airtoll_security::CipherSuite;
use airtoll_units::{Duration, Instant};

use crate::address;
use crate::event::{AgentEvent, Event};
use crate::mac::exchange::Reception;
use crate::net::resolution::{ADVERTISES, OURS};
use crate::packet::{NONE, Packet, PacketId};
use crate::scenario::{CryptoEngine, Role, Scenario};
use crate::world::World;

/// An agent on the link of an access point.
#[derive(Debug)]
struct Agent {
    node: u32,
    access_point: u32,
    foreign: bool,
    period: Duration,
    /// For how long an advertisement is valid.
    valid: Duration,
    /// The last advertisement.
    octets: Vec<u8>,
}

/// All agents that advertise, and what stations know of them.
#[derive(Debug, Default)]
pub(crate) struct Agents {
    agents: Vec<Agent>,
    /// Until when each station takes an agent to be there.
    known: HashMap<(u32, u32), Instant>,
    /// With which one it is registered.
    registered: HashMap<u32, u32>,
    /// Frames on the air.
    sent: u32,
}

/// The header of IPv4.
const IPV4_HEADER: u32 = 20;
/// How many periods an advertisement is valid, at least (section 2.3: an interval of no more than a
/// third of the lifetime).
const PERIODS: f64 = 3.0;

impl Packet {
    /// Whether it is an advertisement that nobody asked for.
    pub fn advertises(&self) -> bool {
        self.flow == NONE && self.mark & (OURS | ADVERTISES) == OURS | ADVERTISES
    }
}

impl Agents {
    /// The agent that an advertisement is of, and its octets.
    pub fn advertised(&self, p: &Packet) -> (u32, &[u8]) {
        let agent = &self.agents[(p.mark & !(OURS | ADVERTISES)) as usize];
        (agent.node, &agent.octets)
    }

    /// Frames on the air; `None` where no agent advertises.
    pub fn sent(&self) -> Option<u32> {
        (!self.agents.is_empty()).then_some(self.sent)
    }

    /// The agent on the link of an access point.
    fn on_link(&self, access_point: u32) -> Option<u32> {
        let here = |a: &Agent| a.access_point == access_point;
        self.agents.iter().position(here).map(|at| at as u32)
    }
}

/// Adds the agents of `scenario` to `world`.
pub(crate) fn prepare(world: &mut World, scenario: &Scenario, index: &HashMap<&str, u32>) {
    for (number, agent) in scenario.mobility_agents.iter().enumerate() {
        let of_bss = |n: &&crate::scenario::Node| {
            n.role == Role::AccessPoint && n.bss.as_deref() == Some(&agent.bss)
        };
        let Some(access_point) = scenario.nodes.iter().find(of_bss) else {
            continue;
        };
        let valid_s = libm::ceil(PERIODS * agent.period_s).max(1.0);
        world.stack.net.agents.agents.push(Agent {
            node: index[agent.node.as_str()],
            access_point: index[access_point.name.as_str()],
            foreign: agent.foreign,
            period: Duration::from_secs_f64(agent.period_s),
            valid: Duration::from_secs_f64(valid_s),
            octets: Vec::new(),
        });
        let first = Instant::ZERO + Duration::from_secs_f64(agent.offset_s);
        let event = AgentEvent::Advertise {
            agent: number as u32,
        };
        world
            .stack
            .lower
            .cx
            .events
            .schedule(first, Event::Agent(event));
    }
}

impl World {
    /// Something of an agent is due.
    pub(crate) fn agent_due(&mut self, event: AgentEvent) {
        match event {
            AgentEvent::Advertise { agent } => self.advertise(agent),
            AgentEvent::RunsOut { station } => self.find_agent(station),
        }
    }

    fn advertise(&mut self, number: u32) {
        let now = self.stack.lower.cx.events.now();
        let agent = &mut self.stack.net.agents.agents[number as usize];
        let sequence = sequence_of(now.as_nanos() / agent.period.as_nanos().max(1));
        let valid_s = agent.valid.as_secs_f64() as u16;
        let address = address::ipv4(agent.node).octets();
        agent.octets = advertisement(address, agent.foreign, valid_s, sequence);
        let (node, access_point) = (agent.node, agent.access_point);
        let octets = IPV4_HEADER + agent.octets.len() as u32;
        let next = now + agent.period;
        let mark = OURS | ADVERTISES | number;
        let packet = Packet::of_no_flow(access_point, octets, mark, now);
        let packet = self.stack.lower.cx.packets.insert(packet);
        let work = self.stack.lower.device.nodes[node as usize]
            .host
            .transmit
            .of(octets);
        if node == access_point {
            self.send_to_group(node, packet, work);
        } else {
            self.dispatch(node, packet, work);
        }
        if next < self.stack.lower.cx.end {
            let event = AgentEvent::Advertise { agent: number };
            self.stack
                .lower
                .cx
                .events
                .schedule(next, Event::Agent(event));
        }
    }

    /// An advertisement goes over the air of its access point.
    fn send_to_group(&mut self, node: u32, packet: PacketId, work: Duration) {
        let Some(link) = self.question_link(node, packet) else {
            self.stack.lower.cx.packets.remove(packet);
            return;
        };
        let now = self.stack.lower.cx.events.now();
        let cipher: CipherSuite = self.stack.lower.mac.links[link as usize].cipher;
        let octets = self.stack.lower.cx.packets[packet].ip_octets + airtoll_phy::LLC_SNAP_OCTETS;
        let host = &mut self.stack.lower.device.nodes[node as usize].host;
        let effort = host.cipher_time(cipher, true, octets);
        self.stack.lower.cx.observers.crypto_time += effort;
        let ready = host.cpu.work(now, work);
        let engine = match host.engine {
            CryptoEngine::Cpu => &mut host.cpu,
            _ => host.engine_for(true),
        };
        let done = engine.work(ready, effort);
        self.note_ciphers(node, done, effort);
        self.offer_to_radio(node, packet, done);
    }

    /// The frame of an advertisement left the air: every station that is in may have heard it.
    pub(crate) fn advertisement_sent(
        &mut self,
        link: u32,
        (head, octets, mode): (PacketId, u32, u32),
        length: Duration,
        reception: &dyn Fn(&Self, u32) -> Option<Reception>,
    ) {
        self.stack.net.agents.sent += 1;
        let p = self.stack.lower.cx.packets.remove(head);
        let node = self.stack.lower.mac.links[link as usize].from;
        let state = &self.stack.lower.mac.nodes[node as usize];
        let own = state.first_link..state.first_link + state.neighbours;
        let vector = self.stack.lower.mac.modes[mode as usize].vector;
        for at in own {
            let station = self.stack.lower.mac.links[at as usize].peer;
            let arrives = self.is_linked(station)
                && reception(self, station)
                    .is_some_and(|r| self.control_arrives(node, station, &vector, octets, r));
            if arrives {
                self.stack.lower.cx.observers.nodes[station as usize].receive_time += length;
                let cipher = self.stack.lower.mac.links[link as usize].cipher;
                let to = self.mobility.host(station);
                let copy = self.stack.lower.cx.packets.insert(Packet { to, ..p });
                self.receive_from_air(station, cipher, copy);
            }
        }
    }

    /// An advertisement is through the stack of its access point, or of a station.
    pub(crate) fn advertisement_arrived(&mut self, p: &Packet) {
        let number = p.mark & !(OURS | ADVERTISES);
        let agent = &self.stack.net.agents.agents[number as usize];
        if p.to == agent.access_point {
            let work = self.stack.lower.device.nodes[p.to as usize]
                .host
                .forward
                .of(p.ip_octets);
            let packet = self.stack.lower.cx.packets.insert(*p);
            self.send_to_group(p.to, packet, work);
            return;
        }
        let until = self.stack.lower.cx.events.now() + agent.valid;
        self.stack.net.agents.known.insert((p.to, number), until);
        self.find_agent(p.to);
    }

    /// A station has registered at its access point: it takes the agent there to be there.
    pub(crate) fn note_agent(&mut self, station: u32, access_point: u32) {
        let Some(agent) = self.stack.net.agents.on_link(access_point) else {
            return;
        };
        let until =
            self.stack.lower.cx.events.now() + self.stack.net.agents.agents[agent as usize].valid;
        let known = self
            .stack
            .net
            .agents
            .known
            .entry((station, agent))
            .or_insert(until);
        *known = (*known).max(until);
        self.stack.net.agents.registered.insert(station, agent);
    }

    /// A station that listens for an agent looks at what it has heard.
    pub(crate) fn find_agent(&mut self, station: u32) {
        let now = self.stack.lower.cx.events.now();
        let Some(join) = self.association.listening(station, &self.mobility) else {
            return;
        };
        let of = |agent: u32| self.stack.net.agents.known.get(&(station, agent)).copied();
        let before = self.stack.net.agents.registered.get(&station).copied();
        if let Some(until) = before.and_then(of)
            && until > now
        {
            let event = AgentEvent::RunsOut { station };
            self.stack
                .lower
                .cx
                .events
                .schedule(until, Event::Agent(event));
            return;
        }
        let (_, access_point) = self.association.ends_of(join);
        let here = self.stack.net.agents.on_link(access_point);
        let heard = here.filter(|agent| of(*agent).is_some_and(|until| until > now));
        let message = heard.map(|agent| {
            let agent = &self.stack.net.agents.agents[agent as usize];
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
        self.register_with(join, message);
    }
}

/// The sequence number of the advertisement with this count: 0 after booting, and 256 after 65535,
/// so that nobody takes it for a reboot (RFC 5944 section 2.3.2).
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
