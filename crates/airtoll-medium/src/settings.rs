//! Settings of a medium: radios, their positions and movement, and the rules of the BSS.
//!
//! They are read from JSON and checked. Names are those that the caller chose for its radios;
//! times are seconds since the medium began, positions metres, powers dBm, losses dB.

use airtoll_phy::{Band, BasicRates, Generation, Preamble, TimingSet};
use airtoll_wire::MacAddress;
use airtoll_wlan::scenario::{AccessCategory, PathLoss, Wall};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::account::Account;
pub use crate::devices::{Device, Devices};
use crate::rates;

/// A set of radios holds at most this many: hearing is kept as one bit each.
pub const MAX_RADIOS: usize = 64;

/// Settings of a new air.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "MediumSettings")]
pub struct Settings {
    /// The radios; at most [`MAX_RADIOS`].
    pub radios: Vec<RadioSettings>,
    /// Generation whose slots, windows and basic rates hold in the BSSs on this medium; OFDM at
    /// either band unless told.
    #[serde(default = "ofdm")]
    pub standard: Generation,
    /// Preamble of DSSS frames that mac80211 does not ask to be short.
    #[serde(default)]
    pub short_preamble: bool,
    /// Path loss between positions; the same loss everywhere unless told.
    #[serde(default = "same_loss")]
    pub path_loss: PathLoss,
    /// Walls between positions.
    #[serde(default)]
    pub walls: Vec<Wall>,
    /// Levels of named pairs, which override positions.
    #[serde(default)]
    pub levels: Vec<Level>,
    /// Pairs of radios that never sense one another.
    #[serde(default)]
    pub hidden: Vec<[String; 2]>,
    /// Receiver noise figure over kTB.
    #[serde(default = "noise_figure")]
    pub noise_figure_db: f64,
    /// Power from which a frame makes the medium busy.
    #[serde(default = "carrier_sense")]
    pub carrier_sense_dbm: f64,
    /// Whether frames fail by noise, or by collisions only.
    #[serde(default = "yes")]
    pub frame_errors: bool,
    /// Frames that wait per radio and access category; more are dropped.
    #[serde(default = "queue_frames")]
    pub queue_frames: usize,
    /// Whether anything takes airtime. If not, frames pass at once and unharmed: what is left is
    /// the ceiling that the machine sets.
    #[serde(default = "yes")]
    pub airtime: bool,
    /// Seed of back-offs and of losses.
    #[serde(default)]
    pub seed: u64,
    /// Devices whose processors take time; null: nothing but the air takes time.
    #[serde(default)]
    pub devices: Option<Devices>,
}

/// One radio.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "MediumRadio")]
pub struct RadioSettings {
    /// Its name.
    pub name: String,
    /// The address by which mac80211_hwsim names it (42:00:00:00:NN:00).
    pub address: Address,
    /// MAC addresses of its interfaces; others are learned from what it sends.
    #[serde(default)]
    pub interfaces: Vec<Address>,
    /// Transmit power.
    #[serde(default = "tx_power")]
    pub tx_power_dbm: f64,
    /// Where it is and when; between two points it moves along a straight line at even speed.
    #[serde(default)]
    pub path: Vec<Waypoint>,
    /// A station that the medium itself simulates; null: mac80211 has this radio.
    #[serde(default)]
    pub simulated: Option<Simulated>,
}

/// A station without a mac80211: the medium makes its frames, and takes those for it.
///
/// It does not join. From the request that starts flows to the one that ends them it has frames of
/// their real length, which contend as those of other radios do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "MediumSimulated")]
pub struct Simulated {
    /// Name of its access point's radio; it needs an interface.
    pub access_point: String,
    /// Centre frequency of its channel.
    pub frequency_mhz: u32,
    /// The one rate of its data and of data for it, as statistics name it: Mb/s, or MCS, streams,
    /// width and guard interval.
    pub rate: String,
    /// Attempts that a frame has as long as no mac80211 has sent data the same way at this rate,
    /// between any station and the access point. From then on it has the retry chain of that data.
    #[serde(default = "attempts")]
    pub attempts: u8,
    /// Octets that the cipher adds to a frame: header, MIC and ICV.
    #[serde(default)]
    pub cipher_octets: u32,
    /// Flow to the access point.
    #[serde(default)]
    pub up: Option<SimulatedFlow>,
    /// Flow from the access point, through its queue; not saturated.
    #[serde(default)]
    pub down: Option<SimulatedFlow>,
}

