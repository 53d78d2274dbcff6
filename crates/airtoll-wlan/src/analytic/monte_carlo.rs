//! DCF and EDCA saturation station by station and slot by slot: the rules without a simulator.
//!
//! Takes an exchange, a number of stations and a seed; gives throughput with its standard error.
//! Every station holds a back-off counter that freezes while the medium is busy. A station that
//! collided waits for the time-out and then for the interframe space; the others decode nothing
//! and wait for the interframe space alone. The window doubles with every failure up to CWmax and
//! falls back after a success. A station's retry counter is its own and not its frame's: a frame
//! is given up at the last allowed failure, the counter falls back only at the failure after it
//! (10.23.2.2: QSRC below the limit is incremented, else it becomes 0), so the next frame starts
//! with the widest window. After an A-MPDU without BlockAck, a BlockAckReq goes first
//! (10.25.6.3) where [`Rules::block_ack_request`] says so. No queues, no payload, no propagation
//! time. Source: IEEE Std 802.11-2020, 10.3.3, 10.3.4.3, 10.3.4.4 and 10.23.2.2.

use airtoll_engine::Streams;
use airtoll_units::Duration;

use super::exchange::Exchange;

/// Length and limits of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rules {
    /// Equal saturated stations.
    pub stations: u32,
    /// Attempts per frame.
    pub attempts: u32,
    /// Exchanges, failed ones included, to play after the warm-up of a tenth as many.
    pub exchanges: u64,
    /// BlockAckReq alone, and with SIFS and BlockAck, that a sender of A-MPDUs transmits after a
    /// missing BlockAck, before it sends data again; `None`: it repeats the A-MPDU.
    pub block_ack_request: Option<[Duration; 2]>,
    /// Under a TXOP limit, the exchange that follows an answered BlockAckReq in the same TXOP: its
    /// SIFS, A-MPDU and response, and its MSDUs, fewer than in a TXOP of their own (10.23.2.9).
    pub after_request: Option<(Duration, u32)>,
    /// Seed of the back-off draws.
    pub seed: u64,
}

/// Result of the simulated exchanges.
#[derive(Debug, Clone, PartialEq)]
pub struct MonteCarlo {
    /// Successful exchanges of all stations per second; shorter ones count by their MSDUs.
    pub exchanges_per_s: f64,
    /// Standard error of that, from twenty batches.
    pub standard_error_per_s: f64,
    /// Share of transmissions that collided.
    pub collision: f64,
    /// Frames given up per frame finished.
    pub dropped: f64,
    /// Successes of each station.
    pub successes: Vec<u64>,
}

#[derive(Clone, Copy)]
struct Station {
    /// From when its counter runs, ns.
    from: u64,
    /// Slots left.
    slots: u32,
    cw: u32,
    /// Failures since the window was last at its least.
    retry: u32,
    /// Failures of the frame at hand.
    failures: u32,
    /// A BlockAckReq comes first.
    asks: bool,
}

