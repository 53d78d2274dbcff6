//! One session: takes the negotiation frames of a station and a BSS in order, keeps the join, the
//! rekeys after it and the end.
//!
//! A time is known only where both of its frames were seen. Never prints: see [`super::report`].

use airtoll_security::{CipherSuite, EapMethod};
use airtoll_wire::MacAddress;
use airtoll_wire::eap::Code;
use airtoll_wire::ieee80211::{RsnRepr, reason};
use airtoll_wire::{dhcp, tls, wps};

use super::channels::Channels;
use super::steps::{FrameNumber, Heard, Label, Mark, Phase, Protocol, SpanNs, reason_words};
use super::waits::Waiting;
use super::{Announced, Event, GIVEN_UP_NS, KeyMessage, Step};
use crate::dissect::Eap;

/// Most steps of one session that are kept for the waterfall.
const MAX_STEPS: usize = 96;
/// Most rekeys of one session that are kept apart; further ones are counted.
const MAX_REKEYS: usize = 64;
/// Most refusals of one session that are kept.
const MAX_FAILURES: usize = 32;

/// Key messages of a join are sent again within this time after its message 4.
const REPEATED_NS: u64 = 5_000_000_000;
/// A tunnel that is set up within this time after the last frame of a join belongs to it.
const TUNNEL_NS: u64 = 120_000_000_000;

/// DHCP messages of one transaction closer than this are one, sent again by the MAC.
const DHCP_AGAIN_NS: u64 = 100_000_000;
/// A station that goes on so long after a deauthentication for all stations did not obey it.
const OBEYS_NS: u64 = 1_000_000_000;

/// One phase of a join.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Part {
    pub(super) first_ns: u64,
    pub(super) last_ns: u64,
    pub(super) frames: u32,
    pub(super) octets: u64,
}

impl Part {
    fn enter(&mut self, event: &Event) {
        if self.frames == 0 {
            self.first_ns = event.time_ns;
        }
        self.last_ns = event.time_ns;
        self.frames = self.frames.saturating_add(1);
        self.octets += u64::from(event.octets);
    }
}

/// DHCP messages of a station by type, from 1 to 8 (RFC 2132 section 9.6).
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct DhcpMessages {
    pub(super) counts: [u32; 8],
    last: Option<(u8, u32, u64)>,
}

impl DhcpMessages {
    pub(super) fn enter(&mut self, message: u8, transaction: u32, time_ns: u64) {
        let again = self.last.is_some_and(|(kind, known, at)| {
            (kind, known) == (message, transaction) && time_ns.abs_diff(at) < DHCP_AGAIN_NS
        });
        self.last = Some((message, transaction, time_ns));
        if !again && (dhcp::message::DISCOVER..=dhcp::message::INFORM).contains(&message) {
            let count = &mut self.counts[usize::from(message) - 1];
            *count = count.saturating_add(1);
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.counts.iter().all(|count| *count == 0)
    }
}

/// The way in: times of its frames, as far as they were seen.
#[derive(Debug, Default)]
pub(super) struct Join {
    /// First authentication frame of the station.
    pub(super) asked: Option<u64>,
    /// First association response that accepts.
    pub(super) associated: Option<u64>,
    /// First frame of EAP was near the beginning of the exchange, or what comes before was seen.
    eap_whole: bool,
    eap_seen: bool,
    /// First EAP response.
    pub(super) eap_first: Option<u64>,
    pub(super) eap_end: Option<u64>,
    /// First message of the key handshake.
    pub(super) key_first: Option<u64>,
    pub(super) key_last: Option<u64>,
    /// The key handshake came to its end.
    pub(super) key_whole: bool,
    /// Time and counter of the last message 1 that no message 4 answers yet.
    first_message: Option<(u64, u64)>,
    /// A message 1 was seen in this attempt at the keys.
    begun: bool,
    /// Highest replay counter of the messages of its 4-way handshake.
    counter: u64,
    /// Last message 1 to message 4.
    pub(super) four_way_ns: Option<u64>,
    /// Messages 2, and whether a message 3 followed.
    pub(super) seconds: u32,
    pub(super) third: bool,
    /// WPA delivers its group key in a handshake of its own; this is its second message.
    group_done: bool,
    /// The last frame that the station needs before it may send data.
    pub(super) done: Option<u64>,
    pub(super) first_data: Option<u64>,
    pub(super) first_answer: Option<u64>,
    /// First and last frame of the negotiation.
    pub(super) negotiation: Option<(u64, u64)>,
    pub(super) phases: [Part; 6],
    /// Messages that set a tunnel up, by its protocol.
    pub(super) tunnels: Vec<(Protocol, Part)>,
    pub(super) waiting: Waiting,
    pub(super) messages: [u32; Protocol::COUNT],
}

/// A renewal of keys after the join.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rekey {
    pub(super) protocol: Protocol,
    pub(super) first_ns: u64,
    pub(super) last_ns: u64,
    pub(super) frame: FrameNumber,
    pub(super) frames: u32,
    pub(super) done: bool,
}

