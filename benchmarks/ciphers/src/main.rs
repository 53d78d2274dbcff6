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
use airtoll_security::link::wep::WepKey;
use airtoll_security::link::{IncomingMpdu, ccmp::CcmpKey};

/// Frames that one call works on, as many as the capture reader decrypts together.
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

/// Every payload length from 1 to 2304 octets, encrypted alone and decrypted in batches of uneven lengths,
/// on every engine and with both key lengths: a race between results that differ would say nothing.
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
                jobs.iter_mut().for_each(|job| ccm.seal(job));
                let tags: Vec<[u8; 16]> = jobs.iter().map(|job| job.tag).collect();
                for ((frame, tag), plain) in frames.iter().zip(&tags).zip(&plain) {
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
                let mut jobs: Vec<CcmJob<'_>> = frames
                    .iter_mut()
                    .zip(tags)
                    .map(|(frame, tag)| {
                        let number = frame.len() as u64;
                        let mut job = CcmJob::new(frame, nonce(number), &AAD);
                        job.tag = tag;
                        job
                    })
                    .collect();
                CcmKey::unseal_batch(&vec![&ccm; jobs.len()], &mut jobs);
                assert!(jobs.iter().all(|job| job.authentic), "{}", engine.name());
                assert_eq!(frames, plain, "{}", engine.name());
            }
        }
    }
}

fn ccm_rows(octets: usize) -> Vec<Row> {
    let mut rows = Vec::new();
    for (case, engine, key, goal) in [
        ("CCMP-128, 64 frames of a capture", Engine::Vaes, 16, 4.0),
        ("CCMP-256, 64 frames of a capture", Engine::Vaes, 32, 4.0),
        ("CCMP-128, 64 frames, AES-NI only", Engine::AesNi, 16, 2.0),
        ("CCMP-256, 64 frames, AES-NI only", Engine::AesNi, 32, 2.0),
    ] {
        if engine.is_available() {
            rows.push(race(
                case,
                octets,
                goal,
                ccmp_capture(engine, key, octets),
                openssl_side::ccm_open(key, octets),
                "OpenSSL AES-CCM decryption, one frame at a time",
            ));
        }
    }
    rows.push(race(
        "CCMP-128 single",
        octets,
        0.0,
        ccm_single(octets),
        openssl_side::ccm(16, octets),
        "OpenSSL AES-CCM, one frame at a time",
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
            "WEP-104 single",
            octets,
            0.0,
            wep(octets),
            openssl_side::rc4_crc(octets),
            "OpenSSL RC4 + crc32fast",
        ),
    ]
}

/// Whole MPDUs, copied and decapsulated at once, each under its own key: what the capture reader does.
fn ccmp_capture(engine: Engine, key: usize, octets: usize) -> Work {
    let keys: Vec<CcmpKey> = (0..FRAMES)
        .map(|i| CcmpKey::with_engine(&vec![i as u8; key], engine).expect("temporal key"))
        .collect();
    let mut frames = frames(octets, if key == 16 { 16 } else { 24 });
    for (key, frame) in keys.iter().zip(&mut frames) {
        key.encapsulate(frame, 1, 0).expect("a good frame");
    }
    let sealed = frames.concat();
    let each = frames[0].len();
    let mut copies = sealed.clone();
    Box::new(move || {
        copies.copy_from_slice(&sealed);
        let mut incoming: Vec<IncomingMpdu<'_>> = copies
            .chunks_exact_mut(each)
            .map(IncomingMpdu::new)
            .collect();
        let refs: Vec<&CcmpKey> = keys.iter().collect();
        CcmpKey::decapsulate_batch(&refs, &mut incoming);
        assert!(incoming.iter().all(|one| one.result.is_ok()));
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

fn wep(octets: usize) -> Work {
    let key = WepKey::new(&[7; 13]).expect("WEP key");
    let (mut frames, mut number) = (frames(octets, 8), 0);
    Box::new(move || {
        for frame in &mut frames {
            number = (number + 1) & 0xff_ffff;
            key.encapsulate(frame, number, 0).expect("a good frame");
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
