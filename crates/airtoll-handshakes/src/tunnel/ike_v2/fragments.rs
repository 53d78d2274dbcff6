//! Fragments of an encrypted IKEv2 message (RFC 7383).
//!
//! Takes the octets of a message's payloads and the longest datagram; gives one message or several fragments,
//! and puts received ones together. Never repeats any: the peer does.

use std::collections::BTreeMap;

use airtoll_wire::isakmp::{IsakmpHeader, Payload, emit_payloads};

use super::sealed::{Keys, Wrapping};
use crate::exchange::Context;
use crate::octets::written;

/// Octets of the headers of IPv4 and UDP.
const BELOW: usize = 20 + 8;
/// Octets of the marker on the port of NAT traversal (RFC 3948 section 2.2).
const MARKER: usize = 4;
/// Most fragments of a message that are kept: a station's or gateway's memory is limited.
const LIMIT: u16 = 64;

/// The payloads of a message and how they are sent.
pub(super) struct Outgoing {
    /// The messages or fragments, in order.
    pub messages: Vec<Vec<u8>>,
    /// Octets of a message of IKE_INTERMEDIATE that the proof covers.
    pub covered: Vec<u8>,
}

/// A message as one datagram, or as fragments where that exceeds `limit` octets with its IPv4 header.
pub(super) fn sealed(
    context: &mut Context<'_>,
    keys: &Keys,
    initiator: bool,
    header: &IsakmpHeader,
    payloads: &[Payload],
    limit: Option<usize>,
    floated: bool,
) -> Outgoing {
    let plain = written(|out| emit_payloads(payloads, out));
    let first = payloads.first().map_or(0, |(kind, _)| *kind);
    let covered = Wrapping::covered(first, header, &plain);
    let longest = limit.map_or(usize::MAX, |limit| {
        limit.saturating_sub(BELOW + if floated { MARKER } else { 0 })
    });
    if keys.sealed_octets(plain.len()) <= longest {
        let whole = keys.wrap(context, initiator, header, &Wrapping::whole(first), &plain);
        return Outgoing {
            messages: vec![whole],
            covered,
        };
    }
    let parts: Vec<&[u8]> = plain.chunks(keys.room(longest).max(1)).collect();
    let total = u16::try_from(parts.len()).unwrap_or(u16::MAX);
    let messages = (1_u16..).zip(parts).map(|(number, part)| {
        let wrapping = Wrapping {
            first: if number == 1 { first } else { 0 },
            fragment: Some((number, total)),
        };
        keys.wrap(context, initiator, header, &wrapping, part)
    });
    Outgoing {
        messages: messages.collect(),
        covered,
    }
}

/// A message put together.
pub(super) struct Whole {
    /// Type of its first payload.
    pub first: u8,
    /// Its payloads.
    pub plain: Vec<u8>,
    /// The octets that started it: the message, or its first fragment.
    pub start: Vec<u8>,
}

/// Fragments of the message that is being received.
#[derive(Default)]
pub(super) struct Gathered {
    total: u16,
    parts: BTreeMap<u16, (u8, Vec<u8>)>,
    start: Vec<u8>,
}

impl Gathered {
    /// The whole message once the last part is there; `None` while parts are missing, and for octets that
    /// belong to no message under these keys.
    pub fn add(
        &mut self,
        context: &mut Context<'_>,
        keys: &Keys,
        initiator: bool,
        octets: &[u8],
    ) -> Option<Whole> {
        let (wrapping, plain) = keys.unwrap(context, initiator, octets)?;
        let first = wrapping.first;
        let Some((number, total)) = wrapping.fragment else {
            *self = Self::default();
            let start = octets.to_vec();
            return Some(Whole {
                first,
                plain,
                start,
            });
        };
        if number == 0 || number > total || total > LIMIT || total < self.total {
            return None;
        }
        if total > self.total {
            // The sender made its fragments shorter (RFC 7383 section 2.5.2).
            *self = Self {
                total,
                ..Self::default()
            };
        }
        if number == 1 {
            self.start = octets.to_vec();
        }
        self.parts.insert(number, (first, plain));
        if self.parts.len() < usize::from(total) {
            return None;
        }
        let Self { parts, start, .. } = std::mem::take(self);
        Some(Whole {
            first: parts.get(&1)?.0,
            plain: parts.into_values().flat_map(|(_, plain)| plain).collect(),
            start,
        })
    }
}
