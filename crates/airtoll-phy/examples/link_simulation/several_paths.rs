//! Frames over channels with several paths beside what effective SNRs foretell.
//!
//! For each link and delay spread: channels are drawn, each at the mean SNR at which the mean mutual information foretells
//! the loss of three of ten frames. Frames are sent over it, and the flat channel with as many losses has the true
//! effective SNR. Prints how far three mappings are from it in the mean over channels, and their standard deviation:
//! the mean power, the SNR of the mean bit error rate without a code (Halperin, Hu, Sheth, Wetherall, "Predictable 802.11
//! Packet Delivery from Wireless Channel Measurements", SIGCOMM 2010), and the mean mutual information.

use airtoll_phy::{
    Band, CodeRate, Coding, DelayLine, Generation, GuardInterval, Modulation, TxVector, Width,
    effective_snr_db, frame_success,
};

use super::link::{Channel, Count, Draws, Link, simulate_over, simulate_through};

/// Channels of each link, frames over each, and octets of a frame.
const CHANNELS: usize = 30;
const FRAMES: u32 = 200;
const OCTETS: u32 = 400;
/// Share of frames that should arrive.
const WANTED: f64 = 0.7;
/// Sub-bands of 20 MHz that are data subcarriers of HT here.
const FIRST: usize = 6;
const SUBCARRIERS: usize = 52;
/// MCS of HE, whose first eight are those of HT. LDPC words of 400 octets reach over all subcarriers.
const LINKS: [(u8, Coding); 14] = [
    (0, Coding::Bcc),
    (2, Coding::Bcc),
    (3, Coding::Bcc),
    (4, Coding::Bcc),
    (5, Coding::Bcc),
    (7, Coding::Bcc),
    (0, Coding::Ldpc),
    (2, Coding::Ldpc),
    (3, Coding::Ldpc),
    (4, Coding::Ldpc),
    (5, Coding::Ldpc),
    (7, Coding::Ldpc),
    (9, Coding::Ldpc),
    (11, Coding::Ldpc),
];

/// Prints the table.
pub fn compare() {
    println!("decibels above the simulation: mean (standard deviation)");
    println!("MCS code  delay spread  mean power      bit errors      information");
    for (mcs, coding) in LINKS {
        // The first has one path.
        for delay_spread_ns in [1e-3, 15.0, 50.0, 150.0] {
            let found = off(mcs, coding, delay_spread_ns);
            let cells: Vec<String> = (0..3)
                .map(|mapping| {
                    let all: Vec<f64> = found.iter().map(|off| off[mapping]).collect();
                    let count = all.len() as f64;
                    let mean = all.iter().sum::<f64>() / count;
                    let squares: f64 = all.iter().map(|d| (d - mean) * (d - mean)).sum();
                    format!("{mean:+5.2} ({:4.2})", libm::sqrt(squares / count))
                })
                .collect();
            let name = format!("{coding:?}");
            println!(
                "{mcs:3} {name:4}  {delay_spread_ns:9} ns  {}",
                cells.join("    ")
            );
        }
    }
}

/// Prints how far two mappings are above the simulation where an interferer is in a quarter of the subcarriers: the
/// mean power of interference and noise, and the mean information. Receivers know the noise of each subcarrier, or
/// their mean alone, as of an interferer that begins behind the training fields.
pub fn compare_interferer() {
    println!("decibels above the simulation");
    println!(
        "MCS code  receiver knows: mean power, information; does not: mean power, information"
    );
    for (mcs, coding) in LINKS {
        let cells: Vec<String> = [true, false]
            .map(|knows| beside_interferer(mcs, coding, knows))
            .iter()
            .map(|[power, information]| format!("{power:+6.2} {information:+6.2}"))
            .collect();
        let name = format!("{coding:?}");
        println!("{mcs:3} {name:4}  {}", cells.join("    "));
    }
}

/// The ratios that the mean power and the mean information give where the simulation loses three of ten frames, above
/// that of a flat channel with as many losses, dB. Noise without the interferer is 20 dB below the mean.
fn beside_interferer(mcs: u8, coding: Coding, knows_noise: bool) -> [f64; 2] {
    let vector = vector(mcs, coding);
    let link = link(&vector, coding);
    let wanted_db = snr_of(&vector, WANTED);
    // Eight halvings of 32 dB.
    let (mut low, mut high) = (wanted_db - 16.0, wanted_db + 16.0);
    for _ in 0..8 {
        let middle = f64::midpoint(low, high);
        if lost_beside(link, middle, knows_noise) > 1.0 - WANTED {
            low = middle;
        } else {
            high = middle;
        }
    }
    let snr_db = high;
    let gains: Vec<f64> = powers().iter().map(|p| -10.0 * libm::log10(*p)).collect();
    [
        snr_db - wanted_db,
        effective_snr_db(link.modulation, snr_db, &gains) - wanted_db,
    ]
}

