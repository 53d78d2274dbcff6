//! The account of a handshake: the operations that come before each message that the air carries.
//!
//! Takes a policy and runs its handshakes without loss; gives, for a message that the medium sees,
//! what its sender and the hosts behind the sender have done since its last message. Messages are
//! found by the names that `airtoll_handshakes::describe` gives them. Never reads a clock.

use std::collections::{BTreeMap, VecDeque};

use airtoll_handshakes::{
    Carrier, Emission, Message, Negotiation, Operation, Outcome, Party, Stage, Status, describe,
};
use airtoll_wire::MacAddress;
use airtoll_wire::eapol::{self, Eapol};
use airtoll_wire::ieee80211::frame::{Frame, Kind, management_subtype as subtype};
use airtoll_wire::llc::SnapRepr;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

use crate::devices::Devices;

/// IPv4 and UDP headers, which a RADIUS packet has on the wire.
const IPV4_UDP_OCTETS: u32 = 28;
/// The Retry bit, in the second octet of Frame Control.
const RETRY: u8 = 1 << 3;

/// Work of one party.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Work {
    /// Operations of a handshake.
    Operations(Vec<Operation>),
    /// A message of so many octets goes down the stack.
    Send(u32),
    /// A packet of so many octets comes up the stack.
    Receive(u32),
}

/// A message on the air, and the work since the last one of its side.
#[derive(Debug)]
struct Entry {
    name: (&'static str, String),
    work: Vec<(Party, Work)>,
}

/// The two sides of the air: the station, and the access point with the hosts behind it.
#[derive(Debug, Default)]
struct Side {
    entries: Vec<Entry>,
    /// Work after the last of them.
    open: Vec<(Party, Work)>,
}

/// How far the handshakes of a station are.
#[derive(Debug, Default)]
struct Progress {
    access_point: Option<MacAddress>,
    /// The next entry of each side.
    at: [usize; 2],
    /// The last message of each side: the same octets again are a repetition.
    last: [Vec<u8>; 2],
}

/// A message of a handshake that the air carries.
#[derive(Debug)]
pub(crate) struct Seen {
    station: MacAddress,
    access_point: MacAddress,
    from_station: bool,
    message: Message,
}

/// The account of one policy, and how far each station is in it.
#[derive(Debug)]
pub(crate) struct Account {
    /// The station's side, and that of the access point.
    sides: [Side; 2],
    progress: BTreeMap<MacAddress, Progress>,
}

impl Account {
    /// Runs the handshakes of an association, up to its keys.
    pub fn new(devices: &Devices, seed: u64) -> Result<Self, String> {
        let rng = Box::new(ChaCha8Rng::seed_from_u64(seed));
        let mut negotiation =
            Negotiation::new(devices.policy.clone(), devices.options.clone(), rng)
                .map_err(|error| error.to_string())?;
        let mut account = Self {
            sides: Default::default(),
            progress: BTreeMap::new(),
        };
        while let Some(stage) = negotiation.stage() {
            if matches!(stage, Stage::MobileIp | Stage::Tunnel) {
                break;
            }
            account.run(&mut negotiation);
            if !negotiation.advance().map_err(|error| error.to_string())? {
                break;
            }
        }
        Ok(account)
    }

    /// One stage, as `Conversation::run` carries it.
    fn run(&mut self, negotiation: &mut Negotiation) {
        let Some(exchange) = negotiation.exchange() else {
            return;
        };
        let mut queue: VecDeque<Emission> = exchange.start().into();
        loop {
            while let Some(emission) = queue.pop_front() {
                let reaction = exchange.deliver(&emission.message);
                let to = emission.message.to;
                self.note(emission);
                queue.extend(reaction.emissions);
                self.side(to)
                    .open
                    .push((to, Work::Operations(reaction.operations)));
            }
            if !matches!(exchange.outcome(), Outcome::Running) {
                return;
            }
            let waiting = exchange.parties().collect::<Vec<_>>();
            for party in waiting {
                if exchange.status(party) == Some(Status::Waiting) {
                    queue.extend(exchange.time_out(party).emissions);
                }
            }
        }
    }

