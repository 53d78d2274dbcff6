//! Bodies of management frames: take the octets after the header, give fixed fields and elements.
//!
//! Source: IEEE 802.11-2020 clauses 9.3.3 (bodies by subtype), 9.4.1 (fixed fields) and 9.6
//! (action). Never deciphers: the body of a protected frame must be decrypted before.

use super::element::Elements;
use super::frame::management_subtype as subtype;
use crate::{Cursor, Error, MacAddress, Result};

const FORMAT: &str = "802.11 management body";

/// Authentication algorithm numbers (clause 9.4.1.1).
pub mod algorithm {
    /// Open System.
    pub const OPEN: u16 = 0;
    /// Shared Key (WEP).
    pub const SHARED_KEY: u16 = 1;
    /// Fast BSS transition.
    pub const FT: u16 = 2;
    /// Simultaneous authentication of equals.
    pub const SAE: u16 = 3;
    /// Network EAP, Cisco's (LEAP).
    pub const LEAP: u16 = 128;
}

/// Categories of action frames (table 9-51).
pub mod category {
    /// Fast BSS transition.
    pub const FT: u8 = 6;
    /// SA query.
    pub const SA_QUERY: u8 = 8;
    /// WNM.
    pub const WNM: u8 = 10;
}

/// A management body by subtype.
#[derive(Debug, Clone)]
pub enum Management<'a> {
    /// Beacon and probe response.
    Beacon {
        /// TSF time in microseconds.
        timestamp: u64,
        /// Beacon interval in time units of 1024 us.
        interval: u16,
        /// Capability information; bit 4 is Privacy.
        capability: u16,
        /// Elements.
        elements: Elements<'a>,
    },
    /// Probe request.
    ProbeRequest {
        /// Elements.
        elements: Elements<'a>,
    },
    /// Association request.
    AssociationRequest {
        /// Capability information.
        capability: u16,
        /// Listen interval in beacon intervals.
        listen_interval: u16,
        /// Present in reassociation: the AP that the station comes from.
        current_ap: Option<MacAddress>,
        /// Elements.
        elements: Elements<'a>,
    },
    /// Association and reassociation response.
    AssociationResponse {
        /// Capability information.
        capability: u16,
        /// Status code; 0 is success.
        status: u16,
        /// Association identifier, its two top bits set on air.
        aid: u16,
        /// Elements.
        elements: Elements<'a>,
    },
    /// Authentication.
    Authentication {
        /// Algorithm number.
        algorithm: u16,
        /// Transaction sequence number, from 1.
        transaction: u16,
        /// Status code; 0 is success.
        status: u16,
        /// The rest: elements, or with SAE its own fields.
        rest: &'a [u8],
    },
    /// Deauthentication or disassociation.
    Leave {
        /// Reason code.
        reason: u16,
    },
    /// Action.
    Action {
        /// Category.
        category: u8,
        /// The rest, starting with the action code.
        rest: &'a [u8],
    },
    /// ATIM, timing advertisement and reserved subtypes.
    Other,
}

impl<'a> Management<'a> {
    /// Reads the body of a management frame of this subtype.
    pub fn parse(kind: u8, body: &'a [u8]) -> Result<Self> {
        let mut cursor = Cursor::new(FORMAT, body);
        Ok(match kind {
            subtype::BEACON | subtype::PROBE_RESPONSE => Self::Beacon {
                timestamp: cursor.u64_le()?,
                interval: cursor.u16_le()?,
                capability: cursor.u16_le()?,
                elements: Elements::new(cursor.rest()),
            },
            subtype::PROBE_REQUEST => Self::ProbeRequest {
                elements: Elements::new(body),
            },
            subtype::ASSOCIATION_REQUEST | subtype::REASSOCIATION_REQUEST => {
                let capability = cursor.u16_le()?;
                let listen_interval = cursor.u16_le()?;
                let current_ap = if kind == subtype::REASSOCIATION_REQUEST {
                    Some(MacAddress(cursor.array()?))
                } else {
                    None
                };
                Self::AssociationRequest {
                    capability,
                    listen_interval,
                    current_ap,
                    elements: Elements::new(cursor.rest()),
                }
            }
            subtype::ASSOCIATION_RESPONSE | subtype::REASSOCIATION_RESPONSE => {
                Self::AssociationResponse {
                    capability: cursor.u16_le()?,
                    status: cursor.u16_le()?,
                    aid: cursor.u16_le()?,
                    elements: Elements::new(cursor.rest()),
                }
            }
            subtype::AUTHENTICATION => Self::Authentication {
                algorithm: cursor.u16_le()?,
                transaction: cursor.u16_le()?,
                status: cursor.u16_le()?,
                rest: cursor.rest(),
            },
            subtype::DEAUTHENTICATION | subtype::DISASSOCIATION => Self::Leave {
                reason: cursor.u16_le()?,
            },
            subtype::ACTION | subtype::ACTION_NO_ACK => Self::Action {
                category: cursor.u8()?,
                rest: cursor.rest(),
            },
            _ => Self::Other,
        })
    }
}

