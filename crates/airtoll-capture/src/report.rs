//! The report: takes counts, sessions and ledger, gives one JSON object.
//!
//! Missing is null, never zero.

use std::collections::BTreeMap;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Serialize;

use crate::analysis::Slot;
use crate::decrypt::Undecrypted;
use crate::decrypt::bip::Bip;
use crate::file::Damage;
use crate::ledger::LedgerReport;
use crate::selection::{Listed, Refusal};
use crate::session::{RoamReport, SessionReport};
use crate::tunnels::TunnelReport;

/// Frames by what they are and what became of them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Counts {
    /// Packets of any link type.
    pub frames: u64,
    /// 802.11 management frames.
    pub management: u64,
    /// 802.11 control frames.
    pub control: u64,
    /// 802.11 data frames.
    pub data: u64,
    /// 802.11 data frames with four addresses.
    pub four_addresses: u64,
    /// Ethernet frames.
    pub wired: u64,
    /// Packets that could not be read as any of these.
    pub other: u64,
    /// Data frames with the protected bit.
    pub protected: u64,
    /// Management frames with the protected bit.
    pub protected_mgmt: u64,
    /// Of `protected`, opened.
    pub decrypted: u64,
    /// Of `protected_mgmt`, opened.
    pub decrypted_mgmt: u64,
    /// Opened with TKIP, but Michael's MIC is wrong.
    pub michael_failures: u64,
    /// Opened, but a receiver refuses their packet number.
    pub replays: u64,
    /// Frames with EAPOL.
    pub eapol_frames: u64,
    /// Frames with EAP, in EAPOL or RADIUS.
    pub eap_frames: u64,
    /// RADIUS packets on a wire.
    pub radius_frames: u64,
    /// IKE packets on a wire.
    pub ike_frames: u64,
    /// Mobile IP packets on a wire.
    pub mobile_ip_frames: u64,
    /// WireGuard packets on a wire.
    pub wireguard_frames: u64,
    /// OpenVPN packets on a wire.
    pub openvpn_frames: u64,
    /// ESP packets on a wire.
    pub esp_frames: u64,
    /// Packets to which the file gives no time.
    pub frames_without_time: u64,
    /// Group management frames with a MIC, by the outcome of its check.
    pub bip: BTreeMap<Bip, u64>,
    /// Protected packets of wires.
    pub tunnels: TunnelReport,
    first_ns: Option<u64>,
    last_ns: u64,
    closed: BTreeMap<Undecrypted, u64>,
    closed_mgmt: BTreeMap<Undecrypted, u64>,
    reopened: u64,
    reopened_mgmt: u64,
}

impl Counts {
    /// A packet of any kind.
    pub(crate) fn enter(&mut self, slot: &Slot) {
        self.frames += 1;
        self.frames_without_time += u64::from(!slot.timed);
        let first = self.first_ns.unwrap_or(slot.time_ns);
        self.first_ns = Some(first.min(slot.time_ns));
        self.last_ns = self.last_ns.max(slot.time_ns);
    }

    /// A protected frame stays closed.
    pub fn closed(&mut self, reason: Undecrypted, data: bool) {
        let table = if data {
            &mut self.closed
        } else {
            &mut self.closed_mgmt
        };
        *table.entry(reason).or_default() += 1;
    }

    /// A closed frame was opened by a key that came later.
    pub fn reopened(&mut self, data: bool) {
        let (table, opened, late) = if data {
            (&mut self.closed, &mut self.decrypted, &mut self.reopened)
        } else {
            (
                &mut self.closed_mgmt,
                &mut self.decrypted_mgmt,
                &mut self.reopened_mgmt,
            )
        };
        *opened += 1;
        *late += 1;
        // Which reason it had is not kept per frame: it was closed for want of a key.
        for reason in [
            Undecrypted::NoHandshake,
            Undecrypted::WrongKey,
            Undecrypted::Fils,
            Undecrypted::MultiLink,
            Undecrypted::MicFailure,
            Undecrypted::NoKey,
        ] {
            if let Some(count) = table.get_mut(&reason)
                && *count > 0
            {
                *count -= 1;
                return;
            }
        }
    }
}