/// Equal MSDUs of a simulated station, one by one or as many as its queue takes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "MediumFlow")]
pub struct SimulatedFlow {
    /// Octets of an MSDU: LLC/SNAP header and packet.
    pub msdu_octets: u32,
    /// Time between MSDUs, s, of which the first comes after a random part; null: saturated.
    #[serde(default)]
    pub interval_s: Option<f64>,
    /// Access category of its QoS data; null: data without QoS.
    #[serde(default)]
    pub access_category: Option<AccessCategory>,
}

/// A point of a path.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "MediumWaypoint")]
pub struct Waypoint {
    /// When, s.
    pub at_s: f64,
    /// Where, m.
    pub position_m: [f64; 3],
}

/// The level at which either of two radios hears the other.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "MediumLevel")]
pub struct Level {
    /// The two radios.
    pub radios: [String; 2],
    /// Points in time; in between the level changes evenly.
    pub points: Vec<LevelPoint>,
}

/// A point of a level.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "MediumLevelPoint")]
pub struct LevelPoint {
    /// When, s.
    #[serde(default)]
    pub at_s: f64,
    /// Received power, dBm.
    pub dbm: f64,
}

/// A MAC address in JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String", inline, extend("format" = "mac-address"))]
pub struct Address(pub MacAddress);

impl From<Address> for String {
    fn from(address: Address) -> Self {
        address.0.to_string()
    }
}

impl TryFrom<String> for Address {
    type Error = airtoll_wire::Error;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse().map(Self)
    }
}

/// Invalid settings; names the key.
#[derive(Debug, Error, PartialEq)]
pub enum SettingsError {
    /// Not JSON, or not of this shape.
    #[error("settings: {0}")]
    Shape(String),
    /// More radios than a set can hold.
    #[error("radios: {0} are too many; at most {MAX_RADIOS}")]
    TooManyRadios(usize),
    /// Two radios of one name or address.
    #[error("radios: {0} is there twice")]
    Twice(String),
    /// A name that no radio has.
    #[error("{key}: no radio is called {name}")]
    Unknown {
        /// Where the name stands.
        key: &'static str,
        /// The name.
        name: String,
    },
    /// Times that do not rise, or a list without a point.
    #[error("{key} of {name}: times must rise, and there must be one at least")]
    Order {
        /// Which list.
        key: &'static str,
        /// The radio, or the pair.
        name: String,
    },
    /// A simulated station that cannot be.
    #[error("simulated: {name}: {why}")]
    Simulated {
        /// The radio.
        name: String,
        /// The mistake, and the remedy.
        why: &'static str,
    },
    /// A queue that holds nothing.
    #[error("queue_frames: 0; at least 1")]
    NoQueue,
    /// A part of a host that the medium does not model.
    #[error("devices: {0}: the medium has no such part of a host")]
    Host(&'static str),
    /// A policy that names something unknown.
    #[error("devices: policy: {0}")]
    Policy(String),
}

impl Settings {
    /// Reads settings from JSON and checks them.
    ///
    /// # Errors
    /// [`SettingsError`], naming the key.
    pub fn from_json(text: &str) -> Result<Self, SettingsError> {
        let settings: Self =
            serde_json::from_str(text).map_err(|error| SettingsError::Shape(error.to_string()))?;
        settings.checked()
    }

    /// The same settings, if they hold together.
    ///
    /// # Errors
    /// [`SettingsError`], naming the key.
    pub fn checked(self) -> Result<Self, SettingsError> {
        self.check()?;
        Ok(self)
    }

    /// The number of a radio.
    #[must_use]
    pub fn index(&self, name: &str) -> Option<usize> {
        self.radios.iter().position(|radio| radio.name == name)
    }

    /// Slots, SIFS and windows at a frequency.
    #[must_use]
    pub fn timing(&self, frequency_mhz: u32) -> TimingSet {
        let band = Band::of_mhz(frequency_mhz);
        self.standard.descriptor().timing(band, false)
    }

    /// Basic rates: those of the simulator's BSSs where a scenario names none.
    #[must_use]
    pub fn basic_rates(&self) -> BasicRates {
        self.standard.descriptor().basic_rates
    }

    /// Preamble of DSSS frames.
    #[must_use]
    pub const fn preamble(&self) -> Preamble {
        if self.short_preamble {
            Preamble::Short
        } else {
            Preamble::Long
        }
    }

