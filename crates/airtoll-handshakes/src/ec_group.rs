//! The elliptic-curve groups of SAE, OWE, TLS and IKEv2: IANA groups 19, 20 and 21.
//!
//! Takes points as `x || y` and scalars as big-endian octets; gives points, and counts
//! multiplications and field powers in the [`Context`]. Products of which the x coordinate is enough
//! are of `agreement`. The other point arithmetic is that of the `p256`, `p384` and `p521` crates; only the mappings of a password to a point (802.11-2020,
//! 12.4.4.2) are computed here. Not in constant time: the simulator has nothing to hide.

use num_bigint::BigUint;
#[cfg(any(test, not(feature = "aws-lc")))]
use p256::elliptic_curve::group::Group as _;
use p256::elliptic_curve::sec1::{FromSec1Point, ModulusSize, Sec1Point, ToSec1Point};
use p256::elliptic_curve::{CurveArithmetic, FieldBytes, FieldBytesSize, PrimeField};

use super::agreement;
use super::exchange::Context;
use super::operation::{Curve, HashAlgorithm, Operation};

/// An elliptic-curve group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Group {
    curve: Curve,
    octets: usize,
    /// The field's prime.
    pub prime: BigUint,
    b: BigUint,
    /// The group's order.
    pub order: BigUint,
    /// Minus the constant z of the mapping in 12.4.4.2.3.
    minus_z: u8,
}

impl Group {
    /// The group with this IANA number: 19 (P-256), 20 (P-384) or 21 (P-521).
    #[must_use]
    pub fn from_number(number: u16) -> Option<Self> {
        let (curve, octets, minus_z, prime, b, order) = match number {
            19 => (Curve::P256, 32, 10, P256.0, P256.1, P256.2),
            20 => (Curve::P384, 48, 12, P384.0, P384.1, P384.2),
            21 => (Curve::P521, 66, 4, P521.0, P521.1, P521.2),
            _ => return None,
        };
        Some(Self {
            curve,
            octets,
            minus_z,
            prime: parse(prime),
            b: parse(b),
            order: parse(order),
        })
    }

    /// The group's IANA number.
    #[must_use]
    pub const fn number(&self) -> u16 {
        match self.curve {
            Curve::P384 => 20,
            Curve::P521 => 21,
            _ => 19,
        }
    }

    /// Octets of a field element, and of a scalar.
    #[must_use]
    pub const fn octets(&self) -> usize {
        self.octets
    }

    /// The hash that goes with the group's size (802.11-2020, table 12-1).
    #[must_use]
    pub const fn hash(&self) -> HashAlgorithm {
        match self.curve {
            Curve::P384 => HashAlgorithm::Sha384,
            Curve::P521 => HashAlgorithm::Sha512,
            _ => HashAlgorithm::Sha256,
        }
    }

    /// A number as this group's octets, big-endian.
    #[must_use]
    pub fn pad(&self, number: &BigUint) -> Vec<u8> {
        let octets = number.to_bytes_be();
        let mut out = vec![0; self.octets.saturating_sub(octets.len())];
        out.extend(octets);
        out
    }

    /// A random scalar from 1 to order - 1.
    pub fn random_scalar(&self, context: &mut Context<'_>) -> BigUint {
        // 64 bits more than the order leave no measurable bias.
        let wide = BigUint::from_bytes_be(&context.random_octets(self.octets + 8));
        wide % (&self.order - 1_u8) + 1_u8
    }

    fn count(&self, context: &mut Context<'_>) {
        context.record(Operation::EcScalarMul {
            curve: self.curve,
            count: 1,
        });
    }

    /// `scalar` times a point; `None` unless the point is on the curve and the product finite.
    pub fn multiply(
        &self,
        context: &mut Context<'_>,
        point: &[u8],
        scalar: &BigUint,
    ) -> Option<Vec<u8>> {
        self.count(context);
        let scalar = self.pad(scalar);
        match self.curve {
            Curve::P384 => multiply::<p384::NistP384>(point, &scalar),
            Curve::P521 => multiply::<p521::NistP521>(point, &scalar),
            _ => multiply::<p256::NistP256>(point, &scalar),
        }
    }

    /// `scalar` times the generator.
    pub fn multiply_base(&self, context: &mut Context<'_>, scalar: &BigUint) -> Option<Vec<u8>> {
        self.count(context);
        agreement::public(self.curve, &self.pad(scalar))
    }

