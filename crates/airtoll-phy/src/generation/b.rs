//! 802.11b: DSSS and HR/DSSS (clauses 15 and 16).

use super::{BandRules, Descriptor, Generation, GuardRules, Spread, Symbols, WidthRules};
use crate::basic_rates::BasicRates;
use crate::parameters::{Band, DsssRate, GuardInterval, Width};
use crate::timing_set::TimingSet;

pub(super) static B: Descriptor = Descriptor {
    generation: Generation::B,
    standard: "802.11b",
    format: "HR/DSSS",
    bands: &[BandRules {
        band: Band::Ghz2_4,
        timing: TimingSet::DSSS,
        signal_extension_ns: 0,
    }],
    widths: &[WidthRules {
        width: Width::Mhz20,
        data_subcarriers: 0,
        bands: &[Band::Ghz2_4],
    }],
    guard_intervals: &[GuardRules {
        interval: GuardInterval::Ns800,
        training_ns: 0,
    }],
    dsss_rates: &DsssRate::ALL,
    ofdm_rates: &[],
    // Access points announced 1 and 2 Mb/s by default, so that 802.11 (1997) stations may join.
    basic_rates: BasicRates::new(&[DsssRate::M1, DsssRate::M2], &[]),
    // 144 + 48 bits at 1 Mb/s; 72 bits at 1 Mb/s and 48 at 2 Mb/s (16.2.2).
    symbols: Symbols::Spread(Spread {
        long_ns: 192_000,
        short_ns: 96_000,
    }),
    // Short preamble with its header (16.2.2).
    shortest_preamble_ns: 96_000,
    mcs: None,
    ampdu: None,
    always_ampdu: false,
    multi_user: None,
    edca: false,
    header_bits: 48,
    // 15.4.8.2 (2 Mb/s) and 16.3.8.2 (11 Mb/s).
    sensitivity_dbm: &[None, Some(-80.0), None, Some(-76.0)],
    radiotap_field: 2,
};
