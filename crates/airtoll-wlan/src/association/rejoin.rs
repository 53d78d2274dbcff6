//! Stations that an access point puts off the network during the traffic, and that come back.
//!
//! Takes associations that end: a group key handshake that nobody answered, or a Deauthentication
//! frame to everybody. Gives what the station needs to hear of it (IEEE 802.11-2020, 11.3.4 and
//! 11.3.5, class 3 frames; 11.13, SA Query), a negotiation from its PMKSA where it has one, and how
//! long it was away. While it is away its packets wait in its host, and those for it are lost at the
//! access point. Never scans.

use std::collections::{BTreeMap, HashMap, VecDeque};

use airtoll_handshakes::link::{Link, leaving_reason};
use airtoll_handshakes::{Carrier, Message, Party};
use airtoll_units::{Duration, Instant};
use airtoll_wire::ieee80211::ManagementRepr;
use airtoll_wire::ieee80211::frame::management_subtype as subtype;
use airtoll_wire::ieee80211::management::category;

use super::{
    AssociationEvent, AssociationRow, Associations, Join, Purpose, STRAY, Signal, Standing,
};
use crate::event::Event;
use crate::packet::PacketId;
use crate::world::World;

/// A station that is off the network.
struct Absence {
    /// Number of its association.
    entry: u32,
    station: u32,
    since: Instant,
    /// Whether it knows.
    knows: bool,
    /// When it began to ask whether its association stands.
    asked: Option<Instant>,
    /// The access point is telling it that its frames are of a class that it must not send.
    telling: bool,
    /// Attempts to come back that failed.
    failed: u32,
    /// Packets that wait in its host.
    held: VecDeque<PacketId>,
}

/// All stations that were put off; empty where nobody was.
#[derive(Default)]
pub(super) struct Rejoins {
    absences: Vec<Absence>,
    /// By association: number of the negotiation that brings its station back.
    joins: HashMap<u32, u32>,
    /// By association: how often it ended, and how long its station was away.
    ended: BTreeMap<u32, (u32, Vec<Duration>)>,
    attempts: u64,
    /// Link for management frames to everybody, by access point, and when it sends one.
    pub(super) groups: Vec<(u32, u32, Duration)>,
}

/// wpa_supplicant waits so long before it looks for a network again, unless the reason says that
/// the old one will do (`supplicant_event_disassoc_finish` in events.c).
const PAUSE: Duration = Duration::from_millis(100);
/// The same after attempts that failed (`wpas_connection_failed` in wpa_supplicant.c).
const PAUSES: [Duration; 5] = [
    Duration::from_millis(100),
    Duration::from_millis(500),
    Duration::from_secs(1),
    Duration::from_secs(5),
    Duration::from_secs(10),
];
/// dot11AssociationSAQueryRetryTimeout and dot11AssociationSAQueryMaximumTimeout as hostap has
/// them, 201 and 1000 TU.
const QUERY_AGAIN: Duration = Duration::from_micros(201 * 1024);
const QUERY_LONGEST: Duration = Duration::from_micros(1000 * 1024);
/// SA Query Request (IEEE 802.11-2020, 9.6.9.2).
const QUERY_REQUEST: u8 = 0;
/// Reason codes (table 9-49).
const PREVIOUS_INVALID: u16 = 2;
const LEAVES: u16 = 3;
const INACTIVITY: u16 = 4;
const CLASS_2: u16 = 6;
const CLASS_3: u16 = 7;
/// Where a frame's receiver address stands.
const ADDRESS_1: core::ops::Range<usize> = 4..10;

impl Associations {
    /// Whether some station is off the network.
    #[inline]
    pub fn anybody_is_off(&self) -> bool {
        !self.rejoins.absences.is_empty()
    }

    /// Whether this station is.
    pub fn is_off(&self, station: u32) -> bool {
        self.rejoins.absences.iter().any(|a| a.station == station)
    }

