//! The report: takes counts, sessions and ledger, gives one JSON object.
//!
//! Missing is null, never zero.

use std::collections::BTreeMap;
use std::path::PathBuf;

use airtoll_security::{AkmSuite, CipherSuite};
use airtoll_wire::MacAddress;
use schemars::JsonSchema;
use serde::Serialize;

use crate::decrypt::Undecrypted;
use crate::decrypt::bip::Bip;
use crate::decrypt::keyring::Bss;
use crate::error::CaptureError;
use crate::file::{Damage, link_type};
use crate::keys::SkippedKey;
use crate::leaves::{LeaveReport, Leaves};
use crate::ledger::LedgerReport;
use crate::link::LinkReader;
use crate::selection::{Listed, Refusal};
use crate::session::{RoamReport, SessionReport};
use crate::slot::Slot;
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
    /// Opened, but a receiver refuses their packet number, which was there before.
    pub replays: u64,
    /// The same, as the packet number is below that of an earlier frame.
    pub out_of_order: u64,
    /// Deauthentications and disassociations.
    pub leaves: Leaves,
    /// Protected data frames that stay closed by the cipher that their octets of plaintext were taken
    /// from; `None` where it is not known.
    closed_suites: Vec<(Option<CipherSuite>, u64)>,
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

    /// A data frame stays closed, whose octets of plaintext follow from this suite.
    pub(crate) fn closed_as(&mut self, suite: Option<CipherSuite>) {
        match self.closed_suites.iter_mut().find(|(one, _)| *one == suite) {
            Some((_, frames)) => *frames += 1,
            None => self.closed_suites.push((suite, 1)),
        }
    }

    /// Such a frame was opened.
    pub(crate) fn reopened_as(&mut self, suite: Option<CipherSuite>) {
        if let Some((_, frames)) = self.closed_suites.iter_mut().find(|(one, _)| *one == suite) {
            *frames = frames.saturating_sub(1);
        }
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
            Undecrypted::NoPmk,
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

/// The packets of one link type.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LinkTypeReport {
    /// The `LINKTYPE_` number of the tcpdump group.
    pub link_type: u32,
    /// Its name; null for a rare one.
    pub name: Option<&'static str>,
    /// Packets.
    pub frames: u64,
    /// Of `frames`, those that are not read because of the link type, or of the one inside it.
    pub not_read: u64,
}

/// Link types of the captures, and the wrappers around frames.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct LinkTypes {
    types: Vec<LinkTypeReport>,
    wrapped: BTreeMap<&'static str, u64>,
}

impl LinkTypes {
    /// The sums over the readers of all files.
    pub(crate) fn of(readers: &[LinkReader]) -> Self {
        let mut sums: BTreeMap<u32, (u64, u64)> = BTreeMap::new();
        let mut wrapped: BTreeMap<&'static str, u64> = BTreeMap::new();
        for reader in readers {
            for one in reader.link_types() {
                let sum = sums.entry(one.number).or_default();
                sum.0 += one.packets;
                sum.1 += one.not_read;
            }
            for (wrapper, frames) in reader.wrapped().filter(|(_, frames)| *frames > 0) {
                *wrapped.entry(wrapper.name()).or_default() += frames;
            }
        }
        let types = sums
            .into_iter()
            .map(|(number, (frames, not_read))| LinkTypeReport {
                link_type: number,
                name: link_type::name(number),
                frames,
                not_read,
            });
        Self {
            types: types.collect(),
            wrapped,
        }
    }

    /// A report on captures of which nothing was read would look like one of a quiet network.
    pub(crate) fn refuse_if_nothing_was_read(&self, files: &[PathBuf]) -> Result<(), CaptureError> {
        let frames: u64 = self.types.iter().map(|one| one.frames).sum();
        if frames == 0 || self.types.iter().any(|one| one.not_read < one.frames) {
            return Ok(());
        }
        let named = self.types.iter().map(|one| match one.name {
            Some(name) => format!("{} ({name})", one.link_type),
            None => one.link_type.to_string(),
        });
        Err(CaptureError::NothingRead {
            path: files.first().cloned().unwrap_or_default(),
            frames,
            link_types: named.collect::<Vec<_>>().join(" and "),
        })
    }
}

/// A BSS that a beacon or a probe response announces.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct AccessPointReport {
    /// Its address.
    pub bssid: String,
    /// SSID; null if it was never seen.
    pub ssid: Option<String>,
    /// Primary channel that its beacons name; null at 6 GHz.
    pub channel: Option<u8>,
    /// Frequency at which its beacons were heard, MHz; null where no radio header says so.
    pub frequency_mhz: Option<u16>,
    /// AKMs that it offers, those of WPA included; empty without RSN and WPA.
    pub akms: Vec<String>,
    /// Pairwise ciphers; `wep` or `open` without RSN and WPA.
    pub ciphers: Vec<String>,
    /// Group cipher.
    pub group_cipher: Option<String>,
    /// Management frame protection: none, capable or required.
    pub pmf: &'static str,
}

