//! Checks of multi-link devices.

use std::collections::HashSet;

use super::check::{Checked, invalid};
use super::{AddressResolution, Association, Node, Rate, Role, Scenario, Standard};

/// Most links of a device: one per band.
const MOST_LINKS: usize = 3;

impl Scenario {
    /// ID of the link of a BSS: its place among those of its access point. Devices that have joined
    /// from the start name no links, and have one address on all of them: 0.
    pub(crate) fn link_id(&self, bss: &str) -> u8 {
        let access_point = self.access_point_of(bss);
        let place = access_point.and_then(|ap| ap.bsss().position(|own| own == bss));
        let joins = !self.associations.is_empty();
        place.filter(|_| joins).map_or(0, |place| place as u8)
    }

    /// Checks that a station negotiates as many links as it has.
    pub(super) fn check_links(&self, at: &str, association: &Association, node: &Node) -> Checked {
        let links = node.bsss().count();
        if usize::from(association.options.links) == links {
            return Ok(());
        }
        let allowed = format!("{links}, as {} is in so many BSSs", node.name);
        invalid(
            &format!("{at}.options.links"),
            association.options.links,
            allowed,
        )
    }

    /// Checks the further BSSs of a node, which make it a multi-link device.
    pub(super) fn check_multi_link(&self, at: &str, node: &Node) -> Checked {
        if node.multi_link.is_empty() {
            if node.link_rates.is_empty() {
                return Ok(());
            }
            let field = format!("{at}.link_rates");
            return invalid(&field, node.link_rates.len(), "empty without multi_link");
        }
        let field = format!("{at}.multi_link");
        let names = format!("{:?}", node.multi_link);
        if node.role == Role::Wired {
            return invalid(&field, names, "empty for a wired host");
        }
        if node.multi_link.len() + 1 > MOST_LINKS {
            return invalid(&field, names, format!("at most {} BSSs", MOST_LINKS - 1));
        }
        if !node.link_rates.is_empty() && node.link_rates.len() != node.bsss().count() {
            return invalid(
                &format!("{at}.link_rates"),
                node.link_rates.len(),
                "empty, or as many as the node has links",
            );
        }
        let mut channels = HashSet::new();
        for name in node.bsss() {
            let Some(bss) = self.bss.iter().find(|b| b.name == name) else {
                return invalid(&field, name, "names of BSSs");
            };
            if !channels.insert(bss.channel) {
                return invalid(&field, name, "BSSs on different channels");
            }
            let mcs = !matches!(bss.rate, Rate::Fixed { .. });
            if bss.standard != Standard::Be || bss.edca == Some(false) || !mcs {
                return invalid(&field, name, "BSSs of 802.11be with EDCA and rates of MCSs");
            }
            let own = |n: &&Node| n.role == Role::AccessPoint && n.is_in(name);
            let access_point = self.nodes.iter().find(own);
            let same = node
                .bss
                .as_deref()
                .is_some_and(|first| access_point.is_some_and(|ap| ap.is_in(first)));
            if !same {
                return invalid(&field, name, "BSSs of one access point");
            }
        }
        if !node.cipher.permits_high_throughput() {
            let allowed = "empty: the cipher permits no EHT";
            return invalid(&field, names, allowed);
        }
        let moves = self
            .handovers
            .iter()
            .any(|h| h.station == node.name || node.bsss().any(|own| own == h.bss));
        let joined = !self.associations.is_empty()
            && node.role == Role::Station
            && self.associations.iter().all(|a| a.station != node.name);
        let leaves = |bss: &str| {
            let own = self.bss.iter().find(|b| b.name == bss);
            own.is_some_and(|b| b.deauthenticate_at_s.is_some())
        };
        for (refused, why) in [
            (
                joined,
                "it has joined from the start, and other stations join in simulated time",
            ),
            (
                node.bsss().any(leaves),
                "its access point deauthenticates all stations (deauthenticate_at_s)",
            ),
            (moves, "stations hand over"),
            (
                self.address_resolution == AddressResolution::Dynamic,
                "addresses are resolved on the air",
            ),
            (
                !self.mobility_agents.is_empty(),
                "mobility agents advertise",
            ),
            (node.host.nic.is_some(), "its network card prepares frames"),
            (node.four_address, "it bridges"),
            (node.power_save.is_some(), "it dozes"),
            (
                node.queue.airtime_fairness,
                "its queue has airtime_fairness",
            ),
            (
                node.standard.is_some() || node.rate.is_some(),
                "it has a PHY or a rate of its own",
            ),
        ] {
            if refused {
                return invalid(&field, names, format!("empty, as {why}"));
            }
        }
        Ok(())
    }
}
