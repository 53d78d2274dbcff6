//! How many LDPC code words carry the bits of a PPDU, and whether they need a symbol or segment more
//! (19.3.11.7.5, 21.3.10.5.4; 27.3.12.5.2 of IEEE Std 802.11ax-2021).
//!
//! Takes bits and a code rate; gives counts of bits. Encoder and decoder are in
//! `examples/link_simulation`: airtimes need neither.

use crate::modulation::CodeRate;

/// Code words of a PPDU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CodeWords {
    /// How many (N_CW).
    pub words: u64,
    /// Bits of each (L_LDPC): 648, 1296 or 1944.
    pub length: u64,
    /// Data bits that are zero and not sent, of all words (N_shrt).
    pub shortened: u64,
    /// Check bits that are not sent, of all words (N_punc).
    pub punctured: u64,
    /// Coded bits that are sent once more, of all words (N_rep).
    pub repeated: u64,
    /// Coded bits on air (N_avbits).
    pub sent: u64,
    /// Whether `sent` includes a symbol or segment that was added, because too many check bits would
    /// have been missing.
    pub extended: bool,
}

impl CodeWords {
    /// Words for `data` bits (N_pld) in `available` coded bits (N_avbits), or in `more` beyond where too many
    /// check bits would be missing.
    #[must_use]
    pub const fn of(data: u64, available: u64, more: u64, code: CodeRate) -> Self {
        let rate = code.fraction();
        let (data_share, whole) = (rate.numerator as u64, rate.denominator as u64);
        let check_share = whole - data_share;
        // Table 19-16; all terms are multiplied by the denominator of the code rate.
        let spare = (available * whole).saturating_sub(data * whole);
        let (words, length) = match available {
            ..=648 if spare >= 912 * check_share => (1, 1_296),
            ..=648 => (1, 648),
            649..=1_296 if spare >= 1_464 * check_share => (1, 1_944),
            649..=1_296 => (1, 1_296),
            1_297..=1_944 => (1, 1_944),
            1_945..=2_592 if spare >= 2_916 * check_share => (2, 1_944),
            1_945..=2_592 => (2, 1_296),
            _ => ((data * whole).div_ceil(1_944 * data_share), 1_944),
        };
        let coded = words * length;
        // 648, 1296 and 1944 are multiples of every denominator.
        let checks = coded / whole * check_share;
        let shortened = (coded - checks).saturating_sub(data);
        let missing = coded.saturating_sub(available + shortened);
        let extended = (10 * missing > checks
            && 10 * shortened * check_share < 12 * missing * data_share)
            || 10 * missing > 3 * checks;
        let sent = if extended {
            available + more
        } else {
            available
        };
        Self {
            words,
            length,
            shortened,
            punctured: coded.saturating_sub(sent + shortened),
            repeated: sent.saturating_sub(checks + data),
            sent,
            extended,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_hundred_octets_at_the_lowest_mcs_are_as_the_standard_computes_them() {
        // Annex I.1.8 of IEEE Std 802.11-2020 (LDPC example 1): 100 octets, 20 MHz, QPSK, R = 3/4.
        // N_pld = 816, N_CBPS = 104: eleven symbols, 1144 bits; one word of 1296 bits.
        let words = CodeWords::of(816, 1_144, 104, CodeRate::R3_4);
        assert_eq!(
            words,
            CodeWords {
                words: 1,
                length: 1_296,
                shortened: 156,
                punctured: 0,
                repeated: 4,
                sent: 1_144,
                extended: false,
            }
        );
        // Example 2: 140 octets. N_pld = 1136 in 15 symbols: 1560 bits, one word of 1944 bits with 322 zeros and
        // 62 check bits left out, which is more than a tenth of 486, and 322 < 1.2 x 62 x 3 does not hold.
        let words = CodeWords::of(1_136, 1_560, 104, CodeRate::R3_4);
        assert_eq!((words.shortened, words.punctured), (322, 62));
        assert!(!words.extended);
    }

    #[test]
    fn missing_check_bits_cost_a_symbol() {
        // 13 octets at QPSK 1/2, 52 subcarriers: N_pld = 120, N_CBPS = 104, three symbols of 312 bits. One word
        // of 648 bits: 204 zeros; 648 - 312 - 204 = 132 of 324 check bits are missing, more than three tenths.
        let words = CodeWords::of(120, 312, 104, CodeRate::R1_2);
        assert!(words.extended);
        assert_eq!((words.sent, words.punctured), (416, 28));
    }

    proptest! {
        #[test]
        fn bits_on_air_are_those_of_the_words(
            data in 16u64..100_000, coded in 52u64..20_000, rate in 0usize..4
        ) {
            let code = [CodeRate::R1_2, CodeRate::R2_3, CodeRate::R3_4, CodeRate::R5_6][rate];
            let f = code.fraction();
            let per_symbol = coded * u64::from(f.numerator) / u64::from(f.denominator);
            let available = data.div_ceil(per_symbol) * coded;
            let w = CodeWords::of(data, available, coded, code);
            prop_assert_eq!(w.words * w.length + w.repeated, w.sent + w.shortened + w.punctured);
            prop_assert!(w.punctured == 0 || w.repeated == 0);
            let checks = w.words * w.length * u64::from(f.denominator - f.numerator)
                / u64::from(f.denominator);
            prop_assert_eq!(w.words * w.length - checks, data + w.shortened);
        }
    }
}
