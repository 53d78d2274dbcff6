//! One test for each behaviour that an RFC asks for.

use airtoll_units::Instant;
use airtoll_wlan::transport::{
    CongestionControl, CongestionState, HystartRule, LossDetection, Nagle, Receiver, Segment,
    Sender, StreamRange, TcpConfig, TcpSystem,
};

use crate::link::{Fate, Link};

const SECOND: u64 = 1_000_000_000;
const MS: u64 = 1_000_000;
const MSS: u64 = 1_460;

fn at(ns: u64) -> Instant {
    Instant::from_nanos(ns)
}

fn reno() -> TcpConfig {
    TcpConfig {
        congestion: CongestionControl::NewReno,
        ..TcpConfig::default()
    }
}

fn segments(sender: &mut Sender, now: u64) -> Vec<Segment> {
    std::iter::from_fn(|| sender.poll_transmit(at(now))).collect()
}

fn data(sequence: u64, payload: u32) -> Segment {
    Segment {
        sequence,
        payload,
        syn: false,
        retransmission: false,
        sent_at: at(0),
        echo: at(0),
        header: 20,
    }
}

/// A link of 100 ms round trip on which the data segments numbered `lost` are dropped.
fn lossy(config: &TcpConfig, lost: &'static [u64]) -> Link {
    Link::new(config, 0, 50 * MS, 0).data_fate(move |n, _| {
        if lost.contains(&n) {
            Fate::Drop
        } else {
            Fate::Pass
        }
    })
}

#[test]
fn the_initial_window_is_what_rfc_6928_says_and_can_be_old() {
    for initial_window_segments in [2, 3, 4, 10] {
        let mut sender = Sender::new(&TcpConfig {
            initial_window_segments,
            ..TcpConfig::default()
        });
        sender.saturate();
        let burst = segments(&mut sender, 0);
        assert_eq!(burst.len(), initial_window_segments as usize);
        assert!(burst.iter().all(|s| u64::from(s.payload) == MSS));
    }
}

#[test]
fn a_handshake_takes_one_round_trip_and_gives_a_sample() {
    let config = TcpConfig {
        handshake: true,
        timestamps: true,
        ..TcpConfig::default()
    };
    let mut link = Link::new(&config, 0, 50 * MS, 0);
    link.sender.on_write(1_000);
    link.sender.finish();
    link.run_until(SECOND);
    // SYN, SYN-ACK, data, and its acknowledgement after the receiver's delay.
    let done = link.sender.completed_at().unwrap().as_nanos();
    assert_eq!(done, 200 * MS + 40 * MS);
    assert_eq!(link.delivered, 1_000);
}

#[test]
fn a_finite_transfer_takes_the_rounds_of_slow_start() {
    // 10 + 20 + 40 segments: 70 go in three rounds, the 71st needs a fourth.
    for (count, rounds) in [(10, 1), (30, 2), (70, 3), (71, 4), (150, 4)] {
        let mut link = Link::new(&TcpConfig::default(), 0, 50 * MS, 0);
        link.sender.on_write(count * MSS);
        link.sender.finish();
        link.run_until(10 * SECOND);
        let took = link.sender.completed_at().unwrap().as_nanos();
        // An odd last segment waits for the delayed acknowledgement.
        let expected = rounds * 100 * MS + if count % 2 == 1 { 40 * MS } else { 0 };
        assert_eq!(took, expected, "{count} segments");
    }
}

#[test]
fn a_lost_syn_is_repeated_after_a_second_and_costs_the_initial_window() {
    let config = TcpConfig {
        handshake: true,
        ..TcpConfig::default()
    };
    let mut link = lossy(&config, &[0]);
    link.sender.on_write(100_000);
    link.sender.finish();
    link.run_until(1_090 * MS);
    assert_eq!(link.sender.flight(), 0);
    link.run_until(1_101 * MS);
    assert_eq!(link.sender.flight(), MSS);
    link.run_until(20 * SECOND);
    assert_eq!(link.delivered, 100_000);
}

