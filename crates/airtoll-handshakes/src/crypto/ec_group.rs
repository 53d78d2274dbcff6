//! The elliptic-curve groups of SAE, OWE, TLS and IKEv2: IANA groups 19, 20 and 21.
//!
//! Takes points as `x || y` and scalars as big-endian octets of the group's length; gives points, and
//! counts multiplications and field powers in the [`Context`]. Products of which the x coordinate is
//! enough are of `agreement`. The other point arithmetic is that of `points`; the mappings of a password
//! to a point (802.11-2020, 12.4.4.2) are of `curve_equation`.

use crate::context::Context;
use crate::crypto::agreement;
use crate::crypto::curve_equation::{self, CurveEquation};
use crate::crypto::points::{add, multiply};
use crate::operation::{Curve, HashAlgorithm, Operation};

/// An elliptic-curve group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Group {
    curve: Curve,
}

impl Group {
    /// The group with this IANA number: 19 (P-256), 20 (P-384) or 21 (P-521).
    #[must_use]
    pub const fn from_number(number: u16) -> Option<Self> {
        let curve = match number {
            19 => Curve::P256,
            20 => Curve::P384,
            21 => Curve::P521,
            _ => return None,
        };
        Some(Self { curve })
    }

    fn equation(self) -> &'static dyn CurveEquation {
        curve_equation::of(self.curve)
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
        match self.curve {
            Curve::P384 => 48,
            Curve::P521 => 66,
            _ => 32,
        }
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

    /// The field's prime.
    #[must_use]
    pub fn prime(&self) -> Vec<u8> {
        self.equation().prime()
    }

    /// A random scalar from 1 to order - 1.
    pub fn random_scalar(&self, context: &mut Context<'_>) -> Vec<u8> {
        // 64 bits more than the order leave no measurable bias.
        self.scalar(&context.random_octets(self.octets() + 8))
    }

    /// A number modulo order - 1, plus 1: a scalar from 1 to order - 1.
    #[must_use]
    pub fn scalar(&self, number: &[u8]) -> Vec<u8> {
        self.equation().scalar(number)
    }

    /// Whether a number lies between 1 and the order.
    #[must_use]
    pub fn is_scalar_above_one(&self, number: &[u8]) -> bool {
        self.equation().is_scalar_above_one(number)
    }

    /// The sum of two scalars modulo the order.
    #[must_use]
    pub fn sum(&self, a: &[u8], b: &[u8]) -> Vec<u8> {
        self.equation().sum(a, b)
    }

    /// The first bits of a drawn number, as many as the prime has; `None` unless they are below the prime.
    #[must_use]
    pub fn element(&self, drawn: &[u8]) -> Option<Vec<u8>> {
        self.equation().element(drawn)
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
        scalar: &[u8],
    ) -> Option<Vec<u8>> {
        self.count(context);
        match self.curve {
            Curve::P384 => multiply::<p384::NistP384>(point, scalar),
            Curve::P521 => multiply::<p521::NistP521>(point, scalar),
            _ => multiply::<p256::NistP256>(point, scalar),
        }
    }

    /// `scalar` times the generator.
    pub fn multiply_base(&self, context: &mut Context<'_>, scalar: &[u8]) -> Option<Vec<u8>> {
        self.count(context);
        agreement::public(self.curve, scalar)
    }

    /// The x coordinate of `scalar` times a point; `None` unless the point is on the curve.
    pub fn agree(&self, context: &mut Context<'_>, point: &[u8], scalar: &[u8]) -> Option<Vec<u8>> {
        self.count(context);
        agreement::shared(self.curve, scalar, point)
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
        let (x, y) = point.split_at(self.octets().min(point.len()));
        [x, &self.equation().minus(y)].concat()
    }

    /// A point with this x, as long as a field element, and an even or odd y; `None` when there is none.
    pub fn lift(&self, context: &mut Context<'_>, x: &[u8], odd: bool) -> Option<Vec<u8>> {
        let y = self.equation().y(context, x, odd)?;
        Some([x, &y].concat())
    }

    /// Whether a number is a square modulo the prime.
    pub(crate) fn is_square(&self, context: &mut Context<'_>, number: &[u8]) -> bool {
        self.equation().is_square(context, number)
    }

    /// The point of a number, taken modulo the prime, by the mapping of 802.11-2020, 12.4.4.2.3.
    pub fn map_to_curve(&self, context: &mut Context<'_>, number: &[u8]) -> Option<Vec<u8>> {
        self.equation().map(context, number)
    }
}

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
            assert_eq!(group.prime().len(), group.octets());
            let scalar = group.random_scalar(&mut context);
            let point = group.multiply_base(&mut context, &scalar).unwrap();
            let x = &point[..group.octets()];
            let odd = point[point.len() - 1] & 1 == 1;
            assert_eq!(group.lift(&mut context, x, odd).unwrap(), point);
            // order - 1 times the generator is its inverse: both constants are right.
            let mut one = vec![0; group.octets()];
            one[group.octets() - 1] = 1;
            let minus = largest_scalar(group);
            assert_eq!(group.sum(&minus, &one), vec![0; group.octets()]);
            let negated = group.multiply_base(&mut context, &minus).unwrap();
            let base = group.multiply_base(&mut context, &one).unwrap();
            assert_eq!(group.negate(&base), negated);
            assert_eq!(group.add(&base, &negated), None);
            let mapped = group.map_to_curve(&mut context, &scalar).unwrap();
            assert!(group.multiply(&mut context, &mapped, &scalar).is_some());
        }
    }

    #[test]
    fn numbers_at_the_ends_of_their_range() {
        for number in 19..=21 {
            let group = Group::from_number(number).unwrap();
            let zero = vec![0; group.octets()];
            let last = largest_scalar(group);
            let order = added(&last, 1);
            let one = added(&zero, 1);
            // A draw is taken modulo order - 1, plus 1.
            for (drawn, scalar) in [(&zero, &one), (&last, &one), (&order, &added(&zero, 2))] {
                assert_eq!(group.scalar(drawn), *scalar);
            }
            for (number, inside) in [
                (&one, false),
                (&added(&one, 1), true),
                (&last, true),
                (&order, false),
            ] {
                assert_eq!(group.is_scalar_above_one(number), inside);
            }
            let mut prime = group.prime();
            let unused = prime[0].leading_zeros();
            let shifted = |number: &[u8]| -> Vec<u8> {
                let next = number[1..].iter().chain(&[0]);
                let pairs = number.iter().zip(next);
                pairs
                    .map(|(a, b)| ((u16::from(*a) << 8 | u16::from(*b)) << unused >> 8) as u8)
                    .collect()
            };
            assert_eq!(group.element(&shifted(&prime)), None);
            *prime.last_mut().unwrap() -= 1;
            assert_eq!(group.element(&shifted(&prime)), Some(prime));
        }
    }

    /// Order - 1: the largest number that counts as a scalar, bit by bit.
    fn largest_scalar(group: Group) -> Vec<u8> {
        let mut scalar = vec![0; group.octets()];
        for bit in (0..8 * group.octets()).rev() {
            let at = group.octets() - 1 - bit / 8;
            scalar[at] |= 1 << (bit % 8);
            if !group.is_scalar_above_one(&scalar) {
                scalar[at] &= !(1 << (bit % 8));
            }
        }
        scalar
    }

    fn added(number: &[u8], small: u8) -> Vec<u8> {
        let mut sum = number.to_vec();
        let mut carry = small;
        for octet in sum.iter_mut().rev() {
            let (value, over) = octet.overflowing_add(carry);
            *octet = value;
            carry = u8::from(over);
        }
        sum
    }
}