    /// Whether it is and knows.
    fn knows_it_is_off(&self, station: u32) -> bool {
        let mut absences = self.rejoins.absences.iter();
        absences.any(|a| a.station == station && a.knows)
    }

    fn absence(&mut self, station: u32) -> Option<&mut Absence> {
        let mut absences = self.rejoins.absences.iter_mut();
        absences.find(|a| a.station == station)
    }

    /// Whether a frame between these nodes has to be dropped by its sender.
    pub fn parted(&self, from: u32, to: u32) -> bool {
        self.anybody_is_off() && (self.is_off(to) || self.knows_it_is_off(from))
    }

    /// Whether a packet's message is for all stations of its sender.
    pub fn is_for_everybody(&self, mark: u32) -> bool {
        self.signal(mark).is_some_and(|s| {
            s.message
                .octets
                .get(ADDRESS_1.start)
                .is_some_and(|o| o & 1 == 1)
        })
    }
}

impl World {
    /// The association of a station that is with this access point.
    fn entry_of(&self, access_point: u32, station: u32) -> Option<u32> {
        let own = |(number, j): (usize, &Join)| {
            j.purpose == Purpose::Entry
                && j.node(Party::AccessPoint) == access_point
                && j.node(Party::Station) == station
                && matches!(j.standing, Standing::Joined(_))
                && !self.mobility.has_left(number as u32)
        };
        let at = self.association.joins.iter().enumerate().position(own);
        at.map(|at| at as u32)
    }

    /// An access point ends an association that stood.
    pub(super) fn put_off(&mut self, access_point: u32, station: u32) {
        let Some(entry) = self.entry_of(access_point, station) else {
            return;
        };
        if self.association.is_off(station) {
            return;
        }
        let since = self.stack.lower.cx.events.now();
        let rejoins = &mut self.association.rejoins;
        rejoins.ended.entry(entry).or_default().0 += 1;
        rejoins.absences.push(Absence {
            entry,
            station,
            since,
            knows: false,
            asked: None,
            telling: false,
            failed: 0,
            held: VecDeque::new(),
        });
        self.flush(access_point, station);
    }

    /// The traffic begins: times of Deauthentication frames to everybody count from now.
    pub(super) fn schedule_deauthentications(&mut self) {
        let now = self.stack.lower.cx.events.now();
        for number in 0..self.association.rejoins.groups.len() as u32 {
            let (.., after) = self.association.rejoins.groups[number as usize];
            let event = AssociationEvent::Deauthenticate { number };
            self.stack
                .lower
                .cx
                .events
                .schedule(now + after, Event::Association(event));
        }
    }

    /// An access point ends all of its associations with one frame.
    pub(super) fn deauthenticate(&mut self, number: u32) {
        let (access_point, link, _) = self.association.rejoins.groups[number as usize];
        let stations: Vec<u32> = self
            .association
            .joins
            .iter()
            .filter(|j| j.node(Party::AccessPoint) == access_point)
            .map(|j| j.node(Party::Station))
            .filter(|s| self.entry_of(access_point, *s).is_some() && !self.association.is_off(*s))
            .collect();
        let Some(first) = stations.first() else {
            return;
        };
        let Some(entry) = self.entry_of(access_point, *first) else {
            return;
        };
        let state = &self.association.joins[entry as usize].negotiation;
        let protected = state.link().group_management().is_some();
        let mut message = leave(state.link(), Party::AccessPoint, LEAVES);
        if let Some(field) = message.octets.get_mut(ADDRESS_1) {
            field.fill(0xff);
        }
        self.send_alone(entry, message, Some(link), STRAY, protected);
        let mut off = stations;
        off.sort_unstable();
        off.dedup();
        for station in off {
            self.put_off(access_point, station);
        }
    }

