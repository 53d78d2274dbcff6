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

use super::link::{Count, Draws, Link, simulate_over};

/// Channels of each link, frames over each, and octets of a frame.
const CHANNELS: usize = 30;
const FRAMES: u32 = 200;
const OCTETS: u32 = 400;
/// Share of frames that should arrive.
const WANTED: f64 = 0.7;
/// Sub-bands of 20 MHz that are data subcarriers of HT here.
const FIRST: usize = 6;
const SUBCARRIERS: usize = 52;
const LINKS: [(u8, Coding); 6] = [
    (0, Coding::Bcc),
    (2, Coding::Bcc),
    (3, Coding::Bcc),
    (4, Coding::Bcc),
    (5, Coding::Bcc),
    (7, Coding::Bcc),
];

/// Prints the table.
pub fn compare() {
    println!("decibels above the simulation: mean (standard deviation)");
    println!("MCS code  delay spread  mean power      bit errors      information");
    for (mcs, coding) in LINKS {
        for delay_spread_ns in [15.0, 50.0, 150.0] {
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

/// How far each mapping is above the simulation in each channel, dB.
fn off(mcs: u8, coding: Coding, delay_spread_ns: f64) -> Vec<[f64; 3]> {
    let (width, gi) = (Width::Mhz20, GuardInterval::Ns800);
    let vector = TxVector::of_mcs(Generation::N, mcs, 1, width, gi, Band::Ghz5)
        .and_then(|vector| vector.with_coding(coding))
        .expect("HT has the MCS");
    let (modulation, code) = (vector.mcs().modulation, vector.mcs().code);
    let link = Link {
        coding,
        modulation,
        code,
    };
    let wanted_db = snr_of(&vector, WANTED);
    let line = DelayLine::new(delay_spread_ns, 0.0, 1);
    let mut draws = Draws(u64::from(mcs) + 1);
    let mut found = Vec::new();
    while found.len() < CHANNELS {
        let all = line.gains_db(|| draws.normals());
        let gains = &all[FIRST..FIRST + SUBCARRIERS];
        let information = |db: f64| effective_snr_db(modulation, db, gains);
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
            of_bit_errors(modulation, code, snr_db, gains) - true_db,
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
