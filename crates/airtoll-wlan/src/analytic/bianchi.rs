//! Saturation throughput of n equal stations by Bianchi's Markov chain.
//!
//! Takes an exchange, the number of stations and the attempts per frame; gives attempt and
//! collision probabilities and throughput. Source: G. Bianchi, "Performance Analysis of the IEEE
//! 802.11 Distributed Coordination Function", IEEE JSAC 18(3), 2000, equations (7), (9), (13);
//! the retry limit as H. Wu et al., "Performance of Reliable Transport Protocol over IEEE 802.11
//! Wireless LAN", INFOCOM 2002. Its assumptions, and so its own error, are that a station
//! collides with the same probability at every attempt and that a busy medium counts as one slot
//! of back-off; see [`monte_carlo`](super::monte_carlo) for what the rules give without them.

use super::exchange::Exchange;

/// Time that a collision takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CollisionTime {
    /// The frames and the interframe space: bystanders wait no longer (Bianchi's own choice).
    FrameAndSpace,
    /// And the time-out of those that collided, as if all waited for it.
    WithTimeout,
}

/// Solution of the chain.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bianchi {
    /// Probability that a station sends in a slot.
    pub attempt: f64,
    /// Probability that an attempt collides.
    pub collision: f64,
    /// Successful exchanges of all stations per second.
    pub exchanges_per_s: f64,
}

/// Solves the chain for `stations` >= 1 equal saturated stations whose window falls back at the
/// `attempts`-th failure in a row (one more than a frame has attempts, by 10.23.2.2).
#[must_use]
pub fn bianchi(exchange: &Exchange, stations: u32, attempts: u32, cost: CollisionTime) -> Bianchi {
    let others = f64::from(stations.max(1) - 1);
    // p(tau) rises and tau(p) falls, so their crossing is unique and bisection finds it.
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..200 {
        let tau = 0.5 * (low + high);
        let p = 1.0 - libm::pow(1.0 - tau, others);
        if attempt_rate(exchange, p, attempts) > tau {
            low = tau;
        } else {
            high = tau;
        }
    }
    let tau = 0.5 * (low + high);
    let n = f64::from(stations.max(1));
    let idle = libm::pow(1.0 - tau, n);
    let success = n * tau * libm::pow(1.0 - tau, others);
    let collided = (1.0 - idle - success).max(0.0);
    let success_s = (exchange.space + exchange.busy()).as_secs_f64();
    let mut collision_s = (exchange.space + exchange.first_frame).as_secs_f64();
    if cost == CollisionTime::WithTimeout {
        collision_s += exchange.timeout.as_secs_f64();
    }
    let mean_slot_s =
        idle * exchange.slot.as_secs_f64() + success * success_s + collided * collision_s;
    Bianchi {
        attempt: tau,
        collision: 1.0 - libm::pow(1.0 - tau, others),
        exchanges_per_s: success / mean_slot_s,
    }
}

impl Bianchi {
    /// Throughput of all stations, bit/s of application octets.
    #[must_use]
    pub fn throughput_bps(&self, exchange: &Exchange, payload_octets: u32) -> f64 {
        self.exchanges_per_s * f64::from(exchange.msdus) * 8.0 * f64::from(payload_octets)
    }
}

/// tau(p): mean attempts per frame over mean slots per frame. Stage i is reached with p^i and
/// lasts (W_i + 1)/2 slots, its attempt included; W_i doubles up to CWmax + 1.
fn attempt_rate(exchange: &Exchange, p: f64, attempts: u32) -> f64 {
    let widest = f64::from(exchange.cw_max) + 1.0;
    let mut width = f64::from(exchange.cw_min) + 1.0;
    let (mut reached, mut sent, mut slots) = (1.0, 0.0, 0.0);
    for _ in 0..attempts {
        sent += reached;
        slots += reached * (width + 1.0) / 2.0;
        reached *= p;
        width = (2.0 * width).min(widest);
    }
    sent / slots
}

#[cfg(test)]
mod tests {
    use super::*;
    use airtoll_phy::{Band, BasicRates, OfdmRate, TimingSet, TxVector};
    use airtoll_units::Duration;

    #[test]
    fn one_station_is_the_renewal_process() {
        let v = TxVector::ofdm(OfdmRate::M54, Band::Ghz5);
        let e = Exchange::single(&v, BasicRates::ofdm_default(), &TimingSet::OFDM, 1_536);
        let b = bianchi(&e, 1, 7, CollisionTime::FrameAndSpace);
        assert!(b.collision < 1e-12);
        // In the chain the attempt's own slot counts as a slot, so tau = 2/(W+1).
        assert!((b.attempt - 2.0 / 17.0).abs() < 1e-9);
        let rate = 1.0 / e.mean_cycle_s();
        assert!((b.exchanges_per_s / rate - 1.0).abs() < 1e-9);
    }

    #[test]
    fn without_retry_limit_equation_7_holds() {
        let v = TxVector::ofdm(OfdmRate::M54, Band::Ghz5);
        let e = Exchange::single(&v, BasicRates::ofdm_default(), &TimingSet::OFDM, 1_536);
        for n in [2, 5, 10, 20, 50] {
            let b = bianchi(&e, n, 2_000, CollisionTime::FrameAndSpace);
            let (p, w, m) = (b.collision, 16.0, 6.0);
            let once = 1.0 - 2.0 * p;
            let tau = 2.0 * once / (once * (w + 1.0) + p * w * (1.0 - libm::pow(2.0 * p, m)));
            assert!((b.attempt / tau - 1.0).abs() < 1e-6, "{n}");
            let p = 1.0 - libm::pow(1.0 - tau, f64::from(n - 1));
            assert!((p / b.collision - 1.0).abs() < 1e-6, "{n}");
        }
    }

    #[test]
    fn a_longer_collision_costs_throughput() {
        let v = TxVector::ofdm(OfdmRate::M54, Band::Ghz5);
        let e = Exchange::single(&v, BasicRates::ofdm_default(), &TimingSet::OFDM, 1_536);
        let late = Exchange {
            timeout: Duration::from_millis(1),
            ..e
        };
        let per_s = |e, cost| bianchi(e, 10, 7, cost).exchanges_per_s;
        assert!(per_s(&late, CollisionTime::WithTimeout) < per_s(&e, CollisionTime::WithTimeout));
        assert_eq!(
            per_s(&late, CollisionTime::FrameAndSpace),
            per_s(&e, CollisionTime::FrameAndSpace)
        );
    }
}
