//! Simulated stations beside radios of mac80211: the closed forms, equal shares, and what is never
//! handed over.

use airtoll_phy::{Band, BasicRates, DsssRate, MpduSpacing, OfdmRate, TimingSet, TxVector};
use airtoll_units::{Duration, Instant};
use airtoll_wlan::analytic::{CollisionTime, Exchange, bianchi};

use super::{dsss, frame, offer};
use crate::rates::{Step, flag};
use crate::{Direction, FlowCounts, Happening, Medium, Settings};

/// Settings of one access point, `real` radios and `simulated` stations with this flow.
pub(super) fn cell(real: usize, simulated: usize, station: &str, rest: &str) -> Settings {
    let radio = |i: usize, more: &str| {
        format!(
            r#"{{"name":"r{i}","address":"42:00:00:00:{i:02x}:00",
            "interfaces":["02:00:00:00:{i:02x}:00"]{more}}}"#
        )
    };
    let mut list: Vec<String> = (0..=real).map(|i| radio(i, "")).collect();
    for i in 0..simulated {
        list.push(format!(
            r#"{{"name":"s{i}","address":"06:00:00:00:{i:02x}:00","simulated":
            {{"access_point":"r0","attempts":7,{station}}}}}"#
        ));
    }
    Settings::from_json(&format!(r#"{{"radios":[{}]{rest}}}"#, list.join(","))).unwrap()
}

const DSSS: &str = r#""frequency_mhz":2412,"rate":"11","up":{"msdu_octets":1508}"#;

/// MSDUs of 1500 octets and LLC/SNAP that arrived: per radio of mac80211, and per simulated station.
struct Shares {
    real: Vec<u64>,
    simulated: Vec<FlowCounts>,
    delivered_to_drivers: u64,
    wakes: u64,
}

/// Radios of mac80211 keep their queues full for the access point; all of them for `seconds`.
fn share(settings: Settings, index: i8, frequency_mhz: u32, seconds: u64) -> Shares {
    let real = settings
        .radios
        .iter()
        .filter(|r| r.simulated.is_none())
        .count()
        - 1;
    let mut medium = Medium::new(settings, Instant::ZERO);
    let end = Instant::ZERO + Duration::from_secs(seconds);
    let mut ticket = 0;
    let mut next = |medium: &mut Medium, at: Instant, radio: usize| {
        ticket += 1;
        let mut one = offer(radio, frame(radio, Some(0), false, 1_532), index, 7, ticket);
        one.frequency_mhz = frequency_mhz;
        medium.offer(at, one);
    };
    for radio in 1..=real {
        for _ in 0..4 {
            next(&mut medium, Instant::ZERO, radio);
        }
    }
    medium.start_flows(Instant::ZERO, [0.0, seconds as f64], false);
    let mut shares = Shares {
        real: vec![0; real],
        simulated: Vec::new(),
        delivered_to_drivers: 0,
        wakes: 0,
    };
    while let Some(at) = medium.hands_over_at().filter(|at| *at <= end) {
        shares.wakes += 1;
        medium.advance(at);
        while let Some((at, happening)) = medium.take() {
            match happening {
                Happening::Report {
                    from, acknowledged, ..
                } => {
                    shares.real[from - 1] += u64::from(acknowledged);
                    next(&mut medium, at, from);
                }
                Happening::Delivery { to, .. } => {
                    assert_eq!(to, 0, "only the access point is sent to");
                    shares.delivered_to_drivers += 1;
                }
            }
        }
    }
    medium.advance(end);
    shares.simulated = medium.counts().flows;
    shares
}

fn sum(shares: &Shares) -> u64 {
    let simulated = shares.simulated.iter().map(|flow| flow.delivered);
    shares.real.iter().sum::<u64>() + simulated.sum::<u64>()
}

#[test]
fn half_the_stations_simulated_share_the_air_as_the_chain_says() {
    for (real, simulated, seconds) in [(1, 1, 120), (5, 5, 120), (25, 25, 60)] {
        let v = dsss(DsssRate::M11);
        let exchange = Exchange::single(&v, BasicRates::dsss_default(), &TimingSet::DSSS, 1_536);
        let stations = (real + simulated) as u32;
        let chain = bianchi(&exchange, stations, 7, CollisionTime::FrameAndSpace);
        let rules = cell(real, simulated, DSSS, r#","standard":"802.11b""#);
        let shares = share(rules, 3, 2_412, seconds);
        let ratio = sum(&shares) as f64 / seconds as f64 / chain.exchanges_per_s;
        // The chain's own error, as for radios of mac80211 alone.
        assert!((ratio - 1.0).abs() < 0.04, "{stations}: {ratio}");
        // Only mac80211's frames are handed over; a lost acknowledgement gives it a frame twice.
        let own: u64 = shares.real.iter().sum();
        assert!(shares.delivered_to_drivers >= own);
        assert!(shares.delivered_to_drivers < own + own / 50 + 10);
        // Each exchange has four events or more, and collisions come to them.
        assert!(shares.wakes < 4 * sum(&shares), "{} wakes", shares.wakes);
    }
}

#[test]
fn a_simulated_station_has_the_share_of_one_that_mac80211_has() {
    let rules = cell(1, 1, DSSS, r#","standard":"802.11b""#);
    let shares = share(rules, 3, 2_412, 300);
    let (real, simulated) = (shares.real[0], shares.simulated[0].delivered);
    let ratio = real as f64 / simulated as f64;
    assert!((ratio - 1.0).abs() < 0.02, "{real} and {simulated}");
    // Octets and the time that they are counted for give its throughput.
    let flow = &shares.simulated[0];
    assert_eq!(flow.octets, flow.delivered * 1_508);
    assert_eq!(flow.counted_s, 300.0);
    assert!(flow.attempts > flow.delivered);
    // A full queue of 100 frames, each of which waits for all before it.
    let cycle_s = 300.0 / flow.delivered as f64;
    assert!((flow.delay_mean_s / (100.0 * cycle_s) - 1.0).abs() < 0.05);
}

#[test]
fn simulated_stations_alone_have_the_throughput_of_the_closed_form() {
    let v = TxVector::ofdm(OfdmRate::M54, Band::Ghz5);
    let (basic, timing) = (BasicRates::ofdm_default(), TimingSet::OFDM);
    let station = r#""frequency_mhz":5180,"rate":"54","cipher_octets":16,
        "up":{"msdu_octets":1508}"#;
    let mut medium = Medium::new(
        cell(0, 1, station, r#","standard":"802.11a""#),
        Instant::ZERO,
    );
    assert!(medium.start_flows(Instant::ZERO, [1.0, 30.0], false));
    // Nothing of it concerns a driver, so that the caller need not wake.
    assert_eq!(medium.hands_over_at(), None);
    medium.advance(Instant::ZERO + Duration::from_secs(40));
    assert_eq!(medium.take(), None);
    let counts = medium.counts();
    let flow = &counts.flows[0];
    assert_eq!((flow.counted_s, flow.direction), (30.0, Direction::Up));
    let exchange = Exchange::single(&v, basic, &timing, 24 + 16 + 1_508 + 4);
    let ratio = flow.delivered as f64 / 30.0 * exchange.mean_cycle_s();
    assert!((ratio - 1.0).abs() < 0.003, "{ratio}");
    assert_eq!(counts.radios[0].received, counts.radios[1].sent);
}

#[test]
fn aggregates_of_a_simulated_station_have_the_throughput_of_the_closed_form() {
    let station = r#""frequency_mhz":5180,"rate":"MCS 7, 1 streams, 20 MHz, 800 ns",
        "up":{"msdu_octets":1508,"access_category":"best_effort"}"#;
    let rules = cell(0, 1, station, r#","standard":"802.11n","queue_frames":150"#);
    let step = crate::rates::named("MCS 7, 1 streams, 20 MHz, 800 ns", 5_180, false).unwrap();
    let v = crate::rates::vector(step, 5_180, airtoll_phy::Preamble::Long);
    let (basic, timing) = (rules.basic_rates(), rules.timing(5_180));
    let limits = airtoll_phy::ampdu_limits(&v).unwrap();
    let exchange = Exchange::aggregate(
        &v,
        basic,
        &timing,
        1_538,
        limits.octets,
        64,
        MpduSpacing::default(),
    )
    .under_edca(&timing, 3);
    let mut medium = Medium::new(rules, Instant::ZERO);
    medium.start_flows(Instant::ZERO, [0.0, 10.0], false);
    medium.advance(Instant::ZERO + Duration::from_secs(10));
    let done = medium.counts().flows[0].delivered;
    let ratio = done as f64 / 10.0 * exchange.mean_cycle_s() / f64::from(exchange.msdus);
    assert!((ratio - 1.0).abs() < 0.01, "{ratio}");
}

#[test]
fn a_flow_at_intervals_has_what_it_offers_and_the_way_down_goes_through_the_access_point() {
    let station = r#""frequency_mhz":5180,"rate":"54",
        "up":{"msdu_octets":208,"interval_s":0.02,"access_category":"voice"},
        "down":{"msdu_octets":208,"interval_s":0.02,"access_category":"voice"}"#;
    let rules = cell(0, 3, station, r#","standard":"802.11a""#);
    let mut medium = Medium::new(rules, Instant::ZERO);
    medium.start_flows(Instant::ZERO, [0.1, 10.0], false);
    medium.advance(Instant::ZERO + Duration::from_secs(11));
    let counts = medium.counts();
    assert_eq!(counts.flows.len(), 6);
    for flow in &counts.flows {
        assert_eq!((flow.offered, flow.delivered, flow.given_up), (500, 500, 0));
        // A slot that has begun, and the frame itself: 20 us and 9 symbols of 4 us.
        assert!(flow.delay_mean_s > 56e-6 && flow.delay_mean_s < 500e-6);
    }
    let sent: Vec<u64> = counts.radios.iter().map(|radio| radio.sent).collect();
    assert_eq!(sent[0], sent[1] + sent[2] + sent[3]);
    // The phases are random: no two stations have frames at one instant.
    assert!(counts.radios.iter().all(|radio| radio.collisions < 5));
}

#[test]
fn flows_end_and_leave_the_air_to_others() {
    let rules = cell(1, 10, DSSS, r#","standard":"802.11b""#);
    let mut medium = Medium::new(rules, Instant::ZERO);
    medium.start_flows(Instant::ZERO, [0.0, 1.0], false);
    let at = Instant::ZERO + Duration::from_secs(2);
    medium.end_flows(at);
    let counted = medium.counts().flows;
    medium.advance(at + Duration::from_millis(20));
    // The exchange on the air has ended, and nothing follows it.
    assert_eq!(medium.next_at(), None);
    assert_eq!(medium.counts().flows, counted, "the counted time had ended");
    medium.offer(
        at + Duration::from_millis(20),
        offer(1, frame(1, Some(0), false, 1_532), 3, 7, 1),
    );
    medium.advance(at + Duration::from_millis(22));
    let last = std::iter::from_fn(|| medium.take()).last().unwrap();
    let told = matches!(
        last.1,
        Happening::Report {
            acknowledged: true,
            ..
        }
    );
    assert!(told, "{last:?}");
    // They can begin again.
    assert!(medium.start_flows(at + Duration::from_secs(1), [0.0, 1.0], false));
    medium.advance(at + Duration::from_secs(3));
    assert!(medium.counts().flows.iter().all(|flow| flow.delivered > 20));
}

#[test]
fn simulated_stations_are_sent_no_group_frames_and_are_given_up_where_they_are_not_heard() {
    let station = r#""frequency_mhz":5180,"rate":"54","up":{"msdu_octets":100,"interval_s":0.1}"#;
    let far = r#","standard":"802.11a","levels":[{"radios":["s0","r0"],
        "points":[{"dbm":-99}]}]"#;
    let mut medium = Medium::new(cell(1, 1, station, far), Instant::ZERO);
    medium.start_flows(Instant::ZERO, [0.0, 1.0], false);
    let mut beacon = offer(0, frame(0, None, false, 60), 0, 1, 1);
    beacon.frequency_mhz = 5_180;
    medium.offer(Instant::ZERO, beacon);
    medium.advance(Instant::ZERO + Duration::from_secs(2));
    let deliveries = std::iter::from_fn(|| medium.take())
        .filter(|(_, happening)| matches!(happening, Happening::Delivery { .. }));
    assert_eq!(deliveries.count(), 1);
    let flow = &medium.counts().flows[0];
    assert_eq!((flow.offered, flow.given_up, flow.delivered), (10, 10, 0));
    assert_eq!(flow.attempts, 70);
}

#[test]
fn flows_take_the_retry_chain_that_mac80211_gives_data_of_the_same_way_and_rate() {
    let station = r#""frequency_mhz":5180,"rate":"54","up":{"msdu_octets":1508}"#;
    let run = |from: usize, to: usize, last: Step| {
        let mut medium = Medium::new(
            cell(1, 40, station, r#","standard":"802.11a""#),
            Instant::ZERO,
        );
        let mut shown = offer(from, frame(from, Some(to), false, 100), 7, 5, 1);
        shown.frequency_mhz = 5_180;
        shown.chain[1] = last;
        medium.offer(Instant::ZERO, shown);
        let begun = Instant::ZERO + Duration::from_millis(10);
        medium.advance(begun);
        medium.start_flows(begun, [1.0, 10.0], false);
        medium.advance(Instant::ZERO + Duration::from_secs(12));
        let flows = medium.counts().flows;
        let sum = |f: fn(&FlowCounts) -> u64| flows.iter().map(f).sum::<u64>();
        (sum(|flow| flow.delivered), sum(|flow| flow.given_up))
    };
    let protected = Step {
        index: 7,
        count: 9,
        flags: flag::RTS_CTS,
    };
    // Data the other way, or at another rate, says nothing about that upwards.
    let plain = run(0, 1, protected);
    assert_eq!(plain, run(0, 1, Step::NONE));
    assert_eq!(
        plain,
        run(
            1,
            0,
            Step {
                index: 6,
                ..protected
            }
        )
    );
    let (delivered, given_up) = run(1, 0, protected);
    // A collision of two RTS is short, and a frame with more attempts is lost more seldom.
    assert!(delivered > plain.0, "{delivered} and {plain:?}");
    assert!(given_up * 5 < plain.1, "{given_up} and {plain:?}");
}

#[test]
fn flows_are_counted_from_the_first_data_of_mac80211_that_is_as_long_as_theirs() {
    let mut medium = Medium::new(cell(1, 1, DSSS, ""), Instant::ZERO);
    medium.start_flows(Instant::ZERO, [0.5, 2.0], true);
    let at = |ms| Instant::ZERO + Duration::from_millis(ms);
    medium.offer(at(100), offer(1, frame(1, Some(0), false, 300), 3, 7, 1));
    medium.advance(at(3_000));
    assert_eq!(medium.counts().flows[0].offered, 0);
    // 24 octets of header before 1508.
    medium.offer(
        at(3_000),
        offer(1, frame(1, Some(0), false, 1_532), 3, 7, 2),
    );
    medium.advance(at(4_500));
    assert_eq!(medium.counts().flows[0].counted_s, 1.0);
    medium.offer(
        at(4_500),
        offer(1, frame(1, Some(0), false, 1_532), 3, 7, 3),
    );
    medium.advance(at(9_000));
    let flow = &medium.counts().flows[0];
    assert_eq!(flow.counted_s, 2.0);
    assert!(flow.delivered > 1_000, "{flow:?}");
}

#[test]
fn without_airtime_flows_stand_still_and_go_on_after_it() {
    let mut medium = Medium::new(cell(0, 1, DSSS, ""), Instant::ZERO);
    medium.set_airtime(false);
    medium.start_flows(Instant::ZERO, [0.0, 9.0], false);
    medium.advance(Instant::ZERO + Duration::from_secs(1));
    assert_eq!(medium.counts().flows[0].offered, 0);
    medium.set_airtime(true);
    medium.advance(Instant::ZERO + Duration::from_secs(2));
    assert!(medium.counts().flows[0].delivered > 400);
}

#[test]
fn equal_seeds_give_equal_flows() {
    let run = |seed| {
        let rest = format!(r#","standard":"802.11b","seed":{seed}"#);
        let shares = share(cell(2, 4, DSSS, &rest), 3, 2_412, 5);
        (shares.real, shares.simulated)
    };
    assert_eq!(run(4), run(4));
    assert_ne!(run(4), run(5));
}
