//! The sending half of a TCP connection: the segments that may be sent, and the timers.
//!
//! Takes application writes, acknowledgements and simulated time; gives one segment at a time from
//! [`Sender::poll_transmit`] until nothing more may be sent. Never sends beyond the receiver's
//! window, and while anything is outstanding some timer is always set. How acknowledgements change
//! the state is in `recovery.rs`.

use airtoll_units::Instant;

use super::back_pressure::BackPressure;
use super::bbr::Bbr;
use super::config::{Nagle, TcpConfig};
use super::congestion::Congestion;
use super::options::CongestionControl;
use super::rack::Rack;
use super::ranges::StreamRange;
use super::rtt::RttEstimator;
use super::scoreboard::Scoreboard;
use super::segment::{Segment, header_octets, syn_header_octets};

/// Wait of a tail probe beyond two round trips, ns (Linux, `TCP_TIMEOUT_MIN_US`).
const TAIL_PROBE_SLACK: u64 = 2_000_000;

/// State of loss recovery.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CongestionState {
    /// No loss being repaired.
    Open,
    /// Fast recovery (RFC 6582, RFC 6675).
    Recovery,
    /// After a retransmission time-out, until everything sent before it is acknowledged.
    Loss,
}

/// Counts since the connection began.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SenderStatistics {
    /// Segments sent, with data or opening the connection.
    pub segments: u64,
    /// Segments that carried octets sent before.
    pub retransmitted_segments: u64,
    /// Payload octets sent again.
    pub retransmitted_octets: u64,
    /// Retransmission time-outs.
    pub timeouts: u64,
    /// Entries into fast recovery.
    pub fast_recoveries: u64,
    /// Reductions taken back as needless.
    pub undone: u64,
    /// Probes of the tail (RFC 8985 section 7).
    pub tail_probes: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    /// SYN to be sent.
    Closed,
    SynSent,
    /// SYN-ACK arrived, its acknowledgement is to be sent.
    Answering,
    Established,
}

/// Meaning of a timer deadline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Timer {
    /// SYN or retransmission time-out (RFC 6298).
    Retransmission(u64),
    /// Zero-window probe (RFC 9293 section 3.8.6.1).
    Persist(u64),
}

/// Proportional rate reduction (RFC 6937), octets.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct RateReduction {
    pub(super) delivered: u64,
    pub(super) out: u64,
    pub(super) before: u64,
}

/// State to detect that the last reduction was needless.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Suspicion {
    pub(super) first_resent_at: Option<u64>,
    /// Octets sent again and not reported as duplicates.
    pub(super) unexplained: u64,
}

/// A probe of the tail that is outstanding.
#[derive(Debug, Clone, Copy)]
pub(super) struct TailProbe {
    /// One past the highest octet sent when it went out.
    pub(super) end: u64,
    /// It repeated the last segment.
    pub(super) again: bool,
}

/// Sender state machine.
#[derive(Debug, Clone)]
pub struct Sender {
    pub(super) config: TcpConfig,
    pub(super) segment: u64,
    pub(super) phase: Phase,
    pub(super) board: Scoreboard,
    pub(super) congestion: Congestion,
    pub(super) bbr: Option<Box<Bbr>>,
    pub(super) rack: Option<Box<Rack>>,
    /// Ranges that the acknowledgement being read reports first.
    pub(super) fresh: Vec<StreamRange>,
    /// When segments that may only be late are lost, ns.
    pub(super) reordering_at: Option<u64>,
    /// When the tail is probed, ns.
    pub(super) probe_at: Option<u64>,
    tail_due: bool,
    pub(super) tail: Option<TailProbe>,
    /// When the latest acknowledgement was sent.
    pub(super) echo: Instant,
    pub(super) rtt: RttEstimator,
    pub(super) state: CongestionState,
    /// Acknowledging this offset ends the recovery (RFC 6582 `recover`, RFC 6675 `RecoveryPoint`).
    pub(super) recover: u64,
    pub(super) recovered_before: bool,
    pub(super) duplicate_acks: u32,
    pub(super) force_retransmit: bool,
    pub(super) reduction: RateReduction,
    pub(super) suspicion: Option<Suspicion>,
    /// Karn's rule: below this, an acknowledgement does not say which copy it answers.
    pub(super) ambiguous_below: u64,
    pub(super) window_edge: u64,
    pub(super) last_window: u64,
    largest_window: u64,
    written: u64,
    finished: bool,
    small_end: u64,
    pub(super) timer: Option<Timer>,
    persist_doublings: u32,
    probe: bool,
    /// When a sender that paces may send again, ns.
    paced_at: Option<u64>,
    pub(super) timed_out_at: Option<u64>,
    last_sent: u64,
    // Whether the window was in use (RFC 7661's concern, by the rule Linux has).
    usage_end: u64,
    pub(super) usage_flight: u64,
    pub(super) usage_limited: bool,
    /// Acknowledging this offset ends the effect of the last refusal by the local queue.
    refused_until: u64,
    pub(super) completed: Option<u64>,
    pub(super) statistics: SenderStatistics,
}

