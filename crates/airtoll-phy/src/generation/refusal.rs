//! Parameters that a generation does not have.

use super::Generation;

/// Why a transmission vector does not exist.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TxVectorError {
    /// The generation has rates and no MCSs.
    #[error("{generation} has rates in Mb/s and no MCS")]
    NoMcs {
        /// The generation asked for.
        generation: Generation,
    },
    /// The generation has no such MCS index.
    #[error("{generation} has no MCS {mcs}; allowed are 0 to {max}")]
    NoSuchMcs {
        /// The generation asked for.
        generation: Generation,
        /// The index asked for.
        mcs: u8,
        /// Its largest index.
        max: u8,
    },
    /// The generation has no such width in this band.
    #[error("{generation} has no {mhz} MHz channel in this band")]
    NoSuchWidth {
        /// The generation asked for.
        generation: Generation,
        /// The width asked for.
        mhz: u32,
    },
    /// The generation has no such guard interval.
    #[error("{generation} has no guard interval of {ns} ns")]
    NoSuchGuardInterval {
        /// The generation asked for.
        generation: Generation,
        /// The guard interval asked for.
        ns: u32,
    },
    /// The generation has no such number of spatial streams.
    #[error("{generation} has 1 to {max} spatial streams, not {nss}")]
    NoSuchStreams {
        /// The generation asked for.
        generation: Generation,
        /// Streams asked for.
        nss: u8,
        /// Its most streams.
        max: u8,
    },
    /// The MCS index states another number of spatial streams.
    #[error("MCS {mcs} of {generation} has {named} spatial streams, not {nss}")]
    OtherStreams {
        /// The generation asked for.
        generation: Generation,
        /// The index asked for.
        mcs: u8,
        /// Streams asked for.
        nss: u8,
        /// Streams of the index.
        named: u8,
    },
    /// The standard excludes this combination (21.5).
    #[error("{generation} excludes MCS {mcs} at {mhz} MHz with {nss} streams")]
    Excluded {
        /// The generation asked for.
        generation: Generation,
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
    /// The generation has the convolutional code alone.
    #[error("{generation} has no LDPC codes")]
    NoLdpc {
        /// The generation asked for.
        generation: Generation,
    },
    /// The generation does not have the band.
    #[error("{generation} is not for this band")]
    WrongBand {
        /// The generation asked for.
        generation: Generation,
    },
}
