//! The sender's state of each outstanding octet: sacked, lost, retransmitted.
//!
//! Takes cumulative and selective acknowledgements; gives the octets believed in flight ("pipe",
//! RFC 6675 section 4) and the next range to send again. Never stores per-segment state: losses
//! and retransmissions are both prefixes of the stream (`lost_edge`, `resent_edge`), because loss is
//! inferred from what arrived above and holes are filled in rising order. Retransmissions that are
//! lost in turn are a set of their own.

use super::ranges::{RangeSet, StreamRange};

/// Octet counts over `[acknowledged, sent)`.
#[derive(Debug, Clone, Default)]
pub(super) struct Scoreboard {
    /// Everything below has been acknowledged (SND.UNA).
    pub(super) acknowledged: u64,
    /// One past the highest octet sent (SND.NXT).
    pub(super) sent: u64,
    ranges: RangeSet,
    /// Octets known to have left the network above `acknowledged`: in `ranges`, or estimated from
    /// duplicate acknowledgements without SACK (RFC 6582's window inflation, seen from below).
    sacked: u64,
    /// Every octet below that is not sacked is lost or was.
    lost_edge: u64,
    lost: u64,
    /// Every octet below that is not sacked was sent again.
    resent_edge: u64,
    /// Octets below `resent_edge` that are not sacked and not in `lost_again`.
    resent: u64,
    /// Octets below `resent_edge`, none of them sacked, whose retransmission is lost too.
    lost_again: RangeSet,
}

impl Scoreboard {
    /// Octets sent and not acknowledged (FlightSize, RFC 5681).
    pub(super) fn flight(&self) -> u64 {
        self.sent - self.acknowledged
    }

    /// Octets believed in the network (RFC 6675 `SetPipe`).
    pub(super) fn pipe(&self) -> u64 {
        (self.flight() + self.resent).saturating_sub(self.sacked + self.lost)
    }

    /// Octets sacked, or estimated to be.
    pub(super) fn sacked(&self) -> u64 {
        self.sacked
    }

    /// Octets found lost and not known to have arrived.
    pub(super) fn lost(&self) -> u64 {
        self.lost
    }

    /// Start of the first sacked range above `from`.
    pub(super) fn first_sacked_above(&self, from: u64) -> Option<u64> {
        let end = self.ranges.next_gap(from).end;
        (end != u64::MAX).then_some(end)
    }

    /// Records a cumulative acknowledgement; `to` lies in `(acknowledged, sent]`.
    pub(super) fn acknowledge(&mut self, to: u64) {
        let from = self.acknowledged;
        let (lost_edge, resent_edge) = (self.lost_edge, self.resent_edge);
        let (mut lost, mut resent, mut missing) = (0, 0, 0);
        self.ranges.for_each_gap(from, to, |s, e| {
            lost += overlap(s, e, lost_edge);
            resent += overlap(s, e, resent_edge);
            missing += e - s;
        });
        self.lost -= lost;
        self.resent -= resent - self.find_again(from, to);
        if self.ranges.is_empty() {
            self.sacked = self.sacked.min(self.sent - to);
        } else {
            self.sacked -= (to - from) - missing;
            self.ranges.remove_below(to);
        }
        self.acknowledged = to;
        self.lost_edge = lost_edge.max(to);
        self.resent_edge = resent_edge.max(to);
    }

    /// Records one SACK block, clipped to what is outstanding; gives the octets that are new.
    pub(super) fn sack(&mut self, start: u64, end: u64) -> u64 {
        let (start, end) = (start.max(self.acknowledged), end.min(self.sent));
        if start >= end {
            return 0;
        }
        let (lost_edge, resent_edge) = (self.lost_edge, self.resent_edge);
        let (mut lost, mut resent, mut new) = (0, 0, 0);
        self.ranges.for_each_gap(start, end, |s, e| {
            lost += overlap(s, e, lost_edge);
            resent += overlap(s, e, resent_edge);
            new += e - s;
        });
        if new > 0 {
            self.lost -= lost;
            self.resent -= resent - self.find_again(start, end);
            self.sacked += new;
            self.ranges.insert(start, end);
        }
        new
    }

    /// Octets of `[start, end)` that had been lost again and have arrived: they count no more.
    fn find_again(&mut self, start: u64, end: u64) -> u64 {
        if self.lost_again.is_empty() {
            return 0;
        }
        let octets = (end - start) - self.lost_again.missing(start, end);
        self.lost_again.remove(start, end);
        octets
    }

