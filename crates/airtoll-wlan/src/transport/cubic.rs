//! CUBIC's window growth (RFC 9438).
//!
//! Takes acknowledged octets, simulated time and the round trip; gives the congestion window in
//! congestion avoidance. Never decides when to reduce, only by how much.

/// Aggressiveness, segments per second cubed (RFC 9438 section 5).
const C: f64 = 0.4;
/// Multiplicative decrease (section 4.6).
const BETA: f64 = 0.7;
/// Additive increase that matches Reno's average rate (equation 4): 3 (1 - beta) / (1 + beta).
const ALPHA: f64 = 3.0 * (1.0 - BETA) / (1.0 + BETA);

/// Least growth for each acknowledged segment while no maximum is known: 5 % each round trip, as
/// Linux and ns-3 have it beyond the RFC (a floor under the slow start of the cubic curve).
const BLIND_GROWTH: f64 = 0.05;

/// State over one congestion epoch; windows in segments.
#[derive(Debug, Clone)]
pub(super) struct Cubic {
    fast_convergence: bool,
    /// When the current congestion avoidance stage began, ns.
    epoch_start: Option<u64>,
    /// Window before the last reduction (W_max); 0 before any and after a time-out.
    w_max: f64,
    /// The plateau of the current epoch.
    origin: f64,
    blind_growth: bool,
    /// Reno's full increase once the window before the last reduction is reached.
    full_increase: bool,
    /// Window before the last reduction, not lowered by fast convergence (cwnd_prior).
    cwnd_prior: f64,
    /// Time to climb back to W_max, seconds.
    k: f64,
    /// The window Reno would have (W_est).
    w_est: f64,
    /// Fraction of an octet of window that the last acknowledgements earned.
    earned: f64,
}

impl Cubic {
    pub(super) fn new(fast_convergence: bool, blind_growth: bool, full_increase: bool) -> Self {
        Self {
            fast_convergence,
            epoch_start: None,
            w_max: 0.0,
            origin: 0.0,
            blind_growth,
            full_increase,
            cwnd_prior: 0.0,
            k: 0.0,
            w_est: 0.0,
            earned: 0.0,
        }
    }

    /// Slow-start threshold in octets after a congestion event at `window` octets.
    pub(super) fn reduce(&mut self, window: u64, segment: u64) -> u64 {
        let cwnd = window as f64 / segment as f64;
        self.cwnd_prior = cwnd;
        self.w_max = if self.fast_convergence && cwnd < self.w_max {
            cwnd * (1.0 + BETA) / 2.0
        } else {
            cwnd
        };
        self.epoch_start = None;
        libm::floor(window as f64 * BETA) as u64
    }

    /// After a time-out the old maximum does not apply: the next stage starts at its own plateau
    /// (section 4.8).
    pub(super) fn forget_maximum(&mut self) {
        self.w_max = 0.0;
        self.epoch_start = None;
    }

    /// Shifts the epoch, so that time spent idle does not count as growth (section 5.8).
    pub(super) fn shift_epoch(&mut self, idle: u64) {
        if let Some(start) = &mut self.epoch_start {
            *start += idle;
        }
    }

    /// Octets to add to a window of `window` for `acknowledged` octets at `now` (sections 4.2 to
    /// 4.5).
    pub(super) fn grow(
        &mut self,
        window: u64,
        acknowledged: u64,
        segment: u64,
        now: u64,
        round_trip: u64,
    ) -> u64 {
        let size = segment as f64;
        let cwnd = window as f64 / size;
        let acked = acknowledged as f64 / size;
        let start = match self.epoch_start {
            Some(start) => start,
            None => {
                self.epoch_start = Some(now);
                self.w_est = cwnd;
                self.earned = 0.0;
                if cwnd < self.w_max {
                    self.k = libm::cbrt((self.w_max - cwnd) / C);
                    self.origin = self.w_max;
                } else {
                    // Left slow start without a loss, or grew past the old plateau (section 4.8).
                    self.origin = cwnd;
                    self.k = 0.0;
                }
                now
            }
        };
        let t = (now.saturating_sub(start) + round_trip) as f64 * 1e-9 - self.k;
        let target = (C * t * t * t + self.origin).clamp(cwnd, 1.5 * cwnd);
        let alpha = if self.full_increase && self.w_est >= self.cwnd_prior {
            1.0
        } else {
            ALPHA
        };
        self.w_est += alpha * acked / cwnd;
        let mut rate = (target - cwnd) / cwnd;
        if self.blind_growth && self.w_max == 0.0 {
            rate = rate.max(BLIND_GROWTH);
        }
        self.earned += rate * acked * size;
        let mut octets = libm::floor(self.earned);
        self.earned -= octets;
        let reno = (self.w_est - cwnd) * size;
        if reno > octets {
            octets = libm::floor(reno);
        }
        octets as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: u64 = 1_000;
    const SECOND: u64 = 1_000_000_000;

    /// Acknowledges whole windows every `rtt` from `start` on; gives the window after `rounds`.
    fn run(cubic: &mut Cubic, mut window: u64, rtt: u64, start: u64, rounds: u64) -> u64 {
        for round in 0..rounds {
            let mut left = window;
            while left > 0 {
                let acked = left.min(MSS);
                window += cubic.grow(window, acked, MSS, start + round * rtt, rtt);
                left -= acked;
            }
        }
        window
    }

    #[test]
    fn reduces_to_seven_tenths() {
        let mut cubic = Cubic::new(true, true, true);
        assert_eq!(cubic.reduce(100 * MSS, MSS), 70 * MSS);
        // A second loss below the old maximum gives way (fast convergence).
        cubic.reduce(80 * MSS, MSS);
        assert!((cubic.w_max - 68.0).abs() < 1e-9);
    }

    #[test]
    fn returns_to_the_old_maximum_after_k() {
        let mut cubic = Cubic::new(true, true, true);
        let window = cubic.reduce(1_000 * MSS, MSS);
        let rtt = SECOND / 10;
        // K = cbrt(1000 * 0.3 / 0.4) = 9.086 s: equation 2.
        let at_k = run(&mut cubic, window, rtt, 0, 91);
        assert!((995 * MSS..=1_003 * MSS).contains(&at_k), "{at_k}");
        assert!((cubic.k - 9.0856).abs() < 1e-3);
        let later = run(&mut cubic, at_k, rtt, 91 * rtt, 40);
        // W_cubic(13.1 + 0.1) = 0.4 * 4.11^3 + 1000 = 1027.8.
        assert!((1_022 * MSS..=1_031 * MSS).contains(&later), "{later}");
    }

    #[test]
    fn follows_reno_where_reno_is_faster() {
        let mut cubic = Cubic::new(true, true, true);
        let window = cubic.reduce(20 * MSS, MSS);
        // Round trip 5 ms: W_est grows alpha segments each round, 3 * 0.3 / 1.7 = 0.529.
        let after = run(&mut cubic, window, SECOND / 200, 0, 10);
        let grown = (after - window) as f64 / MSS as f64;
        assert!((grown - 5.29).abs() < 0.6, "{grown}");
    }
}
