//! The MAC: contention, frame exchanges, queues, aggregation, fragmentation, rates and beacons.

pub(crate) mod aggregation;
pub(crate) mod codel;
pub(crate) mod contention;
pub(crate) mod exchange;
pub(crate) mod fragmentation;
pub(crate) mod lifetime;
pub(crate) mod mode;
pub(crate) mod rate_control;

use airtoll_engine::Stream;
use airtoll_units::{Duration, Instant};

use crate::scenario::Discipline;
use aggregation::{MacQueue, TxLink};
use contention::Contender;
use exchange::Exchange;
use mode::Mode;

/// What the MAC has of a node.
#[derive(Debug)]
pub(crate) struct Node {
    /// Its contenders by access category; under DCF four times the same.
    pub contenders: [u32; 4],
    /// Its first link; one row of `neighbours` links per contender follows.
    pub first_link: u32,
    pub neighbours: u32,
    /// First of its links for management and EAPOL frames, one per neighbour, if it has any.
    pub signalling: u32,
    pub beacon: Option<exchange::BeaconPlan>,
    /// Stations that listen for its beacons during a scan, by number of the hand-over.
    pub listeners: Vec<(u32, u32)>,
    pub queue_limit: u32,
    /// MSDU lifetime; longer than any trial where there is none.
    pub lifetime: Duration,
    pub discipline: Discipline,
}

/// Contenders, links and their queues.
pub(crate) struct Mac {
    pub nodes: Vec<Node>,
    /// One stream per node for its back-off.
    pub streams: Vec<Stream>,
    pub contenders: Vec<Contender>,
    pub exchanges: Vec<Exchange>,
    /// TXOP limit or burst time of each contender; zero: one exchange.
    pub txop_limits: Vec<Duration>,
    pub queues: Vec<MacQueue>,
    pub links: Vec<TxLink>,
    pub modes: Vec<Mode>,
    /// The NAV of an RTS's receiver before that RTS.
    pub earlier_nav: Instant,
    /// Scratch space of `grant`.
    pub winners: Vec<u32>,
}

impl Node {
    /// Whether its access categories contend for themselves.
    pub fn several_contenders(&self) -> bool {
        self.contenders[0] != self.contenders[1]
    }

    /// The link to a radio neighbour for an access category.
    pub fn link(&self, neighbour: u32, category: u8) -> u32 {
        let row = if self.several_contenders() {
            u32::from(category)
        } else {
            0
        };
        self.first_link + row * self.neighbours + neighbour
    }
}
