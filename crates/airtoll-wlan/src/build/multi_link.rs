//! Multi-link devices: the radios and links of an access point on several channels, and of its stations.

use airtoll_units::Duration;

use super::Builder;
use crate::id::{Ends, ModeId, NodeId, Pair, RadioId};
use crate::mac::{RadioRules, RadioSet};
use crate::scenario::ScenarioError;

/// The pair of radios by which an access point and a station reach each other in a BSS.
struct Connection {
    /// Number of the BSS.
    at: usize,
    radios: Pair<RadioId>,
    modes: Vec<ModeId>,
}

impl Builder<'_> {
    /// Adds contenders and links of an access point that is a multi-link device, and of its stations.
    pub(super) fn add_multi_links(&mut self, access_point: NodeId) -> Result<(), ScenarioError> {
        let own: Vec<RadioId> = self.radios.of_links(access_point).collect();
        let stations = self.radios.stations_of(access_point);
        self.add_device(&own);
        let mut pairs = Vec::new();
        for &station in &stations {
            let node = self.radios.node_of(station);
            let radios: Vec<RadioId> = self.radios.of_links(node).collect();
            self.add_device(&radios);
            pairs.push(self.pairs(access_point, &radios)?);
        }
        let neighbours = pairs.len() as u32;
        self.world.stack.lower.mac.begin_links(own[0], neighbours);
        for category in 0..4 {
            for pairs in &pairs {
                self.add_multi_link(pairs, (category, false));
            }
        }
        for (pairs, &station) in pairs.iter().zip(&stations) {
            self.world.stack.lower.mac.begin_links(station, 1);
            for category in 0..4 {
                self.add_multi_link(pairs, (category, true));
            }
            self.add_single_radio(pairs);
        }
        Ok(())
    }

    /// Adds the contenders of a device's radios, which share its queues.
    fn add_device(&mut self, radios: &[RadioId]) {
        for &radio in radios {
            self.add_contenders(self.bss_number(radio), radio);
        }
        self.world.stack.lower.mac.share_queues(radios);
    }

    /// Number of the BSS of a radio.
    fn bss_number(&self, radio: RadioId) -> usize {
        let name = self.radios.bss_of(radio);
        let mut all = self.scenario.bss.iter();
        all.position(|b| Some(b.name.as_str()) == name).unwrap_or(0)
    }

    /// The pairs of radios of an access point and a station, in the order of the station's.
    fn pairs(
        &mut self,
        access_point: NodeId,
        station: &[RadioId],
    ) -> Result<Vec<Connection>, ScenarioError> {
        let mut pairs = Vec::new();
        for &radio in station {
            let at = self.bss_number(radio);
            let bss = &self.scenario.bss[at].name;
            if let Some(far) = self.radios.of(access_point, bss) {
                pairs.push(Connection {
                    at,
                    radios: Pair {
                        station: radio,
                        access_point: far,
                    },
                    modes: self.link_modes(at, radio)?,
                });
            }
        }
        Ok(pairs)
    }

    /// A station may have one radio for all of its links.
    fn add_single_radio(&mut self, pairs: &[Connection]) {
        let Some(first) = pairs.first() else { return };
        let node = self.radios.node_of(first.radios.station);
        let Some(radio) = &self.scenario.nodes[node.index()].single_radio else {
            return;
        };
        let radios = RadioSet {
            station: pairs.iter().map(|pair| pair.radios.station).collect(),
            access_point: pairs.iter().map(|pair| pair.radios.access_point).collect(),
        };
        let rules = RadioRules {
            padding: Duration::from_micros(u64::from(radio.padding_delay_us)),
            transition: Duration::from_micros(u64::from(radio.transition_delay_us)),
            end_timeout: radio
                .end_timeout_us
                .map(|us| Duration::from_secs_f64(us / 1e6)),
        };
        let mac = &mut self.world.stack.lower.mac;
        mac.share_one_radio(radios, rules);
    }

    /// Adds the link of an access category from the station (`up`) or to it.
    fn add_multi_link(&mut self, pairs: &[Connection], (category, up): (u8, bool)) {
        let ends = |pair: Pair<RadioId>| {
            let (from, to) = if up {
                (pair.station, pair.access_point)
            } else {
                (pair.access_point, pair.station)
            };
            Ends { from, to }
        };
        let [first, further @ ..] = pairs else {
            return;
        };
        let mut made = self.link(
            first.at,
            ends(first.radios),
            first.radios.station,
            &first.modes,
        );
        let mac = &self.world.stack.lower.mac;
        let all = pairs.iter().flat_map(|pair| &pair.modes);
        let span = all.map(|mode| mac.mode(*mode).most_mpdus()).min();
        for pair in further {
            let rate =
                self.rate_control(pair.at, ends(pair.radios), pair.radios.station, &pair.modes);
            made.add_way(ends(pair.radios), rate, span.unwrap_or(1));
        }
        let node = self.radios.node_of(first.radios.station);
        let node = &self.scenario.nodes[node.index()];
        for (number, pair) in pairs.iter().enumerate() {
            if !node.maps_to(&self.scenario.bss[pair.at].name, category, up) {
                made.close_way(number);
            }
        }
        self.world.stack.lower.mac.add_link(made);
    }
}
