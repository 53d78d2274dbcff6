//! Observers: airtime ledger, flow metrics, energy and trace. They watch and change nothing.

pub(crate) mod ciphers;
pub(crate) mod ledger;
pub(crate) mod metrics;

use crate::id::{NodeId, Table};
use airtoll_engine::Trace;
use airtoll_units::Duration;

use ledger::Ledger;

/// Counts of a node's radio.
#[derive(Debug)]
pub(crate) struct Node {
    pub energy: Option<crate::scenario::Energy>,
    pub transmit_time: Duration,
    pub receive_time: Duration,
    /// The rate that its cipher forbids, where it does: (forbidden, used), bit/s.
    pub forbidden_rate: Option<(u64, u64)>,
}

/// All observers of a trial.
pub(crate) struct Observers {
    pub nodes: Table<NodeId, Node>,
    pub ledger: Ledger,
    pub crypto_time: Duration,
    pub series: bool,
    pub trace: Option<Box<dyn Trace>>,
}

impl Node {
    /// Nothing counted yet.
    pub fn new(energy: Option<crate::scenario::Energy>) -> Self {
        Self {
            energy,
            transmit_time: Duration::ZERO,
            receive_time: Duration::ZERO,
            forbidden_rate: None,
        }
    }
}

impl Observers {
    /// Observers that have seen nothing; `series` counts every second, too.
    pub fn new(series: bool) -> Self {
        Self {
            nodes: Table::new(),
            ledger: Ledger::default(),
            crypto_time: Duration::ZERO,
            series,
            trace: None,
        }
    }

    /// The warm-up ends: resets the counts.
    pub fn restart(&mut self) {
        self.ledger = Ledger::default();
        self.crypto_time = Duration::ZERO;
        for node in &mut self.nodes {
            node.transmit_time = Duration::ZERO;
            node.receive_time = Duration::ZERO;
        }
    }
}
