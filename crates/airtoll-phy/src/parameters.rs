//! Parameters of a transmission vector: band, width, guard interval, preamble, and the rates of
//! DSSS and OFDM.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::modulation::{CodeRate, Mcs, Modulation};

/// Signal extension of OFDM formats at 2.4 GHz, ns (clauses 18.3.2.4 and 19.3.2).
pub(crate) const SIGNAL_EXTENSION_NS: u32 = 6_000;

/// Frequency band; decides signal extension and interframe spaces.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
pub enum Band {
    /// 2.4 GHz.
    #[serde(rename = "2.4ghz")]
    Ghz2_4,
    /// 5 GHz.
    #[serde(rename = "5ghz")]
    Ghz5,
    /// 6 GHz.
    #[serde(rename = "6ghz")]
    Ghz6,
}

impl Band {
    /// The band of a centre frequency.
    #[must_use]
    pub const fn of_mhz(mhz: u32) -> Self {
        match mhz {
            0..3_000 => Self::Ghz2_4,
            3_000..5_950 => Self::Ghz5,
            _ => Self::Ghz6,
        }
    }
}

/// Channel width.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Width {
    /// 20 MHz (22 MHz DSSS channels included).
    Mhz20,
    /// 40 MHz.
    Mhz40,
    /// 80 MHz.
    Mhz80,
    /// 160 MHz.
    Mhz160,
    /// 320 MHz.
    Mhz320,
}

impl Width {
    /// Megahertz.
    #[must_use]
    pub const fn mhz(self) -> u32 {
        match self {
            Self::Mhz20 => 20,
            Self::Mhz40 => 40,
            Self::Mhz80 => 80,
            Self::Mhz160 => 160,
            Self::Mhz320 => 320,
        }
    }

    /// The width of so many megahertz, if there is one.
    #[must_use]
    pub const fn of_mhz(mhz: u32) -> Option<Self> {
        Some(match mhz {
            20 => Self::Mhz20,
            40 => Self::Mhz40,
            80 => Self::Mhz80,
            160 => Self::Mhz160,
            320 => Self::Mhz320,
            _ => return None,
        })
    }
}

/// Guard interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum GuardInterval {
    /// 0.4 us.
    Ns400,
    /// 0.8 us.
    Ns800,
    /// 1.6 us.
    Ns1600,
    /// 3.2 us.
    Ns3200,
}

impl GuardInterval {
    /// Nanoseconds.
    #[must_use]
    pub const fn nanos(self) -> u32 {
        match self {
            Self::Ns400 => 400,
            Self::Ns800 => 800,
            Self::Ns1600 => 1_600,
            Self::Ns3200 => 3_200,
        }
    }

    /// The guard interval of so many nanoseconds, if there is one.
    #[must_use]
    pub const fn of_nanos(ns: u32) -> Option<Self> {
        Some(match ns {
            400 => Self::Ns400,
            800 => Self::Ns800,
            1_600 => Self::Ns1600,
            3_200 => Self::Ns3200,
            _ => return None,
        })
    }
}

/// Error-correcting code of data frames. DSSS and CCK have none, OFDM has the convolutional code alone.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Coding {
    /// Convolutional code (BCC).
    #[default]
    Bcc,
    /// Low-density parity-check codes (HT and later).
    Ldpc,
}

/// PLCP preamble of HR/DSSS (clause 16.2.2).
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    JsonSchema,
)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "DsssPreamble")]
pub enum Preamble {
    /// 144 + 48 bits at 1 Mb/s: 192 us.
    #[default]
    Long,
    /// 72 bits at 1 Mb/s and 48 at 2 Mb/s: 96 us; not for 1 Mb/s PSDUs.
    Short,
}

/// Rates of DSSS and HR/DSSS.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DsssRate {
    /// 1 Mb/s.
    M1,
    /// 2 Mb/s.
    M2,
    /// 5.5 Mb/s.
    M5_5,
    /// 11 Mb/s.
    M11,
}

impl DsssRate {
    /// All, ascending.
    pub const ALL: [Self; 4] = [Self::M1, Self::M2, Self::M5_5, Self::M11];

    /// Units of 100 kb/s.
    #[must_use]
    pub const fn hundred_kbps(self) -> u32 {
        match self {
            Self::M1 => 10,
            Self::M2 => 20,
            Self::M5_5 => 55,
            Self::M11 => 110,
        }
    }
}

/// Rates of OFDM and ERP-OFDM at 20 MHz.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum OfdmRate {
    /// 6 Mb/s.
    M6,
    /// 9 Mb/s.
    M9,
    /// 12 Mb/s.
    M12,
    /// 18 Mb/s.
    M18,
    /// 24 Mb/s.
    M24,
    /// 36 Mb/s.
    M36,
    /// 48 Mb/s.
    M48,
    /// 54 Mb/s.
    M54,
}

impl OfdmRate {
    /// All, ascending.
    pub const ALL: [Self; 8] = [
        Self::M6,
        Self::M9,
        Self::M12,
        Self::M18,
        Self::M24,
        Self::M36,
        Self::M48,
        Self::M54,
    ];

    /// Megabits per second.
    #[must_use]
    pub const fn mbps(self) -> u32 {
        match self {
            Self::M6 => 6,
            Self::M9 => 9,
            Self::M12 => 12,
            Self::M18 => 18,
            Self::M24 => 24,
            Self::M36 => 36,
            Self::M48 => 48,
            Self::M54 => 54,
        }
    }

    /// Constellation and code rate (Table 17-4).
    #[must_use]
    pub const fn mcs(self) -> Mcs {
        use CodeRate::{R1_2, R2_3, R3_4};
        use Modulation::{Bpsk, Qam16, Qam64, Qpsk};
        let (modulation, code) = match self {
            Self::M6 => (Bpsk, R1_2),
            Self::M9 => (Bpsk, R3_4),
            Self::M12 => (Qpsk, R1_2),
            Self::M18 => (Qpsk, R3_4),
            Self::M24 => (Qam16, R1_2),
            Self::M36 => (Qam16, R3_4),
            Self::M48 => (Qam64, R2_3),
            Self::M54 => (Qam64, R3_4),
        };
        Mcs { modulation, code }
    }
}
