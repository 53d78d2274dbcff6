//! A flow's TCP connection: the sans-IO machines of `transport`, fed with packets and timers.
//!
//! Data of each end travel in a half-connection of their own.

use airtoll_units::Instant;

use super::outlet::{Outlet, TransportOctets};
use crate::application::End;
use crate::id::{SegmentId, Slab};
use crate::observe::Observation;
use crate::packet::Carries;
use crate::transport::{Ack, LocalQueue, Receiver, Segment, Sender, TcpConfig};

/// Both halves of a connection.
#[derive(Debug)]
pub(crate) struct Connection {
    /// Data of the source, and data of the destination.
    halves: [Half; 2],
    /// Segments of the packets under way, with the number of the connection that sent them.
    carried: Slab<SegmentId, (u32, Carried)>,
    /// Connections opened before this one by [`Self::reopen`].
    number: u32,
    /// Parameters of the halves.
    configs: [TcpConfig; 2],
}

/// One direction of data.
#[derive(Debug)]
struct Half {
    sender: Sender,
    receiver: Receiver,
    /// The sender's segments in the transmit queue of its host, where that holds it back.
    local: Option<LocalQueue>,
    /// When the scheduled timer events of sender and receiver come.
    timers: [Instant; 2],
}

/// TCP content of a packet.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Carried {
    /// Data of an end, the acknowledgement of the other end's that rides on it, and how much of the
    /// other end's has been acknowledged.
    Segment(End, Segment, Option<Ack>, u64),
    /// An acknowledgement of data of an end, and how much its sender has sent itself.
    Ack(End, Ack, u64),
}

impl Half {
    fn new(config: &TcpConfig, local: Option<LocalQueue>) -> Self {
        Self {
            sender: Sender::new(config),
            receiver: Receiver::new(config),
            local,
            timers: [Instant::MAX; 2],
        }
    }
}

impl Connection {
    /// A connection with the parameters of its halves. `rooms` are the packets that the transmit
    /// queues of source and destination take; `None` where a queue does not hold TCP back.
    pub fn new(configs: [TcpConfig; 2], rooms: [Option<u32>; 2]) -> Self {
        let half = |at: usize| {
            let rule = configs[at].back_pressure;
            let local = rooms[at].and_then(|room| LocalQueue::new(rule, room));
            Half::new(&configs[at], local)
        };
        Self {
            halves: [half(0), half(1)],
            carried: Slab::new(),
            number: 0,
            configs,
        }
    }

    /// Replaces the connection by a new one that opens with a three-way handshake. Segments of the
    /// old one that are under way are ignored.
    pub fn reopen(&mut self) {
        self.number += 1;
        let opening = TcpConfig {
            handshake: true,
            ..self.configs[0].clone()
        };
        // Segments of the old connection may be in the queues still.
        let [first, second] = &mut self.halves;
        let (first, second) = (first.local.take(), second.local.take());
        self.halves = [
            Half::new(&opening, first),
            Half::new(&self.configs[1], second),
        ];
    }

    fn carry(&mut self, carried: Carried) -> SegmentId {
        self.carried.insert((self.number, carried))
    }

    /// TCP content of the packet with this place among those under way.
    pub fn carried(&self, place: SegmentId) -> Carried {
        self.carried[place].1
    }

    /// The parameters of an end's data.
    pub fn config(&self, end: End) -> &TcpConfig {
        &self.configs[end.index()]
    }

    /// The window scale of the receiver of an end's data.
    pub fn window_scale(&self, end: End) -> u32 {
        self.half(end).receiver.window_scale()
    }

    /// Segments that both ends have sent again.
    pub fn retransmitted_segments(&self) -> u64 {
        let again = |half: &Half| half.sender.statistics().retransmitted_segments;
        self.halves.iter().map(again).sum()
    }

    /// The packet that carried this was lost.
    pub fn forget(&mut self, place: SegmentId) {
        self.carried.remove(place);
    }

    fn half(&self, end: End) -> &Half {
        &self.halves[end.index()]
    }

    #[inline]
    fn half_mut(&mut self, end: End) -> &mut Half {
        &mut self.halves[end.index()]
    }

    /// The application of an end writes octets.
    pub(super) fn write(&mut self, end: End, octets: u64) {
        self.half_mut(end).sender.on_write(octets);
    }

    /// The application of the source always has octets to write.
    pub(super) fn saturate(&mut self) {
        self.half_mut(End::Source).sender.saturate();
    }

