//! Cipher work over time: the part that the air hides, and the part that the air waits for.
//!
//! Takes intervals of cipher work as they are scheduled; gives how much of a stretch of time is
//! covered by at least one of them. Schedules no work: `device` does.

use airtoll_units::{Duration, Instant, Span};

/// Cipher work beside one channel, not yet forgotten.
#[derive(Debug, Default)]
pub(crate) struct CipherWork {
    spans: Vec<Span>,
    /// At this many spans those of the past are looked for and dropped.
    limit: usize,
}

/// The least [`CipherWork::limit`].
const MANY: usize = 64;

impl CipherWork {
    /// Notes `effort` of work that ends at `end`; what ended by `booked` may be forgotten.
    #[inline]
    pub fn add(&mut self, end: Instant, effort: Duration, booked: Instant) {
        let start = end - effort;
        // An engine with a queue works without a pause: its jobs make one span.
        if let Some(last) = self.spans.last_mut()
            && start <= last.to
            && end >= last.from
        {
            (last.from, last.to) = (start.min(last.from), end.max(last.to));
            return;
        }
        let span = Span {
            from: start,
            to: end,
        };
        self.add_span(span, booked);
    }

    /// Notes a span that does not touch the last one.
    #[inline(never)]
    fn add_span(&mut self, span: Span, booked: Instant) {
        if self.spans.len() >= self.limit {
            self.forget(booked);
        }
        self.spans.push(span);
    }

    #[cold]
    fn forget(&mut self, booked: Instant) {
        self.spans.retain(|span| span.to > booked);
        self.limit = (self.spans.len() * 2).max(MANY);
        self.spans.reserve(self.limit);
    }

    /// How much of `[from, to]` at least one cipher worked; forgets what ended by `to`.
    pub fn within(&mut self, from: Instant, to: Instant) -> Duration {
        self.spans.sort_unstable();
        let mut covered = Duration::ZERO;
        let mut reached = from;
        for span in &self.spans {
            if span.from >= to {
                break;
            }
            let (start, end) = (span.from.max(reached), span.to.min(to));
            if end > start {
                covered += end - start;
                reached = end;
            }
        }
        self.spans.retain(|span| span.to > to);
        covered
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overlapping_work_counts_once() {
        let t = Instant::from_nanos;
        let d = Duration::from_nanos;
        let mut work = CipherWork::default();
        work.add(t(30), d(20), t(0)); // 10..30
        work.add(t(25), d(5), t(0)); // 20..25, inside
        work.add(t(60), d(20), t(0)); // 40..60
        work.add(t(45), d(10), t(0)); // 35..45
        assert_eq!(work.within(t(0), t(50)), d(20 + 15));
        assert_eq!(
            work.within(t(50), t(100)),
            d(10),
            "what reaches over is kept"
        );
        assert_eq!(work.within(t(100), t(200)), Duration::ZERO);
    }
}
