//! RADIUS over TLS (RFC 6614): a TCP connection between two nodes that carries the packets of all
//! sessions as records.
//!
//! Takes packets, TCP segments and timers; gives TCP segments, and packets once all octets of their
//! record have arrived in order. A packet behind a lost one waits for it, of whichever session it is.
//! A RADIUS packet is sent once (RFC 6613 section 2.6.1): TCP repeats segments.

use std::collections::VecDeque;

use airtoll_engine::Streams;
use airtoll_handshakes::RadiusTls;
use airtoll_handshakes::tls::flights::{RECORD_OCTETS, StreamFlight, application_data, mutual};
use airtoll_units::Instant;

use super::carry::IPV4_HEADER;
use super::{Action, Join, Outbox, Then};
use crate::event::JoinEvent;
use crate::id::{NodeId, PieceId, SignalId, Slab, StreamId};
use crate::transport::{Ack, Nagle, Receiver, Segment, Sender, TcpConfig, TcpOptions};

/// Octets of a TCP header without options.
const TCP_HEADER: u32 = 20;

/// A connection: the client, which speaks first, and the server.
pub(crate) struct Stream {
    ends: [NodeId; 2],
    config: TcpConfig,
    /// Data of the client, and of the server.
    halves: [Half; 2],
    carried: Slab<PieceId, Piece>,
    /// Flights of the TLS handshake that are not written yet, the next first.
    flights: VecDeque<StreamFlight>,
    /// Data may be sent.
    up: bool,
    /// Packets of the client that wait for the handshake.
    waiting: Vec<(u32, SignalId)>,
}

/// One direction of data.
struct Half {
    sender: Sender,
    receiver: Receiver,
    /// Pieces of the data: where each ends in the stream, and its content. They stay for captures, which
    /// repeat the octets of repeated segments.
    written: Vec<(u64, Content)>,
    /// How many pieces have arrived.
    complete: usize,
    /// When the scheduled timer events of sender and receiver come.
    timers: [Instant; 2],
}

/// Content of octets in a stream.
#[derive(Debug)]
enum Content {
    /// Records of the TLS handshake.
    Flight(Vec<u8>),
    /// One record with a RADIUS packet.
    Packet(SignalId),
}

/// A piece that arrived in order.
enum Arrived {
    Flight,
    Packet(SignalId),
}

/// A TCP segment under way.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Piece {
    /// Data of an end, the acknowledgement of the other end's that rides on it, and how much of the
    /// other end's has been acknowledged.
    Segment(usize, Segment, Option<Ack>, u64),
    /// An acknowledgement of data of an end, and how much its sender has sent itself.
    Ack(usize, Ack, u64),
}

impl Piece {
    /// The end that sends it.
    pub const fn from(&self) -> usize {
        match *self {
            Self::Segment(end, ..) => end,
            Self::Ack(end, ..) => 1 - end,
        }
    }
}

impl Half {
    fn new(config: &TcpConfig) -> Self {
        Self {
            sender: Sender::new(config),
            receiver: Receiver::new(config),
            written: Vec::new(),
            complete: 0,
            timers: [Instant::MAX; 2],
        }
    }

    fn write(&mut self, octets: u32, content: Content) {
        self.sender.on_write(u64::from(octets));
        self.written.push((self.sender.written(), content));
    }

    /// Appends `count` octets of the data from `offset` on. Records of RADIUS packets have their header
    /// and the digits of their offsets.
    fn copy(&self, offset: u64, count: u32, out: &mut Vec<u8>) {
        let last = offset + u64::from(count);
        let first = self.written.partition_point(|(end, _)| *end <= offset);
        let mut start = match first {
            0 => 0,
            _ => self.written[first - 1].0,
        };
        for (end, content) in &self.written[first..] {
            let (from, to) = (offset.max(start), last.min(*end));
            if from >= to {
                return;
            }
            let (from, to) = ((from - start) as usize, (to - start) as usize);
            match content {
                Content::Flight(octets) => out.extend_from_slice(&octets[from..to]),
                Content::Packet(_) => {
                    let header = application_data((end - start) as u32);
                    out.extend(
                        (from..to).map(|n| header.get(n).copied().unwrap_or(b'0' + (n % 10) as u8)),
                    );
                }
            }
            start = *end;
        }
    }
}

