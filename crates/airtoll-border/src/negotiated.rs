//! A negotiation without loss: its messages, the work of each party, the outcome.

use std::collections::{BTreeMap, BTreeSet};

use airtoll_handshakes::failure::Failure;
use airtoll_handshakes::negotiation::{Stage, StageRecord};
use airtoll_handshakes::{
    Carrier, Negotiation, Operation, Options, Outcome, Party, PolicySpec, SecretName, describe,
    merge,
};
use rand_core::CryptoRng;
use schemars::JsonSchema;
use serde::Serialize;

/// Everything that a policy negotiates.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Negotiated {
    /// The messages in order.
    pub messages: Vec<NegotiatedMessage>,
    /// Work that a party does once, before any association.
    pub preparation: Vec<Operation>,
    /// Sums over the messages.
    pub totals: NegotiatedTotals,
    /// How it ended.
    pub outcome: NegotiatedOutcome,
}

/// One message.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct NegotiatedMessage {
    /// Part of the negotiation.
    pub stage: Stage,
    /// Protocol, for example `EAPOL-Key`.
    pub protocol: &'static str,
    /// Name of the message in its standard.
    pub name: String,
    /// Sender.
    pub from: Party,
    /// Receiver.
    pub to: Party,
    /// Carrier of the octets.
    pub carrier: Carrier,
    /// Number of octets.
    pub length: usize,
    /// The octets, hexadecimal.
    pub octets: String,
    /// Operations of the sender before the message.
    pub operations: Vec<Operation>,
}

/// Sums over the messages of a negotiation.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct NegotiatedTotals {
    /// All messages.
    pub messages: usize,
    /// Messages that the station sends or receives.
    pub messages_air: usize,
    /// Their octets.
    pub octets_air: usize,
    /// Messages of the station that another party answers.
    pub round_trips: usize,
    /// Sums by protocol.
    pub by_protocol: Vec<ProtocolTotals>,
    /// Work by party.
    pub by_party: Vec<PartyTotals>,
}

/// Messages of one protocol.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ProtocolTotals {
    /// Protocol.
    pub protocol: &'static str,
    /// Messages.
    pub messages: usize,
    /// Their octets.
    pub octets: usize,
}

/// Work of one party.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct PartyTotals {
    /// The party.
    pub party: Party,
    /// Its work, operations of one kind added up.
    pub operations: Vec<Operation>,
    /// Names under which a device profile prices the heavy ones: public keys, and passphrases.
    pub heavy: Vec<String>,
}

/// How a negotiation ended.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct NegotiatedOutcome {
    /// Whether every part succeeded.
    pub established: bool,
    /// The part that failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stage: Option<Stage>,
    /// Why it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<Failure>,
    /// The same in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Secrets that both ends hold.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub secrets: Option<Vec<NegotiatedSecret>>,
}

/// One secret.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct NegotiatedSecret {
    /// Its name.
    pub name: SecretName,
    /// Its octets, hexadecimal.
    pub octets: String,
}

/// Runs everything that a policy negotiates, without loss.
///
/// # Errors
/// The value of the policy or of the options that is unknown.
pub fn negotiate(
    policy: PolicySpec,
    options: Options,
    rng: Box<dyn CryptoRng>,
) -> Result<Negotiated, String> {
    let negotiation = Negotiation::new(policy, options, rng).map_err(|error| error.to_string())?;
    let preparation = negotiation.preparation();
    let (records, secrets) = negotiation.run().map_err(|error| error.to_string())?;
    let outcome = match records.last() {
        Some(StageRecord {
            stage,
            outcome: Outcome::Failed(failure),
            ..
        }) => NegotiatedOutcome {
            stage: Some(*stage),
            text: Some(failure.to_string()),
            failure: Some(*failure),
            ..NegotiatedOutcome::default()
        },
        Some(StageRecord {
            outcome: Outcome::Established(_),
            ..
        }) => NegotiatedOutcome {
            established: true,
            secrets: Some(
                secrets
                    .iter()
                    .map(|(name, value)| NegotiatedSecret {
                        name: *name,
                        octets: hexadecimal(value),
                    })
                    .collect(),
            ),
            ..NegotiatedOutcome::default()
        },
        _ => NegotiatedOutcome::default(),
    };
    Ok(Negotiated {
        messages: messages(&records),
        preparation,
        totals: totals(&records),
        outcome,
    })
}

fn messages(records: &[StageRecord]) -> Vec<NegotiatedMessage> {
    let mut rows = Vec::new();
    for record in records {
        for emission in &record.emissions {
            let message = &emission.message;
            let (protocol, name) = describe(message);
            rows.push(NegotiatedMessage {
                stage: record.stage,
                protocol,
                name,
                from: message.from,
                to: message.to,
                carrier: message.carrier,
                length: message.octets.len(),
                octets: hexadecimal(&message.octets),
                operations: merge(&emission.operations),
            });
        }
    }
    rows
}

fn totals(records: &[StageRecord]) -> NegotiatedTotals {
    let mut by_protocol: BTreeMap<&'static str, (usize, usize)> = BTreeMap::new();
    let mut by_party: BTreeMap<Party, Vec<Operation>> = BTreeMap::new();
    let (mut messages_air, mut octets_air, mut round_trips) = (0, 0, 0);
    let mut asked = false;
    for emission in records.iter().flat_map(|record| &record.emissions) {
        let message = &emission.message;
        let (protocol, _) = describe(message);
        let (messages, octets) = by_protocol.entry(protocol).or_default();
        *messages += 1;
        *octets += message.octets.len();
        by_party
            .entry(message.from)
            .or_default()
            .extend(&emission.operations);
        if message.from == Party::Station {
            asked = true;
        } else if message.to == Party::Station {
            round_trips += usize::from(asked);
            asked = false;
        } else {
            continue;
        }
        messages_air += 1;
        octets_air += message.octets.len();
    }
    NegotiatedTotals {
        messages: records.iter().map(|record| record.emissions.len()).sum(),
        messages_air,
        octets_air,
        round_trips,
        by_protocol: by_protocol
            .into_iter()
            .map(|(protocol, (messages, octets))| ProtocolTotals {
                protocol,
                messages,
                octets,
            })
            .collect(),
        by_party: by_party
            .into_iter()
            .map(|(party, operations)| {
                let operations = merge(&operations);
                let heavy = operations.iter().filter(|one| one.is_heavy());
                let heavy: BTreeSet<String> = heavy.map(|one| one.priced().0).collect();
                PartyTotals {
                    party,
                    operations,
                    heavy: heavy.into_iter().collect(),
                }
            })
            .collect(),
    }
}

fn hexadecimal(octets: &[u8]) -> String {
    octets.iter().map(|octet| format!("{octet:02x}")).collect()
}
