//! airtoll's ciphers and OpenSSL's, side by side in one process.
//!
//! Takes nothing but the processor; prints a table, or JSON with `--json`. Contenders take turns
//! in short slices, so that whatever else the machine does meets them alike; a figure is the median
//! over the slices, a ratio the median over the ratios of neighbouring slices with its quartiles.
//! Both sides reuse their key schedules, get a fresh nonce for every frame, and authenticate the
//! same 24 octets of associated data.

mod openssl_side;

use std::hint::black_box;
use std::time::{Duration, Instant};

use airtoll_security::ccm::CcmKey;
use airtoll_security::kernels::{CcmJob, Engine};
use airtoll_security::link::gcmp::GcmpKey;
use airtoll_security::link::tkip::TkipKey;
use airtoll_security::link::wep::WepKey;
use airtoll_security::link::{OutgoingMpdu, ccmp::CcmpKey};

/// Frames that one call works on, enough to fill every lane several times.
pub const FRAMES: usize = 64;
const SLICES: usize = 401;
/// Shorter than a scheduler's time slice, so that on a busy machine most slices run undisturbed.
const SLICE: Duration = Duration::from_micros(400);
const AAD: [u8; 24] = [0x88; 24];

/// One contender: works on `FRAMES` frames at each call.
pub type Work = Box<dyn FnMut()>;

struct Row {
    case: &'static str,
    octets: usize,
    goal: f64,
    ours_us: f64,
    theirs_us: f64,
    ratio: f64,
    low: f64,
    high: f64,
    against: &'static str,
}

fn main() {
    let json = std::env::args().any(|a| a == "--json");
    let version = openssl::version::version();
    agree_with_openssl();
    let mut rows = Vec::new();
    for octets in [1500, 256] {
        rows.extend(ccm_rows(octets));
        rows.extend(other_rows(octets));
    }
    if json {
        print_json(version, &rows);
    } else {
        print_table(version, &rows);
    }
}

/// Every payload length from 1 to 2304 octets, in batches of uneven lengths, on every engine and
/// with both key lengths: a race between results that differ would say nothing.
fn agree_with_openssl() {
    let lengths: Vec<usize> = (0..2304).map(|i| i * 1235 % 2304 + 1).collect();
    for engine in Engine::available() {
        for key in [vec![0x33; 16], vec![0x44; 32]] {
            let ccm = CcmKey::with_engine(&key, engine).expect("AES key");
            for batch in lengths.chunks(47) {
                let plain: Vec<Vec<u8>> = batch
                    .iter()
                    .map(|&length| (0..length).map(|i| (i * 7 + length) as u8).collect())
                    .collect();
                let mut frames = plain.clone();
                let mut jobs: Vec<CcmJob<'_>> = frames
                    .iter_mut()
                    .map(|frame| {
                        let number = frame.len() as u64;
                        CcmJob::new(frame, nonce(number), &AAD)
                    })
                    .collect();
                ccm.seal_batch(&mut jobs);
                let tags: Vec<[u8; 16]> = jobs.iter().map(|job| job.tag).collect();
                for ((frame, tag), plain) in frames.iter().zip(tags).zip(&plain) {
                    let nonce = nonce(plain.len() as u64);
                    let (cipher, mic) = openssl_side::ccm_once(&key, &nonce, &AAD, plain);
                    assert_eq!(*frame, cipher, "{} octets, {}", plain.len(), engine.name());
                    assert_eq!(
                        tag[..mic.len()],
                        mic,
                        "{} octets, {}",
                        plain.len(),
                        engine.name()
                    );
                }
            }
        }
    }
}

fn ccm_rows(octets: usize) -> Vec<Row> {
    let mut rows = Vec::new();
    let small = octets < 1000;
    let openssl = "OpenSSL AES-CCM, one frame at a time";
    for (case, engine, key, goal) in [
        (
            "CCMP-128 batch, one key",
            Engine::Vaes,
            16,
            if small { 6.0 } else { 5.0 },
        ),
        ("CCMP-256 batch, one key", Engine::Vaes, 32, 4.5),
        (
            "CCMP-128 batch, one key, AES-NI only",
            Engine::AesNi,
            16,
            2.0,
        ),
        (
            "CCMP-256 batch, one key, AES-NI only",
            Engine::AesNi,
            32,
            2.0,
        ),
    ] {
        if engine.is_available() {
            let ours = ccm_batch(engine, key, octets, false);
            rows.push(race(
                case,
                octets,
                goal,
                ours,
                openssl_side::ccm(key, octets, false),
                openssl,
            ));
        }
    }
    if Engine::Vaes.is_available() {
        rows.push(race(
            "CCMP-128 batch, a key per frame",
            octets,
            4.0,
            ccm_batch(Engine::Vaes, 16, octets, true),
            openssl_side::ccm(16, octets, true),
            openssl,
        ));
    }
    rows.push(race(
        "CCMP-128 batch of whole MPDUs (header, AAD and nonce built)",
        octets,
        0.0,
        ccmp_mpdus(octets),
        openssl_side::ccm(16, octets, false),
        openssl,
    ));
    rows.push(race(
        "CCMP-128 single",
        octets,
        0.0,
        ccm_single(octets),
        openssl_side::ccm(16, octets, false),
        openssl,
    ));
    rows
}

