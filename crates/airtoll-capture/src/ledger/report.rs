//! The ledger as it is printed: takes the accounts, gives sums by kind, station, AP and second.
//!
//! Missing is null, never zero.

use airtoll_wire::MacAddress;
use schemars::JsonSchema;
use serde::Serialize;

use super::rates::{rate_name, unpack};
use super::{ALTERNATIVES, Account, Kind, Ledger};

impl Ledger {
    /// The ledger for reports.
    pub fn report(&self) -> LedgerReport {
        let total = Sums::of(&self.total);
        let airtime = self.total.airtime_ns.iter().sum::<u64>();
        let security = self.total.airtime_ns[Kind::Security as usize]
            + self.total.airtime_ns[Kind::KeyExchange as usize];
        let mut stations: Vec<_> = self
            .stations
            .iter()
            .map(|(address, sums)| StationSums {
                address: address_text(*address),
                rate_up_mbps: sums.up.mean_mbps(),
                rate_down_mbps: sums.down.mean_mbps(),
                level_down_dbm: sums.down_levels.mean_dbm(),
                sums: Sums::of(&sums.account),
            })
            .collect();
        stations.sort_by(|a, b| a.address.cmp(&b.address));
        let mut access_points: Vec<_> = self
            .aps
            .iter()
            .map(|(address, account)| Owned {
                address: address_text(*address),
                sums: Sums::of(account),
            })
            .collect();
        access_points.sort_by(|a, b| a.address.cmp(&b.address));
        let mut rates: Vec<_> = self
            .rates
            .iter()
            .map(|((modulation, _, _), frames)| (rate_name(unpack(*modulation)), *frames))
            .collect();
        rates.sort();
        let mut histogram: Vec<RateCount> = Vec::new();
        for (rate, frames) in rates {
            match histogram.last_mut() {
                Some(last) if last.rate == rate => last.frames += frames,
                _ => histogram.push(RateCount { rate, frames }),
            }
        }
        let seconds = self
            .steps
            .iter()
            .enumerate()
            .filter(|(_, account)| account.frames > 0)
            .map(|(index, account)| Step {
                second: index as u64 * self.step_s,
                sums: Sums::of(account),
            })
            .collect();
        let data_frames = self.total.data_frames;
        LedgerReport {
            security_share: ratio(security, airtime),
            retry_rate: ratio(self.total.retry_frames, self.total.frames),
            total,
            data_frames,
            frames_without_rate: self.total.without_rate,
            stations,
            access_points,
            step_s: self.step_s.max(1),
            seconds,
            rates: histogram,
            data_airtime_s: seconds_of(self.data_airtime_ns),
            same_traffic_under: ALTERNATIVES
                .iter()
                .zip(self.alternatives_ns)
                .map(|((cipher, octets), ns)| Alternative {
                    cipher,
                    octets_per_frame: *octets,
                    data_airtime_s: seconds_of(ns),
                })
                .collect(),
        }
    }
}

/// The ledger as it is printed.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct LedgerReport {
    /// Whole capture.
    pub total: Sums,
    /// Plain data frames.
    pub data_frames: u64,
    /// Frames whose radio header names no rate that exists.
    pub frames_without_rate: u64,
    /// Share of all airtime that cipher overhead and key exchange take; null without airtime.
    pub security_share: Option<f64>,
    /// Share of frames with the retry bit.
    pub retry_rate: Option<f64>,
    /// Per client.
    pub stations: Vec<StationSums>,
    /// Per AP.
    pub access_points: Vec<Owned>,
    /// Seconds in each step of `seconds`.
    pub step_s: u64,
    /// Over time; steps without frames are left out.
    pub seconds: Vec<Step>,
    /// Frames by rate or MCS.
    pub rates: Vec<RateCount>,
    /// Airtime of first-time data frames as captured.
    pub data_airtime_s: f64,
    /// The same data frames under each other cipher.
    pub same_traffic_under: Vec<Alternative>,
}

/// Sums by kind.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Sums {
    /// Frames.
    pub frames: u64,
    /// Frames with the retry bit.
    pub retries: u64,
    /// Octets on air with FCS, by kind.
    pub octets: ByKind<u64>,
    /// Seconds on air by kind.
    pub airtime_s: ByKind<f64>,
    /// Of `octets.headers`: LLC, network and transport headers, which the cipher covers. Those of frames
    /// that stay closed are in `octets.payload`.
    pub inner_headers_octets: u64,
    /// The same of `airtime_s.headers`.
    pub inner_headers_airtime_s: f64,
}

/// One value for each kind.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(rename = "ByKindOf{T}")]
pub struct ByKind<T> {
    /// Management frames.
    pub management: T,
    /// Control frames.
    pub control: T,
    /// Application octets.
    pub payload: T,
    /// Headers of every layer, with preambles and FCS.
    pub headers: T,
    /// Cipher overhead of data frames.
    pub security: T,
    /// Frames that negotiate keys.
    pub key_exchange: T,
    /// Frames sent again.
    pub retries: T,
}

/// Sums of one station.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct StationSums {
    /// Its address.
    pub address: String,
    /// Mean rate of the data frames that it sent, Mb/s; null if none names its rate.
    pub rate_up_mbps: Option<f64>,
    /// The same of those that it was sent.
    pub rate_down_mbps: Option<f64>,
    /// Mean level of those that it was sent, dBm; null if no radio header names it.
    pub level_down_dbm: Option<f64>,
    /// Its sums.
    #[serde(flatten)]
    pub sums: Sums,
}

/// Sums of one AP.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Owned {
    /// Its address.
    pub address: String,
    /// Its sums.
    #[serde(flatten)]
    pub sums: Sums,
}

/// Sums of one step of time.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Step {
    /// Seconds after the first frame.
    pub second: u64,
    /// Its sums.
    #[serde(flatten)]
    pub sums: Sums,
}

/// Frames at one rate.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct RateCount {
    /// Rate or MCS in words.
    pub rate: String,
    /// Frames.
    pub frames: u64,
}

/// Octets and airtime of the data frames under another cipher.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Alternative {
    /// The cipher.
    pub cipher: &'static str,
    /// Octets it adds to each frame.
    pub octets_per_frame: u32,
    /// Airtime of the data frames, in seconds.
    pub data_airtime_s: f64,
}

impl Sums {
    fn of(account: &Account) -> Self {
        let o = account.octets;
        let t = account.airtime_ns.map(seconds_of);
        Self {
            frames: account.frames,
            retries: account.retry_frames,
            octets: ByKind {
                management: o[0],
                control: o[1],
                payload: o[2],
                headers: o[3],
                security: o[4],
                key_exchange: o[5],
                retries: o[6],
            },
            airtime_s: ByKind {
                management: t[0],
                control: t[1],
                payload: t[2],
                headers: t[3],
                security: t[4],
                key_exchange: t[5],
                retries: t[6],
            },
            inner_headers_octets: account.inner_octets,
            inner_headers_airtime_s: seconds_of(account.inner_ns),
        }
    }
}

fn seconds_of(ns: u64) -> f64 {
    ns as f64 / 1e9
}

fn ratio(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

fn address_text(address: u64) -> String {
    let b = address.to_be_bytes();
    MacAddress([b[2], b[3], b[4], b[5], b[6], b[7]]).to_string()
}
