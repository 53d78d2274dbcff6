//! Modulations, code rates and the MCS table that HT, VHT, HE and EHT share.

/// A constellation, with the bits that one subcarrier of one stream carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Modulation {
    /// Differential BPSK, Barker spread (DSSS, 1 Mb/s).
    Dbpsk,
    /// Differential QPSK, Barker spread (DSSS, 2 Mb/s).
    Dqpsk,
    /// Complementary code keying, four bits a symbol (5.5 Mb/s).
    Cck4,
    /// Complementary code keying, eight bits a symbol (11 Mb/s).
    Cck8,
    /// Binary phase-shift keying.
    Bpsk,
    /// Quadrature phase-shift keying.
    Qpsk,
    /// 16-point quadrature amplitude modulation.
    Qam16,
    /// 64-point quadrature amplitude modulation.
    Qam64,
    /// 256-point quadrature amplitude modulation.
    Qam256,
    /// 1024-point quadrature amplitude modulation.
    Qam1024,
    /// 4096-point quadrature amplitude modulation.
    Qam4096,
}

impl Modulation {
    /// Coded bits per symbol of one subcarrier (N_BPSCS); for DSSS and CCK, bits per symbol.
    #[must_use]
    pub const fn bits(self) -> u32 {
        match self {
            Self::Dbpsk | Self::Bpsk => 1,
            Self::Dqpsk | Self::Qpsk => 2,
            Self::Cck4 | Self::Qam16 => 4,
            Self::Qam64 => 6,
            Self::Cck8 | Self::Qam256 => 8,
            Self::Qam1024 => 10,
            Self::Qam4096 => 12,
        }
    }
}

/// Rate of the convolutional (or LDPC) code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CodeRate {
    /// No code (DSSS, CCK).
    Uncoded,
    /// 1/2.
    R1_2,
    /// 2/3.
    R2_3,
    /// 3/4.
    R3_4,
    /// 5/6.
    R5_6,
}

/// A ratio of two whole numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fraction {
    /// Above the line.
    pub numerator: u32,
    /// Below the line.
    pub denominator: u32,
}

impl CodeRate {
    /// Its value.
    #[must_use]
    pub const fn fraction(self) -> Fraction {
        let (numerator, denominator) = match self {
            Self::Uncoded => (1, 1),
            Self::R1_2 => (1, 2),
            Self::R2_3 => (2, 3),
            Self::R3_4 => (3, 4),
            Self::R5_6 => (5, 6),
        };
        Fraction {
            numerator,
            denominator,
        }
    }
}

/// Constellation and code rate of an MCS index per stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Mcs {
    /// The constellation.
    pub modulation: Modulation,
    /// The code rate.
    pub code: CodeRate,
}

impl Mcs {
    /// The entry of index 0..=13 (HT per stream 0..=7, VHT to 9, HE to 11, EHT to 13;
    /// Tables 19-27, 21-29, 27-54 and 36-80); `None` above.
    #[must_use]
    pub const fn of_index(index: u8) -> Option<Self> {
        use CodeRate::{R1_2, R2_3, R3_4, R5_6};
        use Modulation::{Bpsk, Qam16, Qam64, Qam256, Qam1024, Qam4096, Qpsk};
        let (modulation, code) = match index {
            0 => (Bpsk, R1_2),
            1 => (Qpsk, R1_2),
            2 => (Qpsk, R3_4),
            3 => (Qam16, R1_2),
            4 => (Qam16, R3_4),
            5 => (Qam64, R2_3),
            6 => (Qam64, R3_4),
            7 => (Qam64, R5_6),
            8 => (Qam256, R3_4),
            9 => (Qam256, R5_6),
            10 => (Qam1024, R3_4),
            11 => (Qam1024, R5_6),
            12 => (Qam4096, R3_4),
            13 => (Qam4096, R5_6),
            _ => return None,
        };
        Some(Self { modulation, code })
    }
}

/// N_CBPS = N_SD N_SS N_BPSCS.
pub(crate) fn coded_bits(mcs: Mcs, subcarriers: u32, nss: u8) -> u32 {
    subcarriers * u32::from(nss) * mcs.modulation.bits()
}

/// N_DBPS = floor(N_SD N_SS N_BPSCS R) (Table 27-15 rounds down where it does not come out).
pub(crate) fn data_bits(mcs: Mcs, subcarriers: u32, nss: u8) -> u32 {
    let rate = mcs.code.fraction();
    coded_bits(mcs, subcarriers, nss) * rate.numerator / rate.denominator
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_after_coding_never_fall_with_the_index() {
        let spectral = |i: u8| {
            let m = Mcs::of_index(i).unwrap();
            let rate = m.code.fraction();
            f64::from(m.modulation.bits() * rate.numerator) / f64::from(rate.denominator)
        };
        for i in 1..=13 {
            assert!(spectral(i) > spectral(i - 1), "MCS {i}");
        }
        assert_eq!(Mcs::of_index(14), None);
    }
}
