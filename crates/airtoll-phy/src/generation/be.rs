//! 802.11be: EHT MU PPDU to one user, and to several by OFDMA (clause 36 of IEEE Std 802.11be-2024).

use super::ac::TRAINING_FIELDS;
use super::ax::AX;
use super::descriptor::{AmpduLimits, LdpcFill};
use super::sensitivity;
use super::{Descriptor, Generation, McsRules, MultiUserRules, Symbols, WidthRules};
use crate::basic_rates::BasicRates;
use crate::parameters::{Band, OfdmRate, Width};

const ALL_BANDS: &[Band] = &[Band::Ghz5, Band::Ghz6, Band::Ghz2_4];
const NOT_AT_2_4: &[Band] = &[Band::Ghz5, Band::Ghz6];

pub(super) static BE: Descriptor = Descriptor {
    generation: Generation::Be,
    standard: "802.11be",
    format: "EHT",
    // EHT-LTFs are as long as HE-LTFs: 2x with 0.8 and 1.6 us, 4x with 3.2 us (36.3.4).
    bands: AX.bands,
    guard_intervals: AX.guard_intervals,
    widths: &[
        WidthRules {
            width: Width::Mhz20,
            data_subcarriers: 234,
            bands: ALL_BANDS,
        },
        WidthRules {
            width: Width::Mhz40,
            data_subcarriers: 468,
            bands: ALL_BANDS,
        },
        WidthRules {
            width: Width::Mhz80,
            data_subcarriers: 980,
            bands: NOT_AT_2_4,
        },
        WidthRules {
            width: Width::Mhz160,
            data_subcarriers: 1_960,
            bands: NOT_AT_2_4,
        },
        WidthRules {
            width: Width::Mhz320,
            data_subcarriers: 3_920,
            bands: &[Band::Ghz6],
        },
    ],
    dsss_rates: &[],
    ofdm_rates: &OfdmRate::ALL,
    basic_rates: BasicRates::MANDATORY_OFDM,
    // Legacy 20 us, RL-SIG 4 us, U-SIG 8 us, EHT-SIG 8 us, EHT-STF 4 us (36.3.4). EHT-SIG goes at
    // MCS 0: 52 bits of common and user field (36.3.12.8) in two symbols. The packet extension is 0.
    symbols: Symbols::Ofdm {
        preamble_ns: 20_000 + 4_000 + 8_000 + 8_000 + 4_000,
        symbol_ns: 12_800,
        service_bits: 16,
        tail_bits: 6,
    },
    // A bound: no shorter than that of HE, whose fields it has beside EHT-SIG.
    shortest_preamble_ns: 40_000,
    mcs: Some(McsRules {
        top: 13,
        streams: 8,
        index_names_streams: false,
        training_fields: &TRAINING_FIELDS,
        encoders: |_, _, _| 1,
        excluded: &[],
        ldpc: LdpcFill::Quarters,
    }),
    // 35.6; MPDUs as VHT's.
    ampdu: Some(AmpduLimits {
        octets: 15_523_200,
        mpdus: 1_024,
        mpdu_octets: 11_454,
        amsdu_octets: 11_454,
    }),
    always_ampdu: true,
    // EHT MU: legacy 20 us, RL-SIG 4 us, U-SIG 8 us, EHT-STF 4 us. EHT TB: EHT-STF of 8 us. Common field:
    // U-SIG overflow of 17 bits, RU Allocation-A of 9 bits per 20 MHz of the content channel (36.3.12.8);
    // user field of 22 bits. Wider channels have another EHT-SIG in each 80 MHz.
    multi_user: Some(MultiUserRules {
        preamble_ns: 20_000 + 4_000 + 8_000 + 4_000,
        triggered_preamble_ns: 20_000 + 4_000 + 8_000 + 8_000,
        common_bits: &[
            (Width::Mhz20, 17 + 9),
            (Width::Mhz40, 17 + 9),
            (Width::Mhz80, 17 + 2 * 9),
        ],
        user_bits: 22,
        signalling_mcs: &[0, 1, 3],
    }),
    edca: true,
    // SIGNAL, U-SIG and EHT-SIG.
    header_bits: 24 + 52 + 52,
    sensitivity_dbm: &sensitivity::BY_MCS,
    radiotap_field: 34,
};
