//! Hand-overs: stations that leave one BSS for another during the trial.

use airtoll_handshakes::{KeyExchange, MobileIp, TunnelMove};
use airtoll_security::AkmSuite;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::check::{Checked, check_rate, invalid, not_negative, positive};
use super::{Reassociation, Role, Scenario, ScenarioError};

/// How a station gets in at the new access point.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum HandoverMethod {
    /// Everything that the policy negotiates, again (with `cached_pmk` in the options: without
    /// SAE or EAP).
    #[default]
    Full,
    /// Fast BSS transition over the air (IEEE 802.11-2020, 13.5.2).
    FastTransition,
    /// Fast BSS transition over the DS, asked for through the old access point before the station
    /// leaves (IEEE 802.11-2020, 13.5.3).
    FastTransitionDs,
    /// Everything again at an access point where the station was not before; with the PMKSA of its
    /// last association at one to which it comes back (IEEE 802.11-2020, 12.6.10.3).
    PmksaCaching,
    /// EAP with the new access point through the old one before the station leaves, and the PMK
    /// from it (IEEE 802.11-2020, 12.6.10.2); everything again if that is not done by then.
    PreAuthentication,
}

/// One hand-over; those of one station follow one another in the order of the list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Handover {
    /// The station that moves; it has an association of its own.
    pub station: String,
    /// The BSS that it moves to: another one than that in which it is.
    pub bss: String,
    /// Position of the station in that BSS, metres. It decides who senses whom there and, without
    /// `walk`, the levels; null: the station's own position. Equal in all hand-overs of the station
    /// to that BSS.
    #[serde(default)]
    pub position_m: Option<[f64; 3]>,
    /// When it leaves, counted from the start of the traffic, s; null with `walk`.
    #[serde(default)]
    pub at_s: Option<f64>,
    /// It leaves where the level says so, on its way from its own position; null: at `at_s`.
    #[serde(default)]
    pub walk: Option<Walk>,
    /// How long it scans after that, s; 0 with `scan`.
    #[serde(default)]
    pub scan_s: f64,
    /// It scans with frames; null: for `scan_s`.
    #[serde(default)]
    pub scan: Option<Scan>,
    /// Time from a scan that found no AP to the next scan, s.
    #[serde(default = "ahead")]
    pub again_s: f64,
    /// With pre-authentication: how long before it leaves it begins, s; at the earliest when the
    /// traffic does.
    #[serde(default = "ahead")]
    pub ahead_s: f64,
    /// How it gets in.
    #[serde(default)]
    pub method: HandoverMethod,
    /// Packets for the station go to the old access point until so long after it has joined, s: the
    /// distribution system does not know its address there.
    #[serde(default)]
    pub stale_address_s: f64,
    /// Its data frames there have no block ack agreement until so long after it has joined, s.
    #[serde(default)]
    pub missing_block_ack_s: f64,
    /// At an access point to which it comes back its data frames have the non-HT rate of the same
    /// constellation until so long after it has joined, s.
    #[serde(default)]
    pub legacy_rate_s: f64,
    /// Treatment of its tunnels, whose outer address is another one there unless the station
    /// uses Mobile IP: `anew`, `mobike`, `roams` or `stays`.
    #[serde(default)]
    pub tunnel: TunnelMove,
    /// Negotiation with the new access point.
    pub association: Reassociation,
}

/// An agent of Mobile IP that advertises itself on the link of an access point (RFC 5944 section 2.3).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MobilityAgent {
    /// The agent: the access point itself, or a node that it reaches over the links.
    pub node: String,
    /// The BSS whose access point sends its advertisements to every station.
    pub bss: String,
    /// A foreign agent, whose care-of address is its own; otherwise a home agent.
    #[serde(default)]
    pub foreign: bool,
    /// Time between two advertisements, s; they are valid three times as long, in whole seconds.
    pub period_s: f64,
    /// When the first one comes, s.
    #[serde(default)]
    pub offset_s: f64,
}

