//! Requests of [`super::Roam`] to the subsystems around it.

use airtoll_handshakes::Message;
use airtoll_units::{Duration, Instant};

use crate::event::RoamEvent;
use crate::id::{AgentId, HandoverId, LinkId, NodeId, PacketId, SessionId, SignalId, TunnelId};
use crate::net::RoutesTo;

/// An effect outside roaming. Actions are carried out in their order.
#[derive(Debug)]
pub(crate) enum Action {
    Schedule {
        at: Instant,
        event: RoamEvent,
    },
    /// A session begins.
    Start {
        session: SessionId,
    },
    /// A frame of a scan: by `link`, or by the signalling link to its receiver.
    SendScanFrame {
        session: SessionId,
        message: Message,
        link: Option<LinkId>,
    },
    /// A frame about the association of a session.
    SendAssociationFrame {
        session: SessionId,
        message: Message,
    },
    /// A message of a session leaves its sender at `at`.
    SendLater {
        at: Instant,
        signal: SignalId,
    },
    /// A message of a session leaves its sender.
    SendNow {
        signal: SignalId,
    },
    /// A station leaves the access point: it no longer tries to join there again.
    ForgetReturn {
        station: NodeId,
    },
    /// A station has left this access point.
    HasLeft {
        access_point: NodeId,
    },
    /// A host registers with the agent of this advertisement, or solicits one.
    Register {
        session: SessionId,
        advertisement: Option<Message>,
    },
    /// A host checks the advertisements that it has.
    FindAgent {
        host: NodeId,
    },
    /// An agent sends an advertisement of `octets` to the BSS of its access point.
    Advertise {
        agent: AgentId,
        node: NodeId,
        access_point: NodeId,
        octets: u32,
    },
    /// A host sends a packet that it had kept.
    SendKept {
        host: NodeId,
        packet: PacketId,
    },
    /// The same for a packet that was prepared for the old link; without a way for what a tunnel
    /// or fragmentation made for that link.
    SendAnew {
        host: NodeId,
        packet: PacketId,
    },
    /// A node puts a packet into its transmit queue.
    Enqueue {
        node: NodeId,
        packet: PacketId,
    },
    Lose {
        packet: PacketId,
    },
    /// Reports whether the null frame of a station to its access point is out and its radio free.
    LookWhetherIdle {
        handover: HandoverId,
        station: NodeId,
        access_point: NodeId,
    },
    /// Gives back the data that `from` has queued for `to`.
    TakeBack {
        handover: HandoverId,
        from: NodeId,
        to: NodeId,
    },
    /// The station dozes as far as its access point knows, or is awake again.
    SetDozing {
        station: NodeId,
        access_point: NodeId,
        dozing: bool,
    },
    /// The station listens for the beacons of an access point, or no longer does.
    SetListening {
        handover: HandoverId,
        station: NodeId,
        access_point: NodeId,
        listening: bool,
    },
    /// The node by which a host sends; `None` while it is between two access points.
    SetPresent {
        host: NodeId,
        node: Option<NodeId>,
    },
    /// Routes of all nodes for handshake packets to a host, where they differ from those of data.
    SetDetour {
        host: NodeId,
        routes: Option<RoutesTo>,
    },
    /// Routes of all nodes to a host.
    SetRoutes {
        host: NodeId,
        routes: RoutesTo,
    },
    SetLifetime {
        node: NodeId,
        lifetime: Duration,
    },
    /// Levels of the links of a node have changed.
    LevelsChanged {
        node: NodeId,
    },
    /// The tunnels of one node go on at another one.
    MoveTunnels {
        from: NodeId,
        there: NodeId,
    },
    /// The far end of the tunnels of a node waits for a packet from there, or has one.
    SetUnheard {
        node: NodeId,
        unheard: bool,
    },
    /// The far end of the tunnels of a node knows its address.
    GatewayFollows {
        node: NodeId,
    },
    /// A tunnel of a mobility agent takes packets for this host, or none.
    Bind {
        node: NodeId,
        end: TunnelId,
        host: Option<NodeId>,
    },
}
