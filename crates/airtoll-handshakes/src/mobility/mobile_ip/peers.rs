//! Mobile node, home agent and foreign agent as the parties of a conversation without a time of day.

use airtoll_wire::mobile_ipv4::{
    AgentAdvertisement, PORT, agent_flag, is_solicitation, reply_code,
};

use super::{
    Bindings, HomeAgentSettings, HomedNode, MobileNodeSettings, Registration, SecurityAssociation,
    Visitors,
};
use crate::exchange::{Carrier, Context, Message, Party, Peer, SecretName, Secrets, Status};
use crate::failure::{Code, Failure};
use crate::octets::written;
use crate::resend::Resend;

/// Repetitions before giving up; RFC 5944 section 3.6.3 doubles the time-out from 1 s up to the
/// lifetime, this many are 31 s.
const REPEATS: u8 = 5;

/// Registrations that agents offer, in seconds.
const REGISTRATION_S: u16 = 300;

/// Lifetime of a solicited advertisement, in seconds (RFC 1256 section 7: three maximum intervals of
/// 600 s).
const SOLICITED_S: u16 = 1800;

/// Settings that the parties share.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MobileIpConfig {
    /// The mobile node's home address.
    pub home_address: [u8; 4],
    /// The home agent.
    pub home_agent: [u8; 4],
    /// The foreign agent and care-of address; `None` at home.
    pub foreign_agent: Option<[u8; 4]>,
    /// Whether the mobile node waits for an advertisement, or for its patience to end, before it
    /// asks for one.
    pub listens: bool,
    /// Whether the tunnel is used in both directions (RFC 3024).
    pub reverse_tunnel: bool,
    /// Lifetime asked for, in seconds.
    pub lifetime_s: u16,
    /// Security parameters index of the association between mobile node and home agent.
    pub spi: u32,
    /// Its 128-bit key.
    pub key: [u8; 16],
}

impl MobileIpConfig {
    const fn association(&self) -> SecurityAssociation {
        SecurityAssociation {
            spi: self.spi,
            key: self.key,
        }
    }
}

/// The mobile node.
pub struct MobileNode {
    config: MobileIpConfig,
    registration: Registration,
    /// Has asked an agent.
    asked: bool,
    /// Has sent something.
    spoke: bool,
    resend: Resend,
    state: Status,
}

impl MobileNode {
    /// A node that has heard no agent yet.
    #[must_use]
    pub fn new(config: MobileIpConfig) -> Self {
        let settings = MobileNodeSettings {
            home_address: config.home_address.into(),
            home_agent: config.home_agent.into(),
            association: config.association(),
            reverse_tunnel: config.reverse_tunnel,
            lifetime_s: config.lifetime_s,
        };
        Self {
            registration: Registration::new(settings),
            config,
            asked: false,
            spoke: false,
            resend: Resend::new(REPEATS),
            state: Status::Waiting,
        }
    }

    fn solicit(&mut self, context: &mut Context<'_>) {
        self.spoke = true;
        let to = self.agent();
        let octets = Registration::solicitation();
        self.resend
            .send(context, Party::Station, to, Carrier::Icmp, octets);
    }

    const fn agent(&self) -> Party {
        if self.config.foreign_agent.is_some() {
            Party::ForeignAgent
        } else {
            Party::HomeAgent
        }
    }

    fn request(&mut self, care_of_address: [u8; 4], context: &mut Context<'_>) {
        self.spoke = true;
        self.asked = true;
        let care_of = self.config.foreign_agent.map(|_| care_of_address.into());
        let octets = self.registration.request(care_of, None, context);
        let to = self.agent();
        self.resend
            .send(context, Party::Station, to, Carrier::Udp(PORT), octets);
    }
}

impl Peer for MobileNode {
    fn party(&self) -> Party {
        Party::Station
    }

    fn start(&mut self, context: &mut Context<'_>) {
        if !self.config.listens {
            self.solicit(context);
        }
    }

