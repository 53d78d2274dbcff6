//! The transmission vector: everything about a PPDU that decides its airtime, in one Copy value.
//!
//! Takes format, rate or MCS, width, guard interval, streams and band; gives a validated
//! [`TxVector`] that already holds symbol length, bits per symbol and preamble, so that an
//! airtime costs one integer division. Never builds a combination that the standard excludes.

use airtoll_units::{BitRate, Duration};

use crate::format::{Format, TxVectorError};
use crate::modulation::{CodeRate, Mcs, Modulation};
use crate::parameters::{Band, DsssRate, GuardInterval, OfdmRate, Preamble, Width};

/// What to send a PPDU with. Build it with the constructor of its format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TxVector {
    format: Format,
    band: Band,
    width: Width,
    gi: GuardInterval,
    nss: u8,
    index: u8,
    mcs: Mcs,
    /// Preamble and PLCP headers, ns.
    pub(crate) preamble_ns: u32,
    /// One data symbol with its guard interval, ns (unused for DSSS).
    pub(crate) symbol_ns: u32,
    /// Data bits per symbol (N_DBPS); for DSSS the rate in units of 100 kb/s.
    pub(crate) bits_per_symbol: u32,
    /// Service and tail bits.
    pub(crate) service_and_tail: u32,
    /// Signal extension, ns.
    pub(crate) extension_ns: u32,
}

/// Signal extension of OFDM formats at 2.4 GHz (clauses 18.3.2.4 and 19.3.2).
const SIGNAL_EXTENSION_NS: u32 = 6_000;

const fn extension(band: Band) -> u32 {
    match band {
        Band::Ghz2_4 => SIGNAL_EXTENSION_NS,
        Band::Ghz5 | Band::Ghz6 => 0,
    }
}

impl TxVector {
    /// DSSS or HR/DSSS at 2.4 GHz.
    ///
    /// # Errors
    /// [`TxVectorError::ShortAtOne`] for 1 Mb/s with the short preamble.
    pub const fn dsss(rate: DsssRate, preamble: Preamble) -> Result<Self, TxVectorError> {
        let preamble_ns = match (preamble, rate) {
            (Preamble::Short, DsssRate::M1) => return Err(TxVectorError::ShortAtOne),
            (Preamble::Short, _) => 96_000,
            (Preamble::Long, _) => 192_000,
        };
        let modulation = match rate {
            DsssRate::M1 => Modulation::Dbpsk,
            DsssRate::M2 => Modulation::Dqpsk,
            DsssRate::M5_5 => Modulation::Cck4,
            DsssRate::M11 => Modulation::Cck8,
        };
        Ok(Self {
            format: Format::Dsss,
            band: Band::Ghz2_4,
            width: Width::Mhz20,
            gi: GuardInterval::Ns800,
            nss: 1,
            index: rate as u8,
            mcs: Mcs {
                modulation,
                code: CodeRate::Uncoded,
            },
            preamble_ns,
            symbol_ns: 0,
            bits_per_symbol: rate.hundred_kbps(),
            service_and_tail: 0,
            extension_ns: 0,
        })
    }

    /// OFDM of clause 17 (5 GHz) or ERP-OFDM of clause 18 (2.4 GHz), 20 MHz.
    #[must_use]
    pub const fn ofdm(rate: OfdmRate, band: Band) -> Self {
        let format = match band {
            Band::Ghz2_4 => Format::ErpOfdm,
            Band::Ghz5 | Band::Ghz6 => Format::Ofdm,
        };
        Self {
            format,
            band,
            width: Width::Mhz20,
            gi: GuardInterval::Ns800,
            nss: 1,
            index: rate as u8,
            mcs: rate.mcs(),
            // 8 us short, 8 us long training, 4 us SIGNAL (Table 17-5).
            preamble_ns: 20_000,
            symbol_ns: 4_000,
            bits_per_symbol: rate.mbps() * 4,
            service_and_tail: 22,
            extension_ns: extension(band),
        }
    }

