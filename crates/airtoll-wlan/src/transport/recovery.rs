//! Effects of acknowledgements and time-outs on a sender: growth, loss detection, recovery, undo.
//!
//! Takes acknowledgements; changes the sender's scoreboard, window and timer. Never sends: the next
//! [`Sender::poll_transmit`] does.

use airtoll_units::Instant;

use super::bbr::Situation;
use super::hystart::Acknowledged;
use super::ranges::StreamRange;
use super::segment::Ack;
use super::sender::{CongestionState, Phase, RateReduction, Sender, Suspicion};

/// Time-outs in a row after which segments are taken for too long (Linux, `net.ipv4.tcp_retries1`).
const BLACK_HOLE_TIMEOUTS: u32 = 3;
/// Payload of a segment from then on, octets (Linux, `net.ipv4.tcp_base_mss`).
const BLACK_HOLE_SEGMENT: u64 = 1_024;

impl Sender {
    /// Handles one acknowledgement at `now`; poll for segments afterwards.
    pub fn on_ack(&mut self, now: Instant, ack: &Ack) {
        let now = now.as_nanos();
        if ack.syn {
            self.on_syn_ack(now, ack);
            return;
        }
        if self.phase != Phase::Established && self.phase != Phase::Answering {
            return;
        }
        if ack.acknowledged > self.board.sent || ack.acknowledged < self.board.acknowledged {
            return;
        }
        let window_changed = ack.window != self.last_window;
        let edge = ack.acknowledged + ack.window;
        self.last_window = ack.window;
        self.echo = ack.sent_at;
        if edge > self.window_edge {
            self.window_edge = edge;
            self.on_window_opened();
        }

        let acked = ack.acknowledged - self.board.acknowledged;
        let sacked_before = self.board.sacked();
        let (lost_before, in_network_before) = (self.board.lost(), self.board.pipe());
        let (newly_sacked, reported) = self.read_sack(ack);
        let duplicate = acked == 0
            && self.board.flight() > 0
            && if self.config.sack {
                newly_sacked > 0
            } else {
                !window_changed
            };
        let sample = self.valid_sample(now, ack, acked);
        if acked > 0 {
            self.board.acknowledge(ack.acknowledged);
            self.timed_out_at = None;
        }
        if let Some(sample) = sample {
            self.rtt.sample(sample);
        }
        if !self.config.sack {
            self.estimate_arrivals(acked, duplicate);
        }
        if duplicate {
            self.duplicate_acks += 1;
        } else if acked > 0 {
            self.duplicate_acks = 0;
        }
        let delivered = (acked + self.board.sacked()).saturating_sub(sacked_before);
        let newest = self.note_deliveries(now, ack, reported);
        if self.congestion.watches_slow_start() {
            self.congestion.observe_round_trip(Acknowledged {
                now,
                to: ack.acknowledged,
                sent: self.board.sent,
                round_trip: newest.or(sample),
                window: self.congestion.segments(),
                pacing: self.pacing_rate(),
            });
        }
        self.end_tail_probe(ack, acked + newly_sacked, reported);

        self.undo_if_needless(ack, acked);
        match self.state {
            CongestionState::Open => self.in_open(now, acked, delivered),
            CongestionState::Recovery => self.in_recovery(now, acked, delivered),
            CongestionState::Loss => self.in_loss(now, acked, delivered),
        }
        if let Some(bbr) = &mut self.bbr {
            let least = bbr.least_round_trip();
            let sample =
                bbr.rate
                    .on_ack(now, ack.acknowledged, ack.sack.as_slice(), delivered, least);
            let seen = Situation {
                delivered,
                lost: self.board.lost().saturating_sub(lost_before),
                in_network_before,
                in_network: self.board.pipe(),
                recovering: self.state != CongestionState::Open,
                smoothed: self.rtt.smoothed(),
            };
            let window = bbr.on_ack(now, sample, seen, self.congestion.window);
            self.congestion.set_window(window);
        }
        if acked > 0 {
            self.rearm(now);
            self.note_completion(now);
        }
        if self.rack.is_some() && acked + newly_sacked > 0 {
            self.schedule_tail_probe(now);
        }
    }

    /// Tells RACK what an acknowledgement delivers; gives the round trip of the newest segment that
    /// was sent once, ns.
    fn note_deliveries(&mut self, now: u64, ack: &Ack, reported: bool) -> Option<u64> {
        let rack = self.rack.as_mut()?;
        let newest = rack.on_ack(now, ack.acknowledged, &self.fresh);
        self.fresh.clear();
        if reported && self.tail.is_none() {
            rack.on_duplicate(self.board.sent);
        }
        newest
    }

