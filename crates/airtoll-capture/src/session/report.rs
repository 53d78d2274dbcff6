//! Sessions as they are printed: takes timelines, gives flat reports with seconds and names.
//!
//! Unknown is null, never zero: several suites on offer and the choice not seen is no suite, and a
//! time is given only where both of its frames were captured.

use std::collections::BTreeMap;

use airtoll_security::{AkmSuite, CipherSuite, EapMethod};
use airtoll_wire::MacAddress;
use schemars::JsonSchema;
use serde::Serialize;

use super::channels::OperatingChannelsReport;
use super::steps::{Phase, Protocol, StepColumns, Steps, since};
use super::timeline::Session;
use super::waits::{ServerAuthentication, Waits};
use crate::decrypt::Association;

impl Session {
    /// The session as it is printed, without its steps; `exchange` is what RADIUS did for it.
    pub(super) fn report(
        &self,
        origin_ns: u64,
        exchange: Option<ServerAuthentication>,
    ) -> SessionReport {
        let seconds = |from: u64, to: u64| to.saturating_sub(from) as f64 / 1e9;
        let join = &self.join;
        let rsn = self.rsn.as_ref();
        let cipher = self
            .used_cipher
            .map(str::to_owned)
            .or_else(|| self.cipher());
        let group_cipher = match rsn {
            Some(rsn) => rsn.group.map(|suite| CipherSuite::name_of(suite.0)),
            None => cipher.clone(),
        };
        let pmf = match rsn {
            Some(rsn) if rsn.mfpr() => Some("required"),
            Some(rsn) if rsn.mfpc() => Some("capable"),
            Some(_) => Some("none"),
            None => (self.chose || self.privacy.is_some()).then_some("none"),
        };
        let outcome = if self.connected {
            "connected"
        } else if self.failed {
            "failed"
        } else if self.is_registered() {
            "registered"
        } else {
            "incomplete"
        };
        let mut messages: BTreeMap<&'static str, u32> = Protocol::ALL
            .into_iter()
            .zip(self.messages)
            .filter(|(_, count)| *count > 0)
            .map(|(protocol, count)| (protocol.name(), count))
            .collect();
        if let Some(exchange) = exchange {
            messages.insert("radius", exchange.frames);
        }
        let of_join = |protocols: &[Protocol]| {
            protocols
                .iter()
                .map(|protocol| join.messages[*protocol as usize])
                .sum::<u32>()
        };
        let counted = [
            (
                "messages_eap",
                of_join(&[Protocol::Eap, Protocol::EapolStart]),
            ),
            (
                "messages_eapol_key",
                of_join(&[Protocol::FourWay, Protocol::Group, Protocol::Rc4Key]),
            ),
            ("messages_radius", exchange.map_or(0, |one| one.frames)),
            ("messages_mobile_ip", of_join(&[Protocol::MobileIp])),
            ("messages_ikev1", of_join(&[Protocol::IkeV1])),
            ("messages_ikev2", of_join(&[Protocol::IkeV2])),
            ("messages_wireguard", of_join(&[Protocol::WireGuard])),
            ("messages_openvpn", of_join(&[Protocol::OpenVpn])),
        ];
        let negotiating = Protocol::ALL.into_iter().filter(|one| one.negotiates());
        let phases = Phase::JOIN
            .iter()
            .zip(join.phases)
            .filter(|(_, part)| part.frames > 0)
            .map(|(phase, part)| PhaseReport {
                phase: phase.name(),
                at_s: seconds(self.first_ns, part.first_ns),
                duration_s: seconds(part.first_ns, part.last_ns),
                frames: part.frames,
                octets: part.octets,
            })
            .collect();
        let since_asked = |at: Option<u64>| join.asked.zip(at).map(|(from, to)| seconds(from, to));
        let keys = join.key_first.zip(join.key_last).filter(|_| join.key_whole);
        SessionReport {
            station: self.station.to_string(),
            bssid: self.bssid.to_string(),
            ssid: (!self.ssid.is_empty()).then(|| String::from_utf8_lossy(&self.ssid).into_owned()),
            multi_link: None,
            seen: if self.wired { "wire" } else { "air" },
            at_s: since(self.first_ns, origin_ns),
            unix_s: self.first_ns as f64 / 1e9,
            file: self.first_frame.file,
            frame: self.first_frame.number,
            last_frame: self.last_frame.number,
            akm: self.akm(),
            cipher,
            group_cipher,
            pmf,
            wpa_version: rsn.map(|_| if self.wpa { 1 } else { 2 }),
            eap_method: match self.wps {
                Some(_) => Some("WPS".to_owned()),
                None => self.method.map(EapMethod::title_of),
            },
            tls_version: self.tls_version.map(tls_name),
            outcome,
            reason: self.why(),
            failures: self.failures.clone(),
            join_time_s: since_asked(join.done),
            time_to_data_s: since_asked(join.first_data),
            time_to_answer_s: since_asked(join.first_answer),
            association_time_s: since_asked(join.associated),
            eap_time_s: self.eap_span().map(|span| seconds(span.first, span.last)),
            eap_time_capture_point: if self.wired { "wire" } else { "air" },
            eap_time_at_server_s: exchange
                .and_then(|exchange| Some(seconds(exchange.first_ns, exchange.end_ns?))),
            key_handshake_time_s: keys.map(|(first, last)| seconds(first, last)),
            four_way_time_s: join.four_way_ns.map(|ns| ns as f64 / 1e9),
            negotiation_time_s: join
                .negotiation
                .filter(|_| self.negotiation_whole())
                .map(|(first, last)| seconds(first, last)),
            waits_s: join.waiting.report(),
            authentication_messages: negotiating
                .map(|protocol| join.messages[protocol as usize])
                .sum(),
            message_counts: counted
                .into_iter()
                .filter(|(_, count)| *count > 0)
                .collect(),
            messages,
            retransmissions: self.retransmissions,
            phases,
            rekeys: self
                .rekeys
                .iter()
                .map(|rekey| RekeyReport {
                    protocol: rekey.protocol.name(),
                    at_s: since(rekey.first_ns, self.first_ns),
                    duration_s: seconds(rekey.first_ns, rekey.last_ns),
                    frame: rekey.frame.number,
                    frames: rekey.frames,
                    complete: rekey.done,
                })
                .collect(),
            rekeys_left_out: self.rekeys_left_out,
            operating_channels: self.channels.report(self.first_ns),
            tunnels: join
                .tunnels
                .iter()
                .map(|(protocol, part)| TunnelSetupReport {
                    protocol: protocol.name(),
                    at_s: since(part.first_ns, self.first_ns),
                    duration_s: seconds(part.first_ns, part.last_ns),
                    messages: part.frames,
                })
                .collect(),
            // The air shows each message once, a wire perhaps at several places.
            dhcp: self.dhcp.iter().find(|seen| !seen.is_empty()).map(|seen| {
                let [discover, offer, request, decline, ack, nak, ..] = seen.counts;
                DhcpReport {
                    discover,
                    offer,
                    request,
                    ack,
                    nak,
                    decline,
                }
            }),
            end: self.end.map(|end| EndReport {
                at_s: since(end.time_ns, self.first_ns),
                frame: end.frame.number,
                by: if end.from_station { "station" } else { "ap" },
                to_all: end.to_all,
                reason_code: end.code,
                words: end.words(),
            }),
            data_protected: self.data_protected,
            data_clear: self.data_clear,
            steps: Steps {
                marks: Vec::new(),
                first_ns: self.first_ns,
            },
            steps_left_out: self.steps_left_out,
        }
    }