    /// HT with mixed preamble; `mcs` 0..=31, streams follow from it.
    ///
    /// # Errors
    /// Names the parameter that HT does not have.
    pub const fn ht(
        mcs: u8,
        width: Width,
        gi: GuardInterval,
        band: Band,
    ) -> Result<Self, TxVectorError> {
        let format = Format::HtMixed;
        if mcs > 31 {
            return Err(TxVectorError::NoSuchMcs {
                format,
                mcs,
                max: 31,
            });
        }
        if matches!(band, Band::Ghz6) {
            return Err(TxVectorError::WrongBand { format });
        }
        let nss = mcs / 8 + 1;
        let subcarriers = match width {
            Width::Mhz20 => 52,
            Width::Mhz40 => 108,
            _ => {
                return Err(TxVectorError::NoSuchWidth {
                    format,
                    mhz: width.mhz(),
                });
            }
        };
        let symbol_ns = match gi {
            GuardInterval::Ns400 | GuardInterval::Ns800 => 3_200 + gi.nanos(),
            _ => {
                return Err(TxVectorError::NoSuchGuardInterval {
                    format,
                    ns: gi.nanos(),
                });
            }
        };
        let Some(entry) = Mcs::of_index(mcs % 8) else {
            return Err(TxVectorError::NoSuchMcs {
                format,
                mcs,
                max: 31,
            });
        };
        let bits_per_symbol = data_bits(entry, subcarriers, nss);
        // One encoder carries up to 300 Mb/s with the short guard interval (19.3.11.6).
        let encoders = if bits_per_symbol > 1_080 { 2 } else { 1 };
        let long_trainings = match nss {
            1 => 1,
            2 => 2,
            _ => 4,
        };
        Ok(Self {
            format,
            band,
            width,
            gi,
            nss,
            index: mcs,
            mcs: entry,
            // Legacy 20 us, HT-SIG 8 us, HT-STF 4 us, HT-LTFs (19.3.6, Table 19-6).
            preamble_ns: 20_000 + 8_000 + 4_000 + 4_000 * long_trainings,
            symbol_ns,
            bits_per_symbol,
            service_and_tail: 16 + 6 * encoders,
            extension_ns: extension(band),
        })
    }

    /// VHT to one user; `mcs` 0..=9, `nss` 1..=8.
    ///
    /// # Errors
    /// Names the parameter that VHT does not have, or the combination that clause 21.5 excludes.
    pub const fn vht(
        mcs: u8,
        width: Width,
        gi: GuardInterval,
        nss: u8,
    ) -> Result<Self, TxVectorError> {
        let format = Format::Vht;
        if nss < 1 || nss > 8 {
            return Err(TxVectorError::NoSuchStreams {
                format,
                nss,
                max: 8,
            });
        }
        let (subcarriers, mhz) = match width {
            Width::Mhz20 => (52, 20),
            Width::Mhz40 => (108, 40),
            Width::Mhz80 => (234, 80),
            Width::Mhz160 => (468, 160),
            Width::Mhz320 => {
                return Err(TxVectorError::NoSuchWidth { format, mhz: 320 });
            }
        };
        let symbol_ns = match gi {
            GuardInterval::Ns400 | GuardInterval::Ns800 => 3_200 + gi.nanos(),
            _ => {
                return Err(TxVectorError::NoSuchGuardInterval {
                    format,
                    ns: gi.nanos(),
                });
            }
        };
        if mcs > 9 {
            return Err(TxVectorError::NoSuchMcs {
                format,
                mcs,
                max: 9,
            });
        }
        let Some(entry) = Mcs::of_index(mcs) else {
            return Err(TxVectorError::NoSuchMcs {
                format,
                mcs,
                max: 9,
            });
        };
        let excluded = match (mhz, mcs) {
            (20, 9) => nss != 3 && nss != 6,
            (80, 6) => nss == 3 || nss == 7,
            (80, 9) => nss == 6,
            (160, 9) => nss == 3,
            _ => false,
        };
        if excluded {
            return Err(TxVectorError::Excluded { mcs, mhz, nss });
        }
        let bits_per_symbol = data_bits(entry, subcarriers, nss);
        let encoders = vht_encoders(entry, subcarriers, nss);
        Ok(Self {
            format,
            band: Band::Ghz5,
            width,
            gi,
            nss,
            index: mcs,
            mcs: entry,
            // Legacy 20 us, SIG-A 8 us, STF 4 us, LTFs, SIG-B 4 us (21.3.6, Table 21-5).
            preamble_ns: 20_000 + 8_000 + 4_000 + 4_000 * training_fields(nss) + 4_000,
            symbol_ns,
            bits_per_symbol,
            service_and_tail: 16 + 6 * encoders,
            extension_ns: 0,
        })
    }

