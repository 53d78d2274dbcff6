//! A deterministic link between one sender and one receiver.
//!
//! Takes a bottleneck rate, a delay, a queue limit and the fate of each segment by its number;
//! gives the octets that the application got and a trace of the congestion window. Events run in
//! (time, sequence) order.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use airtoll_units::Instant;
use airtoll_wlan::transport::{Ack, Receiver, Segment, Sender, TcpConfig};

/// Fate of one segment or acknowledgement at the bottleneck.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    Pass,
    Drop,
    /// Arrives this many ns late, so that others overtake it.
    Late(u64),
    Twice,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Event {
    Data(Segment),
    Acknowledge(Ack),
    SenderTimer,
    ReceiverTimer,
}

type DataFate = Box<dyn FnMut(u64, &Segment) -> Fate>;
type AckFate = Box<dyn FnMut(u64) -> Fate>;

/// One connection over one link.
pub struct Link {
    pub sender: Sender,
    pub receiver: Receiver,
    /// Bottleneck, bits per second of IP packets; 0 for none.
    rate: u64,
    /// One way, ns.
    delay: u64,
    /// Packets in the queue, the one being sent included.
    queue: u64,
    now: u64,
    order: u64,
    events: BinaryHeap<Reverse<(u64, u64, usize)>>,
    slots: Vec<Option<Event>>,
    free: Vec<usize>,
    busy_until: u64,
    sender_timer: Option<u64>,
    receiver_timer: Option<u64>,
    pub data_sent: u64,
    pub acks_sent: u64,
    pub queue_drops: u64,
    /// Most packets that a segment has found in the queue.
    pub queue_most: u64,
    pub delivered: u64,
    data_fate: DataFate,
    ack_fate: AckFate,
    /// (ns, octets acknowledged, congestion window in octets) after every change of either.
    pub windows: Vec<(u64, u64, u64)>,
    pub record: bool,
    window_limit: u64,
    mss: u64,
}

impl Link {
    pub fn new(config: &TcpConfig, rate: u64, delay: u64, queue: u64) -> Self {
        config.validate().unwrap();
        Self {
            sender: Sender::new(config),
            receiver: Receiver::new(config),
            rate,
            delay,
            queue,
            now: 0,
            order: 0,
            events: BinaryHeap::new(),
            slots: Vec::new(),
            free: Vec::new(),
            busy_until: 0,
            sender_timer: None,
            receiver_timer: None,
            data_sent: 0,
            acks_sent: 0,
            queue_drops: 0,
            queue_most: 0,
            delivered: 0,
            data_fate: Box::new(|_, _| Fate::Pass),
            ack_fate: Box::new(|_| Fate::Pass),
            windows: Vec::new(),
            record: false,
            window_limit: if config.window_scaling {
                config.receive_window
            } else {
                config.receive_window.min(65_535)
            },
            mss: u64::from(config.segment_payload()),
        }
    }

    /// Decides over data segments by their running number (SYN and pure ACKs count too).
    pub fn data_fate(mut self, fate: impl FnMut(u64, &Segment) -> Fate + 'static) -> Self {
        self.data_fate = Box::new(fate);
        self
    }

    pub fn ack_fate(mut self, fate: impl FnMut(u64) -> Fate + 'static) -> Self {
        self.ack_fate = Box::new(fate);
        self
    }

    pub fn recorded(mut self) -> Self {
        self.record = true;
        self
    }

    pub fn now(&self) -> u64 {
        self.now
    }

    /// Runs until `end` ns, or until nothing is pending; gives whether anything still is.
    pub fn run_until(&mut self, end: u64) -> bool {
        self.pump();
        while let Some(&Reverse((at, _, slot))) = self.events.peek() {
            if at > end {
                self.now = end;
                return true;
            }
            self.events.pop();
            let event = self.slots[slot].take().unwrap();
            self.free.push(slot);
            self.now = at;
            self.handle(event);
            self.pump();
        }
        self.now = end;
        false
    }