fn other_rows(octets: usize) -> Vec<Row> {
    let gcm = "OpenSSL AES-GCM, one frame at a time";
    vec![
        race(
            "GCMP-128 single, whole MPDUs",
            octets,
            1.0,
            gcmp(16, octets),
            openssl_side::gcm(16, octets),
            gcm,
        ),
        race(
            "GCMP-256 single, whole MPDUs",
            octets,
            1.0,
            gcmp(32, octets),
            openssl_side::gcm(32, octets),
            gcm,
        ),
        race(
            "WEP-104 batch",
            octets,
            1.5,
            wep(octets, true),
            openssl_side::rc4_crc(octets),
            "OpenSSL RC4 + crc32fast",
        ),
        race(
            "WEP-104 single",
            octets,
            0.0,
            wep(octets, false),
            openssl_side::rc4_crc(octets),
            "OpenSSL RC4 + crc32fast",
        ),
        race(
            "TKIP batch",
            octets,
            0.0,
            tkip(octets, true),
            tkip(octets, false),
            "this crate's scalar TKIP",
        ),
    ]
}

fn ccm_batch(engine: Engine, key: usize, octets: usize, many: bool) -> Work {
    let keys: Vec<CcmKey> = (0..FRAMES)
        .map(|i| {
            CcmKey::with_engine(&vec![i as u8 * u8::from(many); key], engine).expect("AES key")
        })
        .collect();
    let mut frames = vec![vec![0x5a; octets]; FRAMES];
    let mut number = 0u64;
    Box::new(move || {
        let mut each = frames.iter_mut();
        let mut jobs: [CcmJob<'_>; FRAMES] = std::array::from_fn(|_| {
            number += 1;
            CcmJob::new(each.next().expect("a frame"), nonce(number), &AAD)
        });
        if many {
            let refs: [&CcmKey; FRAMES] = std::array::from_fn(|i| &keys[i]);
            CcmKey::seal_batch_keys(&refs, &mut jobs);
        } else {
            keys[0].seal_batch(&mut jobs);
        }
        black_box(jobs[0].tag);
    })
}

fn ccm_single(octets: usize) -> Work {
    let key = CcmKey::new(&[7; 16]).expect("AES key");
    let mut frames = vec![vec![0x5a; octets]; FRAMES];
    let mut number = 0u64;
    Box::new(move || {
        for frame in &mut frames {
            number += 1;
            let mut job = CcmJob::new(frame, nonce(number), &AAD);
            key.seal(&mut job);
            black_box(job.tag);
        }
    })
}

fn nonce(number: u64) -> [u8; 13] {
    let mut nonce = [2; 13];
    nonce[5..].copy_from_slice(&number.to_be_bytes());
    nonce
}

/// QoS data frames with space for cipher header and trailer.
fn frames(octets: usize, added: usize) -> Vec<Vec<u8>> {
    let mut frame = vec![0x5a; 26 + octets + added];
    frame[..2].copy_from_slice(&[0x88, 0x41]);
    frame[22..24].fill(0);
    vec![frame; FRAMES]
}

fn outgoing<'f>(frames: &'f mut [Vec<u8>], number: &mut u64) -> [OutgoingMpdu<'f>; FRAMES] {
    let mut each = frames.iter_mut();
    std::array::from_fn(|_| {
        *number += 1;
        OutgoingMpdu::new(each.next().expect("a frame"), *number & 0xff_ffff, 0)
    })
}

fn ccmp_mpdus(octets: usize) -> Work {
    let key = CcmpKey::new(&[7; 16]).expect("temporal key");
    let (mut frames, mut number) = (frames(octets, 16), 0);
    Box::new(move || {
        let mut out = outgoing(&mut frames, &mut number);
        key.encapsulate_batch(&mut out);
        assert!(out.iter().all(|o| o.result.is_ok()));
    })
}

