//! WLAN PHY arithmetic: PHY generations, transmission vectors, airtimes, interframe spaces,
//! response rates and error probabilities.
//!
//! Pure functions and tables: no state, no clock, no randomness. Floating-point functions come
//! from `libm`, so that every machine gives the same bits.
//!
//! Clause and equation numbers are those of IEEE Std 802.11-2020 (HE: IEEE Std 802.11ax-2021,
//! EHT: IEEE Std 802.11be-2024) unless a line says otherwise.
//!
//! ```
//! use airtoll_phy::{Band, OfdmRate, TxVector, airtime};
//!
//! // 20 us of preamble and header, then 57 symbols of 216 bits for 22 + 8 x 1534 bits.
//! let vector = TxVector::ofdm(OfdmRate::M54, Band::Ghz5);
//! assert_eq!(airtime(&vector, 1534).as_nanos(), 248_000);
//! ```

#[cfg(test)]
extern crate self as airtoll_phy;

mod airtime;
mod ampdu;
mod basic_rates;

mod delay_line;
mod dsss_error;
mod effective_snr;
mod error_rate;
mod frame_sizes;
mod generation;
mod ldpc;
#[cfg(test)]
#[path = "../examples/link_simulation/link.rs"]
mod link_simulation;
mod modulation;
mod multi_user;
mod parameters;
mod propagation;
mod resource_unit;
mod response;
mod sensitivity;

mod timing;
mod timing_set;
mod txvector;

pub use airtime::{OctetSpan, TimeSpan, airtime, octets_on_air, preamble, psdu_within};
pub use ampdu::{
    AddedOctets, AmpduLimits, MpduSpacing, PPDU_MAX_TIME, ampdu_limits, ampdu_octets, max_mpdus,
    subframe_octets,
};
pub use delay_line::{DelayLine, MOST_DELAY_SPREAD_NS, SUB_BANDS, sub_bands, unit_sub_bands};
pub use effective_snr::effective_snr_db;
pub use error_rate::{frame_success, header_modulation, header_success};
pub use frame_sizes::{
    ACK_OCTETS, ADDRESS_4_OCTETS, BLOCK_ACK_REQ_OCTETS, CF_END_OCTETS, CTS_OCTETS,
    DATA_HEADER_OCTETS, FCS_OCTETS, LLC_SNAP_OCTETS, PS_POLL_OCTETS, QOS_CONTROL_OCTETS,
    QOS_NULL_OCTETS, RTS_OCTETS, Trigger, block_ack_octets, multi_sta_block_ack_octets,
    trigger_octets,
};
pub use generation::{
    BandRules, Descriptor, Excluded, Generation, GuardRules, LdpcFill, Legacy, McsRules,
    MultiUserRules, Spread, Symbols, WidthRules,
};
pub use ldpc::CodeWords;
pub use modulation::{CodeRate, Fraction, Mcs, Modulation};
pub use multi_user::{Shared, TRIGGERED_GUARD_INTERVAL, shares, triggered};
pub use parameters::{Band, Coding, DsssRate, GuardInterval, OfdmRate, Preamble, Width};
pub use propagation::{
    HEAVY_WALL, LIGHT_WALL, LogDistance, free_space_loss, from_milliwatts, milliwatts, noise_floor,
    ratio,
};
pub use resource_unit::ResourceUnit;
pub use response::{BasicRates, control_response, non_ht_reference_rate};
pub use sensitivity::minimum_sensitivity;
pub use timing::{
    AccessCategory, EdcaParameters, MU_EDCA_TIMER, TimingSet, ack_timeout, aifs, difs,
    edca_parameters, eifs, rx_phy_start_delay,
};
pub use txvector::{TxVector, TxVectorError};