    /// Reads the answer to the probe of the tail: a loss that only the probe has repaired
    /// reduces the window (RFC 8985 section 7.4; `tcp_process_tlp_ack`).
    fn end_tail_probe(&mut self, ack: &Ack, progress: u64, reported: bool) {
        let Some(tail) = self.tail.filter(|tail| ack.acknowledged >= tail.end) else {
            return;
        };
        if !tail.again || reported || progress == 0 {
            self.tail = None;
        } else if ack.acknowledged > tail.end {
            self.tail = None;
            if self.bbr.is_none() && self.state == CongestionState::Open {
                let in_use = self.board.flight().max(self.congestion.window);
                self.congestion.reduce(in_use);
                self.congestion.confirm();
                self.congestion.set_window(self.congestion.threshold);
            }
        }
    }

    /// Segments that were only late until now are lost (RFC 8985 section 6.3).
    pub(super) fn on_reordering_timer(&mut self, now: u64) {
        if !self.find_losses_by_time(now) {
            return;
        }
        match self.state {
            CongestionState::Open => self.enter_recovery(0),
            CongestionState::Recovery if self.config.prr && self.bbr.is_none() => {
                self.reduce_rate(0, 0, true);
            }
            _ => {}
        }
    }

    /// Marks what RACK takes for lost, and plans to look again; gives whether anything is new.
    fn find_losses_by_time(&mut self, now: u64) -> bool {
        let recovering = self.state != CongestionState::Open;
        let Some(rack) = &mut self.rack else {
            return false;
        };
        let eager = recovering || rack.reported() >= self.config.duplicate_threshold;
        let window = rack.reordering_window(eager, self.rtt.smoothed());
        let board = &mut self.board;
        let mut found = false;
        self.reordering_at = rack.detect(now, window, |start, end| {
            found |= board.mark_lost(start, end)
        });
        found
    }

    /// Retransmission time-out: all octets that are not sacked go again (RFC 6298 section 5,
    /// RFC 6675 section 5.1, RFC 5681 section 3.1).
    pub(super) fn on_timeout(&mut self, now: u64) {
        self.statistics.timeouts += 1;
        let in_use = self.board.flight().min(self.congestion.window);
        // Once for each window lost: not again while the same segment times out, and not on top of
        // the reduction that fast recovery has made for the same data.
        let reduced_already = self.timed_out_at == Some(self.board.acknowledged)
            || (self.state == CongestionState::Recovery && self.board.acknowledged < self.recover);
        if !reduced_already {
            match &mut self.bbr {
                Some(bbr) => bbr.on_timeout(self.congestion.window),
                None => self.congestion.reduce(in_use),
            }
            self.suspicion = Some(Suspicion::default());
        }
        self.timed_out_at = Some(self.board.acknowledged);
        self.congestion.collapse();
        self.board.mark_all_lost(self.config.sack);
        self.state = CongestionState::Loss;
        self.recover = self.board.sent;
        self.recovered_before = true;
        self.duplicate_acks = 0;
        self.force_retransmit = false;
        if let Some(rack) = &mut self.rack {
            rack.on_timeout();
        }
        self.forget_probes();
        self.rtt.back_off();
        if self.config.mtu_probing && self.rtt.doublings() >= BLACK_HOLE_TIMEOUTS {
            self.segment = self.segment.min(BLACK_HOLE_SEGMENT);
        }
        self.rearm(now);
    }

    /// Loss is being repaired: the tail is not probed, and late segments are looked for anew.
    fn forget_probes(&mut self) {
        self.reordering_at = None;
        self.probe_at = None;
        self.tail = None;
    }

    fn on_syn_ack(&mut self, now: u64, ack: &Ack) {
        if self.phase != Phase::SynSent {
            // The acknowledgement was lost: repeat it.
            if self.phase == Phase::Established {
                self.phase = Phase::Answering;
            }
            return;
        }
        self.phase = Phase::Answering;
        self.timer = None;
        self.window_edge = ack.window;
        self.last_window = ack.window;
        if self.rtt.doublings() == 0 {
            self.rtt.sample(now.saturating_sub(ack.echo.as_nanos()));
        } else {
            // RFC 5681 section 3.1: after a lost SYN the initial window is one segment.
            self.rtt.distrust_initial();
            self.congestion.collapse();
        }
    }

