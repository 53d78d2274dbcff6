//! Sessions: takes the negotiation frames of (station, BSS) pairs in order, gives timelines: what
//! was negotiated, how long each phase took, who kept whom waiting, and how it ended.
//!
//! [`timeline`] follows one session, [`waits`] says who kept whom waiting, [`report`] prints.
//! Tables are bounded; what does not fit is counted. Never judges a data frame but for roams.

pub mod report;
mod timeline;
pub mod waits;

use airtoll_security::CipherSuite;
use airtoll_wire::MacAddress;
use airtoll_wire::ieee80211::RsnRepr;
use rustc_hash::FxHashMap;

use self::report::since;
pub use self::report::{RoamReport, SessionReport};
use self::timeline::{Phase, Session, State};
use self::waits::Served;
use crate::decrypt::keyring::pair_of;
use crate::dissect::{Eap, RadiusPacket};

/// Most sessions that are kept; further ones are counted only.
const MAX_SESSIONS: usize = 20_000;
/// Probes further back than this do not belong to an authentication.
const PROBE_WINDOW_NS: u64 = 10_000_000_000;
/// An unfinished attempt that was silent for so long is over.
const GIVEN_UP_NS: u64 = 30_000_000_000;

/// One negotiation frame.
#[derive(Debug, Clone)]
pub struct Event {
    /// Nanoseconds since the epoch.
    pub time_ns: u64,
    /// Time on air.
    pub airtime_ns: u64,
    /// Octets on air.
    pub octets: u32,
    /// The client.
    pub station: MacAddress,
    /// The AP.
    pub bssid: MacAddress,
    /// The client sent it.
    pub from_station: bool,
    /// Retry bit.
    pub retry: bool,
    /// What it is.
    pub step: Step,
}

/// What a negotiation frame is.
#[derive(Debug, Clone)]
pub enum Step {
    /// Probe request or response.
    Probe,
    /// Authentication: algorithm, transaction, status.
    Authentication(u16, u16, u16),
    /// (Re)association request with the station's choice of suites.
    AssociationRequest(Option<Box<RsnRepr>>, bool),
    /// (Re)association response with its status.
    AssociationResponse(u16),
    /// EAPOL-Start.
    Start,
    /// EAPOL-Logoff.
    Logoff,
    /// EAP in EAPOL.
    Eap(Eap),
    /// Message of the 4-way handshake; the second names the station's choice of suites, and
    /// whether it does so in the WPA element.
    FourWay(u8, Option<(Box<RsnRepr>, bool)>),
    /// Message of the group key handshake.
    Group(u8),
    /// Key of dynamic WEP, with its octets.
    DynamicWep(u16),
    /// Request by the station for a new key, or report of a MIC failure.
    KeyRequest,
    /// EAPOL of another type.
    OtherEapol,
    /// FT action frame.
    FtAction,
    /// Deauthentication (true) or disassociation, with reason.
    Leave(bool, u16),
    /// IKE packet through the BSS.
    Ike,
    /// Mobile IP registration through the BSS.
    MobileIp,
}

/// What the BSS announces, where the station's choice was not seen.
#[derive(Debug, Clone, Default)]
pub struct Announced {
    /// SSID.
    pub ssid: Vec<u8>,
    /// RSN or WPA element.
    pub rsn: Option<RsnRepr>,
    /// Privacy bit.
    pub privacy: bool,
}

/// All sessions of a capture.
#[derive(Default)]
pub struct Sessions {
    list: Vec<Session>,
    current: FxHashMap<(u64, u64), usize>,
    probes: FxHashMap<u64, Probes>,
    left_out: u64,
    clients: FxHashMap<u64, LastData>,
    roams: Vec<Roam>,
    served: Served,
    /// The pair that was told last, and not heard negotiating since.
    last_opened: Option<((u64, u64), CipherSuite)>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Probes {
    first_ns: u64,
    last_ns: u64,
    frames: u32,
    octets: u64,
}

#[derive(Debug, Clone, Copy)]
struct LastData {
    time_ns: u64,
    bssid: MacAddress,
}

#[derive(Debug, Clone, Copy)]
struct Roam {
    station: MacAddress,
    from: MacAddress,
    to: MacAddress,
    time_ns: u64,
    gap_ns: u64,
}

impl Sessions {
    /// Enters a negotiation frame.
    pub fn enter(&mut self, event: &Event, announced: &Announced) {
        if matches!(event.step, Step::Probe) {
            self.probe(event);
            return;
        }
        let key = pair_of(event.station, event.bssid);
        self.last_opened = None;
        let begins = match self.current.get(&key) {
            None => true,
            Some(index) => {
                let session = &self.list[*index];
                let idle = event.time_ns.saturating_sub(session.last_ns);
                let over = session.state == State::Ended
                    || session.failed
                    || session.state == State::Begun && idle > GIVEN_UP_NS
                    || session.state >= State::Associated && idle > 1_000_000_000;
                match &event.step {
                    Step::Authentication(_, 1, 0) => over && event.from_station && !event.retry,
                    Step::AssociationRequest(..) => {
                        session.state >= State::Associated && !event.retry && idle > 1_000_000_000
                    }
                    Step::Leave(..) => false,
                    Step::FourWay(1, _) | Step::Start | Step::Eap(_) => {
                        session.state == State::Ended
                    }
                    _ => false,
                }
            }
        };
        if begins {
            if matches!(event.step, Step::Ike | Step::MobileIp | Step::Leave(..))
                || matches!(event.step, Step::AssociationResponse(0))
                    && self.list.len() >= MAX_SESSIONS
            {
                return;
            }
            if self.list.len() >= MAX_SESSIONS {
                self.left_out += 1;
                return;
            }
            let mut session = Session {
                station: event.station,
                bssid: event.bssid,
                first_ns: event.time_ns,
                ..Session::default()
            };
            if let Some(probes) = self.probes.remove(&event.station.to_u64())
                && event.time_ns.saturating_sub(probes.last_ns) < PROBE_WINDOW_NS
            {
                session.first_ns = probes.first_ns.min(event.time_ns);
                session.phases[0] = Phase {
                    first_ns: probes.first_ns,
                    last_ns: probes.last_ns,
                    frames: probes.frames,
                    octets: probes.octets,
                };
                session.messages.insert("probe", probes.frames);
            }
            self.current.insert(key, self.list.len());
            self.list.push(session);
        }
        if let Some(index) = self.current.get(&key) {
            let served_ns = match event.step {
                Step::Eap(_) if !event.from_station => self.served.take(event.station),
                _ => None,
            };
            self.list[*index].enter(event, announced, served_ns);
        }
    }

