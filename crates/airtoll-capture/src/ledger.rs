//! The ledger: takes frames with what they carried, gives airtime and octets by kind for the
//! whole capture, each station, each AP and each second.
//!
//! Airtimes come from the PHY's equations for the rate that the radio header names; frames
//! without a rate have octets but no airtime, and are counted. Tables are bounded. Never counts
//! interframe spaces: what the radio does not send, it does not hear.

use airtoll_phy::{
    Band, DsssRate, GuardInterval, OfdmRate, Preamble, TxVector, Width, airtime, preamble,
};
use airtoll_wire::MacAddress;
use airtoll_wire::radiotap::Modulation;
use rustc_hash::FxHashMap;
use serde::Serialize;

use crate::link::Radio;

/// Most stations, APs or distinct rates that are kept apart.
const MAX_ENTRIES: usize = 1 << 16;
/// Most steps of the series over time; then steps are joined two by two.
const MAX_STEPS: usize = 8192;
const FCS: u32 = 4;

/// What octets or time went to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Management frames but authentication by SAE, FT or shared key.
    Management,
    /// Control frames.
    Control,
    /// Application octets.
    Payload,
    /// Preambles, MAC, LLC, network and transport headers, FCS.
    Headers,
    /// Cipher headers, MICs and ICVs of data frames.
    Security,
    /// EAPOL, EAP and authentication frames that negotiate keys.
    KeyExchange,
    /// Frames sent again.
    Retries,
}

/// Totals by kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Account {
    /// Frames.
    pub frames: u64,
    /// Data frames that carry data.
    pub data_frames: u64,
    /// Frames with the retry bit.
    pub retry_frames: u64,
    /// Frames whose rate is not known.
    pub without_rate: u64,
    octets: [u64; 7],
    airtime_ns: [u64; 7],
}

/// The parts of a frame, in octets, FCS not counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Parts {
    /// MAC, LLC, network and transport headers.
    pub headers: u32,
    /// Cipher overhead.
    pub security: u32,
    /// The rest.
    pub payload: u32,
}

/// One frame for the ledger.
#[derive(Debug, Clone, Copy)]
pub struct Entry {
    /// Nanoseconds since the epoch.
    pub time_ns: u64,
    /// Kind for all but plain data frames, which are split by `parts`.
    pub whole: Option<Kind>,
    /// Retry bit.
    pub retry: bool,
    /// Octets of the MPDU without FCS.
    pub octets: u32,
    /// Its parts.
    pub parts: Parts,
    /// Subframe of an A-MPDU after its first: shares the preamble.
    pub continued: bool,
    /// Client it belongs to.
    pub station: Option<MacAddress>,
    /// AP it belongs to.
    pub ap: Option<MacAddress>,
}

/// Ciphers whose cost on the same traffic is compared: name and octets per MPDU.
const ALTERNATIVES: [(&str, u32); 6] = [
    ("open", 0),
    ("wep", 8),
    ("tkip", 20),
    ("ccmp-128", 16),
    ("gcmp-128", 24),
    ("ccmp-256", 24),
];

/// The whole ledger.
#[derive(Default)]
pub struct Ledger {
    total: Account,
    stations: FxHashMap<u64, Account>,
    aps: FxHashMap<u64, Account>,
    steps: Vec<Account>,
    step_s: u64,
    first_ns: Option<u64>,
    rates: FxHashMap<Rate, u64>,
    vectors: FxHashMap<(Modulation8, bool, u8), Option<TxVector>>,
    recent: Option<((Modulation8, bool, u8), Option<TxVector>)>,
    data_airtime_ns: u64,
    alternatives_ns: [u64; ALTERNATIVES.len()],
}

type Modulation8 = [u8; 8];
type Rate = (Modulation8, bool, u8);

impl Account {
    fn add(&mut self, kind: Kind, octets: u64, airtime_ns: u64) {
        self.octets[kind as usize] += octets;
        self.airtime_ns[kind as usize] += airtime_ns;
    }

    fn join(&mut self, other: &Self) {
        self.frames += other.frames;
        self.data_frames += other.data_frames;
        self.retry_frames += other.retry_frames;
        self.without_rate += other.without_rate;
        for (mine, theirs) in self.octets.iter_mut().zip(other.octets) {
            *mine += theirs;
        }
        for (mine, theirs) in self.airtime_ns.iter_mut().zip(other.airtime_ns) {
            *mine += theirs;
        }
    }
}

