//! Counts of the medium: per radio, per channel, and the delay of the machine.
//!
//! Counts begin when the medium begins or is asked to
//! forget; times are seconds. A frame dropped at a full queue is a drop here, whatever mac80211
//! is told.

use std::collections::BTreeMap;

use airtoll_units::{Duration, Instant};
use schemars::JsonSchema;
use serde::Serialize;

/// Counts of one radio.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "MediumRadioCounts")]
pub struct RadioCounts {
    /// Its name.
    pub name: String,
    /// Attempts of unicast data frames with a payload, by the name of the rate (`rates::name`);
    /// without EAPOL in clear.
    pub data_attempts: BTreeMap<String, u64>,
    /// Frames that mac80211 gave.
    pub frames: u64,
    /// Of them: sent, and acknowledged or needing no acknowledgement.
    pub sent: u64,
    /// Of them: given up after the last attempt.
    pub given_up: u64,
    /// Of them: dropped at a full queue, though reported as acknowledged.
    pub queue_drops: u64,
    /// Times that a data or management frame was put on the air.
    pub attempts: u64,
    /// Of them: not the first of their frame.
    pub retries: u64,
    /// Attempts that overlapped with another transmission at their receiver.
    pub collisions: u64,
    /// Frames delivered to it.
    pub received: u64,
    /// Octets of the frames sent (FCS included, each frame once).
    pub octets: u64,
    /// Time that it transmitted: data, responses and protection, s.
    pub air_s: f64,
    /// Most frames that waited in one of its queues.
    pub longest_queue: usize,
}

/// Counts of one channel.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "MediumChannelCounts")]
pub struct ChannelCounts {
    /// Centre frequency.
    pub frequency_mhz: u32,
    /// Time that at least one transmission was on, s.
    pub busy_s: f64,
}

/// Counts of one device.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "MediumDeviceCounts")]
pub struct DeviceCounts {
    /// Names of its radios, or which host it is.
    pub name: String,
    /// Time that its CPU worked or has yet to work, s.
    pub cpu_s: f64,
    /// The same of its cipher engines together.
    pub engines_s: f64,
}

/// How late deliveries were made, against the instants at which the air let them through.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "MediumLateness")]
pub struct Lateness {
    /// Deliveries and reports made.
    pub happenings: u64,
    /// Their mean lateness, s.
    pub mean_s: f64,
    /// The largest, s.
    pub most_s: f64,
}

/// Which way a flow of a simulated station goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "MediumFlowDirection")]
pub enum Direction {
    /// To the access point.
    Up,
    /// From the access point.
    Down,
}

/// Counts of one flow of a simulated station, of what happened in the counted time.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "MediumFlowCounts")]
pub struct FlowCounts {
    /// Name of its station.
    pub station: String,
    /// Which way it goes.
    pub direction: Direction,
    /// Counted time so far, s.
    pub counted_s: f64,
    /// MSDUs for its queue; a saturated flow counts those that its queue took.
    pub offered: u64,
    /// MSDUs that arrived.
    pub delivered: u64,
    /// Octets of the MSDUs that arrived.
    pub octets: u64,
    /// Times that one was put on the air and was done with: acknowledged or given up.
    pub attempts: u64,
    /// MSDUs without an acknowledgement after their last attempt, of which none had arrived.
    pub given_up: u64,
    /// MSDUs that found their queue full.
    pub queue_drops: u64,
    /// Mean time from the queue to the arrival, s; 0 where none arrived.
    pub delay_mean_s: f64,
    /// The longest, s.
    pub delay_longest_s: f64,
}

/// Everything counted.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Counts {
    /// Time that the counts cover, s.
    pub span_s: f64,
    /// Whether anything took airtime.
    pub airtime: bool,
    /// By radio, in the order of the settings.
    pub radios: Vec<RadioCounts>,
    /// By channel, in the order of first use.
    pub channels: Vec<ChannelCounts>,
    /// By device, those with radios first; none where the settings have none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub devices: Vec<DeviceCounts>,
    /// By flow of simulated stations, in the order of their radios; none where there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flows: Vec<FlowCounts>,
}

/// Time that at least one of several overlapping things is there.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Presence {
    present: u32,
    since: Instant,
    total: Duration,
}

impl Presence {
    pub const fn new(now: Instant) -> Self {
        Self {
            present: 0,
            since: now,
            total: Duration::ZERO,
        }
    }

    pub fn begin(&mut self, now: Instant) {
        if self.present == 0 {
            self.since = now;
        }
        self.present += 1;
    }

    pub fn end(&mut self, now: Instant) {
        self.present -= 1;
        if self.present == 0 {
            self.total += now - self.since;
        }
    }

    pub fn total(&self, now: Instant) -> Duration {
        if self.present == 0 {
            self.total
        } else {
            self.total + now.saturating_since(self.since)
        }
    }

    pub fn forget(&mut self, now: Instant) {
        self.since = now;
        self.total = Duration::ZERO;
    }
}

impl Lateness {
    /// Books one happening that was `late`.
    pub fn book(&mut self, late: Duration) {
        let late_s = late.as_secs_f64();
        self.happenings += 1;
        self.mean_s += (late_s - self.mean_s) / self.happenings as f64;
        self.most_s = self.most_s.max(late_s);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overlapping_presence_counts_once() {
        let at = |n| Instant::ZERO + Duration::from_micros(n);
        let mut p = Presence::new(at(0));
        p.begin(at(10));
        p.begin(at(20));
        p.end(at(30));
        assert_eq!(p.total(at(35)), Duration::from_micros(25));
        p.end(at(40));
        assert_eq!(p.total(at(90)), Duration::from_micros(30));
        p.forget(at(90));
        assert_eq!(p.total(at(90)), Duration::ZERO);
    }

    #[test]
    fn lateness_has_mean_and_most() {
        let mut l = Lateness::default();
        for ms in [1, 2, 6] {
            l.book(Duration::from_millis(ms));
        }
        assert!((l.mean_s - 0.003).abs() < 1e-12);
        assert_eq!(l.most_s, 0.006);
    }
}
