//! The context that every subsystem gets with a call: the clock and its queue of events, the
//! packets, the outbox, and the observers.
//!
//! A subsystem calls those below it, and writes actions for those above it into the outbox.
//! `world` carries out the actions of the outbox in the order in which they were written, and the
//! actions that an action causes before the next one.

use airtoll_engine::EventQueue;
use airtoll_units::{Duration, Instant};

use crate::event::{Event, PipeKind};
use crate::id::{
    AgentId, ContenderId, FlowId, HandoverId, LinkId, NodeId, PacketId, RadioId, SignalId, Slab,
    WireId,
};
use crate::observe::ledger::Air;
use crate::observe::{Moment, Observation, Observer as _, Observers, Times};
use crate::packet::{Loss, Packet};

/// A request of a subsystem to those above it, or to itself once these are done.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Action {
    /// MAC: the frames of a contender's exchange are over. Packets that its node has ready for the
    /// radio go into the transmit queues, and then the exchange goes on.
    Ended { contender: ContenderId, step: Step },
    /// MAC: a transmit queue is empty, so that the next packet for it is an event.
    Arm { node: NodeId },
    /// MAC: the exchange of a contender goes on.
    Exchange { contender: ContenderId, step: Step },
    /// MAC: a packet arrived over a link.
    Receive { link: LinkId, packet: PacketId },
    /// MAC, net: a packet is lost.
    Lose { packet: PacketId, cause: Loss },
    /// MAC: so many packets of a flow have left the sender's socket.
    Released {
        flow: FlowId,
        reverse: bool,
        count: u32,
    },
    /// MAC: a message of a negotiation was on the air.
    OnAir { signal: SignalId },
    /// MAC: a station that dozes as far as its access point knows sent a frame.
    Woke { station: RadioId },
    /// MAC: a station that dozes received a packet that its access point kept.
    Retrieved { station: RadioId, packet: PacketId },
    /// MAC: a station that is not associated sent data.
    Refused { station: RadioId },
    /// MAC: a station that listens for beacons heard one.
    BeaconHeard { handover: HandoverId },
    /// Net: the next packet of a device's pipe, if it is done.
    Pipe { node: NodeId, pipe: PipeKind },
    /// Net: the next packet at the end of a wire, if it is there.
    Wire { wire: WireId },
    /// Net: a packet of a flow or a negotiation is through the stack of its host at this instant.
    Arrived { packet: PacketId, at: Instant },
    /// Net: a packet outside all tunnels, and not a fragment, is lost.
    Lost { packet: PacketId, cause: Loss },
    /// Net: an access point has a packet for a station that dozes as far as it knows.
    KeepDozing { station: NodeId, packet: PacketId },
    /// Net: a host sends a packet between two access points.
    KeepAway { host: NodeId, packet: PacketId },
    /// Net: a station that knows that its association has ended sends a packet.
    KeepOff { station: NodeId, packet: PacketId },
    /// Net: the far end of a tunnel authenticated a packet that this node put into it.
    Tunnelled { entered: NodeId },
    /// Net: an advertisement of a mobility agent is through the stack of a station.
    AdvertisementHeard { station: NodeId, agent: AgentId },
    /// Flow: a host sends a packet.
    Send { host: NodeId, packet: PacketId },
}

// Actions are moved twice each.
const _: () = assert!(size_of::<Action>() <= 16);

/// Whether a method left actions in the outbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Effects {
    None,
    Pending,
}

impl Effects {
    /// Those of two methods.
    #[inline]
    pub fn and(self, other: Self) -> Self {
        match self {
            Self::None => other,
            Self::Pending => self,
        }
    }
}

/// Steps of a frame exchange that follow once what came before has been carried out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    /// The response arrived.
    Succeeded,
    /// The acknowledged frames are settled: the contender continues its TXOP or finishes.
    Settled,
    /// The response did not come.
    Failed,
    /// The contender finishes its exchange.
    Finish,
    /// The expired frames are dropped: the contender backs off.
    BackOff,
}

/// Clock, events, packets and observers of a trial.
pub(crate) struct Context {
    pub events: EventQueue<Event>,
    /// When the trial ends.
    pub end: Instant,
    /// When the warm-up ends.
    pub warm_up: Instant,
    pub packets: Slab<PacketId, Packet>,
    /// Actions for the subsystems above.
    pub outbox: Vec<Action>,
    pub observers: Observers,
}

impl Context {
    /// The present instant.
    #[inline]
    pub fn now(&self) -> Instant {
        self.events.now()
    }

    /// Schedules an event.
    #[inline]
    pub fn schedule(&mut self, at: Instant, event: Event) {
        self.events.schedule(at, event);
    }

    /// Writes an action into the outbox.
    #[inline]
    pub fn act(&mut self, action: Action) {
        self.outbox.push(action);
    }

    /// A packet is lost; the subsystems above hear of it.
    #[inline]
    pub fn lose(&mut self, packet: PacketId, cause: Loss) {
        self.outbox.push(Action::Lose { packet, cause });
    }

    /// Lets the observers see something.
    #[inline(always)]
    pub fn observe(&mut self, observation: Observation<'_>) {
        let moment = Moment {
            now: self.events.now(),
            warm_up: self.warm_up,
            end: self.end,
        };
        self.observers.observe(moment, observation);
    }

    /// Times of a node's radio from the start of the trial.
    pub fn radio_times(&self, node: NodeId) -> Times {
        self.observers.radio(node, self.events.now())
    }

    /// A stretch of the air is over.
    #[inline(always)]
    pub fn observe_air(&mut self, used: Air, span: Duration) {
        self.observe(Observation::Air { used, span });
    }
}
