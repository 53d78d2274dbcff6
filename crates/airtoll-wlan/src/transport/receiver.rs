//! The receiving half of a TCP connection.
//!
//! Takes arriving segments and the application's reads; gives octets delivered in order and
//! acknowledgements. Never delivers an octet twice or out of order, and sends only
//! because of a segment, a read or its delayed-acknowledgement timer.

use airtoll_units::Instant;

use super::config::TcpConfig;
use super::ranges::{RangeSet, StreamRange};
use super::right_sizing::{Arrival, RightSizing};
use super::segment::{Ack, SackBlocks, Segment, header_octets, syn_header_octets};

/// Octets that a host gathers before it hands them to TCP (`GRO_LEGACY_MAX_SIZE`).
const GATHERED_OCTETS: u64 = 65_536;

/// Result of one arriving segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Received {
    /// Octets that became available to the application, in order.
    pub delivered: u64,
    /// Octets that had arrived before.
    pub duplicate: u64,
    /// An acknowledgement to send now.
    pub ack: Option<Ack>,
}

/// Receiver state machine (RFC 9293, RFC 2018, RFC 2883, RFC 7323).
#[derive(Debug, Clone)]
pub struct Receiver {
    buffer: u64,
    scale: u32,
    timestamps: bool,
    sack: bool,
    dsack: bool,
    syn_header: u32,
    ack_every: u64,
    delay: u64,
    quick_left: u32,
    /// Whether the application reads all octets as soon as they arrive.
    reads_at_once: bool,

    expected: u64,
    unread: u64,
    above: RangeSet,
    /// Starts of the segments that arrived last above `expected`, latest first.
    recent: [u64; 4],
    largest_segment: u64,
    /// Octets in order since the last acknowledgement.
    unacknowledged: u64,
    last_acknowledged: u64,
    advertised_edge: u64,
    echo: Instant,
    deadline: Option<u64>,
    /// When the last event came.
    now: Instant,
    tuning: Option<RightSizing>,
    /// Segments of one instant draw one acknowledgement.
    offload: bool,
}

impl Receiver {
    /// A receiver whose application reads all octets as soon as they arrive.
    pub fn new(config: &TcpConfig) -> Self {
        let buffer = config.first_window();
        let most = if config.window_scaling {
            config.receive_window
        } else {
            config.receive_window.min(65_535)
        };
        Self {
            buffer,
            // The smallest shift with which the buffer fits the 16-bit field (RFC 7323 section 2).
            scale: (0..14).find(|s| most >> s <= 65_535).unwrap_or(14),
            timestamps: config.timestamps,
            sack: config.sack,
            dsack: config.sack && config.dsack,
            syn_header: syn_header_octets(config.timestamps, config.sack, config.window_scaling),
            ack_every: u64::from(config.ack_every),
            delay: u64::from(config.delayed_ack_ms) * 1_000_000,
            quick_left: config.quick_ack_segments,
            reads_at_once: true,
            expected: 0,
            unread: 0,
            above: RangeSet::default(),
            recent: [u64::MAX; 4],
            largest_segment: 0,
            unacknowledged: 0,
            last_acknowledged: 0,
            advertised_edge: buffer,
            echo: Instant::default(),
            deadline: None,
            now: Instant::ZERO,
            tuning: (most > buffer).then(|| RightSizing::new(most)),
            offload: config.receive_offload,
        }
    }

    /// The shift that the window scale option announces (RFC 7323 section 2).
    pub fn window_scale(&self) -> u32 {
        self.scale
    }

    /// Keeps delivered octets in the buffer, where they close the window, until [`Self::on_read`].
    pub fn wait_for_reads(&mut self) {
        self.reads_at_once = false;
    }

    /// Handles one segment from the network.
    pub fn on_segment(&mut self, now: Instant, segment: &Segment) -> Received {
        self.now = now;
        if segment.syn {
            self.echo = segment.sent_at;
            let header = self.syn_header;
            let ack = Ack {
                syn: true,
                header,
                ..self.acknowledge(None)
            };
            return Received {
                delivered: 0,
                duplicate: 0,
                ack: Some(ack),
            };
        }
        if segment.payload == 0 {
            return Received {
                delivered: 0,
                duplicate: 0,
                ack: None,
            };
        }
        let start = segment.sequence;
        let end = start + u64::from(segment.payload);
        // RFC 7323 section 4.3: the echo is of the earliest segment not yet acknowledged.
        if start <= self.last_acknowledged && segment.sent_at >= self.echo {
            self.echo = segment.sent_at;
        }
        self.largest_segment = self.largest_segment.max(u64::from(segment.payload));

        if end <= self.expected {
            let report = self.dsack.then_some(StreamRange { start, end });
            return Received {
                delivered: 0,
                duplicate: end - start,
                ack: Some(self.acknowledge(report)),
            };
        }
        let end = end.min(self.expected + self.free());
        let fresh = if end > start.max(self.expected) {
            self.above.missing(start.max(self.expected), end)
        } else {
            0
        };
        if fresh == 0 {
            // Held already, or beyond the window (a probe of a closed one).
            let held = end > start;
            let report = (self.dsack && held).then_some(StreamRange { start, end });
            return Received {
                delivered: 0,
                duplicate: if held { end - start } else { 0 },
                ack: Some(self.acknowledge(report)),
            };
        }
        let duplicate = (end - start) - fresh;
        if start > self.expected {
            self.above.insert(start, end);
            self.note_recent(start);
            return Received {
                delivered: 0,
                duplicate,
                ack: Some(self.acknowledge(None)),
            };
        }

        let fills_hole = !self.above.is_empty();
        let mut next = end;
        if fills_hole {
            if let Some(range) = self.above.containing(end) {
                next = range.end;
            }
            self.above.remove_below(next);
        }
        let delivered = next - self.expected;
        self.expected = next;
        if !self.reads_at_once {
            self.unread += delivered;
        }
        self.unacknowledged += delivered;
        self.tune(segment);
        let quick = self.quick_left > 0;
        self.quick_left = self.quick_left.saturating_sub(1);
        let enough = self.unacknowledged > (self.ack_every - 1) * self.largest_segment;
        let ack = if fills_hole || ((quick || enough) && !self.gathers()) {
            Some(self.acknowledge(None))
        } else if quick || enough {
            self.deadline = Some(now.as_nanos());
            None
        } else {
            if self.deadline.is_none() {
                self.deadline = Some(now.as_nanos() + self.delay);
            }
            None
        };
        Received {
            delivered,
            duplicate,
            ack,
        }
    }