#[test]
fn the_third_duplicate_retransmits_and_halves() {
    for (sack, prr) in [(false, false), (true, false), (false, true), (true, true)] {
        let config = TcpConfig {
            sack,
            prr,
            ..reno()
        };
        // Number 40 is in the third round (10 + 20 segments before it, 40 in it).
        let mut link = lossy(&config, &[40]);
        link.sender.saturate();
        link.run_until(3 * SECOND);
        let seen = link.sender.statistics();
        assert_eq!(seen.fast_recoveries, 1, "sack={sack} prr={prr}");
        assert_eq!(seen.timeouts, 0, "sack={sack} prr={prr}");
        assert_eq!(seen.retransmitted_segments, 1, "sack={sack} prr={prr}");
        assert!(link.sender.slow_start_threshold().unwrap() >= 20 * MSS);
        assert!(link.sender.slow_start_threshold().unwrap() <= 30 * MSS);
    }
}

#[test]
fn exactly_the_configured_number_of_duplicates_counts_as_loss() {
    for sack in [false, true] {
        for duplicate_threshold in [2, 3, 5] {
            let config = TcpConfig {
                sack,
                duplicate_threshold,
                ..reno()
            };
            let mut sender = Sender::new(&config);
            let mut receiver = Receiver::new(&config);
            sender.saturate();
            let burst = segments(&mut sender, 0);
            for n in 1..=duplicate_threshold {
                assert_eq!(sender.state(), CongestionState::Open, "sack={sack} {n}");
                let late = &burst[n as usize];
                let ack = receiver.on_segment(at(MS), late).ack.unwrap();
                sender.on_ack(at(2 * MS), &ack);
                let resent = segments(&mut sender, 2 * MS)
                    .iter()
                    .filter(|s| s.retransmission)
                    .map(|s| s.sequence)
                    .collect::<Vec<_>>();
                let expected: &[u64] = if n == duplicate_threshold { &[0] } else { &[] };
                assert_eq!(resent, expected, "sack={sack} {n} of {duplicate_threshold}");
            }
            assert_eq!(sender.state(), CongestionState::Recovery);
        }
    }
}

#[test]
fn three_duplicates_of_small_segments_are_loss_too() {
    let config = TcpConfig {
        nagle: Nagle::Off,
        ..reno()
    };
    let mut sender = Sender::new(&config);
    let mut receiver = Receiver::new(&config);
    let mut sent = Vec::new();
    for _ in 0..6 {
        sender.on_write(100);
        sent.extend(segments(&mut sender, 0));
    }
    for late in &sent[1..4] {
        assert_eq!(sender.state(), CongestionState::Open);
        let ack = receiver.on_segment(at(MS), late).ack.unwrap();
        sender.on_ack(at(2 * MS), &ack);
    }
    assert_eq!(sender.state(), CongestionState::Recovery);
    let first = sender.poll_transmit(at(2 * MS)).unwrap();
    assert_eq!((first.sequence, first.payload), (0, 100));
}

#[test]
fn two_duplicates_are_reordering() {
    for sack in [false, true] {
        let config = TcpConfig { sack, ..reno() };
        let fates = |n: u64| if n == 40 { Fate::Late(3) } else { Fate::Pass };
        // A bottleneck spaces segments by 1 ns each here, so number 40 arrives after 41 and 42.
        let mut link =
            Link::new(&config, 12_000_000_000_000, 50 * MS, 1_000).data_fate(move |n, _| fates(n));
        link.sender.saturate();
        link.run_until(SECOND);
        assert_eq!(
            link.sender.statistics().retransmitted_segments,
            0,
            "sack={sack}"
        );
    }
}

