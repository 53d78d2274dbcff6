//! Long transfers compared with the limit of a bottleneck or a window.

use airtoll_wlan::transport::{CongestionControl, TcpConfig};

use crate::link::{Fate, Link};

const SECOND: u64 = 1_000_000_000;
const MS: u64 = 1_000_000;

fn flavours() -> Vec<(String, TcpConfig)> {
    let mut out = Vec::new();
    for congestion in [CongestionControl::NewReno, CongestionControl::Cubic] {
        for sack in [false, true] {
            for prr in [false, true] {
                for timestamps in [false, true] {
                    out.push((
                        format!("{congestion:?} sack={sack} prr={prr} ts={timestamps}"),
                        TcpConfig {
                            congestion,
                            sack,
                            prr,
                            timestamps,
                            ..TcpConfig::default()
                        },
                    ));
                }
            }
        }
    }
    out
}

/// Payload bits per second delivered between `from` and `to` seconds.
fn goodput(link: &mut Link, from: u64, to: u64) -> f64 {
    link.sender.saturate();
    link.run_until(from * SECOND);
    let before = link.delivered;
    link.run_until(to * SECOND);
    (link.delivered - before) as f64 * 8.0 / (to - from) as f64
}

#[test]
fn a_window_above_the_delay_product_fills_the_bottleneck() {
    // 20 Mb/s, 20 ms round trip: 50 kB in flight; the queue holds what the window adds, so
    // nothing is lost.
    for (name, config) in flavours() {
        let mut link = Link::new(&config, 20_000_000, 10 * MS, 1_000);
        let got = goodput(&mut link, 2, 12);
        let payload = f64::from(config.segment_payload());
        let most = 20e6 * payload / 1500.0;
        assert!(
            got >= 0.99 * most && got <= 1.001 * most,
            "{name}: {got} of {most}"
        );
        assert_eq!(link.queue_drops, 0, "{name}");
        assert_eq!(link.sender.statistics().retransmitted_segments, 0, "{name}");
    }
}

#[test]
fn a_drop_tail_queue_of_one_delay_product_keeps_the_bottleneck_busy() {
    for (name, config) in flavours() {
        let config = TcpConfig {
            receive_window: 1 << 20,
            ..config
        };
        // 33 packets of delay product and a queue of 50.
        let mut link = Link::new(&config, 20_000_000, 10 * MS, 50);
        let got = goodput(&mut link, 5, 65);
        let most = 20e6 * f64::from(config.segment_payload()) / 1500.0;
        assert!(link.queue_drops > 0, "{name}: the queue must overflow");
        assert!(got >= 0.99 * most, "{name}: {got} of {most}");
        let timeouts = link.sender.statistics().timeouts;
        assert!(timeouts <= 1, "{name}: {timeouts} time-outs");
    }
}

#[test]
fn a_window_below_the_delay_product_gives_window_over_round_trip() {
    for receive_window in [8_192, 16_384, 65_536, 131_072, 262_144] {
        for window_scaling in [true, false] {
            let config = TcpConfig {
                receive_window,
                window_scaling,
                ..TcpConfig::default()
            };
            let mut link = Link::new(&config, 1_000_000_000, 50 * MS, 10_000);
            let got = goodput(&mut link, 5, 25);
            let window = if window_scaling {
                receive_window
            } else {
                receive_window.min(65_535)
            };
            // Whole segments only, and an odd last one waits for the delayed acknowledgement unless
            // the window ends on a pair; a round takes the transmission time of what is
            // acknowledged first.
            let whole = window / 1460;
            let pairs = whole / 2 * 2;
            let round = 0.1 + 2.0 * 1500.0 * 8.0 / 1e9;
            let most = (whole * 1460) as f64 * 8.0 / round;
            let least = (pairs * 1460) as f64 * 8.0 / round;
            assert!(
                got >= 0.99 * least && got <= 1.01 * most,
                "{window}: {got} not in {least}..{most}"
            );
        }
    }
}

#[test]
fn steady_state_neither_grows_memory_nor_slows() {
    // 600 simulated seconds of overflow at 20 Mb/s: a million segments.
    let config = TcpConfig::default();
    let mut link = Link::new(&config, 20_000_000, 10 * MS, 20);
    link.sender.saturate();
    link.run_until(600 * SECOND);
    assert!(link.data_sent > 950_000, "{}", link.data_sent);
    assert!(link.queue_drops > 10);
}

fn bbr() -> TcpConfig {
    TcpConfig {
        congestion: CongestionControl::Bbr,
        receive_window: 4 << 20,
        ..TcpConfig::default()
    }
}

#[test]
fn bbr_fills_the_bottleneck_and_leaves_the_queue_short() {
    // 20 Mb/s and 20 ms: 33 packets of delay product. CUBIC fills a queue of any length.
    let most = 20e6 * f64::from(bbr().segment_payload()) / 1500.0;
    for queue in [50, 1_000] {
        let mut link = Link::new(&bbr(), 20_000_000, 10 * MS, queue).recorded();
        let got = goodput(&mut link, 2, 12);
        assert!(got >= 0.96 * most, "{queue}: {got} of {most}");
        // Two products and three bursts of 1/128 s.
        let flight = link.sender.flight();
        assert!(flight < 165_000, "{queue}: {flight}");
        assert_eq!(link.sender.statistics().timeouts, 0);
    }
}

#[test]
fn bbr_keeps_its_rate_under_random_losses_that_halve_cubic() {
    let of = |congestion| {
        let config = TcpConfig {
            congestion,
            ..bbr()
        };
        // Every hundredth segment is lost, on a path whose round trip is 40 ms.
        let mut link = Link::new(&config, 20_000_000, 20 * MS, 1_000).data_fate(|n, _| {
            if n % 100 == 99 {
                Fate::Drop
            } else {
                Fate::Pass
            }
        });
        goodput(&mut link, 2, 22)
    };
    let (cubic, bbr) = (of(CongestionControl::Cubic), of(CongestionControl::Bbr));
    assert!(bbr > 17e6, "{bbr}");
    assert!(cubic < 0.5 * bbr, "{cubic} and {bbr}");
}

#[test]
fn bbr_looks_for_the_shortest_round_trip_every_ten_seconds() {
    let mut link = Link::new(&bbr(), 20_000_000, 10 * MS, 1_000).recorded();
    goodput(&mut link, 2, 25);
    let least = |from: u64, to: u64| {
        let windows = link.windows.iter();
        let of = windows.filter(|&&(at, _, _)| (from * SECOND..to * SECOND).contains(&at));
        of.map(|&(_, _, window)| window).min().unwrap() / link.sender.segment_payload()
    };
    assert!(least(3, 9) > 30);
    assert_eq!(
        least(9, 13),
        4,
        "the least window of a probe of the round trip"
    );
    assert!(least(13, 19) > 30);
}

#[test]
fn a_paced_sender_spreads_a_window_over_the_round_trip() {
    // 17 segments of delay product.
    let most = |congestion| {
        let config = TcpConfig {
            congestion,
            ..bbr()
        };
        let mut link = Link::new(&config, 2_000_000, 50 * MS, 1_000);
        goodput(&mut link, 2, 4);
        link.queue_most = 0;
        link.run_until(8 * SECOND);
        link.queue_most
    };
    assert!(most(CongestionControl::Bbr) <= 17);
    assert!(most(CongestionControl::Cubic) > 100);
}
