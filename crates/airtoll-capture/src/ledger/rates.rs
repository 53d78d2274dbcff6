//! Rates as radio headers name them: takes a modulation, gives its name, a small key for tables
//! and the vector that the PHY's equations take.
//!
//! Never guesses a rate: what the PHY does not have is `None`.

use airtoll_phy::{Band, DsssRate, GuardInterval, OfdmRate, Preamble, TxVector, Width};
use airtoll_wire::radiotap::Modulation;

/// A modulation in eight octets.
pub(super) type Modulation8 = [u8; 8];
/// Modulation, short preamble, band.
pub(super) type Rate = (Modulation8, bool, u8);

pub(super) fn pack(modulation: Modulation) -> Modulation8 {
    match modulation {
        Modulation::Unknown => [0; 8],
        Modulation::Legacy { rate_500kbps } => [1, rate_500kbps, 0, 0, 0, 0, 0, 0],
        Modulation::Ht {
            mcs,
            wide,
            short_gi,
        } => [2, mcs, u8::from(wide), u8::from(short_gi), 0, 0, 0, 0],
        Modulation::Vht {
            mcs,
            streams,
            bandwidth_mhz,
            short_gi,
        } => {
            let width = (bandwidth_mhz / 20) as u8;
            [3, mcs, streams, width, u8::from(short_gi), 0, 0, 0]
        }
        Modulation::He {
            mcs,
            streams,
            bandwidth_mhz,
            gi_ns,
        } => {
            let width = (bandwidth_mhz / 20) as u8;
            [4, mcs, streams, width, (gi_ns / 400) as u8, 0, 0, 0]
        }
    }
}

pub(super) fn unpack(packed: Modulation8) -> Modulation {
    let [kind, a, b, c, d, ..] = packed;
    match kind {
        1 => Modulation::Legacy { rate_500kbps: a },
        2 => Modulation::Ht {
            mcs: a,
            wide: b == 1,
            short_gi: c == 1,
        },
        3 => Modulation::Vht {
            mcs: a,
            streams: b,
            bandwidth_mhz: u16::from(c) * 20,
            short_gi: d == 1,
        },
        4 => Modulation::He {
            mcs: a,
            streams: b,
            bandwidth_mhz: u16::from(c) * 20,
            gi_ns: u16::from(d) * 400,
        },
        _ => Modulation::Unknown,
    }
}

pub(super) fn rate_name(modulation: Modulation) -> String {
    match modulation {
        Modulation::Unknown => "unknown".to_owned(),
        Modulation::Legacy { rate_500kbps } => format!("{} Mb/s", f64::from(rate_500kbps) / 2.0),
        Modulation::Ht { mcs, wide, .. } => {
            format!("HT MCS {mcs} {} MHz", if wide { 40 } else { 20 })
        }
        Modulation::Vht {
            mcs,
            streams,
            bandwidth_mhz,
            ..
        } => format!("VHT MCS {mcs} x{streams} {bandwidth_mhz} MHz"),
        Modulation::He {
            mcs,
            streams,
            bandwidth_mhz,
            ..
        } => format!("HE MCS {mcs} x{streams} {bandwidth_mhz} MHz"),
    }
}

pub(super) fn vector_of(
    modulation: Modulation,
    short_preamble: bool,
    band: u8,
) -> Option<TxVector> {
    let band = match band {
        0 => Band::Ghz2_4,
        1 => Band::Ghz5,
        _ => Band::Ghz6,
    };
    let width = |mhz: u16| Width::of_mhz(u32::from(mhz));
    let guard = |short: bool| {
        if short {
            GuardInterval::Ns400
        } else {
            GuardInterval::Ns800
        }
    };
    match modulation {
        Modulation::Unknown => None,
        Modulation::Legacy { rate_500kbps } => {
            let dsss = match rate_500kbps {
                2 => Some(DsssRate::M1),
                4 => Some(DsssRate::M2),
                11 => Some(DsssRate::M5_5),
                22 => Some(DsssRate::M11),
                _ => None,
            };
            if let Some(rate) = dsss {
                let preamble = if short_preamble && rate != DsssRate::M1 {
                    Preamble::Short
                } else {
                    Preamble::Long
                };
                return TxVector::dsss(rate, preamble).ok();
            }
            let rate = match rate_500kbps {
                12 => OfdmRate::M6,
                18 => OfdmRate::M9,
                24 => OfdmRate::M12,
                36 => OfdmRate::M18,
                48 => OfdmRate::M24,
                72 => OfdmRate::M36,
                96 => OfdmRate::M48,
                108 => OfdmRate::M54,
                _ => return None,
            };
            Some(TxVector::ofdm(rate, band))
        }
        Modulation::Ht {
            mcs,
            wide,
            short_gi,
        } => TxVector::ht(
            mcs,
            if wide { Width::Mhz40 } else { Width::Mhz20 },
            guard(short_gi),
            band,
        )
        .ok(),
        Modulation::Vht {
            mcs,
            streams,
            bandwidth_mhz,
            short_gi,
        } => TxVector::vht(mcs, width(bandwidth_mhz)?, guard(short_gi), streams).ok(),
        Modulation::He {
            mcs,
            streams,
            bandwidth_mhz,
            gi_ns,
        } => TxVector::he(
            mcs,
            width(bandwidth_mhz)?,
            GuardInterval::of_nanos(u32::from(gi_ns))?,
            streams,
            band,
        )
        .ok(),
    }
}
