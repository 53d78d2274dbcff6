//! A party's surroundings: the messages that it sends, and the record of its work.
//!
//! Takes a random source; gives random octets, and in the end a [`Reaction`]. `primitives` adds the
//! cryptography, each operation recorded.

use rand_core::CryptoRng;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::operation::Operation;

/// A party of a handshake.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Party {
    /// The wireless client: supplicant, mobile node and tunnel initiator.
    Station,
    /// The access point it associates with: authenticator and RADIUS client.
    AccessPoint,
    /// The access point that it leaves, in a fast transition over the DS.
    OldAccessPoint,
    /// The RADIUS server with the EAP server in it.
    AuthenticationServer,
    /// The tunnel's other end.
    Gateway,
    /// Mobile IP's foreign agent.
    ForeignAgent,
    /// Mobile IP's home agent.
    HomeAgent,
}

/// The layer below a message's octets.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Carrier {
    /// An 802.11 management frame: octets are header and body, without FCS.
    Management,
    /// An EAPOL PDU (EtherType 88-8E), in a data frame.
    Eapol,
    /// A RADIUS packet over UDP, on the wire between AP and server.
    Radius,
    /// A UDP payload with this destination port.
    Udp(u16),
    /// An ICMP message.
    Icmp,
    /// Between two APs over the distribution system (802.11-2020, 13.10).
    DistributionSystem,
}

/// Octets from one party to another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// Sender.
    pub from: Party,
    /// Receiver.
    pub to: Party,
    /// The layer below.
    pub carrier: Carrier,
    /// Payload of the carrier.
    pub octets: Vec<u8>,
}

/// A message and the work before it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Emission {
    /// The message.
    pub message: Message,
    /// Operations of the sender since its last message or its last input.
    pub operations: Vec<Operation>,
}

/// A party's reaction to an input.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Reaction {
    /// Messages, in the order in which they are sent.
    pub emissions: Vec<Emission>,
    /// Work after the last of them, which delays nothing but what comes next.
    pub operations: Vec<Operation>,
}

/// Services for a party: random octets, the record of its operations, the output.
pub struct Context<'a> {
    rng: &'a mut dyn CryptoRng,
    operations: Vec<Operation>,
    emissions: Vec<Emission>,
}

impl<'a> Context<'a> {
    /// A context for one input.
    pub fn new(rng: &'a mut dyn CryptoRng) -> Self {
        Self {
            rng,
            operations: Vec::new(),
            emissions: Vec::new(),
        }
    }

    /// Names some work.
    pub fn record(&mut self, operation: Operation) {
        if !self
            .operations
            .last_mut()
            .is_some_and(|last| last.absorb(&operation))
        {
            self.operations.push(operation);
        }
    }

    /// Random octets, recorded.
    pub fn random<const N: usize>(&mut self) -> [u8; N] {
        let mut octets = [0; N];
        self.rng.fill_bytes(&mut octets);
        self.record(Operation::Random { octets: N as u64 });
        octets
    }

    /// The random source itself, for libraries that draw from one; the caller records.
    pub fn rng(&mut self) -> &mut dyn CryptoRng {
        self.rng
    }

    /// Sends octets after the work recorded so far.
    pub fn send(&mut self, from: Party, to: Party, carrier: Carrier, octets: Vec<u8>) {
        self.emissions.push(Emission {
            message: Message {
                from,
                to,
                carrier,
                octets,
            },
            operations: std::mem::take(&mut self.operations),
        });
    }

    /// The messages sent and the operations recorded.
    #[must_use]
    pub fn finish(self) -> Reaction {
        Reaction {
            emissions: self.emissions,
            operations: self.operations,
        }
    }
}
