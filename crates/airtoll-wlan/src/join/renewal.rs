//! Renewal of group keys during the traffic: the access point hands new ones to every joined station
//! by a group key handshake (IEEE 802.11-2020, 12.7.7) under the station's pairwise keys.
//!
//! Each station and round is a session of its own beside the station's association. Lost messages
//! are repeated. A station that never answers is deauthenticated, as hostapd does it, and comes back
//! by `rejoin`. Pairwise keys stay.

use std::collections::HashMap;

use airtoll_handshakes::{GroupKeys, GroupRenewal, Operation};
use airtoll_units::{Duration, Instant};

use super::group_keys::Suites;
use super::{Action, Join, JoinRow, Outbox, Purpose, Session, Then, group_keys};
use crate::event::JoinEvent;
use crate::id::{NodeId, RenewalId, SessionId, Table};

/// Renewals of all access points; empty where keys stay.
#[derive(Default)]
pub(super) struct Renewals {
    access_points: Table<RenewalId, Renewal>,
}

impl Renewals {
    pub(super) fn new(access_points: Vec<Renewal>) -> Self {
        let access_points = access_points.into_iter().collect();
        Self { access_points }
    }

    /// Rounds of an access point that began.
    pub(super) fn rounds(&self, access_point: NodeId) -> u32 {
        let mut own = self.access_points.iter();
        own.find(|r| r.access_point == access_point)
            .map_or(0, |r| r.rounds)
    }

    /// Whether any round began.
    pub(super) fn any_round(&self) -> bool {
        self.access_points.iter().any(|r| r.rounds > 0)
    }

    /// The renewal session of an association.
    pub(super) fn session_of(&self, entry: SessionId) -> Option<SessionId> {
        let mut sessions = self
            .access_points
            .iter()
            .filter_map(|r| r.sessions.get(&entry));
        sessions.next().copied()
    }
}

/// Renewals of one access point.
pub(crate) struct Renewal {
    access_point: NodeId,
    period: Option<Duration>,
    /// A station that leaves makes a round due.
    on_leave: bool,
    /// Rounds that began.
    rounds: u32,
    began: Instant,
    /// Stations of the present round that do not have the keys yet.
    waiting: u32,
    /// Whether a station of the present round did not get them.
    broken: bool,
    /// Lengths of the rounds that reached all of their stations.
    times: Vec<Duration>,
    /// The renewal session of each association.
    sessions: HashMap<SessionId, SessionId>,
}

impl Renewal {
    /// The renewals of an access point: every `period`, and after a station has left with
    /// `on_leave`.
    pub fn new(access_point: NodeId, period: Option<Duration>, on_leave: bool) -> Self {
        Self {
            access_point,
            period,
            on_leave,
            rounds: 0,
            began: Instant::ZERO,
            waiting: 0,
            broken: false,
            times: Vec::new(),
            sessions: HashMap::new(),
        }
    }
}

/// Wait of hostapd after a station left, with wpa_strict_rekey (`wpa_auth_sta_deinit` in
/// src/ap/wpa_auth.c).
const AFTER_LEAVING: Duration = Duration::from_millis(500);

impl Join {
    pub(super) fn schedule_renewals(&self, now: Instant, out: &mut Outbox) {
        for renewal in self.renewals.access_points.ids() {
            self.schedule_renewal(now, renewal, out);
        }
    }

    fn schedule_renewal(&self, now: Instant, renewal: RenewalId, out: &mut Outbox) {
        let period = self.renewals.access_points[renewal].period;
        let Some(at) = period.map(|period| now + period) else {
            return;
        };
        if at >= self.ends {
            return;
        }
        out.push(Action::Schedule {
            at,
            event: JoinEvent::Renew {
                renewal,
                again: true,
            },
        });
    }

    /// A station has left this access point for another one.
    pub fn renew_after_leaving(&self, now: Instant, access_point: NodeId, out: &mut Outbox) {
        for (number, renewal) in self.renewals.access_points.pairs() {
            if renewal.on_leave && renewal.access_point == access_point {
                out.push(Action::Schedule {
                    at: now + AFTER_LEAVING,
                    event: JoinEvent::Renew {
                        renewal: number,
                        again: false,
                    },
                });
            }
        }
    }

    /// An access point draws new group keys and begins a handshake with each of its stations.
    pub(super) fn renew(&mut self, now: Instant, number: RenewalId, again: bool, out: &mut Outbox) {
        if again {
            self.schedule_renewal(now, number, out);
        }
        let Some(streams) = self.streams else {
            return;
        };
        let renewal = &mut self.renewals.access_points[number];
        renewal.rounds += 1;
        renewal.began = now;
        renewal.waiting = 0;
        renewal.broken = false;
        let (access_point, round) = (renewal.access_point, renewal.rounds);
        let stations: Vec<SessionId> = self
            .sessions
            .ids()
            .filter(|id| self.is_in(*id, access_point))
            .collect();
        // One key per group cipher: stations of a mixed cell may have agreed on different ones.
        let mut keys: HashMap<(Suites, Vec<u8>), Vec<GroupKeys>> = HashMap::new();
        for id in stations {
            let link = self.link_of(id);
            let suites = Suites::of(link, self.own_key(id));
            let links = self.sessions[id].link_ids();
            let given = keys.entry((suites, links.clone())).or_insert_with(|| {
                let of_link = |id| group_keys::draw(&streams, access_point, round, id, suites);
                let keys: Vec<GroupKeys> = links.into_iter().map(of_link).collect();
                let octets = |keys: &GroupKeys| keys.gtk.len() + keys.igtk.len() + keys.bigtk.len();
                let octets = keys.iter().map(octets).sum::<usize>() as u64;
                out.push(Action::WorkOnCpu {
                    node: access_point,
                    operations: vec![Operation::Random { octets }],
                    octets: None,
                    then: Then::Nothing,
                });
                keys
            });
            let given = given.clone();
            self.renew_with(now, number, id, given, out);
        }
        if self.renewals.access_points[number].waiting == 0 {
            out.push(Action::GroupKeysRenewed { access_point });
        }
    }