impl Stream {
    fn new(ends: [NodeId; 2], configs: [TcpConfig; 2], flights: Vec<StreamFlight>) -> Self {
        let [client, server] = configs;
        let up = flights.is_empty();
        let opening = TcpConfig {
            handshake: !up,
            ..client.clone()
        };
        Self {
            ends,
            halves: [Half::new(&opening), Half::new(&server)],
            config: client,
            carried: Slab::new(),
            flights: flights.into(),
            up,
            waiting: Vec::new(),
        }
    }

    /// Client and server.
    pub const fn ends(&self) -> [NodeId; 2] {
        self.ends
    }

    /// Parameters of TCP.
    pub const fn config(&self) -> &TcpConfig {
        &self.config
    }

    /// The segment with this place among those under way.
    pub fn piece(&self, piece: PieceId) -> Piece {
        self.carried[piece]
    }

    /// Appends octets of an end's data from `offset` on.
    pub fn copy(&self, end: usize, offset: u64, count: u32, out: &mut Vec<u8>) {
        self.halves[end].copy(offset, count, out);
    }

    /// The window scale of the receiver of an end's data.
    pub fn window_scale(&self, end: usize) -> u32 {
        self.halves[end].receiver.window_scale()
    }

    fn keep_timer(
        &mut self,
        id: StreamId,
        end: usize,
        receiver: bool,
        now: Instant,
        out: &mut Outbox,
    ) {
        let half = &mut self.halves[end];
        let due = if receiver {
            half.receiver.next_timer()
        } else {
            half.sender.next_timer()
        };
        let scheduled = &mut half.timers[usize::from(receiver)];
        if let Some(due) = due
            && due < *scheduled
        {
            // An event that comes too early looks again; it is never moved.
            *scheduled = due;
            out.push(Action::Schedule {
                at: due.max(now),
                event: JoinEvent::StreamTimer {
                    stream: id,
                    receiver,
                },
            });
        }
    }

    /// Sends as many segments of an end's data as the windows allow, and sets the timer.
    fn pump(&mut self, id: StreamId, end: usize, now: Instant, out: &mut Outbox) {
        while let Some(segment) = self.halves[end].sender.poll_transmit(now) {
            let other = &mut self.halves[1 - end].receiver;
            let (rides, known) = (other.ride(), other.acknowledged());
            let octets = segment.octets();
            let piece = Piece::Segment(end, segment, rides, known);
            self.send(id, piece, octets, out);
        }
        self.keep_timer(id, end, false, now, out);
    }

    fn send(&mut self, id: StreamId, piece: Piece, octets: u32, out: &mut Outbox) {
        let from = piece.from();
        let piece = self.carried.insert(piece);
        out.push(Action::SendPiece {
            from: self.ends[from],
            to: self.ends[1 - from],
            octets: octets + IPV4_HEADER,
            stream: id,
            piece,
        });
    }

    /// Acknowledges data of an end.
    fn acknowledge(&mut self, id: StreamId, end: usize, ack: Ack, out: &mut Outbox) {
        let sent = self.halves[1 - end].sender.sent();
        self.send(id, Piece::Ack(end, ack, sent), ack.octets(), out);
    }

    /// A segment arrived; gives what is complete now of the data of its sender.
    fn arrived(
        &mut self,
        id: StreamId,
        piece: PieceId,
        now: Instant,
        out: &mut Outbox,
    ) -> Vec<Arrived> {
        match self.carried.remove(piece) {
            Piece::Ack(end, ack, _) => {
                self.halves[end].sender.on_ack(now, &ack);
                self.pump(id, end, now, out);
                Vec::new()
            }
            Piece::Segment(end, segment, rides, _) => {
                if let Some(ack) = rides {
                    self.halves[1 - end].sender.on_ack(now, &ack);
                }
                let received = self.halves[end].receiver.on_segment(now, &segment);
                if let Some(ack) = received.ack {
                    self.acknowledge(id, end, ack, out);
                }
                self.keep_timer(id, end, true, now, out);
                if rides.is_some() {
                    self.pump(id, 1 - end, now, out);
                }
                let half = &mut self.halves[end];
                let delivered = half.receiver.delivered();
                let mut complete = Vec::new();
                while let Some((last, content)) = half.written.get(half.complete)
                    && *last <= delivered
                {
                    complete.push(match content {
                        Content::Flight(_) => Arrived::Flight,
                        Content::Packet(signal) => Arrived::Packet(*signal),
                    });
                    half.complete += 1;
                }
                complete
            }
        }
    }
}

impl Join {
    /// The connection with this number.
    pub fn connection(&self, id: StreamId) -> &Stream {
        &self.connections[id]
    }

