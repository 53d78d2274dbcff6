//! Mobile IPv4 registration (RFC 5944): solicitation, advertisement, request, reply, straight to
//! the home agent or through a foreign agent.
//!
//! Takes addresses and a mobility security association; gives ICMP and UDP messages and a
//! binding. Never tunnels a packet.

use airtoll_wire::mobile_ipv4::{
    AgentAdvertisement, PORT, RegistrationReply, RegistrationRequest, agent_flag,
    emit_solicitation, extension, is_solicitation, reply_code, request_flag,
};

use super::exchange::{Carrier, Context, Message, Party, Peer, SecretName, Secrets, Status};
use super::failure::{Code, Failure};
use super::operation::HashAlgorithm;
use super::primitives::{equal, written};
use super::resend::Resend;

/// Repetitions before giving up; RFC 5944 section 3.6.3 doubles the time-out from 1 s up to the
/// lifetime, this many are 31 s.
const REPEATS: u8 = 5;

/// Registrations that agents offer, in seconds.
const REGISTRATION_S: u16 = 300;

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

/// The authentication extension over what comes before it: HMAC-MD5 over message, type, length
/// and SPI (section 3.5.1).
fn authenticator(
    context: &mut Context<'_>,
    config: &MobileIpConfig,
    message: &[u8],
) -> (u8, Vec<u8>) {
    let kind = extension::MOBILE_HOME_AUTHENTICATION;
    let mut data = config.spi.to_be_bytes().to_vec();
    let mac = context.hmac(
        HashAlgorithm::Md5,
        &config.key,
        &[message, &[kind, 20], &data],
    );
    data.extend(mac);
    (kind, data)
}

/// Whether the last extension proves everything before it.
fn is_authentic(
    context: &mut Context<'_>,
    config: &MobileIpConfig,
    octets: &[u8],
    extensions: &[(u8, Vec<u8>)],
) -> bool {
    let Some((kind, data)) = extensions.last() else {
        return false;
    };
    let covered = octets.len().saturating_sub(2 + data.len());
    let expected = authenticator(context, config, &octets[..covered]);
    *kind == expected.0 && equal(data, &expected.1)
}

/// The mobile node.
pub struct MobileNode {
    config: MobileIpConfig,
    identification: Option<u64>,
    /// Has sent something.
    spoke: bool,
    resend: Resend,
    state: Status,
}

impl MobileNode {
    /// A node that has heard no agent yet.
    #[must_use]
    pub const fn new(config: MobileIpConfig) -> Self {
        Self {
            config,
            identification: None,
            spoke: false,
            resend: Resend::new(REPEATS),
            state: Status::Waiting,
        }
    }

