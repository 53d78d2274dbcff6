//! Neighbours whose channels overlap that of the cell in part.

use airtoll_phy as phy;
use airtoll_units::Instant;
use phy::{Band, GuardInterval, TxVector, Width};

use super::neighbours::{beside, without_neighbours};
use super::*;
use crate::id::{ContenderId, RadioId};
use crate::medium::{AirTime, FrameKind, Mark, Power, Reception, Transmission};

/// A cell of 802.11ax in `own` MHz with MCS 7 beside one neighbour in `theirs` MHz with the primary channel
/// `primary`, with a saturated station each.
fn apart(own: u16, (theirs, primary): (u16, u8), level_dbm: f64, seconds: f64) -> Scenario {
    let ax = format!(
        r#""standard": "802.11ax", "width_mhz": {own}, "rate": {{"control": "fixed_mcs", "mcs": 7}}"#
    );
    let mut scenario = beside(&ax, 1, (1, 1), level_dbm, seconds);
    scenario.bss[1].width_mhz = theirs;
    scenario.bss[1].primary = primary;
    scenario.check().unwrap();
    scenario
}

/// The neighbour leaves no pause longer than PIFS.
fn fill(scenario: &mut Scenario) {
    let at_once = crate::scenario::EdcaParameters {
        aifsn: Some(1),
        cw_min: Some(0),
        cw_max: Some(0),
        txop_us: None,
    };
    scenario.bss[1].edca_parameters = Some([at_once; 4]);
}

fn alone(own: u16, seconds: f64) -> Scenario {
    let ax = format!(
        r#""standard": "802.11ax", "width_mhz": {own}, "rate": {{"control": "fixed_mcs", "mcs": 7}}"#
    );
    beside(&ax, 1, (0, 0), -60.0, seconds)
}