#[test]
fn limited_transmit_sends_one_new_segment_for_each_early_duplicate() {
    for (limited_transmit, sent) in [(true, [1, 1]), (false, [0, 0])] {
        let config = TcpConfig {
            limited_transmit,
            initial_window_segments: 4,
            ..reno()
        };
        let mut sender = Sender::new(&config);
        let mut receiver = Receiver::new(&config);
        sender.saturate();
        let burst = segments(&mut sender, 0);
        for (i, segment) in burst[1..3].iter().enumerate() {
            let ack = receiver.on_segment(at(MS), segment).ack.unwrap();
            sender.on_ack(at(2 * MS), &ack);
            let new = segments(&mut sender, 2 * MS);
            assert_eq!(new.len(), sent[i]);
            assert!(new.iter().all(|s| !s.retransmission));
            assert_eq!(sender.state(), CongestionState::Open);
        }
    }
}

#[test]
fn newreno_repairs_one_hole_each_round_trip_and_sack_all_at_once() {
    let lost: &[u64] = &[100, 104, 108, 112];
    let mut ended = Vec::new();
    for sack in [false, true] {
        let config = TcpConfig { sack, ..reno() };
        let mut link = lossy(&config, lost);
        link.sender.saturate();
        let mut out = None;
        for ms in (0..3_000).step_by(5) {
            link.run_until(ms * MS);
            if link.sender.state() == CongestionState::Open
                && link.sender.statistics().fast_recoveries == 1
                && out.is_none()
            {
                out = Some(ms);
            }
        }
        assert_eq!(link.sender.statistics().timeouts, 0);
        assert_eq!(link.sender.statistics().retransmitted_segments, 4);
        ended.push(out.unwrap());
    }
    // Four holes: four round trips against one.
    assert_eq!((ended[0] - ended[1]) / 100, 3, "{ended:?}");
}

#[test]
fn a_time_out_restarts_from_one_segment_and_backs_off() {
    let config = reno();
    // Everything in the first round is lost, and the first retransmission too.
    let mut link = Link::new(&config, 0, 50 * MS, 0)
        .data_fate(|n, _| if n <= 10 { Fate::Drop } else { Fate::Pass });
    link.sender.saturate();
    link.run_until(999 * MS);
    assert_eq!(link.sender.statistics().timeouts, 0);
    link.run_until(1_000 * MS);
    assert_eq!(link.sender.statistics().timeouts, 1);
    assert_eq!(link.sender.congestion_window(), MSS);
    assert_eq!(link.sender.slow_start_threshold(), Some(5 * MSS));
    link.run_until(2_999 * MS);
    assert_eq!(link.sender.statistics().timeouts, 1, "doubled to 2 s");
    link.run_until(3_000 * MS);
    assert_eq!(link.sender.statistics().timeouts, 2);
    assert_eq!(
        link.sender.slow_start_threshold(),
        Some(5 * MSS),
        "held constant"
    );
    link.run_until(6 * SECOND);
    assert!(link.delivered > 100 * MSS);
    // Everything lost went out again once, the head twice.
    assert_eq!(link.sender.statistics().retransmitted_segments, 11);
}

#[test]
fn a_time_out_with_sack_resends_only_what_is_missing() {
    let config = TcpConfig {
        initial_window_segments: 4,
        ..reno()
    };
    let mut sender = Sender::new(&config);
    let mut receiver = Receiver::new(&config);
    sender.saturate();
    let burst = segments(&mut sender, 0);
    // Only the second arrives.
    let ack = receiver.on_segment(at(MS), &burst[1]).ack.unwrap();
    sender.on_ack(at(2 * MS), &ack);
    let _limited = segments(&mut sender, 2 * MS);
    let timeout = sender.next_timer().unwrap();
    sender.on_timer(timeout);
    let mut resent = Vec::new();
    for _ in 0..3 {
        for segment in segments(&mut sender, timeout.as_nanos()) {
            resent.push(segment.sequence / MSS);
            if let Some(ack) = receiver.on_segment(timeout, &segment).ack {
                sender.on_ack(timeout, &ack);
            }
        }
        if let Some(at) = receiver.next_timer()
            && let Some(ack) = receiver.on_timer(at)
        {
            sender.on_ack(at, &ack);
        }
    }
    assert_eq!(resent[..3], [0, 2, 3]);
}