    fn check(&self) -> Result<(), SettingsError> {
        if self.radios.len() > MAX_RADIOS {
            return Err(SettingsError::TooManyRadios(self.radios.len()));
        }
        if self.queue_frames == 0 {
            return Err(SettingsError::NoQueue);
        }
        for (i, radio) in self.radios.iter().enumerate() {
            for other in &self.radios[..i] {
                if other.name == radio.name || other.address == radio.address {
                    return Err(SettingsError::Twice(radio.name.clone()));
                }
            }
            if !radio.path.is_empty() && !rises(radio.path.iter().map(|point| point.at_s)) {
                let name = radio.name.clone();
                return Err(SettingsError::Order { key: "path", name });
            }
        }
        self.check_devices()?;
        self.check_simulated()?;
        let levels = self.levels.iter().map(|level| ("levels", &level.radios));
        let hidden = self.hidden.iter().map(|pair| ("hidden", pair));
        for (key, pair) in levels.chain(hidden) {
            for name in pair {
                if self.index(name).is_none() {
                    let name = name.clone();
                    return Err(SettingsError::Unknown { key, name });
                }
            }
        }
        for level in &self.levels {
            if !rises(level.points.iter().map(|point| point.at_s)) {
                let name = level.radios.join(" and ");
                return Err(SettingsError::Order {
                    key: "levels",
                    name,
                });
            }
        }
        Ok(())
    }
}

impl Settings {
    fn check_simulated(&self) -> Result<(), SettingsError> {
        for radio in &self.radios {
            let Some(station) = &radio.simulated else {
                continue;
            };
            let name = &station.access_point;
            let Some(access_point) = self.radios.iter().find(|other| other.name == *name) else {
                let name = name.clone();
                return Err(SettingsError::Unknown {
                    key: "simulated",
                    name,
                });
            };
            let flows = || station.up.iter().chain(&station.down);
            let why = if access_point.simulated.is_some() || access_point.interfaces.is_empty() {
                "its access point must be a radio of mac80211 with an interface"
            } else if self.devices.is_some() {
                "devices: the processors do not see its frames; leave one of the two out"
            } else if self.step_of(station).is_none() {
                "rate: write one that the band has, such as \"54\" or \
                 \"MCS 7, 1 streams, 20 MHz, 800 ns\""
            } else if station.attempts == 0 {
                "attempts: 0; at least 1"
            } else if flows().any(|flow| !(8..=2_312).contains(&flow.msdu_octets)) {
                "msdu_octets: 8 to 2312, the LLC/SNAP header among them"
            } else if flows().any(|flow| flow.interval_s.is_some_and(|s| !(1e-6..1e6).contains(&s)))
            {
                "interval_s: 0.000001 to 1000000"
            } else if station
                .down
                .as_ref()
                .is_some_and(|flow| flow.interval_s.is_none())
            {
                "down: nothing keeps the queue of an access point full; give interval_s"
            } else {
                continue;
            };
            let name = radio.name.clone();
            return Err(SettingsError::Simulated { name, why });
        }
        Ok(())
    }

    /// The rate of a simulated station as mac80211 would hand it over.
    pub(crate) fn step_of(&self, station: &Simulated) -> Option<rates::Step> {
        let vht = self.standard == Generation::Ac;
        rates::named(&station.rate, station.frequency_mhz, vht)
    }

    fn check_devices(&self) -> Result<(), SettingsError> {
        let Some(devices) = &self.devices else {
            return Ok(());
        };
        let mut seen = Vec::new();
        for name in devices.radios.iter().flat_map(|device| &device.radios) {
            if self.index(name).is_none() {
                let name = name.clone();
                return Err(SettingsError::Unknown {
                    key: "devices",
                    name,
                });
            }
            if seen.contains(&name) {
                return Err(SettingsError::Twice(name.clone()));
            }
            seen.push(name);
        }
        for host in devices.hosts() {
            for (part, given) in [
                ("nic", host.nic.is_some()),
                ("cpu_queue_packets", host.cpu_queue_packets.is_some()),
                ("engine_queue_frames", host.engine_queue_frames.is_some()),
            ] {
                if given {
                    return Err(SettingsError::Host(part));
                }
            }
        }
        Account::new(devices, self.seed)
            .map(drop)
            .map_err(SettingsError::Policy)
    }
}

/// Whether the list has a number, and each number is above the one before.
fn rises(mut numbers: impl Iterator<Item = f64>) -> bool {
    let Some(mut last) = numbers.next() else {
        return false;
    };
    last.is_finite()
        && numbers.all(|number| {
            let above = number.is_finite() && number > last;
            last = number;
            above
        })
}

// As the simulator's scenario has them where a study names none.
const fn same_loss() -> PathLoss {
    PathLoss::Constant { loss_db: 60.0 }
}

const fn ofdm() -> Generation {
    Generation::N
}

const fn noise_figure() -> f64 {
    7.0
}

const fn carrier_sense() -> f64 {
    -82.0
}

const fn tx_power() -> f64 {
    16.0
}

/// Fewer frames than the kernel's own list of frames under way holds, and more than a socket of
/// the default size sends before it waits.
const fn queue_frames() -> usize {
    100
}

/// As many as the simulator's frames have where a study names no number.
const fn attempts() -> u8 {
    7
}

const fn yes() -> bool {
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    const TWO: &str = r#"{"radios":[
        {"name":"ap","address":"42:00:00:00:00:00"},
        {"name":"sta","address":"42:00:00:00:01:00"}]"#;