    fn handle(&mut self, event: Event) {
        let now = Instant::from_nanos(self.now);
        match event {
            Event::Data(segment) => {
                let before = self.receiver.delivered();
                let received = self.receiver.on_segment(now, &segment);
                assert_eq!(self.receiver.delivered(), before + received.delivered);
                self.delivered += received.delivered;
                if let Some(ack) = received.ack {
                    self.send_ack(ack);
                } else if let Some(at) = self.receiver.next_timer() {
                    self.schedule(at.as_nanos(), Event::ReceiverTimer);
                }
            }
            Event::Acknowledge(ack) => self.sender.on_ack(now, &ack),
            Event::SenderTimer => {
                if self.sender_timer == Some(self.now) {
                    self.sender_timer = None;
                }
                self.sender.on_timer(now);
            }
            Event::ReceiverTimer => {
                if self.receiver_timer == Some(self.now) {
                    self.receiver_timer = None;
                }
                if let Some(ack) = self.receiver.on_timer(now) {
                    self.send_ack(ack);
                } else if let Some(at) = self.receiver.next_timer() {
                    self.schedule(at.as_nanos(), Event::ReceiverTimer);
                }
            }
        }
    }

    fn pump(&mut self) {
        let now = Instant::from_nanos(self.now);
        while let Some(segment) = self.sender.poll_transmit(now) {
            self.send_data(segment);
        }
        let flight = self.sender.flight();
        assert!(
            flight <= self.window_limit,
            "flight {flight} beyond the window"
        );
        assert!(self.sender.congestion_window() >= self.mss);
        if flight > 0 {
            assert!(
                self.sender.next_timer().is_some(),
                "data outstanding and no timer"
            );
        }
        if let Some(at) = self.sender.next_timer() {
            self.schedule(at.as_nanos().max(self.now), Event::SenderTimer);
        }
        if self.record {
            let row = (
                self.now,
                self.sender.acknowledged(),
                self.sender.congestion_window(),
            );
            if self
                .windows
                .last()
                .is_none_or(|w| (w.1, w.2) != (row.1, row.2))
            {
                self.windows.push(row);
            }
        }
    }

    fn send_data(&mut self, segment: Segment) {
        let fate = (self.data_fate)(self.data_sent, &segment);
        self.data_sent += 1;
        if fate == Fate::Drop {
            return;
        }
        let mut leaves = self.now;
        let bits = u64::from(segment.octets() + 20) * 8;
        if let Some(takes) = (bits * 1_000_000_000).checked_div(self.rate) {
            let start = self.busy_until.max(self.now);
            let waiting = (start - self.now) / takes.max(1);
            self.queue_most = self.queue_most.max(waiting);
            if waiting >= self.queue {
                self.queue_drops += 1;
                return;
            }
            leaves = start + takes;
            self.busy_until = leaves;
        }
        let arrives = leaves + self.delay;
        match fate {
            Fate::Late(by) => self.schedule(arrives + by, Event::Data(segment)),
            Fate::Twice => {
                self.schedule(arrives, Event::Data(segment));
                self.schedule(arrives + 1, Event::Data(segment));
            }
            _ => self.schedule(arrives, Event::Data(segment)),
        }
    }

    fn send_ack(&mut self, ack: Ack) {
        let fate = (self.ack_fate)(self.acks_sent);
        self.acks_sent += 1;
        let arrives = self.now + self.delay;
        match fate {
            Fate::Drop => {}
            Fate::Late(by) => self.schedule(arrives + by, Event::Acknowledge(ack)),
            Fate::Twice => {
                self.schedule(arrives, Event::Acknowledge(ack));
                self.schedule(arrives + 1, Event::Acknowledge(ack));
            }
            Fate::Pass => self.schedule(arrives, Event::Acknowledge(ack)),
        }
    }

    fn schedule(&mut self, at: u64, event: Event) {
        // A timer event that runs early is scheduled again, so only an earlier deadline needs a new
        // one.
        let pending = match event {
            Event::SenderTimer => Some(&mut self.sender_timer),
            Event::ReceiverTimer => Some(&mut self.receiver_timer),
            _ => None,
        };
        if let Some(pending) = pending {
            if pending.is_some_and(|earlier| earlier <= at) {
                return;
            }
            *pending = Some(at);
        }
        let slot = self.free.pop().unwrap_or_else(|| {
            self.slots.push(None);
            self.slots.len() - 1
        });
        self.slots[slot] = Some(event);
        self.order += 1;
        self.events.push(Reverse((at, self.order, slot)));
    }
}
