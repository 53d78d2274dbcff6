//! PPDU formats, and why a transmission vector of one may not exist.

use core::fmt;

/// PPDU format (TXVECTOR parameter FORMAT and modulation class, Table 10-9).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Format {
    /// DSSS or HR/DSSS (802.11, 802.11b).
    Dsss,
    /// OFDM at 5 GHz (802.11a).
    Ofdm,
    /// ERP-OFDM at 2.4 GHz (802.11g).
    ErpOfdm,
    /// HT, mixed preamble (802.11n).
    HtMixed,
    /// VHT, one user (802.11ac).
    Vht,
    /// HE SU (802.11ax).
    HeSu,
    /// EHT MU PPDU to one user without OFDMA (802.11be).
    EhtSu,
}

/// Why a transmission vector does not exist.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TxVectorError {
    /// The index is not one of the format's.
    #[error("{format} has no MCS {mcs}; allowed are 0 to {max}")]
    NoSuchMcs {
        /// The format asked for.
        format: Format,
        /// The index asked for.
        mcs: u8,
        /// Its largest index.
        max: u8,
    },
    /// The width is not one of the format's.
    #[error("{format} has no {mhz} MHz channel at this band")]
    NoSuchWidth {
        /// The format asked for.
        format: Format,
        /// The width asked for.
        mhz: u32,
    },
    /// The guard interval is not one of the format's.
    #[error("{format} has no guard interval of {ns} ns")]
    NoSuchGuardInterval {
        /// The format asked for.
        format: Format,
        /// The guard interval asked for.
        ns: u32,
    },
    /// So many spatial streams do not exist.
    #[error("{format} has 1 to {max} spatial streams, not {nss}")]
    NoSuchStreams {
        /// The format asked for.
        format: Format,
        /// Streams asked for.
        nss: u8,
        /// Its most streams.
        max: u8,
    },
    /// The standard excludes this combination (clause 21.5).
    #[error("VHT MCS {mcs} is not defined at {mhz} MHz with {nss} streams (clause 21.5)")]
    Excluded {
        /// The index asked for.
        mcs: u8,
        /// The width asked for.
        mhz: u32,
        /// Streams asked for.
        nss: u8,
    },
    /// The short preamble carries no 1 Mb/s PSDU (clause 16.2.2.3).
    #[error("1 Mb/s needs the long preamble (clause 16.2.2.3)")]
    ShortAtOne,
    /// The format is not for this band.
    #[error("{format} is not for this band")]
    WrongBand {
        /// The format asked for.
        format: Format,
    },
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Dsss => "HR/DSSS",
            Self::Ofdm => "OFDM",
            Self::ErpOfdm => "ERP-OFDM",
            Self::HtMixed => "HT",
            Self::Vht => "VHT",
            Self::HeSu => "HE",
            Self::EhtSu => "EHT",
        })
    }
}
