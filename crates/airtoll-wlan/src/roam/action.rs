//! Requests of [`super::Roam`] to the subsystems around it.

use airtoll_handshakes::Message;
use airtoll_units::Instant;

use crate::event::RoamEvent;
use crate::id::{
    AgentId, HandoverId, LinkId, ModeId, NodeId, PacketId, Pair, RadioId, SessionId, SignalId,
    TunnelId,
};
use crate::packet::Loss;

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
        cause: Loss,
    },
    /// Reports whether the null frame of a station to its access point is out and its radio free.
    LookWhetherIdle {
        handover: HandoverId,
        station: RadioId,
        access_point: RadioId,
    },
    /// Gives back the data that `from` has queued for `to`; `own` says that `from` is the station.
    TakeBack {
        handover: HandoverId,
        from: RadioId,
        to: RadioId,
        own: bool,
    },
    /// The station dozes as far as its access point knows, or is awake again.
    SetDozing {
        station: RadioId,
        access_point: RadioId,
        dozing: bool,
    },
    /// The station listens for the beacons of an access point, or no longer does.
    SetListening {
        handover: HandoverId,
        station: RadioId,
        access_point: RadioId,
        listening: bool,
    },
    /// The host is between two access points, or is no longer.
    SetAway {
        host: NodeId,
        away: bool,
    },
    /// The host is on the air by this radio, and handshake packets for it go to that access point.
    TurnLink {
        host: NodeId,
        radio: RadioId,
    },
    /// All packets for a host go to the access point of this radio.
    SetRoutes {
        host: NodeId,
        radio: RadioId,
    },
    /// Data frames between two radios have a block ack agreement, or not yet.
    SetAgreed {
        ends: Pair<RadioId>,
        agreed: bool,
    },
    /// Data frames between two radios have this mode; without one as the rate control says.
    SetLegacy {
        ends: Pair<RadioId>,
        mode: Option<ModeId>,
    },
    /// The lifetime of everything in the queues of a radio is over, or is no longer.
    SetStopped {
        radio: RadioId,
        stopped: bool,
    },
    /// Levels of the links of a radio have changed.
    LevelsChanged {
        radio: RadioId,
    },
    /// The tunnels of a session's station go on from its new address.
    MoveTunnels {
        session: SessionId,
    },
    /// The far end of the tunnels of a node waits for a packet from its new address, or has one.
    SetUnheard {
        node: NodeId,
        unheard: bool,
    },
    /// The far end of the tunnels of a session's station knows the new address.
    GatewayFollows {
        session: SessionId,
    },
    /// A tunnel of a mobility agent takes packets for this host, or none.
    Bind {
        node: NodeId,
        end: TunnelId,
        host: Option<NodeId>,
    },
}
