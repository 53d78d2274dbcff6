//! How long a PPDU is on air.
//!
//! Takes a [`TxVector`] and the octets of the PSDU; gives the time from the first sample of the
//! preamble to the end of the last symbol, signal extension included. Exact: DSSS is rounded up
//! to whole microseconds and OFDM to whole symbols, as the standard's TXTIME equations do.

use airtoll_units::Duration;

use crate::generation::LdpcFill;
use crate::ldpc::CodeWords;
use crate::parameters::{Coding, GuardInterval};
use crate::txvector::TxVector;

/// Time on air of a PSDU of `psdu_octets` octets.
///
/// DSSS and HR/DSSS: TXTIME of 16.3.4, `PreambleLength + PLCPHeaderTime +
/// ceil(8 LENGTH / DATARATE)`. OFDM: (17-29), ERP-OFDM: 18.5.3 with 6 us of signal extension,
/// HT: (19-90), VHT: (21-107), where a data field with the short guard interval is padded to the
/// next 4 us boundary; HE: (27-135) with packet extension 0; EHT: 36.4.3. LDPC: with the symbol that is added
/// where too many check bits would be missing (19.3.11.7.5, 21.3.10.5.4, 27.3.12.5.2, 36.3.13.3.5). A user's part
/// of a PPDU that others share counts as if they needed none.
#[must_use]
#[inline]
pub const fn airtime(v: &TxVector, psdu_octets: u32) -> Duration {
    let bits = psdu_octets as u64 * 8;
    let data_ns = if v.is_dsss() {
        // bits / (n * 0.1 Mb/s) microseconds, rounded up.
        (bits * 10).div_ceil(v.bits_per_symbol as u64) * 1_000
    } else {
        let symbols = symbols(v, bits + v.service_and_tail as u64);
        let ns = symbols * v.symbol_ns as u64;
        match v.guard_interval() {
            GuardInterval::Ns400 => ns.div_ceil(4_000) * 4_000,
            _ => ns,
        }
    };
    Duration::from_nanos(v.preamble_ns as u64 + data_ns + v.extension_ns as u64)
}

/// Symbols of a data field of `bits` bits, SERVICE and tail included.
const fn symbols(v: &TxVector, bits: u64) -> u64 {
    let data = v.bits_per_symbol as u64;
    let symbols = bits.div_ceil(data);
    let (Coding::Ldpc, Some(fill)) = (v.coding, v.fills()) else {
        return symbols;
    };
    let coded = v.coded_bits_per_symbol as u64;
    let available = symbols * coded;
    let code = v.mcs().code;
    let words = match fill {
        LdpcFill::Psdu => CodeWords::of(bits, available, coded, code),
        LdpcFill::Symbols => CodeWords::of(symbols * data, available, coded, code),
        LdpcFill::Quarters => {
            let quarter = v.coded_bits_per_quarter as u64;
            let rate = code.fraction();
            let quarter_data = quarter * rate.numerator as u64 / rate.denominator as u64;
            let last = bits % data;
            // The last symbol has room for an added quarter.
            if last != 0 && last <= 3 * quarter_data {
                return symbols;
            }
            CodeWords::of(symbols * data, available, quarter, code)
        }
    };
    symbols + words.extended as u64
}

/// The longest PSDU, octets, whose PPDU takes no longer than `room`; 0 where none does.
#[must_use]
pub const fn psdu_within(v: &TxVector, room: Duration) -> u32 {
    let around = v.preamble_ns as u64 + v.extension_ns as u64;
    let ns = room.as_nanos().saturating_sub(around);
    let (bits, least) = if v.is_dsss() {
        (ns / 1_000 * v.bits_per_symbol as u64 / 10, 0)
    } else {
        let ns = match v.guard_interval() {
            GuardInterval::Ns400 => ns / 4_000 * 4_000,
            _ => ns,
        };
        let symbols = ns / v.symbol_ns as u64;
        let data = v.bits_per_symbol as u64;
        let around = v.service_and_tail as u64;
        (
            (symbols * data).saturating_sub(around),
            (symbols.saturating_sub(1) * data).saturating_sub(around),
        )
    };
    let longest = whole_octets(bits);
    if matches!(v.coding, Coding::Bcc) {
        return longest;
    }
    // LDPC adds one symbol at most: one symbol fewer of data always fits.
    let (mut fits, mut breaks) = (whole_octets(least), longest.saturating_add(1));
    while breaks - fits > 1 {
        let middle = fits + (breaks - fits) / 2;
        if airtime(v, middle).as_nanos() > room.as_nanos() {
            breaks = middle;
        } else {
            fits = middle;
        }
    }
    fits
}

