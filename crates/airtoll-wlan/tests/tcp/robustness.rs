//! Under any losses and delays, every octet arrives once and in order, and no connection stalls.
//!
//! The link asserts after every event that the octets in flight fit the window, that the congestion
//! window holds at least one segment and that a timer runs while data is outstanding.

use airtoll_wlan::transport::{
    CongestionControl, HystartRule, LossDetection, Nagle, SlowStartGrowth, TcpConfig,
};
use proptest::prelude::*;

use crate::link::{Fate, Link};

const SECOND: u64 = 1_000_000_000;
const MS: u64 = 1_000_000;

fn any_config() -> impl Strategy<Value = TcpConfig> {
    let flags = prop::collection::vec(any::<bool>(), 12);
    let growth = prop_oneof![
        Just(SlowStartGrowth::OneSegment),
        Just(SlowStartGrowth::TwoSegments),
        Just(SlowStartGrowth::AllAcknowledged)
    ];
    let nagle = prop_oneof![Just(Nagle::Off), Just(Nagle::On), Just(Nagle::Minshall)];
    (
        flags,
        growth,
        nagle,
        1u32..11,
        2_000u64..100_000,
        1u32..4,
        200u32..1_500,
    )
        .prop_map(
            |(flag, slow_start_growth, nagle, initial, window, ack_every, mss)| TcpConfig {
                congestion: if flag[0] {
                    CongestionControl::NewReno
                } else {
                    CongestionControl::Cubic
                },
                sack: flag[1],
                dsack: flag[2],
                timestamps: flag[3],
                prr: flag[4],
                limited_transmit: flag[5],
                undo: flag[6],
                handshake: flag[7],
                hystart: match (flag[8], flag[0]) {
                    (false, _) => HystartRule::Off,
                    (true, true) => HystartRule::Rfc9406,
                    (true, false) => HystartRule::Linux,
                },
                loss_detection: if flag[9] && flag[1] {
                    LossDetection::Rack
                } else {
                    LossDetection::DuplicateAcks
                },
                untuned_window: flag[10].then_some(window / 2 + 1_000),
                receive_offload: flag[11],
                slow_start_growth,
                nagle,
                initial_window_segments: initial,
                receive_window: window,
                ack_every,
                mss,
                ..TcpConfig::default()
            },
        )
}

/// A fate for each number from a table that repeats, so that shrinking is meaningful.
fn fate(table: &[u8], n: u64) -> Fate {
    match table[(n % table.len() as u64) as usize] {
        0..=2 => Fate::Drop,
        3 => Fate::Twice,
        4 => Fate::Late(3 * MS),
        5 => Fate::Late(700 * MS),
        _ => Fate::Pass,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn everything_arrives_once_and_in_order(
        config in any_config(),
        octets in 1u64..300_000,
        data in prop::collection::vec(0u8..40, 1..60),
        acks in prop::collection::vec(0u8..40, 1..60),
        rate in prop_oneof![Just(0u64), Just(300_000), Just(5_000_000)],
        queue in 2u64..40,
    ) {
        // Tables of losses alone are no network at all: at least a third must get through, or every
        // segment waits through several time-outs of two minutes.
        let passes = |table: &[u8]| 3 * table.iter().filter(|f| **f > 2).count() >= table.len();
        prop_assume!(passes(&data) && passes(&acks));
        let mut data_count = 0;
        let mut ack_count = 0;
        let (data, acks) = (data.clone(), acks.clone());
        // Numbers drift by a prime, so that a table cannot hit the same retransmission for ever.
        let mut link = Link::new(&config, rate, 20 * MS, queue)
            .data_fate(move |n, _| { data_count += 1; fate(&data, n + data_count / 7) })
            .ack_fate(move |n| { ack_count += 1; fate(&acks, n + ack_count / 7) });
        link.sender.on_write(octets);
        link.sender.finish();
        let pending = link.run_until(40_000 * SECOND);
        prop_assert!(!pending, "still busy");
        prop_assert_eq!(link.delivered, octets);
        prop_assert!(link.sender.completed_at().is_some());
        prop_assert_eq!(link.sender.flight(), 0);
        prop_assert_eq!(link.sender.next_timer(), None);
    }

    #[test]
    fn writes_of_any_size_all_arrive(
        config in any_config(),
        writes in prop::collection::vec(1u64..4_000, 1..60),
    ) {
        let mut link = Link::new(&config, 2_000_000, 5 * MS, 50);
        for (i, octets) in writes.iter().enumerate() {
            link.sender.on_write(*octets);
            link.run_until(i as u64 * 7 * MS);
        }
        link.run_until(1_000 * SECOND);
        prop_assert_eq!(link.delivered, writes.iter().sum::<u64>());
    }
}
