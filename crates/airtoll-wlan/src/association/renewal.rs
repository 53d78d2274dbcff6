//! Renewal of group keys during the traffic: the access point hands new ones to every station that
//! is in, by a group key handshake (IEEE 802.11-2020, 12.7.7) under the station's pairwise keys.
//!
//! Takes periods of BSSs and associations that stand; gives a negotiation per station and round,
//! and in the end how long the rounds took. A lost message is repeated, and a station that never
//! answers put off the network, as hostapd does it; it comes back by `rejoin`. Never renews pairwise keys.

use std::collections::HashMap;

use airtoll_engine::Streams;
use airtoll_handshakes::{GroupKeys, GroupRenewal, Operation, Party};
use airtoll_security::CipherSuite;
use airtoll_units::{Duration, Instant};

use super::{AssociationEvent, AssociationRow, Join, Purpose, Standing, Timeline, group_keys};
use crate::event::Event;
use crate::scenario::{Role, Scenario};
use crate::world::World;

/// Renewals of all access points; empty where keys stay.
#[derive(Default)]
pub(super) struct Renewals {
    access_points: Vec<Renewal>,
    pub(super) streams: Option<Streams>,
}

impl Renewals {
    /// Rounds of an access point that began.
    pub(super) fn rounds(&self, access_point: u32) -> u32 {
        let mut own = self.access_points.iter();
        own.find(|r| r.access_point == access_point)
            .map_or(0, |r| r.rounds)
    }

    /// Number of the renewals' negotiation of an association.
    pub(super) fn join_of(&self, entry: u32) -> Option<u32> {
        let mut joins = self
            .access_points
            .iter()
            .filter_map(|r| r.joins.get(&entry));
        joins.next().copied()
    }
}

/// Renewals of one access point.
struct Renewal {
    access_point: u32,
    period: Option<Duration>,
    /// Whether a station that leaves makes a round due.
    on_leave: bool,
    /// Rounds that began.
    rounds: u32,
    began: Instant,
    /// Stations of the present round that do not have the keys yet.
    waiting: u32,
    /// Whether some station of it did not get them.
    broken: bool,
    /// How long each round took that every station of it lived to see.
    times: Vec<Duration>,
    /// Number of the renewal's negotiation by that of the association.
    joins: HashMap<u32, u32>,
}

/// The renewals of a scenario.
pub(super) fn prepare(
    scenario: &Scenario,
    index: &HashMap<&str, u32>,
    streams: &Streams,
) -> Renewals {
    let of = |bss: &crate::scenario::Bss| {
        let period = bss.group_rekey_s.map(Duration::from_secs_f64);
        if period.is_none() && !bss.group_rekey_on_leave {
            return None;
        }
        let access_point = scenario
            .nodes
            .iter()
            .find(|n| n.role == Role::AccessPoint && n.bss.as_deref() == Some(&bss.name))?;
        Some(Renewal {
            access_point: index[access_point.name.as_str()],
            period,
            on_leave: bss.group_rekey_on_leave,
            rounds: 0,
            began: Instant::ZERO,
            waiting: 0,
            broken: false,
            times: Vec::new(),
            joins: HashMap::new(),
        })
    };
    Renewals {
        access_points: scenario.bss.iter().filter_map(of).collect(),
        streams: Some(*streams),
    }
}

/// How long hostapd waits after a station left, with wpa_strict_rekey (`wpa_auth_sta_deinit` in
/// src/ap/wpa_auth.c).
const AFTER_LEAVING: Duration = Duration::from_millis(500);

impl World {
    /// The traffic begins: periods count from now.
    pub(super) fn schedule_renewals(&mut self) {
        for renewal in 0..self.association.renewals.access_points.len() as u32 {
            self.schedule_renewal(renewal);
        }
    }

    fn schedule_renewal(&mut self, renewal: u32) {
        let period = self.association.renewals.access_points[renewal as usize].period;
        let Some(period) = period else { return };
        let at = self.stack.lower.cx.events.now() + period;
        if at >= self.stack.lower.cx.end {
            return;
        }
        let event = AssociationEvent::Renew {
            renewal,
            again: true,
        };
        self.stack
            .lower
            .cx
            .events
            .schedule(at, Event::Association(event));
    }

    /// A station has left this access point for another one.
    pub(crate) fn renew_after_leaving(&mut self, access_point: u32) {
        let at = self.stack.lower.cx.events.now() + AFTER_LEAVING;
        let renewals = self.association.renewals.access_points.iter();
        for (number, renewal) in renewals.enumerate() {
            if renewal.on_leave && renewal.access_point == access_point {
                let event = AssociationEvent::Renew {
                    renewal: number as u32,
                    again: false,
                };
                self.stack
                    .lower
                    .cx
                    .events
                    .schedule(at, Event::Association(event));
            }
        }
    }

    /// An access point draws new group keys and begins a handshake with each of its stations.
    pub(super) fn renew(&mut self, number: u32, again: bool) {
        let now = self.stack.lower.cx.events.now();
        if again {
            self.schedule_renewal(number);
        }
        let Some(streams) = self.association.renewals.streams else {
            return;
        };
        let renewal = &mut self.association.renewals.access_points[number as usize];
        renewal.rounds += 1;
        renewal.began = now;
        renewal.waiting = 0;
        renewal.broken = false;
        let (access_point, round) = (renewal.access_point, renewal.rounds);
        let stations: Vec<u32> = (0..self.association.joins.len() as u32)
            .filter(|join| self.is_in(*join, access_point))
            .collect();
        // One key per group cipher: stations of a mixed cell may have agreed on another one.
        let mut keys: HashMap<(CipherSuite, Option<CipherSuite>), GroupKeys> = HashMap::new();
        for join in stations {
            let link = self.association.joins[join as usize].negotiation.link();
            let suites = (link.group, link.group_management());
            let given = keys.entry(suites).or_insert_with(|| {
                let keys = group_keys::draw(&streams, access_point, round, suites);
                let octets = (keys.gtk.len() + keys.igtk.len()) as u64;
                let host = &mut self.stack.lower.device.nodes[access_point as usize].host;
                let work = host.operations_time(&[Operation::Random { octets }]);
                host.cpu.work(now, work);
                keys
            });
            let given = given.clone();
            self.renew_with(number, join, given, &streams);
        }
        if self.association.renewals.access_points[number as usize].waiting == 0 {
            self.record_group_keys(access_point);
        }
    }

