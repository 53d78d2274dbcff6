//! Capture files: takes pcap and pcapng, gives packets, decrypted frames, timelines and a ledger.
//!
//! [`file`] reads and writes, [`link`] finds the 802.11 frame. Does file IO but reads no clock
//! and draws no randomness; memory is bounded whatever the file's size.

pub mod decrypt;
pub mod error;
pub mod file;
pub mod keys;
pub mod link;

pub use error::CaptureError;
