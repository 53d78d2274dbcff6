//! 802.11g: ERP-OFDM at 2.4 GHz (clause 18), beside the rates of 802.11b.

use super::sensitivity;
use super::{BandRules, Descriptor, Generation, GuardRules, Symbols, WidthRules};
use crate::basic_rates::BasicRates;
use crate::parameters::{Band, DsssRate, GuardInterval, OfdmRate, SIGNAL_EXTENSION_NS, Width};
use crate::timing_set::TimingSet;

pub(super) static G: Descriptor = Descriptor {
    generation: Generation::G,
    standard: "802.11g",
    format: "ERP-OFDM",
    bands: &[BandRules {
        band: Band::Ghz2_4,
        timing: TimingSet::ERP,
        signal_extension_ns: SIGNAL_EXTENSION_NS,
    }],
    widths: &[WidthRules {
        width: Width::Mhz20,
        data_subcarriers: 48,
        bands: &[Band::Ghz2_4],
    }],
    guard_intervals: &[GuardRules {
        interval: GuardInterval::Ns800,
        training_ns: 0,
    }],
    dsss_rates: &DsssRate::ALL,
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
