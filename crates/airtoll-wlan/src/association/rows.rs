//! Rows of the associations: how each ended, its times and messages.

use airtoll_handshakes::failure::Code;
use airtoll_units::{Duration, Instant};

use super::{Join, Purpose, Standing};
use crate::packet::NONE;
use crate::world::World;
use airtoll_handshakes::{Party, Stage};

/// One row of an association: metric, value, unit.
pub(crate) type AssociationRow = (&'static str, f64, &'static str);

impl World {
    /// What kept stations from joining, in one line; `None` if nothing did.
    pub(crate) fn association_failure(&self) -> Option<String> {
        let joins = &self.association.joins;
        // A station whose pre-authentication fails negotiates everything again.
        // A station that nothing drove away is where it was.
        let stays = |at: usize| {
            self.association.waits(at as u32) && self.mobility.of_join(at as u32).is_some()
        };
        let needed = || {
            let entries = joins.iter().enumerate();
            entries
                .filter(|(at, j)| j.purpose == Purpose::Entry && !stays(*at))
                .map(|(_, j)| j)
        };
        let mut missing = needed().filter(|j| !matches!(j.standing, Standing::Joined(_)));
        let first = missing.next()?;
        let others = missing.count();
        let station = self.mobility.host(first.node(Party::Station));
        let name = &self.stack.net.nodes[station as usize].name;
        let why = first.failure(self.stack.lower.cx.events.now());
        let rest = if others > 0 {
            format!("; nor did {others} more of {} stations", needed().count())
        } else {
            String::new()
        };
        Some(format!("{name} did not authenticate: {why}{rest}"))
    }

    /// Station and rows of every association.
    pub(crate) fn association_rows(&self) -> Vec<(String, Vec<AssociationRow>)> {
        self.association.joins[..self.association.initial]
            .iter()
            .map(|join| {
                let station = &self.stack.net.nodes[join.node(Party::Station) as usize].name;
                (station.clone(), join.rows())
            })
            .collect()
    }
}

impl World {
    /// Rows of the whole cell: means over its stations where they are several, and the time until
    /// the last has joined.
    pub(crate) fn association_cell_rows(&self) -> Vec<AssociationRow> {
        let joins = &self.association.joins[..self.association.initial];
        let mut rows = Vec::new();
        let joined = |join: &Join| match join.standing {
            Standing::Joined(at) => Some(at),
            _ => None,
        };
        let (Some(first), Some(last)) = (
            joins.iter().map(|j| j.started).min(),
            joins.iter().map(joined).max().flatten(),
        ) else {
            return rows;
        };
        if joins.iter().any(|j| joined(j).is_none()) {
            return rows;
        }
        rows.push(("join_all_time_s", (last - first).as_secs_f64(), "s"));
        if joins.len() == 1 {
            return rows;
        }
        let all: Vec<Vec<AssociationRow>> = joins.iter().map(Join::rows).collect();
        for &(metric, _, unit) in &all[0] {
            let values: Vec<f64> = all
                .iter()
                .flatten()
                .filter(|row| row.0 == metric)
                .map(|row| row.1)
                .collect();
            if values.len() == joins.len() {
                rows.push((
                    metric,
                    values.iter().sum::<f64>() / joins.len() as f64,
                    unit,
                ));
            }
        }
        rows
    }
}

impl Join {
    /// How long each stage took.
    pub(crate) fn stages(&self) -> &[(Stage, Duration)] {
        &self.stages
    }

    /// How long it took, if it is done.
    pub(crate) fn time(&self) -> Option<Duration> {
        match self.standing {
            Standing::Joined(at) => Some(at - self.started),
            _ => None,
        }
    }

    /// How long it took its station to find out that it had moved.
    pub(crate) const fn movement(&self) -> Option<Duration> {
        self.movement
    }

    /// Messages emitted, repetitions included.
    pub(crate) fn messages(&self) -> u32 {
        self.timeline.emitted.iter().map(|known| known.1).sum()
    }

    /// Messages of tunnels among them, and their octets.
    pub(crate) fn tunnel_messages(&self) -> (u32, u64) {
        let emitted = self.timeline.emitted.iter();
        emitted
            .filter(|known| TUNNELS.contains(&known.0))
            .fold((0, 0), |(count, octets), known| {
                (count + known.1, octets + known.2)
            })
    }

    pub(super) fn failure(&self, now: Instant) -> String {
        match self.standing {
            Standing::Failed(stage, failure) => {
                let code = match failure.code() {
                    Code::Reason(code) => format!(", reason code {code}"),
                    Code::Status(code) => format!(", status code {code}"),
                    Code::MobileIp(code) => format!(", Mobile IP code {code}"),
                    Code::Ike(code) => format!(", IKE notify {code}"),
                    Code::Silent => String::new(),
                };
                format!("{}: {failure}{code}", name(stage))
            }
            _ => {
                let stage = self.negotiation.stage().map_or("end", name);
                format!("{stage}: not done after {} s", now.as_secs_f64())
            }
        }
    }

    fn rows(&self) -> Vec<AssociationRow> {
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
        debug_assert!(self.node(Party::Station) != NONE);
        rows.push((
            "authentication_messages",
            f64::from(self.timeline.counted),
            "1",
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

/// Protocols that set tunnels up and move them.
const TUNNELS: [&str; 3] = ["IKEv1", "IKEv2", "WireGuard"];

/// Metric and protocol of the counts by protocol.
pub(super) const MESSAGES: [(&str, &str); 8] = [
    ("messages_ieee80211", "802.11"),
    ("messages_eap", "EAP"),
    ("messages_eapol_key", "EAPOL-Key"),
    ("messages_radius", "RADIUS"),
    ("messages_mobile_ip", "Mobile IP"),
    ("messages_ikev1", "IKEv1"),
    ("messages_ikev2", "IKEv2"),
    ("messages_wireguard", "WireGuard"),
];

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
