//! Rows of the hand-overs: the gap and its parts, messages and losses.

use airtoll_handshakes::{Party, Stage};
use airtoll_units::Duration;

use super::walk::Levels;
use super::{Handover, Roam};
use crate::id::NodeId;
use crate::join::{Join, JoinRow};

/// Station, second of the traffic and rows of a hand-over.
pub(crate) type HandoverRows = (NodeId, Option<u32>, Vec<JoinRow>);

impl Roam {
    /// Rows of every hand-over that was carried out. A station with one hand-over has no second.
    /// Several hand-overs of a station are followed by rows of their total without a second.
    pub fn rows(&self, join: &Join) -> Vec<HandoverRows> {
        let mut all = Vec::new();
        for first in self.handovers.iter().filter(|h| h.plan.previous.is_none()) {
            let station = first.plan.station;
            let own = self.handovers.iter().filter(|h| h.plan.station == station);
            let each: Vec<_> = own.filter_map(|h| h.rows(join)).collect();
            if first.next.is_none() {
                all.extend(each.into_iter().map(|(_, rows)| (station, None, rows)));
                continue;
            }
            let whole = together(&each);
            let seconds = each.into_iter();
            all.extend(seconds.map(|(second, rows)| (station, Some(second), rows)));
            all.push((station, None, whole));
        }
        all
    }
}

impl Handover {
    /// The second of the traffic in which the station left, and the rows.
    fn rows(&self, join: &Join) -> Option<(u32, Vec<JoinRow>)> {
        let (left, joined) = (self.left?, self.joined?);
        let session = self.plan.session;
        let looked = self.found.map_or(Duration::ZERO, |found| found - left);
        let mut rows: Vec<JoinRow> = vec![("handover_scan_s", looked.as_secs_f64(), "s")];
        if self.plan.walk.is_some() || self.plan.scanning.is_some() {
            rows.push(("handover_scans", f64::from(self.scans), "1"));
            let kept = self.dozing.delivered as f64;
            rows.push(("handover_packets_kept", kept, "1"));
        }
        if let Some(Levels { old, new }) = self.levels {
            let began = join.began();
            rows.push(("handover_left_s", (left - began).as_secs_f64(), "s"));
            rows.push(("handover_old_level_dbm", old, "dBm"));
            rows.push(("handover_new_level_dbm", new, "dBm"));
        }
        // The request before the station left is not part of the gap.
        let before = self.asked.map_or(Duration::ZERO, |asked| left - asked);
        for (metric, stages) in PARTS {
            let time: Duration = join
                .stages_of(session)
                .iter()
                .filter(|(stage, _)| stages.contains(stage))
                .map(|(stage, time)| match stage {
                    Stage::FastTransition => time.saturating_sub(before),
                    _ => *time,
                })
                .sum();
            if time > Duration::ZERO {
                rows.push((metric, time.as_secs_f64(), "s"));
            }
        }
        if let Some(time) = join.movement_of(session) {
            rows.push(("handover_movement_s", time.as_secs_f64(), "s"));
        }
        rows.push(("handover_join_s", (joined - left).as_secs_f64(), "s"));
        rows.push((
            "handover_messages",
            f64::from(join.messages_of(session)),
            "1",
        ));
        if join.party_of(session, Party::Gateway).is_some() {
            let (count, octets) = join.tunnel_messages_of(session);
            rows.push(("handover_tunnel_messages", f64::from(count), "1"));
            rows.push(("handover_tunnel_octets", octets as f64, "octet"));
        }
        rows.push(("handover_packets_lost", self.lost as f64, "1"));
        if self.over_the_ds() {
            rows.push(("handover_request_s", before.as_secs_f64(), "s"));
        }
        if let Some((ahead, _)) = self.plan.ahead {
            let messages = f64::from(join.messages_of(ahead));
            rows.push(("preauthentication_messages", messages, "1"));
            if let Some(time) = join.time_of(ahead) {
                rows.push(("preauthentication_time_s", time.as_secs_f64(), "s"));
            }
        }
        if let (Some(last), Some(first)) = self.delivered {
            // A packet under way when the station left may arrive so late that less than the
            // hand-over lies between the two deliveries: then the gap begins with leaving.
            let late = last > left && first < joined + (last - left);
            let gap = first - if late { left } else { last };
            rows.push(("handover_gap_s", gap.as_secs_f64(), "s"));
            let wait = gap.saturating_sub(joined - left);
            let address = self.plan.faults.address.min(wait);
            if self.plan.faults.address > Duration::ZERO {
                rows.push(("handover_address_s", address.as_secs_f64(), "s"));
            }
            rows.push(("handover_wait_s", (wait - address).as_secs_f64(), "s"));
            if let Some(resumed) = self.resumed {
                let reduced = resumed.saturating_since(first);
                rows.push(("handover_full_rate_s", reduced.as_secs_f64(), "s"));
            }
        }
        let second = left - join.began();
        Some(((second.as_nanos() / 1_000_000_000) as u32, rows))
    }
}

/// Number of several hand-overs, and means of their rows. A part that one of them did not have
/// counts as zero; the mean of any other metric is over the hand-overs that have it.
fn together(each: &[(u32, Vec<JoinRow>)]) -> Vec<JoinRow> {
    let mut whole: Vec<JoinRow> = vec![("handovers", each.len() as f64, "1")];
    let all = || each.iter().flat_map(|(_, rows)| rows);
    for &(metric, _, unit) in all() {
        if whole.iter().any(|known| known.0 == metric) {
            continue;
        }
        let own = all().filter(|row| row.0 == metric);
        let sum: f64 = own.clone().map(|row| row.1).sum();
        let is_part = PARTS.iter().any(|(part, _)| *part == metric);
        let count = if is_part { each.len() } else { own.count() };
        whole.push((metric, sum / count as f64, unit));
    }
    whole
}

/// Parts of a hand-over beside the scan, and their stages.
const PARTS: [(&str, &[Stage]); 5] = [
    (
        "handover_association_s",
        &[
            Stage::Authentication,
            Stage::Association,
            Stage::FastTransition,
        ],
    ),
    ("handover_eap_s", &[Stage::Eap]),
    ("handover_keys_s", &[Stage::Keys]),
    ("handover_mobile_ip_s", &[Stage::MobileIp]),
    ("handover_tunnel_s", &[Stage::Tunnel, Stage::TunnelMove]),
];
