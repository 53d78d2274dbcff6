//! Points of the NIST curves by the `p256`, `p384` and `p521` crates.
//!
//! Takes points as `x || y` and scalars as octets of the curve's length; gives points. `None` for a point
//! that is not on the curve, a scalar of the order or more, and the point at infinity. Never counts.

#[cfg(any(test, not(feature = "aws-lc")))]
use p256::elliptic_curve::group::Group as _;
use p256::elliptic_curve::sec1::{FromSec1Point, ModulusSize, Sec1Point, ToSec1Point};
use p256::elliptic_curve::{CurveArithmetic, FieldBytes, FieldBytesSize, PrimeField};

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

/// `by` times a point.
pub(crate) fn multiply<C>(base: &[u8], by: &[u8]) -> Option<Vec<u8>>
where
    C: CurveArithmetic,
    FieldBytesSize<C>: ModulusSize,
    C::AffinePoint: FromSec1Point<C> + ToSec1Point<C>,
{
    octets_of::<C>(point::<C>(base)? * scalar::<C>(by)?)
}

/// `by` times the generator.
#[cfg(any(test, not(feature = "aws-lc")))]
pub(crate) fn multiply_base<C>(by: &[u8]) -> Option<Vec<u8>>
where
    C: CurveArithmetic,
    FieldBytesSize<C>: ModulusSize,
    C::AffinePoint: FromSec1Point<C> + ToSec1Point<C>,
{
    octets_of::<C>(C::ProjectivePoint::generator() * scalar::<C>(by)?)
}

/// The sum of two points.
pub(crate) fn add<C>(a: &[u8], b: &[u8]) -> Option<Vec<u8>>
where
    C: CurveArithmetic,
    FieldBytesSize<C>: ModulusSize,
    C::AffinePoint: FromSec1Point<C> + ToSec1Point<C>,
{
    octets_of::<C>(point::<C>(a)? + point::<C>(b)?)
}
