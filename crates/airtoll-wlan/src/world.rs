//! The world: all state of a trial, and the loop that moves it from one instant to the next.
//!
//! Rooms of the world, each with its own `impl World`: `build` makes it from a scenario, `access`
//! contends, `exchange` sends frames and answers them, `air` puts transmissions on the channel and
//! says who received them, `aggregation` fills frames, `network` moves packets between hosts,
//! `flow` makes and takes application data, `report` turns counts into rows.

use airtoll_engine::{EventQueue, Stream, Trace};
use airtoll_units::{Duration, Instant};

use crate::access::Contender;
use crate::agents::{AgentEvent, Agents};
use crate::aggregation::{MacQueue, TxLink};
use crate::association::{AssociationEvent, Associations};
use crate::channel::Channel;
use crate::exchange::Exchange;
use crate::flow::Flow;
use crate::host::{Host, Pipe};
use crate::ip_fragments::FragmentGroup;
use crate::ledger::Ledger;
use crate::mobility::{Mobility, MobilityEvent};
use crate::mode::Mode;
use crate::network::{Route, Wire};
use crate::packet::{Packet, Slab};
use crate::radio::Radio;
use crate::record::Recorder;
use crate::resolution::Resolution;
use crate::scenario::{Discipline, Role, ScenarioError};
use crate::tunnel::{Layer, TunnelEnd};

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
    /// A wired sender has a packet less in its socket.
    Released { flow: u32 },
    /// A flow's transport timer may be due.
    TransportTimer { flow: u32, receiver: bool },
    /// An AP's beacon is due.
    Beacon { node: u32 },
    /// Nothing may have followed an RTS that had reserved the medium.
    NavReset { channel: u32, reservation: u32 },
    /// The warm-up ends.
    WarmedUp,
    /// Something of a station's association is due.
    Association(AssociationEvent),
    /// Something of a hand-over is due.
    Mobility(MobilityEvent),
    /// A question for an address may have to be asked again.
    Resolution { entry: u32 },
    /// Something of an agent of Mobile IP is due.
    Agent(AgentEvent),
}

/// The pipes of a node.
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

/// A station, an access point or a wired host.
#[derive(Debug)]
pub(crate) struct Node {
    pub name: String,
    pub role: Role,
    pub channel: u32,
    /// Sensing class.
    pub class: u32,
    /// Classes that hear it.
    pub ears: Vec<u32>,
    pub host: Host,
    pub transmit: Pipe,
    pub encrypt: Pipe,
    pub decrypt: Pipe,
    pub receive: Pipe,
    /// Its contenders by access category; under DCF four times the same.
    pub contenders: [u32; 4],
    /// Its first link; one row of `neighbours` links per contender follows.
    pub first_link: u32,
    pub neighbours: u32,
    /// First of its links for management and EAPOL frames, one per neighbour, if it has any.
    pub signalling: u32,
    pub beacon: Option<crate::exchange::BeaconPlan>,
    pub mtu: u32,
    pub tunnels: Vec<TunnelEnd>,
    /// Transmits or owes a response until then.
    pub engaged_until: Instant,
    /// Start and end of its last transmission.
    pub last_sent: (Instant, Instant),
    pub queue_limit: u32,
    /// MSDU lifetime; longer than any trial where there is none.
    pub lifetime: Duration,
    pub discipline: Discipline,
    pub energy: Option<crate::scenario::Energy>,
    pub transmit_time: Duration,
    pub receive_time: Duration,
    /// The rate that its cipher forbids, where it does: (forbidden, used), bit/s.
    pub forbidden_rate: Option<(u64, u64)>,
}

/// All state of a trial.
pub(crate) struct World {
    pub events: EventQueue<Event>,
    pub end: Instant,
    pub warm_up: Instant,
    pub series: bool,
    pub nodes: Vec<Node>,
    /// One stream per node for its back-off.
    pub streams: Vec<Stream>,
    /// Frame errors.
    pub noise: Stream,
    pub channels: Vec<Channel>,
    pub contenders: Vec<Contender>,
    pub exchanges: Vec<Exchange>,
    /// TXOP limit or burst time of each contender; zero: one exchange.
    pub txop_limits: Vec<Duration>,
    pub queues: Vec<MacQueue>,
    pub links: Vec<TxLink>,
    pub modes: Vec<Mode>,
    pub radio: Radio,
    pub packets: Slab<Packet>,
    pub fragments: Slab<FragmentGroup>,
    pub layers: Slab<Layer>,
    pub routes: Vec<Vec<Route>>,
    pub wires: Vec<Wire>,
    pub flows: Vec<Flow>,
    pub ledger: Ledger,
    pub crypto_time: Duration,
    /// Cipher work that the CPU at hand will do with its next job.
    pub cpu_ciphers: Duration,
    /// The NAV of an RTS's receiver before that RTS.
    pub earlier_nav: Instant,
    /// When RTSs ended, and until when they had reserved the medium, for those who may forget it.
    pub reservations: Slab<(Instant, Instant)>,
    /// Scratch space of `grant`.
    pub winners: Vec<u32>,
    pub association: Associations,
    pub mobility: Mobility,
    pub resolution: Resolution,
    pub agents: Agents,
    pub trace: Option<Box<dyn Trace>>,
    pub recorder: Option<Box<Recorder>>,
}

