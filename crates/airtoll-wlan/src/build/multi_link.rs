//! Multi-link devices: the radios and links of an access point on several channels, and of its stations.

use super::Builder;
use crate::id::{Ends, ModeId, NodeId, Pair, RadioId};
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
        for _category in 0..4 {
            for pairs in &pairs {
                self.add_multi_link(pairs, |pair| Ends {
                    from: pair.access_point,
                    to: pair.station,
                });
            }
        }
        for (pairs, &station) in pairs.iter().zip(&stations) {
            self.world.stack.lower.mac.begin_links(station, 1);
            for _category in 0..4 {
                self.add_multi_link(pairs, |pair| Ends {
                    from: pair.station,
                    to: pair.access_point,
                });
            }
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

    /// Adds the link of one access category in one direction.
    fn add_multi_link(
        &mut self,
        pairs: &[Connection],
        ends: impl Fn(Pair<RadioId>) -> Ends<RadioId>,
    ) {
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
        self.world.stack.lower.mac.add_link(made);
    }
}
