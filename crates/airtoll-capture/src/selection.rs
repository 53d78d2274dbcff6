//! The sessions that a report lists: takes all of them and a selection, gives those that were asked
//! for in the order that was asked for, and the attempts that did not connect in groups.
//!
//! Sessions that are not listed stay in the counts.

use std::collections::BTreeMap;

use airtoll_wire::MacAddress;
use rustc_hash::{FxHashMap, FxHashSet};
use schemars::JsonSchema;
use serde::Serialize;

use crate::session::SessionReport;

/// Most groups of refusals in a report.
const MAX_REFUSALS: usize = 200;

/// Which sessions are listed, and in which order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Selection {
    /// Only these stations; empty: all.
    pub stations: Vec<MacAddress>,
    /// Only these APs.
    pub aps: Vec<MacAddress>,
    /// Only these SSIDs.
    pub ssids: Vec<String>,
    /// The longest joins first, instead of the first frame.
    pub slowest: bool,
    /// At most so many.
    pub most: Option<usize>,
    /// Without the frames of each session.
    pub without_steps: bool,
}

/// Equal attempts that did not connect.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Refusal {
    /// failed or incomplete.
    pub outcome: &'static str,
    /// Why, or after which frame the capture shows no more.
    pub reason: String,
    /// AP.
    pub bssid: String,
    /// SSID, null if it was never seen.
    pub ssid: Option<String>,
    /// Attempts.
    pub sessions: u64,
    /// Stations that made them.
    pub stations: u64,
    /// One of them.
    pub station: String,
    /// First attempt, in seconds after the capture's first frame.
    pub first_at_s: f64,
    /// Last attempt.
    pub last_at_s: f64,
    /// File and number of the frame that begins the first attempt.
    pub file: u16,
    /// Its number.
    pub frame: u32,
}

/// The sessions of a report.
#[derive(Debug, Default)]
pub(crate) struct Listed {
    pub(crate) sessions: Vec<SessionReport>,
    pub(crate) outcomes: BTreeMap<&'static str, u64>,
    pub(crate) not_listed: u64,
    pub(crate) left_out: u64,
    pub(crate) refusals: Vec<Refusal>,
    pub(crate) refusals_left_out: u64,
}

impl Selection {
    fn holds(&self, session: &SessionReport) -> bool {
        let among = |list: &[MacAddress], text: &str| {
            list.is_empty() || list.iter().any(|address| address.to_string() == text)
        };
        among(&self.stations, &session.station)
            && among(&self.aps, &session.bssid)
            && (self.ssids.is_empty()
                || session
                    .ssid
                    .as_ref()
                    .is_some_and(|ssid| self.ssids.contains(ssid)))
    }
}

impl Listed {
    /// Selects among all sessions, which are in the order of their first frames.
    pub(crate) fn of(
        mut sessions: Vec<SessionReport>,
        left_out: u64,
        selection: &Selection,
    ) -> Self {
        let all = sessions.len();
        sessions.retain(|session| selection.holds(session));
        let mut outcomes = BTreeMap::new();
        for session in &sessions {
            *outcomes.entry(session.outcome).or_default() += 1;
        }
        let (refusals, refusals_left_out) = refusals(&sessions);
        if selection.slowest {
            sessions.sort_by(|a, b| duration(b).total_cmp(&duration(a)));
        }
        sessions.truncate(selection.most.unwrap_or(usize::MAX));
        if selection.without_steps {
            for session in &mut sessions {
                session.steps.clear();
            }
        }
        Self {
            not_listed: (all - sessions.len()) as u64,
            sessions,
            outcomes,
            left_out,
            refusals,
            refusals_left_out,
        }
    }
}

/// Time that a join took: until it was done, or until its last frame.
fn duration(session: &SessionReport) -> f64 {
    let phases = session
        .phases
        .iter()
        .filter(|phase| phase.phase != "probe")
        .map(|phase| (phase.at_s, phase.at_s + phase.duration_s));
    let (first, last) = phases.fold((f64::INFINITY, 0.0), |(first, last), (from, to)| {
        (f64::min(first, from), f64::max(last, to))
    });
    session
        .join_time_s
        .unwrap_or(if first.is_finite() { last - first } else { 0.0 })
}

fn refusals(sessions: &[SessionReport]) -> (Vec<Refusal>, u64) {
    let mut places: FxHashMap<(&'static str, &str, String), usize> = FxHashMap::default();
    let mut stations: FxHashSet<(usize, &str)> = FxHashSet::default();
    let mut groups: Vec<Refusal> = Vec::new();
    for session in sessions {
        if matches!(session.outcome, "connected" | "registered") {
            continue;
        }
        let reason = session.reason.clone().unwrap_or_else(|| {
            session
                .steps
                .last_name()
                .map_or("no frame kept".to_owned(), |name| {
                    format!("no frame after: {name}")
                })
        });
        let key = (session.outcome, &session.bssid[..], reason);
        let place = *places
            .entry(key)
            .or_insert_with_key(|(outcome, _, reason)| {
                groups.push(Refusal {
                    outcome,
                    reason: reason.clone(),
                    bssid: session.bssid.clone(),
                    ssid: session.ssid.clone(),
                    sessions: 0,
                    stations: 0,
                    station: session.station.clone(),
                    first_at_s: session.at_s,
                    last_at_s: session.at_s,
                    file: session.file,
                    frame: session.frame,
                });
                groups.len() - 1
            });
        let group = &mut groups[place];
        group.sessions += 1;
        group.stations += u64::from(stations.insert((place, &session.station)));
        group.last_at_s = session.at_s;
    }
    groups.sort_by_key(|group| std::cmp::Reverse(group.sessions));
    let more = groups.len().saturating_sub(MAX_REFUSALS) as u64;
    groups.truncate(MAX_REFUSALS);
    (groups, more)
}