    /// The AKM; `None` where the frames that name it were not captured.
    fn akm(&self) -> Option<String> {
        if let Some(rsn) = &self.rsn {
            return self.single(
                rsn.akms
                    .iter()
                    .map(|suite| AkmSuite::name_of(suite.0))
                    .collect(),
            );
        }
        let by_algorithm = match self.algorithm {
            Some(1) => Some("shared-key"),
            Some(128) => Some("leap"),
            // The authentication frames name no more than the family.
            Some(2) if !self.chose => Some("ft"),
            Some(3) if !self.chose => Some("sae"),
            Some(4..=6) if !self.chose => Some("fils"),
            _ if self.method.is_some() && !self.four_way_seen => Some("802.1x"),
            _ => None,
        };
        let without = self.chose || self.privacy.is_some();
        by_algorithm
            .or_else(|| (without && !self.four_way_seen).then_some("open"))
            .map(str::to_owned)
    }

    /// The pairwise cipher by what was announced or asked for.
    fn cipher(&self) -> Option<String> {
        if let Some(rsn) = &self.rsn {
            let names = rsn
                .pairwise
                .iter()
                .map(|suite| CipherSuite::name_of(suite.0));
            return self.single(names.collect());
        }
        if self.four_way_seen || !self.chose && matches!(self.algorithm, Some(2..=7)) {
            return None;
        }
        match self.privacy? {
            // A station without RSN at a BSS that asks for RSN: its request tells no cipher.
            true if self.announces_rsn => None,
            true => Some("wep".to_owned()),
            false => Some("open".to_owned()),
        }
    }