#[test]
fn karn_takes_no_sample_from_what_was_sent_twice_unless_timestamps_tell() {
    for timestamps in [false, true] {
        let config = TcpConfig {
            timestamps,
            handshake: true,
            ..reno()
        };
        // The handshake measures 100 ms; then a single segment is lost and repeated after 300 ms.
        let mut link = lossy(&config, &[2]);
        link.sender.on_write(500);
        link.sender.finish();
        link.run_until(5 * SECOND);
        assert_eq!(link.sender.statistics().timeouts, 1);
        // Delivered once, acknowledged after the delayed-acknowledgement time-out of 40 ms.
        let smoothed = link.sender.smoothed_rtt_nanos().unwrap();
        let expected = if timestamps { 105 * MS } else { 100 * MS };
        assert_eq!(smoothed, expected);
    }
}

#[test]
fn every_second_segment_is_acknowledged_or_the_timer_runs() {
    for (delayed_ack_ms, ack_every) in [(40, 2), (200, 2), (100, 4)] {
        let config = TcpConfig {
            delayed_ack_ms,
            ack_every,
            ..TcpConfig::default()
        };
        let mut receiver = Receiver::new(&config);
        for i in 0..u64::from(ack_every) - 1 {
            let seen = receiver.on_segment(at(i), &data(i * MSS, MSS as u32));
            assert_eq!((seen.ack, seen.delivered), (None, MSS));
        }
        let n = u64::from(ack_every);
        let ack = receiver
            .on_segment(at(n), &data((n - 1) * MSS, MSS as u32))
            .ack;
        assert_eq!(ack.unwrap().acknowledged, n * MSS);
        assert_eq!(receiver.next_timer(), None);
        assert!(
            receiver
                .on_segment(at(MS), &data(n * MSS, 100))
                .ack
                .is_none()
        );
        let due = receiver.next_timer().unwrap();
        assert_eq!(due, at(MS + u64::from(delayed_ack_ms) * MS));
        assert_eq!(receiver.on_timer(at(MS + 1)), None);
        assert_eq!(receiver.on_timer(due).unwrap().acknowledged, n * MSS + 100);
    }
}

#[test]
fn quick_acks_answer_the_first_segments_at_once() {
    let mut receiver = Receiver::new(&TcpConfig {
        quick_ack_segments: 3,
        ..TcpConfig::default()
    });
    let acked: Vec<bool> = (0..6)
        .map(|i| {
            receiver
                .on_segment(at(i), &data(i * MSS, MSS as u32))
                .ack
                .is_some()
        })
        .collect();
    assert_eq!(acked, [true, true, true, false, true, false]);
}

#[test]
fn sack_reports_the_latest_range_first_and_duplicates_before_it() {
    let range = |start, end| StreamRange { start, end };
    let mut receiver = Receiver::new(&TcpConfig::default());
    let mut ack = |sequence| {
        receiver
            .on_segment(at(0), &data(sequence, 100))
            .ack
            .unwrap()
    };
    assert_eq!(ack(200).sack.as_slice(), [range(200, 300)]);
    assert_eq!(ack(600).sack.as_slice(), [range(600, 700), range(200, 300)]);
    assert_eq!(ack(300).sack.as_slice(), [range(200, 400), range(600, 700)]);
    // RFC 2883: a duplicate of an isolated range, then the range that holds it.
    let repeated = ack(600);
    assert_eq!(
        repeated.sack.as_slice()[..2],
        [range(600, 700), range(200, 400)]
    );
    assert_eq!(repeated.acknowledged, 0);
    // The hole at the start closes.
    assert_eq!(ack(0).acknowledged, 100);
    let filled = ack(100);
    assert_eq!(
        (filled.acknowledged, filled.sack.as_slice()),
        (400, &[range(600, 700)][..])
    );
    // A duplicate below the cumulative acknowledgement.
    assert_eq!(ack(0).sack.as_slice(), [range(0, 100), range(600, 700)]);
}