    fn side(&mut self, party: Party) -> &mut Side {
        &mut self.sides[usize::from(party != Party::Station)]
    }

    fn note(&mut self, emission: Emission) {
        let Message {
            from,
            to,
            carrier,
            ref octets,
        } = emission.message;
        let length = octets.len() as u32;
        let side = self.side(from);
        side.open
            .push((from, Work::Operations(emission.operations)));
        match carrier {
            Carrier::Management | Carrier::Eapol => {
                // The cost of the frame in the stack follows from the frame that was sent.
                let work = std::mem::take(&mut side.open);
                let name = describe(&emission.message);
                side.entries.push(Entry { name, work });
            }
            _ => {
                side.open.push((from, Work::Send(length)));
                let received = Work::Receive(length + IPV4_UDP_OCTETS);
                self.side(to).open.push((to, received));
            }
        }
    }

    /// The work before a message; none before a repetition and a message that is not expected.
    pub fn before(&mut self, seen: &Seen) -> Vec<(Party, Work)> {
        let which = usize::from(!seen.from_station);
        let progress = self.progress.entry(seen.station).or_default();
        let name = describe(&seen.message);
        let octets = &seen.message.octets;
        let first = seen.from_station
            && self.sides[0]
                .entries
                .first()
                .is_some_and(|e| e.name == name);
        let repeated = progress.last[which] == *octets;
        // Open System begins with the same octets each time.
        let anew = first && (!repeated || progress.at[0] > 1);
        if anew || progress.access_point != Some(seen.access_point) {
            *progress = Progress {
                access_point: Some(seen.access_point),
                ..Progress::default()
            };
        } else if repeated {
            return Vec::new();
        }
        progress.last[which].clone_from(octets);
        let (entries, at) = (&self.sides[which].entries, progress.at[which]);
        let Some(found) = entries[at..].iter().position(|e| e.name == name) else {
            return Vec::new();
        };
        progress.at[which] = at + found + 1;
        entries[at..=at + found]
            .iter()
            .flat_map(|entry| entry.work.iter().cloned())
            .collect()
    }
}

impl Seen {
    /// The message of a handshake in a frame: authentication, association, or EAPOL in clear.
    pub fn read(frame: &Frame<'_>) -> Option<Self> {
        let control = frame.control();
        let (to, from) = (frame.receiver()?, frame.transmitter()?);
        let (from_station, carrier, octets) = match control.kind() {
            Kind::Management => {
                let kinds = [
                    subtype::AUTHENTICATION,
                    subtype::ASSOCIATION_REQUEST,
                    subtype::ASSOCIATION_RESPONSE,
                    subtype::REASSOCIATION_REQUEST,
                    subtype::REASSOCIATION_RESPONSE,
                ];
                if !kinds.contains(&control.subtype()) {
                    return None;
                }
                // Retry, duration and sequence number differ from repetition to repetition.
                let mut octets = frame.octets().to_vec();
                octets[1] &= !RETRY;
                octets[2..4].fill(0);
                octets[22..24].fill(0);
                let from_station = frame.address3() == Some(to);
                (from_station, Carrier::Management, octets)
            }
            Kind::Data if control.carries_data() && !control.protected() => {
                let snap = SnapRepr::parse(frame.body()).ok()?;
                if snap.ethertype != eapol::ETHERTYPE {
                    return None;
                }
                let packet = Eapol::new(snap.payload).ok()?;
                (control.to_ds(), Carrier::Eapol, packet.octets().to_vec())
            }
            _ => return None,
        };
        let [station, access_point] = if from_station { [from, to] } else { [to, from] };
        let parties = [Party::Station, Party::AccessPoint];
        let [sender, receiver] = [!from_station, from_station].map(|i| parties[usize::from(i)]);
        Some(Self {
            station,
            access_point,
            from_station,
            message: Message {
                from: sender,
                to: receiver,
                carrier,
                octets,
            },
        })
    }

    /// Octets of the message in the stack of its sender.
    pub fn octets(&self) -> u32 {
        self.message.octets.len() as u32
    }
}