    fn receive(&mut self, message: &Message, context: &mut Context<'_>) {
        if self.state != Status::Waiting {
            return;
        }
        if message.carrier == Carrier::Icmp && !self.asked {
            let Ok(advertisement) = AgentAdvertisement::parse(&message.octets) else {
                return;
            };
            let care_of = advertisement.care_of_addresses.first().copied();
            let wanted = if self.config.foreign_agent.is_some() {
                agent_flag::FOREIGN_AGENT
            } else {
                agent_flag::HOME_AGENT
            };
            if advertisement.flags & wanted != 0 {
                self.request(care_of.unwrap_or(advertisement.router.0), context);
            }
            return;
        }
        let Some(answer) = self.registration.reply(&message.octets, context) else {
            return;
        };
        if answer.code != reply_code::ACCEPTED {
            self.state = Status::Failed(Failure::WrongCredentials {
                code: Code::MobileIp(answer.code),
            });
        } else {
            let care_of = self
                .config
                .foreign_agent
                .unwrap_or(self.config.home_address);
            self.state = Status::Established(Secrets::from([(
                SecretName::CareOfAddress,
                care_of.to_vec(),
            )]));
        }
    }

    fn on_timeout(&mut self, context: &mut Context<'_>) {
        if self.state != Status::Waiting {
            return;
        }
        if !self.spoke {
            self.solicit(context);
        } else if !self.resend.after_timeout(context) {
            self.state = Status::Failed(Failure::PeerTimeout { code: Code::Silent });
        }
    }

    fn status(&self) -> Status {
        self.state.clone()
    }
}

/// An unsolicited advertisement (section 2.3), valid for this many seconds.
#[must_use]
pub fn advertisement(address: [u8; 4], foreign: bool, valid_s: u16, sequence: u16) -> Vec<u8> {
    let kind = if foreign {
        agent_flag::FOREIGN_AGENT | agent_flag::REGISTRATION_REQUIRED
    } else {
        agent_flag::HOME_AGENT
    };
    let advertisement = AgentAdvertisement {
        lifetime_s: valid_s,
        router: (address, 0),
        sequence,
        registration_lifetime_s: REGISTRATION_S,
        flags: kind,
        care_of_addresses: if foreign { vec![address] } else { Vec::new() },
    };
    written(|out| advertisement.emit(out))
}

/// An agent's advertisement of itself.
fn advertise(address: [u8; 4], flags: u16, lifetime_s: u16) -> Vec<u8> {
    let care_of = flags & agent_flag::FOREIGN_AGENT != 0;
    let advertisement = AgentAdvertisement {
        lifetime_s: SOLICITED_S,
        router: (address, 0),
        sequence: 0,
        registration_lifetime_s: lifetime_s,
        flags,
        care_of_addresses: if care_of { vec![address] } else { Vec::new() },
    };
    written(|out| advertisement.emit(out))
}

/// The foreign agent: it advertises, and relays both ways (section 3.7).
pub struct ForeignAgent {
    config: MobileIpConfig,
    visitors: Visitors<Party>,
    patience: Resend,
    state: Status,
}

impl ForeignAgent {
    /// An agent with the care-of address of `config`.
    #[must_use]
    pub fn new(config: MobileIpConfig) -> Self {
        Self {
            config,
            visitors: Visitors::default(),
            patience: Resend::new(3 * REPEATS),
            state: Status::Waiting,
        }
    }
}

impl Peer for ForeignAgent {
    fn party(&self) -> Party {
        Party::ForeignAgent
    }