#[test]
fn a_segment_late_by_many_places_is_undone() {
    for timestamps in [false, true] {
        for congestion in [CongestionControl::NewReno, CongestionControl::Cubic] {
            let config = TcpConfig {
                congestion,
                timestamps,
                ..TcpConfig::default()
            };
            let mut link = Link::new(&config, 0, 50 * MS, 0)
                .data_fate(|n, _| {
                    if n == 40 {
                        Fate::Late(30 * MS)
                    } else {
                        Fate::Pass
                    }
                })
                .recorded();
            link.sender.saturate();
            link.run_until(2 * SECOND);
            let seen = link.sender.statistics();
            assert_eq!(
                (seen.fast_recoveries, seen.undone),
                (1, 1),
                "ts={timestamps}"
            );
            assert!(link.sender.congestion_window() > 100 * MSS);
            assert_eq!(link.sender.slow_start_threshold(), None);
        }
    }
}

#[test]
fn idleness_falls_back_to_the_initial_window() {
    for (idle_restart, expected) in [(true, 10), (false, 40)] {
        let config = TcpConfig {
            idle_restart,
            ..TcpConfig::default()
        };
        let mut link = Link::new(&config, 0, 50 * MS, 0);
        link.sender.on_write(70 * MSS);
        link.run_until(10 * SECOND);
        assert!(link.sender.congestion_window() >= 40 * MSS);
        let before = link.data_sent;
        link.sender.on_write(40 * MSS);
        link.run_until(10 * SECOND + 1);
        assert_eq!(link.data_sent - before, expected);
    }
}

#[test]
fn nagle_holds_small_writes_and_nodelay_sends_each() {
    let run = |nagle| {
        let mut sender = Sender::new(&TcpConfig {
            nagle,
            ..TcpConfig::default()
        });
        let mut sizes = Vec::new();
        for _ in 0..5 {
            sender.on_write(256);
            sizes.extend(segments(&mut sender, 0).iter().map(|s| s.payload));
        }
        sizes
    };
    assert_eq!(run(Nagle::Off), [256; 5]);
    assert_eq!(run(Nagle::On), [256]);
    assert_eq!(run(Nagle::Minshall), [256]);
    // Outstanding full segments alone do not hold a small one in Minshall's variant.
    for (nagle, sent) in [(Nagle::On, 2), (Nagle::Minshall, 3)] {
        let mut sender = Sender::new(&TcpConfig {
            nagle,
            ..TcpConfig::default()
        });
        sender.on_write(2 * MSS + 10);
        assert_eq!(segments(&mut sender, 0).len(), sent);
    }
    // The end of the stream does not wait.
    let mut sender = Sender::new(&TcpConfig {
        nagle: Nagle::On,
        ..TcpConfig::default()
    });
    sender.on_write(MSS + 10);
    sender.finish();
    assert_eq!(segments(&mut sender, 0).len(), 2);
}

#[test]
fn a_window_limited_connection_does_not_open_its_congestion_window_for_ever() {
    let config = TcpConfig {
        receive_window: 20 * MSS,
        ..reno()
    };
    let mut link = Link::new(&config, 0, 50 * MS, 0);
    link.sender.saturate();
    link.run_until(60 * SECOND);
    assert!(link.sender.congestion_window() <= 41 * MSS);
}

#[test]
fn a_closed_window_is_probed_and_reopens() {
    let config = TcpConfig {
        receive_window: 8 * MSS,
        ..TcpConfig::default()
    };
    let mut link = Link::new(&config, 0, 50 * MS, 0);
    link.receiver.wait_for_reads();
    link.sender.saturate();
    link.run_until(20 * SECOND);
    assert_eq!(link.delivered, 8 * MSS);
    // Probes go out at growing intervals and never deliver beyond the buffer.
    let probes = link.data_sent - 8;
    assert!((2..=10).contains(&probes), "{probes}");
    link.run_until(21 * SECOND);
    let update = link.receiver.on_read(8 * MSS).unwrap();
    link.sender.on_ack(at(21 * SECOND), &update);
    link.run_until(22 * SECOND);
    assert_eq!(link.delivered, 16 * MSS);
}