fn gcmp(key: usize, octets: usize) -> Work {
    let key = GcmpKey::new(&vec![7; key]).expect("temporal key");
    let (mut frames, mut number) = (frames(octets, 24), 0);
    Box::new(move || {
        for frame in &mut frames {
            number += 1;
            key.encapsulate(frame, number, 0).expect("a good frame");
        }
    })
}

fn wep(octets: usize, batch: bool) -> Work {
    let key = WepKey::new(&[7; 13]).expect("WEP key");
    let (mut frames, mut number) = (frames(octets, 8), 0);
    Box::new(move || {
        if batch {
            let mut out = outgoing(&mut frames, &mut number);
            key.encapsulate_batch(&mut out);
            assert!(out.iter().all(|o| o.result.is_ok()));
        } else {
            for frame in &mut frames {
                number = (number + 1) & 0xff_ffff;
                key.encapsulate(frame, number, 0).expect("a good frame");
            }
        }
    })
}

fn tkip(octets: usize, batch: bool) -> Work {
    let engine = if batch {
        Engine::detect()
    } else {
        Engine::Portable
    };
    let key = TkipKey::with_engine(&[7; 32], engine).expect("temporal key");
    let (mut frames, mut number) = (frames(octets, 20), 0);
    Box::new(move || {
        if batch {
            let mut out = outgoing(&mut frames, &mut number);
            key.encapsulate_msdu_batch(&mut out);
            assert!(out.iter().all(|o| o.result.is_ok()));
        } else {
            for frame in &mut frames {
                number += 1;
                key.encapsulate_msdu(frame, number, 0)
                    .expect("a good frame");
            }
        }
    })
}

fn race(
    case: &'static str,
    octets: usize,
    goal: f64,
    mut ours: Work,
    mut theirs: Work,
    against: &'static str,
) -> Row {
    let (mut mine, mut other, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
    let calls = (calls_in(&mut ours, SLICE), calls_in(&mut theirs, SLICE));
    for _ in 0..SLICES {
        let a = slice(&mut ours, calls.0);
        let b = slice(&mut theirs, calls.1);
        mine.push(a);
        other.push(b);
        ratios.push(b / a);
    }
    ratios.sort_by(f64::total_cmp);
    Row {
        case,
        octets,
        goal,
        ours_us: median(&mut mine),
        theirs_us: median(&mut other),
        ratio: ratios[SLICES / 2],
        low: ratios[SLICES / 4],
        high: ratios[3 * SLICES / 4],
        against,
    }
}

/// Calls that fill about `time`; warms up on the way.
fn calls_in(work: &mut Work, time: Duration) -> u32 {
    let start = Instant::now();
    let mut calls = 0;
    while start.elapsed() < time {
        work();
        calls += 1;
    }
    calls
}

/// Microseconds per frame.
fn slice(work: &mut Work, calls: u32) -> f64 {
    let start = Instant::now();
    for _ in 0..calls {
        work();
    }
    start.elapsed().as_secs_f64() * 1e6 / f64::from(calls) / FRAMES as f64
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn print_table(version: &str, rows: &[Row]) {
    println!("{version}; engine here: {}", Engine::detect().name());
    println!(
        "{:<60} {:>6} {:>9} {:>9} {:>7} {:>15} {:>5}  against",
        "case", "octets", "ours us", "other us", "times", "quartiles", "goal"
    );
    for row in rows {
        let goal = if row.goal > 0.0 {
            format!("{:.1}", row.goal)
        } else {
            "-".into()
        };
        println!(
            "{:<60} {:>6} {:>9.4} {:>9.4} {:>7.2} {:>7.2} -{:>6.2} {:>5}  {}",
            row.case,
            row.octets,
            row.ours_us,
            row.theirs_us,
            row.ratio,
            row.low,
            row.high,
            goal,
            row.against
        );
    }
}

/// The processor's name as the kernel tells it.
fn processor() -> String {
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let line = text.lines().find(|line| line.starts_with("model name"));
    let name = line.and_then(|line| line.split_once(':'));
    name.map_or("unknown", |(_, name)| name.trim()).to_owned()
}

fn print_json(version: &str, rows: &[Row]) {
    let rows: Vec<_> = rows
        .iter()
        .map(|row| {
            serde_json::json!({
                "case": row.case, "octets": row.octets, "ours_us_per_frame": row.ours_us,
                "other_us_per_frame": row.theirs_us, "times": row.ratio,
                "times_quartiles": [row.low, row.high],
                "goal": (row.goal > 0.0).then_some(row.goal), "against": row.against,
            })
        })
        .collect();
    let report = serde_json::json!({
        "processor": processor(), "openssl": version, "engine": Engine::detect().name(), "slices": SLICES, "rows": rows,
    });
    println!("{report:#}");
}