impl Sender {
    /// A sender with nothing written. The peer has the same configuration.
    pub fn new(config: &TcpConfig) -> Self {
        let window = config.first_window();
        Self {
            segment: u64::from(config.segment_payload()),
            phase: if config.handshake {
                Phase::Closed
            } else {
                Phase::Established
            },
            board: Scoreboard::default(),
            congestion: Congestion::new(config),
            bbr: (config.congestion == CongestionControl::Bbr).then(|| {
                Box::new(Bbr::new(
                    config.segment_payload().into(),
                    pacing_shift(config),
                ))
            }),
            rack: config.finds_by_time().then(|| Box::new(Rack::new())),
            fresh: Vec::new(),
            reordering_at: None,
            probe_at: None,
            tail_due: false,
            tail: None,
            echo: Instant::ZERO,
            rtt: RttEstimator::new(config),
            state: CongestionState::Open,
            recover: 0,
            recovered_before: false,
            duplicate_acks: 0,
            force_retransmit: false,
            reduction: RateReduction::default(),
            suspicion: None,
            ambiguous_below: 0,
            window_edge: window,
            last_window: window,
            largest_window: window,
            written: 0,
            finished: false,
            small_end: 0,
            timer: None,
            persist_doublings: 0,
            probe: false,
            paced_at: None,
            timed_out_at: None,
            last_sent: 0,
            usage_end: 0,
            usage_flight: 0,
            usage_limited: false,
            refused_until: 0,
            completed: None,
            statistics: SenderStatistics::default(),
            config: config.clone(),
        }
    }

    /// The application wrote `octets`. One call is one write: with Nagle off and room in the
    /// windows each becomes its own segment if [`Self::poll_transmit`] runs in between.
    pub fn on_write(&mut self, octets: u64) {
        self.written = self.written.saturating_add(octets);
    }

    /// The application always has more to write.
    pub fn saturate(&mut self) {
        self.written = u64::MAX / 2;
    }

    /// The application will write no more: the last small segment does not wait (it would carry
    /// FIN), and [`Self::completed_at`] tells when everything has been acknowledged.
    pub fn finish(&mut self) {
        self.finished = true;
    }

    /// Octets the application may write before a send buffer of the configured size is full.
    pub fn writable(&self) -> u64 {
        let held = self.written - self.board.acknowledged;
        self.config
            .send_buffer
            .map_or(u64::MAX, |buffer| buffer.saturating_sub(held))
    }

    /// The next segment to send at `now`, or `None` when the windows, the application or Nagle's
    /// rule allow no more. Call until `None` after every other call.
    pub fn poll_transmit(&mut self, now: Instant) -> Option<Segment> {
        let now = now.as_nanos();
        match self.phase {
            Phase::Closed => return Some(self.send_syn(now)),
            Phase::SynSent => return None,
            Phase::Answering => {
                self.phase = Phase::Established;
                return Some(self.emit(now, 0, false));
            }
            Phase::Established => {}
        }
        if std::mem::take(&mut self.tail_due)
            && let Some(segment) = self.send_tail_probe(now)
        {
            return Some(segment);
        }
        if self.waits_for_its_pace(now) {
            return None;
        }
        if let Some(hole) = self.board.next_hole(self.segment) {
            let fits = self.board.pipe() + hole.octets() <= self.congestion.window;
            if fits || self.force_retransmit {
                return Some(self.retransmit(now, hole));
            }
            self.note_usage(true);
            return None;
        }
        self.force_retransmit = false;
        self.send_new(now)
    }