    /// The one suite that was chosen; of several on offer none.
    fn single(&self, named: Vec<String>) -> Option<String> {
        match (&named[..], self.offered) {
            ([one], _) => Some(one.clone()),
            ([first, ..], false) => Some(first.clone()),
            _ => None,
        }
    }

    /// Why the session failed or ended.
    fn why(&self) -> Option<String> {
        let unanswered = !self.connected && self.join.seconds > 0 && !self.join.third;
        let refused = unanswered && (self.is_over() || self.join.seconds > 1);
        let ended = self
            .reason
            .clone()
            .or_else(|| self.end.map(|end| end.words()));
        if !refused {
            return ended;
        }
        let times = match self.join.seconds {
            1 => String::new(),
            count => format!(" ({count} times)"),
        };
        let cause = format!(
            "the AP did not accept message 2 of the 4-way handshake{times}: its MIC does not \
             fit, as with a wrong passphrase or PMK"
        );
        Some(ended.map_or(cause.clone(), |end| format!("{cause}; {end}")))
    }

    /// Whether the first and the last frame of what was negotiated were captured.
    fn negotiation_whole(&self) -> bool {
        let join = &self.join;
        let count = |protocol: Protocol| join.messages[protocol as usize];
        let early = count(Protocol::Sae)
            + count(Protocol::Ft)
            + count(Protocol::Fils)
            + count(Protocol::SharedKey);
        if early > 0 {
            return join.asked.is_some() || join.key_first.is_some();
        }
        if count(Protocol::Eap) > 0 {
            return self.eap_span().is_some();
        }
        join.key_whole && join.key_first.is_some() || count(Protocol::FourWay) == 0
    }
}

/// A session that only RADIUS shows: an authentication at a server, seen between AP and server.
pub(super) fn of_exchange(
    station: MacAddress,
    exchange: &ServerAuthentication,
    origin_ns: u64,
) -> SessionReport {
    let outcome = match exchange.accepted {
        Some(true) => "connected",
        Some(false) => "failed",
        None => "incomplete",
    };
    let session = Session {
        station,
        bssid: exchange.called.map_or(MacAddress::default(), |c| c.bssid),
        ssid: exchange
            .called
            .map_or(Vec::new(), |called| called.ssid().to_vec()),
        first_ns: exchange.first_ns,
        last_ns: exchange.last_ns,
        first_frame: exchange.frame,
        last_frame: exchange.last_frame,
        method: exchange.method,
        tls_version: exchange.tls_version,
        alert: exchange.alert,
        ..Session::default()
    };
    SessionReport {
        seen: "radius",
        outcome,
        reason: (exchange.accepted == Some(false))
            .then(|| format!("Access-Reject{}", session.alert_words())),
        akm: Some("802.1x".to_owned()),
        cipher: None,
        eap_time_capture_point: "wire",
        waits_s: Waits {
            server: exchange.served_ns as f64 / 1e9,
            server_seen: Some("radius"),
            ..Waits::default()
        },
        ..session.report(origin_ns, Some(*exchange))
    }
}