    /// HE SU; `mcs` 0..=11, `nss` 1..=8, packet extension 0.
    ///
    /// The HE-LTF is the one that must be supported with each guard interval: 2x with 0.8 and
    /// 1.6 us, 4x with 3.2 us (27.3.4 and Table 27-13).
    ///
    /// # Errors
    /// Names the parameter that HE does not have.
    pub const fn he(
        mcs: u8,
        width: Width,
        gi: GuardInterval,
        nss: u8,
        band: Band,
    ) -> Result<Self, TxVectorError> {
        let format = Format::HeSu;
        if mcs > 11 {
            return Err(TxVectorError::NoSuchMcs {
                format,
                mcs,
                max: 11,
            });
        }
        if matches!(width, Width::Mhz320) {
            return Err(TxVectorError::NoSuchWidth { format, mhz: 320 });
        }
        // Legacy 20 us, RL-SIG 4 us, HE-SIG-A 8 us, HE-STF 4 us (27.3.4, Table 27-12).
        Self::he_like(
            format,
            mcs,
            width,
            gi,
            nss,
            band,
            20_000 + 4_000 + 8_000 + 4_000,
        )
    }

    /// EHT MU PPDU to one user without OFDMA; `mcs` 0..=13, `nss` 1..=8, packet extension 0.
    ///
    /// EHT-SIG is taken at MCS 0: 52 bits of common and user field (36.3.12.8) in two symbols.
    ///
    /// # Errors
    /// Names the parameter that EHT does not have.
    pub const fn eht(
        mcs: u8,
        width: Width,
        gi: GuardInterval,
        nss: u8,
        band: Band,
    ) -> Result<Self, TxVectorError> {
        let format = Format::EhtSu;
        if mcs > 13 {
            return Err(TxVectorError::NoSuchMcs {
                format,
                mcs,
                max: 13,
            });
        }
        if matches!(width, Width::Mhz320) && !matches!(band, Band::Ghz6) {
            return Err(TxVectorError::NoSuchWidth { format, mhz: 320 });
        }
        // Legacy 20 us, RL-SIG 4 us, U-SIG 8 us, EHT-SIG 8 us, EHT-STF 4 us (36.3.4).
        Self::he_like(
            format,
            mcs,
            width,
            gi,
            nss,
            band,
            20_000 + 4_000 + 8_000 + 8_000 + 4_000,
        )
    }