    /// The parts of one SACK block that are outstanding and not known yet.
    pub(super) fn for_each_new(&self, start: u64, end: u64, new: impl FnMut(u64, u64)) {
        let (start, end) = (start.max(self.acknowledged), end.min(self.sent));
        if start < end {
            self.ranges.for_each_gap(start, end, new);
        }
    }

    /// Without SACK: one more segment of `octets` has left the network.
    pub(super) fn estimate_arrival(&mut self, octets: u64) {
        self.sacked = (self.sacked + octets).min(self.flight().saturating_sub(self.lost));
    }

    /// Without SACK: `octets` counted as arrived have been acknowledged.
    pub(super) fn forget_arrivals(&mut self, octets: u64) {
        self.sacked = self.sacked.saturating_sub(octets);
    }

    /// RFC 6675 `IsLost`: everything not sacked below an octet above which `threshold` separate ranges or more
    /// than `(threshold - 1) * segment` octets are sacked. Gives whether anything new is lost.
    pub(super) fn mark_lost_by_sack(&mut self, threshold: u32, segment: u64) -> bool {
        let enough = u64::from(threshold - 1) * segment;
        let mut above = 0;
        let mut ranges = 0;
        for range in self.ranges.as_slice().iter().rev() {
            above += range.octets();
            ranges += 1;
            if ranges >= threshold || above > enough {
                return self.mark_lost_below(range.start);
            }
        }
        false
    }

    /// Everything not sacked below `edge` is lost. Gives whether anything new is.
    pub(super) fn mark_lost_below(&mut self, edge: u64) -> bool {
        let edge = edge.min(self.sent);
        if edge <= self.lost_edge {
            return false;
        }
        let new = self.ranges.missing(self.lost_edge, edge);
        self.lost += new;
        self.lost_edge = edge;
        new > 0
    }

    /// The last transmission of `[start, end)` is lost: for the first time, with everything below that is
    /// not sacked, or again. Gives whether anything new is.
    pub(super) fn mark_lost(&mut self, start: u64, end: u64) -> bool {
        let (low, high) = (start.max(self.acknowledged), end.min(self.resent_edge));
        let mut again = 0;
        if low < high {
            let mut parts = Vec::new();
            self.ranges
                .for_each_gap(low, high, |s, e| parts.push((s, e)));
            for (s, e) in parts {
                again += self.lost_again.missing(s, e);
                self.lost_again.insert(s, e);
            }
            self.resent -= again;
        }
        let first = self.mark_lost_below(end);
        first || again > 0
    }

    /// After a time-out: everything not sacked is lost and nothing has been sent again.
    pub(super) fn mark_all_lost(&mut self, selective: bool) {
        if !selective {
            self.ranges.clear();
            self.sacked = 0;
        }
        self.lost_edge = self.sent;
        self.lost = self.flight() - self.sacked;
        self.resent_edge = self.acknowledged;
        self.resent = 0;
        self.lost_again.clear();
    }

    /// Takes back loss marks when the loss proves not to have been one.
    pub(super) fn unmark_lost(&mut self) {
        self.lost = 0;
        self.lost_edge = self.acknowledged;
        self.resent = 0;
        self.resent_edge = self.acknowledged;
        self.lost_again.clear();
    }

    /// The next lost range to send again, at most `limit` octets.
    pub(super) fn next_hole(&self, limit: u64) -> Option<StreamRange> {
        if let Some(again) = self.lost_again.as_slice().first() {
            let end = again.end.min(again.start.saturating_add(limit));
            return Some(StreamRange {
                start: again.start,
                end,
            });
        }
        if self.resent_edge >= self.lost_edge {
            return None;
        }
        let gap = self
            .ranges
            .next_gap(self.resent_edge.max(self.acknowledged));
        let start = gap.start;
        let end = gap.end.min(self.lost_edge).min(start.saturating_add(limit));
        (start < end).then_some(StreamRange { start, end })
    }

    /// Records that a range of [`Self::next_hole`] was sent again.
    pub(super) fn resend(&mut self, hole: StreamRange) {
        if hole.start < self.resent_edge {
            self.lost_again.remove(hole.start, hole.end);
        } else {
            self.resent_edge = hole.end;
        }
        self.resent += hole.octets();
    }
}

