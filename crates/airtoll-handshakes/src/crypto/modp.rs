//! Powers in the MODP groups of IKE: generator 2 modulo a safe prime (RFC 2409 section 6, RFC 3526).
//!
//! Takes big-endian octets; gives octets as long as the prime. A power of the generator is read off a
//! table that is made once (Lim and Lee, "More Flexible Exponentiation with Precomputation", CRYPTO
//! '94). It takes an eighth of the squarings of another power.

use std::sync::LazyLock;

use crypto_bigint::modular::{FixedMontyForm, FixedMontyParams};
use crypto_bigint::{Odd, U1024, U1536, U2048, Uint};

/// Rows into which the table parts an exponent.
const ROWS: usize = 8;

// RFC 2409 section 6.2: 2^1024 - 2^960 - 1 + 2^64 ([2^894 pi] + 129093).
const MODP_1024: &str = "ffffffffffffffffc90fdaa22168c234c4c6628b80dc1cd129024e088a67cc74\
    020bbea63b139b22514a08798e3404ddef9519b3cd3a431b302b0a6df25f1437\
    4fe1356d6d51c245e485b576625e7ec6f44c42e9a637ed6b0bff5cb6f406b7ed\
    ee386bfb5a899fa5ae9f24117c4b1fe649286651ece65381ffffffffffffffff";
// RFC 3526 section 2: 2^1536 - 2^1472 - 1 + 2^64 ([2^1406 pi] + 741804).
const MODP_1536: &str = "ffffffffffffffffc90fdaa22168c234c4c6628b80dc1cd129024e088a67cc74\
    020bbea63b139b22514a08798e3404ddef9519b3cd3a431b302b0a6df25f1437\
    4fe1356d6d51c245e485b576625e7ec6f44c42e9a637ed6b0bff5cb6f406b7ed\
    ee386bfb5a899fa5ae9f24117c4b1fe649286651ece45b3dc2007cb8a163bf05\
    98da48361c55d39a69163fa8fd24cf5f83655d23dca3ad961c62f356208552bb\
    9ed529077096966d670c354e4abc9804f1746c08ca237327ffffffffffffffff";
// RFC 3526 section 3: 2^2048 - 2^1984 - 1 + 2^64 ([2^1918 pi] + 124476).
const MODP_2048: &str = "ffffffffffffffffc90fdaa22168c234c4c6628b80dc1cd129024e088a67cc74\
    020bbea63b139b22514a08798e3404ddef9519b3cd3a431b302b0a6df25f1437\
    4fe1356d6d51c245e485b576625e7ec6f44c42e9a637ed6b0bff5cb6f406b7ed\
    ee386bfb5a899fa5ae9f24117c4b1fe649286651ece45b3dc2007cb8a163bf05\
    98da48361c55d39a69163fa8fd24cf5f83655d23dca3ad961c62f356208552bb\
    9ed529077096966d670c354e4abc9804f1746c08ca18217c32905e462e36ce3b\
    e39e772c180e86039b2783a2ec07a28fb5c55df06f4c52c9de2bcbf695581718\
    3995497cea956ae515d2261898fa051015728e5a8aacaa68ffffffffffffffff";

static POWERS_1024: LazyLock<Powers<{ U1024::LIMBS }>> =
    LazyLock::new(|| Powers::new(&U1024::from_be_hex(MODP_1024)));
static POWERS_1536: LazyLock<Powers<{ U1536::LIMBS }>> =
    LazyLock::new(|| Powers::new(&U1536::from_be_hex(MODP_1536)));
static POWERS_2048: LazyLock<Powers<{ U2048::LIMBS }>> =
    LazyLock::new(|| Powers::new(&U2048::from_be_hex(MODP_2048)));

/// A MODP group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ModpGroup {
    /// IKE group 2.
    Modp1024,
    /// IKE group 5.
    Modp1536,
    /// IKE group 14.
    Modp2048,
}

impl ModpGroup {
    /// Octets of the prime, of a value, and of an exponent.
    #[must_use]
    pub const fn octets(self) -> usize {
        match self {
            Self::Modp1024 => 128,
            Self::Modp1536 => 192,
            Self::Modp2048 => 256,
        }
    }

    /// 2 to the power `exponent`, which is as long as the prime.
    pub(crate) fn generator_power(self, exponent: &[u8]) -> Vec<u8> {
        match self {
            Self::Modp1024 => POWERS_1024.generator_power(exponent),
            Self::Modp1536 => POWERS_1536.generator_power(exponent),
            Self::Modp2048 => POWERS_2048.generator_power(exponent),
        }
    }

    /// `base` to the power `exponent`, both as long as the prime; `None` unless the base lies between 1
    /// and the prime less 1 (RFC 6989 section 2.1).
    pub(crate) fn power(self, base: &[u8], exponent: &[u8]) -> Option<Vec<u8>> {
        match self {
            Self::Modp1024 => POWERS_1024.power(base, exponent),
            Self::Modp1536 => POWERS_1536.power(base, exponent),
            Self::Modp2048 => POWERS_2048.power(base, exponent),
        }
    }
}

/// Powers modulo one prime.
struct Powers<const LIMBS: usize> {
    params: FixedMontyParams<LIMBS>,
    /// Number `k`: the product of 2^(2^(r * columns)) over the rows `r` of the bits that are set in `k`.
    products: Vec<FixedMontyForm<LIMBS>>,
}

impl<const LIMBS: usize> Powers<LIMBS> {
    const COLUMNS: usize = Uint::<LIMBS>::BITS as usize / ROWS;