    /// The x coordinate of `scalar` times a point; `None` unless the point is on the curve.
    pub fn agree(
        &self,
        context: &mut Context<'_>,
        point: &[u8],
        scalar: &BigUint,
    ) -> Option<Vec<u8>> {
        self.count(context);
        agreement::shared(self.curve, &self.pad(scalar), point)
    }

    /// The sum of two points; `None` unless both are on the curve and the sum is finite.
    #[must_use]
    pub fn add(&self, a: &[u8], b: &[u8]) -> Option<Vec<u8>> {
        match self.curve {
            Curve::P384 => add::<p384::NistP384>(a, b),
            Curve::P521 => add::<p521::NistP521>(a, b),
            _ => add::<p256::NistP256>(a, b),
        }
    }

    /// The inverse of a point.
    #[must_use]
    pub fn negate(&self, point: &[u8]) -> Vec<u8> {
        let (x, y) = point.split_at(self.octets.min(point.len()));
        let y = BigUint::from_bytes_be(y) % &self.prime;
        let mut out = x.to_vec();
        out.extend(self.pad(&((&self.prime - y) % &self.prime)));
        out
    }

    /// A point with this x and an even or odd y; `None` when there is none.
    pub fn lift(&self, context: &mut Context<'_>, x: &BigUint, odd: bool) -> Option<Vec<u8>> {
        let square = self.right_side(x);
        let y = self.square_root(context, &square)?;
        let y = if y.bit(0) == odd || y == BigUint::ZERO {
            y
        } else {
            &self.prime - y
        };
        let mut out = self.pad(x);
        out.extend(self.pad(&y));
        Some(out)
    }

    /// x^3 - 3x + b.
    fn right_side(&self, x: &BigUint) -> BigUint {
        let cube = x * x % &self.prime * x % &self.prime;
        let three = BigUint::from(3_u8) * x % &self.prime;
        (cube + &self.prime - three + &self.b) % &self.prime
    }

    fn power(&self, context: &mut Context<'_>, base: &BigUint, exponent: &BigUint) -> BigUint {
        context.record(Operation::FieldPower {
            curve: self.curve,
            count: 1,
        });
        base.modpow(exponent, &self.prime)
    }

    /// Whether a number is a square modulo the prime (Euler's criterion).
    pub(crate) fn is_square(&self, context: &mut Context<'_>, number: &BigUint) -> bool {
        let exponent = (&self.prime - 1_u8) >> 1;
        self.power(context, number, &exponent) <= BigUint::from(1_u8)
    }

    /// All three primes are 3 modulo 4.
    fn square_root(&self, context: &mut Context<'_>, number: &BigUint) -> Option<BigUint> {
        let exponent = (&self.prime + 1_u8) >> 2;
        let root = self.power(context, number, &exponent);
        (&root * &root % &self.prime == number % &self.prime).then_some(root)
    }

    /// The simplified Shallue-van de Woestijne-Ulas mapping of 802.11-2020, 12.4.4.2.3.
    pub fn map_to_curve(&self, context: &mut Context<'_>, u: &BigUint) -> Option<Vec<u8>> {
        let p = &self.prime;
        let z = p - self.minus_z;
        let a = p - 3_u8;
        let zu2 = &z * u % p * u % p;
        let m = (&zu2 * &zu2 + &zu2) % p;
        let inverse = self.power(context, &m, &(p - 2_u8));
        let minus_b = p - &self.b;
        let a_inverse = self.power(context, &a, &(p - 2_u8));
        let x1 = if m == BigUint::ZERO {
            let za = self.power(context, &(&z * &a % p), &(p - 2_u8));
            &self.b * za % p
        } else {
            minus_b * a_inverse % p * ((inverse + 1_u8) % p) % p
        };
        let x = if self.is_square(context, &self.right_side(&x1)) {
            x1
        } else {
            zu2 * x1 % p
        };
        self.lift(context, &x, u.bit(0))
    }
}

fn point<C>(octets: &[u8]) -> Option<C::ProjectivePoint>
where
    C: CurveArithmetic,
    FieldBytesSize<C>: ModulusSize,
    C::AffinePoint: FromSec1Point<C> + ToSec1Point<C>,
{
    let mut sec1 = vec![4];
    sec1.extend(octets);
    let encoded = Sec1Point::<C>::from_bytes(&sec1).ok()?;
    let affine: Option<C::AffinePoint> = C::AffinePoint::from_sec1_point(&encoded).into();
    affine.map(Into::into)
}