/// How a session ended.
#[derive(Debug, Clone, Copy)]
pub(super) struct End {
    pub(super) time_ns: u64,
    pub(super) frame: FrameNumber,
    pub(super) from_station: bool,
    pub(super) deauthentication: bool,
    pub(super) code: u16,
    /// It was for all stations of the BSS.
    pub(super) to_all: bool,
}

impl End {
    /// The end in words.
    pub(super) fn words(&self) -> String {
        let verb = if self.deauthentication {
            "deauthenticated"
        } else {
            "disassociated"
        };
        let by = if self.from_station { "station" } else { "AP" };
        let whom = if self.to_all { ", to all stations" } else { "" };
        let words = reason_words(self.code);
        format!("{verb} by the {by}{whom}: {words} ({})", self.code)
    }
}

/// One session.
#[derive(Debug, Default)]
pub(super) struct Session {
    pub(super) station: MacAddress,
    pub(super) bssid: MacAddress,
    pub(super) ssid: Vec<u8>,
    /// Its frames came from a wire or a host, not from the air.
    pub(super) wired: bool,
    pub(super) first_ns: u64,
    pub(super) last_ns: u64,
    pub(super) first_frame: FrameNumber,
    pub(super) last_frame: FrameNumber,
    pub(super) join: Join,
    /// The station got in, also where the frame that lets it in was not captured.
    pub(super) connected: bool,
    pub(super) failed: bool,
    /// Nonempty only while the last failure holds.
    pub(super) reason: Option<String>,
    pub(super) failures: Vec<String>,
    pub(super) rekeys: Vec<Rekey>,
    pub(super) rekeys_left_out: u32,
    pub(super) channels: Channels,
    pub(super) end: Option<End>,
    pub(super) rsn: Option<RsnRepr>,
    pub(super) wpa: bool,
    /// Where `rsn` is what the BSS offers, not what the station chose.
    pub(super) offered: bool,
    /// The station's own choice was seen, also that of no security element.
    pub(super) chose: bool,
    /// The BSS announces an RSN or WPA element.
    pub(super) announces_rsn: bool,
    /// Privacy bit of the station's request, or of the BSS.
    pub(super) privacy: Option<bool>,
    pub(super) algorithm: Option<u16>,
    pub(super) method: Option<u8>,
    pub(super) tls_version: Option<u16>,
    pub(super) used_cipher: Option<&'static str>,
    /// Highest replay counter of a key message.
    pub(super) replay_counter: Option<u64>,
    /// TLS alert in its EAP: whether the station sent it, and its description.
    pub(super) alert: Option<(bool, u8)>,
    /// Its EAP is Wi-Fi Protected Setup, and the last message that named its type.
    pub(super) wps: Option<u8>,
    /// DHCP as the air and as wires showed it.
    pub(super) dhcp: [DhcpMessages; 2],
    /// It stands among those that a deauthentication for all stations ends.
    pub(super) listed: bool,
    pub(super) four_way_seen: bool,
    pub(super) messages: [u32; Protocol::COUNT],
    pub(super) retransmissions: u32,
    pub(super) heard: Heard,
    pub(super) data_protected: u64,
    pub(super) data_clear: u64,
    pub(super) marks: Vec<Mark>,
    pub(super) steps_left_out: u32,
    /// Told to those who watch.
    pub(super) told: bool,
}

