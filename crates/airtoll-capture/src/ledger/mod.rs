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
    /// Of the headers: those inside the cipher (LLC, network, transport).
    inner_octets: u64,
    inner_ns: u64,
}

/// Rates of data frames in one direction.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Rates {
    frames: u64,
    /// Sum of their rates, kb/s.
    sum_kbps: u64,
}

impl Rates {
    fn mean_mbps(self) -> Option<f64> {
        (self.frames > 0).then(|| self.sum_kbps as f64 / self.frames as f64 / 1e3)
    }
}

/// Levels of data frames in one direction.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Levels {
    frames: u64,
    /// Sum of their levels, dBm.
    sum_dbm: i64,
}

impl Levels {
    fn add(&mut self, level_dbm: i8) {
        self.frames += 1;
        self.sum_dbm += i64::from(level_dbm);
    }

    fn mean_dbm(self) -> Option<f64> {
        (self.frames > 0).then(|| self.sum_dbm as f64 / self.frames as f64)
    }
}

/// A station's totals, with the rates of its data frames up and down, and the levels down.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct StationAccount {
    account: Account,
    up: Rates,
    down: Rates,
    down_levels: Levels,
}

/// The parts of a frame, in octets, FCS not counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Parts {
    /// MAC, LLC, network and transport headers.
    pub headers: u32,
    /// Of `headers`, those inside the cipher: LLC, network and transport.
    pub inner: u32,
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
    /// The station sent it.
    pub from_station: bool,
}

/// A way of sending, with its rate.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Sent {
    vector: TxVector,
    kbps: u32,
}

/// A frame's time on the air.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Measured {
    /// How it was sent, if the radio header says.
    sent: Option<Sent>,
    /// Level that the radio header names, dBm.
    signal_dbm: Option<i8>,
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
    stations: FxHashMap<u64, StationAccount>,
    aps: FxHashMap<u64, Account>,
    steps: Vec<Account>,
    step_s: u64,
    first_ns: Option<u64>,
    rates: FxHashMap<Rate, u64>,
    vectors: FxHashMap<Rate, Option<Sent>>,
    recent: Option<(Rate, Option<Sent>)>,
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
        self.inner_octets += other.inner_octets;
        self.inner_ns += other.inner_ns;
    }

    /// Payload turns out to be headers inside the cipher.
    fn turn_to_inner(&mut self, octets: u64, ns: u64) {
        let octets = octets.min(self.octets[Kind::Payload as usize]);
        let ns = ns.min(self.airtime_ns[Kind::Payload as usize]);
        self.octets[Kind::Payload as usize] -= octets;
        self.airtime_ns[Kind::Payload as usize] -= ns;
        self.add(Kind::Headers, octets, ns);
        self.inner_octets += octets;
        self.inner_ns += ns;
    }
}

impl Ledger {
    /// Counts the rate of a frame of `octets` without FCS and measures its time on the air. A
    /// `continued` frame is a subframe of an A-MPDU after its first and shares the preamble.
    pub fn measure(&mut self, radio: &Radio, octets: u32, continued: bool) -> Measured {
        let sent = self.sent(radio);
        let psdu = octets + FCS;
        let (time_ns, preamble_ns) = sent.map_or((0, 0), |Sent { vector: v, .. }| {
            let lead = preamble(&v).as_nanos();
            let time = airtime(&v, psdu).as_nanos();
            if continued {
                (time - lead, 0)
            } else {
                (time, lead)
            }
        });
        Measured {
            sent,
            signal_dbm: radio.signal_dbm,
            psdu,
            time_ns,
            preamble_ns,
        }
    }