/// Runs the exchanges of the stations.
#[must_use]
pub fn monte_carlo(exchange: &Exchange, rules: Rules) -> MonteCarlo {
    const BATCHES: u64 = 20;
    let mut draw = Streams::new(rules.seed).named("analytic/back-off");
    let space = exchange.space.as_nanos();
    let slot = exchange.slot.as_nanos();
    let mut stations: Vec<Station> = (0..rules.stations.max(1))
        .map(|_| Station {
            from: space,
            slots: draw.up_to(exchange.cw_min),
            cw: exchange.cw_min,
            retry: 0,
            failures: 0,
            asks: false,
        })
        .collect();
    let mut out = MonteCarlo {
        exchanges_per_s: 0.0,
        standard_error_per_s: 0.0,
        collision: 0.0,
        dropped: 0.0,
        successes: vec![0; stations.len()],
    };
    let (mut sent, mut collided, mut dropped, mut msdus) = (0_u64, 0_u64, 0_u64, 0_u64);
    let per_exchange = f64::from(exchange.msdus);
    let mut rates = Vec::new();
    let warm_up = rules.exchanges / 10;
    let per_batch = (rules.exchanges / BATCHES).max(1);
    let (mut batch_start, mut batch_msdus, mut started) = (0, 0_u64, 0);
    let mut winners: Vec<usize> = Vec::new();
    for played in 0..warm_up + per_batch * BATCHES {
        let expiry = |s: &Station| s.from + u64::from(s.slots) * slot;
        let now = stations.iter().map(expiry).min().unwrap_or(0);
        winners.clear();
        winners.extend((0..stations.len()).filter(|i| expiry(&stations[*i]) == now));
        let success = winners.len() == 1;
        let own_time = |s: &Station| match (rules.block_ack_request, s.asks) {
            (Some(request), true) if success => {
                request[1] + rules.after_request.map_or(Duration::ZERO, |(time, _)| time)
            }
            (Some(request), true) => request[0],
            _ if success => exchange.busy(),
            _ => exchange.first_frame,
        };
        let ends: Vec<u64> = winners
            .iter()
            .map(|i| now + own_time(&stations[*i]).as_nanos())
            .collect();
        let end = ends.iter().copied().max().unwrap_or(now);
        let counting = played >= warm_up;
        if played == warm_up {
            (batch_start, started) = (now, now);
        }
        for (i, s) in stations.iter_mut().enumerate() {
            if winners.contains(&i) {
                continue;
            }
            if s.from <= now {
                // Under EDCA the boundary that ends AIFS takes one slot off as well.
                let passed = (now - s.from) / slot + u64::from(exchange.edca);
                s.slots = s
                    .slots
                    .saturating_sub(passed.try_into().unwrap_or(u32::MAX));
            }
            s.from = s.from.max(end + space);
        }
        for (i, own_end) in winners.iter().copied().zip(ends) {
            let s = &mut stations[i];
            if success {
                s.from = end + space;
                s.cw = exchange.cw_min;
                s.retry = 0;
                s.failures = 0;
                let delivered = if s.asks {
                    rules.after_request.map_or(0, |(_, msdus)| msdus)
                } else {
                    exchange.msdus
                };
                if counting && delivered > 0 {
                    out.successes[i] += 1;
                    batch_msdus += u64::from(delivered);
                    msdus += u64::from(delivered);
                }
                s.asks = false;
            } else {
                s.from = end.max(own_end + exchange.timeout.as_nanos()) + space;
                s.fail(exchange, &rules);
                if s.failures == rules.attempts {
                    s.failures = 0;
                    dropped += u64::from(counting);
                }
                collided += u64::from(counting);
            }
            sent += u64::from(counting);
            s.slots = draw.up_to(s.cw);
        }
        if counting && (played - warm_up + 1).is_multiple_of(per_batch) {
            rates.push(batch_msdus as f64 / per_exchange / ((end - batch_start) as f64 / 1e9));
            (batch_start, batch_msdus) = (end, 0);
        }
    }
    let successes: u64 = out.successes.iter().sum();
    out.exchanges_per_s = msdus as f64 / per_exchange / ((batch_start - started) as f64 / 1e9);
    let mean = rates.iter().sum::<f64>() / rates.len() as f64;
    let squares = rates.iter().map(|r| (r - mean) * (r - mean)).sum::<f64>();
    let count = rates.len() as f64;
    out.standard_error_per_s = libm::sqrt(squares / (count - 1.0) / count);
    out.collision = collided as f64 / sent as f64;
    out.dropped = dropped as f64 / (dropped + successes) as f64;
    out
}