const fn whole_octets(bits: u64) -> u32 {
    let octets = bits / 8;
    if octets < u32::MAX as u64 {
        octets as u32
    } else {
        u32::MAX
    }
}

/// The part of the airtime before the first data symbol: preamble and PLCP or SIGNAL headers.
#[must_use]
pub const fn preamble(v: &TxVector) -> Duration {
    Duration::from_nanos(v.preamble_ns as u64)
}

/// Successive octets of a PSDU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OctetSpan {
    /// Octets before the first one.
    pub from: u32,
    /// Octets up to the last one.
    pub to: u32,
}

/// A time in a PPDU, counted from its beginning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimeSpan {
    /// When it begins.
    pub from: Duration,
    /// When it ends.
    pub to: Duration,
}

/// When octets of a PSDU are on the air, counted from the beginning of the PPDU. OFDM: the symbols that hold one of their bits, since the interleaver spreads each bit over
/// its symbol; LDPC: as if check bits lay evenly among the data bits. The SERVICE field has 16 bits in every OFDM
/// format.
#[must_use]
pub const fn octets_on_air(v: &TxVector, octets: OctetSpan) -> TimeSpan {
    const SERVICE_BITS: u64 = 16;
    let (from, to) = (8 * octets.from as u64, 8 * octets.to as u64);
    let (from, to) = if v.is_dsss() {
        let rate = v.bits_per_symbol as u64;
        (from * 10 / rate * 1_000, (to * 10).div_ceil(rate) * 1_000)
    } else {
        let (bits, ns) = (v.bits_per_symbol as u64, v.symbol_ns as u64);
        (
            (SERVICE_BITS + from) / bits * ns,
            (SERVICE_BITS + to).div_ceil(bits) * ns,
        )
    };
    let preamble = v.preamble_ns as u64;
    TimeSpan {
        from: Duration::from_nanos(preamble + from),
        to: Duration::from_nanos(preamble + to),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generation::Generation;
    use crate::parameters::{Band, DsssRate, OfdmRate, Preamble, Width};
    use proptest::prelude::*;

    fn us(v: TxVector, octets: u32) -> f64 {
        airtime(&v, octets).as_micros_f64()
    }

    #[test]
    fn dsss_is_rounded_up_to_whole_microseconds() {
        let long11 = TxVector::dsss(DsssRate::M11, Preamble::Long).unwrap();
        let short11 = TxVector::dsss(DsssRate::M11, Preamble::Short).unwrap();
        // 1536 octets: 1117.09 us of data.
        assert_eq!(us(long11, 1536), 192.0 + 1118.0);
        assert_eq!(us(short11, 1536), 96.0 + 1118.0);
        let ack = TxVector::dsss(DsssRate::M2, Preamble::Long).unwrap();
        assert_eq!(us(ack, 14), 248.0);
    }

    #[test]
    fn ofdm_is_counted_in_symbols() {
        let a54 = TxVector::ofdm(OfdmRate::M54, Band::Ghz5);
        // 16 + 8 * 1536 + 6 = 12310 bits in 57 symbols of 216.
        assert_eq!(us(a54, 1536), 20.0 + 57.0 * 4.0);
        let a24 = TxVector::ofdm(OfdmRate::M24, Band::Ghz5);
        assert_eq!(us(a24, 14), 28.0);
        let g54 = TxVector::ofdm(OfdmRate::M54, Band::Ghz2_4);
        assert_eq!(us(g54, 1536), us(a54, 1536) + 6.0);
    }

    #[test]
    fn octets_lie_in_whole_symbols() {
        let ht = TxVector::of_mcs(
            Generation::N,
            7,
            1,
            Width::Mhz20,
            GuardInterval::Ns800,
            Band::Ghz5,
        )
        .unwrap();
        // 260 bits a symbol: octets 0..30 end with bit 256, 31 with bit 264.
        let us = |from, to| {
            let time = octets_on_air(&ht, OctetSpan { from, to });
            (time.from.as_micros_f64(), time.to.as_micros_f64())
        };
        assert_eq!(us(0, 30), (36.0, 40.0));
        assert_eq!(us(0, 31), (36.0, 44.0));
        assert_eq!(us(30, 1536), (36.0, 36.0 + 48.0 * 4.0));
        assert_eq!(us(31, 1536), (40.0, 36.0 + 48.0 * 4.0));
        // The last octet ends with the frame.
        for to in [14, 1000, 40_000] {
            let whole = OctetSpan { from: 0, to };
            assert!(octets_on_air(&ht, whole).to <= airtime(&ht, to));
        }
        let b11 = TxVector::dsss(DsssRate::M11, Preamble::Long).unwrap();
        let whole = OctetSpan { from: 0, to: 1536 };
        assert_eq!(octets_on_air(&b11, whole).to, airtime(&b11, 1536));
    }

    #[test]
    fn newer_formats_have_their_preambles() {
        let ht = TxVector::of_mcs(
            Generation::N,
            7,
            1,
            Width::Mhz20,
            GuardInterval::Ns800,
            Band::Ghz5,
        )
        .unwrap();
        // 36 us of preamble, 12310 bits in 48 symbols of 260.
        assert_eq!(us(ht, 1536), 36.0 + 48.0 * 4.0);
        let short = TxVector::of_mcs(
            Generation::N,
            7,
            1,
            Width::Mhz20,
            GuardInterval::Ns400,
            Band::Ghz5,
        )
        .unwrap();
        // 48 symbols of 3.6 us are 172.8 us, padded to 176 us.
        assert_eq!(us(short, 1536), 36.0 + 176.0);
        let vht = TxVector::of_mcs(
            Generation::Ac,
            9,
            1,
            Width::Mhz80,
            GuardInterval::Ns800,
            Band::Ghz5,
        )
        .unwrap();
        assert_eq!(us(vht, 1536), 40.0 + 8.0 * 4.0);
        let he = TxVector::of_mcs(
            Generation::Ax,
            11,
            1,
            Width::Mhz80,
            GuardInterval::Ns800,
            Band::Ghz5,
        )
        .unwrap();
        // 20 + 4 + 8 + 4 + 7.2 us; 8166 bits a symbol.
        assert_eq!(us(he, 1536), 43.2 + 2.0 * 13.6);
    }

    #[test]
    fn eight_more_octets_often_cost_nothing() {
        let a54 = TxVector::ofdm(OfdmRate::M54, Band::Ghz5);
        assert_eq!(airtime(&a54, 1500), airtime(&a54, 1508));
    }

    fn any_vector() -> impl Strategy<Value = TxVector> {
        prop_oneof![
            (0..4usize).prop_map(|i| TxVector::dsss(DsssRate::ALL[i], Preamble::Long).unwrap()),
            (0..8usize).prop_map(|i| TxVector::ofdm(OfdmRate::ALL[i], Band::Ghz2_4)),
            (0..32u8).prop_map(|m| TxVector::of_mcs(
                Generation::N,
                m,
                1,
                Width::Mhz40,
                GuardInterval::Ns400,
                Band::Ghz5
            )
            .unwrap()),
            (0..12u8, 1..9u8).prop_map(|(m, n)| TxVector::of_mcs(
                Generation::Ax,
                m,
                n,
                Width::Mhz160,
                GuardInterval::Ns1600,
                Band::Ghz6
            )
            .unwrap()),
            (0..32u8).prop_map(|m| ldpc(Generation::N, m, 1, Width::Mhz20)),
            (0..9u8, 1..5u8).prop_map(|(m, n)| ldpc(Generation::Ac, m, n, Width::Mhz40)),
            (0..14u8, 1..9u8).prop_map(|(m, n)| ldpc(Generation::Be, m, n, Width::Mhz80)),
        ]
    }

    fn ldpc(generation: Generation, mcs: u8, streams: u8, width: Width) -> TxVector {
        let gi = GuardInterval::Ns800;
        TxVector::of_mcs(generation, mcs, streams, width, gi, Band::Ghz5)
            .and_then(|v| v.with_coding(Coding::Ldpc))
            .unwrap()
    }

    #[test]
    fn ldpc_adds_a_symbol_where_check_bits_would_be_missing() {
        // HT, QPSK 1/2: 16 + 8 x 13 bits in three symbols of 52, whose 312 coded bits lack 132 of 324 check bits.
        let ht = ldpc(Generation::N, 1, 1, Width::Mhz20);
        assert_eq!(us(ht, 13), 36.0 + 4.0 * 4.0);
        // 16 + 8 x 1534 bits at MCS 7 fill 48 symbols of 260 bits but for 192: eight words of 1944 bits with 672
        // zeros lack 2 of 2592 check bits.
        let ht = ldpc(Generation::N, 7, 1, Width::Mhz20);
        assert_eq!(us(ht, 1_534), 36.0 + 48.0 * 4.0);
        // VHT codes whole symbols: 48 x 260 bits in eight words with 480 zeros; 15552 - 14976 - 480 = 96 check
        // bits are missing, of 259 that may.
        let vht = ldpc(Generation::Ac, 7, 1, Width::Mhz20);
        assert_eq!(us(vht, 1_534), 40.0 + 48.0 * 4.0);
        // Three of them, 780 bits, take one word of 1296 bits with 300 zeros: 1296 - 936 - 300 = 60 of 216 are
        // missing, and 300 < 1.2 x 60 x 5.
        assert_eq!(us(vht, 90), 40.0 + 4.0 * 4.0);
    }

    #[test]
    fn quarters_of_the_last_symbol_take_what_ldpc_adds() {
        // HE, 20 MHz, MCS 7: 1170 data and 1404 coded bits a symbol, 300 data bits a quarter. 16 + 8 x 144 bits
        // fill the symbol: one word of 1944 bits with 450 zeros lacks 1944 - 1404 - 450 = 90 of 324 check bits,
        // more than a tenth, and 450 < 1.2 x 90 x 5. A symbol with one quarter is added.
        let he = ldpc(Generation::Ax, 7, 1, Width::Mhz20);
        assert_eq!(airtime(&he, 144).as_nanos(), 43_200 + 2 * 13_600);
        // 16 + 8 x 110 bits fill three quarters: the fourth takes what is added.
        assert_eq!(airtime(&he, 110).as_nanos(), 43_200 + 13_600);
    }

    #[test]
    fn older_formats_have_no_ldpc() {
        let a54 = TxVector::ofdm(OfdmRate::M54, Band::Ghz5);
        let refusal = a54.with_coding(Coding::Ldpc).unwrap_err().to_string();
        assert_eq!(refusal, "802.11a has no LDPC codes");
        assert_eq!(a54.with_coding(Coding::Bcc), Ok(a54));
    }

    proptest! {
        #[test]
        fn longer_never_takes_less(v in any_vector(), n in 0u32..60_000, more in 0u32..2_000) {
            prop_assert!(airtime(&v, n + more) >= airtime(&v, n));
        }

        #[test]
        fn the_longest_psdu_fits_and_the_next_does_not(v in any_vector(), us in 400u64..6_000) {
            let room = Duration::from_nanos(us * 1_000 + 7);
            let longest = psdu_within(&v, room);
            prop_assert!(longest == 0 || airtime(&v, longest) <= room);
            prop_assert!(airtime(&v, longest + 1) > room);
        }

        #[test]
        fn no_psdu_beats_the_nominal_rate(v in any_vector(), n in 1u32..60_000) {
            let data = airtime(&v, n) - preamble(&v);
            let rate = f64::from(n) * 8.0 / data.as_secs_f64();
            prop_assert!(rate <= v.bit_rate().0 as f64 + 1.0);
        }
    }
}
