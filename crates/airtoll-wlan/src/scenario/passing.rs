//! Stations that pass by and look for networks: their Probe Requests, and how access points answer.

use airtoll_phy::Width;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::check::{Checked, invalid, not_negative, positive};
use super::{Band, Bss, Node, Role, Scenario};

/// Probe Requests of stations that pass by (IEEE 802.11-2020, 11.1.4.3.2): to the broadcast address and with the
/// wildcard SSID, at the times of a Poisson process, of one station after the other. Every access point
/// on the channel that hears one answers for each of its networks with a Probe Response to that station.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PassersBy {
    /// Probe Requests per second in the mean, all stations together.
    pub per_s: f64,
    /// Share of the requests whose sender has left the channel before a response arrives, 0 to 1: the
    /// responses to these get no Ack.
    #[serde(default)]
    pub leaves_ratio: f64,
    /// An access point has its responses ready at an instant up to this after a request, uniformly
    /// distributed, us.
    #[serde(default)]
    pub response_delay_us: f64,
    /// Attempts of a response; null: those of the access point's BSS (`max_attempts`).
    #[serde(default)]
    pub response_attempts: Option<u8>,
}

impl Bss {
    /// Whether its stations pass by: it is no BSS, and has no access point.
    pub(crate) fn passes_by(&self) -> bool {
        self.passers_by.is_some()
    }

    /// Attempts of a Probe Response of an access point of this BSS.
    pub(crate) fn response_attempts(&self, passers: &PassersBy) -> u8 {
        passers.response_attempts.unwrap_or(self.max_attempts)
    }
}

impl Scenario {
    /// The stations that pass by, with their channel and PHY.
    pub(crate) fn passers_by(&self) -> Option<(&Bss, &PassersBy)> {
        let mut all = self.bss.iter();
        all.find_map(|bss| Some((bss, bss.passers_by.as_ref()?)))
    }

    /// The BSSs whose access points answer stations that pass by, with their numbers.
    pub(crate) fn answering<'a>(
        &'a self,
        passing: &'a Bss,
    ) -> impl Iterator<Item = (usize, &'a Bss, &'a Node)> {
        let all = self.bss.iter().enumerate();
        let near = all.filter(|(_, bss)| !bss.passes_by() && bss.channel == passing.channel);
        near.filter_map(|(at, bss)| Some((at, bss, self.access_point_of(&bss.name)?)))
    }

    pub(super) fn check_passers_by(&self) -> Checked {
        let mut found = self.bss.iter().enumerate().filter(|(_, b)| b.passes_by());
        let Some((i, bss)) = found.next() else {
            return Ok(());
        };
        if let Some((second, _)) = found.next() {
            let allowed = format!("null beside that of bss[{i}]");
            return invalid(&format!("bss[{second}].passers_by"), "set", allowed);
        }
        let at = format!("bss[{i}].passers_by");
        let refuse = |allowed: &str| invalid(&at, "set", allowed);
        if let Some(passers) = &bss.passers_by {
            passers.check(&at)?;
        }
        if bss.neighbour.is_none() {
            return refuse("only with neighbour: they are none of the own cell");
        }
        if bss.beacons.is_some() || bss.obss_pd_dbm.is_some() || bss.color > 0 {
            return refuse("only without beacons, color and obss_pd_dbm: it has no access point");
        }
        if self.answering(bss).any(|(_, own, _)| own.is_at_6ghz()) {
            // Stations find access points by others' reports there (IEEE 802.11ax-2021, 26.17.2.3).
            return refuse("only at 2.4 and 5 GHz: at 6 GHz few Probe Requests are sent");
        }
        if self.overlaps_in_part() {
            return refuse("only where all BSSs on the channel have its width and primary channel");
        }
        if self.bss.iter().any(|b| b.ofdma.is_some()) {
            return refuse("only without OFDMA");
        }
        if let Some(device) = self.nodes.iter().find(|n| !n.multi_link.is_empty()) {
            return refuse(&format!(
                "only without multi-link devices, as {} is",
                device.name
            ));
        }
        let theirs = |name: &str| {
            let node = self.nodes.iter().find(|n| n.name == name);
            node.is_some_and(|n| n.is_in(&bss.name))
        };
        for (at, flow) in self.flows.iter().enumerate() {
            if theirs(&flow.source) || theirs(&flow.destination) {
                let allowed = "between nodes that do not pass by";
                return invalid(&format!("flows[{at}].source"), &flow.source, allowed);
            }
        }
        for (at, node) in self.nodes.iter().enumerate() {
            let field = format!("nodes[{at}]");
            if node.is_in(&bss.name) && (node.power_save.is_some() || node.four_address) {
                return invalid(
                    &field,
                    &node.name,
                    "neither dozing nor a bridge where it passes by",
                );
            }
        }
        Ok(())
    }

    /// Access points of a BSS: one, and none where its stations pass by.
    pub(super) fn check_members(&self, at: &str, bss: &Bss) -> Checked {
        let of = |role| {
            let nodes = self.nodes.iter();
            nodes.filter(move |n| n.role == role && n.is_in(&bss.name))
        };
        let count = of(Role::AccessPoint).count();
        if !bss.passes_by() {
            if count == 1 {
                return Ok(());
            }
            return invalid(at, format!("{count} access points"), "exactly one");
        }
        if count > 0 || of(Role::Station).count() == 0 {
            let allowed = "stations and no access point where they pass by";
            return invalid(at, format!("{count} access points"), allowed);
        }
        Ok(())
    }
}

impl Bss {
    fn is_at_6ghz(&self) -> bool {
        let width = Width::of_mhz(u32::from(self.width_mhz)).unwrap_or(Width::Mhz20);
        let default = || self.standard.descriptor().default_band(width);
        self.band.unwrap_or_else(default) == Band::Ghz6
    }
}

impl PassersBy {
    fn check(&self, at: &str) -> Checked {
        positive(&format!("{at}.per_s"), self.per_s)?;
        if !(0.0..=1.0).contains(&self.leaves_ratio) {
            return invalid(&format!("{at}.leaves_ratio"), self.leaves_ratio, "0 to 1");
        }
        not_negative(&format!("{at}.response_delay_us"), self.response_delay_us)?;
        if self.response_attempts == Some(0) {
            let field = format!("{at}.response_attempts");
            return invalid(&field, 0, "at least 1, or null");
        }
        Ok(())
    }
}