impl Session {
    pub(super) const fn is_associated(&self) -> bool {
        self.join.associated.is_some() || self.connected
    }

    /// Nothing of this attempt is to be expected any more.
    pub(super) const fn is_over(&self) -> bool {
        self.end.is_some() || self.failed
    }

    /// Wi-Fi Protected Setup gave the station its credentials.
    pub(super) const fn is_registered(&self) -> bool {
        matches!(self.wps, Some(wps::message::DONE))
    }

    /// Whether the station needs keys to get in, as far as its choice was seen.
    pub(super) const fn protected(&self) -> bool {
        self.rsn.is_some() || matches!(self.algorithm, Some(3)) && !self.chose
    }

    /// From the first frame to the last.
    pub(super) const fn span(&self) -> SpanNs {
        SpanNs {
            first: self.first_ns,
            last: self.last_ns,
        }
    }

    /// Enters a frame; `served_ns` is the time that a server of RADIUS took for it, if known.
    pub(super) fn enter(&mut self, event: &Event, announced: &Announced, served_ns: Option<u64>) {
        self.last_ns = self.last_ns.max(event.time_ns);
        self.last_frame = event.frame;
        if self.ssid.is_empty() {
            self.ssid.clone_from(&announced.ssid);
        }
        self.announces_rsn |= announced.rsn.is_some();
        if !self.chose {
            self.privacy = announced.privacy.or(self.privacy);
            if self.rsn.is_none() && announced.rsn.is_some() {
                self.rsn.clone_from(&announced.rsn);
                self.offered = true;
            }
        }
        let again = event.sequence.is_some_and(|sequence| {
            self.heard.enter(
                event.from_station,
                sequence,
                event.time_ns,
                event.frame.file,
            )
        });
        let (phase, protocol, label) = if again {
            self.retransmissions = self.retransmissions.saturating_add(1);
            let (phase, _, label) = described(&event.step);
            (phase, None, label)
        } else {
            let (phase, protocol, label) = self.advance(event);
            (phase, Some(protocol), label)
        };
        if let Some(protocol) = protocol {
            self.channels.enter(event, protocol);
            let count = &mut self.messages[protocol as usize];
            *count = count.saturating_add(1);
            if let Some(index) = Phase::JOIN.iter().position(|other| *other == phase) {
                let count = &mut self.join.messages[protocol as usize];
                *count = count.saturating_add(1);
                if protocol.negotiates() {
                    let first = self.join.negotiation.map_or(event.time_ns, |(at, _)| at);
                    self.join.negotiation = Some((first, event.time_ns));
                }
                self.join.phases[index].enter(event);
                if phase == Phase::Tunnel {
                    let tunnels = &mut self.join.tunnels;
                    let known = tunnels.iter().position(|(one, _)| *one == protocol);
                    let place = known.unwrap_or_else(|| {
                        tunnels.push((protocol, Part::default()));
                        tunnels.len() - 1
                    });
                    tunnels[place].1.enter(event);
                }
                self.join.waiting.enter(event, label, served_ns);
            }
        }
        self.mark(Mark {
            time_ns: event.time_ns,
            frame: event.frame,
            label,
            phase,
            from_station: event.from_station,
            again,
        });
    }

    fn mark(&mut self, mark: Mark) {
        if self.marks.len() < MAX_STEPS {
            self.marks.push(mark);
        } else {
            self.steps_left_out = self.steps_left_out.saturating_add(1);
        }
    }

