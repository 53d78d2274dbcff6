//! What hand-overs came to: the gap and its parts, messages and losses.
//!
//! Takes hand-overs after the trial; gives rows of observations. Never decides anything.

use airtoll_handshakes::Stage;
use airtoll_units::Duration;

use super::Handover;
use crate::association::AssociationRow;
use crate::packet::NONE;
use crate::world::World;

impl World {
    /// Station, second of the traffic and rows of every hand-over that was carried out. Where several
    /// were asked of a station, what all of them came to follows without a second; a single one has
    /// none either.
    pub(crate) fn handover_rows(&self) -> Vec<(String, Option<u32>, Vec<AssociationRow>)> {
        let handovers = &self.mobility.handovers;
        let mut all = Vec::new();
        for first in handovers.iter().filter(|h| h.previous.is_none()) {
            let name = &self.stack.net.nodes[first.station as usize].name;
            let own = handovers.iter().filter(|h| h.station == first.station);
            let each: Vec<_> = own.filter_map(|h| self.rows_of(h)).collect();
            if first.next.is_none() {
                all.extend(each.into_iter().map(|(_, rows)| (name.clone(), None, rows)));
                continue;
            }
            let whole = together(&each);
            let seconds = each.into_iter();
            all.extend(seconds.map(|(second, rows)| (name.clone(), Some(second), rows)));
            all.push((name.clone(), None, whole));
        }
        all
    }

    /// The second of the traffic in which a station left, and the rows of its hand-over.
    fn rows_of(&self, handover: &Handover) -> Option<(u32, Vec<AssociationRow>)> {
        let (left, joined) = (handover.left?, handover.joined?);
        let join = &self.association.joins[handover.join as usize];
        let looked = handover.found.map_or(Duration::ZERO, |found| found - left);
        let mut rows: Vec<AssociationRow> = vec![("handover_scan_s", looked.as_secs_f64(), "s")];
        if handover.walk.is_some() || handover.scanning.is_some() {
            rows.push(("handover_scans", f64::from(handover.scans), "1"));
            let kept = handover.dozing.delivered as f64;
            rows.push(("handover_packets_kept", kept, "1"));
        }
        if let Some((old, new)) = handover.levels {
            let began = self.association.complete_at();
            rows.push(("handover_left_s", (left - began).as_secs_f64(), "s"));
            rows.push(("handover_old_level_dbm", old, "dBm"));
            rows.push(("handover_new_level_dbm", new, "dBm"));
        }
        // What was asked before it left is no part of the gap.
        let before = handover.asked.map_or(Duration::ZERO, |asked| left - asked);
        for (metric, stages) in PARTS {
            let time: Duration = join
                .stages()
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
        if let Some(time) = join.movement() {
            rows.push(("handover_movement_s", time.as_secs_f64(), "s"));
        }
        rows.push(("handover_join_s", (joined - left).as_secs_f64(), "s"));
        rows.push(("handover_messages", f64::from(join.messages()), "1"));
        if self.association.gateway_of(handover.join) != NONE {
            let (count, octets) = join.tunnel_messages();
            rows.push(("handover_tunnel_messages", f64::from(count), "1"));
            rows.push(("handover_tunnel_octets", octets as f64, "octet"));
        }
        rows.push(("handover_packets_lost", handover.lost as f64, "1"));
        if handover.over_the_ds {
            rows.push(("handover_request_s", before.as_secs_f64(), "s"));
        }
        if let Some((ahead, _)) = handover.ahead {
            let ahead = &self.association.joins[ahead as usize];
            let messages = f64::from(ahead.messages());
            rows.push(("preauthentication_messages", messages, "1"));
            if let Some(time) = ahead.time() {
                rows.push(("preauthentication_time_s", time.as_secs_f64(), "s"));
            }
        }
        if let (Some(last), Some(first)) = handover.delivered {
            // What was on its way when the station left may arrive so late that less than the
            // hand-over lies between the two: then the gap begins with leaving.
            let late = last > left && first < joined + (last - left);
            let gap = first - if late { left } else { last };
            rows.push(("handover_gap_s", gap.as_secs_f64(), "s"));
            let wait = gap.saturating_sub(joined - left);
            rows.push(("handover_wait_s", wait.as_secs_f64(), "s"));
        }
        let second = left - self.association.complete_at();
        Some(((second.as_nanos() / 1_000_000_000) as u32, rows))
    }
}

/// What several hand-overs came to: how many they were, and means. A part that one of them did not
/// have took it no time; anything else counts where it was observed.
fn together(each: &[(u32, Vec<AssociationRow>)]) -> Vec<AssociationRow> {
    let mut whole: Vec<AssociationRow> = vec![("handovers", each.len() as f64, "1")];
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
