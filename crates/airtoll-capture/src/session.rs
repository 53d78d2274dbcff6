//! Sessions: takes the negotiation frames of (station, BSS) pairs in order, gives timelines: what
//! was negotiated, how long each phase took, who kept whom waiting, and how it ended.
//!
//! Tables are bounded; what does not fit is counted. Never judges a data frame but for roams.

use std::collections::BTreeMap;

use airtoll_wire::MacAddress;
use airtoll_wire::eap::Code;
use airtoll_wire::ieee80211::{RsnRepr, reason};
use rustc_hash::FxHashMap;
use serde::Serialize;

use crate::decrypt::keyring::pair_of;
use crate::dissect::{Eap, method_name};

/// Most sessions that are kept; further ones are counted only.
const MAX_SESSIONS: usize = 20_000;
/// Most steps of one session that are kept for the waterfall.
const MAX_STEPS: usize = 96;
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
    /// Message of the 4-way handshake.
    FourWay(u8),
    /// Message of the group key handshake.
    Group(u8),
    /// Key of dynamic WEP.
    DynamicWep,
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

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
enum State {
    #[default]
    Begun,
    Associated,
    Keyed,
    Ended,
}

#[derive(Debug, Clone, Copy, Default)]
struct Phase {
    first_ns: u64,
    last_ns: u64,
    frames: u32,
    octets: u64,
}

/// Seconds that each side kept the other waiting.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub struct Waits {
    /// The client.
    pub station: f64,
    /// The AP.
    pub ap: f64,
    /// The authentication server behind the AP (EAP requests that answer a response).
    pub server: f64,
    /// Frames on the air.
    pub air: f64,
}

#[derive(Debug, Default)]
struct Session {
    station: MacAddress,
    bssid: MacAddress,
    ssid: Vec<u8>,
    first_ns: u64,
    last_ns: u64,
    state: State,
    /// The key handshake came to its end.
    keyed: bool,
    failed: bool,
    reason: Option<String>,
    rsn: Option<RsnRepr>,
    wpa: bool,
    /// Where `rsn` is what the BSS offers, not what the station chose.
    offered: bool,
    privacy: bool,
    algorithm: Option<u16>,
    method: Option<u8>,
    tls_version: Option<u16>,
    used_cipher: Option<&'static str>,
    eap_first: Option<u64>,
    eap_end: Option<u64>,
    key_first: Option<u64>,
    key_last: Option<u64>,
    associated_ns: Option<u64>,
    negotiation: Option<(u64, u64)>,
    phases: [Phase; 6],
    waits_ns: [u64; 4],
    messages: BTreeMap<&'static str, u32>,
    failures: Vec<String>,
    last: Option<(u64, bool, bool)>,
    steps: Vec<StepReport>,
    steps_left_out: u32,
}

const PHASES: [&str; 6] = [
    "probe",
    "authentication",
    "association",
    "eap",
    "key_handshake",
    "tunnel",
];

/// All sessions of a capture.
#[derive(Default)]
pub struct Sessions {
    list: Vec<Session>,
    current: FxHashMap<(u64, u64), usize>,
    probes: FxHashMap<u64, Probes>,
    left_out: u64,
    clients: FxHashMap<u64, LastData>,
    roams: Vec<Roam>,
    radius: BTreeMap<u64, u32>,
    radius_requests: FxHashMap<u8, MacAddress>,
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
                    Step::FourWay(1) | Step::Start | Step::Eap(_) => session.state == State::Ended,
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
            self.list[*index].enter(event, announced);
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

    /// The cipher that opened a frame of this pair: what WEP's size is only seen by.
    pub fn opened(&mut self, station: MacAddress, bssid: MacAddress, cipher: &'static str) {
        if let Some(index) = self.current.get(&pair_of(station, bssid)) {
            self.list[*index].used_cipher = Some(cipher);
        }
    }