    /// When [`Self::on_timer`] must run next.
    pub fn next_timer(&self) -> Option<Instant> {
        let timer = self.timer.map(|timer| match timer {
            Timer::Retransmission(at) | Timer::Persist(at) => at,
        });
        let others = [self.paced_at, self.reordering_at, self.probe_at];
        let due = others.into_iter().flatten().chain(timer).min();
        due.map(Instant::from_nanos)
    }

    /// Runs the timer if it is due at `now`; poll for segments afterwards.
    pub fn on_timer(&mut self, now: Instant) {
        let now = now.as_nanos();
        if self.paced_at.is_some_and(|at| now >= at) {
            self.paced_at = None;
        }
        if self.reordering_at.is_some_and(|at| now >= at) {
            self.on_reordering_timer(now);
        }
        if self.probe_at.is_some_and(|at| now >= at) {
            // In place of a time-out that is due at the same time (RFC 8985 section 7.2).
            self.probe_at = None;
            self.tail_due = true;
            self.rearm(now);
        }
        match self.timer {
            Some(Timer::Retransmission(at)) if now >= at => match self.phase {
                Phase::SynSent => {
                    self.rtt.back_off();
                    self.statistics.timeouts += 1;
                    self.phase = Phase::Closed;
                    self.timer = None;
                }
                _ => self.on_timeout(now),
            },
            Some(Timer::Persist(at)) if now >= at => {
                self.probe = true;
                self.persist_doublings = (self.persist_doublings + 1).min(20);
                self.timer = None;
            }
            _ => {}
        }
    }

    /// Congestion window, octets; at least one segment.
    pub fn congestion_window(&self) -> u64 {
        self.congestion.window
    }

    /// Slow-start threshold, octets; `None` before the first reduction.
    pub fn slow_start_threshold(&self) -> Option<u64> {
        (self.congestion.threshold != u64::MAX).then_some(self.congestion.threshold)
    }

    /// State of loss recovery.
    pub fn state(&self) -> CongestionState {
        self.state
    }

    /// Octets sent and not acknowledged.
    pub fn flight(&self) -> u64 {
        self.board.flight()
    }

    /// Stream offset up to which octets have been sent.
    pub fn sent(&self) -> u64 {
        self.board.sent
    }

    /// Stream offset up to which everything has been acknowledged.
    pub fn acknowledged(&self) -> u64 {
        self.board.acknowledged
    }

    /// Stream offset up to which the application has written.
    pub fn written(&self) -> u64 {
        self.written
    }

    /// Smoothed round-trip time, ns, once measured.
    pub fn smoothed_rtt_nanos(&self) -> Option<u64> {
        self.rtt.smoothed()
    }

    /// Payload of a full segment, octets.
    pub fn segment_payload(&self) -> u64 {
        self.segment
    }

    /// Whether the rate at which Linux paces, or would, is known and below `rate` octets/s
    /// (`tcp_update_pacing_rate`): a window in a round trip, doubled while the window is below half
    /// the slow-start threshold and raised by a fifth above; not known before the first round trip.
    /// Without a division, because every segment asks.
    #[inline]
    pub fn paces_below(&self, rate: u128) -> bool {
        self.paced()
            .is_some_and(|(octets, round_trip)| octets < rate * u128::from(round_trip))
    }

    /// The rate at which Linux paces, or would, octets/s.
    pub(super) fn pacing_rate(&self) -> Option<u64> {
        let (octets, round_trip) = self.paced()?;
        Some((octets / u128::from(round_trip)) as u64)
    }

