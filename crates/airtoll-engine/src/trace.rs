//! Trace records: what a run did, for tests that compare runs.

use airtoll_units::Instant;

/// Takes the records of a run.
pub trait Trace {
    /// One record: when, what, and three numbers that say which.
    fn record(&mut self, at: Instant, what: &'static str, which: [u64; 3]);
}

/// Every record, kept.
impl Trace for Vec<(Instant, &'static str, [u64; 3])> {
    fn record(&mut self, at: Instant, what: &'static str, which: [u64; 3]) {
        self.push((at, what, which));
    }
}

/// A 64-bit digest of all records: equal runs have equal digests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Digest(pub u64);

impl Default for Digest {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Digest {
    fn mix(&mut self, word: u64) {
        self.0 = (self.0 ^ word)
            .wrapping_mul(0x9e37_79b9_7f4a_7c15)
            .rotate_left(29);
    }
}

impl Trace for Digest {
    fn record(&mut self, at: Instant, what: &'static str, which: [u64; 3]) {
        self.mix(at.as_nanos());
        what.bytes().for_each(|octet| self.mix(u64::from(octet)));
        which.into_iter().for_each(|word| self.mix(word));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_sees_every_part_of_a_record() {
        let digest = |at, what, which| {
            let mut d = Digest::default();
            d.record(Instant::from_nanos(at), what, which);
            d
        };
        let base = digest(1, "send", [1, 2, 3]);
        assert_eq!(base, digest(1, "send", [1, 2, 3]));
        assert_ne!(base, digest(2, "send", [1, 2, 3]));
        assert_ne!(base, digest(1, "sent", [1, 2, 3]));
        assert_ne!(base, digest(1, "send", [1, 3, 2]));
    }
}