    /// A deauthentication or disassociation of all stations of the BSS; `proven`: its MIC fits. Without
    /// one, stations with protected management frames ignore it (IEEE 802.11-2020, 11.13).
    pub(super) fn leave_all(&mut self, end: End, proven: bool) {
        let ignores = self
            .rsn
            .as_ref()
            .is_some_and(|rsn| if self.offered { rsn.mfpr() } else { rsn.mfpc() });
        if self.end.is_some() || ignores && !proven {
            return;
        }
        let (label, protocol) = if end.deauthentication {
            (Label::Deauthenticated(end.code), Protocol::Deauthentication)
        } else {
            (Label::Disassociated(end.code), Protocol::Disassociation)
        };
        let count = &mut self.messages[protocol as usize];
        *count = count.saturating_add(1);
        self.last_ns = self.last_ns.max(end.time_ns);
        self.last_frame = end.frame;
        if !self.connected && !self.is_registered() {
            self.fail(end.words());
        }
        self.end = Some(end);
        self.mark(Mark {
            time_ns: end.time_ns,
            frame: end.frame,
            label,
            phase: Phase::End,
            from_station: false,
            again: false,
        });
    }

    /// Moves the state; gives phase, protocol and label of the frame.
    fn advance(&mut self, event: &Event) -> (Phase, Protocol, Label) {
        let now = event.time_ns;
        let (mut phase, protocol, label) = described(&event.step);
        match &event.step {
            Step::Probe | Step::OtherEapol | Step::PreAuthentication | Step::Logoff => {}
            Step::Authentication(algorithm, transaction, status) => {
                self.authentication(*algorithm, *transaction, *status, event);
            }
            Step::AssociationRequest {
                choice,
                wpa,
                privacy,
            } => {
                // Without an element of its own the station asks for no RSN.
                self.rsn = choice.as_deref().cloned();
                self.wpa = *wpa && choice.is_some();
                self.offered = false;
                self.chose = true;
                self.privacy = Some(*privacy);
            }
            Step::AssociationResponse(status) => self.association_response(*status, now),
            Step::Start => {
                self.join.eap_whole |= !self.join.eap_seen;
                phase = self.of_the_join_or_a_rekey(phase, protocol, event);
            }
            Step::Eap(eap) => {
                phase = self.of_the_join_or_a_rekey(phase, protocol, event);
                self.eap(eap, event, phase);
            }
            Step::FourWay(key) => phase = self.four_way(key, event),
            Step::Group(number, wpa, counter) => {
                self.count_up(*counter);
                phase = self.group(*number, *wpa, event);
            }
            Step::DynamicWep(octets) => {
                self.used_cipher = match octets {
                    5 => Some(CipherSuite::Wep40.name()),
                    13 => Some(CipherSuite::Wep104.name()),
                    _ => self.used_cipher,
                };
                if self.connected
                    && self
                        .join
                        .key_last
                        .is_some_and(|last| now > last + GIVEN_UP_NS)
                {
                    phase = Phase::Rekey;
                    self.rekey(protocol, event, true);
                } else {
                    self.join.key_first.get_or_insert(now);
                    self.join.key_last = Some(now);
                    self.join.key_whole = true;
                    self.joined(now);
                }
            }
            Step::KeyRequest => phase = Phase::Rekey,
            Step::FtAction => {
                if event.from_station {
                    self.join.key_first.get_or_insert(now);
                }
                self.algorithm.get_or_insert(2);
            }
            Step::Leave(deauthentication, code) => {
                let end = End {
                    time_ns: now,
                    frame: event.frame,
                    from_station: event.from_station,
                    deauthentication: *deauthentication,
                    code: *code,
                    to_all: false,
                };
                if !self.connected && !self.is_registered() {
                    self.fail(end.words());
                }
                self.end.get_or_insert(end);
            }
            Step::Tunnel(..) => {
                let late = self
                    .join
                    .negotiation
                    .is_some_and(|(_, last)| now.saturating_sub(last) > TUNNEL_NS);
                if late {
                    phase = Phase::Rekey;
                    self.rekey(protocol, event, false);
                }
            }
        }
        (phase, protocol, label)
    }

