//! Errors of the capture stage: files that are no captures, and invalid keys or options.
//!
//! Damage inside a capture is no error: see [`crate::file::Damage`]. Carries no key material.

use std::path::PathBuf;

use thiserror::Error;

/// Why a report could not be made.
#[derive(Debug, Error)]
pub enum CaptureError {
    /// The file cannot be opened or read at its very start.
    #[error("{path}: {source}")]
    Open {
        /// The file.
        path: PathBuf,
        /// Error of the operating system.
        source: std::io::Error,
    },
    /// The first octets are of no capture format.
    #[error("{path}: is no capture: {what}; give pcap or pcapng, plain, gzip or zstd")]
    NotACapture {
        /// The file.
        path: PathBuf,
        /// Content of the file.
        what: &'static str,
    },
    /// Every packet is of a link type that is not read.
    #[error(
        "{path}: nothing was read: its {frames} packets are of link type {link_types}, which airtoll \
         does not read; capture 802.11 (radiotap, PPI, Prism, AVS), Ethernet, Linux cooked or IP"
    )]
    NothingRead {
        /// The first file.
        path: PathBuf,
        /// Packets of all files.
        frames: u64,
        /// Numbers and names of the link types.
        link_types: String,
    },
    /// An invalid key.
    #[error("key {index} ({kind}): {what}")]
    Key {
        /// Position among the keys given, from 1.
        index: usize,
        /// The part before the first colon.
        kind: String,
        /// The error and the allowed values.
        what: String,
    },
    /// An invalid option of a report.
    #[error("{what}")]
    Option {
        /// The error.
        what: String,
    },
    /// A key log that cannot be read.
    #[error("{path}: {what}")]
    KeyLog {
        /// The file.
        path: PathBuf,
        /// The error.
        what: String,
    },
    /// An output file that cannot be written.
    #[error("{path}: cannot be written: {source}")]
    Write {
        /// The file.
        path: PathBuf,
        /// Error of the operating system.
        source: std::io::Error,
    },
}
