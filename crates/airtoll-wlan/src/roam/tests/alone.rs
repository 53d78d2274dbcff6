//! Roaming without a world: the actions of one hand-over.

use std::collections::HashMap;

use airtoll_engine::Streams;
use airtoll_handshakes::{Negotiation, Options, PolicySpec, TunnelMove};
use airtoll_phy::{Band, OfdmRate, TxVector};
use airtoll_units::{Duration, Instant};
use serde_json::json;

use super::{ccmp, scenario, tcp};
use crate::Scenario;
use crate::address;
use crate::event::RoamEvent;
use crate::id::{HandoverId, LinkId, NodeId, PacketId, RadioId};
use crate::join::{Join, Parties, Purpose, Session};
use crate::medium::Radio;
use crate::roam::{Action, Agent, Plan, Roam, ScanElements, Scanning, Turn};
use crate::scenario::{HandoverMethod, Scan};

const STATION: NodeId = NodeId::new(0);
const OLD: NodeId = NodeId::new(1);
const NEW: NodeId = NodeId::new(2);
const AGENT: NodeId = NodeId::new(5);
/// The radios of the station in the old BSS and in the new one.
const HERE: RadioId = RadioId::first_of(STATION);
const THERE: RadioId = RadioId::new(6);

struct Lab {
    roam: Roam,
    join: Join,
    radio: Radio,
    out: Vec<Action>,
}

impl Lab {
    /// A station that moves from one access point to another at 1 s, and keeps two packets.
    fn new() -> Self {
        Self::with(|_| {})
    }

    /// The same with another plan.
    fn with(change: impl FnOnce(&mut Plan)) -> Self {
        let policy = ccmp(2, "open");
        let spec: PolicySpec = serde_json::from_value(policy.clone()).unwrap();
        let mut join = Join::default();
        let mut add = |radio: RadioId, access_point: NodeId| {
            let negotiation = Negotiation::between(
                spec.clone(),
                Options::default(),
                address::mac(STATION),
                address::mac(access_point),
                Streams::new(1).named("negotiation").into_generator(),
            );
            join.add(Session::new(
                Parties::new((STATION, radio), access_point),
                (STATION, radio.into()),
                negotiation.unwrap(),
                16,
                Purpose::Entry,
            ))
        };
        let (before, session) = (add(HERE, OLD), add(THERE, NEW));
        let value = scenario(&policy, &json!({}), &json!({}), &json!([tcp()]));
        let scenario = Scenario::from_json(&value.to_string()).unwrap();
        let names = scenario.nodes.iter().zip((0..).map(NodeId::new));
        let index: HashMap<&str, NodeId> = names.map(|(n, at)| (n.name.as_str(), at)).collect();
        let own = index.values().map(|node| (*node, None, [0.0; 3]));
        let mut radios: Vec<(NodeId, Option<&str>, [f64; 3])> = own.collect();
        radios.sort_by_key(|(node, ..)| *node);
        radios.push((STATION, None, [0.0; 3]));
        let mut roam = Roam::default();
        let mut plan = Plan {
            station: STATION,
            queue_limit: 2,
            previous: None,
            session,
            before,
            ahead: None,
            later: None,
            method: HandoverMethod::Full,
            at: Some(Duration::from_secs(1)),
            walk: None,
            scan: Duration::from_millis(20),
            scanning: None,
            again: Duration::from_secs(1),
            tunnel: TunnelMove::Anew,
            binding: None,
            faults: crate::roam::Faults::default(),
        };
        change(&mut plan);
        roam.add(plan);
        Self {
            roam,
            join,
            radio: Radio::new(&scenario, &index, &radios, (&[], &Streams::new(1))),
            out: Vec::new(),
        }
    }