/// A session as it is printed.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct SessionReport {
    /// Client.
    pub station: String,
    /// AP; zeros where RADIUS does not name it.
    pub bssid: String,
    /// SSID, null if it was never seen.
    pub ssid: Option<String>,
    /// Both devices and their links, where the association has several; `station` and `bssid` are then
    /// those of the link of the association.
    pub multi_link: Option<MultiLinkReport>,
    /// Where it was seen: air, wire (EAPOL on Ethernet or a host's interface) or radius.
    pub seen: &'static str,
    /// First frame, in seconds after the capture's first.
    pub at_s: f64,
    /// The same, in seconds since the epoch.
    pub unix_s: f64,
    /// Place of the file that holds the first frame, from 0.
    pub file: u16,
    /// Number of the first frame of the attempt in its file.
    pub frame: u32,
    /// Number of the last frame.
    pub last_frame: u32,
    /// AKM; null if the choice was not seen.
    pub akm: Option<String>,
    /// Pairwise cipher; null if it was not seen.
    pub cipher: Option<String>,
    /// Group cipher.
    pub group_cipher: Option<String>,
    /// Management frame protection: none, capable or required; null if it was not seen.
    pub pmf: Option<&'static str>,
    /// 1 for the WPA element, 2 for the RSN element; null without either.
    pub wpa_version: Option<u8>,
    /// EAP method that the station answered in.
    pub eap_method: Option<String>,
    /// TLS version that the server chose.
    pub tls_version: Option<String>,
    /// connected, failed, incomplete, or registered: Wi-Fi Protected Setup gave its credentials.
    pub outcome: &'static str,
    /// Why it failed or ended, in words.
    pub reason: Option<String>,
    /// Every refusal on the way.
    pub failures: Vec<String>,
    /// First authentication frame to message 4 of the 4-way handshake, or to the frame that lets
    /// the station in without one.
    pub join_time_s: Option<f64>,
    /// First authentication frame to the first data frame that both sides accept.
    pub time_to_data_s: Option<f64>,
    /// First authentication frame to the first answer of DHCP, DHCPv6 or neighbour discovery.
    pub time_to_answer_s: Option<f64>,
    /// First authentication frame to successful association response.
    pub association_time_s: Option<f64>,
    /// First EAP message of the client to EAP-Success.
    pub eap_time_s: Option<f64>,
    /// Where the EAP times were taken.
    pub eap_time_capture_point: &'static str,
    /// First Access-Request to Access-Accept or Access-Reject, as a wire in the capture saw them.
    pub eap_time_at_server_s: Option<f64>,
    /// First to last message of the key handshake of the join: 4-way (and the group handshake
    /// after it with WPA), FT, FILS or keys of dynamic WEP.
    pub key_handshake_time_s: Option<f64>,
    /// Last message 1 of the 4-way handshake to its message 4.
    pub four_way_time_s: Option<f64>,
    /// First to last frame of everything negotiated to get in, tunnels included.
    pub negotiation_time_s: Option<f64>,
    /// Waiting times during the join, by the party that caused them.
    pub waits_s: Waits,
    /// Messages of the join that negotiate: all but open-system authentication and association.
    pub authentication_messages: u32,
    /// The same by metric of the observation schema, with those of RADIUS.
    pub message_counts: BTreeMap<&'static str, u32>,
    /// Frames of the whole session by protocol, without retransmissions.
    pub messages: BTreeMap<&'static str, u32>,
    /// Frames that were heard before.
    pub retransmissions: u32,
    /// Phases of the join with time, frames and octets.
    pub phases: Vec<PhaseReport>,
    /// Renewals of keys after the join.
    pub rekeys: Vec<RekeyReport>,
    /// Renewals beyond those.
    pub rekeys_left_out: u32,
    /// Operating channels that the ends name in each handshake; of FILS they are not read.
    pub operating_channels: Vec<OperatingChannelsReport>,
    /// Tunnels and bindings that were set up with the join, by protocol.
    pub tunnels: Vec<TunnelSetupReport>,
    /// DHCP messages; null without one.
    pub dhcp: Option<DhcpReport>,
    /// How the session ended; null if that was not seen.
    pub end: Option<EndReport>,
    /// Data frames with the protected bit.
    pub data_protected: u64,
    /// Data frames without it, EAPOL not counted.
    pub data_clear: u64,
    /// Frames in order, by columns.
    #[schemars(with = "StepColumns")]
    pub steps: Steps,
    /// Frames beyond those.
    pub steps_left_out: u32,
}