    fn solicit(&mut self, context: &mut Context<'_>) {
        self.spoke = true;
        let to = self.agent();
        let octets = written(emit_solicitation);
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
        let identification = u64::from_be_bytes(context.random());
        self.spoke = true;
        self.identification = Some(identification);
        let at_home = self.config.foreign_agent.is_none();
        let mut request = RegistrationRequest {
            flags: if self.config.reverse_tunnel {
                request_flag::REVERSE_TUNNEL
            } else {
                0
            },
            // At home a node deregisters (section 3.6.1.1): lifetime 0, its own address.
            lifetime_s: if at_home { 0 } else { self.config.lifetime_s },
            home_address: self.config.home_address,
            home_agent: self.config.home_agent,
            care_of_address: if at_home {
                self.config.home_address
            } else {
                care_of_address
            },
            identification,
            extensions: Vec::new(),
        };
        let plain = written(|out| request.emit(out));
        request
            .extensions
            .push(authenticator(context, &self.config, &plain));
        let octets = written(|out| request.emit(out));
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
        if message.carrier == Carrier::Icmp && self.identification.is_none() {
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
        let Ok(reply) = RegistrationReply::parse(&message.octets) else {
            return;
        };
        if Some(reply.identification) != self.identification {
            return;
        }
        if reply.code != reply_code::ACCEPTED {
            self.state = Status::Failed(Failure::WrongCredentials {
                code: Code::MobileIp(reply.code),
            });
        } else if is_authentic(context, &self.config, &message.octets, &reply.extensions) {
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
        lifetime_s: 1800,
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
    pending: Option<u64>,
    patience: Resend,
    state: Status,
}

impl ForeignAgent {
    /// An agent with the care-of address of `config`.
    #[must_use]
    pub const fn new(config: MobileIpConfig) -> Self {
        Self {
            config,
            pending: None,
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
        if let Ok(request) = RegistrationRequest::parse(&message.octets)
            && message.from == Party::Station
        {
            self.pending = Some(request.identification);
            let octets = message.octets.clone();
            context.send(
                Party::ForeignAgent,
                Party::HomeAgent,
                Carrier::Udp(PORT),
                octets,
            );
            return;
        }
        if let Ok(reply) = RegistrationReply::parse(&message.octets)
            && message.from == Party::HomeAgent
            && Some(reply.identification) == self.pending
        {
            let octets = message.octets.clone();
            context.send(
                Party::ForeignAgent,
                Party::Station,
                Carrier::Udp(PORT),
                octets,
            );
            self.state = if reply.code == reply_code::ACCEPTED {
                Status::Established(Secrets::from([(SecretName::CareOfAddress, own.to_vec())]))
            } else {
                Status::Failed(Failure::WrongCredentials {
                    code: Code::MobileIp(reply.code),
                })
            };
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
    last: Option<(u64, Vec<u8>)>,
    patience: Resend,
    state: Status,
}

impl HomeAgent {
    /// An agent that shares `config`'s association with the node.
    #[must_use]
    pub const fn new(config: MobileIpConfig) -> Self {
        Self {
            config,
            last: None,
            patience: Resend::new(3 * REPEATS),
            state: Status::Waiting,
        }
    }

    fn register(&mut self, message: &Message, context: &mut Context<'_>) {
        let Ok(request) = RegistrationRequest::parse(&message.octets) else {
            return;
        };
        if let Some((identification, reply)) = &self.last
            && *identification == request.identification
        {
            let reply = reply.clone();
            context.send(Party::HomeAgent, message.from, Carrier::Udp(PORT), reply);
            return;
        }
        let authentic = is_authentic(context, &self.config, &message.octets, &request.extensions)
            && request.home_address == self.config.home_address;
        let code = if authentic {
            reply_code::ACCEPTED
        } else {
            reply_code::HOME_MOBILE_FAILED
        };
        let mut reply = RegistrationReply {
            code,
            lifetime_s: request.lifetime_s.min(self.config.lifetime_s),
            home_address: request.home_address,
            home_agent: self.config.home_agent,
            identification: request.identification,
            extensions: Vec::new(),
        };
        let plain = written(|out| reply.emit(out));
        reply
            .extensions
            .push(authenticator(context, &self.config, &plain));
        let octets = written(|out| reply.emit(out));
        context.send(
            Party::HomeAgent,
            message.from,
            Carrier::Udp(PORT),
            octets.clone(),
        );
        if authentic {
            self.last = Some((request.identification, octets));
            self.state = Status::Established(Secrets::from([(
                SecretName::CareOfAddress,
                request.care_of_address.to_vec(),
            )]));
        } else if self.state == Status::Waiting {
            self.state = Status::Failed(Failure::WrongCredentials {
                code: Code::MobileIp(code),
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::adverse::{agree, run, run_adverse, run_flipped};
    use crate::exchange::{Conversation, Outcome};
    use proptest::prelude::*;
    use rand_chacha::rand_core::SeedableRng;

    fn config(roaming: bool) -> MobileIpConfig {
        MobileIpConfig {
            home_address: [10, 0, 1, 20],
            home_agent: [10, 0, 1, 1],
            foreign_agent: roaming.then_some([10, 0, 2, 1]),
            listens: false,
            reverse_tunnel: true,
            lifetime_s: 300,
            spi: 1000,
            key: [7; 16],
        }
    }

    #[test]
    fn four_messages_at_home_and_four_on_the_air_abroad() {
        let (log, outcome, _) = run(parties(&config(false)), 1);
        assert_eq!(log.len(), 4);
        assert!(matches!(outcome, Outcome::Established(_)));
        let (log, outcome, exchange) = run(parties(&config(true)), 1);
        assert_eq!(log.len(), 6);
        let air = |e: &&crate::exchange::Emission| {
            e.message.from == Party::Station || e.message.to == Party::Station
        };
        assert_eq!(log.iter().filter(air).count(), 4);
        assert!(matches!(outcome, Outcome::Established(_)));
        assert!(agree(&exchange, Party::Station, Party::HomeAgent));
    }

    #[test]
    fn a_wrong_key_is_code_131() {
        let ours = config(false);
        let theirs = MobileIpConfig {
            key: [8; 16],
            ..ours.clone()
        };
        let peers: Vec<Box<dyn Peer>> = vec![
            Box::new(MobileNode::new(ours)),
            Box::new(HomeAgent::new(theirs)),
        ];
        let failure = Failure::WrongCredentials {
            code: Code::MobileIp(131),
        };
        assert_eq!(run(peers, 1).1, Outcome::Failed(failure));
    }

    #[test]
    fn who_listens_registers_with_the_agent_that_it_hears() {
        let config = MobileIpConfig {
            listens: true,
            ..config(true)
        };
        let rng = Box::new(rand_chacha::ChaCha8Rng::seed_from_u64(1));
        let mut exchange = Conversation::new(parties(&config), rng);
        assert!(exchange.start().is_empty());
        let heard = |foreign| Message {
            from: Party::ForeignAgent,
            to: Party::Station,
            carrier: Carrier::Icmp,
            octets: advertisement([10, 0, 2, 1], foreign, 3, 7),
        };
        // A home agent is not what it looks for.
        assert!(exchange.deliver(&heard(false)).emissions.is_empty());
        let reaction = exchange.deliver(&heard(true));
        let (protocol, name) = crate::describe(&reaction.emissions[0].message);
        assert_eq!(
            (protocol, name.as_str()),
            ("Mobile IP", "registration request")
        );
        // Or it asks once its patience is over.
        let rng = Box::new(rand_chacha::ChaCha8Rng::seed_from_u64(1));
        let mut exchange = Conversation::new(parties(&config), rng);
        exchange.start();
        let asked = exchange.time_out(Party::Station).emissions;
        let (_, name) = crate::describe(&asked[0].message);
        assert_eq!(name, "agent solicitation");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]

        #[test]
        fn adversity_never_makes_ends_disagree(roaming: bool, seed: u64, schedule in prop::collection::vec(any::<u8>(), 0..20)) {
            let (_, exchange) = run_adverse(parties(&config(roaming)), seed, &schedule);
            prop_assert!(agree(&exchange, Party::Station, Party::HomeAgent));
        }

        #[test]
        fn a_flipped_bit_never_makes_ends_disagree(roaming: bool, index in 0_usize..6, octet in 0_usize..60, bit in 0_u8..8) {
            let (_, exchange) = run_flipped(parties(&config(roaming)), 3, (index, octet, bit));
            prop_assert!(agree(&exchange, Party::Station, Party::HomeAgent));
        }
    }
}