    fn error(rest: &str) -> String {
        Settings::from_json(&format!("{TWO}{rest}}}"))
            .unwrap_err()
            .to_string()
    }

    #[test]
    fn defaults_are_those_of_the_simulator() {
        let settings = Settings::from_json(&format!("{TWO}}}")).unwrap();
        let simulator = airtoll_wlan::scenario::Radio::default();
        assert_eq!(settings.path_loss, simulator.path_loss);
        assert_eq!(settings.noise_figure_db, simulator.noise_figure_db);
        assert_eq!(settings.carrier_sense_dbm, simulator.carrier_sense_dbm);
        assert_eq!(settings.frame_errors, simulator.frame_errors);
    }

    #[test]
    fn mistakes_name_the_key() {
        assert!(error(r#","hidden":[["ap","stb"]]"#).contains("hidden: no radio is called stb"));
        assert!(error(r#","levels":[{"radios":["ap","sta"],"points":[]}]"#).contains("levels"));
        assert!(error(r#","queue_frames":0"#).contains("queue_frames"));
        assert!(error(r#","standart":"802.11b""#).contains("standart"));
        let devices = |radios: &str, host: &str, akm: &str| {
            error(&format!(
                r#","devices":{{"radios":[{{"radios":[{radios}],"host":{{{host}}}}}],
                "cipher":"ccmp-128","policy":{{"name":"x","link":{{
                "cipher":"ccmp-128","group_cipher":"ccmp-128","akm":"{akm}",
                "authentication":"open"}}}}}}"#
            ))
        };
        assert!(devices(r#""stb""#, "", "psk").contains("devices: no radio is called stb"));
        assert!(devices(r#""ap","ap""#, "", "psk").contains("ap is there twice"));
        let limited = devices(r#""ap""#, r#""cpu_queue_packets":3"#, "psk");
        assert!(limited.contains("devices: cpu_queue_packets"), "{limited}");
        assert!(devices(r#""ap""#, "", "spk").contains("spk"));
    }

    #[test]
    fn a_simulated_station_that_cannot_be_is_refused_with_the_remedy() {
        let said = |changes: &str| {
            let mut station = serde_json::json!({
                "access_point": "ap", "frequency_mhz": 5180, "rate": "54", "attempts": 7,
                "up": {"msdu_octets": 1508},
            });
            let changes: serde_json::Value = serde_json::from_str(changes).unwrap();
            for (key, value) in changes.as_object().unwrap() {
                station[key] = value.clone();
            }
            let text = format!(
                r#"{{"radios":[{{"name":"ap","address":"42:00:00:00:00:00",
                "interfaces":["02:00:00:00:00:00"]}},
                {{"name":"bare","address":"42:00:00:00:01:00"}},
                {{"name":"s","address":"02:00:00:00:02:00","simulated":{station}}}]}}"#
            );
            Settings::from_json(&text).map_or_else(|error| error.to_string(), |_| String::new())
        };
        assert_eq!(said("{}"), "");
        assert!(said(r#"{"access_point":"pa"}"#).contains("no radio is called pa"));
        assert!(said(r#"{"access_point":"bare"}"#).contains("with an interface"));
        assert!(said(r#"{"access_point":"s"}"#).contains("with an interface"));
        assert!(said(r#"{"rate":"11"}"#).contains("rate: write one that the band has"));
        assert!(said(r#"{"attempts":0}"#).contains("attempts: 0"));
        assert!(said(r#"{"up":{"msdu_octets":7}}"#).contains("msdu_octets: 8 to 2312"));
        let often = r#"{"up":{"msdu_octets":100,"interval_s":0}}"#;
        assert!(said(often).contains("interval_s"));
        assert!(said(r#"{"down":{"msdu_octets":100}}"#).contains("give interval_s"));
    }
}