    /// Reads SACK blocks; gives the octets newly known to have arrived, and whether a duplicate is
    /// reported.
    fn read_sack(&mut self, ack: &Ack) -> (u64, bool) {
        if !self.config.sack {
            return (0, false);
        }
        let blocks = ack.sack.as_slice();
        let mut new = 0;
        let mut reported = false;
        for (i, &StreamRange { start, end }) in blocks.iter().enumerate() {
            // RFC 2883 section 4: a first block below the acknowledgement or inside the second
            // reports a duplicate.
            let duplicate = i == 0
                && (start < ack.acknowledged
                    || blocks
                        .get(1)
                        .is_some_and(|second| start >= second.start && end <= second.end));
            if duplicate {
                reported = true;
                if let Some(suspicion) = &mut self.suspicion {
                    suspicion.unexplained = suspicion.unexplained.saturating_sub(end - start);
                }
            } else {
                if self.rack.is_some() {
                    let fresh = &mut self.fresh;
                    self.board.for_each_new(start, end, |start, end| {
                        fresh.push(StreamRange { start, end });
                    });
                }
                new += self.board.sack(start, end);
            }
        }
        (new, reported)
    }

    /// A round trip in ns, unless Karn's rule forbids one.
    fn valid_sample(&self, now: u64, ack: &Ack, acked: u64) -> Option<u64> {
        let clear = self.config.timestamps || self.board.acknowledged >= self.ambiguous_below;
        (acked > 0 && clear).then(|| now.saturating_sub(ack.echo.as_nanos()))
    }

    /// Without SACK each duplicate acknowledgement is a segment that arrived, and a partial
    /// acknowledgement takes back all but the one segment that had been missing (RFC 6582 section
    /// 3.2 steps 3 and 5, as octets in the network rather than as an inflated window).
    fn estimate_arrivals(&mut self, acked: u64, duplicate: bool) {
        if duplicate {
            self.board.estimate_arrival(self.segment);
        } else if acked > 0 {
            if self.state == CongestionState::Recovery && self.board.acknowledged < self.recover {
                self.board
                    .forget_arrivals(acked.saturating_sub(self.segment));
            } else {
                self.board.forget_arrivals(u64::MAX);
            }
        }
    }

    fn in_open(&mut self, now: u64, acked: u64, delivered: u64) {
        let threshold = self.config.duplicate_threshold;
        let lost = if self.rack.is_some() {
            self.find_losses_by_time(now)
        } else if self.config.sack {
            let marked = self.board.mark_lost_by_sack(threshold, self.segment);
            if !marked && self.duplicate_acks >= threshold {
                // Three duplicates are enough even if small segments carry few octets.
                let edge = self.board.acknowledged + 1;
                self.board.mark_lost_below(edge.max(self.first_hole_end()))
            } else {
                marked
            }
        } else {
            // RFC 6582 section 3.2 step 1: duplicates of data sent before the last recovery do not
            // count.
            let stale = self.recovered_before && self.board.acknowledged <= self.recover;
            self.duplicate_acks >= threshold
                && !stale
                && self
                    .board
                    .mark_lost_below(self.board.acknowledged + self.segment)
        };
        if lost {
            self.enter_recovery(delivered);
        } else if acked > 0 {
            self.grow(now, delivered);
        }
    }

    fn enter_recovery(&mut self, delivered: u64) {
        self.statistics.fast_recoveries += 1;
        let in_use = self.board.flight().min(self.congestion.window);
        match &mut self.bbr {
            Some(bbr) => bbr.save(self.congestion.window),
            None => self.congestion.reduce(in_use),
        }
        self.state = CongestionState::Recovery;
        self.recover = self.board.sent;
        self.recovered_before = true;
        self.force_retransmit = true;
        self.probe_at = None;
        self.tail = None;
        self.suspicion = Some(Suspicion::default());
        self.reduction = RateReduction {
            delivered: 0,
            out: 0,
            before: in_use.max(1),
        };
        if self.bbr.is_some() {
            return;
        }
        if self.config.prr {
            self.reduce_rate(0, delivered, true);
        } else {
            self.congestion.set_window(self.congestion.threshold);
        }
    }

    fn in_recovery(&mut self, now: u64, acked: u64, delivered: u64) {
        if self.board.acknowledged >= self.recover {
            self.leave_recovery();
            if self.rack.is_some() && self.find_losses_by_time(now) {
                self.enter_recovery(delivered);
            }
            return;
        }
        let newly_lost = if self.rack.is_some() {
            self.find_losses_by_time(now)
        } else if self.config.sack {
            self.board
                .mark_lost_by_sack(self.config.duplicate_threshold, self.segment)
        } else if acked > 0 {
            // Partial acknowledgement: the next segment is missing too.
            self.force_retransmit = true;
            self.board
                .mark_lost_below(self.board.acknowledged + self.segment)
        } else {
            false
        };
        if self.config.prr && delivered > 0 && self.bbr.is_none() {
            self.reduce_rate(acked, delivered, newly_lost);
        }
    }

