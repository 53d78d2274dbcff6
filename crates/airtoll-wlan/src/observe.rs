//! Observers: airtime ledger, flow metrics, energy and trace. They watch and change nothing.

pub(crate) mod ciphers;
pub(crate) mod ledger;
pub(crate) mod metrics;

use airtoll_engine::Trace;
use airtoll_units::Duration;

use ledger::Ledger;

/// What is counted of a node's device.
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
    pub nodes: Vec<Node>,
    pub ledger: Ledger,
    pub crypto_time: Duration,
    pub series: bool,
    pub trace: Option<Box<dyn Trace>>,
}
