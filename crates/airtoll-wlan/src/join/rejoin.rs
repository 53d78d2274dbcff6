//! Stations whose association an access point ends during the traffic, and their return.
//!
//! An association ends after a group key handshake without an answer, or with a Deauthentication
//! frame to all stations. The station learns of that (IEEE 802.11-2020, 11.3.4 and 11.3.5, class 3
//! frames; 11.13, SA Query) and negotiates again, from its PMKSA where it has one. Until then its
//! own packets wait in its host, and packets for it are lost at the access point. It does not scan.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};

use airtoll_handshakes::link::agreed::{Link, leaving_reason};
use airtoll_handshakes::{Carrier, Failure, Message, Party};
use airtoll_units::{Duration, Instant};
use airtoll_wire::ieee80211::ManagementRepr;
use airtoll_wire::ieee80211::frame::management_subtype as subtype;
use airtoll_wire::ieee80211::management::category;

use super::session::Standing;
use super::timers::PAUSES;
use super::{Action, Join, JoinRow, Outbox, Part, Purpose, Session, Signal};
use crate::event::JoinEvent;
use crate::id::{DeauthenticationId, LinkId, NodeId, PacketId, SessionId, SignalId, Table};
use crate::packet::Loss;

/// A station that is off the network.
struct Absence {
    /// Its association.
    entry: SessionId,
    station: NodeId,
    access_point: NodeId,
    since: Instant,
    /// The station knows.
    knows: bool,
    /// Time of its first SA Query.
    asked: Option<Instant>,
    /// The access point is sending it a Deauthentication frame because of its class 3 frames.
    telling: bool,
    /// Failed attempts to come back.
    failed: u32,
    /// Packets that wait in its host.
    held: VecDeque<PacketId>,
}

/// A Deauthentication frame to all stations of an access point.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Deauthentication {
    pub access_point: NodeId,
    /// The link of its group-addressed management frames.
    pub link: LinkId,
    /// Time after the start of the traffic.
    pub after: Duration,
    /// The access point restarts instead: it sends nothing, and has lost its PMKSAs, too.
    pub silent: bool,
}

/// All stations that are off the network.
#[derive(Default)]
pub(super) struct Rejoins {
    absences: Vec<Absence>,
    /// By association: the session that brings its station back.
    sessions: HashMap<SessionId, SessionId>,
    /// By association: how often it ended, and lengths of the absences.
    ended: BTreeMap<SessionId, (u32, Vec<Duration>)>,
    /// Associations whose station has a PMKSA that its access point lost.
    stale: BTreeSet<SessionId>,
    attempts: u64,
    deauthentications: Table<DeauthenticationId, Deauthentication>,
}

impl Rejoins {
    pub(super) fn new(deauthentications: Vec<Deauthentication>) -> Self {
        Self {
            deauthentications: deauthentications.into_iter().collect(),
            ..Self::default()
        }
    }
}

/// Pause of wpa_supplicant before it looks for a network again, unless the reason code allows the
/// old one (`supplicant_event_disassoc_finish` in events.c).
const PAUSE: Duration = Duration::from_millis(100);
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
/// Octets of a frame's receiver address.
const ADDRESS_1: core::ops::Range<usize> = 4..10;

impl Join {
    /// Whether any station is off the network.
    pub(super) fn anybody_is_off(&self) -> bool {
        !self.rejoins.absences.is_empty()
    }

    /// Whether an access point has ended the association of this station.
    pub fn is_off(&self, station: NodeId) -> bool {
        self.rejoins.absences.iter().any(|a| a.station == station)
    }

    /// Whether this station knows that it is off the network.
    fn knows_it_is_off(&self, station: NodeId) -> bool {
        let mut absences = self.rejoins.absences.iter();
        absences.any(|a| a.station == station && a.knows)
    }

    fn absence(&mut self, station: NodeId) -> Option<&mut Absence> {
        let mut absences = self.rejoins.absences.iter_mut();
        absences.find(|a| a.station == station)
    }

    /// The association of a station that is with this access point.
    fn entry_of(&self, access_point: NodeId, station: NodeId) -> Option<SessionId> {
        let own = |s: &Session| {
            s.purpose == Purpose::Entry
                && s.access_point() == access_point
                && s.station() == station
                && s.is_joined()
                && !s.left
        };
        self.sessions.find(own)
    }

