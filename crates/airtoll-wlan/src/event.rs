//! Events: what happens at an instant, by subsystem.
//!
//! Events hold ids only, so that this module stands below all subsystems. Each subsystem schedules
//! its own events; `world` alone takes them out of the queue and hands them to their subsystem.

use crate::id::{
    AgentId, ChannelId, ContenderId, DeauthenticationId, FloodId, FlowId, GroupSourceId,
    HandoverId, InterfererId, NodeId, RadioId, RenewalId, ReservationId, ResolutionId, SessionId,
    SignalId, StreamId, TransmissionId, WireId,
};
use crate::packet::Probe;
use airtoll_handshakes::Party;

/// Something that happens at an instant.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Event {
    /// A transmission ends.
    FrameEnd {
        channel: ChannelId,
        transmission: TransmissionId,
    },
    /// The BSS color of a transmission is known.
    ColorRead {
        channel: ChannelId,
        transmission: TransmissionId,
    },
    /// An MPDU of an A-MPDU is complete; others follow in the same PPDU.
    MpduEnd {
        contender: ContenderId,
        transmission: TransmissionId,
    },
    /// SIFS after a frame: its receiver answers.
    Respond { contender: ContenderId },
    /// SIFS after a frame: its exchange goes on.
    Proceed { contender: ContenderId },
    /// The network card has prepared a contender's next frame.
    CardReady { contender: ContenderId },
    /// The first packet of a node's pipe is done.
    Pipe { node: NodeId, pipe: PipeKind },
    /// The first packet on a wire arrives.
    Wire { wire: WireId },
    /// A wire with flow queues has sent a packet, or the next one is ready for it.
    WireFree { wire: WireId },
    /// A flow's application acts.
    Application { flow: FlowId },
    /// A packet of a flow has left the sender's socket.
    Released { flow: FlowId, reverse: bool },
    /// A flow's transport timer may be due.
    TransportTimer { flow: FlowId, receiver: bool },
    /// A burst of an interferer begins or ends.
    Interferer { interferer: InterfererId },
    /// An AP's beacon is due.
    Beacon { access_point: RadioId },
    /// An RTS may have reserved the medium for an exchange that did not follow.
    NavReset {
        channel: ChannelId,
        reservation: ReservationId,
    },
    /// The warm-up ends.
    WarmedUp,
    /// An event of a station that joins.
    Join(JoinEvent),
    /// An event of a hand-over or a mobility agent.
    Roam(RoamEvent),
    /// An address resolution request may have to be repeated.
    Resolution { entry: ResolutionId },
    /// A service period begins of a station for which packets wait.
    ServicePeriod { station: RadioId },
    /// The next station that passes by sends a Probe Request.
    ProbeRequest,
    /// An access point has its responses to a Probe Request ready.
    ProbeResponse { access_point: RadioId, probe: Probe },
    /// A station with power save may have been idle long enough to doze.
    Idle { station: RadioId },
    /// An access point asks stations again that reported empty queues.
    Poll { contender: ContenderId },
    /// A MU EDCA timer may be over.
    MuEdcaTimer { contender: ContenderId },
    /// A node sends its next message to a group.
    Group { source: GroupSourceId },
    /// The radio of a station with one for several links listens on all of them again, or its access point
    /// learns where it is.
    SingleRadio { station: RadioId },
}

// The queue moves events about all the time.
const _: () = assert!(size_of::<Event>() <= 16);

/// The pipes of a node's device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PipeKind {
    /// Frames ready for the radio.
    Transmit,
    /// Packets that wait for the coprocessor after the CPU.
    Encrypt,
    /// Frames decrypted.
    Decrypt,
    /// Packets through the receiving stack.
    Receive,
}

/// A frame of a flood of forged commits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Forged {
    Commit,
    /// The same with the token that the access point asked for.
    WithToken,
    /// The access point asks for a token.
    Refusal,
    /// The commit of the access point.
    Answer,
}

/// An event of joining.
#[derive(Debug, Clone, Copy)]
pub(crate) enum JoinEvent {
    /// A session begins.
    Start { session: SessionId },
    /// The traffic begins, because no station joins before it.
    BeginTraffic,
    /// Stations that join during the traffic and are not done by now have failed.
    GiveUp,
    /// All parties of a stage are done.
    Advance { session: SessionId },
    /// A new request comes out of the queue of its RADIUS server.
    Request { signal: SignalId },
    /// The work before a message is done.
    Send { signal: SignalId },
    /// The timer of a party may have run out.
    Timer { session: SessionId, party: Party },
    /// An access point renews its group keys.
    Renew { renewal: RenewalId, again: bool },
    /// An access point ends all of its associations.
    Deauthenticate { number: DeauthenticationId },
    /// A forged commit leaves.
    Forge { flood: FloodId },
    /// The work of an access point under a flood for a frame is done.
    FrameDone {
        flood: FloodId,
        reply: Option<Forged>,
    },
    /// A station sends an SA Query.
    Query { entry: SessionId },
    /// A station that is off the network joins again.
    Rejoin { entry: SessionId },
    /// A timer of TCP in a connection of RADIUS over TLS may be due.
    StreamTimer { stream: StreamId, receiver: bool },
    /// The work before the next flight of TLS on a connection is done.
    StreamFlight { stream: StreamId },
}

/// An event of roaming.
#[derive(Debug, Clone, Copy)]
pub(crate) enum RoamEvent {
    /// The station begins to pre-authenticate.
    Ahead(HandoverId),
    /// The station leaves.
    Leave(HandoverId),
    /// A beacon interval of a walk is over.
    Step(HandoverId),
    /// The null frame of the station may be out.
    Away(HandoverId),
    /// The station is on the channel of the new access point.
    Probe(HandoverId),
    /// Its time on that channel may be over.
    ScanOver(HandoverId),
    /// It asks the new access point through the old one.
    Ask(HandoverId),
    /// It has found the new access point.
    Found(HandoverId),
    /// Its session at the new access point begins.
    Start(HandoverId),
    /// It has a block ack agreement with the new access point.
    Agreed(HandoverId),
    /// Packets for it go to the new access point.
    Addressed(HandoverId),
    /// It has the rates of its PHY there.
    FullRate(HandoverId),
    /// A mobility agent advertises itself.
    Advertise { agent: AgentId },
    /// The last advertisement that a host has of its agent expires.
    AgentRunsOut { host: NodeId },
}
