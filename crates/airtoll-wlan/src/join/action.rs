//! Requests of [`super::Join`] to the subsystems around it.

use airtoll_handshakes::{Message, Operation, Secrets};
use airtoll_units::Instant;

use crate::address::Locator;
use crate::event::{Forged, JoinEvent};
use crate::id::{
    FloodId, LinkId, NodeId, PacketId, PieceId, RadioId, SessionId, SignalId, StreamId,
};
use crate::packet::Loss;

/// The actions of an input.
pub(crate) type Outbox = Vec<Action>;

/// The step that follows work on a CPU.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Then {
    Nothing,
    /// The message leaves.
    Send(SignalId),
    /// A proxy's packet leaves.
    Forward(SignalId),
    /// The session begins.
    Begin(SessionId),
    /// The next flight of TLS on a connection leaves.
    Flight(StreamId),
    /// The present stage of the session may be over.
    Judge(SessionId),
    /// An access point under a flood replies to a forged frame, and takes the next one.
    Taken(FloodId, Option<Forged>),
}

/// The fate of a frame whose receiver dozes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Asleep {
    /// It goes out at once: the receiver is taken to hear it.
    Hears,
    /// It waits until the receiver wakes.
    Waits,
    /// It is lost: the access point forgets the station, and with it what it kept for the station.
    Misses,
}

/// An effect outside joining. Actions are carried out in their order.
#[derive(Debug)]
pub(crate) enum Action {
    Schedule {
        at: Instant,
        event: JoinEvent,
    },
    /// Handshake operations, and the sending of a packet of `octets`, on the CPU of `node`.
    WorkOnCpu {
        node: NodeId,
        operations: Vec<Operation>,
        octets: Option<u32>,
        then: Then,
    },
    /// A new request in the queue of a RADIUS server.
    TakeRequest {
        server: NodeId,
        signal: SignalId,
    },
    /// A management or EAPOL frame of `octets` from one radio to another: by `link`, or by the
    /// signalling link between the two.
    SendManagement {
        from: RadioId,
        to: RadioId,
        octets: u32,
        signal: SignalId,
        link: Option<LinkId>,
        asleep: Asleep,
    },
    /// A packet of `octets`; `by_mac` says that it needs no address resolution.
    SendPacket {
        from: NodeId,
        to: NodeId,
        octets: u32,
        signal: SignalId,
        by_mac: bool,
    },
    /// A TCP segment of RADIUS over TLS in an IP packet of `octets`.
    SendPiece {
        from: NodeId,
        to: NodeId,
        octets: u32,
        stream: StreamId,
        piece: PieceId,
    },
    /// A host sends a packet that it had kept.
    SendKept {
        host: NodeId,
        packet: PacketId,
    },
    Lose {
        packet: PacketId,
        cause: Loss,
    },
    /// Drops the data that `from` has queued for `to`.
    Flush {
        from: NodeId,
        to: NodeId,
    },
    /// The access point has ended the association of a station, or has it back.
    SetOff {
        station: NodeId,
        access_point: NodeId,
        off: bool,
    },
    /// A station knows that it is off the network, or is back.
    SetKnowsOff {
        station: NodeId,
        access_point: NodeId,
        knows: bool,
    },
    /// A station has joined before the traffic, by a session that began at `since`.
    Joined {
        station: NodeId,
        since: Instant,
    },
    /// All stations have joined that join before the traffic.
    BeginTraffic,
    /// The link of a station that joins during the traffic stands.
    LinkStands {
        station: NodeId,
    },
    /// A station has joined during the traffic: flows from and to these hosts start.
    Admitted {
        hosts: [NodeId; 2],
    },
    EndTrialBy {
        at: Instant,
    },
    /// A host waits for an advertisement of a mobility agent.
    ListensForAgents {
        host: NodeId,
    },
    /// A host is registered with the mobility agent on the link of an access point.
    Registered {
        host: NodeId,
        access_point: NodeId,
    },
    /// The session of a hand-over is done.
    Moved {
        session: SessionId,
    },
    /// The station must leave its old access point before this message of the session.
    LeaveBefore {
        session: SessionId,
        signal: SignalId,
    },
    /// A probe request or response arrived.
    ScanFrameArrived {
        session: SessionId,
        message: Message,
    },
    /// A frame about its association arrived from a station: it may be a null frame.
    StationFrameArrived {
        station: NodeId,
        message: Message,
    },
    /// The far end of the tunnels knows the new address of the station.
    GatewayFollows {
        session: SessionId,
    },
    /// Station and access point have agreed on keys.
    KeysAgreed {
        station: RadioId,
        access_point: RadioId,
        secrets: Secrets,
    },
    /// The ends of a tunnel of `node`, whose outer address is `outside`, have agreed on its keys.
    TunnelAgreed {
        node: NodeId,
        outside: Locator,
        secrets: Secrets,
    },
    /// All stations of an access point have its new group keys.
    GroupKeysRenewed {
        access_point: NodeId,
    },
}