    /// Octets in 10^9 smoothed round trips at the pacing rate, and the round trip, ns.
    #[inline]
    fn paced(&self) -> Option<(u128, u64)> {
        if let Some(bbr) = &self.bbr {
            return Some((bbr.pacing() as u128, 1));
        }
        let round_trip = self.rtt.smoothed()?.max(1);
        let window = self.congestion.window.max(self.board.flight());
        let percent = if self.congestion.window < self.congestion.threshold / 2 {
            200
        } else {
            120
        };
        Some((u128::from(window) * percent * 10_000_000, round_trip))
    }

    /// Whether the windows allow another new segment that the application has written.
    pub fn may_send_new(&self) -> bool {
        let next = self.board.sent + self.segment.min(self.written - self.board.sent);
        next > self.board.sent
            && next <= self.window_edge
            && next - self.board.acknowledged <= self.congestion.window
    }

    /// The queue of the host, and not the congestion window, limits the sender: the window must not
    /// grow.
    pub fn note_held_back(&mut self) {
        self.note_usage(false);
    }

    /// The queue of the host refused a segment: the window shrinks as for a loss, at most once in a
    /// round trip, and nothing is retransmitted (Linux's `tcp_enter_cwr`).
    pub fn on_local_congestion(&mut self) {
        if self.bbr.is_some() {
            return;
        }
        if self.state != CongestionState::Open || self.board.acknowledged < self.refused_until {
            return;
        }
        self.congestion
            .reduce(self.board.flight().min(self.congestion.window));
        self.congestion.confirm();
        self.congestion.set_window(self.congestion.threshold);
        self.refused_until = self.board.sent;
    }

    /// When everything written had been acknowledged after [`Self::finish`].
    pub fn completed_at(&self) -> Option<Instant> {
        self.completed.map(Instant::from_nanos)
    }

    /// Counts so far.
    pub fn statistics(&self) -> SenderStatistics {
        self.statistics
    }

    pub(super) fn note_completion(&mut self, now: u64) {
        if self.finished && self.completed.is_none() && self.board.acknowledged == self.written {
            self.completed = Some(now);
        }
    }

    /// Restarts the retransmission timer, or stops it with nothing outstanding (RFC 6298 section
    /// 5).
    pub(super) fn rearm(&mut self, now: u64) {
        self.timer = (self.board.flight() > 0)
            .then(|| Timer::Retransmission(now.saturating_add(self.rtt.timeout())));
    }

    /// Plans a probe of the tail, if one may be needed (RFC 8985 section 7.2; `tcp_schedule_loss_probe`).
    pub(super) fn schedule_tail_probe(&mut self, now: u64) {
        self.probe_at = None;
        let wanted = self.rack.is_some()
            && self.config.tail_loss_probe
            && self.state == CongestionState::Open
            && self.tail.is_none()
            && self.board.flight() > 0
            && self.board.sacked() == 0;
        let (true, Some(smoothed)) = (wanted, self.rtt.smoothed()) else {
            return;
        };
        // A lone segment may wait for a delayed acknowledgement.
        let lone = self.board.flight() <= self.segment;
        let wait = if lone {
            u64::from(self.config.min_rto_ms) * 1_000_000
        } else {
            TAIL_PROBE_SLACK
        };
        let at = now + 2 * smoothed + wait;
        self.probe_at = Some(match self.timer {
            Some(Timer::Retransmission(due)) => at.min(due),
            _ => at,
        });
    }

    /// A new segment beyond the congestion window, or the last one again (RFC 8985 section 7.3).
    fn send_tail_probe(&mut self, now: u64) -> Option<Segment> {
        let flight = self.board.flight();
        if self.state != CongestionState::Open || flight == 0 || self.tail.is_some() {
            return None;
        }
        let room = self.window_edge.saturating_sub(self.board.sent);
        let octets = self.segment.min(self.written - self.board.sent).min(room);
        self.statistics.tail_probes += 1;
        let end = self.board.sent + octets;
        if octets > 0 {
            self.tail = Some(TailProbe { end, again: false });
            let segment = self.send_octets(now, octets);
            self.rearm(now);
            return Some(segment);
        }
        self.tail = Some(TailProbe { end, again: true });
        let StreamRange { start, end } = self.rack.as_ref()?.last()?;
        self.rack.as_mut()?.on_resend(now, start, end);
        self.ambiguous_below = self.ambiguous_below.max(end);
        self.statistics.retransmitted_segments += 1;
        self.statistics.retransmitted_octets += end - start;
        if let Some(bbr) = &mut self.bbr {
            bbr.rate.on_resend(now, end);
            bbr.on_paced(now, end - start);
        }
        self.rearm(now);
        let segment = self.emit(now, end - start, true);
        Some(Segment {
            sequence: start,
            ..segment
        })
    }