impl Station {
    fn fail(&mut self, exchange: &Exchange, rules: &Rules) {
        if self.retry < rules.attempts {
            self.retry += 1;
            self.cw = (2 * self.cw + 1).min(exchange.cw_max);
        } else {
            self.retry = 0;
            self.cw = exchange.cw_min;
        }
        if rules.block_ack_request.is_some() && exchange.block_ack {
            // Frames under a block ack agreement are kept until they arrive.
            self.asks = true;
        } else {
            self.failures += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analytic::bianchi::{CollisionTime, bianchi};
    use airtoll_phy::{
        BLOCK_ACK_REQ_OCTETS, Band, BasicRates, DsssRate, Generation, GuardInterval, OfdmRate,
        Preamble, TimingSet, TxVector, Width, airtime, control_response,
    };

    fn a54() -> Exchange {
        let v = TxVector::ofdm(OfdmRate::M54, Band::Ghz5);
        Exchange::single(&v, BasicRates::ofdm_default(), &TimingSet::OFDM, 1_536)
    }

    fn b11() -> Exchange {
        let v = TxVector::dsss(DsssRate::M11, Preamble::Long).unwrap();
        Exchange::single(&v, BasicRates::dsss_default(), &TimingSet::DSSS, 1_536)
    }

    fn play(exchange: &Exchange, stations: u32, seed: u64) -> MonteCarlo {
        let rules = Rules {
            stations,
            attempts: 7,
            exchanges: 100_000,
            block_ack_request: None,
            after_request: None,
            seed,
        };
        monte_carlo(exchange, rules)
    }

    #[test]
    fn a_lone_station_meets_the_closed_form() {
        for exchange in [a54(), b11()] {
            let m = play(&exchange, 1, 1);
            let ratio = m.exchanges_per_s * exchange.mean_cycle_s();
            assert!((ratio - 1.0).abs() < 0.003, "{ratio}");
            assert_eq!(m.collision, 0.0);
        }
    }

    #[test]
    fn ten_stations_of_802_11a_carry_27_5_mbps() {
        let m = play(&a54(), 10, 1);
        let mbps = m.exchanges_per_s * 1_472.0 * 8.0 / 1e6;
        assert!((27.4..27.7).contains(&mbps), "{mbps}");
    }

    #[test]
    fn a_missing_block_ack_costs_a_request() {
        let v = TxVector::of_mcs(
            Generation::Ax,
            11,
            1,
            Width::Mhz80,
            GuardInterval::Ns800,
            Band::Ghz5,
        )
        .unwrap();
        let basic = BasicRates::ofdm_default();
        let spacing = airtoll_phy::MpduSpacing::default();
        let e = Exchange::aggregate(&v, basic, &TimingSet::OFDM, 1_538, 65_535, 256, spacing)
            .under_edca(&TimingSet::OFDM, 3);
        let request = airtime(&control_response(&v, basic), BLOCK_ACK_REQ_OCTETS);
        let rules = |block_ack_request| Rules {
            stations: 10,
            attempts: 7,
            exchanges: 100_000,
            block_ack_request,
            after_request: None,
            seed: 1,
        };
        let with = monte_carlo(&e, rules(Some([request, request + e.response])));
        let without = monte_carlo(&e, rules(None));
        let ratio = with.exchanges_per_s / without.exchanges_per_s;
        assert!((0.8..0.9).contains(&ratio), "{ratio}");
    }

    #[test]
    fn bianchi_is_off_by_what_it_assumes() {
        // The chain keeps its window for eight stages here: the counter falls back one failure
        // after the frame is given up.
        for n in [2, 5, 10, 20, 50] {
            for exchange in [a54(), b11()] {
                let m = play(&exchange, n, 1).exchanges_per_s;
                let plain = bianchi(&exchange, n, 8, CollisionTime::FrameAndSpace);
                let late = bianchi(&exchange, n, 8, CollisionTime::WithTimeout);
                let error = plain.exchanges_per_s / m - 1.0;
                assert!(error.abs() < 0.023, "{n}: {error}");
                let error = late.exchanges_per_s / m - 1.0;
                assert!(error.abs() < 0.07, "{n}: {error}");
            }
        }
    }

    #[test]
    fn equal_stations_get_equal_shares_and_equal_seeds_equal_games() {
        let m = play(&a54(), 5, 7);
        let (least, most) = (m.successes.iter().min(), m.successes.iter().max());
        assert!(*most.unwrap() as f64 / (*least.unwrap() as f64) < 1.1);
        assert_eq!(m, play(&a54(), 5, 7));
        assert_ne!(m, play(&a54(), 5, 8));
    }

    #[test]
    fn edca_counts_the_boundary_after_aifs() {
        // The interrupted stations save a slot per interruption, so less time is idle.
        let dcf = a54();
        let edca = Exchange { edca: true, ..dcf };
        assert!(play(&edca, 10, 1).collision > play(&dcf, 10, 1).collision);
    }
}
