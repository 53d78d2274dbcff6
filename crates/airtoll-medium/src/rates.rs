//! From the rate that mac80211 chose to a transmission vector.
//!
//! Takes a rate index with its flags as mac80211_hwsim hands them over, and a frequency; gives a
//! [`TxVector`]. Index and flags are those of `struct ieee80211_tx_rate` (Linux,
//! include/net/mac80211.h); the tables of legacy rates are the order of hwsim's own bands.

use airtoll_phy::{Band, Generation, GuardInterval, Legacy, OfdmRate, Preamble, TxVector, Width};

/// Flags of a rate, `enum hwsim_tx_rate_flags`.
pub mod flag {
    /// RTS and CTS go before the frame.
    pub const RTS_CTS: u16 = 1 << 0;
    /// CTS-to-self goes before the frame.
    pub const CTS_PROTECT: u16 = 1 << 1;
    /// Short DSSS preamble.
    pub const SHORT_PREAMBLE: u16 = 1 << 2;
    /// The index is an HT MCS.
    pub const MCS: u16 = 1 << 3;
    /// 40 MHz.
    pub const WIDTH_40: u16 = 1 << 5;
    /// Guard interval of 0.4 us.
    pub const SHORT_GI: u16 = 1 << 7;
    /// The index is a VHT MCS (low four bits) with streams less one above.
    pub const VHT_MCS: u16 = 1 << 8;
    /// 80 MHz.
    pub const WIDTH_80: u16 = 1 << 9;
    /// 160 MHz.
    pub const WIDTH_160: u16 = 1 << 10;
}

/// One step of a retry chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    /// Rate index; below zero: the chain has ended.
    pub index: i8,
    /// How often it may be tried.
    pub count: u8,
    /// See [`flag`].
    pub flags: u16,
}

impl Step {
    /// A step that is not there.
    pub const NONE: Self = Self {
        index: -1,
        count: 0,
        flags: 0,
    };
}

/// The vector of a step at a frequency; the lowest rate of the band where the band has no such
/// rate (mac80211 gives index 0 to frames whose rate it leaves to the driver).
#[must_use]
pub fn vector(step: Step, frequency_mhz: u32, preamble: Preamble) -> TxVector {
    let preamble = if step.flags & flag::SHORT_PREAMBLE != 0 {
        Preamble::Short
    } else {
        preamble
    };
    of_mcs(step, frequency_mhz).unwrap_or_else(|| {
        let index = step.index.max(0).cast_unsigned();
        legacy(usize::from(index), Band::of_mhz(frequency_mhz), preamble)
    })
}

/// The vector of a step whose index is an MCS that the band has.
fn of_mcs(step: Step, frequency_mhz: u32) -> Option<TxVector> {
    let band = Band::of_mhz(frequency_mhz);
    let index = step.index.max(0).cast_unsigned();
    let has = |bit: u16| step.flags & bit != 0;
    let width = if has(flag::WIDTH_160) {
        Width::Mhz160
    } else if has(flag::WIDTH_80) {
        Width::Mhz80
    } else if has(flag::WIDTH_40) {
        Width::Mhz40
    } else {
        Width::Mhz20
    };
    let gi = if has(flag::SHORT_GI) {
        GuardInterval::Ns400
    } else {
        GuardInterval::Ns800
    };
    if has(flag::VHT_MCS) {
        let streams = (index >> 4) + 1;
        TxVector::of_mcs(Generation::Ac, index & 15, streams, width, gi, Band::Ghz5).ok()
    } else if has(flag::MCS) {
        // The streams follow from an HT MCS.
        TxVector::of_mcs(Generation::N, index, 1 + (index >> 3), width, gi, band).ok()
    } else {
        None
    }
}

/// The name of a step's rate: Mb/s of a legacy rate ("5.5"), or MCS, streams, width and guard
/// interval ("MCS 7, 1 streams, 20 MHz, 800 ns").
#[must_use]
pub fn name(step: Step, frequency_mhz: u32) -> String {
    let has = |bit: u16| step.flags & bit != 0;
    let index = step.index.max(0).cast_unsigned();
    let (mcs, streams) = if has(flag::VHT_MCS) {
        (index & 15, (index >> 4) + 1)
    } else if has(flag::MCS) {
        (index & 7, (index >> 3) + 1)
    } else {
        let vector = vector(step, frequency_mhz, Preamble::Long);
        return (vector.bit_rate().0 as f64 / 1e6).to_string();
    };
    let width = [
        (flag::WIDTH_160, 160),
        (flag::WIDTH_80, 80),
        (flag::WIDTH_40, 40),
    ];
    let mhz = width.iter().find(|(bit, _)| has(*bit)).map_or(20, |w| w.1);
    let ns = if has(flag::SHORT_GI) { 400 } else { 800 };
    format!("MCS {mcs}, {streams} streams, {mhz} MHz, {ns} ns")
}