    pub(super) fn on_window_opened(&mut self) {
        self.persist_doublings = 0;
        if matches!(self.timer, Some(Timer::Persist(_))) {
            self.timer = None;
        }
        self.largest_window = self.largest_window.max(self.last_window);
    }

    fn send_syn(&mut self, now: u64) -> Segment {
        self.phase = Phase::SynSent;
        self.statistics.segments += 1;
        let again = self.rtt.doublings() > 0;
        if again {
            self.statistics.retransmitted_segments += 1;
        }
        self.timer = Some(Timer::Retransmission(
            now.saturating_add(self.rtt.timeout()),
        ));
        Segment {
            sequence: 0,
            payload: 0,
            syn: true,
            retransmission: again,
            sent_at: Instant::from_nanos(now),
            echo: Instant::ZERO,
            header: syn_header_octets(
                self.config.timestamps,
                self.config.sack,
                self.config.window_scaling,
            ),
        }
    }

    fn retransmit(&mut self, now: u64, hole: StreamRange) -> Segment {
        let StreamRange { start, end } = hole;
        self.board.resend(hole);
        self.ambiguous_below = self.ambiguous_below.max(end);
        let octets = end - start;
        self.statistics.retransmitted_segments += 1;
        self.statistics.retransmitted_octets += octets;
        if let Some(suspicion) = &mut self.suspicion {
            suspicion.first_resent_at.get_or_insert(now);
            suspicion.unexplained += octets;
        }
        if self.force_retransmit {
            self.force_retransmit = false;
            self.rearm(now);
        }
        self.reduction.out += octets;
        if let Some(rack) = &mut self.rack {
            rack.on_resend(now, start, end);
        }
        if let Some(bbr) = &mut self.bbr {
            bbr.rate.on_resend(now, end);
            bbr.on_paced(now, octets);
        }
        let segment = self.emit(now, octets, true);
        Segment {
            sequence: start,
            ..segment
        }
    }

    fn send_new(&mut self, now: u64) -> Option<Segment> {
        let available = self.written - self.board.sent;
        let flight = self.board.flight();
        if available == 0 {
            self.note_usage(false);
            if let Some(bbr) = &mut self.bbr
                && flight < self.congestion.window
            {
                bbr.rate.on_app_limited(self.board.pipe());
            }
            return None;
        }
        let mut edge = self.window_edge;
        if let Some(buffer) = self.config.send_buffer {
            edge = edge.min(self.board.acknowledged.saturating_add(buffer));
        }
        let usable = edge.saturating_sub(self.board.sent);
        let wanted = available.min(self.segment);
        let octets = wanted.min(usable);
        if self.probe {
            self.probe = false;
            return Some(if octets > 0 {
                self.send_octets(now, octets)
            } else {
                self.send_probe(now)
            });
        }
        // Silly-window avoidance (RFC 9293 section 3.8.6.2.1): a whole segment, or all there is, or
        // half the largest window seen.
        if octets < wanted && octets < self.largest_window.div_ceil(2) {
            if flight == 0 && self.timer.is_none() {
                let wait = self.rtt.timeout() << self.persist_doublings;
                self.timer = Some(Timer::Persist(
                    now.saturating_add(wait.min(u64::from(self.config.max_rto_ms) * 1_000_000)),
                ));
            }
            self.note_usage(false);
            return None;
        }
        if octets < self.segment && self.holds_small(flight, octets == available) {
            self.note_usage(false);
            return None;
        }
        let in_network = if self.config.limited_transmit || self.state != CongestionState::Open {
            self.board.pipe()
        } else {
            flight
        };
        if flight == 0 {
            self.leave_idle(now);
        }
        if in_network + octets > self.congestion.window {
            self.note_usage(true);
            return None;
        }
        Some(self.send_octets(now, octets))
    }

