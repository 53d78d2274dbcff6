//! Waiting times by party: takes the frames of a session and RADIUS packets in order, splits the
//! time between frames into that of the station, the AP, the server and the air.
//!
//! The time between two frames belongs to the side that had to speak: a question is the other side's
//! turn until it is answered, also while the asker repeats it. Where neither side had to, it belongs to
//! the sender of the second frame. A frame's time on the air is apart. An AP that answers an EAP response
//! waits for its server: where the capture holds the RADIUS packets of the wire, the server's part is
//! request to response there and the rest is the AP's; where it does not, all of it counts as the
//! server's. Never counts time before a session.

use airtoll_wire::MacAddress;
use airtoll_wire::eap::Code;
use rustc_hash::FxHashMap;
use schemars::JsonSchema;
use serde::Serialize;

use super::steps::{FrameNumber, Label, SpanNs};
use super::{Event, Step};
use crate::decrypt::keyring::MAX_ENTRIES;
use crate::dissect::{Called, RadiusPacket};

/// Most exchanges that are kept for one station.
const MAX_EXCHANGES: usize = 256;
/// An exchange that was silent for so long is over.
const GIVEN_UP_NS: u64 = 30_000_000_000;

/// Codes of RADIUS (RFC 2865 clause 3).
mod code {
    pub(super) const ACCESS_REQUEST: u8 = 1;
    pub(super) const ACCESS_ACCEPT: u8 = 2;
    pub(super) const ACCESS_REJECT: u8 = 3;
    pub(super) const ACCESS_CHALLENGE: u8 = 11;
}

/// Seconds that each side kept the other waiting: of the time in which it was its turn to speak.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, JsonSchema)]
pub struct Waits {
    /// The client.
    pub station: f64,
    /// The AP.
    pub ap: f64,
    /// The authentication server behind the AP.
    pub server: f64,
    /// Frames on the air; 0 where no frame names its rate.
    pub air: f64,
    /// Where the server's part was taken: `radius` on the wire, `air` if all that an AP took to
    /// answer an EAP response counts as the server's; null without EAP.
    pub server_seen: Option<&'static str>,
}

/// Sums of one session.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Waiting {
    station_ns: u64,
    ap_ns: u64,
    server_ns: u64,
    air_ns: u64,
    server_seen: Option<&'static str>,
    last: Option<Last>,
    /// The last frame of the station, and that of the AP.
    said: [Option<Label>; 2],
}

#[derive(Debug, Clone, Copy)]
struct Last {
    time_ns: u64,
    /// The side that has to speak.
    turn: Option<Side>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    Station,
    Ap,
    /// The AP, which has to ask its server.
    Server,
}

/// The side that has to speak after a frame.
const fn turn_after(step: &Step, from_station: bool) -> Option<Side> {
    match step {
        Step::Eap(eap) => match (from_station, eap.code) {
            (true, _) => Some(Side::Server),
            (false, Some(Code::Request)) => Some(Side::Station),
            (false, Some(Code::Success)) => Some(Side::Ap),
            (false, _) => None,
        },
        Step::Authentication(..) | Step::FtAction | Step::Tunnel(..) => Some(if from_station {
            Side::Ap
        } else {
            Side::Station
        }),
        Step::AssociationRequest { .. } | Step::AssociationResponse(0) | Step::Start => {
            Some(Side::Ap)
        }
        Step::FourWay(key) => match key.number {
            1 | 3 => Some(Side::Station),
            2 => Some(Side::Ap),
            _ => None,
        },
        Step::Group(1, ..) => Some(Side::Station),
        _ => None,
    }
}

/// Whether a frame asks what its sender asked last, or gives up on the answer.
fn repeats(last: Option<Label>, label: Label) -> bool {
    match (last, label) {
        (Some(Label::EapRequest(_)), Label::EapRequest(_) | Label::EapFailure) => true,
        (last, label) => last == Some(label),
    }
}

