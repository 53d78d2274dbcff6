//! Simulates the link of every modulation and code rate, and prints a table of error rates.
//!
//! `cargo run --release -p airtoll-phy --example link_simulation bcc > crates/airtoll-phy/src/error_rate/link_table.rs`,
//! and `ldpc` for `ldpc_table.rs`, take some minutes and give the same octets on every machine. `information` prints
//! `effective_snr/information_table.rs`; `several-paths` compares frames over channels with several paths with what
//! effective SNRs foretell, and `interferer` frames with an interferer in a part of their channel.

mod link;
mod several_paths;

use std::process::ExitCode;

use airtoll_phy::{CodeRate, Coding, Modulation};
use link::{Count, Link, missing, simulate};

const LINKS: [(Modulation, CodeRate); 15] = [
    (Modulation::Bpsk, CodeRate::R1_2),
    (Modulation::Bpsk, CodeRate::R3_4),
    (Modulation::Qpsk, CodeRate::R1_2),
    (Modulation::Qpsk, CodeRate::R3_4),
    (Modulation::Qam16, CodeRate::R1_2),
    (Modulation::Qam16, CodeRate::R3_4),
    (Modulation::Qam64, CodeRate::R2_3),
    (Modulation::Qam64, CodeRate::R3_4),
    (Modulation::Qam64, CodeRate::R5_6),
    (Modulation::Qam256, CodeRate::R3_4),
    (Modulation::Qam256, CodeRate::R5_6),
    (Modulation::Qam1024, CodeRate::R3_4),
    (Modulation::Qam1024, CodeRate::R5_6),
    (Modulation::Qam4096, CodeRate::R3_4),
    (Modulation::Qam4096, CodeRate::R5_6),
];
/// Lengths, octets, with the frames sent at most at one SNR.
const LENGTHS: [(usize, u32); 2] = [(32, 6_000), (1_458, 1_000)];
const MOST_ERRORS: u32 = 60;
/// A point with fewer errors ends a curve and is left out.
const FEWEST_ERRORS: u32 = 15;

fn main() -> ExitCode {
    match std::env::args().nth(1).as_deref() {
        Some("bcc") => table(Coding::Bcc),
        Some("ldpc") => table(Coding::Ldpc),
        Some("information") => information(),
        Some("several-paths") => several_paths::compare(),
        Some("interferer") => several_paths::compare_interferer(),
        _ => {
            eprintln!("usage: link_simulation bcc|ldpc|information|several-paths|interferer");
            return ExitCode::from(2);
        }
    }
    ExitCode::SUCCESS
}

/// Prints what is missing of a coded bit by bits of an axis and its ratio of energy and noise.
fn information() {
    const FIRST_DB: f64 = -20.0;
    const STEP_DB: f64 = 0.5;
    const LEAST: f64 = 1e-12;
    println!("//! Coded bits over white noise, written by `examples/link_simulation`.");
    println!("//!");
    println!("//! Never edit by hand.");
    println!();
    println!(
        "/// The first ratio of energy and noise of an axis, and the step from one to the next, dB."
    );
    println!("pub(super) const FIRST_DB: f64 = {FIRST_DB:?};");
    println!("pub(super) const STEP_DB: f64 = {STEP_DB:?};");
    println!();
    println!(
        "/// `ln` of the share of a bit that is missing at each ratio, by bits of an axis from 1 on."
    );
    println!("#[rustfmt::skip]");
    println!("pub(super) const MISSING: [&[f64]; 6] = [");
    for bits in 1..=6 {
        println!("    &[");
        let mut ratio_db = FIRST_DB;
        loop {
            let lost = missing(bits, ratio_db);
            println!("        {:.6},", libm::log(lost));
            if lost < LEAST {
                break;
            }
            ratio_db += STEP_DB;
        }
        println!("    ],");
    }
    println!("];");
}

fn table(coding: Coding) {
    println!("//! Frame errors of the link simulation, written by `examples/link_simulation`.");
    println!("//!");
    println!("//! Never edit by hand.");
    println!();
    println!("use crate::error_rate::{{Curve, Point}};");
    println!("use crate::modulation::{{CodeRate, Modulation}};");
    println!();
    // HT and later have no BPSK with 3/4.
    let has = |link: &&(Modulation, CodeRate)| {
        coding == Coding::Bcc || **link != (Modulation::Bpsk, CodeRate::R3_4)
    };
    let links: Vec<_> = LINKS.iter().filter(has).copied().collect();
    let apart = match coding {
        Coding::Bcc => {
            println!("/// Octets of the two lengths of every curve.");
            println!(
                "pub(crate) const OCTETS: [f64; 2] = [{}.0, {}.0];",
                LENGTHS[0].0, LENGTHS[1].0
            );
            println!();
            "half a decibel"
        }
        Coding::Ldpc => "a quarter of a decibel",
    };
    println!("/// Frames lost of frames sent by SNR; rising SNR, {apart} apart.");
    println!("#[rustfmt::skip]");
    println!("pub(crate) const CURVES: [Curve; {}] = [", links.len());
    let mut start_db = -6.0;
    for (modulation, code) in links {
        let link = Link {
            coding,
            modulation,
            code,
        };
        println!("    Curve {{");
        println!("        modulation: Modulation::{modulation:?},");
        println!("        code: CodeRate::{code:?},");
        println!("        points: [");
        let mut first_db = start_db;
        for (octets, frames) in LENGTHS {
            println!("            &[");
            first_db = curve(link, octets, frames, first_db);
            println!("            ],");
        }
        println!("        ],");
        println!("    }},");
        if modulation == Modulation::Bpsk && code == CodeRate::R3_4 {
            start_db = -3.0;
        } else if code != CodeRate::R1_2 || modulation != Modulation::Bpsk {
            start_db = first_db - 6.0;
        }
    }
    println!("];");
}

/// Prints the points of a curve from `from_db` on; gives its first SNR.
fn curve(link: Link, octets: usize, frames: u32, from_db: f64) -> f64 {
    // LDPC curves are about twice as steep.
    let step_db = match link.coding {
        Coding::Bcc => 0.5,
        Coding::Ldpc => 0.25,
    };
    let mut first = None;
    let mut last = 1.0;
    let mut snr_db = from_db;
    loop {
        // Points where nearly every frame is lost hold little.
        let trial = simulate(
            link,
            octets,
            snr_db,
            Count {
                errors: 30,
                frames: 31,
            },
        );
        if trial.errors < 30 {
            let most = Count {
                errors: MOST_ERRORS,
                frames,
            };
            let count = simulate(link, octets, snr_db, most);
            if count.errors < FEWEST_ERRORS {
                return first.unwrap_or(from_db);
            }
            // Chance can make a point of a flat stretch worse than the one before: left out.
            let rate = f64::from(count.errors) / f64::from(count.frames);
            if rate < last {
                last = rate;
                first.get_or_insert(snr_db);
                println!(
                    "                Point {{ snr_db: {snr_db:?}, errors: {}, frames: {} }},",
                    count.errors, count.frames
                );
            }
        }
        snr_db += step_db;
    }
}
