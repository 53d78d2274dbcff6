//! Goodput against a recorded Linux stack (kernel 6.18, iperf3, CUBIC and BBR).
//!
//! `benchmarks/tcp_rates.py` recorded `tests/validation/tcp/rates.json`: 10 s over a bottleneck of
//! 20 Mb/s with 20 ms of round trip, without loss and with the same losses by number of the data packet.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use airtoll_wlan::transport::{BackPressure, CongestionControl, HystartRule, TcpConfig, TcpSystem};
use serde_json::Value;

use crate::link::{Fate, Link};

const SECOND: u64 = 1_000_000_000;

fn rates() -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/validation/tcp/rates.json");
    let text = fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    serde_json::from_str(&text).unwrap()
}

/// Whether the path drops the data packet of this number (splitmix64, as the recording).
fn drops(number: u64, seed: u64, per_mille: u64) -> bool {
    let x = number.wrapping_add(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15));
    let x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    (x ^ (x >> 31)) % 1_000 < per_mille
}

/// Linux of today on the recorded path: TUN devices gather nothing, and only mac80211 makes the bursts
/// of a paced sender longer.
fn linux(control: &str) -> TcpConfig {
    let config = TcpSystem::Linux6.preset().config;
    let bbr = control == "bbr";
    TcpConfig {
        congestion: if bbr {
            CongestionControl::Bbr
        } else {
            CongestionControl::Cubic
        },
        hystart: if bbr {
            HystartRule::Off
        } else {
            config.hystart
        },
        receive_offload: false,
        back_pressure: BackPressure::None,
        handshake: true,
        ..config
    }
}

fn model(config: &TcpConfig, case: &Value) -> Link {
    let [loss, queue, seed] =
        ["loss_per_mille", "queue", "seed"].map(|key| case[key].as_u64().unwrap());
    let mut number = 0;
    // Where the queue is empty the round trip decides, and the forwarder's is some ms longer than 20 ms:
    // the recorded mean, less the time of a packet and of waiting for a second one.
    let one_way = if loss == 10 && case["control"] == "cubic" {
        (case["round_trip_us"].as_u64().unwrap() - 1_200) * 500
    } else {
        10_000_000
    };
    let mut link = Link::new(config, 20_000_000, one_way, queue).data_fate(move |_, segment| {
        if segment.payload < 900 {
            return Fate::Pass;
        }
        number += 1;
        if drops(number, seed, loss) {
            Fate::Drop
        } else {
            Fate::Pass
        }
    });
    link.sender.saturate();
    link.run_until(10 * SECOND);
    link
}

/// (control, losses per mille, queue) -> recorded and simulated goodput, Mb/s, means over the seeds.
fn compared(change: impl Fn(TcpConfig) -> TcpConfig) -> BTreeMap<(String, u64, u64), [f64; 2]> {
    let mut sums: BTreeMap<_, ([f64; 2], f64)> = BTreeMap::new();
    for case in rates()["cases"].as_array().unwrap() {
        let control = case["control"].as_str().unwrap();
        let link = model(&change(linux(control)), case);
        let ours = link.delivered as f64 * 8.0 / 10.0 / 1e6;
        let theirs = case["goodput_bps"].as_f64().unwrap() / 1e6;
        let seen = link.sender.statistics();
        println!(
            "{control} loss={} queue={} seed={}: Linux {theirs:.2}, model {ours:.2} Mb/s; \
             retransmitted {} and {}, time-outs {}, probes {}",
            case["loss_per_mille"],
            case["queue"],
            case["seed"],
            case["retransmissions"],
            seen.retransmitted_segments,
            seen.timeouts,
            seen.tail_probes,
        );
        let key = (
            control.to_owned(),
            case["loss_per_mille"].as_u64().unwrap(),
            case["queue"].as_u64().unwrap(),
        );
        let (sum, count) = sums.entry(key).or_default();
        sum[0] += theirs;
        sum[1] += ours;
        *count += 1.0;
    }
    sums.into_iter()
        .map(|(key, (sum, count))| (key, sum.map(|s| s / count)))
        .collect()
}

#[test]
fn goodput_with_and_without_losses_is_that_of_linux() {
    let found = compared(|config| config);
    assert_eq!(found.len(), 8);
    for (case, [linux, model]) in found {
        let apart = model / linux - 1.0;
        println!(
            "{case:?}: Linux {linux:.2}, model {model:.2} Mb/s, {:+.1} %",
            100.0 * apart
        );
        // iperf3 divides by a time that ends when the queue is empty: 0.3 s of 10 s with 1,000 packets.
        let most = if case.2 == 1_000 { 0.09 } else { 0.08 };
        assert!(apart.abs() < most, "{case:?}: {linux} and {model}");
    }
}

#[test]
fn the_smaller_increase_brings_cubic_under_losses_nearer_to_linux() {
    let key = ("cubic".to_owned(), 10, 100);
    let apart = |full| {
        let found = compared(|config| TcpConfig {
            cubic_full_increase: full,
            ..config
        });
        let [linux, model] = found[&key];
        (model / linux - 1.0).abs()
    };
    assert!(apart(false) < 0.7 * apart(true));
}