/// Octets of `[start, end)` below `edge`.
fn overlap(start: u64, end: u64, edge: u64) -> u64 {
    end.min(edge).saturating_sub(start)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const MSS: u64 = 1_000;

    fn outstanding(segments: u64) -> Scoreboard {
        Scoreboard {
            sent: segments * MSS,
            ..Scoreboard::default()
        }
    }

    #[test]
    fn three_sacked_segments_above_mean_loss() {
        let mut board = outstanding(10);
        board.sack(MSS, 3 * MSS);
        assert!(!board.mark_lost_by_sack(3, MSS));
        board.sack(3 * MSS, 4 * MSS);
        assert!(board.mark_lost_by_sack(3, MSS));
        assert_eq!(board.pipe(), 6 * MSS);
        let hole = StreamRange { start: 0, end: MSS };
        assert_eq!(board.next_hole(MSS), Some(hole));
        board.resend(hole);
        assert_eq!(board.pipe(), 7 * MSS);
        assert_eq!(board.next_hole(MSS), None);
        board.acknowledge(4 * MSS);
        assert_eq!(board.pipe(), 6 * MSS);
        assert_eq!(board.sacked(), 0);
    }

    #[test]
    fn three_separate_ranges_mean_loss_however_small() {
        let mut board = outstanding(10);
        for start in [500, 1_500, 2_500] {
            assert!(!board.mark_lost_by_sack(3, MSS));
            board.sack(start, start + 10);
        }
        assert!(board.mark_lost_by_sack(3, MSS));
        // Only what lies below the lowest of the three.
        assert_eq!(board.lost, 500);
    }

    #[test]
    fn a_time_out_goes_back_over_the_holes_only() {
        let mut board = outstanding(6);
        board.sack(2 * MSS, 3 * MSS);
        board.sack(4 * MSS, 5 * MSS);
        board.mark_all_lost(true);
        assert_eq!(board.pipe(), 0);
        let mut sent = Vec::new();
        while let Some(hole) = board.next_hole(MSS) {
            board.resend(hole);
            sent.push(hole.start / MSS);
        }
        assert_eq!(sent, [0, 1, 3, 5]);
        assert_eq!(board.pipe(), 4 * MSS);
    }

    proptest! {
        // The running counts against a recount of every octet.
        #[test]
        fn counts_match_a_recount(steps in prop::collection::vec((0u8..6, 0u64..40, 1u64..12), 1..80)) {
            let mut board = outstanding(0);
            let (mut sacked, mut edge_l, mut edge_r) = (vec![false; 4_000], 0u64, 0u64);
            let mut again = vec![false; 4_000];
            for (kind, a, b) in steps {
                match kind {
                    0 => board.sent = (board.sent + b).min(3_900),
                    1 => {
                        let (s, e) = (board.acknowledged + a, (board.acknowledged + a + b).min(board.sent));
                        board.sack(s, e);
                        for i in s..e { sacked[i as usize] = true; }
                    }
                    2 => {
                        let to = (board.acknowledged + b).min(board.sent);
                        if to > board.acknowledged { board.acknowledge(to); }
                    }
                    3 => { board.mark_lost_below(board.acknowledged + a); edge_l = edge_l.max((board.acknowledged + a).min(board.sent)); }
                    4 => {
                        // Only what was sent again can be lost again.
                        let (s, e) = (board.acknowledged + a, (board.acknowledged + a + b).min(edge_r));
                        if s < e {
                            board.mark_lost(s, e);
                            for i in s..e { again[i as usize] = true; }
                        }
                    }
                    _ => if let Some(hole) = board.next_hole(b) {
                        let (s, e) = (hole.start, hole.end);
                        prop_assert!((s..e).all(|i| !sacked[i as usize]));
                        board.resend(hole);
                        for i in s..e { again[i as usize] = false; }
                        edge_r = edge_r.max(e);
                    }
                }
                let open = |below: u64| (board.acknowledged..board.sent.min(below))
                    .filter(|i| !sacked[*i as usize]).count() as u64;
                prop_assert_eq!(board.lost, open(edge_l));
                let lost_twice = (board.acknowledged..board.sent)
                    .filter(|i| again[*i as usize] && !sacked[*i as usize]).count() as u64;
                prop_assert_eq!(board.resent, open(edge_r) - lost_twice);
                prop_assert_eq!(board.sacked, board.flight() - open(u64::MAX));
                prop_assert!(board.resent <= board.lost);
            }
        }
    }
}