#[test]
fn a_send_buffer_limits_what_is_outstanding() {
    let config = TcpConfig {
        send_buffer: Some(8_192),
        ..TcpConfig::default()
    };
    let mut sender = Sender::new(&config);
    assert_eq!(sender.writable(), 8_192);
    sender.on_write(8_192);
    assert_eq!(sender.writable(), 0);
    sender.saturate();
    let sent: u64 = segments(&mut sender, 0)
        .iter()
        .map(|s| u64::from(s.payload))
        .sum();
    assert!(sent <= 8_192);
}

#[test]
fn hystart_leaves_slow_start_before_the_queue_overflows() {
    let run = |hystart| {
        let config = TcpConfig {
            hystart,
            receive_window: 1 << 22,
            ..TcpConfig::default()
        };
        let mut link = Link::new(&config, 50_000_000, 50 * MS, 420);
        link.sender.saturate();
        link.run_until(3 * SECOND);
        link.queue_drops
    };
    let without = run(HystartRule::Off);
    assert!(without > 100, "{without}");
    for rule in [HystartRule::Linux, HystartRule::Rfc9406] {
        let with = run(rule);
        assert!(with < without / 3, "{rule:?}: {with} against {without}");
    }
}

#[test]
fn two_runs_are_equal_to_the_nanosecond() {
    let run = || {
        let mut link = Link::new(&TcpConfig::default(), 10_000_000, 20 * MS, 30)
            .data_fate(|n, _| if n % 97 == 13 { Fate::Drop } else { Fate::Pass })
            .recorded();
        link.sender.saturate();
        link.run_until(10 * SECOND);
        let now = link.now();
        (link.windows, link.delivered, now)
    };
    let first = run();
    assert!(first.0.len() > 100);
    assert_eq!(first, run());
}

/// RACK on a link of 100 ms round trip.
fn rack() -> TcpConfig {
    TcpConfig {
        loss_detection: LossDetection::Rack,
        timestamps: true,
        ..TcpConfig::default()
    }
}

/// A transfer of `count` segments over `link`, after one that has measured the path; gives the time
/// that it took, ns.
fn transfer(link: &mut Link, count: u64) -> u64 {
    let segment = link.sender.segment_payload();
    link.sender.on_write(8 * segment);
    link.run_until(10 * SECOND);
    assert_eq!(link.sender.flight(), 0);
    link.sender.on_write(count * segment);
    link.sender.finish();
    link.run_until(40 * SECOND);
    link.sender.completed_at().unwrap().as_nanos() - 10 * SECOND
}

#[test]
fn a_lost_tail_is_found_by_a_probe_and_not_by_a_time_out() {
    // The last three of ten segments are lost, or the last one alone.
    for lost in [&[15u64, 16, 17][..], &[17]] {
        let run = |loss_detection| {
            let config = TcpConfig {
                loss_detection,
                ..rack()
            };
            let lost = lost.to_vec();
            let mut link = Link::new(&config, 0, 50 * MS, 0).data_fate(move |n, _| {
                if lost.contains(&n) {
                    Fate::Drop
                } else {
                    Fate::Pass
                }
            });
            let took = transfer(&mut link, 10);
            (
                took,
                link.sender.statistics(),
                link.sender.congestion_window(),
            )
        };
        let (old, without, _) = run(LossDetection::DuplicateAcks);
        let (new, with, window) = run(LossDetection::Rack);
        assert_eq!((without.timeouts, without.tail_probes), (1, 0));
        assert_eq!((with.timeouts, with.tail_probes), (0, 1), "{lost:?}");
        assert_eq!(with.retransmitted_segments, lost.len() as u64, "{lost:?}");
        // A lone segment may wait for a delayed acknowledgement: its probe comes with the time-out.
        assert!(new < old || lost.len() == 1, "{lost:?}: {new} and {old}");
        assert!(new <= old, "{lost:?}: {new} and {old}");
        // Segments 8 to 14 acknowledged after 100 ms (the odd one with the next pair or 40 ms later),
        // then two round trips of waiting, and one to three of repair (PRR sends one lost segment first).
        assert!((400 * MS..=700 * MS).contains(&new), "{lost:?}: {new}");
        // Losses that are repaired reduce the window; a lone one shows with the next acknowledgement.
        assert_eq!(window < 18 * 1_448, lost.len() > 1, "{lost:?}: {window}");
    }
}

