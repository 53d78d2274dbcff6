//! The radios of a scenario: one of every node, of a multi-link device one more for every further link,
//! and of a station that hands over one more in every further BSS that it moves to.

use std::collections::HashMap;

use crate::id::{NodeId, RadioId, Table};
use crate::scenario::{Role, Scenario, Standard};

/// A radio of a node.
struct Entry<'a> {
    node: NodeId,
    bss: Option<&'a str>,
    position_m: [f64; 3],
    /// Its name in random streams.
    name: String,
}

/// All radios, those of stations in further BSSs after the first ones of all nodes.
pub(super) struct Radios<'a> {
    scenario: &'a Scenario,
    all: Table<RadioId, Entry<'a>>,
}

impl<'a> Radios<'a> {
    /// The radios of a checked scenario.
    pub fn new(scenario: &'a Scenario, index: &HashMap<&str, NodeId>) -> Self {
        let first = |(at, node): (usize, &'a crate::scenario::Node)| Entry {
            node: NodeId::new(at as u32),
            bss: node.bss.as_deref(),
            position_m: node.position_m,
            name: node.name.clone(),
        };
        let mut radios = Self {
            scenario,
            all: scenario.nodes.iter().enumerate().map(first).collect(),
        };
        for (at, node) in scenario.nodes.iter().enumerate() {
            for bss in &node.multi_link {
                radios.all.push(Entry {
                    node: NodeId::new(at as u32),
                    bss: Some(bss),
                    position_m: node.position_m,
                    name: format!("{} in {bss}", node.name),
                });
            }
        }
        for handover in &scenario.handovers {
            let node = index[handover.station.as_str()];
            if radios.of(node, &handover.bss).is_some() {
                continue;
            }
            let own = scenario.nodes[node.index()].position_m;
            let access_point = scenario.access_point_of(&handover.bss);
            let access_point = access_point.map_or("", |n| n.name.as_str());
            radios.all.push(Entry {
                node,
                bss: Some(&handover.bss),
                position_m: handover.position_m.unwrap_or(own),
                name: format!("{} at {access_point}", handover.station),
            });
        }
        radios
    }

    /// The radio of a node in a BSS.
    pub fn of(&self, node: NodeId, bss: &str) -> Option<RadioId> {
        self.all.find(|r| r.node == node && r.bss == Some(bss))
    }

    /// All radios.
    pub fn ids(&self) -> impl Iterator<Item = RadioId> + use<'a> {
        self.all.ids()
    }

    /// The node of a radio.
    pub fn node_of(&self, radio: RadioId) -> NodeId {
        self.all[radio].node
    }

    /// The BSS of a radio.
    pub fn bss_of(&self, radio: RadioId) -> Option<&'a str> {
        self.all[radio].bss
    }

    /// The name of a radio in random streams.
    pub fn name(&self, radio: RadioId) -> &str {
        &self.all[radio].name
    }

    /// Nodes, BSSs and positions of all radios, metres.
    pub fn places(&self) -> Vec<(NodeId, Option<&'a str>, [f64; 3])> {
        let all = self.all.iter();
        all.map(|r| (r.node, r.bss, r.position_m)).collect()
    }

    /// The radios of a node by the BSSs of its links, the first one before the others.
    pub fn of_links(&self, node: NodeId) -> impl Iterator<Item = RadioId> + use<'_, 'a> {
        let bsss = self.scenario.nodes[node.index()].bsss();
        bsss.filter_map(move |bss| self.of(node, bss))
    }

    /// Radios of the stations of an access point, the first one of each, in the order of its
    /// neighbours: those in the BSS of its first radio, then those of its further links that are not.
    pub fn stations_of(&self, access_point: NodeId) -> Vec<RadioId> {
        let own = &self.scenario.nodes[access_point.index()];
        let mut stations = Vec::new();
        for bss in own.bsss() {
            for radio in self.members(bss).into_iter().skip(1) {
                let further = self.scenario.nodes[self.node_of(radio).index()]
                    .multi_link
                    .iter()
                    .any(|b| b == bss);
                if !further {
                    stations.push(radio);
                }
            }
        }
        stations
    }

    /// Whether any of these radios belongs to a node of 802.11b.
    pub fn with_b(&self, radios: &[RadioId]) -> bool {
        let node = |radio: &RadioId| &self.scenario.nodes[self.node_of(*radio).index()];
        radios.iter().any(|r| node(r).standard == Some(Standard::B))
    }

    /// Radios in a BSS, that of the access point first.
    pub fn members(&self, bss: &str) -> Vec<RadioId> {
        let of = |role| {
            let all = self.all.pairs();
            all.filter(move |(_, r)| {
                r.bss == Some(bss) && self.scenario.nodes[r.node.index()].role == role
            })
            .map(|(radio, _)| radio)
        };
        of(Role::AccessPoint).chain(of(Role::Station)).collect()
    }
}
