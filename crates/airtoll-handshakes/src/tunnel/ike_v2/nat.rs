//! Finding out about address translation between the ends (RFC 7296 section 2.23).
//!
//! Takes SPIs and addresses; gives notifications, and whether the other end's fit. Never learns an
//! address from the network: the caller says what it sends from and to.

use airtoll_wire::isakmp::Payload;

use super::config::{notifications, notify};
use crate::exchange::Context;
use crate::operation::HashAlgorithm;
use crate::sides::{Sides, Way};
use crate::tunnel::encapsulation::Endpoint;

const SOURCE: u16 = 16_388;
const DESTINATION: u16 = 16_389;

fn digest(context: &mut Context<'_>, spis: &Sides<[u8; 8]>, (address, port): Endpoint) -> Vec<u8> {
    let parts: [&[u8]; 4] = [
        &spis.initiator,
        &spis.responder,
        &address,
        &port.to_be_bytes(),
    ];
    context.hash(HashAlgorithm::Sha1, &parts)
}

/// Both notifications of a message that goes from one end point to the other.
pub fn detection(
    context: &mut Context<'_>,
    spis: &Sides<[u8; 8]>,
    way: Way<Endpoint>,
) -> [Payload; 2] {
    [
        notify(SOURCE, &digest(context, spis, way.from)),
        notify(DESTINATION, &digest(context, spis, way.to)),
    ]
}

/// Whether the end that sent these payloads sees other addresses than we do; `None` when it says
/// nothing about them.
pub fn translated(
    context: &mut Context<'_>,
    spis: &Sides<[u8; 8]>,
    payloads: &[Payload],
    way: Way<Endpoint>,
) -> Option<bool> {
    let seen = |wanted: u16| {
        let found: Vec<&[u8]> = notifications(payloads)
            .filter(|(kind, _)| *kind == wanted)
            .map(|(_, data)| data)
            .collect();
        (!found.is_empty()).then_some(found)
    };
    let (sources, destinations) = (seen(SOURCE)?, seen(DESTINATION)?);
    let (source, destination) = (
        digest(context, spis, way.from),
        digest(context, spis, way.to),
    );
    // An end with several addresses sends a source for each.
    let same =
        sources.contains(&source.as_slice()) && destinations.contains(&destination.as_slice());
    Some(!same)
}