impl Waiting {
    /// Enters a frame; `served_ns` is the server's time for it, if RADIUS was seen.
    pub(super) fn enter(&mut self, event: &Event, label: Label, served_ns: Option<u64>) {
        let said = &mut self.said[usize::from(!event.from_station)];
        let again = repeats(*said, label);
        *said = Some(label);
        if let Some(last) = self.last {
            let gap = event.time_ns.saturating_sub(last.time_ns);
            let air = event.airtime_ns.min(gap);
            self.air_ns = self.air_ns.saturating_add(air);
            let rest = gap - air;
            let sender = if event.from_station {
                Side::Station
            } else {
                Side::Ap
            };
            let party = match last.turn {
                Some(turn) if again || (turn == Side::Station) == event.from_station => turn,
                _ => sender,
            };
            match party {
                Side::Station => self.station_ns = self.station_ns.saturating_add(rest),
                // The answer is still due.
                Side::Server if event.from_station => {
                    self.server_ns = self.server_ns.saturating_add(rest);
                }
                Side::Server if matches!(event.step, Step::Eap(_)) => {
                    self.serve(rest, served_ns);
                }
                Side::Ap | Side::Server => self.ap_ns = self.ap_ns.saturating_add(rest),
            }
        }
        self.last = Some(Last {
            time_ns: event.time_ns,
            turn: turn_after(&event.step, event.from_station),
        });
    }

    fn serve(&mut self, rest: u64, served_ns: Option<u64>) {
        let server = served_ns.map_or(rest, |served| served.min(rest));
        self.server_ns = self.server_ns.saturating_add(server);
        self.ap_ns = self.ap_ns.saturating_add(rest - server);
        self.server_seen = match (self.server_seen, served_ns) {
            (None | Some("radius"), Some(_)) => Some("radius"),
            _ => Some("air"),
        };
    }

    pub(super) fn report(&self) -> Waits {
        let seconds = |ns: u64| ns as f64 / 1e9;
        Waits {
            station: seconds(self.station_ns),
            ap: seconds(self.ap_ns),
            server: seconds(self.server_ns),
            air: seconds(self.air_ns),
            server_seen: self.server_seen,
        }
    }
}

/// One authentication at a server, as RADIUS shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ServerAuthentication {
    /// First Access-Request.
    pub(super) first_ns: u64,
    pub(super) last_ns: u64,
    /// Access-Accept or Access-Reject.
    pub(super) end_ns: Option<u64>,
    /// RADIUS packets.
    pub(super) frames: u32,
    /// The first one.
    pub(super) frame: FrameNumber,
    /// The last one.
    pub(super) last_frame: FrameNumber,
    /// The AP and its SSID, as Called-Station-Id names them.
    pub(super) called: Option<Called>,
    /// EAP method that the station answered in.
    pub(super) method: Option<u8>,
    /// TLS version that the server chose.
    pub(super) tls_version: Option<u16>,
    /// TLS alert: whether the station sent it, and its description.
    pub(super) alert: Option<(bool, u8)>,
    /// The server's answer; `None` without one.
    pub(super) accepted: Option<bool>,
    /// EAP packets inside.
    pub(super) eap_frames: u32,
    /// Sum of the server's times.
    pub(super) served_ns: u64,
}

/// Time that servers spent on the requests of stations.
#[derive(Debug, Default)]
pub(super) struct Served {
    /// Station and time of an open request, by client port and identifier.
    open: FxHashMap<(u16, u8), (MacAddress, u64)>,
    stations: FxHashMap<u64, Station>,
}

#[derive(Debug, Default)]
struct Station {
    /// Server time that no frame on the air was set against yet.
    fresh_ns: u64,
    exchanges: Vec<ServerAuthentication>,
}

