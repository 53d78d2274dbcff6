//! 802.11ac: VHT to one user (clause 21).

use super::descriptor::{AmpduLimits, LdpcFill};
use super::sensitivity;
use super::{
    BandRules, Descriptor, Excluded, Generation, GuardRules, McsRules, Symbols, WidthRules,
};
use crate::basic_rates::BasicRates;
use crate::modulation::Mcs;
use crate::parameters::{Band, GuardInterval, OfdmRate, Width};
use crate::timing_set::TimingSet;

const BANDS: &[Band] = &[Band::Ghz5];

/// VHT-LTF, ns.
const TRAINING_NS: u32 = 4_000;

/// Number of VHT-, HE- and EHT-LTFs by streams (Table 21-13).
pub(super) const TRAINING_FIELDS: [u32; 8] = [1, 2, 4, 4, 6, 6, 8, 8];

pub(super) static AC: Descriptor = Descriptor {
    generation: Generation::Ac,
    standard: "802.11ac",
    format: "VHT",
    bands: &[BandRules {
        band: Band::Ghz5,
        timing: TimingSet::OFDM,
        signal_extension_ns: 0,
    }],
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
        WidthRules {
            width: Width::Mhz80,
            data_subcarriers: 234,
            bands: BANDS,
        },
        WidthRules {
            width: Width::Mhz160,
            data_subcarriers: 468,
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
    // Legacy 20 us, SIG-A 8 us, STF 4 us, SIG-B 4 us (21.3.6, Table 21-5).
    symbols: Symbols::Ofdm {
        preamble_ns: 20_000 + 8_000 + 4_000 + 4_000,
        symbol_ns: 3_200,
        service_bits: 16,
        tail_bits: 6,
    },
    // One VHT-LTF (21.3.2).
    shortest_preamble_ns: 40_000,
    mcs: Some(McsRules {
        top: 9,
        streams: 8,
        index_names_streams: false,
        training_fields: &TRAINING_FIELDS,
        encoders,
        // 21.5.
        excluded: &[
            Excluded {
                width: Width::Mhz20,
                mcs: 9,
                streams: &[1, 2, 4, 5, 7, 8],
            },
            Excluded {
                width: Width::Mhz80,
                mcs: 6,
                streams: &[3, 7],
            },
            Excluded {
                width: Width::Mhz80,
                mcs: 9,
                streams: &[6],
            },
            Excluded {
                width: Width::Mhz160,
                mcs: 9,
                streams: &[3],
            },
        ],
        ldpc: LdpcFill::Symbols,
    }),
    // 9.4.2.157.2, 9.3.2.1 (an A-MSDU is bounded by its MPDU), Table 21-28.
    ampdu: Some(AmpduLimits {
        octets: 1_048_575,
        mpdus: 64,
        mpdu_octets: 11_454,
        amsdu_octets: 11_454,
    }),
    always_ampdu: true,
    multi_user: None,
    edca: true,
    // SIGNAL, VHT-SIG-A and VHT-SIG-B.
    header_bits: 24 + 48 + 26,
    sensitivity_dbm: &sensitivity::BY_MCS,
    radiotap_field: 21,
};

/// N_ES: 2160 data bits a symbol and encoder, then the next number that divides both coded and
/// data bits into whole puncturing patterns (21.3.10.5.3; gives Tables 21-30 to 21-61).
fn encoders(mcs: Mcs, subcarriers: u32, streams: u8) -> u32 {
    let rate = mcs.code.fraction();
    let coded = subcarriers * u32::from(streams) * mcs.modulation.bits();
    let data = coded * rate.numerator / rate.denominator;
    let least = data.div_ceil(2_160);
    (least..16)
        .find(|e| {
            data.is_multiple_of(e * rate.numerator) && coded.is_multiple_of(e * rate.denominator)
        })
        .unwrap_or(least)
}
