//! Radio headers: takes the vector and the received level of a PPDU, gives a radiotap header.

use airtoll_phy::{self as phy, Band, Coding, GuardInterval, TxVector};
use airtoll_units::Instant;
use airtoll_wire::radiotap::{self, FLAG_FCS, FLAG_SHORT_PREAMBLE, Modulation, RadiotapRepr};

use crate::announce;
use crate::mac;
use crate::scenario::Bss;

/// A radio channel: frequency in MHz and radiotap's flags for it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Frequency {
    mhz: u16,
    flags: u16,
}

/// Radiotap channel flags.
const CCK: u16 = 0x0020;
const OFDM: u16 = 0x0040;
const GHZ_2: u16 = 0x0080;
const GHZ_5: u16 = 0x0100;

/// Short preambles last 96 us (IEEE 802.11-2020, 16.2.2.3).
const SHORT_PREAMBLE_US: u64 = 96;

impl Frequency {
    /// The channel of a BSS.
    pub fn of(bss: &Bss) -> Self {
        let band = mac::band(bss);
        let dsss = bss.standard.descriptor().ofdm_rates.is_empty();
        let flags = match band {
            Band::Ghz2_4 => GHZ_2 | if dsss { CCK } else { OFDM },
            Band::Ghz6 => OFDM,
            Band::Ghz5 => GHZ_5 | OFDM,
        };
        Self {
            mhz: announce::channel_mhz(bss),
            flags,
        }
    }
}

/// Appends the header of a PPDU that began at `start` and was heard with `signal` dBm; `ampdu` is
/// the A-MPDU's number and whether this is its last MPDU.
pub(super) fn header(
    vector: &TxVector,
    frequency: Frequency,
    start: Instant,
    signal: f64,
    ampdu: Option<(u32, bool)>,
    out: &mut Vec<u8>,
) {
    let preamble = phy::preamble(vector);
    let short = vector.is_dsss() && preamble.as_nanos() <= SHORT_PREAMBLE_US * 1_000;
    RadiotapRepr {
        tsft_us: Some((start + preamble).as_nanos() / 1_000),
        flags: Some(FLAG_FCS | if short { FLAG_SHORT_PREAMBLE } else { 0 }),
        frequency_mhz: Some(frequency.mhz),
        channel_flags: frequency.flags,
        signal_dbm: signal
            .is_finite()
            .then(|| libm::round(signal.clamp(-128.0, 127.0)) as i8),
        modulation: modulation(vector),
        ldpc: vector.coding() == Coding::Ldpc,
        // Last-subframe known, this is the last.
        ampdu: ampdu.map(|(number, last)| (number, 0x4 | if last { 0x8 } else { 0 })),
        ..RadiotapRepr::default()
    }
    .emit(out);
}

fn modulation(vector: &TxVector) -> Modulation {
    let short_gi = vector.guard_interval() == GuardInterval::Ns400;
    let (mcs, streams) = (vector.index(), vector.nss());
    let bandwidth_mhz = vector.width().mhz() as u16;
    match vector.generation().descriptor().radiotap_field {
        radiotap::RATE => Modulation::Legacy {
            rate_500kbps: (vector.bit_rate().0 / 500_000) as u8,
        },
        radiotap::MCS => Modulation::Ht {
            mcs,
            wide: bandwidth_mhz == 40,
            short_gi,
        },
        radiotap::VHT => Modulation::Vht {
            mcs,
            streams,
            bandwidth_mhz,
            short_gi,
        },
        radiotap::HE => Modulation::He {
            mcs,
            streams,
            bandwidth_mhz,
            gi_ns: vector.guard_interval().nanos() as u16,
        },
        // The radiotap field of EHT is not written.
        _ => Modulation::Unknown,
    }
}
