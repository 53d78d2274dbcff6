//! Rows of the sessions: outcome, times and message counts.

use airtoll_handshakes::failure::Code;
use airtoll_handshakes::{Failure, Stage};
use airtoll_units::{Duration, Instant};

use super::session::Standing;
use super::{Join, Purpose, Session};
use crate::id::{NodeId, SessionId};

/// Metric, value and unit.
pub(crate) type JoinRow = (&'static str, f64, &'static str);

impl Join {
    /// The reason why stations did not join, in one line; `None` if all needed sessions are done.
    /// `name_of` gives the name of a node.
    pub fn failure(&self, now: Instant, name_of: impl Fn(NodeId) -> String) -> Option<String> {
        // A failed pre-authentication is replaced by a full negotiation. The session of a hand-over
        // that never began is not needed: nothing drove the station away.
        let needed = || {
            let entries = self.sessions.iter().enumerate();
            entries
                .filter(|(at, s)| {
                    let stays = s.standing == Standing::Waiting && *at >= self.initial;
                    s.purpose == Purpose::Entry && !stays
                })
                .map(|(_, session)| session)
        };
        let mut missing = needed().filter(|s| !s.is_joined());
        let first = missing.next()?;
        let others = missing.count();
        let name = name_of(first.station());
        let since = match first.standing {
            Standing::Negotiating if self.is_during_traffic(first) => first.started,
            _ => Instant::ZERO,
        };
        let why = first.failure(since, now);
        let rest = if others > 0 {
            format!("; nor did {others} more of {} stations", needed().count())
        } else {
            String::new()
        };
        Some(format!("{name} did not authenticate: {why}{rest}"))
    }

    /// Station and rows of every first join.
    pub fn rows(&self) -> Vec<(NodeId, Vec<JoinRow>)> {
        let initial = self.sessions.as_slice()[..self.initial].iter();
        initial
            .map(|session| (session.station(), session.rows()))
            .collect()
    }

    /// Rows of the whole cell: the number of stations that joined, for several stations, and the time
    /// until the last one has joined, which is missing unless all joined. Where stations join during the
    /// traffic, that time is theirs, and so are the means of all rows that a join has.
    pub fn cell_rows(&self) -> Vec<JoinRow> {
        let initial = &self.sessions.as_slice()[..self.initial];
        let mut rows = Vec::new();
        let joined = |session: &Session| match session.standing {
            Standing::Joined(at) => Some(at),
            _ => None,
        };
        let count = initial.iter().filter(|s| joined(s).is_some()).count();
        if initial.len() > 1 {
            rows.push(("stations_joined", count as f64, "1"));
            rows.push(("joined_ratio", count as f64 / initial.len() as f64, "1"));
        }
        let measured = || {
            let own = initial.iter();
            own.filter(|s| self.newcomers.is_empty() || self.is_during_traffic(s))
        };
        let Some(first) = measured().map(|s| s.started).min() else {
            return rows;
        };
        let all: Option<Vec<_>> = measured().map(joined).collect();
        if let Some(last) = all.and_then(|times| times.into_iter().max()) {
            rows.push(("join_all_time_s", (last - first).as_secs_f64(), "s"));
        }
        if !self.newcomers.is_empty() {
            let each: Vec<JoinRow> = measured().flat_map(Session::rows).collect();
            rows.extend(means(&each));
        }
        rows
    }

    /// Whether a session is a first join during the traffic.
    fn is_during_traffic(&self, session: &Session) -> bool {
        let own = |s: &Session| std::ptr::eq(s, session);
        self.sessions
            .find(own)
            .is_some_and(|id| self.newcomers.has(id))
    }

    /// Lengths of the stages of a session.
    pub fn stages_of(&self, id: SessionId) -> &[(Stage, Duration)] {
        &self.sessions[id].stages
    }

    /// Time from the start of a session to its end, once it is done.
    pub fn time_of(&self, id: SessionId) -> Option<Duration> {
        let session = &self.sessions[id];
        match session.standing {
            Standing::Joined(at) => Some(at - session.started),
            _ => None,
        }
    }

    /// Time that the station of a session took to detect that it had moved.
    pub fn movement_of(&self, id: SessionId) -> Option<Duration> {
        self.sessions[id].movement
    }

    /// Messages emitted in a session, repetitions included.
    pub fn messages_of(&self, id: SessionId) -> u32 {
        self.sessions[id].messages()
    }