    fn authentication(&mut self, algorithm: u16, transaction: u16, status: u16, event: &Event) {
        self.algorithm = Some(algorithm);
        if transaction == 1 && event.from_station {
            self.join.asked.get_or_insert(event.time_ns);
            if matches!(algorithm, 2 | 4..=6) {
                self.join.key_first.get_or_insert(event.time_ns);
            }
        }
        self.revive();
        // SAE: 76 asks for a token, 126 and 127 announce a method.
        if !matches!(status, 0 | 76 | 126 | 127) {
            self.fail(refusal(
                "authentication refused",
                reason::status(status),
                status,
            ));
        }
    }

    fn association_response(&mut self, status: u16, now: u64) {
        if status != 0 {
            self.fail(refusal(
                "association refused",
                reason::status(status),
                status,
            ));
            return;
        }
        // A refusal before it is over; it stays among the failures.
        self.revive();
        self.join.associated.get_or_insert(now);
        if matches!(self.algorithm, Some(2 | 4..=6)) {
            // FT and FILS have their keys with the association.
            self.join.key_last = Some(now);
            self.join.key_whole = true;
            self.joined(now);
        } else if !self.protected() {
            self.joined(now);
        }
    }

    /// The join goes on after a failure or an end that did not hold.
    fn revive(&mut self) {
        if !self.connected {
            self.failed = false;
            self.reason = None;
            self.end = None;
        }
    }

    fn joined(&mut self, now: u64) {
        self.connected = true;
        self.failed = false;
        self.reason = None;
        self.join.done = Some(now);
    }

    /// EAP belongs to the join until the station has its keys, then it renews them. Without RSN
    /// it goes on after the association that let the station in.
    fn of_the_join_or_a_rekey(&mut self, phase: Phase, protocol: Protocol, event: &Event) -> Phase {
        let keyed = self.connected && (self.protected() || self.join.eap_end.is_some());
        let late = self.join.eap_end.unwrap_or(self.first_ns);
        let soon = event.time_ns.saturating_sub(late) < 1_000_000_000 && !self.protected();
        if !keyed || soon {
            return phase;
        }
        self.rekey(protocol, event, false);
        Phase::Rekey
    }

    fn eap(&mut self, eap: &Eap, event: &Event, phase: Phase) {
        let now = event.time_ns;
        if let Some(version) = eap.tls_version {
            self.tls_version = Some(version);
        }
        if let Some(alert) = eap.alert {
            self.alert = Some((event.from_station, alert));
        }
        if let Some(kind) = eap.wps {
            let last = self.wps.unwrap_or(0);
            self.wps = Some(if kind == 0 { last } else { kind });
        }
        // A server's proposal counts once the station answers in kind.
        if let (Some(Code::Response), Some(kind)) = (eap.code, eap.method)
            && kind > 3
        {
            self.method = Some(kind);
        }
        if phase == Phase::Rekey {
            if matches!(eap.code, Some(Code::Success | Code::Failure))
                && let Some(rekey) = self.rekeys.last_mut()
            {
                rekey.done = eap.code == Some(Code::Success);
            }
            return;
        }
        let join = &mut self.join;
        if !join.eap_seen {
            join.eap_seen = true;
            join.eap_whole |= join.associated.is_some() || eap.method == Some(1);
        }
        if event.from_station && join.eap_end.is_none() {
            join.eap_first.get_or_insert(now);
        }
        match eap.code {
            Some(Code::Success) => {
                join.eap_end.get_or_insert(now);
                if !self.protected() && self.connected {
                    self.joined(now);
                }
            }
            Some(Code::Failure) => {
                // A further attempt has times of its own.
                join.eap_seen = false;
                join.eap_whole = false;
                join.eap_first = None;
                if self.is_registered() {
                    // Wi-Fi Simple Configuration 2.0.5, section 7.7.3: its regular end.
                    self.failed = false;
                    self.reason = Some(
                        "Wi-Fi Protected Setup gave its credentials; EAP failure is its end"
                            .to_owned(),
                    );
                } else {
                    self.fail(self.eap_failure());
                }
                self.alert = None;
            }
            _ => {}
        }
    }

