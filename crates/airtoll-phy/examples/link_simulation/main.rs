//! Simulates the link of every modulation and code rate, and prints `src/error_rate/link_table.rs`.
//!
//! `cargo run --release -p airtoll-phy --example link_simulation > crates/airtoll-phy/src/error_rate/link_table.rs`
//! takes some minutes and gives the same octets on every machine.

mod link;

use airtoll_phy::{CodeRate, Modulation};
use link::{Count, simulate};

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

fn main() {
    println!("//! Frame errors of the link simulation, written by `examples/link_simulation`.");
    println!("//!");
    println!("//! Never edit by hand.");
    println!();
    println!("use crate::error_rate::{{Curve, Point}};");
    println!("use crate::modulation::{{CodeRate, Modulation}};");
    println!();
    println!("/// Octets of the two lengths of every curve.");
    println!(
        "pub(crate) const OCTETS: [f64; 2] = [{}.0, {}.0];",
        LENGTHS[0].0, LENGTHS[1].0
    );
    println!();
    println!("/// Frames lost of frames sent by SNR; rising SNR, half a decibel apart.");
    println!("#[rustfmt::skip]");
    println!("pub(crate) const CURVES: [Curve; {}] = [", LINKS.len());
    let mut start_db = -6.0;
    for link in LINKS {
        println!("    Curve {{");
        println!("        modulation: Modulation::{:?},", link.0);
        println!("        code: CodeRate::{:?},", link.1);
        println!("        points: [");
        let mut first_db = start_db;
        for (octets, frames) in LENGTHS {
            println!("            &[");
            first_db = curve(link, octets, frames, first_db);
            println!("            ],");
        }
        println!("        ],");
        println!("    }},");
        if link.0 == Modulation::Bpsk && link.1 == CodeRate::R3_4 {
            start_db = -3.0;
        } else if link.1 != CodeRate::R1_2 || link.0 != Modulation::Bpsk {
            start_db = first_db - 6.0;
        }
    }
    println!("];");
}

/// Prints the points of a curve from `from_db` on; gives its first SNR.
fn curve(link: (Modulation, CodeRate), octets: usize, frames: u32, from_db: f64) -> f64 {
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
        snr_db += 0.5;
    }
}
