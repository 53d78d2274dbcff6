//! Michael, the MIC of TKIP's MSDUs (IEEE 802.11-2020, 12.5.2.3), and its countermeasures.
//!
//! Takes a 64-bit key, a pseudo-header and an MSDU; gives 64 bits of MIC. Michael resists forgery
//! for about 2^29 tries only, hence [`Countermeasures`]. Never resists anyone who knows one
//! plaintext: it can be run backwards to its key.

use airtoll_units::{Duration, Instant};
use zeroize::Zeroize;

/// Michael as a running computation.
#[derive(Clone)]
pub struct Michael {
    l: u32,
    r: u32,
    pending: [u8; 4],
    filled: usize,
}

impl Michael {
    /// Starts with a key.
    #[must_use]
    pub fn new(key: &[u8; 8]) -> Self {
        let [a, b, c, d, e, f, g, h] = *key;
        Self {
            l: u32::from_le_bytes([a, b, c, d]),
            r: u32::from_le_bytes([e, f, g, h]),
            pending: [0; 4],
            filled: 0,
        }
    }

    /// Takes more octets.
    pub fn update(&mut self, mut data: &[u8]) {
        while self.filled > 0 && !data.is_empty() {
            self.push(data[0]);
            data = &data[1..];
        }
        let (words, rest) = data.as_chunks::<4>();
        for word in words {
            self.word(u32::from_le_bytes(*word));
        }
        rest.iter().for_each(|&octet| self.push(octet));
    }

    /// Pads with 0x5a and zeros and gives the MIC.
    #[must_use]
    pub fn finish(mut self) -> [u8; 8] {
        self.push(0x5a);
        while self.filled > 0 {
            self.push(0);
        }
        self.word(0);
        let mut mic = [0; 8];
        mic[..4].copy_from_slice(&self.l.to_le_bytes());
        mic[4..].copy_from_slice(&self.r.to_le_bytes());
        mic
    }

    fn push(&mut self, octet: u8) {
        self.pending[self.filled] = octet;
        self.filled += 1;
        if self.filled == 4 {
            self.filled = 0;
            self.word(u32::from_le_bytes(self.pending));
        }
    }

    #[inline]
    fn word(&mut self, word: u32) {
        let (mut l, mut r) = (self.l ^ word, self.r);
        r ^= l.rotate_left(17);
        l = l.wrapping_add(r);
        r ^= (l & 0xff00_ff00) >> 8 | (l & 0x00ff_00ff) << 8;
        l = l.wrapping_add(r);
        r ^= l.rotate_left(3);
        l = l.wrapping_add(r);
        r ^= l.rotate_right(2);
        l = l.wrapping_add(r);
        (self.l, self.r) = (l, r);
    }
}

impl Drop for Michael {
    fn drop(&mut self) {
        self.l.zeroize();
        self.r.zeroize();
        self.pending.zeroize();
    }
}

/// The 16 octets that stand before an MSDU: DA, SA, priority, three zeros (12.5.2.3.2).
#[must_use]
pub fn pseudo_header(destination: [u8; 6], source: [u8; 6], priority: u8) -> [u8; 16] {
    let mut header = [0; 16];
    header[..6].copy_from_slice(&destination);
    header[6..12].copy_from_slice(&source);
    header[12] = priority;
    header
}

/// MIC of a whole MSDU.
#[must_use]
pub fn michael(key: &[u8; 8], pseudo_header: &[u8; 16], msdu: &[u8]) -> [u8; 8] {
    let mut state = Michael::new(key);
    state.update(pseudo_header);
    state.update(msdu);
    state.finish()
}

/// Countermeasure that a MIC failure requires.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reaction {
    /// Report it (a station tells its AP with an EAPOL-Key frame) and go on.
    Report,
    /// Second failure within 60 s: delete the keys, deauthenticate, use no TKIP until then.
    Suspend {
        /// When TKIP may be used again.
        until: Instant,
    },
}

/// TKIP countermeasures (IEEE 802.11-2020, 12.5.2.4): two MIC failures within 60 s suspend TKIP
/// for 60 s. The caller tells the time.
#[derive(Clone, Debug, Default)]
pub struct Countermeasures {
    last_failure: Option<Instant>,
    suspended_until: Option<Instant>,
}

impl Countermeasures {
    /// Both the window in which failures add up and the length of the suspension.
    pub const PERIOD: Duration = Duration::from_nanos(60_000_000_000);

    /// No failure yet.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            last_failure: None,
            suspended_until: None,
        }
    }

    /// Notes a Michael failure of a frame whose ICV and TSC were right.
    pub fn failure(&mut self, now: Instant) -> Reaction {
        let again = self
            .last_failure
            .is_some_and(|last| now < last + Self::PERIOD);
        self.last_failure = Some(now);
        if !again {
            return Reaction::Report;
        }
        let until = now + Self::PERIOD;
        self.suspended_until = Some(until);
        Reaction::Suspend { until }
    }

    /// Whether TKIP is suspended.
    #[must_use]
    pub fn active(&self, now: Instant) -> bool {
        self.suspended_until.is_some_and(|until| now < until)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hex_literal::hex;

    /// IEEE 802.11-2020, J.6.1 (table of Michael test vectors; each MIC keys the next).
    #[test]
    fn annex_j_michael() {
        let mut key = [0; 8];
        for (message, mic) in [
            ("", hex!("82925c1ca1d130b8")),
            ("M", hex!("434721ca40639b3f")),
            ("Mi", hex!("e8f9becae97e5d29")),
            ("Mic", hex!("90038fc6cf13c1db")),
            ("Mich", hex!("d55e100510128986")),
            ("Michael", hex!("0a942b124ecaa546")),
        ] {
            let mut state = Michael::new(&key);
            state.update(message.as_bytes());
            assert_eq!(state.finish(), mic, "{message}");
            key = mic;
        }
    }

    #[test]
    fn pieces_are_the_whole() {
        let text: Vec<u8> = (0..50).collect();
        for cut in 0..50 {
            let mut state = Michael::new(&[7; 8]);
            state.update(&[1; 16]);
            state.update(&text[..cut]);
            state.update(&text[cut..]);
            assert_eq!(state.finish(), michael(&[7; 8], &[1; 16], &text));
        }
    }

    #[test]
    fn second_failure_within_a_minute_suspends() {
        let at = |seconds: u64| Instant::from_nanos(seconds * 1_000_000_000);
        let mut state = Countermeasures::new();
        assert_eq!(state.failure(at(0)), Reaction::Report);
        assert_eq!(state.failure(at(60)), Reaction::Report);
        assert!(!state.active(at(61)));
        assert_eq!(state.failure(at(100)), Reaction::Suspend { until: at(160) });
        assert!(state.active(at(159)));
        assert!(!state.active(at(160)));
    }
}
