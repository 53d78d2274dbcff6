//! The request of an analysis: files, keys, and the part of the capture that is counted.

use std::net::IpAddr;
use std::path::PathBuf;

use airtoll_wire::MacAddress;

use crate::keys::Keys;
use crate::selection::Selection;

/// Files, keys and options of an analysis.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// Capture files; `-` is standard input.
    pub files: Vec<PathBuf>,
    /// Key material.
    pub keys: Keys,
    /// The part of the capture that is counted.
    pub window: Window,
    /// Stations by the IP addresses that they own, to tell whose a message on a wire is. Further
    /// ones are learnt from ARP, DHCP and frames on the air.
    pub owners: Vec<(IpAddr, MacAddress)>,
    /// Sessions that are listed.
    pub selection: Selection,
}

/// The part of a capture that is counted. Frames outside are read for keys and associations only.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Window {
    /// First instant inside, in nanoseconds.
    pub from_ns: Option<u64>,
    /// First instant behind.
    pub until_ns: Option<u64>,
    /// Instants count from the first frame of the capture, not from the epoch.
    pub relative: bool,
}

impl Window {
    /// Whether an instant is inside, in a capture that begins at `origin_ns`.
    pub fn holds(&self, time_ns: u64, origin_ns: u64) -> bool {
        let time_ns = if self.relative {
            time_ns.saturating_sub(origin_ns)
        } else {
            time_ns
        };
        self.from_ns.is_none_or(|from| time_ns >= from)
            && self.until_ns.is_none_or(|until| time_ns < until)
    }
}