    /// A failure of EAP with its method, and the TLS alert that came before.
    fn eap_failure(&self) -> String {
        let method = match (self.wps, self.method) {
            (Some(_), _) => " in WPS".to_owned(),
            (None, Some(method)) => format!(" in {}", EapMethod::title_of(method)),
            (None, None) => String::new(),
        };
        format!("EAP failure{method}{}", self.alert_words())
    }

    /// The TLS alert of its EAP in words, behind a reason; empty without one.
    pub(super) fn alert_words(&self) -> String {
        let words = self.alert.map(|(from_station, alert)| {
            let by = if from_station { "station" } else { "server" };
            let words = tls::alert_name(alert).unwrap_or("reserved alert");
            format!("; TLS alert of the {by}: {words} ({alert})")
        });
        words.unwrap_or_default()
    }

    /// First EAP response to EAP-Success, where the whole exchange was seen.
    pub(super) fn eap_span(&self) -> Option<SpanNs> {
        let span = SpanNs {
            first: self.join.eap_first?,
            last: self.join.eap_end?,
        };
        self.join.eap_whole.then_some(span)
    }

    /// Replay counters of an association only grow.
    fn count_up(&mut self, counter: u64) {
        self.replay_counter = self.replay_counter.max(Some(counter));
    }

    fn four_way(&mut self, key: &KeyMessage, event: &Event) -> Phase {
        let now = event.time_ns;
        self.four_way_seen = true;
        if let (false, Some(rsn)) = (self.chose, &key.choice) {
            self.rsn = Some((**rsn).clone());
            self.wpa = key.wpa;
            self.offered = false;
            self.chose = true;
        }
        self.count_up(key.replay_counter);
        if self.renews_keys(key, now) {
            self.rekey(Protocol::FourWay, event, key.number == 4);
            return Phase::Rekey;
        }
        if !self.join.key_whole && self.join.done.is_some() {
            // The association alone did not let the station in: its choice of RSN was not seen.
            self.join.done = None;
            self.connected = false;
        }
        if key.number == 1 && (!self.join.begun || self.is_over()) {
            self.begin_keys();
        }
        let join = &mut self.join;
        join.counter = join.counter.max(key.replay_counter);
        match key.number {
            1 => {
                join.key_first.get_or_insert(now);
                join.first_message = Some((now, key.replay_counter));
            }
            2 => {
                join.seconds = join.seconds.saturating_add(1);
                // It answers a message 1 that was not captured.
                join.first_message
                    .take_if(|(_, counter)| *counter < key.replay_counter);
            }
            3 => join.third = true,
            _ => {}
        }
        join.key_last = Some(now);
        if key.number == 4 {
            join.key_whole = true;
            if let Some((first, _)) = join.first_message.take() {
                join.four_way_ns = Some(now.saturating_sub(first));
            }
            // The first message 4 lets the station in; a repeated one only ends the exchange.
            let done = join.done.unwrap_or(now);
            self.joined(done);
            if self.end.is_some_and(|end| end.time_ns <= now) && self.join.associated.is_some() {
                // The end came before the keys: it was that of an earlier association.
                self.end = None;
            }
        }
        Phase::KeyHandshake
    }

    /// A message 1 begins the key handshake anew, where what came before is of another attempt: one
    /// that failed, or one whose message 1 was not captured. Its times are those of this attempt.
    fn begin_keys(&mut self) {
        let join = &mut self.join;
        join.begun = true;
        join.key_first = None;
        join.phases[4] = Part::default();
        let others = Protocol::ALL.into_iter().filter(|one| one.negotiates());
        let alone = others
            .filter(|one| *one != Protocol::FourWay)
            .all(|one| join.messages[one as usize] == 0);
        if alone {
            join.negotiation = None;
        }
    }