    /// An access point ends an association.
    pub(super) fn put_off(
        &mut self,
        now: Instant,
        access_point: NodeId,
        station: NodeId,
        out: &mut Outbox,
    ) {
        let Some(entry) = self.entry_of(access_point, station) else {
            return;
        };
        if self.is_off(station) {
            return;
        }
        self.rejoins.ended.entry(entry).or_default().0 += 1;
        self.rejoins.absences.push(Absence {
            entry,
            station,
            access_point,
            since: now,
            knows: false,
            asked: None,
            telling: false,
            failed: 0,
            held: VecDeque::new(),
        });
        out.push(Action::SetOff {
            station,
            access_point,
            off: true,
        });
        out.push(Action::Flush {
            from: access_point,
            to: station,
        });
    }

    pub(super) fn schedule_deauthentications(&self, now: Instant, out: &mut Outbox) {
        for (number, planned) in self.rejoins.deauthentications.pairs() {
            out.push(Action::Schedule {
                at: now + planned.after,
                event: JoinEvent::Deauthenticate { number },
            });
        }
    }

    /// An access point ends all of its associations with one frame, or loses them in a restart.
    pub(super) fn deauthenticate(
        &mut self,
        now: Instant,
        number: DeauthenticationId,
        out: &mut Outbox,
    ) {
        let Deauthentication {
            access_point,
            link,
            silent,
            ..
        } = self.rejoins.deauthentications[number];
        if silent {
            self.forget_flood(access_point);
        }
        let mut stations: Vec<NodeId> = self
            .sessions
            .iter()
            .filter(|s| s.access_point() == access_point)
            .map(|s| s.station())
            .filter(|s| self.entry_of(access_point, *s).is_some() && !self.is_off(*s))
            .collect();
        let Some(entry) = stations
            .first()
            .and_then(|first| self.entry_of(access_point, *first))
        else {
            return;
        };
        if !silent {
            let negotiated = self.link_of(entry);
            let protected = negotiated.group_management().is_some();
            let mut message = leave(negotiated, Party::AccessPoint, LEAVES);
            if let Some(field) = message.octets.get_mut(ADDRESS_1) {
                field.fill(0xff);
            }
            let about = (Part::Association, protected);
            self.send_alone(entry, message, Some(link), about, out);
        }
        stations.sort_unstable();
        stations.dedup();
        for station in stations {
            if silent {
                let entry = self.entry_of(access_point, station);
                self.rejoins.stale.extend(entry);
            }
            self.put_off(now, access_point, station, out);
        }
    }

    /// A management frame to all stations left the air; `hearers` received it.
    pub fn group_frame_arrived(
        &mut self,
        now: Instant,
        signal: SignalId,
        hearers: &[NodeId],
        out: &mut Outbox,
    ) {
        let Some(signal) = self.signal(signal) else {
            return;
        };
        let (message, protected) = (signal.message.clone(), signal.protected);
        for station in hearers {
            self.note_leaving(now, *station, &message, protected, out);
        }
    }

    /// Stations of an access point that are off the network.
    pub fn off_at(&self, access_point: NodeId) -> Vec<NodeId> {
        let absences = self.rejoins.absences.iter();
        absences
            .filter(|a| a.access_point == access_point)
            .map(|a| a.station)
            .collect()
    }

    /// A message reached a station whose association may have ended: the message may show that.
    pub(super) fn note_leaving(
        &mut self,
        now: Instant,
        station: NodeId,
        message: &Message,
        protected: bool,
        out: &mut Outbox,
    ) {
        let Some(number) = leaving_reason(message).filter(|_| message.to == Party::Station) else {
            return;
        };
        let Some(absence) = self.absence(station).filter(|a| !a.knows) else {
            return;
        };
        let entry = absence.entry;
        if self.link_of(entry).group_management().is_some() && !protected {
            // The frame may be forged: the station asks its access point (11.13).
            if let Some(absence) = self.absence(station)
                && absence.asked.is_none()
            {
                absence.asked = Some(now);
                self.query(now, entry, out);
            }
            return;
        }
        let known = matches!(number, INACTIVITY | CLASS_2 | CLASS_3);
        let pause = if known { Duration::ZERO } else { PAUSE };
        self.learn_that_it_is_off(now, station, pause, out);
    }

    fn learn_that_it_is_off(
        &mut self,
        now: Instant,
        station: NodeId,
        pause: Duration,
        out: &mut Outbox,
    ) {
        let Some(absence) = self.absence(station) else {
            return;
        };
        absence.knows = true;
        let (entry, access_point) = (absence.entry, absence.access_point);
        out.push(Action::SetKnowsOff {
            station,
            access_point,
            knows: true,
        });
        out.push(Action::Flush {
            from: station,
            to: access_point,
        });
        out.push(Action::Schedule {
            at: now + pause,
            event: JoinEvent::Rejoin { entry },
        });
    }