// The queue moves events about all the time.
const _: () = assert!(size_of::<Event>() <= 16);

/// Events between two looks at the caller's wish to stop.
const EVENTS_PER_LOOK: u32 = 8192;

impl World {
    /// Runs to the end of the trial.
    ///
    /// # Errors
    /// [`ScenarioError::Interrupted`] as soon as `interrupt` says so.
    pub fn run(&mut self, interrupt: &mut dyn FnMut() -> bool) -> Result<(), ScenarioError> {
        let mut until_look = EVENTS_PER_LOOK;
        loop {
            until_look -= 1;
            if until_look == 0 {
                if interrupt() {
                    return Err(ScenarioError::Interrupted);
                }
                until_look = EVENTS_PER_LOOK;
            }
            let (grant_at, channel) = self.next_grant();
            let event_at = self.events.next_at();
            // Everything that happens at an instant is known before anyone transmits at it.
            if grant_at < event_at {
                if grant_at > self.end {
                    break;
                }
                self.events.advance(grant_at);
                self.grant(channel);
                continue;
            }
            if event_at > self.end {
                break;
            }
            match self.events.pop() {
                Some(event) => self.handle(event),
                None => break,
            }
        }
        self.events.advance(self.end);
        Ok(())
    }

    fn next_grant(&mut self) -> (Instant, u32) {
        let mut first = (Instant::MAX, 0);
        for (i, channel) in self.channels.iter_mut().enumerate() {
            if channel.stale {
                channel.refresh(&self.contenders);
            }
            if channel.next_grant < first.0 {
                first = (channel.next_grant, i as u32);
            }
        }
        first
    }

    fn handle(&mut self, event: Event) {
        match event {
            Event::FrameEnd {
                channel,
                transmission,
            } => self.frame_end(channel, transmission),
            Event::Respond { contender } => self.respond(contender),
            Event::Proceed { contender } => self.proceed(contender),
            Event::Pipe { node, pipe } => self.pipe_due(node, pipe),
            Event::Wire { wire } => self.wire_due(wire),
            Event::Application { flow } => self.application_due(flow),
            Event::Released { flow } => self.released(flow),
            Event::TransportTimer { flow, receiver } => self.transport_timer(flow, receiver),
            Event::Beacon { node } => self.beacon_due(node),
            Event::NavReset {
                channel,
                reservation,
            } => {
                let now = self.events.now();
                let (heard, until) = self.reservations.remove(reservation);
                self.channels[channel as usize].forget_reservation(now, heard, until);
            }
            Event::WarmedUp => self.warmed_up(),
            Event::Association(event) => self.association_due(event),
            Event::Mobility(event) => self.mobility_due(event),
            Event::Resolution { entry } => self.resolution_due(entry),
            Event::Agent(event) => self.agent_due(event),
        }
    }

    #[inline]
    pub(crate) fn trace(&mut self, what: &'static str, which: [u64; 3]) {
        if let Some(trace) = &mut self.trace {
            trace.record(self.events.now(), what, which);
        }
    }

    /// Books the air of a channel up to the present instant.
    #[inline]
    pub(crate) fn book(&mut self, channel: u32) {
        let now = self.events.now();
        self.channels[channel as usize].book(now, &mut self.ledger);
    }

    /// Forgets what was counted before the end of the warm-up.
    pub(crate) fn warmed_up(&mut self) {
        for channel in 0..self.channels.len() {
            self.book(channel as u32);
            let channel = &mut self.channels[channel];
            for &id in &channel.active {
                channel.transmissions[id as usize].alone = Duration::ZERO;
            }
        }
        self.ledger = Ledger::default();
        self.crypto_time = Duration::ZERO;
        for node in &mut self.nodes {
            node.host.cpu.busy = Duration::ZERO;
            node.host
                .engines
                .iter_mut()
                .for_each(|e| e.busy = Duration::ZERO);
            node.transmit_time = Duration::ZERO;
            node.receive_time = Duration::ZERO;
        }
        for flow in &mut self.flows {
            flow.statistics.restart();
        }
    }
}
