//! IP packets on their way.

use crate::id::{
    AgentId, FlowId, FragmentGroupId, GroupSourceId, LayerId, NeighbourId, NodeId, PacketId,
    PieceId, RadioId, ResolutionId, SegmentId, SignalId, StreamId, TunnelId,
};
use airtoll_units::Instant;

/// Access category of packets for which no application requests another.
pub(crate) const BEST_EFFORT: u8 = 1;

/// Why a packet was lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Loss {
    /// It found a full queue or buffer.
    Full,
    /// An active queue management dropped it.
    Discipline,
    /// Its last attempt on the air failed.
    Attempts,
    /// Its lifetime in the transmit queue was over.
    Lifetime,
    /// Its receiver or its sender is not, or no longer, associated there.
    Away,
    /// A wire lost it.
    Wire,
    /// It was too long for the path: it must not be fragmented, or its fragments are dropped.
    Length,
    /// No station answered for the address of its next hop.
    Address,
    /// Its packet number was below one that its receiver had taken.
    Replay,
}

impl Loss {
    /// All causes, in the order of their numbers.
    pub const ALL: [Self; 9] = [
        Self::Full,
        Self::Discipline,
        Self::Attempts,
        Self::Lifetime,
        Self::Away,
        Self::Wire,
        Self::Length,
        Self::Address,
        Self::Replay,
    ];

    /// The metric that counts the packets lost by this cause.
    pub const fn metric(self) -> &'static str {
        match self {
            Self::Full => "packets_lost_full",
            Self::Discipline => "packets_lost_aqm",
            Self::Attempts => "packets_lost_attempts",
            Self::Lifetime => "packets_lost_lifetime",
            Self::Away => "packets_lost_away",
            Self::Wire => "packets_lost_wire",
            Self::Length => "packets_lost_length",
            Self::Address => "packets_lost_address",
            Self::Replay => "packets_lost_replay",
        }
    }
}

/// Content of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Carries {
    /// A UDP datagram of a flow, with its sequence number.
    Datagram { flow: FlowId, number: u32 },
    /// A TCP segment of a flow, with its place among the segments under way.
    Segment { flow: FlowId, place: SegmentId },
    /// A message of a negotiation, by its number among the messages under way.
    Signal { signal: SignalId },
    /// An address resolution request, by its entry; in a frame of its own to this radio neighbour, in
    /// a group-addressed frame or on a wire without one.
    Request {
        entry: ResolutionId,
        copy: Option<NeighbourId>,
    },
    /// The reply to an address resolution request, by its entry.
    Reply { entry: ResolutionId },
    /// An unsolicited advertisement of a Mobile IP agent.
    Advertisement { agent: AgentId },
    /// A message to a group, by its sender; in a frame of its own to this radio neighbour, otherwise
    /// group-addressed, on its way to the access point, or on a wire.
    Group {
        source: GroupSourceId,
        copy: Option<NeighbourId>,
    },
    /// The answer to an address request to a group, by the sender of the request.
    Answer { source: GroupSourceId },
    /// A frame without data by which a station and its access point agree on dozing.
    PowerSave { station: RadioId, sign: Sign },
    /// A Probe Request of a station that passes by.
    ProbeRequest { probe: Probe },
    /// The response of a network of an access point to one.
    ProbeResponse { probe: Probe, network: u8 },
    /// A TCP segment of RADIUS over TLS, with its place among those of its connection.
    Piece { stream: StreamId, piece: PieceId },
}

/// A Probe Request of a station that passes by, and whether the station waits for responses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Probe {
    /// Its number among all requests of the trial.
    pub number: u32,
    pub stay: Stay,
}

/// The stay of a station that passes by after its request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stay {
    /// It listens for responses.
    Listens,
    /// It leaves the channel before any response.
    Leaves,
}

/// A frame of power save (IEEE 802.11-2020, 11.2.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sign {
    /// Null frame with the power management bit: the station dozes.
    Doze,
    /// Null frame without it: the station is in active mode.
    Wake,
    /// PS-Poll: the station asks for one frame.
    Poll,
    /// QoS null frame with the power management bit: the station begins a service period.
    Trigger,
    /// Null frame of the access point, which has nothing left: it ends a service period or answers a PS-Poll.
    Nothing,
}

impl Carries {
    /// The same for one radio neighbour, or for a group or a wire.
    pub fn copied_to(self, copy: Option<NeighbourId>) -> Self {
        match self {
            Self::Request { entry, .. } => Self::Request { entry, copy },
            Self::Group { source, .. } => Self::Group { source, copy },
            other => other,
        }
    }
}

/// The state of a packet in a tunnel.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Tunnelled {
    /// Node that put it into the tunnel.
    pub entered: NodeId,
    /// The tunnel, among the node's.
    pub tunnel: TunnelId,
    /// The packet before the tunnel took it; `None` for a fragment of the outer packet.
    pub under: Option<LayerId>,
    /// How many packets the tunnel had taken with it.
    pub number: u32,
}