/// Everything that is printed.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Report {
    /// The files, in the order given.
    pub files: Vec<String>,
    /// Packets.
    pub frames: u64,
    /// Data frames with the protected bit.
    pub protected: u64,
    /// Management frames with the protected bit.
    pub protected_mgmt: u64,
    /// Of `protected`, opened, also those before their key.
    pub decrypted: u64,
    /// Of `protected_mgmt`, opened.
    pub decrypted_mgmt: u64,
    /// Of `decrypted`, those that came before their key.
    pub decrypted_late: u64,
    /// Protected data frames that stay closed, by reason.
    pub undecrypted: BTreeMap<&'static str, u64>,
    /// The same for management frames.
    pub undecrypted_mgmt: BTreeMap<&'static str, u64>,
    /// Frames opened with TKIP whose Michael MIC is wrong.
    pub michael_failures: u64,
    /// Frames opened here that a receiver refuses, by reason: `replay` (a packet number that was
    /// there before) and `Michael failure`.
    pub refused: BTreeMap<&'static str, u64>,
    /// Frames with EAPOL, those seen after decryption included.
    pub eapol_frames: u64,
    /// Frames with EAP.
    pub eap_frames: u64,
    /// Frames by type.
    pub kinds: Kinds,
    /// Where the first broken file broke, or null.
    pub damage: Option<Damage>,
    /// Every broken file.
    pub damages: Vec<Damage>,
    /// First packet of the capture, in seconds since the epoch; null without packets.
    pub start_s: Option<f64>,
    /// First to last packet (of the window).
    pub duration_s: f64,
    /// Packets to which the file gives no time; they have that of the packet before.
    pub frames_without_time: u64,
    /// Sessions that were selected, by their first frame or slowest first.
    pub sessions: Vec<SessionReport>,
    /// Sessions by outcome, those not listed included.
    pub outcomes: BTreeMap<&'static str, u64>,
    /// Sessions that the selection leaves out.
    pub sessions_not_listed: u64,
    /// Sessions beyond the table's limit.
    pub sessions_left_out: u64,
    /// Attempts that did not connect, equal ones together, most frequent first.
    pub refusals: Vec<Refusal>,
    /// Groups of them beyond the limit.
    pub refusals_left_out: u64,
    /// Roams.
    pub roams: Vec<RoamReport>,
    /// Group management frames with a MIC (BIP), by the outcome of its check.
    pub group_management: BTreeMap<&'static str, u64>,
    /// Protected packets of wires, by the outcome of their check.
    pub tunnels: TunnelReport,
    /// Airtime and octets.
    pub ledger: LedgerReport,
}

/// Frames by type.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
pub struct Kinds {
    /// 802.11 management.
    pub management: u64,
    /// 802.11 control.
    pub control: u64,
    /// 802.11 data.
    pub data: u64,
    /// Data frames with four addresses, of `data`.
    pub four_addresses: u64,
    /// Ethernet.
    pub wired: u64,
    /// RADIUS on a wire, of `wired`.
    pub radius: u64,
    /// IKE on a wire, of `wired`.
    pub ike: u64,
    /// Mobile IP on a wire, of `wired`.
    pub mobile_ip: u64,
    /// WireGuard on a wire, of `wired`.
    pub wireguard: u64,
    /// OpenVPN over UDP on a wire, of `wired`.
    pub openvpn: u64,
    /// ESP on a wire, of `wired`.
    pub esp: u64,
    /// Anything else.
    pub other: u64,
}

impl Report {
    /// Puts the parts together.
    pub(crate) fn new(
        files: &[PathBuf],
        counts: &Counts,
        damages: Vec<Damage>,
        origin_ns: u64,
        listed: Listed,
        roams: Vec<RoamReport>,
        ledger: LedgerReport,
    ) -> Self {
        let words = |table: &BTreeMap<Undecrypted, u64>| {
            Undecrypted::ALL
                .into_iter()
                .filter_map(|reason| {
                    let count = table.get(&reason).copied().unwrap_or(0);
                    (count > 0).then_some((reason.words(), count))
                })
                .collect()
        };
        Self {
            files: files
                .iter()
                .map(|path| path.display().to_string())
                .collect(),
            frames: counts.frames,
            protected: counts.protected,
            protected_mgmt: counts.protected_mgmt,
            decrypted: counts.decrypted,
            decrypted_mgmt: counts.decrypted_mgmt,
            decrypted_late: counts.reopened,
            undecrypted: words(&counts.closed),
            undecrypted_mgmt: words(&counts.closed_mgmt),
            michael_failures: counts.michael_failures,
            refused: [
                ("replay", counts.replays),
                ("Michael failure", counts.michael_failures),
            ]
            .into_iter()
            .filter(|(_, count)| *count > 0)
            .collect(),
            eapol_frames: counts.eapol_frames,
            eap_frames: counts.eap_frames,
            kinds: Kinds {
                management: counts.management,
                control: counts.control,
                data: counts.data,
                four_addresses: counts.four_addresses,
                wired: counts.wired,
                radius: counts.radius_frames,
                ike: counts.ike_frames,
                mobile_ip: counts.mobile_ip_frames,
                wireguard: counts.wireguard_frames,
                openvpn: counts.openvpn_frames,
                esp: counts.esp_frames,
                other: counts.other,
            },
            damage: damages.first().cloned(),
            damages,
            start_s: (counts.frames > 0).then_some(origin_ns as f64 / 1e9),
            duration_s: counts.first_ns.map_or(0.0, |first| {
                counts.last_ns.saturating_sub(first) as f64 / 1e9
            }),
            frames_without_time: counts.frames_without_time,
            sessions: listed.sessions,
            outcomes: listed.outcomes,
            sessions_not_listed: listed.not_listed,
            sessions_left_out: listed.left_out,
            refusals: listed.refusals,
            refusals_left_out: listed.refusals_left_out,
            roams,
            group_management: counts
                .bip
                .iter()
                .map(|(outcome, count)| (outcome.words(), *count))
                .collect(),
            tunnels: counts.tunnels.clone(),
            ledger,
        }
    }

    /// Writes the report as one JSON object, without a copy in memory.
    ///
    /// # Errors
    /// Errors of `out`.
    pub fn write_json(&self, out: impl std::io::Write) -> std::io::Result<()> {
        serde_json::to_writer(out, self).map_err(std::io::Error::from)
    }

    /// The report as one JSON object.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_else(|error| format!("{{\"error\":\"{error}\"}}"))
    }
}