impl Ledger {
    /// Enters a frame; gives its airtime in nanoseconds, 0 if its rate is not known.
    pub fn enter(&mut self, radio: &Radio, entry: &Entry) -> u64 {
        let vector = self.vector(radio);
        let psdu = entry.octets + FCS;
        let (time_ns, preamble_ns) = vector.map_or((0, 0), |v| {
            let lead = preamble(&v).as_nanos();
            let time = airtime(&v, psdu).as_nanos();
            if entry.continued {
                (time - lead, 0)
            } else {
                (time, lead)
            }
        });
        let mut account = Account {
            frames: 1,
            data_frames: u64::from(entry.whole.is_none()),
            retry_frames: u64::from(entry.retry),
            without_rate: u64::from(vector.is_none()),
            ..Account::default()
        };
        match (entry.retry, entry.whole) {
            (true, _) => account.add(Kind::Retries, u64::from(psdu), time_ns),
            (false, Some(kind)) => account.add(kind, u64::from(psdu), time_ns),
            (false, None) => {
                let body = time_ns - preamble_ns;
                let share = |octets: u32| body * u64::from(octets) / u64::from(psdu);
                let (security, payload) = (entry.parts.security, entry.parts.payload);
                let (security_ns, payload_ns) = (share(security), share(payload));
                let headers = psdu.saturating_sub(security + payload);
                account.add(Kind::Security, u64::from(security), security_ns);
                account.add(Kind::Payload, u64::from(payload), payload_ns);
                account.add(
                    Kind::Headers,
                    u64::from(headers),
                    time_ns - security_ns - payload_ns,
                );
                if let Some(v) = vector {
                    self.data_airtime_ns += time_ns;
                    let bare = psdu - security.min(psdu);
                    let lead = preamble(&v).as_nanos() - preamble_ns;
                    for (sum, (_, octets)) in self.alternatives_ns.iter_mut().zip(ALTERNATIVES) {
                        *sum += airtime(&v, bare + octets).as_nanos() - lead;
                    }
                }
            }
        }
        self.total.join(&account);
        for (table, key) in [
            (&mut self.stations, entry.station),
            (&mut self.aps, entry.ap),
        ] {
            if let Some(key) = key
                && (table.len() < MAX_ENTRIES || table.contains_key(&key.to_u64()))
            {
                table.entry(key.to_u64()).or_default().join(&account);
            }
        }
        self.step(entry.time_ns).join(&account);
        time_ns
    }

    fn step(&mut self, time_ns: u64) -> &mut Account {
        let first = *self.first_ns.get_or_insert(time_ns);
        if self.step_s == 0 {
            self.step_s = 1;
        }
        let second = time_ns.saturating_sub(first) / 1_000_000_000;
        while second / self.step_s >= MAX_STEPS as u64 {
            let joined = self.steps.chunks(2).map(|two| {
                let mut sum = two[0];
                if let Some(next) = two.get(1) {
                    sum.join(next);
                }
                sum
            });
            self.steps = joined.collect();
            self.step_s *= 2;
        }
        let index = (second / self.step_s) as usize;
        if self.steps.len() <= index {
            self.steps.resize(index + 1, Account::default());
        }
        &mut self.steps[index]
    }

    fn vector(&mut self, radio: &Radio) -> Option<TxVector> {
        let band = match radio.frequency_mhz {
            Some(5925..) => 2,
            Some(4000..) => 1,
            _ => 0,
        };
        let key = (pack(radio.modulation), radio.short_preamble, band);
        if self.rates.len() < MAX_ENTRIES || self.rates.contains_key(&key) {
            *self.rates.entry(key).or_default() += 1;
        }
        if let Some((known, vector)) = self.recent
            && known == key
        {
            return vector;
        }
        if self.vectors.len() >= MAX_ENTRIES {
            self.vectors.clear();
        }
        let vector = *self
            .vectors
            .entry(key)
            .or_insert_with(|| vector_of(radio.modulation, radio.short_preamble, band));
        self.recent = Some((key, vector));
        vector
    }

