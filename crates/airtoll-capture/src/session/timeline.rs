//! One session: takes the negotiation frames of a station and a BSS in order, keeps what was
//! negotiated, how far it came and when.
//!
//! Never prints: see [`super::report`].

use std::collections::BTreeMap;

use airtoll_security::{CipherSuite, EapMethod};
use airtoll_wire::MacAddress;
use airtoll_wire::eap::Code;
use airtoll_wire::ieee80211::{RsnRepr, reason};

use super::report::{StepReport, since};
use super::waits::Waiting;
use super::{Announced, Event, GIVEN_UP_NS, Step};
use crate::dissect::Eap;

/// Most steps of one session that are kept for the waterfall.
const MAX_STEPS: usize = 96;

/// How far a session came.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum State {
    #[default]
    Begun,
    Associated,
    Keyed,
    Ended,
}

#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Phase {
    pub(super) first_ns: u64,
    pub(super) last_ns: u64,
    pub(super) frames: u32,
    pub(super) octets: u64,
}

/// One session.
#[derive(Debug, Default)]
pub(super) struct Session {
    pub(super) station: MacAddress,
    pub(super) bssid: MacAddress,
    pub(super) ssid: Vec<u8>,
    pub(super) first_ns: u64,
    pub(super) last_ns: u64,
    pub(super) state: State,
    /// The key handshake came to its end.
    pub(super) keyed: bool,
    pub(super) failed: bool,
    pub(super) reason: Option<String>,
    pub(super) rsn: Option<RsnRepr>,
    pub(super) wpa: bool,
    /// Where `rsn` is what the BSS offers, not what the station chose.
    pub(super) offered: bool,
    /// The station's own choice was seen, also that of no security element.
    pub(super) chose: bool,
    pub(super) privacy: bool,
    pub(super) algorithm: Option<u16>,
    pub(super) method: Option<u8>,
    pub(super) tls_version: Option<u16>,
    pub(super) used_cipher: Option<&'static str>,
    pub(super) eap_first: Option<u64>,
    pub(super) eap_end: Option<u64>,
    pub(super) key_first: Option<u64>,
    pub(super) key_last: Option<u64>,
    pub(super) associated_ns: Option<u64>,
    pub(super) negotiation: Option<(u64, u64)>,
    pub(super) phases: [Phase; 6],
    pub(super) waiting: Waiting,
    pub(super) messages: BTreeMap<&'static str, u32>,
    pub(super) failures: Vec<String>,
    pub(super) steps: Vec<StepReport>,
    pub(super) steps_left_out: u32,
}

pub(super) const PHASES: [&str; 6] = [
    "probe",
    "authentication",
    "association",
    "eap",
    "key_handshake",
    "tunnel",
];

impl Session {
    /// Enters a frame; `served_ns` is the time that a server of RADIUS took for it, if known.
    pub(super) fn enter(&mut self, event: &Event, announced: &Announced, served_ns: Option<u64>) {
        self.last_ns = self.last_ns.max(event.time_ns);
        if self.ssid.is_empty() {
            self.ssid.clone_from(&announced.ssid);
        }
        self.privacy |= announced.privacy;
        if !self.chose && self.rsn.is_none() && announced.rsn.is_some() {
            self.rsn.clone_from(&announced.rsn);
            self.offered = true;
        }
        let (phase, protocol, label) = self.advance(event);
        let named = phase.map(|phase| PHASES[phase]);
        if let Some(phase) = phase {
            let phase = &mut self.phases[phase];
            if phase.frames == 0 {
                phase.first_ns = event.time_ns;
            }
            phase.last_ns = event.time_ns;
            phase.frames += 1;
            phase.octets += u64::from(event.octets);
            self.waiting.enter(event, served_ns);
        }
        *self.messages.entry(protocol).or_default() += 1;
        if self.steps.len() < MAX_STEPS {
            self.steps.push(StepReport {
                at_s: since(event.time_ns, self.first_ns),
                from: if event.from_station { "station" } else { "ap" },
                phase: named,
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
                    4..=6 => ("fils", "FILS"),
                    7 => ("pasn", "PASN"),
                    128 => ("authentication", "LEAP"),
                    _ => ("authentication", "other"),
                };
                let label = format!("authentication {name} {transaction}");
                (Some(1), protocol, label)
            }
            Step::AssociationRequest(rsn, wpa) => {
                // Without an element of its own the station asks for no RSN.
                self.rsn = rsn.as_deref().cloned();
                self.wpa = *wpa && rsn.is_some();
                self.offered = false;
                self.chose = true;
                if matches!(self.algorithm, Some(2 | 4..=6)) {
                    self.negotiates(now);
                }
                (Some(2), "association", "association request".to_owned())
            }
            Step::AssociationResponse(status) => {
                if *status == 0 {
                    self.state = self.state.max(State::Associated);
                    self.associated_ns = Some(now);
                    // A refusal before it is over; it stays among the failures.
                    if self.failed {
                        self.failed = false;
                        self.reason = None;
                    }
                    // FT and FILS have their keys with the association.
                    if matches!(self.algorithm, Some(2 | 4..=6)) {
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
            Step::FourWay(number, choice) => {
                self.negotiates(now);
                if let (false, Some((rsn, wpa))) = (self.chose, choice) {
                    self.rsn = Some((**rsn).clone());
                    self.wpa = *wpa;
                    self.offered = false;
                    self.chose = true;
                }
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
                // Stamps may go back: clocks are set, and captures are joined.
                let age = self.associated_ns.map(|at| now.saturating_sub(at));
                if age.is_none_or(|age| age < GIVEN_UP_NS) {
                    self.negotiates(now);
                }
                (Some(4), "group", format!("group key {number}"))
            }
            Step::DynamicWep(octets) => {
                self.used_cipher = match octets {
                    5 => Some(CipherSuite::Wep40.name()),
                    13 => Some(CipherSuite::Wep104.name()),
                    _ => self.used_cipher,
                };
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
            _ => EapMethod::title_of(kind),
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

    /// A unicast frame of this session was opened.
    pub(super) fn opened(&mut self, suite: CipherSuite) {
        let wep = matches!(suite, CipherSuite::Wep40 | CipherSuite::Wep104);
        if wep || self.rsn.is_some() {
            self.used_cipher = Some(suite.name());
        }
        // Messages of its handshake may be lost to the capture; its keys were not lost to it.
        if self.state == State::Associated && !wep {
            self.state = State::Keyed;
        }
    }

    /// From the first frame to the last.
    pub(super) fn span(&self) -> Option<(u64, u64)> {
        (self.last_ns > 0).then_some((self.first_ns, self.last_ns))
    }

    pub(super) fn protected(&self) -> bool {
        self.rsn.is_some()
    }
}
