//! Numbers modulo a NIST curve's prime and order: square roots of y^2 = x^3 - 3x + b, and the mapping of a
//! number to a point (802.11-2020, 12.4.4.2).
//!
//! Takes big-endian octets, at most 104; gives octets of the curve's length, and counts powers in the
//! [`Context`]. Not in constant time: the simulator has nothing to hide.

use std::sync::LazyLock;

use crypto_bigint::modular::{FixedMontyForm, FixedMontyParams};
use crypto_bigint::{NonZero, Odd, U256, U384, U576, U832, Uint};

use crate::context::Context;
use crate::operation::{Curve, Operation};

/// The equation of P-256, P-384 or P-521; of X25519, which has none of this form, that of P-256.
pub(crate) fn of(curve: Curve) -> &'static dyn CurveEquation {
    match curve {
        Curve::P384 => &*P384,
        Curve::P521 => &*P521,
        Curve::P256 | Curve::X25519 => &*P256,
    }
}

/// A curve's equation over its prime field, and the scalars of its group.
pub(crate) trait CurveEquation: Sync {
    /// The prime.
    fn prime(&self) -> Vec<u8>;

    /// A scalar from 1 to order - 1: a number modulo order - 1, plus 1.
    fn scalar(&self, number: &[u8]) -> Vec<u8>;

    /// Whether a number lies between 1 and the order.
    fn is_scalar_above_one(&self, number: &[u8]) -> bool;

    /// The sum of two scalars modulo the order.
    fn sum(&self, a: &[u8], b: &[u8]) -> Vec<u8>;

    /// The first bits of a drawn number, as many as the prime has; `None` unless they are below the prime.
    fn element(&self, drawn: &[u8]) -> Option<Vec<u8>>;

    /// Minus a number modulo the prime.
    fn minus(&self, number: &[u8]) -> Vec<u8>;