impl Served {
    /// Enters a packet: a request names its station, a response only the request.
    pub(super) fn enter(&mut self, time_ns: u64, frame: FrameNumber, packet: &RadiusPacket) {
        let key = (packet.client_port, packet.identifier);
        let request = packet.code == code::ACCESS_REQUEST;
        let asked = match packet.station {
            Some(station) if request => Some((station, time_ns)),
            Some(station) => Some((station, self.open.get(&key).map_or(time_ns, |o| o.1))),
            None => self.open.get(&key).copied(),
        };
        let Some((station, asked_ns)) = asked else {
            return;
        };
        let full = self.stations.len() >= MAX_ENTRIES;
        let took = match packet.code {
            code::ACCESS_ACCEPT | code::ACCESS_REJECT | code::ACCESS_CHALLENGE => {
                time_ns.saturating_sub(asked_ns)
            }
            _ => 0,
        };
        if full && !self.stations.contains_key(&station.to_u64()) {
            return;
        }
        let state = self.stations.entry(station.to_u64()).or_default();
        let over = state.exchanges.last().is_none_or(|last| {
            request && (last.end_ns.is_some() || time_ns.saturating_sub(last.last_ns) > GIVEN_UP_NS)
        });
        if over && state.exchanges.len() < MAX_EXCHANGES {
            state.exchanges.push(ServerAuthentication {
                first_ns: time_ns,
                last_ns: time_ns,
                end_ns: None,
                frames: 0,
                frame,
                last_frame: frame,
                called: packet.called,
                method: None,
                tls_version: None,
                alert: None,
                accepted: None,
                eap_frames: 0,
                served_ns: 0,
            });
        }
        if let Some(exchange) = state.exchanges.last_mut() {
            exchange.last_ns = time_ns;
            exchange.last_frame = frame;
            exchange.frames = exchange.frames.saturating_add(1);
            exchange.served_ns = exchange.served_ns.saturating_add(took);
            if let Some(eap) = packet.eap {
                exchange.eap_frames = exchange.eap_frames.saturating_add(1);
                exchange.tls_version = eap.tls_version.or(exchange.tls_version);
                let from_station = eap.code == Some(Code::Response);
                exchange.alert = eap
                    .alert
                    .map(|alert| (from_station, alert))
                    .or(exchange.alert);
                if eap.code == Some(Code::Response) {
                    let method = eap.method.filter(|kind| *kind > 3);
                    exchange.method = method.or(exchange.method);
                }
            }
            match packet.code {
                code::ACCESS_ACCEPT => exchange.accepted = Some(true),
                code::ACCESS_REJECT => exchange.accepted = Some(false),
                _ => {}
            }
            if matches!(packet.code, code::ACCESS_ACCEPT | code::ACCESS_REJECT) {
                exchange.end_ns.get_or_insert(time_ns);
            }
        }
        match packet.code {
            code::ACCESS_REQUEST => {
                // A request sent again asks since its first time.
                self.open.entry(key).or_insert((station, time_ns));
            }
            code::ACCESS_ACCEPT | code::ACCESS_REJECT | code::ACCESS_CHALLENGE => {
                state.fresh_ns = state.fresh_ns.saturating_add(took);
                self.open.remove(&key);
            }
            _ => {}
        }
    }

    /// The server's time since this was asked last; `None` if RADIUS never named the station.
    pub(super) fn take(&mut self, station: MacAddress) -> Option<u64> {
        let state = self.stations.get_mut(&station.to_u64())?;
        Some(std::mem::take(&mut state.fresh_ns))
    }

    /// The exchange that began while a session went on.
    pub(super) fn during(&self, station: MacAddress, span: SpanNs) -> Option<ServerAuthentication> {
        let state = self.stations.get(&station.to_u64())?;
        let within = |exchange: &&ServerAuthentication| {
            (span.first..=span.last).contains(&exchange.first_ns)
        };
        state.exchanges.iter().find(within).copied()
    }

    /// Every exchange of every station.
    pub(super) fn exchanges(&self) -> impl Iterator<Item = (MacAddress, ServerAuthentication)> {
        self.stations.iter().flat_map(|(station, state)| {
            let station = address_of(*station);
            state.exchanges.iter().map(move |one| (station, *one))
        })
    }
}

