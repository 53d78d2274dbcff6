//! The ledger: takes frames with what they carried, gives airtime and octets by kind for the
//! whole capture, each station, each AP and each second.
//!
//! Airtimes come from the PHY's equations for the rate that the radio header names; frames
//! without a rate have octets but no airtime, and are counted. Tables are bounded. Never counts
//! interframe spaces: what the radio does not send, it does not hear.

mod rates;
pub mod report;

use airtoll_phy::{TxVector, airtime, preamble};
use airtoll_wire::MacAddress;
use rustc_hash::FxHashMap;

use self::rates::{Rate, pack, vector_of};
pub use self::report::LedgerReport;
use crate::link::Radio;

/// Most stations, APs or distinct rates that are kept apart.
const MAX_ENTRIES: usize = 1 << 16;
/// Most steps of the series over time; then steps are joined two by two.
const MAX_STEPS: usize = 8192;
const FCS: u32 = 4;

/// Purpose of octets or airtime.
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
    /// Its parts.
    pub parts: Parts,
    /// Client it belongs to.
    pub station: Option<MacAddress>,
    /// AP it belongs to.
    pub ap: Option<MacAddress>,
}

/// A frame's time on the air.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Measured {
    /// How it was sent, if the radio header says.
    vector: Option<TxVector>,
    /// Octets of the MPDU with FCS.
    psdu: u32,
    time_ns: u64,
    preamble_ns: u64,
}

impl Measured {
    /// Nanoseconds on the air; 0 if the rate is not known.
    pub const fn time_ns(&self) -> u64 {
        self.time_ns
    }
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
    vectors: FxHashMap<Rate, Option<TxVector>>,
    recent: Option<(Rate, Option<TxVector>)>,
    data_airtime_ns: u64,
    alternatives_ns: [u64; ALTERNATIVES.len()],
}

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
    /// Counts the rate of a frame of `octets` without FCS and measures its time on the air. A
    /// `continued` frame is a subframe of an A-MPDU after its first and shares the preamble.
    pub fn measure(&mut self, radio: &Radio, octets: u32, continued: bool) -> Measured {
        let vector = self.vector(radio);
        let psdu = octets + FCS;
        let (time_ns, preamble_ns) = vector.map_or((0, 0), |v| {
            let lead = preamble(&v).as_nanos();
            let time = airtime(&v, psdu).as_nanos();
            if continued {
                (time - lead, 0)
            } else {
                (time, lead)
            }
        });
        Measured {
            vector,
            psdu,
            time_ns,
            preamble_ns,
        }
    }

    /// Enters a frame.
    pub fn enter(&mut self, measured: &Measured, entry: &Entry) {
        let Measured {
            vector,
            psdu,
            time_ns,
            preamble_ns,
        } = *measured;
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
}

#[cfg(test)]
mod tests {
    use super::*;
    use airtoll_wire::radiotap::Modulation;
    use proptest::prelude::*;

    fn entry(octets: u32, security: u32, payload: u32) -> Entry {
        Entry {
            time_ns: 0,
            whole: None,
            retry: false,
            parts: Parts {
                headers: octets - security - payload,
                security,
                payload,
            },
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
        let measured = ledger.measure(&ofdm54(), 1548, false);
        ledger.enter(&measured, &entry(1548, 16, 1460));
        let time = measured.time_ns();
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
                let len = headers + security + payload;
                octets += u64::from(len) + 4;
                let radio = if known { ofdm54() } else { Radio::default() };
                let measured = ledger.measure(&radio, len, false);
                airtime_ns += measured.time_ns();
                ledger.enter(&measured, &e);
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