    fn receive(&mut self, message: &Message, context: &mut Context<'_>) {
        let own = self.config.foreign_agent.unwrap_or_default();
        if is_solicitation(&message.octets) && message.carrier == Carrier::Icmp {
            let flags = agent_flag::FOREIGN_AGENT | agent_flag::REGISTRATION_REQUIRED;
            let octets = advertise(own, flags, self.config.lifetime_s);
            context.send(Party::ForeignAgent, Party::Station, Carrier::Icmp, octets);
            return;
        }
        let (to, code) = match message.from {
            Party::Station => match self.visitors.request(&message.octets, message.from) {
                Some(_) => (Party::HomeAgent, None),
                None => return,
            },
            Party::HomeAgent => match self.visitors.reply(&message.octets) {
                Some((visitor, visit)) => (visitor, visit.code),
                None => return,
            },
            _ => return,
        };
        let octets = message.octets.clone();
        context.send(Party::ForeignAgent, to, Carrier::Udp(PORT), octets);
        match code {
            None => {}
            Some(reply_code::ACCEPTED) => {
                self.state =
                    Status::Established(Secrets::from([(SecretName::CareOfAddress, own.to_vec())]));
            }
            Some(code) => {
                self.state = Status::Failed(Failure::WrongCredentials {
                    code: Code::MobileIp(code),
                });
            }
        }
    }

    fn on_timeout(&mut self, _context: &mut Context<'_>) {
        if self.state == Status::Waiting && !self.patience.wait() {
            self.state = Status::Failed(Failure::PeerTimeout { code: Code::Silent });
        }
    }

    fn status(&self) -> Status {
        self.state.clone()
    }
}

/// The home agent: it authenticates and binds (section 3.8).
pub struct HomeAgent {
    config: MobileIpConfig,
    bindings: Bindings,
    patience: Resend,
    state: Status,
}

impl HomeAgent {
    /// An agent that shares `config`'s association with the node.
    #[must_use]
    pub fn new(config: MobileIpConfig) -> Self {
        let settings = HomeAgentSettings {
            address: config.home_agent.into(),
            nodes: vec![HomedNode {
                home_address: config.home_address.into(),
                association: config.association(),
            }],
            lifetime_s: config.lifetime_s,
            valid_s: SOLICITED_S,
        };
        Self {
            bindings: Bindings::new(&settings),
            config,
            patience: Resend::new(3 * REPEATS),
            state: Status::Waiting,
        }
    }

    fn register(&mut self, message: &Message, context: &mut Context<'_>) {
        let Some(answer) = self.bindings.answer(&message.octets, None, context) else {
            return;
        };
        context.send(
            Party::HomeAgent,
            message.from,
            Carrier::Udp(PORT),
            answer.reply,
        );
        if let Some(binding) = answer.binding {
            self.state = Status::Established(Secrets::from([(
                SecretName::CareOfAddress,
                binding.care_of_address.octets().to_vec(),
            )]));
        } else if self.state == Status::Waiting {
            self.state = Status::Failed(Failure::WrongCredentials {
                code: Code::MobileIp(answer.code),
            });
        }
    }
}

impl Peer for HomeAgent {
    fn party(&self) -> Party {
        Party::HomeAgent
    }

    fn receive(&mut self, message: &Message, context: &mut Context<'_>) {
        if message.carrier != Carrier::Icmp {
            self.register(message, context);
        } else if is_solicitation(&message.octets) {
            let octets = advertise(
                self.config.home_agent,
                agent_flag::HOME_AGENT,
                self.config.lifetime_s,
            );
            context.send(Party::HomeAgent, Party::Station, Carrier::Icmp, octets);
        }
    }

    fn on_timeout(&mut self, _context: &mut Context<'_>) {
        if self.state == Status::Waiting && !self.patience.wait() {
            self.state = Status::Failed(Failure::PeerTimeout { code: Code::Silent });
        }
    }

    fn status(&self) -> Status {
        self.state.clone()
    }
}

/// The parties that a registration needs.
#[must_use]
pub fn parties(config: &MobileIpConfig) -> Vec<Box<dyn Peer>> {
    let mut peers: Vec<Box<dyn Peer>> = vec![
        Box::new(MobileNode::new(config.clone())),
        Box::new(HomeAgent::new(config.clone())),
    ];
    if config.foreign_agent.is_some() {
        peers.push(Box::new(ForeignAgent::new(config.clone())));
    }
    peers
}