#[test]
fn a_neighbour_outside_the_channel_changes_no_bit() {
    for (own, theirs) in [
        (80, (80, 4)),
        (80, (20, 4)),
        (20, (40, 2)),
        (40, (160, 8)),
        (20, (20, 1)),
    ] {
        let make = |cells| {
            let mut scenario = beside(AX80, 3, (cells, 2), -40.0, 0.5);
            for (at, bss) in scenario.bss.iter_mut().enumerate() {
                bss.beacons = serde_json::from_str("{}").unwrap();
                bss.rate = serde_json::from_str(r#"{"control": "minstrel"}"#).unwrap();
                (bss.width_mhz, bss.primary) = if at == 0 { (own, 0) } else { theirs };
            }
            scenario.check().unwrap();
            simulate(&scenario, 4)
        };
        let (without, with) = (make(0), make(1));
        assert_eq!(without_neighbours(&without), without_neighbours(&with));
        assert_eq!(total(&with, "airtime_neighbours_s"), 0.0);
    }
}

#[test]
fn a_neighbour_of_the_same_channel_is_as_if_no_other_width_were_near() {
    // The second neighbour is outside the channel of the first two cells, and makes them count widths.
    for more in ["", r#", "beacons": {}, "rts_threshold_octets": 500"#] {
        let bss = format!(r#"{AX80}{more}"#);
        let same = beside(&bss, 2, (1, 2), -60.0, 1.0);
        let mut three = beside(&bss, 2, (2, 2), -60.0, 1.0);
        three.bss[2].width_mhz = 40;
        three.bss[2].primary = 6;
        three.check().unwrap();
        assert!(!same.overlaps_in_part() && three.overlaps_in_part());
        let (same, three) = (simulate(&same, 2), simulate(&three, 2));
        assert!(total(&same, "airtime_neighbours_s") > 0.0);
        assert_eq!(same.rows, three.rows, "{more}");
    }
}

#[test]
fn beside_a_neighbour_that_fills_a_secondary_channel_the_cell_is_as_wide_as_what_is_left() {
    for (own, theirs, left) in [
        (40, (20, 1), 20),
        (80, (20, 1), 20),
        (80, (40, 2), 40),
        (80, (20, 3), 40),
        (160, (80, 4), 80),
        (160, (20, 2), 40),
    ] {
        let mut scenario = apart(own, theirs, -60.0, 0.5);
        fill(&mut scenario);
        let beside = simulate(&scenario, 1);
        let narrow = simulate(&alone(left, 0.5), 1);
        assert_eq!(
            without_neighbours(&beside),
            without_neighbours(&narrow),
            "{own} {theirs:?}"
        );
        // Its time is not the cell's.
        assert_eq!(total(&beside, "airtime_neighbours_s"), 0.0);
    }
}

#[test]
fn below_minus_72_dbm_a_secondary_channel_counts_as_idle() {
    let wide = mbps(&simulate(&alone(80, 1.0), 1));
    let at = |level| {
        let mut scenario = apart(80, (40, 2), level, 1.0);
        fill(&mut scenario);
        mbps(&simulate(&scenario, 1)) / wide
    };
    assert!(at(-71.9) < 0.6, "{}", at(-71.9));
    // 80 MHz at -45 dBm over 40 MHz at -72.1 lose nothing with MCS 7.
    for level in [-72.1, -82.1] {
        assert!((at(level) - 1.0).abs() < 0.01, "{level}: {}", at(level));
    }
}

#[test]
fn no_trial_beside_a_saturated_neighbour_stands_still() {
    // TXOPs have at least what is left of the channel, and at most all of it.
    for (own, theirs, left) in [
        (40, (20, 1), 20),
        (80, (20, 1), 20),
        (80, (20, 2), 40),
        (80, (20, 3), 40),
        (160, (40, 4), 80),
    ] {
        let [least, most] = [left, own].map(|width| mbps(&simulate(&alone(width, 0.5), 1)));
        for seed in 1..=8 {
            let found = mbps(&simulate(&apart(own, theirs, -60.0, 0.5), seed));
            let named = format!("{own} {theirs:?}, seed {seed}: {least} {found} {most}");
            assert!((0.97 * least..=most).contains(&found), "{named}");
        }
    }
}

#[test]
fn a_connection_begins_only_where_its_rate_withstands_a_neighbour_below_minus_72_dbm() {
    // -55 dBm over -75 dBm that fill 20 MHz: 20 dB, which MCS 5 withstands and MCS 11 does not. Each frame of the
    // first segment overlaps one of the neighbour, and the connection waits longer from one to the next.
    let connection = |mcs: u8| {
        let mut scenario = apart(80, (20, 2), -75.0, 4.0);
        fill(&mut scenario);
        let rate = format!(r#"{{"control": "fixed_mcs", "mcs": {mcs}}}"#);
        scenario.bss[0].rate = serde_json::from_str(&rate).unwrap();
        scenario.radio.path_loss = crate::scenario::PathLoss::Constant { loss_db: 71.0 };
        scenario.flows[0].transport = serde_json::from_str(r#"{"protocol": "tcp"}"#).unwrap();
        scenario.flows[0].start_s = 0.1;
        simulate(&scenario, 1)
    };
    let lost = connection(11);
    assert!(mbps(&lost) < 0.1, "{}", mbps(&lost));
    // It asks again after 1 and 3 s.
    assert!(total(&lost, "tcp_retransmissions") >= 2.0);
    let found = mbps(&connection(5));
    assert!(found > 100.0, "{found}");
}

#[test]
fn one_exchange_takes_the_time_of_its_width() {
    // A packet of 1,000 octets each 10 ms, and a neighbour that fills one part or another. Time of data frames
    // for each packet.
    let airtime = |theirs: Option<(u16, u8)>| {
        let mut scenario = match theirs {
            None => alone(160, 1.0),
            Some(theirs) => apart(160, theirs, -60.0, 1.0),
        };
        if theirs.is_some() {
            fill(&mut scenario);
        }
        let paced = r#"{"type": "paced", "payload_octets": 1000, "rate_bps": 800000}"#;
        scenario.flows[0].pattern = serde_json::from_str(paced).unwrap();
        let outcome = simulate(&scenario, 1);
        let parts = ["payload", "ip_transport", "mac_phy", "security"];
        let data = parts.map(|part| total(&outcome, &format!("airtime_{part}_s")));
        data.iter().sum::<f64>() / total(&outcome, "packets_received")
    };
    // IP and UDP 28, LLC 8, MAC header with QoS Control 26, FCS 4, delimiter 4.
    let psdu = 1_000 + 28 + 8 + 30 + 4;
    for (theirs, width) in [
        (None, Width::Mhz160),
        (Some((80, 4)), Width::Mhz80),
        (Some((40, 2)), Width::Mhz40),
        (Some((20, 1)), Width::Mhz20),
    ] {
        let (gi, band) = (GuardInterval::Ns800, Band::Ghz5);
        let vector = TxVector::of_mcs(phy::Generation::Ax, 7, 1, width, gi, band).unwrap();
        let expected = phy::airtime(&vector, psdu).as_secs_f64();
        let found = airtime(theirs);
        assert!(
            (found - expected).abs() < 1e-9,
            "{theirs:?}: {found} {expected}"
        );
    }
}

/// Radios of `apart`: the station and the access point of the cell, then those of the neighbour.
fn radios(world: &World) -> [RadioId; 4] {
    let of = |name: &str| {
        let at = ["s0", "ap", "server", "neighbour0/ap", "neighbour0/0"];
        RadioId::new(at.iter().position(|n| *n == name).unwrap() as u32)
    };
    let found = ["s0", "ap", "neighbour0/0", "neighbour0/ap"].map(of);
    assert_eq!(world.stack.lower.medium.radios().count(), 5);
    found
}

/// A frame of a radio on the air for 1 ms from the start of the trial on.
fn on_air(world: &mut World, radio: RadioId, mark: Mark) -> Transmission {
    let lower = &mut world.stack.lower;
    let air = AirTime {
        length: Duration::from_micros(1_000),
        protects: Duration::from_micros(60),
    };
    let contender = ContenderId::new(0);
    let kind = FrameKind::Data;
    let number = lower
        .medium
        .transmit(&mut lower.cx, contender, radio, kind, (air, mark));
    lower.medium.transmission(radio, number)
}

fn data(step: u8) -> Mark {
    Mark {
        colored: false,
        power: Power::Full,
        step,
        copies: false,
    }
}

#[test]
fn a_secondary_channel_has_to_be_idle_for_pifs() {
    let mut world = build::build(&apart(160, (20, 2), -60.0, 1.0), 1).unwrap();
    let [_, ap, neighbour, _] = radios(&world);
    let widest = |world: &World, at| world.stack.lower.medium.idle_step(ap, at);
    assert_eq!(widest(&world, Instant::ZERO), 3);
    let t = on_air(&mut world, neighbour, data(0));
    // Secondary 40: 40 MHz are left.
    assert_eq!(widest(&world, t.start), 1);
    let lower = &mut world.stack.lower;
    let channel = lower.medium.channel_of(neighbour);
    lower.medium.end(&mut lower.cx, channel, t.number);
    // SIFS and a slot.
    let pifs = Duration::from_micros(16 + 9);
    assert_eq!(widest(&world, t.end), 1);
    assert_eq!(widest(&world, t.end + pifs - Duration::from_nanos(1)), 1);
    assert_eq!(widest(&world, t.end + pifs), 3);
}

/// The ratio of powers with which the access point receives a frame of the station over one of the neighbour.
fn ratio(scenario: &Scenario, own: Mark, theirs: Mark) -> Option<f64> {
    let mut world = build::build(scenario, 1).unwrap();
    let [station, ap, neighbour, _] = radios(&world);
    let frame = on_air(&mut world, station, own);
    on_air(&mut world, neighbour, theirs);
    let frame = world.stack.lower.medium.transmission(station, frame.number);
    match world.stack.lower.medium.reception(&frame, ap)? {
        Reception::Over(ratio) => Some(ratio),
        Reception::Clear => Some(f64::INFINITY),
        other => panic!("{other:?}"),
    }
}

#[test]
fn interference_counts_by_the_share_in_the_frames_channel() {
    // -45 dBm over -83 dBm. Thermal noise at 290 K with a noise figure of 7 dB: -94.0 dBm in 20 MHz.
    let milliwatts = |dbm: f64| 10_f64.powf(dbm / 10.0);
    let noise = milliwatts(-173.975 + 73.010 + 7.0);
    let (signal, other) = (milliwatts(-45.0), milliwatts(-83.0));
    let near = |found: Option<f64>, expected: f64| {
        let found = found.unwrap();
        assert!((found / expected - 1.0).abs() < 0.002, "{found} {expected}");
    };
    // 20 MHz in the secondary channel of 80: all of it counts, over the noise of 80 MHz.
    let narrow = apart(80, (20, 1), -83.0, 1.0);
    near(
        ratio(&narrow, data(2), data(0)),
        signal / (4.0 * noise + other),
    );
    // The cell sends 20 MHz in its primary channel beside it: none.
    assert_eq!(ratio(&narrow, data(0), data(0)), Some(f64::INFINITY));
    // 80 MHz over a cell of 20: a quarter.
    let wide = apart(20, (80, 2), -83.0, 1.0);
    near(
        ratio(&wide, data(0), data(2)),
        signal / (noise + other / 4.0),
    );
    // Copies are read in the primary channel, where the interferer is not, or is with all of its power beside
    // a quarter of the signal.
    let copies = Mark {
        copies: true,
        ..data(2)
    };
    assert_eq!(ratio(&narrow, copies, data(0)), Some(f64::INFINITY));
    let primary = apart(80, (20, 0), -83.0, 1.0);
    near(
        ratio(&primary, copies, data(0)),
        signal / (noise + 4.0 * other),
    );
    // Sensed on the primary channel it destroys the frame; in a secondary one its power counts.
    let primary = apart(80, (20, 0), -60.0, 1.0);
    assert_eq!(ratio(&primary, data(2), data(0)), None);
    let secondary = apart(80, (20, 1), -60.0, 1.0);
    near(
        ratio(&secondary, data(2), data(0)),
        signal / (4.0 * noise + milliwatts(-60.0)),
    );
}

#[test]
fn a_station_that_cannot_read_a_wider_frame_waits_for_eifs() {
    let mut world = build::build(&apart(20, (80, 0), -60.0, 1.0), 1).unwrap();
    let [_, ap, neighbour, other] = radios(&world);
    let t = on_air(&mut world, neighbour, data(2));
    let medium = &world.stack.lower.medium;
    // SIFS and an Ack at 6 Mb/s (EIFS less DIFS), or the response that the frame announces.
    let eifs = Duration::from_micros(16 + 44);
    let until = |radio| medium.reserved(&t, medium.class_of(radio));
    assert_eq!(until(ap), t.end + eifs);
    let longer = Transmission {
        protects: Duration::from_micros(500),
        ..t
    };
    let until = |radio| medium.reserved(&longer, medium.class_of(radio));
    assert_eq!(until(ap), t.end + eifs);
    assert_eq!(until(other), t.end + longer.protects);
    // Each 20 MHz channel has the whole of an RTS.
    let copied = Transmission {
        mark: Mark {
            copies: true,
            ..t.mark
        },
        ..longer
    };
    let reserved = medium.reserved(&copied, medium.class_of(ap));
    assert_eq!(reserved, t.end + longer.protects);
}

#[test]
fn the_ledger_adds_up_whatever_the_channels() {
    for theirs in [
        (20, 0),
        (20, 1),
        (40, 2),
        (80, 3),
        (160, 0),
        (160, 6),
        (20, 8),
    ] {
        for level in [-60.0, -75.0, -83.0] {
            let mut scenario = apart(80, theirs, level, 0.5);
            for bss in &mut scenario.bss {
                bss.beacons = serde_json::from_str("{}").unwrap();
            }
            let mut world = world_after(&scenario, 3);
            world.outcome();
            let booked = world.stack.lower.cx.observers.ledger().total();
            assert_eq!(booked, Duration::from_millis(500), "{theirs:?} {level}");
        }
    }
}

#[test]
fn cells_with_other_primary_channels_defer_to_frames_that_cover_theirs() {
    // Both have 80 MHz: each senses all of the other's frames on its primary channel. Some 350 PPDUs of 5.5 ms:
    // a standard error of 7 % of the ratio.
    let same = mbps(&simulate(&apart(80, (80, 0), -60.0, 2.0), 1));
    let other = mbps(&simulate(&apart(80, (80, 2), -60.0, 2.0), 1));
    assert!((other / same - 1.0).abs() < 0.2, "{other} {same}");
    // A neighbour in the primary 20 MHz alone takes turns, too, with PPDUs as long and fewer octets in them.
    let narrow = simulate(&apart(80, (20, 0), -60.0, 2.0), 1);
    let found = mbps(&narrow);
    assert!((found / same - 1.0).abs() < 0.25, "{found} {same}");
    assert!(total(&narrow, "airtime_neighbours_s") > 0.7);
}

#[test]
fn what_is_not_simulated_with_other_widths_is_refused() {
    let refused = |change: &dyn Fn(&mut Scenario), field: &str| {
        let mut scenario = apart(80, (20, 1), -60.0, 1.0);
        change(&mut scenario);
        let error = scenario.check().unwrap_err().to_string();
        assert!(error.contains(field), "{error}");
    };
    refused(&|s| s.bss[1].primary = 32, "bss[1].primary");
    refused(
        &|s| (s.bss[0].color, s.bss[0].obss_pd_dbm) = (1, Some(-70.0)),
        "bss[0].obss_pd_dbm",
    );
    refused(
        &|s| {
            let second = s.nodes[0].clone();
            s.nodes.push(crate::scenario::Node {
                name: "s1".to_owned(),
                ..second
            });
            s.bss[0].ofdma = serde_json::from_str(r#"{"uplink": false}"#).unwrap();
        },
        "bss[0].ofdma",
    );
}