    /// A RADIUS packet of `octets` goes over the connection between `ends`, client and server; the
    /// number of the end sends it.
    pub(super) fn send_over_tls(
        &mut self,
        now: Instant,
        (ends, tls): ([NodeId; 2], RadiusTls),
        (from, octets, signal): (usize, u32, SignalId),
        out: &mut Outbox,
    ) {
        let id = self
            .connections
            .find(|known| known.ends == ends)
            .unwrap_or_else(|| self.connect(ends, tls, out));
        let stream = &mut self.connections[id];
        let octets = octets + RECORD_OCTETS;
        if !stream.up && from == 0 {
            stream.waiting.push((octets, signal));
            return;
        }
        stream.halves[from].write(octets, Content::Packet(signal));
        stream.pump(id, from, now, out);
    }

    /// Opens the connection between two nodes.
    fn connect(&mut self, ends: [NodeId; 2], tls: RadiusTls, out: &mut Outbox) -> StreamId {
        let hosts = ends.map(|node| self.hosts[node]);
        let mss = hosts[0].1.min(hosts[1].1) - IPV4_HEADER - TCP_HEADER;
        let options = TcpOptions::default();
        let configs = [[0, 1], [1, 0]]
            .map(|[from, to]| TcpConfig::of_flow(&options, [hosts[from].0, hosts[to].0], mss))
            // FreeRADIUS sets TCP_NODELAY on its sockets of TLS (`listen.c`).
            .map(|config| TcpConfig {
                nagle: Nagle::Off,
                ..config
            });
        let generator = |streams: &Streams| {
            let name = format!("radius-tls/{}/{}", ends[0], ends[1]);
            streams.named(&name).into_generator()
        };
        let flights = match &self.streams {
            Some(streams) if !tls.up => mutual(tls.chain, generator(streams)),
            _ => Vec::new(),
        };
        let id = self.connections.push(Stream::new(ends, configs, flights));
        self.prepare_flight(id, out);
        id
    }

    /// The sender of the next flight of a TLS handshake works on it.
    fn prepare_flight(&self, id: StreamId, out: &mut Outbox) {
        let stream = &self.connections[id];
        if let Some(flight) = stream.flights.front() {
            out.push(Action::WorkOnCpu {
                node: stream.ends[usize::from(!flight.from_client)],
                operations: flight.operations.clone(),
                octets: None,
                then: Then::Flight(id),
            });
        }
    }

    /// The next flight of a TLS handshake leaves. With its second one the client may send data.
    pub(super) fn send_flight(&mut self, now: Instant, id: StreamId, out: &mut Outbox) {
        let stream = &mut self.connections[id];
        let Some(flight) = stream.flights.pop_front() else {
            return;
        };
        let end = usize::from(!flight.from_client);
        let first = stream.halves[0].written.is_empty();
        let octets = flight.octets.len() as u32;
        stream.halves[end].write(octets, Content::Flight(flight.octets));
        if flight.from_client && !first {
            stream.up = true;
            for (octets, signal) in std::mem::take(&mut stream.waiting) {
                stream.halves[0].write(octets, Content::Packet(signal));
            }
        }
        stream.pump(id, end, now, out);
    }

    /// A segment is through the stack of its receiver.
    pub fn piece_arrived(&mut self, now: Instant, id: StreamId, piece: PieceId, out: &mut Outbox) {
        for content in self.connections[id].arrived(id, piece, now, out) {
            match content {
                Arrived::Packet(signal) => self.arrived(now, signal, out),
                Arrived::Flight => self.prepare_flight(id, out),
            }
        }
    }

    /// A segment was lost on its way.
    pub fn piece_lost(&mut self, id: StreamId, piece: PieceId) {
        self.connections[id].carried.remove(piece);
    }

    /// A timer event of the senders or of the receivers of a connection.
    pub(super) fn stream_timer(
        &mut self,
        now: Instant,
        id: StreamId,
        receiver: bool,
        out: &mut Outbox,
    ) {
        let stream = &mut self.connections[id];
        for end in 0..2 {
            let half = &mut stream.halves[end];
            if half.timers[usize::from(receiver)] > now {
                continue;
            }
            half.timers[usize::from(receiver)] = Instant::MAX;
            if receiver {
                if let Some(ack) = half.receiver.on_timer(now) {
                    stream.acknowledge(id, end, ack, out);
                }
                stream.keep_timer(id, end, true, now, out);
            } else {
                half.sender.on_timer(now);
                stream.pump(id, end, now, out);
            }
        }
    }
}
