//! IKE and ESP on one UDP port behind address translation (RFC 3948).
//!
//! Takes IKE messages; gives datagrams on IKE's own port or on that of NAT traversal, and reads
//! them. Never detects a translator: both IKE versions do, each in its way.

use airtoll_wire::isakmp;

use crate::exchange::{Carrier, Message};
use crate::sides::{Sides, Way};

/// UDP port of IKE and ESP once a translator is known of (section 2.1).
pub const PORT: u16 = 4500;
/// Marker that tells IKE from ESP on that port (section 2.2).
const MARKER: [u8; 4] = [0; 4];

/// Address and UDP port.
pub type Endpoint = ([u8; 4], u16);

/// Where a message of the initiator, or of the responder, goes from and to before anybody moved.
pub(crate) const fn way(addresses: Sides<[u8; 4]>, initiator: bool) -> Way<Endpoint> {
    let own = (addresses.initiator, isakmp::PORT);
    let other = (addresses.responder, isakmp::PORT);
    if initiator {
        Way {
            from: own,
            to: other,
        }
    } else {
        Way {
            from: other,
            to: own,
        }
    }
}

/// A message on the port of NAT traversal, or on IKE's own.
pub(crate) fn carried(floated: bool, octets: &[u8]) -> (Carrier, Vec<u8>) {
    if floated {
        (Carrier::Udp(PORT), [&MARKER, octets].concat())
    } else {
        (Carrier::Udp(isakmp::PORT), octets.to_vec())
    }
}

/// The IKE message in a datagram, and whether it came on the port of NAT traversal.
pub(crate) fn uncarried(message: &Message) -> Option<(bool, &[u8])> {
    match message.carrier {
        Carrier::Udp(isakmp::PORT) => Some((false, &message.octets)),
        Carrier::Udp(PORT) => Some((true, message.octets.strip_prefix(&MARKER)?)),
        _ => None,
    }
}