    /// Whether a message of the 4-way handshake renews keys; those of the join come first. Messages 3
    /// and 4 that are sent again follow at once, with the next replay counter; one whose counter is
    /// further on belongs to a renewal whose other messages were encrypted or not captured.
    fn renews_keys(&self, key: &KeyMessage, now: u64) -> bool {
        let Some(done) = self.join.done.filter(|_| self.connected) else {
            return false;
        };
        let last = self.join.key_last.unwrap_or(done);
        let goes_on = self
            .rekeys
            .last()
            .is_some_and(|rekey| rekey.protocol == Protocol::FourWay && !rekey.done);
        if !self.join.key_whole {
            return now.saturating_sub(last) > GIVEN_UP_NS;
        }
        let ahead = key.replay_counter.saturating_sub(self.join.counter);
        match key.number {
            1 => true,
            2 if ahead > 0 => true,
            _ => goes_on || ahead > 1 || now.saturating_sub(last) > REPEATED_NS,
        }
    }

    /// Whether a message of the 4-way handshake in clear is of another attempt than the session's:
    /// counters only grow within one, and a renewal counts on.
    pub(super) fn is_of_another_attempt(&self, key: &KeyMessage, idle_ns: u64) -> bool {
        let Some(highest) = self.replay_counter else {
            return false;
        };
        let waited = idle_ns > super::GOES_ON_NS;
        if !self.join.key_whole {
            return waited && key.replay_counter < highest;
        }
        (waited || key.number == 1) && key.replay_counter <= highest
    }

    fn group(&mut self, number: u8, wpa: bool, event: &Event) -> Phase {
        let now = event.time_ns;
        let since_keys = self.join.key_last.map(|last| now.saturating_sub(last));
        let delivers = wpa
            && !self.join.group_done
            && since_keys.is_some_and(|since| since < GIVEN_UP_NS)
            && self.rekeys.is_empty();
        if delivers {
            self.join.key_last = Some(now);
            self.join.group_done = number == 2;
            return Phase::KeyHandshake;
        }
        // Only a station with keys takes part: message 4 was not captured.
        self.connected |= self.join.third;
        self.rekey(Protocol::Group, event, number == 2);
        Phase::Rekey
    }

    /// Enters a frame of a renewal: of the one that goes on, or of a new one.
    fn rekey(&mut self, protocol: Protocol, event: &Event, last: bool) {
        let now = event.time_ns;
        let same = |rekey: &&mut Rekey| {
            rekey.protocol == protocol
                && !rekey.done
                && now.saturating_sub(rekey.last_ns) < GIVEN_UP_NS
        };
        if let Some(rekey) = self.rekeys.last_mut().filter(same) {
            rekey.last_ns = rekey.last_ns.max(now);
            rekey.frames = rekey.frames.saturating_add(1);
            rekey.done = last;
        } else if self.rekeys.len() < MAX_REKEYS {
            self.rekeys.push(Rekey {
                protocol,
                first_ns: now,
                last_ns: now,
                frame: event.frame,
                frames: 1,
                done: last,
            });
        } else if last {
            self.rekeys_left_out = self.rekeys_left_out.saturating_add(1);
        }
    }

    fn fail(&mut self, text: String) {
        if self.connected {
            return;
        }
        self.failed = true;
        if self.failures.len() < MAX_FAILURES {
            self.failures.push(text.clone());
        }
        self.reason = Some(text);
    }

    /// A unicast frame of this session was opened.
    pub(super) fn opened(&mut self, suite: CipherSuite) {
        let wep = matches!(suite, CipherSuite::Wep40 | CipherSuite::Wep104);
        if wep || self.rsn.is_some() {
            self.used_cipher = Some(suite.name());
        }
        // Messages of its handshake may be lost to the capture; its keys were not lost to it.
        if !wep && self.end.is_none() && (self.is_associated() || self.four_way_seen) {
            self.connected = true;
            self.failed = false;
            self.reason = None;
        }
    }

    /// A data frame through this BSS that both sides may use. `from_station`: the station goes on, which
    /// one that obeyed a deauthentication for all stations does not.
    pub(super) fn data(&mut self, time_ns: u64, protected: bool, from_station: bool) {
        let ignored = |end: &mut End| {
            end.to_all && from_station && time_ns.saturating_sub(end.time_ns) > OBEYS_NS
        };
        if self.connected {
            self.end.take_if(ignored);
        }
        if protected {
            self.data_protected += 1;
        } else {
            self.data_clear += 1;
        }
        if self.join.first_data.is_none() && self.carries_data(protected) {
            self.join.first_data = Some(time_ns);
        }
    }