    /// The application read `octets`; gives a window update when the window opened enough to be
    /// worth one (RFC 9293 section 3.8.6.2.2).
    pub fn on_read(&mut self, octets: u64) -> Option<Ack> {
        self.unread = self.unread.saturating_sub(octets);
        let opened = (self.expected + self.free()).saturating_sub(self.advertised_edge);
        (opened >= (self.buffer / 2).min(self.largest_segment.max(1)))
            .then(|| self.acknowledge(None))
    }

    /// When the delayed acknowledgement is due.
    pub fn next_timer(&self) -> Option<Instant> {
        self.deadline.map(Instant::from_nanos)
    }

    /// Sends the delayed acknowledgement when it is due at `now`.
    pub fn on_timer(&mut self, now: Instant) -> Option<Ack> {
        self.now = now;
        match self.deadline {
            Some(deadline) if now.as_nanos() >= deadline => Some(self.acknowledge(None)),
            _ => None,
        }
    }

    /// An acknowledgement to ride on data that this host is about to send, where one is owed.
    /// Its octets are those of the data segment's own header (RFC 9293 section 3.8.6.3).
    pub fn ride(&mut self) -> Option<Ack> {
        (self.unacknowledged > 0 && self.above.is_empty()).then(|| self.acknowledge(None))
    }

    /// Stream offset up to which everything has been acknowledged.
    pub fn acknowledged(&self) -> u64 {
        self.last_acknowledged
    }

    /// Octets delivered in order so far.
    pub fn delivered(&self) -> u64 {
        self.expected
    }

    /// Octets delivered and not read.
    pub fn unread(&self) -> u64 {
        self.unread
    }

    /// Grows the buffer by what arrives in a round trip.
    fn tune(&mut self, segment: &Segment) {
        if let Some(tuning) = &mut self.tuning
            && self.reads_at_once
        {
            self.buffer = tuning.on_arrival(Arrival {
                now: self.now.as_nanos(),
                expected: self.expected,
                segment: self.largest_segment,
                echo: self.timestamps.then(|| segment.echo.as_nanos()),
                window: self.buffer,
            });
        }
    }

    /// Whether an acknowledgement that is due waits for further segments of the same instant.
    fn gathers(&self) -> bool {
        self.offload && self.unacknowledged < GATHERED_OCTETS
    }

    fn free(&self) -> u64 {
        self.buffer - self.unread.min(self.buffer)
    }

    fn note_recent(&mut self, start: u64) {
        self.recent.copy_within(0..3, 1);
        self.recent[0] = start;
    }

    fn acknowledge(&mut self, duplicate: Option<StreamRange>) -> Ack {
        self.deadline = None;
        self.unacknowledged = 0;
        self.last_acknowledged = self.expected;
        let window = (self.free() >> self.scale) << self.scale;
        self.advertised_edge = self.advertised_edge.max(self.expected + window);
        let mut sack = SackBlocks::default();
        if let Some(range) = duplicate {
            sack.push(range);
        }
        if self.sack && !self.above.is_empty() {
            self.report_ranges(&mut sack);
        }
        Ack {
            acknowledged: self.expected,
            window,
            syn: false,
            echo: self.echo,
            sent_at: self.now,
            sack,
            header: header_octets(self.timestamps, sack.as_slice().len()),
        }
    }

    /// RFC 2018 section 4: the range of the latest segment first, then those reported before it.
    fn report_ranges(&self, sack: &mut SackBlocks) {
        // Timestamps leave room for three blocks in 40 octets of options.
        let room = if self.timestamps { 3 } else { 4 };
        for start in self.recent {
            if sack.as_slice().len() >= room {
                return;
            }
            if start < self.expected {
                continue;
            }
            if let Some(range) = self.above.containing(start)
                && !sack.as_slice().contains(&range)
            {
                sack.push(range);
            }
        }
    }
}