/// A walk in a straight line. Levels follow positions but where
/// `radio.budgets` has the pair; who senses whom is decided at the station's position and, in the next
/// BSS, at the hand-over's `position_m`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Walk {
    /// When the station sets out, counted from the start of the traffic, s; it stands until then.
    #[serde(default)]
    pub begin_s: f64,
    /// Where it ends, metres.
    pub to_m: [f64; 3],
    /// It goes back from there to where it began.
    #[serde(default)]
    pub back: bool,
    /// Speed, m/s.
    pub speed_m_s: f64,
    /// The station looks for another access point where its own is heard below this, dBm.
    pub threshold_dbm: f64,
    /// It moves where the other one is heard this much better, dB.
    pub hysteresis_db: f64,
}

/// A scan (IEEE 802.11-2020, 11.1.4.3).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Scan {
    /// Channels, that of the new access point among them and last; the others are empty.
    pub channels: u32,
    /// Listens for beacons instead of sending probe requests.
    #[serde(default)]
    pub passive: bool,
    /// How long an active scan waits on a channel that stays silent, s.
    pub min_channel_s: f64,
    /// How long a scan stays on a channel where it heard something, a passive one on each, s.
    pub max_channel_s: f64,
}

const fn ahead() -> f64 {
    1.0
}

impl Scenario {
    pub(super) fn check_handover(
        &self,
        at: &str,
        handover: &Handover,
    ) -> Result<(), ScenarioError> {
        match (handover.at_s, &handover.walk) {
            (Some(at_s), None) => not_negative(&format!("{at}.at_s"), at_s)?,
            (None, Some(walk)) => {
                not_negative(&format!("{at}.walk.begin_s"), walk.begin_s)?;
                positive(&format!("{at}.walk.speed_m_s"), walk.speed_m_s)?;
                not_negative(&format!("{at}.walk.hysteresis_db"), walk.hysteresis_db)?;
                if handover.method == HandoverMethod::PreAuthentication {
                    let allowed =
                        "another one with walk: the time at which the station leaves is not known";
                    return invalid(&format!("{at}.method"), "pre-authentication", allowed);
                }
            }
            _ => return invalid(at, "at_s and walk", "exactly one of the two"),
        }
        positive(&format!("{at}.again_s"), handover.again_s)?;
        if let Some(scan) = &handover.scan {
            if scan.channels == 0 {
                return invalid(&format!("{at}.scan.channels"), 0, "at least 1");
            }
            positive(&format!("{at}.scan.min_channel_s"), scan.min_channel_s)?;
            if scan.max_channel_s < scan.min_channel_s {
                let field = format!("{at}.scan.max_channel_s");
                return invalid(&field, scan.max_channel_s, "at least min_channel_s");
            }
            if handover.scan_s > 0.0 {
                return invalid(&format!("{at}.scan_s"), handover.scan_s, "0 with scan");
            }
        }
        not_negative(&format!("{at}.scan_s"), handover.scan_s)?;
        not_negative(&format!("{at}.ahead_s"), handover.ahead_s)?;
        for (field, time) in [
            ("stale_address_s", handover.stale_address_s),
            ("missing_block_ack_s", handover.missing_block_ack_s),
            ("legacy_rate_s", handover.legacy_rate_s),
        ] {
            not_negative(&format!("{at}.{field}"), time)?;
        }
        let field = format!("{at}.station");
        let station = self.node(&field, &handover.station)?;
        let joins = self
            .associations
            .iter()
            .any(|a| a.station == handover.station);
        if station.role != Role::Station || !joins {
            return invalid(&field, &handover.station, "a station with an association");
        }
        if station.four_address {
            let allowed = "a station without four_address";
            return invalid(&field, &handover.station, allowed);
        }
        let policy = &handover.association.policy;
        let akm = policy.link.akm;
        let fast = matches!(
            handover.method,
            HandoverMethod::FastTransition | HandoverMethod::FastTransitionDs
        );
        if fast && !akm.is_some_and(AkmSuite::is_ft) {
            let allowed = format!("another one: {} has no FT AKM", policy.name);
            return invalid(&format!("{at}.method"), "fast-transition", &allowed);
        }
        self.check_tunnels(at, handover)?;
        let looks = handover.scan_s > 0.0 || handover.scan.is_some();
        if handover.method == HandoverMethod::FastTransitionDs && looks {
            let allowed = "0 and scan null with fast-transition-ds, which asks for an access point that is known";
            return invalid(&format!("{at}.scan_s"), handover.scan_s, allowed);
        }
        self.check_place(at, handover)
    }

