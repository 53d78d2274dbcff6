//! Checks of multi-link devices.

use std::collections::HashSet;

use super::check::{Checked, invalid};
use super::{AddressResolution, Node, Rate, Role, Scenario, Standard};

/// Most links of a device: one per band.
const MOST_LINKS: usize = 3;

impl Scenario {
    /// Checks the further BSSs of a node, which make it a multi-link device.
    pub(super) fn check_multi_link(&self, at: &str, node: &Node) -> Checked {
        if node.multi_link.is_empty() {
            return Ok(());
        }
        let field = format!("{at}.multi_link");
        let names = format!("{:?}", node.multi_link);
        if node.role == Role::Wired {
            return invalid(&field, names, "empty for a wired host");
        }
        if node.multi_link.len() + 1 > MOST_LINKS {
            return invalid(&field, names, format!("at most {} BSSs", MOST_LINKS - 1));
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
        for (refused, why) in [
            (
                !self.associations.is_empty(),
                "stations join in simulated time",
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