    fn send_octets(&mut self, now: u64, octets: u64) -> Segment {
        let sequence = self.board.sent;
        if let Some(bbr) = &mut self.bbr {
            bbr.rate
                .on_send(now, sequence + octets, self.board.flight());
            bbr.on_paced(now, octets);
        }
        if let Some(rack) = &mut self.rack {
            rack.on_send(now, sequence, sequence + octets);
        }
        self.board.sent += octets;
        if octets < self.segment {
            self.small_end = self.board.sent;
        }
        if self.state == CongestionState::Recovery {
            self.reduction.out += octets;
        }
        self.last_sent = now;
        if !matches!(self.timer, Some(Timer::Retransmission(_))) {
            self.rearm(now);
        }
        if self.rack.is_some() {
            self.schedule_tail_probe(now);
        }
        let segment = self.emit(now, octets, false);
        Segment {
            sequence,
            ..segment
        }
    }

    /// A closed window is probed with an octet that has been acknowledged, which draws an
    /// acknowledgement and can never be in flight beyond the window (as Linux does).
    fn send_probe(&mut self, now: u64) -> Segment {
        let segment = self.emit(now, 1, true);
        Segment {
            sequence: self.board.acknowledged.saturating_sub(1),
            ..segment
        }
    }

    fn emit(&mut self, now: u64, octets: u64, retransmission: bool) -> Segment {
        if octets > 0 {
            self.statistics.segments += 1;
        }
        Segment {
            sequence: self.board.sent,
            payload: u32::try_from(octets).unwrap_or(u32::MAX),
            syn: false,
            retransmission,
            sent_at: Instant::from_nanos(now),
            echo: self.echo,
            header: header_octets(self.config.timestamps, 0),
        }
    }

    fn holds_small(&self, flight: u64, last_written: bool) -> bool {
        if self.finished && last_written {
            return false;
        }
        match self.config.nagle {
            Nagle::Off => false,
            Nagle::On => flight > 0,
            Nagle::Minshall => self.small_end > self.board.acknowledged,
        }
    }

    /// Before the first segment after everything had been acknowledged.
    fn leave_idle(&mut self, now: u64) {
        let idle = now.saturating_sub(self.last_sent);
        if self.last_sent == 0 || idle == 0 {
            return;
        }
        if let Some(bbr) = &mut self.bbr {
            bbr.on_restart(now);
        } else if self.config.idle_restart && idle > self.rtt.timeout() {
            self.congestion.restart();
        }
        if idle > self.rtt.smoothed().unwrap_or(0) {
            self.congestion.exclude_idle(idle);
        }
        self.last_sent = now;
    }

    /// Whether a sender that paces has to wait; the timer then tells when to go on.
    fn waits_for_its_pace(&mut self, now: u64) -> bool {
        let Some(bbr) = &self.bbr else {
            return false;
        };
        let until = bbr.waits_until(now);
        let to_send =
            self.board.next_hole(self.segment).is_some() || self.written > self.board.sent;
        self.paced_at = until.filter(|_| to_send);
        until.is_some()
    }

    /// Notes whether the congestion window limited the last window of data.
    fn note_usage(&mut self, limited: bool) {
        let flight = self.board.flight();
        if self.board.acknowledged >= self.usage_end
            || limited
            || (!self.usage_limited && flight > self.usage_flight)
        {
            self.usage_limited = limited;
            self.usage_flight = flight;
            self.usage_end = self.board.sent;
        }
    }
}

/// The pacing rate over 2^shift is what leaves at once (`sk_pacing_shift`; 10 unless mac80211 lowers it).
fn pacing_shift(config: &TcpConfig) -> u32 {
    match config.back_pressure {
        BackPressure::SmallQueues(rule) => rule.pacing_shift.unwrap_or(10),
        _ => 10,
    }
}