impl SessionReport {
    /// Time of the first frame in nanoseconds since the epoch.
    pub(crate) const fn first_ns(&self) -> u64 {
        self.steps.first_ns
    }
}

/// A multi-link association.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct MultiLinkReport {
    /// MLD address of the client.
    pub station_mld: String,
    /// MLD address of the AP.
    pub ap_mld: String,
    /// Links of the association.
    pub links: Vec<LinkReport>,
}

/// A link of a multi-link association.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct LinkReport {
    /// Link ID; null if no frame named it.
    pub link_id: Option<u8>,
    /// Address of the client on the link; null if no frame named it.
    pub station: Option<String>,
    /// BSSID of the link; null if no frame named it.
    pub bssid: Option<String>,
}

impl MultiLinkReport {
    /// The association as it is printed.
    pub(crate) fn of(known: &Association) -> Self {
        let text = |address: MacAddress| address.to_string();
        let links = known.links.iter().map(|link| LinkReport {
            link_id: link.id,
            station: link.station.map(text),
            bssid: link.bssid.map(text),
        });
        Self {
            station_mld: text(known.station),
            ap_mld: text(known.access_point),
            links: links.collect(),
        }
    }
}

/// A renewal of keys.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct RekeyReport {
    /// 4-way, group, eap, rc4-key or a tunnel's protocol.
    pub protocol: &'static str,
    /// First frame, in seconds after the session's first.
    pub at_s: f64,
    /// First to last frame.
    pub duration_s: f64,
    /// Number of the first frame.
    pub frame: u32,
    /// Frames.
    pub frames: u32,
    /// Its last message was seen.
    pub complete: bool,
}

/// The end of a session.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct EndReport {
    /// Seconds after the session's first frame.
    pub at_s: f64,
    /// Its frame.
    pub frame: u32,
    /// station or ap.
    pub by: &'static str,
    /// It was for all stations of the BSS.
    pub to_all: bool,
    /// Reason code (IEEE 802.11-2020, table 9-49).
    pub reason_code: u16,
    /// The end in words.
    pub words: String,
}

/// A tunnel or a binding that was set up.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct TunnelSetupReport {
    /// ikev1, ikev2, wireguard, openvpn or mobile-ip.
    pub protocol: &'static str,
    /// First message, in seconds after the session's first frame.
    pub at_s: f64,
    /// First to last message.
    pub duration_s: f64,
    /// Messages.
    pub messages: u32,
}

/// DHCP messages of a station, those that only the MAC sent again not counted.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
pub struct DhcpReport {
    /// Searches for servers.
    pub discover: u32,
    /// Offers of servers.
    pub offer: u32,
    /// Requests for an address.
    pub request: u32,
    /// Confirmations.
    pub ack: u32,
    /// Refusals of a server.
    pub nak: u32,
    /// Refusals of the client, as the address is in use.
    pub decline: u32,
}

/// One phase.
#[derive(Debug, Clone, Serialize, JsonSchema)]
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

/// One roam.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct RoamReport {
    /// Client.
    pub station: String,
    /// AP it left.
    pub from: String,
    /// AP it went to.
    pub to: String,
    /// First data frame through the new AP, in seconds after the capture's first frame.
    pub at_s: f64,
    /// Number of that frame.
    pub frame: u32,
    /// Last data frame through the old AP to the first through the new one, without the time in which the
    /// station was idle.
    pub handover_gap_s: f64,
    /// The same with it.
    pub silence_s: f64,
    /// Of the silence: pauses above a second in which the station could have sent.
    pub idle_s: f64,
    /// Of the gap: first authentication frame to association response.
    pub handover_association_s: Option<f64>,
    /// Of the gap: first to last frame of EAP.
    pub handover_eap_s: Option<f64>,
    /// Of the gap: first to last frame of the key handshake.
    pub handover_keys_s: Option<f64>,
    /// Protocols that negotiated with the new AP.
    pub negotiated: Vec<&'static str>,
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