#[test]
fn a_probe_whose_original_was_only_late_costs_nothing() {
    // Every acknowledgement of the last ten segments comes 250 ms late, after the probe.
    let mut link = Link::new(&rack(), 0, 50 * MS, 0).ack_fate(|n| {
        if n >= 4 {
            Fate::Late(150 * MS)
        } else {
            Fate::Pass
        }
    });
    transfer(&mut link, 10);
    let seen = link.sender.statistics();
    assert_eq!(
        (seen.tail_probes, seen.timeouts, seen.fast_recoveries),
        (1, 0, 0)
    );
    assert_eq!(link.sender.slow_start_threshold(), None);
}

#[test]
fn reordering_within_the_window_of_rack_retransmits_nothing() {
    // Three segments overtake one that is late by less than a quarter of the round trip. Once RACK has
    // seen it, no number of overtaking segments means loss.
    for (loss_detection, retransmits) in [
        (LossDetection::DuplicateAcks, true),
        (LossDetection::Rack, false),
    ] {
        let config = TcpConfig {
            loss_detection,
            ..rack()
        };
        let mut link = Link::new(&config, 20_000_000, 50 * MS, 1_000).data_fate(|n, _| match n {
            // By one place, so that it is seen.
            20 => Fate::Late(MS),
            n if n > 100 && n % 50 == 0 => Fate::Late(15 * MS),
            _ => Fate::Pass,
        });
        link.sender.saturate();
        link.run_until(3 * SECOND);
        let seen = link.sender.statistics();
        assert_eq!(seen.retransmitted_segments > 0, retransmits, "{seen:?}");
        assert_eq!(seen.timeouts, 0);
        assert!(link.sender.acknowledged() > 300 * 1_448);
    }
}

#[test]
fn a_retransmission_that_is_lost_too_is_found_without_a_time_out() {
    // Segment 30 and its first retransmission are dropped.
    for (loss_detection, timeouts) in [(LossDetection::DuplicateAcks, 1), (LossDetection::Rack, 0)]
    {
        let config = TcpConfig {
            loss_detection,
            ..rack()
        };
        let target = 30 * u64::from(config.segment_payload());
        let mut dropped = 0;
        let mut link = Link::new(&config, 0, 50 * MS, 0).data_fate(move |_, segment| {
            if segment.sequence == target && dropped < 2 {
                dropped += 1;
                return Fate::Drop;
            }
            Fate::Pass
        });
        link.sender
            .on_write(400 * u64::from(config.segment_payload()));
        link.sender.finish();
        link.run_until(20 * SECOND);
        let seen = link.sender.statistics();
        assert_eq!(seen.timeouts, timeouts, "{loss_detection:?}");
        assert!(seen.retransmitted_segments >= 2);
        assert!(link.sender.completed_at().is_some());
    }
}

#[test]
fn rack_needs_selective_acknowledgements() {
    let config = TcpConfig {
        sack: false,
        ..rack()
    };
    let problem = config.validate().unwrap_err().to_string();
    assert_eq!(
        problem,
        "tcp.loss_detection = rack: duplicate-acks without SACK (RFC 8985 section 3.1)"
    );
}

#[test]
fn hystart_is_refused_where_the_congestion_control_has_none() {
    for (congestion, hystart, works) in [
        (CongestionControl::Cubic, HystartRule::Linux, true),
        (CongestionControl::NewReno, HystartRule::Rfc9406, true),
        (CongestionControl::NewReno, HystartRule::Linux, false),
        (CongestionControl::Bbr, HystartRule::Rfc9406, false),
        (CongestionControl::Bbr, HystartRule::Off, true),
    ] {
        let config = TcpConfig {
            congestion,
            hystart,
            ..TcpConfig::default()
        };
        assert_eq!(
            config.validate().is_ok(),
            works,
            "{congestion:?} {hystart:?}"
        );
    }
}