/// A management body for writing; `elements` are whole elements in their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ManagementRepr<'a> {
    /// Beacon or probe response: timestamp, interval, capability, elements.
    Beacon(u64, u16, u16, &'a [u8]),
    /// Probe request: elements.
    ProbeRequest(&'a [u8]),
    /// Association request: capability, listen interval, elements.
    AssociationRequest(u16, u16, &'a [u8]),
    /// Reassociation request: capability, listen interval, current AP, elements.
    ReassociationRequest(u16, u16, MacAddress, &'a [u8]),
    /// (Re)association response: capability, status, AID, elements.
    AssociationResponse(u16, u16, u16, &'a [u8]),
    /// Authentication: algorithm, transaction, status, the rest.
    Authentication(u16, u16, u16, &'a [u8]),
    /// Deauthentication or disassociation: reason.
    Leave(u16),
    /// Action: category, what follows.
    Action(u8, &'a [u8]),
}

impl ManagementRepr<'_> {
    /// Octets that [`ManagementRepr::emit`] writes.
    pub const fn buffer_len(&self) -> usize {
        match self {
            Self::Beacon(_, _, _, rest) => 12 + rest.len(),
            Self::ProbeRequest(rest) => rest.len(),
            Self::AssociationRequest(_, _, rest) => 4 + rest.len(),
            Self::ReassociationRequest(_, _, _, rest) => 10 + rest.len(),
            Self::AssociationResponse(_, _, _, rest) | Self::Authentication(_, _, _, rest) => {
                6 + rest.len()
            }
            Self::Leave(_) => 2,
            Self::Action(_, rest) => 1 + rest.len(),
        }
    }

    /// Appends the body.
    pub fn emit(&self, out: &mut Vec<u8>) {
        let mut words = |values: &[u16]| {
            for value in values {
                out.extend_from_slice(&value.to_le_bytes());
            }
        };
        match *self {
            Self::Beacon(timestamp, interval, capability, rest) => {
                out.extend_from_slice(&timestamp.to_le_bytes());
                out.extend_from_slice(&interval.to_le_bytes());
                out.extend_from_slice(&capability.to_le_bytes());
                out.extend_from_slice(rest);
            }
            Self::ProbeRequest(rest) => out.extend_from_slice(rest),
            Self::AssociationRequest(capability, listen, rest) => {
                words(&[capability, listen]);
                out.extend_from_slice(rest);
            }
            Self::ReassociationRequest(capability, listen, current, rest) => {
                words(&[capability, listen]);
                out.extend_from_slice(&current.0);
                out.extend_from_slice(rest);
            }
            Self::AssociationResponse(a, b, c, rest) | Self::Authentication(a, b, c, rest) => {
                words(&[a, b, c]);
                out.extend_from_slice(rest);
            }
            Self::Leave(reason) => words(&[reason]),
            Self::Action(category, rest) => {
                out.push(category);
                out.extend_from_slice(rest);
            }
        }
    }
}

/// SAE authentication: the group of a commit message and its fields, told apart by transaction
/// (clause 9.4.1.39 onwards, 12.4.7.4).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sae<'a> {
    /// Commit: group, then optional anti-clogging token, scalar and element.
    Commit {
        /// Finite cyclic group (IANA number).
        group: u16,
        /// Token, scalar and element.
        rest: &'a [u8],
    },
    /// Confirm: counter and confirmation.
    Confirm {
        /// Send-confirm counter.
        counter: u16,
        /// Confirmation.
        rest: &'a [u8],
    },
}

impl<'a> Sae<'a> {
    /// Reads the octets after the status of an SAE authentication frame.
    pub fn parse(transaction: u16, rest: &'a [u8]) -> Result<Self> {
        let mut cursor = Cursor::new("SAE", rest);
        let number = cursor.u16_le()?;
        let rest = cursor.rest();
        match transaction {
            1 => Ok(Self::Commit {
                group: number,
                rest,
            }),
            2 => Ok(Self::Confirm {
                counter: number,
                rest,
            }),
            _ => Err(Error::malformed("SAE", "has a transaction above 2")),
        }
    }

    /// Appends the fields.
    pub fn emit(&self, out: &mut Vec<u8>) {
        let (number, rest) = match *self {
            Self::Commit { group, rest } => (group, rest),
            Self::Confirm { counter, rest } => (counter, rest),
        };
        out.extend_from_slice(&number.to_le_bytes());
        out.extend_from_slice(rest);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn emitted(repr: ManagementRepr<'_>) -> Vec<u8> {
        let mut octets = Vec::new();
        repr.emit(&mut octets);
        assert_eq!(octets.len(), repr.buffer_len());
        octets
    }

    proptest! {
        #[test]
        fn any_octets_are_refused_or_read(kind in 0u8..16, body in proptest::collection::vec(any::<u8>(), 0..128)) {
            let _ = Management::parse(kind, &body);
            let _ = (Sae::parse(1, &body), Sae::parse(3, &body));
        }

        #[test]
        fn associations_round_trip(capability: u16, listen: u16, ap: [u8; 6], rest in proptest::collection::vec(any::<u8>(), 0..64)) {
            let octets = emitted(ManagementRepr::ReassociationRequest(capability, listen, MacAddress(ap), &rest));
            match Management::parse(subtype::REASSOCIATION_REQUEST, &octets) {
                Ok(Management::AssociationRequest { capability: c, listen_interval, current_ap, .. }) => {
                    prop_assert_eq!((c, listen_interval, current_ap), (capability, listen, Some(MacAddress(ap))));
                }
                other => prop_assert!(false, "{:?}", other),
            }
        }

        #[test]
        fn authentication_round_trips(a: u16, b: u16, c: u16, body in proptest::collection::vec(any::<u8>(), 0..64)) {
            let octets = emitted(ManagementRepr::Authentication(a, b, c, &body));
            match Management::parse(subtype::AUTHENTICATION, &octets) {
                Ok(Management::Authentication { algorithm, transaction, status, rest }) => {
                    prop_assert_eq!((algorithm, transaction, status, rest), (a, b, c, &body[..]));
                }
                other => prop_assert!(false, "{:?}", other),
            }
        }
    }

    #[test]
    fn beacon_leave_and_action() {
        let octets = emitted(ManagementRepr::Beacon(7, 100, 0x11, &[0, 1, b'x']));
        let Ok(Management::Beacon {
            timestamp: 7,
            interval: 100,
            elements,
            ..
        }) = Management::parse(subtype::BEACON, &octets)
        else {
            panic!("no beacon");
        };
        assert_eq!(elements.find_id(0), Some(&b"x"[..]));
        let octets = emitted(ManagementRepr::Leave(15));
        assert!(matches!(
            Management::parse(subtype::DEAUTHENTICATION, &octets),
            Ok(Management::Leave { reason: 15 })
        ));
        let octets = emitted(ManagementRepr::Action(8, &[0, 1, 2]));
        assert!(matches!(
            Management::parse(subtype::ACTION, &octets),
            Ok(Management::Action {
                category: 8,
                rest: [0, 1, 2]
            })
        ));
    }

    #[test]
    fn sae_messages() {
        let mut octets = Vec::new();
        Sae::Commit {
            group: 19,
            rest: &[1; 96],
        }
        .emit(&mut octets);
        assert!(matches!(
            Sae::parse(1, &octets),
            Ok(Sae::Commit { group: 19, .. })
        ));
    }
}