    /// The application of the source has written all of its octets.
    pub(super) fn finish(&mut self) {
        self.half_mut(End::Source).sender.finish();
    }

    /// Sends as many segments of an end's data as the windows allow, and sets the timer.
    pub(super) fn pump(&mut self, out: &mut Outlet<'_>, end: End) {
        let now = out.now();
        loop {
            let state = &mut self.halves[end.index()];
            if let Some(local) = &mut state.local
                && local.holds_back(&mut state.sender)
            {
                break;
            }
            let Some(segment) = state.sender.poll_transmit(now) else {
                break;
            };
            let mut held = false;
            if segment.payload > 0
                && let Some(local) = &mut state.local
            {
                local.entered(segment.payload);
                held = true;
            }
            let other = &mut self.halves[end.other().index()].receiver;
            let (rides, known) = (other.ride(), other.acknowledged());
            let place = self.carry(Carried::Segment(end, segment, rides, known));
            let octets = TransportOctets {
                header: segment.header,
                payload: segment.payload,
            };
            Self::send(out, (end, place), octets, held);
        }
        self.keep_timer(out, end, false);
    }

    #[inline]
    fn send(
        out: &mut Outlet<'_>,
        (from, place): (End, SegmentId),
        octets: TransportOctets,
        held: bool,
    ) {
        let flow = out.flow;
        let carries = Carries::Segment { flow, place };
        out.originate(carries, from == End::Destination, octets, held);
    }

    /// A segment of an end's data left the transmit queue of its host.
    pub(super) fn segment_left(&mut self, out: &mut Outlet<'_>, end: End) {
        let local = &mut self.half_mut(end).local;
        if local.as_mut().is_some_and(LocalQueue::left) {
            self.pump(out, end);
        }
    }

    /// Acknowledges data of an end.
    fn acknowledge(&mut self, out: &mut Outlet<'_>, end: End, ack: Ack) {
        let from = end.other();
        let sent = self.half(from).sender.sent();
        let place = self.carry(Carried::Ack(end, ack, sent));
        let octets = TransportOctets {
            header: ack.header,
            payload: 0,
        };
        Self::send(out, (from, place), octets, false);
    }

    /// A segment or an acknowledgement arrived; gives the end of whose stream more arrived in order,
    /// and how many octets have arrived in all.
    pub(super) fn segment_arrived(
        &mut self,
        out: &mut Outlet<'_>,
        place: SegmentId,
    ) -> Option<(End, u64)> {
        let now = out.now();
        let (number, carried) = self.carried.remove(place);
        if number != self.number {
            return None;
        }
        match carried {
            Carried::Ack(end, ack, _) => {
                self.half_mut(end).sender.on_ack(now, &ack);
                self.pump(out, end);
                None
            }
            Carried::Segment(end, segment, rides, _) => {
                if let Some(ack) = rides {
                    self.half_mut(end.other()).sender.on_ack(now, &ack);
                }
                let received = self.half_mut(end).receiver.on_segment(now, &segment);
                if let Some(ack) = received.ack {
                    self.acknowledge(out, end, ack);
                }
                self.keep_timer(out, end, true);
                if rides.is_some() {
                    self.pump(out, end.other());
                }
                if received.delivered == 0 {
                    return None;
                }
                out.cx.observe(Observation::Delivered {
                    flow: out.flow,
                    octets: received.delivered as u32,
                    at: now,
                });
                Some((end, self.half(end).receiver.delivered()))
            }
        }
    }

    fn keep_timer(&mut self, out: &mut Outlet<'_>, end: End, receiver: bool) {
        let half = self.half_mut(end);
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
            out.time_out_at(due.max(out.now()), receiver);
        }
    }

    /// A timer event of the senders or of the receivers.
    pub(super) fn timer(&mut self, out: &mut Outlet<'_>, receiver: bool) {
        let now = out.now();
        for end in [End::Source, End::Destination] {
            let state = self.half_mut(end);
            if state.timers[usize::from(receiver)] > now {
                continue;
            }
            state.timers[usize::from(receiver)] = Instant::MAX;
            if receiver {
                if let Some(ack) = state.receiver.on_timer(now) {
                    self.acknowledge(out, end, ack);
                }
                self.keep_timer(out, end, true);
            } else {
                state.sender.on_timer(now);
                self.pump(out, end);
            }
        }
    }
}