#[test]
fn a_tuned_window_opens_with_the_transfer_and_a_stated_one_does_not() {
    let tuned = TcpConfig {
        untuned_window: Some(65_536),
        receive_window: 3 << 20,
        timestamps: true,
        ..TcpConfig::default()
    };
    // 100 Mb/s and 100 ms: 1.25 MB of delay product.
    let goodput = |config: &TcpConfig| {
        let mut link = Link::new(config, 100_000_000, 50 * MS, 10_000);
        link.sender.saturate();
        link.run_until(3 * SECOND);
        let before = link.delivered;
        link.run_until(6 * SECOND);
        (link.delivered - before) as f64 * 8.0 / 3.0
    };
    let open = goodput(&tuned);
    assert!(open > 0.95e8, "{open}");
    let fixed = goodput(&TcpConfig {
        untuned_window: None,
        receive_window: 65_536,
        ..tuned.clone()
    });
    assert!(fixed < 5.5e6, "{fixed}");
    // The limit is the limit: 200 kB in 100 ms.
    let limited = goodput(&TcpConfig {
        receive_window: 200_000,
        ..tuned
    });
    assert!((15.0e6..16.1e6).contains(&limited), "{limited}");
}

#[test]
fn segments_of_one_instant_draw_one_acknowledgement_under_receive_offload() {
    let acks = |receive_offload| {
        let config = TcpConfig {
            receive_offload,
            ..TcpConfig::default()
        };
        let mut link = Link::new(&config, 0, 50 * MS, 0);
        link.sender.on_write(10 * MSS);
        link.run_until(SECOND);
        assert_eq!(link.delivered, 10 * MSS);
        link.acks_sent
    };
    assert_eq!((acks(false), acks(true)), (5, 1));
    // Segments out of order are acknowledged at once.
    let config = TcpConfig {
        receive_offload: true,
        ..TcpConfig::default()
    };
    let mut link = lossy(&config, &[2]);
    link.sender.on_write(10 * MSS);
    link.run_until(10 * SECOND);
    assert_eq!(link.delivered, 10 * MSS);
    assert_eq!(link.sender.statistics().timeouts, 0);
    assert!(link.acks_sent >= 8, "{}", link.acks_sent);
}

#[test]
fn linux_today_has_what_its_preset_says() {
    let config = TcpSystem::Linux6.preset().config;
    let mut link = Link::new(&config, 20_000_000, 10 * MS, 1_000);
    link.sender.saturate();
    link.run_until(10 * SECOND);
    // HyStart leaves slow start before the queue of 1,000 packets overflows.
    assert_eq!(link.queue_drops, 0);
    assert!(link.sender.slow_start_threshold().is_some());
    assert!(link.delivered > 10 * 20_000_000 / 8 * 94 / 100);
}

#[test]
fn the_known_case_of_slow_start() {
    // A bottleneck as 2 Mb/s of 802.11b, a queue of 500 packets and a window of 1 MiB: without HyStart
    // slow start fills the queue with twice what fits, and the repair takes seconds.
    let goodput = |hystart| {
        let config = TcpConfig {
            hystart,
            receive_window: 1 << 20,
            ..TcpConfig::default()
        };
        let mut link = Link::new(&config, 1_700_000, 2 * MS, 500);
        link.sender.saturate();
        link.run_until(10 * SECOND);
        (link.delivered as f64 * 8.0 / 10.0, link.queue_drops)
    };
    let (without, drops) = goodput(HystartRule::Off);
    assert!(without < 1.2e6 && drops > 200, "{without} {drops}");
    for rule in [HystartRule::Linux, HystartRule::Rfc9406] {
        let (with, drops) = goodput(rule);
        assert!(with > 1.63e6 && drops == 0, "{rule:?}: {with} {drops}");
    }
}