    /// Everything sent before the loss has been acknowledged.
    fn leave_recovery(&mut self) {
        self.state = CongestionState::Open;
        self.duplicate_acks = 0;
        self.force_retransmit = false;
        if let Some(rack) = &mut self.rack {
            rack.on_recovered();
        }
        if self.bbr.is_some() {
            return;
        }
        let window = if self.config.sack || self.config.prr {
            self.congestion.threshold
        } else {
            // RFC 6582 section 3.2 step 3, the bound that avoids a burst.
            let flight = self.board.flight().max(self.segment) + self.segment;
            self.congestion.threshold.min(flight)
        };
        self.congestion.set_window(window);
    }

    /// RFC 6937 section 3.1 with the slow-start bound only while no further loss shows.
    fn reduce_rate(&mut self, acked: u64, delivered: u64, newly_lost: bool) {
        let pipe = self.board.pipe();
        let threshold = self.congestion.threshold;
        let r = &mut self.reduction;
        r.delivered += delivered;
        let send = if pipe > threshold {
            let share = u128::from(r.delivered) * u128::from(threshold);
            let target = share.div_ceil(u128::from(r.before)) as u64;
            target.saturating_sub(r.out)
        } else {
            let mut limit = r.delivered.saturating_sub(r.out).max(delivered);
            if acked > 0 && !newly_lost {
                limit += self.segment;
            }
            limit.min(threshold - pipe)
        };
        let send = if r.out == 0 {
            send.max(self.segment)
        } else {
            send
        };
        self.congestion.set_window(pipe + send);
    }

    fn in_loss(&mut self, now: u64, acked: u64, delivered: u64) {
        if self.board.acknowledged >= self.recover {
            self.state = CongestionState::Open;
            self.duplicate_acks = 0;
            if let Some(rack) = &mut self.rack {
                rack.on_recovered();
            }
        }
        if self.rack.is_some()
            && self.find_losses_by_time(now)
            && self.state == CongestionState::Open
        {
            self.enter_recovery(delivered);
            return;
        }
        if acked > 0 {
            self.grow(now, delivered);
        }
    }

    /// Opens the window if it was in use, by what has newly arrived: octets that SACK had reported
    /// before do not count again when the cumulative acknowledgement passes them (as in Linux), so
    /// that a filled hole brings no burst.
    fn grow(&mut self, now: u64, delivered: u64) {
        if self.bbr.is_some() {
            return;
        }
        let in_use = self.usage_limited
            || (self.congestion.in_slow_start() && self.congestion.window < 2 * self.usage_flight);
        if in_use {
            let round_trip = self.rtt.smoothed().unwrap_or(0);
            self.congestion.grow(delivered, now, round_trip);
        }
    }

    /// End of the first hole, for a loss that only the count of duplicates shows.
    fn first_hole_end(&self) -> u64 {
        let start = self.board.acknowledged;
        self.board
            .first_sacked_above(start)
            .map_or(start, |s| s.min(start + self.segment))
    }

    /// Takes the last reduction back if the original arrived after all: the echo is older than the
    /// first retransmission (RFC 3522), or every octet sent again was reported as a duplicate (RFC
    /// 3708).
    fn undo_if_needless(&mut self, ack: &Ack, acked: u64) {
        let Some(suspicion) = self.suspicion else {
            return;
        };
        let Some(first_resent_at) = suspicion.first_resent_at else {
            return;
        };
        if !self.config.undo {
            return;
        }
        let by_echo = self.config.timestamps
            && acked > 0
            && self.state != CongestionState::Open
            && ack.echo.as_nanos() < first_resent_at;
        let by_duplicates = self.config.dsack && suspicion.unexplained == 0;
        if !by_echo && !by_duplicates {
            if self.config.timestamps && acked > 0 {
                self.suspicion = None;
                self.congestion.confirm();
            }
            return;
        }
        self.suspicion = None;
        self.statistics.undone += 1;
        self.congestion.undo();
        if self.state != CongestionState::Open {
            self.state = CongestionState::Open;
            self.board.unmark_lost();
            self.force_retransmit = false;
        }
        self.duplicate_acks = 0;
    }
}
