//! Requests of [`super::Roam`] to the subsystems around it.

use airtoll_handshakes::Message;
use airtoll_units::{Duration, Instant};

use crate::event::{HandoverId, RoamEvent, SessionId};
use crate::net::Route;
use crate::packet::PacketId;

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
        link: Option<u32>,
    },
    /// A frame about the association of a session.
    SendAssociationFrame {
        session: SessionId,
        message: Message,
    },
    /// A message of a session leaves its sender at `at`.
    SendLater {
        at: Instant,
        signal: u32,
    },
    /// A message of a session leaves its sender.
    SendNow {
        signal: u32,
    },
    /// A station leaves the access point: it no longer tries to join there again.
    ForgetReturn {
        station: u32,
    },
    /// A station has left this access point.
    HasLeft {
        access_point: u32,
    },
    /// A host registers with the agent of this advertisement, or solicits one.
    Register {
        session: SessionId,
        advertisement: Option<Message>,
    },
    /// A host checks the advertisements that it has.
    FindAgent {
        host: u32,
    },
    /// An agent sends an advertisement of `octets` to the BSS of its access point.
    Advertise {
        agent: u32,
        node: u32,
        access_point: u32,
        octets: u32,
    },
    /// A host sends a packet that it had kept.
    SendKept {
        host: u32,
        packet: PacketId,
    },
    /// The same for a packet that was prepared for the old link; without a way for what a tunnel
    /// or fragmentation made for that link.
    SendAnew {
        host: u32,
        packet: PacketId,
    },
    /// A node puts a packet into its transmit queue.
    Enqueue {
        node: u32,
        packet: PacketId,
    },
    Lose {
        packet: PacketId,
    },
    /// Reports whether the null frame of a station to its access point is out and its radio free.
    LookWhetherIdle {
        handover: HandoverId,
        station: u32,
        access_point: u32,
    },
    /// Gives back the data that `from` has queued for `to`.
    TakeBack {
        handover: HandoverId,
        from: u32,
        to: u32,
    },
    /// The station dozes as far as its access point knows, or is awake again.
    SetDozing {
        station: u32,
        access_point: u32,
        dozing: bool,
    },
    /// The station listens for the beacons of an access point, or no longer does.
    SetListening {
        handover: HandoverId,
        station: u32,
        access_point: u32,
        listening: bool,
    },
    /// The node by which a host sends; `None` while it is between two access points.
    SetPresent {
        host: u32,
        node: Option<u32>,
    },
    /// Routes of all nodes for handshake packets to a host, where they differ from those of data.
    SetDetour {
        host: u32,
        routes: Option<Vec<Route>>,
    },
    /// Routes of all nodes to a host.
    SetRoutes {
        host: u32,
        routes: Vec<Route>,
    },
    SetLifetime {
        node: u32,
        lifetime: Duration,
    },
    /// Levels of the links of a node have changed.
    LevelsChanged {
        node: u32,
    },
    /// The tunnels of one node go on at another one.
    MoveTunnels {
        from: u32,
        there: u32,
    },
    /// The far end of the tunnels of a node waits for a packet from there, or has one.
    SetUnheard {
        node: u32,
        unheard: bool,
    },
    /// The far end of the tunnels of a node knows its address.
    GatewayFollows {
        node: u32,
    },
    /// A tunnel of a mobility agent takes packets for this host, or none.
    Bind {
        node: u32,
        end: usize,
        host: Option<u32>,
    },
}
