//! OFDMA: the stations that share PPDUs with one another.

use airtoll_units::Duration;

use super::Builder;
use crate::id::{ContenderId, NeighbourId, RadioId};
use crate::mac::{self, BothWays, SharedStation, SharingRules};

impl Builder<'_> {
    /// The access point of a BSS shares PPDUs among the stations that have its PHY.
    pub(super) fn add_sharing(&mut self, at: usize) {
        let bss = &self.scenario.bss[at];
        let Some(ofdma) = &bss.ofdma else {
            return;
        };
        let micros = |us: f64| Duration::from_secs_f64(us / 1e6);
        let rules = SharingRules {
            width: mac::width(bss),
            downlink: ofdma.downlink,
            uplink: ofdma.uplink,
            poll: micros(ofdma.poll_interval_us),
            timer: micros(ofdma.mu_edca_timer_us),
        };
        let mac = &self.world.stack.lower.mac;
        let (ap, stations) = (self.phys[at].members[0], &self.phys[at].members[1..]);
        let links = |number: usize, station: RadioId| {
            [0, 1, 2, 3].map(|category| BothWays {
                down: mac.link_to(ap, NeighbourId::new(number as u32), category),
                up: mac.link_to(station, NeighbourId::new(0), category),
            })
        };
        let shares = |station: &RadioId| {
            let node = &self.scenario.nodes[self.radios.node_of(*station).index()];
            let own = node.standard.unwrap_or(bss.standard) == bss.standard;
            own && node.cipher.permits_high_throughput()
        };
        let sharing: Vec<SharedStation> = stations
            .iter()
            .enumerate()
            .filter(|(_, station)| shares(station))
            .map(|(number, &radio)| SharedStation {
                radio,
                links: links(number, radio),
            })
            .collect();
        let contenders: [ContenderId; 4] = [0, 1, 2, 3].map(|category| mac.contender(ap, category));
        let mac = &mut self.world.stack.lower.mac;
        mac.share_ppdus(contenders, rules, &sharing);
    }
}
