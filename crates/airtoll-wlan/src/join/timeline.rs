//! Times and message counts of a negotiation, as a monitor beside the station notes them: a message
//! counts at the end of its first frame on the air, or when its sender hands it to the wire.

use airtoll_handshakes::{Carrier, Message, Party, describe};
use airtoll_units::{Duration, Instant};

/// Messages seen and sent.
#[derive(Debug, Default)]
pub(super) struct Timeline {
    seen: Vec<Seen>,
    /// Messages emitted, repetitions included, and their octets, by protocol.
    pub emitted: Vec<(&'static str, u32, u64)>,
    /// Messages emitted that are neither Open System authentication nor association nor RADIUS.
    pub counted: u32,
    /// The octets of these, in EAPOL PDUs, management frames and UDP payloads.
    pub counted_octets: u64,
}

#[derive(Debug)]
struct Seen {
    at: Instant,
    kind: Kind,
    /// Whether it counts as negotiation.
    counts: bool,
}

/// Messages between which the times are defined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Authentication,
    AssociationResponse,
    EapResponse,
    EapEnd,
    Key,
    Other,
}

impl Timeline {
    /// A message was sent.
    pub fn emitted(&mut self, message: &Message) {
        let (protocol, name) = describe(message);
        let new = message.octets.len() as u64;
        match self.emitted.iter_mut().find(|known| known.0 == protocol) {
            Some((_, count, octets)) => {
                *count += 1;
                *octets += new;
            }
            None => self.emitted.push((protocol, 1, new)),
        }
        if counts(message, &name) {
            self.counted += 1;
            self.counted_octets += new;
        }
    }

    /// A message was seen for the first time.
    pub fn seen(&mut self, at: Instant, message: &Message) {
        let (protocol, name) = describe(message);
        let kind = match protocol {
            "802.11" if name.starts_with("authentication") => Kind::Authentication,
            "802.11" if name.ends_with("association response") => Kind::AssociationResponse,
            "EAP" if name.starts_with("EAP-Success") => Kind::EapEnd,
            // LEAP's station goes on with a request after Success.
            "EAP" if message.from == Party::Station && name != "EAPOL-Start" => Kind::EapResponse,
            "EAP" if name.starts_with("EAP-Response") => Kind::EapEnd,
            "EAPOL-Key" => Kind::Key,
            _ => Kind::Other,
        };
        let counts = counts(message, &name);
        self.seen.push(Seen { at, kind, counts });
    }

    /// First authentication frame to association response.
    pub fn association(&self) -> Option<Duration> {
        self.span(
            |k| k == Kind::Authentication,
            |k| k == Kind::AssociationResponse,
        )
    }

    /// First EAP response of the station to the end of EAP, on the air.
    pub fn eap(&self) -> Option<Duration> {
        self.span(|k| k == Kind::EapResponse, |k| k == Kind::EapEnd)
    }

    /// First to last EAPOL-Key frame.
    pub fn keys(&self) -> Option<Duration> {
        self.span(|k| k == Kind::Key, |k| k == Kind::Key)
    }

    /// First to last message of everything negotiated.
    pub fn negotiation(&self) -> Option<Duration> {
        let mut counted = self.seen.iter().filter(|s| s.counts);
        let first = counted.next()?.at;
        let last = counted.next_back().map_or(first, |s| s.at);
        Some(last - first)
    }

    fn span(&self, first: impl Fn(Kind) -> bool, last: impl Fn(Kind) -> bool) -> Option<Duration> {
        let from = self.seen.iter().find(|s| first(s.kind))?.at;
        let to = self.seen.iter().rfind(|s| last(s.kind))?.at;
        (to >= from).then(|| to - from)
    }
}

/// Whether a message is part of what the policy negotiates: Open System authentication and
/// association are part of every network, and RADIUS repeats what EAP says.
fn counts(message: &Message, name: &str) -> bool {
    match message.carrier {
        Carrier::Radius | Carrier::DistributionSystem => false,
        Carrier::Management => {
            name.starts_with("authentication") && !name.starts_with("authentication: open")
        }
        _ => true,
    }
}
