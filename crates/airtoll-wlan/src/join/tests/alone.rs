//! Joining without a world: the actions of one session are carried out by a queue of events, CPUs
//! that take no time and links that delay or lose frames.

use std::collections::BTreeMap;

use airtoll_engine::Streams;
use airtoll_handshakes::{Negotiation, Options, PolicySpec};
use airtoll_units::{Duration, Instant};

use super::policy;
use crate::address;
use crate::event::JoinEvent;
use crate::id::{LinkId, NodeId, PacketId, RadioId, SessionId, SignalId};
use crate::join::{Action, Deauthentication, Join, Parties, Purpose, Session, Setup};

const STATION: NodeId = NodeId::new(0);
const RADIO: RadioId = RadioId::first_of(STATION);
const ACCESS_POINT: NodeId = NodeId::new(1);
const FRAME: Duration = Duration::from_micros(300);

/// An event of the joining, or the end of a frame.
enum Due {
    Event(JoinEvent),
    Arrives(SignalId),
}

/// Carries out actions; the frames with the numbers in `lost` do not arrive.
struct Lab {
    join: Join,
    queue: BTreeMap<(Instant, u32), Due>,
    scheduled: u32,
    sent: Vec<Instant>,
    lost: Vec<usize>,
    seen: Vec<Action>,
}

impl Lab {
    fn new(name: &str, lost: &[usize]) -> Self {
        let spec: PolicySpec = serde_json::from_value(policy(name)).unwrap();
        let streams = Streams::new(1);
        let negotiation = Negotiation::between(
            spec,
            Options::default(),
            address::mac(STATION),
            address::mac(ACCESS_POINT),
            streams.named("negotiation").into_generator(),
        )
        .unwrap();
        let nodes = Parties::new((STATION, RADIO), ACCESS_POINT);
        let mut join = Join::default();
        let session = Session::new(
            nodes,
            (STATION, STATION.into()),
            negotiation,
            16,
            Purpose::Entry,
        );
        join.add(session);
        join.set_up(Setup {
            streams,
            newcomers: (Vec::new(), Duration::ZERO),
            renewals: Vec::new(),
            deauthentications: vec![Deauthentication {
                silent: false,
                access_point: ACCESS_POINT,
                link: LinkId::new(9),
                after: Duration::from_secs(1),
            }],
            busy: Vec::new(),
            own_group_keys: Vec::new(),
            hosts: crate::id::Table::new(),
        });
        Self {
            join,
            queue: BTreeMap::new(),
            scheduled: 0,
            sent: Vec::new(),
            lost: lost.to_vec(),
            seen: Vec::new(),
        }
    }

    fn schedule(&mut self, at: Instant, due: Due) {
        self.queue.insert((at, self.scheduled), due);
        self.scheduled += 1;
    }

    fn carry_out(&mut self, now: Instant, actions: Vec<Action>) {
        for action in actions {
            let mut out = Vec::new();
            match action {
                Action::Schedule { at, event } => self.schedule(at, Due::Event(event)),
                Action::WorkOnCpu { then, .. } => self.join.worked(now, then, now, &mut out),
                Action::SendManagement { signal, .. } => {
                    self.sent.push(now);
                    if self.lost.contains(&(self.sent.len() - 1)) {
                        self.join.lost(signal);
                    } else {
                        self.schedule(now + FRAME, Due::Arrives(signal));
                    }
                }
                Action::BeginTraffic => {
                    let ends = now + Duration::from_secs(60);
                    self.join.traffic_began(now, ends, &mut out);
                    self.seen.push(Action::BeginTraffic);
                }
                other => self.seen.push(other),
            }
            self.carry_out(now, out);
        }
    }

    /// Runs until `until`.
    fn run(&mut self, until: Instant) {
        while let Some(entry) = self.queue.first_entry()
            && entry.key().0 <= until
        {
            let ((now, _), due) = entry.remove_entry();
            let mut out = Vec::new();
            match due {
                Due::Event(event) => self.join.due(now, event, &mut out),
                Due::Arrives(signal) => self.join.arrived(now, signal, &mut out),
            }
            self.carry_out(now, out);
        }
    }

    fn started(name: &str, lost: &[usize], until: Instant) -> Self {
        let mut lab = Self::new(name, lost);
        let session = SessionId::new(0);
        lab.schedule(Instant::ZERO, Due::Event(JoinEvent::Start { session }));
        lab.run(until);
        lab
    }

    fn began(&self) -> bool {
        let mut seen = self.seen.iter();
        seen.any(|action| matches!(action, Action::BeginTraffic))
    }
}

const fn ms(n: u64) -> Instant {
    Instant::from_nanos(n * 1_000_000)
}

#[test]
fn a_session_asks_for_all_its_effects() {
    let lab = Lab::started("wpa2-psk-ccmp", &[], ms(100));
    // Authentication and association: two frames each; four of the 4-way handshake.
    assert_eq!(lab.sent.len(), 8);
    assert!(lab.began());
    assert!(lab.join.is_linked(STATION, ACCESS_POINT));
    let keys = |action: &Action| match action {
        Action::KeysAgreed {
            station, secrets, ..
        } => *station == RADIO && !secrets.is_empty(),
        _ => false,
    };
    assert_eq!(lab.seen.iter().filter(|action| keys(action)).count(), 1);
}

#[test]
fn a_station_repeats_a_lost_authentication_frame_after_mac80211s_time_out() {
    let lab = Lab::started("open", &[0], ms(1_000));
    assert!(lab.began());
    assert_eq!(lab.sent[..2], [ms(0), ms(200)]);
}

#[test]
fn an_access_point_bars_its_link_before_it_drops_the_queue() {
    let mut lab = Lab::started("open", &[], ms(100));
    lab.seen.clear();
    // The Deauthentication frame to all stations leaves 1 s after the start of the traffic.
    lab.run(ms(1_100));
    let at = |wanted: fn(&Action) -> bool| lab.seen.iter().position(wanted);
    let barred = at(|action| matches!(action, Action::SetOff { off: true, .. }));
    let dropped = at(|action| {
        matches!(
            action,
            Action::Flush {
                from: ACCESS_POINT,
                to: STATION
            }
        )
    });
    assert!(barred.is_some() && barred < dropped, "{:?}", lab.seen);
    assert!(lab.join.is_off(STATION) && !lab.join.is_linked(STATION, ACCESS_POINT));
}

#[test]
fn packets_beyond_the_limit_of_the_host_are_lost() {
    let mut lab = Lab::started("open", &[], ms(100));
    lab.run(ms(1_100));
    let mut out = Vec::new();
    for packet in (0..3).map(PacketId::new) {
        lab.join.keep(STATION, packet, 2, &mut out);
    }
    let lost = PacketId::new(2);
    assert!(
        matches!(out[..], [Action::Lose { packet, .. }] if packet == lost),
        "{out:?}"
    );
    out.clear();
    lab.join.forget_return(STATION, &mut out);
    let kept: Vec<PacketId> = out
        .iter()
        .filter_map(|action| match action {
            Action::SendKept { packet, .. } => Some(*packet),
            _ => None,
        })
        .collect();
    assert_eq!(kept, [0, 1].map(PacketId::new));
}