    /// Enters a frame.
    pub fn enter(&mut self, measured: &Measured, entry: &Entry) {
        let Measured {
            sent,
            signal_dbm,
            psdu,
            time_ns,
            preamble_ns,
        } = *measured;
        let mut account = Account {
            frames: 1,
            data_frames: u64::from(entry.whole.is_none()),
            retry_frames: u64::from(entry.retry),
            without_rate: u64::from(sent.is_none()),
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
                account.inner_octets = u64::from(entry.parts.inner);
                account.inner_ns = share(entry.parts.inner);
                account.add(Kind::Security, u64::from(security), security_ns);
                account.add(Kind::Payload, u64::from(payload), payload_ns);
                account.add(
                    Kind::Headers,
                    u64::from(headers),
                    time_ns - security_ns - payload_ns,
                );
                if let Some(Sent { vector: v, .. }) = sent {
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
        if let Some(sums) = slot(&mut self.stations, entry.station) {
            sums.account.join(&account);
            if entry.whole.is_none()
                && let Some(Sent { kbps, .. }) = sent
            {
                let rates = if entry.from_station {
                    &mut sums.up
                } else {
                    &mut sums.down
                };
                rates.frames += 1;
                rates.sum_kbps += u64::from(kbps);
            }
            if entry.whole.is_none()
                && !entry.from_station
                && let Some(level) = signal_dbm
            {
                sums.down_levels.add(level);
            }
        }
        if let Some(sums) = slot(&mut self.aps, entry.ap) {
            sums.join(&account);
        }
        self.step(entry.time_ns).join(&account);
    }

    /// A data frame that was entered as closed is open now, and so many of its octets of payload are
    /// headers inside the cipher.
    pub fn reopen(&mut self, radio: &Radio, octets: u32, entry: &Entry, inner: u32) {
        if entry.retry || entry.whole.is_some() {
            return;
        }
        let psdu = octets + FCS;
        let known = self.known(rate_of(radio), radio);
        let body = known.map_or(0, |Sent { vector: v, .. }| {
            airtime(&v, psdu).as_nanos() - preamble(&v).as_nanos()
        });
        let ns = body * u64::from(inner) / u64::from(psdu);
        let inner = u64::from(inner);
        self.total.turn_to_inner(inner, ns);
        if let Some(sums) = slot(&mut self.stations, entry.station) {
            sums.account.turn_to_inner(inner, ns);
        }
        if let Some(sums) = slot(&mut self.aps, entry.ap) {
            sums.turn_to_inner(inner, ns);
        }
        self.step(entry.time_ns).turn_to_inner(inner, ns);
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

    /// Counts the rate of a frame.
    fn sent(&mut self, radio: &Radio) -> Option<Sent> {
        let key = rate_of(radio);
        if self.rates.len() < MAX_ENTRIES || self.rates.contains_key(&key) {
            *self.rates.entry(key).or_default() += 1;
        }
        self.known(key, radio)
    }

    fn known(&mut self, key: Rate, radio: &Radio) -> Option<Sent> {
        if let Some((known, sent)) = self.recent
            && known == key
        {
            return sent;
        }
        if self.vectors.len() >= MAX_ENTRIES {
            self.vectors.clear();
        }
        let sent = *self.vectors.entry(key).or_insert_with(|| {
            let vector = vector_of(radio.modulation, radio.short_preamble, key.2)?;
            let kbps = u32::try_from(vector.bit_rate().0 / 1000).unwrap_or(u32::MAX);
            Some(Sent { vector, kbps })
        });
        self.recent = Some((key, sent));
        sent
    }
}

/// The key of a frame's rate in tables.
fn rate_of(radio: &Radio) -> Rate {
    let band = match radio.frequency_mhz {
        Some(5925..) => 2,
        Some(4000..) => 1,
        _ => 0,
    };
    (pack(radio.modulation), radio.short_preamble, band)
}

/// The sums of an address, unless the table is full.
fn slot<T: Default>(table: &mut FxHashMap<u64, T>, address: Option<MacAddress>) -> Option<&mut T> {
    let address = address?.to_u64();
    let fits = table.len() < MAX_ENTRIES || table.contains_key(&address);
    fits.then(|| table.entry(address).or_default())
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
                inner: 0,
                security,
                payload,
            },
            station: Some(MacAddress([2; 6])),
            ap: None,
            from_station: true,
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

    #[test]
    fn a_frame_that_opens_late_has_the_parts_of_one_that_opens_at_once() {
        let mut at_once = Ledger::default();
        let measured = at_once.measure(&ofdm54(), 1548, false);
        let mut open = entry(1548, 16, 1464);
        open.parts.inner = 36;
        at_once.enter(&measured, &open);
        let mut late = Ledger::default();
        let measured = late.measure(&ofdm54(), 1548, false);
        let closed = entry(1548, 16, 1500);
        late.enter(&measured, &closed);
        late.reopen(&ofdm54(), 1548, &closed, 36);
        let [at_once, late] = [at_once, late].map(|ledger| ledger.total);
        assert_eq!(at_once.octets, late.octets);
        assert_eq!(at_once.inner_octets, late.inner_octets);
        let [at_once, late] = [at_once, late].map(|total| total.airtime_ns);
        assert!(at_once.iter().zip(late).all(|(a, b)| a.abs_diff(b) <= 1));
    }

    #[test]
    fn the_level_of_a_station_is_that_of_the_frames_that_it_was_sent() {
        let mut ledger = Ledger::default();
        for (level, from_station) in [(-60, false), (-63, false), (-20, true)] {
            let radio = Radio {
                signal_dbm: Some(level),
                ..ofdm54()
            };
            let measured = ledger.measure(&radio, 1548, false);
            let mut sent = entry(1548, 16, 1460);
            sent.from_station = from_station;
            ledger.enter(&measured, &sent);
        }
        assert_eq!(ledger.report().stations[0].level_down_dbm, Some(-61.5));
        let mut silent = Ledger::default();
        let measured = silent.measure(&ofdm54(), 1548, false);
        let mut sent = entry(1548, 16, 1460);
        sent.from_station = false;
        silent.enter(&measured, &sent);
        assert_eq!(silent.report().stations[0].level_down_dbm, None);
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
