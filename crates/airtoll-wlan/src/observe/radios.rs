//! Times that the radios of all nodes transmit and receive, of which energy follows.

use airtoll_units::Duration;

use super::{Moment, Observation, Observer};
use crate::id::{NodeId, Table};

/// Times of all radios since the warm-up: transmitting, receiving.
#[derive(Debug, Default)]
pub(super) struct Radios {
    nodes: Table<NodeId, (Duration, Duration)>,
}

impl Radios {
    pub(super) fn add(&mut self) {
        self.nodes.push((Duration::ZERO, Duration::ZERO));
    }

    pub(super) fn of(&self, node: NodeId) -> (Duration, Duration) {
        self.nodes[node]
    }
}

impl Observer for Radios {
    #[inline(always)]
    fn observe(&mut self, _: Moment, observation: Observation<'_>) {
        match observation {
            Observation::Transmits { node, length, .. } => self.nodes[node].0 += length,
            Observation::Receives { node, length } => self.nodes[node].1 += length,
            Observation::WarmedUp => {
                for times in &mut self.nodes {
                    *times = (Duration::ZERO, Duration::ZERO);
                }
            }
            _ => {}
        }
    }
}