impl AccessPointReport {
    /// A BSS as its frames announce it.
    pub(crate) fn of(address: u64, bss: &Bss) -> Self {
        let [_, _, bssid @ ..] = address.to_be_bytes();
        let announced = || [&bss.rsn, &bss.wpa].into_iter().flatten();
        let mut akms: Vec<String> = Vec::new();
        let mut ciphers: Vec<String> = Vec::new();
        for rsn in announced() {
            akms.extend(rsn.akms.iter().map(|akm| AkmSuite::name_of(akm.0)));
            let pairwise = rsn.pairwise.iter();
            ciphers.extend(pairwise.map(|suite| CipherSuite::name_of(suite.0)));
        }
        akms.dedup();
        ciphers.sort();
        ciphers.dedup();
        if ciphers.is_empty() {
            let protected = bss.privacy == Some(true);
            ciphers.push(if protected { "wep" } else { "open" }.to_owned());
        }
        Self {
            bssid: MacAddress(bssid).to_string(),
            ssid: (!bss.ssid.is_empty()).then(|| String::from_utf8_lossy(&bss.ssid).into_owned()),
            channel: bss.channel,
            frequency_mhz: bss.frequency_mhz,
            akms,
            ciphers,
            group_cipher: announced()
                .find_map(|rsn| rsn.group)
                .map(|suite| CipherSuite::name_of(suite.0)),
            pmf: match &bss.rsn {
                Some(rsn) if rsn.mfpr() => "required",
                Some(rsn) if rsn.mfpc() => "capable",
                _ => "none",
            },
        }
    }
}

/// The parts of a report beside its counts.
#[derive(Debug, Default)]
pub(crate) struct Around {
    pub(crate) damages: Vec<Damage>,
    pub(crate) roams: Vec<RoamReport>,
    pub(crate) links: LinkTypes,
    pub(crate) access_points: Vec<AccessPointReport>,
    pub(crate) skipped_keys: Vec<SkippedKey>,
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
    /// Protected data frames that stay closed, by the cipher whose octets the ledger takes off: the
    /// station's choice, or what the BSS announces; `unknown` where neither was captured.
    pub closed_ciphers: BTreeMap<&'static str, u64>,
    /// Rows of key logs that cannot be used.
    pub skipped_keys: Vec<SkippedKey>,
    /// Frames opened with TKIP whose Michael MIC is wrong.
    pub michael_failures: u64,
    /// Frames opened here that a receiver refuses, by reason: `replay` (a packet number that was
    /// there before), `packet number out of order` (below that of a frame before it under one TID) and
    /// `Michael failure`.
    pub refused: BTreeMap<&'static str, u64>,
    /// Frames with EAPOL, those seen after decryption included.
    pub eapol_frames: u64,
    /// Frames with EAP.
    pub eap_frames: u64,
    /// Frames by type.
    pub kinds: Kinds,
    /// Packets of the whole files by link type.
    pub link_types: Vec<LinkTypeReport>,
    /// Frames that were inside packets of others, by wrapper: PKTAP, TZSP, CAPWAP, GRE of Aruba, and PPI
    /// around another link type than 802.11.
    pub wrapped: BTreeMap<&'static str, u64>,
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
    /// Deauthentications and disassociations by BSS, side, receivers and reason, most frequent first.
    pub leaves: Vec<LeaveReport>,
    /// Frames of further kinds.
    pub leaves_left_out: u64,
    /// BSSs that beacons or probe responses announce.
    pub access_points: Vec<AccessPointReport>,
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
        origin_ns: u64,
        listed: Listed,
        ledger: LedgerReport,
        around: Around,
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
            closed_ciphers: counts
                .closed_suites
                .iter()
                .filter(|(_, frames)| *frames > 0)
                .map(|(suite, frames)| (suite.map_or("unknown", CipherSuite::name), *frames))
                .collect(),
            skipped_keys: around.skipped_keys,
            michael_failures: counts.michael_failures,
            refused: [
                ("replay", counts.replays),
                ("packet number out of order", counts.out_of_order),
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
            link_types: around.links.types,
            wrapped: around.links.wrapped,
            damage: around.damages.first().cloned(),
            damages: around.damages,
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
            leaves: counts.leaves.report(origin_ns),
            leaves_left_out: counts.leaves.left_out(),
            access_points: around.access_points,
            roams: around.roams,
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
