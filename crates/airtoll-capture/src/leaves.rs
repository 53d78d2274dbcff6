//! Deauthentications and disassociations: takes each of them, gives their numbers by BSS, side, receivers
//! and reason.
//!
//! A flood of them hits stations of which the capture shows no session. Bounded; what does not fit is
//! counted.

use airtoll_wire::MacAddress;
use rustc_hash::FxHashMap;
use schemars::JsonSchema;
use serde::Serialize;

use crate::session::FrameNumber;
use crate::session::steps::{reason_words, since};

/// Most kinds that are counted apart.
const MAX_KINDS: usize = 4096;

/// The kind of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Leave {
    /// The BSS.
    pub bssid: MacAddress,
    /// A station sent it.
    pub from_station: bool,
    /// It is for all stations.
    pub to_all: bool,
    /// Deauthentication, not disassociation.
    pub deauthentication: bool,
    /// Reason code.
    pub code: u16,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Sum {
    frames: u64,
    first_ns: u64,
    last_ns: u64,
    frame: FrameNumber,
}

/// All of a capture.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Leaves {
    sums: FxHashMap<Leave, Sum>,
    left_out: u64,
}

impl Leaves {
    /// Counts a frame.
    pub(crate) fn enter(&mut self, leave: Leave, time_ns: u64, frame: FrameNumber) {
        if self.sums.len() >= MAX_KINDS && !self.sums.contains_key(&leave) {
            self.left_out += 1;
            return;
        }
        let sum = self.sums.entry(leave).or_insert(Sum {
            frames: 0,
            first_ns: time_ns,
            last_ns: time_ns,
            frame,
        });
        sum.frames += 1;
        sum.last_ns = sum.last_ns.max(time_ns);
    }

    /// The numbers, largest first; times count from `origin_ns`.
    pub(crate) fn report(&self, origin_ns: u64) -> Vec<LeaveReport> {
        let mut list: Vec<_> = self.sums.iter().collect();
        list.sort_by_key(|(leave, sum)| {
            let order = (leave.bssid, leave.code, leave.from_station, leave.to_all);
            (std::cmp::Reverse(sum.frames), order, leave.deauthentication)
        });
        let reports = list.into_iter().map(|(leave, sum)| LeaveReport {
            bssid: leave.bssid.to_string(),
            by: if leave.from_station { "station" } else { "ap" },
            to_all: leave.to_all,
            kind: if leave.deauthentication {
                "deauthentication"
            } else {
                "disassociation"
            },
            reason_code: leave.code,
            words: reason_words(leave.code),
            frames: sum.frames,
            first_at_s: since(sum.first_ns, origin_ns),
            last_at_s: since(sum.last_ns, origin_ns),
            file: sum.frame.file,
            frame: sum.frame.number,
        });
        reports.collect()
    }

    /// Frames of further kinds.
    pub(crate) const fn left_out(&self) -> u64 {
        self.left_out
    }
}

/// Deauthentications or disassociations of one kind.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct LeaveReport {
    /// The BSS.
    pub bssid: String,
    /// station or ap.
    pub by: &'static str,
    /// They are for all stations of the BSS.
    pub to_all: bool,
    /// deauthentication or disassociation.
    pub kind: &'static str,
    /// Reason code (IEEE 802.11-2020, table 9-49).
    pub reason_code: u16,
    /// The reason in words.
    pub words: &'static str,
    /// Frames, those that were sent again included.
    pub frames: u64,
    /// First one, in seconds after the capture's first frame.
    pub first_at_s: f64,
    /// Last one.
    pub last_at_s: f64,
    /// File and number of the first one.
    pub file: u16,
    /// Its number.
    pub frame: u32,
}
