//! Capture files: takes pcap and pcapng, gives packets, decrypted frames, timelines and a ledger.
//!
//! [`file`] reads and writes, [`link`] finds the 802.11 frame. Does file IO but reads no clock
//! and draws no randomness; memory is bounded for files of any size.

pub mod analysis;
pub mod decrypt;
pub mod dissect;
pub mod error;
pub mod file;
pub mod frames;
pub mod keys;
pub mod leaves;
pub mod ledger;
pub mod link;
pub mod report;
pub mod selection;
pub mod session;
pub mod tunnels;
pub mod wrappers;

pub use analysis::{Request, analyse, analyse_octets, watch};
pub use error::CaptureError;
pub use frames::Window;
pub use report::Report;
pub use selection::Selection;
