//! Observers: airtime ledger, energy, cipher time, flow metrics and trace. They watch and change
//! nothing.
//!
//! Subsystems emit [`Observation`]s through [`crate::context::Context::observe`] and do not know who
//! listens. Every [`Observer`] sees the same stream. Dispatch is static: where the kind of an
//! observation is known, only the observers that count it remain after inlining.

pub(crate) mod ciphers;
mod groups;
pub(crate) mod ledger;
pub(crate) mod metrics;
mod radios;
#[cfg(test)]
mod trace;

use airtoll_units::{Duration, Instant};

use crate::id::{FlowId, GroupSourceId, NodeId};
use crate::packet::{Loss, Packet};
use groups::GroupMetrics;
use ledger::{Air, Ledger, Octets, Unfinished};
use metrics::FlowMetrics;
use radios::Radios;
pub(crate) use radios::{Dozing, DozingShares, Periods, Times, Told};
#[cfg(test)]
use trace::Tracer;

/// The instant of an observation.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Moment {
    pub now: Instant,
    /// When the warm-up ends.
    pub warm_up: Instant,
    /// When the trial ends.
    pub end: Instant,
}

impl Moment {
    /// The middle of the measured time.
    #[inline(always)]
    fn middle(self) -> Instant {
        let measured = self.end.saturating_since(self.warm_up);
        self.warm_up + Duration::from_nanos(measured.as_nanos() / 2)
    }
}

/// Something that observers may count.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Observation<'a> {
    /// A stretch of the air is over, and this was its use.
    Air { used: Air, span: Duration },
    /// Part of an idle stretch in which a cipher worked.
    CiphersExposed { span: Duration },
    /// A stretch of silence in which a frame waited for its network card.
    WaitedForCard { span: Duration },
    /// A data frame was `alone` on the air for that long, of its `length`: octets that arrived for
    /// the first time, and octets that have to be sent again.
    Data {
        alone: Duration,
        length: Duration,
        bit_rate: u64,
        good: &'a Octets,
        bad: u32,
    },
    /// A frame of these octets was an acknowledgement.
    ControlOctets { octets: u32 },
    /// A frame of these octets was management.
    ManagementOctets { octets: u32 },
    /// The end of the trial cut off a frame.
    CutOff { kind: Unfinished, alone: Duration },
    /// A node begins to transmit; `kind` numbers the kinds of frames.
    Transmits {
        node: NodeId,
        #[cfg_attr(not(test), expect(dead_code, reason = "for the trace of tests"))]
        kind: u8,
        length: Duration,
    },
    /// A node received a frame.
    Receives { node: NodeId, length: Duration },
    /// The radio of a node received a group-addressed frame: a station that dozes sleeps on behind it.
    Listens { node: NodeId, length: Duration },
    /// So much of the air carried group-addressed traffic of nodes.
    GroupAir { span: Duration },
    /// A node sent a message to a group that so many stations should receive.
    GroupSent { receivers: u32 },
    /// A message to a group that was sent at `created` is through the stack of a station at `at`.
    GroupArrived {
        #[cfg_attr(not(test), expect(dead_code, reason = "for the trace of tests"))]
        source: GroupSourceId,
        #[cfg_attr(not(test), expect(dead_code, reason = "for the trace of tests"))]
        station: NodeId,
        created: Instant,
        at: Instant,
    },
    /// A dozing node wakes and stays awake.
    Wakes { node: NodeId },
    /// A node that was awake until then dozes.
    Dozes { node: NodeId, at: Instant },
    /// A cipher has this much to do.
    CipherWork { effort: Duration },
    /// The application of a flow gave octets to the transport.
    Offered { flow: FlowId, octets: u64 },
    /// A packet of a flow with payload was sent.
    Sent { flow: FlowId },
    /// A packet of a flow is through the stack of its receiver at `at`.
    Arrived {
        flow: FlowId,
        packet: &'a Packet,
        at: Instant,
    },
    /// Octets became available to the receiving application at `at`.
    Delivered {
        flow: FlowId,
        octets: u32,
        at: Instant,
    },
    /// A packet of a flow was lost.
    Lost {
        flow: FlowId,
        packet: &'a Packet,
        cause: Loss,
    },
    /// An application repeated a request.
    Repeated { flow: FlowId },
    /// A round of requests and responses took this long.
    Answered { flow: FlowId, took: Duration },
    /// A transfer took this long.
    Transferred { flow: FlowId, took: Duration },
    /// The warm-up ends.
    WarmedUp,
}

/// Something that counts observations.
pub(crate) trait Observer {
    /// Takes an observation.
    fn observe(&mut self, moment: Moment, observation: Observation<'_>);
}

/// All observers of a trial.
pub(crate) struct Observers {
    ledger: Ledger,
    radios: Radios,
    cipher_time: CipherTime,
    flows: FlowMetrics,
    groups: GroupMetrics,
    #[cfg(test)]
    trace: Tracer,
}

/// Time that ciphers worked.
#[derive(Debug, Default)]
struct CipherTime(Duration);

impl Observer for CipherTime {
    #[inline(always)]
    fn observe(&mut self, _: Moment, observation: Observation<'_>) {
        match observation {
            Observation::CipherWork { effort } => self.0 += effort,
            Observation::WarmedUp => self.0 = Duration::ZERO,
            _ => {}
        }
    }
}

impl Observer for Observers {
    #[inline(always)]
    fn observe(&mut self, moment: Moment, observation: Observation<'_>) {
        self.ledger.observe(moment, observation);
        self.radios.observe(moment, observation);
        self.cipher_time.observe(moment, observation);
        self.flows.observe(moment, observation);
        self.groups.observe(moment, observation);
        #[cfg(test)]
        self.trace.observe(moment, observation);
    }
}

impl Observers {
    /// Observers that have seen nothing; `series` counts every second, too.
    pub fn new(series: bool) -> Self {
        Self {
            ledger: Ledger::default(),
            radios: Radios::default(),
            cipher_time: CipherTime::default(),
            flows: FlowMetrics::new(series),
            groups: GroupMetrics::default(),
            #[cfg(test)]
            trace: Tracer::default(),
        }
    }

    /// Adds the radio of a node.
    pub fn add_node(&mut self) {
        self.radios.add();
    }

    /// Adds a flow.
    pub fn add_flow(&mut self) {
        self.flows.add();
    }

    /// Hands a record of frames and arrivals to `trace`.
    #[cfg(test)]
    pub fn set_trace(&mut self, trace: Box<dyn airtoll_engine::Trace>) {
        self.trace.set(trace);
    }

    /// Booked time and octets.
    pub fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// Times of a node's radio up to `end`.
    pub fn radio(&self, node: NodeId, end: Instant) -> Times {
        self.radios.of(node, end)
    }

    /// Shares of the time of the radio of a node that dozes, if nothing is sent.
    pub fn dozing_of(&self, node: NodeId) -> Option<DozingShares> {
        self.radios.dozing_of(node)
    }

    /// Sets when a node's radio dozes.
    pub fn set_dozing(&mut self, node: NodeId, dozing: Dozing) {
        self.radios.set_dozing(node, dozing);
    }

    /// Time that ciphers worked.
    pub fn cipher_time(&self) -> Duration {
        self.cipher_time.0
    }

    /// Counts of group-addressed traffic.
    pub fn groups(&self) -> &GroupMetrics {
        &self.groups
    }

    /// Counts of all flows.
    pub fn flows(&self) -> &FlowMetrics {
        &self.flows
    }
}