    /// A RADIUS packet: a request names its station, a response only the request.
    pub fn radius(&mut self, identifier: u8, station: Option<MacAddress>) {
        if let Some(station) = station {
            self.radius_requests.insert(identifier, station);
        }
        if let Some(station) = self.radius_requests.get(&identifier)
            && (self.radius.len() < MAX_SESSIONS || self.radius.contains_key(&station.to_u64()))
        {
            *self.radius.entry(station.to_u64()).or_default() += 1;
        }
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
                let radius = self.radius.get(&session.station.to_u64()).copied();
                session.report(origin_ns, radius)
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

impl Session {
    fn enter(&mut self, event: &Event, announced: &Announced) {
        self.last_ns = self.last_ns.max(event.time_ns);
        if self.ssid.is_empty() {
            self.ssid.clone_from(&announced.ssid);
        }
        self.privacy |= announced.privacy;
        if self.rsn.is_none() && announced.rsn.is_some() {
            self.rsn.clone_from(&announced.rsn);
            self.offered = true;
        }
        let (phase, protocol, label) = self.advance(event);
        if let Some(phase) = phase {
            let phase = &mut self.phases[phase];
            if phase.frames == 0 {
                phase.first_ns = event.time_ns;
            }
            phase.last_ns = event.time_ns;
            phase.frames += 1;
            phase.octets += u64::from(event.octets);
            self.wait(event);
        }
        *self.messages.entry(protocol).or_default() += 1;
        if self.steps.len() < MAX_STEPS {
            self.steps.push(StepReport {
                at_s: since(event.time_ns, self.first_ns),
                from: if event.from_station { "station" } else { "ap" },
                what: label,
            });
        } else {
            self.steps_left_out += 1;
        }
    }

    /// Moves the state; gives phase, protocol and label of the frame.
    fn advance(&mut self, event: &Event) -> (Option<usize>, &'static str, String) {
        let now = event.time_ns;
        match &event.step {
            Step::Probe => (Some(0), "probe", "probe".to_owned()),
            Step::Authentication(algorithm, transaction, status) => {
                self.algorithm = Some(*algorithm);
                if *algorithm != 0 {
                    self.negotiates(now);
                }
                // SAE: 76 asks for a token, 126 and 127 announce a method.
                if !matches!(status, 0 | 76 | 126 | 127) {
                    self.fail("authentication refused", reason::status(*status), *status);
                }
                let (protocol, name) = match algorithm {
                    0 => ("authentication", "open"),
                    1 => ("authentication", "shared key"),
                    2 => ("ft", "FT"),
                    3 => ("sae", "SAE"),
                    128 => ("authentication", "LEAP"),
                    _ => ("authentication", "other"),
                };
                let label = format!("authentication {name} {transaction}");
                (Some(1), protocol, label)
            }
            Step::AssociationRequest(rsn, wpa) => {
                if let Some(rsn) = rsn {
                    self.rsn = Some((**rsn).clone());
                    self.wpa = *wpa;
                    self.offered = false;
                } else {
                    // Without an element of its own the station asks for no RSN.
                    self.rsn = None;
                    self.offered = false;
                }
                if self.algorithm == Some(2) {
                    self.negotiates(now);
                }
                (Some(2), "association", "association request".to_owned())
            }
            Step::AssociationResponse(status) => {
                if *status == 0 {
                    self.state = self.state.max(State::Associated);
                    self.associated_ns = Some(now);
                    if self.algorithm == Some(2) {
                        self.negotiates(now);
                        self.keyed = true;
                        self.state = State::Keyed;
                        let first = self.phases[1].first_ns;
                        self.key_first.get_or_insert(first);
                        self.key_last = Some(now);
                    }
                } else {
                    self.fail("association refused", reason::status(*status), *status);
                }
                (
                    Some(2),
                    "association",
                    format!("association response {status}"),
                )
            }
            Step::Start => {
                self.negotiates(now);
                (Some(3), "eapol-start", "EAPOL-Start".to_owned())
            }
            Step::Logoff => (Some(3), "eapol-logoff", "EAPOL-Logoff".to_owned()),
            Step::Eap(eap) => {
                self.negotiates(now);
                (Some(3), "eap", self.eap(eap, event))
            }
            Step::FourWay(number) => {
                self.negotiates(now);
                if self.state < State::Keyed {
                    self.key_first.get_or_insert(now);
                    self.key_last = Some(now);
                    if *number == 4 {
                        self.keyed = true;
                        self.state = State::Keyed;
                    }
                }
                (Some(4), "4-way", format!("4-way {number}"))
            }
            Step::Group(number) => {
                if self.associated_ns.is_none_or(|at| now - at < GIVEN_UP_NS) {
                    self.negotiates(now);
                }
                (Some(4), "group", format!("group key {number}"))
            }
            Step::DynamicWep => {
                self.negotiates(now);
                self.key_first.get_or_insert(now);
                self.key_last = Some(now);
                self.keyed = true;
                self.state = State::Keyed;
                (Some(4), "rc4-key", "dynamic WEP key".to_owned())
            }
            Step::KeyRequest => (Some(4), "key-request", "key request".to_owned()),
            Step::OtherEapol => (Some(3), "eapol-other", "EAPOL".to_owned()),
            Step::FtAction => {
                self.negotiates(now);
                (Some(1), "ft", "FT action".to_owned())
            }
            Step::Leave(deauthentication, code) => {
                let who = if event.from_station { "station" } else { "AP" };
                let what = if *deauthentication {
                    "deauthenticated"
                } else {
                    "disassociated"
                };
                let words = reason::reason(*code).unwrap_or("reserved reason");
                if self.state < State::Keyed && self.protected() || self.state == State::Begun {
                    self.failed = true;
                }
                self.reason
                    .get_or_insert(format!("{what} by the {who}: {words} ({code})"));
                if self.failed && self.failures.len() < 32 {
                    self.failures
                        .push(format!("{what} by the {who}: {words} ({code})"));
                }
                self.state = State::Ended;
                let protocol = if *deauthentication {
                    "deauthentication"
                } else {
                    "disassociation"
                };
                (None, protocol, format!("{what} ({code})"))
            }
            Step::Ike => {
                self.negotiates(now);
                (Some(5), "ike", "IKE".to_owned())
            }
            Step::MobileIp => {
                self.negotiates(now);
                (Some(5), "mobile-ip", "Mobile IP".to_owned())
            }
        }
    }

    fn eap(&mut self, eap: &Eap, event: &Event) -> String {
        let now = event.time_ns;
        if event.from_station && self.eap_end.is_none() {
            self.eap_first.get_or_insert(now);
        }
        if let Some(version) = eap.tls_version {
            self.tls_version = Some(version);
        }
        let name = eap.method.map(|kind| match kind {
            1 => "identity".to_owned(),
            2 => "notification".to_owned(),
            3 => "NAK".to_owned(),
            _ => method_name(kind).map_or(format!("type {kind}"), str::to_owned),
        });
        // A server's proposal counts once the station answers in kind.
        if let (Some(Code::Response), Some(kind)) = (eap.code, eap.method)
            && kind > 3
        {
            self.method = Some(kind);
        }
        match eap.code {
            Some(Code::Success) => {
                self.eap_end.get_or_insert(now);
                "EAP success".to_owned()
            }
            Some(Code::Failure) => {
                self.fail("EAP failure", None, 0);
                "EAP failure".to_owned()
            }
            Some(Code::Request) => format!("EAP request {}", name.unwrap_or_default()),
            Some(Code::Response) => format!("EAP response {}", name.unwrap_or_default()),
            _ => "EAP".to_owned(),
        }
    }

    fn fail(&mut self, what: &str, words: Option<&str>, code: u16) {
        let text = match (words, code) {
            (Some(words), _) => format!("{what}: {words} ({code})"),
            (None, 0) => what.to_owned(),
            (None, _) => format!("{what}: reserved code ({code})"),
        };
        self.failed = true;
        if self.failures.len() < 32 {
            self.failures.push(text.clone());
        }
        self.reason = Some(text);
    }

    fn negotiates(&mut self, now: u64) {
        let (first, _) = self.negotiation.unwrap_or((now, now));
        self.negotiation = Some((first, now));
    }

    /// Attributes the time since the last frame to who had to send this one.
    fn wait(&mut self, event: &Event) {
        if let Some((last_ns, last_station, last_eap_response)) = self.last {
            let gap = event.time_ns.saturating_sub(last_ns);
            let air = event.airtime_ns.min(gap);
            self.waits_ns[3] += air;
            let is_eap = matches!(&event.step, Step::Eap(_));
            let who = match (
                event.from_station,
                is_eap && last_station && last_eap_response,
            ) {
                (true, _) => 0,
                (false, true) => 2,
                (false, false) => 1,
            };
            self.waits_ns[who] += gap - air;
        }
        let response = matches!(&event.step, Step::Eap(_)) && event.from_station;
        self.last = Some((event.time_ns, event.from_station, response));
    }

    fn protected(&self) -> bool {
        self.rsn.is_some()
    }

    fn report(&self, origin_ns: u64, radius: Option<u32>) -> SessionReport {
        let seconds = |from: u64, to: u64| to.saturating_sub(from) as f64 / 1e9;
        let rsn = self.rsn.as_ref();
        let single = |named: Vec<String>| match (&named[..], self.offered) {
            ([one], _) => Some(one.clone()),
            ([first, ..], false) => Some(first.clone()),
            // Several on offer and the choice not seen: unknown, not the first.
            _ => None,
        };
        let akm = match rsn {
            Some(rsn) => single(rsn.akms.iter().map(|suite| akm_name(suite.0)).collect()),
            None => match self.algorithm {
                Some(1) => Some("shared-key".to_owned()),
                Some(128) => Some("leap".to_owned()),
                _ if self.method.is_some() => Some("802.1x".to_owned()),
                _ => Some("open".to_owned()),
            },
        };
        let cipher = match rsn {
            Some(rsn) => single(
                rsn.pairwise
                    .iter()
                    .map(|suite| cipher_name(suite.0))
                    .collect(),
            ),
            None if self.privacy => Some("wep".to_owned()),
            None => Some("open".to_owned()),
        };
        let cipher = self.used_cipher.map(str::to_owned).or(cipher);
        let group_cipher = match rsn {
            Some(rsn) => rsn.group.map(|suite| cipher_name(suite.0)),
            None => cipher.clone(),
        };
        let pmf = match rsn {
            Some(rsn) if rsn.mfpr() => "required",
            Some(rsn) if rsn.mfpc() => "capable",
            _ => "none",
        };
        let complete = match self.state {
            State::Keyed => true,
            State::Associated => !self.protected(),
            State::Ended => !self.failed && self.associated_ns.or(self.key_last).is_some(),
            State::Begun => false,
        };
        let outcome = if self.failed && self.state != State::Keyed {
            "failed"
        } else if complete {
            "connected"
        } else {
            "incomplete"
        };
        let mut messages = self.messages.clone();
        if let Some(radius) = radius {
            messages.insert("radius", radius);
        }
        let phases = PHASES
            .iter()
            .zip(self.phases)
            .filter(|(_, phase)| phase.frames > 0)
            .map(|(name, phase)| PhaseReport {
                phase: name,
                at_s: seconds(self.first_ns, phase.first_ns),
                duration_s: seconds(phase.first_ns, phase.last_ns),
                frames: phase.frames,
                octets: phase.octets,
            })
            .collect();
        SessionReport {
            station: self.station.to_string(),
            bssid: self.bssid.to_string(),
            ssid: (!self.ssid.is_empty()).then(|| String::from_utf8_lossy(&self.ssid).into_owned()),
            at_s: since(self.first_ns, origin_ns),
            akm,
            cipher,
            group_cipher,
            pmf,
            wpa_version: rsn.map(|_| if self.wpa { 1 } else { 2 }),
            eap_method: self
                .method
                .map(|kind| method_name(kind).map_or(format!("type {kind}"), str::to_owned)),
            tls_version: self.tls_version.map(tls_name),
            outcome,
            reason: self.reason.clone(),
            failures: self.failures.clone(),
            association_time_s: self.associated_ns.and_then(|at| {
                (self.phases[1].frames > 0).then(|| seconds(self.phases[1].first_ns, at))
            }),
            eap_time_s: match (self.eap_first, self.eap_end) {
                (Some(first), Some(end)) => Some(seconds(first, end)),
                _ => None,
            },
            eap_time_capture_point: "air",
            key_handshake_time_s: match (self.key_first, self.key_last) {
                (Some(first), Some(last)) if self.keyed => Some(seconds(first, last)),
                _ => None,
            },
            negotiation_time_s: self.negotiation.map(|(first, last)| seconds(first, last)),
            waits_s: Waits {
                station: self.waits_ns[0] as f64 / 1e9,
                ap: self.waits_ns[1] as f64 / 1e9,
                server: self.waits_ns[2] as f64 / 1e9,
                air: self.waits_ns[3] as f64 / 1e9,
            },
            messages,
            phases,
            steps: self.steps.clone(),
            steps_left_out: self.steps_left_out,
        }
    }
}

/// A session as it is printed.
#[derive(Debug, Clone, Serialize)]
pub struct SessionReport {
    /// Client.
    pub station: String,
    /// AP.
    pub bssid: String,
    /// SSID, null if it was never seen.
    pub ssid: Option<String>,
    /// First frame, in seconds after the capture's first.
    pub at_s: f64,
    /// AKM; null if several were on offer and the choice was not seen.
    pub akm: Option<String>,
    /// Pairwise cipher, likewise.
    pub cipher: Option<String>,
    /// Group cipher.
    pub group_cipher: Option<String>,
    /// Management frame protection: none, capable or required.
    pub pmf: &'static str,
    /// 1 for the WPA element, 2 for the RSN element; null without either.
    pub wpa_version: Option<u8>,
    /// EAP method that the station answered in.
    pub eap_method: Option<String>,
    /// TLS version that the server chose.
    pub tls_version: Option<String>,
    /// connected, failed or incomplete.
    pub outcome: &'static str,
    /// Why it failed or ended, in words.
    pub reason: Option<String>,
    /// Every refusal on the way.
    pub failures: Vec<String>,
    /// First authentication frame to successful association response.
    pub association_time_s: Option<f64>,
    /// First EAP message of the client to EAP-Success.
    pub eap_time_s: Option<f64>,
    /// Where the EAP times were taken.
    pub eap_time_capture_point: &'static str,
    /// First to last message of the 4-way or FT exchange.
    pub key_handshake_time_s: Option<f64>,
    /// First to last frame of everything negotiated after open-system authentication.
    pub negotiation_time_s: Option<f64>,
    /// Who kept whom waiting.
    pub waits_s: Waits,
    /// Frames by protocol.
    pub messages: BTreeMap<&'static str, u32>,
    /// Phases with time, frames and octets.
    pub phases: Vec<PhaseReport>,
    /// Frames in order, for the waterfall.
    pub steps: Vec<StepReport>,
    /// Frames beyond those.
    pub steps_left_out: u32,
}

/// One phase.
#[derive(Debug, Clone, Serialize)]
pub struct PhaseReport {
    /// Its name.
    pub phase: &'static str,
    /// Start, in seconds after the session's first frame.
    pub at_s: f64,
    /// First to last frame.
    pub duration_s: f64,
    /// Frames.
    pub frames: u32,
    /// Octets on air.
    pub octets: u64,
}

/// One frame of a timeline.
#[derive(Debug, Clone, Serialize)]
pub struct StepReport {
    /// Seconds after the session's first frame.
    pub at_s: f64,
    /// station or ap.
    pub from: &'static str,
    /// What it is.
    pub what: String,
}

/// One roam.
#[derive(Debug, Clone, Serialize)]
pub struct RoamReport {
    /// Client.
    pub station: String,
    /// AP it left.
    pub from: String,
    /// AP it went to.
    pub to: String,
    /// First data frame through the new AP, in seconds after the capture's first frame.
    pub at_s: f64,
    /// Last data frame through the old AP to the first through the new one.
    pub handover_gap_s: f64,
}

fn since(time_ns: u64, origin_ns: u64) -> f64 {
    time_ns.saturating_sub(origin_ns) as f64 / 1e9
}

fn akm_name(selector: [u8; 4]) -> String {
    airtoll_security::AkmSuite::from_selector(selector).map_or_else(
        || {
            airtoll_wire::ieee80211::AkmSuite(selector)
                .to_string()
                .to_lowercase()
        },
        |akm| akm.name().to_owned(),
    )
}

fn cipher_name(selector: [u8; 4]) -> String {
    airtoll_security::CipherSuite::from_selector(selector).map_or_else(
        || {
            airtoll_wire::ieee80211::CipherSuite(selector)
                .to_string()
                .to_lowercase()
        },
        |cipher| cipher.name().to_owned(),
    )
}

fn tls_name(version: u16) -> String {
    match version {
        0x0301 => "1.0".to_owned(),
        0x0302 => "1.1".to_owned(),
        0x0303 => "1.2".to_owned(),
        0x0304 => "1.3".to_owned(),
        other => format!("0x{other:04x}"),
    }
}
