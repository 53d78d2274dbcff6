//! Capture files: takes pcap and pcapng, gives packets, decrypted frames, timelines and a ledger.
//!
//! [`mod@file`] reads and writes, [`link`] finds the 802.11 frame. Does file IO but reads no clock
//! and draws no randomness; memory is bounded for files of any size.
//!
//! ```
//! use std::io::Cursor;
//! use std::path::Path;
//!
//! use airtoll_capture::file::{PcapWriter, Reader};
//!
//! let mut writer = PcapWriter::new(Vec::new(), 105)?;
//! writer.write_packet(1_000, &[0xd4, 0, 0, 0, 2, 0, 0, 0, 0, 1])?;
//! let octets = writer.finish()?;
//!
//! let mut reader = Reader::new(Path::new("-"), Box::new(Cursor::new(octets)))?;
//! let packet = reader.next_packet().expect("one packet");
//! assert_eq!((packet.time_ns, packet.octets.len()), (1_000, 10));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod analysis;
pub mod announced;
pub mod decrypt;
pub mod dissect;
pub mod error;
pub mod file;
pub mod frames;
pub mod keys;
pub mod leaves;
pub mod ledger;
pub mod link;
pub mod networks;
mod radio;
pub mod report;
mod request;
pub mod selection;
pub mod session;
mod slot;
pub mod tunnels;
pub mod wrappers;

pub use analysis::{analyse, analyse_octets, watch};
pub use announced::{AnnouncedBss, AnnouncedSuites, HeardBss, heard_bss};
pub use error::CaptureError;
pub use report::Report;
pub use request::{Request, Window};
pub use selection::Selection;
