//! OFDMA of a BSS, and its check.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::check::{Checked, invalid, not_negative, positive};
use super::{Bss, Node, Protection, Role, Scenario};

/// OFDMA of a BSS: equal resource units over the stations with frames, stations in turn.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Ofdma {
    /// The access point sends to several stations in one PPDU; MU-BAR Trigger frames in it ask for BlockAcks.
    pub downlink: bool,
    /// The access point asks stations for data by Basic Trigger frames.
    pub uplink: bool,
    /// Interval at which stations that reported empty queues are asked again, us.
    pub poll_interval_us: f64,
    /// MU EDCA timer, us: a station whose triggered data were acknowledged does not contend for so long; 0: it
    /// contends as before. Default: that of hostapd, 255 times 8 TU.
    pub mu_edca_timer_us: f64,
}

impl Default for Ofdma {
    fn default() -> Self {
        Self {
            downlink: true,
            uplink: true,
            poll_interval_us: 10_000.0,
            mu_edca_timer_us: airtoll_phy::MU_EDCA_TIMER.as_micros_f64(),
        }
    }
}

impl Scenario {
    /// Checks the OFDMA of a BSS.
    pub(super) fn check_ofdma(&self, at: &str, bss: &Bss) -> Checked {
        let Some(ofdma) = &bss.ofdma else {
            return Ok(());
        };
        let at = format!("{at}.ofdma");
        positive(&format!("{at}.poll_interval_us"), ofdma.poll_interval_us)?;
        not_negative(&format!("{at}.mu_edca_timer_us"), ofdma.mu_edca_timer_us)?;
        let refuse = |allowed: &str| invalid(&at, "set", allowed);
        if !ofdma.downlink && !ofdma.uplink {
            return refuse("with downlink or uplink");
        }
        let Some(rules) = &bss.standard.descriptor().multi_user else {
            return refuse("only from 802.11ax on");
        };
        let widths = || rules.common_bits.iter().map(|(width, _)| width.mhz());
        if !widths().any(|mhz| mhz == u32::from(bss.width_mhz)) {
            let widest = widths().max().unwrap_or(0);
            return refuse(&format!("only up to {widest} MHz with {}", bss.standard));
        }
        if bss.edca == Some(false) {
            return refuse("only with EDCA");
        }
        if bss.aggregation.ampdu_max_octets == Some(0) {
            return refuse("only with A-MPDUs");
        }
        if bss.rts_threshold_octets.is_some() || bss.protection != Protection::None {
            return refuse("only without RTS and CTS-to-self (MU-RTS is not modelled)");
        }
        if bss.fragmentation_threshold_octets.is_some() {
            return refuse("only without fragmentation");
        }
        if bss.neighbour.is_some() {
            return refuse("only in a BSS that is no neighbour's");
        }
        let shared = |other: &&Bss| other.channel == bss.channel;
        if ofdma.uplink && self.bss.iter().filter(shared).count() > 1 {
            return refuse("without uplink where another BSS is on the channel");
        }
        let members = || self.nodes.iter().filter(|n| n.is_in(&bss.name));
        let stations = members().filter(|n| n.role == Role::Station);
        let own = |n: &&Node| n.standard.is_none_or(|own| own == bss.standard);
        if stations.filter(own).count() < 2 {
            return refuse("only with at least two stations of its PHY, which share PPDUs");
        }
        for node in members() {
            let reason = if !node.multi_link.is_empty() {
                "only without multi-link devices"
            } else if node.power_save.is_some() {
                "only with stations that do not doze"
            } else if node.host.nic.is_some() {
                "only with nodes without a model of the network card"
            } else if self.radio.hidden.iter().flatten().any(|n| *n == node.name) {
                "only where all nodes of the BSS hear one another"
            } else {
                continue;
            };
            return refuse(reason);
        }
        if self.handovers.iter().any(|h| h.bss == bss.name)
            || members().any(|n| self.handovers.iter().any(|h| h.station == n.name))
        {
            return refuse("only without hand-overs");
        }
        Ok(())
    }
}