    /// A management frame to everybody left the air: these heard it.
    pub(crate) fn everybody_told(&mut self, mark: u32, hearers: &[u32]) {
        let Some(signal) = self.association.signal(mark) else {
            return;
        };
        let (message, protected) = (signal.message.clone(), signal.protected);
        for station in hearers {
            self.note_leaving(*station, &message, protected);
        }
    }

    /// Stations of an access point that are off the network.
    pub(crate) fn off_at(&self, access_point: u32) -> Vec<u32> {
        let associations = &self.association;
        let here = |a: &&Absence| {
            associations.joins[a.entry as usize].node(Party::AccessPoint) == access_point
        };
        let absences = associations.rejoins.absences.iter();
        absences.filter(here).map(|a| a.station).collect()
    }

    /// A message reached a station that may be off the network: it may say so.
    pub(super) fn note_leaving(&mut self, station: u32, message: &Message, protected: bool) {
        let Some(number) = leaving_reason(message).filter(|_| message.to == Party::Station) else {
            return;
        };
        let now = self.stack.lower.cx.events.now();
        let Some(absence) = self.association.absence(station).filter(|a| !a.knows) else {
            return;
        };
        let entry = absence.entry;
        let link = self.association.link_of(entry);
        if link.group_management().is_some() && !protected {
            // Anybody may have sent it: the station asks its access point (11.13).
            if let Some(absence) = self.association.absence(station)
                && absence.asked.is_none()
            {
                absence.asked = Some(now);
                self.query(entry);
            }
            return;
        }
        let known = matches!(number, INACTIVITY | CLASS_2 | CLASS_3);
        let pause = if known { Duration::ZERO } else { PAUSE };
        self.learn_that_it_is_off(station, pause);
    }

    fn learn_that_it_is_off(&mut self, station: u32, pause: Duration) {
        let now = self.stack.lower.cx.events.now();
        let Some(absence) = self.association.absence(station) else {
            return;
        };
        absence.knows = true;
        let entry = absence.entry;
        let (_, access_point) = self.association.ends_of(entry);
        self.flush(station, access_point);
        let event = AssociationEvent::Rejoin { entry };
        self.stack
            .lower
            .cx
            .events
            .schedule(now + pause, Event::Association(event));
    }

    /// A station asks whether its association stands, or has waited long enough for an answer.
    pub(super) fn query(&mut self, entry: u32) {
        let now = self.stack.lower.cx.events.now();
        let (station, _) = self.association.ends_of(entry);
        let Some(absence) = self.association.absence(station).filter(|a| !a.knows) else {
            return;
        };
        let Some(asked) = absence.asked else { return };
        let link = self.association.link_of(entry);
        if now - asked >= QUERY_LONGEST {
            let message = leave(link, Party::Station, PREVIOUS_INVALID);
            self.send_alone(entry, message, None, STRAY, true);
            self.learn_that_it_is_off(station, PAUSE);
            return;
        }
        let transaction = ((now - asked).as_nanos() / QUERY_AGAIN.as_nanos()) as u8;
        let action = [QUERY_REQUEST, transaction, 0];
        let body = ManagementRepr::Action(category::SA_QUERY, &action);
        let message = Message {
            from: Party::Station,
            to: Party::AccessPoint,
            carrier: Carrier::Management,
            octets: link.management(Party::Station, subtype::ACTION, &body),
        };
        self.send_alone(entry, message, None, STRAY, true);
        let next = (now + QUERY_AGAIN).min(asked + QUERY_LONGEST);
        let event = AssociationEvent::Query { entry };
        self.stack
            .lower
            .cx
            .events
            .schedule(next, Event::Association(event));
    }

    /// An access point got data from a station that is not associated: it says so.
    pub(crate) fn refuse_class_3(&mut self, station: u32) {
        let Some(absence) = self.association.absence(station) else {
            return;
        };
        if absence.knows || std::mem::replace(&mut absence.telling, true) {
            return;
        }
        let entry = absence.entry;
        let message = leave(self.association.link_of(entry), Party::AccessPoint, CLASS_3);
        self.send_alone(entry, message, None, STRAY, false);
    }

