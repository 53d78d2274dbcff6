//! Events: what happens at an instant, by subsystem.
//!
//! Events hold ids only, so that this module stands below all subsystems. Each subsystem schedules
//! its own events; `world` alone takes them out of the queue and hands them to their subsystem.

use airtoll_handshakes::Party;

/// Something that happens at an instant.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Event {
    /// A transmission ends.
    FrameEnd { channel: u32, transmission: u32 },
    /// SIFS after a frame: its receiver answers.
    Respond { contender: u32 },
    /// SIFS after a frame: its exchange goes on.
    Proceed { contender: u32 },
    /// The first packet of a node's pipe is done.
    Pipe { node: u32, pipe: PipeKind },
    /// The first packet on a wire arrives.
    Wire { wire: u32 },
    /// A flow's application acts.
    Application { flow: u32 },
    /// A packet of a flow has left the sender's socket.
    Released { flow: u32 },
    /// A flow's transport timer may be due.
    TransportTimer { flow: u32, receiver: bool },
    /// An AP's beacon is due.
    Beacon { node: u32 },
    /// An RTS may have reserved the medium for an exchange that did not follow.
    NavReset { channel: u32, reservation: u32 },
    /// The warm-up ends.
    WarmedUp,
    /// Something of a station's association is due.
    Association(AssociationEvent),
    /// Something of a hand-over is due.
    Mobility(MobilityEvent),
    /// An address resolution request may have to be repeated.
    Resolution { entry: u32 },
    /// Something of a Mobile IP agent is due.
    Agent(AgentEvent),
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

/// Something of a Mobile IP agent that is due.
#[derive(Debug, Clone, Copy)]
pub(crate) enum AgentEvent {
    /// The agent advertises itself.
    Advertise { agent: u32 },
    /// The last advertisement that a station heard of its agent expires.
    RunsOut { station: u32 },
}

/// Something of a station's association that is due.
#[derive(Debug, Clone, Copy)]
pub(crate) enum AssociationEvent {
    /// A station begins.
    Start { join: u32 },
    /// All parties of a stage are done.
    Advance { join: u32 },
    /// A message's sender is done with the work before it.
    Send { signal: u32 },
    /// A party's timer may have run out.
    Timer { join: u32, party: Party },
    /// An access point renews its group keys.
    Renew { renewal: u32, again: bool },
    /// An access point puts everybody off the network.
    Deauthenticate { number: u32 },
    /// A station asks whether its association stands.
    Query { entry: u32 },
    /// A station that was put off comes back.
    Rejoin { entry: u32 },
}

/// Something of a hand-over that is due.
#[derive(Debug, Clone, Copy)]
pub(crate) enum MobilityEvent {
    /// The station begins to pre-authenticate.
    Ahead { handover: u32 },
    /// The station leaves.
    Leave { handover: u32 },
    /// It has taken another step.
    Step { handover: u32 },
    /// Its word that it will be away may be out.
    Away { handover: u32 },
    /// It is on the new access point's channel.
    Probe { handover: u32 },
    /// Its time on that channel may be over.
    ScanOver { handover: u32 },
    /// It asks the new access point through the old one.
    Ask { handover: u32 },
    /// It has found the new access point.
    Found { handover: u32 },
}