    /// A station has joined: it gets the keys of the present round if it was handed older ones.
    pub(super) fn catch_up(&mut self, now: Instant, id: SessionId, out: &mut Outbox) {
        let session = &self.sessions[id];
        let access_point = session.access_point();
        let handed = session.group_round;
        let all = &self.renewals.access_points;
        let own = |r: &Renewal| r.access_point == access_point && r.rounds > handed;
        let Some(number) = all.find(own) else {
            return;
        };
        let round = all[number].rounds;
        if self.is_in(id, access_point)
            && let Some(keys) = self.keys_for(id, round)
        {
            self.renew_with(now, number, id, keys, out);
        }
    }

    /// Whether a session gave a station pairwise keys and the station is still with its access
    /// point.
    fn is_in(&self, id: SessionId, access_point: NodeId) -> bool {
        let session = &self.sessions[id];
        session.purpose == Purpose::Entry
            && session.access_point() == access_point
            && session.is_joined()
            && session.negotiation.link().akm.is_some()
            && !session.left
            && !self.is_off(session.station())
    }

    fn renew_with(
        &mut self,
        now: Instant,
        number: RenewalId,
        before: SessionId,
        keys: Vec<GroupKeys>,
        out: &mut Outbox,
    ) {
        let Some(streams) = self.streams else {
            return;
        };
        let renewal = &self.renewals.access_points[number];
        let own = renewal.sessions.get(&before).copied();
        let round = renewal.rounds;
        let earlier = own.map_or(0, |own| self.sessions[own].key_frames);
        let first = &self.sessions[before];
        let radio = first.nodes.radio();
        let made = first.negotiation.group_renewal(
            GroupRenewal {
                keys,
                replay_counter: first.key_frames + earlier,
            },
            streams
                .named(&format!("group-key-handshake/{radio}/{round}"))
                .into_generator(),
        );
        let Ok(negotiation) = made else {
            return;
        };
        let id = match own {
            Some(own) => {
                self.sessions[own].again(negotiation);
                own
            }
            None => {
                let session = Session::beside(first, negotiation, Purpose::Renewal);
                self.add(session)
            }
        };
        let renewal = &mut self.renewals.access_points[number];
        renewal.sessions.insert(before, id);
        renewal.waiting += 1;
        self.start(now, id, out);
    }

    /// A station has the new keys, or its access point gave up.
    pub(super) fn renewed(&mut self, now: Instant, id: SessionId, out: &mut Outbox) {
        let session = &self.sessions[id];
        let access_point = session.access_point();
        let has_keys = session.is_joined();
        let station = session.station();
        if !has_keys {
            self.put_off(now, access_point, station, out);
        }
        let mut renewals = self.renewals.access_points.iter_mut();
        let Some(renewal) = renewals.find(|r| r.access_point == access_point) else {
            return;
        };
        renewal.waiting -= 1;
        renewal.broken |= !has_keys;
        if renewal.waiting == 0 {
            if !renewal.broken {
                renewal.times.push(now - renewal.began);
            }
            out.push(Action::GroupKeysRenewed { access_point });
        }
    }

    /// Rows of the whole cell: rounds of new group keys, messages and the mean time of a round.
    pub fn renewal_rows(&self) -> Vec<JoinRow> {
        let renewals = &self.renewals.access_points;
        let rounds: u32 = renewals.iter().map(|r| r.rounds).sum();
        if rounds == 0 {
            return Vec::new();
        }
        let messages: u32 = renewals
            .iter()
            .flat_map(|r| r.sessions.values())
            .map(|id| self.messages_of(*id))
            .sum();
        let mut rows: Vec<JoinRow> = vec![
            ("group_rekeys", f64::from(rounds), "1"),
            ("group_rekey_messages", f64::from(messages), "1"),
        ];
        let times: Vec<f64> = renewals
            .iter()
            .flat_map(|r| &r.times)
            .map(|t| t.as_secs_f64())
            .collect();
        if let Some(longest) = times.iter().copied().reduce(f64::max) {
            let mean = times.iter().sum::<f64>() / times.len() as f64;
            rows.push(("group_rekey_time_s", mean, "s"));
            rows.push(("group_rekey_longest_s", longest, "s"));
        }
        rows
    }
}

#[cfg(test)]
mod tests;