    /// Whether a data frame of this protection is one that both sides accept.
    pub(super) const fn carries_data(&self, protected: bool) -> bool {
        self.connected && (protected || self.rsn.is_none())
    }
}

fn refusal(what: &str, words: Option<&str>, code: u16) -> String {
    match words {
        Some(words) => format!("{what}: {words} ({code})"),
        None => format!("{what}: reserved code ({code})"),
    }
}

/// Phase, protocol and label of a frame by its own content.
fn described(step: &Step) -> (Phase, Protocol, Label) {
    match step {
        Step::Probe => (Phase::Probe, Protocol::Probe, Label::Probe),
        Step::Authentication(algorithm, transaction, _) => {
            let protocol = match algorithm {
                1 => Protocol::SharedKey,
                2 => Protocol::Ft,
                3 => Protocol::Sae,
                4..=6 => Protocol::Fils,
                7 => Protocol::Pasn,
                _ => Protocol::Authentication,
            };
            let number = |value: u16| u8::try_from(value).unwrap_or(255);
            let label = Label::Authentication(number(*algorithm), number(*transaction));
            (Phase::Authentication, protocol, label)
        }
        Step::AssociationRequest { .. } => (
            Phase::Association,
            Protocol::Association,
            Label::AssociationRequest,
        ),
        Step::AssociationResponse(status) => (
            Phase::Association,
            Protocol::Association,
            Label::AssociationResponse(*status),
        ),
        Step::Start => (Phase::Eap, Protocol::EapolStart, Label::Start),
        Step::Logoff => (Phase::End, Protocol::EapolLogoff, Label::Logoff),
        Step::Eap(eap) => {
            let kind = eap.method.unwrap_or(0);
            let label = match eap.code {
                Some(Code::Request | Code::Response) if eap.wps.is_some() => {
                    Label::Wps(eap.code == Some(Code::Request), eap.wps.unwrap_or_default())
                }
                Some(Code::Request) => Label::EapRequest(kind),
                Some(Code::Response) => Label::EapResponse(kind),
                Some(Code::Success) => Label::EapSuccess,
                Some(Code::Failure) => Label::EapFailure,
                None => Label::EapOther,
            };
            (Phase::Eap, Protocol::Eap, label)
        }
        Step::FourWay(key) => (
            Phase::KeyHandshake,
            Protocol::FourWay,
            Label::FourWay(key.number),
        ),
        Step::Group(number, ..) => (Phase::KeyHandshake, Protocol::Group, Label::Group(*number)),
        Step::DynamicWep(_) => (Phase::KeyHandshake, Protocol::Rc4Key, Label::DynamicWep),
        Step::KeyRequest => (Phase::Rekey, Protocol::KeyRequest, Label::KeyRequest),
        Step::OtherEapol => (Phase::Eap, Protocol::EapolOther, Label::OtherEapol),
        Step::PreAuthentication => (
            Phase::Rekey,
            Protocol::PreAuthentication,
            Label::PreAuthentication,
        ),
        Step::FtAction => (Phase::Authentication, Protocol::Ft, Label::FtAction),
        Step::Leave(true, code) => (
            Phase::End,
            Protocol::Deauthentication,
            Label::Deauthenticated(*code),
        ),
        Step::Leave(false, code) => (
            Phase::End,
            Protocol::Disassociation,
            Label::Disassociated(*code),
        ),
        Step::Tunnel(tunnel, kind) => {
            let label = match tunnel {
                Protocol::OpenVpn => Label::OpenVpn(*kind),
                Protocol::WireGuard => Label::WireGuard,
                Protocol::MobileIp => Label::MobileIp,
                _ => Label::Ike,
            };
            (Phase::Tunnel, *tunnel, label)
        }
    }
}