    /// The ledger for reports.
    pub fn report(&self) -> LedgerReport {
        let total = Sums::of(&self.total);
        let airtime = self.total.airtime_ns.iter().sum::<u64>();
        let security = self.total.airtime_ns[Kind::Security as usize]
            + self.total.airtime_ns[Kind::KeyExchange as usize];
        let of = |table: &FxHashMap<u64, Account>| {
            let mut list: Vec<_> = table
                .iter()
                .map(|(address, account)| Owned {
                    address: address_text(*address),
                    sums: Sums::of(account),
                })
                .collect();
            list.sort_by(|a, b| a.address.cmp(&b.address));
            list
        };
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
            stations: of(&self.stations),
            access_points: of(&self.aps),
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
#[derive(Debug, Clone, Serialize)]
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
    pub stations: Vec<Owned>,
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
#[derive(Debug, Clone, Serialize)]
pub struct Sums {
    /// Frames.
    pub frames: u64,
    /// Frames with the retry bit.
    pub retries: u64,
    /// Octets on air with FCS, by kind.
    pub octets: ByKind<u64>,
    /// Seconds on air by kind.
    pub airtime_s: ByKind<f64>,
}

/// One value for each kind.
#[derive(Debug, Clone, Serialize)]
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

/// Sums of one station or AP.
#[derive(Debug, Clone, Serialize)]
pub struct Owned {
    /// Its address.
    pub address: String,
    /// Its sums.
    #[serde(flatten)]
    pub sums: Sums,
}

/// Sums of one step of time.
#[derive(Debug, Clone, Serialize)]
pub struct Step {
    /// Seconds after the first frame.
    pub second: u64,
    /// Its sums.
    #[serde(flatten)]
    pub sums: Sums,
}

/// Frames at one rate.
#[derive(Debug, Clone, Serialize)]
pub struct RateCount {
    /// Rate or MCS in words.
    pub rate: String,
    /// Frames.
    pub frames: u64,
}

/// What the data frames would take under another cipher.
#[derive(Debug, Clone, Serialize)]
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

fn pack(modulation: Modulation) -> Modulation8 {
    match modulation {
        Modulation::Unknown => [0; 8],
        Modulation::Legacy { rate_500kbps } => [1, rate_500kbps, 0, 0, 0, 0, 0, 0],
        Modulation::Ht {
            mcs,
            wide,
            short_gi,
        } => [2, mcs, u8::from(wide), u8::from(short_gi), 0, 0, 0, 0],
        Modulation::Vht {
            mcs,
            streams,
            bandwidth_mhz,
            short_gi,
        } => {
            let width = (bandwidth_mhz / 20) as u8;
            [3, mcs, streams, width, u8::from(short_gi), 0, 0, 0]
        }
        Modulation::He {
            mcs,
            streams,
            bandwidth_mhz,
            gi_ns,
        } => {
            let width = (bandwidth_mhz / 20) as u8;
            [4, mcs, streams, width, (gi_ns / 400) as u8, 0, 0, 0]
        }
    }
}

fn unpack(packed: Modulation8) -> Modulation {
    let [kind, a, b, c, d, ..] = packed;
    match kind {
        1 => Modulation::Legacy { rate_500kbps: a },
        2 => Modulation::Ht {
            mcs: a,
            wide: b == 1,
            short_gi: c == 1,
        },
        3 => Modulation::Vht {
            mcs: a,
            streams: b,
            bandwidth_mhz: u16::from(c) * 20,
            short_gi: d == 1,
        },
        4 => Modulation::He {
            mcs: a,
            streams: b,
            bandwidth_mhz: u16::from(c) * 20,
            gi_ns: u16::from(d) * 400,
        },
        _ => Modulation::Unknown,
    }
}

fn rate_name(modulation: Modulation) -> String {
    match modulation {
        Modulation::Unknown => "unknown".to_owned(),
        Modulation::Legacy { rate_500kbps } => format!("{} Mb/s", f64::from(rate_500kbps) / 2.0),
        Modulation::Ht { mcs, wide, .. } => {
            format!("HT MCS {mcs} {} MHz", if wide { 40 } else { 20 })
        }
        Modulation::Vht {
            mcs,
            streams,
            bandwidth_mhz,
            ..
        } => format!("VHT MCS {mcs} x{streams} {bandwidth_mhz} MHz"),
        Modulation::He {
            mcs,
            streams,
            bandwidth_mhz,
            ..
        } => format!("HE MCS {mcs} x{streams} {bandwidth_mhz} MHz"),
    }
}

fn vector_of(modulation: Modulation, short_preamble: bool, band: u8) -> Option<TxVector> {
    let band = match band {
        0 => Band::Ghz2_4,
        1 => Band::Ghz5,
        _ => Band::Ghz6,
    };
    let width = |mhz: u16| Width::of_mhz(u32::from(mhz));
    let guard = |short: bool| {
        if short {
            GuardInterval::Ns400
        } else {
            GuardInterval::Ns800
        }
    };
    match modulation {
        Modulation::Unknown => None,
        Modulation::Legacy { rate_500kbps } => {
            let dsss = match rate_500kbps {
                2 => Some(DsssRate::M1),
                4 => Some(DsssRate::M2),
                11 => Some(DsssRate::M5_5),
                22 => Some(DsssRate::M11),
                _ => None,
            };
            if let Some(rate) = dsss {
                let preamble = if short_preamble && rate != DsssRate::M1 {
                    Preamble::Short
                } else {
                    Preamble::Long
                };
                return TxVector::dsss(rate, preamble).ok();
            }
            let rate = match rate_500kbps {
                12 => OfdmRate::M6,
                18 => OfdmRate::M9,
                24 => OfdmRate::M12,
                36 => OfdmRate::M18,
                48 => OfdmRate::M24,
                72 => OfdmRate::M36,
                96 => OfdmRate::M48,
                108 => OfdmRate::M54,
                _ => return None,
            };
            Some(TxVector::ofdm(rate, band))
        }
        Modulation::Ht {
            mcs,
            wide,
            short_gi,
        } => TxVector::ht(
            mcs,
            if wide { Width::Mhz40 } else { Width::Mhz20 },
            guard(short_gi),
            band,
        )
        .ok(),
        Modulation::Vht {
            mcs,
            streams,
            bandwidth_mhz,
            short_gi,
        } => TxVector::vht(mcs, width(bandwidth_mhz)?, guard(short_gi), streams).ok(),
        Modulation::He {
            mcs,
            streams,
            bandwidth_mhz,
            gi_ns,
        } => TxVector::he(
            mcs,
            width(bandwidth_mhz)?,
            GuardInterval::of_nanos(u32::from(gi_ns))?,
            streams,
            band,
        )
        .ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn entry(octets: u32, security: u32, payload: u32) -> Entry {
        Entry {
            time_ns: 0,
            whole: None,
            retry: false,
            octets,
            parts: Parts {
                headers: octets - security - payload,
                security,
                payload,
            },
            continued: false,
            station: Some(MacAddress([2; 6])),
            ap: None,
        }
    }

    fn ofdm54() -> Radio {
        Radio {
            modulation: Modulation::Legacy { rate_500kbps: 108 },
            frequency_mhz: Some(5180),
            ..Radio::default()
        }
    }

    #[test]
    fn a_data_frame_at_54_mbps() {
        // 1500 octets of MSDU in a CCMP frame with LLC: 24 + 8 + 8 + 1500 + 8, FCS 4.
        let mut ledger = Ledger::default();
        let time = ledger.enter(&ofdm54(), &entry(1548, 16, 1460));
        // 20 us + ceil((16 + 8 * 1552 + 6) / 216) symbols of 4 us: IEEE 802.11-2020, 17.4.3.
        assert_eq!(time, 20_000 + (22 + 8 * 1552u64).div_ceil(216) * 4000);
        let report = ledger.report();
        let sum = &report.total.airtime_s;
        let parts = sum.payload + sum.headers + sum.security;
        assert!((parts - time as f64 / 1e9).abs() < 1e-12);
        let open = report.same_traffic_under[0].data_airtime_s;
        let ccmp = report.same_traffic_under[3].data_airtime_s;
        assert!(open < ccmp && (ccmp - report.data_airtime_s).abs() < 1e-12);
    }

    proptest! {
        #[test]
        fn parts_add_up(list in proptest::collection::vec((0u32..400, 0u32..30, 0u32..1500, any::<bool>(), any::<bool>(), 0u64..1 << 45), 1..40)) {
            let mut ledger = Ledger::default();
            let mut airtime_ns = 0;
            let mut octets = 0;
            for (headers, security, payload, retry, known, time_ns) in list {
                let mut e = entry(headers + security + payload, security, payload);
                e.retry = retry;
                e.time_ns = time_ns;
                octets += u64::from(e.octets) + 4;
                airtime_ns += ledger.enter(&if known { ofdm54() } else { Radio::default() }, &e);
            }
            prop_assert_eq!(ledger.total.octets.iter().sum::<u64>(), octets);
            prop_assert_eq!(ledger.total.airtime_ns.iter().sum::<u64>(), airtime_ns);
            let mut steps = Account::default();
            for step in &ledger.steps {
                steps.join(step);
            }
            prop_assert_eq!(steps, ledger.total);
            prop_assert!(ledger.steps.len() <= MAX_STEPS);
        }
    }
}