    /// A station has joined: keys that were renewed since it was handed its own are handed to it.
    pub(super) fn catch_up(&mut self, join: u32) {
        let state = &self.association.joins[join as usize];
        let access_point = state.node(Party::AccessPoint);
        let handed = state.group_round;
        let renewals = &self.association.renewals;
        let own = |r: &Renewal| r.access_point == access_point && r.rounds > handed;
        let (Some(number), Some(streams)) = (
            renewals.access_points.iter().position(own),
            renewals.streams,
        ) else {
            return;
        };
        let round = renewals.access_points[number].rounds;
        if self.is_in(join, access_point)
            && let Some(keys) = self.association.keys_for(join, round)
        {
            self.renew_with(number as u32, join, keys, &streams);
        }
    }

    /// Whether an association gave a station pairwise keys and it is still with its access point.
    fn is_in(&self, join: u32, access_point: u32) -> bool {
        let state = &self.association.joins[join as usize];
        state.purpose == Purpose::Entry
            && state.node(Party::AccessPoint) == access_point
            && matches!(state.standing, Standing::Joined(_))
            && state.negotiation.link().akm.is_some()
            && !self.mobility.has_left(join)
            && !self.association.is_off(state.node(Party::Station))
    }

    fn renew_with(&mut self, number: u32, before: u32, keys: GroupKeys, streams: &Streams) {
        let renewal = &self.association.renewals.access_points[number as usize];
        let own = renewal.joins.get(&before).copied();
        let round = renewal.rounds;
        let joins = &mut self.association.joins;
        let earlier = own.map_or(0, |own| joins[own as usize].key_frames);
        let first = &joins[before as usize];
        let station = first.node(Party::Station);
        let made = first.negotiation.group_renewal(
            GroupRenewal {
                keys,
                replay_counter: first.key_frames + earlier,
            },
            streams
                .named(&format!("group-key-handshake/{station}/{round}"))
                .into_generator(),
        );
        let Ok(negotiation) = made else {
            return;
        };
        let join = match own {
            Some(own) => {
                let state = &mut joins[own as usize];
                state.negotiation = negotiation;
                // Messages of a round that this one cuts short are late.
                state.stage += 1;
                state.advancing = false;
                own
            }
            None => {
                let state = Join::renewal(first, negotiation);
                joins.push(state);
                joins.len() as u32 - 1
            }
        };
        let renewal = &mut self.association.renewals.access_points[number as usize];
        renewal.joins.insert(before, join);
        renewal.waiting += 1;
        self.association_due(AssociationEvent::Start { join });
    }

    /// A station has the new keys, or its access point gave up on it.
    pub(super) fn renewed(&mut self, join: u32) {
        let now = self.stack.lower.cx.events.now();
        let state = &self.association.joins[join as usize];
        let access_point = state.node(Party::AccessPoint);
        let has_it = matches!(state.standing, Standing::Joined(_));
        let station = state.node(Party::Station);
        if !has_it {
            self.put_off(access_point, station);
        }
        let renewals = &mut self.association.renewals.access_points;
        let Some(renewal) = renewals.iter_mut().find(|r| r.access_point == access_point) else {
            return;
        };
        renewal.waiting -= 1;
        renewal.broken |= !has_it;
        if renewal.waiting == 0 {
            if !renewal.broken {
                renewal.times.push(now - renewal.began);
            }
            self.record_group_keys(access_point);
        }
    }

    /// Rows of the whole cell: rounds of new group keys, messages and the mean time of a round.
    pub(crate) fn renewal_rows(&self) -> Vec<AssociationRow> {
        let renewals = &self.association.renewals.access_points;
        let rounds: u32 = renewals.iter().map(|r| r.rounds).sum();
        if rounds == 0 {
            return Vec::new();
        }
        let messages: u32 = renewals
            .iter()
            .flat_map(|r| r.joins.values())
            .map(|join| self.association.joins[*join as usize].messages())
            .sum();
        let mut rows: Vec<AssociationRow> = vec![
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

impl Join {
    /// A negotiation beside an association that stands, or stood.
    pub(super) fn renewal(first: &Self, negotiation: airtoll_handshakes::Negotiation) -> Self {
        Self {
            nodes: first.nodes,
            tunnelling: first.tunnelling,
            negotiation,
            stage: 0,
            advancing: false,
            standing: Standing::Waiting,
            started: Instant::ZERO,
            stage_began: Instant::ZERO,
            stages: Vec::new(),
            timers: Default::default(),
            timeline: Timeline::default(),
            agreed: Default::default(),
            // The pairwise keys stay, and their packet numbers go on.
            listens: false,
            movement: None,
            recorded: true,
            protection_octets: first.protection_octets,
            purpose: Purpose::Renewal,
            departing: crate::packet::NONE,
            group_round: 0,
            key_frames: 0,
        }
    }
}

#[cfg(test)]
mod tests;