/// One IP packet, or one fragment of it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Packet {
    pub carries: Carries,
    /// Node at which it leaves the network (the far end of a tunnel while in one).
    pub to: NodeId,
    /// Length of the IP packet as it travels, octets.
    pub ip_octets: u32,
    /// Octets of the application in it.
    pub payload: u32,
    /// Octets that tunnels added to it.
    pub tunnel_octets: u32,
    /// The fragments that it is one of.
    pub group: Option<FragmentGroupId>,
    /// Where the octets of a fragment begin in the body of the whole packet.
    pub offset: u32,
    /// Next packet of the same A-MSDU.
    pub next: Option<PacketId>,
    /// When the application wrote it.
    pub created: Instant,
    /// When the sending host was done with it.
    pub left: Instant,
    /// When it reached the receiving host.
    pub arrived: Instant,
    /// Access category, 0 background to 3 voice.
    pub category: u8,
    /// The outermost tunnel that it is in.
    pub tunnelled: Option<Tunnelled>,
    /// IPv6 header outside all tunnels.
    pub ipv6: bool,
    /// Its receiver only counts it and never answers.
    pub only_counted: bool,
    /// Still occupies its sender's socket.
    pub held: bool,
    /// Direction: `true` from the flow's destination back to its source.
    pub reverse: bool,
    /// Created after the warm-up, so that it counts.
    pub counted: bool,
}

impl Packet {
    /// A packet without a flow, best effort, IPv4.
    pub fn new(carries: Carries, to: NodeId, ip_octets: u32, now: Instant) -> Self {
        Self {
            carries,
            to,
            ip_octets,
            payload: 0,
            tunnel_octets: 0,
            group: None,
            offset: 0,
            next: None,
            created: now,
            left: Instant::ZERO,
            arrived: now,
            category: BEST_EFFORT,
            tunnelled: None,
            ipv6: false,
            only_counted: false,
            held: false,
            reverse: false,
            counted: false,
        }
    }

    /// Its state before the outermost encapsulation; `None` also for a fragment of the outer
    /// packet.
    #[inline]
    pub fn layer(&self) -> Option<LayerId> {
        self.tunnelled?.under
    }

    /// The flow that it belongs to.
    #[inline]
    pub fn flow(&self) -> Option<FlowId> {
        match self.carries {
            Carries::Datagram { flow, .. } | Carries::Segment { flow, .. } => Some(flow),
            _ => None,
        }
    }

    /// The message of a negotiation that it carries.
    #[inline]
    pub fn signal(&self) -> Option<SignalId> {
        match self.carries {
            Carries::Signal { signal } => Some(signal),
            _ => None,
        }
    }

    /// Whether it is a packet of a flow, in no tunnel and not a fragment.
    pub fn is_plain(&self) -> bool {
        self.flow().is_some() && self.tunnelled.is_none() && self.group.is_none()
    }

    /// Whether it is an address resolution request or reply.
    #[inline]
    pub fn resolves(&self) -> bool {
        matches!(
            self.carries,
            Carries::Request { .. } | Carries::Reply { .. }
        )
    }

    /// Whether it is an address resolution request.
    #[inline]
    pub fn asks(&self) -> bool {
        matches!(self.carries, Carries::Request { .. })
    }

    /// Whether it goes to all hosts: an address resolution request or a message to a group.
    #[inline]
    pub fn floods(&self) -> bool {
        matches!(
            self.carries,
            Carries::Request { .. } | Carries::Group { .. }
        )
    }

    /// Whether it belongs to the group-addressed traffic of nodes: a message or an answer to one.
    #[inline]
    pub fn is_group_traffic(&self) -> bool {
        matches!(self.carries, Carries::Group { .. } | Carries::Answer { .. })
    }

    /// Whether it is an unsolicited advertisement of an agent.
    #[inline]
    pub fn advertises(&self) -> bool {
        matches!(self.carries, Carries::Advertisement { .. })
    }

    /// Number of its content among others of the same kind.
    pub fn mark(&self) -> u32 {
        match self.carries {
            Carries::Datagram { number, .. } => number,
            Carries::Segment { place, .. } => place.number(),
            Carries::Signal { signal } => signal.number(),
            Carries::Request { entry, .. } | Carries::Reply { entry } => entry.number(),
            Carries::Advertisement { agent } => agent.number(),
            Carries::Group { source, .. } | Carries::Answer { source } => source.number(),
            Carries::Piece { piece, .. } => piece.number(),
            Carries::PowerSave { station, .. } => station.number(),
            Carries::ProbeRequest { probe } | Carries::ProbeResponse { probe, .. } => probe.number,
        }
    }
}
