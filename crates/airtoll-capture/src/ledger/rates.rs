//! Rates of radio headers: name, key for tables, and transmission vector of a modulation.

use airtoll_phy::{Band, Generation, GuardInterval, Legacy, Preamble, TxVector, Width};
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
        Modulation::Eht {
            mcs,
            streams,
            bandwidth_mhz,
            gi_ns,
        } => {
            let width = (bandwidth_mhz / 20) as u8;
            [5, mcs, streams, width, (gi_ns / 400) as u8, 0, 0, 0]
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
        5 => Modulation::Eht {
            mcs: a,
            streams: b,
            bandwidth_mhz: u16::from(c) * 20,
            gi_ns: u16::from(d) * 400,
        },
        _ => Modulation::Unknown,
    }
}

pub(super) fn rate_name(modulation: Modulation) -> String {
    let format = generation(modulation).map_or("", |own| own.descriptor().format);
    match modulation {
        Modulation::Unknown => "unknown".to_owned(),
        Modulation::Legacy { rate_500kbps } => format!("{} Mb/s", f64::from(rate_500kbps) / 2.0),
        Modulation::Ht { mcs, wide, .. } => {
            format!("{format} MCS {mcs} {} MHz", if wide { 40 } else { 20 })
        }
        Modulation::Vht {
            mcs,
            streams,
            bandwidth_mhz,
            ..
        }
        | Modulation::He {
            mcs,
            streams,
            bandwidth_mhz,
            ..
        }
        | Modulation::Eht {
            mcs,
            streams,
            bandwidth_mhz,
            ..
        } => format!("{format} MCS {mcs} x{streams} {bandwidth_mhz} MHz"),
    }
}

fn generation(modulation: Modulation) -> Option<Generation> {
    Generation::of_radiotap_field(modulation.field()?)
}

/// The PHY's vector; `None` for a rate that the PHY does not have. Vendors send VHT at 2.4 GHz:
/// a band that a generation does not have counts as its default one.
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
    let guard = |short: bool| if short { 400 } else { 800 };
    let (mcs, streams, mhz, gi_ns) = match modulation {
        Modulation::Unknown => return None,
        Modulation::Legacy { rate_500kbps } => {
            let preamble = if short_preamble {
                Preamble::Short
            } else {
                Preamble::Long
            };
            let rate = Legacy::of_hundred_kbps(u32::from(rate_500kbps) * 5)?;
            return Some(TxVector::legacy(rate, preamble, band));
        }
        Modulation::Ht {
            mcs,
            wide,
            short_gi,
        } => (mcs, 1, if wide { 40 } else { 20 }, guard(short_gi)),
        Modulation::Vht {
            mcs,
            streams,
            bandwidth_mhz,
            short_gi,
        } => (mcs, streams, bandwidth_mhz, guard(short_gi)),
        Modulation::He {
            mcs,
            streams,
            bandwidth_mhz,
            gi_ns,
        }
        | Modulation::Eht {
            mcs,
            streams,
            bandwidth_mhz,
            gi_ns,
        } => (mcs, streams, bandwidth_mhz, gi_ns),
    };
    let own = generation(modulation)?;
    let width = Width::of_mhz(u32::from(mhz))?;
    let band = if own.descriptor().has_band(band) {
        band
    } else {
        own.descriptor().default_band(width)
    };
    let gi = GuardInterval::of_nanos(u32::from(gi_ns))?;
    TxVector::of_mcs(own, mcs, streams, width, gi, band).ok()
}