/// The step of a rate's [`name`] at a frequency, tried once; of MCSs the HT one or the VHT one.
#[must_use]
pub fn named(wanted: &str, frequency_mhz: u32, vht: bool) -> Option<Step> {
    let legacy = (0..12).map(|index| (index, 0));
    let kinds = [0, flag::WIDTH_40, flag::WIDTH_80, flag::WIDTH_160]
        .into_iter()
        .flat_map(|width| [width, width | flag::SHORT_GI]);
    let mcs = kinds.flat_map(|flags| {
        (0..4u8).flat_map(move |more| {
            (0..if vht { 10 } else { 8 }).map(move |mcs| {
                if vht {
                    ((more << 4 | mcs).cast_signed(), flags | flag::VHT_MCS)
                } else {
                    ((8 * more + mcs).cast_signed(), flags | flag::MCS)
                }
            })
        })
    });
    let mut steps = legacy.chain(mcs).map(|(index, flags)| Step {
        index,
        count: 1,
        flags,
    });
    steps.find(|step| {
        let is_there = step.flags == 0 || of_mcs(*step, frequency_mhz).is_some();
        is_there && name(*step, frequency_mhz) == wanted
    })
}

/// The index by which receivers are told of a rate: legacy rates only.
#[must_use]
pub fn received_index(step: Step) -> u32 {
    if step.flags & (flag::MCS | flag::VHT_MCS) != 0 {
        0
    } else {
        u32::from(step.index.max(0).cast_unsigned())
    }
}

/// The driver's table of legacy rates: those of 802.11g at 2.4 GHz, of 802.11a elsewhere.
fn legacy(index: usize, band: Band, preamble: Preamble) -> TxVector {
    let of_band = match band {
        Band::Ghz2_4 => Generation::G,
        Band::Ghz5 | Band::Ghz6 => Generation::A,
    };
    let mut rates = of_band.descriptor().announced_rates();
    let rate = rates.nth(index).unwrap_or(Legacy::Ofdm(OfdmRate::M6));
    TxVector::legacy(rate, preamble, band)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(index: i8, flags: u16) -> Step {
        Step {
            index,
            count: 1,
            flags,
        }
    }

    fn mbps(index: i8, flags: u16, frequency_mhz: u32) -> f64 {
        vector(step(index, flags), frequency_mhz, Preamble::Long)
            .bit_rate()
            .0 as f64
            / 1e6
    }

    #[test]
    fn indices_are_those_of_the_driver() {
        let low = [
            1.0, 2.0, 5.5, 11.0, 6.0, 9.0, 12.0, 18.0, 24.0, 36.0, 48.0, 54.0,
        ];
        for (index, rate) in low.into_iter().enumerate() {
            assert_eq!(mbps(index as i8, 0, 2_412), rate);
        }
        for (index, rate) in low[4..].iter().enumerate() {
            assert_eq!(mbps(index as i8, 0, 5_180), *rate);
        }
        assert_eq!(mbps(7, flag::MCS, 5_180), 65.0);
        assert_eq!(mbps(15, flag::MCS, 5_180), 130.0);
        assert_eq!(mbps(0x19, flag::VHT_MCS | flag::WIDTH_80, 5_180), 780.0);
        assert_eq!(mbps(-1, 0, 2_412), 1.0);
        assert_eq!(name(step(2, 0), 2_412), "5.5");
        let fast = step(0x19, flag::VHT_MCS | flag::WIDTH_80 | flag::SHORT_GI);
        assert_eq!(name(fast, 5_180), "MCS 9, 2 streams, 80 MHz, 400 ns");
        let fast = step(12, flag::MCS);
        assert_eq!(name(fast, 5_180), "MCS 4, 2 streams, 20 MHz, 800 ns");
    }

    #[test]
    fn a_rate_is_found_by_its_name() {
        for (index, flags, frequency_mhz) in [
            (0, 0, 2_412),
            (11, 0, 2_412),
            (7, 0, 5_180),
            (13, flag::MCS | flag::WIDTH_40 | flag::SHORT_GI, 5_180),
            (0x19, flag::VHT_MCS | flag::WIDTH_80, 5_180),
        ] {
            let one = step(index, flags);
            let vht = flags & flag::VHT_MCS != 0;
            let found = named(&name(one, frequency_mhz), frequency_mhz, vht);
            assert_eq!(found, Some(one));
        }
        assert_eq!(named("11", 5_180, false), None);
        // HT has no 80 MHz.
        let fast = "MCS 9, 1 streams, 80 MHz, 800 ns";
        assert!(named(fast, 5_180, true).is_some());
        assert_eq!(named(fast, 5_180, false), None);
    }

    #[test]
    fn one_megabit_has_no_short_preamble() {
        let v = vector(step(0, flag::SHORT_PREAMBLE), 2_412, Preamble::Long);
        assert_eq!(airtoll_phy::preamble(&v).as_micros_f64(), 192.0);
        let v = vector(step(1, flag::SHORT_PREAMBLE), 2_412, Preamble::Long);
        assert_eq!(airtoll_phy::preamble(&v).as_micros_f64(), 96.0);
    }
}
