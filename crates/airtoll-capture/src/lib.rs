//! Capture files: takes pcap and pcapng, gives packets, decrypted frames, timelines and a ledger.
//!
//! [`file`] reads and writes, [`link`] finds the 802.11 frame. Does file IO but reads no clock
//! and draws no randomness; memory is bounded whatever the file's size.

pub mod analysis;
pub mod decrypt;
pub mod dissect;
pub mod error;
pub mod file;
pub mod frames;
pub mod keys;
pub mod ledger;
pub mod link;
pub mod report;
pub mod session;

pub use analysis::{Request, analyse, analyse_octets};
pub use error::CaptureError;
pub use report::Report;
