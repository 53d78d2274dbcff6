//! Sessions as they are printed: takes timelines, gives flat reports with seconds and names.
//!
//! What is unknown is null: several suites on offer and the choice not seen is no suite.

use std::collections::BTreeMap;

use airtoll_security::{AkmSuite, CipherSuite, EapMethod};
use serde::Serialize;

use super::timeline::{PHASES, Session, State};
use super::waits::{Exchange, Waits};

impl Session {
    /// The session as it is printed; `exchange` is what RADIUS did for it.
    pub(super) fn report(&self, origin_ns: u64, exchange: Option<Exchange>) -> SessionReport {
        let seconds = |from: u64, to: u64| to.saturating_sub(from) as f64 / 1e9;
        let rsn = self.rsn.as_ref();
        let single = |named: Vec<String>| match (&named[..], self.offered) {
            ([one], _) => Some(one.clone()),
            ([first, ..], false) => Some(first.clone()),
            // Several on offer and the choice not seen: unknown, not the first.
            _ => None,
        };
        let akm = match rsn {
            Some(rsn) => single(
                rsn.akms
                    .iter()
                    .map(|suite| AkmSuite::name_of(suite.0))
                    .collect(),
            ),
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
                    .map(|suite| CipherSuite::name_of(suite.0))
                    .collect(),
            ),
            None if self.privacy => Some("wep".to_owned()),
            None => Some("open".to_owned()),
        };
        let cipher = self.used_cipher.map(str::to_owned).or(cipher);
        let group_cipher = match rsn {
            Some(rsn) => rsn.group.map(|suite| CipherSuite::name_of(suite.0)),
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
        if let Some(exchange) = exchange {
            messages.insert("radius", exchange.frames);
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
            eap_method: self.method.map(EapMethod::title_of),
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
            eap_time_at_server_s: exchange.and_then(|exchange| {
                let end = exchange.end_ns?;
                Some(seconds(exchange.first_ns, end))
            }),
            waits_s: self.waiting.report(),
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
    /// First Access-Request to Access-Accept or Access-Reject, as a wire in the capture saw them.
    pub eap_time_at_server_s: Option<f64>,
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
    /// Phase it belongs to; null for the end of a session.
    pub phase: Option<&'static str>,
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

/// Seconds after `origin_ns`.
pub(super) fn since(time_ns: u64, origin_ns: u64) -> f64 {
    time_ns.saturating_sub(origin_ns) as f64 / 1e9
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
