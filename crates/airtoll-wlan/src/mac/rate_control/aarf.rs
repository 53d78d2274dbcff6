//! AARF: adaptive automatic rate fallback.
//!
//! M. Lacage, M. H. Manshaei, T. Turletti, "IEEE 802.11 Rate Adaptation: A Practical Approach",
//! MSWiM 2004, section 4: up after a number of successes, down after two failures; a failure of
//! the first frame at a new rate goes back at once and doubles the number, up to 50.

use crate::id::ModeId;

/// State of one link.
#[derive(Debug)]
pub(crate) struct Aarf {
    /// Modes by rising rate.
    modes: Vec<ModeId>,
    at: usize,
    successes: u32,
    failures: u32,
    threshold: u32,
    /// The next report is of the first frame at a higher rate.
    probing: bool,
}

const FIRST_THRESHOLD: u32 = 10;
const HIGHEST_THRESHOLD: u32 = 50;

impl Aarf {
    pub fn new(modes: Vec<ModeId>) -> Self {
        Self {
            at: modes.len() - 1,
            modes,
            successes: 0,
            failures: 0,
            threshold: FIRST_THRESHOLD,
            probing: false,
        }
    }

    pub fn choose(&self) -> ModeId {
        self.modes[self.at]
    }

    pub fn report(&mut self, success: bool) {
        if success {
            self.failures = 0;
            self.probing = false;
            self.successes += 1;
            if self.successes >= self.threshold && self.at + 1 < self.modes.len() {
                self.at += 1;
                self.successes = 0;
                self.probing = true;
            }
            return;
        }
        self.successes = 0;
        self.failures += 1;
        if self.probing {
            self.threshold = (self.threshold * 2).min(HIGHEST_THRESHOLD);
            self.probing = false;
        } else if self.failures < 2 {
            return;
        } else {
            self.threshold = FIRST_THRESHOLD;
        }
        self.failures = 0;
        self.at = self.at.saturating_sub(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_probe_doubles_the_wait() {
        let mut aarf = Aarf::new([10, 20].map(ModeId::new).to_vec());
        aarf.report(false);
        aarf.report(false);
        assert_eq!(aarf.choose(), ModeId::new(10));
        (0..10).for_each(|_| aarf.report(true));
        assert_eq!(aarf.choose(), ModeId::new(20));
        aarf.report(false);
        assert_eq!(aarf.choose(), ModeId::new(10));
        (0..19).for_each(|_| aarf.report(true));
        assert_eq!(aarf.choose(), ModeId::new(10));
        aarf.report(true);
        assert_eq!(aarf.choose(), ModeId::new(20));
    }
}