fn octets_of<C>(point: C::ProjectivePoint) -> Option<Vec<u8>>
where
    C: CurveArithmetic,
    FieldBytesSize<C>: ModulusSize,
    C::AffinePoint: FromSec1Point<C> + ToSec1Point<C>,
{
    let affine: C::AffinePoint = point.into();
    match affine.to_sec1_point(false).as_bytes() {
        [4, rest @ ..] => Some(rest.to_vec()),
        _ => None,
    }
}

fn scalar<C: CurveArithmetic>(octets: &[u8]) -> Option<C::Scalar> {
    let mut repr = FieldBytes::<C>::default();
    if repr.len() != octets.len() {
        return None;
    }
    repr.copy_from_slice(octets);
    C::Scalar::from_repr(repr).into()
}

pub(crate) fn multiply<C>(base: &[u8], by: &[u8]) -> Option<Vec<u8>>
where
    C: CurveArithmetic,
    FieldBytesSize<C>: ModulusSize,
    C::AffinePoint: FromSec1Point<C> + ToSec1Point<C>,
{
    octets_of::<C>(point::<C>(base)? * scalar::<C>(by)?)
}

#[cfg(any(test, not(feature = "aws-lc")))]
pub(crate) fn multiply_base<C>(by: &[u8]) -> Option<Vec<u8>>
where
    C: CurveArithmetic,
    FieldBytesSize<C>: ModulusSize,
    C::AffinePoint: FromSec1Point<C> + ToSec1Point<C>,
{
    octets_of::<C>(C::ProjectivePoint::generator() * scalar::<C>(by)?)
}

fn add<C>(a: &[u8], b: &[u8]) -> Option<Vec<u8>>
where
    C: CurveArithmetic,
    FieldBytesSize<C>: ModulusSize,
    C::AffinePoint: FromSec1Point<C> + ToSec1Point<C>,
{
    octets_of::<C>(point::<C>(a)? + point::<C>(b)?)
}

fn parse(hexadecimal: &str) -> BigUint {
    BigUint::parse_bytes(hexadecimal.as_bytes(), 16).unwrap_or_default()
}

// Prime, b and order: FIPS 186-4 appendix D.1.2.
const P256: (&str, &str, &str) = (
    "ffffffff00000001000000000000000000000000ffffffffffffffffffffffff",
    "5ac635d8aa3a93e7b3ebbd55769886bc651d06b0cc53b0f63bce3c3e27d2604b",
    "ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551",
);
const P384: (&str, &str, &str) = (
    "fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffe\
     ffffffff0000000000000000ffffffff",
    "b3312fa7e23ee7e4988e056be3f82d19181d9c6efe8141120314088f5013875a\
     c656398d8a2ed19d2a85c8edd3ec2aef",
    "ffffffffffffffffffffffffffffffffffffffffffffffffc7634d81f4372ddf\
     581a0db248b0a77aecec196accc52973",
);
const P521: (&str, &str, &str) = (
    "1fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff\
     fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
    "51953eb9618e1c9a1f929a21a0b68540eea2da725b99b315f3b8b489918ef109e1\
     56193951ec7e937b1652c0bd3bb1bf073573df883d2c34f1ef451fd46b503f00",
    "1fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff\
     a51868783bf2f966b7fcc0148f709a5d03bb5c9b8899c47aebb6fb71e91386409",
);

#[cfg(test)]
mod tests {
    use super::*;
    use rand_chacha::ChaCha8Rng;
    use rand_chacha::rand_core::SeedableRng;

    #[test]
    fn lifted_points_are_on_the_curve_of_the_library() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let mut context = Context::new(&mut rng);
        for number in 19..=21 {
            let group = Group::from_number(number).unwrap();
            assert_eq!(group.prime.bits().div_ceil(8), group.octets() as u64);
            let scalar = group.random_scalar(&mut context);
            let point = group.multiply_base(&mut context, &scalar).unwrap();
            let x = BigUint::from_bytes_be(&point[..group.octets()]);
            let odd = point[point.len() - 1] & 1 == 1;
            assert_eq!(group.lift(&mut context, &x, odd).unwrap(), point);
            // order - 1 times the generator is its inverse: both constants are right.
            let minus = group
                .multiply_base(&mut context, &(&group.order - 1_u8))
                .unwrap();
            let one = group
                .multiply_base(&mut context, &BigUint::from(1_u8))
                .unwrap();
            assert_eq!(group.negate(&one), minus);
            assert_eq!(group.add(&one, &minus), None);
            let mapped = group.map_to_curve(&mut context, &scalar).unwrap();
            assert!(group.multiply(&mut context, &mapped, &scalar).is_some());
        }
    }
}