/// Power of noise and interference in the subcarriers, over its mean.
fn powers() -> Vec<f64> {
    const NOISE: f64 = 0.01;
    let shares = (0..SUBCARRIERS).map(|at| if at < SUBCARRIERS / 4 { 4.0 } else { 0.0 });
    shares
        .map(|share| (share + NOISE) / (1.0 + NOISE))
        .collect()
}

/// The share of frames that is lost at a mean ratio, dB.
fn lost_beside(link: Link, snr_db: f64, knows_noise: bool) -> f64 {
    let limit = Count {
        errors: FRAMES,
        frames: FRAMES,
    };
    let channel = Channel {
        noise: powers().iter().map(|p| libm::sqrt(*p) as f32).collect(),
        knows_noise,
        ..Channel::default()
    };
    let count = simulate_through(channel, link, OCTETS as usize, snr_db, limit);
    f64::from(count.errors).clamp(0.5, f64::from(FRAMES) - 0.5) / f64::from(FRAMES)
}

/// A frame of 20 MHz.
fn vector(mcs: u8, coding: Coding) -> TxVector {
    let (width, gi) = (Width::Mhz20, GuardInterval::Ns800);
    TxVector::of_mcs(Generation::Ax, mcs, 1, width, gi, Band::Ghz5)
        .and_then(|vector| vector.with_coding(coding))
        .expect("HE has the MCS")
}

fn link(vector: &TxVector, coding: Coding) -> Link {
    Link {
        coding,
        modulation: vector.mcs().modulation,
        code: vector.mcs().code,
    }
}

/// How far each mapping is above the simulation in each channel, dB.
fn off(mcs: u8, coding: Coding, delay_spread_ns: f64) -> Vec<[f64; 3]> {
    let vector = vector(mcs, coding);
    let link = link(&vector, coding);
    let wanted_db = snr_of(&vector, WANTED);
    let line = DelayLine::new(delay_spread_ns, 0.0, 1);
    let mut draws = Draws(u64::from(mcs) + 1);
    let mut found = Vec::new();
    while found.len() < CHANNELS {
        let all = line.gains_db(|| draws.normals());
        let gains = &all[FIRST..FIRST + SUBCARRIERS];
        let information = |db: f64| effective_snr_db(link.modulation, db, gains);
        let snr_db = search(|db| information(db) < wanted_db);
        let amplitudes: Vec<f32> = gains
            .iter()
            .map(|gain| libm::pow(10.0, gain / 20.0) as f32)
            .collect();
        let limit = Count {
            errors: FRAMES,
            frames: FRAMES,
        };
        let count = simulate_over(&amplitudes, link, OCTETS as usize, snr_db, limit);
        // Half a frame more or less where none or all are lost.
        let lost = f64::from(count.errors).clamp(0.5, f64::from(FRAMES) - 0.5);
        let true_db = snr_of(&vector, 1.0 - lost / f64::from(FRAMES));
        let mean =
            gains.iter().map(|g| libm::pow(10.0, g / 10.0)).sum::<f64>() / gains.len() as f64;
        let power = snr_db + 10.0 * libm::log10(mean);
        found.push([
            power - true_db,
            of_bit_errors(link.modulation, link.code, snr_db, gains) - true_db,
            information(snr_db) - true_db,
        ]);
    }
    found
}

/// SNR of the mean bit error rate, dB.
fn of_bit_errors(modulation: Modulation, code: CodeRate, snr_db: f64, gains: &[f64]) -> f64 {
    assert!(code != CodeRate::Uncoded, "OFDM has a code");
    let points = f64::from(1_u32 << modulation.bits());
    let (factor, divisor) = match modulation {
        Modulation::Bpsk => (1.0, 0.5),
        other => {
            let bits = f64::from(other.bits());
            (
                4.0 / bits * (1.0 - 1.0 / libm::sqrt(points)),
                (points - 1.0) / 3.0,
            )
        }
    };
    let errors = |db: f64| {
        let ratio = libm::pow(10.0, db / 10.0) / divisor;
        0.5 * factor * libm::erfc(libm::sqrt(ratio / 2.0))
    };
    let mean = gains.iter().map(|g| errors(snr_db + g)).sum::<f64>() / gains.len() as f64;
    search(|db| errors(db) > mean)
}

/// SNR at which a share of frames arrives over a flat channel, dB.
fn snr_of(vector: &TxVector, share: f64) -> f64 {
    search(|db| frame_success(vector, libm::pow(10.0, db / 10.0), OCTETS) < share)
}

/// The decibels from which on `below` is false.
fn search(below: impl Fn(f64) -> bool) -> f64 {
    let (mut low, mut high) = (-30.0, 90.0);
    for _ in 0..50 {
        let middle = f64::midpoint(low, high);
        if below(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
    high
}