    const fn he_like(
        format: Format,
        mcs: u8,
        width: Width,
        gi: GuardInterval,
        nss: u8,
        band: Band,
        before_training_ns: u32,
    ) -> Result<Self, TxVectorError> {
        if nss < 1 || nss > 8 {
            return Err(TxVectorError::NoSuchStreams {
                format,
                nss,
                max: 8,
            });
        }
        if matches!(band, Band::Ghz2_4) && width.mhz() > 40 {
            return Err(TxVectorError::NoSuchWidth {
                format,
                mhz: width.mhz(),
            });
        }
        let subcarriers = match width {
            Width::Mhz20 => 234,
            Width::Mhz40 => 468,
            Width::Mhz80 => 980,
            Width::Mhz160 => 1_960,
            Width::Mhz320 => 3_920,
        };
        let training_ns = match gi {
            GuardInterval::Ns800 => 6_400 + 800,
            GuardInterval::Ns1600 => 6_400 + 1_600,
            GuardInterval::Ns3200 => 12_800 + 3_200,
            GuardInterval::Ns400 => {
                return Err(TxVectorError::NoSuchGuardInterval { format, ns: 400 });
            }
        };
        let Some(entry) = Mcs::of_index(mcs) else {
            return Err(TxVectorError::NoSuchMcs {
                format,
                mcs,
                max: 13,
            });
        };
        Ok(Self {
            format,
            band,
            width,
            gi,
            nss,
            index: mcs,
            mcs: entry,
            preamble_ns: before_training_ns + training_ns * training_fields(nss),
            symbol_ns: 12_800 + gi.nanos(),
            bits_per_symbol: data_bits(entry, subcarriers, nss),
            service_and_tail: 16 + 6,
            extension_ns: extension(band),
        })
    }

    /// The format.
    #[must_use]
    pub const fn format(&self) -> Format {
        self.format
    }

    /// The band.
    #[must_use]
    pub const fn band(&self) -> Band {
        self.band
    }

    /// The channel width.
    #[must_use]
    pub const fn width(&self) -> Width {
        self.width
    }

    /// The guard interval (800 ns for DSSS, where it means nothing).
    #[must_use]
    pub const fn guard_interval(&self) -> GuardInterval {
        self.gi
    }

    /// Spatial streams.
    #[must_use]
    pub const fn nss(&self) -> u8 {
        self.nss
    }

    /// MCS index as the format counts it; for DSSS and OFDM the position among the rates.
    #[must_use]
    pub const fn index(&self) -> u8 {
        self.index
    }

    /// Constellation and code rate.
    #[must_use]
    pub const fn mcs(&self) -> Mcs {
        self.mcs
    }

    /// Whether the format carries A-MPDUs (HT and later).
    #[must_use]
    pub const fn aggregates(&self) -> bool {
        matches!(
            self.format,
            Format::HtMixed | Format::Vht | Format::HeSu | Format::EhtSu
        )
    }

    /// Data rate, rounded down to whole bits per second.
    #[must_use]
    pub const fn bit_rate(&self) -> BitRate {
        match self.format {
            Format::Dsss => BitRate(self.bits_per_symbol as u64 * 100_000),
            _ => BitRate(self.bits_per_symbol as u64 * 1_000_000_000 / self.symbol_ns as u64),
        }
    }

    /// One data symbol with its guard interval; zero for DSSS.
    #[must_use]
    pub const fn symbol(&self) -> Duration {
        Duration::from_nanos(self.symbol_ns as u64)
    }

    /// Data bits per OFDM symbol (N_DBPS); `None` for DSSS.
    #[must_use]
    pub const fn data_bits_per_symbol(&self) -> Option<u32> {
        match self.format {
            Format::Dsss => None,
            _ => Some(self.bits_per_symbol),
        }
    }
}

/// N_DBPS = floor(N_SD N_SS N_BPSCS R) (Table 27-15 rounds down where it does not come out).
const fn data_bits(mcs: Mcs, subcarriers: u32, nss: u8) -> u32 {
    let (n, d) = mcs.code.fraction();
    subcarriers * nss as u32 * mcs.modulation.bits() * n / d
}

/// VHT-, HE- and EHT-LTF symbols for `nss` streams (Table 21-13).
const fn training_fields(nss: u8) -> u32 {
    match nss {
        1 => 1,
        2 => 2,
        3 | 4 => 4,
        5 | 6 => 6,
        _ => 8,
    }
}

/// N_ES of VHT: 2160 data bits a symbol and encoder, then the next number that divides both
/// coded and data bits into whole puncturing patterns (21.3.10.5.3; gives Tables 21-30 to 21-61).
const fn vht_encoders(mcs: Mcs, subcarriers: u32, nss: u8) -> u32 {
    let (n, d) = mcs.code.fraction();
    let coded = subcarriers * nss as u32 * mcs.modulation.bits();
    let data = coded * n / d;
    let mut encoders = data.div_ceil(2_160);
    while encoders < 16 {
        if data.is_multiple_of(encoders * n) && coded.is_multiple_of(encoders * d) {
            return encoders;
        }
        encoders += 1;
    }
    data.div_ceil(2_160)
}