    /// Hands in an input at `ms`; gives its actions.
    fn at(&mut self, ms: u64, input: impl FnOnce(&mut Roam, &mut Turn<'_>)) -> Vec<Action> {
        let mut turn = Turn {
            now: Instant::from_nanos(ms * 1_000_000),
            join: &mut self.join,
            radio: &mut self.radio,
            out: &mut self.out,
        };
        input(&mut self.roam, &mut turn);
        std::mem::take(&mut self.out)
    }

    fn left() -> Self {
        let mut lab = Self::new();
        let end = Instant::from_nanos(5_000_000_000);
        let began = lab.at(0, |roam, turn| roam.begin(end, turn));
        let leaves = |action: &Action| match action {
            Action::Schedule {
                at,
                event: RoamEvent::Leave(id),
            } => at.as_nanos() == 1_000_000_000 && *id == HandoverId::new(0),
            _ => false,
        };
        assert!(began.iter().any(leaves), "{began:?}");
        let event = RoamEvent::Leave(HandoverId::new(0));
        let actions = lab.at(1_000, |roam, turn| roam.due(event, turn));
        // The host has no link before anything else happens.
        assert!(
            matches!(
                actions[0],
                Action::SetAway {
                    host: STATION,
                    away: true
                }
            ),
            "{actions:?}"
        );
        lab
    }
}

#[test]
fn a_station_that_leaves_hears_its_access_point_no_longer() {
    let lab = Lab::left();
    let [old, new] = [OLD, NEW].map(RadioId::first_of);
    assert_eq!(lab.radio.power(old, HERE), f64::NEG_INFINITY);
    assert!(lab.radio.level(old, HERE).is_finite());
    assert!(lab.radio.power(new, THERE).is_finite());
}

#[test]
fn a_scan_without_result_leaves_the_station_at_its_link() {
    let mut lab = Lab::with(|plan| {
        let scan = Scan {
            channels: 1,
            passive: true,
            min_channel_s: 0.02,
            max_channel_s: 0.1,
        };
        let vector = TxVector::ofdm(OfdmRate::M6, Band::Ghz5);
        let difs = Duration::from_micros(34);
        let link = LinkId::new(9);
        plan.scanning = Some(Scanning::new(
            scan,
            link,
            vector,
            difs,
            ScanElements {
                request: vec![0x8c],
                answer: vec![],
            },
        ));
    });
    let id = HandoverId::new(0);
    lab.at(1_000, |roam, turn| roam.looked(id, true, turn));
    let old = RadioId::first_of(OLD);
    let level = lab.radio.level(old, HERE);
    assert_eq!(lab.radio.power(old, HERE), f64::NEG_INFINITY);
    lab.at(1_000, |roam, turn| roam.due(RoamEvent::Probe(id), turn));
    let actions = lab.at(1_100, |roam, turn| roam.due(RoamEvent::ScanOver(id), turn));
    let has = |wanted: fn(&Action) -> bool| actions.iter().any(wanted);
    assert!(has(|a| matches!(a, Action::SetAway { away: false, .. })));
    let sends = |a: &Action| {
        matches!(
            a,
            Action::SetStopped {
                radio: HERE,
                stopped: false
            }
        )
    };
    assert!(has(sends), "{actions:?}");
    assert!(
        !has(|a| matches!(a, Action::TurnLink { .. })),
        "{actions:?}"
    );
    assert_eq!(lab.radio.power(old, HERE), level);
}

#[test]
fn a_station_turns_to_the_next_access_point_once_it_has_found_it() {
    let mut lab = Lab::left();
    let id = HandoverId::new(0);
    let actions = lab.at(1_020, |roam, turn| roam.due(RoamEvent::Found(id), turn));
    let turns = |a: &Action| {
        matches!(
            a,
            Action::TurnLink {
                host: STATION,
                radio: THERE
            }
        )
    };
    assert_eq!(
        actions.iter().filter(|a| turns(a)).count(),
        1,
        "{actions:?}"
    );
    assert!(
        !actions
            .iter()
            .any(|a| matches!(a, Action::SetRoutes { .. }))
    );
}

#[test]
fn packets_wait_up_to_the_queue_limit_and_follow_the_new_routes() {
    let mut lab = Lab::left();
    let lost: Vec<Action> = (0..3)
        .map(PacketId::new)
        .flat_map(|packet| lab.at(1_005, |roam, turn| roam.keep(STATION, packet, turn)))
        .collect();
    let last = PacketId::new(2);
    assert!(
        matches!(lost[..], [Action::Lose { packet, .. }] if packet == last),
        "{lost:?}"
    );
    let session = lab.roam.last_planned(STATION).unwrap().1;
    let actions = lab.at(1_050, |roam, turn| roam.moved(session, turn));
    let at = |wanted: fn(&Action) -> bool| actions.iter().position(wanted).unwrap();
    let present = at(|a| {
        matches!(
            a,
            Action::SetAway {
                host: STATION,
                away: false
            }
        )
    });
    let routes = at(|a| {
        matches!(
            a,
            Action::SetRoutes {
                host: STATION,
                radio: THERE
            }
        )
    });
    let first = at(|a| matches!(a, Action::SendKept { packet, .. } if packet.number() == 0));
    let second = at(|a| matches!(a, Action::SendKept { packet, .. } if packet.number() == 1));
    let left = at(|a| matches!(a, Action::HasLeft { access_point: OLD }));
    assert!(present < routes && routes < first, "{actions:?}");
    assert!(first < second && second < left, "{actions:?}");
}

#[test]
fn a_packet_sent_before_the_station_joined_does_not_end_the_gap() {
    let mut lab = Lab::left();
    let session = lab.roam.last_planned(STATION).unwrap().1;
    lab.at(1_050, |roam, turn| roam.moved(session, turn));
    let ms = |n: u64| Instant::from_nanos(n * 1_000_000);
    let flow = [STATION, AGENT];
    lab.roam.note_delivery(flow, false, ms(990), ms(1_060));
    lab.roam.note_delivery(flow, false, ms(1_070), ms(1_071));
    let rows = lab.roam.rows(&lab.join);
    let of = |metric: &str| {
        let mut rows = rows[0].2.iter();
        rows.find(|row| row.0 == metric).map(|row| row.1)
    };
    // From leaving: the first delivery was late.
    assert!(
        (of("handover_gap_s").unwrap() - 0.071).abs() < 1e-9,
        "{rows:?}"
    );
}

#[test]
fn only_a_passive_scan_listens_for_beacons() {
    for passive in [false, true] {
        let mut lab = Lab::with(|plan| {
            plan.scan = Duration::ZERO;
            let scan = Scan {
                channels: 1,
                passive,
                min_channel_s: 0.02,
                max_channel_s: 0.1,
            };
            let vector = TxVector::ofdm(OfdmRate::M6, Band::Ghz5);
            let difs = Duration::from_micros(34);
            plan.scanning = Some(Scanning::new(
                scan,
                LinkId::new(9),
                vector,
                difs,
                ScanElements {
                    request: vec![0x8c],
                    answer: vec![],
                },
            ));
        });
        let id = HandoverId::new(0);
        let actions = lab.at(1_000, |roam, turn| roam.due(RoamEvent::Probe(id), turn));
        let listens = |action: &Action| matches!(action, Action::SetListening { .. });
        let asks = |action: &Action| matches!(action, Action::SendScanFrame { .. });
        assert_eq!(actions.iter().any(listens), passive, "{actions:?}");
        assert_eq!(actions.iter().any(asks), !passive, "{actions:?}");
    }
}

#[test]
fn an_agent_advertises_itself_for_ever() {
    let mut lab = Lab::new();
    let (first, event) = lab.roam.add_agent(Agent::new(AGENT, OLD, true, 2.0, 0.5));
    assert_eq!(first, Instant::from_nanos(500_000_000));
    // An hour before the traffic begins.
    let actions = lab.at(3_600_000, |roam, turn| roam.due(event, turn));
    let advertises = |action: &Action| {
        matches!(
            action,
            Action::Advertise {
                node: AGENT,
                access_point: OLD,
                ..
            }
        )
    };
    let again = |action: &Action| match action {
        Action::Schedule { at, .. } => at.as_nanos() == 3_602_000_000_000,
        _ => false,
    };
    assert!(actions.iter().any(advertises), "{actions:?}");
    assert!(actions.iter().any(again), "{actions:?}");
}