    /// Enters a data frame: a client that is heard through another AP has roamed.
    pub fn data(&mut self, time_ns: u64, station: MacAddress, bssid: MacAddress) {
        let Some(last) = self.clients.get_mut(&station.to_u64()) else {
            if self.clients.len() < crate::decrypt::keyring::MAX_ENTRIES {
                let last = LastData { time_ns, bssid };
                self.clients.insert(station.to_u64(), last);
            }
            return;
        };
        if last.bssid == bssid {
            last.time_ns = time_ns;
            return;
        }
        let connected = self
            .current
            .get(&pair_of(station, bssid))
            .is_some_and(|index| self.list[*index].state >= State::Associated);
        if connected {
            if self.roams.len() < MAX_SESSIONS {
                self.roams.push(Roam {
                    station,
                    from: last.bssid,
                    to: bssid,
                    time_ns,
                    gap_ns: time_ns.saturating_sub(last.time_ns),
                });
            }
            *last = LastData { time_ns, bssid };
        }
    }

    /// The cipher that opened a unicast frame of this pair: what WEP's size is only seen by, which
    /// of several suites was chosen, and proof that both sides have their keys.
    pub fn opened(&mut self, station: MacAddress, bssid: MacAddress, suite: CipherSuite) {
        let pair = pair_of(station, bssid);
        if self.last_opened == Some((pair, suite)) {
            return;
        }
        self.last_opened = Some((pair, suite));
        if let Some(index) = self.current.get(&pair) {
            self.list[*index].opened(suite);
        }
    }

    /// A RADIUS packet of a wire that belongs to some station's EAP.
    pub fn radius(&mut self, time_ns: u64, packet: &RadiusPacket) {
        self.served.enter(time_ns, packet);
    }

    fn probe(&mut self, event: &Event) {
        let full = self.probes.len() >= crate::decrypt::keyring::MAX_ENTRIES;
        let key = event.station.to_u64();
        if full && !self.probes.contains_key(&key) {
            self.probes.clear();
        }
        let probes = self.probes.entry(key).or_default();
        if probes.frames == 0 || event.time_ns.saturating_sub(probes.last_ns) > PROBE_WINDOW_NS {
            *probes = Probes {
                first_ns: event.time_ns,
                ..Probes::default()
            };
        }
        probes.last_ns = event.time_ns;
        probes.frames = probes.frames.saturating_add(1);
        probes.octets += u64::from(event.octets);
    }

    /// Sessions for reports, in order of their first frame. Times count from `origin_ns`.
    pub fn report(&self, origin_ns: u64) -> Vec<SessionReport> {
        let mut list: Vec<_> = self.list.iter().collect();
        list.sort_by_key(|session| session.first_ns);
        list.iter()
            .map(|session| {
                let exchange = session
                    .span()
                    .and_then(|span| self.served.during(session.station, span));
                session.report(origin_ns, exchange)
            })
            .collect()
    }

    /// Roams for reports.
    pub fn roams(&self, origin_ns: u64) -> Vec<RoamReport> {
        self.roams
            .iter()
            .map(|roam| RoamReport {
                station: roam.station.to_string(),
                from: roam.from.to_string(),
                to: roam.to.to_string(),
                at_s: since(roam.time_ns, origin_ns),
                handover_gap_s: roam.gap_ns as f64 / 1e9,
            })
            .collect()
    }

    /// Sessions that did not fit.
    pub const fn left_out(&self) -> u64 {
        self.left_out
    }
}