#[cfg(test)]
mod tests {
    use super::*;
    use GuardInterval::{Ns400, Ns800, Ns1600, Ns3200};
    use Width::{Mhz20, Mhz40, Mhz80, Mhz160, Mhz320};

    fn mbps(v: Result<TxVector, TxVectorError>) -> f64 {
        v.unwrap().bit_rate().0 as f64 / 1e6
    }

    #[test]
    fn rates_are_those_of_the_tables() {
        let near = |a: f64, b: f64| assert!((a - b).abs() < 0.06, "{a} {b}");
        near(mbps(TxVector::ht(7, Mhz20, Ns800, Band::Ghz5)), 65.0);
        near(mbps(TxVector::ht(15, Mhz40, Ns400, Band::Ghz5)), 300.0);
        near(mbps(TxVector::ht(31, Mhz40, Ns400, Band::Ghz5)), 600.0);
        near(mbps(TxVector::vht(8, Mhz20, Ns800, 1)), 78.0);
        near(mbps(TxVector::vht(9, Mhz80, Ns400, 1)), 433.3);
        near(mbps(TxVector::vht(9, Mhz160, Ns400, 8)), 6_933.3);
        near(mbps(TxVector::he(11, Mhz80, Ns800, 1, Band::Ghz5)), 600.5);
        near(mbps(TxVector::he(0, Mhz20, Ns3200, 1, Band::Ghz5)), 7.3);
        near(
            mbps(TxVector::he(11, Mhz160, Ns1600, 2, Band::Ghz5)),
            2_268.5,
        );
        near(
            mbps(TxVector::eht(13, Mhz320, Ns800, 1, Band::Ghz6)),
            2_882.3,
        );
    }

    #[test]
    fn what_the_standard_excludes_is_refused() {
        assert!(matches!(
            TxVector::vht(9, Mhz20, Ns800, 1),
            Err(TxVectorError::Excluded { .. })
        ));
        assert!(TxVector::vht(9, Mhz20, Ns800, 3).is_ok());
        for (mcs, width, nss) in [(6, Mhz80, 3), (6, Mhz80, 7), (9, Mhz80, 6), (9, Mhz160, 3)] {
            assert!(TxVector::vht(mcs, width, Ns400, nss).is_err());
        }
        assert!(TxVector::ht(32, Mhz40, Ns800, Band::Ghz5).is_err());
        assert!(TxVector::ht(0, Mhz80, Ns800, Band::Ghz5).is_err());
        assert!(TxVector::he(0, Mhz80, Ns800, 1, Band::Ghz2_4).is_err());
        assert!(TxVector::he(0, Mhz20, Ns400, 1, Band::Ghz5).is_err());
        assert!(TxVector::eht(0, Mhz320, Ns800, 1, Band::Ghz5).is_err());
        assert_eq!(
            TxVector::dsss(DsssRate::M1, Preamble::Short),
            Err(TxVectorError::ShortAtOne)
        );
    }

    #[test]
    fn every_other_vht_combination_has_whole_encoders() {
        for width in [Mhz20, Mhz40, Mhz80, Mhz160] {
            for nss in 1..=8 {
                for mcs in 0..=9 {
                    if let Ok(v) = TxVector::vht(mcs, width, Ns800, nss) {
                        let encoders = (v.service_and_tail - 16) / 6;
                        assert_eq!(v.bits_per_symbol % encoders, 0, "{v:?}");
                    }
                }
            }
        }
        // Table 21-60: 160 MHz, 7 streams, MCS 8 takes 12 encoders.
        let v = TxVector::vht(8, Mhz160, Ns800, 7).unwrap();
        assert_eq!(v.service_and_tail, 16 + 6 * 12);
    }
}
