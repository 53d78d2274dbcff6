//! The air for virtual radios: airtime, contention, loss and signal for mac80211_hwsim.
//!
//! Takes the frames that virtual radios send, gives them to the radios that would receive them,
//! when they would. Airtimes, interframe spaces, error model and back-off are those of the
//! simulator. [`Medium`] does no input or output and reads no clock; [`hwsim`] and [`control`]
//! hold the messages to the kernel and from the caller, and the program around them moves
//! octets. Where the settings have devices, their CPUs and cipher engines delay frames before the
//! air and after it. It may simulate further stations, whose frames contend with those of the virtual
//! radios and are handed to no driver. TXOP bursts and capture are not modelled.
//!
//! ```
//! use airtoll_medium::Settings;
//!
//! let settings = Settings::from_json(
//!     r#"{"radios": [{"name": "ap", "address": "42:00:00:00:00:00"},
//!                    {"name": "sta", "address": "42:00:00:00:01:00"}]}"#,
//! )?;
//! assert_eq!(settings.index("sta"), Some(1));
//! # Ok::<(), airtoll_medium::SettingsError>(())
//! ```

pub mod control;
pub mod hwsim;
pub mod rates;
pub mod settings;

mod account;
mod contention;
mod devices;
mod field;
mod medium;
mod offer;
mod processing;
mod statistics;
mod waiting;

#[cfg(test)]
mod tests;

pub use medium::Medium;
pub use offer::{Happening, Offer, STEPS};
pub use settings::{Settings, SettingsError};
pub use statistics::{
    ChannelCounts, Counts, DeviceCounts, Direction, FlowCounts, Lateness, RadioCounts,
};