    /// Messages of tunnels among them, and their octets.
    pub fn tunnel_messages_of(&self, id: SessionId) -> (u32, u64) {
        let emitted = self.sessions[id].timeline.emitted.iter();
        emitted
            .filter(|known| TUNNELS.contains(&known.0))
            .fold((0, 0), |(count, octets), known| {
                (count + known.1, octets + known.2)
            })
    }
}

impl Session {
    /// Messages emitted, repetitions included.
    pub(super) fn messages(&self) -> u32 {
        self.timeline.emitted.iter().map(|known| known.1).sum()
    }

    fn failure(&self, since: Instant, now: Instant) -> String {
        match self.standing {
            Standing::Failed(stage, failure) => in_words(stage, failure),
            _ if let Some((stage, failure)) = self.earlier => {
                let spent = now.saturating_since(since).as_secs_f64();
                let (attempts, why) = (self.attempts, in_words(stage, failure));
                format!("{why}; {attempts} attempts in {spent} s")
            }
            _ => {
                let stage = self.negotiation.stage().map_or("end", name);
                let spent = now.saturating_since(since);
                format!("{stage}: not done after {} s", spent.as_secs_f64())
            }
        }
    }

    fn rows(&self) -> Vec<JoinRow> {
        let mut rows = Vec::new();
        if let Standing::Joined(at) = self.standing {
            let times: [(&'static str, Option<Duration>); 5] = [
                ("association_time_s", self.timeline.association()),
                ("eap_time_s", self.timeline.eap()),
                ("key_handshake_time_s", self.timeline.keys()),
                ("negotiation_time_s", self.timeline.negotiation()),
                ("join_time_s", Some(at - self.started)),
            ];
            for (metric, time) in times {
                if let Some(time) = time {
                    rows.push((metric, time.as_secs_f64(), "s"));
                }
            }
        }
        if self.counts_attempts() {
            rows.push(("join_attempts", f64::from(self.attempts), "1"));
        }
        rows.push((
            "authentication_messages",
            f64::from(self.timeline.counted),
            "1",
        ));
        rows.push((
            "authentication_octets",
            self.timeline.counted_octets as f64,
            "octet",
        ));
        for (metric, protocol) in MESSAGES {
            let count: u32 = self
                .timeline
                .emitted
                .iter()
                .filter(|known| known.0 == protocol)
                .map(|known| known.1)
                .sum();
            if count > 0 {
                rows.push((metric, f64::from(count), "1"));
            }
        }
        rows
    }
}

/// The mean of each metric over the rows that have it, in the order of their first ones.
fn means(each: &[JoinRow]) -> Vec<JoinRow> {
    let mut means: Vec<JoinRow> = Vec::new();
    for &(metric, _, unit) in each {
        if means.iter().any(|known| known.0 == metric) {
            continue;
        }
        let own = each.iter().filter(|row| row.0 == metric);
        let (sum, count) = own.fold((0.0, 0.0), |(sum, count), row| (sum + row.1, count + 1.0));
        means.push((metric, sum / count, unit));
    }
    means
}

/// Protocols that set up and move tunnels.
const TUNNELS: [&str; 5] = ["IKEv1", "IKEv2", "OpenVPN", "Rosenpass", "WireGuard"];

/// Metric and protocol of the counts by protocol.
pub(super) const MESSAGES: [(&str, &str); 9] = [
    ("messages_ieee80211", "802.11"),
    ("messages_eap", "EAP"),
    ("messages_eapol_key", "EAPOL-Key"),
    ("messages_radius", "RADIUS"),
    ("messages_mobile_ip", "Mobile IP"),
    ("messages_ikev1", "IKEv1"),
    ("messages_ikev2", "IKEv2"),
    ("messages_wireguard", "WireGuard"),
    ("messages_openvpn", "OpenVPN"),
];

fn in_words(stage: Stage, failure: Failure) -> String {
    let code = match failure.code() {
        Code::Reason(code) => format!(", reason code {code}"),
        Code::Status(code) => format!(", status code {code}"),
        Code::MobileIp(code) => format!(", Mobile IP code {code}"),
        Code::Ike(code) => format!(", IKE notify {code}"),
        Code::Silent => String::new(),
    };
    format!("{}: {failure}{code}", name(stage))
}

const fn name(stage: Stage) -> &'static str {
    match stage {
        Stage::Authentication => "802.11 authentication",
        Stage::Association => "association",
        Stage::Eap => "EAP",
        Stage::Keys => "key handshake",
        Stage::GroupKeys => "group key handshake",
        Stage::FastTransition => "fast transition",
        Stage::MobileIp => "Mobile IP registration",
        Stage::Tunnel => "tunnel",
        Stage::TunnelMove => "move of the tunnel",
    }
}
