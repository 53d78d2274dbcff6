//! The medium against closed forms and against what must always hold.

use airtoll_phy::{
    BasicRates, DsssRate, MpduSpacing, OfdmRate, Preamble, TimingSet, TxVector, frame_success,
    milliwatts, noise_floor,
};
use airtoll_units::{Db, Dbm, Duration, Instant};
use airtoll_wlan::analytic::{CollisionTime, Exchange, bianchi, saturated_bps};
use proptest::prelude::*;

use crate::rates::{Step, flag};
use crate::{Happening, Medium, Offer, STEPS, Settings};

mod devices;
mod flows;

fn settings(radios: usize, rest: &str) -> Settings {
    let list: Vec<String> = (0..radios)
        .map(|i| {
            format!(
                r#"{{"name":"r{i}","address":"42:00:00:00:{i:02x}:00",
                "interfaces":["02:00:00:00:{i:02x}:00"]}}"#
            )
        })
        .collect();
    Settings::from_json(&format!(r#"{{"radios":[{}]{rest}}}"#, list.join(","))).unwrap()
}

/// A frame from one radio to another (or to all), `octets` long without FCS.
fn frame(from: usize, to: Option<usize>, qos: bool, octets: usize) -> Vec<u8> {
    let mut frame = vec![if qos { 0x88 } else { 0x08 }, 0x01, 0, 0];
    match to {
        Some(to) => frame.extend([2, 0, 0, 0, to as u8, 0]),
        None => frame.extend([0xff; 6]),
    }
    frame.extend([2, 0, 0, 0, from as u8, 0]);
    frame.extend([2, 0, 0, 0, 0, 0, 0, 0]);
    frame.resize(octets.max(26), 0);
    frame
}

fn offer(radio: usize, octets: Vec<u8>, index: i8, count: u8, ticket: u64) -> Offer {
    let mut chain = [Step::NONE; STEPS];
    chain[0] = Step {
        index,
        count,
        flags: 0,
    };
    Offer {
        radio,
        frequency_mhz: 2_412,
        octets,
        chain,
        no_ack: false,
        ticket,
    }
}

/// Every radio but the first keeps its queue full of frames for the first, for `seconds`; gives
/// acknowledged frames.
fn saturate(settings: Settings, index: i8, qos: bool, octets: usize, seconds: u64) -> u64 {
    let senders = settings.radios.len() - 1;
    let mut medium = Medium::new(settings, Instant::ZERO);
    let end = Instant::ZERO + Duration::from_secs(seconds);
    let mut ticket = 0;
    // The first radio is heard once, as an AP's beacons are.
    medium.offer(
        Instant::ZERO,
        offer(0, frame(0, None, false, 60), index, 1, 0),
    );
    for radio in 1..=senders {
        for _ in 0..4 {
            ticket += 1;
            let octets = frame(radio, Some(0), qos, octets);
            medium.offer(Instant::ZERO, offer(radio, octets, index, 7, ticket));
        }
    }
    let mut done = 0;
    while let Some(next) = medium.next_at().filter(|next| *next <= end) {
        medium.advance(next);
        while let Some((at, happening)) = medium.take() {
            let Happening::Report {
                from, acknowledged, ..
            } = happening
            else {
                continue;
            };
            if from == 0 {
                continue;
            }
            done += u64::from(acknowledged);
            ticket += 1;
            let octets = frame(from, Some(0), qos, octets);
            medium.offer(at, offer(from, octets, index, 7, ticket));
        }
    }
    done
}

fn dsss(rate: DsssRate) -> TxVector {
    TxVector::dsss(rate, Preamble::Long).unwrap()
}

#[test]
fn one_saturated_station_has_the_throughput_of_the_closed_form() {
    let b = BasicRates::dsss_default();
    let g = BasicRates::ofdm_default();
    let at_54 = TxVector::ofdm(OfdmRate::M54, airtoll_phy::Band::Ghz2_4);
    for (standard, index, v, basic, timing, seconds) in [
        ("802.11b", 1, dsss(DsssRate::M2), b, TimingSet::DSSS, 600),
        ("802.11b", 3, dsss(DsssRate::M11), b, TimingSet::DSSS, 300),
        ("802.11g", 11, at_54, g, TimingSet::ERP, 60),
    ] {
        let text = format!(r#","standard":"{standard}""#);
        let done = saturate(settings(2, &text), index, false, 1_532, seconds);
        let exchange = Exchange::single(&v, basic, &timing, 1_536);
        let expected = saturated_bps(&exchange, 1_472);
        let measured = done as f64 * 8.0 * 1_472.0 / seconds as f64;
        let ratio = measured / expected;
        assert!((ratio - 1.0).abs() < 0.003, "{standard} {index}: {ratio}");
    }
}

#[test]
fn under_edca_the_closed_form_holds_too() {
    let v = TxVector::ofdm(OfdmRate::M54, airtoll_phy::Band::Ghz2_4);
    let done = saturate(settings(2, ""), 11, true, 1_534, 60);
    let exchange = Exchange::single(&v, BasicRates::ofdm_default(), &TimingSet::ERP, 1_538)
        .under_edca(&TimingSet::ERP, 3);
    let ratio = done as f64 / 60.0 * exchange.mean_cycle_s();
    assert!((ratio - 1.0).abs() < 0.005, "{ratio}");
}

#[test]
fn aggregates_have_the_throughput_of_the_closed_form() {
    let (ht, vht) = (flag::MCS, flag::VHT_MCS | flag::WIDTH_80);
    for (standard, index, flags) in [
        ("802.11n", 7, ht),
        ("802.11n", 7, ht | flag::WIDTH_40 | flag::SHORT_GI),
        ("802.11ac", 9, vht),
        ("802.11ac", 0x19, vht),
    ] {
        let rules = settings(
            2,
            &format!(r#","standard":"{standard}","queue_frames":150"#),
        );
        let v = crate::rates::vector(
            Step {
                index,
                count: 1,
                flags,
            },
            5_180,
            Preamble::Long,
        );
        let basic = rules.basic_rates();
        let timing = rules.timing(5_180);
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
        let done = numbered(rules, index, flags, 1_534, 10);
        let ratio = done as f64 / 10.0 * exchange.mean_cycle_s() / f64::from(exchange.msdus);
        assert!(
            (ratio - 1.0).abs() < 0.01,
            "{standard} {index:x} {flags:x}: {ratio}"
        );
    }
}

/// Numbered frames from one radio to another whose queue never runs short; gives acknowledged ones.
fn numbered(settings: Settings, index: i8, flags: u16, octets: usize, seconds: u64) -> u64 {
    let mut medium = Medium::new(settings, Instant::ZERO);
    let end = Instant::ZERO + Duration::from_secs(seconds);
    let mut next_number = 0u16;
    let mut next = |at: Instant, medium: &mut Medium| {
        let mut octets = frame(1, Some(0), true, octets);
        octets[22..24].copy_from_slice(&(next_number << 4).to_le_bytes());
        next_number = (next_number + 1) & 0x0fff;
        let mut offer = offer(1, octets, index, 7, u64::from(next_number));
        offer.frequency_mhz = 5_180;
        offer.chain[0].flags = flags;
        medium.offer(at, offer);
    };
    for _ in 0..130 {
        next(Instant::ZERO, &mut medium);
    }
    let mut done = 0;
    while let Some(at) = medium.next_at().filter(|at| *at <= end) {
        medium.advance(at);
        while let Some((at, happening)) = medium.take() {
            if let Happening::Report { acknowledged, .. } = happening {
                done += u64::from(acknowledged);
                next(at, &mut medium);
            }
        }
    }
    done
}

#[test]
fn the_receiver_has_each_part_of_an_aggregate_at_its_own_end() {
    let mut medium = Medium::new(settings(2, r#","standard":"802.11n""#), Instant::ZERO);
    for number in 0..5u16 {
        let mut octets = frame(1, Some(0), true, 1_534);
        octets[22..24].copy_from_slice(&(number << 4).to_le_bytes());
        let mut offer = offer(1, octets, 7, 7, u64::from(number));
        offer.frequency_mhz = 5_180;
        offer.chain[0].flags = flag::MCS;
        medium.offer(Instant::ZERO, offer);
    }
    medium.advance(Instant::ZERO + Duration::from_millis(10));
    let (mut delivered, mut reported) = (Vec::new(), Vec::new());
    while let Some((at, happening)) = medium.take() {
        match happening {
            Happening::Delivery { .. } => delivered.push(at),
            Happening::Report { acknowledged, .. } => reported.push((at, acknowledged)),
        }
    }
    // The five were there when the first counter ended, so that one PPDU took them.
    assert_eq!((delivered.len(), reported.len()), (5, 5));
    assert!(reported.iter().all(|one| *one == reported[0] && one.1));
    // 1542 octets of a subframe with padding are 47.4 symbols of 260 bits.
    for pair in delivered.windows(2) {
        let apart = (pair[1] - pair[0]).as_micros_f64();
        assert!((188.0..=192.0).contains(&apart), "{apart}");
    }
    // SIFS and a block ack of 32 octets at 24 Mb/s after the last.
    let answer = (reported[0].0 - delivered[4]).as_micros_f64();
    assert_eq!(answer, 16.0 + 32.0);
}

#[test]
fn a_lost_part_of_an_aggregate_is_sent_again_and_nothing_comes_twice() {
    let mut medium = Medium::new(
        settings(
            2,
            r#","standard":"802.11n","noise_figure_db":7,"levels":[{"radios":["r0","r1"],
            "points":[{"dbm":-75}]}],"queue_frames":100"#,
        ),
        Instant::ZERO,
    );
    let count = 90u16;
    for number in 0..count {
        let mut octets = frame(1, Some(0), true, 1_534);
        octets[22..24].copy_from_slice(&(number << 4).to_le_bytes());
        let mut offer = offer(1, octets, 7, 30, u64::from(number));
        offer.chain[0].flags = flag::MCS;
        medium.offer(Instant::ZERO, offer);
    }
    medium.advance(Instant::ZERO + Duration::from_secs(5));
    let (mut delivered, mut reported, mut repeated) = (Vec::new(), Vec::new(), 0);
    while let Some((_, happening)) = medium.take() {
        match happening {
            Happening::Delivery { octets, .. } => {
                delivered.push(u16::from_le_bytes([octets[22], octets[23]]) >> 4);
                repeated += u32::from(octets[1] & 0x08 != 0);
            }
            Happening::Report {
                ticket,
                acknowledged,
                ..
            } => {
                assert!(acknowledged);
                reported.push(ticket);
            }
        }
    }
    assert!(repeated > 0, "the level must cost some frames");
    reported.sort_unstable();
    assert_eq!(reported, (0..u64::from(count)).collect::<Vec<_>>());
    delivered.sort_unstable();
    assert_eq!(delivered, (0..count).collect::<Vec<_>>());
    let rates = &medium.counts().radios[1].data_attempts;
    assert_eq!(rates.len(), 1);
    assert_eq!(
        rates["MCS 7, 1 streams, 20 MHz, 800 ns"],
        medium.counts().radios[1].attempts
    );
}

#[test]
fn eapol_in_clear_is_no_data_whose_rate_a_study_fixes() {
    let mut medium = Medium::new(settings(2, ""), Instant::ZERO);
    for (ticket, qos) in [(1, false), (2, true)] {
        let mut octets = frame(1, Some(0), qos, 150);
        let header = if qos { 26 } else { 24 };
        octets[header..header + 8].copy_from_slice(&[0xaa, 0xaa, 3, 0, 0, 0, 0x88, 0x8e]);
        medium.offer(Instant::ZERO, offer(1, octets, 0, 7, ticket));
    }
    medium.offer(
        Instant::ZERO,
        offer(1, frame(1, Some(0), true, 150), 11, 7, 3),
    );
    medium.advance(Instant::ZERO + Duration::from_secs(1));
    let counts = &medium.counts().radios[1];
    assert_eq!(counts.attempts, 3);
    let rates: Vec<_> = counts.data_attempts.iter().collect();
    assert_eq!(rates, [(&"54".to_owned(), &1)]);
}

#[test]
fn several_saturated_stations_share_the_air_as_the_chain_says() {
    for stations in [2, 5, 10] {
        let v = dsss(DsssRate::M11);
        let exchange = Exchange::single(&v, BasicRates::dsss_default(), &TimingSet::DSSS, 1_536);
        let chain = bianchi(&exchange, stations, 7, CollisionTime::FrameAndSpace);
        let text = r#","standard":"802.11b""#;
        let done = saturate(settings(stations as usize + 1, text), 3, false, 1_532, 120);
        let ratio = done as f64 / 120.0 / chain.exchanges_per_s;
        // The chain's own error is of this size: it takes a busy medium for one slot of back-off.
        assert!((ratio - 1.0).abs() < 0.04, "{stations}: {ratio}");
    }
}

#[test]
fn hidden_stations_lose_what_overlaps() {
    let seen = saturate(settings(3, r#","standard":"802.11b""#), 3, false, 1_532, 60);
    let hidden = settings(3, r#","standard":"802.11b","hidden":[["r1","r2"]]"#);
    let unseen = saturate(hidden, 3, false, 1_532, 60);
    assert!(unseen * 3 < seen * 2, "{unseen} of {seen}");
}

#[test]
fn weak_frames_are_repeated_down_the_chain_and_given_up() {
    let far = settings(
        2,
        r#","levels":[{"radios":["r0","r1"],"points":[{"dbm":-92}]}],
        "carrier_sense_dbm":-99"#,
    );
    let mut medium = Medium::new(far, Instant::ZERO);
    let mut one = offer(1, frame(1, Some(0), false, 1_500), 11, 3, 1);
    one.chain[1] = Step {
        index: 8,
        count: 2,
        flags: 0,
    };
    medium.offer(Instant::ZERO, one);
    medium.advance(Instant::ZERO + Duration::from_secs(1));
    let (_, last) = std::iter::from_fn(|| medium.take()).last().unwrap();
    let Happening::Report {
        acknowledged,
        tried,
        ..
    } = last
    else {
        panic!("no report");
    };
    assert!(!acknowledged);
    assert_eq!((tried[0].index, tried[0].count), (11, 3));
    assert_eq!((tried[1].index, tried[1].count), (8, 2));
    assert_eq!(tried[2].index, -1);
    let counts = medium.counts();
    assert_eq!(counts.radios[1].attempts, 5);
    assert_eq!(counts.radios[1].retries, 4);
    assert_eq!(counts.radios[1].given_up, 1);
}

#[test]
fn a_repetition_has_its_retry_bit() {
    // So far that about half of the frames arrive.
    let noise = milliwatts(noise_floor(20e6, Db(7.0)));
    let v = dsss(DsssRate::M11);
    let half = (-950..-400)
        .map(|tenth| f64::from(tenth) / 10.0)
        .find(|dbm| frame_success(&v, milliwatts(Dbm(*dbm)) / noise, 1_504) > 0.5)
        .unwrap();
    let text = format!(
        r#","levels":[{{"radios":["r0","r1"],"points":[{{"dbm":{half}}}]}}],
        "carrier_sense_dbm":-99,"standard":"802.11b""#
    );
    let far = settings(2, &text);
    let mut medium = Medium::new(far, Instant::ZERO);
    for ticket in 0..60 {
        let octets = frame(1, Some(0), false, 1_500);
        medium.offer(Instant::ZERO, offer(1, octets, 3, 7, ticket));
    }
    medium.advance(Instant::ZERO + Duration::from_secs(10));
    let mut bits = [0, 0];
    while let Some((_, happening)) = medium.take() {
        if let Happening::Delivery { octets, .. } = happening {
            bits[usize::from(octets[1] & 0x08 != 0)] += 1;
        }
    }
    let counts = &medium.counts().radios[1];
    assert!(bits[0] > 5 && bits[1] > 5, "{bits:?} {counts:?}");
}

#[test]
fn a_station_on_another_channel_does_not_answer() {
    let mut medium = Medium::new(settings(2, ""), Instant::ZERO);
    let mut away = offer(0, frame(0, None, false, 60), 0, 1, 1);
    away.frequency_mhz = 2_437;
    medium.offer(Instant::ZERO, away);
    medium.offer(
        Instant::ZERO,
        offer(1, frame(1, Some(0), false, 100), 11, 2, 2),
    );
    medium.advance(Instant::ZERO + Duration::from_secs(1));
    let reports = std::iter::from_fn(|| medium.take()).filter_map(|(_, h)| match h {
        Happening::Report {
            ticket,
            acknowledged,
            ..
        } => Some((ticket, acknowledged)),
        Happening::Delivery { .. } => None,
    });
    assert!(reports.collect::<Vec<_>>().contains(&(2, false)));
}

#[test]
fn without_airtime_frames_pass_at_once() {
    let mut medium = Medium::new(settings(3, r#","airtime":false"#), Instant::ZERO);
    let at = Instant::ZERO + Duration::from_millis(5);
    for ticket in 0..500 {
        medium.offer(at, offer(1, frame(1, Some(0), false, 1_500), 0, 7, ticket));
    }
    let all: Vec<_> = std::iter::from_fn(|| medium.take()).collect();
    assert_eq!(all.len(), 1_000);
    assert!(all.iter().all(|(when, _)| *when == at));
    assert_eq!(medium.counts().radios[1].queue_drops, 0);
}

#[test]
fn equal_seeds_give_equal_airs() {
    let run = |seed| {
        let text = format!(r#","standard":"802.11b","seed":{seed}"#);
        saturate(settings(6, &text), 3, false, 700, 20)
    };
    assert_eq!(run(4), run(4));
    assert_ne!(run(4), run(5));
}

#[derive(Debug, Clone)]
struct Given {
    after_us: u64,
    radio: usize,
    to: Option<usize>,
    qos: bool,
    octets: usize,
    index: i8,
    count: u8,
}

fn given() -> impl Strategy<Value = Given> {
    let to = prop_oneof![3 => (0usize..4).prop_map(Some), 1 => Just(None)];
    (
        0u64..3_000,
        0usize..4,
        to,
        any::<bool>(),
        30usize..1_600,
        0i8..12,
        1u8..5,
    )
        .prop_map(|(after_us, radio, to, qos, octets, index, count)| Given {
            after_us,
            radio,
            to: to.filter(|to| *to != radio),
            qos,
            octets,
            index,
            count,
        })
}

/// The happenings that a caller takes who attends whenever `next` says, and how often it attends.
fn course(
    rules: Settings,
    all: &[Given],
    rts: bool,
    next: fn(&Medium) -> Option<Instant>,
) -> (Vec<(Instant, Happening)>, u32) {
    let mut medium = Medium::new(rules, Instant::ZERO);
    medium.start_flows(Instant::ZERO, [0.0, 1.0], false);
    let (mut now, mut wakes, mut taken) = (Instant::ZERO, 0, Vec::new());
    let mut play = |medium: &mut Medium, until: Instant| {
        while let Some(at) = next(medium).filter(|at| *at <= until) {
            wakes += 1;
            medium.advance(at);
            while let Some((happened_at, happening)) = medium.take() {
                assert_eq!(happened_at, at, "it was handed over later than it happened");
                taken.push((at, happening));
            }
        }
    };
    for (ticket, one) in all.iter().enumerate() {
        now += Duration::from_micros(one.after_us);
        play(&mut medium, now);
        let octets = frame(one.radio, one.to, one.qos, one.octets);
        let mut offer = offer(one.radio, octets, one.index, one.count, ticket as u64);
        offer.chain[0].flags = if rts { flag::RTS_CTS } else { 0 };
        medium.offer(now, offer);
        // A full queue drops a frame at once.
        play(&mut medium, now);
        while medium.take().is_some() {}
    }
    play(&mut medium, now + Duration::from_millis(500));
    medium.end_flows(now + Duration::from_millis(500));
    play(&mut medium, now + Duration::from_secs(20));
    (taken, wakes)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Nothing is handed over before the instant that the medium names, and a caller that sleeps
    /// until then takes the same at the same instants as one that attends to every event.
    #[test]
    fn a_caller_may_sleep_until_something_is_handed_over(
        all in prop::collection::vec(given(), 1..60), dbm in -95f64..-40.0, rts in any::<bool>(),
    ) {
        let text = format!(
            r#","queue_frames":5,"standard":"802.11b","carrier_sense_dbm":-99,
            "levels":[{{"radios":["r0","r3"],"points":[{{"dbm":{dbm}}}]}}],
            "hidden":[["r1","r2"]]"#
        );
        let rules = settings(4, &text);
        let course = |next| course(rules.clone(), &all, rts, next);
        let (every, often) = course(Medium::next_at);
        let (same, seldom) = course(Medium::hands_over_at);
        prop_assert_eq!(every, same);
        prop_assert!(seldom < often);
    }

    /// The same beside simulated stations, whose frames are not handed over.
    #[test]
    fn a_caller_may_sleep_beside_simulated_stations(
        all in prop::collection::vec(given(), 1..40), dbm in -95f64..-40.0, rts in any::<bool>(),
        interval_s in prop_oneof![Just("null"), Just("0.002")],
    ) {
        let station = format!(
            r#""frequency_mhz":2412,"rate":"11","up":{{"msdu_octets":500,"interval_s":{interval_s}}},
            "down":{{"msdu_octets":500,"interval_s":0.01}}"#
        );
        let rest = format!(
            r#","queue_frames":5,"standard":"802.11b","carrier_sense_dbm":-99,
            "levels":[{{"radios":["r0","r3"],"points":[{{"dbm":{dbm}}}]}}],
            "hidden":[["r1","r2"],["r1","s0"]]"#
        );
        let rules = flows::cell(3, 2, &station, &rest);
        let course = |next| course(rules.clone(), &all, rts, next);
        let (every, often) = course(Medium::next_at);
        let (same, seldom) = course(Medium::hands_over_at);
        prop_assert_eq!(every, same);
        prop_assert!(seldom < often);
    }

    /// Under any load: every frame is reported once; a frame reported as acknowledged was
    /// delivered or dropped at a full queue; no radio transmits longer than the time; time never
    /// runs backwards.
    #[test]
    fn nothing_is_lost_or_doubled(all in prop::collection::vec(given(), 1..120), dbm in -95f64..-40.0) {
        let text = format!(
            r#","queue_frames":5,"standard":"802.11b","carrier_sense_dbm":-99,
            "levels":[{{"radios":["r0","r3"],"points":[{{"dbm":{dbm}}}]}}],
            "hidden":[["r1","r2"]]"#
        );
        let mut medium = Medium::new(settings(4, &text), Instant::ZERO);
        let mut now = Instant::ZERO;
        for (ticket, one) in all.iter().enumerate() {
            now += Duration::from_micros(one.after_us);
            let octets = frame(one.radio, one.to, one.qos, one.octets);
            medium.offer(now, offer(one.radio, octets, one.index, one.count, ticket as u64));
        }
        medium.advance(now + Duration::from_secs(20));
        prop_assert_eq!(medium.next_at(), None);
        prop_assert_eq!(medium.hands_over_at(), None);
        let (mut reported, mut acknowledged, mut delivered) = (vec![0; all.len()], 0, 0);
        let mut last = Instant::ZERO;
        while let Some((at, happening)) = medium.take() {
            prop_assert!(at >= last);
            last = at;
            match happening {
                Happening::Report { ticket, acknowledged: yes, tried, .. } => {
                    reported[ticket as usize] += 1;
                    acknowledged += usize::from(yes);
                    let count: u32 = tried.iter().filter(|s| s.index >= 0).map(|s| u32::from(s.count)).sum();
                    prop_assert!(count >= 1 && count <= u32::from(all[ticket as usize].count));
                }
                Happening::Delivery { .. } => delivered += 1,
            }
        }
        prop_assert!(reported.iter().all(|n| *n == 1));
        let counts = medium.counts();
        let sum = |f: fn(&crate::RadioCounts) -> u64| counts.radios.iter().map(f).sum::<u64>();
        prop_assert_eq!(sum(|r| r.frames) as usize, all.len());
        prop_assert_eq!(sum(|r| r.sent + r.given_up + r.queue_drops), sum(|r| r.frames));
        prop_assert_eq!(sum(|r| r.received), delivered);
        prop_assert!(acknowledged as u64 <= delivered + sum(|r| r.queue_drops));
        prop_assert!(counts.channels[0].busy_s <= counts.span_s);
        for radio in &counts.radios {
            prop_assert!(radio.air_s <= counts.span_s);
        }
    }
}