    /// A frame that belongs to no stage of a negotiation arrived.
    pub(super) fn stray_arrived(&mut self, signal: &Signal) {
        let station = self.association.joins[signal.join as usize].node(Party::Station);
        self.association.told(signal);
        if signal.message.to == Party::AccessPoint {
            self.null_arrived(station, &signal.message);
        } else {
            self.note_leaving(station, &signal.message, signal.protected);
        }
    }

    /// A station begins to come back.
    pub(super) fn rejoin(&mut self, entry: u32) {
        let Some(streams) = self.association.renewals.streams else {
            return;
        };
        let associations = &mut self.association;
        let first = &associations.joins[entry as usize];
        let station = first.node(Party::Station);
        if !associations.knows_it_is_off(station) {
            return;
        }
        let attempt = associations.rejoins.attempts;
        associations.rejoins.attempts += 1;
        let name = format!("rejoin/{station}/{attempt}");
        let Ok(negotiation) = first
            .negotiation
            .again(streams.named(&name).into_generator())
        else {
            return;
        };
        let joins = &mut associations.joins;
        let join = match associations.rejoins.joins.get(&entry) {
            Some(&own) => {
                let state = &mut joins[own as usize];
                state.negotiation = negotiation;
                state.stage += 1;
                state.advancing = false;
                state.recorded = false;
                state.key_frames = 0;
                own
            }
            None => {
                let mut state = Join::renewal(&joins[entry as usize], negotiation);
                state.purpose = Purpose::Return;
                state.recorded = false;
                joins.push(state);
                let own = joins.len() as u32 - 1;
                associations.rejoins.joins.insert(entry, own);
                own
            }
        };
        self.association_due(AssociationEvent::Start { join });
    }

    /// A station is back, or failed to come back.
    pub(super) fn returned(&mut self, join: u32) {
        let now = self.stack.lower.cx.events.now();
        let associations = &mut self.association;
        let state = &associations.joins[join as usize];
        let station = state.node(Party::Station);
        let back = matches!(state.standing, Standing::Joined(_));
        let Some(at) = associations
            .rejoins
            .absences
            .iter()
            .position(|a| a.station == station)
        else {
            return;
        };
        if !back {
            let absence = &mut associations.rejoins.absences[at];
            let pause = PAUSES[(absence.failed as usize).min(PAUSES.len() - 1)];
            absence.failed += 1;
            let event = AssociationEvent::Rejoin {
                entry: absence.entry,
            };
            self.stack
                .lower
                .cx
                .events
                .schedule(now + pause, Event::Association(event));
            return;
        }
        let absence = associations.rejoins.absences.remove(at);
        let gap = now - absence.since;
        let ended = associations.rejoins.ended.entry(absence.entry);
        ended.or_default().1.push(gap);
        associations.take_over(absence.entry, join);
        for packet in absence.held {
            let host = self.mobility.host(station);
            self.send_packet(host, packet);
        }
        self.catch_up(absence.entry);
    }

    /// A station that is off the network leaves for another access point.
    pub(crate) fn forget_return(&mut self, station: u32) {
        let associations = &mut self.association;
        let own = |a: &Absence| a.station == station;
        let Some(at) = associations.rejoins.absences.iter().position(own) else {
            return;
        };
        let absence = associations.rejoins.absences.remove(at);
        if let Some(&join) = associations.rejoins.joins.get(&absence.entry) {
            let state = &mut associations.joins[join as usize];
            state.standing = Standing::Waiting;
            state.stage += 1;
        }
        for packet in absence.held {
            let host = self.mobility.host(station);
            self.send_packet(host, packet);
        }
    }

