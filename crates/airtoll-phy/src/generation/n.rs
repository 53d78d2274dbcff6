//! 802.11n: HT with mixed preamble (clause 19).

use super::descriptor::{AmpduLimits, LdpcFill};
use super::sensitivity;
use super::{BandRules, Descriptor, Generation, GuardRules, McsRules, Symbols, WidthRules};
use crate::basic_rates::BasicRates;
use crate::modulation::{Mcs, data_bits};
use crate::parameters::{Band, GuardInterval, OfdmRate, SIGNAL_EXTENSION_NS, Width};
use crate::timing_set::TimingSet;

const BANDS: &[Band] = &[Band::Ghz5, Band::Ghz2_4];

/// HT-LTF, ns.
const TRAINING_NS: u32 = 4_000;

pub(super) static N: Descriptor = Descriptor {
    generation: Generation::N,
    standard: "802.11n",
    format: "HT",
    bands: &[
        BandRules {
            band: Band::Ghz5,
            timing: TimingSet::OFDM,
            signal_extension_ns: 0,
        },
        BandRules {
            band: Band::Ghz2_4,
            timing: TimingSet::ERP,
            signal_extension_ns: SIGNAL_EXTENSION_NS,
        },
    ],
    widths: &[
        WidthRules {
            width: Width::Mhz20,
            data_subcarriers: 52,
            bands: BANDS,
        },
        WidthRules {
            width: Width::Mhz40,
            data_subcarriers: 108,
            bands: BANDS,
        },
    ],
    guard_intervals: &[
        GuardRules {
            interval: GuardInterval::Ns400,
            training_ns: TRAINING_NS,
        },
        GuardRules {
            interval: GuardInterval::Ns800,
            training_ns: TRAINING_NS,
        },
    ],
    dsss_rates: &[],
    ofdm_rates: &OfdmRate::ALL,
    basic_rates: BasicRates::MANDATORY_OFDM,
    // Legacy 20 us, HT-SIG 8 us, HT-STF 4 us (19.3.6, Table 19-6).
    symbols: Symbols::Ofdm {
        preamble_ns: 20_000 + 8_000 + 4_000,
        symbol_ns: 3_200,
        service_bits: 16,
        tail_bits: 6,
    },
    // Greenfield: HT-GF-STF, HT-LTF1 and HT-SIG, 8 us each (19.3.2).
    shortest_preamble_ns: 24_000,
    mcs: Some(McsRules {
        top: 7,
        streams: 4,
        index_names_streams: true,
        training_fields: &[1, 2, 4, 4],
        encoders,
        excluded: &[],
        ldpc: LdpcFill::Psdu,
    }),
    // 9.4.2.55.3 (length, window 64), 9.3.2.1 (4095 octets of an MPDU in an A-MPDU),
    // 9.4.2.55.2 (A-MSDU), Table 19-25 (aPPDUMaxTime).
    ampdu: Some(AmpduLimits {
        octets: 65_535,
        mpdus: 64,
        mpdu_octets: 4_095,
        amsdu_octets: 7_935,
    }),
    always_ampdu: false,
    multi_user: None,
    edca: true,
    // SIGNAL and HT-SIG.
    header_bits: 24 + 48,
    sensitivity_dbm: &sensitivity::BY_MCS,
    radiotap_field: 19,
};

/// One encoder carries up to 300 Mb/s with the short guard interval (19.3.11.6).
fn encoders(mcs: Mcs, subcarriers: u32, streams: u8) -> u32 {
    if data_bits(mcs, subcarriers, streams) > 1_080 {
        2
    } else {
        1
    }
}