fn address_of(number: u64) -> MacAddress {
    let [_, _, rest @ ..] = number.to_be_bytes();
    MacAddress(rest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dissect::Eap;

    const STATION: MacAddress = MacAddress([2, 0, 0, 0, 0, 1]);

    fn frame(time_ms: u64, from_station: bool, code: Code) -> Event {
        Event {
            time_ns: time_ms * 1_000_000,
            frame: FrameNumber::default(),
            sequence: None,
            channel: None,
            heard_mhz: None,
            protected: false,
            wired: false,
            airtime_ns: 500_000,
            octets: 100,
            station: STATION,
            bssid: MacAddress([2, 0, 0, 0, 0, 9]),
            from_station,
            step: Step::Eap(Eap {
                code: Some(code),
                method: None,
                tls_version: None,
                alert: None,
                wps: None,
            }),
        }
    }

    fn enter(waiting: &mut Waiting, event: &Event, served_ns: Option<u64>) {
        let Step::Eap(eap) = &event.step else {
            panic!("{event:?}");
        };
        let label = match eap.code {
            Some(Code::Request) => Label::EapRequest(0),
            Some(Code::Response) => Label::EapResponse(0),
            _ => Label::EapSuccess,
        };
        waiting.enter(event, label, served_ns);
    }

    fn radius(code: u8, identifier: u8, station: Option<MacAddress>) -> RadiusPacket {
        RadiusPacket {
            code,
            identifier,
            client_port: 40_000,
            eap: None,
            station,
            called: None,
        }
    }

    #[test]
    fn a_seen_server_has_its_own_part() {
        let mut served = Served::default();
        let mut waiting = Waiting::default();
        enter(&mut waiting, &frame(0, false, Code::Request), None);
        enter(&mut waiting, &frame(10, true, Code::Response), None);
        served.enter(
            12_000_000,
            FrameNumber::default(),
            &radius(1, 7, Some(STATION)),
        );
        served.enter(32_000_000, FrameNumber::default(), &radius(11, 7, None));
        enter(
            &mut waiting,
            &frame(35, false, Code::Request),
            served.take(STATION),
        );
        let waits = waiting.report();
        let expected = [0.0095, 0.0045, 0.020, 0.001];
        for (got, wanted) in [waits.station, waits.ap, waits.server, waits.air]
            .into_iter()
            .zip(expected)
        {
            assert!((got - wanted).abs() < 1e-12, "{waits:?}");
        }
        assert_eq!(waits.server_seen, Some("radius"));
        served.enter(
            40_000_000,
            FrameNumber::default(),
            &radius(1, 8, Some(STATION)),
        );
        served.enter(41_000_000, FrameNumber::default(), &radius(2, 8, None));
        let exchange = served
            .during(
                STATION,
                SpanNs {
                    first: 0,
                    last: 50_000_000,
                },
            )
            .unwrap();
        assert_eq!((exchange.frames, exchange.end_ns), (4, Some(41_000_000)));
    }

    #[test]
    fn without_radius_the_answer_counts_as_the_servers() {
        let mut waiting = Waiting::default();
        enter(&mut waiting, &frame(0, true, Code::Response), None);
        enter(&mut waiting, &frame(30, false, Code::Success), None);
        let waits = waiting.report();
        assert!((waits.server - 0.0295).abs() < 1e-12 && waits.ap == 0.0);
        assert_eq!(waits.server_seen, Some("air"));
    }

    #[test]
    fn a_question_that_is_repeated_is_still_the_other_sides_turn() {
        let mut waiting = Waiting::default();
        enter(&mut waiting, &frame(0, false, Code::Request), None);
        enter(&mut waiting, &frame(9_875, false, Code::Request), None);
        enter(&mut waiting, &frame(12_913, true, Code::Response), None);
        enter(&mut waiting, &frame(13_000, true, Code::Response), None);
        enter(&mut waiting, &frame(13_100, false, Code::Success), None);
        let waits = waiting.report();
        assert!((waits.station - 12.912).abs() < 1e-9, "{waits:?}");
        assert!((waits.server - 0.186).abs() < 1e-9 && waits.ap == 0.0);
    }

    #[test]
    fn times_that_leap_do_not_overflow() {
        let mut served = Served::default();
        let mut waiting = Waiting::default();
        for round in 0..8 {
            let time_ns = if round % 2 == 0 { 0 } else { u64::MAX };
            let event = Event {
                time_ns,
                ..frame(0, round % 4 == 0, Code::Request)
            };
            enter(&mut waiting, &event, None);
            let code = 1 + (round % 2) as u8;
            served.enter(
                time_ns,
                FrameNumber::default(),
                &radius(code, 7, Some(STATION)),
            );
        }
        let waits = waiting.report();
        assert!(waits.station + waits.server > 1e10);
        assert_eq!(served.take(STATION), Some(u64::MAX));
    }

    #[test]
    fn a_response_to_nobody_is_nothing() {
        let mut served = Served::default();
        served.enter(1, FrameNumber::default(), &radius(2, 1, None));
        assert!(served.take(STATION).is_none());
    }
}
