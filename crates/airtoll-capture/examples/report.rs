//! Prints the report of captures as JSON, and on request every frame's outcome.
//!
//! `report [--key KIND:VALUE]... [--keys KEYLOG] [--frames OUT] FILE...`. A line of OUT has the
//! frame's number, its state, whether it is protected data, EAPOL and EAP, and its plaintext.

use std::io::Write;
use std::path::PathBuf;

use airtoll_capture::frames::Seen;
use airtoll_capture::keys::Keys;
use airtoll_capture::{Request, analyse};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let mut keys = Keys::default();
    let mut texts = Vec::new();
    let mut frames = None;
    let mut files = Vec::new();
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--key" => texts.extend(arguments.next()),
            "--keys" => keys.add_log(&PathBuf::from(arguments.next().unwrap_or_default()))?,
            "--frames" => frames = arguments.next(),
            _ => files.push(PathBuf::from(argument)),
        }
    }
    keys.add_texts(&texts)?;
    let request = Request {
        files,
        keys,
        ..Request::default()
    };
    let report = match frames {
        None => analyse(&request, None)?,
        Some(path) => {
            let mut out = std::io::BufWriter::new(std::fs::File::create(path)?);
            let mut watcher = |seen: &Seen<'_>| {
                let (number, state) = (seen.number, seen.status.words());
                let flags = [seen.protected_data, seen.eapol, seen.eap].map(u8::from);
                let _ = write!(out, "{number}\t{state}\t{flags:?}\t");
                for octet in seen.plain {
                    let _ = write!(out, "{octet:02x}");
                }
                let _ = writeln!(out);
            };
            analyse(&request, Some(&mut watcher))?
        }
    };
    report.write_json(std::io::BufWriter::new(std::io::stdout()))?;
    println!();
    Ok(())
}