    /// Whether a number is a square modulo the prime (Euler's criterion).
    fn is_square(&self, context: &mut Context<'_>, number: &[u8]) -> bool;

    /// An even or odd y that belongs to this x; `None` when there is none.
    fn y(&self, context: &mut Context<'_>, x: &[u8], odd: bool) -> Option<Vec<u8>>;

    /// The simplified Shallue-van de Woestijne-Ulas mapping of 802.11-2020, 12.4.4.2.3: a point.
    fn map(&self, context: &mut Context<'_>, number: &[u8]) -> Option<Vec<u8>>;
}

struct Equation<const LIMBS: usize> {
    curve: Curve,
    octets: usize,
    prime: NonZero<Uint<LIMBS>>,
    order: NonZero<Uint<LIMBS>>,
    params: FixedMontyParams<LIMBS>,
    b: FixedMontyForm<LIMBS>,
    /// The constant z of the mapping.
    z: FixedMontyForm<LIMBS>,
}

impl<const LIMBS: usize> Equation<LIMBS> {
    /// Prime, b and order in hexadecimal digits.
    fn new(curve: Curve, minus_z: u8, [prime, b, order]: [&str; 3]) -> Self {
        let prime = Uint::from_be_hex(prime);
        let params = FixedMontyParams::new_vartime(Odd::new(prime).expect("primes are odd"));
        let small = |number| FixedMontyForm::new(&Uint::from_u8(number), &params);
        Self {
            curve,
            octets: prime.bits_vartime().div_ceil(8) as usize,
            prime: NonZero::new(prime).expect("a prime"),
            order: NonZero::new(Uint::from_be_hex(order)).expect("an order"),
            b: FixedMontyForm::new(&Uint::from_be_hex(b), &params),
            z: small(0).sub(&small(minus_z)),
            params,
        }
    }

    fn octets(&self, number: &Uint<LIMBS>) -> Vec<u8> {
        let octets = number.to_be_bytes();
        let octets = octets.as_slice();
        octets[octets.len() - self.octets..].to_vec()
    }

    fn field(&self, number: &[u8]) -> FixedMontyForm<LIMBS> {
        FixedMontyForm::new(&wide(number).rem_vartime(&self.prime), &self.params)
    }

    fn small(&self, number: u8) -> FixedMontyForm<LIMBS> {
        FixedMontyForm::new(&Uint::from_u8(number), &self.params)
    }

    fn power(
        &self,
        context: &mut Context<'_>,
        base: &FixedMontyForm<LIMBS>,
        exponent: &Uint<LIMBS>,
    ) -> FixedMontyForm<LIMBS> {
        context.record(Operation::FieldPower {
            curve: self.curve,
            count: 1,
        });
        base.pow_vartime(exponent)
    }

    fn inverse(
        &self,
        context: &mut Context<'_>,
        number: &FixedMontyForm<LIMBS>,
    ) -> FixedMontyForm<LIMBS> {
        let exponent = self.prime.get().wrapping_sub(&Uint::from_u8(2));
        self.power(context, number, &exponent)
    }

    /// x^3 - 3x + b.
    fn right_side(&self, x: &FixedMontyForm<LIMBS>) -> FixedMontyForm<LIMBS> {
        let square = x.square().sub(&self.small(3));
        square.mul(x).add(&self.b)
    }

    fn square(&self, context: &mut Context<'_>, number: &FixedMontyForm<LIMBS>) -> bool {
        // Half of the prime less 1: the prime is odd.
        let exponent = self.prime.get().wrapping_shr_vartime(1);
        self.power(context, number, &exponent).retrieve() <= Uint::ONE
    }

    /// y to an x in the field.
    fn root(
        &self,
        context: &mut Context<'_>,
        x: &FixedMontyForm<LIMBS>,
        odd: bool,
    ) -> Option<Vec<u8>> {
        let square = self.right_side(x);
        // A quarter of the prime plus 1: all three primes are 3 modulo 4.
        let quarter = self.prime.get().wrapping_shr_vartime(2);
        let root = self.power(context, &square, &quarter.wrapping_add(&Uint::ONE));
        if root.square().retrieve() != square.retrieve() {
            return None;
        }
        let y = root.retrieve();
        if y.bit_vartime(0) == odd || y == Uint::ZERO {
            Some(self.octets(&y))
        } else {
            Some(self.octets(&self.prime.get().wrapping_sub(&y)))
        }
    }
}

impl<const LIMBS: usize> CurveEquation for Equation<LIMBS> {
    fn prime(&self) -> Vec<u8> {
        self.octets(&self.prime.get())
    }

    fn scalar(&self, number: &[u8]) -> Vec<u8> {
        let last = self.order.get().wrapping_sub(&Uint::ONE);
        let last = NonZero::new(last).expect("orders are large");
        let below = wide(number).rem_vartime(&last);
        self.octets(&below.wrapping_add(&Uint::ONE))
    }

    fn is_scalar_above_one(&self, number: &[u8]) -> bool {
        let number = wide(number);
        number > U832::ONE && number < self.order.get().resize()
    }

    fn sum(&self, a: &[u8], b: &[u8]) -> Vec<u8> {
        let sum = wide(a).wrapping_add(&wide(b));
        self.octets(&sum.rem_vartime(&self.order))
    }

    fn element(&self, drawn: &[u8]) -> Option<Vec<u8>> {
        let further = 8 * self.octets as u32 - self.prime.get().bits_vartime();
        let number = wide(drawn).wrapping_shr_vartime(further);
        (number < self.prime.get().resize()).then(|| self.octets(&number.resize()))
    }

    fn minus(&self, number: &[u8]) -> Vec<u8> {
        self.octets(&self.small(0).sub(&self.field(number)).retrieve())
    }

    fn is_square(&self, context: &mut Context<'_>, number: &[u8]) -> bool {
        self.square(context, &self.field(number))
    }

    fn y(&self, context: &mut Context<'_>, x: &[u8], odd: bool) -> Option<Vec<u8>> {
        self.root(context, &self.field(x), odd)
    }

    fn map(&self, context: &mut Context<'_>, number: &[u8]) -> Option<Vec<u8>> {
        let u = self.field(number);
        let zero = self.small(0);
        let a = zero.sub(&self.small(3));
        let zu2 = self.z.mul(&u.square());
        let m = zu2.square().add(&zu2);
        let inverse = self.inverse(context, &m);
        let a_inverse = self.inverse(context, &a);
        let x1 = if m.retrieve() == Uint::ZERO {
            let za = self.inverse(context, &self.z.mul(&a));
            self.b.mul(&za)
        } else {
            let minus_b_by_a = zero.sub(&self.b).mul(&a_inverse);
            minus_b_by_a.mul(&inverse.add(&self.small(1)))
        };
        let x = if self.square(context, &self.right_side(&x1)) {
            x1
        } else {
            zu2.mul(&x1)
        };
        let y = self.root(context, &x, u.retrieve().bit_vartime(0))?;
        Some([self.octets(&x.retrieve()), y].concat())
    }
}

fn wide(octets: &[u8]) -> U832 {
    let mut all = [0; U832::BYTES];
    all[U832::BYTES - octets.len()..].copy_from_slice(octets);
    U832::from_be_slice(&all)
}

// Prime, b and order: FIPS 186-4 appendix D.1.2. The z of the mapping: 802.11-2020, 12.4.4.2.3.
static P256: LazyLock<Equation<{ U256::LIMBS }>> = LazyLock::new(|| {
    let numbers = [
        "ffffffff00000001000000000000000000000000ffffffffffffffffffffffff",
        "5ac635d8aa3a93e7b3ebbd55769886bc651d06b0cc53b0f63bce3c3e27d2604b",
        "ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551",
    ];
    Equation::new(Curve::P256, 10, numbers)
});
static P384: LazyLock<Equation<{ U384::LIMBS }>> = LazyLock::new(|| {
    let numbers = [
        "fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffe\
         ffffffff0000000000000000ffffffff",
        "b3312fa7e23ee7e4988e056be3f82d19181d9c6efe8141120314088f5013875a\
         c656398d8a2ed19d2a85c8edd3ec2aef",
        "ffffffffffffffffffffffffffffffffffffffffffffffffc7634d81f4372ddf\
         581a0db248b0a77aecec196accc52973",
    ];
    Equation::new(Curve::P384, 12, numbers)
});
static P521: LazyLock<Equation<{ U576::LIMBS }>> = LazyLock::new(|| {
    let numbers = [
        "0000000000000\
         1fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff\
         fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
        "0000000000000\
         051953eb9618e1c9a1f929a21a0b68540eea2da725b99b315f3b8b489918ef109e1\
         56193951ec7e937b1652c0bd3bb1bf073573df883d2c34f1ef451fd46b503f00",
        "0000000000000\
         1fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff\
         a51868783bf2f966b7fcc0148f709a5d03bb5c9b8899c47aebb6fb71e91386409",
    ];
    Equation::new(Curve::P521, 4, numbers)
});
