//! 802.11a: OFDM at 5 GHz (clause 17).

use super::sensitivity;
use super::{BandRules, Descriptor, Generation, GuardRules, Symbols, WidthRules};
use crate::basic_rates::BasicRates;
use crate::parameters::{Band, GuardInterval, OfdmRate, Width};
use crate::timing_set::TimingSet;

pub(super) static A: Descriptor = Descriptor {
    generation: Generation::A,
    standard: "802.11a",
    format: "OFDM",
    bands: &[BandRules {
        band: Band::Ghz5,
        timing: TimingSet::OFDM,
        signal_extension_ns: 0,
    }],
    widths: &[WidthRules {
        width: Width::Mhz20,
        data_subcarriers: 48,
        bands: &[Band::Ghz5],
    }],
    guard_intervals: &[GuardRules {
        interval: GuardInterval::Ns800,
        training_ns: 0,
    }],
    dsss_rates: &[],
    ofdm_rates: &OfdmRate::ALL,
    basic_rates: BasicRates::MANDATORY_OFDM,
    // 8 us short training, 8 us long training, 4 us SIGNAL (Table 17-5).
    symbols: Symbols::Ofdm {
        preamble_ns: 20_000,
        symbol_ns: 3_200,
        service_bits: 16,
        tail_bits: 6,
    },
    // Table 17-5.
    shortest_preamble_ns: 20_000,
    mcs: None,
    ampdu: None,
    always_ampdu: false,
    multi_user: None,
    edca: false,
    // SIGNAL (17.3.4).
    header_bits: 24,
    sensitivity_dbm: &sensitivity::OFDM,
    radiotap_field: 2,
};