    fn new(prime: &Uint<LIMBS>) -> Self {
        let params = FixedMontyParams::new_vartime(Odd::new(*prime).expect("primes are odd"));
        let mut products = vec![FixedMontyForm::one(&params); 1 << ROWS];
        let mut row = FixedMontyForm::new(&Uint::from_u8(2), &params);
        for at in 0..ROWS {
            for below in 0..1 << at {
                products[below | 1 << at] = products[below].mul(&row);
            }
            for _ in 0..Self::COLUMNS {
                row = row.square();
            }
        }
        Self { params, products }
    }

    fn generator_power(&self, exponent: &[u8]) -> Vec<u8> {
        let bit = |at: usize| {
            let octet = exponent.iter().rev().nth(at / 8);
            octet.map_or(0, |octet| usize::from(octet >> (at % 8) & 1))
        };
        let mut power = FixedMontyForm::one(&self.params);
        for column in (0..Self::COLUMNS).rev() {
            power = power.square();
            let rows = (0..ROWS).map(|row| bit(column + row * Self::COLUMNS) << row);
            power = power.mul(&self.products[rows.sum::<usize>()]);
        }
        octets(&power.retrieve())
    }

    fn power(&self, base: &[u8], exponent: &[u8]) -> Option<Vec<u8>> {
        let (base, exponent) = (number(base)?, number::<LIMBS>(exponent)?);
        let last = self.params.modulus().get().wrapping_sub(&Uint::ONE);
        let inside = base > Uint::ONE && base < last;
        inside.then(|| {
            let power = FixedMontyForm::new(&base, &self.params).pow(&exponent);
            octets(&power.retrieve())
        })
    }
}

fn number<const LIMBS: usize>(octets: &[u8]) -> Option<Uint<LIMBS>> {
    let fits = octets.len() == Uint::<LIMBS>::BITS as usize / 8;
    fits.then(|| Uint::from_be_slice(octets))
}

/// Big-endian.
fn octets<const LIMBS: usize>(number: &Uint<LIMBS>) -> Vec<u8> {
    number.to_be_bytes().as_slice().to_vec()
}

#[cfg(test)]
mod tests {
    use crypto_bigint::NonZero;
    use proptest::prelude::*;

    use super::*;

    /// `base` to the power `exponent` by squaring and dividing, without Montgomery's form.
    fn power_by_division<const LIMBS: usize>(
        base: &[u8],
        exponent: &[u8],
        prime: &Uint<LIMBS>,
    ) -> Vec<u8> {
        let prime = NonZero::new(*prime).unwrap();
        let base = number::<LIMBS>(base).unwrap();
        let mut power = Uint::ONE;
        for octet in exponent {
            for bit in (0..8).rev() {
                power = power.mul_mod_vartime(&power, &prime);
                if octet >> bit & 1 == 1 {
                    power = power.mul_mod_vartime(&base, &prime);
                }
            }
        }
        octets(&power)
    }

    fn values_outside_are_refused<const LIMBS: usize>(group: ModpGroup, prime: &Uint<LIMBS>) {
        let exponent = vec![7; group.octets()];
        let last = prime.wrapping_sub(&Uint::ONE);
        for value in [
            Uint::ZERO,
            Uint::ONE,
            last,
            *prime,
            prime.wrapping_add(&Uint::ONE),
        ] {
            assert_eq!(group.power(&octets(&value), &exponent), None);
        }
        assert_eq!(group.power(&[2], &exponent), None);
        let two = octets(&Uint::<LIMBS>::from_u8(2));
        assert_eq!(
            group.power(&two, &exponent),
            Some(group.generator_power(&exponent))
        );
    }

    #[test]
    fn values_outside_the_group_are_refused() {
        values_outside_are_refused(ModpGroup::Modp1024, &U1024::from_be_hex(MODP_1024));
        values_outside_are_refused(ModpGroup::Modp1536, &U1536::from_be_hex(MODP_1536));
        values_outside_are_refused(ModpGroup::Modp2048, &U2048::from_be_hex(MODP_2048));
    }

    fn powers_are_right<const LIMBS: usize>(
        group: ModpGroup,
        prime: &Uint<LIMBS>,
        base: &[u8],
        exponent: &[u8],
    ) -> Result<(), TestCaseError> {
        let exponent = &exponent[..group.octets()];
        let two = octets(&Uint::<LIMBS>::from_u8(2));
        let power = power_by_division(&two, exponent, prime);
        prop_assert_eq!(group.generator_power(exponent), power);
        let base = number::<LIMBS>(&base[..group.octets()]).unwrap();
        let base = octets(&base.rem_vartime(&NonZero::new(*prime).unwrap()));
        let power = power_by_division(&base, exponent, prime);
        prop_assert_eq!(group.power(&base, exponent), Some(power));
        Ok(())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(8))]
        #[test]
        fn powers_are_those_by_division(base: [[u8; 32]; 8], exponent: [[u8; 32]; 8]) {
            let (base, exponent) = (base.as_flattened(), exponent.as_flattened());
            let (a, b, c) = (MODP_1024, MODP_1536, MODP_2048);
            powers_are_right(ModpGroup::Modp1024, &U1024::from_be_hex(a), base, exponent)?;
            powers_are_right(ModpGroup::Modp1536, &U1536::from_be_hex(b), base, exponent)?;
            powers_are_right(ModpGroup::Modp2048, &U2048::from_be_hex(c), base, exponent)?;
        }
    }
}
