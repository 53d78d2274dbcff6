//! 802.11ax: HE SU, HE MU and HE TB (clause 27 of IEEE Std 802.11ax-2021).

use super::ac::TRAINING_FIELDS;
use super::descriptor::{AmpduLimits, LdpcFill};
use super::sensitivity;
use super::{
    BandRules, Descriptor, Generation, GuardRules, McsRules, MultiUserRules, Symbols, WidthRules,
};
use crate::basic_rates::BasicRates;
use crate::parameters::{Band, GuardInterval, OfdmRate, SIGNAL_EXTENSION_NS, Width};
use crate::timing_set::TimingSet;

const ALL_BANDS: &[Band] = &[Band::Ghz5, Band::Ghz6, Band::Ghz2_4];
const NOT_AT_2_4: &[Band] = &[Band::Ghz5, Band::Ghz6];

pub(super) static AX: Descriptor = Descriptor {
    generation: Generation::Ax,
    standard: "802.11ax",
    format: "HE",
    bands: &[
        BandRules {
            band: Band::Ghz5,
            timing: TimingSet::OFDM,
            signal_extension_ns: 0,
        },
        BandRules {
            band: Band::Ghz6,
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
    ],
    // The HE-LTF that must be supported with each guard interval: 2x with 0.8 and 1.6 us, 4x
    // with 3.2 us (27.3.4 and Table 27-13).
    guard_intervals: &[
        GuardRules {
            interval: GuardInterval::Ns800,
            training_ns: 6_400 + 800,
        },
        GuardRules {
            interval: GuardInterval::Ns1600,
            training_ns: 6_400 + 1_600,
        },
        GuardRules {
            interval: GuardInterval::Ns3200,
            training_ns: 12_800 + 3_200,
        },
    ],
    dsss_rates: &[],
    ofdm_rates: &OfdmRate::ALL,
    basic_rates: BasicRates::MANDATORY_OFDM,
    // Legacy 20 us, RL-SIG 4 us, HE-SIG-A 8 us, HE-STF 4 us (27.3.4, Table 27-12). The packet extension is 0.
    symbols: Symbols::Ofdm {
        preamble_ns: 20_000 + 4_000 + 8_000 + 4_000,
        symbol_ns: 12_800,
        service_bits: 16,
        tail_bits: 6,
    },
    // 1x HE-LTF of 3.2 us with a guard interval of 0.8 us (Table 27-12).
    shortest_preamble_ns: 40_000,
    mcs: Some(McsRules {
        top: 11,
        streams: 8,
        index_names_streams: false,
        training_fields: &TRAINING_FIELDS,
        encoders: |_, _, _| 1,
        excluded: &[],
        ldpc: LdpcFill::Quarters,
    }),
    // 26.6 and 27.2; MPDUs as VHT's; Table 27-53.
    ampdu: Some(AmpduLimits {
        octets: 6_500_631,
        mpdus: 256,
        mpdu_octets: 11_454,
        amsdu_octets: 11_454,
    }),
    always_ampdu: true,
    // HE MU: legacy 20 us, RL-SIG 4 us, HE-SIG-A 8 us, HE-STF 4 us. HE TB: HE-STF of 8 us (27.3.4, Table
    // 27-12). Common field: RU Allocation of 8 bits per 20 MHz of the content channel, Center 26-tone RU from
    // 80 MHz on (Table 27-24); user field: Table 27-29.
    multi_user: Some(MultiUserRules {
        preamble_ns: 20_000 + 4_000 + 8_000 + 4_000,
        triggered_preamble_ns: 20_000 + 4_000 + 8_000 + 8_000,
        common_bits: &[
            (Width::Mhz20, 8),
            (Width::Mhz40, 8),
            (Width::Mhz80, 2 * 8 + 1),
            (Width::Mhz160, 4 * 8 + 1),
        ],
        user_bits: 21,
        signalling_mcs: &[0, 1, 2, 3, 4, 5],
    }),
    edca: true,
    // SIGNAL and HE-SIG-A.
    header_bits: 24 + 52,
    sensitivity_dbm: &sensitivity::BY_MCS,
    radiotap_field: 23,
};