    /// A station sends an SA Query, or has waited long enough for an answer.
    pub(super) fn query(&mut self, now: Instant, entry: SessionId, out: &mut Outbox) {
        let station = self.ends_of(entry).station;
        let Some(absence) = self.absence(station).filter(|a| !a.knows) else {
            return;
        };
        let Some(asked) = absence.asked else { return };
        let link = self.link_of(entry);
        let about = (Part::Association, true);
        if now - asked >= QUERY_LONGEST {
            let message = leave(link, Party::Station, PREVIOUS_INVALID);
            self.send_alone(entry, message, None, about, out);
            self.learn_that_it_is_off(now, station, PAUSE, out);
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
        self.send_alone(entry, message, None, about, out);
        out.push(Action::Schedule {
            at: (now + QUERY_AGAIN).min(asked + QUERY_LONGEST),
            event: JoinEvent::Query { entry },
        });
    }

    /// An access point received data of a station that is not associated: it answers with a
    /// Deauthentication frame.
    pub fn refuse_class_3(&mut self, station: NodeId, out: &mut Outbox) {
        let Some(absence) = self.absence(station) else {
            return;
        };
        if absence.knows || std::mem::replace(&mut absence.telling, true) {
            return;
        }
        let entry = absence.entry;
        let message = leave(self.link_of(entry), Party::AccessPoint, CLASS_3);
        let about = (Part::Association, false);
        self.send_alone(entry, message, None, about, out);
    }

    /// A frame about an association as a whole arrived.
    pub(super) fn association_frame_arrived(
        &mut self,
        now: Instant,
        signal: Signal,
        out: &mut Outbox,
    ) {
        let station = self.sessions[signal.session].station();
        self.told(&signal);
        let Signal {
            message, protected, ..
        } = signal;
        if message.to == Party::AccessPoint {
            out.push(Action::StationFrameArrived { station, message });
        } else {
            self.note_leaving(now, station, &message, protected, out);
        }
    }

    /// A station begins to come back.
    pub(super) fn rejoin(&mut self, now: Instant, entry: SessionId, out: &mut Outbox) {
        let Some(streams) = self.streams else {
            return;
        };
        let first = &self.sessions[entry];
        let station = first.station();
        if !self.knows_it_is_off(station) {
            return;
        }
        let attempt = self.rejoins.attempts;
        self.rejoins.attempts += 1;
        let name = format!("rejoin/{}/{attempt}", first.nodes.radio());
        let draws = streams.named(&name).into_generator();
        let again = if self.rejoins.stale.contains(&entry) {
            first.negotiation.after_restart(draws)
        } else {
            first.negotiation.again(draws)
        };
        let Ok(negotiation) = again else {
            return;
        };
        let id = match self.rejoins.sessions.get(&entry) {
            Some(&own) => {
                let session = &mut self.sessions[own];
                session.again(negotiation);
                session.recorded = false;
                session.key_frames = 0;
                own
            }
            None => {
                let session = Session::beside(first, negotiation, Purpose::Return);
                let own = self.add(session);
                self.rejoins.sessions.insert(entry, own);
                own
            }
        };
        self.start(now, id, out);
    }

    /// A station is back, or failed to come back.
    pub(super) fn returned(&mut self, now: Instant, id: SessionId, out: &mut Outbox) {
        let session = &self.sessions[id];
        let (station, back) = (session.station(), session.is_joined());
        let mut absences = self.rejoins.absences.iter();
        let Some(at) = absences.position(|a| a.station == station) else {
            return;
        };
        let refused = matches!(
            session.standing,
            Standing::Failed(_, Failure::UnknownPmksa { .. })
        );
        if refused {
            // The station drops the PMKSA and goes on at once (`sme_event_assoc_reject` in sme.c).
            let entry = self.rejoins.absences[at].entry;
            self.sessions[entry].negotiation.drop_pmk();
            self.rejoins.stale.remove(&entry);
            let event = JoinEvent::Rejoin { entry };
            out.push(Action::Schedule { at: now, event });
            return;
        }
        if !back {
            let absence = &mut self.rejoins.absences[at];
            let pause = PAUSES[(absence.failed as usize).min(PAUSES.len() - 1)];
            absence.failed += 1;
            let entry = absence.entry;
            out.push(Action::Schedule {
                at: now + pause,
                event: JoinEvent::Rejoin { entry },
            });
            return;
        }
        let absence = self.rejoins.absences.remove(at);
        let entry = absence.entry;
        self.rejoins.stale.remove(&entry);
        let gap = now - absence.since;
        self.rejoins.ended.entry(entry).or_default().1.push(gap);
        self.take_over(entry, id);
        self.end_absence(absence, out);
        self.catch_up(now, entry, out);
    }

    /// A station that is off the network leaves for another access point.
    pub fn forget_return(&mut self, station: NodeId, out: &mut Outbox) {
        let mut absences = self.rejoins.absences.iter();
        let Some(at) = absences.position(|a| a.station == station) else {
            return;
        };
        let absence = self.rejoins.absences.remove(at);
        if let Some(&id) = self.rejoins.sessions.get(&absence.entry) {
            let session = &mut self.sessions[id];
            session.standing = Standing::Waiting;
            session.stage += 1;
        }
        self.end_absence(absence, out);
    }

    /// The station is no longer off the network, and its packets go out.
    fn end_absence(&self, absence: Absence, out: &mut Outbox) {
        let (station, access_point) = (absence.station, absence.access_point);
        out.push(Action::SetOff {
            station,
            access_point,
            off: false,
        });
        out.push(Action::SetKnowsOff {
            station,
            access_point,
            knows: false,
        });
        let host = self.sessions[absence.entry].station();
        for packet in absence.held {
            out.push(Action::SendKept { host, packet });
        }
    }

    /// Keeps a packet of a station that knows that it is off the network, up to `limit` packets.
    pub fn keep(&mut self, station: NodeId, packet: PacketId, limit: usize, out: &mut Outbox) {
        match self.absence(station) {
            Some(absence) if absence.held.len() < limit => absence.held.push_back(packet),
            _ => out.push(Action::Lose {
                packet,
                cause: Loss::Away,
            }),
        }
    }

    /// Rows of every station that was deauthenticated, by host, and rows of the whole cell.
    pub fn rejoin_rows(&self) -> (Vec<(NodeId, Vec<JoinRow>)>, Vec<JoinRow>) {
        let rows = |ended: u32, gaps: &[f64]| {
            let mut rows: Vec<JoinRow> = vec![
                ("associations_lost", f64::from(ended), "1"),
                ("rejoins", gaps.len() as f64, "1"),
            ];
            rows.push(("outage_s", gaps.iter().sum(), "s"));
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
        let mut hosts: BTreeMap<NodeId, (u32, Vec<f64>)> = BTreeMap::new();
        for (entry, (ended, gaps)) in &self.rejoins.ended {
            let own = hosts.entry(self.sessions[*entry].station()).or_default();
            let gaps = seconds(gaps);
            all.0 += ended;
            all.1.extend(&gaps);
            own.0 += ended;
            own.1.extend(&gaps);
        }
        let of_host = |(host, (ended, gaps)): (NodeId, (u32, Vec<f64>))| (host, rows(ended, &gaps));
        let stations: Vec<_> = hosts.into_iter().map(of_host).collect();
        if stations.is_empty() {
            // A renewal ends the associations of stations that do not answer: here it ended none.
            let none = vec![
                ("associations_lost", 0.0, "1"),
                ("rejoins", 0.0, "1"),
                ("outage_s", 0.0, "s"),
            ];
            let renews = self.renewals.any_round();
            return (stations, if renews { none } else { Vec::new() });
        }
        let mut cell = rows(all.0, &all.1);
        let of = |id: &SessionId| self.messages_of(*id);
        let messages: u32 = self.rejoins.sessions.values().map(of).sum();
        cell.push(("rejoin_messages", f64::from(messages), "1"));
        (stations, cell)
    }

    /// The Deauthentication frame of an access point to a station arrived, or was lost.
    pub(super) fn told(&mut self, signal: &Signal) {
        if signal.part == Part::Association && signal.message.from == Party::AccessPoint {
            let station = self.sessions[signal.session].station();
            if let Some(absence) = self.absence(station) {
                absence.telling = false;
            }
        }
    }

    /// The association goes on with the negotiation that brought its station back.
    fn take_over(&mut self, entry: SessionId, back: SessionId) {
        // The session of the return was added later.
        let [first, back] = self.sessions.two_mut(entry, back);
        std::mem::swap(&mut first.negotiation, &mut back.negotiation);
        first.agreed = back.agreed.clone();
        first.group_round = back.group_round;
        first.key_frames = std::mem::take(&mut back.key_frames);
        if let Some(renewal) = self.renewals.session_of(entry) {
            self.sessions[renewal].key_frames = 0;
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