    /// Where a hand-over leads: to a BSS in which the station is not.
    fn check_place(&self, at: &str, handover: &Handover) -> Checked {
        let earlier = || {
            let own = self.handovers.iter();
            own.take_while(|h| !std::ptr::eq(*h, handover))
                .filter(|h| h.station == handover.station)
        };
        let before = earlier().last();
        if let Some(before) = before {
            if before.walk.is_some() != handover.walk.is_some() {
                return invalid(
                    &format!("{at}.walk"),
                    "not the same",
                    "as in the one before",
                );
            }
            if before.at_s > handover.at_s {
                let allowed = "not before the same station's hand-over before it";
                return invalid(&format!("{at}.at_s"), handover.at_s.unwrap_or(0.0), allowed);
            }
        }
        let field = format!("{at}.bss");
        let Some(bss) = self.bss.iter().find(|b| b.name == handover.bss) else {
            return invalid(&field, &handover.bss, "the name of a BSS");
        };
        let station = self.node(&format!("{at}.station"), &handover.station)?;
        if let Some(rate) = &station.rate {
            check_rate(&field, rate, station.standard.unwrap_or(bss.standard))?;
        }
        let first = &station.bss;
        let from = before.map_or(first.as_deref(), |h| Some(&h.bss));
        if from == Some(&handover.bss) {
            let allowed = format!("another BSS: {} is there already", handover.station);
            return invalid(&field, &handover.bss, &allowed);
        }
        let field = format!("{at}.position_m");
        if first.as_deref() == Some(&handover.bss) {
            if let Some(position) = handover.position_m {
                let allowed = "null: the station comes back to its first BSS";
                return invalid(&field, format!("{position:?}"), allowed);
            }
        } else if let Some(other) = earlier().find(|h| h.bss == handover.bss)
            && other.position_m != handover.position_m
        {
            let value = format!("{:?}", handover.position_m);
            let allowed = "as in the station's first hand-over to that BSS";
            return invalid(&field, value, allowed);
        }
        Ok(())
    }

    pub(super) fn check_agent(&self, at: &str, agent: &MobilityAgent) -> Checked {
        positive(&format!("{at}.period_s"), agent.period_s)?;
        not_negative(&format!("{at}.offset_s"), agent.offset_s)?;
        self.node(&format!("{at}.node"), &agent.node)?;
        if self.bss.iter().any(|b| b.name == agent.bss) {
            return Ok(());
        }
        invalid(&format!("{at}.bss"), &agent.bss, "the name of a BSS")
    }

    fn check_tunnels(&self, at: &str, handover: &Handover) -> Checked {
        let Reassociation {
            policy, options, ..
        } = &handover.association;
        let mobile_ip = options.mobile_ip != MobileIp::Off;
        let only = match policy.tunnels.as_slice() {
            [tunnel] => Some(tunnel.key_exchange),
            _ => None,
        };
        let before = self.associations.iter();
        let movable = before
            .filter(|a| a.station == handover.station)
            .all(|a| a.options.mobike);
        let (name, allowed) = match handover.tunnel {
            TunnelMove::Anew => return Ok(()),
            TunnelMove::Mobike
                if only != Some(KeyExchange::IkeV2) || !movable || !options.mobike =>
            {
                (
                    "mobike",
                    "another one: it takes one tunnel with IKEv2, and mobike in the options of both associations",
                )
            }
            TunnelMove::Roams if only != Some(KeyExchange::Noise) => {
                ("roams", "another one: it takes one tunnel of WireGuard")
            }
            TunnelMove::Mobike | TunnelMove::Roams if mobile_ip => (
                "mobike or roams",
                "stays or anew: a home address of Mobile IP does not change",
            ),
            TunnelMove::Stays if !mobile_ip || policy.tunnels.is_empty() => (
                "stays",
                "another one: it takes a tunnel, and Mobile IP below it",
            ),
            _ => return Ok(()),
        };
        invalid(&format!("{at}.tunnel"), name, allowed)
    }
}
