//! Devices in the medium: one CPU each, the simulator's costs, the operations of handshakes.

use std::collections::VecDeque;

use airtoll_handshakes::{
    Carrier, Emission, Negotiation, Operation, Options, Party, PolicySpec, describe,
};
use airtoll_units::{Duration, Instant};
use airtoll_wire::ieee80211::frame::FrameControl;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

use super::{frame, offer, saturate, settings};
use crate::{Happening, Medium, Settings};

const OPEN: &str = r#"{"name":"open","link":{"cipher":"open","group_cipher":"open"}}"#;
const SAE: &str = r#"{"name":"wpa3-sae-ccmp","link":{"cipher":"ccmp-128","group_cipher":"ccmp-128",
    "akm":"sae","authentication":"sae","pmf":"required"}}"#;
const TLS: &str = r#"{"name":"wpa2-eap-tls-ccmp","link":{"cipher":"ccmp-128",
    "group_cipher":"ccmp-128","akm":"802.1x","eap_method":"tls"}}"#;
const SECONDS: u64 = 5;

/// A medium with these devices, each a list of radios and a host, in JSON.
fn with_devices(radios: usize, hosts: &[(&str, &str)], rest: &str, policy: &str) -> Settings {
    let list: Vec<String> = hosts
        .iter()
        .map(|(radios, host)| format!(r#"{{"radios":[{radios}],"host":{{{host}}}}}"#))
        .collect();
    let devices = format!(
        r#","devices":{{"radios":[{}],"cipher":"ccmp-128","policy":{policy}{rest}}}"#,
        list.join(",")
    );
    settings(radios, &devices)
}

#[test]
fn a_slow_cpu_limits_its_station() {
    let slow = r#""transmit":{"fixed_ns":1500000,"per_octet_ns":333}"#;
    let done = saturate(
        with_devices(2, &[(r#""r1""#, slow)], "", OPEN),
        11,
        false,
        1_532,
        SECONDS,
    );
    // The packet of 1500 octets behind the MAC header (24) and LLC (8): 1.5 ms and 0.4995 ms.
    let most = SECONDS as f64 / 1.9995e-3;
    assert!((done as f64 / most - 1.0).abs() < 0.002, "{done} of {most}");
}

#[test]
fn a_slow_receiver_delays_packets_but_not_acknowledgements() {
    let slow = r#""receive":{"fixed_ns":3000000}"#;
    let mut medium = Medium::new(
        with_devices(2, &[(r#""r0""#, slow)], "", OPEN),
        Instant::ZERO,
    );
    medium.offer(Instant::ZERO, offer(0, frame(0, None, false, 60), 11, 1, 0));
    for ticket in 1..=3 {
        let octets = frame(1, Some(0), false, 500);
        medium.offer(Instant::ZERO, offer(1, octets, 11, 7, ticket));
    }
    medium.advance(Instant::ZERO + Duration::from_secs(1));
    let (mut delivered, mut reported) = (Vec::new(), Vec::new());
    while let Some((at, happening)) = medium.take() {
        match happening {
            Happening::Delivery { to: 0, .. } => delivered.push(at),
            Happening::Report {
                from: 1,
                acknowledged: true,
                ..
            } => reported.push(at),
            _ => {}
        }
    }
    let ms = Duration::from_millis;
    assert_eq!((delivered.len(), reported.len()), (3, 3));
    assert!(reported[2] < Instant::ZERO + ms(3), "{reported:?}");
    assert_eq!(delivered[1] - delivered[0], ms(3));
    assert_eq!(delivered[2] - delivered[1], ms(3));
}

#[test]
fn radios_of_one_device_share_its_cpu() {
    let slow = r#""transmit":{"fixed_ns":1000000}"#;
    let run = |hosts: &[(&str, &str)]| {
        let settings = with_devices(3, hosts, "", OPEN);
        saturate(settings, 11, false, 500, SECONDS) as f64 / SECONDS as f64
    };
    let shared = run(&[(r#""r1","r2""#, slow)]);
    let alone = run(&[(r#""r1""#, slow), (r#""r2""#, slow)]);
    assert!((shared - 1_000.0).abs() < 5.0, "{shared}");
    assert!((alone - 2_000.0).abs() < 10.0, "{alone}");
}

#[test]
fn ciphers_work_where_the_host_has_them() {
    let cost = r#"{"fixed_ns":0,"per_octet_ns":1000}"#;
    let cipher =
        format!(r#""ciphers":[{{"cipher":"ccmp-128","encrypt":{cost},"decrypt":{cost}}}]"#);
    let stack = r#""transmit":{"fixed_ns":500000}"#;
    // 1000 octets of packet and 8 of LLC behind 24 of header, 8 of CCMP header and 8 of MIC.
    let sealed = |engine: &str| {
        let host = format!(r#"{stack},"engine":"{engine}",{cipher}"#);
        let mut medium = Medium::new(
            with_devices(2, &[(r#""r1""#, &host)], "", SAE),
            Instant::ZERO,
        );
        medium.offer(Instant::ZERO, offer(0, frame(0, None, false, 60), 11, 1, 0));
        let mut reports = Vec::new();
        for ticket in 1..=20 {
            let mut octets = frame(1, Some(0), false, 1_048);
            let control = FrameControl(u16::from_le_bytes([octets[0], octets[1]]));
            octets[..2].copy_from_slice(&control.with_protected(true).0.to_le_bytes());
            medium.offer(Instant::ZERO, offer(1, octets, 11, 7, ticket));
        }
        medium.advance(Instant::ZERO + Duration::from_secs(1));
        while let Some((at, happening)) = medium.take() {
            if let Happening::Report {
                from: 1,
                acknowledged: true,
                ..
            } = happening
            {
                reports.push(at);
            }
        }
        assert_eq!(reports.len(), 20);
        let device = &medium.counts().devices[0];
        let last = (reports[19] - reports[9]).as_secs_f64() / 10.0;
        (last, device.cpu_s, device.engines_s)
    };
    for (engine, each_s, cpu_s, engines_s) in [
        ("cpu", 1.508e-3, 20.0 * 1.508e-3, 0.0),
        ("inline", 1.008e-3, 10e-3, 20.0 * 1.008e-3),
        ("coprocessor", 1.008e-3, 10e-3, 20.0 * 1.008e-3),
    ] {
        let found = sealed(engine);
        // Back-offs differ from frame to frame.
        assert!((found.0 - each_s).abs() < 0.03e-3, "{engine}: {found:?}");
        assert!((found.1 - cpu_s).abs() < 1e-9, "{engine}: {found:?}");
        assert!((found.2 - engines_s).abs() < 1e-9, "{engine}: {found:?}");
    }
}

/// A data frame of the access point r0: from DS, from a source on its cable or in its BSS.
fn down(to: usize, source: [u8; 6]) -> Vec<u8> {
    let mut octets = frame(0, Some(to), false, 532);
    octets[1] = 0x02;
    octets[16..22].copy_from_slice(&source);
    octets
}

#[test]
fn an_access_point_forwards_and_pays_once_within_its_bss() {
    let ap = r#""transmit":{"fixed_ns":1000000},"receive":{"fixed_ns":2000000},
        "forward":{"fixed_ns":4000000}"#;
    let wired = r#","wired":{"transmit":{"fixed_ns":8000000},"receive":{"fixed_ns":16000000}}"#;
    let hosts = [(r#""r0""#, ap), (r#""r1""#, ""), (r#""r2""#, "")];
    let worked = |frames: &[(usize, Vec<u8>)]| {
        let mut medium = Medium::new(with_devices(3, &hosts, wired, OPEN), Instant::ZERO);
        for (ticket, (radio, octets)) in frames.iter().enumerate() {
            let now = Instant::ZERO + Duration::from_millis(100 * ticket as u64);
            medium.offer(now, offer(*radio, octets.clone(), 11, 7, ticket as u64));
        }
        medium.advance(Instant::ZERO + Duration::from_secs(1));
        let counts = medium.counts();
        let ms = |name: &str| {
            let device = counts.devices.iter().find(|device| device.name == name);
            (device.expect("the device").cpu_s * 1e3).round() as u32
        };
        (ms("r0"), ms("wired host"))
    };
    let up = |destination: [u8; 6]| {
        let mut octets = frame(1, Some(0), false, 532);
        octets[16..22].copy_from_slice(&destination);
        octets
    };
    let (outside, second) = ([2, 9, 9, 9, 9, 9], [2, 0, 0, 0, 2, 0]);
    let first = [2, 0, 0, 0, 1, 0];
    let itself = [2, 0, 0, 0, 0, 0];
    assert_eq!(worked(&[(0, down(1, itself))]), (1, 0));
    assert_eq!(worked(&[(0, down(1, outside))]), (4, 8));
    assert_eq!(worked(&[(1, up(itself))]), (2, 0));
    assert_eq!(worked(&[(1, up(outside))]), (4, 16));
    assert_eq!(worked(&[(1, up(second)), (0, down(2, first))]), (4, 0));
}

#[test]
fn a_full_queue_counts_frames_that_wait_for_the_cpu() {
    let slow = r#""transmit":{"fixed_ns":1000000}"#;
    let mut settings = with_devices(2, &[(r#""r1""#, slow)], "", OPEN);
    settings.queue_frames = 10;
    let mut medium = Medium::new(settings, Instant::ZERO);
    for ticket in 0..30 {
        let octets = frame(1, Some(0), false, 500);
        medium.offer(Instant::ZERO, offer(1, octets, 11, 7, ticket));
    }
    medium.abandon();
    let counts = &medium.counts().radios[1];
    assert_eq!(
        (counts.frames, counts.queue_drops, counts.given_up),
        (30, 20, 10)
    );
    medium.advance(Instant::ZERO + Duration::from_secs(1));
    assert_eq!(medium.next_at(), None);
}

/// The messages of a policy's association on the air, and the work of each party.
fn carried(policy: &str, seed: u64) -> (Vec<Emission>, Vec<(Party, Vec<Operation>)>) {
    let policy: PolicySpec = serde_json::from_str(policy).unwrap();
    let rng = Box::new(ChaCha8Rng::seed_from_u64(seed));
    let negotiation = Negotiation::new(policy, Options::default(), rng).unwrap();
    let (records, _) = negotiation.run().unwrap();
    let all: VecDeque<Emission> = records.into_iter().flat_map(|r| r.emissions).collect();
    let works = all.iter().map(|e| (e.message.from, e.operations.clone()));
    let works = works.collect();
    let on_air = all
        .into_iter()
        .filter(|e| matches!(e.message.carrier, Carrier::Management | Carrier::Eapol));
    (on_air.collect(), works)
}

/// A message as a frame between the station r1 and the access point r0.
fn framed(emission: &Emission) -> (usize, Vec<u8>) {
    let message = &emission.message;
    let station = message.from == Party::Station;
    let from = usize::from(station);
    let octets = match message.carrier {
        Carrier::Management => {
            let mut octets = message.octets.clone();
            octets[4..10].copy_from_slice(&[2, 0, 0, 0, 1 - from as u8, 0]);
            octets[10..16].copy_from_slice(&[2, 0, 0, 0, from as u8, 0]);
            octets[16..22].copy_from_slice(&[2, 0, 0, 0, 0, 0]);
            octets
        }
        _ => {
            let mut octets = frame(from, Some(1 - from), false, 0);
            octets.truncate(24);
            octets[1] = if station { 0x01 } else { 0x02 };
            octets.extend([0xaa, 0xaa, 3, 0, 0, 0, 0x88, 0x8e]);
            octets.extend(&message.octets);
            octets
        }
    };
    (from, octets)
}

/// How long each message takes from its offer to its delivery, every one offered `copies` times.
fn times(settings: Settings, messages: &[Emission], copies: u64) -> Vec<Vec<f64>> {
    let mut medium = Medium::new(settings, Instant::ZERO);
    let mut now = Instant::ZERO;
    let mut found = Vec::new();
    for (number, emission) in messages.iter().enumerate() {
        let mut each = Vec::new();
        for copy in 0..copies {
            now += Duration::from_secs(2);
            let (radio, octets) = framed(emission);
            let ticket = number as u64 * copies + copy;
            medium.offer(now, offer(radio, octets, 0, 7, ticket));
            medium.advance(now + Duration::from_secs(1));
            while let Some((at, happening)) = medium.take() {
                if matches!(happening, Happening::Delivery { .. }) {
                    each.push((at - now).as_secs_f64());
                }
            }
        }
        found.push(each);
    }
    found
}

const PRICES: &str = r#""operations_ns":{"p-256-scalar-mul":10000000,"rsa-2048-sign":70000000,
    "rsa-2048-verify":3000000,"sha256-block":20000}"#;

/// Milliseconds of these operations at `PRICES`.
fn price_ms<'a>(operations: impl Iterator<Item = &'a Operation>) -> f64 {
    operations
        .map(|operation| match operation.priced() {
            (name, units) if name == "p-256-scalar-mul" => 10.0 * units as f64,
            (name, units) if name == "rsa-2048-sign" => 70.0 * units as f64,
            (name, units) if name == "rsa-2048-verify" => 3.0 * units as f64,
            (name, units) if name == "sha256-block" => 0.02 * units as f64,
            _ => 0.0,
        })
        .sum()
}

#[test]
fn a_handshake_message_waits_for_its_operations() {
    for policy in [SAE, TLS] {
        let (messages, works) = carried(policy, 99);
        let hosts = [(r#""r0""#, PRICES), (r#""r1""#, PRICES)];
        let server = format!(r#","authentication_server":{{{PRICES}}}"#);
        let charged = times(with_devices(2, &hosts, &server, policy), &messages, 2);
        let free = times(settings(2, ""), &messages, 2);
        let mut sums = [0.0; 2];
        for ((message, charged), free) in messages.iter().zip(&charged).zip(&free) {
            let name = describe(&message.message).1;
            assert_eq!((charged.len(), free.len()), (2, 2), "{name}");
            let which = usize::from(message.message.from != Party::Station);
            sums[which] += (charged[0] - free[0]) * 1e3;
            // The same octets again are a repetition. Back-offs differ by less than 2 ms.
            assert!(
                (charged[1] - free[1]).abs() < 2e-3,
                "{name}: {charged:?} {free:?}"
            );
        }
        for (which, sum) in sums.into_iter().enumerate() {
            let own = works
                .iter()
                .filter(|(p, _)| usize::from(*p != Party::Station) == which);
            let expected = price_ms(own.flat_map(|(_, operations)| operations));
            assert!(expected > 30.0, "{expected}");
            // Work after a party's last reaction is known to the account alone: hashes.
            let near = (sum - expected).abs() < 2.0 * messages.len() as f64;
            assert!(near, "{policy} {which}: {sum} ms of {expected}");
        }
    }
}

#[test]
fn a_second_association_costs_the_same_again() {
    let hosts = [(r#""r0""#, PRICES), (r#""r1""#, PRICES)];
    let both: Vec<Emission> = [1, 2]
        .into_iter()
        .flat_map(|seed| carried(SAE, seed).0)
        .collect();
    let half = both.len() / 2;
    let took = times(with_devices(2, &hosts, "", SAE), &both, 1);
    let sum = |each: &[Vec<f64>]| each.iter().flatten().sum::<f64>();
    let (first, second) = (sum(&took[..half]), sum(&took[half..]));
    assert!(first > 0.08, "{first}");
    assert!((first - second).abs() < 10e-3, "{first} {second}");
}
