//! Simulates the scenarios on standard input, one JSON document a line, and prints their rows.
//!
//! `cargo run --release -p airtoll-wlan --example simulate [SEED] < scenarios.jsonl` gives
//! tab-separated line number, metric, flow, station, second, value and unit.

use std::io::BufRead as _;
use std::process::ExitCode;

use airtoll_wlan::{Scenario, run};

fn main() -> ExitCode {
    let seed = std::env::args()
        .nth(1)
        .and_then(|s| s.parse().ok())
        .unwrap_or(1);
    for (number, line) in std::io::stdin().lock().lines().enumerate() {
        let Ok(line) = line else {
            eprintln!("line {number}: not UTF-8");
            return ExitCode::FAILURE;
        };
        match Scenario::from_json(&line).and_then(|s| run(&s, seed, &mut || false)) {
            Err(error) => {
                eprintln!("line {number}: {error}");
                return ExitCode::FAILURE;
            }
            Ok(outcome) => {
                for r in outcome.rows {
                    let second = r.second.map(|s| s.to_string()).unwrap_or_default();
                    println!(
                        "{number}\t{}\t{}\t{}\t{second}\t{}\t{}",
                        r.metric,
                        r.flow.unwrap_or_default(),
                        r.station.unwrap_or_default(),
                        r.value,
                        r.unit
                    );
                }
            }
        }
    }
    ExitCode::SUCCESS
}