    /// Keeps the packet of a station that knows that it is off the network; gives whether it did.
    pub(crate) fn keep_until_back(&mut self, station: u32, packet: PacketId) -> bool {
        let limit = self.stack.lower.mac.nodes[station as usize].queue_limit as usize;
        let Some(absence) = self.association.absence(station).filter(|a| a.knows) else {
            return false;
        };
        if absence.held.len() < limit {
            absence.held.push_back(packet);
        } else {
            self.lose(packet);
        }
        true
    }

    /// Rows of every station that was put off, and of the whole cell.
    pub(crate) fn rejoin_rows(&self) -> (Vec<(String, Vec<AssociationRow>)>, Vec<AssociationRow>) {
        let rejoins = &self.association.rejoins;
        let rows = |ended: u32, gaps: &[f64]| {
            let mut rows: Vec<AssociationRow> = vec![
                ("associations_lost", f64::from(ended), "1"),
                ("rejoins", gaps.len() as f64, "1"),
            ];
            if let Some(longest) = gaps.iter().copied().reduce(f64::max) {
                let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
                rows.push(("rejoin_gap_s", mean, "s"));
                rows.push(("rejoin_gap_longest_s", longest, "s"));
            }
            rows
        };
        let seconds = |gaps: &[Duration]| gaps.iter().map(|g| g.as_secs_f64()).collect::<Vec<_>>();
        let mut all = (0, Vec::new());
        // A station that moves has several associations.
        let mut hosts: BTreeMap<u32, (u32, Vec<f64>)> = BTreeMap::new();
        for (entry, (ended, gaps)) in &rejoins.ended {
            let station = self.association.joins[*entry as usize].node(Party::Station);
            let own = hosts.entry(self.mobility.host(station)).or_default();
            let gaps = seconds(gaps);
            all.0 += ended;
            all.1.extend(&gaps);
            own.0 += ended;
            own.1.extend(&gaps);
        }
        let of_host = |(host, (ended, gaps)): (u32, (u32, Vec<f64>))| {
            let name = self.stack.net.nodes[host as usize].name.clone();
            (name, rows(ended, &gaps))
        };
        let stations: Vec<_> = hosts.into_iter().map(of_host).collect();
        if stations.is_empty() {
            return (stations, Vec::new());
        }
        let mut cell = rows(all.0, &all.1);
        let of = |join: &u32| self.association.joins[*join as usize].messages();
        let messages: u32 = rejoins.joins.values().map(of).sum();
        cell.push(("rejoin_messages", f64::from(messages), "1"));
        (stations, cell)
    }
}

impl Associations {
    /// The access point told a station that it is off the network, or could not.
    pub(super) fn told(&mut self, signal: &Signal) {
        if signal.stage == STRAY && signal.message.from == Party::AccessPoint {
            let station = self.joins[signal.join as usize].node(Party::Station);
            if let Some(absence) = self.absence(station) {
                absence.telling = false;
            }
        }
    }

    /// What a station and its access point agreed on when it came back holds from now on.
    fn take_over(&mut self, entry: u32, join: u32) {
        let (entry, own) = (entry as usize, join as usize);
        let (low, high) = self.joins.split_at_mut(own.max(entry));
        let (first, back) = if entry < own {
            (&mut low[entry], &mut high[0])
        } else {
            (&mut high[0], &mut low[own])
        };
        std::mem::swap(&mut first.negotiation, &mut back.negotiation);
        first.agreed = back.agreed.clone();
        first.group_round = back.group_round;
        first.key_frames = std::mem::take(&mut back.key_frames);
        if let Some(renewal) = self.renewals.join_of(entry as u32) {
            self.joins[renewal as usize].key_frames = 0;
        }
    }
}

/// A Deauthentication frame.
fn leave(link: &Link, from: Party, number: u16) -> Message {
    Message {
        from,
        to: if from == Party::Station {
            Party::AccessPoint
        } else {
            Party::Station
        },
        carrier: Carrier::Management,
        octets: link.management(
            from,
            subtype::DEAUTHENTICATION,
            &ManagementRepr::Leave(number),
        ),
    }
}

#[cfg(test)]
mod tests;
