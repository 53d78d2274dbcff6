//! Finding out about address translation between the ends (RFC 3947).
//!
//! Takes cookies and addresses; gives a vendor ID and NAT discovery payloads, and whether the other
//! end's fit.

use airtoll_wire::isakmp::Payload;

use super::keys::Said;
use crate::exchange::Context;
use crate::operation::HashAlgorithm;
use crate::sides::{Sides, Way};
use crate::tunnel::encapsulation::Endpoint;

/// MD5 of "RFC 3947" (section 3.1).
const VENDOR: [u8; 16] = [
    0x4a, 0x13, 0x1c, 0x81, 0x07, 0x03, 0x58, 0x45, 0x5c, 0x57, 0x28, 0xf2, 0x0e, 0x95, 0x45, 0x2f,
];
/// Payload types: vendor ID and NAT-D.
const VENDOR_ID: u8 = 13;
const DISCOVERY: u8 = 20;

/// Says that we know NAT traversal.
pub fn vendor() -> Payload {
    (VENDOR_ID, VENDOR.to_vec())
}

/// Whether the other end does.
pub fn is_known(payloads: &[Payload]) -> bool {
    payloads.contains(&vendor())
}

fn digest(
    context: &mut Context<'_>,
    hash: HashAlgorithm,
    said: &Said,
    (address, port): Endpoint,
) -> Vec<u8> {
    let Sides {
        initiator,
        responder,
    } = said.cookies;
    let parts: [&[u8]; 4] = [&initiator, &responder, &address, &port.to_be_bytes()];
    context.hash(hash, &parts)
}

/// NAT-D payloads of a message that goes from one end point to the other: the destination first.
pub fn discovery(
    context: &mut Context<'_>,
    hash: HashAlgorithm,
    said: &Said,
    way: Way<Endpoint>,
) -> [Payload; 2] {
    [
        (DISCOVERY, digest(context, hash, said, way.to)),
        (DISCOVERY, digest(context, hash, said, way.from)),
    ]
}

/// Whether the end that sent these payloads sees other addresses than we do.
pub fn translated(
    context: &mut Context<'_>,
    hash: HashAlgorithm,
    said: &Said,
    payloads: &[Payload],
    way: Way<Endpoint>,
) -> bool {
    let mut found = payloads
        .iter()
        .filter(|(kind, _)| *kind == DISCOVERY)
        .map(|(_, data)| data);
    let (source, destination) = (
        digest(context, hash, said, way.from),
        digest(context, hash, said, way.to),
    );
    match found.next() {
        None => false,
        Some(first) => *first != destination || !found.any(|data| *data == source),
    }
}
